/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The AMB kernels for processors with AVX2
*/
#define AMB_NAME(name)   name##AVX2
#define AMB_KERNELS_NAME "avx2"
#define MAYBE_INLINE     inline __attribute__((always_inline))

#include "ambtypes.h"

#if defined(AMB_COMPLEX)
typedef int AmbKernelsAVX2Absent; /* complex scalars have the plain kernels */
#else
  #include "ambx86.h"

static int SupportedAVX2(void)
{
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

  #include "ambkernels.h"
#endif
