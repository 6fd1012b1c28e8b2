/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The SpMM and SDDMM kernels for processors with AVX2
*/
#define SYS_ISA AVX2

#include "mat/impls/spmm/host/spmmkernels.h"
