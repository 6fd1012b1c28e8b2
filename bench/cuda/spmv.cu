/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Products on a CUDA device, without PETSc: AMB with what its tuner chooses and with parameters that are given, NUS-SELL with segments that are
   given, cuSPARSE, and a loop that only reads. See docs/bench.md.
*/
#include "mat/impls/amb/cuda/ambcuda.cuh"
#include "device.h"
#include "mat/impls/ccoo/cuda/ccoocuda.h"
#include "mat/impls/nus/cuda/nuscuda.h"
#include "mat/impls/tilecomposite/cuda/tilecuda.h"

#include <limits>
#include <memory>
#include <unistd.h>

#define CallCusparse(call) \
  do { \
    const cusparseStatus_t status_ = (call); \
    if (status_ != CUSPARSE_STATUS_SUCCESS) Stop(#call, cusparseGetErrorString(status_)); \
  } while (0)

/* ---- What is on the device ---- */

template <typename T>
struct Array {
  T     *data = nullptr;
  size_t size;

  explicit Array(size_t n) : size(n) { CallCuda(cudaMalloc(&data, std::max<size_t>(n, 1) * sizeof(T))); }
  explicit Array(const std::vector<T> &host) : Array(host.size()) { Upload(host); }
  Array(const Array &)            = delete;
  Array &operator=(const Array &) = delete;
  ~Array() { cudaFree(data); }
  void Upload(const std::vector<T> &host) { CallCuda(cudaMemcpy(data, host.data(), size * sizeof(T), cudaMemcpyHostToDevice)); }

  std::vector<T> Download() const
  {
    std::vector<T> host(size);

    CallCuda(cudaMemcpy(host.data(), data, size * sizeof(T), cudaMemcpyDeviceToHost));
    return host;
  }
};

struct DeviceMatrix {
  int64_t          m, n;
  Array<int>       i, j;
  Array<SysScalar> a;

  explicit DeviceMatrix(const Matrix &A) : m(A.m), n(A.n), i(A.i), j(A.j), a(std::vector<SysScalar>(A.a.begin(), A.a.end())) { }

  SysCSR CSR() const { return {m, n, (int64_t)j.size, i.data, j.data, a.data}; }

  double Bytes() const { return (double)(m + 1) * sizeof(int) + (double)j.size * (sizeof(int) + sizeof(SysScalar)); }
};

__global__ void Fill(size_t n, uint64_t *p)
{
  for (size_t k = blockIdx.x * (size_t)blockDim.x + threadIdx.x; k < n; k += (size_t)gridDim.x * blockDim.x) p[k] = (k + 1) * 0x9E3779B97F4A7C15ULL >> 2;
}

/* Reads and adds; the sum is stored only if it is what it never is, so that nothing is left out */
__global__ void __launch_bounds__(512) Read(size_t n, const ulonglong2 *__restrict__ p, unsigned long long *result)
{
  const size_t       stride = (size_t)gridDim.x * blockDim.x;
  unsigned long long s      = 0;
  size_t             k      = blockIdx.x * (size_t)blockDim.x + threadIdx.x;

  for (; k + 3 * stride < n; k += 4 * stride) {
    const ulonglong2 a = __ldcs(p + k), b = __ldcs(p + k + stride), c = __ldcs(p + k + 2 * stride), d = __ldcs(p + k + 3 * stride);

    s |= (a.x | a.y) | (b.x | b.y) | (c.x | c.y) | (d.x | d.y);
  }
  for (; k < n; k += stride) {
    const ulonglong2 a = __ldcs(p + k);

    s |= a.x | a.y;
  }
  if (s == ~0ULL) *result = s; /* Fill() leaves the highest bits free */
}

/* ---- The machine ---- */

struct Machine {
  cudaStream_t                               stream;
  cudaEvent_t                                begin, end;
  cusparseHandle_t                           cusparse;
  int                                        multiprocessors;
  double                                     copy, read; /* GB/s */
  std::unique_ptr<Array<uint64_t>>           memory;     /* 4 GiB that are only read */
  std::unique_ptr<Array<unsigned long long>> sum;

  void Reading(size_t bytes) const
  {
    const size_t n = bytes / sizeof(ulonglong2), blocks = (n + 4 * 512 - 1) / (4 * 512);

    Read<<<(unsigned)std::min<size_t>(std::max<size_t>(blocks, 1), (size_t)multiprocessors * 4), 512, 0, stream>>>(n, (const ulonglong2 *)memory->data, sum->data);
  }

  /* Microseconds of one of n runs between two events */
  double Time(int n, const std::function<void()> &run) const
  {
    float ms;

    CallCuda(cudaEventRecord(begin, stream));
    for (int k = 0; k < n; k++) run();
    CallCuda(cudaEventRecord(end, stream));
    CallCuda(cudaEventSynchronize(end));
    CallCuda(cudaEventElapsedTime(&ms, begin, end));
    return 1e3 * ms / n;
  }
};

static void MachineStart(Machine &M)
{
  const size_t        bytes = (size_t)4 << 30;
  cudaDeviceProp      device;
  std::vector<double> copy, read;
  int                 driver, runtime, version;

  CallCuda(cudaGetDeviceProperties(&device, 0));
  CallCuda(cudaDriverGetVersion(&driver));
  CallCuda(cudaRuntimeGetVersion(&runtime));
  CallCuda(cudaStreamCreate(&M.stream));
  CallCuda(cudaEventCreate(&M.begin));
  CallCuda(cudaEventCreate(&M.end));
  CallCusparse(cusparseCreate(&M.cusparse));
  CallCusparse(cusparseSetStream(M.cusparse, M.stream));
  CallCusparse(cusparseGetVersion(M.cusparse, &version));
  M.multiprocessors = device.multiProcessorCount;
  M.memory.reset(new Array<uint64_t>(bytes / sizeof(uint64_t)));
  M.sum.reset(new Array<unsigned long long>(1));
  Fill<<<4 * M.multiprocessors, 512, 0, M.stream>>>(M.memory->size, M.memory->data);
  CallCuda(cudaGetLastError());
  {
    Array<uint64_t> to(M.memory->size);

    for (int k = 0; k < 16; k++) {
      const double c = M.Time(2, [&] { CallCuda(cudaMemcpyAsync(to.data, M.memory->data, bytes, cudaMemcpyDeviceToDevice, M.stream)); });
      const double r = M.Time(2, [&] { M.Reading(bytes); });

      if (!k) continue;
      copy.push_back(2e-3 * (double)bytes / c);
      read.push_back(1e-3 * (double)bytes / r);
    }
  }
  CallCuda(cudaGetLastError());
  M.copy = Median(copy);
  M.read = Median(read);
  printf("%s, %d multiprocessors, %.0f MiB second-level cache; CUDA %d.%d (driver %d.%d), cuSPARSE %d; %s\n", device.name, M.multiprocessors, device.l2CacheSize / 1048576., runtime / 1000, runtime % 1000 / 10, driver / 1000, driver % 1000 / 10, version, sizeof(SysScalar) == 8 ? "double" : "float");
  printf("4 GiB: copied at %.0f GB/s (read and written), read at %.0f GB/s\n", M.copy, M.read);
}

/* ---- Contenders ---- */

struct Contender {
  enum Kind {
    CUSPARSE,
    AMB,
    NUS,
    CCOO,
    TILE,
    READ
  } kind;
  std::string           label, parameters;
  std::function<void()> run;
  double                bytes = 0, stored = 0; /* of a product, and of these the matrix; 0: not known */
  double                us = 0, least = 0, most = 0, host = 0, error = 0, rounding = Eps;
  bool                  wrong = false;
  int                   launches;
  std::vector<double>   times, rounds;
};

struct Options {
  std::vector<std::string> matrices, tries, segments, compressed, tiled, ops = {"mult"};
  std::string              csv, table;
  int                      rounds = 3, batches = 5;
  bool                     search = false, tilesearch = false;

  bool Asks(const char *op) const { return std::find(ops.begin(), ops.end(), op) != ops.end(); }
};

/* All in turns, so that what drifts hits all alike; the first part of each turn, which brings back the caches, is not timed */
static void Race(const Machine &M, const Options &o, std::vector<Contender> &contenders)
{
  for (Contender &c : contenders) {
    (void)M.Time(3, c.run);
    const double us = M.Time(20, c.run);

    c.launches        = std::max(20, (int)(3000 / us));
    const auto start  = std::chrono::steady_clock::now();
    const int  queued = 20;
    for (int k = 0; k < queued; k++) c.run();
    c.host = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count() / queued;
    CallCuda(cudaStreamSynchronize(M.stream));
  }
  for (int round = 0; round < o.rounds; round++) {
    for (Contender &c : contenders) {
      std::vector<double> t;

      (void)M.Time(std::max(c.launches / 4, 3), c.run);
      for (int b = 0; b < o.batches; b++) t.push_back(M.Time(c.launches, c.run));
      c.rounds.push_back(Median(t));
      c.times.insert(c.times.end(), t.begin(), t.end());
    }
  }
  CallCuda(cudaGetLastError());
  for (Contender &c : contenders) {
    c.us    = Median(c.times);
    c.least = *std::min_element(c.rounds.begin(), c.rounds.end());
    c.most  = *std::max_element(c.rounds.begin(), c.rounds.end());
  }
}

/* What a product must give: sums in long double of the values as they are on the device */
struct Reference {
  std::vector<SysScalar>   x, y; /* y as it is before the product */
  std::vector<long double> z, scale;
  std::vector<int>         length;
};

static std::vector<SysScalar> RandomVector(int64_t n, uint64_t stream)
{
  std::vector<SysScalar> v(n);

#pragma omp parallel for
  for (int64_t k = 0; k < n; k++) v[k] = (SysScalar)(2 * MatrixUniform((stream << 40) + (uint64_t)k) - 1);
  return v;
}

static Reference MakeReference(const Matrix &A, const std::vector<double> &a, bool add)
{
  Reference R;

  R.x = RandomVector(A.n, 1);
  R.y = add ? RandomVector(A.m, 2) : std::vector<SysScalar>(A.m, std::numeric_limits<SysScalar>::quiet_NaN());
  R.z.resize(A.m);
  R.scale.resize(A.m);
  R.length.resize(A.m);
#pragma omp parallel for schedule(dynamic, 1024)
  for (int64_t r = 0; r < A.m; r++) {
    long double z = add ? R.y[r] : 0, scale = fabsl(z);

    for (int k = A.i[r]; k < A.i[r + 1]; k++) {
      const long double term = (long double)(SysScalar)a[k] * R.x[A.j[k]];

      z += term;
      scale += fabsl(term);
    }
    R.z[r]      = z;
    R.scale[r]  = scale;
    R.length[r] = A.i[r + 1] - A.i[r];
  }
  return R;
}

/* One product into a vector of NaN, or of R.y. The error is in units of what rounding can do. */
static void Check(const Reference &R, Array<SysScalar> &y, Contender &c)
{
  y.Upload(R.y);
  c.run();
  CallCuda(cudaDeviceSynchronize());
  const std::vector<SysScalar> z = y.Download();

  for (size_t r = 0; r < z.size(); r++) {
    const double difference = (double)fabsl((long double)z[r] - R.z[r]), allowed = (double)R.scale[r] * c.rounding * (R.length[r] + 10);
    const double error = difference == 0 ? 0 : (allowed > 0 ? difference / allowed : std::numeric_limits<double>::infinity());

    if (std::isnan(error)) c.error = std::numeric_limits<double>::infinity();
    else c.error = std::max(c.error, error);
  }
  c.wrong = !(c.error <= 1);
}

/* ---- cuSPARSE ---- */

struct CusparseProduct {
  cusparseSpMatDescr_t matrix;
  cusparseDnVecDescr_t x, y;
  cusparseOperation_t  operation;
  cusparseSpMVAlg_t    algorithm;
  SysScalar            alpha  = 1, beta;
  Array<char>         *buffer = nullptr;
  bool                 works;

  CusparseProduct(const Machine &M, const DeviceMatrix &A, bool transpose, cusparseSpMVAlg_t alg, bool preprocess, SysScalar b, const SysScalar *xa, SysScalar *ya) :
    operation(transpose ? CUSPARSE_OPERATION_TRANSPOSE : CUSPARSE_OPERATION_NON_TRANSPOSE), algorithm(alg), beta(b)
  {
    size_t bytes = 0;

    CallCusparse(cusparseCreateCsr(&matrix, A.m, A.n, (int64_t)A.j.size, A.i.data, A.j.data, A.a.data, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, Type));
    CallCusparse(cusparseCreateDnVec(&x, transpose ? A.m : A.n, (void *)xa, Type));
    CallCusparse(cusparseCreateDnVec(&y, transpose ? A.n : A.m, ya, Type));
    works = cusparseSpMV_bufferSize(M.cusparse, operation, &alpha, matrix, x, &beta, y, Type, algorithm, &bytes) == CUSPARSE_STATUS_SUCCESS;
    if (!works) return;
    buffer = new Array<char>(bytes);
    if (preprocess) works = cusparseSpMV_preprocess(M.cusparse, operation, &alpha, matrix, x, &beta, y, Type, algorithm, buffer->data) == CUSPARSE_STATUS_SUCCESS;
  }
  CusparseProduct(const CusparseProduct &)            = delete;
  CusparseProduct &operator=(const CusparseProduct &) = delete;

  ~CusparseProduct()
  {
    CallCusparse(cusparseDestroyDnVec(x));
    CallCusparse(cusparseDestroyDnVec(y));
    CallCusparse(cusparseDestroySpMat(matrix));
    delete buffer;
  }

  void Run(const Machine &M) const { CallCusparse(cusparseSpMV(M.cusparse, operation, &alpha, matrix, x, &beta, y, Type, algorithm, buffer->data)); }
};

/* Both algorithms with and without preprocessing */
static void AddCusparse(const Machine &M, const DeviceMatrix &A, bool transpose, const char *suffix, SysScalar beta, const SysScalar *x, SysScalar *y, std::vector<Contender> &contenders)
{
  for (int k = 0; k < 4; k++) {
    auto      p = std::make_shared<CusparseProduct>(M, A, transpose, k < 2 ? CUSPARSE_SPMV_CSR_ALG1 : CUSPARSE_SPMV_CSR_ALG2, k % 2, beta, x, y);
    Contender c;

    c.kind   = Contender::CUSPARSE;
    c.label  = Text("cusparse%d%s%s", 1 + k / 2, k % 2 ? "p" : "", suffix);
    c.run    = [&M, p] { p->Run(M); };
    c.stored = A.Bytes();
    if (p->works) contenders.push_back(c);
    else printf("  %s: not supported\n", c.label.c_str());
  }
}

/* ---- AMB ---- */

template <typename T>
struct Key {
  const char *name;
  T          *value;
};

/* Keys, each with a number, and commas between them */
template <typename T, size_t N>
static bool ParseKeys(const char *s, const Key<T> (&keys)[N])
{
  while (*s) {
    size_t k = 0;
    char  *end;

    while (k < N && strncmp(s, keys[k].name, strlen(keys[k].name))) k++;
    if (k == N) return false;
    s += strlen(keys[k].name);
    *keys[k].value = (T)strtoll(s, &end, 10);
    if (end == s || (*end && *end != ',')) return false;
    s = *end ? end + 1 : end;
  }
  return true;
}

/* kernel: 1 for the shallow one, 2 for the deep one, 0 for what the model or the tuner chooses */
static bool ParseTry(const std::string &text, AmbDeviceParams &p, int &kernel)
{
  int            values = SYS_VALUES_DOUBLE;
  const Key<int> keys[] = {
    {"b=",       &p.block_size},
    {"threads=", &p.threads   },
    {"steps=",   &p.steps     },
    {"measure=", &p.measure   },
    {"live=",    &p.live      },
    {"kernel=",  &kernel      },
    {"values=",  &values      },
    {"order=",   &p.order     },
    {"columns=", &p.columns   },
    {"scope=",   &p.scope     }
  };

  p      = AmbDeviceParams{};
  kernel = 0;
  if (!ParseKeys(text.c_str(), keys)) return false;
  p.values = (SysValues)values;
  return values >= SYS_VALUES_DOUBLE && values <= SYS_VALUES_TABLE && kernel >= 0 && kernel <= 2 && p.threads <= AMB_MOST_THREADS && p.order >= 0 && p.order <= 2 && p.columns >= 0 && p.columns <= 2 && (!p.scope || (p.scope >= SYS_WARP && p.scope <= AMB_SCOPE && !(p.scope & (p.scope - 1))));
}

static void CallAmb(SysStatus status)
{
  if (status != SYS_SUCCESS) Stop("AMB", SysDeviceErrorText());
}

struct Ours {
  std::string     label;
  AmbDeviceParams params = {};
  int             kernel = 0; /* as given to -try */
  AmbDevice      *A      = nullptr;
  double          us     = 0; /* of a product */
};

static std::string Parameters(const AmbDeviceInfo &info)
{
  std::string text = Text("b=%d threads=%d steps=%d", info.block_size, info.threads, info.steps);

  if (info.sorted) text += Text(" scope=%d", info.sort_scope);
  if (info.row_group) text += Text(" group=%d", info.row_group);
  text += Text(" tasks=%lld (diagonal %lld, 16 bits %lld, 32 bits %lld; split %lld)", (long long)info.tasks, (long long)info.diagonal, (long long)info.narrow, (long long)info.wide, (long long)info.split);
  if (info.stored == SYS_STORAGE_PLACES) text += Text(" values: table, %d distinct", info.distinct);
  if (info.stored == SYS_STORAGE_SINGLE) text += Text(" values: single%s", info.exact ? "" : ", not exact");
  text += Text(" model/stored=%.3f tried=%lld", info.bytes_stored > 0 ? info.bytes_model / info.bytes_stored : 1., (long long)info.tried);
  return text;
}

/* ---- NUS-SELL ---- */

/* none, uniform,s2=W or nonuniform,s1=W,k1=N,s2=W,k2=N, with values=N for a storage of values; or what chooses: model, measure, exhaustive, and a comma before what is given */
static bool ParseSegments(const std::string &text, NusParams &p, NusDeviceTune &tune)
{
  int64_t            stored = SYS_VALUES_DOUBLE;
  const Key<int64_t> keys[] = {
    {"s1=",     &p.width[0]},
    {"k1=",     &p.count[0]},
    {"s2=",     &p.width[1]},
    {"k2=",     &p.count[1]},
    {"values=", &stored    }
  };
  const size_t comma = text.find(',');
  const auto   kind  = text.substr(0, comma);

  p              = NusParams{};
  p.segmentation = kind == "uniform" ? NUS_UNIFORM : (kind == "none" ? NUS_NONE : NUS_NONUNIFORM);
  p.rows         = NUS_SELL;
  p.count[0] = p.count[1] = -1;
  tune                    = kind == "model" ? NUS_DEVICE_MODEL : (kind == "exhaustive" ? NUS_DEVICE_EXHAUSTIVE : NUS_DEVICE_MEASURE);
  if (!ParseKeys(text.c_str() + (comma == std::string::npos ? text.size() : comma + 1), keys)) return false;
  p.values = (SysValues)stored;
  return kind == "none" || kind == "uniform" || kind == "nonuniform" || kind == "model" || kind == "measure" || kind == "exhaustive";
}

struct Segmented {
  std::string   label;
  NusParams     params;
  NusDeviceTune tune;
  NusDevice    *A    = nullptr;
  NusDeviceInfo info = {};
};

static std::string Parameters(const NusDeviceInfo &info)
{
  const NusParams &p = info.params;

  return Text("%lld x %lld + %lld x %lld, %lld segments, %lld columns gathered, tried %lld", (long long)p.count[0], (long long)p.width[0], (long long)p.count[1], (long long)p.width[1], (long long)info.segments, (long long)info.gathered,
              (long long)info.layout.tried);
}

/* ---- CCOO ---- */

struct Compressed {
  std::string    label;
  CcooParams     params;
  int            atomics;
  CcooDevice    *A    = nullptr;
  CcooDeviceInfo info = {};
};

/* open, or some of b=, k=, table= and atomics= with commas between them */
static bool ParseCompressed(const std::string &text, Compressed &u)
{
  const Key<int> keys[] = {
    {"b=",       &u.params.b    },
    {"k=",       &u.params.k    },
    {"table=",   &u.params.table},
    {"atomics=", &u.atomics     }
  };

  u.label   = "ccoo " + text;
  u.params  = {0, 0, 1};
  u.atomics = 0;
  return ParseKeys(text == "open" ? "" : text.c_str(), keys);
}

static std::string Parameters(const CcooDeviceInfo &info)
{
  std::string text = Text("B=%d K=%d, a table of %d values%s, chunks:", info.params.b, info.params.k, info.ntable, info.atomics ? ", atomics" : "");

  for (int f = 0; f < CCOO_FORMATS; f++) {
    if (info.count[f]) text += Text(" %lld of %s, %d bits, %s", (long long)info.count[f], f % 6 < 3 ? "one row" : "several rows", 8 << f % 3, f < 6 ? "plain values" : "table");
  }
  return text;
}

/* ---- Tile-composite ---- */

struct Tiled {
  std::string label;
  TileParams  params;
  TileDevice *A = nullptr;
};

/* The tiles and the rectangles that a search for the fastest parameters tries, all tiles of algorithm 1 first; the model chooses for the first, open */
static std::vector<std::string> TiledSearch()
{
  std::vector<std::string> all = {"open"};

  for (const char *tiles : {"tiles=99999,", "tiles=0,", "tiles=1,", "tiles=2,", "tiles=4,"}) {
    for (int work = 256; work <= TILE_MOST; work *= 2) all.push_back(tiles + Text("work=%d", work));
  }
  return all;
}

/* open, or some of width=, tiles=, work= and coo= with commas between them */
static bool ParseTiled(const std::string &text, Tiled &u)
{
  const Key<int> keys[] = {
    {"width=", &u.params.width},
    {"tiles=", &u.params.tiles},
    {"work=",  &u.params.work },
    {"coo=",   &u.params.coo  }
  };

  u.label  = "tile " + text;
  u.params = {0, -1, 0, 0};
  return ParseKeys(text == "open" ? "" : text.c_str(), keys);
}

static std::string Parameters(const TileDevice *A)
{
  const TileLayout *L = TileDeviceLayout(A);

  return Text("%d tiles of %d, rectangles %lld by columns, %lld by rows, %lld coo, %.2f of entries are padding, %lld slots, predicted %.1f us%s", L->ntile, L->params.width, (long long)L->count[0], (long long)L->count[1], (long long)L->count[2],
              1 - (double)L->nz / (double)L->nentry, (long long)L->nslot, 1e6 * L->time, TileDeviceTable(A) == 1 ? " by a table" : "");
}

/* ---- Reports ---- */

struct Line {
  std::string matrix, op;
  int64_t     m, n, nz;
  Contender   c;
  double      copy, ratio, products; /* products: a cost in products of the same contender */
};

static const Contender *Best(const std::vector<Contender> &contenders, Contender::Kind kind)
{
  const Contender *best = nullptr;

  for (const Contender &c : contenders) {
    if (c.kind == kind && !c.wrong && (!best || c.us < best->us)) best = &c;
  }
  return best;
}

static void Report(const Machine &M, const std::string &matrix, const char *op, const Matrix &A, const std::vector<Contender> &contenders, std::vector<Line> &lines)
{
  const Contender *peer = Best(contenders, Contender::CUSPARSE);

  printf("  %-24s %9s %19s %7s %7s %6s %6s %6s %6s\n", op, "us", "rounds", "host us", "GB/s", "%copy", "ratio", "B/nnz", "error");
  for (const Contender &c : contenders) {
    const double rate = c.bytes / c.us * 1e-3, ratio = peer ? peer->us / c.us : 0;

    printf("  %-24s %9.2f %9.2f-%9.2f %7.2f ", c.label.c_str(), c.us, c.least, c.most, c.host);
    if (c.bytes > 0) printf("%7.0f %6.1f ", rate, 100 * rate / M.copy);
    else printf("%7s %6s ", "-", "-");
    printf("%6.2f ", ratio);
    if (c.stored > 0) printf("%6.2f ", c.stored / (double)std::max<size_t>(A.j.size(), 1));
    else printf("%6s ", "-");
    if (c.kind == Contender::READ) printf("%6s", "-");
    else printf("%6.3f", c.error);
    printf("%s  %s\n", c.wrong ? " WRONG" : "", c.parameters.c_str());
    lines.push_back({matrix, op, A.m, A.n, (int64_t)A.j.size(), c, M.copy, ratio, 0});
  }
  fflush(stdout);
}

static void ReportCost(const std::string &matrix, const char *op, const Matrix &A, const Contender &c, double products, std::vector<Line> &lines)
{
  printf("  %-24s %-20s %9.1f us, %8.1f products%s\n", op, c.label.c_str(), c.us, products, c.wrong ? " WRONG" : "");
  fflush(stdout);
  lines.push_back({matrix, op, A.m, A.n, (int64_t)A.j.size(), c, 0, 0, products});
}

static void WriteCSV(const std::string &name, const std::vector<Line> &lines)
{
  FILE *f = fopen(name.c_str(), "w");

  if (!f) Stop("-csv", "cannot open the file");
  fprintf(f, "matrix,rows,columns,nonzeros,operation,contender,us,least_us,most_us,host_us,bytes,copy_share,over_cusparse,stored_bytes,products,error,wrong,parameters\n");
  for (const Line &l : lines) {
    fprintf(f, "\"%s\",%lld,%lld,%lld,\"%s\",\"%s\",%.6g,%.6g,%.6g,%.6g,%.10g,%.6g,%.6g,%.10g,%.6g,%.6g,%d,\"%s\"\n", l.matrix.c_str(), (long long)l.m, (long long)l.n, (long long)l.nz, l.op.c_str(), l.c.label.c_str(), l.c.us, l.c.least, l.c.most, l.c.host,
            l.c.bytes, l.copy > 0 ? l.c.bytes / l.c.us * 1e-3 / l.copy : 0, l.ratio, l.c.stored, l.products, l.c.error, l.c.wrong, l.c.parameters.c_str());
  }
  if (fclose(f)) Stop("-csv", "the file could not be written whole");
}

static void ReportTable(const std::vector<Line> &lines)
{
  std::vector<const Line *> firsts; /* one of each matrix and operation */

  for (const Line &l : lines) {
    if (l.ratio > 0 && std::none_of(firsts.begin(), firsts.end(), [&](const Line *f) { return f->matrix == l.matrix && f->op == l.op; })) firsts.push_back(&l);
  }
  printf("\n%-22s %-9s %10s %9s %-12s %9s %6s %9s %6s  %s\n", "matrix", "operation", "nonzeros", "cusparse", "", "amb", "ratio", "best try", "ratio", "");
  for (const char *op : {"mult", "multadd", "transpose"}) {
    double all = 0, least = std::numeric_limits<double>::infinity(), bests = 0;
    int    count = 0;

    for (const Line *f : firsts) {
      const Contender *peer = nullptr, *amb = nullptr, *best = nullptr;

      if (f->op != op) continue;
      for (const Line &l : lines) {
        if (l.matrix != f->matrix || l.op != op || l.c.wrong) continue;
        if (l.c.kind == Contender::CUSPARSE && (!peer || l.c.us < peer->us)) peer = &l.c;
        if (l.c.kind != Contender::AMB) continue;
        if (l.c.label == "amb") amb = &l.c;
        else if (!best || l.c.us < best->us) best = &l.c;
      }
      if (!peer || !amb) continue;
      printf("%-22.22s %-9s %10lld %9.2f %-12s %9.2f %6.2f ", f->matrix.c_str(), op, (long long)f->nz, peer->us, peer->label.c_str(), amb->us, peer->us / amb->us);
      if (best) printf("%9.2f %6.2f  %s", best->us, peer->us / best->us, best->label.c_str());
      printf("\n");
      all += log(peer->us / amb->us);
      bests += log(peer->us / (best ? std::min(best->us, amb->us) : amb->us));
      least = std::min(least, peer->us / amb->us);
      count++;
    }
    if (count) printf("%-22s %-9s %d matrices: geometric mean %.3f, least %.3f; with the best of all tries %.3f\n", "", op, count, exp(all / count), least, exp(bests / count));
  }
}

/* For each contender the median and the least of its speed over the best of cuSPARSE's, if it met several matrices */
static void ReportMedians(const std::vector<Line> &lines)
{
  std::vector<std::string> labels;

  for (const Line &l : lines) {
    if (l.op == "mult" && l.ratio > 0 && l.c.kind != Contender::CUSPARSE && l.c.kind != Contender::READ && std::find(labels.begin(), labels.end(), l.c.label) == labels.end()) labels.push_back(l.c.label);
  }
  for (const std::string &label : labels) {
    std::vector<double> speeds;

    for (const Line &l : lines) {
      double peer = 0;

      if (l.op != "mult" || l.c.label != label || l.c.wrong) continue;
      for (const Line &p : lines) {
        if (p.matrix == l.matrix && p.op == "mult" && p.c.kind == Contender::CUSPARSE && !p.c.wrong && (!(peer > 0) || p.c.us < peer)) peer = p.c.us;
      }
      if (peer > 0) speeds.push_back(peer / l.c.us);
    }
    if (speeds.size() > 1) printf("%-22s over cusparse on %zu matrices: median %.3f, least %.3f\n", label.c_str(), speeds.size(), Median(speeds), *std::min_element(speeds.begin(), speeds.end()));
  }
}

/* How many times longer than the search's product the model's takes, the model's with the fastest kernel, and the tuner's */
static void ReportSearch(const std::vector<Line> &lines)
{
  static const char *const labels[] = {"model", "model, best kernel", "amb"};
  std::vector<double>      times[3];

  for (const Line &l : lines) {
    if (l.op != "mult" || l.c.label != "search" || l.c.wrong) continue;
    if (times[0].empty()) printf("\n%-22s %9s %9s %9s %9s  over the search's time\n", "matrix", "search us", "model", "kernel", "tuner");
    printf("%-22.22s %9.2f", l.matrix.c_str(), l.c.us);
    for (int k = 0; k < 3; k++) {
      for (const Line &o : lines) {
        if (o.matrix != l.matrix || o.op != "mult" || o.c.label != labels[k]) continue;
        times[k].push_back(o.c.us / l.c.us);
        printf(" %9.3f", times[k].back());
        break;
      }
    }
    printf("\n");
  }
  for (int k = 0; k < 3 && !times[0].empty(); k++) {
    printf("%-22s on %zu matrices: median %.3f, most %.3f, %d within 5 %%\n", labels[k], times[k].size(), Median(times[k]), *std::max_element(times[k].begin(), times[k].end()),
           (int)std::count_if(times[k].begin(), times[k].end(), [](double t) { return t <= 1.05; }));
  }
}

/* ---- One matrix ---- */

/* A matrix in the formats of petsc-amb */
struct Formats {
  std::vector<Ours>       ours = std::vector<Ours>(1);
  std::vector<Segmented>  segmented;
  std::vector<Compressed> compressed;
  std::vector<Tiled>      tiled;
};

/* What the model of tile-composite chose and predicted, beside the fastest of all parameters; how good its predictions are */
static void ReportTiled(const std::vector<Tiled> &tiled, const std::vector<Contender> &contenders)
{
  const Contender *best = Best(contenders, Contender::TILE);
  int              near = 0, n = 0;

  if (!best) return;
  for (const Tiled &u : tiled) {
    for (const Contender &c : contenders) {
      const double predicted = 1e6 * TileDeviceLayout(u.A)->time;

      if (c.kind != Contender::TILE || c.label != u.label || c.wrong) continue;
      n++;
      near += fabs(predicted / c.us - 1) <= 0.2;
      if (u.label == "tile open") printf("  the model's choice: %.2f us predicted, %.2f measured, %.3f of the fastest of all\n", predicted, c.us, c.us / best->us);
    }
  }
  printf("  the fastest, %s: %.2f us; %d of %d predictions within 20 %%\n", best->label.c_str(), best->us, near, n);
}

typedef SysStatus MultFunction(void *, const SysCSR *, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, SysStream);

static void Product(const Machine &M, const Options &o, const std::string &name, const char *op, const Matrix &A, const Matrix &reference_matrix, const DeviceMatrix &D, const DeviceMatrix *explicit_transpose, Formats &formats, std::vector<Line> &lines)
{
  const bool             add = !strcmp(op, "multadd"), transpose = explicit_transpose != nullptr;
  const SysScalar        beta = add ? 1 : 0;
  const Reference        R    = MakeReference(reference_matrix, reference_matrix.a, add);
  const SysCSR           csr  = D.CSR();
  Array<SysScalar>       x(R.x), y(R.y);
  std::vector<Contender> contenders;

  const auto add_format = [&](Contender::Kind kind, const std::string &label, const std::string &parameters, double stored, void *format, MultFunction *mult, MultFunction *multtranspose) {
    MultFunction *const made = transpose ? multtranspose : mult;
    SysScalar          *xa = x.data, *ya = y.data;
    Contender           c;

    c.kind       = kind;
    c.label      = label;
    c.parameters = parameters;
    c.stored     = transpose ? 0 : stored;
    c.run        = [&M, made, format, csr, xa, beta, ya] { CallAmb((*made)(format, &csr, 1, xa, beta, ya, ya, M.stream)); };
    contenders.push_back(c);
  };

  AddCusparse(M, D, transpose, "", beta, x.data, y.data, contenders);
  if (transpose) AddCusparse(M, *explicit_transpose, false, "T", beta, x.data, y.data, contenders);
  for (const Ours &u : formats.ours) {
    AmbDeviceInfo info;

    AmbDeviceGetInfo(u.A, &info);
    add_format(Contender::AMB, u.label, Parameters(info), info.bytes_stored, u.A, AmbDeviceMult, AmbDeviceMultTranspose);
    contenders.back().rounding = info.exact ? Eps : FLT_EPSILON;
  }
  for (const Segmented &u : formats.segmented) add_format(Contender::NUS, u.label, Parameters(u.info), u.info.layout.bytes_stored, u.A, NusDeviceMult, NusDeviceMultTranspose);
  for (const Compressed &u : formats.compressed) add_format(Contender::CCOO, u.label, Parameters(u.info), u.info.bytes_stored, u.A, CcooDeviceMult, CcooDeviceMultTranspose);
  for (const Tiled &u : formats.tiled) add_format(Contender::TILE, u.label, Parameters(u.A), TileLayoutBytes(TileDeviceLayout(u.A)), u.A, TileDeviceMult, TileDeviceMultTranspose);
  for (Contender &c : contenders) {
    if (c.stored > 0) c.bytes = c.stored + (double)(A.m + A.n + (add ? reference_matrix.m : 0)) * sizeof(SysScalar);
  }
  for (const Contender &amb : contenders) {
    if (amb.label != "amb" || !(amb.bytes > 0) || amb.bytes > (double)M.memory->size * sizeof(uint64_t)) continue;
    Contender    c;
    const size_t bytes = (size_t)amb.bytes;

    c.kind  = Contender::READ;
    c.label = "read as many bytes";
    c.bytes = amb.bytes;
    c.run   = [&M, bytes] { M.Reading(bytes); };
    contenders.push_back(c);
    break;
  }
  for (Contender &c : contenders) {
    if (c.kind != Contender::READ) Check(R, y, c);
  }
  Race(M, o, contenders);
  for (Contender &c : contenders) {
    if (c.kind != Contender::READ) Check(R, y, c);
  }
  if (!strcmp(op, "mult")) {
    for (Ours &u : formats.ours) {
      for (const Contender &c : contenders) {
        if (c.kind == Contender::AMB && c.label == u.label) u.us = c.us;
      }
    }
  }
  Report(M, name, op, reference_matrix, contenders, lines);
  if (!strcmp(op, "mult") && o.tilesearch) ReportTiled(formats.tiled, contenders);
}

static void Conversion(const Machine &M, const std::string &name, const Matrix &A, const DeviceMatrix &D, const std::vector<Ours> &ours, std::vector<Line> &lines)
{
  const SysCSR csr = D.CSR();

  for (const Ours &u : ours) {
    for (int measure = 0; measure < 2; measure++) {
      AmbDeviceParams     params = u.params;
      AmbDeviceInfo       info   = {};
      std::vector<double> t;
      Contender           c;

      params.measure = measure;
      for (int k = 0; k < 6; k++) {
        AmbDevice *amb = nullptr;

        CallCuda(cudaDeviceSynchronize());
        const auto start = std::chrono::steady_clock::now();
        CallAmb(AmbDeviceCreate(&csr, &params, M.stream, &amb, &info));
        CallCuda(cudaStreamSynchronize(M.stream));
        if (k) t.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
        AmbDeviceDestroy(amb);
      }
      c.kind       = Contender::AMB;
      c.label      = u.label;
      c.parameters = Parameters(info) + Text(" extra=%.0f", info.bytes_extra);
      c.us         = Median(t);
      c.least      = *std::min_element(t.begin(), t.end());
      c.most       = *std::max_element(t.begin(), t.end());
      ReportCost(name, measure ? "convert, measured" : "convert, model", A, c, c.us / u.us, lines);
    }
  }
}

/* New values and back again; the product with the new ones is checked */
static void Update(const Machine &M, const Options &o, const std::string &name, const Matrix &A, const DeviceMatrix &D, const std::vector<Ours> &ours, std::vector<Line> &lines)
{
  std::vector<double> a(A.a.size());

  for (size_t k = 0; k < a.size(); k++) a[k] = A.a[k] * (1 + MatrixUniform((3ULL << 40) + k));
  const Reference        R = MakeReference(A, a, false);
  const Array<SysScalar> values(std::vector<SysScalar>(a.begin(), a.end()));
  const SysCSR           old = D.CSR();
  Array<SysScalar>       x(R.x), y(R.y);
  SysCSR                 csr = old;
  std::vector<Contender> contenders;

  csr.a = values.data;
  for (const Ours &u : ours) {
    AmbDevice *amb = u.A;
    Contender  c;

    c.kind  = Contender::AMB;
    c.label = u.label;
    c.run   = [&M, amb, csr] { CallAmb(AmbDeviceUpdate(amb, &csr, M.stream)); };
    contenders.push_back(c);
  }
  Race(M, o, contenders);
  for (size_t k = 0; k < ours.size(); k++) {
    AmbDevice    *amb = ours[k].A;
    AmbDeviceInfo info;
    Contender     product;

    product.run = [&] { CallAmb(AmbDeviceMult(amb, &csr, 1, x.data, 0, nullptr, y.data, M.stream)); };
    AmbDeviceGetInfo(amb, &info);
    product.rounding = info.exact ? Eps : FLT_EPSILON;
    Check(R, y, product);
    contenders[k].error = product.error;
    contenders[k].wrong = product.wrong;
    CallAmb(AmbDeviceUpdate(amb, &old, M.stream));
    ReportCost(name, "update", A, contenders[k], contenders[k].us / ours[k].us, lines);
  }
}

/* Converts a matrix, and says how long that took */
static void Timed(const Machine &M, const std::string &label, const std::function<SysStatus()> &convert)
{
  const auto start = std::chrono::steady_clock::now();

  CallAmb(convert());
  CallCuda(cudaStreamSynchronize(M.stream));
  printf("  %s: converted in %.1f ms\n", label.c_str(), std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
}

/* ---- The search ---- */

#define SEARCH_BYTES   1.5 /* layouts with so many times the bytes of the model's are not timed, */
#define SEARCH_SECONDS 5.  /* after so long a search begins no further block size */
#define SEARCH_FAR     1.3 /* and those that take so many times the time of the best with one kernel not with the others */

/* Times the product with each kernel and each size of thread blocks, the one at hand first; A is left with the fastest. Returns its microseconds. */
static double SearchKernel(const Machine &M, AmbDevice *A, const std::function<void()> &run, double least)
{
  const int threads = A->info.threads, deep = A->deep;
  double    best         = std::numeric_limits<double>::infinity();
  int       best_threads = threads, best_deep = deep;

  const auto time = [&](int t, int d) {
    double us = std::numeric_limits<double>::infinity();

    A->info.threads = t;
    A->deep         = d;
    const int n     = std::max(3, std::min(200, (int)(500 / M.Time(2, run))));
    for (int k = 0; k < 3; k++) us = std::min(us, M.Time(n, run));
    if (us < best) {
      best         = us;
      best_threads = t;
      best_deep    = d;
    }
  };
  time(threads, deep);
  for (int d = 0; d < 2 && best < SEARCH_FAR * least; d++) {
    for (int t = 64; t <= AMB_MOST_THREADS; t *= 2) {
      if (t != threads || d != deep) time(t, d);
    }
  }
  A->info.threads = best_threads;
  A->deep         = best_deep;
  return best;
}

/* All block sizes, orders of rows, numbers of steps, kernels and sizes of thread blocks; adds the model's layout with the fastest kernel for it, and the fastest of all */
static void Search(const Machine &M, const SysCSR &csr, Formats &formats)
{
  Array<SysScalar> x(RandomVector(csr.n, 1)), y(csr.m);
  Ours             kernel, found;
  AmbDeviceInfo    info;
  double           least, best = std::numeric_limits<double>::infinity(); /* the model's layout at first, and the best of the search */
  int              layouts = 0, last = 0;
  const auto       product = [&](AmbDevice *A) { return [&M, &csr, &x, &y, A] { CallAmb(AmbDeviceMult(A, &csr, 1, x.data, 0, nullptr, y.data, M.stream)); }; };

  CallAmb(AmbDeviceCreate(&csr, &kernel.params, M.stream, &kernel.A, &info));
  const double most = SEARCH_BYTES * info.bytes_stored;
  least             = SearchKernel(M, kernel.A, product(kernel.A), std::numeric_limits<double>::infinity());
  const auto start  = std::chrono::steady_clock::now();
  for (int b = 1; b <= AMB_MAX_BLOCK && b <= csr.n; b++) {
    last = b;
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > SEARCH_SECONDS) break;
    for (int order = 1; order <= 2; order++) {
      for (int steps = 8; steps <= 64; steps *= 2) {
        Ours u;

        u.params.block_size = b;
        u.params.order      = order;
        u.params.steps      = steps;
        CallAmb(AmbDeviceCreate(&csr, &u.params, M.stream, &u.A, &info));
        if (info.bytes_stored <= most) {
          const double us = SearchKernel(M, u.A, product(u.A), least);

          layouts++;
          if (us < best) std::swap(u, found);
          best  = std::min(us, best);
          least = std::min(us, least);
        }
        AmbDeviceDestroy(u.A);
      }
    }
  }
  kernel.label = "model, best kernel";
  found.label  = "search";
  printf("  search: %d layouts timed in %.2f s, up to blocks of %d\n", layouts, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), last);
  formats.ours.push_back(kernel);
  formats.ours.push_back(found);
}

