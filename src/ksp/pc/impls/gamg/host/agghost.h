/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Kernels of smoothed aggregation on raw arrays: the strength graph of a matrix, aggregates of its vertices, and the tentative prolongator.

   A vertex is a node of the matrix, that is bs rows and columns. A process numbers its own vertices from 0 to n - 1, and after them the vertices of other processes
   that it has edges to, its ghosts, in ascending order of their global numbers. All results are the same for any number of threads. Aggregates are also the
   same for any number of processes: a vertex is known by its global number, and weights are integers, whose sums do not depend on their order.
*/
#pragma once

#include "sys/syscsr.h"

/* ------------------------------------------------- other processes ------------------------------------------------- */

/* Exchanges of arrays with one entry per vertex. All processes call these functions together. They return 0, or an error that ends the kernel with SYS_ERROR.
   A NULL in place of the struct stands for a single process. */
typedef struct {
  void *ctx;
  int (*fetch)(void *ctx, size_t size, void *array); /* copies the owners' entries, of size bytes each, to the ghosts */
  int (*addup)(void *ctx, SysInt array[]);           /* owners add the entries of ghosts to their own; then as fetch() */
  int (*total)(void *ctx, int64_t *sum);             /* the sum over all processes */
  int (*before)(void *ctx, int64_t *sum);            /* the sum over the processes before this one */
} AggExchange;

/* An edge between two processes; the caller says what the numbers of its ends count */
typedef struct {
  SysInt row, column;
  double s;
} AggEdge;

/* ------------------------------------------------- graph ------------------------------------------------- */

/* The edges of vertex v are j[i[v]] to j[i[v + 1] - 1]: its own neighbours in ascending order, then the ghosts in ascending order. There are no loops. */
typedef struct {
  int64_t   n, nghost, capacity; /* edges that j[], s[] and w[] have room for */
  int64_t  *i;
  SysInt   *j;
  double   *s;    /* the strength of an edge, until AggGraphFinish(): the sum of |a_ij| of the block */
  double   *diag; /* the same of the diagonal block, for ghosts too; until AggGraphFinish() */
  uint32_t *w;    /* from AggGraphFinish() on: the scaled strength, in units of 2^-24 */
} AggGraph;

/* Edges that came from other processes: the edges of vertex v are j[i[v]] ..., ghosts in ascending order */
typedef struct {
  int64_t *i;
  SysInt  *j;
  double  *s;
} AggEdges;

/* The parts of a matrix on this process: d is square, o has its other columns or no arrays. Column c of o is column ghost[c] % bs of the ghost ghost[c] / bs; ghosts
   are numbered from 0 on here. Of each block, only the rows and columns index[] count, or all if nindex is 0. */
typedef struct {
  SysCSR        d, o;
  int64_t       nghost;
  const SysInt *ghost;
  int           bs, nindex;
  const SysInt *index;
} AggMatrix;

/* Makes the graph of a matrix whose rows have ascending columns, with strengths */
SysStatus AggGraphCreate(const AggMatrix *A, int nthread, AggGraph *g);

/* Makes room for nghost ghosts in all, after j[] was numbered anew by the caller; diag[] of ghosts is lost */
SysStatus AggGraphAddGhosts(AggGraph *g, int64_t nghost);

/* Adds the transposed edges: within this process all of them, and those in other, which are the transposed edges between processes */
SysStatus AggGraphSymmetrize(AggGraph *g, const AggEdges *other, int nthread);

/* Scales the strengths by the diagonal, as w_ij = s_ij / sqrt(d_i d_j), and drops the edges with w_ij <= threshold, or none if the threshold is negative */
SysStatus AggGraphFinish(AggGraph *g, double threshold, int nthread);
void      AggGraphDestroy(AggGraph *g);

/* ------------------------------------------------- aggregates ------------------------------------------------- */

typedef struct {
  int hops;      /* no two roots are within so many edges of each other, 1 or more */
  int lowdegree; /* vertices of low degree become roots first */
  int strongest; /* with one hop, a vertex joins the root that it has the strongest edge to, in place of the root that came first */
  int least;     /* an aggregate of fewer vertices is dissolved if each of them has a neighbour in an aggregate that is not: it joins the one that it is connected to
                    most strongly. 0 or 1 dissolves none. */
} AggOptions;

