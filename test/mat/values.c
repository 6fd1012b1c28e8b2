/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "How the format stores values: setter, option, figures, view; the bits of products, before and after values change.\n";

#include "../testutil.h"

/* Three values; a grid whose values all differ; as many values as single precision holds exactly */
static PetscScalar ValueFew(PetscInt i, PetscInt j)
{
  return i == j ? 4.1 : (i < j ? -1.1 : -2.1);
}

static PetscScalar ValueFloat(PetscInt i, PetscInt j)
{
  return (PetscReal)(i % 5000) + (PetscReal)(j % 4) / 4;
}

static const TestShape few    = {"few values", 2500, 2500, TestRowGrid, ValueFew, PETSC_FALSE};
static const TestShape many   = {"many values", 2500, 2500, TestRowGrid, TestValueGeneral, PETSC_FALSE};
static const TestShape floats = {"floats", 2500, 2500, TestRowGrid, ValueFloat, PETSC_FALSE};

/* Is there a smaller number type? */
#if defined(PETSC_USE_REAL_DOUBLE) && !defined(PETSC_USE_COMPLEX)
static const PetscBool single = PETSC_TRUE;
#else
static const PetscBool single = PETSC_FALSE;
#endif

/* Products of A and B with the same vectors give the same bits */
static PetscErrorCode SameBits(TestDiff *d, const char *what, Mat A, Mat B)
{
  Vec       x, y[2];
  PetscBool same;

  PetscFunctionBeginUser;
  for (int transpose = 0; transpose < 2; transpose++) {
    PetscCall(MatCreateVecs(A, transpose ? NULL : &x, transpose ? &x : NULL));
    PetscCall(MatCreateVecs(A, transpose ? &y[0] : NULL, transpose ? NULL : &y[0]));
    PetscCall(VecDuplicate(y[0], &y[1]));
    PetscCall(VecSetRandom(x, NULL));
    for (int k = 0; k < 2; k++) PetscCall((*(transpose ? MatMultTranspose : MatMult))(k ? B : A, x, y[k]));
    PetscCall(VecEqual(y[0], y[1], &same));
    TestExpect(d, what, same);
    PetscCall(VecDestroy(&x));
    for (int k = 0; k < 2; k++) PetscCall(VecDestroy(&y[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix of the type under test with this storage, one without, and both converted */
static PetscErrorCode Pair(const TestShape *shape, MatShadowValues values, Mat *A, Mat *B)
{
  Mat *const M[] = {A, B};

  PetscFunctionBeginUser;
  for (int k = 0; k < 2; k++) {
    PetscCall(TestShapeCreate(shape, NULL, M[k]));
    PetscCall(MatShadowSetTune(*M[k], MAT_SHADOW_TUNE_OFF));
  }
  PetscCall(MatShadowSetValues(*A, values));
  PetscCall(MatShadowSetValues(*B, MAT_SHADOW_VALUES_DOUBLE));
  for (int k = 0; k < 2; k++) PetscCall(MatShadowSetUp(*M[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On the host there is no table unless one is asked for, since small matrices lie in caches, where look-ups take longer than values; but NUS-SELL has one where registers
   of AVX-512 hold it */
static PetscErrorCode ExactHasTable(Mat A, PetscBool *has)
{
  MatShadowInfo info;

  PetscFunctionBeginUser;
  PetscCall(MatShadowGetInfo(A, &info));
  *has = (PetscBool)(TestFigure(A, "tasks") >= 0 || (TestFigure(A, "chunks_distinct") >= 0 && strcmp(info.kernel, "avx2") && strcmp(info.kernel, "plain")));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Without a setting the storage is the smallest one that gives back the same bits */
static PetscErrorCode Default(TestDiff *d)
{
  Mat A, B, C;

  PetscFunctionBeginUser;
  PetscCall(Pair(&floats, MAT_SHADOW_VALUES_EXACT, &A, &B));
  PetscCall(TestShapeCreate(&floats, NULL, &C));
  PetscCall(MatShadowSetTune(C, MAT_SHADOW_TUNE_OFF));
  PetscCall(MatShadowSetUp(C));
  TestExpect(d, "the default is not exact", (PetscBool)(TestFigure(C, "values_bits") == TestFigure(A, "values_bits")));
  TestExpect(d, "the default has as many bits as double", (PetscBool)(!single || TestFigure(C, "values_bits") < TestFigure(B, "values_bits")));
  PetscCall(TestDestroy(&A, &B, &C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Storages(TestDiff *d)
{
  const TestShape *const shapes[] = {&few, &many, &floats};
  Mat                    A, B, C;

  PetscFunctionBeginUser;
  for (int s = 0; s < 3; s++) {
    for (int values = MAT_SHADOW_VALUES_DOUBLE; values <= MAT_SHADOW_VALUES_TABLE; values++) {
      const PetscBool rounds = (PetscBool)(single && values == MAT_SHADOW_VALUES_SINGLE);
      PetscBool       table  = PETSC_FALSE;
      PetscReal       bits;

      PetscCall(Pair(shapes[s], (MatShadowValues)values, &A, &B));
      PetscCall(ExactHasTable(A, &table));
      table = (PetscBool)(s == 0 && ((values == MAT_SHADOW_VALUES_EXACT && table) || values == MAT_SHADOW_VALUES_TABLE));
      bits  = table ? 8 : rounds || (single && s == 2 && values == MAT_SHADOW_VALUES_EXACT) ? 32 : 8 * sizeof(PetscScalar);
      TestExpect(d, "bits of a value", (PetscBool)(TestFigure(A, "values_bits") == bits && TestFigure(B, "values_bits") == 8 * sizeof(PetscScalar)));
      TestExpect(d, "distinct values", (PetscBool)(table ? TestFigure(A, "values_distinct") == 4 : TestFigure(A, "values_distinct") == 0)); /* with 0 */
      TestExpect(d, "exact or not", (PetscBool)(TestFigure(A, "values_exact") == (rounds && s < 2 ? 0 : 1)));
      if (TestFigure(A, "values_exact") > 0) PetscCall(SameBits(d, "other bits", A, B));
      PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &C));
      PetscCall(MatShadowSetUp(C));
      TestExpect(d, "a duplicate has another storage", (PetscBool)(TestFigure(C, "values_bits") == bits));
      PetscCall(SameBits(d, "a duplicate has other bits", A, C));
      PetscCall(TestDestroy(&C, &A, &B));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With single precision the products are those of the rounded values, and the matrix keeps its own */
static PetscErrorCode Rounded(TestDiff *d)
{
  Mat       A, B;
  PetscBool same;

  PetscFunctionBeginUser;
  PetscCall(Pair(&few, MAT_SHADOW_VALUES_SINGLE, &A, &B));
  PetscCall(MatEqual(A, B, &same));
  TestExpect(d, "the values of the matrix are rounded", same);
  PetscCall(MatMultEqual(A, B, 2, &same));
  TestExpect(d, "products that are rounded or not", (PetscBool)(same == (single ? PETSC_FALSE : PETSC_TRUE)));
  PetscCall(MatShadowSetValues(A, MAT_SHADOW_VALUES_DOUBLE));
  PetscCall(MatShadowSetUp(A));
  PetscCall(SameBits(d, "the values have changed", A, B));
  PetscCall(TestDestroy(&A, &B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* New values in the same pattern, from few to many and back. EXACT gives the table up at the second change. */
static PetscErrorCode NewValues(TestDiff *d)
{
  const MatShadowValues kinds[] = {MAT_SHADOW_VALUES_EXACT, MAT_SHADOW_VALUES_TABLE};
  Mat                   A, B;

  PetscFunctionBeginUser;
  for (int k = 0; k < 2; k++) {
    PetscCall(Pair(&few, kinds[k], &A, &B));
    for (int change = 1; change <= 4; change++) {
      const TestShape *shape = change % 2 ? &many : &few;

      PetscCall(TestShapeSetValues(shape, A, 1.0, INSERT_VALUES));
      PetscCall(TestShapeSetValues(shape, B, 1.0, INSERT_VALUES));
      PetscCall(MatShadowSetUp(A));
      PetscCall(SameBits(d, "other bits after a change", A, B));
      TestExpect(d, "storage after a change", (PetscBool)(TestFigure(A, "values_bits") == (kinds[k] == MAT_SHADOW_VALUES_TABLE && change % 2 == 0 ? 8 : 8 * sizeof(PetscScalar))));
    }
    PetscCall(TestDestroy(&A, &B));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode View(TestDiff *d)
{
  Mat A, B;

  PetscFunctionBeginUser;
  PetscCall(Pair(&few, MAT_SHADOW_VALUES_TABLE, &A, &B));
  PetscCall(TestExpectLine(d, A, "  values: table of 8 bits, 4 distinct", PETSC_TRUE));
  PetscCall(TestExpectLine(d, B, "  values:", PETSC_FALSE));
  PetscCall(MatShadowSetValues(A, MAT_SHADOW_VALUES_SINGLE));
  PetscCall(TestExpectLine(d, A, "  values: single (not exact)", single));
  PetscCall(TestDestroy(&A, &B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Options(TestDiff *d)
{
  Mat  A;
  char type[64];

  PetscFunctionBeginUser;
  PetscCall(TestTypeRoot(type, sizeof(type)));
  PetscCall(PetscOptionsSetValue(NULL, "-opt_mat_shadow_values", "table"));
  PetscCall(TestShapeCreateEmpty(&few, type, "opt_", &A));
  PetscCall(PetscOptionsClearValue(NULL, "-opt_mat_shadow_values"));
  PetscCall(TestShapePreallocate(&few, A));
  PetscCall(TestShapeSetValues(&few, A, 1.0, INSERT_VALUES));
  PetscCall(MatShadowSetTune(A, MAT_SHADOW_TUNE_OFF));
  PetscCall(MatShadowSetUp(A));
  TestExpect(d, "the option is not taken", (PetscBool)(TestFigure(A, "values_bits") == 8));
  TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "MAT_SHADOW_VALUES_DOUBLE", MatShadowSetValues(A, (MatShadowValues)7));
  PetscCall(MatDestroy(&A));
  TestExpectError(d, 0, "half", TestShapeCreateBad(&few, type, "-bad_mat_shadow_values", "half"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const TestCase tests[] = {
  {"storages",   Storages },
  {"default",    Default  },
  {"rounded",    Rounded  },
  {"new values", NewValues},
  {"view",       View     },
  {"options",    Options  },
  {NULL,         NULL     }
};

int main(int argc, char **argv)
{
  return TestMain(argc, argv, help, tests);
}

/*TEST

  test:
    nsize: {{1 2}}
    args: -mat_type {{amb nussell}}
    checks: 6

TEST*/
