/* SPDX-License-Identifier: BSD-2-Clause */
/*
   MatGraphTranspose(): the transpose of the matrix of a graph
*/
#include <petscambgraph.h>
#include "graph/glue/graph.h"

/*@
  MatGraphTranspose - makes the transpose of a matrix, without a stash of the entries that other processes own

  Collective

  Input Parameter:
. A - the matrix, of `MATAIJ` or a type that extends it

  Output Parameter:
. B - the transpose, of the type of `A`

  Level: intermediate

  Notes:
  Of a matrix of several processes, each process sends the others their columns, sorted. `MatTranspose()` of `MATMPIAIJ` puts each of these entries into a stash: of a graph, most of whose
  entries are such ones, that takes several times as long. `MatTranspose()` of a type of petsc-amb makes a new transpose as this function does. Of a matrix of one process this function calls
  `MatTranspose()`.

  Only `MatTranspose()` puts new values into a transpose.

  Errors:
+ `PETSC_ERR_ARG_WRONGSTATE` - the matrix is not assembled
- `PETSC_ERR_SUP`            - the matrix is not of `MATAIJ` or a type that extends it, or a process would have more entries than its indices can count

  Example:
.vb
  Mat T;

  PetscCall(MatLoadEdgeList(A, "graph.txt", NULL));
  PetscCall(MatGraphTranspose(A, &T));
.ve

.seealso: `MatTranspose()`, `MatGraphOrient()`, `MatLoadEdgeList()`
@*/
PetscErrorCode MatGraphTranspose(Mat A, Mat *B)
{
  PetscBool mpi;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscCall(GraphCheckAIJ(A, "MatGraphTranspose()"));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &mpi));
  if (mpi) {
    PetscCall(PetscLogEventBegin(MAT_Transpose, A, 0, 0, 0));
    PetscCall(MatAIJTransposeMPI(A, ((PetscObject)A)->type_name, B));
    PetscCall(PetscLogEventEnd(MAT_Transpose, A, 0, 0, 0));
  } else PetscCall(MatTranspose(A, MAT_INITIAL_MATRIX, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}
