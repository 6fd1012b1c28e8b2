/* SPDX-License-Identifier: BSD-2-Clause */
/*
   SpGEMM on the device: values of long rows, in parts of one warp each, into a known pattern

   spgemmhost.h has the idea.
*/
#include "mat/impls/hashgemm/cuda/spgemmcudafind.cuh"

/* A row of B's entries in the part, its factor in A, and its places if kept */
typedef struct {
  int                from, length;
  unsigned long long place;
  SysScalar          a;
} Entry;

#define PARTS_BATCH 64 /* entries of A that are processed at a time */

/* A warp's shared memory for parts of at most 2^log entries. The rest is the finder's. */
template <class FINDER>
struct PartShared {
  SysScalar *sum;
  Entry     *entry;
  FINDER     finder;
};

/* The words of a window, and log2 of the slots of a table of words or columns, for parts of at most 2^log entries */
#define WINDOW_WORDS(log) ((1 << (log)) / SPGEMM_PART_NARROW_SHARE)
#define WORDS_LOG(log)    ((log) + 1 - FindLog(SPGEMM_PART_WORDS_SHARE))
#define COLUMNS_LOG(log)  ((log) + 1)

/* Returns the bytes of a warp; kind: of the parts, or SPGEMM_PART_KINDS for known places */
static constexpr size_t PartsShared(int kind, int log)
{
  return (sizeof(SysScalar) << log) + PARTS_BATCH * sizeof(Entry) +
         (kind == SPGEMM_PART_NARROW  ? WINDOW_WORDS(log) * (sizeof(unsigned) + sizeof(unsigned short)) + sizeof(unsigned)
          : kind == SPGEMM_PART_WORDS ? (sizeof(unsigned long long) + sizeof(unsigned short)) << WORDS_LOG(log)
          : kind == SPGEMM_PART_WIDE  ? (sizeof(unsigned short) << COLUMNS_LOG(log)) + (sizeof(int) << log)
                                      : SYS_WARP * sizeof(Stretch));
}
SPGEMM_FITS(PartsShared(SPGEMM_PART_WIDE, FindLog(SPGEMM_PART_ENTRIES)));

static __device__ __forceinline__ void PartsFinderAt(void *shared, int log, WordWindow *finder)
{
  finder->bits   = (unsigned *)shared;
  finder->begin  = finder->bits + WINDOW_WORDS(log);
  finder->before = (unsigned short *)(finder->begin + 1);
  finder->words  = WINDOW_WORDS(log);
}

static __device__ __forceinline__ void PartsFinderAt(void *shared, int log, WordTable *finder)
{
  finder->log    = WORDS_LOG(log);
  finder->slot   = (unsigned long long *)shared;
  finder->before = (unsigned short *)(finder->slot + (1 << finder->log));
}

static __device__ __forceinline__ void PartsFinderAt(void *shared, int log, ColumnTable *finder)
{
  finder->log    = COLUMNS_LOG(log);
  finder->slot   = (unsigned *)shared;
  finder->column = (int *)(finder->slot + (1 << finder->log >> 1));
}

static __device__ __forceinline__ void PartsFinderAt(void *shared, int, Known *finder)
{
  finder->stretch = (Stretch *)shared;
}

