/* SPDX-License-Identifier: BSD-2-Clause */
/*
   petscamb graph: the matrix of a random walk, and the order of its vertices.

   A product with the matrix reads the vector once for each edge, at positions that have no order. With -order degree one process numbers the vertices anew: those with many outgoing
   edges, whose entries are read most often, come first and share lines of the caches. Vertices with about as many edges stay in the order of the graph, and so near to their neighbours.

   P. Faldu, J. Diamond, B. Grot, A Closer Look at Lightweight Graph Reordering, IISWC 2019.
*/
#include "graph.h"
#include "../buckets.h"

#define LEVELS 65  /* of the number of edges: 0, 1, 2 and 3, 4 to 7, ... */
#define BLOCK  256 /* vertices that stay together when threads share the edges */

/* A negative weight is no probability */
PetscErrorCode GraphCheckWeights(Graph *g)
{
  Mat         block[2] = {g->A, NULL};
  PetscMPIInt wrong    = 0, size;
  int         nthread;

  PetscFunctionBegin;
  PetscCall(GeneratorThreads(g->comm, &nthread));
  PetscCallMPI(MPI_Comm_size(g->comm, &size));
  if (size > 1) PetscCall(MatMPIAIJGetSeqAIJ(g->A, &block[0], &block[1], NULL));
  for (int b = 0; b < 2 && block[b]; b++) {
    MatInfo            info;
    PetscInt           nz;
    const PetscScalar *a;

    PetscCall(MatGetInfo(block[b], MAT_LOCAL, &info));
    nz = (PetscInt)info.nz_used;
    PetscCall(MatSeqAIJGetArrayRead(block[b], &a));
#pragma omp parallel for num_threads(nthread) reduction(|| : wrong)
    for (PetscInt k = 0; k < nz; k++) wrong = wrong || !(PetscRealPart(a[k]) >= 0);
    PetscCall(MatSeqAIJRestoreArrayRead(block[b], &a));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, g->comm));
  PetscCheck(!wrong, g->comm, PETSC_ERR_USER_INPUT, "%s: a weight is negative or no number; -unweighted leaves the weights out", g->name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* position[v] is the new number of vertex v, and vertex[k] the vertex with the number k. Threads count the vertices of each level in their parts, and then know where their own go. */
static PetscErrorCode OrderByEdges(const Rows *rows, PetscBool ordered, int threads, PetscInt **position, PetscInt **vertex)
{
  PetscInt(*next)[LEVELS + 1], sum = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(rows->m, position, rows->m, vertex));
  PetscCall(PetscCalloc1(threads, &next));
  for (int fill = 0; fill < 2; fill++) {
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int t = 0; t < threads; t++) {
      const PetscInt end = (PetscInt)((PetscInt64)rows->m * (t + 1) / threads);

      for (PetscInt v = (PetscInt)((PetscInt64)rows->m * t / threads); v < end; v++) {
        const PetscInt n     = ordered ? rows->i[v + 1] - rows->i[v] : 1;
        const int      level = n ? __builtin_clzll((unsigned long long)n) : LEVELS - 1; /* many edges, low level */

        if (fill) {
          (*position)[v]            = next[t][level];
          (*vertex)[next[t][level]] = v;
        }
        next[t][level]++;
      }
    }
    for (int level = 0; !fill && level < LEVELS; level++) {
      for (int t = 0; t < threads; t++) {
        const PetscInt count = next[t][level];

        next[t][level] = sum;
        sum += count;
      }
    }
  }
  PetscCall(PetscFree(next));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The weights of the edges of each vertex to vertices that stay. The product of PETSc, which has one thread, is for several processes. */
