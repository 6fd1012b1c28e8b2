/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The estimate of eigenvalues of a level on the device: the numbers that PETSc's GMRES and CG would compute, without their vectors' kernels. CUDA loads those at
   their first call, which takes longer than the estimate.
*/
#include "ksp/pc/impls/gamg/glue/aggdevice.h"

/* The sums of all processes */
static PetscErrorCode AmbAggAddSums(const AmbAggLevel *level, AggEstimate *e, SysStatus *status)
{
  SysReal sum[AGG_STEPS];

  PetscFunctionBegin;
  if (level->size == 1 || *status) PetscFunctionReturn(PETSC_SUCCESS);
  *status = AggEstimateGetSums(e, sum, PetscDefaultCudaStream);
  if (*status) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sum, AGG_STEPS, MPIU_REAL, MPIU_SUM, level->comm));
  *status = AggEstimatePutSums(e, sum, PetscDefaultCudaStream);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A vector of the estimate as one of PETSc's */
static PetscErrorCode AmbAggPlaceVector(const AmbAggLevel *level, const AggEstimate *e, int k, Vec *x)
{
  const PetscScalar *array = e->v + k * e->stride;

  PetscFunctionBegin;
  if (level->size == 1) PetscCall(VecCreateSeqCUDAWithArray(PETSC_COMM_SELF, 1, (PetscInt)e->n, array, x));
  else PetscCall(VecCreateMPICUDAWithArray(level->comm, 1, (PetscInt)e->n, PETSC_DETERMINE, array, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Vector to = A vector from */
static PetscErrorCode AmbAggMultVector(const AmbAggLevel *level, const AggEstimate *e, int from, int to)
{
  Vec x, y;

  PetscFunctionBegin;
  PetscCall(AmbAggPlaceVector(level, e, from, &x));
  PetscCall(AmbAggPlaceVector(level, e, to, &y));
  PetscCall(MatMult(level->A, x, y));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All processes go on or none: an error of CUDA is one of the process */
static PetscErrorCode AmbAggEstimateCheck(SysStatus status)
{
  PetscFunctionBegin;
  PetscCheck(status == SYS_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_GPU, "The estimate of eigenvalues on the GPU: %s", SysDeviceErrorText());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- Arnoldi's method ------------------------------------------------- */

static PetscErrorCode AmbAggArnoldi(const AmbAggLevel *level, AggEstimate *e, PetscReal *emin, PetscReal *emax, PetscBool *done)
{
  const SysStream stream = PetscDefaultCudaStream;
  SysReal         h[AGG_NUMBERS], sum[AGG_STEPS];
  SysStatus       status;

  PetscFunctionBegin;
  status = AggArnoldiStart(e, stream);
  PetscCall(AmbAggAddSums(level, e, &status));
  for (int k = 0; k < AGG_STEPS; k++) {
    PetscCall(AmbAggEstimateCheck(status));
    PetscCall(AmbAggMultVector(level, e, k, k + 1));
    status = AggArnoldiDots(e, k, stream);
    PetscCall(AmbAggAddSums(level, e, &status));
    if (!status) status = AggArnoldiRemove(e, k, stream);
    PetscCall(AmbAggAddSums(level, e, &status));
  }
  if (!status) status = AggEstimateGetNumbers(e, h, stream);
  if (!status) status = AggEstimateGetSums(e, sum, stream);
  PetscCall(AmbAggEstimateCheck(status));
  h[AGG_H(AGG_STEPS, AGG_STEPS - 1)] = PetscSqrtReal(sum[0]);
  *done                              = AmbAggArnoldiValues(h, emin, emax);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- conjugate gradients ------------------------------------------------- */

/* The extreme eigenvalues of the tridiagonal matrix of conjugate gradients, which is definite. *done is PETSC_FALSE if they broke down. */
static void AmbAggRitzValues(const SysReal h[], PetscReal *emin, PetscReal *emax, PetscBool *done)
{
  SysReal t[AGG_NUMBERS] = {0};

  *done = PETSC_TRUE;
  for (int k = 0; k < 2 * AGG_STEPS && *done; k++) *done = (PetscBool)(h[k] > 0 && !PetscIsInfOrNanReal(h[k]));
  if (!*done) return;
  for (int k = 0; k < AGG_STEPS; k++) {
    t[AGG_H(k, k)] = h[2 * k + 1] / h[2 * k]; /* 1 / a of the step */
    if (k) {
      const SysReal b = h[2 * k] / h[2 * k - 2], before = h[2 * k - 1] / h[2 * k - 2];

      t[AGG_H(k, k)] += b * before;
      t[AGG_H(k, k - 1)] = t[AGG_H(k - 1, k)] = PetscSqrtReal(b) * before;
    }
  }
  AmbAggSingularValues(AGG_STEPS, AGG_STEPS, t, emin, emax);
}

static PetscErrorCode AmbAggCG(const AmbAggLevel *level, AggEstimate *e, PetscReal *emin, PetscReal *emax, PetscBool *done)
{
  const SysStream stream = PetscDefaultCudaStream;
  SysReal         h[AGG_NUMBERS];
  SysStatus       status;

  PetscFunctionBegin;
  status = AggCGStart(e, stream);
  for (int k = 0; k < AGG_STEPS; k++) {
    PetscCall(AmbAggAddSums(level, e, &status));
    if (!status) status = AggCGDirection(e, k, stream);
    PetscCall(AmbAggEstimateCheck(status));
    PetscCall(AmbAggMultVector(level, e, 1, 2));
    status = AggCGDot(e, stream);
    PetscCall(AmbAggAddSums(level, e, &status));
    if (!status) status = AggCGStep(e, k, stream);
  }
  if (!status) status = AggEstimateGetNumbers(e, h, stream);
  PetscCall(AmbAggEstimateCheck(status));
  AmbAggRitzValues(h, emin, emax, done);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AmbAggDeviceEstimate(const AmbAggLevel *level, PetscBool spd, PetscReal *emin, PetscReal *emax, PetscBool *done)
{
  AggMatrix   M;
  AggEstimate e = {0};
  SysStatus   status;

  PetscFunctionBegin;
  PetscCall(AmbAggDeviceGetMatrix(level, &M, done));
  PetscCall(AmbAggDeviceAgree(level, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  status = AggEstimateCreate(&M.d, spd ? 3 : AGG_STEPS + 1, PetscDefaultCudaStream, &e);
  if (!status) status = AggDeviceNoise(e.n, level->A->rmap->rstart, e.v, PetscDefaultCudaStream);
  PetscCall(AmbAggDeviceCheck(level, status, "estimate of eigenvalues", done));
  if (*done && spd) PetscCall(AmbAggCG(level, &e, emin, emax, done));
  else if (*done) PetscCall(AmbAggArnoldi(level, &e, emin, emax, done));
  AggEstimateDestroy(&e);
  PetscFunctionReturn(PETSC_SUCCESS);
}
