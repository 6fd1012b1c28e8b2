/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Parts of the conversion to CCOO on the host
*/
#pragma once

#include "mat/impls/ccoo/host/ccoohost.h"

/* The rows and columns of some consecutive entries, as a chunk or a part of one has them */
typedef struct {
  int64_t  row, last; /* first and last row */
  SysInt   begin, end;
  uint32_t col;    /* the least column */
  uint32_t format; /* width and row offsets */
} CcooReach;

/* Finds the least column, the width and whether there are row offsets from row, last, begin and end */
void CcooReachSet(const SysCSR *, CcooReach *);

/* The row that has group g, if before groups come before row r; r and before are moved on to that row */
static inline void CcooSeekGroup(const SysCSR *A, int k, int64_t g, int64_t *r, int64_t *before)
{
  for (;; (*r)++) {
    const int64_t n = CcooRowGroups(A->i[*r + 1] - A->i[*r], k);

    if (*before + n > g) return;
    *before += n;
  }
}

/* Lays out chunk[], of rows, columns and formats, and entry[] */
SysStatus CcooLayoutChunks(CcooHost *, int nworker);

/* Fills the offsets of the chunks from c0 to c1 */
void CcooLayoutFill(const CcooHost *, int64_t c0, int64_t c1);

/* The storage of values that a matrix is to have */
typedef struct {
  SysTable *table;
  uint8_t  *tabled; /* for each chunk: are its values places in the table? */
  int64_t   nvalue; /* bytes */
} CcooValues;

/* Makes a table of the values, and chooses for each chunk whether to use the table; without values all chunks have plain values */
SysStatus CcooValuesChoose(const CcooHost *, const SysCSR *, int nworker, CcooValues *);

/* Stores the values as chosen, if there are any; if memory is short the old values stay */
SysStatus CcooValuesTake(CcooHost *, const SysCSR *, int nworker, CcooValues *);
void      CcooValuesDestroy(CcooValues *);
