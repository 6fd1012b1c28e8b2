/* SPDX-License-Identifier: BSD-2-Clause */
/*
   SpGEMM on the device: iterates over a row's products with a team of 8, 16 or 32 threads, one row of B after the other
*/
#pragma once

#include "mat/impls/hashgemm/cuda/spgemmcudafind.cuh"

/* A row of B and its factor in A */
typedef struct {
  int       from, length;
  SysScalar a;
} Entry;

/* Calls f(entry, one) for the entries of A from begin to end - 1; one: the lane's first product of that row of B, the others follow at q = lane + T.
   Prefetches the next entry's. All lanes of the warp take part; most: entries of its longest row; shared: one slot a team. */
template <int T, typename F>
static __device__ __forceinline__ void EntriesForEach(const SpgemmOperands &P, int begin, int end, int most, int lane, Entry *shared, const F &f)
{
  for (int k0 = 0; k0 < most; k0 += T) {
    const int k     = begin + k0 + lane;
    Entry     entry = {0, 0, 0};

    if (k < end) {
      const int c = P.Aj[k];

      entry.from   = P.Bi[c];
      entry.length = P.Bi[c + 1] - entry.from;
      entry.a      = P.Aa[k];
    }
    __syncwarp();
    shared[lane] = entry;
    __syncwarp();
    const int count    = min(T, most - k0);
    Entry     next     = shared[0];
    Product   next_one = FindLoad(P, next.from, next.length, lane);

    for (int e = 0; e < count; e++) {
      const Entry   now = next;
      const Product one = next_one;

      if (e + 1 < count) {
        next     = shared[e + 1];
        next_one = FindLoad(P, next.from, next.length, lane);
      }
      f(now, one);
      __syncwarp();
    }
  }
}
