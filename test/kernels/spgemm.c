/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Sparse products on raw arrays against a plain reference, without PETSc: every kind of product, every accumulator, every instruction set this
   processor has, several numbers of threads, random shapes.

   Prints "ok NAME" or "not ok NAME" for each combination of shape and instruction set.
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mat/impls/hashgemm/host/spgemmimpl.h"
#include "random.h"

static int failures = 0;

/* Some are explicit zeros, of either sign */
static SysScalar RandomEntry(void)
{
  const SysScalar a = RandomScalar();

  return RandomBelow(20) ? a : -0 * a;
}

/* A matrix, and the sums of the absolute values that its entries are made of: what rounding errors are measured by */
typedef struct {
  int64_t    m, n, nz, capacity;
  SysInt    *i, *j;
  SysScalar *a;
  double    *size;
} Matrix;

static void *Alloc(size_t size)
{
  void *p = calloc(1, size + 1);

  if (!p) abort();
  return p;
}

static Matrix *New(int64_t m, int64_t n)
{
  Matrix *A = Alloc(sizeof(*A));

  A->m = m;
  A->n = n;
  A->i = Alloc(sizeof(*A->i) * (m + 1));
  return A;
}

static void Append(Matrix *A, int64_t row, int64_t col, SysScalar a, double size)
{
  if (A->nz == A->capacity) {
    A->capacity = 2 * A->capacity + 1000;
    A->j        = realloc(A->j, sizeof(*A->j) * A->capacity);
    A->a        = realloc(A->a, sizeof(*A->a) * A->capacity);
    A->size     = realloc(A->size, sizeof(*A->size) * A->capacity);
    if (!A->j || !A->a || !A->size) abort();
  }
  A->j[A->nz]      = (SysInt)col;
  A->a[A->nz]      = a;
  A->size[A->nz++] = size;
  A->i[row + 1]    = (SysInt)A->nz;
}

static void Free(Matrix *A)
{
  if (!A) return;
  free(A->i);
  free(A->j);
  free(A->a);
  free(A->size);
  free(A);
}

static int Ascending(const void *a, const void *b)
{
  const SysInt x = *(const SysInt *)a, y = *(const SysInt *)b;

  return (x > y) - (x < y);
}

/* A row of at most n entries near a column, or anywhere */
static void RandomRow(Matrix *A, int64_t row, int64_t n, int64_t middle, int64_t width)
{
  SysInt *c = Alloc(sizeof(*c) * (n + 1));

  A->i[row + 1] = (SysInt)A->nz;
  for (int64_t k = 0; k < n && A->n; k++) c[k] = (SysInt)((middle + RandomBelow(width < A->n ? width : A->n)) % A->n);
  if (A->n) qsort(c, n, sizeof(*c), Ascending);
  for (int64_t k = 0; k < n && A->n; k++) {
    if (k == 0 || c[k] != c[k - 1]) {
      const SysScalar a = RandomEntry();

      Append(A, row, c[k], a, Abs(a));
    }
  }
  free(c);
}

/* The shapes */
static Matrix *Uniform(int64_t m, int64_t n, int64_t most)
{
  Matrix *A = New(m, n);

  for (int64_t r = 0; r < m; r++) RandomRow(A, r, RandomBelow(most + 1), 0, n);
  return A;
}

static Matrix *Band(int64_t m, int64_t n, int64_t most, int64_t width)
{
  Matrix *A = New(m, n);

  for (int64_t r = 0; r < m; r++) RandomRow(A, r, RandomBelow(most + 1), n * r / m, width);
  return A;
}

/* Some long rows, many short or empty */
static Matrix *Hubs(int64_t m, int64_t n)
{
  Matrix *A = New(m, n);

  for (int64_t r = 0; r < m; r++) RandomRow(A, r, RandomBelow(40) ? RandomBelow(3) : n, 0, n);
  return A;
}

/* The first few rows are long, the others short */
static Matrix *Heads(int64_t m, int64_t n)
{
  Matrix *A = New(m, n);

  for (int64_t r = 0; r < m; r++) RandomRow(A, r, r < 10 ? 60 : 1, 0, n);
  return A;
}

/* All entries in the first few columns */
static Matrix *Left(int64_t m, int64_t n)
{
  Matrix *A = New(m, n);

  for (int64_t r = 0; r < m; r++) RandomRow(A, r, 6, 0, 10);
  return A;
}

static Matrix *Runs(int64_t m, int64_t n)
{
  Matrix *A = New(m, n);

  for (int64_t r = 0; r < m; r++) {
    A->i[r + 1] = (SysInt)A->nz;
    for (int64_t c = RandomBelow(n); c < n; c += 1 + RandomBelow(n)) {
      for (int64_t end = c + 1 + RandomBelow(90); c < end && c < n; c++) {
        const SysScalar a = RandomEntry();

        Append(A, r, c, a, Abs(a));
      }
    }
  }
  return A;
}

/* Rows in groups of up to most that have the same columns */
static Matrix *Nodes(int64_t m, int64_t n, int64_t most, int64_t length, int64_t width)
{
  Matrix *A = New(m, n);

  for (int64_t r = 0, g; r < m; r += g) {
    SysInt first, end;

    g = 1 + RandomBelow(most);
    if (g > m - r) g = m - r;
    RandomRow(A, r, RandomBelow(length + 1), n * r / m, width);
    first = A->i[r];
    end   = A->i[r + 1];
    for (int64_t q = 1; q < g; q++) {
      A->i[r + q + 1] = (SysInt)A->nz;
      for (SysInt k = first; k < end; k++) {
        const SysScalar a = RandomEntry();

        Append(A, r + q, A->j[k], a, Abs(a));
      }
    }
  }
  return A;
}

