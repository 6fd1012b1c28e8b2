/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "sys/sysmemory.h"
#include "mat/factor/host/factorsolve.h"

#define FACTOR_WINDOW   512 /* rows of a window */
#define FACTOR_PARALLEL 1.5 /* rows of a level within a window, on average at least */
#define FACTOR_LENGTH   64  /* entries of a row of both triangles, on average at most: longer sums overlap in PETSc's order too */

typedef struct {
  int64_t base, row0;
  int     rows, wide;
} FactorWindow;

typedef struct {
  FactorWindow *window;
  int64_t       windows, levels, nz[2]; /* entries of narrow and of wide windows */
  uint16_t     *place, *narrow;         /* of each row its place in the window; columns of narrow windows */
  SysInt       *length, *column;
  SysScalar    *a, *diagonal; /* diagonal: of each row the number that multiplies */
} FactorTriangle;

struct FactorSolver_ {
  int64_t        n;
  int            symmetric;
  FactorTriangle triangle[2];
};

static SysInt FactorLength(const FactorRows *T, int64_t row)
{
  return T->end[row] - T->begin[row];
}

/* The place of entry e of a row: as PETSc adds them, ascending but for U of a symmetric factor */
static SysInt FactorEntry(const FactorRows *T, int64_t row, SysInt e, int descending)
{
  return descending ? T->end[row] - 1 - e : T->begin[row] + e;
}

/* Sorts the rows of a window by level; returns the levels */
static int FactorSortWindow(const FactorRows *T, int upper, const FactorWindow *w, uint16_t *place)
{
  int level[FACTOR_WINDOW], first[FACTOR_WINDOW + 1] = {0}, levels = 0;

  for (int k = 0; k < w->rows; k++) {
    const int     at  = upper ? w->rows - 1 - k : k;
    const int64_t row = w->row0 + at;

    level[at] = 0;
    for (SysInt e = T->begin[row]; e < T->end[row]; e++) {
      const int64_t other = T->j[e] - w->row0;

      if (other >= 0 && other < w->rows && level[other] >= level[at]) level[at] = level[other] + 1;
    }
    if (level[at] >= levels) levels = level[at] + 1;
  }
  for (int k = 0; k < w->rows; k++) first[level[k] + 1]++;
  for (int k = 0; k < levels; k++) first[k + 1] += first[k];
  for (int k = 0; k < w->rows; k++) {
    const int at = upper ? w->rows - 1 - k : k;

    place[first[level[at]]++] = (uint16_t)at;
  }
  return levels;
}

static void FactorMeasureWindow(const FactorRows *T, FactorWindow *w)
{
  int64_t least = INT64_MAX, most = -1;

  for (int64_t row = w->row0; row < w->row0 + w->rows; row++) {
    for (SysInt e = T->begin[row]; e < T->end[row]; e++) {
      if (T->j[e] < least) least = T->j[e];
      if (T->j[e] > most) most = T->j[e];
    }
  }
  w->base = most < 0 ? 0 : least;
  w->wide = most - w->base > UINT16_MAX;
}

static void FactorTriangleDestroy(FactorTriangle *S)
{
  free(S->window);
  free(S->place);
  free(S->length);
  free(S->diagonal);
  SysRelease(S->narrow, (size_t)S->nz[0] * sizeof(*S->narrow));
  SysRelease(S->column, (size_t)S->nz[1] * sizeof(*S->column));
  SysRelease(S->a, (size_t)(S->nz[0] + S->nz[1]) * sizeof(*S->a));
}

static SysStatus FactorTriangleCreate(const FactorRows *T, int upper, int descending, FactorTriangle *S)
{
  const int64_t n     = T->n;
  int64_t       at[2] = {0, 0};

  S->windows  = (n + FACTOR_WINDOW - 1) / FACTOR_WINDOW;
  S->diagonal = malloc(((size_t)n + 1) * sizeof(*S->diagonal));
  S->window   = calloc((size_t)S->windows + 1, sizeof(*S->window));
  S->place    = malloc(((size_t)n + 1) * sizeof(*S->place));
  S->length   = malloc(((size_t)n + 1) * sizeof(*S->length));
  if (!S->diagonal || !S->window || !S->place || !S->length) return SYS_OUT_OF_MEMORY;
  for (int64_t k = 0; k < S->windows; k++) {
    FactorWindow *w = &S->window[k];

    w->row0 = (upper ? S->windows - 1 - k : k) * FACTOR_WINDOW;
    w->rows = (int)SysMin(FACTOR_WINDOW, n - w->row0);
    FactorMeasureWindow(T, w);
    for (int r = 0; r < w->rows; r++) S->nz[w->wide] += FactorLength(T, w->row0 + r);
  }
  S->narrow = SysAllocate((size_t)S->nz[0] * sizeof(*S->narrow));
  S->column = SysAllocate((size_t)S->nz[1] * sizeof(*S->column));
  S->a      = SysAllocate((size_t)(S->nz[0] + S->nz[1]) * sizeof(*S->a));
  if (!S->narrow || !S->column || !S->a) return SYS_OUT_OF_MEMORY;
  for (int64_t k = 0, p = 0; k < S->windows; k++) {
    const FactorWindow *w = &S->window[k];

    S->levels += FactorSortWindow(T, upper, w, S->place + p);
    for (int r = 0; r < w->rows; r++, p++) {
      const int64_t row = w->row0 + S->place[p];

      S->length[p] = FactorLength(T, row);
      for (SysInt e = 0; e < S->length[p]; e++) {
        const int64_t column = T->j[FactorEntry(T, row, e, descending)] - w->base;

        if (w->wide) S->column[at[1]++] = (SysInt)column;
        else S->narrow[at[0]++] = (uint16_t)column;
      }
    }
  }
  return SYS_SUCCESS;
}

