/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The layout of a matrix in tiles and rectangles
*/
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sys/sysmemory.h"
#include "mat/impls/tilecomposite/host/tilelayout.h"
#include "mat/impls/tilecomposite/host/tilepolicy.h"

/* A piece, in the order of rows */
typedef struct {
  SysInt  row, length;
  int64_t begin; /* in Tiles.order */
} Piece;

/* The work space of a layout, for the tiles and the rest */
typedef struct {
  SysInt  *length;   /* of each column */
  SysInt  *column;   /* the columns by length */
  SysInt  *position; /* each column's place in the tiles, or -1 */
  SysInt  *order;    /* the entries by tile, in each tile by row */
  int64_t *entries;  /* ntile + 2: each tile's first entry */
  int64_t *pieces;   /* ntile + 2: each tile's first piece */
  Piece   *piece;
  int64_t *work; /* ntile + 1: entries of a rectangle, by tile */
} Tiles;

static void TilesDestroy(Tiles *T)
{
  free(T->length);
  free(T->column);
  free(T->position);
  free(T->order);
  free(T->entries);
  free(T->pieces);
  free(T->piece);
  free(T->work);
}

/* Allocates n elements, at least one */
static void *Room(int64_t n, size_t size)
{
  return malloc(size * (size_t)(n > 0 ? n : 1));
}

/* Sorts the columns by descending length, stably; finds the number of tiles (algorithm 1) */
static SysStatus LayoutColumns(const SysCSR *A, TileLayout *L, Tiles *T)
{
  SysInt   longest = 0;
  int64_t *begin   = NULL;

  T->length   = calloc((size_t)A->n + 1, sizeof(*T->length));
  T->column   = Room(A->n, sizeof(*T->column));
  T->position = Room(A->n, sizeof(*T->position));
  if (!T->length || !T->column || !T->position) return SYS_OUT_OF_MEMORY;
  for (int64_t k = 0; k < A->nz; k++) T->length[A->j[k]]++;
  for (int64_t c = 0; c < A->n; c++) longest = T->length[c] > longest ? T->length[c] : longest;
  begin = calloc((size_t)longest + 2, sizeof(*begin));
  if (!begin) return SYS_OUT_OF_MEMORY;
  for (int64_t c = 0; c < A->n; c++) begin[longest - T->length[c] + 1]++;
  for (SysInt l = 0; l < longest; l++) begin[l + 1] += begin[l];
  for (int64_t c = 0; c < A->n; c++) T->column[begin[longest - T->length[c]]++] = (SysInt)c;
  free(begin);
  for (int64_t first = 0; first < A->n && T->length[T->column[first]] > 1 && (L->params.tiles < 0 || L->ntile < L->params.tiles); first += L->params.width) L->ntile++;
  return SYS_SUCCESS;
}

/* Assigns the columns to tiles */
static SysStatus LayoutTiles(const SysCSR *A, TileLayout *L, Tiles *T)
{
  SysRelease(L->perm, sizeof(*L->perm) * (size_t)L->ncol);
  L->ncol = SysMin((int64_t)L->ntile * L->params.width, A->n);
  L->perm = SysAllocate(sizeof(*L->perm) * (size_t)L->ncol);
  if (L->ncol && !L->perm) return SYS_OUT_OF_MEMORY;
  for (int64_t c = 0; c < A->n; c++) T->position[c] = -1;
  for (int64_t k = 0; k < L->ncol; k++) {
    L->perm[k]              = T->column[k];
    T->position[L->perm[k]] = (SysInt)k;
  }
  return SYS_SUCCESS;
}

/* Returns the column's tile; ntile for the rest */
static inline int TileOf(const TileLayout *L, const Tiles *T, SysInt column)
{
  return T->position[column] < 0 ? L->ntile : (int)(T->position[column] / L->params.width);
}

/* The progress of listing or counting a tile's entries */
typedef struct {
  int64_t entries, pieces, row; /* row: of the last entry */
  int64_t length;               /* of the last piece */
} Cursor;

