/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Sweeps of SOR with rows in colors, on the host and on a GPU.

   A node is a row, or the rows of a block. Nodes that depend on one another have different colors, from the greedy coloring in the order of the rows: two for the
   stencils of 5 and 7 points, eight for 27 points. A sweep visits the colors one after the other, and the rows of a color in any order. A row has the entries of lower and
   of upper colors apart:

     position    color 0 | color 1 | ...        each color begins with a tile
     tile        32 / lanes positions           the rows of a node are in one tile; positions without a row are at the end of a tile
     part        0: entries of lower colors, 1: of upper colors
     slot        32 (start[part][tile] + step) + thread      entry e of a part belongs to step e / lanes and to thread e % lanes of the row

   Slots hold the position of the entry's column, or -1. The sweep has its own iterate, by position, so that the columns of a tile are neighbours in it.

   A forward visit keeps b - L x, which the following backward visit needs: a symmetric sweep from an initial guess of zero reads each entry once. Two visits of a color in a
   row, at the turn of a symmetric sweep, are one.

   Blocks: the diagonal block of a node is inverted. The numbers are omega times the inverse of the block plus the shift.

   Complexity: O(nonzeros) for the colors, on the host, once a pattern. Work space: two numbers a position.

   Source: L. Adams, J. Ortega, "A multi-color SOR method for parallel computation", ICPP 1982.
*/
#pragma once

#include "sys/syscsr.h"

SYS_C_BEGIN

#define SOR_WARP        32
#define SOR_COLORS_MOST 256
#define SOR_BLOCK_MOST  16 /* rows of a node */

/* The colors and the layout; owns its arrays */
typedef struct {
  int64_t n, colors, tiles;
  int     bs, lanes;
  SysInt *tile;     /* the first tile of each color, and the number of tiles */
  SysInt *row;      /* at each position, or -1 */
  SysInt *place;    /* the position of each row */
  SysInt *start[2]; /* the first step of each tile, and the number of steps, of each part */
} SORPlan;

/* Colors the rows of a pattern. plan->colors is 0 if a row has no diagonal, or if there are more than SOR_COLORS_MOST colors. */
SysStatus SORPlanCreate(const SysCSR *, int bs, SORPlan *);
void      SORPlanDestroy(SORPlan *);

/* A call of MatSOR() */
typedef struct {
  int     forward, backward, zero, its; /* zero: the initial guess is zero */
  SysReal omega;
} SORSweep;

/* Rows by color on the host; owns the plan */
typedef struct SORHost_ *SORHost;

/* Creates the layout of a plan, which becomes the layout's also if there is an error */
SysStatus SORHostCreate(const SysCSR *, SORPlan *, SORHost *);
void      SORHostDestroy(SORHost *);

/* Sets the values */
void SORHostUpdate(SORHost, const SysCSR *);

/* Sets the numbers of the diagonal. Returns 1 if one does not exist, as the pivot of a block is zero. */
int SORHostSetDiagonal(SORHost, const SysCSR *, SysReal omega, SysReal shift);

/* Sweeps over x */
void SORHostSweep(SORHost, const SORSweep *, const SysScalar *b, SysScalar *x);

SYS_C_END
