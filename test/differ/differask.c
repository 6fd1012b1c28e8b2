/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Operations that ask a matrix for something and do not change it
*/
#include "differ.h"

/* ------------------------------------------------- products with vectors ------------------------------------------------- */

static PetscReal Size(const DifferStep *s)
{
  return 100 * (1 + s->pool->pair[s->picks[0]].norm);
}

/* Every product with vectors, in place or not; x may hold what is no number */
static PetscErrorCode Mult(DifferStep *s)
{
  const PetscInt kind = DifferDraw(s, 8), odd = DifferDraw(s, 6), alias = DifferDraw(s, 2), times = 1 + DifferDraw(s, 3);
  Vec            x, y, w, z;
  PetscBool      transposed = (PetscBool)(kind == 2 || kind == 3 || kind == 6 || kind == 7);
  Mat            A;

  PetscFunctionBeginUser;
  DifferPickOrReturn(s, DIFFER_AIJ | DIFFER_FINITE, &A);
  PetscCall(MatCreateVecs(A, transposed ? &y : &x, transposed ? &x : &y));
  PetscCall(VecDuplicate(y, &w));
  PetscCall(VecDuplicate(y, &z));
  for (PetscInt k = 0; k < times; k++) {
    PetscCall(TestVecSet(x, k));
    PetscCall(TestVecSet(w, k + 5));
    if (odd == 0) { /* of the first process alone, which has one at least if there are any */
      PetscInt n;

      PetscCall(VecGetLocalSize(x, &n));
      if (n) {
        PetscScalar *a;

        PetscCall(VecGetArray(x, &a));
        a[n / 2] = k ? (PetscReal)INFINITY : (PetscReal)NAN;
        PetscCall(VecRestoreArray(x, &a));
      }
    }
    if (kind == 0) PetscCall(MatMult(A, x, y));
    else if (kind == 1) PetscCall(MatMultAdd(A, x, w, alias ? w : z));
    else if (kind == 2) PetscCall(MatMultTranspose(A, x, y));
    else if (kind == 3) PetscCall(MatMultTransposeAdd(A, x, w, alias ? w : z));
    else if (kind == 4) PetscCall(MatResidual(A, w, x, y));
    else if (kind == 5) PetscCall(MatMult(A, x, y));
    else if (kind == 6) PetscCall(MatMultHermitianTranspose(A, x, y));
    else PetscCall(MatMultHermitianTransposeAdd(A, x, w, z));
    PetscCall(DifferNoteVec(s, "product with a vector", kind == 1 || kind == 3 ? (alias ? w : z) : kind == 7 ? z : y, Size(s)));
  }
  PetscCall(TestDestroy(&x, &y, &w, &z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Many products: a format may choose itself only then */
static PetscErrorCode ManyMults(DifferStep *s)
{
  Vec x, y;
  Mat A;

  PetscFunctionBeginUser;
  DifferPickOrReturn(s, DIFFER_AIJ | DIFFER_FINITE, &A);
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(TestVecSet(x, 4));
  for (int k = 0; k < 50; k++) PetscCall(MatMult(A, x, y));
  PetscCall(DifferNoteVec(s, "product with a vector", y, Size(s)));
  PetscCall(TestDestroy(&x, &y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Interpolate(DifferStep *s)
{
  Vec x, y;
  Mat A;

  PetscFunctionBeginUser;
  DifferPickOrReturn(s, DIFFER_AIJ | DIFFER_FINITE, &A);
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(TestVecSet(x, 6));
  PetscCall(MatInterpolate(A, x, y));
  PetscCall(DifferNoteVec(s, "interpolation", y, Size(s)));
  PetscCall(TestVecSet(y, 7));
  PetscCall(MatRestrict(A, y, x));
  PetscCall(DifferNoteVec(s, "restriction", x, Size(s)));
  PetscCall(TestDestroy(&x, &y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Vectors(DifferStep *s)
{
  Vec      v[2];
  VecType  type;
  PetscInt bs, n, N;
  Mat      A;

  PetscFunctionBeginUser;
  DifferPickOrReturn(s, DIFFER_OPEN, &A);
  PetscCall(MatCreateVecs(A, &v[0], &v[1]));
  for (int k = 0; k < 2; k++) {
    char name[64], *cuda;

    PetscCall(VecGetType(v[k], &type));
    PetscCall(PetscStrncpy(name, type, sizeof(name)));
    if ((cuda = strstr(name, VECCUDA)) != NULL) *cuda = 0; /* where the matrix lives is another matter */
    DifferNoteText(s, "type of a vector", name);
    PetscCall(VecGetBlockSize(v[k], &bs));
    PetscCall(VecGetLocalSize(v[k], &n));
    PetscCall(VecGetSize(v[k], &N));
    DifferNoteInt(s, "block size of a vector", bs);
    DifferNoteInt(s, "local size of a vector", n);
    DifferNoteInt(s, "size of a vector", N);
    PetscCall(VecDestroy(&v[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- figures ------------------------------------------------- */

static PetscErrorCode Diagonal(DifferStep *s)
{
  PetscBool compressed;
  Vec       v;
  Mat       A;

  PetscFunctionBeginUser;
  DifferPickOrReturn(s, DIFFER_AIJ | DIFFER_SQUARE, &A);
  PetscCall(DifferIsCompressed(A, &compressed));
  if (compressed) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatCreateVecs(A, NULL, &v));
  PetscCall(MatGetDiagonal(A, v));
  PetscCall(DifferNoteVec(s, "diagonal", v, 0));
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc reads no entry of a row without columns, and one all the same if the matrix has none: DIFFER_FILLED */
static PetscErrorCode Rows(DifferStep *s)
{
  const PetscInt kind = DifferDraw(s, 5);
  PetscInt      *positions;
  Vec            v;
  Mat            A;

  PetscFunctionBeginUser;
  DifferPickOrReturn(s, DIFFER_AIJ | DIFFER_FILLED | DIFFER_FINITE, &A);
  PetscCall(MatCreateVecs(A, NULL, &v));
  PetscCall(PetscCalloc1(A->rmap->n, &positions));
  if (kind == 0) PetscCall(MatGetRowMax(A, v, positions));
  else if (kind == 1) PetscCall(MatGetRowMin(A, v, positions));
  else if (kind == 2) PetscCall(MatGetRowMaxAbs(A, v, positions));
  else if (kind == 3) PetscCall(MatGetRowMinAbs(A, v, positions));
  else PetscCall(MatGetRowSum(A, v));
  PetscCall(DifferNoteVec(s, "figures of rows", v, kind == 4 ? Size(s) : 0));
  for (PetscInt k = 0; k < A->rmap->n; k++) DifferNoteInt(s, "place in a row", positions[k]);
  PetscCall(PetscFree(positions));
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Norms(DifferStep *s)
{
  static const NormType types[] = {NORM_1, NORM_FROBENIUS, NORM_INFINITY};
  PetscReal             norm;
  PetscScalar           trace;
  PetscBool             compressed;
  Mat                   A;

  PetscFunctionBeginUser;
  DifferPickOrReturn(s, DIFFER_AIJ, &A);
  for (int k = 0; k < 3; k++) {
    PetscCall(MatNorm(A, types[k], &norm));
    DifferNoteScalar(s, "norm", norm, norm);
  }
  PetscCall(DifferIsCompressed(A, &compressed));
  if (!DifferSameLayout(A->rmap, A->cmap) || compressed) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetTrace(A, &trace));
  DifferNoteScalar(s, "trace", trace, Size(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Columns(DifferStep *s)
{
  static const NormType types[] = {NORM_1, NORM_2, NORM_INFINITY};
  PetscReal            *norms;
  PetscInt              N;
  Mat                   A;

  PetscFunctionBeginUser;
  DifferPickOrReturn(s, DIFFER_AIJ | DIFFER_FINITE, &A);
  PetscCall(MatGetSize(A, NULL, &N));
  PetscCall(PetscMalloc1(N, &norms));
  PetscCall(MatGetColumnNorms(A, types[DifferDraw(s, 3)], norms));
  for (PetscInt k = 0; k < N; k++) DifferNoteScalar(s, "norm of a column", norms[k], norms[k]);
  PetscCall(PetscFree(norms));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A figure that AIJ and its subtypes have in common: memory, where formats differ, is not compared */
static PetscErrorCode Info(DifferStep *s)
{
  static const MatInfoType types[] = {MAT_LOCAL, MAT_GLOBAL_MAX, MAT_GLOBAL_SUM};
  MatInfo                  info;
  Mat                      A;

  PetscFunctionBeginUser;
  DifferPickOrReturn(s, DIFFER_AIJ, &A);
  for (int k = 0; k < 3; k++) {
    PetscCall(MatGetInfo(A, types[k], &info));
    DifferNoteScalar(s, "block size", info.block_size, 0);
    DifferNoteScalar(s, "entries", info.nz_used, 0);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Flags(DifferStep *s)
{
  PetscBool known, flag;
  Mat       A;

  PetscFunctionBeginUser;
  DifferPickOrReturn(s, DIFFER_AIJ, &A);
  PetscCall(MatIsSymmetricKnown(A, &known, &flag));
  DifferNoteInt(s, "symmetric", known ? 1 + flag : 0);
  PetscCall(MatIsHermitianKnown(A, &known, &flag));
  DifferNoteInt(s, "hermitian", known ? 1 + flag : 0);
  PetscCall(MatIsStructurallySymmetricKnown(A, &known, &flag));
  DifferNoteInt(s, "structurally symmetric", known ? 1 + flag : 0);
  PetscCall(MatIsSPDKnown(A, &known, &flag));
  DifferNoteInt(s, "positive definite", known ? 1 + flag : 0);
  for (int k = 0; k < 80; k++) {                                        /* those of products come and go with the algorithm */
    if (k == MATOP_CONVERT_FROM || k == MATOP_COLORING_PATCH) continue; /* petsc-amb's own, and one that a coloring leaves */
    PetscCall(MatHasOperation(A, (MatOperation)k, &flag));
    DifferNoteInt(s, "an operation", 1000 * k + flag);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode IsSymmetric(DifferStep *s)
{
  PetscBool flag;
  Mat       A;

  PetscFunctionBeginUser;
  DifferPickOrReturn(s, DIFFER_AIJ | DIFFER_SQUARE | DIFFER_FINITE, &A);
  PetscCall(MatIsSymmetric(A, 0.0, &flag));
  DifferNoteInt(s, "symmetric", flag);
  PetscCall(MatIsHermitian(A, 0.0, &flag));
  DifferNoteInt(s, "hermitian", flag);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Equal(DifferStep *s)
{
  PetscBool flag;
  Mat       A, B;

  PetscFunctionBeginUser;
  DifferPickOrReturn(s, DIFFER_AIJ | DIFFER_FINITE, &A);
  DifferPickOrReturn(s, DIFFER_AIJ | DIFFER_FINITE | DIFFER_ROWS_ROWS | DIFFER_COLS_COLS, &B);
  if (DifferIsOurs(s, 0) != DifferIsOurs(s, 1)) PetscFunctionReturn(PETSC_SUCCESS); /* PETSc compares matrices of one type */
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &flag));
  if (flag) { /* another number of columns of the block beside the diagonal is an error of single processes */
    Mat block[2];

    PetscCall(MatMPIAIJGetSeqAIJ(A, NULL, &block[0], NULL));
    PetscCall(MatMPIAIJGetSeqAIJ(B, NULL, &block[1], NULL));
    flag = (PetscBool)(block[0]->cmap->n == block[1]->cmap->n);
    PetscCall(DifferOnAll(1, &flag));
    if (!flag) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatEqual(A, B, &flag));
  DifferNoteInt(s, "equal", flag);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RowIJ(DifferStep *s)
{
  const PetscInt *ia, *ja, shift = DifferDraw(s, 2), symmetric = DifferDraw(s, 2);
  PetscInt        n;
  PetscBool       done;
  Mat             A;

  PetscFunctionBeginUser;
  DifferPickOrReturn(s, DIFFER_AIJ | DIFFER_SEQ | DIFFER_SQUARE, &A);
  PetscCall(MatGetRowIJ(A, shift, symmetric ? PETSC_TRUE : PETSC_FALSE, PETSC_FALSE, &n, &ia, &ja, &done));
  DifferNoteInt(s, "done", done);
  if (!done) PetscFunctionReturn(PETSC_SUCCESS);
  DifferNoteInt(s, "rows", n);
  for (PetscInt k = 0; k < n; k++) DifferNoteInt(s, "begin of a row", ia[k]);
  for (PetscInt k = 0; k < ia[n] - shift; k++) DifferNoteInt(s, "column", ja[k]);
  PetscCall(MatRestoreRowIJ(A, shift, symmetric ? PETSC_TRUE : PETSC_FALSE, PETSC_FALSE, &n, &ia, &ja, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GetValues(DifferStep *s)
{
  PetscInt    first, end, rows[2], cols[3];
  PetscScalar v[6];
  Mat         A;

  PetscFunctionBeginUser;
  DifferPickOrReturn(s, DIFFER_AIJ | DIFFER_FILLED, &A);
  PetscCall(MatGetOwnershipRange(A, &first, &end));
  for (PetscInt k = 0; k < 2; k++) rows[k] = end > first ? first + (k * 3) % (end - first) : -1;
  for (PetscInt k = 0; k < 3; k++) cols[k] = DifferDraw(s, A->cmap->N);
  PetscCall(PetscArrayzero(v, 6));
  PetscCall(MatGetValues(A, 2, rows, 3, cols, v));
  for (PetscInt k = 0; k < 6; k++) DifferNoteScalar(s, "value", v[k], 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Arrays(DifferStep *s)
{
  const PetscScalar *a;
  const PetscInt    *map = NULL;
  PetscBool          mpi;
  PetscInt           n;
  MatInfo            info;
  Mat                A, block[2] = {NULL, NULL};

  PetscFunctionBeginUser;
  DifferPickOrReturn(s, DIFFER_AIJ, &A);
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &mpi));
  block[0] = A;
  if (mpi) PetscCall(MatMPIAIJGetSeqAIJ(A, &block[0], &block[1], &map));
  for (int b = 0; b < 2 && block[b]; b++) {
    PetscCall(MatGetInfo(block[b], MAT_LOCAL, &info));
    PetscCall(MatSeqAIJGetArrayRead(block[b], &a));
    for (PetscInt k = 0; k < (PetscInt)info.nz_used; k++) DifferNoteScalar(s, "entry of an array", a[k], 0);
    PetscCall(MatSeqAIJRestoreArrayRead(block[b], &a));
    DifferNoteInt(s, "rows of a block", block[b]->rmap->n);
    DifferNoteInt(s, "columns of a block", block[b]->cmap->n);
  }
  if (!mpi) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetLocalSize(block[1], NULL, &n));
  for (PetscInt k = 0; k < n; k++) DifferNoteInt(s, "column of the other block", map[k]);
  PetscCall(MatGetGhosts(A, &n, &map));
  for (PetscInt k = 0; k < n; k++) DifferNoteInt(s, "ghost", map[k]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ZeroDiagonals(DifferStep *s)
{
  IS  is;
  Mat A;

  PetscFunctionBeginUser;
  DifferPickOrReturn(s, DIFFER_AIJ | DIFFER_SQUARE, &A);
  if (DifferDraw(s, 2)) PetscCall(MatFindZeroDiagonals(A, &is));
  else PetscCall(MatFindNonzeroRows(A, &is));
  if (is) PetscCall(DifferNoteIS(s, "rows found", is));
  PetscCall(ISDestroy(&is));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* QMD has no end on a graph whose symmetry was promised and is not there */
static PetscErrorCode Ordering(DifferStep *s)
{
  static const MatOrderingType types[] = {MATORDERINGNATURAL, MATORDERINGND, MATORDERINGRCM, MATORDERINGQMD};
  MatOrderingType              type;
  IS                           rows, cols;
  Mat                          A;

  PetscFunctionBeginUser;
  DifferPickOrReturn(s, DIFFER_AIJ | DIFFER_SEQ | DIFFER_SQUARE | DIFFER_FILLED, &A);
  type = types[DifferDraw(s, 4)];
  if (type == types[3] && (A->symmetric == PETSC_BOOL3_TRUE || A->structurally_symmetric == PETSC_BOOL3_TRUE)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetOrdering(A, type, &rows, &cols));
  PetscCall(DifferNoteIS(s, "ordering", rows));
  PetscCall(TestDestroy(&rows, &cols));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Overlap(DifferStep *s)
{
  IS  is;
  Mat A;

  PetscFunctionBeginUser;
  DifferPickOrReturn(s, DIFFER_AIJ | DIFFER_SQUARE | DIFFER_FILLED, &A);
  PetscCall(ISCreateStride(PETSC_COMM_SELF, A->rmap->n, A->rmap->rstart, 1, &is));
  PetscCall(MatIncreaseOverlap(A, 1, &is, 1 + DifferDraw(s, 2)));
  PetscCall(ISSort(is));
  PetscCall(DifferNoteIS(s, "overlap", is));
  PetscCall(ISDestroy(&is));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With several processes, PETSc 3.18's greedy coloring writes outside of its memory */
static PetscErrorCode Coloring(DifferStep *s)
{
  MatColoring mc;
  ISColoring  colors;
  PetscInt    n;
  IS         *is;
  Mat         A;

  PetscFunctionBeginUser;
  DifferPickOrReturn(s, DIFFER_AIJ | DIFFER_SEQ | DIFFER_SQUARE | DIFFER_FILLED, &A);
  PetscCall(MatColoringCreate(A, &mc));
  PetscCall(MatColoringSetType(mc, MATCOLORINGGREEDY));
  PetscCall(MatColoringApply(mc, &colors));
  PetscCall(ISColoringGetIS(colors, PETSC_USE_POINTER, &n, &is));
  DifferNoteInt(s, "colours", n);
  for (PetscInt k = 0; k < n; k++) PetscCall(DifferNoteIS(s, "colour", is[k]));
  PetscCall(ISColoringRestoreIS(colors, PETSC_USE_POINTER, &is));
  PetscCall(ISColoringDestroy(&colors));
  PetscCall(MatColoringDestroy(&mc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* As text; a name given first, or PETSc counts */
static PetscErrorCode View(DifferStep *s)
{
  static const PetscViewerFormat formats[] = {PETSC_VIEWER_DEFAULT, PETSC_VIEWER_ASCII_INFO, PETSC_VIEWER_ASCII_MATLAB, PETSC_VIEWER_ASCII_COMMON, PETSC_VIEWER_ASCII_DENSE};
  const PetscViewerFormat        format    = formats[DifferDraw(s, 5)];
  char                           path[PETSC_MAX_PATH_LEN], *text;
  PetscViewer                    viewer;
  PetscMPIInt                    rank;
  Mat                            A;

  PetscFunctionBeginUser;
  DifferPickOrReturn(s, DIFFER_AIJ, &A);
  if (!((PetscObject)A)->name) PetscCall(PetscObjectSetName((PetscObject)A, "seen"));
  PetscCall(TestTemporaryFile(path, sizeof(path)));
  PetscCall(PetscViewerASCIIOpen(PETSC_COMM_WORLD, path, &viewer));
  PetscCall(PetscViewerPushFormat(viewer, format));
  PetscCall(MatView(A, viewer));
  PetscCall(PetscViewerPopFormat(viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (!rank) {
    FILE *file = fopen(path, "r");
    long  length;

    PetscCheck(file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "%s", path);
    (void)fseek(file, 0, SEEK_END);
    length = ftell(file);
    rewind(file);
    PetscCall(PetscCalloc1(length + 1, &text));
    text[fread(text, 1, (size_t)length, file)] = 0;
    fclose(file);
    PetscCall(DifferNoteLines(s, "view", text, 0));
    PetscCall(PetscFree(text));
  }
  PetscCall(TestRemoveFile(path));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const DifferOp DifferQuestions[] = {
  {"mult",           Mult,          6},
  {"many_mults",     ManyMults,     2},
  {"interpolate",    Interpolate,   1},
  {"vectors",        Vectors,       2},
  {"diagonal",       Diagonal,      1},
  {"rows",           Rows,          1},
  {"norms",          Norms,         1},
  {"columns",        Columns,       1},
  {"info",           Info,          1},
  {"flags",          Flags,         1},
  {"is_symmetric",   IsSymmetric,   1},
  {"equal",          Equal,         1},
  {"row_ij",         RowIJ,         1},
  {"get_values",     GetValues,     1},
  {"arrays",         Arrays,        1},
  {"zero_diagonals", ZeroDiagonals, 1},
  {"ordering",       Ordering,      1},
  {"overlap",        Overlap,       1},
  {"coloring",       Coloring,      1},
  {"view",           View,          1},
  {NULL,             NULL,          0}
};
