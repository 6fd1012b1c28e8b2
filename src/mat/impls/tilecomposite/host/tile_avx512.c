/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The tile-composite kernel for processors with AVX-512
*/
#define SYS_ISA AVX512

#include "sys/systypes.h"

#if defined(SYS_COMPLEX)
typedef int TileKernelsAVX512Absent; /* complex scalars use the plain kernel */
#else
  #include "mat/impls/tilecomposite/host/tilekernels.h"
#endif
