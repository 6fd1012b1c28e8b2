/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The fused passes for processors with AVX-512
*/
#define SYS_ISA AVX512

#include "ksp/ksp/impls/fused/fusedkernels.h"
#include "ksp/ksp/impls/fused/fusedbasiskernels.h"
