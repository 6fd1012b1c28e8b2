/* SPDX-License-Identifier: BSD-2-Clause */
#include "sys/syscopy.h"
#include "sys/syscuda.cuh"

/* `lanes` lanes copy a row. The lane with the diagonal entry swaps it with the first one after all others are written. */
static __global__ void __launch_bounds__(SYS_THREADS) SysCopyKernel(int64_t m, int lanes, bool diagonal_first, const SysInt *Ai, const SysInt *Aj, const SysScalar *Aa, SysInt *j, SysScalar *a)
{
  const int64_t thread = blockIdx.x * (int64_t)SYS_THREADS + threadIdx.x, row = thread / lanes;
  const SysInt  first = row < m ? Ai[row] : 0, end = row < m ? Ai[row + 1] : 0;
  SysInt        diagonal = -1;

  for (SysInt k = first + (SysInt)(thread % lanes); k < end; k += lanes) {
    const SysInt column = Aj[k];

    if (diagonal_first && column == row) diagonal = k;
    a[k] = Aa[k];
    if (j) j[k] = column;
  }
  __syncwarp();
  if (diagonal < 0) return;
  a[diagonal] = Aa[first];
  a[first]    = Aa[diagonal];
  if (j) {
    j[diagonal] = Aj[first];
    j[first]    = Aj[diagonal];
  }
}

SysStatus SysCopyDevice(const SysCSR *A, int diagonal_first, SysInt *i, SysInt *j, SysScalar *a)
{
  int lanes = 1;

  if (!A->nz) return SYS_SUCCESS;
  while (lanes < SYS_WARP && lanes * A->m < A->nz) lanes *= 2;
  SYS_CUDA(cudaDeviceSynchronize());
  if (i) SYS_CUDA(cudaMemcpyAsync(i, A->i, ((size_t)A->m + 1) * sizeof(*i), cudaMemcpyDeviceToDevice, 0));
  SYS_CALL(SysLaunch(SysCopyKernel, SysBlocks(A->m * lanes), SYS_THREADS, 0, (cudaStream_t)0, A->m, lanes, diagonal_first != 0, A->i, A->j, A->a, j, a));
  SYS_CUDA(cudaDeviceSynchronize());
  return SYS_SUCCESS;
}
