/* SPDX-License-Identifier: BSD-2-Clause */
/*
   cuSPARSE without PETSc and petsc-amb: are its products of a sparse matrix with a vector right, while other processes use the GPU? A kernel of this file makes the same
   product from the same arrays. Values are small integers, so that sums are exact.
     nvcc -std=c++17 -DSYS_TYPES_GIVEN -Isrc -o cusparserows test/kernels/cusparserows.cu -lcusparse
     cusparserows ROWS SECONDS
   Prints how many products were made, and how many were wrong by each. The exit code is 1 if the kernel's were.
*/
#include "devicetest.h"

#include <cusparse.h>
#include <ctime>

#define CallCusparse(call) \
  do { \
    const cusparseStatus_t status_ = (call); \
    if (status_ != CUSPARSE_STATUS_SUCCESS) { \
      printf("%s: %s\n", #call, cusparseGetErrorString(status_)); \
      exit(1); \
    } \
  } while (0)

__global__ void Mult(int m, const int *i, const int *j, const double *a, const double *x, double *y)
{
  const int r   = blockIdx.x * blockDim.x + threadIdx.x;
  double    sum = 0;

  if (r >= m) return;
  for (int k = i[r]; k < i[r + 1]; k++) sum += a[k] * x[j[k]];
  y[r] = sum;
}

int main(int argc, char **argv)
{
  if (argc != 3) {
    fprintf(stderr, "usage: cusparserows ROWS SECONDS\n");
    return 1;
  }
  const int            m = atoi(argv[1]), n = 700;
  const time_t         end = time(NULL) + atoi(argv[2]);
  const double         one = 1, zero = 0;
  cusparseHandle_t     handle;
  cusparseSpMatDescr_t A;
  cusparseDnVecDescr_t X, Y;
  long                 made = 0, wrong = 0, wrong_kernel = 0;

  seed = 88172645463325252u;
  CallCusparse(cusparseCreate(&handle));
  while (time(NULL) < end) { /* arrays of their own for each matrix, as in programs that make many */
    std::vector<int>    i(1, 0), j;
    std::vector<double> a, x(n), y(m);
    size_t              bytes;

    for (int r = 0; r < m; r++) {
      Run(j, 7 * r % (n - 9), 1 + RandomBelow(9));
      i.push_back((int)j.size());
    }
    for (size_t k = 0; k < j.size(); k++) a.push_back(1 + RandomBelow(50));
    Array<int>    di(i), dj(j);
    Array<double> da(a), dx(x), dy(y), dz(y);

    CallCusparse(cusparseCreateCsr(&A, m, n, (int)j.size(), di.data, dj.data, da.data, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
    CallCusparse(cusparseCreateDnVec(&X, n, dx.data, CUDA_R_64F));
    CallCusparse(cusparseCreateDnVec(&Y, m, dy.data, CUDA_R_64F));
    CallCusparse(cusparseSpMV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, A, X, &zero, Y, CUDA_R_64F, CUSPARSE_SPMV_CSR_ALG1, &bytes));
    Array<char> buffer(bytes);
    for (int t = 0; t < 5; t++) {
      for (double &v : x) v = 1 + RandomBelow(50);
      for (int r = 0; r < m; r++) {
        y[r] = 0;
        for (int k = i[r]; k < i[r + 1]; k++) y[r] += a[k] * x[j[k]];
      }
      dx.Upload(x);
      CallCusparse(cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, A, X, &zero, Y, CUDA_R_64F, CUSPARSE_SPMV_CSR_ALG1, buffer.data));
      Mult<<<(m + 127) / 128, 128>>>(m, di.data, dj.data, da.data, dx.data, dz.data);
      CallCuda(cudaGetLastError());
      made++;
      wrong += dy.Download() != y;
      wrong_kernel += dz.Download() != y;
    }
    CallCusparse(cusparseDestroySpMat(A));
    CallCusparse(cusparseDestroyDnVec(X));
    CallCusparse(cusparseDestroyDnVec(Y));
  }
  printf("%ld products with %d rows: %ld wrong by cuSPARSE, %ld by a kernel of the test\n", made, m, wrong, wrong_kernel);
  return wrong_kernel ? 1 : 0;
}
