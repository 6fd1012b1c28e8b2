/* SPDX-License-Identifier: BSD-2-Clause */
/*
   SpGEMM on the device: shared parts of the kernels for values. Values are added in shared memory. A column's sum, 0 to ROOM - 1, is found by a hash
   table of columns, one of words, an array of all words if they are few, or a kept place. It is -1 for columns outside the part, and if the operands'
   patterns changed.
*/
#pragma once

#include "mat/impls/hashgemm/cuda/spgemmcudateam.cuh"

/* Sums at known places. A team's work is cut into stretches of rows of B no longer than the team, so there are no look-ups and several stretches are in
   flight. */

/* Adds a product by FMA, as all sums do: separate rounding would give other bits */
static __device__ __forceinline__ void KnownAdd(SysScalar *sum, SysScalar a, SysScalar b)
{
  *sum = fma(a, b, *sum);
}

/* A stretch of a row of B and its factor in A */
struct alignas(16) Stretch {
  SysScalar a;
  int       from;
  unsigned  place; /* its first product's place; its length in the lowest six bits */
};
#define STRETCH_FAR (1u << 26) /* bound of the places */

typedef struct {
  SysScalar a, b;
  int       place; /* -1: none */
} KnownProduct;

template <int AHEAD>
static __device__ __forceinline__ void KnownLoadAhead(const SysScalar *Ba, const unsigned short *place, const Stretch *stretch, int lane, KnownProduct product[AHEAD])
{
#pragma unroll
  for (int u = 0; u < AHEAD; u++) {
    const Stretch s = stretch[u];

    product[u].a     = s.a;
    product[u].b     = 0;
    product[u].place = -1;
    if (lane < (int)(s.place & 63)) {
      product[u].place = place[(s.place >> 6) + (unsigned)lane];
      product[u].b     = Ba[s.from + lane];
    }
  }
}

/* Adds the rows of B that the lanes hold, one each, in order: entries begin at `from`, places at `first`. Lanes from `most` on hold none. All lanes
   of the warp take part; stretch: T elements a team. */
template <int T, int AHEAD>
static __device__ __forceinline__ void KnownAddStretches(const SysScalar *Ba, const unsigned short *place, int from, int length, unsigned first, SysScalar a, int most, int lane, Stretch *stretch, SysScalar *sum)
{
  const bool whole     = __reduce_max_sync(SYS_ALL_LANES, length) <= T; /* every row is one stretch */
  const int  stretches = (length + T - 1) / T, until = whole ? lane + 1 : TeamUntil<T>(stretches, lane), before = whole ? lane : until - stretches;
  const int  all = whole ? most : TeamMost<T>(__shfl_sync(SYS_ALL_LANES, until, T - 1, T));

  for (int s0 = 0; s0 < all; s0 += T) {
    KnownProduct now[AHEAD], next[AHEAD];
    const int    count = min(T, all - s0);

    __syncwarp();
    if (whole) {
      const Stretch s = {a, from, first << 6 | (unsigned)length};

      stretch[lane] = s;
    } else {
      stretch[lane].place = 0;
      __syncwarp();
      for (int i = max(0, s0 - before); i < stretches && before + i < s0 + T; i++) {
        const Stretch s = {a, from + i * T, (first + (unsigned)(i * T)) << 6 | (unsigned)min(T, length - i * T)};

        stretch[before + i - s0] = s;
      }
    }
    __syncwarp();
    KnownLoadAhead<AHEAD>(Ba, place, stretch, lane, next);
    for (int s = 0; s < count; s += AHEAD) {
#pragma unroll
      for (int u = 0; u < AHEAD; u++) now[u] = next[u];
      if (s + AHEAD < count) KnownLoadAhead<AHEAD>(Ba, place, stretch + s + AHEAD, lane, next);
#pragma unroll
      for (int u = 0; u < AHEAD; u++) {
        if (now[u].place >= 0) KnownAdd(sum + now[u].place, now[u].a, now[u].b);
        __syncwarp();
      }
    }
  }
}

#define NO_POSITION 0xffffu

extern __shared__ double2 spgemm_shared[];

static __host__ __device__ constexpr int FindLog(int n)
{
  return n > 1 ? 1 + FindLog(n / 2) : 0;
}

/* A hash table of columns, two places a word, for scattered columns */
struct ColumnTable {
  unsigned *slot;
  int      *column;
  int       log; /* log2 of the slots */

  __device__ __forceinline__ void Begin(int) { }

  template <int T>
  __device__ __forceinline__ void Clear(int lane)
  {
    for (int k = lane; k < 1 << log >> 1; k += T) slot[k] = SPGEMM_NOWORD;
  }
  __device__ __forceinline__ void Insert(int c, int, int k)
  {
    column[k] = c;
    for (unsigned h = TeamHash((unsigned)c, log);; h = (h + 1) & ((1u << log) - 1)) {
      unsigned      *to    = slot + h / 2;
      const unsigned shift = h % 2 * 16;
      unsigned       seen  = *(volatile unsigned *)to;

      while ((seen >> shift & 0xffffu) == NO_POSITION) { /* the other half may change concurrently */
        const unsigned now = atomicCAS(to, seen, (seen & ~(0xffffu << shift)) | (unsigned)k << shift);

        if (now == seen) return;
        seen = now;
      }
    }
  }
  __device__ __forceinline__ int Find(int c) const
  {
    const unsigned short *place = (const unsigned short *)slot;

    for (unsigned h = TeamHash((unsigned)c, log);; h = (h + 1) & ((1u << log) - 1)) {
      const unsigned position = place[h];

      if (position == NO_POSITION) return -1;
      if (column[position] == c) return (int)position;
    }
  }
};

