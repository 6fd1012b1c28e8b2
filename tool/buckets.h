/* SPDX-License-Identifier: BSD-2-Clause */
/*
   All threads sort entries in any order by their rows, stably.

   Each thread has consecutive entries. It counts them in every bucket of some neighbouring rows (BucketsCount()), and then knows where its own
   go (BucketsPut()). At last each bucket is sorted (BucketsSort()). A thread writes at a few thousand positions at a time, which caches and page tables can follow; without
   buckets it would write to a position without an order for each entry. The result is the same for any number of threads.
*/
#pragma once

#include <petscmat.h>

typedef struct {
  PetscInt        m;     /* rows */
  int             shift; /* row r belongs to the bucket r >> shift */
  int             threads;
  size_t          nbucket;
  PetscInt64     *first;    /* entry of each bucket */
  PetscInt64     *position; /* [thread][bucket]: the number of entries, then where the next one goes */
  unsigned short *low;      /* the lower bits of the row of each entry */
  PetscInt       *j;        /* arrays of the caller */
  PetscScalar    *a;
} Buckets;

PETSC_INTERN PetscErrorCode BucketsCreate(PetscInt m, int threads, Buckets *);
PETSC_INTERN PetscErrorCode BucketsPosition(Buckets *, PetscInt64 *n);
PETSC_INTERN PetscErrorCode BucketsStore(Buckets *, PetscInt *j, PetscScalar *a);
PETSC_INTERN PetscErrorCode BucketsSort(Buckets *, PetscBool merge, PetscInt length[], PetscInt64 start[]);
PETSC_INTERN PetscErrorCode BucketsDestroy(Buckets *);
PETSC_INTERN PetscInt64     RowMerge(PetscInt64 n, PetscInt *j, PetscScalar *a, PetscInt *J, PetscScalar *A);

/* OWN: &position[thread * nbucket] */
static inline void BucketsCount(const Buckets *b, PetscInt64 *own, PetscInt row)
{
  own[row >> b->shift]++;
}

static inline void BucketsPut(const Buckets *b, PetscInt64 *own, PetscInt row, PetscInt column, PetscScalar value)
{
  const PetscInt64 k = own[row >> b->shift]++;

  b->low[k] = (unsigned short)(row & ((1 << b->shift) - 1));
  b->j[k]   = column;
  b->a[k]   = value;
}
