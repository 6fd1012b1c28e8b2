/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Searches the widths S1, S2 and the numbers K1, K2 of segments by trials (section 3.3.3 of the thesis in nushost.h). For comparison: only
   MAT_NUSSELL_TUNE_EXHAUSTIVE calls it.

   A trial is a conversion and some products, so a full search is not affordable. First a coarse grid: all widths that are powers of two, with a few
   numbers of segments, wide segments first. Then steps from the best point: numbers are doubled and halved, then changed by ever smaller steps down
   to 1; widths are doubled and halved, with the same number of columns in segments or the same number of segments. The search ends when no step gains
   SYS_TUNE_GAIN.
*/
#include <string.h>

#include "sys/systuning.h"
#include "mat/impls/nus/host/nussearch.h"
#include "mat/impls/nus/host/nuspolicy.h"

typedef struct {
  NusTrial *trial;
  void     *ctx;
  int64_t   n; /* columns of the matrix */
  int64_t   narrowest, widest;
  NusParams asked; /* open: widths of 0, negative numbers */
  NusParams best, seen[NUS_SEARCH_TRIED];
  double    least; /* seconds of the best */
  int       nseen;
} Search;

/* Returns whether both give the same layout; the width of zero segments does not matter */
static int NusSearchSame(const NusParams *p, const NusParams *q)
{
  for (int k = 0; k < 2; k++) {
    if (p->count[k] != q->count[k] || (p->count[k] && p->width[k] != q->width[k])) return 0;
  }
  return 1;
}

/* Tries `count` segments of width[k] with the other width's best; sets *better if that is faster */
static SysStatus NusSearchTry(Search *S, int k, int64_t width, int64_t count, int *better)
{
  NusParams p = S->best;
  double    seconds;
  SysStatus status;

  *better    = 0;
  p.width[k] = width;
  p.count[k] = count;
  if (count < 0 || (p.count[0] && p.count[1] && p.width[0] > p.width[1])) return SYS_SUCCESS;
  if (count && width * (count - 1) >= S->n) return SYS_SUCCESS;
  for (int i = 0; i < S->nseen; i++) {
    if (NusSearchSame(&S->seen[i], &p)) return SYS_SUCCESS;
  }
  if (S->nseen == NUS_SEARCH_TRIED) return SYS_SUCCESS;
  S->seen[S->nseen++] = p;
  status              = (*S->trial)(S->ctx, &p, &seconds);
  if (status) return status;
  *better = seconds < SYS_TUNE_GAIN * S->least;
  if (!*better) return SYS_SUCCESS;
  S->least = seconds;
  S->best  = p;
  return SYS_SUCCESS;
}

/* Searches the number of segments of width[k] */
static SysStatus NusSearchCount(Search *S, int k, int *moved)
{
  const int64_t width = S->best.width[k];
  int           better;
  SysStatus     status = SYS_SUCCESS;

  for (int64_t step = S->best.count[k] > 2 ? S->best.count[k] / 2 : 1; step && !status;) {
    const int64_t count = S->best.count[k];

    status = NusSearchTry(S, k, width, count + step, &better);
    if (!status && !better) status = NusSearchTry(S, k, width, count - step, &better);
    *moved |= better;
    if (!better) step /= 2;
  }
  return status;
}

/* Searches width[k], with a constant number of columns in segments or of segments */
static SysStatus NusSearchWidth(Search *S, int k, int *moved)
{
  int       better;
  SysStatus status = SYS_SUCCESS;

  for (int narrower = 0; narrower < 2 && S->best.count[k]; narrower++) {
    do {
      const int64_t count = S->best.count[k], width = narrower ? S->best.width[k] / 2 : 2 * S->best.width[k];

      better = 0;
      if (width < S->narrowest || width > S->widest) break;
      if (S->asked.count[k] < 0) status = NusSearchTry(S, k, width, narrower ? 2 * count : (count + 1) / 2, &better);
      if (!status && !better) status = NusSearchTry(S, k, width, count, &better);
      *moved |= better;
    } while (!status && better);
  }
  return status;
}

/* Tries all widths, each with a few numbers */
static SysStatus NusSearchGrid(Search *S, int k)
{
  static const int64_t counts[] = {1, 4, 16};
  int                  better;
  SysStatus            status = SYS_SUCCESS;

  for (int64_t width = S->asked.width[k] ? S->asked.width[k] : S->narrowest, last = S->asked.width[k] ? width : S->widest; width <= last && !status; width *= 2) {
    for (int c = 0; c < 3 && !status; c++) {
      if (S->asked.count[k] < 0) status = NusSearchTry(S, k, width, counts[c], &better);
      else if (!c) status = NusSearchTry(S, k, width, S->asked.count[k], &better);
    }
  }
  return status;
}

SysStatus NusSearchSegments(int64_t n, int64_t narrowest, int64_t widest, const NusParams *asked, double least, NusTrial *trial, void *ctx, NusParams *best)
{
  Search    S      = {.trial = trial, .ctx = ctx, .n = n, .narrowest = narrowest, .widest = widest, .asked = *asked, .best = *best, .least = least, .nseen = 1};
  SysStatus status = SYS_SUCCESS;
  int       moved  = 1;

  S.seen[0] = *best;
  for (int k = 1; k >= 0 && !status; k--) status = NusSearchGrid(&S, k);
  while (moved && !status) {
    moved = 0;
    for (int k = 1; k >= 0 && !status; k--) {
      if (!asked->width[k]) status = NusSearchWidth(&S, k, &moved);
      if (!status && asked->count[k] < 0) status = NusSearchCount(&S, k, &moved);
    }
  }
  *best = S.best;
  return status;
}
