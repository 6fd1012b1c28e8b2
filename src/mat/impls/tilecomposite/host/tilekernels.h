/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Template of the host's tile-composite kernel; tilelayout.h has the layout. tile_isa.c includes it.

   Padding has an invalid column index and adds 0: a NaN or an infinity of x reaches only rows that have an entry in its column.
*/
#include "sys/sysstore.h"
#include "mat/impls/tilecomposite/host/tilehost.h"

/* Stores a piece's sum */
static SYS_INLINE void TileStore(const TileHost *A, int64_t piece, SysScalar s, SysStore how, SysScalar alpha, SysScalar beta, const SysScalar *y, SysScalar *z)
{
  const SysInt to = A->layout.target[piece];

  if (to < 0) A->sums[~to] = s;
  else z[to] = SysStored(how, alpha, s, beta, y, z, to);
}

/* Adds the products of 32 entries to 32 sums */
#define TILE_ADD(type, none, columns) \
  static SYS_INLINE void TileAdd_##columns(const type *columns, const SysScalar *val, const SysScalar *x, SysScalar sum[TILE_WARP]) \
  { \
    for (int l = 0; l < TILE_WARP; l++) sum[l] += columns[l] == none ? 0 : val[l] * x[columns[l]]; \
  }
TILE_ADD(uint16_t, UINT16_MAX, narrow)
TILE_ADD(uint32_t, TILE_NO_COLUMN, wide)

static SYS_INLINE void TileAdd(const TileHost *A, int64_t place, const SysScalar *x, SysScalar sum[TILE_WARP])
{
  const TileLayout *L = &A->layout;

  if (place < L->nnarrow) TileAdd_narrow(L->narrow + place, A->val + place, x, sum);
  else TileAdd_wide(L->wide + (place - L->nnarrow), A->val + place, x, sum);
}

static SYS_INLINE SysScalar TileSum(SysScalar sum[TILE_WARP])
{
  for (int d = TILE_WARP / 2; d; d /= 2) {
    for (int l = 0; l < d; l++) sum[l] += sum[l + d];
  }
  return sum[0];
}

static SYS_INLINE void TileRectangle(const TileHost *A, const TileWork *w, SysStore how, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z)
{
  const TileLayout *L    = &A->layout;
  const int64_t     tile = w->kind / 4;
  const int         kind = (int)(w->kind % 4), columns = kind == TILE_COLUMNS;
  const SysScalar  *xs    = tile < L->ntile ? A->xs + tile * L->params.width : x;
  int64_t           place = w->place;

  if (kind == TILE_COO) {
    SysScalar s    = 0;
    int       last = 0;

    for (int64_t k = place; k < place + (int64_t)w->steps * TILE_WARP; k++) {
      const uint32_t c = k < L->nnarrow ? (L->narrow[k] == UINT16_MAX ? TILE_NO_COLUMN : L->narrow[k]) : L->wide[k - L->nnarrow];

      if (L->piece[k] != last) {
        TileStore(A, w->piece + last, s, how, alpha, beta, y, z);
        last = L->piece[k];
        s    = 0;
      }
      if (c != TILE_NO_COLUMN) s += A->val[k] * xs[c];
    }
    TileStore(A, w->piece + last, s, how, alpha, beta, y, z);
    return;
  }
  for (int64_t p = 0; p < w->pieces; p += columns ? TILE_WARP : 1) {
    SysScalar sum[TILE_WARP] = {0};

    for (uint32_t k = 0; k < w->steps; k++, place += TILE_WARP) TileAdd(A, place, xs, sum);
    if (columns) {
      for (int64_t l = 0; l < TILE_WARP && p + l < w->pieces; l++) TileStore(A, w->piece + p + l, sum[l], how, alpha, beta, y, z);
    } else TileStore(A, w->piece + p, TileSum(sum), how, alpha, beta, y, z);
  }
}

/* Computes z = alpha A x + beta y. y may be z; beta == 0: y is not read. */
static void SYS_ISA_NAME(Mult)(const TileHost *A, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z)
{
  const TileLayout *L   = &A->layout;
  const SysStore    how = SysFirstStore(beta, y, z);

#pragma omp parallel for num_threads(A->nthread) if (A->nthread > 1) schedule(static)
  for (int64_t k = 0; k < L->ncol; k++) A->xs[k] = x[L->perm[k]];
#pragma omp parallel for num_threads(A->nthread) if (A->nthread > 1) schedule(static)
  for (int t = 0; t < A->nthread; t++) {
    for (int64_t w = A->first[t]; w < A->first[t + 1]; w++) TileRectangle(A, L->work + w, how, alpha, x, beta, y, z);
  }
#pragma omp parallel for num_threads(A->nthread) if (A->nthread > 1) schedule(static)
  for (int64_t k = 0; k < L->nsum; k++) {
    SysScalar s = 0;

    for (SysInt q = L->slot[k]; q < L->slot[k + 1]; q++) s += A->sums[q];
    z[L->row[k]] = SysStored(how, alpha, s, beta, y, z, L->row[k]);
  }
}

const TileKernels SYS_ISA_NAME(TileKernels) = {SYS_KERNELS_NAME, SYS_ISA_NAME(SysSupported), SYS_ISA_NAME(Mult)};
