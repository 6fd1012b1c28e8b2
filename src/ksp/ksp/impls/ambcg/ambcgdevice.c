/* SPDX-License-Identifier: BSD-2-Clause */
/*
   KSPAMBCG on a GPU, for one process. The device makes the tests of PETSc's cg; the host queues iterations ahead of their results and repeats the tests with the
   norms that the device reports, so that reasons, histories and messages are PETSc's. If monitors or a test of the program look on, the host waits in each iteration.
*/
#include <petscdevice_cuda.h>

#include "mat/shadow/shadow.h"
#include "ksp/ksp/impls/ambksp/ambksp.h"
#include "ksp/ksp/impls/fused/fusedcuda.h"

/* Iterations that are queued together, unless a test sets another number: about as many as take QUEUED seconds at RATE bytes a second. Short iterations hide the
   work of the host; of long ones few are queued, since up to two blocks of products are made in vain after the last iteration. */
#define LENGTH 16
#define QUEUED 200e-6
#define RATE   3.5e12

typedef struct {
  Mat       A;
  Vec       v[FUSED_VECTORS];
  FusedPass pass;
  FusedNorm norm;
  SysStream stream;
  PetscInt  length;  /* of a block */
  PetscInt  its;     /* iterations that the host knows of */
  PetscInt  resumed; /* the iteration after which the host let the device go on, against the test of the device; 0: none */
  PetscBool tried, recorded;
  PetscReal objective; /* of the start */
} Solve;

static PetscErrorCode KSPAMBCGDeviceCheck(SysStatus status)
{
  PetscFunctionBegin;
  PetscCheck(status == SYS_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_GPU, "Conjugate gradients on the GPU: %s", status == SYS_OUT_OF_MEMORY ? "out of memory" : SysDeviceErrorText());
  PetscFunctionReturn(PETSC_SUCCESS);
}
#define CALL(call) PetscCall(KSPAMBCGDeviceCheck(call))

