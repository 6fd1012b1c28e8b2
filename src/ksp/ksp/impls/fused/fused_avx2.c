/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The fused passes for processors with AVX2
*/
#define SYS_ISA AVX2

#include "ksp/ksp/impls/fused/fusedkernels.h"
#include "ksp/ksp/impls/fused/fusedbasiskernels.h"
