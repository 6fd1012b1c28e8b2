/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Graph and aggregates on the device, for a matrix on one process that is there. Only the numbers of the aggregates come to the host.
*/
#include "ksp/pc/impls/gamg/ambagg.h"

#include <petscdevice_cuda.h>

static PetscErrorCode AmbAggDeviceCheck(SysStatus status, const char what[])
{
  PetscFunctionBegin;
  PetscCheck(status != SYS_ERROR, PETSC_COMM_SELF, PETSC_ERR_GPU, "The %s of a level of multigrid on the GPU: %s", what, SysDeviceErrorText());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AmbAggDeviceGraph(AmbAggLevel *level, Mat A, const AggMatrix *M, PetscBool symmetrize, PetscReal threshold, PetscBool *done)
{
  AggMatrix    device = *M;
  MatShadowCSR csr;
  SysCSR       host;
  SysStatus    status;
  int          served;

  PetscFunctionBegin;
  *done = PETSC_FALSE;
  if (!MatShadowValuesOnDevice(A)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatShadowGetPattern(A, &host));
  if (!host.nz) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatShadowDeviceGetCSR(A, &csr));
  device.d    = csr.A;
  device.d.m  = host.m;
  device.d.n  = host.n;
  device.d.nz = host.nz;
  PetscCall(PetscLogGpuTimeBegin());
  status = AggDeviceCreate(&device, symmetrize, threshold, PetscDefaultCudaStream, &level->device, &served);
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(AmbAggDeviceCheck(status, "graph"));
  if (status == SYS_OUT_OF_MEMORY) PetscCall(PetscInfo(A, "Not enough memory on the GPU for the graph, which is made on the host\n"));
  *done = (PetscBool)(status == SYS_SUCCESS && served);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AmbAggDeviceCoarsen(AmbAggLevel *level, const AggOptions *options, int *rounds)
{
  SysStatus status;

  PetscFunctionBegin;
  PetscCall(PetscLogGpuTimeBegin());
  status = AggDeviceAggregate(level->device, level->first, options, PetscDefaultCudaStream, level->aggregate, level->join, &level->nagg, rounds);
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(AmbAggDeviceCheck(status, "aggregates"));
  PetscCheck(status == SYS_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_MEM, "Not enough memory on the GPU for the aggregates of a level of multigrid; use more GPUs, or -pc_gamg_type agg");
  PetscCall(PetscLogGpuToCpu(2. * level->n * sizeof(PetscInt)));
  level->firstagg = 0;
  level->all      = level->nagg;
  PetscFunctionReturn(PETSC_SUCCESS);
}
