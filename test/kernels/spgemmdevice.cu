/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Sparse products on a CUDA device against sums on the host, without PETSc: all kinds of products and shapes, new values, the same bits, what must be
   refused, and what must be given back.

     spgemmdevice [small] GROUP...     runs groups of tests; small leaves out large shapes, for tools that slow everything down

   This program and the library's sources are built with small SPGEMM_SAMPLE_PRODUCTS, SPGEMM_SAMPLE_ROWS and SPGEMM_LINE_LEAST, so that small shapes
   have room by a sample, and lines.

   Prints "ok GROUP" or "not ok GROUP", before it what was wrong. Exit code 77: there is no device.
*/
#include "mat/impls/hashgemm/cuda/spgemmcuda.h"
#include "devicetest.h"

#include <map>

static SpgemmDeviceContext *context;
static SpgemmAccumulator    accumulator = SPGEMM_AUTO;
static double               rows_made[SPGEMM_ROWS_KINDS], lines_made; /* of all products */

/* The linker puts this in the place of the call: the allocation of number fail_at fails */
static int allocations = 0, fail_at = -1;

extern "C" cudaError_t __real_cudaMallocFromPoolAsync(void **, size_t, cudaMemPool_t, cudaStream_t);
extern "C" cudaError_t __wrap_cudaMallocFromPoolAsync(void **memory, size_t bytes, cudaMemPool_t pool, cudaStream_t s)
{
  return allocations++ == fail_at ? cudaErrorMemoryAllocation : __real_cudaMallocFromPoolAsync(memory, bytes, pool, s);
}

/* And in the place of this one: the most shared memory that a kernel has asked for; up to 48 KB need not be asked for */
static int most_shared = 0;

extern "C" cudaError_t __real_cudaFuncSetAttribute(const void *, cudaFuncAttribute, int);
extern "C" cudaError_t __wrap_cudaFuncSetAttribute(const void *kernel, cudaFuncAttribute attribute, int value)
{
  if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize && value > most_shared) most_shared = value;
  return __real_cudaFuncSetAttribute(kernel, attribute, value);
}

/* ---- Matrices ---- */

typedef Rows Matrix;

static RowMaker Scattered(int n, int most)
{
  return [=](int, std::vector<int> &cols) {
    for (int k = RandomBelow(most + 1); k > 0 && n; k--) cols.push_back(RandomBelow(n));
  };
}

static RowMaker Exactly(int n, int length)
{
  return [=](int, std::vector<int> &cols) {
    for (int k = 0; k < length && n; k++) cols.push_back(RandomBelow(n));
  };
}

/* Every row of the fine grid near one or two of the coarse */
static RowMaker Prolongator(int m, int n)
{
  return [=](int r, std::vector<int> &cols) {
    const int c = (int)((int64_t)r * n / m);

    for (int k = RandomBelow(4); k >= 0; k--) cols.push_back(c + RandomBelow(3) - 1);
  };
}

struct Pair {
  std::string name;
  Matrix      A, B;
};

static std::vector<Pair> MakePairs()
{
  std::vector<Pair> pairs;

  auto square = [&](const char *name, bool large, int n, const RowMaker &make) {
    if (small && large) return;
    const Matrix A = MakeRows(n, n, make);

    pairs.push_back({name, A, A});
  };
  auto pair = [&](const char *name, bool large, int m, int k, int n, const RowMaker &makeA, const RowMaker &makeB) {
    if (!small || !large) pairs.push_back({name, MakeRows(m, k, makeA), MakeRows(k, n, makeB)});
  };

  pair("nothing", false, 0, 0, 0, Scattered(0, 1), Scattered(0, 1));
  pair("no rows", false, 0, 7, 5, Scattered(7, 1), Scattered(5, 3));
  pair("no columns", false, 5, 7, 0, Scattered(7, 3), Scattered(0, 3));
  pair("nothing between", false, 5, 0, 7, Scattered(0, 3), Scattered(7, 3));
  square("one entry", false, 1, Exactly(1, 1));
  square("all rows empty", false, 300, Scattered(300, 0));
  square("diagonal", false, 500, [](int r, std::vector<int> &cols) { cols.push_back(r); });
  square("permutation", false, 500, [](int r, std::vector<int> &cols) { cols.push_back(r * 7 % 500); });
  pair("empty rows of B", false, 200, 200, 200, Scattered(200, 9), [](int r, std::vector<int> &cols) {
    if (r % 3 == 0) Run(cols, r, 5);
  });
  square("few entries", false, 1000, Scattered(1000, 3));
  square("scattered", false, 600, Scattered(600, 20));
  square("scattered, wide", true, 20000, Scattered(20000, 40));
  square("runs", false, 700, Runs(700, 6, 9));
  square("long runs", false, 400, Runs(400, 4, 90));
  square("entries in few columns", false, 700, [](int, std::vector<int> &cols) {
    for (int k = 0; k < 8; k++) cols.push_back(RandomBelow(12));
  });
  square("dense", false, 130, [](int, std::vector<int> &cols) { Run(cols, 0, 130); });
  square("dense, larger", true, 300, [](int, std::vector<int> &cols) { Run(cols, 0, 300); });
  square("5-point stencil", false, 21 * 17, Stencil(21, 17, 1, true, 1));
  square("9-point stencil", false, 21 * 17, Stencil(21, 17, 1, false, 1));
  square("7-point stencil", false, 9 * 8 * 11, Stencil(9, 8, 11, true, 1));
  square("27-point stencil", false, 9 * 8 * 7, Stencil(9, 8, 7, false, 1));
  square("27-point stencil, larger", true, 30 * 31 * 33, Stencil(30, 31, 33, false, 1));
  square("3-blocks on a grid", false, 4 * 5 * 4 * 3, Stencil(4, 5, 4, false, 3));
  square("5-blocks on a grid", true, 7 * 6 * 8 * 5, Stencil(7, 6, 8, false, 5));
  square("band", false, 900, [](int r, std::vector<int> &cols) {
    for (int k = 0; k < 12; k++) cols.push_back(r - 60 + RandomBelow(121));
  });
  square("power law", false, 500, PowerLaw(500));
  square("power law, larger", true, 4000, PowerLaw(4000));
  square("hub rows and columns", false, 2000, [](int r, std::vector<int> &cols) {
    if (r % 500 == 3) Run(cols, 0, 1900);
    cols.push_back(r);
    cols.push_back(r % 7);
  });
  square("a full row and column", true, 30000, [](int r, std::vector<int> &cols) {
    if (r == 777) Run(cols, 0, 30000);
    cols.push_back(5);
    cols.push_back(r);
  });
  pair("one row", false, 1, 3000, 5000, Exactly(3000, 400), Scattered(5000, 12));
  pair("one column", false, 800, 300, 1, Scattered(300, 9), Exactly(1, 1));
  pair("tall and narrow", false, 3000, 50, 11, Scattered(50, 5), Scattered(11, 4));
  pair("short and wide", false, 11, 50, 100000, Scattered(50, 12), Scattered(100000, 60));
  pair("long rows over many columns", false, 6, 40, 300000, Exactly(40, 30), Exactly(300000, 400));
  pair("long dense rows over many columns", true, 3, 60, 150000, Exactly(60, 50), [](int, std::vector<int> &cols) { Run(cols, RandomBelow(50000), 90000); });
  pair("last columns", false, 40, 40, 65536 + 33, Scattered(40, 30), [](int, std::vector<int> &cols) {
    Run(cols, 65536 + 20, 13);
    for (int k = 0; k < 60; k++) cols.push_back(RandomBelow(65536));
  });
  pair("columns to the limit", false, 20, 20, std::numeric_limits<int>::max() - 1, Scattered(20, 6), [](int r, std::vector<int> &cols) {
    for (int k = 0; k < 8; k++) cols.push_back(std::numeric_limits<int>::max() - 2 - k * 7 - r);
    cols.push_back(r);
  });
  /* rows of the result around every limit of a bin */
  static const int sizes[] = {1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 512, 513, 700, 1023, 1024, 1025, 2047, 2049, 4000};
  const int        many    = (int)(sizeof(sizes) / sizeof(*sizes));
  pair(
    "rows of all sizes, two rows of B each", false, 2 * many, 2 * many, 40000, [](int r, std::vector<int> &cols) { Run(cols, r / 2 * 2, 2); },
    [](int r, std::vector<int> &cols) {
      for (int k = r % 2; k < sizes[r / 2]; k += 2) cols.push_back(k * 7 % 40000);
    });
  pair(
    "rows of all sizes in runs", false, 2 * many, 2 * many, 9000, [](int r, std::vector<int> &cols) { Run(cols, r / 2 * 2, 2); }, [](int r, std::vector<int> &cols) { Run(cols, r % 2 * 3 + r, sizes[r / 2]); });
  pair(
    "rows of all sizes, short rows of B", false, many, 4000, 40000, [](int r, std::vector<int> &cols) { Run(cols, 0, sizes[r]); }, [](int r, std::vector<int> &cols) { cols.push_back(r * 3); });
  pair(
    "rows of all sizes, rows of B of 12", false, many, 4000, 60000, [](int r, std::vector<int> &cols) { Run(cols, 0, (sizes[r] + 11) / 12); },
    [](int r, std::vector<int> &cols) {
      for (int k = 0; k < 12; k++) cols.push_back(r * 12 + k * 33);
    });
  /* and rows of 8 to 5000 products */
  pair(
    "rows of up to 5000 products, scattered", false, 625, 625, 3000, [](int r, std::vector<int> &cols) { Run(cols, 0, r + 1); },
    [](int, std::vector<int> &cols) {
      for (int k = 0; k < 8; k++) cols.push_back(RandomBelow(3000));
    });
  pair(
    "rows of up to 5000 products, in runs", false, 625, 625, 3000, [](int r, std::vector<int> &cols) { Run(cols, 0, r + 1); }, [](int r, std::vector<int> &cols) { Run(cols, r * 37 % 2990, 8); });
  pair(
    "one column for all products", false, 300, 5000, 70000, [](int r, std::vector<int> &cols) { Run(cols, 0, r * 17); }, [](int, std::vector<int> &cols) { cols.push_back(69999); });
  pair(
    "rows of all sizes, far apart", false, many, 4000, 2000000, [](int r, std::vector<int> &cols) { Run(cols, 0, (sizes[r] + 11) / 12); },
    [](int r, std::vector<int> &cols) {
      for (int k = 0; k < 12; k++) cols.push_back(r % 7 * 280000 + r * 12 + k * 331);
    });
  pair(
    "rows of all sizes in runs, far apart", false, many, 4000, 2000000, [](int r, std::vector<int> &cols) { Run(cols, 0, (sizes[r] + 11) / 12); }, [](int r, std::vector<int> &cols) { Run(cols, r % 5 * 390000 + r * 12, 60); });
  return pairs;
}

