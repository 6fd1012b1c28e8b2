/* SPDX-License-Identifier: BSD-2-Clause */
/*
   SpGEMM on the device: values of the transposed operand, and the number of multiplications

   spgemmhost.h has the idea.
*/
#include "mat/impls/hashgemm/cuda/spgemmcuda.cuh"

static __global__ void __launch_bounds__(SYS_THREADS) OperandGatherKernel(int64_t nz, const int *from, const SysScalar *a, SysScalar *to)
{
  const int64_t k = blockIdx.x * (int64_t)SYS_THREADS + threadIdx.x;

  if (k < nz) to[k] = a[from[k]];
}

SysStatus SpgemmDeviceGather(int64_t nz, const int *from, const SysScalar *a, SysScalar *to, cudaStream_t stream)
{
  return SysLaunch(OperandGatherKernel, SysBlocks(nz, SYS_THREADS), SYS_THREADS, 0, stream, nz, from, a, to);
}

/* Counts the multiplications of A B */
static __global__ void __launch_bounds__(SYS_THREADS) OperandProductsKernel(int64_t nz, const int *Aj, const int *Bi, unsigned long long *products)
{
  const int64_t      k = blockIdx.x * (int64_t)SYS_THREADS + threadIdx.x;
  unsigned long long n = k < nz ? (unsigned)(Bi[Aj[k] + 1] - Bi[Aj[k]]) : 0;

  for (int step = SYS_WARP / 2; step; step /= 2) n += __shfl_xor_sync(SYS_ALL_LANES, n, step);
  if (threadIdx.x % SYS_WARP == 0 && n) atomicAdd(products, n);
}

SysStatus SpgemmDeviceProducts(const SysCSR *A, const SysCSR *B, unsigned long long *products, cudaStream_t stream)
{
  SYS_CUDA(cudaMemsetAsync(products, 0, sizeof(*products), stream));
  return SysLaunch(OperandProductsKernel, SysBlocks(A->nz, SYS_THREADS), SYS_THREADS, 0, stream, A->nz, A->j, B->i, products);
}
