/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "MatSOR() of petsc-amb beside PETSc's: sweeps, factors, shifts, guesses, new values and patterns, duplicates, zeros on the diagonal, the same bits.\n";

#include "../testutil.h"

static PetscScalar ValueBlocks(PetscInt i, PetscInt j)
{
  return i == j ? 8.0 : 0.5 * TestReal(PetscMin(i, j), PetscMax(i, j));
}

static PetscScalar ValueZero(PetscInt i, PetscInt j)
{
  return i == j && i == 70 ? 0.0 : TestValueConvection(i, j);
}

static PetscInt RowChain(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[])
{
  PetscInt n = 0;

  for (PetscInt k = PetscMax(i - 1, 0); k < PetscMin(i + 2, N); k++) cols[n++] = k;
  return n;
}

static const TestShape grid   = {"grid", 4096, 4096, TestRowGrid, TestValueConvection, PETSC_FALSE};
static const TestShape blocks = {"blocks", 999, 999, TestRowBlocks, ValueBlocks, PETSC_FALSE};
static const TestShape far    = {"far", 70000, 70000, TestRowFar, TestValueConvection, PETSC_FALSE};
static const TestShape chain  = {"chain", 1000, 1000, RowChain, TestValueConvection, PETSC_FALSE};
static const TestShape zero   = {"zero", 400, 400, TestRowGrid, ValueZero, PETSC_FALSE};

#define SWEEPS 125 /* after some of them petsc-amb has its layout */

/* A pair of matrices, of which the set-up of PCSOR gives the first one MatSOR() of petsc-amb */
static PetscErrorCode Begin(const TestShape *shape, Mat *A, Mat *R)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(TestPairCreate(shape, A, R));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetOperators(pc, *A, *A));
  PetscCall(PCSetType(pc, PCSOR));
  PetscCall(PCSetUp(pc));
  PetscCall(PCDestroy(&pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Compare(TestDiff *d, Mat A, Mat R, PetscReal omega, int type, PetscReal shift, PetscInt its, PetscInt sweeps, PetscBool bits)
{
  Vec x, b, y, c;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(MatCreateVecs(R, &y, &c));
  PetscCall(TestVecSet(b, 3));
  PetscCall(TestVecSet(c, 3));
  PetscCall(TestVecSet(y, 4));
  PetscCall(MatSOR(R, c, omega, (MatSORType)type, shift, its, 1, y));
  for (PetscInt k = 0; k < sweeps; k++) {
    PetscCall(TestVecSet(x, 4)); /* a guess of zero must not read it */
    PetscCall(MatSOR(A, b, omega, (MatSORType)type, shift, its, 1, x));
    if (k % 124 == 0) PetscCall(TestDiffVec(d, "MatSOR", x, y, NULL));
  }
  if (bits) {
    PetscBool same;

    PetscCall(VecEqual(x, y, &same));
    TestExpect(d, "other bits than PETSc's", same);
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Can bits be compared? Not on several processes, whose products have other sums, not on a GPU, whose vectors differ in type, and not if PETSc's compiler fused a multiplication with a subtraction: b - v x keeps the low digits then. */
static PetscErrorCode HasBits(Mat A, PetscBool *bits)
{
  const PetscScalar    v = 1 + 3 * PETSC_MACHINE_EPSILON, x = 1 + 5 * PETSC_MACHINE_EPSILON;
  volatile PetscScalar product = v * x;
  PetscScalar         *a;
  PetscBool            device;
  PetscMPIInt          nproc;
  Mat                  B;
  Vec                  b, y;

  PetscFunctionBeginUser;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, 2, 2, 2, NULL, &B));
  PetscCall(MatSetValue(B, 0, 0, 1.0, INSERT_VALUES));
  PetscCall(MatSetValue(B, 1, 0, v, INSERT_VALUES));
  PetscCall(MatSetValue(B, 1, 1, 1.0, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatCreateVecs(B, &y, &b));
  PetscCall(VecGetArrayWrite(b, &a));
  a[0] = x;
  a[1] = product;
  PetscCall(VecRestoreArrayWrite(b, &a));
  PetscCall(MatSOR(B, b, 1.0, (MatSORType)(SOR_FORWARD_SWEEP | SOR_ZERO_INITIAL_GUESS), 0.0, 1, 1, y));
  PetscCall(VecGetArray(y, &a));
  *bits = (PetscBool)(a[1] == 0.0);
  PetscCall(VecRestoreArray(y, &a));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&B));
  PetscCall(TestOnDevice(A, &device));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &nproc));
  if (device || nproc > 1) *bits = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const int types[] = {SOR_LOCAL_SYMMETRIC_SWEEP, SOR_LOCAL_FORWARD_SWEEP, SOR_LOCAL_BACKWARD_SWEEP};

