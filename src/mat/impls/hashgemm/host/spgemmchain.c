/* SPDX-License-Identifier: BSD-2-Clause */
/*
   P^T (A P) in chunks of the rows of A P

   A row of the result needs the rows of A P at which its column of P has entries. Multigrid numbers coarse unknowns like fine ones, so these rows are
   neighbours, and the rows of A P pass through a window:

     rows of A P   | released | needed by later rows of the result | this chunk | not computed yet |
                                <----------- in memory ----------------------->

   The kernels of the first step compute a chunk. Those of the second step then compute the rows of the result whose last row of A P is in the window.
   Pages of rows that no later row of the result needs move to the end of the window, since clearing new pages takes longer than a chunk.

   The values of P^T exist for one chunk at a time.

   Only columns remain after the product, as runs, without rows that have their predecessor's columns, such as a node's unknowns: of A P, and of P^T with the
   positions in P. New values expand them part by part, in each thread's memory.

   The bits equal the bits of whole steps: parts consist of the same batches, and each sum has the same order.

   Work besides the two steps: a pass over A P and P^T. Memory: the window, a chunk's values of P^T, 5 bytes a run of A P and 9 a run of P^T, in rows unlike their
   predecessor.
*/
#include <stdlib.h>
#include <string.h>

#include "sys/sysmemory.h"
#include "mat/impls/hashgemm/host/spgemmstep.h"

#if !defined(SPGEMM_CHAIN_LEAST)    /* tests use less */
  #define SPGEMM_CHAIN_LEAST 500000 /* entries of A from which on a window pays */
#endif
#define PARTS       8         /* least parts of a chunk: a part's expanded rows stay in a thread's caches */
#define CHUNKS      4         /* chunks: more need a smaller window, but threads wait for one another twice a chunk */
#define SAME_ROWS   0.5       /* least fraction of A's rows with their predecessor's columns */
#define WINDOW_MOST 0.6       /* largest window, as a fraction of the rows of A P */
#define SAMPLED     256       /* least rows of the result in the sample of its compression */
#define RUN_MOST    256       /* most columns of a run */
#define TRIM_LEAST  (1. / 16) /* fraction of the bytes of A from which on malloc()'s free memory returns to the system before and after a product */

/* Columns of a matrix's rows as runs of consecutive columns, without rows that have their predecessor's columns; a part's first row is always present */
typedef struct {
  SysInt  *col;       /* each run's first column */
  uint8_t *more;      /* each run's columns after the first */
  SysInt  *offset;    /* of a transpose: position of each of the run's entries in its row of the original; otherwise NULL */
  int64_t  nrun, *at; /* at: each part's first run */
  uint8_t *same;      /* one byte a row */
} ChainRows;

typedef struct {
  int        part[2];     /* of each step, the first part of the next chunk */
  int64_t    needed;      /* first row of A P that later chunks need */
  ChainRows  rows;        /* of A P; same points to the flags of all rows */
  ChainRows  turned;      /* of P^T, likewise */
  int64_t    first, last; /* rows of the result */
  SysInt    *j;           /* their entries, until SpgemmChainFill() */
  SysScalar *a;
  int64_t    nz;
} ChainChunk;

struct SpgemmChain {
  int         nchunk;
  ChainChunk *chunk;
  uint8_t    *same; /* of P^T */
};

/* An array with a moving window: bytes first <= x < end have memory */
typedef struct {
  char  *p;
  size_t size, first, end;
} ChainWindow;

static ChainWindow ChainWindowOf(void *p, size_t size)
{
  return (ChainWindow){p, size, 0, 0};
}

/* Moves the window's begin to first; bytes up to end were written */
static void ChainWindowMove(ChainWindow *w, size_t first, size_t end)
{
  const size_t mapped = SysMappedSize(w->size, SPGEMM_MAPPED_PAGES);
  size_t       n, moved;

  if (!mapped) return;
  end = (end + SYS_HUGE_PAGE - 1) / SYS_HUGE_PAGE * SYS_HUGE_PAGE;
  if (w->end < end) w->end = end;
  first = SysMin(first, end) / SYS_HUGE_PAGE * SYS_HUGE_PAGE; /* rows that are not computed yet may be needed first, and begin at 0 */
  if (first <= w->first) return;
  n     = first - w->first;
  moved = n < mapped - w->end ? n : mapped - w->end;
  if (moved && SysMovePages(w->p + w->end, w->p + w->first, moved)) w->end += moved;
  else moved = 0;
  SysForget(w->p + w->first + moved, n - moved);
  w->first = first;
}

