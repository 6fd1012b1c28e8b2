/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "Every operation that changes a matrix, each after products have been served and with products compared again after it.\n\
A format that keeps a copy of the matrix must notice each of them. Last, 300 of them one after the other in a random order.\n";

#include "../testutil.h"

static const TestShape grid   = {"grid", 400, 400, TestRowGrid, TestValueGeneral, PETSC_FALSE};
static const TestShape blocks = {"blocks", 108, 108, TestRowBlocks, TestValueGeneral, PETSC_FALSE};

/* Applied to the matrix under test and to its reference alike; what it does depends on seed and on the entries of M only */
typedef PetscErrorCode (*Operation)(Mat *M, PetscInt seed);

/* ------------------------------------------------- values ------------------------------------------------- */

static PetscErrorCode Assemble(Mat M)
{
  PetscFunctionBeginUser;
  PetscCall(MatAssemblyBegin(M, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(M, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Scale(Mat *M, PetscInt seed)
{
  return MatScale(*M, 1 + 0.5 * TestNumber(seed, 0));
}

static PetscErrorCode Shift(Mat *M, PetscInt seed)
{
  return MatShift(*M, 1 + TestNumber(seed, 0));
}

/* which: 1 left, 2 right, 3 both */
static PetscErrorCode DiagonalScale(Mat M, PetscInt seed, PetscInt which)
{
  Vec left, right;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(M, &right, &left));
  PetscCall(TestVecSet(left, seed));
  PetscCall(TestVecSet(right, seed + 1));
  PetscCall(VecShift(left, 1.5));
  PetscCall(VecShift(right, 1.5));
  PetscCall(MatDiagonalScale(M, which & 1 ? left : NULL, which & 2 ? right : NULL));
  PetscCall(TestDestroy(&left, &right));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DiagonalScaleLeft(Mat *M, PetscInt seed)
{
  return DiagonalScale(*M, seed, 1);
}

static PetscErrorCode DiagonalScaleRight(Mat *M, PetscInt seed)
{
  return DiagonalScale(*M, seed, 2);
}

static PetscErrorCode DiagonalScaleBoth(Mat *M, PetscInt seed)
{
  return DiagonalScale(*M, seed, 3);
}

static PetscErrorCode DiagonalSet(Mat M, PetscInt seed, InsertMode mode)
{
  Vec v;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(M, NULL, &v));
  PetscCall(TestVecSet(v, seed));
  PetscCall(MatDiagonalSet(M, v, mode));
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DiagonalInsert(Mat *M, PetscInt seed)
{
  return DiagonalSet(*M, seed, INSERT_VALUES);
}

static PetscErrorCode DiagonalAdd(Mat *M, PetscInt seed)
{
  return DiagonalSet(*M, seed, ADD_VALUES);
}

static PetscErrorCode ZeroEntries(Mat *M, PetscInt seed)
{
  return MatZeroEntries(*M);
}

/* Zero, then filled anew without reassembling in between */
static PetscErrorCode ZeroEntriesAndFill(Mat *M, PetscInt seed)
{
  PetscFunctionBeginUser;
  PetscCall(MatZeroEntries(*M));
  PetscCall(MatShift(*M, TestNumber(seed, 1)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows of this rank picked by seed, one of them of another rank */
static PetscErrorCode PickRows(Mat M, PetscInt seed, PetscInt *n, PetscInt rows[3])
{
  PetscInt N, r0, r1;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(M, &N, NULL));
  PetscCall(MatGetOwnershipRange(M, &r0, &r1));
  *n = 0;
  if (r1 > r0) {
    rows[(*n)++] = r0 + TestInteger(seed, 1, r1 - r0);
    rows[(*n)++] = r1 - 1 - TestInteger(seed, 2, r1 - r0) / 2;
  }
  rows[(*n)++] = TestInteger(seed, 3, N);
  PetscCall(PetscSortRemoveDupsInt(n, rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ZeroRows(Mat *M, PetscInt seed)
{
  PetscInt n, rows[3];

  PetscFunctionBeginUser;
  PetscCall(PickRows(*M, seed, &n, rows));
  PetscCall(MatZeroRows(*M, n, rows, 2.0, NULL, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ZeroRowsColumns(Mat *M, PetscInt seed)
{
  PetscInt n, rows[3];

  PetscFunctionBeginUser;
  PetscCall(PickRows(*M, seed, &n, rows));
  PetscCall(MatZeroRowsColumns(*M, n, rows, 2.0, NULL, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* New values for stored entries of the picked rows, of this rank and of others */
static PetscErrorCode SetStored(Mat M, PetscInt seed, InsertMode mode)
{
  PetscInt     n, rows[3], r0, r1, *cols, count = 0;
  PetscScalar *vals;

  PetscFunctionBeginUser;
  PetscCall(PickRows(M, seed, &n, rows));
  PetscCall(MatGetOwnershipRange(M, &r0, &r1));
  for (PetscInt k = 0; k < n; k++) {
    const PetscInt *c;

    if (rows[k] < r0 || rows[k] >= r1) continue;
    PetscCall(MatGetRow(M, rows[k], &count, &c, NULL));
    PetscCall(PetscMalloc2(count, &cols, count, &vals));
    PetscCall(PetscArraycpy(cols, c, count));
    for (PetscInt l = 0; l < count; l++) vals[l] = TestNumber(rows[k] + cols[l], seed);
    PetscCall(MatRestoreRow(M, rows[k], &count, &c, NULL));
    PetscCall(MatSetValues(M, 1, &rows[k], count, cols, vals, mode));
    PetscCall(PetscFree2(cols, vals));
  }
  if (mode == ADD_VALUES) PetscCall(MatSetValue(M, rows[0], rows[0], TestNumber(seed, 4), mode)); /* all ranks, one row perhaps */
  PetscCall(Assemble(M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode InsertStored(Mat *M, PetscInt seed)
{
  return SetStored(*M, seed, INSERT_VALUES);
}

static PetscErrorCode AddStored(Mat *M, PetscInt seed)
{
  return SetStored(*M, seed, ADD_VALUES);
}

/* The arrays of a sequential matrix, or of either block of a parallel one */
static PetscErrorCode WriteArray(Mat M, PetscInt seed, PetscBool off)
{
  Mat          part = M, diag, rest;
  PetscBool    mpi;
  PetscInt     nz;
  PetscScalar *a;
  MatInfo      info;

  PetscFunctionBeginUser;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)M, MATMPIAIJ, &mpi));
  if (mpi) {
    PetscCall(MatMPIAIJGetSeqAIJ(M, &diag, &rest, NULL));
    part = off ? rest : diag;
  }
  PetscCall(MatGetInfo(part, MAT_LOCAL, &info));
  nz = (PetscInt)info.nz_used;
  PetscCall(MatSeqAIJGetArray(part, &a));
  for (PetscInt k = TestInteger(seed, 5, 3); k < nz; k += 3) a[k] = TestNumber(k, seed);
  PetscCall(MatSeqAIJRestoreArray(part, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode WriteArrayDiagonal(Mat *M, PetscInt seed)
{
  return WriteArray(*M, seed, PETSC_FALSE);
}

static PetscErrorCode WriteArrayOffDiagonal(Mat *M, PetscInt seed)
{
  return WriteArray(*M, seed, PETSC_TRUE);
}

static PetscErrorCode ScaleDiagonalBlock(Mat *M, PetscInt seed)
{
  Mat diag;

  PetscFunctionBeginUser;
  PetscCall(MatGetDiagonalBlock(*M, &diag));
  PetscCall(MatScale(diag, 1 + 0.5 * TestNumber(seed, 0)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Conjugate(Mat *M, PetscInt seed)
{
  PetscFunctionBeginUser;
  PetscCall(MatConjugate(*M));
  PetscCall(MatRealPart(*M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode StoreAndRetrieve(Mat *M, PetscInt seed)
{
  PetscFunctionBeginUser;
  PetscCall(MatSetOption(*M, MAT_NEW_NONZERO_LOCATIONS, PETSC_FALSE));
  PetscCall(MatStoreValues(*M));
  PetscCall(MatScale(*M, 17.0));
  PetscCall(MatRetrieveValues(*M));
  PetscCall(MatSetOption(*M, MAT_NEW_NONZERO_LOCATIONS, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- other matrices ------------------------------------------------- */

static PetscErrorCode AXPYSame(Mat *M, PetscInt seed)
{
  Mat X;

  PetscFunctionBeginUser;
  PetscCall(MatDuplicate(*M, MAT_COPY_VALUES, &X));
  PetscCall(MatShift(X, TestNumber(seed, 1)));
  PetscCall(MatAXPY(*M, -0.25, X, SAME_NONZERO_PATTERN));
  PetscCall(MatDestroy(&X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix of the type of M, or a plain MATAIJ, with one entry in each row, d columns after the diagonal */
static PetscErrorCode CreateCyclic(Mat M, PetscInt seed, PetscInt d, PetscBool plain, Mat *X)
{
  PetscInt m, n, N, r0, r1;
  MatType  type;

  PetscFunctionBeginUser;
  PetscCall(MatGetType(M, &type));
  PetscCall(MatGetLocalSize(M, &m, &n));
  PetscCall(MatGetSize(M, NULL, &N));
  PetscCall(MatCreate(PETSC_COMM_WORLD, X));
  PetscCall(MatSetSizes(*X, m, n, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetType(*X, plain ? MATAIJ : type));
  PetscCall(MatSeqAIJSetPreallocation(*X, 1, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*X, 1, NULL, 1, NULL));
  PetscCall(MatGetOwnershipRange(*X, &r0, &r1));
  for (PetscInt r = r0; r < r1; r++) PetscCall(MatSetValue(*X, r, (r + d) % N, TestNumber(r, seed), INSERT_VALUES));
  PetscCall(Assemble(*X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AXPYSubset(Mat *M, PetscInt seed)
{
  Mat X;

  PetscFunctionBeginUser;
  PetscCall(MatShift(*M, 0.0)); /* the diagonal is stored */
  PetscCall(CreateCyclic(*M, seed, 0, PETSC_FALSE, &X));
  PetscCall(MatAXPY(*M, 0.5, X, SUBSET_NONZERO_PATTERN));
  PetscCall(MatDestroy(&X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AXPYDifferent(Mat *M, PetscInt seed)
{
  Mat X;

  PetscFunctionBeginUser;
  PetscCall(CreateCyclic(*M, seed, 3 + seed % 11, PETSC_FALSE, &X));
  PetscCall(MatAXPY(*M, 0.5, X, DIFFERENT_NONZERO_PATTERN));
  PetscCall(MatDestroy(&X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AXPYPlain(Mat *M, PetscInt seed)
{
  Mat X;

  PetscFunctionBeginUser;
  PetscCall(CreateCyclic(*M, seed, 5 + seed % 11, PETSC_TRUE, &X));
  PetscCall(MatAXPY(*M, 0.5, X, DIFFERENT_NONZERO_PATTERN));
  PetscCall(MatDestroy(&X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AYPX(Mat *M, PetscInt seed)
{
  Mat X;

  PetscFunctionBeginUser;
  PetscCall(CreateCyclic(*M, seed, 7, PETSC_FALSE, &X));
  PetscCall(MatAYPX(*M, 0.5, X, DIFFERENT_NONZERO_PATTERN));
  PetscCall(MatDestroy(&X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CopySame(Mat *M, PetscInt seed)
{
  Mat X;

  PetscFunctionBeginUser;
  PetscCall(MatDuplicate(*M, MAT_COPY_VALUES, &X));
  PetscCall(MatScale(X, -0.75));
  PetscCall(MatCopy(X, *M, SAME_NONZERO_PATTERN));
  PetscCall(MatDestroy(&X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CopyDifferent(Mat *M, PetscInt seed)
{
  Mat X;

  PetscFunctionBeginUser;
  PetscCall(MatTranspose(*M, MAT_INITIAL_MATRIX, &X));
  PetscCall(MatSetOption(*M, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatCopy(X, *M, DIFFERENT_NONZERO_PATTERN));
  PetscCall(MatDestroy(&X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- pattern ------------------------------------------------- */

/* Entries where there were none, in rows of this rank and of others */
static PetscErrorCode NewNonzeros(Mat *M, PetscInt seed)
{
  PetscInt n, rows[3], N;

  PetscFunctionBeginUser;
  PetscCall(MatSetOption(*M, MAT_NEW_NONZERO_LOCATIONS, PETSC_TRUE));
  PetscCall(MatSetOption(*M, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatGetSize(*M, NULL, &N));
  PetscCall(PickRows(*M, seed, &n, rows));
  for (PetscInt k = 0; k < n; k++) PetscCall(MatSetValue(*M, rows[k], TestInteger(seed, 10 + k, N), TestNumber(seed, k), ADD_VALUES));
  PetscCall(Assemble(*M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* As many entries as before, in other positions: only the pattern tells */
static PetscErrorCode MoveNonzeros(Mat *M, PetscInt seed)
{
  Mat X;

  PetscFunctionBeginUser;
  PetscCall(CreateCyclic(*M, seed, 1, PETSC_FALSE, &X));
  PetscCall(MatHeaderReplace(*M, &X));
  PetscCall(CreateCyclic(*M, seed, 2, PETSC_FALSE, &X));
  PetscCall(MatHeaderReplace(*M, &X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HeaderReplace(Mat *M, PetscInt seed)
{
  Vec x, y;
  Mat X;

  PetscFunctionBeginUser;
  PetscCall(MatDuplicate(*M, MAT_COPY_VALUES, &X));
  PetscCall(MatScale(X, 0.5));
  PetscCall(MatCreateVecs(X, &x, &y));
  if (seed % 2) PetscCall(MatMult(X, x, y)); /* the replacement may have served products or not */
  PetscCall(MatHeaderReplace(*M, &X));
  PetscCall(TestDestroy(&x, &y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TransposeInPlace(Mat *M, PetscInt seed)
{
  return MatTranspose(*M, MAT_INPLACE_MATRIX, M);
}

/* The transpose of M, made once, then again after a change of M */
static PetscErrorCode TransposeReuse(Mat *M, PetscInt seed)
{
  Vec x, y;
  Mat T;

  PetscFunctionBeginUser;
  PetscCall(MatTranspose(*M, MAT_INITIAL_MATRIX, &T));
  PetscCall(MatCreateVecs(T, &x, &y));
  PetscCall(MatMult(T, x, y));
  PetscCall(MatScale(*M, -0.5));
  PetscCall(MatTranspose(*M, MAT_REUSE_MATRIX, &T));
  PetscCall(MatDestroy(M));
  *M = T;
  PetscCall(TestDestroy(&x, &y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DuplicateAndDestroy(Mat *M, PetscInt seed)
{
  const MatDuplicateOption options[3] = {MAT_COPY_VALUES, MAT_DO_NOT_COPY_VALUES, MAT_SHARE_NONZERO_PATTERN};
  Mat                      X;

  PetscFunctionBeginUser;
  PetscCall(MatDuplicate(*M, options[seed % 3], &X));
  if (seed % 3) PetscCall(MatCopy(*M, X, SAME_NONZERO_PATTERN));
  PetscCall(MatDestroy(M));
  *M = X;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ConvertThereAndBack(Mat *M, PetscInt seed)
{
  char    type[64];
  MatType t;

  PetscFunctionBeginUser;
  PetscCall(MatGetType(*M, &t));
  PetscCall(PetscStrncpy(type, t, sizeof(type)));
  PetscCall(MatConvert(*M, MATAIJ, MAT_INPLACE_MATRIX, M));
  PetscCall(MatShift(*M, 0.25));
  PetscCall(MatConvert(*M, type, MAT_INPLACE_MATRIX, M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A copy of the whole by MatCreateSubMatrix(), made again after a change of M */
static PetscErrorCode SubMatrixReuse(Mat *M, PetscInt seed)
{
  PetscInt r0, r1;
  IS       is;
  Vec      x, y;
  Mat      X;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(*M, &r0, &r1));
  PetscCall(ISCreateStride(PETSC_COMM_WORLD, r1 - r0, r0, 1, &is));
  PetscCall(MatCreateSubMatrix(*M, is, is, MAT_INITIAL_MATRIX, &X));
  PetscCall(MatCreateVecs(X, &x, &y));
  PetscCall(MatMult(X, x, y));
  PetscCall(MatScale(*M, 0.5));
  PetscCall(MatCreateSubMatrix(*M, is, is, MAT_REUSE_MATRIX, &X));
  PetscCall(TestDestroy(&x, &y, &is, M));
  *M = X;
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  const char *name;
  Operation   apply;
  PetscBool   walk; /* may stand in a random walk: leaves a matrix that later operations can work with */
} Change;

static const Change changes[] = {
  {"MatScale",                     Scale,                 PETSC_TRUE },
  {"MatShift",                     Shift,                 PETSC_TRUE },
  {"MatDiagonalScale left",        DiagonalScaleLeft,     PETSC_TRUE },
  {"MatDiagonalScale right",       DiagonalScaleRight,    PETSC_TRUE },
  {"MatDiagonalScale both",        DiagonalScaleBoth,     PETSC_TRUE },
  {"MatDiagonalSet insert",        DiagonalInsert,        PETSC_TRUE },
  {"MatDiagonalSet add",           DiagonalAdd,           PETSC_TRUE },
  {"MatZeroEntries",               ZeroEntries,           PETSC_FALSE},
  {"MatZeroEntries and fill",      ZeroEntriesAndFill,    PETSC_FALSE},
  {"MatZeroRows",                  ZeroRows,              PETSC_TRUE },
  {"MatZeroRowsColumns",           ZeroRowsColumns,       PETSC_TRUE },
  {"MatSetValues insert",          InsertStored,          PETSC_TRUE },
  {"MatSetValues add",             AddStored,             PETSC_TRUE },
  {"array of the diagonal block",  WriteArrayDiagonal,    PETSC_TRUE },
  {"array of the other block",     WriteArrayOffDiagonal, PETSC_TRUE },
  {"MatScale of a block",          ScaleDiagonalBlock,    PETSC_TRUE },
  {"MatConjugate and MatRealPart", Conjugate,             PETSC_TRUE },
  {"MatStoreValues and retrieve",  StoreAndRetrieve,      PETSC_TRUE },
  {"MatAXPY same pattern",         AXPYSame,              PETSC_TRUE },
  {"MatAXPY subset",               AXPYSubset,            PETSC_TRUE },
  {"MatAXPY different",            AXPYDifferent,         PETSC_TRUE },
  {"MatAXPY of a plain MATAIJ",    AXPYPlain,             PETSC_TRUE },
  {"MatAYPX",                      AYPX,                  PETSC_TRUE },
  {"MatCopy same pattern",         CopySame,              PETSC_TRUE },
  {"MatCopy different",            CopyDifferent,         PETSC_TRUE },
  {"new nonzeros",                 NewNonzeros,           PETSC_TRUE },
  {"moved nonzeros",               MoveNonzeros,          PETSC_FALSE},
  {"MatHeaderReplace",             HeaderReplace,         PETSC_TRUE },
  {"MatTranspose in place",        TransposeInPlace,      PETSC_TRUE },
  {"MatTranspose reuse",           TransposeReuse,        PETSC_TRUE },
  {"MatDuplicate and MatDestroy",  DuplicateAndDestroy,   PETSC_TRUE },
  {"MatConvert there and back",    ConvertThereAndBack,   PETSC_TRUE },
  {"MatCreateSubMatrix reuse",     SubMatrixReuse,        PETSC_TRUE }
};

/* Twice on each matrix: the second time a shadow has been updated once */
static PetscErrorCode RunChange(TestDiff *d, const Change *change, const TestShape *shape)
{
  Mat A, R;

  PetscFunctionBeginUser;
  PetscCall(TestPairCreate(shape, &A, &R));
  PetscCall(TestDiffMat(d, A, R));
  for (PetscInt seed = 0; seed < 3; seed++) {
    PetscCall((*change->apply)(&A, seed));
    PetscCall((*change->apply)(&R, seed));
    PetscCall(TestDiffType(d, A));
    PetscCall(TestDiffMat(d, A, R));
  }
  PetscCall(TestDestroy(&A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RunChanges(void)
{
  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(changes); k++) {
    TestDiff d = {NULL, 0};

    if (RunChange(&d, &changes[k], &grid) || RunChange(&d, &changes[k], &blocks)) TestDiffAdd(&d, "PETSc raised an error, see above", PETSC_MAX_REAL);
    PetscCall(TestReport(changes[k].name, &d));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Keeps entries near 1 and the pattern small, so that a walk of any length stays meaningful */
static PetscErrorCode Tame(const TestShape *shape, Mat *A, Mat *R)
{
  PetscReal norm;
  MatInfo   info;

  PetscFunctionBeginUser;
  PetscCall(MatNorm(*R, NORM_INFINITY, &norm));
  if (norm > 1e3) {
    PetscCall(MatScale(*A, 1 / norm));
    PetscCall(MatScale(*R, 1 / norm));
  }
  PetscCall(MatGetInfo(*R, MAT_GLOBAL_SUM, &info));
  if (info.nz_used > 40.0 * shape->M || norm < 1e-3) {
    PetscCall(TestDestroy(A, R));
    PetscCall(TestPairCreate(shape, A, R));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The operation of a step, the same on every rank and in every run */
static const Change *PickChange(PetscInt step)
{
  const PetscInt n = (PetscInt)PETSC_STATIC_ARRAY_LENGTH(changes);
  PetscInt       k = -1;

  for (PetscInt draw = 0; k < 0 || !changes[k].walk; draw++) k = TestInteger(step, draw, n);
  return &changes[k];
}

static PetscErrorCode RandomWalk(const TestShape *shape, PetscInt steps, const char name[])
{
  TestDiff d = {NULL, 0};
  Mat      A, R;

  PetscFunctionBeginUser;
  PetscCall(TestPairCreate(shape, &A, &R));
  for (PetscInt step = 0; step < steps; step++) {
    const Change *change = PickChange(step);

    PetscCall((*change->apply)(&A, step));
    PetscCall((*change->apply)(&R, step));
    PetscCall(TestDiffMat(&d, A, R));
    if (d.err > TEST_TOLERANCE) {
      PetscCall(PetscFPrintf(PETSC_COMM_SELF, stderr, "Step %" PetscInt_FMT ", %s: %s\n", step, change->name, d.what));
      d.what = change->name;
    }
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &d.err, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
    if (d.err > TEST_TOLERANCE) break;
    PetscCall(Tame(shape, &A, &R));
  }
  PetscCall(TestReport(name, &d));
  PetscCall(TestDestroy(&A, &R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscCall(TestInitialize(&argc, &argv, help));
  PetscCall(RunChanges());
  PetscCall(RandomWalk(&grid, 300, "random walk on a grid"));
  PetscCall(RandomWalk(&blocks, 300, "random walk on blocks"));
  return TestFinalize();
}

/*TEST

  testset:
    nsize: {{1 2 3}}
    checks: 35
    test:
      suffix: aij
      args: -mat_type aij
    test:
      suffix: types
      args: -mat_type {{@types}} -mat_shadow_tune off
    test:
      suffix: fp_trap
      nsize: 2
      requires: !cuda
      args: -mat_type {{aij @types}} -mat_shadow_tune off -options_left no -fp_trap
    test:
      suffix: nussell_segments
      args: -mat_type nussell -mat_shadow_tune off -mat_nussell_s1 7 -mat_nussell_k1 2 -mat_nussell_s2 50 -mat_nussell_k2 1

  testset:
    args: -mat_type amb
    checks: 35
    test:
      suffix: amb_tuned
      nsize: 2
      args: -mat_shadow_tune {{model measure online}}
    test:
      suffix: amb_values
      nsize: {{1 2}}
      args: -mat_shadow_tune off -mat_shadow_values {{exact table}}
    test:
      suffix: amb_blocks
      nsize: 2
      args: -mat_shadow_tune off -mat_amb_block_size {{1 2 3 4 7 10}}
    test:
      suffix: amb_malloc
      nsize: 2
      args: -mat_shadow_tune off -malloc_dump

  testset:
    args: -petscamb_for_aij amb -ref_petscamb_for_aij aij -mat_shadow_tune off -test_shadow
    checks: 35
    test:
      suffix: for_aij
      nsize: 2
      args: -mat_type aij
    test:
      suffix: for_aijcusparse
      requires: cuda
      nsize: {{1 2}}
      args: -mat_type aijcusparse

TEST*/