/* Blocks of rows x cols entries, of which one in holes is missing; holes == 0: none. A block may be cut at the matrix's end. */
static Matrix *Blocks(int64_t m, int64_t n, int64_t rows, int64_t cols, int64_t most, int64_t width, int64_t holes)
{
  const int64_t wide = (n + cols - 1) / cols;
  Matrix       *A = New(m, n), *G = Band((m + rows - 1) / rows, wide, most, width < wide ? width : wide);

  for (int64_t r = 0; r < m; r++) {
    A->i[r + 1] = (SysInt)A->nz;
    for (SysInt k = G->i[r / rows]; k < G->i[r / rows + 1]; k++) {
      for (int64_t c = cols * G->j[k]; c < cols * (G->j[k] + 1) && c < n; c++) {
        const SysScalar a = RandomEntry();

        if (!holes || RandomBelow(holes)) Append(A, r, c, a, Abs(a));
      }
    }
  }
  Free(G);
  return A;
}

/* Lines of up to so many rows, each of which is the one before moved by one column, but for what leaves the matrix */
static Matrix *Moved(int64_t m, int64_t n, int64_t most, int64_t width, int64_t line)
{
  Matrix *A    = New(m, n);
  SysInt *c    = Alloc(sizeof(*c) * (most + 1));
  int64_t left = 0, length = 0;

  for (int64_t r = 0; r < m; r++, left--) {
    if (!left) {
      left   = 1 + RandomBelow(line);
      length = RandomBelow(most + 1);
      for (int64_t k = 0; k < length; k++) c[k] = (SysInt)(n * r / m + RandomBelow(width));
      qsort(c, length, sizeof(*c), Ascending);
    }
    A->i[r + 1] = (SysInt)A->nz;
    for (int64_t k = 0; k < length; k++, c[k - 1]++) {
      const SysScalar a = RandomEntry();

      if (c[k] < n && (k == 0 || c[k] > c[k - 1] - 1)) Append(A, r, c[k], a, Abs(a));
    }
  }
  free(c);
  return A;
}

static Matrix *Empty(int64_t m, int64_t n)
{
  return New(m, n);
}

static Matrix *Transpose(const Matrix *A)
{
  Matrix  *T    = New(A->n, A->m);
  int64_t *next = Alloc(sizeof(*next) * (A->n + 1));

  T->nz   = A->nz;
  T->j    = Alloc(sizeof(*T->j) * A->nz);
  T->a    = Alloc(sizeof(*T->a) * A->nz);
  T->size = Alloc(sizeof(*T->size) * A->nz);
  for (int64_t k = 0; k < A->nz; k++) next[A->j[k] + 1]++;
  for (int64_t c = 0; c < A->n; c++) {
    next[c + 1] += next[c];
    T->i[c + 1] = (SysInt)next[c + 1];
  }
  for (int64_t r = 0; r < A->m; r++) {
    for (SysInt k = A->i[r]; k < A->i[r + 1]; k++) {
      const int64_t q = next[A->j[k]]++;

      T->j[q]    = (SysInt)r;
      T->a[q]    = A->a[k];
      T->size[q] = A->size[k];
    }
  }
  free(next);
  return T;
}

static Matrix *Product(const Matrix *A, const Matrix *B)
{
  Matrix    *C    = New(A->m, B->n);
  SysScalar *sum  = Alloc(sizeof(*sum) * B->n);
  double    *size = Alloc(sizeof(*size) * B->n);
  char      *mark = Alloc(B->n);
  SysInt    *list = Alloc(sizeof(*list) * B->n);

  for (int64_t r = 0; r < A->m; r++) {
    int64_t n = 0;

    C->i[r + 1] = (SysInt)C->nz;
    for (SysInt k = A->i[r]; k < A->i[r + 1]; k++) {
      for (SysInt q = B->i[A->j[k]]; q < B->i[A->j[k] + 1]; q++) {
        const SysInt c = B->j[q];

        if (!mark[c]) list[n++] = c;
        mark[c] = 1;
        sum[c] += A->a[k] * B->a[q];
        size[c] += A->size[k] * B->size[q];
      }
    }
    qsort(list, n, sizeof(*list), Ascending);
    for (int64_t k = 0; k < n; k++) {
      const SysInt c = list[k];

      Append(C, r, c, sum[c], size[c]);
      sum[c]  = 0;
      size[c] = 0;
      mark[c] = 0;
    }
  }
  free(sum);
  free(size);
  free(mark);
  free(list);
  return C;
}

static Matrix *Reference(SpgemmType type, const Matrix *A, const Matrix *B, const Matrix *C)
{
  Matrix *T = NULL, *M = NULL, *R = NULL;

  switch (type) {
  case SPGEMM_AB:
    R = Product(A, B);
    break;
  case SPGEMM_ATB:
    T = Transpose(A);
    R = Product(T, B);
    break;
  case SPGEMM_ABT:
    T = Transpose(B);
    R = Product(A, T);
    break;
  case SPGEMM_PTAP:
    T = Transpose(B);
    M = Product(A, B);
    R = Product(T, M);
    break;
  case SPGEMM_RART:
    T = Transpose(B);
    M = Product(A, T);
    R = Product(B, M);
    break;
  case SPGEMM_ABC:
    M = Product(A, B);
    R = Product(M, C);
    break;
  }
  Free(T);
  Free(M);
  return R;
}

static SysCSR View(const Matrix *A)
{
  static const SysInt none[1] = {0};

  return A ? (SysCSR){A->m, A->n, A->nz, A->i, A->j, A->a} : (SysCSR){0, 0, 0, none, NULL, NULL};
}

static int Differs(const Matrix *R, const SysInt *i, const SysInt *j, const SysScalar *a)
{
  if (memcmp(i, R->i, sizeof(*i) * (R->m + 1))) return 1;
  if (R->nz && memcmp(j, R->j, sizeof(*j) * R->nz)) return 2;
  for (int64_t k = 0; k < R->nz; k++) {
    if (!(Abs(a[k] - R->a[k]) <= 100 * EPS * R->size[k])) return 3;
  }
  return 0;
}