static double ChainWindowBytes(const ChainWindow *w)
{
  return SysMappedSize(w->size, SPGEMM_MAPPED_PAGES) ? (double)(w->end - w->first) : (double)w->size;
}

/* Returns the first row of T, from c on, that needs `row` or a later row of A P. last: the last row of A P that each row of T or an earlier one needs. */
static int64_t ChainReady(int64_t m, const SysInt *last, int64_t row, int64_t c)
{
  while (c < m && last[c] < row) c++;
  return c;
}

/* Returns, for each row of T, the first row of A P that it or a later row needs, and behind these the last that it or an earlier one needs; NULL if memory
   is short */
static SysInt *ChainReach(const SysCSR *T)
{
  SysInt *reach = malloc(sizeof(*reach) * 2 * ((size_t)T->m + 1)), *last = reach + T->m + 1, most = -1, least = (SysInt)T->n;

  if (!reach) return NULL;
  for (int64_t c = 0; c < T->m; c++) {
    if (T->i[c + 1] > T->i[c] && T->j[T->i[c + 1] - 1] > most) most = T->j[T->i[c + 1] - 1];
    last[c] = most;
  }
  reach[T->m] = least;
  for (int64_t c = T->m - 1; c >= 0; c--) {
    if (T->i[c + 1] > T->i[c] && T->j[T->i[c]] < least) least = T->j[T->i[c]];
    reach[c] = least;
  }
  return reach;
}

int SpgemmChainPossible(const Spgemm *S, const SysCSR *A, const SysCSR *P)
{
  return S->type == SPGEMM_PTAP && S->options.accumulator == SPGEMM_AUTO && A->i[A->m] >= SPGEMM_CHAIN_LEAST && P->n >= SAMPLED && SpgemmLikeRowsSample(A, 0) >= SAME_ROWS;
}

int SpgemmChainChunks(const Spgemm *S, const SysCSR *A)
{
  const SysCSR *T = &S->transpose.T;
  SysInt       *reach;
  int64_t       most = 0;

  if (S->reverse) return 1;
  reach = ChainReach(T);
  if (!reach) return 1;
  for (int64_t k = 1, c = 0; k <= CHUNKS; k++) {
    const int64_t rows = A->m * k / CHUNKS - SysMin(reach[c], A->m);

    if (rows > most) most = rows;
    c = ChainReady(T->m, reach + T->m + 1, A->m * k / CHUNKS, c);
  }
  free(reach);
  return (double)most <= WINDOW_MOST * (double)A->m ? CHUNKS : 1;
}

/* ------------------------------------------------- columns ------------------------------------------------- */

static double ChainRowsBytes(const ChainRows *R)
{
  return (double)R->nrun * (double)(sizeof(*R->col) + sizeof(*R->more) + (R->offset ? sizeof(*R->offset) : 0));
}

static void ChainRowsDestroy(ChainRows *R)
{
  SpgemmRelease(R->col, sizeof(*R->col) * (size_t)R->nrun);
  SpgemmRelease(R->more, sizeof(*R->more) * (size_t)R->nrun);
  SpgemmRelease(R->offset, sizeof(*R->offset) * (size_t)R->nrun);
  free(R->at);
}

/* Returns the length of the run that begins at entry k. from: of a transpose, the entries' positions in the original, whose row starts are start[]; or NULL */
static SYS_INLINE SysInt ChainRun(const SysInt *j, const SysInt *from, const SysInt *start, SysInt k, SysInt end)
{
  SysInt n = 1;

  while (k + n < end && n < RUN_MOST && j[k + n] == j[k] + n && (!from || from[k + n] - start[j[k + n]] == from[k] - start[j[k]])) n++;
  return n;
}

