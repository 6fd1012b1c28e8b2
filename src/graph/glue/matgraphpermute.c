/* SPDX-License-Identifier: BSD-2-Clause */
/*
   MatGraphPermute(): renumbers a graph's vertices
*/
#include <petscambgraph.h>
#include "sys/systhreads.h"
#include "graph/glue/graph.h"
#include "mat/aij/aijexchange.h"

/* Sets the new number of each row, or column, of this process; is[] lists the old numbers in the new order */
static PetscErrorCode PermuteInvert(Mat A, IS is, PetscLayout layout, const char name[], PetscInt position[])
{
  MPI_Comm        comm = PetscObjectComm((PetscObject)A);
  PetscInt        m, last, *number, total, wrong[2] = {0, 0};
  const PetscInt *old;
  PetscSF         sf;

  PetscFunctionBegin;
  PetscCall(ISGetLocalSize(is, &m));
  PetscCallMPI(MPI_Scan(&m, &last, 1, MPIU_INT, MPI_SUM, comm));
  PetscCallMPI(MPI_Allreduce(&m, &total, 1, MPIU_INT, MPI_SUM, comm));
  PetscCheck(total == layout->N, comm, PETSC_ERR_ARG_SIZ, "MatGraphPermute(): the matrix has %" PetscInt_FMT " %s, and the index set %" PetscInt_FMT " indices", layout->N, name, total);
  PetscCall(ISGetIndices(is, &old));
  for (PetscInt k = 0; k < m; k++) wrong[0] += old[k] < 0 || old[k] >= layout->N;
  PetscCallMPI(MPI_Allreduce(&wrong[0], &wrong[1], 1, MPIU_INT, MPI_MAX, comm));
  if (wrong[1]) PetscCall(ISRestoreIndices(is, &old));
  PetscCheck(!wrong[1], comm, PETSC_ERR_ARG_OUTOFRANGE, "MatGraphPermute(): the index set of %s has an index that is not from 0 to %" PetscInt_FMT, name, layout->N - 1);
  PetscCall(PetscMalloc1(m, &number));
  for (PetscInt k = 0; k < m; k++) number[k] = last - m + k;
  for (PetscInt k = 0; k < layout->n; k++) position[k] = -1;
  PetscCall(PetscSFCreate(comm, &sf));
  PetscCall(PetscSFSetGraphLayout(sf, layout, m, NULL, PETSC_COPY_VALUES, old));
  PetscCall(PetscSFReduceBegin(sf, MPIU_INT, number, position, MPI_REPLACE));
  PetscCall(PetscSFReduceEnd(sf, MPIU_INT, number, position, MPI_REPLACE));
  PetscCall(PetscSFDestroy(&sf));
  PetscCall(PetscFree(number));
  PetscCall(ISRestoreIndices(is, &old));
  for (PetscInt k = 0; k < layout->n; k++) wrong[0] += position[k] < 0;
  PetscCallMPI(MPI_Allreduce(&wrong[0], &wrong[1], 1, MPIU_INT, MPI_MAX, comm));
  PetscCheck(!wrong[1], comm, PETSC_ERR_ARG_WRONG, "MatGraphPermute(): the index set of %s has an index twice, and is no permutation", name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the new numbers of both blocks' columns; rowposition: the rows' new numbers if they are the same, or NULL */
static PetscErrorCode PermuteColumns(Mat A, IS columns, const GraphRows *rows, const PetscInt rowposition[], PetscInt position[])
{
  PetscSF sf;

  PetscFunctionBegin;
  if (rowposition) PetscCall(PetscArraycpy(position, rowposition, A->cmap->n));
  else PetscCall(PermuteInvert(A, columns, A->cmap, "columns", position));
  if (!rows->block[1]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatAIJGetScatter(A, &sf));
  PetscCall(PetscSFBcastBegin(sf, MPIU_INT, position, position + A->cmap->n, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(sf, MPIU_INT, position, position + A->cmap->n, MPI_REPLACE));
  PetscCall(PetscSFDestroy(&sf));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets this process's rows in their new order; column[k]: new global number of column k; n: columns of both blocks */
static PetscErrorCode PermuteRows(Mat A, const GraphRows *rows, const PetscInt rowposition[], const PetscInt position[], PetscInt n, PetscInt column[], MatAIJRows *p)
{
  const PetscInt m = A->rmap->n;
  PetscInt      *order, *work, *local, *jwork, longest = 0;
  PetscScalar   *awork;
  int            nthread;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(PetscMax(m, n), &order, PetscMax(m, n), &work, n, &local));
  GraphOrder(n, position, A->cmap->N, order, work);
  for (PetscInt k = 0; k < n; k++) {
    column[k]       = position[order[k]];
    local[order[k]] = k;
  }
  GraphOrder(m, rowposition, A->rmap->N, order, work);
  PetscCall(MatAIJRowsCreate(m, rows->csr[0].nz + rows->csr[1].nz, p));
  nthread = MatAIJThreads(p->nz);
  p->i[0] = 0;
  for (PetscInt k = 0; k < m; k++) {
    p->row[k]   = rowposition[order[k]];
    p->i[k + 1] = p->i[k];
    for (int b = 0; b < 2; b++) p->i[k + 1] += rows->csr[b].nz ? rows->csr[b].i[order[k] + 1] - rows->csr[b].i[order[k]] : 0;
    longest = PetscMax(longest, p->i[k + 1] - p->i[k]);
  }
  PetscCall(PetscMalloc2((size_t)nthread * longest, &jwork, (size_t)nthread * longest, &awork));
  GraphRenumber(nthread, m, order, rows->csr, local, n, p->i, p->j, p->a, longest, jwork, awork);
  PetscCall(PetscFree2(jwork, awork));
  PetscCall(PetscFree3(order, work, local));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The permuted matrix; rowposition, position, column: work space for the local rows, and twice for the columns of the blocks */
static PetscErrorCode PermuteCreate(Mat A, IS rows, IS columns, GraphRows *old, PetscInt n, PetscInt rowposition[], PetscInt position[], PetscInt column[], Mat *B)
{
  MatAIJSizes     size  = {.M = A->rmap->N, .N = A->cmap->N};
  MatAIJRowBlocks parts = {0, NULL, NULL};
  PetscBool       seq, same;
  PetscLayout     owners;
  MatAIJRows      packed;

  PetscFunctionBegin;
  PetscCall(PermuteInvert(A, rows, A->rmap, "rows", rowposition));
  PetscCall(PetscLayoutCompare(A->rmap, A->cmap, &same));
  PetscCall(PermuteColumns(A, columns, old, same && rows == columns ? rowposition : NULL, position));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATSEQAIJ, &seq));
  if (seq) {
    PetscCall(MatCreateSubMatrix(A, rows, columns, MAT_INITIAL_MATRIX, B));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscLogEventBegin(MAT_CreateSubMat, A, 0, 0, 0));
  PetscCall(ISGetLocalSize(rows, &size.m));
  PetscCall(ISGetLocalSize(columns, &size.n));
  PetscCall(ISGetBlockSize(rows, &size.rbs));
  PetscCall(ISGetBlockSize(columns, &size.cbs));
  for (int b = 0; b < 2 && old->block[b]; b++) PetscCall(MatAIJGetArrays(old->block[b], &old->csr[b]));
  PetscCall(PermuteRows(A, old, rowposition, position, n, column, &packed));
  PetscCall(PetscLayoutCreateFromSizes(PetscObjectComm((PetscObject)A), size.m, size.M, 1, &owners));
  PetscCall(MatAIJRowBlocksAdd(&packed, owners, n, column, 0, &parts));
  PetscCall(PetscLayoutDestroy(&owners));
  PetscCall(MatAIJRowBlocksAssemble(A, ((PetscObject)A)->type_name, &size, &parts, B));
  PetscCall(MatAIJRowsDestroy(&packed));
  PetscCall(PetscLogEventEnd(MAT_CreateSubMat, A, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatGraphPermute - gives the vertices of a graph, the rows and columns of a matrix, new numbers and new processes, without a stash of the entries that other processes own

  Collective

  Input Parameters:
+ A       - the matrix, of `MATAIJ` or a type that extends it
. rows    - on each process, the rows of `A` that are its rows of `B`, in their new order
- columns - the same of the columns

  Output Parameter:
. B - row k of `B` is row `rows`[k] of `A`, and column k of `B` column `columns`[k] of `A`; it has the type of `A` and the block sizes of the index sets

  Level: intermediate

  Notes:
  The result equals the result of `MatCreateSubMatrix()` with the same index sets, which must be permutations here. On several processes, each process sends the others their rows with new numbers,
  sorted. `MatCreateSubMatrix()` of `MATMPIAIJ` gathers the index set of the columns as a whole on each process and takes several times as long. Of a matrix of one process this function calls
  `MatCreateSubMatrix()`.

  To deal the rows to the processes as a `MatPartitioning` says, let `ISBuildTwoSided()` make the index set.

  Errors:
+ `PETSC_ERR_ARG_WRONGSTATE` - the matrix is not assembled
. `PETSC_ERR_SUP`            - the matrix is not of `MATAIJ` or a type that extends it, or a process would have more entries than its indices can count
. `PETSC_ERR_ARG_SIZ`        - an index set has not as many indices as the matrix has rows or columns
. `PETSC_ERR_ARG_OUTOFRANGE` - an index is not the number of a row or column
- `PETSC_ERR_ARG_WRONG`      - an index set has an index twice

  Example:
.vb
  PetscCall(MatPartitioningApply(partitioning, &process));
  PetscCall(ISBuildTwoSided(process, NULL, &rows));
  PetscCall(MatGraphPermute(A, rows, rows, &B));
.ve

.seealso: `MatCreateSubMatrix()`, `MATPARTITIONINGBITONIC`, `ISBuildTwoSided()`, `MatGraphTranspose()`
@*/
PetscErrorCode MatGraphPermute(Mat A, IS rows, IS columns, Mat *B)
{
  GraphRows      old;
  PetscInt      *rowposition, *position, *column, n;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscValidHeaderSpecific(rows, IS_CLASSID, 2);
  PetscValidHeaderSpecific(columns, IS_CLASSID, 3);
  PetscCall(GraphCheckAIJ(A, "MatGraphPermute()"));
  PetscCall(GraphRowsGet(A, &old));
  n = (PetscInt)old.csr[0].n + (PetscInt)old.csr[1].n;
  PetscCall(PetscMalloc3(A->rmap->n, &rowposition, n, &position, n, &column));
  ierr = PermuteCreate(A, rows, columns, &old, n, rowposition, position, column, B);
  PetscCall(PetscFree3(rowposition, position, column));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}
