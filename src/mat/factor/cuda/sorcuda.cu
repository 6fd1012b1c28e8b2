/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Sweeps of SOR with rows by color. sorhost.h describes the method.
*/
#include "sys/syscuda.cuh"
#include "mat/factor/cuda/sorcuda.h"
#include "mat/factor/host/sorvisit.h"

#define SOR_CHUNK         4    /* entries of a thread in flight */
#define SOR_THREADS       128  /* threads of a thread block that visits a part of a color */
#define SOR_SMALL_THREADS 1024 /* threads of the thread block that makes a whole sweep */

/* The expected seconds of a sweep: one thread block reads SOR_SMALL_RATE bytes a second and waits SOR_SMALL_SECONDS in a visit; a launch takes SOR_LAUNCH_SECONDS */
#define SOR_SMALL_RATE     8e10
#define SOR_SMALL_SECONDS  1e-6
#define SOR_LAUNCH_SECONDS 2.2e-6

/* The arrays of the layout on the device, by position or by slot */
typedef struct {
  int      bs, lanes, tiles, colors, positions;
  int     *tile, *row, *start[2], *column[2];
  SysReal *value[2], *inverse, *x, *kept;
} SORArrays;

struct SORDevice_ {
  SORArrays arrays;
  int      *place;
  int       n, small;
  int      *tile; /* of the host */
  int      *singular;
  int64_t   entries;
  char     *memory;
};

/* The sum of the products of a part of a row, of all its threads */
template <int LANES>
static __device__ __forceinline__ SysReal SORSum(const SORArrays &S, int part, int tile, int lane)
{
  const int *start = S.start[part] + tile;
  const int  end   = start[1];
  SysReal    sum   = 0;

  for (int step = start[0]; step < end; step += SOR_CHUNK) {
    int     column[SOR_CHUNK];
    SysReal value[SOR_CHUNK];

#pragma unroll
    for (int k = 0; k < SOR_CHUNK; k++) {
      const int64_t slot = (int64_t)(step + k) * SYS_WARP + lane;

      column[k] = step + k < end ? S.column[part][slot] : -1;
      value[k]  = step + k < end ? S.value[part][slot] : 0;
    }
#pragma unroll
    for (int k = 0; k < SOR_CHUNK; k++) {
      if (column[k] >= 0) sum += value[k] * S.x[column[k]];
    }
  }
#pragma unroll
  for (int d = LANES / 2; d; d /= 2) sum += __shfl_xor_sync(SYS_ALL_LANES, sum, d);
  return sum;
}

/* Visits a tile with a warp */
template <int LANES>
static __device__ __forceinline__ void SORTile(const SORArrays &S, const SORVisit &v, SysReal omega, const SORResult &result, const SysReal *b, SysReal *x, int tile, int lane)
{
  const int  p = tile * (SYS_WARP / LANES) + lane / LANES, row = S.row[p];
  const bool leader = lane % LANES == 0 && row >= 0;
  SysReal    sum    = row < 0 ? 0 : v.saved ? S.kept[p] : b[row], g;

  if (v.lower) sum -= SORSum<LANES>(S, 0, tile, lane);
  if (v.keep && leader) S.kept[p] = sum;
  if (v.upper) sum -= SORSum<LANES>(S, 1, tile, lane);
  if (S.bs == 1) g = row < 0 ? 0 : S.inverse[p] * sum;
  else {
    const int first = lane / LANES / S.bs * S.bs; /* of the node, in the tile */

    g = 0;
    for (int q = 0; q < S.bs; q++) {
      const SysReal other = __shfl_sync(SYS_ALL_LANES, sum, (first + q) * LANES % SYS_WARP);

      if (row >= 0) g += S.inverse[(int64_t)q * S.positions + p] * other;
    }
  }
  if (!leader) return;
  g      = SORRelax(&v, omega, v.fresh || omega == 1 ? 0 : S.x[p], g);
  S.x[p] = g;
  if (!v.last) return;
  g *= result.a;
  if (result.z) g += result.c * result.z[row];
  if (result.p) g += result.b * result.p[row];
  x[row] = g;
}

