/* SPDX-License-Identifier: BSD-2-Clause */
/*
   KSPAMBCHEBYSHEV on GPUs, on any number of processes: the host queues products and passes and waits for none
*/
#include <petscdevice_cuda.h>

#include "mat/shadow/shadow.h"
#include "ksp/ksp/impls/ambchebyshev/ambchebyshev.h"
#include "ksp/ksp/impls/fused/fusedcuda.h"

/* The product of a format, called without the vectors and events of PETSc's product; mult is NULL if PETSc's product serves */
typedef struct {
  MatShadowMultFunction *mult;
  void                  *data;
  MatShadowCSR           csr;
  PetscInt               made;
  const SysReal         *d; /* of the preconditioner */
} Product;

static PetscErrorCode KSPAMBChebyshevCheck(SysStatus status)
{
  PetscFunctionBegin;
  PetscCheck(status == SYS_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_GPU, "Chebyshev iterations on the GPU: %s", status == SYS_OUT_OF_MEMORY ? "out of memory" : SysDeviceErrorText());
  PetscFunctionReturn(PETSC_SUCCESS);
}
#define CALL(call) PetscCall(KSPAMBChebyshevCheck(call))

/* The numbers of the preconditioner, as PETSc applies them: see KSPAMBGetPC() */
static PetscErrorCode KSPAMBChebyshevGetPC(KSP ksp, KSPAMB *amb, PetscInt n, const SysReal **d)
{
  const PetscScalar *column;
  PetscScalar       *unit, *numbers;
  PetscInt           have = -1;
  PetscBool          same;

  PetscFunctionBegin;
  *d = NULL;
  if (amb->kind == FUSED_NONE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPAMBKeeps(ksp, amb, &amb->diagonal, n, &same));
  if (!same) {
    if (amb->diagonal) PetscCall(VecGetLocalSize(amb->diagonal, &have));
    if (have != n * amb->bs) {
      PetscCall(VecDestroy(&amb->diagonal));
      PetscCall(VecCreateSeqCUDA(PETSC_COMM_SELF, n * amb->bs, &amb->diagonal));
    }
    for (PetscInt j = 0; j < amb->bs; j++) {
      PetscCall(VecCUDAGetArrayWrite(ksp->work[0], &unit));
      CALL(FusedDeviceUnit(n, (int)amb->bs, (int)j, unit, PetscDefaultCudaStream));
      PetscCall(VecCUDARestoreArrayWrite(ksp->work[0], &unit));
      PetscCall(PCApply(ksp->pc, ksp->work[0], ksp->work[1]));
      PetscCall(VecCUDAGetArrayRead(ksp->work[1], &column));
      PetscCall(VecCUDAGetArray(amb->diagonal, &numbers));
      PetscCallCUDA(cudaMemcpyAsync(numbers + j * n, column, (size_t)n * sizeof(*column), cudaMemcpyDeviceToDevice, PetscDefaultCudaStream));
      PetscCall(VecCUDARestoreArray(amb->diagonal, &numbers));
      PetscCall(VecCUDARestoreArrayRead(ksp->work[1], &column));
    }
  }
  PetscCall(VecCUDAGetArrayRead(amb->diagonal, &column));
  *d = (const SysReal *)column;
  PetscCall(VecCUDARestoreArrayRead(amb->diagonal, &column));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The array of a vector that is read, or NULL. A pass may read and write the same vector. */
static PetscErrorCode KSPAMBChebyshevArray(Vec v, SysReal **array)
{
  const PetscScalar *read;

  PetscFunctionBegin;
  *array = NULL;
  if (!v) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecCUDAGetArrayRead(v, &read));
  *array = (SysReal *)read;
  PetscCall(VecCUDARestoreArrayRead(v, &read));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPAMBChebyshevStepDevice(KSP ksp, KSPAMB *amb, Mat A, FusedPass *pass, const Vec v[], void *ctx)
{
  Product     *product = (Product *)ctx;
  PetscScalar *x, *w;
  PetscInt     n;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(v[FUSED_X], &n));
  pass->kind = amb->kind;
  pass->bs   = (int)amb->bs;
  pass->n    = n;
  pass->d    = product->d;
  PetscCall(KSPAMBChebyshevArray(v[FUSED_P], &pass->v[FUSED_P]));
  PetscCall(KSPAMBChebyshevArray(v[FUSED_Z], &pass->v[FUSED_Z]));
  PetscCall(KSPAMBChebyshevArray(v[FUSED_R], &pass->v[FUSED_R]));
  if (v[FUSED_P]) {
    if (product->mult) {
      PetscCall(VecCUDAGetArrayWrite(v[FUSED_W], &w));
      CALL((*product->mult)(product->data, &product->csr.A, 1, pass->v[FUSED_P], 0, NULL, w, product->csr.stream));
      PetscCall(VecCUDARestoreArrayWrite(v[FUSED_W], &w));
      product->made++;
    } else PetscCall(KSP_MatMult(ksp, A, v[FUSED_P], v[FUSED_W]));
    PetscCall(KSPAMBChebyshevArray(v[FUSED_W], &pass->v[FUSED_W]));
  }
  PetscCall(VecCUDAGetArrayWrite(v[FUSED_X], &x));
  pass->v[FUSED_X] = (SysReal *)x;
  CALL(FusedDeviceChebyshev(pass, PetscDefaultCudaStream));
  PetscCall(VecCUDARestoreArrayWrite(v[FUSED_X], &x));
  PetscCall(PetscLogGpuFlops((6.0 + (PetscLogDouble)amb->bs) * (PetscLogDouble)n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPAMBChebyshevSolveDevice(KSP ksp, KSPAMB *amb)
{
  Product  product;
  PetscInt n;
  Mat      A;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(&product, sizeof(product)));
  PetscCall(VecGetLocalSize(ksp->vec_sol, &n));
  PetscCall(KSPAMBChebyshevGetPC(ksp, amb, n, &product.d));
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  PetscCall(MatShadowDeviceSettled(A, &product.csr, &product.mult, &product.data));
  PetscCall(KSPAMBChebyshevIterate(ksp, amb, KSPAMBChebyshevStepDevice, &product));
  if (product.made) PetscCall(MatShadowDeviceMade(A, product.made));
  PetscFunctionReturn(PETSC_SUCCESS);
}
