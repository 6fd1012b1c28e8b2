/*
   The AMB kernels against a plain reference, without PETSc: every instruction set this processor has, every block size, random shapes.

   Prints "ok NAME" or "not ok NAME" for each combination of shape and instruction set.
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ambhost.h"
#include "random.h"

static int failures = 0;

/* A matrix under construction: columns are marked in a row, then the row is closed */
typedef struct {
  AmbInt     m, n, nz, row, capacity;
  AmbInt    *i, *j;
  AmbScalar *a;
  char      *mark;
} Builder;

static void Start(Builder *B, AmbInt m, AmbInt n)
{
  memset(B, 0, sizeof(*B));
  B->m    = m;
  B->n    = n;
  B->i    = calloc(m + 1, sizeof(*B->i));
  B->mark = calloc(n + 1, 1);
}

static void Mark(Builder *B, int64_t col, int64_t len)
{
  for (int64_t c = col < 0 ? 0 : col; c < col + len && c < B->n; c++) B->mark[c] = 1;
}

static void CloseRow(Builder *B)
{
  for (AmbInt c = 0; c < B->n; c++) {
    if (!B->mark[c]) continue;
    if (B->nz == B->capacity) {
      B->capacity = 2 * B->capacity + 1000;
      B->j        = realloc(B->j, sizeof(*B->j) * B->capacity);
      B->a        = realloc(B->a, sizeof(*B->a) * B->capacity);
    }
    B->j[B->nz]   = c;
    B->a[B->nz++] = RandomBelow(20) ? RandomScalar() : 0; /* some explicit zeros */
    B->mark[c]    = 0;
  }
  B->i[++B->row] = B->nz;
}

static void Finish(Builder *B)
{
  free(B->i);
  free(B->j);
  free(B->a);
  free(B->mark);
}

/* The shapes */
static void Runs(Builder *B, AmbInt m, AmbInt n, int runs, int len)
{
  Start(B, m, n);
  for (AmbInt r = 0; r < m; r++) {
    const int k = (int)RandomBelow(runs + 1);

    for (int q = 0; q < k && n; q++) Mark(B, RandomBelow(n), 1 + RandomBelow(len));
    CloseRow(B);
  }
}

static void Band(Builder *B, AmbInt n, int half, int b)
{
  Start(B, n, n);
  for (AmbInt r = 0; r < n; r++) {
    for (int k = -half; k <= half; k++) Mark(B, ((int64_t)r / b + 7 * k) * b, b);
    CloseRow(B);
  }
}

static void Hub(Builder *B, AmbInt n)
{
  Start(B, n, n);
  for (AmbInt r = 0; r < n; r++) {
    if (r % (n / 3 + 1) == 5) Mark(B, 0, n);
    else if (r % 11) Mark(B, RandomBelow(n), 1 + RandomBelow(3));
    CloseRow(B);
  }
}

static void EmptyMiddle(Builder *B, AmbInt m, AmbInt n)
{
  Start(B, m, n);
  for (AmbInt r = 0; r < m; r++) {
    if (r < m / 4 || r > m - m / 4) {
      Mark(B, RandomBelow(n / 10), 2);
      Mark(B, n - 1 - RandomBelow(n / 10), 2);
    }
    CloseRow(B);
  }
}

static int SameOrClose(AmbScalar a, AmbScalar b, double scale)
{
  if (a != a || b != b) return a != a && b != b;
  if (isinf(Abs(a)) || isinf(Abs(b))) return a == b;
  return Abs(a - b) <= 50 * EPS * scale;
}

