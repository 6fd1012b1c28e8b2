/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "MatSDDMM(): entries of the product of two dense matrices in a sparse pattern, against sums by hand; scaled or not, made again, the same bits, errors.\n";

#include "../testutil.h"
#include "sys/systhreads.h"

static const TestShape shapes[] = {
  {"grid",                 144,  144,   TestRowGrid,   TestValueGeneral, PETSC_FALSE},
  {"blocks",               108,  108,   TestRowBlocks, TestValueGeneral, PETSC_FALSE},
  {"hub row and column",   200,  90,    TestRowHub,    TestValueGeneral, PETSC_FALSE},
  {"wide",                 12,   70000, TestRowHub,    TestValueGeneral, PETSC_FALSE},
  {"no entries",           30,   20,    TestRowNone,   TestValueGeneral, PETSC_FALSE},
  {"no rows",              0,    20,    TestRowNone,   TestValueGeneral, PETSC_FALSE},
  {"all on the last rank", 90,   40,    TestRowHub,    TestValueGeneral, PETSC_TRUE },
  {"band",                 6400, 6400,  TestRowGrid,   TestValueGeneral, PETSC_FALSE}
};

/* Numbers of the dense matrices; some are none in the second sets */
static PetscScalar Left(PetscInt i, PetscInt k)
{
  return TestNumber(i + 5, k);
}

static PetscScalar Right(PetscInt j, PetscInt k)
{
  return TestNumber(k + 9, j);
}

static PetscScalar LeftNotFinite(PetscInt i, PetscInt k)
{
  return i == 6 && k == 1 ? (PetscScalar)NAN : Left(i, k);
}

static PetscScalar RightNotFinite(PetscInt j, PetscInt k)
{
  return j == 2 && k == 3 ? (PetscScalar)INFINITY : Right(j, k);
}

