/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The chunks of a matrix, and the offsets of rows and columns
*/
#include "mat/impls/ccoo/host/ccoolayout.h"

void CcooReachSet(const SysCSR *A, CcooReach *R)
{
  SysInt lo = 0, hi = 0;

  if (R->begin < R->end) lo = hi = A->j[R->begin];
  for (SysInt k = R->begin; k < R->end; k++) {
    lo = A->j[k] < lo ? A->j[k] : lo;
    hi = A->j[k] > hi ? A->j[k] : hi;
  }
  R->col    = (uint32_t)lo;
  R->format = (hi - lo > UINT16_MAX ? 2 : (hi - lo > UINT8_MAX ? 1 : 0)) | (R->last > R->row ? CCOO_ROWS : 0);
}

/* Finds the chunks whose first group is in rows r0 to r1 - 1, after `before` groups */
static void CcooLayoutBegin(CcooHost *A, int64_t r0, int64_t r1, int64_t before)
{
  const int     K = A->params.k;
  const int64_t B = A->params.b;
  int64_t       c = (before + B - 1) / B;

  for (int64_t r = r0; r < r1; r++) {
    const SysInt  first = A->csr.i[r];
    const int64_t after = before + CcooRowGroups(A->csr.i[r + 1] - first, K);

    for (; c * B < after; c++) {
      A->chunk[c].row    = (uint32_t)r;
      A->chunk[c].format = c * B > before ? CCOO_CONTINUES : 0;
      A->entry[c]        = first + (SysInt)(K * (c * B - before));
    }
    before = after;
  }
}

/* Partitions the rows, counts each part's groups, and finds the chunks' begins */
static SysStatus CcooLayoutRows(CcooHost *A, int nworker)
{
  const int64_t m      = A->csr.m;
  int64_t      *before = calloc((size_t)nworker + 1, sizeof(*before));

  if (!before) return SYS_OUT_OF_MEMORY;
#pragma omp parallel for num_threads(nworker) if (nworker > 1) schedule(static)
  for (int t = 0; t < nworker; t++) {
    for (int64_t r = m * t / nworker; r < m * (t + 1) / nworker; r++) before[t + 1] += CcooRowGroups(A->csr.i[r + 1] - A->csr.i[r], A->params.k);
  }
  for (int t = 0; t < nworker; t++) before[t + 1] += before[t];
  A->ngroup = (before[nworker] + CCOO_GROUPS - 1) / CCOO_GROUPS * CCOO_GROUPS;
  A->nchunk = (A->ngroup + A->params.b - 1) / A->params.b;
  A->chunk  = SysAllocate(sizeof(*A->chunk) * (A->nchunk + 1));
  A->entry  = SysAllocate(sizeof(*A->entry) * (A->nchunk + 1));
  A->carry  = SysAllocateZero(sizeof(*A->carry) * 2 * A->nchunk);
  if (A->chunk && A->entry && A->carry) {
#pragma omp parallel for num_threads(nworker) if (nworker > 1) schedule(static)
    for (int t = 0; t < nworker; t++) CcooLayoutBegin(A, m * t / nworker, m * (t + 1) / nworker, before[t]);
    A->chunk[A->nchunk] = (CcooChunk){.row = (uint32_t)m};
    A->entry[A->nchunk] = (SysInt)A->csr.nz;
  }
  free(before);
  return A->chunk && A->entry && A->carry ? SYS_SUCCESS : SYS_OUT_OF_MEMORY;
}

SysStatus CcooLayoutChunks(CcooHost *A, int nworker)
{
  SysStatus status;

  if (A->csr.m >= UINT32_MAX || A->csr.n >= UINT32_MAX) return SYS_TOO_LARGE;
  status = CcooLayoutRows(A, nworker);
  if (status) return status;
#pragma omp parallel for num_threads(nworker) if (nworker > 1) schedule(static)
  for (int64_t c = 0; c < A->nchunk; c++) {
    CcooChunk *h       = A->chunk + c;
    const int  goes_on = (A->chunk[c + 1].format & CCOO_CONTINUES) != 0;
    CcooReach  R       = {.row = h->row, .last = (int64_t)A->chunk[c + 1].row - !goes_on, .begin = A->entry[c], .end = A->entry[c + 1]};

    CcooReachSet(&A->csr, &R);
    h->col   = R.col;
    h->value = R.format | (goes_on ? CCOO_GOES_ON : 0); /* stored here: other threads still read format */
  }
  for (int64_t c = 0; c < A->nchunk; c++) {
    CcooChunk *h = A->chunk + c;

    if (A->nindex / CCOO_ENTRY_BYTES > UINT32_MAX) return SYS_TOO_LARGE;
    h->format |= h->value;
    h->index = (uint32_t)(A->nindex / CCOO_ENTRY_BYTES);
    A->nindex += CcooIndexBytes(h->format, CcooGroups(A, c), A->params.k);
  }
  return SYS_SUCCESS;
}

static SYS_INLINE void CcooSetColumns(const int width, uint8_t *to, uint32_t col, const SysInt *j, int64_t n)
{
  for (int64_t k = 0; k < n; k++) {
    const uint32_t offset = (uint32_t)(j[k] - col);

    if (width == 0) to[k] = (uint8_t)offset;
    else if (width == 1) ((uint16_t *)to)[k] = (uint16_t)offset;
    else ((uint32_t *)to)[k] = offset;
  }
}

static SYS_INLINE void CcooFillChunk(const int width, const CcooHost *A, int64_t c)
{
  const CcooChunk *h      = A->chunk + c;
  const int        K      = A->params.k;
  const int64_t    ngroup = CcooGroups(A, c);
  uint8_t         *row = A->index + (int64_t)CCOO_ENTRY_BYTES * h->index, *col = row + (h->format & CCOO_ROWS ? ngroup : 0);
  SysInt           k = A->entry[c];
  int64_t          g = 0;

  for (int64_t r = h->row; g < ngroup; r++) {
    const SysInt  end   = A->csr.i[r + 1] < A->entry[c + 1] ? A->csr.i[r + 1] : A->entry[c + 1];
    const SysInt  empty = (SysInt)h->col, *last = end > k ? A->csr.j + end - 1 : &empty;
    const int64_t n = r == A->csr.m - 1 ? ngroup - g : CcooRowGroups(end - k, K); /* the last row has the remaining groups */

    if (h->format & CCOO_ROWS) memset(row + g, (int)(r - h->row), (size_t)n);
    CcooSetColumns(width, col + (g * K << width), h->col, A->csr.j + k, end - k);
    for (int64_t p = g * K + end - k; p < (g + n) * K; p++) CcooSetColumns(width, col + (p << width), h->col, last, 1);
    k = end;
    g += n;
  }
}

void CcooLayoutFill(const CcooHost *A, int64_t c0, int64_t c1)
{
  for (int64_t c = c0; c < c1; c++) {
    switch (A->chunk[c].format & CCOO_WIDTH) {
    case 0:
      CcooFillChunk(0, A, c);
      break;
    case 1:
      CcooFillChunk(1, A, c);
      break;
    default:
      CcooFillChunk(2, A, c);
    }
  }
}
