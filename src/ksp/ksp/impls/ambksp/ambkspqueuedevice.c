/* SPDX-License-Identifier: BSD-2-Clause */
#include <petscdevice_cuda.h>

#include "ksp/ksp/impls/ambksp/ambkspqueue.h"

/* Iterations that are queued together, unless a test sets another number: about as many as take QUEUED seconds at RATE bytes a second. Short iterations hide the
   work of the host; of long ones few are queued, since up to two blocks of products run in vain after the last iteration. */
#define LENGTH 16
#define QUEUED 200e-6
#define RATE   3.5e12

PetscErrorCode KSPAMBQueueCheck(SysStatus status)
{
  PetscFunctionBegin;
  PetscCheck(status == SYS_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_GPU, "Iterations on the GPU: %s", status == SYS_OUT_OF_MEMORY ? "out of memory" : SysDeviceErrorText());
  PetscFunctionReturn(PETSC_SUCCESS);
}
#define CALL(call) PetscCall(KSPAMBQueueCheck(call))

PetscErrorCode KSPAMBQueueWrites(KSPAMBQueue *q)
{
  PetscScalar *array;

  PetscFunctionBegin;
  for (int k = 0; k < FUSED_VECTORS; k++) {
    if (!q->v[k]) continue;
    PetscCall(VecCUDAGetArray(q->v[k], &array));
    q->pass.v[k] = array;
    PetscCall(VecCUDARestoreArray(q->v[k], &array));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPAMBQueueSetUp(KSP ksp, KSPAMB *amb, KSPAMBQueue *q)
{
  PetscInt n;

  PetscFunctionBegin;
  if (!amb->device) CALL(FusedDeviceCreate(&amb->device));
  amb->replayed = 0;
  PetscCall(PetscMemzero(q, sizeof(*q)));
  PetscCall(PCGetOperators(ksp->pc, &q->A, NULL));
  q->stream = PetscDefaultCudaStream;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)ksp), &q->nproc));
  if (q->nproc > 1) PetscCall(MatHaloCommGet(PetscObjectComm((PetscObject)ksp), &q->about));
  CALL(FusedDeviceShare(amb->device, q->nproc, &q->mine, &q->all));
  PetscCall(VecGetLocalSize(ksp->vec_sol, &n));
  q->pass.n    = n;
  q->pass.kind = amb->kind;
  q->pass.bs   = (int)amb->bs;
  PetscCall(KSPAMBDeviceGetPC(ksp, amb, n, &q->pass.d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix of 12 bytes a nonzero; a shell of unknown ones has none */
PetscErrorCode KSPAMBQueueLength(KSPAMB *amb, KSPAMBQueue *q)
{
  MatInfo        info = {0};
  PetscBool      has;
  PetscLogDouble bytes = q->vectors * (PetscLogDouble)sizeof(PetscScalar) * (PetscLogDouble)q->pass.n;

  PetscFunctionBegin;
  q->length = amb->length;
  if (!q->length) {
    PetscCall(MatHasOperation(q->A, MATOP_GETINFO, &has));
    if (has) PetscCall(MatGetInfo(q->A, MAT_LOCAL, &info));
    bytes += 12.0 * info.nz_used * (PetscLogDouble)q->products;
    if (q->nproc > 1) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_DOUBLE, MPI_MAX, PetscObjectComm((PetscObject)q->A))); /* all processes queue as many */
    q->length = (PetscInt)PetscMin((PetscReal)LENGTH, 1.0 + QUEUED * RATE / (1.0 + bytes));
  }
  q->length = PetscMin(q->length, FUSED_LENGTH);
  PetscFunctionReturn(PETSC_SUCCESS);
}

SysStatus KSPAMBQueueMultiply(const KSPAMBQueue *q, KSPAMBProduct *product, FusedVector from, FusedVector to, SysStream stream)
{
  SysStatus status = SYS_SUCCESS;

  if (product->ops) return (*product->ops->mult)(product->data, &product->csr.A, 1, q->pass.v[from], 0, NULL, q->pass.v[to], stream);
  if (product->halo.share.halo) product->error = MatHaloQueueMult(&product->halo, q->pass.v[from], q->pass.v[to], NULL, (cudaStream_t)stream, &status);
  else product->error = MatMult(q->A, q->v[from], q->v[to]);
  return product->error ? SYS_ERROR : status;
}

SysStatus KSPAMBQueueGather(const KSPAMBQueue *q, KSPAMBProduct *product, SysStream stream)
{
  if (q->nproc == 1) return SYS_SUCCESS;
  product->error = MatHaloGather(q->about, FUSED_DEVICE_SUMS, q->mine, q->all, stream);
  return product->error ? SYS_ERROR : SYS_SUCCESS;
}