/* Every row of O: the columns of the shape, and the sums; with factor 0 the shape's values do not count */
static PetscErrorCode DiffSampled(TestDiff *d, const char *what, const TestShape *shape, PetscScalar factor, PetscInt K, TestDenseFunction left, TestDenseFunction right, Mat O)
{
  PetscInt  r0, r1, n, *cols;
  PetscBool same = PETSC_TRUE;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(shape->N + 1, &cols));
  PetscCall(MatGetOwnershipRange(O, &r0, &r1));
  for (PetscInt i = r0; i < r1; i++) {
    const PetscInt    *j;
    const PetscScalar *a;

    PetscCall(MatGetRow(O, i, &n, &j, &a));
    same = (PetscBool)(same && n == (*shape->row)(i, shape->M, shape->N, cols));
    for (PetscInt l = 0; l < n && same; l++) {
      PetscScalar sum   = 0;
      PetscReal   scale = 0;

      same = (PetscBool)(j[l] == cols[l]);
      for (PetscInt k = 0; k < K; k++) {
        sum += (*left)(i, k) * (*right)(cols[l], k);
        scale += PetscAbsScalar((*left)(i, k) * (*right)(cols[l], k));
      }
      if (PetscAbsScalar(factor) > 0) {
        sum *= factor * (*shape->value)(i, cols[l]);
        scale *= PetscAbsScalar(factor * (*shape->value)(i, cols[l]));
      }
      if (PetscIsInfOrNanScalar(sum)) TestExpect(d, what, (PetscBool)(PetscIsNanScalar(sum) ? PetscIsNanScalar(a[l]) : a[l] == sum));
      else TestDiffAdd(d, what, PetscAbsScalar(a[l] - sum) / (scale > 0 ? scale : 1));
    }
    PetscCall(MatRestoreRow(O, i, &n, &j, &a));
  }
  TestExpect(d, "another pattern", same);
  PetscCall(PetscFree(cols));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckWidth(TestDiff *d, const TestShape *shape, PetscInt K, PetscInt gap, TestDenseFunction left, TestDenseFunction right, Mat S)
{
  PetscInt m, n;
  Mat      D1, D2, O;

  PetscFunctionBeginUser;
  PetscCall(MatGetLocalSize(S, &m, &n));
  PetscCall(TestDenseCreate(m, K, gap, left, &D1));
  PetscCall(TestDenseCreate(n, K, 0, right, &D2));
  PetscCall(MatSDDMM(S, D1, D2, PETSC_TRUE, MAT_INITIAL_MATRIX, &O));
  PetscCall(DiffSampled(d, "scaled", shape, 1.0, K, left, right, O));
  PetscCall(TestDiffType(d, O));
  PetscCall(MatSDDMM(S, D1, D2, PETSC_FALSE, MAT_REUSE_MATRIX, &O));
  PetscCall(DiffSampled(d, "not scaled, made again", shape, 0.0, K, left, right, O));
  PetscCall(MatScale(S, 2.0));
  PetscCall(MatSDDMM(S, D1, D2, PETSC_TRUE, MAT_REUSE_MATRIX, &O));
  PetscCall(DiffSampled(d, "other values", shape, 2.0, K, left, right, O));
  PetscCall(MatScale(S, 0.5));
  PetscCall(TestDestroy(&O, &D1, &D2));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckShapes(TestDiff *d)
{
  static const PetscInt widths[] = {0, 1, 2, 31, 32, 33, 70, 512};

  PetscFunctionBeginUser;
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(shapes); s++) {
    Mat S;

    PetscCall(TestShapeCreate(&shapes[s], NULL, &S));
    for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(widths); k++) {
      if ((shapes[s].M > 1000 || shapes[s].N > 10000) && widths[k] > 70) continue;
      PetscCall(CheckWidth(d, &shapes[s], widths[k], k % 2 ? 3 : 0, Left, Right, S));
    }
    PetscCall(MatDestroy(&S));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckRandom(TestDiff *d)
{
  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < 16; k++) {
    const TestShape shape = {"random", 1 + TestInteger(k, 1, 180), 1 + TestInteger(k, 2, 140), TestRowRandom, TestValueGeneral, PETSC_FALSE};
    Mat             S;

    PetscCall(TestShapeCreate(&shape, NULL, &S));
    PetscCall(CheckWidth(d, &shape, TestInteger(k, 3, 140), TestInteger(k, 4, 3), Left, Right, S));
    PetscCall(MatDestroy(&S));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckNotFinite(TestDiff *d)
{
  Mat S;

  PetscFunctionBeginUser;
  PetscCall(TestShapeCreate(&shapes[2], NULL, &S));
  PetscCall(CheckWidth(d, &shapes[2], 9, 0, LeftNotFinite, RightNotFinite, S));
  PetscCall(MatDestroy(&S));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A result that is made again: for other widths, for another sparse matrix of its pattern, after its values were written; not after its pattern changed */
static PetscErrorCode CheckAgain(TestDiff *d)
{
  static const PetscInt widths[] = {40, 3, 130, 0, 9};
  const TestShape      *shape    = &shapes[2];
  PetscInt              m, n, r0, r1;
  Mat                   S, T, O, D1, D2;

  PetscFunctionBeginUser;
  PetscCall(TestShapeCreate(shape, NULL, &S));
  PetscCall(MatGetLocalSize(S, &m, &n));
  PetscCall(MatGetOwnershipRange(S, &r0, &r1));
  PetscCall(MatDuplicate(S, MAT_DO_NOT_COPY_VALUES, &O));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(widths); k++) {
    PetscCall(TestDenseCreate(m, widths[k], 0, Left, &D1));
    PetscCall(TestDenseCreate(n, widths[k], 1, Right, &D2));
    PetscCall(MatSDDMM(S, D1, D2, PETSC_TRUE, MAT_REUSE_MATRIX, &O));
    PetscCall(DiffSampled(d, "another width", shape, 1.0, widths[k], Left, Right, O));
    PetscCall(MatZeroEntries(O));
    PetscCall(MatDuplicate(S, MAT_COPY_VALUES, &T));
    PetscCall(MatScale(T, 3.0));
    PetscCall(MatSDDMM(T, D1, D2, PETSC_TRUE, MAT_REUSE_MATRIX, &O));
    PetscCall(DiffSampled(d, "another matrix", shape, 3.0, widths[k], Left, Right, O));
    PetscCall(MatDestroy(&T));
    if (k + 1 == PETSC_STATIC_ARRAY_LENGTH(widths)) {
      PetscCall(MatSetOption(O, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
      if (r1 > r0) PetscCall(MatSetValue(O, r0, shape->N - 2, 1.0, INSERT_VALUES));
      PetscCall(MatAssemblyBegin(O, MAT_FINAL_ASSEMBLY));
      PetscCall(MatAssemblyEnd(O, MAT_FINAL_ASSEMBLY));
      TestExpectError(d, PETSC_ERR_ARG_WRONG, "other entries", MatSDDMM(S, D1, D2, PETSC_TRUE, MAT_REUSE_MATRIX, &O));
    }
    PetscCall(TestDestroy(&D1, &D2));
  }
  PetscCall(TestDestroy(&S, &O));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same bits, whatever the number of threads */
static PetscErrorCode CheckBits(TestDiff *d)
{
  const TestShape *shape  = &shapes[7];
  const int        before = SysThreads();
  PetscInt         m, n;
  Mat              S, D1, D2, O, again;
  PetscBool        same;

  PetscFunctionBeginUser;
  PetscCall(TestShapeCreate(shape, NULL, &S));
  PetscCall(MatGetLocalSize(S, &m, &n));
  PetscCall(TestDenseCreate(m, 40, 0, Left, &D1));
  PetscCall(TestDenseCreate(n, 40, 0, Right, &D2));
  PetscCall(MatSDDMM(S, D1, D2, PETSC_TRUE, MAT_INITIAL_MATRIX, &O));
  for (int threads = 1; threads <= 4; threads++) {
    SysThreadsSet(threads);
    PetscCall(MatSDDMM(S, D1, D2, PETSC_TRUE, MAT_INITIAL_MATRIX, &again));
    PetscCall(MatEqual(O, again, &same));
    TestExpect(d, "other bits", same);
    PetscCall(MatDestroy(&again));
  }
  SysThreadsSet(before);
  PetscCall(TestDestroy(&S, &O, &D1, &D2));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckErrors(TestDiff *d)
{
  PetscInt m, n;
  Mat      S, other, D1, D2, narrow, O;

  PetscFunctionBeginUser;
  PetscCall(TestShapeCreate(&shapes[2], NULL, &S));
  PetscCall(TestShapeCreate(&shapes[4], NULL, &other));
  PetscCall(MatGetLocalSize(S, &m, &n));
  PetscCall(TestDenseCreate(m, 4, 0, Left, &D1));
  PetscCall(TestDenseCreate(n, 4, 0, Right, &D2));
  PetscCall(TestDenseCreate(n, 3, 0, Right, &narrow));
  TestExpectError(d, PETSC_ERR_ARG_SIZ, "D1 has", MatSDDMM(S, D2, D2, PETSC_TRUE, MAT_INITIAL_MATRIX, &O));
  TestExpectError(d, PETSC_ERR_ARG_SIZ, "D2 has", MatSDDMM(S, D1, D1, PETSC_TRUE, MAT_INITIAL_MATRIX, &O));
  TestExpectError(d, PETSC_ERR_ARG_SIZ, "D1 has 4 columns, D2 3", MatSDDMM(S, D1, narrow, PETSC_TRUE, MAT_INITIAL_MATRIX, &O));
  TestExpectError(d, PETSC_ERR_SUP, "convert it to MATDENSE", MatSDDMM(S, S, D2, PETSC_TRUE, MAT_INITIAL_MATRIX, &O));
  TestExpectError(d, PETSC_ERR_SUP, "convert it to MATAIJ", MatSDDMM(D1, D1, D2, PETSC_TRUE, MAT_INITIAL_MATRIX, &O));
  TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "MAT_REUSE_MATRIX", MatSDDMM(S, D1, D2, PETSC_TRUE, MAT_INPLACE_MATRIX, &O));
  TestExpectError(d, PETSC_ERR_ARG_WRONG, "MAT_INITIAL_MATRIX", MatSDDMM(S, D1, D2, PETSC_TRUE, MAT_REUSE_MATRIX, &other));
  TestExpectError(d, PETSC_ERR_ARG_IDN, "may not be its sparse matrix", MatSDDMM(S, D1, D2, PETSC_TRUE, MAT_REUSE_MATRIX, &S));
  PetscCall(TestDestroy(&S, &other, &D1, &D2, &narrow));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const TestCase tests[] = {
    {"shapes and widths", CheckShapes   },
    {"random shapes",     CheckRandom   },
    {"NaN and infinity",  CheckNotFinite},
    {"made again",        CheckAgain    },
    {"the same bits",     CheckBits     },
    {"errors",            CheckErrors   },
    {NULL,                NULL          }
  };

  return TestMain(argc, argv, help, tests);
}

/*TEST

  testset:
    requires: !complex
    nsize: {{1 2 3}}
    checks: 6
    test:
      args: -mat_type {{aij amb hashgemm}} -mat_shadow_tune off -options_left no
    test:
      suffix: fp_trap
      nsize: 1
      requires: !cuda
      args: -mat_type amb -mat_shadow_tune off -options_left no -fp_trap
    test:
      suffix: densecuda
      requires: cuda
      args: -mat_type {{aijcusparse amb hashgemm}} -mat_shadow_tune off -options_left no -dense_type densecuda

TEST*/
