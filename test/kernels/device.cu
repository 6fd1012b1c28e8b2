/* SPDX-License-Identifier: BSD-2-Clause */
/*
   AMB on a CUDA device against sums on the host, without PETSc: all shapes, block sizes and launches, what must be refused, and what must
   be given back.

     device [small] GROUP...     runs groups of tests; small leaves out large shapes, for tools that slow everything down

   Prints "ok GROUP" or "not ok GROUP", before it what was wrong. Exit code 77: there is no device.
*/
#include "mat/impls/amb/cuda/ambcuda.h"
#include "devicevectors.h"

#include <memory>

/* ---- Shapes ---- */

struct Shape : Rows {
  std::string name;
  bool        large; /* left out where everything is slow */
};

static Shape MakeShape(const std::string &name, bool large, int m, int n, const RowMaker &make)
{
  Shape S;

  static_cast<Rows &>(S) = MakeRows(m, n, make);
  S.name                 = name;
  S.large                = large;
  return S;
}

static std::vector<Shape> MakeShapes()
{
  std::vector<Shape> shapes;
  static const int   lengths[] = {0, 1, 2, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025, 2047, 2048, 2049, 3071, 3073, 4096, 4999};

  auto add = [&](const char *name, bool large, int m, int n, const RowMaker &make) {
    if (!small || !large) shapes.push_back(MakeShape(name, large, m, n, make));
  };

  add("no rows, no columns", false, 0, 0, Runs(0, 0, 1));
  add("no rows", false, 0, 5, Runs(5, 0, 1));
  add("no columns", false, 5, 0, Runs(0, 0, 1));
  add("one entry", false, 1, 1, [](int, std::vector<int> &cols) { cols.push_back(0); });
  add("one row", false, 1, 3000, Runs(3000, 80, 9));
  add("one column", false, 3000, 1, Runs(1, 1, 1));
  add("two columns", false, 500, 2, Runs(2, 2, 2));
  add("seven columns", false, 100, 7, Runs(7, 3, 5));
  add("all rows empty", false, 1000, 1000, Runs(1000, 0, 1));
  add("small", false, 13, 17, Runs(17, 4, 3));
  add("scattered", false, 1000, 900, Runs(900, 12, 1));
  add("runs", false, 700, 1500, Runs(1500, 8, 12));
  add("long runs", true, 3000, 9000, Runs(9000, 5, 200));
  add("diagonal", false, 1000, 1000, [](int r, std::vector<int> &cols) { cols.push_back(r); });
  add("last columns only", false, 300, 4000, [](int r, std::vector<int> &cols) { Run(cols, 4000 - 1 - r % 12, 1 + r % 12); });
  add("band of 3-blocks", false, 999, 999, [](int r, std::vector<int> &cols) {
    for (int k = -4; k <= 4; k++) Run(cols, (r / 3 + 7 * k) * 3, 3);
  });
  add("random band", true, 50000, 50000, [](int r, std::vector<int> &cols) {
    for (int k = 0; k < 12; k++) cols.push_back(r - 300 + RandomBelow(601));
  });
  add("5-point stencil", false, 41 * 37, 41 * 37, Stencil(41, 37, 1, true, 1));
  add("7-point stencil", true, 40 * 41 * 29, 40 * 41 * 29, Stencil(40, 41, 29, true, 1));
  add("27-point stencil", false, 12 * 11 * 9, 12 * 11 * 9, Stencil(12, 11, 9, false, 1));
  add("27-point stencil, larger", true, 50 * 33 * 21, 50 * 33 * 21, Stencil(50, 33, 21, false, 1));
  add("3-blocks on a grid", false, 6 * 7 * 5 * 3, 6 * 7 * 5 * 3, Stencil(6, 7, 5, false, 3));
  add("3-blocks on a larger grid", true, 17 * 19 * 23 * 3, 17 * 19 * 23 * 3, Stencil(17, 19, 23, false, 3));
  add("5-blocks on a grid", true, 12 * 13 * 8 * 5, 12 * 13 * 8 * 5, Stencil(12, 13, 8, true, 5));
  add("dense", false, 200, 150, [](int, std::vector<int> &cols) { Run(cols, 0, 150); });
  add("rows of all lengths", false, 28 * 5 + 3, 5000, [](int r, std::vector<int> &cols) { Run(cols, r % 100, lengths[(r * 5) % 28]); });
  add("scattered rows of all lengths", false, 28 * 3 + 1, 40000, [](int r, std::vector<int> &cols) {
    for (int k = 0; k < lengths[(r * 5) % 28]; k++) cols.push_back((k * 7 + r) % 40000);
  });
  add("a full row", true, 3000, 70000, [](int r, std::vector<int> &cols) {
    if (r == 1777) Run(cols, 0, 70000);
    else Run(cols, r * 20, r % 5);
  });
  add("first and last row full", false, 257, 3000, [](int r, std::vector<int> &cols) {
    if (r == 0 || r == 256) Run(cols, 0, 3000);
    else cols.push_back(r);
  });
  add("hub rows", false, 200, 6000, [](int r, std::vector<int> &cols) {
    if (r % 67 == 5) Run(cols, 7, 5900);
    else Run(cols, RandomBelow(6000), 1 + RandomBelow(3));
  });
  add("hub rows of 100,000 entries", true, 2000, 120000, [](int r, std::vector<int> &cols) {
    if (r % 400 == 31) Run(cols, r, 100000);
    else if (r % 400 == 32)
      for (int k = 0; k < 100000; k++) cols.push_back(k + k / 6);
    else Run(cols, RandomBelow(120000), 1 + RandomBelow(3));
  });
  add("a hub column", true, 20000, 20000, [](int r, std::vector<int> &cols) {
    cols.push_back(r);
    cols.push_back(12345);
  });
  add("empty rows at the ends of chunks", false, 32 * 21 + 5, 1000, [](int r, std::vector<int> &cols) {
    if (r % 32 != 0 && r % 32 < 29 && r / 32 != 7 && r / 32 != 20) Run(cols, RandomBelow(990), 1 + RandomBelow(8));
  });
  add("empty rows at both ends", false, 900, 400, [](int r, std::vector<int> &cols) {
    if (r > 200 && r < 700) Run(cols, RandomBelow(390), 2);
  });
  add("70,000 columns", false, 40, 70000, Runs(70000, 30, 6));
  add("200,000 columns", true, 300, 200000, Runs(200000, 40, 12));
  add("200,000 columns, both ends", true, 33, 200000, [](int r, std::vector<int> &cols) {
    Run(cols, r, 2);
    Run(cols, 200000 - 40 + r, 3);
  });
  add("200,000 rows", true, 200000, 50, Runs(50, 2, 3));
  add("near and far in turns", true, 4000, 150000, [](int r, std::vector<int> &cols) {
    Run(cols, r, 5);
    if (r / 32 % 3 == 1) Run(cols, 149000 - r, 4);
    if (r / 32 % 3 == 2) cols.push_back(RandomBelow(150000));
  });
  add("power law, small", false, 400, 3000, PowerLaw(3000));
  add("power law", true, 40000, 40000, PowerLaw(40000));
  add("rows of many lengths, many scopes", true, 80000, 60000, [](int r, std::vector<int> &cols) { Run(cols, RandomBelow(60000), RandomBelow(2 + r % 40)); });
  return shapes;
}

