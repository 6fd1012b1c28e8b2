/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Tile-composite on the device: declarations for conversion, products and measurement
*/
#pragma once

#include "mat/impls/amb/cuda/ambcuda.cuh"
#include "mat/impls/tilecomposite/cuda/tilecuda.h"

#define TILE_THREADS 256

/* The layout, an argument of the kernel */
typedef struct {
  const TileWork  *work;
  const SysInt    *perm, *target, *row, *slot;
  const uint16_t  *narrow, *piece;
  const uint32_t  *wide;
  const SysScalar *val;
  SysScalar       *xs, *sums;
  unsigned        *meet; /* counter of the grid-wide barrier, initially 0 */
  int64_t          nnarrow;
  int              nwork, ncol, nsum, nlong, ntile, width;
} TileView;

/* Sets the resident thread blocks of the current device */
SysStatus TileBlocks(int *blocks);
SysStatus TileLaunch(const TileView *, int blocks, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, cudaStream_t);