template <int LANES>
static __global__ void __launch_bounds__(SOR_THREADS) SORVisitKernel(const SORArrays S, const SORVisit v, SysReal omega, const SORResult result, int begin, int end, const SysReal *b, SysReal *x)
{
  const int tile = begin + (int)(blockIdx.x * (SOR_THREADS / SYS_WARP) + threadIdx.x / SYS_WARP);

  if (tile < end) SORTile<LANES>(S, v, omega, result, b, x, tile, (int)threadIdx.x % SYS_WARP);
}

/* A whole sweep by one thread block */
template <int LANES>
static __global__ void __launch_bounds__(SOR_SMALL_THREADS) SORSmallKernel(const SORArrays S, const SORSweep sweep, const SORResult result, const SysReal *b, SysReal *x)
{
  if (!sweep.zero) {
    for (int p = (int)threadIdx.x; p < S.positions; p += SOR_SMALL_THREADS) S.x[p] = S.row[p] < 0 ? 0 : x[S.row[p]];
    __syncthreads();
  }
  for (int h = 0; h < SORHalves(&sweep); h++) {
    for (int q = 0; q < S.colors; q++) {
      const SORVisit v = SORVisitGet(&sweep, S.colors, h, q);

      if (!v.times) continue;
      for (int tile = S.tile[v.color] + (int)threadIdx.x / SYS_WARP; tile < S.tile[v.color + 1]; tile += SOR_SMALL_THREADS / SYS_WARP) SORTile<LANES>(S, v, sweep.omega, result, b, x, tile, (int)threadIdx.x % SYS_WARP);
      __syncthreads();
    }
  }
}

static __global__ void __launch_bounds__(SYS_THREADS) SORGuessKernel(const SORArrays S, const SysReal *x)
{
  SYS_FOR_EACH(p, S.positions) S.x[p] = S.row[p] < 0 ? 0 : x[S.row[p]];
}

template <int LANES>
static SysStatus SORSweepLaunch(SORDevice D, const SORSweep *sweep, const SORResult *result, const SysReal *b, SysReal *x, cudaStream_t stream)
{
  const SORArrays *S = &D->arrays;

  if (D->small) return SysLaunch(SORSmallKernel<LANES>, 1, SOR_SMALL_THREADS, 0, stream, *S, *sweep, *result, b, x);
  if (!sweep->zero) SYS_CALL(SysLaunch(SORGuessKernel, SysBlocksLoop(S->positions), SYS_THREADS, 0, stream, *S, (const SysReal *)x));
  for (int h = 0; h < SORHalves(sweep); h++) {
    for (int q = 0; q < S->colors; q++) {
      const SORVisit v     = SORVisitGet(sweep, S->colors, h, q);
      const int      begin = D->tile[v.color], end = D->tile[v.color + 1];

      if (v.times) SYS_CALL(SysLaunch(SORVisitKernel<LANES>, SysBlocks(end - begin, SOR_THREADS / SYS_WARP), SOR_THREADS, 0, stream, *S, v, sweep->omega, *result, begin, end, b, x));
    }
  }
  return SYS_SUCCESS;
}

SysStatus SORDeviceSweep(SORDevice D, const SORSweep *sweep, const SORResult *result, const SysReal *b, SysReal *x, SysStream stream)
{
  static decltype(&SORSweepLaunch<1>) const launch[] = {SORSweepLaunch<1>, SORSweepLaunch<2>, SORSweepLaunch<4>, SORSweepLaunch<8>, SORSweepLaunch<16>, SORSweepLaunch<32>};
  int                                       k        = 0;

  while (1 << k < D->arrays.lanes) k++;
  return (*launch[k])(D, sweep, result, b, x, (cudaStream_t)stream);
}

/* ------------------------------------------------- layout and values ------------------------------------------------- */

static __global__ void __launch_bounds__(SYS_THREADS) SORFillKernel(int64_t n, const SORSlots slots, const SysInt *i, const SysInt *j, const SysScalar *a)
{
  SYS_FOR_EACH(r, n) SORFill(&slots, i, j, a, (SysInt)r, slots.place[r]);
}

