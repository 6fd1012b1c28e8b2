/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The pattern of a sparse operand, as the kernels of its products with dense matrices use it
*/
#pragma once

#include "sys/syscuda.cuh"
#include "mat/impls/spmm/cuda/spmmcuda.h"

#define SPMM_VECTOR (16 / (int)sizeof(SysReal)) /* numbers of a vector that a lane reads at once */

#define BLOCK_ROWS 32 /* rows of a block of threads */

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
  int       *row;   /* of each part: its row; for sampled products */
  SysReal   *sums;  /* a row of a panel for each part */
  char      *memory;
  int       *i, *j, *place; /* the transposed pattern, whose entry k has the value of entry place[k] of A; or NULL */
  char      *transposed;
  SpmmTiles *tiles; /* NULL: none */
};

/* The product of one term, whose rows begin with entries i, with tiles */
SysStatus SpmmTilesMult(int64_t m, const SpmmDeviceTerm *term, const int *i, int ncol, int width, SysReal *C, int64_t ld, cudaStream_t stream);
void      SpmmTilesDestroy(SpmmTiles **);
