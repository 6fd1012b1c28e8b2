/*
   The halo of an MPI matrix on a CUDA device: operations on raw device arrays. Nothing here or below knows PETSc's objects, and everything is
   queued on the stream it is given. Real numbers and 32-bit indices only.
*/
#pragma once

#include "ambcuda.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* The rows of a matrix that have entries, in compressed form: row k of the n listed ones is rows[k] and has the entries start[k] to start[k + 1] */
typedef struct {
  int        n;
  int        lanes; /* threads that share a row: a power of two, at most 32 */
  const int *rows, *start;
} ShadowHaloRows;

/* to[k] = x[entries[k]] */
AmbDeviceStatus ShadowHaloPack(int n, const int *entries, const AmbScalar *x, AmbScalar *to, AmbStream);

/* y = A x + y, of which only the listed rows are read and written */
AmbDeviceStatus ShadowHaloAdd(const ShadowHaloRows *, const int *j, const AmbScalar *a, const AmbScalar *x, AmbScalar *y, AmbStream);

#if defined(__cplusplus)
}
#endif
