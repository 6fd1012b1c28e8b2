/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Operations that make a matrix of another one: duplicates, transposes, sub-matrices, parts, and conversions
*/
#include "differ.h"
#include <petscdm.h>

/* ------------------------------------------------- whole matrices ------------------------------------------------- */

static PetscErrorCode Duplicate(DifferStep *s)
{
  static const MatDuplicateOption options[] = {MAT_COPY_VALUES, MAT_DO_NOT_COPY_VALUES, MAT_SHARE_NONZERO_PATTERN};
  Mat                             A, B;

  PetscFunctionBeginUser;
  DifferPickOrReturn(s, 0, &A);
  PetscCall(MatDuplicate(A, options[DifferDraw(s, 3)], &B));
  PetscCall(DifferGive(s, DifferIsOurs(s, 0), B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Transpose(DifferStep *s)
{
  Mat A, B;

  PetscFunctionBeginUser;
  DifferPickOrReturn(s, DIFFER_AIJ, &A);
  PetscCall(MatTranspose(A, MAT_INITIAL_MATRIX, &B));
  if (DifferDraw(s, 2)) {
    PetscCall(MatScale(A, DifferNumber(s)));
    PetscCall(MatTranspose(A, MAT_REUSE_MATRIX, &B));
  }
  PetscCall(DifferGive(s, DifferIsOurs(s, 0), B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's matrix of a DMDA loses its grid here and keeps the functions that ask for it: it can be viewed and loaded no more */
static PetscErrorCode TransposeInPlace(DifferStep *s)
{
  Mat A;
  DM  grid;

  PetscFunctionBeginUser;
  DifferPickOrReturn(s, DIFFER_AIJ, &A);
  PetscCall(MatGetDM(A, &grid));
  if (grid) PetscFunctionReturn(PETSC_SUCCESS);
  s->merged = PETSC_TRUE;
  PetscCall(MatTranspose(A, MAT_INPLACE_MATRIX, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Other PETSc types that apply a matrix, made explicit */
static PetscErrorCode Explicit(DifferStep *s)
{
  const PetscInt kind = DifferDraw(s, 3);
  Vec            x, y;
  Mat            A, B;

  PetscFunctionBeginUser;
  DifferPickOrReturn(s, DIFFER_AIJ | DIFFER_FINITE | DIFFER_FILLED, &A);
  if (kind == 0) PetscCall(MatCreateTranspose(A, &B));
  else if (kind == 1) PetscCall(MatCreateNormal(A, &B));
  else PetscCall(MatCreateHermitianTranspose(A, &B));
  PetscCall(MatCreateVecs(B, &x, &y));
  PetscCall(TestVecSet(x, 3));
  PetscCall(MatMult(B, x, y));
  PetscCall(DifferNoteVec(s, "product", y, 100 * (1 + s->pool->pair[s->picks[0]].norm) * (1 + s->pool->pair[s->picks[0]].norm)));
  PetscCall(TestDestroy(&x, &y, &B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- parts ------------------------------------------------- */

/* Own rows: all, every second, none, or in an order that is not increasing */
static PetscErrorCode Part(DifferStep *s, PetscLayout layout, PetscInt bs, PetscBool sorted, IS *is)
{
  const PetscInt kind = DifferDraw(s, sorted ? 4 : 5);
  PetscInt       first, end, n;

  PetscFunctionBeginUser;
  PetscCall(PetscLayoutGetRange(layout, &first, &end));
  n = end - first;
  if (kind == 0 && n % bs == 0 && first % bs == 0) {
    PetscInt *blocks;

    PetscCall(PetscMalloc1(n / bs, &blocks));
    for (PetscInt k = 0; k < n / bs; k++) blocks[k] = first / bs + k;
    PetscCall(ISCreateBlock(layout->comm, bs, n / bs, blocks, PETSC_OWN_POINTER, is));
  } else if (kind <= 1) PetscCall(ISCreateStride(layout->comm, n, first, 1, is));
  else if (kind == 2) PetscCall(ISCreateStride(layout->comm, n / 2, first, 2, is));
  else if (kind == 3) PetscCall(ISCreateStride(layout->comm, n / 3, first + n / 3, 1, is));
  else PetscCall(ISCreateStride(layout->comm, n, end - 1, -1, is));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of own rows and columns; made again only with increasing columns, or PETSc 3.18 is wrong on several processes */
static PetscErrorCode SubMatrix(DifferStep *s)
{
  const PetscBool again = (PetscBool)(DifferDraw(s, 2) == 0);
  IS              rows, cols;
  Mat             A, B;

  PetscFunctionBeginUser;
  DifferPickOrReturn(s, DIFFER_AIJ, &A);
  PetscCall(Part(s, A->rmap, PetscAbs(A->rmap->bs), again, &rows));
  PetscCall(Part(s, A->cmap, PetscAbs(A->cmap->bs), PETSC_TRUE, &cols)); /* decreasing ones make rows that are not sorted, of which hashgemm makes no product */
  PetscCall(MatCreateSubMatrix(A, rows, cols, MAT_INITIAL_MATRIX, &B));
  if (again) {
    PetscCall(MatScale(A, 2.0));
    PetscCall(MatCreateSubMatrix(A, rows, cols, MAT_REUSE_MATRIX, &B));
  }
  PetscCall(TestDestroy(&rows, &cols));
  PetscCall(DifferGive(s, DifferIsOurs(s, 0), B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sequential ones, with rows and columns of all processes */
static PetscErrorCode SubMatrices(DifferStep *s)
{
  const PetscInt n = 1 + DifferDraw(s, 2), again = DifferDraw(s, 2);
  IS             rows[2], cols[2];
  Mat            A, *B;

  PetscFunctionBeginUser;
  DifferPickOrReturn(s, DIFFER_AIJ, &A);
  for (PetscInt k = 0; k < n; k++) {
    const PetscInt stride = 1 + DifferDraw(s, 3);

    PetscCall(ISCreateStride(PETSC_COMM_SELF, A->rmap->N / stride, 0, stride, &rows[k]));
    PetscCall(ISCreateStride(PETSC_COMM_SELF, A->cmap->N / (k + 1), 0, 1, &cols[k]));
  }
  PetscCall(MatCreateSubMatrices(A, n, rows, cols, MAT_INITIAL_MATRIX, &B));
  if (again) {
    PetscCall(MatScale(A, 0.5));
    PetscCall(MatCreateSubMatrices(A, n, rows, cols, MAT_REUSE_MATRIX, &B));
  }
  for (PetscInt k = 0; k < n; k++) {
    PetscCall(DifferNoteMat(s, "sub-matrix", B[k], 0));
    PetscCall(TestDestroy(&rows[k], &cols[k]));
  }
  if (DifferDraw(s, 2)) {
    PetscCall(MatDuplicate(B[0], MAT_COPY_VALUES, &A)); /* transposed in place, the sub-matrix itself keeps a destructor of which MatHeaderMerge() has freed the data */
    PetscCall(DifferGive(s, DifferIsOurs(s, 0), A));
  }
  PetscCall(MatDestroySubMatrices(n, &B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Permute(DifferStep *s)
{
  const PetscInt reverse = DifferDraw(s, 2);
  PetscBool      seq;
  IS             is, cols;
  Mat            A, B;

  PetscFunctionBeginUser;
  DifferPickOrReturn(s, DIFFER_AIJ | DIFFER_SQUARE, &A);
  PetscCall(ISCreateStride(PetscObjectComm((PetscObject)A), A->rmap->n, reverse ? A->rmap->rend - 1 : A->rmap->rstart, reverse ? -1 : 1, &is));
  PetscCall(ISSetPermutation(is));
  PetscCall(ISCreateStride(PetscObjectComm((PetscObject)A), A->cmap->n, A->cmap->rstart, 1, &cols));
  PetscCall(ISSetPermutation(cols));
  PetscCall(MatPermute(A, is, cols, &B));
  PetscCall(TestDestroy(&is, &cols));
  PetscCall(PetscStrbeginswith(((PetscObject)A)->type_name, MATSEQAIJ, &seq));
  PetscCall(DifferGive(s, (PetscBool)(seq && DifferIsOurs(s, 0)), B)); /* PETSc fixes the type of that of an MPI matrix */
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Redundant(DifferStep *s)
{
  PetscMPIInt size;
  Mat         A, B;

  PetscFunctionBeginUser;
  DifferPickOrReturn(s, DIFFER_AIJ | DIFFER_FILLED | DIFFER_SQUARE, &A);
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
  PetscCall(MatCreateRedundantMatrix(A, size, MPI_COMM_NULL, MAT_INITIAL_MATRIX, &B));
  if (DifferDraw(s, 2)) {
    PetscCall(MatScale(A, -1.0));
    PetscCall(MatCreateRedundantMatrix(A, size, MPI_COMM_NULL, MAT_REUSE_MATRIX, &B));
  }
  if (B == A) PetscCall(MatDestroy(&B));
  else PetscCall(DifferGive(s, DifferIsOurs(s, 0), B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DiagonalBlock(DifferStep *s)
{
  Mat A, B;

  PetscFunctionBeginUser;
  DifferPickOrReturn(s, DIFFER_AIJ | DIFFER_SQUARE, &A);
  PetscCall(MatGetDiagonalBlock(A, &B));
  if (B == A) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DifferNoteMat(s, "diagonal block", B, 0));
  PetscCall(MatDuplicate(B, MAT_COPY_VALUES, &A));
  PetscCall(DifferGive(s, DifferIsOurs(s, 0), A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LocalSubMatrix(DifferStep *s)
{
  PetscInt    n[2];
  PetscScalar v[2] = {1.5, 2.5};
  PetscInt    zero = 0;
  IS          is[2];
  Mat         A, B;

  PetscFunctionBeginUser;
  DifferPickOrReturn(s, DIFFER_AIJ | DIFFER_MAPPED | DIFFER_FILLED, &A);
  PetscCall(ISLocalToGlobalMappingGetSize(A->rmap->mapping, &n[0]));
  PetscCall(ISLocalToGlobalMappingGetSize(A->cmap->mapping, &n[1]));
  for (int k = 0; k < 2; k++) PetscCall(ISCreateStride(PETSC_COMM_SELF, n[k], 0, 1, &is[k]));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatGetLocalSubMatrix(A, is[0], is[1], &B));
  PetscCall(DifferAgree(n[0] && n[1] ? MatSetValuesLocal(B, 1, &zero, 1, &zero, v, ADD_VALUES) : PETSC_SUCCESS));
  PetscCall(DifferAssemble(B));
  PetscCall(MatRestoreLocalSubMatrix(A, is[0], is[1], &B));
  PetscCall(DifferAssemble(A));
  for (int k = 0; k < 2; k++) PetscCall(ISDestroy(&is[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows of a process as one sequential matrix */
static PetscErrorCode LocalMatrix(DifferStep *s)
{
  PetscBool mpi;
  Mat       A, B;

  PetscFunctionBeginUser;
  DifferPickOrReturn(s, DIFFER_AIJ, &A);
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &mpi));
  if (!mpi) PetscFunctionReturn(PETSC_SUCCESS);
  if (DifferDraw(s, 2)) {
    PetscCall(MatMPIAIJGetLocalMat(A, MAT_INITIAL_MATRIX, &B));
    PetscCall(MatScale(A, 2.0));
    PetscCall(MatMPIAIJGetLocalMat(A, MAT_REUSE_MATRIX, &B));
  } else PetscCall(MatMPIAIJGetLocalMatMerge(A, MAT_INITIAL_MATRIX, NULL, &B));
  PetscCall(DifferNoteMat(s, "local matrix", B, 0));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SubMatrixVirtual(DifferStep *s)
{
  PetscInt  n[2];
  PetscBool whole;
  IS        rows, cols;
  Vec       x, y;
  Mat       A, B;

  PetscFunctionBeginUser;
  DifferPickOrReturn(s, DIFFER_AIJ | DIFFER_FINITE, &A);
  PetscCall(Part(s, A->rmap, 1, PETSC_TRUE, &rows));
  PetscCall(Part(s, A->cmap, 1, PETSC_TRUE, &cols));
  PetscCall(ISGetLocalSize(rows, &n[0]));
  PetscCall(ISGetLocalSize(cols, &n[1]));
  whole = (PetscBool)(n[0] % PetscAbs(A->rmap->bs) == 0 && n[1] % PetscAbs(A->cmap->bs) == 0);
  PetscCall(DifferOnAll(1, &whole));
  if (!whole) { /* the sub-matrix takes the block sizes over, and a part of a block is an error of single processes */
    PetscCall(TestDestroy(&rows, &cols));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatCreateSubMatrixVirtual(A, rows, cols, &B));
  PetscCall(MatCreateVecs(B, &x, &y));
  PetscCall(TestVecSet(x, 5));
  PetscCall(MatMult(B, x, y));
  PetscCall(DifferNoteVec(s, "product", y, 100 * (1 + s->pool->pair[s->picks[0]].norm)));
  PetscCall(TestDestroy(&x, &y, &B, &rows, &cols));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const DifferOp DifferDerivations[] = {
  {"duplicate",          Duplicate,        4},
  {"transpose",          Transpose,        3},
  {"transpose_in_place", TransposeInPlace, 2},
  {"explicit",           Explicit,         1},
  {"sub_matrix",         SubMatrix,        3},
  {"sub_matrices",       SubMatrices,      2},
  {"permute",            Permute,          1},
  {"redundant",          Redundant,        1},
  {"diagonal_block",     DiagonalBlock,    1},
  {"local_sub_matrix",   LocalSubMatrix,   1},
  {"local_matrix",       LocalMatrix,      1},
  {"sub_matrix_virtual", SubMatrixVirtual, 1},
  {NULL,                 NULL,             0}
};

/* ------------------------------------------------- conversions ------------------------------------------------- */

/* A new matrix, in place, or into an old one that a conversion before other values made */
static PetscErrorCode ConvertTo(DifferStep *s, Mat A, const char type[], PetscBool ours, PetscInt how)
{
  PetscBool root;
  Mat       B;

  PetscFunctionBeginUser;
  s->retyped = PETSC_TRUE;
  PetscCall(PetscStrcmp(type, MATAIJ, &root));
  if (root && s->side == DIFFER_REFERENCE && DifferIsAIJ(A) && !DifferIsPlain()) type = ((PetscObject)A)->type_name; /* told "aij", an AIJ copies less of itself than told "seqaij" */
  if (how == 1) {
    const PetscBool3 symmetric = A->symmetric, structurally = A->structurally_symmetric, hermitian = A->hermitian;

    PetscCall(MatConvert(A, type, MAT_INPLACE_MATRIX, &A));
    if (symmetric == PETSC_BOOL3_FALSE) { /* PETSc 3.18 promises that such a matrix is symmetric now, unless it had that type already, which the type under test has not */
      A->symmetric              = symmetric;
      A->structurally_symmetric = structurally;
      A->hermitian              = hermitian;
    }
    s->pool->pair[s->picks[0]].ours = ours;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (DifferTakesApart(type)) DifferTakeApart(s);
  PetscCall(MatConvert(A, type, MAT_INITIAL_MATRIX, &B));
  if (how == 2) {
    PetscCall(MatScale(A, 2.0));
    PetscCall(MatConvert(A, type, MAT_REUSE_MATRIX, &B));
  }
  PetscCall(DifferGive(s, ours, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* To the type under test, by its root name, or the sequential or MPI one: also from that of the other kind, where PETSc says what becomes of it */
static PetscErrorCode ConvertOurs(DifferStep *s)
{
  const PetscInt kind = DifferDraw(s, 4);
  char           type[64];
  Mat            A;

  PetscFunctionBeginUser;
  DifferPickOrReturn(s, 0, &A);
  PetscCall(DifferTypeName(s, (int)PetscMin(kind, 2), type, sizeof(type)));
  PetscCall(ConvertTo(s, A, type, PETSC_TRUE, DifferDraw(s, 2)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ConvertPlain(DifferStep *s)
{
  static const char *const types[] = {MATAIJ, MATSEQAIJ, MATMPIAIJ};
  Mat                      A;

  PetscFunctionBeginUser;
  DifferPickOrReturn(s, 0, &A);
  PetscCall(ConvertTo(s, A, types[DifferDraw(s, 3)], PETSC_FALSE, DifferDraw(s, 2)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ConvertSame(DifferStep *s)
{
  Mat A;

  PetscFunctionBeginUser;
  DifferPickOrReturn(s, DIFFER_AIJ, &A);
  PetscCall(ConvertTo(s, A, MATSAME, DifferIsOurs(s, 0), 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* To another type and back to the one under test; not into an old SBAIJ, where PETSc 3.18 itself is wrong */
static PetscErrorCode ConvertThereAndBack(DifferStep *s)
{
  static const char *const types[] = {MATDENSE, MATBAIJ, MATIS, MATSELL, MATAIJPERM, MATSEQAIJ, MATMPIAIJ};
  const char              *type    = types[DifferDraw(s, (PetscInt)PETSC_STATIC_ARRAY_LENGTH(types))];
  char                     back[64];
  PetscBool                can;
  Mat                      A, B;

  PetscFunctionBeginUser;
  DifferPickOrReturn(s, DIFFER_AIJ, &A);
  s->retyped = PETSC_TRUE;
  PetscCall(DifferCanConvert(A, type, &can));
  if (!can) PetscFunctionReturn(PETSC_SUCCESS);
  if (DifferForAIJ() && strcmp(type, MATAIJPERM) == 0) PetscFunctionReturn(PETSC_SUCCESS); /* PETSc's way back has no assembly, at which petsc-amb could take the matrix over */
  if (DifferTakesApart(type)) DifferTakeApart(s);
  PetscCall(MatConvert(A, type, MAT_INITIAL_MATRIX, &B));
  PetscCall(DifferTypeName(s, 2, back, sizeof(back)));
  PetscCall(MatConvert(B, back, MAT_INPLACE_MATRIX, &B));
  PetscCall(DifferGive(s, PETSC_TRUE, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Dense matrices stay in the pool, as operands and for conversions from them */
static PetscErrorCode ConvertDense(DifferStep *s)
{
  Mat A;

  PetscFunctionBeginUser;
  DifferPickOrReturn(s, DIFFER_AIJ | DIFFER_FINITE, &A);
  PetscCall(ConvertTo(s, A, MATDENSE, PETSC_FALSE, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ConvertBlocks(DifferStep *s)
{
  PetscBool can;
  Mat       A;

  PetscFunctionBeginUser;
  DifferPickOrReturn(s, DIFFER_AIJ | DIFFER_FILLED, &A);
  PetscCall(DifferCanConvert(A, MATBAIJ, &can));
  if (can) PetscCall(ConvertTo(s, A, MATBAIJ, PETSC_FALSE, DifferDraw(s, 2)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Matrices of no stored entries */
static PetscErrorCode ConvertShell(DifferStep *s)
{
  Vec x, y;
  Mat A, B;

  PetscFunctionBeginUser;
  DifferPickOrReturn(s, DIFFER_AIJ | DIFFER_FINITE, &A);
  PetscCall(MatConvert(A, MATSHELL, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatCreateVecs(B, &x, &y));
  PetscCall(TestVecSet(x, 2));
  PetscCall(MatMult(B, x, y));
  PetscCall(DifferNoteVec(s, "product", y, 100 * (1 + s->pool->pair[s->picks[0]].norm)));
  PetscCall(TestDestroy(&x, &y, &B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const DifferOp DifferConversions[] = {
  {"convert_ours",           ConvertOurs,         3},
  {"convert_plain",          ConvertPlain,        2},
  {"convert_same",           ConvertSame,         1},
  {"convert_there_and_back", ConvertThereAndBack, 2},
  {"convert_dense",          ConvertDense,        1},
  {"convert_baij",           ConvertBlocks,       1},
  {"convert_shell",          ConvertShell,        1},
  {NULL,                     NULL,                0}
};
