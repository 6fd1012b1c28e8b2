/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The kernels of sparse and dense products against sums by hand, without PETSc: every instruction set that this processor has, all widths of panels, columns with
   gaps, rings and whole panels, transposed patterns.

   Prints "ok NAME" or "not ok NAME" for each subject.
*/
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sys/sysmemory.h"
#include "mat/impls/spmm/host/spmmhost.h"

#define EPSILON (sizeof(SysReal) == 4 ? 1.2e-7 : 2.3e-16)
#define GAP     3 /* numbers between columns */

static int failures = 0;

static void Report(const char *set, const char *subject, const char *wrong)
{
  if (wrong) failures++;
  printf("%s %s, %s%s%s\n", wrong ? "not ok" : "ok", set, subject, wrong ? ": " : "", wrong ? wrong : "");
}

static double Random(int64_t k, int seed)
{
  const uint64_t h = ((uint64_t)k * 0x9e3779b97f4a7c15u + (uint64_t)seed * 0xbf58476d1ce4e5b9u) ^ 0x94d049bb133111ebu;

  return (double)((h * 0xd6e8feb86659fd93u) >> 11) / 4503599627370496.0 - 1.0;
}

/* Row r has columns about n r / m, up to 2 reach + 1 of them; every seventh row is empty, and row 5 is a hub that reaches far */
typedef struct {
  int64_t  m, n;
  SysInt  *i, *j;
  SysReal *a;
} Csr;

static void CsrCreate(int64_t m, int64_t n, int64_t reach, int64_t hub, Csr *A)
{
  int64_t nz = 0;

  A->m = m;
  A->n = n;
  A->i = malloc(sizeof(*A->i) * (size_t)(m + 1));
  A->j = malloc(sizeof(*A->j) * (size_t)(m * (2 * reach + 1) + hub + 1));
  for (int64_t r = 0; r < m; r++) {
    const int64_t middle = m ? n * r / m : 0, lo = r == 5 ? 0 : middle - reach, hi = r == 5 ? hub - 1 : middle + reach;

    A->i[r] = (SysInt)nz;
    for (int64_t c = lo < 0 ? 0 : lo; c <= hi && c < n && r % 7 != 3; c += 1 + (r + c) % 3) A->j[nz++] = (SysInt)c;
  }
  A->i[m] = (SysInt)nz;
  A->a    = malloc(sizeof(*A->a) * (size_t)(nz + 1));
  for (int64_t k = 0; k < nz; k++) A->a[k] = (SysReal)Random(k, 1);
}

static void CsrDestroy(Csr *A)
{
  free(A->i);
  free(A->j);
  free(A->a);
}

/* n rows, and a gap that holds NaN */
static SysReal *DenseCreate(int64_t n, int ncol, int seed)
{
  SysReal *d = malloc(sizeof(*d) * (size_t)((n + GAP) * ncol + 1));

  for (int c = 0; c < ncol; c++) {
    for (int64_t r = 0; r < n + GAP; r++) d[c * (n + GAP) + r] = (SysReal)(r < n ? Random(c * n + r, seed) : NAN);
  }
  return d;
}

static SysReal *Numbers(int64_t n)
{
  SysReal *p = SysAllocate((size_t)n * sizeof(*p));

  for (int64_t k = 0; k < n; k++) p[k] = (SysReal)NAN;
  return p;
}

static int Off(double value, double sum, double scale)
{
  return !(fabs(value - sum) <= 64 * EPSILON * scale);
}

/* Row r and column c of A D, or of its transposed product */
static const char *CheckProduct(const Csr *A, int transpose, const SysReal *D, int64_t ld, int ncol, const SysReal *C, int64_t ldc)
{
  const int64_t m = transpose ? A->n : A->m;
  double       *sum, *scale;
  const char   *wrong = NULL;

  sum   = calloc((size_t)(2 * m * ncol + 1), sizeof(*sum));
  scale = sum + m * ncol;
  for (int64_t r = 0; r < A->m; r++) {
    for (SysInt k = A->i[r]; k < A->i[r + 1]; k++) {
      const int64_t to = transpose ? A->j[k] : r, from = transpose ? r : A->j[k];

      for (int c = 0; c < ncol; c++) {
        sum[to + c * m] += (double)A->a[k] * (double)D[from + c * ld];
        scale[to + c * m] += fabs((double)A->a[k] * (double)D[from + c * ld]);
      }
    }
  }
  for (int c = 0; c < ncol; c++) {
    for (int64_t r = 0; r < m && !wrong; r++) {
      if (Off((double)C[r + c * ldc], sum[r + c * m], scale[r + c * m])) wrong = "a wrong entry";
    }
    for (int64_t r = m; r < ldc; r++) {
      if (!isnan(C[r + c * ldc])) wrong = "a number between the columns";
    }
  }
  free(sum);
  return wrong;
}

/* ------------------------------------------------- single kernels ------------------------------------------------- */

