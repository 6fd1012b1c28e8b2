/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Any sparse matrix and any vector from bytes, and products with them by plain loops.

   A matrix is drawn by commands, of a byte each with their arguments: an entry, a line of entries, a row like the one before, empty rows. Columns may be unsorted
   and repeated; values may be NaN, infinite, denormal, the largest number or a zero of either sign.
*/
#pragma once

#include <complex.h>
#include <float.h>
#include <math.h>

#include "fuzz.h"
#include "sys/syscsr.h"

#define CSR_ENTRIES 6000 /* at most, so that an input takes milliseconds */

#if defined(SYS_SINGLE)
  #define SCALAR_MAX  FLT_MAX
  #define SCALAR_TINY FLT_TRUE_MIN
  #define SCALAR_EPS  FLT_EPSILON
#else
  #define SCALAR_MAX  DBL_MAX
  #define SCALAR_TINY DBL_TRUE_MIN
  #define SCALAR_EPS  DBL_EPSILON
#endif

/* What columns of a row may be like */
typedef enum {
  CSR_ASCENDING,
  CSR_REPEATED, /* not descending */
  CSR_ANY
} CsrOrder;

typedef struct {
  int64_t    m, n, nz;
  SysInt    *i, *j;
  SysScalar *a;
  int        ascending;
} Csr;

static inline SysReal TakeReal(Bytes *b)
{
  static const SysReal special[] = {0, -(SysReal)0., 1, -1, NAN, INFINITY, -INFINITY, SCALAR_TINY, -3 * SCALAR_TINY, SCALAR_MAX, -SCALAR_MAX, SCALAR_MAX * SCALAR_EPS, (SysReal).1, 3, SCALAR_EPS, 1 + SCALAR_EPS};
  const uint32_t       c         = TakeByte(b);

  if (c < 160) return (SysReal)(((int)c - 80) * .1);
  if (c < 224) return (SysReal)((int)c - 192);
  return special[c % 16];
}

static inline SysScalar TakeScalar(Bytes *b)
{
#if defined(SYS_COMPLEX)
  SysReal   parts[2];
  SysScalar a;

  for (int k = 0; k < 2; k++) parts[k] = TakeReal(b);
  memcpy(&a, parts, sizeof(a));
  return a;
#else
  return TakeReal(b);
#endif
}

/* A size: small, or beyond the width of a 16-bit index, or around a power of two */
static inline int64_t TakeSize(Bytes *b, int large)
{
  const uint32_t c = TakeByte(b);

  if (c < 200 || !large) return c % 200;
  if (c < 210) return TakeWord(b);
  if (c < 220) return 65536 + TakeByte(b);
  return ((int64_t)1 << c % 12) + TakeByte(b) % 128;
}

static inline int CsrCompare(const void *a, const void *b)
{
  const SysInt x = *(const SysInt *)a, y = *(const SysInt *)b;

  return (x > y) - (x < y);
}

/* A matrix of m rows and n columns. Values follow the commands; if they end, values repeat. */
static inline void CsrTake(Bytes *b, int64_t m, int64_t n, CsrOrder order, Csr *A)
{
  SysInt   *j   = Exactly(CSR_ENTRIES, sizeof(*j));
  int64_t   row = 0, nz = 0, last = 0;
  Bytes     values;
  SysScalar few[64];
  int       nfew = 0;

  *A      = (Csr){.m = m, .n = n, .i = Exactly(m + 1, sizeof(SysInt)), .ascending = 1};
  A->i[0] = 0;
  while (row < m && n && b->left && nz < CSR_ENTRIES) {
    const uint32_t c = TakeByte(b);
    int64_t        count, stride;

    switch (c & 7) {
    case 0: /* an entry anywhere */
      last    = (int64_t)(TakeWord(b) * (1 + c / 8)) % n;
      j[nz++] = (SysInt)last;
      break;
    case 1: /* an entry near the last one */
    case 2:
      last    = (last + (int64_t)(c / 8) + 8 * n - 8) % n;
      j[nz++] = (SysInt)last;
      break;
    case 3: /* a line of entries */
      count  = TakeByte(b);
      stride = 1 + (c / 8) * (c / 8);
      for (; count-- && nz < CSR_ENTRIES; last = (last + stride) % n) j[nz++] = (SysInt)last;
      break;
    case 4: { /* the row before, moved */
      const int64_t from = row ? A->i[row - 1] : 0, to = row ? A->i[row] : 0;

      for (int64_t k = from; k < to && nz < CSR_ENTRIES; k++) j[nz++] = (SysInt)((j[k] + c / 8) % n);
      A->i[++row] = (SysInt)nz;
      break;
    }
    case 5: /* the next row */
      A->i[++row] = (SysInt)nz;
      break;
    case 6: /* empty rows */
      for (count = c < 128 ? c / 8 : TakeWord(b) % (m - row + 1); count-- > 0 && row < m;) A->i[++row] = (SysInt)nz;
      break;
    default: /* rows of one entry each, on a diagonal */
      for (count = TakeByte(b) + 1; count-- && row < m && nz < CSR_ENTRIES;) {
        last        = (last + c / 8) % n;
        j[nz++]     = (SysInt)last;
        A->i[++row] = (SysInt)nz;
      }
    }
  }
  while (row < m) A->i[++row] = (SysInt)nz;
  if (!m) nz = 0;
  if (order != CSR_ANY) { /* sort, and take repeated ones out */
    int64_t to = 0;

    for (int64_t r = 0, k = 0; r < m; r++) {
      const int64_t begin = to, end = A->i[r + 1];

      qsort(j + k, (size_t)(end - k), sizeof(*j), CsrCompare);
      for (; k < end; k++) {
        if (order == CSR_REPEATED || to == begin || j[to - 1] != j[k]) j[to++] = j[k];
      }
      A->i[r + 1] = (SysInt)to;
    }
    nz = to;
  }
  for (int64_t r = 0; r < m; r++) {
    for (int64_t k = A->i[r] + 1; k < A->i[r + 1]; k++) A->ascending = A->ascending && j[k] > j[k - 1];
  }
  A->nz = nz;
  A->j  = Exactly(nz, sizeof(*A->j));
  memcpy(A->j, j, (size_t)nz * sizeof(*j));
  free(j);
  A->a   = Exactly(nz, sizeof(*A->a));
  values = *b;
  for (; nfew < 64 && (values.left || !nfew); nfew++) few[nfew] = TakeScalar(&values);
  for (int64_t k = 0; k < nz; k++) A->a[k] = few[k % nfew];
}

