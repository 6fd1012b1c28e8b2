/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Storage of CCOO's values: plain, or table indices
*/
#include "mat/impls/ccoo/host/ccoolayout.h"

static const SysScalar zero = 0;

/* Returns whether the table has every value of chunk c; with padding it has 0 */
static int CcooValuesCovered(const CcooHost *A, const SysCSR *csr, int64_t c, SysTable *T, int add)
{
  return SysTableCovers(T, add, A->entry[c + 1] - A->entry[c], csr->a + A->entry[c]);
}

SysStatus CcooValuesChoose(const CcooHost *A, const SysCSR *csr, int nworker, CcooValues *V)
{
  SysTable *T = V->table = malloc(sizeof(*T));
  int64_t   ntabled      = 0;
  SysStatus status       = SYS_SUCCESS;

  V->tabled = calloc((size_t)A->nchunk + 1, 1);
  V->nvalue = 0;
  if (!T || !V->tabled) return SYS_OUT_OF_MEMORY;
  SysTableClear(T);
  if (csr->a && A->params.table && csr->nz) {
    if (A->ngroup * A->params.k > csr->nz) (void)SysTableAdd(T, &zero);
    status = SysTableAddFrequent(T, csr->nz, csr->a);
    if (status) return status;
#pragma omp parallel for num_threads(nworker) if (nworker > 1) schedule(static)
    for (int64_t c = 0; c < A->nchunk; c++) V->tabled[c] = (uint8_t)CcooValuesCovered(A, csr, c, T, 0);
    if (T->n < SYS_TABLE_VALUES) { /* values that the sample missed */
      for (int64_t c = 0; c < A->nchunk; c++) V->tabled[c] = (uint8_t)(V->tabled[c] || CcooValuesCovered(A, csr, c, T, 1));
    }
  }
  for (int64_t c = 0; c < A->nchunk; c++) {
    if (V->nvalue / CCOO_ENTRY_BYTES > UINT32_MAX) return SYS_TOO_LARGE;
    ntabled += V->tabled[c];
    V->nvalue += CcooValueBytes(V->tabled[c] ? CCOO_TABLE : 0, CcooGroups(A, c), A->params.k);
  }
  if (!ntabled) SysTableClear(T);
  return SYS_SUCCESS;
}

static void CcooValuesFill(const CcooHost *A, const SysCSR *csr, int64_t c)
{
  const CcooChunk *h        = A->chunk + c;
  const int        K        = A->params.k;
  const int64_t    ngroup   = CcooGroups(A, c);
  const int        pad      = SysTableFind(A->table, &zero);
  uint8_t         *position = A->value + (int64_t)CCOO_ENTRY_BYTES * h->value;
  SysScalar       *val      = (SysScalar *)position;
  SysInt           k        = A->entry[c];
  int64_t          g        = 0;

  for (int64_t r = h->row; g < ngroup; r++) {
    const SysInt  end = csr->i[r + 1] < A->entry[c + 1] ? csr->i[r + 1] : A->entry[c + 1];
    const int64_t n = r == csr->m - 1 ? ngroup - g : CcooRowGroups(end - k, K), first = g * K, filled = first + end - k, last = (g + n) * K;

    if (h->format & CCOO_TABLE) {
      SysTableEncode(A->table, end - k, csr->a + k, position + first);
      if (last > filled) memset(position + filled, pad, (size_t)(last - filled));
    } else {
      if (end > k) memcpy(val + first, csr->a + k, sizeof(*val) * (size_t)(end - k));
      for (int64_t p = filled; p < last; p++) val[p] = 0;
    }
    k = end;
    g += n;
  }
}

SysStatus CcooValuesSetUp(CcooHost *A, const SysCSR *csr, int nworker, CcooValues *V)
{
  SysTable *const table = A->table;
  int64_t         begin = 0;

  if (csr->a && (!A->value || V->nvalue != A->nvalue)) {
    uint8_t *value = SysAllocate((size_t)V->nvalue);

    if (!value) return SYS_OUT_OF_MEMORY;
    if (A->value) SysRelease(A->value, (size_t)A->nvalue);
    A->value = value;
  }
  A->nvalue = V->nvalue;
  A->table  = V->table;
  V->table  = table;
  for (int64_t c = 0; c < A->nchunk; c++) {
    A->chunk[c].format = (A->chunk[c].format & ~(uint32_t)CCOO_TABLE) | (V->tabled[c] ? CCOO_TABLE : 0);
    A->chunk[c].value  = (uint32_t)(begin / CCOO_ENTRY_BYTES);
    begin += CcooValueBytes(A->chunk[c].format, CcooGroups(A, c), A->params.k);
  }
  if (!csr->a) return SYS_SUCCESS;
#pragma omp parallel for num_threads(nworker) if (nworker > 1) schedule(static)
  for (int t = 0; t < A->nthread; t++) {
    for (int64_t c = CcooFirst(A, t); c < CcooFirst(A, t + 1); c++) CcooValuesFill(A, csr, c);
  }
  return SYS_SUCCESS;
}

void CcooValuesDestroy(CcooValues *V)
{
  free(V->table);
  free(V->tabled);
}
