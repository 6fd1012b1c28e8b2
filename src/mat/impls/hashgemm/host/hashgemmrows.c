/* SPDX-License-Identifier: BSD-2-Clause */
#include "mat/impls/hashgemm/host/hashgemmrows.h"
#include "sys/sysmemory.h"

#include <string.h>

#define HASHGEMM_LANES          8
#define HASHGEMM_THREAD_ROWS    4096 /* rows from which on several threads pay */
#define HASHGEMM_CACHED_COLUMNS 4096 /* columns that stay in a cache */

/* ------------------------------------------------- memory ------------------------------------------------- */

int HashGEMMRowsAllocateValues(HashGEMMRows *rows)
{
  if (!rows->a) rows->a = (SysScalar *)SysAllocate(sizeof(*rows->a) * (size_t)rows->nz);
  return rows->a != NULL;
}

void HashGEMMRowsFreeValues(HashGEMMRows *rows)
{
  if (rows->borrowed) return;
  SysRelease(rows->a, sizeof(*rows->a) * (size_t)rows->nz);
  rows->a = NULL;
}

int HashGEMMRowsAllocate(int64_t m, int64_t n, int64_t nz, int brief, HashGEMMRows *rows)
{
  void *(*const allocate)(size_t) = brief ? SysAllocateBrief : SysAllocate;

  memset(rows, 0, sizeof(*rows));
  rows->m  = m;
  rows->n  = n;
  rows->nz = nz;
  rows->i  = (SysInt *)(*allocate)(sizeof(*rows->i) * (size_t)(m + 1));
  rows->j  = (SysInt *)(*allocate)(sizeof(*rows->j) * (size_t)nz);
  rows->a  = (SysScalar *)(*allocate)(sizeof(*rows->a) * (size_t)nz);
  if (rows->i && rows->j && rows->a) return 1;
  HashGEMMRowsFree(rows);
  return 0;
}

void HashGEMMRowsFree(HashGEMMRows *rows)
{
  if (!rows->borrowed) {
    HashGEMMRowsFreeValues(rows);
    SysRelease(rows->i, sizeof(*rows->i) * (size_t)(rows->m + 1));
    SysRelease(rows->j, sizeof(*rows->j) * (size_t)rows->nz);
  }
  memset(rows, 0, sizeof(*rows));
}

void HashGEMMTouch(void *memory, size_t bytes, int nthread)
{
  char *p = (char *)memory;

#pragma omp parallel for num_threads(nthread) schedule(dynamic, 512) if (bytes > 4 * SYS_HUGE_PAGE)
  for (size_t k = 0; k < bytes; k += 4096) p[k] = 0;
}

/* ------------------------------------------------- patterns ------------------------------------------------- */

/* Hashes 64-bit words in independent lanes; two columns a word halve the multiplications, which take most of the time */
static uint64_t HashGEMMHash(int64_t n, const SysInt *x, uint64_t all)
{
  const uint64_t prime = 0x9e3779b97f4a7c15u;
  const char    *bytes = (const char *)x;
  const size_t   size = sizeof(*x) * (size_t)n, round    = sizeof(uint64_t) * HASHGEMM_LANES;
  uint64_t       h[HASHGEMM_LANES], word[HASHGEMM_LANES] = {0};
  size_t         at = 0;

  for (int l = 0; l < HASHGEMM_LANES; l++) h[l] = (uint64_t)l;
  for (; at + round <= size; at += round) {
    memcpy(word, bytes + at, round);
    for (int l = 0; l < HASHGEMM_LANES; l++) h[l] = (h[l] ^ word[l]) * prime;
  }
  memset(word, 0, round);
  if (at < size) memcpy(word, bytes + at, size - at);
  for (int l = 0; l < HASHGEMM_LANES; l++) all = (all ^ h[l] ^ (h[l] >> 31)) * prime;
  for (int l = 0; l < HASHGEMM_LANES; l++) all = (all ^ word[l] ^ (word[l] >> 31)) * prime;
  return all;
}

/* Returns how many of the n columns from k on are not larger than their predecessor */
static int64_t HashGEMMDown(SysInt k, SysInt n, const SysInt *j)
{
  SysInt down = 0;

  for (SysInt l = k ? k : 1; l < k + n; l++) down += j[l] <= j[l - 1];
  return down;
}

/* Returns how many rows begin with a column not larger than the one before. Branch-free: a branch a row would be mispredicted where rows are short. */
static int64_t HashGEMMBegins(int64_t first, int64_t last, const SysInt *i, const SysInt *j)
{
  int64_t begins = 0;

  for (int64_t r = first; r < last; r++) {
    const int    some = (i[r] > 0) & (i[r] < i[r + 1]);
    const SysInt k    = some ? i[r] : 1;

    begins += some & (j[k] <= j[k - 1]);
  }
  return begins;
}

