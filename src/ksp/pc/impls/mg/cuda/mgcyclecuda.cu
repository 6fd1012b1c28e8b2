/* SPDX-License-Identifier: BSD-2-Clause */
#include "sys/syscuda.cuh"
#include "sys/systranspose.cuh"
#include "ksp/pc/impls/mg/cuda/mgcyclecuda.h"

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

/* So many lanes make the sum of a row */
static __global__ void __launch_bounds__(SYS_THREADS) MGCycleCSRMultKernel(int m, int lanes, const SysInt *i, const SysInt *j, const SysInt *from, const SysReal *a, SysReal alpha, const SysReal *x, const SysReal *y, SysReal *z)
{
  const int64_t thread = blockIdx.x * (int64_t)SYS_THREADS + threadIdx.x, row = thread / lanes;
  const int     lane = (int)(thread % lanes);
  SysReal       sum  = 0;

  if (row < m && i) {
    const SysInt end = i[row + 1];

    for (SysInt k = i[row] + lane; k < end; k += lanes) sum += (from ? a[from[k]] : a[k]) * x[j[k]];
  }
  for (int d = lanes / 2; d; d /= 2) sum += __shfl_xor_sync(SYS_ALL_LANES, sum, d);
  if (row < m && lane == 0) z[row] = alpha * sum + (y ? y[row] : 0);
}

SysStatus MGCycleCSRMult(const SysCSR *A, const SysInt *from, SysReal alpha, const SysReal *x, const SysReal *y, SysReal *z, SysStream stream)
{
  int lanes = 1;

  while (lanes < SYS_WARP && lanes * A->m < A->nz) lanes *= 2;
  return SysLaunch(MGCycleCSRMultKernel, SysBlocks(A->m * lanes), SYS_THREADS, 0, (cudaStream_t)stream, (int)A->m, lanes, A->i, A->j, from, (const SysReal *)A->a, alpha, x, y, z);
}

/* Returns the sum of a number of each thread, to the first thread of the block */
static __device__ SysReal MGCycleBlockSum(SysReal sum)
{
  __shared__ SysReal shared[SYS_THREADS / SYS_WARP];
  const int          warp = (int)threadIdx.x / SYS_WARP, lane = (int)threadIdx.x % SYS_WARP;

  for (unsigned d = SYS_WARP / 2; d; d /= 2) sum += __shfl_xor_sync(SYS_ALL_LANES, sum, d);
  if (lane == 0) shared[warp] = sum;
  __syncthreads();
  sum = 0;
  for (int k = 0; k < SYS_THREADS / SYS_WARP; k++) sum += shared[k];
  return sum;
}

static __global__ void __launch_bounds__(SYS_THREADS) MGCycleSumsKernel(int64_t n, const SysReal *x, SysReal *sums)
{
  SysReal sum = 0;

  SYS_FOR_EACH(k, n) sum += x[k];
  sum = MGCycleBlockSum(sum);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

static __global__ void __launch_bounds__(SYS_THREADS) MGCycleRemoveKernel(int64_t n, SysReal a, const SysReal *x, const SysReal *sums, int nsums, SysReal b, const SysReal *p, SysReal c, const SysReal *z, SysReal *result)
{
  const SysReal mean = MGCycleBlockSum((int)threadIdx.x < nsums ? sums[threadIdx.x] : 0) / (SysReal)n;

  SYS_FOR_EACH(k, n)
  {
    SysReal y = a * (x[k] - mean);

    if (p) y += b * p[k];
    if (z) y += c * z[k];
    result[k] = y;
  }
}

SysStatus MGCycleRemoveMean(int64_t n, SysReal a, const SysReal *x, SysReal *sums, SysReal b, const SysReal *p, SysReal c, const SysReal *z, SysReal *result, SysStream stream)
{
  const int nsums = (int)SysMin(MG_CYCLE_SUMS, SysBlocks(n));

  static_assert(MG_CYCLE_SUMS <= SYS_THREADS, "a thread for each sum");
  SYS_CALL(SysLaunch(MGCycleSumsKernel, nsums, SYS_THREADS, 0, (cudaStream_t)stream, n, x, sums));
  return SysLaunch(MGCycleRemoveKernel, SysBlocksLoop(n), SYS_THREADS, 0, (cudaStream_t)stream, n, a, x, (const SysReal *)sums, nsums, b, p, c, z, result);
}

SysStatus MGCycleTranspose(const SysCSR *A, MGCycleTransposed *T, SysStream stream)
{
  const size_t list = SysPadded((size_t)A->nz * sizeof(SysInt)), starts = SysPadded(((size_t)A->n + 1) * sizeof(SysInt));
  SysScratch   work;
  size_t       bytes;
  char        *memory;

  SYS_CUDA(SysTransposeSize(A, &bytes));
  SYS_CALL(SysPoolAllocate(starts + 2 * list, &memory, stream));
  T->memory = memory;
  T->stream = stream;
  SYS_CALL(SysScratchAllocate(&work, bytes, stream));
  T->i    = (SysInt *)memory;
  T->j    = (SysInt *)(memory + starts);
  T->from = (SysInt *)(memory + starts + list);
  SYS_CUDA(SysTransposePattern(A, work.memory, bytes, T->i, T->j, T->from, (cudaStream_t)stream));
  return SYS_SUCCESS;
}

void MGCycleTransposedDestroy(MGCycleTransposed *T)
{
  SysPoolRelease(T->memory, T->stream);
  T->memory = NULL;
}
