/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Incomplete factorizations of a FactorMatrix that need less than its triangles: the values of DILU, and approximate inverses of ILU(0).

   An approximate inverse G of a triangle T has the pattern of T, and G T is the identity within the pattern. A thread computes a row of the inverse of L, or a column of the inverse of
   U, by a small triangular solve; rows do not depend on one another. The results replace the entries of the matrix in work: the result for entry (i, k) of a triangle is at the place of the
   entry, and the inverse of L has ones on its diagonal.

     row r of L^-1       g(r,k) = -l(r,k);  from the last k to the first:  g(r,k') -= g(r,k) l(k,k')              for k' < k in both rows
     column c of U^-1    g(k,c) = -u(k,c) d(c);  from the last k:  g(k,c) *= d(k);  g(k',c) -= g(k,c) u(k',k)     for k' < k in both columns

   Complexity: for each entry of a triangle, the lengths of two rows. Work space: two integers for each entry of U, which lists its columns.
*/
#include "sys/syscub.cuh"
#include "mat/factor/cuda/factormatrix.cuh"

/* ------------------------------------------------- DILU ------------------------------------------------- */

static __global__ void __launch_bounds__(SYS_THREADS) FactorScaleSecondKernel(FactorMatrix_ M, int transpose)
{
  SYS_FOR_EACH(r, M.n)
  {
    const int diagonal = M.diagonal[r];

    for (int e = M.begin[r]; e < M.begin[r + 1]; e++) {
      const bool second = transpose ? e < diagonal : e > diagonal;

      if (e != diagonal) M.value[e] = second ? M.work[e] * M.value[M.diagonal[transpose ? M.j[e] : r]] : M.work[e];
    }
  }
}

SysStatus FactorMatrixScale(FactorMatrix M, int transpose, SysStream stream)
{
  return SysLaunch(FactorScaleSecondKernel, SysBlocksLoop(M->n), SYS_THREADS, 0, (cudaStream_t)stream, *M, transpose);
}

/* ------------------------------------------------- approximate inverses ------------------------------------------------- */

static __global__ void __launch_bounds__(SYS_THREADS) FactorInvertLowerKernel(FactorMatrix_ M)
{
  SYS_FOR_EACH(r, M.n)
  {
    const int begin = M.begin[r], end = M.diagonal[r];

    for (int e = begin; e < end; e++) M.work[e] = -M.value[e];
    for (int e = end - 1; e >= begin; e--) FactorAddRow(M.j, begin, e, M.begin[M.j[e]], M.diagonal[M.j[e]], -M.work[e], M.work, M.value);
  }
}

static __global__ void __launch_bounds__(SYS_THREADS) FactorInvertUpperKernel(FactorMatrix_ M)
{
  const int *row = M.columns.j, *place = M.columns.from;

  SYS_FOR_EACH(c, M.n)
  {
    const int       begin = M.columns.begin[c], end = M.columns.end[c];
    const SysScalar d = M.value[M.diagonal[c]];

    M.work[M.diagonal[c]] = d;
    for (int e = begin; e < end; e++) M.work[place[e]] = -d * M.value[place[e]];
    for (int e = end - 1; e >= begin; e--) {
      const int       k = row[e], last = M.columns.end[k];
      const SysScalar g = M.work[place[e]] * M.value[M.diagonal[k]];

      M.work[place[e]] = g;
      for (int own = begin, t = M.columns.begin[k]; own < e && t < last;) {
        const int mine = row[own], other = row[t];

        if (mine == other) M.work[place[own]] -= g * M.value[place[t]];
        own += mine <= other;
        t += other <= mine;
      }
    }
  }
}

SysStatus FactorMatrixInvert(FactorMatrix M, SysStream s)
{
  const cudaStream_t stream = (cudaStream_t)s;

  if (!M->memory[2]) {
    const FactorRows rows = {M->n, M->after, M->begin + 1, M->j, NULL};
    SysScratch       turned;

    SYS_CALL(FactorTranspose(&rows, &turned, &M->columns, stream));
    M->memory[2]  = turned.memory;
    turned.memory = NULL;
  }
  SYS_CALL(SysLaunch(FactorInvertLowerKernel, SysBlocksLoop(M->n), SYS_THREADS, 0, stream, *M));
  return SysLaunch(FactorInvertUpperKernel, SysBlocksLoop(M->n), SYS_THREADS, 0, stream, *M);
}

