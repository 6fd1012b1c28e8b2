/* SPDX-License-Identifier: BSD-2-Clause */
/*
   SpGEMM on the device: words of B, each row's work and bin, lists of rows, units and parts. spgemmcuda.cuh defines words, bins, units and parts.

   spgemmhost.h has the idea.
*/
#include <limits.h>

#include "sys/syscub.cuh"
#include "mat/impls/hashgemm/cuda/spgemmcuda.cuh"

#define TEAM 8 /* lanes for a row, unless it is long */

/* ---- Limits ---- */

SpgemmLimits SpgemmDeviceLimits(size_t shared)
{
  SpgemmLimits limits;

  limits.hash_words      = shared >= SpgemmDeviceHashShared() ? 3072 : SPGEMM_HASH_WORDS2;
  limits.table_products  = shared >= SpgemmDeviceTableShared() ? SPGEMM_TABLE_LARGE : 0;
  limits.team_entries[0] = shared >= SpgemmDeviceValuesShared(false) ? 384 : 256;
  limits.team_entries[1] = shared >= SpgemmDeviceValuesShared(true) ? 256 : 128;
  limits.line_bytes      = (unsigned)(shared < SPGEMM_LINE_SHARED ? shared : SPGEMM_LINE_SHARED);
  return limits;
}

/* ---- Words of B ---- */

/* Returns the bits of the word that begins at entry e */
static __device__ __forceinline__ unsigned PlanWordBits(const int *j, unsigned e, unsigned length, unsigned w)
{
  unsigned bits = 0;

  for (bool on = true; on && e < length; e += 4) {
    int c[4];

#pragma unroll
    for (int u = 0; u < 4; u++) c[u] = j[min(e + u, length - 1)];
#pragma unroll
    for (int u = 0; u < 4; u++) {
      on = on && e + u < length && (unsigned)c[u] >> 5 == w;
      if (on) bits |= 1u << (c[u] & 31);
    }
  }
  return bits;
}

static __device__ __forceinline__ void PlanWriteRow(const SpgemmOperands &P, int r, int begin, unsigned length, unsigned words)
{
  P.rowB[r] = make_int4(begin, (int)words, length ? P.Bj[begin] : 0, length ? P.Bj[begin + (int)length - 1] : -1);
}

/* One team a row, except long ones */
static __global__ void __launch_bounds__(SYS_THREADS) PlanWordsKernel(SpgemmOperands P, int *long_rows, SpgemmCounters *counters)
{
  const unsigned lane = threadIdx.x % TEAM, shift = threadIdx.x % SYS_WARP - lane, mine = ((1u << TEAM) - 1) << shift;
  const int64_t  r      = (blockIdx.x * (int64_t)SYS_THREADS + threadIdx.x) / TEAM;
  const int      begin  = r < P.k ? P.Bi[r] : 0;
  const unsigned all    = r < P.k ? (unsigned)(P.Bi[r + 1] - begin) : 0;
  const unsigned length = all > SPGEMM_LONG_ROW ? 0 : all, most = __reduce_max_sync(SYS_ALL_LANES, length);
  const int     *j = P.Bj + begin;
  unsigned       n = 0;

  for (unsigned e0 = 0; e0 < most; e0 += TEAM) {
    const unsigned e     = e0 + lane;
    const unsigned w     = e < length ? (unsigned)j[e] >> 5 : SPGEMM_NOWORD;
    const bool     head  = e < length && (e == 0 || (unsigned)j[e - 1] >> 5 != w);
    const unsigned heads = __ballot_sync(SYS_ALL_LANES, head) & mine;

    if (head) P.wordB[begin + (int)n + __popc(heads & ((1u << (shift + lane)) - 1))] = make_uint2(w, PlanWordBits(j, e, length, w));
    n += (unsigned)__popc(heads);
  }
  if (blockIdx.x % SPGEMM_SCATTER_SAMPLE == 0) {
    const int more = __reduce_add_sync(SYS_ALL_LANES, lane ? 0 : SPGEMM_CLUSTERED * (int)n - (int)length);

    if (threadIdx.x % SYS_WARP == 0) atomicAdd((unsigned long long *)&counters->scattered, (unsigned long long)(long long)more);
  }
  if (r >= P.k || lane) return;
  if (all > SPGEMM_LONG_ROW) long_rows[atomicAdd(&counters->long_rows, 1u)] = (int)r;
  else PlanWriteRow(P, (int)r, begin, length, n);
}