/* Lists the tiles' entries and pieces, or only counts them */
static void LayoutWalk(const SysCSR *A, const TileLayout *L, Tiles *T, int list, Cursor at[])
{
  for (int t = 0; t <= L->ntile; t++) at[t] = (Cursor){0, 0, -1, 0};
  for (int64_t r = 0; r < A->m; r++) {
    for (SysInt k = A->i[r]; k < A->i[r + 1]; k++) {
      const int t = TileOf(L, T, A->j[k]);
      Cursor   *c = at + t;

      if (c->row != r || (L->params.coo && t < L->ntile ? c->entries % L->params.work == 0 : c->length == TILE_PIECE)) {
        c->row    = r;
        c->length = 0;
        if (list) T->piece[T->pieces[t] + c->pieces] = (Piece){(SysInt)r, 0, T->entries[t] + c->entries};
        c->pieces++;
      }
      c->length++;
      if (list) {
        T->order[T->entries[t] + c->entries] = k;
        T->piece[T->pieces[t] + c->pieces - 1].length++;
      }
      c->entries++;
    }
  }
}

static SysStatus LayoutPieces(const SysCSR *A, const TileLayout *L, Tiles *T)
{
  const int nt     = L->ntile + 1;
  Cursor   *at     = malloc(sizeof(*at) * (size_t)nt);
  SysStatus status = SYS_OUT_OF_MEMORY;

  free(T->order);
  free(T->entries);
  free(T->pieces);
  free(T->piece);
  T->order   = NULL;
  T->piece   = NULL;
  T->entries = calloc((size_t)nt + 1, sizeof(*T->entries));
  T->pieces  = calloc((size_t)nt + 1, sizeof(*T->pieces));
  if (at && T->entries && T->pieces) {
    LayoutWalk(A, L, T, 0, at);
    for (int t = 0; t < nt; t++) {
      T->entries[t + 1] = T->entries[t] + at[t].entries;
      T->pieces[t + 1]  = T->pieces[t] + at[t].pieces;
    }
    T->order = Room(T->entries[nt], sizeof(*T->order));
    T->piece = Room(T->pieces[nt], sizeof(*T->piece));
    if (T->order && T->piece) {
      LayoutWalk(A, L, T, 1, at);
      status = SYS_SUCCESS;
    }
  }
  free(at);
  return status;
}

/* Finds the rows without or with several pieces, long ones first, and each row's first slot; first[r] is -1 for a row with one piece */
static SysStatus LayoutSlots(TileLayout *L, const Tiles *T, SysInt first[])
{
  int64_t long_at = 0, at;

  for (int64_t r = 0; r < L->m; r++) first[r] = 0;
  for (int64_t p = 0; p < L->npiece; p++) first[T->piece[p].row]++;
  for (int64_t r = 0; r < L->m; r++) {
    L->nsum += first[r] != 1;
    L->nlong += first[r] > TILE_LONG;
    if (first[r] != 1) L->nslot += first[r];
  }
  L->row  = SysAllocate(sizeof(*L->row) * (size_t)L->nsum);
  L->slot = SysAllocate(sizeof(*L->slot) * (size_t)(L->nsum + 1));
  if ((L->nsum && !L->row) || !L->slot) return SYS_OUT_OF_MEMORY;
  at = L->nlong;
  for (int64_t r = 0; r < L->m; r++) {
    if (first[r] != 1) L->row[first[r] > TILE_LONG ? long_at++ : at++] = (SysInt)r;
    else first[r] = -1;
  }
  L->slot[0] = 0;
  for (int64_t k = 0; k < L->nsum; k++) {
    const SysInt n = first[L->row[k]];

    first[L->row[k]] = L->slot[k];
    L->slot[k + 1]   = L->slot[k] + n;
  }
  return SYS_SUCCESS;
}

/* Sorts pieces p0 to p1 - 1 by descending length, stably, into sorted[]; lists the runs of equal lengths */
static int64_t LayoutSort(const Piece *piece, int64_t p0, int64_t p1, int64_t sorted[], TileRun run[])
{
  int64_t begin[TILE_PIECE + 1] = {0}, nrun = 0, sum = p0;

  for (int64_t p = p0; p < p1; p++) begin[piece[p].length]++;
  for (int64_t l = TILE_PIECE; l > 0; l--) {
    const int64_t n = begin[l];

    if (n && run) run[nrun++] = (TileRun){l, n};
    begin[l] = sum;
    sum += n;
  }
  for (int64_t p = p0; p < p1; p++) sorted[begin[piece[p].length]++] = p;
  return nrun;
}

/* Returns the model's seconds of an entry in columns first to last - 1 by length. The caches hold the most frequent ones. In a tile these are
   contiguous; elsewhere a column occupies a line with few other useful columns. */
