/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The choice of the kernels of BAIJ. Without AVX2 there are none: the table of plain kernels is empty.
*/
#include "sys/sysisa.h"
#include "mat/baij/host/baijhost.h"

static int BAIJSupportedPlain(void)
{
  return 1;
}

const BAIJKernels BAIJKernelsPlain = {.name = "plain", .supported = BAIJSupportedPlain};

const BAIJKernels *BAIJKernelsGet(void)
{
  const BAIJKernels *kernels = SYS_KERNELS_REAL(BAIJKernels);

  return kernels->mult ? kernels : NULL;
}
