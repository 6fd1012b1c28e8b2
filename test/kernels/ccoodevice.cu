/* SPDX-License-Identifier: BSD-2-Clause */
/*
   CCOO on a CUDA device against sums on the host, without PETSc: shapes and sizes of all kinds, the table of values, new values, atomics, what must be refused, and
   what must be given back.

     ccoodevice [small] GROUP...     runs groups of tests; small leaves out large shapes, for tools that slow everything down

   Prints "ok GROUP" or "not ok GROUP", before it what was wrong. Exit code 77: there is no device.
*/
#include "devicevectors.h"
#include "mat/impls/ccoo/cuda/ccoocuda.h"

typedef NamedRows Shape;

static const CcooParams cases[] = {
  {256, 1,  1},
  {32,  2,  1},
  {64,  4,  0},
  {128, 8,  1},
  {256, 2,  0},
  {256, 4,  1},
  {32,  8,  1},
  {64,  3,  1},
  {128, 5,  0},
  {32,  27, 1},
  {0,   0,  1}
};
#define NCASES (sizeof(cases) / sizeof(*cases))

/* Values of which there are few, or as many as entries */
static std::vector<SysScalar> Values(size_t n, int distinct)
{
  std::vector<SysScalar> a = RandomVector(n);

  for (size_t k = 0; k < n && distinct; k++) a[k] = (SysScalar)(RandomBelow(distinct) - distinct / 3) / 4;
  return a;
}

/* A shape on the device, and what was made of it */
struct Matrix : DeviceRows {
  CcooParams     params;
  int            atomics;
  CcooDevice    *A = nullptr;
  CcooDeviceInfo info;

  Matrix(const Shape &shape, const CcooParams &p, int atomic) : DeviceRows(shape), params(p), atomics(atomic) { }
  ~Matrix() { CcooDeviceDestroy(A); }
  Matrix      Again() const { return {S, params, 0}; }
  std::string Where() const { return Text("%s, B = %d, K = %d%s%s", S.name.c_str(), params.b, params.k, params.table ? "" : ", no table", atomics ? ", atomics" : ""); }
  bool        Called(const char *what, SysStatus status) const { return status == SYS_SUCCESS || Complain(Where(), Text("%s returned %d, %s", what, (int)status, SysDeviceErrorText())); }
  bool        Counted()
  {
    int64_t chunks = 0, tabled = 0;

    CcooDeviceGetInfo(A, &info);
    for (int f = 0; f < CCOO_FORMATS; f++) {
      chunks += info.count[f];
      tabled += f < CCOO_FORMATS / 2 ? 0 : info.count[f];
    }
    if (info.stored_values < (double)S.j.size() || info.bytes_stored < (double)info.stored_values || (!S.j.empty() && !chunks)) return Complain(Where(), "it stores less than the matrix has");
    if ((tabled > 0) != (info.ntable > 0) || (tabled && !params.table)) return Complain(Where(), Text("%d chunks use a table of %d values", (int)tabled, info.ntable));
    return true;
  }
  bool Create()
  {
    const SysCSR csr = CSR();

    return Called("conversion", CcooDeviceCreate(&csr, &params, atomics, stream, &A, &info)) && Counted();
  }
  bool Update()
  {
    const SysCSR csr = CSR();

    return Called("update", CcooDeviceUpdate(A, &csr, stream)) && Counted();
  }
  bool Mult(bool transpose, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z) const
  {
    const SysCSR csr = CSR();

    return Called(transpose ? "transposed product" : "product", (transpose ? CcooDeviceMultTranspose : CcooDeviceMult)(A, &csr, alpha, x, beta, y, z, stream));
  }
};

typedef std::function<bool(Matrix &, size_t)> Test;

static bool ForAll(const std::vector<Shape> &shapes, const Test &test)
{
  bool good = true;

  for (size_t s = 0; s < shapes.size(); s++) {
    for (size_t c = 0; c < NCASES; c++) {
      if (small && (s + c) % 3) continue;
      Matrix M(shapes[s], cases[c], (s + c) % 5 == 0);

      seed = 0x2545F4914F6CDD1DULL + s * 1000 + c;
      good = M.Create() && test(M, s + c) && good;
    }
  }
  return good;
}

static bool NewValues(const std::vector<Shape> &shapes)
{
  return ForAll(shapes, [](Matrix &M, size_t turn) {
    if (turn % 2 && !CheckProducts(M, M.S.a, true, 0, "")) return false;
    for (int distinct : {100, 0, 3, 257, 256}) {
      const std::vector<SysScalar> a = Values(M.S.a.size(), distinct);

      M.a.Upload(a);
      if (!M.Update() || !CheckProducts(M, a, false, 0, ", new values") || !CheckProducts(M, a, turn % 2, 0, ", new values")) return false;
    }
    M.a.Upload(M.S.a);
    return M.Update() && CheckProducts(M, M.S.a, turn % 2, 0, ", the first values again");
  });
}

