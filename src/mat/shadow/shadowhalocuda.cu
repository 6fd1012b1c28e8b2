/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Packing of what other processes need of x, and the products of an off-diagonal block: of the few rows that have entries of other processes, or
   of the columns, whose sums other processes get
*/
#include "ambcuda.cuh"
#include "shadowhalocuda.h"

#define THREADS 256

static unsigned Blocks(int64_t threads)
{
  return (unsigned)((threads + THREADS - 1) / THREADS);
}

static __global__ void Pack(int n, const int *entries, const AmbScalar *x, AmbScalar *to)
{
  const int k = blockIdx.x * THREADS + threadIdx.x;

  if (k < n) to[k] = x[entries[k]];
}

/* LANES threads a row, whose sum is made in the same order whatever the number of rows */
template <int LANES>
static __global__ void Add(ShadowHaloRows r, const int *j, const AmbScalar *a, const AmbScalar *x, AmbScalar *y)
{
  const int k = (int)((blockIdx.x * (int64_t)THREADS + threadIdx.x) / LANES), lane = threadIdx.x % LANES;
  AmbScalar sum = 0;

  if (k < r.n) {
    for (int e = r.start[k] + lane; e < r.start[k + 1]; e += LANES) sum += a[e] * x[j[e]];
  }
  for (int d = LANES / 2; d; d /= 2) sum += __shfl_down_sync(AMB_ALL, sum, d, LANES);
  if (k < r.n && lane == 0) y[r.rows[k]] += sum;
}

/* LANES threads a column */
template <int LANES>
static __global__ void MultTranspose(ShadowHaloColumns c, const AmbScalar *a, const AmbScalar *x, AmbScalar *y)
{
  const int k = (int)((blockIdx.x * (int64_t)THREADS + threadIdx.x) / LANES), lane = threadIdx.x % LANES;
  AmbScalar sum = 0;

  if (k < c.n) {
    for (int e = c.start[k] + lane; e < c.start[k + 1]; e += LANES) sum += a[c.place[e]] * x[c.row[e]];
  }
  for (int d = LANES / 2; d; d /= 2) sum += __shfl_down_sync(AMB_ALL, sum, d, LANES);
  if (k < c.n && lane == 0) y[k] = sum;
}

static __global__ void AddSums(ShadowHaloSums s, const AmbScalar *sums, AmbScalar *y)
{
  const int k = blockIdx.x * THREADS + threadIdx.x;
  AmbScalar sum;

  if (k >= s.n) return;
  sum = y[s.rows[k]];
  for (int e = s.start[k]; e < s.start[k + 1]; e++) sum += sums[s.place[e]];
  y[s.rows[k]] = sum;
}

/* kernel<lanes>, for as many threads as n rows or columns take */
#define LAUNCH(kernel, lanes, n, stream, ...) \
  do { \
    const unsigned blocks_ = Blocks((int64_t)(n) * (lanes)); \
\
    switch (lanes) { \
    case 1: \
      kernel<1><<<blocks_, THREADS, 0, stream>>>(__VA_ARGS__); \
      break; \
    case 2: \
      kernel<2><<<blocks_, THREADS, 0, stream>>>(__VA_ARGS__); \
      break; \
    case 4: \
      kernel<4><<<blocks_, THREADS, 0, stream>>>(__VA_ARGS__); \
      break; \
    case 8: \
      kernel<8><<<blocks_, THREADS, 0, stream>>>(__VA_ARGS__); \
      break; \
    case 16: \
      kernel<16><<<blocks_, THREADS, 0, stream>>>(__VA_ARGS__); \
      break; \
    default: \
      kernel<32><<<blocks_, THREADS, 0, stream>>>(__VA_ARGS__); \
    } \
    AMB_CUDA(cudaGetLastError()); \
  } while (0)

AmbDeviceStatus ShadowHaloPack(int n, const int *entries, const AmbScalar *x, AmbScalar *to, AmbStream stream)
{
  if (!n) return AMB_DEVICE_SUCCESS;
  Pack<<<Blocks(n), THREADS, 0, stream>>>(n, entries, x, to);
  AMB_CUDA(cudaGetLastError());
  return AMB_DEVICE_SUCCESS;
}

AmbDeviceStatus ShadowHaloAdd(const ShadowHaloRows *r, const int *j, const AmbScalar *a, const AmbScalar *x, AmbScalar *y, AmbStream stream)
{
  if (r->n) LAUNCH(Add, r->lanes, r->n, stream, *r, j, a, x, y);
  return AMB_DEVICE_SUCCESS;
}

AmbDeviceStatus ShadowHaloMultTranspose(const ShadowHaloColumns *c, const AmbScalar *a, const AmbScalar *x, AmbScalar *y, AmbStream stream)
{
  if (c->n) LAUNCH(MultTranspose, c->lanes, c->n, stream, *c, a, x, y);
  return AMB_DEVICE_SUCCESS;
}

AmbDeviceStatus ShadowHaloAddSums(const ShadowHaloSums *s, const AmbScalar *sums, AmbScalar *y, AmbStream stream)
{
  if (!s->n) return AMB_DEVICE_SUCCESS;
  AddSums<<<Blocks(s->n), THREADS, 0, stream>>>(*s, sums, y);
  AMB_CUDA(cudaGetLastError());
  return AMB_DEVICE_SUCCESS;
}