/* Packing and unpacking any number of rows and columns */
static const char *CheckPack(const SpmmKernels *kernels, int width)
{
  const char *wrong = NULL;

  for (int ncol = 1; ncol <= width; ncol++) {
    for (int64_t n = 0; n < 40; n += 1 + n / 5) {
      SysReal *D = DenseCreate(n, ncol, 2), *panel = Numbers(n * width + 1), *back = Numbers((n + GAP) * ncol + 1);

      kernels->pack(n, ncol, width, D, n + GAP, panel);
      kernels->unpack(n, ncol, width, panel, back, n + GAP);
      for (int64_t r = 0; r < n; r++) {
        for (int c = 0; c < width; c++) {
          if (panel[r * width + c] != (c < ncol ? D[r + c * (n + GAP)] : 0)) wrong = "a wrong number in a panel";
          if (c < ncol && back[r + c * (n + GAP)] != D[r + c * (n + GAP)]) wrong = "a wrong number in a column";
        }
      }
      if (!isnan(panel[n * width])) wrong = "a number behind the panel";
      for (int c = 0; c < ncol; c++) {
        for (int64_t r = n; r < n + GAP; r++) {
          if (!isnan(back[r + c * (n + GAP)])) wrong = "a number between the columns";
        }
      }
      SysRelease(panel, (size_t)(n * width + 1) * sizeof(*panel));
      SysRelease(back, (size_t)((n + GAP) * ncol + 1) * sizeof(*back));
      free(D);
    }
  }
  return wrong;
}

static const char *CheckRows(const SpmmKernels *kernels, int width)
{
  const char *wrong = NULL;
  SysReal    *panel, *result, *C, *D;
  Csr         A;
  SpmmTerm    term;

  CsrCreate(90, 70, 4, 70, &A);
  D      = DenseCreate(A.n, width, 3);
  panel  = Numbers(A.n * width);
  result = Numbers(A.m * width);
  C      = Numbers((A.m + GAP) * width);
  term   = (SpmmTerm){.i = A.i, .j = A.j, .a = A.a, .n = A.n};
  kernels->pack(A.n, width, width, D, A.n + GAP, panel);
  kernels->mult(&term, 1, &panel, width, 0, A.m, result);
  kernels->unpack(A.m, width, width, result, C, A.m + GAP);
  wrong = CheckProduct(&A, 0, D, A.n + GAP, width, C, A.m + GAP);
  SysRelease(panel, (size_t)(A.n * width) * sizeof(*panel));
  SysRelease(result, (size_t)(A.m * width) * sizeof(*result));
  SysRelease(C, (size_t)((A.m + GAP) * width) * sizeof(*C));
  free(D);
  CsrDestroy(&A);
  return wrong;
}

static const char *CheckDots(const SpmmKernels *kernels, int width)
{
  const char *wrong = NULL;
  SysReal    *left, *right, *values, *D, *E;
  Csr         A;
  SpmmTerm    term;

  CsrCreate(90, 70, 4, 70, &A);
  D      = DenseCreate(A.m, width, 4);
  E      = DenseCreate(A.n, width, 5);
  left   = Numbers(A.m * width);
  right  = Numbers(A.n * width);
  values = Numbers(A.i[A.m] + 1);
  term   = (SpmmTerm){.i = A.i, .j = A.j, .a = A.a, .n = A.n};
  kernels->pack(A.m, width, width, D, A.m + GAP, left);
  kernels->pack(A.n, width, width, E, A.n + GAP, right);
  kernels->dots(&term, right, left, width, 0, A.m, 0, 0, values); /* the sum */
  kernels->dots(&term, right, left, width, 0, A.m, 1, 1, values); /* and twice the sum times the entry */
  for (int64_t r = 0; r < A.m; r++) {
    for (SysInt k = A.i[r]; k < A.i[r + 1]; k++) {
      double sum = 0, scale = 0;

      for (int c = 0; c < width; c++) {
        sum += (double)D[r + c * (A.m + GAP)] * (double)E[A.j[k] + c * (A.n + GAP)];
        scale += fabs((double)D[r + c * (A.m + GAP)] * (double)E[A.j[k] + c * (A.n + GAP)]);
      }
      if (Off((double)values[k], 2 * sum * (double)A.a[k], scale)) wrong = "a wrong entry";
    }
  }
  if (!isnan(values[A.i[A.m]])) wrong = "a number behind the entries";
  SysRelease(left, (size_t)(A.m * width) * sizeof(*left));
  SysRelease(right, (size_t)(A.n * width) * sizeof(*right));
  SysRelease(values, (size_t)(A.i[A.m] + 1) * sizeof(*values));
  free(D);
  free(E);
  CsrDestroy(&A);
  return wrong;
}

static const char *CheckReach(const SpmmKernels *kernels)
{
  const char *wrong = NULL;
  SysInt      j[70];

  for (int64_t n = 0; n <= 70; n++) {
    SysInt least = 1000, greatest = -1, lo = 1000, hi = -1;

    for (int64_t k = 0; k < n; k++) {
      j[k] = (SysInt)(500 * (Random(k, (int)n) + 1));
      lo   = j[k] < lo ? j[k] : lo;
      hi   = j[k] > hi ? j[k] : hi;
    }
    kernels->reach(n, j, &least, &greatest);
    if (least != lo || greatest != hi) wrong = "a wrong limit";
  }
  return wrong;
}

