/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The pattern of a sparse operand, for the SpMM and SDDMM kernels
*/
#pragma once

#include "sys/syscuda.cuh"
#include "mat/impls/spmm/cuda/spmmcuda.h"
#include "mat/impls/spmm/cuda/spmmcudapolicy.h"

#define SPMM_VECTOR_NUMBERS (16 / (int)sizeof(SysReal)) /* numbers of a 16-byte vector */

#if defined(SYS_SINGLE)
typedef float4 SpmmVector;
#else
typedef double2 SpmmVector;
#endif

#define SPMM_BLOCK_ROWS 32 /* rows of a thread block */

/* Tiles of the columns shared by several rows of a block, and the other entries (spmmcudatile.cu) */
struct SpmmTiles {
  int     slots;    /* rows of D in a tile */
  int    *first;    /* for each block of rows, the number of tiles before it */
  int    *column;   /* for each slot of each tile its column, or -1 */
  int    *start;    /* for each block, tile and row the first entry; after a block's tiles, the first of the other entries */
  int    *j;        /* for each entry its slot, or its column */
  int    *position; /* for each entry the position of its value */
  int64_t ncolumn;  /* heavy columns, summed over all blocks */
  int64_t nentry;   /* entries in tiles */
  char   *memory;
};

/* A thread block's share: entries begin to end - 1, in the given number of rows from `row` on */
struct SpmmShare {
  int row, rows, begin, end;
  int part; /* index of this part among the parts of all long rows, or -1 */
};

/* Most rows and the usual entries of a share; fewer entries if its rows or the matrix have too few */
struct SpmmShape {
  int rows, entries;
};

/* Returns the shape of shares for panels with this many vectors a row; rows == 0: such products do not use shares */
SpmmShape SpmmShareShape(int vectors);

/* A product partitioned into shares by entries */
struct SpmmDeal {
  int            vectors; /* of a panel's row; unused in SDDMM */
  int64_t        nshare;
  SpmmShare     *share;
  unsigned char *local; /* for each entry its row in the share */
  int64_t        nlong; /* rows in several parts; none in SDDMM */
  int           *longs;
  int           *first; /* for each long row the number of parts before it */
  SysReal       *parts; /* a panel's row for each part */
  char          *memory;
};

struct _SpmmDevice {
  int        most;   /* most entries of an uncut row */
  int        node;   /* rows of a node: 2 or 3 if all rows come in such groups with equal columns, else 1 */
  int        nvalue; /* with nodes: shared memory for a thread block's values, or 0 if they are too many */
  int64_t    npart;
  int       *begin; /* each part's first entry, and the end of the last; only longer rows have parts */
  int       *end;
  int       *first; /* for each row the number of parts before it */
  SysReal   *sums;  /* a panel's row for each part */
  int64_t    njoin; /* rows whose parts a second kernel joins */
  int       *join;
  char      *memory;
  SpmmDeal   deal;             /* in SDDMM, and for panels of one width if rows are cut; otherwise empty */
  int       *i, *j, *position; /* the transposed pattern, whose entry k has the value of A's entry position[k], or NULL */
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

/* Returns number c of a vector */
static __device__ inline SysReal SpmmNumber(const SpmmVector &v, int c)
{
#if defined(SYS_SINGLE)
  return c == 0 ? v.x : c == 1 ? v.y : c == 2 ? v.z : v.w;
#else
  return c ? v.y : v.x;
#endif
}

/* Loads the panel's rows of the columns in lanes e0, e0 + 1, ... of a team; 0 for a negative column. Lane t loads vectors t, t + LANES, ... of each. */
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

/* Loads a vector of a row of a matrix stored by columns, of which n columns exist from the vector's first on */
static __device__ inline SpmmVector SpmmGather(const SysReal *row, int64_t ld, int first, int n)
{
  const SysReal *x = row + first * ld;
  SpmmVector     v = SpmmZero();

#if defined(SYS_SINGLE)
  if (n >= SPMM_VECTOR_NUMBERS) v = make_float4(__ldg(x), __ldg(x + ld), __ldg(x + 2 * ld), __ldg(x + 3 * ld));
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

/* Returns the position of row q's vector v in a tile in shared memory. Lanes with adjacent rows, and lanes with the vectors of one row, use different
   banks. */
template <int VECTORS>
static __device__ inline int SpmmSlot(int q, int v)
{
  return q * VECTORS + (v ^ (q & ((VECTORS < 8 ? VECTORS : 8) - 1)));
}

/* Returns the shared memory for the values of a block of nodes, whose rows begin at i[] (host), or 0 */
int64_t SpmmNodesCopied(int64_t m, int rows, const int *i);

/* Multiplies one term with tiles; its rows begin at i[] */
SysStatus SpmmTilesMult(int64_t m, const SpmmDeviceTerm *term, const int *i, int ncol, int width, SysReal *C, int64_t ld, cudaStream_t stream);
void      SpmmTilesDestroy(SpmmTiles **);
