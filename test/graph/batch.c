/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "MatBatch: products of batches of small sparse matrices with dense matrices, against plain loops; rows, entries and matrices as input, new values, the same bits, errors.\n";

#include "../testutil.h"
#include "sys/systhreads.h"

/* A batch as plain arrays: the entries of all matrices, in any order and repeated, or in rows */
typedef struct {
  PetscInt     nmat, M, N, nz;
  PetscInt    *m, *n, *nentry, *row, *col; /* of each matrix: sizes, entries, first row and column in the batch */
  PetscInt    *i, *j, *pointer;            /* of each entry: row and column in its matrix; where the rows begin */
  PetscScalar *a;
} Batch;

/* Matrices of 0 to 40 rows and columns, with 0 to 5 entries a row; some matrices are empty, one is large and one has a full row */
static PetscErrorCode BatchCreate(PetscInt nmat, PetscInt seed, Batch *B)
{
  PetscInt most = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(B, sizeof(*B)));
  B->nmat = nmat;
  PetscCall(PetscMalloc5(nmat, &B->m, nmat, &B->n, nmat, &B->nentry, nmat + 1, &B->row, nmat + 1, &B->col));
  B->row[0] = B->col[0] = 0;
  for (PetscInt b = 0; b < nmat; b++) {
    B->m[b] = b % 7 == 3 ? 0 : b == 5 ? 300 : TestInteger(b, seed, 41);
    B->n[b] = b % 7 == 4 ? 0 : b == 5 ? 200 : TestInteger(b, seed + 1, 41);
    most += B->m[b] * 6 + B->n[b];
    B->row[b + 1] = B->row[b] + B->m[b];
    B->col[b + 1] = B->col[b] + B->n[b];
  }
  B->M = B->row[nmat];
  B->N = B->col[nmat];
  PetscCall(PetscMalloc4(most, &B->i, most, &B->j, most, &B->a, B->M + 1, &B->pointer));
  for (PetscInt b = 0; b < nmat; b++) {
    const PetscInt before = B->nz;

    for (PetscInt r = 0; r < B->m[b]; r++) {
      const PetscInt count = !B->n[b] ? 0 : b == 5 && r == 17 ? B->n[b] : TestInteger(r, b + seed, 6);

      B->pointer[B->row[b] + r] = B->nz;
      for (PetscInt k = 0; k < count; k++, B->nz++) { /* in no order, and repeated now and then */
        B->i[B->nz] = r;
        B->j[B->nz] = count == B->n[b] ? k : TestInteger(k + 3 * r, b + seed, B->n[b]);
        B->a[B->nz] = TestNumber(B->nz, seed);
      }
    }
    B->nentry[b] = B->nz - before;
  }
  B->pointer[B->M] = B->nz;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BatchDestroy(Batch *B)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree5(B->m, B->n, B->nentry, B->row, B->col));
  PetscCall(PetscFree4(B->i, B->j, B->a, B->pointer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The entries of each matrix in another order: every third one first */
static PetscErrorCode BatchMix(Batch *B)
{
  PetscInt    *i, *j;
  PetscScalar *a;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc3(B->nz, &i, B->nz, &j, B->nz, &a));
  for (PetscInt b = 0, first = 0; b < B->nmat; first += B->nentry[b++]) {
    PetscInt to = first;

    for (PetscInt s = 0; s < 3; s++) {
      for (PetscInt k = first + (s + 2) % 3; k < first + B->nentry[b]; k += 3) {
        i[to]   = B->i[k];
        j[to]   = B->j[k];
        a[to++] = B->a[k];
      }
    }
  }
  PetscCall(PetscArraycpy(B->i, i, B->nz));
  PetscCall(PetscArraycpy(B->j, j, B->nz));
  PetscCall(PetscArraycpy(B->a, a, B->nz));
  PetscCall(PetscFree3(i, j, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef enum {
  ROWS,
  ENTRIES,
  MATS
} Input;

/* Makes the batch from rows, or from entries in another order, or from matrices */
static PetscErrorCode BatchMake(Input input, Batch *B, MatBatch *batch)
{
  PetscInt *i, *j;
  Mat      *mats;

  PetscFunctionBeginUser;
  if (input == ROWS) {
    PetscCall(MatBatchCreateCSR(PETSC_COMM_SELF, B->nmat, B->m, B->n, B->pointer, B->j, B->a, batch));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(BatchMix(B));
  if (input == ENTRIES) {
    PetscCall(MatBatchCreateCOO(PETSC_COMM_SELF, B->nmat, B->m, B->n, B->nentry, B->i, B->j, B->a, batch));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscMalloc3(B->nmat, &mats, B->nz, &i, B->nz, &j)); /* PETSc may change arrays that it is given */
  PetscCall(PetscArraycpy(i, B->i, B->nz));
  PetscCall(PetscArraycpy(j, B->j, B->nz));
  for (PetscInt b = 0, first = 0; b < B->nmat; first += B->nentry[b++]) {
    PetscCall(MatCreate(PETSC_COMM_SELF, &mats[b]));
    PetscCall(MatSetSizes(mats[b], B->m[b], B->n[b], B->m[b], B->n[b]));
    PetscCall(MatSetType(mats[b], b % 2 ? MATSEQAIJ : MATSEQAIJAMB));
    PetscCall(MatSetPreallocationCOO(mats[b], B->nentry[b], i + first, j + first));
    PetscCall(MatSetValuesCOO(mats[b], B->a + first, INSERT_VALUES));
  }
  PetscCall(MatBatchCreateFromMats(B->nmat, mats, batch));
  for (PetscInt b = 0; b < B->nmat; b++) PetscCall(MatDestroy(&mats[b]));
  PetscCall(PetscFree3(mats, i, j));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DenseCreate(PetscInt rows, PetscInt width, PetscInt seed, Vec *v)
{
  PetscScalar *a;

  PetscFunctionBeginUser;
  PetscCall(VecCreate(PETSC_COMM_SELF, v));
  PetscCall(VecSetSizes(*v, rows * width, rows * width));
  PetscCall(VecSetFromOptions(*v));
  PetscCall(VecGetArrayWrite(*v, &a));
  for (PetscInt r = 0; r < rows; r++) {
    for (PetscInt c = 0; c < width; c++) a[r * width + c] = seed < 0 ? (PetscScalar)NAN : TestNumber(r + 7 * seed, c);
  }
  PetscCall(VecRestoreArrayWrite(*v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* C against begin + factor A D, or factor A^T D */
static PetscErrorCode DiffProduct(TestDiff *d, const char *what, const Batch *B, PetscScalar factor, PetscBool transpose, PetscInt width, Vec D, Vec begin, Vec C)
{
  const PetscInt     rows = transpose ? B->N : B->M;
  const PetscScalar *x, *y, *z = NULL;
  PetscScalar       *sum;
  PetscReal         *scale;

  PetscFunctionBeginUser;
  PetscCall(PetscCalloc2(rows * width, &sum, rows * width, &scale));
  PetscCall(VecGetArrayRead(D, &x));
  PetscCall(VecGetArrayRead(C, &y));
  if (begin) PetscCall(VecGetArrayRead(begin, &z));
  for (PetscInt k = 0; z && k < rows * width; k++) {
    sum[k]   = z[k];
    scale[k] = PetscAbsScalar(z[k]);
  }
  for (PetscInt b = 0, k = 0; b < B->nmat; b++) {
    for (const PetscInt end = k + B->nentry[b]; k < end; k++) {
      const PetscInt r = B->row[b] + B->i[k], c = B->col[b] + B->j[k], to = transpose ? c : r, from = transpose ? r : c;

      for (PetscInt q = 0; q < width; q++) {
        sum[to * width + q] += factor * B->a[k] * x[from * width + q];
        scale[to * width + q] += PetscAbsScalar(factor * B->a[k] * x[from * width + q]);
      }
    }
  }
  for (PetscInt k = 0; k < rows * width; k++) {
    if (PetscIsInfOrNanScalar(sum[k])) TestExpect(d, what, (PetscBool)(PetscIsNanScalar(sum[k]) ? PetscIsNanScalar(y[k]) : y[k] == sum[k]));
    else TestDiffAdd(d, what, PetscAbsScalar(y[k] - sum[k]) / (scale[k] > 0 ? scale[k] : 1));
  }
  if (begin) PetscCall(VecRestoreArrayRead(begin, &z));
  PetscCall(VecRestoreArrayRead(C, &y));
  PetscCall(VecRestoreArrayRead(D, &x));
  PetscCall(PetscFree2(sum, scale));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const PetscInt widths[] = {0, 1, 2, 3, 7, 8, 31, 32, 33, 130, 512};

static PetscErrorCode CheckWidth(TestDiff *d, const Batch *B, MatBatch batch, PetscScalar factor, PetscInt width)
{
  Vec D, C, E, F, G;

  PetscFunctionBeginUser;
  PetscCall(DenseCreate(B->N, width, 1, &D));
  PetscCall(DenseCreate(B->M, width, -1, &C));
  PetscCall(DenseCreate(B->M, width, 2, &E));
  PetscCall(DenseCreate(B->N, width, -1, &F));
  PetscCall(VecDuplicate(E, &G));
  PetscCall(VecCopy(E, G));
  PetscCall(MatBatchMult(batch, width, D, C));
  PetscCall(DiffProduct(d, "MatBatchMult()", B, factor, PETSC_FALSE, width, D, NULL, C));
  PetscCall(MatBatchMultAdd(batch, width, D, G));
  PetscCall(DiffProduct(d, "MatBatchMultAdd()", B, factor, PETSC_FALSE, width, D, E, G));
  PetscCall(MatBatchMultTranspose(batch, width, E, F));
  PetscCall(DiffProduct(d, "MatBatchMultTranspose()", B, factor, PETSC_TRUE, width, E, NULL, F));
  PetscCall(TestDestroy(&D, &C, &E, &F, &G));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckInput(TestDiff *d, Input input)
{
  static const PetscInt counts[] = {0, 1, 4, 8, 61};

  PetscFunctionBeginUser;
  for (size_t l = 0; l < PETSC_STATIC_ARRAY_LENGTH(counts); l++) {
    Batch    B;
    MatBatch batch;

    PetscCall(BatchCreate(counts[l], 5, &B));
    PetscCall(BatchMake(input, &B, &batch));
    for (size_t w = 0; w < PETSC_STATIC_ARRAY_LENGTH(widths); w++) PetscCall(CheckWidth(d, &B, batch, 1, widths[w]));
    PetscCall(MatBatchDestroy(&batch));
    PetscCall(BatchDestroy(&B));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckRows(TestDiff *d)
{
  return CheckInput(d, ROWS);
}

static PetscErrorCode CheckEntries(TestDiff *d)
{
  return CheckInput(d, ENTRIES);
}

static PetscErrorCode CheckMats(TestDiff *d)
{
  return CheckInput(d, MATS);
}

/* Values that the batch has not been made with, or other ones, after products of both kinds */
static PetscErrorCode CheckValues(TestDiff *d)
{
  PetscScalar *twice;
  Batch        B;
  MatBatch     batch, empty;

  PetscFunctionBeginUser;
  PetscCall(BatchCreate(20, 9, &B));
  PetscCall(BatchMake(ENTRIES, &B, &batch));
  PetscCall(CheckWidth(d, &B, batch, 1, 9));
  PetscCall(PetscMalloc1(B.nz, &twice));
  for (PetscInt k = 0; k < B.nz; k++) twice[k] = 2.0 * B.a[k];
  PetscCall(MatBatchSetValues(batch, twice));
  PetscCall(CheckWidth(d, &B, batch, 2, 9));
  PetscCall(MatBatchCreateCOO(PETSC_COMM_SELF, B.nmat, B.m, B.n, B.nentry, B.i, B.j, NULL, &empty));
  PetscCall(CheckWidth(d, &B, empty, 0, 5));
  PetscCall(MatBatchSetValues(empty, B.a));
  PetscCall(CheckWidth(d, &B, empty, 1, 5));
  PetscCall(MatBatchDestroy(&empty));
  PetscCall(MatBatchDestroy(&batch));
  PetscCall(BatchDestroy(&B));
  PetscCall(BatchCreate(20, 9, &B));
  PetscCall(BatchMake(ROWS, &B, &batch));
  for (PetscInt k = 0; k < B.nz; k++) twice[k] = 2.0 * B.a[k];
  PetscCall(MatBatchSetValues(batch, twice));
  PetscCall(CheckWidth(d, &B, batch, 2, 4));
  PetscCall(PetscFree(twice));
  PetscCall(MatBatchDestroy(&batch));
  PetscCall(BatchDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Numbers that are not finite reach the rows that refer to them, and no others; those of the result before the product reach none */
static PetscErrorCode CheckNotFinite(TestDiff *d)
{
  Batch        B;
  MatBatch     batch;
  Vec          D, C;
  PetscScalar *a;

  PetscFunctionBeginUser;
  PetscCall(BatchCreate(30, 3, &B));
  PetscCall(BatchMake(ENTRIES, &B, &batch));
  for (PetscInt transpose = 0; transpose < 2; transpose++) {
    PetscCall(DenseCreate(transpose ? B.M : B.N, 19, 1, &D));
    PetscCall(DenseCreate(transpose ? B.N : B.M, 19, -1, &C));
    PetscCall(VecGetArray(D, &a));
    a[4 * 19 + 3]                            = (PetscScalar)NAN;
    a[(transpose ? B.M : B.N) / 2 * 19 + 17] = (PetscScalar)INFINITY;
    PetscCall(VecRestoreArray(D, &a));
    PetscCall(transpose ? MatBatchMultTranspose(batch, 19, D, C) : MatBatchMult(batch, 19, D, C));
    PetscCall(DiffProduct(d, "a product with NaN", &B, 1, (PetscBool)transpose, 19, D, NULL, C));
    PetscCall(TestDestroy(&D, &C));
  }
  PetscCall(MatBatchDestroy(&batch));
  PetscCall(BatchDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The bits of one thread with 2, 3 and 7 threads, and those of a second batch of the same entries */
static PetscErrorCode CheckBits(TestDiff *d)
{
  const int before = SysThreads();
  Batch     B;
  MatBatch  batch, again;
  Vec       D, C, E, F[2][2];
  PetscBool same;

  PetscFunctionBeginUser;
  PetscCall(BatchCreate(90, 4, &B));
  PetscCall(BatchMake(ENTRIES, &B, &batch));
  PetscCall(MatBatchCreateCOO(PETSC_COMM_SELF, B.nmat, B.m, B.n, B.nentry, B.i, B.j, B.a, &again));
  PetscCall(DenseCreate(B.N, 100, 1, &D));
  PetscCall(DenseCreate(B.M, 100, 2, &E));
  for (int k = 0; k < 2; k++) {
    PetscCall(VecDuplicate(E, &F[k][0]));
    PetscCall(VecDuplicate(D, &F[k][1]));
  }
  PetscCall(VecDuplicate(E, &C));
  for (int threads = 1; threads <= 7; threads += threads < 3 ? 1 : 4) {
    const int k = threads > 1;

    SysThreadsSet(threads);
    PetscCall(MatBatchMult(k ? again : batch, 100, D, F[k][0]));
    PetscCall(MatBatchMultTranspose(k ? again : batch, 100, E, F[k][1]));
    for (int t = 0; t < 2 && k; t++) {
      PetscCall(VecEqual(F[0][t], F[1][t], &same));
      TestExpect(d, "other bits", same);
    }
  }
  SysThreadsSet(before);
  for (int k = 0; k < 2; k++) {
    for (int t = 0; t < 2; t++) PetscCall(VecDestroy(&F[k][t]));
  }
  PetscCall(TestDestroy(&C, &D, &E));
  PetscCall(MatBatchDestroy(&again));
  PetscCall(MatBatchDestroy(&batch));
  PetscCall(BatchDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sums that depend on their order: entries at one position add up in the order in which they are given */
static PetscErrorCode CheckOrder(TestDiff *d)
{
  const PetscInt     m = 1, nentry = 4, at[] = {0, 0, 0, 0};
  const PetscReal    large = 1 / PETSC_MACHINE_EPSILON;
  const PetscScalar  a[]   = {large, 1, -large, 1}; /* large absorbs the first 1 at least in part; the sum of all in another order is 2 */
  const PetscScalar *c;
  MatBatch           batch;
  Vec                D, C;

  PetscFunctionBeginUser;
  PetscCall(MatBatchCreateCOO(PETSC_COMM_SELF, 1, &m, &m, &nentry, at, at, a, &batch));
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, 1, &D));
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, 1, &C));
  PetscCall(VecSet(D, 1));
  PetscCall(MatBatchMult(batch, 1, D, C));
  PetscCall(VecGetArrayRead(C, &c));
  TestExpect(d, "another order of repeated entries", (PetscBool)(c[0] == ((a[0] + a[1]) + a[2]) + a[3]));
  PetscCall(VecRestoreArrayRead(C, &c));
  PetscCall(TestDestroy(&D, &C));
  PetscCall(MatBatchDestroy(&batch));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sums by atomic operations differ by rounding; on the host they are the same */
static PetscErrorCode CheckAtomic(TestDiff *d)
{
  Batch    B;
  MatBatch batch;

  PetscFunctionBeginUser;
  PetscCall(BatchCreate(30, 6, &B));
  PetscCall(BatchMake(ENTRIES, &B, &batch));
  PetscCall(MatBatchSetAtomic(batch, PETSC_TRUE));
  for (size_t w = 0; w < PETSC_STATIC_ARRAY_LENGTH(widths); w++) PetscCall(CheckWidth(d, &B, batch, 1, widths[w]));
  PetscCall(MatBatchDestroy(&batch));
  PetscCall(BatchDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckView(TestDiff *d)
{
  Batch       B;
  MatBatch    batch;
  PetscViewer viewer;
  char        text[4096] = "", line[128];
  PetscInt    nmat, rows, cols;
  PetscCount  nvalue;

  PetscFunctionBeginUser;
  PetscCall(BatchCreate(6, 5, &B));
  PetscCall(BatchMake(ROWS, &B, &batch));
  PetscCall(MatBatchGetSizes(batch, &nmat, &rows, &cols, &nvalue));
  TestExpect(d, "MatBatchGetSizes()", (PetscBool)(nmat == 6 && rows == B.M && cols == B.N && nvalue == B.nz));
  PetscCall(PetscViewerStringOpen(PETSC_COMM_SELF, text, sizeof(text), &viewer));
  TestExpectError(d, PETSC_ERR_SUP, "ASCII viewer", MatBatchView(batch, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  for (int detail = 0; detail < 2; detail++) {
    char  path[PETSC_MAX_PATH_LEN], own[PETSC_MAX_PATH_LEN + 16];
    FILE *file;

    PetscCall(TestTemporaryFile(path, sizeof(path)));
    PetscCall(PetscSNPrintf(own, sizeof(own), "%s.%d", path, PetscGlobalRank)); /* a batch is of one process */
    PetscCall(PetscViewerASCIIOpen(PETSC_COMM_SELF, own, &viewer));
    PetscCall(PetscViewerPushFormat(viewer, detail ? PETSC_VIEWER_ASCII_INFO_DETAIL : PETSC_VIEWER_ASCII_INFO));
    PetscCall(MatBatchView(batch, viewer));
    PetscCall(PetscViewerPopFormat(viewer));
    PetscCall(PetscViewerDestroy(&viewer));
    file = fopen(own, "r");
    PetscCheck(file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "%s", own);
    text[fread(text, 1, sizeof(text) - 1, file)] = 0;
    (void)fclose(file);
    (void)remove(own);
    PetscCall(TestRemoveFile(path));
    PetscCall(PetscSNPrintf(line, sizeof(line), "matrices=6, rows=%" PetscInt_FMT ", columns=%" PetscInt_FMT ", entries=%" PetscInt_FMT "\n", B.M, B.N, B.nz));
    TestExpect(d, "the sizes in a view", (PetscBool)(strstr(text, line) != NULL));
    PetscCall(PetscSNPrintf(line, sizeof(line), "matrix 5: rows=300, columns=200, entries=%" PetscInt_FMT "\n", B.nentry[5]));
    TestExpect(d, "the header of a view", (PetscBool)(!strncmp(text, "MatBatch Object: 1 MPI process\n", 31) && !strstr(text, "type not yet set")));
    TestExpect(d, "the sizes of a matrix in a view", (PetscBool)((strstr(text, line) != NULL) == detail));
  }
  PetscCall(MatBatchDestroy(&batch));
  PetscCall(BatchDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckErrors(TestDiff *d)
{
  PetscInt    m[] = {2, 1}, n[] = {3, 2}, nentry[] = {1, 1}, i[] = {0, 1, 2, 3}, j[] = {2, 0, 1}, row[] = {1, 0}, col[] = {2, 1};
  PetscScalar a[] = {1, 2, 3};
  MatBatch    batch, none;
  Vec         D, C, E;
  Mat         dense, raw;

  PetscFunctionBeginUser;
  PetscCall(MatBatchCreateCSR(PETSC_COMM_SELF, 2, m, n, i, j, a, &batch));
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, 10, &D));
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, 6, &C));
  PetscCall(VecDuplicate(C, &E));
  TestExpectError(d, PETSC_ERR_ARG_SIZ, "D has 10 numbers, but the batch has 5 columns, and 3 numbers belong to each", MatBatchMult(batch, 3, D, C));
  TestExpectError(d, PETSC_ERR_ARG_SIZ, "C has 6 numbers, but the batch has 5 columns, and 2 numbers belong to each", MatBatchMultTranspose(batch, 2, C, E));
  TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "give 0 or more", MatBatchMult(batch, -1, D, C));
  TestExpectError(d, PETSC_ERR_ARG_IDN, "use two vectors", MatBatchMult(batch, 2, D, D));
  PetscCall(TestDestroy(&D, &C, &E));
  PetscCall(MatBatchDestroy(&batch));
  TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "give 0 or more", MatBatchCreateCSR(PETSC_COMM_SELF, -1, m, n, i, j, a, &none));
  i[0] = 1;
  TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "has to be 0", MatBatchCreateCSR(PETSC_COMM_SELF, 2, m, n, i, j, a, &none));
  i[0] = 0;
  i[1] = 3;
  TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "may not descend", MatBatchCreateCSR(PETSC_COMM_SELF, 2, m, n, i, j, a, &none));
  i[1] = 1;
  j[2] = 2;
  TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "Entry 2 of the batch has column 2, but matrix 1 has 2 columns", MatBatchCreateCSR(PETSC_COMM_SELF, 2, m, n, i, j, a, &none));
  TestExpect(d, "a batch after an error", (PetscBool)!none);
  row[1] = 1;
  TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "Entry 1 of the batch lies at (1, 1), but matrix 1 has 1 rows and 2 columns", MatBatchCreateCOO(PETSC_COMM_SELF, 2, m, n, nentry, row, col, a, &none));
  row[1] = -1;
  TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "lies at (-1, 1)", MatBatchCreateCOO(PETSC_COMM_SELF, 2, m, n, nentry, row, col, a, &none));
  nentry[1] = -1;
  TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "Matrix 1 of the batch has -1 entries", MatBatchCreateCOO(PETSC_COMM_SELF, 2, m, n, nentry, row, col, a, &none));
  m[0] = PETSC_MAX_INT;
  TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "make several batches", MatBatchCreateCOO(PETSC_COMM_SELF, 2, m, n, nentry, row, col, a, &none));
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, 2, 2, NULL, &dense));
  TestExpectError(d, PETSC_ERR_SUP, "convert it to MATSEQAIJ", MatBatchCreateFromMats(1, &dense, &none));
  PetscCall(MatDestroy(&dense));
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, 2, 2, 1, NULL, &raw));
  TestExpectError(d, PETSC_ERR_ARG_WRONGSTATE, "not assembled", MatBatchCreateFromMats(1, &raw, &none));
  PetscCall(MatDestroy(&raw));
  PetscCall(MatBatchDestroy(&none));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckProcesses(TestDiff *d)
{
  PetscMPIInt size;
  MatBatch    none;
  PetscInt    i = 0;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  if (size > 1) TestExpectError(d, PETSC_ERR_SUP, "PETSC_COMM_SELF", MatBatchCreateCSR(PETSC_COMM_WORLD, 0, NULL, NULL, &i, NULL, NULL, &none));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const TestCase tests[] = {
    {"rows",              CheckRows     },
    {"entries",           CheckEntries  },
    {"matrices",          CheckMats     },
    {"new values",        CheckValues   },
    {"NaN and infinity",  CheckNotFinite},
    {"the same bits",     CheckBits     },
    {"repeated entries",  CheckOrder    },
    {"atomic operations", CheckAtomic   },
    {"sizes and views",   CheckView     },
    {"errors",            CheckErrors   },
    {"several processes", CheckProcesses},
    {NULL,                NULL          }
  };

  return TestMain(argc, argv, help, tests);
}

/*TEST

  testset:
    requires: !complex
    checks: 11
    test:
      nsize: {{1 2}}
      args: -malloc_dump
    test:
      suffix: fp_trap
      requires: !cuda
      args: -fp_trap
    test:
      suffix: cuda
      requires: cuda
      args: -vec_type cuda

TEST*/
