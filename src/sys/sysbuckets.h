/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Sorts entries by row with all threads, stably.

   Each thread has consecutive entries. It counts them in every bucket of some neighbouring rows (SysBucketsCount()), and then knows the positions of its own
   (SysBucketsPut()). At last each bucket is sorted (SysBucketsSort()). A thread writes at a few thousand positions at a time, which caches and page tables can follow; without
   buckets it would write to a position without an order for each entry. The result is the same for any number of threads.
*/
#pragma once

#include "sys/syscsr.h"

typedef struct {
  SysInt          m;     /* rows */
  int             shift; /* row r belongs to the bucket r >> shift */
  int             threads;
  size_t          nbucket;
  int64_t        *first;    /* entry of each bucket */
  int64_t        *position; /* [thread][bucket]: the number of entries, then the position of the next one */
  unsigned short *low;      /* the lower bits of the row of each entry */
  SysInt         *j;        /* arrays of the caller */
  SysScalar      *a;
} SysBuckets;

/* Prepares the counts of m rows by `threads` threads. After any function has failed, SysBucketsDestroy() is allowed. */
SysStatus SysBucketsCreate(SysInt m, int threads, SysBuckets *);

/* Turns the counts into positions, and returns the number of entries */
int64_t SysBucketsPosition(SysBuckets *);

/* Sets the arrays of the entries, after SysBucketsPosition() */
SysStatus SysBucketsStore(SysBuckets *, SysInt *j, SysScalar *a);

/* Sorts the entries by row. With merge, also by column, and adds entries at the same position: row r then has length[r] entries from start[r] on, with gaps
   between the buckets. start may be NULL. */
SysStatus SysBucketsSort(SysBuckets *, int merge, SysInt *length, int64_t *start);
void      SysBucketsDestroy(SysBuckets *);

/* Sorts n entries of a row by column and adds entries of the same column; returns their number. J and A have room for n entries. */
int64_t SysRowMerge(int64_t n, SysInt *j, SysScalar *a, SysInt *J, SysScalar *A);

/* own: &position[thread * nbucket] */
static inline void SysBucketsCount(const SysBuckets *b, int64_t *own, SysInt row)
{
  own[row >> b->shift]++;
}

static inline void SysBucketsPut(const SysBuckets *b, int64_t *own, SysInt row, SysInt column, SysScalar value)
{
  const int64_t k = own[row >> b->shift]++;

  b->low[k] = (unsigned short)(row & ((1 << b->shift) - 1));
  b->j[k]   = column;
  b->a[k]   = value;
}
