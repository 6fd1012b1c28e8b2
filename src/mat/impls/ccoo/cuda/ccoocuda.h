/* SPDX-License-Identifier: BSD-2-Clause */
/*
   CCOO on a CUDA device: operations on raw device arrays, without PETSc's objects. All work is queued on the stream that the caller gives. Real numbers and 32-bit
   indices only.

   The layout is that of ccooparams.h. A thread block multiplies a chunk, a thread a group; a segmented scan in each warp adds the sums of the groups of a row. By
   default the sums of warps and chunks are added in a fixed order, and a lane writes each row once. With atomics, as in the paper, every warp adds to the result.
*/
#pragma once

#include "sys/syscuda.h"
#include "mat/impls/ccoo/host/ccooparams.h"

#if defined(__cplusplus)
extern "C" {
#endif

#define CCOO_DEVICE_MAX_K 40 /* entries of a group on a device: up to 10, or a multiple of a number from 5 to 10 */

typedef struct {
  CcooParams params; /* with the choices made */
  int        atomics;
  int        ntable; /* values in the table */
  int64_t    count[CCOO_FORMATS];
  double     stored_values, bytes_stored, bytes_extra; /* extra: for new values and the transposed product */
  double     cost;                                     /* the bytes that a product in CSR reads in the time that a product takes, by the model */
} CcooDeviceInfo;

typedef struct _CcooDevice CcooDevice;

/* Returns SYS_TOO_LARGE if the matrix is too large for 32-bit positions */
SysStatus CcooDeviceCreate(const SysCSR *, const CcooParams *, int atomics, SysStream, CcooDevice **, CcooDeviceInfo *);
SysStatus CcooDeviceUpdate(void *, const SysCSR *, SysStream); /* new values in the same pattern */

/* z = alpha A x + beta y, and the same with the transposed matrix, which is stored in AMB's layout from the first such product on. The CSR is the one that the
   last update was made from. y may be z, and is not read if beta is 0. */
SysStatus CcooDeviceMult(void *, const SysCSR *, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, SysStream);
SysStatus CcooDeviceMultTranspose(void *, const SysCSR *, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, SysStream);

void CcooDeviceGetInfo(const CcooDevice *, CcooDeviceInfo *);
void CcooDeviceDestroy(void *);

#if defined(__cplusplus)
}
#endif
