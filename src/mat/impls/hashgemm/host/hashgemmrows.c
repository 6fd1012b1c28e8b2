/* SPDX-License-Identifier: BSD-2-Clause */
#include "mat/impls/hashgemm/host/hashgemmrows.h"
#include "sys/sysmemory.h"

#include <string.h>

#define HASHGEMM_LANES 8
#define HASHGEMM_MANY  4096 /* rows that are worth several threads */

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

uint64_t HashGEMMFingerprint(int64_t m, const SysInt *i, const SysInt *j, int *ascending)
{
  const uint64_t prime = 0x9e3779b97f4a7c15u;
  const int64_t  nz    = i[m];
  int64_t        down = 0, begins = 0, k = 0;
  uint64_t       h[HASHGEMM_LANES], all = (uint64_t)m * prime;

  for (int l = 0; l < HASHGEMM_LANES; l++) h[l] = (uint64_t)l;
  for (; k + HASHGEMM_LANES <= nz; k += HASHGEMM_LANES) {
    for (int l = 0; l < HASHGEMM_LANES; l++) h[l] = (h[l] ^ (uint64_t)j[k + l]) * prime;
  }
  for (int l = 0; k < nz; k++, l++) h[l] = (h[l] ^ (uint64_t)j[k]) * prime;
  for (int l = 0; l < HASHGEMM_LANES; l++) all = (all ^ h[l] ^ (h[l] >> 31)) * prime;
  for (int64_t r = 1; r <= m; r++) all = (all ^ (uint64_t)i[r]) * prime;
  /* columns go down only from one row to the next */
  for (k = 1; k < nz; k++) down += j[k] <= j[k - 1];
  for (int64_t r = 1; r < m; r++) begins += i[r] > 0 && i[r] < i[r + 1] && j[i[r]] <= j[i[r] - 1];
  *ascending = down == begins;
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

/* The first of the entries from k to end whose column is not before n: most rows end in their own columns */
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
  #pragma omp parallel for num_threads(nthread) schedule(static) if (m > HASHGEMM_MANY)
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

/* The rows that row *r is from; *r becomes its number there */
static const HashGEMMRows *HashGEMMCutRow(const HashGEMMCut *cut, int64_t *r)
{
  if (!cut->from || cut->from[*r] < 0) return cut->rows;
  *r = cut->from[*r];
  return cut->other;
}

void HashGEMMCutLengths(const HashGEMMCut *cut, SysInt *d, SysInt *o)
{
#if defined(_OPENMP)
  #pragma omp parallel for num_threads(cut->nthread) schedule(static) if (cut->m > HASHGEMM_MANY)
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
  #pragma omp parallel for num_threads(cut->nthread) schedule(static) if (cut->m > HASHGEMM_MANY)
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
  #pragma omp parallel for num_threads(cut->nthread) schedule(static) if (cut->m > HASHGEMM_MANY)
#endif
  for (int64_t row = 0; row < cut->m; row++) {
    int64_t             r    = row;
    const HashGEMMRows *rows = HashGEMMCutRow(cut, &r);
    const SysScalar    *a    = rows->a + rows->i[r];

    for (SysInt k = di[row]; k < di[row + 1]; k++) da[k] = *a++;
    for (SysInt k = oi[row]; k < oi[row + 1]; k++) oa[k] = *a++;
  }
}