PetscErrorCode GraphOutWeights(Graph *g, Vec keep, Vec out)
{
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(g->comm, &size));
  if (size > 1) {
    Vec ones = keep;

    if (!keep) {
      PetscCall(VecDuplicate(out, &ones));
      PetscCall(VecSet(ones, 1.0));
    }
    PetscCall(MatMult(g->A, ones, out));
    if (!keep) PetscCall(VecDestroy(&ones));
  } else {
    Rows               rows;
    const PetscScalar *k = NULL;
    PetscScalar       *o;
    int                nthread;

    PetscCall(GeneratorThreads(g->comm, &nthread));
    PetscCall(RowsGet(g->A, &rows));
    if (keep) PetscCall(VecGetArrayRead(keep, &k));
    PetscCall(VecGetArrayWrite(out, &o));
#pragma omp parallel for num_threads(nthread) schedule(dynamic, 1024)
    for (PetscInt r = 0; r < rows.m; r++) {
      PetscScalar sum = 0;

      for (PetscInt e = rows.i[r]; e < rows.i[r + 1]; e++) sum += k ? rows.a[e] * k[rows.j[e]] : rows.a[e];
      o[r] = sum;
    }
    PetscCall(VecRestoreArrayWrite(out, &o));
    if (keep) PetscCall(VecRestoreArrayRead(keep, &k));
    PetscCall(RowsRestore(&rows));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Cuts the vertices, in the order of their new numbers, so that each thread has about as many edges */
static PetscErrorCode CutEdges(const Rows *rows, const PetscInt vertex[], int threads, PetscInt cut[])
{
  const PetscInt nblock = rows->m / BLOCK + 1;
  PetscInt64    *before, n = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(nblock, &before));
#pragma omp parallel for num_threads(threads) schedule(static)
  for (PetscInt k = 0; k < nblock; k++) {
    before[k] = 0;
    for (PetscInt64 u = (PetscInt64)k * BLOCK; u < PetscMin((PetscInt64)(k + 1) * BLOCK, rows->m); u++) before[k] += rows->i[vertex[u] + 1] - rows->i[vertex[u]];
  }
  cut[0] = 0;
  for (PetscInt k = 0, t = 1; t <= threads; t++) {
    while (k < nblock && n * threads < (PetscInt64)rows->i[rows->m] * t) n += before[k++];
    cut[t] = t == threads ? rows->m : (PetscInt)PetscMin((PetscInt64)k * BLOCK, rows->m);
  }
  PetscCall(PetscFree(before));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The transpose with new numbers: the edges in the order of their new first vertices, sorted by their new last ones */
static PetscErrorCode TransposeOrdered(Graph *g, const Rows *rows, PetscBool ordered, const PetscScalar left[], const PetscScalar scale[], GraphWalk *w)
{
  const PetscInt m = rows->m, *vertex = w->vertex, *position = w->position;
  PetscInt      *cut;
  PetscInt64     n;
  Buckets        b;
  int            nthread;

  PetscFunctionBegin;
  PetscCall(GeneratorThreads(g->comm, &nthread));
  PetscCall(PetscMalloc3(m + 1, &w->i, rows->i[m], &w->j, rows->i[m], &w->a));
  PetscCall(PetscMalloc1(nthread + 1, &cut));
  PetscCall(CutEdges(rows, vertex, nthread, cut));
  PetscCall(BucketsCreate(m, nthread, &b));
  for (int put = 0; put < 2; put++) {
#pragma omp parallel for num_threads(nthread) schedule(static, 1)
    for (int t = 0; t < nthread; t++) {
      PetscInt64 *own = b.position + (size_t)t * b.nbucket;

      for (PetscInt u = cut[t]; u < cut[t + 1]; u++) {
        const PetscInt    from = vertex[u];
        const PetscScalar f    = scale[from];

        for (PetscInt k = rows->i[from]; k < rows->i[from + 1]; k++) {
          const PetscInt to = ordered ? position[rows->j[k]] : rows->j[k];

          if (put) BucketsPut(&b, own, to, u, left ? left[rows->j[k]] * f * rows->a[k] : f * rows->a[k]);
          else BucketsCount(&b, own, to);
        }
      }
    }
    if (put) break;
    PetscCall(BucketsPosition(&b, &n));
    PetscCall(BucketsStore(&b, w->j, w->a));
  }
  PetscCall(BucketsSort(&b, PETSC_FALSE, w->i + 1, NULL));
  PetscCall(BucketsDestroy(&b));
  PetscCall(PetscFree(cut));
  w->i[0] = 0;
  for (PetscInt v = 0; v < m; v++) w->i[v + 1] += w->i[v];
  PetscCall(MatCreateSeqAIJWithArrays(g->comm, m, m, w->i, w->j, w->a, &w->P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets whether -order has this value */
static PetscErrorCode OrderIs(Graph *g, const char order[], PetscBool *is)
{
  const char *const known[] = {"none", "degree", "bitonic"};
  char              way[16] = "none";
  PetscBool         found   = PETSC_FALSE, same;
  PetscMPIInt       size;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-order", way, sizeof(way), NULL));
  for (int k = 0; k < 3; k++) {
    PetscCall(PetscStrcmp(way, known[k], &same));
    found = (PetscBool)(found || same);
  }
  PetscCheck(found, g->comm, PETSC_ERR_ARG_UNKNOWN_TYPE, "-order %s: say none, degree or bitonic", way);
  PetscCall(PetscStrcmp(way, "degree", &same));
  PetscCallMPI(MPI_Comm_size(g->comm, &size));
  PetscCheck(!same || size == 1, g->comm, PETSC_ERR_USER_INPUT, "-order degree is for one process; say bitonic or none");
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
  PetscCall(OrderIs(g, "bitonic", &bitonic));
  PetscCall(MatGraphTranspose(g->A, &w->P));
  PetscCall(MatDiagonalScale(w->P, left, right));
  if (!bitonic) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatPartitioningCreate(g->comm, &deal));
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

static PetscErrorCode WalkLocal(Graph *g, Vec left, Vec right, GraphWalk *w)
{
  Rows               rows;
  PetscBool          ordered = PETSC_FALSE;
  const PetscScalar *l       = NULL, *r;
  int                nthread;

  PetscFunctionBegin;
  PetscCall(RowsGet(g->A, &rows));
  PetscCall(OrderIs(g, "degree", &ordered));
  PetscCall(GeneratorThreads(g->comm, &nthread));
  PetscCall(OrderByEdges(&rows, ordered, nthread, &w->position, &w->vertex));
  if (left) PetscCall(VecGetArrayRead(left, &l));
  PetscCall(VecGetArrayRead(right, &r));
  PetscCall(TransposeOrdered(g, &rows, ordered, l, r, w));
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
  PetscCall(PetscFree2(w->position, w->vertex));
  PetscCall(ISDestroy(&w->rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The number of a vertex in the walk */
PetscErrorCode GraphWalkFind(Graph *g, const GraphWalk *w, PetscInt vertex, PetscInt *number)
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
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, number, 1, MPIU_INT, MPI_MAX, g->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies a vector from the vertices' order in the graph to that in the walk, or back; y is on the host, except for a vector of several processes in the order of the walk */
PetscErrorCode GraphWalkPermute(Graph *g, const GraphWalk *w, Vec x, PetscBool back, Vec *y)
{
  const PetscScalar *from;
  PetscScalar       *to;

  PetscFunctionBegin;
  if (!w->position && !w->rows) {
    PetscCall(PetscObjectReference((PetscObject)x));
    *y = x;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatCreateVecs(back || w->position ? g->A : w->P, NULL, y));
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
  for (PetscInt v = 0; v < g->m; v++) to[back ? v : w->position[v]] = from[back ? w->position[v] : v];
  PetscCall(VecRestoreArrayWrite(*y, &to));
  PetscCall(VecRestoreArrayRead(x, &from));
  PetscFunctionReturn(PETSC_SUCCESS);
}
