/* SPDX-License-Identifier: BSD-2-Clause */
/*
   SpGEMM on the device: shared parts of teams of 8, 16 or 32 threads with one row each. All lanes of a warp take part.
*/
#pragma once

#include "mat/impls/hashgemm/cuda/spgemmcuda.cuh"

/* Returns a key's first slot in a table of 2^log slots */
static __device__ __forceinline__ unsigned TeamHash(unsigned key, int log)
{
  return key * 0x9E3779B1u >> (32 - log);
}

template <int T>
static __device__ __forceinline__ int TeamMost(int n)
{
  return T == SYS_WARP ? n : __reduce_max_sync(SYS_ALL_LANES, n);
}

/* Returns the sum over the lanes up to this one */
template <int T>
static __device__ __forceinline__ int TeamUntil(int n, int lane)
{
#pragma unroll
  for (int step = 1; step < T; step *= 2) {
    const int other = __shfl_up_sync(SYS_ALL_LANES, n, (unsigned)step, T);

    if (lane >= step) n += other;
  }
  return n;
}

/* Returns the first lane of the team whose sum is more than t, or the last one */
template <int T>
static __device__ __forceinline__ int TeamOwner(int until, int t)
{
  int at = 0;

#pragma unroll
  for (int step = T / 2; step; step /= 2) {
    const int other = __shfl_sync(SYS_ALL_LANES, until, at + step - 1, T);

    if (other <= t) at += step;
  }
  return at;
}

/* Calls f(place, number) for all elements of the lists of A's entries begin to end - 1, numbered in order; list(c, &from, &length) gives column c's
   list. Lanes take consecutive elements, across lists. */
template <int T, typename L, typename F>
static __device__ __forceinline__ void TeamForLists(const int *Aj, int begin, int end, int lane, const L &list, const F &f)
{
  const int most = TeamMost<T>(end - begin);
  int       done = 0;

  for (int k0 = 0; k0 < most; k0 += T) {
    const int k    = begin + k0 + lane;
    int       from = 0, length = 0, until, total;

    if (k < end) list(Aj[k], &from, &length);
    __syncwarp();
    until = TeamUntil<T>(length, lane);
    from -= until - length;
    total          = __shfl_sync(SYS_ALL_LANES, until, T - 1, T);
    const int last = TeamMost<T>(total);
    for (int t0 = 0; t0 < last; t0 += T) {
      const int t = t0 + lane, place = __shfl_sync(SYS_ALL_LANES, from, TeamOwner<T>(until, t), T) + t;

      if (t < total) f(place, done + t);
    }
    done += total;
    __syncwarp();
  }
}

/* Calls f(word, bits) for the words of the rows of B that A's entries begin to end - 1 name */
template <int T, typename F>
static __device__ __forceinline__ void TeamForWords(const SpgemmOperands &P, int begin, int end, int lane, const F &f)
{
  TeamForLists<T>(
    P.Aj, begin, end, lane,
    [&](int c, int *from, int *length) {
      const int4 row = P.rowB[c];

      *from   = row.x;
      *length = row.y;
    },
    [&](int place, int) {
      const uint2 word = P.wordB[place];

      f(word.x, word.y);
    });
}

/* Sorts T * R keys, key r of a lane being number r * T + lane */
template <int T, int R>
static __device__ __forceinline__ void TeamSort(unsigned key[R], int lane)
{
#pragma unroll
  for (int size = 2; size <= T * R; size *= 2) {
#pragma unroll
    for (int step = size / 2; step; step /= 2) {
      if (step < T) {
#pragma unroll
        for (int r = 0; r < R; r++) {
          const unsigned other = __shfl_xor_sync(SYS_ALL_LANES, key[r], step);
          const bool     up = ((r * T + lane) & size) == 0, lower = (lane & step) == 0;

          key[r] = up == lower ? min(key[r], other) : max(key[r], other);
        }
      } else {
#pragma unroll
        for (int r = 0; r < R; r++) {
          const int s = r ^ (step / T);

          if (s > r) {
            const unsigned low = min(key[r], key[s]), high = max(key[r], key[s]);
            const bool     up = (r * T & size) == 0;

            key[r] = up ? low : high;
            key[s] = up ? high : low;
          }
        }
      }
    }
  }
}
