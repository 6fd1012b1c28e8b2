/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The passes over blocks of vectors against loops over entries, without PETSc: every instruction set this processor has, all widths and kinds of preconditioners, products of
   one and two terms, sizes with and without a rest. The same bits whatever the number of threads.

   Prints "ok NAME" or "not ok NAME" for each instruction set and width.
*/
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ksp/ksp/impls/fused/fusedblock.h"

#define ROWS    1507
#define GHOSTS  40
#define EPSILON (sizeof(SysReal) == 4 ? 1.2e-7 : 2.3e-16)

static int failures = 0;

static double Random(int64_t k, int seed)
{
  const uint64_t h = ((uint64_t)k * 0x9e3779b97f4a7c15u + (uint64_t)seed * 0xbf58476d1ce4e5b9u) ^ 0x94d049bb133111ebu;

  return (double)((h * 0xd6e8feb86659fd93u) >> 11) / 4503599627370496.0 - 1.0;
}

/* A matrix of n rows whose lengths are 0 to 9; of 40 in a few rows */
typedef struct {
  SysInt  *i, *j;
  SysReal *a;
} Matrix;

static void MatrixCreate(Matrix *A, int64_t n, int64_t ncol, int seed)
{
  A->i    = malloc((size_t)(n + 1) * sizeof(SysInt));
  A->j    = malloc((size_t)(n * 40) * sizeof(SysInt));
  A->a    = malloc((size_t)(n * 40) * sizeof(SysReal));
  A->i[0] = 0;
  for (int64_t r = 0; r < n; r++) {
    const int length = r % 200 == 7 ? 40 : (int)((r * 7 + seed) % 10);

    A->i[r + 1] = A->i[r] + length;
    for (int k = 0; k < length; k++) {
      A->j[A->i[r] + k] = (SysInt)(k * ncol / 40 + (r + seed) % (ncol / 40));
      A->a[A->i[r] + k] = (SysReal)Random(A->i[r] + k, seed);
    }
  }
}

static void MatrixDestroy(Matrix *A)
{
  free(A->i);
  free(A->j);
  free(A->a);
}

typedef struct {
  SysReal *v[FUSED_VECTORS], *ghost, *d;
  int64_t  n;
} State;

static void StateCreate(State *s, int64_t n, int width)
{
  s->n = n;
  for (int k = 0; k < FUSED_VECTORS; k++) {
    s->v[k] = malloc((size_t)(n * width) * sizeof(SysReal));
    for (int64_t i = 0; i < n * width; i++) s->v[k][i] = (SysReal)Random(i, k);
  }
  s->ghost = malloc((size_t)(GHOSTS * width) * sizeof(SysReal));
  for (int64_t i = 0; i < GHOSTS * width; i++) s->ghost[i] = (SysReal)Random(i, 50);
  s->d = malloc((size_t)(n * FUSED_BLOCKS_MAX) * sizeof(SysReal));
  for (int64_t i = 0; i < n * FUSED_BLOCKS_MAX; i++) s->d[i] = (SysReal)Random(i, 100);
}

static void StateDestroy(State *s)
{
  for (int k = 0; k < FUSED_VECTORS; k++) free(s->v[k]);
  free(s->ghost);
  free(s->d);
}

static double Product(const Matrix A[], int nterm, const State *s, int width, int64_t r, int c)
{
  double sum = 0;

  for (int t = 0; t < nterm; t++) {
    for (int64_t k = A[t].i[r]; k < A[t].i[r + 1]; k++) sum += (double)A[t].a[k] * (double)(t ? s->ghost : s->v[FUSED_P])[A[t].j[k] * width + c];
  }
  return sum;
}

static double Precondition(const FusedBlockPass *f, const double *r, int64_t i)
{
  const int64_t first = i / f->bs * f->bs;
  double        sum   = 0;

  if (f->kind == FUSED_POINT) return f->d[i] * r[i];
  if (f->kind != FUSED_BLOCKS) return r[i];
  for (int j = 0; j < f->bs; j++) sum += (double)f->d[j * f->n + i] * r[first + j];
  return sum;
}

enum {
  STEP,
  APPLY,
  DIRECTION,
  UPDATE,
  DOT,
  RESIDUAL,
  ADD,
  CHEBYSHEV,
  CHEBYSHEV_FIRST,
  PASSES
};