/* ---- On the device ---- */

/* A shape on the device, and what was made of it */
struct Matrix {
  const Shape     &S;
  Array<int>       i, j;
  Array<SysScalar> a;
  AmbDeviceParams  params;
  AmbDevice       *A = nullptr;
  AmbDeviceInfo    info;

  Matrix(const Shape &shape, const AmbDeviceParams &p) : S(shape), i(shape.i), j(shape.j), a(shape.a), params(p) { }
  ~Matrix() { AmbDeviceDestroy(A); }
  SysCSR      CSR() const { return {S.m, S.n, (int64_t)S.j.size(), i.data, j.size ? j.data : nullptr, a.size ? a.data : nullptr}; }
  std::string Where() const { return Text("%s, block size %d, %d threads, %d steps%s", S.name.c_str(), params.block_size, params.threads, params.steps, params.measure ? ", measured" : ""); }
  bool        Called(const char *what, SysStatus status) const { return status == SYS_SUCCESS || Complain(Where(), Text("%s returned %d, %s", what, (int)status, SysDeviceErrorText())); }
  bool        Create()
  {
    const SysCSR csr = CSR();

    return Called("conversion", AmbDeviceCreate(&csr, &params, stream, &A, &info)) && CheckInfo();
  }
  bool Update()
  {
    const SysCSR csr = CSR();

    return Called("update", AmbDeviceUpdate(A, &csr, stream));
  }
  bool Mult(bool transpose, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z) const
  {
    const SysCSR csr = CSR();

    return Called(transpose ? "transposed product" : "product", (transpose ? AmbDeviceMultTranspose : AmbDeviceMult)(A, &csr, alpha, x, beta, y, z, stream));
  }
  bool CheckInfo() const
  {
    AmbDeviceInfo now;

    AmbDeviceGetInfo(A, &now);
    if (now.block_size != info.block_size || now.tasks != info.tasks || now.bytes_stored != info.bytes_stored) return Complain(Where(), "the figures of AmbDeviceGetInfo() are not those of AmbDeviceCreate()");
    if (!S.m) return true; /* nothing to choose */
    if (info.block_size < 1 || info.block_size > 10 || (params.block_size && params.block_size <= S.n && info.block_size != params.block_size)) return Complain(Where(), Text("block size %d", info.block_size));
    if (params.threads && info.threads != params.threads) return Complain(Where(), Text("%d threads", info.threads));
    if (params.steps && info.steps != params.steps) return Complain(Where(), Text("%d steps", info.steps));
    if (info.diagonal + info.narrow + info.wide != info.tasks || info.split > info.tasks) return Complain(Where(), "the kinds of tasks do not add up");
    if (info.stored_values < (double)S.j.size() || (!info.stencil && info.bytes_stored < info.stored_values * (double)SysStorageSize(info.stored))) return Complain(Where(), "it stores less than the matrix has");
    if (info.tried > 50) return Complain(Where(), Text("%d products were tried", (int)info.tried));
    if (!params.measure && info.tried) return Complain(Where(), "products were tried without being asked for");
    return true;
  }
};

/* A few products of each kind with a new vector; nonfinite: how many of its entries are NaN or infinite. What is written to holds NaN before,
   of which nothing may be left. */
static bool CheckProducts(Matrix &M, const std::vector<SysScalar> &a, bool transpose, int nonfinite, bool every, const char *when)
{
  const SysScalar              any = RandomScalar(), factors[] = {0, 1, -1, any};
  std::vector<SysScalar>       xh = RandomVector((size_t)(transpose ? M.S.m : M.S.n)), z;
  const std::vector<SysScalar> y  = RandomVector((size_t)(transpose ? M.S.n : M.S.m)), nothing(y.size(), NotANumber);

  for (int k = 0; k < nonfinite && !xh.empty(); k++) xh[k == 0 ? xh.size() - 1 : (k == 1 ? 0 : (size_t)RandomBelow((int64_t)xh.size()))] = k % 3 ? (k % 3 == 1 ? Infinity : -Infinity) : NotANumber;
  const Sums R = Reference(M.S, a, transpose, xh);
  for (size_t shift = 0; shift < 2; shift++) {
    Vector x(xh, shift), vy(y, shift), vz(nothing, shift);

    for (int p = 0; p < 32; p++) {
      const SysScalar alpha = factors[p / 4 % 4], beta = factors[p % 4];
      const bool      in_place = p / 16;

      if (alpha == 0 && nonfinite) continue; /* what 0 times NaN is remains open */
      if (!every && p != 4 && p != 5 && p != 11 && p != 16 + 5 && p != 16 + 14) continue;
      const std::string where = Text("%s%s%s%s%s", M.Where().c_str(), transpose ? ", transposed" : "", in_place ? ", in place" : "", shift ? ", unaligned" : "", when);

      vy.Set(beta == 0 ? nothing : y);
      vz.Set(nothing);
      if (!M.Mult(transpose, alpha, x.Data(), beta, beta == 0 && shift ? nullptr : vy.Data(), in_place ? vy.Data() : vz.Data())) return false;
      if (!(in_place ? vy : vz).Get(z)) return Complain(where, "something was written outside of z");
      if (!Compare(where, R, alpha, beta, y, z)) return false;
    }
  }
  return true;
}