/* Collects EACH entries a lane from k0 of A on that reach columns low to high; returns their number */
template <int EACH>
static __device__ __forceinline__ int PartsCollect(const SpgemmOperands &P, int k0, int end, bool whole, int low, int high, int lane, Entry *entries, int *k_of)
{
  int from[EACH], length[EACH], most = 0, total = 0;

#pragma unroll
  for (int u = 0; u < EACH; u++) {
    const int k = k0 + u * SYS_WARP + lane, c = k < end ? P.Aj[k] : -1;

    from[u]   = c < 0 ? 0 : P.Bi[c];
    length[u] = c < 0 ? 0 : P.Bi[c + 1] - from[u];
    most      = max(most, length[u]);
  }
  if (!whole) { /* counts columns less than low, and not above high */
    int less[EACH] = {0}, until[EACH] = {0};

    __syncwarp();
    most = __reduce_max_sync(SYS_ALL_LANES, most);
    for (int step = most ? 1 << (31 - __clz(most)) : 0; step; step /= 2) {
#pragma unroll
      for (int u = 0; u < EACH; u++) {
        if (less[u] + step <= length[u] && P.Bj[from[u] + less[u] + step - 1] < low) less[u] += step;
        if (until[u] + step <= length[u] && P.Bj[from[u] + until[u] + step - 1] <= high) until[u] += step;
      }
    }
#pragma unroll
    for (int u = 0; u < EACH; u++) {
      from[u] += less[u];
      length[u] = until[u] - less[u];
    }
  }
  __syncwarp();
#pragma unroll
  for (int u = 0; u < EACH; u++) {
    const unsigned some = __ballot_sync(SYS_ALL_LANES, length[u] > 0);
    const int      k    = k0 + u * SYS_WARP + lane;

    if (length[u] > 0) {
      const Entry entry = {from[u], length[u], 0, P.Aa[k]};
      const int   to    = total + __popc(some & ((1u << lane) - 1));

      entries[to] = entry;
      if (k_of) k_of[to] = k;
    }
    total += __popc(some);
  }
  __syncwarp();
  return total;
}

/* Takes places for a batch, and records the batch from pair on for the passes with known places */
static __device__ void PartsKeepBatch(const SpgemmPlaces &places, int row, unsigned pair, const int *k_of, int count, int lane, Entry *entries)
{
  for (int e0 = 0; e0 < count; e0 += SYS_WARP) {
    const int          e      = e0 + lane;
    const int          length = e < count ? entries[e].length : 0;
    const int          until  = TeamUntil<SYS_WARP>(length, lane);
    unsigned long long base   = 0;

    if (lane == SYS_WARP - 1) base = atomicAdd(places.offset + row, (unsigned long long)until);
    base = __shfl_sync(SYS_ALL_LANES, base, SYS_WARP - 1) + (unsigned long long)(until - length);
    if (e < count) {
      entries[e].place                = base;
      places.pair[pair + (unsigned)e] = make_uint4((unsigned)entries[e].from, (unsigned)k_of[e], (unsigned)base, (unsigned)(base >> 32) << 12 | (unsigned)length);
    }
    __syncwarp();
  }
}

/* Loads the recorded batch */
template <int EACH>
static __device__ __forceinline__ void PartsLoadBatch(const SpgemmOperands &P, const SpgemmPlaces &places, unsigned pair, int count, int lane, Entry *entries)
{
#pragma unroll
  for (int u = 0; u < EACH; u++) {
    const int e = u * SYS_WARP + lane;

    if (e < count) {
      const uint4 kept  = places.pair[pair + (unsigned)e];
      const Entry entry = {(int)kept.x, (int)(kept.w & 4095), (unsigned long long)(kept.w >> 12) << 32 | kept.z, P.Aa[kept.y]};

      entries[e] = entry;
    }
  }
  __syncwarp();
}

/* A thread's products, SYS_WARP apart: the lane with each one's entry, and the entry of B or its place */
typedef struct {
  Product one[SPGEMM_PARTS_IN_FLIGHT];
  int     entry[SPGEMM_PARTS_IN_FLIGHT], place[SPGEMM_PARTS_IN_FLIGHT];
} Group;

