/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Compressed COO (CCOO): the layout, for host and device.

   Idea. COO reads a row index an entry, and balances perfectly: each unit of work has the same number of entries, whatever the rows. CCOO keeps the
   balance and compresses the indices chunk by chunk, each chunk with the shortest format that fits it.

   Layout. The entries, row by row, form groups of K entries of one row. Zeros pad a row's last group, in the column of the row's
   last entry; an empty row has one group of zeros. B consecutive groups are a chunk; the last chunk has fewer, a multiple of CCOO_GROUPS.

         K = 2:   row 0: a b | c 0      row 1: d e      row 2: f 0       groups: (ab)(c0)(de)(f0)
         drawn with B = 4:  chunk = { first row, least column, format }
                  index[]: row offsets     0  0  1  2                    none if the chunk is in one row, else 8 bits a group
                           column offsets  .. .. .. .. .. .. .. ..       8, 16 or 32 bits an entry, from the least column
                  value[]: a b c 0 d e f 0                               values, or 8-bit indices into one table of the matrix

   Offsets and values are in separate arrays, so new values leave the offsets unchanged.

   Work space. Two partial sums a chunk (carry[]), for rows that cross chunks. On the host the transposed product needs one SysStretch a thread; on a
   device it needs a transposed copy in AMB's layout.

   Complexity. The plan estimates bytes from CCOO_MODEL_CHUNKS chunks. Conversion counts groups, O(m), and fills, O(nz). A product reads every chunk
   once; its cost does not depend on the lengths of rows, except for the padding.

   Callers. glue/ccoo.c (MATCCOO).

   Source:
.  * - J. I. Aliaga, H. Anzt, E. S. Quintana-Orti, A. E. Tomas and Y. M. Tsai, "Balanced and compressed coordinate layout for the sparse matrix-vector product
      on GPUs", Euro-Par 2020: Parallel Processing Workshops, 2021
*/
#pragma once

#include "sys/syscsr.h"

/* For functions of host and device */
#if defined(__CUDACC__)
  #define CCOO_INLINE __host__ __device__ inline
#else
  #define CCOO_INLINE inline
#endif

#define CCOO_MAX_B       256 /* groups with distinct 8-bit row offsets: consecutive rows have consecutive groups */
#define CCOO_MAX_K       8
#define CCOO_GROUPS      16 /* a chunk has a multiple of this many groups, so a device's column offsets and values are 16-byte aligned */
#define CCOO_FORMATS     12
#define CCOO_ENTRY_BYTES 8 /* unit of begin[] in bytes */

/* 0: open */
typedef struct {
  int b;     /* groups of a chunk: 32, 64, 128 or 256 */
  int k;     /* entries of a group: 1, 2, 4 or 8; on a device any number up to 10, and up to CCOO_DEVICE_MAX_K multiples of 5 to 10 */
  int table; /* values may be table indices */
} CcooParams;

/* The format of a chunk */
enum {
  CCOO_WIDTH     = 3,  /* log2 of the bytes of a column offset: 0, 1 or 2 */
  CCOO_ROWS      = 4,  /* the chunk has row offsets */
  CCOO_TABLE     = 8,  /* the values are table indices */
  CCOO_CONTINUES = 16, /* the first row began in an earlier chunk */
  CCOO_GOES_ON   = 32  /* the last row ends in a later chunk */
};

typedef struct {
  uint32_t row, col; /* row and column of offset 0 */
  uint32_t index;    /* first offset and first value, in units of CCOO_ENTRY_BYTES */
  uint32_t value;
  uint32_t format;
} CcooChunk;

/* Returns the number of a format, 0 to CCOO_FORMATS - 1: by width, without and with row offsets, first plain values, then the table */
static CCOO_INLINE int CcooFormat(uint32_t format)
{
  return (int)((format & CCOO_WIDTH) + (format & CCOO_ROWS ? 3 : 0) + (format & CCOO_TABLE ? 6 : 0));
}

/* Returns whether the chunk lies in the middle of a row */
static CCOO_INLINE int CcooThrough(uint32_t format)
{
  return (format & (CCOO_ROWS | CCOO_CONTINUES | CCOO_GOES_ON)) == (CCOO_CONTINUES | CCOO_GOES_ON);
}

static CCOO_INLINE int64_t CcooIndexBytes(uint32_t format, int ngroup, int k)
{
  return (format & CCOO_ROWS ? ngroup : 0) + ((int64_t)ngroup * k << (format & CCOO_WIDTH));
}

static CCOO_INLINE int64_t CcooValueBytes(uint32_t format, int ngroup, int k)
{
  return (int64_t)ngroup * k * (format & CCOO_TABLE ? 1 : (int64_t)sizeof(SysScalar));
}

/* Returns the groups of a row with n entries */
static CCOO_INLINE int64_t CcooRowGroups(int64_t n, int k)
{
  return n ? (n + k - 1) / k : 1;
}
