/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Batches of small sparse matrices times dense matrices on a CUDA device, without PETSc, in the same run: those of petsc-amb, by rows and by atomic operations, and
   four peers: cuSPARSE with all matrices as blocks of one, cuBLAS with all matrices dense, and one product of cuSPARSE for each matrix, in a CUDA graph or not.
   Dense operands are stored by rows. See docs/batch.md.
*/
#include "device.h"
#include "graph/batch/cuda/batchcuda.h"

#include <cublas_v2.h>

#include <memory>

#if defined(SYS_SINGLE)
  #define GemmBatched cublasSgemmBatched
#else
  #define GemmBatched cublasDgemmBatched
#endif

struct Machine {
  cudaStream_t     stream;
  cusparseHandle_t cusparse;
  cublasHandle_t   cublas;
  cudaEvent_t      begin, end;
};

#define CallCusparse(call) \
  do { \
    const cusparseStatus_t status_ = (call); \
    if (status_ != CUSPARSE_STATUS_SUCCESS) Stop(#call, cusparseGetErrorString(status_)); \
  } while (0)

static void Call(SysStatus status, const char *what)
{
  if (status != SYS_SUCCESS) Stop(what, SysDeviceErrorText());
}

/* The median of five times in microseconds, each the mean of so many runs one behind the other */
static double Microseconds(const Machine &M, int runs, const std::function<void()> &run)
{
  std::vector<double> times;

  run();
  for (int k = 0; k < 5; k++) {
    float ms;

    CallCuda(cudaEventRecord(M.begin, M.stream));
    for (int l = 0; l < runs; l++) run();
    CallCuda(cudaEventRecord(M.end, M.stream));
    CallCuda(cudaEventSynchronize(M.end));
    CallCuda(cudaEventElapsedTime(&ms, M.begin, M.end));
    times.push_back(1e3 * ms / runs);
  }
  return Median(times);
}

template <typename T>
static T *ToDevice(const std::vector<T> &v)
{
  T *p;

  CallCuda(cudaMalloc((void **)&p, std::max<size_t>(v.size(), 1) * sizeof(T)));
  CallCuda(cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice));
  return p;
}

/* Square matrices; those of one size dim, or of 32 to 256 rows if dim is 0 */
struct Problem {
  int                    batch, width, most = 0;
  std::vector<int>       first = {0}, i = {0}, j; /* the first row of each matrix; rows and columns of the batch */
  std::vector<SysScalar> a, d;
  int                   *I, *J;
  SysScalar             *A, *D, *C;
  BatchDevice           *S = nullptr;

  Problem(int batch_, int dim, int entries, int width_) : batch(batch_), width(width_)
  {
    uint64_t random = 0;

    for (int b = 0; b < batch; b++) {
      const int m = dim ? dim : 32 + (int)(MatrixUniform(random++) * 224);

      for (int r = 0; r < m; r++) {
        std::vector<int> cols;

        while ((int)cols.size() < entries) {
          const int c = std::min(m - 1, (int)(MatrixUniform(random++) * m));

          if (std::find(cols.begin(), cols.end(), c) == cols.end()) cols.push_back(c);
        }
        std::sort(cols.begin(), cols.end());
        for (int c : cols) {
          j.push_back(first[b] + c);
          a.push_back((SysScalar)(MatrixUniform(random++) - 0.5));
        }
        i.push_back((int)j.size());
      }
      first.push_back(first[b] + m);
      most = std::max(most, m);
    }
    d.resize((size_t)Rows() * width);
    for (size_t k = 0; k < d.size(); k++) d[k] = (SysScalar)(MatrixUniform(k) - 0.5);
    I = ToDevice(i);
    J = ToDevice(j);
    A = ToDevice(a);
    D = ToDevice(d);
    CallCuda(cudaMalloc((void **)&C, d.size() * sizeof(SysScalar)));
    const SysCSR csr = {Rows(), Rows(), (int64_t)j.size(), i.data(), j.data(), NULL};
    Call(BatchDeviceCreate(&csr, batch, first.data(), &S, nullptr), "BatchDeviceCreate()");
    Call(BatchDeviceSetValues(S, a.data(), NULL, nullptr), "BatchDeviceSetValues()");
    CallCuda(cudaDeviceSynchronize()); /* the runs are in another stream */
  }
  Problem(const Problem &)            = delete;
  Problem &operator=(const Problem &) = delete;
  ~Problem()
  {
    for (void *p : {(void *)I, (void *)J, (void *)A, (void *)D, (void *)C}) (void)cudaFree(p);
    BatchDeviceDestroy(&S);
  }
  int64_t Rows() const { return first.back(); }

