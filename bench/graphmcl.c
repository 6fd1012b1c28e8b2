/* SPDX-License-Identifier: BSD-2-Clause */
/*
   petscamb graph: Markov clustering. Expansion, a product of the matrix with itself, and inflation, powers of its entries, take turns until the entries of each row are equal. Some rows
   are expanded, inflated and pruned at a time, so that the product is never there as a whole.

   S. van Dongen, Graph clustering by flow simulation, doctoral thesis, University of Utrecht, 2000. The rows of this program are columns in that thesis.
*/
#include "graph.h"
#include <petsctime.h>

#define AT_REST 1e-5

typedef struct {
  PetscReal inflation, prune, batch;
  PetscInt  keep;
  char      type[64];
} Parameters;

static PetscErrorCode RowSums(Mat A, Vec sum)
{
  Vec ones;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, &ones, NULL));
  PetscCall(VecSet(ones, 1.0));
  PetscCall(MatMult(A, ones, sum));
  PetscCall(VecDestroy(&ones));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RowsToSumOne(Mat A)
{
  Vec sum;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, NULL, &sum));
  PetscCall(RowSums(A, sum));
  PetscCall(VecReciprocal(sum)); /* a zero stays */
  PetscCall(MatDiagonalScale(A, sum, NULL));
  PetscCall(VecDestroy(&sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Replaces A: powers of its entries, rows of sum 1, without small entries */
static PetscErrorCode Inflate(Mat *A, PetscReal power, const Parameters *p)
{
  Mat B;

  PetscFunctionBegin;
  PetscCall(MatPowEntries(*A, power));
  PetscCall(RowsToSumOne(*A));
  PetscCall(MatPruneRows(*A, p->prune, p->keep, &B));
  PetscCall(MatDestroy(A));
  PetscCall(RowsToSumOne(B));
  *A = B;
  PetscFunctionReturn(PETSC_SUCCESS);
}

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
  PetscCall(RowsToSumOne(*M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Cuts the rows of this process so that a batch has no more multiplications than are allowed; all processes have the same number of batches */
static PetscErrorCode Batches(Mat M, PetscReal most, PetscInt *n, PetscInt *cut[])
{
  Mat                ones;
  Vec                length, work;
  const PetscScalar *w;
  PetscInt           m, largest;
  PetscReal          sum = 0;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(M, &m, NULL));
  PetscCall(MatDuplicate(M, MAT_DO_NOT_COPY_VALUES, &ones));
  PetscCall(MatPowEntries(ones, 0));
  PetscCall(MatCreateVecs(M, &length, &work));
  PetscCall(RowSums(ones, length));
  PetscCall(MatMult(ones, length, work));
  PetscCall(MatDestroy(&ones));
  PetscCall(PetscMalloc1(m + 2, cut));
  (*cut)[0] = 0;
  *n        = 1;
  PetscCall(VecGetArrayRead(work, &w));
  for (PetscInt r = 0; r < m; r++) {
    sum += PetscRealPart(w[r]);
    if (sum <= most || (*cut)[*n - 1] == r) continue;
    (*cut)[(*n)++] = r;
    sum            = PetscRealPart(w[r]);
  }
  PetscCall(VecRestoreArrayRead(work, &w));
  PetscCallMPI(MPI_Allreduce(n, &largest, 1, MPIU_INT, MPI_MAX, PetscObjectComm((PetscObject)M)));
  PetscCall(PetscRealloc((size_t)(largest + 1) * sizeof(**cut), cut));
  for (PetscInt b = *n; b <= largest; b++) (*cut)[b] = m;
  *n = largest;
  PetscCall(VecDestroy(&length));
  PetscCall(VecDestroy(&work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Expands and inflates some rows of each process */
static PetscErrorCode ExpandRows(Mat M, PetscInt from, PetscInt to, const Parameters *p, Mat *E)
{
  Mat      part;
  IS       rows, columns;
  PetscInt first, firstcolumn, n;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(M, &first, NULL));
  PetscCall(MatGetOwnershipRangeColumn(M, &firstcolumn, NULL));
  PetscCall(MatGetLocalSize(M, NULL, &n));
  PetscCall(ISCreateStride(PetscObjectComm((PetscObject)M), to - from, first + from, 1, &rows));
  PetscCall(ISCreateStride(PetscObjectComm((PetscObject)M), n, firstcolumn, 1, &columns));
  PetscCall(MatCreateSubMatrix(M, rows, columns, MAT_INITIAL_MATRIX, &part));
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&columns));
  PetscCall(MatMatMult(part, M, MAT_INITIAL_MATRIX, PETSC_DEFAULT, E));
  PetscCall(MatDestroy(&part));
  PetscCall(Inflate(E, p->inflation, p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Replaces M by its expansion, inflated */
static PetscErrorCode Expand(Mat *M, const Parameters *p)
{
  PetscInt n, *cut;
  Mat      E;

  PetscFunctionBegin;
  PetscCall(Batches(*M, p->batch, &n, &cut));
  if (n == 1) {
    PetscCall(MatMatMult(*M, *M, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &E));
    PetscCall(Inflate(&E, p->inflation, p));
  } else {
    Mat *part, nest;

    PetscCall(PetscMalloc1(n, &part));
    for (PetscInt b = 0; b < n; b++) PetscCall(ExpandRows(*M, cut[b], cut[b + 1], p, &part[b]));
    PetscCall(MatCreateNest(PetscObjectComm((PetscObject)*M), n, NULL, 1, NULL, part, &nest));
    for (PetscInt b = 0; b < n; b++) PetscCall(MatDestroy(&part[b]));
    PetscCall(PetscFree(part));
    PetscCall(MatConvert(nest, MATAIJ, MAT_INITIAL_MATRIX, &E));
    PetscCall(MatDestroy(&nest));
    PetscCall(MatConvert(E, p->type, MAT_INPLACE_MATRIX, &E));
  }
  PetscCall(PetscFree(cut));
  PetscCall(MatDestroy(M));
  *M = E;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The largest difference, over all rows, between the largest entry and the sum of squares: 0 if all entries of each row are equal */
static PetscErrorCode Chaos(Mat M, PetscReal *chaos)
{
  Mat squares;
  Vec most, sum;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(M, NULL, &most));
  PetscCall(VecDuplicate(most, &sum));
  PetscCall(MatGetRowMaxAbs(M, most, NULL));
  PetscCall(MatDuplicate(M, MAT_COPY_VALUES, &squares));
  PetscCall(MatPowEntries(squares, 2));
  PetscCall(RowSums(squares, sum));
  PetscCall(VecAXPY(most, -1.0, sum));
  PetscCall(VecNorm(most, NORM_INFINITY, chaos));
  PetscCall(MatDestroy(&squares));
  PetscCall(VecDestroy(&most));
  PetscCall(VecDestroy(&sum));
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

PetscErrorCode GraphMCL(Graph *g, GraphResult *r)
{
  Parameters     p     = {.inflation = 2, .prune = 1e-4, .batch = 2e8, .keep = 1000};
  PetscInt       most  = 100;
  PetscReal      chaos = 1;
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
  for (; chaos > AT_REST && r->iterations < most; r->iterations++) {
    PetscCall(Expand(&M, &p));
    PetscCall(Chaos(M, &chaos));
    PetscCall(GraphProgress(g, "mcl: iteration", r->iterations + 1, chaos));
  }
  r->converged = (PetscBool)(chaos <= AT_REST);
  PetscCall(Clusters(g, M, r));
  PetscCall(MatDestroy(&M));
  PetscFunctionReturn(PETSC_SUCCESS);
}