/* Columns descend only from one row to the next. Hashes and checks some rows at a time, while they are cached. */
uint64_t HashGEMMFingerprint(int64_t m, const SysInt *i, const SysInt *j, int *ascending)
{
  uint64_t all  = HashGEMMHash(m, i + 1, (uint64_t)m);
  int64_t  down = 0, last;

  for (int64_t first = 0; first < m; first = last) {
    for (last = first + 1; last < m && i[last + 1] - i[first] <= HASHGEMM_CACHED_COLUMNS; last++) { }
    down += HashGEMMDown(i[first], i[last] - i[first], j);
    if (i[last] > 1) down -= HashGEMMBegins(first, last, i, j);
    all = HashGEMMHash(i[last] - i[first], j + i[first], all);
  }
  *ascending = down == 0;
  return all;
}

void HashGEMMMergeLengths(int64_t m, const SysInt *di, const SysInt *oi, SysInt *i)
{
  for (int64_t r = 0; r <= m; r++) i[r] = di[r] + oi[r];
}

void HashGEMMMergeColumns(int64_t m, const SysInt *di, const SysInt *dj, const SysInt *oi, const SysInt *oj, SysInt first, SysInt n, const SysInt *map, SysInt *j)
{
  for (int64_t r = 0; r < m; r++) {
    for (SysInt k = di[r]; k < di[r + 1]; k++) *j++ = first + dj[k];
    for (SysInt k = oi[r]; k < oi[r + 1]; k++) *j++ = n + (map ? map[oj[k]] : oj[k]);
  }
}

void HashGEMMMergeValues(int64_t m, const SysInt *di, const SysScalar *da, const SysInt *oi, const SysScalar *oa, SysScalar *a)
{
  for (int64_t r = 0; r < m; r++) {
    for (SysInt k = di[r]; k < di[r + 1]; k++) *a++ = da[k];
    for (SysInt k = oi[r]; k < oi[r + 1]; k++) *a++ = oa[k];
  }
}

/* ------------------------------------------------- sums ------------------------------------------------- */

/* Writes the columns of two ascending lists, each once, and returns their number */
static SysInt HashGEMMUnite(SysInt na, const SysInt *a, SysInt nb, const SysInt *b, SysInt *to)
{
  SysInt n = 0, k = 0, l = 0;

  while (k < na && l < nb) {
    const SysInt x = a[k], y = b[l];

    to[n++] = x < y ? x : y;
    k += x <= y;
    l += y <= x;
  }
  while (k < na) to[n++] = a[k++];
  while (l < nb) to[n++] = b[l++];
  return n;
}

/* The columns of rows begin to end - 1, in columns[], with work[] as second buffer: both have room for all entries of these rows. Returns their number. */
static SysInt HashGEMMUniteRows(const HashGEMMRows *pieces, SysInt begin, SysInt end, SysInt *columns, SysInt *work)
{
  const SysInt *united = pieces->j + pieces->i[begin];
  SysInt        n      = begin < end ? pieces->i[begin + 1] - pieces->i[begin] : 0;

  for (SysInt p = begin + 1; p < end; p++) {
    SysInt *to = (end - p) % 2 ? columns : work; /* the last list is in columns[] */

    n      = HashGEMMUnite(n, united, pieces->i[p + 1] - pieces->i[p], pieces->j + pieces->i[p], to);
    united = to;
  }
  if (united != columns && n) memcpy(columns, united, sizeof(*columns) * (size_t)n);
  return n;
}

static void HashGEMMSumRows(const HashGEMMRows *pieces, int64_t nsum, const SysInt piece[], int nthread, SysInt *columns, SysInt *work, SysInt *length)
{
  (void)nthread;
#pragma omp parallel for num_threads(nthread) schedule(static)
  for (int64_t t = 0; t < nsum; t++) {
    const SysInt first = pieces->i[piece[t]];

    length[t] = HashGEMMUniteRows(pieces, piece[t], piece[t + 1], columns + first, work + first);
  }
}

static void HashGEMMSumPlaces(const HashGEMMRows *pieces, const SysInt piece[], int nthread, const SysInt *columns, SysInt to[], HashGEMMRows *sum)
{
  (void)nthread;
#pragma omp parallel for num_threads(nthread) schedule(static)
  for (int64_t t = 0; t < sum->m; t++) {
    const SysInt begin = sum->i[t], n = sum->i[t + 1] - begin;

    if (n) memcpy(sum->j + begin, columns + pieces->i[piece[t]], sizeof(*columns) * (size_t)n);
    for (SysInt p = piece[t]; p < piece[t + 1]; p++) {
      SysInt place = begin;

      for (SysInt e = pieces->i[p]; e < pieces->i[p + 1]; e++) {
        while (sum->j[place] != pieces->j[e]) place++;
        to[e] = place++;
      }
    }
  }
}

