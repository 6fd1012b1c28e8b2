/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The SpMM and SDDMM kernels for processors with AVX-512
*/
#define SYS_ISA AVX512

#include "mat/impls/spmm/host/spmmkernels.h"
