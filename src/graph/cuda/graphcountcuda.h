/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Triangles and breadth-first searches of a graph on a CUDA device, on a square matrix's pattern in CSR. Results are integers, the same in each run.
*/
#pragma once

#include "sys/syscuda.h"

#if defined(__cplusplus)
extern "C" {
#endif

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
SysStatus GraphSearchTake(GraphSearch *, int now, int64_t *reached, SysStream);

/* Computes the next level. GetOut() then gets the bits for cut's columns (*out) and space for the bits of to[]'s vertices (*in), both on the host;
   TakeIn() reads that space. */
SysStatus GraphSearchStep(GraphSearch *, SysStream);
SysStatus GraphSearchGetOut(GraphSearch *, const uint64_t **out, uint64_t **in);
SysStatus GraphSearchTakeIn(GraphSearch *, SysStream);

/* Gets the levels from n sources, n times m numbers; -1 where a source does not reach a vertex */
SysStatus GraphSearchGetLevels(GraphSearch *, int n, int *level, SysStream);
void      GraphSearchDestroy(GraphSearch *);

#if defined(__cplusplus)
}
#endif
