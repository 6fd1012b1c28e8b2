/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Products of a batch of small sparse matrices with dense matrices on the host, on raw arrays of real numbers.

   The rows of all matrices follow one another, and the columns are numbered through all matrices: the batch is one sparse matrix with blocks on its diagonal.
   A dense matrix is stored by rows, each width numbers long. An entry of the result is the sum of its terms in the order of the entries of the sparse row, or that
   sum is begun with the entry itself: the bits do not depend on the number of threads.
*/
#pragma once

#include "sys/syscsr.h"

/* The value of entry k is a[place[k]], or a[k] if place is NULL */
typedef struct {
  int64_t        m;
  const SysInt  *i, *j, *place;
  const SysReal *a;
} BatchRows;

typedef struct {
  const char *name;
  int (*supported)(void);

  /* Rows r0 to r1 - 1 of C = A D, or of C = C + A D */
  void (*mult)(const BatchRows *A, int add, int64_t width, const SysReal *D, int64_t r0, int64_t r1, SysReal *C);
} BatchKernels;

extern const BatchKernels BatchKernelsPlain, BatchKernelsAVX2, BatchKernelsAVX512;

/* The table for this processor */
const BatchKernels *BatchHostKernels(void);

/* C = A D, or C = C + A D, by nthread threads at most */
void BatchMult(int nthread, const BatchRows *A, int add, int64_t width, const SysReal *D, SysReal *C);

/* Entries in any order, as rows: first those of row 0, and within a row by ascending columns. Entries at the same place are one entry: entry k of the rows is the
   sum of entries perm[first[k]] to perm[first[k + 1] - 1] of those given, in this order, which is theirs. */
typedef struct {
  int64_t  m, nz, ngiven;
  SysInt  *i, *j;
  int64_t *first, *perm;
} BatchEntries;

SysStatus BatchEntriesCreate(int64_t m, int64_t n, int64_t ngiven, const SysInt row[], const SysInt col[], BatchEntries *);
void      BatchEntriesDestroy(BatchEntries *);
