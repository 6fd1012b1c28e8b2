/* SPDX-License-Identifier: BSD-2-Clause */
/*
   ILU(k) and ICC(k) of a matrix on the device, in PETSc's order of operations, without fused ones. The device makes the pattern without fill; the host passes one with fill.

   A thread computes a row. It copies the row of the matrix to work, subtracts multiples of earlier rows in the order of its columns, and writes the result to value, where other
   threads wait for it:

     ILU   row p:  for k < p in the row:    l(p,k) = w(p,k) d(k);            w(p,j) -= l(p,k) u(k,j)  for j > k in both rows;    d(p) = 1 / w(p,p)
     ICC   row k:  for i < k in column k:   m      = -u(i,k) d(i);           w(k,j) += m u(i,j)       for j >= k in both rows;   d(k) = 1 / w(k,k)

   A number of value that is not there yet is missing as in factorread.cuh, so that a thread needs neither flags nor fences: it tries the reciprocal d of the row that it needs
   next, and once that is there, all numbers of the row have been written. Threads take rows by level. A thread that waits does not stop the others of its warp, and rows depend
   only on rows taken before, so that the kernel ends for any number of resident warps.

   PETSc adds the rows i of ICC in the order of a linked list; here they ascend, and the last digits differ where a row has several.

   DILU computes d alone, from the entries of the matrix: e(p) = w(p,p) - sum of w(p,k) d(k) w(k,p) over k < p;  d(p) = 1 / e(p). Its operations may be fused.

   Complexity: for each entry below the diagonal, the lengths of two rows. Work space: a number an entry; ICC, also three integers an entry above the diagonal.
*/
#include <stdlib.h>

#include "sys/syscub.cuh"
#include "mat/factor/cuda/factormatrix.cuh"

#define FACTOR_LONGEST 512 /* entries of a row at most, for one thread */
#define FACTOR_ROWS    8   /* thread blocks of a multiprocessor */

/* ------------------------------------------------- pattern ------------------------------------------------- */

/* A row of the factor, in the matrix */
typedef struct {
  int        n, symmetric;
  const int *i, *j, *rows, *place;
} FactorSource;

static __device__ __forceinline__ int FactorColumn(const FactorSource &S, int k)
{
  return S.place ? S.place[S.j[k]] : S.j[k];
}

/* The lengths of rows, and 0 at the end */
static __global__ void __launch_bounds__(SYS_THREADS) FactorPatternLengthKernel(FactorSource S, int *length, int *refused)
{
  SYS_FOR_EACH(p, S.n + 1)
  {
    const int r     = p == S.n ? 0 : S.rows ? S.rows[p] : (int)p;
    int       count = 0;

    if (p < S.n) {
      for (int k = S.i[r]; k < S.i[r + 1]; k++) count += !S.symmetric || FactorColumn(S, k) >= p;
      if (S.i[r + 1] - S.i[r] > FACTOR_LONGEST) *refused = 1;
    }
    length[p] = count;
  }
}

static __global__ void __launch_bounds__(SYS_THREADS) FactorPatternKernel(FactorSource S, const int *begin, int *diagonal, int *after, int *j, int *from, int *refused)
{
  SYS_FOR_EACH(p, S.n)
  {
    const int r = S.rows ? S.rows[p] : (int)p, first = S.i[r], last = S.i[r + 1];
    int       at = begin[p], before = -1, found = -1;
    bool      ascends = true;

    for (int k = first; k < last && ascends; k++) {
      const int column = FactorColumn(S, k);

      ascends = column > before;
      before  = column;
    }
    for (int k = first, kept = 0; k < last; k++) {
      const int column = FactorColumn(S, k);
      int       rank   = kept;

      if (S.symmetric && column < p) continue;
      kept++;
      if (!ascends) {
        rank = 0;
        for (int other = first; other < last; other++) {
          const int c = FactorColumn(S, other);

          if (c < column && !(S.symmetric && c < p)) rank++;
          if (c == column && other != k) *refused = 1;
        }
      }
      j[at + rank]    = column;
      from[at + rank] = k;
      if (column == p) found = at + rank;
    }
    diagonal[p] = found;
    after[p]    = found + 1;
    if (found < 0) *refused = 1;
  }
}

