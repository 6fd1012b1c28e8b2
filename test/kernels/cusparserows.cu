/* SPDX-License-Identifier: BSD-2-Clause */
/*
   cuSPARSE without PETSc and petsc-amb: are its products of a sparse matrix with a vector right, while other processes use the GPU? A kernel of this file makes the same
   product from the same arrays. Values are small integers, so that sums are exact.
     nvcc -o cusparserows test/kernels/cusparserows.cu -lcusparse
     cusparserows ROWS SECONDS
   Prints how many products were made, and how many were wrong by each; exit code 1 if the kernel's were, 2 if only those of cuSPARSE were.
*/
#include <cuda_runtime.h>
#include <cusparse.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <vector>

#define CUDA(call) Check((int)(call), #call)

static void Check(int error, const char *call)
{
  if (!error) return;
  fprintf(stderr, "error %d of %s\n", error, call);
  exit(3);
}

template <typename T>
static T *Upload(const std::vector<T> &host)
{
  T *device;

  CUDA(cudaMalloc(&device, host.size() * sizeof(T)));
  CUDA(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
  return device;
}

__global__ void Mult(int m, const int *i, const int *j, const double *a, const double *x, double *y)
{
  const int r   = blockIdx.x * blockDim.x + threadIdx.x;
  double    sum = 0;

  if (r >= m) return;
  for (int k = i[r]; k < i[r + 1]; k++) sum += a[k] * x[j[k]];
  y[r] = sum;
}

static bool Right(const double *device, const std::vector<double> &right)
{
  std::vector<double> y(right.size());

  CUDA(cudaMemcpy(y.data(), device, y.size() * sizeof(double), cudaMemcpyDeviceToHost));
  return y == right;
}

int main(int argc, char **argv)
{
  if (argc != 3) {
    fprintf(stderr, "usage: cusparserows ROWS SECONDS\n");
    return 3;
  }
  const int            m = atoi(argv[1]), n = 700;
  const time_t         end = time(NULL) + atoi(argv[2]);
  const double         one = 1, zero = 0;
  std::mt19937         random((unsigned)clock());
  cusparseHandle_t     handle;
  cusparseSpMatDescr_t A;
  cusparseDnVecDescr_t X, Y;
  long                 made = 0, wrong = 0, wrong_kernel = 0;

  CUDA(cusparseCreate(&handle));
  while (time(NULL) < end) { /* arrays of their own for each matrix, as in programs that make many */
    std::vector<int>    i(1, 0), j;
    std::vector<double> a, x(n), y(m);
    void               *buffer;
    size_t              bytes;

    for (int r = 0; r < m; r++) {
      for (int k = 0, length = 1 + (int)(random() % 9); k < length; k++) {
        j.push_back((7 * r + k) % n);
        a.push_back(1 + random() % 50);
      }
      i.push_back((int)j.size());
    }
    int    *di = Upload(i), *dj = Upload(j);
    double *da = Upload(a), *dx = Upload(x), *dy = Upload(y), *dz = Upload(y);

    CUDA(cusparseCreateCsr(&A, m, n, (int)j.size(), di, dj, da, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
    CUDA(cusparseCreateDnVec(&X, n, dx, CUDA_R_64F));
    CUDA(cusparseCreateDnVec(&Y, m, dy, CUDA_R_64F));
    CUDA(cusparseSpMV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, A, X, &zero, Y, CUDA_R_64F, CUSPARSE_SPMV_CSR_ALG1, &bytes));
    CUDA(cudaMalloc(&buffer, bytes + 1));
    for (int t = 0; t < 5; t++) {
      for (double &v : x) v = 1 + random() % 50;
      for (int r = 0; r < m; r++) {
        y[r] = 0;
        for (int k = i[r]; k < i[r + 1]; k++) y[r] += a[k] * x[j[k]];
      }
      CUDA(cudaMemcpy(dx, x.data(), n * sizeof(double), cudaMemcpyHostToDevice));
      CUDA(cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, A, X, &zero, Y, CUDA_R_64F, CUSPARSE_SPMV_CSR_ALG1, buffer));
      Mult<<<(m + 127) / 128, 128>>>(m, di, dj, da, dx, dz);
      CUDA(cudaGetLastError());
      made++;
      wrong += !Right(dy, y);
      wrong_kernel += !Right(dz, y);
    }
    CUDA(cusparseDestroySpMat(A));
    CUDA(cusparseDestroyDnVec(X));
    CUDA(cusparseDestroyDnVec(Y));
    for (void *p : {buffer, (void *)di, (void *)dj, (void *)da, (void *)dx, (void *)dy, (void *)dz}) CUDA(cudaFree(p));
  }
  printf("%ld products with %d rows: %ld wrong by cuSPARSE, %ld by a kernel of the test\n", made, m, wrong, wrong_kernel);
  return wrong_kernel ? 1 : wrong ? 2 : 0;
}
