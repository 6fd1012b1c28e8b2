/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Thresholds of the kernels of BAIJ
*/
#pragma once

#define BAIJ_LEAST    2                          /* smallest block size, rows */
#define BAIJ_MOST     8                          /* largest, rows */
#define BAIJ_RESIDENT ((size_t)32 * 1024 * 1024) /* most bytes of values that stay in a cache between two products */
#define BAIJ_AHEAD    16384                      /* bytes ahead of the current block that are prefetched from that cache, to the second level: it was up to 1.7 times as fast as 4096 */
#define BAIJ_NODES    4                          /* nodes of an AIJ ahead whose columns are prefetched */
#define BAIJ_STREAM   4096                       /* bytes ahead from memory, which no cache is to keep */
