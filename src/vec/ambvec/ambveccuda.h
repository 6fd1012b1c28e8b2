/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Sums over vectors on a CUDA device, which the host waits for; an update
*/
#pragma once

#include "sys/syscuda.h"

SYS_C_BEGIN

/* *sum is x.y, or x.x if y is x. The order of all additions depends on n alone. Returns once the host has the result. */
SysStatus VecCUDADot(int64_t n, const SysReal *x, const SysReal *y, double *sum, SysStream);

/* sum[k] is x.y[k], of any number of vectors, with the bits of VecCUDADot() */
SysStatus VecCUDADots(int64_t n, const SysReal *x, int nv, const SysReal *const y[], double sum[], SysStream);
void      VecCUDAEnd(void);

/* y = a y + x, with the roundings of a product and a sum */
SysStatus VecCUDAAYPX(int64_t n, SysReal a, const SysReal *x, SysReal *y, SysStream);

/* Has CUDA load the code of the kernels of norms, dot products and updates; any thread may call it */
void VecCUDALoad(void);

SYS_C_END
