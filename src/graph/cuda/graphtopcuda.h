/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The places of the greatest of many numbers on a CUDA device. Real numbers only.
*/
#pragma once

#include "sys/syscuda.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* The k greatest of n numbers, 0 < k <= n, to arrays on the host, in the order of their places. Of equal numbers those of lower places are taken, and NaN last. Takes 12 bytes for each of
   the k numbers on the device while it runs, and a few more. */
SysStatus GraphTopPlaces(int n, const SysScalar *x, int k, int *place, SysScalar *value, SysStream);

#if defined(__cplusplus)
}
#endif
