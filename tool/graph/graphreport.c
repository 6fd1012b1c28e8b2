/* SPDX-License-Identifier: BSD-2-Clause */
/*
   petscamb graph: results as a table, as JSON and as comma-separated values. Rank 0 writes.
*/
#include "graph.h"
#include <petsctime.h>

/* Keeps the time, and says on a terminal how far a long run is; what = NULL ends the line */
PetscErrorCode GraphProgress(Graph *g, const char what[], PetscInt done, PetscReal change)
{
  PetscLogDouble now;
  PetscMPIInt    rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(g->comm, &rank));
  PetscCall(PetscTime(&now));
  if (what && g->laps < (PetscInt)PETSC_STATIC_ARRAY_LENGTH(g->lap)) g->lap[g->laps++] = now;
  if (!g->progress || rank) PetscFunctionReturn(PETSC_SUCCESS);
  if (!what) {
    if (g->said) (void)fprintf(stderr, "\r\033[K");
  } else if (now - g->since > 1) { /* nothing is said in the first second */
    g->said  = PETSC_TRUE;
    g->since = now;
    (void)fprintf(stderr, "\r\033[K%s %" PetscInt_FMT ", change %.2e ", what, done, (double)change);
    (void)fflush(stderr);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints on a terminal the stage before the first iteration; the next output overwrites it */
PetscErrorCode GraphStage(Graph *g, const char stage[])
{
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(g->comm, &rank));
  if (!g->progress || rank) PetscFunctionReturn(PETSC_SUCCESS);
  g->said = PETSC_TRUE;
  (void)fprintf(stderr, "\r\033[K%s: %s\r", g->name, stage);
  (void)fflush(stderr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Traversed edges a second in the median iteration: the first iterations copy the matrix to a GPU and choose its format. 0 if unknown. */
static PetscErrorCode Rate(Graph *g, const GraphResult *r, PetscLogDouble *rate)
{
  const PetscInt n = g->laps - 1;
  PetscReal      time[PETSC_STATIC_ARRAY_LENGTH(g->lap)];

  PetscFunctionBegin;
  *rate = 0;
  if (n < 1 || !r->walks) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt k = 0; k < n; k++) time[k] = (PetscReal)(g->lap[k + 1] - g->lap[k]);
  PetscCall(PetscSortReal(n, time));
  if (time[n / 2] > 0) *rate = g->entries * r->walks / time[n / 2];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode JSON(FILE *f, const GraphResult *r, PetscLogDouble seconds)
{
  PetscFunctionBegin;
  fprintf(f, "{");
  for (PetscInt k = 0; k < r->ncount; k++) fprintf(f, "\"%s\": %" PetscInt64_FMT ", ", r->count[k], r->counted[k]);
  for (PetscInt k = 0; k < r->nlist; k++) {
    const GraphList *l = &r->list[k];

    fprintf(f, "\"%s\": [", l->key);
    for (PetscInt v = 0; v < l->n; v++) {
      fprintf(f, "%s{", v ? ", " : "");
      if (l->seed) fprintf(f, "\"seed\": %" PetscInt64_FMT ", ", l->seed[v]);
      fprintf(f, "\"id\": %" PetscInt64_FMT ", \"value\": %.17g}", l->id[v], (double)l->value[v]);
    }
    fprintf(f, "], ");
  }
  if (r->iterations) fprintf(f, "\"iterations\": %" PetscInt_FMT ", ", r->iterations);
  fprintf(f, "\"seconds\": %.6g}\n", seconds);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CSV(FILE *f, const GraphResult *r)
{
  PetscFunctionBegin;
  if (r->head) {
    fprintf(f, "%s\n", r->head);
    for (PetscInt v = 0; v < r->rows; v++) {
      for (PetscInt k = 0; k < r->columns; k++) fprintf(f, "%s%" PetscInt64_FMT, k ? "," : "", r->row[v * r->columns + k]);
      fprintf(f, "\n");
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt k = 0; k < r->ncount; k++) fprintf(f, "%s%s", k ? "," : "", r->count[k]);
  for (PetscInt k = 0; k < r->ncount; k++) fprintf(f, "%s%" PetscInt64_FMT, k ? "," : "\n", r->counted[k]);
  if (r->nlist) fprintf(f, "%s%sid,value", r->nlist > 1 ? "list," : "", r->list[0].seed ? "seed," : "");
  fprintf(f, "\n");
  for (PetscInt k = 0; k < r->nlist; k++) {
    const GraphList *l = &r->list[k];

    for (PetscInt v = 0; v < l->n; v++) {
      if (r->nlist > 1) fprintf(f, "%s,", l->key);
      if (l->seed) fprintf(f, "%" PetscInt64_FMT ",", l->seed[v]);
      fprintf(f, "%" PetscInt64_FMT ",%.17g\n", l->id[v], (double)l->value[v]);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Table(Graph *g, const char algorithm[], const GraphResult *r, PetscLogDouble rate, PetscLogDouble seconds)
{
  PetscFunctionBegin;
  PetscCall(ReportPrintf(g->comm, "%s: %" PetscInt_FMT " vertices, %.0f edges\n%s:", g->name, g->n, g->edges, algorithm));
  for (PetscInt k = 0; k < r->ncount; k++) PetscCall(ReportPrintf(g->comm, "%s %" PetscInt64_FMT " %s", k ? "," : "", r->counted[k], r->count[k]));
  if (r->iterations) PetscCall(ReportPrintf(g->comm, "%s %" PetscInt_FMT " iterations%s", r->ncount ? "," : "", r->iterations, r->converged ? "" : " (NOT CONVERGED)"));
  PetscCall(ReportPrintf(g->comm, ", %.4g s", seconds));
  if (r->setup > 0) PetscCall(ReportPrintf(g->comm, " (%.4g s %s)", r->setup, r->iterations ? "before the first iteration" : "to prepare the matrix"));
  if (rate > 0) PetscCall(ReportPrintf(g->comm, ", %.3g GTEPS in the median iteration", 1e-9 * rate));
  if (g->start > 0.1) PetscCall(ReportPrintf(g->comm, "; %.3g s before to start the GPU", g->start));
  PetscCall(ReportPrintf(g->comm, "\n"));
  for (PetscInt k = 0; k < r->nlist; k++) {
    const GraphList *l = &r->list[k];

    if (r->nlist > 1) PetscCall(ReportPrintf(g->comm, "%s\n", k ? l->key : "authorities"));
    for (PetscInt v = 0; v < l->n; v++) {
      if (l->seed && (!v || l->seed[v] != l->seed[v - 1])) PetscCall(ReportPrintf(g->comm, "from %" PetscInt64_FMT "\n", l->seed[v]));
      PetscCall(ReportPrintf(g->comm, "  %20" PetscInt64_FMT " %14.8g\n", l->id[v], (double)l->value[v]));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GraphReport(Graph *g, const char algorithm[], const GraphResult *r, PetscLogDouble seconds)
{
  char           name[2][PETSC_MAX_PATH_LEN];
  FILE          *f;
  PetscLogDouble rate;

  PetscFunctionBegin;
  PetscCall(Rate(g, r, &rate));
  PetscCall(CommandGetOutputs(g->comm, name[1], name[0], sizeof(name[0])));
  for (int kind = 0; kind < 2; kind++) {
    if (!name[kind][0]) continue;
    PetscCall(ReportOpen(g->comm, name[kind], &f));
    if (f && kind) PetscCall(CSV(f, r));
    else if (f) PetscCall(JSON(f, r, seconds));
    PetscCall(ReportClose(name[kind], PETSC_FALSE, f));
  }
  PetscCall(Table(g, algorithm, r, rate, seconds));
  PetscFunctionReturn(PETSC_SUCCESS);
}
