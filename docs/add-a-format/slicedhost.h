/* SPDX-License-Identifier: BSD-2-Clause */
/*
   SELL-C-sigma on raw arrays: rows are sorted by length within windows of sigma rows, and C of them make a slice, which is as long as its longest row.
   Entry i of lane l of a slice lies at i*C + l from its beginning. Shorter rows are filled with zeros in column 0.
*/
#pragma once

#include "sys/syscsr.h"
#include "sys/syscuda.h"

#define SLICED_C     8
#define SLICED_SIGMA 4096

typedef struct {
  SysCSR     csr; /* rows that meet a NaN or an infinity are computed from it */
  int        nthread;
  int64_t    nslice, nslot;
  int64_t   *start; /* nslice + 1: the first slot of each slice */
  SysInt    *row;   /* of each lane; those after the last row are -1 */
  SysInt    *col;
  SysScalar *val;
} SlicedHost;

double    SlicedBytes(int64_t nslice, int64_t nslot);
SysStatus SlicedHostCreate(const SysCSR *, int nthread, double most, SlicedHost **);
SysStatus SlicedHostUpdate(void *data, const SysCSR *, SysStream);
SysStatus SlicedHostMult(void *data, const SysCSR *, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, SysStream);
SysStatus SlicedHostMultTranspose(void *data, const SysCSR *, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, SysStream);
void      SlicedHostDestroy(void *data);
