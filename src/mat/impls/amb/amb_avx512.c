/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The AMB kernels for processors with AVX-512
*/
#define AMB_NAME(name)   name##AVX512
#define AMB_KERNELS_NAME "avx512"

#include "sys/systypes.h"

#if defined(SYS_COMPLEX)
typedef int AmbKernelsAVX512Absent; /* complex scalars have the plain kernels */
#else
  #include "mat/impls/amb/ambx86.h"

static int AmbSupportedAVX512(void)
{
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
}

  #include "mat/impls/amb/ambkernels.h"
#endif
