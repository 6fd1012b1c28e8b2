/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "sys/sysmemory.h"
#include "mat/factor/host/factornodes.h"

#define NODES_WINDOW   256 /* nodes of a window */
#define NODES_PARALLEL 1.5 /* nodes of a level within a window, on average at least */
#define NODES_LENGTH   256 /* entries of a row of both triangles, on average at most: longer sums overlap in PETSc's order too */

typedef struct {
  int64_t base, row0;
  int     nodes, wide;
} NodesWindow;

typedef struct {
  NodesWindow *window;
  int64_t      windows, levels, columns[2], values; /* columns of narrow and of wide windows */
  uint16_t    *place, *narrow;                      /* of each node its first row in the window; columns of narrow windows */
  uint8_t     *rows;                                /* of each node */
  SysInt      *length, *node, *wide;                /* columns of each node; its number; columns of wide windows */
  SysScalar   *a;
} NodesTriangle;

struct FactorNodes_ {
  int           inverse;
  SysInt       *start;
  NodesTriangle triangle[2];
};

static inline SysInt NodesLength(const FactorRows *T, int64_t row)
{
  return T->end[row] - T->begin[row];
}

/* The row of a node whose columns in a triangle are all outside the node */
static inline int64_t NodesOuter(const SysInt *start, int64_t node, int upper)
{
  return upper ? start[node + 1] - 1 : start[node];
}

/* The values of the block of a node */
static inline int NodesBlock(int rows, int upper, int inverse)
{
  return inverse ? rows * rows : upper ? rows * (rows + 1) / 2 : rows * (rows - 1) / 2;
}

/* Whether all rows of a node have the columns of the outer one, and the columns of the node between them and the diagonal */
static int NodesFit(const FactorRows *T, const SysInt *start, int64_t node, int upper)
{
  const int64_t outer = NodesOuter(start, node, upper), first = start[node], rows = start[node + 1] - first;
  const SysInt  length = NodesLength(T, outer), *columns = T->j + T->begin[outer];

  if (rows < 1 || rows > FACTOR_NODE) return 0;
  for (SysInt e = 0; e < length; e++) {
    if (upper ? columns[e] < first + rows : columns[e] >= first) return 0;
  }
  for (int64_t r = 0; r < rows; r++) {
    const int64_t own = upper ? rows - 1 - r : r;
    const SysInt *j   = T->j + T->begin[first + r];

    if (NodesLength(T, first + r) != length + own) return 0;
    if (memcmp(upper ? j + own : j, columns, (size_t)length * sizeof(*j))) return 0;
    for (int64_t q = 0; q < own; q++) {
      if (upper ? j[q] != first + r + 1 + q : j[length + q] != first + q) return 0;
    }
  }
  return 1;
}

/* Sorts the nodes of a window, which are first, first + 1, ... by level; of: the node of each row. Returns the levels. */
static int NodesSortWindow(const FactorRows *T, const SysInt *start, const SysInt *of, int upper, int64_t first, int nodes, SysInt *sorted)
{
  int level[NODES_WINDOW], begin[NODES_WINDOW + 1] = {0}, levels = 0;

  for (int k = 0; k < nodes; k++) {
    const int     at  = upper ? nodes - 1 - k : k;
    const int64_t row = NodesOuter(start, first + at, upper);

    level[at] = 0;
    for (SysInt e = T->begin[row]; e < T->end[row]; e++) {
      const int64_t other = of[T->j[e]] - first;

      if (other >= 0 && other < nodes && level[other] >= level[at]) level[at] = level[other] + 1;
    }
    if (level[at] >= levels) levels = level[at] + 1;
  }
  for (int k = 0; k < nodes; k++) begin[level[k] + 1]++;
  for (int k = 0; k < levels; k++) begin[k + 1] += begin[k];
  for (int k = 0; k < nodes; k++) {
    const int at = upper ? nodes - 1 - k : k;

    sorted[begin[level[at]]++] = (SysInt)(first + at);
  }
  return levels;
}