/* Stores the columns of nparts parts, and sets same[] of their rows */
static SysStatus ChainRowsCreate(int nthread, int nparts, const int64_t *cuts, const SysInt *i, const SysInt *j, const SysInt *from, const SysInt *start, uint8_t *same, ChainRows *R)
{
  R->at   = malloc(sizeof(*R->at) * ((size_t)nparts + 1));
  R->same = same;
  if (!R->at) return SYS_OUT_OF_MEMORY;
#pragma omp parallel for num_threads(nthread) schedule(static) if (nthread > 1)
  for (int t = 0; t < nparts; t++) {
    R->at[t + 1] = 0;
    for (int64_t r = cuts[t]; r < cuts[t + 1]; r++) {
      const SysInt n = i[r + 1] - i[r], *row = j + i[r];

      same[r] = r > 0 && n > 1 && i[r] - i[r - 1] == n && row[0] == row[-(int64_t)n] && !memcmp(row, row - n, sizeof(*row) * (size_t)n);
      if (r > cuts[t] && same[r]) continue;
      for (SysInt k = i[r]; k < i[r + 1]; k += ChainRun(j, from, start, k, i[r + 1])) R->at[t + 1]++;
    }
  }
  R->at[0] = 0;
  for (int t = 0; t < nparts; t++) R->at[t + 1] += R->at[t];
  R->nrun   = R->at[nparts];
  R->col    = SpgemmAllocate(sizeof(*R->col) * (size_t)R->nrun);
  R->more   = SpgemmAllocate(sizeof(*R->more) * (size_t)R->nrun);
  R->offset = from ? SpgemmAllocate(sizeof(*R->offset) * (size_t)R->nrun) : NULL;
  if (!R->col || !R->more || (from && !R->offset)) return SYS_OUT_OF_MEMORY;
#pragma omp parallel for num_threads(nthread) schedule(static) if (nthread > 1)
  for (int t = 0; t < nparts; t++) {
    int64_t at = R->at[t];

    for (int64_t r = cuts[t]; r < cuts[t + 1]; r++) {
      if (r > cuts[t] && same[r]) continue;
      for (SysInt k = i[r], n; k < i[r + 1]; k += n, at++) {
        n           = ChainRun(j, from, start, k, i[r + 1]);
        R->col[at]  = j[k];
        R->more[at] = (uint8_t)(n - 1);
        if (from) R->offset[at] = from[k] - start[j[k]];
      }
    }
  }
  return SYS_SUCCESS;
}

/* Expands part t's columns; row r begins at j + i[r] */
static void ChainRowsExpand(const ChainRows *R, int t, int64_t first, int64_t last, const SysInt *i, SysInt *j)
{
  int64_t run = R->at[t];

  for (int64_t r = first; r < last; r++) {
    const SysInt n  = i[r + 1] - i[r];
    SysInt      *to = j + i[r];

    if (r > first && R->same[r]) {
      memcpy(to, to - n, sizeof(*to) * (size_t)n);
      continue;
    }
    for (const SysInt *end = to + n; to < end; run++) {
      for (SysInt col = R->col[run], q = 0; q <= R->more[run]; q++) *to++ = col + q;
    }
  }
}

/* Gathers part t's values of a transpose: entries of rows with equal columns are neighbours in the original */
static void ChainRowsGather(const ChainRows *R, int t, int64_t first, int64_t last, const SysInt *i, const SysCSR *original, SysScalar *a)
{
  int64_t run = R->at[t];

  for (int64_t r = first, g; r < last; r += g) {
    const SysInt n  = i[r + 1] - i[r];
    SysScalar   *to = a + i[r];

    for (g = 1; r + g < last && R->same[r + g];) g++;
    for (const SysScalar *end = to + n; to < end; run++) {
      for (SysInt row = R->col[run], q = 0; q <= R->more[run]; q++, to++) {
        const SysScalar *values = original->a + original->i[row + q] + R->offset[run];

        for (int64_t l = 0; l < g; l++) to[l * n] = values[l];
      }
    }
  }
}

/* ------------------------------------------------- the product ------------------------------------------------- */