/* Blocks take the long rows in turn */
static __global__ void __launch_bounds__(SYS_THREADS) PlanLongWordsKernel(SpgemmOperands P, const int *long_rows, const SpgemmCounters *counters)
{
  __shared__ unsigned count[SYS_THREADS / SYS_WARP];
  const unsigned      lane = threadIdx.x % SYS_WARP, warp = threadIdx.x / SYS_WARP;

  for (unsigned k = blockIdx.x; k < counters->long_rows; k += SPGEMM_LONG_BLOCKS) {
    const int      r = long_rows[k], begin = P.Bi[r];
    const unsigned length = (unsigned)(P.Bi[r + 1] - begin);
    const int     *j      = P.Bj + begin;
    unsigned       n      = 0;

    for (unsigned e0 = 0; e0 < length; e0 += SYS_THREADS) {
      const unsigned e      = e0 + threadIdx.x;
      const unsigned w      = e < length ? (unsigned)j[e] >> 5 : SPGEMM_NOWORD;
      const bool     head   = e < length && (e == 0 || (unsigned)j[e - 1] >> 5 != w);
      const unsigned heads  = __ballot_sync(SYS_ALL_LANES, head);
      unsigned       before = 0, total = 0;

      if (lane == 0) count[warp] = (unsigned)__popc(heads);
      __syncthreads();
      for (unsigned other = 0; other < SYS_THREADS / SYS_WARP; other++) {
        before += other < warp ? count[other] : 0;
        total += count[other];
      }
      if (head) P.wordB[begin + (int)(n + before) + __popc(heads & ((1u << lane) - 1))] = make_uint2(w, PlanWordBits(j, e, length, w));
      n += total;
      __syncthreads();
    }
    if (threadIdx.x == 0) PlanWriteRow(P, r, begin, length, n);
  }
}

int64_t SpgemmDeviceLongRows(int64_t nz)
{
  return nz / SPGEMM_LONG_ROW + 1;
}

SysStatus SpgemmDeviceWords(const SpgemmOperands *P, int *long_rows, SpgemmCounters *counters, cudaStream_t stream)
{
  SYS_CALL(SysLaunch(PlanWordsKernel, SysBlocks((int64_t)P->k * TEAM, SYS_THREADS), SYS_THREADS, 0, stream, *P, long_rows, counters));
  return SysLaunch(PlanLongWordsKernel, P->k ? SPGEMM_LONG_BLOCKS : 0, SYS_THREADS, 0, stream, *P, (const int *)long_rows, (const SpgemmCounters *)counters);
}

/* ---- Work of a row ---- */

typedef struct {
  unsigned long long products, words;
  int                first, last; /* in columns */
} Work;

static __device__ void PlanAddWork(const SpgemmOperands &P, int k, Work *w)
{
  const int  c   = P.Aj[k];
  const int4 row = P.rowB[c];

  w->products += (unsigned)(P.Bi[c + 1] - row.x);
  w->words += (unsigned)row.y;
  if (row.y) {
    w->first = min(w->first, row.z);
    w->last  = max(w->last, row.w);
  }
}

/* Sums the team's work, to all lanes */
static __device__ void PlanSumWork(unsigned width, Work *w)
{
  for (unsigned step = width / 2; step; step /= 2) {
    w->products += __shfl_xor_sync(SYS_ALL_LANES, w->products, (int)step);
    w->words += __shfl_xor_sync(SYS_ALL_LANES, w->words, (int)step);
    w->first = min(w->first, __shfl_xor_sync(SYS_ALL_LANES, w->first, (int)step));
    w->last  = max(w->last, __shfl_xor_sync(SYS_ALL_LANES, w->last, (int)step));
  }
}

/* Returns whether a hash table is faster than a window: the window has many times the row's distinct words, which are estimated as w.words * w.words / w.products */
static __device__ bool PlanWide(const Work &w)
{
  const unsigned words = (unsigned)(w.last >> 5) - (unsigned)(w.first >> 5) + 1;

  return (double)words * (double)w.products > (w.words > SPGEMM_SORTED_WORDS ? (double)SPGEMM_SPARSE_WINDOW_LARGE : (double)SPGEMM_SPARSE_WINDOW) * (double)w.words * (double)w.words;
}

/* Returns the bin of a row that the accumulator (merge, hash, heap or esc) computes with its values in the counting pass, or COUNT_EMPTY. The limits on span let a sort key of 32
   bits hold the column, relative to w.first, above the number of the product or of the entry of A. */
static __device__ unsigned PlanMadeBin(const SpgemmLimits &limits, SpgemmAccumulator accumulator, int length, const Work &w)
{
  const unsigned span = (unsigned)w.last - (unsigned)w.first;

  if (accumulator == SPGEMM_MERGE) return w.products > SPGEMM_MERGE_MOST || span >= (1u << 23) - 1 ? COUNT_EMPTY : COUNT_MERGE;
  if (accumulator == SPGEMM_HASH)
    return w.products > SPGEMM_TABLE_MOST ? COUNT_EMPTY : w.products <= 96 ? COUNT_128 : w.products <= 192 ? COUNT_256 : w.products <= 384 ? COUNT_512 : w.products <= 3072 ? COUNT_1024 : w.products <= limits.table_products ? COUNT_4096 : COUNT_2048;
  if (w.products > SPGEMM_MADE_PRODUCTS || length > SPGEMM_LONG_ROW) return COUNT_EMPTY;
  if (accumulator == SPGEMM_HEAP) return length > SPGEMM_HEAP_ENTRIES || span >= (1u << (32 - SPGEMM_HEAP_BITS)) - 1 ? COUNT_EMPTY : length <= 8 ? COUNT_HEAP_8 : COUNT_HEAP_16;
  if (accumulator != SPGEMM_ESC) return COUNT_EMPTY;
  for (unsigned bin = COUNT_SORT_64, bits = 6; bin <= COUNT_SORT_512; bin++, bits++) {
    if (w.products <= 1u << bits) return span < (1u << (32 - bits)) - 1 ? bin : COUNT_EMPTY;
  }
  return COUNT_EMPTY;
}