/* ---- Groups ---- */

typedef enum {
  FEW,       /* block sizes */
  FEW_LARGE, /* for large shapes */
  EVERY
} BlockSizes;

/* What the model and the tuner choose, and block sizes with launches that change from turn to turn */
static std::vector<AmbDeviceParams> SomeParams(size_t turn, bool few, bool large)
{
  static const int             threads[] = {64, 128, 256}, steps[] = {1, 2, 4, 8, 16, 32, 64};
  std::vector<AmbDeviceParams> all = {
    {0, 0, 0, 0, SYS_VALUES_DOUBLE},
    {0, 0, 0, 1, SYS_VALUES_DOUBLE}
  };

  if (small)
    return {
      all[turn % 2], {(int)(turn % 10) + 1, threads[turn % 3], steps[turn % 7], 0, SYS_VALUES_DOUBLE}
    };
  for (int b = 1; b <= 10; b++) {
    if (few && b != 1 && b != 3 && b != (int)(turn % 10) + 1) continue;
    if (!large) all.push_back({b, 0, 0, 0, SYS_VALUES_DOUBLE});
    all.push_back({b, threads[(b + turn) % 3], steps[(3 * b + turn) % 7], 0, SYS_VALUES_DOUBLE});
  }
  return all;
}

typedef std::function<bool(Matrix &, size_t)> Test;

static bool ForAll(const std::vector<Shape> &shapes, BlockSizes sizes, const Test &test)
{
  static size_t calls = 0;
  bool          good  = true;

  calls += 3;
  for (size_t s = 0; s < shapes.size(); s++) {
    size_t turn = s + calls;

    for (const AmbDeviceParams &params : SomeParams(turn, sizes == FEW || (sizes == FEW_LARGE && shapes[s].large), shapes[s].large)) {
      Matrix M(shapes[s], params);

      seed = 0x2545F4914F6CDD1DULL + s * 1000 + turn;
      good = M.Create() && test(M, turn++) && good;
    }
  }
  return good;
}

static bool Products(const std::vector<Shape> &shapes)
{
  return ForAll(shapes, EVERY, [](Matrix &M, size_t) { return CheckProducts(M, M.S.a, false, 0, !M.S.large && !small, ""); });
}

static bool TransposedProducts(const std::vector<Shape> &shapes)
{
  return ForAll(shapes, FEW, [](Matrix &M, size_t) { return CheckProducts(M, M.S.a, true, 0, !M.S.large && !small, "") && CheckProducts(M, M.S.a, false, 0, false, ", after a transposed one"); });
}

/* All numbers of threads with all numbers of steps and some block sizes */
static bool Launches(const std::vector<Shape> &shapes)
{
  bool good = true;

  for (const Shape &S : shapes) {
    if (S.name != "runs" && S.name != "hub rows" && S.name != "27-point stencil" && S.name != "rows of all lengths" && S.name != "power law, small") continue;
    for (int threads = 64; threads <= 256; threads *= small ? 4 : 2) {
      for (int steps = 1; steps <= 64; steps += small ? 31 : (steps < 8 ? 1 : 7)) {
        for (int b = small ? 3 : 1; b <= 10; b += 2 + b / 3) {
          Matrix M(S, {b, threads, steps, 0, SYS_VALUES_DOUBLE});

          good = M.Create() && CheckProducts(M, S.a, false, 0, false, "") && good;
        }
      }
    }
  }
  return good;
}

/* New values, some of them not finite, and the first ones again, which must give the same bits */
static bool NewValues(const std::vector<Shape> &shapes)
{
  return ForAll(shapes, FEW_LARGE, [](Matrix &M, size_t turn) {
    const std::vector<SysScalar> xh        = RandomVector((size_t)M.S.n), nothing((size_t)M.S.m, NotANumber);
    const bool                   transpose = turn % 3 == 0;
    Vector                       x(xh, 0), z(nothing, 0);
    std::vector<SysScalar>       a = RandomVector(M.S.a.size()), before, after;
    AmbDeviceInfo                info;

    if (!M.Mult(false, 1, x.Data(), 0, nullptr, z.Data()) || !z.Get(before)) return false;
    if (transpose && !CheckProducts(M, M.S.a, true, 0, false, "")) return false;
    M.a.Upload(a);
    if (!M.Update() || !CheckProducts(M, a, false, 0, false, ", new values")) return false;
    if (transpose && !CheckProducts(M, a, true, 0, false, ", new values")) return false;
    for (size_t k = 0; k < a.size(); k += 1 + (size_t)RandomBelow((int64_t)a.size() / 5 + 1)) a[k] = k % 3 ? (k % 3 == 1 ? Infinity : -Infinity) : NotANumber;
    M.a.Upload(a);
    if (!M.Update() || !CheckProducts(M, a, false, 0, false, ", values that are not finite")) return false;
    if (transpose && !CheckProducts(M, a, true, 0, false, ", values that are not finite")) return false;
    M.a.Upload(M.S.a);
    if (!M.Update() || !CheckProducts(M, M.S.a, turn % 2, 0, false, ", the first values again")) return false;
    z.Set(nothing);
    if (!M.Mult(false, 1, x.Data(), 0, nullptr, z.Data()) || !z.Get(after)) return false;
    if (!after.empty() && memcmp(before.data(), after.data(), after.size() * sizeof(SysScalar))) return Complain(M.Where(), "the first values again give other bits");
    AmbDeviceGetInfo(M.A, &info);
    if (info.tried != M.info.tried || info.tasks != M.info.tasks || info.block_size != M.info.block_size) return Complain(M.Where(), "an update has changed what was chosen");
    return true;
  });
}

