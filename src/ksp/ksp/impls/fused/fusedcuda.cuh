/* SPDX-License-Identifier: BSD-2-Clause */
/*
   What the passes on a CUDA device share: sums over the grid, the state of the iteration, and how entries are read
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
  unsigned   *arrived; /* thread blocks that have written theirs */
} FusedShared;

struct _FusedDevice {
  FusedShared     shared;
  char           *memory;
  FusedState     *slot; /* two, in pinned memory */
  cudaEvent_t     sent[2];
  cudaStream_t    record;
  cudaGraphExec_t exec;
};

/* ------------------------------------------------- sums ------------------------------------------------- */

#define FUSED_DEVICE_SUMS 3 /* of a pass, at most */

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

/* Adds the sums over the grid. True in thread 0 of the thread block that arrives last, which has the result. */
template <int SUMS>
static __device__ inline bool FusedGridSum(const FusedShared shared, SysReal sum[SUMS])
{
  __shared__ bool last;

  FusedBlockSum<SUMS>(sum);
  if (threadIdx.x == 0) {
    for (int s = 0; s < SUMS; s++) __stcg(shared.partial + SUMS * blockIdx.x + s, sum[s]);
    __threadfence();
    last = atomicAdd(shared.arrived, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return false;
  __threadfence();
  for (int s = 0; s < SUMS; s++) sum[s] = 0;
  for (unsigned k = threadIdx.x; k < gridDim.x; k += blockDim.x) {
    for (int s = 0; s < SUMS; s++) sum[s] += __ldcg(shared.partial + SUMS * k + s);
  }
  FusedBlockSum<SUMS>(sum);
  if (threadIdx.x == 0) *shared.arrived = 0;
  return threadIdx.x == 0;
}

/* ------------------------------------------------- the state and the vectors ------------------------------------------------- */

/* What the last thread needs of the state. Each thread reads it before it works, so that the last one need not wait for it. */
typedef struct {
  SysReal beta, dpi, a, omega, least, most, objective;
  int     its, max_it, stop;
} FusedNow;

static __device__ inline FusedNow FusedLook(const FusedState *s)
{
  const FusedNow now = {__ldcg(&s->beta), __ldcg(&s->dpi), __ldcg(&s->a), __ldcg(&s->omega), __ldcg(&s->least), __ldcg(&s->most), __ldcg(&s->objective), __ldcg(&s->its), __ldcg(&s->max_it), __ldcg(&s->stop)};

  return now;
}

/* Passes take this many entries at a time, and read all numbers of these before they write one: reading is what takes time. They read before they know whether the
   iterations go on. */
#define FUSED_AT_ONCE 2
#define FUSED_FIRST   ((int64_t)blockIdx.x * blockDim.x + threadIdx.x)
#define FUSED_STRIDE  ((int64_t)gridDim.x * blockDim.x)

static __device__ inline void FusedRead(const SysReal *v, int64_t k, int64_t n, SysReal to[FUSED_AT_ONCE])
{
#pragma unroll
  for (int e = 0; e < FUSED_AT_ONCE; e++) to[e] = k + e * FUSED_STRIDE < n ? __ldcg(v + k + e * FUSED_STRIDE) : 0;
}

/* Each thread takes one entry, or more */
static inline unsigned FusedGrid(int64_t n)
{
  const int64_t blocks = (n + SYS_THREADS - 1) / SYS_THREADS;

  return (unsigned)(blocks < 1 ? 1 : blocks < FUSED_GRID ? blocks : FUSED_GRID);
}
