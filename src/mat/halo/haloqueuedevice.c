/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Products of MPI matrices for solvers that record their iterations. The record has the work of both streams: events lead from one to the other and back. Each process has
   its own GPU: kernels of a record that wait for another process's would keep those from a GPU that both share.
*/
#include "mat/halo/halo.h"

PetscErrorCode MatHaloShareSetUp(Mat A, PetscBool transpose, MatHaloShare *p)
{
  MatShadowCSR  csr;
  PetscObjectId id;
  MatShadow    *s;
  MatHalo      *h;
  Mat           rest;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(p, sizeof(*p)));
  PetscCall(PetscMemzero(&csr, sizeof(csr)));
  if (!MatAIJIsCUSPARSE(A)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatShadowQuery(A, &s));
  if (!s || s->owner != A) PetscFunctionReturn(PETSC_SUCCESS);
  h = (MatHalo *)s->halo;
  if (!h || !h->chosen || (h->size && !(MatHaloInStream(h) && h->about->own))) PetscFunctionReturn(PETSC_SUCCESS); /* of size 0 it exchanges nothing */
  PetscCall(MatMPIAIJGetSeqAIJ(A, NULL, &rest, NULL));
  PetscCall(PetscObjectGetId((PetscObject)rest, &id));
  if (h->block != id) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatHaloBlockSetUp(&h->rest, rest));
  if (h->rest.whole) PetscFunctionReturn(PETSC_SUCCESS);
  if (h->rest.rows.n) PetscCall(MatAIJDeviceGetCSR(rest, &csr.A, &csr.stream));
  p->rest = csr.A;
  if (transpose) {
    if (h->n) PetscCall(MatHaloColumnsSetUp(&h->rest, rest, h->n));
    PetscCall(MatHaloSumsSetUp(h, A->cmap->n));
  }
  p->halo = h;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatHaloShareBegin(const MatHaloShare *p, PetscBool transpose, const PetscScalar *x, cudaStream_t stream, SysStatus *status)
{
  MatHalo *h = p->halo;

  PetscFunctionBegin;
  if (transpose && h->n) *status = HaloMultTranspose(&h->rest.columns, p->rest.a, x, h->from.buffer, stream);
  PetscCall(MatHaloExchangeBegin(h, transpose, x, stream)); /* after an error too: others wait */
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatHaloShareEnd(const MatHaloShare *p, PetscBool transpose, PetscScalar alpha, PetscScalar *y, cudaStream_t stream, SysStatus *status)
{
  MatHalo *h = p->halo;

  PetscFunctionBegin;
  PetscCall(MatHaloExchangeEnd(h, stream));
  if (*status != SYS_SUCCESS) PetscFunctionReturn(PETSC_SUCCESS);
  if (transpose) {
    if (h->sums.n) *status = HaloAddSums(&h->sums, h->to.buffer, y, stream);
  } else if (h->rest.rows.n) *status = HaloAdd(&h->rest.rows, p->rest.j, p->rest.a, alpha, h->from.buffer, y, stream);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatHaloShareMade(Mat A, PetscInt products)
{
  MatShadow *s;
  MatHalo   *h;

  PetscFunctionBegin;
  PetscCall(MatShadowGet(A, &s));
  h = (MatHalo *)s->halo;
  h->products += products;
  if (h->rest.rows.n) PetscCall(PetscLogGpuFlops(2.0 * h->rest.nz * products));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatHaloQueueSetUp(Mat A, MatHaloQueue *q)
{
  MatHaloShare share;
  Mat          diagonal;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(q, sizeof(*q)));
  PetscCall(MatHaloShareSetUp(A, PETSC_FALSE, &share));
  if (!share.halo) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatMPIAIJGetSeqAIJ(A, &diagonal, NULL, NULL));
  PetscCall(MatShadowDeviceSettled(diagonal, PETSC_FALSE, &q->diagonal, &q->ops, &q->data));
  if (!q->ops) PetscFunctionReturn(PETSC_SUCCESS);
  if (q->ops->multdot) PetscCall(MatHaloCheck((*q->ops->multdot)(q->data, &q->diagonal.A, NULL, NULL, NULL, &q->nparts, PetscDefaultCudaStream)));
  q->share = share;
  PetscFunctionReturn(PETSC_SUCCESS);
}

int64_t MatHaloQueueParts(const MatHaloQueue *q)
{
  return q->nparts ? q->nparts + HaloAddSumCount(&q->share.halo->rest.rows) : 0;
}

PetscErrorCode MatHaloQueueMult(const MatHaloQueue *q, const PetscScalar *x, PetscScalar *y, PetscScalar *parts, cudaStream_t stream, SysStatus *status)
{
  const MatHaloShare *p    = &q->share;
  const HaloRows     *rows = &p->halo->rest.rows;
  int64_t             nparts;

  PetscFunctionBegin;
  PetscCall(MatHaloShareBegin(p, PETSC_FALSE, x, stream, status));
  if (!parts) {
    *status = (*q->ops->mult)(q->data, &q->diagonal.A, 1, x, 0, NULL, y, stream);
    PetscCall(MatHaloShareEnd(p, PETSC_FALSE, 1, y, stream, status));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  *status = (*q->ops->multdot)(q->data, &q->diagonal.A, x, y, parts, &nparts, stream);
  PetscCall(MatHaloExchangeEnd(p->halo, stream));
  if (*status == SYS_SUCCESS && rows->n) *status = HaloAddDot(rows, p->rest.j, p->rest.a, p->halo->from.buffer, y, x, parts + q->nparts, stream);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatHaloQueueMade(Mat A, PetscInt products)
{
  Mat diagonal;

  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(A, &diagonal, NULL, NULL));
  PetscCall(MatShadowDeviceMade(diagonal, products, PETSC_FALSE));
  PetscCall(MatHaloShareMade(A, products));
  PetscFunctionReturn(PETSC_SUCCESS);
}
