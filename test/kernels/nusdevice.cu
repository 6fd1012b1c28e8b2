/* SPDX-License-Identifier: BSD-2-Clause */
/*
   NUS-SELL on a CUDA device against sums on the host, without PETSc: shapes and segments of all kinds, new values, what must be refused, and what
   must be given back.

     nusdevice [small] GROUP...     runs groups of tests; small leaves out large shapes, for tools that slow everything down

   Prints "ok GROUP" or "not ok GROUP", before it what was wrong. Exit code 77: there is no device.
*/
#include "devicevectors.h"
#include "mat/impls/nus/cuda/nuscuda.h"

typedef NamedRows Shape;

static const NusParams cases[] = {
  {NUS_NONE,       NUS_SELL, 0, 0, {0, 0},      {0, 0},   SYS_VALUES_DOUBLE},
  {NUS_UNIFORM,    NUS_SELL, 0, 0, {0, 1000},   {0, 0},   SYS_VALUES_DOUBLE},
  {NUS_UNIFORM,    NUS_SELL, 0, 0, {0, 300000}, {0, 0},   SYS_VALUES_DOUBLE},
  {NUS_NONUNIFORM, NUS_SELL, 0, 0, {5, 40},     {3, 2},   SYS_VALUES_DOUBLE},
  {NUS_NONUNIFORM, NUS_SELL, 0, 0, {64, 300},   {1, 0},   SYS_VALUES_DOUBLE},
  {NUS_NONUNIFORM, NUS_SELL, 0, 0, {0, 0},      {1, 1},   SYS_VALUES_DOUBLE},
  {NUS_NONUNIFORM, NUS_SELL, 0, 0, {1, 7},      {40, 60}, SYS_VALUES_DOUBLE},
  {NUS_NONUNIFORM, NUS_SELL, 0, 0, {0, 0},      {-1, -1}, SYS_VALUES_DOUBLE}
};
#define NCASES (sizeof(cases) / sizeof(*cases))

/* A shape on the device, and what was made of it */
struct Matrix : DeviceRows {
  NusParams     params;
  NusDeviceTune tune;
  NusDevice    *A = nullptr;
  NusDeviceInfo info;

  Matrix(const Shape &shape, const NusParams &p, NusDeviceTune how) : DeviceRows(shape), params(p), tune(how) { }
  ~Matrix() { NusDeviceDestroy(A); }
  Matrix      Again() const { return {S, params, NUS_DEVICE_MODEL}; }
  std::string Where() const
  {
    return Text("%s, segmentation %d, %d x %d + %d x %d%s", S.name.c_str(), (int)params.segmentation, (int)params.count[0], (int)params.width[0], (int)params.count[1], (int)params.width[1], tune == NUS_DEVICE_MODEL ? "" : (tune == NUS_DEVICE_MEASURE ? ", measured" : ", all tried"));
  }
  bool Called(const char *what, SysStatus status) const { return status == SYS_SUCCESS || Complain(Where(), Text("%s returned %d, %s", what, (int)status, SysDeviceErrorText())); }
  bool Create()
  {
    const SysCSR csr = CSR();

    if (!Called("conversion", NusDeviceCreate(&csr, &params, tune, stream, &A, &info))) return false;
    if (info.layout.stored_values < (double)S.j.size() || (params.values == SYS_VALUES_DOUBLE && info.layout.bytes_stored < info.layout.stored_values * sizeof(SysScalar))) return Complain(Where(), "it stores less than the matrix has");
    if (info.gathered > info.params.width[0] * info.params.count[0] + info.params.width[1] * info.params.count[1] || info.gathered > S.n) return Complain(Where(), "it gathers more than was asked for");
    if ((tune == NUS_DEVICE_EXHAUSTIVE && !S.j.empty()) != (info.layout.tried > 0) && tune != NUS_DEVICE_MEASURE) return Complain(Where(), Text("%d products were tried", (int)info.layout.tried));
    return true;
  }
  bool Update()
  {
    const SysCSR csr = CSR();

    return Called("update", NusDeviceUpdate(A, &csr, stream));
  }
  bool Mult(bool transpose, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z) const
  {
    const SysCSR csr = CSR();

    return Called(transpose ? "transposed product" : "product", (transpose ? NusDeviceMultTranspose : NusDeviceMult)(A, &csr, alpha, x, beta, y, z, stream));
  }
};

typedef std::function<bool(Matrix &, size_t)> Test;

static bool ForAll(const std::vector<Shape> &shapes, const Test &test)
{
  bool good = true;

  for (size_t s = 0; s < shapes.size(); s++) {
    for (size_t c = 0; c < NCASES; c++) {
      if (cases[c].segmentation == NUS_UNIFORM && shapes[s].n > 255 * cases[c].width[1]) continue; /* more segments than there can be */
      if (small && (s + c) % 3) continue;
      Matrix M(shapes[s], cases[c], (NusDeviceTune)((s + c) % 3));

      seed = 0x2545F4914F6CDD1DULL + s * 1000 + c;
      good = M.Create() && test(M, s + c) && good;
    }
  }
  return good;
}

