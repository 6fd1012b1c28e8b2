/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "Setters, options and figures of a matrix of type ccoo, its table of values, and what it refuses.\n";

#include "../testutil.h"

/* Five values of a stencil, and a grid whose values all differ */
static PetscScalar ValueFew(PetscInt i, PetscInt j)
{
  return i == j ? 4 : (i < j ? -1 : -2);
}

static PetscInt RowSparse(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[])
{
  if (i % 40) return 0;
  cols[0] = i % N;
  return 1;
}

static const TestShape few    = {"few values", 2500, 2500, TestRowGrid, ValueFew, PETSC_FALSE};
static const TestShape many   = {"many values", 2500, 2500, TestRowGrid, TestValueGeneral, PETSC_FALSE};
static const TestShape sparse = {"rows without entries", 4000, 4000, RowSparse, TestValueGeneral, PETSC_FALSE};

/* The chunks on this process whose figure has such a name, of the sum over the blocks */
static PetscErrorCode Chunks(Mat A, const char part[], PetscLogDouble *sum)
{
  const char    *name;
  PetscLogDouble value;

  PetscFunctionBeginUser;
  *sum = 0;
  for (PetscInt k = 0;; k++) {
    PetscCall(MatShadowGetFigureAt(A, k, &name, &value));
    if (!name) break;
    if (strstr(name, "chunks_") && strstr(name, part)) *sum += value;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Bytes(Mat A, PetscLogDouble *bytes)
{
  MatShadowInfo info;

  PetscFunctionBeginUser;
  PetscCall(MatShadowGetInfo(A, &info));
  *bytes = info.bytes_stored / info.nonzeros;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Every setter, with products that must be right after it */
static PetscErrorCode Setters(TestDiff *d)
{
  Mat            A, B, R;
  PetscLogDouble all, table, with = 0, without = 0;
  PetscBool      device;

  PetscFunctionBeginUser;
  PetscCall(TestPairCreate(&few, &A, &R));
  PetscCall(MatShadowSetTune(A, MAT_SHADOW_TUNE_OFF));
  PetscCall(TestDiffMat(d, A, R));
  PetscCall(Chunks(A, "", &all));
  PetscCall(Chunks(A, "table", &table));
  PetscCall(Bytes(A, &with));
  PetscCall(TestOnDevice(A, &device)); /* where groups are chosen by time, and have more padding */
  TestExpect(d, "a table by default", (PetscBool)(TestFigure(A, "block") == (device ? 128 : 256) && TestFigure(A, "table") >= 3 && TestFigure(A, "table") <= 4 && all > 0 && table == all && with < (device ? 5.5 : 5)));
  PetscCall(MatCCOOSetChunk(A, 32, 4));
  PetscCall(TestDiffMat(d, A, R));
  TestExpect(d, "sizes", (PetscBool)(TestFigure(A, "block") == 32 && TestFigure(A, "items") == 4));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(TestDiffMat(d, B, R));
  TestExpect(d, "a duplicate has other sizes", (PetscBool)(TestFigure(B, "block") == 32 && TestFigure(B, "items") == 4));
  PetscCall(MatDestroy(&B));
  PetscCall(MatCCOOSetTable(A, PETSC_FALSE));
  PetscCall(TestDiffMat(d, A, R));
  PetscCall(Chunks(A, "table", &table));
  PetscCall(Bytes(A, &without));
  TestExpect(d, "a table although it is off", (PetscBool)(TestFigure(A, "table") == 0 && table == 0 && without > with + sizeof(PetscScalar) - 1));
  PetscCall(MatCCOOSetTable(A, PETSC_TRUE));
  PetscCall(MatCCOOSetAtomics(A, PETSC_TRUE));
  PetscCall(TestDiffMat(d, A, R));
  PetscCall(MatCCOOSetAtomics(A, PETSC_FALSE));
  PetscCall(MatCCOOSetChunk(A, 0, 0));
  PetscCall(TestDiffMat(d, A, R));
  PetscCall(Bytes(A, &without));
  TestExpect(d, "sizes that are left open again", (PetscBool)(without == with));
  PetscCall(TestDestroy(&A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* New values in the same pattern: from few to many and back, with the bytes that belong to them */
static PetscErrorCode NewValues(TestDiff *d)
{
  Mat            A, R;
  PetscLogDouble before = 0, after = 0;

  PetscFunctionBeginUser;
  PetscCall(TestPairCreate(&few, &A, &R));
  PetscCall(MatShadowSetTune(A, MAT_SHADOW_TUNE_OFF));
  PetscCall(TestDiffMat(d, A, R));
  PetscCall(Bytes(A, &before));
  for (int k = 0; k < 2; k++) {
    PetscCall(MatScale(A, 1.25));
    PetscCall(MatScale(R, 1.25));
    PetscCall(TestDiffMat(d, A, R));
    PetscCall(Bytes(A, &after));
    TestExpect(d, "other bytes for as many values", (PetscBool)(after == before));
    PetscCall(TestShapeSetValues(&many, A, 1.0, INSERT_VALUES));
    PetscCall(TestShapeSetValues(&many, R, 1.0, INSERT_VALUES));
    PetscCall(TestDiffMat(d, A, R));
    PetscCall(Bytes(A, &after));
    TestExpect(d, "many values take as few bytes", (PetscBool)(after > before + sizeof(PetscScalar) - 1 && TestFigure(A, "table") == 0));
    PetscCall(TestShapeSetValues(&few, A, 3.0, INSERT_VALUES));
    PetscCall(TestShapeSetValues(&few, R, 3.0, INSERT_VALUES));
    PetscCall(TestDiffMat(d, A, R));
    PetscCall(Bytes(A, &after));
    TestExpect(d, "few values take as many bytes", (PetscBool)(after == before && TestFigure(A, "table") > 0));
  }
  PetscCall(TestDestroy(&A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix of few entries stays on the AIJ: every row without entries would have padding */
static PetscErrorCode Declines(TestDiff *d)
{
  MatShadowInfo info;
  Mat           A, R;
  PetscBool     csr;

  PetscFunctionBeginUser;
  PetscCall(TestPairCreate(&sparse, &A, &R));
  PetscCall(MatShadowSetTune(A, MAT_SHADOW_TUNE_MODEL));
  PetscCall(MatCCOOSetTable(A, PETSC_FALSE));
  PetscCall(TestDiffMat(d, A, R));
  PetscCall(MatShadowGetInfo(A, &info));
  PetscCall(PetscStrcmp(info.format, "csr", &csr));
  TestExpect(d, "a format with more bytes than the AIJ", (PetscBool)(csr && (sizeof(PetscInt) == 8 || info.bytes_model > info.bytes_csr))); /* 8 bytes a row without entries of the other block */
  PetscCall(TestDestroy(&A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The view names the formats of the chunks */
static PetscErrorCode View(TestDiff *d)
{
  static const char *const words[] = {"groups of", "a table of", "of several rows", "values in the table", "per nonzero"};
  Mat                      A, R;
  char                     text[8192];

  PetscFunctionBeginUser;
  PetscCall(TestPairCreate(&few, &A, &R));
  PetscCall(MatShadowSetTune(A, MAT_SHADOW_TUNE_OFF));
  PetscCall(TestDiffMat(d, A, R));
  PetscCall(TestViewText(A, sizeof(text), text));
  for (size_t k = 0; *text && k < PETSC_STATIC_ARRAY_LENGTH(words); k++) TestExpect(d, words[k], (PetscBool)(strstr(text, words[k]) != NULL));
  PetscCall(TestDestroy(&A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* autosparse does not try ccoo, although it would have the fewest bytes */
static PetscErrorCode NoCandidate(TestDiff *d)
{
  Mat         A, R;
  char        text[8192];
  PetscMPIInt rank;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(TestShapeCreate(&few, "ref_", &R));
  PetscCall(MatConvert(R, MATAUTOSPARSE, MAT_INITIAL_MATRIX, &A));
  PetscCall(MatShadowSetTune(A, MAT_SHADOW_TUNE_ONLINE));
  PetscCall(MatShadowSetUp(A));
  PetscCall(TestViewText(A, sizeof(text), text));
  if (!rank) TestExpect(d, "no view of a format", (PetscBool)(strstr(text, "amb, ") || strstr(text, "nussell, ")));
  TestExpect(d, "autosparse tries ccoo", (PetscBool)(strstr(text, "ccoo") == NULL));
  PetscCall(TestDestroy(&A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BadParameters(TestDiff *d)
{
  Mat A, R;

  PetscFunctionBeginUser;
  PetscCall(TestPairCreate(&few, &A, &R));
  TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "32, 64, 128 or 256", MatCCOOSetChunk(A, 100, 0));
  TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "32, 64, 128 or 256", MatCCOOSetChunk(A, -1, 2));
  TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "1, 2, 4 or 8", MatCCOOSetChunk(A, 0, 3));
  TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "1, 2, 4 or 8", MatCCOOSetChunk(A, 64, 16));
  PetscCall(TestDiffMat(d, A, R));
  PetscCall(MatCCOOSetChunk(R, 100, 100)); /* setters leave matrices of other types alone */
  PetscCall(MatCCOOSetTable(R, PETSC_FALSE));
  PetscCall(MatCCOOSetAtomics(R, PETSC_TRUE));
  PetscCall(TestDestroy(&A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Options(TestDiff *d)
{
  const char *const options[][2] = {
    {"-opt_mat_ccoo_block",   "64"   },
    {"-opt_mat_ccoo_items",   "2"    },
    {"-opt_mat_ccoo_table",   "false"},
    {"-opt_mat_ccoo_atomics", "true" },
    {"-opt_mat_shadow_tune",  "off"  }
  };
  Mat A, R;

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(options); k++) PetscCall(PetscOptionsSetValue(NULL, options[k][0], options[k][1]));
  PetscCall(TestShapeCreateEmpty(&few, MATCCOO, "opt_", &A));
  PetscCall(TestShapePreallocate(&few, A));
  PetscCall(TestShapeSetValues(&few, A, 1.0, INSERT_VALUES));
  PetscCall(TestShapeCreate(&few, "ref_", &R));
  PetscCall(TestDiffMat(d, A, R));
  TestExpect(d, "options are not taken", (PetscBool)(TestFigure(A, "block") == 64 && TestFigure(A, "items") == 2 && TestFigure(A, "table") == 0));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(options); k++) PetscCall(PetscOptionsClearValue(NULL, options[k][0]));
  PetscCall(TestDestroy(&A, &R));
  TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "32, 64, 128 or 256", TestShapeCreateBad(&few, MATCCOO, "-bad_mat_ccoo_block", "7"));
  TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "1, 2, 4 or 8", TestShapeCreateBad(&few, MATCCOO, "-bad_mat_ccoo_items", "-7"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const TestCase tests[] = {
  {"setters",        Setters      },
  {"new values",     NewValues    },
  {"declines",       Declines     },
  {"view",           View         },
  {"no candidate",   NoCandidate  },
  {"bad parameters", BadParameters},
  {"options",        Options      },
  {NULL,             NULL         }
};

int main(int argc, char **argv)
{
  return TestMain(argc, argv, help, tests);
}

/*TEST

  test:
    nsize: {{1 2}}
    args: -mat_type ccoo
    checks: 7

TEST*/
