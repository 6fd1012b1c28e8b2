/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The estimate of the extreme eigenvalues of D^-1 A on the device, with AGG_STEPS steps of Arnoldi's method or of conjugate gradients: the numbers that PETSc's GMRES
   and CG would compute. It does not call PETSc's vector kernels, since CUDA loads a kernel at its first call, which takes longer than the estimate.
*/
#include "mat/halo/halo.h"
#include "ksp/pc/impls/gamg/glue/aggdevice.h"

typedef struct {
  const AmbAggLevel *level;
  AggEstimate        e;
  MatHaloComm       *gpus; /* the GPUs exchange sums without the host; NULL: the host adds them up, or there is one process */
  Vec                x, y; /* operand and result of a product, without arrays of their own */
} AmbAggEstimateContext;

/* Adds up the sums of all processes, in the order of the processes, unless *status is an error */
static PetscErrorCode AmbAggAddSums(AmbAggEstimateContext *p, SysStatus *status)
{
  SysReal sum[AGG_STEPS];

  PetscFunctionBegin;
  if (p->level->size == 1 || *status) PetscFunctionReturn(PETSC_SUCCESS);
  if (p->gpus) {
    PetscCall(MatHaloGather(p->gpus, AGG_STEPS, p->e.sum, p->e.all, PetscDefaultCudaStream));
    *status = AggEstimateAddAll(&p->e, p->level->size, PetscDefaultCudaStream);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  *status = AggEstimateGetSums(&p->e, sum, PetscDefaultCudaStream);
  if (*status) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sum, AGG_STEPS, MPIU_REAL, MPIU_SUM, p->level->comm));
  *status = AggEstimatePutSums(&p->e, sum, PetscDefaultCudaStream);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates a vector for all products, each of which places another array in it: to create a vector of several processes takes reductions */
