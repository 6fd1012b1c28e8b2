/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Tile-composite on a CUDA device, on raw device arrays; host/tilelayout.h has the layout, which the host builds from a copy of the pattern. All work
   is queued on the caller's stream. Real scalars and 32-bit indices only.

   A product is one cooperative launch: the blocks copy the tiles' entries of x, meet at a barrier, multiply the rectangles, one a warp, meet again,
   and add the slots. There are no floating-point atomics, so products are deterministic.
*/
#pragma once

#include "sys/syscuda.h"
#include "mat/impls/tilecomposite/host/tilelayout.h"

SYS_C_BEGIN

typedef struct _TileDevice TileDevice;

/* Uses the table if it is of this device and scalar type. Returns SYS_TOO_MANY_BYTES for a regular matrix, and for one whose product reads more than
   `most` bytes, unless most is 0. */
SysStatus TileDeviceCreate(const SysCSR *, const TileParams *, const TileModel *, double most, int *regular, SysStream, TileDevice **);
SysStatus TileDeviceUpdate(void *, const SysCSR *, SysStream); /* new values in the same pattern */

/* TileDeviceMult() computes z = alpha A x + beta y, TileDeviceMultTranspose() the same with A^T, which the first such product stores in AMB's layout.
   The caller passes the CSR of the last update. y may be z; beta == 0: y is not read. */
SysStatus TileDeviceMult(void *, const SysCSR *, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, SysStream);
SysStatus TileDeviceMultTranspose(void *, const SysCSR *, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, SysStream);

const TileLayout *TileDeviceLayout(const TileDevice *); /* figures only: its arrays are NULL */
double            TileDeviceExtra(const TileDevice *);  /* bytes of the transposed matrix */
int               TileDeviceTable(const TileDevice *);  /* 0: no table given; 1: used; 2: of another device */
void              TileDeviceDestroy(void *);

/* Measures the table of the performance model on the current device */
SysStatus TileDeviceMeasure(TileModel *);

SYS_C_END
