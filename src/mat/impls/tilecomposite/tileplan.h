/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The performance model of tile-composite: how fast a device is if all its warps multiply rectangles of one shape, by a table that is measured once for a device,
   and the choice of the size of rectangles (algorithms 2 and 3 of the paper).
*/
#pragma once

#include <stdint.h>

#define TILE_SHAPES   11 /* 1, 2, 4, ... 1024 steps or rows */
#define TILE_GPU_NAME 64

/* Entries per second with rectangles of w columns and h rows: [log2 w][log2 h]. Rectangles with w > h lie row by row, the others column by column. Where a
   rectangle would have more than TILE_MOST entries the table has 0, and the nearest smaller one counts. */
#define TILE_MOST 8192
typedef struct {
  char   gpu[TILE_GPU_NAME];                                                 /* the device that was measured */
  int    scalar;                                                             /* bytes of a number */
  int    warps;                                                              /* that multiply at the same time */
  double cached[TILE_SHAPES][TILE_SHAPES], sparse[TILE_SHAPES][TILE_SHAPES]; /* x in the cache, as in a tile, or read anywhere, as in the rest */
  double bandwidth;                                                          /* bytes per second */
  double launch;                                                             /* seconds of a product of a small matrix */
} TileModel;

/* Pieces of the same length; their lengths descend */
typedef struct {
  int64_t length, count;
} TileRun;

#if defined(__cplusplus)
extern "C" {
#endif

/* The performance of rectangles of w x h, between the entries of a table */
double TilePerformance(const TileModel *, int cached, double w, double h);

/* Seconds of a tile with rectangles of so many entries (algorithm 3) */
double TilePredict(const TileModel *, int cached, int64_t nrun, const TileRun *, int64_t work);

/* The size of rectangles that takes the least time (algorithm 2) */
int64_t TilePartition(const TileModel *, int cached, int64_t nrun, const TileRun *, double *time);

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
