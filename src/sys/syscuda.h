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

/* "cudaMalloc: out of memory", of the last call of this thread that failed */
#if defined(SYS_HAVE_DEVICE) || defined(SYS_TYPES_GIVEN)
const char *SysDeviceErrorText(void);
#else
static inline const char *SysDeviceErrorText(void)
{
  return "";
}
#endif

#if defined(__cplusplus)
}
#endif
