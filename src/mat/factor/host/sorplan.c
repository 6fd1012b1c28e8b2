/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "sys/systhreads.h"
#include "mat/factor/host/sorhost.h"

#define SOR_ENTRIES 8     /* entries of a row for each of its threads, at least where a row has several threads */
#define SOR_THREAD  50000 /* entries of a thread, at least */

/* Colors nodes with at most 64 words colors. taken: the colors of the earlier neighbours of each node. Returns the number of colors, 0 if a row has no diagonal, or -1 if they are
   not enough. */
static inline int64_t SORColorNodes(const SysCSR *A, const int bs, const int words, uint64_t *taken, uint8_t *color)
{
  const int64_t nodes  = A->m / bs;
  int64_t       colors = 0;

  memset(taken, 0, (size_t)nodes * (size_t)words * sizeof(*taken));
  for (int64_t v = 0; v < nodes; v++) {
    const SysInt begin = A->i[v * bs], end = A->i[(v + 1) * bs];
    uint64_t    *mine = taken + v * words;
    int          c = 0, diagonals = 0;

    for (int r = 0; r < bs; r++) {
      for (SysInt k = A->i[v * bs + r]; k < A->i[v * bs + r + 1]; k++) {
        const SysInt u = A->j[k] / bs;

        diagonals += A->j[k] == v * bs + r;
        if (u < v) mine[color[u] / 64] |= UINT64_C(1) << color[u] % 64; /* an earlier node need not have an entry for this one */
      }
    }
    if (diagonals != bs) return 0;
    while (c < words && mine[c] == UINT64_MAX) c++;
    if (c == words) return -1;
    c        = 64 * c + __builtin_ctzll(~mine[c]);
    color[v] = (uint8_t)c;
    if (c >= colors) colors = c + 1;
    for (SysInt k = begin; k < end; k++) {
      const SysInt u = A->j[k] / bs;

      if (u > v) taken[(int64_t)u * words + c / 64] |= UINT64_C(1) << c % 64;
    }
  }
  return colors;
}

/* Colors nodes; *colors is 0 if a row has no diagonal, or if there would be too many */
static SysStatus SORColor(const SysCSR *A, int bs, uint8_t *color, int64_t *colors)
{
  *colors = -1;
  for (int words = 1; *colors < 0 && words <= SOR_COLORS_MOST / 64; words *= 2) {
    uint64_t *taken = malloc(((size_t)(A->m / bs) * (size_t)words + 1) * sizeof(*taken));

    if (!taken) return SYS_OUT_OF_MEMORY;
    *colors = bs == 1 && words == 1 ? SORColorNodes(A, 1, 1, taken, color) : SORColorNodes(A, bs, words, taken, color);
    free(taken);
  }
  if (*colors < 0) *colors = 0;
  return SYS_SUCCESS;
}

/* Threads of a row: some where rows are long, unless the rows of a node would leave many positions of a tile empty */
static int SORLanes(const SysCSR *A, int bs)
{
  int lanes = 1;

  while (2 * lanes * bs <= SOR_WARP && (int64_t)lanes * SOR_ENTRIES * A->m < A->nz - A->m && SOR_WARP / (2 * lanes) % bs * 8 <= SOR_WARP / (2 * lanes)) lanes *= 2;
  return lanes;
}

