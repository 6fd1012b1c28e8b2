/*
   The transposed matrix in the AMB format on a CUDA device: made by sorting the entries by their columns. Against adding into the result with
   atomics it costs a second copy, but runs as fast as the plain product, and gives the same bits every time.
*/
#include <cub/device/device_radix_sort.cuh>

#include "ambcuda.cuh"

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

static __global__ void Iota(int n, int *a)
{
  for (int k = (int)(blockIdx.x * blockDim.x + threadIdx.x); k < n; k += (int)(gridDim.x * blockDim.x)) a[k] = k;
}

/* Where every column begins among the sorted entries */
static __global__ void Offsets(int n, int nz, const int *col, int *i)
{
  for (int c = (int)(blockIdx.x * blockDim.x + threadIdx.x); c <= n; c += (int)(gridDim.x * blockDim.x)) i[c] = CountLess(col, nz, c);
}

/* The row of each of the sorted entries */
static __global__ void Rows(int m, int nz, const int *i, const int *from, int *row)
{
  for (int k = (int)(blockIdx.x * blockDim.x + threadIdx.x); k < nz; k += (int)(gridDim.x * blockDim.x)) row[k] = CountLess(i + 1, m, from[k] + 1);
}

static unsigned Blocks(int64_t n)
{
  const int64_t blocks = (n + THREADS - 1) / THREADS;

  return (unsigned)(blocks < 1 ? 1 : blocks < 65536 ? blocks : 65536);
}

static size_t Padded(size_t bytes)
{
  return (bytes + 255) / 256 * 256;
}

/* temporary memory: sorted columns, numbers of the entries, and what the sort wants */
static AmbDeviceStatus Transpose(AmbDevice *A, const AmbDeviceCSR *csr, size_t sort, char *temporary, cudaStream_t stream)
{
  const int       m = (int)csr->m, n = (int)csr->n, nz = (int)csr->nz;
  const size_t    list = Padded(sizeof(int) * (size_t)nz);
  int            *col = (int *)temporary, *number = (int *)(temporary + list), bits = 1;
  int            *i = (int *)A->transpose_memory, *row = i + Padded(sizeof(int) * ((size_t)n + 1)) / sizeof(int), *from = row + list / sizeof(int);
  AmbDeviceParams params = {0, A->info.threads, 0, 0};
  AmbDeviceCSR    transposed;

  while (bits < 31 && (n - 1) >> bits) bits++;
  Iota<<<Blocks(nz), THREADS, 0, stream>>>(nz, number);
  AMB_CUDA(cub::DeviceRadixSort::SortPairs(temporary + 2 * list, sort, csr->j, col, number, from, nz, 0, bits, stream));
  Offsets<<<Blocks(n + 1), THREADS, 0, stream>>>(n, nz, col, i);
  Rows<<<Blocks(nz), THREADS, 0, stream>>>(m, nz, csr->i, from, row);
  AMB_CUDA(cudaPeekAtLastError());
  A->transpose.i    = i;
  A->transpose.j    = row;
  A->transpose.from = from;
  transposed.m      = csr->n;
  transposed.n      = csr->m;
  transposed.nz     = csr->nz;
  transposed.i      = i;
  transposed.j      = row;
  transposed.a      = csr->a;
  return AmbDeviceConvert(&transposed, from, &params, stream, &A->transposed);
}

AmbDeviceStatus AmbDeviceTranspose(AmbDevice *A, const AmbDeviceCSR *csr, cudaStream_t stream)
{
  const size_t    list = Padded(sizeof(int) * (size_t)csr->nz), bytes = Padded(sizeof(int) * ((size_t)csr->n + 1)) + 2 * list;
  size_t          sort      = 0;
  char           *temporary = NULL;
  AmbDeviceStatus status;

  AMB_CUDA(cub::DeviceRadixSort::SortPairs(NULL, sort, csr->j, (int *)NULL, (int *)NULL, (int *)NULL, (int)csr->nz, 0, 31, stream));
  AMB_CUDA(cudaMalloc(&A->transpose_memory, bytes));
  {
    const cudaError_t error = cudaMalloc(&temporary, 2 * list + sort);

    status = error == cudaSuccess ? Transpose(A, csr, sort, temporary, stream) : AmbDeviceFailed(error, "cudaMalloc()");
  }
  (void)cudaFree(temporary);
  if (status != AMB_DEVICE_SUCCESS) {
    (void)cudaFree(A->transpose_memory);
    A->transpose_memory = NULL;
    return status;
  }
  A->transposed_stale = 0;
  A->info.bytes_extra += (double)bytes + A->transposed->info.bytes_stored + A->transposed->info.bytes_extra;
  return AMB_DEVICE_SUCCESS;
}
