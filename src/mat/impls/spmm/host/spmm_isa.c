/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The SpMM and SDDMM kernels, compiled once for each instruction set SYS_ISA (sys/sysisa.h); spmmhost.h has the layout
*/
#include "sys/sysisa.h"
#include "mat/impls/spmm/host/spmmhost.h"
#include "mat/impls/spmm/host/spmmtile.h"

/* ------------------------------------------------- columns and rows ------------------------------------------------- */

/* Packs some columns over all rows, then the next columns: few memory streams at a time */
static void SYS_ISA_NAME(SpmmPackRows)(int64_t n, int ncol, int width, const SysReal *columns, int64_t ld, SysReal *panel)
{
  const int64_t whole = width % SPMM_TILE ? 0 : n / SPMM_TILE * SPMM_TILE;

  for (int c = 0; whole && c < width; c += SPMM_TILE) {
    for (int64_t r = 0; r < whole; r += SPMM_TILE) {
      SpmmTile tile[SPMM_TILE];

      for (int k = 0; k < SPMM_TILE; k++) tile[k] = c + k < ncol ? *(const SpmmTile *)(columns + (c + k) * ld + r) : (SpmmTile){0};
      SpmmTileTranspose(tile);
      for (int k = 0; k < SPMM_TILE; k++) *(SpmmTile *)(panel + (r + k) * width + c) = tile[k];
    }
  }
  for (int64_t r = whole; r < n; r++) {
    for (int c = 0; c < width; c++) panel[r * width + c] = c < ncol ? columns[c * ld + r] : 0;
  }
}

static void SYS_ISA_NAME(SpmmUnpackRows)(int64_t n, int ncol, int width, const SysReal *panel, SysReal *columns, int64_t ld)
{
  const int64_t whole = width % SPMM_TILE ? 0 : n / SPMM_TILE * SPMM_TILE;

  for (int c = 0; whole && c < ncol; c += SPMM_TILE) {
    for (int64_t r = 0; r < whole; r += SPMM_TILE) {
      SpmmTile tile[SPMM_TILE];

      for (int k = 0; k < SPMM_TILE; k++) tile[k] = *(const SpmmTile *)(panel + (r + k) * width + c);
      SpmmTileTranspose(tile);
      for (int k = 0; k < SPMM_TILE; k++) {
        if (c + k < ncol) *(SpmmTile *)(columns + (c + k) * ld + r) = tile[k];
      }
    }
  }
  for (int64_t r = whole; r < n; r++) {
    for (int c = 0; c < ncol; c++) columns[c * ld + r] = panel[r * width + c];
  }
}

static void SYS_ISA_NAME(SpmmReach)(int64_t n, const SysInt *j, SysInt *least, SysInt *greatest)
{
  SysInt lo = *least, hi = *greatest;

  for (int64_t k = 0; k < n; k++) {
    lo = j[k] < lo ? j[k] : lo;
    hi = j[k] > hi ? j[k] : hi;
  }
  *least    = lo;
  *greatest = hi;
}

/* ------------------------------------------------- rows of the product ------------------------------------------------- */

/* A row's sum stays in registers: a panel's row has nvector vectors of type Vec. A narrow panel has nsum sums, of every second or fourth entry,
   because each addition would wait for the previous one. nsum follows from the width alone, so the bits are the same with all instruction sets that
   have FMA. */
#define SPMM_ROWS(name, Vec) \
  static SYS_INLINE void name(const int nvector, const int nsum, const SpmmTerm term[], int nterm, SysReal *const panel[], int64_t r0, int64_t r1, SysReal *result) \
  { \
    const int width = nvector * (int)(sizeof(Vec) / sizeof(SysReal)); \
\
    for (int64_t r = r0; r < r1; r++) { \
      Vec sum[SPMM_VECTORS * SPMM_ALIGN / sizeof(Vec)]; \
\
      _Pragma("GCC unroll 16") for (int v = 0; v < nsum * nvector; v++) sum[v] = (Vec){0}; \
      for (int t = 0; t < nterm; t++) { \
        const SysInt  *j = term[t].j, *position = term[t].position, mask = (SysInt)(term[t].ring - 1); \
        const SysReal *a   = term[t].a; \
        const int64_t  end = term[t].i[r + 1]; \
        int64_t        k   = term[t].i[r]; \
\
        for (; k + nsum <= end; k += nsum) { \
          _Pragma("GCC unroll 4") for (int s = 0; s < nsum; s++) \
          { \
            const SysReal  value = a[position ? position[k + s] : k + s]; \
            const SysReal *row   = panel[t] + (int64_t)(j[k + s] & mask) * width; \
\
            _Pragma("GCC unroll 16") for (int v = 0; v < nvector; v++) sum[s * nvector + v] += value * ((const Vec *)row)[v]; \
          } \
        } \
        for (; k < end; k++) { \
          const SysReal  value = a[position ? position[k] : k]; \
          const SysReal *row   = panel[t] + (int64_t)(j[k] & mask) * width; \
\
          _Pragma("GCC unroll 16") for (int v = 0; v < nvector; v++) sum[v] += value * ((const Vec *)row)[v]; \
        } \
      } \
      _Pragma("GCC unroll 16") for (int v = 0; v < nvector; v++) \
      { \
        if (nsum == 4) sum[v] = (sum[v] + sum[v + nvector]) + (sum[v + 2 * nvector] + sum[v + 3 * nvector]); \
        if (nsum == 2) sum[v] += sum[v + nvector]; \
        ((Vec *)(result + (r - r0) * width))[v] = sum[v]; \
      } \
    } \
  }
