/* SPDX-License-Identifier: BSD-2-Clause */
/*
   petscamb graph: PageRank, hubs and authorities, and random walks with restart. VecGetTop() gets the greatest entries of the results: of vectors on a GPU no others come to the host.
*/
#include "graph.h"
#include <petsctime.h>

typedef struct {
  Graph         *g;
  GraphResult   *r;
  const char    *what;
  PetscLogDouble start;
} Progress;

/* The time before the first iteration is the set-up's */
static PetscErrorCode RanksMonitor(PetscInt iteration, PetscReal change, void *context)
{
  Progress      *p = (Progress *)context;
  PetscLogDouble now;

  PetscFunctionBegin;
  PetscCall(PetscTime(&now));
  if (iteration) PetscCall(GraphProgress(p->g, p->what, iteration, change));
  else p->r->setup = now - p->start;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Names the graph and an option in the error of negative weights */
static PetscErrorCode RanksErrorHandler(MPI_Comm comm, int line, const char *function, const char *file, PetscErrorCode code, PetscErrorType type, const char *message, void *g)
{
  char text[PETSC_MAX_PATH_LEN];

  if (code == PETSC_ERR_ARG_OUTOFRANGE && message && strstr(message, "a weight is negative")) {
    (void)snprintf(text, sizeof(text), "%s: a weight is negative or no number; -unweighted leaves the weights out", ((const Graph *)g)->name);
    message = text;
    code    = PETSC_ERR_USER_INPUT;
  }
  return CommandErrorHandler(comm, line, function, file, code, type, message, &ToolErrors);
}

/* The value of -order */
static PetscErrorCode RanksGetOrder(Graph *g, MatGraphOrder *order)
{
  const char *const known[] = {"none", "degree", "bitonic"};
  char              way[16] = "none";
  int               k       = 0;
  PetscMPIInt       size;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-order", way, sizeof(way), NULL));
  while (k < 3 && strcmp(way, known[k])) k++;
  PetscCheck(k < 3, g->comm, PETSC_ERR_ARG_UNKNOWN_TYPE, "-order %s: say none, degree or bitonic", way);
  *order = (MatGraphOrder)k;
  PetscCallMPI(MPI_Comm_size(g->comm, &size));
  PetscCheck(*order != MAT_GRAPH_ORDER_DEGREE || size == 1, g->comm, PETSC_ERR_USER_INPUT, "-order degree is for one process; say bitonic or none");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the options, and brings the matrix to its type; damping: the default of -c, or negative if there is no -c */
static PetscErrorCode RanksBegin(Graph *g, PetscReal damping, MatGraphIteration *it, Progress *p)
{
  PetscFunctionBegin;
  PetscCall(PetscTime(&p->start));
  PetscCall(MatGraphIterationInitialize(it));
  it->monitor = RanksMonitor;
  it->context = p;
  if (damping >= 0) {
    it->damping = damping;
    PetscCall(PetscOptionsGetReal(NULL, NULL, "-c", &it->damping, NULL));
    PetscCheck(it->damping >= 0 && it->damping < 1, g->comm, PETSC_ERR_USER_INPUT, "-c %g must be from 0 to less than 1", (double)it->damping);
  }
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-tol", &it->tol, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-iterations", &it->max_it, NULL));
  PetscCheck(it->tol >= 0 && it->max_it > 0, g->comm, PETSC_ERR_USER_INPUT, "-tol %g must not be negative, and -iterations %" PetscInt_FMT " must be positive", (double)it->tol, it->max_it);
  PetscCall(RanksGetOrder(g, &it->order));
  PetscCall(GraphConvert(g));
  PetscCall(PetscPushErrorHandler(RanksErrorHandler, g));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RanksEnd(GraphResult *r, const MatGraphIteration *it, PetscInt walks)
{
  PetscFunctionBegin;
  PetscCall(PetscPopErrorHandler());
  r->iterations = it->its;
  r->converged  = (PetscBool)(it->reason > 0);
  r->walks      = walks;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GraphPageRank(Graph *g, GraphResult *r)
{
  PetscInt          top;
  PetscBool         uniform, away;
  char              way[16] = "uniform";
  Vec               x;
  MatGraphIteration it;
  Progress          p = {g, r, "pagerank: iteration", 0};

  PetscFunctionBegin;
  PetscCall(RanksBegin(g, 0.85, &it, &p));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-dangling", way, sizeof(way), NULL));
  PetscCall(PetscStrcmp(way, "uniform", &uniform));
  PetscCall(PetscStrcmp(way, "remove", &away));
  PetscCheck(uniform || away, g->comm, PETSC_ERR_ARG_UNKNOWN_TYPE, "-dangling %s: say uniform or remove", way);
  if (away) it.dangling = MAT_GRAPH_DANGLING_REMOVE;
  PetscCall(GraphGetTop(g, &top));
  PetscCall(MatCreateVecs(g->A, NULL, &x));
  PetscCall(MatPageRank(g->A, &it, x));
  PetscCall(RanksEnd(r, &it, 1));
  PetscCall(GraphAddList(g, r, "top", x, top));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GraphHITS(Graph *g, GraphResult *r)
{
  PetscInt          top;
  Vec               authorities, hubs;
  MatGraphIteration it;
  Progress          p = {g, r, "hits: iteration", 0};

  PetscFunctionBegin;
  PetscCall(RanksBegin(g, -1, &it, &p));
  PetscCall(GraphGetTop(g, &top));
  PetscCall(MatCreateVecs(g->A, &authorities, &hubs));
  PetscCall(MatHITS(g->A, &it, authorities, hubs));
  PetscCall(RanksEnd(r, &it, 2));
  PetscCall(GraphAddList(g, r, "top", authorities, top));
  PetscCall(GraphAddList(g, r, "hubs", hubs, top));
  PetscCall(VecDestroy(&authorities));
  PetscCall(VecDestroy(&hubs));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The lists of all seeds become one */
static PetscErrorCode WalksReport(Graph *g, Mat walks, PetscInt n, const PetscInt seeds[], GraphResult *r, PetscInt top)
{
  GraphList all = {.key = "top"};

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n * PetscMin(top, g->n), &all.seed));
  PetscCall(PetscMalloc1(n * PetscMin(top, g->n), &all.id));
  PetscCall(PetscMalloc1(n * PetscMin(top, g->n), &all.value));
  for (PetscInt s = 0; s < n; s++) {
    GraphResult one = {.nlist = 0};
    Vec         x;
    PetscInt64  seed;

    PetscCall(GraphGetIds(g, 1, &seeds[s], &seed));
    PetscCall(MatDenseGetColumnVecRead(walks, s, &x));
    PetscCall(GraphAddList(g, &one, "top", x, top));
    PetscCall(MatDenseRestoreColumnVecRead(walks, s, &x));
    for (PetscInt v = 0; v < one.list[0].n; v++, all.n++) {
      all.seed[all.n]  = seed;
      all.id[all.n]    = one.list[0].id[v];
      all.value[all.n] = one.list[0].value[v];
    }
    PetscCall(GraphResultDestroy(&one));
  }
  if (n == 1) PetscCall(PetscFree(all.seed));
  r->list[r->nlist++] = all;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GraphRWR(Graph *g, GraphResult *r)
{
  PetscInt          top, n, *seeds;
  Mat               walks;
  MatGraphIteration it;
  Progress          p = {g, r, "rwr: iteration", 0};

  PetscFunctionBegin;
  PetscCall(RanksBegin(g, 0.9, &it, &p));
  PetscCall(GraphGetTop(g, &top));
  PetscCheck(g->n, g->comm, PETSC_ERR_USER_INPUT, "%s has no vertex to start from", g->name);
  PetscCall(GraphGetOption(g, "-seeds", &n, &seeds));
  if (!n) {
    n = 1;
    PetscCall(PetscCalloc1(1, &seeds));
  }
  PetscCall(MatRandomWalkWithRestart(g->A, n, seeds, &it, &walks));
  PetscCall(RanksEnd(r, &it, n));
  PetscCall(WalksReport(g, walks, n, seeds, r, top));
  PetscCall(MatDestroy(&walks));
  PetscCall(PetscFree(seeds));
  PetscFunctionReturn(PETSC_SUCCESS);
}
