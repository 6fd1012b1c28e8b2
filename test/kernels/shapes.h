/* SPDX-License-Identifier: BSD-2-Clause */
/* What the tests of the formats' kernels have in common: matrices of many shapes, and products compared with plain sums */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"

static int failures = 0;

static SYS_INLINE void Report(int good, const char *name)
{
  printf("%sok %s\n", good ? "" : "not ", name);
  failures += !good;
}

/* A matrix under construction: columns are marked in a row, then the row is closed */
typedef struct {
  SysInt     m, n, nz, row, capacity;
  SysInt    *i, *j;
  SysScalar *a;
  char      *mark;
} Builder;

static void Start(Builder *B, SysInt m, SysInt n)
{
  memset(B, 0, sizeof(*B));
  B->m    = m;
  B->n    = n;
  B->i    = calloc(m + 1, sizeof(*B->i));
  B->mark = calloc(n + 1, 1);
}

static void Mark(Builder *B, int64_t col, int64_t len)
{
  for (int64_t c = col < 0 ? 0 : col; c < col + len && c < B->n; c++) B->mark[c] = 1;
}

static void CloseRow(Builder *B)
{
  for (SysInt c = 0; c < B->n; c++) {
    if (!B->mark[c]) continue;
    if (B->nz == B->capacity) {
      B->capacity = 2 * B->capacity + 1000;
      B->j        = realloc(B->j, sizeof(*B->j) * B->capacity);
      B->a        = realloc(B->a, sizeof(*B->a) * B->capacity);
    }
    B->j[B->nz]   = c;
    B->a[B->nz++] = RandomBelow(20) ? RandomScalar() : 0; /* some explicit zeros */
    B->mark[c]    = 0;
  }
  B->i[++B->row] = B->nz;
}

static void Finish(Builder *B)
{
  free(B->i);
  free(B->j);
  free(B->a);
  free(B->mark);
}

/* The shapes */
static void Runs(Builder *B, SysInt m, SysInt n, int runs, int len)
{
  Start(B, m, n);
  for (SysInt r = 0; r < m; r++) {
    const int k = (int)RandomBelow(runs + 1);

    for (int q = 0; q < k && n; q++) Mark(B, RandomBelow(n), 1 + RandomBelow(len));
    CloseRow(B);
  }
}

static void Band(Builder *B, SysInt n, int half, int b)
{
  Start(B, n, n);
  for (SysInt r = 0; r < n; r++) {
    for (int k = -half; k <= half; k++) Mark(B, ((int64_t)r / b + 7 * k) * b, b);
    CloseRow(B);
  }
}

static void Hub(Builder *B, SysInt n)
{
  Start(B, n, n);
  for (SysInt r = 0; r < n; r++) {
    if (r % (n / 3 + 1) == 5) Mark(B, 0, n);
    else if (r % 11) Mark(B, RandomBelow(n), 1 + RandomBelow(3));
    CloseRow(B);
  }
}

static void EmptyMiddle(Builder *B, SysInt m, SysInt n)
{
  Start(B, m, n);
  for (SysInt r = 0; r < m; r++) {
    if (r < m / 4 || r > m - m / 4) {
      Mark(B, RandomBelow(n / 10), 2);
      Mark(B, n - 1 - RandomBelow(n / 10), 2);
    }
    CloseRow(B);
  }
}

/* Columns that need not ascend, and may be repeated */
static SYS_INLINE void Disorder(Builder *B)
{
  Runs(B, 300, 200, 8, 4);
  for (SysInt r = 0; r < B->m; r++) {
    for (SysInt k = B->i[r] + 1; k < B->i[r + 1]; k++) {
      const SysInt other = B->i[r] + (SysInt)RandomBelow(k - B->i[r] + 1), j = B->j[k];

      B->j[k]     = B->j[other];
      B->j[other] = r % 5 ? j : B->j[k];
    }
  }
}

static int SameOrClose(SysScalar a, SysScalar b, double scale)
{
  if (a != a || b != b) return a != a && b != b;
  if (isinf(Abs(a)) || isinf(Abs(b))) return a == b;
  return Abs(a - b) <= 50 * EPS * scale;
}

/* z = op(A) x, and the sums of absolute values that bound its rounding errors */
static void Reference(const Builder *B, int transpose, const SysScalar *x, SysScalar *z, double *scale)
{
  const SysInt nz = transpose ? B->n : B->m;

  for (SysInt r = 0; r < nz; r++) {
    z[r]     = 0;
    scale[r] = 0;
  }
  for (SysInt r = 0; r < B->m; r++) {
    for (SysInt k = B->i[r]; k < B->i[r + 1]; k++) {
      const SysInt to = transpose ? B->j[k] : r, from = transpose ? r : B->j[k];

      z[to] += B->a[k] * x[from];
      scale[to] += Abs(B->a[k] * x[from]);
    }
  }
}

/* A product of what is tested: z = alpha op(A) x + beta y; returns 0 if it cannot be made */
typedef int Product(const void *A, int transpose, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z);

