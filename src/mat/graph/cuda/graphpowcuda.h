/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Powers of numbers on a CUDA device. Real numbers only.
*/
#pragma once

#include "sys/syscuda.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* a[k] = |a[k]|^power, as GraphPower() does; exponents other than 0, 1 and 2 may give other last bits. Does not wait. */
SysStatus GraphPowerDevice(int64_t n, SysReal power, SysScalar *a, SysStream);

#if defined(__cplusplus)
}
#endif
