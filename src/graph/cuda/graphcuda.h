/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Kernels of graph operations on a CUDA device. Results are the same in each run.
*/
#pragma once

#include "sys/syscuda.h"

SYS_C_BEGIN

/* Triangles and breadth-first searches of a graph, on a square matrix's pattern in CSR */

/* Counts the triangles, ignoring directions, loops and repeated entries. Waits for the result. Needs 16 bytes an entry of temporary memory. */
SysStatus GraphTrianglesCount(const SysCSR *A, int64_t *count, SysStream);

/* Searches from up to GRAPH_SEARCH_SOURCES vertices at a time. The arrays of A and cut must outlive the search. With several processes cut has the
   edges to other processes' vertices (NULL with one process), and to[], on the host, lists the vertices that receive bits, once for each sending
   process. levels: most sources whose levels are requested. */
typedef struct _GraphSearch GraphSearch;

SysStatus GraphSearchCreate(const SysCSR *A, const SysCSR *cut, int nto, const int to[], int levels, GraphSearch **, SysStream);

/* Starts from n vertices; -1: another process's vertex. source must stay valid until the first level. */
SysStatus GraphSearchStart(GraphSearch *, int n, const int source[], SysStream);

/* Gets the number of vertices that level `now` reaches, summed over the sources. Waits for it. */
SysStatus GraphSearchGetReached(GraphSearch *, int now, int64_t *reached, SysStream);

/* Computes the next level. GetOut() then gets the bits for cut's columns (*out) and space for the bits of to[]'s vertices (*in), both on the host;
   TakeIn() reads that space. */
SysStatus GraphSearchStep(GraphSearch *, SysStream);
SysStatus GraphSearchGetOut(GraphSearch *, const uint64_t **out, uint64_t **in);
SysStatus GraphSearchSetIn(GraphSearch *, SysStream);

/* Gets the levels from n sources, n times m numbers; -1 where a source does not reach a vertex */
SysStatus GraphSearchGetLevels(GraphSearch *, int n, int *level, SysStream);
void      GraphSearchDestroy(GraphSearch *);

/* Markov clustering: expands, inflates and prunes a matrix's rows batch by batch. Real numbers and 32-bit indices only. */

typedef struct {
  double  inflation, prune; /* power of the entries; size below which entries are dropped */
  double  batch;            /* multiplications of a batch */
  int64_t keep;             /* most entries of a row */
} GraphMarkovOptions;

typedef struct _GraphMarkov GraphMarkov;

/* M's rows have the sum 1; its arrays must outlive the first step. nz: entries of the matrix before and after steps. */
SysStatus GraphMarkovCreate(const SysCSR *M, GraphMarkov **);
SysStatus GraphMarkovStep(GraphMarkov *, const GraphMarkovOptions *, double *chaos, SysStream);
int64_t   GraphMarkovEntries(const GraphMarkov *);
SysStatus GraphMarkovFetch(const GraphMarkov *, int *i, int *j, SysScalar *a, SysStream); /* to the host */
void      GraphMarkovDestroy(GraphMarkov *, SysStream);

/* The sum of a vector, and a step that changes a vector's sum. Sums have a fixed order. Real numbers only. */

/* Memory for partial sums on the device, and for results on the host */
typedef struct _GraphSums GraphSums;

SysStatus GraphSumsCreate(GraphSums **);
void      GraphSumsDestroy(GraphSums *);

/* Computes partial sums of n numbers for GraphSumsStep(); waits for the sum only if it is not NULL */
SysStatus GraphSumsSum(GraphSums *, int64_t n, const SysScalar *x, SysScalar *sum, SysStream);

/* Sets z[k] = f z[k] + t where[k], with where[k] = 1 if where is NULL. total is *given, or the sum of GraphSumsSum() if given is NULL. scale: f =
   wanted / total (1 if total is 0), t = 0; otherwise f = 1, t = (wanted - total) / weight. Waits for *change, the sum of |x[k] - z[k]| (0 if x is
   NULL), and for the total. */
SysStatus GraphSumsStep(GraphSums *, int64_t n, int scale, const SysScalar *given, SysScalar wanted, SysReal weight, const SysScalar *where, const SysScalar *x, SysScalar *z, SysReal *change, SysScalar *total, SysStream);

/* The positions of the largest of many numbers. Real numbers only. */

/* Gets the k largest of n numbers, 0 < k <= n, in host arrays, ordered by position. Of equal numbers it prefers lower positions; NaN comes last. Needs 12
   bytes for each of the k numbers on the device. */
SysStatus GraphTopPositions(int n, const SysScalar *x, int k, int *position, SysScalar *value, SysStream);

SYS_C_END
