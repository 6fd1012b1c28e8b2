/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Storages of values of a format on the host: products have the bits of products with values as they are
*/
#pragma once

#include "sys/sysvalues.h"
#include "shapes.h"

/* Values that only a comparison of bits tells apart, then others, so many in all. With floats: numbers that single precision holds. */
static void FewValues(Builder *B, int distinct, int floats)
{
  for (SysInt k = 0; k < B->nz; k++) {
    const int q = distinct ? (int)(k % 11 ? (k / 3) % distinct : k % distinct) : 0;
    SysReal   v = (SysReal)(1 + q * (floats ? .25 : .3));

    if (!floats && q < 4) {
      static const unsigned char bits[4][8] = {
        {0,     0, 0, 0, 0, 0,  0,   0x80}, /* -0, as a double */
        {1    }, /* denormal */
        {7, 1,  0,   0,   0,  0, 0xf8, 0x7f  },
        {0, 0,  0,   0,   0,  0, 0xf0, 0x7f}
      };

      memcpy(&v, bits[q] + 8 - sizeof(v), sizeof(v));
      if (q == 1) memcpy(&v, bits[q], sizeof(v));
    }
    B->a[k] = distinct && k % 7 ? v : 0;
  }
}

#if defined(SYS_HAVE_STORAGE_SINGLE)
static int AllFloats(const Builder *B)
{
  for (SysInt k = 0; k < B->nz; k++) {
    if (!SysIsFloat(B->a + k)) return 0;
  }
  return 1;
}
#endif

/* Do both formats give the same bits? Which of two different NaNs a sum keeps is left to the compiler, which chooses the order of operands. */
static int SameBits(Builder *B, Product *product, const void *A, const void *plain, int transpose)
{
  const SysInt nx = transpose ? B->m : B->n, nz = transpose ? B->n : B->m;
  SysScalar   *x = malloc(sizeof(*x) * (nx + 1)), *y = malloc(sizeof(*y) * (nz + 1)), *z[2];
  int          good = 1;

  for (int k = 0; k < 2; k++) z[k] = calloc(nz + 1, sizeof(**z));
  for (SysInt k = 0; k < nx; k++) x[k] = RandomScalar();
  for (SysInt k = 0; k < nz; k++) y[k] = RandomScalar();
  for (int beta = 0; beta < 2 && good; beta++) {
    good = (*product)(A, transpose, 2 - beta, x, beta, y, z[0]) && (*product)(plain, transpose, 2 - beta, x, beta, y, z[1]);
    for (SysInt k = 0; k < nz && good; k++) good = !memcmp(&z[0][k], &z[1][k], sizeof(**z)) || (z[0][k] != z[0][k] && z[1][k] != z[1][k]);
  }
  free(x);
  free(y);
  for (int k = 0; k < 2; k++) free(z[k]);
  return good;
}

/* A format under test. create() returns NULL if it fails; its parameters belong to number k of the checks. */
typedef struct {
  const char *kernels;
  int         first, step; /* the checks that are made: number first, and every step-th after it */
  int         most;        /* values besides 0 for which an exact storage takes a table */
  const void *ctx;
  void *(*create)(const SysCSR *, const void *ctx, int k, SysValues);
  SysStatus (*update)(void *, const SysCSR *, SysStream);
  const SysValuesChoice *(*values)(const void *);
  void (*destroy)(void *);
  Product *product;
} Storing;

/* Checks a storage with few and with many values, and after changes from one to the other */
static int CheckStorage(Builder *B, const Storing *S, int k, SysValues asked, int distinct, int floats, const char **what)
{
  const SysCSR csr = {B->m, B->n, B->nz, B->i, B->j, B->a};
  SysScalar   *few = malloc(sizeof(*few) * (B->nz + 1)), *many = malloc(sizeof(*many) * (B->nz + 1));
  void        *A = NULL, *plain = NULL;
  int          good;

  for (SysInt e = 0; e < B->nz; e++) many[e] = RandomScalar();
  FewValues(B, distinct, floats);
  memcpy(few, B->a, sizeof(*few) * B->nz);
  plain = (*S->create)(&csr, S->ctx, k, SYS_VALUES_DOUBLE);
  A     = (*S->create)(&csr, S->ctx, k, asked);
  good  = A && plain;
  for (int change = 0; change < 4 && good; change++) {
    const SysScalar *a    = change % 2 ? many : few;
    const int        look = asked == SYS_VALUES_EXACT && change < SYS_VALUES_CHANGES, most = asked == SYS_VALUES_TABLE ? SYS_TABLE_VALUES - 1 : look ? S->most : 0;
    SysStorage       expected = change % 2 == 0 && most && distinct <= most ? SYS_STORAGE_PLACES : SYS_STORAGE_PLAIN;

    memcpy(B->a, a, sizeof(*a) * B->nz);
    if (change) good = (*S->update)(A, &csr, NULL) == SYS_SUCCESS;
#if defined(SYS_HAVE_STORAGE_SINGLE)
    if (look && expected == SYS_STORAGE_PLAIN && AllFloats(B)) expected = SYS_STORAGE_SINGLE;
    if (asked == SYS_VALUES_SINGLE) expected = SYS_STORAGE_SINGLE;
    if (asked == SYS_VALUES_SINGLE) {
      for (SysInt e = 0; e < B->nz; e++) B->a[e] = (SysScalar)(float)B->a[e];
    }
#endif
    if (!good) continue;
    if (asked == SYS_VALUES_EXACT && change < SYS_VALUES_CHANGES && (*S->values)(A)->stored == SYS_STORAGE_SHARED) expected = SYS_STORAGE_SHARED; /* as it happens, in small matrices */
    if ((*S->values)(A)->stored != expected) {
      *what = "another storage than expected";
      good  = 0;
    }
    if ((*S->values)(A)->exact != (asked != SYS_VALUES_SINGLE || !memcmp(B->a, a, sizeof(*a) * B->nz))) {
      *what = "exact or not";
      good  = 0;
    }
    if (good) good = (*S->update)(plain, &csr, NULL) == SYS_SUCCESS && SameBits(B, S->product, A, plain, 0) && SameBits(B, S->product, A, plain, 1);
    if (!good && !**what) *what = "other bits";
  }
  (*S->destroy)(A);
  (*S->destroy)(plain);
  free(few);
  free(many);
  return good;
}

static void CheckStorages(const char *name, Builder *B, const Storing *S)
{
  static const SysValues asked[]    = {SYS_VALUES_EXACT, SYS_VALUES_TABLE, SYS_VALUES_SINGLE};
  static const int       distinct[] = {0, 1, 3, 15, 255, 256};
  const char            *what       = "";
  int                    good       = 1;

  if (B->nz < 5000) return;
  for (int k = S->first; k < 36 && good; k += S->step) {
    good = CheckStorage(B, S, k, asked[k % 3], distinct[k / 3 % 6], k / 18, &what);
    if (!good) printf("not ok %s, %s: %s; values %d, %d distinct%s, number %d\n", name, S->kernels, what, (int)asked[k % 3], distinct[k / 3 % 6], k / 18 ? ", floats" : "", k);
  }
  if (good) printf("ok %s, %s, storages of values\n", name, S->kernels);
  failures += !good;
}