/* Other values of the same matrix; distinct: one of so many, or 0: all different */
static inline void CsrChange(Csr *A, uint32_t distinct)
{
  for (int64_t k = 0; k < A->nz; k++) A->a[k] = (SysReal)((distinct ? (double)(k * 7 % distinct) : (double)k) * .3 - 1);
}

static inline void CsrDestroy(Csr *A)
{
  free(A->i);
  free(A->j);
  free(A->a);
}

static inline SysCSR CsrGet(const Csr *A)
{
  return (SysCSR){A->m, A->n, A->nz, A->i, A->j, A->a};
}

/* n numbers that repeat some of the input */
static inline SysScalar *VectorTake(Bytes *b, int64_t n)
{
  SysScalar *x     = Exactly(n, sizeof(*x)), few[16];
  const int  plain = !b->left;

  for (int k = 0; k < 16; k++) few[k] = plain ? (SysReal)(1 + k * .1) : TakeScalar(b);
  for (int64_t k = 0; k < n; k++) x[k] = few[(k + k / 16) % 16];
  return x;
}

static inline int IsFinite(SysScalar a)
{
#if defined(SYS_COMPLEX)
  return isfinite(creal(a)) && isfinite(cimag(a));
#else
  return isfinite(a);
#endif
}

static inline double Size(SysScalar a)
{
#if defined(SYS_COMPLEX)
  return fabs((double)creal(a)) + fabs((double)cimag(a));
#else
  return fabs((double)a);
#endif
}

/* A sum of products. The terms count with their sizes, since their order is not given. */
typedef struct {
#if defined(SYS_COMPLEX)
  long double _Complex exact;
#else
  long double exact;
#endif
  long double size; /* of the finite terms */
  int64_t     terms;
  int         special; /* a factor is not finite */
  int         infinite[2], nan;
} Sum;

/* Adds f a b */
static inline void SumAdd(Sum *s, SysReal f, SysScalar a, SysScalar b)
{
  s->terms++;
  if (IsFinite(a) && IsFinite(b)) {
#if defined(SYS_COMPLEX)
    s->exact += (long double)f * ((long double _Complex)a * (long double _Complex)b);
#else
    s->exact += (long double)f * ((long double)a * (long double)b);
#endif
    s->size += (fabs((double)f) + 1) * ((long double)Size(a) * (long double)Size(b)); /* the product, and f times it */
    return;
  }
  s->special |= 1;
#if !defined(SYS_COMPLEX)
  if (isnan(f * (a * b))) s->nan = 1;
  else s->infinite[f * (a * b) < 0] = 1;
#endif
}

/* Is a number this sum, but for rounding by eps? Finite sums that may have overflown on the way are not judged, nor are complex ones with numbers that are not finite. */
static inline int SumIs(const Sum *s, SysScalar a, double eps)
{
  const int overflow = s->size > SCALAR_MAX / 8;

#if defined(SYS_COMPLEX)
  if (s->special || overflow) return 1;
  return cabsl((long double _Complex)a - s->exact) <= (s->terms + 8) * 4 * (eps * s->size + SCALAR_TINY);
#else
  if (s->special) {
    if (s->nan || (s->infinite[0] && s->infinite[1])) return isnan(a);
    return isinf(a) ? (a < 0) == s->infinite[1] : isnan(a) && overflow;
  }
  return overflow || fabsl((long double)a - s->exact) <= (s->terms + 8) * (eps * s->size + 2 * SCALAR_TINY);
#endif
}
