/* SPDX-License-Identifier: BSD-2-Clause */
/*
   KSPAMBCHEBYSHEV on GPUs, on any number of processes: the host queues products and passes and waits for none
*/
#include <petscdevice_cuda.h>

#include "mat/shadow/core/shadow.h"
#include "ksp/ksp/impls/ambchebyshev/ambchebyshev.h"
#include "ksp/ksp/impls/fused/fusedcuda.h"

/* The product of a format, called without the vectors and events of PETSc's product; ops is NULL if PETSc multiplies */
typedef struct {
  const MatShadowOps *ops;
  void               *data;
  MatShadowCSR        csr;
  PetscInt            made;
  const SysReal      *d; /* of the preconditioner */
} Product;

static PetscErrorCode KSPAMBChebyshevCheck(SysStatus status)
{
  PetscFunctionBegin;
  PetscCheck(status == SYS_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_GPU, "Chebyshev iterations on the GPU: %s", status == SYS_OUT_OF_MEMORY ? "out of memory" : SysDeviceErrorText());
  PetscFunctionReturn(PETSC_SUCCESS);
}
#define CALL(call) PetscCall(KSPAMBChebyshevCheck(call))

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
    if (product->ops) {
      PetscCall(VecCUDAGetArrayWrite(v[FUSED_W], &w));
      CALL((*product->ops->mult)(product->data, &product->csr.A, 1, pass->v[FUSED_P], 0, NULL, w, product->csr.stream));
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
  PetscCall(KSPAMBDeviceGetPC(ksp, amb, n, &product.d));
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  PetscCall(MatShadowDeviceSettled(A, PETSC_FALSE, &product.csr, &product.ops, &product.data));
  PetscCall(KSPAMBChebyshevIterate(ksp, amb, KSPAMBChebyshevStepDevice, &product));
  if (product.made) PetscCall(MatShadowDeviceMade(A, product.made, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}