static PetscErrorCode AmbAggVectorCreate(const AmbAggEstimateContext *p, Vec *x)
{
  const PetscInt n = (PetscInt)p->e.n;

  PetscFunctionBegin;
  if (p->level->size == 1) PetscCall(VecCreateSeqCUDAWithArray(PETSC_COMM_SELF, 1, n, p->e.v, x));
  else PetscCall(VecCreateMPICUDAWithArray(p->level->comm, 1, n, p->level->A->rmap->N, p->e.v, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Vector `to` = A vector `from` */
static PetscErrorCode AmbAggMultVector(const AmbAggEstimateContext *p, int from, int to)
{
  PetscFunctionBegin;
  PetscCall(VecCUDAPlaceArray(p->x, p->e.v + from * p->e.stride));
  PetscCall(VecCUDAPlaceArray(p->y, p->e.v + to * p->e.stride));
  PetscCall(MatMult(p->level->A, p->x, p->y));
  PetscCall(VecCUDAResetArray(p->x));
  PetscCall(VecCUDAResetArray(p->y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Raises an error of CUDA on its process alone; only a lack of memory, which AmbAggDeviceCheck() handles, needs an agreement */
static PetscErrorCode AmbAggEstimateCheck(SysStatus status)
{
  PetscFunctionBegin;
  PetscCheck(status == SYS_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_GPU, "The estimate of eigenvalues on the GPU: %s", SysDeviceErrorText());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- Arnoldi's method ------------------------------------------------- */

static PetscErrorCode AmbAggArnoldi(AmbAggEstimateContext *p, SysReal h[])
{
  const SysStream stream = PetscDefaultCudaStream;
  AggEstimate    *e      = &p->e;
  SysReal         sum[AGG_STEPS];
  SysStatus       status;

  PetscFunctionBegin;
  status = AggArnoldiStart(e, stream);
  PetscCall(AmbAggAddSums(p, &status));
  for (int k = 0; k < AGG_STEPS; k++) {
    PetscCall(AmbAggEstimateCheck(status));
    PetscCall(AmbAggMultVector(p, k, k + 1));
    status = AggArnoldiDots(e, k, stream);
    PetscCall(AmbAggAddSums(p, &status));
    if (!status) status = AggArnoldiRemove(e, k, stream);
    PetscCall(AmbAggAddSums(p, &status));
  }
  PetscCall(AmbAggDevicePrepare(p->level));
  if (!status) status = AggEstimateGetNumbers(e, h, stream);
  if (!status) status = AggEstimateGetSums(e, sum, stream);
  PetscCall(AmbAggEstimateCheck(status));
  h[AGG_H(AGG_STEPS, AGG_STEPS - 1)] = PetscSqrtReal(sum[0]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- conjugate gradients ------------------------------------------------- */

/* The tridiagonal matrix of conjugate gradients, an array of AGG_H(), replaces the numbers r.z and p.w of step k at 2 k and 2 k + 1 of t[]. *done becomes PETSC_FALSE if one of these is
   not positive, as after a breakdown. */
static void AmbAggTridiagonal(SysReal t[], PetscBool *done)
{
  SysReal h[2 * AGG_STEPS];

  *done = PETSC_TRUE;
  for (int k = 0; k < 2 * AGG_STEPS && *done; k++) *done = (PetscBool)(t[k] > 0 && !PetscIsInfOrNanReal(t[k]));
  if (!*done) return;
  for (int k = 0; k < 2 * AGG_STEPS; k++) h[k] = t[k];
  for (int k = 0; k < AGG_NUMBERS; k++) t[k] = 0;
  for (int k = 0; k < AGG_STEPS; k++) {
    t[AGG_H(k, k)] = h[2 * k + 1] / h[2 * k]; /* 1 / alpha, with the step length alpha = r.z / p.w */
    if (k) {
      const SysReal b = h[2 * k] / h[2 * k - 2], before = h[2 * k - 1] / h[2 * k - 2];

      t[AGG_H(k, k)] += b * before;
      t[AGG_H(k, k - 1)] = t[AGG_H(k - 1, k)] = PetscSqrtReal(b) * before;
    }
  }
}

static PetscErrorCode AmbAggCG(AmbAggEstimateContext *p, SysReal h[])
{
  const SysStream stream = PetscDefaultCudaStream;
  AggEstimate    *e      = &p->e;
  SysStatus       status;

  PetscFunctionBegin;
  status = AggCGStart(e, stream);
  for (int k = 0; k < AGG_STEPS; k++) {
    PetscCall(AmbAggAddSums(p, &status));
    if (!status) status = AggCGDirection(e, k, stream);
    PetscCall(AmbAggEstimateCheck(status));
    PetscCall(AmbAggMultVector(p, 1, 2));
    status = AggCGDot(e, stream);
    PetscCall(AmbAggAddSums(p, &status));
    if (!status) status = AggCGStep(e, k, stream);
  }
  PetscCall(AmbAggDevicePrepare(p->level));
  if (!status) status = AggEstimateGetNumbers(e, h, stream);
  PetscCall(AmbAggEstimateCheck(status));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AmbAggDeviceKrylov(const AmbAggLevel *level, PetscBool spd, SysReal h[], PetscBool *done)
{
  AggMatrix             M;
  AmbAggEstimateContext p     = {.level = level};
  PetscBool             reach = PETSC_FALSE;
  SysStatus             status;

  PetscFunctionBegin;
  PetscCall(AmbAggDeviceGetMatrix(level, &M, done));
  PetscCall(AmbAggDeviceAgree(level, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  if (level->size > 1) {
    PetscCall(MatHaloCommGet(level->comm, &p.gpus));
    PetscCall(MatHaloCommReach(p.gpus, &reach));
  }
  if (!reach) p.gpus = NULL;
  status = AggEstimateCreate(&M.d, spd ? 3 /* r, p, A p */ : AGG_STEPS + 1, level->size, PetscDefaultCudaStream, &p.e);
  if (!status) status = AggDeviceNoise(p.e.n, level->A->rmap->rstart, p.e.v, PetscDefaultCudaStream);
  PetscCall(AmbAggDeviceCheck(level, status, "estimate of eigenvalues", done));
  if (*done) {
    PetscCall(AmbAggVectorCreate(&p, &p.x));
    PetscCall(AmbAggVectorCreate(&p, &p.y));
    PetscCall((*(spd ? AmbAggCG : AmbAggArnoldi))(&p, h));
    if (spd) AmbAggTridiagonal(h, done);
    PetscCall(VecDestroy(&p.x));
    PetscCall(VecDestroy(&p.y));
  }
  AggEstimateDestroy(&p.e);
  PetscFunctionReturn(PETSC_SUCCESS);
}
