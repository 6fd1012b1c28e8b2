/* SPDX-License-Identifier: BSD-2-Clause */
/*
   MatBreadthFirst(): searches from several vertices, 64 at a time: bit s of a vertex's word is set if source s has reached it. A level follows the
   edges that leave the last level's vertices, or follows the edges into unreached vertices backwards, whichever are fewer.

   Source: S. Beamer, K. Asanovic, D. Patterson, Direction-Optimizing Breadth-First Search, SC 2012.
*/
#include <petscambgraph.h>
#include "graph/glue/graph.h"
#include "graph/glue/graphdevice.h"
#include "graph/host/graphpolicy.h"

typedef struct {
  Mat        A, T; /* and its transpose, created at its first use */
  PetscInt   m, first;
  PetscInt64 edges;
  PetscInt  *degree;  /* edges that leave each vertex of this process */
  uint64_t  *word[4]; /* reached so far, in the last level, in the next level, not yet reached */
  PetscInt64 reached, farthest;
} Search;

static PetscErrorCode SearchCreate(Mat A, Search *s)
{
  GraphRows rows;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(s, sizeof(*s)));
  s->A     = A;
  s->m     = A->rmap->n;
  s->first = A->rmap->rstart;
  PetscCall(PetscCalloc1(s->m, &s->degree));
  PetscCall(GraphRowsGet(A, &rows));
  for (int k = 0; k < 2 && rows.block[k]; k++) {
    for (PetscInt v = 0; v < s->m; v++) s->degree[v] += rows.csr[k].i[v + 1] - rows.csr[k].i[v];
  }
  for (PetscInt v = 0; v < s->m; v++) s->edges += s->degree[v];
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &s->edges, 1, MPIU_INT64, MPI_SUM, PetscObjectComm((PetscObject)A)));
  for (int k = 0; k < 4; k++) PetscCall(PetscMalloc1(s->m, &s->word[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SearchDestroy(Search *s)
{
  PetscFunctionBegin;
  PetscCall(MatDestroy(&s->T));
  PetscCall(PetscFree(s->degree));
  for (int k = 0; k < 4; k++) PetscCall(PetscFree(s->word[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds the last level's vertices to those reached; *leaving: number of edges that leave them, or -1 if there are no such vertices */
static PetscErrorCode SearchTake(Search *s, PetscInt64 now, PetscInt64 level[], uint64_t all, PetscInt64 *leaving)
{
  uint64_t  *seen = s->word[0], *last = s->word[1], *want = s->word[3];
  PetscInt64 sum[2] = {0, 0};

  PetscFunctionBegin;
  for (PetscInt v = 0; v < s->m; v++) {
    seen[v] |= last[v];
    want[v] = all & ~seen[v];
    if (!last[v]) continue;
    sum[0] += s->degree[v];
    for (uint64_t bits = last[v]; bits; bits &= bits - 1) {
      sum[1]++;
      if (level) level[(size_t)__builtin_ctzll(bits) * s->m + v] = now;
    }
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sum, 2, MPIU_INT64, MPI_SUM, PetscObjectComm((PetscObject)s->A)));
  *leaving = sum[1] ? sum[0] : -1;
  s->reached += sum[1];
  if (sum[1]) s->farthest = PetscMax(s->farthest, now);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Searches from up to 64 sources */
static PetscErrorCode SearchRun(Search *s, PetscInt n, const PetscInt source[], PetscInt64 level[])
{
  const uint64_t all     = n == GRAPH_SEARCH_SOURCES ? ~(uint64_t)0 : ((uint64_t)1 << n) - 1;
  PetscInt64     leaving = -1;

  PetscFunctionBegin;
  for (int k = 0; k < 4; k++) PetscCall(PetscArrayzero(s->word[k], s->m));
  for (PetscInt q = 0; q < n; q++) {
    if (source[q] >= s->first && source[q] < s->first + s->m) s->word[1][source[q] - s->first] |= (uint64_t)1 << q;
  }
  for (size_t q = 0; level && q < (size_t)n * s->m; q++) level[q] = -1;
  for (PetscInt64 now = 0;; now++) {
    uint64_t *last = s->word[1];

    PetscCall(SearchTake(s, now, level, all, &leaving));
    if (leaving < 0) break;
    PetscCall(PetscArrayzero(s->word[2], s->m));
    if (leaving < s->edges / GRAPH_SEARCH_PUSH) PetscCall(MatMultOr(s->A, PETSC_TRUE, last, s->word[3], s->word[2]));
    else {
      if (!s->T) PetscCall(MatGraphTranspose(s->A, &s->T));
      PetscCall(MatMultOr(s->T, PETSC_FALSE, last, s->word[3], s->word[2]));
    }
    s->word[1] = s->word[2];
    s->word[2] = last;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatBreadthFirst - searches a graph from several vertices at once

  Collective

  Input Parameters:
+ A      - a square matrix, of `MATAIJ` or a type that extends it; an entry (i, j) is an edge from i to j
. n      - the number of vertices to start from, the same on all processes
- source - these vertices, the same on all processes

  Output Parameters:
+ level    - `NULL`, or an array for n levels of each local row: the level of row r from source s is `level[s * m + r]`, where m is the number of local rows; -1 if the source does not
             reach the row
. reached  - the number of vertices that are reached, each as often as there are sources that reach it
- farthest - the largest level

  Level: intermediate

  Note:
  A pass searches from 64 sources. If the matrix is on the GPUs of all processes, the GPUs search. Only the results come to the host and, on several processes, in each level
  a word for each vertex of another process to which an edge goes. If memory is short on any GPU, the host searches.

  Errors:
+ `PETSC_ERR_ARG_WRONGSTATE` - the matrix is not assembled
. `PETSC_ERR_SUP`            - the matrix is not of `MATAIJ` or a type that extends it
. `PETSC_ERR_ARG_SIZ`        - the matrix is not square, or its rows and columns are distributed differently
- `PETSC_ERR_ARG_OUTOFRANGE` - a source is no row

  Example:
.vb
  const PetscInt source[] = {0, 7};
  PetscInt64    *level, reached, farthest;

  PetscCall(MatGetLocalSize(A, &m, NULL));
  PetscCall(PetscMalloc1(2 * m, &level));
  PetscCall(MatBreadthFirst(A, 2, source, level, &reached, &farthest));
.ve

.seealso: `MatMultOr()`, `MatCountTriangles()`
@*/
PetscErrorCode MatBreadthFirst(Mat A, PetscInt n, const PetscInt source[], PetscInt64 level[], PetscInt64 *reached, PetscInt64 *farthest)
{
  PetscBool done = PETSC_FALSE;
  Search    s;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscCall(GraphCheckSquare(A, "MatBreadthFirst()"));
  for (PetscInt q = 0; q < n; q++)
    PetscCheck(source[q] >= 0 && source[q] < A->rmap->N, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE, "MatBreadthFirst(): source %" PetscInt_FMT " is %" PetscInt_FMT ", and the matrix has %" PetscInt_FMT " rows", q, source[q], A->rmap->N);
  PetscCall(GraphSearchDevice(A, n, source, level, reached, farthest, &done));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SearchCreate(A, &s));
  for (PetscInt q = 0; q < n; q += GRAPH_SEARCH_SOURCES) PetscCall(SearchRun(&s, PetscMin(n - q, GRAPH_SEARCH_SOURCES), source + q, level ? level + (size_t)q * s.m : NULL));
  *reached  = s.reached;
  *farthest = s.farthest;
  PetscCall(SearchDestroy(&s));
  PetscFunctionReturn(PETSC_SUCCESS);
}
