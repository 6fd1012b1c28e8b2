/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Products of a batch of small sparse matrices with dense matrices on the host, on raw arrays of real numbers. cuda/batchcuda.h has the variant for a
   GPU.

   Idea. One product a matrix would cost more in calls than in work. The batch is one sparse matrix with the matrices as diagonal blocks, so one loop
   over rows handles all of them, and threads balance over all rows.

         i, j:   | A0 |    |    |       D (by rows, `width` numbers each)   C
                 |    | A1 |    |       rows of D0                          rows of A0 D0
                 |    |    | A2 |       rows of D1 ...                      rows of A1 D1 ...

   Each entry of the result sums its terms in the order of the sparse row's entries, from 0 or from the old entry: the bits do not depend on the
   number of threads.

   Work space. None; the transposed product needs the transposed pattern (SpmmTransposed), 2 integers an entry.

   Complexity. O(nz width).

   Callers. MatBatch in glue/batchmult.c, GraphConv.
*/
#pragma once

#include "sys/syscsr.h"

/* The value of entry k is a[position[k]], or a[k] if position is NULL */
typedef struct {
  int64_t        m;
  const SysInt  *i, *j, *position;
  const SysReal *a;
} BatchRows;

typedef struct {
  const char *name;
  int (*supported)(void);

  /* computes rows r0 to r1 - 1 of C = A D, or adds them to C */
  void (*mult)(const BatchRows *A, int add, int64_t width, const SysReal *D, int64_t r0, int64_t r1, SysReal *C);
} BatchKernels;

extern const BatchKernels BatchKernelsPlain, BatchKernelsAVX2, BatchKernelsAVX512;

/* Returns the kernels for this processor */
const BatchKernels *BatchHostKernels(void);

/* Computes C = A D, or C = C + A D, with up to nthread threads */
void BatchMult(int nthread, const BatchRows *A, int add, int64_t width, const SysReal *D, SysReal *C);

/* Converts entries in any order to rows with ascending columns. Entries at the same position become one: entry k of the rows is the sum of the given
   entries perm[first[k]] to perm[first[k + 1] - 1], in the given order. */
typedef struct {
  int64_t  m, nz, ngiven;
  SysInt  *i, *j;
  int64_t *first, *perm;
} BatchEntries;

SysStatus BatchEntriesCreate(int64_t m, int64_t n, int64_t ngiven, const SysInt row[], const SysInt col[], BatchEntries *);
void      BatchEntriesDestroy(BatchEntries *);
