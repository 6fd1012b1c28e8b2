/* SPDX-License-Identifier: BSD-2-Clause */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mat/order/host/orderhost.h"

#define ORDER_FRONTIER 256  /* nodes around a block that it may take, at most */
#define ORDER_ALIKE    0.75 /* of the strongest bond: bonds that count as equal to it */

/* Nodes of bs rows each; their neighbours in A + A^T, some of them twice, and the sums of the absolute values */
typedef struct {
  int64_t n;
  SysInt *i, *j;
  float  *w;
} Graph;

/* The size of an entry; 0 if it is not finite */
static float OrderSize(SysScalar a)
{
#if defined(SYS_COMPLEX)
  const float size = (float)(fabs((double)creal(a)) + fabs((double)cimag(a)));
#else
  const float size = (float)fabs((double)a);
#endif

  return size <= FLT_MAX ? size : 0;
}

#if !defined(SYS_INT64)
/* Division by bs as a multiplication: exact for 0 <= j < 2^31, since the error of the inverse is less than 2^(-31) / bs */
typedef struct {
  uint64_t inverse;
  int      shift;
} Division;

static Division DivisionSet(int64_t bs)
{
  int shift = 31;

  while ((int64_t)1 << (shift - 31) < bs) shift++;
  return (Division){(((uint64_t)1 << shift) + (uint64_t)bs - 1) / (uint64_t)bs, shift};
}
#endif

/* Counts the ends of edges (j NULL), or stores them behind i[node]. In work, of each node: the last row that had it, and the places of both ends of that edge. */
static void GraphEdges(const SysCSR *A, int64_t bs, SysInt *work, SysInt *i, SysInt *j, float *w)
{
  const int64_t n = A->m / bs;
#if !defined(SYS_INT64)
  const Division node = DivisionSet(bs);
#endif
  SysInt *last = work, *here = work + n, *there = work + 2 * n;

  memset(last, -1, (size_t)n * sizeof(*last));
  for (int64_t v = 0; v < n; v++) {
    for (SysInt k = A->i[v * bs]; k < A->i[(v + 1) * bs]; k++) {
#if defined(SYS_INT64)
      const SysInt u = (SysInt)(A->j[k] / bs);
#else
      const SysInt u = (SysInt)((uint64_t)A->j[k] * node.inverse >> node.shift);
#endif
      const float size = j && A->a ? OrderSize(A->a[k]) : 1;

      if (u == v) continue;
      if (last[u] != (SysInt)v) {
        last[u]  = (SysInt)v;
        here[u]  = i[v]++;
        there[u] = i[u]++;
        if (j) {
          j[here[u]]  = u;
          j[there[u]] = (SysInt)v;
        }
      }
      if (j) {
        w[here[u]] += size;
        w[there[u]] += size;
      }
    }
  }
}

static SysStatus GraphCreate(const SysCSR *A, int64_t bs, SysInt *work, Graph *G)
{
  const int64_t n = A->m / bs;

#if !defined(SYS_INT64)
  if (A->i[A->m] > INT32_MAX / 2) return SYS_TOO_LARGE; /* both ends of each entry are counted */
#endif
  G->n = n;
  G->i = calloc((size_t)n + 2, sizeof(*G->i));
  if (!G->i) return SYS_OUT_OF_MEMORY;
  GraphEdges(A, bs, work, G->i + 2, NULL, NULL);
  for (int64_t v = 0; v < n; v++) G->i[v + 2] += G->i[v + 1];
  G->j = malloc(((size_t)G->i[n + 1] + 1) * sizeof(*G->j));
  G->w = calloc((size_t)G->i[n + 1] + 1, sizeof(*G->w));
  if (!G->j || !G->w) return SYS_OUT_OF_MEMORY;
  GraphEdges(A, bs, work, G->i + 1, G->j, G->w); /* each start moves to its end, which is the next one's start */
  return SYS_SUCCESS;
}

static void GraphDestroy(Graph *G)
{
  free(G->i);
  free(G->j);
  free(G->w);
}

/* A node around a block: the sum of the weights of its edges to the block, and when it came */
typedef struct {
  SysInt  node;
  float   bond;
  int64_t came;
} Bond;

/* Adds the neighbours of v that have no block to the frontier, or to their bonds */
static void GraphReach(const Graph *G, SysInt v, const SysInt *block, SysInt *at, Bond *frontier, int *m, int64_t *came)
{
  for (SysInt k = G->i[v]; k < G->i[v + 1]; k++) {
    const SysInt u = G->j[k];

    if (block[u] >= 0) continue;
    if (at[u] < 0) {
      if (*m == ORDER_FRONTIER) continue;
      at[u]        = *m;
      frontier[*m] = (Bond){u, 0, (*came)++};
      (*m)++;
    }
    frontier[at[u]].bond += G->w[k];
  }
}

