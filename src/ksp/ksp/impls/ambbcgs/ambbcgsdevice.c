/* SPDX-License-Identifier: BSD-2-Clause */
/*
   KSPAMBBCGS on GPUs
*/
#include <petscdevice_cuda.h>

#include "ksp/ksp/impls/ambbcgs/ambbcgs.h"
#include "ksp/ksp/impls/ambksp/ambkspqueue.h"

static SysStatus KSPAMBBCGSQueueIteration(KSPAMB *amb, const KSPAMBQueue *q, KSPAMBProduct *product, SysStream stream)
{
  SysStatus status = FusedDeviceBiDirection(amb->device, &q->pass, stream);

  if (status == SYS_SUCCESS) status = KSPAMBQueueMultiply(q, product, q->v[FUSED_Z] ? FUSED_Z : FUSED_P, FUSED_V, stream);
  if (status == SYS_SUCCESS) status = FusedDeviceBiShadow(amb->device, &q->pass, stream);
  if (status == SYS_SUCCESS) status = KSPAMBQueueFinish(amb, q, product, FusedDeviceFinishBiShadow, stream);
  if (status == SYS_SUCCESS) status = FusedDeviceBiHalf(amb->device, &q->pass, stream);
  if (status == SYS_SUCCESS) status = KSPAMBQueueMultiply(q, product, q->v[FUSED_Z] ? FUSED_Z : FUSED_R, FUSED_T, stream);
  if (status == SYS_SUCCESS) status = FusedDeviceBiDots(amb->device, &q->pass, stream);
  if (status == SYS_SUCCESS) status = KSPAMBQueueFinish(amb, q, product, FusedDeviceFinishBiDots, stream);
  if (status == SYS_SUCCESS) status = FusedDeviceBiStep(amb->device, &q->pass, q->norm, stream);
  if (status == SYS_SUCCESS) status = KSPAMBQueueFinishNorm(amb, q, product, FusedDeviceFinishBiStep, stream);
  return status;
}

static SysStatus KSPAMBBCGSQueueResume(KSPAMB *amb, const KSPAMBQueue *q, KSPAMBProduct *product, SysStream stream)
{
  SysStatus status = FusedDeviceBiResumeBegin(amb->device, &q->pass, stream);

  if (status == SYS_SUCCESS) status = KSPAMBQueueMultiply(q, product, q->v[FUSED_Z] ? FUSED_Z : FUSED_P, FUSED_V, stream);
  if (status == SYS_SUCCESS) status = FusedDeviceBiResumeEnd(amb->device, &q->pass, stream);
  return status;
}

static PetscErrorCode KSPAMBBCGSQueueEnd(KSP ksp, KSPAMB *amb, KSPAMBQueue *q, const FusedState *state)
{
  PetscFunctionBegin;
  if (state->stop == FUSED_STOP_NORM) KSPCheckNorm(ksp, state->norm);
  if (state->stop == FUSED_STOP_DPI) KSPCheckDot(ksp, state->dpi);
  if (state->stop == FUSED_STOP_MAT) PetscCall(KSPAMBBCGSFail(ksp, "KSPSolve breakdown due to zero inner product", "Breakdown due to zero inner product"));
  else if (state->stop == FUSED_STOP_ZERO) PetscCall(KSPAMBBCGSFail(ksp, "KSPSolve breakdown due to zero inner product", "Breakdown due to zero rho inner product"));
  else if (state->stop == FUSED_STOP_LAST) {
    PetscCall(KSPAMBQueueWrites(q));
    PetscCall(KSPAMBBCGSLast(ksp, q->its, state->rr, state->a, q->v[FUSED_P], ksp->normtype == KSP_NORM_NONE ? 0.0 : state->norm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPAMBBCGSSolveDevice(KSP ksp, KSPAMB *amb)
{
  const FusedState *state;
  KSPAMBQueue       q;

  PetscFunctionBegin;
  PetscCall(KSPAMBQueueSetUp(ksp, amb, &q));
  q.v[FUSED_X] = ksp->vec_sol;
  q.v[FUSED_R] = ksp->work[0];
  q.v[FUSED_Q] = ksp->work[1];
  q.v[FUSED_V] = ksp->work[2];
  q.v[FUSED_T] = ksp->work[3];
  q.v[FUSED_Z] = (amb->kind == FUSED_POINT || amb->kind == FUSED_BLOCKS) && ksp->pc_side == PC_RIGHT ? ksp->work[4] : NULL;
  q.v[FUSED_P] = ksp->work[5];
  q.norm       = ksp->normtype == KSP_NORM_NONE ? FUSED_NORM_NONE : FUSED_NORM_R;
  q.vectors    = 22;
  q.flops      = 26;
  q.products   = 2;
  q.iteration  = KSPAMBBCGSQueueIteration;
  q.resume     = KSPAMBBCGSQueueResume;
  q.end        = KSPAMBBCGSQueueEnd;
  PetscCall(KSPAMBBCGSStart(ksp, amb, q.v));
  PetscCall(VecCopy(q.v[FUSED_R], q.v[FUSED_Q]));
  PetscCall(KSPAMBQueueStart(ksp, amb, &q, FUSED_NONE, &state));
  if (ksp->reason) {
    if (amb->guess) PetscCall(VecAXPY(q.v[FUSED_X], 1.0, amb->guess));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(KSPAMBQueueRun(ksp, amb, &q));
  PetscCall(KSPAMBBCGSFinish(ksp, amb, q.v));
  PetscFunctionReturn(PETSC_SUCCESS);
}
