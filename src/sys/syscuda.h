/* SPDX-License-Identifier: BSD-2-Clause */
/*
   C interface to the CUDA kernels: the stream they are queued on, and their error text
*/
#pragma once

#include "sys/syscsr.h"

SYS_C_BEGIN

typedef struct CUstream_st *SysStream; /* a cudaStream_t */

/* SYS_DEVICE f(...) SYS_STUB(value); declares a function of the device. Without CUDA it is a stub that returns value, or nothing. Builds without PETSc
   (SYS_TYPES_GIVEN) call no stubs. */
#if defined(SYS_HAVE_DEVICE) || defined(SYS_TYPES_GIVEN)
  #define SYS_DEVICE extern
  #define SYS_STUB(value)
#else
  #define SYS_DEVICE static inline
  #define SYS_STUB(value) \
    { \
      return value; \
    }
#endif

/* Memory of a pool that keeps released memory. Neither call waits for the device: work queued in the stream before the release may still use the memory, which a later allocation
   in the stream may get. Events must order work in other streams. Other processes cannot map this memory. */
SYS_DEVICE SysStatus SysPoolAllocate(size_t bytes, void *memory, SysStream stream) SYS_STUB(SYS_ERROR);
SYS_DEVICE void      SysPoolRelease(const void *memory, SysStream stream) SYS_STUB();

/* Waits for the device and returns all unused memory of the pool to it */
SYS_DEVICE void SysPoolTrim(void) SYS_STUB();

/* The same if less than an eighth of the device's memory is free, which other allocations than the pool's may need */
SYS_DEVICE void SysPoolTrimIfShort(void) SYS_STUB();

/* cudaMalloc(); where memory is short, once more after SysPoolTrim() */
SYS_DEVICE SysStatus SysDeviceAllocate(void *memory, size_t bytes) SYS_STUB(SYS_ERROR);

/* Returns the text of this thread's last failed call, such as "cudaMalloc: out of memory" */
SYS_DEVICE const char *SysDeviceErrorText(void) SYS_STUB("");

SYS_C_END
