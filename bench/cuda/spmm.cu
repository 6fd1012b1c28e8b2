/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Products of sparse and dense matrices on a CUDA device, without PETSc, in the same run: those of petsc-amb, and the best algorithm of cuSPARSE. C = A D, and
   the entries of D1 D2^T in the pattern of A. Dense matrices are stored by columns. See docs/bench.md.
*/
#include "device.h"
#include "mat/impls/spmm/cuda/spmmcuda.h"

struct Machine {
  cudaStream_t     stream;
  cusparseHandle_t cusparse;
  cudaEvent_t      begin, end;
  int              repeat;
  bool             alone; /* without cuSPARSE */
};

/* The median of some runs in microseconds */
static double Microseconds(const Machine &M, const std::function<void()> &run)
{
  std::vector<double> times;

  for (int k = 0; k < 2; k++) run();
  for (int k = 0; k < M.repeat; k++) {
    float ms;

    CallCuda(cudaEventRecord(M.begin, M.stream));
    run();
    CallCuda(cudaEventRecord(M.end, M.stream));
    CallCuda(cudaEventSynchronize(M.end));
    CallCuda(cudaEventElapsedTime(&ms, M.begin, M.end));
    times.push_back(1e3 * ms);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

template <typename T>
static T *ToDevice(const std::vector<T> &v)
{
  T *p;

  CallCuda(cudaMalloc((void **)&p, std::max<size_t>(v.size(), 1) * sizeof(T)));
  CallCuda(cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice));
  return p;
}

static void Call(SysStatus status, const char *what)
{
  if (status != SYS_SUCCESS) Stop(what, SysDeviceErrorText());
}

/* One size of one matrix, with all arrays */
struct Problem {
  const Matrix          &A;
  int                    K;
  std::vector<SysScalar> d1, d2; /* m x K, n x K */
  SysScalar             *D1, *D2, *C, *O, *panel;
  SysCSR                 csr;
  SpmmDevice            *S = nullptr, *sampled = nullptr;
  double                 setup[2]; /* microseconds to make these, with the kernels loaded */

  Problem(const Matrix &A_, int K_) : A(A_), K(K_), d1((size_t)A.m * K), d2((size_t)A.n * K)
  {
    const std::vector<SysScalar> values(A.a.begin(), A.a.end());
    int                          width;

    for (size_t k = 0; k < d1.size(); k++) d1[k] = (SysScalar)(MatrixUniform(k) - 0.5);
    for (size_t k = 0; k < d2.size(); k++) d2[k] = (SysScalar)(MatrixUniform(k + d1.size()) - 0.5);
    D1 = ToDevice(d1);
    D2 = ToDevice(d2);
    (void)SpmmDevicePanelColumns(K, &width);
    CallCuda(cudaMalloc((void **)&C, sizeof(SysScalar) * (size_t)A.m * K));
    CallCuda(cudaMalloc((void **)&O, sizeof(SysScalar) * A.j.size()));
    CallCuda(cudaMalloc((void **)&panel, sizeof(SysScalar) * (size_t)A.n * width));
    csr = {A.m, A.n, (int64_t)A.j.size(), ToDevice(A.i), ToDevice(A.j), ToDevice(values)};
    for (int pass = 0; pass < 2; pass++) {
      SpmmDeviceDestroy(&S);
      SpmmDeviceDestroy(&sampled);
      const auto t0 = std::chrono::steady_clock::now();
      Call(SpmmDeviceCreate(&csr, A.i.data(), 0, width, &S, nullptr), "SpmmDeviceCreate()");
      CallCuda(cudaDeviceSynchronize());
      const auto t1 = std::chrono::steady_clock::now();
      Call(SddmmDeviceCreate(&csr, A.i.data(), &sampled, nullptr), "SddmmDeviceCreate()");
      CallCuda(cudaDeviceSynchronize());
      setup[0] = 1e6 * std::chrono::duration<double>(t1 - t0).count();
      setup[1] = 1e6 * std::chrono::duration<double>(std::chrono::steady_clock::now() - t1).count();
    }
    Poison();
  }
  Problem(const Problem &)            = delete;
  Problem &operator=(const Problem &) = delete;
  ~Problem()
  {
    for (void *p : {(void *)D1, (void *)D2, (void *)C, (void *)O, (void *)panel, (void *)csr.i, (void *)csr.j, (void *)csr.a}) (void)cudaFree(p);
    SpmmDeviceDestroy(&S);
    SpmmDeviceDestroy(&sampled);
  }
  void Poison()
  {
    CallCuda(cudaMemset(C, 0xff, sizeof(SysScalar) * (size_t)A.m * K));
    CallCuda(cudaMemset(O, 0xff, sizeof(SysScalar) * A.j.size()));
    CallCuda(cudaDeviceSynchronize()); /* the products run in a stream that waits for nothing */
  }

  /* Every so many rows against sums on the host; the worst error in units of rounding, relative to the sums of absolute values */
  double Error(bool samples) const
  {
    const int64_t          step = std::max<int64_t>(1, A.m / 2000);
    std::vector<SysScalar> c(samples ? A.j.size() : (size_t)A.m * K);
    double                 worst = 0;

    CallCuda(cudaMemcpy(c.data(), samples ? O : C, c.size() * sizeof(SysScalar), cudaMemcpyDeviceToHost));
    for (int64_t r = 0; r < A.m; r += step) {
      if (samples) {
        for (int k = A.i[r]; k < A.i[r + 1]; k++) {
          double sum = 0, scale = 1e-300;

          for (int q = 0; q < K; q++) sum += (double)d1[r + q * A.m] * d2[A.j[k] + q * A.n];
          for (int q = 0; q < K; q++) scale += fabs((double)d1[r + q * A.m] * d2[A.j[k] + q * A.n]);
          worst = std::max(worst, std::isnan((double)c[k]) ? 1e300 : fabs(c[k] - sum) / scale / Eps);
        }
      } else {
        for (int q = 0; q < K; q += std::max(1, K / 5)) {
          double sum = 0, scale = 1e-300;

          for (int k = A.i[r]; k < A.i[r + 1]; k++) {
            const double product = (double)(SysScalar)A.a[k] * d2[A.j[k] + q * A.n];

            sum += product;
            scale += fabs(product);
          }
          worst = std::max(worst, std::isnan((double)c[r + q * A.m]) ? 1e300 : fabs(c[r + q * A.m] - sum) / scale / Eps);
        }
      }
    }
    return worst;
  }

  /* packed: the panel is not made again, and the time is that of the products alone */
  void Mult(const Machine &M, bool pack) const
  {
    const SpmmDeviceTerm term = {S, csr, panel};

    for (int col = 0, width, ncol; col < K; col += ncol) {
      ncol = SpmmDevicePanelColumns(K - col, &width);
      if (pack) Call(SpmmDevicePack(A.n, ncol, width, D2 + (int64_t)col * A.n, A.n, panel, M.stream), "SpmmDevicePack()");
      Call(SpmmDeviceMult(A.m, &term, 1, ncol, width, C + (int64_t)col * A.m, A.m, M.stream), "SpmmDeviceMult()");
    }
  }
  void Sample(const Machine &M, bool pack) const
  {
    for (int col = 0, width, ncol; col < K; col += ncol) {
      ncol = SpmmDevicePanelColumns(K - col, &width);
      if (pack) Call(SpmmDevicePack(A.n, ncol, width, D2 + (int64_t)col * A.n, A.n, panel, M.stream), "SpmmDevicePack()");
      Call(SddmmDevice(sampled, &csr, ncol, width, D1 + (int64_t)col * A.m, A.m, panel, col > 0, 0, O, M.stream), "SddmmDevice()");
    }
  }
};

/* The best algorithm of cuSPARSE, with its name; a negative time if all of them fail */
static double CusparseMult(const Machine &M, const Problem &P, bool byrows, std::string &name)
{
  static const struct {
    cusparseSpMMAlg_t algorithm;
    const char       *name;
  } algorithms[] = {
    {CUSPARSE_SPMM_ALG_DEFAULT, "default"},
    {CUSPARSE_SPMM_CSR_ALG1,    "alg1"   },
    {CUSPARSE_SPMM_CSR_ALG2,    "alg2"   },
    {CUSPARSE_SPMM_CSR_ALG3,    "alg3"   }
  };
  const cusparseOrder_t order = byrows ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL;
  const SysScalar       one = 1, zero = 0;
  cusparseSpMatDescr_t  a;
  cusparseDnMatDescr_t  b, c;
  double                best = -1;

  if (M.alone) return -1;
  if (cusparseCreateCsr(&a, P.A.m, P.A.n, P.csr.nz, (void *)P.csr.i, (void *)P.csr.j, (void *)P.csr.a, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, Type) || cusparseCreateDnMat(&b, P.A.n, P.K, byrows ? P.K : P.A.n, P.D2, Type, order) ||
      cusparseCreateDnMat(&c, P.A.m, P.K, byrows ? P.K : P.A.m, P.C, Type, order))
    Stop("cuSPARSE", "no descriptors");
  for (const auto &l : algorithms) {
    size_t bytes = 0;
    void  *work  = nullptr;
    bool   good  = cusparseSpMM_bufferSize(M.cusparse, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, b, &zero, c, Type, l.algorithm, &bytes) == CUSPARSE_STATUS_SUCCESS;

    if (good) good = cudaMalloc(&work, bytes + 1) == cudaSuccess;
    if (good) good = cusparseSpMM_preprocess(M.cusparse, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, b, &zero, c, Type, l.algorithm, work) == CUSPARSE_STATUS_SUCCESS;
    if (good) {
      const double t = Microseconds(M, [&] {
        if (cusparseSpMM(M.cusparse, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, b, &zero, c, Type, l.algorithm, work)) good = false;
      });

      if (good && (best < 0 || t < best)) {
        best = t;
        name = l.name;
      }
    }
    (void)cudaFree(work);
    (void)cudaGetLastError();
  }
  (void)cusparseDestroySpMat(a);
  (void)cusparseDestroyDnMat(b);
  (void)cusparseDestroyDnMat(c);
  return best;
}

static double CusparseSample(const Machine &M, const Problem &P, bool byrows)
{
  const cusparseOrder_t order = byrows ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL;
  const SysScalar       one = 1, zero = 0;
  cusparseSpMatDescr_t  o;
  cusparseDnMatDescr_t  a, b;
  size_t                bytes = 0;
  void                 *work  = nullptr;
  double                t     = -1;

  if (M.alone) return -1;
  if (cusparseCreateCsr(&o, P.A.m, P.A.n, P.csr.nz, (void *)P.csr.i, (void *)P.csr.j, P.O, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, Type) || cusparseCreateDnMat(&a, P.A.m, P.K, byrows ? P.K : P.A.m, P.D1, Type, order) ||
      cusparseCreateDnMat(&b, P.A.n, P.K, byrows ? P.K : P.A.n, P.D2, Type, order))
    Stop("cuSPARSE", "no descriptors");
  bool good = cusparseSDDMM_bufferSize(M.cusparse, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_TRANSPOSE, &one, a, b, &zero, o, Type, CUSPARSE_SDDMM_ALG_DEFAULT, &bytes) == CUSPARSE_STATUS_SUCCESS;
  if (good) good = cudaMalloc(&work, bytes + 1) == cudaSuccess;
  if (good) good = cusparseSDDMM_preprocess(M.cusparse, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_TRANSPOSE, &one, a, b, &zero, o, Type, CUSPARSE_SDDMM_ALG_DEFAULT, work) == CUSPARSE_STATUS_SUCCESS;
  if (good) {
    t = Microseconds(M, [&] {
      if (cusparseSDDMM(M.cusparse, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_TRANSPOSE, &one, a, b, &zero, o, Type, CUSPARSE_SDDMM_ALG_DEFAULT, work)) good = false;
    });
  }
  (void)cudaFree(work);
  (void)cusparseDestroySpMat(o);
  (void)cusparseDestroyDnMat(a);
  (void)cusparseDestroyDnMat(b);
  return good ? t : -1;
}

static bool OneProblem(const Machine &M, const std::string &name, const Matrix &A, int K)
{
  const std::string file = name.substr(name.rfind('/') + 1);
  std::string       algorithm, byrows;
  Problem           P(A, K);

  P.Mult(M, true);
  CallCuda(cudaStreamSynchronize(M.stream));
  const double error = P.Error(false);
  P.Sample(M, true);
  CallCuda(cudaStreamSynchronize(M.stream));
  const double sampled = P.Error(true);
  const double whole = Microseconds(M, [&] { P.Mult(M, true); }), alone = Microseconds(M, [&] { P.Mult(M, false); });
  const double peer = CusparseMult(M, P, false, algorithm), rows = CusparseMult(M, P, true, byrows);
  printf("%-16s %4d SpMM  %10.1f %10.1f %10.1f %-8s %10.1f %-8s %6.2f %6.2f %7.1f %s\n", file.c_str(), K, whole, alone, peer, algorithm.c_str(), rows, byrows.c_str(), peer / whole, rows / alone, P.setup[0] / whole,
         error < 100 ? "" : Text("WRONG %.1e", error).c_str());
  const double swhole = Microseconds(M, [&] { P.Sample(M, true); }), salone = Microseconds(M, [&] { P.Sample(M, false); });
  const double speer = CusparseSample(M, P, false), srows = CusparseSample(M, P, true);
  printf("%-16s %4d SDDMM %10.1f %10.1f %10.1f %-8s %10.1f %-8s %6.2f %6.2f %7.1f %s\n", file.c_str(), K, swhole, salone, speer, "", srows, "", speer / swhole, srows / salone, P.setup[1] / swhole, sampled < 100 ? "" : Text("WRONG %.1e", sampled).c_str());
  fflush(stdout);
  return error < 100 && sampled < 100;
}

/* Tiles in shared memory for columns that some rows of a block of 32 share, by how many these have to be: entries in tiles, entries for each row of D that a tile reads,
   times without packing, and the time to make tiles in products */
static bool Heavy(const Machine &M, const std::string &name, const Matrix &A, int K)
{
  const std::string file = name.substr(name.rfind('/') + 1);
  Problem           P(A, K);
  int64_t           entries, columns;
  int               width;
  bool              good = true;

  (void)SpmmDevicePanelColumns(K, &width);
  P.Mult(M, true);
  const double plain = Microseconds(M, [&] { P.Mult(M, false); });
  printf("%-16s %4d %9s %8s %8s %10.1f\n", file.c_str(), K, "-", "", "", plain);
  for (const int threshold : {2, 4, 8}) {
    const auto t0 = std::chrono::steady_clock::now();

    Call(SpmmDeviceTile(P.S, &P.csr, A.i.data(), A.j.data(), threshold, width, M.stream), "SpmmDeviceTile()");
    const double setup = std::chrono::duration<double>(std::chrono::steady_clock::now() - t0).count();
    SpmmDeviceTileFigures(P.S, &entries, &columns);
    P.Poison();
    P.Mult(M, true);
    CallCuda(cudaStreamSynchronize(M.stream));
    const double error = P.Error(false), tiled = Microseconds(M, [&] { P.Mult(M, false); });
    printf("%-16s %4d %9d %7.0f%% %8.1f %10.1f %6.2f %8.0f %s\n", file.c_str(), K, threshold, 100. * (double)entries / (double)A.j.size(), columns ? (double)entries / (double)columns : 0, tiled, plain / tiled, 1e6 * setup / tiled,
           error < 100 ? "" : Text("WRONG %.1e", error).c_str());
    fflush(stdout);
    good = good && error < 100;
  }
  return good;
}

int main(int argc, char **argv)
{
  std::vector<int> widths = {32, 128};
  Machine          M;
  bool             good = true, heavy = false;

  M.repeat = 7;
  M.alone  = false;
  CallCuda(cudaStreamCreateWithFlags(&M.stream, cudaStreamNonBlocking));
  CallCuda(cudaEventCreate(&M.begin));
  CallCuda(cudaEventCreate(&M.end));
  if (cusparseCreate(&M.cusparse) != CUSPARSE_STATUS_SUCCESS || cusparseSetStream(M.cusparse, M.stream) != CUSPARSE_STATUS_SUCCESS) Stop("cusparseCreate()", "it failed");
  printf("microseconds; by columns unless said; set-up in products\n%-16s %4s %-5s %10s %10s %10s %-8s %10s %-8s %6s %6s %7s\n", "matrix", "K", "", "packed", "alone", "cuSPARSE", "", "by rows", "", "ratio", "rows", "set-up");
  for (int k = 1; k < argc; k++) {
    if (!strcmp(argv[k], "-alone")) {
      M.alone = true;
      continue;
    }
    if (!strcmp(argv[k], "-heavy")) {
      heavy = true;
      printf("\ntiles for columns with so many entries in 32 rows\n%-16s %4s %9s %8s %8s %10s %6s %8s\n", "matrix", "K", "threshold", "in tiles", "shared", "alone", "ratio", "set-up");
      continue;
    }
    if (!strcmp(argv[k], "-k") && k + 1 < argc) {
      widths.clear();
      for (char *s = argv[++k]; *s;) {
        widths.push_back((int)strtol(s, &s, 10));
        if (*s) s++;
      }
      continue;
    }
    Matrix            A;
    const std::string wrong = MatrixCreate(argv[k], A);

    if (!wrong.empty()) Stop(argv[k], wrong.c_str());
    for (const int K : widths) good &= heavy ? Heavy(M, argv[k], A, K) : OneProblem(M, argv[k], A, K);
  }
  if (argc < 2) {
    fprintf(stderr, "spmm [-k 32,128] [-alone] [-heavy] MATRIX...\nMATRIX is a Matrix Market file or p5:S p7:S p9:S p27:S elas:S er:SCALE,FACTOR g500:SCALE,FACTOR band:ROWS,WIDTH,ENTRIES\n");
    return 2;
  }
  return good ? 0 : 1;
}
