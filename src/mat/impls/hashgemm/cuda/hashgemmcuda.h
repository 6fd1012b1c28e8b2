/* SPDX-License-Identifier: BSD-2-Clause */
/*
   What products on a CUDA device do besides multiplying, on raw CSR arrays. Nothing here or below knows PETSc's objects.
*/
#pragma once

#include "mat/impls/hashgemm/cuda/spgemmcuda.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* What two matrices have in common that have the same entries, another number than HashGEMMFingerprint() has for them; also, do the columns of every row
   ascend, none being there twice? Waits for the device. */
SysStatus HashGEMMDeviceFingerprint(SpgemmDeviceContext *, const SysCSR *, SysStream, uint64_t *fingerprint, int *ascending);

/* Two matrices side by side, as in hashgemmrows.h: the columns of the second, numbered by map or as they are, from n on. A matrix without entries may have no
   arrays. What is NULL of j and a is not made, nor is i where it is there already. */
SysStatus HashGEMMDeviceMerge(const SysCSR *d, const SysCSR *o, int n, const int *map, int *i, int *j, SysScalar *a, SysStream);

/* The values of rows cut apart, as by HashGEMMCutValues(): row r is row from[r] of other where from is there and that is not negative */
typedef struct {
  const int       *i, *otheri, *from;
  const SysScalar *a, *othera;
} HashGEMMDeviceCutRows;

SysStatus HashGEMMDeviceCutValues(const HashGEMMDeviceCutRows *, int64_t m, const int *di, const int *oi, SysScalar *da, SysScalar *oa, SysStream);

/* a[place[k]] = values[k] */
SysStatus HashGEMMDeviceScatter(int64_t n, const int *place, const SysScalar *values, SysScalar *a, SysStream);

/* The values of some rows one after the other, those of rows[k] from begin[k] on */
SysStatus HashGEMMDeviceTakeRows(int64_t n, const int *rows, const int *begin, const int *i, const SysScalar *a, SysScalar *taken, SysStream);

#if defined(__cplusplus)
}
#endif
