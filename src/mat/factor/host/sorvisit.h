/* SPDX-License-Identifier: BSD-2-Clause */
/*
   What host and GPU share of sweeps by color: the visits of a sweep, the slots of a row, and the inverse of a block
*/
#pragma once

#include "mat/factor/host/sorhost.h"

#if defined(__CUDACC__)
  #define SOR_BOTH static __host__ __device__ __forceinline__
#else
  #define SOR_BOTH static inline
#endif

/* One visit of a color */
typedef struct {
  int color;
  int times; /* updates of the color with the same sum; 0: the visit before included this one */
  int lower, upper;
  int saved; /* the right-hand side is b - L x, as a forward visit has kept it */
  int keep;  /* keeps b - L x */
  int fresh; /* the iterate of this color is zero */
  int last;  /* the color has no later visit */
} SORVisit;

SOR_BOTH int SORHalves(const SORSweep *s)
{
  return s->its * ((s->forward != 0) + (s->backward != 0));
}

/* Returns visit q of half sweep h */
SOR_BOTH SORVisit SORVisitGet(const SORSweep *s, int colors, int h, int q)
{
  const int both = s->forward && s->backward, halves = SORHalves(s), forward = s->forward && (!both || h % 2 == 0), end = q == colors - 1;
  SORVisit  v;

  v.color = forward ? q : colors - 1 - q;
  v.times = both && q == 0 && h > 0 ? 0 : both && end ? (colors == 1 ? halves : h + 1 < halves ? 2 : 1) : 1;
  v.fresh = s->zero && h == 0;
  v.saved = both && !forward;
  v.lower = forward || (!v.saved && !v.fresh);
  v.upper = !forward || !v.fresh;
  v.keep  = both && forward;
  v.last  = h == halves - 1 || (both && end && (h == halves - 2 || colors == 1));
  return v;
}

/* The next values of the iterate of a row: g is the new value for omega 1 */
SOR_BOTH SysScalar SORRelax(const SORVisit *v, SysReal omega, SysScalar old, SysScalar g)
{
  SysScalar x = v->fresh ? g : (1 - omega) * old + g;

  for (int k = 1; k < v->times; k++) x = (1 - omega) * x + g;
  return x;
}

/* The layout of a plan */
typedef struct {
  int           bs, lanes;
  const SysInt *place, *start[2];
  SysInt       *column[2]; /* of each slot, or NULL: only the values are set */
  SysScalar    *value[2];  /* of each slot, or NULL: only the columns are set */
} SORSlots;

/* Sets the slots of row r, which is at position p */
SOR_BOTH void SORFill(const SORSlots *S, const SysInt *i, const SysInt *j, const SysScalar *a, SysInt r, SysInt p)
{
  const int    rows  = SOR_WARP / S->lanes;
  const SysInt begin = r - r % S->bs;
  int64_t      first[2];
  int          step[2] = {0, 0}, lane[2] = {0, 0};

  for (int part = 0; part < 2; part++) first[part] = (int64_t)S->start[part][p / rows] * SOR_WARP + p % rows * S->lanes;
  for (SysInt k = i[r]; k < i[r + 1]; k++) {
    const SysInt q    = S->place[j[k]];
    const int    part = q > p;
    int64_t      slot;

    if (j[k] >= begin && j[k] < begin + S->bs) continue;
    slot = first[part] + (int64_t)step[part] * SOR_WARP + lane[part];
    if (++lane[part] == S->lanes) {
      lane[part] = 0;
      step[part]++;
    }
    if (S->column[0]) S->column[part][slot] = q;
    if (S->value[0]) S->value[part][slot] = a[k];
  }
}

SOR_BOTH double SORSize(SysScalar a)
{
#if defined(SYS_COMPLEX)
  return (double)(creal(a) * creal(a) + cimag(a) * cimag(a));
#else
  return a < 0 ? -(double)a : (double)a;
#endif
}

/* Gets the diagonal block of a node plus the shift, row by row. Returns 1 if the sweep has a zero on the diagonal that PETSc reports. */
SOR_BOTH int SORBlock(const SysInt *i, const SysInt *j, const SysScalar *a, SysInt node, int bs, SysReal omega, SysReal shift, SysScalar *D)
{
  int zero = 0;

  for (int k = 0; k < bs * bs; k++) D[k] = 0;
  for (int r = 0; r < bs; r++) {
    for (SysInt k = i[node * bs + r]; k < i[node * bs + r + 1]; k++) {
      const SysInt q = j[k] - node * bs;

      if (q >= 0 && q < bs) D[r * bs + q] = a[k];
    }
    if (omega == 1 && shift <= 0) zero = zero || SORSize(D[r * bs + r]) == 0;
    else D[r * bs + r] += shift;
  }
  return zero;
}

/* Inverts a block by Gauss and Jordan with the largest pivots of the columns. Returns 1 if a pivot is zero. */
SOR_BOTH int SORInvert(int bs, SysScalar *D)
{
  int swap[SOR_BLOCK_MOST];

  for (int c = 0; c < bs; c++) {
    SysScalar inverse;
    int       best = c;

    for (int r = c + 1; r < bs; r++) {
      if (SORSize(D[r * bs + c]) > SORSize(D[best * bs + c])) best = r;
    }
    if (SORSize(D[best * bs + c]) == 0) return 1;
    swap[c] = best;
    for (int k = 0; best != c && k < bs; k++) {
      const SysScalar d = D[c * bs + k];

      D[c * bs + k]    = D[best * bs + k];
      D[best * bs + k] = d;
    }
    inverse       = (SysScalar)1 / D[c * bs + c];
    D[c * bs + c] = 1;
    for (int k = 0; k < bs; k++) D[c * bs + k] *= inverse;
    for (int r = 0; r < bs; r++) {
      const SysScalar d = D[r * bs + c];

      if (r == c) continue;
      D[r * bs + c] = 0;
      for (int k = 0; k < bs; k++) D[r * bs + k] -= d * D[c * bs + k];
    }
  }
  for (int c = bs - 1; c >= 0; c--) { /* the columns, against the rows' order */
    for (int r = 0; swap[c] != c && r < bs; r++) {
      const SysScalar d = D[r * bs + c];

      D[r * bs + c]       = D[r * bs + swap[c]];
      D[r * bs + swap[c]] = d;
    }
  }
  return 0;
}
