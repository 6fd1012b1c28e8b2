/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The pattern of a transposed matrix on a CUDA device, by sorting the entries by their columns
*/
#include <cub/device/device_radix_sort.cuh>

#include "ambcuda.cuh"
#include "ambcudapattern.cuh"

#define THREADS 256

static __global__ void __launch_bounds__(THREADS) Number(int n, int *a)
{
  const int64_t k = blockIdx.x * (int64_t)THREADS + threadIdx.x;

  if (k < n) a[k] = (int)k;
}

/* Where every column begins among the sorted entries */
static __global__ void __launch_bounds__(THREADS) Offsets(int n, int nz, const int *column, int *i)
{
  const int64_t c = blockIdx.x * (int64_t)THREADS + threadIdx.x;

  if (c <= n) i[c] = AmbCountLess(column, nz, (int)c);
}

/* The row of each of the sorted entries */
static __global__ void __launch_bounds__(THREADS) Rows(int m, int nz, const int *i, const int *from, int *row)
{
  const int64_t k = blockIdx.x * (int64_t)THREADS + threadIdx.x;

  if (k < nz) row[k] = AmbCountLess(i + 1, m, from[k] + 1);
}

static unsigned Blocks(int64_t n)
{
  return (unsigned)((n + THREADS - 1) / THREADS);
}

/* The entries by their columns, and their numbers: each of the two lists */
static size_t List(int64_t nz)
{
  return AmbPadded((size_t)nz * sizeof(int));
}

cudaError_t AmbDeviceTransposeSize(const AmbDeviceCSR *A, size_t *bytes)
{
  size_t            sort  = 0;
  const cudaError_t error = cub::DeviceRadixSort::SortPairs(NULL, sort, A->j, (int *)NULL, (const int *)NULL, (int *)NULL, (int)A->nz, 0, AmbBits(A->n - 1));

  *bytes = 2 * List(A->nz) + sort;
  return error;
}

cudaError_t AmbDeviceTransposePattern(const AmbDeviceCSR *A, void *work, size_t bytes, int *i, int *j, int *from, cudaStream_t stream)
{
  const int m = (int)A->m, n = (int)A->n, nz = (int)A->nz;
  int      *column = (int *)work, *number = (int *)((char *)work + List(nz));
  size_t    sort = bytes - 2 * List(nz);

  if (nz) {
    cudaError_t error;

    Number<<<Blocks(nz), THREADS, 0, stream>>>(nz, number);
    error = cub::DeviceRadixSort::SortPairs((char *)work + 2 * List(nz), sort, A->j, column, (const int *)number, from, nz, 0, AmbBits((int64_t)n - 1), stream);
    if (error != cudaSuccess) return error;
    Rows<<<Blocks(nz), THREADS, 0, stream>>>(m, nz, A->i, from, j);
  }
  Offsets<<<Blocks((int64_t)n + 1), THREADS, 0, stream>>>(n, nz, column, i);
  return cudaPeekAtLastError();
}
