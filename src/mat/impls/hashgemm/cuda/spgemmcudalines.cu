/* SPDX-License-Identifier: BSD-2-Clause */
/*
   SpGEMM on the device: values of lines of shifted rows, into a known pattern.

   On a grid most rows have the previous row's columns shifted by one. If that holds for a row of A and for all rows of B that it names, it holds for
   the row of C too, and the terms of the sums at one place are at the same places in all rows of the line. A block computes a group of such rows, one
   a lane: no look-ups a lane, and no bank conflicts. Consecutive rows of B in a row of A, a run, are one contiguous piece for all rows of the group.

   spgemmhost.h has the idea.
*/
#include <limits.h>

#include <cuda_pipeline.h>

#include "mat/impls/hashgemm/cuda/spgemmcudateam.cuh"

#define LINE_ROWS SYS_WARP /* most rows of a group */
#define LINE_TEAM 8

extern __shared__ uint4 lines_shared[];

/* ---- The search ---- */

/* Returns to all lanes of a team whether row r has the previous row's columns shifted by one; all lanes of the warp take part */
template <typename F>
static __device__ __forceinline__ bool LinesIsShifted(int m, const int *i, const int *j, int64_t r, int most, const F &also)
{
  const unsigned lane = threadIdx.x % LINE_TEAM, mine = ((1u << LINE_TEAM) - 1) << (threadIdx.x % SYS_WARP - lane);
  const int      begin = r > 0 && r < m ? i[r] : 0, length = r > 0 && r < m ? i[r + 1] - begin : 0;
  bool           same = length > 0 && length <= most && begin - i[r - 1] == length;

  for (int e = (int)lane; __any_sync(SYS_ALL_LANES, same && e - (int)lane < length); e += LINE_TEAM) {
    const bool other = same && e < length && (j[begin + e] != j[begin - length + e] + 1 || !also(j[begin + e]));

    if (__ballot_sync(SYS_ALL_LANES, other) & mine) same = false;
  }
  return same;
}

static __global__ void __launch_bounds__(SYS_THREADS) LinesShiftedKernel(SpgemmOperands P, unsigned char *shifted, SpgemmCounters *counters)
{
  const int64_t r    = (blockIdx.x * (int64_t)SYS_THREADS + threadIdx.x) / LINE_TEAM;
  const bool    mine = r < P.k && threadIdx.x % LINE_TEAM == 0, same = LinesIsShifted(P.k, P.Bi, P.Bj, r, SPGEMM_LINE_LENGTH, [](int) { return true; });

  if (mine) shifted[r] = same;
  if (blockIdx.x % SPGEMM_LINE_SAMPLE == 0) {
    const int more = 4 * __popc(__ballot_sync(SYS_ALL_LANES, mine && same)) - 3 * __popc(__ballot_sync(SYS_ALL_LANES, mine));

    if (threadIdx.x % SYS_WARP == 0) atomicAdd((unsigned long long *)&counters->shifted, (unsigned long long)(long long)more);
  }
}

/* A group's data in the block, and the lane's data of the row of B for its entry of A */
typedef struct {
  int      begin, length; /* of the first row of A */
  unsigned heads;         /* entries of A that begin a run */
  int      from, entries; /* of the run that the lane's entry begins */
  int      own;           /* entries of the lane's row of B */
  int      shift;         /* offset of its columns from the run's first row's */
  int      tile, column;  /* its place in the tiles, and that first row's columns' place */
  int      tiles, columns, products;
} LineGroup;

/* Lays out the group; returns whether the rows are one. All lanes of a warp take part. */
static __device__ __forceinline__ bool LinesLayOut(const SpgemmOperands &P, int row, int count, int lane, LineGroup *g)
{
  const int begin = P.Ai[row], length = P.Ai[row + 1] - begin, all = P.Ai[row + count] - begin;

  if (length < 1 || length > SYS_WARP || all != count * length) return false;
  const int      c      = lane < length ? P.Aj[begin + lane] : -1;
  const int      before = __shfl_up_sync(SYS_ALL_LANES, c, 1);
  const bool     head   = lane < length && (lane == 0 || c != before + 1);
  const unsigned heads = __ballot_sync(SYS_ALL_LANES, head), until = (2u << lane) - 1, later = heads & ~until;
  const int      first = SYS_WARP - 1 - __clz((int)(heads & until)), rows = (later ? __ffs((int)later) - 1 : length) - lane + count - 1;
  const int      from = lane < length ? P.Bi[c] : 0, own = lane < length ? P.Bi[c + 1] - from : 0;
  const bool     good    = own <= SPGEMM_LINE_LENGTH && (!head || (c <= P.k - rows && P.Bi[c + rows] - from == rows * own));
  const int      entries = head && good ? rows * own : 0, tile = TeamUntil<SYS_WARP>(entries, lane), column = TeamUntil<SYS_WARP>(head && good ? own : 0, lane);

  g->begin    = begin;
  g->length   = length;
  g->heads    = heads;
  g->from     = from;
  g->entries  = entries;
  g->own      = own;
  g->shift    = lane - first;
  g->tile     = __shfl_sync(SYS_ALL_LANES, tile - entries, first) + g->shift * own;
  g->column   = __shfl_sync(SYS_ALL_LANES, column - (head && good ? own : 0), first);
  g->tiles    = __shfl_sync(SYS_ALL_LANES, tile, SYS_WARP - 1);
  g->columns  = __shfl_sync(SYS_ALL_LANES, column, SYS_WARP - 1);
  g->products = __reduce_add_sync(SYS_ALL_LANES, own);
  return __all_sync(SYS_ALL_LANES, good);
}

