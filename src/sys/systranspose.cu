/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The pattern of a transposed matrix on a CUDA device, from a sort of the entries by column
*/
#include "sys/syscub.cuh"
#include "sys/syscuda.cuh"
#include "sys/systranspose.cuh"

/* Finds each column's first sorted entry */
static __global__ void __launch_bounds__(SYS_THREADS) SysTransposeOffsets(int n, int nz, const int *column, int *i)
{
  const int64_t c = blockIdx.x * (int64_t)SYS_THREADS + threadIdx.x;

  if (c <= n) i[c] = SysCountLess(column, nz, (int)c);
}

/* Finds each sorted entry's row */
static __global__ void __launch_bounds__(SYS_THREADS) SysTransposeRows(int m, int nz, const int *i, const int *from, int *row)
{
  const int64_t k = blockIdx.x * (int64_t)SYS_THREADS + threadIdx.x;

  if (k < nz) row[k] = SysCountLess(i + 1, m, from[k] + 1);
}

/* Returns the bytes of the list of sorted columns, or of the entries' numbers */
static size_t SysTransposeList(int64_t nz)
{
  return SysPadded((size_t)nz * sizeof(int));
}

cudaError_t SysTransposeSize(const SysCSR *A, size_t *bytes)
{
  size_t            sort  = 0;
  const cudaError_t error = SysSortPairs(NULL, sort, A->j, (int *)NULL, NULL, NULL, (int)A->nz, SysBits(A->n - 1), 0);

  *bytes = 2 * SysTransposeList(A->nz) + sort;
  return error;
}

cudaError_t SysTransposePattern(const SysCSR *A, void *work, size_t bytes, int *i, int *j, int *from, cudaStream_t stream)
{
  const int m = (int)A->m, n = (int)A->n, nz = (int)A->nz;
  int      *column = (int *)work, *number = (int *)((char *)work + SysTransposeList(nz));
  size_t    sort = bytes - 2 * SysTransposeList(nz);

  if (nz) {
    cudaError_t error = SysNumber(nz, number, stream);

    if (error != cudaSuccess) return error;
    error = SysSortPairs((char *)work + 2 * SysTransposeList(nz), sort, A->j, column, number, from, nz, SysBits((int64_t)n - 1), stream);
    if (error != cudaSuccess) return error;
    SysTransposeRows<<<SysBlocks(nz), SYS_THREADS, 0, stream>>>(m, nz, A->i, from, j);
  }
  SysTransposeOffsets<<<SysBlocks((int64_t)n + 1), SYS_THREADS, 0, stream>>>(n, nz, column, i);
  return cudaPeekAtLastError();
}
