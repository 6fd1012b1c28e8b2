/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Sorts entries by row in buckets of neighbouring rows (sysbuckets.h)
*/
#include <stdlib.h>
#include <string.h>

#include "sys/sysbuckets.h"
#include "sys/systhreads.h"

#define SYS_BUCKETS 4096 /* at most, unless rows of a bucket need more than 16 bits */

SysStatus SysBucketsCreate(SysInt m, int threads, SysBuckets *b)
{
  memset(b, 0, sizeof(*b));
  b->m       = m;
  b->threads = threads;
  while (b->shift < 16 && (m - 1) >> b->shift >= SYS_BUCKETS) b->shift++;
  b->nbucket  = m ? (size_t)((m - 1) >> b->shift) + 1 : 0;
  b->first    = (int64_t *)malloc((b->nbucket + 1) * sizeof(*b->first));
  b->position = (int64_t *)calloc(b->nbucket * (size_t)threads + 1, sizeof(*b->position));
  return b->first && b->position ? SYS_SUCCESS : SYS_OUT_OF_MEMORY;
}

int64_t SysBucketsPosition(SysBuckets *b)
{
  int64_t n = 0;

  for (size_t k = 0; k < b->nbucket; k++) {
    b->first[k] = n;
    for (int t = 0; t < b->threads; t++) {
      const int64_t count = b->position[(size_t)t * b->nbucket + k];

      b->position[(size_t)t * b->nbucket + k] = n;
      n += count;
    }
  }
  b->first[b->nbucket] = n;
  return n;
}

SysStatus SysBucketsStore(SysBuckets *b, SysInt *j, SysScalar *a)
{
  b->low = (unsigned short *)malloc(((size_t)b->first[b->nbucket] + 1) * sizeof(*b->low));
  b->j   = j;
  b->a   = a;
  return b->low ? SYS_SUCCESS : SYS_OUT_OF_MEMORY;
}

void SysBucketsDestroy(SysBuckets *b)
{
  free(b->first);
  free(b->position);
  free(b->low);
  memset(b, 0, sizeof(*b));
}

/* Sorts n entries by columns, stably. J and A have room for n more. */
static void RowSort(int64_t n, SysInt *j, SysScalar *a, SysInt *J, SysScalar *A)
{
  const int64_t run = 16;

  for (int64_t first = 0; first < n; first += run) {
    for (int64_t k = first + 1; k < SysMin(first + run, n); k++) {
      const SysInt    c = j[k];
      const SysScalar v = a[k];
      int64_t         p = k;

      for (; p > first && j[p - 1] > c; p--) {
        j[p] = j[p - 1];
        a[p] = a[p - 1];
      }
      j[p] = c;
      a[p] = v;
    }
  }
  for (int64_t width = run; width < n; width *= 2) {
    for (int64_t first = 0; first + width < n; first += 2 * width) {
      const int64_t last = SysMin(first + 2 * width, n);
      int64_t       p = 0, q = first + width, k = first;

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

int64_t SysRowMerge(int64_t n, SysInt *j, SysScalar *a, SysInt *J, SysScalar *A)
{
  int64_t left = 0;

  RowSort(n, j, a, J, A);
  for (int64_t k = 0; k < n; k++) {
    if (left && j[left - 1] == j[k]) a[left - 1] += a[k];
    else {
      j[left]   = j[k];
      a[left++] = a[k];
    }
  }
  return left;
}

/* Sorts the entries of one bucket; AT has a position for each of its rows and one more, J and A for each entry */
static void BucketSort(const SysBuckets *b, size_t k, int merge, int64_t *at, SysInt *J, SysScalar *A, SysInt length[], int64_t start[])
{
  const SysInt          r0  = (SysInt)k << b->shift;
  const SysInt          m   = (SysInt)SysMin(b->m - r0, (SysInt)1 << b->shift);
  const int64_t         n   = b->first[k + 1] - b->first[k];
  const unsigned short *low = b->low + b->first[k];
  SysInt               *j   = b->j + b->first[k];
  SysScalar            *a   = b->a + b->first[k];
  int64_t               end = 0;

  (void)memset(at, 0, ((size_t)m + 1) * sizeof(*at));
  for (int64_t e = 0; e < n; e++) at[low[e] + 1]++;
  for (SysInt r = 0; r < m; r++) at[r + 1] += at[r];
  for (int64_t e = 0; e < n; e++) {
    const int64_t to = at[low[e]]++;

    J[to] = j[e];
    A[to] = a[e];
  }
  if (!merge && n) {
    (void)memcpy(j, J, (size_t)n * sizeof(*j));
    (void)memcpy(a, A, (size_t)n * sizeof(*a));
  }
  for (SysInt r = 0; r < m; r++) { /* a position is now where the next row begins */
    const int64_t from = r ? at[r - 1] : 0;
    int64_t       left = at[r] - from;

    if (merge) { /* what lies where the row will go was copied; it is room for the sort */
      left = SysRowMerge(left, J + from, A + from, j + from, a + from);
      (void)memcpy(j + end, J + from, (size_t)left * sizeof(*j));
      (void)memcpy(a + end, A + from, (size_t)left * sizeof(*a));
    }
    if (start) start[r0 + r] = b->first[k] + end;
    length[r0 + r] = (SysInt)left;
    end += left;
  }
}

SysStatus SysBucketsSort(SysBuckets *b, int merge, SysInt length[], int64_t start[])
{
  int full = 0;

#pragma omp parallel for num_threads(b->threads) schedule(dynamic, 1) reduction(|| : full)
  for (size_t k = 0; k < b->nbucket; k++) {
    const size_t n  = (size_t)(b->first[k + 1] - b->first[k]) + 1;
    int64_t     *at = (int64_t *)malloc((((size_t)1 << b->shift) + 1) * sizeof(*at));
    SysInt      *J  = (SysInt *)malloc(n * sizeof(*J));
    SysScalar   *A  = (SysScalar *)malloc(n * sizeof(*A));

    if (at && J && A) BucketSort(b, k, merge, at, J, A, length, start);
    else full = 1;
    free(at);
    free(J);
    free(A);
  }
  return full ? SYS_OUT_OF_MEMORY : SYS_SUCCESS;
}
