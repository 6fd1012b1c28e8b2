/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The local rows of AIJ matrices, for graph operations
*/
#include "graph/glue/graph.h"

static PetscErrorCode GraphCheckAssembled(Mat A, const char function[])
{
  PetscFunctionBegin;
  PetscCheck(A->assembled, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE, "%s: the matrix is not assembled; call MatAssemblyBegin() and MatAssemblyEnd() first", function);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GraphCheckAIJ(Mat A, const char function[])
{
  PetscBool aij;

  PetscFunctionBegin;
  PetscCall(GraphCheckAssembled(A, function));
  PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)A, &aij, MATSEQAIJ, MATMPIAIJ, ""));
  PetscCheck(aij, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP, "%s: the matrix has the type %s; convert it to MATAIJ or a type of petsc-amb", function, ((PetscObject)A)->type_name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GraphCheckShape(Mat A, const char function[])
{
  PetscFunctionBegin;
  PetscCall(GraphCheckAssembled(A, function));
  PetscCheck(A->rmap->N == A->cmap->N && A->rmap->n == A->cmap->n, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "%s: the matrix has %" PetscInt_FMT " local rows of %" PetscInt_FMT " and %" PetscInt_FMT " local columns of %" PetscInt_FMT "; the matrix of a graph has as many of both", function,
             A->rmap->n, A->rmap->N, A->cmap->n, A->cmap->N);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GraphCheckSquare(Mat A, const char function[])
{
  PetscFunctionBegin;
  PetscCall(GraphCheckAIJ(A, function));
  PetscCall(GraphCheckShape(A, function));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GraphRowsGet(Mat A, GraphRows *rows)
{
  PetscBool mpi;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(rows, sizeof(*rows)));
  rows->block[0] = A;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &mpi));
  if (mpi) PetscCall(MatMPIAIJGetSeqAIJ(A, &rows->block[0], &rows->block[1], &rows->garray));
  for (int k = 0; k < 2 && rows->block[k]; k++) PetscCall(MatAIJGetPattern(rows->block[k], &rows->csr[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GraphLocalGetPattern(Mat A, GraphLocal *rows)
{
  PetscBool mpi;

  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &mpi));
  if (mpi) PetscCall(MatMPIAIJGetLocalMat(A, MAT_INITIAL_MATRIX, &rows->local));
  else {
    PetscCall(PetscObjectReference((PetscObject)A));
    rows->local = A;
  }
  PetscCall(MatAIJGetPattern(rows->local, &rows->csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GraphLocalGet(Mat A, GraphLocal *rows)
{
  const PetscScalar *a;

  PetscFunctionBegin;
  PetscCall(GraphLocalGetPattern(A, rows));
  PetscCall(MatSeqAIJGetArrayRead(rows->local, &a));
  rows->csr.a = a;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GraphLocalRestore(GraphLocal *rows)
{
  const PetscScalar *a = rows->csr.a;

  PetscFunctionBegin;
  if (a) PetscCall(MatSeqAIJRestoreArrayRead(rows->local, &a));
  PetscCall(MatDestroy(&rows->local));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GraphCreateLike(Mat A, const PetscInt i[], const PetscInt j[], const PetscScalar a[], Mat *B)
{
  PetscFunctionBegin;
  PetscCall(MatCreate(PetscObjectComm((PetscObject)A), B));
  PetscCall(MatSetSizes(*B, A->rmap->n, A->cmap->n, A->rmap->N, A->cmap->N));
  PetscCall(MatSetType(*B, ((PetscObject)A)->type_name));
  PetscCall(MatSeqAIJSetPreallocationCSR(*B, i, j, a));
  PetscCall(MatMPIAIJSetPreallocationCSR(*B, i, j, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}