/* The same entries with other values */
static Matrix *Renewed(const Matrix *A)
{
  Matrix *B = New(A->m, A->n);

  for (int64_t r = 0; r < A->m; r++) {
    B->i[r + 1] = (SysInt)B->nz;
    for (SysInt k = A->i[r]; k < A->i[r + 1]; k++) {
      const SysScalar v = RandomEntry();

      Append(B, r, A->j[k], v, Abs(v));
    }
  }
  return B;
}

static const char *const type_names[]        = {"AB", "AtB", "ABt", "PtAP", "RARt", "ABC"};
static const char *const accumulator_names[] = {"auto", "hash", "hashvec", "heap", "dense", "esc"};

/* A product: its operands, once more with new values, and what it should be with either */
typedef struct {
  SpgemmType    type;
  const Matrix *M[2][3];
  Matrix       *R[2];
} Case;

static Case NewCase(SpgemmType type, const Matrix *const A[2], const Matrix *const B[2], const Matrix *const C[2])
{
  Case c = {.type = type};

  for (int k = 0; k < 2; k++) {
    c.M[k][0] = A[k];
    c.M[k][1] = B[k];
    c.M[k][2] = C ? C[k] : NULL;
    c.R[k]    = Reference(type, c.M[k][0], c.M[k][1], c.M[k][2]);
  }
  return c;
}

static void FreeCase(Case *c)
{
  Free(c->R[0]);
  Free(c->R[1]);
}

/* Does the product have the same bits on so many threads? Windows and stamps have to have room for all columns: otherwise rows that reach far are summed in another way.
   Of complex numbers a compiler may round a product in two ways in two statements. */
static int SameBits(const Case *test, int nthread)
{
#if defined(SYS_COMPLEX)
  (void)test;
  return nthread == 1;
#else
  int64_t n = 0;

  for (int q = 0; q < 3; q++) {
    if (test->M[0][q] && test->M[0][q]->n > n) n = test->M[0][q]->n;
    if (test->M[0][q] && test->M[0][q]->m > n) n = test->M[0][q]->m;
  }
  return (int64_t)(16 + sizeof(SysScalar)) * n * nthread <= SPGEMM_WINDOWS;
#endif
}

/* bits: the values that one thread has made, in each round; those of more threads have the same bits. NULL: not compared */
static int Try(const SpgemmKernels *kernels, SpgemmAccumulator accumulator, int nthread, const Case *test, SysScalar *bits)
{
  const SpgemmType    type    = test->type;
  const SpgemmOptions options = {.accumulator = accumulator, .nthread = nthread};
  const Matrix       *R       = test->R[0];
  SysCSR              a = View(test->M[0][0]), b = View(test->M[0][1]), c = View(test->M[0][2]);
  Spgemm             *S;
  SpgemmInfo          info;
  SysInt             *i, *j;
  SysScalar          *v, *first[2];
  int                 wrong  = 0;
  const SysCSR       *turned = SpgemmTransposed(type, &a, &b);

  if (SpgemmCreateWith(kernels, type, &a, &b, &c, &options, &S, &info)) {
    printf("# %s %s: no product\n", type_names[type], accumulator_names[accumulator]);
    return 1;
  }
  if (SpgemmNonzeros(S) != R->nz || info.nonzeros != (double)R->nz) {
    printf("# %s %s: %lld entries, should be %lld\n", type_names[type], accumulator_names[accumulator], (long long)SpgemmNonzeros(S), (long long)R->nz);
    SpgemmDestroy(&S);
    return 1;
  }
  i = malloc(sizeof(*i) * (R->m + 1));
  j = malloc(sizeof(*j) * R->nz);
  v = malloc(sizeof(*v) * R->nz);
  for (int k = 0; k < 2; k++) first[k] = malloc(sizeof(*v) * (size_t)(R->nz + 1));
  if (!i || (R->nz && (!j || !v)) || !first[0] || !first[1]) abort();
  if (SpgemmFill(S, &a, &b, &c, i, j, v)) wrong = 4;
  SpgemmGetInfo(S, &info);
  if (info.bytes_kept >= SPGEMM_PLAN_BYTES && info.bytes_kept >= SPGEMM_PLAN_RATIO * (SysCSRBytes(&a) + SysCSRBytes(&b) + (double)R->nz * (double)(sizeof(SysInt) + sizeof(SysScalar)))) wrong = 12; /* a large plan stays */
  memcpy(first[0], v, sizeof(*v) * (size_t)R->nz);
  if (!wrong) wrong = Differs(R, i, j, v);
  if (bits && nthread == 1) memcpy(bits, v, sizeof(*v) * (size_t)R->nz);
  else if (bits && !wrong && memcmp(bits, v, sizeof(*v) * (size_t)R->nz)) wrong = 9;
  /* the arrays of the operands may be others than before; from the second time on positions may be known */
  for (int again = 1; again < 5; again++) {
    a = View(test->M[again % 2][0]);
    b = View(test->M[again % 2][1]);
    c = View(test->M[again % 2][2]);
    for (int64_t k = 0; k < R->nz; k++) v[k] = (SysScalar)NAN;
    if (!wrong && SpgemmRevalue(S, &a, &b, &c, i, j, v)) wrong = 5;
    if (!wrong && Differs(test->R[again % 2], i, j, v)) wrong = 6;
    if (again == 1) memcpy(first[1], v, sizeof(*v) * (size_t)R->nz);
    else if (SameBits(test, nthread) && !wrong && memcmp(first[again % 2], v, sizeof(*v) * (size_t)R->nz)) wrong = 11; /* the values of two rounds before */
    if (bits && nthread == 1) memcpy(bits + again * R->nz, v, sizeof(*v) * (size_t)R->nz);
    else if (bits && !wrong && memcmp(bits + again * R->nz, v, sizeof(*v) * (size_t)R->nz)) wrong = 10;
  }
  SpgemmGetInfo(S, &info);
  if (!wrong && (info.bytes_kept > info.bytes_peak || info.bytes_kept < 0)) wrong = 7;
  if (!wrong && turned && type != SPGEMM_PTAP && info.bytes_kept < (double)(turned->nz * (2 * sizeof(SysInt) + sizeof(SysScalar)))) wrong = 8;
  SpgemmDestroy(&S);
  if (wrong) printf("# %s %s %d threads: error %d\n", type_names[type], accumulator_names[accumulator], nthread, wrong);
  free(i);
  free(j);
  free(v);
  free(first[0]);
  free(first[1]);
  return wrong;
}

