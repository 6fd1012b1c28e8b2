/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Merging and cutting rows of matrices on raw CSR arrays, for products on several processes.

   A process renumbers a matrix's columns: the diagonal block's columns first, then the ghost columns that occur, ascending. So a row's parts in the
   two blocks are contiguous, and columns ascend.
*/
#pragma once

#include "sys/syscsr.h"

typedef struct {
  int64_t    m, n, nz;
  SysInt    *i, *j;
  SysScalar *a;
  int        borrowed; /* the arrays belong to a matrix */
} HashGEMMRows;

static inline SysCSR HashGEMMRowsCSR(const HashGEMMRows *rows)
{
  return (SysCSR){rows->m, rows->n, rows->nz, rows->i, rows->j, rows->a};
}

static inline HashGEMMRows HashGEMMRowsBorrow(const SysCSR *A)
{
  return (HashGEMMRows){A->m, A->n, A->nz, (SysInt *)A->i, (SysInt *)A->j, (SysScalar *)A->a, 1};
}

/* Allocates arrays for nz entries, large ones on huge pages, or, brief, as by SysAllocateBrief(); returns 0 if memory is short */
int  HashGEMMRowsAllocate(int64_t m, int64_t n, int64_t nz, int brief, HashGEMMRows *);
int  HashGEMMRowsAllocateValues(HashGEMMRows *);
void HashGEMMRowsFreeValues(HashGEMMRows *);
void HashGEMMRowsFree(HashGEMMRows *);

/* Touches every page of new memory with several threads: page faults dominate the time of the first fill */
void HashGEMMTouch(void *, size_t bytes, int nthread);

/* Returns a fingerprint that matrices with the same pattern share; sets *ascending to 0 if a row's columns do not ascend, or repeat */
uint64_t HashGEMMFingerprint(int64_t m, const SysInt *i, const SysInt *j, int *ascending);

/* Merges a matrix's two blocks. The first block's columns begin at `first`; the second's, renumbered by map unless NULL, at n. */
void HashGEMMMergeLengths(int64_t m, const SysInt *di, const SysInt *oi, SysInt *i);
void HashGEMMMergeColumns(int64_t m, const SysInt *di, const SysInt *dj, const SysInt *oi, const SysInt *oj, SysInt first, SysInt n, const SysInt *map, SysInt *j);
void HashGEMMMergeValues(int64_t m, const SysInt *di, const SysScalar *da, const SysInt *oi, const SysScalar *oa, SysScalar *a);

/* Sums of rows: row t is the sum of the rows piece[t] to piece[t + 1] - 1 of pieces, in this order. Their columns ascend. HashGEMMSumPattern() allocates the sum, and sets to[e] to
   the place there of entry e; returns 0 if memory is short. */
int  HashGEMMSumPattern(const HashGEMMRows *pieces, int64_t nsum, const SysInt piece[], int nthread, SysInt to[], HashGEMMRows *sum);
void HashGEMMSumValues(const HashGEMMRows *pieces, const SysInt piece[], const SysInt to[], int nthread, HashGEMMRows *sum);

/* Marks the columns from n on that occur */
void HashGEMMMarkUsed(int64_t m, const SysInt *i, const SysInt *j, SysInt n, int nthread, char *used);

/* Cuts rows at column n. Row r is row r of `rows`, or row from[r] of `other` if from is not NULL and from[r] >= 0. Columns from n on have their final
   numbers in `other`; map, unless NULL, renumbers them in `rows`. */
typedef struct {
  const HashGEMMRows *rows, *other;
  const SysInt       *from, *map;
  int64_t             m;
  SysInt              n;
  int                 nthread;
} HashGEMMCut;

void HashGEMMCutLengths(const HashGEMMCut *, SysInt *d, SysInt *o);
void HashGEMMCutColumns(const HashGEMMCut *, const SysInt *di, const SysInt *oi, SysInt *dj, SysInt *oj);
void HashGEMMCutValues(const HashGEMMCut *, const SysInt *di, const SysInt *oi, SysScalar *da, SysScalar *oa);
