/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Sparse products on a CUDA device, without PETSc. C = A A: ours, whole and by phases, and cuSPARSE's algorithms, in the same run. P^T A P, with a P
   that interpolates from a coarser grid: ours. See docs/bench.md.
*/
#include "device.h"
#include "mat/impls/hashgemm/cuda/spgemmcuda.h"

/* To the caller: cuSPARSE may have no memory for a product */
#define TryCusparse(call) \
  do { \
    const cusparseStatus_t status_ = (call); \
    if (status_ != CUSPARSE_STATUS_SUCCESS) return std::string(cusparseGetErrorString(status_)); \
  } while (0)

struct Machine {
  cudaStream_t         stream;
  cusparseHandle_t     cusparse;
  cudaMemPool_t        pool; /* for cuSPARSE: memory once taken is kept, as in ours */
  SpgemmDeviceContext *context;
};

struct DeviceMatrix {
  SysCSR csr;

  explicit DeviceMatrix(const Matrix &A)
  {
    const std::vector<SysScalar> values(A.a.begin(), A.a.end());
    int                         *i, *j;
    SysScalar                   *a;

    CallCuda(cudaMalloc((void **)&i, A.i.size() * sizeof(int)));
    CallCuda(cudaMalloc((void **)&j, std::max<size_t>(A.j.size(), 1) * sizeof(int)));
    CallCuda(cudaMalloc((void **)&a, std::max<size_t>(A.j.size(), 1) * sizeof(SysScalar)));
    CallCuda(cudaMemcpy(i, A.i.data(), A.i.size() * sizeof(int), cudaMemcpyHostToDevice));
    CallCuda(cudaMemcpy(j, A.j.data(), A.j.size() * sizeof(int), cudaMemcpyHostToDevice));
    CallCuda(cudaMemcpy(a, values.data(), values.size() * sizeof(SysScalar), cudaMemcpyHostToDevice));
    csr = {A.m, A.n, (int64_t)A.j.size(), i, j, a};
  }
  DeviceMatrix(const DeviceMatrix &)            = delete;
  DeviceMatrix &operator=(const DeviceMatrix &) = delete;
  ~DeviceMatrix()
  {
    (void)cudaFree((void *)csr.i);
    (void)cudaFree((void *)csr.j);
    (void)cudaFree((void *)csr.a);
  }
};

