/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "PETSc is initialized and finalized several times in one program, with the types registered each time.\n";

#include "testutil.h"

static PetscErrorCode Once(int argc, char **argv, PetscInt round)
{
  const TestShape grid    = {"grid", 100, 100, TestRowGrid, TestValueGeneral, PETSC_FALSE};
  const char     *name[3] = {"first time", "second time", "third time"};
  TestDiff        d       = {NULL, 0};
  Mat             A, R;

  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(PetscAMBInitializePackage()); /* a second call changes nothing */
  PetscCall(TestPairCreate(&grid, &A, &R));
  PetscCall(TestDiffType(&d, A));
  PetscCall(TestDiffMat(&d, A, R));
  PetscCall(TestPairDestroy(&A, &R));
  PetscCall(TestReport(name[round], &d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  int failed = 0;

  if (MPI_Init(&argc, &argv)) return 1;
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
    args: -mat_type {{aij @types}} -mat_shadow_tune off -options_left no
    output_file: output/conformance_restart.out

TEST*/
