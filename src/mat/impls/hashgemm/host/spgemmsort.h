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

/* The length of a row; columns and sums too if j is not NULL. Its keys are in so many vectors, a power of two; behind them are the largest numbers. */
static SYS_INLINE int64_t SortRowOf(const int vectors, const Row *row, const SysInt *col, const SysScalar *val, SysInt *j, SysScalar *a)
{
  uint32_t key[SPGEMM_SORT] __attribute__((aligned(64)));

  MakeKeys(vectors, row->products, row->lo, col, key);
  SortKeys(vectors, key);
  return j ? TakeSorted(vectors, row->products, key, row->lo, val, j, a) : CountSorted(row->products, key);
}

static SYS_INLINE int64_t SortRowBy(const Row *row, const SysInt *col, const SysScalar *val, SysInt *j, SysScalar *a)
{
  if (row->products <= 16) return SortRowOf(1, row, col, val, j, a);
  if (row->products <= 32) return SortRowOf(2, row, col, val, j, a);
  if (row->products <= 64) return SortRowOf(4, row, col, val, j, a);
  if (row->products <= 128) return SortRowOf(8, row, col, val, j, a);
  return SortRowOf(16, row, col, val, j, a);
}

static int64_t SortCount(const Row *row, const SysInt *col)
{
  return SortRowBy(row, col, NULL, NULL, NULL);
}

static int64_t SortRow(const Row *row, const SysInt *col, const SysScalar *val, SysInt *j, SysScalar *a)
{
  return SortRowBy(row, col, val, j, a);
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