static double ReadTime(const SysCSR *A, const Tiles *T, const TileModel *model, int64_t first, int64_t last, int tile)
{
  const int64_t step  = 32;
  const double  lines = ceil((double)A->n * sizeof(SysScalar) / TILE_LINE);
  double        sum = 0, entries = 0;

  for (int64_t k = first; k < last; k += step) {
    const double columns = (double)(k - first + step / 2), bytes = tile ? sizeof(SysScalar) * columns : TILE_LINE * lines * -expm1(-columns / lines);
    double       here = 0;

    for (int64_t c = k; c < k + step && c < last; c++) here += (double)T->length[T->column[c]];
    entries += here;
    sum += here * TileRead(model, bytes, here / (double)(SysMin(last - k, step) * model->units) * (tile ? TILE_SECTOR / (double)sizeof(SysScalar) : 1));
  }
  return entries > 0 ? sum / entries : 0;
}

/* Returns the fraction of entries in another sector of x than their predecessor in the row */
static double ReadApart(const SysCSR *A)
{
  int64_t apart = 0;

  for (int64_t r = 0; r < A->m; r++) {
    for (SysInt k = A->i[r]; k < A->i[r + 1]; k++) apart += k == A->i[r] || A->j[k] / (SysInt)(TILE_SECTOR / sizeof(SysScalar)) != A->j[k - 1] / (SysInt)(TILE_SECTOR / sizeof(SysScalar));
  }
  return A->nz ? (double)apart / (double)A->nz : 1;
}

/* The input of the choice of tiles */
typedef struct {
  TilePart *part;   /* the tiles and the rest */
  TileRun  *run;    /* all runs */
  int64_t  *length; /* a row's entries in the rest, and its pieces in tiles */
  int64_t  *pieces;
  double   *buffer; /* work space of the model */
} Plan;

/* Sets the runs of the rest; returns the seconds for the rows and slots added */
static double PlanRest(const TileLayout *L, const TileModel *model, int ntile, const Plan *P, TileRun run[])
{
  TilePart     *rest                  = P->part + ntile;
  int64_t       count[TILE_PIECE + 1] = {0}, nsum = 0, nslot = 0;
  const int64_t ncol = SysMin((int64_t)ntile * L->params.width, L->n);

  for (int64_t r = 0; r < L->m; r++) {
    const int64_t long_ones = P->length[r] / TILE_PIECE, last = P->length[r] % TILE_PIECE, pieces = P->pieces[r] + long_ones + (last > 0);

    count[TILE_PIECE] += long_ones;
    count[last] += last > 0;
    nsum += pieces != 1;
    nslot += pieces != 1 ? pieces : 0;
  }
  rest->nrun = 0;
  rest->run  = run;
  for (int64_t l = TILE_PIECE; l > 0; l--) {
    if (count[l]) run[rest->nrun++] = (TileRun){l, count[l]};
  }
  return (ncol ? model->meet + model->copy * (double)ncol : 0) + (nsum ? model->meet + model->sum * (double)(nslot + nsum) : 0);
}

/* Chooses the number of tiles, if open, and the sizes of rectangles. T has all tiles of algorithm 1; with fewer tiles the rest includes the others. */
static SysStatus PlanMake(const SysCSR *A, TileLayout *L, Tiles *T, const TileModel *model, int64_t sorted[], const Plan *P)
{
  const int    full = L->ntile, open = L->params.tiles < 0 && !L->params.coo;
  const double apart = ReadApart(A);
  TileRun     *run   = P->run;
  double       least = 0;
  SysStatus    status;

  for (int t = 0; t < full; t++) {
    const int64_t first = (int64_t)t * L->params.width;

    P->part[t] = (TilePart){LayoutSort(T->piece, T->pieces[t], T->pieces[t + 1], sorted, run), run, L->params.width > TILE_NARROW, ReadTime(A, T, model, first, SysMin(first + L->params.width, A->n), 1), 0};
    run += P->part[t].nrun;
    for (int64_t p = T->pieces[t]; p < T->pieces[t + 1]; p++) P->pieces[T->piece[p].row]++;
  }
  for (int64_t p = T->pieces[full]; p < T->pieces[full + 1]; p++) P->length[T->piece[p].row] += T->piece[p].length;
  for (int t = full; t >= 0; t--) { /* tiles before t, and the rest */
    if (t == full || t == 0 || (t & (t - 1)) == 0) {
      TilePart    *part  = L->params.coo ? P->part + t : P->part;
      const int    npart = L->params.coo ? 1 : t + 1;
      const double other = model->launch + PlanRest(L, model, t, P, run);
      double       time;

      P->part[t].wide = 1; /* tile t now belongs to the rest */
      P->part[t].read = model->read[0] + apart * (ReadTime(A, T, model, SysMin((int64_t)t * L->params.width, A->n), A->n, 0) - model->read[0]);
      for (int k = 0; k < npart; k++) part[k].work = L->params.work;
      time = other + (L->params.work ? TilePredict(model, npart, part, P->buffer) : TilePartition(model, npart, part, t == full ? INFINITY : least - other, P->buffer));
      if (t == full || time < least) {
        least = time;
        for (int k = 0; k < npart; k++) T->work[part + k - P->part] = part[k].work;
        L->ntile = t;
      }
    }
    if (!open) break;
    if (t) {
      for (int64_t p = T->pieces[t - 1]; p < T->pieces[t]; p++) {
        P->length[T->piece[p].row] += T->piece[p].length;
        P->pieces[T->piece[p].row]--;
      }
    }
  }
  L->time = least;
  if (L->ntile == full) return SYS_SUCCESS;
  status = LayoutTiles(A, L, T);
  return status ? status : LayoutPieces(A, L, T);
}

