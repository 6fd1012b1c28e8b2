/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The AMB kernels for processors with AVX2
*/
#define SYS_ISA AVX2

#include "sys/systypes.h"

#if defined(SYS_COMPLEX)
typedef int AmbKernelsAVX2Absent; /* complex scalars use the plain kernels */
#else
  #include "mat/impls/amb/host/ambx86.h"
  #include "mat/impls/amb/host/ambkernels.h"
#endif
