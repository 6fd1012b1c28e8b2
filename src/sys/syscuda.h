/* SPDX-License-Identifier: BSD-2-Clause */
/*
   C interface to the CUDA kernels: the stream they are queued on, and their error text
*/
#pragma once

#include "sys/syscsr.h"

#if defined(__cplusplus)
extern "C" {
#endif

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

/* Returns the text of this thread's last failed call, such as "cudaMalloc: out of memory" */
SYS_DEVICE const char *SysDeviceErrorText(void) SYS_STUB("");

#if defined(__cplusplus)
}
#endif
