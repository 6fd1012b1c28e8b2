/* SPDX-License-Identifier: BSD-2-Clause */
/*
   MatMaskEntries(): the entries of a matrix at another's positions
*/
#include <petscambgraph.h>
#include "sys/systhreads.h"
#include "graph/glue/graph.h"

/*@
  MatMaskEntries - copies the entries of a sparse matrix at the positions that another one stores, or at all other positions

  Collective

  Input Parameters:
+ A          - the matrix, m x n, of `MATAIJ` or a type that extends it
. M          - the mask, m x n and distributed as `A`, of `MATAIJ` or a type that extends it; it may be `A`
- complement - `PETSC_FALSE` for the entries of `A` whose positions are stored in `M`, `PETSC_TRUE` for those whose positions are not

  Output Parameter:
. B - the matrix of the entries that stay, with the type and the layouts of `A`, its columns in ascending order

  Level: intermediate

  Notes:
  A position is stored in `M` if it belongs to its nonzero pattern; a stored 0 counts, and values of `M` are not read. Values of `A` are copied bit for bit.

  Let P have a 1 in each position that `M` stores. `B` is the product of `A` and P entry by entry, or the rest of `A` with `complement`; positions that do not stay are not stored.

  Each thread has n bits. The host chooses the entries, because PETSc builds patterns there.

  Errors:
+ `PETSC_ERR_ARG_WRONGSTATE` - a matrix is not assembled
. `PETSC_ERR_SUP`            - a matrix is not of `MATAIJ` or a type that extends it
- `PETSC_ERR_ARG_SIZ`        - the matrices have different sizes or distributions

  Example:
.vb
  PetscCall(MatMaskEntries(A, M, PETSC_FALSE, &B)); // the edges of A that M has too
  PetscCall(MatMaskEntries(A, M, PETSC_TRUE, &C));  // the others: A = B + C
.ve

.seealso: `MatPruneRows()`, `MatPowEntries()`, `MatMatMultMaskSum()`, `MatGraphOrient()`
@*/
PetscErrorCode MatMaskEntries(Mat A, Mat M, PetscBool complement, Mat *B)
{
  const int    nthread = SysThreads();
  GraphLocal   rows, mask;
  PetscInt    *i, *j;
  PetscScalar *a;
  uint32_t    *work;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscValidHeaderSpecific(M, MAT_CLASSID, 2);
  PetscCheckSameComm(A, 1, M, 2);
  PetscValidLogicalCollectiveBool(A, complement, 3);
  PetscCall(GraphCheckAIJ(A, "MatMaskEntries()"));
  PetscCall(GraphCheckAIJ(M, "MatMaskEntries()"));
  PetscCheck(A->rmap->N == M->rmap->N && A->rmap->n == M->rmap->n, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "MatMaskEntries(): the matrix has %" PetscInt_FMT " local rows of %" PetscInt_FMT ", the mask %" PetscInt_FMT " of %" PetscInt_FMT, A->rmap->n,
             A->rmap->N, M->rmap->n, M->rmap->N);
  PetscCheck(A->cmap->N == M->cmap->N && A->cmap->n == M->cmap->n, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "MatMaskEntries(): the matrix has %" PetscInt_FMT " local columns of %" PetscInt_FMT ", the mask %" PetscInt_FMT " of %" PetscInt_FMT, A->cmap->n,
             A->cmap->N, M->cmap->n, M->cmap->N);
  PetscCall(GraphLocalGet(A, &rows));
  PetscCall(GraphLocalGetPattern(M, &mask));
  PetscCall(PetscCalloc1((size_t)nthread * (size_t)GraphMaskWords(mask.csr.n), &work));
  PetscCall(PetscMalloc1((size_t)rows.csr.m + 1, &i));
  i[0] = 0;
  GraphMaskCount(nthread, &rows.csr, &mask.csr, complement, i + 1, work);
  for (int64_t r = 0; r < rows.csr.m; r++) i[r + 1] += i[r];
  PetscCall(PetscMalloc2((size_t)i[rows.csr.m], &j, (size_t)i[rows.csr.m], &a));
  GraphMaskFill(nthread, &rows.csr, &mask.csr, complement, i, j, a, work);
  PetscCall(PetscFree(work));
  PetscCall(GraphLocalRestore(&mask));
  PetscCall(GraphLocalRestore(&rows));
  PetscCall(GraphCreateLike(A, i, j, a, B));
  PetscCall(PetscFree2(j, a));
  PetscCall(PetscFree(i));
  PetscFunctionReturn(PETSC_SUCCESS);
}
