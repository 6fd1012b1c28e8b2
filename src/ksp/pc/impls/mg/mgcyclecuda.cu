/* SPDX-License-Identifier: BSD-2-Clause */
#include "sys/syscuda.cuh"
#include "ksp/pc/impls/mg/mgcyclecuda.h"

/* A warp makes the sum of a row */
static __global__ void __launch_bounds__(SYS_THREADS) MGCycleDenseMultKernel(int n, const SysReal *A, const SysReal *x, SysReal *z)
{
  const int row = (int)(blockIdx.x * SYS_THREADS + threadIdx.x) / SYS_WARP, lane = (int)threadIdx.x % SYS_WARP;
  SysReal   sum = 0;

  if (row >= n) return;
  for (int k = lane; k < n; k += SYS_WARP) sum += A[(int64_t)row * n + k] * x[k];
  for (unsigned d = SYS_WARP / 2; d; d /= 2) sum += __shfl_xor_sync(SYS_ALL_LANES, sum, d);
  if (lane == 0) z[row] = sum;
}

SysStatus MGCycleDenseMult(int n, const SysReal *A, const SysReal *x, SysReal *z, SysStream stream)
{
  return SysLaunch(MGCycleDenseMultKernel, SysBlocks(n, SYS_THREADS / SYS_WARP), SYS_THREADS, 0, (cudaStream_t)stream, n, A, x, z);
}
