/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Vector types of the SpMM kernels, and square tiles that are transposed in registers
*/
#pragma once

#include "sys/sysisa.h"

/* Vectors of 16, 32 and 64 bytes with the alignment of a number */
#define SPMM_VECTOR(bytes) __attribute__((vector_size(bytes), aligned(sizeof(SysReal)), may_alias))
typedef SysReal Spmm16 SPMM_VECTOR(16);
typedef SysReal Spmm32 SPMM_VECTOR(32);
typedef SysReal Spmm64 SPMM_VECTOR(64);

/* The instruction set's register, and the matching one of three functions */
#define SPMM_TILE_BYTES SYS_REGISTER
#if SYS_REGISTER == 64
  #define SPMM_REGISTER(name) name##64
typedef Spmm64 SpmmTile;
#elif SYS_REGISTER == 32
  #define SPMM_REGISTER(name) name##32
typedef Spmm32 SpmmTile;
#else
  #define SPMM_REGISTER(name) name##16
typedef Spmm16 SpmmTile;
#endif
#if defined(SYS_SINGLE)
  #define SPMM_TILE (SPMM_TILE_BYTES / 4)
#else
  #define SPMM_TILE (SPMM_TILE_BYTES / 8)
#endif

/* Interleaves the lower or the upper halves of two registers */
#if SPMM_TILE == 16
  #define SPMM_LOW(a, b)  __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
  #define SPMM_HIGH(a, b) __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
#elif SPMM_TILE == 8
  #define SPMM_LOW(a, b)  __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
  #define SPMM_HIGH(a, b) __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#elif SPMM_TILE == 4
  #define SPMM_LOW(a, b)  __builtin_shufflevector(a, b, 0, 4, 1, 5)
  #define SPMM_HIGH(a, b) __builtin_shufflevector(a, b, 2, 6, 3, 7)
#else
  #define SPMM_LOW(a, b)  __builtin_shufflevector(a, b, 0, 2)
  #define SPMM_HIGH(a, b) __builtin_shufflevector(a, b, 1, 3)
#endif

/* Rotates the bits of each number's position in a tile by one; log2(SPMM_TILE) steps transpose the tile */
static SYS_INLINE void SpmmTileStep(const SpmmTile from[SPMM_TILE], SpmmTile to[SPMM_TILE])
{
#pragma GCC unroll 16
  for (int k = 0; k < SPMM_TILE / 2; k++) {
    to[2 * k]     = SPMM_LOW(from[k], from[k + SPMM_TILE / 2]);
    to[2 * k + 1] = SPMM_HIGH(from[k], from[k + SPMM_TILE / 2]);
  }
}

static SYS_INLINE void SpmmTileTranspose(SpmmTile tile[SPMM_TILE])
{
  SpmmTile other[SPMM_TILE];

  SpmmTileStep(tile, other);
#if SPMM_TILE >= 4
  SpmmTileStep(other, tile);
#endif
#if SPMM_TILE >= 8
  SpmmTileStep(tile, other);
#endif
#if SPMM_TILE >= 16
  SpmmTileStep(other, tile);
#endif
#if SPMM_TILE == 2 || SPMM_TILE == 8
  #pragma GCC unroll 16
  for (int k = 0; k < SPMM_TILE; k++) tile[k] = other[k];
#endif
}
