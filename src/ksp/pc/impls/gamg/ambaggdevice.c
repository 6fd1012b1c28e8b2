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

/* A matrix of these arrays of the device. Its rows need no comparison with each other, which takes the host longer than all the rest: without PETSc's inodes. */
static PetscErrorCode AmbAggDeviceMakeMat(const SysCSR *csr, const int *lengths, Mat *P)
{
  const SysStream stream = PetscDefaultCudaStream;
  PetscInt       *host;
  const int      *i, *j;
  PetscScalar    *a;
  SysCSR          pattern;
  PetscBool       pinned;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(csr->m, &host));
  AmbAggTouch((char *)host, csr->m * sizeof(*host));
  PetscCallCUDA(cudaMemcpyAsync(host, lengths, csr->m * sizeof(*host), cudaMemcpyDeviceToHost, stream));
  PetscCallCUDA(cudaStreamSynchronize(stream));
  PetscCall(MatCreate(PETSC_COMM_SELF, P));
  PetscCall(MatSetSizes(*P, csr->m, csr->n, csr->m, csr->n));
  PetscCall(MatSetType(*P, MATSEQAIJCUSPARSE));
  PetscCall(MatSetOption(*P, MAT_USE_INODES, PETSC_FALSE));
  PetscCall(MatSeqAIJSetPreallocation(*P, 0, host));
  PetscCall(PetscFree(host));
  PetscCall(MatShadowGetPattern(*P, &pattern));
  AmbAggTouch((char *)pattern.j, csr->nz * sizeof(*pattern.j));
  PetscCall(MatShadowDevicePin(pattern.j, csr->nz * sizeof(*pattern.j), &pinned));
  PetscCallCUDA(cudaMemcpyAsync((void *)pattern.j, csr->j, csr->nz * sizeof(*csr->j), cudaMemcpyDeviceToHost, stream));
  PetscCallCUDA(cudaStreamSynchronize(stream));
  PetscCall(PetscLogGpuToCpu((PetscLogDouble)csr->m * sizeof(*host) + (PetscLogDouble)csr->nz * sizeof(*csr->j)));
  PetscCall(MatSeqAIJSetColumnIndices(*P, (PetscInt *)pattern.j)); /* the columns are in place: this call sets the lengths of the rows */
  PetscCall(MatSeqAIJGetArrayWrite(*P, &a));
  SysAdvise(a, csr->nz * sizeof(*a));
  PetscCall(MatSeqAIJRestoreArrayWrite(*P, &a));
  PetscCall(MatAssemblyBegin(*P, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*P, MAT_FINAL_ASSEMBLY));
  PetscCall(MatSeqAIJCUSPARSEGetIJ(*P, PETSC_FALSE, &i, &j));
  PetscCall(MatSeqAIJCUSPARSEGetArrayWrite(*P, &a));
  PetscCallCUDA(cudaMemcpyAsync(a, csr->a, csr->nz * sizeof(*a), cudaMemcpyDeviceToDevice, stream));
  PetscCallCUDA(cudaStreamSynchronize(stream)); /* the memory of the arrays ends */
  PetscCall(MatSeqAIJCUSPARSERestoreArrayWrite(*P, &a));
  PetscCall(MatShadowDeviceUnpin(pattern.j, pinned));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AmbAggDeviceProlongator(AmbAggLevel *level, PetscInt nvec, PetscReal alpha, Mat *P, PetscBool *done)
{
  SysCSR     A, csr;
  const int *lengths;
  SysStatus  status;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(AMBAGG_Prolongator, level->A, 0, 0, 0));
  PetscCall(AmbAggDeviceGetCSR(level->A, &A));
  PetscCall(PetscLogGpuTimeBegin());
  status = AggDeviceProlong(level->device, (int)level->bs, (int)nvec, alpha != 0 ? &A : NULL, alpha, PetscDefaultCudaStream, &csr, &lengths);
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(AmbAggDeviceCheck(level, status, "prolongator", done));
  if (*done) {
    PetscCall(AmbAggDeviceMakeMat(&csr, lengths, P));
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