/* z = alpha op(A) x + beta y, and the sums of absolute values that bound its rounding errors */
static void Reference(const Builder *B, int transpose, AmbScalar alpha, const AmbScalar *x, AmbScalar beta, const AmbScalar *y, AmbScalar *z, double *scale)
{
  const AmbInt nz = transpose ? B->n : B->m;

  for (AmbInt r = 0; r < nz; r++) {
    z[r]     = 0;
    scale[r] = 0;
  }
  for (AmbInt r = 0; r < B->m; r++) {
    for (AmbInt k = B->i[r]; k < B->i[r + 1]; k++) {
      const AmbInt to = transpose ? B->j[k] : r, from = transpose ? r : B->j[k];

      z[to] += B->a[k] * x[from];
      scale[to] += Abs(B->a[k]) * Abs(x[from]);
    }
  }
  for (AmbInt r = 0; r < nz; r++) {
    z[r]     = beta == 0 ? alpha * z[r] : alpha * z[r] + beta * y[r];
    scale[r] = Abs(alpha) * scale[r] + (beta == 0 ? 0 : Abs(beta) * Abs(y[r])) + 1e-30;
  }
}

static int CheckProducts(const Builder *B, AmbHost *A, int nonfinite, const char **what)
{
  static const int coefficients[][3] = {
    {1,  0,  0},
    {1,  1,  1},
    {-2, 3,  0},
    {2,  -1, 1}
  }; /* alpha, beta, in place */
  const AmbInt longest = B->m > B->n ? B->m : B->n;
  AmbScalar   *x = malloc(sizeof(*x) * (longest + 1)), *y = malloc(sizeof(*y) * (longest + 1)), *z = malloc(sizeof(*z) * (longest + 1)), *ref = malloc(sizeof(*ref) * (longest + 1));
  double      *scale = malloc(sizeof(*scale) * (longest + 1));
  int          good  = 1;

  for (int transpose = 0; transpose < 2 && good; transpose++) {
    const AmbInt nx = transpose ? B->m : B->n, nz = transpose ? B->n : B->m;

    if (transpose && AmbHostPrepareTranspose(A)) good = 0;
    for (int c = 0; c < 4 && good; c++) {
      const AmbScalar alpha = coefficients[c][0], beta = coefficients[c][1];
      const int       inplace = coefficients[c][2];

      for (AmbInt k = 0; k < nx; k++) x[k] = RandomScalar();
      for (AmbInt k = 0; k < nz; k++) y[k] = RandomScalar();
      for (int k = 0; k < nonfinite && nx; k++) x[RandomBelow(nx)] = k % 3 ? (k % 3 == 1 ? INFINITY : -INFINITY) : NAN;
      Reference(B, transpose, alpha, x, beta, y, ref, scale);
      for (AmbInt k = 0; k < nz; k++) z[k] = inplace ? y[k] : NAN;
      (transpose ? A->kernels->multtranspose : A->kernels->mult)(A, alpha, x, beta, beta == 0 ? NULL : (inplace ? z : y), z);
      for (AmbInt k = 0; k < nz && good; k++) {
        if (!SameOrClose(z[k], ref[k], scale[k])) good = 0;
      }
      if (!good) *what = transpose ? "transposed product" : "product";
    }
  }
  free(x);
  free(y);
  free(z);
  free(ref);
  free(scale);
  return good;
}

static int CheckBlockSize(Builder *B, const AmbKernels *kernels, int b, int scope, int nthread, const char **what)
{
  AmbCSR   csr = {B->m, B->n, B->i, B->j, B->a};
  AmbPlan  plan;
  AmbHost *A = NULL;
  int      good;

  *what = "conversion";
  good  = AmbPlanCreate(&csr, b, scope, nthread, kernels, &plan) == AMB_SUCCESS && AmbHostCreate(&csr, &plan, kernels, &A) == AMB_SUCCESS;
  if (good && A->scope <= AMB_MODEL_ROWS && A->nscope <= AMB_MODEL_WINDOWS && plan.bytes[plan.block_size] != AmbHostBytes(A)) {
    *what = "traffic model";
    good  = 0;
  }
  if (good) good = CheckProducts(B, A, 0, what);
  if (good) {
    for (AmbInt k = 0; k < B->nz; k++) B->a[k] = RandomScalar();
    good = AmbHostUpdate(A, &csr) == AMB_SUCCESS && CheckProducts(B, A, 0, what);
    if (!good) *what = "update of values";
  }
  if (good) {
    good = CheckProducts(B, A, 5, what);
    if (!good) *what = "products with NaN and infinity";
  }
  AmbHostDestroy(&A);
  return good;
}

