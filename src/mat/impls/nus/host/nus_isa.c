/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The NUS-SELL kernels, compiled once for each instruction set SYS_ISA (sys/sysisa.h). Complex scalars use the plain kernels.
*/
#include "sys/sysisa.h"

#if defined(SYS_COMPLEX) && !SYS_ISA_NAME(SYS_ISA_IS_)
typedef int SYS_ISA_NAME(NusKernelsAbsent);
#else
  #include "mat/impls/nus/host/nuskernels.h"
#endif
