/* SPDX-License-Identifier: BSD-2-Clause */
/* How kernels store a product's result, and which parts a conversion writes; for all formats */
#pragma once

#include "sys/sysisa.h"
#include "sys/systypes.h"

/* The parts of a format to write: all, only the values, or all but the values */
typedef enum {
  SYS_FILL_ALL,
  SYS_FILL_VALUES,
  SYS_FILL_PATTERN
} SysFill;

typedef enum {
  SYS_STORE_SET,  /* z = alpha s */
  SYS_STORE_AXPY, /* z = alpha s + beta y */
  SYS_STORE_ADD   /* z = alpha s + z */
} SysStore;

/* Returns a b + c, rounded once where the processor can: the compiler alone may round differently in two kernels of the same product with different
   storages */
static SYS_INLINE SysScalar SysMulAdd(SysScalar a, SysScalar b, SysScalar c)
{
#if !defined(__FMA__) || defined(SYS_COMPLEX)
  return a * b + c;
#elif defined(SYS_SINGLE)
  return __builtin_fmaf(a, b, c);
#else
  return __builtin_fma(a, b, c);
#endif
}

static SYS_INLINE SysScalar SysStored(SysStore how, SysScalar alpha, SysScalar s, SysScalar beta, const SysScalar *y, const SysScalar *z, int64_t r)
{
  if (how == SYS_STORE_SET) return alpha * s;
  if (how == SYS_STORE_AXPY) return SysMulAdd(alpha, s, beta * y[r]);
  return SysMulAdd(alpha, s, z[r]);
}

/* Returns how to store a row's first sum in z = alpha A x + beta y; y may be z */
static SYS_INLINE SysStore SysFirstStore(SysScalar beta, const SysScalar *y, const SysScalar *z)
{
  return beta == 0 ? SYS_STORE_SET : (y == z && beta == 1 ? SYS_STORE_ADD : SYS_STORE_AXPY);
}

static SYS_INLINE int SysNotFinite(SysScalar a)
{
  const SysScalar d = a - a;

  return d != 0;
}

/* Returns whether one of C sums is a NaN */
static SYS_INLINE int SysAnyNaN(const int C, const SysScalar *sum)
{
  int bad = 0;

  for (int l = 0; l < C; l++) bad |= sum[l] != sum[l];
  return bad;
}

/* Sets z = beta y for entries j0 to j1 - 1, before sums are added */
static SYS_INLINE void SysStartSum(int64_t j0, int64_t j1, SysScalar beta, const SysScalar *y, SysScalar *z)
{
  if (beta == 0) {
    for (int64_t j = j0; j < j1; j++) z[j] = 0;
  } else if (beta != 1 || y != z) {
    for (int64_t j = j0; j < j1; j++) z[j] = beta * y[j];
  }
}