/* For each warp a list of terms; tiles of B, later the result; rows of A; columns. Rows are padded to an odd length against bank conflicts. */
static __device__ __forceinline__ int LinesListRoom(const LineGroup &g)
{
  return (g.length + 3) / 4 * 4;
}

static __device__ __forceinline__ int LinesTileRoom(const LineGroup &g, int count, int size)
{
  return max(g.tiles, count * (size | 1));
}

static __device__ __forceinline__ unsigned LinesBytes(const LineGroup &g, int count, int size)
{
  return (unsigned)(sizeof(unsigned) * (size_t)(SPGEMM_LINE_WARPS * LinesListRoom(g)) + sizeof(SysScalar) * (size_t)(LinesTileRoom(g, count, size) + count * (g.length | 1)) + sizeof(int) * (size_t)g.columns);
}

/* Finds lines: a row belongs to its predecessor's line if its row of A is shifted, and all rows of B that it names. Lines are cut into groups at
   LINE_ROWS rows and at the end of the block's rows. */
static __global__ void __launch_bounds__(SPGEMM_LINE_SEARCHED) LinesSearchKernel(SpgemmOperands P, unsigned room, SpgemmLines lines, SpgemmCounters *counters)
{
  __shared__ unsigned char joined[SPGEMM_LINE_SEARCHED], taken[SPGEMM_LINE_SEARCHED];
  __shared__ unsigned      ends[SPGEMM_LINE_SEARCHED / SYS_WARP], found, kept, bytes, base;
  __shared__ int2          group[SPGEMM_LINE_SEARCHED / SPGEMM_LINE_ROWS_LEAST];
  const int                t = (int)threadIdx.x, lane = t % SYS_WARP, warp = t / SYS_WARP;
  const int64_t            row0 = blockIdx.x * (int64_t)SPGEMM_LINE_SEARCHED, row = row0 + t;

  if (counters->shifted < 0) {
    if (row < P.m) lines.line[row] = 0;
    return;
  }
  if (t == 0) found = kept = bytes = 0;
  taken[t] = 0;
  for (int k = t / LINE_TEAM; k < SPGEMM_LINE_SEARCHED; k += SPGEMM_LINE_SEARCHED / LINE_TEAM) {
    const bool same = LinesIsShifted(P.m, P.Ai, P.Aj, row0 + k, SYS_WARP, [&](int c) { return lines.shifted[c] != 0; });

    if (t % LINE_TEAM == 0) joined[k] = same && k;
  }
  __syncthreads();
  unsigned bits = __ballot_sync(SYS_ALL_LANES, !joined[t]);
  if (lane == 0) ends[warp] = bits;
  __syncthreads();
  int begin = warp, end = warp;
  bits = ends[warp] & ((2u << lane) - 1);
  while (!bits) bits = ends[--begin]; /* the first row begins a line */
  begin = begin * SYS_WARP + SYS_WARP - 1 - __clz((int)bits);
  bits  = ends[warp] & ~((2u << lane) - 1);
  while (!bits && ++end < SPGEMM_LINE_SEARCHED / SYS_WARP) bits = ends[end];
  end             = bits ? end * SYS_WARP + __ffs((int)bits) - 1 : SPGEMM_LINE_SEARCHED;
  const int first = begin + (t - begin) / LINE_ROWS * LINE_ROWS, count = min(LINE_ROWS, end - first);
  if (t == first && count >= SPGEMM_LINE_ROWS_LEAST) group[atomicAdd(&found, 1u)] = make_int2(t, count);
  __syncthreads();
  for (unsigned k = (unsigned)warp; k < found; k += SPGEMM_LINE_SEARCHED / SYS_WARP) {
    const int2 now = group[k];
    LineGroup  g;

    if (!LinesLayOut(P, (int)row0 + now.x, now.y, lane, &g)) continue;
    const unsigned need = LinesBytes(g, now.y, min(SPGEMM_LINE_ENTRIES, g.products));
    if (lane == 0 && need <= room) {
      taken[now.x] = 1;
      atomicMax(&bytes, need);
    }
  }
  __syncthreads();
  unsigned at = 0;
  if (t == first && taken[t]) at = atomicAdd(&kept, 1u);
  __syncthreads();
  if (t == 0 && kept) {
    base = atomicAdd(&counters->line_groups, kept);
    atomicMax(&counters->line_bytes, bytes);
  }
  __syncthreads();
  if (t == first && taken[t]) lines.group[base + at] = make_int2((int)row, count);
  if (row < P.m) lines.line[row] = taken[first];
}

