/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Sweeps of SOR by color on the device, against those of the host from the same plan, without PETSc

     sordevice [small] GROUP...     runs groups of tests; small leaves out large matrices, for tools that slow everything down

   Prints "ok GROUP" or "not ok GROUP", before it what was wrong. Exit code 77: there is no device.
*/
#include "mat/factor/cuda/sorcuda.h"
#include "devicetest.h"

struct Matrix {
  std::string name;
  int         bs = 1;
  Rows        A;

  /* Rows are dominated by the diagonal */
  void Values(double times)
  {
    for (int r = 0; r < A.m; r++) {
      const int begin = A.i[(size_t)r], end = A.i[(size_t)r + 1];

      for (int k = begin; k < end; k++) A.a[(size_t)k] = (SysScalar)(A.j[(size_t)k] == r ? 2.0 * times : times * (double)RandomScalar() / (end - begin));
    }
  }
  SysCSR Host() const { return SysCSR{A.m, A.n, (int64_t)A.j.size(), A.i.data(), A.j.data(), A.a.data()}; }
};

static Matrix MakeMatrix(const char *name, int n, int bs, const RowMaker &make)
{
  Matrix M;

  M.name = name;
  M.bs   = bs;
  M.A    = MakeRows(n, n, [&](int r, std::vector<int> &cols) {
    make(r, cols);
    cols.push_back(r);
  });
  M.Values(1);
  return M;
}

static std::vector<Matrix> MakeMatrices()
{
  std::vector<Matrix> all;

  all.push_back(MakeMatrix("one row", 1, 1, Runs(1, 1, 1)));
  all.push_back(MakeMatrix("diagonal", 33, 1, Runs(33, 0, 1)));
  all.push_back(MakeMatrix("5 points", 19 * 23, 1, Stencil(19, 23, 1, true, 1)));
  all.push_back(MakeMatrix("27 points", 7 * 6 * 5, 1, Stencil(7, 6, 5, false, 1)));
  all.push_back(MakeMatrix("dense", 90, 1, Runs(90, 3, 90)));
  all.push_back(MakeMatrix("scattered", 1000, 1, Runs(1000, 3, 2)));
  all.push_back(MakeMatrix("long rows", 700, 1, PowerLaw(700)));
  for (int bs = 2; bs <= 16; bs += bs < 8 ? 1 : 4) all.push_back(MakeMatrix(Text("blocks of %d", bs).c_str(), 5 * 4 * 3 * bs, bs, Stencil(5, 4, 3, bs % 2, bs)));
  if (!small) {
    all.push_back(MakeMatrix("5 points, large", 300 * 310, 1, Stencil(300, 310, 1, true, 1)));
    all.push_back(MakeMatrix("27 points, large", 40 * 41 * 42, 1, Stencil(40, 41, 42, false, 1)));
    all.push_back(MakeMatrix("blocks of 3, large", 20 * 21 * 22 * 3, 3, Stencil(20, 21, 22, false, 3)));
    all.push_back(MakeMatrix("blocks of 4, large", 20 * 21 * 22 * 4, 4, Stencil(20, 21, 22, true, 4)));
    all.push_back(MakeMatrix("long rows, large", 20000, 1, Runs(20000, 8, 40)));
  }
  return all;
}

/* A matrix on the device, and both layouts */
struct Sweeper {
  Matrix           M;
  Array<int>       i, j;
  Array<SysScalar> a;
  SORHost          host   = nullptr;
  SORDevice        device = nullptr;
  SysStatus        status;
  bool             colored;

  explicit Sweeper(const Matrix &M_) : M(M_), i(M.A.i), j(M.A.j), a(M.A.a)
  {
    const SysCSR csr = M.Host(), on = Device();
    SORPlan      plan;

    status  = SORPlanCreate(&csr, M.bs, &plan);
    colored = plan.colors > 0;
    if (!colored) return;
    if (status == SYS_SUCCESS) status = SORDeviceCreate(&plan, &on, &device, stream);
    if (status == SYS_SUCCESS) status = SORHostCreate(&csr, &plan, &host);
    SORPlanDestroy(&plan);
    if (status == SYS_SUCCESS) status = Update();
  }
  Sweeper(const Sweeper &)            = delete;
  Sweeper &operator=(const Sweeper &) = delete;
  ~Sweeper()
  {
    SORDeviceDestroy(&device);
    SORHostDestroy(&host);
  }
  SysCSR    Device() const { return SysCSR{M.A.m, M.A.n, (int64_t)M.A.j.size(), i.data, j.data, a.data}; }
  SysStatus Update()
  {
    const SysCSR csr = M.Host(), on = Device();

    a.Upload(M.A.a);
    SORHostUpdate(host, &csr);
    return SORDeviceUpdate(device, &on, stream);
  }
};

static std::vector<SysScalar> RandomVector(size_t n)
{
  std::vector<SysScalar> v(n);

  for (auto &x : v) x = RandomScalar();
  return v;
}

static bool Near(const std::string &name, const std::vector<SysScalar> &got, const std::vector<SysScalar> &x)
{
  for (size_t r = 0; r < x.size(); r++) {
    if (!(std::fabs((double)got[r] - (double)x[r]) <= 1000 * (double)Eps)) return Complain(name, Text("entry %d is %g, not %g", (int)r, (double)got[r], (double)x[r]));
  }
  return true;
}

