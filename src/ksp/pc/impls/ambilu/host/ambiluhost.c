/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include <tgmath.h>

#include "sys/sysmemory.h"
#include "ksp/pc/impls/ambilu/host/ambiluhost.h"

typedef struct {
  SysInt column, from;
} AmbILUEntry;

static int AmbILUCompare(const void *a, const void *b)
{
  const SysInt p = ((const AmbILUEntry *)a)->column, q = ((const AmbILUEntry *)b)->column;

  return (p > q) - (p < q);
}

/* Fills one row; returns 0 if it has no diagonal */
static int AmbILUFillRow(const SysCSR *A, const SysInt *rows, const SysInt *place, int64_t p, AmbILUEntry *list, AmbILUMatrix *M)
{
  const SysInt first = A->i[rows[p]], length = A->i[rows[p] + 1] - first, begin = M->i[p];
  int          sorted = 1;

  for (SysInt e = 0; e < length; e++) {
    list[e] = (AmbILUEntry){place[A->j[first + e]], first + e};
    if (e && list[e].column < list[e - 1].column) sorted = 0;
  }
  if (!sorted) qsort(list, (size_t)length, sizeof(*list), AmbILUCompare);
  M->diagonal[p] = -1;
  M->i[p + 1]    = begin + length;
  for (SysInt e = 0; e < length; e++) {
    M->j[begin + e]    = list[e].column;
    M->from[begin + e] = list[e].from;
    if (list[e].column == p) M->diagonal[p] = begin + e;
  }
  M->behind[p] = M->diagonal[p] + 1;
  return M->diagonal[p] >= 0;
}

SysStatus AmbILUMatrixAllocate(int64_t rows, int64_t entries, AmbILUMatrix *M)
{
  const size_t n = (size_t)rows, nz = (size_t)entries;

  *M = (AmbILUMatrix){rows, entries, malloc((n + 1) * sizeof(SysInt)), malloc((nz + 1) * sizeof(SysInt)), malloc((n + 1) * sizeof(SysInt)), malloc((n + 1) * sizeof(SysInt)), malloc((nz + 1) * sizeof(SysInt)), malloc((nz + 1) * sizeof(SysScalar))};
  if (M->i && M->j && M->diagonal && M->behind && M->from && M->a) return SYS_SUCCESS;
  AmbILUMatrixDestroy(M);
  return SYS_OUT_OF_MEMORY;
}

void AmbILUMatrixFindDiagonal(AmbILUMatrix *M)
{
  for (int64_t r = 0; r < M->n; r++) {
    M->diagonal[r] = (SysInt)SysFindColumn(M->j, M->i[r], M->i[r + 1], r);
    M->behind[r]   = M->diagonal[r] + 1;
  }
}

SysStatus AmbILUMatrixCreate(const SysCSR *A, const SysInt *rows, AmbILUMatrix *M, int64_t *missing)
{
  const size_t n = (size_t)A->m, nz = n ? (size_t)A->i[n] : 0;
  SysInt      *place   = malloc((n + 1) * sizeof(*place));
  int64_t      longest = 0;
  AmbILUEntry *list;

  *missing = -1;
  for (size_t r = 0; r < n; r++) longest = A->i[r + 1] - A->i[r] > longest ? A->i[r + 1] - A->i[r] : longest;
  list = malloc(((size_t)longest + 1) * sizeof(*list));
  if (AmbILUMatrixAllocate((int64_t)n, (int64_t)nz, M) == SYS_SUCCESS && place && list) {
    M->i[0] = 0;
    for (size_t p = 0; p < n; p++) place[rows[p]] = (SysInt)p;
    for (int64_t p = 0; p < A->m && *missing < 0; p++) {
      if (!AmbILUFillRow(A, rows, place, p, list, M)) *missing = rows[p];
    }
  } else {
    AmbILUMatrixDestroy(M);
    free(place);
    free(list);
    return SYS_OUT_OF_MEMORY;
  }
  if (*missing >= 0) AmbILUMatrixDestroy(M);
  free(place);
  free(list);
  return SYS_SUCCESS;
}

