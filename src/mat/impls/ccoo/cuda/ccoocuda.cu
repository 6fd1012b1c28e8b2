/* SPDX-License-Identifier: BSD-2-Clause */
/*
   CCOO on a CUDA device: conversion with the cheapest K, updates, products

   ccoohost.h has the idea.
*/
#include <climits>
#include <new>
#include <utility>

#include "mat/impls/ccoo/cuda/ccoocuda.cuh"

static void CcooChunksDestroy(CcooDeviceChunks *C)
{
  (void)cudaFree(C->memory);
  (void)cudaFree(C->index);
  (void)cudaFree(C->value);
  *C = CcooDeviceChunks{};
}

static double CcooChunksBytes(const CcooDeviceChunks *C)
{
  return (double)C->nindex + (double)C->nvalue + (sizeof(CcooChunk) + 2. * sizeof(SysScalar)) * C->layout.nchunk + sizeof(SysScalar) * (double)C->ntable;
}

static SysStatus CcooDeviceConvert(CcooDevice *A, const SysCSR *csr, cudaStream_t stream)
{
  CcooDeviceChunks *C = &A->chunks;
  SysScratch        before;

  if (!A->params.k) SYS_CALL(CcooDeviceChooseItems(csr, &A->params.k, stream));
  if (!A->params.b) A->params.b = CcooGroupsFor(A->params.k);
  SYS_CALL(CcooDeviceLayout(csr, &A->params, C, &before, stream));
  SYS_CALL(CcooDeviceChooseValues(csr, &A->params, C, stream));
  SYS_CALL(SysDeviceAllocate(&C->index, (size_t)C->nindex));
  SYS_CALL(SysDeviceAllocate(&C->value, (size_t)C->nvalue));
  C->layout.index = (uint8_t *)C->index;
  C->layout.value = (uint8_t *)C->value;
  SYS_CALL(CcooDeviceFillIndex(csr, C, (int *)before.memory, stream));
  SYS_CALL(CcooDeviceFillValues(csr, C, stream));
  SYS_CUDA(cudaStreamSynchronize(stream)); /* kernels still use memory that is freed on return */
  return SYS_SUCCESS;
}

SysStatus CcooDeviceCreate(const SysCSR *csr, const CcooParams *params, int atomics, SysStream stream, CcooDevice **out, CcooDeviceInfo *info)
{
  CcooDevice *A      = NULL;
  SysStatus   status = SYS_SUCCESS;

  *out = NULL;
  if (csr->m >= INT_MAX || csr->n >= INT_MAX || csr->nz >= INT_MAX) return SYS_TOO_LARGE;
  A = new (std::nothrow) CcooDevice;
  if (!A) return SYS_OUT_OF_MEMORY;
  A->params          = *params;
  A->atomics         = atomics;
  A->chunks.layout   = CcooLayout{};
  A->chunks.layout.m = (int)csr->m;
  if (csr->nz) status = CcooDeviceConvert(A, csr, stream); /* without entries there are no chunks */
  if (status == SYS_SUCCESS) {
    CcooDeviceGetInfo(A, info);
    *out = A;
  } else CcooDeviceDestroy(A);
  return status;
}

/* Chooses the storage of each chunk's values anew in copies of the chunks' headers and of the table, copies these back, and fills the values. The old ones stay if memory is short. */
SysStatus CcooDeviceUpdate(void *data, const SysCSR *csr, SysStream stream)
{
  CcooDevice      *A     = (CcooDevice *)data;
  CcooDeviceChunks C     = A->chunks;
  const size_t     bytes = sizeof(CcooChunk) * ((size_t)C.layout.nchunk + 1), list = SysPadded(bytes);
  SysScratch       s, value;

  A->transposed.stale = 1;
  if (!C.layout.nchunk) return SYS_SUCCESS;
  SYS_CALL(SysDeviceAllocate(&s.memory, list + sizeof(SysTable)));
  C.layout.chunk = (CcooChunk *)s.memory;
  C.layout.table = (SysTable *)(s.memory + list);
  SYS_CUDA(cudaMemcpyAsync(C.layout.chunk, A->chunks.layout.chunk, bytes, cudaMemcpyDeviceToDevice, stream));
  SYS_CALL(CcooDeviceChooseValues(csr, &A->params, &C, stream));
  if (C.nvalue != A->chunks.nvalue) {
    SYS_CALL(SysDeviceAllocate(&value.memory, (size_t)C.nvalue));
    std::swap(value.memory, C.value);
    C.layout.value = (uint8_t *)C.value;
  }
  SYS_CUDA(cudaMemcpyAsync(A->chunks.layout.chunk, C.layout.chunk, bytes, cudaMemcpyDeviceToDevice, stream));
  SYS_CUDA(cudaMemcpyAsync(A->chunks.layout.table, C.layout.table, sizeof(SysTable), cudaMemcpyDeviceToDevice, stream));
  C.layout.chunk = A->chunks.layout.chunk;
  C.layout.table = A->chunks.layout.table;
  A->chunks      = C;
  SYS_CALL(CcooDeviceFillValues(csr, &A->chunks, stream));
  SYS_CUDA(cudaStreamSynchronize(stream)); /* products queued before still use memory that is freed on return */
  return SYS_SUCCESS;
}

SysStatus CcooDeviceMult(void *data, const SysCSR *csr, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, SysStream stream)
{
  const CcooDevice *A      = (const CcooDevice *)data;
  const AmbArrays   arrays = {csr->i, csr->j, csr->a, NULL};

  return CcooDeviceLaunch(&A->chunks.layout, A->atomics, &arrays, alpha, x, beta, y, z, stream);
}

SysStatus CcooDeviceMultTranspose(void *data, const SysCSR *csr, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, SysStream stream)
{
  CcooDevice *A = (CcooDevice *)data;

  return AmbTransposedMult(&A->transposed, csr, 0, alpha, x, beta, y, z, stream);
}

void CcooDeviceGetInfo(const CcooDevice *A, CcooDeviceInfo *info)
{
  const CcooDeviceChunks *C = &A->chunks;

  *info         = CcooDeviceInfo{};
  info->params  = A->params;
  info->atomics = A->atomics;
  info->ntable  = C->ntable;
  for (int f = 0; f < CCOO_FORMATS; f++) info->count[f] = C->layout.nchunk ? C->count[f] : 0;
  info->stored_values = (double)C->layout.ngroup * C->layout.k;
  info->bytes_stored  = CcooChunksBytes(C);
  info->cost          = CcooGroupCost(C->layout.k) * C->layout.ngroup;
  info->bytes_extra   = C->fixed - (sizeof(CcooChunk) + 2. * sizeof(SysScalar)) * C->layout.nchunk - sizeof(SysScalar) * (double)C->ntable + AmbTransposedBytes(&A->transposed);
}

void CcooDeviceDestroy(void *data)
{
  CcooDevice *A = (CcooDevice *)data;

  if (!A) return;
  CcooChunksDestroy(&A->chunks);
  AmbTransposedDestroy(&A->transposed);
  delete A;
}
