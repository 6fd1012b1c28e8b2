/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Conversion of CSR to CCOO on the host, parallel over chunks, and the products
*/
#include "mat/impls/ccoo/host/ccoolayout.h"

const CcooKernels *CcooHostKernels(void)
{
  return SYS_KERNELS_REAL(CcooKernels);
}

static SysStatus CcooHostFill(CcooHost *A, const SysCSR *csr, int nworker, CcooValues *V)
{
  A->index = SysAllocate((size_t)A->nindex + CCOO_SLACK);
  if (!A->index) return SYS_OUT_OF_MEMORY;
#pragma omp parallel for num_threads(nworker) if (nworker > 1) schedule(static)
  for (int t = 0; t < A->nthread; t++) CcooLayoutFill(A, CcooFirst(A, t), CcooFirst(A, t + 1));
  memset(A->index + A->nindex, 0, CCOO_SLACK);
  return CcooValuesSetUp(A, csr, nworker, V);
}

SysStatus CcooHostCreate(const SysCSR *csr, const CcooParams *params, int nthread, int nworker, const CcooKernels *kernels, double most, double *bytes, CcooHost **out)
{
  CcooHost  *A = calloc(1, sizeof(*A));
  CcooValues V = {0};
  SysStatus  status;

  *out = NULL;
  if (!A) return SYS_OUT_OF_MEMORY;
  A->csr     = *csr;
  A->kernels = kernels;
  A->params  = *params;
  A->nthread = nthread;
  status     = csr->nz ? CcooLayoutChunks(A, nworker) : SYS_SUCCESS; /* without entries there are no chunks */
  if (!status) status = CcooValuesChoose(A, csr, nworker, &V);
  if (!status) {
    A->nvalue = V.nvalue;
    *bytes    = CcooHostBytes(A) + (double)sizeof(SysScalar) * V.table->n;
    if (*bytes > most) status = SYS_TOO_MANY_BYTES;
    A->nvalue = 0;
  }
  if (!status) status = CcooHostFill(A, csr, nworker, &V);
  CcooValuesDestroy(&V);
  if (status) CcooHostDestroy(A);
  else *out = A;
  return status;
}

SysStatus CcooHostUpdate(void *data, const SysCSR *csr, SysStream stream)
{
  CcooHost  *A      = (CcooHost *)data;
  CcooValues V      = {0};
  SysStatus  status = CcooValuesChoose(A, csr, A->nthread, &V);

  (void)stream;
  if (!status) status = CcooValuesSetUp(A, csr, A->nthread, &V);
  if (!status) A->csr = *csr;
  CcooValuesDestroy(&V);
  return status;
}

/* Allocates each thread's sums for the transposed product; a single thread adds to the result */
SysStatus CcooHostPrepareTranspose(CcooHost *A)
{
  SysStretches *S = &A->work;

  if (S->sums || A->nthread == 1) return SYS_SUCCESS;
  if (SysStretchesBegin(S, A->nthread)) return SYS_OUT_OF_MEMORY;
  for (int t = 0; t < A->nthread; t++) {
    S->lo[t] = A->csr.n;
    S->hi[t] = 0;
    for (int64_t c = CcooFirst(A, t); c < CcooFirst(A, t + 1); c++) {
      const CcooChunk *h     = A->chunk + c;
      const int64_t    reach = (int64_t)h->col + ((int64_t)1 << (8 << (h->format & CCOO_WIDTH))), hi = reach < A->csr.n ? reach : A->csr.n;

      S->lo[t] = h->col < S->lo[t] ? h->col : S->lo[t];
      S->hi[t] = hi > S->hi[t] ? hi : S->hi[t];
    }
  }
  return SysStretchesCreate(S, A->nthread, 0);
}

SYS_HOST_MULT(Ccoo)
SYS_HOST_MULT_TRANSPOSE(Ccoo)

void CcooHostCount(const CcooHost *A, int64_t count[CCOO_FORMATS])
{
  for (int f = 0; f < CCOO_FORMATS; f++) count[f] = 0;
  for (int64_t c = 0; c < A->nchunk; c++) count[CcooFormat(A->chunk[c].format)]++;
}

/* Returns the bytes of the matrix that a product reads, including the partial sums */
double CcooHostBytes(const CcooHost *A)
{
  return (double)A->nindex + (double)A->nvalue + (sizeof(*A->chunk) + 2. * sizeof(*A->carry)) * (double)A->nchunk + (A->table ? sizeof(SysScalar) * (double)A->table->n : 0);
}

void CcooHostDestroy(void *data)
{
  CcooHost *A = (CcooHost *)data;

  if (!A) return;
  SysRelease(A->chunk, sizeof(*A->chunk) * (A->nchunk + 1));
  SysRelease(A->entry, sizeof(*A->entry) * (A->nchunk + 1));
  SysRelease(A->carry, sizeof(*A->carry) * 2 * A->nchunk);
  SysRelease(A->index, (size_t)A->nindex + CCOO_SLACK);
  SysRelease(A->value, (size_t)A->nvalue);
  SysStretchesDestroy(&A->work);
  free(A->table);
  free(A);
}