static SysStatus LayoutPlan(const SysCSR *A, TileLayout *L, Tiles *T, const TileModel *model, int64_t sorted[])
{
  Plan      P      = {calloc((size_t)L->ntile + 1, sizeof(*P.part)), Room(T->pieces[L->ntile + 1] + TILE_PIECE, sizeof(*P.run)), calloc((size_t)A->m + 1, sizeof(*P.length)), calloc((size_t)A->m + 1, sizeof(*P.pieces)), Room(2 * (int64_t)model->warps, sizeof(*P.buffer))};
  SysStatus status = P.part && P.run && P.length && P.pieces && P.buffer ? PlanMake(A, L, T, model, sorted, &P) : SYS_OUT_OF_MEMORY;

  free(P.part);
  free(P.run);
  free(P.length);
  free(P.pieces);
  free(P.buffer);
  return status;
}

/* Appends a rectangle with the next entries and pieces */
static void LayoutAdd(TileLayout *L, TileKind kind, int tile, int64_t piece, int64_t pieces, int64_t steps, int64_t groups)
{
  const int64_t entries = steps * groups * TILE_WARP;

  if (L->work) L->work[L->nwork] = (TileWork){L->nentry, (uint32_t)piece, (uint32_t)pieces, (uint32_t)steps, (uint32_t)kind + 4 * (uint32_t)tile};
  L->nwork++;
  L->count[kind]++;
  L->entries[kind] += (double)entries;
  L->nentry += entries;
  if (tile < L->ntile && L->params.width <= TILE_NARROW) L->nnarrow = L->nentry;
  if (kind == TILE_COO) L->ncoo = L->nentry;
}

/* Packs a tile's pieces into rectangles of about `work` entries */
static void LayoutPack(TileLayout *L, const Tiles *T, int tile, int64_t work, const int64_t sorted[])
{
  const int64_t p1 = T->pieces[tile + 1];
  int64_t       p  = T->pieces[tile];

  while (p < p1) {
    if (L->params.coo && tile < L->ntile) { /* the pieces of the next `work` entries */
      const int64_t begin = T->piece[p].begin, end = SysMin(begin + work, T->entries[tile + 1]);
      int64_t       q = p;

      while (q < p1 && T->piece[q].begin < end) q++;
      LayoutAdd(L, TILE_COO, tile, p, q - p, (end - begin + TILE_WARP - 1) / TILE_WARP, 1);
      p = q;
    } else {
      const int64_t w = T->piece[sorted[p]].length;
      int           rows;
      int64_t       h = TileShape(w, work, &rows);

      h = SysMin(h, p1 - p);
      if (rows) LayoutAdd(L, TILE_ROWS, tile, p, h, (w + TILE_WARP - 1) / TILE_WARP, h);
      else LayoutAdd(L, TILE_COLUMNS, tile, p, h, w, (h + TILE_WARP - 1) / TILE_WARP);
      p += h;
    }
  }
}

