/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The NUS-SELL kernels against a plain reference, without PETSc: every instruction set this processor has, all kinds of segments, random shapes.

   Prints "ok NAME" or "not ok NAME" for each combination of shape and instruction set.
*/
#include "mat/impls/nus/host/nushost.h"
#include "mat/impls/nus/host/nussearch.h"
#include "storages.h"

/* Small enough that the model sees something to gain in small matrices */
static const NusCache cache = {512, 4096, 0, 64};

static const NusParams cases[] = {
  {NUS_NONE,       NUS_SELL, 8,  0,     {0, 0},      {0, 0},   SYS_VALUES_DOUBLE},
  {NUS_NONE,       NUS_SELL, 16, 64,    {0, 0},      {0, 0},   SYS_VALUES_DOUBLE},
  {NUS_NONE,       NUS_SELL, 32, 100,   {0, 0},      {0, 0},   SYS_VALUES_DOUBLE},
  {NUS_NONE,       NUS_JDS,  8,  0,     {0, 0},      {0, 0},   SYS_VALUES_DOUBLE},
  {NUS_UNIFORM,    NUS_SELL, 8,  128,   {0, 100},    {0, 0},   SYS_VALUES_DOUBLE},
  {NUS_UNIFORM,    NUS_SELL, 16, 65536, {0, 66000},  {0, 0},   SYS_VALUES_DOUBLE},
  {NUS_UNIFORM,    NUS_JDS,  16, 64,    {0, 333},    {0, 0},   SYS_VALUES_DOUBLE},
  {NUS_NONUNIFORM, NUS_SELL, 8,  0,     {5, 40},     {3, 2},   SYS_VALUES_DOUBLE},
  {NUS_NONUNIFORM, NUS_SELL, 16, 200,   {64, 300},   {1, 0},   SYS_VALUES_DOUBLE},
  {NUS_NONUNIFORM, NUS_SELL, 32, 65536, {3, 1},      {0, 7},   SYS_VALUES_DOUBLE},
  {NUS_NONUNIFORM, NUS_JDS,  32, 64,    {16, 100},   {1, 3},   SYS_VALUES_DOUBLE},
  {NUS_NONUNIFORM, NUS_SELL, 8,  0,     {70000, 10}, {3, 1},   SYS_VALUES_DOUBLE},
  {NUS_NONUNIFORM, NUS_SELL, 24, 65536, {64, 300},   {1, 0},   SYS_VALUES_DOUBLE},
  {NUS_NONUNIFORM, NUS_SELL, 0,  0,     {0, 0},      {-1, -1}, SYS_VALUES_DOUBLE},
  {NUS_NONUNIFORM, NUS_JDS,  0,  0,     {0, 0},      {-1, 1},  SYS_VALUES_DOUBLE}
};
#define NCASES ((int)(sizeof(cases) / sizeof(*cases)))

KERNEL_SETS(Nus)

static int Multiply(const void *data, int transpose, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z)
{
  NusHost *A = (NusHost *)data;

  if (transpose && NusHostPrepareTranspose(A)) return 0;
  (transpose ? A->kernels->multtranspose : A->kernels->mult)(A, alpha, x, beta, y, z);
  return 1;
}

static int CheckParams(Builder *B, const NusKernels *kernels, NusParams params, int nthread, const char **what)
{
  SysCSR   csr = {B->m, B->n, B->nz, B->i, B->j, B->a};
  NusHost *A   = NULL;
  double   bytes;
  int      good;

  *what = "conversion";
  good  = NusHostPlan(&csr, &cache, nthread, &params, &(NusBytes){{0}}) == SYS_SUCCESS && NusHostCreate(&csr, &params, nthread, nthread, kernels, INFINITY, &bytes, &A) == SYS_SUCCESS;
  if (good && (bytes != NusHostBytes(A) || (params.rows == NUS_JDS && A->nslot != B->nz))) {
    *what = "what is stored";
    good  = 0;
  }
  if (good) good = CheckProducts(B, A, Multiply, 0, what);
  if (good) {
    for (SysInt k = 0; k < B->nz; k++) B->a[k] = RandomScalar();
    good = NusHostUpdate(A, &csr, NULL) == SYS_SUCCESS && CheckProducts(B, A, Multiply, 0, what);
    if (!good) *what = "update of values";
  }
  if (good) {
    good = CheckProducts(B, A, Multiply, 5, what);
    if (!good) *what = "products with NaN and infinity";
  }
  if (good) { /* laid out by one thread, whatever the number of those that multiply */
    const SysCSR pattern = {B->m, B->n, B->nz, B->i, B->j, NULL};

    NusHostDestroy(A);
    good = NusHostCreate(&pattern, &params, nthread, 1, kernels, INFINITY, &bytes, &A) == SYS_SUCCESS && NusHostUpdate(A, &csr, NULL) == SYS_SUCCESS && CheckProducts(B, A, Multiply, 0, what);
    if (!good) *what = "values after the pattern";
  }
  NusHostDestroy(A);
  return good;
}