static bool NewValues(const std::vector<Shape> &shapes)
{
  return ForAll(shapes, [](Matrix &M, size_t turn) {
    const std::vector<SysScalar> a = RandomVector(M.S.a.size());

    if (turn % 2 && !CheckProducts(M, M.S.a, true, 0, "")) return false;
    M.a.Upload(a);
    if (!M.Update() || !CheckProducts(M, a, false, 0, ", new values") || !CheckProducts(M, a, true, 0, ", new values")) return false;
    M.a.Upload(M.S.a);
    return M.Update() && CheckProducts(M, M.S.a, turn % 2, 0, ", the first values again");
  });
}

/* Values that are stored in another way give the bits that they give as they are, in every kind of segments, with few and with many values */
static bool Storages(const std::vector<Shape> &shapes)
{
  static const int       distinct[] = {1, 3, 255, 256};
  static const SysValues asked[]    = {SYS_VALUES_EXACT, SYS_VALUES_TABLE, SYS_VALUES_SINGLE};
  bool                   good       = true;
  int                    turn       = 0;

  for (const Shape &S : shapes) {
    if (S.a.size() < 1000 || S.a.size() > 60000) continue;
    for (size_t c = 0; c < NCASES; c++, turn++) {
      const SysValues              values = asked[turn % 3];
      const int                    few    = distinct[turn / 3 % 4];
      const std::vector<SysScalar> many   = RandomVector(S.a.size());
      NusParams                    params = cases[c];
      Shape                        mine   = S;

      if (params.segmentation == NUS_UNIFORM && S.n > 255 * params.width[1]) continue;
      mine.name = Text("%s, values %d, %d distinct", S.name.c_str(), (int)values, few);
      mine.a    = FewValues(S.a.size(), few, turn % 2);
      Matrix plain(mine, params, NUS_DEVICE_MODEL);
      params.values = values;
      Matrix M(mine, params, NUS_DEVICE_MODEL);

      if (!M.Create() || !plain.Create()) return false;
      for (int change = 0; change < 3; change++) {
        std::vector<SysScalar> a = change % 2 ? many : mine.a;
        NusDeviceInfo          info;

        M.a.Upload(a);
        if (change && !M.Update()) return false;
#if defined(SYS_HAVE_STORAGE_SINGLE)
        if (values == SYS_VALUES_SINGLE) {
          for (SysScalar &v : a) v = (SysScalar)(float)v;
        }
#endif
        plain.a.Upload(a);
        if (!plain.Update()) return false;
        if (values == SYS_VALUES_SINGLE) M.a.Upload(a); /* rows with a NaN are computed from these */
        NusDeviceGetInfo(M.A, &info);
        if (values == SYS_VALUES_TABLE && change % 2 == 0 && few < 256 && info.layout.stored != SYS_STORAGE_PLACES) good = Complain(M.Where(), Text("storage %d after %d changes", (int)info.layout.stored, change));
#if defined(SYS_HAVE_STORAGE_SINGLE)
        if (values == SYS_VALUES_SINGLE && info.layout.stored != SYS_STORAGE_SINGLE) good = Complain(M.Where(), "values are not rounded");
        if (values == SYS_VALUES_SINGLE && change % 2 && info.layout.exact) good = Complain(M.Where(), "rounded values call themselves exact");
#endif
        if (values != SYS_VALUES_SINGLE && !info.layout.exact) good = Complain(M.Where(), "an exact storage calls itself not exact");
        good = SameAs(M, plain, false, Text("after %d changes", change)) && good;
        if (turn % 4 == 1) good = SameAs(M, plain, true, Text("after %d changes", change)) && good;
      }
    }
  }
  return good;
}

/* Columns by chance, segments by chance */
static bool RandomShapes(const std::vector<Shape> &)
{
  bool good = true;

  for (int k = 0; k < (small ? 6 : 100); k++) {
    seed        = 0x9E3779B97F4A7C15ULL * (uint64_t)(k + 1);
    const int m = RandomBelow(small ? 300 : 5000) + 1, n = RandomBelow(RandomBelow(4) ? 5000 : 200000) + 1, runs = RandomBelow(20), length = 1 + RandomBelow(5);
    NusParams p = {
      k % 4 ? NUS_NONUNIFORM : NUS_UNIFORM, NUS_SELL, 0, 0, {1 + RandomBelow(n), 1 + n / 200 + RandomBelow(n)},
                {RandomBelow(4),     RandomBelow(4)              },
                k % 3 == 2 ? SYS_VALUES_EXACT : SYS_VALUES_DOUBLE
    };
    Shape S;

    static_cast<Rows &>(S) = MakeRows(m, n, k % 3 ? Runs(n, runs, length) : PowerLaw(n));
    S.name                 = Text("random shape %d", k);
    Matrix M(S, p, (NusDeviceTune)(k % 3));

    good = M.Create() && CheckProducts(M, S.a, false, 0, "") && CheckProducts(M, S.a, k % 5 == 0, 3, ", x not finite") && good;
  }
  return good;
}

/* Segments where x is larger than the second-level cache and read everywhere, none where its entries are in few columns, it fits, or rows read what the rows before have
   read */
