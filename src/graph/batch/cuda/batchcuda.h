/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Products of a batch of small sparse matrices with dense matrices on a CUDA device, on raw arrays of real numbers.

   The batch is one sparse matrix with blocks on its diagonal, as on the host (see batchhost.h); a dense matrix is stored by rows, each width numbers long. Every
   product is one launch.
*/
#pragma once

#include "sys/syscuda.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* The copy of a batch on the device */
typedef struct _BatchDevice BatchDevice;

/* The arrays of A lie on the host, and the values are set later. first[] has the first row of each of nmat matrices, and the number of rows behind them; without
   first[] products by atomic operations are not possible. */
SysStatus BatchDeviceCreate(const SysCSR *A, int64_t nmat, const SysInt first[], BatchDevice **, SysStream);
void      BatchDeviceDestroy(BatchDevice **);

/* The value of entry k is a[place[k]], or a[k] if place is NULL; the arrays lie on the host */
SysStatus BatchDeviceSetValues(BatchDevice *, const SysReal a[], const SysInt place[], SysStream);

/* C = A D, or C = C + A D, where D and C lie on the device. The sums of a row have the order of its entries: the same input gives the same bits. */
SysStatus BatchDeviceMult(const BatchDevice *, int add, int64_t width, const SysReal *D, SysReal *C, SysStream);

/* C = A D, summed by atomic operations in any order; a second launch sets C to 0 if a matrix has too many rows for shared memory */
SysStatus BatchDeviceMultAtomic(const BatchDevice *, int64_t width, const SysReal *D, SysReal *C, SysStream);

/* Negative ones of n numbers become 0; and numbers become 0 where h is not positive. The arrays lie on the device. */
SysStatus BatchDeviceRectify(int64_t n, SysReal h[], SysStream);
SysStatus BatchDeviceRectifyBackward(int64_t n, const SysReal h[], SysReal d[], SysStream);

#if defined(__cplusplus)
}
#endif
