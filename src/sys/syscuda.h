/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The interface of C code to the kernels on a CUDA device: the stream in which they are queued, and the text of their errors
*/
#pragma once

#include "sys/syscsr.h"

#if defined(__cplusplus)
extern "C" {
#endif

typedef struct CUstream_st *SysStream; /* a cudaStream_t */

/* Declares a function of the device side. In a build without a device the function is a stub that returns value, or nothing. */
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

/* The text of the last call of this thread that failed, such as "cudaMalloc: out of memory" */
SYS_DEVICE const char *SysDeviceErrorText(void) SYS_STUB("");

#if defined(__cplusplus)
}
#endif
