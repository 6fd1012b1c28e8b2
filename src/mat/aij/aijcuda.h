/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Kernels on raw arrays for deferred matrices, whose entries are on the device only
*/
#pragma once

#include "sys/syscuda.h"

SYS_C_BEGIN

/* d[r] = A[r][r], or 0 if the row has no such entry; A and d are on the device */
extern SysStatus AijDiagonal(const SysCSR *A, SysScalar d[], SysStream stream);

SYS_C_END
