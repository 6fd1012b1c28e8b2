/* SPDX-License-Identifier: BSD-2-Clause */
/*
   KSPAMBBCGS, BiCGStab on fused passes. The half step r - alpha v takes the place of r. The mathematics, the tests and their order equal PETSc's bcgs.
*/
#include "ksp/ksp/impls/ambbcgs/ambbcgs.h"

PetscErrorCode KSPAMBBCGSRegister(void);

/* to = K from, where K is the matrix with the preconditioner from its side. Where passes apply M, the last one has made z = M from, or the next one does so. */
static PetscErrorCode KSPAMBBCGSOperator(KSP ksp, KSPAMB *amb, Mat A, Vec from, Vec z, Vec to, Vec work)
{
  PetscFunctionBegin;
  if (amb->kind == FUSED_OTHER) PetscCall(KSP_PCApplyBAorAB(ksp, from, to, work));
  else PetscCall(KSP_MatMult(ksp, A, z ? z : from, to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPAMBBCGSFail(KSP ksp, const char error[], const char info[])
{
  PetscFunctionBegin;
  PetscCheck(!ksp->errorifnotconverged, PetscObjectComm((PetscObject)ksp), PETSC_ERR_NOT_CONVERGED, "%s", error);
  ksp->reason = KSP_DIVERGED_BREAKDOWN;
  PetscCall(PetscInfo(ksp, "%s\n", info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* t is 0. If r is 0 too, then the solution is x + alpha p. */
PetscErrorCode KSPAMBBCGSLast(KSP ksp, PetscInt i, PetscReal rr, PetscReal alpha, Vec p, PetscReal dp)
{
  PetscFunctionBegin;
  if (rr != 0.0) PetscCall(KSPAMBBCGSFail(ksp, "KSPSolve has failed due to singular preconditioned operator", "Failed due to singular preconditioned operator"));
  else {
    PetscCall(VecAXPY(ksp->vec_sol, alpha, p));
    ksp->its++;
    ksp->rnorm  = 0.0;
    ksp->reason = KSP_CONVERGED_RTOL;
    PetscCall(KSPLogResidualHistory(ksp, dp));
    PetscCall(KSPMonitor(ksp, i + 1, 0.0));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPAMBBCGSStart(KSP ksp, KSPAMB *amb, const Vec v[])
{
  PetscFunctionBegin;
  PetscCall(KSPInitialResidual(ksp, v[FUSED_X], v[FUSED_V], v[FUSED_T], v[FUSED_R], ksp->vec_rhs));
  if (ksp->pc_side == PC_RIGHT && !ksp->guess_zero) {
    if (!amb->guess) PetscCall(VecDuplicate(v[FUSED_X], &amb->guess));
    PetscCall(VecCopy(v[FUSED_X], amb->guess));
    PetscCall(VecSet(v[FUSED_X], 0.0));
  } else PetscCall(VecDestroy(&amb->guess));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPAMBBCGSFinish(KSP ksp, KSPAMB *amb, const Vec v[])
{
  PetscFunctionBegin;
  PetscCall(KSPUnwindPreconditioner(ksp, v[FUSED_X], v[FUSED_T]));
  if (amb->guess) PetscCall(VecAXPY(v[FUSED_X], 1.0, amb->guess));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPAMBBCGSSolve(KSP ksp, KSPAMB *amb)
{
  const FusedKernels *k      = amb->kernels;
  const PetscBool     passes = (PetscBool)(amb->kind == FUSED_POINT || amb->kind == FUSED_BLOCKS), right = (PetscBool)(ksp->pc_side == PC_RIGHT);
  const int           pc               = passes ? 2 * (int)amb->bs - 1 : 0; /* operations to apply the preconditioner to an entry */
  const unsigned      z                = passes && right ? KSPAMB_WRITES(Z) : 0;
  FusedPass           pass             = {.kind = FUSED_NONE};
  Vec                 v[FUSED_VECTORS] = {NULL}, r[FUSED_VECTORS] = {NULL};
  PetscReal           rho, rhoold = 1.0, alpha = 1.0, beta, omega = 1.0, dp = 0.0, d1;
  SysReal             sums[FUSED_SUMS];
  PetscInt            i = 0;
  Mat                 A;

  PetscFunctionBegin;
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  v[FUSED_X] = ksp->vec_sol;
  v[FUSED_R] = ksp->work[0];
  v[FUSED_Q] = ksp->work[1];
  v[FUSED_V] = ksp->work[2];
  v[FUSED_T] = ksp->work[3];
  v[FUSED_Z] = z ? ksp->work[4] : NULL;
  v[FUSED_P] = ksp->work[5];
  PetscCall(KSPAMBBCGSStart(ksp, amb, v));
  r[FUSED_P] = r[FUSED_W] = v[FUSED_R];
  PetscCall(KSPAMBRun(ksp, amb, k->dot, &pass, r, 0, 2, sums));
  PetscCall(KSPAMBReduce(ksp, amb, 1, sums));
  rho = sums[0];
  if (ksp->normtype != KSP_NORM_NONE) {
    dp = PetscSqrtReal(rho);
    KSPCheckNorm(ksp, dp);
  }
  PetscCall(KSPAMBTest(ksp, 0, dp));
  if (ksp->reason) {
    if (amb->guess) PetscCall(VecAXPY(v[FUSED_X], 1.0, amb->guess));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecCopy(v[FUSED_R], v[FUSED_Q]));
  do {
    beta   = i ? (rho / rhoold) * (alpha / omega) : 0.0;
    pass.b = beta;
    pass.c = -omega * beta;
    PetscCall(KSPAMBRun(ksp, amb, k->bidirection, &pass, v, KSPAMB_WRITES(P) | z, 4 + (z ? pc : 0), NULL));
    PetscCall(KSPAMBBCGSOperator(ksp, amb, A, v[FUSED_P], v[FUSED_Z], v[FUSED_V], v[FUSED_T]));
    PetscCall(KSPAMBRun(ksp, amb, k->bishadow, &pass, v, KSPAMB_WRITES(V), 2 + (z ? 0 : pc), sums));
    PetscCall(KSPAMBReduce(ksp, amb, 1, sums));
    d1 = sums[0];
    KSPCheckDot(ksp, d1);
    if (d1 == 0.0) {
      PetscCall(KSPAMBBCGSFail(ksp, "KSPSolve breakdown due to zero inner product", "Breakdown due to zero inner product"));
      break;
    }
    alpha  = rho / d1;
    pass.a = alpha;
    PetscCall(KSPAMBRun(ksp, amb, k->bihalf, &pass, v, KSPAMB_WRITES(R) | z, 2 + (z ? pc : 0), NULL));
    PetscCall(KSPAMBBCGSOperator(ksp, amb, A, v[FUSED_R], v[FUSED_Z], v[FUSED_T], ksp->work[4]));
    PetscCall(KSPAMBRun(ksp, amb, k->bidots, &pass, v, KSPAMB_WRITES(T), 6 + (z ? 0 : pc), sums));
    PetscCall(KSPAMBReduce(ksp, amb, 3, sums));
    if (sums[1] == 0.0) {
      PetscCall(KSPAMBBCGSLast(ksp, i, sums[2], alpha, v[FUSED_P], dp));
      break;
    }
    omega  = sums[0] / sums[1];
    pass.b = omega;
    PetscCall(KSPAMBRun(ksp, amb, k->bistep, &pass, v, KSPAMB_WRITES(X) | KSPAMB_WRITES(R), 10, sums));
    PetscCall(KSPAMBReduce(ksp, amb, 2, sums));
    if (ksp->normtype != KSP_NORM_NONE && ksp->chknorm < i + 2) {
      dp = PetscSqrtReal(sums[1]);
      KSPCheckNorm(ksp, dp);
    }
    rhoold = rho;
    rho    = sums[0];
    PetscCall(KSPAMBTest(ksp, i + 1, dp));
    if (ksp->reason) break;
    if (rhoold == 0.0) {
      PetscCall(KSPAMBBCGSFail(ksp, "KSPSolve breakdown due to zero inner product", "Breakdown due to zero rho inner product"));
      break;
    }
    i++;
  } while (i < ksp->max_it);
  if (i >= ksp->max_it) ksp->reason = KSP_DIVERGED_ITS;
  PetscCall(KSPAMBBCGSFinish(ksp, amb, v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With a preconditioner from the right, the vector that the iterations make is not yet the solution */
static PetscErrorCode KSPBuildSolution_AMBBCGS(KSP ksp, Vec v, Vec *V)
{
  KSPAMB *amb;

  PetscFunctionBegin;
  PetscCall(KSPAMBGet(ksp, &amb));
  if (amb->fused && ksp->pc_side == PC_RIGHT) {
    PetscCheck(v, PetscObjectComm((PetscObject)ksp), PETSC_ERR_SUP, "With a preconditioner from the right, KSPBuildSolution() needs a vector for the solution");
    PetscCall(KSP_PCApply(ksp, ksp->vec_sol, v));
    if (amb->guess) PetscCall(VecAXPY(v, 1.0, amb->guess));
    *V = v;
  } else PetscCall((*amb->base.buildsolution)(ksp, v, V));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   KSPAMBBCGS - "ambbcgs" - the BiCGStab method of `KSPBCGS` in fewer passes over vectors, by several threads in every process

   Options Database Key:
.  -petscamb_for_ksp - every `KSPCG`, `KSPBCGS`, `KSPGMRES`, `KSPFGMRES` and `KSPCHEBYSHEV` of a program becomes a type of petsc-amb

   Level: intermediate

   Notes:
   Functions and options of `KSPBCGS` work unchanged; results differ by rounding.

   `PCNONE`, `PCJACOBI` and `PCPBJACOBI` are applied in a pass that does other work. Other preconditioners are applied as `KSPBCGS` does.

   `KSPBCGS` itself makes the solve, and `-info` reports it, if scalars are complex, the vectors are not of the types `VECSEQ` or `VECMPI` or have operations of
   the program, or the solve is transposed.

   The type solves with vectors of the types `VECSEQCUDA` and `VECMPICUDA` as `KSPAMBCG` does.

   Example:
.vb
   bin/solve -f matrix.mtx -mat_type amb -ksp_type ambbcgs -pc_type jacobi -ksp_view
.ve

.seealso: `KSPBCGS`, `KSPAMBCG`, `KSPAMBCHEBYSHEV`
M*/
static PetscErrorCode KSPCreate_AMBBCGS(KSP ksp)
{
  KSPAMB *amb;

  PetscFunctionBegin;
  PetscCall(KSPAMBExtend(ksp, KSPBCGS, KSPAMBBCGSSolve, &amb));
  amb->solvedevice        = KSPAMBBCGSSolveDevice;
  ksp->ops->buildsolution = KSPBuildSolution_AMBBCGS;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPCreate_AMBBCGS_Chosen(KSP ksp)
{
  return KSPAMBCreateChosen(ksp, KSPBCGS, PETSC_FALSE, KSPCreate_AMBBCGS);
}

PetscErrorCode KSPAMBBCGSRegister(void)
{
  PetscFunctionBegin;
  PetscCall(KSPAMBRegisterType(KSPAMBBCGS, KSPBCGS, KSPCreate_AMBBCGS, KSPCreate_AMBBCGS_Chosen));
  PetscFunctionReturn(PETSC_SUCCESS);
}
