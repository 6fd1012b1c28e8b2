/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "What a matrix that is made of another one carries of it, or keeps when it changes, besides entries: as MATAIJ.\n";

#include "../testutil.h"
#include <petscdmshell.h>

static const TestShape square = {"A", 36, 36, TestRowBlocks, TestValueGeneral, PETSC_FALSE};

/* Entries of blocks of three rows and six columns */
static PetscInt RowWide(PetscInt i, PetscInt M, PetscInt N, PetscInt cols[])
{
  const PetscInt first = i / 9 * 6;

  for (PetscInt c = 0; c < 6; c++) cols[c] = first + c;
  return 6;
}

static const TestShape wide = {"P", 36, 24, RowWide, TestValueGeneral, PETSC_FALSE};

/* What is attached to both matrices */
typedef struct {
  MatNullSpace           space[3];
  ISLocalToGlobalMapping rows, cols;
  PetscContainer         attached;
  DM                     dm;
} Luggage;

static PetscErrorCode Mapping(PetscInt bs, PetscInt n, ISLocalToGlobalMapping *map)
{
  PetscInt *indices;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(n / bs, &indices));
  for (PetscInt k = 0; k < n / bs; k++) indices[k] = k;
  PetscCall(ISLocalToGlobalMappingCreate(PETSC_COMM_WORLD, bs, n / bs, indices, PETSC_OWN_POINTER, map));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LuggageCreate(const TestShape *shape, PetscInt cbs, Luggage *l)
{
  PetscFunctionBeginUser;
  for (int k = 0; k < 3; k++) PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &l->space[k]));
  PetscCall(Mapping(3, shape->M, &l->rows));
  PetscCall(Mapping(cbs, shape->N, &l->cols));
  PetscCall(PetscContainerCreate(PETSC_COMM_WORLD, &l->attached));
  PetscCall(DMShellCreate(PETSC_COMM_WORLD, &l->dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LuggageDestroy(Luggage *l)
{
  PetscFunctionBeginUser;
  for (int k = 0; k < 3; k++) PetscCall(MatNullSpaceDestroy(&l->space[k]));
  PetscCall(ISLocalToGlobalMappingDestroy(&l->rows));
  PetscCall(ISLocalToGlobalMappingDestroy(&l->cols));
  PetscCall(PetscContainerDestroy(&l->attached));
  PetscCall(DMDestroy(&l->dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(const TestShape *shape, PetscInt cbs, const char prefix[], PetscBool mapped, const Luggage *l, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetOptionsPrefix(*A, prefix));
  PetscCall(TestShapeSizes(shape, *A));
  PetscCall(MatSetBlockSizes(*A, 3, cbs));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(TestShapePreallocate(shape, *A));
  PetscCall(TestShapeSetValues(shape, *A, 1.0, INSERT_VALUES));
  PetscCall(MatSetOptionsPrefix(*A, "traits_"));
  PetscCall(PetscObjectSetName((PetscObject)*A, "a matrix"));
  PetscCall(PetscObjectIncrementTabLevel((PetscObject)*A, NULL, 2));
  PetscCall(MatSetOption(*A, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(MatSetOption(*A, MAT_SYMMETRY_ETERNAL, PETSC_TRUE));
  PetscCall(MatSetOption(*A, MAT_STRUCTURALLY_SYMMETRIC, PETSC_TRUE));
  PetscCall(MatSetOption(*A, MAT_STRUCTURAL_SYMMETRY_ETERNAL, PETSC_TRUE));
  PetscCall(MatSetOption(*A, MAT_SPD, PETSC_TRUE));
  PetscCall(MatSetOption(*A, MAT_SPD_ETERNAL, PETSC_TRUE));
  PetscCall(MatSetOption(*A, MAT_NO_OFF_PROC_ENTRIES, PETSC_TRUE));
  PetscCall(MatSetOption(*A, MAT_NO_OFF_PROC_ZERO_ROWS, PETSC_TRUE));
  PetscCall(MatSetOption(*A, MAT_SUBMAT_SINGLEIS, PETSC_TRUE));
  PetscCall(MatSetErrorIfFailure(*A, PETSC_TRUE));
  PetscCall(MatSetNullSpace(*A, l->space[0]));
  PetscCall(MatSetTransposeNullSpace(*A, l->space[1]));
  PetscCall(MatSetNearNullSpace(*A, l->space[2]));
  if (mapped) PetscCall(MatSetLocalToGlobalMapping(*A, l->rows, l->cols));
  PetscCall(PetscObjectCompose((PetscObject)*A, "TestAttached", (PetscObject)l->attached));
  PetscCall(MatSetDM(*A, l->dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- what is done to it ------------------------------------------------- */

/* A copy of the rows and columns of this process, the other way round in blocks */
static PetscErrorCode OwnBlocks(Mat A, IS *rows, IS *cols)
{
  PetscLayout layout[2];

  PetscFunctionBeginUser;
  PetscCall(MatGetLayouts(A, &layout[0], &layout[1]));
  for (int k = 0; k < 2; k++) {
    PetscInt first, end, bs, *block;

    PetscCall(PetscLayoutGetRange(layout[k], &first, &end));
    PetscCall(PetscLayoutGetBlockSize(layout[k], &bs));
    PetscCall(PetscMalloc1((end - first) / bs, &block));
    for (PetscInt b = 0; b < (end - first) / bs; b++) block[b] = first / bs + b;
    PetscCall(ISCreateBlock(PETSC_COMM_WORLD, bs, (end - first) / bs, block, PETSC_OWN_POINTER, k ? cols : rows));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Nothing(Mat A, Mat *B)
{
  return PETSC_SUCCESS;
}

static PetscErrorCode Duplicate(Mat A, Mat *B)
{
  return MatDuplicate(A, MAT_COPY_VALUES, B);
}

static PetscErrorCode DuplicateEmpty(Mat A, Mat *B)
{
  return MatDuplicate(A, MAT_DO_NOT_COPY_VALUES, B);
}

static PetscErrorCode DuplicatePattern(Mat A, Mat *B)
{
  return MatDuplicate(A, MAT_SHARE_NONZERO_PATTERN, B);
}

static PetscErrorCode Transpose(Mat A, Mat *B)
{
  return MatTranspose(A, MAT_INITIAL_MATRIX, B);
}

static PetscErrorCode TransposeAgain(Mat A, Mat *B)
{
  PetscFunctionBeginUser;
  PetscCall(MatTranspose(A, MAT_INITIAL_MATRIX, B));
  PetscCall(PetscObjectSetName((PetscObject)*B, "its transpose"));
  PetscCall(MatScale(A, 2.0));
  PetscCall(MatTranspose(A, MAT_REUSE_MATRIX, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TransposeInPlace(Mat A, Mat *B)
{
  PetscFunctionBeginUser;
  PetscCall(MatSetOption(A, MAT_SPD_ETERNAL, PETSC_FALSE));
  PetscCall(MatSetOption(A, MAT_SYMMETRY_ETERNAL, PETSC_FALSE));
  PetscCall(MatSetOption(A, MAT_SPD, PETSC_FALSE));
  PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_FALSE)); /* or nothing is done */
  PetscCall(MatTranspose(A, MAT_INPLACE_MATRIX, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SubMatrix(Mat A, Mat *B)
{
  IS rows, cols;

  PetscFunctionBeginUser;
  PetscCall(OwnBlocks(A, &rows, &cols));
  PetscCall(MatCreateSubMatrix(A, rows, cols, MAT_INITIAL_MATRIX, B));
  PetscCall(MatScale(A, 2.0));
  PetscCall(MatCreateSubMatrix(A, rows, cols, MAT_REUSE_MATRIX, B));
  PetscCall(TestDestroy(&rows, &cols));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SubMatrices(Mat A, Mat *B)
{
  IS   rows, cols;
  Mat *sub;

  PetscFunctionBeginUser;
  PetscCall(OwnBlocks(A, &rows, &cols));
  PetscCall(MatCreateSubMatrices(A, 1, &rows, &cols, MAT_INITIAL_MATRIX, &sub));
  *B = sub[0];
  PetscCall(PetscObjectReference((PetscObject)*B));
  PetscCall(MatDestroySubMatrices(1, &sub));
  PetscCall(TestDestroy(&rows, &cols));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Permuted(Mat A, Mat *B)
{
  IS rows, cols;

  PetscFunctionBeginUser;
  PetscCall(OwnBlocks(A, &rows, &cols));
  PetscCall(ISSetPermutation(rows));
  PetscCall(ISSetPermutation(cols));
  PetscCall(MatPermute(A, rows, cols, B));
  PetscCall(TestDestroy(&rows, &cols));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DiagonalBlock(Mat A, Mat *B)
{
  PetscFunctionBeginUser;
  PetscCall(MatGetDiagonalBlock(A, B));
  PetscCall(PetscObjectReference((PetscObject)*B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Redundant(Mat A, Mat *B)
{
  PetscMPIInt size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(MatCreateRedundantMatrix(A, size, MPI_COMM_NULL, MAT_INITIAL_MATRIX, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix of the same type and sizes with other entries */
static PetscErrorCode Other(Mat A, Mat *B)
{
  PetscInt    m, n, first, end, M, N;
  MatType     type;
  PetscScalar one = 1;

  PetscFunctionBeginUser;
  PetscCall(MatGetType(A, &type));
  PetscCall(MatGetSize(A, &M, &N));
  PetscCall(MatGetLocalSize(A, &m, &n));
  PetscCall(MatCreate(PETSC_COMM_WORLD, B));
  PetscCall(MatSetSizes(*B, m, n, M, N));
  PetscCall(MatSetType(*B, type));
  PetscCall(MatSeqAIJSetPreallocation(*B, 1, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*B, 1, NULL, 1, NULL));
  PetscCall(MatGetOwnershipRange(*B, &first, &end));
  for (PetscInt i = first; i < end; i++) {
    const PetscInt j = (i + 11) % N;

    PetscCall(MatSetValues(*B, 1, &i, 1, &j, &one, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*B, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AddOther(Mat A, Mat *B)
{
  Mat X;

  PetscFunctionBeginUser;
  PetscCall(Other(A, &X));
  PetscCall(MatAXPY(A, 2.0, X, DIFFERENT_NONZERO_PATTERN));
  PetscCall(MatDestroy(&X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AddToOther(Mat A, Mat *B)
{
  PetscFunctionBeginUser;
  PetscCall(Other(A, B));
  PetscCall(MatAYPX(*B, 2.0, A, DIFFERENT_NONZERO_PATTERN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CopyOther(Mat A, Mat *B)
{
  PetscFunctionBeginUser;
  PetscCall(MatDuplicate(A, MAT_DO_NOT_COPY_VALUES, B));
  PetscCall(MatCopy(A, *B, SAME_NONZERO_PATTERN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Zeroed(Mat A, Mat *B)
{
  const PetscInt row = 5;
  PetscMPIInt    rank;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(MatZeroRows(A, rank ? 0 : 1, &row, 1.0, NULL, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries anew by a list of coordinates, which exchanges the inside of the matrix */
static PetscErrorCode Coordinates(Mat A, Mat *B)
{
  PetscInt     first, end, *i, *j;
  PetscScalar *v;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &first, &end));
  PetscCall(PetscMalloc3(end - first, &i, end - first, &j, end - first, &v));
  for (PetscInt k = 0; k < end - first; k++) {
    i[k] = first + k;
    j[k] = (first + k) % 24;
    v[k] = 1.0 + k;
  }
  PetscCall(MatSetPreallocationCOO(A, end - first, i, j));
  PetscCall(MatSetValuesCOO(A, v, INSERT_VALUES));
  PetscCall(PetscFree3(i, j, v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Told its type and its options again */
static PetscErrorCode TypeAgain(Mat A, Mat *B)
{
  char      root[64];
  PetscBool plain;

  PetscFunctionBeginUser;
  PetscCall(TestTypeRoot(root, sizeof(root)));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &plain, MATSEQAIJ, MATMPIAIJ, ""));
  PetscCall(MatSetType(A, plain ? MATAIJ : root));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Preallocated once more, and filled */
static PetscErrorCode Refill(Mat A, Mat *B)
{
  PetscInt N;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, NULL, &N));
  PetscCall(TestShapePreallocate(N == square.N ? &square : &wide, A));
  PetscCall(TestShapeSetValues(N == square.N ? &square : &wide, A, 2.0, INSERT_VALUES));
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  const char *name;
  PetscErrorCode (*act)(Mat A, Mat *B);
  PetscBool square; /* for such ones only */
} Act;

static const Act acts[] = {
  {"nothing",                     Nothing,          PETSC_FALSE},
  {"MatDuplicate",                Duplicate,        PETSC_FALSE},
  {"MatDuplicate without values", DuplicateEmpty,   PETSC_FALSE},
  {"MatDuplicate of the pattern", DuplicatePattern, PETSC_FALSE},
  {"MatTranspose",                Transpose,        PETSC_FALSE},
  {"MatTranspose again",          TransposeAgain,   PETSC_FALSE},
  {"MatTranspose in place",       TransposeInPlace, PETSC_FALSE},
  {"MatCreateSubMatrix",          SubMatrix,        PETSC_FALSE},
  {"MatCreateSubMatrices",        SubMatrices,      PETSC_FALSE},
  {"MatPermute",                  Permuted,         PETSC_TRUE },
  {"MatGetDiagonalBlock",         DiagonalBlock,    PETSC_TRUE },
  {"MatCreateRedundantMatrix",    Redundant,        PETSC_TRUE },
  {"MatAXPY",                     AddOther,         PETSC_FALSE},
  {"MatAYPX",                     AddToOther,       PETSC_FALSE},
  {"MatCopy",                     CopyOther,        PETSC_FALSE},
  {"MatZeroRows",                 Zeroed,           PETSC_TRUE },
  {"MatSetPreallocationCOO",      Coordinates,      PETSC_FALSE},
  {"MatSetType",                  TypeAgain,        PETSC_FALSE},
  {"preallocated again",          Refill,           PETSC_FALSE}
};

static PetscErrorCode Run(TestDiff *d, const Act *act, const TestShape *shape, PetscInt cbs, PetscBool mapped)
{
  Luggage l;
  Mat     A[2], B[2] = {NULL, NULL};

  PetscFunctionBeginUser;
  PetscCall(LuggageCreate(shape, cbs, &l));
  for (int k = 0; k < 2; k++) {
    PetscCall(Create(shape, cbs, k ? "ref_" : NULL, mapped, &l, &A[k]));
    PetscCall((*act->act)(A[k], &B[k]));
  }
  PetscCall(TestDiffTraits(d, A[0], A[1]));
  if (B[0]) PetscCall(TestDiffTraits(d, B[0], B[1]));
  PetscCall(TestDestroy(&B[0], &B[1], &A[0], &A[1]));
  PetscCall(LuggageDestroy(&l));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscCall(TestInitialize(&argc, &argv, help));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(acts); k++) {
    TestDiff d = {NULL, 0};

    for (int mapped = 0; mapped < 2; mapped++) {
      if (Run(&d, &acts[k], &square, 3, (PetscBool)mapped) || (!acts[k].square && Run(&d, &acts[k], &wide, 6, (PetscBool)mapped))) TestDiffAdd(&d, "PETSc raised an error, see above", PETSC_MAX_REAL);
    }
    PetscCall(TestReport(acts[k].name, &d));
  }
  return TestFinalize();
}

/*TEST

  testset:
    nsize: {{1 2 3}}
    checks: 19
    args: -mat_type {{aij @types}}

TEST*/
