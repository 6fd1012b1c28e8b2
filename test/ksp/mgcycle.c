/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "-petscamb_mg_graph: cycles of PCMG and PCGAMG as lists of steps beside PETSc's own, on a GPU recorded and replayed; the cycles that stay PETSc's; interpolations of DMs and of the program.\n";

#include "../testutil.h"
#include "ksp/pc/impls/mg/glue/mgcycle.h"
#include <petsc/private/matimpl.h>
#include <petscdmda.h>

#define SIDE 40

static PetscScalar ValueGrid(PetscInt i, PetscInt j)
{
  return i == j ? 4.3 : -1 - 0.07 * TestReal(PetscMin(i, j), PetscMax(i, j));
}

static PetscScalar ValueBlocks(PetscInt i, PetscInt j)
{
  return i == j ? 8.0 + PetscAbsReal(TestReal(i, i)) : 0.5 * TestReal(PetscMin(i, j), PetscMax(i, j));
}

/* The sums of rows are 0 */
static PetscScalar ValueNeumann(PetscInt i, PetscInt j)
{
  const PetscInt x = i % SIDE, y = i / SIDE;

  return i == j ? (x > 0) + (x < SIDE - 1) + (y > 0) + (y < SIDE - 1) : -1.0;
}

/* Half of the couplings of the grid are missing */
static PetscInt RowHalf(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[])
{
  const PetscInt n = TestRowGrid(i, M, N, cols);
  PetscInt       k = 0;

  for (PetscInt c = 0; c < n; c++) {
    if ((cols[c] + i) % 4 != 1) cols[k++] = cols[c];
  }
  return k;
}

static const TestShape grid    = {"grid", SIDE *SIDE, SIDE *SIDE, TestRowGrid, ValueGrid, PETSC_FALSE};
static const TestShape neumann = {"neumann", SIDE *SIDE, SIDE *SIDE, TestRowGrid, ValueNeumann, PETSC_FALSE};
static const TestShape half    = {"half", SIDE *SIDE, SIDE *SIDE, RowHalf, ValueGrid, PETSC_FALSE};
static const TestShape blocks  = {"blocks", 1800, 1800, TestRowBlocks, ValueBlocks, PETSC_FALSE};

/* ------------------------------------------------- steps by PETSc's operations ------------------------------------------------- */

