/* SPDX-License-Identifier: BSD-2-Clause */
/*
   VecGetTop() of a vector on a GPU: the device finds the entries, the host sorts them
*/
#include <petscdevice_cuda.h>
#include <petsc/private/vecimpl.h>

#include "sys/syscompat.h"
#include "graph/cuda/graphcuda.h"
#include "graph/glue/graphdevice.h"
#include "graph/host/graphhost.h"

PetscErrorCode VecTopDevice(Vec x, PetscMPIInt k, int64_t place[], PetscReal value[], PetscBool *done)
{
  const PetscScalar *a;
  PetscScalar       *found;
  PetscInt           n;
  PetscBool          cuda;
  SysStatus          status;
  int               *from;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)x, &cuda, VECSEQCUDA, VECMPICUDA, ""));
  PetscCall(VecGetLocalSize(x, &n));
  if (!cuda || x->boundtocpu || !(x->offloadmask & PETSC_OFFLOAD_GPU) || !k || k > n / 2) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc2(k, &from, k, &found));
  PetscCall(VecCUDAGetArrayRead(x, &a));
  PetscCall(PetscLogGpuTimeBegin());
  status = GraphTopPlaces(n, a, k, from, found, PetscDefaultCudaStream);
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(VecCUDARestoreArrayRead(x, &a));
  PetscCheck(status == SYS_SUCCESS || status == SYS_OUT_OF_MEMORY, PETSC_COMM_SELF, PETSC_ERR_GPU, "The greatest entries of a vector on the GPU: %s", SysDeviceErrorText());
  if (status == SYS_SUCCESS) {
    PetscCall(PetscLogGpuToCpu((PetscLogDouble)k * (sizeof(*from) + sizeof(*found))));
    (void)GraphTop(k, found, k, place, value); /* equal entries are ordered by place */
    for (PetscMPIInt q = 0; q < k; q++) place[q] = from[place[q]];
    *done = PETSC_TRUE;
  } else PetscCall(PetscInfo(x, "Not enough memory on the GPU for the largest entries of a vector: the host finds them\n"));
  PetscCall(PetscFree2(from, found));
  PetscFunctionReturn(PETSC_SUCCESS);
}
