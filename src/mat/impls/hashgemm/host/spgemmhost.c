/* SPDX-License-Identifier: BSD-2-Clause */
/*
   SpGEMM on the host: the steps of each kind of product, and the threads of each step
*/
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "sys/sysmemory.h"
#include "mat/impls/hashgemm/host/spgemmstep.h"

void SpgemmAccount(Spgemm *S, double bytes)
{
  S->bytes += bytes;
  if (S->bytes > S->info.bytes_peak) S->info.bytes_peak = S->bytes;
}

/* Returns a power of two, as a thread's windows are */
static int64_t SpgemmWindow(int nthread)
{
  int64_t columns = SPGEMM_DENSE_MAX;

  while (columns > SPGEMM_BLOCK && (double)nthread * (double)columns * (double)(sizeof(SysScalar) + 1) > SPGEMM_WINDOWS) columns /= 2;
  return columns;
}

SpgemmProduct SpgemmStepOperands(const Spgemm *S, int step, const SysCSR *A, const SysCSR *B, const SysCSR *C)
{
  const int     last = step == S->nstep - 1;
  const SysCSR *left, *right;
  SpgemmProduct P;

  SpgemmFactors(S->type, last, S->reverse, A, B, C, &S->transpose.T, &S->inner, &left, &right);
  memset(&P, 0, sizeof(P));
  P.A           = *left;
  P.B           = *right;
  P.last        = P.A.i[P.A.m] - 1;
  P.lengthB     = P.B.m ? (double)P.B.i[P.B.m] / (double)P.B.m : 0;
  P.longestB    = S->step[step].longestB;
  P.far         = (double)P.B.i[P.B.m] * (double)(sizeof(*P.j) + sizeof(*P.a)) >= SPGEMM_UNCACHED_BYTES;
  P.accumulator = S->options.accumulator;
  P.window      = SpgemmWindow(S->options.nthread);
  P.same        = S->step[step].same;
  P.shift       = S->step[step].shift;
  P.batch       = S->step[step].batch ? S->step[step].batch : SPGEMM_BATCH_LEAST;
  /* the intermediate is private, so it stays unsorted unless sorting is free or the heap needs it */
  P.unsorted  = !last && P.accumulator != SPGEMM_HEAP;
  P.unsortedB = last && S->nstep == 2 && P.B.j == S->inner.j && P.accumulator != SPGEMM_HEAP;
  return P;
}

void SpgemmSetBatch(SpgemmProduct *P, SpgemmStep *step, double part, double entries)
{
  int64_t rows = entries * SPGEMM_BATCH_MOST > part / 2 ? (int64_t)(part / 2 / entries) : SPGEMM_BATCH_MOST;

  rows        = SysMin(rows, P->A.m / SPGEMM_BATCHES);
  step->batch = P->batch = rows > SPGEMM_BATCH_LEAST ? rows : SPGEMM_BATCH_LEAST;
}

static int64_t SpgemmRowProducts(const SysCSR *A, const SysCSR *B, int64_t r)
{
  int64_t n = 0;

  for (SysInt k = A->i[r]; k < A->i[r + 1]; k++) n += B->i[A->j[k] + 1] - B->i[A->j[k]];
  return n;
}

/* Sums the products of pieces of rows, where many repeat their predecessor's columns. products: of each row, or NULL. */
static double SpgemmProductsRepeated(const SysCSR *A, const SysCSR *B, int nthread, int64_t *products)
{
  double sum = 0;

#pragma omp parallel for num_threads(nthread) schedule(static) reduction(+ : sum)
  for (int64_t first = 0; first < A->m; first += SPGEMM_REPEATS_ROWS) {
    const int64_t last = SysMin(first + SPGEMM_REPEATS_ROWS, A->m);

    for (int64_t r = first, g; r < last; r += g) {
      const int64_t n = SpgemmRowProducts(A, B, r);

      g = SpgemmRepeatedRows(A, r, last);
      for (int64_t l = 0; products && l < g; l++) products[r + l] = n;
      sum += (double)(g * n);
    }
  }
  return sum;
}

static double SpgemmProducts(const SysCSR *A, const SysCSR *B, int nthread)
{
  double n = 0;

  if (SpgemmRepeats(A)) return SpgemmProductsRepeated(A, B, nthread, NULL);
#pragma omp parallel for num_threads(nthread) schedule(static) reduction(+ : n) if (A->i[A->m] > SPGEMM_THREAD_PRODUCTS)
  for (SysInt k = 0; k < A->i[A->m]; k++) n += (double)(B->i[A->j[k] + 1] - B->i[A->j[k]]);
  return n;
}

