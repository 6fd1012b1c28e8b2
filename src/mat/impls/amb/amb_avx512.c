/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The AMB kernels for processors with AVX-512
*/
#define SYS_ISA AVX512

#include "sys/systypes.h"

#if defined(SYS_COMPLEX)
typedef int AmbKernelsAVX512Absent; /* complex scalars have the plain kernels */
#else
  #include "mat/impls/amb/ambx86.h"
  #include "mat/impls/amb/ambkernels.h"
#endif
