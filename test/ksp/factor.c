/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "MATSOLVERAMB beside MATSOLVERPETSC: solves, transposed ones, sums, several right-hand sides, new values, orderings, nodes of several rows, zero pivots, shifts, numbers that are not finite, in place, the default of PCILU and PCICC.\n\
  -factor_times N : instead prints times of solves and of sweeps of MatSOR(), medians of N pairs in turns, with the natural order of grids\n";

#include "../testutil.h"
#include <time.h>

static PetscScalar ValueBlocks(PetscInt i, PetscInt j)
{
  return i == j ? 8.0 : 0.5 * TestReal(PetscMin(i, j), PetscMax(i, j));
}

/* Row 7 has a zero pivot: it and its neighbours hold nothing but the diagonal */
static PetscScalar ValuePivot(PetscInt i, PetscInt j)
{
  if (i == 7 || j == 7) return 0.0;
  return TestValueSymmetric(i, j);
}

static PetscScalar ValueOne(PetscInt i, PetscInt j)
{
  return TestReal(i, j);
}

static PetscInt RowDiagonal(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[])
{
  cols[0] = i;
  return 1;
}

static PetscInt rows_of_node = 1; /* the block size of matrices */

/* Nodes have the neighbors of a 10 x 10 grid, and each row has all columns of a node */
static PetscInt RowNodes(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[])
{
  const PetscInt offset[] = {-10, -1, 0, 1, 10}, node = i / rows_of_node;
  PetscInt       n = 0;

  for (int k = 0; k < 5; k++) {
    if (node + offset[k] < 0 || node + offset[k] >= M / rows_of_node) continue;
    for (PetscInt c = 0; c < rows_of_node; c++) cols[n++] = (node + offset[k]) * rows_of_node + c;
  }
  return n;
}

static PetscScalar ValueNodes(PetscInt i, PetscInt j)
{
  return i == j ? 3.0 * (PetscReal)rows_of_node : 0.5 * TestReal(PetscMin(i, j), PetscMax(i, j));
}

/* Of I-nodes with different numbers of rows */
static PetscScalar ValueMixed(PetscInt i, PetscInt j)
{
  return i == j ? 30.0 : 0.5 * TestReal(PetscMin(i, j), PetscMax(i, j));
}

static const TestShape convection = {"convection", 900, 900, TestRowGrid, TestValueConvection, PETSC_FALSE};
static const TestShape symmetric  = {"symmetric", 900, 900, TestRowGrid, TestValueSymmetric, PETSC_FALSE};
static const TestShape blocks     = {"blocks", 324, 324, TestRowBlocks, ValueBlocks, PETSC_FALSE};
static const TestShape diagonal   = {"diagonal", 33, 33, RowDiagonal, TestValueSymmetric, PETSC_FALSE};
static const TestShape pivot      = {"pivot", 100, 100, TestRowGrid, ValuePivot, PETSC_FALSE};

/* ------------------------------------------------- factors ------------------------------------------------- */

typedef struct {
  MatFactorType      type;
  PetscInt           levels;
  MatOrderingType    ordering;
  MatFactorShiftType shift;
} Kind;

