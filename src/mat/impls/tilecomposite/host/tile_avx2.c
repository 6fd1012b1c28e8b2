/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The tile-composite kernel for processors with AVX2
*/
#define SYS_ISA AVX2

#include "sys/systypes.h"

#if defined(SYS_COMPLEX)
typedef int TileKernelsAVX2Absent; /* complex scalars use the plain kernel */
#else
  #include "mat/impls/tilecomposite/host/tilekernels.h"
#endif
