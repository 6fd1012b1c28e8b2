/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The kernels of products of sparse and dense matrices, in plain C, for any processor
*/
#define SYS_ISA Plain

#include "mat/impls/spmm/host/spmmkernels.h"
