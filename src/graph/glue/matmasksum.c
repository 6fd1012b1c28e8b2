/* SPDX-License-Identifier: BSD-2-Clause */
/*
   MatMatMultMaskSum(): the sum of a product of sparse matrices over a third one's positions
*/
#include <petscambgraph.h>
#include "sys/systhreads.h"
#include "graph/glue/graph.h"

/* Gets the rows of B for A's columns on this process, and their positions by column */
static PetscErrorCode MaskSumRows(Mat A, Mat B, Mat **rows, PetscInt **position)
{
  GraphRows a;
  IS        need, all;
  PetscInt *list, n = 0, first = A->cmap->rstart, ghosts, k = 0;

  PetscFunctionBegin;
  PetscCall(GraphRowsGet(A, &a));
  ghosts = (PetscInt)a.csr[1].n;
  PetscCall(PetscMalloc1(A->cmap->n + ghosts, &list));
  for (; k < ghosts && a.garray[k] < first; k++) list[n++] = a.garray[k];
  for (PetscInt j = 0; j < A->cmap->n; j++) list[n++] = first + j;
  for (; k < ghosts; k++) list[n++] = a.garray[k];
  PetscCall(PetscMalloc1(A->cmap->N, position));
  for (PetscInt q = 0; q < n; q++) (*position)[list[q]] = q;
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, n, list, PETSC_OWN_POINTER, &need));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, B->cmap->N, 0, 1, &all));
  PetscCall(ISSetIdentity(all));
  PetscCall(MatCreateSubMatrices(B, 1, &need, &all, MAT_INITIAL_MATRIX, rows));
  PetscCall(ISDestroy(&need));
  PetscCall(ISDestroy(&all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sums this process's rows in order */
static PetscErrorCode MaskSumLocal(Mat A, Mat B, Mat M, const PetscInt position[], double *sum)
{
  const int  nthread = SysThreads();
  GraphLocal a, b, mask;
  SysReal   *work;
  double    *row;

  PetscFunctionBegin;
  PetscCall(GraphLocalGet(A, &a));
  PetscCall(GraphLocalGet(B, &b));
  PetscCall(GraphLocalGet(M, &mask));
  PetscCall(PetscCalloc1((size_t)(nthread * mask.csr.n), &work));
  PetscCall(PetscMalloc1((size_t)a.csr.m, &row));
  GraphMaskSum(nthread, &a.csr, position, &b.csr, &mask.csr, row, work);
  *sum = 0;
  for (int64_t r = 0; r < a.csr.m; r++) *sum += row[r];
  PetscCall(PetscFree(row));
  PetscCall(PetscFree(work));
  PetscCall(GraphLocalRestore(&mask));
  PetscCall(GraphLocalRestore(&b));
  PetscCall(GraphLocalRestore(&a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatMatMultMaskSum - computes the sum of the entries of (A B) o M, where o is the product entry by entry, without storing A B

  Collective

  Input Parameters:
+ A - a sparse matrix, m x k, of `MATAIJ` or a type that extends it
. B - a sparse matrix, k x n, whose rows are distributed as the columns of `A`
- M - a sparse matrix, m x n, whose rows are distributed as the rows of `A`

  Output Parameter:
. sum - the sum, in double precision whatever the precision of the matrices

  Level: intermediate

  Notes:
  Let A be the adjacency matrix of a graph, and U the entries of A above the diagonal, all of them 1. The sum for A = B = M = U is the number of triangles of the graph.

  The work is the multiplications of A B in the rows in which M has entries. Each thread has an array of n numbers. Each process gets the rows of `B` that its columns
  of `A` name. The result has the same bits on any number of threads.

  The product runs on the host.

  Errors:
+ `PETSC_ERR_ARG_WRONGSTATE` - a matrix is not assembled
. `PETSC_ERR_SUP`            - a matrix is not of `MATAIJ` or a type that extends it, or scalars are complex
- `PETSC_ERR_ARG_SIZ`        - sizes or distributions do not fit

  Example:
.vb
  PetscCall(MatMatMultMaskSum(U, U, U, &sum)); // the triangles of a graph whose oriented matrix is U
.ve

.seealso: `MatMatMult()`, `MatSDDMM()`, `MatGraphOrient()`, `MatCountTriangles()`
@*/
PetscErrorCode MatMatMultMaskSum(Mat A, Mat B, Mat M, PetscLogDouble *sum)
{
  MPI_Comm    comm;
  PetscMPIInt size;
  double      mine;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscValidHeaderSpecific(B, MAT_CLASSID, 2);
  PetscValidHeaderSpecific(M, MAT_CLASSID, 3);
  PetscCall(PetscObjectGetComm((PetscObject)A, &comm));
  PetscCheck(!PetscDefined(USE_COMPLEX), comm, PETSC_ERR_SUP, "MatMatMultMaskSum() multiplies real numbers; use a PETSc configured without complex numbers");
  PetscCall(GraphCheckAIJ(A, "MatMatMultMaskSum()"));
  PetscCall(GraphCheckAIJ(B, "MatMatMultMaskSum()"));
  PetscCall(GraphCheckAIJ(M, "MatMatMultMaskSum()"));
  PetscCheck(A->cmap->N == B->rmap->N && A->cmap->n == B->rmap->n, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "A has %" PetscInt_FMT " local columns of %" PetscInt_FMT ", B %" PetscInt_FMT " local rows of %" PetscInt_FMT, A->cmap->n, A->cmap->N, B->rmap->n,
             B->rmap->N);
  PetscCheck(A->rmap->N == M->rmap->N && A->rmap->n == M->rmap->n, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "A has %" PetscInt_FMT " local rows of %" PetscInt_FMT ", M %" PetscInt_FMT " of %" PetscInt_FMT, A->rmap->n, A->rmap->N, M->rmap->n, M->rmap->N);
  PetscCheck(B->cmap->N == M->cmap->N, comm, PETSC_ERR_ARG_SIZ, "B has %" PetscInt_FMT " columns, M %" PetscInt_FMT, B->cmap->N, M->cmap->N);
  PetscCallMPI(MPI_Comm_size(comm, &size));
  if (size > 1) {
    Mat      *rows;
    PetscInt *position;

    PetscCall(MaskSumRows(A, B, &rows, &position));
    PetscCall(MaskSumLocal(A, rows[0], M, position, &mine));
    PetscCall(PetscFree(position));
    PetscCall(MatDestroySubMatrices(1, &rows));
  } else PetscCall(MaskSumLocal(A, B, M, NULL, &mine));
  PetscCallMPI(MPI_Allreduce(&mine, sum, 1, MPI_DOUBLE, MPI_SUM, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}