static SysStatus ChainAppendCuts(SpgemmStep *step, const SpgemmStep *chunk, int64_t first)
{
  int64_t *cuts = realloc(step->cuts, sizeof(*cuts) * (size_t)(step->npart + chunk->npart + 1));

  if (!cuts) return SYS_OUT_OF_MEMORY;
  step->cuts = cuts;
  for (int t = 0; t <= chunk->npart; t++) cuts[step->npart + t] = first + chunk->cuts[t];
  step->npart += chunk->npart;
  if (step->nthread < chunk->nthread) step->nthread = chunk->nthread;
  return SYS_SUCCESS;
}

static void ChainReleaseRows(ChainChunk *chunk)
{
  SpgemmRelease(chunk->j, sizeof(*chunk->j) * (size_t)chunk->nz);
  SpgemmRelease(chunk->a, sizeof(*chunk->a) * (size_t)chunk->nz);
  chunk->j = NULL;
  chunk->a = NULL;
}

/* Releases an array's pages from the first page without an entry before `first`, up to entry `last` */
static void ChainForget(const void *p, size_t entry, int64_t nz, int64_t first, int64_t last)
{
  const size_t begin = entry * (size_t)first / SYS_HUGE_PAGE * SYS_HUGE_PAGE, end = entry * (size_t)last / SYS_HUGE_PAGE * SYS_HUGE_PAGE;

  if (end > begin) SpgemmForget((char *)p + begin, entry * (size_t)nz, end - begin);
}

/* Replaces a chunk's rows of P^T, of which nparts parts from step->cuts[t] on were computed, by their runs */
static SysStatus ChainKeepTurned(Spgemm *S, const SysCSR *original, ChainChunk *chunk, int t, int nparts)
{
  const SpgemmTranspose *transpose = &S->transpose;
  const SysCSR          *T         = &transpose->T;
  const SpgemmStep      *step      = &S->step[1];
  const int64_t          first = T->i[chunk->first], last = T->i[chunk->last];
  const SysStatus        status = ChainRowsCreate(step->nthread, nparts, step->cuts + t, T->i, T->j, transpose->from, original->i, S->chain->same, &chunk->turned);

  if (status) return status;
  SpgemmAccount(S, ChainRowsBytes(&chunk->turned));
  ChainForget(T->j, sizeof(*T->j), T->nz, first, last);
  ChainForget(transpose->from, sizeof(*transpose->from), T->nz, first, last);
  ChainForget(T->a, sizeof(*T->a), T->nz, first, last);
  return SYS_SUCCESS;
}

/* Computes a chunk's rows of the result in *room, whose pages the next chunk reuses, and copies them. original: P */
static SysStatus ChainMakeRows(Spgemm *S, const SpgemmProduct *P, const SysCSR *original, double most, ChainChunk *chunk, SpgemmStep *room, SpgemmWork *works)
{
  SpgemmStep   *step = &S->step[1], part = {.m = chunk->last - chunk->first, .i = step->i + chunk->first, .batch = step->batch, .longestB = step->longestB};
  const double  values = (double)sizeof(SysScalar) * (double)(S->transpose.T.i[chunk->last] - S->transpose.T.i[chunk->first]);
  SpgemmProduct Q      = *P;
  int64_t       end    = 0, bound;
  SysStatus     status;

  Q.A.m = part.m;
  Q.A.i += chunk->first;
  Q.i    = part.i;
  status = SpgemmRowsToThreads(S, &Q, &part, most, PARTS);
  bound  = status ? 0 : part.bound[part.npart] + SPGEMM_PAD;
  if (!status && room->size_j < sizeof(*room->j) * (size_t)bound) {
    SpgemmReleaseEntries(room);
    if (!SpgemmAllocateEntries(room, &Q, 2 * bound)) status = SYS_OUT_OF_MEMORY;
  }
  Q.j = room->j;
  Q.a = room->a;
  SpgemmTransposeValues(original->a, S->options.nthread, S->transpose.T.i[chunk->first], S->transpose.T.i[chunk->last], &S->transpose);
  SpgemmAccount(S, values);
  if (!status) status = SpgemmMakeParts(S, &Q, &part, 0, part.npart, &end, works);
  if (!status) status = SpgemmSumI(S, &part);
  if (!status) status = ChainAppendCuts(step, &part, chunk->first);
  if (!status) status = ChainKeepTurned(S, original, chunk, step->npart - part.npart, part.npart);
  SpgemmAccount(S, -values);
  free(part.cuts);
  free(part.bound);
  if (status) return status;
  chunk->nz = end;
  chunk->j  = SpgemmAllocate(sizeof(*chunk->j) * (size_t)end);
  chunk->a  = SpgemmAllocate(sizeof(*chunk->a) * (size_t)end);
  if (!chunk->j || !chunk->a) return SYS_OUT_OF_MEMORY;
  memcpy(chunk->j, room->j, sizeof(*chunk->j) * (size_t)end);
  memcpy(chunk->a, room->a, sizeof(*chunk->a) * (size_t)end);
  SpgemmAccount(S, (double)end * (double)(sizeof(*chunk->j) + sizeof(*chunk->a)));
  return SYS_SUCCESS;
}