static PetscErrorCode Sweeps(TestDiff *d)
{
  static const TestShape *const shapes[] = {&grid, &blocks, &far, &chain};

  PetscFunctionBeginUser;
  for (int s = 0; s < 4; s++) {
    PetscBool bits = PETSC_FALSE;
    Mat       A, R;

    PetscCall(Begin(shapes[s], &A, &R));
    PetscCall(HasBits(A, &bits));
    for (int t = 0; t < 3; t++) {
      for (int k = 0; k < 3; k++) {
        const PetscReal omega = k == 1 ? 1.3 : 1, shift = k == 2 ? 0.2 : 0;

        PetscCall(Compare(d, A, R, omega, types[t] | SOR_ZERO_INITIAL_GUESS, shift, 1, t || k ? 2 : SWEEPS, bits));
        PetscCall(Compare(d, A, R, omega, types[t], shift, 1, 1, bits));
        PetscCall(Compare(d, A, R, omega, types[t] | SOR_ZERO_INITIAL_GUESS, shift, 2, 1, bits));
      }
    }
    PetscCall(TestPairDestroy(&A, &R));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* New values, a new pattern, a duplicate, and a matrix that becomes a MATAIJ */
static PetscErrorCode Changes(TestDiff *d)
{
  const int symmetric = SOR_LOCAL_SYMMETRIC_SWEEP | SOR_ZERO_INITIAL_GUESS;
  PetscInt  begin, end, rows;
  Mat       A, R, B;

  PetscFunctionBeginUser;
  PetscCall(Begin(&grid, &A, &R));
  PetscCall(Compare(d, A, R, 1, symmetric, 0, 1, SWEEPS, PETSC_FALSE));
  for (int k = 0; k < 2; k++) {
    PetscCall(MatShift(A, 0.5));
    PetscCall(MatShift(R, 0.5));
    PetscCall(Compare(d, A, R, 1, symmetric, 0, 1, k ? SWEEPS : 2, PETSC_FALSE));
  }
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(Compare(d, B, R, 1, symmetric, 0, 1, 2, PETSC_FALSE));
  PetscCall(MatDestroy(&B));
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  PetscCall(MatGetSize(A, &rows, NULL));
  for (int k = 0; k < 2; k++) {
    Mat M = k ? R : A;

    PetscCall(MatSetOption(M, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
    if (end - begin > 9) PetscCall(MatSetValue(M, begin + 8, begin + 2, 0.25, INSERT_VALUES));
    PetscCall(MatAssemblyBegin(M, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(M, MAT_FINAL_ASSEMBLY));
  }
  PetscCall(Compare(d, A, R, 1, symmetric, 0, 1, SWEEPS, PETSC_FALSE));
  PetscCall(MatConvert(A, MATAIJ, MAT_INPLACE_MATRIX, &A));
  PetscCall(Compare(d, A, R, 1, symmetric, 0, 1, SWEEPS, PETSC_FALSE));
  PetscCall(TestPairDestroy(&A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc raises an error for a zero on the diagonal, and a shift removes it */
static PetscErrorCode Zero(TestDiff *d)
{
  const MatSORType forward = (MatSORType)(SOR_LOCAL_FORWARD_SWEEP | SOR_ZERO_INITIAL_GUESS);
  PetscMPIInt      nproc;
  Mat              A, R;
  Vec              x, b;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &nproc));
  PetscCall(Begin(&zero, &A, &R));
  PetscCall(Compare(d, A, R, 1, (int)forward, 0.5, 1, SWEEPS, PETSC_FALSE));
  if (nproc == 1) {
    PetscCall(MatCreateVecs(A, &x, &b));
    PetscCall(TestVecSet(b, 3));
    TestExpectError(d, PETSC_ERR_ARG_INCOMP, "Zero diagonal on row 70", MatSOR(A, b, 1.0, forward, 0.0, 1, 1, x));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&b));
  }
  PetscCall(TestPairDestroy(&A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const TestCase tests[] = {
  {"sweeps",  Sweeps },
  {"changes", Changes},
  {"zero",    Zero   },
  {NULL,      NULL   }
};

int main(int argc, char **argv)
{
  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(TestRun(tests));
  return TestFinalize();
}

/*TEST

  test:
    nsize: {{1 3}}
    args: -mat_type {{aij amb hashgemm}} -petscamb_for_sor {{true false}} -mat_shadow_tune off -options_left no
    output:
      ok sweeps
      ok changes
      ok zero

TEST*/
