/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Solves with the triangles of a factor on the device, against sums of long doubles on the host, without PETSc

     factordevice [small] GROUP...     runs groups of tests; small leaves out large matrices, for tools that slow everything down

   Prints "ok GROUP" or "not ok GROUP", before it what was wrong. Exit code 77: there is no device.
*/
#include "mat/factor/cuda/factorcuda.h"
#include "devicetest.h"

/* A factor: a matrix whose diagonal is apart, its entries followed by the diagonal's factors */
struct Factor {
  std::string            name;
  bool                   large = false; /* for one group of tests alone: the reference takes long */
  Rows                   A;
  std::vector<int>       begin[2], end[2], diagonal, source, target; /* of the lower and the upper triangle */
  std::vector<SysScalar> a;

  int  Number() const { return A.m; }
  void Values(int times)
  {
    const size_t nz = A.j.size();

    a.resize(nz + (size_t)A.m);
    for (int r = 0; r < A.m; r++) {
      const int length = A.i[(size_t)r + 1] - A.i[(size_t)r];

      for (int k = A.i[(size_t)r]; k < A.i[(size_t)r + 1]; k++) a[(size_t)k] = (SysScalar)((double)RandomScalar() * times / (1 + length));
      a[nz + (size_t)r] = (SysScalar)(0.75 + 0.25 * (double)RandomScalar());
    }
  }
};

static Factor MakeFactor(const char *name, int n, const RowMaker &make, bool permuted)
{
  Factor F;

  F.name = name;
  F.A    = MakeRows(n, n, make);
  for (int r = 0; r < n; r++) {
    int k = F.A.i[(size_t)r], end = F.A.i[(size_t)r + 1];

    F.begin[0].push_back(k);
    while (k < end && F.A.j[(size_t)k] < r) k++;
    F.end[0].push_back(k);
    if (k < end && F.A.j[(size_t)k] == r) k++;
    F.begin[1].push_back(k);
    F.end[1].push_back(end);
    F.diagonal.push_back((int)F.A.j.size() + r);
  }
  for (int p = 0; p < 2 && permuted; p++) {
    std::vector<int> &list = p ? F.target : F.source;

    for (int r = 0; r < n; r++) list.push_back(r);
    for (int r = n; r > 1; r--) std::swap(list[(size_t)r - 1], list[(size_t)RandomBelow(r)]);
  }
  F.Values(1);
  return F;
}

static std::vector<Factor> MakeFactors()
{
  std::vector<Factor> all;

  all.push_back(MakeFactor("one row", 1, Runs(1, 1, 1), false));
  all.push_back(MakeFactor("diagonal", 33, Runs(33, 0, 1), true));
  all.push_back(MakeFactor("chain", 200, Stencil(200, 1, 1, true, 1), false));
  all.push_back(MakeFactor("5 points", 19 * 23, Stencil(19, 23, 1, true, 1), false));
  all.push_back(MakeFactor("7 points", 9 * 8 * 7, Stencil(9, 8, 7, true, 1), true));
  all.push_back(MakeFactor("27 points", 7 * 6 * 5, Stencil(7, 6, 5, false, 1), false));
  all.push_back(MakeFactor("blocks of 3", 5 * 4 * 4 * 3, Stencil(5, 4, 4, false, 3), true));
  all.push_back(MakeFactor("dense", 90, Runs(90, 3, 90), false));
  all.push_back(MakeFactor("long rows", 700, PowerLaw(700), true));
  all.push_back(MakeFactor("scattered", 1000, Runs(1000, 3, 2), false));
  if (!small) {
    const size_t first = all.size();

    all.push_back(MakeFactor("5 points, large", 700 * 700, Stencil(700, 700, 1, true, 1), false));
    all.push_back(MakeFactor("7 points, large", 64 * 64 * 64, Stencil(64, 64, 64, true, 1), true));
    all.push_back(MakeFactor("27 points, large", 40 * 40 * 40, Stencil(40, 40, 40, false, 1), false));
    all.push_back(MakeFactor("blocks of 3, large", 20 * 20 * 20 * 3, Stencil(20, 20, 20, false, 3), false));
    all.push_back(MakeFactor("long rows, large", 100000, PowerLaw(100000), false));
    for (size_t k = first; k < all.size(); k++) all[k].large = true;
  }
  return all;
}

