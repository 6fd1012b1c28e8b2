/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Fingerprints of patterns on the device, and merging and cutting of rows

   spgemmhost.h has the idea.
*/
#include "mat/impls/hashgemm/cuda/hashgemmcuda.h"
#include "mat/impls/hashgemm/cuda/spgemmcuda.cuh"
#include "sys/syscub.cuh"

#define HASHGEMM_PATTERN_ENTRIES 8 /* entries a thread */

/* Sums, which do not depend on the order of the threads */
typedef struct {
  unsigned long long fingerprint, down, begins;
} HashGEMMPattern;

/* Mixes a place and a column into one number */
static __device__ inline unsigned long long HashGEMMPatternMix(unsigned place, unsigned value)
{
  unsigned long long x = (unsigned long long)place << 32 | value;

  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ x >> 27) * 0x94d049bb133111ebull;
  return x ^ x >> 31;
}

static __device__ inline void HashGEMMPatternAdd(unsigned long long sum, unsigned long long *all)
{
  for (int d = 16; d; d /= 2) sum += __shfl_down_sync(SYS_ALL_LANES, sum, d);
  if (threadIdx.x % SYS_WARP == 0 && sum) atomicAdd(all, sum);
}

/* Columns descend only from one row to the next */
static __global__ void __launch_bounds__(SYS_THREADS) HashGEMMPatternEntriesKernel(int64_t nz, const int *__restrict__ j, HashGEMMPattern *all)
{
  unsigned long long sum = 0, down = 0;
  int64_t            k = (int64_t)blockIdx.x * (SYS_THREADS * HASHGEMM_PATTERN_ENTRIES) + threadIdx.x;

  for (int e = 0; e < HASHGEMM_PATTERN_ENTRIES && k < nz; e++, k += SYS_THREADS) {
    sum += HashGEMMPatternMix((unsigned)k, (unsigned)j[k]);
    down += k && j[k] <= j[k - 1];
  }
  HashGEMMPatternAdd(sum, &all->fingerprint);
  HashGEMMPatternAdd(down, &all->down);
}

static __global__ void __launch_bounds__(SYS_THREADS) HashGEMMPatternRowsKernel(int64_t m, const int *__restrict__ i, const int *__restrict__ j, HashGEMMPattern *all)
{
  const int64_t      r      = (int64_t)blockIdx.x * SYS_THREADS + threadIdx.x;
  unsigned long long sum    = 0;
  bool               begins = false;

  if (r <= m) sum = 3 * HashGEMMPatternMix((unsigned)r, (unsigned)i[r]);
  if (r && r < m) begins = i[r] > 0 && i[r] < i[r + 1] && j[i[r]] <= j[i[r] - 1];
  HashGEMMPatternAdd(sum, &all->fingerprint);
  HashGEMMPatternAdd(begins, &all->begins);
}

