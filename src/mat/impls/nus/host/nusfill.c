/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Filling: writes the entries of a tile to the slots of its layout
*/
#include "mat/impls/nus/host/nuslayout.h"

/* A chunk's values, the index of its first value, and its columns */
typedef struct {
  int64_t   val;
  uint16_t *col;
  void     *values;
  uint32_t  base;
} Position;

static SYS_INLINE void SetColumn(const int kind, Position p, int64_t i, SysInt col)
{
  const uint32_t distance = (uint32_t)(col - p.base);

  if (kind == NUS_NARROW) p.col[i] = (uint16_t)distance;
  else __builtin_memcpy(p.col + 2 * i, &distance, sizeof(distance));
}

/* Stores the value of entry k of the matrix */
static SYS_INLINE void SetValue(const SysStorage stored, const NusHost *A, Position p, int64_t i, SysInt k)
{
  SysValuesPut(stored, p.values, p.val + i, A->csr.a, A->position, k);
}

/* Fills the slots without an entry, from slot i on */
static SYS_INLINE void FillRest(const int kind, const SysFill what, const SysStorage stored, Position p, int64_t i, int64_t slots, int stride)
{
  for (; i < slots && what != SYS_FILL_VALUES; i += stride) {
    if (what == SYS_FILL_ALL) SysValuesPutZero(stored, p.values, p.val + i);
    SetColumn(kind, p, i, (SysInt)p.base);
  }
}

/* Writes the entries of row r to every stride-th slot and fills the rest */
static SYS_INLINE void FillRow(const int kind, const int listed, const SysFill what, const SysStorage stored, const NusHost *A, const NusPart *P, int r, Position p, int64_t slots, int stride)
{
  int64_t i = 0;

  for (SysInt k = P->beg[r]; k < P->beg[r + 1]; k++, i += stride) {
    if (what != SYS_FILL_PATTERN) SetValue(stored, A, p, i, listed ? P->entry[k] : k);
    if (what != SYS_FILL_VALUES) SetColumn(kind, p, i, P->col[k]);
  }
  FillRest(kind, what, stored, p, i, slots, stride);
}

static SYS_INLINE void FillDiagonals(const SysFill what, const SysStorage stored, const NusHost *A, const NusPart *P, int r0, int nl, int C, uint32_t n, Position p)
{
  NusDiagonals d;

  if (nl == C && NusShifted(P, r0, nl, C)) {
    for (uint32_t i = 0; i < n; i++) {
      const uint32_t first = (uint32_t)P->col[P->beg[r0] + i];

      for (int l = 0; l < C && what != SYS_FILL_PATTERN; l++) SetValue(stored, A, p, (int64_t)C * i + l, P->entry ? P->entry[P->beg[r0 + l] + i] : P->beg[r0 + l] + (SysInt)i);
      if (what != SYS_FILL_VALUES) __builtin_memcpy(p.col + 2 * (int64_t)i, &first, sizeof(first));
    }
    return;
  }
  NusStartDiagonals(P, r0, nl, C, &d);
  for (uint32_t i = 0; i < n; i++) {
    const SysInt   least = NusLeastDiagonal(C, &d);
    const uint32_t first = (uint32_t)least;

    for (int l = 0; l < C; l++) {
      const int64_t to = (int64_t)C * i + l;

      if (what != SYS_FILL_PATTERN) SysValuesPutZero(stored, p.values, p.val + to);
      if (d.head[l] != least) continue;
      if (what != SYS_FILL_PATTERN) SetValue(stored, A, p, to, P->entry ? P->entry[d.pos[l]] : d.pos[l]);
      d.pos[l]++;
      NusHead(P, r0, l, &d);
    }
    if (what != SYS_FILL_VALUES) __builtin_memcpy(p.col + 2 * (int64_t)i, &first, sizeof(first));
  }
}

static SYS_INLINE void FillChunk(const int kind, const int listed, const SysFill what, const SysStorage stored, const NusHost *A, const NusTile *T, const NusPart *P, int c, NusChunk h, Position p)
{
  const int       C    = A->params.c;
  const uint16_t *perm = A->perm + T->perm;

  if (c < T->nsplit) {
    FillRow(kind, listed, what, stored, A, P, perm[c], p, (int64_t)C * h.n, 1);
    return;
  }
  for (int l = 0; l < C; l++) {
    const int k = (c - T->nsplit) * C + l, r = T->sorted ? (k < T->nrow ? perm[T->nsplit + k] : P->nrow) : C * perm[c] + l;
    Position  lane = p;

    lane.val += l;
    lane.col += kind == NUS_NARROW ? l : 2 * l;
    if (r < P->nrow) FillRow(kind, listed, what, stored, A, P, r, lane, (int64_t)C * h.n - l, C);
    else FillRest(kind, what, stored, lane, 0, (int64_t)C * h.n, C);
  }
}

