/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The NUS-SELL kernels in plain C, for any scalar type and processor
*/
#define NUS_NAME(name)   name##Plain
#define NUS_KERNELS_NAME "plain"

static int NusSupportedPlain(void)
{
  return 1;
}

#include "mat/impls/nus/nuskernels.h"
