/* SPDX-License-Identifier: BSD-2-Clause */
/*
   MatCountTriangles(): on the host through this folder's other operations, on a GPU through its own kernels
*/
#include <petscambgraph.h>
#include "graph/glue/graph.h"
#include "graph/glue/graphdevice.h"

/* Symmetrizes A and keeps each edge once, from the vertex of lower degree, in U. A triangle is then a path of two edges whose ends an edge joins: the
   count is the sum of (U U) o U. */
static PetscErrorCode TrianglesHost(Mat A, PetscInt64 *count)
{
  Mat            B, U;
  Vec            ones, degree;
  PetscLogDouble sum;

  PetscFunctionBegin;
  PetscCall(MatGraphTranspose(A, &B));
  PetscCall(MatAXPY(B, 1.0, A, DIFFERENT_NONZERO_PATTERN));
  PetscCall(MatPowEntries(B, 0));
  PetscCall(MatCreateVecs(B, &ones, &degree));
  PetscCall(VecSet(ones, 1.0));
  PetscCall(MatMult(B, ones, degree));
  PetscCall(MatGraphOrient(B, degree, &U));
  PetscCall(MatDestroy(&B));
  PetscCall(VecDestroy(&ones));
  PetscCall(VecDestroy(&degree));
  PetscCall(MatMatMultMaskSum(U, U, U, &sum));
  PetscCall(MatDestroy(&U));
  *count = (PetscInt64)sum;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatCountTriangles - counts the triangles of a graph

  Collective

  Input Parameter:
. A - a square matrix, of `MATAIJ` or a type that extends it; an entry (i, j) is an edge. Directions, values and loops do not count.

  Output Parameter:
. count - the number of triangles

  Level: intermediate

  Note:
  A matrix of one process on a GPU is counted there, and only the number crosses the bus. For any other matrix the function creates a symmetric copy and orients it by
  `MatGraphOrient()`.

  Errors:
+ `PETSC_ERR_ARG_WRONGSTATE` - the matrix is not assembled
. `PETSC_ERR_SUP`            - the matrix is not of `MATAIJ` or a type that extends it, or scalars are complex
- `PETSC_ERR_ARG_SIZ`        - the matrix is not square, or its rows and columns are distributed differently

  Example:
.vb
  PetscInt64 count;

  PetscCall(MatLoadEdgeList(A, "graph.txt", NULL));
  PetscCall(MatCountTriangles(A, &count));
.ve

.seealso: `MatMatMultMaskSum()`, `MatGraphOrient()`, `MatBreadthFirst()`
@*/
PetscErrorCode MatCountTriangles(Mat A, PetscInt64 *count)
{
  PetscBool done = PETSC_FALSE;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscCall(GraphCheckSquare(A, "MatCountTriangles()"));
  PetscCheck(!PetscDefined(USE_COMPLEX), PetscObjectComm((PetscObject)A), PETSC_ERR_SUP, "MatCountTriangles() multiplies real numbers; use a PETSc configured without complex numbers");
  PetscCall(GraphTrianglesDevice(A, count, &done));
  if (!done) PetscCall(TrianglesHost(A, count));
  PetscFunctionReturn(PETSC_SUCCESS);
}
