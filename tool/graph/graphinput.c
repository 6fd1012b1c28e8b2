/* SPDX-License-Identifier: BSD-2-Clause */
/*
   petscamb graph: reading a graph, and the ids of its vertices.
*/
#include "graph.h"
#include <ctype.h>
#include <errno.h>
#include <unistd.h>

/* Makes A + A^T with the diagonal of A */
PetscErrorCode GraphSymmetrize(Mat A, Mat *B)
{
  Vec                diagonal;
  PetscInt           first, last;
  const PetscScalar *d;

  PetscFunctionBegin;
  PetscCall(MatGraphTranspose(A, B));
  PetscCall(MatAXPY(*B, 1.0, A, DIFFERENT_NONZERO_PATTERN));
  PetscCall(MatCreateVecs(A, NULL, &diagonal));
  PetscCall(MatGetDiagonal(A, diagonal));
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  PetscCall(VecGetArrayRead(diagonal, &d));
  for (PetscInt r = first; r < last; r++) {
    if (d[r - first] != (PetscScalar)0) PetscCall(MatSetValue(*B, r, r, d[r - first], INSERT_VALUES));
  }
  PetscCall(VecRestoreArrayRead(diagonal, &d));
  PetscCall(MatAssemblyBegin(*B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*B, MAT_FINAL_ASSEMBLY));
  PetscCall(VecDestroy(&diagonal));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GraphCreate(MPI_Comm comm, const char name[], Graph *g)
{
  MatLoadFormat format;
  PetscInt      N;
  PetscBool     undirected = PETSC_FALSE, unweighted = PETSC_FALSE;
  MatInfo       info;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(g, sizeof(*g)));
  g->comm     = comm;
  g->name     = name;
  g->progress = (PetscBool)(isatty(2) == 1);
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-undirected", &undirected, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-unweighted", &unweighted, NULL));
  PetscCall(GraphStage(g, "reading"));
  PetscCall(InputGetFormat(comm, name, &format));
  if (format == MAT_LOAD_EDGE_LIST) {
    PetscCall(MatCreate(comm, &g->A));
    PetscCall(MatSetType(g->A, MATAIJ));
    PetscCall(MatLoadEdgeList(g->A, name, &g->ids));
  } else PetscCall(InputCreateMat(comm, name, &g->A));
  g->named = (PetscBool)(format == MAT_LOAD_EDGE_LIST);
  g->first = format == MAT_LOAD_MATRIX_MARKET ? 1 : 0;
  PetscCall(MatGetSize(g->A, &g->n, &N));
  PetscCheck(g->n == N, comm, PETSC_ERR_USER_INPUT, "%s: %" PetscInt_FMT " x %" PetscInt_FMT ", but the matrix of a graph is square", name, g->n, N);
  PetscCall(MatGetLocalSize(g->A, &g->m, NULL));
  PetscCall(MatGetInfo(g->A, MAT_GLOBAL_SUM, &info));
  g->edges = info.nz_used;
  if (undirected) {
    Mat B;

    PetscCall(GraphSymmetrize(g->A, &B));
    PetscCall(MatDestroy(&g->A));
    g->A = B;
    PetscCall(MatGetInfo(g->A, MAT_GLOBAL_SUM, &info));
  }
  g->entries = info.nz_used;
  if (unweighted) PetscCall(MatPowEntries(g->A, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GraphDestroy(Graph *g)
{
  PetscFunctionBegin;
  PetscCall(MatDestroy(&g->A));
  PetscCall(PetscFree(g->ids));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The ids of vertices of any process, on all processes */
PetscErrorCode GraphGetIds(Graph *g, PetscInt n, const PetscInt index[], PetscInt64 id[])
{
  PetscInt first, last;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(g->A, &first, &last));
  for (PetscInt k = 0; k < n; k++) id[k] = index[k] < first || index[k] >= last ? -1 : (g->named ? g->ids[index[k] - first] : g->first + index[k]);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, id, (PetscMPIInt)n, MPIU_INT64, MPI_MAX, g->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The vertex with an id */
static PetscErrorCode GraphFind(Graph *g, PetscInt64 id, PetscInt *index)
{
  PetscInt first, last, low, high;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(g->A, &first, &last));
  *index = -1;
  if (!g->named) *index = id >= g->first && id < g->first + g->n ? (PetscInt)(id - g->first) : -1;
  for (low = 0, high = g->named ? g->m : 0; low < high;) {
    const PetscInt middle = low + (high - low) / 2;

    if (g->ids[middle] == id) *index = first + middle;
    if (g->ids[middle] < id) low = middle + 1;
    else high = middle;
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, index, 1, MPIU_INT, MPI_MAX, g->comm));
  PetscCheck(*index >= 0, g->comm, PETSC_ERR_USER_INPUT, "%s has no vertex %" PetscInt64_FMT, g->name, id);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The vertices that an option lists by their ids; *n is 0 if the option is not given */
PetscErrorCode GraphGetOption(Graph *g, const char option[], PetscInt *n, PetscInt *index[])
{
  char     *text, *p;
  PetscBool given;

  PetscFunctionBegin;
  *n     = 0;
  *index = NULL;
  PetscCall(PetscMalloc1(1 << 16, &text));
  PetscCall(PetscOptionsGetString(NULL, NULL, option, text, 1 << 16, &given));
  if (given) {
    PetscInt count = 1;

    for (p = text; *p; p++) count += *p == ',';
    PetscCall(PetscMalloc1(count, index));
    for (p = text; *n < count; (*n)++) {
      char           *end;
      const long long id = (errno = 0, strtoll(p, &end, 10));

      PetscCheck(isdigit((unsigned char)*p) && !errno && *end == (*n < count - 1 ? ',' : 0), g->comm, PETSC_ERR_USER_INPUT, "%s %s: write ids with commas between them and no blanks", option, text);
      PetscCall(GraphFind(g, (PetscInt64)id, &(*index)[*n]));
      p = end + 1;
    }
  }
  PetscCall(PetscFree(text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Numbers of all vertices on process 0, which frees them */
PetscErrorCode GraphGather(Graph *g, const PetscInt64 local[], PetscInt64 *all[])
{
  PetscMPIInt     size, rank, m, *counts, *at;
  const PetscInt *ranges;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(g->comm, &size));
  PetscCallMPI(MPI_Comm_rank(g->comm, &rank));
  PetscCall(PetscMPIIntCast(g->m, &m));
  PetscCall(MatGetOwnershipRanges(g->A, &ranges));
  PetscCall(PetscMalloc2(size, &counts, size, &at));
  for (PetscMPIInt p = 0; p < size; p++) {
    counts[p] = (PetscMPIInt)(ranges[p + 1] - ranges[p]);
    at[p]     = (PetscMPIInt)ranges[p];
  }
  PetscCall(PetscMalloc1(rank ? 0 : g->n, all));
  PetscCallMPI(MPI_Gatherv(local, m, MPIU_INT64, *all, counts, at, MPIU_INT64, 0, g->comm));
  PetscCall(PetscFree2(counts, at));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GraphGatherIds(Graph *g, PetscInt64 *all[])
{
  PetscInt64 *own;
  PetscInt    first;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(g->A, &first, NULL));
  PetscCall(PetscMalloc1(g->m, &own));
  for (PetscInt r = 0; r < g->m; r++) own[r] = g->named ? g->ids[r] : g->first + first + r;
  PetscCall(GraphGather(g, own, all));
  PetscCall(PetscFree(own));
  PetscFunctionReturn(PETSC_SUCCESS);
}
