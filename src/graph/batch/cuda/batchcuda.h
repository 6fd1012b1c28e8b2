/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Products of a batch of small sparse matrices with dense matrices on a CUDA device, on raw arrays of real numbers; host/batchhost.h has the layout.
   Each product is one launch.
*/
#pragma once

#include "sys/syscuda.h"

SYS_C_BEGIN

/* A batch's copy on the device */
typedef struct _BatchDevice BatchDevice;

/* The arrays of A are on the host; set the values with BatchDeviceSetValues(). first[]: the first row of each of nmat matrices, and the number of
   rows; NULL: no BatchDeviceMultAtomic(). */
SysStatus BatchDeviceCreate(const SysCSR *A, int64_t nmat, const SysInt first[], BatchDevice **, SysStream);
void      BatchDeviceDestroy(BatchDevice **);

/* Sets entry k to a[position[k]], or a[k] if position is NULL; host arrays */
SysStatus BatchDeviceSetValues(BatchDevice *, const SysReal a[], const SysInt position[], SysStream);

/* Computes C = A D, or C = C + A D; D and C are on the device. A row's sum has the order of its entries: deterministic. */
SysStatus BatchDeviceMult(const BatchDevice *, int add, int64_t width, const SysReal *D, SysReal *C, SysStream);

/* Computes C = A D with atomic additions, in no fixed order; a second launch zeroes C if a matrix has too many rows for shared memory */
SysStatus BatchDeviceMultAtomic(const BatchDevice *, int64_t width, const SysReal *D, SysReal *C, SysStream);

/* BatchDeviceRectify() sets the negative ones of n numbers to 0, BatchDeviceRectifyBackward() sets numbers to 0 where h is not positive; device
   arrays */
SysStatus BatchDeviceRectify(int64_t n, SysReal h[], SysStream);
SysStatus BatchDeviceRectifyBackward(int64_t n, const SysReal h[], SysReal d[], SysStream);

SYS_C_END
