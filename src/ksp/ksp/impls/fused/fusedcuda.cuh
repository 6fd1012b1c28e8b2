/* SPDX-License-Identifier: BSD-2-Clause */
/*
   What the passes on a CUDA device share: sums over the grid and over processes
*/
#pragma once

#include "sys/syscuda.cuh"
#include "ksp/ksp/impls/fused/fusedcuda.h"

#define FUSED_GRID  1024 /* thread blocks, at most: about as many as a large GPU runs at a time */
#define FUSED_WARPS (SYS_THREADS / SYS_WARP)

/* What kernels need besides vectors */
typedef struct {
  FusedState *state;
  SysReal    *partial; /* the sums of each thread block */
  unsigned   *arrived; /* thread blocks that have written their sums */
  SysReal    *mine;    /* a pass stores the sums of this process here, before all processes add them up; NULL: one process */
} FusedShared;

/* Sums to add up: number k of n begins at sum[stride * k] */
typedef struct {
  const SysReal *sum;
  int64_t        n;
  int            stride;
} FusedParts;

#define FUSED_LEFT 1024 /* room for the sums of the thread blocks of a pass of CG */

struct _FusedDevice {
  FusedShared  shared;
  FusedState  *state[2];  /* CG: two copies of the state; the first is shared.state, which is reported */
  int          at;        /* the copy from which the next pass starts */
  int          early;     /* kernels can start before the last has ended */
  FusedParts   step, dot; /* CG: the sums that the next passes add up */
  SysReal     *left[3];   /* CG: the sums of the thread blocks of a pass that starts from copy 0 or 1, and the sums of a product */
  SysReal     *parts;     /* the sums of a product with sums, at most `room` */
  int64_t      room;
  int          nproc;
  SysReal     *gathered; /* the sums of this process, and of all processes */
  char        *memory;
  FusedState  *slot; /* two, in pinned memory */
  cudaEvent_t  sent[2];
  FusedRecord *record;
};

/* ------------------------------------------------- sums ------------------------------------------------- */

/* The sums of all threads of a thread block, in thread 0 */
template <int SUMS>
static __device__ inline void FusedBlockSum(SysReal sum[SUMS])
{
  __shared__ SysReal all[SUMS][FUSED_WARPS];
  const unsigned     lane = threadIdx.x % SYS_WARP, warp = threadIdx.x / SYS_WARP;

  for (int s = 0; s < SUMS; s++) {
    for (unsigned d = SYS_WARP / 2; d; d /= 2) sum[s] += __shfl_xor_sync(SYS_ALL_LANES, sum[s], d);
    if (lane == 0) all[s][warp] = sum[s];
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int s = 0; s < SUMS; s++) {
      sum[s] = 0;
      for (int w = 0; w < FUSED_WARPS; w++) sum[s] += all[s][w];
    }
  }
  __syncthreads();
}

/* Adds the sums over the grid. True in thread 0 of the thread block that arrives last, which has the result; false if other processes have sums too. */
template <int SUMS>
static __device__ inline bool FusedGridSum(const FusedShared shared, SysReal sum[SUMS])
{
  __shared__ bool last;

  FusedBlockSum<SUMS>(sum);
  if (threadIdx.x == 0) {
    volatile SysReal *partial = shared.partial + SUMS * blockIdx.x;

    for (int s = 0; s < SUMS; s++) partial[s] = sum[s];
    __threadfence();
    last = atomicAdd(shared.arrived, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return false;
  __threadfence();
  for (int s = 0; s < SUMS; s++) sum[s] = 0;
  for (unsigned k = threadIdx.x; k < gridDim.x; k += blockDim.x) {
    const volatile SysReal *partial = shared.partial + SUMS * k;

    for (int s = 0; s < SUMS; s++) sum[s] += partial[s];
  }
  FusedBlockSum<SUMS>(sum);
  if (threadIdx.x) return false;
  *shared.arrived = 0;
  for (int s = 0; shared.mine && s < SUMS; s++) shared.mine[s] = sum[s];
  return !shared.mine;
}

/* The sums of all processes, in each thread of a warp */
static __device__ inline void FusedGathered(const SysReal *all, int nproc, SysReal sum[FUSED_DEVICE_SUMS])
{
  for (int s = 0; s < FUSED_DEVICE_SUMS; s++) {
    sum[s] = 0;
    for (int k = (int)threadIdx.x; k < nproc; k += SYS_WARP) sum[s] += all[FUSED_DEVICE_SUMS * k + s];
    for (unsigned d = SYS_WARP / 2; d; d /= 2) sum[s] += __shfl_xor_sync(SYS_ALL_LANES, sum[s], d);
  }
}

/* Each thread takes four entries, or more */
static inline unsigned FusedGrid(int64_t n)
{
  const int64_t blocks = (n + 4 * SYS_THREADS - 1) / (4 * SYS_THREADS);

  return (unsigned)(blocks < 1 ? 1 : blocks < FUSED_GRID ? blocks : FUSED_GRID);
}