/* Returns the second step's operands; A P has `rows` rows so far */
static SpgemmProduct ChainOperands(Spgemm *S, const SpgemmProduct *P, int64_t rows)
{
  const double  entries = (double)P->i[rows];
  SpgemmProduct Q;

  S->inner  = (SysCSR){P->A.m, P->B.n, P->i[rows], P->i, P->j, P->a};
  Q         = SpgemmStepOperands(S, 1, NULL, NULL, NULL);
  Q.lengthB = entries / (double)rows;
  Q.far     = entries * (double)(sizeof(*P->j) + sizeof(*P->a)) >= SPGEMM_UNCACHED_BYTES;
  Q.i       = S->step[1].i;
  return Q;
}

static double ChainPreparedBytes(const SpgemmStep *step)
{
  return (double)sizeof(*step->i) * (double)(step->m + 1) + (double)step->rowsB + (double)step->m;
}

static SysStatus ChainPrepare(Spgemm *S, const SpgemmProduct *P, int chunks)
{
  SpgemmStep *step = &S->step[1];
  SysCSR     *T    = &S->transpose.T;

  S->chain = calloc(1, sizeof(*S->chain));
  if (!S->chain) return SYS_OUT_OF_MEMORY;
  S->chain->chunk = calloc((size_t)chunks, sizeof(*S->chain->chunk));
  step->m         = S->transpose.T.m;
  step->rowsB     = P->A.m;
  step->i         = SpgemmAllocate(sizeof(*step->i) * (size_t)(step->m + 1));
  step->same      = SpgemmAllocate((size_t)step->rowsB);
  S->chain->same  = SpgemmAllocate((size_t)step->m);
  T->a            = SpgemmAllocate(sizeof(*T->a) * (size_t)T->nz);
  if (!S->chain->chunk || !step->i || !step->same || !S->chain->same || !T->a) return SYS_OUT_OF_MEMORY;
  S->chain->nchunk = chunks;
  SpgemmAccount(S, ChainPreparedBytes(step));
  return SYS_SUCCESS;
}

/* Undoes ChainPrepare(), but for the values of P^T: the result will be counted first */
static void ChainDrop(Spgemm *S, const SysScalar *values)
{
  SpgemmStep *step = &S->step[1];

  SpgemmTransposeValues(values, S->options.nthread, 0, S->transpose.T.nz, &S->transpose);
  SpgemmAccount(S, (double)sizeof(*values) * (double)S->transpose.T.nz - ChainPreparedBytes(step));
  SpgemmChainDestroy(S);
  SpgemmRelease(step->i, sizeof(*step->i) * (size_t)(step->m + 1));
  SpgemmRelease(step->same, (size_t)step->rowsB);
  memset(step, 0, sizeof(*step));
}