/* Returns the entries to allocate for such a row */
static __device__ unsigned long long PlanMadeRoom(SpgemmAccumulator accumulator, int bin, const Work &w)
{
  const unsigned bound = SpgemmRowBound((unsigned)w.products, (unsigned)w.last - (unsigned)w.first);

  if (bin == COUNT_MERGE) return bound;
  if (accumulator == SPGEMM_HASH && bin >= COUNT_1024 && w.products > SPGEMM_TABLE_HOLDS(10 + bin - COUNT_1024)) return SpgemmTableSlots(bound) + bound;
  return w.products;
}

static __device__ unsigned char PlanKind(const SpgemmLimits &limits, SpgemmAccumulator accumulator, bool sorts, int length, const Work &w)
{
  const unsigned long long average = length ? w.products / (unsigned)length : 0;
  const bool               words   = w.products >= SPGEMM_CLUSTERED * w.words;
  unsigned                 team    = length > SPGEMM_LONG_ROW ? 4 : average <= 8 ? 0 : average <= 16 ? 1 : average <= 64 ? 2 : 3, bin;

  if (!w.products) return SPGEMM_KIND(COUNT_EMPTY, team, words);
  if (length == 1 && w.products <= SPGEMM_COPIED_ROW) return SPGEMM_KIND(COUNT_COPY, team, words);
  bin = PlanMadeBin(limits, accumulator, length, w);
  if (bin != COUNT_EMPTY) return SPGEMM_KIND(bin, min(team, 2u), 0);
  if (accumulator == SPGEMM_DENSE || accumulator == SPGEMM_HASH) bin = COUNT_WINDOW; /* hash has the other bins for the rows that it computes */
  else if (accumulator != SPGEMM_WORDS && accumulator != SPGEMM_ESC && sorts && w.products <= 512 && !words) {
    bin = w.products <= 64 ? COUNT_SORT_64 : w.products <= 128 ? COUNT_SORT_128 : w.products <= 256 ? COUNT_SORT_256 : COUNT_SORT_512;
    if (PlanMadeBin(limits, SPGEMM_ESC, length, w) != COUNT_EMPTY) team = min(team, 2u);
  } else if (w.words <= 96) bin = length > SPGEMM_LONG_ROW ? COUNT_512 : COUNT_128;
  else if (w.words > limits.hash_words || (accumulator != SPGEMM_WORDS && (sorts || w.words > SPGEMM_SORTED_WORDS) && !PlanWide(w))) bin = COUNT_WINDOW;
  else bin = w.words <= 192 ? COUNT_256 : w.words <= 384 ? COUNT_512 : w.words <= 768 ? COUNT_1024 : w.words <= 1536 ? COUNT_2048 : COUNT_4096;
  return SPGEMM_KIND(bin, team, words);
}

/* Returns the number of units of a row: about one for SPGEMM_UNIT_PRODUCTS products, each of SPGEMM_UNIT_WORDS_LEAST to SPGEMM_UNIT_WORDS words */
static __device__ unsigned PlanUnitsOf(const Work &w)
{
  const unsigned           words = (unsigned)(w.last >> 5) - (unsigned)(w.first >> 5) + 1, least = (words + SPGEMM_UNIT_WORDS - 1) / SPGEMM_UNIT_WORDS, most = (words + SPGEMM_UNIT_WORDS_LEAST - 1) / SPGEMM_UNIT_WORDS_LEAST;
  const unsigned long long wanted = w.products / SPGEMM_UNIT_PRODUCTS;
  const unsigned           units  = wanted < most ? (unsigned)wanted : most;

  return max(max(units, least), 1u);
}

/* Classifies the rows of A: sets kind[], work[] (products), range[] (the window in words, or the first and last column) and the counters. size[r] is the number of entries of a copied
   row, the number of units of a row with a window, and 0 otherwise. */
