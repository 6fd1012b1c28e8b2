/* SPDX-License-Identifier: BSD-2-Clause */
/*
   MatMarkovCluster(): alternates expansion, a product of the matrix with itself, and inflation, powers of its entries, until the nonzeros of
   each row are equal. One step expands, inflates and prunes some rows at a time, so the whole product is never stored.

   Source: S. van Dongen, Graph clustering by flow simulation, doctoral thesis, University of Utrecht, 2000. The rows here are columns in that thesis.
*/
#include <petscambgraph.h>
#include "graph/glue/graph.h"
#include "graph/glue/graphdevice.h"

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
  PetscCall(VecReciprocal(sum)); /* zeros stay zero */
  PetscCall(MatDiagonalScale(A, sum, NULL));
  PetscCall(VecDestroy(&sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Inflates and prunes: replaces A by powers of its entries, drops small entries, and scales rows to the sum 1 */
static PetscErrorCode Inflate(Mat *A, PetscReal power, const GraphMarkovParameters *p)
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

/* Partitions this process's rows into batches of at most `most` multiplications of M M, or of one row; all processes have equally many batches. Batch b is
   rows cut[b] to cut[b + 1] - 1. */
static PetscErrorCode MarkovPartition(Mat M, PetscReal most, PetscInt *n, PetscInt *cut[])
{
  Mat                pattern;        /* M with ones for its nonzeros */
  Vec                length, nmults; /* entries of each row, and multiplications for it */
  const PetscScalar *w;
  PetscInt           m, largest;
  PetscReal          sum = 0;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(M, &m, NULL));
  PetscCall(MatDuplicate(M, MAT_DO_NOT_COPY_VALUES, &pattern));
  PetscCall(MatPowEntries(pattern, 0));
  PetscCall(MatCreateVecs(M, &length, &nmults));
  PetscCall(RowSums(pattern, length));
  PetscCall(MatMult(pattern, length, nmults));
  PetscCall(MatDestroy(&pattern));
  PetscCall(PetscMalloc1(m + 2, cut));
  (*cut)[0] = 0;
  *n        = 1;
  PetscCall(VecGetArrayRead(nmults, &w));
  for (PetscInt r = 0; r < m; r++) {
    sum += PetscRealPart(w[r]);
    if (sum <= most || (*cut)[*n - 1] == r) continue;
    (*cut)[(*n)++] = r;
    sum            = PetscRealPart(w[r]);
  }
  PetscCall(VecRestoreArrayRead(nmults, &w));
  PetscCallMPI(MPI_Allreduce(n, &largest, 1, MPIU_INT, MPI_MAX, PetscObjectComm((PetscObject)M)));
  PetscCall(PetscRealloc((size_t)(largest + 1) * sizeof(**cut), cut));
  for (PetscInt b = *n; b <= largest; b++) (*cut)[b] = m;
  *n = largest;
  PetscCall(VecDestroy(&length));
  PetscCall(VecDestroy(&nmults));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates E of rows from to to - 1 of each process, expanded, inflated and pruned */
static PetscErrorCode MarkovStepRows(Mat M, PetscInt from, PetscInt to, const GraphMarkovParameters *p, Mat *E)
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

/* One iteration: replaces M by its expanded, inflated and pruned matrix */
static PetscErrorCode MarkovStep(Mat *M, const GraphMarkovParameters *p)
{
  PetscInt n, *cut;
  MatType  type;
  Mat      E;

  PetscFunctionBegin;
  PetscCall(MatGetType(*M, &type));
  PetscCall(MarkovPartition(*M, p->batch, &n, &cut));
  if (n == 1) {
    PetscCall(MatMatMult(*M, *M, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &E));
    PetscCall(Inflate(&E, p->inflation, p));
  } else {
    Mat *part, nest;

    PetscCall(PetscMalloc1(n, &part));
    for (PetscInt b = 0; b < n; b++) PetscCall(MarkovStepRows(*M, cut[b], cut[b + 1], p, &part[b]));
    PetscCall(MatCreateNest(PetscObjectComm((PetscObject)*M), n, NULL, 1, NULL, part, &nest));
    for (PetscInt b = 0; b < n; b++) PetscCall(MatDestroy(&part[b]));
    PetscCall(PetscFree(part));
    PetscCall(MatConvert(nest, MATAIJ, MAT_INITIAL_MATRIX, &E));
    PetscCall(MatDestroy(&nest));
    PetscCall(MatConvert(E, type, MAT_INPLACE_MATRIX, &E));
  }
  PetscCall(PetscFree(cut));
  PetscCall(MatDestroy(M));
  *M = E;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns the maximum over all rows of the largest entry minus the sum of squares: 0 if the nonzeros of each row are equal */
static PetscErrorCode MarkovChaos(Mat M, PetscReal *chaos)
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

/* Iterates until the chaos is at most p->rest, or p->most iterations are done */
static PetscErrorCode MarkovHost(Mat *M, const GraphMarkovParameters *p, PetscInt *iterations, PetscReal *chaos)
{
  PetscFunctionBegin;
  while (*chaos > p->rest && *iterations < p->most) {
    PetscCall(MarkovStep(M, p));
    PetscCall(MarkovChaos(*M, chaos));
    (*iterations)++;
    if (p->monitor) PetscCall((*p->monitor)(*iterations, *chaos, p->context));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  MatMarkovCluster - finds the clusters of a graph: products of a matrix with itself and powers of its entries take turns

  Collective

  Input Parameters:
+ inflation - the power of the entries, more than 1
. prune     - a new row drops smaller entries, but not its largest one
. keep      - most entries of a row
. batch     - most multiplications of a batch of rows, which bounds the memory
. rest      - the end: the largest difference, over all rows, between the largest entry and the sum of squares
. most      - most iterations
. monitor   - a function that is called after each iteration, or `NULL`
- context   - its last argument

  Input/Output Parameter:
. M - on input similarities, numbers that are not negative, of `MATAIJ` or a type that extends it; on output the limit. Rows with the same first column are a cluster.

  Output Parameters:
+ iterations - the number of iterations
- chaos      - the difference at the end

  Level: intermediate

  Notes:
  Rows are scaled to the sum 1 first. Each iteration multiplies `M` with itself, takes powers of the entries, scales rows to the sum 1, leaves out small entries and scales again. The product uses the type of `M`;
  `MATHASHGEMM` is fast. A matrix of one process that is on a GPU stays there until the end.

  `M` on output is another matrix in general, since the one on input is overwritten or destroyed. The program destroys it at the end.

  Errors:
+ `PETSC_ERR_ARG_WRONGSTATE` - the matrix is not assembled
. `PETSC_ERR_SUP`            - the matrix is not of `MATAIJ` or a type that extends it
. `PETSC_ERR_ARG_SIZ`        - the matrix is not square, or its rows and columns are distributed differently
- `PETSC_ERR_ARG_OUTOFRANGE` - `inflation` is not more than 1, `prune` is not from 0 to less than 1, or `keep` or `batch` is not positive

  Example:
.vb
  PetscCall(MatConvert(A, MATHASHGEMM, MAT_INITIAL_MATRIX, &M));
  PetscCall(MatMarkovCluster(&M, 2, 1e-4, 1000, 2e8, 1e-5, 100, NULL, NULL, &iterations, &chaos));
  if (chaos > 1e-5) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "not at rest after %" PetscInt_FMT " iterations\n", iterations));
.ve

.seealso: `MatMarkovMonitor`, `MatPruneRows()`, `MatPowEntries()`, `MATHASHGEMM`
@*/
PetscErrorCode MatMarkovCluster(Mat *M, PetscReal inflation, PetscReal prune, PetscInt keep, PetscReal batch, PetscReal rest, PetscInt most, MatMarkovMonitor monitor, void *context, PetscInt *iterations, PetscReal *chaos)
{
  const GraphMarkovParameters p    = {.inflation = inflation, .prune = prune, .batch = batch, .rest = rest, .keep = keep, .most = most, .monitor = monitor, .context = context};
  PetscBool                   done = PETSC_FALSE;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(*M, MAT_CLASSID, 1);
  PetscCall(GraphCheckSquare(*M, "MatMarkovCluster()"));
  PetscCheck(inflation > 1 && prune >= 0 && prune < 1 && keep > 0 && batch > 0, PetscObjectComm((PetscObject)*M), PETSC_ERR_ARG_OUTOFRANGE, "MatMarkovCluster(): the inflation must be more than 1, the bound of pruning from 0 to less than 1, and the entries of a row and a batch positive");
  *iterations = 0;
  *chaos      = PETSC_MAX_REAL;
  PetscCall(RowsToSumOne(*M));
  PetscCall(GraphMarkovOnDevice(M, &p, iterations, chaos, &done));
  if (!done) PetscCall(MarkovHost(M, &p, iterations, chaos));
  PetscFunctionReturn(PETSC_SUCCESS);
}