/* Reserves the arrays with one element for each row, and once the number of entries is known the arrays of entries */
static SysStatus FactorMatrixAllocateRows(FactorMatrix M)
{
  const size_t n     = (size_t)M->n;
  SysArena     arena = {};

  for (int pass = 0; pass < 2; pass++) {
    SysArenaTake(&arena, &M->begin, n + 1);
    SysArenaTake(&arena, &M->diagonal, n);
    SysArenaTake(&arena, &M->after, n);
    SysArenaTake(&arena, &M->order, n);
    SysArenaTake(&arena, &M->ticket, 2);
    if (!pass) SYS_CALL(SysArenaAllocate(&arena));
    M->memory[0] = arena.memory;
  }
  return SYS_SUCCESS;
}

static SysStatus FactorMatrixAllocateEntries(FactorMatrix M)
{
  SysArena arena = {};

  for (int pass = 0; pass < 2; pass++) {
    SysArenaTake(&arena, &M->j, (size_t)M->nz);
    SysArenaTake(&arena, &M->from, (size_t)M->nz);
    SysArenaTake(&arena, &M->work, (size_t)M->nz);
    SysArenaTake(&arena, &M->value, (size_t)M->nz);
    if (!pass) SYS_CALL(SysArenaAllocate(&arena));
    M->memory[1] = arena.memory;
  }
  return SYS_SUCCESS;
}