int64_t SpgemmDeviceMostGroups(int64_t m)
{
  return m / SPGEMM_LINE_ROWS_LEAST;
}

SysStatus SpgemmDeviceFindLines(const SpgemmOperands *P, const SpgemmLimits *limits, const SpgemmLines *lines, SpgemmCounters *counters, cudaStream_t stream)
{
  SYS_CALL(SysLaunch(LinesShiftedKernel, SysBlocks((int64_t)P->k * LINE_TEAM, SYS_THREADS), SYS_THREADS, 0, stream, *P, lines->shifted, counters));
  return SysLaunch(LinesSearchKernel, SysBlocks(P->m, SPGEMM_LINE_SEARCHED), SPGEMM_LINE_SEARCHED, 0, stream, *P, limits->line_bytes, *lines, counters);
}

/* ---- Values ---- */

/* A term of a sum: the first row's entry of B in the tiles, the entry of A, and the length of the row of B */
#define LINE_TERM(tile, k, length) ((unsigned)(tile) | (unsigned)(k) << 15 | (unsigned)(length) << 20)
static_assert(SPGEMM_LINE_SHARED / sizeof(float) <= 1 << 15, "places in tiles");

template <int N>
static __device__ __forceinline__ void LinesAdd(const unsigned term[N], const SysScalar *tile, const SysScalar *a, int row, SysScalar *sum)
{
  SysScalar x[N], y[N];

#pragma unroll
  for (int u = 0; u < N; u++) {
    x[u] = a[term[u] >> 15 & 31];
    y[u] = tile[(term[u] & 0x7fff) + (term[u] >> 20) * (unsigned)row];
  }
#pragma unroll
  for (int u = 0; u < N; u++) *sum = fma(x[u], y[u], *sum);
}

static __device__ __forceinline__ SysScalar LinesSum(const unsigned *list, int terms, const SysScalar *tile, const SysScalar *a, int row)
{
  SysScalar sum = 0;
  int       k   = 0;

  for (; k + 4 <= terms; k += 4) {
    const uint4    w       = *(const uint4 *)(list + k);
    const unsigned term[4] = {w.x, w.y, w.z, w.w};

    LinesAdd<4>(term, tile, a, row, &sum);
  }
  if (terms & 2) {
    const uint2    w       = *(const uint2 *)(list + k);
    const unsigned term[2] = {w.x, w.y};

    LinesAdd<2>(term, tile, a, row, &sum);
    k += 2;
  }
  if (terms & 1) LinesAdd<1>(list + k, tile, a, row, &sum);
  return sum;
}

/* Sums stay in registers until all terms are added; then the tiles' memory holds the result. A lane handles an entry of A while terms are found, and
   a row of the group while they are added. Operands with changed patterns may not be a group: then nothing is written. */
