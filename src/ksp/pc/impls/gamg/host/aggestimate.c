/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The passes over vectors of Arnoldi's method for D^-1 A on the host. The caller multiplies by A between them.

   Vectors are not normalized: each has a factor. A sum adds up parts of EACH entries, in their order, so its bits are the same for any number of
   threads.
*/
#include <math.h>
#include <string.h>

#include "sys/sysmemory.h"
#include "sys/systhreads.h"
#include "ksp/pc/impls/gamg/host/agghost.h"

#if !defined(SYS_COMPLEX)
  #define EACH 1024 /* a part of a vector stays in the first cache */

  #define FOR_EACH_PART(b, e) for (int64_t b = 0; b < EstimateParts((e)->n); b++)

static inline int64_t EstimateParts(int64_t n)
{
  return (n + EACH - 1) / EACH;
}

static inline int EstimateLength(const AggKrylov *e, int64_t b)
{
  return (int)(e->n - b * EACH < EACH ? e->n - b * EACH : EACH);
}

static inline double EstimateDot(int n, const SysReal x[], const SysReal y[])
{
  double sum = 0;

  #pragma omp simd reduction(+ : sum)
  for (int r = 0; r < n; r++) sum += (double)(x[r] * y[r]);
  return sum;
}

static void EstimateAddUp(const AggKrylov *e, int sums, double sum[])
{
  for (int s = 0; s < sums; s++) sum[s] = 0;
  FOR_EACH_PART(b, e)
  {
    for (int s = 0; s < sums; s++) sum[s] += e->partial[b * AGG_STEPS + s];
  }
}

void AggKrylovDestroy(AggKrylov *e)
{
  SysRelease(e->v, e->bytes);
  memset(e, 0, sizeof(*e));
}

/* Jacobi's method takes 1 for zeros of the diagonal, and for entries that are missing */
static void EstimateInvert(const SysCSR *A, int64_t first, int n, SysReal inverse[])
{
  for (int r = 0; r < n; r++) {
    SysReal d = 0;

    for (int64_t k = A->i[first + r]; k < A->i[first + r + 1]; k++) {
      if (A->j[k] == first + r) d = A->a[k];
    }
    inverse[r] = d != 0 ? 1 / d : 1;
  }
}

SysStatus AggKrylovCreate(const SysCSR *A, int nthread, AggKrylov *e)
{
  const size_t line = 64 / sizeof(SysReal);
  double       sum;

  memset(e, 0, sizeof(*e));
  e->n       = A->m;
  e->nthread = nthread;
  e->stride  = (int64_t)(((size_t)A->m + line - 1) / line * line);
  e->bytes   = (size_t)e->stride * (AGG_STEPS + 2) * sizeof(SysReal) + (size_t)EstimateParts(e->n) * AGG_STEPS * sizeof(double);
  e->v       = SysAllocate(e->bytes);
  if (!e->v) return SYS_OUT_OF_MEMORY;
  e->inverse = e->v + (AGG_STEPS + 1) * e->stride;
  e->partial = (double *)(e->inverse + e->stride);
  #pragma omp parallel for num_threads(nthread) schedule(static)
  FOR_EACH_PART(b, e)
  {
    const int n       = EstimateLength(e, b);
    SysReal  *inverse = e->inverse + b * EACH, *v = e->v + b * EACH;

    EstimateInvert(A, b * EACH, n, inverse);
    AggNoise(n, b * EACH, 1, v);
    for (int r = 0; r < n; r++) v[r] *= inverse[r];
    e->partial[b * AGG_STEPS] = EstimateDot(n, v, v);
  }
  EstimateAddUp(e, 1, &sum);
  e->length = sqrt(sum);
  return SYS_SUCCESS;
}

/* D^-1 A of the vector, and its products with the vectors up to k */
static void EstimateDots(AggKrylov *e, int k)
{
  #pragma omp parallel for num_threads(e->nthread) schedule(static)
  FOR_EACH_PART(b, e)
  {
    const int      n       = EstimateLength(e, b);
    const SysReal *inverse = e->inverse + b * EACH;
    SysReal       *w       = e->v + (k + 1) * e->stride + b * EACH;
    const SysReal  scale   = (SysReal)e->scale[k];

    for (int r = 0; r < n; r++) w[r] *= scale * inverse[r];
    for (int j = 0; j <= k; j++) e->partial[b * AGG_STEPS + j] = EstimateDot(n, e->v + j * e->stride + b * EACH, w);
  }
}

static void EstimateRemove(AggKrylov *e, int k, const double sum[])
{
  #pragma omp parallel for num_threads(e->nthread) schedule(static)
  FOR_EACH_PART(b, e)
  {
    const int n = EstimateLength(e, b);
    SysReal  *w = e->v + (k + 1) * e->stride + b * EACH;

    for (int j = 0; j <= k; j++) {
      const SysReal  part = (SysReal)(sum[j] * e->scale[j] * e->scale[j]);
      const SysReal *v    = e->v + j * e->stride + b * EACH;

      for (int r = 0; r < n; r++) w[r] -= part * v[r];
    }
    e->partial[b * AGG_STEPS] = EstimateDot(n, w, w);
  }
}

void AggKrylovStep(AggKrylov *e, int k)
{
  double sum[AGG_STEPS], square;

  e->scale[k] = e->length != 0 ? 1 / e->length : 0;
  EstimateDots(e, k);
  EstimateAddUp(e, k + 1, sum);
  EstimateRemove(e, k, sum);
  EstimateAddUp(e, 1, &square);
  for (int j = 0; j <= k; j++) e->h[AGG_H(j, k)] = (SysReal)(sum[j] * e->scale[j]);
  e->length             = sqrt(square);
  e->h[AGG_H(k + 1, k)] = (SysReal)e->length;
}
#endif