  /* Some rows against sums on the host; C is no number afterwards */
  void Check(const Machine &M, const char *who) const
  {
    const int64_t          step = 1 + Rows() / 500, rows = (Rows() + step - 1) / step;
    const size_t           bytes = (size_t)width * sizeof(SysScalar);
    std::vector<SysScalar> c((size_t)(rows * width));

    CallCuda(cudaStreamSynchronize(M.stream));
    CallCuda(cudaMemcpy2D(c.data(), bytes, C, step * bytes, bytes, rows, cudaMemcpyDeviceToHost));
    for (int64_t n = 0; n < rows; n++) {
      for (int q = 0; q < width; q += 1 + width / 7) {
        double sum = 0, scale = 0;

        for (int k = i[n * step]; k < i[n * step + 1]; k++) {
          sum += (double)a[k] * d[(size_t)j[k] * width + q];
          scale += fabs((double)a[k] * d[(size_t)j[k] * width + q]);
        }
        if (!(fabs(c[(size_t)(n * width + q)] - sum) <= 100 * Eps * scale)) Stop(who, "a wrong number");
      }
    }
    Poison(M);
  }
  void Poison(const Machine &M) const { CallCuda(cudaMemsetAsync(C, 0xff, d.size() * sizeof(SysScalar), M.stream)); }
};

static const cusparseSpMMAlg_t Algorithms[] = {CUSPARSE_SPMM_ALG_DEFAULT, CUSPARSE_SPMM_CSR_ALG1, CUSPARSE_SPMM_CSR_ALG2, CUSPARSE_SPMM_CSR_ALG3};

/* A product of cuSPARSE, of one matrix or of all of them as blocks */
struct Product {
  cusparseSpMatDescr_t a;
  cusparseDnMatDescr_t d, c;
  void                *work = nullptr;

  Product(const Problem &P, int64_t r0, int64_t r1, int *I, int *J, SysScalar *A, int64_t nz)
  {
    CallCusparse(cusparseCreateCsr(&a, r1 - r0, r1 - r0, nz, I, J, A, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, Type));
    CallCusparse(cusparseCreateDnMat(&d, r1 - r0, P.width, P.width, P.D + r0 * P.width, Type, CUSPARSE_ORDER_ROW));
    CallCusparse(cusparseCreateDnMat(&c, r1 - r0, P.width, P.width, P.C + r0 * P.width, Type, CUSPARSE_ORDER_ROW));
  }
  Product(const Product &)            = delete;
  Product &operator=(const Product &) = delete;
  ~Product()
  {
    (void)cudaFree(work);
    (void)cusparseDestroySpMat(a);
    (void)cusparseDestroyDnMat(d);
    (void)cusparseDestroyDnMat(c);
  }
  bool Prepare(const Machine &M, cusparseSpMMAlg_t algorithm)
  {
    const SysScalar one = 1, zero = 0;
    size_t          bytes = 0;

    (void)cudaFree(work);
    work = nullptr;
    if (cusparseSpMM_bufferSize(M.cusparse, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, d, &zero, c, Type, algorithm, &bytes) != CUSPARSE_STATUS_SUCCESS) return false;
    CallCuda(cudaMalloc(&work, bytes + 1));
    return cusparseSpMM_preprocess(M.cusparse, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, d, &zero, c, Type, algorithm, work) == CUSPARSE_STATUS_SUCCESS;
  }
  bool Run(const Machine &M, cusparseSpMMAlg_t algorithm) const
  {
    const SysScalar one = 1, zero = 0;

    return cusparseSpMM(M.cusparse, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, d, &zero, c, Type, algorithm, work) == CUSPARSE_STATUS_SUCCESS;
  }
};

/* The best of the algorithms with all matrices as blocks of one */
static double Blocks(const Machine &M, const Problem &P)
{
  double best = -1;

  for (const cusparseSpMMAlg_t algorithm : Algorithms) {
    Product product(P, 0, P.Rows(), P.I, P.J, P.A, (int64_t)P.j.size());

    if (!product.Prepare(M, algorithm) || !product.Run(M, algorithm)) continue;
    P.Check(M, "cuSPARSE with blocks");
    const double t = Microseconds(M, 10, [&] { (void)product.Run(M, algorithm); });
    if (best < 0 || t < best) best = t;
  }
  return best;
}

