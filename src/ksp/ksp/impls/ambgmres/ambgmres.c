/* SPDX-License-Identifier: BSD-2-Clause */
/*
   KSPAMBGMRES and KSPAMBFGMRES: the types, their options and setters
*/
#include "ksp/ksp/impls/ambgmres/ambgmres.h"

PetscErrorCode KSPAMBGMRESRegister(void);

/* ------------------------------------------------- the types ------------------------------------------------- */

static PetscErrorCode KSPAMBGMRESSupports(KSP ksp, KSPAMB *amb, const char **why)
{
  PetscBool known = PETSC_FALSE, modified, cuda;
  PetscInt  restart;
  int       refine;

  PetscFunctionBegin;
  PetscCall(KSPAMBGMRESGetOrthogonalization(ksp, &known, &modified, &refine));
  PetscCall(KSPGMRESGetRestart(ksp, &restart));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)ksp->vec_sol, &cuda, VECSEQCUDA, VECMPICUDA, ""));
  if (cuda && restart > KSPAMBGMRES_RESTART) *why = "the basis has more vectors than passes on a GPU take";
  else if (!known) *why = "the orthogonalization is one of the program";
  else if (ksp->pc_side == PC_SYMMETRIC) *why = "the preconditioner is applied from both sides";
  else if (ksp->err_hist) *why = "a history of errors is wanted";
  for (PetscInt k = 0; k < ksp->numbermonitors; k++) {
    if (ksp->monitor[k] == KSPGMRESMonitorKrylov) *why = "a monitor shows the basis of PETSc's type";
  }
  if (!*why && (!ksp->work || ksp->nwork < KSPAMBGMRES_WORK)) PetscCall(KSPSetWorkVecs(ksp, KSPAMBGMRES_WORK));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's set-up allocates vectors, which passes do not use: it waits until PETSc's own solve is needed. Singular values need room that only the set-up makes. */