static double Now()
{
  return 1e3 * std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/* Milliseconds until all of it is done, as a program sees it */
static double Milliseconds(const Machine &M, const std::function<void()> &run)
{
  CallCuda(cudaStreamSynchronize(M.stream));
  const double begin = Now();
  run();
  CallCuda(cudaStreamSynchronize(M.stream));
  return Now() - begin;
}

struct Result {
  int64_t    nz = 0;
  int       *i = nullptr, *j = nullptr;
  SysScalar *a = nullptr;
};

/* ---- Ours ---- */

static void CallSpgemm(const char *call, SysStatus status, const SpgemmInfo &info)
{
  if (status != SYS_SUCCESS) Stop(call, Text("status %d, %s; %.0f products, %.0f nonzeros, %.0f bytes asked", (int)status, SysDeviceErrorText(), info.products, info.nonzeros, info.bytes_asked).c_str());
}

struct Ours {
  const Machine    &M;
  const SysCSR     &A;
  SpgemmAccumulator accumulator;
  SpgemmDevice     *S = nullptr;
  SpgemmInfo        info;
  Result            C;

  Ours(const Machine &machine, const SysCSR &a, SpgemmAccumulator how = SPGEMM_AUTO) : M(machine), A(a), accumulator(how) { }
  Ours(const Ours &)            = delete;
  Ours &operator=(const Ours &) = delete;
  ~Ours() { Free(); }

  void Free()
  {
    SpgemmDeviceDestroy(&S, M.stream);
    SysPoolRelease(C.i, M.stream);
    SysPoolRelease(C.j, M.stream);
    SysPoolRelease(C.a, M.stream);
    C = Result();
  }
  SysStatus Count() { return SpgemmDeviceCreate(M.context, SPGEMM_AB, accumulator, &A, &A, NULL, M.stream, &S, &info); }
  void      Allocate()
  {
    C.nz = (int64_t)info.nonzeros;
    CallSpgemm("allocation", SysPoolAllocate(sizeof(int) * (size_t)(A.m + 1), &C.i, M.stream), info);
    CallSpgemm("allocation", SysPoolAllocate(sizeof(int) * (size_t)C.nz, &C.j, M.stream), info);
    CallSpgemm("allocation", SysPoolAllocate(sizeof(SysScalar) * (size_t)C.nz, &C.a, M.stream), info);
  }
  void Fill(bool values) { CallSpgemm("fill", SpgemmDeviceFill(S, &A, &A, NULL, C.i, C.j, values ? C.a : NULL, M.stream), info); }
  void Revalue() { CallSpgemm("new values", SpgemmDeviceRevalue(S, &A, &A, NULL, C.i, C.j, C.a, M.stream), info); }
  void Whole()
  {
    CallSpgemm("count", Count(), info);
    Allocate();
    Fill(true);
  }
};

/* ---- cuSPARSE ---- */

struct Cusparse {
  const Machine        &M;
  const SysCSR         &A;
  cusparseSpGEMMAlg_t   algorithm;
  std::vector<void *>   memory;
  cusparseSpMatDescr_t  a = nullptr, c = nullptr;
  cusparseSpGEMMDescr_t product = nullptr;
  SysScalar             one = 1, zero = 0;
  size_t                bytes = 0;
  Result                C;

  Cusparse(const Machine &machine, const SysCSR &A_, cusparseSpGEMMAlg_t alg) : M(machine), A(A_), algorithm(alg) { }
  Cusparse(const Cusparse &)            = delete;
  Cusparse &operator=(const Cusparse &) = delete;
  ~Cusparse() { Free(); }

  void Free()
  {
    for (void *p : memory) (void)cudaFreeAsync(p, M.stream);
    memory.clear();
    if (product) (void)cusparseSpGEMM_destroyDescr(product);
    if (a) (void)cusparseDestroySpMat(a);
    if (c) (void)cusparseDestroySpMat(c);
    product = nullptr;
    a = c = nullptr;
    bytes = 0;
    C     = Result();
  }
  template <typename T>
  bool Take(T **p, size_t n)
  {
    *p = nullptr;
    if (cudaMallocFromPoolAsync((void **)p, n ? n : 1, M.pool, M.stream) != cudaSuccess) {
      (void)cudaGetLastError();
      return false;
    }
    memory.push_back(*p);
    bytes += n;
    return true;
  }
  std::string TakeResult()
  {
    int64_t m, n;

    TryCusparse(cusparseSpMatGetSize(c, &m, &n, &C.nz));
    if (!Take(&C.j, sizeof(int) * (size_t)C.nz) || !Take(&C.a, sizeof(SysScalar) * (size_t)C.nz)) return "no memory";
    bytes -= (sizeof(int) + sizeof(SysScalar)) * (size_t)C.nz;
    TryCusparse(cusparseCsrSetPointers(c, C.i, C.j, C.a));
    return "";
  }
  std::string Start()
  {
    TryCusparse(cusparseCreateCsr(&a, A.m, A.n, A.nz, (void *)A.i, (void *)A.j, (void *)A.a, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, Type));
    if (!Take(&C.i, sizeof(int) * (size_t)(A.m + 1))) return "no memory";
    bytes -= sizeof(int) * (size_t)(A.m + 1);
    TryCusparse(cusparseCreateCsr(&c, A.m, A.n, 0, C.i, NULL, NULL, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, Type));
    TryCusparse(cusparseSpGEMM_createDescr(&product));
    return "";
  }
  std::string Whole()
  {
    const cusparseOperation_t op = CUSPARSE_OPERATION_NON_TRANSPOSE;
    const cusparseHandle_t    h  = M.cusparse;
    void                     *buffer;
    size_t                    size   = 0;
    std::string               reason = Start();

    if (!reason.empty()) return reason;
    TryCusparse(cusparseSpGEMM_workEstimation(h, op, op, &one, a, a, &zero, c, Type, algorithm, product, &size, NULL));
    if (!Take(&buffer, size)) return "no memory";
    TryCusparse(cusparseSpGEMM_workEstimation(h, op, op, &one, a, a, &zero, c, Type, algorithm, product, &size, buffer));
    if (algorithm != CUSPARSE_SPGEMM_ALG1) {
      TryCusparse(cusparseSpGEMM_estimateMemory(h, op, op, &one, a, a, &zero, c, Type, algorithm, product, 0.2f, &size, NULL, NULL));
      if (!Take(&buffer, size)) return "no memory";
      size_t need = 0;
      TryCusparse(cusparseSpGEMM_estimateMemory(h, op, op, &one, a, a, &zero, c, Type, algorithm, product, 0.2f, &size, buffer, &need));
      size = need;
    } else {
      size = 0;
      TryCusparse(cusparseSpGEMM_compute(h, op, op, &one, a, a, &zero, c, Type, algorithm, product, &size, NULL));
    }
    if (!Take(&buffer, size)) return "no memory";
    TryCusparse(cusparseSpGEMM_compute(h, op, op, &one, a, a, &zero, c, Type, algorithm, product, &size, buffer));
    reason = TakeResult();
    if (!reason.empty()) return reason;
    TryCusparse(cusparseSpGEMM_copy(h, op, op, &one, a, a, &zero, c, Type, algorithm, product));
    return "";
  }
  /* The interface that keeps the pattern */
  std::string Reusable()
  {
    const cusparseOperation_t op  = CUSPARSE_OPERATION_NON_TRANSPOSE;
    const cusparseSpGEMMAlg_t alg = CUSPARSE_SPGEMM_DEFAULT;
    const cusparseHandle_t    h   = M.cusparse;
    void                     *buffer[5];
    size_t                    size[5] = {0, 0, 0, 0, 0};
    std::string               reason  = Start();

    if (!reason.empty()) return reason;
    TryCusparse(cusparseSpGEMMreuse_workEstimation(h, op, op, a, a, c, alg, product, &size[0], NULL));
    if (!Take(&buffer[0], size[0])) return "no memory";
    TryCusparse(cusparseSpGEMMreuse_workEstimation(h, op, op, a, a, c, alg, product, &size[0], buffer[0]));
    TryCusparse(cusparseSpGEMMreuse_nnz(h, op, op, a, a, c, alg, product, &size[1], NULL, &size[2], NULL, &size[3], NULL));
    for (int k = 1; k < 4; k++) {
      if (!Take(&buffer[k], size[k])) return "no memory";
    }
    TryCusparse(cusparseSpGEMMreuse_nnz(h, op, op, a, a, c, alg, product, &size[1], buffer[1], &size[2], buffer[2], &size[3], buffer[3]));
    reason = TakeResult();
    if (!reason.empty()) return reason;
    TryCusparse(cusparseSpGEMMreuse_copy(h, op, op, a, a, c, alg, product, &size[4], NULL));
    if (!Take(&buffer[4], size[4])) return "no memory";
    TryCusparse(cusparseSpGEMMreuse_copy(h, op, op, a, a, c, alg, product, &size[4], buffer[4]));
    return Again();
  }
  std::string Again()
  {
    const cusparseOperation_t op = CUSPARSE_OPERATION_NON_TRANSPOSE;

    TryCusparse(cusparseSpGEMMreuse_compute(M.cusparse, op, op, &one, a, a, &zero, c, Type, CUSPARSE_SPGEMM_DEFAULT, product));
    return "";
  }
};

/* ---- Checks ---- */

template <typename T>
static std::vector<T> Download(const T *data, size_t n)
{
  std::vector<T> host(n);

  CallCuda(cudaMemcpy(host.data(), data, n * sizeof(T), cudaMemcpyDeviceToHost));
  return host;
}

/* Rows of the result against sums on the host: some, if there are many products. Returns what is wrong, or nothing. */
static std::string Check(const Matrix &A, const Result &C, double products)
{
  const std::vector<int>       i = Download(C.i, (size_t)A.m + 1), j = Download(C.j, (size_t)C.nz);
  const std::vector<SysScalar> a      = Download(C.a, (size_t)C.nz);
  const int64_t                stride = std::max<int64_t>(1, (int64_t)(products / 1e8));
  std::string                  wrong;

  if (i[0] != 0 || i[(size_t)A.m] != C.nz) return Text("it begins at %d and ends at %d", i[0], i[(size_t)A.m]);
#pragma omp parallel
  {
    std::vector<double> sum((size_t)A.n), scale((size_t)A.n);
    std::vector<int>    seen((size_t)A.n, -1), columns;

#pragma omp for schedule(dynamic, 64)
    for (int64_t r = 0; r < A.m; r++) {
      std::string what;

      if (r % stride && A.i[r + 1] - A.i[r] < 2000) continue;
      columns.clear();
      for (int k = A.i[r]; k < A.i[r + 1]; k++) {
        for (int l = A.i[A.j[k]]; l < A.i[A.j[k] + 1]; l++) {
          const int    c = A.j[l];
          const double p = (double)(SysScalar)A.a[k] * (double)(SysScalar)A.a[l];

          if (seen[c] != (int)r) {
            seen[c] = (int)r;
            sum[c] = scale[c] = 0;
            columns.push_back(c);
          }
          sum[c] += p;
          scale[c] += fabs(p);
        }
      }
      if (i[r + 1] - i[r] != (int)columns.size()) what = Text("row %lld has %d entries instead of %zu", (long long)r, i[r + 1] - i[r], columns.size());
      for (int k = i[r]; what.empty() && k < i[r + 1]; k++) {
        if (j[k] < 0 || j[k] >= A.n || seen[j[k]] != (int)r || (k > i[r] && j[k] <= j[k - 1])) what = Text("row %lld (%zu entries), entry %d has column %d", (long long)r, columns.size(), k - i[r], j[k]);
        else if (!(fabs((double)a[k] - sum[j[k]]) <= scale[j[k]] * Eps * (A.i[r + 1] - A.i[r] + 4))) what = Text("row %lld (%zu entries), entry %d is %.17g instead of %.17g", (long long)r, columns.size(), k - i[r], (double)a[k], sum[j[k]]);
      }
      if (!what.empty()) {
#pragma omp critical
        if (wrong.empty()) wrong = what;
      }
    }
  }
  return wrong;
}

/* ---- One matrix ---- */

/*
   P^T A P as algebraic multigrid asks for it: an unknown belongs to the aggregate of those near it in the order of the rows, or on the grid that the
   generators make, and the prolongator is smoothed once, so that a row of P has the aggregates of all its neighbours. In elasticity the three unknowns of
   a node have the same row of P, with six columns for each aggregate.
*/
static Matrix Prolongator(const Matrix &A, const std::string &name)
{
  const bool       elastic = name.rfind("elas:", 0) == 0, grid = elastic || name.rfind("p7:", 0) == 0 || name.rfind("p27:", 0) == 0;
  const int64_t    unknowns = elastic ? 3 : 1, modes = elastic ? 6 : 1, s = grid ? (int64_t)llround(cbrt((double)(A.m / unknowns))) : 0, c = (s + 2) / 3;
  std::vector<int> near;
  Matrix           P;

  auto aggregate = [&](int64_t r) { return grid ? (int)((r / s / s / 3 * c + r / s % s / 3) * c + r % s / 3) : (int)(r / 27); };
  P.m            = A.m;
  P.n            = modes * (grid ? c * c * c : (A.m + 26) / 27);
  P.i.push_back(0);
  for (int64_t r = 0; r < A.m; r++) {
    near.assign(1, aggregate(r / unknowns));
    for (int k = A.i[r]; k < A.i[r + 1]; k++) near.push_back(aggregate(A.j[k] / unknowns));
    std::sort(near.begin(), near.end());
    near.erase(std::unique(near.begin(), near.end()), near.end());
    for (int n : near) {
      for (int64_t mode = 0; mode < modes; mode++) {
        P.j.push_back((int)(n * modes + mode));
        P.a.push_back(MatrixUniform(P.j.size()));
      }
    }
    P.i.push_back((int)P.j.size());
  }
  return P;
}

static void Galerkin(const Machine &M, const Matrix &A, const DeviceMatrix &D, const std::string &name, int repeat)
{
  const Matrix        P = Prolongator(A, name);
  const DeviceMatrix  E(P);
  std::vector<double> whole, kept, again;
  SpgemmInfo          info;

  for (int k = 0; k < repeat + 1; k++) {
    SpgemmDevice *S = NULL;
    Result        C;
    const double  t = Milliseconds(M, [&] {
      CallSpgemm("count", SpgemmDeviceCreate(M.context, SPGEMM_PTAP, SPGEMM_AUTO, &D.csr, &E.csr, NULL, M.stream, &S, &info), info);
      CallSpgemm("allocation", SysPoolAllocate(sizeof(int) * (size_t)(P.n + 1), &C.i, M.stream), info);
      CallSpgemm("allocation", SysPoolAllocate(sizeof(int) * (size_t)info.nonzeros, &C.j, M.stream), info);
      CallSpgemm("allocation", SysPoolAllocate(sizeof(SysScalar) * (size_t)info.nonzeros, &C.a, M.stream), info);
      CallSpgemm("fill", SpgemmDeviceFill(S, &D.csr, &E.csr, NULL, C.i, C.j, C.a, M.stream), info);
    });

    if (k) whole.push_back(t);
    for (int time = 0; time < 2; time++) {
      const double t2 = Milliseconds(M, [&] { CallSpgemm("new values", SpgemmDeviceRevalue(S, &D.csr, &E.csr, NULL, C.i, C.j, C.a, M.stream), info); });

      (time ? again : kept).push_back(t2);
    }
    SpgemmDeviceGetInfo(S, &info);
    SpgemmDeviceDestroy(&S, M.stream);
    SysPoolRelease(C.i, M.stream);
    SysPoolRelease(C.j, M.stream);
    SysPoolRelease(C.a, M.stream);
  }
  printf("  P^T A P, %lld columns of P, %zu nonzeros: %.3f ms, new values %.3f, the first time %.3f; %.0f products, %.0f nonzeros, %.0f MB kept, %.0f MB at most\n", (long long)P.n, P.j.size(), Median(whole), Median(again), Median(kept), info.products,
         info.nonzeros, info.bytes_kept / 1e6, info.bytes_peak / 1e6);
  fflush(stdout);
}

/* Every accumulator in turns, so that a change of the machine meets all of them */
static bool Accumulators(const Machine &M, const Matrix &A, const DeviceMatrix &D, int repeat)
{
  static const struct {
    const char       *name;
    SpgemmAccumulator accumulator;
  } all[] = {
    {"auto",   SPGEMM_AUTO },
    {"words",  SPGEMM_WORDS},
    {"window", SPGEMM_DENSE},
    {"esc",    SPGEMM_ESC  },
    {"heap",   SPGEMM_HEAP },
    {"merge",  SPGEMM_MERGE},
    {"hash",   SPGEMM_HASH }
  };
  constexpr int       Count = (int)(sizeof(all) / sizeof(*all));
  std::vector<double> whole[Count], count[Count], pattern[Count], values[Count], again[Count];
  SpgemmInfo          info[Count];
  bool                good = true;

  for (int k = 0; k < repeat + 1; k++) {
    for (int turn = 0; turn < Count; turn++) {
      const int    way = (k + turn) % Count; /* another one is the first each time */
      Ours         ours(M, D.csr, all[way].accumulator);
      const double t = Milliseconds(M, [&] { ours.Whole(); });

      if (k) whole[way].push_back(t);
      (void)Milliseconds(M, [&] { ours.Revalue(); });
      again[way].push_back(Milliseconds(M, [&] { ours.Revalue(); }));
      info[way] = ours.info;
      if (k == repeat) {
        const std::string wrong = Check(A, ours.C, ours.info.products);

        if (!wrong.empty()) printf("  WRONG by %s: %s\n", all[way].name, wrong.c_str());
        good &= wrong.empty();
      }
      ours.Free();
      count[way].push_back(Milliseconds(M, [&] { (void)ours.Count(); }));
      ours.Allocate();
      pattern[way].push_back(Milliseconds(M, [&] { ours.Fill(false); }));
      values[way].push_back(Milliseconds(M, [&] { CallSpgemm("first values", SpgemmDeviceFirstValues(ours.S, &D.csr, &D.csr, NULL, ours.C.i, ours.C.j, ours.C.a, M.stream), ours.info); }));
    }
  }
  for (int way = 0; way < Count; way++) {
    printf("  %-6s %8.3f ms (%.2f of auto's), count %.3f, pattern %.3f, values %.3f, new values %.3f; extra bytes %.2f of C's; rows copied %.0f, hash %.0f, windows %.0f, sorted %.0f, esc %.0f, heap %.0f, merge %.0f, table %.0f\n", all[way].name, Median(whole[way]), Median(whole[way]) / Median(whole[0]), Median(count[way]), Median(pattern[way]), Median(values[way]), Median(again[way]),
           info[way].bytes_peak / (info[way].nonzeros * (sizeof(int) + sizeof(SysScalar)) + 4. * (double)A.m), info[way].rows[SPGEMM_ROWS_COPIED], info[way].rows[SPGEMM_ROWS_WORDS], info[way].rows[SPGEMM_ROWS_WINDOW], info[way].rows[SPGEMM_ROWS_SORT],
           info[way].rows[SPGEMM_ROWS_ESC], info[way].rows[SPGEMM_ROWS_HEAP], info[way].rows[SPGEMM_ROWS_MERGE], info[way].rows[SPGEMM_ROWS_HASH]);
  }
  fflush(stdout);
  return good;
}

struct Options {
  std::vector<std::string> matrices;
  int                      repeat      = 7;
  bool                     once        = false; /* for a profiler: ours, one time */
  bool                     galerkin    = false;
  bool                     sweep       = false;       /* all accumulators */
  SpgemmAccumulator        accumulator = SPGEMM_AUTO; /* of once */
  bool                     alone       = false;       /* without cuSPARSE */
};

struct Line {
  std::string matrix;
  double      ours, again, cusparse, bytes;
};

static bool OneMatrix(const Machine &M, const Options &o, const std::string &name, std::vector<Line> &lines)
{
  Matrix            A;
  const std::string reason = MatrixCreate(name, A);

  if (!reason.empty()) Stop(name.c_str(), reason.c_str());
  const DeviceMatrix  D(A);
  Ours                ours(M, D.csr, o.accumulator);
  Line                line = {name, 0, 0, 0, 0};
  std::vector<double> whole, count, allocate, pattern, values, kept, again;
  SpgemmInfo          info = {};
  bool                good = true;

  const SysStatus status = ours.Count();
  printf("%s: %lld x %lld, %lld nonzeros, %.0f products, %.0f nonzeros of the result\n", name.c_str(), (long long)A.m, (long long)A.n, (long long)A.j.size(), ours.info.products, ours.info.nonzeros);
  if (status != SYS_SUCCESS) {
    printf("  ours: status %d, %s; %.0f bytes asked\n", (int)status, SysDeviceErrorText(), ours.info.bytes_asked);
    return status == SYS_TOO_LARGE;
  }
  ours.Allocate();
  ours.Fill(false);
  for (int k = 0; k < 3; k++) ours.Revalue(); /* positions are found, kept, known */
  CallCuda(cudaStreamSynchronize(M.stream));
  if (o.once) return true;
  ours.Free();
  if (o.sweep) return Accumulators(M, A, D, o.repeat);
  for (int k = 0; k < o.repeat + 1; k++) {
    const double t = Milliseconds(M, [&] { ours.Whole(); });

    if (k) whole.push_back(t);
    kept.push_back(Milliseconds(M, [&] { ours.Revalue(); }));
    again.push_back(Milliseconds(M, [&] { ours.Revalue(); }));
    if (k == o.repeat) {
      const std::string wrong = Check(A, ours.C, ours.info.products);

      good = wrong.empty();
      if (!good) printf("  WRONG: %s\n", wrong.c_str());
      SpgemmDeviceGetInfo(ours.S, &info);
    }
    ours.Free();
    count.push_back(Milliseconds(M, [&] { (void)ours.Count(); }));
    allocate.push_back(Milliseconds(M, [&] { ours.Allocate(); }));
    pattern.push_back(Milliseconds(M, [&] { ours.Fill(false); }));
    values.push_back(Milliseconds(M, [&] { ours.Revalue(); }));
    ours.Free();
  }
  line.ours  = Median(whole);
  line.again = Median(again);
  printf("  ours %.3f ms (count %.3f, allocation %.3f, pattern %.3f, values %.3f), new values %.3f (%.0f %%), the first time %.3f; rows copied %.0f, hash %.0f, windows %.0f, values in lines %.0f; extra bytes %.2f of C's at most, for new values %.2f "
         "kept\n",
         line.ours, Median(count), Median(allocate), Median(pattern), Median(values), line.again, 100 * line.again / line.ours, Median(kept), ours.info.rows[SPGEMM_ROWS_COPIED], ours.info.rows[SPGEMM_ROWS_WORDS], ours.info.rows[SPGEMM_ROWS_WINDOW],
         ours.info.lines, ours.info.bytes_peak / (ours.info.nonzeros * (sizeof(int) + sizeof(SysScalar)) + 4. * (double)A.m), info.bytes_kept / (ours.info.nonzeros * (sizeof(int) + sizeof(SysScalar)) + 4. * (double)A.m));
  fflush(stdout);
  if (o.galerkin) Galerkin(M, A, D, name, o.repeat);
  SysPoolTrim();
  for (int alg = 0; alg < (o.alone ? 0 : 4); alg++) {
    static const cusparseSpGEMMAlg_t algorithms[] = {CUSPARSE_SPGEMM_ALG1, CUSPARSE_SPGEMM_ALG2, CUSPARSE_SPGEMM_ALG3, CUSPARSE_SPGEMM_DEFAULT};
    Cusparse                         peer(M, D.csr, algorithms[alg]);
    std::vector<double>              times, news;
    std::string                      trouble;
    double                           bytes  = 0;
    const char                      *label  = alg == 0 ? "alg1" : alg == 1 ? "alg2" : alg == 2 ? "alg3" : "reuse";
    const int                        repeat = line.ours > 10 ? 2 : 3;

    for (int k = 0; k < repeat + 1 && trouble.empty(); k++) {
      const double t = Milliseconds(M, [&] { trouble = alg < 3 ? peer.Whole() : peer.Reusable(); });

      if (k) times.push_back(t);
      if (alg == 3 && trouble.empty()) news.push_back(Milliseconds(M, [&] { trouble = peer.Again(); }));
      if (trouble.empty() && peer.C.nz != (int64_t)ours.info.nonzeros) trouble = Text("%lld nonzeros", (long long)peer.C.nz);
      bytes = (double)peer.bytes;
      peer.Free();
      (void)cudaGetLastError();
    }
    if (!trouble.empty()) {
      printf("  cuSPARSE %s: %s\n", label, trouble.c_str());
      continue;
    }
    const double t = Median(times);
    if (!line.cusparse || t < line.cusparse) line.cusparse = t;
    if (alg == 2) line.bytes = bytes;
    printf("  cuSPARSE %s %.3f ms", label, t);
    if (alg == 3) printf(", new values %.3f", Median(news));
    printf("; extra bytes %.2f of C's\n", bytes / (ours.info.nonzeros * (sizeof(int) + sizeof(SysScalar)) + 4. * (double)A.m));
    fflush(stdout);
  }
  CallCuda(cudaStreamSynchronize(M.stream));
  (void)cudaMemPoolTrimTo(M.pool, 0);
  lines.push_back(line);
  return good;
}

static bool ParseOptions(int argc, char **argv, Options &o)
{
  for (int k = 1; k < argc; k++) {
    if (!strcmp(argv[k], "-once")) o.once = true;
    else if (!strcmp(argv[k], "-ptap")) o.galerkin = true;
    else if (!strcmp(argv[k], "-accumulators")) o.sweep = true;
    else if (!strcmp(argv[k], "-esc")) o.accumulator = SPGEMM_ESC;
    else if (!strcmp(argv[k], "-heap")) o.accumulator = SPGEMM_HEAP;
    else if (!strcmp(argv[k], "-alone")) o.alone = true;
    else if (!strcmp(argv[k], "-repeat") && k + 1 < argc) o.repeat = atoi(argv[++k]);
    else if (argv[k][0] == '-') return false;
    else o.matrices.push_back(argv[k]);
  }
  return !o.matrices.empty() && o.repeat > 0;
}

int main(int argc, char **argv)
{
  Options           o;
  Machine           M;
  std::vector<Line> lines;
  bool              good      = true;
  uint64_t          threshold = UINT64_MAX;
  cudaMemPoolProps  props;
  double            logs     = 0;
  int               compared = 0;

  if (!ParseOptions(argc, argv, o)) {
    fprintf(stderr, "spgemm [-repeat 7] [-ptap] [-once] [-alone] [-accumulators] [-esc] [-heap] MATRIX...\n"
                    "MATRIX is a Matrix Market file or p5:S p7:S p9:S p27:S elas:S er:SCALE,FACTOR g500:SCALE,FACTOR band:ROWS,WIDTH,ENTRIES\n");
    return 2;
  }
  memset(&props, 0, sizeof(props));
  props.allocType     = cudaMemAllocationTypePinned;
  props.location.type = cudaMemLocationTypeDevice;
  CallCuda(cudaMemPoolCreate(&M.pool, &props));
  CallCuda(cudaMemPoolSetAttribute(M.pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  CallCuda(cudaStreamCreateWithFlags(&M.stream, cudaStreamNonBlocking));
  if (cusparseCreate(&M.cusparse) != CUSPARSE_STATUS_SUCCESS || cusparseSetStream(M.cusparse, M.stream) != CUSPARSE_STATUS_SUCCESS) Stop("cusparseCreate()", "it failed");
  if (SpgemmDeviceContextCreate(&M.context)) Stop("SpgemmDeviceContextCreate()", SysDeviceErrorText());
  for (const std::string &name : o.matrices) good &= OneMatrix(M, o, name, lines);
  if (!lines.empty()) printf("%-28s %10s %10s %10s %8s\n", "ms", "ours", "new values", "cuSPARSE", "ratio");
  for (const Line &l : lines) {
    const std::string file = l.matrix.substr(l.matrix.rfind('/') + 1);

    printf("%-28s %10.3f %10.3f", file.c_str(), l.ours, l.again);
    if (l.cusparse > 0) printf(" %10.3f %8.2f", l.cusparse, l.cusparse / l.ours);
    printf("\n");
    if (l.cusparse > 0) {
      logs += log(l.cusparse / l.ours);
      compared++;
    }
  }
  if (compared) printf("geometric mean of the ratios: %.2f\n", exp(logs / compared));
  return good ? 0 : 1;
}
