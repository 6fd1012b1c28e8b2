/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Chunks that share their values. A value block is the C values of all steps of a chunk; each distinct block is stored once, and a chunk refers to
   the block with its bits. Rows of a mesh with one material repeat with the period of their unknowns a node, and so do chunks whose C is a multiple
   of it.
*/
#pragma once

#include "mat/impls/nus/host/nuslayout.h"
#include "mat/impls/nus/host/nuspolicy.h"

/* The distinct value blocks of some chunks */
typedef struct {
  SysScalar *val;          /* the blocks in sequence, and space for the next */
  int64_t    nval;         /* number of values in the blocks */
  int64_t    room;         /* capacity of val */
  int64_t    most;         /* most values of the blocks */
  int64_t   *begin, *last; /* for each block: its first value, and the number of values before its last occurrence */
  int64_t    n, capacity;
  int64_t   *slot; /* hash table: 1 + index of a block, or 0 */
  int64_t    nslot;
  int64_t    seen; /* values of all chunks */
  int64_t    far;  /* values of chunks whose block was last seen more than `near` values ago */
  int64_t    near;
} NusBlocks;

void NusBlocksDestroy(NusBlocks *);

/* Adds a tile's value blocks; with SYS_FILL_ALL writes its columns; if share is not NULL, sets it for each chunk. Returns SYS_TOO_MANY_BYTES if the
   blocks exceed their most values. */
SysStatus NusShareTile(const NusHost *, const NusTile *, const NusPart *, SysFill, NusBlocks *, uint32_t *share);
