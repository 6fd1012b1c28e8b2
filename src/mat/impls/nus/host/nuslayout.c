/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The layout of a scope in tiles and chunks
*/
#include <stdlib.h>
#include <string.h>

#include "mat/impls/nus/host/nuslayout.h"

SysStatus NusWorkCreate(const NusHost *A, NusWork *w)
{
  const size_t scope = A->params.sigma;

  memset(w, 0, sizeof(*w));
  w->segment = malloc(sizeof(*w->segment) * (A->nsegment + 2));
  w->beg     = malloc(sizeof(*w->beg) * (scope + 1));
  w->order   = malloc(sizeof(*w->order) * scope);
  w->chunk   = malloc(sizeof(*w->chunk) * (scope + 1));
  if (w->segment && w->beg && w->order && w->chunk) return SYS_SUCCESS;
  NusWorkDestroy(w);
  return SYS_OUT_OF_MEMORY;
}

void NusWorkDestroy(NusWork *w)
{
  free(w->segment);
  free(w->segment_of);
  free(w->row);
  free(w->col);
  free(w->entry);
  free(w->beg);
  free(w->order);
  free(w->chunk);
  free(w->bucket);
  memset(w, 0, sizeof(*w)); /* NusWorkDestroy() needs a zeroed work space */
}

static int NusLayoutScopeRows(const NusHost *A, int64_t scope)
{
  return (int)SysMin(A->params.sigma, A->csr.m - scope * A->params.sigma);
}

/* Sorts the entries of a scope by segment, if there are several segments */
SysStatus NusSplitScope(const NusHost *A, int64_t scope, NusWork *w)
{
  const int     nrow = NusLayoutScopeRows(A, scope);
  const SysInt *i    = A->csr.i + scope * A->params.sigma;
  const int64_t n    = i[nrow] - i[0];
  int64_t       position;

  if (A->nsegment == 1) return SYS_SUCCESS;
  if (n > w->capacity) {
    free(w->segment_of);
    free(w->row);
    free(w->col);
    free(w->entry);
    w->capacity   = n + n / 4;
    w->segment_of = malloc(sizeof(*w->segment_of) * w->capacity);
    w->row        = malloc(sizeof(*w->row) * w->capacity);
    w->col        = malloc(sizeof(*w->col) * w->capacity);
    w->entry      = malloc(sizeof(*w->entry) * w->capacity);
    if (!w->segment_of || !w->row || !w->col || !w->entry) {
      w->capacity = 0;
      return SYS_OUT_OF_MEMORY;
    }
  }
  memset(w->segment, 0, sizeof(*w->segment) * (A->nsegment + 2));
  for (int64_t k = 0; k < n; k++) {
    w->segment_of[k] = (uint16_t)NusSegmentOf(A, A->csr.j[i[0] + k], &position);
    w->segment[w->segment_of[k] + 2]++;
  }
  for (int64_t s = 2; s <= A->nsegment; s++) w->segment[s] += w->segment[s - 1];
  for (int r = 0; r < nrow; r++) {
    for (SysInt k = i[r]; k < i[r + 1]; k++) {
      const SysInt to = w->segment[w->segment_of[k - i[0]] + 1]++;

      (void)NusSegmentOf(A, A->csr.j[k], &position);
      w->row[to]   = (uint16_t)r;
      w->col[to]   = (SysInt)position;
      w->entry[to] = k;
    }
  }
  return SYS_SUCCESS;
}

void NusGetPart(const NusHost *A, int64_t scope, int64_t segment, const NusWork *w, NusPart *P)
{
  P->nrow  = NusLayoutScopeRows(A, scope);
  P->width = NusGathered(A, segment) ? A->ngathered : A->csr.n;
  if (A->nsegment == 1) {
    P->beg   = A->csr.i + scope * A->params.sigma;
    P->col   = A->csr.j;
    P->entry = NULL;
    return;
  }
  memset(w->beg, 0, sizeof(*w->beg) * (P->nrow + 1));
  for (SysInt k = w->segment[segment]; k < w->segment[segment + 1]; k++) w->beg[w->row[k] + 1]++;
  w->beg[0] = w->segment[segment];
  for (int r = 0; r < P->nrow; r++) w->beg[r + 1] += w->beg[r];
  P->beg   = w->beg;
  P->col   = w->col;
  P->entry = w->entry;
}

