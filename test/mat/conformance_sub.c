/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "Parts of a matrix: sub-matrices in all forms, blocks, permutations, local and redundant copies.\n";

#include "../testutil.h"

static const TestShape grid = {"grid", 400, 400, TestRowGrid, TestValueGeneral, PETSC_FALSE};

/* The index sets of MatCreateSubMatrix(): rows and columns of this rank */
typedef PetscErrorCode (*PickIndices)(PetscInt r0, PetscInt r1, IS *rows, IS *cols);

static PetscErrorCode Strided(PetscInt r0, PetscInt r1, IS *rows, IS *cols)
{
  PetscFunctionBeginUser;
  PetscCall(ISCreateStride(PETSC_COMM_WORLD, (r1 - r0) / 2, r0, 2, rows));
  PetscCall(ISCreateStride(PETSC_COMM_WORLD, (r1 - r0) / 3, r0 + 1, 3, cols));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Contiguous(PetscInt r0, PetscInt r1, IS *rows, IS *cols)
{
  PetscFunctionBeginUser;
  PetscCall(ISCreateStride(PETSC_COMM_WORLD, (r1 - r0) / 2, r0 + (r1 - r0) / 4, 1, rows));
  PetscCall(ISCreateStride(PETSC_COMM_WORLD, r1 - r0, r0, 1, cols));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Everything(PetscInt r0, PetscInt r1, IS *rows, IS *cols)
{
  PetscFunctionBeginUser;
  PetscCall(ISCreateStride(PETSC_COMM_WORLD, r1 - r0, r0, 1, rows));
  PetscCall(ISCreateStride(PETSC_COMM_WORLD, r1 - r0, r0, 1, cols));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Reversed(PetscInt r0, PetscInt r1, IS *rows, IS *cols)
{
  PetscFunctionBeginUser;
  PetscCall(ISCreateStride(PETSC_COMM_WORLD, r1 - r0, r1 - 1, -1, rows));
  PetscCall(ISCreateStride(PETSC_COMM_WORLD, r1 - r0, r1 - 1, -1, cols));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows of other ranks: every rank takes those of its mirror image */
static PetscErrorCode Foreign(PetscInt r0, PetscInt r1, IS *rows, IS *cols)
{
  const PetscInt N = grid.N;

  PetscFunctionBeginUser;
  PetscCall(ISCreateStride(PETSC_COMM_WORLD, (r1 - r0) / 2, N - r1, 2, rows));
  PetscCall(ISCreateStride(PETSC_COMM_WORLD, (r1 - r0) / 2, r0, 2, cols));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode NoRows(PetscInt r0, PetscInt r1, IS *rows, IS *cols)
{
  PetscFunctionBeginUser;
  PetscCall(ISCreateStride(PETSC_COMM_WORLD, 0, r0, 1, rows));
  PetscCall(ISCreateStride(PETSC_COMM_WORLD, r1 - r0, r0, 1, cols));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SubMatrix(TestDiff *d, PickIndices pick, PetscBool reuse)
{
  PetscInt r0, r1;
  IS       rows, cols;
  Mat      A, R, B, S;

  PetscFunctionBeginUser;
  PetscCall(TestPairCreate(&grid, &A, &R));
  PetscCall(TestDiffMat(d, A, R));
  PetscCall(MatGetOwnershipRange(A, &r0, &r1));
  PetscCall((*pick)(r0, r1, &rows, &cols));
  PetscCall(MatCreateSubMatrix(A, rows, cols, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatCreateSubMatrix(R, rows, cols, MAT_INITIAL_MATRIX, &S));
  PetscCall(TestDiffType(d, B));
  PetscCall(TestDiffMat(d, B, S));
  if (reuse) {
    PetscCall(MatScale(A, 2.0));
    PetscCall(MatScale(R, 2.0));
    PetscCall(MatCreateSubMatrix(A, rows, cols, MAT_REUSE_MATRIX, &B));
    PetscCall(MatCreateSubMatrix(R, rows, cols, MAT_REUSE_MATRIX, &S));
    PetscCall(TestDiffMat(d, B, S));
  }
  PetscCall(MatScale(B, 3.0));
  PetscCall(TestDiffMat(d, A, R));
  PetscCall(TestDestroy(&rows, &cols, &B, &S, &A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sequential sub-matrices of the whole: of the type under test, made, made again after a change, destroyed together */
static PetscErrorCode SubMatrices(TestDiff *d)
{
  IS  is[3];
  Mat A, R, *B, *S;

  PetscFunctionBeginUser;
  PetscCall(TestPairCreate(&grid, &A, &R));
  PetscCall(TestDiffMat(d, A, R));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, 200, 0, 2, &is[0]));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, 70, 130, 1, &is[1]));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, 0, 0, 1, &is[2]));
  PetscCall(MatCreateSubMatrices(A, 3, is, is, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatCreateSubMatrices(R, 3, is, is, MAT_INITIAL_MATRIX, &S));
  for (PetscInt round = 0; round < 2; round++) {
    if (round) {
      PetscCall(MatShift(A, 2.0));
      PetscCall(MatShift(R, 2.0));
      PetscCall(MatCreateSubMatrices(A, 3, is, is, MAT_REUSE_MATRIX, &B));
      PetscCall(MatCreateSubMatrices(R, 3, is, is, MAT_REUSE_MATRIX, &S));
    }
    for (PetscInt k = 0; k < 3; k++) {
      PetscCall(TestDiffType(d, B[k]));
      PetscCall(TestDiffMat(d, B[k], S[k]));
    }
  }
  for (PetscInt k = 0; k < 3; k++) PetscCall(ISDestroy(&is[k]));
  PetscCall(MatDestroySubMatrices(3, &B));
  PetscCall(MatDestroySubMatrices(3, &S));
  PetscCall(TestDestroy(&A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A sub-matrix that outlives its array, and one converted in place before it is destroyed with the others */
static PetscErrorCode SubMatricesOutlive(TestDiff *d)
{
  IS  is[2];
  Mat A, R, *B, *S, kept, keptref;

  PetscFunctionBeginUser;
  PetscCall(TestPairCreate(&grid, &A, &R));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, 100, 0, 2, &is[0]));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, 100, 1, 3, &is[1]));
  PetscCall(MatCreateSubMatrices(A, 2, is, is, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatCreateSubMatrices(R, 2, is, is, MAT_INITIAL_MATRIX, &S));
  kept    = B[0];
  keptref = S[0];
  PetscCall(PetscObjectReference((PetscObject)kept));
  PetscCall(PetscObjectReference((PetscObject)keptref));
  PetscCall(TestDiffMat(d, B[1], S[1]));
  PetscCall(MatConvert(B[1], MATAIJ, MAT_INPLACE_MATRIX, &B[1]));
  PetscCall(TestDiffMat(d, B[1], S[1]));
  PetscCall(MatDestroySubMatrices(2, &B));
  PetscCall(MatDestroySubMatrices(2, &S));
  PetscCall(TestDestroy(&A, &R));
  PetscCall(MatScale(kept, 2.0));
  PetscCall(MatScale(keptref, 2.0));
  PetscCall(TestDiffMat(d, kept, keptref));
  PetscCall(TestDestroy(&kept, &keptref, &is[0], &is[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Parallel matrices only have this operation */
static PetscErrorCode SubMatricesMPI(TestDiff *d)
{
  PetscInt  r0, r1;
  PetscBool mpi;
  IS        is;
  Mat       A, R, *B, *S;

  PetscFunctionBeginUser;
  PetscCall(TestPairCreate(&grid, &A, &R));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)R, MATMPIAIJ, &mpi));
  if (mpi) {
    PetscCall(MatGetOwnershipRange(A, &r0, &r1));
    PetscCall(ISCreateStride(PETSC_COMM_WORLD, (r1 - r0) / 2, r0, 2, &is));
    PetscCall(MatCreateSubMatricesMPI(A, 1, &is, &is, MAT_INITIAL_MATRIX, &B));
    PetscCall(MatCreateSubMatricesMPI(R, 1, &is, &is, MAT_INITIAL_MATRIX, &S));
    PetscCall(TestDiffMat(d, B[0], S[0]));
    PetscCall(MatDestroySubMatrices(1, &B));
    PetscCall(MatDestroySubMatrices(1, &S));
    PetscCall(ISDestroy(&is));
  }
  PetscCall(TestDestroy(&A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The block itself, not a copy: of the type under test, and a change of the whole shows in it */
static PetscErrorCode DiagonalBlock(TestDiff *d)
{
  Mat A, R, B, S;

  PetscFunctionBeginUser;
  PetscCall(TestPairCreate(&grid, &A, &R));
  PetscCall(MatGetDiagonalBlock(A, &B));
  PetscCall(MatGetDiagonalBlock(R, &S));
  PetscCall(TestDiffType(d, B));
  PetscCall(TestDiffMat(d, B, S));
  PetscCall(MatScale(A, 2.0));
  PetscCall(MatScale(R, 2.0));
  PetscCall(TestDiffMat(d, B, S));
  PetscCall(TestDestroy(&A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A local sub-matrix writes through to the whole */
static PetscErrorCode LocalSubMatrix(TestDiff *d)
{
  Mat M[2];

  PetscFunctionBeginUser;
  PetscCall(TestPairCreate(&grid, &M[0], &M[1]));
  PetscCall(TestDiffMat(d, M[0], M[1]));
  for (PetscInt k = 0; k < 2; k++) {
    ISLocalToGlobalMapping map;
    IS                     own, part;
    Mat                    sub;
    PetscInt               r0, r1;

    PetscCall(MatGetOwnershipRange(M[k], &r0, &r1));
    PetscCall(ISCreateStride(PETSC_COMM_WORLD, r1 - r0, r0, 1, &own));
    PetscCall(ISLocalToGlobalMappingCreateIS(own, &map));
    PetscCall(MatSetLocalToGlobalMapping(M[k], map, map));
    PetscCall(ISCreateStride(PETSC_COMM_SELF, (r1 - r0) / 2, 1, 2, &part));
    PetscCall(MatGetLocalSubMatrix(M[k], part, part, &sub));
    for (PetscInt i = 0; i < (r1 - r0) / 2; i++) PetscCall(MatSetValuesLocal(sub, 1, &i, 1, &i, &(PetscScalar){TestNumber(r0 + i, 6)}, ADD_VALUES));
    PetscCall(MatRestoreLocalSubMatrix(M[k], part, part, &sub));
    PetscCall(MatAssemblyBegin(M[k], MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(M[k], MAT_FINAL_ASSEMBLY));
    PetscCall(TestDestroy(&own, &part));
    PetscCall(ISLocalToGlobalMappingDestroy(&map));
  }
  PetscCall(TestDiffMat(d, M[0], M[1]));
  PetscCall(TestDestroy(&M[0], &M[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A sub-matrix that is a view of the whole */
static PetscErrorCode Virtual(TestDiff *d)
{
  PetscInt r0, r1;
  IS       rows, cols;
  Mat      A, R, B, S;
  Vec      scale, unused;

  PetscFunctionBeginUser;
  PetscCall(TestPairCreate(&grid, &A, &R));
  PetscCall(MatGetOwnershipRange(A, &r0, &r1));
  PetscCall(Strided(r0, r1, &rows, &cols));
  PetscCall(MatCreateSubMatrixVirtual(A, rows, cols, &B));
  PetscCall(MatCreateSubMatrix(R, rows, cols, MAT_INITIAL_MATRIX, &S));
  PetscCall(TestScales(S, &scale, &unused));
  PetscCall(TestDiffMult(d, B, S, scale));
  PetscCall(TestDestroy(&scale, &unused, &rows, &cols, &B, &S, &A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Several ranks get a plain MATAIJ from PETSc */
static PetscErrorCode Permute(TestDiff *d)
{
  PetscInt r0, r1;
  IS       is;
  Mat      A, R, B, S;

  PetscFunctionBeginUser;
  PetscCall(TestPairCreate(&grid, &A, &R));
  PetscCall(MatGetOwnershipRange(A, &r0, &r1));
  PetscCall(ISCreateStride(PETSC_COMM_WORLD, r1 - r0, r1 - 1, -1, &is));
  PetscCall(ISSetPermutation(is));
  PetscCall(MatPermute(A, is, is, &B));
  PetscCall(MatPermute(R, is, is, &S));
  PetscCall(TestDiffMat(d, B, S));
  PetscCall(TestDestroy(&is, &B, &S, &A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode IncreaseOverlap(TestDiff *d)
{
  PetscInt  r0, r1;
  IS        a, r;
  PetscBool same;
  Mat       A, R;

  PetscFunctionBeginUser;
  PetscCall(TestPairCreate(&grid, &A, &R));
  PetscCall(MatGetOwnershipRange(A, &r0, &r1));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, (r1 - r0) / 3, r0, 1, &a));
  PetscCall(ISDuplicate(a, &r));
  PetscCall(MatIncreaseOverlap(A, 1, &a, 2));
  PetscCall(MatIncreaseOverlap(R, 1, &r, 2));
  PetscCall(ISSort(a));
  PetscCall(ISSort(r));
  PetscCall(ISEqual(a, r, &same));
  TestExpect(d, "the overlap differs", same);
  PetscCall(TestDestroy(&a, &r, &A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The whole matrix on every rank, made and made again */
static PetscErrorCode Redundant(TestDiff *d)
{
  PetscMPIInt size;
  Mat         A, R, B, S;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(TestPairCreate(&grid, &A, &R));
  PetscCall(MatCreateRedundantMatrix(A, size, MPI_COMM_NULL, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatCreateRedundantMatrix(R, size, MPI_COMM_NULL, MAT_INITIAL_MATRIX, &S));
  PetscCall(TestDiffMat(d, B, S));
  PetscCall(MatScale(A, 2.0));
  PetscCall(MatScale(R, 2.0));
  PetscCall(MatCreateRedundantMatrix(A, size, MPI_COMM_NULL, MAT_REUSE_MATRIX, &B));
  PetscCall(MatCreateRedundantMatrix(R, size, MPI_COMM_NULL, MAT_REUSE_MATRIX, &S));
  PetscCall(TestDiffMat(d, B, S));
  PetscCall(TestDestroy(&B, &S, &A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows of this rank as one sequential matrix; a parallel matrix only has them apart */
static PetscErrorCode LocalMatrix(TestDiff *d)
{
  PetscBool mpi;
  Mat       A, R, B, S;

  PetscFunctionBeginUser;
  PetscCall(TestPairCreate(&grid, &A, &R));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)R, MATMPIAIJ, &mpi));
  if (mpi) {
    PetscCall(MatMPIAIJGetLocalMat(A, MAT_INITIAL_MATRIX, &B));
    PetscCall(MatMPIAIJGetLocalMat(R, MAT_INITIAL_MATRIX, &S));
    PetscCall(TestDiffMat(d, B, S));
    PetscCall(MatScale(A, 2.0));
    PetscCall(MatScale(R, 2.0));
    PetscCall(MatMPIAIJGetLocalMat(A, MAT_REUSE_MATRIX, &B));
    PetscCall(MatMPIAIJGetLocalMat(R, MAT_REUSE_MATRIX, &S));
    PetscCall(TestDiffMat(d, B, S));
    PetscCall(TestDestroy(&B, &S));
    PetscCall(MatMPIAIJGetLocalMatMerge(A, MAT_INITIAL_MATRIX, NULL, &B));
    PetscCall(MatMPIAIJGetLocalMatMerge(R, MAT_INITIAL_MATRIX, NULL, &S));
    PetscCall(TestDiffMat(d, B, S));
    PetscCall(TestDestroy(&B, &S));
  }
  PetscCall(TestDestroy(&A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows of every rank, taken apart and put together again as one parallel matrix */
static PetscErrorCode Concatenate(TestDiff *d)
{
  PetscInt  n;
  PetscBool mpi;
  Mat       A, R, B, local;

  PetscFunctionBeginUser;
  PetscCall(TestPairCreate(&grid, &A, &R));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)R, MATMPIAIJ, &mpi));
  PetscCall(MatGetLocalSize(A, NULL, &n));
  if (mpi) PetscCall(MatMPIAIJGetLocalMat(A, MAT_INITIAL_MATRIX, &local));
  else PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &local));
  PetscCall(MatCreateMPIMatConcatenateSeqMat(PETSC_COMM_WORLD, local, n, MAT_INITIAL_MATRIX, &B));
  PetscCall(TestDiffMat(d, B, R));
  PetscCall(MatScale(local, 2.0));
  PetscCall(MatScale(R, 2.0));
  PetscCall(MatCreateMPIMatConcatenateSeqMat(PETSC_COMM_WORLD, local, n, MAT_REUSE_MATRIX, &B));
  PetscCall(TestDiffMat(d, B, R));
  PetscCall(TestDestroy(&B, &local, &A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc 3.18 itself gives a wrong matrix when it reuses one whose columns decrease, on several ranks */
static const struct {
  const char *name;
  PickIndices pick;
  PetscBool   reuse;
} subs[] = {
  {"MatCreateSubMatrix strided",    Strided,    PETSC_TRUE },
  {"MatCreateSubMatrix contiguous", Contiguous, PETSC_TRUE },
  {"MatCreateSubMatrix everything", Everything, PETSC_TRUE },
  {"MatCreateSubMatrix reversed",   Reversed,   PETSC_FALSE},
  {"MatCreateSubMatrix foreign",    Foreign,    PETSC_TRUE },
  {"MatCreateSubMatrix no rows",    NoRows,     PETSC_TRUE }
};

/* A matrix that one option keeps on the host, of which the matrices that PETSc makes know nothing */
static PetscErrorCode OnHost(TestDiff *d)
{
  char      type[64], option[128];
  PetscInt  begin, end;
  PetscBool device;
  Mat       A, B[3], *C;
  IS        is;

  PetscFunctionBeginUser;
  PetscCall(TestTypeRoot(type, sizeof(type)));
  if (!strcmp(type, MATAIJ) || !strcmp(type, "aijcusparse")) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscSNPrintf(option, sizeof(option), "-here_mat_%s_device", type));
  PetscCall(PetscOptionsSetValue(NULL, option, "cpu"));
  PetscCall(PetscOptionsSetValue(NULL, "-here_mat_type", type));
  PetscCall(TestShapeCreate(&grid, "here_", &A));
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  PetscCall(ISCreateStride(PETSC_COMM_WORLD, end - begin, begin, 1, &is));
  PetscCall(MatCreateSubMatrix(A, is, is, MAT_INITIAL_MATRIX, &B[0]));
  PetscCall(MatTranspose(A, MAT_INITIAL_MATRIX, &B[1]));
  PetscCall(ISDestroy(&is));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, grid.M / 2, 0, 1, &is));
  PetscCall(MatCreateSubMatrices(A, 1, &is, &is, MAT_INITIAL_MATRIX, &C));
  PetscCall(ISDestroy(&is));
  PetscCall(TestOnDevice(A, &device));
  TestExpect(d, "the matrix is not on the host", (PetscBool)!device);
  B[2] = C[0];
  for (int k = 0; k < 3; k++) {
    PetscCall(TestOnDevice(B[k], &device));
    TestExpect(d, k == 0 ? "a sub-matrix is not on the host" : k == 1 ? "the transposed matrix is not on the host" : "a sequential sub-matrix is not on the host", (PetscBool)!device);
    if (k < 2) PetscCall(MatDestroy(&B[k]));
  }
  PetscCall(MatDestroySubMatrices(1, &C));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscOptionsClearValue(NULL, option));
  PetscCall(PetscOptionsClearValue(NULL, "-here_mat_type"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const TestCase tests[] = {
  {"MatCreateSubMatrices",             SubMatrices       },
  {"MatCreateSubMatrices outlived",    SubMatricesOutlive},
  {"MatCreateSubMatricesMPI",          SubMatricesMPI    },
  {"MatGetDiagonalBlock",              DiagonalBlock     },
  {"MatGetLocalSubMatrix",             LocalSubMatrix    },
  {"MatCreateSubMatrixVirtual",        Virtual           },
  {"MatPermute",                       Permute           },
  {"MatIncreaseOverlap",               IncreaseOverlap   },
  {"MatCreateRedundantMatrix",         Redundant         },
  {"MatMPIAIJGetLocalMat",             LocalMatrix       },
  {"MatCreateMPIMatConcatenateSeqMat", Concatenate       },
  {"of a matrix on the host",          OnHost            },
  {NULL,                               NULL              }
};

int main(int argc, char **argv)
{
  PetscCall(TestInitialize(&argc, &argv, help));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(subs); k++) {
    TestDiff d = {NULL, 0};

    if (SubMatrix(&d, subs[k].pick, subs[k].reuse)) TestDiffAdd(&d, "PETSc raised an error, see above", PETSC_MAX_REAL);
    PetscCall(TestReport(subs[k].name, &d));
  }
  PetscCall(TestRun(tests));
  return TestFinalize();
}

/*TEST

  testset:
    nsize: {{1 2 3}}
    checks: 18
    test:
      suffix: aij
      args: -mat_type aij
    test:
      suffix: types
      args: -mat_type {{@types-hashgemm}} -mat_shadow_tune off
    test:
      suffix: types
      requires: !cuda
      comments: products that AIJCUSPARSE makes crash in PETSc 3.26.1 for the result of MatMPIAIJGetLocalMat()
      args: -mat_type hashgemm
    test:
      suffix: nussell_segments
      args: -mat_type nussell -mat_shadow_tune off -mat_nussell_s1 7 -mat_nussell_k1 2 -mat_nussell_s2 50 -mat_nussell_k2 1

  testset:
    args: -mat_type amb
    checks: 18
    test:
      suffix: amb_tuned
      requires: !cuda
      comments: the first products are those of AIJCUSPARSE
      nsize: 2
      args: -mat_shadow_tune {{measure online}}
    test:
      suffix: amb_blocks
      nsize: 2
      args: -mat_shadow_tune off -mat_amb_block_size 3
    test:
      suffix: amb_malloc
      nsize: 1
      args: -mat_shadow_tune off -malloc_debug -malloc_dump

  testset:
    args: -petscamb_for_aij amb -ref_petscamb_for_aij aij -mat_shadow_tune off -test_shadow
    checks: 18
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