template <int MODE>
static __device__ __forceinline__ void PartsLoadGroup(const SpgemmOperands &P, const unsigned short *place, int from, int skip, int until, int total, int t0, int lane, Group *group)
{
#pragma unroll
  for (int u = 0; u < SPGEMM_PARTS_IN_FLIGHT; u++) {
    const int t = t0 + u * SYS_WARP + lane, at = TeamOwner<SYS_WARP>(until, t);
    const int e = __shfl_sync(SYS_ALL_LANES, from, at) + t, p = MODE == SPGEMM_FIND ? 0 : __shfl_sync(SYS_ALL_LANES, skip, at) + t;
    group->entry[u] = at;
    group->place[u] = p;
    group->one[u].c = -1;
    group->one[u].b = 0;
    if (t < total) {
      group->one[u].c = MODE == SPGEMM_KNOWN ? place[p] : P.Bj[e];
      group->one[u].b = P.Ba[e];
    }
  }
}

/*
   Adds the products of one entry a lane. Products are found in sequence across entries, while the next are in flight, but products of different entries
   are added one entry after the other.
*/
template <int MODE, class FINDER>
static __device__ __forceinline__ void PartsAddEntries(const SpgemmOperands &P, const FINDER &finder, unsigned short *places, const Entry &entry, int lane, SysScalar *sum)
{
  const unsigned long long base  = __shfl_sync(SYS_ALL_LANES, entry.place, 0);
  unsigned short *const    place = places + base;
  const int                until = TeamUntil<SYS_WARP>(entry.length, lane), from = entry.from - (until - entry.length), total = __shfl_sync(SYS_ALL_LANES, until, SYS_WARP - 1);
  const int                skip = (int)(entry.place - base) - (until - entry.length); /* an entry's places are consecutive, different entries' may not be */
  Group                    next;

  PartsLoadGroup<MODE>(P, place, from, skip, until, total, 0, lane, &next);
  for (int t0 = 0; t0 < total; t0 += SPGEMM_PARTS_IN_FLIGHT * SYS_WARP) {
    const Group now = next;
    SysScalar   a[SPGEMM_PARTS_IN_FLIGHT];
    int         to[SPGEMM_PARTS_IN_FLIGHT], first, last;

    if (t0 + SPGEMM_PARTS_IN_FLIGHT * SYS_WARP < total) PartsLoadGroup<MODE>(P, place, from, skip, until, total, t0 + SPGEMM_PARTS_IN_FLIGHT * SYS_WARP, lane, &next);
#pragma unroll
    for (int u = 0; u < SPGEMM_PARTS_IN_FLIGHT; u++) {
      a[u]  = __shfl_sync(SYS_ALL_LANES, entry.a, now.entry[u]);
      to[u] = FindPlace<MODE>(finder, now.one[u], place, now.place[u]);
    }
    first = __shfl_sync(SYS_ALL_LANES, now.entry[0], 0);
    last  = __shfl_sync(SYS_ALL_LANES, now.entry[SPGEMM_PARTS_IN_FLIGHT - 1], SYS_WARP - 1);
    if (first == last) {
#pragma unroll
      for (int u = 0; u < SPGEMM_PARTS_IN_FLIGHT; u++) {
        if (to[u] >= 0) KnownAdd(sum + to[u], a[u], now.one[u].b);
      }
      __syncwarp();
    } else {
#pragma unroll
      for (int u = 0; u < SPGEMM_PARTS_IN_FLIGHT; u++) {
        if (t0 + u * SYS_WARP >= total) break;
        first = __shfl_sync(SYS_ALL_LANES, now.entry[u], 0);
        last  = __shfl_sync(SYS_ALL_LANES, now.entry[u], min(SYS_WARP, total - t0 - u * SYS_WARP) - 1);
        for (int e = first; e <= last; e++) {
          if (now.entry[u] == e && to[u] >= 0) KnownAdd(sum + to[u], a[u], now.one[u].b);
          __syncwarp();
        }
      }
    }
  }
}

template <int MODE, class FINDER>
static __device__ __forceinline__ void PartsAddBatch(const SpgemmOperands &P, unsigned short *places, int count, int lane, const PartShared<FINDER> &own)
{
  for (int e0 = 0; e0 < count; e0 += SYS_WARP) {
    Entry entry = {0, 0, 0, 0};

    if (e0 + lane < count) entry = own.entry[e0 + lane];
    __syncwarp();
    PartsAddEntries<MODE>(P, own.finder, places, entry, lane, own.sum);
  }
}

