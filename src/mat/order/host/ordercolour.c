/* SPDX-License-Identifier: BSD-2-Clause */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mat/order/host/orderhost.h"

#define ORDER_FRONTIER 256   /* nodes around a block that it may take, at most */
#define ORDER_ALIKE    0.75  /* of the strongest bond: bonds that count as equal to it */
#define ORDER_SAMPLE   1000  /* rows or nodes that show what the matrix is like */
#define ORDER_EQUAL    1e-3f /* of the largest entry of a row: entries that differ by less are equal */
#define ORDER_STRONG   0.25  /* of the largest bond of a node: strong bonds are at least as large */
#define ORDER_LINES    2.5   /* strong bonds of a node: nodes of lines have fewer */

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

static int OrderIsNegative(SysScalar a)
{
#if defined(SYS_COMPLEX)
  return creal(a) < 0;
#else
  return a < 0;
#endif
}

/* Nodes of bs rows each. The inverse divides a column by bs: exact for 0 <= j < 2^31, since its error is less than 2^(-31) / bs. */
typedef struct {
  const SysCSR *A;
  int64_t       n, bs;
  uint64_t      inverse;
  int           shift, skew; /* the matrix is not symmetric, so that a bond of rows is the sum of both entries */
} Graph;

/* The size of the entry of row u in column v, 0 if there is none */
static float GraphFind(const SysCSR *A, SysInt u, SysInt v)
{
  const int64_t k = SysFindColumn(A->j, A->i[u], A->i[u + 1], v);

  return k < 0 ? 0 : OrderSize(A->a[k]);
}

/* Whether rows of a sample have entries of other sizes than their columns; sums that cancel may differ by rounding */
static int GraphIsSkew(const SysCSR *A)
{
  for (int64_t v = 0; v < A->m; v += 1 + A->m / ORDER_SAMPLE) {
    float most = 0;

    for (SysInt k = A->i[v]; k < A->i[v + 1]; k++) most = fmaxf(most, OrderSize(A->a[k]));
    for (SysInt k = A->i[v]; k < A->i[v + 1]; k++) {
      if (fabsf(OrderSize(A->a[k]) - GraphFind(A, A->j[k], (SysInt)v)) > ORDER_EQUAL * most) return 1;
    }
  }
  return 0;
}

static Graph GraphCreate(const SysCSR *A, int64_t bs)
{
  Graph G = {A, A->m / bs, bs, 0, 31, A->a && GraphIsSkew(A)};

  while ((int64_t)1 << (G.shift - 31) < bs) G.shift++;
  G.inverse = (((uint64_t)1 << G.shift) + (uint64_t)bs - 1) / (uint64_t)bs;
  return G;
}

