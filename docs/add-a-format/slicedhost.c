/* SPDX-License-Identifier: BSD-2-Clause */
/*
   SELL-C-sigma: the layout and the products, without PETSc
*/
#include <stdlib.h>

#include "sys/sysmemory.h"
#include "sys/sysstore.h"
#include "sys/systhreads.h"
#include "mat/impls/sliced/host/slicedhost.h"

static SysInt SlicedLength(const SysCSR *A, SysInt r)
{
  return r < 0 ? 0 : A->i[r + 1] - A->i[r];
}

double SlicedBytes(int64_t nslice, int64_t nslot)
{
  return (double)nslot * (sizeof(SysInt) + sizeof(SysScalar)) + (double)nslice * (sizeof(int64_t) + SLICED_C * sizeof(SysInt));
}

/* A row and its length, to be sorted */
typedef struct {
  SysInt row, length;
} SlicedRow;

static int SlicedCompare(const void *p, const void *q)
{
  const SlicedRow *a = (const SlicedRow *)p, *b = (const SlicedRow *)q;

  if (a->length != b->length) return a->length < b->length ? 1 : -1;
  return a->row < b->row ? -1 : 1; /* equal rows stay in their order */
}

/* Deals the rows to the lanes of the slices, the longest of a window first */
static SysStatus SlicedSort(SlicedHost *S)
{
  SlicedRow *window = malloc(sizeof(*window) * SLICED_SIGMA);

  if (!window) return SYS_OUT_OF_MEMORY;
  for (int64_t first = 0; first < S->csr.m; first += SLICED_SIGMA) {
    const int64_t n = SysMin(SLICED_SIGMA, S->csr.m - first);

    for (int64_t k = 0; k < n; k++) window[k] = (SlicedRow){(SysInt)(first + k), SlicedLength(&S->csr, (SysInt)(first + k))};
    qsort(window, (size_t)n, sizeof(*window), SlicedCompare);
    for (int64_t k = 0; k < n; k++) S->row[first + k] = window[k].row;
  }
  for (int64_t k = S->csr.m; k < S->nslice * SLICED_C; k++) S->row[k] = -1;
  free(window);
  return SYS_SUCCESS;
}

/* Columns, and values if the matrix has any yet */
static void SlicedFill(SlicedHost *S)
{
#if defined(_OPENMP)
  #pragma omp parallel for num_threads(S->nthread) schedule(static)
#endif
  for (int64_t s = 0; s < S->nslice; s++) {
    for (int l = 0; l < SLICED_C; l++) {
      const SysInt r = S->row[s * SLICED_C + l], n = SlicedLength(&S->csr, r);

      for (int64_t i = 0; i < (S->start[s + 1] - S->start[s]) / SLICED_C; i++) {
        const int64_t slot = S->start[s] + i * SLICED_C + l;
        const int     have = i < n;

        S->col[slot] = have ? S->csr.j[S->csr.i[r] + i] : 0;
        S->val[slot] = have && S->csr.a ? S->csr.a[S->csr.i[r] + i] : 0;
      }
    }
  }
}

SysStatus SlicedHostCreate(const SysCSR *csr, int nthread, double most, SlicedHost **out)
{
  SlicedHost *S = calloc(1, sizeof(*S));
  SysStatus   status;

  *out = NULL;
  if (!S) return SYS_OUT_OF_MEMORY;
  S->csr     = *csr;
  S->nthread = nthread;
  S->nslice  = (csr->m + SLICED_C - 1) / SLICED_C;
  S->start   = SysAllocate(sizeof(*S->start) * (size_t)(S->nslice + 1));
  S->row     = SysAllocate(sizeof(*S->row) * SLICED_C * (size_t)S->nslice);
  status     = S->start && S->row ? SlicedSort(S) : SYS_OUT_OF_MEMORY;
  for (int64_t s = 0; s < S->nslice && !status; s++) {
    SysInt longest = 0;

    for (int l = 0; l < SLICED_C; l++) {
      const SysInt n = SlicedLength(csr, S->row[s * SLICED_C + l]);

      if (n > longest) longest = n;
    }
    S->start[s] = S->nslot;
    S->nslot += (int64_t)longest * SLICED_C;
  }
  if (!status && SlicedBytes(S->nslice, S->nslot) >= most) status = SYS_TOO_MANY_BYTES;
  if (!status) {
    S->start[S->nslice] = S->nslot;
    S->col              = SysAllocate(sizeof(*S->col) * (size_t)S->nslot);
    S->val              = SysAllocate(sizeof(*S->val) * (size_t)S->nslot);
    if (!S->col || !S->val) status = SYS_OUT_OF_MEMORY;
  }
  if (status) {
    SlicedHostDestroy(S);
    return status;
  }
  SlicedFill(S);
  *out = S;
  return SYS_SUCCESS;
}