/* The same by known places; for long rows of B without finding each product's entry */
static __device__ __forceinline__ void PartsAddKnown(const SpgemmOperands &P, unsigned short *places, int count, int lane, const PartShared<Known> &own)
{
  for (int e0 = 0; e0 < count; e0 += SYS_WARP) {
    const int most  = min(SYS_WARP, count - e0);
    Entry     entry = {0, 0, 0, 0};

    if (lane < most) entry = own.entry[e0 + lane];
    __syncwarp();
    const unsigned long long base = __shfl_sync(SYS_ALL_LANES, entry.place, 0), far = lane < most ? entry.place - base : 0;
    const bool               near = __all_sync(SYS_ALL_LANES, far + 4096 < STRETCH_FAR);

    if (near && __reduce_add_sync(SYS_ALL_LANES, entry.length) >= SPGEMM_PARTS_LENGTH * most)
      KnownAddStretches<SYS_WARP, SPGEMM_PARTS_IN_FLIGHT>(P.Ba, places + base, entry.from, entry.length, (unsigned)far, entry.a, most, lane, own.finder.stretch, own.sum);
    else PartsAddEntries<SPGEMM_KNOWN>(P, own.finder, places, entry, lane, own.sum);
  }
}

template <class FINDER, int MODE>
static __device__ __forceinline__ void PartsOne(const SpgemmOperands &P, int log, const SpgemmPart &part, uint2 *list, const SpgemmPlaces &places, const int *Ci, const int *Cj, SysScalar *Ca, int *k_of)
{
  constexpr int      EACH = PARTS_BATCH / SYS_WARP;
  const int          lane = (int)threadIdx.x, first = Ci[part.row] + part.first, begin = P.Ai[part.row], end = P.Ai[part.row + 1];
  PartShared<FINDER> own;

  own.sum   = (SysScalar *)spgemm_shared;
  own.entry = (Entry *)(own.sum + (1 << log));
  PartsFinderAt(own.entry + PARTS_BATCH, log, &own.finder);
  FindPrepare<SYS_WARP>(Cj + first, part.entries, lane, own.finder, own.sum);
  if constexpr (MODE == SPGEMM_KNOWN) {
    for (unsigned p = 0; p < list->y; p += PARTS_BATCH) {
      const int count = (int)min(list->y - p, (unsigned)PARTS_BATCH);

      PartsLoadBatch<EACH>(P, places, list->x + p, count, lane, own.entry);
      PartsAddKnown(P, places.place, count, lane, own);
    }
  } else {
    const int  low = Cj[first], high = Cj[first + part.entries - 1];
    const bool whole = part.entries == Ci[part.row + 1] - Ci[part.row];
    uint2      pairs = {0, 0}; /* first, number */

    if (MODE == SPGEMM_KEEP) {
      if (lane == 0) pairs.x = atomicAdd(places.pair_next, (unsigned)(end - begin));
      pairs.x = __shfl_sync(SYS_ALL_LANES, pairs.x, 0);
    }
    for (int k0 = begin; k0 < end; k0 += PARTS_BATCH) {
      const int count = PartsCollect<EACH>(P, k0, end, whole, low, high, lane, own.entry, MODE == SPGEMM_KEEP ? k_of : NULL);

      if (MODE == SPGEMM_KEEP) PartsKeepBatch(places, part.row, pairs.x + pairs.y, k_of, count, lane, own.entry);
      pairs.y += (unsigned)count;
      PartsAddBatch<MODE>(P, places.place, count, lane, own);
    }
    if (MODE == SPGEMM_KEEP && lane == 0) *list = pairs;
  }
  __syncwarp();
  for (int k = lane; k < part.entries; k += SYS_WARP) Ca[first + k] = own.sum[k];
  __syncwarp();
}

