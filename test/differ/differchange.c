/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Operations that change a matrix: values, pattern, options, what is attached
*/
#include "differ.h"

/* The operation is a few lines on a matrix that has these needs */
#define DifferChange(Name, needs, ...) \
  static PetscErrorCode Name(DifferStep *s) \
  { \
    Mat A; \
\
    PetscFunctionBeginUser; \
    DifferPickOrReturn(s, needs, &A); \
    __VA_ARGS__; \
    PetscFunctionReturn(PETSC_SUCCESS); \
  }

/* A vector of random numbers for the columns or the rows; now and then without a number in one position */
static PetscErrorCode Vector(DifferStep *s, Mat A, PetscBool rows, Vec *v)
{
  const PetscInt seed = DifferDraw(s, 1000);

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, rows ? NULL : v, rows ? v : NULL));
  PetscCall(TestVecSet(*v, seed));
  if (seed % 5 == 0) PetscCall(VecShift(*v, 2.0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- values ------------------------------------------------- */

DifferChange(Scale, 0, PetscCall(MatScale(A, DifferNumber(s))))
DifferChange(Shift, DIFFER_SQUARE | DIFFER_AIJ, {
  PetscCall(DifferOwn(s, &A));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE)); /* or one process alone gets an error */
  PetscCall(MatShift(A, DifferNumber(s)));
})
DifferChange(Zero, 0, PetscCall(MatZeroEntries(A)))
DifferChange(Conjugate, DIFFER_AIJ, PetscCall(MatConjugate(A)))
DifferChange(RealPart, DIFFER_AIJ, PetscCall(MatRealPart(A)))
DifferChange(ImaginaryPart, DIFFER_AIJ, PetscCall(MatImaginaryPart(A)))

