/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "Setters, options and figures of a matrix of type nussell, and what it refuses.\n";

#include "../testutil.h"

static const TestShape grid = {"grid", 400, 400, TestRowGrid, TestValueGeneral, PETSC_FALSE};

/* On the GPU some of what can be asked for is not there: products then stay with the AIJ, and the view says why */
static PetscErrorCode OnDevice(const MatShadowInfo *info, PetscBool *device)
{
  PetscFunctionBeginUser;
  PetscCall(PetscStrcmp(info->kernel, "cuda", device));
  if (!*device) PetscCall(PetscStrcmp(info->kernel, "aijcusparse", device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Lacks(TestDiff *d, const MatShadowInfo *info, const char option[])
{
  PetscBool csr;
  char     *found;

  PetscFunctionBeginUser;
  PetscCall(PetscStrcmp(info->format, "csr", &csr));
  PetscCall(PetscStrstr(info->reason, option, &found));
  TestExpect(d, "what the GPU does not have", (PetscBool)(csr && found));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Every setter, with products that must be right after it */
static PetscErrorCode Setters(TestDiff *d)
{
  MatShadowInfo info;
  Mat           A, B, R;
  PetscBool     device;

  PetscFunctionBeginUser;
  PetscCall(TestPairCreate(&grid, &A, &R));
  PetscCall(MatShadowSetTune(A, MAT_SHADOW_TUNE_OFF));
  PetscCall(MatNUSSELLSetSegments(A, 5, 2, 20, 1));
  PetscCall(TestDiffMat(d, A, R));
  PetscCall(MatShadowGetInfo(A, &info));
  TestExpect(d, "segments", (PetscBool)(TestFigure(A, "s1") == 5 && TestFigure(A, "k1") == 2 && TestFigure(A, "s2") == 20 && TestFigure(A, "k2") == 1 && TestFigure(A, "gathered") == 30));
  PetscCall(OnDevice(&info, &device));
  PetscCall(MatNUSSELLSetChunk(A, 16, 40));
  PetscCall(TestDiffMat(d, A, R));
  PetscCall(MatShadowGetInfo(A, &info));
  if (device) {
    PetscCall(Lacks(d, &info, "-mat_nussell_c"));
    PetscCall(MatNUSSELLSetChunk(A, 32, 40));
    PetscCall(TestDiffMat(d, A, R));
    PetscCall(MatShadowGetInfo(A, &info));
    PetscCall(Lacks(d, &info, "-mat_nussell_sigma"));
    PetscCall(MatNUSSELLSetChunk(A, 32, 32768));
    PetscCall(TestDiffMat(d, A, R));
    PetscCall(MatShadowGetInfo(A, &info));
  }
  TestExpect(d, "chunks", (PetscBool)(device ? TestFigure(A, "chunk_size") == 32 : TestFigure(A, "chunk_size") == 16 && TestFigure(A, "sort_scope") == 48));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(TestDiffMat(d, B, R));
  TestExpect(d, "a duplicate has other parameters", (PetscBool)(TestFigure(B, "chunk_size") == (device ? 32 : 16) && TestFigure(B, "gathered") == 30));
  PetscCall(MatDestroy(&B));
  PetscCall(MatNUSSELLSetSegmentation(A, MAT_NUSSELL_SEGMENTATION_UNIFORM));
  PetscCall(TestDiffMat(d, A, R));
  PetscCall(MatShadowGetInfo(A, &info));
  TestExpect(d, "segments of equal width", (PetscBool)(TestFigure(A, "k1") == 0 && TestFigure(A, "s2") == 20 && TestFigure(A, "k2") > 1 && TestFigure(A, "gathered") == 0));
  PetscCall(MatNUSSELLSetRows(A, MAT_NUSSELL_ROWS_JDS));
  PetscCall(TestDiffMat(d, A, R));
  PetscCall(MatShadowGetInfo(A, &info));
  if (device) PetscCall(Lacks(d, &info, "-mat_nussell_rows"));
  else TestExpect(d, "jagged diagonals are filled", (PetscBool)(info.stored_values == info.nonzeros));
  if (device) PetscCall(MatNUSSELLSetRows(A, MAT_NUSSELL_ROWS_SELL));
  PetscCall(MatNUSSELLSetSegmentation(A, MAT_NUSSELL_SEGMENTATION_NONE));
  PetscCall(TestDiffMat(d, A, R));
  PetscCall(MatShadowGetInfo(A, &info));
  TestExpect(d, "no segments", (PetscBool)(TestFigure(A, "k1") == 0 && TestFigure(A, "k2") == 0));
  PetscCall(MatNUSSELLSetSegmentation(A, MAT_NUSSELL_SEGMENTATION_NONUNIFORM));
  PetscCall(MatNUSSELLSetRows(A, MAT_NUSSELL_ROWS_SELL));
  PetscCall(MatNUSSELLSetChunk(A, 0, 0));
  PetscCall(MatNUSSELLSetSegments(A, 0, PETSC_DECIDE, 0, PETSC_DECIDE));
  PetscCall(MatNUSSELLSetTune(A, MAT_NUSSELL_TUNE_EXHAUSTIVE));
  PetscCall(TestDiffMat(d, A, R));
  PetscCall(MatShadowGetInfo(A, &info));
  TestExpect(d, "nothing was tried", (PetscBool)(info.tried > 0));
  PetscCall(MatNUSSELLSetTune(A, MAT_NUSSELL_TUNE_OFF));
  PetscCall(TestDiffMat(d, A, R));
  PetscCall(MatShadowGetInfo(A, &info));
  TestExpect(d, "something was tried, or segments chosen", (PetscBool)(!info.tried && TestFigure(A, "gathered") <= 0));
  PetscCall(MatNUSSELLSetTune(A, MAT_NUSSELL_TUNE_ONLINE));
  PetscCall(TestDiffMat(d, A, R));
  PetscCall(TestDestroy(&A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BadParameters(TestDiff *d)
{
  Mat A, R;

  PetscFunctionBeginUser;
  PetscCall(TestPairCreate(&grid, &A, &R));
  TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "8, 16, 24 or 32", MatNUSSELLSetChunk(A, 12, 0));
  TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "between 1 and", MatNUSSELLSetChunk(A, 0, -1));
  TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "between 1 and", MatNUSSELLSetChunk(A, 0, 100000));
  TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "S1 must not be", MatNUSSELLSetSegments(A, -1, 0, 0, 0));
  TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "K2 must not be", MatNUSSELLSetSegments(A, 0, 0, 0, -2));
  TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "NONUNIFORM", MatNUSSELLSetSegmentation(A, (MatNUSSELLSegmentation)7));
  TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "JDS", MatNUSSELLSetRows(R, (MatNUSSELLRows)2));
  TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "EXHAUSTIVE", MatNUSSELLSetTune(A, (MatNUSSELLTune)9));
  PetscCall(TestDiffMat(d, A, R));
  PetscCall(TestDestroy(&A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Setters leave matrices of other types alone */
static PetscErrorCode OtherTypes(TestDiff *d)
{
  Mat A, R;

  PetscFunctionBeginUser;
  PetscCall(TestPairCreate(&grid, &A, &R));
  PetscCall(MatNUSSELLSetSegmentation(R, MAT_NUSSELL_SEGMENTATION_NONE));
  PetscCall(MatNUSSELLSetRows(R, MAT_NUSSELL_ROWS_JDS));
  PetscCall(MatNUSSELLSetTune(R, MAT_NUSSELL_TUNE_OFF));
  PetscCall(MatNUSSELLSetChunk(R, 5, -7));
  PetscCall(MatNUSSELLSetSegments(R, -1, -1, -1, -1));
  PetscCall(MatAMBSetBlockSize(A, 3));
  PetscCall(TestDiffMat(d, A, R));
  PetscCall(TestDestroy(&A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Options(TestDiff *d)
{
  const char *const options[][2] = {
    {"-opt_mat_nussell_c",            "32"        },
    {"-opt_mat_nussell_sigma",        "65"        },
    {"-opt_mat_nussell_s1",           "4"         },
    {"-opt_mat_nussell_k1",           "3"         },
    {"-opt_mat_nussell_s2",           "9"         },
    {"-opt_mat_nussell_k2",           "0"         },
    {"-opt_mat_nussell_segmentation", "nonuniform"},
    {"-opt_mat_nussell_rows",         "jds"       },
    {"-opt_mat_nussell_tune",         "off"       },
    {"-opt_mat_shadow_tune",          "off"       }
  };
  MatShadowInfo info;
  Mat           A, R;
  PetscBool     device;

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(options); k++) PetscCall(PetscOptionsSetValue(NULL, options[k][0], options[k][1]));
  PetscCall(TestShapeCreateEmpty(&grid, MATNUSSELL, "opt_", &A));
  PetscCall(TestShapePreallocate(&grid, A));
  PetscCall(TestShapeSetValues(&grid, A, 1.0, INSERT_VALUES));
  PetscCall(TestShapeCreate(&grid, "ref_", &R));
  PetscCall(TestDiffMat(d, A, R));
  PetscCall(MatShadowGetInfo(A, &info));
  PetscCall(OnDevice(&info, &device));
  if (device) PetscCall(Lacks(d, &info, "-mat_nussell_sigma"));
  else
    TestExpect(d, "options are not taken",
               (PetscBool)(TestFigure(A, "chunk_size") == 32 && TestFigure(A, "sort_scope") == 96 && TestFigure(A, "s1") == 4 && TestFigure(A, "k1") == 3 && TestFigure(A, "s2") == 9 && TestFigure(A, "gathered") == 12 && info.stored_values == info.nonzeros));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(options); k++) PetscCall(PetscOptionsClearValue(NULL, options[k][0]));
  PetscCall(TestDestroy(&A, &R));
  TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "8, 16, 24 or 32", TestShapeCreateBad(&grid, MATNUSSELL, "-bad_mat_nussell_c", "7"));
  TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "S2 must not be", TestShapeCreateBad(&grid, MATNUSSELL, "-bad_mat_nussell_s2", "-7"));
  TestExpectError(d, 0, "never", TestShapeCreateBad(&grid, MATNUSSELL, "-bad_mat_nussell_tune", "never"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A chain of nodes with three unknowns each, whose values repeat from node to node */
static PetscInt RowChain(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[])
{
  const PetscInt first = PetscMax(i / 3 - 1, 0), last = PetscMin(i / 3 + 1, N / 3 - 1);

  for (PetscInt j = 3 * first; j < 3 * last + 3; j++) cols[j - 3 * first] = j;
  return 3 * (last - first + 1);
}

static PetscScalar ValueChain(PetscInt i, PetscInt j)
{
  return (PetscReal)(1 + i % 3 * 9 + j - 3 * (i / 3)) / 7;
}

/* Chunks that have the same values share them, also after the first change of values */
static PetscErrorCode Shared(TestDiff *d)
{
  static const TestShape chain  = {"chain", 4800, 4800, RowChain, ValueChain, PETSC_FALSE};
  const char             line[] = "  values: shared by equal chunks, ";
  MatShadowInfo          info;
  Mat                    A[2];
  Vec                    x, y[2];
  PetscBool              device, same;

  PetscFunctionBeginUser;
  for (int k = 0; k < 2; k++) {
    PetscCall(TestShapeCreate(&chain, NULL, &A[k]));
    PetscCall(MatShadowSetTune(A[k], MAT_SHADOW_TUNE_OFF));
  }
  PetscCall(MatShadowSetValues(A[1], MAT_SHADOW_VALUES_DOUBLE)); /* the default is exact */
  PetscCall(MatCreateVecs(A[0], &x, &y[0]));
  PetscCall(VecDuplicate(y[0], &y[1]));
  PetscCall(VecSetRandom(x, NULL));
  for (int change = 0; change < 3; change++) {
    for (int k = 0; k < 2; k++) {
      if (change) PetscCall(MatScale(A[k], 1.1));
      PetscCall(MatMult(A[k], x, y[k]));
    }
    PetscCall(VecEqual(y[0], y[1], &same));
    TestExpect(d, "other bits", same);
    PetscCall(MatShadowGetInfo(A[0], &info));
    PetscCall(OnDevice(&info, &device));
    if (device) continue;
    TestExpect(d, "chunks that differ", (PetscBool)(change < 2 ? TestFigure(A[0], "chunks_distinct") >= 1 && TestFigure(A[0], "chunks_distinct") < 8 : TestFigure(A[0], "chunks_distinct") == 0));
    TestExpect(d, "chunk size", (PetscBool)(TestFigure(A[0], "chunk_size") == 24 && TestFigure(A[0], "values_bits") == 8 * sizeof(PetscScalar)));
    PetscCall(TestExpectLine(d, A[0], line, (PetscBool)(change < 2)));
    PetscCall(TestExpectLine(d, A[1], line, PETSC_FALSE));
  }
  for (int k = 0; k < 2; k++) { PetscCall(TestDestroy(&A[k], &y[k])); }
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const TestCase tests[] = {
  {"setters",        Setters      },
  {"bad parameters", BadParameters},
  {"other types",    OtherTypes   },
  {"options",        Options      },
  {"shared values",  Shared       },
  {NULL,             NULL         }
};

int main(int argc, char **argv)
{
  return TestMain(argc, argv, help, tests);
}

/*TEST

  test:
    nsize: {{1 2}}
    args: -mat_type nussell
    checks: 5

TEST*/