static void *Create(const SysCSR *csr, const void *kernels, int k, SysValues values)
{
  const int nthread = 1 + k % 2;
  NusParams params  = cases[k % NCASES];
  NusHost  *A       = NULL;
  double    bytes;

  params.values = values;
  if (NusHostPlan(csr, &cache, nthread, &params, &(NusBytes){{0}}) || NusHostCreate(csr, &params, nthread, nthread, (const NusKernels *)kernels, INFINITY, &bytes, &A)) return NULL;
  return A;
}

static const SysValuesChoice *Values(const void *A)
{
  return &((const NusHost *)A)->values;
}

static int CheckOne(Builder *B, const void *kernels, int k, int nthread, const char **what)
{
  return CheckParams(B, (const NusKernels *)kernels, cases[k], nthread, what);
}

static void Check(const char *name, Builder *B)
{
  KernelSet sets[3];
  const int nset = Sets(sets);

  for (int s = 0; s < nset; s++) {
    CheckCases(name, B, &sets[s], s, 1, NCASES, CheckOne);
    CheckStorages(name, B, &(Storing){sets[s].name, s % 2, 2, ((const NusKernels *)sets[s].kernels)->fast, sets[s].kernels, Create, NusHostUpdate, Values, NusHostDestroy, Multiply});
  }
}

/* Rows with the same neighbours are told by diagonals, the ends of a grid's lines too */
static void CheckDiagonals(void)
{
  Builder   B;
  NusParams params = cases[0];
  SysCSR    csr;
  NusHost  *A;
  double    bytes;
  int64_t   diagonal = 0;

  Start(&B, 4000, 4000);
  for (SysInt r = 0; r < 4000; r++) {
    for (int k = -1; k <= 1; k++) Mark(&B, r + 50 * k, 1);
    if (r % 50) Mark(&B, r - 1, 1);
    if (r % 50 != 49) Mark(&B, r + 1, 1);
    CloseRow(&B);
  }
  Check("grid", &B);
  csr = (SysCSR){B.m, B.n, B.nz, B.i, B.j, B.a};
  if (NusHostPlan(&csr, &cache, 1, &params, &(NusBytes){{0}}) || NusHostCreate(&csr, &params, 1, 1, NusHostKernels(), INFINITY, &bytes, &A)) {
    Report(0, "a grid is stored by diagonals");
  } else {
    for (int64_t c = 0; c < A->nchunk; c++) diagonal += A->chunk[c].kind == NUS_DIAGONAL;
    Report(10 * diagonal > 9 * A->nchunk, "a grid is stored by diagonals");
    NusHostDestroy(A);
  }
  Finish(&B);
}

/* Values of rows with three unknowns per node of a grid of 40 x 40 nodes: the same for all nodes that are on the same sides of the grid. Some of them only a comparison of
   bits tells apart. */
static void OneMaterial(Builder *B, int kind)
{
  for (SysInt r = 0; r < B->m; r++) {
    const SysInt node = r / 3, x = node % 40, y = node / 40, side = (x == 0) + 2 * (x == 39) + 4 * (y == 0) + 8 * (y == 39);

    for (SysInt k = B->i[r]; k < B->i[r + 1]; k++) {
      const SysInt position = B->j[k] - 3 * node + 200, number = ((kind * 16 + side) * 3 + r % 3) * 400 + position;

      B->a[k] = (SysReal)(number % 97 - 48) / 7;
      if (number % 97 == 5) B->a[k] = number % 2 ? -(SysReal)0 : 0;
    }
  }
}