/* Returns the products of the first of two steps, in either order */
static double SpgemmFirstProducts(const Spgemm *S, int reverse, const SysCSR *A, const SysCSR *B, const SysCSR *C)
{
  const SysCSR *left, *right;

  SpgemmFactors(S->type, 0, reverse, A, B, C, &S->transpose.T, NULL, &left, &right);
  return SpgemmProducts(left, right, S->options.nthread);
}

/* Returns a bound of all rows' entries, for a result without a count. Several threads have computed it already. With one thread, the longest row of B
   as the length of all rows is a free bound, and untouched memory costs hardly anything. enough: entries up to which such a bound suffices. */
static int64_t SpgemmBound(const SpgemmProduct *P, SpgemmStep *step, int nthread, double enough)
{
  const double rough = (double)P->A.i[P->A.m] * P->longestB;
  int64_t      n     = 0;

  if (nthread == 1 && step->npart == 1) {
    if (rough <= enough) n = (int64_t)rough;
    else
      for (int64_t r = 0; r < P->A.m; r++) n += SysMin(SpgemmRowProducts(&P->A, &P->B, r), P->B.n);
    step->bound[1] = n;
  }
  return step->bound[step->npart];
}

SysStatus SpgemmRowsToThreads(Spgemm *S, const SpgemmProduct *P, SpgemmStep *step, double most, int least)
{
  const int64_t m        = P->A.m;
  const size_t  size     = sizeof(int64_t) * (size_t)m;
  int64_t      *products = NULL, total = 0, before = 0, entries = 0;
  const int     nthread = S->options.nthread, cut = nthread > 1 || least > 1, repeats = cut && SpgemmRepeats(&P->A);
  int           t = 1;

  step->nthread = step->npart = 1;
  if (cut) {
    products = SpgemmAllocate(size);
    if (!products) return SYS_OUT_OF_MEMORY;
    SpgemmAccount(S, (double)size);
    if (repeats) total = (int64_t)SpgemmProductsRepeated(&P->A, &P->B, nthread, products) + m * SPGEMM_ROW_PRODUCTS;
    else {
#pragma omp parallel for num_threads(nthread) schedule(static) reduction(+ : total)
      for (int64_t r = 0; r < m; r++) {
        products[r] = SpgemmRowProducts(&P->A, &P->B, r);
        total += products[r] + SPGEMM_ROW_PRODUCTS;
      }
    }
    step->nthread = (int)SysMin(nthread, 1 + total / SPGEMM_THREAD_PRODUCTS);
    if (step->nthread > 1) step->npart = SPGEMM_THREAD_PARTS * step->nthread;
    if (step->nthread > 1 && most > 0 && (double)total / most > step->npart) step->npart = (int)SysMin(m, (int64_t)((double)total / most) + 1);
    if (step->npart < least) step->npart = least;
  }
  step->cuts  = calloc((size_t)step->npart + 1, sizeof(*step->cuts));
  step->bound = calloc((size_t)step->npart + 1, sizeof(*step->bound));
  if (!step->cuts || !step->bound) {
    SpgemmRelease(products, size);
    return SYS_OUT_OF_MEMORY;
  }
  for (int64_t r = 0; cut && r < m; r++) {
    const int64_t n = products[r];

    for (; t < step->npart && r % P->batch == 0 && (double)before >= (double)total * t / step->npart; t++) {
      step->cuts[t]  = r;
      step->bound[t] = entries;
    }
    before += n + SPGEMM_ROW_PRODUCTS;
    entries += SysMin(n, P->B.n);
  }
  for (; t <= step->npart; t++) {
    step->cuts[t]  = m;
    step->bound[t] = entries;
  }
  if (!cut) return SYS_SUCCESS;
  SpgemmRelease(products, size);
  SpgemmAccount(S, -(double)size);
  return SYS_SUCCESS;
}

/* Adds a finished thread's figures */
static void SpgemmWorkEnd(SpgemmWork *w, double *bytes, double *products, double rows[SPGEMM_HOST_ROWS])
{
  *bytes += w->bytes;
  *products += w->products;
  for (int k = 0; k < SPGEMM_HOST_ROWS; k++) rows[k] += w->rows[k];
  SpgemmWorkDestroy(w);
}

void SpgemmStream(SpgemmProduct *P, double nonzeros)
{
  P->stream = nonzeros * (double)sizeof(*P->a) >= SPGEMM_STREAM && (uintptr_t)P->a % sizeof(*P->a) == 0;
}

