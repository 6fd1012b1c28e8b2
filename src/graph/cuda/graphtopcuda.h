/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The places of the largest of many numbers on a CUDA device. Real numbers only.
*/
#pragma once

#include "sys/syscuda.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* Gets the k largest of n numbers, 0 < k <= n, in host arrays, ordered by place. Of equal numbers it prefers lower places; NaN comes last. Needs 12
   bytes for each of the k numbers on the device. */
SysStatus GraphTopPlaces(int n, const SysScalar *x, int k, int *place, SysScalar *value, SysStream);

#if defined(__cplusplus)
}
#endif