static inline SysInt GraphNode(const Graph *G, SysInt column)
{
#if defined(SYS_INT64)
  return (SysInt)(column / G->bs);
#else
  return (SysInt)((uint64_t)column * G->inverse >> G->shift);
#endif
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
  const SysCSR *A = G->A;

  for (SysInt k = A->i[v * G->bs], end = A->i[(v + 1) * G->bs]; k < end;) {
    const SysInt u    = GraphNode(G, A->j[k]);
    float        bond = 0;

    for (; k < end && A->j[k] >= u * G->bs && A->j[k] < (u + 1) * G->bs; k++) bond += A->a ? OrderSize(A->a[k]) : 1;
    if (block[u] >= 0) continue;
    if (at[u] < 0) {
      if (*m == ORDER_FRONTIER) continue;
      at[u]        = *m;
      frontier[*m] = (Bond){u, 0, (*came)++};
      (*m)++;
    }
    if (G->skew && G->bs == 1) bond += GraphFind(A, u, v);
    frontier[at[u]].bond += bond;
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
    if (most > 1) GraphReach(G, (SysInt)v, block, at, frontier, &m, &came);
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

/* Whether single nodes get colours. They need half as many iterations again as blocks if bonds are alike, but several times as many along lines of strong bonds, in flows, and for saddle
   points: then a sample of nodes has a mean of at most ORDER_LINES strong bonds, entries that differ from those across the diagonal, or diagonals of both signs. */
static int GraphIsAlike(const Graph *G, SysInt *block, SysInt *at)
{
  const SysCSR *A = G->A;
  Bond          frontier[ORDER_FRONTIER];
  int64_t       nodes = 0, strong = 0;
  int           sign[2] = {0, 0};

  if (!A->a || G->skew) return 0;
  memset(block, -1, (size_t)G->n * sizeof(*block));
  memset(at, -1, (size_t)G->n * sizeof(*at));
  for (int64_t v = 0; v < G->n; v += 1 + G->n / ORDER_SAMPLE, nodes++) {
    int64_t came = 0;
    float   most = 0;
    int     m    = 0;

    for (int64_t r = v * G->bs; r < (v + 1) * G->bs; r++) {
      for (SysInt k = A->i[r]; k < A->i[r + 1]; k++) {
        if (A->j[k] == r) sign[OrderIsNegative(A->a[k])] = 1;
      }
    }
    block[v] = 0;
    GraphReach(G, (SysInt)v, block, at, frontier, &m, &came);
    block[v] = -1;
    for (int k = 0; k < m; k++) most = fmaxf(most, frontier[k].bond);
    for (int k = 0; k < m; k++) {
      strong += frontier[k].bond >= ORDER_STRONG * most;
      at[frontier[k].node] = -1;
    }
  }
  return !(sign[0] && sign[1]) && (double)strong > ORDER_LINES * (double)nodes;
}

/* Sorts numbers 0 to n - 1 by key, equal keys in their order; first has keys + 1 numbers */
static void Sort(int64_t n, const SysInt *key, int64_t keys, SysInt *first, SysInt *sorted)
{
  memset(first, 0, ((size_t)keys + 1) * sizeof(*first));
  for (int64_t k = 0; k < n; k++) first[key[k] + 1]++;
  for (int64_t k = 0; k < keys; k++) first[k + 1] += first[k];
  for (int64_t k = 0; k < n; k++) sorted[first[key[k]]++] = (SysInt)k;
}

/* Gives each block the first colour of 64 words that none of its neighbours has; member: nodes by block. taken: colours of earlier neighbours, which need not have an entry in the other
   direction. Returns the number of colours, or -1 if they are not enough. */
static int64_t GraphColour(const Graph *G, const SysInt *block, int64_t blocks, const SysInt *member, int64_t words, uint64_t *taken, SysInt *colour)
{
  const SysCSR *A       = G->A;
  int64_t       colours = 0, p = 0;

  for (int64_t b = 0; b < blocks; b++) {
    uint64_t     *mine  = taken + b * words;
    const int64_t begin = p;
    int64_t       c     = 0;

    for (; p < G->n && block[member[p]] == (SysInt)b; p++) {
      for (SysInt k = A->i[member[p] * G->bs], end = A->i[(member[p] + 1) * G->bs]; k < end; k++) {
        const SysInt other = block[GraphNode(G, A->j[k])];

        if (other < (SysInt)b) mine[colour[other] / 64] |= UINT64_C(1) << colour[other] % 64;
      }
    }
    while (c < words && mine[c] == UINT64_MAX) c++;
    if (c == words) return -1;
    c         = 64 * c + __builtin_ctzll(~mine[c]);
    colour[b] = (SysInt)c;
    if (c >= colours) colours = c + 1;
    for (p = begin; p < G->n && block[member[p]] == (SysInt)b; p++) {
      for (SysInt k = A->i[member[p] * G->bs], end = A->i[(member[p] + 1) * G->bs]; k < end; k++) {
        const SysInt other = block[GraphNode(G, A->j[k])];

        if (other > (SysInt)b) taken[other * words + c / 64] |= UINT64_C(1) << c % 64;
      }
    }
  }
  return colours;
}

SysStatus OrderColour(const SysCSR *A, int64_t bs, int64_t rows, int nodes, SysInt perm[], int64_t *colours)
{
  const Graph   G = GraphCreate(A, bs);
  const int64_t n = G.n;
  SysInt       *block, *member, *work, *colour, *sorted;
  int64_t       blocks, k = 0;

  *colours = -1;
  block    = malloc(5 * ((size_t)n + 2) * sizeof(*block));
  if (!block) return SYS_OUT_OF_MEMORY;
  member = block + n + 2;
  work   = member + n + 2;
  colour = work + n + 2;
  sorted = colour + n + 2;
  blocks = GraphGather(&G, nodes && GraphIsAlike(&G, block, work) ? 1 : rows > bs ? rows / bs : 1, block, work);
  Sort(n, block, blocks, work, member);
  for (int64_t words = 1; *colours < 0; words *= 2) {
    uint64_t *taken = calloc((size_t)blocks * (size_t)words + 1, sizeof(*taken));

    if (taken) *colours = GraphColour(&G, block, blocks, member, words, taken, colour);
    free(taken);
    if (!taken) break;
  }
  if (*colours >= 0) {
    Sort(blocks, colour, *colours, work, sorted);
    for (int64_t b = 0; b < blocks; b++) colour[sorted[b]] = (SysInt)b; /* the place of each block */
    for (int64_t v = 0; v < n; v++) block[v] = colour[block[v]];
    Sort(n, block, blocks, work, member);
    for (int64_t v = 0; v < n; v++) {
      for (int64_t q = 0; q < bs; q++) perm[k++] = (SysInt)(member[v] * bs + q);
    }
  }
  free(block);
  return *colours < 0 ? SYS_OUT_OF_MEMORY : SYS_SUCCESS;
}