static void NodesMeasureWindow(const FactorRows *T, const SysInt *start, int upper, int64_t first, NodesWindow *w)
{
  int64_t least = INT64_MAX, most = -1;

  for (int64_t v = first; v < first + w->nodes; v++) {
    const int64_t row = NodesOuter(start, v, upper);

    for (SysInt e = T->begin[row]; e < T->end[row]; e++) {
      if (T->j[e] < least) least = T->j[e];
      if (T->j[e] > most) most = T->j[e];
    }
  }
  w->base = most < 0 ? 0 : least;
  w->wide = most - w->base > UINT16_MAX;
}

static void NodesTriangleDestroy(NodesTriangle *S)
{
  free(S->window);
  free(S->place);
  free(S->rows);
  free(S->length);
  free(S->node);
  SysRelease(S->narrow, (size_t)S->columns[0] * sizeof(*S->narrow));
  SysRelease(S->wide, (size_t)S->columns[1] * sizeof(*S->wide));
  SysRelease(S->a, (size_t)S->values * sizeof(*S->a));
}

static SysStatus NodesTriangleCreate(const FactorRows *T, int64_t nodes, const SysInt *start, const SysInt *of, int upper, int inverse, NodesTriangle *S)
{
  int64_t at[2] = {0, 0};

  S->windows = (nodes + NODES_WINDOW - 1) / NODES_WINDOW;
  S->window  = calloc((size_t)S->windows + 1, sizeof(*S->window));
  S->place   = malloc(((size_t)nodes + 1) * sizeof(*S->place));
  S->rows    = malloc(((size_t)nodes + 1) * sizeof(*S->rows));
  S->length  = malloc(((size_t)nodes + 1) * sizeof(*S->length));
  S->node    = malloc(((size_t)nodes + 1) * sizeof(*S->node));
  if (!S->window || !S->place || !S->rows || !S->length || !S->node) return SYS_OUT_OF_MEMORY;
  for (int64_t k = 0, p = 0; k < S->windows; k++) {
    NodesWindow  *w     = &S->window[k];
    const int64_t first = (upper ? S->windows - 1 - k : k) * NODES_WINDOW;

    w->row0  = start[first];
    w->nodes = (int)SysMin(NODES_WINDOW, nodes - first);
    NodesMeasureWindow(T, start, upper, first, w);
    S->levels += NodesSortWindow(T, start, of, upper, first, w->nodes, S->node + p);
    for (int q = 0; q < w->nodes; q++, p++) {
      const int64_t v = S->node[p];

      S->place[p]  = (uint16_t)(start[v] - w->row0);
      S->rows[p]   = (uint8_t)(start[v + 1] - start[v]);
      S->length[p] = NodesLength(T, NodesOuter(start, v, upper));
      S->columns[w->wide] += S->length[p];
      S->values += S->rows[p] * (int64_t)S->length[p] + NodesBlock(S->rows[p], upper, inverse);
    }
  }
  S->narrow = SysAllocate((size_t)S->columns[0] * sizeof(*S->narrow));
  S->wide   = SysAllocate((size_t)S->columns[1] * sizeof(*S->wide));
  S->a      = SysAllocate((size_t)S->values * sizeof(*S->a));
  if (!S->narrow || !S->wide || !S->a) return SYS_OUT_OF_MEMORY;
  for (int64_t k = 0, p = 0; k < S->windows; k++) {
    const NodesWindow *w = &S->window[k];

    for (int q = 0; q < w->nodes; q++, p++) {
      const SysInt *columns = T->j + T->begin[NodesOuter(start, S->node[p], upper)];

      for (SysInt e = 0; e < S->length[p]; e++) {
        if (w->wide) S->wide[at[1]++] = (SysInt)(columns[e] - w->base);
        else S->narrow[at[0]++] = (uint16_t)(columns[e] - w->base);
      }
    }
  }
  return SYS_SUCCESS;
}

