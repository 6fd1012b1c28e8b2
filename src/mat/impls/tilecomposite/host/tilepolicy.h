/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Policy numbers of tile-composite: the choice of tiles and rectangles, and the size of the measurement of a GPU's table.
*/
#pragma once

/* The choice */
#define TILE_WORK_HOST  8192 /* entries of a rectangle without a model */
#define TILE_WORK_COO   1024 /* entries of a TILE_COO rectangle */
#define TILE_WORK_LEAST 64   /* entries of the smallest rectangle in the search: 64, 96, 128, 192, ... TILE_MOST */
#define TILE_REGULAR    8    /* a matrix is regular if its longest row or column has at most this many times the mean */
#define TILE_SECTOR     32   /* bytes of the smallest read of a GPU */
#define TILE_LINE       128  /* bytes of a cache line of a GPU */
#define TILE_PACE_STEPS 256  /* steps into which the model divides the time of the last warp alone */

/* The measurement of the table */
#define TILE_MEASURE_ROUNDS   64                 /* most rectangles a warp */
#define TILE_MEASURE_ENTRIES  ((int64_t)1 << 26) /* most entries of a matrix */
#define TILE_MEASURE_FAR      ((int64_t)1 << 28) /* bytes of x in memory: larger than all caches */
#define TILE_MEASURE_NEAR     ((int64_t)1 << 14) /* bytes of x in the first-level cache */
#define TILE_MEASURE_COLUMNS  ((int64_t)1 << 20) /* columns in tiles, and rows that are added */
#define TILE_MEASURE_TRIALS   3                  /* trials of a product, of which the shortest counts */
#define TILE_MEASURE_LAUNCHES 4                  /* launches of a trial */