/* As many values as the table holds, one less, and one more; the expected chunks of positions in the table are all or none */
static bool Distinct(const std::vector<Shape> &)
{
  bool good = true;

  for (int distinct : {1, 255, 256, 257, 65536}) {
    Shape S;

    static_cast<Rows &>(S) = MakeRows(400, 400, [](int, std::vector<int> &cols) { Run(cols, 0, 400); });
    S.name                 = Text("%d distinct values", distinct);
    for (size_t k = 0; k < S.a.size(); k++) S.a[k] = (SysScalar)(3 + (int64_t)k * 7919 % distinct);
    Matrix M(S, {256, 2, 1}, 0);

    if (!M.Create() || !CheckProducts(M, S.a, false, 0, "")) return false;
    if (M.info.ntable != (distinct <= 256 ? distinct : 0)) good = Complain(M.Where(), Text("a table of %d values", M.info.ntable));
    S.a[123457] = distinct; /* a value that occurs once, which the sample need not have */
    M.a.Upload(S.a);
    if (!M.Update() || !CheckProducts(M, S.a, false, 0, ", a value that occurs once")) return false;
    if (distinct == 1 && M.info.ntable != 2) good = Complain(M.Where(), "a value that occurs once has no place");
  }
  return good;
}

/* Rows of three reaches, short ones and a long one, with few values and with many: chunks of all formats */
static bool Formats(const std::vector<Shape> &)
{
  const int reach[] = {250, 60000, 140000};
  bool      good    = true;
  Shape     S;

  S.m    = 3 * 401;
  S.n    = 140000;
  S.name = "all formats";
  for (int r = 0; r < S.m; r++) {
    const int width = reach[r / 401], n = r % 401 == 400 ? 3000 : 10, step = n == 10 ? width / 10 : width / 7 + 1;

    for (int k = 0; k < n; k++) {
      S.a.push_back(S.a.size() / 600 % 2 ? RandomScalar() : (SysScalar)(S.a.size() % 5));
      S.j.push_back((int)((int64_t)k * step % width));
    }
    S.i.push_back((int)S.j.size());
  }
  for (int table = 0; table < 2; table++) {
    for (int k : {1, 2, 3, 4, 7, 8, 10}) {
      Matrix M(S, {32, k, table}, 0);

      if (!M.Create() || !CheckProducts(M, S.a, false, 0, "") || !CheckProducts(M, S.a, false, 3, ", x not finite")) return false;
      for (int f = 0; f < CCOO_FORMATS; f++) {
        if ((M.info.count[f] > 0) != (f < 6 || table)) good = Complain(M.Where(), Text("%d chunks of format %d", (int)M.info.count[f], f));
      }
    }
  }
  return good;
}

/* Columns by chance, values and sizes by chance */
static bool RandomShapes(const std::vector<Shape> &)
{
  bool good = true;

  for (int k = 0; k < (small ? 6 : 100); k++) {
    seed               = 0x9E3779B97F4A7C15ULL * (uint64_t)(k + 1);
    const int        m = RandomBelow(small ? 300 : 5000) + 1, n = RandomBelow(RandomBelow(4) ? 5000 : 200000) + 1, runs = RandomBelow(20), length = 1 + RandomBelow(5);
    const CcooParams p = {32 << RandomBelow(4), RandomBelow(3) ? 1 + RandomBelow(10) : 5 * (1 + RandomBelow(8)), k % 4 > 0};
    Shape            S;

    static_cast<Rows &>(S) = MakeRows(m, n, k % 3 ? Runs(n, runs, length) : PowerLaw(n));
    S.a                    = Values(S.a.size(), k % 2 ? 200 : 0);
    S.name                 = Text("random shape %d", k);
    Matrix M(S, p, k % 7 == 0);

    good = M.Create() && CheckProducts(M, S.a, false, 0, "") && CheckProducts(M, S.a, k % 5 == 0, 3, ", x not finite") && good;
  }
  return good;
}

static bool Refused(const std::vector<Shape> &shapes)
{
  Matrix          M(shapes[7], cases[0], 0);
  SysCSR          csr    = M.CSR();
  const SysStatus status = (csr.n = (int64_t)1 << 31, CcooDeviceCreate(&csr, &M.params, 0, stream, &M.A, &M.info));

  return (status == SYS_TOO_LARGE && !M.A) || Complain(M.Where(), Text("status %d", (int)status));
}

static bool MemoryGivenBack(const std::vector<Shape> &shapes)
{
  bool good = true;

  for (const Shape &S : shapes) {
    size_t before = 0;

    for (int pass = 0; pass < 12; pass++) {
      Matrix M(S, cases[pass % NCASES], pass % 2);

      if (pass == 4) before = FreeMemory();
      if (!M.Create() || !CheckProducts(M, S.a, pass % 2, 0, "") || !M.Update()) return false;
      M.a.Upload(Values(S.a.size(), 5)); /* values of another size */
      if (!M.Update()) return false;
      CcooDeviceDestroy(M.A);
      M.A = nullptr;
      if (pass >= 4 && FreeMemory() != before) {
        good = Complain(M.Where(), "memory is not given back");
        break;
      }
    }
  }
  return good;
}

int main(int argc, char **argv)
{
  const Group<std::vector<Shape>> groups[] = {
    {"products",        Products<Matrix, ForAll>},
    {"transposed products",                 TransposedProducts<Matrix,            ForAll>},
    {"new values",          NewValues             },
    {"not finite",NotFinite<Matrix, ForAll>},
    {"same bits",   SameBits<Matrix,           ForAll>},
    {"random shapes",       RandomShapes    },
    {"distinct values",                 Distinct                 },
    {"all formats",                 Formats           },
    {"refused",                 Refused  },
    {"memory given back",                 MemoryGivenBack            }
  };

  return RunProgram(groups, MakeLongRows, argc, argv);
}
