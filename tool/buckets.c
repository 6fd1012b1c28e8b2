/* SPDX-License-Identifier: BSD-2-Clause */
#include "buckets.h"
#include <petscamb.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 4096 /* at most, unless rows of a bucket need more than 16 bits */

PetscErrorCode BucketsCreate(PetscInt m, int threads, Buckets *b)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(b, sizeof(*b)));
  b->m       = m;
  b->threads = threads;
  while (b->shift < 16 && (m - 1) >> b->shift >= BUCKETS) b->shift++;
  b->nbucket = m ? (size_t)((m - 1) >> b->shift) + 1 : 0;
  PetscCall(PetscMalloc1(b->nbucket + 1, &b->first));
  PetscCall(PetscCalloc1(b->nbucket * (size_t)threads, &b->position));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Turns the counts into positions; n is the number of all entries. Next comes BucketsStore(). */
PetscErrorCode BucketsPosition(Buckets *b, PetscInt64 *n)
{
  PetscFunctionBegin;
  *n = 0;
  for (size_t k = 0; k < b->nbucket; k++) {
    b->first[k] = *n;
    for (int t = 0; t < b->threads; t++) {
      const PetscInt64 count = b->position[(size_t)t * b->nbucket + k];

      b->position[(size_t)t * b->nbucket + k] = *n;
      *n += count;
    }
  }
  b->first[b->nbucket] = *n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries go to these arrays of the caller */
PetscErrorCode BucketsStore(Buckets *b, PetscInt *j, PetscScalar *a)
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc1((size_t)b->first[b->nbucket], &b->low));
  b->j = j;
  b->a = a;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BucketsDestroy(Buckets *b)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(b->first));
  PetscCall(PetscFree(b->position));
  PetscCall(PetscFree(b->low));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sorts n entries by columns, stably. J and A have room for n more. */
static void RowSort(PetscInt64 n, PetscInt *j, PetscScalar *a, PetscInt *J, PetscScalar *A)
{
  const PetscInt64 run = 16;

  for (PetscInt64 first = 0; first < n; first += run) {
    for (PetscInt64 k = first + 1; k < PetscMin(first + run, n); k++) {
      const PetscInt    c = j[k];
      const PetscScalar v = a[k];
      PetscInt64        p = k;

      for (; p > first && j[p - 1] > c; p--) {
        j[p] = j[p - 1];
        a[p] = a[p - 1];
      }
      j[p] = c;
      a[p] = v;
    }
  }
  for (PetscInt64 width = run; width < n; width *= 2) {
    for (PetscInt64 first = 0; first + width < n; first += 2 * width) {
      const PetscInt64 last = PetscMin(first + 2 * width, n);
      PetscInt64       p = 0, q = first + width, k = first;

      (void)memcpy(J, j + first, (size_t)width * sizeof(*j));
      (void)memcpy(A, a + first, (size_t)width * sizeof(*a));
      for (; p < width; k++) {
        const int right = q < last && j[q] < J[p];

        j[k] = right ? j[q] : J[p];
        a[k] = right ? a[q] : A[p];
        q += right;
        p += !right;
      }
    }
  }
}

/* Sorts a row and adds up entries of the same column; returns the number of entries */
PetscInt64 RowMerge(PetscInt64 n, PetscInt *j, PetscScalar *a, PetscInt *J, PetscScalar *A)
{
  PetscInt64 left = 0;

  RowSort(n, j, a, J, A);
  for (PetscInt64 k = 0; k < n; k++) {
    if (left && j[left - 1] == j[k]) a[left - 1] += a[k];
    else {
      j[left]   = j[k];
      a[left++] = a[k];
    }
  }
  return left;
}

/* Sorts the entries of one bucket; AT has a position for each of its rows and one more, J and A for each entry */
static void BucketSort(const Buckets *b, size_t k, PetscBool merge, PetscInt64 *at, PetscInt *J, PetscScalar *A, PetscInt length[], PetscInt64 start[])
{
  const PetscInt        r0  = (PetscInt)k << b->shift;
  const PetscInt        m   = PetscMin(b->m - r0, (PetscInt)1 << b->shift);
  const PetscInt64      n   = b->first[k + 1] - b->first[k];
  const unsigned short *low = b->low + b->first[k];
  PetscInt             *j   = b->j + b->first[k];
  PetscScalar          *a   = b->a + b->first[k];
  PetscInt64            end = 0;

  (void)memset(at, 0, ((size_t)m + 1) * sizeof(*at));
  for (PetscInt64 e = 0; e < n; e++) at[low[e] + 1]++;
  for (PetscInt r = 0; r < m; r++) at[r + 1] += at[r];
  for (PetscInt64 e = 0; e < n; e++) {
    const PetscInt64 to = at[low[e]]++;

    J[to] = j[e];
    A[to] = a[e];
  }
  if (!merge && n) {
    (void)memcpy(j, J, (size_t)n * sizeof(*j));
    (void)memcpy(a, A, (size_t)n * sizeof(*a));
  }
  for (PetscInt r = 0; r < m; r++) { /* a position is now where the next row begins */
    const PetscInt64 from = r ? at[r - 1] : 0;
    PetscInt64       left = at[r] - from;

    if (merge) { /* what lies where the row will go was copied; it is room for the sort */
      left = RowMerge(left, J + from, A + from, j + from, a + from);
      (void)memcpy(j + end, J + from, (size_t)left * sizeof(*j));
      (void)memcpy(a + end, A + from, (size_t)left * sizeof(*a));
    }
    if (start) start[r0 + r] = b->first[k] + end;
    length[r0 + r] = (PetscInt)left;
    end += left;
  }
}

/*
   Sorts the entries by rows. With merge, also by columns, and entries at the same position are added up: row r has then length[r] entries from start[r] on, with gaps between the
   buckets.
*/
PetscErrorCode BucketsSort(Buckets *b, PetscBool merge, PetscInt length[], PetscInt64 start[])
{
  int full = 0;

  PetscFunctionBegin;
#pragma omp parallel for num_threads(b->threads) schedule(dynamic, 1) reduction(|| : full)
  for (size_t k = 0; k < b->nbucket; k++) {
    const size_t n  = (size_t)(b->first[k + 1] - b->first[k]);
    PetscInt64  *at = malloc((((size_t)1 << b->shift) + 1) * sizeof(*at)); /* PetscMalloc() is for one thread at a time */
    PetscInt    *J  = malloc(PetscMax(n, 1) * sizeof(*J));
    PetscScalar *A  = malloc(PetscMax(n, 1) * sizeof(*A));

    if (at && J && A) BucketSort(b, k, merge, at, J, A, length, start);
    else full = 1;
    free(at);
    free(J);
    free(A);
  }
  PetscCheck(!full, PETSC_COMM_SELF, PETSC_ERR_MEM, "No memory to sort %" PetscInt64_FMT " entries", b->first[b->nbucket]);
  PetscFunctionReturn(PETSC_SUCCESS);
}
