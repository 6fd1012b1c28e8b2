/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The text of the last failed CUDA call, the memory pool, capabilities of the device
*/
#include <pthread.h>
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

/* ---- The memory pool ---- */

#define SYS_POOL_DEVICES 64

static cudaMemPool_t   sys_pool[SYS_POOL_DEVICES]; /* of each device, until the process ends */
static pthread_mutex_t sys_pool_lock = PTHREAD_MUTEX_INITIALIZER;

/* The threshold keeps released memory at synchronizations: to map new memory takes as long as many kernels */
static SysStatus SysPoolCreate(int device, cudaMemPool_t *pool)
{
  cudaMemPoolProps props;
  cudaMemPool_t    made;
  uint64_t         threshold = UINT64_MAX;

  memset(&props, 0, sizeof(props));
  props.allocType     = cudaMemAllocationTypePinned;
  props.location.type = cudaMemLocationTypeDevice;
  props.location.id   = device;
  SYS_CUDA(cudaMemPoolCreate(&made, &props));
  SYS_CUDA(cudaMemPoolSetAttribute(made, cudaMemPoolAttrReleaseThreshold, &threshold));
  *pool = made;
  return SYS_SUCCESS;
}

SysStatus SysPoolAllocate(size_t bytes, void *memory, SysStream stream)
{
  SysStatus status = SYS_SUCCESS;
  int       device;

  *(void **)memory = NULL;
  SYS_CUDA(cudaGetDevice(&device));
  if (device >= SYS_POOL_DEVICES) return SysDeviceError("device %d has no memory pool", device);
  pthread_mutex_lock(&sys_pool_lock);
  if (!sys_pool[device]) status = SysPoolCreate(device, &sys_pool[device]);
  pthread_mutex_unlock(&sys_pool_lock);
  SYS_CALL(status);
  SYS_CUDA(cudaMallocFromPoolAsync((void **)memory, bytes ? bytes : 1, sys_pool[device], stream));
  return SYS_SUCCESS;
}

void SysPoolRelease(const void *memory, SysStream stream)
{
  if (memory) (void)cudaFreeAsync((void *)memory, stream);
}

void SysPoolTrim(void)
{
  int device;

  if (cudaGetDevice(&device) != cudaSuccess || device >= SYS_POOL_DEVICES || !sys_pool[device] || cudaDeviceSynchronize() != cudaSuccess) return;
  (void)cudaMemPoolTrimTo(sys_pool[device], 0);
}

void SysPoolTrimIfShort(void)
{
  size_t available, total;

  if (cudaMemGetInfo(&available, &total) == cudaSuccess && available < total / 8) SysPoolTrim();
}

SysStatus SysDeviceAllocate(void *memory, size_t bytes)
{
  cudaError_t error = cudaMalloc((void **)memory, bytes ? bytes : 1);

  if (error == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError(); /* clears the error, or the next check would report it */
    SysPoolTrim();
    error = cudaMalloc((void **)memory, bytes ? bytes : 1);
  }
  if (error != cudaSuccess) return SysDeviceFailed(error, "cudaMalloc()");
  return SYS_SUCCESS;
}

/* ---- Capabilities ---- */

static __global__ void SysAny(void) { }

/* Code compiled for an older device does not wait */
int SysStartsEarly(void)
{
  cudaFuncAttributes about;
  int                device, major;

  if (cudaGetDevice(&device) != cudaSuccess || cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess) return 0;
  return major >= 9 && cudaFuncGetAttributes(&about, SysAny) == cudaSuccess && about.ptxVersion >= 90;
}
