/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "A matrix that PETSc's own AIJ becomes beside the first matrix of petsc-amb: multigrid, and products of which PETSc calls the steps itself.\n";

#include <petsc/private/matimpl.h>
#include "../testutil.h"

static PetscScalar Laplacian(PetscInt i, PetscInt j)
{
  return i == j ? 4.0 : -1.0;
}

static const TestShape grid = {"grid", 900, 900, TestRowGrid, Laplacian, PETSC_FALSE};

/* The iterations of CG with PCGAMG */
static PetscErrorCode Iterations(Mat A, PetscInt *iterations, KSPConvergedReason *reason)
{
  KSP ksp;
  PC  pc;
  Vec x, b;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1.0));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetTolerances(ksp, 1.e-8, PETSC_DEFAULT, PETSC_DEFAULT, 60));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCGAMG));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, iterations));
  PetscCall(KSPGetConvergedReason(ksp, reason));
  PetscCall(TestDestroy(&ksp, &x, &b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On a GPU an AIJ that is older than the first matrix of petsc-amb becomes an AIJCUSPARSE of PETSc's, but the matrices that PCGAMG makes for it are of petsc-amb */
static PetscErrorCode Multigrid(TestDiff *d)
{
  KSPConvergedReason reason[2];
  PetscInt           its[2];
  PetscBool          device;
  Mat                old, A, B;

  PetscFunctionBeginUser;
  PetscCall(TestShapeCreate(&grid, "ref_", &old));
  PetscCall(Iterations(old, &its[0], &reason[0]));
  PetscCall(MatConvert(old, MATAMB, MAT_INITIAL_MATRIX, &A));
  PetscCall(TestOnDevice(A, &device));
  PetscCall(MatConvert(old, device ? MATAIJCUSPARSE : MATAIJ, MAT_INITIAL_MATRIX, &B));
  for (int k = 0; k < 2; k++) {
    PetscCall(Iterations(B, &its[1], &reason[1]));
    TestExpect(d, "a solve with a matrix of PETSc's does not converge", (PetscBool)(reason[1] > 0));
    TestExpect(d, "a solve with a matrix of PETSc's takes more iterations", (PetscBool)(its[1] <= its[0] + 1));
    PetscCall(Iterations(A, &its[1], &reason[1]));
    TestExpect(d, "a solve does not converge", (PetscBool)(reason[1] > 0 && its[1] <= its[0] + 1));
  }
  PetscCall(TestDestroy(&old, &A, &B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The numeric phase of AIJCUSPARSE counts an assembly and leaves the state of the result: here values change so between the two phases of a product with that result */
static PetscErrorCode Steps(TestDiff *d)
{
  Mat          A, B, D, C, R, twice;
  PetscScalar *a;
  PetscInt     nz;
  MatInfo      info;

  PetscFunctionBeginUser;
  PetscCall(TestShapeCreate(&grid, "ref_", &R));
  PetscCall(MatConvert(R, MATAMB, MAT_INITIAL_MATRIX, &A));
  PetscCall(MatBindToCPU(A, PETSC_TRUE));
  PetscCall(MatMatMult(A, A, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &D));
  PetscCall(MatProductCreate(A, D, NULL, &C));
  PetscCall(MatProductSetType(C, MATPRODUCT_AB));
  PetscCall(MatProductSetFromOptions(C));
  PetscCall(MatProductSymbolic(C));
  PetscCall(MatSeqAIJGetArrayRead(D, (const PetscScalar **)&a));
  PetscCall(MatGetInfo(D, MAT_LOCAL, &info));
  nz = (PetscInt)info.nz_used;
  for (PetscInt k = 0; k < nz; k++) a[k] *= 2;
  PetscCall(MatSeqAIJRestoreArrayRead(D, (const PetscScalar **)&a));
  D->num_ass++;
  PetscCall(MatProductNumeric(C));
  PetscCall(MatMatMult(R, R, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &twice));
  PetscCall(MatMatMult(R, twice, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &B));
  PetscCall(MatScale(B, 2.0));
  PetscCall(TestDiffMat(d, C, B));
  PetscCall(TestDestroy(&A, &B, &C, &D, &R, &twice));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const TestCase tests[] = {
  {"multigrid beside petsc-amb",         Multigrid},
  {"steps of products that PETSc calls", Steps    },
  {NULL,                                 NULL     }
};

int main(int argc, char **argv)
{
  return TestMain(argc, argv, help, tests);
}

/*TEST

  test:
    checks: 2

TEST*/