static void Convert(const Machine &M, const Options &o, const SysCSR &csr, Formats &formats)
{
  formats.ours[0].label          = "amb";
  formats.ours[0].params.measure = 1;
  for (const std::string &t : o.tries) {
    Ours u;

    u.label = t.empty() ? "model" : t;
    (void)ParseTry(t, u.params, u.kernel);
    formats.ours.push_back(u);
  }
  if (o.search) {
    Ours u;

    u.label = "model";
    formats.ours.push_back(u);
  }
  for (Ours &u : formats.ours) {
    AmbDeviceInfo info;

    CallAmb(AmbDeviceCreate(&csr, &u.params, M.stream, &u.A, &info));
    if (u.kernel) u.A->deep = u.kernel - 1;
  }
  if (o.search) Search(M, csr, formats);
  for (const std::string &t : o.segments) {
    Segmented u;

    u.label = "nus " + t;
    (void)ParseSegments(t, u.params, u.tune);
    Timed(M, u.label, [&] { return NusDeviceCreate(&csr, &u.params, u.tune, M.stream, &u.A, &u.info); });
    formats.segmented.push_back(u);
  }
  for (const std::string &t : o.compressed) {
    Compressed u;

    (void)ParseCompressed(t, u);
    Timed(M, u.label, [&] { return CcooDeviceCreate(&csr, &u.params, u.atomics, M.stream, &u.A, &u.info); });
    formats.compressed.push_back(u);
  }
  for (const std::string &t : o.tiled) {
    Tiled       u;
    TileModel   model;
    int         regular;
    const char *wrong = o.table.empty() ? NULL : TileModelRead(o.table.c_str(), &model);

    (void)ParseTiled(t, u);
    if (wrong) Stop(o.table.c_str(), wrong);
    Timed(M, u.label, [&] { return TileDeviceCreate(&csr, &u.params, o.table.empty() ? NULL : &model, 0, &regular, M.stream, &u.A); });
    formats.tiled.push_back(u);
  }
}

