/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The table of the performance model: products of matrices whose rectangles all have the same shape, with x in the cache or anywhere
*/
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "mat/impls/tilecomposite/tilecuda.cuh"

#define ROUNDS   4                  /* rectangles of each warp */
#define MOST     ((int64_t)1 << 26) /* entries of a matrix, at most */
#define FAR      ((int64_t)1 << 25) /* columns of x that is read anywhere: 256 MB */
#define TRIALS   5
#define LAUNCHES 4 /* of a trial */

static __device__ __forceinline__ uint32_t MeasureHash(uint32_t k)
{
  k ^= k >> 16;
  k *= 0x7feb352du;
  k ^= k >> 15;
  k *= 0x846ca68bu;
  return k ^ (k >> 16);
}

template <typename T>
static __global__ void MeasureColumns(int64_t n, uint32_t columns, T *column)
{
  SYS_FOR_EACH(k, n) column[k] = (T)(MeasureHash((uint32_t)k) % columns);
}

static __global__ void MeasureRectangles(int n, int64_t entries, unsigned pieces, unsigned steps, unsigned kind, TileWork *work)
{
  SYS_FOR_EACH(k, n) work[k] = TileWork{k * entries, (uint32_t)k * pieces, pieces, steps, kind};
}

static __global__ void MeasureTargets(int64_t n, int *target)
{
  SYS_FOR_EACH(k, n) target[k] = (int)k;
}

/* Seconds of a product; the least of some trials */
static SysStatus MeasureTime(const TileView *v, int blocks, const SysScalar *x, SysScalar *z, double *seconds)
{
  cudaEvent_t begin, end;
  SysStatus   status = SYS_SUCCESS;

  SYS_CUDA(cudaEventCreate(&begin));
  SYS_CUDA(cudaEventCreate(&end));
  *seconds = 0;
  for (int k = 0; k < TRIALS && !status; k++) {
    float ms = 0;

    (void)cudaEventRecord(begin, 0);
    for (int l = 0; l < LAUNCHES && !status; l++) status = TileLaunch(v, blocks, 1, x, 0, NULL, z, 0);
    (void)cudaEventRecord(end, 0);
    if (!status && cudaEventSynchronize(end) != cudaSuccess) status = SysDeviceFailed(cudaGetLastError(), "cudaEventSynchronize(end)");
    (void)cudaEventElapsedTime(&ms, begin, end);
    if (k == 0 || 1e-3 * ms / LAUNCHES < *seconds) *seconds = 1e-3 * ms / LAUNCHES;
  }
  (void)cudaEventDestroy(begin);
  (void)cudaEventDestroy(end);
  return status;
}

SysStatus TileDeviceMeasure(TileModel *T)
{
  cudaDeviceProp prop;
  int            device, blocks;
  TileView       v     = {};
  SysArena       arena = {NULL, 0};
  SysScratch     memory;
  SysScalar     *x = NULL, *z = NULL;

  SYS_CUDA(cudaGetDevice(&device));
  SYS_CUDA(cudaGetDeviceProperties(&prop, device));
  SYS_CALL(TileBlocks(&blocks));
  memset(T, 0, sizeof(*T));
  (void)snprintf(T->gpu, sizeof(T->gpu), "%.*s", TILE_GPU_NAME - 1, prop.name);
  T->scalar = sizeof(SysScalar);
  T->warps  = blocks * (TILE_THREADS / SYS_WARP);
  for (int pass = 0; pass < 2; pass++) {
    SysArenaTake(&arena, &x, (size_t)FAR);
    SysArenaTake(&arena, &z, (size_t)MOST);
    SysArenaTake(&arena, (SysScalar **)&v.val, (size_t)MOST);
    SysArenaTake(&arena, (TileWork **)&v.work, (size_t)T->warps * ROUNDS);
    SysArenaTake(&arena, (int **)&v.target, (size_t)MOST);
    SysArenaTake(&arena, (uint16_t **)&v.narrow, (size_t)MOST);
    SysArenaTake(&arena, (uint32_t **)&v.wide, (size_t)MOST);
    SysArenaTake(&arena, &v.meet, 1);
    if (pass) break;
    SYS_CALL(SysArenaAllocate(&arena));
    memory.memory = arena.memory;
    SYS_CUDA(cudaMemset(arena.memory, 0, SysPadded(sizeof(SysScalar) * FAR) + 2 * SysPadded(sizeof(SysScalar) * MOST)));
  }
  SYS_CUDA(cudaMemset(v.meet, 0, sizeof(*v.meet)));
  v.xs    = x;
  v.ntile = 1;
  v.width = TILE_NARROW;
  SYS_CALL(SysLaunch(MeasureColumns<uint16_t>, SysBlocksLoop(MOST), SYS_THREADS, 0, 0, MOST, (uint32_t)TILE_NARROW, (uint16_t *)v.narrow));
  SYS_CALL(SysLaunch(MeasureColumns<uint32_t>, SysBlocksLoop(MOST), SYS_THREADS, 0, 0, MOST, (uint32_t)FAR, (uint32_t *)v.wide));
  SYS_CALL(SysLaunch(MeasureTargets, SysBlocksLoop(MOST), SYS_THREADS, 0, 0, MOST, (int *)v.target));
  SYS_CALL(MeasureTime(&v, blocks, x, z, &T->launch));
  for (int sparse = 0; sparse < 2; sparse++) {
    for (int lw = 0; lw < TILE_SHAPES; lw++) {
      for (int lh = 0; lh < TILE_SHAPES; lh++) {
        const int64_t w = 1 << lw, h = 1 << lh;
        const bool    rows  = w > h;
        const int64_t steps = rows ? (w + SYS_WARP - 1) / SYS_WARP : w, groups = rows ? h : (h + SYS_WARP - 1) / SYS_WARP, entries = steps * groups * SYS_WARP;
        double        seconds;

        if (w * h > TILE_MOST) continue;
        v.nwork   = (int)std::min<int64_t>((int64_t)T->warps * ROUNDS, MOST / entries);
        v.nnarrow = sparse ? 0 : MOST;
        SYS_CALL(SysLaunch(MeasureRectangles, SysBlocksLoop(v.nwork), SYS_THREADS, 0, 0, v.nwork, entries, (unsigned)h, (unsigned)steps, (unsigned)(rows ? TILE_ROWS : TILE_COLUMNS) + 4u * sparse, (TileWork *)v.work));
        SYS_CALL(MeasureTime(&v, blocks, x, z, &seconds));
        (sparse ? T->sparse : T->cached)[lw][lh] = (double)v.nwork * (double)(w * h) / std::max(seconds - T->launch, 0.1 * seconds);
      }
    }
  }
  SYS_CUDA(cudaDeviceSynchronize());
  {
    cudaEvent_t begin, end;
    float       ms;

    SYS_CUDA(cudaEventCreate(&begin));
    SYS_CUDA(cudaEventCreate(&end));
    SYS_CUDA(cudaEventRecord(begin, 0));
    SYS_CUDA(cudaMemcpyAsync(z, v.val, sizeof(SysScalar) * MOST, cudaMemcpyDeviceToDevice, 0));
    SYS_CUDA(cudaEventRecord(end, 0));
    SYS_CUDA(cudaEventSynchronize(end));
    SYS_CUDA(cudaEventElapsedTime(&ms, begin, end));
    T->bandwidth = 2. * sizeof(SysScalar) * MOST / (1e-3 * ms);
    (void)cudaEventDestroy(begin);
    (void)cudaEventDestroy(end);
  }
  return SYS_SUCCESS;
}
