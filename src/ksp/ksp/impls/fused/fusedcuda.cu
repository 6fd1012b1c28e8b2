/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The passes on a CUDA device: their memory, reports to the host
*/
#include <stdlib.h>

#include "ksp/ksp/impls/fused/fusedcuda.cuh"

SysStatus FusedDeviceShare(FusedDevice *f, int nproc, SysReal **mine, SysReal **all)
{
  if (nproc > f->nproc) {
    SYS_CUDA(cudaFree(f->gathered));
    f->gathered = NULL;
    f->nproc    = 1;
    SYS_CALL(SysDeviceAllocate(&f->gathered, (size_t)FUSED_DEVICE_SUMS * ((size_t)nproc + 1) * sizeof(SysReal)));
    SYS_CUDA(cudaMemset(f->gathered, 0, FUSED_DEVICE_SUMS * sizeof(SysReal)));
  }
  f->nproc       = nproc;
  f->shared.mine = nproc > 1 ? f->gathered : NULL;
  *mine          = f->gathered;
  *all           = f->gathered ? f->gathered + FUSED_DEVICE_SUMS : NULL;
  return SYS_SUCCESS;
}

SysStatus FusedDeviceSend(FusedDevice *f, int slot, SysStream stream)
{
  SYS_CUDA(cudaMemcpyAsync(f->slot + slot, f->shared.state, sizeof(FusedState), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaEventRecord(f->sent[slot], stream));
  return SYS_SUCCESS;
}

SysStatus FusedDeviceReceive(FusedDevice *f, int slot, const FusedState **state)
{
  SYS_CUDA(cudaEventSynchronize(f->sent[slot]));
  *state = f->slot + slot;
  return SYS_SUCCESS;
}

SysStatus FusedDeviceRecordBegin(FusedDevice *f, SysStream *stream)
{
  return FusedRecordBegin(&f->record, stream);
}

SysStatus FusedDeviceRecordEnd(FusedDevice *f, int *recorded)
{
  return FusedRecordEnd(f->record, recorded);
}

SysStatus FusedDeviceReplay(FusedDevice *f, SysStream stream)
{
  return FusedRecordReplay(f->record, stream);
}

static SysStatus FusedDeviceFill(FusedDevice *f)
{
  SysArena arena = {NULL, 0};

  for (int pass = 0; pass < 2; pass++) {
    if (pass) SYS_CALL(SysArenaAllocate(&arena));
    SysArenaTake(&arena, &f->shared.state, 1);
    SysArenaTake(&arena, &f->state[1], 1);
    for (int k = 0; k < 3; k++) SysArenaTake(&arena, &f->left[k], FUSED_LEFT);
    SysArenaTake(&arena, &f->shared.partial, FUSED_GRID * FUSED_DEVICE_SUMS);
    SysArenaTake(&arena, &f->shared.arrived, 1);
    f->memory = arena.memory;
  }
  f->state[0] = f->shared.state;
  f->early    = SysStartsEarly();
  SYS_CUDA(cudaMemset(f->memory, 0, arena.used));
  SYS_CUDA(cudaStreamSynchronize(cudaStreamLegacy)); /* the stream of passes need not wait for that stream */
  SYS_CUDA(cudaMallocHost((void **)&f->slot, 2 * sizeof(FusedState)));
  for (int k = 0; k < 2; k++) SYS_CUDA(cudaEventCreateWithFlags(&f->sent[k], cudaEventDisableTiming));
  return SYS_SUCCESS;
}

SysStatus FusedDeviceCreate(FusedDevice **f)
{
  SysStatus status;

  *f = (FusedDevice *)calloc(1, sizeof(**f));
  if (!*f) return SYS_OUT_OF_MEMORY;
  status = FusedDeviceFill(*f);
  if (status != SYS_SUCCESS) FusedDeviceDestroy(f);
  return status;
}

/* The kernels of the last block may still run: cudaFree() waits for them */
void FusedDeviceDestroy(FusedDevice **f)
{
  if (!*f) return;
  (void)cudaFree((*f)->memory);
  (void)cudaFree((*f)->gathered);
  (void)cudaFree((*f)->parts);
  FusedRecordDestroy(&(*f)->record);
  for (int k = 0; k < 2; k++) {
    if ((*f)->sent[k]) (void)cudaEventDestroy((*f)->sent[k]);
  }
  (void)cudaFreeHost((*f)->slot);
  free(*f);
  *f = NULL;
}
