/* SPDX-License-Identifier: BSD-2-Clause */
/*
   What C code needs of the kernels on a CUDA device: the stream that they are queued in, and what went wrong
*/
#pragma once

#include "sys/syscsr.h"

#if defined(__cplusplus)
extern "C" {
#endif

typedef struct CUstream_st *SysStream; /* a cudaStream_t */

/* Declares a function of the device side: without a device it is a stub that returns value, or nothing */
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

/* "cudaMalloc: out of memory", of the last call of this thread that failed */
SYS_DEVICE const char *SysDeviceErrorText(void) SYS_STUB("");

#if defined(__cplusplus)
}
#endif
