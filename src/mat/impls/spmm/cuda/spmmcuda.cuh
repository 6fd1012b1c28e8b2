/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The pattern of a sparse operand, as the kernels of its products with dense matrices use it
*/
#pragma once

#include "sys/syscuda.cuh"
#include "mat/impls/spmm/cuda/spmmcuda.h"

#define SPMM_VECTOR (16 / (int)sizeof(SysReal)) /* numbers of a vector that a lane reads at once */

#define BLOCK_ROWS 32 /* rows of a block of threads */
#define JOINED     8  /* parts of a row that the row adds up by itself, at most; the parts of other rows are joined first */

/* Entries of columns that several rows of a block have, in tiles, and the other ones (see spmmcudatile.cu) */
struct SpmmTiles {
  int     slots;   /* rows of the dense matrix in a tile */
  int    *first;   /* of each block of rows: the number of tiles before it */
  int    *column;  /* of each slot of each tile: the column that has it, or -1 */
  int    *start;   /* of each block, tile and row: the first entry; behind the tiles of a block, the first of the other entries */
  int    *j;       /* of each entry: its slot, or its column */
  int    *place;   /* of each entry: the place of its value */
  int64_t ncolumn; /* heavy columns, all blocks together */
  int64_t nentry;  /* entries in tiles */
  char   *memory;
};

struct _SpmmDevice {
  int        most; /* entries of a row that is not cut, at most */
  int        node; /* rows of a node: 2 or 3 if all rows come in groups of so many with entries in the same columns, else 1 */
  int64_t    npart;
  int       *begin; /* of each part: its first entry, and behind its last one; only longer rows have parts */
  int       *end;
  int       *first; /* of each row: the number of parts before it; not for sampled products */
  SysReal   *sums;  /* a row of a panel for each part; for sampled products, one of the left matrix for each long row */
  int64_t    njoin; /* rows whose parts are joined; not for sampled products */
  int       *join;
  int64_t    nlong; /* long rows; for sampled products */
  int       *longs;
  int       *owner; /* of each part: the place of its row in longs */
  char      *memory;
  int       *i, *j, *place; /* the transposed pattern, whose entry k has the value of entry place[k] of A; or NULL */
  char      *transposed;
  SpmmTiles *tiles; /* NULL: none */
};

/* A panel of the rows in a list; NULL stands for all rows */
SysStatus SpmmPackRows(int64_t n, const int *list, int ncol, int width, const SysReal *columns, int64_t ld, SysReal *panel, cudaStream_t stream);

/* The product of one term, whose rows begin with entries i, with tiles */
SysStatus SpmmTilesMult(int64_t m, const SpmmDeviceTerm *term, const int *i, int ncol, int width, SysReal *C, int64_t ld, cudaStream_t stream);
void      SpmmTilesDestroy(SpmmTiles **);
