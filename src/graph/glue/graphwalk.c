/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The matrix of a random walk, and the iteration to a fixed point
*/
#include "graph/glue/graphwalk.h"

static PetscClassId  GraphWalkClassId;
static PetscLogEvent GraphIterateEvent;

extern PetscErrorCode GraphWalkRegister(void);

PetscErrorCode GraphWalkRegister(void)
{
  PetscFunctionBegin;
  PetscCall(PetscClassIdRegister("Graph walk", &GraphWalkClassId));
  PetscCall(PetscLogEventRegister("GraphIterate", GraphWalkClassId, &GraphIterateEvent));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatGraphIterationInitialize - sets the parameters of `MatPageRank()`, `MatHITS()` or `MatRandomWalkWithRestart()` to their defaults

  Not Collective

  Output Parameter:
. iteration - the parameters

  Level: intermediate

  Example:
.vb
  MatGraphIteration iteration;

  PetscCall(MatGraphIterationInitialize(&iteration));
  iteration.damping = 0.9;
  PetscCall(MatPageRank(A, &iteration, ranks));
.ve

.seealso: `MatGraphIteration`, `MatPageRank()`, `MatHITS()`, `MatRandomWalkWithRestart()`
@*/
PetscErrorCode MatGraphIterationInitialize(MatGraphIteration *iteration)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(iteration, sizeof(*iteration)));
  iteration->damping = 0.85;
  iteration->tol     = PetscDefined(USE_REAL_SINGLE) ? 1e-6 : 1e-10;
  iteration->max_it  = 1000;
  iteration->change  = PETSC_MAX_REAL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GraphWalkCheck(Mat A, const char function[], MatGraphIteration *own, MatGraphIteration **it)
{
  MPI_Comm  comm = PetscObjectComm((PetscObject)A);
  PetscBool seq, mpi, has[2];

  PetscFunctionBegin;
  PetscCall(GraphCheckShape(A, function));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATSEQAIJ, &seq));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &mpi));
  PetscCall(MatHasOperation(A, MATOP_MULT, &has[0]));
  PetscCall(MatHasOperation(A, MATOP_MULT_TRANSPOSE, &has[1]));
  PetscCheck(has[0] && has[1], comm, PETSC_ERR_SUP, "%s: the type %s has no %s; convert the matrix to MATAIJ or a type of petsc-amb", function, ((PetscObject)A)->type_name, has[0] ? "MatMultTranspose()" : "MatMult()");
  if (!*it) {
    PetscCall(MatGraphIterationInitialize(own));
    *it = own;
  }
  PetscCheck((*it)->damping >= 0 && (*it)->damping < 1, comm, PETSC_ERR_ARG_OUTOFRANGE, "%s: the damping is %g; it must be from 0 to less than 1", function, (double)(*it)->damping);
  PetscCheck((*it)->tol >= 0 && (*it)->max_it >= 0, comm, PETSC_ERR_ARG_OUTOFRANGE, "%s: the tolerance is %g, and the limit %" PetscInt_FMT " iterations; neither may be negative", function, (double)(*it)->tol, (*it)->max_it);
  PetscCheck((unsigned)(*it)->dangling <= MAT_GRAPH_DANGLING_NONE && (unsigned)(*it)->order <= MAT_GRAPH_ORDER_BITONIC, comm, PETSC_ERR_ARG_OUTOFRANGE, "%s: dangling is %d, and order is %d; use values of MatGraphDangling and MatGraphOrder, and MatGraphIterationInitialize() for the others", function,
             (int)(*it)->dangling, (int)(*it)->order);
  PetscCheck(seq || mpi || (*it)->order == MAT_GRAPH_ORDER_NATURAL, comm, PETSC_ERR_SUP, "%s: the matrix has the type %s, of which only MAT_GRAPH_ORDER_NATURAL is supported; convert it to MATAIJ or a type of petsc-amb", function, ((PetscObject)A)->type_name);
  PetscCheck(!mpi || (*it)->order != MAT_GRAPH_ORDER_DEGREE, comm, PETSC_ERR_SUP, "%s: MAT_GRAPH_ORDER_DEGREE is for a sequential matrix; use MAT_GRAPH_ORDER_BITONIC or MAT_GRAPH_ORDER_NATURAL", function);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GraphWalkCheckVec(Mat A, const char function[], Vec x)
{
  PetscInt n;

  PetscFunctionBegin;
  PetscCheckSameComm(A, 1, x, 3);
  PetscCall(VecGetLocalSize(x, &n));
  PetscCheck(n == A->rmap->n, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "%s: a vector has %" PetscInt_FMT " local entries, and the matrix %" PetscInt_FMT " local rows; create the vector by MatCreateVecs()", function, n, A->rmap->n);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A vector of the vertices on the host */
static PetscErrorCode WalkCreateHostVec(Mat A, Vec *x)
{
  PetscFunctionBegin;
  PetscCall(VecCreate(PetscObjectComm((PetscObject)A), x));
  PetscCall(VecSetSizes(*x, A->rmap->n, A->rmap->N));
  PetscCall(VecSetType(*x, VECSTANDARD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The local rows with their values, on the host */
static PetscErrorCode WalkRowsGet(Mat A, GraphRows *rows)
{
  PetscFunctionBegin;
  PetscCall(GraphRowsGet(A, rows));
  for (int b = 0; b < 2 && rows->block[b]; b++) {
    const PetscScalar *a;

    PetscCall(MatSeqAIJGetArrayRead(rows->block[b], &a));
    rows->csr[b].a = a;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode WalkRowsRestore(GraphRows *rows)
{
  PetscFunctionBegin;
  for (int b = 0; b < 2 && rows->block[b]; b++) {
    const PetscScalar *a = rows->csr[b].a;

    PetscCall(MatSeqAIJRestoreArrayRead(rows->block[b], &a));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A negative weight is no probability */
static PetscErrorCode WalkCheckWeights(Mat A, const GraphRows *rows, const char function[])
{
  PetscMPIInt wrong = 0;

  PetscFunctionBegin;
  for (int b = 0; b < 2; b++) wrong = wrong || GraphNegative(MatAIJThreads((PetscInt)rows->csr[b].nz), rows->csr[b].nz, rows->csr[b].a);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)A)));
  PetscCheck(!wrong, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE, "%s: a weight is negative or no number; MatPowEntries() with the power 1 makes weights positive, and with 0 sets them to 1", function);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MatMult() of several processes by the products of AIJ on the host, whatever the type: the first product of the type would convert the matrix */
static PetscErrorCode WalkMultDistributed(Mat A, const GraphRows *rows, Vec x, Vec y)
{
  const PetscScalar *own;
  PetscScalar       *ghost, *z;
  PetscSF            sf;
  Vec                part[3];

  PetscFunctionBegin;
  PetscCall(PetscMalloc1((size_t)rows->csr[1].n, &ghost));
  PetscCall(VecGetArrayRead(x, &own));
  PetscCall(VecGetArrayWrite(y, &z));
  PetscCall(MatAIJGetScatter(A, &sf));
  PetscCall(PetscSFBcastBegin(sf, MPIU_SCALAR, own, ghost, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(sf, MPIU_SCALAR, own, ghost, MPI_REPLACE));
  PetscCall(PetscSFDestroy(&sf));
  PetscCall(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, A->cmap->n, own, &part[0]));
  PetscCall(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, (PetscInt)rows->csr[1].n, ghost, &part[1]));
  PetscCall(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, A->rmap->n, z, &part[2]));
  PetscCall((*MatAIJBaseSeq.mult)(rows->block[0], part[0], part[2]));
  PetscCall((*MatAIJBaseSeq.multadd)(rows->block[1], part[1], part[2], part[2]));
  for (int k = 0; k < 3; k++) PetscCall(VecDestroy(&part[k]));
  PetscCall(VecRestoreArrayWrite(y, &z));
  PetscCall(VecRestoreArrayRead(x, &own));
  PetscCall(PetscFree(ghost));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The weights of each vertex's edges to the vertices that stay, keep = NULL: all; rows = NULL: a type other than AIJ */
static PetscErrorCode WalkOutWeights(Mat A, const GraphRows *rows, Vec keep, Vec out)
{
  const PetscScalar *k    = NULL;
  Vec                ones = keep;
  PetscScalar       *o;
  PetscErrorCode     ierr;

  PetscFunctionBegin;
  if (rows && !rows->block[1]) {
    if (keep) PetscCall(VecGetArrayRead(keep, &k));
    PetscCall(VecGetArrayWrite(out, &o));
    GraphOutWeights(MatAIJThreads((PetscInt)rows->csr[0].nz), &rows->csr[0], k, o);
    PetscCall(VecRestoreArrayWrite(out, &o));
    if (keep) PetscCall(VecRestoreArrayRead(keep, &k));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!keep) {
    PetscCall(VecDuplicate(out, &ones));
    PetscCall(VecSet(ones, 1.0));
  }
  ierr = rows ? WalkMultDistributed(A, rows, ones, out) : MatMult(A, ones, out);
  if (!keep) PetscCall(VecDestroy(&ones));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets keep to 0 for the vertices without outgoing edges, until the others have edges to others only. Several processes, and types other than AIJ, go along all edges until no vertex goes. */
static PetscErrorCode WalkRemoveDangling(Mat A, const GraphRows *rows, Vec keep, PetscInt *stay)
{
  Vec            out;
  PetscScalar   *k;
  PetscInt64     count = A->rmap->N, before;
  PetscErrorCode ierr  = PETSC_SUCCESS;

  PetscFunctionBegin;
  if (rows && !rows->block[1]) {
    PetscInt *work;

    PetscCall(PetscMalloc1(4 * (size_t)rows->csr[0].m, &work));
    PetscCall(VecGetArrayWrite(keep, &k));
    *stay = (PetscInt)GraphRemoveDangling(&rows->csr[0], k, work);
    PetscCall(VecRestoreArrayWrite(keep, &k));
    PetscCall(PetscFree(work));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecDuplicate(keep, &out));
  PetscCall(VecSet(keep, 1.0));
  do {
    const PetscScalar *o;

    before = count;
    ierr   = WalkOutWeights(A, rows, keep, out);
    if (ierr) break;
    PetscCall(VecGetArrayRead(out, &o));
    PetscCall(VecGetArray(keep, &k));
    count = 0;
    for (PetscInt r = 0; r < A->rmap->n; r++) {
      k[r] = PetscRealPart(k[r]) > 0 && PetscRealPart(o[r]) > 0 ? 1 : 0;
      count += PetscRealPart(k[r]) > 0;
    }
    PetscCall(VecRestoreArray(keep, &k));
    PetscCall(VecRestoreArrayRead(out, &o));
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &count, 1, MPIU_INT64, MPI_SUM, PetscObjectComm((PetscObject)A)));
  } while (count < before);
  *stay = (PetscInt)count;
  PetscCall(VecDestroy(&out));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Several processes keep the order, or deal the rows by their lengths */
static PetscErrorCode WalkCreateDistributed(GraphWalk *w, PetscBool bitonic, Vec left, Vec right)
{
  MPI_Comm        comm = PetscObjectComm((PetscObject)w->A);
  Mat             Q;
  MatPartitioning deal;
  IS              process;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(MAT_Transpose, w->A, 0, 0, 0));
  PetscCall(MatAIJTransposeMPI(w->A, MATMPIAIJ, &w->P)); /* scaled and permuted on the host */
  PetscCall(PetscLogEventEnd(MAT_Transpose, w->A, 0, 0, 0));
  if (left || right) PetscCall(MatDiagonalScale(w->P, left, right));
  if (!bitonic) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatPartitioningCreate(comm, &deal));
  PetscCall(MatPartitioningSetAdjacency(deal, w->P));
  PetscCall(MatPartitioningSetType(deal, MATPARTITIONINGBITONIC));
  PetscCall(MatPartitioningApply(deal, &process));
  PetscCall(ISBuildTwoSided(process, NULL, &w->rows));
  PetscCall(ISDestroy(&process));
  PetscCall(MatPartitioningDestroy(&deal));
  PetscCall(MatGraphPermute(w->P, w->rows, w->rows, &Q));
  PetscCall(MatDestroy(&w->P));
  w->P = Q;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode WalkCreateLocal(GraphWalk *w, PetscBool ordered, const SysCSR *A, Vec left, Vec right)
{
  const PetscInt     m       = (PetscInt)A->m;
  const int          nthread = MatAIJThreads((PetscInt)A->nz);
  const PetscScalar *l = NULL, *r = NULL;
  SysStatus          status = SYS_SUCCESS;

  PetscFunctionBegin;
  if (ordered) {
    PetscCall(PetscMalloc2(m, &w->position, m, &w->vertex));
    status = GraphOrderByDegree(nthread, A, w->position, w->vertex);
  }
  PetscCall(PetscMalloc3(m + 1, &w->i, (size_t)A->nz, &w->j, (size_t)A->nz, &w->a));
  if (left) PetscCall(VecGetArrayRead(left, &l));
  if (right) PetscCall(VecGetArrayRead(right, &r));
  if (!status) status = GraphTransposeScaled(nthread, A, w->position, w->vertex, l, r, w->i, w->j, w->a);
  if (right) PetscCall(VecRestoreArrayRead(right, &r));
  if (left) PetscCall(VecRestoreArrayRead(left, &l));
  PetscCheck(!status, PETSC_COMM_SELF, PETSC_ERR_MEM, "Not enough memory to transpose a graph of %" PetscInt64_FMT " edges", (PetscInt64)A->nz);
  PetscCall(MatCreateSeqAIJWithArrays(PetscObjectComm((PetscObject)w->A), m, m, w->i, w->j, w->a, &w->P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates the matrix of an AIJ from the vectors on the host */
static PetscErrorCode WalkCreateMatrix(GraphWalk *w, MatGraphOrder order, const GraphRows *rows)
{
  Vec k;

  PetscFunctionBegin;
  if (rows->block[1]) PetscCall(WalkCreateDistributed(w, (PetscBool)(order == MAT_GRAPH_ORDER_BITONIC), w->keep, w->scale));
  else PetscCall(WalkCreateLocal(w, (PetscBool)(order == MAT_GRAPH_ORDER_DEGREE), &rows->csr[0], w->keep, w->scale));
  PetscCall(MatConvert(w->P, MatAIJGetType(w->A), MAT_INPLACE_MATRIX, &w->P));
  PetscCall(VecDestroy(&w->scale));
  if (!w->keep) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(GraphWalkCreateVecs(w, 1, &k));
  PetscCall(GraphWalkPermute(w, PETSC_FALSE, w->keep, k));
  PetscCall(VecDestroy(&w->keep));
  w->keep = k;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* rows: NULL for another type than AIJ */
static PetscErrorCode WalkCreate(GraphWalk *w, PetscBool probabilities, const MatGraphIteration *it, const GraphRows *rows, const char function[])
{
  PetscFunctionBegin;
  if (rows) PetscCall(WalkCheckWeights(w->A, rows, function));
  if (probabilities) {
    if (rows) PetscCall(WalkCreateHostVec(w->A, &w->scale));
    else PetscCall(MatCreateVecs(w->A, NULL, &w->scale));
    if (it->dangling == MAT_GRAPH_DANGLING_REMOVE) {
      PetscCall(VecDuplicate(w->scale, &w->keep));
      PetscCall(WalkRemoveDangling(w->A, rows, w->keep, &w->stay));
    }
    PetscCall(WalkOutWeights(w->A, rows, w->keep, w->scale));
    PetscCall(VecReciprocal(w->scale)); /* zeros stay zero */
    PetscCall(VecScale(w->scale, it->damping));
  }
  if (rows) PetscCall(WalkCreateMatrix(w, it->order, rows));
  else if (w->scale) PetscCall(VecDuplicate(w->scale, &w->work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GraphWalkCreate(Mat A, PetscBool probabilities, const MatGraphIteration *it, const char function[], GraphWalk *w)
{
  GraphRows      rows;
  PetscBool      aij;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(w, sizeof(*w)));
  w->A    = A;
  w->stay = A->rmap->N;
  PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)A, &aij, MATSEQAIJ, MATMPIAIJ, ""));
  if (aij) PetscCall(WalkRowsGet(A, &rows));
  ierr = WalkCreate(w, probabilities, it, aij ? &rows : NULL, function);
  if (aij) PetscCall(WalkRowsRestore(&rows));
  if (ierr) PetscCall(GraphWalkDestroy(w));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GraphWalkDestroy(GraphWalk *w)
{
  PetscFunctionBegin;
  PetscCall(MatDestroy(&w->P));
  PetscCall(PetscFree3(w->i, w->j, w->a));
  PetscCall(PetscFree2(w->position, w->vertex));
  PetscCall(ISDestroy(&w->rows));
  PetscCall(VecDestroy(&w->scale));
  PetscCall(VecDestroy(&w->keep));
  PetscCall(VecDestroy(&w->work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GraphWalkCreateVecs(const GraphWalk *w, int n, Vec x[])
{
  PetscFunctionBegin;
  PetscCall(MatCreateVecs(w->P ? w->P : w->A, &x[0], NULL));
  for (int k = 1; k < n; k++) PetscCall(VecDuplicate(x[0], &x[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GraphWalkMult(const GraphWalk *w, PetscBool transpose, Vec x, Vec z)
{
  PetscFunctionBegin;
  if (w->P) {
    if (transpose) PetscCall(MatMultTranspose(w->P, x, z));
    else PetscCall(MatMult(w->P, x, z));
  } else {
    if (w->scale) PetscCall(VecPointwiseMult(w->work, w->scale, x));
    if (transpose) PetscCall(MatMult(w->A, x, z));
    else PetscCall(MatMultTranspose(w->A, w->scale ? w->work : x, z));
    if (w->keep) PetscCall(VecPointwiseMult(z, z, w->keep));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GraphWalkFind(const GraphWalk *w, PetscInt vertex, PetscInt *number)
{
  const PetscInt *rows;
  PetscInt        m, first;

  PetscFunctionBegin;
  *number = w->position ? w->position[vertex] : vertex;
  if (!w->rows) PetscFunctionReturn(PETSC_SUCCESS);
  *number = -1;
  PetscCall(MatGetOwnershipRange(w->P, &first, NULL));
  PetscCall(ISGetLocalSize(w->rows, &m));
  PetscCall(ISGetIndices(w->rows, &rows));
  for (PetscInt k = 0; k < m; k++) {
    if (rows[k] == vertex) *number = first + k;
  }
  PetscCall(ISRestoreIndices(w->rows, &rows));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, number, 1, MPIU_INT, MPI_MAX, PetscObjectComm((PetscObject)w->A)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GraphWalkPermute(const GraphWalk *w, PetscBool back, Vec from, Vec to)
{
  PetscFunctionBegin;
  if (w->rows) {
    VecScatter scatter;

    PetscCall(VecScatterCreate(back ? to : from, w->rows, back ? from : to, NULL, &scatter));
    PetscCall(VecScatterBegin(scatter, from, to, INSERT_VALUES, back ? SCATTER_REVERSE : SCATTER_FORWARD));
    PetscCall(VecScatterEnd(scatter, from, to, INSERT_VALUES, back ? SCATTER_REVERSE : SCATTER_FORWARD));
    PetscCall(VecScatterDestroy(&scatter));
  } else if (w->position) {
    const PetscScalar *f;
    PetscScalar       *t;

    PetscCall(VecGetArrayRead(from, &f));
    PetscCall(VecGetArrayWrite(to, &t));
    for (PetscInt v = 0; v < w->A->rmap->n; v++) t[back ? v : w->position[v]] = f[back ? w->position[v] : v];
    PetscCall(VecRestoreArrayWrite(to, &t));
    PetscCall(VecRestoreArrayRead(from, &f));
  } else PetscCall(VecCopy(from, to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode WalkIterate(MatGraphIteration *it, PetscErrorCode (*step)(void *, PetscReal *, PetscBool *), void *context, PetscBool *done)
{
  PetscFunctionBegin;
  while (!*done && it->change >= it->tol && it->its < it->max_it) {
    PetscCall((*step)(context, &it->change, done));
    it->its++;
    if (it->monitor) PetscCall((*it->monitor)(it->its, it->change, it->context));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GraphWalkIterate(Mat A, MatGraphIteration *it, PetscErrorCode (*step)(void *, PetscReal *, PetscBool *), void *context, PetscBool done)
{
  PetscErrorCode ierr;

  PetscFunctionBegin;
  it->its    = 0;
  it->change = PETSC_MAX_REAL;
  it->reason = MAT_GRAPH_CONVERGED_ITERATING;
  if (it->monitor) PetscCall((*it->monitor)(it->its, it->change, it->context));
  PetscCall(PetscLogEventBegin(GraphIterateEvent, A, 0, 0, 0));
  ierr = WalkIterate(it, step, context, &done);
  PetscCall(PetscLogEventEnd(GraphIterateEvent, A, 0, 0, 0));
  PetscCall(ierr);
  if (done || it->change < it->tol) it->reason = MAT_GRAPH_CONVERGED_TOL;
  else if (PetscIsInfOrNanReal(it->change)) it->reason = MAT_GRAPH_DIVERGED_NANORINF;
  else it->reason = it->tol == 0 ? MAT_GRAPH_CONVERGED_ITS : MAT_GRAPH_DIVERGED_ITS;
  PetscCall(PetscInfo(A, "Iterated on the graph: %" PetscInt_FMT " iterations, change %g, reason %d\n", it->its, (double)it->change, (int)it->reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}