static void Report(const char *name, const char *instructions, int wrong)
{
  printf("%s spgemm %s, %s\n", wrong ? "not ok" : "ok", name, instructions);
  fflush(stdout);
  failures += wrong != 0;
}

static const SpgemmKernels *const all_kernels[] = {
  &SpgemmKernelsPlain,
#if defined(PETSCAMB_HAVE_AVX2)
  &SpgemmKernelsAVX2,
#endif
#if defined(PETSCAMB_HAVE_AVX512)
  &SpgemmKernelsAVX512,
#endif
};

#define KERNELS ((int)(sizeof(all_kernels) / sizeof(*all_kernels)))

static void Shape(const char *name, Matrix *const M[5])
{
  static const int threads[] = {1, 2, 7};
  const Matrix    *X[5][2], *Bt[2], *At[2];
  Case             test[6];

  for (int q = 0; q < 5; q++) {
    X[q][0] = M[q];
    X[q][1] = Renewed(M[q]);
  }
  for (int k = 0; k < 2; k++) {
    At[k] = Transpose(X[0][k]);
    Bt[k] = Transpose(X[1][k]);
  }
  test[0] = NewCase(SPGEMM_AB, X[0], X[1], NULL);
  test[1] = NewCase(SPGEMM_ATB, At, X[1], NULL);
  test[2] = NewCase(SPGEMM_ABT, X[0], Bt, NULL);
  test[3] = NewCase(SPGEMM_PTAP, X[2], X[3], NULL);
  test[4] = NewCase(SPGEMM_RART, X[2], X[4], NULL);
  test[5] = NewCase(SPGEMM_ABC, X[4], X[2], X[3]);
  for (int k = 0; k < KERNELS; k++) {
    int wrong = 0;

    if (!all_kernels[k]->supported()) continue;
    for (int acc = 0; acc < 6; acc++) {
      for (int c = 0; c < 6 && !wrong; c++) {
        SysScalar *bits = malloc(5 * sizeof(*bits) * (size_t)(test[c].R[0]->nz + 1));

        if (!bits) abort();
        for (int t = 0; t < 3 && !wrong; t++) wrong |= Try(all_kernels[k], acc, threads[t], &test[c], SameBits(&test[c], threads[t]) ? bits : NULL);
        free(bits);
      }
    }
    Report(name, all_kernels[k]->name, wrong);
  }
  for (int c = 0; c < 6; c++) FreeCase(&test[c]);
  for (int k = 0; k < 2; k++) {
    Free((Matrix *)At[k]);
    Free((Matrix *)Bt[k]);
    for (int q = 0; q < 5; q++) Free((Matrix *)X[q][k]);
  }
}

