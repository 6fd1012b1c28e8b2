/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Loading of kernels ahead of their first calls
*/
#pragma once

#include "sys/syscuda.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* Loads the code of all kernels in files with a SysKernels. CUDA would do so at the first call of each, which waits for it; another thread may load them ahead. */
SYS_DEVICE void SysLoadKernels(void) SYS_STUB();

#if defined(__cplusplus)
}

/* One of the kernels of a file, by which SysLoadKernels() finds them all: a static object of the file */
struct SysKernels {
  const void *kernel;
  SysKernels *next;

  template <typename... P>
  explicit SysKernels(void (*k)(P...)) : SysKernels((const void *)k)
  {
  }
  explicit SysKernels(const void *);
};
#endif
