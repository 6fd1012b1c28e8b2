/* SPDX-License-Identifier: BSD-2-Clause */
/*
   petscamb graph: random walks with restart from several seeds, the columns of a dense matrix. Two products take turns, each with the result of the other.

   With a matrix on a GPU the dense matrices are there, too. An iteration copies a sum and a norm for each seed to the host, and one number for each seed back.

   H. Tong, C. Faloutsos, J.-Y. Pan, Fast Random Walk with Restart and Its Applications, ICDM 2006.
*/
#include "graph.h"
#include <petsctime.h>

typedef struct {
  PetscInt    n, *vertex; /* the seeds */
  Mat         X[2];
  Vec         back;    /* the probability that goes back to each seed */
  VecScatter *scatter; /* from there to the entry of the seed in its column */
} Walks;

static PetscErrorCode WalksCreate(Graph *g, const GraphWalk *walk, Walks *w)
{
  Mat         P = walk->P;
  Vec         x, column;
  VecType     type;
  PetscBool   cuda;
  PetscMPIInt rank;
  PetscInt    m;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(g->comm, &rank));
  PetscCall(MatGetLocalSize(P, &m, NULL));
  PetscCall(MatCreateVecs(P, &x, NULL));
  PetscCall(VecGetType(x, &type));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)x, &cuda, VECSEQCUDA, VECMPICUDA, ""));
  for (int k = 0; k < 2; k++) {
    PetscCall(MatCreate(g->comm, &w->X[k]));
    PetscCall(MatSetSizes(w->X[k], m, PETSC_DECIDE, g->n, w->n));
    PetscCall(MatSetType(w->X[k], cuda ? MATDENSECUDA : MATDENSE));
    PetscCall(MatSetUp(w->X[k]));
    PetscCall(MatAssemblyBegin(w->X[k], MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(w->X[k], MAT_FINAL_ASSEMBLY));
  }
  PetscCall(VecCreate(g->comm, &w->back));
  PetscCall(VecSetSizes(w->back, PETSC_DECIDE, w->n));
  PetscCall(VecSetType(w->back, type));
  PetscCall(VecSet(w->back, 1.0));
  PetscCall(PetscMalloc1(w->n, &w->scatter));
  for (PetscInt s = 0; s < w->n; s++) {
    IS       from, to;
    PetscInt number;

    PetscCall(ISCreateStride(g->comm, rank ? 0 : 1, s, 1, &from));
    PetscCall(GraphWalkFind(g, walk, w->vertex[s], &number));
    PetscCall(ISCreateStride(g->comm, rank ? 0 : 1, number, 1, &to));
    PetscCall(VecScatterCreate(w->back, from, x, to, &w->scatter[s]));
    PetscCall(ISDestroy(&from));
    PetscCall(ISDestroy(&to));
    PetscCall(MatDenseGetColumnVecWrite(w->X[0], s, &column));
    PetscCall(VecSet(column, 0.0));
    PetscCall(VecScatterBegin(w->scatter[s], w->back, column, INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(VecScatterEnd(w->scatter[s], w->back, column, INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(MatDenseRestoreColumnVecWrite(w->X[0], s, &column));
  }
  for (int k = 0; k < 2; k++) {
    PetscCall(MatProductCreateWithMat(P, w->X[k], NULL, w->X[!k]));
    PetscCall(MatProductSetType(w->X[!k], MATPRODUCT_AB));
    PetscCall(MatProductSetFromOptions(w->X[!k]));
    PetscCall(MatProductSymbolic(w->X[!k]));
  }
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes X[1] of X[0] and exchanges them */
static PetscErrorCode WalksStep(Graph *g, Walks *w, PetscReal *change)
{
  Vec         x, z;
  PetscScalar sum;
  PetscReal   norm;
  Mat         old = w->X[0];
  PetscInt    first, last;

  PetscFunctionBegin;
  PetscCall(MatProductNumeric(w->X[1]));
  PetscCall(VecGetOwnershipRange(w->back, &first, &last));
  for (PetscInt s = 0; s < w->n; s++) {
    PetscCall(MatDenseGetColumnVecRead(w->X[1], s, &z));
    PetscCall(VecSum(z, &sum));
    PetscCall(MatDenseRestoreColumnVecRead(w->X[1], s, &z));
    if (s >= first && s < last) PetscCall(VecSetValue(w->back, s, (PetscScalar)1 - sum, INSERT_VALUES));
  }
  PetscCall(VecAssemblyBegin(w->back));
  PetscCall(VecAssemblyEnd(w->back));
  *change = 0;
  for (PetscInt s = 0; s < w->n; s++) {
    PetscCall(MatDenseGetColumnVec(w->X[1], s, &z));
    PetscCall(VecScatterBegin(w->scatter[s], w->back, z, ADD_VALUES, SCATTER_FORWARD));
    PetscCall(VecScatterEnd(w->scatter[s], w->back, z, ADD_VALUES, SCATTER_FORWARD));
    PetscCall(MatDenseGetColumnVec(w->X[0], s, &x));
    PetscCall(VecAXPY(x, -1.0, z));
    PetscCall(VecNorm(x, NORM_1, &norm));
    *change = PetscMax(*change, norm);
    PetscCall(MatDenseRestoreColumnVec(w->X[0], s, &x));
    PetscCall(MatDenseRestoreColumnVec(w->X[1], s, &z));
  }
  w->X[0] = w->X[1];
  w->X[1] = old;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The lists of all seeds become one */
static PetscErrorCode WalksReport(Graph *g, const GraphWalk *walk, Walks *w, GraphResult *r, PetscInt top)
{
  GraphList all = {.key = "top"};

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(w->n * PetscMin(top, g->n), &all.seed));
  PetscCall(PetscMalloc1(w->n * PetscMin(top, g->n), &all.id));
  PetscCall(PetscMalloc1(w->n * PetscMin(top, g->n), &all.value));
  for (PetscInt s = 0; s < w->n; s++) {
    GraphResult one = {.nlist = 0};
    Vec         x, result;
    PetscInt64  seed;

    PetscCall(GraphGetIds(g, 1, &w->vertex[s], &seed));
    PetscCall(MatDenseGetColumnVecRead(w->X[0], s, &x));
    PetscCall(GraphWalkPermute(g, walk, x, PETSC_TRUE, &result));
    PetscCall(GraphAddList(g, &one, "top", result, top));
    PetscCall(VecDestroy(&result));
    PetscCall(MatDenseRestoreColumnVecRead(w->X[0], s, &x));
    for (PetscInt v = 0; v < one.list[0].n; v++, all.n++) {
      all.seed[all.n]  = seed;
      all.id[all.n]    = one.list[0].id[v];
      all.value[all.n] = one.list[0].value[v];
    }
    PetscCall(GraphResultDestroy(&one));
  }
  if (w->n == 1) PetscCall(PetscFree(all.seed));
  r->list[r->nlist++] = all;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode WalksDestroy(Walks *w)
{
  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) PetscCall(MatProductClear(w->X[k])); /* each product refers to the other matrix */
  for (int k = 0; k < 2; k++) PetscCall(MatDestroy(&w->X[k]));
  for (PetscInt s = 0; s < w->n; s++) PetscCall(VecScatterDestroy(&w->scatter[s]));
  PetscCall(PetscFree(w->scatter));
  PetscCall(VecDestroy(&w->back));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GraphRWR(Graph *g, GraphResult *r)
{
  PetscReal      c = 0.9, tol, change = PETSC_MAX_REAL;
  PetscInt       top, most;
  PetscLogDouble start, end;
  Walks          w;
  GraphWalk      walk;

  PetscFunctionBegin;
  PetscCall(PetscTime(&start));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-c", &c, NULL));
  PetscCheck(c >= 0 && c < 1, g->comm, PETSC_ERR_USER_INPUT, "-c %g must be from 0 to less than 1", (double)c);
  PetscCall(GraphGetTop(g, &top));
  PetscCall(GraphGetStop(g, &tol, &most));
  PetscCheck(g->n, g->comm, PETSC_ERR_USER_INPUT, "%s has no vertex to start from", g->name);
  PetscCall(GraphGetOption(g, "-seeds", &w.n, &w.vertex));
  if (!w.n) {
    w.n = 1;
    PetscCall(PetscCalloc1(1, &w.vertex));
  }
  PetscCall(GraphWalkCreate(g, c, NULL, &walk));
  PetscCall(WalksCreate(g, &walk, &w));
  PetscCall(PetscTime(&end));
  r->setup = end - start;
  PetscCall(GraphIterate(PETSC_TRUE));
  for (; change >= tol && r->iterations < most; r->iterations++) {
    PetscCall(WalksStep(g, &w, &change));
    PetscCall(GraphProgress(g, "rwr: iteration", r->iterations + 1, change));
  }
  PetscCall(GraphIterate(PETSC_FALSE));
  r->walks     = w.n;
  r->converged = (PetscBool)(tol == 0 || change < tol);
  PetscCall(WalksReport(g, &walk, &w, r, top));
  PetscCall(WalksDestroy(&w));
  PetscCall(GraphWalkDestroy(&walk));
  PetscCall(PetscFree(w.vertex));
  PetscFunctionReturn(PETSC_SUCCESS);
}
