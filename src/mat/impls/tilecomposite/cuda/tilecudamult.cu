/* SPDX-License-Identifier: BSD-2-Clause */
/*
   SpMV in tile-composite on a CUDA device.

   Each warp multiplies rectangles in turn, the largest first. It loads the entries of several steps together, so that their latencies overlap, and adds
   them in the order of steps: in TILE_COLUMNS each lane has one piece of a row; in TILE_ROWS the lanes add their sums at the end of each piece.

   Padding has an invalid column index and adds nothing: a NaN or an infinity of x reaches only rows that have an entry in its column.

   tilehost.h has the idea.
*/
#include "mat/impls/tilecomposite/cuda/tilecuda.cuh"

#define TILE_LOADS 8 /* steps that a lane loads before it adds */

/* A grid-wide barrier; the launch is cooperative, so all blocks are resident */
static __device__ __forceinline__ void TileBarrier(unsigned *meet, unsigned blocks)
{
  __syncthreads();
  if (threadIdx.x == 0) {
    const unsigned add = blockIdx.x == 0 ? 0x80000000u - (blocks - 1) : 1u; /* all blocks together add 0x80000000: the highest bit flips when the last one arrives */
    unsigned       before;

    __threadfence();
    before = atomicAdd(meet, add);
    while (((before ^ *(volatile unsigned *)meet) & 0x80000000u) == 0) { }
    __threadfence();
  }
  __syncthreads();
}

/* Where sums go: a place >= 0 is a row of z, and a negative one the complement of a place in sums[], which are added after the barrier */
struct TileStoreTo {
  SysScalar        alpha, beta;
  const SysScalar *y;
  SysScalar       *z, *sums;
};

template <bool ADD>
static __device__ __forceinline__ void TileStore(const TileStoreTo &S, SysInt to, SysScalar s)
{
  if (to < 0) __stcg(S.sums + ~to, s);
  else S.z[to] = ADD ? S.alpha * s + S.beta * S.y[to] : S.alpha * s;
}

static __device__ __forceinline__ SysScalar TileWarpSum(SysScalar s)
{
#pragma unroll
  for (int d = SYS_WARP / 2; d; d /= 2) s += __shfl_xor_sync(SYS_ALL_LANES, s, d);
  return s;
}

template <typename T>
static __device__ __forceinline__ void TileLoad(const T *column, const SysScalar *val, const SysScalar *x, int left, SysScalar product[TILE_LOADS])
{
  const T   none = (T)TILE_NO_COLUMN;
  T         c[TILE_LOADS];
  SysScalar v[TILE_LOADS];

#pragma unroll
  for (int u = 0; u < TILE_LOADS; u++) c[u] = u < left ? __ldcs(column + u * SYS_WARP) : none;
#pragma unroll
  for (int u = 0; u < TILE_LOADS; u++) v[u] = u < left ? __ldcs(val + u * SYS_WARP) : 0;
#pragma unroll
  for (int u = 0; u < TILE_LOADS; u++) product[u] = x[c[u] == none ? 0 : c[u]]; /* unconditional, so that no load waits for a product */
#pragma unroll
  for (int u = 0; u < TILE_LOADS; u++) product[u] = c[u] == none ? 0 : v[u] * product[u];
}

/* Multiplies a rectangle of groups of `steps` steps; a group is a strip of rows, or a row */
template <bool ADD, typename T>
static __device__ __forceinline__ void TileRectangle(const TileWork &w, const SysInt *target, const T *column, const SysScalar *val, const SysScalar *x, unsigned lane, const TileStoreTo &S)
{
  const bool     columns = (w.kind & 3) == TILE_COLUMNS;
  const unsigned groups  = columns ? (w.pieces + SYS_WARP - 1) / SYS_WARP : w.pieces;
  const int      total   = (int)(groups * w.steps);
  unsigned       group = 0, in = 0;
  SysScalar      sum = 0, product[TILE_LOADS];

  column += w.place + lane;
  val += w.place + lane;
  for (int k = 0; k < total; k += TILE_LOADS) {
    TileLoad(column + (size_t)k * SYS_WARP, val + (size_t)k * SYS_WARP, x, total - k, product);
#pragma unroll
    for (int u = 0; u < TILE_LOADS; u++) {
      if (k + u < total) { /* uniform in the warp */
        sum += product[u];
        if (++in == w.steps) {
          if (columns) {
            const unsigned piece = group * SYS_WARP + lane;

            if (piece < w.pieces) TileStore<ADD>(S, target[w.piece + piece], sum);
          } else {
            sum = TileWarpSum(sum);
            if (lane == 0) TileStore<ADD>(S, target[w.piece + group], sum);
          }
          group++;
          in  = 0;
          sum = 0;
        }
      }
    }
  }
}