static bool Chosen(const std::vector<Shape> &)
{
  const NusParams open = {
    NUS_NONUNIFORM, NUS_SELL, 0, 0, {0,  0 },
        {-1, -1},
        SYS_VALUES_DOUBLE
  };
  const bool single = sizeof(SysScalar) < sizeof(double);
  int        device, l2;
  bool       good = true;

  if (cudaGetDevice(&device) != cudaSuccess || cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, device) != cudaSuccess) return Complain("the device", "its cache is not known");
  for (int k = 0; k < 4; k++) {
    const int   n      = (int)((k == 2 ? 0.5 : 0.8) * l2 / sizeof(SysScalar));
    const char *what[] = {"x read everywhere", "x read in few places", "x in the cache", "x read in its order"};
    Shape       S;

    static_cast<Rows &>(S) = MakeRows(n / 16, n, [&](int r, std::vector<int> &cols) {
      if (k == 1) Run(cols, RandomBelow(n / 100), 16);
      else if (k == 3) Run(cols, 16 * r, 16);
      for (int e = 0; k % 2 == 0 && e < 16; e++) cols.push_back((int)((16 * (int64_t)r + e) * 1000003 % n)); /* each column once, a prime number apart */
    });
    S.name                 = what[k];
    for (NusDeviceTune tune : {NUS_DEVICE_MODEL, NUS_DEVICE_MEASURE, NUS_DEVICE_EXHAUSTIVE}) {
      Matrix M(S, open, tune);

      if (!M.Create() || !CheckProducts(M, S.a, tune == NUS_DEVICE_MODEL, 0, "")) return false;
      if (tune == NUS_DEVICE_MODEL && (M.info.segments > 1) != (k == 0 && !single)) good = Complain(M.Where(), Text("%d segments", (int)M.info.segments));
      if (tune == NUS_DEVICE_MEASURE && k && M.info.segments > 1) good = Complain(M.Where(), "segments were tried");
    }
  }
  return good;
}

static bool Refused(const std::vector<Shape> &)
{
  Shape S;
  bool  good = true;

  static_cast<Rows &>(S) = MakeRows(100, 5000, [](int r, std::vector<int> &cols) { Run(cols, r, 20); });
  S.name                 = "refused";
  for (int pass = 0; pass < 2; pass++) { /* the first makes CUDA take what memory it needs for itself */
    for (int k = 0; k < 4; k++) {
      const NusParams p[] = {
        {NUS_UNIFORM,    NUS_SELL, 0, 0, {0, 19},  {0, 0},     SYS_VALUES_DOUBLE},
        {NUS_NONUNIFORM, NUS_SELL, 0, 0, {1, 1},   {200, 100}, SYS_VALUES_DOUBLE},
        {NUS_NONUNIFORM, NUS_SELL, 0, 0, {10, 10}, {1, 1},     SYS_VALUES_DOUBLE},
        {NUS_UNIFORM,    NUS_SELL, 0, 0, {0, 999}, {0, 0},     SYS_VALUES_DOUBLE}
      };
      Shape     bad = S;
      size_t    before;
      SysStatus status;

      if (k > 1) std::swap(bad.j[(size_t)bad.i[50]], bad.j[(size_t)bad.i[50] + 1]);
      Matrix       M(bad, p[k], NUS_DEVICE_MODEL);
      const SysCSR csr = M.CSR();

      before = FreeMemory();
      status = NusDeviceCreate(&csr, &M.params, M.tune, stream, &M.A, &M.info);
      if (status != (k > 1 ? SYS_NOT_ASCENDING : SYS_TOO_LARGE)) good = Complain(M.Where(), Text("status %d", (int)status));
      if (M.A) good = Complain(M.Where(), "there is a matrix");
      if (pass && FreeMemory() != before) good = Complain(M.Where(), "memory is left behind");
    }
  }
  return good;
}

static bool MemoryGivenBack(const std::vector<Shape> &shapes)
{
  bool good = true;

  for (const Shape &S : shapes) {
    size_t before = 0;

    for (int pass = 0; pass < 12; pass++) {
      Matrix M(S, cases[pass % 2 ? 7 : 3 + pass / 2 % 3], pass % 4 == 1 ? NUS_DEVICE_EXHAUSTIVE : NUS_DEVICE_MODEL);

      if (pass == 4) before = FreeMemory();
      if (!M.Create() || !CheckProducts(M, S.a, pass % 2, 0, "") || !M.Update()) return false;
      NusDeviceDestroy(M.A);
      M.A = nullptr;
      NusDeviceDestroy(M.A);
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
    {"products",        Products<Matrix,   ForAll>},
    {"transposed products",                 TransposedProducts<Matrix,              ForAll>},
    {"new values",          NewValues             },
    {"storages",Storages  },
    {"not finite",           NotFinite<Matrix,                          ForAll>},
    {"same bits",SameBits<Matrix,ForAll>},
    {"random shapes",       RandomShapes                  },
    {"chosen",                 Chosen                   },
    {"refused",                 Refused        },
    {"memory given back",                 MemoryGivenBack      }
  };

  return RunProgram(groups, MakeNamedRows, argc, argv);
}
