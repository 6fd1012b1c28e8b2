/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The caller's functions on a matrix in AMB on a CUDA device, from conversion to destruction

   ambhost.h has the idea.
*/
#include "mat/impls/amb/cuda/ambcuda.cuh"

SysStatus AmbDeviceCreate(const SysCSR *csr, const AmbDeviceParams *params, SysStream stream, AmbDevice **A, AmbDeviceInfo *info)
{
  SYS_CALL(AmbDeviceConvert(csr, NULL, params, stream, A));
  if (info) AmbDeviceGetInfo(*A, info);
  return SYS_SUCCESS;
}

SysStatus AmbDeviceUpdate(void *data, const SysCSR *csr, SysStream stream)
{
  AmbDevice      *A      = (AmbDevice *)data;
  const AmbArrays arrays = {csr->i, csr->j, csr->a, NULL};

  A->transposed.stale = 1;
  return AmbDeviceRenew(A, &arrays, stream);
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
  AmbDeviceFree(A);
}
