/* SPDX-License-Identifier: BSD-2-Clause */
/*
   CCOO on a CUDA device, on raw device arrays; host/ccooparams.h has the layout. All work is queued on the caller's stream. Real scalars and 32-bit
   indices only.

   A thread block multiplies a chunk, a thread a group; a segmented scan in each warp adds the sums of a row's groups. By default the sums of warps
   and chunks are added in a fixed order, and one lane writes each row once. With atomics, as in the paper, every warp adds to the result.
*/
#pragma once

#include "sys/syscuda.h"
#include "mat/impls/ccoo/host/ccooparams.h"

SYS_C_BEGIN

#define CCOO_DEVICE_MAX_K 40 /* most entries of a group on a device: up to 10, or multiples of 5 to 10 */

typedef struct {
  CcooParams params; /* with the choices */
  int        atomics;
  int        ntable; /* distinct values in the table */
  int64_t    count[CCOO_FORMATS];
  double     stored_values, bytes_stored, bytes_extra; /* extra: for updates and the transposed product */
  double     cost;                                     /* the model's time of a product, in bytes of a CSR product */
} CcooDeviceInfo;

typedef struct _CcooDevice CcooDevice;

/* Returns SYS_TOO_LARGE if positions exceed 32 bits */
SysStatus CcooDeviceCreate(const SysCSR *, const CcooParams *, int atomics, SysStream, CcooDevice **, CcooDeviceInfo *);
SysStatus CcooDeviceUpdate(void *, const SysCSR *, SysStream); /* new values in the same pattern */

/* CcooDeviceMult() computes z = alpha A x + beta y, CcooDeviceMultTranspose() the same with A^T, which the first such product stores in AMB's layout.
   The caller passes the CSR of the last update. y may be z; beta == 0: y is not read. */
SysStatus CcooDeviceMult(void *, const SysCSR *, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, SysStream);
SysStatus CcooDeviceMultTranspose(void *, const SysCSR *, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, SysStream);

void CcooDeviceGetInfo(const CcooDevice *, CcooDeviceInfo *);
void CcooDeviceDestroy(void *);

SYS_C_END
