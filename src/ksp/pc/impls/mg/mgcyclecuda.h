/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include "sys/syscuda.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* z = A x, of a dense matrix of n rows, one after the other */
SysStatus MGCycleDenseMult(int n, const SysReal *A, const SysReal *x, SysReal *z, SysStream);

#if defined(__cplusplus)
}
#endif
