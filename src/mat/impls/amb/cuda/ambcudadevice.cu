/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The caller's functions on a matrix in AMB on a CUDA device, from conversion to destruction
*/
#include <stdlib.h>

#include "mat/impls/amb/cuda/ambcuda.cuh"

SysStatus AmbDeviceCreate(const SysCSR *csr, const AmbDeviceParams *params, SysStream stream, AmbDevice **A, AmbDeviceInfo *info)
{
  SYS_CALL(AmbDeviceConvert(csr, NULL, params, stream, A));
  if (info) AmbDeviceGetInfo(*A, info);
  return SYS_SUCCESS;
}

/* Stores new values. The first call creates the map from values to entries, unless it refills the layout after a stencil. Without memory for the map
   it fills the layout anew. */
SysStatus AmbDeviceRenew(AmbDevice *A, const AmbArrays *arrays, cudaStream_t stream)
{
  const size_t n   = (size_t)A->info.stored_values;
  int         *map = NULL;

  A->written = 1;
  A->values.changes++;
  SYS_CALL(AmbValuesChoose(&A->values, A->layout.nz, arrays->a, arrays->from, stream));
  SYS_CALL(AmbValuesStencil(A, arrays, stream));
  if (A->stencil.n) return SYS_SUCCESS;
  if (!A->filled) {
    SYS_CALL(AmbValuesRoom(A));
    SYS_CALL(AmbDeviceFill(&A->layout, arrays, stream));
    A->filled = 1;
    return AmbValuesStore(A, NULL, stream);
  }
  if (!A->layout.map) {
    const cudaError_t error = cudaMalloc(&map, sizeof(*map) * (n ? n : 1));

    if (error == cudaErrorMemoryAllocation) {
      (void)cudaGetLastError();
      SYS_CALL(AmbValuesRoom(A));
      SYS_CALL(AmbDeviceFill(&A->layout, arrays, stream));
      return AmbValuesStore(A, NULL, stream);
    }
    SYS_CUDA(error);
    A->layout.map = map;
    A->info.bytes_extra += sizeof(*map) * (double)n;
    SYS_CALL(AmbDeviceFill(&A->layout, arrays, stream));
  }
  return AmbValuesStore(A, arrays->a, stream);
}

SysStatus AmbDeviceUpdate(void *data, const SysCSR *csr, SysStream stream)
{
  AmbDevice      *A      = (AmbDevice *)data;
  const AmbArrays arrays = {csr->i, csr->j, csr->a, NULL};

  A->transposed.stale = 1;
  return AmbDeviceRenew(A, &arrays, stream);
}

SysStatus AmbDeviceProduct(AmbDevice *A, const AmbArrays *arrays, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, cudaStream_t stream)
{
  const int early = A->early && !A->written;

  A->written = 0;
  if (A->live) {
    const AmbKernel k      = AmbLiveBegin(A, beta != 0, stream);
    const SysStatus status = AmbDeviceLaunch(A, k.threads, k.deep, early && !k.timed, arrays, alpha, x, beta, y, z, stream);

    if (k.timed) AmbLiveEnd(A, stream);
    return status;
  }
  return AmbDeviceLaunch(A, A->info.threads, A->deep, early, arrays, alpha, x, beta, y, z, stream);
}

/* Repeats AmbDeviceProduct(): the call costs time in the shortest products */
SysStatus AmbDeviceMult(void *data, const SysCSR *csr, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, SysStream stream)
{
  AmbDevice      *A      = (AmbDevice *)data;
  const AmbArrays arrays = {csr->i, csr->j, csr->a, NULL};
  const int       early  = A->early && !A->written;

  if (A->live) return AmbDeviceProduct(A, &arrays, alpha, x, beta, y, z, stream);
  A->written = 0;
  return AmbDeviceLaunch(A, A->info.threads, A->deep, early, &arrays, alpha, x, beta, y, z, stream);
}

SysStatus AmbDeviceMultTranspose(void *data, const SysCSR *csr, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, SysStream stream)
{
  AmbDevice *A = (AmbDevice *)data;

  return AmbTransposedMult(&A->transposed, csr, A->info.threads, alpha, x, beta, y, z, stream);
}

int AmbDeviceReadsCSR(const void *data)
{
  const AmbDevice *A = (const AmbDevice *)data;

  return A->stencil.others || (A->transposed.A && A->transposed.A->stencil.others);
}

void AmbDeviceGetInfo(const AmbDevice *A, AmbDeviceInfo *info)
{
  *info = A->info;
  info->bytes_extra += AmbTransposedBytes(&A->transposed) + (A->stencil.n ? A->bytes_pattern : 0);
}

void AmbDeviceDestroy(void *data)
{
  AmbDevice *A = (AmbDevice *)data;

  if (!A) return;
  AmbTransposedDestroy(&A->transposed);
  AmbStencilDestroy(&A->stencil);
  AmbLiveDestroy(A);
  (void)cudaFree(A->memory);
  (void)cudaFree(A->val);
  (void)cudaFree(A->small);
  (void)cudaFree(A->table);
  (void)cudaFree(A->layout.map);
  free(A);
}