void AmbILUMatrixDestroy(AmbILUMatrix *M)
{
  free(M->i);
  free(M->j);
  free(M->diagonal);
  free(M->behind);
  free(M->from);
  free(M->a);
  memset(M, 0, sizeof(*M));
}

void AmbILUMatrixUpdate(AmbILUMatrix *M, const SysScalar *a)
{
  for (int64_t k = 0; k < M->nz; k++) M->a[k] = a[M->from[k]];
}

/* ------------------------------------------------- DILU ------------------------------------------------- */

/* The entry of a column behind the diagonal of a row, or 0 */
static SysScalar AmbILUUpper(const AmbILUMatrix *M, SysInt row, int64_t column)
{
  const int64_t k = SysFindColumn(M->j, M->behind[row], M->i[row + 1], column);

  return k < 0 ? 0 : M->a[k];
}

/* Sets *pivot to the row if that is the first refused one; a NaN is not refused, as in PETSc's factors */
static void AmbILUPivot(SysScalar value, SysReal zero, int64_t row, int64_t *pivot)
{
  if (*pivot < 0 && fabs(value) <= zero) *pivot = row;
}

void AmbILUDiagonal(const AmbILUMatrix *M, SysReal zero, SysScalar *d, int64_t *pivot)
{
  *pivot = -1;
  for (int64_t r = 0; r < M->n; r++) {
    SysScalar e = M->a[M->diagonal[r]];

    for (SysInt k = M->i[r]; k < M->diagonal[r]; k++) e -= M->a[k] * d[M->j[k]] * AmbILUUpper(M, M->j[k], r);
    AmbILUPivot(e, zero, r, pivot);
    d[r] = 1 / e;
  }
}

void AmbILUSolve(const AmbILUMatrix *M, const SysScalar *d, const SysScalar *b, SysScalar *x)
{
  for (int64_t r = 0; r < M->n; r++) {
    SysScalar sum = b[r];

    for (SysInt k = M->i[r]; k < M->diagonal[r]; k++) sum -= M->a[k] * x[M->j[k]];
    x[r] = sum * d[r];
  }
  for (int64_t r = M->n; r-- > 0;) {
    SysScalar sum = 0;

    for (SysInt k = M->behind[r]; k < M->i[r + 1]; k++) sum += M->a[k] * x[M->j[k]];
    x[r] -= sum * d[r];
  }
}

void AmbILUSolveTranspose(const AmbILUMatrix *M, const SysScalar *d, const SysScalar *b, SysScalar *x)
{
  if (x != b) memcpy(x, b, (size_t)M->n * sizeof(*x));
  for (int64_t r = 0; r < M->n; r++) {
    x[r] *= d[r];
    for (SysInt k = M->behind[r]; k < M->i[r + 1]; k++) x[M->j[k]] -= M->a[k] * x[r];
  }
  for (int64_t r = M->n; r-- > 0;) {
    for (SysInt k = M->i[r]; k < M->diagonal[r]; k++) x[M->j[k]] -= d[M->j[k]] * M->a[k] * x[r];
  }
}

/* ------------------------------------------------- ILU(0) and inverses ------------------------------------------------- */

SysStatus AmbILUFactor(AmbILUMatrix *M, SysReal zero, int64_t *pivot)
{
  SysInt *where = malloc(((size_t)M->n + 1) * sizeof(*where)); /* of each column: its entry in the row, or -1 */

  *pivot = -1;
  if (!where) return SYS_OUT_OF_MEMORY;
  for (int64_t c = 0; c < M->n; c++) where[c] = -1;
  for (int64_t r = 0; r < M->n; r++) {
    for (SysInt k = M->i[r]; k < M->i[r + 1]; k++) where[M->j[k]] = k;
    for (SysInt k = M->i[r]; k < M->diagonal[r]; k++) {
      const SysInt other = M->j[k];

      M->a[k] /= M->a[M->diagonal[other]];
      for (SysInt e = M->behind[other]; e < M->i[other + 1]; e++) {
        if (where[M->j[e]] >= 0) M->a[where[M->j[e]]] -= M->a[k] * M->a[e];
      }
    }
    for (SysInt k = M->i[r]; k < M->i[r + 1]; k++) where[M->j[k]] = -1;
    AmbILUPivot(M->a[M->diagonal[r]], zero, r, pivot);
  }
  free(where);
  return SYS_SUCCESS;
}