/* A warp takes parts in order */
template <class FINDER, int MODE>
static __global__ void __launch_bounds__(SYS_WARP) PartsKernel(SpgemmOperands P, int log, const SpgemmPart *parts, const int *order, const unsigned *n, unsigned *next, SpgemmPlaces places, const int *Ci, const int *Cj, SysScalar *Ca)
{
  __shared__ int k_of[MODE == SPGEMM_KEEP ? PARTS_BATCH : 1];
  const unsigned all = *n;

  for (;;) {
    unsigned p = 0;

    if (threadIdx.x == 0) p = atomicAdd(next, 1u);
    p = __shfl_sync(SYS_ALL_LANES, p, 0);
    if (p >= all) return;
    const int index = order[p];
    if (places.made && places.made[parts[index].row] != SPGEMM_NOWORD) continue;
    PartsOne<FINDER, MODE>(P, log, parts[index], places.list + index, places, Ci, Cj, Ca, k_of);
  }
}

template <class FINDER, int MODE>
static SysStatus PartsLaunchMode(const SpgemmOperands *P, int kind, int log, const SpgemmPart *parts, const int *order, unsigned *count, int n, const SpgemmPlaces *places, const int *Ci, const int *Cj, SysScalar *Ca, const cudaStream_t stream[])
{
  const size_t shared = PartsShared(MODE == SPGEMM_KNOWN ? SPGEMM_PART_KINDS : kind, log);

  return SysLaunch(PartsKernel<FINDER, MODE>, n < SPGEMM_PARTS_BLOCKS ? n : SPGEMM_PARTS_BLOCKS, SYS_WARP, shared, stream[kind], *P, log, parts, order + (int64_t)kind * n, (const unsigned *)count + kind, count + SPGEMM_PART_KINDS + kind, *places, Ci, Cj, Ca);
}

template <class FINDER>
static SysStatus PartsLaunch(const SpgemmOperands *P, int kind, int log, const SpgemmPart *parts, const int *order, unsigned *count, int n, int mode, const SpgemmPlaces *places, const int *Ci, const int *Cj, SysScalar *Ca, const cudaStream_t stream[])
{
  if (mode == SPGEMM_FIND) return PartsLaunchMode<FINDER, SPGEMM_FIND>(P, kind, log, parts, order, count, n, places, Ci, Cj, Ca, stream);
  if (mode == SPGEMM_KEEP) return PartsLaunchMode<FINDER, SPGEMM_KEEP>(P, kind, log, parts, order, count, n, places, Ci, Cj, Ca, stream);
  return PartsLaunchMode<Known, SPGEMM_KNOWN>(P, kind, log, parts, order, count, n, places, Ci, Cj, Ca, stream);
}

SysStatus SpgemmDevicePartValues(const SpgemmOperands *P, int part_class, const SpgemmPart *parts, const int *order, unsigned count[2 * SPGEMM_PART_KINDS], int n, int mode, const SpgemmPlaces *places, const int *Ci, const int *Cj, SysScalar *Ca, const cudaStream_t stream[SPGEMM_PART_KINDS])
{
  const int log = FindLog(SPGEMM_PART_ENTRIES) - (SPGEMM_PART_CLASSES - 1 - part_class);

  SYS_CALL(PartsLaunch<WordWindow>(P, SPGEMM_PART_NARROW, log, parts, order, count, n, mode, places, Ci, Cj, Ca, stream));
  SYS_CALL(PartsLaunch<WordTable>(P, SPGEMM_PART_WORDS, log, parts, order, count, n, mode, places, Ci, Cj, Ca, stream));
  return PartsLaunch<ColumnTable>(P, SPGEMM_PART_WIDE, log, parts, order, count, n, mode, places, Ci, Cj, Ca, stream);
}
