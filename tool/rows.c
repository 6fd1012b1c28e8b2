/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The rows of a process with the columns of the whole matrix, and numbers for vectors
*/
#include "tool.h"

PetscErrorCode RowsGet(Mat A, Rows *rows)
{
  PetscMPIInt size;
  PetscBool   done;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
  if (size > 1) PetscCall(MatMPIAIJGetLocalMat(A, MAT_INITIAL_MATRIX, &rows->seq));
  else {
    PetscCall(PetscObjectReference((PetscObject)A));
    rows->seq = A;
  }
  PetscCall(MatGetSize(A, &rows->M, &rows->N));
  PetscCall(MatGetOwnershipRange(A, &rows->rstart, NULL));
  PetscCall(MatGetOwnershipRangeColumn(A, &rows->cstart, &rows->cend));
  PetscCall(MatGetRowIJ(rows->seq, 0, PETSC_FALSE, PETSC_FALSE, &rows->m, &rows->i, &rows->j, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_PLIB, "No row access");
  PetscCall(MatSeqAIJGetArrayRead(rows->seq, &rows->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RowsRestore(Rows *rows)
{
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(MatSeqAIJRestoreArrayRead(rows->seq, &rows->a));
  PetscCall(MatRestoreRowIJ(rows->seq, 0, PETSC_FALSE, PETSC_FALSE, &rows->m, &rows->i, &rows->j, &done));
  PetscCall(MatDestroy(&rows->seq));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries in [-1,1] that depend on their position alone */
PetscErrorCode VecFill(Vec v, PetscInt64 seed)
{
  PetscScalar *a;
  PetscInt     first, last;

  PetscFunctionBegin;
  PetscCall(VecGetOwnershipRange(v, &first, &last));
  PetscCall(VecGetArrayWrite(v, &a));
  for (PetscInt k = first; k < last; k++) a[k - first] = 2.0 * GeneratorUniform((PetscInt64)k * 4 + seed) - 1.0;
  PetscCall(VecRestoreArrayWrite(v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}
