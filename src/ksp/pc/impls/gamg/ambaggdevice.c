/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Graph, aggregates and prolongator on the device, for a matrix on one process that is there. AIJCUSPARSE wants the pattern of the prolongator on the host.
*/
#include "sys/sysmemory.h"
#include "sys/systhreads.h"
#include "ksp/pc/impls/gamg/ambagg.h"

#include <petscdevice_cuda.h>

/* *done becomes PETSC_FALSE if there is no memory */
static PetscErrorCode AmbAggDeviceCheck(const AmbAggLevel *level, SysStatus status, const char what[], PetscBool *done)
{
  PetscFunctionBegin;
  PetscCheck(status != SYS_ERROR, PETSC_COMM_SELF, PETSC_ERR_GPU, "The %s of a level of multigrid on the GPU: %s", what, SysDeviceErrorText());
  PetscCheck(status != SYS_TOO_LARGE, PETSC_COMM_SELF, PETSC_ERR_SUP, "The %s of a level of multigrid has more than %d entries; use more processes", what, INT_MAX);
  *done = (PetscBool)(status == SYS_SUCCESS);
  if (!*done) PetscCall(PetscInfo(level->A, "Not enough memory on the GPU for the %s, made on the host\n", what));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AmbAggDeviceGetCSR(Mat A, SysCSR *csr)
{
  MatShadowCSR arrays;
  SysCSR       host;

  PetscFunctionBegin;
  PetscCall(MatShadowGetPattern(A, &host));
  PetscCall(MatShadowDeviceGetCSR(A, &arrays));
  *csr    = arrays.A;
  csr->m  = host.m;
  csr->n  = host.n;
  csr->nz = host.nz;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AmbAggDeviceGraph(AmbAggLevel *level, PetscBool symmetrize, PetscBool *done)
{
  AggMatrix M = {.bs = (int)level->bs, .nindex = (int)level->nindex, .index = level->index};
  SysStatus status;
  int       served;

  PetscFunctionBegin;
  *done = PETSC_FALSE;
  if (!MatShadowValuesOnDevice(level->A)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatShadowGetPattern(level->A, &M.d));
  if (!M.d.nz) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AmbAggDeviceGetCSR(level->A, &M.d));
  PetscCall(PetscLogGpuTimeBegin());
  status = AggDeviceCreate(&M, symmetrize, level->threshold, PetscDefaultCudaStream, &level->device, &served);
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(AmbAggDeviceCheck(level, status, "graph", done));
  if (!served) *done = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AmbAggDeviceCoarsen(AmbAggLevel *level, const AggOptions *options, int *rounds, PetscBool *done)
{
  SysStatus status;

  PetscFunctionBegin;
  PetscCall(PetscLogGpuTimeBegin());
  status = AggDeviceAggregate(level->device, level->first, options, PetscDefaultCudaStream, &level->nagg, rounds);
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(AmbAggDeviceCheck(level, status, "aggregates", done));
  if (*done) AggDeviceForgetGraph(level->device);
  else AggDeviceDestroy(&level->device);
  level->firstagg = 0;
  level->all      = level->nagg;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AmbAggDeviceFetch(AmbAggLevel *level)
{
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(AmbAggDeviceCheck(level, AggDeviceGetAggregates(level->device, PetscDefaultCudaStream, level->aggregate, level->join), "aggregates", &done));
  PetscCall(PetscLogGpuToCpu(2. * level->n * sizeof(PetscInt)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AmbAggDeviceFactor(AmbAggLevel *level, PetscInt nvec, const PetscReal data[], PetscReal **coarse, PetscBool *done)
{
  SysStatus status;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(AMBAGG_Prolongator, level->A, 0, 0, 0));
  PetscCall(PetscMalloc1(level->nagg * nvec * nvec, coarse));
  PetscCall(PetscLogGpuTimeBegin());
  status = AggDeviceFactor(level->device, (int)level->bs, (int)nvec, data, PetscDefaultCudaStream, *coarse);
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(AmbAggDeviceCheck(level, status, "tentative prolongator", done));
  if (data) PetscCall(PetscLogCpuToGpu((PetscLogDouble)(level->n * level->bs * nvec) * sizeof(*data)));
  PetscCall(PetscLogGpuToCpu((PetscLogDouble)(level->nagg * nvec * nvec) * sizeof(*data)));
  if (!*done) PetscCall(PetscFree(*coarse));
  PetscCall(PetscLogEventEnd(AMBAGG_Prolongator, level->A, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All threads make the pages of new memory: one alone takes longer than the copy that follows */
static void AmbAggTouch(char *memory, size_t bytes)
{
  const int64_t page = 4096;

  SysAdvise(memory, bytes);
#pragma omp parallel for num_threads(SysThreads()) schedule(static)
  for (int64_t k = 0; k < (int64_t)bytes; k += page) ((volatile char *)memory)[k] = 0;
}

/* The arrays of a matrix on the host */
typedef struct {
  PetscInt    *i, *j;
  PetscScalar *a;
} AmbAggArrays;

static PetscErrorCode AmbAggArraysDestroy(PetscAMBCtxArgument arg)
{
  AmbAggArrays *arrays = (AmbAggArrays *)PetscAMBCtxGet(arg);

  PetscFunctionBegin;
  PetscCall(PetscFree(arrays->i));
  PetscCall(PetscFree(arrays->j));
  PetscCall(PetscFree(arrays->a));
  PetscCall(PetscFree(arrays));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* New memory with a copy of an array of the device, pinned until AmbAggDeviceMakeMat() has copied it back */
static PetscErrorCode AmbAggDeviceFetchArray(PetscInt n, const int *device, PetscInt **host, PetscBool *pinned)
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, host));
  AmbAggTouch((char *)*host, n * sizeof(**host));
  PetscCall(MatShadowDevicePin(*host, n * sizeof(**host), pinned));
  PetscCallCUDA(cudaMemcpyAsync(*host, device, n * sizeof(**host), cudaMemcpyDeviceToHost, PetscDefaultCudaStream));
  PetscCallCUDA(cudaStreamSynchronize(PetscDefaultCudaStream));
  PetscCall(PetscLogGpuToCpu(n * (PetscLogDouble)sizeof(**host)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix that takes over these arrays, with a container. PETSc's own preallocation makes five arrays of one entry per row in place of two. Rows are not
   compared with each other for PETSc's inodes, which takes one thread longer than all the rest. */
static PetscErrorCode AmbAggMakeMat(PetscInt m, PetscInt n, const AmbAggArrays *arrays, Mat *P)
{
  AmbAggArrays  *kept;
  PetscContainer container;
  PetscOptions   options;
  PetscErrorCode raised;

  PetscFunctionBegin;
  PetscCall(PetscOptionsCreate(&options));
  PetscCall(PetscOptionsSetValue(options, "-mat_no_inode", "true"));
  PetscCall(PetscOptionsPush(options));
  raised = MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, m, n, arrays->i, arrays->j, arrays->a, P);
  PetscCall(PetscOptionsPop());
  PetscCall(PetscOptionsDestroy(&options));
  PetscCall(raised);
  PetscCall(PetscNew(&kept));
  *kept = *arrays;
  PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &container));
  PetscCall(PetscContainerSetPointer(container, kept));
  PetscCall(PetscContainerSetCtxDestroy(container, AmbAggArraysDestroy));
  PetscCall(PetscObjectCompose((PetscObject)*P, "AmbAggArrays", (PetscObject)container));
  PetscCall(PetscContainerDestroy(&container));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The matrix of these arrays of the device */
static PetscErrorCode AmbAggDeviceMakeMat(Mat A, const SysCSR *csr, Mat *P)
{
  AmbAggArrays arrays;
  PetscBool    pinned[2];
  const int   *i, *j;
  PetscScalar *a;

  PetscFunctionBegin;
  PetscCall(AmbAggDeviceFetchArray((PetscInt)csr->m + 1, csr->i, &arrays.i, &pinned[0]));
  PetscCall(AmbAggDeviceFetchArray((PetscInt)csr->nz, csr->j, &arrays.j, &pinned[1]));
  PetscCall(PetscMalloc1(csr->nz, &arrays.a)); /* remains without pages as long as nobody wants the values on the host */
  SysAdvise(arrays.a, csr->nz * sizeof(*arrays.a));
  PetscCall(AmbAggMakeMat((PetscInt)csr->m, (PetscInt)csr->n, &arrays, P));
  PetscCall(MatConvert(*P, ((PetscObject)A)->type_name, MAT_INPLACE_MATRIX, P));
  PetscCall(MatSeqAIJCUSPARSEGetIJ(*P, PETSC_FALSE, &i, &j));
  PetscCall(MatSeqAIJCUSPARSEGetArrayWrite(*P, &a));
  PetscCallCUDA(cudaMemcpyAsync(a, csr->a, csr->nz * sizeof(*a), cudaMemcpyDeviceToDevice, PetscDefaultCudaStream));
  PetscCall(MatSeqAIJCUSPARSERestoreArrayWrite(*P, &a));
  PetscCallCUDA(cudaStreamSynchronize(PetscDefaultCudaStream)); /* the arrays end */
  PetscCall(MatShadowDeviceUnpin(arrays.i, pinned[0]));
  PetscCall(MatShadowDeviceUnpin(arrays.j, pinned[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AmbAggDeviceProlongator(AmbAggLevel *level, PetscInt nvec, PetscReal alpha, Mat *P, PetscBool *done)
{
  SysCSR    A, csr;
  SysStatus status;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(AMBAGG_Prolongator, level->A, 0, 0, 0));
  PetscCall(AmbAggDeviceGetCSR(level->A, &A));
  PetscCall(PetscLogGpuTimeBegin());
  status = AggDeviceProlong(level->device, (int)level->bs, (int)nvec, alpha != 0 ? &A : NULL, alpha, PetscDefaultCudaStream, &csr);
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(AmbAggDeviceCheck(level, status, "prolongator", done));
  if (*done) {
    PetscCall(AmbAggDeviceMakeMat(level->A, &csr, P));
    PetscCall(AmbAggInherit(level->A, level->bs, nvec, P));
  }
  PetscCall(PetscLogEventEnd(AMBAGG_Prolongator, level->A, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AmbAggDeviceNoise(Vec x)
{
  PetscInt     n, first;
  PetscScalar *a;
  SysStatus    status;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetOwnershipRange(x, &first, NULL));
  PetscCall(VecCUDAGetArrayWrite(x, &a));
  status = AggDeviceNoise(n, first, a, PetscDefaultCudaStream);
  PetscCall(VecCUDARestoreArrayWrite(x, &a));
  PetscCheck(status == SYS_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_GPU, "Random numbers on the GPU: %s", SysDeviceErrorText());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AmbAggDeviceZeros(Mat A, PetscBool *zeros)
{
  SysCSR    csr;
  SysStatus status;
  int       found = 1;

  PetscFunctionBegin;
  PetscCall(AmbAggDeviceGetCSR(A, &csr));
  status = AggDeviceZeros(&csr, PetscDefaultCudaStream, &found);
  PetscCheck(status != SYS_ERROR, PETSC_COMM_SELF, PETSC_ERR_GPU, "The diagonal of a matrix on the GPU: %s", SysDeviceErrorText());
  *zeros = (PetscBool)(found != 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}
