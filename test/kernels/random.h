/* SPDX-License-Identifier: BSD-2-Clause */
/* What the tests of kernels on raw arrays have in common: random numbers that are the same in every run, and what rounding amounts to */
#pragma once

#include <float.h>
#include <math.h>
#include <stdint.h>

#include "sys/systypes.h"

#if defined(SYS_SINGLE)
  #define EPS FLT_EPSILON
#else
  #define EPS DBL_EPSILON
#endif

static uint64_t seed = 88172645463325252u;

static inline uint64_t Random(void)
{
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return seed;
}

static inline int64_t RandomBelow(int64_t n)
{
  return (int64_t)(Random() % (uint64_t)n);
}

static inline SysScalar RandomScalar(void)
{
  SysScalar a = (SysReal)((double)(Random() >> 11) / 9007199254740992.0 - 0.5);

#if defined(SYS_COMPLEX)
  a += I * (SysReal)((double)(Random() >> 11) / 9007199254740992.0 - 0.5);
#endif
  return a;
}

static inline double Abs(SysScalar a)
{
#if defined(SYS_COMPLEX)
  const double x = creal(a), y = cimag(a);

  return sqrt(x * x + y * y); /* cabs() takes as long as the kernels */
#else
  return fabs((double)a);
#endif
}
