/* SPDX-License-Identifier: BSD-2-Clause */
/*
   KSPAMBCG on GPUs
*/
#include <petscdevice_cuda.h>

#include "ksp/ksp/impls/ambksp/ambkspqueue.h"

static SysStatus KSPAMBCGQueueIteration(KSPAMB *amb, const KSPAMBQueue *q, KSPAMBProduct *product, SysStream stream)
{
  SysStatus status = FusedDeviceDirection(amb->device, &q->pass, q->norm, stream);

  if (status == SYS_SUCCESS) status = KSPAMBQueueMultiplyDot(amb, q, product, FUSED_P, FUSED_W, stream);
  if (status == SYS_SUCCESS) status = FusedDeviceStep(amb->device, &q->pass, q->norm, stream);
  if (status == SYS_SUCCESS) status = KSPAMBQueueGather(q, product, stream);
  return status;
}

/* One exchange gathers the sums of the pass and of the product */
static SysStatus KSPAMBCGQueueIterationSingle(KSPAMB *amb, const KSPAMBQueue *q, KSPAMBProduct *product, SysStream stream)
{
  SysStatus status = FusedDeviceSingle(amb->device, &q->pass, q->norm, stream);

  if (status == SYS_SUCCESS) status = KSPAMBQueueMultiplyDot(amb, q, product, FUSED_Z, FUSED_S, stream);
  return status;
}

/* Before the first iteration of that form */
static SysStatus KSPAMBCGQueueFirst(KSPAMB *amb, const KSPAMBQueue *q, KSPAMBProduct *product, SysStream stream)
{
  return KSPAMBQueueMultiplyDot(amb, q, product, FUSED_Z, FUSED_S, stream);
}

static SysStatus KSPAMBCGQueueClose(KSPAMB *amb, const KSPAMBQueue *q, KSPAMBProduct *product, SysStream stream)
{
  return FusedDeviceClose(amb->device, q->norm, stream);
}

static SysStatus KSPAMBCGQueueResume(KSPAMB *amb, const KSPAMBQueue *q, KSPAMBProduct *product, SysStream stream)
{
  return FusedDeviceResume(amb->device, &q->pass, stream);
}

static PetscErrorCode KSPAMBCGQueueEnd(KSP ksp, KSPAMB *amb, KSPAMBQueue *q, const FusedState *state)
{
  PetscFunctionBegin;
  if (state->stop == FUSED_STOP_BETA) KSPCheckDot(ksp, state->beta);
  ksp->its = q->its + 1;
  if (state->stop == FUSED_STOP_NORM) KSPCheckNorm(ksp, state->norm);
  if (state->stop == FUSED_STOP_DPI) KSPCheckDot(ksp, state->dpi);
  if (state->stop == FUSED_STOP_ZERO) PetscCall(KSPAMBCGZero(ksp));
  else if (state->stop == FUSED_STOP_PC) PetscCall(KSPAMBCGIndefinitePC(ksp, state->beta, state->betaold));
  else if (state->stop == FUSED_STOP_MAT) PetscCall(KSPAMBCGIndefiniteMat(ksp, state->dpi, state->dpiold));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPAMBCGSolveDevice(KSP ksp, KSPAMB *amb)
{
  static const FusedNorm norms[] = {FUSED_NORM_Z, FUSED_NORM_R, FUSED_NORM_NATURAL};
  const FusedState      *state;
  KSPAMBQueue            q;

  PetscFunctionBegin;
  PetscCall(KSPAMBQueueSetUp(ksp, amb, &q));
  q.v[FUSED_X] = ksp->vec_sol;
  q.v[FUSED_R] = ksp->work[0];
  q.v[FUSED_Z] = amb->kind == FUSED_NONE ? ksp->work[0] : ksp->work[1];
  q.v[FUSED_W] = amb->single ? ksp->work[4] : ksp->work[1];
  q.v[FUSED_P] = ksp->work[2];
  q.v[FUSED_S] = amb->single ? ksp->work[3] : NULL;
  q.norm       = ksp->normtype == KSP_NORM_NONE ? FUSED_NORM_NONE : norms[ksp->normtype - KSP_NORM_PRECONDITIONED];
  q.vectors    = amb->single ? 13 : 11;
  q.flops      = amb->single ? 18 : 14;
  q.products   = 1;
  q.iteration  = amb->single ? KSPAMBCGQueueIterationSingle : KSPAMBCGQueueIteration;
  q.close      = KSPAMBCGQueueClose;
  q.resume     = KSPAMBCGQueueResume;
  q.end        = KSPAMBCGQueueEnd;
  PetscCall(KSPAMBResidual(ksp, q.A, q.v[FUSED_R]));
  PetscCall(KSPAMBPoison(amb, q.v[FUSED_R]));
  PetscCall(KSPAMBCGObjective(ksp, amb, q.v[FUSED_R]));
  q.objective = amb->objective;
  PetscCall(KSPAMBQueueStart(ksp, amb, &q, amb->kind, &state));
  if (ksp->reason) PetscFunctionReturn(PETSC_SUCCESS);
  KSPCheckDot(ksp, state->beta);
  if (state->beta == 0.0) {
    ksp->its = 1;
    PetscCall(KSPAMBCGZero(ksp));
  } else {
    if (amb->single) PetscCall(KSPAMBQueueByPETSc(amb, &q, KSPAMBCGQueueFirst));
    PetscCall(KSPAMBQueueRun(ksp, amb, &q));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