template <int ROOM, int SLOTS>
struct Columns {
  unsigned slot[SLOTS / 2];
  int      column[ROOM];

  __device__ __forceinline__ ColumnTable Finder(void)
  {
    ColumnTable table = {slot, column, FindLog(SLOTS)};

    return table;
  }
};

/* A hash table of words: word below, bits above; and the entries before it. Lanes with columns of one word share a slot. */
struct WordTable {
  unsigned long long *slot;
  unsigned short     *before;
  int                 log; /* log2 of the slots */

  __device__ __forceinline__ void Begin(int) { }

  template <int T>
  __device__ __forceinline__ void Clear(int lane)
  {
    for (int k = lane; k < 1 << log >> 1; k += T) ((ulonglong2 *)slot)[k] = make_ulonglong2(SPGEMM_NOWORD, SPGEMM_NOWORD);
  }
  __device__ __forceinline__ void Insert(int c, int previous, int k)
  {
    const unsigned w = (unsigned)c >> 5;

    for (unsigned h = TeamHash(w, log);; h = (h + 1) & ((1u << log) - 1)) {
      unsigned *key  = (unsigned *)(slot + h);
      unsigned  seen = *(volatile unsigned *)key;

      if (seen == SPGEMM_NOWORD) seen = atomicCAS(key, SPGEMM_NOWORD, w);
      if (seen == SPGEMM_NOWORD || seen == w) {
        atomicOr(key + 1, 1u << (c & 31));
        if ((unsigned)previous >> 5 != w) before[h] = (unsigned short)k;
        return;
      }
    }
  }
  __device__ __forceinline__ int Find(int c) const
  {
    const unsigned     w     = (unsigned)c >> 5;
    unsigned           h     = TeamHash(w, log), bits;
    unsigned long long found = slot[h];

    while ((unsigned)found != w) {
      if ((unsigned)found == SPGEMM_NOWORD) return -1;
      h     = (h + 1) & ((1u << log) - 1);
      found = slot[h];
    }
    bits = (unsigned)(found >> 32);
    return bits >> (c & 31) & 1 ? before[h] + __popc(bits & ((1u << (c & 31)) - 1)) : -1;
  }
};

template <int SLOTS>
struct Words {
  unsigned long long slot[SLOTS];
  unsigned short     before[SLOTS];

  __device__ __forceinline__ WordTable Finder(void)
  {
    WordTable table = {slot, before, FindLog(SLOTS)};

    return table;
  }
};

/* All words from the first column's on, if they are few */
struct WordWindow {
  unsigned       *bits, *begin;
  unsigned short *before;
  int             words;

  __device__ __forceinline__ void Begin(int c) { *begin = (unsigned)c >> 5; }

  template <int T>
  __device__ __forceinline__ void Clear(int lane)
  {
    for (int k = lane; k < words; k += T) bits[k] = 0;
  }
  __device__ __forceinline__ void Insert(int c, int previous, int k)
  {
    const unsigned w = ((unsigned)c >> 5) - *begin;

    atomicOr(bits + w, 1u << (c & 31));
    if ((previous ^ c) >> 5) before[w] = (unsigned short)k;
  }
  __device__ __forceinline__ int Find(int c) const
  {
    const unsigned w = ((unsigned)c >> 5) - *begin, has = w < (unsigned)words ? bits[w] : 0;

    return has >> (c & 31) & 1 ? before[w] + __popc(has & ((1u << (c & 31)) - 1)) : -1;
  }
};

/* Enters a row's or part's columns, and zeroes its sums */
template <int T, class FINDER>
static __device__ __forceinline__ void FindPrepare(const int *Cj, int size, int lane, FINDER finder, SysScalar *sum)
{
  if (lane == 0 && size) finder.Begin(Cj[0]);
  finder.template Clear<T>(lane);
  __syncwarp();
  for (int k = lane; k < size; k += T) {
    finder.Insert(Cj[k], k ? Cj[k - 1] : -1, k);
    sum[k] = 0;
  }
  __syncwarp();
}

/* Uses kept places */
struct Known {
  Stretch *stretch; /* one a lane */

  static __device__ __forceinline__ int Find(int place) { return place; }
};

template <int T>
static __device__ __forceinline__ void FindPrepare(const int *, int size, int lane, const Known &, SysScalar *sum)
{
  for (int k = lane; k < size; k += T) sum[k] = 0;
  __syncwarp();
}

/* A loaded entry of a row of B; c: its column, or its sum's place if kept */
typedef struct {
  int       c; /* -1: none */
  SysScalar b;
} Product;

/* Loads the lane's entry of a row of B that begins at `from` */
static __device__ __forceinline__ Product FindLoad(const SpgemmOperands &P, int from, int length, int q)
{
  Product p = {-1, 0};

  if (q < length) {
    p.c = P.Bj[from + q];
    p.b = P.Ba[from + q];
  }
  return p;
}

template <int MODE, class FINDER>
static __device__ __forceinline__ int FindPlace(const FINDER &finder, const Product &p, unsigned short *place, int q)
{
  int to = -1;

  if (p.c >= 0) {
    to = finder.Find(p.c);
    if (MODE == SPGEMM_KEEP) place[q] = (unsigned short)max(to, 0);
  }
  return to;
}