/* P is square, R has its rows, C its columns */
static void Shapes(void)
{
  struct {
    const char *name;
    Matrix     *M[5];
  } const shape[] = {
    {"uniform",        {Uniform(60, 70, 8), Uniform(70, 90, 8), Uniform(80, 80, 6), Uniform(80, 30, 4), Uniform(20, 80, 7)}                                                                         },
    {"long rows",      {Uniform(12, 200, 100), Uniform(200, 2000, 300), Uniform(100, 100, 50), Uniform(100, 300, 40), Uniform(30, 100, 90)}                                                         },
    {"band",           {Band(1500, 1500, 12, 40), Band(1500, 1200, 8, 30), Band(900, 900, 9, 25), Band(900, 100, 5, 9), Band(150, 900, 8, 20)}                                                      },
    {"wide band",      {Band(900, 40000, 9, 4000), Band(40000, 30000, 3, 6000), Band(3000, 3000, 9, 1500), Band(3000, 40000, 3, 800), Band(400, 3000, 4, 2000)}                                     },
    {"hubs",           {Hubs(200, 300), Hubs(300, 250), Hubs(150, 150), Hubs(150, 60), Hubs(50, 150)}                                                                                               },
    {"runs",           {Runs(40, 300), Runs(300, 1500), Runs(80, 80), Runs(80, 600), Runs(40, 80)}                                                                                                  },
    {"nodes",          {Nodes(400, 300, 3, 9, 40), Nodes(300, 6000, 6, 8, 900), Nodes(500, 500, 12, 9, 60), Nodes(500, 200, 3, 8, 20), Nodes(100, 500, 9, 20, 80)}                                  },
    {"blocks of 2, 1", {Blocks(400, 300, 2, 1, 9, 40, 0), Blocks(300, 500, 1, 2, 8, 50, 0), Blocks(400, 400, 2, 2, 9, 30, 0), Blocks(400, 150, 2, 1, 4, 20, 0), Blocks(60, 400, 1, 2, 9, 40, 0)}    },
    {"blocks of 3, 6", {Blocks(300, 360, 3, 6, 9, 30, 0), Blocks(360, 300, 6, 3, 8, 40, 0), Blocks(420, 420, 3, 3, 9, 30, 0), Blocks(420, 120, 3, 6, 4, 9, 0), Blocks(60, 420, 6, 3, 9, 40, 0)}     },
    {"blocks of 8, 5", {Blocks(400, 300, 8, 5, 9, 30, 0), Blocks(300, 320, 5, 8, 8, 40, 0), Blocks(400, 400, 8, 8, 9, 30, 0), Blocks(400, 100, 8, 5, 4, 9, 0), Blocks(50, 400, 5, 8, 9, 40, 0)}     },
    {"cut blocks",     {Blocks(301, 300, 4, 7, 9, 30, 0), Blocks(300, 305, 7, 4, 8, 40, 0), Blocks(303, 303, 4, 4, 9, 30, 0), Blocks(303, 101, 4, 7, 4, 9, 0), Blocks(52, 303, 7, 4, 9, 40, 0)}     },
    {"holes",          {Blocks(300, 360, 3, 6, 9, 30, 40), Blocks(360, 300, 6, 3, 8, 40, 40), Blocks(420, 420, 3, 3, 9, 30, 60), Blocks(420, 120, 3, 6, 4, 9, 30), Blocks(60, 420, 6, 3, 9, 40, 90)}},
    {"same rows",      {Runs(150, 200), Nodes(200, 900, 6, 30, 90), Nodes(300, 300, 4, 60, 70), Nodes(300, 150, 6, 20, 30), Nodes(90, 300, 3, 40, 60)}                                              },
    {"moved rows",     {Moved(900, 900, 7, 40, 60), Moved(900, 950, 20, 60, 90), Moved(700, 700, 9, 30, 600), Moved(700, 300, 4, 9, 50), Moved(90, 700, 9, 90, 40)}                                 },
    {"long results",   {Uniform(9, 90, 60), Uniform(90, 9000, 400), Uniform(60, 60, 40), Uniform(60, 70, 9), Uniform(40, 60, 30)}                                                                   },
    {"compressing",    {Band(400, 400, 60, 50), Band(400, 500, 40, 50), Band(300, 300, 50, 60), Band(300, 60, 9, 9), Band(50, 300, 60, 60)}                                                         },
    {"single entries", {Band(500, 500, 1, 1), Band(500, 500, 5, 20), Band(400, 400, 1, 30), Band(400, 300, 1, 1), Band(30, 400, 3, 400)}                                                            },
    {"one column",     {Uniform(50, 1, 1), Uniform(1, 80, 20), Uniform(40, 40, 9), Uniform(40, 1, 1), Uniform(1, 40, 20)}                                                                           },
    {"other order",    {Left(300, 300), Heads(300, 90), Left(300, 300), Heads(300, 90), Left(40, 300)}                                                                                              },
    {"no entries",     {Empty(30, 20), Uniform(20, 30, 4), Empty(40, 40), Uniform(40, 10, 3), Uniform(10, 40, 3)}                                                                                   },
    {"no rows",        {Empty(0, 20), Uniform(20, 30, 4), Uniform(30, 30, 3), Empty(30, 0), Empty(0, 30)}                                                                                           },
    {"nothing",        {Empty(0, 0), Empty(0, 0), Empty(0, 0), Empty(0, 0), Empty(0, 0)}                                                                                                            },
  };

  for (size_t k = 0; k < sizeof(shape) / sizeof(*shape); k++) Shape(shape[k].name, shape[k].M);
}

static double Products(const Matrix *A, const Matrix *B)
{
  double n = 0;

  for (int64_t k = 0; k < A->nz; k++) n += (double)(B->i[A->j[k] + 1] - B->i[A->j[k]]);
  return n;
}

/* P^T A P takes the order with fewer products */
static void Order(const SpgemmKernels *kernels)
{
  const SpgemmOptions options = {.accumulator = SPGEMM_AUTO, .nthread = 2};
  Matrix             *A[2] = {Band(300, 300, 7, 9), Left(300, 300)}, *P[2] = {Band(300, 90, 3, 5), Heads(300, 90)};
  int                 wrong = 0;

  for (int reverse = 0; reverse < 2; reverse++) {
    Matrix      *T = Transpose(P[reverse]), *inner = reverse ? Product(T, A[1]) : Product(A[0], P[0]);
    const double wanted = reverse ? Products(T, A[1]) + Products(inner, P[1]) : Products(A[0], P[0]) + Products(T, inner);
    const SysCSR a = View(A[reverse]), p = View(P[reverse]);
    SpgemmInfo   info;
    Spgemm      *S;

    if (SpgemmCreateWith(kernels, SPGEMM_PTAP, &a, &p, NULL, &options, &S, &info)) abort();
    wrong |= info.products != wanted;
    SpgemmDestroy(&S);
    Free(inner);
    Free(T);
  }
  for (int k = 0; k < 2; k++) {
    Free(A[k]);
    Free(P[k]);
  }
  Report("order of steps", kernels->name, wrong);
}

/* More columns than the dense accumulator is offered */
static void Wide(void)
{
  const int64_t n = 2 * (int64_t)SPGEMM_DENSE_MAX;
  const Matrix *X[3][2];
  Case          test[3];

  X[0][0] = Uniform(40, 60, 20);
  X[1][0] = Uniform(60, n, 60);
  X[2][0] = Uniform(60, 60, 12);
  for (int q = 0; q < 3; q++) X[q][1] = Renewed(X[q][0]);
  test[0] = NewCase(SPGEMM_AB, X[0], X[1], NULL);
  test[1] = NewCase(SPGEMM_ABC, X[0], X[2], X[1]);
  test[2] = NewCase(SPGEMM_PTAP, X[2], X[1], NULL);
  for (int k = 0; k < KERNELS; k++) {
    int wrong = 0;

    if (!all_kernels[k]->supported()) continue;
    for (int acc = 0; acc < 6; acc++) {
      for (int c = 0; c < (acc ? 2 : 3) && !wrong; c++) wrong |= Try(all_kernels[k], acc, 2, &test[c], NULL);
    }
    Report("many columns", all_kernels[k]->name, wrong);
  }
  for (int c = 0; c < 3; c++) FreeCase(&test[c]);
  for (int q = 0; q < 3; q++) {
    for (int k = 0; k < 2; k++) Free((Matrix *)X[q][k]);
  }
}