static SysStatus SpgemmRun(Spgemm *S, const SpgemmStep *step, const SpgemmProduct *P, SysStatus (*kernel)(const SpgemmProduct *, int64_t, int64_t, SpgemmWork *), double rows[SPGEMM_HOST_ROWS], double *products)
{
  int    status = SYS_SUCCESS;
  double bytes = 0, n = 0, r[SPGEMM_HOST_ROWS] = {0};

#pragma omp parallel num_threads(step->nthread) if (step->nthread > 1) reduction(| : status) reduction(+ : bytes, n, r)
  {
    SpgemmWork w;

    memset(&w, 0, sizeof(w));
#pragma omp for schedule(dynamic, 1) nowait
    for (int t = 0; t < step->npart; t++) {
      SpgemmProduct Q = *P;

      if (status) continue;
      if (Q.placed) Q.placed += t;
      if (Q.positions) Q.positions += step->placed[t];
      status = kernel(&Q, step->cuts[t], step->cuts[t + 1], &w);
    }
    SpgemmWorkEnd(&w, &bytes, &n, r);
  }
  SpgemmAccount(S, bytes);
  SpgemmAccount(S, -bytes);
  for (int k = 0; rows && k < SPGEMM_HOST_ROWS; k++) rows[k] += r[k];
  if (products) *products += n;
  return (SysStatus)status;
}

static void SpgemmDropWords(Spgemm *S)
{
  SpgemmAccount(S, -SpgemmWordsBytes(&S->words));
  SpgemmWordsDestroy(&S->words);
}

static SysStatus SpgemmMakeWords(Spgemm *S, SpgemmProduct *P)
{
  SysStatus status;

  if (P->A.i[P->A.m] < 3 * P->B.m || P->unsortedB || P->shift || (P->accumulator != SPGEMM_AUTO && P->accumulator != SPGEMM_DENSE)) return SYS_SUCCESS;
  status = SpgemmWordsCreate(&P->B, S->options.nthread, &S->words);
  if (status) return status;
  SpgemmAccount(S, SpgemmWordsBytes(&S->words));
  P->words = S->words;
  return SYS_SUCCESS;
}

SysStatus SpgemmSumI(Spgemm *S, SpgemmStep *step)
{
  double sum = (double)step->i[0];

  for (int64_t r = 0; r < step->m; r++) sum += (double)step->i[r + 1];
  step->nonzeros   = sum;
  S->info.nonzeros = sum;
  if (sum > (double)SPGEMM_INT_MAX) return SYS_TOO_LARGE;
  for (int64_t r = 0; r < step->m; r++) step->i[r + 1] += step->i[r];
  return SYS_SUCCESS;
}

static double SpgemmLongest(const SysCSR *B, int nthread)
{
  SysInt longest = 0;

#pragma omp parallel for num_threads(nthread) schedule(static) reduction(max : longest) if (B->m > SPGEMM_THREAD_PRODUCTS)
  for (int64_t r = 0; r < B->m; r++) {
    const SysInt length = B->i[r + 1] - B->i[r];

    if (length > longest) longest = length;
  }
  return (double)longest;
}

/* Finds rows of B that resemble their predecessor */
static void SpgemmCompareRows(Spgemm *S, SpgemmProduct *P, SpgemmStep *step)
{
  step->longestB = P->longestB = SpgemmLongest(&P->B, S->options.nthread);
  step->rowsB                  = P->B.m;
  step->same                   = SpgemmSameRows(&P->B, S->options.nthread);
  if ((P->accumulator == SPGEMM_AUTO || P->accumulator == SPGEMM_DENSE) && !step->same && !P->unsortedB) step->shift = SpgemmShiftedRows(&P->B, S->options.nthread);
  P->same  = step->same;
  P->shift = step->shift;
  if (step->same || step->shift) SpgemmAccount(S, (double)P->B.m);
}

/* Prepares a step: data for its kernels, and row starts */
static SysStatus SpgemmPrepare(Spgemm *S, SpgemmProduct *P, SpgemmStep *step)
{
  SysStatus status;

  SpgemmCompareRows(S, P, step);
  status = SpgemmMakeWords(S, P);
  if (status) return status;
  step->m = P->A.m;
  step->i = P->i = SpgemmAllocate(sizeof(*step->i) * (step->m + 1));
  if (!step->i) return SYS_OUT_OF_MEMORY;
  SpgemmAccount(S, (double)sizeof(*step->i) * (step->m + 1));
  return SYS_SUCCESS;
}

void SpgemmReleaseEntries(SpgemmStep *step)
{
  if (!step->room) {
    SpgemmRelease(step->j, step->size_j);
    SpgemmRelease(step->a, step->size_a);
  }
  step->j = NULL;
  step->a = NULL;
}

int SpgemmAllocateEntries(SpgemmStep *step, SpgemmProduct *P, int64_t entries)
{
  step->size_j = sizeof(*P->j) * (size_t)entries;
  step->size_a = sizeof(*P->a) * (size_t)entries;
  step->j = P->j = SpgemmAllocate(step->size_j);
  step->a = P->a = SpgemmAllocate(step->size_a);
  if (step->j && step->a) return 1;
  SpgemmReleaseEntries(step);
  return 0;
}

/* Gets the result's arrays if the bound is not many times the expected entries and the result has more entries than rows: PETSc needs the lengths of
   the rows computed there, and copying few entries is cheaper. most: products of a part. */
