/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "MatConvert() from and to the type under test, under its root name and its full one, in every reuse mode.\n";

#include <petsc/private/petscimpl.h>

#include "../testutil.h"

static PetscScalar ValueSymmetric(PetscInt i, PetscInt j)
{
  return TestNumber(PetscMin(i, j), PetscMax(i, j)) + (i == j ? 3.0 : 0.0);
}

static const TestShape grid      = {"grid", 225, 225, TestRowGrid, TestValueGeneral, PETSC_FALSE};
static const TestShape blocks    = {"blocks", 108, 108, TestRowBlocks, TestValueGeneral, PETSC_FALSE};
static const TestShape symmetric = {"symmetric", 108, 108, TestRowBlocks, ValueSymmetric, PETSC_FALSE};

/* The names the type under test goes by on PETSC_COMM_WORLD: k = 0 is the root name, k = 1 the full one */
static PetscErrorCode TypeName(PetscInt k, char type[], size_t len)
{
  PetscMPIInt size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  if (k) PetscCall(TestTypeFull(size, type, len));
  else PetscCall(TestTypeRoot(type, len));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is A a plain MATAIJ, blocks and all? */
static PetscErrorCode DiffPlain(TestDiff *d, Mat A)
{
  PetscBool mpi, plain;
  Mat       block[2];

  PetscFunctionBeginUser;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &plain, MATSEQAIJ, MATMPIAIJ, ""));
  TestExpect(d, "the result is not a plain MATAIJ", plain);
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATMPIAIJ, &mpi));
  if (mpi) {
    PetscCall(MatMPIAIJGetSeqAIJ(A, &block[0], &block[1], NULL));
    for (PetscInt k = 0; k < 2; k++) {
      PetscCall(PetscObjectTypeCompare((PetscObject)block[k], MATSEQAIJ, &plain));
      TestExpect(d, "a block of the result is not a plain MATAIJ", plain);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A is of the type under test if typed, else a plain MATAIJ, and equals R */
static PetscErrorCode Check(TestDiff *d, Mat A, Mat R, PetscBool typed)
{
  PetscFunctionBeginUser;
  if (typed) PetscCall(TestDiffType(d, A));
  else PetscCall(DiffPlain(d, A));
  PetscCall(TestDiffMat(d, A, R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* source -> new matrix -> changed source into the same matrix; the source and the result are independent */
static PetscErrorCode InitialAndReuse(TestDiff *d, Mat A, MatType type, PetscBool typed)
{
  Mat B, R, S;

  PetscFunctionBeginUser;
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &R));
  PetscCall(MatDuplicate(R, MAT_COPY_VALUES, &S));
  PetscCall(MatConvert(A, type, MAT_INITIAL_MATRIX, &B));
  PetscCall(Check(d, B, R, typed));
  PetscCall(MatScale(A, 3.0));
  PetscCall(MatScale(S, 3.0));
  PetscCall(Check(d, B, R, typed));
  PetscCall(TestDiffMat(d, A, S));
  PetscCall(MatConvert(A, type, MAT_REUSE_MATRIX, &B));
  PetscCall(Check(d, B, S, typed));
  PetscCall(MatShift(B, 1.0));
  PetscCall(TestDiffMat(d, A, S));
  PetscCall(MatShift(S, 1.0));
  PetscCall(Check(d, B, S, typed));
  PetscCall(TestDestroy(&B, &S, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ToAIJ(TestDiff *d)
{
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(TestShapeCreate(&grid, NULL, &A));
  PetscCall(InitialAndReuse(d, A, MATAIJ, PETSC_FALSE));
  PetscCall(TestDiffType(d, A));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FromAIJ(TestDiff *d)
{
  char type[64];
  Mat  A;

  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < 2; k++) {
    PetscCall(TypeName(k, type, sizeof(type)));
    PetscCall(TestShapeCreate(&grid, "ref_", &A));
    PetscCall(InitialAndReuse(d, A, type, PETSC_TRUE));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ToItself(TestDiff *d)
{
  char type[64];
  Mat  A, B, R;

  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < 2; k++) {
    PetscCall(TypeName(k, type, sizeof(type)));
    PetscCall(TestShapeCreate(&grid, NULL, &A));
    PetscCall(InitialAndReuse(d, A, type, PETSC_TRUE));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(TestPairCreate(&grid, &A, &R));
  PetscCall(MatConvert(A, MATSAME, MAT_INITIAL_MATRIX, &B)); /* PETSc knows no other reuse of MATSAME */
  PetscCall(Check(d, B, R, PETSC_TRUE));
  PetscCall(TestDestroy(&B, &A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* There and back in place, with a change in either state */
static PetscErrorCode InPlace(TestDiff *d)
{
  char type[64];
  Mat  A, R;

  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < 2; k++) {
    PetscCall(TypeName(k, type, sizeof(type)));
    PetscCall(TestPairCreate(&grid, &A, &R));
    for (PetscInt round = 0; round < 2; round++) {
      PetscCall(MatConvert(A, MATAIJ, MAT_INPLACE_MATRIX, &A));
      PetscCall(Check(d, A, R, PETSC_FALSE));
      PetscCall(MatShift(A, 1.0));
      PetscCall(MatShift(R, 1.0));
      PetscCall(MatConvert(A, type, MAT_INPLACE_MATRIX, &A));
      PetscCall(Check(d, A, R, PETSC_TRUE));
      PetscCall(MatScale(A, 2.0));
      PetscCall(MatScale(R, 2.0));
      PetscCall(Check(d, A, R, PETSC_TRUE));
    }
    PetscCall(MatConvert(A, type, MAT_INPLACE_MATRIX, &A));
    PetscCall(Check(d, A, R, PETSC_TRUE));
    PetscCall(TestDestroy(&A, &R));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MatSetType() with the type that a matrix has already keeps it as it is */
static PetscErrorCode SetTypeAgain(TestDiff *d)
{
  char type[64];
  Mat  A, R;

  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < 2; k++) {
    PetscCall(TypeName(k, type, sizeof(type)));
    PetscCall(TestPairCreate(&grid, &A, &R));
    PetscCall(TestDiffMat(d, A, R));
    PetscCall(MatSetType(A, type));
    PetscCall(MatSetFromOptions(A));
    PetscCall(Check(d, A, R, PETSC_TRUE));
    PetscCall(TestDestroy(&A, &R));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MatSetType() with another type, and with the first one again, leaves an empty matrix, as it does for AIJ. AIJ itself has no other type here. */
static PetscErrorCode SetTypeOther(TestDiff *d)
{
  char      type[64];
  PetscBool assembled, aij;
  Mat       A, R;

  PetscFunctionBeginUser;
  PetscCall(TestTypeRoot(type, sizeof(type)));
  PetscCall(PetscStrbeginswith(type, MATAIJ, &aij));
  if (aij) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt k = 0; k < 2; k++) {
    PetscCall(TypeName(k, type, sizeof(type)));
    PetscCall(TestPairCreate(&grid, &A, &R));
    PetscCall(TestDiffMat(d, A, R));
    PetscCall(MatSetType(A, MATAIJ));
    PetscCall(MatSetType(A, type));
    PetscCall(MatAssembled(A, &assembled));
    TestExpect(d, "the matrix has the entries of the time before MatSetType()", (PetscBool)!assembled);
    PetscCall(TestShapePreallocate(&grid, A));
    PetscCall(TestShapeSetValues(&grid, A, 1.0, INSERT_VALUES));
    PetscCall(Check(d, A, R, PETSC_TRUE));
    PetscCall(TestDestroy(&A, &R));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The functions that PETSc finds by name on A are those that it finds on R */
static PetscErrorCode DiffComposed(TestDiff *d, Mat A, Mat R)
{
  const char **names;
  int          n;

  PetscFunctionBeginUser;
  PetscCall(PetscFunctionListGet(((PetscObject)A)->qlist, &names, &n));
  for (int k = 0; k < n; k++) {
    void (*f)(void), (*g)(void);

    PetscCall(PetscObjectQueryFunction((PetscObject)A, names[k], &f));
    PetscCall(PetscObjectQueryFunction((PetscObject)R, names[k], &g));
    if (f != g) PetscCall(PetscFPrintf(PETSC_COMM_SELF, stderr, "%s differs\n", names[k]));
    TestExpect(d, "a composed function differs", (PetscBool)(f == g));
  }
  PetscCall(PetscFree(names));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After MatSetType() to types of PETSc, from one to the next, nothing of petsc-amb is composed with the matrix, assembled before or not */
static PetscErrorCode SetTypesOfPETSc(TestDiff *d, const MatType types[], PetscBool assembled)
{
  PetscObject shadow;
  Mat         A[2];

  PetscFunctionBeginUser;
  for (PetscInt ref = 0; ref < 2; ref++) {
    if (assembled) PetscCall(TestShapeCreate(&grid, ref ? "ref_" : NULL, &A[ref]));
    else {
      PetscCall(MatCreate(PETSC_COMM_WORLD, &A[ref]));
      PetscCall(MatSetOptionsPrefix(A[ref], ref ? "ref_" : NULL));
      PetscCall(TestShapeSizes(&grid, A[ref]));
      PetscCall(MatSetFromOptions(A[ref]));
    }
    for (PetscInt k = 0; types[k]; k++) PetscCall(MatSetType(A[ref], types[k]));
  }
  PetscCall(DiffComposed(d, A[0], A[1]));
  PetscCall(DiffComposed(d, A[1], A[0]));
  PetscCall(PetscObjectQuery((PetscObject)A[0], "MatShadow", &shadow));
  TestExpect(d, "the shadow is still composed", (PetscBool)!shadow);
  PetscCall(TestDestroy(&A[0], &A[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define DERIVED 9

/* Matrices that PETSc makes of others; of a matrix of several processes some are sequential */
static PetscErrorCode Derive(Mat A, PetscInt which, Mat *B)
{
  PetscInt begin, end;
  MatType  type;
  Mat     *C, T;
  IS       is;

  PetscFunctionBeginUser;
  *B = NULL;
  switch (which) {
  case 0:
    PetscCall(ISCreateStride(PETSC_COMM_SELF, grid.M / 2, 0, 1, &is));
    PetscCall(MatCreateSubMatrices(A, 1, &is, &is, MAT_INITIAL_MATRIX, &C));
    *B = C[0];
    PetscCall(PetscObjectReference((PetscObject)*B));
    PetscCall(MatDestroySubMatrices(1, &C));
    PetscCall(ISDestroy(&is));
    break;
  case 1:
    PetscCall(MatGetOwnershipRange(A, &begin, &end));
    PetscCall(ISCreateStride(PETSC_COMM_WORLD, (end - begin) / 2, begin, 1, &is));
    PetscCall(MatCreateSubMatrix(A, is, is, MAT_INITIAL_MATRIX, B));
    PetscCall(ISDestroy(&is));
    break;
  case 2:
    PetscCall(MatDuplicate(A, MAT_DO_NOT_COPY_VALUES, B));
    break;
  case 3:
    PetscCall(MatGetDiagonalBlock(A, &T));
    PetscCall(MatDuplicate(T, MAT_COPY_VALUES, B));
    break;
  case 4:
    PetscCall(MatGetType(A, &type));
    PetscCall(MatConvert(A, MATDENSE, MAT_INITIAL_MATRIX, &T));
    PetscCall(MatConvert(T, type, MAT_INITIAL_MATRIX, B));
    PetscCall(MatDestroy(&T));
    break;
  case 5:
    PetscCall(MatTranspose(A, MAT_INITIAL_MATRIX, B));
    break;
  case 6:
    PetscCall(MatMatMult(A, A, MAT_INITIAL_MATRIX, PETSC_DEFAULT, B));
    break;
  case 7:
    PetscCall(MatCreateRedundantMatrix(A, 0, PETSC_COMM_SELF, MAT_INITIAL_MATRIX, B));
    break;
  case 8:
    PetscCall(ISCreateStride(PETSC_COMM_SELF, grid.M, 0, 1, &is));
    PetscCall(MatCreateSubMatrices(A, 1, &is, &is, MAT_INITIAL_MATRIX, &C));
    PetscCall(MatDuplicate(C[0], MAT_COPY_VALUES, B));
    PetscCall(MatDestroySubMatrices(1, &C));
    PetscCall(ISDestroy(&is));
    break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same of matrices that PETSc makes of others: functions are those of a new matrix, and setters do nothing */
static PetscErrorCode SetTypeDerived(TestDiff *d)
{
  PetscInt m, n;
  Mat      A, B, R;

  PetscFunctionBeginUser;
  PetscCall(TestShapeCreate(&grid, NULL, &A));
  for (PetscInt which = 0; which < DERIVED; which++) {
    PetscCall(Derive(A, which, &B));
    PetscCall(MatSetType(B, MATBAIJ));
    PetscCall(MatGetLocalSize(B, &m, &n));
    PetscCall(MatCreate(PetscObjectComm((PetscObject)B), &R));
    PetscCall(MatSetSizes(R, m, n, PETSC_DETERMINE, PETSC_DETERMINE));
    PetscCall(MatSetType(R, MATBAIJ));
    PetscCall(DiffComposed(d, B, R));
    PetscCall(DiffComposed(d, R, B));
    PetscCall(MatShadowSetTune(B, MAT_SHADOW_TUNE_OFF));
    PetscCall(MatShadowSetKeepAIJ(B, PETSC_FALSE));
    PetscCall(MatAMBSetBlockSize(B, 3));
    PetscCall(TestDestroy(&B, &R));
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MatSetType() with the name of AIJ does nothing to a matrix of this name */
static PetscErrorCode SetTypePETSc(TestDiff *d)
{
  const MatType direct[] = {MATAIJ, NULL}, around[] = {MATBAIJ, MATAIJ, NULL};
  char          type[64];
  PetscBool     aij;

  PetscFunctionBeginUser;
  PetscCall(TestTypeRoot(type, sizeof(type)));
  PetscCall(PetscStrcmp(type, MATAIJ, &aij));
  for (PetscInt assembled = 0; assembled < 2; assembled++) {
    if (!aij) PetscCall(SetTypesOfPETSc(d, direct, (PetscBool)assembled));
    PetscCall(SetTypesOfPETSc(d, around, (PetscBool)assembled));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Through another type and back to the type under test, as a new matrix and in place */
static PetscErrorCode Through(TestDiff *d, const TestShape *shape, MatType other, PetscBool rows)
{
  char type[64];
  Mat  A, B, C, R;
  Vec  scale, unused;

  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < 2; k++) {
    PetscCall(TypeName(k, type, sizeof(type)));
    PetscCall(TestPairCreate(shape, &A, &R));
    PetscCall(TestScales(R, &scale, &unused));
    PetscCall(MatConvert(A, other, MAT_INITIAL_MATRIX, &B));
    PetscCall(TestDiffMult(d, B, R, scale));
    PetscCall(MatConvert(B, type, MAT_INITIAL_MATRIX, &C));
    PetscCall(TestDiffType(d, C));
    PetscCall(TestDiffMult(d, C, R, scale));
    if (rows) PetscCall(TestDiffRows(d, C, R));
    PetscCall(MatConvert(B, type, MAT_INPLACE_MATRIX, &B));
    PetscCall(TestDiffType(d, B));
    PetscCall(TestDiffMult(d, B, R, scale));
    PetscCall(TestDestroy(&scale, &unused, &B, &C, &A, &R));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ThroughDense(TestDiff *d)
{
  return Through(d, &grid, MATDENSE, PETSC_TRUE);
}

static PetscErrorCode ThroughBAIJ(TestDiff *d)
{
  return Through(d, &blocks, MATBAIJ, PETSC_TRUE);
}

static PetscErrorCode ThroughIS(TestDiff *d)
{
  return Through(d, &grid, MATIS, PETSC_TRUE);
}

static PetscErrorCode ThroughSELL(TestDiff *d)
{
  return Through(d, &grid, MATSELL, PETSC_TRUE);
}

static PetscErrorCode ThroughAIJPERM(TestDiff *d)
{
  return Through(d, &grid, MATAIJPERM, PETSC_TRUE);
}

#if defined(PETSC_HAVE_HYPRE)
static PetscErrorCode ThroughHYPRE(TestDiff *d)
{
  return Through(d, &grid, MATHYPRE, PETSC_FALSE);
}
#endif

static PetscErrorCode ToSBAIJ(TestDiff *d)
{
  Mat A, B, R;
  Vec scale, unused;

  PetscFunctionBeginUser;
  PetscCall(TestPairCreate(&symmetric, &A, &R));
  PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(MatConvert(A, MATSBAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(TestScales(R, &scale, &unused));
  PetscCall(TestDiffMult(d, B, R, scale));
  PetscCall(TestDestroy(&scale, &unused, &B, &A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The graph of the off-diagonal entries, compared with the graph of the reference */
static PetscErrorCode ToMPIAdj(TestDiff *d)
{
  Mat       A, R, G[2];
  PetscBool same = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(TestPairCreate(&grid, &A, &R));
  PetscCall(MatConvert(A, MATMPIADJ, MAT_INITIAL_MATRIX, &G[0]));
  PetscCall(MatConvert(R, MATMPIADJ, MAT_INITIAL_MATRIX, &G[1]));
  PetscCall(MatEqual(G[0], G[1], &same));
  TestExpect(d, "the graphs differ", same);
  PetscCall(TestDestroy(&G[0], &G[1], &A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A nest of two by two blocks of the type under test as one matrix, and its product through the blocks */
static PetscErrorCode FromNest(TestDiff *d)
{
  Mat A, R, N[2], M[2], block[2][4];
  Vec scale, unused;

  PetscFunctionBeginUser;
  PetscCall(TestPairCreate(&grid, &A, &R));
  for (PetscInt ref = 0; ref < 2; ref++) {
    for (PetscInt k = 0; k < 4; k++) {
      PetscCall(MatDuplicate(ref ? R : A, MAT_COPY_VALUES, &block[ref][k]));
      PetscCall(MatScale(block[ref][k], 1.0 + k));
    }
    PetscCall(MatCreateNest(PETSC_COMM_WORLD, 2, NULL, 2, NULL, block[ref], &N[ref]));
    PetscCall(MatConvert(N[ref], MATAIJ, MAT_INITIAL_MATRIX, &M[ref]));
  }
  PetscCall(TestDiffMat(d, M[0], M[1]));
  PetscCall(TestScales(M[1], &scale, &unused));
  PetscCall(TestDiffMult(d, N[0], M[1], scale));
  PetscCall(TestDestroy(&scale, &unused));
  for (PetscInt ref = 0; ref < 2; ref++) {
    for (PetscInt k = 0; k < 4; k++) PetscCall(MatDestroy(&block[ref][k]));
    PetscCall(TestDestroy(&N[ref], &M[ref]));
  }
  PetscCall(TestDestroy(&A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The general converter, from a matrix of which only the products are known */
static PetscErrorCode FromTranspose(TestDiff *d)
{
  char type[64];
  Mat  A, R, T, B, S;

  PetscFunctionBeginUser;
  PetscCall(TypeName(0, type, sizeof(type)));
  PetscCall(TestPairCreate(&grid, &A, &R));
  PetscCall(MatCreateTranspose(A, &T));
  PetscCall(MatComputeOperator(T, type, &B));
  PetscCall(TestDiffType(d, B));
  PetscCall(MatTranspose(R, MAT_INITIAL_MATRIX, &S));
  PetscCall(TestDiffMat(d, B, S));
  PetscCall(TestDestroy(&T, &B, &S, &A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const TestCase tests[] = {
  {"to aij",                         ToAIJ         },
  {"from aij",                       FromAIJ       },
  {"to itself",                      ToItself      },
  {"in place, there and back",       InPlace       },
  {"MatSetType with the same type",  SetTypeAgain  },
  {"MatSetType with another type",   SetTypeOther  },
  {"MatSetType with PETSc's types",  SetTypePETSc  },
  {"MatSetType of derived matrices", SetTypeDerived},
  {"through dense",                  ThroughDense  },
  {"through baij",                   ThroughBAIJ   },
  {"through is",                     ThroughIS     },
  {"through sell",                   ThroughSELL   },
  {"through aijperm",                ThroughAIJPERM},
  {"to sbaij",                       ToSBAIJ       },
  {"to mpiadj",                      ToMPIAdj      },
  {"from nest",                      FromNest      },
  {"from products alone",            FromTranspose },
  {NULL,                             NULL          }
};

/* Of packages that PETSc may lack */
static const TestCase hypre[] = {
#if defined(PETSC_HAVE_HYPRE)
  {"through hypre", ThroughHYPRE},
#endif
  {NULL,            NULL        }
};

int main(int argc, char **argv)
{
  PetscBool external = PETSC_FALSE;

  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-hypre", &external, NULL));
  PetscCall(TestRun(external ? hypre : tests));
  return TestFinalize();
}

/*TEST

  testset:
    nsize: {{1 2 3}}
    comments: without the slice height, a PETSc with CUDA takes 16, which its own kernels for AVX2 refuse
    args: -mat_sell_slice_height 8
    checks: 17
    test:
      suffix: aij
      args: -mat_type aij
    test:
      suffix: types
      args: -mat_type {{@types}} -mat_shadow_tune off
    test:
      suffix: nussell_segments
      args: -mat_type nussell -mat_shadow_tune off -mat_nussell_s1 7 -mat_nussell_k1 2 -mat_nussell_s2 50 -mat_nussell_k2 1

  testset:
    args: -mat_type amb -mat_sell_slice_height 8
    checks: 17
    test:
      suffix: amb_tuned
      nsize: 2
      args: -mat_shadow_tune {{measure online}}
    test:
      suffix: amb_blocks
      nsize: 2
      args: -mat_shadow_tune off -mat_amb_block_size 3

  test:
    suffix: hypre
    requires: hypre
    nsize: {{1 2}}
    args: -mat_type {{aij @types-tilecomposite}} -mat_shadow_tune off -hypre
    checks: 1

  testset:
    args: -petscamb_for_aij amb -ref_petscamb_for_aij aij -mat_shadow_tune off -mat_sell_slice_height 8
    checks: 17
    test:
      suffix: for_aij
      nsize: {{1 2}}
      args: -mat_type aij
    test:
      suffix: for_aijcusparse
      requires: cuda
      nsize: {{1 2}}
      args: -mat_type aijcusparse

TEST*/
