/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Sort: the listed products of a row, sorted by column in registers. Neither a window nor a table is needed, and nothing but the row itself is in the caches.

   Part of the template in spgemmkernels.h.
*/
#if defined(SPGEMM_SORT)
/* A key is a column, counted from the first of the row, and the number of a product */
static SYS_INLINE int CanSort(const Row *row)
{
  return row->products <= SPGEMM_SORT && row->hi - row->lo < (1 << 24) - 1;
}

/* The keys of a row in order, in as many vectors as a power of two; behind them the largest numbers */
static SYS_INLINE void SortColumns(const Row *row, const SysInt *col, uint32_t *key)
{
  const int64_t n       = row->products;
  int           vectors = 1;

  while (16 * vectors < n) vectors *= 2;
  for (int64_t q = 0; q < n; q++) key[q] = (uint32_t)(col[q] - row->lo) << 8 | (uint32_t)q;
  for (int64_t q = n; q < 16 * vectors; q++) key[q] = UINT32_MAX;
  switch (vectors) {
  case 1:
    SortKeys(1, key);
    break;
  case 2:
    SortKeys(2, key);
    break;
  case 4:
    SortKeys(4, key);
    break;
  case 8:
    SortKeys(8, key);
    break;
  default:
    SortKeys(16, key);
  }
}

static int64_t SortCount(const Row *row, const SysInt *col)
{
  int64_t  n = 1;
  uint32_t key[SPGEMM_SORT] __attribute__((aligned(64)));

  SortColumns(row, col, key);
  for (int64_t q = 1; q < row->products; q++) n += key[q] >> 8 != key[q - 1] >> 8;
  return n;
}

static int64_t SortRow(const Row *row, const SysInt *col, const SysScalar *val, SysInt *j, SysScalar *a)
{
  uint32_t key[SPGEMM_SORT] __attribute__((aligned(64)));

  SortColumns(row, col, key);
  return TakeSorted(row->products, key, row->lo, val, j, a);
}
#else
static SYS_INLINE int CanSort(const Row *row)
{
  (void)row;
  return 0;
}

static SYS_INLINE int64_t SortCount(const Row *row, const SysInt *col)
{
  (void)row;
  (void)col;
  return 0;
}

static SYS_INLINE int64_t SortRow(const Row *row, const SysInt *col, const SysScalar *val, SysInt *j, SysScalar *a)
{
  (void)row;
  (void)col;
  (void)val;
  (void)j;
  (void)a;
  return 0;
}
#endif