static __global__ void __launch_bounds__(SYS_THREADS) PlanClassifyKernel(SpgemmOperands P, SpgemmLimits limits, SpgemmAccumulator accumulator, int *size, unsigned *work, uint2 *range, unsigned char *kind, SpgemmCounters *counters)
{
  __shared__ unsigned count[SPGEMM_BINS];
  const unsigned      lane = threadIdx.x % TEAM, shift = threadIdx.x % SYS_WARP - lane;
  const bool          sorts    = counters->scattered > 0 || P.m < SPGEMM_SORTING_ROWS; /* otherwise so few rows would be sorted that their kernels cost more than they save, and tables are faster for rows of few words */
  unsigned long long  products = 0, units = 0, hash_words = 0, window_words = 0, made = 0, unmade = 0;

  if (threadIdx.x < SPGEMM_BINS) count[threadIdx.x] = 0;
  __syncthreads();
  for (int64_t r0 = (int64_t)blockIdx.x * (SYS_THREADS / TEAM); r0 < P.m; r0 += (int64_t)gridDim.x * (SYS_THREADS / TEAM)) {
    const int64_t r      = r0 + threadIdx.x / TEAM;
    const int     begin  = r < P.m ? P.Ai[r] : 0;
    const int     length = r < P.m ? P.Ai[r + 1] - begin : 0;
    const int     soon   = length > SPGEMM_LONG_ROW ? 0 : length;
    Work          w      = {0, 0, INT_MAX, -1};
    unsigned      late   = __ballot_sync(SYS_ALL_LANES, lane == 0 && length > SPGEMM_LONG_ROW);

    for (int k = (int)lane; k < soon; k += TEAM) PlanAddWork(P, begin + k, &w);
    __syncwarp();
    PlanSumWork(TEAM, &w);
    for (; late; late &= late - 1) {
      const int from = __ffs((int)late) - 1, first = __shfl_sync(SYS_ALL_LANES, begin, from), n = __shfl_sync(SYS_ALL_LANES, length, from);
      Work      all = {0, 0, INT_MAX, -1};

#pragma unroll 8
      for (int k = (int)(threadIdx.x % SYS_WARP); k < n; k += SYS_WARP) PlanAddWork(P, first + k, &all);
      __syncwarp();
      PlanSumWork(SYS_WARP, &all);
      if (shift == (unsigned)from) w = all;
    }
    if (lane == 0 && r < P.m) {
      const unsigned char what = PlanKind(limits, accumulator, sorts, length, w);
      const unsigned      bin  = SPGEMM_KIND_BIN(what);
      const unsigned      cut  = bin == COUNT_WINDOW ? PlanUnitsOf(w) : 0;

      kind[r] = what;
      work[r] = (unsigned)min(w.products, (unsigned long long)UINT_MAX);
      size[r] = bin == COUNT_WINDOW ? (int)cut : bin == COUNT_COPY ? (int)w.products : 0;
      if (bin == COUNT_WINDOW) {
        const uint2 words = make_uint2((unsigned)w.first >> 5, (unsigned)(w.last >> 5) + 1);

        range[r] = words;
        window_words += words.y - words.x;
      }
      const bool sorted = accumulator == SPGEMM_AUTO && bin >= COUNT_SORT_64 && bin <= COUNT_SORT_512;
      if (sorted || SpgemmMakes(accumulator, (int)bin)) range[r] = make_uint2((unsigned)w.first, (unsigned)w.last);
      if (SpgemmMakes(accumulator, (int)bin) || (sorted && PlanMadeBin(limits, SPGEMM_ESC, length, w) != COUNT_EMPTY)) made += PlanMadeRoom(accumulator, (int)bin, w);
      else unmade += sorted;
      atomicAdd(count + bin, 1u);
      products += w.products;
      units += cut;
      if (bin >= COUNT_128 && bin < COUNT_WINDOW && !SpgemmMakes(accumulator, (int)bin)) hash_words += w.words;
    }
    __syncwarp();
  }
  __syncthreads();
  if (threadIdx.x < SPGEMM_BINS && count[threadIdx.x]) atomicAdd(counters->count.rows + threadIdx.x, count[threadIdx.x]);
  for (int step = SYS_WARP / 2; step; step /= 2) {
    products += __shfl_xor_sync(SYS_ALL_LANES, products, step);
    units += __shfl_xor_sync(SYS_ALL_LANES, units, step);
    hash_words += __shfl_xor_sync(SYS_ALL_LANES, hash_words, step);
    window_words += __shfl_xor_sync(SYS_ALL_LANES, window_words, step);
    made += __shfl_xor_sync(SYS_ALL_LANES, made, step);
    unmade += __shfl_xor_sync(SYS_ALL_LANES, unmade, step);
  }
  if (threadIdx.x % SYS_WARP) return;
  if (products) atomicAdd(&counters->products, products);
  if (units) atomicAdd(&counters->units, units);
  if (hash_words) atomicAdd(&counters->hash_words, hash_words);
  if (window_words) atomicAdd(&counters->window_words, window_words);
  if (made) atomicAdd(&counters->made, made);
  if (unmade) atomicAdd(&counters->unmade, unmade);
}

SysStatus SpgemmDeviceClassify(const SpgemmOperands *P, const SpgemmLimits *limits, SpgemmAccumulator accumulator, int *size, unsigned *work, uint2 *range, unsigned char *kind, SpgemmCounters *counters, cudaStream_t stream)
{
  const int64_t blocks = SysBlocks((int64_t)P->m * TEAM, SYS_THREADS);

  return SysLaunch(PlanClassifyKernel, blocks < 4096 ? blocks : 4096, SYS_THREADS, 0, stream, *P, *limits, accumulator, size, work, range, kind, counters);
}

/* ---- Lists ---- */

/* Writes the lists, bin after bin. Neighbours mostly stay neighbours, for the caches; the order is otherwise irrelevant. Blocks after the first
   `blocks` write the second list. The first block copies the counters to pinned memory, which is faster than cudaMemcpyAsync(). Other blocks may change
   the counters' places meanwhile; the host does not read these. */
