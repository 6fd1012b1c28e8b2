/* SPDX-License-Identifier: BSD-2-Clause */
/*
   An ordering for factors with few levels. Rows are gathered into blocks of neighbours, blocks that depend on one another get different colours, and rows are ordered by
   colour, by block, and within a block as they were. A factor without fill then has at most as many levels as all colours have rows in their longest chain within a block:

     colour 0                 colour 1                 ...
     block 0 | block 5 | ...  block 1 | block 7 | ...

   Large blocks keep most of the original order, and so the quality of a factor; small ones give fewer levels. Single nodes have as many levels as colours, 2 for stencils of 5 and 7 points
   and 8 for 27 points, so that a GPU solves each of these long levels at the rate of its memory.

   Work space: six numbers a row. Complexity: O(nonzeros).

   Source: T. Iwashita, H. Nakashima, Y. Takahashi, "Algebraic block multi-color ordering method for parallel multi-threaded sparse triangular solver in ICCG method",
   IPDPS 2012.
*/
#pragma once

#include "sys/syscsr.h"

#define ORDER_ROWS       64     /* rows of a block */
#define ORDER_NODES_ROWS 350000 /* rows of a matrix from which on a GPU gains from single nodes */

/* Sets perm[k], the row of A that comes at place k; A is square, and rows k bs to k bs + bs - 1, a node, stay together. nodes: blocks may be single nodes in place of `rows` rows.
   *colours: their number. */
SysStatus OrderColour(const SysCSR *A, int64_t bs, int64_t rows, int nodes, SysInt perm[], int64_t *colours);