static Matrix TransposeOf(const Matrix &A)
{
  Matrix           T;
  std::vector<int> fill;

  T.m = A.n;
  T.n = A.m;
  T.i.assign((size_t)T.m + 1, 0);
  T.j.resize(A.j.size());
  T.a.resize(A.j.size());
  for (int c : A.j) T.i[(size_t)c + 1]++;
  for (int r = 0; r < T.m; r++) T.i[r + 1] += T.i[r];
  fill = T.i;
  for (int r = 0; r < A.m; r++) {
    for (int k = A.i[r]; k < A.i[r + 1]; k++) {
      const int to = fill[A.j[k]]++;

      T.j[to] = r;
      T.a[to] = A.a[k];
    }
  }
  return T;
}

/* ---- What a product must be ---- */

struct Reference {
  int                      m = 0, n = 0;
  std::vector<int>         i = {0}, j;
  std::vector<long double> a, scale; /* the sum, and that of the absolute values */
  std::vector<int>         terms;
};

static Reference AsReference(const Matrix &A)
{
  Reference R;

  R.m = A.m;
  R.n = A.n;
  R.i = A.i;
  R.j = A.j;
  R.a.assign(A.a.begin(), A.a.end());
  for (long double a : R.a) R.scale.push_back(fabsl(a));
  R.terms.assign(R.a.size(), 1);
  return R;
}

static Reference ProductOf(const Reference &A, const Reference &B)
{
  struct Sum {
    long double a = 0, scale = 0;
    int         terms = 0;
  };
  const bool         wide = B.n > 10000000;
  std::vector<Sum>   dense((size_t)(wide ? 0 : B.n));
  std::map<int, Sum> sparse;
  std::vector<int>   columns;
  Reference          C;

  C.m = A.m;
  C.n = B.n;
  for (int r = 0; r < A.m; r++) {
    columns.clear();
    for (int k = A.i[r]; k < A.i[r + 1]; k++) {
      for (int l = B.i[A.j[k]]; l < B.i[A.j[k] + 1]; l++) {
        Sum &s = wide ? sparse[B.j[l]] : dense[B.j[l]];

        if (!s.terms) columns.push_back(B.j[l]);
        s.a += A.a[k] * B.a[l];
        s.scale += A.scale[k] * B.scale[l];
        s.terms += A.terms[k] + B.terms[l];
      }
    }
    std::sort(columns.begin(), columns.end());
    for (int c : columns) {
      Sum &s = wide ? sparse[c] : dense[c];

      C.j.push_back(c);
      C.a.push_back(s.a);
      C.scale.push_back(s.scale);
      C.terms.push_back(s.terms);
      s = Sum();
    }
    C.i.push_back((int)C.j.size());
  }
  return C;
}

static Reference Expected(SpgemmType type, const Matrix &A, const Matrix &B, const Matrix &C)
{
  const Reference a = AsReference(A), b = AsReference(B);

  switch (type) {
  case SPGEMM_ATB:
    return ProductOf(AsReference(TransposeOf(A)), b);
  case SPGEMM_ABT:
    return ProductOf(a, AsReference(TransposeOf(B)));
  case SPGEMM_PTAP:
    return ProductOf(AsReference(TransposeOf(B)), ProductOf(a, b));
  case SPGEMM_RART:
    return ProductOf(b, ProductOf(a, AsReference(TransposeOf(B))));
  case SPGEMM_ABC:
    return ProductOf(ProductOf(a, b), AsReference(C));
  default:
    return ProductOf(a, b);
  }
}