/* Chunks of a mesh with one material share their values, and products have the bits of those with values as they are; transposed ones those of the same chunks */
static void CheckShared(void)
{
  static const int nthreads[] = {1, 3};
  Builder          B;
  KernelSet        sets[3];
  const int        nset  = Sets(sets);
  const char      *what  = "";
  NusParams        asked = cases[NCASES - 2];
  SysCSR           csr;
  NusHost         *A = NULL;
  double           bytes;

  Start(&B, 4800, 4800);
  for (SysInt r = 0; r < 4800; r++) {
    const SysInt node = r / 3, x = node % 40;

    for (int k = -1; k <= 1; k++) Mark(&B, 3 * (node + 40 * k - (x > 0)), node + 40 * k < 0 ? 0 : 3 * (1 + (x > 0) + (x < 39)));
    CloseRow(&B);
  }
  csr          = (SysCSR){B.m, B.n, B.nz, B.i, B.j, B.a};
  asked.values = SYS_VALUES_EXACT;
  for (int s = 0; s < nset; s++) {
    for (int t = 0; t < 2; t++) {
      NusParams params = asked, plainly = cases[NCASES - 2], same;
      NusHost  *plain = NULL, *chunks = NULL;
      int       good;

      OneMaterial(&B, 0);
      good        = NusHostPlan(&csr, &cache, nthreads[t], &params, &(NusBytes){{0}}) == SYS_SUCCESS && NusHostPlan(&csr, &cache, nthreads[t], &plainly, &(NusBytes){{0}}) == SYS_SUCCESS;
      good        = good && params.rows == NUS_SHARED && params.c == 24 && NusHostCreate(&csr, &params, nthreads[t], 2, (const NusKernels *)sets[s].kernels, INFINITY, &bytes, &A) == SYS_SUCCESS;
      good        = good && NusHostCreate(&csr, &plainly, nthreads[t], 2, (const NusKernels *)sets[s].kernels, INFINITY, &bytes, &plain) == SYS_SUCCESS;
      same        = params;
      same.values = SYS_VALUES_DOUBLE;
      good        = good && NusHostCreate(&csr, &same, nthreads[t], 2, (const NusKernels *)sets[s].kernels, INFINITY, &bytes, &chunks) == SYS_SUCCESS;
      for (int change = 0; change <= 3 && good; change++) { /* another material, all values different, and the first material again */
        OneMaterial(&B, change);
        if (change == 2) B.a[B.nz / 2] *= 2;
        if (change == 3) OneMaterial(&B, 0);
        if (change) good = NusHostUpdate(A, &csr, NULL) == SYS_SUCCESS && NusHostUpdate(plain, &csr, NULL) == SYS_SUCCESS && NusHostUpdate(chunks, &csr, NULL) == SYS_SUCCESS;
        good = good && A->values.exact && (A->values.stored == SYS_STORAGE_SHARED) == (change < SYS_VALUES_CHANGES) && SameBits(&B, Multiply, A, plain, 0) && SameBits(&B, Multiply, A, chunks, 1);
        if (change < SYS_VALUES_CHANGES) good = good && A->nblock < 16 * nthreads[t] && NusHostBytes(A) < NusHostBytes(plain) / 3;
        else good = good && !A->share && A->nvalue == A->nslot;
      }
      NusHostDestroy(A);
      A = NULL;
      OneMaterial(&B, 0);
      good = good && NusHostCreate(&csr, &params, nthreads[t], 2, (const NusKernels *)sets[s].kernels, INFINITY, &bytes, &A) == SYS_SUCCESS && CheckProducts(&B, A, Multiply, 0, &what) && CheckProducts(&B, A, Multiply, 5, &what);
      printf("%sok %s, %d threads, chunks share their values\n", good ? "" : "not ", sets[s].name, nthreads[t]);
      failures += !good;
      NusHostDestroy(A);
      NusHostDestroy(plain);
      NusHostDestroy(chunks);
      A = NULL;
    }
  }
  for (SysInt k = 0; k < B.nz; k++) B.a[k] = RandomScalar();
  Report(NusHostPlan(&csr, &cache, 1, &asked, &(NusBytes){{0}}) == SYS_SUCCESS && asked.rows == NUS_SELL, "no chunks that are to share values if all values differ");
  Finish(&B);
}

