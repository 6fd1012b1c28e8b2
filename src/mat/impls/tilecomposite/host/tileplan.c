/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The performance model of tile-composite, and the choice of rectangles
*/
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "mat/impls/tilecomposite/host/tileplan.h"
#include "mat/impls/tilecomposite/host/tilepolicy.h"

double TilePerformance(const TileRates table, double w, double h)
{
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

      while (table[x][y] <= 0 && (x > 0 || y > 0)) { /* larger than the largest rectangle: use a smaller one of about this shape */
        if (x >= y) x--;
        else y--;
      }
      sum += f * table[x][y];
      weight += f;
    }
  }
  return sum / weight;
}

static inline double ReadBytes(int k)
{
  return ldexp(16384, k);
}

/* Returns the seconds of an entry with x as large as a tile */
static double ReadTile(const TileModel *T)
{
  int k = 0;

  while (k < TILE_READS - 1 && ReadBytes(k) < 65536. * T->scalar) k++;
  return T->read[k];
}

/* With s bytes of x, all equally frequent, an entry takes read(s). The entries of bytes s to t take (t read(t) - s read(s)) / (t - s) each, if the
   first s bytes stay cached. */
double TileRead(const TileModel *T, double bytes, double reads)
{
  const double first = reads > 0 ? -expm1(-reads) / reads : 1; /* expected fraction of first reads, for reads in random order */
  int          k     = 0;
  double       again = T->read[0];

  if (bytes > ReadBytes(0)) {
    while (k < TILE_READS - 2 && bytes > ReadBytes(k + 1)) k++;
    again = fmax(2 * T->read[k + 1] - T->read[k], again);
  }
  return (1 - first) * again + first * fmax(again, ReadTile(T));
}

/* Returns the seconds of an entry on a full device */
static double FullTime(const TileModel *T, const TilePart *p, double w, double h)
{
  const double    at[TILE_LEVELS] = {T->read[0], ReadTile(T), T->read[TILE_READS - 1]};
  const TileLevel a               = p->wide && p->read > at[TILE_TILE] ? TILE_TILE : TILE_NEAR;
  double          f               = at[a + 1] > at[a] ? (p->read - at[a]) / (at[a + 1] - at[a]) : 1;

  f = f < 0 ? 0 : f > 1 ? 1 : f;
  return (1 - f) / TilePerformance(T->full[p->wide][a], w, h) + f / TilePerformance(T->full[p->wide][a + 1], w, h);
}

/* alone[k]: seconds of warp k alone; part[k]: its part of the full device's time. All warps advance at the same pace: their own while the unfinished
   ones need less than the device, else the device's. */
static double Pace(int warps, const double alone[], const double part[])
{
  double within[TILE_PACE_STEPS] = {0}, after[TILE_PACE_STEPS] = {0}, last = 0, need = 0, time = 0;

  for (int k = 0; k < warps; k++) last = fmax(last, alone[k]);
  if (last <= 0) return 0;
  for (int k = 0; k < warps; k++) {
    const double end = alone[k] / last * TILE_PACE_STEPS, rate = alone[k] > 0 ? part[k] / alone[k] : 0;
    const int    in = (int)end < TILE_PACE_STEPS ? (int)end : TILE_PACE_STEPS - 1;

    within[in] += rate * (end - in);
    after[in] += rate;
  }
  for (int k = TILE_PACE_STEPS - 1; k >= 0; k--) {
    time += last / TILE_PACE_STEPS * fmax(1, need + within[k]);
    need += after[k];
  }
  return time;
}

double TilePredict(const TileModel *T, int npart, const TilePart *part, double *buffer)
{
  const int warps = T->warps;
  double   *alone = buffer, *full = buffer + warps, all_alone = 0, all_full = 0; /* for each warp, then for all warps */
  int       at = 0;                                                              /* the warp of the next rectangle */

  for (int k = 0; k < 2 * warps; k++) buffer[k] = 0;
  for (const TilePart *p = part; p < part + npart; p++) {
    int64_t k = 0, used = 0; /* current run, and its packed pieces */

    while (k < p->nrun) {
      int           rows;
      const int64_t w = p->run[k].length, h = TileShape(w, p->work, &rows), left = p->run[k].count - used;
      int64_t       times = left / h > 0 ? left / h : 1, take = times * h;
      const double  width = rows ? (double)((w + 31) / 32 * 32) : (double)w, entries = width * (double)h;
      const double  one = entries / TilePerformance(T->alone[p->wide], width, (double)h), share = entries * FullTime(T, p, width, (double)h);

      all_alone += (double)(times / warps) * one;
      all_full += (double)(times / warps) * share;
      for (times %= warps; times; times--) {
        alone[at] += one;
        full[at] += share;
        at = at + 1 < warps ? at + 1 : 0;
      }
      while (k < p->nrun && take >= p->run[k].count - used) { /* the last rectangle may also take pieces of the next runs */
        take -= p->run[k++].count - used;
        used = 0;
      }
      used += take;
    }
  }
  for (int k = 0; k < warps; k++) {
    alone[k] += all_alone;
    full[k] += all_full;
  }
  return Pace(warps, alone, full);
}

/* 64, 96, 128, 192, ... */
static inline int64_t WorkNext(int64_t work)
{
  return work & (work - 1) ? work / 3 * 4 : work / 2 * 3;
}

