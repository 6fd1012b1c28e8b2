/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The time of a product on the device, on scratch vectors in an otherwise empty stream
*/
#pragma once

#include "sys/syscuda.cuh"

struct SysTrial {
  SysScalar   *x = NULL, *z = NULL;
  cudaEvent_t  event[2] = {NULL, NULL};
  cudaStream_t stream   = NULL;
  int64_t      tried    = 0; /* products so far */

  ~SysTrial()
  {
    for (cudaEvent_t e : event) {
      if (e) (void)cudaEventDestroy(e);
    }
    (void)cudaFree(x);
  }
};

static inline SysStatus SysTrialCreate(const SysCSR *csr, cudaStream_t stream, SysTrial *T)
{
  const size_t x = SysPadded(sizeof(*T->x) * (size_t)csr->n);

  T->stream = stream;
  SYS_CUDA(cudaMalloc(&T->x, x + sizeof(*T->z) * (size_t)(csr->m + 1)));
  T->z = T->x + x / sizeof(*T->x);
  SYS_CUDA(cudaMemsetAsync(T->x, 0, x, stream));
  for (cudaEvent_t &e : T->event) SYS_CUDA(cudaEventCreate(&e));
  return SYS_SUCCESS;
}

/* Sets the mean time of `products` products in milliseconds, after an untimed one; product(k) launches product k */
template <typename Product>
static SysStatus SysTrialTime(SysTrial *T, int products, const Product &product, float *time)
{
  for (int k = 0; k <= products; k++) {
    if (k == 1) SYS_CUDA(cudaEventRecord(T->event[0], T->stream));
    SYS_CALL(product(k));
  }
  SYS_CUDA(cudaEventRecord(T->event[1], T->stream));
  SYS_CUDA(cudaEventSynchronize(T->event[1]));
  SYS_CUDA(cudaEventElapsedTime(time, T->event[0], T->event[1]));
  *time /= (float)products;
  T->tried += products + 1;
  return SYS_SUCCESS;
}