SPMM_ROWS(SpmmRows16, Spmm16)
SPMM_ROWS(SpmmRows32, Spmm32)
SPMM_ROWS(SpmmRows64, Spmm64)

static void SYS_ISA_NAME(SpmmMultRows)(const SpmmTerm term[], int nterm, SysReal *const panel[], int width, int64_t r0, int64_t r1, SysReal *result)
{
  const int per = SPMM_ALIGN / SPMM_TILE_BYTES;

  switch (width * (int)sizeof(SysReal)) {
  case 16:
    SpmmRows16(1, 4, term, nterm, panel, r0, r1, result);
    break;
  case 32:
    if (SPMM_TILE_BYTES == 16) SpmmRows16(2, 4, term, nterm, panel, r0, r1, result);
    else SpmmRows32(1, 4, term, nterm, panel, r0, r1, result);
    break;
  case 64:
    SPMM_REGISTER(SpmmRows)(per, 4, term, nterm, panel, r0, r1, result);
    break;
  case 128:
    SPMM_REGISTER(SpmmRows)(2 * per, 2, term, nterm, panel, r0, r1, result);
    break;
  case 192:
    SPMM_REGISTER(SpmmRows)(3 * per, 1, term, nterm, panel, r0, r1, result);
    break;
  default:
    SPMM_REGISTER(SpmmRows)(SPMM_VECTORS * per, 1, term, nterm, panel, r0, r1, result);
  }
}

/* ------------------------------------------------- sampled products ------------------------------------------------- */

/* Computes as many entries together as a register has numbers; a transpose adds up their sums */
static SYS_INLINE void SpmmDotsOf(const int nvector, const SpmmTerm *term, const SysReal *panel, const SysReal *rows, int64_t r0, int64_t r1, int add, int scale, SysReal *values)
{
  const int    width = nvector * SPMM_TILE;
  const SysInt mask  = (SysInt)(term->ring - 1);

  for (int64_t r = r0; r < r1; r++) {
    const int64_t end = term->i[r + 1];
    SpmmTile      left[SPMM_VECTORS * SPMM_ALIGN / SPMM_TILE_BYTES];

    for (int v = 0; v < nvector; v++) left[v] = ((const SpmmTile *)(rows + (r - r0) * width))[v];
    for (int64_t k = term->i[r]; k < end; k += SPMM_TILE) {
      const int n = (int)SysMin(SPMM_TILE, end - k);
      SpmmTile  tile[SPMM_TILE], sum;

      for (int e = 0; e < SPMM_TILE; e++) {
        const SpmmTile *right = (const SpmmTile *)(panel + (int64_t)(term->j[k + (e < n ? e : 0)] & mask) * width);

        tile[e] = left[0] * right[0];
        for (int v = 1; v < nvector; v++) tile[e] += left[v] * right[v];
      }
      SpmmTileTranspose(tile);
      sum = tile[0];
      for (int e = 1; e < SPMM_TILE; e++) sum += tile[e];
      if (n == SPMM_TILE) {
        if (add) sum += *(const SpmmTile *)(values + k);
        if (scale) sum *= *(const SpmmTile *)(term->a + k);
        *(SpmmTile *)(values + k) = sum;
      } else {
        for (int e = 0; e < n; e++) {
          const SysReal whole = add ? values[k + e] + sum[e] : sum[e];

          values[k + e] = scale ? whole * term->a[k + e] : whole;
        }
      }
    }
  }
}

static void SYS_ISA_NAME(SpmmDots)(const SpmmTerm *term, const SysReal *panel, const SysReal *rows, int width, int64_t r0, int64_t r1, int add, int scale, SysReal *values)
{
  const int per = SPMM_ALIGN / SPMM_TILE_BYTES;

  switch (width * (int)sizeof(SysReal) / SPMM_ALIGN) {
  case 1:
    SpmmDotsOf(1 * per, term, panel, rows, r0, r1, add, scale, values);
    break;
  case 2:
    SpmmDotsOf(2 * per, term, panel, rows, r0, r1, add, scale, values);
    break;
  case 3:
    SpmmDotsOf(3 * per, term, panel, rows, r0, r1, add, scale, values);
    break;
  default:
    SpmmDotsOf(SPMM_VECTORS * per, term, panel, rows, r0, r1, add, scale, values);
  }
}

const SpmmKernels SYS_ISA_NAME(SpmmKernels) = {SYS_KERNELS_NAME, SYS_ISA_NAME(SysSupported), SYS_ISA_NAME(SpmmPackRows), SYS_ISA_NAME(SpmmUnpackRows), SYS_ISA_NAME(SpmmReach), SYS_ISA_NAME(SpmmMultRows), SYS_ISA_NAME(SpmmDots)};
