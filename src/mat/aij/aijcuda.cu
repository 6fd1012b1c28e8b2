/* SPDX-License-Identifier: BSD-2-Clause */
#include "sys/syscuda.cuh"
#include "mat/aij/aijcuda.h"

static __global__ void __launch_bounds__(SYS_THREADS) AijDiagonalKernel(int64_t m, const SysInt *i, const SysInt *j, const SysScalar *a, SysScalar *d)
{
  SYS_FOR_EACH(r, m)
  {
    SysScalar entry = 0;

    for (SysInt k = i[r]; k < i[r + 1]; k++) {
      if (j[k] == r) entry = a[k];
    }
    d[r] = entry;
  }
}

SysStatus AijDiagonal(const SysCSR *A, SysScalar d[], SysStream stream)
{
  if (A->m) AijDiagonalKernel<<<SysBlocksLoop(A->m), SYS_THREADS, 0, (cudaStream_t)stream>>>(A->m, A->i, A->j, A->a, d);
  SYS_CUDA(cudaGetLastError());
  return SYS_SUCCESS;
}
