/*
   Sparse products on the device: the transposed operand, by sorting the entries by their columns
*/
#include <cub/device/device_radix_sort.cuh>

#include "spgemmcuda.cuh"

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

static size_t Padded(int64_t nz)
{
  return ((size_t)nz * sizeof(int) + 255) / 256 * 256;
}

static int Bits(int64_t n)
{
  int bits = 1;

  while (bits < 31 && (n - 1) >> bits) bits++;
  return bits;
}

/* Of the memory to work in */
SpgemmDeviceStatus SpgemmDeviceTransposeSize(const AmbDeviceCSR *A, size_t *bytes)
{
  size_t sort = 0;

  SPGEMM_CUDA(cub::DeviceRadixSort::SortPairs(NULL, sort, A->j, (int *)NULL, (const int *)NULL, (int *)NULL, (int)A->nz, 0, Bits(A->n)));
  *bytes = 2 * Padded(A->nz) + sort;
  return SPGEMM_DEVICE_SUCCESS;
}

SpgemmDeviceStatus SpgemmDeviceTranspose(const AmbDeviceCSR *A, void *work, size_t bytes, int *i, int *j, int *from, cudaStream_t stream)
{
  int   *column = (int *)work, *number = (int *)((char *)work + Padded(A->nz));
  size_t sort = bytes - 2 * Padded(A->nz);

  SPGEMM_CALL(SpgemmLaunch(Number, SpgemmBlocks(A->nz, THREADS), THREADS, 0, stream, (int)A->nz, number));
  SPGEMM_CUDA(cub::DeviceRadixSort::SortPairs((char *)work + 2 * Padded(A->nz), sort, A->j, column, (const int *)number, from, (int)A->nz, 0, Bits(A->n), stream));
  SPGEMM_CALL(SpgemmLaunch(Offsets, SpgemmBlocks(A->n + 1, THREADS), THREADS, 0, stream, (int)A->n, (int)A->nz, (const int *)column, i));
  return SpgemmLaunch(Rows, SpgemmBlocks(A->nz, THREADS), THREADS, 0, stream, (int)A->m, (int)A->nz, A->i, (const int *)from, j);
}

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
