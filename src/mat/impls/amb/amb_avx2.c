/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The AMB kernels for processors with AVX2
*/
#define AMB_NAME(name)   name##AVX2
#define AMB_KERNELS_NAME "avx2"

#include "sys/systypes.h"

#if defined(SYS_COMPLEX)
typedef int AmbKernelsAVX2Absent; /* complex scalars have the plain kernels */
#else
  #include "mat/impls/amb/ambx86.h"

static int AmbSupportedAVX2(void)
{
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

  #include "mat/impls/amb/ambkernels.h"
#endif
