/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Measures the table of the performance model: products of matrices whose rectangles have one shape, with x at several distances, on all warps or on
   few; and the other costs of a product

   tilehost.h has the idea.
*/
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "mat/impls/tilecomposite/cuda/tilecuda.cuh"
#include "mat/impls/tilecomposite/host/tilepolicy.h"

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

static __global__ void MeasureRectangles(int n, int64_t apart, unsigned pieces, unsigned steps, unsigned kind, TileWork *work)
{
  SYS_FOR_EACH(k, n) work[k] = TileWork{k * apart, (uint32_t)k * pieces, pieces, steps, kind};
}

static __global__ void MeasureLine(int64_t n, int step, int *to)
{
  SYS_FOR_EACH(k, n) to[k] = (int)k * step;
}

/* The matrix and the device of the measurement */
struct Measured {
  TileView   v;
  TileWork  *work;
  int       *perm, *slot;
  int        blocks, units, warps; /* warps: of all blocks */
  double     launch;               /* seconds of an empty product */
  SysScalar *x, *z;
};

/* Sets the seconds of a product beyond an empty one's, the least of some trials. next: each product uses the rectangles after the previous product's
   one. before, if not NULL, is multiplied before each trial to evict the cache. */
static SysStatus MeasureTime(const Measured *M, const TileView *A, int next, const TileView *before, double *seconds)
{
  cudaEvent_t begin, end;
  TileView    v      = *A;
  SysStatus   status = SYS_SUCCESS;

  SYS_CUDA(cudaEventCreate(&begin));
  SYS_CUDA(cudaEventCreate(&end));
  *seconds = 0;
  for (int k = 0; k < TILE_MEASURE_TRIALS && !status; k++) {
    float ms = 0;

    if (before) status = TileLaunch(before, M->blocks, 1, M->x, 0, NULL, M->z, 0);
    (void)cudaEventRecord(begin, 0);
    for (int l = 0; l < TILE_MEASURE_LAUNCHES && !status; l++, v.work += next) status = TileLaunch(&v, M->blocks, 1, M->x, 0, NULL, M->z, 0);
    (void)cudaEventRecord(end, 0);
    if (!status && cudaEventSynchronize(end) != cudaSuccess) status = SysDeviceFailed(cudaGetLastError(), "cudaEventSynchronize(end)");
    (void)cudaEventElapsedTime(&ms, begin, end);
    if (k == 0 || 1e-3 * ms / TILE_MEASURE_LAUNCHES < *seconds) *seconds = 1e-3 * ms / TILE_MEASURE_LAUNCHES;
  }
  (void)cudaEventDestroy(begin);
  (void)cudaEventDestroy(end);
  *seconds = std::max(*seconds - M->launch, 0.05 * *seconds);
  return status;
}

/* Sets the seconds of a product with n rectangles of w x h; each launch multiplies 1 / share of them, far from each other */
static SysStatus MeasureShape(Measured *M, int wide, int64_t w, int64_t h, int share, const TileView *before, double *entries, double *seconds)
{
  const bool    rows  = w > h;
  const int64_t steps = rows ? (w + SYS_WARP - 1) / SYS_WARP : w, groups = rows ? h : (h + SYS_WARP - 1) / SYS_WARP, stored = steps * groups * SYS_WARP;
  const int64_t rounds   = std::max<int64_t>(1, std::min<int64_t>(TILE_MEASURE_ROUNDS, TILE_MEASURE_ENTRIES / (stored * M->warps)));
  const int     launches = before ? TILE_MEASURE_TRIALS * TILE_MEASURE_LAUNCHES : 1, n = share ? share * launches : (int)std::min<int64_t>(rounds * M->warps, TILE_MEASURE_ENTRIES / stored);
  TileView      v = M->v;

  v.nwork   = share ? share : n;
  v.nnarrow = wide ? 0 : TILE_MEASURE_ENTRIES;
  *entries  = (double)v.nwork * (double)(w * h);
  SYS_CALL(SysLaunch(MeasureRectangles, SysBlocksLoop(n), SYS_THREADS, 0, 0, n, share ? TILE_MEASURE_ENTRIES / n / SYS_WARP * SYS_WARP : stored, (unsigned)h, (unsigned)steps, (unsigned)(rows ? TILE_ROWS : TILE_COLUMNS) + 4u * wide, M->work));
  v.work = M->work;
  return MeasureTime(M, &v, before ? share : 0, before, seconds);
}

