/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The NUS-SELL kernels for processors with AVX-512
*/
#define SYS_ISA AVX512

#include "sys/systypes.h"

#if defined(SYS_COMPLEX)
typedef int NusKernelsAVX512Absent; /* complex scalars use the plain kernels */
#else
  #include "mat/impls/nus/host/nuskernels.h"
#endif