/* One kind of sweep: on both sides, again, and with a result of several vectors */
static bool Sweep(Sweeper &S, const SORSweep &sweep, const std::string &name)
{
  const size_t           n = (size_t)S.M.A.m;
  std::vector<SysScalar> b = RandomVector(n), x = RandomVector(n), p = RandomVector(n), got, again;
  const SORResult        plain = {1, 0, 0, NULL, NULL};
  Array<SysScalar>       B(b), X(x), P(p);
  const SORResult        sums = {(SysReal)0.5, 2, -1, P.data, X.data};
  const auto             from = x;

  if (SORDeviceSweep(S.device, &sweep, &plain, B.data, X.data, stream) != SYS_SUCCESS) return Complain(name, SysDeviceErrorText());
  got = X.Download();
  X.Upload(from);
  if (SORDeviceSweep(S.device, &sweep, &plain, B.data, X.data, stream) != SYS_SUCCESS) return Complain(name, SysDeviceErrorText());
  again = X.Download();
  if (memcmp(got.data(), again.data(), n * sizeof(SysScalar))) return Complain(name, "other bits the second time");
  SORHostSweep(S.host, &sweep, b.data(), x.data());
  if (!Near(name, got, x)) return false;
  if (!sweep.zero) return true;
  X.Upload(from);
  if (SORDeviceSweep(S.device, &sweep, &sums, B.data, X.data, stream) != SYS_SUCCESS) return Complain(name, SysDeviceErrorText());
  for (size_t r = 0; r < n; r++) x[r] = (SysScalar)(0.5 * (double)x[r] + 2 * (double)p[r] - (double)from[r]);
  return Near(name + ", result of several vectors", X.Download(), x);
}

static bool Kinds(Sweeper &S, const std::string &name)
{
  bool good = true;

  for (int omega = 0; omega < 2; omega++) {
    const SysReal factor = omega ? (SysReal)1.25 : 1, shift = omega ? (SysReal)0.5 : 0;
    const SysCSR  csr = S.M.Host(), on = S.Device();
    int           singular;

    if (SORDeviceSetDiagonal(S.device, &on, factor, shift, &singular, stream) != SYS_SUCCESS) return Complain(name, SysDeviceErrorText());
    if (singular || SORHostSetDiagonal(S.host, &csr, factor, shift)) return Complain(name, "the diagonal is singular");
    for (int k = 1; k < 4; k++) {
      for (int zero = 0; zero < 2; zero++) {
        for (int its = 1; its <= 3; its += 2) {
          const SORSweep sweep = {k & 1, k >> 1, zero, its, factor};

          good = Sweep(S, sweep, name + Text(", %d %d %d %d %g", k & 1, k >> 1, zero, its, (double)factor)) && good;
        }
      }
    }
  }
  return good;
}

static bool Each(const std::vector<Matrix> &matrices, const std::function<bool(Sweeper &, const std::string &)> &test)
{
  bool good = true;

  for (const Matrix &M : matrices) {
    Sweeper S(M);

    if (S.status != SYS_SUCCESS) good = Complain(M.name, SysDeviceErrorText());
    else if (!S.colored) good = Complain(M.name, "there are too many colors");
    else good = test(S, M.name) && good;
  }
  return good;
}

static bool Sweeps(const std::vector<Matrix> &matrices)
{
  return Each(matrices, Kinds);
}

static bool NewValues(const std::vector<Matrix> &matrices)
{
  return Each(matrices, [](Sweeper &S, const std::string &name) {
    S.M.Values(2);
    if (S.Update() != SYS_SUCCESS) return Complain(name, SysDeviceErrorText());
    return Kinds(S, name);
  });
}

/* Zeros on the diagonal are found, and without omega 1 and with a shift they do not matter */
static bool Singular(const std::vector<Matrix> &matrices)
{
  return Each(matrices, [](Sweeper &S, const std::string &name) {
    const int    r  = S.M.A.m / 2;
    const SysCSR on = S.Device();
    int          singular[2];

    for (int k = S.M.A.i[(size_t)r]; k < S.M.A.i[(size_t)r + 1]; k++) {
      if (S.M.A.j[(size_t)k] == r) S.M.A.a[(size_t)k] = 0;
    }
    if (S.Update() != SYS_SUCCESS) return Complain(name, SysDeviceErrorText());
    if (SORDeviceSetDiagonal(S.device, &on, 1, 0, &singular[0], stream) != SYS_SUCCESS) return Complain(name, SysDeviceErrorText());
    if (SORDeviceSetDiagonal(S.device, &on, 1, 3, &singular[1], stream) != SYS_SUCCESS) return Complain(name, SysDeviceErrorText());
    return singular[0] && !singular[1] ? true : Complain(name, Text("singular: %d, with a shift %d", singular[0], singular[1]));
  });
}

int main(int argc, char **argv)
{
  const Group<std::vector<Matrix>> groups[] = {
    {"sweeps",     Sweeps   },
    {"new values", NewValues},
    {"singular",   Singular }
  };

  return RunProgram(groups, MakeMatrices, argc, argv);
}
