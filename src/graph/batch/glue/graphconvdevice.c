/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The dense products of a graph convolution through cuBLAS, and the rectifier
*/
#include <petscdevice_cuda.h>

#include "graph/batch/glue/batch.h"
#include "graph/batch/cuda/batchcuda.h"

#if defined(PETSC_USE_REAL_SINGLE)
  #define GEMM cublasSgemm
#else
  #define GEMM cublasDgemm
#endif

/* C = op(A) op(B) + beta C, m x n entries and sums of k terms, for matrices stored by rows. cuBLAS stores by columns, so it computes the transposed
   product. */
static PetscErrorCode GraphConvDeviceMult(PetscBool transa, PetscBool transb, PetscInt m, PetscInt n, PetscInt k, const PetscScalar *A, PetscInt lda, const PetscScalar *B, PetscInt ldb, PetscScalar beta, PetscScalar *C)
{
  const PetscScalar one = 1;
  cublasHandle_t    handle;

  PetscFunctionBegin;
  PetscCall(PetscCUBLASGetHandle(&handle));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCallCUBLAS(GEMM(handle, transb ? CUBLAS_OP_T : CUBLAS_OP_N, transa ? CUBLAS_OP_T : CUBLAS_OP_N, n, m, k, &one, B, ldb, A, lda, &beta, C, n));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(PetscLogGpuFlops(2.0 * (PetscLogDouble)m * (PetscLogDouble)n * (PetscLogDouble)k));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GraphConvDeviceForward(GraphConv L, PetscInt c, Vec X, Vec W, Vec bias)
{
  const PetscScalar *x, *w, *shift, *ones;
  PetscScalar       *u;

  PetscFunctionBegin;
  if (!L->cols) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetArrayReadAndMemType(X, &x, NULL));
  PetscCall(VecGetArrayReadAndMemType(W, &w, NULL));
  PetscCall(VecGetArrayReadAndMemType(bias, &shift, NULL));
  PetscCall(VecGetArrayReadAndMemType(L->ones, &ones, NULL));
  PetscCall(VecGetArrayWriteAndMemType(L->work, &u, NULL));
  PetscCall(GraphConvDeviceMult(PETSC_FALSE, PETSC_FALSE, L->cols, L->nout, 1, ones, 1, shift + c * L->nout, L->nout, 0, u));
  PetscCall(GraphConvDeviceMult(PETSC_FALSE, PETSC_FALSE, L->cols, L->nout, L->nin, x, L->nin, w + c * L->nin * L->nout, L->nout, 1, u));
  PetscCall(VecRestoreArrayWriteAndMemType(L->work, &u));
  PetscCall(VecRestoreArrayReadAndMemType(L->ones, &ones));
  PetscCall(VecRestoreArrayReadAndMemType(bias, &shift));
  PetscCall(VecRestoreArrayReadAndMemType(W, &w));
  PetscCall(VecRestoreArrayReadAndMemType(X, &x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GraphConvDeviceBackward(GraphConv L, PetscInt c, Vec X, Vec W, Vec dX, Vec dW, Vec dbias)
{
  const PetscScalar *x, *w, *u, *ones;
  PetscScalar       *dx, *dw, *sum;

  PetscFunctionBegin;
  if (!L->cols) {
    PetscCall(VecSet(dW, 0));
    PetscCall(VecSet(dbias, 0));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecGetArrayReadAndMemType(X, &x, NULL));
  PetscCall(VecGetArrayReadAndMemType(W, &w, NULL));
  PetscCall(VecGetArrayReadAndMemType(L->work, &u, NULL));
  PetscCall(VecGetArrayReadAndMemType(L->ones, &ones, NULL));
  PetscCall(VecGetArrayAndMemType(dW, &dw, NULL));
  PetscCall(VecGetArrayAndMemType(dbias, &sum, NULL));
  if (dX) {
    PetscCall(VecGetArrayAndMemType(dX, &dx, NULL));
    PetscCall(GraphConvDeviceMult(PETSC_FALSE, PETSC_TRUE, L->cols, L->nin, L->nout, u, L->nout, w + c * L->nin * L->nout, L->nout, c ? 1 : 0, dx));
    PetscCall(VecRestoreArrayAndMemType(dX, &dx));
  }
  PetscCall(GraphConvDeviceMult(PETSC_TRUE, PETSC_FALSE, L->nin, L->nout, L->cols, x, L->nin, u, L->nout, 0, dw + c * L->nin * L->nout));
  PetscCall(GraphConvDeviceMult(PETSC_TRUE, PETSC_FALSE, 1, L->nout, L->cols, ones, 1, u, L->nout, 0, sum + c * L->nout));
  PetscCall(VecRestoreArrayAndMemType(dbias, &sum));
  PetscCall(VecRestoreArrayAndMemType(dW, &dw));
  PetscCall(VecRestoreArrayReadAndMemType(L->ones, &ones));
  PetscCall(VecRestoreArrayReadAndMemType(L->work, &u));
  PetscCall(VecRestoreArrayReadAndMemType(W, &w));
  PetscCall(VecRestoreArrayReadAndMemType(X, &x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GraphConvDeviceRectify(Vec H)
{
  PetscScalar *h;
  PetscInt     n;
  SysStatus    status;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(H, &n));
  PetscCall(VecGetArrayAndMemType(H, &h, NULL));
  PetscCall(PetscLogGpuTimeBegin());
  status = BatchDeviceRectify(n, h, PetscDefaultCudaStream);
  PetscCall(PetscLogGpuTimeEnd());
  PetscCheck(status == SYS_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_GPU, "GraphConvRectify() on the GPU failed: %s", SysDeviceErrorText());
  PetscCall(VecRestoreArrayAndMemType(H, &h));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GraphConvDeviceRectifyBackward(Vec H, Vec dH)
{
  const PetscScalar *h;
  PetscScalar       *d;
  PetscInt           n;
  SysStatus          status;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(H, &n));
  PetscCall(VecGetArrayReadAndMemType(H, &h, NULL));
  PetscCall(VecGetArrayAndMemType(dH, &d, NULL));
  PetscCall(PetscLogGpuTimeBegin());
  status = BatchDeviceRectifyBackward(n, h, d, PetscDefaultCudaStream);
  PetscCall(PetscLogGpuTimeEnd());
  PetscCheck(status == SYS_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_GPU, "GraphConvRectifyBackward() on the GPU failed: %s", SysDeviceErrorText());
  PetscCall(VecRestoreArrayAndMemType(dH, &d));
  PetscCall(VecRestoreArrayReadAndMemType(H, &h));
  PetscFunctionReturn(PETSC_SUCCESS);
}