/* ---- On the device ---- */

struct DeviceMatrix {
  int              m, n;
  Array<int>       i, j;
  Array<SysScalar> a;

  explicit DeviceMatrix(const Matrix &A) : m(A.m), n(A.n), i(A.i), j(A.j), a(A.a) { }
  SysCSR CSR() const { return {m, n, (int64_t)j.size, i.data, j.data, a.data}; }
};

static const char *const TypeNames[] = {"AB", "AtB", "ABt", "PtAP", "RARt", "ABC"};

/* A product, and its result with a guard behind each array */
struct Product {
  std::string          where;
  SpgemmType           type;
  DeviceMatrix         A, B, C;
  SpgemmDevice        *S = nullptr;
  SpgemmInfo           info;
  int                  m = 0;
  Array<int>          *i = nullptr, *j = nullptr;
  Array<SysScalar>    *a     = nullptr;
  static constexpr int Guard = 4;

  Product(const std::string &name, SpgemmType t, const Matrix &a_, const Matrix &b_, const Matrix &c_) : where(name + ", " + TypeNames[t]), type(t), A(a_), B(b_), C(c_)
  {
    m = type == SPGEMM_ATB ? A.n : type == SPGEMM_PTAP ? B.n : type == SPGEMM_RART ? B.m : A.m;
  }
  ~Product()
  {
    SpgemmDeviceDestroy(&S, stream);
    delete i;
    delete j;
    delete a;
  }
  bool      Called(const char *what, SysStatus status) const { return status == SYS_SUCCESS || Complain(where, Text("%s returned %d, %s", what, (int)status, SysDeviceErrorText())); }
  SysStatus Create()
  {
    const SysCSR a_ = A.CSR(), b_ = B.CSR(), c_ = C.CSR();

    return SpgemmDeviceCreate(context, type, accumulator, &a_, &b_, &c_, stream, &S, &info);
  }
  bool Fill(bool values)
  {
    const SysCSR a_ = A.CSR(), b_ = B.CSR(), c_ = C.CSR();
    const size_t nz = (size_t)info.nonzeros;

    i = new Array<int>(std::vector<int>((size_t)m + 1 + Guard, -77));
    j = new Array<int>(std::vector<int>(nz + Guard, -77));
    a = new Array<SysScalar>(std::vector<SysScalar>(nz + Guard, NotANumber));
    return Called("the result", SpgemmDeviceFill(S, &a_, &b_, &c_, i->data, j->data, values ? a->data : nullptr, stream));
  }
  bool Revalue()
  {
    const SysCSR a_ = A.CSR(), b_ = B.CSR(), c_ = C.CSR();

    a->Upload(std::vector<SysScalar>(a->size, NotANumber));
    return Called("new values", SpgemmDeviceRevalue(S, &a_, &b_, &c_, i->data, j->data, a->data, stream));
  }
  bool Make(bool values = true)
  {
    if (!Called("the count", Create())) return false;
    for (int k = 0; k < SPGEMM_ROWS_KINDS; k++) rows_made[k] += info.rows[k];
    lines_made += info.lines;
    return Fill(values);
  }
  /* After Fill() without values */
  bool FirstValues()
  {
    const SysCSR a_ = A.CSR(), b_ = B.CSR(), c_ = C.CSR();

    return Called("the first values", SpgemmDeviceFirstValues(S, &a_, &b_, &c_, i->data, j->data, a->data, stream));
  }
  bool Check(const Reference &R, bool values, const char *when) const
  {
    const std::vector<int>       hi = i->Download(), hj = j->Download();
    const std::vector<SysScalar> ha = a->Download();
    const std::string            at = where + when;

    if ((size_t)info.nonzeros != R.j.size()) return Complain(at, Text("%.0f entries instead of %zu", info.nonzeros, R.j.size()));
    for (size_t k = 0; k < Guard; k++) {
      if (hi[hi.size() - 1 - k] != -77 || hj[hj.size() - 1 - k] != -77 || !std::isnan(ha[ha.size() - 1 - k])) return Complain(at, "something is written behind the result");
    }
    for (int r = 0; r < R.m; r++) {
      if (hi[r] != R.i[r] || hi[r + 1] != R.i[r + 1]) return Complain(at, Text("row %d from %d to %d instead of %d to %d", r, hi[r], hi[r + 1], R.i[r], R.i[r + 1]));
      for (int k = R.i[r]; k < R.i[r + 1]; k++) {
        if (hj[k] != R.j[k]) return Complain(at, Text("row %d (%d entries), entry %d has column %d instead of %d", r, R.i[r + 1] - R.i[r], k - R.i[r], hj[k], R.j[k]));
        if (!values) continue;
        if (!(fabsl((long double)ha[k] - R.a[k]) <= R.scale[k] * Eps * (R.terms[k] + 4)))
          return Complain(at, Text("row %d (%d entries), entry %d, column %d is %.17g instead of %.17Lg", r, R.i[r + 1] - R.i[r], k - R.i[r], hj[k], (double)ha[k], R.a[k]));
      }
    }
    return true;
  }
};

static void NewValues(Matrix &A)
{
  for (SysScalar &a : A.a) a = RandomScalar();
}

static bool PatternIsLarge(const Pair &p)
{
  return p.B.n > 10000000; /* a transpose of it has too many rows for a test */
}

/* All that one pair of matrices can be the factors of */
static std::vector<SpgemmType> TypesOf(const Pair &p)
{
  std::vector<SpgemmType> types = {SPGEMM_AB};

  if (PatternIsLarge(p)) return types;
  types.push_back(SPGEMM_ATB); /* of A and A B's left factor: the rows must agree */
  types.push_back(SPGEMM_ABT);
  if (p.A.m == p.A.n) {
    types.push_back(SPGEMM_PTAP);
    types.push_back(SPGEMM_RART);
  }
  types.push_back(SPGEMM_ABC);
  return types;
}

/* The factors of a product of this type, made of those of a pair */
static void FactorsOf(SpgemmType type, const Pair &p, Matrix &A, Matrix &B, Matrix &C)
{
  A = p.A;
  B = p.B;
  if (type == SPGEMM_ATB) A = TransposeOf(p.A);
  if (type == SPGEMM_ABT || type == SPGEMM_RART) B = TransposeOf(p.B);
  if (type == SPGEMM_PTAP && p.A.m > 20) B = MakeRows(p.A.m, p.A.m / 3, Prolongator(p.A.m, p.A.m / 3));
  if (type == SPGEMM_RART && p.A.m > 20) B = MakeRows(p.A.m / 3, p.A.m, Scattered(p.A.m, 3));
  if (type == SPGEMM_ABC) C = MakeRows(p.B.n, 40, Scattered(40, 3));
}

