/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Steps of device products besides multiplication, on raw CSR arrays
*/
#pragma once

#include "mat/impls/hashgemm/cuda/spgemmcuda.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* Sets a fingerprint that matrices with the same pattern share; it differs from HashGEMMFingerprint()'s. Sets *ascending to 0 if a row's columns do
   not ascend, or repeat. Waits for the device. */
SysStatus HashGEMMDeviceFingerprint(SpgemmDeviceContext *, const SysCSR *, SysStream, uint64_t *fingerprint, int *ascending);

/* Merges two matrices as in hashgemmrows.h: the second's columns, renumbered by map unless NULL, follow from n on. A matrix without entries may lack
   arrays. NULL among i, j and a: not computed. */
SysStatus HashGEMMDeviceMerge(const SysCSR *d, const SysCSR *o, int n, const int *map, int *i, int *j, SysScalar *a, SysStream);

/* The values of cut rows, as in HashGEMMCutValues(): row r is row from[r] of `other` if from is not NULL and from[r] >= 0 */
typedef struct {
  const int       *i, *otheri, *from;
  const SysScalar *a, *othera;
} HashGEMMDeviceCutRows;

SysStatus HashGEMMDeviceCutValues(const HashGEMMDeviceCutRows *, int64_t m, const int *di, const int *oi, SysScalar *da, SysScalar *oa, SysStream);

/* a[place[k]] = values[k] */
SysStatus HashGEMMDeviceScatter(int64_t n, const int *place, const SysScalar *values, SysScalar *a, SysStream);

/* Gathers the values of some rows in one array, row rows[k]'s from begin[k] on */
SysStatus HashGEMMDeviceTakeRows(int64_t n, const int *rows, const int *begin, const int *i, const SysScalar *a, SysScalar *taken, SysStream);

#if defined(__cplusplus)
}
#endif
