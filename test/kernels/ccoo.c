/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The CCOO kernels against a plain reference, without PETSc: every instruction set this processor has, all formats of a chunk, the table of values.

   Prints "ok NAME" or "not ok NAME" for each combination of shape and instruction set, and for each subject.
*/
#include "mat/impls/ccoo/host/ccoohost.h"
#include "shapes.h"

static const CcooParams cases[] = {
  {256, 1, 1},
  {32,  2, 1},
  {64,  4, 0},
  {128, 8, 1},
  {256, 2, 0},
  {256, 4, 1},
  {32,  8, 1},
  {0,   0, 1}
};
#define NCASES ((int)(sizeof(cases) / sizeof(*cases)))

KERNEL_SETS(Ccoo)

static int Multiply(const void *data, int transpose, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z)
{
  CcooHost *A = (CcooHost *)data;

  if (transpose && CcooHostPrepareTranspose(A)) return 0;
  (transpose ? A->kernels->multtranspose : A->kernels->mult)(A, alpha, x, beta, y, z);
  return 1;
}

static SysCSR Matrix(const Builder *B)
{
  return (SysCSR){B->m, B->n, B->nz, B->i, B->j, B->a};
}

static CcooHost *Convert(const Builder *B, CcooParams params, int nthread)
{
  const SysCSR csr = Matrix(B);
  CcooHost    *A   = NULL;
  double       model, bytes;

  if (CcooHostPlan(&csr, &params, &model) || CcooHostCreate(&csr, &params, nthread, nthread, CcooHostKernels(), INFINITY, &bytes, &A)) return NULL;
  return A;
}

static uint32_t Offset(const uint8_t *col, int width, int64_t k)
{
  uint32_t offset = 0;

  memcpy(&offset, col + (k << width), (size_t)1 << width);
  return offset;
}

/* Reads the chunks as the format is defined, and compares rows, columns and the bits of values with the matrix; everything else is padding */
static int Same(const Builder *B, const CcooHost *A)
{
  const int       K     = A->params.k;
  SysInt          entry = 0;
  int64_t         next  = 0; /* the row of the next entry */
  const SysScalar zero  = 0;

  for (int64_t c = 0; c < A->nchunk; c++) {
    const CcooChunk *h      = A->chunk + c;
    const int        ngroup = CcooGroups(A, c), width = (int)(h->format & CCOO_WIDTH);
    const uint8_t   *row = A->index + (int64_t)CCOO_ENTRY_BYTES * h->index, *col = row + (h->format & CCOO_ROWS ? ngroup : 0), *value = A->value + (int64_t)CCOO_ENTRY_BYTES * h->value;

    if (A->entry[c] != entry) return 0;
    for (int g = 0; g < ngroup; g++) {
      const int64_t r = (int64_t)h->row + (h->format & CCOO_ROWS ? row[g] : 0);

      if (r < next - 1 || r > next || r >= B->m) return 0;
      next = r + 1;
      for (int k = g * K; k < (g + 1) * K; k++) {
        SysScalar a;

        if (h->format & CCOO_TABLE) memcpy(&a, &A->table->value[value[k]], sizeof(a));
        else memcpy(&a, value + k * sizeof(a), sizeof(a));
        if (entry >= B->i[r] && entry < B->i[r + 1]) {
          if (memcmp(&a, &B->a[entry], sizeof(a)) || h->col + Offset(col, width, k) != (uint32_t)B->j[entry]) return 0;
          entry++;
        } else if (memcmp(&a, &zero, sizeof(a)) || (int64_t)h->col + Offset(col, width, k) >= B->n) return 0;
      }
    }
  }
  return entry == B->nz && (!B->nz || next == B->m);
}

static void RandomValues(Builder *B, int distinct)
{
  for (SysInt k = 0; k < B->nz; k++) B->a[k] = distinct ? (SysScalar)(1 + RandomBelow(distinct)) : RandomScalar();
}

