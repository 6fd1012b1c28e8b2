/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The kernels of products of sparse and dense matrices, a template. The file that includes it defines SYS_ISA, the instruction set (see sys/sysisa.h).
*/
#include "sys/sysisa.h"
#include "mat/impls/spmm/host/spmmhost.h"
#include "mat/impls/spmm/host/spmmtile.h"

/* ------------------------------------------------- columns and rows ------------------------------------------------- */

/* Some columns over all rows, then the next columns: few streams of the memory at a time */
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

/* The sum of a row stays in registers: nvector vectors of type Vec are a row of a panel */
#define SPMM_ROWS(name, Vec) \
  static SYS_INLINE void name(const int nvector, const SpmmTerm term[], int nterm, SysReal *const panel[], int64_t r0, int64_t r1, SysReal *result) \
  { \
    const int width = nvector * (int)(sizeof(Vec) / sizeof(SysReal)); \
\
    for (int64_t r = r0; r < r1; r++) { \
      Vec sum[SPMM_VECTORS]; \
\
      for (int v = 0; v < nvector; v++) sum[v] = (Vec){0}; \
      for (int t = 0; t < nterm; t++) { \
        const SysInt  *j = term[t].j, *place = term[t].place, mask = (SysInt)(term[t].ring - 1); \
        const SysReal *a   = term[t].a; \
        const int64_t  end = term[t].i[r + 1]; \
\
        for (int64_t k = term[t].i[r]; k < end; k++) { \
          const SysReal  value = a[place ? place[k] : k]; \
          const SysReal *row   = panel[t] + (int64_t)(j[k] & mask) * width; \
\
          for (int v = 0; v < nvector; v++) sum[v] += value * ((const Vec *)row)[v]; \
        } \
      } \
      for (int v = 0; v < nvector; v++) ((Vec *)(result + (r - r0) * width))[v] = sum[v]; \
    } \
  }
SPMM_ROWS(SpmmRows16, Spmm16)
SPMM_ROWS(SpmmRows32, Spmm32)
SPMM_ROWS(SpmmRows64, Spmm64)

static void SYS_ISA_NAME(SpmmMultRows)(const SpmmTerm term[], int nterm, SysReal *const panel[], int width, int64_t r0, int64_t r1, SysReal *result)
{
  switch (width * (int)sizeof(SysReal)) {
  case 16:
    SpmmRows16(1, term, nterm, panel, r0, r1, result);
    break;
  case 32:
    SpmmRows32(1, term, nterm, panel, r0, r1, result);
    break;
  case 64:
    SpmmRows64(1, term, nterm, panel, r0, r1, result);
    break;
  case 128:
    SpmmRows64(2, term, nterm, panel, r0, r1, result);
    break;
  case 192:
    SpmmRows64(3, term, nterm, panel, r0, r1, result);
    break;
  default:
    SpmmRows64(SPMM_VECTORS, term, nterm, panel, r0, r1, result);
  }
}

const SpmmKernels SYS_ISA_NAME(SpmmKernels) = {SYS_KERNELS_NAME, SYS_ISA_NAME(SysSupported), SYS_ISA_NAME(SpmmPackRows), SYS_ISA_NAME(SpmmUnpackRows), SYS_ISA_NAME(SpmmReach), SYS_ISA_NAME(SpmmMultRows)};
