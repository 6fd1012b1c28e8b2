/* SPDX-License-Identifier: BSD-2-Clause */
/*
   KSPAMBCHEBYSHEV, Chebyshev iterations as smoothers of multigrid make them: without norms, so that no process waits for another and the host does not wait for
   its GPU. Besides the product, a step is one pass: the residual, the preconditioner and the next iterate. The mathematics is that of PETSc's chebyshev, whose set-up
   finds the bounds of the eigenvalues.
*/
#include "ksp/ksp/impls/ambchebyshev/ambchebyshev.h"

PetscErrorCode KSPAMBChebyshevRegister(void);

/* ------------------------------------------------- the bounds ------------------------------------------------- */

/* PETSc has no function that returns the bounds which its solve uses. They are found in two steps of this solve for a system of one row, with the matrix 0, the
   preconditioner 1 and the right-hand side 1. The first iterate is the scale, and the second one is 2 omega times as much, where omega is the first factor of the
   iteration. With the fourth kind, the first iterate is 4/3 of the scale, and no other number is needed. */
static PetscErrorCode KSPAMBChebyshevProbe(KSP ksp, KSPAMB *amb, PC pc, Vec work[3], Vec x, Vec b)
{
  const struct {
    PC                 pc;
    Vec               *work, x, b;
    PetscInt           max_it, its;
    PetscBool          guess_zero;
    KSPConvergedReason reason;
  } own = {ksp->pc, ksp->work, ksp->vec_sol, ksp->vec_rhs, ksp->max_it, ksp->its, ksp->guess_zero, ksp->reason};
  PetscReal          found[2];
  const PetscScalar *array;

  PetscFunctionBegin;
  ksp->pc         = pc;
  ksp->work       = work;
  ksp->vec_sol    = x;
  ksp->vec_rhs    = b;
  ksp->guess_zero = PETSC_TRUE;
  for (int k = 0; k < (amb->fourth ? 1 : 2); k++) {
    ksp->max_it = k + 1;
    PetscCall(VecSet(x, 0.0));
    PetscCall((*amb->base.solve)(ksp));
    PetscCall(VecGetArrayRead(x, &array));
    found[k] = PetscRealPart(array[0]);
    PetscCall(VecRestoreArrayRead(x, &array));
  }
  ksp->pc         = own.pc;
  ksp->work       = own.work;
  ksp->vec_sol    = own.x;
  ksp->vec_rhs    = own.b;
  ksp->max_it     = own.max_it;
  ksp->its        = own.its;
  ksp->guess_zero = own.guess_zero;
  ksp->reason     = own.reason;
  amb->scale      = amb->fourth ? 0.75 * found[0] : found[0];
  if (!amb->fourth) amb->quarter = 0.5 - found[0] / found[1]; /* omega is 1 / (1 - 2 quarter) */
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPAMBChebyshevBounds(KSP ksp, KSPAMB *amb)
{
  Vec v[5];
  Mat A;
  PC  pc;

  PetscFunctionBegin;
  if (amb->bounds) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatCreateConstantDiagonal(PETSC_COMM_SELF, 1, 1, 1, 1, 0.0, &A));
  PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
  PetscCall(PCSetType(pc, PCNONE));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetUp(pc));
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, 1, &v[0]));
  for (int k = 1; k < 5; k++) PetscCall(VecDuplicate(v[0], &v[k]));
  PetscCall(VecSet(v[4], 1.0));
  PetscCall(KSPAMBChebyshevProbe(ksp, amb, pc, v, v[3], v[4]));
  for (int k = 0; k < 5; k++) PetscCall(VecDestroy(&v[k]));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  amb->bounds = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- the solve ------------------------------------------------- */

