/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Products of sparse and dense matrices on a CUDA device, without PETSc: against sums on the host, for shapes with empty rows and with rows that are cut into
   parts, and for all widths of panels.

     spmmdevice [small] GROUP...     runs groups of tests; small leaves out large matrices, for tools that slow everything down

   Prints "ok GROUP" or "not ok GROUP", before it what was wrong. Exit code 77: there is no device.
*/
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function" /* other tests need more of this header */
#include "devicetest.h"
#pragma GCC diagnostic pop
#include "mat/impls/spmm/cuda/spmmcuda.h"

struct Shape {
  std::string name;
  Rows        A;
};

static std::vector<Shape> MakeShapes()
{
  std::vector<Shape> shapes = {
    {"stencil", MakeRows(9 * 9 * 9, 9 * 9 * 9,                                                                          Stencil(9,             9,                                                                                                                                                     9, false, 1))},
    {"runs",    MakeRows(300,                   170,                                                                                                     Runs(170,                                                                                                                     4,                                                                                                                                                                                                                                                           5))},
    {"nodes of three", MakeRows(3 * 70,                  130,[](int r,std::vector<int> &cols) { Run(cols, r / 3, r / 3 % 41); })},
    {"nodes of two",      MakeRows(2 * 67,130,                           [](int r,                                                                                                                                                   std::vector<int> &cols) { Run(cols, r / 2, 7 + r / 2 % 30); })                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                 },
    {"nodes that take much shared memory",      MakeRows(3 * 19,                  240,            [](int r,std::vector<int> &cols) { Run(cols, r / 3, 130); })},
    {"nodes that take more than some have",      MakeRows(3 * 19,240,                   [](int r,                                                                                                                                                          std::vector<int> &cols) { Run(cols, r / 3, 200); })                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                           },
    {"nodes that take too much",      MakeRows(3 * 19,                  340,                               [](int r,std::vector<int> &cols) { Run(cols, r / 3, 300); })},
    {"nearly nodes",      MakeRows(3 * 40,130,[](int r,                                                                                                                           std::vector<int> &cols) { Run(cols, r / 3 + (r == 100), 9); })                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                       },
    {"no entries",      MakeRows(40,                  20,                                       [](int,std::vector<int> &) {})},
    {"no rows",       MakeRows(0,  20,                       [](int,                                                                                                           std::vector<int> &) {})                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                   },
    {"one row",       MakeRows(1,                  3000,                                                       [](int,std::vector<int> &cols) { Run(cols, 0, 3000); })},
    {"long rows",     MakeRows(70,5000,[](int r,                                std::vector<int> &cols) { Run(cols, 3 * r, r % 9 == 4 ? 1024 + 500 * (r % 4) + r % 2 : r % 5); })                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                               },
    {"long and short rows",     MakeRows(700,                3000,                      [](int r,            std::vector<int> &cols) { Run(cols, 3 * r,
                                                                                        r % 200 == 60 ? 2600
                                                                                        : r % 50 == 7 ? 700
                                                                                                      : r % 23); })},
  };

  if (!small) shapes.push_back({"power law", MakeRows(20000, 20000, PowerLaw(20000))});
  return shapes;
}

/* A dense matrix by columns, with gaps that hold NaN */
struct Dense {
  int64_t                n, ld;
  int                    ncol;
  std::vector<SysScalar> a;

  Dense(int64_t n_, int ncol_, int gap) : n(n_), ld(n_ + gap), ncol(ncol_), a((size_t)(ld * ncol_), NotANumber)
  {
    for (int c = 0; c < ncol; c++) {
      for (int64_t r = 0; r < n; r++) at(r, c) = RandomScalar();
    }
  }
  SysScalar &at(int64_t r, int c) { return a[(size_t)(r + c * ld)]; }
};

static bool Good(SysStatus status, const std::string &where)
{
  return status == SYS_SUCCESS || Complain(where, SysDeviceErrorText());
}

static bool Near(SysScalar value, long double sum, long double scale)
{
  if (std::isnan(sum)) return std::isnan(value);
  if (std::isinf(sum)) return value == (SysScalar)sum;
  return fabsl((long double)value - sum) <= 100 * Eps * scale;
}

/* How a product is made: C = A D, or A^T D with the transposed matrix in place of A; to columns at once, or to a panel that is unpacked; with an A that is the sum
   of two terms; with tiles */
