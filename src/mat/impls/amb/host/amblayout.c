/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The traffic model, which chooses the block size, and the layout of a scope in tiles
*/
#include <stdlib.h>
#include <string.h>

#include "mat/impls/amb/host/amblayout.h"

void AmbWorkspaceDestroy(AmbWorkspace *w)
{
  free(w->pos);
  free(w->count);
  free(w->order);
  free(w->start);
  free(w->bucket);
}

SysStatus AmbWorkspaceCreate(int scope, int nsize, AmbWorkspace *w)
{
  w->pos    = malloc(sizeof(*w->pos) * scope);
  w->count  = malloc(sizeof(*w->count) * scope * nsize);
  w->order  = malloc(sizeof(*w->order) * scope);
  w->start  = malloc(sizeof(*w->start) * (scope + 1));
  w->bucket = malloc(sizeof(*w->bucket) * (AMB_SEGMENT_WIDTH + 1));
  if (w->pos && w->count && w->order && w->start && w->bucket) return SYS_SUCCESS;
  AmbWorkspaceDestroy(w);
  return SYS_OUT_OF_MEMORY;
}

/* Sorts rows [0, nrow) by descending number of blocks into w->order, stably; returns the number of nonempty rows */
static int AmbLayoutSortRows(AmbWorkspace *w, const int32_t *count, int stride, int nrow)
{
  int32_t most = 0, position = 0;
  int     filled = 0;

  for (int r = 0; r < nrow; r++) most = count[r * stride] > most ? count[r * stride] : most;
  memset(w->bucket, 0, sizeof(*w->bucket) * (most + 1));
  for (int r = 0; r < nrow; r++) w->bucket[count[r * stride]]++;
  filled = nrow - w->bucket[0];
  for (int32_t len = most; len >= 0; len--) {
    const int32_t n = w->bucket[len];

    w->bucket[len] = position;
    position += n;
  }
  for (int r = 0; r < nrow; r++) w->order[w->bucket[count[r * stride]]++] = (uint16_t)r;
  return filled;
}

static int32_t AmbLayoutChunkLength(const int32_t *count, int stride, int row, int nrow)
{
  int32_t most = 0;

  for (int r = row; r < row + AMB_C && r < nrow; r++) most = count[r * stride] > most ? count[r * stride] : most;
  return most;
}

/* Forms chunks of rows in their order; returns their number. Empty chunks come last in the first tile of a scope; other tiles omit them. */
static int AmbLayoutPlainChunks(AmbWorkspace *w, const int32_t *count, int stride, int nrow, AmbTile *T, int64_t *steps)
{
  int c = 0;

  *steps = 0;
  for (int empty = 0; empty <= T->first; empty++) {
    for (int r = 0; r < nrow; r += AMB_C) {
      const int32_t len = AmbLayoutChunkLength(count, stride, r, nrow);

      if (empty != !len) continue;
      w->order[c]   = (uint16_t)(r / AMB_C);
      w->start[c++] = (uint32_t)*steps;
      *steps += len;
    }
    if (!empty) T->nfilled = c;
  }
  w->start[c] = (uint32_t)*steps;
  T->nchunk   = c;
  T->nrow     = 0;
  return c;
}

/*
   Lays out the tile of nrow rows, of which row r has count[r * stride] blocks of size b. Sets T->nsplit, nchunk, nfilled, nrow and sorted, w->start
   and w->order; returns the number of steps. Rows keep their order if that costs less than 2 % of the bytes.
*/
static int64_t AmbLayoutTileLayout(AmbWorkspace *w, const int32_t *count, int stride, int nrow, int b, AmbTile *T)
{
  const int64_t slot = AMB_C * (b * sizeof(SysScalar) + sizeof(uint16_t));
  int64_t       plain, total = 0, steps = 0;
  int           nplain = AmbLayoutPlainChunks(w, count, stride, nrow, T, &plain), filled, last, row = 0, c = 0;

  T->sorted = T->nsplit = 0;
  for (int r = 0; r < nrow; r++) total += count[r * stride];
  if (100 * (AMB_C * plain - total) <= 2 * total) return plain;

  /* sorted rows; a row that would leave more than half of its chunk to zeros is split over the lanes */
  filled = AmbLayoutSortRows(w, count, stride, nrow);
  last   = T->first ? nrow : filled;
  for (; row < filled; row++) {
    const int32_t most = count[w->order[row] * stride];
    int64_t       sum  = 0;

    for (int l = row; l < row + AMB_C && l < filled; l++) sum += count[w->order[l] * stride];
    if (most < 4 * AMB_C || 2 * sum >= (int64_t)AMB_C * most) break;
    w->start[c++] = (uint32_t)steps;
    steps += (most + AMB_C - 1) / AMB_C;
  }
  T->nsplit = row;
  for (; row < last; row += AMB_C) {
    w->start[c++] = (uint32_t)steps;
    steps += row < filled ? count[w->order[row] * stride] : 0;
  }
  w->start[c] = (uint32_t)steps;
  if (!T->nsplit && 100 * (plain * slot + 2 * nplain) <= 102 * (steps * slot + 2 * last)) {
    (void)AmbLayoutPlainChunks(w, count, stride, nrow, T, &plain);
    return plain;
  }
  T->sorted  = 1;
  T->nrow    = last - T->nsplit;
  T->nchunk  = c;
  T->nfilled = T->nsplit + (filled - T->nsplit + AMB_C - 1) / AMB_C;
  return steps;
}