/* The entries of an inverse in row p of the factor */
static __device__ __forceinline__ int FactorInverseFirst(const FactorMatrix_ &M, int upper, int64_t p)
{
  return upper ? M.diagonal[p] : M.begin[p];
}

static __device__ __forceinline__ int FactorInverseLast(const FactorMatrix_ &M, int upper, int64_t p)
{
  return upper ? M.begin[p + 1] : M.after[p];
}

/* The lengths of rows, and 0 at the end */
static __global__ void __launch_bounds__(SYS_THREADS) FactorInverseLengthKernel(FactorMatrix_ M, int upper, const int *rows, int *length)
{
  SYS_FOR_EACH(p, M.n + 1) length[p < M.n && rows ? rows[p] : p] = p < M.n ? FactorInverseLast(M, upper, p) - FactorInverseFirst(M, upper, p) : 0;
}

static __global__ void __launch_bounds__(SYS_THREADS) FactorInverseFillKernel(FactorMatrix_ M, int upper, const int *rows, const int *i, int *j, SysScalar *a)
{
  SYS_FOR_EACH(p, M.n)
  {
    const int first = FactorInverseFirst(M, upper, p), last = FactorInverseLast(M, upper, p), at = i[rows ? rows[p] : p];

    for (int e = first; e < last; e++) {
      const int column = rows ? rows[M.j[e]] : M.j[e];
      int       rank   = e - first;

      if (rows) {
        rank = 0;
        for (int other = first; other < last; other++) rank += rows[M.j[other]] < column;
      }
      if (j) j[at + rank] = column;
      a[at + rank] = !upper && e == last - 1 ? (SysScalar)1 : M.work[e];
    }
  }
}

/* Copies rows to the device, in the scratch; *to is NULL in the natural order */
static SysStatus FactorRowsUpload(FactorMatrix M, const SysInt *rows, SysScratch *scratch, const int **to, cudaStream_t stream)
{
  *to = NULL;
  if (!rows) return SYS_SUCCESS;
  SYS_CALL(SysScratchAllocate(scratch, (size_t)M->n * sizeof(*rows), stream));
  SYS_CUDA(cudaMemcpyAsync(scratch->memory, rows, (size_t)M->n * sizeof(*rows), cudaMemcpyHostToDevice, stream));
  *to = (const int *)scratch->memory;
  return SYS_SUCCESS;
}

SysStatus FactorInverseBegin(FactorMatrix M, int upper, const SysInt *rows, SysInt *i, int64_t *nz, SysStream s)
{
  const cudaStream_t stream = (cudaStream_t)s;
  SysScratch         scratch, lengths, work;
  size_t             bytes = 0;
  const int         *order;
  int                last;

  SYS_CALL(FactorRowsUpload(M, rows, &scratch, &order, stream));
  SYS_CALL(SysScratchAllocate(&lengths, ((size_t)M->n + 1) * sizeof(int), stream));
  SYS_CALL(SysLaunch(FactorInverseLengthKernel, SysBlocksLoop(M->n + 1), SYS_THREADS, 0, stream, *M, upper, order, (int *)lengths.memory));
  SYS_CUDA(SysExclusiveSum(NULL, bytes, (const int *)lengths.memory, i, M->n + 1, stream));
  SYS_CALL(SysScratchAllocate(&work, bytes, stream));
  SYS_CUDA(SysExclusiveSum(work.memory, bytes, (const int *)lengths.memory, i, M->n + 1, stream));
  SYS_CUDA(cudaMemcpyAsync(&last, i + M->n, sizeof(last), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  *nz = last;
  return SYS_SUCCESS;
}

SysStatus FactorInverseFill(FactorMatrix M, int upper, const SysInt *rows, const SysInt *i, SysInt *j, SysScalar *a, SysStream s)
{
  const cudaStream_t stream = (cudaStream_t)s;
  SysScratch         scratch;
  const int         *order;

  SYS_CALL(FactorRowsUpload(M, rows, &scratch, &order, stream));
  return SysLaunch(FactorInverseFillKernel, SysBlocksLoop(M->n), SYS_THREADS, 0, stream, *M, upper, order, i, j, a);
}
