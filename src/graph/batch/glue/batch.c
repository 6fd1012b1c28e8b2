/* SPDX-License-Identifier: BSD-2-Clause */
/*
   MatBatch: creation, values, views and destruction
*/
#include "graph/batch/glue/batch.h"

PetscClassId  MATBATCH_CLASSID;
PetscLogEvent MAT_BatchMult;

/* ------------------------------------------------- sizes ------------------------------------------------- */

/* Adds up numbers with a check against PetscInt's range; first[b], unless NULL, is the sum before matrix b */
static PetscErrorCode MatBatchAddUp(const char what[], PetscInt nmat, const PetscInt n[], PetscInt first[], PetscInt *sum)
{
  PetscFunctionBegin;
  *sum = 0;
  for (PetscInt b = 0; b < nmat; b++) {
    PetscCheck(n[b] >= 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "Matrix %" PetscInt_FMT " of the batch has %" PetscInt_FMT " %s; give 0 or more for each matrix", b, n[b], what);
    PetscCheck(n[b] <= PETSC_MAX_INT - *sum, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "The matrices of the batch have more than %" PetscInt_FMT " %s in all; make several batches, or configure PETSc with 64-bit indices", PETSC_MAX_INT, what);
    *sum += n[b];
    if (first) first[b + 1] = *sum;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates a batch with sizes and no entries */
static PetscErrorCode MatBatchBegin(MPI_Comm comm, PetscInt nmat, const PetscInt m[], const PetscInt n[], MatBatch *batch)
{
  MatBatch    B;
  PetscMPIInt size;
  PetscInt    sum;

  PetscFunctionBegin;
  PetscCall(PetscAMBInitializePackage());
  PetscCheck(!PetscDefined(USE_COMPLEX), comm, PETSC_ERR_SUP, "A MatBatch has real numbers; use a PETSc configured without complex numbers");
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCheck(size == 1, comm, PETSC_ERR_SUP, "A MatBatch lies on one process, and this communicator has %d; make a batch on each process, with PETSC_COMM_SELF", (int)size);
  PetscCheck(nmat >= 0, comm, PETSC_ERR_ARG_OUTOFRANGE, "A batch of %" PetscInt_FMT " matrices; give 0 or more", nmat);
  *batch = NULL;
  PetscCall(PetscHeaderCreate(B, MATBATCH_CLASSID, "MatBatch", "Batch of sparse matrices", "Mat", comm, MatBatchDestroy, MatBatchView));
  *batch  = B; /* from here on the caller destroys it after an error */
  B->nmat = nmat;
  PetscCall(PetscCalloc2(nmat + 1, &B->row, nmat + 1, &B->col));
  PetscCall(MatBatchAddUp("rows", nmat, m, B->row, &sum));
  PetscCall(MatBatchAddUp("columns", nmat, n, B->col, &sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Allocates and sets the values; NULL: zeros */
static PetscErrorCode MatBatchEnd(MatBatch B, PetscInt nz, const PetscScalar a[])
{
  PetscFunctionBegin;
  PetscCall(PetscCalloc1(nz, &B->a));
  if (a) PetscCall(MatBatchSetValues(B, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool  BatchCited      = PETSC_FALSE;
static const char BatchCitation[] = "@misc{nagasaka2019batched,\n"
                                    "  title  = {Batched sparse matrix multiplication for accelerating graph convolutional networks},\n"
                                    "  author = {Yusuke Nagasaka and Akira Nukada and Ryosuke Kojima and Satoshi Matsuoka},\n"
                                    "  note   = {arXiv:1903.11409},\n"
                                    "  year   = {2019}\n}\n";

/* Destroys the result of a creation that raised an error */
static PetscErrorCode MatBatchCreated(PetscErrorCode raised, MatBatch *batch)
{
  PetscFunctionBegin;
  if (raised && *batch) (void)MatBatchDestroy(batch);
  if (!raised) PetscCall(PetscCitationsRegister(BatchCitation, &BatchCited));
  PetscFunctionReturn(raised);
}

/* ------------------------------------------------- creation ------------------------------------------------- */

static PetscErrorCode MatBatchFromCSR(MPI_Comm comm, PetscInt nmat, const PetscInt m[], const PetscInt n[], const PetscInt i[], const PetscInt j[], const PetscScalar a[], MatBatch *batch)
{
  MatBatch B;
  PetscInt rows;

  PetscFunctionBegin;
  PetscCall(MatBatchBegin(comm, nmat, m, n, batch));
  B    = *batch;
  rows = B->row[nmat];
  PetscCheck(i[0] == 0, comm, PETSC_ERR_ARG_OUTOFRANGE, "The first row of a batch begins at entry i[0] = %" PetscInt_FMT "; it has to be 0", i[0]);
  for (PetscInt r = 0; r < rows; r++)
    PetscCheck(i[r] <= i[r + 1], comm, PETSC_ERR_ARG_OUTOFRANGE, "Row %" PetscInt_FMT " of the batch ends at entry %" PetscInt_FMT ", before its first entry %" PetscInt_FMT "; i[] may not descend", r, i[r + 1], i[r]);
  PetscCall(PetscMalloc1(rows + 1, &B->i));
  PetscCall(PetscMalloc1(i[rows], &B->j));
  PetscCall(PetscArraycpy(B->i, i, rows + 1));
  for (PetscInt b = 0; b < nmat; b++) {
    for (PetscInt k = i[B->row[b]]; k < i[B->row[b + 1]]; k++) {
      PetscCheck(j[k] >= 0 && j[k] < n[b], comm, PETSC_ERR_ARG_OUTOFRANGE, "Entry %" PetscInt_FMT " of the batch has column %" PetscInt_FMT ", but matrix %" PetscInt_FMT " has %" PetscInt_FMT " columns; j[] has columns of the single matrices, which begin with 0", k, j[k], b, n[b]);
      B->j[k] = j[k] + B->col[b];
    }
  }
  B->ngiven = i[rows];
  PetscCall(MatBatchEnd(B, i[rows], a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatBatchCreateCSR - creates a batch of small sparse matrices from arrays of their rows

  Collective

  Input Parameters:
+ comm - a communicator of one process
. nmat - the number of matrices
. m    - the rows of each matrix, `nmat` numbers
. n    - the columns of each matrix, `nmat` numbers
. i    - start of each row in `j` and `a`, the rows of the first matrix first, then the rows of the second, and so on; one number more than rows, the first is 0
. j    - the column of each entry in its own matrix, from 0 on
- a    - the value of each entry, or `NULL` for zeros until `MatBatchSetValues()`

  Output Parameter:
. batch - the batch

  Level: intermediate

  Notes:
  The arrays are copied. The columns of a row may be in any order. Entries at the same position add up. Matrices without rows, columns or entries are allowed.

  The pattern of a batch stays for its life; `MatBatchSetValues()` changes the values. On several processes, each creates a separate batch.

  Errors:
+ `PETSC_ERR_SUP`            - the communicator has several processes, or scalars are complex
- `PETSC_ERR_ARG_OUTOFRANGE` - a size is negative, row pointers descend or do not begin with 0, a column lies outside of its matrix, or there are more rows, columns or entries in all than a `PetscInt` holds

  Example:
.vb
  const PetscInt    m[] = {2, 1}, n[] = {2, 1}; // a 2 x 2 and a 1 x 1 matrix
  const PetscInt    i[] = {0, 2, 3, 4}, j[] = {0, 1, 1, 0};
  const PetscScalar a[] = {1, 2, 3, 4};
  MatBatch          batch;

  PetscCall(MatBatchCreateCSR(PETSC_COMM_SELF, 2, m, n, i, j, a, &batch));
.ve

.seealso: `MatBatchCreateCOO()`, `MatBatchCreateFromMats()`, `MatBatchSetValues()`, `MatBatchMult()`, `MatBatchDestroy()`
@*/
PetscErrorCode MatBatchCreateCSR(MPI_Comm comm, PetscInt nmat, const PetscInt m[], const PetscInt n[], const PetscInt i[], const PetscInt j[], const PetscScalar a[], MatBatch *batch)
{
  PetscFunctionBegin;
  *batch = NULL;
  PetscCall(MatBatchCreated(MatBatchFromCSR(comm, nmat, m, n, i, j, a, batch), batch));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatBatchFromCOO(MPI_Comm comm, PetscInt nmat, const PetscInt m[], const PetscInt n[], const PetscInt nentry[], const PetscInt i[], const PetscInt j[], const PetscScalar a[], MatBatch *batch)
{
  PetscInt *row, *col, ngiven, k = 0;
  SysStatus status;
  MatBatch  B;

  PetscFunctionBegin;
  PetscCall(MatBatchBegin(comm, nmat, m, n, batch));
  B = *batch;
  PetscCall(MatBatchAddUp("entries", nmat, nentry, NULL, &ngiven));
  for (PetscInt b = 0; b < nmat; b++) {
    for (const PetscInt end = k + nentry[b]; k < end; k++) {
      PetscCheck(i[k] >= 0 && i[k] < m[b] && j[k] >= 0 && j[k] < n[b], comm, PETSC_ERR_ARG_OUTOFRANGE, "Entry %" PetscInt_FMT " of the batch lies at (%" PetscInt_FMT ", %" PetscInt_FMT "), but matrix %" PetscInt_FMT " has %" PetscInt_FMT " rows and %" PetscInt_FMT " columns; rows and columns count from 0 within each matrix", k, i[k], j[k], b, m[b], n[b]);
    }
  }
  B->ngiven = ngiven;
  PetscCall(PetscMalloc2(ngiven, &row, ngiven, &col));
  k = 0;
  for (PetscInt b = 0; b < nmat; b++) {
    for (const PetscInt end = k + nentry[b]; k < end; k++) {
      row[k] = i[k] + B->row[b];
      col[k] = j[k] + B->col[b];
    }
  }
  status = BatchEntriesCreate(B->row[nmat], B->col[nmat], ngiven, row, col, &B->entries);
  PetscCall(PetscFree2(row, col));
  PetscCheck(status == SYS_SUCCESS, comm, PETSC_ERR_MEM, "Not enough memory for a batch of %" PetscInt_FMT " matrices; make several batches, one after the other", nmat);
  B->i = B->entries.i;
  B->j = B->entries.j;
  PetscCall(MatBatchEnd(B, (PetscInt)B->entries.nz, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatBatchCreateCOO - creates a batch of small sparse matrices from arrays of entries in any order

  Collective

  Input Parameters:
+ comm   - a communicator of one process
. nmat   - the number of matrices
. m      - the rows of each matrix, `nmat` numbers
. n      - the columns of each matrix, `nmat` numbers
. nentry - the number of entries of each matrix, `nmat` numbers; the arrays have the entries of the first matrix first, then the entries of the second, and so on
. i      - the row of each entry in its own matrix, from 0 on
. j      - the column of each entry in its own matrix, from 0 on
- a      - the value of each entry, or `NULL` for zeros until `MatBatchSetValues()`

  Output Parameter:
. batch - the batch

  Level: intermediate

  Notes:
  The function copies the arrays. Entries with equal row and column are added in the order of the arrays: the sums have the same bits in every run.

  Errors:
+ `PETSC_ERR_SUP`            - the communicator has several processes, or scalars are complex
. `PETSC_ERR_ARG_OUTOFRANGE` - a size is negative, an entry lies outside of its matrix, or there are more rows, columns or entries in all than a `PetscInt` holds
- `PETSC_ERR_MEM`            - there is too little memory

  Example:
.vb
  const PetscInt    m[] = {2, 1}, n[] = {2, 1}, nentry[] = {3, 1};
  const PetscInt    i[] = {1, 0, 0, 0}, j[] = {1, 1, 0, 0};
  const PetscScalar a[] = {3, 2, 1, 4};
  MatBatch          batch;

  PetscCall(MatBatchCreateCOO(PETSC_COMM_SELF, 2, m, n, nentry, i, j, a, &batch));
.ve

.seealso: `MatBatchCreateCSR()`, `MatBatchCreateFromMats()`, `MatBatchSetValues()`, `MatBatchMult()`, `MatBatchDestroy()`
@*/
PetscErrorCode MatBatchCreateCOO(MPI_Comm comm, PetscInt nmat, const PetscInt m[], const PetscInt n[], const PetscInt nentry[], const PetscInt i[], const PetscInt j[], const PetscScalar a[], MatBatch *batch)
{
  PetscFunctionBegin;
  *batch = NULL;
  PetscCall(MatBatchCreated(MatBatchFromCOO(comm, nmat, m, n, nentry, i, j, a, batch), batch));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the arrays of a SEQAIJ */
static PetscErrorCode MatBatchAddMat(MatBatch B, PetscInt b, Mat A, PetscInt *nz)
{
  const PetscInt    *i, *j;
  const PetscScalar *a;
  PetscInt           m;
  PetscBool          done;

  PetscFunctionBegin;
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &m, &i, &j, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_SUP, "Matrix %" PetscInt_FMT " of the batch does not show its rows; convert it to MATSEQAIJ", b);
  PetscCall(MatSeqAIJGetArrayRead(A, &a));
  for (PetscInt r = 0; r < m; r++) B->i[B->row[b] + r] = *nz + i[r];
  for (PetscInt k = 0; k < i[m]; k++) {
    B->j[*nz + k] = B->col[b] + j[k];
    B->a[*nz + k] = a[k];
  }
  *nz += i[m];
  PetscCall(MatSeqAIJRestoreArrayRead(A, &a));
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &m, &i, &j, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatBatchCheckMats(PetscInt nmat, Mat mats[])
{
  PetscFunctionBegin;
  for (PetscInt b = 0; b < nmat; b++) {
    PetscBool aij, assembled;

    PetscValidHeaderSpecific(mats[b], MAT_CLASSID, 2);
    PetscValidType(mats[b], 2);
    PetscCall(PetscObjectBaseTypeCompare((PetscObject)mats[b], MATSEQAIJ, &aij));
    PetscCheck(aij, PETSC_COMM_SELF, PETSC_ERR_SUP, "Matrix %" PetscInt_FMT " of the batch has the type %s; convert it to MATSEQAIJ", b, ((PetscObject)mats[b])->type_name);
    PetscCall(MatAssembled(mats[b], &assembled));
    PetscCheck(assembled, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE, "Matrix %" PetscInt_FMT " of the batch is not assembled; call MatAssemblyBegin() and MatAssemblyEnd() first", b);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatBatchFromMats(PetscInt nmat, Mat mats[], MatBatch *batch)
{
  PetscInt *m, *n, *nz, sum, at = 0;
  MatBatch  B;

  PetscFunctionBegin;
  PetscCall(MatBatchCheckMats(nmat, mats));
  PetscCall(PetscMalloc3(nmat, &m, nmat, &n, nmat, &nz));
  for (PetscInt b = 0; b < nmat; b++) {
    MatInfo info;

    PetscCall(MatGetSize(mats[b], &m[b], &n[b]));
    PetscCall(MatGetInfo(mats[b], MAT_LOCAL, &info));
    nz[b] = (PetscInt)info.nz_used;
  }
  PetscCall(MatBatchBegin(PETSC_COMM_SELF, nmat, m, n, batch));
  PetscCall(MatBatchAddUp("entries", nmat, nz, NULL, &sum));
  B         = *batch;
  B->ngiven = sum;
  PetscCall(PetscMalloc1(B->row[nmat] + 1, &B->i));
  PetscCall(PetscMalloc1(sum, &B->j));
  PetscCall(MatBatchEnd(B, sum, NULL));
  for (PetscInt b = 0; b < nmat; b++) PetscCall(MatBatchAddMat(B, b, mats[b], &at));
  B->i[B->row[nmat]] = at;
  PetscCall(PetscFree3(m, n, nz));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatBatchCreateFromMats - creates a batch of small sparse matrices from matrices of PETSc

  Not Collective

  Input Parameters:
+ nmat - the number of matrices
- mats - assembled matrices of `MATSEQAIJ` or a type that extends it

  Output Parameter:
. batch - the batch, on `PETSC_COMM_SELF`

  Level: intermediate

  Notes:
  The entries are copied: the batch does not notice later changes of the matrices. `MatBatchSetValues()` takes the values of all matrices one after the other, as
  `MatSeqAIJGetArrayRead()` gives them.

  Errors:
+ `PETSC_ERR_SUP`            - scalars are complex, or a matrix is not of `MATSEQAIJ` or a type that extends it
. `PETSC_ERR_ARG_WRONGSTATE` - a matrix is not assembled
- `PETSC_ERR_ARG_OUTOFRANGE` - `nmat` is negative, or there are more rows, columns or entries in all than a `PetscInt` holds

  Example:
.vb
  Mat      mats[] = {A, B};
  MatBatch batch;

  PetscCall(MatBatchCreateFromMats(2, mats, &batch));
.ve

.seealso: `MatBatchCreateCSR()`, `MatBatchCreateCOO()`, `MatBatchSetValues()`, `MatBatchMult()`, `MatBatchDestroy()`
@*/
PetscErrorCode MatBatchCreateFromMats(PetscInt nmat, Mat mats[], MatBatch *batch)
{
  PetscFunctionBegin;
  *batch = NULL;
  PetscCall(MatBatchCreated(MatBatchFromMats(nmat, mats, batch), batch));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatBatchSetValues - sets the values of all entries of a batch

  Not Collective

  Input Parameters:
+ batch - the batch
- a     - the values, on the host: as many as at its creation, in the same order

  Level: intermediate

  Notes:
  Entries of `MatBatchCreateCOO()` at the same position add up, as they did before.

  The values are copied. If the batch has a copy on a GPU, the next product there updates it.

  Example:
.vb
  PetscCount nvalue;

  PetscCall(MatBatchGetSizes(batch, NULL, NULL, NULL, &nvalue)); // the length of a
  PetscCall(MatBatchSetValues(batch, a));
.ve

.seealso: `MatBatchCreateCSR()`, `MatBatchCreateCOO()`, `MatBatchCreateFromMats()`, `MatBatchGetSizes()`
@*/
PetscErrorCode MatBatchSetValues(MatBatch batch, const PetscScalar a[])
{
  const BatchEntries *E = &batch->entries;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(batch, MATBATCH_CLASSID, 1);
  if (!E->i) PetscCall(PetscArraycpy(batch->a, a, batch->ngiven));
  else {
    for (int64_t k = 0; k < E->nz; k++) {
      batch->a[k] = a[E->perm[E->first[k]]];
      for (int64_t l = E->first[k] + 1; l < E->first[k + 1]; l++) batch->a[k] += a[E->perm[l]];
    }
  }
  PetscCall(MatBatchDeviceValuesChanged(batch));
  PetscCall(PetscObjectStateIncrease((PetscObject)batch));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatBatchSetAtomic - lets products of a batch on a GPU add up by atomic operations, in no fixed order

  Logically Collective

  Input Parameters:
+ batch - the batch
- flag  - `PETSC_TRUE`: atomic operations on a GPU; `PETSC_FALSE` (the default): every product has the same bits

  Level: advanced

  Note:
  A group of threads then handles an entry of a matrix, not a row of the product. In most measurements this is slower (docs/batch.md); it may gain where a few rows have most
  of the entries. Products on the host, transposed products and `MatBatchMultAdd()` do not change.

.seealso: `MatBatchMult()`, `MatBatchCreateCSR()`
@*/
PetscErrorCode MatBatchSetAtomic(MatBatch batch, PetscBool flag)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(batch, MATBATCH_CLASSID, 1);
  PetscValidLogicalCollectiveBool(batch, flag, 2);
  batch->atomic = flag;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatBatchGetSizes - gets the number of matrices of a batch, and their sizes added up

  Not Collective

  Input Parameter:
. batch - the batch

  Output Parameters:
+ nmat   - the number of matrices, or `NULL`
. rows   - the rows of all matrices, or `NULL`
. cols   - the columns of all matrices, or `NULL`
- nvalue - the values that `MatBatchSetValues()` takes, or `NULL`

  Level: intermediate

.seealso: `MatBatchCreateCSR()`, `MatBatchCreateCOO()`, `MatBatchCreateFromMats()`, `MatBatchMult()`
@*/
PetscErrorCode MatBatchGetSizes(MatBatch batch, PetscInt *nmat, PetscInt *rows, PetscInt *cols, PetscCount *nvalue)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(batch, MATBATCH_CLASSID, 1);
  if (nmat) *nmat = batch->nmat;
  if (rows) *rows = batch->row[batch->nmat];
  if (cols) *cols = batch->col[batch->nmat];
  if (nvalue) *nvalue = batch->ngiven;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- views and destruction ------------------------------------------------- */

/*@
  MatBatchView - prints the sizes of a batch, and with `PETSC_VIEWER_ASCII_INFO_DETAIL` the sizes of each matrix

  Collective

  Input Parameters:
+ batch  - the batch
- viewer - an ASCII viewer, or `NULL` for `PETSC_VIEWER_STDOUT_SELF`

  Level: intermediate

  Errors:
. `PETSC_ERR_SUP` - `viewer` is no ASCII viewer

.seealso: `MatBatchGetSizes()`, `MatBatchCreateCSR()`
@*/
PetscErrorCode MatBatchView(MatBatch batch, PetscViewer viewer)
{
  PetscBool         ascii;
  PetscViewerFormat format;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(batch, MATBATCH_CLASSID, 1);
  if (!viewer) PetscCall(PetscViewerASCIIGetStdout(PetscObjectComm((PetscObject)batch), &viewer));
  PetscValidHeaderSpecific(viewer, PETSC_VIEWER_CLASSID, 2);
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  PetscCheck(ascii, PetscObjectComm((PetscObject)batch), PETSC_ERR_SUP, "MatBatchView() prints text; use an ASCII viewer");
  PetscCall(PetscViewerASCIIPrintf(viewer, "MatBatch Object:%s%s 1 MPI process\n", ((PetscObject)batch)->name ? " " : "", ((PetscObject)batch)->name ? ((PetscObject)batch)->name : "")); /* a batch has no type, so PETSc's own line would lack it */
  PetscCall(PetscViewerASCIIPushTab(viewer));
  PetscCall(PetscViewerASCIIPrintf(viewer, "matrices=%" PetscInt_FMT ", rows=%" PetscInt_FMT ", columns=%" PetscInt_FMT ", entries=%" PetscInt_FMT "\n", batch->nmat, batch->row[batch->nmat], batch->col[batch->nmat], batch->i[batch->row[batch->nmat]]));
  if (batch->atomic) PetscCall(PetscViewerASCIIPrintf(viewer, "products on a GPU add by atomic operations\n"));
  PetscCall(PetscViewerGetFormat(viewer, &format));
  for (PetscInt b = 0; b < batch->nmat && format == PETSC_VIEWER_ASCII_INFO_DETAIL; b++) {
    const PetscInt r0 = batch->row[b], r1 = batch->row[b + 1];

    PetscCall(PetscViewerASCIIPrintf(viewer, "matrix %" PetscInt_FMT ": rows=%" PetscInt_FMT ", columns=%" PetscInt_FMT ", entries=%" PetscInt_FMT "\n", b, r1 - r0, batch->col[b + 1] - batch->col[b], batch->i[r1] - batch->i[r0]));
  }
  PetscCall(PetscViewerASCIIPopTab(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatBatchDestroy - destroys a batch

  Collective

  Input Parameter:
. batch - the batch, which becomes `NULL`

  Level: intermediate

  Note:
  PETSc frees the batch with its last reference; a `GraphConv` holds one to each of its batches.

.seealso: `MatBatchCreateCSR()`, `MatBatchCreateCOO()`, `MatBatchCreateFromMats()`
@*/
PetscErrorCode MatBatchDestroy(MatBatch *batch)
{
  MatBatch B = *batch;

  PetscFunctionBegin;
  if (!B) PetscFunctionReturn(PETSC_SUCCESS);
  PetscValidHeaderSpecific(B, MATBATCH_CLASSID, 1);
  *batch = NULL;
  if (--((PetscObject)B)->refct > 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatBatchDeviceDestroy(&B->device));
  SpmmTransposedDestroy(&B->transposed);
  if (!B->entries.i) {
    PetscCall(PetscFree(B->i));
    PetscCall(PetscFree(B->j));
  }
  BatchEntriesDestroy(&B->entries);
  PetscCall(PetscFree(B->a));
  PetscCall(PetscFree2(B->row, B->col));
  PetscCall(PetscHeaderDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

extern PetscErrorCode BatchRegister(void);

PetscErrorCode BatchRegister(void)
{
  PetscFunctionBegin;
  PetscCall(PetscClassIdRegister("Batch of matrices", &MATBATCH_CLASSID));
  PetscCall(PetscLogEventRegister("MatBatchMult", MATBATCH_CLASSID, &MAT_BatchMult));
  PetscFunctionReturn(PETSC_SUCCESS);
}
