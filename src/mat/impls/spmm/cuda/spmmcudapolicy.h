/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Policy numbers of SpMM and SDDMM, chosen on an H200 (docs/spmm.md has the measurements).
*/
#pragma once

/* Teams of lanes on a GPU */
#define SPMM_TEAM_LEAST      8                                  /* lanes of the smallest team of a row, or of a part of a row */
#define SPMM_SHARE_LEAST     (SPMM_VECTOR_NUMBERS == 2 ? 4 : 8) /* lanes of the smallest team in a share; four gained in single precision on some graphs and lost on others */
#define SPMM_ROW_LOADS       4                                  /* vectors of the panel that a lane loads together */
#define SPMM_ROW_LOADS_SMALL 4                                  /* rows of the panel that a lane loads together if a row has fewer lanes than this */
#define SDDMM_LOADS          8                                  /* most vectors that a lane loads together */
#define SPMM_NODE_BLOCKS     4                                  /* resident blocks a multiprocessor that the registers of a node's kernel allow */

/* Parts of long rows */
#define SPMM_PART_LEAST 32        /* entries of a part of a moderately long row */
#define SPMM_LONG_TIMES 4         /* ratio to the mean length from which on a row is cut; other rows would wait for it */
#define SPMM_LONG_MOST  1024      /* entries of the longest uncut row */
#define SPMM_BUSY       (1 << 18) /* threads that fill the device; with fewer in all teams shorter rows are cut, with a quarter of it any row */
#define SPMM_PARTS_OWN  8         /* most parts that a row adds up in its own team; a second kernel joins the parts of other rows first */

/* Shares of a product, by entries */
#define SPMM_SHARE_ENTRIES 512  /* least entries of a share, unless its rows have fewer */
#define SPMM_SHARES_BUSY   1024 /* shares that fill the device; with more of them a share has the entries of its shape */
#define SPMM_SHARES_MANY   4096 /* shares from which on a share has the entries of its rows */
#define SPMM_SHARES_MEAN   64   /* mean entries of a row up to which narrow panels use shares; parts of longer rows fill narrow teams anyway */
