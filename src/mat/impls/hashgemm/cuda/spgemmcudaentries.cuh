/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Sparse products on the device: the products of a row, for a team of 8, 16 or 32 threads, one row of B after the other
*/
#pragma once

#include "mat/impls/hashgemm/cuda/spgemmcudafind.cuh"

/* A row of B, and the value of A that it is multiplied by */
typedef struct {
  int       from, length;
  SysScalar a;
} Entry;

/* Calls f(entry, one) for the entries of A from begin to end, where one is the lane's first product of that row of B; the others begin at q = lane + T. The
   next entry's is on its way meanwhile. All lanes of the warp come along, most being the entries of its longest row; shared has room for a team's. */
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
