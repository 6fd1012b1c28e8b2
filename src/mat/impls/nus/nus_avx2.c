/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The NUS-SELL kernels for processors with AVX2
*/
#define NUS_NAME(name)   name##AVX2
#define NUS_KERNELS_NAME "avx2"

#include "sys/systypes.h"

#if defined(SYS_COMPLEX)
typedef int NusKernelsAVX2Absent; /* complex scalars have the plain kernels */
#else
static int NusSupportedAVX2(void)
{
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

  #include "mat/impls/nus/nuskernels.h"
#endif
