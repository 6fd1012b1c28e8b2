/*
   Writing the entries of a tile where its layout says
*/
#include "nuslayout.h"

#define INLINE inline __attribute__((always_inline))

/* Values are always written, columns and filling unless values_only */
typedef struct {
  AmbScalar *val;
  uint16_t  *col;
  uint32_t   base;
} Place;

static INLINE void SetColumn(const int kind, Place p, int64_t i, AmbInt col)
{
  const uint32_t distance = (uint32_t)(col - p.base);

  if (kind == NUS_NARROW) p.col[i] = (uint16_t)distance;
  else __builtin_memcpy(p.col + 2 * i, &distance, sizeof(distance));
}

/* The entries of row r in every stride-th of the slots */
static INLINE void FillRow(const int kind, const int listed, const int values_only, const NusPart *P, const AmbScalar *a, int r, Place p, int64_t slots, int stride)
{
  int64_t i = 0;

  for (AmbInt k = P->beg[r]; k < P->beg[r + 1]; k++, i += stride) {
    p.val[i] = a[listed ? P->entry[k] : k];
    if (!values_only) SetColumn(kind, p, i, P->col[k]);
  }
  if (values_only) return;
  for (; i < slots; i += stride) {
    p.val[i] = 0;
    SetColumn(kind, p, i, (AmbInt)p.base);
  }
}

static void FillDiagonals(const NusPart *P, const AmbScalar *a, int r0, int nl, int C, uint32_t n, Place p)
{
  NusDiagonals d;

  if (nl == C && NusShifted(P, r0, nl, C)) {
    for (uint32_t i = 0; i < n; i++) {
      const uint32_t first = (uint32_t)P->col[P->beg[r0] + i];

      for (int l = 0; l < C; l++) p.val[(int64_t)C * i + l] = a[P->entry ? P->entry[P->beg[r0 + l] + i] : P->beg[r0 + l] + (AmbInt)i];
      __builtin_memcpy(p.col + 2 * (int64_t)i, &first, sizeof(first));
    }
    return;
  }
  NusStartDiagonals(P, r0, nl, C, &d);
  for (uint32_t i = 0; i < n; i++) {
    const AmbInt   least = NusLeastDiagonal(C, &d);
    const uint32_t first = (uint32_t)least;

    for (int l = 0; l < C; l++) {
      AmbScalar *to = p.val + (int64_t)C * i + l;

      *to = 0;
      if (d.head[l] != least) continue;
      *to = a[P->entry ? P->entry[d.pos[l]] : d.pos[l]];
      d.pos[l]++;
      NusHead(P, r0, l, &d);
    }
    __builtin_memcpy(p.col + 2 * (int64_t)i, &first, sizeof(first));
  }
}

static INLINE void FillChunk(const int kind, const int listed, const int values_only, const NusHost *A, const NusTile *T, const NusPart *P, int c, NusChunk h, Place p)
{
  const int       C    = A->params.c;
  const uint16_t *perm = A->perm + T->perm;

  if (c < T->nsplit) {
    FillRow(kind, listed, values_only, P, A->csr.a, perm[c], p, (int64_t)C * h.n, 1);
    return;
  }
  for (int l = 0; l < C; l++) {
    const int k = (c - T->nsplit) * C + l, r = T->sorted ? (k < T->nrow ? perm[T->nsplit + k] : P->nrow) : C * perm[c] + l;
    Place     lane = p;

    lane.val += l;
    lane.col += kind == NUS_NARROW ? l : 2 * l;
    if (r < P->nrow) FillRow(kind, listed, values_only, P, A->csr.a, r, lane, (int64_t)C * h.n - l, C);
    else if (!values_only) {
      for (int64_t i = 0; i < (int64_t)C * h.n; i += C) {
        lane.val[i] = 0;
        SetColumn(kind, lane, i, (AmbInt)p.base);
      }
    }
  }
}

static INLINE void FillSELL(const int listed, const int values_only, const NusHost *A, const NusTile *T, const NusPart *P)
{
  const int C = A->params.c;
  Place     p = {A->val + T->slot, A->col + T->col, 0};

  for (int c = 0; c < T->nfilled; c++) {
    const NusChunk h = A->chunk[T->chunk + c];

    p.base = h.base;
    if (h.kind == NUS_DIAGONAL) {
      const int r0 = C * A->perm[T->perm + c];

      FillDiagonals(P, A->csr.a, r0, (int)NusMin(C, P->nrow - r0), C, h.n, p);
    } else if (h.kind == NUS_NARROW) FillChunk(NUS_NARROW, listed, values_only, A, T, P, c, h, p);
    else FillChunk(NUS_WIDE, listed, values_only, A, T, P, c, h, p);
    p.val += (int64_t)C * h.n;
    p.col += (int64_t)NusStepUnits(h.kind, C) * h.n;
  }
}

static void FillJDS(const NusHost *A, const NusTile *T, const NusPart *P, int values_only)
{
  const uint16_t *perm = A->perm + T->perm;
  const uint32_t *diag = A->diag + T->diag;
  const Place     p    = {A->val + T->slot, A->col + T->col, T->base};

  for (int k = 0; k < T->nrow; k++) {
    for (AmbInt i = 0; i < P->beg[perm[k] + 1] - P->beg[perm[k]]; i++) {
      const AmbInt  e    = P->beg[perm[k]] + i;
      const int64_t slot = (int64_t)diag[i] + k;

      p.val[slot] = A->csr.a[P->entry ? P->entry[e] : e];
      if (!values_only) SetColumn(T->kind, p, slot, P->col[e]);
    }
  }
}

void NusFillTile(const NusHost *A, const NusTile *T, const NusPart *P, int values_only)
{
  if (A->params.rows == NUS_JDS) FillJDS(A, T, P, values_only);
  else if (P->entry && values_only) FillSELL(1, 1, A, T, P);
  else if (P->entry) FillSELL(1, 0, A, T, P);
  else if (values_only) FillSELL(0, 1, A, T, P);
  else FillSELL(0, 0, A, T, P);
}