/* Takes the node with the strongest bond, or the first one of those that are nearly as strong: blocks become round where all bonds are alike */
static SysInt GraphTake(SysInt *at, Bond *frontier, int *m)
{
  float  most = 0;
  int    best = -1;
  SysInt node;

  for (int k = 0; k < *m; k++) {
    if (frontier[k].bond > most) most = frontier[k].bond;
  }
  for (int k = 0; k < *m; k++) {
    if (frontier[k].bond >= ORDER_ALIKE * most && (best < 0 || frontier[k].came < frontier[best].came)) best = k;
  }
  node                    = frontier[best].node;
  frontier[best]          = frontier[--*m];
  at[frontier[best].node] = best;
  at[node]                = -1;
  return node;
}

/* Gathers nodes into blocks: the first node that has none, and nodes around it one after the other. Returns the number of blocks. */
static int64_t GraphGather(const Graph *G, int64_t most, SysInt *block, SysInt *at)
{
  Bond    frontier[ORDER_FRONTIER];
  int64_t blocks = 0;

  memset(block, -1, (size_t)G->n * sizeof(*block));
  memset(at, -1, (size_t)G->n * sizeof(*at));
  for (int64_t v = 0; v < G->n; v++) {
    int64_t came = 0;
    int     m    = 0;

    if (block[v] >= 0) continue;
    block[v] = (SysInt)blocks;
    GraphReach(G, (SysInt)v, block, at, frontier, &m, &came);
    for (int64_t size = 1; size < most && m; size++) {
      const SysInt u = GraphTake(at, frontier, &m);

      block[u] = (SysInt)blocks;
      GraphReach(G, u, block, at, frontier, &m, &came);
    }
    for (int k = 0; k < m; k++) at[frontier[k].node] = -1;
    blocks++;
  }
  return blocks;
}

/* Sorts numbers 0 to n - 1 by key, equal keys in their order; first has keys + 1 numbers */
static void Sort(int64_t n, const SysInt *key, int64_t keys, SysInt *first, SysInt *sorted)
{
  memset(first, 0, ((size_t)keys + 1) * sizeof(*first));
  for (int64_t k = 0; k < n; k++) first[key[k] + 1]++;
  for (int64_t k = 0; k < keys; k++) first[k + 1] += first[k];
  for (int64_t k = 0; k < n; k++) sorted[first[key[k]]++] = (SysInt)k;
}

/* Gives each block the first colour that none of its neighbours has; member: nodes by block. Returns the number of colours. */
static int64_t GraphColour(const Graph *G, const SysInt *block, int64_t blocks, const SysInt *member, SysInt *colour, SysInt *used)
{
  int64_t colours = 0, p = 0;

  for (int64_t b = 0; b < blocks; b++) colour[b] = -1;
  memset(used, -1, ((size_t)blocks + 1) * sizeof(*used));
  for (int64_t b = 0; b < blocks; b++) {
    SysInt c = 0;

    for (; p < G->n && block[member[p]] == (SysInt)b; p++) {
      for (SysInt k = G->i[member[p]]; k < G->i[member[p] + 1]; k++) {
        const SysInt other = colour[block[G->j[k]]];

        if (other >= 0) used[other] = (SysInt)b;
      }
    }
    while (used[c] == (SysInt)b) c++;
    colour[b] = c;
    if (c >= colours) colours = c + 1;
  }
  return colours;
}

SysStatus OrderColour(const SysCSR *A, int64_t bs, int64_t rows, SysInt perm[], int64_t *colours)
{
  const int64_t n = A->m / bs;
  Graph         G = {0};
  SysInt       *block, *member, *work, *colour, *sorted;
  SysStatus     status;
  int64_t       blocks, k = 0;

  *colours = 0;
  block    = malloc(5 * ((size_t)n + 2) * sizeof(*block));
  if (!block) return SYS_OUT_OF_MEMORY;
  member = block + n + 2;
  work   = member + n + 2;
  colour = work + n + 2;
  sorted = colour + n + 2;
  status = GraphCreate(A, bs, member, &G);
  if (status == SYS_SUCCESS) {
    blocks = GraphGather(&G, rows > bs ? rows / bs : 1, block, work);
    Sort(n, block, blocks, work, member);
    *colours = GraphColour(&G, block, blocks, member, colour, work);
    Sort(blocks, colour, *colours, work, sorted);
    for (int64_t b = 0; b < blocks; b++) colour[sorted[b]] = (SysInt)b; /* the place of each block */
    for (int64_t v = 0; v < n; v++) block[v] = colour[block[v]];
    Sort(n, block, blocks, work, member);
    for (int64_t v = 0; v < n; v++) {
      for (int64_t q = 0; q < bs; q++) perm[k++] = (SysInt)(member[v] * bs + q);
    }
  }
  free(block);
  GraphDestroy(&G);
  return status;
}