static void OneMatrix(const Machine &M, const Options &o, const std::string &name, std::vector<Line> &lines)
{
  Matrix            A;
  Formats           formats;
  const std::string reason = MatrixCreate(name, A);
  const size_t      slash  = name.rfind('/');
  std::string       label  = slash == std::string::npos ? name : name.substr(slash + 1);

  if (!reason.empty()) Stop("input", reason.c_str());
  if (label.size() > 4 && label.substr(label.size() - 4) == ".mtx") label.resize(label.size() - 4);
  printf("\n%s: %lld x %lld, %lld nonzeros\n", label.c_str(), (long long)A.m, (long long)A.n, (long long)A.j.size());
  const DeviceMatrix D(A);

  Convert(M, o, D.CSR(), formats);
  Product(M, o, label, "mult", A, A, D, nullptr, formats, lines);
  if (o.Asks("multadd")) Product(M, o, label, "multadd", A, A, D, nullptr, formats, lines);
  if (o.Asks("update")) Update(M, o, label, A, D, formats.ours, lines);
  if (o.Asks("convert")) Conversion(M, label, A, D, formats.ours, lines);
  if (o.Asks("transpose")) {
    const Matrix       T = MatrixTranspose(A);
    const DeviceMatrix DT(T);

    Product(M, o, label, "transpose", A, T, D, &DT, formats, lines);
  }
  for (Ours &u : formats.ours) AmbDeviceDestroy(u.A);
  for (Segmented &u : formats.segmented) NusDeviceDestroy(u.A);
  for (Compressed &u : formats.compressed) CcooDeviceDestroy(u.A);
  for (Tiled &u : formats.tiled) TileDeviceDestroy(u.A);
}