/* Of blocks of at most MOST rows, whose numbers lie in local memory */
template <int MOST>
static __global__ void __launch_bounds__(SYS_THREADS) SORInverseKernel(const SORArrays S, int nodes, const int *place, const SysInt *i, const SysInt *j, const SysScalar *a, SysReal omega, SysReal shift, int *singular)
{
  SysScalar D[MOST * MOST];

  SYS_FOR_EACH(v, nodes)
  {
    int zero = SORBlock(i, j, a, (SysInt)v, S.bs, omega, shift, D);

    zero = SORInvert(S.bs, D) || zero;
    if (zero) *singular = 1;
    for (int r = 0; r < S.bs; r++) {
      for (int q = 0; q < S.bs; q++) S.inverse[(int64_t)q * S.positions + place[v * S.bs + r]] = omega * D[r * S.bs + q];
    }
  }
}

static SORSlots SORDeviceSlots(SORDevice D, bool columns, bool values)
{
  SORSlots slots = {};

  slots.bs    = D->arrays.bs;
  slots.lanes = D->arrays.lanes;
  slots.place = D->place;
  for (int part = 0; part < 2; part++) {
    slots.start[part]  = D->arrays.start[part];
    slots.column[part] = columns ? D->arrays.column[part] : NULL;
    slots.value[part]  = values ? D->arrays.value[part] : NULL;
  }
  return slots;
}

SysStatus SORDeviceUpdate(SORDevice D, const SysCSR *A, SysStream stream)
{
  return SysLaunch(SORFillKernel, SysBlocksLoop(D->n), SYS_THREADS, 0, (cudaStream_t)stream, (int64_t)D->n, SORDeviceSlots(D, false, true), A->i, A->j, A->a);
}

SysStatus SORDeviceSetDiagonal(SORDevice D, const SysCSR *A, SysReal omega, SysReal shift, int *singular, SysStream stream)
{
  const int  nodes  = D->n / D->arrays.bs;
  const auto kernel = D->arrays.bs == 1 ? SORInverseKernel<1> : D->arrays.bs <= 4 ? SORInverseKernel<4> : SORInverseKernel<SOR_BLOCK_MOST>;

  SYS_CUDA(cudaMemsetAsync(D->singular, 0, sizeof(*D->singular), (cudaStream_t)stream));
  SYS_CALL(SysLaunch(kernel, SysBlocksLoop(nodes), SYS_THREADS, 0, (cudaStream_t)stream, D->arrays, nodes, (const int *)D->place, A->i, A->j, A->a, omega, shift, D->singular));
  SYS_CUDA(cudaMemcpyAsync(singular, D->singular, sizeof(*singular), cudaMemcpyDeviceToHost, (cudaStream_t)stream));
  SYS_CUDA(cudaStreamSynchronize((cudaStream_t)stream));
  return SYS_SUCCESS;
}

static void SORTakeArrays(const SORPlan *P, SORDevice D, SysArena *arena)
{
  SORArrays   *S         = &D->arrays;
  const size_t positions = (size_t)S->positions;

  SysArenaTake(arena, &S->tile, (size_t)P->colors + 1);
  SysArenaTake(arena, &S->row, positions);
  SysArenaTake(arena, &D->place, (size_t)P->n);
  for (int part = 0; part < 2; part++) {
    const size_t slots = (size_t)P->start[part][P->tiles] * SOR_WARP;

    SysArenaTake(arena, &S->start[part], (size_t)P->tiles + 1);
    SysArenaTake(arena, &S->column[part], slots);
    SysArenaTake(arena, &S->value[part], slots);
  }
  SysArenaTake(arena, &S->inverse, positions * (size_t)P->bs);
  SysArenaTake(arena, &S->x, positions);
  SysArenaTake(arena, &S->kept, positions);
  SysArenaTake(arena, &D->singular, 1);
}

static SysStatus SORCopy(int *to, const SysInt *from, int64_t n, cudaStream_t stream)
{
  SYS_CUDA(cudaMemcpyAsync(to, from, (size_t)n * sizeof(*to), cudaMemcpyHostToDevice, stream));
  return SYS_SUCCESS;
}