static __global__ void __launch_bounds__(SPGEMM_LINE_WARPS *SYS_WARP) LinesValuesKernel(SpgemmOperands P, SpgemmLines lines, const int *Ci, const int *Cj, SysScalar *Ca, unsigned room)
{
  constexpr int EACH = SPGEMM_LINE_ENTRIES / SPGEMM_LINE_WARPS; /* entries of a row for each warp */
  const int     t = (int)threadIdx.x, lane = t % SYS_WARP, warp = t / SYS_WARP;
  const int     row = lines.group[blockIdx.x].x, count = lines.group[blockIdx.x].y, to = Ci[row], size = Ci[row + 1] - to;
  LineGroup     g;

  if (!lines.line[row] || !LinesLayOut(P, row, count, lane, &g) || LinesBytes(g, count, size) > room) return;
  unsigned  *list    = (unsigned *)lines_shared + warp * LinesListRoom(g);
  SysScalar *tile    = (SysScalar *)((unsigned *)lines_shared + SPGEMM_LINE_WARPS * LinesListRoom(g));
  SysScalar *a       = tile + LinesTileRoom(g, count, size);
  int       *columns = (int *)(a + count * (g.length | 1));
  const int  own     = (lane / SPGEMM_LINE_CHUNK * SPGEMM_LINE_WARPS + warp) * SPGEMM_LINE_CHUNK + lane % SPGEMM_LINE_CHUNK; /* an entry of the row for this warp */
  const int  wanted  = lane < EACH && own < size ? Cj[to + own] : -1;

  for (unsigned heads = g.heads; heads; heads &= heads - 1) {
    const int head = __ffs((int)heads) - 1, from = __shfl_sync(SYS_ALL_LANES, g.from, head), n = __shfl_sync(SYS_ALL_LANES, g.entries, head), at = __shfl_sync(SYS_ALL_LANES, g.tile, head);
    const int length = __shfl_sync(SYS_ALL_LANES, g.own, head), column = __shfl_sync(SYS_ALL_LANES, g.column, head);

    for (int e = t; e < n; e += SPGEMM_LINE_WARPS * SYS_WARP) __pipeline_memcpy_async(tile + at + e, P.Ba + from + e, sizeof(SysScalar));
    for (int e = t; e < length; e += SPGEMM_LINE_WARPS * SYS_WARP) columns[column + e] = P.Bj[from + e];
  }
  for (int r = warp; r < count; r += SPGEMM_LINE_WARPS) {
    if (lane < g.length) __pipeline_memcpy_async(a + r * (g.length | 1) + lane, P.Aa + g.begin + r * g.length + lane, sizeof(SysScalar));
  }
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  const int        r      = min(lane, count - 1);
  const SysScalar *x      = a + r * (g.length | 1);
  const int       *column = columns + g.column;
  SysScalar        sum[EACH];
#pragma unroll
  for (int e = 0; e < EACH; e++) sum[e] = 0;
#pragma unroll 1
  for (int e0 = 0; e0 < EACH; e0 += SPGEMM_LINE_CHUNK) {
    if ((e0 * SPGEMM_LINE_WARPS + warp * SPGEMM_LINE_CHUNK) >= size) break;
    int q    = SysCountLess(column, g.own, __shfl_sync(SYS_ALL_LANES, wanted, e0) - g.shift);
    int next = q < g.own ? column[q] + g.shift : INT_MAX; /* lanes without an entry of A have none */

    __syncwarp();
#pragma unroll
    for (int u = 0; u < SPGEMM_LINE_CHUNK; u++) {
      const bool     hit  = next == __shfl_sync(SYS_ALL_LANES, wanted, e0 + u);
      const unsigned hits = __ballot_sync(SYS_ALL_LANES, hit);

      if (hit) {
        list[__popc(hits & ((1u << lane) - 1))] = LINE_TERM(g.tile + q, lane, g.own);
        q++;
        next = q < g.own ? column[q] + g.shift : INT_MAX;
      }
      __syncwarp();
      const SysScalar now = LinesSum(list, __popc(hits), tile, x, r);
      __syncwarp();
#pragma unroll
      for (int e = 0; e < EACH; e += SPGEMM_LINE_CHUNK) {
        if (e == e0) sum[e + u] = now;
      }
    }
  }
  __syncthreads();
#pragma unroll
  for (int e = 0; e < EACH; e++) {
    const int p = (e / SPGEMM_LINE_CHUNK * SPGEMM_LINE_WARPS + warp) * SPGEMM_LINE_CHUNK + e % SPGEMM_LINE_CHUNK;

    if (p < size && lane < count) tile[lane * (size | 1) + p] = sum[e];
  }
  __syncthreads();
  for (int k = warp; k < count; k += SPGEMM_LINE_WARPS) {
    for (int p = lane; p < size; p += SYS_WARP) Ca[to + k * size + p] = tile[k * (size | 1) + p];
  }
}

SysStatus SpgemmDeviceLineValues(const SpgemmOperands *P, const SpgemmLines *lines, int groups, unsigned bytes, const int *Ci, const int *Cj, SysScalar *Ca, cudaStream_t stream)
{
  return SysLaunch(LinesValuesKernel, groups, SPGEMM_LINE_WARPS * SYS_WARP, bytes, stream, *P, *lines, Ci, Cj, Ca, bytes);
}
