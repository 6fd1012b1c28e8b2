/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The positions of the blocks of a matrix in the AMB format: the traffic model, and the layout of a scope
*/
#pragma once

#include "mat/impls/amb/host/ambhost.h"

/* A thread's work space for the layout of one scope */
typedef struct {
  SysInt   *pos;    /* the entry at which each row's next segment begins */
  int32_t  *count;  /* blocks of each row, for one block size or for 16 */
  uint16_t *order;  /* rows of a tile in the order of its chunks */
  uint32_t *start;  /* as AmbHost.start */
  int32_t  *bucket; /* for the counting sort */
} AmbWorkspace;

/* A scope's layout: its tiles, with their starts and permutations in sequence */
typedef struct {
  AmbTile  *tile;
  uint32_t *start;
  uint16_t *perm;
  int64_t   ntile, nstart, nperm, nstep;
} AmbScope;

SysStatus AmbWorkspaceCreate(int scope, int nsize, AmbWorkspace *);
void      AmbWorkspaceDestroy(AmbWorkspace *);
SysStatus AmbLayoutScope(const SysCSR *, int64_t row, int scope, int b, AmbWorkspace *, AmbScope *);
