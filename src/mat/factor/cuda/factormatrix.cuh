/* SPDX-License-Identifier: BSD-2-Clause */
/*
   A factor that the device makes, in its own order of rows
*/
#pragma once

#include "mat/factor/cuda/factortriangle.cuh"

#if defined(SYS_SINGLE)
  #define FactorMultiply(a, b) __fmul_rn(a, b)
  #define FactorAdd(a, b)      __fadd_rn(a, b)
#else
  #define FactorMultiply(a, b) __dmul_rn(a, b)
  #define FactorAdd(a, b)      __dadd_rn(a, b)
#endif

struct FactorMatrix_ {
  int        n, nz, symmetric;
  int       *begin, *diagonal, *after; /* n + 1 starts of rows; the diagonal and the entry behind it */
  int       *j, *from;                 /* the column; the entry of the matrix, or -1 */
  int       *order;                    /* rows by level */
  FactorRows columns;                  /* symmetric: of each row, the rows i and the places of u(i,k) */
  SysScalar *work, *value;
  unsigned  *ticket; /* and whether a pivot was refused */
  char      *memory[3];
};

/* A number of a row whose reciprocal is there, and which is on its way at the latest */
static __device__ __forceinline__ SysScalar FactorAwait(const SysScalar *p)
{
  SysScalar x;

  do x = FactorRead(p);
  while (FactorIsMissing(x));
  return x;
}

/* work(e) += scale value(t) for the columns that both lists have */
static __device__ __forceinline__ void FactorAddRow(const int *j, int e, int last, int t, int end, SysScalar scale, SysScalar *work, const SysScalar *value)
{
  while (e < last && t < end) {
    const int own = j[e], other = j[t];

    if (own == other) work[e] = FactorAdd(work[e], FactorMultiply(scale, FactorAwait(value + t)));
    e += own <= other;
    t += other <= own;
  }
}