static PetscErrorCode Numeric(Mat F, Mat A, const Kind *kind, const MatFactorInfo *info)
{
  PetscFunctionBeginUser;
  if (kind->type == MAT_FACTOR_ICC) PetscCall(MatCholeskyFactorNumeric(F, A, info));
  else PetscCall(MatLUFactorNumeric(F, A, info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Factor(Mat A, MatSolverType package, const Kind *kind, MatFactorInfo *info, Mat *F)
{
  IS rows, cols;

  PetscFunctionBeginUser;
  PetscCall(MatFactorInfoInitialize(info));
  info->levels      = kind->levels;
  info->fill        = 1;
  info->zeropivot   = 100 * PETSC_MACHINE_EPSILON;
  info->shifttype   = (PetscReal)kind->shift;
  info->shiftamount = kind->shift == MAT_SHIFT_NONE ? 0 : 0.01;
  PetscCall(MatGetFactor(A, package, kind->type, F));
  PetscCall(MatGetOrdering(A, kind->ordering, &rows, &cols));
  if (kind->type == MAT_FACTOR_ICC) PetscCall(MatICCFactorSymbolic(*F, A, rows, info));
  else PetscCall(MatILUFactorSymbolic(*F, A, rows, cols, info));
  PetscCall(ISDestroy(&rows)); /* the factor keeps them */
  PetscCall(ISDestroy(&cols));
  PetscCall(Numeric(*F, A, kind, info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CompareSolves(TestDiff *d, Mat A, Mat F, Mat R, Mat G)
{
  Vec x, b, y, s;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(MatCreateVecs(R, &y, &s));
  PetscCall(TestVecSet(b, 3));
  PetscCall(TestVecSet(s, 3));
  for (int again = 0; again < 2; again++) {
    PetscCall(MatSolve(F, b, x));
    PetscCall(MatSolve(G, s, y));
    PetscCall(TestDiffVec(d, "MatSolve", x, y, NULL));
    PetscCall(MatSolveTranspose(F, b, x));
    PetscCall(MatSolveTranspose(G, s, y));
    PetscCall(TestDiffVec(d, "MatSolveTranspose", x, y, NULL));
  }
  PetscCall(MatSolveTransposeAdd(F, b, x, x));
  PetscCall(MatSolveTransposeAdd(G, s, y, y));
  PetscCall(TestDiffVec(d, "MatSolveTransposeAdd, in place", x, y, NULL));
  PetscCall(MatSolveAdd(F, b, x, x));
  PetscCall(MatSolveAdd(G, s, y, y));
  PetscCall(TestDiffVec(d, "MatSolveAdd, in place", x, y, NULL));
  PetscCall(MatSolveAdd(F, b, b, x));
  PetscCall(MatSolveAdd(G, s, s, y));
  PetscCall(TestDiffVec(d, "MatSolveAdd", x, y, NULL));
  PetscCall(TestDestroy(&x, &b, &y, &s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Operations that read PETSc's arrays on the host, which a factor made on a GPU does not have before */
static PetscErrorCode CompareHost(TestDiff *d, Mat F, Mat R, Mat G)
{
  MatInfo   info[2];
  PetscBool half;
  Vec       b, x, y;

  PetscFunctionBeginUser;
  PetscCall(MatGetInfo(F, MAT_LOCAL, &info[0]));
  PetscCall(MatGetInfo(G, MAT_LOCAL, &info[1]));
  TestExpect(d, "another number of entries", (PetscBool)(info[0].nz_used == info[1].nz_used));
  PetscCall(MatCreateVecs(R, &x, &b));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(TestVecSet(b, 4));
  PetscCall(MatGetDiagonal(F, x));
  PetscCall(MatGetDiagonal(G, y));
  PetscCall(TestDiffVec(d, "MatGetDiagonal", x, y, NULL));
  PetscCall(MatSolve(F, b, x));
  PetscCall(MatSolve(G, b, y));
  PetscCall(TestDiffVec(d, "MatSolve, vectors on the host", x, y, NULL));
  PetscCall(MatSolveTranspose(F, b, x));
  PetscCall(MatSolveTranspose(G, b, y));
  PetscCall(TestDiffVec(d, "MatSolveTranspose, vectors on the host", x, y, NULL));
  PetscCall(MatHasOperation(G, MATOP_FORWARD_SOLVE, &half));
  if (half) {
    PetscCall(MatForwardSolve(F, b, x));
    PetscCall(MatForwardSolve(G, b, y));
    PetscCall(TestDiffVec(d, "MatForwardSolve", x, y, NULL));
    PetscCall(MatBackwardSolve(F, b, x));
    PetscCall(MatBackwardSolve(G, b, y));
    PetscCall(TestDiffVec(d, "MatBackwardSolve", x, y, NULL));
  }
  PetscCall(TestDestroy(&b, &x, &y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Eleven right-hand sides, with a gap behind each; the type of dense matrices is that of the vectors */
static PetscErrorCode CompareColumns(TestDiff *d, Mat A, Mat F, Mat G)
{
  Mat      B, X, C, Y;
  PetscInt rows;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, &rows, NULL));
  PetscCall(TestDenseCreate(rows, 11, 2, ValueOne, &B));
  PetscCall(TestDenseCreate(rows, 11, 3, ValueOne, &X));
  PetscCall(MatConvert(B, MATSEQDENSE, MAT_INITIAL_MATRIX, &C));
  PetscCall(MatConvert(X, MATSEQDENSE, MAT_INITIAL_MATRIX, &Y));
  PetscCall(MatMatSolve(F, B, X));
  PetscCall(MatMatSolve(G, C, Y));
  for (PetscInt k = 0; k < 11; k++) {
    Vec x, y;

    PetscCall(MatDenseGetColumnVecRead(X, k, &x));
    PetscCall(MatDenseGetColumnVecRead(Y, k, &y));
    PetscCall(TestDiffVec(d, "MatMatSolve", x, y, NULL));
    PetscCall(MatDenseRestoreColumnVecRead(Y, k, &y));
    PetscCall(MatDenseRestoreColumnVecRead(X, k, &x));
  }
  PetscCall(TestDestroy(&B, &X, &C, &Y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CompareFactors(TestDiff *d, const TestShape *shape, const Kind *kind)
{
  MatFactorInfo info;
  MatSolverType type;
  PetscBool     amb;
  Mat           A, R, F, G;

  PetscFunctionBeginUser;
  PetscCall(TestPairCreate(shape, &A, &R));
  if (rows_of_node > 1) PetscCall(MatSetBlockSize(A, rows_of_node));
  if (rows_of_node > 1) PetscCall(MatSetBlockSize(R, rows_of_node));
  PetscCall(Factor(A, MATSOLVERAMB, kind, &info, &F));
  PetscCall(Factor(R, MATSOLVERPETSC, kind, &info, &G));
  PetscCall(MatFactorGetSolverType(F, &type));
  PetscCall(PetscStrcmp(type, MATSOLVERAMB, &amb));
  TestExpect(d, "the factor is of another package", amb);
  PetscCall(CompareSolves(d, A, F, R, G));
  PetscCall(CompareColumns(d, A, F, G));
  PetscCall(CompareHost(d, F, R, G));
  for (int again = 0; again < 2; again++) { /* new values */
    PetscCall(MatShift(A, 0.5));
    PetscCall(MatShift(R, 0.5));
    PetscCall(Numeric(F, A, kind, &info));
    PetscCall(Numeric(G, R, kind, &info));
    PetscCall(CompareSolves(d, A, F, R, G));
    if (again) PetscCall(CompareHost(d, F, R, G));
  }
  PetscCall(TestDestroy(&F, &G, &A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CompareKinds(TestDiff *d, MatFactorType type, PetscInt levels)
{
  static const TestShape *const general[] = {&convection, &blocks, &diagonal}, *const even[] = {&symmetric, &blocks, &diagonal};
  const MatOrderingType orderings[] = {MATORDERINGNATURAL, MATORDERINGRCM};

  PetscFunctionBeginUser;
  for (int s = 0; s < 3; s++) {
    for (int o = 0; o < 2; o++) {
      const Kind kind = {type, levels, orderings[o], MAT_SHIFT_NONE};

      PetscCall(CompareFactors(d, type == MAT_FACTOR_ICC ? even[s] : general[s], &kind));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ILU0(TestDiff *d)
{
  return CompareKinds(d, MAT_FACTOR_ILU, 0);
}

static PetscErrorCode ILU2(TestDiff *d)
{
  return CompareKinds(d, MAT_FACTOR_ILU, 2);
}

static PetscErrorCode ICC0(TestDiff *d)
{
  return CompareKinds(d, MAT_FACTOR_ICC, 0);
}

static PetscErrorCode ICC1(TestDiff *d)
{
  return CompareKinds(d, MAT_FACTOR_ICC, 1);
}

/* Block sizes 2 to 6, and one that differs from the blocks of the pattern */
static PetscErrorCode Nodes(TestDiff *d)
{
  const MatFactorType   types[]     = {MAT_FACTOR_ILU, MAT_FACTOR_ICC};
  const MatOrderingType orderings[] = {MATORDERINGNATURAL, MATORDERINGAMBCOLOR, MATORDERINGRCM};

  PetscFunctionBeginUser;
  for (rows_of_node = 2; rows_of_node <= 6; rows_of_node++) {
    const TestShape nodes = {"nodes", 100 * rows_of_node, 100 * rows_of_node, RowNodes, ValueNodes, PETSC_FALSE};

    for (int t = 0; t < 2; t++) {
      for (int o = 0; o < 3; o++) {
        const Kind kind = {types[t], rows_of_node == 3 && o == 0 ? 1 : 0, orderings[o], MAT_SHIFT_NONE};

        PetscCall(CompareFactors(d, &nodes, &kind));
      }
    }
  }
  rows_of_node = 2;
  for (int t = 0; t < 2; t++) {
    const Kind kind = {types[t], 0, MATORDERINGNATURAL, MAT_SHIFT_NONE};

    PetscCall(CompareFactors(d, &symmetric, &kind));
  }
  rows_of_node = 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- pivots ------------------------------------------------- */

static PetscErrorCode Pivots(TestDiff *d)
{
  const MatFactorType      types[]  = {MAT_FACTOR_ILU, MAT_FACTOR_ICC};
  const MatFactorShiftType shifts[] = {MAT_SHIFT_NONZERO, MAT_SHIFT_POSITIVE_DEFINITE, MAT_SHIFT_INBLOCKS};

  PetscFunctionBeginUser;
  for (int t = 0; t < 2; t++) {
    const Kind     none = {types[t], 0, MATORDERINGNATURAL, MAT_SHIFT_NONE};
    MatFactorInfo  info;
    MatFactorError error[2];
    PetscReal      value[2];
    PetscInt       row[2];
    Mat            A, R, F, G;

    PetscCall(TestPairCreate(&pivot, &A, &R));
    PetscCall(Factor(A, MATSOLVERAMB, &none, &info, &F));
    PetscCall(Factor(R, MATSOLVERPETSC, &none, &info, &G));
    PetscCall(MatFactorGetError(F, &error[0]));
    PetscCall(MatFactorGetError(G, &error[1]));
    TestExpect(d, "a zero pivot is no error", (PetscBool)(error[0] == MAT_FACTOR_NUMERIC_ZEROPIVOT && error[1] == error[0]));
    PetscCall(MatFactorGetErrorZeroPivot(F, &value[0], &row[0]));
    PetscCall(MatFactorGetErrorZeroPivot(G, &value[1], &row[1]));
    TestExpect(d, "another zero pivot", (PetscBool)(value[0] == value[1] && row[0] == row[1]));
    PetscCall(MatShift(A, 1.0)); /* a factor that has failed can be made again */
    PetscCall(MatShift(R, 1.0));
    PetscCall(MatFactorClearError(F));
    PetscCall(MatFactorClearError(G));
    PetscCall(Numeric(F, A, &none, &info));
    PetscCall(Numeric(G, R, &none, &info));
    PetscCall(CompareSolves(d, A, F, R, G));
    PetscCall(TestDestroy(&F, &G, &A, &R));
    for (int s = 0; s < 3; s++) {
      const Kind kind = {types[t], 0, MATORDERINGNATURAL, shifts[s]};

      PetscCall(CompareFactors(d, &pivot, &kind));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- numbers that are not finite ------------------------------------------------- */

/* Checks that x and y have NaN in the same entries */
static PetscErrorCode CompareFinite(TestDiff *d, const char what[], Vec x, Vec y)
{
  const PetscScalar *a, *b;
  PetscInt           n;
  PetscBool          same = PETSC_TRUE;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetArrayRead(x, &a));
  PetscCall(VecGetArrayRead(y, &b));
  for (PetscInt r = 0; r < n; r++) same = (PetscBool)(same && PetscIsNanScalar(a[r]) == PetscIsNanScalar(b[r]));
  PetscCall(VecRestoreArrayRead(y, &b));
  PetscCall(VecRestoreArrayRead(x, &a));
  TestExpect(d, what, same);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A NaN in the right-hand side, then a finite one; a NaN in the matrix, then finite values */
static PetscErrorCode NotFinite(TestDiff *d)
{
  const MatFactorType types[] = {MAT_FACTOR_ILU, MAT_FACTOR_ICC};

  PetscFunctionBeginUser;
  for (int t = 0; t < 2; t++) {
    const Kind    kind = {types[t], 0, MATORDERINGNATURAL, MAT_SHIFT_NONE};
    MatFactorInfo info;
    Mat           A[2], F[2];
    Vec           c[2], x[2];

    PetscCall(TestPairCreate(&symmetric, &A[0], &A[1]));
    for (int k = 0; k < 2; k++) {
      PetscCall(Factor(A[k], k ? MATSOLVERPETSC : MATSOLVERAMB, &kind, &info, &F[k]));
      PetscCall(MatCreateVecs(A[k], &x[k], &c[k]));
    }
    for (int round = 0; round < 4; round++) {
      const PetscScalar nan = (PetscScalar)NAN;

      for (int k = 0; k < 2; k++) {
        PetscCall(TestVecSet(c[k], 5 + round));
        if (round == 0) {
          PetscCall(VecSetValue(c[k], 437, nan, INSERT_VALUES));
          PetscCall(VecAssemblyBegin(c[k]));
          PetscCall(VecAssemblyEnd(c[k]));
        }
        if (round > 1) { /* rows from 437 on, and with U all rows, become NaN; then all are finite */
          PetscCall(MatSetValue(A[k], 437, 437, round == 2 ? nan : 5.0, INSERT_VALUES));
          PetscCall(MatAssemblyBegin(A[k], MAT_FINAL_ASSEMBLY));
          PetscCall(MatAssemblyEnd(A[k], MAT_FINAL_ASSEMBLY));
          PetscCall(MatFactorClearError(F[k]));
          PetscCall(Numeric(F[k], A[k], &kind, &info));
        }
        PetscCall(MatSolve(F[k], c[k], x[k]));
      }
      if (round % 2) PetscCall(TestDiffVec(d, "a solve after one that was not finite", x[0], x[1], NULL));
      else PetscCall(CompareFinite(d, round ? "other entries are finite: matrix" : "other entries are finite: right-hand side", x[0], x[1]));
    }
    for (int k = 0; k < 2; k++) { PetscCall(TestDestroy(&x[k], &c[k], &F[k])); }
    PetscCall(TestDestroy(&A[0], &A[1]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- bits ------------------------------------------------- */

static const TestShape far   = {"far", 70000, 70000, TestRowFar, TestValueSymmetric, PETSC_FALSE};
static const TestShape large = {"large", 10000, 10000, TestRowGrid, TestValueSymmetric, PETSC_FALSE};
static const TestShape nodes = {"nodes", 3000, 3000, TestRowNodes, ValueMixed, PETSC_FALSE};
static const TestShape apart = {"nodes far apart", 72000, 72000, TestRowNodesFar, ValueMixed, PETSC_FALSE};

/* Did the compiler of PETSc fuse a multiplication with a subtraction? Then the product of x and v keeps its low digits, and b - v x is not zero. */
static PetscErrorCode Fuses(PetscBool *fuses)
{
  const Kind           kind = {MAT_FACTOR_ILU, 0, MATORDERINGNATURAL, MAT_SHIFT_NONE};
  const PetscScalar    v = 1 + 3 * PETSC_MACHINE_EPSILON, x = 1 + 5 * PETSC_MACHINE_EPSILON;
  volatile PetscScalar product = v * x;
  MatFactorInfo        info;
  PetscScalar         *a;
  Mat                  A, F;
  Vec                  b, y;

  PetscFunctionBeginUser;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, 2, 2, 2, NULL, &A));
  PetscCall(MatSetValue(A, 0, 0, 1.0, INSERT_VALUES));
  PetscCall(MatSetValue(A, 1, 0, v, INSERT_VALUES));
  PetscCall(MatSetValue(A, 1, 1, 1.0, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(Factor(A, MATSOLVERPETSC, &kind, &info, &F));
  PetscCall(MatCreateVecs(A, &y, &b));
  PetscCall(VecGetArrayWrite(b, &a));
  a[0] = x;
  a[1] = product;
  PetscCall(VecRestoreArrayWrite(b, &a));
  PetscCall(MatSolve(F, b, y));
  PetscCall(VecGetArray(y, &a));
  *fuses = (PetscBool)(a[1] != 0.0);
  PetscCall(VecRestoreArray(y, &a));
  PetscCall(TestDestroy(&b, &y, &F, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The pivots of ILU(0) have PETSc's bits, wherever the factor is made. Solves, the later ones from the layout for the host: PETSc's bits, or on a GPU the same ones each
   time. */
static PetscErrorCode Bits(TestDiff *d)
{
  static const TestShape *const shapes[] = {&large, &far, &nodes, &apart, &convection};
  const MatFactorType           types[]  = {MAT_FACTOR_ILU, MAT_FACTOR_ICC};
  PetscBool                     fuses    = PETSC_FALSE, device;

  PetscFunctionBeginUser;
  PetscCall(Fuses(&fuses));
  for (int s = 0; s < (int)PETSC_STATIC_ARRAY_LENGTH(shapes); s++) {
    for (int t = 0; t < (shapes[s] == &convection ? 1 : 2); t++) {
      const Kind    kind = {types[t], 0, MATORDERINGNATURAL, MAT_SHIFT_NONE};
      MatFactorInfo info;
      Mat           A, R, F, G;
      Vec           b, x, y, z, w;

      PetscCall(TestPairCreate(shapes[s], &A, &R));
      PetscCall(TestOnDevice(A, &device));
      PetscCall(Factor(A, MATSOLVERAMB, &kind, &info, &F));
      PetscCall(Factor(R, MATSOLVERPETSC, &kind, &info, &G));
      PetscCall(MatCreateVecs(A, &x, &b));
      PetscCall(VecDuplicate(x, &z));
      PetscCall(MatCreateVecs(R, &y, NULL));
      PetscCall(TestVecSet(b, 7));
      for (int values = 0; values < 2; values++) {
        for (int k = 0; k < 75; k++) {
          PetscBool same;

          PetscCall(MatSolve(F, b, x));
          if (k == 0) PetscCall(VecCopy(x, z));
          PetscCall(VecEqual(x, z, &same));
          if (device || !fuses) TestExpect(d, "solves have other bits than the first one", same);
        }
        if (types[t] == MAT_FACTOR_ILU && !fuses) {
          PetscBool same;

          PetscCall(VecDuplicate(y, &w));
          PetscCall(MatGetDiagonal(F, w));
          PetscCall(MatGetDiagonal(G, y));
          PetscCall(VecEqual(w, y, &same));
          TestExpect(d, "other pivots than PETSc's", same);
          PetscCall(VecDestroy(&w));
        }
        PetscCall(VecCopy(b, z));
        PetscCall(MatSolve(G, z, y));
        PetscCall(TestDiffVec(d, "MatSolve", x, y, NULL));
        if (!device && !fuses) {
          PetscBool same;

          PetscCall(VecEqual(x, y, &same));
          TestExpect(d, "other bits than PETSc's", same);
        }
        PetscCall(MatShift(A, 0.25));
        PetscCall(MatShift(R, 0.25));
        PetscCall(Numeric(F, A, &kind, &info));
        PetscCall(Numeric(G, R, &kind, &info));
      }
      PetscCall(TestDestroy(&b, &x, &y, &z, &F, &G, &A, &R));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- preconditioners ------------------------------------------------- */

static PetscErrorCode Solve(Mat A, PCType type, MatSolverType package, PetscInt *its, PetscBool *amb)
{
  MatSolverType used;
  KSP           ksp;
  PC            pc;
  Vec           x, b;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(TestVecSet(b, 5));
  PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPGMRES));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, type));
  if (package) PetscCall(PCFactorSetMatSolverType(pc, package));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, its));
  PetscCall(PCFactorGetMatSolverType(pc, &used));
  PetscCall(PetscStrcmp(used, MATSOLVERAMB, amb));
  PetscCall(TestDestroy(&ksp, &x, &b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With -petscamb_factor model or device the package is the default for matrices of petsc-amb on a GPU */
static PetscErrorCode Default(TestDiff *d)
{
  const PCType types[]   = {PCILU, PCICC};
  char         value[16] = "";
  PetscBool    keep, device, amb, plain;
  Mat          A, R;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-petscamb_factor", value, sizeof(value), NULL));
  PetscCall(PetscStrcmp(value, "petsc", &keep));
  PetscCall(TestPairCreate(&symmetric, &A, &R));
  PetscCall(TestOnDevice(A, &device));
  for (int t = 0; t < 2; t++) {
    PetscInt petsc, own, given;

    PetscCall(Solve(R, types[t], NULL, &petsc, &plain));
    TestExpect(d, "a MATAIJ has the package by default", (PetscBool)!plain);
    PetscCall(Solve(A, types[t], NULL, &own, &amb));
    TestExpect(d, "the default is another package", (PetscBool)(amb == (PetscBool)(device && !keep)));
    PetscCall(Solve(A, types[t], MATSOLVERAMB, &given, &amb));
    TestExpect(d, "the package that was given is not used", amb);
    TestExpect(d, "another number of iterations", (PetscBool)(own == petsc && given == petsc));
  }
  PetscCall(TestDestroy(&A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PCILU and PCLU in place: the package stays PETSc's, and solutions agree with a factor beside the matrix */
static PetscErrorCode InPlace(TestDiff *d)
{
  const PCType types[] = {PCILU, PCLU};

  PetscFunctionBeginUser;
  for (int t = 0; t < 2; t++) {
    Mat A[2];
    Vec b[2], x[2];

    PetscCall(TestPairCreate(&convection, &A[0], &A[1]));
    for (int k = 0; k < 2; k++) {
      PC pc;

      PetscCall(MatCreateVecs(A[k], &x[k], &b[k]));
      PetscCall(TestVecSet(b[k], 3));
      PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
      PetscCall(PCSetType(pc, types[t]));
      PetscCall(PCFactorSetMatOrderingType(pc, MATORDERINGNATURAL));
      PetscCall(PCFactorSetUseInPlace(pc, PETSC_TRUE));
      PetscCall(PCSetOperators(pc, A[k], A[k]));
      PetscCall(PCSetUp(pc));
      PetscCall(PCApply(pc, b[k], x[k]));
      PetscCall(PCDestroy(&pc));
    }
    PetscCall(TestDiffVec(d, types[t], x[0], x[1], NULL));
    for (int k = 0; k < 2; k++) { PetscCall(TestDestroy(&x[k], &b[k])); }
    PetscCall(TestDestroy(&A[0], &A[1]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- times ------------------------------------------------- */

static PetscInt edge, reach, unknowns; /* of a grid: the points along an edge; the axes in which a neighbor differs at most, 1 in a 7-point stencil and 3 in a 27-point one; the unknowns of a point */

static PetscInt RowCube(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[])
{
  const PetscInt at[3] = {i % edge, i / edge % edge, i / edge / edge};
  PetscInt       n     = 0;

  for (int k = 0; k < 27; k++) {
    const PetscInt d[3] = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1};
    PetscBool      in   = (PetscBool)(PetscAbsInt(d[0]) + PetscAbsInt(d[1]) + PetscAbsInt(d[2]) <= reach);

    for (int a = 0; a < 3; a++) in = (PetscBool)(in && at[a] + d[a] >= 0 && at[a] + d[a] < edge);
    if (in) cols[n++] = i + d[0] + edge * (d[1] + edge * d[2]);
  }
  return n;
}

static PetscInt RowUnknowns(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[])
{
  PetscInt n = RowCube(i / unknowns, M / unknowns, N / unknowns, cols);

  for (PetscInt k = n * unknowns; k-- > 0;) cols[k] = cols[k / unknowns] * unknowns + k % unknowns;
  return n * unknowns;
}

static PetscScalar ValueCube(PetscInt i, PetscInt j)
{
  return i == j ? 30.0 * unknowns : -1 + 0.3 * PetscAbsReal(TestReal(PetscMin(i, j), PetscMax(i, j)));
}

/* Of a solve with F, or of a sweep over A */
static PetscErrorCode Seconds(Mat F, Mat A, Vec b, Vec x, PetscInt times, PetscReal *seconds)
{
  struct timespec begin, end;

  PetscFunctionBeginUser;
  (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
  for (PetscInt k = 0; k < times; k++) {
    if (F) PetscCall(MatSolve(F, b, x));
    else PetscCall(MatSOR(A, b, 1.0, (MatSORType)(SOR_SYMMETRIC_SWEEP | SOR_ZERO_INITIAL_GUESS), 0.0, 1, 1, x));
  }
  (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
  *seconds = ((PetscReal)(end.tv_sec - begin.tv_sec) + 1e-9 * (PetscReal)(end.tv_nsec - begin.tv_nsec)) / times;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's operation and that of petsc-amb in turns: solves with ILU(0), with ICC(0), symmetric sweeps */
static PetscErrorCode TimeGrid(PetscInt pairs, int operation)
{
  const PetscInt    n = edge * edge * edge * unknowns, times = 1 + 300000 / n;
  const TestShape   cube    = {"cube", n, n, RowUnknowns, ValueCube, PETSC_FALSE};
  const Kind        kind    = {operation == 1 ? MAT_FACTOR_ICC : MAT_FACTOR_ILU, 0, MATORDERINGNATURAL, MAT_SHIFT_NONE};
  const char *const names[] = {"ILU(0)", "ICC(0)", "SOR"}, *const packages[] = {MATSOLVERPETSC, MATSOLVERAMB};
  MatFactorInfo info;
  PetscReal    *seconds[3], unused;
  Mat           A[2], F[2] = {NULL, NULL};
  Vec           b, x;
  PC            pc;

  PetscFunctionBeginUser;
  PetscCall(TestShapeCreate(&cube, "ref_", &A[0]));
  PetscCall(MatConvert(A[0], MATAMB, MAT_INITIAL_MATRIX, &A[1]));
  PetscCall(MatCreateVecs(A[0], &x, &b));
  PetscCall(TestVecSet(b, 3));
  PetscCall(PCCreate(PETSC_COMM_SELF, &pc)); /* its set-up gives the matrix the sweeps of petsc-amb */
  PetscCall(PCSetType(pc, PCSOR));
  PetscCall(PCSetOperators(pc, A[1], A[1]));
  PetscCall(PCSetUp(pc));
  PetscCall(PCDestroy(&pc));
  for (int k = 0; k < 2; k++) {
    if (operation < 2) PetscCall(Factor(A[k], packages[k], &kind, &info, &F[k]));
    PetscCall(Seconds(F[k], A[k], b, x, operation < 2 ? 75 : 125, &unused));
  }
  PetscCall(PetscMalloc3(pairs, &seconds[0], pairs, &seconds[1], pairs, &seconds[2]));
  for (PetscInt p = 0; p < pairs; p++) {
    for (int k = 0; k < 2; k++) PetscCall(Seconds(F[k], A[k], b, x, times, &seconds[k][p]));
    seconds[2][p] = seconds[0][p] / seconds[1][p];
  }
  for (int k = 0; k < 3; k++) PetscCall(PetscSortReal(pairs, seconds[k]));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "| %d-point %" PetscInt_FMT "^3%s | %s | %.3g | %.3g | %.2f |\n", reach == 1 ? 7 : 27, edge, unknowns > 1 ? ", nodes" : "", names[operation], 1e3 * (double)seconds[0][pairs / 2], 1e3 * (double)seconds[1][pairs / 2], (double)seconds[2][pairs / 2]));
  PetscCall(PetscFree3(seconds[0], seconds[1], seconds[2]));
  for (int k = 0; k < 2; k++) { PetscCall(TestDestroy(&F[k], &A[k])); }
  PetscCall(TestDestroy(&b, &x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Times(PetscInt pairs)
{
  static const struct {
    PetscInt edge, reach, unknowns;
  } grids[] = {
    {31,  1, 1},
    {61,  1, 1},
    {101, 1, 1},
    {31,  3, 1},
    {81,  3, 1},
    {12,  3, 3},
    {20,  3, 3},
    {40,  3, 3}
  };

  PetscFunctionBeginUser;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "| grid | operation | PETSc, ms | amb, ms | ratio |\n|---|---|---|---|---|\n"));
  for (size_t g = 0; g < PETSC_STATIC_ARRAY_LENGTH(grids); g++) {
    edge     = grids[g].edge;
    reach    = grids[g].reach;
    unknowns = grids[g].unknowns;
    for (int operation = 0; operation < 3; operation++) {
      if (unknowns == 1 || operation != 1) PetscCall(TimeGrid(pairs, operation)); /* PETSc's ICC does not use I-nodes */
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const TestCase tests[] = {
  {"ilu(0)",     ILU0     },
  {"ilu(2)",     ILU2     },
  {"icc(0)",     ICC0     },
  {"icc(1)",     ICC1     },
  {"nodes",      Nodes    },
  {"pivots",     Pivots   },
  {"not finite", NotFinite},
  {"bits",       Bits     },
  {"default",    Default  },
  {"in place",   InPlace  },
  {NULL,         NULL     }
};

int main(int argc, char **argv)
{
  PetscInt pairs = 0;

  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-factor_times", &pairs, NULL));
  if (pairs > 0) PetscCall(Times(pairs));
  else {
    PetscCall(TestReferenceInodes(&symmetric));
    PetscCall(TestRun(tests));
  }
  return TestFinalize();
}

/*TEST

  test:
    args: -mat_type {{aij amb}} -petscamb_factor {{petsc model device}} -mat_shadow_tune off -options_left no
    checks: 10

  test:
    suffix: device
    requires: cuda
    args: -mat_type {{aijcusparse amb}} -dense_type densecuda -petscamb_factor device -mat_shadow_tune off -options_left no
    checks: 10

TEST*/
