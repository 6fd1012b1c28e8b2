/* SPDX-License-Identifier: BSD-2-Clause */
/*
   petscamb graph: the matrix of a random walk, and the order of its vertices.

   A product with the matrix reads the vector once for each edge, at places that have no order. With -order degree one process numbers the vertices anew: those with many outgoing
   edges, whose entries are read most often, come first and share lines of the caches. Vertices with about as many edges stay in the order of the graph, and so near to their neighbours.

   P. Faldu, J. Diamond, B. Grot, A Closer Look at Lightweight Graph Reordering, IISWC 2019.
*/
#include "graph.h"

#define LEVELS 65 /* of the number of edges: 0, 1, 2 and 3, 4 to 7, ... */

/* A negative weight is no probability */
PetscErrorCode GraphCheckWeights(Graph *g)
{
  Rows        rows;
  PetscMPIInt wrong = 0;
  int         nthread;

  PetscFunctionBegin;
  PetscCall(GeneratorThreads(g->comm, &nthread));
  PetscCall(RowsGet(g->A, &rows));
#pragma omp parallel for num_threads(nthread) reduction(|| : wrong)
  for (PetscInt k = 0; k < rows.i[rows.m]; k++) wrong = wrong || !(PetscRealPart(rows.a[k]) >= 0);
  PetscCall(RowsRestore(&rows));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, g->comm));
  PetscCheck(!wrong, g->comm, PETSC_ERR_USER_INPUT, "%s: a weight is negative or no number; -unweighted leaves the weights out", g->name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* place[v] is the new number of vertex v, and vertex[k] the vertex with the number k */
static PetscErrorCode OrderByEdges(const Rows *rows, PetscBool ordered, PetscInt **place, PetscInt **vertex)
{
  PetscInt first[LEVELS + 1] = {0};

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(rows->m, place, rows->m, vertex));
  for (int fill = 0; fill < 2; fill++) {
    for (PetscInt v = 0; v < rows->m; v++) {
      const PetscInt n     = ordered ? rows->i[v + 1] - rows->i[v] : 1;
      const int      level = n ? __builtin_clzll((unsigned long long)n) : LEVELS - 1; /* many edges, low level */

      if (fill) {
        (*place)[v]             = first[level];
        (*vertex)[first[level]] = v;
      }
      first[level + !fill]++;
    }
    for (int level = 0; !fill && level < LEVELS; level++) first[level + 1] += first[level];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The weights of the edges of each vertex to vertices that stay */
PetscErrorCode GraphOutWeights(Graph *g, Vec keep, Vec out)
{
  Vec ones = keep;

  PetscFunctionBegin;
  if (!keep) {
    PetscCall(VecDuplicate(out, &ones));
    PetscCall(VecSet(ones, 1.0));
  }
  PetscCall(MatMult(g->A, ones, out));
  if (!keep) PetscCall(VecDestroy(&ones));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The transpose with new numbers, without a sort: of all edges in the order of their new first vertices, each thread takes those that end in its own rows
*/
static PetscErrorCode TransposeOrdered(Graph *g, const Rows *rows, const PetscScalar left[], const PetscScalar scale[], GraphWalk *w)
{
  const PetscInt m = rows->m, *vertex = w->vertex, *place = w->place;
  const PetscInt n = rows->i[m];
  PetscInt      *end, *fill, *cut;
  int            nthread;

  PetscFunctionBegin;
  PetscCall(GeneratorThreads(g->comm, &nthread));
  PetscCall(PetscMalloc3(m + 1, &w->i, n, &w->j, n, &w->a));
  PetscCall(PetscMalloc3(n, &end, m, &fill, nthread + 1, &cut));
  PetscCall(PetscArrayzero(w->i, m + 1));
#pragma omp parallel for num_threads(nthread) schedule(static)
  for (PetscInt k = 0; k < n; k++) {
    const PetscInt v = place[rows->j[k]];

    end[k] = v;
#pragma omp atomic
    w->i[v + 1]++;
  }
  for (PetscInt v = 0; v < m; v++) w->i[v + 1] += w->i[v];
  PetscCall(PetscArraycpy(fill, w->i, m));
  for (PetscInt t = 0, v = 0; t <= nthread; t++) {
    while (v < m && (PetscInt64)w->i[v] * nthread < (PetscInt64)n * t) v++;
    cut[t] = t == nthread ? m : v;
  }
#pragma omp parallel for num_threads(nthread) schedule(static, 1)
  for (int t = 0; t < nthread; t++) {
    const PetscInt low = cut[t], high = cut[t + 1];

    for (PetscInt u = 0; u < m; u++) {
      const PetscInt    from = vertex[u];
      const PetscScalar f    = scale[from];

      for (PetscInt k = rows->i[from]; k < rows->i[from + 1]; k++) {
        if (end[k] < low || end[k] >= high) continue;
        w->j[fill[end[k]]]   = u;
        w->a[fill[end[k]]++] = left ? left[rows->j[k]] * f * rows->a[k] : f * rows->a[k];
      }
    }
  }
  PetscCall(PetscFree3(end, fill, cut));
  PetscCall(MatCreateSeqAIJWithArrays(g->comm, m, m, w->i, w->j, w->a, &w->P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Does -order say this? */
static PetscErrorCode OrderIs(Graph *g, const char order[], PetscBool *is)
{
  const char *const known[] = {"none", "degree", "bitonic"};
  char              way[16] = "none";
  PetscBool         found   = PETSC_FALSE, same;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-order", way, sizeof(way), NULL));
  for (int k = 0; k < 3; k++) {
    PetscCall(PetscStrcmp(way, known[k], &same));
    found = (PetscBool)(found || same);
  }
  PetscCheck(found, g->comm, PETSC_ERR_ARG_UNKNOWN_TYPE, "-order %s: say none, degree or bitonic", way);
  PetscCall(PetscStrcmp(way, order, is));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Several processes keep the order, or deal the rows by their lengths */
static PetscErrorCode WalkDistributed(Graph *g, Vec left, Vec right, GraphWalk *w)
{
  Mat             Q;
  MatPartitioning deal;
  IS              process;
  PetscBool       bitonic = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(MatTranspose(g->A, MAT_INITIAL_MATRIX, &w->P));
  PetscCall(MatDiagonalScale(w->P, left, right));
  PetscCall(OrderIs(g, "bitonic", &bitonic));
  if (!bitonic) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatPartitioningCreate(g->comm, &deal));
  PetscCall(MatPartitioningSetAdjacency(deal, w->P));
  PetscCall(MatPartitioningSetType(deal, MATPARTITIONINGBITONIC));
  PetscCall(MatPartitioningApply(deal, &process));
  PetscCall(ISBuildTwoSided(process, NULL, &w->rows));
  PetscCall(ISDestroy(&process));
  PetscCall(MatPartitioningDestroy(&deal));
  PetscCall(MatCreateSubMatrix(w->P, w->rows, w->rows, MAT_INITIAL_MATRIX, &Q));
  PetscCall(MatDestroy(&w->P));
  w->P = Q;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode WalkLocal(Graph *g, Vec left, Vec right, GraphWalk *w)
{
  Rows               rows;
  PetscBool          ordered = PETSC_FALSE;
  const PetscScalar *l       = NULL, *r;

  PetscFunctionBegin;
  PetscCall(RowsGet(g->A, &rows));
  PetscCall(OrderIs(g, "degree", &ordered));
  PetscCall(OrderByEdges(&rows, ordered, &w->place, &w->vertex));
  if (left) PetscCall(VecGetArrayRead(left, &l));
  PetscCall(VecGetArrayRead(right, &r));
  PetscCall(TransposeOrdered(g, &rows, l, r, w));
  PetscCall(VecRestoreArrayRead(right, &r));
  if (left) PetscCall(VecRestoreArrayRead(left, &l));
  PetscCall(RowsRestore(&rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GraphWalkCreate(Graph *g, PetscReal c, Vec keep, GraphWalk *w)
{
  Vec         out;
  char        type[64];
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(w, sizeof(*w)));
  PetscCall(GraphCheckWeights(g));
  PetscCall(MatCreateVecs(g->A, NULL, &out));
  if (c >= 0) {
    PetscCall(GraphOutWeights(g, keep, out));
    PetscCall(VecReciprocal(out)); /* a zero stays */
    PetscCall(VecScale(out, c));
  } else PetscCall(VecSet(out, 1.0));
  PetscCallMPI(MPI_Comm_size(g->comm, &size));
  if (size > 1) PetscCall(WalkDistributed(g, keep, out, w));
  else PetscCall(WalkLocal(g, keep, out, w));
  PetscCall(VecDestroy(&out));
  PetscCall(GraphGetType(g, MATAMB, type, sizeof(type)));
  PetscCall(MatConvert(w->P, type, MAT_INPLACE_MATRIX, &w->P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GraphWalkDestroy(GraphWalk *w)
{
  PetscFunctionBegin;
  PetscCall(MatDestroy(&w->P));
  PetscCall(PetscFree3(w->i, w->j, w->a));
  PetscCall(PetscFree2(w->place, w->vertex));
  PetscCall(ISDestroy(&w->rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The number of a vertex in the walk */
PetscErrorCode GraphWalkFind(Graph *g, const GraphWalk *w, PetscInt vertex, PetscInt *number)
{
  const PetscInt *rows;
  PetscInt        m, first;

  PetscFunctionBegin;
  *number = w->place ? w->place[vertex] : vertex;
  if (!w->rows) PetscFunctionReturn(PETSC_SUCCESS);
  *number = -1;
  PetscCall(MatGetOwnershipRange(w->P, &first, NULL));
  PetscCall(ISGetLocalSize(w->rows, &m));
  PetscCall(ISGetIndices(w->rows, &rows));
  for (PetscInt k = 0; k < m; k++) {
    if (rows[k] == vertex) *number = first + k;
  }
  PetscCall(ISRestoreIndices(w->rows, &rows));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, number, 1, MPIU_INT, MPI_MAX, g->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies a vector from the vertices' order in the graph to that in the walk, or back; y is on the host, except for a vector of several processes in the order of the walk */
PetscErrorCode GraphWalkPermute(Graph *g, const GraphWalk *w, Vec x, PetscBool back, Vec *y)
{
  const PetscScalar *from;
  PetscScalar       *to;

  PetscFunctionBegin;
  if (!w->place && !w->rows) {
    PetscCall(PetscObjectReference((PetscObject)x));
    *y = x;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatCreateVecs(back || w->place ? g->A : w->P, NULL, y));
  if (w->rows) {
    VecScatter scatter;

    PetscCall(VecScatterCreate(back ? *y : x, w->rows, back ? x : *y, NULL, &scatter));
    PetscCall(VecScatterBegin(scatter, x, *y, INSERT_VALUES, back ? SCATTER_REVERSE : SCATTER_FORWARD));
    PetscCall(VecScatterEnd(scatter, x, *y, INSERT_VALUES, back ? SCATTER_REVERSE : SCATTER_FORWARD));
    PetscCall(VecScatterDestroy(&scatter));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecGetArrayRead(x, &from));
  PetscCall(VecGetArrayWrite(*y, &to));
  for (PetscInt v = 0; v < g->m; v++) to[back ? v : w->place[v]] = from[back ? w->place[v] : v];
  PetscCall(VecRestoreArrayWrite(*y, &to));
  PetscCall(VecRestoreArrayRead(x, &from));
  PetscFunctionReturn(PETSC_SUCCESS);
}
