/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "Arguments that functions of the library refuse, with their words; the objects are as they were afterwards.\n\n";

#include "testutil.h"

static const TestShape grid = {"grid", 36, 36, TestRowGrid, TestValueGeneral, PETSC_FALSE};
static const TestShape wide = {"wide", 36, 50, TestRowFull, TestValueGeneral, PETSC_FALSE};

/* Choices that do not exist */
static PetscErrorCode Choices(TestDiff *d)
{
  Mat A, C;

  PetscFunctionBeginUser;
  PetscCall(TestShapeCreate(&grid, NULL, &A));
  TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "No such tuning", MatShadowSetTune(A, (MatShadowTune)17));
  TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "No such place", MatShadowSetDevice(A, (MatShadowDevice)17));
  PetscCall(MatProductCreate(A, A, NULL, &C));
  PetscCall(MatProductSetType(C, MATPRODUCT_AB));
  TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "No such accumulator", MatHashGEMMSetAccumulator(C, (MatHashGEMMAccumulator)17));
  PetscCall(MatDestroy(&C));
  PetscCall(TestMultiply(A, 2));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sizes that do not belong together */
static PetscErrorCode Sizes(TestDiff *d)
{
  PetscLogDouble sum;
  PetscMPIInt    size;
  Mat            A, W;
  Vec            x;
  KSP            ksp;
  PC             pc;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(TestShapeCreate(&grid, NULL, &A));
  PetscCall(TestShapeCreate(&wide, NULL, &W));
  PetscCall(MatCreateVecs(A, &x, NULL));
  if (!PetscDefined(USE_COMPLEX)) TestExpectError(d, PETSC_ERR_ARG_SIZ, "columns", MatMatMultMaskSum(A, A, W, &sum));
  TestExpectError(d, PETSC_ERR_ARG_SIZ, "local rows", MatGraphOrient(W, x, &A));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, size > 1 ? A : W, size > 1 ? A : W));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCAMBINVERSE));
  if (size > 1) TestExpectError(d, PETSC_ERR_SUP, "inverts matrices of one process", PCSetUp(pc));
  else TestExpectError(d, PETSC_ERR_ARG_SIZ, "has no inverse", PCSetUp(pc));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(TestMultiply(A, 2));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&W));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Numbers that make no sense, and names that are missing */
static PetscErrorCode Numbers(TestDiff *d)
{
  PetscInt  n, index[1];
  PetscReal value[1];
  Mat       A;
  Vec       x;

  PetscFunctionBeginUser;
  PetscCall(TestShapeCreate(&grid, NULL, &A));
  PetscCall(MatCreateVecs(A, &x, NULL));
  PetscCall(VecSet(x, 1));
  TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "ask for 0 or more", VecGetTop(x, -1, &n, index, value));
  TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "must be positive", VecShiftToSum(x, NULL, 0, 1, NULL, value));
  TestExpectError(d, PETSC_ERR_ARG_NULL, "is NULL", MatLoadMatrixMarket(A, NULL));
  TestExpectError(d, PETSC_ERR_ARG_NULL, "is NULL", MatLoadEdgeList(A, NULL, NULL));
  PetscCall(VecDestroy(&x));
  PetscCall(TestMultiply(A, 2));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Matrices that are not ready */
static PetscErrorCode Unassembled(TestDiff *d)
{
  Mat A, D, P, S;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, 36, 36));
  PetscCall(MatSetFromOptions(A));
  PetscCall(MatSetUp(A));
  PetscCall(MatCreateDense(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, 36, 3, NULL, &D));
  PetscCall(MatAssemblyBegin(D, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(D, MAT_FINAL_ASSEMBLY));
  TestExpectError(d, PETSC_ERR_ARG_WRONGSTATE, "not assembled", MatPruneRows(A, 0, 1, &P));
  if (!PetscDefined(USE_COMPLEX)) TestExpectError(d, PETSC_ERR_ARG_WRONGSTATE, "unassembled matrix", MatSDDMM(A, D, D, PETSC_FALSE, MAT_INITIAL_MATRIX, &S));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&D));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const TestCase tests[] = {
    {"choices",            Choices    },
    {"sizes",              Sizes      },
    {"numbers",            Numbers    },
    {"unassembled matrix", Unassembled},
    {NULL,                 NULL       }
  };

  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(TestRun(tests));
  return TestFinalize();
}

/*TEST

  test:
    nsize: {{1 2}}
    args: -mat_type amb
    output_file: output/refusals.out

TEST*/