static SysInt NusLayoutLength(const NusPart *P, int r)
{
  return P->beg[r + 1] - P->beg[r];
}

/* Sorts the part's rows by descending length into w->order, stably; returns the number of nonempty rows, or -1 if memory is short */
static int NusLayoutSortRows(const NusPart *P, NusWork *w)
{
  int32_t most = 0, position = 0;
  int     filled;

  for (int r = 0; r < P->nrow; r++) most = NusLayoutLength(P, r) > most ? (int32_t)NusLayoutLength(P, r) : most;
  if (most >= w->nbucket) {
    free(w->bucket);
    w->nbucket = most + 1;
    w->bucket  = malloc(sizeof(*w->bucket) * w->nbucket);
    if (!w->bucket) {
      w->nbucket = 0;
      return -1;
    }
  }
  memset(w->bucket, 0, sizeof(*w->bucket) * (most + 1));
  for (int r = 0; r < P->nrow; r++) w->bucket[NusLayoutLength(P, r)]++;
  filled = P->nrow - w->bucket[0];
  for (int32_t len = most; len >= 0; len--) {
    const int32_t n = w->bucket[len];

    w->bucket[len] = position;
    position += n;
  }
  for (int r = 0; r < P->nrow; r++) w->order[w->bucket[NusLayoutLength(P, r)]++] = (uint16_t)r;
  return filled;
}

/* Extends [lo, hi] by the columns of row r */
static void NusLayoutReach(const NusPart *P, int r, SysInt *lo, SysInt *hi)
{
  SysInt least = *lo, most = *hi;

  for (SysInt k = P->beg[r]; k < P->beg[r + 1]; k++) {
    least = P->col[k] < least ? P->col[k] : least;
    most  = P->col[k] > most ? P->col[k] : most;
  }
  *lo = least;
  *hi = most;
}

/* Returns the steps of a chunk of consecutive rows whose lanes have consecutive columns in every step, or -1 if there are more than limit */
static int64_t NusLayoutDiagonalSteps(const NusPart *P, int r0, int nl, int C, int64_t limit)
{
  NusDiagonals d;
  int64_t      n = 0, taken = 0;

  if (NusShifted(P, r0, nl, C)) return NusLayoutLength(P, r0);
  NusStartDiagonals(P, r0, nl, C, &d);
  for (;; n++) {
    const SysInt least = NusLeastDiagonal(C, &d);

    if (least == P->width) return n;
    if (n == limit || least < 0 || least > P->width - C || (n >= 16 && 2 * taken < n * nl)) return -1; /* the fit is already bad and does not recover */
    for (int l = 0; l < nl; l++) {
      if (d.head[l] != least) continue;
      d.pos[l]++;
      taken++;
      NusHead(P, r0, l, &d);
    }
  }
}

/* Forms a chunk of nl rows, consecutive ones if rows is NULL, and sets its least and greatest column */
static NusChunk NusLayoutMakeChunk(const NusPart *P, const uint16_t *rows, int r0, int nl, int C, int shared, SysInt *lo, SysInt *hi)
{
  SysInt   n = 0;
  NusChunk h;

  *lo = (SysInt)P->width;
  *hi = -1;
  for (int l = 0; l < nl; l++) {
    const int r = rows ? rows[l] : r0 + l;

    if (NusLayoutLength(P, r) > n) n = NusLayoutLength(P, r);
    NusLayoutReach(P, r, lo, hi);
  }
  h.n    = (uint32_t)n;
  h.kind = *hi - *lo <= UINT16_MAX ? NUS_NARROW : NUS_WIDE;
  h.base = (uint32_t)*lo;
  if (!rows && n) {
    const int64_t bytes = n * (C * sizeof(SysScalar) + 2 * NusStepUnits(h.kind, C));
    const int64_t most  = shared ? n + n / 2 : bytes / (int64_t)(C * sizeof(SysScalar) + 2 * NusStepUnits(NUS_DIAGONAL, C)); /* shared values take few bytes, so a chunk may have more steps */
    const int64_t steps = NusLayoutDiagonalSteps(P, r0, nl, C, most);

    if (steps >= 0) {
      h.n    = (uint32_t)steps;
      h.kind = NUS_DIAGONAL;
      h.base = 0;
    }
  }
  return h;
}

