/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The kernels of products of sparse and dense matrices, for processors with AVX2
*/
#define SYS_ISA AVX2

#include "mat/impls/spmm/host/spmmkernels.h"