/* Values that are stored in another way give the bits that they give as they are: with few and with many values, and after changes from one to the other */
static bool Storages(const std::vector<Shape> &shapes)
{
  static const int       distinct[] = {0, 1, 3, 255, 256, 17};
  static const SysValues asked[]    = {SYS_VALUES_EXACT, SYS_VALUES_TABLE, SYS_VALUES_SINGLE};
  bool                   good       = true;
  int                    turn       = 0;

  for (const Shape &S : shapes) {
    if (S.large || S.a.size() < 1000) continue;
    for (SysValues values : asked) {
      for (int floats = 0; floats < 2; floats++, turn++) {
        const int                    few = distinct[(turn + turn / 6) % 6], b = turn % 3 ? turn % 11 : 0;
        const std::string            name = Text("%s, values %d, %d distinct%s", S.name.c_str(), (int)values, few, floats ? ", floats" : "");
        const std::vector<SysScalar> many = RandomVector(S.a.size());
        Shape                        mine = S;

        mine.name = name;
        mine.a    = FewValues(S.a.size(), few, floats);
        Matrix M(mine, {b, 0, turn % 4 ? 0 : 8, 0, values}), plain(mine, {b, 0, turn % 4 ? 0 : 8, 0, SYS_VALUES_DOUBLE});

        if (!M.Create() || !plain.Create()) return false;
        for (int change = 0; change < 4; change++) {
          std::vector<SysScalar> a = change % 2 ? many : mine.a;
          AmbDeviceInfo          info;
          SysStorage             expected = SYS_STORAGE_PLAIN;

          M.a.Upload(a);
          if (change && !M.Update()) return false;
#if defined(SYS_HAVE_STORAGE_SINGLE)
          if (values == SYS_VALUES_SINGLE) {
            for (SysScalar &v : a) v = (SysScalar)(float)v;
          }
#endif
          if (change || values == SYS_VALUES_SINGLE) {
            plain.a.Upload(a);
            if (!plain.Update()) return false;
            if (values == SYS_VALUES_SINGLE) M.a.Upload(a); /* rows with a NaN are computed from these */
          }
          AmbDeviceGetInfo(M.A, &info);
          if (values == SYS_VALUES_TABLE || (values == SYS_VALUES_EXACT && change < 2)) expected = change % 2 == 0 && few < 256 ? SYS_STORAGE_PLACES : SYS_STORAGE_PLAIN;
          if (values == SYS_VALUES_EXACT && !info.stencil && info.stored_values < 6 * 32 * (double)info.tasks) expected = SYS_STORAGE_PLAIN; /* short rows */
#if defined(SYS_HAVE_STORAGE_SINGLE)
          if (values == SYS_VALUES_EXACT && change == 0 && few == 256 && floats) expected = SYS_STORAGE_SINGLE;
          if (values == SYS_VALUES_SINGLE) expected = SYS_STORAGE_SINGLE;
#endif
          if (info.stored != expected) good = Complain(M.Where(), Text("storage %d, not %d, after %d changes", (int)info.stored, (int)expected, change));
          if (values != SYS_VALUES_SINGLE && !info.exact) good = Complain(M.Where(), "an exact storage calls itself not exact");
          if (values == SYS_VALUES_SINGLE && change % 2 && sizeof(SysScalar) > sizeof(float) && info.exact) good = Complain(M.Where(), "rounded values call themselves exact");
          if (info.bytes_stored > M.info.bytes_stored + info.stored_values * sizeof(SysScalar)) good = Complain(M.Where(), "too many bytes");
          good = SameAs(M, plain, false, Text("after %d changes", change)) && good;
          if (turn % 4 == 1) good = SameAs(M, plain, true, Text("after %d changes", change)) && good;
        }
      }
    }
  }
  return good;
}

/* Values that depend on the diagonal and on the row of a group of bs rows, but for one row in so many, or none if that is 0 */
static std::vector<SysScalar> StencilValues(const Shape &S, int bs, int others)
{
  std::vector<SysScalar> a(S.a.size());

  for (int r = 0; r < S.m; r++) {
    for (int k = S.i[r]; k < S.i[r + 1]; k++) {
      const int d = S.j[k] - (r - r % bs);

      a[k] = others && r % others == 7 ? (SysScalar)0.37 : d == 1 ? -(SysScalar)0 : (SysScalar)((d % 17 * 5 + r % bs) % 23) / 7;
    }
  }
  return a;
}

/* Stencils give the bits of values as they are: with some rows of other values, before and after values change, and NaNs of x stay in their rows */
static bool Stencils(const std::vector<Shape> &shapes)
{
  static const SysValues asked[] = {SYS_VALUES_EXACT, SYS_VALUES_TABLE};
  bool                   good    = true;
  int                    met     = 0;

  for (const Shape &S : shapes) {
    const int bs = S.name.find("3-blocks on") == 0 ? 3 : 1;
    const int n  = S.name.find("5-point") == 0 ? 5 : S.name.find("7-point") == 0 ? 7 : S.name.find("27-point") == 0 ? 27 : bs == 3 ? 81 : 0;

    if (!n) continue;
    for (SysValues values : asked) {
      for (int others : {0, 61, 20}) {
        const std::vector<SysScalar> many = RandomVector(S.a.size());
        Shape                        mine = S;

        mine.a = StencilValues(S, bs, others);
        Matrix M(mine, {0, 0, 64, 0, values}), plain(mine, {0, 0, 64, 0, SYS_VALUES_DOUBLE});

        if (!M.Create() || !plain.Create()) return false;
        for (int change = 0; change < 4; change++) {
          const std::vector<SysScalar> &a = change % 2 ? many : mine.a;
          AmbDeviceInfo                 info;
          int                           expected = 0;

          M.a.Upload(a);
          plain.a.Upload(a);
          if (change && !(M.Update() && plain.Update())) return false;
          AmbDeviceGetInfo(M.A, &info);
          if (change % 2 == 0 && others != 20 && (values == SYS_VALUES_TABLE || change == 0) && info.row_group == bs) expected = n;
          met += expected > 0;
          if (info.stencil != expected) good = Complain(M.Where(), Text("a stencil of %d entries, not %d, after %d changes, one other row in %d", info.stencil, expected, change, others));
          for (int transpose = 0; transpose < 2; transpose++) good = SameAs(M, plain, transpose, Text("after %d changes", change)) && good;
          if (!change && !CheckProducts(M, M.S.a, false, 2, false, ", x not finite")) good = false;
        }
      }
    }
  }
  return good && (met > 0 || shares > 1 || Complain("stencils", "no matrix has one"));
}