static void CheckShape(const char *name, Builder *B)
{
  static const int  scopes[] = {0, 64, AMB_MAX_SCOPE};
  const AmbKernels *sets[3];
  int               nset = 0;

#if defined(PETSCAMB_HAVE_AVX512) && !defined(AMB_COMPLEX)
  if (AmbKernelsAVX512.supported()) sets[nset++] = &AmbKernelsAVX512;
#endif
#if defined(PETSCAMB_HAVE_AVX2) && !defined(AMB_COMPLEX)
  if (AmbKernelsAVX2.supported()) sets[nset++] = &AmbKernelsAVX2;
#endif
  sets[nset++] = &AmbKernelsPlain;
  for (int s = 0; s < nset; s++) {
    const char *what = "";
    int         good = 1, b;

    for (b = 0; b <= AMB_MAX_BLOCK && b <= B->n && good; b++) { good = CheckBlockSize(B, sets[s], b, scopes[(b + s) % 3], 1 + (b / 2 + s) % 3, &what); }
    if (good) printf("ok %s, %s\n", name, sets[s]->name);
    else printf("not ok %s, %s: %s with blocks of %d\n", name, sets[s]->name, what, b - 1);
    failures += !good;
  }
  Finish(B);
}

/* Rows out of order, and repeated columns, are refused */
static void CheckRefused(void)
{
  AmbInt    i[] = {0, 2, 5}, disorder[] = {0, 1, 0, 2, 1}, repeated[] = {0, 1, 1, 1, 2};
  AmbScalar a[]    = {1, 2, 3, 4, 5};
  AmbCSR    csr[2] = {
       {2, 3, i, disorder, a},
       {2, 3, i, repeated, a}
  };

  for (int k = 0; k < 2; k++) {
    AmbPlan   plan;
    AmbHost  *A;
    AmbStatus status = AmbPlanCreate(csr + k, 0, 0, 1, &AmbKernelsPlain, &plan);

    if (!status) status = AmbHostCreate(csr + k, &plan, &AmbKernelsPlain, &A);
    printf("%sok %s columns are refused\n", status == AMB_NOT_ASCENDING ? "" : "not ", k ? "repeated" : "disordered");
    failures += status != AMB_NOT_ASCENDING;
    if (!status) AmbHostDestroy(&A);
  }
}

int main(void)
{
  Builder B;

  Runs(&B, 0, 0, 1, 1);
  CheckShape("no rows, no columns", &B);
  Runs(&B, 0, 5, 1, 1);
  CheckShape("no rows", &B);
  Runs(&B, 5, 0, 1, 1);
  CheckShape("no columns", &B);
  Runs(&B, 1, 1, 1, 1);
  CheckShape("one entry", &B);
  Runs(&B, 1, 3000, 40, 9);
  CheckShape("one row", &B);
  Runs(&B, 3000, 1, 1, 1);
  CheckShape("one column", &B);
  Runs(&B, 13, 17, 4, 3);
  CheckShape("small", &B);
  Runs(&B, 1000, 900, 12, 1);
  CheckShape("scattered", &B);
  Runs(&B, 700, 1500, 8, 12);
  CheckShape("runs", &B);
  Band(&B, 999, 4, 3);
  CheckShape("band of 3-blocks", &B);
  Hub(&B, 1200);
  CheckShape("hub rows", &B);
  EmptyMiddle(&B, 900, 400);
  CheckShape("empty rows", &B);
  Runs(&B, 40, 70000, 30, 6);
  CheckShape("70,000 columns", &B);
  Runs(&B, 100, 140000, 3, 15);
  CheckShape("140,000 columns", &B);
  EmptyMiddle(&B, 120, 200000);
  CheckShape("empty segments", &B);
  CheckRefused();
  return failures ? 1 : 0;
}
