/* SPDX-License-Identifier: BSD-2-Clause */
/*
   MatRandomWalkWithRestart(): random walks from several seeds, the columns of a dense matrix. Two products take turns, each with the result of the other. With a matrix on a
   GPU the dense matrices are there, too. An iteration copies a sum and a norm for each seed to the host, and one number for each seed back.
*/
#include "graph/glue/graphwalk.h"

typedef struct {
  GraphWalk                walk;
  const MatGraphIteration *it;
  PetscInt                 n; /* seeds */
  Mat                      X[2];
  Vec                      back;    /* the probability that returns to each seed */
  VecScatter              *scatter; /* from there to the entry of the seed in its column */
} Walks;

/* Creates a dense matrix of the walks, with the rows of a matrix */
static PetscErrorCode WalksCreateDense(Mat rows, PetscInt n, MatType type, Mat *X)
{
  PetscFunctionBegin;
  PetscCall(MatCreate(PetscObjectComm((PetscObject)rows), X));
  PetscCall(MatSetSizes(*X, rows->rmap->n, PETSC_DECIDE, rows->rmap->N, n));
  PetscCall(MatSetType(*X, type));
  PetscCall(MatSetUp(*X));
  PetscCall(MatAssemblyBegin(*X, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*X, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode WalksCreate(Mat A, const PetscInt seeds[], Walks *w)
{
  MPI_Comm    comm = PetscObjectComm((PetscObject)A);
  Mat         P    = w->walk.P;
  Vec         x, column;
  VecType     type;
  PetscBool   cuda;
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(GraphWalkCreateVecs(&w->walk, 1, &x));
  PetscCall(VecGetType(x, &type));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)x, &cuda, VECSEQCUDA, VECMPICUDA, ""));
  for (int k = 0; k < 2; k++) PetscCall(WalksCreateDense(P ? P : A, w->n, cuda ? MATDENSECUDA : MATDENSE, &w->X[k]));
  PetscCall(VecCreate(comm, &w->back));
  PetscCall(VecSetSizes(w->back, PETSC_DECIDE, w->n));
  PetscCall(VecSetType(w->back, type));
  PetscCall(VecSet(w->back, 1.0));
  PetscCall(PetscCalloc1(w->n, &w->scatter));
  for (PetscInt s = 0; s < w->n; s++) {
    IS       from, to;
    PetscInt number;

    PetscCall(ISCreateStride(comm, rank ? 0 : 1, s, 1, &from));
    PetscCall(GraphWalkFind(&w->walk, seeds[s], &number));
    PetscCall(ISCreateStride(comm, rank ? 0 : 1, number, 1, &to));
    PetscCall(VecScatterCreate(w->back, from, x, to, &w->scatter[s]));
    PetscCall(ISDestroy(&from));
    PetscCall(ISDestroy(&to));
    PetscCall(MatDenseGetColumnVecWrite(w->X[0], s, &column));
    PetscCall(VecSet(column, 0.0));
    PetscCall(VecScatterBegin(w->scatter[s], w->back, column, INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(VecScatterEnd(w->scatter[s], w->back, column, INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(MatDenseRestoreColumnVecWrite(w->X[0], s, &column));
  }
  for (int k = 0; k < 2 && P; k++) {
    PetscCall(MatProductCreateWithMat(P, w->X[k], NULL, w->X[!k]));
    PetscCall(MatProductSetType(w->X[!k], MATPRODUCT_AB));
    PetscCall(MatProductSetFromOptions(w->X[!k]));
    PetscCall(MatProductSymbolic(w->X[!k]));
  }
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets X[1] to the product with X[0] */
static PetscErrorCode WalksMult(Walks *w)
{
  PetscFunctionBegin;
  if (w->walk.P) PetscCall(MatProductNumeric(w->X[1]));
  for (PetscInt s = 0; s < w->n && !w->walk.P; s++) {
    PetscErrorCode ierr;
    Vec            x, z;

    PetscCall(MatDenseGetColumnVecRead(w->X[0], s, &x));
    PetscCall(MatDenseGetColumnVecWrite(w->X[1], s, &z));
    ierr = GraphWalkMult(&w->walk, PETSC_FALSE, x, z);
    PetscCall(MatDenseRestoreColumnVecWrite(w->X[1], s, &z));
    PetscCall(MatDenseRestoreColumnVecRead(w->X[0], s, &x));
    PetscCall(ierr);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the probabilities that return to the seeds: the probability that the product has lost, or only the restart's */
static PetscErrorCode WalksBack(Walks *w)
{
  PetscInt first, last;

  PetscFunctionBegin;
  if (w->it->dangling == MAT_GRAPH_DANGLING_NONE) {
    PetscCall(VecSet(w->back, (PetscScalar)(1 - w->it->damping)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecGetOwnershipRange(w->back, &first, &last));
  for (PetscInt s = 0; s < w->n; s++) {
    Vec         z;
    PetscScalar sum;

    PetscCall(MatDenseGetColumnVecRead(w->X[1], s, &z));
    PetscCall(VecSum(z, &sum));
    PetscCall(MatDenseRestoreColumnVecRead(w->X[1], s, &z));
    if (s >= first && s < last) PetscCall(VecSetValue(w->back, s, (PetscScalar)1 - sum, INSERT_VALUES));
  }
  PetscCall(VecAssemblyBegin(w->back));
  PetscCall(VecAssemblyEnd(w->back));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets X[1] to the next step and exchanges X[0] and X[1] */
static PetscErrorCode WalksStep(void *context, PetscReal *change, PetscBool *done)
{
  Walks    *w = (Walks *)context;
  Vec       x, z;
  PetscReal norm;
  Mat       old = w->X[0];

  PetscFunctionBegin;
  (void)done;
  PetscCall(WalksMult(w));
  PetscCall(WalksBack(w));
  *change = 0;
  for (PetscInt s = 0; s < w->n; s++) {
    PetscCall(MatDenseGetColumnVec(w->X[1], s, &z));
    PetscCall(VecScatterBegin(w->scatter[s], w->back, z, ADD_VALUES, SCATTER_FORWARD));
    PetscCall(VecScatterEnd(w->scatter[s], w->back, z, ADD_VALUES, SCATTER_FORWARD));
    PetscCall(MatDenseGetColumnVec(w->X[0], s, &x));
    PetscCall(VecAXPY(x, -1.0, z));
    PetscCall(VecNorm(x, NORM_1, &norm));
    if (norm > *change || PetscIsNanReal(norm)) *change = norm;
    PetscCall(MatDenseRestoreColumnVec(w->X[0], s, &x));
    PetscCall(MatDenseRestoreColumnVec(w->X[1], s, &z));
  }
  w->X[0] = w->X[1];
  w->X[1] = old;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates the result, whose rows are vertices in their order in A */
static PetscErrorCode WalksGet(Mat A, Walks *w, Mat *walks)
{
  MatType type;
  Vec     x, y;

  PetscFunctionBegin;
  if (!w->walk.position && !w->walk.rows) {
    PetscCall(PetscObjectReference((PetscObject)w->X[0]));
    *walks = w->X[0];
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatGetType(w->X[0], &type));
  PetscCall(WalksCreateDense(A, w->n, type, walks));
  for (PetscInt s = 0; s < w->n; s++) {
    PetscCall(MatDenseGetColumnVecRead(w->X[0], s, &x));
    PetscCall(MatDenseGetColumnVecWrite(*walks, s, &y));
    PetscCall(GraphWalkPermute(&w->walk, PETSC_TRUE, x, y));
    PetscCall(MatDenseRestoreColumnVecWrite(*walks, s, &y));
    PetscCall(MatDenseRestoreColumnVecRead(w->X[0], s, &x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode WalksDestroy(Walks *w)
{
  PetscFunctionBegin;
  for (int k = 0; k < 2 && w->X[1]; k++) { /* each product refers to the other matrix, as do the products of the local parts */
    Mat local;

    PetscCall(MatDenseGetLocalMatrix(w->X[k], &local));
    PetscCall(MatProductClear(local));
    PetscCall(MatProductClear(w->X[k]));
  }
  for (int k = 0; k < 2; k++) PetscCall(MatDestroy(&w->X[k]));
  for (PetscInt s = 0; s < w->n && w->scatter; s++) PetscCall(VecScatterDestroy(&w->scatter[s]));
  PetscCall(PetscFree(w->scatter));
  PetscCall(VecDestroy(&w->back));
  PetscCall(GraphWalkDestroy(&w->walk));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatRandomWalkWithRestart - computes where random walks from some vertices of a graph, the seeds, are: the vertices near each seed

  Collective

  Input Parameters:
+ A     - a square matrix of weights that are not negative; an entry (i, j) is an edge from i to j
. n     - the number of seeds, the same on all processes
- seeds - the rows of the seeds, the same on all processes; a row may occur several times

  Input/Output Parameter:
. iteration - parameters on input, results on output; or `NULL` for the defaults

  Output Parameter:
. walks - a new matrix with as many rows as `A`, distributed as these, and `n` columns, of `MATDENSE`, or of `MATDENSECUDA` if the vectors of `A` are on a GPU: entry (i, s) is the probability that the walk from `seeds`[s] is in vertex i

  Level: intermediate

  Notes:
  Column s is the fixed point of x = c P x + (1 - c) e_s: a walk follows an edge with the probability c, `damping`, in proportion to its weight, and returns to its seed otherwise. So does a walk in a vertex
  without outgoing edges, or as `dangling` says; a walk stays in a seed that `MAT_GRAPH_DANGLING_REMOVE` removes. The iteration begins in the seeds, and ends if the 1-norm of the change of each column is
  less than `tol`.

  Of `MATAIJ` and types that extend it, an iteration is a product of a sparse and a dense matrix for all seeds. With a matrix on a GPU the dense matrices are there, and only a sum and a norm for each seed
  come to the host. Other types need `MatMult()` and `MatMultTranspose()`, seed by seed, and their weights are not checked.

  The program destroys `walks`. On an error there is no matrix.

  Errors:
+ `PETSC_ERR_ARG_WRONGSTATE` - the matrix is not assembled
. `PETSC_ERR_ARG_SIZ`        - the matrix is not square, or its rows and columns are distributed differently
. `PETSC_ERR_ARG_OUTOFRANGE` - there is no seed, a seed is no row, a weight is negative or NaN, or a parameter is out of its range
- `PETSC_ERR_SUP`            - the type has no `MatMultTranspose()`, or does not support the order

  Example:
.vb
  const PetscInt seeds[] = {0, 7};
  Mat            walks;
  Vec            x;

  PetscCall(MatRandomWalkWithRestart(A, 2, seeds, NULL, &walks));
  PetscCall(MatDenseGetColumnVecRead(walks, 1, &x));
  PetscCall(VecGetTop(x, 10, &n, index, value)); // the vertices near 7
  PetscCall(MatDenseRestoreColumnVecRead(walks, 1, &x));
.ve

  References:
  H. Tong, C. Faloutsos, J.-Y. Pan, Fast Random Walk with Restart and Its Applications, ICDM 2006.

.seealso: `MatGraphIteration`, `MatGraphIterationInitialize()`, `MatPageRank()`, `VecGetTop()`
@*/
PetscErrorCode MatRandomWalkWithRestart(Mat A, PetscInt n, const PetscInt seeds[], MatGraphIteration *iteration, Mat *walks)
{
  MatGraphIteration own;
  Walks             w = {.n = n};
  PetscErrorCode    ierr;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscValidLogicalCollectiveInt(A, n, 2);
  *walks = NULL;
  PetscCall(GraphWalkCheck(A, "MatRandomWalkWithRestart()", &own, &iteration));
  PetscCheck(n > 0, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE, "MatRandomWalkWithRestart(): %" PetscInt_FMT " seeds were given; give 1 or more", n);
  for (PetscInt s = 0; s < n; s++)
    PetscCheck(seeds[s] >= 0 && seeds[s] < A->rmap->N, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE, "MatRandomWalkWithRestart(): seed %" PetscInt_FMT " is %" PetscInt_FMT ", and the matrix has %" PetscInt_FMT " rows", s, seeds[s],
               A->rmap->N);
  w.it = iteration;
  PetscCall(GraphWalkCreate(A, PETSC_TRUE, iteration, "MatRandomWalkWithRestart()", &w.walk));
  ierr = WalksCreate(A, seeds, &w);
  if (!ierr) ierr = GraphWalkIterate(A, iteration, WalksStep, &w, PETSC_FALSE);
  if (!ierr) ierr = WalksGet(A, &w, walks);
  PetscCall(WalksDestroy(&w));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}
