/* SPDX-License-Identifier: BSD-2-Clause */
/*
   NUS-SELL on the device: what cutting the columns and the products share
*/
#pragma once

#include <vector>

#include "ambcuda.cuh"
#include "nuscuda.h"

#define NUS_THREADS      256
#define NUS_MAX_SEGMENTS 255 /* a byte tells them apart */

struct NusSegment {
  AmbDevice *A     = NULL;
  AmbArrays  csr   = {}; /* its pattern; entry k has the value a[from[k]] */
  int64_t    nz    = 0;
  bool       moved = false;    /* it reads what was gathered of x */
  int        first = 0, n = 0; /* where that begins, and how much it is */
};

struct _NusDevice {
  NusParams               params;
  std::vector<NusSegment> segments;
  int                     ngathered = 0;
  int                    *order     = NULL; /* the columns that are gathered */
  AmbScalar              *xg        = NULL;
  char                   *memory    = NULL; /* of all patterns, where there is more than one segment */
  double                  bytes     = 0;    /* of this */
  int64_t                 tried     = 0;    /* products timed to choose segments */
  AmbDevice              *whole     = NULL; /* for the transposed product of several segments */
};

/* Memory for the time of a conversion */
struct NusScratch {
  char *memory = NULL;

  ~NusScratch() { (void)cudaFree(memory); }
};

static inline unsigned NusBlocks(int64_t n)
{
  const int64_t blocks = (n + NUS_THREADS - 1) / NUS_THREADS;

  return (unsigned)(blocks < 1 ? 1 : blocks < 65536 ? blocks : 65536);
}

static inline AmbDeviceStatus NusAllocate(void *p, size_t bytes)
{
  AMB_CUDA(cudaMalloc((void **)p, bytes ? bytes : 1));
  return AMB_DEVICE_SUCCESS;
}

#define NUS_FOR_EACH(k, n) for (int64_t k = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; k < (n); k += (int64_t)gridDim.x * blockDim.x)

/* The columns in descending order of their entries; all arrays have a place for each column */
struct NusRanking {
  NusScratch s;
  unsigned  *count, *counted;
  int       *column, *ranked;
  char      *temporary; /* room to sort columns */
  size_t     sort = 0;
};

AmbDeviceStatus NusDeviceRank(const AmbDeviceCSR *, NusRanking *, cudaStream_t);

/* Cuts the matrix by params: entries sorted by segment, those of a row in their old order, and the rows of every segment that has any. The ranking, for
   segments of other than equal width, is used up. */
AmbDeviceStatus NusDeviceSplit(NusDevice *, const AmbDeviceCSR *, NusRanking *, int nsegment, cudaStream_t);
