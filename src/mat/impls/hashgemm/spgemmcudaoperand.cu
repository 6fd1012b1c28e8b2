/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Sparse products on the device: the values of the transposed operand, and how many multiplications a product takes
*/
#include "spgemmcuda.cuh"

#define THREADS 256

static __global__ void __launch_bounds__(THREADS) Gather(int64_t nz, const int *from, const AmbScalar *a, AmbScalar *to)
{
  const int64_t k = blockIdx.x * (int64_t)THREADS + threadIdx.x;

  if (k < nz) to[k] = a[from[k]];
}

SpgemmDeviceStatus SpgemmDeviceGather(int64_t nz, const int *from, const AmbScalar *a, AmbScalar *to, cudaStream_t stream)
{
  return SpgemmLaunch(Gather, SpgemmBlocks(nz, THREADS), THREADS, 0, stream, nz, from, a, to);
}

/* How many multiplications A B takes */
static __global__ void __launch_bounds__(THREADS) Products(int64_t nz, const int *Aj, const int *Bi, unsigned long long *products)
{
  const int64_t      k = blockIdx.x * (int64_t)THREADS + threadIdx.x;
  unsigned long long n = k < nz ? (unsigned)(Bi[Aj[k] + 1] - Bi[Aj[k]]) : 0;

  for (int step = SPGEMM_WARP / 2; step; step /= 2) n += __shfl_xor_sync(SPGEMM_ALL, n, step);
  if (threadIdx.x % SPGEMM_WARP == 0 && n) atomicAdd(products, n);
}

SpgemmDeviceStatus SpgemmDeviceProducts(const AmbDeviceCSR *A, const AmbDeviceCSR *B, unsigned long long *products, cudaStream_t stream)
{
  SPGEMM_CUDA(cudaMemsetAsync(products, 0, sizeof(*products), stream));
  return SpgemmLaunch(Products, SpgemmBlocks(A->nz, THREADS), THREADS, 0, stream, A->nz, A->j, B->i, products);
}
