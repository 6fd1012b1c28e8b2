/*
   Packing of what other processes need of x, and the product of the few rows that have entries of other processes
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
static __global__ void Add(int n, const int *rows, const int *start, const int *j, const AmbScalar *a, const AmbScalar *x, AmbScalar *y)
{
  const int k = (int)((blockIdx.x * (int64_t)THREADS + threadIdx.x) / LANES), lane = threadIdx.x % LANES;
  AmbScalar sum = 0;

  if (k < n) {
    for (int e = start[k] + lane; e < start[k + 1]; e += LANES) sum += a[e] * x[j[e]];
  }
  for (int d = LANES / 2; d; d /= 2) sum += __shfl_down_sync(AMB_ALL, sum, d, LANES);
  if (k < n && lane == 0) y[rows[k]] += sum;
}

AmbDeviceStatus ShadowHaloPack(int n, const int *entries, const AmbScalar *x, AmbScalar *to, AmbStream stream)
{
  if (!n) return AMB_DEVICE_SUCCESS;
  Pack<<<Blocks(n), THREADS, 0, stream>>>(n, entries, x, to);
  AMB_CUDA(cudaGetLastError());
  return AMB_DEVICE_SUCCESS;
}

AmbDeviceStatus ShadowHaloAdd(const ShadowHaloRows *r, const int *j, const AmbScalar *a, const AmbScalar *x, AmbScalar *y, AmbStream stream)
{
  const unsigned blocks = Blocks((int64_t)r->n * r->lanes);

  if (!r->n) return AMB_DEVICE_SUCCESS;
  switch (r->lanes) {
  case 1:
    Add<1><<<blocks, THREADS, 0, stream>>>(r->n, r->rows, r->start, j, a, x, y);
    break;
  case 2:
    Add<2><<<blocks, THREADS, 0, stream>>>(r->n, r->rows, r->start, j, a, x, y);
    break;
  case 4:
    Add<4><<<blocks, THREADS, 0, stream>>>(r->n, r->rows, r->start, j, a, x, y);
    break;
  case 8:
    Add<8><<<blocks, THREADS, 0, stream>>>(r->n, r->rows, r->start, j, a, x, y);
    break;
  case 16:
    Add<16><<<blocks, THREADS, 0, stream>>>(r->n, r->rows, r->start, j, a, x, y);
    break;
  default:
    Add<32><<<blocks, THREADS, 0, stream>>>(r->n, r->rows, r->start, j, a, x, y);
  }
  AMB_CUDA(cudaGetLastError());
  return AMB_DEVICE_SUCCESS;
}
