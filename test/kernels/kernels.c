/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The AMB kernels against a plain reference, without PETSc: every instruction set this processor has, every block size, random shapes.

   Prints "ok NAME" or "not ok NAME" for each combination of shape and instruction set.
*/
#include <stdlib.h>
#include <string.h>

#include "mat/impls/amb/ambhost.h"
#include "shapes.h"

static int Multiply(const void *data, int transpose, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z)
{
  AmbHost *A = (AmbHost *)data;

  if (transpose && AmbHostPrepareTranspose(A)) return 0;
  (transpose ? A->kernels->multtranspose : A->kernels->mult)(A, alpha, x, beta, y, z);
  return 1;
}

static int CheckBlockSize(Builder *B, const AmbKernels *kernels, int b, int scope, int nthread, const char **what)
{
  SysCSR   csr = {B->m, B->n, B->nz, B->i, B->j, B->a};
  AmbPlan  plan;
  AmbHost *A = NULL;
  int      good;

  *what = "conversion";
  good  = AmbPlanCreate(&csr, b, scope, nthread, nthread, kernels, &plan) == SYS_SUCCESS && AmbHostCreate(&csr, &plan, nthread, kernels, &A) == SYS_SUCCESS;
  if (good && A->scope <= AMB_MODEL_ROWS && A->nscope <= AMB_MODEL_WINDOWS && plan.bytes[plan.block_size] != AmbHostBytes(A)) {
    *what = "traffic model";
    good  = 0;
  }
  if (good) good = CheckProducts(B, A, Multiply, 0, what);
  if (good) {
    for (SysInt k = 0; k < B->nz; k++) B->a[k] = RandomScalar();
    good = AmbHostUpdate(A, &csr, NULL) == SYS_SUCCESS && CheckProducts(B, A, Multiply, 0, what);
    if (!good) *what = "update of values";
  }
  if (good) {
    good = CheckProducts(B, A, Multiply, 5, what);
    if (!good) *what = "products with NaN and infinity";
  }
  if (good) { /* laid out by one thread, whatever the number of those that multiply */
    const SysCSR pattern = {B->m, B->n, B->nz, B->i, B->j, NULL};

    AmbHostDestroy(A);
    good = AmbHostCreate(&pattern, &plan, 1, kernels, &A) == SYS_SUCCESS && AmbHostUpdate(A, &csr, NULL) == SYS_SUCCESS && CheckProducts(B, A, Multiply, 0, what);
    if (!good) *what = "values after the pattern";
  }
  AmbHostDestroy(A);
  return good;
}

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

/* Do both formats give the same bits? */
static int SameBits(Builder *B, AmbHost *A, AmbHost *plain, int transpose)
{
  const SysInt nx = transpose ? B->m : B->n, nz = transpose ? B->n : B->m;
  SysScalar   *x = malloc(sizeof(*x) * (nx + 1)), *y = malloc(sizeof(*y) * (nz + 1)), *z[2];
  int          good = 1;

  for (int k = 0; k < 2; k++) z[k] = calloc(nz + 1, sizeof(**z));
  for (SysInt k = 0; k < nx; k++) x[k] = RandomScalar();
  for (SysInt k = 0; k < nz; k++) y[k] = RandomScalar();
  for (int beta = 0; beta < 2 && good; beta++) {
    good = Multiply(A, transpose, 2 - beta, x, beta, y, z[0]) && Multiply(plain, transpose, 2 - beta, x, beta, y, z[1]);
    good = good && !memcmp(z[0], z[1], sizeof(**z) * nz);
  }
  free(x);
  free(y);
  for (int k = 0; k < 2; k++) free(z[k]);
  return good;
}

