/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The performance model of tile-composite: what rectangles of each shape take, by a table that is measured once for a device, and the choice of the size of rectangles
   (algorithms 2 and 3 of the paper).

   The paper multiplies in rounds, as many rectangles as there are warps in each, and gives a round its size over the mean performance of its shapes. Here the warps take
   their rectangles one after the other without a round's end, and each rectangle has two times: its part of the time of a full device, and the time that its warp takes
   alone. The first ones add up while the device is full, the second ones of a warp while it is not.
*/
#pragma once

#include <stdint.h>

#define TILE_SHAPES   11 /* 1, 2, 4, ... 1024 steps or rows */
#define TILE_READS    15 /* sizes of x: 16 KiB, 32 KiB, ... 256 MiB */
#define TILE_GPU_NAME 64

/* Entries per second with rectangles of w columns and h rows: [log2 w][log2 h]. Rectangles with w > h lie row by row, the others column by column. Where a
   rectangle would have more than TILE_MOST entries the table has 0, and the nearest smaller one counts. */
#define TILE_MOST 8192
typedef double TileRates[TILE_SHAPES][TILE_SHAPES];

/* Where the entries of x are that a table was measured with: 16 KiB, the columns of a tile, anywhere in 256 MiB */
typedef enum {
  TILE_NEAR,
  TILE_TILE,
  TILE_FAR,
  TILE_LEVELS
} TileLevel;

typedef struct {
  char      gpu[TILE_GPU_NAME];   /* the device that was measured */
  int       scalar;               /* bytes of a number */
  int       warps;                /* that multiply at the same time */
  int       units;                /* multiprocessors */
  double    launch, meet;         /* seconds of a product of an empty matrix, and of a meeting of all warps */
  double    copy, sum;            /* seconds for a column in tiles, for a slot or a row that is added */
  double    read[TILE_READS];     /* seconds of an entry, x of 16 KiB, 32 KiB, ... */
  TileRates full[2][TILE_LEVELS]; /* [indices of 16, 32 bits]: all warps multiply; no far one with 16 bits */
  TileRates alone[2];             /* [indices of 16, 32 bits]: a warp of each multiprocessor, entries in memory */
} TileModel;

/* Pieces of the same length; their lengths descend */
typedef struct {
  int64_t length, count;
} TileRun;

#if defined(__cplusplus)
extern "C" {
#endif

/* A tile or the rest, as the model sees it */
typedef struct {
  int64_t        nrun;
  const TileRun *run;
  int            wide; /* indices of 32 bits */
  double         read; /* seconds of an entry, on the scale of TileModel's */
  int64_t        work; /* entries of a rectangle */
} TilePart;

/* The performance of rectangles of w x h, between the entries of a table */
double TilePerformance(const TileRates, double w, double h);

/* The seconds of an entry of x in a device that holds the more frequent ones, of `bytes`, in its caches. Each multiprocessor reads it and its neighbours `reads` times in
   a product, the first time from the second-level cache. */
double TileRead(const TileModel *, double bytes, double reads);

/* Seconds of the rectangles of some parts (algorithm 3). buffer has 2 * warps numbers. */
double TilePredict(const TileModel *, int npart, const TilePart *, double *buffer);

/* Chooses the size of rectangles of the parts, that with the least time: the same for all, and if that takes less than `most`, for one after the other (algorithm 2).
   Returns the time. */
double TilePartition(const TileModel *, int npart, TilePart *, double most, double *buffer);

/* The shape of a rectangle of about `work` entries whose first row has w: the number of its rows, if there are so many; tells whether it lies row by row */
static inline int64_t TileShape(int64_t w, int64_t work, int *rows)
{
  const int64_t h = work / w > 1 ? work / w : 1;

  *rows = w > h;
  return *rows ? h : (h + 31) / 32 * 32;
}

/* The model of a device that has not been measured */
void TileModelDefault(TileModel *);

/* Reads a table; returns NULL or what is wrong with the file. write is the opposite. */
const char *TileModelRead(const char *name, TileModel *);
int         TileModelWrite(const char *name, const TileModel *);

#if defined(__cplusplus)
}
#endif