static bool CheckPair(const Pair &p, SpgemmType type)
{
  Matrix A, B, C;

  FactorsOf(type, p, A, B, C);
  Product         P(p.name, type, A, B, C);
  const Reference R = Expected(type, A, B, C);

  if (!P.Make() || !P.Check(R, true, "")) return false;
  double rows = 0;
  for (double r : P.info.rows) rows += r;
  if (rows < R.m) return Complain(P.where, "the kinds of rows do not add up");
  for (int again = 0; again < 2; again++) { /* positions are kept at first, then they are known */
    NewValues(A);
    NewValues(B);
    NewValues(C);
    P.A.a.Upload(A.a);
    P.B.a.Upload(B.a);
    P.C.a.Upload(C.a);
    if (!P.Revalue() || !P.Check(Expected(type, A, B, C), true, again ? ", new values by known places" : ", new values")) return false;
  }
  return true;
}

static bool Products(const std::vector<Pair> &pairs)
{
  bool good = true;

  for (const Pair &p : pairs) good &= CheckPair(p, SPGEMM_AB);
  return good;
}

static bool OtherProducts(const std::vector<Pair> &pairs)
{
  bool good = true;

  for (const Pair &p : pairs) {
    if (p.A.j.size() + p.B.j.size() > 150000) continue; /* the sums on the host would take long, and show nothing that smaller ones do not */
    for (SpgemmType type : TypesOf(p)) {
      if (type != SPGEMM_AB) good &= CheckPair(p, type);
    }
  }
  return good;
}

/* Accumulators that make rows of their own, and the kind of rows that they make */
struct Choice {
  const char       *name;
  SpgemmAccumulator accumulator;
  SpgemmDeviceRows  kind;
};

static const Choice choices[] = {
  {"words",  SPGEMM_WORDS, SPGEMM_ROWS_WORDS },
  {"window", SPGEMM_DENSE, SPGEMM_ROWS_WINDOW},
  {"esc",    SPGEMM_ESC,   SPGEMM_ROWS_ESC   },
  {"heap",   SPGEMM_HEAP,  SPGEMM_ROWS_HEAP  },
  {"merge",  SPGEMM_MERGE, SPGEMM_ROWS_MERGE },
  {"hash",   SPGEMM_HASH,  SPGEMM_ROWS_HASH  }
};

/* A product: its pattern, its values, and those of the same operands with other values */
struct Made {
  std::vector<int>       i, j;
  std::vector<SysScalar> a, changed;
};

template <typename T>
static bool SameBytes(const std::vector<T> &x, const std::vector<T> &y)
{
  return x.size() == y.size() && (x.empty() || !memcmp(x.data(), y.data(), x.size() * sizeof(T)));
}

static bool SameValues(const Product &P, const std::vector<SysScalar> &a, const char *when)
{
  return SameBytes(P.a->Download(), a) || Complain(P.where + when, "other bits");
}

/* The factors of a product, with values and with others */
struct Factors {
  Matrix                 A, B, C;
  std::vector<SysScalar> a, b, c;

  Factors(SpgemmType type, const Pair &p)
  {
    Matrix other[3];

    FactorsOf(type, p, A, B, C);
    other[0] = A;
    other[1] = B;
    other[2] = C;
    for (Matrix &M : other) NewValues(M);
    a = other[0].a;
    b = other[1].a;
    c = other[2].a;
  }
  void Change(Product &P) const
  {
    P.A.a.Upload(a);
    P.B.a.Upload(b);
    P.C.a.Upload(c);
  }
};

/* What all accumulators must make. The sums on the host, which take long, are made once. */
static bool MakeFirst(const Pair &p, SpgemmType type, const Factors &F, Made &made)
{
  Product P(p.name, type, F.A, F.B, F.C);

  if (!P.Make() || !P.Check(Expected(type, F.A, F.B, F.C), true, "")) return false;
  made.i = P.i->Download();
  made.j = P.j->Download();
  made.a = P.a->Download();
  F.Change(P);
  if (!P.Revalue()) return false;
  made.changed = P.a->Download();
  return true;
}

/* The values at once, or after the pattern; then new values, of which the first are the same */
static bool CheckChoice(const Choice &choice, const Pair &p, SpgemmType type, bool later, const Factors &F, const Made &made)
{
  Product P(Text("%s, %s", p.name.c_str(), choice.name), type, F.A, F.B, F.C);

  if (!P.Make(!later) || (later && !P.FirstValues())) return false;
  if (!SameBytes(P.i->Download(), made.i) || !SameBytes(P.j->Download(), made.j)) return Complain(P.where, "another pattern");
  if (!SameValues(P, made.a, "") || !P.Revalue() || !SameValues(P, made.a, ", again")) return false;
  F.Change(P);
  return P.Revalue() && SameValues(P, made.changed, ", new values");
}

static double ProductsOf(const Matrix &A, const Matrix &B)
{
  double n = 0;

  for (int c : A.j) n += B.i[c + 1] - B.i[c];
  return n;
}

/* Every accumulator makes the product that auto makes, to the last bit. Racecheck makes some hundred thousand products a second: of shapes with more than
   that, the groups for auto have what the tools need, and here smaller ones have rows of the same kinds. */
static bool Accumulators(const std::vector<Pair> &pairs)
{
  bool good = true, later = false;

  for (const Pair &p : pairs) {
    if (small && ProductsOf(p.A, p.B) > 300000) continue;
    for (SpgemmType type : TypesOf(p)) {
      if (type != SPGEMM_AB && p.A.j.size() + p.B.j.size() > 20000) continue;
      const Factors F(type, p);
      Made          made;

      if (!MakeFirst(p, type, F, made)) return false;
      for (const Choice &choice : choices) {
        accumulator = choice.accumulator;
        good &= CheckChoice(choice, p, type, later, F, made);
        accumulator = SPGEMM_AUTO;
        later       = !later;
      }
      later = !later;
    }
  }
  return good;
}

/* Does each of them make rows, and not only leave them to others? */
static bool Chosen(const std::vector<Pair> &)
{
  const Matrix all[] = {MakeRows(9 * 8 * 11, 9 * 8 * 11, Stencil(9, 8, 11, true, 1)), MakeRows(600, 600, Scattered(600, 20))};
  bool         good  = true;

  for (const Choice &choice : choices) {
    memset(rows_made, 0, sizeof(rows_made));
    accumulator = choice.accumulator;
    for (const Matrix &A : all) {
      Product P(choice.name, SPGEMM_AB, A, A, A);

      good &= P.Make();
    }
    accumulator = SPGEMM_AUTO;
    if (!rows_made[choice.kind]) good = Complain(choice.name, "it made no rows");
  }
  return good;
}