/* Tells PETSc that the vectors of an iteration have new values on the GPU */
static PetscErrorCode KSPAMBCGDeviceWrites(Solve *s)
{
  PetscScalar *array;

  PetscFunctionBegin;
  for (int k = 0; k < FUSED_VECTORS; k++) {
    if (!s->v[k]) continue;
    PetscCall(VecCUDAGetArray(s->v[k], &array));
    s->pass.v[k] = array;
    PetscCall(VecCUDARestoreArray(s->v[k], &array));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* 13 passes over vectors, and a matrix of 12 bytes a nonzero */
static PetscErrorCode KSPAMBCGDeviceLength(KSPAMB *amb, PetscInt n, Solve *s)
{
  MatInfo        info;
  PetscLogDouble bytes = 13.0 * (PetscLogDouble)sizeof(PetscScalar) * (PetscLogDouble)n;

  PetscFunctionBegin;
  s->length = amb->length;
  if (!s->length) {
    PetscCall(MatGetInfo(s->A, MAT_LOCAL, &info));
    bytes += 12.0 * info.nz_used;
    s->length = (PetscInt)PetscMin((PetscReal)LENGTH, 1.0 + QUEUED * RATE / (1.0 + bytes));
  }
  s->length = PetscMin(s->length, FUSED_LENGTH);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPAMBCGDeviceSetUp(KSP ksp, KSPAMB *amb, Solve *s)
{
  static const FusedNorm norms[] = {FUSED_NORM_Z, FUSED_NORM_R, FUSED_NORM_NATURAL};
  const PetscScalar     *array;
  PetscBool              jacobi;
  PetscInt               n;

  PetscFunctionBegin;
  if (!amb->device) CALL(FusedDeviceCreate(&amb->device));
  amb->replayed = 0;
  PetscCall(PetscMemzero(s, sizeof(*s)));
  PetscCall(PCGetOperators(ksp->pc, &s->A, NULL));
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp->pc, PCJACOBI, &jacobi));
  s->stream = PetscDefaultCudaStream;
  s->norm   = ksp->normtype == KSP_NORM_NONE ? FUSED_NORM_NONE : norms[ksp->normtype - KSP_NORM_PRECONDITIONED];
  PetscCall(VecGetLocalSize(ksp->vec_sol, &n));
  PetscCall(KSPAMBCGDeviceLength(amb, n, s));
  s->pass.n    = n;
  s->pass.kind = jacobi ? FUSED_POINT : FUSED_NONE;
  s->pass.bs   = 1;
  if (jacobi) { /* multiplied by 1, no number is rounded */
    if (!amb->diagonal) PetscCall(VecDuplicate(ksp->vec_sol, &amb->diagonal));
    PetscCall(VecSet(ksp->work[0], 1.0));
    PetscCall(PCApply(ksp->pc, ksp->work[0], amb->diagonal));
    PetscCall(VecCUDAGetArrayRead(amb->diagonal, &array));
    s->pass.d = array;
    PetscCall(VecCUDARestoreArrayRead(amb->diagonal, &array));
  }
  s->v[FUSED_X] = ksp->vec_sol;
  s->v[FUSED_R] = ksp->work[0];
  s->v[FUSED_Z] = jacobi ? ksp->work[1] : ksp->work[0];
  s->v[FUSED_W] = ksp->work[1];
  s->v[FUSED_P] = ksp->work[2];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Queues an iteration with PETSc's product, which may convert the matrix */
static PetscErrorCode KSPAMBCGDeviceIteration(KSPAMB *amb, Solve *s)
{
  PetscFunctionBegin;
  CALL(FusedDeviceDirection(amb->device, &s->pass, s->stream));
  PetscCall(MatMult(s->A, s->v[FUSED_P], s->v[FUSED_W]));
  CALL(FusedDeviceDot(amb->device, &s->pass, s->stream));
  CALL(FusedDeviceStep(amb->device, &s->pass, s->norm, s->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same with the product of a format */
static SysStatus KSPAMBCGDeviceQueue(KSPAMB *amb, const Solve *s, MatShadowMultFunction *mult, void *data, const MatShadowCSR *csr, SysStream stream)
{
  SysStatus status = FusedDeviceDirection(amb->device, &s->pass, stream);

  if (status == SYS_SUCCESS) status = (*mult)(data, &csr->A, 1, s->pass.v[FUSED_P], 0, NULL, s->pass.v[FUSED_W], stream);
  if (status == SYS_SUCCESS) status = FusedDeviceDot(amb->device, &s->pass, stream);
  if (status == SYS_SUCCESS) status = FusedDeviceStep(amb->device, &s->pass, s->norm, stream);
  return status;
}

/* Records iterations once the product is settled. A product that cannot be recorded is not tried again in this solve. */
static PetscErrorCode KSPAMBCGDeviceRecord(KSP ksp, KSPAMB *amb, Solve *s, PetscInt length)
{
  MatShadowMultFunction *mult   = NULL;
  SysStatus              status = SYS_SUCCESS;
  MatShadowCSR           csr;
  SysStream              stream;
  void                  *data = NULL;
  int                    done;

  PetscFunctionBegin;
  if (s->tried) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMemzero(&csr, sizeof(csr)));
  PetscCall(MatShadowDeviceSettled(s->A, &csr, &mult, &data));
  if (!data) PetscFunctionReturn(PETSC_SUCCESS);
  s->tried = PETSC_TRUE;
  CALL(FusedDeviceRecordBegin(amb->device, &stream));
  for (PetscInt k = 0; k < length && status == SYS_SUCCESS; k++) status = KSPAMBCGDeviceQueue(amb, s, mult, data, &csr, stream);
  CALL(FusedDeviceRecordEnd(amb->device, &done));
  s->recorded = (PetscBool)(done && status == SYS_SUCCESS);
  PetscCall(PetscInfo(ksp, "%" PetscInt_FMT " iterations are %s\n", length, s->recorded ? "recorded, to be replayed" : "queued one by one: they could not be recorded"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The start: the norm and the first z.r, which the host needs for the limits */
static PetscErrorCode KSPAMBCGDeviceStart(KSP ksp, KSPAMB *amb, Solve *s)
{
  const FusedState *state;
  PetscReal         dp;

  PetscFunctionBegin;
  PetscCall(KSPAMBResidual(ksp, s->A, s->v[FUSED_R]));
  PetscCall(KSPAMBPoison(amb, s->v[FUSED_R]));
  PetscCall(KSPAMBCGObjective(ksp, amb, s->v[FUSED_R]));
  s->objective = amb->objective;
  PetscCall(KSPAMBCGDeviceWrites(s));
  CALL(FusedDeviceStart(amb->device, &s->pass, s->norm, s->stream));
  CALL(FusedDeviceSend(amb->device, 0, s->stream));
  CALL(FusedDeviceReceive(amb->device, 0, &state));
  dp       = state->norm;
  ksp->its = 0;
  KSPCheckNorm(ksp, dp);
  PetscCall(KSPAMBTest(ksp, 0, dp));
  if (ksp->reason) PetscFunctionReturn(PETSC_SUCCESS);
  KSPCheckDot(ksp, state->beta);
  if (state->beta == 0.0) {
    ksp->its = 1;
    PetscCall(KSPAMBCGZero(ksp));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Takes note of a report: shows all new norms, and ends the solve, or resumes it, if the device has stopped */
static PetscErrorCode KSPAMBCGDeviceTake(KSP ksp, KSPAMB *amb, Solve *s, const FusedState *state)
{
  PetscFunctionBegin;
  for (PetscInt k = s->its + 1; k <= state->its; k++) {
    PetscCall(KSPAMBTest(ksp, k, state->history[(k - 1) % FUSED_HISTORY]));
    if (ksp->reason) {
      PetscAssert(k == state->its, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The device made %d iterations, but %" PetscInt_FMT " suffice", state->its, k);
      break;
    }
  }
  s->its         = state->its;
  amb->objective = s->objective + state->objective;
  if (ksp->reason || state->stop == FUSED_GO) PetscFunctionReturn(PETSC_SUCCESS);
  if (state->stop == FUSED_STOP_TEST) {
    KSPCheckDot(ksp, state->beta);
    if (s->its >= ksp->max_it) ksp->reason = KSP_DIVERGED_ITS;
    else if (s->its != s->resumed) {
      /* not again for the report of a block that did nothing, since it was queued before the device went on */
      CALL(FusedDeviceResume(amb->device, &s->pass, s->stream));
      s->resumed = s->its;
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (state->stop == FUSED_STOP_BETA) KSPCheckDot(ksp, state->beta);
  ksp->its = s->its + 1;
  if (state->stop == FUSED_STOP_NORM) KSPCheckNorm(ksp, state->norm);
  if (state->stop == FUSED_STOP_DPI) KSPCheckDot(ksp, state->dpi);
  if (state->stop == FUSED_STOP_ZERO) PetscCall(KSPAMBCGZero(ksp));
  else if (state->stop == FUSED_STOP_PC) PetscCall(KSPAMBCGIndefinitePC(ksp, state->beta, state->betaold));
  else if (state->stop == FUSED_STOP_MAT) PetscCall(KSPAMBCGIndefiniteMat(ksp, state->dpi, state->dpiold));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPAMBCGSolveDevice(KSP ksp, KSPAMB *amb)
{
  const PetscBool   limits = (PetscBool)(ksp->converged == KSPConvergedDefault), watched = (PetscBool)(ksp->numbermonitors || (!limits && ksp->converged != KSPConvergedSkip));
  PetscBool         pending = PETSC_FALSE;
  const FusedState *state;
  PetscInt          length = 1; /* the first product may convert the matrix: it is not recorded */
  int               slot   = 0;
  Solve             s;

  PetscFunctionBegin;
  PetscCall(KSPAMBCGDeviceSetUp(ksp, amb, &s));
  PetscCall(KSPAMBCGDeviceStart(ksp, amb, &s));
  if (ksp->reason) PetscFunctionReturn(PETSC_SUCCESS);
  CALL(FusedDeviceLimits(amb->device, limits ? ksp->ttol : -1.0, limits ? ksp->divtol * ksp->rnorm0 : PETSC_INFINITY, (int)ksp->max_it, s.stream));
  do {
    PetscCall(KSPAMBCGDeviceWrites(&s));
    if (s.recorded) {
      CALL(FusedDeviceReplay(amb->device, s.stream));
      PetscCall(MatShadowDeviceMade(s.A, length));
      amb->replayed++;
    } else {
      for (PetscInt k = 0; k < length; k++) PetscCall(KSPAMBCGDeviceIteration(amb, &s));
    }
    CALL(FusedDeviceSend(amb->device, slot, s.stream));
    if (watched || pending) { /* of the block before this one, if nobody looks on */
      CALL(FusedDeviceReceive(amb->device, watched ? slot : 1 - slot, &state));
      PetscCall(KSPAMBCGDeviceTake(ksp, amb, &s, state));
    }
    pending = (PetscBool)!watched;
    slot    = 1 - slot;
    if (!watched) length = s.length;
    PetscCall(KSPAMBCGDeviceRecord(ksp, amb, &s, length));
  } while (!ksp->reason);
  PetscCall(KSPAMBCGDeviceWrites(&s));
  PetscCall(PetscLogGpuFlops(14.0 * (PetscLogDouble)s.pass.n * (PetscLogDouble)s.its));
  PetscFunctionReturn(PETSC_SUCCESS);
}
