/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "PETSc is initialized and finalized several times in one program, with the types registered each time.\n";

#include "../testutil.h"

static const TestShape grid = {"grid", 100, 100, TestRowGrid, TestValueGeneral, PETSC_FALSE};

/* With -petscamb_for_aij and -petscamb_for_gamg, which must not outlive PetscFinalize() */
static PetscErrorCode EveryAIJ(int argc, char **argv)
{
  TestDiff      d = {NULL, 0};
  MatShadowInfo info;
  Mat           A;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsSetValue(NULL, "-petscamb_for_aij", MATAMB));
  PetscCall(PetscOptionsSetValue(NULL, "-petscamb_for_gamg", "all"));
  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, grid.M, grid.N, 5, NULL, 5, NULL, &A));
  PetscCall(TestShapeSetValues(&grid, A, 1.0, INSERT_VALUES));
  PetscCall(MatShadowGetInfo(A, &info));
  TestExpect(&d, "an AIJ has no shadow", (PetscBool)(info.format != NULL));
  PetscCall(MatDestroy(&A));
  PetscCall(TestReport("every AIJ", &d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The type of PCGAMG for an AIJ on the host */
static PetscErrorCode DefaultGAMG(TestDiff *d, Mat R)
{
  PCGAMGType type;
  PetscBool  agg;
  PC         pc;

  PetscFunctionBeginUser;
  PetscCall(PCCreate(PetscObjectComm((PetscObject)R), &pc));
  PetscCall(PCSetType(pc, PCGAMG));
  PetscCall(PCGAMGSetNSmooths(pc, 0));
  PetscCall(PCSetOperators(pc, R, R));
  PetscCall(PCSetUp(pc));
  PetscCall(PCGAMGGetType(pc, &type));
  PetscCall(PetscStrcmp(type, PCGAMGAGG, &agg));
  TestExpect(d, "PCGAMG is not of PETSc's type", agg);
  PetscCall(PCDestroy(&pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Once(int argc, char **argv, PetscInt round)
{
  const char *name[3] = {"first time", "second time", "third time"};
  TestDiff    d       = {NULL, 0};
  Mat         A, R;

  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(PetscAMBInitializePackage()); /* a second call changes nothing */
  PetscCall(TestPairCreate(&grid, &A, &R));
  PetscCall(TestDiffType(&d, A));
  PetscCall(TestDiffMat(&d, A, R));
  PetscCall(DefaultGAMG(&d, R));
  PetscCall(TestDestroy(&A, &R));
  if (round == 2) {
    PetscCall(PetscAMBFinalizePackage());
    TestExpectError(&d, PETSC_ERR_ORDER, "leave that call to PetscFinalize()", PetscAMBInitializePackage());
  }
  PetscCall(TestReport(name[round], &d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  int failed = 0;

  if (MPI_Init(&argc, &argv)) return 1;
  if (EveryAIJ(argc, argv)) return 1;
  failed |= TestFinalize();
  for (PetscInt round = 0; round < 3; round++) {
    if (Once(argc, argv, round)) return 1;
    failed |= TestFinalize();
  }
  MPI_Finalize();
  return failed;
}

/*TEST

  test:
    nsize: 2
    args: -mat_type {{aij @types-tilecomposite}} -mat_shadow_tune off -options_left no
    checks: 4

TEST*/
