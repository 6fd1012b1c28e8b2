/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Solves with vectors on a GPU: which ones the device can make
*/
#include <petscdevice_cuda.h>

#include "mat/halo/halo.h"
#include "ksp/ksp/impls/ambksp/ambksp.h"
#include "ksp/ksp/impls/fused/fusedcuda.h"

/* Looked up at the first solve with vectors on a GPU, since vectors start the device */
static struct _VecOps cudaops[2];
static PetscBool      cudaops_known = PETSC_FALSE;

static PetscErrorCode KSPAMBDeviceVecServes(Vec v, PetscBool mpi, PetscBool *serves)
{
  PetscBool cuda, bound;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)v, mpi ? VECMPICUDA : VECSEQCUDA, &cuda));
  PetscCall(VecBoundToCPU(v, &bound));
  *serves = (PetscBool)(cuda && !bound && KSPAMBVecPlain(v, &cudaops[mpi]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPAMBDeviceServes(KSP ksp, KSPAMB *amb, const char **why, PetscErrorCode (**solve)(KSP, KSPAMB *))
{
  PetscBool    seq, mpi, none, jacobi, plain = PETSC_TRUE;
  MatHaloComm *about = NULL;
  MatNullSpace nullspace;
  Mat          A;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp->vec_sol, VECSEQCUDA, &seq));
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp->vec_sol, VECMPICUDA, &mpi));
  if (!seq && !mpi) PetscFunctionReturn(PETSC_SUCCESS);
  if (!cudaops_known) {
    PetscCall(KSPAMBLookAtVec(VECSEQCUDA, &cudaops[0]));
    PetscCall(KSPAMBLookAtVec(VECMPICUDA, &cudaops[1]));
  }
  cudaops_known = PETSC_TRUE;
  for (PetscInt k = 0; k < ksp->nwork && plain; k++) PetscCall(KSPAMBDeviceVecServes(ksp->work[k], mpi, &plain));
  if (plain) PetscCall(KSPAMBDeviceVecServes(ksp->vec_sol, mpi, &plain));
  if (plain) PetscCall(KSPAMBDeviceVecServes(ksp->vec_rhs, mpi, &plain));
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp->pc, PCNONE, &none));
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp->pc, PCJACOBI, &jacobi));
  PetscCall(KSPAMBLookAtPC(ksp, amb));
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  PetscCall(MatGetNullSpace(A, &nullspace));
  if (mpi && !amb->local) PetscCall(MatHaloCommGet(PetscObjectComm((PetscObject)ksp), &about));
  if (about && !about->nccl) *why = "NCCL is not started between the GPUs of these processes; -mat_shadow_halo nccl starts it";
  else if (!amb->solvedevice || amb->single) *why = "the device has no passes for this method";
  else if (!plain) *why = "not all vectors are on the GPU with PETSc's operations";
  else if (nullspace) *why = "the operator has a null space";
  else if (!amb->local && !none && !jacobi) *why = "the device has no pass for this preconditioner";
  else if (ksp->chknorm > 0) *why = "the first norms are not wanted";
  else *solve = amb->solvedevice;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPAMBDeviceClear(KSPAMB *amb)
{
  PetscFunctionBegin;
  FusedDeviceDestroy(&amb->device);
  PetscFunctionReturn(PETSC_SUCCESS);
}