/* Rows of any columns that come again, moved, with their values: chunks that are found by those before them, and one that has another value */
static void CheckRepeats(int kind)
{
  const int wide = kind == NUS_WIDE;
  NusParams params[2];
  NusHost  *A[2] = {NULL, NULL};
  Builder   B;
  SysCSR    csr;
  double    bytes;
  int       good = 1;

  Start(&B, 24 * 40 + 5, wide ? 70000 : 400);
  for (SysInt r = 0; r < B.m; r++) {
    const SysInt p = r % 24, moved = 3 * (r / 24);

    Mark(&B, 40 + p * 7 % 31 + moved, 1);
    Mark(&B, 90 + p * 13 % 57 + moved, 1 + p % 2);
    if (wide) Mark(&B, 66000 + p * 5 % 17 + moved, 1);
    CloseRow(&B);
    for (SysInt k = B.i[r]; k < B.i[r + 1]; k++) B.a[k] = (SysReal)(1 + 5 * p + k - B.i[r]) / 3;
  }
  B.a[B.i[24 * 30 + 11] + 1] = 7;
  csr                        = (SysCSR){B.m, B.n, B.nz, B.i, B.j, B.a};
  for (int k = 0; k < 2 && good; k++) {
    params[k]        = cases[NCASES - 2];
    params[k].c      = 24;
    params[k].rows   = NUS_SHARED;
    params[k].values = k ? SYS_VALUES_EXACT : SYS_VALUES_DOUBLE;
    good             = NusHostPlan(&csr, &cache, 1, &params[k], &(NusBytes){{0}}) == SYS_SUCCESS && NusHostCreate(&csr, &params[k], 1, 1, NusHostKernels(), INFINITY, &bytes, &A[k]) == SYS_SUCCESS;
  }
  good = good && A[1]->values.stored == SYS_STORAGE_SHARED && A[1]->nblock == 3 && A[1]->chunk[0].kind == (unsigned)kind && A[1]->chunk[39].kind == (unsigned)kind;
  good = good && SameBits(&B, Multiply, A[1], A[0], 0) && SameBits(&B, Multiply, A[1], A[0], 1);
  Report(good, wide ? "chunks with 32-bit columns repeat" : "chunks with 16-bit columns repeat");
  for (int k = 0; k < 2; k++) NusHostDestroy(A[k]);
  Finish(&B);
}

/* A row that double deals to the lanes has another order of sums in rows as they are: chunks that are to share values are refused */
static void CheckSharedRefused(void)
{
  Builder   B;
  NusParams params = cases[0];
  SysCSR    csr;
  NusHost  *A;
  double    bytes;

  Start(&B, 480, 480);
  for (SysInt r = 0; r < 480; r++) {
    Mark(&B, r, r == 100 ? 300 : 1);
    CloseRow(&B);
  }
  csr           = (SysCSR){B.m, B.n, B.nz, B.i, B.j, B.a};
  params.values = SYS_VALUES_EXACT;
  params.rows   = NUS_SHARED;
  params.c      = 24;
  Report(NusHostPlan(&csr, &cache, 1, &params, &(NusBytes){{0}}) == SYS_SUCCESS && NusHostCreate(&csr, &params, 1, 1, NusHostKernels(), INFINITY, &bytes, &A) == SYS_TOO_MANY_BYTES, "chunks with a long row do not share values");
  Finish(&B);
}

