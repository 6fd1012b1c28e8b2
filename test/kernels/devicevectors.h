/* SPDX-License-Identifier: BSD-2-Clause */
/*
   What the tests of products with vectors on a device have in common: vectors, sums on the host, comparisons
*/
#pragma once

#include "sys/syscuda.h"
#include "devicetest.h"

static const SysScalar Infinity = std::numeric_limits<SysScalar>::infinity();

static std::vector<SysScalar> RandomVector(size_t n)
{
  std::vector<SysScalar> v(n);

  for (SysScalar &a : v) a = RandomScalar();
  return v;
}

struct NamedRows : Rows {
  std::string name;
};

static inline void AddRows(std::vector<NamedRows> &shapes, const char *name, bool large, int m, int n, const RowMaker &make)
{
  NamedRows S;

  if (small && large) return;
  static_cast<Rows &>(S) = MakeRows(m, n, make);
  S.name                 = name;
  shapes.push_back(S);
}

/* Shapes of all kinds */
static inline std::vector<NamedRows> MakeNamedRows()
{
  std::vector<NamedRows> shapes;

  AddRows(shapes, "no rows, no columns", false, 0, 0, Runs(0, 0, 1));
  AddRows(shapes, "no rows", false, 0, 5, Runs(5, 0, 1));
  AddRows(shapes, "no columns", false, 5, 0, Runs(0, 0, 1));
  AddRows(shapes, "one entry", false, 1, 1, [](int, std::vector<int> &cols) { cols.push_back(0); });
  AddRows(shapes, "one row", false, 1, 3000, Runs(3000, 80, 9));
  AddRows(shapes, "one column", false, 3000, 1, Runs(1, 1, 1));
  AddRows(shapes, "all rows empty", false, 1000, 1000, Runs(1000, 0, 1));
  AddRows(shapes, "runs", false, 700, 1500, Runs(1500, 8, 12));
  AddRows(shapes, "7-point stencil", false, 14 * 11 * 9, 14 * 11 * 9, Stencil(14, 11, 9, true, 1));
  AddRows(shapes, "hub rows", false, 200, 6000, [](int r, std::vector<int> &cols) {
    if (r % 67 == 5) Run(cols, 7, 5900);
    else Run(cols, RandomBelow(6000), 1 + RandomBelow(3));
  });
  AddRows(shapes, "a hub column", true, 20000, 20000, [](int r, std::vector<int> &cols) {
    cols.push_back(r);
    cols.push_back(12345);
  });
  AddRows(shapes, "empty rows at both ends", false, 900, 400, [](int r, std::vector<int> &cols) {
    if (r > 200 && r < 700) Run(cols, RandomBelow(390), 2);
  });
  AddRows(shapes, "200,000 columns", true, 300, 200000, Runs(200000, 40, 12));
  AddRows(shapes, "power law, small", false, 400, 3000, PowerLaw(3000));
  AddRows(shapes, "power law", true, 40000, 40000, PowerLaw(40000));
  return shapes;
}

/* These, and long rows */
static inline std::vector<NamedRows> MakeLongRows()
{
  std::vector<NamedRows> shapes = MakeNamedRows();

  AddRows(shapes, "one row a chunk", false, 12, 3000, [](int r, std::vector<int> &cols) { Run(cols, r, r % 3 ? 2048 : 7); });
  AddRows(shapes, "a row of a million entries", true, 50, 1000000, [](int r, std::vector<int> &cols) { Run(cols, r == 20 ? 0 : 1000 * r, r == 20 ? 1000000 : r % 4); });
  return shapes;
}

/* A shape on the device */
struct DeviceRows {
  const NamedRows &S;
  Array<int>       i, j;
  Array<SysScalar> a;

  explicit DeviceRows(const NamedRows &shape) : S(shape), i(shape.i), j(shape.j), a(shape.a) { }
  SysCSR CSR() const { return {S.m, S.n, (int64_t)S.j.size(), i.data, j.size ? j.data : nullptr, a.size ? a.data : nullptr}; }
};

/* A vector of exactly its size, or one entry behind the beginning of an array, with a guard at both sides */
struct Vector {
  std::vector<SysScalar>     host;
  size_t                     offset;
  Array<SysScalar>           memory;
  static constexpr SysScalar Guard = 12345;

  Vector(const std::vector<SysScalar> &v, size_t shift) : host(v.size() + 2 * shift, Guard), offset(shift), memory(host.size()) { Set(v); }
  void Set(const std::vector<SysScalar> &v)
  {
    std::copy(v.begin(), v.end(), host.begin() + (ptrdiff_t)offset);
    memory.Upload(host);
  }
  SysScalar *Data() { return memory.data + offset; }
  /* False if something was written outside */
  bool Get(std::vector<SysScalar> &v)
  {
    const std::vector<SysScalar> now = memory.Download();

    v.assign(now.begin() + (ptrdiff_t)offset, now.end() - (ptrdiff_t)offset);
    return !offset || (now.front() == Guard && now.back() == Guard);
  }
};