/* Column c after a pass: the vectors in to[], and the sums */
static void Reference(int which, const FusedBlockPass *f, const State *s, const Matrix A[], int nterm, int c, double *to[FUSED_VECTORS], double sums[FUSED_SUMS])
{
  const int     width = f->width;
  const int64_t n     = f->n;
  double       *w = malloc((size_t)n * sizeof(double)), *z = malloc((size_t)n * sizeof(double));

  for (int k = 0; k < FUSED_VECTORS; k++) {
    for (int64_t i = 0; i < n; i++) to[k][i] = s->v[k][i * width + c];
  }
  for (int64_t i = 0; i < n; i++) w[i] = nterm ? Product(A, nterm, s, width, i, c) : 0;
  sums[0] = sums[1] = sums[2] = 0;
  if (which == STEP) {
    for (int64_t i = 0; i < n; i++) to[FUSED_R][i] -= f->a[c] * to[FUSED_W][i];
  }
  if (which == DIRECTION || which == UPDATE) {
    for (int64_t i = 0; i < n; i++) to[FUSED_X][i] += f->a[c] * to[FUSED_P][i];
  }
  if (which == RESIDUAL) {
    for (int64_t i = 0; i < n; i++) to[FUSED_W][i] = to[FUSED_R][i] - w[i];
  }
  if (which == ADD) {
    for (int64_t i = 0; i < n; i++) to[FUSED_X][i] += w[i];
  }
  for (int64_t i = 0; i < n; i++) z[i] = f->kind == FUSED_OTHER ? to[FUSED_Z][i] : Precondition(f, to[FUSED_R], i);
  if (which == DIRECTION) {
    for (int64_t i = 0; i < n; i++) to[FUSED_P][i] = z[i] + f->b[c] * to[FUSED_P][i];
  }
  if (which == DOT) {
    for (int64_t i = 0; i < n; i++) {
      to[FUSED_W][i] = w[i];
      sums[0] += w[i] * to[FUSED_P][i];
    }
  }
  if (which == CHEBYSHEV || which == CHEBYSHEV_FIRST) {
    const int first = which == CHEBYSHEV_FIRST;

    for (int64_t i = 0; i < n; i++) w[i] = first ? to[FUSED_R][i] : to[FUSED_R][i] - w[i];
    for (int64_t i = 0; i < n; i++) to[FUSED_X][i] = f->a[c] * Precondition(f, w, i) + (first ? 0 : f->b[c] * to[FUSED_P][i] + f->c[c] * to[FUSED_Z][i]);
    for (int64_t i = 0; i < n; i++) {
      sums[0] += to[FUSED_X][i] * to[FUSED_R][i];
      sums[1] += to[FUSED_X][i] * to[FUSED_X][i];
      sums[2] += to[FUSED_R][i] * to[FUSED_R][i];
    }
  } else if (which == STEP || which == APPLY) {
    for (int64_t i = 0; i < n; i++) {
      sums[0] += z[i] * to[FUSED_R][i];
      sums[1] += z[i] * z[i];
      sums[2] += to[FUSED_R][i] * to[FUSED_R][i];
    }
    if (which == STEP && f->kind == FUSED_OTHER) sums[0] = sums[1] = 0;
  }
  free(w);
  free(z);
}

/* Runs a pass in blocks of 64 rows or whole blocks of M, as FusedBlockRun() does */
static void Run(const FusedBlockKernels *kernels, FusedBlockFunction f, const FusedBlockPass *pass, const SpmmTerm term[], int nterm, SysReal sums[])
{
  const int64_t rows    = pass->bs > 64 ? pass->bs : 64 / pass->bs * pass->bs;
  SysReal      *product = malloc((size_t)(rows * pass->width) * sizeof(SysReal)), part[FUSED_SUMS * FUSED_BLOCK_COLUMNS] = {0};

  for (int s = 0; s < FUSED_SUMS * pass->width; s++) sums[s] = 0;
  for (int64_t lo = 0; lo < pass->n; lo += rows) {
    const int64_t hi = SysMin(lo + rows, pass->n);

    if (nterm) kernels->mult(pass->width, term, nterm, pass->n, lo, hi, product);
    f(pass, lo, hi, nterm ? product : NULL, part);
    for (int s = 0; s < FUSED_SUMS * pass->width; s++) sums[s] += part[s];
  }
  free(product);
}

