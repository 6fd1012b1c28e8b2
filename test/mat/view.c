/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "The lines that a matrix of petsc-amb adds to -mat_view ::ascii_info.\n";

#include <petscdmda.h>

#include "../testutil.h"

static const TestShape blocks = {"blocks", 324, 324, TestRowBlocks, TestValueGeneral, PETSC_FALSE};
static const TestShape none   = {"none", 6, 6, TestRowNone, TestValueGeneral, PETSC_FALSE};

static PetscErrorCode View(Mat A, const char title[])
{
  PetscFunctionBeginUser;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "== %s\n", title));
  PetscCall(PetscViewerPushFormat(PETSC_VIEWER_STDOUT_WORLD, PETSC_VIEWER_ASCII_INFO));
  PetscCall(MatView(A, PETSC_VIEWER_STDOUT_WORLD));
  PetscCall(PetscViewerPopFormat(PETSC_VIEWER_STDOUT_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All rows and columns on this process */
static PetscErrorCode CreateOn(PetscMPIInt process, Mat *A)
{
  PetscMPIInt rank;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, rank == process ? blocks.M : 0, rank == process ? blocks.N : 0, blocks.M, blocks.N));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(TestShapePreallocate(&blocks, *A));
  PetscCall(TestShapeSetValues(&blocks, *A, 1.0, INSERT_VALUES));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* DMDA gives its matrices a view of its own after they were made */
static PetscErrorCode CreateOfGrid(Mat *A)
{
  DM da;

  PetscFunctionBeginUser;
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 12, 12, PETSC_DECIDE, PETSC_DECIDE, 3, 1, NULL, NULL, &da));
  PetscCall(DMSetMatType(da, MATAMB));
  PetscCall(DMSetUp(da));
  PetscCall(DMCreateMatrix(da, A));
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Inside another object's lines, as PCBJACOBI views the solver of its first block */
static PetscErrorCode ViewInside(const char title[])
{
  PetscViewer inside;
  Mat         A;

  PetscFunctionBeginUser;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "== %s\n", title));
  PetscCall(PetscViewerPushFormat(PETSC_VIEWER_STDOUT_WORLD, PETSC_VIEWER_ASCII_INFO));
  PetscCall(PetscViewerASCIIPushTab(PETSC_VIEWER_STDOUT_WORLD));
  PetscCall(PetscViewerGetSubViewer(PETSC_VIEWER_STDOUT_WORLD, PETSC_COMM_SELF, &inside));
  PetscCall(MatCreate(PETSC_COMM_SELF, &A));
  PetscCall(TestShapeSizes(&blocks, A));
  PetscCall(MatSetType(A, MATMPIAIJAMB));
  PetscCall(TestShapePreallocate(&blocks, A));
  PetscCall(TestShapeSetValues(&blocks, A, 1.0, INSERT_VALUES));
  PetscCall(MatShadowSetTune(A, MAT_SHADOW_TUNE_OFF));
  PetscCall(MatView(A, inside));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscViewerFlush(inside));
  PetscCall(PetscViewerRestoreSubViewer(PETSC_VIEWER_STDOUT_WORLD, PETSC_COMM_SELF, &inside));
  PetscCall(PetscViewerASCIIPopTab(PETSC_VIEWER_STDOUT_WORLD));
  PetscCall(PetscViewerPopFormat(PETSC_VIEWER_STDOUT_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscMPIInt size;
  Mat         A;

  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(TestShapeCreate(&blocks, NULL, &A));
  PetscCall(MatShadowSetTune(A, MAT_SHADOW_TUNE_OFF));
  PetscCall(View(A, "converted"));
  PetscCall(MatScale(A, 2.0));
  PetscCall(View(A, "with new values"));
  PetscCall(MatConvert(A, MATHASHGEMM, MAT_INPLACE_MATRIX, &A));
  PetscCall(View(A, "a type that converts nothing"));
  PetscCall(MatDestroy(&A));
  PetscCall(CreateOn(0, &A));
  PetscCall(MatShadowSetTune(A, MAT_SHADOW_TUNE_MODEL));
  PetscCall(View(A, "everything on the first process"));
  PetscCall(MatDestroy(&A));
  PetscCall(CreateOn(size - 1, &A));
  PetscCall(MatShadowSetTune(A, MAT_SHADOW_TUNE_MODEL));
  PetscCall(View(A, "everything on the last process"));
  PetscCall(MatDestroy(&A));
  PetscCall(TestShapeCreate(&none, NULL, &A));
  PetscCall(MatShadowSetTune(A, MAT_SHADOW_TUNE_OFF));
  PetscCall(View(A, "no entries"));
  PetscCall(MatDestroy(&A));
  PetscCall(CreateOfGrid(&A));
  PetscCall(MatShadowSetTune(A, MAT_SHADOW_TUNE_OFF));
  PetscCall(View(A, "of a DMDA"));
  PetscCall(MatDestroy(&A));
  PetscCall(ViewInside("inside a sub-viewer"));
  return TestFinalize();
}

/*TEST

  test:
    suffix: info
    comments: of the figures only those stay that are the same with all instruction sets and threads; PETSc's own lines go
    nsize: {{1 2}separate output}
    requires: double !complex !cuda !defined(PETSC_USE_64BIT_INDICES)
    args: -mat_type amb -mat_amb_block_size 3
    filter: grep -E '^==|products|blocks|bytes|conversion' | sed -E -e 's/(avx512|avx2|plain) kernels/some kernels/' -e 's/[0-9.e+-]+ s\b/T s/g' -e 's/(of|chunks of|scopes of) [0-9]+ rows/\1 N rows/g' -e 's/[0-9]+ tiles/N tiles/' -e 's/[0-9.]+ (stored|by the model)/N \1/g' -e 's/[0-9.]+ per nonzero/N per nonzero/' -e 's/fill [0-9.]+/fill N/'

TEST*/
