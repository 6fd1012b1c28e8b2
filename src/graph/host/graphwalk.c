/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The matrix of a random walk, and the order of its vertices.

   A product with the matrix reads the vector once for each edge, at positions without an order. In the order by degree, vertices with many outgoing
   edges, whose entries are read most often, come first and share lines of the caches. Vertices with about as many edges keep their order in the graph, and so stay near to their
   neighbours.

   P. Faldu, J. Diamond, B. Grot, A Closer Look at Lightweight Graph Reordering, IISWC 2019.
*/
#include <stdlib.h>

#include "sys/sysbuckets.h"
#include "sys/systhreads.h"
#include "graph/host/graphhost.h"

#define GRAPH_LEVELS 65  /* of the number of edges: 0, 1, 2 and 3, 4 to 7, ... */
#define GRAPH_BLOCK  256 /* vertices that stay together when threads share the edges */

#if defined(SYS_COMPLEX)
  #define RealPart(x) ((SysReal)creal((double _Complex)(x)))
#else
  #define RealPart(x) (x)
#endif

int GraphNegative(int nthread, int64_t n, const SysScalar *a)
{
  int wrong = 0;

#pragma omp parallel for num_threads(nthread) reduction(|| : wrong)
  for (int64_t k = 0; k < n; k++) wrong = wrong || !(RealPart(a[k]) >= 0);
  return wrong;
}

void GraphOutWeights(int nthread, const SysCSR *A, const SysScalar *keep, SysScalar *out)
{
#pragma omp parallel for num_threads(nthread) schedule(dynamic, 1024)
  for (int64_t r = 0; r < A->m; r++) {
    SysScalar sum = 0;

    for (SysInt e = A->i[r]; e < A->i[r + 1]; e++) sum += keep ? A->a[e] * keep[A->j[e]] : A->a[e];
    out[r] = sum;
  }
}

/* A vertex waits at the end of its next edge to a vertex that stays, or goes. w: the next edge of each vertex; the first vertex that waits at it; the vertex that
   waits behind it; the vertices that have gone. */
static int64_t WalkWaitOrGo(SysInt *const w[4], const SysCSR *A, SysScalar *keep, int64_t v, int64_t gone)
{
  SysInt *edge = &w[0][v];

  while (*edge < A->i[v + 1] && !(RealPart(A->a[*edge]) > 0 && RealPart(keep[A->j[*edge]]) > 0)) (*edge)++;
  if (*edge < A->i[v + 1]) {
    const SysInt to = A->j[*edge];

    w[2][v]  = w[1][to];
    w[1][to] = (SysInt)v;
  } else {
    keep[v]      = 0;
    w[3][gone++] = (SysInt)v;
  }
  return gone;
}

int64_t GraphRemoveDangling(const SysCSR *A, SysScalar *keep, SysInt *work)
{
  SysInt *const w[4] = {work, work + A->m, work + 2 * A->m, work + 3 * A->m};
  int64_t       gone = 0;

  for (int64_t v = 0; v < A->m; v++) {
    keep[v] = 1;
    w[0][v] = A->i[v];
    w[1][v] = -1;
  }
  for (int64_t v = 0; v < A->m; v++) gone = WalkWaitOrGo(w, A, keep, v, gone);
  for (int64_t done = 0; done < gone; done++) {
    for (SysInt v = w[1][w[3][done]], next; v >= 0; v = next) {
      next = w[2][v];
      gone = WalkWaitOrGo(w, A, keep, v, gone);
    }
  }
  return A->m - gone;
}

