/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The numbers 0 to N - 1 of vertices with arbitrary ids, in the order of the ids, on the processes of a communicator
*/
#pragma once

#include <petscsys.h>

/* Distinct ids, ascending. If they lie close together, table has the place of each id from id[0] on. */
typedef struct {
  int64_t *id, *number;
  int64_t  n, *table;
} EdgeIds;

/* Makes the distinct ids of a list with repetitions, which is overwritten; number is not set */
PETSC_INTERN PetscErrorCode EdgeIdsCreate(int64_t n, int64_t list[], EdgeIds *);
PETSC_INTERN PetscErrorCode EdgeIdsDestroy(EdgeIds *);

/* Collective. Numbers the ids of all processes: sets number[] and the count *N of all. This process keeps the ids of the numbers from *first on, in range. */
PETSC_INTERN PetscErrorCode EdgeIdsNumber(MPI_Comm, EdgeIds *, int64_t *N, int64_t *first, EdgeIds *range);

/* Collective. Sends the ids that processes keep to the processes that have these numbers as rows */
PETSC_INTERN PetscErrorCode EdgeIdsToRows(MPI_Comm, int64_t first, const EdgeIds *range, const PetscInt ranges[], int64_t ids[]);

/* The place of an id that is there */
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
