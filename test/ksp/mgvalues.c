/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "-petscamb_mg_values: the storage of each matrix of a hierarchy, iterations and solutions beside those of aij, new values, the view.\n";

#include "../testutil.h"
#include <petscksp.h>
#include <petsc/private/pcmgimpl.h>

#define SIDE 60

/* The Laplacian of a square with coefficients that single precision does not hold */
static PetscScalar ValueGrid(PetscInt i, PetscInt j)
{
  return i == j ? 4.3 : -1 - 0.07 * TestReal(PetscMin(i, j), PetscMax(i, j));
}

static const TestShape shape = {"square", SIDE *SIDE, SIDE *SIDE, TestRowGrid, ValueGrid, PETSC_FALSE};

static PetscBool finest = PETSC_FALSE;
static double    bits   = 32; /* of a value on the levels */

/* Interpolates from every second unknown */
static PetscErrorCode Interpolation(Mat A, Mat *P)
{
  PetscInt r0, r1, M;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, &M, NULL));
  PetscCall(MatGetOwnershipRange(A, &r0, &r1));
  PetscCall(MatCreate(PetscObjectComm((PetscObject)A), P));
  PetscCall(MatSetSizes(*P, r1 - r0, PETSC_DECIDE, M, M / 2));
  PetscCall(MatSetOptionsPrefix(*P, ((PetscObject)A)->prefix));
  PetscCall(MatSetFromOptions(*P));
  PetscCall(MatSeqAIJSetPreallocation(*P, 2, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*P, 2, NULL, 2, NULL));
  for (PetscInt r = r0; r < r1; r++) {
    PetscCall(MatSetValue(*P, r, r / 2, r % 2 ? 0.3 : 1.0, INSERT_VALUES));
    if (r % 2 && r / 2 + 1 < M / 2) PetscCall(MatSetValue(*P, r, r / 2 + 1, 0.7, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*P, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*P, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SolverCreate(Mat A, PCType type, KSP *ksp)
{
  PC  pc;
  Mat P;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetType(*ksp, KSPCG));
  PetscCall(KSPSetTolerances(*ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 200));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, type));
  if (strcmp(type, PCMG) == 0) {
    KSP smoother;
    PC  jacobi;

    PetscCall(PCMGSetLevels(pc, 2, NULL));
    PetscCall(PCMGSetGalerkin(pc, PC_MG_GALERKIN_BOTH));
    PetscCall(Interpolation(A, &P));
    PetscCall(PCMGSetInterpolation(pc, 1, P));
    PetscCall(MatDestroy(&P));
    PetscCall(PCMGGetSmoother(pc, 1, &smoother));
    PetscCall(KSPGetPC(smoother, &jacobi));
    PetscCall(PCSetType(jacobi, PCJACOBI));
  } else PetscCall(PCGAMGSetReuseInterpolation(pc, PETSC_TRUE));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix of the hierarchy stores values in so many bits on all processes that have entries of its diagonal block, of which the figure is */
static PetscErrorCode ExpectBits(TestDiff *d, Mat A, double bits, const char what[])
{
  PetscLogDouble most = -1, least = PETSC_MAX_REAL;
  MatInfo        info;
  PetscBool      mpi;
  Mat            block = A;

  PetscFunctionBeginUser;
  PetscCall(MatShadowSetUp(A));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &mpi));
  if (mpi) PetscCall(MatMPIAIJGetSeqAIJ(A, &block, NULL, NULL));
  PetscCall(MatGetInfo(block, MAT_LOCAL, &info));
  if (info.nz_used > 0) most = least = TestFigure(A, "values_bits");
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_DOUBLE, MPI_MIN, PETSC_COMM_WORLD));
  TestExpect(d, what, (PetscBool)(most == bits && least == bits));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Below the finest level all matrices have the storage of the option. The finest smoother multiplies by a twin, or by the matrix itself. */
