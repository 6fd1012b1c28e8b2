/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Steps of products on a CUDA device besides multiplying, on raw CSR arrays. Nothing here or below knows PETSc's objects.
*/
#pragma once

#include "mat/impls/hashgemm/cuda/spgemmcuda.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* A number that matrices with the same pattern share, but not the number of HashGEMMFingerprint(). *ascending is 0 if columns of a row are
   not in ascending order, or repeated. Waits for the device. */
SysStatus HashGEMMDeviceFingerprint(SpgemmDeviceContext *, const SysCSR *, SysStream, uint64_t *fingerprint, int *ascending);

/* Two matrices side by side, as in hashgemmrows.h: the columns of the second one, numbered by map if it is not NULL, follow from n on. A matrix without
   entries may have no arrays. Those of i, j and a that are NULL are not made. */
SysStatus HashGEMMDeviceMerge(const SysCSR *d, const SysCSR *o, int n, const int *map, int *i, int *j, SysScalar *a, SysStream);

/* The values of rows cut apart, as by HashGEMMCutValues(): row r is row from[r] of other, if from is not NULL and from[r] not negative */
typedef struct {
  const int       *i, *otheri, *from;
  const SysScalar *a, *othera;
} HashGEMMDeviceCutRows;

SysStatus HashGEMMDeviceCutValues(const HashGEMMDeviceCutRows *, int64_t m, const int *di, const int *oi, SysScalar *da, SysScalar *oa, SysStream);

/* a[place[k]] = values[k] */
SysStatus HashGEMMDeviceScatter(int64_t n, const int *place, const SysScalar *values, SysScalar *a, SysStream);

/* The values of some rows in one array, those of row rows[k] from begin[k] on */
SysStatus HashGEMMDeviceTakeRows(int64_t n, const int *rows, const int *begin, const int *i, const SysScalar *a, SysScalar *taken, SysStream);

#if defined(__cplusplus)
}
#endif
