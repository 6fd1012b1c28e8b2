/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The AMB kernels against a plain reference, without PETSc: every instruction set this processor has, every block size, random shapes.

   Prints "ok NAME" or "not ok NAME" for each combination of shape and instruction set.
*/
#include <stdlib.h>
#include <string.h>

#include "mat/impls/amb/host/ambhost.h"
#include "storages.h"

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

static void *Create(const SysCSR *csr, const void *kernels, int k, SysValues values)
{
  const int b = 1 + k % AMB_MAX_BLOCK, nthread = 1 + k % 2;
  AmbPlan   plan;
  AmbHost  *A = NULL;

  if (AmbPlanCreate(csr, b <= csr->n ? b : 1, 0, nthread, nthread, (const AmbKernels *)kernels, &plan)) return NULL;
  plan.values = values;
  return AmbHostCreate(csr, &plan, nthread, (const AmbKernels *)kernels, &A) ? NULL : A;
}

static const SysValuesChoice *Values(const void *A)
{
  return &((const AmbHost *)A)->values;
}

KERNEL_SETS(Amb)

static const int scopes[] = {0, 64, AMB_MAX_SCOPE};

/* One thread tries a table, by products; whatever it takes, products have the bits of those with values as they are. with: values come with the pattern, not after it. */
static int CheckTrial(Builder *B, const AmbKernels *kernels, int with, int floats, const char **what)
{
  const SysCSR csr = {B->m, B->n, B->nz, B->i, B->j, B->a}, pattern = {B->m, B->n, B->nz, B->i, B->j, NULL};
  AmbPlan      plan, other;
  AmbHost     *A = NULL, *plain = NULL;
  int          good;

  *what       = "conversion";
  good        = AmbPlanCreate(&csr, 0, 64, 1, 1, kernels, &plan) == SYS_SUCCESS;
  other       = plan;
  plan.values = SYS_VALUES_EXACT;
  plan.trial  = B->nz;
  FewValues(B, with ? 200 : 300, floats);
  good = good && AmbHostCreate(with ? &csr : &pattern, &plan, 1, kernels, &A) == SYS_SUCCESS && AmbHostCreate(&csr, &other, 1, kernels, &plain) == SYS_SUCCESS;
  for (int k = 0; k < 2 && good; k++) {
    good = AmbHostUpdate(A, &csr, NULL) == SYS_SUCCESS && AmbHostUpdate(plain, &csr, NULL) == SYS_SUCCESS && SameBits(B, Multiply, A, plain, 0) && SameBits(B, Multiply, A, plain, 1);
    if (good) *what = "whether a trial was made";
    good = good && A->tries == (!with && !k);
    if (good && A->tries) FewValues(B, 100, floats);
  }
  AmbHostDestroy(A);
  AmbHostDestroy(plain);
  return good;
}

#if defined(PETSCAMB_HAVE_AVX512) && !defined(SYS_COMPLEX)
/* With gather instructions and without, products have the same bits */
static void CheckGather(const char *name, Builder *B)
{
  const SysCSR csr  = {B->m, B->n, B->nz, B->i, B->j, B->a};
  int          good = 1;

  for (int k = 0; k < 6 && good; k++) {
    const int nthread = 1 + k % 2, b = k < 5 ? 1 : 2;
    AmbPlan   plan;
    AmbHost  *A = NULL, *plain = NULL;

    good = AmbPlanCreate(&csr, b <= B->n ? b : 0, scopes[k % 3], nthread, nthread, &AmbKernelsAVX512, &plan) == SYS_SUCCESS;
    good = good && AmbHostCreate(&csr, &plan, nthread, &AmbKernelsAVX512, &plain) == SYS_SUCCESS && AmbHostCreate(&csr, &plan, nthread, &AmbKernelsGatherAVX512, &A) == SYS_SUCCESS;
    good = good && AmbHostBytes(A) == AmbHostBytes(plain) && SameBits(B, Multiply, A, plain, 0) && SameBits(B, Multiply, A, plain, 1);
    AmbHostDestroy(A);
    AmbHostDestroy(plain);
  }
  printf("%sok %s, avx512 with gathers, the bits without\n", good ? "" : "not ", name);
  failures += !good;
}

