/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The fused passes in plain C, for any processor
*/
#define SYS_ISA Plain

#include "ksp/ksp/impls/fused/fusedkernels.h"
#include "ksp/ksp/impls/fused/fusedbasiskernels.h"