/* Releases P^T, but for its row starts */
static void ChainReleaseTurned(Spgemm *S)
{
  SpgemmTranspose *transpose = &S->transpose;
  SysCSR          *T         = &transpose->T;

  SpgemmAccount(S, -(double)T->nz * (double)(sizeof(*T->j) + sizeof(*transpose->from)));
  SpgemmRelease((SysInt *)T->j, sizeof(*T->j) * (size_t)T->nz);
  SpgemmRelease((SysScalar *)T->a, sizeof(*T->a) * (size_t)T->nz);
  SpgemmRelease(transpose->from, sizeof(*transpose->from) * (size_t)T->nz);
  T->j            = NULL;
  T->a            = NULL;
  transpose->from = NULL;
}

/* Sets *make if the result is computed without a count, by a sample of its first rows, and the parameters of its kernels */
static SysStatus ChainDecide(Spgemm *S, SpgemmProduct *P, int64_t sample, int *make, double *most)
{
  const int64_t m = P->A.m;
  double        expected;
  SysStatus     status;

  P->A.m = sample;
  status = SpgemmCompresses(S, P, make, most, &expected);
  P->A.m = m;
  if (status || !*make) return status;
  expected *= (double)m / (double)sample;
  SpgemmSetBatch(P, &S->step[1], SPGEMM_CACHED_ENTRIES, expected / (double)m);
  P->stamps = SpgemmStamps(S, P, *most, expected);
  return SYS_SUCCESS;
}

/* Computes the chunks in order. Clears *make, after the first step, if the result should be counted. */
static SysStatus ChainMakeChunks(Spgemm *S, SpgemmProduct *P, const SysCSR *original, const SysInt *reach, SpgemmWork *works[2], int *make)
{
  SpgemmChain  *chain   = S->chain;
  SpgemmStep   *step[2] = {&S->step[0], &S->step[1]};
  const int64_t m = step[0]->m, n = step[1]->m;
  ChainWindow   window[2] = {ChainWindowOf(P->j, step[0]->size_j), ChainWindowOf(P->a, step[0]->size_a)};
  int64_t       sample = 0, ready = 0, done = 0, end = 0;
  int           decided = 0, stamps = 0;
  double        most   = 0;
  SpgemmStep    room   = {0}; /* for a chunk's rows of the result */
  SysStatus     status = SYS_SUCCESS;

  *make = 1;
  for (int k = 1; k <= CHUNKS && sample < SAMPLED; k++) sample = ChainReady(n, reach + n + 1, m * k / CHUNKS, sample); /* equal for any number of threads */
  for (int k = 0; k < chain->nchunk && !status; k++) {
    ChainChunk   *chunk = &chain->chunk[k];
    const int     part = (int)((int64_t)step[0]->npart * k / chain->nchunk), next = (int)((int64_t)step[0]->npart * (k + 1) / chain->nchunk);
    SpgemmStep    rows = {.m = step[0]->cuts[next] - step[0]->cuts[part], .i = step[0]->i + step[0]->cuts[part]};
    SpgemmProduct Q;

    chunk->part[0] = next;
    chunk->first = chunk->last = done;
    status                     = SpgemmMakeParts(S, P, step[0], part, next, &end, works[0]);
    if (!status) status = SpgemmSumI(S, &rows);
    step[0]->nonzeros = rows.nonzeros;
    if (status || !*make) continue;
    status = ChainRowsCreate(step[0]->nthread, next - part, step[0]->cuts + part, P->i, P->j, NULL, NULL, step[1]->same, &chunk->rows);
    if (status) continue;
    SpgemmAccount(S, ChainRowsBytes(&chunk->rows));
    for (int64_t r = 0; r < rows.m; r++) {
      if ((double)(rows.i[r + 1] - rows.i[r]) > step[1]->longestB) step[1]->longestB = (double)(rows.i[r + 1] - rows.i[r]);
    }
    ready = ChainReady(n, reach + n + 1, step[0]->cuts[next], ready);
    if (next == step[0]->npart) ready = n;
    if (ready >= sample) {
      Q = ChainOperands(S, P, step[0]->cuts[next]);
      if (!decided) {
        status = ChainDecide(S, &Q, sample, make, &most);
        if (status || !*make) continue;
        decided = 1;
        stamps  = Q.stamps;
      }
      Q.stamps    = stamps;
      chunk->last = ready < n ? ready / Q.batch * Q.batch : n;
      if (chunk->last > done) status = ChainMakeRows(S, &Q, original, most, chunk, &room, works[1]);
    }
    done           = chunk->last;
    chunk->part[1] = step[1]->npart;
    chunk->needed  = SysMin(reach[done], m);
    SpgemmAccount(S, ChainWindowBytes(&window[0]) + ChainWindowBytes(&window[1]));
    SpgemmAccount(S, -ChainWindowBytes(&window[0]) - ChainWindowBytes(&window[1]));
    ChainWindowMove(&window[0], sizeof(*P->j) * (size_t)P->i[chunk->needed], sizeof(*P->j) * (size_t)end);
    ChainWindowMove(&window[1], sizeof(*P->a) * (size_t)P->i[chunk->needed], sizeof(*P->a) * (size_t)end);
  }
  SpgemmReleaseEntries(&room);
  return status;
}