struct Way {
  bool transpose, panel, terms;
  int  threshold; /* of tiles, or 0 */
};

/* The rows of A, without every third of its entries, or only with these */
static Rows Part(const Rows &A, bool third)
{
  Rows part = A;

  part.j.clear();
  part.a.clear();
  for (int r = 0; r < A.m; r++) {
    part.i[(size_t)r] = (int)part.j.size();
    for (int k = A.i[r]; k < A.i[r + 1]; k++) {
      if ((k % 3 == 0) != third) continue;
      part.j.push_back(A.j[(size_t)k]);
      part.a.push_back(A.a[(size_t)k]);
    }
  }
  part.i[(size_t)A.m] = (int)part.j.size();
  return part;
}

/* A sparse matrix on the device */
struct Operand {
  const Rows      &A;
  const Array<int> i, j;
  Array<SysScalar> a;
  SpmmDevice      *S = NULL;

  explicit Operand(const Rows &A_) : A(A_), i(A_.i), j(A_.j), a(A_.a) { }
  Operand(const Operand &)            = delete;
  Operand &operator=(const Operand &) = delete;
  ~Operand() { SpmmDeviceDestroy(&S); }
  SysCSR    CSR() const { return {A.m, A.n, (int64_t)A.j.size(), i.data, j.data, a.data}; }
  SysStatus Create(bool transpose, int threshold, int ncol)
  {
    const SysCSR csr = CSR();
    SysStatus    status;
    int          width;

    (void)SpmmDevicePanelColumns(ncol, &width);
    status = SpmmDeviceCreate(&csr, A.i.data(), transpose, width, &S, stream);
    return status == SYS_SUCCESS && threshold ? SpmmDeviceTile(S, &csr, A.i.data(), A.j.data(), threshold, width, stream) : status;
  }
};

/* C = A D or A^T D, in as many panels as it takes */
static bool Multiply(const Shape &shape, const Way &way, Dense &D, Dense &C, const std::string &where)
{
  const Rows           parts[2] = {Part(shape.A, false), Part(shape.A, true)};
  Operand              whole(shape.A), first(parts[0]), second(parts[1]);
  Array<SysScalar>     columns(D.a), result(std::vector<SysScalar>(C.a.size(), NotANumber)), panel((size_t)(D.n + 1) * SPMM_DEVICE_WIDTH), sums((size_t)(C.n + 1) * SPMM_DEVICE_WIDTH);
  const SpmmDeviceTerm none    = {NULL, {}, NULL};
  SpmmDeviceTerm       term[2] = {none, none};
  bool                 good;

  if (way.terms) good = Good(first.Create(way.transpose, 0, D.ncol), where) && Good(second.Create(way.transpose, 0, D.ncol), where);
  else good = Good(whole.Create(way.transpose, way.threshold, D.ncol), where);
  term[0] = {way.terms ? first.S : whole.S, way.terms ? first.CSR() : whole.CSR(), panel.data};
  term[1] = {second.S, second.CSR(), panel.data};
  for (int c = 0, width, n; good && c < D.ncol; c += n) {
    n    = SpmmDevicePanelColumns(D.ncol - c, &width);
    good = Good(SpmmDevicePack(D.n, n, width, columns.data + c * D.ld, D.ld, panel.data, stream), where);
    good = good && Good(SpmmDeviceMult(C.n, term, way.terms ? 2 : 1, n, width, way.panel ? sums.data : result.data + c * C.ld, way.panel ? 0 : C.ld, stream), where);
    if (way.panel) good = good && Good(SpmmDeviceUnpack(C.n, n, width, sums.data, NULL, NULL, result.data + c * C.ld, C.ld, stream), where);
  }
  if (good) C.a = result.Download();
  return good;
}

static Rows Transpose(const Rows &A)
{
  Rows             T = A;
  std::vector<int> next((size_t)A.n + 1);

  T.m = A.n;
  T.n = A.m;
  T.i.assign((size_t)A.n + 1, 0);
  for (const int c : A.j) T.i[(size_t)c + 1]++;
  for (int c = 0; c < A.n; c++) T.i[(size_t)c + 1] += T.i[(size_t)c];
  next = T.i;
  for (int r = 0; r < A.m; r++) {
    for (int k = A.i[r]; k < A.i[r + 1]; k++) {
      const size_t to = (size_t)next[(size_t)A.j[k]]++;

      T.j[to] = r;
      T.a[to] = A.a[(size_t)k];
    }
  }
  return T;
}