/* NaN and infinities of x reach the rows that have their columns and no others */
static bool NotFinite(const std::vector<Shape> &shapes)
{
  return ForAll(shapes, FEW_LARGE, [](Matrix &M, size_t turn) {
    for (int count : {7, 2, 1}) {
      if (M.S.large && count < 7) break; /* rows that meet a NaN are slow */
      if (!CheckProducts(M, M.S.a, false, count, false, ", x not finite")) return false;
    }
    return turn % 3 || CheckProducts(M, M.S.a, true, 5, false, ", x not finite");
  });
}

/* The same product, and the same of a matrix made once more, give the same bits */
static bool SameBits(const std::vector<Shape> &shapes)
{
  return ForAll(shapes, FEW, [](Matrix &M, size_t) {
    for (int transpose = 0; transpose < 2; transpose++) {
      const std::vector<SysScalar> nothing((size_t)(transpose ? M.S.n : M.S.m), NotANumber);
      Vector                       x(RandomVector((size_t)(transpose ? M.S.m : M.S.n)), 0), z(nothing, 0);
      std::vector<SysScalar>       first, next;
      AmbDeviceParams              same = {M.info.block_size, M.info.threads, M.info.steps, 0, SYS_VALUES_DOUBLE};
      Matrix                       again(M.S, same);

      if (!again.Create()) return false;
      if (again.info.sorted != M.info.sorted || again.info.row_group != M.info.row_group) same.measure = 1; /* the tuner chose more than one can ask for */
      for (int k = 0; k < (same.measure ? 4 : 6); k++) {
        z.Set(nothing);
        if (!(k < 4 ? M : again).Mult(transpose, 1, x.Data(), 0, nullptr, z.Data()) || !z.Get(k ? next : first)) return false;
        if (k && !first.empty() && memcmp(first.data(), next.data(), first.size() * sizeof(SysScalar)))
          return Complain(M.Where(), Text("%s give other bits%s", transpose ? "transposed products" : "products", k < 4 ? "" : " after another conversion"));
      }
    }
    return true;
  });
}

/* Products that leave sums of x.z: z has the bits of products without them, the sums add up to x.z, and have the same bits every time */
static bool WithSums(const std::vector<Shape> &shapes)
{
  return ForAll(shapes, FEW, [](Matrix &M, size_t) {
    const SysCSR                 csr = M.CSR();
    const std::vector<SysScalar> nothing((size_t)M.S.m, NotANumber);
    Vector                       x(RandomVector((size_t)M.S.n), 0), z(nothing, 1);
    std::vector<SysScalar>       plain, with, first, sums;
    int64_t                      n, again;

    if (M.S.m > M.S.n) return true; /* x has no entry for each row */
    if (!M.Called("product with sums", AmbDeviceMultDot(M.A, &csr, NULL, NULL, NULL, &n, stream))) return false;
    if (n != M.info.tasks) return Complain(M.Where(), Text("%d sums of %d tasks", (int)n, (int)M.info.tasks));
    if (!n) return true;
    if (!M.Mult(false, 1, x.Data(), 0, nullptr, z.Data()) || !z.Get(plain)) return false;
    for (int k = 0; k < 3; k++) {
      Vector      parts(std::vector<SysScalar>((size_t)n, NotANumber), 1);
      long double expected = 0, scale = 0, sum = 0;

      z.Set(nothing);
      if (!M.Called("product with sums", AmbDeviceMultDot(M.A, &csr, x.Data(), z.Data(), parts.Data(), &again, stream))) return false;
      if (again != n || !z.Get(with) || !parts.Get(sums)) return Complain(M.Where(), "something was written outside");
      if (memcmp(plain.data(), with.data(), plain.size() * sizeof(SysScalar))) return Complain(M.Where(), "products with sums give other bits");
      for (size_t r = 0; r < with.size(); r++) {
        expected += (long double)x.host[r] * with[r];
        scale += fabsl((long double)x.host[r] * with[r]);
      }
      for (SysScalar part : sums) sum += part;
      if (!(fabsl(sum - expected) <= 40 * (long double)Eps * scale)) return Complain(M.Where(), Text("the sums add up to %.17Lg, not %.17Lg", sum, expected));
      if (k && memcmp(first.data(), sums.data(), first.size() * sizeof(SysScalar))) return Complain(M.Where(), "other sums in the second product");
      first = sums;
    }
    return true;
  });
}

static __global__ void Wait(long long cycles)
{
  const long long start = clock64();

  while (clock64() - start < cycles) { }
}

/* A host that is many products ahead of the device does not put off the choice: products are timed one behind the other, and the first one after them knows all times */
static bool LiveAhead(const Matrix &M, const AmbDeviceParams &params, int kernels)
{
  const std::vector<SysScalar> nothing((size_t)M.S.m, NotANumber);
  AmbDeviceInfo                now;
  std::vector<SysScalar>       result[2];
  Matrix                       L(M.S, params), plain(M.S, M.params);
  Vector                       x(RandomVector((size_t)M.S.n), 0), z(nothing, 0);

  if (!L.Create() || !plain.Create()) return false;
  Wait<<<1, 1, 0, stream>>>(20000000);
  CallCuda(cudaGetLastError());
  for (int k = 0; k < 4 * kernels; k++) {
    if (!L.Mult(false, 1, x.Data(), 0, nullptr, z.Data())) return false;
  }
  for (int l = 0; l < 2; l++) {
    z.Set(nothing);
    if (!(l ? L : plain).Mult(false, 1, x.Data(), 0, nullptr, z.Data()) || !z.Get(result[l])) return false;
  }
  if (memcmp(result[0].data(), result[1].data(), result[0].size() * sizeof(SysScalar))) return Complain(M.Where(), "other bits after products that the host did not wait for");
  AmbDeviceGetInfo(L.A, &now);
  if (now.live || now.tried < 2 * kernels || now.tried > 4 * kernels) return Complain(M.Where(), Text("after %d products that the host did not wait for %d were timed%s", 4 * kernels, (int)now.tried, now.live ? ", and the choice goes on" : ""));
  return true;
}

