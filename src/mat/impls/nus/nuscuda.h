/*
   NUS-SELL-C-sigma on a CUDA device: operations on raw device arrays. Nothing here or below knows PETSc's objects, and everything is queued on the
   stream it is given. Real numbers and 32-bit indices only.

   Columns are cut into segments as on the host (nushost.h). A segment is a matrix of its own, of all rows, in AMB's layout with blocks of one
   column, that is SELL-32-sigma with 16-bit indices where they do; the segments are multiplied one after the other, each adding to what those before
   have left: no row is added to by two of them at a time. Within a segment columns keep their order.
*/
#pragma once

#include "ambcuda.h"
#include "nusparams.h"

#if defined(__cplusplus)
extern "C" {
#endif

typedef struct {
  NusParams params; /* with what was chosen; c and sigma are those of the layout */
  int64_t   segments, gathered;
  double    bytes_stored; /* what a product reads of the matrix, and moves to gather x */
  double    bytes_extra;  /* what is held besides */
  double    stored_values;
} NusDeviceInfo;

typedef struct _NusDevice NusDevice;

/* measure: the kernels of each segment are chosen by timing; otherwise by the model. The statuses are those of AMB. */
AmbDeviceStatus NusDeviceCreate(const AmbDeviceCSR *, const NusParams *, int measure, AmbStream, NusDevice **, NusDeviceInfo *);
AmbDeviceStatus NusDeviceUpdate(NusDevice *, const AmbDeviceCSR *, AmbStream); /* new values in the same pattern */

/* z = alpha A x + beta y, and with the transposed matrix, of which AMB's layout is stored from the first such product on. The CSR is the one that the
   last update was made from. y may be z, and is not read if beta is 0. */
AmbDeviceStatus NusDeviceMult(NusDevice *, const AmbDeviceCSR *, AmbScalar alpha, const AmbScalar *x, AmbScalar beta, const AmbScalar *y, AmbScalar *z, AmbStream);
AmbDeviceStatus NusDeviceMultTranspose(NusDevice *, const AmbDeviceCSR *, AmbScalar alpha, const AmbScalar *x, AmbScalar beta, const AmbScalar *y, AmbScalar *z, AmbStream);

void NusDeviceDestroy(NusDevice **);

#if defined(__cplusplus)
}
#endif
