/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Where the entries of a matrix go in the NUS-SELL format: one scope at a time
*/
#pragma once

#include "mat/impls/nus/nushost.h"

static inline int64_t NusMin(int64_t a, int64_t b)
{
  return a < b ? a : b;
}

/* The entries of a scope in one segment */
typedef struct {
  int           nrow;
  int64_t       width; /* of the segment's vector */
  const SysInt *beg;   /* nrow + 1: where those of each row begin */
  const SysInt *col;   /* their places in the segment's vector */
  const SysInt *entry; /* their places in the CSR arrays; NULL: k itself */
} NusPart;

/* What a thread needs to look at one scope at a time */
typedef struct {
  SysInt   *segment;    /* nsegment + 1: where the entries of each begin below */
  uint16_t *segment_of; /* of each entry, in their own order */
  uint16_t *row;        /* sorted by segment: the row in the scope, */
  SysInt   *col;        /* the place in the segment's vector */
  SysInt   *entry;      /* and the place in the CSR arrays */
  int64_t   capacity;   /* entries there is room for */
  SysInt   *beg;        /* of a part */
  uint16_t *order;      /* rows of a tile as the chunks take them */
  NusChunk *chunk;
  int32_t  *bucket; /* of the counting sort */
  int64_t   nbucket;
} NusWork;

/* The layout of a scope: the tiles, with their chunks, permutations and diagonals one after the other */
typedef struct {
  NusTile  *tile;
  NusChunk *chunk;
  uint16_t *perm;
  uint32_t *diag;
  int64_t   ntile, nchunk, nperm, ndiag;
} NusLayout;

/* Are the columns of rows r0 to r0 + nl - 1 those of the first, each moved by its distance from it, and within width if there were C such rows? */
static inline int NusShifted(const NusPart *P, int r0, int nl, int C)
{
  const SysInt  n   = P->beg[r0 + 1] - P->beg[r0];
  const SysInt *col = P->col + P->beg[r0];
  SysInt        bad = 0;

  for (int l = 1; l < nl && !bad; l++) {
    const SysInt *other = P->col + P->beg[r0 + l];

    if (P->beg[r0 + l + 1] - P->beg[r0 + l] != n) return 0;
    for (SysInt i = 0; i < n; i++) bad |= (other[i] - l) ^ col[i];
  }
  for (SysInt i = 0; i < n; i++) bad |= col[i] > P->width - C;
  return !bad;
}

/* Goes through the diagonals of consecutive rows: the next is always that of the least column, with which all rows go on that have it */
typedef struct {
  SysInt pos[NUS_MAX_C];
  SysInt head[NUS_MAX_C]; /* the diagonal of the entry at pos[], or the width of the part after the last */
} NusDiagonals;

static inline void NusHead(const NusPart *P, int r0, int l, NusDiagonals *d)
{
  d->head[l] = d->pos[l] < P->beg[r0 + l + 1] ? P->col[d->pos[l]] - l : (SysInt)P->width;
}

static inline void NusStartDiagonals(const NusPart *P, int r0, int nl, int C, NusDiagonals *d)
{
  for (int l = 0; l < C; l++) {
    d->pos[l]  = l < nl ? P->beg[r0 + l] : 0;
    d->head[l] = (SysInt)P->width;
    if (l < nl) NusHead(P, r0, l, d);
  }
}

static inline SysInt NusLeastDiagonal(int C, const NusDiagonals *d)
{
  SysInt least = d->head[0];

  for (int l = 1; l < C; l++) least = d->head[l] < least ? d->head[l] : least;
  return least;
}

/* What is written of a tile: everything, or the values into a format that has the rest, or all but the values */
typedef enum {
  NUS_FILL_ALL,
  NUS_FILL_VALUES,
  NUS_FILL_PATTERN
} NusFill;

SysStatus NusWorkCreate(const NusHost *, NusWork *);
void      NusWorkDestroy(NusWork *);
SysStatus NusSplitScope(const NusHost *, int64_t scope, NusWork *);
void      NusGetPart(const NusHost *, int64_t scope, int64_t segment, const NusWork *, NusPart *);
SysStatus NusLayoutScope(const NusHost *, int64_t scope, NusWork *, NusLayout *);
void      NusLayoutDestroy(NusLayout *);
void      NusFillTile(const NusHost *, const NusTile *, const NusPart *, NusFill);