/* Creates the rectangles */
static SysStatus LayoutRectangles(TileLayout *L, const Tiles *T, int64_t sorted[])
{
  int64_t total;

  for (int t = 0; t <= L->ntile; t++) {
    if (L->params.coo && t < L->ntile) {
      for (int64_t p = T->pieces[t]; p < T->pieces[t + 1]; p++) sorted[p] = p;
    } else (void)LayoutSort(T->piece, T->pieces[t], T->pieces[t + 1], sorted, NULL);
  }
  for (int t = 0; t <= L->ntile; t++) LayoutPack(L, T, t, T->work[t], sorted);
  total   = L->nwork;
  L->work = SysAllocate(sizeof(*L->work) * (size_t)total);
  if (!L->work && total) return SYS_OUT_OF_MEMORY;
  L->nwork = L->nentry = L->nnarrow = L->ncoo = 0;
  for (int k = 0; k < 3; k++) {
    L->entries[k] = 0;
    L->count[k]   = 0;
  }
  for (int t = 0; t <= L->ntile; t++) LayoutPack(L, T, t, T->work[t], sorted);
  return SYS_SUCCESS;
}

static inline void LayoutPut(const TileLayout *L, int64_t to, uint32_t column, SysInt from)
{
  if (to < L->nnarrow) L->narrow[to] = (uint16_t)column;
  else L->wide[to - L->nnarrow] = column;
  L->from[to] = from;
}

static void LayoutFill(const SysCSR *A, const TileLayout *L, const Tiles *T, const int64_t sorted[], const TileWork *w)
{
  const int     tile = (int)(w->kind / 4), kind = (int)(w->kind % 4);
  const int64_t groups = kind == TILE_COLUMNS ? (w->pieces + TILE_WARP - 1) / TILE_WARP : kind == TILE_ROWS ? w->pieces : 1, n = groups * w->steps * TILE_WARP, first = (int64_t)tile * L->params.width;
  int64_t       next = w->place;

  for (int64_t k = w->place; k < w->place + n; k++) {
    LayoutPut(L, k, TILE_NO_COLUMN, -1);
    if (kind == TILE_COO) L->piece[k] = (uint16_t)(w->pieces - 1);
  }
  for (int64_t p = 0; p < w->pieces; p++) {
    const Piece *piece = T->piece + sorted[w->piece + p];

    for (int64_t k = 0; k < piece->length; k++) {
      const SysInt   entry = T->order[piece->begin + k], j = A->j[entry];
      const uint32_t column = (uint32_t)(tile < L->ntile ? T->position[j] - first : j);
      int64_t        to     = next;

      if (kind == TILE_COLUMNS) to = w->place + ((p / TILE_WARP) * w->steps + k) * TILE_WARP + p % TILE_WARP;
      else if (kind == TILE_ROWS) to = w->place + p * w->steps * TILE_WARP + k;
      else L->piece[next++] = (uint16_t)p;
      LayoutPut(L, to, column, entry);
    }
  }
}

static SysStatus LayoutMake(const SysCSR *A, const TileModel *model, int sizes_only, int nworker, TileLayout *L, Tiles *T)
{
  SysInt   *first  = Room(A->m, sizeof(*first));
  int64_t  *sorted = NULL;
  SysStatus status = first ? LayoutColumns(A, L, T) : SYS_OUT_OF_MEMORY;

  (void)nworker; /* unused without OpenMP */
  if (!status) status = LayoutTiles(A, L, T);
  if (!status) status = LayoutPieces(A, L, T);
  if (!status) {
    sorted  = Room(T->pieces[L->ntile + 1], sizeof(*sorted)); /* with fewer tiles there are no more pieces */
    T->work = Room(L->ntile + 1, sizeof(*T->work));
    if (!sorted || !T->work) status = SYS_OUT_OF_MEMORY;
  }
  if (!status) {
    for (int t = 0; t <= L->ntile; t++) T->work[t] = L->params.work ? L->params.work : TILE_WORK_HOST;
    if (model) status = LayoutPlan(A, L, T, model, sorted);
  }
  if (!status) {
    L->npiece = T->pieces[L->ntile + 1];
    L->target = SysAllocate(sizeof(*L->target) * (size_t)L->npiece);
    if (L->npiece && !L->target) status = SYS_OUT_OF_MEMORY;
  }
  if (!status) status = LayoutSlots(L, T, first);
  if (!status) status = LayoutRectangles(L, T, sorted);
  if (!status) {
    SysInt *target = Room(L->npiece, sizeof(*target)); /* of the pieces in the order of rows, so that slots are in order */

    if (target) {
      for (int64_t p = 0; p < L->npiece; p++) target[p] = first[T->piece[p].row] < 0 ? T->piece[p].row : ~(first[T->piece[p].row]++);
      for (int64_t p = 0; p < L->npiece; p++) L->target[p] = target[sorted[p]];
    } else status = SYS_OUT_OF_MEMORY;
    free(target);
  }
  if (!status && !sizes_only) {
    L->narrow = SysAllocate(sizeof(*L->narrow) * (size_t)L->nnarrow);
    L->wide   = SysAllocate(sizeof(*L->wide) * (size_t)(L->nentry - L->nnarrow));
    L->piece  = SysAllocate(sizeof(*L->piece) * (size_t)L->ncoo);
    L->from   = SysAllocate(sizeof(*L->from) * (size_t)L->nentry);
    if ((L->nnarrow && !L->narrow) || (L->nentry > L->nnarrow && !L->wide) || (L->ncoo && !L->piece) || (L->nentry && !L->from)) status = SYS_OUT_OF_MEMORY;
    else {
#pragma omp parallel for num_threads(nworker) if (nworker > 1) schedule(static)
      for (int64_t w = 0; w < L->nwork; w++) LayoutFill(A, L, T, sorted, L->work + w);
    }
  }
  free(first);
  free(sorted);
  return status;
}