/* New values; the pattern is the same, but its arrays may lie elsewhere */
SysStatus SlicedHostUpdate(void *data, const SysCSR *csr, SysStream stream)
{
  SlicedHost *S = (SlicedHost *)data;

  (void)stream;
  S->csr = *csr;
  SlicedFill(S);
  return SYS_SUCCESS;
}

static SysScalar SlicedRowSum(const SysCSR *A, SysInt r, const SysScalar *x)
{
  SysScalar sum = 0;

  for (SysInt k = A->i[r]; k < A->i[r + 1]; k++) sum += A->a[k] * x[A->j[k]];
  return sum;
}

SysStatus SlicedHostMult(void *data, const SysCSR *csr, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, SysStream stream)
{
  const SlicedHost *S   = (const SlicedHost *)data;
  const SysStore    how = SysFirstStore(beta, y, z);

  (void)csr;
  (void)stream;
#if defined(_OPENMP)
  #pragma omp parallel for num_threads(S->nthread) schedule(static)
#endif
  for (int64_t s = 0; s < S->nslice; s++) {
    SysScalar sum[SLICED_C] = {0};

    for (int64_t slot = S->start[s]; slot < S->start[s + 1]; slot += SLICED_C) {
      for (int l = 0; l < SLICED_C; l++) sum[l] += S->val[slot + l] * x[S->col[slot + l]];
    }
    for (int l = 0; l < SLICED_C; l++) {
      const SysInt r = S->row[s * SLICED_C + l];

      if (r < 0) continue;
      if (sum[l] != sum[l]) sum[l] = SlicedRowSum(&S->csr, r, x); /* a zero of the filling may have met a NaN */
      z[r] = SysStored(how, alpha, sum[l], beta, y, z, r);
    }
  }
  return SYS_SUCCESS;
}

/* One thread adds the rows up, in their order */
SysStatus SlicedHostMultTranspose(void *data, const SysCSR *csr, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, SysStream stream)
{
  const SlicedHost *S = (const SlicedHost *)data;

  (void)csr;
  (void)stream;
  SysStartSum(0, S->csr.n, beta, y, z);
  for (int64_t s = 0; s < S->nslice; s++) {
    for (int l = 0; l < SLICED_C; l++) {
      const SysInt r = S->row[s * SLICED_C + l], n = SlicedLength(&S->csr, r);

      for (SysInt i = 0; i < n; i++) z[S->col[S->start[s] + (int64_t)i * SLICED_C + l]] += S->val[S->start[s] + (int64_t)i * SLICED_C + l] * alpha * x[r];
    }
  }
  return SYS_SUCCESS;
}

void SlicedHostDestroy(void *data)
{
  SlicedHost *S = (SlicedHost *)data;

  if (!S) return;
  SysRelease(S->start, sizeof(*S->start) * (size_t)(S->nslice + 1));
  SysRelease(S->row, sizeof(*S->row) * SLICED_C * (size_t)S->nslice);
  SysRelease(S->col, sizeof(*S->col) * (size_t)S->nslot);
  SysRelease(S->val, sizeof(*S->val) * (size_t)S->nslot);
  free(S);
}