double TilePartition(const TileModel *T, int npart, TilePart *part, double most, double *buffer)
{
  double  least = 0;
  int64_t best  = 0;

  for (int64_t work = TILE_WORK_LEAST; work <= TILE_MOST; work = WorkNext(work)) {
    double time;

    for (int k = 0; k < npart; k++) part[k].work = work;
    time = TilePredict(T, npart, part, buffer);
    if (!best || time < least) {
      least = time;
      best  = work;
    }
  }
  for (int k = 0; k < npart; k++) part[k].work = best;
  for (int k = 0; k < npart && npart > 1 && least < most; k++) {
    best = part[k].work;
    for (int64_t work = TILE_WORK_LEAST; work <= TILE_MOST; work = WorkNext(work)) {
      double time;

      part[k].work = work;
      time         = TilePredict(T, npart, part, buffer);
      if (time < least) {
        least = time;
        best  = work;
      }
    }
    part[k].work = best;
  }
  return least;
}

/* By rule: the warps of a full device share 150 G entries/s from a tile and 400 G near them with full lanes; one warp alone waits 3 us for eight
   steps */
void TileModelDefault(TileModel *T)
{
  memset(T, 0, sizeof(*T));
  T->scalar = 8;
  T->warps  = 132 * 40;
  T->units  = 132;
  T->launch = 4e-6;
  T->meet   = 1.5e-6;
  T->copy   = 1e-11;
  T->sum    = 5e-12;
  for (int k = 0; k < TILE_READS; k++) T->read[k] = k < 4 ? 2.5e-12 : k < 12 ? 6.5e-12 : 25e-12;
  for (int w = 0; w < TILE_SHAPES; w++) {
    for (int h = 0; h < TILE_SHAPES; h++) {
      const double entries = ldexp(1, w + h), groups = w > h ? ldexp(1, h) : fmax(ldexp(1, h - 5), 1), steps = groups * (w > h ? fmax(ldexp(1, w - 5), 1) : ldexp(1, w)), filled = entries / (32 * steps);

      if (entries > TILE_MOST) continue;
      for (int wide = 0; wide < 2; wide++) {
        for (int level = 0; level < TILE_LEVELS; level++) T->full[wide][level][w][h] = filled * steps / (steps + 1 + groups / 4) * (level == TILE_NEAR ? 400e9 : level == TILE_TILE ? 150e9 : 40e9);
        T->alone[wide][w][h] = entries / (3e-6 * ceil(steps / 8) + 5e-8 * groups + 1e-6);
      }
    }
  }
}

static const char head[] = "petscamb tile-composite ", version[] = "2\n";

/* Returns the k-th table of the file */
static TileRates *TableOf(TileModel *T, int k)
{
  return k < 2 * TILE_LEVELS ? &T->full[k / TILE_LEVELS][k % TILE_LEVELS] : &T->alone[k - 2 * TILE_LEVELS];
}
#define TILE_TABLES (2 * TILE_LEVELS + 2)

const char *TileModelRead(const char *name, TileModel *T)
{
  FILE       *f = fopen(name, "r");
  char        line[256];
  const char *wrong = NULL;

  if (!f) return "it cannot be read";
  memset(T, 0, sizeof(*T));
  if (!fgets(line, sizeof(line), f) || strncmp(line, head, sizeof(head) - 1)) wrong = "it is not a table of tile-composite";
  if (!wrong && strcmp(line + sizeof(head) - 1, version)) wrong = "it is a table of another version of petscamb, with other figures";
  if (!wrong && (!fgets(line, sizeof(line), f) || sscanf(line, "gpu %63[^\n]", T->gpu) != 1)) wrong = "line 2 must have the name of a GPU";
  if (!wrong && fscanf(f, "scalar %d warps %d units %d launch %lf meet %lf copy %lf sum %lf", &T->scalar, &T->warps, &T->units, &T->launch, &T->meet, &T->copy, &T->sum) != 7)
    wrong = "line 3 must have scalar, warps, units, launch, meet, copy and sum";
  if (!wrong && (T->warps < 1 || T->warps > 1 << 20 || T->units < 1 || !(T->launch >= 0) || !(T->meet >= 0) || !(T->copy >= 0) || !(T->sum >= 0))) wrong = "a number in line 3 is not possible";
  for (int k = 0; k < TILE_READS && !wrong; k++) {
    if (fscanf(f, k ? "%lf" : " read %lf", T->read + k) != 1 || !(T->read[k] > 0)) wrong = "line 4 must have the seconds of an entry for each size of x";
  }
  for (int table = 0; table < TILE_TABLES && !wrong; table++) {
    for (int k = 0; k < TILE_SHAPES * TILE_SHAPES && !wrong; k++) {
      double *to = &(*TableOf(T, table))[0][0] + k;

      if (fscanf(f, "%lf", to) != 1 || !(*to >= 0) || (k == 0 && table != TILE_FAR && !(*to > 0))) wrong = "an entry of a table is missing or not possible";
    }
  }
  (void)fclose(f);
  return wrong;
}

int TileModelWrite(const char *name, const TileModel *T)
{
  FILE     *f    = fopen(name, "w");
  TileModel copy = *T;
  int       good;

  if (!f) return 0;
  fprintf(f, "%s%sgpu %s\nscalar %d warps %d units %d launch %.3g meet %.3g copy %.3g sum %.3g\nread", head, version, T->gpu, T->scalar, T->warps, T->units, T->launch, T->meet, T->copy, T->sum);
  for (int k = 0; k < TILE_READS; k++) fprintf(f, " %.4g", T->read[k]);
  fprintf(f, "\n");
  for (int table = 0; table < TILE_TABLES; table++) {
    for (int w = 0; w < TILE_SHAPES; w++) {
      for (int h = 0; h < TILE_SHAPES; h++) fprintf(f, "%s%.4g", h ? " " : "", (*TableOf(&copy, table))[w][h]);
      fprintf(f, "\n");
    }
  }
  good = !ferror(f);
  return !fclose(f) && good;
}
