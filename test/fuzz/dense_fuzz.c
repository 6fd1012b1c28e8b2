/* SPDX-License-Identifier: BSD-2-Clause */
/*
   libFuzzer target for the host's kernels of sparse and dense matrices: products A D and A^T D, sampled products, and batches, whose rows may have columns in any order and
   repeated. Results are those of plain loops.
*/
#include "csr.h"
#include "sys/sysmemory.h"
#include "mat/impls/spmm/host/spmmhost.h"
#include "graph/batch/host/batchhost.h"

#define GAP 3 /* numbers between columns */

/* n rows of ncol columns, and NaN in the gaps */
static SysReal *DenseFlush(Bytes *b, int64_t n, int ncol)
{
  SysReal *d = VectorTake(b, (n + GAP) * ncol);

  for (int c = 0; c < ncol; c++) {
    for (int64_t r = n; r < n + GAP; r++) d[c * (n + GAP) + r] = NAN;
  }
  return d;
}

/* One column of the product with a matrix or its transpose */
static void JudgeColumn(const Csr *A, int transpose, const SysReal *d, int64_t stride, const SysReal *c, int64_t to)
{
  const int64_t m   = transpose ? A->n : A->m;
  Sum          *sum = calloc((size_t)m + 1, sizeof(*sum));

  for (int64_t r = 0; r < A->m; r++) {
    for (SysInt k = A->i[r]; k < A->i[r + 1]; k++) SumAdd(&sum[transpose ? A->j[k] : r], 1, A->a[k], d[stride * (transpose ? r : A->j[k])]);
  }
  for (int64_t r = 0; r < m; r++) CHECK(SumIs(&sum[r], c[to * r], SCALAR_EPS));
  free(sum);
}

static void CheckProduct(Bytes *b, const Csr *A, int transpose, int nthread, int ncol)
{
  const SysCSR   csr = CsrGet(A);
  const int64_t  m = transpose ? A->n : A->m, n = transpose ? A->m : A->n;
  SysReal       *D = DenseFlush(b, n, ncol), *C = Exactly((m + GAP) * ncol, sizeof(*C));
  SpmmTransposed T = {0};
  int64_t        ring;

  for (int64_t k = 0; k < (m + GAP) * ncol; k++) C[k] = 77;
  if (transpose) CHECK(SpmmTranspose(&csr, &T) == SYS_SUCCESS);
  ring = transpose ? SpmmRing(m, n, T.i, T.j) : SpmmRing(m, n, A->i, A->j);
  for (int col = 0, k, width; col < ncol; col += k) {
    SpmmTerm term = {.i = transpose ? T.i : A->i, .j = transpose ? T.j : A->j, .position = transpose ? T.position : NULL, .a = A->a, .n = n, .ring = ring, .ld = n + GAP};
    size_t   bytes;

    k            = SpmmPanelColumns(ncol - col, &width);
    bytes        = sizeof(SysReal) * (size_t)(ring ? nthread * SpmmRingSize(ring, width) : n * width);
    term.columns = D + col * (n + GAP);
    term.panel   = SysAllocate(bytes);
    if (!ring) SpmmPack(nthread, n, k, width, term.columns, term.ld, term.panel);
    SpmmMult(nthread, m, &term, 1, k, width, C + col * (m + GAP), m + GAP);
    SysRelease(term.panel, bytes);
  }
  for (int c = 0; c < ncol; c++) {
    JudgeColumn(A, transpose, D + c * (n + GAP), 1, C + c * (m + GAP), 1);
    for (int64_t r = m; r < m + GAP; r++) CHECK(C[c * (m + GAP) + r] == 77);
  }
  SpmmTransposedDestroy(&T);
  free(D);
  free(C);
}

