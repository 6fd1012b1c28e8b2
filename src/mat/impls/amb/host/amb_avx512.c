/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The AMB kernels for processors with AVX-512, and their variant with gather instructions for blocks of one column and plain storage
*/
#define SYS_ISA AVX512

#include "sys/systypes.h"

#if defined(SYS_COMPLEX)
typedef int AmbKernelsAVX512Absent; /* complex scalars use the plain kernels */
#else
  #include "mat/impls/amb/host/ambx86.h"
  #include "mat/impls/amb/host/ambkernels.h"

TILE_PLAIN(Gather, 1, 1)

static void SplitGather(SysStore how, TILE_ARGUMENTS)
{
  AmbTileSplit(1, 1, SYS_STORAGE_PLAIN, how, A, T, alpha, x, beta, y, z);
}

static void MultGather(const AmbHost *A, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z)
{
  if (A->block_size == 1 && A->values.stored == SYS_STORAGE_PLAIN) MultTilesAVX512(SplitGather, Tile_Gather_SYS_STORAGE_PLAINAVX512, A, alpha, x, beta, y, z);
  else MultAVX512(A, alpha, x, beta, y, z);
}

const AmbKernels AmbKernelsGatherAVX512 = {SYS_KERNELS_NAME, SysFastGather, CountAVX512, MultGather, MultTransposeAVX512};
#endif
