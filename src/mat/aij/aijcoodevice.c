/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Assembly from coordinates of blocks into an AIJCUSPARSE: one kernel reads the values where they are and writes PETSc's array on the device
*/
#include <petscdevice_cuda.h>

#include "mat/aij/aijcoo.h"

static PetscBool MatAIJIsOnDevice(const void *memory)
{
  struct cudaPointerAttributes attributes;

  if (!memory || cudaPointerGetAttributes(&attributes, memory) != cudaSuccess) {
    (void)cudaGetLastError();
    return PETSC_FALSE;
  }
  return (PetscBool)(attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged);
}

static PetscErrorCode MatAIJCopyToHost(size_t bytes, const void *device, void *host)
{
  char *copy;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(bytes, &copy));
  *(void **)host = copy;
  if (!bytes) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCUDA(cudaMemcpyAsync(copy, device, bytes, cudaMemcpyDeviceToHost, PetscDefaultCudaStream));
  PetscCallCUDA(cudaStreamSynchronize(PetscDefaultCudaStream));
  PetscCall(PetscLogGpuToCpu((PetscLogDouble)bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatAIJBlockCOOGetHost(PetscCount n, PetscInt **bi, PetscInt **bj)
{
  PetscInt *const coordinates[2] = {*bi, *bj};
  PetscInt      **host[2]        = {bi, bj};

  PetscFunctionBegin;
  if (!n || (!MatAIJIsOnDevice(*bi) && !MatAIJIsOnDevice(*bj))) PetscFunctionReturn(PETSC_SUCCESS);
  for (int k = 0; k < 2; k++) {
    if (MatAIJIsOnDevice(coordinates[k])) PetscCall(MatAIJCopyToHost((size_t)n * sizeof(PetscInt), coordinates[k], host[k]));
    else {
      PetscCall(PetscMalloc1(n, host[k]));
      PetscCall(PetscArraycpy(*host[k], coordinates[k], n));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Uploads an array once. A NULL array has no copy. */
static PetscErrorCode MatAIJBlockCOOUpload(size_t n, const SysInt host[], SysInt **device)
{
  PetscBool enough;

  PetscFunctionBegin;
  if (!host || !n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatAIJPoolAllocate(n * sizeof(*host), device, &enough));
  PetscCheck(enough, PETSC_COMM_SELF, PETSC_ERR_MEM, "The GPU lacks %g MB for the map of MatSetValuesBlockCOO()", 1e-6 * (double)(n * sizeof(*host)));
  PetscCallCUDA(cudaMemcpyAsync(*device, host, n * sizeof(*host), cudaMemcpyHostToDevice, PetscDefaultCudaStream));
  PetscCall(PetscLogCpuToGpu((PetscLogDouble)(n * sizeof(*host))));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatAIJBlockCOODeviceSetUp(MatAIJBlockCOOPart *part)
{
  const AijBlocks *plan   = &part->plan;
  const size_t     groups = (size_t)(plan->nb + AIJ_GROUP - 1) / AIJ_GROUP;
  SysInt          *group;

  PetscFunctionBegin;
  if (part->device.i) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(groups + 1, &group));
  AijBlocksGroups(plan, group);
  part->device.m  = plan->m;
  part->device.nb = plan->nb;
  part->device.n  = plan->n;
  PetscCall(MatAIJBlockCOOUpload((size_t)plan->m + 1, plan->i, &part->device.i));
  PetscCall(MatAIJBlockCOOUpload((size_t)plan->nb + 1, plan->first, &part->device.first));
  PetscCall(MatAIJBlockCOOUpload((size_t)plan->n, plan->from, &part->device.from));
  PetscCall(MatAIJBlockCOOUpload(groups + 1, group, &part->device.group));
  PetscCallCUDA(cudaStreamSynchronize(PetscDefaultCudaStream));
  PetscCall(PetscFree(group));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatAIJBlockCOODeviceFree(MatAIJBlockCOOPart *part)
{
  PetscFunctionBegin;
  if (part->device.i) MatAIJPoolRelease(part->device.i);
  if (part->device.first) MatAIJPoolRelease(part->device.first);
  if (part->device.from) MatAIJPoolRelease(part->device.from);
  if (part->device.group) MatAIJPoolRelease(part->device.group);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatAIJBlockCOODeviceFreeList(MatAIJBlockCOO *coo)
{
  PetscFunctionBegin;
  if (coo->dlist) MatAIJPoolRelease(coo->dlist);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatAIJBlockCOOAllocate(size_t n, PetscScalar **array)
{
  PetscBool enough;

  PetscFunctionBegin;
  *array = NULL;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatAIJPoolAllocate(n * sizeof(**array), array, &enough));
  PetscCheck(enough, PETSC_COMM_SELF, PETSC_ERR_MEM, "The GPU lacks %g MB for values of MatSetValuesBlockCOO()", 1e-6 * (double)(n * sizeof(**array)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's array on the device for a block, to write or to add to */
static PetscErrorCode MatAIJBlockCOOSumPart(Mat B, MatAIJBlockCOOPart *part, const AijBlockValues *input, InsertMode mode)
{
  PetscScalar *a;
  SysStatus    status;
  SysCSR       csr;

  PetscFunctionBegin;
  if (!part->plan.nb) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatAIJBlockCOODeviceSetUp(part));
  if (mode == ADD_VALUES || !part->uploaded || B->offloadmask == PETSC_OFFLOAD_UNALLOCATED) PetscCall(MatAIJDeviceGetArrays(B, &csr));
  part->uploaded = PETSC_TRUE;
  PetscCall(mode == ADD_VALUES ? MatSeqAIJCUSPARSEGetArray(B, &a) : MatSeqAIJCUSPARSEGetArrayWrite(B, &a));
  PetscCall(PetscLogGpuTimeBegin());
  status = AijBlocksSumDevice(&part->device, input, mode == ADD_VALUES, a, PetscDefaultCudaStream);
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(mode == ADD_VALUES ? MatSeqAIJCUSPARSERestoreArray(B, &a) : MatSeqAIJCUSPARSERestoreArrayWrite(B, &a));
  PetscCheck(status == SYS_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_GPU, "MatSetValuesBlockCOO() on the GPU: %s", SysDeviceErrorText());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatAIJBlockCOOSumDevice(Mat A, MatAIJBlockCOO *coo, const PetscScalar v[], InsertMode mode, MatAIJBlockCOOHost *host, PetscBool *done)
{
  const PetscInt  values   = coo->rbs * coo->cbs, *garray;
  const size_t    n        = (size_t)coo->own * (size_t)values;
  const PetscBool ondevice = MatAIJIsOnDevice(v);
  AijBlockValues  input    = {(int)coo->rbs, (int)coo->cbs, coo->own, v, NULL};
  PetscScalar    *copy = NULL, *send = NULL, *received = NULL;
  PetscBool       pinned = PETSC_FALSE;
  SysStatus       status = SYS_SUCCESS;
  Mat             block[2];

  PetscFunctionBegin;
  PetscCall(MatAIJGetBlocks(A, block, &garray));
  if (!MatAIJValuesOnDevice(block[0])) {
    if (ondevice) {
      PetscCall(MatAIJCopyToHost(n * sizeof(*v), v, &copy));
      PetscCall((*host)(A, coo, copy, mode));
      PetscCall(PetscFree(copy));
      *done = PETSC_TRUE;
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!ondevice && n) {
    PetscCall(MatAIJBlockCOOAllocate(n, &copy));
    PetscCall(MatAIJDevicePin(v, n * sizeof(*v), &pinned));
    PetscCallCUDA(cudaMemcpyAsync(copy, v, n * sizeof(*v), cudaMemcpyHostToDevice, PetscDefaultCudaStream));
    PetscCall(PetscLogCpuToGpu((PetscLogDouble)(n * sizeof(*v))));
    input.values = copy;
  }
  if (coo->sf) {
    PetscCall(MatAIJBlockCOOAllocate((size_t)coo->nsend * (size_t)values, &send));
    PetscCall(MatAIJBlockCOOAllocate((size_t)coo->nreceive * (size_t)values, &received));
    if (!coo->dlist) PetscCall(MatAIJBlockCOOUpload((size_t)coo->nsend, coo->list, &coo->dlist));
    status = AijBlocksPackDevice(coo->nsend, coo->dlist, (int)values, input.values, send, PetscDefaultCudaStream);
    PetscCheck(status == SYS_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_GPU, "MatSetValuesBlockCOO() on the GPU: %s", SysDeviceErrorText());
    PetscCall(PetscSFBcastWithMemTypeBegin(coo->sf, coo->unit, PETSC_MEMTYPE_CUDA, send, PETSC_MEMTYPE_CUDA, received, MPI_REPLACE));
    PetscCall(PetscSFBcastEnd(coo->sf, coo->unit, send, received, MPI_REPLACE));
    input.received = received;
  }
  for (int k = 0; k < coo->nparts; k++) PetscCall(MatAIJBlockCOOSumPart(block[k], &coo->part[k], &input, mode));
  if (copy) {
    PetscCallCUDA(cudaStreamSynchronize(PetscDefaultCudaStream)); /* the caller may change its values */
    PetscCall(MatAIJDeviceUnpin(v, pinned));
    MatAIJPoolRelease(copy);
  }
  if (send) MatAIJPoolRelease(send);
  if (received) MatAIJPoolRelease(received);
  *done = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
