/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Numbers 0 to N - 1 for vertices with arbitrary ids, in the order of the ids, on the processes of a communicator
*/
#pragma once

#include <petscsys.h>

/* Distinct ids, ascending. If they are dense, table has each id's position, from id[0] on. */
typedef struct {
  int64_t *id, *number;
  int64_t  n, *table;
} EdgeIds;

/* Creates the distinct ids of a list with duplicates, which is overwritten; does not set number */
PETSC_INTERN PetscErrorCode EdgeIdsCreate(int64_t n, int64_t list[], EdgeIds *);
PETSC_INTERN PetscErrorCode EdgeIdsDestroy(EdgeIds *);

/* Collective. Numbers all processes' ids: sets number[] and their count *N. `range` gets the ids whose numbers begin at *first on this process. */
PETSC_INTERN PetscErrorCode EdgeIdsNumber(MPI_Comm, EdgeIds *, int64_t *N, int64_t *first, EdgeIds *range);

/* Collective. Sends the ids from the processes that keep them to those that own the corresponding rows */
PETSC_INTERN PetscErrorCode EdgeIdsToRows(MPI_Comm, int64_t first, const EdgeIds *range, const PetscInt ranges[], int64_t ids[]);

/* Returns the position of an existing id */
static inline int64_t EdgeIdsFind(const EdgeIds *ids, int64_t id)
{
  int64_t low = 0, high = ids->n - 1;

  if (ids->table) return ids->table[id - ids->id[0]];
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;

    if (ids->id[middle] < id) low = middle + 1;
    else high = middle;
  }
  return low;
}
