/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Tile-composite on the device: the declarations that conversion, products and measurement share
*/
#pragma once

#include "mat/impls/amb/cuda/ambcuda.cuh"
#include "mat/impls/tilecomposite/cuda/tilecuda.h"

#define TILE_THREADS 256

/* The layout, as the kernel takes it */
typedef struct {
  const TileWork  *work;
  const SysInt    *perm, *target, *row, *slot;
  const uint16_t  *narrow, *piece;
  const uint32_t  *wide;
  const SysScalar *val;
  SysScalar       *xs, *sums;
  unsigned        *meet; /* counts the blocks that have come to a place where all blocks meet; begins with 0 */
  int64_t          nnarrow;
  int              nwork, ncol, nsum, nlong, ntile, width;
} TileView;

/* The thread blocks that fit the current device, for products */
SysStatus TileBlocks(int *blocks);
SysStatus TileLaunch(const TileView *, int blocks, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, cudaStream_t);