SysStatus FactorSolverCreate(const FactorRows T[2], int symmetric, FactorSolver *solver)
{
  FactorSolver S      = calloc(1, sizeof(*S));
  SysStatus    status = S ? SYS_SUCCESS : SYS_OUT_OF_MEMORY;
  int64_t      nz     = 0;

  if (status == SYS_SUCCESS) {
    S->n         = T[0].n;
    S->symmetric = symmetric;
  }
  for (int t = 0; t < 2 && status == SYS_SUCCESS; t++) {
    for (int64_t r = 0; r < S->n; r++) nz += FactorLength(&T[t], r);
    status = FactorTriangleCreate(&T[t], t, t && symmetric, &S->triangle[t]);
  }
  if (status == SYS_SUCCESS && (2. * S->n < FACTOR_PARALLEL * (double)(S->triangle[0].levels + S->triangle[1].levels) || nz > FACTOR_LENGTH * S->n)) FactorSolverDestroy(&S);
  if (status != SYS_SUCCESS && S) FactorSolverDestroy(&S);
  *solver = S;
  return status;
}

void FactorSolverDestroy(FactorSolver *S)
{
  if (!*S) return;
  for (int t = 0; t < 2; t++) FactorTriangleDestroy(&(*S)->triangle[t]);
  free(*S);
  *S = NULL;
}

/* Values are those that are subtracted: a symmetric factor has them with the other sign */
void FactorSolverUpdate(FactorSolver S, const FactorRows T[2], const SysScalar *a)
{
  for (int t = 0; t < 2; t++) {
    const FactorTriangle *F = &S->triangle[t];
    SysScalar            *v = F->a;

    for (int64_t k = 0, p = 0; k < F->windows; k++) {
      for (int r = 0; r < F->window[k].rows; r++, p++) {
        const int64_t row = F->window[k].row0 + F->place[p];

        for (SysInt e = 0; e < F->length[p]; e++) {
          const SysInt    entry = FactorEntry(&T[t], row, e, t && S->symmetric);
          const SysScalar value = a[T[t].from ? T[t].from[entry] : entry];

          *v++ = S->symmetric ? -value : value;
        }
      }
    }
  }
}

void FactorSolverSetDiagonal(FactorSolver S, const SysInt *place, const SysScalar *d)
{
  for (int t = 0; t < 2; t++) {
    const FactorTriangle *F = &S->triangle[t];

    for (int64_t k = 0, p = 0; k < F->windows; k++) {
      for (int r = 0; r < F->window[k].rows; r++, p++) {
        const int64_t row = F->window[k].row0 + F->place[p];

        F->diagonal[p] = d[place ? place[row] : row];
      }
    }
  }
}

/* The sums of a window, in columns of 16 bits or of SysInt; `first` makes the right-hand side of row r at place k of it, `last` stores the sum */
#define FACTOR_SUM_WINDOW(columns, first, last) \
  for (int k = 0; k < w->rows; k++) { \
    const int r   = place[k]; \
    SysScalar sum = first; \
\
    for (SysInt e = 0; e < length[k]; e++) sum -= a[e] * from[columns[e]]; \
    a += length[k]; \
    columns += length[k]; \
    last; \
  }

/* All sums of a triangle, of results that it stores: x and rhs are of the window */
#define FACTOR_SUM(T, b, result, first, last) \
  do { \
    const uint16_t  *place = (T)->place, *narrow = (T)->narrow; \
    const SysInt    *length = (T)->length, *column = (T)->column; \
    const SysScalar *a = (T)->a, *d = (T)->diagonal; \
\
    for (int64_t window = 0; window < (T)->windows; window++) { \
      const FactorWindow *w   = &(T)->window[window]; \
      const SysScalar    *rhs = (b) + w->row0, *from = (result) + w->base; \
      SysScalar          *x = (result) + w->row0; \
\
      if (w->wide) { \
        FACTOR_SUM_WINDOW(column, first, last) \
      } else { \
        FACTOR_SUM_WINDOW(narrow, first, last) \
      } \
      place += w->rows; \
      length += w->rows; \
      d += w->rows; \
    } \
    (void)d; \
  } while (0)

void FactorSolverSolve(FactorSolver S, const SysScalar *b, SysScalar *y)
{
  const FactorTriangle *L = &S->triangle[0], *U = &S->triangle[1];

  FACTOR_SUM(L, b, y, rhs[r], x[r] = sum);
  if (S->symmetric) FACTOR_SUM(U, y, y, rhs[r] * d[k], x[r] = sum);
  else FACTOR_SUM(U, y, y, rhs[r], x[r] = sum * d[k]);
}

void FactorSolverSweep(FactorSolver S, SysReal omega, int forward, int backward, const SysScalar *b, SysScalar *work, SysScalar *y)
{
  const FactorTriangle *L = &S->triangle[0], *U = &S->triangle[1];

  if (forward && !backward) FACTOR_SUM(L, b, y, rhs[r], x[r] = sum * d[k]);
  if (!forward && backward) FACTOR_SUM(U, b, y, rhs[r], x[r] = sum * d[k]);
  if (!forward || !backward) return;
  FACTOR_SUM(L, b, y, rhs[r], (work[w->row0 + r] = sum, x[r] = sum * d[k]));
  FACTOR_SUM(U, work, y, rhs[r], x[r] = (1 - omega) * x[r] + sum * d[k]);
}