static int SpgemmGetRoom(const Spgemm *S, SpgemmStep *step, SpgemmProduct *P, double expected, double most)
{
  const double near = expected <= SPGEMM_SMALL_ENTRIES ? SPGEMM_ROOM_FACTOR_SMALL : SPGEMM_ROOM_FACTOR;
  int64_t      entries;

  if (!S->options.room || S->nstep == 2 || most > near * (double)SPGEMM_CACHED_ENTRIES || expected < (double)P->A.m) return 0;
  entries    = SpgemmBound(P, step, S->options.nthread, near * expected) + SPGEMM_PAD;
  step->room = (double)entries <= near * expected && entries <= SPGEMM_INT_MAX && S->options.room(S->options.context, entries, &step->j, &step->a);
  if (!step->room) return 0;
  SysAdvise(step->j, sizeof(*step->j) * (size_t)entries);
  SysAdvise(step->a, sizeof(*step->a) * (size_t)entries);
  P->j = step->j;
  P->a = step->a;
  return 1;
}

SpgemmWork *SpgemmWorksCreate(const Spgemm *S)
{
  return calloc((size_t)S->options.nthread, sizeof(SpgemmWork));
}

void SpgemmWorksEnd(Spgemm *S, SpgemmWork *works, int made)
{
  double bytes = 0, n = 0, r[SPGEMM_HOST_ROWS] = {0};

  for (int t = 0; works && t < S->options.nthread; t++) SpgemmWorkEnd(&works[t], &bytes, &n, r);
  free(works);
  SpgemmAccount(S, bytes);
  SpgemmAccount(S, -bytes);
  for (int k = 0; made && k < SPGEMM_HOST_ROWS; k++) S->info.rows[k] += r[k];
  if (made) S->info.products += n;
}

/* Computes each part's rows in thread memory, which stays in the caches, and appends them to the previous part's. A part's position is known when its
   predecessor is done; threads take parts in order. One thread computes them in place. */
SysStatus SpgemmMakeParts(const Spgemm *S, const SpgemmProduct *P, const SpgemmStep *step, int first, int last, int64_t *end, SpgemmWork *works)
{
  int status = SYS_SUCCESS;

#pragma omp parallel num_threads(step->nthread) if (step->nthread > 1) reduction(| : status)
  {
    SpgemmWork *w = &works[omp_get_thread_num()];

#pragma omp for schedule(dynamic, 1) ordered nowait
    for (int t = first; t < last; t++) {
      SpgemmProduct Q      = *P;
      int64_t       length = 0, begin;

      if (!status && step->nthread > 1) status = SpgemmWorkPart(w, step->bound[t + 1] - step->bound[t] + SPGEMM_PAD);
      Q.j = step->nthread > 1 ? w->partj : P->j + *end;
      Q.a = step->nthread > 1 ? w->parta : P->a + *end;
      if (!status) status = S->kernels->make(&Q, step->cuts[t], step->cuts[t + 1], w);
      for (int64_t row = step->cuts[t]; !status && row < step->cuts[t + 1]; row++) length += P->i[row + 1];
#pragma omp ordered
      {
        begin = *end;
        *end += length;
      }
      if (!length || step->nthread == 1) continue;
      memcpy(P->j + begin, w->partj, sizeof(*P->j) * (size_t)length);
      memcpy(P->a + begin, w->parta, sizeof(*P->a) * (size_t)length);
    }
  }
  return (SysStatus)status;
}

/* Computes a whole step at once, in memory for all possible entries, which is only touched where written */
static SysStatus SpgemmMake(Spgemm *S, SpgemmProduct *P, SpgemmStep *step)
{
  SpgemmWork *works  = SpgemmWorksCreate(S);
  int64_t     end    = 0;
  SysStatus   status = works ? SpgemmMakeParts(S, P, step, 0, step->npart, &end, works) : SYS_OUT_OF_MEMORY;

  SpgemmWorksEnd(S, works, 1);
  if (!status) status = SpgemmSumI(S, step);
  return status;
}

static SysStatus SpgemmCountRows(Spgemm *S, SpgemmProduct *P, SpgemmStep *step)
{
  SysStatus status = SpgemmRun(S, step, P, S->kernels->count, NULL, &S->info.products);

  return status ? status : SpgemmSumI(S, step);
}

/* Copies size bytes of a result computed without a count and releases their memory piece by piece: both copies together need little more than one */
static void SpgemmMove(void *to, void *from, size_t size, size_t allocated, int nthread)
{
  const int64_t pieces = (int64_t)(size / SPGEMM_MOVED_BYTES);

#pragma omp parallel for num_threads(nthread) schedule(static) if (nthread > 1 && pieces > 1)
  for (int64_t k = 0; k <= pieces; k++) {
    const size_t at = (size_t)k * SPGEMM_MOVED_BYTES, n = SysMin(SPGEMM_MOVED_BYTES, size - at);

    memcpy((char *)to + at, (char *)from + at, n);
    SpgemmForget((char *)from + at, allocated, n);
  }
}

