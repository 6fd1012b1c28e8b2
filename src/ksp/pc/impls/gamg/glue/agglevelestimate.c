/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The estimate of eigenvalues with which a prolongator is smoothed, its steps for smoothers, and Jacobi's method without copies to the host. PETSc's type "agg" makes the same estimate, from
   the same random numbers.
*/
#include <petsc/private/kspimpl.h>

#include "sys/systhreads.h"
#include "ksp/ksp/impls/ambchebyshev/ambchebyshev.h"
#include "ksp/pc/impls/gamg/glue/agg.h"

PetscErrorCode AmbAggSetJacobi(PC jacobi, Mat A)
{
  PetscBool zeros = PETSC_TRUE;

  PetscFunctionBegin;
  PetscCall(AmbAggDeviceZeros(A, &zeros));
  PetscCall(PCJacobiSetFixDiagonal(jacobi, zeros));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The random numbers that a solver starts from */
static PetscErrorCode AmbAggNoise(const AmbAggLevel *level, Vec x)
{
  PetscScalar *a;
  PetscInt     n, first;

  PetscFunctionBegin;
  if (level->device) {
    PetscCall(AmbAggDeviceNoise(x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetOwnershipRange(x, &first, NULL));
  PetscCall(VecGetArrayWrite(x, &a));
  AggNoise(n, first, SysThreads(), a);
  PetscCall(VecRestoreArrayWrite(x, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AmbAggEstimateByKSP(PC pc, const AmbAggLevel *level, MatNullSpace null, PetscBool spd, PetscReal *emin, PetscReal *emax)
{
  const Mat   A = level->A;
  const char *prefix;
  KSP         ksp;
  PC          jacobi;
  Vec         x, b;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(AmbAggNoise(level, b));
  if (null) PetscCall(MatNullSpaceRemove(null, b));
  PetscCall(PCGetOptionsPrefix(pc, &prefix));
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)A), &ksp));
  PetscCall(KSPSetOptionsPrefix(ksp, prefix));
  PetscCall(KSPAppendOptionsPrefix(ksp, "pc_gamg_esteig_"));
  if (spd) PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetErrorIfNotConverged(ksp, pc->erroriffailure));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_NONE));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPGetPC(ksp, &jacobi));
  PetscCall(PCSetType(jacobi, PCJACOBI));
  if (level->device) PetscCall(AmbAggSetJacobi(jacobi, A));
  PetscCall(KSPSetTolerances(ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, AGG_STEPS));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSetComputeSingularValues(ksp, PETSC_TRUE));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPCheckSolve(ksp, pc, x));
  PetscCall(KSPComputeExtremeSingularValues(ksp, emax, emin));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define HAPPY 1e-30 /* a vector of this length or less ends Arnoldi's method, as in PETSc */

/* The extreme singular values of the first columns of Arnoldi's matrix h[], by rotations between columns until these are orthogonal. LAPACK is PETSc's to link, and the
   matrix is small. */
void AmbAggSingularValues(int rows, int columns, SysReal h[], PetscReal *emin, PetscReal *emax)
{
  PetscBool turned = PETSC_TRUE;

  for (int sweep = 0; sweep < 60 && turned; sweep++) {
    turned = PETSC_FALSE;
    for (int p = 0; p < columns; p++) {
      for (int q = p + 1; q < columns; q++) {
        SysReal *x = h + AGG_H(0, p), *y = h + AGG_H(0, q), xx = 0, yy = 0, xy = 0, zeta, t, c;

        for (int r = 0; r < rows; r++) {
          xx += x[r] * x[r];
          yy += y[r] * y[r];
          xy += x[r] * y[r];
        }
        if (PetscAbsReal(xy) <= PETSC_MACHINE_EPSILON * PetscSqrtReal(xx * yy)) continue;
        zeta   = (yy - xx) / (2 * xy);
        t      = (zeta < 0 ? -1 : 1) / (PetscAbsReal(zeta) + PetscSqrtReal(1 + zeta * zeta));
        c      = 1 / PetscSqrtReal(1 + t * t);
        turned = PETSC_TRUE;
        for (int r = 0; r < rows; r++) {
          const SysReal old = x[r];

          x[r] = c * (old - t * y[r]);
          y[r] = c * (t * old + y[r]);
        }
      }
    }
  }
  for (int p = 0; p < columns; p++) {
    SysReal length = 0;

    for (int r = 0; r < rows; r++) length += h[AGG_H(r, p)] * h[AGG_H(r, p)];
    length = PetscSqrtReal(length);
    *emin  = p ? PetscMin(*emin, length) : length;
    *emax  = p ? PetscMax(*emax, length) : length;
  }
}

