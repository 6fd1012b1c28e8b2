/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The numbers that decide about aggregates, for the host and for a device alike: keys of vertices, weights of edges, and the
   place of an edge
*/
#pragma once

#include "ksp/pc/impls/gamg/host/agghost.h"

#if defined(__CUDACC__)
  #define AGG_INLINE static __host__ __device__ inline
#else
  #define AGG_INLINE static inline
#endif

/* The state of a vertex */
enum {
  AGG_UNDECIDED,
  AGG_ROOT,
  AGG_OUT,
  AGG_ALONE /* no edges */
};

/* One-to-one, and 0 for no vertex */
AGG_INLINE uint64_t AggHash(uint64_t number)
{
  uint64_t x = (number + 1) * 0x9E3779B97F4A7C15u;

  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

/* Likewise for numbers of less than 48 bits, in 48 bits; above them low degrees come first */
AGG_INLINE uint64_t AggHashLow(uint64_t number, int64_t degree)
{
  const uint64_t mask = ((uint64_t)1 << 48) - 1;
  uint64_t       x    = ((number + 1) * 0x9E3779B97F4A7C15u) & mask;

  x = ((x ^ (x >> 23)) * 0xBF58476D1CE4E5B9u) & mask;
  x = ((x ^ (x >> 21)) * 0x94D049BB133111EBu) & mask;
  x ^= x >> 25;
  return (uint64_t)(0xFFFF - (degree < 0xFFFF ? degree : 0xFFFF)) << 48 | x;
}

AGG_INLINE uint64_t AggKey(uint64_t number, int64_t degree, int lowdegree)
{
  return lowdegree ? AggHashLow(number, degree) : AggHash(number);
}

/* In units of 2^-24. A weight that is no number counts as none. */
AGG_INLINE uint32_t AggInteger(double w)
{
  return w < 256 ? (w > 0 ? (uint32_t)(w * 16777216. + 0.5) : 0) : w >= 256 ? UINT32_MAX : 0;
}

#define AGG_LONG 24 /* from this length on a row is searched by halves */

/* The place of column c among the ascending j[begin] to j[end - 1], or -1 */
AGG_INLINE int64_t AggFind(const SysInt j[], int64_t begin, int64_t end, SysInt c)
{
  while (end - begin > AGG_LONG) {
    const int64_t middle = begin + (end - begin) / 2;

    if (j[middle] <= c) begin = middle;
    else end = middle;
  }
  while (begin < end && j[begin] < c) begin++;
  return begin < end && j[begin] == c ? begin : -1;
}
