/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Tile-composite: the layout that host and device share. It is made on the host.

   Reference:
.  * - X. Yang, S. Parthasarathy and P. Sadayappan, "Fast sparse matrix-vector multiplication on GPUs: implications for graph mining", Proceedings of the VLDB
   Endowment 4 (4), 2011

   The columns are ordered by their lengths, the longest first. A tile has the next `width` of them; the columns after the last tile are the rest. A product first
   copies the entries of x that belong to the tiles in this order, so that those of a tile lie together; the rest reads x itself.

   A piece is what a row has in a tile or in the rest, or a part of that if it has more than TILE_PIECE entries. The pieces of a tile are ordered by their lengths,
   the longest first, and packed into rectangles of about `work` entries: as wide as the first piece, as high as there are pieces. A rectangle that is wider than
   high lies row by row, each row padded to a multiple of a warp; the others lie column by column in strips of as many rows as a warp has lanes. With `coo`, the
   entries of a tile stay in the order of rows, a rectangle has `work` of them in a line, and each entry has the number of its piece. One warp multiplies a
   rectangle.

   The sum of a piece goes to its row if that has no other piece, else to a slot. The slots of a row lie together, and are added in their order when all
   rectangles are done: each row is written once, and the bits depend on nothing but the layout.
*/
#pragma once

#include "sys/syscsr.h"
#include "mat/impls/tilecomposite/host/tileplan.h"

#define TILE_WARP      32
#define TILE_NARROW    65535      /* columns that a tile with indices of 16 bits can have at most */
#define TILE_PIECE     1024       /* entries of a piece, at most */
#define TILE_LONG      32         /* a row with more slots than this is added by a warp */
#define TILE_NO_COLUMN UINT32_MAX /* the index of padding; with 16 bits, UINT16_MAX */

/* Parameters that are negative, or 0 for width and work, are left open */
typedef struct {
  int width; /* columns of a tile */
  int tiles; /* at most so many tiles */
  int work;  /* entries of a rectangle */
  int coo;   /* tiles in coordinates */
} TileParams;

typedef enum {
  TILE_COLUMNS, /* column by column */
  TILE_ROWS,    /* row by row */
  TILE_COO      /* in coordinates */
} TileKind;

/* A rectangle */
typedef struct {
  int64_t  place;  /* of its first entry */
  uint32_t piece;  /* its first piece */
  uint32_t pieces; /* their number */
  uint32_t steps;  /* TILE_COLUMNS: entries of a row; TILE_ROWS: warps of entries of a row; TILE_COO: warps of entries of the rectangle */
  uint32_t kind;   /* TileKind + 4 * tile; the rest has the number after the last tile */
} TileWork;

typedef struct {
  int64_t    m, n, nz;
  TileParams params; /* with the choices made */
  int        ntile;
  int64_t    ncol;            /* columns in tiles */
  int64_t    nwork, npiece;   /* rectangles, pieces */
  int64_t    nentry, nnarrow; /* entries with padding, and how many of these, from the first on, have an index of 16 bits */
  int64_t    nslot;           /* sums of rows with several pieces */
  int64_t    nsum, nlong;     /* rows without or with several pieces, and how many of these, from the first on, have more than TILE_LONG */
  int64_t    count[3];        /* rectangles of each kind */
  double     entries[3];      /* entries of these, with padding */
  double     time;            /* seconds of a product by the model, or 0 without a model */
  SysInt    *perm;            /* ncol: the columns in tiles */
  TileWork  *work;            /* nwork */
  SysInt    *target;          /* npiece: a row, or ~slot */
  SysInt    *row, *slot;      /* nsum, and nsum + 1: the rows that are added, and where their slots begin */
  uint16_t  *narrow;          /* nnarrow: indices */
  uint32_t  *wide;            /* nentry - nnarrow */
  uint16_t  *piece;           /* with coo, for the entries of tiles, the first ones: the piece of an entry, counted from the first one of its rectangle */
  int64_t    ncoo;            /* length of piece[] */
  SysInt    *from;            /* nentry: the entry of the CSR, or -1 for padding */
} TileLayout;

#if defined(__cplusplus)
extern "C" {
#endif

/* Lays out the pattern; a may be NULL. With sizes_only no array of entries is made. The model chooses what the parameters leave open, the number of tiles and the size of
   rectangles; it may be NULL. */
SysStatus TileLayoutCreate(const SysCSR *, const TileParams *, const TileModel *, int sizes_only, int nworker, TileLayout *);
void      TileLayoutDestroy(TileLayout *);

/* Are rows and columns of about the same length? Then tiles bring nothing. */
int TileIsRegular(const SysCSR *);

/* The bytes that a product reads, and the bytes besides */
double TileLayoutBytes(const TileLayout *);
double TileLayoutExtra(const TileLayout *);

#if defined(__cplusplus)
}
#endif
