/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The sum of a vector on a CUDA device, and a step that gives a vector another sum. Sums are added in a fixed order. Real numbers only.
*/
#pragma once

#include "sys/syscuda.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* Room for partial sums on the device, and for results on the host */
typedef struct _GraphSums GraphSums;

SysStatus GraphSumsCreate(GraphSums **);
void      GraphSumsDestroy(GraphSums *);

/* Leaves partial sums of n numbers for GraphSumsStep(); also waits for the sum if it is not NULL */
SysStatus GraphSumsSum(GraphSums *, int64_t n, const SysScalar *x, SysScalar *sum, SysStream);

/* z[k] = f z[k] + t where[k], with 1 for where[k] if where is NULL. If total is given it is the sum of z, else the sum that GraphSumsSum() has left is. With scale,
   f = wanted / total and t = 0, or f = 1 if the total is 0; else f = 1 and t = (wanted - total) / weight. Waits for the sum of the magnitudes of x[k] - z[k], or 0 if
   x is NULL, and for the total. */
SysStatus GraphSumsStep(GraphSums *, int64_t n, int scale, const SysScalar *given, SysScalar wanted, SysReal weight, const SysScalar *where, const SysScalar *x, SysScalar *z, SysReal *change, SysScalar *total, SysStream);

#if defined(__cplusplus)
}
#endif
