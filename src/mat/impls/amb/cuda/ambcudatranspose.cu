/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The transposed matrix in AMB on a CUDA device, from a sort of the entries by column. It costs a second copy; in return the transposed product is as
   fast as the plain one and deterministic, which atomic additions are not.

   ambhost.h has the idea.
*/
#include "sys/systranspose.cuh"
#include "mat/impls/amb/cuda/ambcuda.cuh"

static SysStatus AmbTransposedMake(AmbTransposed *T, const SysCSR *csr, int threads, cudaStream_t stream)
{
  const size_t          list = SysPadded(sizeof(int) * (size_t)csr->nz), starts = SysPadded(sizeof(int) * ((size_t)csr->n + 1));
  const AmbDeviceParams params = {0, threads, 0, 0, T->values};
  size_t                bytes;
  SysScratch            work;
  int                  *i, *row, *from;
  SysCSR                transposed;

  SYS_CUDA(SysTransposeSize(csr, &bytes));
  SYS_CALL(SysPoolAllocate(starts + 2 * list, &T->memory, stream));
  T->stream = stream;
  SYS_CALL(SysScratchAllocate(&work, bytes, stream));
  i    = (int *)T->memory;
  row  = i + starts / sizeof(int);
  from = row + list / sizeof(int);
  SYS_CUDA(SysTransposePattern(csr, work.memory, bytes, i, row, from, stream));
  T->arrays  = {i, row, NULL, from};
  T->bytes   = (double)(starts + 2 * list);
  transposed = {csr->n, csr->m, csr->nz, i, row, csr->a};
  return AmbDeviceConvert(&transposed, from, &params, stream, &T->A);
}

SysStatus AmbTransposedMult(AmbTransposed *T, const SysCSR *csr, int threads, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, cudaStream_t stream)
{
  AmbArrays arrays;

  if (!T->A) {
    const SysStatus status = AmbTransposedMake(T, csr, threads, stream);

    if (status != SYS_SUCCESS) AmbTransposedDestroy(T);
    SYS_CALL(status);
    T->stale = 0;
  }
  arrays   = T->arrays;
  arrays.a = csr->a;
  if (T->stale) {
    SYS_CALL(AmbDeviceRenew(T->A, &arrays, stream));
    T->stale = 0;
  }
  return AmbDeviceProduct(T->A, &arrays, alpha, x, beta, y, z, stream);
}

double AmbTransposedBytes(const AmbTransposed *T)
{
  return T->A ? T->bytes + T->A->info.bytes_stored + T->A->info.bytes_extra : 0;
}

void AmbTransposedDestroy(AmbTransposed *T)
{
  AmbDeviceFree(T->A);
  T->A = NULL;
  SysPoolRelease(T->memory, T->stream);
  T->memory = NULL;
}
