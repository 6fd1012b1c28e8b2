/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Operations that solve with a matrix: relaxation, factors, preconditioners, Krylov methods, multigrid with its hierarchy
*/
#include "differ.h"
#include <petscksp.h>

#define DIFFER_SOLVE 1e-3 /* the sums of a solve go many ways: a figure of the solver relative to its size */

/* A copy of a square matrix with a heavy diagonal, made symmetric or not */
static PetscErrorCode Heavy(Mat A, PetscBool symmetric, Mat *B)
{
  PetscReal norm;
  Mat       T;

  PetscFunctionBeginUser;
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, B));
  PetscCall(MatSetOption(*B, MAT_SYMMETRIC, PETSC_FALSE)); /* or nothing is transposed */
  PetscCall(MatSetOption(*B, MAT_HERMITIAN, PETSC_FALSE));
  if (symmetric) {
    PetscCall(MatTranspose(*B, MAT_INITIAL_MATRIX, &T));
    PetscCall(MatAXPY(*B, 1.0, T, DIFFERENT_NONZERO_PATTERN));
    PetscCall(MatDestroy(&T));
  }
  PetscCall(MatShadowSetSOR(*B, MAT_SHADOW_SOR_NATURAL)); /* as PETSc sweeps, on a GPU too */
  PetscCall(MatSetOption(*B, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatNorm(*B, NORM_INFINITY, &norm));
  PetscCall(MatShift(*B, 1.5 * norm + 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Relax(DifferStep *s)
{
  static const MatSORType types[] = {SOR_LOCAL_FORWARD_SWEEP, SOR_LOCAL_BACKWARD_SWEEP, SOR_LOCAL_SYMMETRIC_SWEEP};
  const PetscInt          type = DifferDraw(s, 3), zero = DifferDraw(s, 2);
  Vec                     x, b;
  Mat                     A, B;

  PetscFunctionBeginUser;
  DifferPickOrReturn(s, DIFFER_AIJ | DIFFER_SQUARE | DIFFER_FINITE | DIFFER_FILLED, &A);
  PetscCall(Heavy(A, PETSC_FALSE, &B));
  PetscCall(MatCreateVecs(B, &x, &b));
  PetscCall(TestVecSet(x, 1));
  PetscCall(TestVecSet(b, 2));
  PetscCall(MatSOR(B, b, 1.0, (MatSORType)(types[type] | (zero ? SOR_ZERO_INITIAL_GUESS : 0)), 0.0, 2, 1, x));
  PetscCall(DifferNoteVec(s, "relaxation", x, 100));
  PetscCall(TestDestroy(&x, &b, &B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Factor(DifferStep *s)
{
  static const MatFactorType types[] = {MAT_FACTOR_LU, MAT_FACTOR_ILU, MAT_FACTOR_CHOLESKY, MAT_FACTOR_ICC};
  const MatFactorType        type    = types[DifferDraw(s, 4)];
  PetscBool                  own     = PETSC_FALSE;
  MatFactorInfo              info;
  MatSolverType              solver;
  IS                         rows, cols;
  Vec                        x, b;
  Mat                        A, B, F;

  PetscFunctionBeginUser;
  DifferPickOrReturn(s, DIFFER_AIJ | DIFFER_SQUARE | DIFFER_FINITE | DIFFER_FILLED | DIFFER_SEQ, &A);
  PetscCall(Heavy(A, (PetscBool)(type == MAT_FACTOR_CHOLESKY || type == MAT_FACTOR_ICC), &B));
  if (type == MAT_FACTOR_ILU || type == MAT_FACTOR_ICC) own = (PetscBool)DifferDraw(s, 2);
  PetscCall(MatGetFactor(B, own ? MATSOLVERAMB : MATSOLVERPETSC, type, &F));
  PetscCall(MatFactorGetSolverType(F, &solver));
  DifferNoteText(s, "package", solver);
  PetscCall(MatFactorInfoInitialize(&info));
  info.fill   = 2;
  info.levels = 1;
  PetscCall(MatGetOrdering(B, MATORDERINGNATURAL, &rows, &cols));
  if (type == MAT_FACTOR_LU) PetscCall(MatLUFactorSymbolic(F, B, rows, cols, &info));
  else if (type == MAT_FACTOR_ILU) PetscCall(MatILUFactorSymbolic(F, B, rows, cols, &info));
  else if (type == MAT_FACTOR_CHOLESKY) PetscCall(MatCholeskyFactorSymbolic(F, B, rows, &info));
  else PetscCall(MatICCFactorSymbolic(F, B, rows, &info));
  if (type == MAT_FACTOR_LU || type == MAT_FACTOR_ILU) PetscCall(MatLUFactorNumeric(F, B, &info));
  else PetscCall(MatCholeskyFactorNumeric(F, B, &info));
  PetscCall(MatCreateVecs(B, &x, &b));
  PetscCall(TestVecSet(b, 2));
  for (int k = 0; k < (own ? 25 : 1); k++) PetscCall(MatSolve(F, b, x)); /* on the host the layout follows some solves */
  PetscCall(DifferNoteVec(s, "solution", x, 100));
  PetscCall(TestDestroy(&x, &b, &rows, &cols, &F, &B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Iterations, reason, solution: after a few iterations, when rounding has not changed them */
static PetscErrorCode NoteSolve(DifferStep *s, KSP ksp, Mat A)
{
  Vec                x, b;
  PetscInt           iterations;
  PetscReal          norm;
  PetscBool          pipelined;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(TestVecSet(b, 2));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetResidualNorm(ksp, &norm));
  if (norm > 1e-6) { /* else it is rounding that ends the solve */
    DifferNoteInt(s, "iterations", iterations);
    DifferNoteInt(s, "reason", reason);
  }
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp, KSPPIPECG, &pipelined)); /* a step of PIPECG is begun before it looks at the residual: after an exact solution it has any length */
  if (!pipelined || norm > 1e-10) PetscCall(DifferNoteVec(s, "solution", x, 1 / PETSC_SQRT_MACHINE_EPSILON));
  PetscCall(TestDestroy(&x, &b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Krylov(DifferStep *s)
{
  static const char *const methods[] = {KSPCG, KSPBCGS, KSPGMRES, KSPCHEBYSHEV, KSPLSQR, KSPRICHARDSON, KSPPIPECG};
  static const char *const pcs[]     = {PCNONE, PCJACOBI, PCPBJACOBI, PCBJACOBI, PCSOR, PCASM, PCVPBJACOBI};
  const char              *method = methods[DifferDraw(s, 7)], *name = pcs[DifferDraw(s, 6)];
  KSP                      ksp;
  PC                       pc;
  Mat                      A, B;

  PetscFunctionBeginUser;
  DifferPickOrReturn(s, DIFFER_AIJ | DIFFER_SQUARE | DIFFER_FINITE | DIFFER_FILLED, &A);
  PetscCall(Heavy(A, PETSC_TRUE, &B));
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)B), &ksp));
  PetscCall(KSPSetOperators(ksp, B, B));
  PetscCall(KSPSetType(ksp, method));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, name));
  PetscCall(KSPSetTolerances(ksp, 1e-30, 1e-300, 1e100, 3)); /* the iterations are the same whatever rounding does */
  PetscCall(NoteSolve(s, ksp, B));
  PetscCall(TestDestroy(&ksp, &B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All levels of a hierarchy: operators and prolongators with sizes, blocks, entries and values */
static PetscErrorCode NoteLevels(DifferStep *s, PC pc, PetscReal scale)
{
  PetscInt n, nc;
  Mat     *operators, *prolongators;

  PetscFunctionBeginUser;
  PetscCall(PCGetCoarseOperators(pc, &nc, &operators));
  PetscCall(PCGetInterpolations(pc, &n, &prolongators));
  DifferNoteInt(s, "levels", n);
  for (PetscInt k = n - 2; k >= 0; k--) {
    DifferNoteInt(s, "level", k);
    PetscCall(DifferNoteMat(s, "prolongator", prolongators[k], DIFFER_SOLVE / TEST_TOLERANCE));
    PetscCall(DifferNoteMat(s, "coarse operator", operators[k], scale * DIFFER_SOLVE / TEST_TOLERANCE));
  }
  for (PetscInt k = 0; k < n - 1; k++) PetscCall(MatDestroy(&prolongators[k]));
  for (PetscInt k = 0; k < nc - 1; k++) PetscCall(MatDestroy(&operators[k]));
  PetscCall(PetscFree(prolongators));
  PetscCall(PetscFree(operators));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* GAMG, set up and set up again with other values; what -ksp_view says of the hierarchy. Not of the classical kind: PETSc 3.18's independent sets have no end on a
   graph that its threshold has made unsymmetric. */
static PetscErrorCode Gamg(DifferStep *s)
{
  const PetscInt cycle = DifferDraw(s, 4), again = DifferDraw(s, 2), nullspace = DifferDraw(s, 3), squares = DifferDraw(s, 2);
  PetscReal      thresholds[] = {DifferDraw(s, 2) ? 0.02 : -1, 0.01}, norm;
  KSP            ksp;
  PC             pc;
  Vec            v;
  Mat            A, B;

  PetscFunctionBeginUser;
  DifferPickOrReturn(s, DIFFER_AIJ | DIFFER_SQUARE | DIFFER_FINITE | DIFFER_FILLED, &A);
  PetscCall(Heavy(A, PETSC_TRUE, &B));
  if (nullspace == 0) PetscCall(MatSetNearNullSpace(B, s->pool->space));
  PetscCall(MatNorm(B, NORM_INFINITY, &norm));
  PetscCall(MatScale(B, 1 / norm));
  PetscCall(MatCreateVecs(B, &v, NULL)); /* CG that ends at an exact solution leaves its last coefficient unset, of which GAMG estimates eigenvalues: no multiples of the identity */
  PetscCall(TestVecSet(v, 11));
  PetscCall(VecScale(v, 0.1));
  PetscCall(MatDiagonalSet(B, v, ADD_VALUES));
  PetscCall(VecDestroy(&v));
  PetscCall(MatSetOption(B, MAT_SPD, PETSC_TRUE));
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)B), &ksp));
  PetscCall(KSPSetOperators(ksp, B, B));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCGAMG));
  PetscCall(PCMGSetCycleType(pc, cycle ? PC_MG_CYCLE_V : PC_MG_CYCLE_W));
  PetscCall(PCGAMGSetThreshold(pc, thresholds, 2));
  PetscCall(PCGAMGSetCoarseEqLim(pc, 4));
  PetscCall(PCGAMGSetProcEqLim(pc, 3));
  PetscCall(PCGAMGSetNSmooths(pc, squares));
  PetscCall(KSPSetTolerances(ksp, 1e-30, 1e-300, 1e100, 2));
  PetscCall(KSPSetUp(ksp));
  PetscCall(NoteLevels(s, pc, 10));
  PetscCall(NoteSolve(s, ksp, B));
  if (again) {
    PetscCall(MatScale(B, 2.0));
    PetscCall(KSPSetUp(ksp));
    PetscCall(NoteLevels(s, pc, 20));
    PetscCall(NoteSolve(s, ksp, B));
  }
  PetscCall(TestDestroy(&ksp, &B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Multigrid with a prolongator from the pool, and Galerkin's coarse operator */
static PetscErrorCode Multigrid(DifferStep *s)
{
  const PetscInt again = DifferDraw(s, 2);
  KSP            ksp, level;
  PC             pc;
  PetscReal     *norms, scale; /* of P^T B P */
  PetscBool      zero = PETSC_FALSE;
  Mat            A, B, P;

  PetscFunctionBeginUser;
  DifferPickOrReturn(s, DIFFER_AIJ | DIFFER_SQUARE | DIFFER_FINITE | DIFFER_FILLED, &A);
  DifferPickOrReturn(s, DIFFER_AIJ | DIFFER_FINITE | DIFFER_FILLED | DIFFER_ROWS_COLS, &P);
  scale = (1 + s->pool->pair[s->picks[0]].norm) * PetscSqr(1 + s->pool->pair[s->picks[1]].norm);
  PetscCall(PetscMalloc1(P->cmap->N, &norms));
  PetscCall(MatGetColumnNorms(P, NORM_1, norms));
  for (PetscInt k = 0; k < P->cmap->N; k++) zero = (PetscBool)(zero || norms[k] == 0);
  PetscCall(PetscFree(norms));
  if (zero) PetscFunctionReturn(PETSC_SUCCESS); /* PETSc sets a diagonal in empty rows of the coarse operator, which may be an error of single processes */
  PetscCall(Heavy(A, PETSC_TRUE, &B));
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)B), &ksp));
  PetscCall(KSPSetOperators(ksp, B, B));
  PetscCall(KSPSetType(ksp, KSPRICHARDSON));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCMG));
  PetscCall(PCMGSetLevels(pc, 2, NULL));
  PetscCall(PCMGSetGalerkin(pc, PC_MG_GALERKIN_BOTH));
  PetscCall(PCMGSetInterpolation(pc, 1, P));
  PetscCall(PCMGGetSmoother(pc, 1, &level));
  PetscCall(KSPSetType(level, KSPRICHARDSON));
  PetscCall(KSPGetPC(level, &pc));
  PetscCall(PCSetType(pc, PCJACOBI));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCMGGetCoarseSolve(pc, &level));
  PetscCall(KSPSetType(level, KSPPREONLY));
  PetscCall(KSPGetPC(level, &pc));
  PetscCall(PCSetType(pc, PCJACOBI)); /* the coarse operator may be singular */
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(KSPSetUp(ksp));
  PetscCall(NoteLevels(s, pc, scale));
  if (again) {
    PetscCall(MatScale(B, 2.0));
    PetscCall(KSPSetUp(ksp));
    PetscCall(NoteLevels(s, pc, 2 * scale));
  }
  PetscCall(TestDestroy(&ksp, &B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const DifferOp DifferSolvers[] = {
  {"relax",     Relax,     2},
  {"factor",    Factor,    2},
  {"krylov",    Krylov,    3},
  {"gamg",      Gamg,      3},
  {"multigrid", Multigrid, 2},
  {NULL,        NULL,      0}
};