/* Releases the values of the transpose and of the first step's result, which only new values need again */
static void SpgemmDropValues(Spgemm *S)
{
  SysCSR *T = &S->transpose.T;

  if (T->a) {
    SpgemmRelease((SysScalar *)T->a, sizeof(*T->a) * (size_t)T->nz);
    SpgemmAccount(S, -(double)sizeof(*T->a) * (double)T->nz);
    T->a = NULL;
  }
  if (S->nstep == 1 || !S->inner.a) return;
  SpgemmRelease(S->step[0].a, S->step[0].size_a);
  SpgemmAccount(S, -(double)S->step[0].size_a);
  S->step[0].a = NULL;
  S->inner.a   = NULL;
}

/* Allocates them again; they stay then */
static SysStatus SpgemmAllocateValues(Spgemm *S)
{
  SysCSR *T = &S->transpose.T;

  if (T->nz && !T->a) {
    T->a = SpgemmAllocate(sizeof(*T->a) * (size_t)T->nz);
    if (!T->a) return SYS_OUT_OF_MEMORY;
    SpgemmAccount(S, (double)sizeof(*T->a) * (double)T->nz);
  }
  if (S->nstep == 1 || S->inner.a || !S->inner.nz) return SYS_SUCCESS;
  S->inner.a = S->step[0].a = SpgemmAllocate(S->step[0].size_a);
  if (!S->inner.a) return SYS_OUT_OF_MEMORY;
  SpgemmAccount(S, (double)S->step[0].size_a);
  return SYS_SUCCESS;
}

/* Computes the first of two steps. Its result is private, and needs no count unless memory is short. */
static SysStatus SpgemmMakeInner(Spgemm *S, const SysCSR *A, const SysCSR *B, const SysCSR *C)
{
  const int     unset  = S->transpose.T.nz && !S->transpose.T.a; /* as SpgemmChainPossible() said */
  const int     chunks = unset ? SpgemmChainChunks(S, A) : 1;
  SpgemmStep   *step   = &S->step[0];
  SpgemmProduct P;
  SysStatus     status;

  if (unset && chunks == 1) {
    status = SpgemmAllocateValues(S);
    if (status) return status;
    SpgemmTransposeValues(B->a, S->options.nthread, 0, S->transpose.T.nz, &S->transpose);
  }
  P      = SpgemmStepOperands(S, 0, A, B, C);
  status = SpgemmPrepare(S, &P, step);
  SpgemmSetBatch(&P, step, SPGEMM_UNKNOWN_PRODUCTS, P.A.m ? P.lengthB * (double)P.A.i[P.A.m] / (double)P.A.m : 0);
  if (!status) status = SpgemmRowsToThreads(S, &P, step, SPGEMM_UNKNOWN_PRODUCTS, chunks > 1 ? SPGEMM_THREAD_PARTS * chunks : 1);
  if (status) return status;
  if (SpgemmAllocateEntries(step, &P, SpgemmBound(&P, step, S->options.nthread, SPGEMM_COPIED_ENTRIES) + SPGEMM_PAD)) {
    status = chunks > 1 ? SpgemmChainMake(S, &P, B, chunks) : SpgemmMake(S, &P, step);
    if (status) return status;
    if (S->chain) {
      SpgemmDropWords(S);
      return SYS_SUCCESS;
    }
    step->size_j = SpgemmShrink(step->j, step->size_j, sizeof(*step->j) * (size_t)step->nonzeros);
    step->size_a = SpgemmShrink(step->a, step->size_a, sizeof(*step->a) * (size_t)step->nonzeros);
  } else {
    status = SpgemmCountRows(S, &P, step);
    if (status) return status;
    if (!SpgemmAllocateEntries(step, &P, (int64_t)step->nonzeros)) return SYS_OUT_OF_MEMORY;
    status = SpgemmRun(S, step, &P, S->kernels->fill, S->info.rows, NULL);
  }
  SpgemmAccount(S, (double)step->size_j + (double)step->size_a);
  S->inner = (SysCSR){P.A.m, P.B.n, step->i[P.A.m], step->i, step->j, step->a};
  SpgemmDropWords(S);
  return status;
}

/* Returns the entries of B to read to count row r: rows like their predecessor are skipped */
static double SpgemmRowReads(const SpgemmProduct *P, int64_t r)
{
  double n = 0;

  for (SysInt k = P->A.i[r]; k < P->A.i[r + 1]; k++) {
    const SysInt row = P->A.j[k];

    if (!P->same || k == P->A.i[r] || row != P->A.j[k - 1] + 1 || !P->same[row]) n += (double)(P->B.i[row + 1] - P->B.i[row]);
  }
  return n;
}