static __global__ void __launch_bounds__(1024) PlanScatterKernel(int n, unsigned blocks, SpgemmLists one, SpgemmLists other, const SpgemmCounters *counters, SpgemmCounters *host)
{
  __shared__ unsigned count[SPGEMM_BINS], base[SPGEMM_BINS];
  const bool          second = blockIdx.x >= blocks;
  SpgemmBins         *bins   = second ? other.bins : one.bins;
  int                *list   = second ? other.rows : one.rows;
  const int64_t       k      = (blockIdx.x - (second ? blocks : 0)) * (int64_t)1024 + threadIdx.x;
  const unsigned      b = k < n ? (second ? other.bin[k] & other.mask : one.bin[k] & one.mask) : SPGEMM_BINS, peers = __match_any_sync(SYS_ALL_LANES, b), below = peers & ((1u << threadIdx.x % SYS_WARP) - 1);
  unsigned            at = 0;

  if (blockIdx.x == 0) {
    for (unsigned w = threadIdx.x; w < sizeof(*counters) / sizeof(unsigned); w += 1024) ((unsigned *)host)[w] = ((const volatile unsigned *)counters)[w];
  }
  if (threadIdx.x < SPGEMM_BINS) count[threadIdx.x] = 0;
  __syncthreads();
  if (k < n && !below) at = atomicAdd(count + b, (unsigned)__popc(peers));
  at = __shfl_sync(SYS_ALL_LANES, at, __ffs((int)peers) - 1) + (unsigned)__popc(below);
  __syncthreads();
  if (threadIdx.x < SPGEMM_BINS && count[threadIdx.x]) {
    unsigned before = 0;

#pragma unroll 8
    for (unsigned c = 0; c < threadIdx.x; c++) before += bins->rows[c];
    base[threadIdx.x] = before + atomicAdd(bins->place + threadIdx.x, count[threadIdx.x]);
  }
  __syncthreads();
  if (k < n) list[base[b] + at] = (int)k;
}

SysStatus SpgemmDeviceScatter(int m, std::initializer_list<SpgemmLists> lists, const SpgemmCounters *counters, SpgemmCounters *host, cudaStream_t stream)
{
  const unsigned blocks = m ? SysBlocks(m, 1024) : 1;

  return SysLaunch(PlanScatterKernel, (int64_t)lists.size() * blocks, 1024, 0, stream, m, blocks, lists.begin()[0], lists.end()[-1], counters, host);
}

/* ---- Units ---- */

static __global__ void __launch_bounds__(SYS_THREADS) PlanUnitsKernel(int n, const int *rows, const int *size, const uint2 *range, SpgemmUnit *unit, int *first, SpgemmCounters *counters)
{
  const int k = (int)(blockIdx.x * SYS_THREADS + threadIdx.x);

  if (k >= n) return;
  const int      r     = rows[k];
  const unsigned count = (unsigned)size[r], words = range[r].y - range[r].x, each = (words + count - 1) / count;
  unsigned       begin = range[r].x;
  const unsigned at    = atomicAdd(&counters->unit_next, count);

  first[k] = (int)at;
  for (unsigned u = 0; u < count; u++, begin += each) {
    SpgemmUnit unit_k = {r, min(begin, range[r].y), min(begin + each, range[r].y), 0, count == 1 ? -1 : 0, SPGEMM_NOWORD};

    unit[at + u] = unit_k;
  }
}

SysStatus SpgemmDeviceUnits(int n, const int *rows, const int *size, const uint2 *range, SpgemmUnit *unit, int *first, SpgemmCounters *counters, cudaStream_t stream)
{
  return SysLaunch(PlanUnitsKernel, SysBlocks(n, SYS_THREADS), SYS_THREADS, 0, stream, n, rows, size, range, unit, first, counters);
}

/* One warp for each row with units: their places in it, and its entries */
static __global__ void __launch_bounds__(SYS_THREADS) PlanSumUnitsKernel(int n, const int *rows, const int *first, SpgemmUnit *unit, int *size)
{
  const int k = (int)((blockIdx.x * (int64_t)SYS_THREADS + threadIdx.x) / SYS_WARP), lane = (int)(threadIdx.x % SYS_WARP);

  if (k >= n) return;
  const int   r = rows[k], units = size[r];
  SpgemmUnit *u   = unit + first[k];
  int         sum = 0;

  for (int u0 = 0; u0 < units; u0 += SYS_WARP) {
    const int own   = u0 + lane < units ? u[u0 + lane].entries : 0;
    int       until = own;

    for (int step = 1; step < SYS_WARP; step *= 2) {
      const int other = __shfl_up_sync(SYS_ALL_LANES, until, (unsigned)step);

      if (lane >= step) until += other;
    }
    if (u0 + lane < units) u[u0 + lane].offset = sum + until - own;
    sum += __shfl_sync(SYS_ALL_LANES, until, SYS_WARP - 1);
  }
  if (lane == 0) size[r] = sum;
}

SysStatus SpgemmDeviceSumUnits(int n, const int *rows, const int *first, SpgemmUnit *unit, int *size, cudaStream_t stream)
{
  return SysLaunch(PlanSumUnitsKernel, SysBlocks((int64_t)n * SYS_WARP, SYS_THREADS), SYS_THREADS, 0, stream, n, rows, first, unit, size);
}

/* ---- Rows of known size ---- */