/* A product of cuSPARSE for each matrix, by the best of the algorithms: times[0] in a CUDA graph, times[1] called one after the other */
static void Loops(const Machine &M, const Problem &P, double times[2])
{
  std::vector<int>                      local, begin, columns(P.j);
  std::vector<std::unique_ptr<Product>> products;

  for (int b = 0; b < P.batch; b++) {
    begin.push_back((int)local.size());
    for (int r = P.first[b]; r <= P.first[b + 1]; r++) local.push_back(P.i[r] - P.i[P.first[b]]);
    for (int k = P.i[P.first[b]]; k < P.i[P.first[b + 1]]; k++) columns[k] -= P.first[b];
  }
  int *I = ToDevice(local), *J = ToDevice(columns);

  CallCuda(cudaDeviceSynchronize());
  for (int b = 0; b < P.batch; b++) {
    const int k = P.i[P.first[b]];

    products.emplace_back(new Product(P, P.first[b], P.first[b + 1], I + begin[b], J + k, P.A + k, P.i[P.first[b + 1]] - k));
  }
  times[0] = times[1] = -1;
  for (const cusparseSpMMAlg_t algorithm : Algorithms) {
    bool            good = true;
    cudaGraph_t     graph;
    cudaGraphExec_t exec;

    for (const auto &p : products) good = good && p->Prepare(M, algorithm);
    const auto all = [&] {
      for (const auto &p : products) good = good && p->Run(M, algorithm);
    };
    if (good) all();
    if (!good) continue;
    P.Check(M, "a loop");
    const double loop = Microseconds(M, 1, all);
    CallCuda(cudaStreamBeginCapture(M.stream, cudaStreamCaptureModeThreadLocal));
    all();
    CallCuda(cudaStreamEndCapture(M.stream, &graph));
    CallCuda(cudaGraphInstantiate(&exec, graph, 0));
    P.Poison(M);
    CallCuda(cudaGraphLaunch(exec, M.stream));
    P.Check(M, "a loop in a graph");
    const double queued = Microseconds(M, 2, [&] { CallCuda(cudaGraphLaunch(exec, M.stream)); });
    CallCuda(cudaGraphExecDestroy(exec));
    CallCuda(cudaGraphDestroy(graph));
    if (times[0] < 0 || queued < times[0]) times[0] = queued;
    if (times[1] < 0 || loop < times[1]) times[1] = loop;
  }
  (void)cudaFree(I);
  (void)cudaFree(J);
}

/* All matrices dense, and as large as the largest: cuBLAS takes one size. The operands are stored by rows, so that C^T = D^T A^T is made. */
static double Dense(const Machine &M, const Problem &P)
{
  const size_t             n = (size_t)P.most, each = n * P.width;
  const SysScalar          one = 1, zero = 0;
  std::vector<SysScalar>   full(n * n * P.batch);
  std::vector<SysScalar *> a, d, c;
  SysScalar               *A, *D, *C;

  for (int b = 0; b < P.batch; b++) {
    for (int r = P.first[b]; r < P.first[b + 1]; r++) {
      for (int k = P.i[r]; k < P.i[r + 1]; k++) full[(size_t)b * n * n + (size_t)(r - P.first[b]) * n + (P.j[k] - P.first[b])] += P.a[k];
    }
  }
  A = ToDevice(full);
  CallCuda(cudaMalloc((void **)&D, each * P.batch * sizeof(SysScalar)));
  CallCuda(cudaMalloc((void **)&C, each * P.batch * sizeof(SysScalar)));
  CallCuda(cudaMemset(D, 0, each * P.batch * sizeof(SysScalar)));
  for (int b = 0; b < P.batch; b++) {
    CallCuda(cudaMemcpy(D + b * each, P.D + (size_t)P.first[b] * P.width, (size_t)(P.first[b + 1] - P.first[b]) * P.width * sizeof(SysScalar), cudaMemcpyDeviceToDevice));
    a.push_back(A + b * n * n);
    d.push_back(D + b * each);
    c.push_back(C + b * each);
  }
  SysScalar **pa = ToDevice(a), **pd = ToDevice(d), **pc = ToDevice(c);
  CallCuda(cudaDeviceSynchronize());
  const auto run = [&] {
    if (GemmBatched(M.cublas, CUBLAS_OP_N, CUBLAS_OP_N, P.width, (int)n, (int)n, &one, pd, P.width, pa, (int)n, &zero, pc, P.width, P.batch) != CUBLAS_STATUS_SUCCESS) Stop("cuBLAS", "a batched product failed");
  };

  run();
  CallCuda(cudaStreamSynchronize(M.stream));
  for (int b = 0; b < P.batch; b++) CallCuda(cudaMemcpy(P.C + (size_t)P.first[b] * P.width, C + b * each, (size_t)(P.first[b + 1] - P.first[b]) * P.width * sizeof(SysScalar), cudaMemcpyDeviceToDevice));
  CallCuda(cudaDeviceSynchronize());
  P.Check(M, "cuBLAS");
  const double t = Microseconds(M, 10, run);
  for (void *p : {(void *)A, (void *)D, (void *)C, (void *)pa, (void *)pd, (void *)pc}) (void)cudaFree(p);
  return t;
}

