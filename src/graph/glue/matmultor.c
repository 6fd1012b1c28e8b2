/* SPDX-License-Identifier: BSD-2-Clause */
/*
   MatMultOr(): 64-bit words for a graph's vertices, one bit for each of 64 searches
*/
#include <petscambgraph.h>
#include "sys/systhreads.h"
#include "graph/glue/graph.h"

/*@C
  MatMultOr - computes y[i] = y[i] | x[j] on words of 64 bits, for all stored entries (i, j) of a matrix or of its transpose

  Collective

  Input Parameters:
+ A         - the matrix, of `MATAIJ` or a type that extends it; only its pattern counts
. transpose - `PETSC_TRUE`: the entries (j, i) of `A` count
. x         - a word for each column of `A` that this process owns (each row if `transpose`)
- want      - for each word of `y` the bits that may be set

  Input/Output Parameter:
. y - a word for each row of `A` that this process owns (each column if `transpose`)

  Level: advanced

  Notes:
  This is a step of 64 breadth-first searches. Without `transpose` the function skips rows without a bit in `want`, and leaves a row once all of its wanted bits are set. With
  `transpose` it skips rows whose word in `x` is 0, which is faster if few words have bits.

  The words are on the host. The result does not depend on the number of threads.

  Errors:
+ `PETSC_ERR_ARG_WRONGSTATE` - the matrix is not assembled
- `PETSC_ERR_SUP`            - the matrix is not of `MATAIJ` or a type that extends it

  Example:
.vb
  for (PetscInt v = 0; v < m; v++) {
    want[v] = ~seen[v]; // bit s of seen[v]: search s has reached v; of last[v]: in its last step
    next[v] = 0;
  }
  PetscCall(MatMultOr(A, PETSC_TRUE, last, want, next)); // a step along the edges, which are entries (from, to)
.ve

.seealso: `MatBreadthFirst()`, `MatMult()`
@*/
PetscErrorCode MatMultOr(Mat A, PetscBool transpose, const uint64_t x[], const uint64_t want[], uint64_t y[])
{
  const int    nthread = SysThreads();
  GraphRows    rows;
  PetscSF      sf;
  uint64_t    *other;
  MPI_Datatype word; /* of integers, for which PETSc supports "or" */

  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscValidLogicalCollectiveBool(A, transpose, 2);
  PetscCall(GraphCheckAIJ(A, "MatMultOr()"));
  PetscCall(GraphRowsGet(A, &rows));
  if (transpose) GraphOrTranspose(nthread, &rows.csr[0], x, want, y);
  else GraphOr(nthread, &rows.csr[0], x, want, y);
  if (!rows.block[1]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatAIJGetScatter(A, &sf));
  PetscCallMPI(MPI_Type_contiguous(2, MPI_INT, &word));
  PetscCallMPI(MPI_Type_commit(&word));
  PetscCall(PetscCalloc1((size_t)rows.csr[1].n, &other));
  if (transpose) {
    uint64_t *all;

    PetscCall(PetscCalloc1(A->cmap->n, &all));
    GraphOrTranspose(nthread, &rows.csr[1], x, NULL, other);
    PetscCall(PetscSFReduceBegin(sf, word, other, all, MPI_BOR));
    PetscCall(PetscSFReduceEnd(sf, word, other, all, MPI_BOR));
    for (PetscInt k = 0; k < A->cmap->n; k++) y[k] |= all[k] & want[k];
    PetscCall(PetscFree(all));
  } else {
    PetscCall(PetscSFBcastBegin(sf, word, x, other, MPI_REPLACE));
    PetscCall(PetscSFBcastEnd(sf, word, x, other, MPI_REPLACE));
    GraphOr(nthread, &rows.csr[1], other, want, y);
  }
  PetscCall(PetscFree(other));
  PetscCallMPI(MPI_Type_free(&word));
  PetscCall(PetscSFDestroy(&sf));
  PetscFunctionReturn(PETSC_SUCCESS);
}