/* Multiplies a TILE_COO rectangle: a segmented scan over the lanes; a step's last sum carries over to the next step */
template <bool ADD, typename T>
static __device__ __forceinline__ void TileCoo(const TileWork &w, const SysInt *target, const uint16_t *piece, const T *column, const SysScalar *val, const SysScalar *x, unsigned lane, const TileStoreTo &S)
{
  SysScalar carry = 0;
  unsigned  open  = 0; /* the piece of the carry */

  for (unsigned k = 0; k < w.steps; k++) {
    const int64_t  at = w.place + (int64_t)k * SYS_WARP + lane;
    const T        c  = __ldcs(column + at);
    const unsigned p = __ldcs(piece + at), first = __shfl_sync(SYS_ALL_LANES, p, 0);
    SysScalar      s = c == (T)TILE_NO_COLUMN ? 0 : __ldcs(val + at) * x[c];
    unsigned       next;

    if (first != open && lane == 0) TileStore<ADD>(S, target[w.piece + open], carry);
    if (first == open && lane == 0) s = carry + s;
#pragma unroll
    for (unsigned d = 1; d < SYS_WARP; d *= 2) {
      const SysScalar t = __shfl_up_sync(SYS_ALL_LANES, s, d);
      const unsigned  q = __shfl_up_sync(SYS_ALL_LANES, p, d);

      if (lane >= d && q == p) s += t;
    }
    next = __shfl_down_sync(SYS_ALL_LANES, p, 1);
    if (lane < SYS_WARP - 1 && next != p) TileStore<ADD>(S, target[w.piece + p], s);
    carry = __shfl_sync(SYS_ALL_LANES, s, SYS_WARP - 1);
    open  = __shfl_sync(SYS_ALL_LANES, p, SYS_WARP - 1);
  }
  if (lane == 0) TileStore<ADD>(S, target[w.piece + open], carry);
}

template <bool ADD>
static __global__ void __launch_bounds__(TILE_THREADS, 4) TileMult(const __grid_constant__ TileView A, const __grid_constant__ TileStoreTo S, const SysScalar *x)
{
  const unsigned lane = threadIdx.x % SYS_WARP, warps = gridDim.x * (TILE_THREADS / SYS_WARP), warp = threadIdx.x / SYS_WARP * gridDim.x + blockIdx.x;

  if (A.ncol) {
    SYS_FOR_EACH(k, A.ncol) __stcg(A.xs + k, x[A.perm[k]]);
    TileBarrier(A.meet, gridDim.x);
  }
  for (int q = (int)warp; q < A.nwork; q += (int)warps) {
    const TileWork   w      = A.work[q];
    const int        tile   = (int)(w.kind / 4);
    const SysScalar *from   = tile < A.ntile ? A.xs + (int64_t)tile * A.width : x;
    const bool       narrow = w.place < A.nnarrow;

    if ((w.kind & 3) == TILE_COO) {
      if (narrow) TileCoo<ADD>(w, A.target, A.piece, A.narrow, A.val, from, lane, S);
      else TileCoo<ADD>(w, A.target, A.piece, A.wide - A.nnarrow, A.val, from, lane, S);
    } else {
      if (narrow) TileRectangle<ADD>(w, A.target, A.narrow, A.val, from, lane, S);
      else TileRectangle<ADD>(w, A.target, A.wide - A.nnarrow, A.val, from, lane, S);
    }
  }
  if (A.nsum) {
    TileBarrier(A.meet, gridDim.x);
    for (int k = (int)warp; k < A.nlong; k += (int)warps) {
      SysScalar s = 0;

      for (int q = A.slot[k] + (int)lane; q < A.slot[k + 1]; q += SYS_WARP) s += __ldcg(A.sums + q);
      s = TileWarpSum(s);
      if (lane == 0) TileStore<ADD>(S, A.row[k], s);
    }
    SYS_FOR_EACH(k, A.nsum - A.nlong)
    {
      const int64_t r = A.nlong + k;
      SysScalar     s = 0;

      for (int q = A.slot[r]; q < A.slot[r + 1]; q++) s += __ldcg(A.sums + q);
      TileStore<ADD>(S, A.row[r], s);
    }
  }
}

SysStatus TileBlocks(int *blocks)
{
  int device, units, set, add;

  SYS_CUDA(cudaGetDevice(&device));
  SYS_CUDA(cudaDeviceGetAttribute(&units, cudaDevAttrMultiProcessorCount, device));
  SYS_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&set, TileMult<false>, TILE_THREADS, 0));
  SYS_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&add, TileMult<true>, TILE_THREADS, 0));
  *blocks = units * (set < add ? set : add);
  return SYS_SUCCESS;
}

SysStatus TileLaunch(const TileView *A, int blocks, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, cudaStream_t stream)
{
  TileView    view   = *A;
  TileStoreTo S      = {alpha, beta, y, z, A->sums};
  void       *args[] = {&view, &S, (void *)&x};

  SYS_CUDA(cudaLaunchCooperativeKernel(beta == 0 ? (const void *)TileMult<false> : (const void *)TileMult<true>, dim3((unsigned)blocks), dim3(TILE_THREADS), args, 0, stream));
  return SYS_SUCCESS;
}
