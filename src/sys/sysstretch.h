/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Sums of a transposed product by several threads. Each thread adds to its own stretch, which spans the columns of its rows, and to optional extra
   sums before it. The stretches are added in the order of the threads, so the result depends only on their number.
*/
#pragma once

#include <stdlib.h>

#include "sys/syscsr.h"
#include "sys/sysisa.h"
#include "sys/sysmemory.h"
#include "sys/sysstore.h"
#include "sys/systhreads.h"

typedef struct {
  int64_t   *lo, *hi;  /* each thread's stretch: lo <= column < hi */
  int64_t   *position; /* each thread's first element of sums */
  SysScalar *sums;     /* NULL: not created */
  int64_t    extra, size;
} SysStretches;

/* Allocates lo and hi, which the caller sets before SysStretchesCreate() */
static inline SysStatus SysStretchesBegin(SysStretches *S, int nthread)
{
  if (!S->lo) S->lo = (int64_t *)malloc(3 * sizeof(*S->lo) * (size_t)nthread);
  if (!S->lo) return SYS_OUT_OF_MEMORY;
  S->hi       = S->lo + nthread;
  S->position = S->hi + nthread;
  return SYS_SUCCESS;
}

static inline SysStatus SysStretchesCreate(SysStretches *S, int nthread, int64_t extra)
{
  S->extra = extra;
  S->size  = 0;
  for (int t = 0; t < nthread; t++) {
    if (S->hi[t] < S->lo[t]) S->hi[t] = S->lo[t];
    S->position[t] = S->size;
    S->size += extra + S->hi[t] - S->lo[t] + 64 / (int64_t)sizeof(SysScalar);
  }
  S->sums = (SysScalar *)SysAllocate(sizeof(*S->sums) * (size_t)S->size);
  return S->sums ? SYS_SUCCESS : SYS_OUT_OF_MEMORY;
}

static inline void SysStretchesDestroy(SysStretches *S)
{
  SysRelease(S->sums, sizeof(*S->sums) * (size_t)S->size);
  free(S->lo);
}

/* Zeroes thread t's extra sums and stretch; returns the extra sums, and sets *stretch so that column j's sum is at *stretch + j */
static SYS_INLINE SysScalar *SysStretchStart(const SysStretches *S, int t, SysScalar **stretch)
{
  SysScalar *w = S->sums + S->position[t];

  for (int64_t j = 0; j < S->extra + S->hi[t] - S->lo[t]; j++) w[j] = 0;
  *stretch = w + S->extra - S->lo[t];
  return w;
}

/* Computes z = beta y + all stretches, for part s of nthread parts of the n columns */
static SYS_INLINE void SysStretchesAdd(const SysStretches *S, int nthread, int s, int64_t n, SysScalar beta, const SysScalar *y, SysScalar *z)
{
  const int64_t j0 = n * s / nthread, j1 = n * (s + 1) / nthread;

  SysStartSum(j0, j1, beta, y, z);
  for (int t = 0; t < nthread; t++) {
    const int64_t    lo = S->lo[t] > j0 ? S->lo[t] : j0, hi = S->hi[t] < j1 ? S->hi[t] : j1;
    const SysScalar *w = S->sums + S->position[t] + S->extra - S->lo[t];

    for (int64_t j = lo; j < hi; j++) z[j] += w[j];
  }
}

/* Adds alpha times the products of thread t's rows to z, or to the thread's stretch */
typedef void SysThreadTranspose(const void *A, int t, SysScalar alpha, const SysScalar *x, SysScalar *z);

/* Computes z = alpha A^T x + beta y for a matrix of n columns */
static SYS_INLINE void SysStretchesMult(const SysStretches *S, int nthread, int64_t n, SysThreadTranspose *add, const void *A, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z)
{
  if (nthread == 1) {
    SysStartSum(0, n, beta, y, z);
    (*add)(A, 0, alpha, x, z);
    return;
  }
#if defined(_OPENMP)
  #pragma omp parallel for num_threads(nthread) schedule(static)
#endif
  for (int t = 0; t < nthread; t++) {
    SysScalar *stretch;

    (void)SysStretchStart(S, t, &stretch);
    (*add)(A, t, alpha, x, stretch);
  }
#if defined(_OPENMP)
  #pragma omp parallel for num_threads(nthread) schedule(static)
#endif
  for (int s = 0; s < nthread; s++) SysStretchesAdd(S, nthread, s, n, beta, y, z);
}
