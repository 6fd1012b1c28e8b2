/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The batch kernel, compiled once for each instruction set SYS_ISA (sys/sysisa.h); batchhost.h has the layout
*/
#include "graph/batch/host/batchhost.h"
#include "mat/impls/spmm/host/spmmtile.h"

#define BATCH_VECTORS 4 /* most sums of 64 bytes in registers */

/* Sums nvector vectors of type Vec of a row over entries k0 to k1 - 1, from 0 or from the result. D and C point to the first of the columns. */
#define BATCH_SUMS(name, Vec) \
  static SYS_INLINE void name(const int nvector, const BatchRows *A, int64_t k0, int64_t k1, int add, int64_t width, const SysReal *D, SysReal *C) \
  { \
    Vec sum[BATCH_VECTORS * 64 / sizeof(Vec)]; \
\
    _Pragma("GCC unroll 16") for (int v = 0; v < nvector; v++) sum[v] = add ? ((const Vec *)C)[v] : (Vec){0}; \
    for (int64_t k = k0; k < k1; k++) { \
      const SysReal value = A->a[A->position ? A->position[k] : k]; \
      const Vec    *row   = (const Vec *)(D + A->j[k] * width); \
\
      _Pragma("GCC unroll 16") for (int v = 0; v < nvector; v++) sum[v] += value * row[v]; \
    } \
    _Pragma("GCC unroll 16") for (int v = 0; v < nvector; v++)((Vec *)C)[v] = sum[v]; \
  }
BATCH_SUMS(BatchSums64, Spmm64)
BATCH_SUMS(BatchSums32, Spmm32)
BATCH_SUMS(BatchSums16, Spmm16)
static SYS_INLINE void BatchSum(const BatchRows *A, int64_t k0, int64_t k1, int add, int64_t width, const SysReal *D, SysReal *C)
{
  SysReal sum = add ? *C : 0;

  for (int64_t k = k0; k < k1; k++) sum += A->a[A->position ? A->position[k] : k] * D[A->j[k] * width];
  *C = sum;
}

static void SYS_ISA_NAME(BatchMultRows)(const BatchRows *A, int add, int64_t width, const SysReal *D, int64_t r0, int64_t r1, SysReal *C)
{
  const int64_t per = 64 / (int64_t)sizeof(SysReal);
  const int     n   = 64 / SPMM_TILE_BYTES; /* registers for 64 bytes */

  for (int64_t r = r0; r < r1; r++) {
    const int64_t k0 = A->i[r], k1 = A->i[r + 1];
    SysReal      *row = C + r * width;
    int64_t       c   = 0;

    for (; c + BATCH_VECTORS * per <= width; c += BATCH_VECTORS * per) SPMM_REGISTER(BatchSums)(BATCH_VECTORS * n, A, k0, k1, add, width, D + c, row + c);
    if (c + 2 * per <= width) {
      SPMM_REGISTER(BatchSums)(2 * n, A, k0, k1, add, width, D + c, row + c);
      c += 2 * per;
    }
    if (c + per <= width) {
      SPMM_REGISTER(BatchSums)(n, A, k0, k1, add, width, D + c, row + c);
      c += per;
    }
    if (c + per / 2 <= width) {
      if (SPMM_TILE_BYTES == 16) BatchSums16(2, A, k0, k1, add, width, D + c, row + c);
      else BatchSums32(1, A, k0, k1, add, width, D + c, row + c);
      c += per / 2;
    }
    if (c + per / 4 <= width) {
      BatchSums16(1, A, k0, k1, add, width, D + c, row + c);
      c += per / 4;
    }
    for (; c < width; c++) BatchSum(A, k0, k1, add, width, D + c, row + c);
  }
}

const BatchKernels SYS_ISA_NAME(BatchKernels) = {SYS_KERNELS_NAME, SYS_ISA_NAME(SysSupported), SYS_ISA_NAME(BatchMultRows)};
