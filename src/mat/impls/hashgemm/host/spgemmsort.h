/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Sort accumulator: a row's listed products, sorted by column in registers, with neither window nor table in the caches. Part of the template in
   spgemmkernels.h.
*/
#if defined(SPGEMM_SORT)
/* A key is a column, relative to the row's first, above a product's number */
static SYS_INLINE int CanSort(const Row *row)
{
  return row->products <= SPGEMM_SORT && row->hi - row->lo < (1 << 24) - 1;
}

/* Returns a row's length; computes columns and sums unless j is NULL. The keys fill `vectors` vectors, a power of two, padded with the largest
   numbers. */
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

/*
   Short rows: all products stay in registers from the rows of B to the result, without a list. The only branch is on the number of registers.
*/
#if defined(SPGEMM_SHORT)
static SYS_INLINE int ShortSupports(const SpgemmProduct *P)
{
  return !P->unsorted && (P->accumulator == SPGEMM_AUTO || P->accumulator == SPGEMM_ESC) && P->B.n <= 1 << 24 && P->lengthB <= SPGEMM_SHORT / 2;
}

/* Returns a product without contraction into a sum: products of sorted rows are rounded separately */
static SYS_INLINE SysScalar Rounded(SysScalar v)
{
  __asm__("" : "+v"(v));
  return v;
}

/* Computes a row whose columns are listed at their first products and then sorted; the products must not exceed what can be sorted */
static SYS_INLINE int64_t StampRow(const SpgemmProduct *P, int64_t r, SpgemmWork *w, SysInt *j, SysScalar *a)
{
  const uint64_t      now   = ++w->now;
  struct SpgemmStamp *stamp = w->stamp;
  int64_t             n     = 0;

  for (SysInt k = P->A.i[r]; k < P->A.i[r + 1]; k++) {
    const SysInt    end = P->B.i[P->A.j[k] + 1];
    const SysScalar f   = P->A.a[k];

    for (SysInt q = P->B.i[P->A.j[k]]; q < end; q++) {
      struct SpgemmStamp *s   = stamp + P->B.j[q];
      const int           old = s->row == now;

      j[n]   = P->B.j[q];
      s->sum = (old ? s->sum : 0) + Rounded(f * P->B.a[q]);
      s->row = now;
      n += !old;
    }
  }
  StampSort(stamp, n, j, a);
  return n;
}

/* Returns the products of row r; -1 if they are too many, or the row is copied. single: each row of B has one entry. */
static SYS_INLINE int64_t ShortProducts(const int single, const SpgemmProduct *P, int64_t r)
{
  const SysInt begin = P->A.i[r], end = P->A.i[r + 1];
  int64_t      n = 0;

  if (single && !P->far) return end - begin < 2 || end - begin > SPGEMM_SHORT ? -1 : end - begin;
  if (end - begin < 2 || (double)(end - begin) * P->lengthB > (P->stamps ? SPGEMM_SORT : 2 * SPGEMM_SHORT)) return -1;
  for (SysInt k = begin; k < end; k++) {
    if (P->far) PrefetchFar(P, k);
    n += P->B.i[P->A.j[k] + 1] - P->B.i[P->A.j[k]];
  }
  return n <= (P->stamps ? SPGEMM_SORT : SPGEMM_SHORT) ? n : -1;
}
#else
  #define SPGEMM_SHORT 0
static SYS_INLINE SysScalar Rounded(SysScalar v)
{
  return v;
}

static SYS_INLINE int64_t StampRow(const SpgemmProduct *P, int64_t r, SpgemmWork *w, SysInt *j, SysScalar *a)
{
  (void)P;
  (void)r;
  (void)w;
  (void)j;
  (void)a;
  return 0;
}

static SYS_INLINE int ShortSupports(const SpgemmProduct *P)
{
  (void)P;
  return 0;
}

static SYS_INLINE int64_t ShortProducts(const int single, const SpgemmProduct *P, int64_t r)
{
  (void)single;
  (void)P;
  (void)r;
  return -1;
}

static SYS_INLINE int64_t ShortRow(const int single, const SpgemmProduct *P, SysInt k, SysInt end, int64_t products, SysInt *j, SysScalar *a)
{
  (void)single;
  (void)P;
  (void)k;
  (void)end;
  (void)products;
  (void)j;
  (void)a;
  return 0;
}
#endif