/* Adds a chunk to its tile's counts */
static void NusLayoutAddChunk(const NusPart *P, NusChunk h, SysInt lo, SysInt hi, int C, NusTile *T)
{
  if (h.kind == NUS_DIAGONAL) { /* lanes without an entry extend the range of columns */
    lo = (SysInt)(lo > C ? lo - C : 0);
    hi = (SysInt)SysMin((int64_t)hi + C, P->width - 1);
  }
  if (h.n) {
    T->lo = SysMin(T->lo, lo);
    if (hi >= T->hi) T->hi = hi + (int64_t)1;
  }
  T->nslot += (int64_t)C * h.n;
  T->ncol += (int64_t)NusStepUnits(h.kind, C) * h.n;
}

/* A chunk of consecutive rows */
typedef struct {
  NusChunk chunk;
  int      row;
  SysInt   lo, hi;
} NusLayoutMade;

/* Returns the index of a recent chunk whose entries equal the entries of rows r ..., shifted by a constant, and sets *made without walking the diagonals; -1
   if there is none. Chunks at the ends of x are excluded: the walk clips there. */
static int NusLayoutRepeat(const NusPart *P, const NusLayoutMade *recent, int n, int r, int C, NusLayoutMade *made)
{
  for (int k = 0; k < n; k++) {
    const NusLayoutMade *m = recent + k;
    SysInt               moved;

    if (m->lo < C || m->hi > P->width - C || !NusRepeats(P, m->row, r, C)) continue;
    moved = P->col[P->beg[r]] - P->col[P->beg[m->row]];
    if (m->lo + moved < C || m->hi + moved > P->width - C) continue;
    *made = (NusLayoutMade){m->chunk, r, m->lo + moved, m->hi + moved};
    if (m->chunk.kind != NUS_DIAGONAL) made->chunk.base = (uint32_t)made->lo;
    return 1;
  }
  return 0;
}

static double NusLayoutTileBytes(const NusTile *T)
{
  return sizeof(SysScalar) * (double)T->nslot + sizeof(uint16_t) * (double)T->ncol + sizeof(NusChunk) * (double)T->nchunk + sizeof(uint16_t) * (double)T->nperm + (T->ndiag ? sizeof(uint32_t) * (T->ndiag + 1.) : 0);
}

/* Forms chunks of rows in their order. Empty chunks come last in the first tile of a scope; other tiles omit them. */
static void NusLayoutPlainTile(const NusPart *P, int C, int shared, NusWork *w, NusTile *T)
{
  NusLayoutMade recent[NUS_RECENT];
  int           c = 0;

  for (int r = 0; r < P->nrow; r += C) {
    const int     nl   = (int)SysMin(C, P->nrow - r);
    NusLayoutMade made = {.row = r};

    if (P->beg[r] == P->beg[r + nl]) continue;
    if (nl < C || !NusLayoutRepeat(P, recent, (int)SysMin(c, NUS_RECENT), r, C, &made)) made.chunk = NusLayoutMakeChunk(P, NULL, r, nl, C, shared, &made.lo, &made.hi);
    NusLayoutAddChunk(P, made.chunk, made.lo, made.hi, C, T);
    recent[c % NUS_RECENT] = made;
    w->order[c]            = (uint16_t)(r / C);
    w->chunk[c++]          = made.chunk;
  }
  T->nfilled = c;
  for (int r = 0; r < P->nrow && T->first; r += C) {
    const int nl = (int)SysMin(C, P->nrow - r);

    if (P->beg[r] != P->beg[r + nl]) continue;
    w->order[c]   = (uint16_t)(r / C);
    w->chunk[c++] = (NusChunk){0, NUS_NARROW, 0};
  }
  T->nchunk = T->nperm = c;
}

