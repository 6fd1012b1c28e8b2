/* SPDX-License-Identifier: BSD-2-Clause */
/*
   NUS-SELL on the device: the declarations that cutting the columns and the products share
*/
#pragma once

#include <vector>

#include "mat/impls/amb/cuda/ambcuda.cuh"
#include "mat/impls/nus/cuda/nuscuda.h"

#define NUS_MAX_SEGMENTS 255 /* numbered by a byte */

struct NusSegment {
  AmbDevice *A     = NULL;
  AmbArrays  csr   = {}; /* its pattern; entry k has the value a[from[k]] */
  int64_t    nz    = 0;
  bool       moved = false;    /* the segment reads gathered entries of x */
  int        first = 0, n = 0; /* the first of these entries, and their number */
};

struct _NusDevice {
  NusParams               params;
  std::vector<NusSegment> segments;
  int                     ngathered  = 0;
  int                    *order      = NULL; /* the columns that are gathered */
  SysScalar              *xg         = NULL;
  char                   *memory     = NULL; /* of all patterns, if there is more than one segment */
  double                  bytes      = 0;    /* of memory */
  int64_t                 tried      = 0;    /* products timed to choose segments */
  AmbTransposed           transposed = {};   /* of all segments */
};

/* The columns in descending order of their entries; all arrays have a place for each column */
struct NusRanking {
  SysScratch s;
  unsigned  *count, *counted;
  int       *column, *ranked;
  char      *temporary; /* room to sort columns */
  size_t     sort = 0;
};

SysStatus NusDeviceRank(const SysCSR *, NusRanking *, cudaStream_t);

/* Cuts the matrix as params say: sorts entries by segment, those of a row in their old order, and makes the rows of every segment that has entries. Segments of
   unequal width take the ranking and overwrite it. */
SysStatus NusDeviceSplit(NusDevice *, const SysCSR *, NusRanking *, int nsegment, cudaStream_t);