/* The kernels of the library: those with gathers if and only if they are for this processor */
static void CheckChoice(void)
{
  const AmbKernels *kernels = AmbHostKernels();
  const int         good    = AmbKernelsGatherAVX512.supported() ? AmbKernelsAVX512.supported() && kernels == &AmbKernelsGatherAVX512 : kernels != &AmbKernelsGatherAVX512 && kernels->supported();

  if (!AmbKernelsAVX512.supported()) printf("skip avx512 with gathers: the processor has no AVX-512\n");
  printf("%sok kernels of the library: %s%s\n", good ? "" : "not ", kernels->name, kernels == &AmbKernelsGatherAVX512 ? " with gathers" : "");
  failures += !good;
}
#endif

static void Check(const char *name, Builder *B)
{
  KernelSet sets[4];
  int       nset = Sets(sets);

#if defined(PETSCAMB_HAVE_AVX512) && !defined(SYS_COMPLEX)
  if (AmbKernelsAVX512.supported()) {
    sets[nset++] = (KernelSet){"avx512 with gathers", &AmbKernelsGatherAVX512};
    CheckGather(name, B);
  }
#endif

  for (int s = 0; s < nset; s++) {
    const AmbKernels *kernels = (const AmbKernels *)sets[s].kernels;
    const char       *what    = "";
    int               good    = 1, b;

    for (b = 0; b <= AMB_MAX_BLOCK && b <= B->n && good; b++) good = CheckBlockSize(B, kernels, b, scopes[(b + s) % 3], 1 + (b / 2 + s) % 3, &what);
    if (good) printf("ok %s, %s\n", name, sets[s].name);
    else printf("not ok %s, %s: %s with blocks of %d\n", name, sets[s].name, what, b - 1);
    failures += !good;
    CheckStorages(name, B, &(Storing){sets[s].name, 0, 1, 0, kernels, Create, AmbHostUpdate, Values, AmbHostDestroy, Multiply});
    if (B->m < 8 * 64 || B->nz < 5000) continue;
    good = 1;
    for (int k = 0; k < 4 && good; k++) good = CheckTrial(B, kernels, k % 2, k / 2, &what);
    if (good) printf("ok %s, %s, a table is tried\n", name, sets[s].name);
    else printf("not ok %s, %s, a table is tried: %s\n", name, sets[s].name, what);
    failures += !good;
  }
}

/* On the host an exact storage takes a table only if registers hold it, or if several threads share the memory that the values would come from */
static void CheckTables(void)
{
  const int64_t large = (int64_t)(SYS_VALUES_LARGE / sizeof(SysScalar)) + 1;
  int           good  = 1;

  for (int fast = 0; fast < 32 && good; fast += 15) {
    for (int threads = 1; threads <= 2; threads++) {
      for (int distinct = 1; distinct < 260; distinct++) {
        const int       limit = threads > 1 ? SYS_TABLE_VALUES - 1 : fast;
        SysScalar       a[300];
        SysValuesChoice V;

        for (int k = 0; k < 300; k++) a[k] = (SysScalar)(1 + k % distinct * .3);
        SysValuesBeginHost(&V, SYS_VALUES_EXACT, fast, large, threads);
        SysValuesChoose(&V, 300, a, threads);
        good = good && (V.stored == SYS_STORAGE_PLACES) == (distinct <= limit);
        for (int k = 1; k < V.table.n; k++) good = good && V.table.value[k] == a[k - 1]; /* whichever thread ends first */
        SysValuesBeginHost(&V, SYS_VALUES_EXACT, fast, large - 2, threads);
        good = good && V.most == fast;
        SysValuesBeginHost(&V, SYS_VALUES_TABLE, fast, 300, threads);
        SysValuesChoose(&V, 300, a, threads);
        good = good && (V.stored == SYS_STORAGE_PLACES) == (distinct < SYS_TABLE_VALUES);
      }
    }
  }
  printf("%s tables of values where they pay\n", good ? "ok" : "not ok");
  failures += !good;
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
  CheckTables();
#if defined(PETSCAMB_HAVE_AVX512) && !defined(SYS_COMPLEX)
  CheckChoice();
#endif
  return failures ? 1 : 0;
}
