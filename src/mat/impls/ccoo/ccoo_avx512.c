/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The CCOO kernels for processors with AVX-512
*/
#define CCOO_NAME(name)   name##AVX512
#define CCOO_KERNELS_NAME "avx512"

#include "sys/systypes.h"

#if defined(SYS_COMPLEX)
typedef int CcooKernelsAVX512Absent; /* complex scalars have the plain kernels */
#else
static int CcooSupportedAVX512(void)
{
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
}

  #include "mat/impls/ccoo/ccookernels.h"
#endif
