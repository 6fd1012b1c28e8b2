/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The kernels of BAIJ against plain loops, without PETSc: every instruction set this processor has, block sizes 2 to 8, empty rows, rectangles, and the same bits on any
   number of threads.

   Prints "ok NAME" or "not ok NAME" for each block size and instruction set.
*/
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mat/baij/host/baijhost.h"

#define ROWS      37 /* block rows and columns of the matrix */
#define COLUMNS   29
#define MOST      (ROWS * BAIJ_MOST)
#define TOLERANCE (1.e3 * (sizeof(SysScalar) == 8 ? DBL_EPSILON : FLT_EPSILON))

static SysScalar Number(void)
{
  return (SysScalar)(rand() / (double)RAND_MAX - .5);
}

/* The number in row r and column c of a block */
static double At(const BAIJHost *A, SysInt block, int r, int c)
{
  return (double)A->a[((size_t)block * A->bs + c) * A->bs + r];
}

/* d = d + A x or A^T x, or the product of the symmetric matrix whose upper blocks A has */
static void Plain(const BAIJHost *A, int transpose, int symmetric, const SysScalar *x, double d[])
{
  const int bs = A->bs;

  for (int64_t i = 0; i < A->m; i++) {
    for (SysInt b = A->i[i]; b < A->i[i + 1]; b++) {
      for (int r = 0; r < bs; r++) {
        for (int c = 0; c < bs; c++) {
          const int64_t row = i * bs + r, column = (int64_t)A->j[b] * bs + c;

          if (!transpose) d[row] += At(A, b, r, c) * (double)x[column];
          if (transpose || (symmetric && A->j[b] != i)) d[column] += At(A, b, r, c) * (double)x[row];
        }
      }
    }
  }
}

static int Close(const SysScalar *z, const double d[], int64_t n)
{
  for (int64_t k = 0; k < n; k++) {
    if (!(fabs((double)z[k] - d[k]) <= TOLERANCE)) return 0;
  }
  return 1;
}

static int Check(const BAIJKernels *kernels, BAIJHost *A, int64_t columns, int symmetric)
{
  const size_t bytes = sizeof(SysScalar) * (size_t)(A->m * A->bs);
  SysScalar    x[MOST], y[MOST], z[MOST], same[MOST];
  double       d[MOST];
  int          good;

  for (int k = 0; k < MOST; k++) {
    x[k] = Number();
    y[k] = Number();
    d[k] = (double)y[k];
  }
  if (symmetric) {
    Plain(A, 0, 1, x, d);
    memcpy(z, y, sizeof(z));
    (*kernels->multsymmetric)(A, x, z);
    return Close(z, d, A->m * A->bs);
  }
  Plain(A, 0, 0, x, d);
  (*kernels->mult)(A, 1, x, y, z);
  good = Close(z, d, A->m * A->bs);
  for (int threads = 2; threads < 6; threads += 3) { /* in place too */
    memcpy(same, y, sizeof(same));
    (*kernels->mult)(A, threads, x, same, same);
    good = good && memcmp(same, z, bytes) == 0;
  }
  memset(d, 0, sizeof(d));
  Plain(A, 0, 0, x, d);
  (*kernels->mult)(A, 3, x, NULL, z);
  good = good && Close(z, d, A->m * A->bs);
  for (int k = 0; k < MOST; k++) d[k] = (double)(z[k] = y[k]);
  Plain(A, 1, 0, x, d);
  (*kernels->multtranspose)(A, x, z);
  return good && Close(z, d, columns * A->bs);
}

