/* SPDX-License-Identifier: BSD-2-Clause */
/*
   MatPageRank(): the stationary distribution of a random walk that goes on along an edge or jumps anywhere
*/
#include "graph/glue/graphwalk.h"

typedef struct {
  GraphWalk                walk;
  const MatGraphIteration *it;
  Vec                      x[2]; /* the ranks, and room for the next ones */
} PageRank;

/* The shares of vertices without outgoing edges, and the probability of a jump, are the part that the sum lacks */
static PetscErrorCode PageRankStep(void *context, PetscReal *change, PetscBool *done)
{
  PageRank   *r   = (PageRank *)context;
  Vec         old = r->x[0];
  PetscScalar sum = 1;

  PetscFunctionBegin;
  (void)done;
  PetscCall(GraphWalkMult(&r->walk, PETSC_FALSE, r->x[0], r->x[1]));
  if (r->it->dangling == MAT_GRAPH_DANGLING_NONE) {
    PetscCall(VecSum(r->x[1], &sum));
    sum += (PetscScalar)(1 - r->it->damping);
  }
  PetscCall(VecShiftToSum(r->x[1], r->walk.keep, (PetscReal)r->walk.stay, sum, r->x[0], change));
  r->x[0] = r->x[1];
  r->x[1] = old;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatPageRank - computes the PageRank of the vertices of a graph

  Collective

  Input Parameter:
. A - a square matrix of weights that are not negative; an entry (i, j) is an edge from i to j

  Input/Output Parameter:
. iteration - parameters on input, results on output; or `NULL` for the defaults

  Output Parameter:
. ranks - the ranks, probabilities; distributed as the rows of `A`

  Level: intermediate

  Notes:
  The ranks are the fixed point of x = c P x + (1 - c)/n e: a walk follows an edge with the probability c, `damping`, in proportion to its weight, and jumps to any of the n vertices otherwise.
  A walk in a vertex without outgoing edges does as `dangling` says; the ranks have the sum 1 except with `MAT_GRAPH_DANGLING_NONE`. The iteration begins with equal ranks and ends if the
  1-norm of the change is less than `tol`; the error is then less than `tol` c / (1 - c).

  Of `MATAIJ` and types that extend it, the host transposes and scales the matrix once, into a copy of the type of `A`; then an iteration is a product and two passes over the vectors. With a matrix on a
  GPU the vectors are there, and only sums come to the host. Other types need `MatMult()` and `MatMultTranspose()`, and their weights are not checked.

  On an error `ranks` is unchanged.

  Errors:
+ `PETSC_ERR_ARG_WRONGSTATE` - the matrix is not assembled
. `PETSC_ERR_ARG_SIZ`        - the matrix is not square, its rows and columns are distributed differently, or `ranks` is distributed differently
. `PETSC_ERR_ARG_OUTOFRANGE` - a weight is negative or NaN, or a parameter is out of its range
- `PETSC_ERR_SUP`            - the type has no `MatMultTranspose()`, or does not support the order

  Example:
.vb
  MatGraphIteration iteration;

  PetscCall(MatLoadEdgeList(A, "graph.txt", NULL));
  PetscCall(MatCreateVecs(A, NULL, &ranks));
  PetscCall(MatGraphIterationInitialize(&iteration));
  PetscCall(MatPageRank(A, &iteration, ranks));
  if (iteration.reason < 0) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "not converged: change %g\n", (double)iteration.change));
.ve

  References:
  L. Page, S. Brin, R. Motwani, T. Winograd, The PageRank Citation Ranking: Bringing Order to the Web, Stanford InfoLab, 1999.

.seealso: `MatGraphIteration`, `MatGraphIterationInitialize()`, `MatRandomWalkWithRestart()`, `MatHITS()`, `VecGetTop()`
@*/
PetscErrorCode MatPageRank(Mat A, MatGraphIteration *iteration, Vec ranks)
{
  MatGraphIteration own;
  PageRank          r;
  PetscScalar       start;
  PetscErrorCode    ierr;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscValidHeaderSpecific(ranks, VEC_CLASSID, 3);
  PetscCall(GraphWalkCheck(A, "MatPageRank()", &own, &iteration));
  PetscCall(GraphWalkCheckVec(A, "MatPageRank()", ranks));
  r.it = iteration;
  PetscCall(GraphWalkCreate(A, PETSC_TRUE, iteration, "MatPageRank()", &r.walk));
  PetscCall(GraphWalkCreateVecs(&r.walk, 2, r.x));
  start = r.walk.stay ? 1 / (PetscReal)r.walk.stay : 0;
  if (r.walk.keep) {
    PetscCall(VecCopy(r.walk.keep, r.x[0]));
    PetscCall(VecScale(r.x[0], start));
  } else PetscCall(VecSet(r.x[0], start));
  ierr = GraphWalkIterate(A, iteration, PageRankStep, &r, (PetscBool)!r.walk.stay);
  if (!ierr) ierr = GraphWalkPermute(&r.walk, PETSC_TRUE, r.x[0], ranks);
  for (int k = 0; k < 2; k++) PetscCall(VecDestroy(&r.x[k]));
  PetscCall(GraphWalkDestroy(&r.walk));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}