/* Returns the bytes that a product reads and writes besides the entries: x in tiles, rectangles, targets, slots and rows */
static double TileLayoutOther(const TileLayout *L)
{
  return (2. * sizeof(SysScalar) + sizeof(SysInt)) * (double)L->ncol + sizeof(TileWork) * (double)L->nwork + sizeof(SysInt) * (double)L->npiece + 2. * sizeof(SysScalar) * (double)L->nslot + 2. * sizeof(SysInt) * (double)L->nsum;
}

SysStatus TileLayoutCreate(const SysCSR *A, const TileParams *params, const TileModel *model, int sizes_only, int nworker, TileLayout *L)
{
  Tiles     T = {0};
  SysStatus status;

  *L = (TileLayout){.m = A->m, .n = A->n, .nz = A->nz, .params = *params};
  if (A->n >= UINT32_MAX || A->m >= UINT32_MAX || A->nz >= UINT32_MAX) return SYS_TOO_LARGE;
  if (L->params.width < 1) L->params.width = TILE_NARROW;
  if (L->params.coo && !L->params.work) L->params.work = TILE_WORK_COO;
  status = LayoutMake(A, model, sizes_only, nworker, L, &T);
  TilesDestroy(&T);
  if (status) TileLayoutDestroy(L);
  return status;
}

double TileLayoutBytes(const TileLayout *L)
{
  return (double)L->nentry * sizeof(SysScalar) + 2. * (double)L->nnarrow + 4. * (double)(L->nentry - L->nnarrow) + 2. * (double)L->ncoo + TileLayoutOther(L);
}

double TileLayoutExtra(const TileLayout *L)
{
  return sizeof(SysInt) * (double)L->nentry;
}

void TileLayoutDestroy(TileLayout *L)
{
  SysRelease(L->perm, sizeof(*L->perm) * (size_t)L->ncol);
  SysRelease(L->work, sizeof(*L->work) * (size_t)L->nwork);
  SysRelease(L->target, sizeof(*L->target) * (size_t)L->npiece);
  SysRelease(L->row, sizeof(*L->row) * (size_t)L->nsum);
  SysRelease(L->slot, sizeof(*L->slot) * (size_t)(L->nsum + 1));
  SysRelease(L->narrow, sizeof(*L->narrow) * (size_t)L->nnarrow);
  SysRelease(L->wide, sizeof(*L->wide) * (size_t)(L->nentry - L->nnarrow));
  SysRelease(L->piece, sizeof(*L->piece) * (size_t)L->ncoo);
  SysRelease(L->from, sizeof(*L->from) * (size_t)L->nentry);
  *L = (TileLayout){0};
}

int TileIsRegular(const SysCSR *A)
{
  SysInt *length = calloc((size_t)A->n + 1, sizeof(*length)), longest = 0;

  if (!length) return 1; /* the layout would not fit in memory either */
  for (int64_t k = 0; k < A->nz; k++) length[A->j[k]]++;
  for (int64_t c = 0; c < A->n; c++) longest = length[c] > longest ? length[c] : longest;
  for (int64_t r = 0; r < A->m; r++) longest = A->i[r + 1] - A->i[r] > longest ? A->i[r + 1] - A->i[r] : longest;
  free(length);
  return (double)longest * (double)SysMin(A->m, A->n) <= TILE_REGULAR * (double)A->nz;
}