int HashGEMMSumPattern(const HashGEMMRows *pieces, int64_t nsum, const SysInt piece[], int nthread, SysInt to[], HashGEMMRows *sum)
{
  const size_t nz      = (size_t)pieces->nz;
  SysInt      *columns = (SysInt *)SysAllocateBrief(sizeof(*columns) * (2 * nz + (size_t)nsum + 1)), *length;
  int64_t      all     = 0;
  int          enough;

  memset(sum, 0, sizeof(*sum));
  if (!columns) return 0;
  length = columns + 2 * nz;
  HashGEMMSumRows(pieces, nsum, piece, nthread, columns, columns + nz, length);
  for (int64_t t = 0; t < nsum; t++) all += length[t];
  enough = HashGEMMRowsAllocate(nsum, pieces->n, all, 1, sum);
  if (enough) {
    sum->i[0] = 0;
    for (int64_t t = 0; t < nsum; t++) sum->i[t + 1] = sum->i[t] + length[t];
    HashGEMMSumPlaces(pieces, piece, nthread, columns, to, sum);
  }
  SysRelease(columns, sizeof(*columns) * (2 * nz + (size_t)nsum + 1));
  return enough;
}

void HashGEMMSumValues(const HashGEMMRows *pieces, const SysInt piece[], const SysInt to[], int nthread, HashGEMMRows *sum)
{
  (void)nthread;
#pragma omp parallel for num_threads(nthread) schedule(static)
  for (int64_t t = 0; t < sum->m; t++) {
    for (SysInt k = sum->i[t]; k < sum->i[t + 1]; k++) sum->a[k] = 0;
    for (SysInt e = pieces->i[piece[t]]; e < pieces->i[piece[t + 1]]; e++) sum->a[to[e]] += pieces->a[e];
  }
}

/* ------------------------------------------------- cutting ------------------------------------------------- */

/* Returns the first entry from k to end whose column is at least n; most rows have none */
static SysInt HashGEMMCutAt(const SysInt *j, SysInt k, SysInt end, SysInt n)
{
  if (k == end || j[end - 1] < n) return end;
  while (k < end) {
    const SysInt middle = k + (end - k) / 2;

    if (j[middle] < n) k = middle + 1;
    else end = middle;
  }
  return k;
}

void HashGEMMMarkUsed(int64_t m, const SysInt *i, const SysInt *j, SysInt n, int nthread, char *used)
{
#pragma omp        parallel for num_threads(nthread) schedule(static) if (m > HASHGEMM_THREAD_ROWS)
  for (int64_t r = 0; r < m; r++) {
           for (SysInt k = HashGEMMCutAt(j, i[r], i[r + 1], n); k < i[r + 1]; k++) {
#pragma omp atomic write
      used[j[k] - n] = 1;
    }
  }
}

/* Returns the rows that contain row *r, and sets *r to its number there */
static const HashGEMMRows *HashGEMMCutRow(const HashGEMMCut *cut, int64_t *r)
{
  if (!cut->from || cut->from[*r] < 0) return cut->rows;
  *r = cut->from[*r];
  return cut->other;
}

void HashGEMMCutLengths(const HashGEMMCut *cut, SysInt *d, SysInt *o)
{
#pragma omp parallel for num_threads(cut->nthread) schedule(static) if (cut->m > HASHGEMM_THREAD_ROWS)
  for (int64_t row = 0; row < cut->m; row++) {
    int64_t             r    = row;
    const HashGEMMRows *rows = HashGEMMCutRow(cut, &r);
    const SysInt        k    = HashGEMMCutAt(rows->j, rows->i[r], rows->i[r + 1], cut->n);

    d[row] = k - rows->i[r];
    o[row] = rows->i[r + 1] - k;
  }
}

void HashGEMMCutColumns(const HashGEMMCut *cut, const SysInt *di, const SysInt *oi, SysInt *dj, SysInt *oj)
{
#pragma omp parallel for num_threads(cut->nthread) schedule(static) if (cut->m > HASHGEMM_THREAD_ROWS)
  for (int64_t row = 0; row < cut->m; row++) {
    int64_t             r    = row;
    const HashGEMMRows *rows = HashGEMMCutRow(cut, &r);
    const SysInt       *map  = rows == cut->rows ? cut->map : NULL;
    const SysInt       *j    = rows->j + rows->i[r];

    for (SysInt k = di[row]; k < di[row + 1]; k++) dj[k] = *j++;
    for (SysInt k = oi[row]; k < oi[row + 1]; k++, j++) oj[k] = map ? map[*j - cut->n] : *j - cut->n;
  }
}

void HashGEMMCutValues(const HashGEMMCut *cut, const SysInt *di, const SysInt *oi, SysScalar *da, SysScalar *oa)
{
#pragma omp parallel for num_threads(cut->nthread) schedule(static) if (cut->m > HASHGEMM_THREAD_ROWS)
  for (int64_t row = 0; row < cut->m; row++) {
    int64_t             r    = row;
    const HashGEMMRows *rows = HashGEMMCutRow(cut, &r);
    const SysScalar    *a    = rows->a + rows->i[r];

    for (SysInt k = di[row]; k < di[row + 1]; k++) da[k] = *a++;
    for (SysInt k = oi[row]; k < oi[row + 1]; k++) oa[k] = *a++;
  }
}