/* Matrices of more than 900,000 rows: grids with constant and with varying coefficients, finite elements with few and with many values, graphs, bands, and few
   random entries a row, as in circuits */
static const char *const large[] = {"p5:1024,1", "p5:1024", "p5:2000,60", "p7:101,1", "p7:101", "p7:128,60", "p9:1000,1", "p9:1000", "p27:101,1", "p27:101", "elas:68,1", "elas:68,60", "elas:68", "er:20,4", "er:20,16", "g500:20,8", "band:1000000,50,7", "band:1000000,1000,20", "rand:1000000,1000000,3", "rand:1000000,1000000,8"};

static bool ParseOptions(int argc, char **argv, Options &o)
{
  for (int k = 1; k < argc; k++) {
    const std::string word = argv[k];
    AmbDeviceParams   params;
    NusParams         segments;
    NusDeviceTune     tune;
    Compressed        one;
    Tiled             tile;
    int               kernel;

    if (word[0] != '-') {
      o.matrices.push_back(word);
      continue;
    }
    if (word == "-search") {
      o.search = true;
      continue;
    }
    if (++k == argc) return false;
    if (word == "-set") {
      if (std::string(argv[k]) != "large") return false;
      o.matrices.insert(o.matrices.end(), std::begin(large), std::end(large));
    } else if (word == "-try") {
      if (!ParseTry(argv[k], params, kernel)) return false;
      o.tries.push_back(argv[k]);
    } else if (word == "-nus") {
      if (!ParseSegments(argv[k], segments, tune)) return false;
      o.segments.push_back(argv[k]);
    } else if (word == "-ccoo") {
      if (!ParseCompressed(argv[k], one)) return false;
      o.compressed.push_back(argv[k]);
    } else if (word == "-tile" && std::string(argv[k]) == "search") {
      o.tilesearch = true;
      o.tiled      = TiledSearch();
    } else if (word == "-tile") {
      if (!ParseTiled(argv[k], tile)) return false;
      o.tiled.push_back(argv[k]);
    } else if (word == "-tiletable") {
      o.table = argv[k];
    } else if (word == "-ops") {
      const std::string list = std::string(argv[k]) + ",";

      o.ops.clear();
      for (size_t begin = 0, end; (end = list.find(',', begin)) != std::string::npos; begin = end + 1) {
        const std::string op = list.substr(begin, end - begin);

        if (op != "mult" && op != "multadd" && op != "transpose" && op != "convert" && op != "update") return false;
        o.ops.push_back(op);
      }
    } else if (word == "-csv") {
      o.csv = argv[k];
    } else if (word == "-rounds") {
      o.rounds = atoi(argv[k]);
    } else if (word == "-batches") {
      o.batches = atoi(argv[k]);
    } else {
      return false;
    }
  }
  return !o.matrices.empty() && o.rounds > 0 && o.batches > 0;
}