/*
   Sets *yes if the result is computed once and copied. Counting goes through the products twice, which costs more than the copy with many products an
   entry, with mostly sorted rows, or with a small result for which counting has no shortcut. Samples some rows. *most: products whose entries fit a
   thread's caches; *expected: entries of the result.
*/
SysStatus SpgemmCompresses(const Spgemm *S, const SpgemmProduct *P, int *yes, double *most, double *expected)
{
  const int64_t rows    = SPGEMM_RATIO_ROWS < P->A.m / SPGEMM_RATIO_PLACES ? SPGEMM_RATIO_ROWS : P->A.m / SPGEMM_RATIO_PLACES;
  double        entries = 0, looks = 0;
  SysStatus     status = SYS_SUCCESS;
  SpgemmWork    w;

  memset(&w, 0, sizeof(w));
  for (int s = 0; s < SPGEMM_RATIO_PLACES && !status; s++) {
    const int64_t first = P->A.m / SPGEMM_RATIO_PLACES * s;

    status = S->kernels->count(P, first, first + rows, &w);
    for (int64_t r = first; r < first + rows; r++) {
      entries += (double)P->i[r + 1];
      looks += SpgemmRowReads(P, r);
    }
  }
  *expected = rows ? entries * (double)P->A.m / (double)(SPGEMM_RATIO_PLACES * rows) : 0;
  *yes      = rows && w.products >= (S->nstep == 2 ? SPGEMM_UNCOUNTED_RATIO2 : SPGEMM_UNCOUNTED_RATIO) * entries;
  if (rows && S->nstep == 1 && !P->shift && *expected <= SPGEMM_COPIED_ENTRIES && looks >= S->kernels->looks * w.products) *yes = 1;
  if (rows && 2 * w.bysort > w.products) *yes = 1;
  *most = *yes && entries > 0 ? SPGEMM_CACHED_ENTRIES * w.products / entries : 0;
  SpgemmWorkDestroy(&w);
  return status;
}

int SpgemmStamps(const Spgemm *S, const SpgemmProduct *P, double most, double entries)
{
  return most >= SPGEMM_STAMP_RATIO * SPGEMM_CACHED_ENTRIES && SPGEMM_STAMP_COLUMN_ENTRIES * (double)P->B.n <= entries && (double)S->options.nthread * (double)P->B.n * sizeof(struct SpgemmStamp) <= SPGEMM_WINDOWS;
}

/* Computes the last step's row starts, and its entries too if that costs nothing extra */
static SysStatus SpgemmMakeLast(Spgemm *S, const SysCSR *A, const SysCSR *B, const SysCSR *C)
{
  SpgemmProduct P      = SpgemmStepOperands(S, S->nstep - 1, A, B, C);
  SpgemmStep   *step   = &S->step[S->nstep - 1];
  SysStatus     status = SpgemmPrepare(S, &P, step);
  int           make   = 0;
  double        most = 0, expected = 0;

  if (!status) status = SpgemmCompresses(S, &P, &make, &most, &expected);
  SpgemmSetBatch(&P, step, SPGEMM_CACHED_ENTRIES, P.A.m ? expected / (double)P.A.m : 0);
  P.stamps = make && SpgemmStamps(S, &P, most, expected);
  if (!status) status = SpgemmRowsToThreads(S, &P, step, most, 1);
  if (status) return status;
  if (make && SpgemmGetRoom(S, step, &P, expected, most)) return SpgemmMake(S, &P, step);
  if (!make || !SpgemmAllocateEntries(step, &P, SpgemmBound(&P, step, S->options.nthread, SPGEMM_COPIED_ENTRIES) + SPGEMM_PAD)) return SpgemmCountRows(S, &P, step);
  status = SpgemmMake(S, &P, step);
  SpgemmAccount(S, step->nonzeros * (double)(sizeof(SysInt) + sizeof(SysScalar)));
  return status;
}

static SysStatus SpgemmMakeSteps(Spgemm *S, const SysCSR *A, const SysCSR *B, const SysCSR *C)
{
  const SysCSR *T = SpgemmTransposed(S->type, A, B);
  SysStatus     status;

  S->nstep = S->type == SPGEMM_PTAP || S->type == SPGEMM_RART || S->type == SPGEMM_ABC ? 2 : 1;
  if (T) {
    status = SpgemmTransposeCreate(T, S->options.nthread, !SpgemmChainPossible(S, A, B), &S->transpose);
    if (status) return status;
    SpgemmAccount(S, SpgemmTransposeBytes(&S->transpose));
  }
  if (S->nstep == 2) {
    S->reverse = SpgemmReverses(S->type, SpgemmFirstProducts(S, 0, A, B, C), SpgemmFirstProducts(S, 1, A, B, C));
    status     = SpgemmMakeInner(S, A, B, C);
    if (status || S->chain) return status;
  }
  return SpgemmMakeLast(S, A, B, C);
}