/* Forms chunks of sorted rows; a row that would leave more than half of its chunk to zeros is split over the lanes */
static void NusLayoutSortedTile(const NusPart *P, int C, int filled, NusWork *w, NusTile *T)
{
  const int last = T->first ? P->nrow : filled;
  int       row = 0, c = 0;
  SysInt    lo, hi;

  T->sorted = 1;
  for (; row < filled; row++) {
    const SysInt most = NusLayoutLength(P, w->order[row]);
    int64_t      sum  = 0;

    for (int l = row; l < row + C && l < filled; l++) sum += NusLayoutLength(P, w->order[l]);
    if (most < 4 * C || 2 * sum >= (int64_t)C * most) break;
    w->chunk[c]   = NusLayoutMakeChunk(P, w->order + row, 0, 1, C, 0, &lo, &hi);
    w->chunk[c].n = (uint32_t)((most + C - 1) / C);
    NusLayoutAddChunk(P, w->chunk[c++], lo, hi, C, T);
  }
  T->nsplit = row;
  for (; row < last; row += C) {
    w->chunk[c] = NusLayoutMakeChunk(P, w->order + row, 0, (int)SysMin(C, last - row), C, 0, &lo, &hi);
    NusLayoutAddChunk(P, w->chunk[c++], lo, hi, C, T);
  }
  T->nrow    = last - T->nsplit;
  T->nchunk  = c;
  T->nfilled = T->nsplit + (filled - T->nsplit + C - 1) / C;
  T->nperm   = last;
}

/* Forms jagged diagonals of sorted rows, without filling */
static void NusLayoutJaggedTile(const NusPart *P, int C, int filled, NusWork *w, NusTile *T)
{
  SysInt lo = (SysInt)P->width, hi = -1;

  T->sorted = 1;
  T->nrow = T->nperm = T->first ? P->nrow : filled;
  T->nchunk          = (T->nrow + C - 1) / C;
  T->nfilled         = (filled + C - 1) / C;
  for (int c = 0; c < T->nchunk; c++) {
    const SysInt full = (c + 1) * C <= T->nrow ? NusLayoutLength(P, w->order[(c + 1) * C - 1]) : 0;

    w->chunk[c] = (NusChunk){(uint32_t)NusLayoutLength(P, w->order[c * C]), NUS_NARROW, (uint32_t)full};
  }
  for (int k = 0; k < filled; k++) {
    T->nslot += NusLayoutLength(P, w->order[k]);
    NusLayoutReach(P, w->order[k], &lo, &hi);
  }
  T->ndiag = filled ? (int32_t)NusLayoutLength(P, w->order[0]) : 0;
  T->kind  = hi - lo <= UINT16_MAX ? NUS_NARROW : NUS_WIDE;
  T->base  = filled ? (uint32_t)lo : 0;
  T->ncol  = T->nslot * (T->kind == NUS_NARROW ? 1 : 2);
  T->lo    = lo;
  T->hi    = hi + (int64_t)1;
}

/* Returns whether sorted chunks of some C would split a row, which changes the order of its sum */
static int NusLayoutSplits(const NusPart *P, int filled, const NusWork *w)
{
  int64_t sum = 0;

  for (int l = 0; l < NUS_MAX_C && filled; l++) {
    const int64_t C = l + 1, most = NusLayoutLength(P, w->order[0]);

    if (l < filled) sum += NusLayoutLength(P, w->order[l]);
    if (C % 8 == 0 && most >= 4 * C && 2 * sum < C * most) return 1;
  }
  return 0;
}

/* Chooses original or sorted rows for a part. Chunks that share values need the original order, or the function fails. Otherwise rows keep their
   order if that costs less than 2 % of filling or of the bytes. */
