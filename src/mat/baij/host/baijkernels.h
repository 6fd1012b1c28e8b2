/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Template of the kernels of BAIJ for columns in registers Col4 or Col8: BAIJ(name) appends the number. No include guard: baij_isa.c includes it twice.
*/
#define Col BAIJ(Col)

enum {
  BAIJ(BAIJ_WIDTH) = BAIJ_SHORT ? 4 : 8
};

/* z = A x + y for block rows from to to - 1 */
static SYS_INLINE void BAIJ(BAIJRows)(const int bs, const int resident, const BAIJHost *A, int64_t from, int64_t to, const SysScalar *x, const SysScalar *y, SysScalar *z)
{
  const int sums = bs < 4 ? bs : 4;

  for (int64_t i = from; i < to; i++) {
    const SysInt    *j = A->j + A->i[i], *end = A->j + A->i[i + 1];
    const SysScalar *a = A->a + (size_t)A->i[i] * bs * bs;
    Col              sum[4];

    if (j == end && y == z) continue;
    sum[0] = y ? BAIJ(BAIJLoad)(bs, y + i * bs) : BAIJ(BAIJZero)();
    for (int k = 1; k < 4; k++) sum[k] = BAIJ(BAIJZero)();
    for (; j < end; j++) {
      const SysScalar *xj = x + (size_t)*j * bs;

      BAIJPrefetch(bs, resident, a);
#pragma GCC unroll 8
      for (int c = 0; c < bs; c++) sum[c % sums] = BAIJ(BAIJAxpy)(bs, BAIJ(BAIJLoad)(bs, a + c * bs), xj[c], sum[c % sums]);
      a += bs * bs;
    }
    for (int k = 1; k < sums; k++) sum[0] = BAIJ(BAIJAdd)(sum[0], sum[k]);
    BAIJ(BAIJStore)(bs, z + i * bs, sum[0]);
  }
}

/* z = A x + y for nodes from to to - 1 of an AIJ: a register sums the products of a row, lane by lane */
static SYS_INLINE void BAIJ(BAIJNodes)(const int bs, const int resident, const BAIJHost *A, int64_t from, int64_t to, const SysScalar *x, const SysScalar *y, SysScalar *z)
{
  for (int64_t i = from; i < to; i++) {
    const SysInt    *row = A->i + i * bs, *j = A->j + row[0], *end = A->j + row[1];
    const SysScalar *a = A->a + row[0], *ahead = a; /* the values of a node follow one another */
    const size_t     length = (size_t)(end - j);
    Col              sum[8];

#pragma GCC unroll 8
    for (int r = 0; r < BAIJ(BAIJ_WIDTH); r++) sum[r] = BAIJ(BAIJZero)();
    if (i + BAIJ_NODES < A->m) { /* only the first row of a node is read: the processor does not see these jumps coming */
      for (size_t k = 0; k < length; k += 64 / sizeof(*j)) _mm_prefetch((const char *)(A->j + A->i[(i + BAIJ_NODES) * bs] + k), _MM_HINT_T0);
    }
    for (; j < end; j += bs) {
      const Col xj = BAIJ(BAIJLoad)(bs, x + *j);

      BAIJPrefetch(bs, resident, ahead);
#pragma GCC unroll 8
      for (int r = 0; r < bs; r++) sum[r] = BAIJ(BAIJFma)(BAIJ(BAIJLoad)(bs, a + r * length), xj, sum[r]);
      a += bs;
      ahead += bs * bs;
    }
    sum[0] = BAIJ(BAIJSums)(sum);
    if (y) sum[0] = BAIJ(BAIJAdd)(sum[0], BAIJ(BAIJLoad)(bs, y + i * bs));
    BAIJ(BAIJStore)(bs, z + i * bs, sum[0]);
  }
}

/* z = z + A^T x */
static SYS_INLINE void BAIJ(BAIJTranspose)(const int bs, const int resident, const BAIJHost *A, const SysScalar *x, SysScalar *z)
{
  const SysScalar *a = A->a;

  for (int64_t i = 0; i < A->m; i++) {
    const SysInt *j = A->j + A->i[i], *end = A->j + A->i[i + 1];
    Col           xi;

    if (j == end) continue;
    xi = BAIJ(BAIJLoad)(bs, x + i * bs);
    for (; j < end; j++) {
      SysScalar *zj = z + (size_t)*j * bs;
      Col        p[8];

      BAIJPrefetch(bs, resident, a);
#pragma GCC unroll 8
      for (int c = 0; c < BAIJ(BAIJ_WIDTH); c++) p[c] = c < bs ? BAIJ(BAIJMul)(BAIJ(BAIJLoad)(bs, a + c * bs), xi) : BAIJ(BAIJZero)();
      BAIJ(BAIJAccumulate)(bs, zj, BAIJ(BAIJSums)(p));
      a += bs * bs;
    }
  }
}

/* z = z + A x, where A has its upper blocks only. As PETSc's loops, reads the upper triangle of a diagonal block of up to 7 rows, and all of a larger one. */
static SYS_INLINE void BAIJ(BAIJSymmetric)(const int bs, const int resident, const BAIJHost *A, const SysScalar *x, SysScalar *z)
{
  const SysScalar *a    = A->a;
  const int        sums = bs < 4 ? bs : 4;

  for (int64_t i = 0; i < A->m; i++) {
    const SysInt *j = A->j + A->i[i], *end = A->j + A->i[i + 1];
    Col           xi, sum[4];

    if (j == end) continue;
    xi = BAIJ(BAIJLoad)(bs, x + i * bs);
    for (int k = 0; k < 4; k++) sum[k] = BAIJ(BAIJZero)();
    if (*j == i) {
      SysScalar d[8];

#pragma GCC unroll 8
      for (int c = 0; c < bs; c++) {
        for (int r = 0; r < bs; r++) d[r] = bs > 7 || r <= c ? a[c * bs + r] : a[r * bs + c];
        sum[c % sums] = BAIJ(BAIJAxpy)(bs, BAIJ(BAIJLoad)(bs, d), x[i * bs + c], sum[c % sums]);
      }
      a += bs * bs;
      j++;
    }
    for (; j < end; j++) {
      const SysScalar *xj = x + (size_t)*j * bs;
      SysScalar       *zj = z + (size_t)*j * bs;
      Col              p[8];

      BAIJPrefetch(bs, resident, a);
#pragma GCC unroll 8
      for (int c = 0; c < BAIJ(BAIJ_WIDTH); c++) {
        if (c < bs) {
          const Col column = BAIJ(BAIJLoad)(bs, a + c * bs);

          sum[c % sums] = BAIJ(BAIJAxpy)(bs, column, xj[c], sum[c % sums]);
          p[c]          = BAIJ(BAIJMul)(column, xi);
        } else p[c] = BAIJ(BAIJZero)();
      }
      BAIJ(BAIJAccumulate)(bs, zj, BAIJ(BAIJSums)(p));
      a += bs * bs;
    }
    for (int k = 1; k < sums; k++) sum[0] = BAIJ(BAIJAdd)(sum[0], sum[k]);
    BAIJ(BAIJAccumulate)(bs, z + i * bs, sum[0]);
  }
}

#undef Col