SysStatus SpgemmCreateWith(const SpgemmKernels *kernels, SpgemmType type, const SysCSR *A, const SysCSR *B, const SysCSR *C, const SpgemmOptions *options, Spgemm **out, SpgemmInfo *info)
{
  Spgemm   *S = calloc(1, sizeof(*S));
  SysStatus status;

  *out = NULL;
  if (info) memset(info, 0, sizeof(*info));
  if (!S) return SYS_OUT_OF_MEMORY;
  S->type    = type;
  S->options = *options;
  S->kernels = kernels;
  if (S->options.nthread < 1) S->options.nthread = 1;
  if (S->options.accumulator > SPGEMM_ESC) S->options.accumulator = SPGEMM_AUTO;
  S->info.instructions = S->kernels->name;
  status               = SpgemmMakeSteps(S, A, B, C);
  if (info) SpgemmGetInfo(S, info);
  if (status) SpgemmDestroy(&S);
  *out = S;
  return status;
}

SysStatus SpgemmCreate(SpgemmType type, const SysCSR *A, const SysCSR *B, const SysCSR *C, const SpgemmOptions *options, Spgemm **S, SpgemmInfo *info)
{
  return SpgemmCreateWith(SYS_KERNELS(SpgemmKernels), type, A, B, C, options, S, info);
}

int64_t SpgemmNonzeros(const Spgemm *S)
{
  return (int64_t)S->step[S->nstep - 1].nonzeros;
}

const SysInt *SpgemmRowStarts(const Spgemm *S)
{
  return S->step[S->nstep - 1].i;
}

/* Writes the result, and keeps the plan for new values */
static SysStatus SpgemmFillKeep(Spgemm *S, const SysCSR *A, const SysCSR *B, const SysCSR *C, SysInt *i, SysInt *j, SysScalar *a)
{
  SpgemmStep   *step   = &S->step[S->nstep - 1];
  SpgemmProduct P      = SpgemmStepOperands(S, S->nstep - 1, A, B, C);
  const double  size   = (double)sizeof(*step->i) * (P.A.m + 1);
  SysStatus     status = SYS_SUCCESS;

  memcpy(i, step->i, (size_t)size);
  SpgemmRelease(step->i, (size_t)size);
  step->i = NULL;
  SpgemmAccount(S, -size);
  if (!step->room) {
    SysAdvise(j, sizeof(*j) * (size_t)step->nonzeros);
    SysAdvise(a, sizeof(*a) * (size_t)step->nonzeros);
  }
  if (S->chain) SpgemmChainFill(S, A, i, j, a);
  else if (step->room) SpgemmReleaseEntries(step);
  else if (step->j) {
    SpgemmMove(j, step->j, sizeof(*j) * (size_t)step->nonzeros, step->size_j, step->nthread);
    SpgemmMove(a, step->a, sizeof(*a) * (size_t)step->nonzeros, step->size_a, step->nthread);
    SpgemmReleaseEntries(step);
    SpgemmAccount(S, -step->nonzeros * (double)(sizeof(*j) + sizeof(*a)));
  } else {
    P.words = S->words;
    P.i     = i;
    P.j     = j;
    P.a     = a;
    SpgemmStream(&P, step->nonzeros);
    status = SpgemmRun(S, step, &P, S->kernels->fill, S->info.rows, NULL);
  }
  SpgemmDropWords(S);
  SpgemmDropValues(S);
  S->info.bytes_kept = S->bytes;
  return status;
}

/* Allocates the products' positions if they are in proportion; otherwise each pass looks them up. placed[t]: part t's first place. */
static void SpgemmAllocatePositions(Spgemm *S, SpgemmStep *step, const SpgemmProduct *P)
{
  const double entries = (double)P->A.i[P->A.m] + (double)P->B.i[P->B.m] + step->nonzeros;
  int64_t      sum     = 0;

  for (int t = 0; t < step->npart; t++) {
    const int64_t n = step->placed[t];

    step->placed[t] = sum;
    sum += n;
  }
  step->size_positions = sizeof(*step->positions) * (size_t)sum;
  if (!sum || (double)step->size_positions > SPGEMM_PLACES_RATIO * entries * (double)(sizeof(*P->j) + sizeof(*P->a))) return;
  step->positions = SpgemmAllocate(step->size_positions);
  if (step->positions) SpgemmAccount(S, (double)step->size_positions);
}

static void SpgemmDropPositions(Spgemm *S, SpgemmStep *step)
{
  if (step->positions) SpgemmAccount(S, -(double)step->size_positions);
  SpgemmRelease(step->positions, step->size_positions);
  free(step->placed);
  step->positions = NULL;
  step->placed    = NULL;
}