static SysStatus HashGEMMPatternSum(const SysCSR *A, HashGEMMPattern *all, HashGEMMPattern *host, cudaStream_t stream)
{
  SYS_CUDA(cudaMemsetAsync(all, 0, sizeof(*all), stream));
  SYS_CALL(SysLaunch(HashGEMMPatternEntriesKernel, SysBlocks(A->nz, SYS_THREADS * HASHGEMM_PATTERN_ENTRIES), SYS_THREADS, 0, stream, A->nz, A->j, all));
  SYS_CALL(SysLaunch(HashGEMMPatternRowsKernel, SysBlocks(A->m + 1, SYS_THREADS), SYS_THREADS, 0, stream, A->m, A->i, A->j, all));
  SYS_CUDA(cudaMemcpyAsync(host, all, sizeof(*host), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  return SYS_SUCCESS;
}

SysStatus HashGEMMDeviceFingerprint(const SysCSR *A, SysStream stream, uint64_t *fingerprint, int *ascending)
{
  SysScratch      all;
  HashGEMMPattern host;

  SYS_CALL(SysScratchAllocate(&all, sizeof(host), (cudaStream_t)stream));
  SYS_CALL(HashGEMMPatternSum(A, (HashGEMMPattern *)all.memory, &host, stream));
  *fingerprint = host.fingerprint;
  *ascending   = host.down == host.begins;
  return SYS_SUCCESS;
}

/* ---- Rows merged and cut: a few threads a row ---- */

#define HASHGEMM_ROW_LANES 8

static __device__ inline int HashGEMMRowBegin(const int *i, int64_t r)
{
  return i ? i[r] : 0;
}

static __global__ void __launch_bounds__(SYS_THREADS) HashGEMMMergeKernel(int64_t m, SysCSR d, SysCSR o, int n, const int *__restrict__ map, int *__restrict__ i, int *__restrict__ j, SysScalar *__restrict__ a)
{
  const int64_t r    = ((int64_t)blockIdx.x * SYS_THREADS + threadIdx.x) / HASHGEMM_ROW_LANES;
  const int     lane = (int)threadIdx.x % HASHGEMM_ROW_LANES;

  if (r > m) return;
  if (i && !lane) i[r] = HashGEMMRowBegin(d.i, r) + HashGEMMRowBegin(o.i, r);
  if (r == m) return;
  for (int k = HashGEMMRowBegin(d.i, r) + lane, shift = HashGEMMRowBegin(o.i, r); k < HashGEMMRowBegin(d.i, r + 1); k += HASHGEMM_ROW_LANES) {
    if (j) j[shift + k] = d.j[k];
    if (a) a[shift + k] = d.a[k];
  }
  for (int k = HashGEMMRowBegin(o.i, r) + lane, shift = HashGEMMRowBegin(d.i, r + 1); k < HashGEMMRowBegin(o.i, r + 1); k += HASHGEMM_ROW_LANES) {
    if (j) j[shift + k] = n + (map ? map[o.j[k]] : o.j[k]);
    if (a) a[shift + k] = o.a[k];
  }
}

SysStatus HashGEMMDeviceMerge(const SysCSR *d, const SysCSR *o, int n, const int *map, int *i, int *j, SysScalar *a, SysStream stream)
{
  return SysLaunch(HashGEMMMergeKernel, SysBlocks((d->m + 1) * HASHGEMM_ROW_LANES, SYS_THREADS), SYS_THREADS, 0, stream, d->m, *d, *o, n, map, i, j, a);
}

static __global__ void __launch_bounds__(SYS_THREADS) HashGEMMCutValuesKernel(HashGEMMDeviceCutRows rows, int64_t m, const int *__restrict__ di, const int *__restrict__ oi, SysScalar *__restrict__ da, SysScalar *__restrict__ oa)
{
  const int64_t    r    = ((int64_t)blockIdx.x * SYS_THREADS + threadIdx.x) / HASHGEMM_ROW_LANES;
  const int        lane = (int)threadIdx.x % HASHGEMM_ROW_LANES;
  const SysScalar *a;
  int              d, length;

  if (r >= m) return;
  if (rows.from && rows.from[r] >= 0) a = rows.othera + rows.otheri[rows.from[r]];
  else a = rows.a + rows.i[r];
  d      = HashGEMMRowBegin(di, r);
  length = HashGEMMRowBegin(di, r + 1) - d;
  for (int k = lane; k < length; k += HASHGEMM_ROW_LANES) da[d + k] = a[k];
  for (int k = HashGEMMRowBegin(oi, r) + lane, first = HashGEMMRowBegin(oi, r); k < HashGEMMRowBegin(oi, r + 1); k += HASHGEMM_ROW_LANES) oa[k] = a[length + k - first];
}

SysStatus HashGEMMDeviceCutValues(const HashGEMMDeviceCutRows *rows, int64_t m, const int *di, const int *oi, SysScalar *da, SysScalar *oa, SysStream stream)
{
  return SysLaunch(HashGEMMCutValuesKernel, SysBlocks(m * HASHGEMM_ROW_LANES, SYS_THREADS), SYS_THREADS, 0, stream, *rows, m, di, oi, da, oa);
}

/* Returns the first entry from k to end whose column is at least n; most rows have none */
static __device__ inline int HashGEMMCutAt(const int *__restrict__ j, int k, int end, int n)
{
  if (k == end || j[end - 1] < n) return end;
  while (k < end) {
    const int middle = k + (end - k) / 2;

    if (j[middle] < n) k = middle + 1;
    else end = middle;
  }
  return k;
}

/* The lengths of row r, each at r + 1 */
static __global__ void __launch_bounds__(SYS_THREADS) HashGEMMCutLengthsKernel(HashGEMMDeviceCutRows rows, int64_t m, int n, int *__restrict__ di, int *__restrict__ oi)
{
  const int64_t r     = (int64_t)blockIdx.x * SYS_THREADS + threadIdx.x;
  const bool    other = r < m && rows.from && rows.from[r] >= 0;

  if (r == m) di[0] = oi[0] = 0;
  if (r < m) {
    const int *i = other ? rows.otheri + rows.from[r] : rows.i + r;
    const int  k = HashGEMMCutAt(other ? rows.otherj : rows.j, i[0], i[1], n);

    di[r + 1] = k - i[0];
    oi[r + 1] = i[1] - k;
  }
}

SysStatus HashGEMMDeviceCutStarts(const HashGEMMDeviceCutRows *rows, int64_t m, int n, int *di, int *oi, SysStream stream)
{
  size_t     bytes = 0;
  SysScratch work;

  SYS_CALL(SysLaunch(HashGEMMCutLengthsKernel, SysBlocks(m + 1, SYS_THREADS), SYS_THREADS, 0, stream, *rows, m, n, di, oi));
  SYS_CUDA(SysInclusiveSum(NULL, bytes, di + 1, di + 1, (int)m, (cudaStream_t)stream));
  SYS_CALL(SysScratchAllocate(&work, bytes, (cudaStream_t)stream));
  SYS_CUDA(SysInclusiveSum(work.memory, bytes, di + 1, di + 1, (int)m, (cudaStream_t)stream));
  SYS_CUDA(SysInclusiveSum(work.memory, bytes, oi + 1, oi + 1, (int)m, (cudaStream_t)stream));
  return SYS_SUCCESS;
}

static __global__ void __launch_bounds__(SYS_THREADS) HashGEMMCutColumnsKernel(HashGEMMDeviceCutRows rows, int64_t m, int n, const int *__restrict__ map, const int *__restrict__ di, const int *__restrict__ oi, int *__restrict__ dj, int *__restrict__ oj)
{
  const int64_t r    = ((int64_t)blockIdx.x * SYS_THREADS + threadIdx.x) / HASHGEMM_ROW_LANES;
  const int     lane = (int)threadIdx.x % HASHGEMM_ROW_LANES;
  const int    *j;
  bool          other;
  int           length;

  if (r >= m) return;
  other  = rows.from && rows.from[r] >= 0;
  j      = other ? rows.otherj + rows.otheri[rows.from[r]] : rows.j + rows.i[r];
  length = di[r + 1] - di[r];
  for (int k = lane; k < length; k += HASHGEMM_ROW_LANES) dj[di[r] + k] = j[k];
  for (int k = lane; k < oi[r + 1] - oi[r]; k += HASHGEMM_ROW_LANES) oj[oi[r] + k] = map && !other ? map[j[length + k] - n] : j[length + k] - n;
}

SysStatus HashGEMMDeviceCutColumns(const HashGEMMDeviceCutRows *rows, int64_t m, int n, const int *map, const int *di, const int *oi, int *dj, int *oj, SysStream stream)
{
  return SysLaunch(HashGEMMCutColumnsKernel, SysBlocks(m * HASHGEMM_ROW_LANES, SYS_THREADS), SYS_THREADS, 0, stream, *rows, m, n, map, di, oi, dj, oj);
}

static __global__ void __launch_bounds__(SYS_THREADS) HashGEMMMarkUsedKernel(int64_t m, const int *__restrict__ i, const int *__restrict__ j, int n, char *__restrict__ used)
{
  const int64_t r = (int64_t)blockIdx.x * SYS_THREADS + threadIdx.x;

  if (r >= m) return;
  for (int k = i[r + 1] - 1; k >= i[r] && j[k] >= n; k--) used[j[k] - n] = 1;
}

SysStatus HashGEMMDeviceMarkUsed(int64_t m, const int *i, const int *j, int n, char *used, SysStream stream)
{
  return SysLaunch(HashGEMMMarkUsedKernel, SysBlocks(m, SYS_THREADS), SYS_THREADS, 0, stream, m, i, j, n, used);
}

static __global__ void __launch_bounds__(SYS_THREADS) HashGEMMScatterKernel(int64_t n, const int *__restrict__ place, const SysScalar *__restrict__ values, SysScalar *__restrict__ a)
{
  const int64_t k = (int64_t)blockIdx.x * SYS_THREADS + threadIdx.x;

  if (k < n) a[place[k]] = values[k];
}

SysStatus HashGEMMDeviceScatter(int64_t n, const int *place, const SysScalar *values, SysScalar *a, SysStream stream)
{
  return SysLaunch(HashGEMMScatterKernel, SysBlocks(n, SYS_THREADS), SYS_THREADS, 0, stream, n, place, values, a);
}

static __global__ void __launch_bounds__(SYS_THREADS) HashGEMMRowEndsKernel(int64_t n, const int *__restrict__ rows, const int *__restrict__ i, int *__restrict__ ends)
{
  const int64_t r = (int64_t)blockIdx.x * SYS_THREADS + threadIdx.x;

  if (r >= n) return;
  ends[2 * r]     = i[rows[r]];
  ends[2 * r + 1] = i[rows[r] + 1];
}

SysStatus HashGEMMDeviceRowEnds(int64_t n, const int *rows, const int *i, int *ends, SysStream stream)
{
  return SysLaunch(HashGEMMRowEndsKernel, SysBlocks(n, SYS_THREADS), SYS_THREADS, 0, stream, n, rows, i, ends);
}

template <typename T>
static __global__ void __launch_bounds__(SYS_THREADS) HashGEMMTakeRowsKernel(int64_t n, const int *__restrict__ rows, const int *__restrict__ begin, const int *__restrict__ i, const T *__restrict__ a, T *__restrict__ taken)
{
  const int64_t r = ((int64_t)blockIdx.x * SYS_THREADS + threadIdx.x) / HASHGEMM_ROW_LANES;

  if (r >= n) return;
  for (int k = (int)threadIdx.x % HASHGEMM_ROW_LANES, first = i[rows[r]]; k < i[rows[r] + 1] - first; k += HASHGEMM_ROW_LANES) taken[begin[r] + k] = a[first + k];
}

SysStatus HashGEMMDeviceTakeRows(int64_t n, const int *rows, const int *begin, const int *i, const SysScalar *a, SysScalar *taken, SysStream stream)
{
  return SysLaunch(HashGEMMTakeRowsKernel<SysScalar>, SysBlocks(n * HASHGEMM_ROW_LANES, SYS_THREADS), SYS_THREADS, 0, stream, n, rows, begin, i, a, taken);
}

SysStatus HashGEMMDeviceTakeColumns(int64_t n, const int *rows, const int *begin, const int *i, const int *j, int *taken, SysStream stream)
{
  return SysLaunch(HashGEMMTakeRowsKernel<int>, SysBlocks(n * HASHGEMM_ROW_LANES, SYS_THREADS), SYS_THREADS, 0, stream, n, rows, begin, i, j, taken);
}
