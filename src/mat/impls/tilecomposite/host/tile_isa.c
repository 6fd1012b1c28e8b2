/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The tile-composite kernels, compiled once for each instruction set SYS_ISA (sys/sysisa.h). Complex scalars use the plain kernels.
*/
#include "sys/sysisa.h"

#if defined(SYS_COMPLEX) && !SYS_ISA_NAME(SYS_ISA_IS_)
typedef int SYS_ISA_NAME(TileKernelsAbsent);
#else
  #include "mat/impls/tilecomposite/host/tilekernels.h"
#endif