static int AmbLayoutTilePerms(const AmbTile *T)
{
  return T->sorted ? T->nsplit + (T->nchunk - T->nsplit) * AMB_C : T->nchunk;
}

static double AmbLayoutTileBytes(const AmbTile *T, int64_t steps, int b)
{
  return (double)steps * AMB_C * (b * sizeof(SysScalar) + sizeof(uint16_t)) + sizeof(uint32_t) * (T->nchunk + 1.0) + sizeof(uint16_t) * (double)AmbLayoutTilePerms(T) + sizeof(*T);
}

static int AmbLayoutStartScope(const SysCSR *A, int64_t row, int scope, AmbWorkspace *w, AmbTile *T)
{
  const int nrow = (int)SysMin(scope, A->m - row);

  T->row   = row;
  T->first = 1;
  for (int r = 0; r < nrow; r++) w->pos[r] = A->i[row + r];
  return nrow;
}

/* Sets the columns of a scope's next segment; returns 0 after the last */
static int AmbLayoutNextSegment(const SysCSR *A, const AmbWorkspace *w, int nrow, int b, AmbTile *T)
{
  int64_t lo = A->n, last = -1;

  for (int r = 0; r < nrow; r++) {
    if (w->pos[r] < A->i[T->row + r + 1]) {
      if (A->j[w->pos[r]] < lo) lo = A->j[w->pos[r]];
      if (A->j[A->i[T->row + r + 1] - 1] > last) last = A->j[A->i[T->row + r + 1] - 1];
    }
  }
  if (last < 0) {
    if (!T->first) return 0;
    lo = 0; /* a scope without entries still assigns its rows */
  }
  T->lo   = lo;
  T->col  = lo > A->n - b ? (A->n > b ? A->n - b : 0) : lo;
  T->hi   = T->col + AMB_SEGMENT_WIDTH;
  T->only = T->first && last < T->hi;
  return 1;
}

/*
   Sets plan->bytes for every block size, or for the given one, extrapolated from windows of rows. The windows lie around entries that are spread
   evenly over the matrix, so a window's probability is proportional to its entries. Scopes have AMB_MAX_SCOPE rows, or fewer to give each thread
   eight.
*/
SysStatus AmbPlanCreate(const SysCSR *A, int block_size, int scope, int nthread, int nworker, const AmbKernels *kernels, AmbPlan *plan)
{
  const int b0 = block_size ? block_size : 1, b1 = block_size ? block_size : (int)SysMin(AMB_MAX_BLOCK, A->n > 1 ? A->n : 1);
  double    bytes[AMB_MAX_BLOCK + 1] = {0};
  int       status                   = SYS_SUCCESS;
  int64_t   window, nwindow, nsample;

  memset(plan, 0, sizeof(*plan));
  if (!scope) {
    for (scope = AMB_MAX_SCOPE; scope > 64 && (int64_t)scope * nthread * 8 > A->m; scope /= 2) { }
  }
  window  = SysMin(scope, AMB_MODEL_ROWS);
  nwindow = (A->m + window - 1) / window;
  nsample = nwindow / AMB_MODEL_EVERY > AMB_MODEL_WINDOWS ? nwindow / AMB_MODEL_EVERY : SysMin(nwindow, AMB_MODEL_WINDOWS);
  if (!A->i[A->m]) nsample = nwindow; /* a matrix without entries: sample all windows */
  plan->scope   = scope;
  plan->nthread = nthread;
  plan->trial   = (int64_t)(SYS_VALUES_LARGE / sizeof(SysScalar));
#pragma omp parallel num_threads(nworker) if (nworker > 1) reduction(| : status) reduction(+ : bytes)
  {
    AmbWorkspace w;

    status |= AmbWorkspaceCreate((int)window, 16, &w);
    if (!status) {
      for (int64_t k = omp_get_thread_num(); k < nsample; k += omp_get_num_threads()) {
        const int64_t s = nsample == nwindow ? k : AmbRowOfEntry(A, (int64_t)((k + 0.5) / nsample * A->i[A->m])) / window;
        AmbTile       T;
        const int     nrow     = AmbLayoutStartScope(A, s * window, (int)window, &w, &T);
        const double  nonzeros = A->i[T.row + nrow] - A->i[T.row], weight = nsample == nwindow ? 1 : A->i[A->m] / (nonzeros * nsample);

        while (AmbLayoutNextSegment(A, &w, nrow, b1, &T)) {
          kernels->count(A, T.row, nrow, T.lo, T.hi, w.pos, w.count);
          for (int b = b0; b <= b1; b++) bytes[b] += weight * AmbLayoutTileBytes(&T, AmbLayoutTileLayout(&w, w.count + b - 1, 16, nrow, b, &T), b);
          T.first = 0;
        }
      }
      AmbWorkspaceDestroy(&w);
    }
  }
  for (int b = b0; b <= b1; b++) {
    plan->bytes[b] = bytes[b];
    if (!plan->block_size || plan->bytes[b] < plan->bytes[plan->block_size]) plan->block_size = b;
  }
  return (SysStatus)status;
}

