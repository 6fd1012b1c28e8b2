/* SPDX-License-Identifier: BSD-2-Clause */
/*
   MatPowEntries() of values on a GPU
*/
#include <petscdevice_cuda.h>

#include "mat/graph/cuda/graphpowcuda.h"
#include "mat/graph/glue/graphcount.h"

PetscErrorCode GraphPowDevice(Mat block, PetscInt64 nz, PetscReal power, PetscBool *done)
{
  PetscScalar *a;
  SysStatus    status;

  PetscFunctionBegin;
  if (!MatShadowValuesOnDevice(block) || !nz || (block->offloadmask != PETSC_OFFLOAD_GPU && block->offloadmask != PETSC_OFFLOAD_BOTH)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatSeqAIJCUSPARSEGetArray(block, &a));
  PetscCall(PetscLogGpuTimeBegin());
  status = GraphPowerDevice(nz, power, a, PetscDefaultCudaStream);
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(MatSeqAIJCUSPARSERestoreArray(block, &a));
  PetscCheck(status == SYS_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_GPU, "Powers of entries on the GPU: %s", SysDeviceErrorText());
  *done = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
