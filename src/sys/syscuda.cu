/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The text of the last failed CUDA call; capabilities of the device
*/
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sys/syscuda.cuh"

static thread_local char error_text[256] = "";

const char *SysDeviceErrorText(void)
{
  return error_text;
}

SysStatus SysDeviceFailed(cudaError_t error, const char call[])
{
  const char *open = strchr(call, '(');

  snprintf(error_text, sizeof(error_text), "%.*s: %s", open ? (int)(open - call) : 200, call, cudaGetErrorString(error));
  (void)cudaGetLastError(); /* clears the error, or the next check would report it */
  return error == cudaErrorMemoryAllocation ? SYS_OUT_OF_MEMORY : SYS_ERROR;
}

SysStatus SysDeviceError(const char format[], ...)
{
  va_list list;

  va_start(list, format);
  vsnprintf(error_text, sizeof(error_text), format, list);
  va_end(list);
  return SYS_ERROR;
}

static __global__ void SysAny(void) { }

/* Code compiled for an older device does not wait */
int SysStartsEarly(void)
{
  cudaFuncAttributes about;
  int                device, major;

  if (cudaGetDevice(&device) != cudaSuccess || cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess) return 0;
  return major >= 9 && cudaFuncGetAttributes(&about, SysAny) == cudaSuccess && about.ptxVersion >= 90;
}
