/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Kernels on raw arrays of assembly from coordinates of blocks, on host and device.

   A caller passes n blocks of rbs x cbs values, row by row, with a block row and a block column each. Blocks with the same coordinates add up. A plan sorts the
   coordinates once: by rows, in rows by columns, and repeated ones in the order of the caller. So a sum has the same terms in the same order at any number of threads.

     coordinates of the caller   (1,4) (0,0) (1,2) (1,4)
     distinct blocks              (0,0)   (1,2)   (1,4)
     from                             1       2    0  3      the blocks of the caller that add up, one number each
     first                            0       1    2     4   of each distinct block; NULL if no coordinates repeat
     i                                0       1          3   of each block row

   Block row I of the matrix has i[I + 1] - i[I] blocks, and each of its rbs rows cbs times as many entries: the values of a block are rbs runs of cbs entries. Values are read
   through the plan and written in place, so assembly needs no memory beyond the plan. Sorting takes O(n log k) steps for k blocks in a row.
*/
#pragma once

#include "sys/syscuda.h"

SYS_C_BEGIN

typedef struct {
  int64_t m, nb, n; /* block rows, distinct blocks, blocks of the caller in them */
  SysInt *i;        /* m + 1 */
  SysInt *first;    /* nb + 1, or NULL */
  SysInt *from;     /* n */
  SysInt *group;    /* on a device: AijBlocksGroups() */
} AijBlocks;

#define AIJ_GROUP 32 /* distinct blocks that a warp sums */

/* The values of a matrix by blocks: `own` blocks of the caller, then blocks of other processes */
typedef struct {
  int              rbs, cbs;
  int64_t          own;
  const SysScalar *values, *received;
} AijBlockValues;

/* Returns the first k with a block row or block column that is not less than M or N, or -1. Negative ones are ignored. */
extern int64_t AijBlocksCheck(int64_t n, const SysInt bi[], const SysInt bj[], int64_t M, int64_t N);

/* count[p] = the number of blocks in rows of process p, whose rows begin at ranges[p]. list is NULL in a first call, and has room for all blocks of other processes, by processes, in a second one, never NULL then. In the second call
   bi[k] becomes the row on process `own`, and negative for other and ignored blocks. */
extern void AijBlocksOwners(int64_t n, SysInt bi[], const SysInt bj[], int size, const SysInt ranges[], int rbs, int own, SysInt count[], SysInt list[]);

/* Plans the blocks with columns in [first, last), or with inside = 0 the others, and lists the columns of the distinct blocks in *columns, which the caller frees */
extern SysStatus AijBlocksPlan(int64_t m, int64_t n, const SysInt bi[], const SysInt bj[], SysInt first, SysInt last, int inside, int threads, AijBlocks *, SysInt **columns);
extern void      AijBlocksFree(AijBlocks *);

/* group[g] = the block row of distinct block AIJ_GROUP g; the last number, of the end, is the last block row */
extern void AijBlocksGroups(const AijBlocks *, SysInt group[]);

/* lengths[r] = entries of row r; j[] = columns of the entries, for the block columns columns[k] - shift */
extern void AijBlocksLengths(const AijBlocks *, int rbs, int cbs, SysInt lengths[]);
extern void AijBlocksColumns(const AijBlocks *, int rbs, int cbs, const SysInt columns[], SysInt shift, int threads, SysInt j[]);

/* a = or += the sums of the blocks, in the pattern of the plan */
extern void AijBlocksSum(const AijBlocks *, const AijBlockValues *, int add, int threads, SysScalar a[]);

/* out = the listed blocks, one after the other */
extern void AijBlocksPack(int64_t n, const SysInt list[], size_t bytes, const void *in, void *out);

/* si, sj = the coordinates of the entries of each block, row by row; negative for ignored blocks */
extern void AijBlocksExpand(int64_t n, const SysInt bi[], const SysInt bj[], int rbs, int cbs, SysInt si[], SysInt sj[]);

/* The same sums and copies on a device */
extern SysStatus AijBlocksSumDevice(const AijBlocks *, const AijBlockValues *, int add, SysScalar a[], SysStream);
extern SysStatus AijBlocksPackDevice(int64_t n, const SysInt list[], int values, const SysScalar in[], SysScalar out[], SysStream);

/* Inverts the diagonal blocks of A, which is on a device as its inverses are. Block b has rows row[b] to row[b + 1] - 1 and an inverse of values at out + at[b], column by column; with NULL row,
   each has bs rows. bs: most rows of a block, at most AIJ_INVERSE_MOST. Sets *singular to 1 if a pivot is at most `tiny`, which is so far 0. */
#define AIJ_INVERSE_MOST 32
extern SysStatus AijInverseDevice(const SysCSR *A, int64_t nblock, int bs, const SysInt row[], const int64_t at[], SysReal tiny, SysScalar out[], int *singular, SysStream);

SYS_C_END