SysStatus FactorNodesCreate(const FactorRows T[2], int64_t nodes, const SysInt *start, int inverse, FactorNodes *result)
{
  const int64_t n      = T[0].n;
  FactorNodes   S      = calloc(1, sizeof(*S));
  SysInt       *of     = malloc(((size_t)n + 1) * sizeof(*of));
  int64_t       nz     = 0;
  SysStatus     status = SYS_OUT_OF_MEMORY;
  int           fit    = 1;

  if (S) S->start = malloc(((size_t)nodes + 1) * sizeof(*S->start));
  if (S && S->start && of) {
    memcpy(S->start, start, ((size_t)nodes + 1) * sizeof(*S->start));
    for (int64_t v = 0; v < nodes && fit; v++) fit = NodesFit(&T[0], start, v, 0) && NodesFit(&T[1], start, v, 1);
    for (int64_t r = 0; r < n; r++) nz += NodesLength(&T[0], r) + NodesLength(&T[1], r);
    fit        = fit && nz <= NODES_LENGTH * n;
    S->inverse = inverse;
    for (int64_t v = 0; v < nodes && fit; v++) {
      for (SysInt r = start[v]; r < start[v + 1]; r++) of[r] = (SysInt)v;
    }
    status = SYS_SUCCESS;
    for (int t = 0; t < 2 && fit && status == SYS_SUCCESS; t++) status = NodesTriangleCreate(&T[t], nodes, start, of, t, inverse, &S->triangle[t]);
    fit = fit && 2. * (double)nodes >= NODES_PARALLEL * (double)(S->triangle[0].levels + S->triangle[1].levels);
  }
  free(of);
  if (S && (status != SYS_SUCCESS || !fit)) FactorNodesDestroy(&S);
  *result = S;
  return status;
}

void FactorNodesDestroy(FactorNodes *S)
{
  if (!*S) return;
  for (int t = 0; t < 2; t++) NodesTriangleDestroy(&(*S)->triangle[t]);
  free((*S)->start);
  free(*S);
  *S = NULL;
}

static inline SysScalar NodesValue(const FactorRows *T, const SysScalar *a, int64_t row, int64_t e)
{
  const int64_t k = T->begin[row] + e;

  return a[T->from ? T->from[k] : k];
}

void FactorNodesUpdate(FactorNodes S, const FactorRows T[2], const SysScalar *a, const SysScalar *block, const SysInt *place)
{
  for (int t = 0; t < 2; t++) {
    const NodesTriangle *F = &S->triangle[t];
    SysScalar           *v = F->a;
    int64_t              p = 0;

    for (int64_t k = 0; k < F->windows; k++) {
      for (int q = 0; q < F->window[k].nodes; q++, p++) {
        const int64_t first = S->start[F->node[p]], rows = F->rows[p], length = F->length[p];

        for (int64_t e = 0; e < length; e++) {
          for (int64_t r = 0; r < rows; r++) *v++ = NodesValue(&T[t], a, first + r, e + (t ? rows - 1 - r : 0));
        }
        if (S->inverse) {
          for (int64_t e = 0; e < rows * rows; e++) *v++ = block[FACTOR_NODE * first + e];
        } else if (!t) {
          for (int64_t r = 1; r < rows; r++) {
            for (int64_t c = 0; c < r; c++) *v++ = NodesValue(&T[0], a, first + r, length + c);
          }
        } else {
          for (int64_t r = rows; r-- > 0;) {
            for (int64_t c = rows - 1 - r; c-- > 0;) *v++ = NodesValue(&T[1], a, first + r, c);
            *v++ = block[place ? place[first + r] : first + r];
          }
        }
      }
    }
  }
}

/* ------------------------------------------------- solves ------------------------------------------------- */

/* The step after the sums of a node */
typedef enum {
  NODES_LOWER,
  NODES_UPPER,
  NODES_INVERSE
} NodesEnd;

