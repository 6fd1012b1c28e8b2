/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Numbering of vertices with arbitrary ids. Each process keeps one range of all processes' ids; samples of the ids determine the ranges.
*/
#include <stdlib.h>
#include "graph/io/edgeids.h"
#include <petscambgraph.h>

#define EDGE_SAMPLES 64 /* sampled ids a process */
#define EDGE_SPREAD  8  /* ratio of span to count up to which ids have a table */

static int EdgeIdsCompare(const void *a, const void *b)
{
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

  return x < y ? -1 : x > y;
}

/* Sorts a list and removes duplicates */
static int64_t EdgeIdsSort(int64_t n, int64_t list[])
{
  int64_t kept = 0;

  if (n > 0) qsort(list, (size_t)n, sizeof(*list), EdgeIdsCompare);
  for (int64_t k = 0; k < n; k++) {
    if (!kept || list[k] != list[kept - 1]) list[kept++] = list[k];
  }
  return kept;
}

PetscErrorCode EdgeIdsCreate(int64_t n, int64_t list[], EdgeIds *ids)
{
  int64_t least = n ? list[0] : 0, most = least;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(ids, sizeof(*ids)));
  for (int64_t k = 0; k < n; k++) {
    least = PetscMin(least, list[k]);
    most  = PetscMax(most, list[k]);
  }
  if (n && most - least < EDGE_SPREAD * n) {
    PetscCall(PetscCalloc1((size_t)(most - least + 1), &ids->table));
    for (int64_t k = 0; k < n; k++) ids->table[list[k] - least] = 1;
    for (int64_t v = 0; v <= most - least; v++) ids->n += ids->table[v];
    PetscCall(PetscMalloc2((size_t)ids->n, &ids->id, (size_t)ids->n, &ids->number));
    for (int64_t v = 0, at = 0; v <= most - least; v++) {
      if (!ids->table[v]) continue;
      ids->table[v] = at;
      ids->id[at++] = least + v;
    }
  } else {
    ids->n = EdgeIdsSort(n, list);
    PetscCall(PetscMalloc2((size_t)ids->n, &ids->id, (size_t)ids->n, &ids->number));
    PetscCall(PetscArraycpy(ids->id, list, ids->n));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EdgeIdsDestroy(EdgeIds *ids)
{
  PetscFunctionBegin;
  PetscCall(PetscFree2(ids->id, ids->number));
  PetscCall(PetscFree(ids->table));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Collective. Sets bound[p], p < size - 1, which split all processes' ids into ranges of similar size */
static PetscErrorCode EdgeIdsBounds(MPI_Comm comm, const EdgeIds *ids, int64_t bound[])
{
  PetscMPIInt size;
  int64_t     mine[EDGE_SAMPLES + 1], *all, n = 0;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  mine[0] = PetscMin(ids->n, EDGE_SAMPLES);
  for (int64_t k = 0; k < EDGE_SAMPLES; k++) mine[k + 1] = k < mine[0] ? ids->id[k * ids->n / mine[0]] : 0;
  PetscCall(PetscMalloc1((size_t)size * (EDGE_SAMPLES + 1), &all));
  PetscCallMPI(MPI_Allgather(mine, EDGE_SAMPLES + 1, MPIU_INT64, all, EDGE_SAMPLES + 1, MPIU_INT64, comm));
  for (PetscMPIInt p = 0; p < size; p++) {
    const int64_t *part = all + (size_t)p * (EDGE_SAMPLES + 1), count = part[0];

    for (int64_t k = 0; k < count; k++) all[n++] = part[k + 1]; /* these positions have been read */
  }
  n = EdgeIdsSort(n, all);
  for (PetscMPIInt p = 0; p < size - 1; p++) bound[p] = n ? all[n * (p + 1) / size] : 0;
  PetscCall(PetscFree(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Counts and offsets of the ids sent to and received from each process */
typedef struct {
  PetscMPIInt *out, *in, *out_at, *in_at;
  int64_t      received;
} EdgeExchange;

/* Collective. Exchanges the counts: sets in[], both arrays of offsets and received from out[] */
static PetscErrorCode EdgeExchangeSetUp(MPI_Comm comm, EdgeExchange *x)
{
  PetscMPIInt size;
  int64_t     sent = 0;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCallMPI(MPI_Alltoall(x->out, 1, MPI_INT, x->in, 1, MPI_INT, comm));
  x->received = 0;
  for (PetscMPIInt p = 0; p < size; p++) {
    PetscCheck(sent <= PETSC_MPI_INT_MAX && x->received <= PETSC_MPI_INT_MAX, PETSC_COMM_SELF, PETSC_ERR_SUP, "One process sends or receives more than 2^31 - 1 numbers of vertices; use more processes");
    x->out_at[p] = (PetscMPIInt)sent;
    x->in_at[p]  = (PetscMPIInt)x->received;
    sent += x->out[p];
    x->received += x->in[p];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EdgeIdsNumber(MPI_Comm comm, EdgeIds *ids, int64_t *N, int64_t *first, EdgeIds *range)
{
  PetscMPIInt  size, p = 0;
  int64_t     *bound, *arrived, *answer;
  EdgeExchange x;

  PetscFunctionBegin;
  PetscCheck(ids->n <= PETSC_MPI_INT_MAX, PETSC_COMM_SELF, PETSC_ERR_SUP, "One process sends or receives more than 2^31 - 1 numbers of vertices; use more processes");
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(PetscCalloc5(size, &x.out, size, &x.in, size, &x.out_at, size, &x.in_at, size, &bound));
  PetscCall(EdgeIdsBounds(comm, ids, bound));
  for (int64_t k = 0; k < ids->n; k++) {
    while (p < size - 1 && ids->id[k] >= bound[p]) p++;
    x.out[p]++;
  }
  PetscCall(EdgeExchangeSetUp(comm, &x));
  PetscCall(PetscMalloc2((size_t)x.received, &arrived, (size_t)x.received, &answer));
  PetscCallMPI(MPI_Alltoallv(ids->id, x.out, x.out_at, MPIU_INT64, arrived, x.in, x.in_at, MPIU_INT64, comm));
  PetscCall(PetscArraycpy(answer, arrived, x.received));
  PetscCall(EdgeIdsCreate(x.received, answer, range));
  PetscCallMPI(MPI_Scan(&range->n, first, 1, MPIU_INT64, MPI_SUM, comm));
  PetscCallMPI(MPI_Allreduce(&range->n, N, 1, MPIU_INT64, MPI_SUM, comm));
  *first -= range->n;
  for (int64_t k = 0; k < x.received; k++) answer[k] = *first + EdgeIdsFind(range, arrived[k]);
  PetscCallMPI(MPI_Alltoallv(answer, x.in, x.in_at, MPIU_INT64, ids->number, x.out, x.out_at, MPIU_INT64, comm));
  PetscCall(PetscFree2(arrived, answer));
  PetscCall(PetscFree5(x.out, x.in, x.out_at, x.in_at, bound));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EdgeIdsToRows(MPI_Comm comm, int64_t first, const EdgeIds *range, const PetscInt ranges[], int64_t ids[])
{
  PetscMPIInt  size;
  EdgeExchange x;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(PetscCalloc4(size, &x.out, size, &x.in, size, &x.out_at, size, &x.in_at));
  for (PetscMPIInt p = 0; p < size; p++) x.out[p] = (PetscMPIInt)PetscMax(PetscMin(first + range->n, ranges[p + 1]) - PetscMax(first, ranges[p]), 0);
  PetscCall(EdgeExchangeSetUp(comm, &x));
  PetscCallMPI(MPI_Alltoallv(range->id, x.out, x.out_at, MPIU_INT64, ids, x.in, x.in_at, MPIU_INT64, comm));
  PetscCall(PetscFree4(x.out, x.in, x.out_at, x.in_at));
  PetscFunctionReturn(PETSC_SUCCESS);
}