static SysStatus SORFillArrays(const SORPlan *P, const SysCSR *A, SORDevice D, cudaStream_t stream)
{
  SORArrays *S = &D->arrays;

  SYS_CALL(SORCopy(S->tile, P->tile, P->colors + 1, stream));
  SYS_CALL(SORCopy(S->row, P->row, S->positions, stream));
  SYS_CALL(SORCopy(D->place, P->place, P->n, stream));
  for (int part = 0; part < 2; part++) {
    const size_t slots = (size_t)P->start[part][P->tiles] * SOR_WARP;

    SYS_CALL(SORCopy(S->start[part], P->start[part], P->tiles + 1, stream));
    SYS_CUDA(cudaMemsetAsync(S->column[part], 0xff, slots * sizeof(*S->column[part]), stream));
    SYS_CUDA(cudaMemsetAsync(S->value[part], 0, slots * sizeof(*S->value[part]), stream));
  }
  SYS_CUDA(cudaMemsetAsync(S->x, 0, (size_t)S->positions * sizeof(*S->x), stream));
  SYS_CALL(SysLaunch(SORFillKernel, SysBlocksLoop(P->n), SYS_THREADS, 0, stream, P->n, SORDeviceSlots(D, true, false), A->i, A->j, (const SysScalar *)NULL));
  SYS_CUDA(cudaStreamSynchronize(stream)); /* the plan goes */
  return SYS_SUCCESS;
}

/* Returns 1 if one thread block is expected to make a symmetric sweep sooner than a launch for each visit */
static int SORIsSmall(const SORPlan *P)
{
  const double steps = (double)P->start[0][P->tiles] + (double)P->start[1][P->tiles], positions = (double)P->tiles * (SOR_WARP / P->lanes);
  const double bytes = steps * SOR_WARP * (sizeof(SysReal) + sizeof(int)) + positions * (6 + P->bs) * sizeof(SysReal), visits = 2. * (double)P->colors - 1;

  return bytes / SOR_SMALL_RATE < visits * (SOR_LAUNCH_SECONDS - SOR_SMALL_SECONDS);
}

SysStatus SORDeviceCreate(const SORPlan *P, const SysCSR *A, SORDevice *result, SysStream stream)
{
  SORDevice D      = (SORDevice)calloc(1, sizeof(*D));
  SysArena  arena  = {};
  SysStatus status = D ? SYS_SUCCESS : SYS_OUT_OF_MEMORY;

  if (status == SYS_SUCCESS) {
    D->n                = (int)P->n;
    D->entries          = A->nz;
    D->small            = SORIsSmall(P);
    D->arrays.bs        = P->bs;
    D->arrays.lanes     = P->lanes;
    D->arrays.tiles     = (int)P->tiles;
    D->arrays.colors    = (int)P->colors;
    D->arrays.positions = (int)P->tiles * (SOR_WARP / P->lanes);
    D->tile             = (int *)malloc(((size_t)P->colors + 1) * sizeof(*D->tile));
    if (!D->tile) status = SYS_OUT_OF_MEMORY;
  }
  if (status == SYS_SUCCESS) {
    memcpy(D->tile, P->tile, ((size_t)P->colors + 1) * sizeof(*D->tile));
    SORTakeArrays(P, D, &arena);
    status = SysArenaAllocate(&arena);
  }
  if (status == SYS_SUCCESS) {
    D->memory = arena.memory;
    SORTakeArrays(P, D, &arena);
    status = SORFillArrays(P, A, D, (cudaStream_t)stream);
  }
  if (status != SYS_SUCCESS) SORDeviceDestroy(&D);
  *result = D;
  return status;
}

void SORDeviceDestroy(SORDevice *D)
{
  if (!*D) return;
  (void)cudaFree((*D)->memory);
  free((*D)->tile);
  free(*D);
  *D = NULL;
}

int64_t SORDeviceEntries(SORDevice D)
{
  return D->entries;
}
