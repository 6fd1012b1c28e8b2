/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "The preconditioner ambilu beside PCILU and beside definitions: ILU(0), DILU, approximate inverses, orderings, transposes, new values, zero pivots.\n";

#include "../testutil.h"
#include <petscksp.h>
#include <petscamb.h>

#define DENSE 6 /* rows of a dense block */

static PetscScalar ValueBlocks(PetscInt i, PetscInt j)
{
  return i == j ? 12.0 : TestReal(i, j);
}

/* Row 7 has a zero pivot: it and its neighbours hold nothing but the diagonal */
static PetscScalar ValuePivot(PetscInt i, PetscInt j)
{
  if (i == 7 || j == 7) return 0.0;
  return TestValueSymmetric(i, j);
}

static PetscInt RowDense(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[])
{
  for (PetscInt k = 0; k < DENSE; k++) cols[k] = i / DENSE * DENSE + k;
  return DENSE;
}

static PetscInt RowChain(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[])
{
  PetscInt n = 0;

  for (PetscInt k = PetscMax(i - 1, 0); k < PetscMin(i + 2, N); k++) cols[n++] = k;
  return n;
}

/* Row 5 has no diagonal */
static PetscInt RowMissing(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[])
{
  cols[0] = i == 5 ? 6 : i;
  return 1;
}

static const TestShape convection = {"convection", 900, 900, TestRowGrid, TestValueConvection, PETSC_FALSE};
static const TestShape symmetric  = {"symmetric", 900, 900, TestRowGrid, TestValueSymmetric, PETSC_FALSE};
static const TestShape blocks     = {"blocks", 324, 324, TestRowBlocks, ValueBlocks, PETSC_FALSE};
static const TestShape dense      = {"dense", 18 * DENSE, 18 * DENSE, RowDense, ValueBlocks, PETSC_FALSE};
static const TestShape chain      = {"chain", 300, 300, RowChain, ValueBlocks, PETSC_FALSE};
static const TestShape pivot      = {"pivot", 100, 100, TestRowGrid, ValuePivot, PETSC_FALSE};
static const TestShape missing    = {"missing", 40, 40, RowMissing, ValueBlocks, PETSC_FALSE};

static const char *const orderings[] = {MATORDERINGNATURAL, MATORDERINGAMBCOLOR, MATORDERINGRCM};

