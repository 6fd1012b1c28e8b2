/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Packing of the entries of x that other processes need, and the products of an off-diagonal block: by the few rows that have entries, or, transposed, by
   the columns, whose sums go to other processes
*/
#include "sys/syscub.cuh"
#include "sys/syscuda.cuh"
#include "mat/halo/halocuda.h"

/* number[r + 1]: whether row r has entries */
static __global__ void HaloMarkRowsKernel(int m, const int *i, int *number)
{
  SYS_FOR_EACH(r, m) number[r + 1] = i[r + 1] > i[r];
}

/* number[r]: the listed rows before row r */
static __global__ void HaloListRowsKernel(int m, const int *i, const int *number, int n, int *list)
{
  SYS_FOR_EACH(r, m)
  {
    if (number[r + 1] == number[r]) continue;
    list[number[r]]     = (int)r;
    list[n + number[r]] = i[r];
    if (number[r] == n - 1) list[2 * n] = i[r + 1];
  }
}

SysStatus HaloListRows(int m, const int *i, int *n, int **list, SysStream s)
{
  const cudaStream_t stream = (cudaStream_t)s;
  SysScratch         number, work;
  size_t             bytes = 0;
  int               *count;

  *n    = 0;
  *list = NULL;
  if (!m) return SYS_SUCCESS;
  SYS_CALL(SysScratchAllocate(&number, ((size_t)m + 1) * sizeof(int), stream));
  count = (int *)number.memory;
  SYS_CUDA(SysInclusiveSum(NULL, bytes, count + 1, count + 1, m, stream));
  SYS_CALL(SysScratchAllocate(&work, bytes, stream));
  SYS_CUDA(cudaMemsetAsync(count, 0, sizeof(int), stream));
  HaloMarkRowsKernel<<<SysBlocksLoop(m), SYS_THREADS, 0, stream>>>(m, i, count);
  SYS_CUDA(SysInclusiveSum(work.memory, bytes, count + 1, count + 1, m, stream));
  SYS_CUDA(cudaMemcpyAsync(n, count + m, sizeof(int), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  if (!*n) return SYS_SUCCESS;
  SYS_CALL(SysPoolAllocate((2 * (size_t)*n + 1) * sizeof(int), list, stream));
  return SysLaunch(HaloListRowsKernel, SysBlocksLoop(m), SYS_THREADS, 0, stream, m, i, count, *n, *list);
}

static __global__ void HaloPackKernel(int n, const int *entries, const SysScalar *x, SysScalar *to)
{
  const int k = blockIdx.x * SYS_THREADS + threadIdx.x;

  if (k < n) to[k] = x[entries[k]];
}

/* The sum of row or column k, of which there are n, in the first of its LANES threads. With PLACES, entry e has the value a[place[e]], without, a[e]. The order of
   the sum does not depend on n. */
template <int LANES, bool PLACES, typename Int>
static __device__ SysScalar HaloSumRow(Int k, int lane, int n, const int *start, const int *j, const int *place, const SysScalar *a, const SysScalar *x)
{
  SysScalar sum = 0;

  if (k < n) {
    for (int e = start[k] + lane; e < start[k + 1]; e += LANES) sum += a[PLACES ? place[e] : e] * x[j[e]];
  }
  for (int d = LANES / 2; d; d /= 2) sum += __shfl_down_sync(SYS_ALL_LANES, sum, d, LANES);
  return sum;
}

/* With ADD, alpha times the sum of row k is added to y[rows[k]]; without, y[k] is the sum of column k */
template <int LANES, bool ADD>
static __global__ void HaloSumKernel(int n, const int *rows, const int *start, const int *j, const int *place, const SysScalar *a, SysScalar alpha, const SysScalar *x, SysScalar *y)
{
  const int       k = (int)((blockIdx.x * (int64_t)SYS_THREADS + threadIdx.x) / LANES), lane = threadIdx.x % LANES;
  const SysScalar sum = HaloSumRow<LANES, !ADD>(k, lane, n, start, j, place, a, x);

  if (k >= n || lane) return;
  if (ADD) y[rows[k]] += alpha * sum;
  else y[k] = sum;
}

#define DOT_BLOCKS 256 /* thread blocks that leave a sum, at most */

/* As HaloSumKernel() with ADD. A thread block takes several groups of rows, and leaves its sum of the products of v with what is added to y. */
template <int LANES>
static __global__ void __launch_bounds__(SYS_THREADS) HaloAddDotKernel(int n, const int *rows, const int *start, const int *j, const SysScalar *a, const SysScalar *x, SysScalar *y, const SysScalar *v, SysScalar *sums)
{
  __shared__ SysScalar all[SYS_THREADS / SYS_WARP];
  const int            lane = threadIdx.x % LANES, each = SYS_THREADS / LANES;
  SysScalar            dot = 0;

  for (int64_t first = (int64_t)blockIdx.x * each; first < n; first += (int64_t)gridDim.x * each) {
    const int64_t   k   = first + threadIdx.x / LANES;
    const SysScalar sum = HaloSumRow<LANES, false>(k, lane, n, start, j, NULL, a, x);

    if (k >= n || lane) continue;
    y[rows[k]] += sum;
    dot += v[rows[k]] * sum;
  }
  for (int d = SYS_WARP / 2; d; d /= 2) dot += __shfl_down_sync(SYS_ALL_LANES, dot, d);
  if (threadIdx.x % SYS_WARP == 0) all[threadIdx.x / SYS_WARP] = dot;
  __syncthreads();
  if (threadIdx.x) return;
  for (int w = 1; w < SYS_THREADS / SYS_WARP; w++) dot += all[w];
  sums[blockIdx.x] = dot;
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

/* Starts HaloSumKernel() with lanes threads, a power of two, for each of n rows or columns */
template <bool ADD>
static SysStatus HaloSum(int lanes, int n, const int *rows, const int *start, const int *j, const int *place, const SysScalar *a, SysScalar alpha, const SysScalar *x, SysScalar *y, cudaStream_t stream)
{
  static decltype(&HaloSumKernel<1, ADD>) const kernel[] = {HaloSumKernel<1, ADD>, HaloSumKernel<2, ADD>, HaloSumKernel<4, ADD>, HaloSumKernel<8, ADD>, HaloSumKernel<16, ADD>, HaloSumKernel<32, ADD>};

  if (!n) return SYS_SUCCESS; /* lanes is not set */
  return SysLaunch(kernel[__builtin_ctz((unsigned)lanes)], SysBlocks((int64_t)n * lanes), SYS_THREADS, 0, stream, n, rows, start, j, place, a, alpha, x, y);
}

SysStatus HaloPack(int n, const int *entries, const SysScalar *x, SysScalar *to, SysStream stream)
{
  return SysLaunch(HaloPackKernel, SysBlocks(n), SYS_THREADS, 0, stream, n, entries, x, to);
}

SysStatus HaloAdd(const HaloRows *r, const int *j, const SysScalar *a, SysScalar alpha, const SysScalar *x, SysScalar *y, SysStream stream)
{
  return HaloSum<true>(r->lanes, r->n, r->rows, r->start, j, NULL, a, alpha, x, y, stream);
}

int HaloAddSumCount(const HaloRows *r)
{
  const int64_t blocks = SysBlocks((int64_t)r->n * r->lanes);

  return (int)(blocks < DOT_BLOCKS ? blocks : DOT_BLOCKS);
}

SysStatus HaloAddDot(const HaloRows *r, const int *j, const SysScalar *a, const SysScalar *x, SysScalar *y, const SysScalar *v, SysScalar *sums, SysStream stream)
{
  static decltype(&HaloAddDotKernel<1>) const kernel[] = {HaloAddDotKernel<1>, HaloAddDotKernel<2>, HaloAddDotKernel<4>, HaloAddDotKernel<8>, HaloAddDotKernel<16>, HaloAddDotKernel<32>};

  if (!r->n) return SYS_SUCCESS; /* lanes is not set */
  return SysLaunch(kernel[__builtin_ctz((unsigned)r->lanes)], HaloAddSumCount(r), SYS_THREADS, 0, stream, r->n, r->rows, r->start, j, a, x, y, v, sums);
}

SysStatus HaloMultTranspose(const HaloColumns *c, const SysScalar *a, const SysScalar *x, SysScalar *y, SysStream stream)
{
  return HaloSum<false>(c->lanes, c->n, NULL, c->start, c->row, c->place, a, 1, x, y, stream);
}

SysStatus HaloAddSums(const HaloSums *s, const SysScalar *sums, SysScalar *y, SysStream stream)
{
  return SysLaunch(HaloAddSumsKernel, SysBlocks(s->n), SYS_THREADS, 0, stream, *s, sums, y);
}