/* The choice of the kernel in the products of the caller, with new values and other products in between: it ends, and all products have the bits of products without it */
static bool Live(const std::vector<Shape> &shapes)
{
  return ForAll(shapes, FEW, [](Matrix &M, size_t turn) {
    const std::vector<SysScalar> nothing((size_t)M.S.m, NotANumber), values = RandomVector(M.S.a.size());
    AmbDeviceParams              params = M.params;
    AmbDeviceInfo                now;
    const int                    kernels = params.threads ? 2 : 6; /* each makes two to four products */
    std::vector<SysScalar>       result[2], sums[2];

    if (M.params.measure || M.S.j.empty()) return true;
    params.live = 1;
    Matrix  L(M.S, params);
    Matrix *both[2] = {&M, &L};
    Vector  x(RandomVector((size_t)M.S.n), 0), z(nothing, 0);

    if (!L.Create()) return false;
    for (int k = 0; k < 60; k++) {
      if (k == 9 && turn % 3 == 0) return true; /* the matrix ends while it is tuned */
      for (int l = 0; l < 2; l++) {
        if (k == 15) both[l]->a.Upload(values);
        if (k == 15 && !both[l]->Update()) return false;
        z.Set(nothing);
        if (k % 7 == 6 && M.S.m <= M.S.n) {
          const SysCSR csr = both[l]->CSR();
          int64_t      n;

          if (!M.Called("product with sums", AmbDeviceMultDot(both[l]->A, &csr, NULL, NULL, NULL, &n, stream))) return false;
          Vector parts(std::vector<SysScalar>((size_t)n, NotANumber), 0);
          if (!M.Called("product with sums", AmbDeviceMultDot(both[l]->A, &csr, x.Data(), z.Data(), parts.Data(), &n, stream)) || !parts.Get(sums[l])) return false;
        } else if (k % 7 == 5) {
          z.Set(std::vector<SysScalar>((size_t)M.S.m, 1));
          if (!both[l]->Mult(false, -1, x.Data(), 1, z.Data(), z.Data())) return false;
        } else if (!both[l]->Mult(false, 1, x.Data(), 0, nullptr, z.Data())) return false;
        if (!z.Get(result[l])) return Complain(M.Where(), "something was written outside of z");
      }
      if (memcmp(result[0].data(), result[1].data(), result[0].size() * sizeof(SysScalar)) || sums[0] != sums[1]) return Complain(M.Where(), Text("product %d has other bits while the kernel is chosen", k));
    }
    AmbDeviceGetInfo(L.A, &now);
    if (now.live || now.tried < 2 * kernels || now.tried > 4 * kernels) return Complain(M.Where(), Text("after 60 products %d were timed%s", (int)now.tried, now.live ? ", and the choice goes on" : ""));
    if (params.threads ? now.threads != params.threads : now.threads != 64 && now.threads != 128 && now.threads != 256) return Complain(M.Where(), Text("%d threads were chosen", now.threads));
    return LiveAhead(M, params, kernels);
  });
}

/* Conversion, update and products wait for what is before them in the stream */
static bool StreamOrder(const std::vector<Shape> &shapes)
{
  bool good = true;

  for (const Shape &S : shapes) {
    if (S.name != "runs" && S.name != "hub rows" && S.name != "3-blocks on a grid") continue;
    for (int what = 0; what < 3; what++) { /* conversion, update, update and a transposed product */
      const bool                   transpose = what == 2;
      const std::vector<SysScalar> xh        = RandomVector((size_t)(transpose ? S.m : S.n)), no_x(xh.size(), NotANumber), no_z((size_t)(transpose ? S.n : S.m), NotANumber);
      const Array<SysScalar>       late_a(S.a), late_x(xh);
      const Array<int>             late_j(S.j);
      Vector                       x(no_x, 0), z(no_z, 0);
      std::vector<SysScalar>       result;
      Shape                        early = S;

      std::fill(early.a.begin(), early.a.end(), NotANumber);
      Matrix M(early, {3, 0, 0, 0, SYS_VALUES_DOUBLE});

      if (what && !M.Create()) return false;
      if (transpose && !M.Mult(true, 1, x.Data(), 0, nullptr, z.Data())) return false;
      if (!what) CallCuda(cudaMemsetAsync(M.j.data, 0, M.j.size * sizeof(int), stream));
      CallCuda(cudaStreamSynchronize(stream));
      Wait<<<1, 1, 0, stream>>>(20000000);
      CallCuda(cudaGetLastError());
      CallCuda(cudaMemcpyAsync(M.j.data, late_j.data, M.j.size * sizeof(int), cudaMemcpyDeviceToDevice, stream));
      CallCuda(cudaMemcpyAsync(M.a.data, late_a.data, M.a.size * sizeof(SysScalar), cudaMemcpyDeviceToDevice, stream));
      CallCuda(cudaMemcpyAsync(x.Data(), late_x.data, late_x.size * sizeof(SysScalar), cudaMemcpyDeviceToDevice, stream));
      if (!(what ? M.Update() : M.Create()) || !M.Mult(transpose, 1, x.Data(), 0, nullptr, z.Data()) || !z.Get(result)) return false;
      good = Compare(M.Where(), Reference(S, S.a, transpose, xh), 1, 0, {}, result) && good;
    }
  }
  return good;
}

