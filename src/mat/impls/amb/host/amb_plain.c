/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The AMB kernels in plain C, for any scalar type and processor
*/
#define SYS_ISA Plain

#include "mat/impls/amb/host/ambhost.h"

static SYS_INLINE void AmbChunkB(const int b, const SysStorage stored, uint32_t n, const AmbHost *A, size_t at, const uint16_t *col, const SysScalar *x, SysScalar sum[AMB_C])
{
  SysScalar s[AMB_C] = {0};

  for (uint32_t i = 0; i < n; i++) {
#pragma GCC unroll 8
    for (int l = 0; l < AMB_C; l++) {
      for (int k = 0; k < b; k++) s[l] += SysValuesAt(stored, &A->values.table, A->val, at + (AMB_C * (size_t)i + l) * b + k) * x[col[AMB_C * (size_t)i + l] + k];
    }
  }
  for (int l = 0; l < AMB_C; l++) sum[l] = s[l];
}

static SYS_INLINE void AmbChunk1(const int gather, const SysStorage stored, uint32_t n, const AmbHost *A, size_t at, const uint16_t *col, const SysScalar *x, SysScalar sum[AMB_C])
{
  (void)gather;
  AmbChunkB(1, stored, n, A, at, col, x, sum);
}

#include "mat/impls/amb/host/ambkernels.h"
