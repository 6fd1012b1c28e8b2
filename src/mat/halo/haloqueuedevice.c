/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Products of MPI matrices for solvers that record their iterations. The record has the work of both streams: events lead from one to the other and back.
*/
#include "mat/halo/halo.h"

PetscErrorCode MatHaloQueueSetUp(Mat A, MatHaloQueue *q)
{
  PetscObjectId id;
  MatShadow    *s;
  MatHalo      *h;
  Mat           diagonal, rest;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(q, sizeof(*q)));
  if (!MatAIJIsCUSPARSE(A)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatShadowQuery(A, &s));
  if (!s || s->owner != A) PetscFunctionReturn(PETSC_SUCCESS);
  h = (MatHalo *)s->halo;
  if (!h || !h->chosen || (h->size && h->path != MAT_SHADOW_HALO_NCCL)) PetscFunctionReturn(PETSC_SUCCESS); /* of size 0 it exchanges nothing */
  PetscCall(MatMPIAIJGetSeqAIJ(A, &diagonal, &rest, NULL));
  PetscCall(PetscObjectGetId((PetscObject)rest, &id));
  if (h->block != id) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatShadowDeviceSettled(diagonal, PETSC_FALSE, &q->diagonal, &q->ops, &q->data));
  if (!q->ops) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatHaloBlockSetUp(&h->rest, rest));
  if (h->rest.whole) PetscFunctionReturn(PETSC_SUCCESS);
  if (h->rest.rows.n) PetscCall(MatAIJDeviceGetCSR(rest, &q->rest.A, &q->rest.stream));
  if (q->ops->multdot) PetscCall(MatHaloCheck((*q->ops->multdot)(q->data, &q->diagonal.A, NULL, NULL, NULL, &q->nparts, PetscDefaultCudaStream)));
  q->halo = h;
  PetscFunctionReturn(PETSC_SUCCESS);
}

int64_t MatHaloQueueParts(const MatHaloQueue *q)
{
  return q->nparts ? q->nparts + HaloAddSumCount(&q->halo->rest.rows) : 0;
}

PetscErrorCode MatHaloQueueMult(const MatHaloQueue *q, const PetscScalar *x, PetscScalar *y, PetscScalar *parts, cudaStream_t stream, SysStatus *status)
{
  MatHalo        *h    = q->halo;
  const HaloRows *rows = &h->rest.rows;
  const SysCSR   *rest = &q->rest.A;
  int64_t         nparts;

  PetscFunctionBegin;
  PetscCall(MatHaloExchangeBegin(h, PETSC_FALSE, x, stream));
  if (parts) *status = (*q->ops->multdot)(q->data, &q->diagonal.A, x, y, parts, &nparts, stream);
  else *status = (*q->ops->mult)(q->data, &q->diagonal.A, 1, x, 0, NULL, y, stream);
  PetscCall(MatHaloExchangeEnd(h, stream));
  if (*status != SYS_SUCCESS || !rows->n) PetscFunctionReturn(PETSC_SUCCESS);
  if (parts) *status = HaloAddDot(rows, rest->j, rest->a, h->from.buffer, y, x, parts + q->nparts, stream);
  else *status = HaloAdd(rows, rest->j, rest->a, h->from.buffer, y, stream);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatHaloQueueMade(Mat A, PetscInt products)
{
  MatShadow *s;
  MatHalo   *h;
  Mat        diagonal;

  PetscFunctionBegin;
  PetscCall(MatShadowGet(A, &s));
  h = (MatHalo *)s->halo;
  h->products += products;
  PetscCall(MatMPIAIJGetSeqAIJ(A, &diagonal, NULL, NULL));
  PetscCall(MatShadowDeviceMade(diagonal, products, PETSC_FALSE));
  if (h->rest.rows.n) PetscCall(PetscLogGpuFlops(2.0 * h->rest.i[diagonal->rmap->n] * products));
  PetscFunctionReturn(PETSC_SUCCESS);
}
