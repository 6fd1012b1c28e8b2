/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Norms, tests and ends of KSPAMBCG, for all its forms
*/
#include "ksp/ksp/impls/ambcg/ambcg.h"

PetscReal KSPAMBCGNorm(KSP ksp, const SysReal sums[])
{
  if (ksp->normtype == KSP_NORM_PRECONDITIONED) return PetscSqrtReal(sums[1]);
  if (ksp->normtype == KSP_NORM_UNPRECONDITIONED) return PetscSqrtReal(sums[2]);
  if (ksp->normtype == KSP_NORM_NATURAL) return PetscSqrtReal(PetscAbsReal(sums[0]));
  return 0.0;
}

PetscBool KSPAMBCGNormWanted(KSP ksp, PetscInt its)
{
  return (PetscBool)(ksp->normtype == KSP_NORM_NATURAL || (ksp->normtype != KSP_NORM_NONE && (its == 0 || ksp->chknorm < its + 1)));
}

PetscErrorCode KSPAMBCGZero(KSP ksp)
{
  PetscFunctionBegin;
  ksp->reason = KSP_CONVERGED_ATOL;
  PetscCall(PetscInfo(ksp, "converged due to beta = 0\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPAMBCGIndefinitePC(KSP ksp, PetscReal beta, PetscReal old)
{
  PetscFunctionBegin;
  PetscCheck(!ksp->errorifnotconverged, PetscObjectComm((PetscObject)ksp), PETSC_ERR_NOT_CONVERGED, "Diverged due to indefinite preconditioner, beta %g, betaold %g", (double)beta, (double)old);
  ksp->reason = KSP_DIVERGED_INDEFINITE_PC;
  PetscCall(PetscInfo(ksp, "diverging due to indefinite preconditioner\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPAMBCGIndefiniteMat(KSP ksp, PetscReal dpi, PetscReal old)
{
  PetscFunctionBegin;
  PetscCheck(!ksp->errorifnotconverged, PetscObjectComm((PetscObject)ksp), PETSC_ERR_NOT_CONVERGED, "Diverged due to indefinite matrix, dpi %g, dpiold %g", (double)dpi, (double)old);
  ksp->reason = KSP_DIVERGED_INDEFINITE_MAT;
  PetscCall(PetscInfo(ksp, "diverging due to indefinite matrix\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPAMBCGCheckBeta(KSP ksp, PetscInt i, PetscReal beta, PetscReal betaold)
{
  PetscFunctionBegin;
  if (beta == 0.0) PetscCall(KSPAMBCGZero(ksp));
  else if (i > 0 && beta * betaold < 0.0) PetscCall(KSPAMBCGIndefinitePC(ksp, beta, betaold));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPAMBCGObjective(KSP ksp, KSPAMB *amb, Vec r)
{
  PetscScalar rx = 0.0, bx = 0.0;

  PetscFunctionBegin;
  if (amb->getobjective && !ksp->guess_zero) {
    PetscCall(VecDot(r, ksp->vec_sol, &rx));
    PetscCall(VecDot(ksp->vec_rhs, ksp->vec_sol, &bx));
  }
  amb->objective = 0.5 * (PetscRealPart(rx) - PetscRealPart(bx));
  PetscFunctionReturn(PETSC_SUCCESS);
}