SysStatus KSPAMBQueueMultiplyDot(KSPAMB *amb, const KSPAMBQueue *q, KSPAMBProduct *product, FusedVector from, FusedVector to, SysStream stream)
{
  SysReal  *parts;
  SysStatus status;

  if (product->nparts) {
    status = FusedDeviceRoom(amb->device, product->nparts, &parts);
    if (status == SYS_SUCCESS && product->ops) status = (*product->ops->multdot)(product->data, &product->csr.A, q->pass.v[from], q->pass.v[to], parts, &product->nparts, stream);
    else if (status == SYS_SUCCESS) product->error = MatHaloQueueMult(&product->halo, q->pass.v[from], q->pass.v[to], parts, (cudaStream_t)stream, &status);
    if (product->error) status = SYS_ERROR;
    if (status == SYS_SUCCESS) status = FusedDeviceDotMade(amb->device, product->nparts, stream);
  } else {
    status = KSPAMBQueueMultiply(q, product, from, to, stream);
    if (status == SYS_SUCCESS) status = FusedDeviceDot(amb->device, &q->pass, from, to, stream);
  }
  if (status == SYS_SUCCESS) status = KSPAMBQueueGather(q, product, stream);
  return status;
}

SysStatus KSPAMBQueueFinish(KSPAMB *amb, const KSPAMBQueue *q, KSPAMBProduct *product, SysStatus (*finish)(FusedDevice *, SysStream), SysStream stream)
{
  SysStatus status;

  status = KSPAMBQueueGather(q, product, stream);
  if (q->nproc > 1 && status == SYS_SUCCESS) status = (*finish)(amb->device, stream);
  return status;
}

SysStatus KSPAMBQueueFinishNorm(KSPAMB *amb, const KSPAMBQueue *q, KSPAMBProduct *product, SysStatus (*finish)(FusedDevice *, FusedNorm, SysStream), SysStream stream)
{
  SysStatus status;

  status = KSPAMBQueueGather(q, product, stream);
  if (q->nproc > 1 && status == SYS_SUCCESS) status = (*finish)(amb->device, q->norm, stream);
  return status;
}

PetscErrorCode KSPAMBQueueByPETSc(KSPAMB *amb, KSPAMBQueue *q, SysStatus (*what)(KSPAMB *, const KSPAMBQueue *, KSPAMBProduct *, SysStream))
{
  KSPAMBProduct product;
  SysStatus     status;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(&product, sizeof(product)));
  status = (*what)(amb, q, &product, q->stream);
  PetscCall(product.error);
  CALL(status);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets whether iterations can be recorded. All processes record them, or none: NCCL sets up records together. */
static PetscErrorCode KSPAMBQueueCanRecord(const KSPAMBQueue *q, KSPAMBProduct *product, PetscBool *recordable)
{
  int all;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(product, sizeof(*product)));
  if (q->nproc == 1) PetscCall(MatShadowDeviceSettled(q->A, PETSC_FALSE, &product->csr, &product->ops, &product->data));
  else PetscCall(MatHaloQueueSetUp(q->A, &product->halo));
  all = product->ops || product->halo.share.halo;
  if (q->nproc > 1) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, q->about->comm));
  *recordable = (PetscBool)all;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Records iterations once the choice of the product's format is final. A product that cannot be recorded is not tried again in this solve. */
