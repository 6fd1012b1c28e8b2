/* SPDX-License-Identifier: BSD-2-Clause */
/*
   MatHITS(): authorities a = A^T h and hubs h = A a, one after the other, each scaled to the sum 1
*/
#include "graph/glue/graphwalk.h"

typedef struct {
  GraphWalk walk;
  Vec       x[3]; /* authorities, hubs, and room for the next hubs */
  PetscBool zero;
} HITS;

static PetscErrorCode HITSStep(void *context, PetscReal *change, PetscBool *done)
{
  HITS *s   = (HITS *)context;
  Vec   old = s->x[1];

  PetscFunctionBegin;
  PetscCall(GraphWalkMult(&s->walk, PETSC_FALSE, s->x[1], s->x[0]));
  PetscCall(VecScaleToSum(s->x[0], 1.0, NULL, change, &s->zero));
  PetscCall(GraphWalkMult(&s->walk, PETSC_TRUE, s->x[0], s->x[2]));
  PetscCall(VecScaleToSum(s->x[2], 1.0, s->x[1], change, &s->zero));
  s->x[1] = s->x[2];
  s->x[2] = old;
  *done   = s->zero;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatHITS - computes the authorities and hubs of a graph: a good hub has edges to good authorities

  Collective

  Input Parameter:
. A - a square matrix of weights that are not negative; an entry (i, j) is an edge from i to j

  Input/Output Parameter:
. iteration - parameters on input, results on output; or `NULL` for the defaults. `damping` and `dangling` are ignored.

  Output Parameters:
+ authorities - the right singular vector of the largest singular value of `A`, scaled to the sum 1; distributed as the rows of `A`
- hubs        - the left one, scaled to the sum 1; distributed as the rows of `A`

  Level: intermediate

  Notes:
  An iteration is a = A^T h and h = A a, each scaled to the sum 1; it begins with equal hubs, and ends if the 1-norm of the change of the hubs is less than `tol`. Vertices without edges have the values 0, and
  in a graph without edges all have. If several singular values are equal, the result depends on the start.

  Of `MATAIJ` and types that extend it, both products use one transposed copy, of the type of `A`. With a matrix on a GPU the vectors are there, and only sums come to the host. Other types need `MatMult()` and
  `MatMultTranspose()`, and their weights are not checked.

  On an error both vectors are unchanged.

  Errors:
+ `PETSC_ERR_ARG_WRONGSTATE` - the matrix is not assembled
. `PETSC_ERR_ARG_SIZ`        - the matrix is not square, its rows and columns are distributed differently, or a vector is distributed differently
. `PETSC_ERR_ARG_IDN`        - both vectors are the same
. `PETSC_ERR_ARG_OUTOFRANGE` - a weight is negative or NaN, or a parameter is out of its range
- `PETSC_ERR_SUP`            - the type has no `MatMultTranspose()`, or does not support the order

  Example:
.vb
  PetscCall(MatCreateVecs(A, &authorities, &hubs));
  PetscCall(MatHITS(A, NULL, authorities, hubs));
.ve

  References:
  J. M. Kleinberg, Authoritative Sources in a Hyperlinked Environment, Journal of the ACM 46 (5), 1999.

.seealso: `MatGraphIteration`, `MatGraphIterationInitialize()`, `MatPageRank()`, `VecGetTop()`
@*/
PetscErrorCode MatHITS(Mat A, MatGraphIteration *iteration, Vec authorities, Vec hubs)
{
  MatGraphIteration own;
  HITS              s = {.zero = PETSC_FALSE};
  PetscErrorCode    ierr;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscValidHeaderSpecific(authorities, VEC_CLASSID, 3);
  PetscValidHeaderSpecific(hubs, VEC_CLASSID, 4);
  PetscCall(GraphWalkCheck(A, "MatHITS()", &own, &iteration));
  PetscCall(GraphWalkCheckVec(A, "MatHITS()", authorities));
  PetscCall(GraphWalkCheckVec(A, "MatHITS()", hubs));
  PetscCheck(authorities != hubs, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_IDN, "MatHITS(): authorities and hubs are the same vector; give two");
  PetscCall(GraphWalkCreate(A, PETSC_FALSE, iteration, "MatHITS()", &s.walk));
  PetscCall(GraphWalkCreateVecs(&s.walk, 3, s.x));
  PetscCall(VecSet(s.x[1], A->rmap->N ? 1 / (PetscReal)A->rmap->N : 0));
  ierr = GraphWalkIterate(A, iteration, HITSStep, &s, (PetscBool)!A->rmap->N);
  for (int k = 0; k < 2 && !ierr; k++) {
    if (s.zero) ierr = VecSet(s.x[k], 0.0);
    if (!ierr) ierr = GraphWalkPermute(&s.walk, PETSC_TRUE, s.x[k], k ? hubs : authorities);
  }
  for (int k = 0; k < 3; k++) PetscCall(VecDestroy(&s.x[k]));
  PetscCall(GraphWalkDestroy(&s.walk));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}