/* Writes chunk c, of any kind */
static SYS_INLINE void FillAnyChunk(const int listed, const SysFill what, const SysStorage stored, const NusHost *A, const NusTile *T, const NusPart *P, int c, NusChunk h, Position p)
{
  const int C = A->params.c;

  p.base = h.base;
  if (h.kind == NUS_DIAGONAL) {
    const int r0 = C * A->perm[T->perm + c];

    FillDiagonals(what, stored, A, P, r0, (int)SysMin(C, P->nrow - r0), C, h.n, p);
  } else if (h.kind == NUS_NARROW) FillChunk(NUS_NARROW, listed, what, stored, A, T, P, c, h, p);
  else FillChunk(NUS_WIDE, listed, what, stored, A, T, P, c, h, p);
}

static SYS_INLINE void FillSELL(const int listed, const SysFill what, const SysStorage stored, const NusHost *A, const NusTile *T, const NusPart *P)
{
  const int C = A->params.c;
  Position  p = {T->slot, A->col + T->col, A->val, 0};

  for (int c = 0; c < T->nfilled; c++) {
    const NusChunk h = A->chunk[T->chunk + c];

    FillAnyChunk(listed, what, stored, A, T, P, c, h, p);
    p.val += (int64_t)C * h.n;
    p.col += (int64_t)NusStepUnits(h.kind, C) * h.n;
  }
}

void NusFillChunk(const NusHost *A, const NusTile *T, const NusPart *P, int c, SysFill what, SysScalar *val, uint16_t *col)
{
  const NusChunk h = A->chunk[T->chunk + c];
  const Position p = {0, col, val, 0};

  memset(val, 0, sizeof(*val) * (size_t)A->params.c * h.n);
  if (what == SYS_FILL_VALUES && P->entry) FillAnyChunk(1, SYS_FILL_VALUES, SYS_STORAGE_PLAIN, A, T, P, c, h, p);
  else if (what == SYS_FILL_VALUES) FillAnyChunk(0, SYS_FILL_VALUES, SYS_STORAGE_PLAIN, A, T, P, c, h, p);
  else if (P->entry) FillAnyChunk(1, SYS_FILL_ALL, SYS_STORAGE_PLAIN, A, T, P, c, h, p);
  else FillAnyChunk(0, SYS_FILL_ALL, SYS_STORAGE_PLAIN, A, T, P, c, h, p);
}

static SYS_INLINE void FillJDS(const SysFill what, const SysStorage stored, const NusHost *A, const NusTile *T, const NusPart *P)
{
  const uint16_t *perm = A->perm + T->perm;
  const uint32_t *diag = A->diag + T->diag;
  const Position  p    = {T->slot, A->col + T->col, A->val, T->base};

  for (int k = 0; k < T->nrow; k++) {
    for (SysInt i = 0; i < P->beg[perm[k] + 1] - P->beg[perm[k]]; i++) {
      const SysInt  e    = P->beg[perm[k]] + i;
      const int64_t slot = (int64_t)diag[i] + k;

      if (what != SYS_FILL_PATTERN) SetValue(stored, A, p, slot, P->entry ? P->entry[e] : e);
      if (what != SYS_FILL_VALUES) SetColumn(T->kind, p, slot, P->col[e]);
    }
  }
}

static SYS_INLINE void FillTile(const SysFill what, const SysStorage stored, const NusHost *A, const NusTile *T, const NusPart *P)
{
  if (A->params.rows == NUS_JDS) FillJDS(what, stored, A, T, P);
  else if (P->entry) FillSELL(1, what, stored, A, T, P);
  else FillSELL(0, what, stored, A, T, P);
}

/* One function for each combination of parts, constants in the loops as is the storage of values */
static SYS_INLINE void FillTileValues(const SysStorage stored, const NusHost *A, const NusTile *T, const NusPart *P, SysFill what)
{
  if (what == SYS_FILL_VALUES) FillTile(SYS_FILL_VALUES, stored, A, T, P);
  else FillTile(SYS_FILL_ALL, stored, A, T, P);
}

void NusFillTile(const NusHost *A, const NusTile *T, const NusPart *P, SysFill what)
{
  if (what == SYS_FILL_PATTERN && A->params.rows == NUS_JDS) FillJDS(SYS_FILL_PATTERN, SYS_STORAGE_PLAIN, A, T, P);
  else if (what == SYS_FILL_PATTERN) FillSELL(0, SYS_FILL_PATTERN, SYS_STORAGE_PLAIN, A, T, P);
  else if (A->values.stored == SYS_STORAGE_PLAIN) FillTileValues(SYS_STORAGE_PLAIN, A, T, P, what);
  else if (A->values.stored == SYS_STORAGE_SINGLE) FillTileValues(SYS_STORAGE_SINGLE, A, T, P, what);
  else FillTileValues(SYS_STORAGE_PLACES, A, T, P, what);
}