static SysStatus FactorMatrixSetPattern(FactorMatrix M, const FactorSource *S, int *refused, cudaStream_t stream)
{
  const size_t n = (size_t)M->n;
  SysScratch   lengths, work;
  size_t       bytes = 0;
  int         *flag, *length;

  SYS_CALL(SysDeviceAllocate(&lengths.memory, (n + 2) * sizeof(int)));
  flag   = (int *)lengths.memory;
  length = flag + 1;
  SYS_CUDA(cudaMemsetAsync(flag, 0, sizeof(*flag), stream));
  SYS_CALL(SysLaunch(FactorPatternLengthKernel, SysBlocksLoop(M->n + 1), SYS_THREADS, 0, stream, *S, length, flag));
  SYS_CALL(FactorMatrixAllocateRows(M));
  SYS_CUDA(SysExclusiveSum(NULL, bytes, (const int *)length, M->begin, M->n + 1, stream));
  SYS_CALL(SysDeviceAllocate(&work.memory, bytes));
  SYS_CUDA(SysExclusiveSum(work.memory, bytes, (const int *)length, M->begin, M->n + 1, stream));
  SYS_CUDA(cudaMemcpyAsync(&M->nz, M->begin + M->n, sizeof(M->nz), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaMemcpyAsync(refused, flag, sizeof(*refused), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  if (*refused) return SYS_SUCCESS;
  SYS_CALL(FactorMatrixAllocateEntries(M));
  SYS_CALL(SysLaunch(FactorPatternKernel, SysBlocksLoop(M->n), SYS_THREADS, 0, stream, *S, (const int *)M->begin, M->diagonal, M->after, M->j, M->from, flag));
  SYS_CUDA(cudaMemcpyAsync(refused, flag, sizeof(*refused), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  return SYS_SUCCESS;
}

/* Finds the entries of the matrix in a row of a pattern with fill; refuses a matrix that has more, or twice the same */
static __global__ void __launch_bounds__(SYS_THREADS) FactorPatternFromKernel(FactorSource S, const int *begin, const int *diagonal, int *after, const int *j, int *from, int *refused)
{
  SYS_FOR_EACH(p, S.n)
  {
    const int r = S.rows ? S.rows[p] : (int)p, first = begin[p], length = begin[p + 1] - first;

    after[p] = diagonal[p] + 1;
    for (int e = first; e < first + length; e++) from[e] = -1;
    for (int k = S.i[r]; k < S.i[r + 1]; k++) {
      const int column = FactorColumn(S, k);
      int       e;

      if (S.symmetric && column < p) continue;
      e = first + SysCountLess(j + first, length, column);
      if (e == first + length || j[e] != column || from[e] >= 0) *refused = 1;
      else from[e] = k;
    }
    if (length > FACTOR_LONGEST || from[diagonal[p]] < 0) *refused = 1;
  }
}

static SysStatus FactorMatrixCopyPattern(FactorMatrix M, const FactorSource *S, const FactorPattern *pattern, int *refused, cudaStream_t stream)
{
  const size_t bytes = (size_t)M->n * sizeof(*M->begin);
  SysScratch   flag;

  M->nz = pattern->i[M->n];
  SYS_CALL(FactorMatrixAllocateRows(M));
  SYS_CALL(FactorMatrixAllocateEntries(M));
  SYS_CALL(SysDeviceAllocate(&flag.memory, sizeof(*refused)));
  SYS_CUDA(cudaMemsetAsync(flag.memory, 0, sizeof(*refused), stream));
  SYS_CUDA(cudaMemcpyAsync(M->begin, pattern->i, bytes + sizeof(*M->begin), cudaMemcpyHostToDevice, stream));
  SYS_CUDA(cudaMemcpyAsync(M->diagonal, pattern->diagonal, bytes, cudaMemcpyHostToDevice, stream));
  SYS_CUDA(cudaMemcpyAsync(M->j, pattern->j, (size_t)M->nz * sizeof(*M->j), cudaMemcpyHostToDevice, stream));
  SYS_CALL(SysLaunch(FactorPatternFromKernel, SysBlocksLoop(M->n), SYS_THREADS, 0, stream, *S, (const int *)M->begin, (const int *)M->diagonal, M->after, (const int *)M->j, M->from, (int *)flag.memory));
  SYS_CUDA(cudaMemcpyAsync(refused, flag.memory, sizeof(*refused), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  return SYS_SUCCESS;
}

/* The order of rows, and the columns of a symmetric factor */
static SysStatus FactorMatrixSetOrder(FactorMatrix M, cudaStream_t stream)
{
  const size_t n    = (size_t)M->n;
  FactorRows   rows = {M->n, M->begin, M->diagonal, M->j, NULL};
  SysScratch   place, turned;
  int          levels;

  if (M->symmetric) { /* the diagonal begins each row */
    rows = {M->n, M->after, M->begin + 1, M->j, NULL};
    SYS_CALL(FactorTranspose(&rows, &turned, &M->columns, stream));
    M->memory[2]  = turned.memory;
    turned.memory = NULL;
    rows          = M->columns;
  }
  SYS_CALL(SysDeviceAllocate(&place.memory, n * sizeof(int)));
  return FactorOrder(&rows, 0, M->order, (int *)place.memory, &levels, NULL, stream);
}

static SysStatus FactorMatrixSetUp(FactorMatrix M, const SysCSR *A, const SysInt *rows, const SysInt *place, const FactorPattern *pattern, int *refused, cudaStream_t stream)
{
  const size_t bytes  = (size_t)M->n * sizeof(*rows);
  FactorSource source = {M->n, M->symmetric, A->i, A->j, NULL, NULL};
  SysScratch   copy[2];

  for (int k = 0; k < 2; k++) {
    const SysInt *given = k ? place : rows;

    if (!given) continue;
    SYS_CALL(SysDeviceAllocate(&copy[k].memory, bytes));
    SYS_CUDA(cudaMemcpyAsync(copy[k].memory, given, bytes, cudaMemcpyHostToDevice, stream));
    *(k ? &source.place : &source.rows) = (const int *)copy[k].memory;
  }
  SYS_CALL(pattern ? FactorMatrixCopyPattern(M, &source, pattern, refused, stream) : FactorMatrixSetPattern(M, &source, refused, stream));
  return *refused ? SYS_SUCCESS : FactorMatrixSetOrder(M, stream);
}

SysStatus FactorMatrixCreate(const SysCSR *A, const SysInt *rows, const SysInt *place, int symmetric, const FactorPattern *pattern, FactorMatrix *result, SysStream stream)
{
  FactorMatrix M       = (FactorMatrix)calloc(1, sizeof(*M));
  SysStatus    status  = SYS_OUT_OF_MEMORY;
  int          refused = 0;

  if (M) {
    M->n         = (int)A->m;
    M->symmetric = symmetric;
    status       = FactorMatrixSetUp(M, A, rows, place, pattern, &refused, (cudaStream_t)stream);
    if (status != SYS_SUCCESS || refused) FactorMatrixDestroy(&M);
  }
  *result = M;
  return status;
}

void FactorMatrixDestroy(FactorMatrix *M)
{
  if (!*M) return;
  for (int k = 0; k < 3; k++) (void)cudaFree((*M)->memory[k]);
  free(*M);
  *M = NULL;
}

/* ------------------------------------------------- values ------------------------------------------------- */

static __global__ void __launch_bounds__(SYS_THREADS) FactorLoadKernel(int64_t n, const int *from, const SysScalar *a, SysScalar *to)
{
  SYS_FOR_EACH(k, n) to[k] = from[k] < 0 ? 0 : a[from[k]];
}

/* Writes the row; all but the diagonal first */
static __device__ __forceinline__ void FactorFinish(int begin, int end, int diagonal, FactorPivot kind, SysReal zero, const SysScalar *work, SysScalar *value, unsigned *refused)
{
  const SysScalar pivot = work[diagonal];
  SysReal         sum   = 0;

  for (int e = begin; e < end; e++) {
    if (e == diagonal) continue;
    FactorWrite(value + e, work[e]);
    sum += fabs(work[e]);
  }
  if (kind != FACTOR_PIVOT_NONZERO) zero *= sum;
  if ((kind == FACTOR_PIVOT_POSITIVE ? pivot : fabs(pivot)) <= zero) *refused = 1;
  FactorWrite(value + diagonal, 1 / pivot);
}

/* The result of a kernel for the matrix */
enum FactorKind {
  FACTOR_ILU,
  FACTOR_ICC,
  FACTOR_DILU
};

/* The entry of row `row` in a column behind its diagonal, or 0 */
static __device__ __forceinline__ SysScalar FactorFind(const FactorMatrix_ &M, int row, int column)
{
  const int first = M.after[row], length = M.begin[row + 1] - first, e = first + SysCountLess(M.j + first, length, column);

  return e < first + length && M.j[e] == column ? M.work[e] : 0;
}

template <FactorKind KIND>
static __global__ void __launch_bounds__(FACTOR_THREADS) FactorComputeKernel(FactorMatrix_ M, FactorPivot kind, SysReal zero)
{
  const bool SYMMETRIC = KIND == FACTOR_ICC;
  const int  lane      = (int)threadIdx.x % SYS_WARP;
  unsigned   next      = FactorTake(M.ticket, lane);

  for (;;) {
    const int64_t at = (int64_t)__shfl_sync(SYS_ALL_LANES, next, 0) * SYS_WARP + lane;
    int           r = 0, k = 0, end = 0, last = 0, diagonal = 0;
    SysScalar     e    = 0; /* DILU */
    bool          done = at >= M.n;

    if (at - lane >= M.n) break;
    next = FactorTake(M.ticket, lane);
    if (!done) {
      r        = M.order[at];
      diagonal = M.diagonal[r];
      last     = M.begin[r + 1];
      k        = SYMMETRIC ? M.columns.begin[r] : M.begin[r];
      end      = SYMMETRIC ? M.columns.end[r] : diagonal;
      if (KIND == FACTOR_DILU) e = M.work[diagonal];
    }
    do {
      SysScalar inverse = 0;

      while (!done && k < end) { /* until it has to wait */
        const int other = SYMMETRIC ? M.columns.j[k] : M.j[k], pivot = M.diagonal[other];

        inverse = FactorRead(M.value + pivot);
        if (FactorIsMissing(inverse)) break;
        if (SYMMETRIC) {
          const int t = M.columns.from[k];

          FactorAddRow(M.j, diagonal, last, t, M.begin[other + 1], FactorMultiply(-FactorAwait(M.value + t), inverse), M.work, M.value);
        } else if (KIND == FACTOR_DILU) {
          e -= M.work[k] * inverse * FactorFind(M, other, r);
        } else if (M.work[k] != 0) {
          M.work[k] = FactorMultiply(M.work[k], inverse);
          FactorAddRow(M.j, k + 1, last, pivot + 1, M.begin[other + 1], -M.work[k], M.work, M.value);
        }
        k++;
      }
      if (!done && k == end && KIND == FACTOR_DILU) {
        if (fabs(e) <= zero) M.ticket[1] = 1;
        FactorWrite(M.value + diagonal, 1 / e);
        done = true;
      }
      if (!done && k == end) {
        FactorFinish(M.begin[r], last, diagonal, kind, zero, M.work, M.value, M.ticket + 1);
        done = true;
      }
    } while (!__all_sync(SYS_ALL_LANES, done));
  }
}

/* Divides the rows of a symmetric factor by their pivots */
static __global__ void __launch_bounds__(SYS_THREADS) FactorScaleKernel(int64_t n, const int *begin, SysScalar *value)
{
  SYS_FOR_EACH(r, n)
  {
    for (int e = begin[r] + 1; e < begin[r + 1]; e++) value[e] = FactorMultiply(-value[e], value[begin[r]]);
  }
}

/* Queues a kernel that computes the factor, or a part of it */
static SysStatus FactorMatrixRun(FactorMatrix M, const SysScalar *a, FactorKind what, FactorPivot kind, SysReal zero, cudaStream_t stream)
{
  void (*const kernels[])(FactorMatrix_, FactorPivot, SysReal) = {FactorComputeKernel<FACTOR_ILU>, FactorComputeKernel<FACTOR_ICC>, FactorComputeKernel<FACTOR_DILU>};
  int64_t blocks                                               = 0;

  SYS_CALL(FactorBlocks(M->n, FACTOR_ROWS, &blocks));
  SYS_CUDA(cudaMemsetAsync(M->ticket, 0, 2 * sizeof(*M->ticket), stream));
  SYS_CUDA(cudaMemsetAsync(M->value, 0xff, (size_t)M->nz * sizeof(*M->value), stream));
  SYS_CALL(SysLaunch(FactorLoadKernel, SysBlocksLoop(M->nz), SYS_THREADS, 0, stream, (int64_t)M->nz, (const int *)M->from, a, M->work));
  return SysLaunch(kernels[what], blocks, FACTOR_THREADS, 0, stream, *M, kind, zero);
}

static SysStatus FactorMatrixGetRefused(FactorMatrix M, int *refused, cudaStream_t stream)
{
  unsigned flag;

  SYS_CUDA(cudaMemcpyAsync(&flag, M->ticket + 1, sizeof(flag), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  *refused = flag != 0;
  return SYS_SUCCESS;
}

SysStatus FactorMatrixCompute(FactorMatrix M, const SysScalar *a, FactorPivot kind, SysReal zero, int *refused, SysStream s)
{
  const cudaStream_t stream = (cudaStream_t)s;

  SYS_CALL(FactorMatrixRun(M, a, M->symmetric ? FACTOR_ICC : FACTOR_ILU, kind, zero, stream));
  if (M->symmetric) SYS_CALL(SysLaunch(FactorScaleKernel, SysBlocksLoop(M->n), SYS_THREADS, 0, stream, (int64_t)M->n, (const int *)M->begin, M->value));
  return FactorMatrixGetRefused(M, refused, stream);
}

SysStatus FactorMatrixComputeDiagonal(FactorMatrix M, const SysScalar *a, SysReal zero, int *refused, SysStream s)
{
  SYS_CALL(FactorMatrixRun(M, a, FACTOR_DILU, FACTOR_PIVOT_NONZERO, zero, (cudaStream_t)s));
  return FactorMatrixGetRefused(M, refused, (cudaStream_t)s);
}

/* ------------------------------------------------- access ------------------------------------------------- */

void FactorMatrixGetPair(FactorMatrix M, int transpose, FactorPair *pair)
{
  pair->n         = M->n;
  pair->nz        = M->nz;
  pair->j         = M->j;
  pair->diagonal  = M->diagonal;
  pair->on_device = 1;
  for (int t = 0; t < 2; t++) {
    const bool upper = M->symmetric || t != transpose;

    pair->begin[t]  = upper ? M->after : M->begin;
    pair->end[t]    = upper ? M->begin + 1 : M->diagonal;
    pair->turned[t] = transpose || (M->symmetric && !t);
  }
}

int64_t FactorMatrixEntries(FactorMatrix M)
{
  return M->nz;
}

const SysScalar *FactorMatrixValues(FactorMatrix M)
{
  return M->value;
}

/* Copies the pattern, and the values a unless they are NULL, to the host */
static SysStatus FactorMatrixDownload(FactorMatrix M, SysInt *i, SysInt *j, const SysScalar *a, SysScalar *to, cudaStream_t stream)
{
  SYS_CUDA(cudaMemcpyAsync(i, M->begin, ((size_t)M->n + 1) * sizeof(*i), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaMemcpyAsync(j, M->j, (size_t)M->nz * sizeof(*j), cudaMemcpyDeviceToHost, stream));
  if (to) SYS_CUDA(cudaMemcpyAsync(to, a, (size_t)M->nz * sizeof(*a), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  return SYS_SUCCESS;
}

SysStatus FactorMatrixGet(FactorMatrix M, SysInt *i, SysInt *j, SysScalar *a, SysStream stream)
{
  return FactorMatrixDownload(M, i, j, M->value, a, (cudaStream_t)stream);
}

SysStatus FactorMatrixGetMatrix(FactorMatrix M, SysInt *i, SysInt *j, SysScalar *a, SysStream stream)
{
  return FactorMatrixDownload(M, i, j, M->work, a, (cudaStream_t)stream);
}
