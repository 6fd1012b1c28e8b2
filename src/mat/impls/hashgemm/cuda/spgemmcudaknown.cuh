/* SPDX-License-Identifier: BSD-2-Clause */
/*
   SpGEMM on the device: sums at known places. A team's work is cut into stretches of rows of B no longer than the team, so there are no look-ups and
   several stretches are in flight.
*/
#pragma once

#include "mat/impls/hashgemm/cuda/spgemmcudateam.cuh"

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
