/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The sum of a vector on a CUDA device, and a step that changes a vector's sum. Sums have a fixed order. Real numbers only.
*/
#pragma once

#include "sys/syscuda.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* Memory for partial sums on the device, and for results on the host */
typedef struct _GraphSums GraphSums;

SysStatus GraphSumsCreate(GraphSums **);
void      GraphSumsDestroy(GraphSums *);

/* Computes partial sums of n numbers for GraphSumsStep(); waits for the sum only if it is not NULL */
SysStatus GraphSumsSum(GraphSums *, int64_t n, const SysScalar *x, SysScalar *sum, SysStream);

/* Sets z[k] = f z[k] + t where[k], with where[k] = 1 if where is NULL. total is *given, or the sum of GraphSumsSum() if given is NULL. scale: f =
   wanted / total (1 if total is 0), t = 0; otherwise f = 1, t = (wanted - total) / weight. Waits for *change, the sum of |x[k] - z[k]| (0 if x is
   NULL), and for the total. */
SysStatus GraphSumsStep(GraphSums *, int64_t n, int scale, const SysScalar *given, SysScalar wanted, SysReal weight, const SysScalar *where, const SysScalar *x, SysScalar *z, SysReal *change, SysScalar *total, SysStream);

#if defined(__cplusplus)
}
#endif
