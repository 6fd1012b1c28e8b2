/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Solves with the triangles of an incomplete factor: the order in which rows can be solved, and the layout of their entries for a GPU.

   A row has level 0 if it depends on no other row, else one more than the highest level among the rows that it depends on. Rows are sorted by level, so that a row
   depends only on rows at smaller positions. A warp solves a tile of 32 / lanes consecutive positions, `lanes` threads a row:

     position   0 1 2 3 | 4 5 6 7 | 8 ...       lanes = 8: 4 rows a tile
     tile          0    |    1    |             step: one entry for each thread of the warp

     slot = 32 (start[tile] + step) + thread    entry e of a row belongs to step e / lanes and to thread e % lanes of the row

   Slots hold the position of the row that the entry multiplies, or -1, and the place of the entry among the values of the factor.

   A warp takes the next tile from a counter and waits for the numbers it needs, which other warps write. A number that is not there yet has the bits of one NaN; a result
   never has these bits, so that no flag and no fence are needed: 8 bytes tell both. A tile is taken only by a warp that runs, and depends on tiles taken before, so that
   the kernel ends for any number of resident warps. One launch solves a triangle, for several right-hand sides too; its time is the larger of bytes over bandwidth and
   of levels times the latency of a write and a read through the L2 cache.

   Where boxes of 32 rows have far fewer levels than rows, a tile is a box (factorruncuda.cu), and a level takes the latency once. Few long levels, as with a color for each of them,
   have a launch each, and no thread waits (factorlevelcuda.cu).

   Work space: two numbers for each row, or with boxes for each position, and right-hand side. A row has one position for L and another for U, and each launch restores the
   NaNs that the other one needs.

   Complexity: O(nonzeros) for the analysis, once a pattern.

   Source: waiting for single rows instead of levels is the method of W. Liu, A. Li, J. Hogg, I. Duff, B. Vinter, "A synchronization-free algorithm for parallel sparse
   triangular solves", Euro-Par 2016.
*/
#pragma once

#include "sys/syscsr.h"

SYS_C_BEGIN

/* A triangle without its diagonal. Row i has the entries begin[i] to end[i] - 1, entry k the column j[k] and the value at place from[k] of the factor, or k if from is
   NULL. */
typedef struct {
  int64_t       n;
  const SysInt *begin, *end, *j, *from;
} FactorRows;

/* The transpose of a triangle; owns its arrays, which are one allocation that begins at begin */
SysStatus FactorRowsTranspose(const FactorRows *, FactorRows *);
void      FactorRowsDestroy(FactorRows *);

SYS_C_END
