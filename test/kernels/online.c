/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Conversion beside products: a thread lays out a matrix, in one way after the other, from a copy of its pattern, while another multiplies with it and
   changes its values; then the values are filled in. For the thread sanitizer.
*/
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>

#include "mat/impls/nus/host/nushost.h"
#include "shapes.h"

/* What the thread is given, and makes; the parameters are chosen by it too */
typedef struct {
  SysCSR     pattern;
  NusCache   cache;
  int        block_size, c;
  AmbHost   *amb;
  NusHost   *nus;
  atomic_int done;
} Task;

static void *Convert(void *arg)
{
  Task     *t = arg;
  AmbPlan   plan;
  NusParams params = {
    .segmentation = NUS_NONUNIFORM, .c = t->c, .width = {100,      1000     },
            .count = {t->c / 8, t->c / 16}
  };
  double bytes;

  if (AmbPlanCreate(&t->pattern, t->block_size, 0, 3, 1, AmbHostKernels(), &plan) == SYS_SUCCESS) (void)AmbHostCreate(&t->pattern, &plan, 1, AmbHostKernels(), &t->amb);
  if (NusHostPlan(&t->pattern, &t->cache, 3, &params, &(NusBytes){{0}}) == SYS_SUCCESS) (void)NusHostCreate(&t->pattern, &params, 3, 1, NusHostKernels(), INFINITY, &bytes, &t->nus);
  atomic_store(&t->done, 1);
  return NULL;
}

static int MultiplyAMB(const void *data, int transpose, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z)
{
  AmbHost *A = (AmbHost *)data;

  if (transpose && AmbHostPrepareTranspose(A)) return 0;
  (transpose ? A->kernels->multtranspose : A->kernels->mult)(A, alpha, x, beta, y, z);
  return 1;
}

static int MultiplyNUS(const void *data, int transpose, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z)
{
  NusHost *A = (NusHost *)data;

  if (transpose && NusHostPrepareTranspose(A)) return 0;
  (transpose ? A->kernels->multtranspose : A->kernels->mult)(A, alpha, x, beta, y, z);
  return 1;
}

static void Check(const char *name, Builder *B)
{
  const SysCSR csr  = {B->m, B->n, B->nz, B->i, B->j, B->a};
  const char  *what = "conversion";
  AmbHost     *amb  = NULL;
  NusHost     *nus  = NULL;
  int          good = 1;

  for (int round = 0; round < 3 && good; round++) {
    Task      t = {.block_size = round, .c = 8 << round};
    pthread_t thread;
    SysInt   *i = malloc(sizeof(*i) * (B->m + 1)), *j = malloc(sizeof(*j) * (B->nz + 1));

    memcpy(i, B->i, sizeof(*i) * (B->m + 1));
    memcpy(j, B->j, sizeof(*j) * B->nz);
    t.pattern = (SysCSR){B->m, B->n, B->nz, i, j, NULL};
    NusHostCache(&t.cache);
    if (pthread_create(&thread, NULL, Convert, &t)) {
      good = 0;
      break;
    }
    do {
      for (SysInt k = 0; k < B->nz; k += 7) B->a[k] = RandomScalar();
      if (!amb) continue;
      good = AmbHostUpdate(amb, &csr, NULL) == SYS_SUCCESS && CheckProducts(B, amb, MultiplyAMB, 0, &what) && NusHostUpdate(nus, &csr, NULL) == SYS_SUCCESS && CheckProducts(B, nus, MultiplyNUS, 0, &what);
    } while (good && !atomic_load(&t.done));
    (void)pthread_join(thread, NULL);
    AmbHostDestroy(amb);
    NusHostDestroy(nus);
    amb = t.amb;
    nus = t.nus;
    if (good) good = amb && nus && AmbHostUpdate(amb, &csr, NULL) == SYS_SUCCESS && NusHostUpdate(nus, &csr, NULL) == SYS_SUCCESS;
    free(i);
    free(j);
  }
  AmbHostDestroy(amb);
  NusHostDestroy(nus);
  if (good) printf("ok %s\n", name);
  else printf("not ok %s: %s\n", name, what);
  failures += !good;
}

int main(void)
{
  ForEachShape(Check);
  return failures != 0;
}