static int CheckOne(Builder *B, const void *set, int k, int nthread, const char **what)
{
  const CcooKernels *kernels = (const CcooKernels *)set;
  CcooParams         params  = cases[k];
  const SysCSR       csr = Matrix(B), pattern = {B->m, B->n, B->nz, B->i, B->j, NULL};
  CcooHost          *A = NULL;
  double             model, bytes;
  int                good;

  *what = "conversion";
  good  = CcooHostPlan(&csr, &params, &model) == SYS_SUCCESS && CcooHostCreate(&csr, &params, nthread, nthread, kernels, INFINITY, &bytes, &A) == SYS_SUCCESS;
  if (good && (bytes != CcooHostBytes(A) || !Same(B, A))) {
    *what = "what is stored";
    good  = 0;
  }
  if (good && A->nchunk <= CCOO_MODEL_CHUNKS && fabs(model - bytes) > 1e-9 * bytes) {
    *what = "the model";
    good  = 0;
  }
  if (good) good = CheckProducts(B, A, Multiply, 0, what);
  for (int distinct = 200; distinct >= 0 && good; distinct -= 100) {
    RandomValues(B, distinct);
    good = CcooHostUpdate(A, &csr, NULL) == SYS_SUCCESS && Same(B, A) && CheckProducts(B, A, Multiply, 0, what);
    if (!good) *what = "update of values";
  }
  if (good) {
    good = CheckProducts(B, A, Multiply, 5, what);
    if (!good) *what = "products with NaN and infinity";
  }
  if (good) { /* laid out by one thread, whatever the number of those that multiply */
    CcooHostDestroy(A);
    RandomValues(B, nthread == 2 ? 0 : 7);
    good = CcooHostCreate(&pattern, &params, nthread, 1, kernels, INFINITY, &bytes, &A) == SYS_SUCCESS && CcooHostUpdate(A, &csr, NULL) == SYS_SUCCESS && Same(B, A) && CheckProducts(B, A, Multiply, 0, what);
    if (!good) *what = "values after the pattern";
  }
  CcooHostDestroy(A);
  return good;
}

static void Check(const char *name, Builder *B)
{
  KernelSet sets[3];
  const int nset = Sets(sets);

  for (int s = 0; s < nset; s++) CheckCases(name, B, &sets[s], s, nset, NCASES, CheckOne);
}

/* Rows of three reaches, short ones and a long one, with few values and with many: chunks of all formats */
static void CheckFormats(void)
{
  static const SysInt reach[] = {250, 60000, 140000};
  Builder             B;
  int64_t             count[CCOO_FORMATS];
  int                 good[2] = {1, 1};

  Start(&B, 3 * 401, 140000);
  B.nz = 3 * (400 * 10 + 3000);
  B.j  = calloc((size_t)B.nz, sizeof(*B.j));
  B.a  = calloc((size_t)B.nz, sizeof(*B.a));
  for (SysInt r = 0; r < B.m; r++) {
    const SysInt width = reach[r / 401], n = r % 401 == 400 ? 3000 : 10, step = n == 10 ? width / 10 : width / 7 + 1;

    B.i[r + 1] = B.i[r] + n;
    for (SysInt k = 0; k < n; k++) B.j[B.i[r] + k] = (SysInt)((int64_t)k * step % width);
  }
  for (SysInt e = 0; e < B.nz; e++) B.a[e] = e / 600 % 2 ? RandomScalar() : (SysScalar)(e % 5);
  for (int table = 0; table < 2; table++) {
    for (int k = 1; k <= CCOO_MAX_K; k *= 2) {
      const CcooParams params = {32, k, table};
      const char      *what;
      CcooHost        *A = Convert(&B, params, 3);

      good[table] = good[table] && A && Same(&B, A) && CheckProducts(&B, A, Multiply, 0, &what);
      if (A) CcooHostCount(A, count);
      for (int f = 0; f < CCOO_FORMATS && A; f++) good[table] = good[table] && (count[f] > 0) == (f < 6 || table);
      CcooHostDestroy(A);
    }
  }
  Finish(&B);
  Report(good[0], "six formats of chunks without a table");
  Report(good[1], "twelve formats of chunks with a table");
}

/* Numbers of distinct values; the expected chunks of positions in the table are all, none, or as many as it happens */
static void CheckDistinct(void)
{
  static const int distinct[] = {0, 1, 255, 256, 257, 65536};

  for (int k = 0; k < 6; k++) {
    const CcooParams params = {256, 2, 1};
    const SysInt     n      = 400;
    Builder          B;
    CcooHost        *A;
    const char      *what;
    char             name[64];
    int64_t          count[CCOO_FORMATS], tabled = 0;
    int              good;

    Start(&B, n, n);
    for (SysInt r = 0; r < n; r++) {
      if (distinct[k]) Mark(&B, 0, n);
      CloseRow(&B);
    }
    for (SysInt e = 0; e < B.nz; e++) B.a[e] = (SysScalar)(3 + e * (int64_t)7919 % (distinct[k] ? distinct[k] : 1));
    A    = Convert(&B, params, 2);
    good = A && Same(&B, A) && CheckProducts(&B, A, Multiply, 0, &what);
    if (A) CcooHostCount(A, count);
    for (int f = 6; f < CCOO_FORMATS && A; f++) tabled += count[f];
    if (good && distinct[k] <= 256) good = tabled == A->nchunk && A->table->n == distinct[k];
    else if (good) good = tabled == 0 && A->table->n == 0;
    CcooHostDestroy(A);
    Finish(&B);
    (void)snprintf(name, sizeof(name), "%d distinct values", distinct[k]);
    Report(good, name);
  }
}

