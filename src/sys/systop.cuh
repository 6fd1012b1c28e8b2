/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Keys of numbers by size: a number and its place form a key, and all keys differ
*/
#pragma once

#include "sys/systypes.h"

#if defined(SYS_SINGLE)
typedef unsigned SysTopWord;
#else
typedef unsigned long long SysTopWord;
#endif

#define SYS_TOP_VALUE_BITS ((int)(8 * sizeof(SysTopWord)))
#define SYS_TOP_PLACE_BITS 32

/* The larger key is better: the value decides, then the place. NaN has the least word. */
struct SysTopKey {
  SysTopWord value;
  unsigned   place;
};

static __device__ __forceinline__ SysTopKey SysTopKeyOf(const SysScalar *x, int k)
{
  const SysScalar  v   = x[k] + 0; /* -0 becomes 0 */
  const SysTopWord top = (SysTopWord)1 << (SYS_TOP_VALUE_BITS - 1);
#if defined(SYS_SINGLE)
  const SysTopWord bits = __float_as_uint(v);
#else
  const SysTopWord bits = (SysTopWord)__double_as_longlong(v);
#endif

  return {v != v ? 0 : bits & top ? ~bits : bits | top, ~(unsigned)k};
}

/* The digits found so far, and a mask of their bits */
struct SysTopBound {
  SysTopKey bits, known;
};

static __device__ __forceinline__ SysTopKey SysTopKnown(SysTopKey key, SysTopBound bound)
{
  return {key.value & bound.known.value, key.place & bound.known.place};
}
