/* SPDX-License-Identifier: BSD-2-Clause */
/*
   What the solves of KSPAMBGMRES on the host and on a device share: the context, norms for histories and monitors, ends
*/
#include "ksp/ksp/impls/ambgmres/ambgmres.h"

/* ------------------------------------------------- the orthogonalisation ------------------------------------------------- */

/* PETSc 3.26 moved the orthogonalisation from GMRES to KSP */
#if PETSC_VERSION_LT(3, 26, 0)
PetscErrorCode KSPAMBGMRESGetOrthogonalization(KSP ksp, PetscBool *known, PetscBool *modified, int *refine)
{
  PetscErrorCode (*f)(KSP, PetscInt);
  KSPGMRESCGSRefinementType type;

  PetscFunctionBegin;
  PetscCall(KSPGMRESGetOrthogonalization(ksp, &f));
  PetscCall(KSPGMRESGetCGSRefinementType(ksp, &type));
  *modified = (PetscBool)(f == KSPGMRESModifiedGramSchmidtOrthogonalization);
  *known    = (PetscBool)(*modified || f == KSPGMRESClassicalGramSchmidtOrthogonalization);
  *refine   = type == KSP_GMRES_CGS_REFINE_ALWAYS ? 2 : type == KSP_GMRES_CGS_REFINE_IFNEEDED;
  PetscFunctionReturn(PETSC_SUCCESS);
}
#else
PetscErrorCode KSPAMBGMRESGetOrthogonalization(KSP ksp, PetscBool *known, PetscBool *modified, int *refine)
{
  KSPOrthogonalizationFn               *f;
  KSPOrthogonalizationCGSRefinementType type;

  PetscFunctionBegin;
  PetscCall(KSPOrthogonalizationGet(ksp, &f));
  PetscCall(KSPOrthogonalizationGetCGSRefinementType(ksp, &type));
  *modified = (PetscBool)(f == KSPOrthogonalizationModifiedGramSchmidt);
  *known    = (PetscBool)(*modified || f == KSPOrthogonalizationClassicalGramSchmidt);
  *refine   = type == KSP_ORTHOGONALIZATION_CGS_REFINE_ALWAYS ? 2 : type == KSP_ORTHOGONALIZATION_CGS_REFINE_IFNEEDED;
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/* ------------------------------------------------- the context ------------------------------------------------- */

PetscErrorCode KSPAMBGMRESClear(KSPAMB *amb)
{
  struct _KSPAMBGMRES *gmres = amb->gmres;

  PetscFunctionBegin;
  if (!gmres) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt k = 0; k <= gmres->restart && gmres->restart; k++) {
    PetscCall(VecDestroy(&gmres->v[k]));
    PetscCall(VecDestroy(&gmres->z[k]));
  }
  PetscCall(PetscFree4(gmres->v, gmres->z, gmres->at, gmres->zat));
  PetscCall(PetscFree3(gmres->memory, gmres->sums, gmres->y));
  FusedBasisHostDestroy(&gmres->host);
  PetscCall(KSPAMBGMRESDeviceClear(gmres));
  PetscCall(PetscFree(amb->gmres));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPAMBGMRESGet(KSP ksp, KSPAMB *amb, struct _KSPAMBGMRES **gmres)
{
  PetscBool known;
  PetscInt  restart, n;
  int64_t   size;

  PetscFunctionBegin;
  PetscCall(KSPGMRESGetRestart(ksp, &restart));
  PetscCall(VecGetLocalSize(ksp->vec_sol, &n));
  if (amb->gmres && (amb->gmres->restart != restart || amb->gmres->n != n)) PetscCall(KSPAMBGMRESClear(amb));
  if (!amb->gmres) {
    PetscCall(PetscNew(&amb->gmres));
    size = FusedHessenbergLayout(&amb->gmres->small, (int)restart, NULL);
    PetscCall(PetscCalloc4(restart + 1, &amb->gmres->v, restart + 1, &amb->gmres->z, restart + 1, &amb->gmres->at, restart + 1, &amb->gmres->zat));
    PetscCall(PetscCalloc3(size, &amb->gmres->memory, 2 * (restart + 1), &amb->gmres->sums, restart + 1, &amb->gmres->y));
    (void)FusedHessenbergLayout(&amb->gmres->small, (int)restart, amb->gmres->memory);
    amb->gmres->n       = n;
    amb->gmres->restart = restart; /* with all memory */
  }
  *gmres            = amb->gmres;
  (*gmres)->columns = 0;
  (*gmres)->running = PETSC_FALSE;
  PetscCall(KSPAMBGMRESGetOrthogonalization(ksp, &known, &(*gmres)->modified, &(*gmres)->refine));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- ends and norms ------------------------------------------------- */

PetscErrorCode KSPAMBGMRESShow(KSP ksp, PetscReal norm)
{
  PetscFunctionBegin;
  PetscCall(KSPLogResidualHistory(ksp, norm));
  PetscCall(KSPMonitor(ksp, ksp->its, norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPAMBGMRESShowLast(KSP ksp, PetscBool flexible, PetscInt its, PetscReal norm)
{
  PetscFunctionBegin;
  if (its && ksp->reason) PetscCall(KSPAMBGMRESShow(ksp, norm));
#if PETSC_VERSION_LT(3, 19, 0)
  else if (flexible) PetscCall(KSPLogResidualHistory(ksp, norm)); /* as PETSc's fgmres of that version */
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPAMBGMRESNull(KSP ksp)
{
  PetscFunctionBegin;
  PetscCheck(!ksp->errorifnotconverged, PetscObjectComm((PetscObject)ksp), PETSC_ERR_NOT_CONVERGED, "KSPSolve has failed: the operator maps the last vector of the basis to zero");
  ksp->reason = KSP_DIVERGED_NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPAMBGMRESSingular(KSP ksp, PetscInt k)
{
  PetscFunctionBegin;
  PetscCheck(!ksp->errorifnotconverged, PetscObjectComm((PetscObject)ksp), PETSC_ERR_NOT_CONVERGED, "KSPSolve has failed: the matrix or its preconditioner is probably singular, entry %" PetscInt_FMT " on the diagonal of the triangular matrix is zero", k);
  ksp->reason = KSP_DIVERGED_BREAKDOWN;
  PetscCall(PetscInfo(ksp, "The matrix or its preconditioner is probably singular: entry %" PetscInt_FMT " on the diagonal of the triangular matrix is zero\n", k));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPAMBGMRESFar(KSP ksp, PetscReal recurrence, PetscReal computed, PetscReal start)
{
  PetscFunctionBegin;
  PetscCheck(!ksp->errorifnotconverged, PetscObjectComm((PetscObject)ksp), PETSC_ERR_CONV_FAILED, "The residual norm %g of the recurrence is far from the computed one %g at a restart; the cycle began with %g", (double)recurrence, (double)computed, (double)start);
  PetscCall(PetscInfo(ksp, "The residual norm %g of the recurrence is far from the computed one %g at a restart; the cycle began with %g\n", (double)recurrence, (double)computed, (double)start));
  ksp->reason = KSP_DIVERGED_BREAKDOWN;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Called after the test */
PetscErrorCode KSPAMBGMRESHappy(KSP ksp, PetscBool flexible, PetscReal norm)
{
  PetscFunctionBegin;
  if (ksp->normtype == KSP_NORM_NONE && !flexible) ksp->reason = KSP_CONVERGED_HAPPY_BREAKDOWN;
  else if (!ksp->reason) {
    PetscCheck(!ksp->errorifnotconverged, PetscObjectComm((PetscObject)ksp), PETSC_ERR_NOT_CONVERGED, "Reached a happy breakdown, but the test for convergence does not hold. Residual norm = %g", (double)norm);
    ksp->reason = KSP_DIVERGED_BREAKDOWN;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