/* The same matrix as an AIJ: its nodes are found, its product is right and has the same bits on any number of threads, in place too; and another column or a longer row is no node */
static int CheckNodes(const BAIJKernels *kernels, const BAIJHost *A, int64_t columns)
{
  const int    bs = A->bs;
  const SysInt nz = A->i[A->m] * bs * bs;
  SysInt      *i = malloc(sizeof(*i) * (size_t)(A->m * bs + 1)), *j = malloc(sizeof(*j) * (size_t)nz), n = 0;
  SysScalar   *a = malloc(sizeof(*a) * (size_t)nz), x[MOST], y[MOST], z[MOST], same[MOST];
  double       d[MOST];
  int          good = 0;

  if (i && j && a) {
    SysCSR   csr   = {.m = A->m * bs, .n = columns * bs, .nz = nz, .i = i, .j = j, .a = a};
    BAIJHost nodes = {.m = A->m, .bs = bs, .i = i, .j = j, .a = a};

    i[0] = 0;
    for (int64_t r = 0; r < A->m * bs; r++) {
      for (SysInt b = A->i[r / bs]; b < A->i[r / bs + 1]; b++) {
        for (int c = 0; c < bs; c++) {
          j[n]   = A->j[b] * bs + c;
          a[n++] = (SysScalar)At(A, b, (int)(r % bs), c);
        }
      }
      i[r + 1] = n;
    }
    for (int k = 0; k < MOST; k++) {
      x[k] = Number();
      y[k] = Number();
      d[k] = (double)y[k];
    }
    Plain(A, 0, 0, x, d);
    (*kernels->multnodes)(&nodes, 1, x, y, z);
    good = BAIJFindNodes(&csr, bs) && Close(z, d, csr.m);
    for (int threads = 2; threads < 6; threads += 3) {
      memcpy(same, y, sizeof(same));
      (*kernels->multnodes)(&nodes, threads, x, same, same);
      good = good && memcmp(same, z, sizeof(*z) * (size_t)csr.m) == 0;
    }
    (*kernels->multnodes)(&nodes, 2, x, NULL, z);
    for (int64_t k = 0; k < csr.m; k++) d[k] -= (double)y[k];
    good = good && Close(z, d, csr.m);
    j[nz - 1]--; /* a column twice */
    good = good && !BAIJFindNodes(&csr, bs);
    j[nz - 1]++;
    i[csr.m - 1]--; /* a row of the last node is longer */
    good = good && (A->i[A->m] == A->i[A->m - 1] || !BAIJFindNodes(&csr, bs));
  }
  free(i);
  free(j);
  free(a);
  return good;
}

/* A matrix with about a quarter of the blocks and some empty block rows, or the upper blocks of a symmetric one */
static int CheckSize(const BAIJKernels *kernels, int bs, int symmetric)
{
  const int64_t columns = symmetric ? ROWS : COLUMNS;
  const size_t  most    = (size_t)(ROWS * columns);
  SysInt       *i = calloc(ROWS + 1, sizeof(*i)), *j = calloc(most, sizeof(*j)), n = 0;
  SysScalar    *a    = NULL;
  int           good = 0;

  if (i && j) {
    srand((unsigned)bs);
    for (int64_t r = 0; r < ROWS; r++) {
      for (int64_t c = symmetric ? r : 0; c < columns; c++) {
        if (r % 5 != 2 && (rand() % 4 == 0 || (symmetric && c == r && r % 3))) j[n++] = (SysInt)c;
      }
      i[r + 1] = n;
    }
    a = malloc(sizeof(*a) * (size_t)(n * bs * bs)); /* exactly: the sanitizer sees a load beyond the end */
  }
  if (a) {
    BAIJHost A = {.m = ROWS, .bs = bs, .i = i, .j = j, .a = a};

    for (int64_t k = 0; k < (int64_t)n * bs * bs; k++) a[k] = Number();
    for (int64_t r = 0; r < ROWS && symmetric; r++) { /* its diagonal blocks are symmetric */
      SysScalar *block = a + (size_t)i[r] * bs * bs;

      for (int k = 0; k < bs * bs && i[r] < i[r + 1] && j[i[r]] == r; k++) block[k] = block[k % bs * bs + k / bs];
    }
    good = Check(kernels, &A, columns, symmetric) && (symmetric || CheckNodes(kernels, &A, columns));
  }
  free(i);
  free(j);
  free(a);
  return good;
}

int main(void)
{
  const BAIJKernels *const sets[] = {
#if defined(PETSCAMB_HAVE_AVX2)
    &BAIJKernelsAVX2,
#endif
#if defined(PETSCAMB_HAVE_AVX512)
    &BAIJKernelsAVX512,
#endif
    &BAIJKernelsPlain
  };
  int failed = 0;

  for (size_t k = 0; k < sizeof(sets) / sizeof(*sets); k++) {
    if (!(*sets[k]->supported)()) {
      printf("skip blocks %s: this processor has no such instructions\n", sets[k]->name);
      continue;
    }
    for (int bs = BAIJ_LEAST; bs <= BAIJ_MOST && sets[k]->mult; bs++) {
      const int good = CheckSize(sets[k], bs, 0) && CheckSize(sets[k], bs, 1);

      printf("%s blocks of %d, %s\n", good ? "ok" : "not ok", bs, sets[k]->name);
      failed = failed || !good;
    }
  }
  printf("%s without kernels for plain instructions, PETSc multiplies\n", BAIJKernelsPlain.mult ? "not ok" : "ok");
  return failed;
}
