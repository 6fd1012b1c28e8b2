/* SPDX-License-Identifier: BSD-2-Clause */
/*
   SpGEMM on the device, accumulator dense: the pattern of rows of many products, cut into windows of columns. A unit is one window of one row; a block
   computes it with one bit for each column in shared memory, from which columns come in order. A word is 32 neighbouring columns, one bit each.

   First all units are counted (WindowCountKernel), then their columns are written (WindowPatternKernel). If memory suffices the count stores the
   nonempty words (SpgemmKept), so that the second pass need not read B again; else it sets the bits again. spgemmcuda.cuh has the idea and the types.
*/
#include <limits.h>

#include "mat/impls/hashgemm/cuda/spgemmcudateam.cuh"

/* Returns the number of words less than w among n ascending ones */
static __device__ int WindowWordsLess(const uint2 *a, int n, unsigned w)
{
  int lo = 0, hi = n;

  while (lo < hi) {
    const int mid = lo + (hi - lo) / 2;

    if (a[mid].x < w) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

#define WARPS (SPGEMM_UNIT_THREADS / SYS_WARP)

/*
   Sets the bits of the unit's columns from the words of B, in any order; word w is bits[w - begin]. In a long row of A the warps take entries in
   turn; otherwise all handle the same entry and take words in turn.
*/
static __device__ void WindowSetBits(const SpgemmOperands &P, const SpgemmUnit &unit, unsigned *bits)
{
  const int lane = (int)(threadIdx.x % SYS_WARP), warp = (int)(threadIdx.x / SYS_WARP), first = P.Ai[unit.row], last = P.Ai[unit.row + 1];
  const int apart = last - first >= 2 * SPGEMM_UNIT_THREADS;

  for (unsigned w = threadIdx.x; w < unit.end - unit.begin; w += SPGEMM_UNIT_THREADS) bits[w] = 0;
  __syncthreads();
  for (int k0 = first + (apart ? warp * SYS_WARP : 0); k0 < last; k0 += apart ? SPGEMM_UNIT_THREADS : SYS_WARP) {
    const int k    = k0 + lane;
    int       from = 0, length = 0, until, total;

    if (k < last) {
      const int4 b = P.rowB[P.Aj[k]]; /* first word, words, first and last column */

      from   = b.x;
      length = b.y;
      if (length && (unsigned)b.z >> 5 < unit.begin) {
        const int skip = WindowWordsLess(P.wordB + from, length, unit.begin);

        from += skip;
        length -= skip;
      }
      if (length && (unsigned)b.w >> 5 >= unit.end) length = WindowWordsLess(P.wordB + from, length, unit.end);
    }
    __syncwarp();
    until = TeamUntil<SYS_WARP>(length, lane);
    from -= until - length; /* word t of all the warp's entries is from + t in B, with the entry's from */
    total = __shfl_sync(SYS_ALL_LANES, until, SYS_WARP - 1);
    for (int t0 = apart ? 0 : warp * SYS_WARP; t0 < total; t0 += apart ? SYS_WARP : SPGEMM_UNIT_THREADS) {
      const int t = t0 + lane, place = __shfl_sync(SYS_ALL_LANES, from, TeamOwner<SYS_WARP>(until, t)) + t;

      if (t < total) {
        const uint2        word = P.wordB[place];
        volatile unsigned *to   = bits + (word.x - unit.begin);

        if (word.y & ~*to) atomicOr(bits + (word.x - unit.begin), word.y);
      }
    }
    __syncwarp();
  }
  __syncthreads();
}

/* Returns the bits set in n words, to all lanes */
static __device__ int WindowCountBits(const unsigned *bits, int n, int lane)
{
  int sum = 0;

  for (int w = lane; w < n; w += SYS_WARP) sum += __popc(bits[w]);
  __syncwarp();
  return __reduce_add_sync(SYS_ALL_LANES, sum);
}

/* Returns the words for each warp */
static __device__ __forceinline__ int WindowEachOf(int words)
{
  return (words + SPGEMM_UNIT_THREADS - 1) / SPGEMM_UNIT_THREADS * SYS_WARP;
}

/* ---- Count ---- */

/* Stores the nonempty words: of a row with one unit and at most kept.capacity words as pairs (word, bits) at the row's place, else at the unit's place,
   for each 32 words a mask of the nonempty ones and after all masks these words. A warp handles the words from begin to end, of which `own` are
   nonempty. */
static __device__ __forceinline__ void WindowKeep(const unsigned *bits, int begin, int end, int own, int lane, int warp, const SpgemmUnit &unit, const SpgemmKept &kept, unsigned *unit_kept)
{
  __shared__ int      count[WARPS];
  __shared__ unsigned place;
  const unsigned      groups = (unit.end - unit.begin + SYS_WARP - 1) / SYS_WARP;
  int                 total = 0, before = 0;

  if (lane == 0) count[warp] = own;
  __syncthreads();
  for (int other = 0; other < WARPS; other++) {
    if (other < warp) before += count[other];
    total += count[other];
  }
  const bool row = unit.offset < 0 && kept.capacity && total <= kept.capacity;
  if (threadIdx.x == 0) {
    if (row) kept.words[unit.row] = (unsigned char)total;
    else {
      const unsigned long long size = groups + (unsigned)total, at = kept.room ? atomicAdd(kept.bits_next, size) : 0;

      place      = at + size <= kept.room ? (unsigned)at : SPGEMM_NOWORD;
      *unit_kept = place;
    }
  }
  __syncthreads();
  if (!row && place == SPGEMM_NOWORD) return;
  uint2    *word  = kept.word + (size_t)unit.row * (size_t)kept.capacity + before;
  unsigned *group = kept.bits + place, *to = group + groups + before;
  for (int w0 = begin; w0 < end; w0 += SYS_WARP) {
    const unsigned mine = w0 + lane < end ? bits[w0 + lane] : 0, all = __ballot_sync(SYS_ALL_LANES, mine != 0);
    const int      at = __popc(all & ((1u << lane) - 1));

    if (row) {
      if (mine) word[at] = make_uint2(unit.begin + (unsigned)(w0 + lane), mine);
      word += __popc(all);
    } else {
      if (lane == 0) group[w0 / SYS_WARP] = all;
      if (mine) to[at] = mine;
      to += __popc(all);
    }
  }
}

static __global__ void __launch_bounds__(SPGEMM_UNIT_THREADS) WindowCountKernel(SpgemmOperands P, SpgemmUnit *units, SpgemmKept kept)
{
  __shared__ unsigned bits[SPGEMM_UNIT_WORDS];
  __shared__ int      count;
  const SpgemmUnit    unit = units[blockIdx.x];
  const int           lane = (int)(threadIdx.x % SYS_WARP), warp = (int)(threadIdx.x / SYS_WARP);
  const int           words = (int)(unit.end - unit.begin), each = WindowEachOf(words), begin = min(warp * each, words), end = min(begin + each, words);
  int                 sum = 0, own = 0;

  if (threadIdx.x == 0) count = 0;
  WindowSetBits(P, unit, bits);
  for (int w0 = begin; w0 < end; w0 += SYS_WARP) {
    const unsigned mine = w0 + lane < end ? bits[w0 + lane] : 0;

    sum += __popc(mine);
    own += __popc(__ballot_sync(SYS_ALL_LANES, mine != 0));
  }
  sum = __reduce_add_sync(SYS_ALL_LANES, sum);
  if (lane == 0 && sum) atomicAdd(&count, sum);
  __syncthreads();
  if (threadIdx.x == 0) units[blockIdx.x].entries = count;
  if (kept.room || (kept.capacity && unit.offset < 0)) WindowKeep(bits, begin, end, own, lane, warp, unit, kept, &units[blockIdx.x].kept);
}

SysStatus SpgemmDeviceWindowCount(const SpgemmOperands *P, SpgemmUnit *units, int n, const SpgemmKept *kept, cudaStream_t stream)
{
  return SysLaunch(WindowCountKernel, n, SPGEMM_UNIT_THREADS, 0, stream, *P, units, *kept);
}

/* ---- The pattern ---- */

/* Loads the bits that WindowKeep() stored at the unit's place; a warp handles the words from begin to end */
static __device__ __forceinline__ void WindowGetBits(const unsigned *kept, int words, int begin, int end, int lane, unsigned *bits)
{
  const int      groups = (words + SYS_WARP - 1) / SYS_WARP, first = begin / SYS_WARP, n = (end - begin + SYS_WARP - 1) / SYS_WARP;
  const unsigned own    = lane < n ? kept[first + lane] : 0;
  const int      until  = TeamUntil<SYS_WARP>(__popc(own), lane);
  int            before = 0;

  for (int g = lane; g < first; g += SYS_WARP) before += __popc(kept[g]);
  __syncwarp();
  kept += groups + __reduce_add_sync(SYS_ALL_LANES, before);
#pragma unroll 4
  for (int g = 0; g < n; g++) {
    const unsigned all  = __shfl_sync(SYS_ALL_LANES, own, g);
    const int      from = __shfl_sync(SYS_ALL_LANES, until, g) - __popc(all);

    bits[begin + g * SYS_WARP + lane] = all >> lane & 1 ? kept[from + __popc(all & ((1u << lane) - 1))] : 0;
  }
  __syncwarp();
}

/* A warp writes the columns of the unit's words from begin to end */
static __device__ void WindowWriteColumns(const unsigned *bits, unsigned first, int begin, int end, int lane, int *to)
{
  for (int w0 = begin; w0 < end; w0 += SYS_WARP) {
    const int w    = w0 + lane;
    unsigned  mine = w < end ? bits[w] : 0;
    const int n = __popc(mine), until = TeamUntil<SYS_WARP>(n, lane);

    if (__reduce_max_sync(SYS_ALL_LANES, n) <= 6) { /* few bits: each lane writes its word's */
      for (int at = until - n; mine; mine &= mine - 1) to[at++] = (int)((first + (unsigned)w) << 5) + __ffs((int)mine) - 1;
      __syncwarp();
    } else { /* word after word, a lane for each bit */
      for (int l = 0; l < SYS_WARP; l++) {
        const unsigned word = __shfl_sync(SYS_ALL_LANES, mine, l);
        const int      at   = __shfl_sync(SYS_ALL_LANES, until - n, l);

        if (word >> lane & 1) to[at + __popc(word & ((1u << lane) - 1))] = (int)((first + (unsigned)(w0 + l)) << 5) + lane;
      }
    }
    to += __shfl_sync(SYS_ALL_LANES, until, SYS_WARP - 1);
  }
}

static __global__ void __launch_bounds__(SPGEMM_UNIT_THREADS) WindowPatternKernel(SpgemmOperands P, const SpgemmUnit *units, SpgemmKept kept, const int *Ci, int *Cj)
{
  __shared__ unsigned bits[SPGEMM_UNIT_WORDS];
  __shared__ int      count[WARPS];
  const SpgemmUnit    unit = units[blockIdx.x];
  const int           lane = (int)(threadIdx.x % SYS_WARP), warp = (int)(threadIdx.x / SYS_WARP);
  const int           words = (int)(unit.end - unit.begin), each = WindowEachOf(words), begin = min(warp * each, words), end = min(begin + each, words);
  int                *to = Cj + Ci[unit.row] + unit.offset, own;

  if (kept.words[unit.row] != SPGEMM_NOT_KEPT) return;
  if (unit.kept != SPGEMM_NOWORD) WindowGetBits(kept.bits + unit.kept, words, begin, end, lane, bits);
  else WindowSetBits(P, unit, bits);
  own = WindowCountBits(bits + begin, end - begin, lane);
  if (lane == 0) count[warp] = own;
  __syncthreads();
  for (int other = 0; other < warp; other++) to += count[other];
  WindowWriteColumns(bits, unit.begin, begin, end, lane, to);
}

SysStatus SpgemmDeviceWindowPattern(const SpgemmOperands *P, const SpgemmUnit *units, int n, const SpgemmKept *kept, const int *Ci, int *Cj, cudaStream_t stream)
{
  return SysLaunch(WindowPatternKernel, n, SPGEMM_UNIT_THREADS, 0, stream, *P, units, *kept, Ci, Cj);
}