static void CheckSet(const SpmmKernels *kernels)
{
  for (int bytes = 16; bytes <= SPMM_VECTORS * SPMM_ALIGN; bytes += bytes < SPMM_ALIGN ? bytes : SPMM_ALIGN) {
    const int width = bytes / (int)sizeof(SysReal);
    char      name[64];

    (void)snprintf(name, sizeof(name), "packing, %d bytes", bytes);
    Report(kernels->name, name, CheckPack(kernels, width));
    (void)snprintf(name, sizeof(name), "rows, %d bytes", bytes);
    Report(kernels->name, name, CheckRows(kernels, width));
    if (bytes < SPMM_ALIGN) continue;
    (void)snprintf(name, sizeof(name), "dots, %d bytes", bytes);
    Report(kernels->name, name, CheckDots(kernels, width));
  }
  Report(kernels->name, "reach", CheckReach(kernels));
}

/* ------------------------------------------------- whole products ------------------------------------------------- */

/* C = A D or its transposed product, by a ring if there is one, else by a whole panel */
static void Multiply(int nthread, const Csr *A, int transpose, int64_t ring, const SpmmTransposed *T, int ncol, const SysReal *D, SysReal *C)
{
  const int64_t m = transpose ? A->n : A->m, n = transpose ? A->m : A->n;

  for (int col = 0, k, width; col < ncol; col += k) {
    SpmmTerm term = {.i = transpose ? T->i : A->i, .j = transpose ? T->j : A->j, .position = transpose ? T->position : NULL, .a = A->a, .n = n, .ring = ring, .ld = n + GAP};
    int64_t  size;

    k            = SpmmPanelColumns(ncol - col, &width);
    size         = ring ? nthread * SpmmRingSize(ring, width) : n * width;
    term.columns = D + col * (n + GAP);
    term.panel   = Numbers(size);
    if (!ring) SpmmPack(nthread, n, k, width, term.columns, term.ld, term.panel);
    SpmmMult(nthread, m, &term, 1, k, width, C + col * (m + GAP), m + GAP);
    SysRelease(term.panel, (size_t)size * sizeof(SysReal));
  }
}

static const char *CheckWhole(int64_t m, int64_t n, int64_t reach, int64_t hub, int expect)
{
  static const int widths[] = {1, 2, 3, 8, 31, 33, 70};
  const char      *wrong    = NULL;
  SpmmTransposed   T        = {0};
  Csr              A;

  CsrCreate(m, n, reach, hub, &A);
  if (SpmmTranspose(&(SysCSR){.m = m, .n = n, .nz = A.i[m], .i = A.i, .j = A.j}, &T) != SYS_SUCCESS) return "no memory";
  for (int transpose = 0; transpose < 2 && !wrong; transpose++) {
    const int64_t rows = transpose ? n : m, from = transpose ? m : n;
    const int64_t ring = transpose ? SpmmRing(n, m, T.i, T.j) : SpmmRing(m, n, A.i, A.j);

    if (!!ring != expect) wrong = expect ? "a band without a ring" : "a ring";
    for (size_t w = 0; w < sizeof(widths) / sizeof(*widths) && !wrong; w++) {
      const size_t size = (size_t)((rows + GAP) * widths[w]) * sizeof(SysReal);
      SysReal     *D = DenseCreate(from, widths[w], 6), *C = Numbers((rows + GAP) * widths[w]), *again = Numbers((rows + GAP) * widths[w]);

      Multiply(1, &A, transpose, ring, &T, widths[w], D, C);
      wrong = CheckProduct(&A, transpose, D, from + GAP, widths[w], C, rows + GAP);
      for (int threads = 1; threads <= 3 && !wrong; threads++) {
        Multiply(threads, &A, transpose, threads == 1 ? 0 : ring, &T, widths[w], D, again);
        if (memcmp(C, again, size)) wrong = "other bits with other threads, or without a ring";
      }
      SysRelease(C, size);
      SysRelease(again, size);
      free(D);
    }
  }
  SpmmTransposedDestroy(&T);
  CsrDestroy(&A);
  return wrong;
}

int main(void)
{
#if defined(PETSCAMB_HAVE_AVX512)
  if (SpmmKernelsAVX512.supported()) CheckSet(&SpmmKernelsAVX512);
#endif
#if defined(PETSCAMB_HAVE_AVX2)
  if (SpmmKernelsAVX2.supported()) CheckSet(&SpmmKernelsAVX2);
#endif
  CheckSet(&SpmmKernelsPlain);
  Report("products", "a whole panel", CheckWhole(300, 200, 5, 150, 0));
  Report("products", "a band", CheckWhole(7000, 7000, 4, 20, 1));
  Report("products", "a hub", CheckWhole(3000, 7000, 4, 7000, 0));
  Report("products", "no rows", CheckWhole(0, 10, 1, 0, 0));
  Report("products", "no columns", CheckWhole(10, 0, 1, 0, 0));
  return failures != 0;
}
