/* SPDX-License-Identifier: BSD-2-Clause */
/*
   NUS-SELL-C-sigma on a CUDA device: operations on raw device arrays, without PETSc's objects. All work is queued on the stream that the caller
   gives. Real numbers and 32-bit indices only.

   Columns are cut into segments as on the host (nushost.h). A segment is a matrix of its own, of all rows, in AMB's layout with blocks of one
   column, that is SELL-32-sigma with 16-bit indices if these suffice. The segments are multiplied one after the other, each adding to the result of those
   before: no two of them add to a row at the same time. Within a segment columns keep their order.
*/
#pragma once

#include "mat/impls/amb/cuda/ambcuda.h"
#include "mat/impls/nus/host/nusparams.h"

#if defined(__cplusplus)
extern "C" {
#endif

#define NUS_DEVICE_C     32    /* rows of a chunk; no other number is possible */
#define NUS_DEVICE_SIGMA 32768 /* rows among which lengths are sorted */

/* How the numbers of segments that are left open, and the kernels, are chosen */
typedef enum {
  NUS_DEVICE_MODEL,      /* by a rule about the caches: the same in every run */
  NUS_DEVICE_MEASURE,    /* segments are timed if that rule predicts a gain, and so are the kernels of each segment */
  NUS_DEVICE_EXHAUSTIVE, /* all kinds of segments are timed */
  NUS_DEVICE_LIVE        /* by the rule; the kernels are chosen while the caller makes products */
} NusDeviceTune;

typedef struct {
  NusParams     params; /* with the choices made; equal widths may replace the unequal ones asked for */
  int64_t       segments, gathered;
  AmbDeviceInfo layout; /* sums over the segments, and the bytes moved to gather x; the kernel is that of the segment with most values */
} NusDeviceInfo;

typedef struct _NusDevice NusDevice;

/* Returns the statuses of AMB, and SYS_TOO_LARGE for more than 255 segments too */
SysStatus NusDeviceCreate(const SysCSR *, const NusParams *, NusDeviceTune, SysStream, NusDevice **, NusDeviceInfo *);
SysStatus NusDeviceUpdate(void *, const SysCSR *, SysStream); /* new values in the same pattern */

/* z = alpha A x + beta y, and the same with the transposed matrix, which is stored in AMB's layout from the first such product on. The CSR is the one that the
   last update was made from. y may be z, and is not read if beta is 0. */
SysStatus NusDeviceMult(void *, const SysCSR *, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, SysStream);
SysStatus NusDeviceMultDot(void *, const SysCSR *, const SysScalar *x, SysScalar *z, SysScalar *parts, int64_t *nparts, SysStream);
SysStatus NusDeviceMultTranspose(void *, const SysCSR *, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, SysStream);

/* Do products compute some rows from CSR although no number is a NaN? */
int NusDeviceReadsCSR(const void *);

/* Is an x of n entries so large that segments may pay? If not, the layout is that of AMB with blocks of one column. */
int NusDeviceMayCut(int64_t n);

/* Does the rule about the caches cut this matrix? *cuts is 0 if memory does not suffice to look at it. */
SysStatus NusDeviceCuts(const SysCSR *, SysStream, int *cuts);

void NusDeviceGetInfo(const NusDevice *, NusDeviceInfo *);
void NusDeviceDestroy(void *);

#if defined(__cplusplus)
}
#endif