static PetscErrorCode ExpectStorages(TestDiff *d, KSP ksp)
{
  PC       pc;
  PetscInt levels;
  Mat      A, fine, P;
  KSP      smoother;

  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCMGGetLevels(pc, &levels));
  TestExpect(d, "there are levels", (PetscBool)(levels > 1));
  PetscCall(PCGetOperators(pc, NULL, &fine));
  for (PetscInt l = 0; l < levels; l++) {
    PetscCall(PCMGGetSmoother(pc, l, &smoother));
    PetscCall(KSPGetOperators(smoother, &A, &P));
    if (l < levels - 1) PetscCall(ExpectBits(d, A, bits, "bits of a coarse operator"));
    else {
      TestExpect(d, "the matrix of the finest smoother's preconditioner", (PetscBool)(P == fine));
      TestExpect(d, "the operator of the finest smoother", (PetscBool)((A == fine) == !finest));
      TestExpect(d, "the operator of the finest residual", (PetscBool)((((PC_MG *)pc->data)->levels[l]->A == fine) == !finest));
      PetscCall(ExpectBits(d, fine, 64, "bits of the finest operator"));
    }
    if (!l) continue;
    PetscCall(PCMGGetInterpolation(pc, l, &P));
    PetscCall(ExpectBits(d, P, bits, "bits of an interpolation"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves with A, and with the reference in double precision */
static PetscErrorCode ExpectSolution(TestDiff *d, KSP ksp[2])
{
  PetscInt  its[2];
  PetscReal error, norm;
  Vec       x[2], b;
  Mat       A;

  PetscFunctionBeginUser;
  for (int k = 0; k < 2; k++) {
    KSPConvergedReason reason;

    PetscCall(KSPGetOperators(ksp[k], &A, NULL));
    PetscCall(MatCreateVecs(A, &x[k], &b));
    PetscCall(TestVecSet(b, 1));
    PetscCall(KSPSolve(ksp[k], b, x[k]));
    PetscCall(KSPGetConvergedReason(ksp[k], &reason));
    PetscCall(KSPGetIterationNumber(ksp[k], &its[k]));
    TestExpect(d, "a solve that does not converge", (PetscBool)(reason > 0));
    PetscCall(VecDestroy(&b));
  }
  TestExpect(d, "more than one iteration more", (PetscBool)(its[0] <= its[1] + 1));
  PetscCall(VecNorm(x[1], NORM_2, &norm));
  PetscCall(VecAXPY(x[0], -1, x[1]));
  PetscCall(VecNorm(x[0], NORM_2, &error));
  TestExpect(d, "another solution", (PetscBool)(error <= 1e-6 * norm));
  for (int k = 0; k < 2; k++) PetscCall(VecDestroy(&x[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Twice with the values of the shape, then with others */
static PetscErrorCode Hierarchy(TestDiff *d, PCType type)
{
  Mat A[2];
  KSP ksp[2];

  PetscFunctionBeginUser;
  PetscCall(TestPairCreate(&shape, &A[0], &A[1]));
  for (int k = 0; k < 2; k++) PetscCall(SolverCreate(A[k], type, &ksp[k]));
  PetscCall(ExpectSolution(d, ksp));
  PetscCall(ExpectStorages(d, ksp[0]));
  PetscCall(ExpectSolution(d, ksp));
  for (int change = 1; change < 3; change++) {
    for (int k = 0; k < 2; k++) {
      PetscCall(TestShapeSetValues(&shape, A[k], 1 + 0.3 * change, INSERT_VALUES));
      PetscCall(MatShift(A[k], 0.1));
      PetscCall(KSPSetOperators(ksp[k], A[k], A[k]));
    }
    PetscCall(ExpectSolution(d, ksp));
    PetscCall(ExpectStorages(d, ksp[0]));
  }
  for (int k = 0; k < 2; k++) PetscCall(KSPDestroy(&ksp[k]));
  PetscCall(TestDestroy(&A[0], &A[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Algebraic(TestDiff *d)
{
  return Hierarchy(d, PCGAMG);
}

static PetscErrorCode Geometric(TestDiff *d)
{
  return Hierarchy(d, PCMG);
}

/* The program gives the finest matrix the type of PETSc after the set-up */
static PetscErrorCode Type(TestDiff *d)
{
  Mat A[2];
  KSP ksp[2];

  PetscFunctionBeginUser;
  PetscCall(TestPairCreate(&shape, &A[0], &A[1]));
  for (int k = 0; k < 2; k++) PetscCall(SolverCreate(A[k], PCMG, &ksp[k]));
  PetscCall(ExpectSolution(d, ksp));
  PetscCall(MatConvert(A[0], MATAIJ, MAT_INPLACE_MATRIX, &A[0]));
  PetscCall(ExpectSolution(d, ksp));
  for (int k = 0; k < 2; k++) PetscCall(KSPSetOperators(ksp[k], A[k], A[k]));
  PetscCall(ExpectSolution(d, ksp));
  for (int k = 0; k < 2; k++) PetscCall(KSPDestroy(&ksp[k]));
  PetscCall(TestDestroy(&A[0], &A[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The view of the solver says so for each level, and for the twin of the finest one */
static PetscErrorCode View(TestDiff *d)
{
  PetscViewer viewer;
  char        path[PETSC_MAX_PATH_LEN], text[65536];
  PetscMPIInt rank;
  KSP         ksp, coarse;
  PC          pc;
  Mat         A;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(TestShapeCreate(&shape, NULL, &A));
  PetscCall(SolverCreate(A, PCMG, &ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCMGGetCoarseSolve(pc, &coarse));
  PetscCall(KSPGetPC(coarse, &pc));
  PetscCall(PCSetType(pc, PCJACOBI));
  PetscCall(KSPSetUp(ksp));
  PetscCall(TestTemporaryFile(path, sizeof(path)));
  PetscCall(PetscViewerASCIIOpen(PETSC_COMM_WORLD, path, &viewer));
  PetscCall(KSPView(ksp, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  if (!rank) {
    FILE  *file = fopen(path, "r");
    size_t n    = file ? fread(text, 1, sizeof(text) - 1, file) : 0;
    int    seen = 0;

    text[n] = 0;
    if (file) (void)fclose(file);
    for (const char *at = text; (at = strstr(at, "values: single (not exact)")) != NULL; at++) seen++;
    TestExpect(d, "levels that the view calls not exact", (PetscBool)(seen == (bits > 32 ? 0 : finest ? 2 : 1)));
  }
  PetscCall(TestRemoveFile(path));
  PetscCall(TestDestroy(&ksp, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const TestCase tests[] = {
  {"algebraic", Algebraic},
  {"geometric", Geometric},
  {"type",      Type     },
  {"view",      View     },
  {NULL,        NULL     }
};

int main(int argc, char **argv)
{
  char      values[16] = "";
  PetscBool whole;

  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-petscamb_mg_values_finest", &finest));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-petscamb_mg_values", values, sizeof(values), NULL));
  PetscCall(PetscStrcmp(values, "double", &whole));
  if (whole) bits = 64;
  PetscCall(TestRun(tests));
  return TestFinalize();
}

/*TEST

  testset:
    requires: double !complex
    args: -mat_type amb -mat_amb_device cpu -mat_shadow_tune off -petscamb_for_gamg none
    nsize: {{1 2}}
    checks: 4
    test:
      suffix: levels
      args: -petscamb_mg_values single
    test:
      suffix: finest
      args: -petscamb_mg_values single -petscamb_mg_values_finest
    test:
      suffix: double
      comments: the interpolations have few values, and would be stored in a table
      args: -mat_shadow_values table -petscamb_mg_values double

  testset:
    requires: double cuda
    args: -mat_type amb -mat_shadow_tune off -petscamb_mg_values single -petscamb_for_gamg none -test_only algebraic
    checks: 1
    test:
      suffix: gpu
    test:
      suffix: gpu_finest
      args: -petscamb_mg_values_finest

TEST*/
