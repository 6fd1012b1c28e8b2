/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The places of the blocks of a matrix in the AMB format: the traffic model, and the layout of a scope
*/
#pragma once

#include "mat/impls/amb/host/ambhost.h"

/* The memory in which a thread lays out one scope at a time */
typedef struct {
  SysInt   *pos;    /* the entry with which the next segment of each row begins */
  int32_t  *count;  /* blocks of each row: for one block size, or for 16 */
  uint16_t *order;  /* rows of a tile in the order of the chunks */
  uint32_t *start;  /* as in the format */
  int32_t  *bucket; /* for the counting sort */
} AmbWorkspace;

/* The layout of a scope: the tiles, with their starts and permutations one after the other */
typedef struct {
  AmbTile  *tile;
  uint32_t *start;
  uint16_t *perm;
  int64_t   ntile, nstart, nperm, nstep;
} AmbLayout;

SysStatus AmbWorkspaceCreate(int scope, int nsize, AmbWorkspace *);
void      AmbWorkspaceDestroy(AmbWorkspace *);
SysStatus AmbLayoutScope(const SysCSR *, int64_t row, int scope, int b, AmbWorkspace *, AmbLayout *);
