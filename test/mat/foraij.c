/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "-petscamb_for_aij: matrices of programs that fix AIJ in their source are ours, however they are made, and AIJ to those who ask.\n";

#include <stdio.h>
#include <stdlib.h>
#include "../testutil.h"

static const TestShape grid   = {"grid", 400, 400, TestRowGrid, TestValueGeneral, PETSC_FALSE};
static const TestShape blocks = {"blocks", 108, 108, TestRowBlocks, TestValueGeneral, PETSC_FALSE};

#define PER_ROW 16

/* What -petscamb_for_aij says */
static PetscErrorCode Expected(char format[], size_t len)
{
  return PetscOptionsGetString(NULL, NULL, "-petscamb_for_aij", format, len, NULL);
}

/* Ours by what it tells, and AIJ by name */
static PetscErrorCode DiffOurs(TestDiff *d, const char *what, Mat A)
{
  MatShadowInfo info;
  PetscBool     plain;

  PetscFunctionBeginUser;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &plain, MATSEQAIJ, MATMPIAIJ, ""));
  PetscCall(MatShadowGetInfo(A, &info));
  TestExpect(d, what, (PetscBool)(plain && info.format != NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LocalSizes(const TestShape *shape, PetscInt *m, PetscInt *n)
{
  PetscInt M = shape->M, N = shape->N;

  PetscFunctionBeginUser;
  *m = *n = PETSC_DECIDE;
  PetscCall(PetscSplitOwnership(PETSC_COMM_WORLD, m, &M));
  PetscCall(PetscSplitOwnership(PETSC_COMM_WORLD, n, &N));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* By MatCreateAIJ(), without entries */
static PetscErrorCode NewAIJ(const TestShape *shape, Mat *A)
{
  PetscInt m, n;

  PetscFunctionBeginUser;
  PetscCall(LocalSizes(shape, &m, &n));
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, m, n, shape->M, shape->N, PER_ROW, NULL, PER_ROW, NULL, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateAIJ(TestDiff *d)
{
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(NewAIJ(&grid, &A));
  PetscCall(TestShapeSetValues(&grid, A, 1.0, INSERT_VALUES));
  PetscCall(TestCompareAndDestroy(d, &grid, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* As DOLFINx and deal.II do it */
static PetscErrorCode SetTypeAfterOptions(TestDiff *d)
{
  PetscInt m, n;
  Mat      A;

  PetscFunctionBeginUser;
  PetscCall(LocalSizes(&blocks, &m, &n));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, m, n, blocks.M, blocks.N));
  PetscCall(MatSetFromOptions(A));
  PetscCall(MatSetType(A, MATAIJ));
  PetscCall(MatSetBlockSize(A, 3));
  PetscCall(MatXAIJSetPreallocation(A, 1, NULL, NULL, NULL, NULL));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(TestShapeSetValues(&blocks, A, 1.0, ADD_VALUES));
  PetscCall(TestCompareAndDestroy(d, &blocks, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix of each process by itself */
static PetscErrorCode CreateSeqAIJ(TestDiff *d)
{
  Mat A, B;

  PetscFunctionBeginUser;
  for (int arrays = 0; arrays < 2; arrays++) {
    PetscInt    i[] = {0, 2, 3, 6}, j[] = {0, 2, 1, 0, 1, 2};
    PetscScalar a[] = {1, 2, 3, 4, 5, 6}, *y;
    PetscBool   right;
    Vec         u, v;

    if (arrays) PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, 3, 3, i, j, a, &A));
    else {
      PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, 3, 3, 3, NULL, &A));
      for (PetscInt r = 0; r < 3; r++) PetscCall(MatSetValues(A, 1, &r, i[r + 1] - i[r], j + i[r], a + i[r], INSERT_VALUES));
      PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
      PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    }
    PetscCall(DiffOurs(d, "ours, and an AIJ by name", A));
    PetscCall(MatCreateVecs(A, &u, &v));
    PetscCall(VecSet(u, 1.0));
    PetscCall(MatMult(A, u, v));
    PetscCall(VecGetArray(v, &y));
    right = (PetscBool)(y[0] == 3.0 && y[1] == 3.0 && y[2] == 15.0);
    TestExpect(d, "the product", right);
    PetscCall(VecRestoreArray(v, &y));
    PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
    PetscCall(DiffOurs(d, "its duplicate is ours", B));
    PetscCall(TestDestroy(&B, &u, &v, &A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateMPIAIJWithArrays(TestDiff *d)
{
  PetscInt     m, n, first = 0, *i, *j;
  PetscScalar *a;
  Mat          A, R;

  PetscFunctionBeginUser;
  PetscCall(LocalSizes(&blocks, &m, &n));
  PetscCallMPI(MPI_Exscan(&m, &first, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  PetscCall(TestShapeArrays(&blocks, first, first + m, &i, &j, &a));
  PetscCall(MatCreateMPIAIJWithArrays(PETSC_COMM_WORLD, m, n, blocks.M, blocks.N, i, j, a, &A));
  PetscCall(TestShapeCreate(&blocks, "ref_", &R));
  PetscCall(TestDiffMat(d, A, R));
  for (PetscInt k = 0; k < i[m]; k++) a[k] *= 2.0;
  PetscCall(MatUpdateMPIAIJWithArrays(A, m, n, blocks.M, blocks.N, i, j, a));
  PetscCall(MatScale(R, 2.0));
  PetscCall(DiffOurs(d, "ours, and an AIJ by name", A));
  PetscCall(TestDiffMat(d, A, R));
  PetscCall(PetscFree3(i, j, a));
  PetscCall(TestDestroy(&A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An AIJ that is asked to be an AIJ stays as it is, with and without the word seq; one that is asked to be of a format gets its name */
static PetscErrorCode SetTypeAgain(TestDiff *d)
{
  char        format[64], name[64];
  PetscMPIInt size;
  PetscBool   same;
  Mat         A, B;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(Expected(format, sizeof(format)));
  PetscCall(PetscSNPrintf(name, sizeof(name), "%saij%s", size > 1 ? "mpi" : "seq", format));
  PetscCall(TestShapeCreate(&grid, "aij_", &A));
  PetscCall(MatSetType(A, MATAIJ));
  PetscCall(MatSetType(A, size > 1 ? MATMPIAIJ : MATSEQAIJ));
  PetscCall(MatConvert(A, MATAIJ, MAT_INPLACE_MATRIX, &A));
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(TestCompareAndDestroy(d, &grid, &B));
  PetscCall(MatConvert(A, format, MAT_INITIAL_MATRIX, &B));
  PetscCall(PetscObjectTypeCompare((PetscObject)B, name, &same));
  TestExpect(d, "MatConvert() to the format gives it its name", same);
  PetscCall(MatConvert(B, MATAIJ, MAT_INPLACE_MATRIX, &B));
  PetscCall(TestCompareAndDestroy(d, &grid, &B));
  PetscCall(MatConvert(A, MATDENSE, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatConvert(B, MATAIJ, MAT_INPLACE_MATRIX, &B));
  PetscCall(TestCompareAndDestroy(d, &grid, &B));
  PetscCall(TestCompareAndDestroy(d, &grid, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Types that PETSc makes of an AIJ by replacing some of its operations */
static PetscErrorCode Subtypes(TestDiff *d)
{
  static const char *const types[] = {MATAIJPERM, MATAIJSELL, MATAIJCRL};

  PetscFunctionBeginUser;
  for (int k = 0; k < 3; k++) {
    Mat           A, B, R;
    MatShadowInfo info;

    PetscCall(TestShapeCreate(&grid, "aij_", &A));
    PetscCall(TestShapeCreate(&grid, "ref_", &R));
    PetscCall(MatConvert(A, types[k], MAT_INITIAL_MATRIX, &B));
    PetscCall(MatShadowGetInfo(B, &info));
    TestExpect(d, "a subtype of PETSc's is not ours", (PetscBool)!info.format);
    PetscCall(DiffOurs(d, "what it was made of is", A));
    PetscCall(TestDiffMat(d, B, R));
    PetscCall(MatDestroy(&B));
    PetscCall(MatConvert(A, types[k], MAT_INPLACE_MATRIX, &A));
    PetscCall(TestDiffMat(d, A, R));
    PetscCall(TestDestroy(&A, &R));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Load(TestDiff *d)
{
  char path[PETSC_MAX_PATH_LEN];
  Mat  A, R;

  PetscFunctionBeginUser;
  PetscCall(TestTemporaryFile(path, sizeof(path)));
  PetscCall(TestShapeCreate(&grid, "ref_", &R));
  PetscCall(TestMatSave(R, path));
  PetscCall(MatDestroy(&R));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetType(A, MATAIJ));
  PetscCall(TestMatLoad(A, path));
  PetscCall(TestCompareAndDestroy(d, &grid, &A));
  PetscCall(TestRemoveFile(path));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What PETSc makes of an AIJ: a transpose, a product, a sub-matrix; and what it wraps one in */
static PetscErrorCode Derived(TestDiff *d)
{
  PetscInt r0, r1;
  IS       is;
  Mat      A, B, *C;

  PetscFunctionBeginUser;
  PetscCall(TestShapeCreate(&grid, "aij_", &A));
  PetscCall(MatTranspose(A, MAT_INITIAL_MATRIX, &B));
  PetscCall(DiffOurs(d, "the transpose", B));
  PetscCall(MatTranspose(B, MAT_INPLACE_MATRIX, &B));
  PetscCall(TestCompareAndDestroy(d, &grid, &B));
  PetscCall(MatMatMult(A, A, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &B));
  PetscCall(DiffOurs(d, "the square", B));
  PetscCall(MatDestroy(&B));
  PetscCall(MatPtAP(A, A, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &B));
  PetscCall(MatPtAP(A, A, MAT_REUSE_MATRIX, PETSC_DEFAULT, &B));
  PetscCall(DiffOurs(d, "the triple product", B));
  PetscCall(MatDestroy(&B));
  PetscCall(MatGetOwnershipRange(A, &r0, &r1));
  PetscCall(ISCreateStride(PETSC_COMM_WORLD, r1 - r0, r0, 1, &is));
  PetscCall(MatCreateSubMatrix(A, is, is, MAT_INITIAL_MATRIX, &B));
  PetscCall(TestCompareAndDestroy(d, &grid, &B));
  PetscCall(ISDestroy(&is));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, grid.M / 2, 0, 1, &is));
  PetscCall(MatCreateSubMatrices(A, 1, &is, &is, MAT_INITIAL_MATRIX, &C));
  PetscCall(DiffOurs(d, "a local sub-matrix", C[0]));
  PetscCall(MatDestroySubMatrices(1, &C));
  PetscCall(TestDestroy(&is, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What MatView() says with ::ascii_info, to be freed; of a sequential matrix, or on the first process */
static PetscErrorCode ViewInfo(Mat A, char **text)
{
  size_t      length;
  FILE       *file = open_memstream(text, &length);
  PetscViewer viewer;

  PetscFunctionBeginUser;
  PetscCall(PetscViewerASCIIOpenWithFILE(PetscObjectComm((PetscObject)A), file, &viewer));
  PetscCall(PetscViewerPushFormat(viewer, PETSC_VIEWER_ASCII_INFO));
  PetscCall(MatView(A, viewer));
  PetscCall(PetscViewerPopFormat(viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  fclose(file);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ViewOfUser(Mat A, PetscViewer viewer)
{
  return PetscObjectSetName((PetscObject)A, "seen");
}

static PetscErrorCode MultOfUser(Mat A, Vec x, Vec y)
{
  return VecSet(y, 7.0);
}

/* Operations that a program, or DMDA, has put on a matrix before its assembly stay there */
static PetscErrorCode Operations(TestDiff *d)
{
  const char   *name;
  char         *text;
  PetscReal     norm;
  MatShadowInfo info;
  Mat           A[2];
  Vec           x, y;

  PetscFunctionBeginUser;
  for (int k = 0; k < 2; k++) {
    PetscCall(NewAIJ(&grid, &A[k]));
    if (k) PetscCall(MatSetOperation(A[k], MATOP_MULT, (void (*)(void))MultOfUser));
    else PetscCall(MatSetOperation(A[k], MATOP_VIEW, (void (*)(void))ViewOfUser));
    PetscCall(TestShapeSetValues(&grid, A[k], 1.0, INSERT_VALUES));
  }
  PetscCall(DiffOurs(d, "with another view it is ours", A[0]));
  PetscCall(ViewInfo(A[0], &text));
  free(text);
  PetscCall(PetscObjectGetName((PetscObject)A[0], &name));
  TestExpect(d, "the view is the program's", (PetscBool)(strcmp(name, "seen") == 0));
  PetscCall(MatShadowGetInfo(A[1], &info));
  TestExpect(d, "with another product it is not ours", (PetscBool)!info.format);
  PetscCall(MatCreateVecs(A[1], &x, &y));
  PetscCall(MatMult(A[1], x, y));
  PetscCall(VecNorm(y, NORM_INFINITY, &norm));
  TestExpect(d, "the product is the program's", (PetscBool)(norm == 7.0));
  PetscCall(TestDestroy(&x, &y));
  for (int k = 0; k < 2; k++) PetscCall(MatDestroy(&A[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Factors are made as AIJ, and are never ours but by -mat_seqaij_type; to look at one is harmless all the same */
static PetscErrorCode Factors(TestDiff *d)
{
  PetscInt      i[] = {0, 2, 5, 7}, j[] = {0, 1, 0, 1, 2, 1, 2};
  PetscScalar   a[] = {4, 1, 1, 4, 1, 1, 4};
  char          format[64], *text;
  MatShadowInfo info;
  Mat           A, F;
  IS            rows, cols;
  MatFactorInfo factor;

  PetscFunctionBeginUser;
  PetscCall(Expected(format, sizeof(format)));
  PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, 3, 3, i, j, a, &A));
  PetscCall(MatGetOrdering(A, MATORDERINGNATURAL, &rows, &cols));
  PetscCall(MatFactorInfoInitialize(&factor));
  for (int k = 0; k < 2; k++) {
    if (k) PetscCall(PetscOptionsSetValue(NULL, "-mat_seqaij_type", format));
    PetscCall(MatGetFactor(A, MATSOLVERPETSC, MAT_FACTOR_LU, &F));
    PetscCall(PetscOptionsClearValue(NULL, "-mat_seqaij_type"));
    PetscCall(MatLUFactorSymbolic(F, A, rows, cols, &factor));
    PetscCall(MatLUFactorNumeric(F, A, &factor));
    PetscCall(MatShadowGetInfo(F, &info));
    TestExpect(d, "-mat_seqaij_type takes the root name of a format, without it a factor is not ours", (PetscBool)(k ? info.format != NULL : info.format == NULL));
    PetscCall(ViewInfo(F, &text));
    TestExpect(d, "nothing is said of products of a factor", (PetscBool)(strstr(text, "factor") && !strstr(text, "products run")));
    free(text);
    PetscCall(MatDestroy(&F));
  }
  PetscCall(TestDestroy(&rows, &cols, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode UnknownValue(TestDiff *d)
{
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(NewAIJ(&grid, &A));
  PetscCall(MatSetOptionsPrefix(A, "wrong_"));
  PetscCall(PetscOptionsSetValue(NULL, "-wrong_petscamb_for_aij", "ambb"));
  TestExpectError(d, PETSC_ERR_ARG_UNKNOWN_TYPE, "-wrong_petscamb_for_aij ambb: no such type; use one of amb, ", TestShapeSetValues(&grid, A, 1.0, INSERT_VALUES));
  PetscCall(PetscOptionsClearValue(NULL, "-wrong_petscamb_for_aij"));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const TestCase tests[] = {
  {"MatCreateAIJ",              CreateAIJ             },
  {"MatSetType after options",  SetTypeAfterOptions   },
  {"MatCreateSeqAIJ",           CreateSeqAIJ          },
  {"MatCreateMPIAIJWithArrays", CreateMPIAIJWithArrays},
  {"MatSetType again",          SetTypeAgain          },
  {"subtypes",                  Subtypes              },
  {"MatLoad",                   Load                  },
  {"derived",                   Derived               },
  {"operations",                Operations            },
  {"factors",                   Factors               },
  {"unknown value",             UnknownValue          },
  {NULL,                        NULL                  }
};

int main(int argc, char **argv)
{
  return TestMain(argc, argv, help, tests);
}

/*TEST

  testset:
    nsize: {{1 2 3}}
    comments: what asks for a format by name would go to a GPU, and have another name
    args: -ref_petscamb_for_aij aij @types(-mat_%s_device cpu) -options_left 0 -test_shadow
    checks: 11
    test:
      suffix: types
      args: -petscamb_for_aij {{@types-tilecomposite}} -mat_shadow_tune off
    test:
      suffix: amb_tuned
      args: -petscamb_for_aij amb -mat_shadow_tune measure

TEST*/
