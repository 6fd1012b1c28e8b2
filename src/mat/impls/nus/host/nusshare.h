/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Chunks that share their values: each value block, the C values of all steps of a chunk, is stored once, and a chunk refers to the block that has the bits of its
   values. Rows of a mesh with one material repeat with the period of their unknowns per node, and so do chunks whose rows are a multiple of this period.
*/
#pragma once

#include "mat/impls/nus/host/nuslayout.h"

#define NUS_SHARED_PART 8 /* chunks share their values if the blocks of a thread have at most this part of its values */

/* The distinct value blocks of some chunks */
typedef struct {
  SysScalar *val;          /* one block after the other, and room for the next one */
  int64_t    nval;         /* values of the blocks */
  int64_t    room;         /* values that val has room for */
  int64_t    most;         /* values that the blocks may have */
  int64_t   *begin, *last; /* for each block: where it begins, and how many values were seen before it was seen last */
  int64_t    n, capacity;
  int64_t   *slot; /* the hash table: 1 + the number of a block, or 0 */
  int64_t    nslot;
  int64_t    seen; /* values of all chunks */
  int64_t    far;  /* values of those chunks before which more than near values were seen since their block */
  int64_t    near;
} NusBlocks;

void NusBlocksDestroy(NusBlocks *);

/* Adds the value blocks of a tile, with SYS_FILL_ALL writes its columns too, and sets share, one number for each of its chunks, if that is not NULL;
   SYS_TOO_MANY_BYTES: the blocks have more values than they may have */
SysStatus NusShareTile(const NusHost *, const NusTile *, const NusPart *, SysFill, NusBlocks *, uint32_t *share);