/* Values that are stored in another way give the bits that they give as they are, with few and with many values, and after changes from one to the other */
static int CheckStorage(Builder *B, const AmbKernels *kernels, SysValues asked, int distinct, int floats, int b, int nthread, const char **what)
{
  const SysCSR csr = {B->m, B->n, B->nz, B->i, B->j, B->a};
  SysScalar   *few = malloc(sizeof(*few) * (B->nz + 1)), *many = malloc(sizeof(*many) * (B->nz + 1));
  AmbPlan      plan;
  AmbHost     *A = NULL, *plain = NULL;
  int          good = AmbPlanCreate(&csr, b, 0, nthread, nthread, kernels, &plan) == SYS_SUCCESS;

  for (SysInt k = 0; k < B->nz; k++) many[k] = RandomScalar();
  FewValues(B, distinct, floats);
  memcpy(few, B->a, sizeof(*few) * B->nz);
  good        = good && AmbHostCreate(&csr, &plan, nthread, kernels, &plain) == SYS_SUCCESS;
  plan.values = asked;
  good        = good && AmbHostCreate(&csr, &plan, nthread, kernels, &A) == SYS_SUCCESS;
  for (int change = 0; change < 4 && good; change++) {
    const SysScalar *a        = change % 2 ? many : few;
    SysStorage       expected = SYS_STORAGE_PLAIN;

    memcpy(B->a, a, sizeof(*a) * B->nz);
    if (change) good = AmbHostUpdate(A, &csr, NULL) == SYS_SUCCESS;
    if (asked == SYS_VALUES_TABLE || (asked == SYS_VALUES_EXACT && change < SYS_VALUES_CHANGES)) expected = change % 2 == 0 && distinct < SYS_TABLE_VALUES ? SYS_STORAGE_PLACES : SYS_STORAGE_PLAIN;
#if defined(SYS_HAVE_STORAGE_SINGLE)
    if (asked == SYS_VALUES_EXACT && !change && floats && distinct == SYS_TABLE_VALUES) expected = SYS_STORAGE_SINGLE;
    if (asked == SYS_VALUES_SINGLE) expected = SYS_STORAGE_SINGLE;
    if (asked == SYS_VALUES_SINGLE) {
      for (SysInt k = 0; k < B->nz; k++) B->a[k] = (SysScalar)(float)B->a[k];
    }
#endif
    if (!good) continue;
    if (A->values.stored != expected) {
      *what = "another storage than expected";
      good  = 0;
    }
    if (A->values.exact != (asked != SYS_VALUES_SINGLE || !memcmp(B->a, a, sizeof(*a) * B->nz))) {
      *what = "exact or not";
      good  = 0;
    }
    if (good) good = AmbHostUpdate(plain, &csr, NULL) == SYS_SUCCESS && SameBits(B, A, plain, 0) && SameBits(B, A, plain, 1);
    if (!good && !**what) *what = "other bits";
  }
  AmbHostDestroy(A);
  AmbHostDestroy(plain);
  free(few);
  free(many);
  return good;
}

static void CheckStorages(const char *name, Builder *B, const AmbKernels *kernels)
{
  static const SysValues asked[]    = {SYS_VALUES_EXACT, SYS_VALUES_TABLE, SYS_VALUES_SINGLE};
  static const int       distinct[] = {0, 1, 3, 15, 255, 256};
  const char            *what       = "";
  int                    good       = 1;

  if (B->nz < 5000) return;
  for (int k = 0; k < 36 && good; k++) {
    const int b = 1 + k % AMB_MAX_BLOCK;

    good = CheckStorage(B, kernels, asked[k % 3], distinct[k / 3 % 6], k / 18, b <= B->n ? b : 1, 1 + k % 2, &what);
    if (!good) printf("not ok %s, %s: %s; values %d, %d distinct%s, blocks of %d\n", name, kernels->name, what, (int)asked[k % 3], distinct[k / 3 % 6], k / 18 ? ", floats" : "", b);
  }
  if (good) printf("ok %s, %s, storages of values\n", name, kernels->name);
  failures += !good;
}

static void Check(const char *name, Builder *B)
{
  static const int  scopes[] = {0, 64, AMB_MAX_SCOPE};
  const AmbKernels *sets[3];
  int               nset = 0;

#if defined(PETSCAMB_HAVE_AVX512) && !defined(SYS_COMPLEX)
  if (AmbKernelsAVX512.supported()) sets[nset++] = &AmbKernelsAVX512;
#endif
#if defined(PETSCAMB_HAVE_AVX2) && !defined(SYS_COMPLEX)
  if (AmbKernelsAVX2.supported()) sets[nset++] = &AmbKernelsAVX2;
#endif
  sets[nset++] = &AmbKernelsPlain;
  for (int s = 0; s < nset; s++) {
    const char *what = "";
    int         good = 1, b;

    for (b = 0; b <= AMB_MAX_BLOCK && b <= B->n && good; b++) { good = CheckBlockSize(B, sets[s], b, scopes[(b + s) % 3], 1 + (b / 2 + s) % 3, &what); }
    if (good) printf("ok %s, %s\n", name, sets[s]->name);
    else printf("not ok %s, %s: %s with blocks of %d\n", name, sets[s]->name, what, b - 1);
    failures += !good;
    CheckStorages(name, B, sets[s]);
  }
}

/* Rows out of order, and repeated columns, are refused */
static void CheckRefused(void)
{
  SysInt    i[] = {0, 2, 5}, disorder[] = {0, 1, 0, 2, 1}, repeated[] = {0, 1, 1, 1, 2};
  SysScalar a[]    = {1, 2, 3, 4, 5};
  SysCSR    csr[2] = {
       {2, 3, 5, i, disorder, a},
       {2, 3, 5, i, repeated, a}
  };

  for (int k = 0; k < 2; k++) {
    AmbPlan   plan;
    AmbHost  *A;
    SysStatus status = AmbPlanCreate(csr + k, 0, 0, 1, 1, &AmbKernelsPlain, &plan);

    if (!status) status = AmbHostCreate(csr + k, &plan, 1, &AmbKernelsPlain, &A);
    printf("%sok %s columns are refused\n", status == SYS_NOT_ASCENDING ? "" : "not ", k ? "repeated" : "disordered");
    failures += status != SYS_NOT_ASCENDING;
    if (!status) AmbHostDestroy(A);
  }
}

int main(void)
{
  ForEachShape(Check);
  CheckRefused();
  return failures ? 1 : 0;
}