static void CheckSampled(Bytes *b, const Csr *A, int nthread, int ncol, int scale)
{
  SysReal      *D = DenseFlush(b, A->m, ncol), *E = DenseFlush(b, A->n, ncol), *values = Exactly(A->nz, sizeof(*values));
  const int64_t ring = SpmmRing(A->m, A->n, A->i, A->j);

  for (int col = 0, k, width; col < ncol; col += k) {
    SpmmTerm term = {.i = A->i, .j = A->j, .a = A->a, .n = A->n, .ring = ring, .ld = A->n + GAP};
    size_t   bytes, work_bytes;
    SysReal *work;

    k            = SddmmPanelColumns(ncol - col, &width);
    bytes        = sizeof(SysReal) * (size_t)(ring ? nthread * SpmmRingSize(ring, width) : A->n * width);
    work_bytes   = sizeof(SysReal) * (size_t)(nthread * SddmmWorkSize(width));
    term.columns = E + col * (A->n + GAP);
    term.panel   = SysAllocate(bytes);
    work         = SysAllocate(work_bytes);
    if (!ring) SpmmPack(nthread, A->n, k, width, term.columns, term.ld, term.panel);
    SddmmValues(nthread, A->m, &term, D + col * (A->m + GAP), A->m + GAP, k, width, col > 0, scale && col + k == ncol, work, values);
    SysRelease(term.panel, bytes);
    SysRelease(work, work_bytes);
  }
  for (int64_t r = 0; r < A->m && ncol; r++) {
    for (SysInt k = A->i[r]; k < A->i[r + 1]; k++) {
      Sum sum = {0};

      if (scale && !IsFinite(A->a[k])) continue;
      for (int c = 0; c < ncol; c++) SumAdd(&sum, scale ? A->a[k] : 1, D[c * (A->m + GAP) + r], E[c * (A->n + GAP) + A->j[k]]);
      CHECK((scale && sum.special) || SumIs(&sum, values[k], SCALAR_EPS));
    }
  }
  free(D);
  free(E);
  free(values);
}

static void CheckBatch(Bytes *b, const Csr *A, int nthread, int64_t width)
{
  const BatchRows rows = {A->m, A->i, A->j, NULL, A->a};
  BatchEntries    E;
  SysReal        *D = VectorTake(b, A->n * width), *C = Exactly(A->m * width, sizeof(*C));
  SysInt         *row = Exactly(A->nz, sizeof(*row));

  BatchMult(nthread, &rows, 0, width, D, C);
  for (int64_t c = 0; c < width; c++) JudgeColumn(A, 0, D + c, width, C + c, width);
  for (int64_t r = 0; r < A->m; r++) {
    for (SysInt k = A->i[r]; k < A->i[r + 1]; k++) row[k] = (SysInt)(A->m - 1 - r);
  }
  CHECK(BatchEntriesCreate(A->m, A->n, A->nz, row, A->j, &E) == SYS_SUCCESS);
  CHECK(E.i[0] == 0 && E.i[A->m] == E.nz && E.first[0] == 0 && E.first[E.nz] == A->nz && E.nz <= A->nz);
  for (int64_t r = 0; r < A->m; r++) {
    for (SysInt k = E.i[r]; k < E.i[r + 1]; k++) {
      CHECK(E.first[k] < E.first[k + 1] && (k == E.i[r] || E.j[k] > E.j[k - 1]));
      for (int64_t q = E.first[k]; q < E.first[k + 1]; q++) CHECK(row[E.perm[q]] == r && A->j[E.perm[q]] == E.j[k] && (q == E.first[k] || E.perm[q] > E.perm[q - 1]));
    }
  }
  BatchEntriesDestroy(&E);
  free(D);
  free(C);
  free(row);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  Bytes          b      = {data, size};
  const uint32_t choice = TakeByte(&b), shape = TakeByte(&b);
  const int      ncol = (int)(TakeByte(&b) % 70), nthread = 1 + (int)(shape % 5);
  const int64_t  m = TakeSize(&b, shape > 200), n = TakeSize(&b, shape > 200);
  Csr            A;

  CsrTake(&b, m, n, choice / 8 % 2 ? CSR_ANY : CSR_ASCENDING, &A);
  if (choice % 4 < 2) CheckProduct(&b, &A, (int)(choice % 4), nthread, ncol);
  else if (choice % 4 == 2) CheckSampled(&b, &A, nthread, ncol, (int)(choice / 16 % 2));
  else CheckBatch(&b, &A, nthread, ncol);
  CsrDestroy(&A);
  return 0;
}