static int CheckProducts(const Builder *B, const void *A, Product *product, int nonfinite, const char **what)
{
  static const int coefficients[][3] = {
    {1,  0,  0},
    {1,  1,  1},
    {-2, 3,  0},
    {2,  -1, 1}
  }; /* alpha, beta, in place */
  const SysInt longest = B->m > B->n ? B->m : B->n;
  SysScalar   *x = malloc(sizeof(*x) * (longest + 1)), *y = malloc(sizeof(*y) * (longest + 1)), *z = malloc(sizeof(*z) * (longest + 1)), *ref = malloc(sizeof(*ref) * (longest + 1));
  double      *scale = malloc(sizeof(*scale) * (longest + 1));
  int          good  = 1;

  for (int transpose = 0; transpose < 2 && good; transpose++) {
    const SysInt nx = transpose ? B->m : B->n, nz = transpose ? B->n : B->m;

    for (SysInt k = 0; k < nx; k++) x[k] = RandomScalar();
    for (SysInt k = 0; k < nz; k++) y[k] = RandomScalar();
    for (int k = 0; k < nonfinite && nx; k++) x[RandomBelow(nx)] = k % 3 ? (k % 3 == 1 ? INFINITY : -INFINITY) : NAN;
    Reference(B, transpose, x, ref, scale);
    for (int c = 0; c < 4 && good; c++) {
      const SysScalar alpha = coefficients[c][0], beta = coefficients[c][1];
      const int       inplace = coefficients[c][2];

      for (SysInt k = 0; k < nz; k++) z[k] = inplace ? y[k] : NAN;
      good = (*product)(A, transpose, alpha, x, beta, beta == 0 ? NULL : (inplace ? z : y), z);
      for (SysInt k = 0; k < nz && good; k++) {
        const SysScalar sum = beta == 0 ? alpha * ref[k] : alpha * ref[k] + beta * y[k];

        if (z[k] != sum && !SameOrClose(z[k], sum, Abs(alpha) * scale[k] + (beta == 0 ? 0 : Abs(beta) * Abs(y[k])) + 1e-30)) good = 0;
      }
      if (!good) *what = transpose ? "transposed product" : "product";
    }
  }
  free(x);
  free(y);
  free(z);
  free(ref);
  free(scale);
  return good;
}

typedef void CheckShape(const char *name, Builder *B);

static void ForEachShape(CheckShape *check)
{
  Builder B;

  Runs(&B, 0, 0, 1, 1);
  check("no rows, no columns", &B);
  Finish(&B);
  Runs(&B, 0, 5, 1, 1);
  check("no rows", &B);
  Finish(&B);
  Runs(&B, 5, 0, 1, 1);
  check("no columns", &B);
  Finish(&B);
  Runs(&B, 1, 1, 1, 1);
  check("one entry", &B);
  Finish(&B);
  Runs(&B, 1, 3000, 40, 9);
  check("one row", &B);
  Finish(&B);
  Runs(&B, 3000, 1, 1, 1);
  check("one column", &B);
  Finish(&B);
  Runs(&B, 13, 17, 4, 3);
  check("small", &B);
  Finish(&B);
  Runs(&B, 1000, 900, 12, 1);
  check("scattered", &B);
  Finish(&B);
  Runs(&B, 700, 1500, 8, 12);
  check("runs", &B);
  Finish(&B);
  Band(&B, 999, 4, 3);
  check("band of 3-blocks", &B);
  Finish(&B);
  Hub(&B, 1200);
  check("hub rows", &B);
  Finish(&B);
  EmptyMiddle(&B, 900, 400);
  check("empty rows", &B);
  Finish(&B);
  Runs(&B, 40, 70000, 30, 6);
  check("70,000 columns", &B);
  Finish(&B);
  Runs(&B, 100, 140000, 3, 15);
  check("140,000 columns", &B);
  Finish(&B);
  EmptyMiddle(&B, 120, 200000);
  check("empty segments", &B);
  Finish(&B);
}

static SYS_INLINE void CheckDisorder(CheckShape *check)
{
  Builder B;

  Disorder(&B);
  check("columns in disorder, and repeated", &B);
  Finish(&B);
}

/* The kernels of a format for one instruction set */
typedef struct {
  const char *name;
  const void *kernels;
} KernelSet;

#define KERNEL_SET(kernels) \
  if ((kernels).supported()) sets[n++] = (KernelSet){(kernels).name, &(kernels)};
#if defined(PETSCAMB_HAVE_AVX512) && !defined(SYS_COMPLEX)
  #define KERNEL_SET_AVX512(Format) KERNEL_SET(Format##KernelsAVX512)
#else
  #define KERNEL_SET_AVX512(Format)
#endif
#if defined(PETSCAMB_HAVE_AVX2) && !defined(SYS_COMPLEX)
  #define KERNEL_SET_AVX2(Format) KERNEL_SET(Format##KernelsAVX2)
#else
  #define KERNEL_SET_AVX2(Format)
#endif

/* Defines Sets(), which gets the kernels for each instruction set of this processor and returns their number */
#define KERNEL_SETS(Format) \
  static int Sets(KernelSet sets[3]) \
  { \
    int n = 0; \
\
    KERNEL_SET_AVX512(Format) \
    KERNEL_SET_AVX2(Format) \
    sets[n++] = (KernelSet){Format##KernelsPlain.name, &Format##KernelsPlain}; \
    return n; \
  }

/* A check of case number k */
typedef int CheckCase(Builder *, const void *kernels, int k, int nthread, const char **what);

/* Checks all cases with set number s of kernels. With a share of n, wide matrices, which take time, are checked in every n-th case. */
static SYS_INLINE void CheckCases(const char *name, Builder *B, const KernelSet *set, int s, int share, int ncase, CheckCase *check)
{
  static const int threads[] = {1, 2, 7};
  const char      *what      = "";
  int              good      = 1, k;

  for (k = 0; k < ncase && good; k++) {
    if (B->n > 50000 && (k + s) % share) continue;
    good = (*check)(B, set->kernels, k, threads[(k + s) % 3], &what);
  }
  if (good) printf("ok %s, %s\n", name, set->name);
  else printf("not ok %s, %s: %s in case %d\n", name, set->name, what, k - 1);
  failures += !good;
}
