/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The NUS-SELL kernels in plain C, for any scalar type and processor
*/
#define SYS_ISA Plain

#include "mat/impls/nus/host/nuskernels.h"