/* Products, transposed products and updates that read what the one before them wrote give the same bits, whether the host waits for each or not */
static bool Chains(const std::vector<Shape> &shapes)
{
  bool good = true;

  for (const Shape &S : shapes) {
    if (S.name != "runs" && S.name != "hub rows" && S.name != "3-blocks on a grid" && S.name != "power law") continue;
    for (int b = 0; b <= 3; b += small ? 3 : 1) {
      Matrix                       M(S, {b, 0, 0, 0, SYS_VALUES_DOUBLE});
      const std::vector<SysScalar> xh = RandomVector((size_t)S.n), zh = RandomVector((size_t)S.m);
      const Array<SysScalar>       x0(xh), z0(zh), other_a(RandomVector(S.a.size())), first_a(S.a);
      Vector                       x(xh, 0), z(zh, 0);
      std::vector<SysScalar>       rx[2], rz[2];

      if (!M.Create()) return false;
      for (int waits = 0; waits < 2; waits++) {
        auto step = [&](bool called) {
          if (waits) CallCuda(cudaStreamSynchronize(stream));
          return called;
        };

        for (int k = 0; k < (small ? 20 : 200); k++) {
          if (k % 10 == 0) { /* before it becomes too large */
            CallCuda(cudaMemcpyAsync(x.Data(), x0.data, x0.size * sizeof(SysScalar), cudaMemcpyDeviceToDevice, stream));
            CallCuda(cudaMemcpyAsync(z.Data(), z0.data, z0.size * sizeof(SysScalar), cudaMemcpyDeviceToDevice, stream));
          }
          if (k % 7 == 6) {
            CallCuda(cudaMemcpyAsync(M.a.data, (k % 2 ? first_a : other_a).data, M.a.size * sizeof(SysScalar), cudaMemcpyDeviceToDevice, stream));
            if (!step(M.Update())) return false;
          }
          if (!step(M.Mult(false, (SysScalar).05, x.Data(), (SysScalar).5, z.Data(), z.Data()))) return false;
          if (k % 3 == 0 && !step(M.Mult(false, (SysScalar).05, x.Data(), (SysScalar).5, z.Data(), z.Data()))) return false;
          if (!step(M.Mult(true, (SysScalar).05, z.Data(), (SysScalar).5, x.Data(), x.Data()))) return false;
        }
        CallCuda(cudaMemcpyAsync(M.a.data, first_a.data, M.a.size * sizeof(SysScalar), cudaMemcpyDeviceToDevice, stream));
        if (!step(M.Update()) || !x.Get(rx[waits]) || !z.Get(rz[waits])) return false;
      }
      if (memcmp(rx[0].data(), rx[1].data(), rx[0].size() * sizeof(SysScalar)) || memcmp(rz[0].data(), rz[1].data(), rz[0].size() * sizeof(SysScalar))) good = Complain(M.Where(), "a chain of products gives other bits when the host waits for each");
    }
  }
  return good;
}

/* Rows that are out of order, or have a column twice, are refused wherever they are, and leave nothing behind */
static bool Refused(const std::vector<Shape> &)
{
  const struct {
    const char *name;
    int         row, at, column; /* at: counted from the end of the row if negative */
  } positions[] = {
    {"the first row, disordered",   0,   0,    9   },
    {"the first row, repeated",     0,   1,    0   },
    {"the last row, disordered",    999, -1,   0   },
    {"the last row, repeated",      999, -2,   19  },
    {"a row in the middle",         500, 3,    2   },
    {"the end of a chunk",          31,  -1,   3   },
    {"the beginning of a chunk",    32,  0,    5   },
    {"a long row, in the middle",   777, 2048, 1   },
    {"a long row, repeated",        777, 1024, 1023},
    {"a long row, its last entry",  777, -1,   3   },
    {"a long row, its first entry", 777, 0,    100 }
  };
  const Shape S    = MakeShape("refused", false, 1000, 5000, [](int r, std::vector<int> &cols) { Run(cols, 0, r == 777 ? 5000 : 20); });
  bool        good = true;

  for (int pass = 0; pass < 2; pass++) { /* the first makes CUDA take what memory it needs for itself */
    for (int b : {0, 1, 3, 10}) {
      for (const auto &p : positions) {
        Shape         bad = S;
        AmbDeviceInfo info;
        AmbDevice    *A = nullptr;
        SysStatus     status;
        size_t        before;

        bad.j[(size_t)((p.at < 0 ? S.i[p.row + 1] : S.i[p.row]) + p.at)] = p.column;
        Matrix       M(bad, {b, 0, 0, b == 0, SYS_VALUES_DOUBLE});
        const SysCSR csr = M.CSR();

        before = FreeMemory();
        status = AmbDeviceCreate(&csr, &M.params, stream, &A, &info);
        if (status != SYS_NOT_ASCENDING) good = Complain(M.Where(), Text("%s: status %d", p.name, (int)status));
        if (A) good = Complain(M.Where(), Text("%s: there is a matrix", p.name));
        if (pass && !small && FreeMemory() != before) good = Complain(M.Where(), Text("%s: memory is left behind", p.name)); /* small ones run beside others */
        AmbDeviceDestroy(A);
      }
    }
  }
  return good;
}

/* Shapes, values, launches and vectors by chance */
static bool RandomShapes(const std::vector<Shape> &)
{
  bool good = true;

  for (int k = 0; k < (small ? 8 : 200); k++) {
    seed                       = 0x9E3779B97F4A7C15ULL * (uint64_t)(k + 1);
    const int             most = small ? 300 : 5000, m = RandomBelow(most) + 1, n = RandomBelow(RandomBelow(4) ? most : 60 * most) + 1, runs = RandomBelow(20), length = 1 + RandomBelow(RandomBelow(3) ? 4 : 40), far = RandomBelow(3);
    const AmbDeviceParams params = {RandomBelow(11), RandomBelow(2) * (64 << RandomBelow(3)), RandomBelow(2) * (1 + RandomBelow(64)), RandomBelow(2), SYS_VALUES_DOUBLE};
    const Shape           S      = MakeShape(Text("random shape %d", k), false, m, n, [=](int r, std::vector<int> &cols) {
      Runs(n, runs, length)(r, cols);
      if (far) Run(cols, (int64_t)r * n / m - 2, RandomBelow(5));
      if (far == 2 && RandomBelow(m) == 0) Run(cols, RandomBelow(n), n);
    });
    Matrix                M(S, params);

    seed                           = 0x2545F4914F6CDD1DULL * (uint64_t)(k + 1);
    const std::vector<SysScalar> a = RandomVector(S.a.size());

    if (!M.Create() || !CheckProducts(M, S.a, false, 0, true, "")) good = false;
    else if (!CheckProducts(M, S.a, k % 2, 1 + RandomBelow(5), false, ", x not finite")) good = false;
    else {
      M.a.Upload(a);
      good = M.Update() && CheckProducts(M, a, k % 4 == 1, 0, false, ", new values") && good;
    }
  }
  return good;
}

