/* SPDX-License-Identifier: BSD-2-Clause */
/*
   What the tests of device kernels have in common: checks of calls, complaints, random numbers that are the same in every run
*/
#pragma once

#include "sys/systypes.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#if defined(SYS_SINGLE)
static const long double Eps = FLT_EPSILON;
#else
static const long double Eps = DBL_EPSILON;
#endif

static const SysScalar NotANumber = std::numeric_limits<SysScalar>::quiet_NaN();

static cudaStream_t stream;
static bool         small;
static int          complaints;
static int          share = 1, shares = 1; /* as DEVICE_SHARE says: the share of the shapes that are tested */

#define CallCuda(call) \
  do { \
    const cudaError_t error_ = (call); \
    if (error_ != cudaSuccess) { \
      printf("%s: %s\n", #call, cudaGetErrorString(error_)); \
      fflush(stdout); \
      exit(1); \
    } \
  } while (0)

static std::string Text(const char *format, ...)
{
  char    text[512];
  va_list args;

  va_start(args, format);
  vsnprintf(text, sizeof(text), format, args);
  va_end(args);
  return text;
}

/* Says what is wrong, the first few times */
static bool Complain(const std::string &where, const std::string &what)
{
  if (complaints++ < 10) printf("  %s: %s\n", where.c_str(), what.c_str());
  return false;
}

static uint64_t seed;

static uint64_t Random()
{
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return seed;
}

static int RandomBelow(int64_t n)
{
  return (int)(Random() % (uint64_t)n);
}

static SysScalar RandomScalar()
{
  return (SysScalar)((double)(Random() >> 11) / 4503599627370496.0 - 1);
}

/* The columns of a row */
typedef std::function<void(int row, std::vector<int> &cols)> RowMaker;

static void Run(std::vector<int> &cols, int64_t first, int64_t length)
{
  for (int64_t c = first; c < first + length; c++) cols.push_back((int)c);
}

/* A matrix in CSR */
struct Rows {
  int                    m = 0, n = 0;
  std::vector<int>       i = {0}, j;
  std::vector<SysScalar> a;
};

/* A matrix from the columns of its rows, in any order, repeated or outside as they may be */
static Rows MakeRows(int m, int n, const RowMaker &make)
{
  Rows             A;
  std::vector<int> cols;

  A.m  = m;
  A.n  = n;
  seed = 88172645463325252u + (uint64_t)m * 7919 + (uint64_t)n;
  for (int r = 0; r < m; r++) {
    cols.clear();
    make(r, cols);
    std::sort(cols.begin(), cols.end());
    cols.erase(std::unique(cols.begin(), cols.end()), cols.end());
    for (int c : cols) {
      if (c < 0 || c >= n) continue;
      A.j.push_back(c);
      A.a.push_back(RandomBelow(20) ? RandomScalar() : 0); /* some stored zeros */
    }
    A.i.push_back((int)A.j.size());
  }
  return A;
}

static RowMaker Runs(int n, int runs, int length)
{
  return [=](int, std::vector<int> &cols) {
    for (int k = RandomBelow(runs + 1); k > 0 && n; k--) Run(cols, RandomBelow(n), 1 + RandomBelow(length));
  };
}

/* Neighbours at most a node away, in each direction or only along the axes, with bs unknowns a node */
static RowMaker Stencil(int sx, int sy, int sz, bool star, int bs)
{
  return [=](int r, std::vector<int> &cols) {
    const int node = r / bs, x = node % sx, y = node / sx % sy, z = node / sx / sy;

    for (int k = 0; k < 27; k++) {
      const int dx = k % 3 - 1, dy = k / 3 % 3 - 1, dz = k / 9 - 1, X = x + dx, Y = y + dy, Z = z + dz;

      if (X < 0 || Y < 0 || Z < 0 || X >= sx || Y >= sy || Z >= sz || (star && abs(dx) + abs(dy) + abs(dz) > 1)) continue;
      Run(cols, (int64_t)((Z * sy + Y) * sx + X) * bs, bs);
    }
  };
}

static RowMaker PowerLaw(int n)
{
  return [=](int, std::vector<int> &cols) {
    const double u = (1 + (double)RandomBelow(100000)) / 100000;

    for (int k = (int)std::min(2 / (u * u) - 2, n / 4.); k > 0; k--) cols.push_back((int)(n * pow((double)RandomBelow(n) / n, 3)));
  };
}

/* On the device */
template <typename T>
struct Array {
  T     *data = nullptr;
  size_t size;

  explicit Array(size_t n) : size(n) { CallCuda(cudaMalloc((void **)&data, std::max<size_t>(n, 1) * sizeof(T))); }
  explicit Array(const std::vector<T> &host) : Array(host.size()) { Upload(host); }
  Array(const Array &)            = delete;
  Array &operator=(const Array &) = delete;
  ~Array() { (void)cudaFree(data); }
  void Upload(const std::vector<T> &host)
  {
    CallCuda(cudaMemcpyAsync(data, host.data(), size * sizeof(T), cudaMemcpyHostToDevice, stream));
    CallCuda(cudaStreamSynchronize(stream));
  }
  std::vector<T> Download() const
  {
    std::vector<T> host(size);

    CallCuda(cudaMemcpyAsync(host.data(), data, size * sizeof(T), cudaMemcpyDeviceToHost, stream));
    CallCuda(cudaStreamSynchronize(stream));
    return host;
  }
};

/* Is there a device? Says why not; otherwise tests may begin. */
static bool StartTests(int argc, char **argv)
{
  int count;

  const char *asked = getenv("DEVICE_SHARE");

  small = argc > 1 && !strcmp(argv[1], "small");
  if (asked && (sscanf(asked, "%d/%d", &share, &shares) != 2 || share < 1 || share > shares)) {
    printf("DEVICE_SHARE is %s, not K/N with K from 1 to N\n", asked);
    exit(1);
  }
  if (!small) (void)setenv("CUDA_MODULE_LOADING", "EAGER", 1); /* otherwise kernels take memory when they are first needed */
  if (cudaGetDeviceCount(&count) != cudaSuccess || !count) {
    printf("there is no device (%s)\n", cudaGetErrorString(cudaGetLastError()));
    return false;
  }
  CallCuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return true;
}

/* Tests of what Subjects are, under a name */
template <typename Subjects>
struct Group {
  const char *name;
  bool (*run)(const Subjects &);
};

/* Those that the command line names; tells how many failed */
template <typename Subjects, size_t N>
static int RunTests(const Group<Subjects> (&groups)[N], const Subjects &subjects, int argc, char **argv)
{
  int failures = 0;

  for (int k = small ? 2 : 1; k < argc; k++) {
    const auto *group = std::find_if(std::begin(groups), std::end(groups), [&](const auto &g) { return !strcmp(g.name, argv[k]); });
    bool        good  = group != std::end(groups);

    complaints = 0;
    if (!good) printf("  there is no group of this name\n");
    else good = group->run(subjects);
    if (complaints > 10) printf("  and %d more\n", complaints - 10);
    printf("%sok %s\n", good ? "" : "not ", argv[k]);
    fflush(stdout);
    failures += !good;
  }
  return failures;
}

static void EndTests()
{
  CallCuda(cudaStreamDestroy(stream));
  CallCuda(cudaDeviceReset()); /* for the leak check */
}

/* One share of a list of subjects: number share, and every one that is a multiple of shares after it; subjects that are no list have no shares */
template <typename Subjects>
static Subjects Share(const Subjects &all)
{
  return all;
}

template <typename One>
static std::vector<One> Share(const std::vector<One> &all)
{
  std::vector<One> mine;

  for (size_t k = (size_t)share - 1; k < all.size(); k += (size_t)shares) mine.push_back(all[k]);
  return mine;
}

/* The program: 77 if there is no device. The subjects are made when the device is known. end gives back what the code under test keeps, before the device is reset. */
template <typename Subjects, size_t N>
static int RunProgram(const Group<Subjects> (&groups)[N], Subjects (*make)(), int argc, char **argv, void (*end)() = nullptr)
{
  int failures;

  if (!StartTests(argc, argv)) return 77;
  failures = RunTests(groups, Share(make()), argc, argv);
  if (end) end();
  EndTests();
  return failures ? 1 : 0;
}