/* Frees all but the options and the figures */
static void SpgemmReset(Spgemm *S)
{
  const Spgemm before = *S;

  SpgemmChainDestroy(S);
  if (S->transpose.T.i) SpgemmTransposeDestroy(&S->transpose);
  SpgemmWordsDestroy(&S->words);
  for (int k = 0; k < S->nstep; k++) {
    if (S->step[k].i) SpgemmRelease(S->step[k].i, sizeof(SysInt) * (S->step[k].m + 1));
    SpgemmRelease(S->step[k].same, (size_t)S->step[k].rowsB);
    SpgemmRelease(S->step[k].shift, (size_t)S->step[k].rowsB);
    SpgemmReleaseEntries(&S->step[k]);
    SpgemmDropPositions(S, &S->step[k]);
    free(S->step[k].bound);
    free(S->step[k].cuts);
  }
  *S = (Spgemm){.type = before.type, .options = before.options, .kernels = before.kernels, .info = before.info};
}

/* A plan of many bytes is freed: most products of a multigrid set-up get no new values */
SysStatus SpgemmFill(Spgemm *S, const SysCSR *A, const SysCSR *B, const SysCSR *C, SysInt *i, SysInt *j, SysScalar *a)
{
  const double    result = S->step[S->nstep - 1].nonzeros * (double)(sizeof(*j) + sizeof(*a));
  const SysStatus status = SpgemmFillKeep(S, A, B, C, i, j, a);

  if (status || S->bytes < SPGEMM_PLAN_BYTES || S->bytes < SPGEMM_PLAN_RATIO * (SysCSRBytes(A) + SysCSRBytes(B) + result)) return status;
  SpgemmReset(S);
  S->info.bytes_kept = 0;
  S->options.room    = NULL; /* new values go to known positions */
  return SYS_SUCCESS;
}

void SpgemmRevalueBegin(Spgemm *S, SpgemmStep *step, SpgemmProduct *P)
{
  if (step->again == 0) P->placed = step->placed = calloc((size_t)step->npart, sizeof(*step->placed));
  if (step->again == 1 && step->placed) SpgemmAllocatePositions(S, step, P);
  P->positions = step->positions;
  P->known     = step->again > 1;
}

void SpgemmRevalueEnd(Spgemm *S, SpgemmStep *step, SysStatus status)
{
  if (status) SpgemmDropPositions(S, step);
  if (step->again < 2) step->again++;
}

static SysStatus SpgemmRevalueStep(Spgemm *S, SpgemmStep *step, SpgemmProduct *P)
{
  SysStatus status;

  SpgemmRevalueBegin(S, step, P);
  status = SpgemmRun(S, step, P, S->kernels->revalue, NULL, NULL);
  SpgemmRevalueEnd(S, step, status);
  return status;
}

SysStatus SpgemmRevalue(Spgemm *S, const SysCSR *A, const SysCSR *B, const SysCSR *C, const SysInt *i, const SysInt *j, SysScalar *a)
{
  SpgemmProduct P;
  SysStatus     status;

  if (!S->nstep) { /* the plan was freed */
    S->info = (SpgemmInfo){.instructions = S->info.instructions};
    status  = SpgemmMakeSteps(S, A, B, C);
    if (!status) status = SpgemmFillKeep(S, A, B, C, (SysInt *)i, (SysInt *)j, a);
    if (status) SpgemmReset(S);
    return status;
  }
  if (S->chain) return SpgemmChainRevalue(S, A, B, i, j, a);
  status = SpgemmAllocateValues(S);
  if (status) return status;
  if (S->transpose.T.i) SpgemmTransposeValues(SpgemmTransposed(S->type, A, B)->a, S->options.nthread, 0, S->transpose.T.nz, &S->transpose);
  if (S->nstep == 2) {
    P      = SpgemmStepOperands(S, 0, A, B, C);
    P.i    = (SysInt *)S->inner.i;
    P.j    = (SysInt *)S->inner.j;
    P.a    = (SysScalar *)S->inner.a;
    status = SpgemmRevalueStep(S, &S->step[0], &P);
    if (status) return status;
  }
  P   = SpgemmStepOperands(S, S->nstep - 1, A, B, C);
  P.i = (SysInt *)i;
  P.j = (SysInt *)j;
  P.a = a;
  SpgemmStream(&P, S->step[S->nstep - 1].nonzeros);
  return SpgemmRevalueStep(S, &S->step[S->nstep - 1], &P);
}

void SpgemmGetInfo(const Spgemm *S, SpgemmInfo *info)
{
  *info            = S->info;
  info->bytes_kept = S->bytes;
}

void SpgemmDestroy(Spgemm **out)
{
  if (!*out) return;
  SpgemmReset(*out);
  free(*out);
  *out = NULL;
}
