/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The fused passes for processors with AVX-512
*/
#define FUSED_NAME(name)   name##AVX512
#define FUSED_KERNELS_NAME "avx512"

static int FusedSupportedAVX512(void)
{
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
}

#include "ksp/ksp/impls/fused/fusedkernels.h"
