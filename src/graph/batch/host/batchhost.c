/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Batches on the host: threads, and the conversion of entries to rows
*/
#include <stdlib.h>
#include <string.h>

#include "sys/sysisa.h"
#include "sys/sysmemory.h"
#include "sys/systhreads.h"
#include "graph/batch/host/batchhost.h"

#define BATCH_THREAD_NUMBERS 16384 /* least numbers read and written by a thread; fewer do not repay its start */

const BatchKernels *BatchHostKernels(void)
{
  return SYS_KERNELS(BatchKernels);
}

/* Returns the first row of part t of nthread parts with about equal numbers of entries and rows */
static int64_t BatchFirstRow(const BatchRows *A, int t, int nthread)
{
  const double share = ((double)A->i[A->m] - (double)A->i[0] + (double)A->m) * t / nthread;
  int64_t      lo = 0, hi = A->m;

  while (lo < hi) {
    const int64_t middle = lo + (hi - lo) / 2;

    if ((double)A->i[middle] - (double)A->i[0] + (double)middle < share) lo = middle + 1;
    else hi = middle;
  }
  return t == nthread ? A->m : lo;
}

void BatchMult(int nthread, const BatchRows *A, int add, int64_t width, const SysReal *D, SysReal *C)
{
  const BatchKernels *kernels = BatchHostKernels();
  const double        work    = ((double)A->i[A->m] + (double)A->m) * (double)width / BATCH_THREAD_NUMBERS;

  if (work < nthread) nthread = work < 1 ? 1 : (int)work;
#pragma omp parallel for schedule(static, 1) num_threads(nthread) if (nthread > 1)
  for (int t = 0; t < nthread; t++) kernels->mult(A, add, width, D, BatchFirstRow(A, t, nthread), BatchFirstRow(A, t + 1, nthread), C);
}

/* Sorts n elements stably by key < nkey. from: the order so far, or NULL for 0, 1, ... */
static void BatchSort(int64_t n, int64_t nkey, const SysInt key[], const int64_t from[], int64_t count[], int64_t to[])
{
  memset(count, 0, sizeof(*count) * (size_t)(nkey + 1));
  for (int64_t k = 0; k < n; k++) count[key[k] + 1]++;
  for (int64_t k = 0; k < nkey; k++) count[k + 1] += count[k];
  for (int64_t k = 0; k < n; k++) {
    const int64_t thing = from ? from[k] : k;

    to[count[key[thing]]++] = thing;
  }
}

SysStatus BatchEntriesCreate(int64_t m, int64_t n, int64_t ngiven, const SysInt row[], const SysInt col[], BatchEntries *E)
{
  int64_t *count = malloc(sizeof(*count) * (size_t)((m > n ? m : n) + 1)), *bycol = malloc(sizeof(*bycol) * (size_t)(ngiven + 1));

  memset(E, 0, sizeof(*E));
  E->m      = m;
  E->ngiven = ngiven;
  E->i      = SysAllocate(sizeof(*E->i) * (size_t)(m + 1));
  E->j      = SysAllocate(sizeof(*E->j) * (size_t)ngiven);
  E->first  = SysAllocate(sizeof(*E->first) * (size_t)(ngiven + 1));
  E->perm   = SysAllocate(sizeof(*E->perm) * (size_t)ngiven);
  if (!count || !bycol || !E->i || !E->j || !E->first || !E->perm) {
    free(count);
    free(bycol);
    BatchEntriesDestroy(E);
    return SYS_OUT_OF_MEMORY;
  }
  BatchSort(ngiven, n, col, NULL, count, bycol);
  BatchSort(ngiven, m, row, bycol, count, E->perm);
  for (int64_t r = 0, k = 0; r < m; r++) {
    E->i[r] = (SysInt)E->nz;
    for (const int64_t begin = k; k < ngiven && row[E->perm[k]] == r; k++) {
      if (k > begin && col[E->perm[k]] == E->j[E->nz - 1]) continue;
      E->first[E->nz] = k;
      E->j[E->nz++]   = col[E->perm[k]];
    }
  }
  E->i[m]         = (SysInt)E->nz;
  E->first[E->nz] = ngiven;
  free(count);
  free(bycol);
  return SYS_SUCCESS;
}

void BatchEntriesDestroy(BatchEntries *E)
{
  SysRelease(E->i, sizeof(*E->i) * (size_t)(E->m + 1));
  SysRelease(E->j, sizeof(*E->j) * (size_t)E->ngiven);
  SysRelease(E->first, sizeof(*E->first) * (size_t)(E->ngiven + 1));
  SysRelease(E->perm, sizeof(*E->perm) * (size_t)E->ngiven);
  memset(E, 0, sizeof(*E));
}
