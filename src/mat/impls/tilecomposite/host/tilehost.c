/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Conversion to tile-composite on the host, and products. The transposed product reads the CSR, since rectangles have no order by columns.
*/
#include "mat/impls/tilecomposite/host/tilehost.h"

const TileKernels *TileHostKernels(void)
{
  return SYS_KERNELS_REAL(TileKernels);
}

/* Copies the values of the matrix to the rectangles; padding, and all values if a is NULL, become 0 */
static void HostValues(TileHost *A, const SysScalar *a, int nworker)
{
  const TileLayout *L = &A->layout;

#pragma omp parallel for num_threads(nworker) if (nworker > 1) schedule(static)
  for (int64_t k = 0; k < L->nentry; k++) A->val[k] = a && L->from[k] >= 0 ? a[L->from[k]] : 0;
}

/* Gives each thread rectangles with about equal numbers of entries */
static void HostThreads(TileHost *A)
{
  const TileLayout *L = &A->layout;
  int64_t           w = 0;

  for (int t = 0; t < A->nthread; t++) {
    while (w < L->nwork && (double)L->work[w].place < (double)L->nentry * t / A->nthread) w++;
    A->first[t] = w;
  }
  A->first[A->nthread] = L->nwork;
}

SysStatus TileHostCreate(const SysCSR *csr, const TileParams *params, int nthread, int nworker, const TileKernels *kernels, double most, double *bytes, TileHost **out)
{
  TileHost  *A = calloc(1, sizeof(*A));
  TileLayout sizes;
  SysStatus  status;

  *out = NULL;
  if (!A) return SYS_OUT_OF_MEMORY;
  A->kernels = kernels;
  A->nthread = nthread;
  status     = TileLayoutCreate(csr, params, NULL, 1, nworker, &sizes); /* counts the bytes only */
  if (!status) {
    *bytes = TileLayoutBytes(&sizes);
    if (*bytes > most) status = SYS_TOO_MANY_BYTES;
    TileLayoutDestroy(&sizes);
  }
  if (!status) status = TileLayoutCreate(csr, params, NULL, 0, nworker, &A->layout);
  if (!status) {
    const TileLayout *L = &A->layout;

    A->first = malloc(sizeof(*A->first) * ((size_t)nthread + 1));
    A->val   = SysAllocate(sizeof(*A->val) * (size_t)L->nentry);
    A->xs    = SysAllocate(sizeof(*A->xs) * (size_t)L->ncol);
    A->sums  = SysAllocate(sizeof(*A->sums) * (size_t)L->nslot);
    if (!A->first || (L->nentry && !A->val) || (L->ncol && !A->xs) || (L->nslot && !A->sums)) status = SYS_OUT_OF_MEMORY;
  }
  if (status) TileHostDestroy(A);
  else {
    HostThreads(A);
    HostValues(A, csr->a, nworker);
    *out = A;
  }
  return status;
}

SysStatus TileHostUpdate(void *data, const SysCSR *csr, SysStream stream)
{
  TileHost *A = (TileHost *)data;

  (void)stream;
  HostValues(A, csr->a, A->nthread);
  return SYS_SUCCESS;
}

SYS_HOST_MULT(Tile)

/* ------------------------------------------------- transposed product, from CSR ------------------------------------------------- */

typedef struct {
  const SysCSR *csr;
  int           nthread;
} HostTransposed;

/* Returns thread t's first row; threads have about equal numbers of entries */
static int64_t HostFirstRow(const SysCSR *A, int nthread, int t)
{
  const double wanted = (double)A->nz * t / nthread;
  int64_t      lo = 0, hi = A->m;

  if (t == nthread) return A->m;
  while (lo < hi) {
    const int64_t middle = lo + (hi - lo) / 2;

    if ((double)A->i[middle] < wanted) lo = middle + 1;
    else hi = middle;
  }
  return lo;
}

/* Creates sums for each thread over the stretch of columns that its rows have */
static SysStatus HostPrepareTranspose(TileHost *A, const SysCSR *csr)
{
  SysStretches *S = &A->work;

  if (S->sums || A->nthread == 1) return SYS_SUCCESS;
  if (SysStretchesBegin(S, A->nthread)) return SYS_OUT_OF_MEMORY;
  for (int t = 0; t < A->nthread; t++) {
    S->lo[t] = csr->n;
    S->hi[t] = 0;
    for (int64_t k = csr->i[HostFirstRow(csr, A->nthread, t)]; k < csr->i[HostFirstRow(csr, A->nthread, t + 1)]; k++) {
      S->lo[t] = csr->j[k] < S->lo[t] ? csr->j[k] : S->lo[t];
      S->hi[t] = csr->j[k] >= S->hi[t] ? csr->j[k] + 1 : S->hi[t];
    }
  }
  return SysStretchesCreate(S, A->nthread, 0);
}

static void HostThreadTranspose(const void *data, int t, SysScalar alpha, const SysScalar *x, SysScalar *z)
{
  const HostTransposed *T = (const HostTransposed *)data;
  const SysCSR         *A = T->csr;

  for (int64_t r = HostFirstRow(A, T->nthread, t); r < HostFirstRow(A, T->nthread, t + 1); r++) {
    const SysScalar f = alpha * x[r];

    for (SysInt k = A->i[r]; k < A->i[r + 1]; k++) z[A->j[k]] += A->a[k] * f;
  }
}

SysStatus TileHostMultTranspose(void *data, const SysCSR *csr, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, SysStream stream)
{
  TileHost            *A      = (TileHost *)data;
  const HostTransposed T      = {csr, A->nthread};
  const SysStatus      status = HostPrepareTranspose(A, csr);

  (void)stream;
  if (!status) SysStretchesMult(&A->work, A->nthread, csr->n, HostThreadTranspose, &T, alpha, x, beta, y, z);
  return status;
}

void TileHostDestroy(void *data)
{
  TileHost *A = (TileHost *)data;

  if (!A) return;
  SysRelease(A->val, sizeof(*A->val) * (size_t)A->layout.nentry);
  SysRelease(A->xs, sizeof(*A->xs) * (size_t)A->layout.ncol);
  SysRelease(A->sums, sizeof(*A->sums) * (size_t)A->layout.nslot);
  SysStretchesDestroy(&A->work);
  free(A->first);
  TileLayoutDestroy(&A->layout);
  free(A);
}
