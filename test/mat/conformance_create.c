/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "Every way PETSc makes a matrix gives one of the type under test that holds what a MATAIJ holds.\n";

#include "../testutil.h"
#include <petscdmda.h>

static const TestShape grid   = {"grid", 400, 400, TestRowGrid, TestValueGeneral, PETSC_FALSE};
static const TestShape blocks = {"blocks", 108, 108, TestRowBlocks, TestValueGeneral, PETSC_FALSE};

/* A matrix of the type under test with sizes only */
static PetscErrorCode CreateSized(const TestShape *shape, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(TestShapeSizes(shape, *A));
  PetscCall(MatSetFromOptions(*A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Preallocation(TestDiff *d)
{
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(TestShapeCreate(&grid, NULL, &A));
  PetscCall(TestCompareAndDestroy(d, &grid, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetUpOnly(TestDiff *d)
{
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(CreateSized(&grid, &A));
  PetscCall(MatSetUp(A));
  PetscCall(TestShapeSetValues(&grid, A, 1.0, INSERT_VALUES));
  PetscCall(TestCompareAndDestroy(d, &grid, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode XAIJPreallocation(TestDiff *d)
{
  PetscInt m, *nnz;
  Mat      A;

  PetscFunctionBeginUser;
  PetscCall(CreateSized(&blocks, &A));
  PetscCall(MatSetBlockSize(A, 3));
  PetscCall(MatSetUp(A));
  PetscCall(MatGetLocalSize(A, &m, NULL));
  PetscCall(PetscMalloc1(m / 3 + 1, &nnz));
  for (PetscInt i = 0; i < m / 3; i++) nnz[i] = PetscMin(5, m / 3);
  PetscCall(MatXAIJSetPreallocation(A, 3, nnz, nnz, NULL, NULL));
  PetscCall(PetscFree(nnz));
  PetscCall(TestShapeSetValues(&blocks, A, 1.0, INSERT_VALUES));
  PetscCall(TestCompareAndDestroy(d, &blocks, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The type set by name, without options: first the root name, then the full one */
static PetscErrorCode SetTypeByName(TestDiff *d)
{
  char        type[64];
  PetscMPIInt size;
  Mat         A;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  for (PetscInt full = 0; full < 2; full++) {
    if (full) PetscCall(TestTypeFull(size, type, sizeof(type)));
    else PetscCall(TestTypeRoot(type, sizeof(type)));
    PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
    PetscCall(TestShapeSizes(&grid, A));
    PetscCall(MatSetType(A, type));
    PetscCall(TestShapePreallocate(&grid, A));
    PetscCall(TestShapeSetValues(&grid, A, 1.0, INSERT_VALUES));
    PetscCall(TestCompareAndDestroy(d, &grid, &A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* -pre_mat_type gives the type to matrices of the prefix pre_ only */
static PetscErrorCode OptionsPrefix(TestDiff *d)
{
  char      type[64];
  PetscBool same;
  Mat       A, B;

  PetscFunctionBeginUser;
  PetscCall(TestTypeRoot(type, sizeof(type)));
  PetscCall(PetscOptionsSetValue(NULL, "-pre_mat_type", type));
  PetscCall(TestShapeCreate(&grid, "pre_", &A));
  PetscCall(TestShapeCreate(&grid, "other_", &B));
  PetscCall(PetscOptionsClearValue(NULL, "-pre_mat_type"));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)B, &same, MATSEQAIJ, MATMPIAIJ, ""));
  TestExpect(d, "a matrix of another prefix is not a plain MATAIJ", same);
  PetscCall(MatDestroy(&B));
  PetscCall(TestCompareAndDestroy(d, &grid, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows of this rank one after the other, each entry twice with half its value */
static PetscErrorCode CreateCOO(const TestShape *shape, PetscInt r0, PetscInt r1, PetscCount *n, PetscInt **coo_i, PetscInt **coo_j, PetscScalar **v)
{
  PetscInt  *cols, k = 0;
  PetscCount total = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(shape->N, &cols));
  for (PetscInt r = r0; r < r1; r++) total += 2 * (*shape->row)(r, shape->M, shape->N, cols);
  PetscCall(PetscMalloc3(total, coo_i, total, coo_j, total, v));
  for (PetscInt half = 0; half < 2; half++) {
    for (PetscInt r = r0; r < r1; r++) {
      const PetscInt len = (*shape->row)(r, shape->M, shape->N, cols);

      for (PetscInt l = 0; l < len; l++, k++) {
        (*coo_i)[k] = r;
        (*coo_j)[k] = cols[l];
        (*v)[k]     = 0.5 * (*shape->value)(r, cols[l]);
      }
    }
  }
  *n = total;
  PetscCall(PetscFree(cols));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Repeated entries, entries of the next rank, values inserted, added and inserted again, and the same on a duplicate */
static PetscErrorCode COO(TestDiff *d)
{
  PetscInt    *coo_i = NULL, *coo_j = NULL, r0, r1, M = grid.M;
  PetscScalar *v = NULL;
  PetscCount   n = 0;
  PetscMPIInt  rank, size;
  Mat          A, B, R;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  r0 = M * ((rank + 1) % size) / size;
  r1 = M * ((rank + 1) % size + 1) / size;
  PetscCall(CreateCOO(&grid, r0, r1, &n, &coo_i, &coo_j, &v));
  PetscCall(CreateSized(&grid, &A));
  PetscCall(MatSetPreallocationCOO(A, n, coo_i, coo_j));
  PetscCall(MatSetValuesCOO(A, v, INSERT_VALUES));
  PetscCall(TestShapeCreate(&grid, "ref_", &R));
  PetscCall(TestDiffType(d, A));
  PetscCall(TestDiffMat(d, A, R));
  PetscCall(MatSetValuesCOO(A, v, ADD_VALUES));
  PetscCall(MatScale(R, 2.0));
  PetscCall(TestDiffMat(d, A, R));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(TestDiffType(d, B));
  PetscCall(MatSetValuesCOO(A, v, INSERT_VALUES));
  PetscCall(TestDiffMat(d, B, R));
  PetscCall(MatScale(R, 0.5));
  PetscCall(TestDiffMat(d, A, R));
  PetscCall(PetscFree3(coo_i, coo_j, v));
  PetscCall(TestDestroy(&B, &A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Every rank sets the rows of the next one, in two flushes and with a change of mode between */
static PetscErrorCode OffProcessEntries(TestDiff *d)
{
  PetscInt    *cols, M = grid.M, N = grid.N;
  PetscMPIInt  rank, size;
  Mat          A;
  const double parts[2] = {0.25, 0.75};

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(CreateSized(&grid, &A));
  PetscCall(TestShapePreallocate(&grid, A));
  PetscCall(PetscMalloc1(N, &cols));
  for (PetscInt part = 0; part < 2; part++) {
    for (PetscInt r = (rank + 1) % size; r < M; r += size) {
      const PetscInt n = (*grid.row)(r, M, N, cols);

      for (PetscInt k = 0; k < n; k++) PetscCall(MatSetValue(A, r, cols[k], parts[part] * (*grid.value)(r, cols[k]), part ? ADD_VALUES : INSERT_VALUES));
    }
    PetscCall(MatAssemblyBegin(A, part ? MAT_FINAL_ASSEMBLY : MAT_FLUSH_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, part ? MAT_FINAL_ASSEMBLY : MAT_FLUSH_ASSEMBLY));
  }
  PetscCall(PetscFree(cols));
  PetscCall(TestCompareAndDestroy(d, &grid, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MatSetValuesBlockedLocal() through a local-to-global map of blocks */
static PetscErrorCode BlockedLocal(TestDiff *d)
{
  PetscInt              *cols, r0, r1;
  PetscScalar            v[9];
  ISLocalToGlobalMapping map;
  Mat                    A;

  PetscFunctionBeginUser;
  PetscCall(CreateSized(&blocks, &A));
  PetscCall(MatSetBlockSize(A, 3));
  PetscCall(MatSeqAIJSetPreallocation(A, 15, NULL));
  PetscCall(MatMPIAIJSetPreallocation(A, 15, NULL, 15, NULL));
  PetscCall(PetscMalloc1(blocks.M / 3, &cols));
  for (PetscInt i = 0; i < blocks.M / 3; i++) cols[i] = i;
  PetscCall(ISLocalToGlobalMappingCreate(PETSC_COMM_SELF, 3, blocks.M / 3, cols, PETSC_COPY_VALUES, &map));
  PetscCall(PetscFree(cols));
  PetscCall(MatSetLocalToGlobalMapping(A, map, map));
  PetscCall(ISLocalToGlobalMappingDestroy(&map));
  PetscCall(PetscMalloc1(blocks.N, &cols));
  PetscCall(MatGetOwnershipRange(A, &r0, &r1));
  for (PetscInt node = r0 / 3; node < r1 / 3; node++) {
    const PetscInt n = (*blocks.row)(3 * node, blocks.M, blocks.N, cols);

    for (PetscInt k = 0; k < n; k += 3) {
      const PetscInt other = cols[k] / 3;

      for (PetscInt l = 0; l < 9; l++) v[l] = (*blocks.value)(3 * node + l / 3, 3 * other + l % 3);
      PetscCall(MatSetValuesBlockedLocal(A, 1, &node, 1, &other, v, INSERT_VALUES));
    }
  }
  PetscCall(PetscFree(cols));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(TestCompareAndDestroy(d, &blocks, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ResetPreallocation(TestDiff *d)
{
  Vec x, y;
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(TestShapeCreate(&grid, NULL, &A));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(MatMult(A, x, y));
  PetscCall(MatResetPreallocation(A));
  PetscCall(TestShapeSetValues(&grid, A, 1.0, ADD_VALUES));
  PetscCall(TestDestroy(&x, &y));
  PetscCall(TestCompareAndDestroy(d, &grid, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Two entries in each row: the diagonal one and its neighbour, or one further away */
static PetscInt RowNear(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[])
{
  cols[0] = i ? i - 1 : 0;
  cols[1] = cols[0] + 1;
  return 2;
}

static PetscInt RowFar(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[])
{
  cols[0] = i < N / 2 ? i : i - N / 2;
  cols[1] = cols[0] + N / 2;
  return 2;
}

/* An assembled matrix that has served products is preallocated anew, for other patterns, the last two with as many entries */
static PetscErrorCode PreallocateAgain(TestDiff *d)
{
  const TestRowFunction rows[4] = {TestRowGrid, TestRowBlocks, RowNear, RowFar};
  Mat                   A, R;

  PetscFunctionBeginUser;
  PetscCall(TestShapeCreate(&grid, NULL, &A));
  for (PetscInt k = 0; k < 4; k++) {
    const TestShape shape = {"again", grid.M, grid.N, rows[k], TestValueGeneral, PETSC_FALSE};

    PetscCall(TestShapePreallocate(&shape, A));
    PetscCall(TestShapeSetValues(&shape, A, 1.0, INSERT_VALUES));
    PetscCall(TestShapeCreate(&shape, "ref_", &R));
    PetscCall(TestDiffType(d, A));
    PetscCall(TestDiffMat(d, A, R));
    PetscCall(MatDestroy(&R));
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same by COO: the same number of entries, elsewhere */
static PetscErrorCode COOAgain(TestDiff *d)
{
  const TestRowFunction rows[2] = {RowNear, RowFar};
  Mat                   A, R;

  PetscFunctionBeginUser;
  PetscCall(CreateSized(&grid, &A));
  for (PetscInt k = 0; k < 4; k++) {
    const TestShape shape = {"again", grid.M, grid.N, rows[k % 2], TestValueGeneral, PETSC_FALSE};
    PetscInt       *coo_i = NULL, *coo_j = NULL, r0, r1;
    PetscScalar    *v = NULL;
    PetscCount      n = 0;

    PetscCall(TestShapeCreate(&shape, "ref_", &R));
    PetscCall(MatGetOwnershipRange(R, &r0, &r1));
    PetscCall(CreateCOO(&shape, r0, r1, &n, &coo_i, &coo_j, &v));
    PetscCall(MatSetPreallocationCOO(A, n, coo_i, coo_j));
    PetscCall(MatSetValuesCOO(A, v, INSERT_VALUES));
    PetscCall(PetscFree3(coo_i, coo_j, v));
    PetscCall(TestDiffType(d, A));
    PetscCall(TestDiffMat(d, A, R));
    PetscCall(MatDestroy(&R));
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BinaryLoad(TestDiff *d)
{
  char path[PETSC_MAX_PATH_LEN];
  Mat  A, B;

  PetscFunctionBeginUser;
  PetscCall(TestTemporaryFile(path, sizeof(path)));
  PetscCall(TestShapeCreate(&grid, NULL, &A));
  PetscCall(TestMatSave(A, path));
  for (PetscInt again = 0; again < 2; again++) {
    PetscCall(MatCreate(PETSC_COMM_WORLD, &B));
    PetscCall(MatSetFromOptions(B));
    PetscCall(TestMatLoad(B, path));
    if (again) { /* into a matrix that has served a product already */
      Vec x, y;

      PetscCall(MatCreateVecs(B, &x, &y));
      PetscCall(MatScale(B, 7.0));
      PetscCall(MatMult(B, x, y));
      PetscCall(TestDestroy(&x, &y));
      PetscCall(TestMatLoad(B, path));
    }
    PetscCall(TestCompareAndDestroy(d, &grid, &B));
  }
  PetscCall(TestRemoveFile(path));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All options of MatDuplicate(); what happens to the copy later must not touch the original, nor the other way round */
static PetscErrorCode Duplicate(TestDiff *d)
{
  const MatDuplicateOption options[3] = {MAT_COPY_VALUES, MAT_DO_NOT_COPY_VALUES, MAT_SHARE_NONZERO_PATTERN};
  Mat                      A, B, R, S;

  PetscFunctionBeginUser;
  for (PetscInt before = 0; before < 2; before++) { /* duplicated before the first product and after */
    for (PetscInt k = 0; k < 3; k++) {
      PetscCall(TestPairCreate(&grid, &A, &R));
      if (before) PetscCall(TestDiffMat(d, A, R));
      PetscCall(MatDuplicate(A, options[k], &B));
      PetscCall(TestDiffType(d, B));
      if (options[k] != MAT_COPY_VALUES) PetscCall(MatCopy(A, B, SAME_NONZERO_PATTERN));
      PetscCall(TestDiffMat(d, B, R));
      PetscCall(MatDuplicate(R, MAT_COPY_VALUES, &S));
      PetscCall(MatScale(B, -3.0));
      PetscCall(MatScale(S, -3.0));
      PetscCall(TestDiffMat(d, B, S));
      PetscCall(TestDiffMat(d, A, R));
      PetscCall(MatDestroy(&A)); /* the copy must live on */
      PetscCall(TestDiffMat(d, B, S));
      PetscCall(TestDestroy(&B, &S, &R));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* DMSetMatType(), that is -dm_mat_type, and MatSetValuesStencil() on its matrix */
static PetscErrorCode FromDMDA(TestDiff *d)
{
  char          type[64];
  DMDALocalInfo info;
  DM            da;
  Mat           M[2];

  PetscFunctionBeginUser;
  PetscCall(TestTypeRoot(type, sizeof(type)));
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_PERIODIC, DMDA_STENCIL_STAR, 13, 11, PETSC_DECIDE, PETSC_DECIDE, 2, 1, NULL, NULL, &da));
  PetscCall(DMSetUp(da));
  PetscCall(DMDAGetLocalInfo(da, &info));
  for (PetscInt ref = 0; ref < 2; ref++) {
    PetscCall(DMSetMatType(da, ref ? MATAIJ : type));
    PetscCall(DMCreateMatrix(da, &M[ref]));
    for (PetscInt j = info.ys; j < info.ys + info.ym; j++) {
      for (PetscInt i = info.xs; i < info.xs + info.xm; i++) {
        MatStencil row =
                     {
                       .i = i, .j = j
        },
                   col[2] = {{.i = i, .j = j}, {.i = i, .j = j + 1}};
        PetscScalar v[8];

        for (PetscInt k = 0; k < 8; k++) v[k] = TestNumber(13 * j + i, k);
        PetscCall(MatSetValuesBlockedStencil(M[ref], 1, &row, 2, col, v, ADD_VALUES));
      }
    }
    PetscCall(MatAssemblyBegin(M[ref], MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(M[ref], MAT_FINAL_ASSEMBLY));
  }
  PetscCall(TestDiffType(d, M[0]));
  PetscCall(TestDiffMat(d, M[0], M[1]));
  PetscCall(TestDestroy(&M[0], &M[1], &da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Arrays of the user, which PETSc does not own, converted in place */
static PetscErrorCode UserArrays(TestDiff *d)
{
  Mat             A, B, R, diag;
  const PetscInt *i, *j;
  PetscInt        n, M;
  PetscBool       done;
  PetscScalar    *a;
  char            type[64];

  PetscFunctionBeginUser;
  PetscCall(TestTypeRoot(type, sizeof(type)));
  PetscCall(TestShapeCreate(&grid, "ref_", &R));
  PetscCall(MatGetDiagonalBlock(R, &diag));
  PetscCall(MatGetRowIJ(diag, 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_SUP, "No access to the rows of a MATSEQAIJ");
  PetscCall(MatSeqAIJGetArray(diag, &a));
  PetscCall(MatGetSize(diag, &M, NULL));
  PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, M, M, (PetscInt *)i, (PetscInt *)j, a, &A));
  PetscCall(MatConvert(A, type, MAT_INPLACE_MATRIX, &A));
  PetscCall(TestDiffType(d, A));
  PetscCall(TestDiffMat(d, A, diag));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(TestDiffMat(d, B, diag));
  PetscCall(TestDestroy(&A, &B));
  PetscCall(MatSeqAIJRestoreArray(diag, &a));
  PetscCall(MatRestoreRowIJ(diag, 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  PetscCall(MatDestroy(&R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows given as local CSR arrays with global columns */
static PetscErrorCode FromCSR(TestDiff *d)
{
  PetscInt    *i, *j, r0, r1;
  PetscScalar *v;
  PetscLayout  rmap;
  Mat          A;

  PetscFunctionBeginUser;
  PetscCall(CreateSized(&grid, &A));
  PetscCall(MatGetLayouts(A, &rmap, NULL));
  PetscCall(PetscLayoutSetUp(rmap));
  PetscCall(PetscLayoutGetRange(rmap, &r0, &r1));
  PetscCall(TestShapeArrays(&grid, r0, r1, &i, &j, &v));
  PetscCall(MatSeqAIJSetPreallocationCSR(A, i, j, v));
  PetscCall(MatMPIAIJSetPreallocationCSR(A, i, j, v));
  PetscCall(PetscFree3(i, j, v));
  PetscCall(TestCompareAndDestroy(d, &grid, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A pattern gathered by a MATPREALLOCATOR */
static PetscErrorCode Preallocator(TestDiff *d)
{
  Mat A, P;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, &P));
  PetscCall(TestShapeSizes(&grid, P));
  PetscCall(MatSetType(P, MATPREALLOCATOR));
  PetscCall(MatSetUp(P));
  PetscCall(TestShapeSetValues(&grid, P, 1.0, INSERT_VALUES));
  PetscCall(CreateSized(&grid, &A));
  PetscCall(MatPreallocatorPreallocate(P, PETSC_TRUE, A));
  PetscCall(MatDestroy(&P));
  PetscCall(TestShapeSetValues(&grid, A, 1.0, INSERT_VALUES));
  PetscCall(TestCompareAndDestroy(d, &grid, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const TestCase tests[] = {
  {"preallocation",            Preallocation     },
  {"MatSetUp alone",           SetUpOnly         },
  {"MatXAIJSetPreallocation",  XAIJPreallocation },
  {"MatSetType by name",       SetTypeByName     },
  {"options prefix",           OptionsPrefix     },
  {"COO",                      COO               },
  {"entries of other ranks",   OffProcessEntries },
  {"MatSetValuesBlockedLocal", BlockedLocal      },
  {"MatResetPreallocation",    ResetPreallocation},
  {"another pattern",          PreallocateAgain  },
  {"another pattern by COO",   COOAgain          },
  {"MatLoad",                  BinaryLoad        },
  {"MatDuplicate",             Duplicate         },
  {"DMCreateMatrix",           FromDMDA          },
  {"arrays of the user",       UserArrays        },
  {"preallocation by CSR",     FromCSR           },
  {"MATPREALLOCATOR",          Preallocator      },
  {NULL,                       NULL              }
};

int main(int argc, char **argv)
{
  return TestMain(argc, argv, help, tests);
}

/*TEST

  testset:
    nsize: {{1 2 3}}
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
    args: -mat_type amb
    checks: 17
    test:
      suffix: amb_tuned
      nsize: 2
      args: -mat_shadow_tune {{measure online}}
    test:
      suffix: amb_blocks
      nsize: 2
      args: -mat_shadow_tune off -mat_amb_block_size {{3 10}}

  testset:
    args: -petscamb_for_aij amb -ref_petscamb_for_aij aij -mat_shadow_tune off -test_shadow
    checks: 17
    test:
      suffix: for_aij
      nsize: {{1 2 3}}
      args: -mat_type aij
    test:
      suffix: for_aijcusparse
      requires: cuda
      nsize: {{1 2}}
      args: -mat_type aijcusparse

TEST*/