struct Sums {
  std::vector<long double> z, scale; /* of products, and of their absolute values */
  std::vector<int>         terms;
};

static inline Sums Reference(const Rows &S, const std::vector<SysScalar> &a, bool transpose, const std::vector<SysScalar> &x)
{
  const size_t n = (size_t)(transpose ? S.n : S.m);
  Sums         R = {std::vector<long double>(n), std::vector<long double>(n), std::vector<int>(n)};

  for (int r = 0; r < S.m; r++) {
    for (int k = S.i[r]; k < S.i[r + 1]; k++) {
      const int         to   = transpose ? S.j[k] : r;
      const long double term = (long double)a[k] * x[transpose ? r : S.j[k]];

      R.z[to] += term;
      R.scale[to] += fabsl(term);
      R.terms[to]++;
    }
  }
  return R;
}

/* z against alpha R + beta y; NaN and infinities have to be the same */
static bool Compare(const std::string &where, const Sums &R, SysScalar alpha, SysScalar beta, const std::vector<SysScalar> &y, const std::vector<SysScalar> &z)
{
  for (size_t r = 0; r < z.size(); r++) {
    const long double added = beta == 0 ? 0 : (long double)beta * y[r], expected = alpha * R.z[r] + added;
    const long double allowed = (fabsl(alpha) * R.scale[r] + fabsl(added)) * Eps * (R.terms[r] + 10);
    const bool        good    = std::isfinite(expected) ? fabsl(z[r] - expected) <= allowed : (std::isnan(expected) ? std::isnan(z[r]) : z[r] == expected);

    if (!good) return Complain(where, Text("entry %d of %d is %.17g, not %.17Lg; alpha %g, beta %g", (int)r, (int)z.size(), (double)z[r], expected, (double)alpha, (double)beta));
  }
  return true;
}

/* Some products with a new vector; nonfinite: how many of its entries are NaN or infinite. What is written to holds NaN before.
   A Matrix has a shape S, multiplies by Mult(), and says by Where() which one it is. */
template <typename Matrix>
static bool CheckProducts(Matrix &M, const std::vector<SysScalar> &a, bool transpose, int nonfinite, const char *when)
{
  static const SysScalar factors[][3] = {
    {1,  0,  0},
    {1,  1,  1},
    {-2, 3,  0},
    {2,  -1, 1}
  }; /* alpha, beta, in place */
  std::vector<SysScalar>       xh = RandomVector((size_t)(transpose ? M.S.m : M.S.n)), z;
  const std::vector<SysScalar> y  = RandomVector((size_t)(transpose ? M.S.n : M.S.m)), nothing(y.size(), NotANumber);

  for (int k = 0; k < nonfinite && !xh.empty(); k++) xh[k == 0 ? xh.size() - 1 : (size_t)RandomBelow((int64_t)xh.size())] = k % 3 ? (k % 3 == 1 ? Infinity : -Infinity) : NotANumber;
  const Sums R = Reference(M.S, a, transpose, xh);
  for (size_t shift = 0; shift < 2; shift++) {
    Vector x(xh, shift), vy(y, shift), vz(nothing, shift);

    for (const auto &f : factors) {
      const std::string where = Text("%s%s%s%s%s", M.Where().c_str(), transpose ? ", transposed" : "", f[2] != 0 ? ", in place" : "", shift ? ", unaligned" : "", when);

      vy.Set(y);
      vz.Set(nothing);
      if (!M.Mult(transpose, f[0], x.Data(), f[1], f[1] == 0 ? nullptr : vy.Data(), f[2] != 0 ? vy.Data() : vz.Data())) return false;
      if (!(f[2] != 0 ? vy : vz).Get(z)) return Complain(where, "something was written outside of z");
      if (!Compare(where, R, f[0], f[1], y, z)) return false;
    }
  }
  return true;
}

/* Groups of tests of a format. Its ForAll() runs a test, which gets a number too, with shapes and parameters of all kinds. */
template <typename Matrix>
using ForAllMatrices = bool(const std::vector<NamedRows> &, const std::function<bool(Matrix &, size_t)> &);

template <typename Matrix, ForAllMatrices<Matrix> ForAll>
static bool Products(const std::vector<NamedRows> &shapes)
{
  return ForAll(shapes, [](Matrix &M, size_t) { return CheckProducts(M, M.S.a, false, 0, ""); });
}

