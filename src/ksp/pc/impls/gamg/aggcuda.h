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

/* The aggregates of AggAggregate(); *nagg becomes their number. Waits for the device. */
SYS_DEVICE SysStatus AggDeviceAggregate(AggDevice *g, int64_t first, const AggOptions *options, SysStream stream, SysInt *nagg, int *rounds) SYS_STUB(SYS_SUCCESS);
SYS_DEVICE void      AggDeviceForgetGraph(AggDevice *g) SYS_STUB(); /* frees its memory, if no other aggregates will be made */

/* Brings to the host: vertex v is in aggregate number[v], or in none if that is -1; join[] is as from AggAggregate() */
SYS_DEVICE SysStatus AggDeviceGetAggregates(const AggDevice *g, SysStream stream, SysInt number[], SysInt join[]) SYS_STUB(SYS_SUCCESS);

/* The tentative prolongator, as from AggFactor(), in g; data[], of the host, has nvec vectors one after the other; NULL stands for ones. r[], of the host, is that of AggFactor(). */
SYS_DEVICE SysStatus AggDeviceFactor(AggDevice *g, int bs, int nvec, const SysReal data[], SysStream stream, SysReal r[]) SYS_STUB(SYS_SUCCESS);

/* The prolongator (I + alpha D^-1 A) P of the tentative prolongator P, D being the diagonal of A; where D is 0, D^-1 is 0. P itself if A is NULL. A is on the
   device, and so are the arrays of the result, which belong to g. Each row has the columns of its own aggregate, and
   those of the aggregates of its columns in A. SYS_TOO_LARGE: the result has too many entries. */
SYS_DEVICE SysStatus AggDeviceProlong(AggDevice *g, int bs, int nvec, const SysCSR *A, double alpha, SysStream stream, SysCSR *P) SYS_STUB(SYS_SUCCESS);

/* Random numbers between -1.1 and 1.1, which depend on first + k alone: those of PETSc's KSPSetNoisy_Private() */
SYS_DEVICE SysStatus AggDeviceNoise(int64_t n, int64_t first, SysScalar x[], SysStream stream) SYS_STUB(SYS_SUCCESS);

/* *found becomes 0 if no entry of the diagonal is zero or missing */
SYS_DEVICE SysStatus AggDeviceZeros(const SysCSR *A, SysStream stream, int *found) SYS_STUB(SYS_SUCCESS);
SYS_DEVICE void      AggDeviceDestroy(AggDevice **g) SYS_STUB();

#if defined(__cplusplus)
}
#endif
