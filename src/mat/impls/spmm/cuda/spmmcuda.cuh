/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The pattern of a sparse operand, as the kernels of its products with dense matrices use it
*/
#pragma once

#include "sys/syscuda.cuh"
#include "mat/impls/spmm/cuda/spmmcuda.h"

#define SPMM_VECTOR (16 / (int)sizeof(SysReal)) /* numbers of a vector that a lane reads at once */

#if defined(SYS_SINGLE)
typedef float4 SpmmVector;
#else
typedef double2 SpmmVector;
#endif

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

/* What a block of threads makes: entries begin to end - 1, which are in so many rows from row on */
struct SpmmShare {
  int row, rows, begin, end;
  int part; /* the number of this part among those of all long rows that are added up, or -1 */
};

/* A share has so many rows at most, and so many entries, unless its rows or the matrix have too few */
struct SpmmShape {
  int rows, entries;
};

/* The shares of products with panels whose rows have so many vectors; without rows: such products are not dealt */
SpmmShape SpmmShareShape(int vectors);

/* A product, dealt to blocks of threads by entries */
struct SpmmDeal {
  int            vectors; /* of a row of the panels; not used for sampled products */
  int64_t        nshare;
  SpmmShare     *share;
  unsigned char *local; /* of each entry: its row in its share */
  int64_t        nlong; /* rows whose parts are added up; none for sampled products */
  int           *longs;
  int           *first; /* of each long row: the number of parts before it */
  SysReal       *parts; /* a row of a panel for each part */
  char          *memory;
};

struct _SpmmDevice {
  int        most;   /* entries of a row that is not cut, at most */
  int        node;   /* rows of a node: 2 or 3 if all rows come in groups of so many with entries in the same columns, else 1 */
  int        nvalue; /* of nodes: room for the values of a block of threads in shared memory, or 0 if they are too many */
  int64_t    npart;
  int       *begin; /* of each part: its first entry, and behind its last one; only longer rows have parts */
  int       *end;
  int       *first; /* of each row: the number of parts before it */
  SysReal   *sums;  /* a row of a panel for each part */
  int64_t    njoin; /* rows whose parts are joined */
  int       *join;
  char      *memory;
  SpmmDeal   deal;          /* of sampled products, and of panels of one width if rows are cut; else without shares */
  int       *i, *j, *place; /* the transposed pattern, whose entry k has the value of entry place[k] of A; or NULL */
  char      *transposed;
  SpmmTiles *tiles; /* NULL: none */
};

static __device__ inline SpmmVector SpmmZero()
{
#if defined(SYS_SINGLE)
  return make_float4(0, 0, 0, 0);
#else
  return make_double2(0, 0);
#endif
}

/* Number c of a vector */
static __device__ inline SysReal SpmmNumber(const SpmmVector &v, int c)
{
#if defined(SYS_SINGLE)
  return c == 0 ? v.x : c == 1 ? v.y : c == 2 ? v.z : v.w;
#else
  return c ? v.y : v.x;
#endif
}

/* Rows of a panel, those of the columns that lanes e0, e0 + 1 ... of a team have, or 0 for a negative column. Lane t has vectors t, t + LANES ... of each. */
template <int LANES, int PER, int STEP>
static __device__ inline void SpmmRead(const SpmmVector *__restrict__ panel, unsigned team, int column, int e0, int t, SpmmVector d[STEP][PER])
{
#pragma unroll
  for (int e = 0; e < STEP; e++) {
    const int64_t c = __shfl_sync(team, column, e0 + e, LANES);

#pragma unroll
    for (int v = 0; v < PER; v++) d[e][v] = c >= 0 ? __ldg(&panel[c * (LANES * PER) + v * LANES + t]) : SpmmZero();
  }
}

/* A vector of a row of a matrix that is stored by columns: the row begins at `row`, and n columns exist from the first one of the vector on */
static __device__ inline SpmmVector SpmmGather(const SysReal *row, int64_t ld, int first, int n)
{
  const SysReal *x = row + first * ld;
  SpmmVector     v = SpmmZero();

#if defined(SYS_SINGLE)
  if (n >= SPMM_VECTOR) v = make_float4(__ldg(x), __ldg(x + ld), __ldg(x + 2 * ld), __ldg(x + 3 * ld));
  else {
    if (n > 0) v.x = __ldg(x);
    if (n > 1) v.y = __ldg(x + ld);
    if (n > 2) v.z = __ldg(x + 2 * ld);
  }
#else
  if (n > 0) v.x = __ldg(x);
  if (n > 1) v.y = __ldg(x + ld);
#endif
  return v;
}

/* Where vector v of row q is in a tile in shared memory. Lanes with rows side by side and lanes with vectors of one row use different banks. */
template <int VECTORS>
static __device__ inline int SpmmSlot(int q, int v)
{
  return q * VECTORS + (v ^ (q & ((VECTORS < 8 ? VECTORS : 8) - 1)));
}

/* The room for the values of a block of nodes of so many rows, which begin with entries i on the host, or 0 */
int64_t SpmmNodesCopied(int64_t m, int rows, const int *i);

/* The product of one term, whose rows begin with entries i, with tiles */
SysStatus SpmmTilesMult(int64_t m, const SpmmDeviceTerm *term, const int *i, int ncol, int width, SysReal *C, int64_t ld, cudaStream_t stream);
void      SpmmTilesDestroy(SpmmTiles **);
