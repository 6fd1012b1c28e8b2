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
    {"stencil", MakeRows(9 * 9 * 9, 9 * 9 * 9,                                         Stencil(9,    9,                                                                                             9, false, 1))},
    {"runs",    MakeRows(300,                   170,                                                                    Runs(170,                                                                           4,                                                                                                                                                         5))},
    {"no entries", MakeRows(40,                  20,[](int,std::vector<int> &) {})},
    {"no rows",       MakeRows(0,  20,                                [](int,                                                                                                              std::vector<int> &) {})                                                                                                                                                                                                                                                                                                                                          },
    {"one row",       MakeRows(1,                  3000,             [](int,std::vector<int> &cols) { Run(cols, 0, 3000); })},
    {"long rows",     MakeRows(70,5000,[](int r,                                                                                      std::vector<int> &cols) { Run(cols, 3 * r, r % 9 == 4 ? 1024 + 500 * (r % 4) + r % 2 : r % 5); })                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                  },
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

/* C = A D, in as many panels as it takes */
static bool Multiply(const Shape &shape, Dense &D, Dense &C, const std::string &where)
{
  const Rows      &A = shape.A;
  const Array<int> i(A.i), j(A.j);
  Array<SysScalar> a(A.a), columns(D.a), result(std::vector<SysScalar>(C.a.size(), NotANumber)), panel((size_t)(D.n + 1) * SPMM_DEVICE_WIDTH);
  const SysCSR     csr  = {A.m, A.n, (int64_t)A.j.size(), i.data, j.data, a.data};
  SpmmDevice      *S    = NULL;
  bool             good = Good(SpmmDeviceCreate(&csr, A.i.data(), &S, stream), where);

  for (int c = 0, width, n; good && c < D.ncol; c += n) {
    n    = SpmmDevicePanelColumns(D.ncol - c, &width);
    good = Good(SpmmDevicePack(D.n, n, width, columns.data + c * D.ld, D.ld, panel.data, stream), where);
    good = good && Good(SpmmDeviceMult(S, &csr, n, width, panel.data, result.data + c * C.ld, C.ld, stream), where);
  }
  if (good) C.a = result.Download();
  SpmmDeviceDestroy(&S);
  return good;
}

static bool Check(const Shape &shape, Dense &D, Dense &C, const std::string &where)
{
  for (int c = 0; c < D.ncol; c++) {
    for (int64_t r = 0; r < C.ld; r++) {
      long double sum = 0, scale = 0;

      if (r >= C.n && !std::isnan(C.at(r, c))) return Complain(where, "a number between the columns");
      for (int k = r < C.n ? shape.A.i[r] : 0; r < C.n && k < shape.A.i[r + 1]; k++) {
        const long double product = (long double)shape.A.a[k] * D.at(shape.A.j[k], c);

        sum += product;
        scale += fabsl(product);
      }
      if (r < C.n && !Near(C.at(r, c), sum, scale)) return Complain(where, Text("row %d, column %d is %g, not %g", (int)r, c, (double)C.at(r, c), (double)sum));
    }
  }
  return true;
}

static const int Widths[] = {1, 2, 3, 4, 7, 16, 31, 33, 64, 65, 130};

static bool Products(const std::vector<Shape> &shapes)
{
  bool good = true;

  for (const Shape &shape : shapes) {
    for (const int ncol : Widths) {
      const std::string where = shape.name + Text(", %d columns", ncol);
      Dense             D(shape.A.n, ncol, ncol % 2 ? 5 : 0), C(shape.A.m, ncol, ncol % 3);

      good = Multiply(shape, D, C, where) && Check(shape, D, C, where) && good;
    }
  }
  return good;
}

static bool NotFinite(const std::vector<Shape> &shapes)
{
  bool good = true;

  for (const Shape &shape : shapes) {
    Dense D(shape.A.n, 9, 0), C(shape.A.m, 9, 0);

    D.at(3, 1)  = NotANumber;
    D.at(17, 4) = std::numeric_limits<SysScalar>::infinity();
    good        = Multiply(shape, D, C, shape.name) && Check(shape, D, C, shape.name) && good;
  }
  return good;
}

static bool SameBits(const std::vector<Shape> &shapes)
{
  bool good = true;

  for (const Shape &shape : shapes) {
    Dense D(shape.A.n, 33, 0), C(shape.A.m, 33, 0), again(shape.A.m, 33, 0);

    good = Multiply(shape, D, C, shape.name) && Multiply(shape, D, again, shape.name) && good;
    if (!C.a.empty() && memcmp(C.a.data(), again.a.data(), C.a.size() * sizeof(SysScalar))) good = Complain(shape.name, "other bits");
  }
  return good;
}

/* The entries of L R^T in the pattern, then once more added to them and scaled */
static bool Sample(const Shape &shape, int ncol)
{
  const std::string where = shape.name + Text(", %d columns", ncol);
  const Rows       &A     = shape.A;
  Dense             L(A.m, ncol, 0), R(A.n, ncol, 0);
  const Array<int>  i(A.i), j(A.j);
  Array<SysScalar>  a(A.a), l(L.a), r(R.a), values(std::vector<SysScalar>(A.j.size(), NotANumber)), left((size_t)(A.m + 1) * SPMM_DEVICE_WIDTH), right((size_t)(A.n + 1) * SPMM_DEVICE_WIDTH);
  const SysCSR      csr = {A.m, A.n, (int64_t)A.j.size(), i.data, j.data, a.data};
  int               width;

  for (int c = 0, n; c < ncol; c += n) {
    n = SpmmDevicePanelColumns(ncol - c, &width);
    if (!Good(SpmmDevicePack(A.m, n, width, l.data + c * L.ld, L.ld, left.data, stream), where)) return false;
    if (!Good(SpmmDevicePack(A.n, n, width, r.data + c * R.ld, R.ld, right.data, stream), where)) return false;
    if (!Good(SddmmDevice(&csr, width, left.data, right.data, c > 0, c + n == ncol, values.data, stream), where)) return false;
  }
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

static bool Samples(const std::vector<Shape> &shapes)
{
  bool good = true;

  for (const Shape &shape : shapes) {
    for (const int ncol : Widths) good = Sample(shape, ncol) && good;
  }
  return good;
}

int main(int argc, char **argv)
{
  const Group<std::vector<Shape>> groups[] = {
    {"products",         Products },
    {"sampled products", Samples  },
    {"not finite",       NotFinite},
    {"same bits",        SameBits }
  };
  int failures;

  if (!StartTests(argc, argv)) return 77;
  failures = RunTests(groups, MakeShapes(), argc, argv);
  EndTests();
  return failures ? 1 : 0;
}