static __device__ unsigned PlanPatternBin(const SpgemmLimits &limits, unsigned char kind, bool made, unsigned words, bool sorted, int size)
{
  const unsigned bin = SPGEMM_KIND_BIN(kind), team = SPGEMM_KIND_TEAM(kind);

  if (made) return PATTERN_MADE;
  if (bin == COUNT_EMPTY) return PATTERN_EMPTY;
  if (bin == COUNT_COPY) return PATTERN_COPY;
  if (bin >= COUNT_SORT_64 && bin <= COUNT_SORT_512) return sorted ? (size <= 64 ? PATTERN_SORTED_64 : PATTERN_SORTED_MORE) : PATTERN_SORT_64 + bin - COUNT_SORT_64;
  if (words != SPGEMM_NOT_KEPT) return size <= 32 ? PATTERN_KEPT_32 : size <= 64 ? PATTERN_KEPT_64 : PATTERN_KEPT_MORE;
  if (bin == COUNT_WINDOW) return PATTERN_WINDOW;
  if (team == 0 && size <= 64) return size <= 32 ? PATTERN_8_32 : PATTERN_8_64;
  if (team <= 1 && size <= 128) return size <= 64 ? PATTERN_16_64 : PATTERN_16_128;
  return size <= 64 ? PATTERN_32_64 : size <= 128 ? PATTERN_32_128 : size <= 256 ? PATTERN_32_256 : size <= 512 ? PATTERN_32_512 : size <= 1024 || limits.hash_words <= SPGEMM_HASH_WORDS2 ? PATTERN_32_1024 : PATTERN_32_MORE;
}

static __device__ unsigned PlanValuesKind(const SpgemmLimits &limits, unsigned char kind, int size)
{
  const unsigned bin = SPGEMM_KIND_BIN(kind), team = SPGEMM_KIND_TEAM(kind);
  const bool     words = SPGEMM_KIND_WORDS(kind);

  if (bin == COUNT_EMPTY) return VALUES_EMPTY;
  if (bin == COUNT_COPY) return VALUES_COPY;
  if (size > (team == 4 ? 0 : team == 3 ? 128 : words ? SPGEMM_TEAM_ENTRIES / 2 : SPGEMM_TEAM_ENTRIES)) return VALUES_PARTS;
  if (words) {
    if (team == 0 && size <= 64) return size <= 32 ? VALUES_WORDS_8_32 : VALUES_WORDS_8_64;
    if (team <= 1 && size <= limits.team_entries[1]) return size <= 64 ? VALUES_WORDS_16_64 : size <= 128 ? VALUES_WORDS_16_128 : VALUES_WORDS_16_256;
    return size <= 64 ? VALUES_WORDS_32_64 : size <= 128 ? VALUES_WORDS_32_128 : VALUES_WORDS_32_256;
  }
  if (team == 0 && size <= 64) return size <= 32 ? VALUES_8_32 : VALUES_8_64;
  if (team <= 1 && size <= limits.team_entries[0]) return size <= 64 ? VALUES_16_64 : size <= 128 ? VALUES_16_128 : size <= 256 ? VALUES_16_256 : VALUES_16_384;
  return size <= 64 ? VALUES_32_64 : size <= 128 ? VALUES_32_128 : size <= 256 ? VALUES_32_256 : VALUES_32_512;
}

/* Returns the parts for the entries, or more for many products, of equally many entries */
static __device__ int PlanPartsOf(int size, unsigned work)
{
  const int least = (size + SPGEMM_PART_ENTRIES - 1) / SPGEMM_PART_ENTRIES, most = (size + SPGEMM_PART_LEAST - 1) / SPGEMM_PART_LEAST;

  return max(least, min((int)(work / SPGEMM_PART_PRODUCTS), most));
}

static __device__ int PlanPartClass(int size, int parts)
{
  const int each = (size + parts - 1) / parts;

  return each <= SPGEMM_PART_ENTRIES / 4 ? 0 : each <= SPGEMM_PART_ENTRIES / 2 ? 1 : 2;
}

