/* SPDX-License-Identifier: BSD-2-Clause */
/*
   NUS-SELL on the device: declarations for the split of the columns and the products
*/
#pragma once

#include <vector>

#include "mat/impls/amb/cuda/ambcuda.cuh"
#include "mat/impls/nus/cuda/nuscuda.h"

#define NUS_DEVICE_MAX_SEGMENTS 255 /* segments have 8-bit numbers */

struct NusSegment {
  AmbDevice *A     = NULL;
  AmbArrays  csr   = {}; /* the segment's pattern; entry k has the value a[from[k]] */
  int64_t    nz    = 0;
  bool       moved = false;    /* the segment reads gathered entries of x */
  int        first = 0, n = 0; /* the first gathered entry, and their number */
};

struct _NusDevice {
  NusParams               params;
  std::vector<NusSegment> segments;
  int                     ngathered  = 0;
  int                    *order      = NULL; /* the gathered columns */
  SysScalar              *xg         = NULL;
  char                   *memory     = NULL; /* all segments' patterns, if there are several */
  double                  bytes      = 0;    /* bytes of memory */
  int64_t                 tried      = 0;    /* products timed to choose segments */
  AmbTransposed           transposed = {};   /* of the whole matrix */
};

/* The columns by descending number of entries; arrays of n */
struct NusRanking {
  SysScratch s;
  unsigned  *count, *counted;
  int       *column, *ranked;
  char      *temporary; /* work space of the sort */
  size_t     sort = 0;
};

SysStatus NusDeviceRank(const SysCSR *, NusRanking *, cudaStream_t);

/* Cuts the matrix by A's parameters: sorts entries by segment, stably, and builds the rows of every nonempty segment. Segments of unequal width
   overwrite the ranking. */
SysStatus NusDeviceSplit(NusDevice *, const SysCSR *, NusRanking *, int nsegment, cudaStream_t);
