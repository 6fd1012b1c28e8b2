/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The transposed matrix in the AMB format on a CUDA device: made by sorting the entries by their columns. Against adding into the result with
   atomics it costs a second copy, but runs as fast as the plain product, and gives the same bits every time.
*/
#include "ambcuda.cuh"
#include "ambcudapattern.cuh"

static AmbDeviceStatus Transpose(AmbDevice *A, const AmbDeviceCSR *csr, void *work, size_t bytes, cudaStream_t stream)
{
  const size_t    list = AmbPadded(sizeof(int) * (size_t)csr->nz);
  int            *i = (int *)A->transpose_memory, *row = i + AmbPadded(sizeof(int) * ((size_t)csr->n + 1)) / sizeof(int), *from = row + list / sizeof(int);
  AmbDeviceParams params = {0, A->info.threads, 0, 0};
  AmbDeviceCSR    transposed;

  AMB_CUDA(AmbDeviceTransposePattern(csr, work, bytes, i, row, from, stream));
  A->transpose.i    = i;
  A->transpose.j    = row;
  A->transpose.from = from;
  transposed.m      = csr->n;
  transposed.n      = csr->m;
  transposed.nz     = csr->nz;
  transposed.i      = i;
  transposed.j      = row;
  transposed.a      = csr->a;
  return AmbDeviceConvert(&transposed, from, &params, stream, &A->transposed);
}

AmbDeviceStatus AmbDeviceTranspose(AmbDevice *A, const AmbDeviceCSR *csr, cudaStream_t stream)
{
  const size_t    bytes = AmbPadded(sizeof(int) * ((size_t)csr->n + 1)) + 2 * AmbPadded(sizeof(int) * (size_t)csr->nz);
  size_t          temporary;
  void           *work = NULL;
  AmbDeviceStatus status;

  AMB_CUDA(AmbDeviceTransposeSize(csr, &temporary));
  AMB_CUDA(cudaMalloc(&A->transpose_memory, bytes));
  {
    const cudaError_t error = cudaMalloc(&work, temporary);

    status = error == cudaSuccess ? Transpose(A, csr, work, temporary, stream) : AmbDeviceFailed(error, "cudaMalloc()");
  }
  (void)cudaFree(work);
  if (status != AMB_DEVICE_SUCCESS) {
    (void)cudaFree(A->transpose_memory);
    A->transpose_memory = NULL;
    return status;
  }
  A->transposed_stale = 0;
  A->info.bytes_extra += (double)bytes + A->transposed->info.bytes_stored + A->transposed->info.bytes_extra;
  return AMB_DEVICE_SUCCESS;
}
