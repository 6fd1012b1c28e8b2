/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The CCOO kernels in plain C, for any scalar type and processor
*/
#define SYS_ISA Plain

#include "mat/impls/ccoo/host/ccookernels.h"
