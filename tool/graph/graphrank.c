/* SPDX-License-Identifier: BSD-2-Clause */
/*
   petscamb graph: PageRank, and hubs and authorities. Of a matrix on a GPU all vectors are there; an iteration copies sums and norms to the host, and nothing of the size of
   a vector. VecGetTop() gets the greatest entries of the result at the end.

   L. Page, S. Brin, R. Motwani, T. Winograd, The PageRank Citation Ranking: Bringing Order to the Web, Stanford InfoLab, 1999.
   J. M. Kleinberg, Authoritative Sources in a Hyperlinked Environment, Journal of the ACM 46 (5), 1999.
*/
#include "graph.h"
#include <petsctime.h>

/* The vertices that wait at a vertex, and the edges at whose ends they wait */
typedef struct {
  PetscInt *edge, *first, *next; /* the edge of each vertex; the first one that waits at it; the one that waits where it waits */
  PetscInt *list, gone;          /* vertices that have gone */
} Waiting;

/* A vertex waits at the end of its next edge to a vertex that stays, or goes */
static void WaitOrGo(Waiting *w, const Rows *rows, PetscScalar keep[], PetscInt v)
{
  while (w->edge[v] < rows->i[v + 1] && !(PetscRealPart(rows->a[w->edge[v]]) > 0 && PetscRealPart(keep[rows->j[w->edge[v]]]) > 0)) w->edge[v]++;
  if (w->edge[v] < rows->i[v + 1]) {
    const PetscInt to = rows->j[w->edge[v]];

    w->next[v]   = w->first[to];
    w->first[to] = v;
  } else {
    keep[v]            = 0;
    w->list[w->gone++] = v;
  }
}

