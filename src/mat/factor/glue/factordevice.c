/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Solves with PETSc's factors on the GPU: the triangles of a factor, the choice between GPU and host, and the operations
*/
#include <petscdevice_cuda.h>
#include <petsc/private/vecimpl.h>

#include "mat/factor/glue/factor.h"
#include "mat/factor/host/factorpolicy.h"

/* ------------------------------------------------- triangles ------------------------------------------------- */

/* Sets *good to PETSC_FALSE if memory was short or an array too long, so that the host solves */
static PetscErrorCode FactorCheck(Mat F, SysStatus status, PetscBool *good)
{
  PetscFunctionBegin;
  PetscCheck(status != SYS_ERROR, PETSC_COMM_SELF, PETSC_ERR_GPU, "Solves with a factor on the GPU: %s", SysDeviceErrorText());
  *good = (PetscBool)(status == SYS_SUCCESS);
  if (!*good) PetscCall(PetscInfo(F, "The factor solves on the host: %s\n", status == SYS_TOO_LARGE ? "it is too large for the GPU's integers" : "memory is short"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Plans the triangles of a factor, in this order: L and U; for solves with the transpose U^T and L^T; of a symmetric factor U^T and U */
static SysStatus FactorPlans(const MatFactorAMB *f, const FactorArrays *s, PetscBool transpose, FactorPair *pair)
{
  SysStatus status = SYS_SUCCESS;

  for (int t = 0; t < 2 && status == SYS_SUCCESS; t++) {
    const int  part   = f->symmetric ? 1 : transpose ? 1 - t : t;
    FactorRows turned = {0};

    if (transpose || (f->symmetric && t == 0)) {
      status = FactorRowsTranspose(&s->rows[part], &turned);
      if (status == SYS_SUCCESS) status = FactorPlanCreate(&turned, t, &pair->plan[t]);
      FactorRowsDestroy(&turned);
    } else status = FactorPlanCreate(&s->rows[part], t, &pair->plan[t]);
  }
  pair->diagonal  = s->diagonal;
  pair->after[0]  = transpose;
  pair->after[1]  = !f->symmetric && !transpose;
  pair->before[1] = f->symmetric;
  pair->sign      = f->symmetric ? 1 : -1;
  return status;
}

/* Sets the levels and the expected seconds of a solve */
static PetscErrorCode FactorExpect(Mat F, MatFactorAMB *f, const FactorPair *pair)
{
  double bytes = 0, entries = F->rmap->n;

  PetscFunctionBegin;
  for (int t = 0; t < 2; t++) {
    f->levels[t] = (PetscInt)pair->plan[t].levels;
    bytes += (double)pair->plan[t].start[pair->plan[t].tiles] * FACTOR_WARP * (sizeof(PetscScalar) + sizeof(PetscInt)) + 5. * F->rmap->n * sizeof(PetscScalar);
    entries += pair->plan[t].entries;
  }
  f->seconds[0] = FactorHostSeconds(F->rmap->n, entries, sizeof(PetscScalar));
  f->seconds[1] = FactorDeviceSeconds(f->levels[0] + f->levels[1], bytes);
  f->planned    = PETSC_TRUE;
  PetscCall(PetscInfo(F, "Levels of the factor: %" PetscInt_FMT " and %" PetscInt_FMT "; a solve is expected to take %g s on the GPU, %g s on the host\n", f->levels[0], f->levels[1], f->seconds[1], f->seconds[0]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates f->pair[transpose], if solves are to run on the GPU: always, or where that is expected to be sooner. *wanted: they are. */
static PetscErrorCode FactorPairCreate(Mat F, MatFactorAMB *f, const FactorArrays *s, PetscBool transpose, PetscBool always, PetscBool *wanted)
{
  FactorPair      pair = {0};
  const PetscInt *rows, *cols;

  PetscFunctionBegin;
  PetscCall(FactorCheck(F, FactorPlans(f, s, transpose, &pair), wanted));
  if (*wanted && !transpose) {
    PetscCall(FactorExpect(F, f, &pair));
    *wanted = (PetscBool)(always || f->seconds[1] < f->seconds[0]);
  }
  if (*wanted) {
    PetscCall(ISGetIndices(f->rows, &rows));
    PetscCall(ISGetIndices(f->cols, &cols));
    pair.source = transpose ? cols : rows;
    pair.target = transpose ? rows : cols;
    PetscCall(FactorCheck(F, FactorDeviceCreate(&pair, &f->pair[transpose], PetscDefaultCudaStream), wanted));
    PetscCall(ISRestoreIndices(f->rows, &rows));
    PetscCall(ISRestoreIndices(f->cols, &cols));
  }
  for (int t = 0; t < 2; t++) FactorPlanDestroy(&pair.plan[t]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the values to f->pair[transpose], which goes if memory is short */
static PetscErrorCode FactorPairUpdate(Mat F, MatFactorAMB *f, const FactorArrays *s, PetscBool transpose, PetscBool *good)
{
  PetscBool pinned;

  PetscFunctionBegin;
  PetscCall(MatAIJDevicePin(s->a, s->nz * sizeof(*s->a), &pinned));
  PetscCall(FactorCheck(F, FactorDeviceUpdate(f->pair[transpose], s->nz, s->a, PetscDefaultCudaStream), good));
  PetscCall(MatAIJDeviceUnpin(s->a, pinned));
  if (!*good) FactorDeviceDestroy(&f->pair[transpose]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- operations ------------------------------------------------- */

static PetscErrorCode FactorOnDevice(PetscObject a, PetscObject b, const char type[], PetscBool bound, PetscBool *both)
{
  PetscFunctionBegin;
  *both = PETSC_FALSE;
  if (bound) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectTypeCompare(a, type, both));
  if (*both) PetscCall(PetscObjectTypeCompare(b, type, both));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Queues solves for columns of b; *done is PETSC_FALSE if the host must solve */
static PetscErrorCode FactorSolve(Mat F, MatFactorAMB *f, PetscBool transpose, PetscInt columns, const PetscScalar *b, PetscInt ldb, PetscScalar *x, PetscInt ldx)
{
  SysStatus status;

  PetscFunctionBegin;
  PetscCall(PetscLogGpuTimeBegin());
  status = FactorDeviceSolve(f->pair[transpose], (int)columns, b, ldb, x, ldx, PetscDefaultCudaStream);
  PetscCall(PetscLogGpuTimeEnd());
  PetscCheck(status == SYS_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_GPU, "Solves with a factor on the GPU: %s", SysDeviceErrorText());
  PetscCall(PetscLogGpuFlops(columns * (2. * FactorDeviceEntries(f->pair[transpose]) + F->rmap->n)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FactorSolveVec(Mat F, Vec b, Vec x, PetscBool transpose)
{
  MatFactorAMB      *f;
  const PetscScalar *from;
  PetscScalar       *to;
  PetscBool          device;

  PetscFunctionBegin;
  PetscCall(MatFactorAMBGet(F, &f));
  PetscCall(FactorOnDevice((PetscObject)b, (PetscObject)x, VECSEQCUDA, (PetscBool)(b->boundtocpu || x->boundtocpu), &device));
  if (f->symmetric) transpose = PETSC_FALSE;
  if (device && !f->pair[transpose]) { /* the first solve with the transpose */
    FactorArrays s;

    PetscCall(FactorArraysGet(F, f, &s));
    PetscCall(FactorPairCreate(F, f, &s, transpose, PETSC_TRUE, &device));
    if (device) PetscCall(FactorPairUpdate(F, f, &s, transpose, &device));
    PetscCall(FactorArraysFree(&s));
  }
  if (device) {
    PetscCall(VecCUDAGetArrayRead(b, &from));
    PetscCall(VecCUDAGetArrayWrite(x, &to));
    PetscCall(FactorSolve(F, f, transpose, 1, from, F->rmap->n, to, F->rmap->n));
    PetscCall(VecCUDARestoreArrayWrite(x, &to));
    PetscCall(VecCUDARestoreArrayRead(b, &from));
  } else PetscCall((*f->solve[transpose])(F, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatSolve_FactorAMBDevice(Mat F, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(FactorSolveVec(F, b, x, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatSolveTranspose_FactorAMBDevice(Mat F, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(FactorSolveVec(F, b, x, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMatSolve_FactorAMBDevice(Mat F, Mat B, Mat X)
{
  MatFactorAMB      *f;
  const PetscScalar *from;
  PetscScalar       *to;
  PetscInt           columns, ldb, ldx;
  PetscBool          device;

  PetscFunctionBegin;
  PetscCall(MatFactorAMBGet(F, &f));
  PetscCall(MatGetSize(B, NULL, &columns));
  PetscCall(FactorOnDevice((PetscObject)B, (PetscObject)X, MATSEQDENSECUDA, (PetscBool)(B->boundtocpu || X->boundtocpu), &device));
  if (device) {
    PetscCall(MatDenseGetLDA(B, &ldb));
    PetscCall(MatDenseGetLDA(X, &ldx));
    PetscCall(MatDenseCUDAGetArrayRead(B, &from));
    PetscCall(MatDenseCUDAGetArrayWrite(X, &to));
    PetscCall(FactorSolve(F, f, PETSC_FALSE, columns, from, ldb, to, ldx));
    PetscCall(MatDenseCUDARestoreArrayWrite(X, &to));
    PetscCall(MatDenseCUDARestoreArrayRead(B, &from));
  } else if (f->matsolve) PetscCall((*f->matsolve)(F, B, X));
  else {
    for (PetscInt k = 0; k < columns; k++) {
      Vec b, x;

      PetscCall(MatDenseGetColumnVecRead(B, k, &b));
      PetscCall(MatDenseGetColumnVecWrite(X, k, &x));
      PetscCall(MatSolve_FactorAMBDevice(F, b, x));
      PetscCall(MatDenseRestoreColumnVecWrite(X, k, &x));
      PetscCall(MatDenseRestoreColumnVecRead(B, k, &b));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Without operations for sums PETSC adds a solution to a vector, on the GPU */
PetscErrorCode MatFactorAMBSetUpDevice(Mat F, Mat A, MatFactorAMB *f, FactorWhere where)
{
  FactorArrays s;
  PetscBool    device;

  PetscFunctionBegin;
  if (!MatAIJValuesOnDevice(A) || F->factorerrortype || !F->rmap->n) PetscFunctionReturn(PETSC_SUCCESS);
  if (!f->pair[0] && f->planned) PetscFunctionReturn(PETSC_SUCCESS); /* the host was sooner */
  PetscCall(FactorArraysGet(F, f, &s));
  device = (PetscBool)(f->pair[0] != NULL);
  if (!device) PetscCall(FactorPairCreate(F, f, &s, PETSC_FALSE, (PetscBool)(where == FACTOR_DEVICE), &device));
  if (device) PetscCall(FactorPairUpdate(F, f, &s, PETSC_FALSE, &device));
  if (device && f->pair[1]) {
    PetscBool good;

    PetscCall(FactorPairUpdate(F, f, &s, PETSC_TRUE, &good)); /* or it is made anew when it is needed */
  }
  PetscCall(FactorArraysFree(&s));
  f->device = device;
  if (!device) PetscFunctionReturn(PETSC_SUCCESS);
  F->ops->solve             = MatSolve_FactorAMBDevice;
  F->ops->solvetranspose    = MatSolveTranspose_FactorAMBDevice;
  F->ops->matsolve          = MatMatSolve_FactorAMBDevice;
  F->ops->solveadd          = NULL;
  F->ops->solvetransposeadd = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

void MatFactorAMBResetDevice(MatFactorAMB *f)
{
  for (int t = 0; t < 2; t++) FactorDeviceDestroy(&f->pair[t]);
}
