/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "sys/sysisa.h"
#include "sys/sysmemory.h"
#include "ksp/ksp/impls/fused/fusedbasis.h"

#define BLOCKS 2 /* of a thread, at least: fewer do not repay its start */

const FusedBasisKernels *FusedBasisHostKernels(void)
{
  return SYS_KERNELS(FusedBasisKernels);
}

int FusedBasisHostCreate(int64_t n, int bs, int most, int nthread, FusedBasisHost *h)
{
  h->n       = n;
  h->block   = (n < FUSED_BASIS_LONG ? 1 : 4) * (FUSED_BASIS_BLOCK / bs * bs);
  h->nblock  = (n + h->block - 1) / h->block;
  h->most    = most;
  h->nthread = h->nblock / BLOCKS < nthread ? (int)(h->nblock / BLOCKS) : nthread;
  if (h->nthread < 1) h->nthread = 1;
  h->partial = SysAllocate((size_t)(h->nblock + 1) * (size_t)most * sizeof(SysReal));
  return !h->partial;
}

void FusedBasisHostDestroy(FusedBasisHost *h)
{
  if (h->partial) SysRelease(h->partial, (size_t)(h->nblock + 1) * (size_t)h->most * sizeof(SysReal));
  memset(h, 0, sizeof(*h));
}

/* Part t of the threads: its blocks are the same ones in every pass */
static void FusedBasisPart(const FusedBasisHost *h, FusedBasisFunction f, const FusedBasis *pass, int backwards, int t)
{
  const int64_t lo = h->nblock * t / h->nthread, hi = h->nblock * (t + 1) / h->nthread;

  for (int64_t i = lo; i < hi; i++) {
    const int64_t k = backwards ? lo + hi - 1 - i : i;

    f(pass, k * h->block, k + 1 < h->nblock ? (k + 1) * h->block : h->n, h->partial + h->most * k);
  }
}

void FusedBasisHostRun(const FusedBasisHost *h, FusedBasisFunction f, const FusedBasis *pass, int backwards, int nsum, SysReal sums[])
{
#pragma omp parallel for schedule(static) num_threads(h->nthread) if (h->nthread > 1)
  for (int t = 0; t < h->nthread; t++) FusedBasisPart(h, f, pass, backwards, t);
  for (int s = 0; s < nsum; s++) sums[s] = 0;
  for (int64_t k = 0; k < h->nblock; k++) {
    for (int s = 0; s < nsum; s++) sums[s] += h->partial[h->most * k + s];
  }
}