/* With many threads the windows are so small that all of them have no more than a certain number of bytes; rows that reach further go elsewhere */
static void ManyThreads(const SpgemmKernels *kernels)
{
  const int64_t m = 1000, n = SPGEMM_DENSE_MAX < 1 << 19 ? SPGEMM_DENSE_MAX : 1 << 19;
  Matrix       *A = Uniform(m, m, 12), *B = Uniform(m, n, 60);
  const SysCSR  a = View(A), b = View(B);
  int           wrong = 0;

  for (int nthread = 1; nthread <= 256; nthread *= 256) {
    const SpgemmOptions options = {.accumulator = SPGEMM_AUTO, .nthread = nthread};
    SpgemmInfo          info;
    Spgemm             *S;
    SysInt             *i, *j;
    SysScalar          *v;

    if (SpgemmCreateWith(kernels, SPGEMM_AB, &a, &b, NULL, &options, &S, &info)) abort();
    i = Alloc(sizeof(*i) * (m + 1));
    j = Alloc(sizeof(*j) * SpgemmNonzeros(S));
    v = Alloc(sizeof(*v) * SpgemmNonzeros(S));
    wrong |= SpgemmFill(S, &a, &b, NULL, i, j, v) != SYS_SUCCESS;
    SpgemmGetInfo(S, &info);
    wrong |= (info.rows[SPGEMM_DENSE] > info.rows[SPGEMM_HASH]) != (nthread == 1);
    SpgemmDestroy(&S);
    free(i);
    free(j);
    free(v);
  }
  Free(A);
  Free(B);
  Report("many threads", kernels->name, wrong);
}

/* Rows that are put in order as they come: of up to 16 products, of two or more entries of A */
static double FewRows(const Matrix *A, const Matrix *B)
{
  double rows = 0;

  for (int64_t r = 0; r < A->m; r++) {
    int64_t products = 0;

    for (SysInt k = A->i[r]; k < A->i[r + 1]; k++) products += B->i[A->j[k] + 1] - B->i[A->j[k]];
    rows += A->i[r + 1] - A->i[r] > 1 && products >= 1 && products <= 16;
  }
  return rows;
}

/* Short rows that reach far are sorted, by default too, where there are instructions for it, and rows of few products everywhere. The second product has rows of 255,
   256 and 257 products, of which the last are too many, and few columns; the third rows of 15 to 17, three to a column. */
static void Sorted(const SpgemmKernels *kernels)
{
  const int64_t n     = 8192;
  int           wrong = 0, sorts;
  Matrix       *A[3]  = {Uniform(300, 300, 12), New(3, 300), New(3, 300)}, *B[3], *R;

#if defined(SYS_COMPLEX)
  sorts = 0;
#else
  sorts  = !strcmp(kernels->name, "avx512");
#endif
  B[0] = Uniform(300, n, 12);
  B[1] = New(300, n);
  for (int64_t r = 0; r < 300; r++) {
    for (int64_t k = 0; k < (r % 18 ? 15 : 1); k++) Append(B[1], r, 580 * k + r % 2, (SysScalar)(r - k), (SysReal)(r + k));
  }
  for (int64_t r = 0; r < 3; r++) {
    for (int64_t k = r ? 0 : 1; k < (r == 2 ? 19 : 18); k++) Append(A[1], r, k, (SysScalar)(k + 1), (SysReal)(k + 1));
  }
  B[2] = New(300, n);
  for (int64_t r = 0; r < 300; r++) Append(B[2], r, (7 * r % 6 + r % 2) * 900, (SysScalar)(r + 1), (SysReal)(r + 1));
  for (int64_t r = 0; r < 3; r++) {
    for (int64_t k = 0; k < 15 + r; k++) Append(A[2], r, 3 * k, (SysScalar)(k - 4), (SysReal)(k + 4));
  }
  for (int k = 0; k < 3; k++) {
    const SysCSR a = View(A[k]), b = View(B[k]);
    const double few = FewRows(A[k], B[k]);

    R = Product(A[k], B[k]);
    for (int esc = 0; esc < 2; esc++) {
      for (int nthread = 1; nthread < 4; nthread += 2) {
        const SpgemmOptions options = {.accumulator = esc ? SPGEMM_ESC : SPGEMM_AUTO, .nthread = nthread};
        SpgemmInfo          info;
        Spgemm             *S;
        SysInt             *i, *j;
        SysScalar          *v;

        if (SpgemmCreateWith(kernels, SPGEMM_AB, &a, &b, NULL, &options, &S, &info)) abort();
        i = Alloc(sizeof(*i) * (R->m + 1));
        j = Alloc(sizeof(*j) * R->nz);
        v = Alloc(sizeof(*v) * R->nz);
        wrong |= SpgemmNonzeros(S) != R->nz || SpgemmFill(S, &a, &b, NULL, i, j, v) != SYS_SUCCESS || Differs(R, i, j, v);
        SpgemmGetInfo(S, &info);
        wrong |= k == 0 ? info.rows[SPGEMM_ESC] < few || (info.rows[SPGEMM_ESC] > few) != sorts : info.rows[SPGEMM_ESC] != few + (k == 1 ? 2 : 1) * sorts;
        SpgemmDestroy(&S);
        free(i);
        free(j);
        free(v);
      }
    }
    Free(R);
    Free(A[k]);
    Free(B[k]);
  }
  Report("sorted rows", kernels->name, wrong);
}

typedef struct {
  int        give;
  int64_t    asked;
  SysInt    *j;
  SysScalar *a;
} Given;

static int Give(void *context, int64_t entries, SysInt **j, SysScalar **a)
{
  Given *given = context;

  given->asked = entries;
  if (!given->give) return 0;
  *j = given->j = Alloc(sizeof(**j) * entries);
  *a = given->a = Alloc(sizeof(**a) * entries);
  return 1;
}

/* A row of n entries, on the columns from first on that follow one another in a circle */
static void CircleRow(Matrix *A, int64_t row, int64_t n, int64_t first)
{
  A->i[row + 1] = (SysInt)A->nz;
  for (int64_t c = 0; c < A->n; c++) {
    if (((c - first) % A->n + A->n) % A->n < n) {
      const SysScalar a = RandomEntry();

      Append(A, row, c, a, Abs(a));
    }
  }
}