static __global__ void __launch_bounds__(1024) PlanReclassifyKernel(int m, SpgemmLimits limits, SpgemmAccumulator accumulator, const unsigned char *kind, const unsigned char *words, const unsigned *place, bool sorted, const int *size, const unsigned *work, const int *Ai, unsigned char *line, unsigned char *pattern, unsigned char *values, SpgemmCounters *counters)
{
  __shared__ unsigned           count[2][SPGEMM_BINS], parts[SPGEMM_PART_CLASSES], line_rows, line_products;
  __shared__ unsigned long long nonzeros;
  const int64_t                 r     = blockIdx.x * (int64_t)1024 + threadIdx.x;
  unsigned long long            n     = 0;
  unsigned                      lined = 0; /* few products of rows in lines */

  if (threadIdx.x < SPGEMM_BINS) count[0][threadIdx.x] = count[1][threadIdx.x] = 0;
  if (threadIdx.x < SPGEMM_PART_CLASSES) parts[threadIdx.x] = 0;
  if (threadIdx.x == 0) nonzeros = line_products = line_rows = 0;
  __syncthreads();
  if (r < m) {
    if (line) {
      if (line[r] && size[r] <= SPGEMM_LINE_ENTRIES && work[r] >= SPGEMM_LINE_PRODUCTS * (unsigned)size[r]) lined = work[r];
      line[r] = lined > 0;
    }
    const bool     made = SpgemmMakes(accumulator, SPGEMM_KIND_BIN(kind[r])) && place[r] != SPGEMM_NOWORD;
    const unsigned p = PlanPatternBin(limits, kind[r], made, words[r], sorted, size[r]), v = lined ? (unsigned)VALUES_EMPTY : PlanValuesKind(limits, kind[r], size[r]); /* no work for other kernels */

    pattern[r] = (unsigned char)p;
    values[r]  = (unsigned char)(2 * v + made);
    n          = (unsigned)size[r];
    atomicAdd(count[0] + p, 1u);
    atomicAdd(count[1] + 2 * v + made, 1u);
    if (v == VALUES_PARTS) {
      const int cut = PlanPartsOf(size[r], work[r]);

      atomicAdd(parts + PlanPartClass(size[r], cut), (unsigned)cut);
      atomicAdd(&counters->pairs, work[r] > INT_MAX ? SPGEMM_COUNTED_PAIRS : (unsigned long long)cut * (unsigned)(Ai[r + 1] - Ai[r]));
    }
  }
  __syncwarp();
  for (int step = SYS_WARP / 2; step; step /= 2) n += __shfl_xor_sync(SYS_ALL_LANES, n, step);
  if (threadIdx.x % SYS_WARP == 0 && n) atomicAdd(&nonzeros, n);
  if (line) {
    const unsigned rows = (unsigned)__popc(__ballot_sync(SYS_ALL_LANES, lined > 0)), products = __reduce_add_sync(SYS_ALL_LANES, lined);

    if (threadIdx.x % SYS_WARP == 0 && rows) {
      atomicAdd(&line_rows, rows);
      atomicAdd(&line_products, products);
    }
  }
  __syncthreads();
  if (threadIdx.x < SPGEMM_BINS && count[0][threadIdx.x]) atomicAdd(counters->pattern.rows + threadIdx.x, count[0][threadIdx.x]);
  if (threadIdx.x < SPGEMM_BINS && count[1][threadIdx.x]) atomicAdd(counters->values.rows + threadIdx.x, count[1][threadIdx.x]);
  if (threadIdx.x < SPGEMM_PART_CLASSES && parts[threadIdx.x]) atomicAdd(counters->parts + threadIdx.x, parts[threadIdx.x]);
  if (threadIdx.x == 0 && nonzeros) atomicAdd(&counters->nonzeros, nonzeros);
  if (threadIdx.x == 0 && line_rows) atomicAdd(&counters->line_rows, line_rows);
  if (threadIdx.x == 0 && line_rows) atomicAdd(&counters->line_products, (unsigned long long)line_products);
}

SysStatus SpgemmDeviceReclassify(int m, const SpgemmLimits *limits, SpgemmAccumulator accumulator, const unsigned char *kind, const unsigned char *words, const unsigned *place, bool sorted, const int *size, const unsigned *work, const int *Ai, unsigned char *line, unsigned char *pattern, unsigned char *values, SpgemmCounters *counters, cudaStream_t stream)
{
  return SysLaunch(PlanReclassifyKernel, SysBlocks(m, 1024), 1024, 0, stream, m, *limits, accumulator, kind, words, place, sorted, size, work, Ai, line, pattern, values, counters);
}

/* Class after class, the longest at the begin of the memory: they start first */
static __global__ void __launch_bounds__(SYS_THREADS) PlanPartsKernel(int n, const int *rows, const int *size, const unsigned *work, SpgemmPart *part, SpgemmCounters *counters)
{
  __shared__ unsigned count[SPGEMM_PART_CLASSES], base[SPGEMM_PART_CLASSES];
  const int64_t       k = blockIdx.x * (int64_t)SYS_THREADS + threadIdx.x;
  const int           r = k < n ? rows[k] : -1, entries = k < n ? size[r] : 0, parts = k < n ? PlanPartsOf(entries, work[r]) : 0, c = k < n ? PlanPartClass(entries, parts) : 0;
  unsigned            at = 0;

  if (threadIdx.x < SPGEMM_PART_CLASSES) count[threadIdx.x] = 0;
  __syncthreads();
  if (k < n) at = atomicAdd(count + c, (unsigned)parts);
  __syncthreads();
  if (threadIdx.x < SPGEMM_PART_CLASSES && count[threadIdx.x]) {
    unsigned before = 0;

    for (unsigned other = threadIdx.x + 1; other < SPGEMM_PART_CLASSES; other++) before += counters->parts[other];
    base[threadIdx.x] = before + atomicAdd(counters->part_place + threadIdx.x, count[threadIdx.x]);
  }
  __syncthreads();
  if (k >= n) return;
  const int each = (entries + parts - 1) / parts;

  for (int p = 0; p < parts; p++) {
    const SpgemmPart one = {r, p * each, min(each, entries - p * each)};

    part[base[c] + at + (unsigned)p] = one;
  }
}

SysStatus SpgemmDeviceParts(int n, const int *rows, const int *size, const unsigned *work, SpgemmPart *part, SpgemmCounters *counters, cudaStream_t stream)
{
  return SysLaunch(PlanPartsKernel, SysBlocks(n, SYS_THREADS), SYS_THREADS, 0, stream, n, rows, size, work, part, counters);
}

#define EACH_WARP 2 /* parts of a warp */