SysStatus SpgemmChainMake(Spgemm *S, SpgemmProduct *P, const SysCSR *original, int chunks)
{
  SpgemmStep *step     = &S->step[0];
  SysInt     *reach    = ChainReach(&S->transpose.T);
  SpgemmWork *works[2] = {SpgemmWorksCreate(S), SpgemmWorksCreate(S)};
  SysStatus   status   = reach && works[0] && works[1] ? ChainPrepare(S, P, chunks) : SYS_OUT_OF_MEMORY;
  int         make     = 1;

  SysTrim((size_t)(TRIM_LEAST * SysCSRBytes(&P->A)));
  if (!status) status = ChainMakeChunks(S, P, original, reach, works, &make);
  SpgemmWorksEnd(S, works[0], 1);
  SpgemmWorksEnd(S, works[1], make);
  free(reach);
  if (status) return status;
  if (!make) {
    ChainDrop(S, original->a);
    return SYS_SUCCESS;
  }
  SpgemmReleaseEntries(step);
  S->inner            = (SysCSR){P->A.m, P->B.n, step->i[step->m], step->i, NULL, NULL};
  S->step[1].nonzeros = S->info.nonzeros = (double)S->step[1].i[S->step[1].m];
  ChainReleaseTurned(S);
  return SYS_SUCCESS;
}

void SpgemmChainFill(Spgemm *S, const SysCSR *A, const SysInt *i, SysInt *j, SysScalar *a)
{
  for (int k = 0; k < S->chain->nchunk; k++) {
    ChainChunk  *chunk = &S->chain->chunk[k];
    const size_t n     = (size_t)chunk->nz;

    if (!chunk->j) continue;
    memcpy(j + i[chunk->first], chunk->j, sizeof(*j) * n);
    memcpy(a + i[chunk->first], chunk->a, sizeof(*a) * n);
    ChainReleaseRows(chunk);
    SpgemmAccount(S, -(double)n * (double)(sizeof(*j) + sizeof(*a)));
  }
  SysTrim((size_t)(TRIM_LEAST * SysCSRBytes(A)));
}

/* ------------------------------------------------- new values ------------------------------------------------- */

/* Computes new values of a step's parts begin <= t < end. rows: columns of these parts of the first step's result, or of the second step's left operand, whose
   values it gathers from the original. */
static SysStatus ChainRevalueParts(const Spgemm *S, int last, const SpgemmProduct *P, int begin, int end, const ChainRows *rows, const SysCSR *original, SpgemmWork *works)
{
  const SpgemmStep *step   = &S->step[last];
  int               status = SYS_SUCCESS;

#pragma omp parallel num_threads(step->nthread) if (step->nthread > 1) reduction(| : status)
  {
    SpgemmWork *w = &works[omp_get_thread_num()];

#pragma omp for schedule(dynamic, 1) nowait
    for (int t = begin; t < end; t++) {
      const int64_t r = step->cuts[t], to = step->cuts[t + 1];
      SpgemmProduct Q = *P;

      if (status || r == to) continue;
      if (Q.placed) Q.placed += t;
      if (Q.positions) Q.positions += step->placed[t];
      if (!last) ChainRowsExpand(rows, t - begin, r, to, P->i, P->j);
      else {
        const SysInt s = P->A.i[r];

        status = SpgemmWorkPart(w, P->A.i[to] - s + 1);
        if (status) continue;
        Q.A.j  = w->partj - s;
        Q.A.a  = w->parta - s;
        Q.last = P->A.i[to] - 1;
        ChainRowsExpand(rows, t - begin, r, to, P->A.i, w->partj - s);
        ChainRowsGather(rows, t - begin, r, to, P->A.i, original, w->parta - s);
      }
      status = S->kernels->revalue(&Q, r, to, w);
    }
  }
  return (SysStatus)status;
}

