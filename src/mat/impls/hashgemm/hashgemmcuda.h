/* SPDX-License-Identifier: BSD-2-Clause */
/*
   What products on a CUDA device do besides multiplying, on raw CSR arrays. Nothing here or below knows PETSc's objects.
*/
#pragma once

#include "spgemmcuda.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* What two matrices have in common that have the same entries, another number than HashGEMMFingerprint() has for them; also, do the columns of every row
   ascend, none being there twice? Waits for the device. */
SpgemmDeviceStatus HashGEMMDeviceFingerprint(SpgemmDeviceContext *, const AmbDeviceCSR *, AmbStream, uint64_t *fingerprint, int *ascending);

/* Two matrices side by side, as in hashgemmrows.h: the columns of the second, numbered by map or as they are, from n on. A matrix without entries may have no
   arrays. What is NULL of j and a is not made, nor is i where it is there already. */
SpgemmDeviceStatus HashGEMMDeviceMerge(const AmbDeviceCSR *d, const AmbDeviceCSR *o, int n, const int *map, int *i, int *j, AmbScalar *a, AmbStream);

/* The values of rows cut apart, as by HashGEMMCutValues(): row r is row from[r] of other where from is there and that is not negative */
typedef struct {
  const int       *i, *otheri, *from;
  const AmbScalar *a, *othera;
} HashGEMMDeviceCutRows;

SpgemmDeviceStatus HashGEMMDeviceCutValues(const HashGEMMDeviceCutRows *, int64_t m, const int *di, const int *oi, AmbScalar *da, AmbScalar *oa, AmbStream);

/* a[place[k]] = values[k] */
SpgemmDeviceStatus HashGEMMDeviceScatter(int64_t n, const int *place, const AmbScalar *values, AmbScalar *a, AmbStream);

/* The values of some rows one after the other, those of rows[k] from begin[k] on */
SpgemmDeviceStatus HashGEMMDeviceTakeRows(int64_t n, const int *rows, const int *begin, const int *i, const AmbScalar *a, AmbScalar *taken, AmbStream);

#if defined(__cplusplus)
}
#endif
