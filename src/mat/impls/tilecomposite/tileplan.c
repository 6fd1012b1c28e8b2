/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The performance model of tile-composite, and the size of rectangles
*/
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "mat/impls/tilecomposite/tileplan.h"

#define STEP_ALL 16 /* multiples of the longest piece that are all tried; after these, every tenth part more */

double TilePerformance(const TileModel *T, int cached, double w, double h)
{
  const double(*table)[TILE_SHAPES] = cached ? T->cached : T->sparse;
  double lw = log2(w < 1 ? 1 : w), lh = log2(h < 1 ? 1 : h), sum = 0, weight = 0;
  int    iw, ih;

  if (lw > TILE_SHAPES - 1) lw = TILE_SHAPES - 1;
  if (lh > TILE_SHAPES - 1) lh = TILE_SHAPES - 1;
  iw = (int)lw < TILE_SHAPES - 2 ? (int)lw : TILE_SHAPES - 2;
  ih = (int)lh < TILE_SHAPES - 2 ? (int)lh : TILE_SHAPES - 2;
  for (int a = 0; a < 2; a++) {
    for (int b = 0; b < 2; b++) {
      const double f = (a ? lw - iw : 1 - (lw - iw)) * (b ? lh - ih : 1 - (lh - ih));
      int          x = iw + a, y = ih + b;

      while (table[x][y] <= 0 && (x > 0 || y > 0)) { /* beyond the largest rectangle: a smaller one of about this form */
        if (x >= y) x--;
        else y--;
      }
      sum += f * table[x][y];
      weight += f;
    }
  }
  return sum / weight;
}

double TilePredict(const TileModel *T, int cached, int64_t nrun, const TileRun *run, int64_t work)
{
  const int64_t most = T->warps > 0 ? T->warps : 1;
  int64_t       k = 0, used = 0, in = 0; /* the run, how many of its pieces are packed, and the rectangles in this round */
  double        size = 0, rate = 0, time = 0;

  while (k < nrun) {
    int           rows;
    const int64_t w = run[k].length, h = TileShape(w, work, &rows), left = run[k].count - used;
    int64_t       times = left / h > 0 ? left / h : 1, take = times * h;
    const double  width = rows ? (double)((w + 31) / 32 * 32) : (double)w, entries = width * (double)h, here = TilePerformance(T, cached, width, (double)h);

    while (times) { /* equal rectangles, as far as they are in the same round */
      const int64_t n = times < most - in ? times : most - in;

      size += (double)n * entries;
      rate += (double)n * here;
      in += n;
      times -= n;
      if (in == most) {
        time += size / (rate / (double)in);
        size = rate = 0;
        in          = 0;
      }
    }
    while (k < nrun && take >= run[k].count - used) { /* the last rectangle may take pieces of the runs that follow */
      take -= run[k++].count - used;
      used = 0;
    }
    used += take;
  }
  return in ? time + size / (rate / (double)in) : time;
}

int64_t TilePartition(const TileModel *T, int cached, int64_t nrun, const TileRun *run, double *time)
{
  const int64_t first = run[0].length;
  double        nz    = 0;
  int64_t       best  = first, most;

  for (int64_t k = 0; k < nrun; k++) nz += (double)run[k].length * (double)run[k].count;
  most = (int64_t)(nz / (T->warps > 0 ? T->warps : 1));
  if (most > TILE_MOST) most = TILE_MOST;
  *time = TilePredict(T, cached, nrun, run, first);
  for (int64_t k = 2; k * first <= most; k += k < STEP_ALL ? 1 : k / 10 + 1) {
    const double t = TilePredict(T, cached, nrun, run, k * first);

    if (t < *time) {
      *time = t;
      best  = k * first;
    }
  }
  return best;
}

/* Set by rule: a warp needs some steps to reach its rate, column by column without a reduction for each row */
void TileModelDefault(TileModel *T)
{
  memset(T, 0, sizeof(*T));
  T->scalar    = 8;
  T->warps     = 132 * 32;
  T->bandwidth = 4e12;
  T->launch    = 6e-6;
  for (int w = 0; w < TILE_SHAPES; w++) {
    for (int h = 0; h < TILE_SHAPES; h++) {
      const double entries = ldexp(1, w + h), steps = w > h ? fmax(ldexp(1, w - 5), 1) * ldexp(1, h) : ldexp(1, w) * fmax(ldexp(1, h - 5), 1), filled = entries / (32 * steps);

      if (entries > TILE_MOST) continue;
      T->cached[w][h] = 300e9 * steps / (steps + (w > h ? 2 * ldexp(1, h) : 0) + 4) * filled;
      T->sparse[w][h] = 150e9 * steps / (steps + (w > h ? 2 * ldexp(1, h) : 0) + 4) * filled;
    }
  }
}

static const char head[] = "petscamb tile-composite 1";

const char *TileModelRead(const char *name, TileModel *T)
{
  FILE       *f = fopen(name, "r");
  char        line[256];
  const char *wrong = NULL;

  if (!f) return "it cannot be read";
  memset(T, 0, sizeof(*T));
  if (!fgets(line, sizeof(line), f) || strncmp(line, head, sizeof(head) - 1)) wrong = "it is not a table of tile-composite";
  if (!wrong && (!fgets(line, sizeof(line), f) || sscanf(line, "gpu %63[^\n]", T->gpu) != 1)) wrong = "line 2 must have the name of a GPU";
  if (!wrong && fscanf(f, "scalar %d warps %d bandwidth %lf launch %lf", &T->scalar, &T->warps, &T->bandwidth, &T->launch) != 4) wrong = "line 3 must have scalar, warps, bandwidth and launch";
  if (!wrong && (T->warps < 1 || !(T->bandwidth > 0) || !(T->launch >= 0))) wrong = "a number in line 3 is not possible";
  for (int table = 0; table < 2 && !wrong; table++) {
    for (int k = 0; k < TILE_SHAPES * TILE_SHAPES && !wrong; k++) {
      double *to = table ? &T->sparse[0][0] + k : &T->cached[0][0] + k;

      if (fscanf(f, "%lf", to) != 1 || !(*to >= 0) || (k == 0 && !(*to > 0))) wrong = "an entry of the table is missing or not possible";
    }
  }
  (void)fclose(f);
  return wrong;
}

int TileModelWrite(const char *name, const TileModel *T)
{
  FILE *f = fopen(name, "w");
  int   good;

  if (!f) return 0;
  fprintf(f, "%s\ngpu %s\nscalar %d warps %d bandwidth %.4g launch %.3g\n", head, T->gpu, T->scalar, T->warps, T->bandwidth, T->launch);
  for (int table = 0; table < 2; table++) {
    for (int w = 0; w < TILE_SHAPES; w++) {
      for (int h = 0; h < TILE_SHAPES; h++) fprintf(f, "%s%.4g", h ? " " : "", (table ? T->sparse : T->cached)[w][h]);
      fprintf(f, "\n");
    }
  }
  good = !ferror(f);
  return !fclose(f) && good;
}