/* C against the product of A, which is the transposed matrix already */
static bool Check(const Rows &A, Dense &D, Dense &C, const std::string &where)
{
  for (int c = 0; c < D.ncol; c++) {
    for (int64_t r = 0; r < C.ld; r++) {
      long double sum = 0, scale = 0;

      if (r >= C.n && !std::isnan(C.at(r, c))) return Complain(where, "a number between the columns");
      for (int k = r < C.n ? A.i[r] : 0; r < C.n && k < A.i[r + 1]; k++) {
        const long double product = (long double)A.a[k] * D.at(A.j[k], c);

        sum += product;
        scale += fabsl(product);
      }
      if (r < C.n && !Near(C.at(r, c), sum, scale)) return Complain(where, Text("row %d, column %d is %g, not %g", (int)r, c, (double)C.at(r, c), (double)sum));
    }
  }
  return true;
}

static const Way Plain = {false, false, false, 0};

/* Panels of each width there is */
static std::vector<int> Widths()
{
  if (small) return {1, 3, 7, 16, 31, 33, 130};
  return {1, 2, 3, 4, 7, 16, 31, 33, 64, 65, 130};
}

static bool ProductsBy(const std::vector<Shape> &shapes, const std::vector<Way> &ways)
{
  bool good = true;

  for (const Shape &shape : shapes) {
    const Rows T = Transpose(shape.A);

    for (const int ncol : Widths()) {
      for (const Way &way : ways) {
        const std::string where = shape.name + Text(", %d columns%s%s%s%s", ncol, way.transpose ? ", transposed" : "", way.panel ? ", to a panel" : "", way.terms ? ", two terms" : "", way.threshold ? ", tiles" : "");
        const Rows       &A     = way.transpose ? T : shape.A;
        Dense             D(A.n, ncol, ncol % 2 ? 5 : 0), C(A.m, ncol, ncol % 3);

        good = Multiply(shape, way, D, C, where) && Check(A, D, C, where) && good;
      }
    }
  }
  return good;
}

/* Each to columns and to a panel. The groups are few products each, because tools slow them down. */
static bool Products(const std::vector<Shape> &shapes)
{
  return ProductsBy(shapes, {
                              Plain, {false, true, false, 0}
  });
}

static bool Transposed(const std::vector<Shape> &shapes)
{
  return ProductsBy(shapes, {
                              {true, false, false, 0},
                              {true, true,  false, 0}
  });
}

static bool Terms(const std::vector<Shape> &shapes)
{
  return ProductsBy(shapes, {
                              {false, false, true, 0},
                              {false, true,  true, 0}
  });
}

static bool Tiled(const std::vector<Shape> &shapes)
{
  return ProductsBy(shapes, {
                              {false, false, false, 2},
                              {false, true,  false, 5}
  });
}

/* Rows of one panel that are added to those of another */
static bool Unpacked(const std::vector<Shape> &)
{
  const int        first[] = {0, 0, 3, 3, 4}, n = 4, width = 4, ncol = 3;
  Array<int>       starts(std::vector<int>(first, first + n + 1));
  Dense            P(width, n, 0), M(width, first[n], 0), C(n, ncol, 2); /* rows of panels are columns of these */
  Array<SysScalar> panel(P.a), more(M.a), columns(C.a);

  if (!Good(SpmmDeviceUnpack(n, ncol, width, panel.data, starts.data, more.data, columns.data, C.ld, stream), "unpacking")) return false;
  C.a = columns.Download();
  for (int r = 0; r < n; r++) {
    for (int c = 0; c < ncol; c++) {
      SysScalar sum = P.at(c, r);

      for (int k = first[r]; k < first[r + 1]; k++) sum += M.at(c, k);
      if (C.at(r, c) != sum) return Complain("unpacking", Text("row %d, column %d is %g, not %g", r, c, (double)C.at(r, c), (double)sum));
    }
  }
  return true;
}

