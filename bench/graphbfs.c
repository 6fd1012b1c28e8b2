/* SPDX-License-Identifier: BSD-2-Clause */
/*
   petscamb graph: breadth-first search from several vertices, 64 at a time: bit s of a vertex's word is set if source s has reached the vertex. A level looks along the edges that
   leave the vertices reached last, or back along those of the vertices to be reached, whichever are fewer edges to look at.

   S. Beamer, K. Asanovic, D. Patterson, Direction-Optimizing Breadth-First Search, SC 2012.
*/
#include "graph.h"

#define WORD    64
#define FEW     8 /* a level looks along edges that leave if these are fewer than 1 of so many */
#define SOURCES 8

typedef struct {
  Mat         T;       /* the transpose of the matrix, made when it is wanted */
  PetscInt   *degree;  /* edges that leave each vertex of this process */
  uint64_t   *word[4]; /* reached at all, in the last level, in the next, still to be reached */
  PetscInt64 *level;   /* of the vertices of this process, source by source; NULL if nobody wants them */
  PetscInt64  reached, levels;
} Search;

static PetscErrorCode SearchCreate(Graph *g, PetscInt n, PetscBool levels, Search *s)
{
  Rows rows;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(s, sizeof(*s)));
  PetscCall(PetscMalloc1(g->m, &s->degree));
  PetscCall(RowsGet(g->A, &rows));
  for (PetscInt v = 0; v < g->m; v++) s->degree[v] = rows.i[v + 1] - rows.i[v];
  PetscCall(RowsRestore(&rows));
  for (int k = 0; k < 4; k++) PetscCall(PetscMalloc1(g->m, &s->word[k]));
  if (levels) PetscCall(PetscMalloc1((size_t)n * g->m, &s->level));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SearchDestroy(Search *s)
{
  PetscFunctionBegin;
  PetscCall(MatDestroy(&s->T));
  PetscCall(PetscFree(s->degree));
  for (int k = 0; k < 4; k++) PetscCall(PetscFree(s->word[k]));
  PetscCall(PetscFree(s->level));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds the vertices that were reached last to those reached at all; *leaving is the number of edges that leave them */
static PetscErrorCode SearchTake(Graph *g, Search *s, PetscInt64 level, PetscInt64 levels[], uint64_t all, PetscInt64 *leaving)
{
  uint64_t  *seen = s->word[0], *last = s->word[1], *want = s->word[3];
  PetscInt64 sum[2] = {0, 0};

  PetscFunctionBegin;
  for (PetscInt v = 0; v < g->m; v++) {
    seen[v] |= last[v];
    want[v] = all & ~seen[v];
    if (!last[v]) continue;
    sum[0] += s->degree[v];
    for (uint64_t bits = last[v]; bits; bits &= bits - 1) {
      sum[1]++;
      if (levels) levels[(PetscInt64)__builtin_ctzll(bits) * g->m + v] = level;
    }
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sum, 2, MPIU_INT64, MPI_SUM, g->comm));
  *leaving = sum[0];
  s->reached += sum[1];
  if (sum[1]) s->levels = PetscMax(s->levels, level);
  else *leaving = -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Searches from up to 64 sources */
static PetscErrorCode SearchRun(Graph *g, Search *s, PetscInt n, const PetscInt source[], PetscInt64 levels[])
{
  const uint64_t all = n == WORD ? ~(uint64_t)0 : ((uint64_t)1 << n) - 1;
  PetscInt       first;
  PetscInt64     leaving = -1;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(g->A, &first, NULL));
  for (int k = 0; k < 4; k++) PetscCall(PetscArrayzero(s->word[k], g->m));
  for (PetscInt q = 0; q < n; q++) {
    if (source[q] >= first && source[q] < first + g->m) s->word[1][source[q] - first] |= (uint64_t)1 << q;
  }
  for (PetscInt64 q = 0; levels && q < (PetscInt64)n * g->m; q++) levels[q] = -1;
  for (PetscInt64 level = 0;; level++) {
    uint64_t *last = s->word[1];

    PetscCall(SearchTake(g, s, level, levels, all, &leaving));
    if (leaving < 0) break;
    PetscCall(PetscArrayzero(s->word[2], g->m));
    if ((PetscLogDouble)leaving * FEW < g->edges) PetscCall(MatMultOr(g->A, PETSC_TRUE, last, s->word[3], s->word[2]));
    else {
      if (!s->T) PetscCall(MatTranspose(g->A, MAT_INITIAL_MATRIX, &s->T));
      PetscCall(MatMultOr(s->T, PETSC_FALSE, last, s->word[3], s->word[2]));
    }
    s->word[1] = s->word[2];
    s->word[2] = last;
    PetscCall(GraphProgress(g, "bfs: level", (PetscInt)level + 1, (PetscReal)leaving));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One line for each vertex that a source reaches */
static PetscErrorCode SearchReport(Graph *g, const Search *s, PetscInt n, const PetscInt source[], GraphResult *r)
{
  PetscInt64 *ids, *level, *row, *from;
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(g->comm, &rank));
  PetscCall(GraphGatherIds(g, &ids));
  PetscCall(PetscMalloc1(n, &from));
  PetscCall(GraphGetIds(g, n, source, from));
  PetscCheck(s->reached <= PETSC_MAX_INT / 3, g->comm, PETSC_ERR_USER_INPUT, "-csv: the levels have more than %" PetscInt_FMT " lines; take fewer sources", PETSC_MAX_INT / 3);
  PetscCall(PetscMalloc1(rank ? 0 : 3 * (size_t)s->reached, &row));
  r->head    = "source,id,level";
  r->columns = 3;
  r->row     = row;
  for (PetscInt q = 0; q < n; q++) {
    PetscCall(GraphGather(g, s->level + (size_t)q * g->m, &level));
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
  PetscInt  n, *source;
  PetscBool levels;
  Search    s;

  PetscFunctionBegin;
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
  PetscCall(SearchCreate(g, n, levels, &s));
  for (PetscInt q = 0; q < n; q += WORD) PetscCall(SearchRun(g, &s, PetscMin(n - q, WORD), source + q, levels ? s.level + (size_t)q * g->m : NULL));
  r->ncount     = 3;
  r->count[0]   = "reached";
  r->counted[0] = s.reached;
  r->count[1]   = "levels";
  r->counted[1] = s.levels;
  r->count[2]   = "sources";
  r->counted[2] = n;
  if (levels) PetscCall(SearchReport(g, &s, n, source, r));
  PetscCall(SearchDestroy(&s));
  PetscCall(PetscFree(source));
  PetscFunctionReturn(PETSC_SUCCESS);
}
