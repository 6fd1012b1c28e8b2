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

int HashGEMMRowsAllocate(int64_t m, int64_t n, int64_t nz, HashGEMMRows *rows)
{
  memset(rows, 0, sizeof(*rows));
  rows->m  = m;
  rows->n  = n;
  rows->nz = nz;
  rows->i  = (SysInt *)SysAllocate(sizeof(*rows->i) * (size_t)(m + 1));
  rows->j  = (SysInt *)SysAllocate(sizeof(*rows->j) * (size_t)nz);
  if (HashGEMMRowsAllocateValues(rows) && rows->i && rows->j) return 1;
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

#if defined(_OPENMP)
  #pragma omp parallel for num_threads(nthread) schedule(dynamic, 512) if (bytes > 4 * SYS_HUGE_PAGE)
#endif
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
#if defined(_OPENMP)
  #pragma omp parallel for num_threads(nthread) schedule(static) if (m > HASHGEMM_THREAD_ROWS)
#endif
  for (int64_t r = 0; r < m; r++) {
    for (SysInt k = HashGEMMCutAt(j, i[r], i[r + 1], n); k < i[r + 1]; k++) {
#if defined(_OPENMP)
  #pragma omp atomic write
#endif
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
#if defined(_OPENMP)
  #pragma omp parallel for num_threads(cut->nthread) schedule(static) if (cut->m > HASHGEMM_THREAD_ROWS)
#endif
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
#if defined(_OPENMP)
  #pragma omp parallel for num_threads(cut->nthread) schedule(static) if (cut->m > HASHGEMM_THREAD_ROWS)
#endif
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
#if defined(_OPENMP)
  #pragma omp parallel for num_threads(cut->nthread) schedule(static) if (cut->m > HASHGEMM_THREAD_ROWS)
#endif
  for (int64_t row = 0; row < cut->m; row++) {
    int64_t             r    = row;
    const HashGEMMRows *rows = HashGEMMCutRow(cut, &r);
    const SysScalar    *a    = rows->a + rows->i[r];

    for (SysInt k = di[row]; k < di[row + 1]; k++) da[k] = *a++;
    for (SysInt k = oi[row]; k < oi[row + 1]; k++) oa[k] = *a++;
  }
}