enum Who {
  ROWS,
  ATOMIC,
  BLOCKS,
  DENSE,
  GRAPH,
  LOOP,
  WHO
};
static const char *const Names[WHO] = {"rows", "atomic", "blocks", "dense", "graph", "loop"};

struct Times {
  double t[WHO];
  double Best() const { return std::min({t[BLOCKS], t[DENSE], t[GRAPH]}); }
};

static Times Point(const Machine &M, const Problem &P)
{
  Times T;

  P.Poison(M);
  const auto rows   = [&] { Call(BatchDeviceMult(P.S, 0, P.width, P.D, P.C, M.stream), "BatchDeviceMult()"); };
  const auto atomic = [&] { Call(BatchDeviceMultAtomic(P.S, P.width, P.D, P.C, M.stream), "BatchDeviceMultAtomic()"); };

  rows();
  P.Check(M, "by rows");
  T.t[ROWS] = Microseconds(M, 10, rows);
  P.Poison(M);
  atomic();
  P.Check(M, "by atomic operations");
  T.t[ATOMIC] = Microseconds(M, 10, atomic);
  P.Poison(M);
  T.t[BLOCKS] = Blocks(M, P);
  T.t[DENSE]  = Dense(M, P);
  Loops(M, P, &T.t[GRAPH]);
  return T;
}

int main(int argc, char **argv)
{
  const bool         few = argc > 1 && !strcmp(argv[1], "-few");
  Machine            M;
  std::vector<Times> all;
  int                only[4];
  const bool         one = argc > 1 && sscanf(argv[1], "%d,%d,%d,%d", &only[0], &only[1], &only[2], &only[3]) == 4;

  if (argc > 2 || (argc > 1 && !few && !one)) {
    fprintf(stderr, "batched [-few | DIM,ENTRIES,BATCH,WIDTH]      times in microseconds as CSV, and a table of means; -few leaves points out\n");
    return 2;
  }
  CallCuda(cudaStreamCreateWithFlags(&M.stream, cudaStreamNonBlocking));
  CallCuda(cudaEventCreate(&M.begin));
  CallCuda(cudaEventCreate(&M.end));
  CallCusparse(cusparseCreate(&M.cusparse));
  CallCusparse(cusparseSetStream(M.cusparse, M.stream));
  if (cublasCreate(&M.cublas) != CUBLAS_STATUS_SUCCESS || cublasSetStream(M.cublas, M.stream) != CUBLAS_STATUS_SUCCESS || cublasSetMathMode(M.cublas, CUBLAS_PEDANTIC_MATH) != CUBLAS_STATUS_SUCCESS) Stop("cublasCreate()", "it failed");
  printf("dim,entries,batch,width");
  for (const char *name : Names) printf(",%s", name);
  printf("\n");
  for (const int dim : {32, 64, 128, 0}) {
    for (const int entries : {1, 3, 5}) {
      for (const int batch : {50, 100, 200}) {
        for (int width = 8; width <= 1024; width *= 2) {
          if (one && (dim != only[0] || entries != only[1] || batch != only[2] || width != only[3])) continue;
          if (few && (entries == 3 || dim == 64 || (width != 8 && width != 32 && width != 64 && width != 512))) continue;
          all.push_back(Point(M, Problem(batch, dim, entries, width)));
          printf("%s,%d,%d,%d", dim ? std::to_string(dim).c_str() : "32-256", entries, batch, width);
          for (const double t : all.back().t) printf(",%.2f", t);
          printf("\n");
          fflush(stdout);
        }
      }
    }
  }
  printf("\ntimes of peers over those by rows, %d points: geometric mean, least, points with less than 1.3\n", (int)all.size());
  for (int w = ATOMIC; w <= WHO; w++) {
    double sum = 0, least = 1e300;
    int    short_of = 0;

    for (const Times &T : all) {
      const double ratio = (w < WHO ? T.t[w] : T.Best()) / T.t[ROWS];

      sum += log(ratio);
      least = std::min(least, ratio);
      short_of += ratio < 1.3;
    }
    printf("%-20s %6.2f %6.2f %4d\n", w < WHO ? Names[w] : "best, without loop", exp(sum / (double)all.size()), least, short_of);
  }
  return 0;
}
