/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The CCOO kernels in plain C, for any scalar type and processor
*/
#define CCOO_NAME(name)   name##Plain
#define CCOO_KERNELS_NAME "plain"

static int CcooSupportedPlain(void)
{
  return 1;
}

#include "mat/impls/ccoo/ccookernels.h"
