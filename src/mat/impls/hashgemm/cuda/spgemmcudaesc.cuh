/* SPDX-License-Identifier: BSD-2-Clause */
/*
   SpGEMM on the device: sorts a row's products in registers by column and then by number, which is the order of A's entries, and compresses them to
   distinct columns
*/
#pragma once

#include "mat/impls/hashgemm/cuda/spgemmcudateam.cuh"

extern __shared__ double2 spgemm_shared[];

static __device__ constexpr int EscBits(int n)
{
  return n > 1 ? 1 + EscBits(n / 2) : 0;
}

/* A row's products: factors by number; keys, column above number; and each column's first key */
template <int N>
struct alignas(16) EscRow {
  SysScalar      a[N], b[N];
  unsigned       key[N];
  unsigned short start[N + 8];
};

static __device__ __forceinline__ void EscOrder(unsigned &x, unsigned &y)
{
  const unsigned low = min(x, y);

  y = max(x, y);
  x = low;
}

/* Sorts T * R keys, key r of a lane being number lane * R + r: most steps stay within a lane. A merge's first step compares mirrored places, so all
   steps sort in the same direction. */
template <int T, int R>
static __device__ __forceinline__ void EscSort(unsigned key[R], int lane)
{
#pragma unroll
  for (int size = 2; size <= T * R; size *= 2) {
    if (size <= R) {
#pragma unroll
      for (int r = 0; r < R; r++) {
        if (!(r & (size / 2))) EscOrder(key[r], key[r ^ (size - 1)]);
      }
    } else {
      const bool lower = !(lane & (size / R / 2));
      unsigned   other[R];

#pragma unroll
      for (int r = 0; r < R; r++) other[r] = __shfl_xor_sync(SYS_ALL_LANES, key[R - 1 - r], size / R - 1);
#pragma unroll
      for (int r = 0; r < R; r++) key[r] = lower ? min(key[r], other[r]) : max(key[r], other[r]);
    }
#pragma unroll
    for (int step = size / 4; step; step /= 2) {
      if (step >= R) {
        const bool lower = !(lane & (step / R));

#pragma unroll
        for (int r = 0; r < R; r++) {
          const unsigned other = __shfl_xor_sync(SYS_ALL_LANES, key[r], step / R);

          key[r] = lower ? min(key[r], other) : max(key[r], other);
        }
      } else {
#pragma unroll
        for (int r = 0; r < R; r++) {
          if (!(r & step)) EscOrder(key[r], key[r | step]);
        }
      }
    }
  }
}

/* Sorts the keys, R a lane, and finds the columns' begins; returns the number of columns to all lanes of the team */
template <int T, int R, int N>
static __device__ __forceinline__ int EscCompress(EscRow<N> &own, int products, int lane)
{
  unsigned key[R], previous;
  int      heads = 0, until, found;

#pragma unroll
  for (int r = 0; r < R; r++) key[r] = r * T + lane < products ? own.key[r * T + lane] : SPGEMM_NOWORD;
  EscSort<T, R>(key, lane);
  previous = __shfl_up_sync(SYS_ALL_LANES, key[R - 1], 1, T);
  if (lane == 0) previous = SPGEMM_NOWORD;
#pragma unroll
  for (int r = 0; r < R; r++) heads += key[r] != SPGEMM_NOWORD && (key[r] ^ (r ? key[r - 1] : previous)) >> EscBits(N);
  until = TeamUntil<T>(heads, lane);
  found = __shfl_sync(SYS_ALL_LANES, until, T - 1, T);
  __syncwarp();
  until -= heads;
#pragma unroll
  for (int r = 0; r < R; r += 2) *(uint2 *)(own.key + lane * R + r) = make_uint2(key[r], key[r + 1]);
#pragma unroll
  for (int r = 0; r < R; r++) {
    if (key[r] != SPGEMM_NOWORD && (key[r] ^ (r ? key[r - 1] : previous)) >> EscBits(N)) own.start[until++] = (unsigned short)(lane * R + r);
  }
  if (lane == 0) own.start[found] = (unsigned short)products;
  __syncwarp();
  return found;
}
