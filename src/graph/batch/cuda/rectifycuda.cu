/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The rectifier between a network's layers, and its derivative, on a CUDA device

   batchhost.h has the idea.
*/
#include "sys/syscuda.cuh"
#include "graph/batch/cuda/batchcuda.h"

static __global__ void Rectify(int64_t n, SysReal *h)
{
  SYS_FOR_EACH(k, n)
  {
    if (h[k] < 0) h[k] = 0;
  }
}

static __global__ void RectifyBackward(int64_t n, const SysReal *__restrict__ h, SysReal *__restrict__ d)
{
  SYS_FOR_EACH(k, n)
  {
    if (!(h[k] > 0)) d[k] = 0;
  }
}

SysStatus BatchDeviceRectify(int64_t n, SysReal h[], SysStream stream)
{
  Rectify<<<SysBlocksLoop(n), SYS_THREADS, 0, stream>>>(n, h);
  SYS_CUDA(cudaPeekAtLastError());
  return SYS_SUCCESS;
}

SysStatus BatchDeviceRectifyBackward(int64_t n, const SysReal h[], SysReal d[], SysStream stream)
{
  RectifyBackward<<<SysBlocksLoop(n), SYS_THREADS, 0, stream>>>(n, h, d);
  SYS_CUDA(cudaPeekAtLastError());
  return SYS_SUCCESS;
}
