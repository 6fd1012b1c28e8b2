/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The fused passes for processors with AVX2
*/
#define FUSED_NAME(name)   name##AVX2
#define FUSED_KERNELS_NAME "avx2"

static int FusedSupportedAVX2(void)
{
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

#include "ksp/ksp/impls/fused/fusedkernels.h"
