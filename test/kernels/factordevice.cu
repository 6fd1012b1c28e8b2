/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Factors that the device makes, against the same operations on the host; solves with the triangles of a factor, and of a group of factors, against sums of long doubles; without
   PETSc

     factordevice [small] GROUP...     runs groups of tests; small leaves out large matrices, for tools that slow everything down

   Prints "ok GROUP" or "not ok GROUP", before it what was wrong. Exit code 77: there is no device.
*/
#include <map>
#include <memory>

#include "mat/factor/cuda/factorcuda.h"
#include "devicetest.h"

/* A factor: a matrix whose diagonal is apart, its entries followed by the diagonal's factors */
struct Factor {
  std::string            name;
  int                    bs     = 1;     /* rows of a node */
  bool                   large  = false; /* for one group of tests alone: the reference takes long */
  int                    levels = 0;     /* of L, boxes or rows; 0: any */
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

static Factor MakeFactor(const char *name, int n, const RowMaker &make, bool permuted, int bs = 1)
{
  Factor F;

  F.bs   = bs;
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

/* Points of a grid in colors: blocks of w x w points that are even or odd along both axes, each in its own order */
static RowMaker Colored(int sx, int sy, int w)
{
  std::vector<int> order((size_t)sx * (size_t)sy), position(order.size());
  const auto       block = [=](int r) { return (r % sx / w % 2 + 2 * (r / sx / w % 2)) * sx * sy + r / sx / w * sx + r % sx / w; };

  for (size_t r = 0; r < order.size(); r++) order[r] = (int)r;
  std::stable_sort(order.begin(), order.end(), [=](int a, int b) { return block(a) < block(b); });
  for (size_t p = 0; p < order.size(); p++) position[(size_t)order[p]] = (int)p;
  return [=](int p, std::vector<int> &cols) {
    std::vector<int> points;

    Stencil(sx, sy, 1, true, 1)(order[(size_t)p], points);
    for (int r : points) cols.push_back(position[(size_t)r]);
  };
}

static std::vector<Factor> MakeFactors()
{
  std::vector<Factor> all;

  all.push_back(MakeFactor("one row", 1, Runs(1, 1, 1), false));
  all.push_back(MakeFactor("diagonal", 33, Runs(33, 0, 1), true));
  all.push_back(MakeFactor("chain", 200, Stencil(200, 1, 1, true, 1), false));
  all.back().levels = 7;
  all.push_back(MakeFactor("5 points", 19 * 23, Stencil(19, 23, 1, true, 1), false));
  all.push_back(MakeFactor("7 points", 9 * 8 * 7, Stencil(9, 8, 7, true, 1), true));
  all.push_back(MakeFactor("27 points", 7 * 6 * 5, Stencil(7, 6, 5, false, 1), false));
  all.push_back(MakeFactor("blocks of 3", 5 * 4 * 4 * 3, Stencil(5, 4, 4, false, 3), true));
  all.push_back(MakeFactor("nodes of 2", 9 * 8 * 7 * 2, Stencil(9, 8, 7, true, 2), false, 2));
  all.push_back(MakeFactor("nodes of 3", 7 * 6 * 5 * 3, Stencil(7, 6, 5, false, 3), true, 3));
  all.push_back(MakeFactor("nodes of 3, few levels", 5 * 4 * 4 * 3, Stencil(5, 4, 4, false, 3), false, 3));
  all.push_back(MakeFactor("nodes of 4", 19 * 3 * 4, Stencil(19, 3, 1, false, 4), true, 4));
  all.push_back(MakeFactor("node, dense", 90, Runs(90, 90, 90), false, 3));
  all.push_back(MakeFactor("no nodes", 9 * 8 * 7, Stencil(9, 8, 7, true, 1), false, 3));
  all.push_back(MakeFactor("too large nodes", 9 * 5 * 5, Stencil(9, 5, 1, true, 5), false, 5));
  all.push_back(MakeFactor("dense", 90, Runs(90, 3, 90), false));
  all.push_back(MakeFactor("blocks of colors", 40 * 30, Colored(40, 30, 9), true));
  all.back().levels = 8;
  all.push_back(MakeFactor("points of colors", 40 * 30, Colored(40, 30, 1), false));
  all.back().levels = 3;
  all.push_back(MakeFactor("long rows", 700, PowerLaw(700), true));
  all.push_back(MakeFactor("scattered", 1000, Runs(1000, 3, 2), false));
  if (!small) {
    const size_t first = all.size();

    all.push_back(MakeFactor("5 points, large", 700 * 700, Stencil(700, 700, 1, true, 1), false));
    all.push_back(MakeFactor("7 points, large", 64 * 64 * 64, Stencil(64, 64, 64, true, 1), true));
    all.push_back(MakeFactor("27 points, large", 40 * 40 * 40, Stencil(40, 40, 40, false, 1), false));
    all.push_back(MakeFactor("blocks of 3, large", 20 * 20 * 20 * 3, Stencil(20, 20, 20, false, 3), false));
    all.push_back(MakeFactor("nodes of 3, large", 20 * 20 * 20 * 3, Stencil(20, 20, 20, false, 3), false, 3));
    all.push_back(MakeFactor("nodes of 2, large", 60 * 40 * 30 * 2, Stencil(60, 40, 30, true, 2), false, 2));
    all.push_back(MakeFactor("points of colors, large", 1200 * 700, Colored(1200, 700, 1), false));
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

/* The solver on the device, and rows of both triangles for the reference; from arrays of the host, or from a factor that was made on the device */
struct Solver {
  const Factor &F;
  Kind          kind;
  FactorRows    rows[2], own[2] = {};
  FactorPair    pair   = {};
  FactorDevice  device = nullptr;
  SysStatus     status = SYS_SUCCESS;

  Solver(const Factor &F_, Kind kind_, FactorMatrix M = nullptr, bool by_level = true) : F(F_), kind(kind_)
  {
    for (int t = 0; t < 2; t++) {
      const int  part  = kind == LU ? t : kind == TRANSPOSED ? 1 - t : 1; /* which triangle of the factor */
      FactorRows given = {F.Number(), F.begin[part].data(), F.end[part].data(), F.A.j.data(), NULL};

      pair.begin[t]  = given.begin;
      pair.end[t]    = given.end;
      pair.turned[t] = kind == TRANSPOSED || (kind == SYMMETRIC && t == 0);
      if (pair.turned[t]) {
        status  = std::max(status, FactorRowsTranspose(&given, &own[t]));
        rows[t] = own[t];
      } else rows[t] = given;
    }
    pair.n        = F.Number();
    pair.nz       = (int64_t)F.A.j.size();
    pair.j        = F.A.j.data();
    pair.bs       = F.bs;
    pair.diagonal = F.diagonal.data();
    if (M) FactorMatrixGetPair(M, kind == TRANSPOSED, &pair);
    pair.source    = F.source.empty() ? NULL : F.source.data();
    pair.target    = F.target.empty() ? NULL : F.target.data();
    pair.after[1]  = kind == LU;
    pair.after[0]  = kind == TRANSPOSED;
    pair.before[1] = kind == SYMMETRIC;
    pair.sign      = kind == SYMMETRIC ? 1 : -1;
    pair.launched  = by_level ? 0 : INFINITY;
    if (status == SYS_SUCCESS) status = FactorDeviceCreate(&pair, &device, stream);
    if (status == SYS_SUCCESS) status = M ? FactorDeviceGather(device, FactorMatrixValues(M), stream) : Update(F.a);
  }
  Solver(const Solver &)            = delete;
  Solver &operator=(const Solver &) = delete;
  ~Solver()
  {
    FactorDeviceDestroy(&device);
    for (int t = 0; t < 2; t++) FactorRowsDestroy(&own[t]);
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
    for (int kind = 0; kind < 2 * KINDS && (large || !F.large); kind++) {
      const bool        by_level = kind >= KINDS;
      const std::string name     = F.name + ", " + kinds[kind % KINDS] + (by_level ? ", by level" : "");
      Solver            S(F, (Kind)(kind % KINDS), nullptr, by_level);

      if (S.status != SYS_SUCCESS) good = Complain(name, SysDeviceErrorText());
      else good = test(S, name) && good;
    }
  }
  return good;
}

static bool Solves(const std::vector<Factor> &factors)
{
  return Each(
    factors,
    [](Solver &S, const std::string &name) {
      const int levels = FactorDeviceLevels(S.device, 0);
      bool      good   = Compare(S, S.F.a, 1, name);

      if (S.F.levels && levels != S.F.levels) good = Complain(name, Text("%d levels, not %d", levels, S.F.levels));
      return good;
    },
    true);
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

/* ------------------------------------------------- factors without fill ------------------------------------------------- */

/* A matrix that becomes a factor: the factor's rows, and the matrix in its own order of rows and columns. `shuffled` rows are not sorted; `filled`: the matrix lacks entries of the
   factor. */
struct Matrix {
  Factor                 F;
  Rows                   A;
  std::vector<int>       position, at; /* of each column of the matrix the column of the factor; of each entry of A, row and column of the factor: its entry */
  std::vector<SysScalar> values;       /* of the rows of the factor, before it is computed */

  Matrix(const Factor &given, bool symmetric, bool permuted, bool shuffled, bool filled = false)
  {
    const int                     n = given.Number();
    std::vector<std::vector<int>> list((size_t)n);

    F.name = given.name;
    F.bs   = given.bs;
    F.A.i.clear();
    F.A.i.push_back(0);
    F.A.m = F.A.n = A.m = A.n = n;
    for (int r = 0; r < n; r++) {
      std::vector<int> cols(given.A.j.begin() + given.A.i[(size_t)r], given.A.j.begin() + given.A.i[(size_t)r + 1]);

      cols.push_back(r);
      std::sort(cols.begin(), cols.end());
      cols.erase(std::unique(cols.begin(), cols.end()), cols.end());
      list[(size_t)r] = cols;
    }
    if (permuted) {
      for (int r = 0; r < n; r++) F.source.push_back(r);
      for (int r = n; r > 1; r--) std::swap(F.source[(size_t)r - 1], F.source[(size_t)RandomBelow(r)]);
      F.target = F.source;
      if (!symmetric) std::reverse(F.target.begin(), F.target.end());
      position.resize((size_t)n);
      for (int r = 0; r < n; r++) position[(size_t)F.target[(size_t)r]] = r;
    }
    std::vector<int> row((size_t)n); /* of the factor, of each row of the matrix */
    for (int r = 0; r < n; r++) row[permuted ? (size_t)F.source[(size_t)r] : (size_t)r] = r;
    std::vector<int> all; /* entries of the factor's rows in the order of A */
    std::vector<int> first((size_t)n + 1, 0);
    for (int r = 0; r < n; r++) first[(size_t)r + 1] = first[(size_t)r] + (int)list[(size_t)r].size();
    for (int r = 0; r < n; r++) {
      std::vector<std::pair<int, int>> entries;
      const std::vector<int>          &cols = list[(size_t)row[(size_t)r]];

      for (size_t e = 0; e < cols.size(); e++) entries.push_back({permuted ? F.target[(size_t)cols[e]] : cols[e], first[(size_t)row[(size_t)r]] + (int)e});
      std::sort(entries.begin(), entries.end());
      if (shuffled) std::reverse(entries.begin(), entries.end());
      for (auto &entry : entries) {
        A.j.push_back(entry.first);
        at.push_back(entry.second);
      }
      A.i.push_back((int)A.j.size());
    }
    absent.assign(A.j.size(), false);
    if (filled) {
      Rows             less;
      std::vector<int> kept;

      less.m = less.n = n;
      less.i          = {0};
      for (int r = 0; r < n; r++) {
        for (int e = A.i[(size_t)r]; e < A.i[(size_t)r + 1]; e++) {
          const int c = permuted ? position[(size_t)A.j[(size_t)e]] : A.j[(size_t)e];

          absent[(size_t)at[(size_t)e]] = c != row[(size_t)r] && !RandomBelow(3);
          if (absent[(size_t)at[(size_t)e]]) continue;
          less.j.push_back(A.j[(size_t)e]);
          kept.push_back(at[(size_t)e]);
        }
        less.i.push_back((int)less.j.size());
      }
      A  = less;
      at = kept;
    }
    /* the factor's rows: of a symmetric one, the upper triangle */
    for (int r = 0; r < n; r++) {
      for (int c : list[(size_t)r]) {
        keep.push_back(!symmetric || c >= r);
        if (keep.back()) F.A.j.push_back(c);
      }
      F.A.i.push_back((int)F.A.j.size());
    }
    for (int r = 0; r < n; r++) {
      int k = F.A.i[(size_t)r];

      F.begin[0].push_back(k);
      while (F.A.j[(size_t)k] < r) k++;
      F.end[0].push_back(k);
      F.diagonal.push_back(k);
      F.begin[1].push_back(k + 1);
      F.end[1].push_back(F.A.i[(size_t)r + 1]);
    }
    Values(1);
  }
  void Values(int times)
  {
    std::vector<SysScalar> full(keep.size());

    values.clear();
    A.a.resize(at.size());
    for (size_t k = 0; k < full.size(); k++) full[k] = RandomBelow(10) && !absent[k] ? RandomScalar() : 0;
    for (int r = 0, k = 0; r < F.Number(); r++) {
      for (int e = F.A.i[(size_t)r]; e < F.A.i[(size_t)r + 1]; e++, k++) {
        while (!keep[(size_t)k]) k++;
        if (F.A.j[(size_t)e] == r) full[(size_t)k] = (SysScalar)(times * (2 + F.A.i[(size_t)r + 1] - F.A.i[(size_t)r]));
        values.push_back(full[(size_t)k]);
      }
    }
    for (size_t k = 0; k < at.size(); k++) A.a[k] = full[(size_t)at[k]];
  }
  /* The factor, as the head of factornumericcuda.cu has it */
  std::vector<SysScalar> Reference(bool symmetric) const
  {
    const size_t                  n = (size_t)F.Number();
    std::vector<SysScalar>        w = values, position(n);
    std::vector<int>              where(n, -1);
    std::vector<std::vector<int>> above(n); /* of each column, entries above the diagonal */
    std::vector<int>              row(values.size());

    for (size_t r = 0; r < n; r++) {
      for (int e = F.begin[1][r]; e < F.end[1][r]; e++) {
        row[(size_t)e] = (int)r;
        if (symmetric) above[(size_t)F.A.j[(size_t)e]].push_back(e);
      }
    }
    for (size_t r = 0; r < n; r++) {
      const int  own = F.diagonal[r];
      const auto add = [&](SysScalar scale, int begin, int end) {
        for (int t = begin; t < end; t++) {
          const int          to      = where[(size_t)F.A.j[(size_t)t]];
          volatile SysScalar product = scale * w[(size_t)t];

          if (to >= 0) w[(size_t)to] += product;
        }
      };

      for (int e = F.A.i[r]; e < F.A.i[r + 1]; e++) where[(size_t)F.A.j[(size_t)e]] = e;
      if (symmetric) {
        for (int t : above[r]) add(-w[(size_t)t] * w[(size_t)F.diagonal[(size_t)row[(size_t)t]]], t, F.end[1][(size_t)row[(size_t)t]]);
      } else {
        for (int k = F.begin[0][r]; k < own; k++) {
          const size_t other = (size_t)F.A.j[(size_t)k];

          if (w[(size_t)k] == 0) continue;
          w[(size_t)k] *= w[(size_t)F.diagonal[other]];
          add(-w[(size_t)k], F.begin[1][other], F.end[1][other]);
        }
      }
      w[(size_t)own] = 1 / w[(size_t)own];
      for (int e = F.A.i[r]; e < F.A.i[r + 1]; e++) where[(size_t)F.A.j[(size_t)e]] = -1;
    }
    for (size_t r = 0; r < n && symmetric; r++) {
      for (int e = F.begin[1][r]; e < F.end[1][r]; e++) w[(size_t)e] *= -w[(size_t)F.diagonal[r]];
    }
    return w;
  }

private:
  std::vector<bool> keep, absent; /* of the entries of all rows: those of the factor; those that the matrix lacks */
};

/* A matrix on the device with its factor */
struct Computed {
  Array<int>       i, j;
  Array<SysScalar> a;
  FactorMatrix     M = nullptr;
  SysStatus        status;

  Computed(const Matrix &given, bool symmetric, bool filled = false) : i(given.A.i), j(given.A.j), a(given.A.a)
  {
    const SysCSR        A       = {given.A.m, given.A.n, (int64_t)given.A.j.size(), i.data, j.data, a.data};
    const FactorPattern pattern = {given.F.A.i.data(), given.F.A.j.data(), given.F.diagonal.data()};

    status = FactorMatrixCreate(&A, given.F.source.empty() ? NULL : given.F.source.data(), given.position.empty() ? NULL : given.position.data(), symmetric, filled ? &pattern : NULL, &M, stream);
  }
  Computed(const Computed &)            = delete;
  Computed &operator=(const Computed &) = delete;
  ~Computed() { FactorMatrixDestroy(&M); }
};

static bool CompareFactor(Matrix &given, bool symmetric, Computed &C, const std::string &name)
{
  const size_t           n = (size_t)given.F.Number();
  std::vector<SysScalar> a(given.values.size());
  std::vector<int>       i(n + 1), j(given.values.size());
  int                    refused = 0;

  given.F.a = given.Reference(symmetric);
  C.a.Upload(given.A.a);
  if (FactorMatrixEntries(C.M) != (int64_t)a.size()) return Complain(name, Text("%d entries, not %d", (int)FactorMatrixEntries(C.M), (int)a.size()));
  if (FactorMatrixCompute(C.M, C.a.data, FACTOR_PIVOT_NONZERO, 0, &refused, stream) != SYS_SUCCESS || refused) return Complain(name, refused ? "a pivot is refused" : SysDeviceErrorText());
  if (FactorMatrixGet(C.M, i.data(), j.data(), a.data(), stream) != SYS_SUCCESS) return Complain(name, SysDeviceErrorText());
  if (i != given.F.A.i || j != given.F.A.j) return Complain(name, "another pattern");
  for (size_t k = 0; k < a.size(); k++) {
    if (a[k] != given.F.a[k]) return Complain(name, Text("entry %d is %.17g, not %.17g", (int)k, (double)a[k], (double)given.F.a[k]));
  }
  return true;
}

static bool Computes(const std::vector<Factor> &factors)
{
  bool good = true;

  for (const Factor &F : factors) {
    for (int k = 0; k < 16 && !F.large; k++) {
      const bool        symmetric = k & 1, filled = k & 8;
      const std::string name = F.name + (symmetric ? ", ICC" : ", ILU") + (filled ? ", filled" : "") + (k & 2 ? ", permuted" : "") + (k & 4 ? ", unsorted" : "");
      Matrix            given(F, symmetric, k & 2, k & 4, filled);
      Computed          C(given, symmetric, filled);

      if (C.status != SYS_SUCCESS || !C.M) {
        good = Complain(name, C.status ? SysDeviceErrorText() : "declined");
        continue;
      }
      good = CompareFactor(given, symmetric, C, name) && good;
      given.Values(3);
      good = CompareFactor(given, symmetric, C, name + ", new values") && good;
      for (int kind = symmetric ? SYMMETRIC : LU; kind <= (symmetric ? SYMMETRIC : TRANSPOSED); kind++) {
        Solver S(given.F, (Kind)kind, C.M);

        if (S.status != SYS_SUCCESS) good = Complain(name, SysDeviceErrorText());
        else good = Compare(S, given.F.a, 1, name + ", " + kinds[kind]) && good;
      }
    }
  }
  return good;
}

/* DILU by its definition, ready for solves or for solves with the transpose */
static bool CompareDiagonal(const Matrix &given, Computed &C, int transpose, const std::string &name)
{
  const Factor          &F = given.F;
  const size_t           n = (size_t)F.Number();
  std::vector<SysScalar> d(n), a(given.values.size()), matrix(given.values.size());
  std::vector<int>       i(n + 1), j(given.values.size());
  int                    refused = -1;
  bool                   good    = true;

  if (FactorMatrixComputeDiagonal(C.M, C.a.data, 0, &refused, stream) != SYS_SUCCESS || refused || FactorMatrixScale(C.M, transpose, stream) != SYS_SUCCESS) return Complain(name, refused ? "a pivot is refused" : SysDeviceErrorText());
  if (FactorMatrixGet(C.M, i.data(), j.data(), a.data(), stream) != SYS_SUCCESS || FactorMatrixGetMatrix(C.M, i.data(), j.data(), matrix.data(), stream) != SYS_SUCCESS) return Complain(name, SysDeviceErrorText());
  if (matrix != given.values) good = Complain(name, "the matrix has other values");
  for (size_t r = 0; r < n; r++) {
    double e = given.values[(size_t)F.diagonal[r]];

    for (int k = F.begin[0][r]; k < F.end[0][r]; k++) {
      const size_t other = (size_t)j[(size_t)k];
      const auto   first = j.begin() + F.begin[1][other], last = j.begin() + F.end[1][other], at = std::lower_bound(first, last, (int)r);

      if (at != last && *at == (int)r) e -= (double)given.values[(size_t)k] * d[other] * given.values[(size_t)(at - j.begin())];
    }
    d[r] = (SysScalar)(1 / e);
  }
  for (size_t r = 0; r < n; r++) {
    for (int k = i[r]; k < i[r + 1]; k++) {
      const bool   second = transpose ? k < F.diagonal[r] : k > F.diagonal[r];
      const double wanted = k == F.diagonal[r] ? (double)d[r] : given.values[(size_t)k] * (second ? (double)d[transpose ? (size_t)j[(size_t)k] : r] : 1);

      if (!(fabs(a[(size_t)k] - wanted) <= 100 * (double)Eps * (1 + fabs(wanted)))) good = Complain(name, Text("row %d: %g, not %g", (int)r, (double)a[(size_t)k], wanted));
    }
  }
  return good;
}

/* The product of an inverse and its triangle is the identity within the pattern: of rows of L, of columns of U */
static bool CompareInverse(const Matrix &given, Computed &C, int upper, const std::string &name)
{
  const Factor                      &F    = given.F;
  const size_t                       n    = (size_t)F.Number();
  const int                         *rows = F.source.empty() ? NULL : F.source.data();
  std::vector<SysScalar>             a(given.values.size());
  std::vector<int>                   i(n + 1), j(given.values.size()), position(n); /* position: of each column of the inverse, the column of the factor */
  std::vector<std::map<int, double>> T(n), G(n);                                    /* rows of L and its inverse, columns of U and its inverse */
  Array<int>                         starts(n + 1);
  int64_t                            nz;
  bool                               good = true;

  if (FactorInverseBegin(C.M, upper, rows, starts.data, &nz, stream) != SYS_SUCCESS) return Complain(name, SysDeviceErrorText());
  Array<int>       columns((size_t)nz);
  Array<SysScalar> values((size_t)nz);

  if (FactorInverseFill(C.M, upper, rows, starts.data, columns.data, values.data, stream) != SYS_SUCCESS || FactorMatrixGet(C.M, i.data(), j.data(), a.data(), stream) != SYS_SUCCESS) return Complain(name, SysDeviceErrorText());
  const std::vector<int>       gi = starts.Download(), gj = columns.Download();
  const std::vector<SysScalar> ga = values.Download();

  for (size_t r = 0; r < n; r++) position[rows ? (size_t)rows[r] : r] = (int)r;
  for (size_t r = 0; r < n; r++) {
    const size_t     in = rows ? (size_t)rows[r] : r;
    std::vector<int> wanted;

    if (upper) T[r][(int)r] = 1 / (double)a[(size_t)F.diagonal[r]];
    else T[r][(int)r] = 1;
    for (int k = F.begin[upper][r]; k < F.end[upper][r]; k++) T[upper ? (size_t)j[(size_t)k] : r][upper ? (int)r : j[(size_t)k]] = a[(size_t)k];
    for (int k = upper ? F.diagonal[r] : i[r]; k < (upper ? i[r + 1] : F.diagonal[r] + 1); k++) wanted.push_back(rows ? rows[j[(size_t)k]] : j[(size_t)k]);
    std::sort(wanted.begin(), wanted.end());
    if (wanted != std::vector<int>(gj.begin() + gi[in], gj.begin() + gi[in + 1])) return Complain(name, Text("row %d has another pattern", (int)r));
    for (int k = gi[in]; k < gi[in + 1]; k++) {
      const int c = position[(size_t)gj[(size_t)k]];

      G[upper ? (size_t)c : r][upper ? (int)r : c] = ga[(size_t)k];
    }
  }
  for (size_t r = 0; r < n; r++) {
    for (const auto &target : T[r]) {
      double sum = 0, size = 1;

      for (const auto &g : G[r]) {
        const auto t = T[(size_t)g.first].find(target.first);

        if (t == T[(size_t)g.first].end()) continue;
        sum += g.second * t->second;
        size += fabs(g.second * t->second);
      }
      if (!(fabs(sum - (target.first == (int)r)) <= 1000 * (double)Eps * size)) good = Complain(name, Text("entry %d, %d of the product is %g", (int)r, target.first, sum));
    }
  }
  return good;
}

static bool Inverses(const std::vector<Factor> &factors)
{
  bool good = true;

  for (const Factor &F : factors) {
    for (int k = 0; k < 4 && !F.large; k++) {
      const std::string name = F.name + (k & 1 ? ", permuted" : "") + (k & 2 ? ", unsorted" : "");
      Matrix            given(F, false, k & 1, k & 2);
      Computed          C(given, false);

      if (C.status != SYS_SUCCESS || !C.M) {
        good = Complain(name, C.status ? SysDeviceErrorText() : "declined");
        continue;
      }
      for (int times = 1; times < 3; times++) {
        int refused = -1;

        given.Values(times);
        C.a.Upload(given.A.a);
        for (int t = 0; t < 2; t++) good = CompareDiagonal(given, C, t, name + (t ? ", DILU, transposed" : ", DILU")) && good;
        if (FactorMatrixCompute(C.M, C.a.data, FACTOR_PIVOT_NONZERO, 0, &refused, stream) != SYS_SUCCESS || refused || FactorMatrixInvert(C.M, stream) != SYS_SUCCESS) return Complain(name, refused ? "a pivot is refused" : SysDeviceErrorText());
        for (int t = 0; t < 2; t++) good = CompareInverse(given, C, t, name + (t ? ", inverse of U" : ", inverse of L")) && good;
      }
    }
  }
  return good;
}

/* All small factors as one; every seventh entry of the solution is not written */
static bool Groups(const std::vector<Factor> &factors)
{
  bool good = true;

  for (int symmetric = 0; symmetric < 2; symmetric++) {
    std::vector<std::unique_ptr<Matrix>>   given;
    std::vector<std::unique_ptr<Computed>> computed;
    std::vector<std::unique_ptr<Solver>>   solver;
    std::vector<FactorPair>                pair;
    std::vector<int>                       source, target;
    FactorGroup                            G = nullptr;
    int                                    refused;

    for (const Factor &F : factors) {
      const int first = (int)source.size();

      if (F.large) continue;
      given.emplace_back(new Matrix(F, symmetric, given.size() % 2, false));
      computed.emplace_back(new Computed(*given.back(), symmetric));
      given.back()->F.a = given.back()->Reference(symmetric);
      if (!computed.back()->M || FactorMatrixCompute(computed.back()->M, computed.back()->a.data, FACTOR_PIVOT_NONZERO, 0, &refused, stream) != SYS_SUCCESS) return Complain(F.name, "no factor");
      solver.emplace_back(new Solver(given.back()->F, symmetric ? SYMMETRIC : LU, computed.back()->M));
      pair.push_back(solver.back()->pair);
      for (int r = 0; r < F.Number(); r++) {
        const std::vector<int> &from = given.back()->F.source, &to = given.back()->F.target;

        source.push_back(first + (from.empty() ? r : from[(size_t)r]));
        target.push_back(source.size() % 7 ? first + (to.empty() ? r : to[(size_t)r]) : -1);
      }
    }
    if (FactorGroupCreate((int)pair.size(), pair.data(), source.data(), target.data(), &G, stream) != SYS_SUCCESS) return Complain("group", SysDeviceErrorText());
    for (size_t k = 0; k < pair.size(); k++) good = FactorGroupCopy(G, (int)k, FactorMatrixValues(computed[k]->M), stream) == SYS_SUCCESS && good;
    good = FactorGroupUpdate(G, stream) == SYS_SUCCESS && good;
    {
      const std::vector<SysScalar> b = RandomVector(source.size());
      Array<SysScalar>             B(b), X(std::vector<SysScalar>(source.size(), 77));

      if (FactorDeviceSolve(FactorGroupDevice(G), 1, B.data, 0, X.data, 0, stream) != SYS_SUCCESS) return Complain("group", SysDeviceErrorText());
      const std::vector<SysScalar> got = X.Download();
      std::vector<bool>            written(source.size(), false);

      for (int t : target) {
        if (t >= 0) written[(size_t)t] = true;
      }
      for (size_t k = 0, first = 0; k < solver.size(); first += (size_t)given[k++]->F.Number()) {
        std::vector<long double> x, bound;

        solver[k]->Reference(given[k]->F.a, b.data() + first, x, bound);
        for (size_t r = 0; r < x.size(); r++) {
          const long double v = got[first + r];

          if (written[first + r] ? !(fabsl(v - x[r]) <= 100 * Eps * bound[r]) : v != 77) good = Complain(given[k]->F.name + ", in a group", Text("entry %d is %Lg, not %Lg", (int)r, v, written[first + r] ? x[r] : 77));
        }
      }
    }
    FactorGroupDestroy(&G);
  }
  return good;
}

/* Values of blocks: every third row and column in turn, then one that has an entry more than the matrix */
static bool Blocks(const std::vector<Factor> &factors)
{
  bool good = true;

  for (const Factor &F : factors) {
    if (F.large || F.Number() < 4) continue;
    for (int shuffled = 0; shuffled < 2; shuffled++) {
      Matrix                                         given(F, false, false, shuffled);
      std::vector<std::vector<int>>                  list(3);
      std::vector<Rows>                              part(3);
      std::vector<std::vector<SysScalar>>            wanted(3);
      std::vector<std::unique_ptr<Array<int>>>       i, j;
      std::vector<std::unique_ptr<Array<SysScalar>>> a;
      std::vector<SysCSR>                            B;
      std::vector<SysScalar *>                       b;
      const int                                     *index[3];
      int64_t                                        size[3];
      int                                            missing = -1;
      FactorSubMatrices                              S       = nullptr;
      const Array<int>                               I(given.A.i), J(given.A.j);
      const Array<SysScalar>                         V(given.A.a);
      const SysCSR                                   A = {given.A.m, given.A.n, (int64_t)given.A.j.size(), I.data, J.data, V.data};

      for (int r = 0; r < F.Number(); r++) list[(size_t)r % 3].push_back(r);
      for (size_t k = 0; k < 3; k++) {
        part[k].i = {0};
        for (int r : list[k]) {
          for (int e = given.A.i[(size_t)r]; e < given.A.i[(size_t)r + 1]; e++) {
            if (given.A.j[(size_t)e] % 3 != (int)k) continue;
            part[k].j.push_back(given.A.j[(size_t)e] / 3);
            wanted[k].push_back(given.A.a[(size_t)e]);
          }
          part[k].i.push_back((int)part[k].j.size());
        }
        i.emplace_back(new Array<int>(part[k].i));
        j.emplace_back(new Array<int>(part[k].j));
        a.emplace_back(new Array<SysScalar>(std::vector<SysScalar>(wanted[k].size(), 77)));
        B.push_back({(int64_t)list[k].size(), (int64_t)list[k].size(), (int64_t)wanted[k].size(), i[k]->data, j[k]->data, NULL});
        b.push_back(a[k]->data);
        index[k] = list[k].data();
        size[k]  = (int64_t)list[k].size();
      }
      if (FactorSubMatricesCreate(3, size, index, &S, stream) != SYS_SUCCESS || FactorSubMatricesCopy(S, &A, B.data(), b.data(), &missing, stream) != SYS_SUCCESS) return Complain(F.name, SysDeviceErrorText());
      if (missing) good = Complain(F.name, "an entry is missing");
      for (size_t k = 0; k < 3; k++) {
        if (a[k]->Download() != wanted[k]) good = Complain(F.name, Text("block %d has other values", (int)k));
      }
      std::vector<int> other = part[1].j; /* the first column in place of the last entry: missing, or twice */
      const int        last = list[1].back(), c = other.back() = 0;
      bool             has = false;

      for (int e = given.A.i[(size_t)last]; e < given.A.i[(size_t)last + 1]; e++) has = has || given.A.j[(size_t)e] == list[1][(size_t)c];
      j[1]->Upload(other);
      if (FactorSubMatricesCopy(S, &A, B.data(), b.data(), &missing, stream) != SYS_SUCCESS || missing != !has) good = Complain(F.name, "a missing entry is not reported");
      FactorSubMatricesDestroy(&S);
    }
  }
  return good;
}

/* Pivots that PETSc would shift or report, and patterns that stay PETSc's */
static bool Refuses(const std::vector<Factor> &)
{
  const struct {
    FactorPivot kind;
    SysReal     zero, pivot;
    int         refused;
  } cases[] = {
    {FACTOR_PIVOT_NONZERO,          0.5, 0.5,   1},
    {FACTOR_PIVOT_NONZERO,          0.5, -0.75, 0},
    {FACTOR_PIVOT_NONZERO_RELATIVE, 0.5, 1.5,   1},
    {FACTOR_PIVOT_NONZERO_RELATIVE, 0.5, -2.5,  0},
    {FACTOR_PIVOT_POSITIVE,         0.5, 2.5,   0},
    {FACTOR_PIVOT_POSITIVE,         0.5, -2.5,  1}
  };
  bool good = true;

  for (int k = 0; k < 12; k++) {
    const auto &c       = cases[k / 2];
    int         refused = -1;
    Matrix      given(MakeFactor("3 points", 50, Runs(50, 0, 1), false), k & 1, false, false);

    for (SysScalar &a : given.A.a) a = 4;
    given.A.i = {0, 2};
    given.A.j = {0, 49};
    given.A.a = {(SysScalar)c.pivot, 3};
    for (int r = 1; r < 50; r++) {
      given.A.j.push_back(r);
      given.A.a.push_back(100);
      given.A.i.push_back((int)given.A.j.size());
    }
    Computed C(given, k & 1);

    if (C.status != SYS_SUCCESS || !C.M || FactorMatrixCompute(C.M, C.a.data, c.kind, c.zero, &refused, stream) != SYS_SUCCESS || refused != c.refused) good = Complain(Text("case %d", k), Text("refused is %d, not %d", refused, c.refused));
  }
  for (int k = 0; k < 3; k++) {
    Matrix given(MakeFactor("wide", 600, Runs(600, 0, 1), false), false, false, false);

    if (k == 0) given.A.j[7] = 9; /* no diagonal */
    if (k == 1) {                 /* a column twice */
      given.A.j.push_back(599);
      given.A.i[600]++;
    }
    if (k == 2) { /* a long row */
      for (int c = 0; c < 599; c++) given.A.j.insert(given.A.j.end() - 1, c);
      given.A.i[600] += 599;
    }
    given.A.a.resize(given.A.j.size(), 1);
    Computed C(given, false);

    if (C.status != SYS_SUCCESS || C.M) good = Complain(Text("pattern %d", k), "not declined");
  }
  return good;
}

int main(int argc, char **argv)
{
  const Group<std::vector<Factor>> groups[] = {
    {"solves",     Solves   },
    {"several",    Several  },
    {"new values", NewValues},
    {"not finite", NotFinite},
    {"computes",   Computes },
    {"inverses",   Inverses },
    {"groups",     Groups   },
    {"blocks",     Blocks   },
    {"refuses",    Refuses  }
  };

  return RunProgram(groups, MakeFactors, argc, argv);
}
