/* SPDX-License-Identifier: BSD-2-Clause */
/*
   libFuzzer target for sparse products on the host: any operands whose rows ascend, every kind of product, accumulator and instruction set. The result has the pattern
   of the plain loops and their values, and so has the result that is made again from other values.
*/
#include "csr.h"
#include "mat/impls/hashgemm/host/spgemmimpl.h"

/* A dense matrix of sums, and which of them are entries */
typedef struct {
  int64_t m, n;
  Sum    *sum;
  char   *is;
} Dense;

static Dense DenseCreate(int64_t m, int64_t n)
{
  Dense D = {m, n, calloc((size_t)(m * n) + 1, sizeof(Sum)), calloc((size_t)(m * n) + 1, 1)};

  if (!D.sum || !D.is) abort();
  return D;
}

static void DenseDestroy(Dense *D)
{
  free(D->sum);
  free(D->is);
}

/* The value of a sum, which a further product multiplies */
static SysScalar Value(const Sum *s)
{
  return (SysScalar)s->exact;
}

/* D = A B for the operands in dense form; sizes add up: rounding and overflow of the first product reach the second */
static Dense Times(const Dense *A, const Dense *B)
{
  Dense D = DenseCreate(A->m, B->n);

  for (int64_t r = 0; r < A->m; r++) {
    for (int64_t k = 0; k < A->n; k++) {
      const Sum *a = A->sum + r * A->n + k;

      if (!A->is[r * A->n + k]) continue;
      for (int64_t c = 0; c < B->n; c++) {
        const Sum *b = B->sum + k * B->n + c;
        Sum       *d = D.sum + r * B->n + c;

        if (!B->is[k * B->n + c]) continue;
        D.is[r * B->n + c] = 1;
        SumAdd(d, 1, Value(a), Value(b));
        d->size += a->size * b->size;
        d->terms += a->terms + b->terms;
        if ((a->special && a->terms) || (b->special && b->terms) || d->size > SCALAR_MAX / 8) d->special |= 2; /* sums that are not finite, or may be: not judged */
      }
    }
  }
  return D;
}

/* A matrix, or its transpose, in dense form */
static Dense Spread(const Csr *A, int transpose)
{
  Dense D = DenseCreate(transpose ? A->n : A->m, transpose ? A->m : A->n);

  for (int64_t r = 0; r < A->m; r++) {
    for (SysInt k = A->i[r]; k < A->i[r + 1]; k++) {
      const int64_t at = transpose ? A->j[k] * A->m + r : r * A->n + A->j[k];

      D.is[at]          = 1;
      D.sum[at].exact   = A->a[k];
      D.sum[at].size    = IsFinite(A->a[k]) ? Size(A->a[k]) : 0;
      D.sum[at].special = !IsFinite(A->a[k]);
    }
  }
  return D;
}

/* The product by plain loops */
static Dense Reference(SpgemmType type, const Csr *A, const Csr *B, const Csr *C)
{
  Dense a = Spread(A, type == SPGEMM_ATB), b = Spread(B, type == SPGEMM_ABT), left = {0}, right = {0}, inner, result;

  if (type == SPGEMM_AB || type == SPGEMM_ATB || type == SPGEMM_ABT) {
    result = Times(&a, &b);
  } else {
    left   = type == SPGEMM_ABC ? a : Spread(B, type == SPGEMM_PTAP);
    right  = type == SPGEMM_ABC ? Spread(C, 0) : Spread(B, type == SPGEMM_RART);
    inner  = type == SPGEMM_ABC ? Times(&left, &b) : Times(&left, &a);
    result = Times(&inner, &right);
    DenseDestroy(&inner);
    if (type != SPGEMM_ABC) DenseDestroy(&left);
    DenseDestroy(&right);
  }
  DenseDestroy(&a);
  DenseDestroy(&b);
  return result;
}

/* Does a matrix have numbers whose products may over- or underflow? Then the two orders of two steps differ. */
static int Extreme(const Csr *A)
{
  int extreme = 0;

  for (int64_t k = 0; k < A->nz; k++) extreme |= A->a[k] != 0 && !(Size(A->a[k]) > 1e-10 && Size(A->a[k]) < 1e10);
  return extreme;
}

