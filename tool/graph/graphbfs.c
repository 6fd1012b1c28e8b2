/* SPDX-License-Identifier: BSD-2-Clause */
/*
   petscamb graph: breadth-first search from several vertices. With a GPU the graph goes there, and the levels come back if they are wanted.
*/
#include "graph.h"
#include <petsctime.h>

#define SOURCES 8

/* One line for each vertex that a source reaches */
static PetscErrorCode SearchReport(Graph *g, PetscInt64 reached, const PetscInt64 levels[], PetscInt n, const PetscInt source[], GraphResult *r)
{
  PetscInt64 *ids, *level, *row, *from;
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(g->comm, &rank));
  PetscCall(GraphGatherIds(g, &ids));
  PetscCall(PetscMalloc1(n, &from));
  PetscCall(GraphGetIds(g, n, source, from));
  PetscCheck(reached <= PETSC_MAX_INT / 3, g->comm, PETSC_ERR_USER_INPUT, "-csv: the levels have more than %" PetscInt_FMT " lines; take fewer sources", PETSC_MAX_INT / 3);
  PetscCall(PetscMalloc1(rank ? 0 : 3 * (size_t)reached, &row));
  r->head    = "source,id,level";
  r->columns = 3;
  r->row     = row;
  for (PetscInt q = 0; q < n; q++) {
    PetscCall(GraphGather(g, levels + (size_t)q * g->m, &level));
    for (PetscInt v = 0; !rank && v < g->n; v++) {
      if (level[v] < 0) continue;
      *row++ = from[q];
      *row++ = ids[v];
      *row++ = level[v];
      r->rows++;
    }
    PetscCall(PetscFree(level));
  }
  PetscCall(PetscFree(ids));
  PetscCall(PetscFree(from));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GraphBFS(Graph *g, GraphResult *r)
{
  PetscInt       n, *source;
  PetscInt64    *level = NULL, reached, farthest;
  PetscBool      levels;
  PetscLogDouble start, end;

  PetscFunctionBegin;
  PetscCall(PetscTime(&start));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-csv", &levels));
  PetscCall(GraphGetOption(g, "-sources", &n, &source));
  if (!source) {
    n = SOURCES;
    PetscCall(PetscOptionsGetInt(NULL, NULL, "-count", &n, NULL));
    PetscCheck(n > 0, g->comm, PETSC_ERR_USER_INPUT, "-count %" PetscInt_FMT " must be positive", n);
    n = PetscMin(n, g->n);
    PetscCall(PetscMalloc1(n, &source));
    for (PetscInt q = 0; q < n; q++) source[q] = (PetscInt)((PetscInt64)q * g->n / n);
  }
  if (levels) PetscCall(PetscMalloc1((size_t)n * g->m, &level));
  PetscCall(GraphConvert(g));
  PetscCall(PetscTime(&end));
  r->setup = end - start;
  PetscCall(MatBreadthFirst(g->A, n, source, level, &reached, &farthest));
  r->ncount     = 3;
  r->count[0]   = "reached";
  r->counted[0] = reached;
  r->count[1]   = "levels";
  r->counted[1] = farthest;
  r->count[2]   = "sources";
  r->counted[2] = n;
  if (levels) PetscCall(SearchReport(g, reached, level, n, source, r));
  PetscCall(PetscFree(level));
  r->peer    = PETSC_TRUE;
  r->nsource = n;
  r->source  = source;
  PetscFunctionReturn(PETSC_SUCCESS);
}