/* Measures the performance of all shapes */
static SysStatus MeasureTable(Measured *M, int wide, int share, const TileView *before, TileRates table)
{
  for (int lw = 0; lw < TILE_SHAPES; lw++) {
    for (int lh = 0; lh < TILE_SHAPES; lh++) {
      double entries, seconds;

      if (1 << (lw + lh) > TILE_MOST) continue;
      SYS_CALL(MeasureShape(M, wide, 1 << lw, 1 << lh, share, before, &entries, &seconds));
      table[lw][lh] = (share ? entries / share : entries) / seconds;
    }
  }
  return SYS_SUCCESS;
}

template <typename T>
static SysStatus MeasureSpread(int64_t columns, const T *column)
{
  return SysLaunch(MeasureColumns<T>, SysBlocksLoop(TILE_MEASURE_ENTRIES), SYS_THREADS, 0, 0, TILE_MEASURE_ENTRIES, (uint32_t)columns, (T *)column);
}

/* Measures the costs of a product besides rectangles */
static SysStatus MeasureOther(Measured *M, TileModel *T)
{
  TileView v = M->v;
  double   seconds;

  v.xs = M->v.sums;
  SYS_CALL(MeasureTime(M, &v, 0, NULL, &T->launch));
  M->launch = T->launch;
  v.ncol    = 1;
  SYS_CALL(MeasureTime(M, &v, 0, NULL, &T->meet));
  SYS_CALL(SysLaunch(MeasureColumns<int>, SysBlocksLoop(TILE_MEASURE_COLUMNS), SYS_THREADS, 0, 0, TILE_MEASURE_COLUMNS, (uint32_t)TILE_MEASURE_COLUMNS, M->perm));
  v.ncol = (int)TILE_MEASURE_COLUMNS;
  SYS_CALL(MeasureTime(M, &v, 0, NULL, &seconds));
  T->copy = std::max(seconds - T->meet, 0.) / TILE_MEASURE_COLUMNS;
  SYS_CALL(SysLaunch(MeasureLine, SysBlocksLoop(TILE_MEASURE_COLUMNS + 1), SYS_THREADS, 0, 0, TILE_MEASURE_COLUMNS + 1, 2, M->slot));
  v.ncol = 0;
  v.nsum = (int)TILE_MEASURE_COLUMNS;
  SYS_CALL(MeasureTime(M, &v, 0, NULL, &seconds));
  T->sum = std::max(seconds - T->meet, 0.) / (3 * TILE_MEASURE_COLUMNS);
  return SYS_SUCCESS;
}

