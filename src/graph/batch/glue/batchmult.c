/* SPDX-License-Identifier: BSD-2-Clause */
/*
   MatBatch: products with dense matrices
*/
#include "graph/batch/glue/batch.h"
#include "sys/systhreads.h"

PetscErrorCode MatBatchTranspose(MatBatch B)
{
  const PetscInt m = B->row[B->nmat];
  SysStatus      status;

  PetscFunctionBegin;
  if (B->transposed.i) PetscFunctionReturn(PETSC_SUCCESS);
  status = SpmmTranspose(&(SysCSR){.m = m, .n = B->col[B->nmat], .nz = B->i[m], .i = B->i, .j = B->j}, &B->transposed);
  PetscCheck(status == SYS_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_MEM, "Not enough memory for the transposed pattern of a batch; make several batches, one after the other");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks one operand: a vector of `rows` rows of this width */
static PetscErrorCode MatBatchCheckVec(const char name[], PetscInt rows, const char what[], PetscInt width, Vec v)
{
  PetscInt n;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(v, &n));
  PetscCheck((PetscInt64)n == (PetscInt64)rows * width, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "%s has %" PetscInt_FMT " numbers, but the batch has %" PetscInt_FMT " %s, and %" PetscInt_FMT " numbers belong to each", name, n, rows, what, width);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatBatchHostMult(MatBatch B, PetscBool transpose, PetscBool add, PetscInt width, Vec D, Vec C)
{
  const PetscScalar *d;
  PetscScalar       *c;
  BatchRows          A = {.m = B->row[B->nmat], .i = B->i, .j = B->j, .position = NULL, .a = (const SysReal *)B->a};

  PetscFunctionBegin;
  if (transpose) {
    PetscCall(MatBatchTranspose(B));
    A.m        = B->transposed.n;
    A.i        = B->transposed.i;
    A.j        = B->transposed.j;
    A.position = B->transposed.position;
  }
  PetscCall(VecGetArrayRead(D, &d));
  if (add) PetscCall(VecGetArray(C, &c));
  else PetscCall(VecGetArrayWrite(C, &c));
  BatchMult(SysThreads(), &A, add, width, (const SysReal *)d, (SysReal *)c);
  if (add) PetscCall(VecRestoreArray(C, &c));
  else PetscCall(VecRestoreArrayWrite(C, &c));
  PetscCall(VecRestoreArrayRead(D, &d));
  PetscCall(PetscLogFlops(2.0 * (PetscLogDouble)B->i[B->row[B->nmat]] * (PetscLogDouble)width));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatBatchMultAny(MatBatch B, PetscBool transpose, PetscBool add, PetscInt width, Vec D, Vec C)
{
  const PetscInt rows = B->row[B->nmat], cols = B->col[B->nmat];
  PetscBool      device = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCheck(width >= 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "A product of a batch with %" PetscInt_FMT " columns; give 0 or more", width);
  PetscCheck(D != C, PETSC_COMM_SELF, PETSC_ERR_ARG_IDN, "A batch cannot multiply in place; use two vectors");
  PetscCall(MatBatchCheckVec("D", transpose ? rows : cols, transpose ? "rows" : "columns", width, D));
  PetscCall(MatBatchCheckVec("C", transpose ? cols : rows, transpose ? "columns" : "rows", width, C));
  PetscCall(PetscLogEventBegin(MAT_BatchMult, B, D, C, 0));
  PetscCall(MatBatchDeviceSupports(D, C, &device));
  if (device) PetscCall(MatBatchDeviceMult(B, transpose, add, width, D, C));
  else PetscCall(MatBatchHostMult(B, transpose, add, width, D, C));
  PetscCall(PetscLogEventEnd(MAT_BatchMult, B, D, C, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatBatchMult - multiplies each matrix of a batch with a dense matrix, C[b] = A[b] D[b]

  Collective

  Input Parameters:
+ batch - the batch A
. width - the columns of every dense matrix
- D     - the dense matrices, `width` numbers for each column of the batch

  Output Parameter:
. C - the results, `width` numbers for each row of the batch

  Level: intermediate

  Notes:
  Dense matrices are stored by rows, the rows of all matrices one after the other. Number `c` of row `r` of D[b] is entry `(n_0 + ... + n_(b-1) + r) * width + c` of the
  vector `D`, where `n_b` is the number of columns of matrix `b`; of C[b], entry `(m_0 + ... + m_(b-1) + r) * width + c` of `C`, where `m_b` is the number of its rows.
  `VecCreateSeqWithArray()` makes such a vector of an array. PETSc stores a `MATDENSE` by columns, so the same array as a `MATDENSE` is
  the transpose: `width` rows, leading dimension `width`, and a column for each row described here.

  If both `D` and `C` are vectors on a GPU (`VECSEQCUDA`), the product runs there, else on the host. The batch keeps a copy on the GPU then.

  The product has the same bits for any number of threads, unless `MatBatchSetAtomic()` was called. Infinite and undefined numbers of a row of D[b] reach only the results
  that they belong to.

  Errors:
+ `PETSC_ERR_ARG_SIZ`        - `D` or `C` has another size
. `PETSC_ERR_ARG_OUTOFRANGE` - `width` is negative
. `PETSC_ERR_ARG_IDN`        - `C` is `D`
. `PETSC_ERR_MEM`            - the GPU lacks memory
. `PETSC_ERR_SUP`            - too many columns for one product on a GPU
- `PETSC_ERR_GPU`            - a kernel failed

  Example:
.vb
  PetscCall(MatBatchGetSizes(batch, NULL, &rows, &cols, NULL));
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, 8 * cols, &D)); // 8 columns of each dense matrix
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, 8 * rows, &C));
  PetscCall(MatBatchMult(batch, 8, D, C));
.ve

.seealso: `MatBatchMultAdd()`, `MatBatchMultTranspose()`, `MatBatchCreateCSR()`, `MatBatchCreateCOO()`, `MatBatchGetSizes()`
@*/
PetscErrorCode MatBatchMult(MatBatch batch, PetscInt width, Vec D, Vec C)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(batch, MATBATCH_CLASSID, 1);
  PetscValidHeaderSpecific(D, VEC_CLASSID, 3);
  PetscValidHeaderSpecific(C, VEC_CLASSID, 4);
  PetscCall(MatBatchMultAny(batch, PETSC_FALSE, PETSC_FALSE, width, D, C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatBatchMultAdd - multiplies each matrix of a batch with a dense matrix and adds the product to the result, C[b] = C[b] + A[b] D[b]

  Collective

  Input Parameters:
+ batch - the batch A
. width - the columns of every dense matrix
- D     - the dense matrices, `width` numbers for each column of the batch, stored as for `MatBatchMult()`

  Input/Output Parameter:
. C - the results, `width` numbers for each row of the batch

  Level: intermediate

  Errors:
+ `PETSC_ERR_ARG_SIZ`        - `D` or `C` has another size
. `PETSC_ERR_ARG_OUTOFRANGE` - `width` is negative
. `PETSC_ERR_ARG_IDN`        - `C` is `D`
. `PETSC_ERR_MEM`            - the GPU lacks memory
. `PETSC_ERR_SUP`            - too many columns for one product on a GPU
- `PETSC_ERR_GPU`            - a kernel failed

.seealso: `MatBatchMult()`, `MatBatchMultTranspose()`
@*/
PetscErrorCode MatBatchMultAdd(MatBatch batch, PetscInt width, Vec D, Vec C)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(batch, MATBATCH_CLASSID, 1);
  PetscValidHeaderSpecific(D, VEC_CLASSID, 3);
  PetscValidHeaderSpecific(C, VEC_CLASSID, 4);
  PetscCall(MatBatchMultAny(batch, PETSC_FALSE, PETSC_TRUE, width, D, C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatBatchMultTranspose - multiplies the transpose of each matrix of a batch with a dense matrix, C[b] = A[b]^T D[b]

  Collective

  Input Parameters:
+ batch - the batch A
. width - the columns of every dense matrix
- D     - the dense matrices, with a row for each row of their matrix, stored as for `MatBatchMult()`

  Output Parameter:
. C - the results, with a row for each column of their matrix

  Level: intermediate

  Notes:
  The first transposed product transposes the pattern, which the batch keeps: 8 bytes for each entry, 16 with 64-bit indices.

  Errors:
+ `PETSC_ERR_ARG_SIZ`        - `D` or `C` has another size
. `PETSC_ERR_ARG_OUTOFRANGE` - `width` is negative
. `PETSC_ERR_ARG_IDN`        - `C` is `D`
. `PETSC_ERR_MEM`            - there is too little memory for the transposed pattern, or the GPU lacks memory
. `PETSC_ERR_SUP`            - too many columns for one product on a GPU
- `PETSC_ERR_GPU`            - a kernel failed

.seealso: `MatBatchMult()`, `MatBatchMultAdd()`
@*/
PetscErrorCode MatBatchMultTranspose(MatBatch batch, PetscInt width, Vec D, Vec C)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(batch, MATBATCH_CLASSID, 1);
  PetscValidHeaderSpecific(D, VEC_CLASSID, 3);
  PetscValidHeaderSpecific(C, VEC_CLASSID, 4);
  PetscCall(MatBatchMultAny(batch, PETSC_TRUE, PETSC_FALSE, width, D, C));
  PetscFunctionReturn(PETSC_SUCCESS);
}