static bool SameBits(const std::vector<Shape> &shapes)
{
  bool good = true;

  for (const Shape &shape : shapes) {
    for (const int ncol : {3, 16, 31, 33, 130}) {
      Dense D(shape.A.n, ncol, 0), C(shape.A.m, ncol, 0), again(shape.A.m, ncol, 0);

      good = Multiply(shape, Plain, D, C, shape.name) && Multiply(shape, Plain, D, again, shape.name) && good;
      if (!C.a.empty() && memcmp(C.a.data(), again.a.data(), C.a.size() * sizeof(SysScalar))) good = Complain(shape.name, "other bits");
    }
  }
  return good;
}

/* The entries of L R^T in the pattern, of panel after panel, scaled in the end; wild: some numbers are not finite */
static bool Sample(const Shape &shape, int ncol, bool wild)
{
  const std::string where = shape.name + Text(", %d columns", ncol);
  const Rows       &A     = shape.A;
  Dense             L(A.m, ncol, ncol % 2 ? 3 : 0), R(A.n, ncol, 0);
  const Array<int>  i(A.i), j(A.j);
  Array<SysScalar>  a(A.a), l(L.a), values(std::vector<SysScalar>(A.j.size(), NotANumber)), right((size_t)(A.n + 1) * SPMM_DEVICE_WIDTH);
  const SysCSR      csr = {A.m, A.n, (int64_t)A.j.size(), i.data, j.data, a.data};
  SpmmDevice       *S   = NULL;
  int               width;
  bool              good = Good(SddmmDeviceCreate(&csr, A.i.data(), &S, stream), where);

  if (wild) {
    R.at(3, 1)         = NotANumber;
    R.at(17, ncol / 2) = std::numeric_limits<SysScalar>::infinity();
  }
  const Array<SysScalar> r(R.a);

  for (int c = 0, n; good && c < ncol; c += n) {
    n    = SpmmDevicePanelColumns(ncol - c, &width);
    good = Good(SpmmDevicePack(A.n, n, width, r.data + c * R.ld, R.ld, right.data, stream), where);
    good = good && Good(SddmmDevice(S, &csr, n, width, l.data + c * L.ld, L.ld, right.data, c > 0, c + n == ncol, values.data, stream), where);
  }
  SpmmDeviceDestroy(&S);
  if (!good) return false;
  const std::vector<SysScalar> got = values.Download();
  for (int row = 0; row < A.m; row++) {
    for (int k = A.i[row]; k < A.i[row + 1]; k++) {
      long double sum = 0, scale = 0;

      for (int c = 0; c < ncol; c++) sum += (long double)L.at(row, c) * R.at(A.j[k], c);
      for (int c = 0; c < ncol; c++) scale += fabsl((long double)L.at(row, c) * R.at(A.j[k], c));
      if (!Near(got[k], sum * A.a[k], scale)) return Complain(where, Text("entry %d is %g, not %g", k, (double)got[k], (double)(sum * A.a[k])));
    }
  }
  return true;
}

static bool NotFinite(const std::vector<Shape> &shapes)
{
  bool good = true;

  for (const Shape &shape : shapes) {
    for (const int ncol : {2, 9, 31, 130}) {
      Dense D(shape.A.n, ncol, 0), C(shape.A.m, ncol, 0);

      D.at(3, 1)         = NotANumber;
      D.at(17, ncol / 2) = std::numeric_limits<SysScalar>::infinity();
      good               = Multiply(shape, Plain, D, C, shape.name) && Check(shape.A, D, C, shape.name) && good;
      good               = Sample(shape, ncol, true) && good;
    }
  }
  return good;
}

static bool Samples(const std::vector<Shape> &shapes)
{
  bool good = true;

  for (const Shape &shape : shapes) {
    for (const int ncol : Widths()) good = Sample(shape, ncol, false) && good;
  }
  return good;
}

int main(int argc, char **argv)
{
  const Group<std::vector<Shape>> groups[] = {
    {"products",            Products  },
    {"transposed products", Transposed},
    {"two terms",           Terms     },
    {"tiles",               Tiled     },
    {"unpacked panels",     Unpacked  },
    {"sampled products",    Samples   },
    {"not finite",          NotFinite },
    {"same bits",           SameBits  }
  };
  int failures;

  if (!StartTests(argc, argv)) return 77;
  failures = RunTests(groups, MakeShapes(), argc, argv);
  EndTests();
  return failures ? 1 : 0;
}