static int AmbLayoutAscending(const SysCSR *A, int64_t row, int nrow)
{
  int bad = 0;

  for (int r = 0; r < nrow; r++) {
    for (SysInt k = A->i[row + r] + 1; k < A->i[row + r + 1]; k++) bad |= A->j[k] <= A->j[k - 1];
  }
  return !bad;
}

static inline __attribute__((always_inline)) void AmbLayoutCountBlocks(const int b, const SysCSR *A, const AmbTile *T, int nrow, SysInt *pos, int32_t *count)
{
  for (int r = 0; r < nrow; r++) {
    const SysInt end = A->i[T->row + r + 1];
    SysInt       k   = pos[r];

    if (b == 1 && T->only) {
      count[r] = (int32_t)(end - k);
      pos[r]   = end;
    } else {
      int32_t c    = 0;
      int64_t next = 0;

      for (; k < end && A->j[k] < T->hi; k++) {
        if (A->j[k] >= next) {
          c++;
          next = (int64_t)A->j[k] + b;
        }
      }
      count[r] = c;
      pos[r]   = k;
    }
  }
}

SysStatus AmbLayoutScope(const SysCSR *A, int64_t row, int scope, int b, AmbWorkspace *w, AmbScope *L)
{
  AmbTile   T;
  const int nrow = AmbLayoutStartScope(A, row, scope, w, &T);

  if (!AmbLayoutAscending(A, row, nrow)) return SYS_NOT_ASCENDING;
  while (AmbLayoutNextSegment(A, w, nrow, b, &T)) {
    AmbTile  *tile  = realloc(L->tile, sizeof(*tile) * (L->ntile + 1));
    uint32_t *start = realloc(L->start, sizeof(*start) * (L->nstart + nrow + 1));
    uint16_t *perm  = realloc(L->perm, sizeof(*perm) * (L->nperm + nrow + AMB_C));

    if (tile) L->tile = tile;
    if (start) L->start = start;
    if (perm) L->perm = perm;
    if (!tile || !start || !perm) return SYS_OUT_OF_MEMORY;
    if (b == 1) AmbLayoutCountBlocks(1, A, &T, nrow, w->pos, w->count);
    else AmbLayoutCountBlocks(b, A, &T, nrow, w->pos, w->count);
    T.step  = L->nstep;
    T.chunk = L->nstart;
    T.perm  = L->nperm;
    L->nstep += AmbLayoutTileLayout(w, w->count, 1, nrow, b, &T);
    memcpy(start + T.chunk, w->start, sizeof(*start) * (T.nchunk + 1));
    memset(perm + T.perm, 0, sizeof(*perm) * AmbLayoutTilePerms(&T));
    memcpy(perm + T.perm, w->order, sizeof(*perm) * (T.sorted ? T.nsplit + T.nrow : T.nchunk));
    L->nstart += T.nchunk + 1;
    L->nperm += AmbLayoutTilePerms(&T);
    tile[L->ntile++] = T;
    T.first          = 0;
  }
  return SYS_SUCCESS;
}