static int Check(const FusedBlockKernels *kernels, int which, FusedKind kind, int bs, int width, int nterm)
{
  const FusedBlockFunction functions[PASSES] = {kernels->step, kernels->apply, kernels->direction, kernels->update, kernels->dot, kernels->residual, kernels->add, kernels->chebyshev, kernels->chebyshev};
  const int64_t            n                 = ROWS / bs * bs;
  const int                product           = which == DOT || which == RESIDUAL || which == ADD || which == CHEBYSHEV;
  FusedBlockPass           pass              = {.kind = kind, .bs = bs, .width = width, .n = n};
  SysReal                  sums[FUSED_SUMS * FUSED_BLOCK_COLUMNS];
  SpmmTerm                 term[2] = {{0}};
  double                  *to[FUSED_VECTORS], exact[FUSED_SUMS];
  State                    s, after;
  Matrix                   A[2];
  int                      wrong = 0;

  StateCreate(&s, n, width);
  StateCreate(&after, n, width);
  MatrixCreate(&A[0], n, n, 3);
  MatrixCreate(&A[1], n, GHOSTS, 5);
  for (int k = 0; k < FUSED_VECTORS; k++) {
    pass.v[k] = after.v[k];
    to[k]     = malloc((size_t)n * sizeof(double));
  }
  if (which == CHEBYSHEV_FIRST) pass.v[FUSED_P] = pass.v[FUSED_Z] = NULL;
  pass.d = s.d;
  for (int c = 0; c < width; c++) {
    pass.a[c] = (SysReal)Random(c, 200);
    pass.b[c] = (SysReal)Random(c, 201);
    pass.c[c] = (SysReal)Random(c, 202);
  }
  for (int t = 0; t < 2; t++) term[t] = (SpmmTerm){.i = A[t].i, .j = A[t].j, .a = A[t].a, .panel = t ? s.ghost : s.v[FUSED_P]};
  Run(kernels, functions[which], &pass, term, product ? nterm : 0, sums);
  for (int c = 0; c < width; c++) {
    Reference(which, &pass, &s, A, product ? nterm : 0, c, to, exact);
    for (int k = 0; k < FUSED_VECTORS; k++) {
      for (int64_t i = 0; i < n; i++) wrong += !(fabs(to[k][i] - after.v[k][i * width + c]) <= 500 * EPSILON);
    }
    for (int k = 0; k < FUSED_SUMS; k++) {
      if (which == STEP || which == APPLY || which == DOT || which == CHEBYSHEV || which == CHEBYSHEV_FIRST) wrong += !(fabs(exact[k] - sums[k * width + c]) <= 500 * EPSILON * (double)n);
    }
  }
  for (int k = 0; k < FUSED_VECTORS; k++) free(to[k]);
  for (int t = 0; t < 2; t++) MatrixDestroy(&A[t]);
  StateDestroy(&s);
  StateDestroy(&after);
  return wrong;
}

