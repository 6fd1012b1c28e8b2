/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Sampled products of dense matrices on a CUDA device.

   A group of lanes takes the same number of consecutive entries as every other group, whatever rows they belong to. It keeps the row of the left matrix in
   registers as long as the row is the same, and each lane keeps every LANES-th result, so that results are written side by side.
*/
#include "sys/syscuda.cuh"
#include "mat/impls/spmm/cuda/spmmcuda.h"

#define LANES  8
#define TAKEN  64 /* entries of a group, a multiple of LANES */
#define VECTOR (16 / (int)sizeof(SysReal))

#if defined(SYS_SINGLE)
typedef float4 SddmmVector;
#else
typedef double2 SddmmVector;
#endif

static __device__ inline SysReal SddmmDot(SysReal sum, const SddmmVector &x, const SddmmVector &y)
{
  sum = fma(x.x, y.x, sum);
  sum = fma(x.y, y.y, sum);
#if defined(SYS_SINGLE)
  sum = fma(x.z, y.z, sum);
  sum = fma(x.w, y.w, sum);
#endif
  return sum;
}

/* Each lane has PER vectors of a row, or the first of these if a row has fewer than LANES vectors */
template <int PER>
static __global__ void __launch_bounds__(SYS_THREADS) SddmmEntries(int64_t m, int64_t nz, int vectors, const int *__restrict__ i, const int *__restrict__ j, const SysReal *__restrict__ a, const SddmmVector *__restrict__ left, const SddmmVector *__restrict__ right, int add, SysReal *__restrict__ values)
{
  const int     lane = (int)threadIdx.x % LANES;
  const int64_t k0   = ((int64_t)blockIdx.x * SYS_THREADS + threadIdx.x) / LANES * TAKEN;
  int64_t       row  = -1;
  SddmmVector   x[PER];

  for (int64_t k = k0; k < k0 + TAKEN; k += LANES) {
    const int column = k + lane < nz ? j[k + lane] : 0;
    SysReal   mine   = 0;

    for (int e = 0; e < LANES; e++) {
      const int     c   = __shfl_sync(SYS_ALL_LANES, column, e, LANES);
      const int64_t q   = k + e;
      SysReal       sum = 0;

      if (q < nz) {
        bool moved = row < 0;

        if (moved) row = SysCountLess(i + 1, (int)m, (int)q + 1);
        for (; q >= i[row + 1]; row++) moved = true;
        if (moved) {
#pragma unroll
          for (int v = 0; v < PER; v++) {
            if (v * LANES + lane < vectors) x[v] = __ldg(&left[row * vectors + v * LANES + lane]);
          }
        }
#pragma unroll
        for (int v = 0; v < PER; v++) {
          if (v * LANES + lane < vectors) sum = SddmmDot(sum, x[v], __ldg(&right[(int64_t)c * vectors + v * LANES + lane]));
        }
      }
#pragma unroll
      for (int d = LANES / 2; d; d /= 2) sum += __shfl_xor_sync(SYS_ALL_LANES, sum, d, LANES);
      if (e == lane) mine = sum;
    }
    if (k + lane < nz) {
      if (add) mine += values[k + lane];
      values[k + lane] = a ? mine * a[k + lane] : mine;
    }
  }
}

SysStatus SddmmDevice(const SysCSR *A, int width, const SysReal *left, const SysReal *right, int add, int scale, SysReal *values, SysStream stream)
{
  const unsigned     blocks = SysBlocks((A->nz + TAKEN - 1) / TAKEN * LANES);
  const int          n      = width / VECTOR;
  const SysReal     *a      = scale ? A->a : NULL;
  const SddmmVector *x = (const SddmmVector *)left, *y = (const SddmmVector *)right;

  if (!A->nz) return SYS_SUCCESS;
  if (n <= LANES) SddmmEntries<1><<<blocks, SYS_THREADS, 0, stream>>>(A->m, A->nz, n, A->i, A->j, a, x, y, add, values);
  else if (n <= 2 * LANES) SddmmEntries<2><<<blocks, SYS_THREADS, 0, stream>>>(A->m, A->nz, n, A->i, A->j, a, x, y, add, values);
  else SddmmEntries<4><<<blocks, SYS_THREADS, 0, stream>>>(A->m, A->nz, n, A->i, A->j, a, x, y, add, values);
  SYS_CUDA(cudaPeekAtLastError());
  return SYS_SUCCESS;
}
