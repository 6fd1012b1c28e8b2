/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Fingerprints of patterns on the device, and merging and cutting of rows

   spgemmhost.h has the idea.
*/
#include <limits.h>

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

static SysStatus HashGEMMPatternSum(const SysCSR *A, HashGEMMPattern *all, cudaStream_t stream)
{
  SYS_CALL(SysLaunch(HashGEMMPatternEntriesKernel, SysBlocks(A->nz, SYS_THREADS * HASHGEMM_PATTERN_ENTRIES), SYS_THREADS, 0, stream, A->nz, A->j, all));
  return SysLaunch(HashGEMMPatternRowsKernel, SysBlocks(A->m + 1, SYS_THREADS), SYS_THREADS, 0, stream, A->m, A->i, A->j, all);
}

SysStatus HashGEMMDeviceFingerprints(int n, const SysCSR A[], SysStream stream, uint64_t fingerprint[], int ascending[])
{
  SysScratch      memory;
  HashGEMMPattern host[HASHGEMM_FINGERPRINTS], *all;

  SYS_CALL(SysScratchAllocate(&memory, sizeof(host), (cudaStream_t)stream));
  all = (HashGEMMPattern *)memory.memory;
  SYS_CUDA(cudaMemsetAsync(all, 0, sizeof(host), stream));
  for (int k = 0; k < n; k++) SYS_CALL(HashGEMMPatternSum(&A[k], all + k, stream));
  SYS_CUDA(cudaMemcpyAsync(host, all, n * sizeof(*host), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  for (int k = 0; k < n; k++) {
    fingerprint[k] = host[k].fingerprint;
    ascending[k]   = host[k].down == host[k].begins;
  }
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

/* ---- Exchanged rows ---- */

/* The lanes of the row that this thread belongs to */
static __device__ inline unsigned HashGEMMRowMask(void)
{
  return ((1u << HASHGEMM_ROW_LANES) - 1) << threadIdx.x % SYS_WARP / HASHGEMM_ROW_LANES * HASHGEMM_ROW_LANES;
}

static __device__ inline int HashGEMMCountRow(unsigned mask, bool is)
{
  return __popc(__ballot_sync(mask, is));
}

static __global__ void __launch_bounds__(SYS_THREADS) HashGEMMPackKernel(HashGEMMDeviceSource s, int64_t n, const int *__restrict__ rows, const int *__restrict__ start, int *__restrict__ columns, SysScalar *__restrict__ values)
{
  const int64_t  k    = ((int64_t)blockIdx.x * SYS_THREADS + threadIdx.x) / HASHGEMM_ROW_LANES;
  const int      lane = (int)threadIdx.x % HASHGEMM_ROW_LANES;
  const unsigned mask = HashGEMMRowMask();
  int64_t        r;
  int            d, nd, o, no, to, below = 0;

  if (k >= n) return;
  r  = rows ? rows[k] : k;
  d  = HashGEMMRowBegin(s.d.i, r);
  nd = HashGEMMRowBegin(s.d.i, r + 1) - d;
  o  = HashGEMMRowBegin(s.o.i, r);
  no = HashGEMMRowBegin(s.o.i, r + 1) - o;
  if (s.merged) {
    o  = HashGEMMCutAt(s.d.j, d, d + nd, s.n);
    no = d + nd - o;
    nd = o - d;
  }
  to = start ? start[k] : HashGEMMRowBegin(s.d.i, k) - HashGEMMRowBegin(s.d.i, 0);
  for (int e = 0; e < no; e += HASHGEMM_ROW_LANES) below += HashGEMMCountRow(mask, e + lane < no && s.o.j[o + e + lane] < s.nbelow);
  for (int e = lane; e < nd + no; e += HASHGEMM_ROW_LANES) {
    const bool own = e >= below && e < below + nd;
    const int  l   = own ? d + e - below : o + (e < below ? e : e - nd);

    if (columns) columns[to + e] = own ? s.first + s.d.j[l] : s.global[s.o.j[l] - (s.merged ? s.n : 0)];
    if (values) values[to + e] = own ? s.d.a[l] : s.o.a[l];
  }
}

SysStatus HashGEMMDevicePack(const HashGEMMDeviceSource *source, int64_t n, const int *rows, const int *start, int *columns, SysScalar *values, SysStream stream)
{
  HashGEMMDeviceSource s = *source;

  if (s.merged) {
    s.o   = s.d;
    s.o.i = NULL;
    s.nbelow += s.n;
  }
  return SysLaunch(HashGEMMPackKernel, SysBlocks(n * HASHGEMM_ROW_LANES, SYS_THREADS), SYS_THREADS, 0, stream, s, n, rows, start, columns, values);
}

/* Columns of this process and unused ones become the key `end`, which is larger than all others */
static __global__ void __launch_bounds__(SYS_THREADS) HashGEMMGhostKeysKernel(HashGEMMDeviceColumns known, const char *__restrict__ used, int64_t n, const int *__restrict__ columns, int end, unsigned long long *__restrict__ key)
{
  const int64_t k = (int64_t)blockIdx.x * SYS_THREADS + threadIdx.x;

  if (k < known.nglobal) key[k] = (unsigned)(!used || used[k] ? known.global[k] : end);
  else if (k < known.nglobal + n) {
    const int column = columns[k - known.nglobal];

    key[k] = (unsigned)(column < known.first || column >= known.first + known.n ? column : end);
  } else if (k == known.nglobal + n) key[k] = (unsigned)end;
}

static __global__ void __launch_bounds__(SYS_THREADS) HashGEMMGhostListKernel(int64_t n, const unsigned long long *__restrict__ key, int *__restrict__ list)
{
  const int64_t k = (int64_t)blockIdx.x * SYS_THREADS + threadIdx.x;

  if (k < n) list[k] = (int)key[k];
}

SysStatus HashGEMMDeviceListGhosts(const HashGEMMDeviceColumns *known, const char *used, int64_t n, const int *columns, int end, int **list, int *nlist, SysStream stream)
{
  const int64_t       all = known->nglobal + n + 1; /* with one key `end` */
  unsigned long long *key[2], *unique;
  int64_t            *count, found;
  size_t              bytes = 0, more = 0;
  char               *work;
  SysArena            arena = {NULL, 0};
  SysScratch          memory;

  *nlist = 0;
  if (all > INT_MAX) return SYS_TOO_LARGE;
  key[0] = key[1] = NULL;
  SYS_CUDA(SysSortKeys(NULL, bytes, key, (int)all, SysBits(end), (cudaStream_t)stream));
  SYS_CUDA(SysUnique(NULL, more, NULL, NULL, NULL, (int)all, (cudaStream_t)stream));
  if (more > bytes) bytes = more;
  for (int pass = 0; pass < 2; pass++) {
    SysArenaTake(&arena, &key[0], (size_t)all);
    SysArenaTake(&arena, &key[1], (size_t)all);
    SysArenaTake(&arena, &count, 1);
    SysArenaTake(&arena, &work, bytes);
    if (!pass) SYS_CALL(SysArenaAllocateScratch(&arena, &memory, (cudaStream_t)stream));
  }
  SYS_CALL(SysLaunch(HashGEMMGhostKeysKernel, SysBlocks(all, SYS_THREADS), SYS_THREADS, 0, stream, *known, used, n, columns, end, key[0]));
  SYS_CUDA(SysSortKeys(work, bytes, key, (int)all, SysBits(end), (cudaStream_t)stream));
  unique = key[1];
  SYS_CUDA(SysUnique(work, bytes, key[0], unique, count, (int)all, (cudaStream_t)stream));
  SYS_CUDA(cudaMemcpyAsync(&found, count, sizeof(found), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  *nlist = (int)found - 1;
  SYS_CALL(SysPoolAllocate(*nlist * sizeof(**list), list, stream));
  return SysLaunch(HashGEMMGhostListKernel, SysBlocks(*nlist, SYS_THREADS), SYS_THREADS, 0, stream, (int64_t)*nlist, unique, *list);
}

static __device__ inline int HashGEMMNumber(const HashGEMMDeviceColumns &c, int column)
{
  const int own = column - c.first;

  return own >= 0 && own < c.n ? own : c.n + SysCountLess(c.global, c.nglobal, column);
}

/* Each row's own columns first, then the others, in the order in which they came */
static __global__ void __launch_bounds__(SYS_THREADS) HashGEMMNumberKernel(HashGEMMDeviceColumns c, int64_t n, const int *__restrict__ i, const int *__restrict__ columns, int *__restrict__ j, int *__restrict__ place)
{
  const int64_t  r    = ((int64_t)blockIdx.x * SYS_THREADS + threadIdx.x) / HASHGEMM_ROW_LANES;
  const int      lane = (int)threadIdx.x % HASHGEMM_ROW_LANES;
  const unsigned mask = HashGEMMRowMask(), before = mask & ((1u << threadIdx.x % SYS_WARP) - 1);
  int            begin, length, next[2] = {0, 0};

  if (r >= n) return;
  begin  = i[r];
  length = i[r + 1] - begin;
  columns += begin - i[0];
  place += begin - i[0];
  for (int e = 0; e < length; e += HASHGEMM_ROW_LANES) next[1] += HashGEMMCountRow(mask, e + lane < length && columns[e + lane] >= c.first && columns[e + lane] < c.first + c.n);
  for (int e = 0; e < length; e += HASHGEMM_ROW_LANES) {
    const bool     here   = e + lane < length;
    const int      number = here ? HashGEMMNumber(c, columns[e + lane]) : 0;
    const bool     ghost  = number >= c.n;
    const unsigned own = __ballot_sync(mask, here && !ghost), other = __ballot_sync(mask, here && ghost);

    if (here) {
      const int to = begin + next[ghost] + __popc(before & (ghost ? other : own));

      j[to]           = number;
      place[e + lane] = to;
    }
    next[0] += __popc(own);
    next[1] += __popc(other);
  }
}

SysStatus HashGEMMDeviceNumberRows(const HashGEMMDeviceColumns *c, int64_t n, const int *i, const int *columns, int *j, int *place, SysStream stream)
{
  return SysLaunch(HashGEMMNumberKernel, SysBlocks(n * HASHGEMM_ROW_LANES, SYS_THREADS), SYS_THREADS, 0, stream, *c, n, i, columns, j, place);
}

/* ---- Sums of rows ----

   Each term is an entry of a row of this process or of a row that came. Two stable sorts, by columns and by sums, put terms of one entry side by side: this process's first, then
   the others' in the order of the processes. */

static __global__ void __launch_bounds__(SYS_THREADS) HashGEMMOwnTermsKernel(HashGEMMDeviceSums s, HashGEMMDeviceColumns before, HashGEMMDeviceColumns c, const int *__restrict__ i, const int *__restrict__ j, int *__restrict__ sum, int *__restrict__ column, int *__restrict__ from)
{
  const int64_t t = ((int64_t)blockIdx.x * SYS_THREADS + threadIdx.x) / HASHGEMM_ROW_LANES;
  int           first;

  if (t >= s.n) return;
  first = i[s.row[t]];
  for (int e = s.begin[t] + (int)threadIdx.x % HASHGEMM_ROW_LANES; e < s.begin[t + 1]; e += HASHGEMM_ROW_LANES) {
    const int k = first + e - s.begin[t];

    sum[e]    = (int)t;
    column[e] = j[k] < c.n ? j[k] : HashGEMMNumber(c, before.global[j[k] - before.n]);
    from[e]   = k;
  }
}

static __global__ void __launch_bounds__(SYS_THREADS) HashGEMMCameTermsKernel(HashGEMMDeviceSums s, HashGEMMDeviceColumns c, const int *__restrict__ columns, int *__restrict__ sum, int *__restrict__ column, int *__restrict__ from)
{
  const int64_t r = ((int64_t)blockIdx.x * SYS_THREADS + threadIdx.x) / HASHGEMM_ROW_LANES;

  if (r >= s.ncame) return;
  for (int k = (int)threadIdx.x % HASHGEMM_ROW_LANES, e = s.nown + s.first[r] + k; e < s.nown + s.first[r + 1]; k += HASHGEMM_ROW_LANES, e += HASHGEMM_ROW_LANES) {
    sum[e]    = s.sum[r];
    column[e] = HashGEMMNumber(c, columns[s.arrive[r] + k]);
    from[e]   = ~(s.arrive[r] + k);
  }
}

static __global__ void __launch_bounds__(SYS_THREADS) HashGEMMPermuteKernel(int n, const int *__restrict__ order, const int *__restrict__ x, int *__restrict__ y)
{
  const int k = (int)(blockIdx.x * SYS_THREADS + threadIdx.x);

  if (k < n) y[k] = x[order[k]];
}

/* Marks the first term of each entry */
static __global__ void __launch_bounds__(SYS_THREADS) HashGEMMHeadsKernel(int n, const int *__restrict__ sum, const int *__restrict__ column, int *__restrict__ head)
{
  const int k = (int)(blockIdx.x * SYS_THREADS + threadIdx.x);

  if (k < n) head[k] = !k || sum[k] != sum[k - 1] || column[k] != column[k - 1];
}

/* place[k]: number of entries up to term k */
static __global__ void __launch_bounds__(SYS_THREADS) HashGEMMEntriesKernel(int n, int nsum, const int *__restrict__ sum, const int *__restrict__ column, const int *__restrict__ place, int *__restrict__ i, int *__restrict__ j, int *__restrict__ term)
{
  const int k = (int)(blockIdx.x * SYS_THREADS + threadIdx.x);

  if (k >= n) return;
  if (!k || place[k] != place[k - 1]) {
    j[place[k] - 1]    = column[k];
    term[place[k] - 1] = k;
    if (!k || sum[k] != sum[k - 1]) i[sum[k]] = place[k] - 1;
  }
  if (k == n - 1) {
    i[nsum]        = place[k];
    term[place[k]] = n;
  }
}

SysStatus HashGEMMDeviceSumPattern(const HashGEMMDeviceSums *s, const HashGEMMDeviceColumns *before, const HashGEMMDeviceColumns *c, const int *i, const int *j, const int *columns, int *sumi, int *sumj, int *term, int *from, SysStream stream)
{
  const int    n = s->nown + s->nterm, blocks = (int)SysBlocks(n, SYS_THREADS), sumbits = SysBits(s->n), bits = SysBits((int64_t)c->n + c->nglobal);
  cudaStream_t q = (cudaStream_t)stream;
  int         *sum[2], *column[2], *order[2], *source;
  size_t       bytes = 0, more = 0;
  char        *work;
  SysArena     arena = {NULL, 0};
  SysScratch   memory;

  if (!n) return SYS_SUCCESS;
  SYS_CUDA(SysSortPairs(NULL, bytes, (const int *)NULL, (int *)NULL, NULL, NULL, n, 31, q));
  SYS_CUDA(SysInclusiveSum(NULL, more, NULL, NULL, n, q));
  if (more > bytes) bytes = more;
  for (int pass = 0; pass < 2; pass++) {
    for (int k = 0; k < 2; k++) {
      SysArenaTake(&arena, &sum[k], (size_t)n);
      SysArenaTake(&arena, &column[k], (size_t)n);
      SysArenaTake(&arena, &order[k], (size_t)n);
    }
    SysArenaTake(&arena, &source, (size_t)n);
    SysArenaTake(&arena, &work, bytes);
    if (!pass) SYS_CALL(SysArenaAllocateScratch(&arena, &memory, q));
  }
  SYS_CALL(SysLaunch(HashGEMMOwnTermsKernel, SysBlocks((int64_t)s->n * HASHGEMM_ROW_LANES, SYS_THREADS), SYS_THREADS, 0, q, *s, *before, *c, i, j, sum[0], column[0], source));
  SYS_CALL(SysLaunch(HashGEMMCameTermsKernel, SysBlocks((int64_t)s->ncame * HASHGEMM_ROW_LANES, SYS_THREADS), SYS_THREADS, 0, q, *s, *c, columns, sum[0], column[0], source));
  SYS_CUDA(SysNumber(n, order[0], q));
  SYS_CUDA(SysSortPairs(work, bytes, (const int *)column[0], column[1], (const int *)order[0], order[1], n, bits, q));
  SYS_CALL(SysLaunch(HashGEMMPermuteKernel, blocks, SYS_THREADS, 0, q, n, (const int *)order[1], (const int *)sum[0], sum[1]));
  SYS_CUDA(SysSortPairs(work, bytes, (const int *)sum[1], sum[0], (const int *)order[1], order[0], n, sumbits, q));
  SYS_CALL(SysLaunch(HashGEMMPermuteKernel, blocks, SYS_THREADS, 0, q, n, (const int *)order[0], (const int *)column[0], column[1]));
  SYS_CALL(SysLaunch(HashGEMMPermuteKernel, blocks, SYS_THREADS, 0, q, n, (const int *)order[0], (const int *)source, from));
  SYS_CALL(SysLaunch(HashGEMMHeadsKernel, blocks, SYS_THREADS, 0, q, n, (const int *)sum[0], (const int *)column[1], order[1]));
  SYS_CUDA(SysInclusiveSum(work, bytes, order[1], order[1], n, q));
  return SysLaunch(HashGEMMEntriesKernel, blocks, SYS_THREADS, 0, q, n, s->n, (const int *)sum[0], (const int *)column[1], (const int *)order[1], sumi, sumj, term);
}

static __global__ void __launch_bounds__(SYS_THREADS) HashGEMMSumValuesKernel(const int *__restrict__ nz, const int *__restrict__ term, const int *__restrict__ from, const SysScalar *__restrict__ a, const SysScalar *__restrict__ came, SysScalar *__restrict__ sum)
{
  const int64_t k   = (int64_t)blockIdx.x * SYS_THREADS + threadIdx.x;
  SysScalar     all = 0;

  if (k >= *nz) return;
  for (int l = term[k]; l < term[k + 1]; l++) all += from[l] >= 0 ? a[from[l]] : came[~from[l]];
  sum[k] = all;
}

SysStatus HashGEMMDeviceSumValues(int64_t most, const int *nz, const int *term, const int *from, const SysScalar *a, const SysScalar *came, SysScalar *sum, SysStream stream)
{
  return SysLaunch(HashGEMMSumValuesKernel, SysBlocks(most, SYS_THREADS), SYS_THREADS, 0, stream, nz, term, from, a, came, sum);
}

static __global__ void __launch_bounds__(SYS_THREADS) HashGEMMInvertKernel(int64_t n, const int *__restrict__ list, int *__restrict__ number)
{
  const int64_t k = (int64_t)blockIdx.x * SYS_THREADS + threadIdx.x;

  if (k < n) number[list[k]] = (int)k;
}

SysStatus HashGEMMDeviceInvert(int64_t m, int64_t n, const int *list, int *number, SysStream stream)
{
  SYS_CUDA(cudaMemsetAsync(number, 0xff, (size_t)m * sizeof(*number), stream));
  return SysLaunch(HashGEMMInvertKernel, SysBlocks(n, SYS_THREADS), SYS_THREADS, 0, stream, n, list, number);
}
