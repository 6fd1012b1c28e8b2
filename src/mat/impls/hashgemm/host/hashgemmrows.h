/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Rows of matrices put together and cut apart, on raw CSR arrays: steps of products on several processes besides multiplying. Nothing here knows PETSc's
   objects.

   A process numbers the columns of a matrix anew. Its own columns, those of the diagonal block, come first, then the columns of other processes that
   occur, ascending. The parts of a row in the two blocks so follow one another, and columns ascend.
*/
#pragma once

#include "sys/syscsr.h"

typedef struct {
  int64_t    m, n, nz;
  SysInt    *i, *j;
  SysScalar *a;
  int        borrowed; /* the arrays are those of a matrix */
} HashGEMMRows;

static inline SysCSR HashGEMMRowsCSR(const HashGEMMRows *rows)
{
  return (SysCSR){rows->m, rows->n, rows->nz, rows->i, rows->j, rows->a};
}

static inline HashGEMMRows HashGEMMRowsBorrow(const SysCSR *A)
{
  return (HashGEMMRows){A->m, A->n, A->nz, (SysInt *)A->i, (SysInt *)A->j, (SysScalar *)A->a, 1};
}

/* Arrays for nz entries, large ones on huge pages; 0 if there is no memory for them */
int  HashGEMMRowsAllocate(int64_t m, int64_t n, int64_t nz, HashGEMMRows *);
int  HashGEMMRowsAllocateValues(HashGEMMRows *);
void HashGEMMRowsFreeValues(HashGEMMRows *);
void HashGEMMRowsFree(HashGEMMRows *);

/* Writes to every page of new memory, by several threads: the time to fill it for the first time is that of its page faults */
void HashGEMMTouch(void *, size_t bytes, int nthread);

/* A number that matrices with the same pattern share; *ascending is 0 if columns of a row are not in ascending order, or repeated */
uint64_t HashGEMMFingerprint(int64_t m, const SysInt *i, const SysInt *j, int *ascending);

/* The two blocks of a matrix side by side. The columns of the first block begin at first; those of the second, numbered by map if it is not NULL, at n. */
void HashGEMMMergeLengths(int64_t m, const SysInt *di, const SysInt *oi, SysInt *i);
void HashGEMMMergeColumns(int64_t m, const SysInt *di, const SysInt *dj, const SysInt *oi, const SysInt *oj, SysInt first, SysInt n, const SysInt *map, SysInt *j);
void HashGEMMMergeValues(int64_t m, const SysInt *di, const SysScalar *da, const SysInt *oi, const SysScalar *oa, SysScalar *a);

/* Marks the columns from n on that occur */
void HashGEMMMarkUsed(int64_t m, const SysInt *i, const SysInt *j, SysInt n, int nthread, char *used);

/* Cuts rows at column n. Row r is row r of rows, or row from[r] of other if from is not NULL and from[r] not negative. The columns from n on have their
   final numbers in other; in rows they are numbered by map, if it is not NULL. */
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
