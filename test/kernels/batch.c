/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The kernels of batches of sparse matrices against sums by hand, without PETSc: every instruction set that this processor has, widths that use every vector length,
   results that are set and that are added to, values in other positions, threads; entries that become rows.

   Prints "ok NAME" or "not ok NAME" for each subject.
*/
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/batch/host/batchhost.h"

#define EPSILON (sizeof(SysReal) == 4 ? 1.2e-7 : 2.3e-16)
#define ROWS    53
#define COLS    31
#define MOST    (ROWS * 7 + COLS)

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

static SysReal *Numbers(int64_t n, int seed)
{
  SysReal *a = malloc(sizeof(*a) * (size_t)(n + 1));

  for (int64_t k = 0; k < n; k++) a[k] = (SysReal)(seed ? Random(k, seed) : NAN);
  a[n] = 12345;
  return a;
}

/* Rows of 0 to 6 entries, in no order and repeated, and a full one */
typedef struct {
  SysInt  i[ROWS + 1], j[MOST], position[MOST];
  SysReal a[MOST];
} Pattern;

static void PatternCreate(Pattern *P, int positions)
{
  SysInt nz = 0;

  for (int r = 0; r < ROWS; r++) {
    P->i[r] = nz;
    for (int k = 0; k < (r == 9 ? COLS : r % 7); k++) P->j[nz++] = (SysInt)(r == 9 ? k : (5 * r + 3 * k * k) % COLS);
  }
  P->i[ROWS] = nz;
  for (SysInt k = 0; k < nz; k++) {
    P->a[k]        = (SysReal)Random(k, 1);
    P->position[k] = positions ? nz - 1 - k : k;
  }
}

static const char *Wrong(const Pattern *P, int64_t width, const SysReal *D, const SysReal *begin, const SysReal *C)
{
  for (int r = 0; r < ROWS; r++) {
    for (int64_t c = 0; c < width; c++) {
      double sum = begin ? (double)begin[r * width + c] : 0, scale = fabs(sum);

      for (SysInt k = P->i[r]; k < P->i[r + 1]; k++) {
        const double product = (double)P->a[P->position[k]] * (double)D[P->j[k] * width + c];

        sum += product;
        scale += fabs(product);
      }
      if (!(fabs((double)C[r * width + c] - sum) <= 64 * EPSILON * scale)) return "a wrong number";
    }
  }
  return C[ROWS * width] == 12345 ? NULL : "a number behind the result";
}

static const char *CheckRows(const BatchKernels *kernels, int add, int positions)
{
  const char *wrong = NULL;
  Pattern     P;
  BatchRows   A = {.m = ROWS, .i = P.i, .j = P.j, .position = positions ? P.position : NULL, .a = P.a};

  PatternCreate(&P, positions);
  for (int64_t width = 0; width <= 150 && !wrong; width++) {
    SysReal *D = Numbers(COLS * width, 2), *C = Numbers(ROWS * width, add ? 3 : 0), *begin = Numbers(ROWS * width, 3);

    kernels->mult(&A, add, width, D, 0, 20, C);
    kernels->mult(&A, add, width, D, 20, ROWS, C);
    wrong = Wrong(&P, width, D, add ? begin : NULL, C);
    free(D);
    free(C);
    free(begin);
  }
  return wrong;
}

static void CheckSet(const BatchKernels *kernels)
{
  Report(kernels->name, "rows", CheckRows(kernels, 0, 0));
  Report(kernels->name, "rows that are added", CheckRows(kernels, 1, 0));
  Report(kernels->name, "values in other places", CheckRows(kernels, 0, 1));
}

/* The threads start with 16,384 numbers each: this many columns are enough for seven */
static const char *CheckThreads(void)
{
  const int64_t width = 3001;
  const char   *wrong = NULL;
  Pattern       P;
  BatchRows     A = {.m = ROWS, .i = P.i, .j = P.j, .a = P.a};
  SysReal      *D = Numbers(COLS * width, 2), *one = Numbers(ROWS * width, 0);

  PatternCreate(&P, 0);
  BatchMult(1, &A, 0, width, D, one);
  wrong = Wrong(&P, width, D, NULL, one);
  for (int threads = 2; threads <= 7 && !wrong; threads++) {
    SysReal *C = Numbers(ROWS * width, 0);

    BatchMult(threads, &A, 0, width, D, C);
    if (memcmp(C, one, sizeof(*C) * (size_t)(ROWS * width))) wrong = "other bits";
    free(C);
  }
  free(D);
  free(one);
  return wrong;
}

/* Entries in no order, some of them repeated: rows ascend, and each entry has its parts in their order */
static const char *CheckEntries(int64_t ngiven, int64_t m, int64_t n)
{
  const char  *wrong = NULL;
  SysInt      *row = malloc(sizeof(*row) * (size_t)(ngiven + 1)), *col = malloc(sizeof(*col) * (size_t)(ngiven + 1));
  int64_t      parts = 0;
  BatchEntries E;

  for (int64_t k = 0; k < ngiven; k++) {
    row[k] = (SysInt)((Random(k, 7) + 1) / 2 * (double)m);
    col[k] = (SysInt)((Random(k, 8) + 1) / 2 * (double)n);
  }
  if (BatchEntriesCreate(m, n, ngiven, row, col, &E) != SYS_SUCCESS) wrong = "no memory";
  if (!wrong && (E.i[0] != 0 || E.i[m] != E.nz || E.first[E.nz] != ngiven)) wrong = "wrong ends";
  for (int64_t r = 0; r < m && !wrong; r++) {
    for (int64_t k = E.i[r]; k < E.i[r + 1] && !wrong; k++) {
      if (k > E.i[r] && E.j[k] <= E.j[k - 1]) wrong = "columns do not ascend";
      if (E.first[k + 1] <= E.first[k]) wrong = "an entry without parts";
      for (int64_t l = E.first[k]; l < E.first[k + 1]; l++, parts++) {
        if (row[E.perm[l]] != r || col[E.perm[l]] != E.j[k]) wrong = "a part at another place";
        if (l > E.first[k] && E.perm[l] <= E.perm[l - 1]) wrong = "parts in another order";
      }
    }
  }
  if (!wrong && parts != ngiven) wrong = "parts are missing";
  BatchEntriesDestroy(&E);
  free(row);
  free(col);
  return wrong;
}

int main(void)
{
#if defined(PETSCAMB_HAVE_AVX512)
  if (BatchKernelsAVX512.supported()) CheckSet(&BatchKernelsAVX512);
#endif
#if defined(PETSCAMB_HAVE_AVX2)
  if (BatchKernelsAVX2.supported()) CheckSet(&BatchKernelsAVX2);
#endif
  CheckSet(&BatchKernelsPlain);
  Report("products", "threads", CheckThreads());
  Report("entries", "many repeated", CheckEntries(500, 13, 11));
  Report("entries", "few", CheckEntries(40, 200, 300));
  Report("entries", "none", CheckEntries(0, 5, 4));
  Report("entries", "no rows", CheckEntries(0, 0, 4));
  return failures != 0;
}