/* What is solved: with an LU factor, its transpose, or a factor of a symmetric matrix, whose upper triangle serves twice */
enum Kind {
  LU,
  TRANSPOSED,
  SYMMETRIC,
  KINDS
};

/* The solver on the device, and rows of both triangles for the reference */
struct Solver {
  const Factor &F;
  Kind          kind;
  FactorRows    rows[2], own[2] = {};
  FactorPair    pair   = {};
  FactorDevice  device = nullptr;
  SysStatus     status = SYS_SUCCESS;

  Solver(const Factor &F_, Kind kind_) : F(F_), kind(kind_)
  {
    for (int t = 0; t < 2; t++) {
      const int  part  = kind == LU ? t : kind == TRANSPOSED ? 1 - t : 1; /* which triangle of the factor */
      const bool turn  = kind == TRANSPOSED || (kind == SYMMETRIC && t == 0);
      FactorRows given = {F.Number(), F.begin[part].data(), F.end[part].data(), F.A.j.data(), NULL};

      if (turn) {
        status  = std::max(status, FactorRowsTranspose(&given, &own[t]));
        rows[t] = own[t];
      } else rows[t] = given;
      status = std::max(status, FactorPlanCreate(&rows[t], t, &pair.plan[t]));
    }
    pair.source    = F.source.empty() ? NULL : F.source.data();
    pair.target    = F.target.empty() ? NULL : F.target.data();
    pair.diagonal  = F.diagonal.data();
    pair.after[1]  = kind == LU;
    pair.after[0]  = kind == TRANSPOSED;
    pair.before[1] = kind == SYMMETRIC;
    pair.sign      = kind == SYMMETRIC ? 1 : -1;
    if (status == SYS_SUCCESS) status = FactorDeviceCreate(&pair, &device, stream);
    if (status == SYS_SUCCESS) status = Update(F.a);
  }
  Solver(const Solver &)            = delete;
  Solver &operator=(const Solver &) = delete;
  ~Solver()
  {
    FactorDeviceDestroy(&device);
    for (int t = 0; t < 2; t++) {
      FactorPlanDestroy(&pair.plan[t]);
      FactorRowsDestroy(&own[t]);
    }
  }
  SysStatus Update(const std::vector<SysScalar> &a) { return FactorDeviceUpdate(device, (int64_t)a.size(), a.data(), stream); }

  /* x, and a bound of the terms that it is the sum of */
  void Reference(const std::vector<SysScalar> &a, const SysScalar *b, std::vector<long double> &x, std::vector<long double> &bound) const
  {
    const size_t             n = (size_t)F.Number();
    std::vector<long double> v(n), size(n);

    for (size_t r = 0; r < n; r++) {
      v[r]    = b[F.source.empty() ? r : (size_t)F.source[r]];
      size[r] = fabsl(v[r]);
    }
    for (int t = 0; t < 2; t++) {
      for (size_t k = 0; k < n; k++) {
        const size_t      r    = t ? n - 1 - k : k;
        const long double diag = a[(size_t)F.diagonal[r]];

        if (pair.before[t]) v[r] *= diag, size[r] *= fabsl(diag);
        for (int e = rows[t].begin[r]; e < rows[t].end[r]; e++) {
          const long double value = a[(size_t)(rows[t].from ? rows[t].from[e] : e)];

          v[r] += pair.sign * value * v[(size_t)rows[t].j[e]];
          size[r] += fabsl(value) * size[(size_t)rows[t].j[e]];
        }
        if (pair.after[t]) v[r] *= diag, size[r] *= fabsl(diag);
      }
    }
    x.resize(n);
    bound.resize(n);
    for (size_t r = 0; r < n; r++) {
      const size_t to = F.target.empty() ? r : (size_t)F.target[r];

      x[to]     = v[r];
      bound[to] = size[r];
    }
  }
};

static const char *const kinds[] = {"LU", "transposed", "symmetric"};

static std::vector<SysScalar> RandomVector(size_t n)
{
  std::vector<SysScalar> v(n);

  for (auto &x : v) x = RandomScalar();
  return v;
}