/* Matrices times short prolongators. Rows of A have 0 to 39 entries, and rows of B one; none or one; none to three; eight; none or one in a thousand columns: so
   that the numbers of products and of columns meet every limit of the kernels for short rows. */
static void Prolongators(const SpgemmKernels *kernels)
{
  const int64_t m = 400, k = 200;
  int           wrong = 0, shorts;

#if defined(SYS_COMPLEX) || defined(SYS_SINGLE) || defined(SYS_INT64)
  shorts = 0;
#else
  shorts = !strcmp(kernels->name, "avx512");
#endif
  for (int kind = 0; kind < 5; kind++) {
    Matrix *A = New(m, k), *B = New(k, kind < 4 ? 20 : 1000), *R;
    SysCSR  a, b;
    double  few = 0; /* rows with two entries in A or more, and with up to 32 products */

    for (int64_t r = 0; r < m; r++) CircleRow(A, r, r % 40, r * 3);
    for (int64_t r = 0; r < k; r++) CircleRow(B, r, kind == 0 ? 1 : kind == 1 ? r % 3 > 0 : kind == 2 ? r % 4 : kind == 3 ? 8 : r % 2, kind < 4 ? r / 10 : r / 10 * 50);
    R = Product(A, B);
    a = View(A);
    b = View(B);
    for (int64_t r = 0; r < m; r++) {
      int64_t products = 0;

      for (SysInt q = A->i[r]; q < A->i[r + 1]; q++) products += B->i[A->j[q] + 1] - B->i[A->j[q]];
      few += A->i[r + 1] - A->i[r] > 1 && products > 0 && products <= 32;
    }
    for (int nthread = 1; nthread < 4; nthread += 2) {
      Given               given   = {.give = nthread == 1 && kind % 2};
      const SpgemmOptions options = {.accumulator = SPGEMM_AUTO, .nthread = nthread, .room = Give, .context = &given};
      SpgemmInfo          info;
      Spgemm             *S;
      SysInt             *i = Alloc(sizeof(*i) * (m + 1)), *j;
      SysScalar          *v;

      if (SpgemmCreateWith(kernels, SPGEMM_AB, &a, &b, NULL, &options, &S, &info)) abort();
      j = given.j ? given.j : Alloc(sizeof(*j) * R->nz);
      v = given.a ? given.a : Alloc(sizeof(*v) * R->nz);
      if (SpgemmNonzeros(S) != R->nz || SpgemmFill(S, &a, &b, NULL, i, j, v) || Differs(R, i, j, v)) wrong |= 1;
      SpgemmGetInfo(S, &info);
      if (shorts && info.rows[SPGEMM_ESC] < few) wrong |= 2;
      for (int64_t q = 0; q < R->nz; q++) v[q] = (SysScalar)NAN;
      if (SpgemmRevalue(S, &a, &b, NULL, i, j, v) || Differs(R, i, j, v)) wrong |= 4;
      SpgemmDestroy(&S);
      free(i);
      free(j);
      free(v);
    }
    if (wrong) printf("# kind %d: error %d\n", kind, wrong);
    Free(A);
    Free(B);
    Free(R);
  }
  Report("short prolongators", kernels->name, wrong);
}

/* A result with hardly fewer entries than products is made in its own arrays, of which room for that many is asked for, and one with far fewer is not. Without room
   it is copied. The first product is thrown away before it is filled. */
static void InPlace(const SpgemmKernels *kernels)
{
  Matrix *A[2] = {Uniform(400, 400, 8), Band(1000, 1000, 200, 80)}, *B[2] = {Uniform(400, 3000, 8), Band(1000, 1000, 200, 80)};
  int     wrong = 0;

  for (int far = 0; far < 2; far++) {
    const SysCSR a = View(A[far]), b = View(B[far]);
    Matrix      *R = Product(A[far], B[far]);

    for (int way = 0; way < 9; way++) {
      Given               given   = {.give = way % 3};
      const SpgemmOptions options = {.accumulator = way < 6 ? SPGEMM_AUTO : SPGEMM_HASH, .nthread = 1 + way / 3 % 2, .room = Give, .context = &given};
      const int           fill    = way % 3 != 1;
      Spgemm             *S;
      SysInt             *i = Alloc(sizeof(*i) * (R->m + 1)), *j;
      SysScalar          *v;

      if (SpgemmCreateWith(kernels, SPGEMM_AB, &a, &b, NULL, &options, &S, NULL)) abort();
      if (far) wrong |= given.asked > 0;
      else wrong |= given.asked < R->nz || given.asked > 10 * R->nz;
      if (!given.j) {
        given.j = Alloc(sizeof(*given.j) * R->nz);
        given.a = Alloc(sizeof(*given.a) * R->nz);
      }
      j = given.j;
      v = given.a;
      wrong |= SpgemmNonzeros(S) != R->nz;
      if (fill) wrong |= SpgemmFill(S, &a, &b, NULL, i, j, v) != SYS_SUCCESS || Differs(R, i, j, v);
      if (fill) {
        for (int64_t k = 0; k < R->nz; k++) v[k] = (SysScalar)NAN;
        wrong |= SpgemmRevalue(S, &a, &b, NULL, i, j, v) != SYS_SUCCESS || Differs(R, i, j, v);
      }
      SpgemmDestroy(&S);
      free(i);
      free(j);
      free(v);
    }
    Free(R);
    Free(A[far]);
    Free(B[far]);
  }
  Report("in place", kernels->name, wrong);
}