/* On one process each product reads each edge once */
static PetscErrorCode RemoveDanglingLocal(Graph *g, Vec keep, PetscInt *left)
{
  Rows         rows;
  Waiting      w = {.gone = 0};
  PetscScalar *k;

  PetscFunctionBegin;
  PetscCall(RowsGet(g->A, &rows));
  PetscCall(PetscMalloc4(rows.m, &w.edge, rows.m, &w.first, rows.m, &w.next, rows.m, &w.list));
  PetscCall(VecSet(keep, 1.0));
  PetscCall(VecGetArray(keep, &k));
  for (PetscInt v = 0; v < rows.m; v++) {
    w.edge[v]  = rows.i[v];
    w.first[v] = -1;
  }
  for (PetscInt v = 0; v < rows.m; v++) WaitOrGo(&w, &rows, k, v);
  for (PetscInt done = 0; done < w.gone; done++) {
    for (PetscInt v = w.first[w.list[done]], next; v >= 0; v = next) {
      next = w.next[v];
      WaitOrGo(&w, &rows, k, v);
    }
  }
  *left = rows.m - w.gone;
  PetscCall(VecRestoreArray(keep, &k));
  PetscCall(PetscFree4(w.edge, w.first, w.next, w.list));
  PetscCall(RowsRestore(&rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the entries of vertices without outgoing edges to 0, until the others have edges to others only. Several processes go along all edges until no vertex goes. */
static PetscErrorCode RemoveDangling(Graph *g, Vec keep, PetscInt *left)
{
  Vec         out;
  PetscMPIInt size;
  PetscInt64  count = g->n, before;

  PetscFunctionBegin;
  PetscCall(GraphCheckWeights(g));
  PetscCallMPI(MPI_Comm_size(g->comm, &size));
  if (size == 1) {
    PetscCall(RemoveDanglingLocal(g, keep, left));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecDuplicate(keep, &out));
  PetscCall(VecSet(keep, 1.0));
  do {
    const PetscScalar *o;
    PetscScalar       *k;

    before = count;
    PetscCall(GraphOutWeights(g, keep, out));
    PetscCall(VecGetArrayRead(out, &o));
    PetscCall(VecGetArray(keep, &k));
    count = 0;
    for (PetscInt r = 0; r < g->m; r++) {
      k[r] = PetscRealPart(k[r]) > 0 && PetscRealPart(o[r]) > 0 ? 1 : 0;
      count += PetscRealPart(k[r]) > 0;
    }
    PetscCall(VecRestoreArray(keep, &k));
    PetscCall(VecRestoreArrayRead(out, &o));
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &count, 1, MPIU_INT64, MPI_SUM, g->comm));
  } while (count < before);
  *left = (PetscInt)count;
  PetscCall(VecDestroy(&out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The shares of vertices without outgoing edges, and the probability to go anywhere, are the part that the sum lacks */
static PetscErrorCode PageRankIterate(Graph *g, Mat P, Vec keep, PetscInt left, Vec *x, Vec *z, GraphResult *r)
{
  PetscReal tol, change = PETSC_MAX_REAL;
  PetscInt  most;

  PetscFunctionBegin;
  PetscCall(GraphGetStop(g, &tol, &most));
  PetscCall(GraphIterate(PETSC_TRUE));
  for (; left && change >= tol && r->iterations < most; r->iterations++) {
    Vec old = *x;

    PetscCall(MatMult(P, *x, *z));
    PetscCall(VecShiftToSum(*z, keep, (PetscReal)left, 1.0, *x, &change));
    *x = *z;
    *z = old;
    PetscCall(GraphProgress(g, "pagerank: iteration", r->iterations + 1, change));
  }
  PetscCall(GraphIterate(PETSC_FALSE));
  r->walks     = 1;
  r->converged = (PetscBool)(!left || tol == 0 || change < tol);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GraphPageRank(Graph *g, GraphResult *r)
{
  PetscReal      c    = 0.85;
  PetscInt       left = g->n, top;
  PetscBool      uniform, away;
  char           way[16] = "uniform";
  PetscLogDouble start, end;
  Vec            keep = NULL, x, z, result;
  GraphWalk      w;

  PetscFunctionBegin;
  PetscCall(PetscTime(&start));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-c", &c, NULL));
  PetscCheck(c >= 0 && c < 1, g->comm, PETSC_ERR_USER_INPUT, "-c %g must be from 0 to less than 1", (double)c);
  PetscCall(PetscOptionsGetString(NULL, NULL, "-dangling", way, sizeof(way), NULL));
  PetscCall(PetscStrcmp(way, "uniform", &uniform));
  PetscCall(PetscStrcmp(way, "remove", &away));
  PetscCheck(uniform || away, g->comm, PETSC_ERR_ARG_UNKNOWN_TYPE, "-dangling %s: say uniform or remove", way);
  PetscCall(GraphGetTop(g, &top));
  if (away) {
    PetscCall(MatCreateVecs(g->A, NULL, &keep));
    PetscCall(RemoveDangling(g, keep, &left));
  }
  PetscCall(GraphWalkCreate(g, c, keep, &w));
  PetscCall(MatCreateVecs(w.P, &x, &z));
  if (keep) {
    Vec host;

    PetscCall(GraphWalkPermute(g, &w, keep, PETSC_FALSE, &host));
    PetscCall(VecDestroy(&keep));
    PetscCall(VecDuplicate(x, &keep));
    PetscCall(VecCopy(host, keep));
    PetscCall(VecDestroy(&host));
    PetscCall(VecCopy(keep, x));
    PetscCall(VecScale(x, left ? 1 / (PetscReal)left : 0));
  } else PetscCall(VecSet(x, left ? 1 / (PetscReal)left : 0));
  PetscCall(PetscTime(&end));
  r->setup = end - start;
  PetscCall(PageRankIterate(g, w.P, keep, left, &x, &z, r));
  PetscCall(GraphWalkPermute(g, &w, x, PETSC_TRUE, &result));
  PetscCall(GraphAddList(g, r, "top", result, top));
  PetscCall(VecDestroy(&result));
  PetscCall(VecDestroy(&keep));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&z));
  PetscCall(GraphWalkDestroy(&w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Authorities a = A^T h and hubs h = A a, one after the other */
PetscErrorCode GraphHITS(Graph *g, GraphResult *r)
{
  PetscReal      tol, change = PETSC_MAX_REAL;
  PetscInt       top, most;
  PetscBool      zero = (PetscBool)!g->n;
  PetscLogDouble start, end;
  Vec            a, h, next, result;
  GraphWalk      w;

  PetscFunctionBegin;
  PetscCall(PetscTime(&start));
  PetscCall(GraphGetTop(g, &top));
  PetscCall(GraphGetStop(g, &tol, &most));
  PetscCall(GraphWalkCreate(g, -1, NULL, &w));
  PetscCall(MatCreateVecs(w.P, &h, &a));
  PetscCall(VecDuplicate(h, &next));
  PetscCall(VecSet(h, g->n ? 1 / (PetscReal)g->n : 0));
  PetscCall(PetscTime(&end));
  r->setup = end - start;
  PetscCall(GraphIterate(PETSC_TRUE));
  for (; !zero && change >= tol && r->iterations < most; r->iterations++) {
    Vec old = h;

    PetscCall(MatMult(w.P, h, a));
    PetscCall(VecScaleToSum(a, 1.0, NULL, &change, &zero));
    PetscCall(MatMultTranspose(w.P, a, next));
    PetscCall(VecScaleToSum(next, 1.0, h, &change, &zero));
    h    = next;
    next = old;
    PetscCall(GraphProgress(g, "hits: iteration", r->iterations + 1, change));
  }
  PetscCall(GraphIterate(PETSC_FALSE));
  r->walks     = 2;
  r->converged = (PetscBool)(zero || tol == 0 || change < tol);
  if (zero) { /* there are no edges */
    PetscCall(VecSet(a, 0.0));
    PetscCall(VecSet(h, 0.0));
  }
  for (int k = 0; k < 2; k++) {
    PetscCall(GraphWalkPermute(g, &w, k ? h : a, PETSC_TRUE, &result));
    PetscCall(GraphAddList(g, r, k ? "hubs" : "top", result, top));
    PetscCall(VecDestroy(&result));
  }
  PetscCall(VecDestroy(&a));
  PetscCall(VecDestroy(&h));
  PetscCall(VecDestroy(&next));
  PetscCall(GraphWalkDestroy(&w));
  PetscFunctionReturn(PETSC_SUCCESS);
}