static PetscErrorCode KSPAMBGMRESPrepare(KSP ksp, KSPAMB *amb)
{
  PetscFunctionBegin;
  if (!amb->prepared) PetscCall((*amb->base.setup)(ksp));
  amb->prepared = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPSetUp_AMBGMRES(KSP ksp)
{
  KSPAMB *amb;

  PetscFunctionBegin;
  PetscCall(KSPAMBGet(ksp, &amb));
  amb->prepared = PETSC_FALSE;
  if (ksp->calc_sings || ksp->calc_ritz) PetscCall(KSPAMBGMRESPrepare(ksp, amb));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPBuildSolution_AMBGMRES(KSP ksp, Vec v, Vec *V)
{
  KSPAMB *amb;

  PetscFunctionBegin;
  PetscCall(KSPAMBGet(ksp, &amb));
  if (!amb->fused && amb->prepared) {
    PetscCall((*amb->base.buildsolution)(ksp, v, V));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!v) {
    if (!amb->guess) PetscCall(VecDuplicate(ksp->vec_sol, &amb->guess));
    v = amb->guess;
  }
  if (!amb->gmres) PetscCall(VecCopy(ksp->vec_sol, v));
  else if (amb->gmres->running) PetscCall(KSPAMBGMRESBuildDevice(ksp, amb, v));
  else PetscCall(KSPAMBGMRESBuild(ksp, amb, ksp->vec_sol, v));
  if (V) *V = v;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPGMRESSetHapTol_AMBGMRES(KSP ksp, PetscReal tol)
{
  KSPAMB *amb;

  PetscFunctionBegin;
  PetscCall(KSPAMBGet(ksp, &amb));
  PetscCall((*amb->sethaptol)(ksp, tol));
  amb->haptol = tol;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPGMRESSetBreakdownTolerance_AMBGMRES(KSP ksp, PetscReal tol)
{
  KSPAMB *amb;

  PetscFunctionBegin;
  PetscCall(KSPAMBGet(ksp, &amb));
  PetscCall((*amb->setbreakdowntol)(ksp, tol));
  amb->breakdowntol = tol == (PetscReal)PETSC_DEFAULT ? 0.1 : tol;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPFGMRESSetModifyPC_AMBFGMRES(KSP ksp, PetscErrorCode (*f)(KSP, PetscInt, PetscInt, PetscReal, void *), void *ctx, PetscErrorCode (*destroy)(void *))
{
  KSPAMB *amb;

  PetscFunctionBegin;
  PetscCall(KSPAMBGet(ksp, &amb));
  PetscCall((*amb->setmodifypc)(ksp, f, ctx, destroy));
  amb->modifypc    = f;
  amb->modifyctx   = ctx;
  amb->modifyowned = (PetscBool)(destroy != NULL);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The name of the setter has changed */
static const char *const modifypc[] = {"KSPFGMRESSetModifyPC_C", "KSPFlexibleSetModifyPC_C"};

static PetscErrorCode KSPAMBGMRESExtend(KSP ksp, KSPType type)
{
  KSPAMB *amb;

  PetscFunctionBegin;
  PetscCall(KSPAMBExtend(ksp, type, KSPAMBGMRESSolve, &amb));
  amb->solvedevice        = KSPAMBGMRESSolveDevice;
  amb->supports           = KSPAMBGMRESSupports;
  amb->prepare            = KSPAMBGMRESPrepare;
  amb->clear              = KSPAMBGMRESClear;
  amb->anypc              = PETSC_TRUE;
  amb->haptol             = 1e-30; /* PETSc's defaults */
  amb->breakdowntol       = 0.1;
  amb->isflexible         = (PetscBool)(strcmp(type, KSPFGMRES) == 0);
  ksp->ops->setup         = KSPSetUp_AMBGMRES;
  ksp->ops->buildsolution = KSPBuildSolution_AMBGMRES;
  PetscCall(PetscObjectQueryFunction((PetscObject)ksp, "KSPGMRESSetHapTol_C", &amb->sethaptol));
  PetscCall(PetscObjectQueryFunction((PetscObject)ksp, "KSPGMRESSetBreakdownTolerance_C", &amb->setbreakdowntol));
  if (amb->sethaptol) PetscCall(PetscObjectComposeFunction((PetscObject)ksp, "KSPGMRESSetHapTol_C", KSPGMRESSetHapTol_AMBGMRES));
  if (amb->setbreakdowntol) PetscCall(PetscObjectComposeFunction((PetscObject)ksp, "KSPGMRESSetBreakdownTolerance_C", KSPGMRESSetBreakdownTolerance_AMBGMRES));
  for (int k = 0; k < 2 && !amb->setmodifypc; k++) {
    PetscCall(PetscObjectQueryFunction((PetscObject)ksp, modifypc[k], &amb->setmodifypc));
    if (amb->setmodifypc) PetscCall(PetscObjectComposeFunction((PetscObject)ksp, modifypc[k], KSPFGMRESSetModifyPC_AMBFGMRES));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   KSPAMBGMRES - "ambgmres" - the GMRES method of `KSPGMRES` with two passes over the basis in an iteration, by several threads in every process

   Options Database Keys:
+  -ksp_gmres_restart                                                            - vectors of the basis before a restart
.  -ksp_gmres_classicalgramschmidt                                               - classical Gram-Schmidt, the default
.  -ksp_gmres_modifiedgramschmidt                                                - modified Gram-Schmidt, with two passes too
.  -ksp_gmres_cgs_refinement_type <refine_never,refine_ifneeded,refine_always>   - a second orthogonalization with classical Gram-Schmidt
-  -petscamb_for_ksp                                                             - every `KSPCG`, `KSPBCGS`, `KSPGMRES`, `KSPFGMRES` and `KSPCHEBYSHEV` of a program becomes a type of petsc-amb

   Level: intermediate

   Notes:
   Functions and options of `KSPGMRES` work unchanged; results differ by rounding. One pass reads the basis for all products with the new
   vector, and one subtracts and makes the norm. Modified Gram-Schmidt makes the coefficients of PETSc's from the products of the vectors of the basis with each
   other, which the first pass makes too.

   `PCNONE`, `PCJACOBI` and `PCPBJACOBI` are applied in a pass that does other work. Other preconditioners are applied as `KSPGMRES` does. The preconditioner may be
   applied from the left or from the right.

   `KSPGMRES` itself makes the solve, and `-info` reports it, if scalars are complex, the vectors are not of the types `VECSEQ` or `VECMPI` or have operations of
   the program, the solve is transposed, the preconditioner is applied symmetrically, singular values, eigenvalues, Ritz pairs or a history of errors are computed, the
   orthogonalization is one of the program, or `KSPGMRESMonitorKrylov()` is a monitor.

   The type solves with vectors of the types `VECSEQCUDA` and `VECMPICUDA` as `KSPAMBCG` does. The host then waits in no iteration unless the preconditioner does.

   Example:
.vb
   bin/solve -f matrix.mtx -mat_type amb -ksp_type ambgmres -pc_type jacobi -ksp_view
.ve

   References:
+  * - Y. Saad and M. H. Schultz, "GMRES: a generalized minimal residual algorithm for solving nonsymmetric linear systems", SIAM J. Sci. Stat. Comput. 7 (1986)
-  * - K. Swirydowicz, J. Langou, S. Ananthan, U. Yang and S. Thomas, "Low synchronization Gram-Schmidt and generalized minimal residual algorithms", Numer. Linear Algebra Appl. 28 (2021)

.seealso: `KSPGMRES`, `KSPAMBFGMRES`, `KSPAMBCG`, `KSPAMBBCGS`, `KSPGMRESSetRestart()`
M*/
static PetscErrorCode KSPCreate_AMBGMRES(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall(KSPAMBGMRESExtend(ksp, KSPGMRES));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPCreate_AMBGMRES_Chosen(KSP ksp)
{
  return KSPAMBCreateChosen(ksp, KSPGMRES, PETSC_FALSE, KSPCreate_AMBGMRES);
}

/*MC
   KSPAMBFGMRES - "ambfgmres" - the flexible GMRES method of `KSPFGMRES` with two passes over the basis in an iteration, by several threads in every process

   Options Database Keys:
+  -ksp_gmres_restart          - vectors of the basis before a restart
.  -ksp_fgmres_modifypcksp     - changes the tolerance of a `PCKSP` in each iteration
-  -petscamb_for_ksp           - every `KSPCG`, `KSPBCGS`, `KSPGMRES`, `KSPFGMRES` and `KSPCHEBYSHEV` of a program becomes a type of petsc-amb

   Level: intermediate

   Notes:
   Functions and options of `KSPFGMRES` work unchanged; results differ by rounding.

   `PCNONE`, `PCJACOBI` and `PCPBJACOBI` do not change, so that a pass applies them and the preconditioned basis is not stored, unless the program sets a function
   that may change the preconditioner.

   `KSPFGMRES` itself makes the solve in the cases that the page of `KSPAMBGMRES` lists.

.seealso: `KSPFGMRES`, `KSPAMBGMRES`, `KSPAMBCG`, `KSPAMBBCGS`
M*/
static PetscErrorCode KSPCreate_AMBFGMRES(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall(KSPAMBGMRESExtend(ksp, KSPFGMRES));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPCreate_AMBFGMRES_Chosen(KSP ksp)
{
  return KSPAMBCreateChosen(ksp, KSPFGMRES, PETSC_FALSE, KSPCreate_AMBFGMRES);
}

PetscErrorCode KSPAMBGMRESRegister(void)
{
  PetscFunctionBegin;
  PetscCall(KSPAMBRegisterType(KSPAMBGMRES, KSPGMRES, KSPCreate_AMBGMRES, KSPCreate_AMBGMRES_Chosen));
  PetscCall(KSPAMBRegisterType(KSPAMBFGMRES, KSPFGMRES, KSPCreate_AMBFGMRES, KSPCreate_AMBFGMRES_Chosen));
  PetscFunctionReturn(PETSC_SUCCESS);
}