#if !defined(SYS_INT64)
/* A result whose entries cannot be counted */
static void TooLarge(const SpgemmKernels *kernels)
{
  const int64_t       n = 50000;
  Matrix             *A = New(n, 1), *B = New(1, n);
  const SpgemmOptions options = {.accumulator = SPGEMM_AUTO, .nthread = 2};
  SysCSR              a, b;
  SpgemmInfo          info;
  SysStatus           status;
  Spgemm             *S;

  for (int64_t r = 0; r < n; r++) {
    Append(A, r, 0, 1, 1);
    Append(B, 0, r, 1, 1);
  }
  a      = View(A);
  b      = View(B);
  status = SpgemmCreateWith(kernels, SPGEMM_AB, &a, &b, NULL, &options, &S, &info);
  Report("too large", kernels->name, status != SYS_TOO_LARGE || S || info.nonzeros != (double)n * (double)n);
  Free(A);
  Free(B);
}
#endif

/* A NaN or an infinity reaches the entries it is multiplied into and no others, whatever was in the tables before */
static void NotFinite(const char *name, const SpgemmKernels *kernels, Matrix *A)
{
  int wrong = 0;

  for (int acc = 0; acc < 6; acc++) {
    const SpgemmOptions options = {.accumulator = acc, .nthread = 1};
    const SysCSR        a       = View(A);
    Matrix             *R;
    Spgemm             *S;
    SysInt             *i, *j;
    SysScalar          *v;

    A->a[A->nz / 2] = (SysScalar)INFINITY;
    R               = Product(A, A);
    if (SpgemmCreateWith(kernels, SPGEMM_AB, &a, &a, NULL, &options, &S, NULL)) abort();
    i = malloc(sizeof(*i) * (R->m + 1));
    j = malloc(sizeof(*j) * R->nz);
    v = malloc(sizeof(*v) * R->nz);
    if (!i || !j || !v) abort();
    wrong |= SpgemmFill(S, &a, &a, NULL, i, j, v) != SYS_SUCCESS;
    for (int again = 0; again < 4; again++) {
      for (int64_t k = 0; k < R->nz; k++) wrong |= !isfinite(Abs(v[k])) != !isfinite(Abs(R->a[k]));
      wrong |= SpgemmRevalue(S, &a, &a, NULL, i, j, v) != SYS_SUCCESS;
    }
    SpgemmDestroy(&S);
    free(i);
    free(j);
    free(v);
    Free(R);
  }
  Free(A);
  Report(name, kernels->name, wrong);
}

/* Drops the first quarter of the columns in the lower half of the rows */
static Matrix *Unwrapped(Matrix *A)
{
  Matrix *B = New(A->m, A->n);

  for (int64_t r = 0; r < A->m; r++) {
    B->i[r + 1] = (SysInt)B->nz;
    for (SysInt k = A->i[r]; k < A->i[r + 1]; k++) {
      if (2 * r < A->m || 4 * A->j[k] > A->n) Append(B, r, A->j[k], A->a[k], A->size[k]);
    }
    B->i[r + 1] = (SysInt)B->nz;
  }
  Free(A);
  return B;
}

/* P^T A P of nodes' unknowns uses a window: few runs of columns of A P and P^T remain. Try() checks values and bits. */
static void Chain(void)
{
  static const int threads[] = {1, 2, 7};
  const int64_t    m = 30000, n = 3000;
  const Matrix    *A[2], *P[2];
  Case             test;
  SysScalar       *bits;
  Matrix          *inner;

  A[0]  = Nodes(m, m, 6, 60, 80);
  P[0]  = Unwrapped(Nodes(m, n, 6, 16, 24));
  A[1]  = Renewed(A[0]);
  P[1]  = Renewed(P[0]);
  test  = NewCase(SPGEMM_PTAP, A, P, NULL);
  inner = Product(A[0], P[0]);
  bits  = Alloc(5 * sizeof(*bits) * (size_t)(test.R[0]->nz + 1));
  for (int k = 0; k < KERNELS; k++) {
    int wrong = 0;

    if (!all_kernels[k]->supported()) continue;
    for (int t = 0; t < 3 && !wrong; t++) {
      const SpgemmOptions options = {.accumulator = SPGEMM_AUTO, .nthread = threads[t]};
      const SysCSR        a = View(A[0]), p = View(P[0]);
      SpgemmInfo          info;
      Spgemm             *S;

      wrong = Try(all_kernels[k], SPGEMM_AUTO, threads[t], &test, SameBits(&test, threads[t]) ? bits : NULL);
      if (SpgemmCreateWith(all_kernels[k], SPGEMM_PTAP, &a, &p, NULL, &options, &S, &info)) abort();
      SpgemmDestroy(&S); /* with the result */
      wrong |= info.bytes_kept - (double)test.R[0]->nz * (double)(sizeof(SysInt) + sizeof(SysScalar)) > 0.15 * ((double)inner->nz * (double)(sizeof(SysInt) + sizeof(SysScalar)) + (double)P[0]->nz * (double)(2 * sizeof(SysInt) + sizeof(SysScalar)));
    }
    Report("window of the intermediate", all_kernels[k]->name, wrong);
  }
  free(bits);
  FreeCase(&test);
  Free(inner);
  for (int k = 0; k < 2; k++) {
    Free((Matrix *)A[k]);
    Free((Matrix *)P[k]);
  }
}

int main(void)
{
  Shapes();
  Wide();
  Chain();
  for (int k = 0; k < KERNELS; k++) {
    if (!all_kernels[k]->supported()) {
      printf("skip spgemm, %s: not on this processor\n", all_kernels[k]->name);
      continue;
    }
    Order(all_kernels[k]);
    ManyThreads(all_kernels[k]);
    Sorted(all_kernels[k]);
    InPlace(all_kernels[k]);
    Prolongators(all_kernels[k]);
    NotFinite("not finite", all_kernels[k], Uniform(200, 200, 10));
    NotFinite("not finite, moved rows", all_kernels[k], Moved(200, 200, 9, 20, 90));
#if !defined(SYS_INT64)
    TooLarge(all_kernels[k]);
#endif
  }
  return failures != 0;
}