/* Accumulators for long rows take room for the columns that a row reaches, if they are fewer than its products, and merge takes it once */
static bool RoomOfLongRows()
{
  static const struct {
    const char *name;
    int         columns;
    Choice      choice;
    double      room; /* entries for each product, with all other memory */
  } ways[] = {
    {"few columns",  600,   {"merge", SPGEMM_MERGE, SPGEMM_ROWS_MERGE}, 0.6},
    {"few columns",  600,   {"hash", SPGEMM_HASH, SPGEMM_ROWS_HASH},    0.6},
    {"many columns", 40000, {"merge", SPGEMM_MERGE, SPGEMM_ROWS_MERGE}, 1.6}
  };
  bool good = true;

  for (const auto &way : ways) {
    const Pair    p = {way.name, MakeRows(10, 3000, [](int, std::vector<int> &cols) { Run(cols, 0, 3000); }), MakeRows(3000, way.columns, Exactly(way.columns, 8))};
    const Factors F(SPGEMM_AB, p);
    const double  most = way.room * ProductsOf(p.A, p.B) * (sizeof(int) + sizeof(SysScalar));
    Made          made;

    if (!MakeFirst(p, SPGEMM_AB, F, made)) return false;
    accumulator = way.choice.accumulator;
    good &= CheckChoice(way.choice, p, SPGEMM_AB, false, F, made);
    {
      Product P(p.name, SPGEMM_AB, F.A, F.B, F.C);

      good &= P.Make();
      if (P.info.bytes_peak > most) good = Complain(p.name, Text("%s, %.0f bytes, more than %.0f", way.choice.name, P.info.bytes_peak, most));
    }
    accumulator = SPGEMM_AUTO;
  }
  return good;
}

/* Rows that are made in the room that a sample of rows says, where the sample misses those of many entries: it is too little, and some rows are made
   later. The sample has one row of each stretch, and which is not known here: of three stretches, it misses the first half of one at least. */
static bool Room(const std::vector<Pair> &)
{
  static const Choice both[] = {
    {"auto", SPGEMM_AUTO, SPGEMM_ROWS_ESC},
    {"esc",  SPGEMM_ESC,  SPGEMM_ROWS_ESC}
  };
  const int stretch = 16, m = stretch * SPGEMM_SAMPLE_ROWS;
  double    found_none = 0;
  bool      good = true, later = false;

  for (int k = 1; k < 4; k++) {
    Pair p;
    Made made;

    p.name = Text("too little room, %d", k);
    p.A    = MakeRows(m, 400, [=](int r, std::vector<int> &cols) {
      if (r / (stretch / 2) == 2 * k) Run(cols, RandomBelow(180), 20);
      else Run(cols, 200 + RandomBelow(100), 16 * (1 + r % 3));
    });
    p.B    = MakeRows(400, 50000, [](int r, std::vector<int> &cols) {
      const bool scattered = r < 200; /* the others have the same columns */

      for (int c = 0; c < (scattered ? 20 : 4); c++) cols.push_back(scattered ? RandomBelow(50000) : c * 1000);
    });
    const Factors F(SPGEMM_AB, p);

    accumulator = SPGEMM_WORDS;
    good &= MakeFirst(p, SPGEMM_AB, F, made);
    for (const Choice &choice : both) {
      memset(rows_made, 0, sizeof(rows_made));
      accumulator = choice.accumulator;
      for (int time = 0; time < 2 && good; time++, later = !later) good = CheckChoice(choice, p, SPGEMM_AB, later, F, made);
      if (!rows_made[choice.kind]) good = Complain(choice.name, "it made no rows");
      found_none += rows_made[SPGEMM_ROWS_SORT];
    }
    accumulator = SPGEMM_AUTO;
  }
  good &= RoomOfLongRows();
  return found_none > 0 ? good : Complain("too little room", "all rows found room");
}

/* P^T A P takes the order with fewer products: A has entries in few columns, whose rows of P are long */
static bool Order(const std::vector<Pair> &)
{
  const int    m = 700;
  const Matrix A = MakeRows(m, m, [](int r, std::vector<int> &cols) {
    cols.push_back(r % 12);
    cols.push_back((r + 5) % 12);
  });
  const Matrix P = MakeRows(m, 200, [](int r, std::vector<int> &cols) {
    if (r < 12) Run(cols, r, 90);
    else cols.push_back(r % 200);
  });
  const Matrix T = TransposeOf(P);
  Product      C("other order", SPGEMM_PTAP, A, P, A);

  if (!C.Make() || !C.Check(Expected(SPGEMM_PTAP, A, P, A), true, "")) return false;
  double wanted = ProductsOf(T, A);
  for (int c : ProductOf(AsReference(T), AsReference(A)).j) wanted += P.i[c + 1] - P.i[c];
  return C.info.products == wanted || Complain(C.where, Text("%.0f products instead of %.0f", C.info.products, wanted));
}

/* The pattern alone, then its values */
static bool PatternFirst(const std::vector<Pair> &pairs)
{
  bool good = true;

  for (const Pair &p : pairs) {
    const Reference R = Expected(SPGEMM_AB, p.A, p.B, p.A);
    Product         P(p.name, SPGEMM_AB, p.A, p.B, p.A);

    good &= P.Make(false) && P.Check(R, false, ", pattern") && P.Revalue() && P.Check(R, true, ", its values");
  }
  return good;
}

/* New values of operands of another size are refused, and nothing is written */
static bool OtherSizes(const std::vector<Pair> &)
{
  const Matrix A = MakeRows(200, 200, Scattered(200, 9)), F = MakeRows(200, 200, Scattered(200, 5));
  Product      P("other sizes", SPGEMM_AB, A, A, A);
  DeviceMatrix other(F);

  if (!P.Make()) return false;
  const SysCSR    a = P.A.CSR(), b = other.CSR();
  const SysStatus status = SpgemmDeviceRevalue(P.S, &a, &b, &a, P.i->data, P.j->data, P.a->data, stream);

  if (status != SYS_ERROR || !strstr(SysDeviceErrorText(), "operand 2")) return Complain(P.where, Text("status %d, %s", (int)status, SysDeviceErrorText()));
  return P.Check(Expected(SPGEMM_AB, A, A, A), true, ", afterwards");
}

static bool SameBits(const std::vector<Pair> &pairs)
{
  bool good = true;

  for (const Pair &p : pairs) {
    std::vector<SysScalar> first;

    for (int pass = 0; pass < 3; pass++) {
      Product P(p.name, SPGEMM_AB, p.A, p.B, p.A);

      if (!P.Make()) return false;
      for (int again = 0; again < 3; again++) {
        std::vector<SysScalar> now = P.a->Download();

        now.resize((size_t)P.info.nonzeros);
        if (first.empty()) first = now;
        if (!now.empty() && memcmp(now.data(), first.data(), now.size() * sizeof(SysScalar))) good = Complain(P.where, Text("other bits in pass %d, time %d", pass, again));
        if (!P.Revalue()) return false;
      }
    }
  }
  return good;
}

/* A NaN reaches the sums it belongs to, and no others */
static bool NotFinite(const std::vector<Pair> &pairs)
{
  bool good = true;

  for (const Pair &p : pairs) {
    Matrix A = p.A, B = p.B;

    if (B.a.empty()) continue;
    B.a[B.a.size() / 2] = NotANumber;
    Product         P(p.name, SPGEMM_AB, A, B, A);
    const Reference R = Expected(SPGEMM_AB, A, B, A);

    if (!P.Make()) return false;
    const std::vector<SysScalar> a = P.a->Download();
    for (size_t k = 0; k < R.a.size(); k++) {
      if (std::isnan(a[k]) != std::isnan(R.a[k])) {
        good = Complain(P.where, Text("entry %zu is %g instead of %Lg", k, (double)a[k], R.a[k]));
        break;
      }
    }
  }
  return good;
}

