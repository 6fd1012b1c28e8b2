/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The estimate of eigenvalues with which a prolongator is smoothed on the device, and Jacobi's method without copies to the host. PETSc's type "agg" makes the same
   estimate, from random numbers of the host.
*/
#include <petsc/private/kspimpl.h>

#include "ksp/pc/impls/gamg/ambagg.h"

#define ESTIMATE_ITERATIONS 10 /* as in PETSc */

PetscErrorCode AmbAggSetJacobi(PC jacobi, Mat A)
{
  PetscBool zeros = PETSC_TRUE;

  PetscFunctionBegin;
  PetscCall(AmbAggDeviceZeros(A, &zeros));
  PetscCall(PCJacobiSetFixDiagonal(jacobi, zeros));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AmbAggEstimate(PC pc, Mat A, PetscReal *emin, PetscReal *emax)
{
  const char  *prefix;
  KSP          ksp;
  PC           jacobi;
  Vec          x, b;
  PetscBool    set, spd;
  MatNullSpace null;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(AmbAggDeviceNoise(b));
  PetscCall(MatGetNullSpace(A, &null));
  if (null) PetscCall(MatNullSpaceRemove(null, b));
  PetscCall(PCGetOptionsPrefix(pc, &prefix));
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)A), &ksp));
  PetscCall(KSPSetOptionsPrefix(ksp, prefix));
  PetscCall(KSPAppendOptionsPrefix(ksp, "pc_gamg_esteig_"));
  PetscCall(MatIsSPDKnown(A, &set, &spd));
  if (set && spd) PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetErrorIfNotConverged(ksp, pc->erroriffailure));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_NONE));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPGetPC(ksp, &jacobi));
  PetscCall(PCSetType(jacobi, PCJACOBI));
  PetscCall(AmbAggSetJacobi(jacobi, A));
  PetscCall(KSPSetTolerances(ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, ESTIMATE_ITERATIONS));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSetComputeSingularValues(ksp, PETSC_TRUE));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPCheckSolve(ksp, pc, x));
  PetscCall(KSPComputeExtremeSingularValues(ksp, emax, emin));
  PetscCall(PetscInfo(pc, "The eigenvalues of D^-1 A are estimated as %g to %g\n", (double)*emin, (double)*emax));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}