/* Sorts nodes by color, nodes of a color in their order, into tiles */
static SysStatus SORPlace(const uint8_t *color, SORPlan *P)
{
  const int64_t nodes = P->n / P->bs, each = SOR_WARP / P->lanes / P->bs, rows = SOR_WARP / P->lanes;
  SysInt        next[SOR_COLORS_MOST] = {0};
  int64_t       tiles                 = 0;

  for (int64_t v = 0; v < nodes; v++) next[color[v]]++;
  for (int64_t c = 0; c < P->colors; c++) {
    P->tile[c] = (SysInt)tiles;
    tiles += (next[c] + each - 1) / each;
    next[c] = 0;
  }
  P->tile[P->colors] = (SysInt)tiles;
  P->tiles           = tiles;
  if (tiles * rows > INT32_MAX) return SYS_TOO_LARGE;
  P->row = malloc(((size_t)(tiles * rows) + 1) * sizeof(*P->row));
  if (!P->row) return SYS_OUT_OF_MEMORY;
  memset(P->row, -1, (size_t)(tiles * rows) * sizeof(*P->row));
  for (int64_t v = 0; v < nodes; v++) {
    const int64_t k = next[color[v]]++, p = (P->tile[color[v]] + k / each) * rows + k % each * P->bs;

    for (int64_t q = 0; q < P->bs; q++) {
      P->row[p + q]           = (SysInt)(v * P->bs + q);
      P->place[v * P->bs + q] = (SysInt)(p + q);
    }
  }
  return SYS_SUCCESS;
}

static inline int SORThreads(const SysCSR *A)
{
  return (int)SysMin(SysThreads(), 1 + A->nz / SOR_THREAD);
}

/* Sets the steps of each tile, then their sums */
static SysStatus SORSteps(const SysCSR *A, SORPlan *P)
{
  const int64_t rows = SOR_WARP / P->lanes;

  for (int part = 0; part < 2; part++) P->start[part] = malloc(((size_t)P->tiles + 1) * sizeof(SysInt));
  if (!P->start[0] || !P->start[1]) return SYS_OUT_OF_MEMORY;
#pragma omp parallel for num_threads(SORThreads(A)) if (SORThreads(A) > 1)
  for (int64_t t = 0; t < P->tiles; t++) {
    SysInt most[2] = {0, 0};

    for (int64_t p = t * rows; p < (t + 1) * rows; p++) {
      const SysInt r         = P->row[p];
      const SysInt begin     = r < 0 ? 0 : r - r % P->bs;
      SysInt       number[2] = {0, 0};

      if (r < 0) continue;
      for (SysInt k = A->i[r]; k < A->i[r + 1]; k++) {
        if (A->j[k] < begin || A->j[k] >= begin + P->bs) number[P->place[A->j[k]] > p]++;
      }
      for (int part = 0; part < 2; part++) {
        if (number[part] > most[part]) most[part] = number[part];
      }
    }
    for (int part = 0; part < 2; part++) P->start[part][t + 1] = (most[part] + P->lanes - 1) / P->lanes;
  }
  for (int part = 0; part < 2; part++) {
    int64_t sum = 0;

    P->start[part][0] = 0;
    for (int64_t t = 0; t < P->tiles; t++) {
      sum += P->start[part][t + 1];
      if (sum > INT32_MAX) return SYS_TOO_LARGE;
      P->start[part][t + 1] = (SysInt)sum;
    }
  }
  return SYS_SUCCESS;
}

SysStatus SORPlanCreate(const SysCSR *A, int bs, SORPlan *P)
{
  uint8_t  *color;
  SysStatus status;

  memset(P, 0, sizeof(*P));
  color = malloc((size_t)(A->m / bs) + 1);
  if (!color) return SYS_OUT_OF_MEMORY;
  P->n   = A->m;
  P->bs  = bs;
  status = SORColor(A, bs, color, &P->colors);
  if (status == SYS_SUCCESS && P->colors) {
    P->lanes = SORLanes(A, bs);
    P->tile  = malloc(((size_t)P->colors + 1) * sizeof(*P->tile));
    P->place = malloc(((size_t)P->n + 1) * sizeof(*P->place));
    status   = P->tile && P->place ? SORPlace(color, P) : SYS_OUT_OF_MEMORY;
    if (status == SYS_SUCCESS) status = SORSteps(A, P);
  }
  free(color);
  if (status != SYS_SUCCESS) SORPlanDestroy(P);
  return status;
}

void SORPlanDestroy(SORPlan *P)
{
  free(P->tile);
  free(P->row);
  free(P->place);
  for (int part = 0; part < 2; part++) free(P->start[part]);
  memset(P, 0, sizeof(*P));
}
