/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Preparation of operands: transpose, and columns in words
*/
#include <stdlib.h>
#include <string.h>

#include "mat/impls/hashgemm/host/spgemmstep.h"

void SpgemmCut(int64_t m, const SysInt *i, int nthread, int64_t *cuts)
{
  cuts[0] = 0;
  for (int t = 1; t < nthread; t++) {
    const double want = (double)i[m] * t / nthread;
    int64_t      lo = cuts[t - 1], hi = m;

    while (lo < hi) {
      const int64_t mid = lo + (hi - lo) / 2;

      if (i[mid] < want) lo = mid + 1;
      else hi = mid;
    }
    cuts[t] = lo;
  }
  cuts[nthread] = m;
}

/* A thread's counters for the transpose cost as much as a pass over as many entries */
static int SpgemmTransposeThreads(const SysCSR *A, int nthread)
{
  return (int)SysMin(A->i[A->m] / (A->n + 1) + 1, nthread);
}

/* Adds the rows' entries to their columns' counts */
static void SpgemmCountRepeated(const SysCSR *A, int64_t first, int64_t last, SysInt *count)
{
  for (int64_t r = first, g; r < last; r += g) {
    g = SpgemmRepeatedRows(A, r, last);
    for (SysInt k = A->i[r]; k < A->i[r + 1]; k++) count[A->j[k]] += (SysInt)g;
  }
}

/* Writes the rows' entries behind the columns' positions p. Rows with equal columns are neighbours in the transpose. a: NULL without values. */
static void SpgemmTurnRepeated(const SysCSR *A, int64_t first, int64_t last, SysInt *p, SysInt *j, SysInt *from, SysScalar *a)
{
  for (int64_t r = first, g; r < last; r += g) {
    const SysInt n = A->i[r + 1] - A->i[r];

    g = SpgemmRepeatedRows(A, r, last);
    for (SysInt k = A->i[r]; k < A->i[r + 1]; k++) {
      const SysInt q = p[A->j[k]];

      p[A->j[k]] += (SysInt)g;
      for (SysInt l = 0; l < (SysInt)g; l++) {
        j[q + l]    = (SysInt)r + l;
        from[q + l] = k + l * n;
        if (a) a[q + l] = A->a[k + l * n];
      }
    }
  }
}

/*
   Counting sort: each thread counts its rows' columns, the counts become offsets in thread order, and each thread writes its entries there
*/
SysStatus SpgemmTransposeCreate(const SysCSR *A, int threads, int values, SpgemmTranspose *transpose)
{
  const int     nthread = SpgemmTransposeThreads(A, threads), repeats = SpgemmRepeats(A);
  const int64_t n = A->n, nz = A->i[A->m];
  const size_t  size     = sizeof(SysInt) * (n + 1) * nthread;
  SysInt       *position = SpgemmAllocate(size), sum = 0;
  SysInt       *i = SpgemmAllocate(sizeof(*i) * (n + 1)), *j = SpgemmAllocate(sizeof(*j) * nz), *from = SpgemmAllocate(sizeof(*from) * nz);
  SysScalar    *a    = values ? SpgemmAllocate(sizeof(*a) * nz) : NULL;
  int64_t      *cuts = malloc(sizeof(*cuts) * (nthread + 1));

  transpose->T    = (SysCSR){n, A->m, nz, i, j, a};
  transpose->from = from;
  if (!position || !cuts || !i || !j || !from || (values && !a)) {
    SpgemmRelease(position, size);
    free(cuts);
    SpgemmTransposeDestroy(transpose);
    return SYS_OUT_OF_MEMORY;
  }
  SpgemmCut(A->m, A->i, nthread, cuts);
#pragma omp parallel num_threads(nthread) if (nthread > 1)
  for (int t = omp_get_thread_num(); t < nthread; t += omp_get_num_threads()) {
    SysInt *p = position + (n + 1) * t;

    if (repeats) SpgemmCountRepeated(A, cuts[t], cuts[t + 1], p);
    else
      for (SysInt k = A->i[cuts[t]]; k < A->i[cuts[t + 1]]; k++) p[A->j[k]]++;
  }
  for (int64_t c = 0; c < n; c++) {
    i[c] = sum;
    for (int t = 0; t < nthread; t++) {
      SysInt *p = position + (n + 1) * t + c, count = *p;

      *p = sum;
      sum += count;
    }
  }
  i[n] = sum;
#pragma omp parallel num_threads(nthread) if (nthread > 1)
  for (int t = omp_get_thread_num(); t < nthread; t += omp_get_num_threads()) {
    SysInt *p = position + (n + 1) * t;

    if (repeats) {
      SpgemmTurnRepeated(A, cuts[t], cuts[t + 1], p, j, from, a);
      continue;
    }
    for (int64_t r = cuts[t]; r < cuts[t + 1]; r++) {
      for (SysInt k = A->i[r]; k < A->i[r + 1]; k++) {
        const SysInt q = p[A->j[k]]++;

        j[q]    = (SysInt)r;
        from[q] = k;
        if (values) a[q] = A->a[k];
      }
    }
  }
  SpgemmRelease(position, size);
  free(cuts);
  return SYS_SUCCESS;
}