int main(int argc, char **argv)
{
  Options           o;
  Machine           M;
  std::vector<Line> lines;

  if (!ParseOptions(argc, argv, o)) {
    fprintf(stderr, "spmv [-try b=3,threads=128,kernel=1,steps=16,measure=0,live=1,values=1,order=2,columns=1,scope=1024]... [-search] [-nus none|uniform,s2=65536|nonuniform,s1=8192,k1=1,s2=65536,k2=1,values=1]... [-ccoo "
                    "open|b=256,k=2,table=0,atomics=1]... [-tile "
                    "search|open|width=65535,tiles=2,work=512,coo=1]... "
                    "[-tiletable FILE] [-ops mult,multadd,transpose,convert,update] [-rounds "
                    "3] [-batches 5] [-csv FILE] [-set large] MATRIX...\n"
                    "MATRIX is a Matrix Market file or p5:S[,DISTINCT] p7: p9: p27: elas:S[,DISTINCT] (65536: floats) er:SCALE,FACTOR g500:SCALE,FACTOR band:ROWS,WIDTH,ENTRIES rand:ROWS,COLUMNS,ENTRIES\n");
    return 2;
  }
  MachineStart(M);
  if (!o.table.empty() && access(o.table.c_str(), R_OK)) {
    TileModel model;

    CallAmb(TileDeviceMeasure(&model));
    if (!TileModelWrite(o.table.c_str(), &model)) Stop(o.table.c_str(), "it cannot be written");
  }
  for (const std::string &name : o.matrices) {
    OneMatrix(M, o, name, lines);
    if (!o.csv.empty()) WriteCSV(o.csv, lines); /* whoever is cut short keeps what is done */
  }
  ReportTable(lines);
  ReportMedians(lines);
  ReportSearch(lines);
  return std::any_of(lines.begin(), lines.end(), [](const Line &l) { return l.c.wrong; });
}