/* Rows that are the row before, shifted by one: those of auto, to the last bit as without them */
struct Shape {
  Pair pair;
  bool lines; /* are there any? */
};

/* offset says where the columns of row 0 are */
static RowMaker Shifted(const std::vector<int> &offset)
{
  return [=](int r, std::vector<int> &cols) {
    for (int o : offset) cols.push_back(r + o);
  };
}

static std::vector<int> Offsets(int n, int step)
{
  std::vector<int> offset;

  for (int k = 0; k < n; k++) offset.push_back(k * step);
  return offset;
}

static std::vector<Shape> MakeShapes()
{
  std::vector<Shape> shapes;

  auto grid = [&](const char *name, bool lines, int sx, int sy, int sz, bool star, const std::function<void(int, std::vector<int> &)> &changeA, const std::function<void(int, std::vector<int> &)> &changeB) {
    const int n     = sx * sy * sz;
    auto      maker = [=](const std::function<void(int, std::vector<int> &)> &change) -> RowMaker {
      const RowMaker all = Stencil(sx, sy, sz, star, 1);

      return [=](int r, std::vector<int> &cols) {
        all(r, cols);
        change(r, cols);
      };
    };

    shapes.push_back({
      {name, MakeRows(n, n, maker(changeA)), MakeRows(n, n, maker(changeB))},
      lines
    });
  };
  auto band = [&](const char *name, bool lines, int m, const std::vector<int> &a, const std::vector<int> &b) {
    const int k = m + a.back() + 1, n = k + b.back() + 1;

    shapes.push_back({
      {name, MakeRows(m, k, Shifted(a)), MakeRows(k, n, Shifted(b))},
      lines
    });
  };
  auto as_it_is = [](int, std::vector<int> &) {};
  auto more     = [](int r, std::vector<int> &cols) {
    if (r % 97 == 5) cols.push_back(r / 2);
  };
  auto less = [](int r, std::vector<int> &cols) {
    if (r % 131 == 60) cols.erase(cols.begin() + (ptrdiff_t)cols.size() / 2);
  };

  grid("lines of 36 rows", true, 40, 6, 5, false, as_it_is, as_it_is);
  grid("rows of A with an entry more", true, 40, 6, 5, false, more, as_it_is);
  grid("rows of A with an entry less", true, 40, 6, 5, false, less, as_it_is);
  grid("rows of B with an entry more", true, 40, 6, 5, false, as_it_is, more);
  grid("rows of both with an entry less", true, 40, 6, 5, false, less, less);
  grid("lines as short as a group may be", true, 20, 6, 5, false, as_it_is, as_it_is);
  grid("shorter lines", false, 19, 6, 5, false, as_it_is, as_it_is);
  grid("few products for an entry", false, 40, 6, 5, true, as_it_is, as_it_is);
  grid("most rows of B are not shifted", false, 40, 6, 5, false, as_it_is, [](int r, std::vector<int> &cols) {
    if (r % 4 == 0) cols.push_back(r / 2);
  });
  grid("lines of several groups", true, 130, 4, 4, false, as_it_is, as_it_is);
  std::vector<int> two_runs = Offsets(12, 1), far_runs = Offsets(30, 1), longer = Offsets(33, 1);
  for (int k = 0; k < 12; k++) two_runs.push_back(100 + k);
  for (int k = 0; k < 2; k++) far_runs.push_back(1000 * (k + 1));
  band("one line, not square", true, 700, two_runs, Offsets(12, 1));
  band("a long run and single entries", true, 333, far_runs, Offsets(21, 2));
  band("few products for an entry, longer rows", false, 500, Offsets(8, 100), Offsets(12, 1));
  band("rows of as many entries as a group's may have", true, 100, Offsets(32, 1), Offsets(97, 1));
  band("rows of one entry more", false, 100, Offsets(32, 1), Offsets(98, 1));
  band("rows of A of one entry more", false, 500, longer, Offsets(20, 1));
  band("more than the shared memory", false, 500, Offsets(24, 2), Offsets(64, 1));
  band("fewer rows than a group has", false, 15, Offsets(32, 1), Offsets(60, 1));
  return shapes;
}

/* An allocation fails: if it is that for lines, the product is made without them */
static bool LinesWithoutMemory(const Pair &p)
{
  const Reference R       = Expected(SPGEMM_AB, p.A, p.B, p.A);
  bool            reached = true, good = true;
  int             without = 0;

  for (int at = 0; reached && good; at++) {
    Product P(Text("%s, allocation %d fails", p.name.c_str(), at), SPGEMM_AB, p.A, p.B, p.A);

    allocations            = 0;
    fail_at                = at;
    const SysStatus status = P.Create();
    reached                = allocations > at;
    fail_at                = -1;
    if (status != SYS_SUCCESS) continue;
    good = P.Fill(true) && P.Check(R, true, "");
    without += !P.info.lines;
  }
  return good && (without == 1 || Complain(p.name, Text("%d products without lines", without)));
}

static bool Lines(const std::vector<Pair> &)
{
  const std::vector<Shape> shapes  = Share(MakeShapes());
  const Choice             by_auto = {"auto", SPGEMM_AUTO, SPGEMM_ROWS_WORDS};
  bool                     good    = true;

  for (const Shape &shape : shapes) {
    const Pair &p = shape.pair;

    for (SpgemmType type : {SPGEMM_AB, SPGEMM_ATB, SPGEMM_ABT}) {
      if (small && type != SPGEMM_AB) continue;
      const Factors F(type, p);
      Made          made;

      lines_made  = 0;
      accumulator = SPGEMM_WORDS;
      good &= MakeFirst(p, type, F, made);
      accumulator = SPGEMM_AUTO;
      if (lines_made) good = Complain(p.name, "lines without having been chosen");
      for (int later = 0; later < 2 && good; later++) good = CheckChoice(by_auto, p, type, later, F, made);
      if ((lines_made > 0) != shape.lines) good = Complain(p.name, Text("%.0f rows in lines, %s", lines_made, TypeNames[type]));
    }
    if (!small) good &= NotFinite({p}) && SameBits({p});
    if (p.name == "lines of 36 rows") good &= LinesWithoutMemory(p);
  }
  return good;
}

/* Shapes whose rows are made by the kernels that need more than 48 KB of shared memory, where a device has it */
static const char LinesName[] = "lines in 48 to 64 KB", WordsName[] = "rows of many words";

