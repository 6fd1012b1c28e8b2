/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The kernels of products of sparse and dense matrices, for processors with AVX-512
*/
#define SYS_ISA AVX512

#include "mat/impls/spmm/host/spmmkernels.h"
