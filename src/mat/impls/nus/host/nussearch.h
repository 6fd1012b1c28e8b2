/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The search by trials for the widths and numbers of NUS-SELL's segments, on host and device; for comparison
*/
#pragma once

#include "sys/syscsr.h"
#include "mat/impls/nus/host/nusparams.h"

SYS_C_BEGIN

/* Sets the seconds of a product with these parameters */
typedef SysStatus NusTrial(void *ctx, const NusParams *, double *seconds);

/* Searches the widths, from narrowest to widest, and the numbers that asked does not fix. Starts from *best, whose trial took `least` seconds. n:
   columns of the matrix. */
SysStatus NusSearchSegments(int64_t n, int64_t narrowest, int64_t widest, const NusParams *asked, double least, NusTrial *, void *ctx, NusParams *best);

SYS_C_END