static SysStatus NusLayoutTileLayout(const NusHost *A, const NusPart *P, NusWork *w, NusTile *T)
{
  const int     C     = A->params.c;
  const int64_t total = P->beg[P->nrow] - P->beg[0];
  const NusTile empty = *T;
  NusTile       plain;
  int64_t       room;
  int           filled;

  for (int r = 0; r < P->nrow; r++) {
    if (NusLayoutLength(P, r) >= (SysInt)1 << 30) return SYS_TOO_LARGE;
  }
  if (A->params.rows == NUS_JDS) {
    filled = NusLayoutSortRows(P, w);
    if (filled < 0) return SYS_OUT_OF_MEMORY;
    NusLayoutJaggedTile(P, C, filled, w, T);
    return T->nslot > UINT32_MAX ? SYS_TOO_LARGE : SYS_SUCCESS;
  }
  if (A->params.rows == NUS_SHARED) {
    filled = NusLayoutSortRows(P, w);
    if (filled < 0) return SYS_OUT_OF_MEMORY;
    if (NusLayoutSplits(P, filled, w)) return SYS_TOO_MANY_BYTES;
    room = (filled ? (int64_t)C * NusLayoutLength(P, w->order[0]) : 0) + total + total / 2;
    NusLayoutPlainTile(P, C, 1, w, T);
    return T->nslot > room ? SYS_TOO_MANY_BYTES : SYS_SUCCESS;
  }
  NusLayoutPlainTile(P, C, 0, w, T);
  if (100 * (T->nslot - total) <= 2 * total) return SYS_SUCCESS;
  plain  = *T;
  *T     = empty;
  filled = NusLayoutSortRows(P, w);
  if (filled < 0) return SYS_OUT_OF_MEMORY;
  NusLayoutSortedTile(P, C, filled, w, T);
  if (T->nsplit || 100 * NusLayoutTileBytes(&plain) > 102 * NusLayoutTileBytes(T)) return SYS_SUCCESS;
  *T = empty;
  NusLayoutPlainTile(P, C, 0, w, T);
  return SYS_SUCCESS;
}

/* Appends the tile, its chunks and its permutation to the layout */
static SysStatus NusLayoutAppend(NusLayout *L, const NusWork *w, const NusPart *P, NusTile T)
{
  NusTile  *tile  = realloc(L->tile, sizeof(*tile) * (L->ntile + 1));
  NusChunk *chunk = realloc(L->chunk, sizeof(*chunk) * (L->nchunk + T.nchunk + 1));
  uint16_t *perm  = realloc(L->perm, sizeof(*perm) * (L->nperm + T.nperm + 1));
  uint32_t *diag  = realloc(L->diag, sizeof(*diag) * (L->ndiag + T.ndiag + 1));

  if (tile) L->tile = tile;
  if (chunk) L->chunk = chunk;
  if (perm) L->perm = perm;
  if (diag) L->diag = diag;
  if (!tile || !chunk || !perm || !diag) return SYS_OUT_OF_MEMORY;
  T.chunk = L->nchunk;
  T.perm  = L->nperm;
  T.diag  = L->ndiag;
  memcpy(chunk + T.chunk, w->chunk, sizeof(*chunk) * T.nchunk);
  memcpy(perm + T.perm, w->order, sizeof(*perm) * T.nperm);
  if (T.ndiag) {
    int k = T.nrow;

    diag[T.diag] = 0;
    for (int d = 0; d < T.ndiag; d++) {
      while (k && NusLayoutLength(P, w->order[k - 1]) <= d) k--;
      diag[T.diag + d + 1] = diag[T.diag + d] + (uint32_t)k;
    }
    L->ndiag += T.ndiag + 1;
  }
  L->nchunk += T.nchunk;
  L->nperm += T.nperm;
  tile[L->ntile++] = T;
  return SYS_SUCCESS;
}

SysStatus NusLayoutScope(const NusHost *A, int64_t scope, NusWork *w, NusLayout *L)
{
  SysStatus status = NusSplitScope(A, scope, w);

  for (int64_t s = 0; s < A->nsegment && !status; s++) {
    NusTile T = {.row = scope * A->params.sigma, .segment = (int32_t)s, .first = !L->ntile, .lo = INT64_MAX, .hi = 0};
    NusPart P;

    if (A->nsegment > 1 && w->segment[s] == w->segment[s + 1] && !(T.first && s == A->nsegment - 1)) continue; /* a scope's first tile exists even without entries, to assign y */
    NusGetPart(A, scope, s, w, &P);
    status = NusLayoutTileLayout(A, &P, w, &T);
    if (!status) status = NusLayoutAppend(L, w, &P, T);
  }
  return status;
}

void NusLayoutDestroy(NusLayout *L)
{
  free(L->tile);
  free(L->chunk);
  free(L->perm);
  free(L->diag);
}