/* A value that occurs once, far from the sample in which values are counted, has its position; a few rows of many values leave the other chunks alone */
static void CheckRare(void)
{
  const CcooParams params = {256, 4, 1};
  Builder          B;
  CcooHost        *A;
  int64_t          count[CCOO_FORMATS];
  int              good;

  Start(&B, 1000, 1000);
  for (SysInt r = 0; r < 1000; r++) {
    Mark(&B, 0, 400);
    CloseRow(&B);
  }
  for (SysInt e = 0; e < B.nz; e++) B.a[e] = (SysScalar)(e % 3);
  B.a[123457] = 99;
  A           = Convert(&B, params, 2);
  good        = A && Same(&B, A) && A->table->n == 4;
  CcooHostDestroy(A);
  Report(good, "a value that occurs once");
  for (SysInt e = 200000; e < 210000; e++) B.a[e] = RandomScalar();
  A    = Convert(&B, params, 2);
  good = A && Same(&B, A);
  if (A) CcooHostCount(A, count);
  good = good && count[3] + count[4] + count[5] >= 9 && count[3] + count[4] + count[5] <= 11 && count[9] + count[10] + count[11] >= 380;
  CcooHostDestroy(A);
  Report(good, "many values in a few chunks");
  Finish(&B);
}

/* Values of which the bits matter */
static void CheckBits(void)
{
  static const SysReal special[] = {(SysReal)0., (SysReal)-0., INFINITY, -INFINITY, (SysReal)1., (SysReal)-1.};
  const CcooParams     params    = {32, 4, 1};
  Builder              B;
  CcooHost            *A;
  int                  good;

  Band(&B, 600, 3, 2);
  for (SysInt e = 0; e < B.nz; e++) {
    SysReal a[2] = {special[e % 6], special[e / 6 % 6]};

    if (e % 7 == 3) { /* the least denormal, and NaNs with payloads and either sign */
#if defined(SYS_SINGLE)
      const uint32_t bits[] = {1, 0x7fc01234, 0xffc00001, 0x7f800001};
#else
      const uint64_t bits[] = {1, UINT64_C(0x7ff8000000001234), UINT64_C(0xfff8000000000001), UINT64_C(0x7ff0000000000001)};
#endif

      memcpy(a, &bits[e / 7 % 4], sizeof(*a));
    }
    memcpy(&B.a[e], a, sizeof(*B.a));
  }
  A    = Convert(&B, params, 2);
  good = A && Same(&B, A) && A->table->n >= 9;
  CcooHostDestroy(A);
  Report(good, "bits of zeros, denormals, infinities and NaNs");
  Finish(&B);
}

/* The sizes follow the values, there and back */
static void CheckUpdates(void)
{
  const CcooParams params = {256, 4, 1};
  Builder          B;
  CcooHost        *A;
  double           few, many;
  const char      *what;
  int              good;

  Band(&B, 3000, 5, 3);
  RandomValues(&B, 9);
  A    = Convert(&B, params, 2);
  few  = A ? CcooHostBytes(A) : 0;
  good = A && A->table->n == 10; /* and 0 */
  for (int round = 0; round < 2 && good; round++) {
    const SysCSR csr = Matrix(&B);

    RandomValues(&B, 0);
    good = !CcooHostUpdate(A, &csr, NULL) && Same(&B, A) && A->table->n == 0 && CheckProducts(&B, A, Multiply, 0, &what);
    many = CcooHostBytes(A);
    for (SysInt e = 100; e < 120 && good; e++) B.a[e] = 5; /* a part of the values only */
    good = good && many > 2 * few && !CcooHostUpdate(A, &csr, NULL) && Same(&B, A) && CcooHostBytes(A) == many;
    RandomValues(&B, 9);
    for (SysInt e = 0; e < B.nz; e++) B.a[e] *= (SysReal)(2 + round);
    good = good && !CcooHostUpdate(A, &csr, NULL) && Same(&B, A) && CcooHostBytes(A) == few && CheckProducts(&B, A, Multiply, 0, &what);
  }
  CcooHostDestroy(A);
  Finish(&B);
  Report(good, "from few values to many and back");
}

/* A row of a million entries between short ones, as one product of any number of threads */
static void CheckLongRow(void)
{
  Builder          B;
  CcooHost        *A;
  const char      *what   = "";
  const CcooParams params = {256, 8, 1};
  int              good   = 1;

  Start(&B, 40, 1000000);
  for (SysInt r = 0; r < 40; r++) {
    if (r == 20) Mark(&B, 0, 1000000);
    else Mark(&B, 25000 * r, r % 4);
    CloseRow(&B);
  }
  for (int t = 1; t < 6 && good; t += 2) {
    A    = Convert(&B, params, t);
    good = A && Same(&B, A) && CheckProducts(&B, A, Multiply, 0, &what) && CheckProducts(&B, A, Multiply, 2, &what);
    CcooHostDestroy(A);
  }
  Finish(&B);
  Report(good, "a row of a million entries");
}

