/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Parts of the conversion to CCOO on the host
*/
#pragma once

#include "mat/impls/ccoo/host/ccoohost.h"

/* The rows and columns of consecutive entries, such as a chunk */
typedef struct {
  int64_t  row, last; /* first and last row */
  SysInt   begin, end;
  uint32_t col;    /* the least column */
  uint32_t format; /* width and row offsets */
} CcooReach;

/* Sets the least column, the width and the flag of row offsets from row, last, begin and end */
void CcooReachSet(const SysCSR *, CcooReach *);

/* Returns the row of group g. On entry *before groups precede row *r; advances both to the returned row. */
static inline void CcooSeekGroup(const SysCSR *A, int k, int64_t g, int64_t *r, int64_t *before)
{
  for (;; (*r)++) {
    const int64_t n = CcooRowGroups(A->i[*r + 1] - A->i[*r], k);

    if (*before + n > g) return;
    *before += n;
  }
}

/* Sets chunk[] (rows, columns and formats) and entry[] */
SysStatus CcooLayoutChunks(CcooHost *, int nworker);

/* Fills the offsets of chunks c0 to c1 - 1 */
void CcooLayoutFill(const CcooHost *, int64_t c0, int64_t c1);

/* A storage of values for a matrix */
typedef struct {
  SysTable *table;
  uint8_t  *tabled; /* for each chunk: the values are table indices */
  int64_t   nvalue; /* bytes */
} CcooValues;

/* Creates the table and chooses for each chunk whether to use it; without values all chunks are plain */
SysStatus CcooValuesChoose(const CcooHost *, const SysCSR *, int nworker, CcooValues *);

/* Stores the values as chosen, if any; the old values stay if memory is short */
SysStatus CcooValuesSetUp(CcooHost *, const SysCSR *, int nworker, CcooValues *);
void      CcooValuesDestroy(CcooValues *);
