/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Steps of device products besides multiplication, on raw CSR arrays
*/
#pragma once

#include "mat/impls/hashgemm/cuda/spgemmcuda.h"

SYS_C_BEGIN

/* Sets a fingerprint that matrices with the same pattern share; it differs from HashGEMMFingerprint()'s. Sets *ascending to 0 if a row's columns do
   not ascend, or repeat. Waits for the device. */
SysStatus HashGEMMDeviceFingerprint(const SysCSR *, SysStream, uint64_t *fingerprint, int *ascending);

/* Merges two matrices as in hashgemmrows.h: the second's columns, renumbered by map unless NULL, follow from n on. A matrix without entries may lack
   arrays. NULL among i, j and a: not computed. */
SysStatus HashGEMMDeviceMerge(const SysCSR *d, const SysCSR *o, int n, const int *map, int *i, int *j, SysScalar *a, SysStream);

/* Rows to cut at column n, as in hashgemmrows.h: row r is row from[r] of `other` if from is not NULL and from[r] >= 0 */
typedef struct {
  const int       *i, *j, *otheri, *otherj, *from;
  const SysScalar *a, *othera;
} HashGEMMDeviceCutRows;

SysStatus HashGEMMDeviceCutValues(const HashGEMMDeviceCutRows *, int64_t m, const int *di, const int *oi, SysScalar *da, SysScalar *oa, SysStream);

/* The pattern of cut rows: where the rows of both parts begin, then their columns */
SysStatus HashGEMMDeviceCutStarts(const HashGEMMDeviceCutRows *, int64_t m, int n, int *di, int *oi, SysStream);
SysStatus HashGEMMDeviceCutColumns(const HashGEMMDeviceCutRows *, int64_t m, int n, const int *map, const int *di, const int *oi, int *dj, int *oj, SysStream);

/* Marks the columns from n on that occur; they end the rows */
SysStatus HashGEMMDeviceMarkUsed(int64_t m, const int *i, const int *j, int n, char *used, SysStream);

/* a[place[k]] = values[k] */
SysStatus HashGEMMDeviceScatter(int64_t n, const int *place, const SysScalar *values, SysScalar *a, SysStream);

/* ends[2 k] and ends[2 k + 1]: the entries where row rows[k] begins and ends */
SysStatus HashGEMMDeviceRowEnds(int64_t n, const int *rows, const int *i, int *ends, SysStream);

/* Gathers the values, or the columns, of some rows in one array, row rows[k]'s from begin[k] on */
SysStatus HashGEMMDeviceTakeRows(int64_t n, const int *rows, const int *begin, const int *i, const SysScalar *a, SysScalar *taken, SysStream);
SysStatus HashGEMMDeviceTakeColumns(int64_t n, const int *rows, const int *begin, const int *i, const int *j, int *taken, SysStream);

SYS_C_END
