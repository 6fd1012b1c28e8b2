/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Tile-composite: the layout, built on the host, for host and device.

   Idea. In a graph whose degrees follow a power law, a few columns have most of the entries. The columns with the most entries form tiles, whose part
   of x fits a cache; inside a tile, rows of similar length share a rectangle, so that a warp has little padding.

         columns by length:   | tile 0: width | tile 1: width |  rest  |
         x of the tiles:      copied to xs[] in this order       x itself

         tile: its pieces (a row's entries there), longest first, packed into rectangles of about `work` entries
               wide: TILE_ROWS               high: TILE_COLUMNS              coo: TILE_COO
               +--------------------+        +---+  strips of 32 rows,       entries in the order of rows,
               | row by row, each   |        |   |  column by column:        each with the number of its piece
               | padded to 32       |        |   |  lane l has row l
               +--------------------+        +---+
         one warp multiplies a rectangle

   A row's entries in a tile are one piece, or several of at most TILE_PIECE entries. A rectangle is as wide as its first piece. The sum of a piece
   goes to its row if the row has no other piece, else to a slot. A row's slots are contiguous and are added in order after all rectangles: each row
   is written once, and the bits depend only on the layout.

   Work space. The layout takes several arrays of nz and of n entries on the host, also for a device. A product needs xs[] and the slots.

   Complexity. Counting sorts of the columns and the pieces: O(nz + n). With a model, the choice of tiles and rectangles tries each number of tiles
   with each size of rectangle on runs of equal lengths. A product reads the padded entries once.

   Callers. glue/tilecomposite.c (MATTILECOMPOSITE), for comparison with the paper: MATAMB was faster on every graph measured.

   Source:
.  * - X. Yang, S. Parthasarathy and P. Sadayappan, "Fast sparse matrix-vector multiplication on GPUs: implications for graph mining", Proceedings of the VLDB
      Endowment 4 (4), 2011
*/
#pragma once

#include "sys/syscsr.h"
#include "mat/impls/tilecomposite/host/tileplan.h"

#define TILE_WARP      32
#define TILE_NARROW    65535      /* most columns of a tile with 16-bit indices */
#define TILE_PIECE     1024       /* most entries of a piece */
#define TILE_LONG      32         /* a warp adds a row of more slots */
#define TILE_NO_COLUMN UINT32_MAX /* the index of padding; with 16 bits, UINT16_MAX */

/* Open: negative; width and work also 0 */
typedef struct {
  int width; /* columns of a tile */
  int tiles; /* most tiles */
  int work;  /* entries of a rectangle */
  int coo;   /* tiles as TILE_COO */
} TileParams;

typedef enum {
  TILE_COLUMNS, /* column by column */
  TILE_ROWS,    /* row by row */
  TILE_COO      /* in coordinates */
} TileKind;

/* A rectangle */
typedef struct {
  int64_t  place;  /* index of its first entry */
  uint32_t piece;  /* its first piece */
  uint32_t pieces; /* number of pieces */
  uint32_t steps;  /* TILE_COLUMNS: entries of a row; TILE_ROWS: warps of entries of a row; TILE_COO: warps of entries of the rectangle */
  uint32_t kind;   /* TileKind + 4 * tile; the rest is tile ntile */
} TileWork;

typedef struct {
  int64_t    m, n, nz;
  TileParams params; /* with the choices */
  int        ntile;
  int64_t    ncol;            /* columns in the tiles */
  int64_t    nwork, npiece;   /* rectangles and pieces */
  int64_t    nentry, nnarrow; /* entries with padding; the first nnarrow have 16-bit indices */
  int64_t    nslot;           /* number of slots */
  int64_t    nsum, nlong;     /* rows without or with several pieces; the first nlong have more than TILE_LONG slots */
  int64_t    count[3];        /* rectangles of each kind */
  double     entries[3];      /* their entries, with padding */
  double     time;            /* the model's seconds of a product; 0 without a model */
  SysInt    *perm;            /* ncol: the columns in tiles */
  TileWork  *work;            /* nwork rectangles */
  SysInt    *target;          /* npiece: the piece's row, or ~slot */
  SysInt    *row, *slot;      /* nsum: the rows to add up; nsum + 1: their first slots */
  uint16_t  *narrow;          /* nnarrow indices */
  uint32_t  *wide;            /* nentry - nnarrow indices */
  uint16_t  *piece;           /* with coo, for the tiles' entries, which come first: the entry's piece, counted from its rectangle's first */
  int64_t    ncoo;            /* length of piece[] */
  SysInt    *from;            /* nentry: the entry in CSR, or -1 for padding */
} TileLayout;

SYS_C_BEGIN

/* Lays out the pattern; a may be NULL. With sizes_only it creates no arrays of entries. The model, which may be NULL, chooses the open parameters. */
SysStatus TileLayoutCreate(const SysCSR *, const TileParams *, const TileModel *, int sizes_only, int nworker, TileLayout *);
void      TileLayoutDestroy(TileLayout *);

/* Returns whether rows and columns have similar lengths; tiles do not pay then */
int TileIsRegular(const SysCSR *);

/* Returns the bytes that a product reads, and the bytes besides the entries */
double TileLayoutBytes(const TileLayout *);
double TileLayoutExtra(const TileLayout *);

SYS_C_END