static std::vector<Pair> MakeLarge()
{
  const std::vector<int> apart = Offsets(sizeof(SysScalar) == 8 ? 9 : 18, 2), run = Offsets(24, 1);
  const int              k = 128 + apart.back() + 1;
  std::vector<Pair>      pairs;

  pairs.push_back({LinesName, MakeRows(128, k, Shifted(apart)), MakeRows(k, k + 24, Shifted(run))});
  pairs.push_back({WordsName, MakeRows(12, 300, [](int r, std::vector<int> &cols) { Run(cols, 0, 60 + 20 * r); }), MakeRows(300, 70000, [](int r, std::vector<int> &cols) {
                     for (int c = 0; c < 12; c++) cols.push_back(r * 200 + c * 33);
                   })});
  pairs.push_back({"rows of up to 512 products, scattered", MakeRows(64, 64, [](int r, std::vector<int> &cols) { Run(cols, 0, r + 1); }), MakeRows(64, 3000, Exactly(3000, 8))});
  pairs.push_back({"rows of up to 512 products, in runs", MakeRows(64, 64, [](int r, std::vector<int> &cols) { Run(cols, 0, r + 1); }), MakeRows(64, 3000, [](int r, std::vector<int> &cols) { Run(cols, r * 37 % 2990, 8); })});
  pairs.push_back({"rows of 3000 to 7000 products", MakeRows(17, 900, [](int r, std::vector<int> &cols) { Run(cols, 0, 375 + 31 * r); }), MakeRows(900, 4000, Exactly(4000, 8))});
  return pairs;
}

/* Products as on a device of less shared memory: no kernel asks for more, and the bits are the same */
static bool LessShared(const std::vector<Pair> &all)
{
  static const int           limits[] = {48 << 10, 64 << 10};
  static const Choice        by_auto  = {"auto", SPGEMM_AUTO, SPGEMM_ROWS_WORDS};
  SpgemmDeviceContext *const whole    = context;
  SpgemmDeviceContext       *less[2]  = {NULL, NULL};
  std::vector<Pair>          pairs    = Share(MakeLarge());
  bool                       good = true, later = false;

  for (const Pair &p : all) {
    if (!small && ProductsOf(p.A, p.B) <= 300000) pairs.push_back(p);
  }
  for (int k = 0; k < 2; k++) {
    if (SpgemmDeviceContextCreate(&less[k])) return Complain("less shared memory", SysDeviceErrorText());
    SpgemmDeviceContextLimit(less[k], (size_t)limits[k]);
  }
  for (const Pair &p : pairs) {
    const Factors F(SPGEMM_AB, p);
    Made          made;

    most_shared = 0;
    lines_made  = 0;
    if (!MakeFirst(p, SPGEMM_AB, F, made)) return false;
    if (p.name == LinesName && (!lines_made || most_shared <= limits[0] || most_shared > limits[1])) good = Complain(p.name, Text("%.0f rows in lines, %d bytes of shared memory", lines_made, most_shared));
    for (int k = 0; k < 2; k++) {
      const int limit = limits[k];

      context     = less[k];
      most_shared = 0;
      lines_made  = 0;
      good &= CheckChoice(by_auto, p, SPGEMM_AB, later, F, made);
      if (p.name == LinesName && (lines_made > 0) != (limit > limits[0])) good = Complain(p.name, Text("%.0f rows in lines with %d bytes", lines_made, limit));
      for (const Choice &choice : choices) {
        memset(rows_made, 0, sizeof(rows_made));
        accumulator = choice.accumulator;
        good &= CheckChoice(choice, p, SPGEMM_AB, later, F, made);
        accumulator = SPGEMM_AUTO;
        later       = !later;
        if (p.name == WordsName && choice.accumulator == SPGEMM_WORDS && (rows_made[SPGEMM_ROWS_WINDOW] > 3) != (limit == limits[0])) good = Complain(p.name, Text("%.0f rows in windows with %d bytes", rows_made[SPGEMM_ROWS_WINDOW], limit));
      }
      if (most_shared > limit) good = Complain(p.name, Text("a kernel asks for %d bytes of %d", most_shared, limit));
      context = whole;
    }
    later = !later;
  }
  for (SpgemmDeviceContext *&one : less) SpgemmDeviceContextDestroy(&one);
  return good;
}

/* Pools take memory by 2 MB or more. What is less than half of that CUDA takes for itself, at times that it chooses. */
static const size_t cuda_own = (size_t)1 << 20;

static size_t FreeMemory()
{
  size_t free, total;

  CallCuda(cudaDeviceSynchronize());
  SysPoolTrim();
  CallCuda(cudaMemGetInfo(&free, &total));
  return free;
}

/* More entries than 32 bits count: columns of ones times rows of ones. The first time CUDA may take something for itself. */
static bool TooLarge(const std::vector<Pair> &)
{
  const int    n = 50000;
  const Matrix A = MakeRows(n, 2, [](int, std::vector<int> &cols) { Run(cols, 0, 2); }), B = MakeRows(2, n, [=](int, std::vector<int> &cols) { Run(cols, 0, n); });

  for (int pass = 0; pass < 2; pass++) {
    const size_t before = FreeMemory();
    {
      Product         P("a full matrix", SPGEMM_AB, A, B, A);
      const SysStatus status = P.Create();

      if (status != SYS_TOO_LARGE || P.S) return Complain(P.where, Text("status %d", (int)status));
      if (P.info.nonzeros != (double)n * n || P.info.products != 2. * n * n) return Complain(P.where, Text("%.0f entries of %.0f products", P.info.nonzeros, P.info.products));
    }
    if (pass && FreeMemory() + cuda_own < before) return Complain("a full matrix", Text("%zu bytes are left", before - FreeMemory()));
  }
  return true;
}

/* All memory of the device but some, in pieces */
struct Hoard {
  std::vector<void *> pieces;

  Hoard(size_t leave)
  {
    for (size_t piece = (size_t)8 << 30; piece >= (size_t)1 << 20; piece /= 2) {
      size_t free, total;

      while (cudaMemGetInfo(&free, &total) == cudaSuccess && free > leave + piece) {
        void *p;

        if (cudaMalloc(&p, piece) != cudaSuccess) {
          (void)cudaGetLastError();
          break;
        }
        pieces.push_back(p);
      }
    }
  }
  ~Hoard()
  {
    for (void *p : pieces) (void)cudaFree(p);
  }
};

static bool OutOfMemory(const std::vector<Pair> &)
{
  const int    n = 160000;
  const Matrix A = MakeRows(n, n, Exactly(n, 12)), Q = MakeRows(n, n / 3, Prolongator(n, n / 3));
  bool         refused = false, done = false;

  {
    Product P("with room", SPGEMM_PTAP, A, Q, A); /* what CUDA takes for itself */

    if (!P.Make()) return false;
  }
  (void)FreeMemory(); /* or the pool would have what the first product had */
  for (size_t leave = (size_t)16 << 20; !done && leave <= (size_t)4 << 30; leave *= 2) {
    Product         P("scattered, without memory", SPGEMM_PTAP, A, Q, A);
    Hoard           hoard(leave);
    const size_t    before = FreeMemory();
    const SysStatus status = P.Create();

    if (status == SYS_SUCCESS) {
      done = true;
      continue;
    }
    refused = true;
    if (status != SYS_OUT_OF_MEMORY || P.S) return Complain(P.where, Text("status %d, %s", (int)status, SysDeviceErrorText()));
    if (!SysDeviceErrorText()[0] || !(P.info.bytes_asked > 0)) return Complain(P.where, "it does not say what failed");
    if (FreeMemory() + cuda_own < before) return Complain(P.where, Text("%zu bytes are left", before - FreeMemory()));
    if (cudaGetLastError() != cudaSuccess) return Complain(P.where, "CUDA's error is left behind");
  }
  return (refused && done) || Complain("without memory", refused ? "it never works" : "it works without memory");
}