static PetscErrorCode StepProduct(const MGCycleStep *s)
{
  PetscFunctionBeginUser;
  if (s->y && s->y == s->z) {
    PetscCall((*(s->transpose ? MatMultTransposeAdd : MatMultAdd))(s->A, s->x, s->y, s->z));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall((*(s->transpose ? MatMultTranspose : MatMult))(s->A, s->x, s->z));
  if (s->y) PetscCall(VecAYPX(s->z, s->alpha, s->y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode StepPass(const MGCycleStep *s)
{
  Vec r, z;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(s->v[FUSED_R], &r));
  PetscCall(VecDuplicate(s->v[FUSED_R], &z));
  PetscCall(VecCopy(s->v[FUSED_R], r));
  if (s->v[FUSED_P]) PetscCall(VecAXPY(r, -1.0, s->v[FUSED_W]));
  PetscCall(PCApply(s->smoother->pc, r, z));
  PetscCall(VecScale(z, s->a));
  if (s->v[FUSED_P]) PetscCall(VecAXPY(z, s->b, s->v[FUSED_P]));
  if (s->v[FUSED_Z]) PetscCall(VecAXPY(z, s->c, s->v[FUSED_Z]));
  PetscCall(VecCopy(z, s->v[FUSED_X]));
  PetscCall(TestDestroy(&r, &z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* v[FUSED_X] = a z + b v[FUSED_P] + c v[FUSED_Z]; destroys z */
static PetscErrorCode StepResult(const MGCycleStep *s, Vec *z)
{
  PetscFunctionBeginUser;
  PetscCall(VecScale(*z, s->a));
  if (s->v[FUSED_P]) PetscCall(VecAXPY(*z, s->b, s->v[FUSED_P]));
  if (s->v[FUSED_Z]) PetscCall(VecAXPY(*z, s->c, s->v[FUSED_Z]));
  PetscCall(VecCopy(*z, s->v[FUSED_X]));
  PetscCall(VecDestroy(z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode StepSweep(const MGCycleStep *s)
{
  PetscMPIInt size;
  Vec         z;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  if (s->smoother->ops->solve != KSPSolve_AMB && size == 1) { /* all sweeps of a richardson */
    PetscCall(KSPSetInitialGuessNonzero(s->smoother, (PetscBool)!s->call.sweep.zero));
    PetscCall(KSPSolve(s->smoother, s->x, s->v[FUSED_X]));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecDuplicate(s->x, &z));
  PetscCall(PCApply(s->smoother->pc, s->x, z));
  PetscCall(StepResult(s, &z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode StepRemove(const MGCycleStep *s)
{
  PetscScalar sum;
  PetscInt    n;
  Vec         z;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(s->x, &z));
  PetscCall(VecCopy(s->x, z));
  PetscCall(VecSum(z, &sum));
  PetscCall(VecGetSize(z, &n));
  PetscCall(VecShift(z, -sum / (PetscReal)n));
  PetscCall(StepResult(s, &z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode StepCoarsest(const MGCycle *c, const MGCycleStep *s)
{
  const PetscScalar *inverse, *x;
  PetscScalar       *z;
  PetscInt           n;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(s->x, &n));
  PetscCall(VecGetArrayRead(c->inverse, &inverse));
  PetscCall(VecGetArrayRead(s->x, &x));
  PetscCall(VecGetArrayWrite(s->z, &z));
  for (PetscInt i = 0; i < n; i++) {
    z[i] = 0;
    for (PetscInt j = 0; j < n; j++) z[i] += inverse[i * n + j] * x[j];
  }
  PetscCall(VecRestoreArrayWrite(s->z, &z));
  PetscCall(VecRestoreArrayRead(s->x, &x));
  PetscCall(VecRestoreArrayRead(c->inverse, &inverse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Steps(const MGCycle *c)
{
  PetscFunctionBeginUser;
  for (const MGCycleStep *s = c->step; s < c->step + c->nstep; s++) {
    if (s->kind == MG_CYCLE_PRODUCT) PetscCall(StepProduct(s));
    else if (s->kind == MG_CYCLE_PASS) PetscCall(StepPass(s));
    else if (s->kind == MG_CYCLE_SWEEP) PetscCall(StepSweep(s));
    else if (s->kind == MG_CYCLE_REMOVE) PetscCall(StepRemove(s));
    else PetscCall(StepCoarsest(c, s));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- comparisons ------------------------------------------------- */

static PetscErrorCode Near(TestDiff *d, const char what[], Vec x, Vec y)
{
  PetscReal norm, err;
  Vec       z;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(x, &z));
  PetscCall(VecCopy(x, z));
  PetscCall(VecAXPY(z, -1.0, y));
  PetscCall(VecNorm(z, NORM_2, &err));
  PetscCall(VecNorm(y, NORM_2, &norm));
  TestExpect(d, what, (PetscBool)(err <= 1e5 * PETSC_MACHINE_EPSILON * norm));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool consistent; /* right-hand sides have no mean */

/* Applies the preconditioner, and the steps of its cycle, beside PETSc's own cycle. On a GPU the cycle is replayed if it is served, and each process has its own GPU. */
static PetscErrorCode Expect(TestDiff *d, PC pc, PetscBool served)
{
  MGCycle    *c;
  const char *why;
  PetscBool   device;
  PetscInt    replayed, own, applications;
  Vec         b, x, y;

  PetscFunctionBeginUser;
  PetscCall(PCSetUp(pc));
  PetscCall(MGCycleGet(pc, &c));
  c->at_once = 1024;
  PetscCall(MatCreateVecs(pc->pmat, &x, &b));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)x, &device, "seqcuda", "mpicuda", ""));
  replayed     = c->applied[MG_CYCLE_REPLAYED];
  own          = c->applied[MG_CYCLE_PETSC];
  applications = device ? 24 : 4; /* a record is made after some, and again when PETSc's own products have repaid conversions */
  for (PetscInt k = 0; k < applications; k++) {
    PetscCall(TestVecSet(b, k + 1));
    if (consistent) {
      PetscScalar sum;
      PetscInt    n;

      PetscCall(VecSum(b, &sum));
      PetscCall(VecGetSize(b, &n));
      PetscCall(VecShift(b, -sum / (PetscReal)n));
    }
    PetscCall((*c->apply)(pc, b, y));
    PetscCall(VecSet(x, k)); /* nothing that is left in x may change the result */
    PetscCall(PCApply(pc, b, x));
    PetscCall(Near(d, "another result", x, y));
    PetscCall(MGCycleBuild(pc, c, b, x, &why));
    TestExpect(d, "the cycle has steps, or has none", (PetscBool)(served == !why));
    if (why) continue;
    PetscCall(VecSet(x, k));
    PetscCall(Steps(c));
    PetscCall(Near(d, "another result of the steps", x, y));
  }
  if (device && served && !TestSharesGPU()) {
    TestExpect(d, "no cycle is replayed", (PetscBool)(c->applied[MG_CYCLE_REPLAYED] >= replayed + 2));
    TestExpect(d, "cycles are PETSc's own", (PetscBool)(c->applied[MG_CYCLE_PETSC] <= own + 1));
  } else TestExpect(d, "not all cycles are PETSc's own", (PetscBool)(c->applied[MG_CYCLE_PETSC] == own + applications));
  PetscCall(TestDestroy(&b, &x, &y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- preconditioners ------------------------------------------------- */

/* Interpolates from every second unknown */
static PetscErrorCode Interpolation(Mat A, PetscInt M, Mat *P)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, P));
  PetscCall(MatSetSizes(*P, M, M / 2, M, M / 2));
  PetscCall(MatSetFromOptions(*P));
  PetscCall(MatSeqAIJSetPreallocation(*P, 2, NULL));
  for (PetscInt r = 0; r < M; r++) {
    PetscCall(MatSetValue(*P, r, r / 2, r % 2 && r / 2 + 1 < M / 2 ? 0.3 : 1.0, INSERT_VALUES)); /* the sums are 1 */
    if (r % 2 && r / 2 + 1 < M / 2) PetscCall(MatSetValue(*P, r, r / 2 + 1, 0.7, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*P, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*P, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* So many levels by hand, below a matrix on the grid */
static PetscErrorCode Geometric(Mat A, PetscInt levels, PC *pc)
{
  PetscInt M;
  KSP      smoother;
  PC       jacobi;
  Mat      P;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, &M, NULL));
  PetscCall(PCCreate(PETSC_COMM_WORLD, pc));
  PetscCall(PCSetOperators(*pc, A, A));
  PetscCall(PCSetType(*pc, PCMG));
  PetscCall(PCMGSetLevels(*pc, levels, NULL));
  PetscCall(PCMGSetGalerkin(*pc, PC_MG_GALERKIN_BOTH));
  for (PetscInt l = levels - 1; l > 0; l--, M /= 2) {
    PetscCall(Interpolation(A, M, &P));
    PetscCall(PCMGSetInterpolation(*pc, l, P));
    PetscCall(MatDestroy(&P));
    PetscCall(PCMGGetSmoother(*pc, l, &smoother));
    PetscCall(KSPSetType(smoother, KSPCHEBYSHEV));
    PetscCall(KSPGetPC(smoother, &jacobi));
    PetscCall(PCSetType(jacobi, PCJACOBI));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Algebraic(Mat A, PC *pc)
{
  PetscFunctionBeginUser;
  PetscCall(PCCreate(PETSC_COMM_WORLD, pc));
  PetscCall(PCSetOperators(*pc, A, A));
  PetscCall(PCSetType(*pc, PCGAMG));
  PetscCall(PCSetFromOptions(*pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- checks ------------------------------------------------- */

/* New values, a new pattern, and another matrix */
static PetscErrorCode ScalarServed(TestDiff *d, PetscBool served)
{
  Mat A, B;
  PC  pc;

  PetscFunctionBeginUser;
  PetscCall(TestShapeCreate(&grid, NULL, &A));
  PetscCall(TestShapeCreate(&half, NULL, &B));
  PetscCall(Algebraic(A, &pc));
  PetscCall(Expect(d, pc, served));
  PetscCall(MatScale(A, 1.7));
  PetscCall(Expect(d, pc, served));
  PetscCall(TestShapeSetValues(&grid, A, 0.4, INSERT_VALUES));
  PetscCall(MatShift(A, 0.1));
  PetscCall(Expect(d, pc, served));
  PetscCall(PCSetOperators(pc, B, B));
  PetscCall(Expect(d, pc, served));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(Expect(d, pc, served));
  PetscCall(TestDestroy(&pc, &A, &B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Scalar(TestDiff *d)
{
  PetscFunctionBeginUser;
  PetscCall(ScalarServed(d, PETSC_TRUE));
  PetscCall(PetscOptionsSetValue(NULL, "-mg_levels_ksp_chebyshev_kind", "opt_fourth")); /* of PETSc 3.19 and newer */
  PetscCall(PetscOptionsSetValue(NULL, "-mg_levels_ksp_max_it", "3"));
  PetscCall(ScalarServed(d, PETSC_TRUE));
  PetscCall(PetscOptionsClearValue(NULL, "-mg_levels_ksp_chebyshev_kind"));
  PetscCall(PetscOptionsClearValue(NULL, "-mg_levels_ksp_max_it"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Blocks of three unknowns, with the near null space of constants */
static PetscErrorCode BlocksServed(TestDiff *d, int smoothers, const char *const smoother[], PetscBool served)
{
  MatNullSpace near;
  PetscScalar *a;
  PetscInt     start, end;
  Vec          v[3];
  Mat          A;
  PC           pc;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(TestShapeSizes(&blocks, A));
  PetscCall(MatSetBlockSize(A, 3));
  PetscCall(MatSetFromOptions(A));
  PetscCall(TestShapePreallocate(&blocks, A));
  PetscCall(TestShapeSetValues(&blocks, A, 1.0, INSERT_VALUES));
  for (int k = 0; k < 3; k++) {
    PetscCall(MatCreateVecs(A, &v[k], NULL));
    PetscCall(VecGetOwnershipRange(v[k], &start, &end));
    PetscCall(VecGetArrayWrite(v[k], &a));
    for (PetscInt i = start; i < end; i++) a[i - start] = i % 3 == k ? 1 / PetscSqrtReal((PetscReal)blocks.M / 3) : 0;
    PetscCall(VecRestoreArrayWrite(v[k], &a));
  }
  PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_FALSE, 3, v, &near));
  PetscCall(MatSetNearNullSpace(A, near));
  PetscCall(MatNullSpaceDestroy(&near));
  for (int k = 0; k < 3; k++) PetscCall(VecDestroy(&v[k]));
  for (int k = 0; k < smoothers; k++) {
    PetscCall(PetscOptionsSetValue(NULL, "-mg_levels_pc_type", smoother[k]));
    PetscCall(Algebraic(A, &pc));
    PetscCall(Expect(d, pc, served));
    PetscCall(MatScale(A, 1.3));
    PetscCall(Expect(d, pc, served));
    PetscCall(PCDestroy(&pc));
  }
  PetscCall(PetscOptionsSetValue(NULL, "-mg_levels_pc_type", PCJACOBI));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Smoothers with a number or a block for each unknown */
static PetscErrorCode Blocks(TestDiff *d)
{
  const char *const smoother[] = {PCJACOBI, PCPBJACOBI};

  PetscFunctionBeginUser;
  PetscCall(BlocksServed(d, 2, smoother, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Smoothers with sweeps of SOR, by color: matrices of petsc-amb are served */
static PetscErrorCode Sweeps(TestDiff *d)
{
  const char *const      smoother[] = {PCSOR};
  const MatShadowFormat *format;
  Mat                    A;

  PetscFunctionBeginUser;
  PetscCall(TestShapeCreate(&grid, NULL, &A));
  PetscCall(MatShadowGetFormat(A, &format));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscOptionsSetValue(NULL, "-mat_shadow_sor", "color"));
  PetscCall(PetscOptionsSetValue(NULL, "-mg_levels_pc_type", PCSOR));
  PetscCall(ScalarServed(d, (PetscBool)(format != NULL)));
  PetscCall(PetscOptionsSetValue(NULL, "-mg_levels_ksp_chebyshev_kind", "opt_fourth"));
  PetscCall(ScalarServed(d, (PetscBool)(format != NULL)));
  PetscCall(PetscOptionsClearValue(NULL, "-mg_levels_ksp_chebyshev_kind"));
  PetscCall(PetscOptionsSetValue(NULL, "-mg_levels_ksp_type", KSPRICHARDSON));
  PetscCall(ScalarServed(d, (PetscBool)(format != NULL)));
  PetscCall(PetscOptionsSetValue(NULL, "-mg_levels_ksp_richardson_scale", "0.9"));
  PetscCall(ScalarServed(d, PETSC_FALSE));
  PetscCall(PetscOptionsClearValue(NULL, "-mg_levels_ksp_richardson_scale"));
  PetscCall(PetscOptionsSetValue(NULL, "-mg_levels_ksp_max_it", "1"));
  PetscCall(BlocksServed(d, 1, smoother, (PetscBool)(format != NULL)));
  PetscCall(PetscOptionsClearValue(NULL, "-mg_levels_ksp_max_it"));
  PetscCall(PetscOptionsClearValue(NULL, "-mg_levels_ksp_type"));
  PetscCall(PetscOptionsSetValue(NULL, "-mg_levels_pc_sor_omega", "1.2"));
  PetscCall(PetscOptionsSetValue(NULL, "-mg_levels_pc_sor_diagonal_shift", "0.3"));
  PetscCall(PetscOptionsSetValue(NULL, "-mg_levels_pc_sor_lits", "2"));
  PetscCall(BlocksServed(d, 1, smoother, (PetscBool)(format != NULL)));
  PetscCall(PetscOptionsSetValue(NULL, "-mg_levels_pc_sor_its", "2"));
  PetscCall(BlocksServed(d, 1, smoother, PETSC_FALSE));
  PetscCall(PetscOptionsClearValue(NULL, "-mg_levels_pc_sor_omega"));
  PetscCall(PetscOptionsClearValue(NULL, "-mg_levels_pc_sor_diagonal_shift"));
  PetscCall(PetscOptionsClearValue(NULL, "-mg_levels_pc_sor_lits"));
  PetscCall(PetscOptionsClearValue(NULL, "-mg_levels_pc_sor_its"));
  PetscCall(PetscOptionsSetValue(NULL, "-mat_shadow_sor", "auto"));
  PetscCall(PetscOptionsSetValue(NULL, "-mg_levels_pc_type", PCJACOBI));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Constants are the null space of all operators: of smoothers with sweeps by color and of the coarsest operator, which is singular. Another null space stays PETSc's. */
static PetscErrorCode NullSpaces(TestDiff *d)
{
  const MatShadowFormat *format;
  MatNullSpace           space[2];
  PC_MG                 *mg;
  Mat                    A, B;
  Vec                    v;
  PC                     pc;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsSetValue(NULL, "-mat_shadow_sor", "color"));
  PetscCall(PetscOptionsSetValue(NULL, "-mg_levels_pc_type", PCSOR));
  PetscCall(TestShapeCreate(&neumann, NULL, &A));
  PetscCall(MatShadowGetFormat(A, &format));
  PetscCall(Geometric(A, 3, &pc));
  PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &space[0]));
  PetscCall(MatCreateVecs(A, &v, NULL));
  PetscCall(VecSet(v, 1.0 / SIDE));
  PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_FALSE, 1, &v, &space[1]));
  PetscCall(MatSetNullSpace(A, space[0]));
  PetscCall(PCSetUp(pc));
  mg = (PC_MG *)pc->data;
  for (PetscInt l = 0; l < 2; l++) {
    PetscCall(KSPGetOperators(mg->levels[l]->smoothd, &B, NULL));
    PetscCall(MatSetNullSpace(B, space[0]));
  }
  consistent = PETSC_TRUE;
  PetscCall(Expect(d, pc, (PetscBool)(format != NULL)));
  PetscCall(MatSetNullSpace(A, space[1]));
  PetscCall(Expect(d, pc, PETSC_FALSE));
  PetscCall(MatSetNullSpace(A, space[0]));
  PetscCall(MatSetTransposeNullSpace(A, space[0]));
  PetscCall(Expect(d, pc, PETSC_FALSE));
  consistent = PETSC_FALSE;
  PetscCall(PetscOptionsSetValue(NULL, "-mat_shadow_sor", "auto"));
  PetscCall(PetscOptionsSetValue(NULL, "-mg_levels_pc_type", PCJACOBI));
  PetscCall(TestDestroy(&space[0], &space[1], &v, &pc, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Levels by hand: cycles, restrictions, numbers of steps, eigenvalues */
static PetscErrorCode Cycles(TestDiff *d)
{
  KSP smoother;
  Mat A, P, R;
  PC  pc;

  PetscFunctionBeginUser;
  PetscCall(TestShapeCreate(&grid, NULL, &A));
  for (PetscInt levels = 2; levels < 5; levels++) {
    PetscCall(Geometric(A, levels, &pc));
    PetscCall(Expect(d, pc, PETSC_TRUE));
    for (PetscInt steps = 1; steps < 4; steps++) {
      PetscCall(PCMGSetNumberSmooth(pc, steps));
      for (PetscInt l = 1; l < levels; l++) {
        PetscCall(PCMGGetSmoother(pc, l, &smoother));
        PetscCall(KSPSetTolerances(smoother, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, steps));
      }
      PetscCall(Expect(d, pc, PETSC_TRUE));
    }
    PetscCall(PCMGGetSmoother(pc, 1, &smoother));
    PetscCall(KSPChebyshevSetEigenvalues(smoother, 1.9, 0.3));
    PetscCall(Expect(d, pc, PETSC_TRUE));
    PetscCall(PCMGSetCycleType(pc, PC_MG_CYCLE_W));
    PetscCall(Expect(d, pc, PETSC_TRUE));
    PetscCall(PCMGMultiplicativeSetCycles(pc, 2));
    PetscCall(Expect(d, pc, PETSC_TRUE));
    PetscCall(PCDestroy(&pc));
  }
  /* an explicit restriction, and a smoother of its own for each way */
  PetscCall(Geometric(A, 2, &pc));
  PetscCall(PCMGSetDistinctSmoothUp(pc));
  PetscCall(PCMGGetSmootherUp(pc, 1, &smoother));
  PetscCall(KSPSetTolerances(smoother, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, 3));
  PetscCall(PCMGGetInterpolation(pc, 1, &P));
  PetscCall(MatTranspose(P, MAT_INITIAL_MATRIX, &R));
  PetscCall(PCMGSetRestriction(pc, 1, R));
  PetscCall(MatDestroy(&R));
  PetscCall(Expect(d, pc, PETSC_TRUE));
  PetscCall(TestDestroy(&pc, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Two preconditioners in turns, each with vectors that change */
static PetscErrorCode Turns(TestDiff *d)
{
  Mat A[2];
  PC  pc[2];
  Vec v[2][3];

  PetscFunctionBeginUser;
  for (int k = 0; k < 2; k++) {
    PetscCall(TestShapeCreate(k ? &half : &grid, NULL, &A[k]));
    PetscCall(Algebraic(A[k], &pc[k]));
    PetscCall(PCSetUp(pc[k]));
    for (int i = 0; i < 3; i++) PetscCall(MatCreateVecs(A[k], &v[k][i], NULL));
  }
  for (int turn = 0; turn < 40; turn++) {
    for (int k = 0; k < 2; k++) {
      MGCycle  *c;
      const int b = turn % 2, x = 1 - b;

      PetscCall(MGCycleGet(pc[k], &c));
      PetscCall(TestVecSet(v[k][b], turn));
      PetscCall((*c->apply)(pc[k], v[k][b], v[k][2]));
      PetscCall(PCApply(pc[k], v[k][b], v[k][x]));
      PetscCall(Near(d, "another result in turns", v[k][x], v[k][2]));
      if (turn == 39 && c->reason == NULL) TestExpect(d, "no cycle is replayed in turns", (PetscBool)(c->applied[MG_CYCLE_REPLAYED] > 4));
    }
  }
  for (int k = 0; k < 2; k++) {
    PetscCall(Expect(d, pc[k], PETSC_TRUE));
    PetscCall(TestDestroy(&pc[k], &A[k]));
    for (int i = 0; i < 3; i++) PetscCall(VecDestroy(&v[k][i]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A large coarsest operator is inverted once the cycles repay it, and again when it has new values */
static PetscErrorCode Patience(TestDiff *d)
{
  const PetscInt repaid = (PetscInt)(SIDE * SIDE / 8) * (SIDE * SIDE / 8) / 1024;
  const char    *why;
  MGCycle       *c;
  Mat            A;
  Vec            b, x;
  PC             pc;

  PetscFunctionBeginUser;
  PetscCall(TestShapeCreate(&grid, NULL, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(Geometric(A, 4, &pc));
  PetscCall(MGCycleGet(pc, &c));
  for (int values = 0; values < 2; values++) {
    PetscCall(PCSetUp(pc));
    for (PetscInt k = 0; k < repaid + 2; k++) {
      PetscCall(MGCycleBuild(pc, c, b, x, &why));
      TestExpect(d, "an inverse too early or too late", (PetscBool)(!why == (k >= repaid)));
    }
    PetscCall(MatScale(A, 1.5));
  }
  PetscCall(Expect(d, pc, PETSC_TRUE));
  PetscCall(TestDestroy(&pc, &b, &x, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Residual(Mat A, Vec b, Vec x, Vec r)
{
  return MatResidual(A, b, x, r);
}

static PetscErrorCode PreSolve(KSP ksp, Vec b, Vec x, void *ctx)
{
  PetscFunctionBeginUser;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What stays PETSc's own, and comes back */
static PetscErrorCode FallBacks(TestDiff *d)
{
  PC_MG       *mg;
  MatNullSpace space;
  KSP          smoother, coarse;
  Mat          A;
  PC           pc, sub;

  PetscFunctionBeginUser;
  PetscCall(TestShapeCreate(&grid, NULL, &A));
  PetscCall(Geometric(A, 3, &pc));
  PetscCall(Expect(d, pc, PETSC_TRUE));
  mg = (PC_MG *)pc->data;
  PetscCall(PCMGSetType(pc, PC_MG_ADDITIVE));
  PetscCall(Expect(d, pc, PETSC_FALSE));
  PetscCall(PCMGSetType(pc, PC_MG_MULTIPLICATIVE));
  PetscCall(PCMGGetSmoother(pc, 1, &smoother));
  PetscCall(KSPSetPreSolve(smoother, PreSolve, NULL));
  PetscCall(Expect(d, pc, PETSC_FALSE));
  PetscCall(KSPSetPreSolve(smoother, NULL, NULL));
  PetscCall(Expect(d, pc, PETSC_TRUE));
  PetscCall(PCMGSetResidual(pc, 2, Residual, mg->levels[2]->A));
  PetscCall(Expect(d, pc, PETSC_FALSE));
  PetscCall(PCMGSetResidual(pc, 2, PCMGResidualDefault, mg->levels[2]->A));
  PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &space));
  PetscCall(MatSetNullSpace(mg->levels[1]->A, space));
  PetscCall(Expect(d, pc, PETSC_FALSE));
  PetscCall(MatSetNullSpace(mg->levels[1]->A, NULL));
  PetscCall(MatNullSpaceDestroy(&space));
  PetscCall(VecBindToCPU(mg->levels[0]->x, PETSC_TRUE));
  PetscCall(VecBindToCPU(mg->levels[1]->x, PETSC_TRUE));
  {
    PetscBool device;

    PetscCall(TestOnDevice(A, &device));
    if (!device) PetscCall(Expect(d, pc, PETSC_TRUE)); /* the steps know no side */
    else {
      MGCycle *c;
      PetscInt own;
      Vec      b, x;

      PetscCall(MGCycleGet(pc, &c));
      PetscCall(MatCreateVecs(A, &x, &b));
      PetscCall(TestVecSet(b, 1));
      own = c->applied[MG_CYCLE_PETSC];
      PetscCall(PCApply(pc, b, x));
      TestExpect(d, "a level is on the host, and the cycle on the GPU", (PetscBool)(c->applied[MG_CYCLE_PETSC] == own + 1));
      PetscCall(TestDestroy(&b, &x));
    }
  }
  PetscCall(VecBindToCPU(mg->levels[0]->x, PETSC_FALSE));
  PetscCall(VecBindToCPU(mg->levels[1]->x, PETSC_FALSE));
  PetscCall(Expect(d, pc, PETSC_TRUE));
  PetscCall(KSPGetPC(smoother, &sub));
  PetscCall(PCSetType(sub, PCSOR));
  {
    PetscBool device;

    PetscCall(TestOnDevice(A, &device));
    PetscCall(Expect(d, pc, device)); /* by color on a GPU */
  }
  PetscCall(PCSetType(sub, PCJACOBI));
  PetscCall(Expect(d, pc, PETSC_TRUE));
  PetscCall(PCMGGetCoarseSolve(pc, &coarse));
  PetscCall(KSPGetPC(coarse, &sub));
  PetscCall(PCSetType(sub, PCJACOBI));
  PetscCall(Expect(d, pc, PETSC_FALSE));
  PetscCall(PCSetType(sub, PCAMBINVERSE));
  PetscCall(Expect(d, pc, PETSC_TRUE));
  PetscCall(PCDestroy(&pc));
  PetscCall(Geometric(A, 1, &pc));
  PetscCall(Expect(d, pc, PETSC_FALSE));
  PetscCall(TestDestroy(&pc, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- interpolations ------------------------------------------------- */

/* -Laplace u + u / 10 on the grid of the DM */
static PetscErrorCode GridOperator(KSP ksp, Mat A, Mat B, void *ctx)
{
  const PetscInt di[] = {0, -1, 1, 0, 0}, dj[] = {0, 0, 0, -1, 1};
  PetscInt       mx, my, x, y, m, n, dof;
  DM             dm;

  PetscFunctionBeginUser;
  PetscCall(KSPGetDM(ksp, &dm));
  PetscCall(DMDAGetInfo(dm, NULL, &mx, &my, NULL, NULL, NULL, NULL, &dof, NULL, NULL, NULL, NULL, NULL));
  PetscCall(DMDAGetCorners(dm, &x, &y, NULL, &m, &n, NULL));
  for (PetscInt j = y; j < y + n; j++) {
    for (PetscInt i = x; i < x + m; i++) {
      for (PetscInt c = 0; c < dof; c++) {
        const MatStencil row = {0, j, i, c};

        for (int k = 0; k < 5; k++) {
          const MatStencil  col   = {0, j + dj[k], i + di[k], c};
          const PetscScalar value = k ? -1.0 : 4.1;

          if (col.i >= 0 && col.i < mx && col.j >= 0 && col.j < my) PetscCall(MatSetValuesStencil(B, 1, &row, 1, &col, &value, INSERT_VALUES));
        }
      }
    }
  }
  PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Multigrid with three levels of a DM, of the type under test or of type AIJ */
static PetscErrorCode GridSolver(PetscBool reference, PetscInt dof, PCMGGalerkinType galerkin, KSP *ksp)
{
  char type[64];
  DM   dm;
  PC   pc;

  PetscFunctionBeginUser;
  PetscCall(TestTypeRoot(type, sizeof(type)));
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 33, 29, PETSC_DECIDE, PETSC_DECIDE, dof, 1, NULL, NULL, &dm));
  PetscCall(DMSetMatType(dm, reference ? MATAIJ : type));
  if (!reference) PetscCall(DMSetFromOptions(dm));
  PetscCall(DMSetUp(dm));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetType(*ksp, KSPCG));
  PetscCall(KSPSetTolerances(*ksp, 100 * PETSC_SQRT_MACHINE_EPSILON, PETSC_DEFAULT, PETSC_DEFAULT, 100));
  PetscCall(KSPSetDM(*ksp, dm));
  PetscCall(KSPSetComputeOperators(*ksp, GridOperator, NULL));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, PCMG));
  PetscCall(PCMGSetLevels(pc, 3, NULL));
  PetscCall(PCMGSetGalerkin(pc, galerkin));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves with both solvers: iterations and solutions agree */
static PetscErrorCode GridCompare(TestDiff *d, const KSP ksp[2])
{
  PetscInt its[2];
  Vec      x[2], b, y;
  DM       dm;

  PetscFunctionBeginUser;
  for (int k = 0; k < 2; k++) {
    PetscCall(KSPGetDM(ksp[k], &dm));
    PetscCall(DMCreateGlobalVector(dm, &x[k]));
    PetscCall(VecDuplicate(x[k], &b));
    PetscCall(TestVecSet(b, 1));
    PetscCall(KSPSolve(ksp[k], b, x[k]));
    PetscCall(KSPGetIterationNumber(ksp[k], &its[k]));
    PetscCall(VecDestroy(&b));
  }
  TestExpect(d, "other iterations than with aij", (PetscBool)(its[0] == its[1]));
  PetscCall(VecDuplicate(x[1], &y));
  PetscCall(VecCopy(x[0], y));
  PetscCall(Near(d, "another solution than with aij", y, x[1]));
  for (int k = 0; k < 2; k++) PetscCall(VecDestroy(&x[k]));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The vectors of the levels are where the operators are */
static PetscErrorCode GridVectors(TestDiff *d, const PC_MG_Levels *level, const PC_MG_Levels *coarse)
{
  Vec v[] = {level->r, coarse->b, coarse->x, level->rscale}, like;
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(KSPGetOperators(level->smoothd, &A, NULL));
  PetscCall(MatCreateVecs(A, &like, NULL));
  for (int k = 0; k < 4; k++) {
    PetscBool same = PETSC_TRUE;

    if (v[k]) PetscCall(PetscObjectTypeCompare((PetscObject)v[k], ((PetscObject)like)->type_name, &same));
    TestExpect(d, "a vector of a level has another type than those of its operator", same);
  }
  PetscCall(VecDestroy(&like));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On a GPU the interpolations have the type under test; they are those of the reference otherwise */
static PetscErrorCode GridTypes(TestDiff *d, const KSP ksp[2])
{
  PC_MG *mg[2];
  PC     pc;

  PetscFunctionBeginUser;
  for (int k = 0; k < 2; k++) {
    PetscCall(KSPGetPC(ksp[k], &pc));
    mg[k] = (PC_MG *)pc->data;
  }
  for (PetscInt l = 1; l < mg[0]->nlevels; l++) {
    const PC_MG_Levels *level = mg[0]->levels[l], *reference = mg[1]->levels[l];
    PetscBool           device;

    PetscCall(TestOnDevice(level->A, &device));
    if (device) PetscCall(TestDiffType(d, level->interpolate));
    if (device) PetscCall(TestDiffType(d, level->restrct));
    PetscCall(TestDiffTraits(d, level->interpolate, reference->interpolate));
    PetscCall(TestDiffMat(d, level->interpolate, reference->interpolate));
    PetscCall(GridVectors(d, level, mg[0]->levels[l - 1]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* New values, on each level: each interpolation stays the object that it was, in the same state, and keeps its shadow */
static PetscErrorCode GridAgain(TestDiff *d, const KSP ksp[2])
{
  PetscObject      P[2][3], shadow[2][3];
  PetscObjectState state[2][3];
  PC_MG           *mg;
  Mat              A;
  PC               pc;

  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(ksp[0], &pc));
  mg = (PC_MG *)pc->data;
  for (int after = 0; after < 2; after++) {
    for (PetscInt l = 1; l < mg->nlevels; l++) {
      P[after][l] = (PetscObject)mg->levels[l]->interpolate;
      PetscCall(PetscObjectQuery(P[after][l], "MatShadow", &shadow[after][l]));
      PetscCall(PetscObjectStateGet(P[after][l], &state[after][l]));
      if (after) TestExpect(d, "an interpolation is converted again", (PetscBool)(P[0][l] == P[1][l] && shadow[0][l] == shadow[1][l] && state[0][l] == state[1][l]));
    }
    for (int k = 0; k < 2 && !after; k++) {
      PetscCall(KSPGetOperators(ksp[k], &A, NULL));
      PetscCall(MatScale(A, 1.5));
      PetscCall(KSPSetOperators(ksp[k], A, A));
    }
    if (!after) PetscCall(GridCompare(d, ksp));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Interpolations(TestDiff *d)
{
  const PCMGGalerkinType galerkin[] = {PC_MG_GALERKIN_NONE, PC_MG_GALERKIN_BOTH};
  KSP                    ksp[2];
  PC                     pc;

  PetscFunctionBeginUser;
  for (int g = 0; g < 2; g++) {
    for (int k = 0; k < 2; k++) PetscCall(GridSolver((PetscBool)k, 1, galerkin[g], &ksp[k]));
    PetscCall(GridCompare(d, ksp));
    PetscCall(GridTypes(d, ksp));
    PetscCall(GridAgain(d, ksp));
    for (int k = 0; k < 2; k++) {
      PetscCall(KSPGetPC(ksp[k], &pc));
      PetscCall(PCReset(pc));
      PetscCall(KSPSetComputeOperators(ksp[k], GridOperator, NULL));
      ksp[k]->setupstage = KSP_SETUP_NEW;
    }
    PetscCall(GridCompare(d, ksp));
    PetscCall(GridTypes(d, ksp));
    for (int k = 0; k < 2; k++) PetscCall(KSPDestroy(&ksp[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Two unknowns in a point: the interpolation stays a MAIJ on the host, and is an AIJ on a GPU, as with AIJCUSPARSE */
static PetscErrorCode Unknowns(TestDiff *d)
{
  PetscBool maij, device;
  KSP       ksp[2];
  Mat       A, P;
  PC        pc;

  PetscFunctionBeginUser;
  for (int k = 0; k < 2; k++) PetscCall(GridSolver((PetscBool)k, 2, PC_MG_GALERKIN_NONE, &ksp[k]));
  PetscCall(GridCompare(d, ksp));
  PetscCall(KSPGetOperators(ksp[0], &A, NULL));
  PetscCall(TestOnDevice(A, &device));
  PetscCall(KSPGetPC(ksp[0], &pc));
  PetscCall(PCMGGetInterpolation(pc, 1, &P));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)P, &maij, MATSEQMAIJ, MATMPIMAIJ, ""));
  TestExpect(d, "a MAIJ becomes an AIJ on the host, or does not on a GPU", (PetscBool)(maij == !device));
  if (device) PetscCall(TestDiffType(d, P));
  TestExpect(d, "an interpolation loses its block sizes", (PetscBool)(P->rmap->bs == 2 && P->cmap->bs == 2));
  for (int k = 0; k < 2; k++) PetscCall(KSPDestroy(&ksp[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ShellMult(Mat S, Vec x, Vec y)
{
  Mat P;

  PetscFunctionBeginUser;
  PetscCall(MatShellGetContext(S, &P));
  PetscCall(MatMult(P, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ShellMultTranspose(Mat S, Vec x, Vec y)
{
  Mat P;

  PetscFunctionBeginUser;
  PetscCall(MatShellGetContext(S, &P));
  PetscCall(MatMultTranspose(P, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AIJMult(Mat P, Vec x, Vec y)
{
  PetscFunctionBeginUser;
  PetscCall(VecZeroEntries(y));
  PetscCall(MatMultAdd(P, x, y, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Interpolations of the program: on a GPU an AIJ gets the type of the levels, and one with an operation of the program, a MAIJ and a shell stay what they are */
static PetscErrorCode Given(TestDiff *d)
{
  PetscBool same, device;
  KSP       ksp[2];
  DM        fine, coarse;
  Mat       A, P, S, given;
  PC        pc;
  char      type[64];

  PetscFunctionBeginUser;
  for (int k = 0; k < 4; k++) {
    for (int r = 0; r < 2; r++) PetscCall(GridSolver((PetscBool)r, k == 2 ? 2 : 1, PC_MG_GALERKIN_NONE, &ksp[r]));
    PetscCall(GridCompare(d, ksp));
    PetscCall(KSPGetDM(ksp[1], &fine));
    PetscCall(DMCoarsen(fine, MPI_COMM_NULL, &coarse));
    PetscCall(DMCreateInterpolation(coarse, fine, &P, NULL));
    PetscCall(MatCreateShell(PETSC_COMM_WORLD, P->rmap->n, P->cmap->n, P->rmap->N, P->cmap->N, P, &S));
    PetscCall(MatShellSetOperation(S, MATOP_MULT, (void (*)(void))ShellMult));
    PetscCall(MatShellSetOperation(S, MATOP_MULT_TRANSPOSE, (void (*)(void))ShellMultTranspose));
    if (k == 1) PetscCall(MatSetOperation(P, MATOP_MULT, (void (*)(void))AIJMult));
    given = k == 3 ? S : P;
    PetscCall(PetscStrncpy(type, ((PetscObject)given)->type_name, sizeof(type)));
    PetscCall(KSPGetPC(ksp[0], &pc));
    PetscCall(PCMGSetInterpolation(pc, 2, given));
    PetscCall(PCMGSetRestriction(pc, 2, given));
    for (int r = 0; r < 2; r++) {
      PetscCall(KSPGetOperators(ksp[r], &A, NULL));
      PetscCall(MatScale(A, 1.5));
      PetscCall(KSPSetOperators(ksp[r], A, A));
    }
    PetscCall(GridCompare(d, ksp));
    PetscCall(PetscObjectTypeCompare((PetscObject)given, type, &same));
    PetscCall(KSPGetOperators(ksp[0], &A, NULL));
    PetscCall(TestOnDevice(A, &device));
    if (device && !k) PetscCall(TestDiffType(d, given));
    else TestExpect(d, "an interpolation of the program gets another type", same);
    for (int r = 0; r < 2; r++) PetscCall(KSPDestroy(&ksp[r]));
    PetscCall(TestDestroy(&S, &P, &coarse));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const TestCase tests[] = {
  {"scalar",     Scalar    },
  {"blocks",     Blocks    },
  {"sweeps",     Sweeps    },
  {"null space", NullSpaces},
  {"cycles",     Cycles    },
  {"turns",      Turns     },
  {"patience",   Patience  },
  {"fall-backs", FallBacks },
  {NULL,         NULL      }
};

static const TestCase tests_several[] = {
  {"scalar", Scalar},
  {"blocks", Blocks},
  {"sweeps", Sweeps},
  {"turns",  Turns },
  {NULL,     NULL  }
};

static const TestCase tests_grids[] = {
  {"interpolations", Interpolations},
  {"unknowns",       Unknowns      },
  {"given",          Given         },
  {NULL,             NULL          }
};

int main(int argc, char **argv)
{
  PetscBool grids = PETSC_FALSE, several = PETSC_FALSE;

  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-test_grids", &grids, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-test_several", &several, NULL));
  PetscCall(TestRun(grids ? tests_grids : several ? tests_several : tests));
  return TestFinalize();
}

/*TEST

  testset:
    requires: double !complex
    args: -petscamb_mg_graph -petscamb_for_ksp -mg_levels_pc_type jacobi
    checks: 8
    test:
      suffix: host
      args: -mat_type {{aij amb}} -mat_amb_device cpu -mat_shadow_tune off -options_left no
    test:
      suffix: gpu
      requires: cuda
      args: -mat_type amb -mat_shadow_tune {{off measure}}
    test:
      suffix: malloc
      args: -mat_type amb -mat_shadow_tune off -malloc_dump

  testset:
    requires: double !complex
    args: -test_several -petscamb_mg_graph -petscamb_for_ksp -mg_levels_pc_type jacobi -malloc_dump
    nsize: {{2 3}}
    checks: 4
    test:
      suffix: several_host
      args: -mat_type {{aij amb}} -mat_amb_device cpu -mat_shadow_tune off -options_left no
    test:
      suffix: several_gpu
      requires: cuda
      args: -mat_type amb -mat_shadow_halo peer -mat_shadow_tune {{off measure}}

  testset:
    args: -test_grids -mg_levels_pc_type jacobi
    checks: 3
    test:
      suffix: grids
      nsize: {{1 2 3}}
      args: -mat_type {{@types}} @types(-mat_%s_device cpu) -mat_shadow_tune off -malloc_dump -options_left no
    test:
      suffix: grids_for_aij
      nsize: 2
      args: -mat_type aij -petscamb_for_aij amb -mat_amb_device cpu -malloc_dump -options_left no
    test:
      suffix: grids_gpu
      requires: cuda double !complex
      nsize: {{1 2}}
      args: -mat_type {{amb nussell autosparse}} -dm_vec_type cuda

TEST*/
