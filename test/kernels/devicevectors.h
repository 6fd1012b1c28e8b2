/* SPDX-License-Identifier: BSD-2-Clause */
/*
   What the tests of products with vectors on a device have in common: vectors, sums on the host, comparisons
*/
#pragma once

#include "devicetest.h"

static const SysScalar Infinity = std::numeric_limits<SysScalar>::infinity();

static std::vector<SysScalar> RandomVector(size_t n)
{
  std::vector<SysScalar> v(n);

  for (SysScalar &a : v) a = RandomScalar();
  return v;
}

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

static Sums Reference(const Rows &S, const std::vector<SysScalar> &a, bool transpose, const std::vector<SysScalar> &x)
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

/* Bytes that are free, with what CUDA's pools keep given back */
static size_t FreeMemory()
{
  cudaMemPool_t pool;
  size_t        available, total;

  CallCuda(cudaDeviceSynchronize());
  CallCuda(cudaDeviceGetDefaultMemPool(&pool, 0));
  CallCuda(cudaMemPoolTrimTo(pool, 0));
  CallCuda(cudaMemGetInfo(&available, &total));
  return available;
}
