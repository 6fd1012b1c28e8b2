/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "mat/factor/host/factorhost.h"

#define FACTOR_ENTRIES 4 /* entries of a row for each of its threads, on average at most */

static SysInt FactorLength(const FactorRows *T, SysInt row)
{
  return T->end[row] - T->begin[row];
}

/* Sorts rows by level, rows of a level in their own order */
static SysStatus FactorSort(const FactorRows *T, int upper, FactorPlan *P)
{
  const int64_t n     = T->n;
  SysInt       *level = malloc(((size_t)n + 1) * sizeof(*level)), *first;

  P->levels = 0;
  if (!level) return SYS_OUT_OF_MEMORY;
  for (int64_t k = 0; k < n; k++) {
    const int64_t i = upper ? n - 1 - k : k;

    level[i] = 0;
    for (SysInt e = T->begin[i]; e < T->end[i]; e++) {
      if (level[T->j[e]] >= level[i]) level[i] = level[T->j[e]] + 1;
    }
    if (level[i] >= P->levels) P->levels = level[i] + 1;
  }
  first = calloc((size_t)P->levels + 1, sizeof(*first));
  if (!first) {
    free(level);
    return SYS_OUT_OF_MEMORY;
  }
  for (int64_t i = 0; i < n; i++) first[level[i] + 1]++;
  for (int64_t l = 0; l < P->levels; l++) first[l + 1] += first[l];
  for (int64_t i = 0; i < n; i++) {
    P->place[i]         = first[level[i]]++;
    P->row[P->place[i]] = (SysInt)i;
  }
  free(level);
  free(first);
  return SYS_SUCCESS;
}

static SysInt FactorTileSteps(const FactorRows *T, const FactorPlan *P, int64_t tile, int lanes)
{
  const int64_t rows = FACTOR_WARP / lanes, begin = tile * rows, end = SysMin(begin + rows, P->n);
  SysInt        steps = 0;

  for (int64_t p = begin; p < end; p++) {
    const SysInt need = (FactorLength(T, P->row[p]) + lanes - 1) / lanes;

    if (need > steps) steps = need;
  }
  return steps;
}

static int64_t FactorTiles(const FactorPlan *P, int lanes)
{
  return (P->n * lanes + FACTOR_WARP - 1) / FACTOR_WARP;
}

static int64_t FactorSteps(const FactorRows *T, const FactorPlan *P, int lanes)
{
  int64_t steps = 0;

  for (int64_t t = 0; t < FactorTiles(P, lanes); t++) steps += FactorTileSteps(T, P, t, lanes);
  return steps;
}

/* Few entries for each thread; more threads where long rows would fill the tiles of short ones */
static int FactorLanes(const FactorRows *T, const FactorPlan *P)
{
  int lanes = 1;

  while (lanes < FACTOR_WARP && lanes * FACTOR_ENTRIES * P->n < P->entries) lanes *= 2;
  while (lanes < FACTOR_WARP && FactorSteps(T, P, lanes) > 2 * FactorSteps(T, P, 2 * lanes)) lanes *= 2;
  return lanes;
}

static void FactorFill(const FactorRows *T, int upper, FactorPlan *P)
{
  const int64_t rows = FACTOR_WARP / P->lanes;

  memset(P->column, -1, (size_t)P->start[P->tiles] * FACTOR_WARP * sizeof(*P->column));
  memset(P->from, -1, (size_t)P->start[P->tiles] * FACTOR_WARP * sizeof(*P->from));
  for (int64_t p = 0; p < P->n; p++) {
    const SysInt  row = P->row[p], length = FactorLength(T, row);
    const int64_t first = (int64_t)P->start[p / rows] * FACTOR_WARP + p % rows * P->lanes;

    for (SysInt e = 0; e < length; e++) {
      const SysInt  k    = upper ? T->end[row] - 1 - e : T->begin[row] + e;
      const int64_t slot = first + (int64_t)(e / P->lanes) * FACTOR_WARP + e % P->lanes;

      P->column[slot] = P->place[T->j[k]];
      P->from[slot]   = T->from ? T->from[k] : k;
    }
  }
}

SysStatus FactorPlanCreate(const FactorRows *T, int upper, FactorPlan *P)
{
  const int64_t n = T->n;
  int64_t       steps;
  SysStatus     status;

  memset(P, 0, sizeof(*P));
  P->n     = n;
  P->row   = malloc(((size_t)n + 1) * sizeof(*P->row));
  P->place = malloc(((size_t)n + 1) * sizeof(*P->place));
  status   = P->row && P->place ? FactorSort(T, upper, P) : SYS_OUT_OF_MEMORY;
  if (status == SYS_SUCCESS) {
    for (int64_t i = 0; i < n; i++) P->entries += FactorLength(T, (SysInt)i);
    P->lanes  = FactorLanes(T, P);
    P->tiles  = FactorTiles(P, P->lanes);
    steps     = FactorSteps(T, P, P->lanes);
    P->start  = malloc(((size_t)P->tiles + 1) * sizeof(*P->start));
    P->column = malloc(((size_t)steps + 1) * FACTOR_WARP * sizeof(*P->column));
    P->from   = malloc(((size_t)steps + 1) * FACTOR_WARP * sizeof(*P->from));
    if (!P->start || !P->column || !P->from) status = SYS_OUT_OF_MEMORY;
    else if (steps > INT32_MAX) status = SYS_TOO_LARGE;
  }
  if (status != SYS_SUCCESS) {
    FactorPlanDestroy(P);
    return status;
  }
  P->start[0] = 0;
  for (int64_t t = 0; t < P->tiles; t++) P->start[t + 1] = P->start[t] + FactorTileSteps(T, P, t, P->lanes);
  FactorFill(T, upper, P);
  return SYS_SUCCESS;
}

void FactorPlanDestroy(FactorPlan *P)
{
  free(P->row);
  free(P->place);
  free(P->start);
  free(P->column);
  free(P->from);
  memset(P, 0, sizeof(*P));
}

SysStatus FactorRowsTranspose(const FactorRows *T, FactorRows *R)
{
  const int64_t n  = T->n;
  int64_t       nz = 0;
  SysInt       *begin, *end, *j, *from;

  for (int64_t i = 0; i < n; i++) nz += FactorLength(T, (SysInt)i);
  begin = calloc(2 * (size_t)n + 2 * (size_t)nz + 1, sizeof(*begin));
  if (!begin) return SYS_OUT_OF_MEMORY;
  end  = begin + n;
  j    = end + n;
  from = j + nz;
  for (int64_t i = 0; i < n; i++) {
    for (SysInt k = T->begin[i]; k < T->end[i]; k++) end[T->j[k]]++;
  }
  for (int64_t i = 0, sum = 0; i < n; i++) {
    begin[i] = (SysInt)sum;
    sum += end[i];
    end[i] = begin[i];
  }
  for (int64_t i = 0; i < n; i++) {
    for (SysInt k = T->begin[i]; k < T->end[i]; k++) {
      const SysInt to = end[T->j[k]]++;

      j[to]    = (SysInt)i;
      from[to] = T->from ? T->from[k] : k;
    }
  }
  *R = (FactorRows){n, begin, end, j, from};
  return SYS_SUCCESS;
}

void FactorRowsDestroy(FactorRows *R)
{
  free((void *)R->begin);
  memset(R, 0, sizeof(*R));
}
