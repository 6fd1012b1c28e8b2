/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "sys/systhreads.h"
#include "mat/factor/host/sorvisit.h"

#define SOR_THREAD_ROWS 5000 /* rows of a color for each thread, at least */

struct SORHost_ {
  SORPlan    plan;
  SysInt    *column[2];
  SysScalar *value[2], *inverse; /* inverse: column q of the blocks' rows at positions behind q times all positions */
  SysScalar *x, *kept;           /* by position: the iterate, and b - L x */
};

static SORSlots SORHostSlots(SORHost S)
{
  return (SORSlots){
    S->plan.bs, S->plan.lanes, S->plan.place, {S->plan.start[0], S->plan.start[1]},
       {S->column[0],     S->column[1]    },
       {S->value[0],      S->value[1]     }
  };
}

static inline int SORHostThreads(int64_t rows)
{
  return (int)SysMin(SysThreads(), 1 + rows / SOR_THREAD_ROWS);
}

static void SORHostFill(SORHost S, const SORSlots *slots, const SysCSR *A)
{
#pragma omp parallel for num_threads(SORHostThreads(S->plan.n)) if (SORHostThreads(S->plan.n) > 1)
  for (int64_t r = 0; r < S->plan.n; r++) SORFill(slots, A->i, A->j, A->a, (SysInt)r, S->plan.place[r]);
}

SysStatus SORHostCreate(const SysCSR *A, SORPlan *plan, SORHost *result)
{
  SORHost   S      = calloc(1, sizeof(*S));
  SysStatus status = SYS_SUCCESS;
  SORSlots  slots;
  size_t    positions;

  *result = S;
  if (!S) {
    SORPlanDestroy(plan);
    return SYS_OUT_OF_MEMORY;
  }
  S->plan = *plan;
  memset(plan, 0, sizeof(*plan));
  positions  = (size_t)S->plan.tiles * (size_t)(SOR_WARP / S->plan.lanes);
  S->inverse = malloc((positions * (size_t)S->plan.bs + 1) * sizeof(*S->inverse));
  S->x       = calloc(positions + 1, sizeof(*S->x));
  S->kept    = malloc((positions + 1) * sizeof(*S->kept));
  if (!S->inverse || !S->x || !S->kept) status = SYS_OUT_OF_MEMORY;
  for (int part = 0; part < 2; part++) {
    const size_t n = (size_t)S->plan.start[part][S->plan.tiles] * SOR_WARP;

    S->column[part] = malloc((n + 1) * sizeof(SysInt));
    S->value[part]  = calloc(n + 1, sizeof(SysScalar));
    if (!S->column[part] || !S->value[part]) status = SYS_OUT_OF_MEMORY;
    else memset(S->column[part], -1, n * sizeof(SysInt));
  }
  if (status == SYS_SUCCESS) {
    slots          = SORHostSlots(S);
    slots.value[0] = NULL;
    SORHostFill(S, &slots, A);
  } else SORHostDestroy(result);
  return status;
}

void SORHostDestroy(SORHost *S)
{
  if (!*S) return;
  for (int part = 0; part < 2; part++) {
    free((*S)->column[part]);
    free((*S)->value[part]);
  }
  free((*S)->inverse);
  free((*S)->x);
  free((*S)->kept);
  SORPlanDestroy(&(*S)->plan);
  free(*S);
  *S = NULL;
}

void SORHostUpdate(SORHost S, const SysCSR *A)
{
  SORSlots slots = SORHostSlots(S);

  slots.column[0] = NULL;
  SORHostFill(S, &slots, A);
}

int SORHostSetDiagonal(SORHost S, const SysCSR *A, SysReal omega, SysReal shift)
{
  const int     bs        = S->plan.bs;
  const int64_t positions = S->plan.tiles * (SOR_WARP / S->plan.lanes);
  int           zero      = 0;

  for (int64_t v = 0; v < S->plan.n / bs; v++) {
    SysScalar D[SOR_BLOCK_MOST * SOR_BLOCK_MOST];

    zero = SORBlock(A->i, A->j, A->a, (SysInt)v, bs, omega, shift, D) || zero;
    zero = SORInvert(bs, D) || zero;
    for (int r = 0; r < bs; r++) {
      for (int q = 0; q < bs; q++) S->inverse[q * positions + S->plan.place[v * bs + r]] = omega * D[r * bs + q];
    }
  }
  return zero;
}

/* Returns the sum of the products of a part of a row, subtracted from sum */
static SysScalar SORHostSum(const SORHost S, int part, int64_t p, SysScalar sum)
{
  const int     lanes = S->plan.lanes, rows = SOR_WARP / lanes;
  const SysInt *start = S->plan.start[part] + p / rows, *column = S->column[part];

  for (int64_t step = start[0]; step < start[1]; step++) {
    const int64_t slot = step * SOR_WARP + p % rows * lanes;

    for (int64_t s = slot; s < slot + lanes; s++) {
      if (column[s] >= 0) sum -= S->value[part][s] * S->x[column[s]];
    }
  }
  return sum;
}

static void SORHostNode(SORHost S, const SORSweep *sweep, const SORVisit *v, int64_t p, const SysScalar *b, SysScalar *x)
{
  const int     bs        = S->plan.bs;
  const int64_t positions = S->plan.tiles * (SOR_WARP / S->plan.lanes);
  SysScalar     sum[SOR_BLOCK_MOST];

  for (int r = 0; r < bs; r++) {
    sum[r] = v->saved ? S->kept[p + r] : b[S->plan.row[p + r]];
    if (v->lower) sum[r] = SORHostSum(S, 0, p + r, sum[r]);
    if (v->keep) S->kept[p + r] = sum[r];
    if (v->upper) sum[r] = SORHostSum(S, 1, p + r, sum[r]);
  }
  for (int r = 0; r < bs; r++) {
    SysScalar g = 0;

    for (int q = 0; q < bs; q++) g += S->inverse[q * positions + p + r] * sum[q];
    S->x[p + r] = SORRelax(v, sweep->omega, S->x[p + r], g);
    if (v->last) x[S->plan.row[p + r]] = S->x[p + r];
  }
}

void SORHostSweep(SORHost S, const SORSweep *sweep, const SysScalar *b, SysScalar *x)
{
  const int64_t rows = SOR_WARP / S->plan.lanes;

  for (int64_t r = 0; !sweep->zero && r < S->plan.n; r++) S->x[S->plan.place[r]] = x[r];
  for (int h = 0; h < SORHalves(sweep); h++) {
    for (int q = 0; q < S->plan.colors; q++) {
      const SORVisit v     = SORVisitGet(sweep, (int)S->plan.colors, h, q);
      const int64_t  begin = S->plan.tile[v.color], end = S->plan.tile[v.color + 1];

      if (!v.times) continue;
#pragma omp parallel for num_threads(SORHostThreads((end - begin) * rows)) if (SORHostThreads((end - begin) * rows) > 1)
      for (int64_t t = begin; t < end; t++) {
        for (int64_t p = t * rows; p + S->plan.bs <= (t + 1) * rows && S->plan.row[p] >= 0; p += S->plan.bs) SORHostNode(S, sweep, &v, p, b, x);
      }
    }
  }
}
