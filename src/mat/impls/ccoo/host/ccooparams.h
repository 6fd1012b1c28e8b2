/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Compressed COO (CCOO): the layout that host and device share.

   Reference:
.  * - J. I. Aliaga, H. Anzt, E. S. Quintana-Orti, A. E. Tomas and Y. M. Tsai, "Balanced and compressed coordinate layout for the sparse matrix-vector product
   on GPUs", Euro-Par 2020: Parallel Processing Workshops, 2021

   The entries are taken row by row and cut into groups of K entries of one row; the last group of a row is padded with zeros, which have the column of the row's
   last entry. A row without entries has one group of zeros, so that no row is left out. A chunk has B groups, the last chunk perhaps fewer, but a multiple of 16.

   A chunk has the row of its first group, the least of its columns, and a format of its own: no row offsets if the chunk lies in one row, otherwise 8 bits for
   each group; column offsets of 8, 16 or 32 bits for each entry; and for each entry its value, or 8 bits, the place of the value in a table of the whole matrix.
   Row and column offsets lie together in one array, values and places in another, so that new values leave the first array alone.
*/
#pragma once

#include "sys/syscsr.h"

/* Functions for the host and, where a device's code includes this file, for the device */
#if defined(__CUDACC__)
  #define CCOO_INLINE __host__ __device__ inline
#else
  #define CCOO_INLINE inline
#endif

#define CCOO_MAX_B       256 /* groups that 8-bit row offsets can tell apart, since consecutive rows have consecutive groups */
#define CCOO_MAX_K       8
#define CCOO_GROUPS      16 /* a chunk has a multiple of so many groups: the offsets of columns and the values of a device begin at multiples of 16 bytes */
#define CCOO_FORMATS     12
#define CCOO_ENTRY_BYTES 8 /* begin[] counts in units of so many bytes */

/* Parameters that are 0 are left open */
typedef struct {
  int b;     /* groups of a chunk: 32, 64, 128 or 256 */
  int k;     /* entries of a group: 1, 2, 4 or 8; on a device any number up to 10, and up to CCOO_DEVICE_MAX_K multiples of 5 to 10 */
  int table; /* may values be stored by their places in a table? */
} CcooParams;

/* The format of a chunk */
enum {
  CCOO_WIDTH     = 3,  /* log2 of the bytes of a column offset: 0, 1 or 2 */
  CCOO_ROWS      = 4,  /* the chunk has row offsets */
  CCOO_TABLE     = 8,  /* the values are places in the table */
  CCOO_CONTINUES = 16, /* the first row began in an earlier chunk */
  CCOO_GOES_ON   = 32  /* the last row ends in a later chunk */
};

typedef struct {
  uint32_t row, col; /* of offset 0 */
  uint32_t index;    /* where the offsets begin, and where the values begin, in units of CCOO_ENTRY_BYTES */
  uint32_t value;
  uint32_t format;
} CcooChunk;

/* The number of a format, from 0 to CCOO_FORMATS - 1: for each width without and with row offsets, first with plain values, then with places in the table */
static CCOO_INLINE int CcooFormat(uint32_t format)
{
  return (int)((format & CCOO_WIDTH) + (format & CCOO_ROWS ? 3 : 0) + (format & CCOO_TABLE ? 6 : 0));
}

/* Does the chunk lie in the middle of a row? */
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

/* The groups of a row with n entries */
static CCOO_INLINE int64_t CcooRowGroups(int64_t n, int k)
{
  return n ? (n + k - 1) / k : 1;
}
