/* SPDX-License-Identifier: BSD-2-Clause */
/*
   KSPAMBCHEBYSHEV, Chebyshev iterations as smoothers of multigrid make them: without norms, so that no process waits for another and the host does not wait for
   its GPU. Besides the product, a step is one pass: the residual, the preconditioner and the next iterate. The mathematics equals PETSc's chebyshev, whose set-up
   finds the bounds of the eigenvalues.
*/
#include "ksp/ksp/impls/ambchebyshev/ambchebyshev.h"

PetscErrorCode KSPAMBChebyshevRegister(void);

/* ------------------------------------------------- the bounds ------------------------------------------------- */

/* PETSc has no function that returns the bounds which its solve uses. KSPAMBChebyshevBounds() finds them in steps of this solve for a system of one row, with the
   preconditioner 1 and the right-hand side 1, and in most probes the matrix 0.
   First kind: the first iterate is the scale, and the second one is 2 omega times as much, where omega is the first factor of the iteration.
   Fourth kind: the first iterate is 4/3 of the scale, and no other number is needed.
   Optimized fourth kind: the solution is the sum of the directions d_i of the fourth kind, each times a beta_i. With the matrix 0, the increments of the iterates are
   multiples of scale beta_i. With another matrix, the second iterate differs by beta_1 scale^2 times known factors. */
typedef struct {
  Mat A;
  PC  pc;
  Vec work[3], x, b;
} KSPAMBChebyshevProbe;