PetscErrorCode KSPAMBQueueRecord(KSP ksp, KSPAMB *amb, KSPAMBQueue *q, PetscInt length)
{
  SysStatus     status = SYS_SUCCESS;
  KSPAMBProduct product;
  SysStream     stream;
  SysReal      *parts;
  PetscBool     recordable = PETSC_FALSE;
  int           done;

  PetscFunctionBegin;
  if (q->tried) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPAMBQueueCanRecord(q, &product, &recordable));
  if (!recordable) PetscFunctionReturn(PETSC_SUCCESS);
  q->tried = PETSC_TRUE;
  if (q->nproc > 1) product.nparts = MatHaloQueueParts(&product.halo);
  else if (product.ops->multdot) CALL((*product.ops->multdot)(product.data, &product.csr.A, NULL, NULL, NULL, &product.nparts, q->stream));
  CALL(FusedDeviceRoom(amb->device, product.nparts, &parts)); /* memory is not allocated while iterations are recorded */
  CALL(FusedDeviceRecordBegin(amb->device, &stream));
  for (PetscInt k = 0; k < length && status == SYS_SUCCESS; k++) status = (*q->iteration)(amb, q, &product, stream);
  if (q->close && status == SYS_SUCCESS) status = (*q->close)(amb, q, &product, stream);
  CALL(FusedDeviceRecordEnd(amb->device, &done));
  PetscCall(product.error); /* others wait for what this process did not send */
  done = done && status == SYS_SUCCESS;
  if (q->nproc > 1) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &done, 1, MPI_INT, MPI_MIN, q->about->comm));
  q->recorded = (PetscBool)done;
  PetscCall(PetscInfo(ksp, "%" PetscInt_FMT " iterations are %s\n", length, q->recorded ? "recorded, to be replayed" : "queued one by one: they could not be recorded"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPAMBQueueStart(KSP ksp, KSPAMB *amb, KSPAMBQueue *q, FusedKind kind, const FusedState **state)
{
  KSPAMBProduct product;
  FusedPass     pass;
  PetscReal     dp;
  SysStatus     status;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(&product, sizeof(product)));
  PetscCall(KSPAMBQueueWrites(q));
  pass      = q->pass;
  pass.kind = kind;
  CALL(FusedDeviceStart(amb->device, &pass, q->norm, q->stream));
  status = KSPAMBQueueFinishNorm(amb, q, &product, FusedDeviceFinishStart, q->stream);
  PetscCall(product.error);
  CALL(status);
  CALL(FusedDeviceSend(amb->device, 0, q->stream));
  CALL(FusedDeviceReceive(amb->device, 0, state));
  dp       = (*state)->norm;
  ksp->its = 0;
  KSPCheckNorm(ksp, dp);
  PetscCall(KSPAMBTest(ksp, 0, dp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Takes note of a report: shows all new norms, and ends the solve, or resumes it, if the device has stopped */
static PetscErrorCode KSPAMBQueueUpdate(KSP ksp, KSPAMB *amb, KSPAMBQueue *q, const FusedState *state)
{
  PetscFunctionBegin;
  for (PetscInt k = q->its + 1; k <= state->its; k++) {
    PetscCall(KSPAMBTest(ksp, k, state->history[(k - 1) % FUSED_HISTORY]));
    if (ksp->reason) {
      PetscAssert(k == state->its, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The device made %d iterations, but %" PetscInt_FMT " suffice", state->its, k);
      break;
    }
  }
  q->its         = state->its;
  amb->objective = q->objective + state->objective;
  if (ksp->reason || state->stop == FUSED_GO) PetscFunctionReturn(PETSC_SUCCESS);
  if (state->stop == FUSED_STOP_TEST) {
    KSPCheckDot(ksp, state->beta);
    if (q->its >= ksp->max_it) ksp->reason = KSP_DIVERGED_ITS;
    else if (q->its != q->resumed) {
      /* not again for the report of a block that did nothing, since it was queued before the device went on */
      PetscCall(KSPAMBQueueByPETSc(amb, q, q->resume));
      q->resumed = q->its;
    }
  } else PetscCall((*q->end)(ksp, amb, q, state));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPAMBQueueBlock(KSPAMB *amb, KSPAMBQueue *q, PetscInt length)
{
  PetscFunctionBegin;
  PetscCall(KSPAMBQueueWrites(q));
  if (q->recorded) {
    CALL(FusedDeviceReplay(amb->device, q->stream));
    if (q->nproc > 1) PetscCall(MatHaloQueueMade(q->A, length * q->products));
    else PetscCall(MatShadowDeviceMade(q->A, length * q->products, PETSC_FALSE));
    amb->replayed++;
  } else {
    for (PetscInt k = 0; k < length; k++) PetscCall(KSPAMBQueueByPETSc(amb, q, q->iteration));
    if (q->close) PetscCall(KSPAMBQueueByPETSc(amb, q, q->close));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPAMBQueueRun(KSP ksp, KSPAMB *amb, KSPAMBQueue *q)
{
  const PetscBool   limits = (PetscBool)(ksp->converged == KSPConvergedDefault), watched = (PetscBool)(ksp->numbermonitors || (!limits && ksp->converged != KSPConvergedSkip));
  PetscBool         pending = PETSC_FALSE;
  const FusedState *state;
  PetscInt          length = 1; /* the first product may convert the matrix: it is not recorded */
  int               slot   = 0;

  PetscFunctionBegin;
  PetscCall(KSPAMBQueueLength(amb, q));
  CALL(FusedDeviceLimits(amb->device, limits ? ksp->ttol : -1.0, limits ? ksp->divtol * ksp->rnorm0 : PETSC_INFINITY, (int)ksp->max_it, q->stream));
  do {
    PetscCall(KSPAMBQueueBlock(amb, q, length));
    CALL(FusedDeviceSend(amb->device, slot, q->stream));
    if (watched || pending) { /* of the block before this one, if nothing is attached */
      CALL(FusedDeviceReceive(amb->device, watched ? slot : 1 - slot, &state));
      PetscCall(KSPAMBQueueUpdate(ksp, amb, q, state));
    }
    pending = (PetscBool)!watched;
    slot    = 1 - slot;
    if (!watched) length = q->length;
    PetscCall(KSPAMBQueueRecord(ksp, amb, q, length));
  } while (!ksp->reason);
  PetscCall(KSPAMBQueueWrites(q));
  PetscCall(PetscLogGpuFlops(q->flops * (PetscLogDouble)q->pass.n * (PetscLogDouble)q->its));
  PetscFunctionReturn(PETSC_SUCCESS);
}