/* A lower triangle whose rows end with the diagonal */
typedef struct {
  SysInt    *i, *j;
  SysScalar *a;
} AmbILUTriangle;

static void AmbILUTriangleDestroy(AmbILUTriangle *T)
{
  free(T->i);
  free(T->j);
  free(T->a);
}

/* L, or the transpose of U */
static SysStatus AmbILUTriangleCreate(const AmbILUMatrix *M, int upper, AmbILUTriangle *T)
{
  const size_t n = (size_t)M->n;
  SysInt      *next;

  T->i = calloc(n + 2, sizeof(*T->i));
  T->j = malloc((n + (size_t)M->nz + 1) * sizeof(*T->j));
  T->a = malloc((n + (size_t)M->nz + 1) * sizeof(*T->a));
  if (!T->i || !T->j || !T->a) {
    AmbILUTriangleDestroy(T);
    return SYS_OUT_OF_MEMORY;
  }
  next = T->i + 1; /* next[r] becomes the end of row r */
  for (size_t r = 0; r < n; r++) {
    if (upper) {
      for (SysInt k = M->diagonal[r]; k < M->i[r + 1]; k++) next[M->j[k] + 1]++;
    } else next[r + 1] = M->diagonal[r] - M->i[r] + 1;
  }
  for (size_t r = 0; r < n; r++) next[r + 1] += next[r];
  for (size_t r = 0; r < n; r++) {
    for (SysInt k = upper ? M->diagonal[r] : M->i[r]; k < (upper ? M->i[r + 1] : M->diagonal[r] + 1); k++) {
      const SysInt to = next[upper ? (size_t)M->j[k] : r]++;

      T->j[to] = upper ? (SysInt)r : M->j[k];
      T->a[to] = !upper && k == M->diagonal[r] ? 1 : M->a[k];
    }
  }
  return SYS_SUCCESS;
}

SysStatus AmbILUInverse(const AmbILUMatrix *M, int upper, SysInt *row, SysInt *column, SysScalar *value, int64_t *entries)
{
  SysInt        *where = malloc(((size_t)M->n + 1) * sizeof(*where));
  AmbILUTriangle T     = {NULL, NULL, NULL};

  if (!where || AmbILUTriangleCreate(M, upper, &T) != SYS_SUCCESS) {
    free(where);
    return SYS_OUT_OF_MEMORY;
  }
  for (int64_t c = 0; c < M->n; c++) where[c] = -1;
  for (int64_t r = 0; r < M->n; r++) {
    const SysInt begin = T.i[r], end = T.i[r + 1];

    for (SysInt e = begin; e < end; e++) {
      where[T.j[e]] = e;
      value[e]      = e == end - 1; /* the right-hand side, from which products are subtracted */
    }
    for (SysInt e = end; e-- > begin;) {
      const SysInt other = T.j[e];

      value[e] /= T.a[T.i[other + 1] - 1];
      for (SysInt k = T.i[other]; k < T.i[other + 1] - 1; k++) {
        if (where[T.j[k]] >= 0) value[where[T.j[k]]] -= value[e] * T.a[k];
      }
      if (row) row[e] = upper ? other : (SysInt)r;
      if (column) column[e] = upper ? (SysInt)r : other;
    }
    for (SysInt e = begin; e < end; e++) where[T.j[e]] = -1;
  }
  *entries = T.i[M->n];
  AmbILUTriangleDestroy(&T);
  free(where);
  return SYS_SUCCESS;
}
