/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Solves with vectors on a GPU: which ones the device can make; the numbers of their preconditioners
*/
#include <petscdevice_cuda.h>

#include "vec/ambvec/ambvec.h"
#include "mat/halo/halo.h"
#include "ksp/ksp/impls/ambksp/ambksp.h"
#include "ksp/ksp/impls/fused/fusedcuda.h"

/* Looked up at the first solve with vectors on a GPU, since vectors start the device */
static struct _VecOps cudaops[2];
static PetscBool      cudaops_known = PETSC_FALSE;

static PetscErrorCode KSPAMBDeviceVecSupports(Vec v, PetscBool mpi, PetscBool *supported)
{
  struct _VecOps ops = *v->ops;
  PetscBool      cuda, bound;

  PetscFunctionBegin;
  PetscCall(VecAMBRestoreOperations(mpi, &ops));
  PetscCall(PetscObjectTypeCompare((PetscObject)v, mpi ? VECMPICUDA : VECSEQCUDA, &cuda));
  PetscCall(VecBoundToCPU(v, &bound));
  *supported = (PetscBool)(cuda && !bound && KSPAMBVecPlain(&ops, &cudaops[mpi]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPAMBDeviceSupports(KSP ksp, KSPAMB *amb, const char **why, PetscErrorCode (**solve)(KSP, KSPAMB *))
{
  PetscBool    seq, mpi, plain = PETSC_TRUE;
  PetscBool    reach = PETSC_TRUE;
  MatHaloComm *about;
  MatNullSpace nullspace;
  Mat          A;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp->vec_sol, VECSEQCUDA, &seq));
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp->vec_sol, VECMPICUDA, &mpi));
  if (!seq && !mpi) PetscFunctionReturn(PETSC_SUCCESS);
  if (!cudaops_known) {
    PetscCall(VecAMBGetOperations(VECSEQCUDA, &cudaops[0]));
    PetscCall(VecAMBGetOperations(VECMPICUDA, &cudaops[1]));
  }
  cudaops_known = PETSC_TRUE;
  for (PetscInt k = 0; k < ksp->nwork && plain; k++) PetscCall(KSPAMBDeviceVecSupports(ksp->work[k], mpi, &plain));
  if (plain) PetscCall(KSPAMBDeviceVecSupports(ksp->vec_sol, mpi, &plain));
  if (plain) PetscCall(KSPAMBDeviceVecSupports(ksp->vec_rhs, mpi, &plain));
  PetscCall(KSPAMBCheckPC(ksp, amb));
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  PetscCall(MatGetNullSpace(A, &nullspace));
  if (mpi && !amb->local) {
    PetscCall(MatHaloCommGet(PetscObjectComm((PetscObject)ksp), &about));
    PetscCall(MatHaloCommReach(about, &reach));
  }
  if (!reach) *why = "the GPUs of these processes do not reach each other's memory, and NCCL is not started; -mat_shadow_halo nccl starts it";
  else if (!amb->solvedevice) *why = "the device has no passes for this method";
  else if (!plain) *why = "not all vectors are on the GPU with PETSc's operations";
  else if (nullspace && !amb->anypc && !amb->sweeps) *why = "the operator has a null space";
  else if (!amb->local && !amb->anypc && amb->kind == FUSED_OTHER) *why = "the device has no pass for this preconditioner";
  else if (ksp->chknorm > 0) *why = "the first norms are not wanted";
  else *solve = amb->solvedevice;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPAMBDeviceGetPC(KSP ksp, KSPAMB *amb, PetscInt n, const SysReal **d)
{
  const PetscScalar *column;
  PetscScalar       *unit, *numbers;
  PetscInt           have = -1;
  PetscBool          same = PETSC_FALSE;
  SysStatus          status;

  PetscFunctionBegin;
  *d = NULL;
  if (amb->kind == FUSED_NONE) PetscFunctionReturn(PETSC_SUCCESS);
  if (amb->keep) PetscCall(KSPAMBKeeps(ksp, amb, &amb->diagonal, n, &same));
  if (!same) {
    if (amb->diagonal) PetscCall(VecGetLocalSize(amb->diagonal, &have));
    if (have != n * amb->bs) {
      PetscCall(VecDestroy(&amb->diagonal));
      PetscCall(VecCreateSeqCUDA(PETSC_COMM_SELF, n * amb->bs, &amb->diagonal));
    }
    for (PetscInt j = 0; j < amb->bs; j++) {
      PetscCall(VecCUDAGetArrayWrite(ksp->work[0], &unit));
      status = FusedDeviceUnit(n, (int)amb->bs, (int)j, unit, PetscDefaultCudaStream);
      PetscCheck(status == SYS_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_GPU, "The preconditioner on the GPU: %s", SysDeviceErrorText());
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

PetscErrorCode KSPAMBDeviceClear(KSPAMB *amb)
{
  PetscFunctionBegin;
  FusedDeviceDestroy(&amb->device);
  PetscFunctionReturn(PETSC_SUCCESS);
}
