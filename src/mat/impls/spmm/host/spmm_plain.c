/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The SpMM and SDDMM kernels in plain C, for any processor
*/
#define SYS_ISA Plain

#include "mat/impls/spmm/host/spmmkernels.h"