/* Every allocation fails once: what comes of it is right or says that memory is short, nothing is left, and the same product works afterwards */
static bool FailingAllocations(const std::vector<Pair> &)
{
  const int n    = small ? 900 : 3000; /* rows of all kinds */
  Matrix    A    = MakeRows(n, n, [=](int r, std::vector<int> &cols) {
    if (r % 300 == 3) Run(cols, 0, n - 5);
    else if (r % 3) cols.push_back(r);
    for (int k = 0; k < r % 5 * 4; k++) cols.push_back(RandomBelow(n));
  });
  Matrix    Q    = MakeRows(n, n / 3, Prolongator(n, n / 3));
  bool      good = true;

  for (int way = 0; way < 7; way++) {
    const SpgemmType type = way == 1 || way == 4 ? SPGEMM_PTAP : way == 2 ? SPGEMM_ABC : SPGEMM_AB;
    const Matrix    &B    = type == SPGEMM_PTAP ? Q : A;

    accumulator             = way < 3 ? SPGEMM_AUTO : way == 3 ? SPGEMM_HEAP : way == 4 ? SPGEMM_ESC : way == 5 ? SPGEMM_MERGE : SPGEMM_HASH;
    const Reference R       = Expected(type, A, B, A);
    bool            reached = true;
    int             refused = 0;

    for (int at = 0; reached && good; at++) {
      const size_t before = FreeMemory();
      {
        Product   P(Text("allocation %d fails", at), type, A, B, A);
        SysStatus status;

        allocations = 0;
        fail_at     = at;
        status      = P.Create();
        if (status == SYS_SUCCESS) good = P.Fill(true) && P.Revalue() && P.Check(R, true, "") && P.Revalue() && P.Check(R, true, ", again");
        else if (status != SYS_OUT_OF_MEMORY || P.S || !(P.info.bytes_asked > 0)) good = Complain(P.where, Text("status %d, %s", (int)status, SysDeviceErrorText()));
        refused += status != SYS_SUCCESS;
        reached = allocations > at;
        fail_at = -1;
        if (cudaGetLastError() != cudaSuccess) good = Complain(P.where, "CUDA's error is left behind");
      }
      if (at > 1 && FreeMemory() + cuda_own < before) good = Complain(Text("allocation %d fails", at), Text("%zu bytes are left", before - FreeMemory()));
    }
    if (refused < 4) good = Complain(TypeNames[type], "allocations did not fail");
  }
  accumulator = SPGEMM_AUTO;
  return good;
}

static bool MemoryGivenBack(const std::vector<Pair> &pairs)
{
  for (size_t k = 0; k < pairs.size(); k += 3) { /* giving memory back and taking it again takes long */
    const Pair &p      = pairs[k];
    size_t      before = 0;

    if (PatternIsLarge(p)) continue;
    for (int pass = 0; pass < 4; pass++) {
      if (pass == 2) before = FreeMemory();
      const SpgemmType type = pass % 2 && p.A.m == p.A.n && p.B.n == p.B.m ? SPGEMM_PTAP : SPGEMM_AB;
      Product          P(p.name, type, p.A, p.B, p.A);

      if (!P.Make() || !P.Revalue()) return false;
      if (P.info.bytes_peak < P.info.bytes_kept) return Complain(P.where, "more bytes are kept than were ever there");
      SpgemmDeviceDestroy(&P.S, stream);
      if (P.S) return Complain(P.where, "the pointer is left");
      SpgemmDeviceDestroy(&P.S, stream);
    }
    if (FreeMemory() + cuda_own < before) return Complain(p.name, Text("%zu bytes are not given back", before - FreeMemory()));
  }
  return true;
}

static bool RandomShapes(const std::vector<Pair> &)
{
  bool good = true;

  for (int k = share - 1; k < (small ? 10 : 60); k += shares) {
    Pair p;

    seed        = 1234567 + (uint64_t)k * 99991;
    const int m = 1 + RandomBelow(600), n = 1 + RandomBelow(600), l = 1 + RandomBelow(k % 3 ? 900 : 90000);
    const int entries = 1 + RandomBelow(30), runs = 1 + RandomBelow(9);

    p.name = Text("random, %d", k);
    p.A    = MakeRows(m, n, k % 2 ? Scattered(n, entries) : Runs(n, runs, entries));
    p.B    = MakeRows(n, l, k % 4 < 2 ? Scattered(l, entries) : k % 4 == 2 ? Runs(l, runs, entries) : PowerLaw(l));
    for (SpgemmType type : TypesOf(p)) good &= CheckPair(p, type);
  }
  return good;
}

/* Rows that are cut into parts, of all kinds and sizes, so few that a tool which slows everything down ends soon */
static bool Parts(const std::vector<Pair> &)
{
  static const int   sizes[] = {200, 400, 900, 1500}; /* of the result's rows */
  static const char *kinds[] = {"in few columns", "in few words", "far apart"};
  bool               good    = true;

  for (int way = share - 1; way < 6; way += shares) {
    const int kind = way / 2, each = way % 2 ? 6 : 300; /* short rows of B for a row of A, and long ones */
    auto      column = [=](int k) { return kind == 0 ? k : kind == 1 ? k / 16 * 3200 + k % 16 : k * 331; };
    Pair      p;

    p.name = Text("parts %s, of %d rows of B", kinds[kind], each);
    p.A    = MakeRows(4, 4 * each, [=](int r, std::vector<int> &cols) { Run(cols, r * each, each); });
    p.B    = MakeRows(4 * each, column(1500), [=](int r, std::vector<int> &cols) {
      const int size = sizes[r / each], length = each < 10 ? size / 2 : 8, first = r % each * (each < 10 ? size / 5 : 5);

      for (int k = first; k < first + length; k++) cols.push_back(column(k % size));
    });
    good &= CheckPair(p, SPGEMM_AB) && SameBits({p});
  }
  return good;
}

int main(int argc, char **argv)
{
  const Group<std::vector<Pair>> groups[] = {
    {"products",            Products          },
    {"other products",      OtherProducts     },
    {"pattern first",       PatternFirst      },
    {"other sizes",         OtherSizes        },
    {"same bits",           SameBits          },
    {"not finite",          NotFinite         },
    {"random shapes",       RandomShapes      },
    {"parts",               Parts             },
    {"accumulators",        Accumulators      },
    {"chosen",              Chosen            },
    {"order",               Order             },
    {"room",                Room              },
    {"lines",               Lines             },
    {"less shared memory",  LessShared        },
    {"too large",           TooLarge          },
    {"failing allocations", FailingAllocations},
    {"out of memory",       OutOfMemory       },
    {"memory given back",   MemoryGivenBack   }
  };
  int failures;

  if (!StartTests(argc, argv)) return 77;
  if (SpgemmDeviceContextCreate(&context)) {
    printf("%s\n", SysDeviceErrorText());
    return 1;
  }
  failures = RunTests(groups, Share(MakePairs()), argc, argv);
  SpgemmDeviceContextDestroy(&context);
  EndTests();
  return failures ? 1 : 0;
}