/* Sets each part's kind, which selects its kernel; a warp handles parts in turn */
static __global__ void __launch_bounds__(SYS_THREADS) PlanOrderPartsKernel(const SpgemmPart *part, int n, int room, const int *Ci, const int *Cj, int *order, unsigned *count)
{
  constexpr int       All = SYS_THREADS / SYS_WARP * EACH_WARP;
  __shared__ unsigned kinds[All], own[SPGEMM_PART_KINDS], base[SPGEMM_PART_KINDS];
  const int           lane = (int)(threadIdx.x % SYS_WARP), warp = (int)(threadIdx.x / SYS_WARP);

  if (threadIdx.x < SPGEMM_PART_KINDS) own[threadIdx.x] = 0;
  for (int p = warp * EACH_WARP; p < (warp + 1) * EACH_WARP; p++) {
    const int k    = (int)blockIdx.x * All + p;
    unsigned  kind = SPGEMM_PART_WIDE, words = 0;

    if (k < n) {
      const int first = Ci[part[k].row] + part[k].first, entries = part[k].entries;

      if ((Cj[first + entries - 1] >> 5) - (Cj[first] >> 5) < room / SPGEMM_PART_NARROW_SHARE) kind = SPGEMM_PART_NARROW;
      else {
        for (int e = lane; e < entries; e += SYS_WARP) words += !e || (Cj[first + e - 1] ^ Cj[first + e]) >> 5;
        __syncwarp();
        if (__reduce_add_sync(SYS_ALL_LANES, words) <= (unsigned)room / SPGEMM_PART_WORDS_SHARE) kind = SPGEMM_PART_WORDS;
      }
    }
    if (lane == 0) kinds[p] = kind;
  }
  __syncthreads();
  const int      k    = (int)blockIdx.x * All + (int)threadIdx.x;
  const bool     mine = threadIdx.x < All && k < n;
  const unsigned kind = mine ? kinds[threadIdx.x] : 0;
  unsigned       at   = 0;
  if (mine) at = atomicAdd(own + kind, 1u);
  __syncthreads();
  if (threadIdx.x < SPGEMM_PART_KINDS && own[threadIdx.x]) base[threadIdx.x] = atomicAdd(count + threadIdx.x, own[threadIdx.x]);
  __syncthreads();
  if (mine) order[(int64_t)kind * n + base[kind] + at] = k;
}

SysStatus SpgemmDeviceOrderParts(int part_class, const SpgemmPart *part, int n, const int *Ci, const int *Cj, int *order, unsigned count[SPGEMM_PART_KINDS], cudaStream_t stream)
{
  const int room = SPGEMM_PART_ENTRIES >> (SPGEMM_PART_CLASSES - 1 - part_class);

  return SysLaunch(PlanOrderPartsKernel, SysBlocks(n, SYS_THREADS / SYS_WARP * EACH_WARP), SYS_THREADS, 0, stream, part, n, room, Ci, Cj, order, count);
}

SysStatus SpgemmDeviceScanSize(int m, size_t *bytes)
{
  SYS_CUDA(SysExclusiveSum(NULL, *bytes, (const int *)NULL, (int *)NULL, m + 1, 0));
  return SYS_SUCCESS;
}

/* size: m + 1 numbers, the last ignored */
SysStatus SpgemmDeviceScan(int m, const int *size, int *i, void *work, size_t bytes, cudaStream_t stream)
{
  SYS_CUDA(SysExclusiveSum(work, bytes, size, i, m + 1, stream));
  return SYS_SUCCESS;
}

/* ---- Places ---- */

static __global__ void __launch_bounds__(SYS_THREADS) PlanRowProductsKernel(SpgemmOperands P, const unsigned char *line, unsigned long long *products)
{
  const int64_t      r     = (blockIdx.x * (int64_t)SYS_THREADS + threadIdx.x) / TEAM;
  const bool         there = r < P.m && !(line && line[r]);
  const int          lane = (int)(threadIdx.x % TEAM), begin = there ? P.Ai[r] : 0, end = there ? P.Ai[r + 1] : 0;
  unsigned long long n = 0;

  for (int k = begin + lane; k < end; k += TEAM) n += (unsigned)(P.Bi[P.Aj[k] + 1] - P.Bi[P.Aj[k]]);
  __syncwarp();
  for (int step = TEAM / 2; step; step /= 2) n += __shfl_xor_sync(SYS_ALL_LANES, n, step);
  if (r < P.m && lane == 0) products[r] = n;
}

SysStatus SpgemmDevicePlacesSize(int m, size_t *bytes)
{
  SYS_CUDA(SysExclusiveSum(NULL, *bytes, (const unsigned long long *)NULL, (unsigned long long *)NULL, m, 0));
  return SYS_SUCCESS;
}

SysStatus SpgemmDevicePlaces(const SpgemmOperands *P, const unsigned char *line, unsigned long long *offset, void *work, size_t bytes, cudaStream_t stream)
{
  SYS_CALL(SysLaunch(PlanRowProductsKernel, SysBlocks((int64_t)P->m * TEAM, SYS_THREADS), SYS_THREADS, 0, stream, *P, line, offset));
  SYS_CUDA(SysExclusiveSum(work, bytes, offset, offset, P->m, stream));
  return SYS_SUCCESS;
}