/* Solves for columns, which lie 3 numbers apart */
static bool Compare(Solver &S, const std::vector<SysScalar> &a, int columns, const std::string &name)
{
  const int                    n = S.F.Number(), ld = n + 3;
  const std::vector<SysScalar> b = RandomVector((size_t)ld * (size_t)columns);
  std::vector<SysScalar>       got, again, mark((size_t)ld * (size_t)columns, 77);
  Array<SysScalar>             B(b), X(mark);
  std::vector<long double>     x, bound;

  if (FactorDeviceSolve(S.device, columns, B.data, ld, X.data, ld, stream) != SYS_SUCCESS) return Complain(name, SysDeviceErrorText());
  got = X.Download();
  X.Upload(mark);
  if (FactorDeviceSolve(S.device, columns, B.data, ld, X.data, ld, stream) != SYS_SUCCESS) return Complain(name, SysDeviceErrorText());
  again = X.Download();
  if (memcmp(got.data(), again.data(), got.size() * sizeof(SysScalar))) return Complain(name, "other bits the second time");
  for (int c = 0; c < columns; c++) {
    S.Reference(a, b.data() + (size_t)c * (size_t)ld, x, bound);
    for (int r = 0; r < ld; r++) {
      const long double v = got[(size_t)c * (size_t)ld + (size_t)r];

      if (r >= n ? v != 77 : !(fabsl(v - x[(size_t)r]) <= 100 * Eps * bound[(size_t)r])) return Complain(name, Text("column %d, entry %d is %Lg, not %Lg", c, r, v, r >= n ? 77 : x[(size_t)r]));
    }
  }
  return true;
}

static bool Each(const std::vector<Factor> &factors, const std::function<bool(Solver &, const std::string &)> &test, bool large = false)
{
  bool good = true;

  for (const Factor &F : factors) {
    for (int kind = 0; kind < KINDS && (large || !F.large); kind++) {
      const std::string name = F.name + ", " + kinds[kind];
      Solver            S(F, (Kind)kind);

      if (S.status != SYS_SUCCESS) good = Complain(name, SysDeviceErrorText());
      else good = test(S, name) && good;
    }
  }
  return good;
}

static bool Solves(const std::vector<Factor> &factors)
{
  return Each(
    factors, [](Solver &S, const std::string &name) { return Compare(S, S.F.a, 1, name); }, true);
}

static bool Several(const std::vector<Factor> &factors)
{
  return Each(factors, [](Solver &S, const std::string &name) { return Compare(S, S.F.a, 3, name) && Compare(S, S.F.a, 1, name) && Compare(S, S.F.a, 10, name); });
}

static bool NewValues(const std::vector<Factor> &factors)
{
  return Each(factors, [](Solver &S, const std::string &name) {
    Factor other = S.F;

    other.Values(2);
    if (S.Update(other.a) != SYS_SUCCESS) return Complain(name, SysDeviceErrorText());
    return Compare(S, other.a, 1, name);
  });
}

/* A row that is not finite, with the bits that mark a missing number too, does not stop the others, and the next solve is clean */
static bool NotFinite(const std::vector<Factor> &factors)
{
  return Each(factors, [](Solver &S, const std::string &name) {
    const int                n = S.F.Number();
    std::vector<SysScalar>   b = RandomVector((size_t)n), got;
    Array<SysScalar>         B(b), X(b);
    std::vector<long double> x, bound;

    memset(&b[(size_t)n / 2], 0xff, sizeof(SysScalar));
    B.Upload(b);
    if (FactorDeviceSolve(S.device, 1, B.data, n, X.data, n, stream) != SYS_SUCCESS) return Complain(name, SysDeviceErrorText());
    got = X.Download();
    S.Reference(S.F.a, b.data(), x, bound);
    for (int r = 0; r < n; r++) {
      if (std::isnan(x[(size_t)r]) != std::isnan(got[(size_t)r])) return Complain(name, Text("entry %d is %g, not %Lg", r, (double)got[(size_t)r], x[(size_t)r]));
    }
    return Compare(S, S.F.a, 1, name);
  });
}

int main(int argc, char **argv)
{
  const Group<std::vector<Factor>> groups[] = {
    {"solves",     Solves   },
    {"several",    Several  },
    {"new values", NewValues},
    {"not finite", NotFinite}
  };

  return RunProgram(groups, MakeFactors, argc, argv);
}