PetscBool AmbAggArnoldiValues(SysReal h[], PetscReal *emin, PetscReal *emax)
{
  for (int k = 0; k < AGG_NUMBERS; k++) {
    if (PetscIsInfOrNanReal(h[k])) return PETSC_FALSE;
  }
  for (int k = 0; k < AGG_STEPS; k++) {
    if (h[AGG_H(k + 1, k)] < (SysReal)HAPPY) {
      AmbAggSingularValues(k + 1, k + 1, h, emin, emax);
      return PETSC_TRUE;
    }
  }
  AmbAggSingularValues(AGG_STEPS + 1, AGG_STEPS, h, emin, emax);
  return PETSC_TRUE;
}

/* ------------------------------------------------- on the host ------------------------------------------------- */

#if !defined(PETSC_USE_COMPLEX)
/* Vector to = A vector from */
static PetscErrorCode AmbAggHostMult(Mat A, const AggKrylov *e, int from, int to)
{
  Vec x, y;

  PetscFunctionBegin;
  PetscCall(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, (PetscInt)e->n, e->v + from * e->stride, &x));
  PetscCall(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, (PetscInt)e->n, e->v + to * e->stride, &y));
  PetscCall(MatMult(A, x, y));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/* Arnoldi's matrix that PETSc's GMRES would compute, without vectors of one thread */
static PetscErrorCode AmbAggHostKrylov(const AmbAggLevel *level, SysReal h[], PetscBool *done)
{
#if !defined(PETSC_USE_COMPLEX)
  AggKrylov e;
  SysCSR    A;
#endif

  PetscFunctionBegin;
  *done = PETSC_FALSE;
#if !defined(PETSC_USE_COMPLEX)
  PetscCall(MatAIJGetArrays(level->A, &A));
  if (!A.nz) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AmbAggCheck(level->comm, AggKrylovCreate(&A, SysThreads(), &e), "estimate of eigenvalues"));
  for (int k = 0; k < AGG_STEPS; k++) {
    PetscCall(AmbAggHostMult(level->A, &e, k, k + 1));
    AggKrylovStep(&e, k);
  }
  for (int k = 0; k < AGG_NUMBERS; k++) h[k] = e.h[k];
  *done = PETSC_TRUE;
  AggKrylovDestroy(&e);
#else
  (void)level;
  (void)h;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AmbAggEstimate(PC pc, const AmbAggLevel *level, PetscReal *emin, PetscReal *emax)
{
  MatNullSpace null = NULL;
  SysReal      h[AGG_NUMBERS];
  PetscBool    set, spd, chosen = PETSC_FALSE, done = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(MatIsSPDKnown(level->A, &set, &spd));
  spd = (PetscBool)(set && spd);
  PetscCall(MatGetNullSpace(level->A, &null));
  PetscCall(KSPAMBOptionsHave((PetscObject)pc, "pc_gamg_esteig_", &chosen));
  if (!null && !chosen && level->device) PetscCall(AmbAggDeviceKrylov(level, spd, h, &done));
  else if (!null && !chosen && !spd && level->size == 1) PetscCall(AmbAggHostKrylov(level, h, &done));
  if (done && spd) AmbAggSingularValues(AGG_STEPS, AGG_STEPS, h, emin, emax);
  else if (done) done = AmbAggArnoldiValues(h, emin, emax);
  if (!done) PetscCall(AmbAggEstimateByKSP(pc, level, null, spd, emin, emax));
  PetscCall(PetscInfo(pc, "The eigenvalues of D^-1 A are estimated as %g to %g%s\n", (double)*emin, (double)*emax, !done ? "" : level->device ? ", by passes on the GPU" : ", by passes on the host"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AmbAggEstimateSteps(Mat A, PetscBool spd, PetscScalar t[], PetscBool *done)
{
  AmbAggLevel level = {.A = A, .comm = PetscObjectComm((PetscObject)A), .bs = 1};
  SysReal     h[AGG_NUMBERS];
  PetscBool   device = PETSC_FALSE;

  PetscFunctionBegin;
  *done = PETSC_FALSE;
  PetscCallMPI(MPI_Comm_size(level.comm, &level.size));
  PetscCall(AmbAggOnDevice(A, &device));
  if (device || level.size > 1) PetscCall(AmbAggDeviceKrylov(&level, spd, h, done)); /* the processes agree */
  else if (!spd) PetscCall(AmbAggHostKrylov(&level, h, done));
  for (int k = 0; k < AGG_NUMBERS && *done; k++) {
    t[k]  = h[k];
    *done = (PetscBool)!PetscIsInfOrNanReal(h[k]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
