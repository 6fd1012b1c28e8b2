/* SPDX-License-Identifier: BSD-2-Clause */
/*
   VecShiftToSum(), VecScaleToSum() and VecGetTop() of vectors on a GPU. The work space of sums is composed with the vector. Of the greatest entries, the
   device finds the positions, and the host sorts them.
*/
#include <petscdevice_cuda.h>
#include <petsc/private/vecimpl.h>

#include "sys/syscompat.h"
#include "graph/cuda/graphcuda.h"
#include "graph/glue/graphdevice.h"
#include "graph/host/graphhost.h"

#define VECTOSUM "VecToSum_petscamb"

/* Clears *device if v is not on a GPU; v may be NULL */
static PetscErrorCode OnDevice(Vec v, PetscBool *device)
{
  PetscBool cuda;

  PetscFunctionBegin;
  if (!v) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectTypeCompareAny((PetscObject)v, &cuda, VECSEQCUDA, VECMPICUDA, ""));
  *device = (PetscBool)(*device && cuda && !v->boundtocpu);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Check(SysStatus status)
{
  PetscFunctionBegin;
  PetscCheck(status != SYS_OUT_OF_MEMORY, PETSC_COMM_SELF, PETSC_ERR_MEM, "Not enough memory on the GPU for the sum of a vector");
  PetscCheck(status == SYS_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_GPU, "The sum of a vector on the GPU failed: %s", SysDeviceErrorText());
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SumsDestroy(PetscAMBCtxArgument arg)
{
  PetscFunctionBegin;
  GraphSumsDestroy((GraphSums *)PetscAMBCtxGet(arg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the work space composed with z; creates it at the first call */
static PetscErrorCode SumsGet(Vec z, GraphSums **S)
{
  PetscFunctionBegin;
  PetscCall(PetscAMBObjectContainerQuery((PetscObject)z, VECTOSUM, (void **)S));
  if (!*S) {
    const SysStatus status = GraphSumsCreate(S);

    if (status) GraphSumsDestroy(*S);
    PetscCall(Check(status));
    PetscCall(PetscAMBObjectContainerCompose((PetscObject)z, VECTOSUM, *S, SumsDestroy));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On one process the sum of z stays on the device between the two passes; on several it is reduced on the host and passed to the second */
PetscErrorCode VecToSumDevice(VecToSum *s, PetscBool *done)
{
  MPI_Comm           comm;
  PetscMPIInt        size;
  PetscInt           n;
  GraphSums         *S;
  const PetscScalar *x = NULL, *where = NULL;
  PetscScalar       *z;

  PetscFunctionBegin;
  *done = PETSC_TRUE;
  PetscCall(OnDevice(s->z, done));
  PetscCall(OnDevice(s->where, done));
  PetscCall(OnDevice(s->x, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectGetComm((PetscObject)s->z, &comm));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(SumsGet(s->z, &S));
  PetscCall(VecGetLocalSize(s->z, &n));
  PetscCall(VecCUDAGetArray(s->z, &z));
  if (s->x) PetscCall(VecCUDAGetArrayRead(s->x, &x));
  if (s->where) PetscCall(VecCUDAGetArrayRead(s->where, &where));
  PetscCall(Check(GraphSumsSum(S, n, z, size > 1 ? &s->total : NULL, PetscDefaultCudaStream)));
  if (size > 1) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &s->total, 1, MPIU_SCALAR, MPIU_SUM, comm));
  PetscCall(Check(GraphSumsStep(S, n, s->scale, size > 1 ? &s->total : NULL, s->sum, s->weight, where, x, z, &s->change, &s->total, PetscDefaultCudaStream)));
  if (s->where) PetscCall(VecCUDARestoreArrayRead(s->where, &where));
  if (s->x) PetscCall(VecCUDARestoreArrayRead(s->x, &x));
  PetscCall(VecCUDARestoreArray(s->z, &z));
  if (size > 1 && s->x) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &s->change, 1, MPIU_REAL, MPIU_SUM, comm));
  PetscCall(PetscLogGpuToCpu((PetscLogDouble)(2 * sizeof(PetscScalar))));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecTopDevice(Vec x, PetscMPIInt k, int64_t position[], PetscReal value[], PetscBool *done)
{
  const PetscScalar *a;
  PetscScalar       *found;
  PetscInt           n;
  PetscBool          device = PETSC_TRUE;
  SysStatus          status;
  int               *from;

  PetscFunctionBegin;
  PetscCall(OnDevice(x, &device));
  PetscCall(VecGetLocalSize(x, &n));
  if (!device || !(x->offloadmask & PETSC_OFFLOAD_GPU) || !k || k > n / 2) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc2(k, &from, k, &found));
  PetscCall(VecCUDAGetArrayRead(x, &a));
  PetscCall(PetscLogGpuTimeBegin());
  status = GraphTopPositions(n, a, k, from, found, PetscDefaultCudaStream);
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(VecCUDARestoreArrayRead(x, &a));
  PetscCheck(status == SYS_SUCCESS || status == SYS_OUT_OF_MEMORY, PETSC_COMM_SELF, PETSC_ERR_GPU, "The greatest entries of a vector on the GPU: %s", SysDeviceErrorText());
  if (status == SYS_SUCCESS) {
    PetscCall(PetscLogGpuToCpu((PetscLogDouble)k * (sizeof(*from) + sizeof(*found))));
    (void)GraphTop(k, found, k, position, value); /* equal entries are ordered by position */
    for (PetscMPIInt q = 0; q < k; q++) position[q] = from[position[q]];
    *done = PETSC_TRUE;
  } else PetscCall(PetscInfo(x, "Not enough memory on the GPU for the largest entries of a vector: the host finds them\n"));
  PetscCall(PetscFree2(from, found));
  PetscFunctionReturn(PETSC_SUCCESS);
}
