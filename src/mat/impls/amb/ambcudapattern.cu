/*
   The pattern of a transposed matrix on a CUDA device, by sorting the entries by their columns
*/
#include <cub/device/device_radix_sort.cuh>

#include "ambcudapattern.cuh"

#define THREADS 256

/* How many of n ascending numbers are less than v */
static __device__ int CountLess(const int *a, int n, int v)
{
  int lo = 0, hi = n;

  while (lo < hi) {
    const int mid = lo + (hi - lo) / 2;

    if (a[mid] < v) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

static __global__ void __launch_bounds__(THREADS) Number(int n, int *a)
{
  const int64_t k = blockIdx.x * (int64_t)THREADS + threadIdx.x;

  if (k < n) a[k] = (int)k;
}

/* Where every column begins among the sorted entries */
static __global__ void __launch_bounds__(THREADS) Offsets(int n, int nz, const int *column, int *i)
{
  const int64_t c = blockIdx.x * (int64_t)THREADS + threadIdx.x;

  if (c <= n) i[c] = CountLess(column, nz, (int)c);
}

/* The row of each of the sorted entries */
static __global__ void __launch_bounds__(THREADS) Rows(int m, int nz, const int *i, const int *from, int *row)
{
  const int64_t k = blockIdx.x * (int64_t)THREADS + threadIdx.x;

  if (k < nz) row[k] = CountLess(i + 1, m, from[k] + 1);
}

static unsigned Blocks(int64_t n)
{
  return (unsigned)((n + THREADS - 1) / THREADS);
}

static size_t Padded(int64_t nz)
{
  return ((size_t)nz * sizeof(int) + 255) / 256 * 256;
}

/* Of the columns */
static int Bits(int64_t n)
{
  int bits = 1;

  while (bits < 31 && (n - 1) >> bits) bits++;
  return bits;
}

cudaError_t AmbDeviceTransposeSize(const AmbDeviceCSR *A, size_t *bytes)
{
  size_t            sort  = 0;
  const cudaError_t error = cub::DeviceRadixSort::SortPairs(NULL, sort, A->j, (int *)NULL, (const int *)NULL, (int *)NULL, (int)A->nz, 0, Bits(A->n));

  *bytes = 2 * Padded(A->nz) + sort;
  return error;
}

cudaError_t AmbDeviceTransposePattern(const AmbDeviceCSR *A, void *work, size_t bytes, int *i, int *j, int *from, cudaStream_t stream)
{
  const int m = (int)A->m, n = (int)A->n, nz = (int)A->nz;
  int      *column = (int *)work, *number = (int *)((char *)work + Padded(nz));
  size_t    sort = bytes - 2 * Padded(nz);

  if (nz) {
    cudaError_t error;

    Number<<<Blocks(nz), THREADS, 0, stream>>>(nz, number);
    error = cub::DeviceRadixSort::SortPairs((char *)work + 2 * Padded(nz), sort, A->j, column, (const int *)number, from, nz, 0, Bits(n), stream);
    if (error != cudaSuccess) return error;
    Rows<<<Blocks(nz), THREADS, 0, stream>>>(m, nz, A->i, from, j);
  }
  Offsets<<<Blocks((int64_t)n + 1), THREADS, 0, stream>>>(n, nz, column, i);
  return cudaPeekAtLastError();
}
