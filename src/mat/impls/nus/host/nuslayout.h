/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The layout of the entries in NUS-SELL, one scope at a time
*/
#pragma once

#include "mat/impls/nus/host/nushost.h"

/* The entries of a scope in one segment */
typedef struct {
  int           nrow;
  int64_t       width; /* columns of the segment's vector */
  const SysInt *beg;   /* nrow + 1: each row's first entry */
  const SysInt *col;   /* each entry's position in the segment's vector */
  const SysInt *entry; /* each entry's index in the CSR arrays; NULL: the identity */
} NusPart;

/* A thread's work space for the layout of one scope */
typedef struct {
  SysInt   *segment;    /* nsegment + 1: each segment's first element of row, col and entry */
  uint16_t *segment_of; /* each entry's segment, in the order of CSR */
  uint16_t *row;        /* sorted by segment: the row in the scope */
  SysInt   *col;        /* sorted by segment: the position in the segment's vector */
  SysInt   *entry;      /* sorted by segment: the index in the CSR arrays */
  int64_t   capacity;   /* capacity of these arrays */
  SysInt   *beg;        /* beg of a NusPart */
  uint16_t *order;      /* rows of a tile in the order of its chunks */
  NusChunk *chunk;
  int32_t  *bucket; /* for the counting sort */
  int64_t   nbucket;
} NusWork;

/* A scope's layout: its tiles, with their chunks, permutations and diagonals in sequence */
typedef struct {
  NusTile  *tile;
  NusChunk *chunk;
  uint16_t *perm;
  uint32_t *diag;
  int64_t   ntile, nchunk, nperm, ndiag;
} NusLayout;

/* Returns whether row r0 + l has row r0's columns shifted by l, for all l < nl, and C such rows stay within the width */
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

#define NUS_RECENT 16 /* recent chunks that NusLayoutRepeat() compares; in a mesh, chunks repeat after a few lines of nodes and after a whole number of nodes */

/* Returns whether rows r ... r + C - 1 have the entries of rows q ... q + C - 1, all shifted by one constant */
static inline int NusRepeats(const NusPart *P, int q, int r, int C)
{
  const SysInt *before = P->col + P->beg[q], *col = P->col + P->beg[r];
  const SysInt  n = P->beg[r + C] - P->beg[r];
  SysInt        moved, bad = 0;

  for (int l = 1; l <= C; l++) {
    if (P->beg[r + l] - P->beg[r] != P->beg[q + l] - P->beg[q]) return 0;
  }
  if (!n) return 0;
  moved = col[0] - before[0];
  bad   = (col[n - 1] - before[n - 1]) ^ moved;
  for (SysInt k = 0; k < n && !bad;) {
    for (const SysInt end = SysMin(k + 64, n); k < end; k++) bad |= (col[k] - before[k]) ^ moved;
  }
  return !bad;
}

/* Iterates over the diagonals of consecutive rows: each step takes the least diagonal and advances all rows that have an entry on it */
typedef struct {
  SysInt pos[NUS_MAX_C];
  SysInt head[NUS_MAX_C]; /* the diagonal of the entry at pos[]; the part's width after the last entry */
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

SysStatus NusWorkCreate(const NusHost *, NusWork *);
void      NusWorkDestroy(NusWork *);
SysStatus NusSplitScope(const NusHost *, int64_t scope, NusWork *);
void      NusGetPart(const NusHost *, int64_t scope, int64_t segment, const NusWork *, NusPart *);
SysStatus NusLayoutScope(const NusHost *, int64_t scope, NusWork *, NusLayout *);
void      NusLayoutDestroy(NusLayout *);
void      NusFillTile(const NusHost *, const NusTile *, const NusPart *, SysFill);
void      NusFillChunk(const NusHost *, const NusTile *, const NusPart *, int chunk, SysFill, SysScalar *val, uint16_t *col); /* plain values and the columns of one chunk */