/* The driver: bits with other numbers of threads; columns and narrower panels */
static int Driver(int width)
{
  const FusedBlockKernels *kernels = FusedBlockHostKernels();
  const int                lane[2] = {1, width - 1}, other[2] = {0, 3};
  FusedBlockPass           pass    = {.kind = FUSED_POINT, .bs = 1, .width = width, .n = ROWS};
  SysReal                 *partial = malloc((size_t)(FusedBlockCount(ROWS, width, 1) + 1) * FUSED_SUMS * (size_t)width * sizeof(SysReal)), *column = malloc(4 * ROWS * sizeof(SysReal));
  SysReal                  sums[2][FUSED_SUMS * FUSED_BLOCK_COLUMNS];
  SpmmTerm                 term;
  State                    s[2];
  Matrix                   A;
  int                      wrong = 0;

  MatrixCreate(&A, ROWS, ROWS, 3);
  for (int t = 0; t < 2; t++) {
    StateCreate(&s[t], ROWS, width);
    for (int k = 0; k < FUSED_VECTORS; k++) pass.v[k] = s[t].v[k];
    pass.d = s[t].d;
    term   = (SpmmTerm){.i = A.i, .j = A.j, .a = A.a, .panel = s[t].v[FUSED_P]};
    for (int c = 0; c < width; c++) pass.a[c] = pass.b[c] = (SysReal)0.5;
    FusedBlockRun(t ? 3 : 1, &term, 1, NULL, kernels->chebyshev, &pass, partial, sums[t]);
  }
  wrong += memcmp(s[0].v[FUSED_X], s[1].v[FUSED_X], (size_t)(ROWS * width) * sizeof(SysReal)) != 0;
  wrong += memcmp(sums[0], sums[1], (size_t)(FUSED_SUMS * width) * sizeof(SysReal)) != 0;
  FusedBlockMult(2, width, ROWS, &term, 1, s[0].v[FUSED_W]);
  kernels->mult(width, &term, 1, ROWS, 0, ROWS, s[1].v[FUSED_W]);
  wrong += memcmp(s[0].v[FUSED_W], s[1].v[FUSED_W], (size_t)(ROWS * width) * sizeof(SysReal)) != 0;
  FusedBlockGet(2, ROWS, width, s[0].v[FUSED_R], 2, lane, other, column, ROWS);
  FusedBlockCompact(ROWS, width, s[1].v[FUSED_R], 2, lane, width / 2);
  for (int64_t i = 0; i < ROWS; i++) {
    for (int k = 0; k < 2 && k < width / 2; k++) {
      wrong += column[other[k] * ROWS + i] != s[0].v[FUSED_R][i * width + lane[k]];
      wrong += s[1].v[FUSED_R][i * (width / 2) + k] != s[0].v[FUSED_R][i * width + lane[k]];
    }
    for (int k = 2; k < width / 2; k++) wrong += s[1].v[FUSED_R][i * (width / 2) + k] != 0;
  }
  FusedBlockCopy(3, ROWS, width, s[0].v[FUSED_R], s[0].v[FUSED_Z]);
  wrong += memcmp(s[0].v[FUSED_R], s[0].v[FUSED_Z], (size_t)(ROWS * width) * sizeof(SysReal)) != 0;
  FusedBlockCopy(3, ROWS, width, NULL, s[0].v[FUSED_Z]);
  for (int64_t i = 0; i < ROWS * width; i++) wrong += s[0].v[FUSED_Z][i] != 0;
  MatrixDestroy(&A);
  for (int t = 0; t < 2; t++) StateDestroy(&s[t]);
  free(partial);
  free(column);
  return wrong;
}

int main(void)
{
  const FusedBlockKernels *tables[] =
  { &FusedBlockKernelsPlain,
#if defined(PETSCAMB_HAVE_AVX2)
    &FusedBlockKernelsAVX2,
#endif
#if defined(PETSCAMB_HAVE_AVX512)
    &FusedBlockKernelsAVX512,
#endif
  };
  const int vector = SPMM_ALIGN / (int)sizeof(SysReal), widths[] = {16 / (int)sizeof(SysReal), 32 / (int)sizeof(SysReal), vector, 2 * vector, 3 * vector, 4 * vector};
  const struct {
    FusedKind kind;
    int       bs;
  } kinds[] = {
    {FUSED_NONE,   1               },
    {FUSED_POINT,  1               },
    {FUSED_BLOCKS, 3               },
    {FUSED_BLOCKS, FUSED_BLOCKS_MAX},
    {FUSED_OTHER,  1               }
  };

  for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++) {
    if (!tables[t]->supported()) {
      printf("skip %s: this processor has none\n", tables[t]->name);
      continue;
    }
    for (size_t w = 0; w < sizeof(widths) / sizeof(widths[0]); w++) {
      int wrong = 0;

      for (int which = 0; which < PASSES; which++) {
        for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) wrong += Check(tables[t], which, kinds[k].kind, kinds[k].bs, widths[w], 1 + (int)(k % 2));
      }
      printf("%s %s, width %d\n", wrong ? "not ok" : "ok", tables[t]->name, widths[w]);
      failures += wrong > 0;
    }
  }
  for (size_t w = 1; w < sizeof(widths) / sizeof(widths[0]); w++) {
    const int wrong = Driver(widths[w]);

    printf("%s driver, width %d\n", wrong ? "not ok" : "ok", widths[w]);
    failures += wrong > 0;
  }
  return failures > 0;
}