SysStatus SpgemmChainRevalue(Spgemm *S, const SysCSR *A, const SysCSR *P, const SysInt *i, const SysInt *j, SysScalar *a)
{
  const size_t  size_j = sizeof(*j) * (size_t)S->inner.nz, size_a = sizeof(*a) * (size_t)S->inner.nz;
  SysInt       *wj        = SpgemmAllocate(size_j);
  SysScalar    *wa        = SpgemmAllocate(size_a);
  ChainWindow   window[2] = {ChainWindowOf(wj, size_j), ChainWindowOf(wa, size_a)};
  SpgemmWork   *works[2]  = {SpgemmWorksCreate(S), SpgemmWorksCreate(S)};
  SpgemmProduct Q[2]      = {SpgemmStepOperands(S, 0, A, P, NULL), SpgemmStepOperands(S, 1, A, P, NULL)};
  SysStatus     status    = wj && wa && works[0] && works[1] ? SYS_SUCCESS : SYS_OUT_OF_MEMORY;

  Q[0].i   = (SysInt *)S->inner.i;
  Q[0].j   = wj;
  Q[0].a   = wa;
  Q[1].B.j = wj;
  Q[1].B.a = wa;
  Q[1].i   = (SysInt *)i;
  Q[1].j   = (SysInt *)j;
  Q[1].a   = a;
  SpgemmStream(&Q[1], S->step[1].nonzeros);
  for (int s = 0; s < 2; s++) SpgemmRevalueBegin(S, &S->step[s], &Q[s]);
  for (int k = 0; k < S->chain->nchunk && !status; k++) {
    const ChainChunk *chunk    = &S->chain->chunk[k];
    const int         begin[2] = {k ? chunk[-1].part[0] : 0, k ? chunk[-1].part[1] : 0};
    const size_t      end = (size_t)S->inner.i[S->step[0].cuts[chunk->part[0]]], needed = (size_t)S->inner.i[chunk->needed];

    status = ChainRevalueParts(S, 0, &Q[0], begin[0], chunk->part[0], &chunk->rows, NULL, works[0]);
    if (!status && chunk->part[1] > begin[1]) status = ChainRevalueParts(S, 1, &Q[1], begin[1], chunk->part[1], &chunk->turned, P, works[1]);
    ChainWindowMove(&window[0], sizeof(*j) * needed, sizeof(*j) * end);
    ChainWindowMove(&window[1], sizeof(*a) * needed, sizeof(*a) * end);
    SpgemmAccount(S, ChainWindowBytes(&window[0]) + ChainWindowBytes(&window[1]));
    SpgemmAccount(S, -ChainWindowBytes(&window[0]) - ChainWindowBytes(&window[1]));
  }
  for (int s = 0; s < 2; s++) SpgemmRevalueEnd(S, &S->step[s], status);
  for (int s = 0; s < 2; s++) SpgemmWorksEnd(S, works[s], 0);
  SpgemmRelease(wj, size_j);
  SpgemmRelease(wa, size_a);
  return status;
}

void SpgemmChainDestroy(Spgemm *S)
{
  SpgemmChain *chain = S->chain;

  if (!chain) return;
  for (int k = 0; k < chain->nchunk; k++) {
    ChainRowsDestroy(&chain->chunk[k].rows);
    ChainRowsDestroy(&chain->chunk[k].turned);
    ChainReleaseRows(&chain->chunk[k]);
  }
  SpgemmRelease(chain->same, (size_t)S->step[1].m);
  free(chain->chunk);
  free(chain);
  S->chain = NULL;
}
