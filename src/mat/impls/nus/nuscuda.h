/* SPDX-License-Identifier: BSD-2-Clause */
/*
   NUS-SELL-C-sigma on a CUDA device: operations on raw device arrays. Nothing here or below knows PETSc's objects, and everything is queued on the
   stream it is given. Real numbers and 32-bit indices only.

   Columns are cut into segments as on the host (nushost.h). A segment is a matrix of its own, of all rows, in AMB's layout with blocks of one
   column, that is SELL-32-sigma with 16-bit indices where they do; the segments are multiplied one after the other, each adding to what those before
   have left: no row is added to by two of them at a time. Within a segment columns keep their order.
*/
#pragma once

#include "mat/impls/amb/ambcuda.h"
#include "mat/impls/nus/nusparams.h"

#if defined(__cplusplus)
extern "C" {
#endif

#define NUS_DEVICE_C     32    /* rows of a chunk, whatever is asked for */
#define NUS_DEVICE_SIGMA 32768 /* rows among which lengths are sorted */

/* What chooses the numbers of segments that are left open, and the kernels */
typedef enum {
  NUS_DEVICE_MODEL,     /* a rule about the caches: the same in every run */
  NUS_DEVICE_MEASURE,   /* where that rule sees a gain it is timed, and so are the kernels of each segment */
  NUS_DEVICE_EXHAUSTIVE /* all kinds of segments are timed */
} NusDeviceTune;

typedef struct {
  NusParams     params; /* with what was chosen; equal widths may have been chosen where others were asked for */
  int64_t       segments, gathered;
  AmbDeviceInfo layout; /* sums over the segments, with what moves to gather x; the kernel is that of the one with most values */
} NusDeviceInfo;

typedef struct _NusDevice NusDevice;

/* The statuses are those of AMB; too large are also more than 255 segments */
SysStatus NusDeviceCreate(const SysCSR *, const NusParams *, NusDeviceTune, SysStream, NusDevice **, NusDeviceInfo *);
SysStatus NusDeviceUpdate(void *, const SysCSR *, SysStream); /* new values in the same pattern */

/* z = alpha A x + beta y, and with the transposed matrix, of which AMB's layout is stored from the first such product on. The CSR is the one that the
   last update was made from. y may be z, and is not read if beta is 0. */
SysStatus NusDeviceMult(void *, const SysCSR *, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, SysStream);
SysStatus NusDeviceMultTranspose(void *, const SysCSR *, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, SysStream);

/* Is x of n entries so large that segments may pay? Elsewhere this is the layout of AMB with blocks of one column. */
int NusDeviceMayCut(int64_t n);

void NusDeviceGetInfo(const NusDevice *, NusDeviceInfo *);
void NusDeviceDestroy(NusDevice **);

#if defined(__cplusplus)
}
#endif
