/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "sys/sysisa.h"
#include "sys/sysmemory.h"
#include "sys/systhreads.h"
#include "ksp/ksp/impls/fused/fusedhost.h"

#define BLOCKS 16 /* of a thread, at least: fewer do not repay its start */

const FusedKernels *FusedHostKernels(void)
{
  return SYS_KERNELS(FusedKernels);
}

int FusedHostCreate(int64_t n, int bs, int nthread, FusedHost *h)
{
  h->n       = n;
  h->bs      = bs;
  h->block   = bs < FUSED_BLOCK ? FUSED_BLOCK / bs * bs : bs;
  h->nblock  = (n + h->block - 1) / h->block;
  h->nthread = h->nblock / BLOCKS < nthread ? (int)(h->nblock / BLOCKS) : nthread;
  if (h->nthread < 1) h->nthread = 1;
  h->partial = SysAllocate((size_t)(h->nblock + 1) * FUSED_SUMS * sizeof(SysReal));
  return !h->partial;
}

void FusedHostDestroy(FusedHost *h)
{
  if (h->partial) SysRelease(h->partial, (size_t)(h->nblock + 1) * FUSED_SUMS * sizeof(SysReal));
  memset(h, 0, sizeof(*h));
}

void FusedHostRun(const FusedHost *h, FusedFunction f, const FusedPass *pass, SysReal sums[FUSED_SUMS])
{
#pragma omp parallel for schedule(static) num_threads(h->nthread) if (h->nthread > 1)
  for (int64_t k = 0; k < h->nblock; k++) f(pass, k * h->block, k + 1 < h->nblock ? (k + 1) * h->block : h->n, h->partial + FUSED_SUMS * k);
  if (!sums) return;
  for (int s = 0; s < FUSED_SUMS; s++) sums[s] = 0;
  for (int64_t k = 0; k < h->nblock; k++) {
    for (int s = 0; s < FUSED_SUMS; s++) sums[s] += h->partial[FUSED_SUMS * k + s];
  }
}

void FusedHostCopy(const FusedHost *h, const SysReal *from, SysReal *to)
{
#pragma omp parallel for schedule(static) num_threads(h->nthread) if (h->nthread > 1)
  for (int64_t k = 0; k < h->nblock; k++) {
    const int64_t lo = k * h->block, hi = k + 1 < h->nblock ? lo + h->block : h->n;

    memcpy(to + lo, from + lo, (size_t)(hi - lo) * sizeof(SysReal));
  }
}
