/* SPDX-License-Identifier: BSD-2-Clause */
/*
   NUS-SELL-C-sigma on a CUDA device, on raw device arrays. All work is queued on the caller's stream. Real scalars and 32-bit indices only.

   Columns are cut into segments as on the host (host/nushost.h has the idea). A segment is a matrix of all rows in AMB's layout with blocks of one
   column, that is SELL-32-sigma with 16-bit indices where they suffice. One launch a segment, in order, adds to the result of those before: no two
   segments add to a row at the same time. Columns keep their order within a segment.

   Work space. NusDeviceSplit() sorts the entries by segment: O(nz). A product gathers x into one array of the gathered columns.
*/
#pragma once

#include "mat/impls/amb/cuda/ambcuda.h"
#include "mat/impls/nus/host/nusparams.h"

SYS_C_BEGIN

#define NUS_DEVICE_C     32    /* rows of a chunk, fixed */
#define NUS_DEVICE_SIGMA 32768 /* rows of a scope */

/* How the open numbers of segments and the kernels are chosen */
typedef enum {
  NUS_DEVICE_MODEL,      /* a rule about the caches; deterministic */
  NUS_DEVICE_MEASURE,    /* timing, where that rule predicts a gain, and timing of each segment's kernels */
  NUS_DEVICE_EXHAUSTIVE, /* timing of all segmentations; for comparison */
  NUS_DEVICE_LIVE        /* the rule; kernels are chosen during the caller's products */
} NusDeviceTune;

typedef struct {
  NusParams     params; /* with the choices; equal widths may replace the unequal ones requested */
  int64_t       segments, gathered;
  AmbDeviceInfo layout; /* sums over the segments, including the bytes of the gather; kernel of the segment with the most values */
} NusDeviceInfo;

typedef struct _NusDevice NusDevice;

/* Returns AMB's statuses, and SYS_TOO_LARGE for more than NUS_DEVICE_MAX_SEGMENTS segments */
SysStatus NusDeviceCreate(const SysCSR *, const NusParams *, NusDeviceTune, SysStream, NusDevice **, NusDeviceInfo *);
SysStatus NusDeviceUpdate(void *, const SysCSR *, SysStream); /* new values in the same pattern */

/* NusDeviceMult() computes z = alpha A x + beta y, NusDeviceMultTranspose() the same with A^T, which the first such product stores in AMB's layout.
   The caller passes the CSR of the last update. y may be z; beta == 0: y is not read. */
SysStatus NusDeviceMult(void *, const SysCSR *, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, SysStream);
SysStatus NusDeviceMultDot(void *, const SysCSR *, const SysScalar *x, SysScalar *z, SysScalar *parts, int64_t *nparts, SysStream);
SysStatus NusDeviceMultTranspose(void *, const SysCSR *, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, SysStream);

/* Returns whether products compute some rows from CSR in any case */
int NusDeviceReadsCSR(const void *);

/* Returns whether segments can pay for an x of n entries; otherwise the layout is AMB's with blocks of one column */
int NusDeviceMayCut(int64_t n);

/* Sets *cuts if the rule about the caches cuts this matrix; 0 if memory is short */
SysStatus NusDeviceCuts(const SysCSR *, SysStream, int *cuts);

void NusDeviceGetInfo(const NusDevice *, NusDeviceInfo *);
void NusDeviceDestroy(void *);

SYS_C_END
