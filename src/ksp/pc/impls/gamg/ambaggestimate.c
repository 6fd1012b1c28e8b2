/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The estimate of eigenvalues with which a prolongator is smoothed, and Jacobi's method without copies to the host. PETSc's type "agg" makes the same estimate, from
   the same random numbers.
*/
#include <petsc/private/kspimpl.h>

#include "sys/systhreads.h"
#include "ksp/pc/impls/gamg/ambagg.h"

PetscErrorCode AmbAggSetJacobi(PC jacobi, Mat A)
{
  PetscBool zeros = PETSC_TRUE;

  PetscFunctionBegin;
  PetscCall(AmbAggDeviceZeros(A, &zeros));
  PetscCall(PCJacobiSetFixDiagonal(jacobi, zeros));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Did the user choose the solver? Options of petsc-amb's own estimate are none. */
static PetscErrorCode AmbAggChosen(PC pc, PetscBool *chosen)
{
  char *all, *found = NULL;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetAll(((PetscObject)pc)->options, &all));
  PetscCall(PetscStrstr(all, "pc_gamg_esteig_", &found));
  *chosen = (PetscBool)(found != NULL);
  PetscCall(PetscFree(all));
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

PetscErrorCode AmbAggEstimate(PC pc, const AmbAggLevel *level, PetscReal *emin, PetscReal *emax)
{
  MatNullSpace null = NULL;
  PetscBool    set, spd, chosen = PETSC_FALSE, done = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(MatIsSPDKnown(level->A, &set, &spd));
  spd = (PetscBool)(set && spd);
  PetscCall(MatGetNullSpace(level->A, &null));
  PetscCall(AmbAggChosen(pc, &chosen));
  if (!null && !chosen) PetscCall(AmbAggDeviceEstimate(level, spd, emin, emax, &done));
  if (!done) PetscCall(AmbAggEstimateByKSP(pc, level, null, spd, emin, emax));
  PetscCall(PetscInfo(pc, "The eigenvalues of D^-1 A are estimated as %g to %g%s\n", (double)*emin, (double)*emax, done ? ", by passes on the GPU" : ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}
