/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The performance model of tile-composite: the time of rectangles of each shape, from a table measured once a device, and the choice of their size
   (algorithms 2 and 3 of the paper).

   The paper multiplies in rounds of one rectangle a warp, and divides a round's size by the mean performance of its shapes. Here a warp takes its
   next rectangle without a round's end, and a rectangle has two times: its part of a full device's time, and its warp's time alone. While the device
   is full the first times add up, otherwise the second ones of each warp.
*/
#pragma once

#include <stdint.h>

#define TILE_SHAPES   11 /* 1, 2, 4, ... 1024 steps or rows */
#define TILE_READS    15 /* sizes of x: 16 KiB, 32 KiB, ... 256 MiB */
#define TILE_GPU_NAME 64

/* Entries per second with rectangles of w columns and h rows: [log2 w][log2 h]. Rectangles with w > h are stored row by row, others column by column.
   Rectangles of more than TILE_MOST entries have 0; use the nearest smaller one. */
#define TILE_MOST 8192
typedef double TileRates[TILE_SHAPES][TILE_SHAPES];

/* Where a table's x lies: in 16 KiB, in the columns of a tile, anywhere in 256 MiB */
typedef enum {
  TILE_NEAR,
  TILE_TILE,
  TILE_FAR,
  TILE_LEVELS
} TileLevel;

typedef struct {
  char      gpu[TILE_GPU_NAME];   /* name of the device */
  int       scalar;               /* bytes of a scalar */
  int       warps;                /* resident warps */
  int       units;                /* multiprocessors */
  double    launch, meet;         /* seconds of an empty product, and of a grid-wide barrier */
  double    copy, sum;            /* seconds a column in tiles, a slot and a row added */
  double    read[TILE_READS];     /* seconds an entry with x of 16 KiB, 32 KiB, ... */
  TileRates full[2][TILE_LEVELS]; /* [16-bit, 32-bit indices]: all warps multiply; no far level with 16 bits */
  TileRates alone[2];             /* [16-bit, 32-bit indices]: one warp a multiprocessor, entries in memory */
} TileModel;

/* Pieces of the same length, by descending length */
typedef struct {
  int64_t length, count;
} TileRun;

#include "sys/systypes.h"

SYS_C_BEGIN

/* A tile or the rest, for the model */
typedef struct {
  int64_t        nrun;
  const TileRun *run;
  int            wide; /* 32-bit indices */
  double         read; /* seconds an entry, on the scale of the TileModel */
  int64_t        work; /* entries of a rectangle */
} TilePart;

/* Interpolates the performance of rectangles of w x h */
double TilePerformance(const TileRates, double w, double h);

/* Returns the seconds of an entry of x on a device whose caches hold the `bytes` of more frequent entries. A multiprocessor reads the entry's line
   `reads` times a product, the first time from the second-level cache. */
double TileRead(const TileModel *, double bytes, double reads);

/* Returns the seconds of the parts' rectangles (algorithm 3). buffer: 2 * warps numbers. */
double TilePredict(const TileModel *, int npart, const TilePart *, double *buffer);

/* Chooses the parts' sizes of rectangles with the least time: the same for all and, if that takes less than `most`, one part at a time (algorithm 2).
   Returns the time. */
double TilePartition(const TileModel *, int npart, TilePart *, double most, double *buffer);

/* Returns the rows of a rectangle of about `work` entries whose first row has w entries, if there are as many; sets *rows if it is stored row by row */
static inline int64_t TileShape(int64_t w, int64_t work, int *rows)
{
  const int64_t h = work / w > 1 ? work / w : 1;

  *rows = w > h;
  return *rows ? h : (h + 31) / 32 * 32;
}

/* Sets the model of a device without a measured table */
void TileModelDefault(TileModel *);

/* Reads a table; returns NULL, or the file's fault. TileModelWrite() writes one. */
const char *TileModelRead(const char *name, TileModel *);
int         TileModelWrite(const char *name, const TileModel *);

SYS_C_END