/* A product has the same bits on any number of threads and with either storage of values; the transposed product has the same bits on the same threads */
static void CheckSameBits(void)
{
  Builder    B;
  SysScalar *x, *z[2];
  int        good = 1;

  Hub(&B, 3000);
  RandomValues(&B, 100);
  x = malloc(sizeof(*x) * B.n);
  for (int k = 0; k < 2; k++) z[k] = malloc(sizeof(*x) * B.m);
  for (SysInt k = 0; k < B.n; k++) x[k] = RandomScalar();
  for (int transpose = 0; transpose < 2; transpose++) {
    for (int t = 1; t < 6 && good; t++) {
      for (int table = 0; table < 2 && good; table++) {
        const CcooParams params = {64, 2, table};
        CcooHost        *A      = Convert(&B, params, t);

        good = A && Multiply(A, transpose, 3, x, 0, NULL, z[1]);
        CcooHostDestroy(A);
        if ((t > 1 && !transpose) || table) good = good && !memcmp(z[0], z[1], sizeof(*x) * B.m);
        else memcpy(z[0], z[1], sizeof(*x) * B.m);
      }
    }
    Report(good, transpose ? "transposed products have the same bits with either storage" : "products have the same bits");
  }
  free(x);
  free(z[0]);
  free(z[1]);
  Finish(&B);
}

/* Rows of one group each, which a kernel may take several at a time, after a row that ends with the first group of a piece: bits of the sums of one at a time, which
   longer rows among them enforce */
static void CheckRowsOfOneGroup(void)
{
  for (int table = 0; table < 2; table++) {
    Builder    B[2];
    SysScalar *x, *z[2];
    int        good = 1;

    for (int k = 0; k < 2; k++) Start(&B[k], 700, 1000);
    for (SysInt r = 0; r < 700; r++) {
      const int64_t col = RandomBelow(900), len = r ? 1 + RandomBelow(8) : 516;

      for (int k = 0; k < 2; k++) {
        Mark(&B[k], r ? col : 0, r % 40 == 39 && k ? len + 8 : len);
        CloseRow(&B[k]);
        for (SysInt e = B[k].i[r]; e < B[k].i[r + 1]; e++) B[k].a[e] = table ? (SysReal)(1 + (e - B[k].i[r] + r) % 3) / 3 : (SysReal)(1 + 16 * r + e - B[k].i[r]) / 7;
      }
    }
    x = malloc(sizeof(*x) * 1000);
    for (SysInt k = 0; k < 1000; k++) x[k] = RandomScalar();
    for (int k = 0; k < 2; k++) {
      const CcooParams params = {256, 8, table};
      CcooHost        *A      = Convert(&B[k], params, 1);

      z[k] = malloc(sizeof(*x) * 700);
      good = good && A && (!table || (A->table && A->table->n <= 4)) && Multiply(A, 0, 1, x, 0, NULL, z[k]);
      CcooHostDestroy(A);
    }
    for (SysInt r = 0; r < 700 && good; r++) good = r % 40 == 39 || !memcmp(z[0] + r, z[1] + r, sizeof(*x));
    Report(good, table ? "rows of one group, few values" : "rows of one group");
    free(x);
    for (int k = 0; k < 2; k++) {
      free(z[k]);
      Finish(&B[k]);
    }
  }
}

static void CheckRefused(void)
{
  Builder   B;
  SysCSR    csr;
  CcooHost *A;
  double    bytes;

  Runs(&B, 100, 700, 3, 3);
  csr = Matrix(&B);
  Report(CcooHostCreate(&csr, &cases[1], 1, 1, CcooHostKernels(), 100, &bytes, &A) == SYS_TOO_MANY_BYTES && bytes > 100 && !A, "more bytes than are allowed are refused");
  csr.n = (int64_t)UINT32_MAX + 1;
  Report(CcooHostCreate(&csr, &cases[1], 1, 1, CcooHostKernels(), INFINITY, &bytes, &A) == SYS_TOO_LARGE && !A, "more columns than 32 bits can number are refused");
  Finish(&B);
}

int main(void)
{
  ForEachShape(Check);
  CheckDisorder(Check);
  CheckFormats();
  CheckDistinct();
  CheckRare();
  CheckBits();
  CheckUpdates();
  CheckLongRow();
  CheckSameBits();
  CheckRowsOfOneGroup();
  CheckRefused();
  return failures ? 1 : 0;
}