/* Steps from a vertex to its root, at most */
#define AGG_REACH(options) ((options)->hops + ((options)->least > 1))

/* The global number is first + v for vertex v < n, and ghosts[v - n] for ghost v. join[v] becomes v for a root; for other vertices of an aggregate a neighbour
   or ghost in the same aggregate, one step nearer to the root, which is AGG_REACH() steps away at most; -1 for a vertex without edges, which is in no aggregate.
   *rounds becomes the number of rounds. */
SysStatus AggAggregate(const AggGraph *g, int64_t first, const SysInt ghosts[], const AggOptions *options, const AggExchange *x, int nthread, SysInt join[], int *rounds);

/* ------------------------------------------------- prolongator ------------------------------------------------- */

/* The tentative prolongator of aggregates: aggregate k has the members member[start[k]] to member[start[k + 1] - 1]. block[] has bs rows of nvec entries for each
   member that occurs: on entry the near-null space, on return the orthonormal columns of a QR factorization of each aggregate. r[] becomes the triangular factors:
   column c of aggregate k begins at r[c * nagg * nvec + k * nvec]. If an aggregate has fewer rows than there are vectors, it is filled up with zero rows. */
SysStatus AggFactor(int64_t nagg, const SysInt start[], const SysInt member[], int bs, int nvec, int nthread, SysReal block[], SysReal r[]);

/* The smoothed prolongator (I + alpha D^-1 A) P of the tentative prolongator P, on one process: number[] are the aggregates of the vertices, of which there are nagg, or
   -1, and block[] is as from AggFactor(). D is the diagonal of A; where D is 0, D^-1 is 0. Each row has the columns of its own aggregate, and of the aggregates
   of its columns in A. The lengths of the rows come first; row r of the result begins at i[r]. Both need the marks, and as many threads as these are for. */
typedef struct {
  SysInt *memory;
  size_t  each, bytes; /* each: entries of a thread */
  int64_t longest;
  int     nthread;
} AggMarks;

SysStatus AggMarksCreate(const SysCSR *A, int64_t nagg, int nthread, AggMarks *);
void      AggMarksDestroy(AggMarks *);
void      AggSmoothLengths(const SysCSR *A, const SysInt number[], int bs, int nvec, const AggMarks *, SysInt lengths[]);
void      AggSmooth(const SysCSR *A, const SysInt number[], int bs, int nvec, const SysReal block[], double alpha, const AggMarks *, const SysInt i[], SysInt j[], SysScalar a[]);

/* Random numbers between -1.1 and 1.1, which depend on first + k alone: the same numbers as from PETSc's KSPSetNoisy_Private() */
void AggNoise(int64_t n, int64_t first, int nthread, SysScalar x[]);

/* ------------------------------------------------- estimate of eigenvalues ------------------------------------------------- */

#define AGG_STEPS          10                                   /* as PETSc makes */
#define AGG_NUMBERS        ((AGG_STEPS + 1) * AGG_STEPS)        /* that the steps leave */
#define AGG_H(row, column) ((AGG_STEPS + 1) * (column) + (row)) /* an entry of Arnoldi's matrix among them */

/* Arnoldi's method for D^-1 A on one process, with classical Gram-Schmidt, from the vector of AggNoise(), and its matrix h[]. For real numbers. */
typedef struct {
  int64_t  n, stride; /* entries of a vector, and from one start to the next */
  int      nthread;
  SysReal *v, *inverse;
  double  *partial, scale[AGG_STEPS], length; /* of the last vector */
  SysReal  h[AGG_NUMBERS];
  size_t   bytes;
} AggKrylov;

/* For step k the caller makes vector k + 1 = A vector k; the first is vector 0 */
SysStatus AggKrylovCreate(const SysCSR *A, int nthread, AggKrylov *e);
void      AggKrylovStep(AggKrylov *e, int k);
void      AggKrylovDestroy(AggKrylov *e);