/* The parameters that are tried are those of a format that works */
static void CheckTune(void)
{
  Builder     B;
  NusParams   params = cases[NCASES - 2];
  SysCSR      csr;
  const char *what  = "";
  int         tried = 0;

  Runs(&B, 900, 2000, 20, 3);
  csr = (SysCSR){B.m, B.n, B.nz, B.i, B.j, B.a};
  Report(NusHostTune(&csr, &cache, 2, NusHostKernels(), &params, &tried) == SYS_SUCCESS && tried > 8 && params.c && params.sigma && params.count[0] >= 0 && params.count[1] >= 0 && CheckParams(&B, NusHostKernels(), params, 2, &what),
         "parameters by trying");
  Finish(&B);
}

/* A time that grows with the distance from an optimum, in place of products */
static SysStatus Distance(void *ctx, const NusParams *p, double *seconds)
{
  const NusParams *at = (const NusParams *)ctx;

  *seconds = 1;
  for (int k = 0; k < 2; k++) *seconds += 0.05 * fabs((double)(p->count[k] - at->count[k])) + (p->count[k] ? 0.3 * fabs(log2((double)p->width[k] / (double)at->width[k])) : 2);
  return SYS_SUCCESS;
}

/* Optima of the thesis's table 3.2 and others: many narrow segments beside a few wide ones, one kind alone, and widths or numbers that the caller gives */
static void CheckSearch(void)
{
  static const struct {
    int64_t width[2], count[2], asked_width[2], asked_count[2];
  } optima[] = {
    {{1024, 2048},  {35, 5},  {0, 0},    {-1, -1}},
    {{512, 65536},  {3, 12},  {0, 0},    {-1, -1}},
    {{2048, 65536}, {100, 1}, {0, 0},    {-1, -1}},
    {{1024, 4096},  {7, 9},   {1024, 0}, {-1, -1}},
    {{1024, 4096},  {7, 9},   {0, 0},    {-1, 9} }
  };
  int good = 1;

  for (size_t t = 0; t < sizeof(optima) / sizeof(*optima); t++) {
    NusParams at = {0}, asked = {0}, best;
    double    seconds;

    for (int k = 0; k < 2; k++) {
      at.width[k]    = optima[t].width[k];
      at.count[k]    = optima[t].count[k];
      asked.width[k] = optima[t].asked_width[k];
      asked.count[k] = optima[t].asked_count[k];
    }
    best = asked;
    for (int k = 0; k < 2; k++) {
      if (!best.width[k]) best.width[k] = k ? 65536 : 2048;
      if (best.count[k] < 0) best.count[k] = 0;
    }
    (void)Distance(&at, &best, &seconds);
    good = NusSearchSegments(10000000, 512, 131072, &asked, seconds, Distance, &at, &best) == SYS_SUCCESS && good;
    for (int k = 0; k < 2; k++) good = good && best.width[k] == at.width[k] && best.count[k] == at.count[k];
  }
  Report(good, "the search finds widths and numbers of segments");
}

static void CheckRefused(void)
{
  Builder   B;
  NusParams params = cases[4];
  SysCSR    csr;
  NusHost  *A;
  double    bytes;

  Runs(&B, 10, 70000, 3, 3);
  csr             = (SysCSR){B.m, B.n, B.nz, B.i, B.j, B.a};
  params.width[1] = 1;
  Report(NusHostPlan(&csr, &cache, 1, &params, &(NusBytes){{0}}) == SYS_SUCCESS && NusHostCreate(&csr, &params, 1, 1, NusHostKernels(), INFINITY, &bytes, &A) == SYS_TOO_LARGE, "more segments than can be told apart are refused");
  params.width[1] = 0;
  Report(NusHostPlan(&csr, &cache, 1, &params, &(NusBytes){{0}}) == SYS_SUCCESS && NusHostCreate(&csr, &params, 1, 1, NusHostKernels(), 100, &bytes, &A) == SYS_TOO_MANY_BYTES && bytes > 100, "more bytes than are allowed are refused");
  Finish(&B);
}

int main(void)
{
  ForEachShape(Check);
  CheckDisorder(Check);
  CheckDiagonals();
  CheckShared();
  CheckRepeats(NUS_NARROW);
  CheckRepeats(NUS_WIDE);
  CheckSharedRefused();
  CheckTune();
  CheckSearch();
  CheckRefused();
  return failures ? 1 : 0;
}