/* Is y near x? */
static PetscErrorCode Near(TestDiff *d, Vec y, Vec x, const char what[])
{
  PetscReal norm, err;
  Vec       w;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(x, &w));
  PetscCall(VecNorm(x, NORM_2, &norm));
  PetscCall(VecWAXPY(w, -1.0, x, y));
  PetscCall(VecNorm(w, NORM_2, &err));
  TestExpect(d, what, (PetscBool)(err <= 1e4 * PETSC_MACHINE_EPSILON * norm && norm > 0));
  PetscCall(VecDestroy(&w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(Mat A, PCAMBILUType type, MatOrderingType ordering, PC *pc)
{
  PetscFunctionBeginUser;
  PetscCall(PCCreate(PetscObjectComm((PetscObject)A), pc));
  PetscCall(PCSetOperators(*pc, A, A));
  PetscCall(PCSetType(*pc, PCAMBILU));
  PetscCall(PCAMBILUSetType(*pc, type));
  PetscCall(PCAMBILUSetOrderingType(*pc, ordering));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Apply(PC pc, PetscBool transpose, Vec b, Vec x)
{
  PetscFunctionBeginUser;
  if (transpose) PetscCall(PCApplyTranspose(pc, b, x));
  else PetscCall(PCApply(pc, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Without fill between neighbours of a row, DILU is ILU(0) */
static PetscErrorCode AsILU(TestDiff *d)
{
  PetscFunctionBeginUser;
  for (int k = 0; k < 12; k++) {
    const PetscBool transpose = (PetscBool)(k & 1);
    const char     *ordering  = orderings[k / 4];
    Mat             A, B;
    Vec             b, x, y, bb, xx;
    PC              pc, ilu;

    PetscCall(TestShapeCreate(&convection, NULL, &A));
    PetscCall(MatCreateVecs(A, &x, &b));
    PetscCall(VecDuplicate(x, &y));
    PetscCall(TestVecSet(b, 3));
    PetscCall(Create(A, k & 2 ? PC_AMBILU_DILU : PC_AMBILU_ILU, ordering, &pc));
    PetscCall(MatGetDiagonalBlock(A, &B));
    PetscCall(PCCreate(PETSC_COMM_SELF, &ilu));
    PetscCall(PCSetOperators(ilu, B, B));
    PetscCall(PCSetType(ilu, PCILU));
    PetscCall(PCFactorSetMatOrderingType(ilu, ordering));
    PetscCall(PCFactorSetMatSolverType(ilu, MATSOLVERPETSC));
    PetscCall(MatCreateVecs(B, &xx, &bb));
    for (int values = 0; values < 2; values++) {
      PetscCall(VecGetLocalVectorRead(b, bb));
      PetscCall(VecGetLocalVector(y, xx));
      PetscCall(Apply(ilu, transpose, bb, xx));
      PetscCall(VecRestoreLocalVector(y, xx));
      PetscCall(VecRestoreLocalVectorRead(b, bb));
      PetscCall(Apply(pc, transpose, b, x));
      PetscCall(Near(d, x, y, values ? "with new values another solution than PCILU" : "another solution than PCILU"));
      PetscCall(MatShift(A, 0.5));
      PetscCall(PCSetOperators(ilu, B, B));
    }
    PetscCall(TestDestroy(&bb, &xx, &b, &x, &y, &pc, &ilu, &A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* M = (E + L) E^-1 (E + U) of a dense matrix, and E by its definition */
static void DenseDILU(PetscInt n, const PetscScalar a[], PetscScalar m[])
{
  PetscScalar e[324];

  for (PetscInt i = 0; i < n; i++) {
    e[i] = a[i * n + i];
    for (PetscInt j = 0; j < i; j++) e[i] -= a[i * n + j] * a[j * n + i] / e[j];
  }
  for (PetscInt i = 0; i < n; i++) {
    for (PetscInt j = 0; j < n; j++) {
      PetscScalar sum = 0;

      for (PetscInt k = 0; k <= PetscMin(i, j); k++) sum += (k == i ? e[k] : a[i * n + k]) / e[k] * (k == j ? e[k] : a[k * n + j]);
      m[i * n + j] = sum;
    }
  }
}

/* The matrix of DILU times a solution is the right-hand side, without and with nodes of three rows */
static PetscErrorCode DILU(TestDiff *d)
{
  static PetscScalar a[324 * 324], m[324 * 324];

  PetscFunctionBeginUser;
  for (int round = 0; round < 4; round++) {
    const PetscBool    transpose = (PetscBool)(round % 2);
    const PetscScalar *solution;
    PetscScalar       *product;
    PetscInt           first, last, n;
    Mat                A;
    Vec                b, x, y;
    PC                 pc;

    PetscCall(TestShapeCreate(&blocks, NULL, &A));
    if (round > 1) PetscCall(MatSetBlockSize(A, 3));
    PetscCall(MatGetOwnershipRange(A, &first, &last));
    n = last - first;
    for (PetscInt i = 0; i < n; i++) {
      for (PetscInt j = 0; j < n; j++) {
        const PetscInt row = first + i, column = first + j;

        PetscCall(MatGetValues(A, 1, &row, 1, &column, a + i * n + j));
      }
    }
    DenseDILU(n, a, m);
    PetscCall(MatCreateVecs(A, &x, &b));
    PetscCall(VecDuplicate(b, &y));
    PetscCall(TestVecSet(b, 5));
    PetscCall(Create(A, PC_AMBILU_DILU, MATORDERINGNATURAL, &pc));
    PetscCall(Apply(pc, transpose, b, x));
    PetscCall(VecGetArrayRead(x, &solution));
    PetscCall(VecGetArrayWrite(y, &product));
    for (PetscInt i = 0; i < n; i++) {
      product[i] = 0;
      for (PetscInt j = 0; j < n; j++) product[i] += (transpose ? m[j * n + i] : m[i * n + j]) * solution[j];
    }
    PetscCall(VecRestoreArrayWrite(y, &product));
    PetscCall(VecRestoreArrayRead(x, &solution));
    PetscCall(Near(d, y, b, "DILU solves with another matrix"));
    PetscCall(TestDestroy(&pc, &b, &x, &y, &A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Vectors bound to the CPU have the same solution, also with new values */
static PetscErrorCode Bound(TestDiff *d)
{
  PetscFunctionBeginUser;
  for (int k = 0; k < 8; k++) {
    const PetscBool transpose = (PetscBool)(k & 1);
    Mat             A;
    Vec             b[2], x[2];
    PC              pc;

    PetscCall(TestShapeCreate(&blocks, NULL, &A));
    for (int bound = 0; bound < 2; bound++) {
      PetscCall(MatCreateVecs(A, &x[bound], &b[bound]));
      PetscCall(VecBindToCPU(x[bound], (PetscBool)bound));
      PetscCall(VecBindToCPU(b[bound], (PetscBool)bound));
      PetscCall(TestVecSet(b[bound], 5));
    }
    PetscCall(Create(A, k & 2 ? PC_AMBILU_DILU : PC_AMBILU_ISAI, orderings[k / 4], &pc));
    for (int values = 0; values < 2; values++) {
      for (int bound = 0; bound < 2; bound++) PetscCall(Apply(pc, transpose, b[bound], x[bound]));
      PetscCall(Near(d, x[1], x[0], "another solution in vectors of the host"));
      PetscCall(MatShift(A, 3.0));
    }
    PetscCall(TestDestroy(&pc, &b[0], &b[1], &x[0], &x[1], &A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The inverses of a tridiagonal block, by hand */
static PetscErrorCode InverseOfChain(TestDiff *d, PetscBool transpose)
{
  const PetscScalar *from;
  PetscScalar       *to, u = 0, w[300];
  PetscInt           first, last;
  Mat                A;
  Vec                b, x, y;
  PC                 pc;

  PetscFunctionBeginUser;
  PetscCall(TestShapeCreate(&chain, NULL, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(b, &y));
  PetscCall(TestVecSet(b, 5));
  PetscCall(Create(A, PC_AMBILU_ISAI, MATORDERINGNATURAL, &pc));
  PetscCall(Apply(pc, transpose, b, x));
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  PetscCall(VecGetArrayRead(b, &from));
  PetscCall(VecGetArrayWrite(y, &to));
  for (int pass = 0; pass < 2; pass++) { /* first with one inverse, then with the other one */
    const PetscBool    lower = (PetscBool)(!pass == !transpose);
    const PetscScalar *in    = pass ? w : from;
    PetscScalar       *out   = pass ? to : w;

    for (PetscInt i = 0; i < last - first; i++) out[i] = 0;
    for (PetscInt i = 0; i < last - first; i++) {
      const PetscInt    row = first + i, before = first + i - 1;
      PetscScalar       below = 0, above = 0, diagonal;
      const PetscScalar previous = u;

      PetscCall(MatGetValues(A, 1, &row, 1, &row, &diagonal));
      if (i) PetscCall(MatGetValues(A, 1, &row, 1, &before, &below));
      if (i) PetscCall(MatGetValues(A, 1, &before, 1, &row, &above));
      u = i ? diagonal - below / previous * above : diagonal;
      out[i] += lower ? in[i] : in[i] / u;
      if (!i) continue;
      if (lower && !transpose) out[i] -= below / previous * in[i - 1];
      if (lower && transpose) out[i - 1] -= below / previous * in[i];
      if (!lower && !transpose) out[i - 1] -= above / previous / u * in[i];
      if (!lower && transpose) out[i] -= above / previous / u * in[i - 1];
    }
  }
  PetscCall(VecRestoreArrayWrite(y, &to));
  PetscCall(VecRestoreArrayRead(b, &from));
  PetscCall(Near(d, x, y, "other inverses of a tridiagonal matrix"));
  PetscCall(TestDestroy(&pc, &b, &x, &y, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Dense blocks have exact inverses, in any ordering, and new values too */
static PetscErrorCode InverseOfBlocks(TestDiff *d, MatOrderingType ordering, PetscBool transpose)
{
  Mat A;
  Vec b, x, y;
  PC  pc;

  PetscFunctionBeginUser;
  PetscCall(TestShapeCreate(&dense, NULL, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(b, &y));
  PetscCall(TestVecSet(b, 5));
  PetscCall(Create(A, PC_AMBILU_ISAI, ordering, &pc));
  for (int values = 0; values < 2; values++) {
    PetscCall(Apply(pc, transpose, b, x));
    if (transpose) PetscCall(MatMultTranspose(A, x, y));
    else PetscCall(MatMult(A, x, y));
    PetscCall(Near(d, y, b, "inexact inverses of dense blocks"));
    PetscCall(MatShift(A, 3.0));
  }
  PetscCall(TestDestroy(&pc, &b, &x, &y, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Inverses(TestDiff *d)
{
  PetscFunctionBeginUser;
  for (int transpose = 0; transpose < 2; transpose++) {
    PetscCall(InverseOfChain(d, (PetscBool)transpose));
    for (int k = 0; k < 3; k++) PetscCall(InverseOfBlocks(d, orderings[k], (PetscBool)transpose));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All types need fewer iterations than Jacobi, also for CG, which wants a symmetric preconditioner; and all report a zero pivot */
static PetscErrorCode Solves(TestDiff *d)
{
  PetscInt           jacobi, its;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(TestSolve(&symmetric, "-ksp_type cg -pc_type jacobi", 1e-5, 200, &reason, &jacobi));
  for (int k = 0; k < 3; k++) {
    char options[128];

    for (int o = 0; o < 2; o++) {
      PetscCall(PetscSNPrintf(options, sizeof(options), "-ksp_type cg -pc_type ambilu -pc_ambilu_type %s -pc_ambilu_mat_ordering_type %s", PCAMBILUTypes[k], orderings[o]));
      PetscCall(TestSolve(&symmetric, options, 1e-5, 200, &reason, &its));
      TestExpect(d, options, (PetscBool)(reason > 0 && its < jacobi));
    }
    PetscCall(PetscSNPrintf(options, sizeof(options), "-ksp_type gmres -pc_type ambilu -pc_ambilu_type %s", PCAMBILUTypes[k]));
    PetscCall(TestSolve(&pivot, options, 1e-5, 200, &reason, &its));
    TestExpect(d, "a zero pivot is not reported", (PetscBool)(reason == KSP_DIVERGED_PC_FAILED));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Another type, another ordering, and another pattern discard the set-up */
static PetscErrorCode Changes(TestDiff *d)
{
  Mat A, B;
  Vec b, x, y;
  PC  pc, fresh;

  PetscFunctionBeginUser;
  PetscCall(TestShapeCreate(&blocks, NULL, &A));
  PetscCall(TestShapeCreate(&blocks, NULL, &B));
  PetscCall(MatSetOption(B, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_FALSE));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(b, &y));
  PetscCall(TestVecSet(b, 5));
  PetscCall(Create(B, PC_AMBILU_ISAI, MATORDERINGNATURAL, &pc));
  for (int k = 0; k < 4; k++) {
    PetscInt first, last;

    if (k == 1) PetscCall(PCAMBILUSetType(pc, PC_AMBILU_DILU));
    if (k == 2) PetscCall(PCAMBILUSetOrderingType(pc, MATORDERINGRCM));
    if (k == 3) {
      PetscCall(MatGetOwnershipRange(B, &first, &last));
      PetscCall(MatSetValue(B, first, last - 1, 0.75, INSERT_VALUES));
      PetscCall(MatSetValue(B, last - 1, first, 0.75, INSERT_VALUES));
      PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
      PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
    }
    PetscCall(Apply(pc, PETSC_FALSE, b, x));
    PetscCall(Create(B, k ? PC_AMBILU_DILU : PC_AMBILU_ISAI, k < 2 ? MATORDERINGNATURAL : MATORDERINGRCM, &fresh));
    PetscCall(Apply(fresh, PETSC_FALSE, b, y));
    PetscCall(Near(d, x, y, "a set-up is not discarded"));
    PetscCall(PCDestroy(&fresh));
  }
  PetscCall(TestDestroy(&pc, &b, &x, &y, &A, &B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Columns from the last to the first */
static PetscErrorCode OrderReversed(Mat A, MatOrderingType type, IS *rows, IS *cols)
{
  PetscInt n;

  PetscFunctionBeginUser;
  PetscCall(MatGetLocalSize(A, &n, NULL));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, n, 0, 1, rows));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, n, n - 1, -1, cols));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Errors(TestDiff *d)
{
  PetscMPIInt nproc;
  Mat         A, B;
  PC          pc;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &nproc));
  if (nproc > 1) PetscFunctionReturn(PETSC_SUCCESS); /* an error on one process alone */
  PetscCall(TestShapeCreate(&convection, "plain_", &A));
  PetscCall(Create(A, PC_AMBILU_DILU, MATORDERINGNATURAL, &pc));
  TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "use PC_AMBILU_ILU", PCAMBILUSetType(pc, (PCAMBILUType)3));
  PetscCall(MatOrderingRegister("reversed_columns", OrderReversed));
  PetscCall(PCAMBILUSetOrderingType(pc, "reversed_columns"));
  TestExpectError(d, PETSC_ERR_SUP, "other rows than columns", PCSetUp(pc));
  PetscCall(PCDestroy(&pc));
  PetscCall(Create(A, PC_AMBILU_DILU, MATORDERINGNATURAL, &pc));
  PetscCall(MatConvert(A, MATBAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(PCSetOperators(pc, B, B));
  TestExpectError(d, PETSC_ERR_SUP, "use -mat_type amb", PCSetUp(pc));
  PetscCall(TestDestroy(&pc, &A, &B));
  PetscCall(TestShapeCreate(&missing, NULL, &A));
  PetscCall(Create(A, PC_AMBILU_DILU, MATORDERINGNATURAL, &pc));
  TestExpectError(d, PETSC_ERR_ARG_WRONGSTATE, "missing the diagonal entry of row 5", PCSetUp(pc));
  PetscCall(TestDestroy(&pc, &A));
  PetscCall(TestShapeCreate(&pivot, NULL, &A));
  PetscCall(Create(A, PC_AMBILU_DILU, MATORDERINGNATURAL, &pc));
  PetscCall(PCSetErrorIfFailure(pc, PETSC_TRUE));
  TestExpectError(d, PETSC_ERR_MAT_LU_ZRPVT, "zero pivot in row 7", PCSetUp(pc));
  PetscCall(TestDestroy(&pc, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const TestCase tests[] = {
  {"as ilu",   AsILU   },
  {"dilu",     DILU    },
  {"bound",    Bound   },
  {"inverses", Inverses},
  {"solves",   Solves  },
  {"changes",  Changes },
  {"errors",   Errors  },
  {NULL,       NULL    }
};

int main(int argc, char **argv)
{
  return TestMain(argc, argv, help, tests);
}

/*TEST

  test:
    nsize: {{1 2 3}}
    args: -mat_type {{aij @types-ccoo-tilecomposite}} -mat_shadow_tune off -options_left no
    checks: 7

TEST*/
