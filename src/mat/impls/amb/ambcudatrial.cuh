/* SPDX-License-Identifier: BSD-2-Clause */
/*
   How long a product takes on the device: on vectors made for the purpose, in a stream that nothing else is in
*/
#pragma once

#include "ambcuda.cuh"

struct AmbTrial {
  AmbScalar   *x = NULL, *z = NULL;
  cudaEvent_t  event[2] = {NULL, NULL};
  cudaStream_t stream   = NULL;
  int64_t      tried    = 0; /* products so far */

  ~AmbTrial()
  {
    for (cudaEvent_t e : event) {
      if (e) (void)cudaEventDestroy(e);
    }
    (void)cudaFree(x);
  }
};

static inline AmbDeviceStatus AmbTrialCreate(const AmbDeviceCSR *csr, cudaStream_t stream, AmbTrial *T)
{
  const size_t x = AmbPadded(sizeof(*T->x) * (size_t)csr->n);

  T->stream = stream;
  AMB_CUDA(cudaMalloc(&T->x, x + sizeof(*T->z) * (size_t)(csr->m + 1)));
  T->z = T->x + x / sizeof(*T->x);
  AMB_CUDA(cudaMemsetAsync(T->x, 0, x, stream));
  for (cudaEvent_t &e : T->event) AMB_CUDA(cudaEventCreate(&e));
  return AMB_DEVICE_SUCCESS;
}

/* The mean of so many, in milliseconds, after one that is not timed; product(k) makes the one with this number */
template <typename Product>
static AmbDeviceStatus AmbTrialTime(AmbTrial *T, int products, const Product &product, float *time)
{
  for (int k = 0; k <= products; k++) {
    if (k == 1) AMB_CUDA(cudaEventRecord(T->event[0], T->stream));
    AMB_CALL(product(k));
  }
  AMB_CUDA(cudaEventRecord(T->event[1], T->stream));
  AMB_CUDA(cudaEventSynchronize(T->event[1]));
  AMB_CUDA(cudaEventElapsedTime(time, T->event[0], T->event[1]));
  *time /= (float)products;
  T->tried += products + 1;
  return AMB_DEVICE_SUCCESS;
}
