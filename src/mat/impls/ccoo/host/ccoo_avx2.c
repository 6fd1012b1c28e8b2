/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The CCOO kernels for processors with AVX2
*/
#define SYS_ISA AVX2

#include "sys/systypes.h"

#if defined(SYS_COMPLEX)
typedef int CcooKernelsAVX2Absent; /* complex scalars use the plain kernels */
#else
  #include "mat/impls/ccoo/host/ccookernels.h"
#endif
