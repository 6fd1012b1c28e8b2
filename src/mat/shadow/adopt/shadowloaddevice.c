/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Starts CUDA's libraries during the assembly of the first matrix: cuBLAS and cuSPARSE create their first handles, and CUDA loads the kernels of
   PETSc's vectors, AIJCUSPARSE and the format. Otherwise the first solve does it, in 15 to 25 ms, most of the time of a short solve.

   A separate thread does this, on its own stream, with a few private numbers. It does not call PETSc and ignores failures: the code that needs these
   libraries reports them later.
*/
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
#include <petscdevice_cuda.h>

#include "mat/shadow/core/shadow.h"
#include "vec/ambvec/ambvec.h"
#include "vec/ambvec/ambveccuda.h"

#if defined(PETSC_USE_REAL_SINGLE)
  #define BLAS(name)  cublasS##name
  #define LOAD_NUMBER CUDA_R_32F
#else
  #define BLAS(name)  cublasD##name
  #define LOAD_NUMBER CUDA_R_64F
#endif
#define LOAD_ENTRIES 4096 /* entries of a vector */

static pthread_t           loader;
static pid_t               owner; /* the process that started the thread */
static PetscBool           loading = PETSC_FALSE;
static atomic_bool         busy; /* the thread has not done its work */
static int                 device;
static const MatShadowOps *ops;

/* Calls cuBLAS's functions for CG */
static void LoadBLAS(cudaStream_t stream, PetscScalar *x, PetscScalar *y)
{
  const PetscScalar one = 1;
  cublasHandle_t    handle;
  PetscReal         norm;
  PetscScalar       dot;

  if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) return;
  (void)cublasSetStream(handle, stream);
  (void)BLAS(nrm2)(handle, LOAD_ENTRIES, x, 1, &norm);
  (void)BLAS(dot)(handle, LOAD_ENTRIES, x, 1, y, 1, &dot);
  (void)BLAS(axpy)(handle, LOAD_ENTRIES, &one, x, 1, y, 1);
  (void)BLAS(scal)(handle, LOAD_ENTRIES, &one, y, 1);
  (void)cudaStreamSynchronize(stream);
  (void)cublasDestroy(handle);
}

/* Runs AIJCUSPARSE's product with a diagonal matrix */
static void LoadProduct(cusparseHandle_t handle, cudaStream_t stream, const int *i, const PetscScalar *a, PetscScalar *x, PetscScalar *y)
{
  const PetscScalar    one = 1, zero = 0;
  cusparseSpMatDescr_t A;
  cusparseDnVecDescr_t X, Y;
  size_t               bytes = 0;
  void                *work  = NULL;

  if (cusparseCreateCsr(&A, LOAD_ENTRIES, LOAD_ENTRIES, LOAD_ENTRIES, (void *)i, (void *)i, (void *)a, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, LOAD_NUMBER) != CUSPARSE_STATUS_SUCCESS) return;
  if (cusparseCreateDnVec(&X, LOAD_ENTRIES, x, LOAD_NUMBER) == CUSPARSE_STATUS_SUCCESS) {
    if (cusparseCreateDnVec(&Y, LOAD_ENTRIES, y, LOAD_NUMBER) == CUSPARSE_STATUS_SUCCESS) {
      (void)cusparseSpMV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, A, X, &zero, Y, LOAD_NUMBER, CUSPARSE_SPMV_CSR_ALG1, &bytes);
      if (cudaMalloc(&work, bytes + 1) == cudaSuccess) {
        (void)cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, A, X, &zero, Y, LOAD_NUMBER, CUSPARSE_SPMV_CSR_ALG1, work);
        (void)cudaStreamSynchronize(stream);
        (void)cudaFree(work);
      }
      (void)cusparseDestroyDnVec(Y);
    }
    (void)cusparseDestroyDnVec(X);
  }
  (void)cusparseDestroySpMat(A);
}

static void LoadSPARSE(cudaStream_t stream, const int *i, const PetscScalar *a, PetscScalar *x, PetscScalar *y)
{
  cusparseHandle_t handle;

  if (cusparseCreate(&handle) != CUSPARSE_STATUS_SUCCESS) return;
  (void)cusparseSetStream(handle, stream);
  LoadProduct(handle, stream, i, a, x, y);
  (void)cusparseDestroy(handle);
}

static void *Load(void *unused)
{
  cudaStream_t stream;
  char        *memory = NULL;

  if (cudaSetDevice(device) == cudaSuccess && cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess) {
    if (cudaMalloc((void **)&memory, (3 * sizeof(PetscScalar) + sizeof(int)) * LOAD_ENTRIES + sizeof(int)) == cudaSuccess) {
      PetscScalar *x = (PetscScalar *)memory;
      int         *i = (int *)(x + 3 * LOAD_ENTRIES), numbers[LOAD_ENTRIES + 1];

      for (int k = 0; k <= LOAD_ENTRIES; k++) numbers[k] = k;
      (void)cudaMemsetAsync(x, 0, 3 * sizeof(*x) * LOAD_ENTRIES, stream);
      (void)cudaMemcpyAsync(i, numbers, sizeof(numbers), cudaMemcpyHostToDevice, stream);
      LoadBLAS(stream, x, x + LOAD_ENTRIES);
      LoadSPARSE(stream, i, x + 2 * LOAD_ENTRIES, x, x + LOAD_ENTRIES);
      (void)cudaFreeAsync(memory, stream); /* PETSc's vectors free memory this way; the first call takes 10 ms */
    }
    if (ops->load) (*ops->load)((SysStream)stream);
    if (VecAMBWanted) VecCUDALoad();
    (void)cudaStreamDestroy(stream);
  }
  (void)cudaGetLastError();
  atomic_store(&busy, false);
  return NULL;
}

/* Starts the thread, once a process, before the first device matrix is assembled */
PetscErrorCode MatShadowLoadStart(const MatShadowFormat *format)
{
  static PetscBool begun = PETSC_FALSE;

  PetscFunctionBegin;
  if (begun) PetscFunctionReturn(PETSC_SUCCESS);
  begun = PETSC_TRUE;
  PetscCallCUDA(cudaGetDevice(&device));
  ops   = &format->device;
  owner = getpid();
  atomic_store(&busy, true);
  loading = (PetscBool)(pthread_create(&loader, NULL, Load, NULL) == 0);
  if (!loading) atomic_store(&busy, false);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns whether the thread still loads kernels; a conversion meanwhile would load its kernels itself and wait for the thread's locks in CUDA */
PetscBool MatShadowLoads(void)
{
  return (PetscBool)(loading && atomic_load(&busy) && getpid() == owner);
}

PetscErrorCode MatShadowLoadEnd(void)
{
  int err;

  PetscFunctionBegin;
  if (!loading || getpid() != owner) PetscFunctionReturn(PETSC_SUCCESS); /* a child of fork() has no such thread */
  loading = PETSC_FALSE;
  err     = pthread_join(loader, NULL);
  PetscCheck(!err, PETSC_COMM_SELF, PETSC_ERR_SYS, "pthread_join() returned %d", err);
  PetscFunctionReturn(PETSC_SUCCESS);
}
