/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Packing of the entries of x that other processes need, and the products of an off-diagonal block: by the few rows that have entries, or, transposed, by
   the columns, whose sums go to other processes
*/
#include "sys/syscuda.cuh"
#include "mat/halo/halocuda.h"

static __global__ void HaloPackKernel(int n, const int *entries, const SysScalar *x, SysScalar *to)
{
  const int k = blockIdx.x * SYS_THREADS + threadIdx.x;

  if (k < n) to[k] = x[entries[k]];
}

/* LANES threads for each row; the order of a row's sum does not depend on the number of rows */
template <int LANES>
static __global__ void HaloAddKernel(HaloRows r, const int *j, const SysScalar *a, const SysScalar *x, SysScalar *y)
{
  const int k = (int)((blockIdx.x * (int64_t)SYS_THREADS + threadIdx.x) / LANES), lane = threadIdx.x % LANES;
  SysScalar sum = 0;

  if (k < r.n) {
    for (int e = r.start[k] + lane; e < r.start[k + 1]; e += LANES) sum += a[e] * x[j[e]];
  }
  for (int d = LANES / 2; d; d /= 2) sum += __shfl_down_sync(SYS_ALL_LANES, sum, d, LANES);
  if (k < r.n && lane == 0) y[r.rows[k]] += sum;
}

/* LANES threads for each column */
template <int LANES>
static __global__ void HaloMultTransposeKernel(HaloColumns c, const SysScalar *a, const SysScalar *x, SysScalar *y)
{
  const int k = (int)((blockIdx.x * (int64_t)SYS_THREADS + threadIdx.x) / LANES), lane = threadIdx.x % LANES;
  SysScalar sum = 0;

  if (k < c.n) {
    for (int e = c.start[k] + lane; e < c.start[k + 1]; e += LANES) sum += a[c.place[e]] * x[c.row[e]];
  }
  for (int d = LANES / 2; d; d /= 2) sum += __shfl_down_sync(SYS_ALL_LANES, sum, d, LANES);
  if (k < c.n && lane == 0) y[k] = sum;
}

static __global__ void HaloAddSumsKernel(HaloSums s, const SysScalar *sums, SysScalar *y)
{
  const int k = blockIdx.x * SYS_THREADS + threadIdx.x;
  SysScalar sum;

  if (k >= s.n) return;
  sum = y[s.rows[k]];
  for (int e = s.start[k]; e < s.start[k + 1]; e++) sum += sums[s.place[e]];
  y[s.rows[k]] = sum;
}

/* Starts kernel<lanes> with lanes threads for each of n rows or columns */
#define LAUNCH(kernel, lanes, n, stream, ...) \
  do { \
    const unsigned blocks_ = SysBlocks((int64_t)(n) * (lanes)); \
\
    switch (lanes) { \
    case 1: \
      kernel<1><<<blocks_, SYS_THREADS, 0, stream>>>(__VA_ARGS__); \
      break; \
    case 2: \
      kernel<2><<<blocks_, SYS_THREADS, 0, stream>>>(__VA_ARGS__); \
      break; \
    case 4: \
      kernel<4><<<blocks_, SYS_THREADS, 0, stream>>>(__VA_ARGS__); \
      break; \
    case 8: \
      kernel<8><<<blocks_, SYS_THREADS, 0, stream>>>(__VA_ARGS__); \
      break; \
    case 16: \
      kernel<16><<<blocks_, SYS_THREADS, 0, stream>>>(__VA_ARGS__); \
      break; \
    default: \
      kernel<32><<<blocks_, SYS_THREADS, 0, stream>>>(__VA_ARGS__); \
    } \
    SYS_CUDA(cudaGetLastError()); \
  } while (0)

SysStatus HaloPack(int n, const int *entries, const SysScalar *x, SysScalar *to, SysStream stream)
{
  if (!n) return SYS_SUCCESS;
  HaloPackKernel<<<SysBlocks(n), SYS_THREADS, 0, stream>>>(n, entries, x, to);
  SYS_CUDA(cudaGetLastError());
  return SYS_SUCCESS;
}

SysStatus HaloAdd(const HaloRows *r, const int *j, const SysScalar *a, const SysScalar *x, SysScalar *y, SysStream stream)
{
  if (r->n) LAUNCH(HaloAddKernel, r->lanes, r->n, stream, *r, j, a, x, y);
  return SYS_SUCCESS;
}

SysStatus HaloMultTranspose(const HaloColumns *c, const SysScalar *a, const SysScalar *x, SysScalar *y, SysStream stream)
{
  if (c->n) LAUNCH(HaloMultTransposeKernel, c->lanes, c->n, stream, *c, a, x, y);
  return SYS_SUCCESS;
}

SysStatus HaloAddSums(const HaloSums *s, const SysScalar *sums, SysScalar *y, SysStream stream)
{
  if (!s->n) return SYS_SUCCESS;
  HaloAddSumsKernel<<<SysBlocks(s->n), SYS_THREADS, 0, stream>>>(*s, sums, y);
  SYS_CUDA(cudaGetLastError());
  return SYS_SUCCESS;
}