/* All memory of the device that is free, some of it in pieces that are given back one by one */
struct Hoard {
  std::vector<void *> pieces;

  Hoard()
  {
    void *p;

    SysPoolTrim();
    for (int k = 0; k < 96 && cudaMalloc(&p, (size_t)8 << 20) == cudaSuccess; k++) pieces.push_back(p);
    loose = pieces.size();
    for (size_t size = (size_t)64 << 30; size >= 4096; size /= 2) {
      while (cudaMalloc(&p, size) == cudaSuccess) pieces.push_back(p);
    }
    (void)cudaGetLastError();
  }
  Hoard(const Hoard &)            = delete;
  Hoard &operator=(const Hoard &) = delete;
  ~Hoard()
  {
    for (void *p : pieces) cudaFree(p);
  }
  bool Release()
  {
    if (!loose) return false;
    CallCuda(cudaFree(pieces[--loose]));
    pieces.erase(pieces.begin() + (ptrdiff_t)loose);
    return true;
  }

private:
  size_t loose;
};

/* An allocation besides the pool succeeds though the pool holds the memory, unused */
static bool PoolGivesWay()
{
  const size_t available = FreeMemory();
  void        *p;

  if (SysPoolAllocate(available / 5 * 3, &p, stream)) return Complain("the pool", SysDeviceErrorText());
  SysPoolRelease(p, stream);
  CallCuda(cudaStreamSynchronize(stream));
  if (SysDeviceAllocate(&p, available / 5 * 3)) return Complain("beside the pool", SysDeviceErrorText());
  CallCuda(cudaFree(p));
  return cudaGetLastError() == cudaSuccess || Complain("beside the pool", "CUDA's error is left behind");
}

/* What does not fit is refused, leaves nothing behind and nothing broken, and works once there is room */
static bool OutOfMemory(const std::vector<Shape> &)
{
  const Shape            S  = MakeShape("27-point stencil", false, 60 * 60 * 40, 60 * 60 * 40, Stencil(60, 60, 40, false, 1));
  std::vector<SysScalar> xh = RandomVector((size_t)S.n), nothing((size_t)S.m, NotANumber), result;
  const Sums             R = Reference(S, S.a, false, xh), T = Reference(S, S.a, true, xh);
  Vector                 x(xh, 0), z(nothing, 0);

  if (!PoolGivesWay()) return false;
  for (int measure = 0; measure < 2; measure++) {
    Matrix       M(S, {measure ? 0 : 3, 0, 0, measure, SYS_VALUES_DOUBLE});
    const SysCSR csr = M.CSR();

    auto right = [&](bool transpose, const char *when) {
      z.Set(nothing);
      return M.Mult(transpose, 1, x.Data(), 0, nullptr, z.Data()) && z.Get(result) && Compare(M.Where() + when, transpose ? T : R, 1, 0, {}, result);
    };
    /* Calls again and again with ever more memory; with less, nothing may change */
    auto tries = [&](const char *what, const std::function<SysStatus()> &call, const std::function<bool()> &unchanged) {
      Hoard hoard;

      for (int refused = 0;; refused++) {
        const size_t    before = FreeMemory();
        const SysStatus status = call();

        if (status == SYS_SUCCESS) return refused || Complain(M.Where(), Text("%s worked without memory", what));
        if (status != SYS_OUT_OF_MEMORY) return Complain(M.Where(), Text("%s without memory: status %d, %s", what, (int)status, SysDeviceErrorText()));
        if (!SysDeviceErrorText()[0]) return Complain(M.Where(), Text("%s without memory does not say what failed", what));
        if (FreeMemory() != before) return Complain(M.Where(), Text("%s without memory has left some behind", what));
        if (cudaGetLastError() != cudaSuccess) return Complain(M.Where(), Text("%s without memory has left CUDA's error behind", what));
        if (!unchanged()) return false;
        if (!hoard.Release()) return Complain(M.Where(), Text("%s does not work with 768 MiB", what));
      }
    };

    /* once with room, for what CUDA takes for itself */
    if (!M.Create() || !right(false, "") || !right(true, "")) return false;
    AmbDeviceDestroy(M.A);
    M.A = nullptr;
    if (!tries(
          "conversion", [&] { return AmbDeviceCreate(&csr, &M.params, stream, &M.A, &M.info); }, [&] { return !M.A || Complain(M.Where(), "there is a matrix without memory"); }))
      return false;
    if (!right(false, ", after a conversion that ran out of memory")) return false;
    if (!tries(
          "the transposed product", [&] { return AmbDeviceMultTranspose(M.A, &csr, 1, x.Data(), 0, nullptr, z.Data(), stream); }, [&] { return right(false, ", after a transposed product that ran out of memory"); }))
      return false;
    if (!right(true, ", after it ran out of memory") || !right(false, ", after all")) return false;
  }
  return true;
}

static bool MemoryGivenBack(const std::vector<Shape> &shapes)
{
  bool good = true;

  for (const Shape &S : shapes) {
    size_t before = 0;

    for (int pass = 0; pass < 20; pass++) { /* small pieces show after some repetitions */
      Matrix M(S, {pass % 4 ? pass % 11 : 0, 0, 0, pass % 4 == 0, SYS_VALUES_DOUBLE});

      if (pass == 4) before = FreeMemory();
      if (!M.Create() || !CheckProducts(M, S.a, pass % 2, 0, false, "") || !M.Update()) return false;
      AmbDeviceDestroy(M.A);
      M.A = nullptr;
      AmbDeviceDestroy(M.A);
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
    {"products",            Products          },
    {"transposed products", TransposedProducts},
    {"launches",            Launches          },
    {"new values",          NewValues         },
    {"storages",            Storages          },
    {"stencils",            Stencils          },
    {"not finite",          NotFinite         },
    {"same bits",           SameBits          },
    {"with sums",           WithSums          },
    {"stream order",        StreamOrder       },
    {"chains",              Chains            },
    {"live",                Live              },
    {"refused",             Refused           },
    {"random shapes",       RandomShapes      },
    {"out of memory",       OutOfMemory       },
    {"memory given back",   MemoryGivenBack   }
  };

  return RunProgram(groups, MakeShapes, argc, argv);
}
