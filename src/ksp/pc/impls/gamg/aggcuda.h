/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The kernels of aggkernels.h on a CUDA device, for a matrix on one process. The aggregates are the same as those of the host, vertex by vertex.
*/
#pragma once

#include "sys/syscuda.h"
#include "ksp/pc/impls/gamg/aggkernels.h"

#if defined(__cplusplus)
extern "C" {
#endif

#define AGG_DEVICE_BLOCK 16 /* the largest block size */

typedef struct _AggDevice AggDevice;

/* The graph of A, whose arrays d are on the device; there is no o. *served becomes 0, and *g NULL, if the graph has to be made on the host: edges without the
   transposed edge are to be added, or blocks are too large. */
SYS_DEVICE SysStatus AggDeviceCreate(const AggMatrix *A, int symmetrize, double threshold, SysStream stream, AggDevice **g, int *served) SYS_STUB(SYS_SUCCESS);

/* As AggAggregate(), with the numbers of the aggregates in place of join[]: vertex v is in aggregate number[v] of *nagg, or in none. Both arrays are on the host;
   join[] may be NULL. Waits for the device. */
SYS_DEVICE SysStatus AggDeviceAggregate(AggDevice *g, int64_t first, const AggOptions *options, SysStream stream, SysInt number[], SysInt join[], SysInt *nagg, int *rounds) SYS_STUB(SYS_SUCCESS);
SYS_DEVICE void      AggDeviceDestroy(AggDevice **g) SYS_STUB();

#if defined(__cplusplus)
}
#endif