void SpgemmTransposeValues(const SysScalar *a, int nthread, int64_t first, int64_t last, SpgemmTranspose *transpose)
{
  SysScalar *to = (SysScalar *)transpose->T.a;

#pragma omp parallel for num_threads(nthread) schedule(static)
  for (int64_t q = first; q < last; q++) to[q] = a[transpose->from[q]];
}

double SpgemmTransposeBytes(const SpgemmTranspose *transpose)
{
  return (double)sizeof(SysInt) * (transpose->T.m + 1) + (double)transpose->T.nz * (double)(2 * sizeof(SysInt) + (transpose->T.a ? sizeof(SysScalar) : 0));
}

void SpgemmTransposeDestroy(SpgemmTranspose *transpose)
{
  const SysCSR *T = &transpose->T;

  SpgemmRelease((SysInt *)T->i, sizeof(*T->i) * (T->m + 1));
  SpgemmRelease((SysInt *)T->j, sizeof(*T->j) * T->nz);
  SpgemmRelease((SysScalar *)T->a, sizeof(*T->a) * T->nz);
  SpgemmRelease(transpose->from, sizeof(*transpose->from) * T->nz);
  memset(transpose, 0, sizeof(*transpose));
}

static int64_t SpgemmCountWords(const SysCSR *A, int64_t r)
{
  SysInt  last = -1;
  int64_t n    = 0;

  for (SysInt k = A->i[r]; k < A->i[r + 1]; k++) {
    const SysInt word = A->j[k] / 64;

    n += word != last;
    last = word;
  }
  return n;
}

/* Samples the rows */
static int SpgemmClustered(const SysCSR *A)
{
  const int64_t step = A->m / 1000 + 1;
  int64_t       n = 0, words = 0;

  for (int64_t r = 0; r < A->m; r += step) {
    n += A->i[r + 1] - A->i[r];
    words += SpgemmCountWords(A, r);
  }
  return 5 * words <= 2 * n;
}

SysStatus SpgemmWordsCreate(const SysCSR *A, int nthread, SpgemmWords *W)
{
  int64_t *cuts;
  int      repeats;

  if (!SpgemmClustered(A)) return SYS_SUCCESS;
  cuts = malloc(sizeof(*cuts) * (nthread + 1));
  W->m = A->m;
  W->i = SpgemmAllocate(sizeof(*W->i) * (A->m + 1));
  if (!cuts || !W->i) {
    free(cuts);
    SpgemmWordsDestroy(W);
    return SYS_OUT_OF_MEMORY;
  }
  SpgemmCut(A->m, A->i, nthread, cuts);
  repeats = SpgemmRepeats(A);
#pragma omp parallel num_threads(nthread) if (nthread > 1)
  for (int t = omp_get_thread_num(); t < nthread; t += omp_get_num_threads()) {
    for (int64_t r = cuts[t], words = 0; r < cuts[t + 1]; r++) {
      if (!repeats || r == cuts[t] || !SpgemmRepeatsRow(A, r)) words = SpgemmCountWords(A, r);
      W->i[r + 1] = words;
    }
  }
  for (int64_t r = 0; r < A->m; r++) W->i[r + 1] += W->i[r];
  W->n    = W->i[A->m];
  W->word = SpgemmAllocate(sizeof(*W->word) * W->n);
  W->bits = SpgemmAllocate(sizeof(*W->bits) * W->n);
  if (!W->word || !W->bits) {
    free(cuts);
    SpgemmWordsDestroy(W);
    return SYS_OUT_OF_MEMORY;
  }
#pragma omp parallel num_threads(nthread) if (nthread > 1)
  for (int t = omp_get_thread_num(); t < nthread; t += omp_get_num_threads()) {
    for (int64_t r = cuts[t]; r < cuts[t + 1]; r++) {
      int64_t q = W->i[r] - 1;

      if (repeats && r > cuts[t] && SpgemmRepeatsRow(A, r)) {
        const int64_t n = W->i[r] - W->i[r - 1];

        memcpy(W->word + W->i[r], W->word + W->i[r - 1], sizeof(*W->word) * (size_t)n);
        memcpy(W->bits + W->i[r], W->bits + W->i[r - 1], sizeof(*W->bits) * (size_t)n);
        continue;
      }
      for (SysInt k = A->i[r]; k < A->i[r + 1]; k++) {
        const SysInt word = A->j[k] / 64;

        if (q < W->i[r] || W->word[q] != word) {
          W->word[++q] = word;
          W->bits[q]   = 0;
        }
        W->bits[q] |= (uint64_t)1 << (A->j[k] % 64);
      }
    }
  }
  free(cuts);
  return SYS_SUCCESS;
}