static PetscErrorCode KSPAMBChebyshevServes(KSP ksp, KSPAMB *amb, const char **why)
{
  PetscFunctionBegin;
  PetscCall(KSPAMBCheckPC(ksp, amb));
  if (amb->optimized) *why = "the polynomials are of the optimized fourth kind";
  else if (ksp->normtype != KSP_NORM_NONE) *why = "norms are wanted";
  else if (ksp->err_hist) *why = "a history of errors is wanted";
  else if (amb->kind == FUSED_OTHER && !amb->sweeps) *why = "no pass applies the preconditioner";
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The factors of step i, as FusedKernels has them. A step of the fourth kind adds (2 i - 1) / (2 i + 3) of the last step: the next iterate is one of the last two again. */
static void KSPAMBChebyshevFactors(const KSPAMB *amb, PetscInt i, PetscReal *omega, FusedPass *pass)
{
  if (amb->fourth) {
    const PetscReal last = (2.0 * (PetscReal)i - 1.0) / (2.0 * (PetscReal)i + 3.0);

    pass->a = amb->scale * (8.0 * (PetscReal)i + 4.0) / (2.0 * (PetscReal)i + 3.0);
    pass->b = i ? 1.0 + last : 1.0;
    pass->c = i ? -last : 0.0;
  } else {
    if (i) *omega = 1.0 / (1.0 - *omega * amb->quarter);
    pass->a = i ? *omega * amb->scale : amb->scale;
    pass->b = i ? *omega : 1.0;
    pass->c = i ? 1.0 - *omega : 0.0;
  }
}

PetscErrorCode KSPAMBChebyshevIterate(KSP ksp, KSPAMB *amb, PetscErrorCode (*step)(KSP, KSPAMB *, Mat, FusedPass *, const Vec v[], void *), void *ctx)
{
  const Vec x = ksp->vec_sol, other = ksp->work[0];
  Vec       v[FUSED_VECTORS] = {NULL}, now = x;
  FusedPass pass  = {.kind = FUSED_NONE};
  PetscReal omega = 2.0; /* the recurrence begins here, though the first step has no such factor */
  Mat       A;

  PetscFunctionBegin;
  ksp->its = 0;
  if (!ksp->max_it) {
    ksp->reason = KSP_DIVERGED_ITS;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(KSPAMBChebyshevBounds(ksp, amb));
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  v[FUSED_R] = ksp->vec_rhs;
  v[FUSED_W] = ksp->work[2];
  for (PetscInt i = 0; i < ksp->max_it; i++) {
    KSPAMBChebyshevFactors(amb, i, &omega, &pass);
    v[FUSED_Z] = v[FUSED_P];
    v[FUSED_P] = i || !ksp->guess_zero ? now : NULL;
    v[FUSED_X] = i == ksp->max_it - 1 || now == other ? x : other; /* in the place of the iterate before p, but for the last one */
    PetscCall((*step)(ksp, amb, A, &pass, v, ctx));
    now = v[FUSED_X];
  }
  ksp->its    = ksp->max_it;
  ksp->reason = KSP_CONVERGED_ITS;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPAMBChebyshevStep(KSP ksp, KSPAMB *amb, Mat A, FusedPass *pass, const Vec v[], void *ctx)
{
  PetscFunctionBegin;
  if (v[FUSED_P]) PetscCall(KSP_MatMult(ksp, A, v[FUSED_P], v[FUSED_W]));
  PetscCall(KSPAMBRun(ksp, amb, amb->kernels->chebyshev, pass, v, KSPAMB_WRITES(X) | KSPAMB_WRITES(W), 6 + (int)amb->bs, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPAMBChebyshevSolve(KSP ksp, KSPAMB *amb)
{
  PetscFunctionBegin;
  PetscCall(KSPAMBChebyshevIterate(ksp, amb, KSPAMBChebyshevStep, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- the type ------------------------------------------------- */

/* The set-up finds the bounds, and may choose another solve, by the kind of the polynomials. It is called with new matrices too. */
static PetscErrorCode KSPSetUp_AMBChebyshev(KSP ksp)
{
  PetscErrorCode (*getkind)(KSP, int *);
  int     kind = 0; /* the first one; as long as an enumeration */
  KSPAMB *amb;

  PetscFunctionBegin;
  PetscCall(KSPAMBGet(ksp, &amb));
  PetscCall((*amb->base.setup)(ksp));
  if (ksp->ops->solve != KSPSolve_AMB) amb->base.solve = ksp->ops->solve;
  ksp->ops->solve = KSPSolve_AMB;
  amb->bounds     = PETSC_FALSE;
  PetscCall(PetscObjectQueryFunction((PetscObject)ksp, "KSPChebyshevGetKind_C", &getkind));
  if (getkind) PetscCall((*getkind)(ksp, &kind));
  amb->fourth    = (PetscBool)(kind == 1);
  amb->optimized = (PetscBool)(kind > 1);
  PetscCall(PetscMemzero(&amb->kept, sizeof(amb->kept)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPChebyshevSetEigenvalues_AMBChebyshev(KSP ksp, PetscReal emax, PetscReal emin)
{
  KSPAMB *amb;

  PetscFunctionBegin;
  PetscCall(KSPAMBGet(ksp, &amb));
  amb->bounds = PETSC_FALSE;
  PetscCall((*amb->seteigenvalues)(ksp, emax, emin));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPChebyshevEstEigSet_AMBChebyshev(KSP ksp, PetscReal a, PetscReal b, PetscReal c, PetscReal d)
{
  KSPAMB *amb;

  PetscFunctionBegin;
  PetscCall(KSPAMBGet(ksp, &amb));
  amb->bounds = PETSC_FALSE;
  PetscCall((*amb->setestimate)(ksp, a, b, c, d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   KSPAMBCHEBYSHEV - "ambchebyshev" - the Chebyshev iterations of `KSPCHEBYSHEV`, as smoothers of multigrid make them, with one pass over vectors in a step

   Options Database Key:
.  -petscamb_for_ksp - every `KSPCG`, `KSPBCGS`, `KSPGMRES`, `KSPFGMRES` and `KSPCHEBYSHEV` of a program becomes a type of petsc-amb; without the option, the `KSPCHEBYSHEV` of matrices of petsc-amb on a GPU

   Level: intermediate

   Notes:
   Functions and options of `KSPCHEBYSHEV` work unchanged; results differ by rounding.

   `KSPCHEBYSHEV` itself makes the solve, and `-info` reports it, if the solve computes a norm (see `KSPSetNormType()`), the preconditioner is not `PCNONE`, `PCJACOBI` or
   `PCPBJACOBI` with blocks of at most 32 rows, the polynomials are of the optimized fourth kind, the operator has a null space, the solve is transposed, scalars are complex,
   or the vectors have operations of the program.

   Polynomials of the fourth kind (`-ksp_chebyshev_kind fourth`, of PETSc 3.19 and newer) take the same passes and the same time as those of the first kind.

   `PCGAMG` passes its estimates of eigenvalues to smoothers of the type `KSPCHEBYSHEV`. It does not know this type, so each level computes another estimate.
   With `-petscamb_for_ksp`, and by default on a GPU, smoothers keep the name of their type and get the estimates of `PCGAMG`.

   Example:
.vb
   bin/solve -f matrix.mtx -mat_type amb -ksp_type cg -pc_type gamg -petscamb_for_ksp -ksp_view
.ve

   References:
.  * - J. Lottes, "Optimal polynomial smoothers for multigrid V-cycles", Numer. Linear Algebra Appl. 30 (2023): the fourth kind

.seealso: `KSPCHEBYSHEV`, `KSPAMBCG`, `KSPAMBBCGS`, `PCAMBINVERSE`, `PCMG`, `PCGAMG`
M*/
static PetscErrorCode KSPCreate_AMBChebyshev(KSP ksp)
{
  KSPAMB *amb;

  PetscFunctionBegin;
  PetscCall(KSPAMBExtend(ksp, KSPCHEBYSHEV, KSPAMBChebyshevSolve, &amb));
  amb->solvedevice = KSPAMBChebyshevSolveDevice;
  amb->serves      = KSPAMBChebyshevServes;
  amb->local       = PETSC_TRUE;
  amb->keep        = PETSC_TRUE;
  ksp->ops->setup  = KSPSetUp_AMBChebyshev;
  PetscCall(PetscObjectQueryFunction((PetscObject)ksp, "KSPChebyshevSetEigenvalues_C", &amb->seteigenvalues));
  PetscCall(PetscObjectQueryFunction((PetscObject)ksp, "KSPChebyshevEstEigSet_C", &amb->setestimate));
  PetscCall(PetscObjectComposeFunction((PetscObject)ksp, "KSPChebyshevSetEigenvalues_C", KSPChebyshevSetEigenvalues_AMBChebyshev));
  PetscCall(PetscObjectComposeFunction((PetscObject)ksp, "KSPChebyshevEstEigSet_C", KSPChebyshevEstEigSet_AMBChebyshev));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPCreate_AMBChebyshev_Chosen(KSP ksp)
{
  return KSPAMBCreateChosen(ksp, KSPCHEBYSHEV, PETSC_TRUE, KSPCreate_AMBChebyshev);
}

PetscErrorCode KSPAMBChebyshevRegister(void)
{
  PetscFunctionBegin;
  PetscCall(KSPAMBRegisterType(KSPAMBCHEBYSHEV, KSPCHEBYSHEV, KSPCreate_AMBChebyshev, KSPCreate_AMBChebyshev_Chosen));
  PetscFunctionReturn(PETSC_SUCCESS);
}
