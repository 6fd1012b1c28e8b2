/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Tile-composite on a CUDA device: operations on raw device arrays, without PETSc's objects. All work is queued on the stream that the caller gives. Real numbers and
   32-bit indices only.

   The layout is that of tilelayout.h. The host makes it from a copy of the pattern. A product is one launch of as many thread blocks as fit the device: they copy the
   entries of x in tiles, meet, multiply the rectangles, a warp each, meet again, and add the sums of rows that lie in several places. No atomics add numbers, so
   that two products have the same bits.
*/
#pragma once

#include "sys/syscuda.h"
#include "mat/impls/tilecomposite/host/tilelayout.h"

#if defined(__cplusplus)
extern "C" {
#endif

typedef struct _TileDevice TileDevice;

/* The table of the model is used if it is of this device and scalar. A matrix whose product reads more bytes than most, or that is regular, is declined with
   SYS_TOO_MANY_BYTES, unless most is 0. */
SysStatus TileDeviceCreate(const SysCSR *, const TileParams *, const TileModel *, double most, int *regular, SysStream, TileDevice **);
SysStatus TileDeviceUpdate(void *, const SysCSR *, SysStream); /* new values in the same pattern */

/* z = alpha A x + beta y, and the same with the transposed matrix, which is stored in AMB's layout from the first such product on. The CSR is the one that the
   last update was made from. y may be z, and is not read if beta is 0. */
SysStatus TileDeviceMult(void *, const SysCSR *, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, SysStream);
SysStatus TileDeviceMultTranspose(void *, const SysCSR *, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, SysStream);

const TileLayout *TileDeviceLayout(const TileDevice *); /* the figures; its arrays are NULL */
double            TileDeviceExtra(const TileDevice *);  /* bytes of the transposed matrix */
int               TileDeviceTable(const TileDevice *);  /* 0: no table was given, 1: it was used, 2: it is of another device */
void              TileDeviceDestroy(void *);

/* Measures the table of the performance model on the current device */
SysStatus TileDeviceMeasure(TileModel *);

#if defined(__cplusplus)
}
#endif