static PetscErrorCode KSPAMBChebyshevProbeCreate(KSPAMBChebyshevProbe *probe)
{
  PetscFunctionBegin;
  PetscCall(MatCreateConstantDiagonal(PETSC_COMM_SELF, 1, 1, 1, 1, 0.0, &probe->A));
  PetscCall(PCCreate(PETSC_COMM_SELF, &probe->pc));
  PetscCall(PCSetType(probe->pc, PCNONE));
  PetscCall(PCSetOperators(probe->pc, probe->A, probe->A));
  PetscCall(PCSetUp(probe->pc));
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, 1, &probe->b));
  PetscCall(VecSet(probe->b, 1.0));
  PetscCall(VecDuplicate(probe->b, &probe->x));
  for (int k = 0; k < 3; k++) PetscCall(VecDuplicate(probe->b, &probe->work[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPAMBChebyshevProbeDestroy(KSPAMBChebyshevProbe *probe)
{
  PetscFunctionBegin;
  for (int k = 0; k < 3; k++) PetscCall(VecDestroy(&probe->work[k]));
  PetscCall(VecDestroy(&probe->x));
  PetscCall(VecDestroy(&probe->b));
  PetscCall(PCDestroy(&probe->pc));
  PetscCall(MatDestroy(&probe->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets *found to the iterate after this number of steps of PETSc's solve */
static PetscErrorCode KSPAMBChebyshevProbeSolve(KSP ksp, KSPAMB *amb, KSPAMBChebyshevProbe *probe, PetscInt steps, PetscReal *found)
{
  const struct {
    PC                 pc;
    Vec               *work, x, b;
    PetscInt           max_it, its;
    PetscBool          guess_zero;
    KSPConvergedReason reason;
  } own = {ksp->pc, ksp->work, ksp->vec_sol, ksp->vec_rhs, ksp->max_it, ksp->its, ksp->guess_zero, ksp->reason};
  const PetscScalar *array;

  PetscFunctionBegin;
  ksp->pc         = probe->pc;
  ksp->work       = probe->work;
  ksp->vec_sol    = probe->x;
  ksp->vec_rhs    = probe->b;
  ksp->guess_zero = PETSC_TRUE;
  ksp->max_it     = steps;
  PetscCall(VecSet(probe->x, 0.0));
  PetscCall((*amb->base.solve)(ksp));
  PetscCall(VecGetArrayRead(probe->x, &array));
  *found = PetscRealPart(array[0]);
  PetscCall(VecRestoreArrayRead(probe->x, &array));
  ksp->pc         = own.pc;
  ksp->work       = own.work;
  ksp->vec_sol    = own.x;
  ksp->vec_rhs    = own.b;
  ksp->max_it     = own.max_it;
  ksp->its        = own.its;
  ksp->guess_zero = own.guess_zero;
  ksp->reason     = own.reason;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Step i of the fourth kind adds to its direction direction times the last one, and residual times scale times the preconditioned residual */
static void KSPAMBChebyshevFourth(PetscInt i, PetscReal *direction, PetscReal *residual)
{
  *direction = i ? (2.0 * (PetscReal)i - 1.0) / (2.0 * (PetscReal)i + 3.0) : 0.0;
  *residual  = (8.0 * (PetscReal)i + 4.0) / (2.0 * (PetscReal)i + 3.0);
}

/* The factor of the residual after n steps, for an eigenvalue of this multiple of the upper bound */
static PetscReal KSPAMBChebyshevOptimized(PetscInt n, const PetscReal beta[], PetscReal eigenvalue)
{
  PetscReal d = 0.0, r = 1.0, x = 0.0, direction, residual;

  for (PetscInt i = 0; i < n; i++) {
    KSPAMBChebyshevFourth(i, &direction, &residual);
    r -= eigenvalue * d;
    d = direction * d + residual * r;
    x += beta[i] * d;
  }
  return 1.0 - eigenvalue * x;
}

/* A polynomial of the optimized fourth kind has as many roots between 0 and the upper bound as steps. A step of Richardson's iteration for each root has the same result,
   without the directions. In Leja's order, each root is as far from those before it as may be, so that rounding errors stay small. */
#define CHEBYSHEV_SAMPLES 256 /* of the angle whose squared sine is the eigenvalue; neighboring roots are at least pi / 33 apart */
static void KSPAMBChebyshevRoots(KSPAMB *amb, PetscInt n, const PetscReal beta[])
{
  PetscReal root[KSPAMB_DEGREE], low = 0.0, best, distance;
  PetscInt  nroot = 0, next = 0;

  for (int k = 1; k <= CHEBYSHEV_SAMPLES && nroot < n; k++) {
    const PetscReal angle = 0.5 * PETSC_PI * (PetscReal)k / CHEBYSHEV_SAMPLES, high = PetscSqr(PetscSinReal(angle));
    const PetscBool positive = (PetscBool)(KSPAMBChebyshevOptimized(n, beta, low) > 0.0);
    PetscReal       from = low, to = high;

    low = high;
    if (positive == (PetscBool)(KSPAMBChebyshevOptimized(n, beta, high) > 0.0)) continue;
    for (int halved = 0; halved < 64; halved++) {
      const PetscReal middle = 0.5 * (from + to);

      if (positive == (PetscBool)(KSPAMBChebyshevOptimized(n, beta, middle) > 0.0)) from = middle;
      else to = middle;
    }
    root[nroot++] = 0.5 * (from + to);
  }
  amb->nroot = nroot;
  for (PetscInt i = 0; i < nroot; i++) {
    best = -1.0;
    for (PetscInt k = 0; k < nroot; k++) {
      distance = i ? 1.0 : root[k];
      for (PetscInt before = 0; before < i; before++) distance *= PetscAbsReal(root[k] - amb->root[before]);
      if (distance <= best) continue;
      best = distance;
      next = k;
    }
    amb->root[i] = root[next];
  }
}

static PetscErrorCode KSPAMBChebyshevProbeOptimized(KSP ksp, KSPAMB *amb, KSPAMBChebyshevProbe *probe)
{
  const PetscInt n                   = ksp->max_it;
  PetscReal      beta[KSPAMB_DEGREE] = {0.0}, d = 0.0, x = 0.0, zero = 0.0, other, direction, residual; /* beta times the scale, d over it */

  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; i++) {
    const PetscReal last = x;

    PetscCall(KSPAMBChebyshevProbeSolve(ksp, amb, probe, i + 1, &x));
    KSPAMBChebyshevFourth(i, &direction, &residual);
    d       = direction * d + residual;
    beta[i] = (x - last) / d;
    if (i == 1) zero = x;
  }
  amb->scale = beta[0];
  if (n > 1) {
    PetscCall(MatShift(probe->A, 1.0 / beta[0]));
    PetscCall(KSPAMBChebyshevProbeSolve(ksp, amb, probe, 2, &other));
    amb->scale = (zero - other) * beta[0] / (beta[1] * (12.0 / 5.0) * (4.0 / 3.0));
  }
  for (PetscInt i = 0; i < n; i++) beta[i] /= amb->scale;
  KSPAMBChebyshevRoots(amb, n, beta);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPAMBChebyshevBounds(KSP ksp, KSPAMB *amb)
{
  KSPAMBChebyshevProbe probe;
  PetscReal            first, second;

  PetscFunctionBegin;
  if (!ksp->max_it || (amb->bounds && (!amb->optimized || amb->degree == ksp->max_it))) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPAMBChebyshevProbeCreate(&probe));
  if (amb->optimized) PetscCall(KSPAMBChebyshevProbeOptimized(ksp, amb, &probe));
  else {
    PetscCall(KSPAMBChebyshevProbeSolve(ksp, amb, &probe, 1, &first));
    amb->scale = amb->fourth ? 0.75 * first : first;
    if (!amb->fourth) {
      PetscCall(KSPAMBChebyshevProbeSolve(ksp, amb, &probe, 2, &second));
      amb->quarter = 0.5 - first / second; /* omega is 1 / (1 - 2 quarter) */
    }
  }
  PetscCall(KSPAMBChebyshevProbeDestroy(&probe));
  amb->degree = ksp->max_it;
  amb->bounds = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- the solve ------------------------------------------------- */

static PetscErrorCode KSPAMBChebyshevSupports(KSP ksp, KSPAMB *amb, const char **why)
{
  PetscFunctionBegin;
  PetscCall(KSPAMBCheckPC(ksp, amb));
  if (ksp->normtype != KSP_NORM_NONE) *why = "norms are wanted";
  else if (ksp->err_hist) *why = "a history of errors is wanted";
  else if (amb->kind == FUSED_OTHER && !amb->sweeps) *why = "no pass applies the preconditioner";
  else if (amb->optimized && ksp->max_it > amb->most) *why = "more steps of the optimized fourth kind are wanted than the set-up knew of";
  if (*why || !amb->optimized) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPAMBChebyshevBounds(ksp, amb));
  if (ksp->max_it && amb->nroot != ksp->max_it) *why = "the polynomial of the optimized fourth kind has not as many roots as steps";
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The factors of step i, as FusedKernels has them. A step of the fourth kind adds a multiple of the last step: the next iterate is one of the last two again. */
static void KSPAMBChebyshevFactors(const KSPAMB *amb, PetscInt i, PetscReal *omega, FusedPass *pass)
{
  PetscReal direction, residual;

  if (amb->optimized) {
    pass->a = amb->scale / amb->root[i];
    pass->b = 1.0;
    pass->c = 0.0;
  } else if (amb->fourth) {
    KSPAMBChebyshevFourth(i, &direction, &residual);
    pass->a = amb->scale * residual;
    pass->b = 1.0 + direction;
    pass->c = -direction;
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
    v[FUSED_Z] = amb->optimized ? NULL : v[FUSED_P];
    v[FUSED_P] = i || !ksp->guess_zero ? now : NULL;
    v[FUSED_X] = amb->optimized || i == ksp->max_it - 1 || now == other ? x : other; /* overwrites the iterate before p; the last step writes x */
    PetscCall((*step)(ksp, amb, A, &pass, v, ctx));
    now = v[FUSED_X];
  }
  ksp->its    = ksp->max_it;
  ksp->reason = KSP_CONVERGED_ITS;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the kind of the polynomials, which PETSc's set-up chose */
static PetscErrorCode KSPAMBChebyshevGetKind(KSP ksp, KSPAMB *amb)
{
  PetscErrorCode (*getkind)(KSP, int *);
  int kind = 0; /* the first one; as long as an enumeration */

  PetscFunctionBegin;
  PetscCall(PetscObjectQueryFunction((PetscObject)ksp, "KSPChebyshevGetKind_C", &getkind));
  if (getkind) PetscCall((*getkind)(ksp, &kind));
  amb->fourth    = (PetscBool)(kind == 1);
  amb->optimized = (PetscBool)(kind > 1);
  amb->most      = PetscMin(ksp->max_it, KSPAMB_DEGREE);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPAMBChebyshevGetSteps(KSP ksp, PetscInt most, PetscInt *nstep, KSPAMBChebyshevStepFactors step[])
{
  PetscReal omega = 2.0;
  KSPAMB    plain, *amb;
  FusedPass pass;

  PetscFunctionBegin;
  *nstep = 0;
  if (ksp->max_it < 1 || ksp->max_it > most) PetscFunctionReturn(PETSC_SUCCESS);
  if (ksp->ops->solve == KSPSolve_AMB) PetscCall(KSPAMBGet(ksp, &amb));
  else {
    PetscCall(PetscMemzero(&plain, sizeof(plain))); /* PETSc's type: the same probes of its solve */
    plain.base = *ksp->ops;
    amb        = &plain;
    PetscCall(KSPAMBChebyshevGetKind(ksp, amb));
  }
  if (amb->optimized && ksp->max_it > amb->most) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPAMBChebyshevBounds(ksp, amb));
  if (amb->optimized && amb->nroot != ksp->max_it) PetscFunctionReturn(PETSC_SUCCESS);
  *nstep = ksp->max_it;
  for (PetscInt i = 0; i < *nstep; i++) {
    KSPAMBChebyshevFactors(amb, i, &omega, &pass);
    step[i] = (KSPAMBChebyshevStepFactors){pass.a, pass.b, pass.c};
  }
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
  KSPAMB *amb;

  PetscFunctionBegin;
  PetscCall(KSPAMBGet(ksp, &amb));
  PetscCall(KSPAMBEstimateBegin(ksp, amb));
  PetscCall((*amb->base.setup)(ksp));
  PetscCall(KSPAMBEstimateEnd(ksp, amb));
  if (ksp->ops->solve != KSPSolve_AMB) amb->base.solve = ksp->ops->solve;
  ksp->ops->solve = KSPSolve_AMB;
  amb->bounds     = PETSC_FALSE;
  PetscCall(KSPAMBChebyshevGetKind(ksp, amb));
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
  PetscCall(KSPAMBEstimateCreated(ksp, amb));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPChebyshevEstEigSetUseNoisy_AMBChebyshev(KSP ksp, PetscBool use)
{
  KSPAMB *amb;

  PetscFunctionBegin;
  PetscCall(KSPAMBGet(ksp, &amb));
  amb->ownrhs = PETSC_TRUE;
  PetscCall((*amb->setnoisy)(ksp, use));
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
   `PCPBJACOBI` with blocks of at most 32 rows, the operator has a null space, the solve is transposed, scalars are complex,
   or the vectors have operations of the program.

   Polynomials of the fourth kind (`-ksp_chebyshev_kind fourth`, of PETSc 3.19 and newer) take the same passes and the same time as polynomials of the first kind. The
   optimized fourth kind (`opt_fourth`) takes a step of Richardson's iteration for each root of the polynomial, whose pass does not read the iterate before the last one.

   With `PCJACOBI`, an AIJ on a GPU or on one process, and no option `-esteig_...`, the estimate of the eigenvalues takes its ten steps on passes as well, from PETSc's random vector.
   `KSPChebyshevEstEigGetKSP()` returns PETSc's solver, whose own steps did not run.

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
  amb->supports    = KSPAMBChebyshevSupports;
  amb->local       = PETSC_TRUE;
  amb->keep        = PETSC_TRUE;
  ksp->ops->setup  = KSPSetUp_AMBChebyshev;
  PetscCall(PetscObjectQueryFunction((PetscObject)ksp, "KSPChebyshevSetEigenvalues_C", &amb->seteigenvalues));
  PetscCall(PetscObjectQueryFunction((PetscObject)ksp, "KSPChebyshevEstEigSet_C", &amb->setestimate));
  PetscCall(PetscObjectComposeFunction((PetscObject)ksp, "KSPChebyshevSetEigenvalues_C", KSPChebyshevSetEigenvalues_AMBChebyshev));
  PetscCall(PetscObjectQueryFunction((PetscObject)ksp, "KSPChebyshevEstEigSetUseNoisy_C", &amb->setnoisy));
  PetscCall(PetscObjectComposeFunction((PetscObject)ksp, "KSPChebyshevEstEigSet_C", KSPChebyshevEstEigSet_AMBChebyshev));
  PetscCall(PetscObjectComposeFunction((PetscObject)ksp, "KSPChebyshevEstEigSetUseNoisy_C", KSPChebyshevEstEigSetUseNoisy_AMBChebyshev));
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
