/* SPDX-License-Identifier: BSD-2-Clause */
/*
   SpGEMM on the device, accumulator merge, for comparison: one warp a row. Products are expanded, sorted and compressed some hundreds at a time.
   Existing columns of the sequence are added to; new ones are merged into it by merge path. A row is computed while it is counted.

   The sequence begins in shared memory. When it overflows, it continues in global memory, with capacity for the row's most entries, by its products
   and its columns. There entries move apart in place, the last ones first.

   Source:
.  * - W. Liu and B. Vinter, "A framework for general sparse matrix-matrix multiplication on GPUs and heterogeneous processors", Journal of Parallel and
      Distributed Computing 85, 2015

   spgemmhost.h has the idea.
*/
#include "mat/impls/hashgemm/cuda/spgemmcudaesc.cuh"

#define CHUNK SPGEMM_MERGE_CHUNK
#define EACH  (CHUNK / SYS_WARP) /* products of a lane */

struct MergeRow {
  EscRow<CHUNK> chunk;
  SysScalar     value[2][SPGEMM_MERGE_SHARED], fresh_value[CHUNK];
  int           column[2][SPGEMM_MERGE_SHARED], fresh_column[CHUNK], fresh_place[CHUNK]; /* place: entries of the sequence before it */
};

/* The next products of a row: an entry of A, and the position in its row of B */
typedef struct {
  int k, skip;
} Position;

/* Ascending columns, relative to the row's first, and their sums */
typedef struct {
  int       *column;
  SysScalar *value;
  int        n;
} Sequence;

/* Expands a chunk's products, or the remaining ones; returns their number */
static __device__ int MergeExpand(const SpgemmOperands &P, int end, int low, int lane, Position *at, EscRow<CHUNK> &own)
{
  int done = 0;

  while (at->k < end && done < CHUNK) {
    const int k = at->k + lane, skip = lane ? 0 : at->skip;
    int       from = 0, length = 0;
    SysScalar a = 0;

    if (k < end) {
      const int c = P.Aj[k];

      from   = P.Bi[c] + skip;
      length = P.Bi[c + 1] - from;
      a      = P.Aa[k];
    }
    __syncwarp();
    const int      until = TeamUntil<SYS_WARP>(length, lane), total = __shfl_sync(SYS_ALL_LANES, until, SYS_WARP - 1), take = min(total, CHUNK - done);
    const unsigned whole = __ballot_sync(SYS_ALL_LANES, k < end && until <= take);
    const int      n = __popc(whole), before = __shfl_sync(SYS_ALL_LANES, until, max(n - 1, 0));

    from -= until - length;
    for (int t0 = 0; t0 < take; t0 += SYS_WARP) {
      const int       t = t0 + lane, lane_of = TeamOwner<SYS_WARP>(until, t);
      const int       place = __shfl_sync(SYS_ALL_LANES, from, lane_of) + t;
      const SysScalar f     = __shfl_sync(SYS_ALL_LANES, a, lane_of);
      if (t < take) {
        own.key[done + t] = (unsigned)(P.Bj[place] - low) << EscBits(CHUNK) | (unsigned)(done + t);
        own.a[done + t]   = f;
        own.b[done + t]   = P.Ba[place];
      }
    }
    done += take;
    at->skip = take == total ? 0 : n ? take - before : at->skip + take;
    at->k += n;
  }
  __syncwarp();
  return done;
}

/* Adds the chunk's columns that the sequence has, and lists the others; returns the number of the others */
static __device__ int MergeAdd(MergeRow &own, int found, const Sequence &s, int lane)
{
  int fresh = 0;

  for (int f0 = 0; f0 < found; f0 += SYS_WARP) {
    const int f      = f0 + lane;
    bool      is_new = false;
    int       column = 0, place = 0;
    SysScalar sum = 0;

    if (f < found) {
      const int first = own.chunk.start[f], last = own.chunk.start[f + 1];

      column           = (int)(own.chunk.key[first] >> EscBits(CHUNK));
      place            = SysCountLess(s.column, s.n, column);
      const bool there = place < s.n && s.column[place] == column;
      if (there) sum = s.value[place];
      for (int p = first; p < last; p++) {
        const unsigned t = own.chunk.key[p] & (CHUNK - 1);

        sum = fma(own.chunk.a[t], own.chunk.b[t], sum);
      }
      if (there) s.value[place] = sum;
      is_new = !there;
    }
    __syncwarp();
    const unsigned all = __ballot_sync(SYS_ALL_LANES, is_new);
    const int      to  = fresh + __popc(all & ((1u << lane) - 1));
    if (is_new) {
      own.fresh_column[to] = column;
      own.fresh_value[to]  = sum;
      own.fresh_place[to]  = place;
    }
    fresh += __popc(all);
  }
  __syncwarp();
  return fresh;
}