double SpgemmWordsBytes(const SpgemmWords *W)
{
  return W->i ? (double)sizeof(*W->i) * (W->m + 1) + (double)(sizeof(*W->word) + sizeof(*W->bits)) * W->n : 0;
}

void SpgemmWordsDestroy(SpgemmWords *W)
{
  if (W->i) SpgemmRelease(W->i, sizeof(*W->i) * (W->m + 1));
  SpgemmRelease(W->word, sizeof(*W->word) * W->n);
  SpgemmRelease(W->bits, sizeof(*W->bits) * W->n);
  memset(W, 0, sizeof(*W));
}

/* Returns whether row r, of at least two entries, has the previous row's columns shifted by `by` */
static int SpgemmLikeRow(const SysCSR *A, int64_t r, int by)
{
  const SysInt n = A->i[r + 1] - A->i[r];

  if (!by) return SpgemmRepeatsRow(A, r);
  return n >= 2 && A->i[r] - A->i[r - 1] == n && SpgemmShifted(A->j + A->i[r - 1], n);
}

int SpgemmRepeats(const SysCSR *A)
{
  const int64_t step = A->m / SPGEMM_REPEATS_PLACES + 1, nz = A->m ? A->i[A->m] - A->i[0] : 0;
  int64_t       seen = 0, found = 0;

  if (nz < SPGEMM_REPEATS_LEAST || nz < SPGEMM_REPEATS_LENGTH * A->m) return 0;
  /* a node's first row does not repeat, but then its predecessor does */
  for (int64_t r = step; r < A->m; r += step, seen++) found += SpgemmRepeatsRow(A, r) || SpgemmRepeatsRow(A, r - (r > 1));
  return (double)found >= SPGEMM_REPEATS_PART * (double)seen && found > 0;
}

double SpgemmLikeRowsSample(const SysCSR *A, int by)
{
  const int64_t step = A->m / 1000 + 1;
  int64_t       seen = 0, found = 0;

  for (int64_t r = 1; r < A->m; r += step, seen++) found += SpgemmLikeRow(A, r, by);
  return seen ? (double)found / (double)seen : 0;
}

/* Returns one byte a row; NULL if less than `part` of a sample resemble their predecessor, or if memory is short */
static uint8_t *SpgemmLikeRows(const SysCSR *A, int by, double part, int nthread)
{
  const double found = SpgemmLikeRowsSample(A, by);
  uint8_t     *like;

  if (found < part || found == 0) return NULL;
  like = SpgemmAllocate((size_t)A->m);
  if (!like) return NULL;
#pragma omp parallel for num_threads(nthread) schedule(static)
  for (int64_t r = 1; r < A->m; r++) like[r] = (uint8_t)SpgemmLikeRow(A, r, by);
  return like;
}

uint8_t *SpgemmSameRows(const SysCSR *A, int nthread)
{
  return SpgemmLikeRows(A, 0, 0.3, nthread);
}

uint8_t *SpgemmShiftedRows(const SysCSR *A, int nthread)
{
  uint8_t *shift = SpgemmLikeRows(A, 1, 0.5, nthread);

  if (!shift) return NULL;
  for (int64_t r = A->m - 1, rows = 0; r >= 0; r--) { /* converts the flags to the number of such rows that follow */
    const int like = shift[r];

    shift[r] = (uint8_t)rows;
    rows     = like ? SysMin(rows + 1, 255) : 0;
  }
  return shift;
}
