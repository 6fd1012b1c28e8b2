/* SPDX-License-Identifier: BSD-2-Clause */
/*
   KSPAMBCG, conjugate gradients on fused passes. An iteration of PETSc's cg reads and writes vectors in seven operations; here it needs three passes: one
   computes the direction, one the dot product after the product, one updates solution and residual, applies the preconditioner and computes all other sums.

   The mathematics, the tests and their order equal PETSc's cg.
*/
#include "ksp/ksp/impls/ambcg/ambcg.h"

PetscErrorCode KSPAMBCGRegister(void);

/* z = M r and the sums of this process */
static PetscErrorCode KSPAMBCGPrecondition(KSP ksp, KSPAMB *amb, FusedPass *pass, const Vec v[], SysReal sums[])
{
  PetscFunctionBegin;
  if (amb->kind == FUSED_OTHER) PetscCall(KSP_PCApply(ksp, v[FUSED_R], v[FUSED_Z]));
  PetscCall(KSPAMBRun(ksp, amb, amb->kernels->apply, pass, v, amb->kind == FUSED_OTHER || amb->kind == FUSED_NONE ? 0 : KSPAMB_WRITES(Z), 6 + (int)amb->bs, sums));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The sum of p.w, for any two vectors, which the caller passes as p and w */
static PetscErrorCode KSPAMBCGDot(KSP ksp, KSPAMB *amb, FusedPass *pass, Vec p, Vec w, SysReal *dot)
{
  Vec     v[FUSED_VECTORS] = {NULL};
  SysReal sums[FUSED_SUMS];

  PetscFunctionBegin;
  v[FUSED_P] = p;
  v[FUSED_W] = w;
  PetscCall(KSPAMBRun(ksp, amb, amb->kernels->dot, pass, v, 0, 2, sums));
  *dot = sums[0];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The part before the first direction, of both forms; returns with a reason if there is nothing to iterate. Sums are over all processes. */
static PetscErrorCode KSPAMBCGStart(KSP ksp, KSPAMB *amb, FusedPass *pass, const Vec v[], SysReal sums[])
{
  /* A preconditioner that costs a pass of its own is not applied before the norm says that it has to be */
  const PetscBool early = (PetscBool)(amb->kind != FUSED_OTHER || ksp->normtype == KSP_NORM_PRECONDITIONED || ksp->normtype == KSP_NORM_NATURAL);
  PetscReal       dp;
  Mat             A;

  PetscFunctionBegin;
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  ksp->its = 0;
  PetscCall(KSPAMBResidual(ksp, A, v[FUSED_R]));
  PetscCall(KSPAMBPoison(amb, v[FUSED_R]));
  if (early) {
    PetscCall(KSPAMBCGPrecondition(ksp, amb, pass, v, sums));
    PetscCall(KSPAMBReduce(ksp, amb, 3, sums));
  } else if (ksp->normtype == KSP_NORM_UNPRECONDITIONED) {
    PetscCall(KSPAMBCGDot(ksp, amb, pass, v[FUSED_R], v[FUSED_R], &sums[2]));
    PetscCall(KSPAMBReduce(ksp, amb, 1, &sums[2]));
  }
  dp = KSPAMBCGNorm(ksp, sums);
  KSPCheckNorm(ksp, dp);
  PetscCall(KSPAMBCGObjective(ksp, amb, v[FUSED_R]));
  PetscCall(KSPAMBTest(ksp, 0, dp));
  if (ksp->reason) PetscFunctionReturn(PETSC_SUCCESS);
  if (!early) {
    PetscCall(KSPAMBCGPrecondition(ksp, amb, pass, v, sums));
    PetscCall(KSPAMBReduce(ksp, amb, 3, sums));
  }
  KSPCheckDot(ksp, sums[0]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPAMBCGSolve(KSP ksp, KSPAMB *amb)
{
  FusedPass       pass             = {.kind = FUSED_NONE};
  Vec             v[FUSED_VECTORS] = {NULL};
  const PetscBool other            = (PetscBool)(amb->kind == FUSED_OTHER);
  PetscReal       beta, betaold = 1.0, dpi = 0.0, dpiold, dp;
  SysReal         sums[FUSED_SUMS] = {0};
  PetscInt        i                = 0;
  Mat             A;

  PetscFunctionBegin;
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  v[FUSED_X] = ksp->vec_sol;
  v[FUSED_R] = ksp->work[0];
  v[FUSED_Z] = amb->kind == FUSED_NONE ? ksp->work[0] : ksp->work[1];
  v[FUSED_P] = ksp->work[2];
  v[FUSED_W] = ksp->work[1]; /* the pass that writes z has read w */
  PetscCall(KSPAMBCGStart(ksp, amb, &pass, v, sums));
  if (ksp->reason) PetscFunctionReturn(PETSC_SUCCESS);
  beta = sums[0];
  do {
    const PetscBool wanted = KSPAMBCGNormWanted(ksp, i + 1), early = (PetscBool)(wanted && ksp->normtype != KSP_NORM_UNPRECONDITIONED);

    ksp->its = i + 1;
    PetscCall(KSPAMBCGCheckBeta(ksp, i, beta, betaold));
    if (ksp->reason) break;
    pass.b = i ? beta / betaold : 0.0;
    PetscCall(KSPAMBRun(ksp, amb, amb->kernels->direction, &pass, v, KSPAMB_WRITES(P), 2, NULL));
    PetscCall(KSP_MatMult(ksp, A, v[FUSED_P], v[FUSED_W]));
    dpiold = dpi;
    PetscCall(KSPAMBCGDot(ksp, amb, &pass, v[FUSED_P], v[FUSED_W], &dpi));
    PetscCall(KSPAMBReduce(ksp, amb, 1, &dpi));
    KSPCheckDot(ksp, dpi);
    betaold = beta;
    if (dpi == 0.0 || (i > 0 && PetscSign(dpi) * PetscSign(dpiold) < 0.0)) {
      PetscCall(KSPAMBCGIndefiniteMat(ksp, dpi, dpiold));
      break;
    }
    pass.a = beta / dpi;
    PetscCall(KSPAMBRun(ksp, amb, amb->kernels->step, &pass, v, KSPAMB_WRITES(X) | KSPAMB_WRITES(R) | (other ? 0 : KSPAMB_WRITES(Z)), other ? 6 : 10 + (int)amb->bs, sums));
    if (!other) PetscCall(KSPAMBReduce(ksp, amb, 3, sums));
    else if (early) {
      PetscCall(KSPAMBCGPrecondition(ksp, amb, &pass, v, sums));
      PetscCall(KSPAMBReduce(ksp, amb, 3, sums));
    } else if (wanted) PetscCall(KSPAMBReduce(ksp, amb, 1, &sums[2]));
    dp = wanted ? KSPAMBCGNorm(ksp, sums) : 0.0;
    KSPCheckNorm(ksp, dp);
    amb->objective -= 0.5 * pass.a * betaold;
    PetscCall(KSPAMBTest(ksp, i + 1, dp));
    if (ksp->reason) break;
    if (other && !early) {
      PetscCall(KSPAMBCGPrecondition(ksp, amb, &pass, v, sums));
      PetscCall(KSPAMBReduce(ksp, amb, 3, sums));
    }
    beta = sums[0];
    KSPCheckDot(ksp, beta);
    i++;
  } while (i < ksp->max_it);
  if (i >= ksp->max_it) ksp->reason = KSP_DIVERGED_ITS;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- the form with a single reduction ------------------------------------------------- */

/* s = A z, and over all processes the sums of the last pass and the product of z and s. The processes update the solution while the sums travel. */
static PetscErrorCode KSPAMBCGProduct(KSP ksp, KSPAMB *amb, Mat A, FusedPass *pass, const Vec v[], PetscBool update, SysReal sums[4])
{
  Vec         u[FUSED_VECTORS] = {NULL};
  MPI_Request request;

  PetscFunctionBegin;
  PetscCall(KSP_MatMult(ksp, A, v[FUSED_Z], v[FUSED_S]));
  PetscCall(KSPAMBCGDot(ksp, amb, pass, v[FUSED_Z], v[FUSED_S], &sums[3]));
  PetscCall(KSPAMBReduceBegin(ksp, amb, 4, sums, &request));
  if (update) {
    u[FUSED_X] = v[FUSED_X];
    u[FUSED_P] = v[FUSED_P];
    PetscCall(KSPAMBRun(ksp, amb, amb->kernels->update, pass, u, KSPAMB_WRITES(X), 2, NULL));
  }
  PetscCall(KSPAMBReduceEnd(ksp, amb, &request));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPAMBCGSolveSingle(KSP ksp, KSPAMB *amb)
{
  FusedPass       pass             = {.kind = FUSED_NONE};
  Vec             v[FUSED_VECTORS] = {NULL}, u[FUSED_VECTORS];
  const PetscBool other            = (PetscBool)(amb->kind == FUSED_OTHER);
  PetscReal       beta, delta, betaold = 1.0, dpi = 0.0, dpiold, dp;
  SysReal         sums[FUSED_SUMS + 1] = {0};
  PetscInt        i                    = 0;
  Mat             A;

  PetscFunctionBegin;
  PetscCheck(ksp->nwork == 5, PetscObjectComm((PetscObject)ksp), PETSC_ERR_COR, "Unexpected number of work vectors %" PetscInt_FMT " != 5", ksp->nwork);
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  v[FUSED_X] = ksp->vec_sol;
  v[FUSED_R] = ksp->work[0];
  v[FUSED_Z] = amb->kind == FUSED_NONE ? ksp->work[0] : ksp->work[1];
  v[FUSED_P] = ksp->work[2];
  v[FUSED_S] = ksp->work[3];
  v[FUSED_W] = ksp->work[4];
  PetscCall(KSPAMBCGStart(ksp, amb, &pass, v, sums));
  if (ksp->reason) PetscFunctionReturn(PETSC_SUCCESS);
  beta = sums[0];
  PetscCall(KSP_MatMult(ksp, A, v[FUSED_Z], v[FUSED_S]));
  PetscCall(KSPAMBCGDot(ksp, amb, &pass, v[FUSED_Z], v[FUSED_S], &delta));
  PetscCall(KSPAMBReduce(ksp, amb, 1, &delta));
  do {
    /* The product comes before the test if the norm can share its reduction; a preconditioner of another type is applied after the test, as PETSc does */
    const PetscBool wanted = KSPAMBCGNormWanted(ksp, i + 1), early = (PetscBool)(wanted && !(other && ksp->normtype == KSP_NORM_UNPRECONDITIONED));
    const PetscBool hide = (PetscBool)(early && amb->nproc > 1);

    ksp->its = i + 1;
    PetscCall(KSPAMBCGCheckBeta(ksp, i, beta, betaold));
    if (ksp->reason) break;
    dpiold = dpi;
    pass.b = i ? beta / betaold : 0.0;
    if (i) dpi = delta - beta * beta * dpiold / (betaold * betaold);
    else {
      PetscCall(KSPAMBRun(ksp, amb, amb->kernels->direction, &pass, v, KSPAMB_WRITES(P), 0, NULL));
      PetscCall(VecCopy(v[FUSED_S], v[FUSED_W]));
      dpi = delta;
    }
    betaold = beta;
    KSPCheckDot(ksp, beta);
    if (dpi == 0.0 || (i > 0 && dpi * dpiold <= 0.0)) {
      PetscCall(KSPAMBCGIndefiniteMat(ksp, dpi, dpiold));
      break;
    }
    pass.a = beta / dpi;
    PetscCall(PetscArraycpy(u, v, FUSED_VECTORS));
    if (hide) u[FUSED_X] = NULL;
    PetscCall(
      KSPAMBRun(ksp, amb, i ? amb->kernels->single : amb->kernels->step, &pass, u, KSPAMB_WRITES(X) | KSPAMB_WRITES(R) | KSPAMB_WRITES(P) | KSPAMB_WRITES(W) | (other ? 0 : KSPAMB_WRITES(Z)), (i ? 4 : 0) + (hide ? 0 : 2) + (other ? 4 : 8 + (int)amb->bs), sums));
    if (early) {
      if (other) PetscCall(KSPAMBCGPrecondition(ksp, amb, &pass, v, sums));
      PetscCall(KSPAMBCGProduct(ksp, amb, A, &pass, v, hide, sums));
    } else if (wanted) PetscCall(KSPAMBReduce(ksp, amb, 1, &sums[2]));
    dp = wanted ? KSPAMBCGNorm(ksp, sums) : 0.0;
    KSPCheckNorm(ksp, dp);
    PetscCall(KSPAMBTest(ksp, i + 1, dp));
    if (ksp->reason) break;
    if (!early) {
      if (other) PetscCall(KSPAMBCGPrecondition(ksp, amb, &pass, v, sums));
      PetscCall(KSPAMBCGProduct(ksp, amb, A, &pass, v, PETSC_FALSE, sums));
    }
    beta  = sums[0];
    delta = sums[3];
    KSPCheckDot(ksp, beta);
    i++;
  } while (i < ksp->max_it);
  if (i >= ksp->max_it) ksp->reason = KSP_DIVERGED_ITS;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- the type ------------------------------------------------- */

static PetscErrorCode KSPAMBCGSolveEither(KSP ksp, KSPAMB *amb)
{
  PetscFunctionBegin;
  if (amb->single) PetscCall(KSPAMBCGSolveSingle(ksp, amb));
  else PetscCall(KSPAMBCGSolve(ksp, amb));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPCGGetObjFcn_AMBCG(KSP ksp, PetscReal *objective)
{
  KSPAMB *amb;

  PetscFunctionBegin;
  PetscCall(KSPAMBGet(ksp, &amb));
  if (amb->fused) *objective = amb->objective;
  else PetscCall((*amb->getobjective)(ksp, objective));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc offers the objective function for the plain form only */
static PetscErrorCode KSPAMBCGComposeObjective(KSP ksp, KSPAMB *amb)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectQueryFunction((PetscObject)ksp, "KSPCGGetObjFcn_C", &amb->getobjective));
  if (amb->getobjective) PetscCall(PetscObjectComposeFunction((PetscObject)ksp, "KSPCGGetObjFcn_C", KSPCGGetObjFcn_AMBCG));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's function replaces the operation that solves */
static PetscErrorCode KSPCGUseSingleReduction_AMBCG(KSP ksp, PetscBool flag)
{
  KSPAMB *amb;

  PetscFunctionBegin;
  PetscCall(KSPAMBGet(ksp, &amb));
  PetscCall((*amb->usesingle)(ksp, flag));
  amb->single     = flag;
  amb->base.solve = ksp->ops->solve;
  ksp->ops->solve = KSPSolve_AMB;
  PetscCall(KSPAMBCGComposeObjective(ksp, amb));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPCGSetRadius_AMBCG(KSP ksp, PetscReal radius)
{
  KSPAMB *amb;

  PetscFunctionBegin;
  PetscCall(KSPAMBGet(ksp, &amb));
  amb->radius = radius;
  PetscCall((*amb->setradius)(ksp, radius));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPCGSetObjectiveTarget_AMBCG(KSP ksp, PetscReal target)
{
  KSPAMB *amb;

  PetscFunctionBegin;
  PetscCall(KSPAMBGet(ksp, &amb));
  amb->target = target;
  PetscCall((*amb->settarget)(ksp, target));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   KSPAMBCG - "ambcg" - the preconditioned conjugate gradient method of `KSPCG` in fewer passes over vectors, by several threads in every process

   Options Database Keys:
+  -ksp_cg_single_reduction - one reduction in an iteration, see `KSPCGUseSingleReduction()`
-  -petscamb_for_ksp        - every `KSPCG`, `KSPBCGS`, `KSPGMRES`, `KSPFGMRES` and `KSPCHEBYSHEV` of a program becomes a type of petsc-amb

   Level: intermediate

   Notes:
   Functions and options of `KSPCG` work unchanged; results differ by rounding.

   `PCNONE`, `PCJACOBI` and `PCPBJACOBI` are applied in the pass that updates the solution and the residual. Other preconditioners are applied as `KSPCG` does.

   `KSPCG` itself makes the solve, and `-info` reports it, if scalars are complex, the vectors are not of the types `VECSEQ` or `VECMPI` or have operations of
   the program, the solve is transposed, eigenvalues or singular values are computed, a trust region or an objective target is set, or negative curvature counts as
   convergence.

   `KSPMatSolve()` on the host iterates for up to 16 columns together if the matrix is an AIJ and the preconditioner is `PCNONE`, `PCJACOBI`, `PCPBJACOBI`, or a `PCMG` or
   `PCGAMG` whose finest smoothers are of the type `KSPCHEBYSHEV` with one of these. Each column has its own coefficients and its own end, and the iterations of `KSPSolve()` for it.
   `KSPGetConvergedReason()` and `KSPGetIterationNumber()` then return these of a column that diverged, or else of the one with the most iterations. `KSPSetMatSolveBatchSize()` bounds the memory.

   With `PCNONE`, `PCJACOBI` and `PCPBJACOBI` the type also solves with vectors of the type `VECSEQCUDA`, and with vectors of the type `VECMPICUDA` if the GPUs
   exchange entries without the host (see `MatShadowSetHalo()`). The host then queues iterations ahead of their results, unless a monitor or a convergence test of the
   program reads each.

   Example:
.vb
   bin/solve -f matrix.mtx -mat_type amb -ksp_type ambcg -pc_type jacobi -ksp_view
.ve

.seealso: `KSPCG`, `KSPAMBBCGS`, `KSPAMBCHEBYSHEV`, `KSPCGUseSingleReduction()`, `KSPMatSolve()`, `KSPSetMatSolveBatchSize()`
M*/
static PetscErrorCode KSPCreate_AMBCG(KSP ksp)
{
  KSPAMB *amb;

  PetscFunctionBegin;
  PetscCall(KSPAMBExtend(ksp, KSPCG, KSPAMBCGSolveEither, &amb));
  amb->solvedevice   = KSPAMBCGSolveDevice;
  amb->clear         = KSPAMBCGBlockClear;
  ksp->ops->matsolve = KSPMatSolve_AMBCG;
  PetscCall(PetscObjectQueryFunction((PetscObject)ksp, "KSPCGUseSingleReduction_C", &amb->usesingle));
  PetscCall(PetscObjectQueryFunction((PetscObject)ksp, "KSPCGSetRadius_C", &amb->setradius));
  PetscCall(PetscObjectQueryFunction((PetscObject)ksp, "KSPCGSetObjectiveTarget_C", &amb->settarget));
  PetscCall(PetscObjectComposeFunction((PetscObject)ksp, "KSPCGUseSingleReduction_C", KSPCGUseSingleReduction_AMBCG));
  if (amb->setradius) PetscCall(PetscObjectComposeFunction((PetscObject)ksp, "KSPCGSetRadius_C", KSPCGSetRadius_AMBCG));
  if (amb->settarget) PetscCall(PetscObjectComposeFunction((PetscObject)ksp, "KSPCGSetObjectiveTarget_C", KSPCGSetObjectiveTarget_AMBCG));
  PetscCall(KSPAMBCGComposeObjective(ksp, amb));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPCreate_AMBCG_Chosen(KSP ksp)
{
  return KSPAMBCreateChosen(ksp, KSPCG, PETSC_FALSE, KSPCreate_AMBCG);
}

PetscErrorCode KSPAMBCGRegister(void)
{
  PetscFunctionBegin;
  PetscCall(KSPAMBRegisterType(KSPAMBCG, KSPCG, KSPCreate_AMBCG, KSPCreate_AMBCG_Chosen));
  PetscFunctionReturn(PETSC_SUCCESS);
}
