/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The fused passes in plain C, for any processor
*/
#define FUSED_NAME(name)   name##Plain
#define FUSED_KERNELS_NAME "plain"

static int FusedSupportedPlain(void)
{
  return 1;
}

#include "ksp/ksp/impls/fused/fusedkernels.h"