static PetscErrorCode DiagonalScale(DifferStep *s)
{
  Vec            l, r;
  const PetscInt which = DifferDraw(s, 3);
  Mat            A;

  PetscFunctionBeginUser;
  DifferPickOrReturn(s, 0, &A);
  PetscCall(Vector(s, A, PETSC_TRUE, &l));
  PetscCall(Vector(s, A, PETSC_FALSE, &r));
  PetscCall(MatDiagonalScale(A, which == 1 ? NULL : l, which == 0 ? NULL : r));
  PetscCall(TestDestroy(&l, &r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DiagonalSet(DifferStep *s)
{
  Vec v;
  Mat A;

  PetscFunctionBeginUser;
  DifferPickOrReturn(s, DIFFER_SQUARE | DIFFER_AIJ, &A);
  PetscCall(DifferOwn(s, &A));
  PetscCall(Vector(s, A, PETSC_TRUE, &v));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatDiagonalSet(A, v, DifferDraw(s, 2) ? INSERT_VALUES : ADD_VALUES));
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows of any process, told by any process */
static PetscErrorCode ZeroRows(DifferStep *s)
{
  const PetscInt how = DifferDraw(s, 4), seed = DifferDraw(s, 1000);
  PetscInt       n        = 0, rows[3];
  PetscScalar    diagonal = DifferNumber(s);
  PetscMPIInt    rank;
  Vec            x = NULL, b = NULL;
  Mat            A;

  PetscFunctionBeginUser;
  DifferPickOrReturn(s, DIFFER_SQUARE | DIFFER_AIJ | DIFFER_FILLED | DIFFER_FINITE, &A);
  PetscCall(DifferOwn(s, &A));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_LOCATIONS, PETSC_TRUE));
  PetscCall(MatShift(A, 1.0)); /* a diagonal that is not stored is an error of single processes */
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)A), &rank));
  for (; n < 3; n++) rows[n] = TestInteger(seed + n, how & 2 ? rank : 0, A->rmap->N);
  if (how & 1) {
    PetscCall(MatCreateVecs(A, &x, &b));
    PetscCall(TestVecSet(x, 1));
    PetscCall(TestVecSet(b, 2));
  }
  if (DifferDraw(s, 2)) PetscCall(MatZeroRows(A, n, rows, diagonal, x, b));
  else PetscCall(MatZeroRowsColumns(A, n, rows, diagonal, x, b));
  if (b) PetscCall(DifferNoteVec(s, "right-hand side", b, 1e3));
  PetscCall(TestDestroy(&x, &b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ZeroRowsIS(DifferStep *s)
{
  PetscInt first, end, step = 1 + DifferDraw(s, 5);
  IS       is;
  Mat      A;

  PetscFunctionBeginUser;
  DifferPickOrReturn(s, DIFFER_AIJ, &A);
  PetscCall(MatGetOwnershipRange(A, &first, &end));
  PetscCall(ISCreateStride(PetscObjectComm((PetscObject)A), (end - first) / step, first, step, &is));
  PetscCall(MatZeroRowsIS(A, is, 0.0, NULL, NULL));
  PetscCall(ISDestroy(&is));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ZeroRowsLocal(DifferStep *s)
{
  PetscInt    n;
  PetscInt    row = DifferDraw(s, 4);
  PetscScalar d   = DifferNumber(s);
  Mat         A;

  PetscFunctionBeginUser;
  DifferPickOrReturn(s, DIFFER_MAPPED | DIFFER_SQUARE | DIFFER_AIJ, &A);
  PetscCall(ISLocalToGlobalMappingGetSize(A->rmap->mapping, &n));
  PetscCall(MatZeroRowsLocal(A, row < n ? 1 : 0, &row, d, NULL, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries that are there, of this and of other processes, or new ones; an error of one process is one of all */
static PetscErrorCode SetValues(DifferStep *s)
{
  const PetscInt   kind = DifferDraw(s, 5), seed = DifferDraw(s, 1000);
  const InsertMode mode = DifferDraw(s, 2) ? INSERT_VALUES : ADD_VALUES;
  PetscInt         first, end, rows[3], cols[2];
  PetscScalar      v[6];
  PetscErrorCode   ierr = PETSC_SUCCESS;
  PetscMPIInt      rank;
  Mat              A;

  PetscFunctionBeginUser;
  DifferPickOrReturn(s, DIFFER_FILLED | DIFFER_AIJ, &A);
  PetscCall(DifferOwn(s, &A));
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)A), &rank));
  PetscCall(MatGetOwnershipRange(A, &first, &end));
  if (kind == 0) PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  for (PetscInt k = 0; k < 3; k++) rows[k] = kind == 1 ? (seed + 5 * k) % A->rmap->N : end > first ? first + (seed + k) % (end - first) : -1;
  for (PetscInt k = 0; k < 2; k++) cols[k] = (seed + k * (1 + seed % 7) + (kind == 1 ? 0 : rank)) % A->cmap->N;
  for (PetscInt k = 0; k < 6; k++) v[k] = TestNumber(seed + k, mode == ADD_VALUES || kind != 1 ? rank : 0);
  if (kind == 1) rows[2] = -1; /* not used, as PETSc allows */
  if (kind == 2) PetscCall(MatSetOption(A, MAT_NEW_NONZERO_LOCATIONS, PETSC_FALSE));
  if (kind == 3 && end > first) { /* entries that are there */
    PetscInt     n, *there;
    PetscScalar *values;

    PetscCall(DifferGetRow(A, rows[0], &n, &there, &values));
    for (PetscInt k = 0; k < 2; k++) cols[k] = n ? there[k % n] : -1;
    PetscCall(PetscFree2(there, values));
    rows[1] = rows[2] = -1;
    if (cols[0] == cols[1]) cols[1] = -1;
  }
  ierr = MatSetValues(A, kind == 1 && mode == INSERT_VALUES && rank ? 0 : 3, rows, 2, cols, v, mode);
  PetscCall(DifferAgree(ierr));
  if (kind == 4) {
    PetscCall(MatAssemblyBegin(A, MAT_FLUSH_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FLUSH_ASSEMBLY));
    PetscCall(DifferAgree(MatSetValues(A, 3, rows, 2, cols, v, ADD_VALUES)));
  }
  PetscCall(DifferAssemble(A));
  if (kind == 2) PetscCall(MatSetOption(A, MAT_NEW_NONZERO_LOCATIONS, PETSC_TRUE));
  if (kind == 1) DifferRound(s, 100); /* entries that several processes add to */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Assembled once more, with nothing new */
DifferChange(Assemble, 0, PetscCall(DifferAssemble(A)))

/* No number, or infinity, in one position */
static PetscErrorCode SetNoNumber(DifferStep *s)
{
  const PetscReal wrong = DifferDraw(s, 2) ? (PetscReal)INFINITY : (PetscReal)NAN;
  PetscInt        first, end, n, col = -1, *cols;
  PetscScalar     v = wrong, *values;
  Mat             A;

  PetscFunctionBeginUser;
  DifferPickOrReturn(s, DIFFER_AIJ, &A);
  PetscCall(MatGetOwnershipRange(A, &first, &end));
  if (end > first) {
    PetscCall(DifferGetRow(A, first, &n, &cols, &values));
    if (n) col = cols[n / 2];
    PetscCall(PetscFree2(cols, values));
  }
  PetscCall(DifferAgree(col < 0 ? PETSC_SUCCESS : MatSetValue(A, first, col, v, INSERT_VALUES)));
  PetscCall(DifferAssemble(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The diagonal block of an MPI matrix, or the matrix */
static PetscErrorCode SequentialPart(DifferStep *s, Mat A, Mat *B)
{
  const PetscInt off = DifferDraw(s, 2);
  PetscBool      mpi;
  Mat            block[2];

  PetscFunctionBeginUser;
  *B = A;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &mpi));
  if (!mpi) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatMPIAIJGetSeqAIJ(A, &block[0], &block[1], NULL));
  *B = block[off];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode WriteArray(DifferStep *s)
{
  const PetscInt how = DifferDraw(s, 2), seed = DifferDraw(s, 1000);
  PetscScalar   *a;
  MatInfo        info;
  Mat            A, B;

  PetscFunctionBeginUser;
  DifferPickOrReturn(s, DIFFER_AIJ, &A);
  PetscCall(SequentialPart(s, A, &B));
  PetscCall(MatGetInfo(B, MAT_LOCAL, &info));
  if (how) PetscCall(MatSeqAIJGetArray(B, &a));
  else PetscCall(MatSeqAIJGetArrayWrite(B, &a));
  for (PetscInt k = 0; k < (PetscInt)info.nz_used; k++) a[k] = TestNumber(k, seed);
  if (how) PetscCall(MatSeqAIJRestoreArray(B, &a));
  else PetscCall(MatSeqAIJRestoreArrayWrite(B, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

DifferChange(ScaleBlock, DIFFER_AIJ, {
  Mat B;

  PetscCall(SequentialPart(s, A, &B));
  PetscCall(MatScale(B, DifferNumber(s)));
})

/* Stored after a pattern is fixed, changed, retrieved. AIJ keeps its memory for them, and writes past the end if the pattern has got more entries since the first time. */
static PetscErrorCode StoreValues(DifferStep *s)
{
  PetscObjectState state;
  DifferPair      *pair;
  Mat              A;

  PetscFunctionBeginUser;
  DifferPickOrReturn(s, DIFFER_AIJ, &A);
  pair  = &s->pool->pair[s->picks[0]];
  state = pair->m[DIFFER_REFERENCE]->nonzerostate + 1;
  if (!pair->stored) pair->stored = state;
  if (pair->stored != state) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_LOCATIONS, PETSC_FALSE));
  PetscCall(MatStoreValues(A));
  PetscCall(MatScale(A, 3.0));
  PetscCall(MatRetrieveValues(A));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_LOCATIONS, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if PETSC_VERSION_LT(3, 20, 0)
DifferChange(Chop, DIFFER_AIJ, PetscCall(MatChop(A, 0.3)))
#else
DifferChange(Chop, DIFFER_AIJ, PetscCall(MatFilter(A, 0.3, PETSC_FALSE, PETSC_FALSE)))
#endif

/* ------------------------------------------------- with another matrix ------------------------------------------------- */

static PetscErrorCode AXPY(DifferStep *s)
{
  const PetscInt    how = DifferDraw(s, 3);
  const PetscScalar a   = DifferNumber(s);
  Mat               A, B;

  PetscFunctionBeginUser;
  DifferPickOrReturn(s, DIFFER_AIJ, &A);
  DifferPickOrReturn(s, DIFFER_AIJ | DIFFER_ROWS_ROWS | DIFFER_COLS_COLS, &B);
  PetscCall(MatSetNearNullSpace(A, NULL)); /* MatHeaderMerge() would not give it back */
  if (how == 0) PetscCall(MatAXPY(A, a, B, DIFFERENT_NONZERO_PATTERN));
  else if (how == 1) PetscCall(MatAXPY(A, a, B, UNKNOWN_NONZERO_PATTERN));
  else PetscCall(MatAYPX(A, a, B, DIFFERENT_NONZERO_PATTERN));
  s->merged = PETSC_TRUE;
  DifferRound(s, s->pool->pair[s->picks[0]].norm + 2 * s->pool->pair[s->picks[1]].norm); /* AYPX of some versions multiplies first */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A copy of the same pattern with other values, or a part of the pattern */
static PetscErrorCode AXPYSame(DifferStep *s)
{
  const PetscInt how = DifferDraw(s, 2);
  PetscBool      compressed;
  Mat            A, B;

  PetscFunctionBeginUser;
  DifferPickOrReturn(s, DIFFER_AIJ, &A);
  PetscCall(DifferIsCompressed(A, &compressed));
  if (compressed) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(MatScale(B, 2.0));
  PetscCall(MatAXPY(A, DifferNumber(s), B, how ? SAME_NONZERO_PATTERN : SUBSET_NONZERO_PATTERN));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Over the values of another one: SAME_NONZERO_PATTERN where it is so */
static PetscErrorCode CopyOver(DifferStep *s)
{
  Mat A, B;

  PetscFunctionBeginUser;
  DifferPickOrReturn(s, DIFFER_AIJ, &A);
  if (DifferDraw(s, 2)) {
    DifferPickOrReturn(s, DIFFER_AIJ | DIFFER_OTHER | DIFFER_SEQ | DIFFER_ROWS_ROWS | DIFFER_COLS_COLS, &B);
    PetscCall(MatSetOption(B, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
    PetscCall(MatSetNearNullSpace(B, NULL)); /* MatHeaderMerge() would not give it back */
    PetscCall(MatCopy(A, B, DIFFERENT_NONZERO_PATTERN));
    s->merged = PETSC_TRUE; /* by MatAYPX() in new versions of PETSc */
  } else {
    PetscCall(MatDuplicate(A, MAT_DO_NOT_COPY_VALUES, &B));
    PetscCall(MatCopy(A, B, SAME_NONZERO_PATTERN));
    PetscCall(DifferGive(s, DifferIsOurs(s, 0), B));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The inside of a copy, which may have served products or not */
static PetscErrorCode HeaderReplace(DifferStep *s)
{
  const PetscInt used = DifferDraw(s, 2);
  Vec            x, y;
  Mat            A, B;

  PetscFunctionBeginUser;
  DifferPickOrReturn(s, DIFFER_AIJ, &A);
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(MatScale(B, 0.5));
  if (used) {
    PetscCall(MatCreateVecs(B, &x, &y));
    PetscCall(VecSet(x, 1.0));
    PetscCall(MatMult(B, x, y));
    PetscCall(TestDestroy(&x, &y));
  }
  s->merged = PETSC_TRUE;
  PetscCall(MatHeaderReplace(A, &B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- flags and what is attached ------------------------------------------------- */

/* Not: MAT_STRUCTURE_ONLY, after which AIJ has no values; MAT_SUBSET_OFF_PROC_ENTRIES, MAT_SORTED_FULL, MAT_NO_OFF_PROC_ENTRIES, which are promises that later
   operations break; MAT_NEW_NONZERO_LOCATION_ERR, which is followed by errors on single processes; MAT_USE_INODES, with which PETSc 3.18 looks for I-nodes that the
   last assembly has not gathered */
DifferChange(SetOption, 0, {
  static const MatOption options[] = {MAT_ROW_ORIENTED, MAT_SYMMETRIC, MAT_STRUCTURALLY_SYMMETRIC, MAT_HERMITIAN, MAT_SPD, MAT_SYMMETRY_ETERNAL, MAT_STRUCTURAL_SYMMETRY_ETERNAL, MAT_SPD_ETERNAL, MAT_IGNORE_OFF_PROC_ENTRIES, MAT_USE_HASH_TABLE, MAT_KEEP_NONZERO_PATTERN, MAT_IGNORE_ZERO_ENTRIES, MAT_NEW_NONZERO_ALLOCATION_ERR, MAT_NEW_NONZERO_LOCATIONS, MAT_SUBMAT_SINGLEIS, MAT_NO_OFF_PROC_ZERO_ROWS, MAT_IGNORE_LOWER_TRIANGULAR, MAT_FORCE_DIAGONAL_ENTRIES};
  const MatOption        option    = options[DifferDraw(s, (PetscInt)PETSC_STATIC_ARRAY_LENGTH(options))];

  PetscCall(MatSetOption(A, option, DifferDraw(s, 3) ? PETSC_TRUE : PETSC_FALSE));
})

/* An error on some processes leaves an AIJ with different block sizes on each, and then its assembly has no end */
DifferChange(SetBlockSizes, DIFFER_OPEN, {
  const PetscInt *bs   = s->pool->bs;
  const PetscInt  rows = bs[DifferDraw(s, 2)], columns = bs[DifferDraw(s, 2)];
  PetscBool       fits, unfit;

  fits  = (PetscBool)(A->rmap->n % rows == 0 && A->cmap->n % columns == 0);
  unfit = (PetscBool)!fits;
  PetscCall(DifferOnAll(1, &fits));
  PetscCall(DifferOnAll(1, &unfit));
  if (fits || unfit) PetscCall(MatSetBlockSizes(A, rows, columns));
})

DifferChange(SetNullSpaces, 0, {
  const PetscInt which = DifferDraw(s, 7);

  if (which & 1) PetscCall(MatSetNullSpace(A, s->pool->space));
  if (which & 2) PetscCall(MatSetNearNullSpace(A, s->pool->space));
  if (which & 4) PetscCall(MatSetTransposeNullSpace(A, s->pool->space));
  if (!which) PetscCall(MatSetNearNullSpace(A, NULL));
})

DifferChange(SetNames, 0, {
  static const char *const names[] = {"a", "b", "some matrix"};
  const char              *name    = names[DifferDraw(s, 3)];

  if (DifferDraw(s, 2)) PetscCall(PetscObjectSetName((PetscObject)A, name));
  else PetscCall(MatSetOptionsPrefix(A, *name == 'b' ? NULL : "some_"));
})

DifferChange(Compose, 0, PetscCall(PetscObjectCompose((PetscObject)A, "TestAttached", DifferDraw(s, 3) ? (PetscObject)s->pool->attached : NULL)))

DifferChange(SetMapping, DIFFER_AIJ, {
  for (int r = 0; r < 2; r++) {
    for (int c = 0; c < 2; c++) {
      if (A->rmap->N == s->pool->N[r] && A->cmap->N == s->pool->N[c] && PetscAbs(A->rmap->bs) == s->pool->bs[r] && PetscAbs(A->cmap->bs) == s->pool->bs[c]) {
        PetscCall(MatSetLocalToGlobalMapping(A, s->pool->map[r], s->pool->map[c]));
        PetscFunctionReturn(PETSC_SUCCESS);
      }
    }
  }
})

DifferChange(SetVariableBlockSizes, DIFFER_AIJ | DIFFER_SQUARE, {
  const PetscInt n        = A->rmap->n / 2;
  PetscInt       sizes[2] = {n, A->rmap->n - n};

  PetscCall(MatSetVariableBlockSizes(A, 2, sizes));
})

/* Preallocated once more and filled with a band */
DifferChange(Refill, DIFFER_AIJ | DIFFER_FILLED | DIFFER_SEQ, {
  PetscInt first;
  PetscInt end;
  PetscInt width = 1 + DifferDraw(s, 3);

  PetscCall(MatSeqAIJSetPreallocation(A, width, NULL));
  PetscCall(MatMPIAIJSetPreallocation(A, width, NULL, width, NULL));
  PetscCall(MatGetOwnershipRange(A, &first, &end));
  for (PetscInt i = first; i < end; i++) {
    for (PetscInt k = 0; k < PetscMin(width, A->cmap->N); k++) PetscCall(MatSetValue(A, i, (i + 2 * k) % A->cmap->N, TestNumber(i, k), ADD_VALUES));
  }
  PetscCall(DifferAssemble(A));
})

/* To the preallocation that it had */
DifferChange(ResetPreallocation, DIFFER_AIJ | DIFFER_FILLED | DIFFER_SEQ, {
  PetscInt first;
  PetscInt end;
  PetscInt col = DifferDraw(s, A->cmap->N);

  PetscCall(MatSeqAIJSetPreallocation(A, 2, NULL));
  PetscCall(MatMPIAIJSetPreallocation(A, 2, NULL, 2, NULL));
  PetscCall(MatGetOwnershipRange(A, &first, &end));
  if (end > first) PetscCall(MatSetValue(A, first, col, 1.0, INSERT_VALUES));
  PetscCall(DifferAssemble(A));
  PetscCall(MatResetPreallocation(A));
  if (end > first) PetscCall(MatSetValue(A, first, col, 2.0, INSERT_VALUES));
  PetscCall(DifferAssemble(A));
})

DifferChange(SetTypeAgain, DIFFER_AIJ, {
  PetscMPIInt size;
  char        type[64];

  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
  PetscCall(DifferTypeName(s, 2, type, sizeof(type)));
  if (DifferIsOurs(s, 0)) PetscCall(MatSetType(A, type));
  if (s->side == DIFFER_TEST) PetscCall(TestOnDevice(A, &s->anew));
})

DifferChange(SetFromOptions, DIFFER_AIJ, {
  if (DifferIsOurs(s, 0)) PetscCall(MatSetFromOptions(A));
  if (s->side == DIFFER_TEST) PetscCall(TestOnDevice(A, &s->anew));
})

DifferChange(Bind, 0, PetscCall(MatBindToCPU(A, DifferDraw(s, 2) ? PETSC_TRUE : PETSC_FALSE)))

/* Out of the pool */
DifferChange(Destroy, DIFFER_OPEN, {
  (void)A;
  DifferDrop(s);
})

const DifferOp DifferChanges[] = {
  {"scale",               Scale,                 3},
  {"shift",               Shift,                 2},
  {"zero_entries",        Zero,                  1},
  {"conjugate",           Conjugate,             1},
  {"real_part",           RealPart,              1},
  {"imaginary_part",      ImaginaryPart,         1},
  {"diagonal_scale",      DiagonalScale,         3},
  {"diagonal_set",        DiagonalSet,           2},
  {"zero_rows",           ZeroRows,              3},
  {"zero_rows_is",        ZeroRowsIS,            1},
  {"zero_rows_local",     ZeroRowsLocal,         1},
  {"set_values",          SetValues,             6},
  {"assemble",            Assemble,              1},
  {"set_no_number",       SetNoNumber,           1},
  {"write_array",         WriteArray,            3},
  {"scale_block",         ScaleBlock,            1},
  {"store_values",        StoreValues,           1},
  {"chop",                Chop,                  1},
  {"axpy",                AXPY,                  4},
  {"axpy_same",           AXPYSame,              2},
  {"copy",                CopyOver,              3},
  {"header_replace",      HeaderReplace,         2},
  {"set_option",          SetOption,             5},
  {"set_block_sizes",     SetBlockSizes,         1},
  {"set_null_spaces",     SetNullSpaces,         2},
  {"set_names",           SetNames,              1},
  {"compose",             Compose,               1},
  {"set_mapping",         SetMapping,            1},
  {"set_variable_blocks", SetVariableBlockSizes, 1},
  {"refill",              Refill,                2},
  {"reset_preallocation", ResetPreallocation,    1},
  {"set_type",            SetTypeAgain,          1},
  {"set_from_options",    SetFromOptions,        1},
  {"bind_to_cpu",         Bind,                  1},
  {"destroy",             Destroy,               1},
  {NULL,                  NULL,                  0}
};