/* Merges the sequence with new columns; each lane writes equally many entries, from its diagonal's crossing with the path */
static __device__ void MergePath(const Sequence &s, const MergeRow &own, int fresh, int lane, const Sequence &to)
{
  const int each = (to.n + SYS_WARP - 1) / SYS_WARP, begin = min(lane * each, to.n), end = min(begin + each, to.n);
  int       low = max(0, begin - fresh), high = min(begin, s.n);

  while (low < high) {
    const int middle = (low + high) / 2;

    if (s.column[middle] < own.fresh_column[begin - 1 - middle]) low = middle + 1;
    else high = middle;
  }
  for (int d = begin, i = low, j = begin - low; d < end; d++) {
    const bool old = j >= fresh || (i < s.n && s.column[i] < own.fresh_column[j]);

    to.column[d] = old ? s.column[i] : own.fresh_column[j];
    to.value[d]  = old ? s.value[i] : own.fresh_value[j];
    i += old;
    j += !old;
  }
  __syncwarp();
}

/* The same in place: entries move up by the number of new columns before them */
static __device__ void MergeInPlace(const Sequence &s, const MergeRow &own, int fresh, int lane)
{
  for (int end = s.n; end > own.fresh_place[0]; end -= SPGEMM_MERGE_MOVED * SYS_WARP) {
    int       column[SPGEMM_MERGE_MOVED], up[SPGEMM_MERGE_MOVED];
    SysScalar value[SPGEMM_MERGE_MOVED];

#pragma unroll
    for (int u = 0; u < SPGEMM_MERGE_MOVED; u++) {
      const int k = end - 1 - u * SYS_WARP - lane;

      column[u] = k < 0 ? -1 : s.column[k];
      value[u]  = k < 0 ? 0 : s.value[k];
    }
#pragma unroll
    for (int u = 0; u < SPGEMM_MERGE_MOVED; u++) up[u] = SysCountLess(own.fresh_column, fresh, column[u]);
    __syncwarp();
#pragma unroll
    for (int u = 0; u < SPGEMM_MERGE_MOVED; u++) {
      const int k = end - 1 - u * SYS_WARP - lane + up[u];

      if (!up[u]) continue;
      s.column[k] = column[u];
      s.value[k]  = value[u];
    }
    __syncwarp();
  }
  for (int f = lane; f < fresh; f += SYS_WARP) {
    s.column[own.fresh_place[f] + f] = own.fresh_column[f];
    s.value[own.fresh_place[f] + f]  = own.fresh_value[f];
  }
  __syncwarp();
}

/* Takes n places in the memory of computed rows; returns the first to all lanes */
static __device__ unsigned MergeTake(const SpgemmMade &made, unsigned n, int lane)
{
  unsigned place = 0;

  if (lane == 0) place = (unsigned)atomicAdd(made.next, (unsigned long long)n);
  return __shfl_sync(SYS_ALL_LANES, place, 0);
}

static __global__ void __launch_bounds__(SYS_WARP) MergeKernel(SpgemmOperands P, const int *rows, const uint2 *range, const unsigned *work, int *size, SpgemmMade made)
{
  MergeRow      &own  = *(MergeRow *)spgemm_shared;
  const int      lane = (int)threadIdx.x, row = rows[blockIdx.x], end = P.Ai[row + 1], low = (int)range[row].x;
  const unsigned bound  = SpgemmRowBound(work[row], range[row].y - range[row].x);
  unsigned       place  = 0;
  bool           shared = true;
  int            half   = 0; /* which half holds the sequence */
  Position       at     = {P.Ai[row], 0};
  Sequence       s      = {own.column[0], own.value[0], 0};

  while (at.k < end) {
    const int done  = MergeExpand(P, end, low, lane, &at, own.chunk);
    const int found = done <= CHUNK / 4 ? EscCompress<SYS_WARP, EACH / 4>(own.chunk, done, lane) : done <= CHUNK / 2 ? EscCompress<SYS_WARP, EACH / 2>(own.chunk, done, lane) : EscCompress<SYS_WARP, EACH>(own.chunk, done, lane);
    const int fresh = MergeAdd(own, found, s, lane);

    if (!fresh) continue;
    if (!shared) {
      MergeInPlace(s, own, fresh, lane);
      s.n += fresh;
      continue;
    }
    if (s.n + fresh > SPGEMM_MERGE_SHARED) {
      place  = MergeTake(made, bound, lane);
      shared = false;
    }
    half              = 1 - half;
    const Sequence to = {shared ? own.column[half] : made.column + place, shared ? own.value[half] : made.value + place, s.n + fresh};
    MergePath(s, own, fresh, lane, to);
    s = to;
  }
  if (shared) place = MergeTake(made, (unsigned)s.n, lane);
  for (int k = lane; k < s.n; k += SYS_WARP) {
    made.column[place + (unsigned)k] = low + s.column[k];
    if (shared) made.value[place + (unsigned)k] = s.value[k];
  }
  if (lane == 0) {
    size[row]       = s.n;
    made.place[row] = place;
  }
}

SysStatus SpgemmDeviceMergeRows(const SpgemmOperands *P, const int *rows, int n, const uint2 *range, const unsigned *work, int *size, const SpgemmMade *made, cudaStream_t stream)
{
  SPGEMM_FITS(sizeof(MergeRow));
  return SysLaunch(MergeKernel, n, SYS_WARP, sizeof(MergeRow), stream, *P, rows, range, work, size, *made);
}