static void Judge(SpgemmType type, const Csr *A, const Csr *B, const Csr *C, int64_t m, int64_t n, const SysInt *i, const SysInt *j, const SysScalar *a)
{
  Dense     D       = Reference(type, A, B, C);
  const int unclear = type >= SPGEMM_PTAP && (Extreme(A) || Extreme(B) || Extreme(C)); /* only the pattern is judged */

  CHECK(D.m == m && D.n == n);
  for (int64_t r = 0, k = 0; r < m; r++) {
    CHECK(i[r] == k);
    for (int64_t c = 0; c < n; c++) {
      if (!D.is[r * n + c]) continue;
      CHECK(k < i[r + 1] && j[k] == c);
      if (!unclear && !(D.sum[r * n + c].special & 2) && !SumIs(&D.sum[r * n + c], a[k], 4 * SCALAR_EPS)) {
        fprintf(stderr, "product %d, row %lld, column %lld: %g in place of %g, size %g\n", (int)type, (long long)r, (long long)c, (double)creal(a[k]), (double)creall(D.sum[r * n + c].exact), (double)D.sum[r * n + c].size);
        abort();
      }
      k++;
    }
    CHECK(i[r + 1] == k);
  }
  DenseDestroy(&D);
}

/* The time of the plain loops grows with the third power of the sizes */
static int64_t TakeSmall(Bytes *b)
{
  const uint32_t c = TakeByte(b);

  return c < 240 ? c % 40 : 6 * (c - 240);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  Bytes                b      = {data, size};
  const uint32_t       choice = TakeByte(&b), how = TakeByte(&b);
  const SpgemmType     type    = (SpgemmType)(choice % 6);
  const SpgemmOptions  options = {.accumulator = (SpgemmAccumulator)(choice / 6 % 7), .nthread = 1 + (int)(how % 5)};
  const SpgemmKernels *kernels = how / 8 % 3 == 0 ? &SpgemmKernelsPlain : how / 8 % 3 == 1 && SpgemmKernelsAVX2.supported() ? &SpgemmKernelsAVX2 : SpgemmKernelsAVX512.supported() ? &SpgemmKernelsAVX512 : &SpgemmKernelsPlain;
  const int64_t        m = TakeSmall(&b), n = TakeSmall(&b), k = TakeSmall(&b);
  Bytes                parts[3];
  Csr                  A, B, C = {0};
  SysCSR               a, bb, c;
  Spgemm              *S = NULL;
  SpgemmInfo           info;
  int64_t              rows, columns, nz;
  SysInt              *i, *j;
  SysScalar           *v;

  for (int p = 0; p < 3; p++) parts[p] = (Bytes){b.data + p * (b.left / 3), b.left / 3};
  switch (type) {
  case SPGEMM_AB:
  case SPGEMM_ABC:
    CsrTake(&parts[0], m, n, CSR_ASCENDING, &A);
    CsrTake(&parts[1], n, k, CSR_ASCENDING, &B);
    if (type == SPGEMM_ABC) CsrTake(&parts[2], k, TakeSmall(&b), CSR_ASCENDING, &C);
    break;
  case SPGEMM_ATB:
    CsrTake(&parts[0], n, m, CSR_ASCENDING, &A);
    CsrTake(&parts[1], n, k, CSR_ASCENDING, &B);
    break;
  case SPGEMM_ABT:
    CsrTake(&parts[0], m, n, CSR_ASCENDING, &A);
    CsrTake(&parts[1], k, n, CSR_ASCENDING, &B);
    break;
  case SPGEMM_PTAP:
    CsrTake(&parts[0], n, n, CSR_ASCENDING, &A);
    CsrTake(&parts[1], n, k, CSR_ASCENDING, &B);
    break;
  default:
    CsrTake(&parts[0], n, n, CSR_ASCENDING, &A);
    CsrTake(&parts[1], k, n, CSR_ASCENDING, &B);
  }
  a  = CsrGet(&A);
  bb = CsrGet(&B);
  c  = CsrGet(&C);
  CHECK(SpgemmCreateWith(kernels, type, &a, &bb, &c, &options, &S, &info) == SYS_SUCCESS && S);
  SpgemmSize(type, &a, &bb, &c, &rows, &columns);
  nz = SpgemmNonzeros(S);
  i  = Exactly(rows + 1, sizeof(*i));
  j  = Exactly(nz, sizeof(*j));
  v  = Exactly(nz, sizeof(*v));
  CHECK(SpgemmFill(S, &a, &bb, &c, i, j, v) == SYS_SUCCESS);
  CHECK(i[rows] == nz);
  Judge(type, &A, &B, &C, rows, columns, i, j, v);
  for (uint32_t change = how / 32 % 4; change; change--) {
    CsrChange(&A, change);
    CsrChange(&B, 0);
    for (int64_t q = 0; q < nz; q++) v[q] = NAN;
    CHECK(SpgemmRevalue(S, &a, &bb, &c, i, j, v) == SYS_SUCCESS);
    Judge(type, &A, &B, &C, rows, columns, i, j, v);
  }
  SpgemmDestroy(&S);
  free(i);
  free(j);
  free(v);
  CsrDestroy(&A);
  CsrDestroy(&B);
  CsrDestroy(&C);
  return 0;
}