/* Subtracts the products of the columns from the sums of the rows, by twos */
#define NODES_SUBTRACT(columns) \
  for (; e + 1 < length; e += 2, a += 2 * rows) { \
    const SysScalar x0 = from[(columns)[e]], x1 = from[(columns)[e + 1]]; \
\
    for (int r = 0; r < rows; r++) sum[r] -= a[r] * x0 + a[rows + r] * x1; \
  } \
  if (e < length) { \
    const SysScalar x0 = from[(columns)[e]]; \
\
    for (int r = 0; r < rows; r++) sum[r] -= a[r] * x0; \
    a += rows; \
  }

/* A node of a constant number of rows; returns the values behind its own. kept, unless NULL, gets the sums. */
static inline __attribute__((always_inline)) const SysScalar *NodesVisit(const int rows, const NodesEnd end, SysInt length, const uint16_t *narrow, const SysInt *wide, const SysScalar *a, const SysScalar *from, const SysScalar *b, SysScalar *kept, SysScalar *x)
{
  SysScalar sum[FACTOR_NODE];
  SysInt    e = 0;

  for (int r = 0; r < rows; r++) sum[r] = b[r];
  if (narrow) {
    NODES_SUBTRACT(narrow)
  } else {
    NODES_SUBTRACT(wide)
  }
  if (end == NODES_LOWER) {
    for (int r = 0; r < rows; r++) {
      for (int c = 0; c < r; c++) sum[r] -= *a++ * sum[c];
      x[r] = sum[r];
    }
  }
  if (end == NODES_UPPER) {
    for (int r = rows - 1; r >= 0; r--) {
      for (int c = rows - 1; c > r; c--) sum[r] -= *a++ * sum[c];
      x[r] = sum[r] = sum[r] * *a++;
    }
  }
  if (end == NODES_INVERSE) {
    for (int r = 0; r < rows; r++) {
      SysScalar y = sum[0] * a[r];

      for (int c = 1; c < rows; c++) y += sum[c] * a[c * rows + r];
      if (kept) kept[r] = sum[r];
      x[r] = y;
    }
    a += rows * rows;
  }
  return a;
}

static inline __attribute__((always_inline)) void NodesVisitAll(const NodesTriangle *T, const NodesEnd end, const SysScalar *b, SysScalar *kept, SysScalar *y)
{
  const uint16_t  *narrow = T->narrow;
  const SysInt    *wide   = T->wide;
  const SysScalar *a      = T->a;

  for (int64_t k = 0, p = 0; k < T->windows; k++) {
    const NodesWindow *w = &T->window[k];

    for (const int64_t last = p + w->nodes; p < last; p++) {
      const int64_t   row    = w->row0 + T->place[p];
      const SysInt    length = T->length[p];
      const uint16_t *column = w->wide ? NULL : narrow;

      switch (T->rows[p]) {
#define NODES_CASE(rows) \
  case rows: \
    a = NodesVisit(rows, end, length, column, wide, a, y + w->base, b + row, kept ? kept + row : NULL, y + row); \
    break
        NODES_CASE(1);
        NODES_CASE(2);
        NODES_CASE(3);
        NODES_CASE(4);
        NODES_CASE(5);
      }
      if (w->wide) wide += length;
      else narrow += length;
    }
  }
}

void FactorNodesSolve(FactorNodes S, const SysScalar *b, SysScalar *x)
{
  NodesVisitAll(&S->triangle[0], NODES_LOWER, b, NULL, x);
  NodesVisitAll(&S->triangle[1], NODES_UPPER, x, NULL, x);
}

void FactorNodesSweep(FactorNodes S, int forward, int backward, const SysScalar *b, SysScalar *work, SysScalar *x)
{
  if (forward) NodesVisitAll(&S->triangle[0], NODES_INVERSE, b, backward ? work : NULL, x);
  if (backward) NodesVisitAll(&S->triangle[1], NODES_INVERSE, forward ? work : b, NULL, x);
}
