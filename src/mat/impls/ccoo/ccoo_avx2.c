/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The CCOO kernels for processors with AVX2
*/
#define CCOO_NAME(name)   name##AVX2
#define CCOO_KERNELS_NAME "avx2"

#include "sys/systypes.h"

#if defined(SYS_COMPLEX)
typedef int CcooKernelsAVX2Absent; /* complex scalars have the plain kernels */
#else
static int CcooSupportedAVX2(void)
{
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

  #include "mat/impls/ccoo/ccookernels.h"
#endif