/* Threads count the vertices of each level in their parts, which gives each thread the numbers of its vertices */
SysStatus GraphOrderByDegree(int nthread, const SysCSR *A, SysInt *position, SysInt *vertex)
{
  SysInt(*next)[GRAPH_LEVELS] = (SysInt(*)[GRAPH_LEVELS])calloc((size_t)nthread, sizeof(*next)), sum = 0;

  if (!next) return SYS_OUT_OF_MEMORY;
  for (int fill = 0; fill < 2; fill++) {
#pragma omp parallel for num_threads(nthread) schedule(static, 1)
    for (int t = 0; t < nthread; t++) {
      const int64_t end = A->m * (t + 1) / nthread;

      for (int64_t v = A->m * t / nthread; v < end; v++) {
        const SysInt n     = A->i[v + 1] - A->i[v];
        const int    level = n ? __builtin_clzll((unsigned long long)n) : GRAPH_LEVELS - 1; /* many edges, low level */

        if (fill) {
          position[v]            = next[t][level];
          vertex[next[t][level]] = (SysInt)v;
        }
        next[t][level]++;
      }
    }
    for (int level = 0; !fill && level < GRAPH_LEVELS; level++) {
      for (int t = 0; t < nthread; t++) {
        const SysInt count = next[t][level];

        next[t][level] = sum;
        sum += count;
      }
    }
  }
  free(next);
  return SYS_SUCCESS;
}

/* Cuts the vertices, in the order of their new numbers, so that each thread has about as many edges */
static SysStatus WalkCutEdges(int nthread, const SysCSR *A, const SysInt *vertex, int64_t *cut)
{
  const int64_t nblock = A->m / GRAPH_BLOCK + 1;
  int64_t      *before = (int64_t *)malloc((size_t)nblock * sizeof(*before)), n = 0;

  if (!before) return SYS_OUT_OF_MEMORY;
#pragma omp parallel for num_threads(nthread) schedule(static)
  for (int64_t k = 0; k < nblock; k++) {
    before[k] = 0;
    for (int64_t u = k * GRAPH_BLOCK; u < SysMin((k + 1) * GRAPH_BLOCK, A->m); u++) {
      const int64_t v = vertex ? vertex[u] : u;

      before[k] += A->i[v + 1] - A->i[v];
    }
  }
  cut[0] = 0;
  for (int64_t k = 0, t = 1; t <= nthread; t++) {
    while (k < nblock && n * nthread < A->nz * t) n += before[k++];
    cut[t] = t == nthread ? A->m : SysMin(k * GRAPH_BLOCK, A->m);
  }
  free(before);
  return SYS_SUCCESS;
}

/* Counts the edges, or puts them, of vertices with the new numbers first to last - 1 */
static void WalkPutEdges(SysBuckets *b, int64_t *own, int put, const SysCSR *A, const SysInt *position, const SysInt *vertex, const SysScalar *left, const SysScalar *right, int64_t first, int64_t last)
{
  for (int64_t u = first; u < last; u++) {
    const int64_t   from = vertex ? vertex[u] : u;
    const SysScalar f    = right ? right[from] : 1;

    for (SysInt k = A->i[from]; k < A->i[from + 1]; k++) {
      const SysInt to = position ? position[A->j[k]] : A->j[k];

      if (put) SysBucketsPut(b, own, to, (SysInt)u, left ? left[A->j[k]] * f * A->a[k] : f * A->a[k]);
      else SysBucketsCount(b, own, to);
    }
  }
}

SysStatus GraphTransposeScaled(int nthread, const SysCSR *A, const SysInt *position, const SysInt *vertex, const SysScalar *left, const SysScalar *right, SysInt *i, SysInt *j, SysScalar *a)
{
  int64_t   *cut    = (int64_t *)malloc(((size_t)nthread + 1) * sizeof(*cut));
  SysStatus  status = cut ? WalkCutEdges(nthread, A, vertex, cut) : SYS_OUT_OF_MEMORY, created;
  SysBuckets b;

  created = SysBucketsCreate((SysInt)A->m, nthread, &b);
  if (!status) status = created;
  for (int put = 0; put < 2 && !status; put++) {
#pragma omp parallel for num_threads(nthread) schedule(static, 1)
    for (int t = 0; t < nthread; t++) WalkPutEdges(&b, b.position + (size_t)t * b.nbucket, put, A, position, vertex, left, right, cut[t], cut[t + 1]);
    if (put) break;
    (void)SysBucketsPosition(&b);
    status = SysBucketsStore(&b, j, a);
  }
  i[0] = 0;
  if (!status) status = SysBucketsSort(&b, 0, i + 1, NULL);
  SysBucketsDestroy(&b);
  free(cut);
  for (int64_t v = 0; v < A->m && !status; v++) i[v + 1] += i[v];
  return status;
}
