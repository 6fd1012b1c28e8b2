/* SPDX-License-Identifier: BSD-2-Clause */
/*
   petscamb graph: Markov clustering. With a GPU the matrix goes there, and the limit comes back.
*/
#include "graph.h"
#include <petsctime.h>

#define AT_REST 1e-5

typedef struct {
  PetscReal inflation, prune, batch;
  PetscInt  keep;
  char      type[64];
} Parameters;

/* The similarities in both directions, and for each vertex a loop of its largest one, or of 1 */
static PetscErrorCode Start(Graph *g, const Parameters *p, Mat *M)
{
  Mat          B, D;
  Vec          loop, zero;
  PetscScalar *l;
  PetscInt     first;

  PetscFunctionBegin;
  PetscCall(MatPowEntries(g->A, 1));
  PetscCall(GraphSymmetrize(g->A, &B));
  PetscCall(MatCreateVecs(B, &zero, &loop));
  PetscCall(MatGetOwnershipRange(B, &first, NULL));
  PetscCall(MatCreate(g->comm, &D));
  PetscCall(MatSetSizes(D, g->m, g->m, g->n, g->n));
  PetscCall(MatSetType(D, MATAIJ));
  PetscCall(MatSeqAIJSetPreallocation(D, 1, NULL));
  PetscCall(MatMPIAIJSetPreallocation(D, 1, NULL, 0, NULL));
  PetscCall(MatGetDiagonal(B, zero));
  PetscCall(VecScale(zero, -1.0));
  PetscCall(MatDiagonalSet(D, zero, INSERT_VALUES));
  PetscCall(MatAXPY(B, 1.0, D, DIFFERENT_NONZERO_PATTERN)); /* its diagonal is there, and 0 */
  PetscCall(MatGetRowMaxAbs(B, loop, NULL));
  PetscCall(VecGetArray(loop, &l));
  for (PetscInt r = 0; r < g->m; r++) l[r] = PetscRealPart(l[r]) > 0 ? l[r] : 1;
  PetscCall(VecRestoreArray(loop, &l));
  PetscCall(MatDiagonalSet(B, loop, INSERT_VALUES));
  PetscCall(MatDestroy(&D));
  PetscCall(VecDestroy(&zero));
  PetscCall(VecDestroy(&loop));
  PetscCall(MatConvert(B, p->type, MAT_INPLACE_MATRIX, &B));
  *M = B;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows with the same first column belong to one cluster, which has the id of that vertex */
static PetscErrorCode Clusters(Graph *g, Mat M, GraphResult *r)
{
  PetscInt           first, *to, top;
  PetscInt64         count[2] = {0, 0};
  PetscBool          csv;
  Vec                members;
  const PetscScalar *a;

  PetscFunctionBegin;
  PetscCall(GraphGetTop(g, &top));
  PetscCall(MatGetOwnershipRange(M, &first, NULL));
  PetscCall(MatCreateVecs(g->A, NULL, &members));
  PetscCall(PetscMalloc1(g->m, &to));
  for (PetscInt v = 0; v < g->m; v++) {
    PetscInt        n;
    const PetscInt *j;

    PetscCall(MatGetRow(M, first + v, &n, &j, NULL));
    PetscCheck(n, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A row has lost all entries");
    to[v] = j[0];
    PetscCall(MatRestoreRow(M, first + v, &n, &j, NULL));
    PetscCall(VecSetValue(members, to[v], 1.0, ADD_VALUES));
  }
  PetscCall(VecAssemblyBegin(members));
  PetscCall(VecAssemblyEnd(members));
  PetscCall(VecGetArrayRead(members, &a));
  for (PetscInt v = 0; v < g->m; v++) {
    count[0] += PetscRealPart(a[v]) > 0.5;
    count[1] = PetscMax(count[1], (PetscInt64)(PetscRealPart(a[v]) + 0.5));
  }
  PetscCall(VecRestoreArrayRead(members, &a));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &count[0], 1, MPIU_INT64, MPI_SUM, g->comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &count[1], 1, MPIU_INT64, MPI_MAX, g->comm));
  r->ncount     = 2;
  r->count[0]   = "clusters";
  r->counted[0] = count[0];
  r->count[1]   = "largest";
  r->counted[1] = count[1];
  PetscCall(GraphAddList(g, r, "top", members, (PetscInt)PetscMin(top, count[0])));
  PetscCall(VecDestroy(&members));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-csv", &csv));
  if (csv) {
    PetscInt64 *ids, *mine, *all;
    PetscMPIInt rank;

    PetscCallMPI(MPI_Comm_rank(g->comm, &rank));
    PetscCall(PetscMalloc1(g->m, &mine));
    for (PetscInt v = 0; v < g->m; v++) mine[v] = to[v];
    PetscCall(GraphGatherIds(g, &ids));
    PetscCall(GraphGather(g, mine, &all));
    PetscCall(PetscFree(mine));
    r->head    = "id,cluster";
    r->columns = 2;
    r->rows    = rank ? 0 : g->n;
    PetscCall(PetscMalloc1(2 * (size_t)r->rows, &r->row));
    for (PetscInt v = 0; v < r->rows; v++) {
      r->row[2 * (size_t)v]     = ids[v];
      r->row[2 * (size_t)v + 1] = ids[all[v]];
    }
    PetscCall(PetscFree(all));
    PetscCall(PetscFree(ids));
  }
  PetscCall(PetscFree(to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Monitor(PetscInt iteration, PetscReal chaos, void *g)
{
  return GraphProgress((Graph *)g, "mcl: iteration", iteration, chaos);
}

PetscErrorCode GraphMCL(Graph *g, GraphResult *r)
{
  Parameters     p    = {.inflation = 2, .prune = 1e-4, .batch = 2e8, .keep = 1000};
  PetscInt       most = 100;
  PetscReal      chaos;
  PetscLogDouble start, end;
  Mat            M;

  PetscFunctionBegin;
  PetscCall(PetscTime(&start));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-inflation", &p.inflation, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-prune", &p.prune, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-batch", &p.batch, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-keep", &p.keep, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-iterations", &most, NULL));
  PetscCall(GraphGetType(g, MATHASHGEMM, p.type, sizeof(p.type)));
  PetscCheck(p.inflation > 1 && p.prune >= 0 && p.prune < 1 && p.keep > 0 && p.batch > 0 && most > 0, g->comm, PETSC_ERR_USER_INPUT, "-inflation must be more than 1, -prune from 0 to less than 1, and -keep, -batch and -iterations positive");
  if (!g->n) {
    r->ncount   = 1;
    r->count[0] = "clusters";
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(Start(g, &p, &M));
  PetscCall(PetscTime(&end));
  r->setup = end - start;
  PetscCall(MatMarkovCluster(&M, p.inflation, p.prune, p.keep, p.batch, AT_REST, most, Monitor, g, &r->iterations, &chaos));
  r->converged = (PetscBool)(chaos <= AT_REST);
  PetscCall(Clusters(g, M, r));
  PetscCall(MatDestroy(&M));
  PetscFunctionReturn(PETSC_SUCCESS);
}