static SysStatus MeasureAll(Measured *M, TileModel *T)
{
  const int64_t levels[TILE_LEVELS] = {TILE_MEASURE_NEAR / (int64_t)sizeof(SysScalar), TILE_NARROW, TILE_MEASURE_FAR / (int64_t)sizeof(SysScalar)};

  SYS_CALL(MeasureOther(M, T));
  for (int k = 0; k < TILE_READS; k++) {
    double entries, seconds;

    SYS_CALL(MeasureSpread((TILE_MEASURE_NEAR << k) / (int64_t)sizeof(SysScalar), M->v.wide));
    SYS_CALL(MeasureShape(M, 1, 32, 32, 0, NULL, &entries, &seconds));
    T->read[k] = seconds / entries;
  }
  for (int level = TILE_LEVELS - 1; level >= 0; level--) {
    SYS_CALL(MeasureSpread(levels[level], M->v.wide));
    SYS_CALL(MeasureTable(M, 1, 0, NULL, T->full[1][level]));
    if (level == TILE_FAR) continue;
    SYS_CALL(MeasureSpread(levels[level], M->v.narrow));
    SYS_CALL(MeasureTable(M, 0, 0, NULL, T->full[0][level]));
    if (level == TILE_NEAR) continue;
    for (int wide = 0; wide < 2; wide++) { /* tile columns: with few warps, as slow as columns anywhere in the cache */
      TileView before = M->v;

      before.work    = M->work + TILE_MEASURE_ROUNDS * M->warps; /* one rectangle a warp, spread over the whole matrix */
      before.nwork   = (int)(TILE_MEASURE_ENTRIES / TILE_MOST);
      before.nnarrow = wide ? 0 : TILE_MEASURE_ENTRIES;
      SYS_CALL(SysLaunch(MeasureRectangles, SysBlocksLoop(before.nwork), SYS_THREADS, 0, 0, before.nwork, (int64_t)TILE_MOST, 32u, (unsigned)(TILE_MOST / 32), (unsigned)TILE_COLUMNS + 4u * wide, (TileWork *)before.work));
      SYS_CALL(MeasureTable(M, wide, M->units, &before, T->alone[wide]));
    }
  }
  SYS_CUDA(cudaDeviceSynchronize());
  return SYS_SUCCESS;
}

SysStatus TileDeviceMeasure(TileModel *T)
{
  cudaDeviceProp prop;
  int            device;
  Measured       M     = {};
  SysArena       arena = {NULL, 0};
  SysScratch     memory;

  SYS_CUDA(cudaGetDevice(&device));
  SYS_CUDA(cudaGetDeviceProperties(&prop, device));
  SYS_CALL(TileBlocks(&M.blocks));
  M.units = prop.multiProcessorCount;
  M.warps = M.blocks * (TILE_THREADS / SYS_WARP);
  memset(T, 0, sizeof(*T));
  (void)snprintf(T->gpu, sizeof(T->gpu), "%.*s", TILE_GPU_NAME - 1, prop.name);
  T->scalar = sizeof(SysScalar);
  T->warps  = M.warps;
  T->units  = M.units;
  for (int pass = 0; pass < 2; pass++) {
    SysArenaTake(&arena, (char **)&M.x, (size_t)TILE_MEASURE_FAR);
    SysArenaTake(&arena, &M.z, (size_t)TILE_MEASURE_ENTRIES);
    SysArenaTake(&arena, (SysScalar **)&M.v.val, (size_t)TILE_MEASURE_ENTRIES);
    SysArenaTake(&arena, &M.v.sums, 2 * (size_t)TILE_MEASURE_COLUMNS);
    SysArenaTake(&arena, &M.work, (size_t)M.warps * TILE_MEASURE_ROUNDS + TILE_MEASURE_ENTRIES / TILE_MOST);
    SysArenaTake(&arena, &M.perm, (size_t)TILE_MEASURE_COLUMNS);
    SysArenaTake(&arena, &M.slot, (size_t)TILE_MEASURE_COLUMNS + 1);
    SysArenaTake(&arena, (int **)&M.v.target, (size_t)TILE_MEASURE_ENTRIES);
    SysArenaTake(&arena, (uint16_t **)&M.v.narrow, (size_t)TILE_MEASURE_ENTRIES);
    SysArenaTake(&arena, (uint32_t **)&M.v.wide, (size_t)TILE_MEASURE_ENTRIES);
    SysArenaTake(&arena, &M.v.meet, 1);
    if (pass) break;
    SYS_CALL(SysArenaAllocate(&arena));
    memory.memory = arena.memory;
    SYS_CUDA(cudaMemset(arena.memory, 0, arena.used));
  }
  M.v.xs    = M.x;
  M.v.perm  = M.perm;
  M.v.slot  = M.slot;
  M.v.row   = M.v.target;
  M.v.ntile = 1;
  M.v.width = TILE_NARROW;
  SYS_CALL(SysLaunch(MeasureLine, SysBlocksLoop(TILE_MEASURE_ENTRIES), SYS_THREADS, 0, 0, TILE_MEASURE_ENTRIES, 1, (int *)M.v.target));
  return MeasureAll(&M, T);
}