template <typename Matrix, ForAllMatrices<Matrix> ForAll>
static bool TransposedProducts(const std::vector<NamedRows> &shapes)
{
  return ForAll(shapes, [](Matrix &M, size_t) { return CheckProducts(M, M.S.a, true, 0, "") && CheckProducts(M, M.S.a, false, 0, ", after a transposed one"); });
}

/* NaN and infinities of x reach the rows that have their columns and no others */
template <typename Matrix, ForAllMatrices<Matrix> ForAll>
static bool NotFinite(const std::vector<NamedRows> &shapes)
{
  return ForAll(shapes, [](Matrix &M, size_t turn) { return CheckProducts(M, M.S.a, false, 7, ", x not finite") && CheckProducts(M, M.S.a, turn % 2, 1, ", x not finite"); });
}

/* Products, and those of a matrix made once more, give the same bits. Again() is a matrix of the same shape and parameters, without what may change bits. */
template <typename Matrix, ForAllMatrices<Matrix> ForAll>
static bool SameBits(const std::vector<NamedRows> &shapes)
{
  return ForAll(shapes, [](Matrix &M, size_t) {
    const std::vector<SysScalar> nothing((size_t)M.S.m, NotANumber);
    Vector                       x(RandomVector((size_t)M.S.n), 0), z(nothing, 0);
    std::vector<SysScalar>       first, next;
    Matrix                     &&one = M.Again(), &&other = M.Again();

    if (!one.Create() || !other.Create()) return false;
    for (int k = 0; k < 4; k++) {
      z.Set(nothing);
      if (!(k < 2 ? one : other).Mult(false, 1, x.Data(), 0, nullptr, z.Data()) || !z.Get(k ? next : first)) return false;
      if (k && !first.empty() && memcmp(first.data(), next.data(), first.size() * sizeof(SysScalar))) return Complain(M.Where(), Text("products give other bits%s", k < 2 ? "" : " after another conversion"));
    }
    return true;
  });
}

/* Values of which so many are distinct, besides 0; some of them are what only a comparison of bits tells apart */
static inline std::vector<SysScalar> FewValues(size_t n, int distinct, bool floats)
{
  std::vector<SysScalar> value, a(n);
  SysScalar              payload = NotANumber;

  memcpy(&payload, "\x07\x01", 2);
  if (!floats) value = {-(SysScalar)0, std::numeric_limits<SysScalar>::denorm_min(), payload, Infinity, NotANumber, (SysScalar)1 / 3};
  while ((int)value.size() < distinct) value.push_back((SysScalar)(1 + (double)value.size() * (floats ? .25 : .3)));
  value.resize((size_t)distinct);
  for (size_t k = 0; k < n; k++) a[k] = distinct && k % 7 ? value[k % 11 ? k / 3 % value.size() : k % value.size()] : 0;
  return a;
}

/* Do products of M and of a matrix with values as they are have the same bits? */
template <typename Matrix>
static bool SameAs(Matrix &M, Matrix &plain, bool transpose, const std::string &when)
{
  const SysScalar factors[][2] = {
    {1,  0},
    {-2, 3}
  };
  const std::vector<SysScalar> xh = RandomVector((size_t)(transpose ? M.S.m : M.S.n)), yh = RandomVector((size_t)(transpose ? M.S.n : M.S.m));
  Vector                       x(xh, 0), z(yh, 0);

  for (const auto &f : factors) {
    std::vector<SysScalar> one, other;

    z.Set(yh);
    if (!plain.Mult(transpose, f[0], x.Data(), f[1], z.Data(), z.Data()) || !z.Get(one)) return false;
    z.Set(yh);
    if (!M.Mult(transpose, f[0], x.Data(), f[1], z.Data(), z.Data()) || !z.Get(other)) return false;
    for (size_t r = 0; r < one.size(); r++) {
      if (memcmp(&one[r], &other[r], sizeof(one[r]))) return Complain(M.Where(), Text("%s%s: entry %d is %.17g, not %.17g", when.c_str(), transpose ? ", transposed" : "", (int)r, (double)other[r], (double)one[r]));
    }
  }
  return true;
}

/* Bytes that are free, without what pools keep */
static inline size_t FreeMemory()
{
  cudaMemPool_t pool;
  size_t        available, total;

  CallCuda(cudaDeviceSynchronize());
  CallCuda(cudaDeviceGetDefaultMemPool(&pool, 0));
  CallCuda(cudaMemPoolTrimTo(pool, 0));
  SysPoolTrim();
  CallCuda(cudaMemGetInfo(&available, &total));
  return available;
}
