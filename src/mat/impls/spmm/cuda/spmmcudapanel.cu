/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Packing and unpacking of panels on a CUDA device. Blocks of SPMM_TRANSPOSE x 8 threads transpose tiles of SPMM_TRANSPOSE^2 numbers.

   spmmhost.h has the idea.
*/
#include "mat/impls/spmm/cuda/spmmcuda.cuh"

#define SPMM_TRANSPOSE    32
#define SPMM_PACK_VECTORS 4 /* vectors of a panel a thread, whose columns it loads together */

int SpmmDevicePanelColumns(int64_t ncol, int *width)
{
  const int n = (int)(ncol < SPMM_DEVICE_WIDTH ? ncol : SPMM_DEVICE_WIDTH);

  for (*width = SPMM_VECTOR_NUMBERS; *width < n; *width *= 2) { }
  return n;
}

/* A thread block reads all its rows of the columns before it writes, and transposes them in shared memory */
template <int VECTORS>
static __global__ void __launch_bounds__(SYS_THREADS) SpmmPack(int64_t n, int ncol, const SysReal *__restrict__ columns, int64_t ld, SpmmVector *__restrict__ panel)
{
  constexpr int         ROWS = SPMM_PACK_VECTORS * SYS_THREADS / VECTORS;
  __shared__ SpmmVector tile[SPMM_PACK_VECTORS * SYS_THREADS];
  const int64_t         r0 = (int64_t)blockIdx.x * ROWS;
  SpmmVector            x[SPMM_PACK_VECTORS];

#pragma unroll
  for (int s = 0; s < SPMM_PACK_VECTORS; s++) {
    const int at = (int)threadIdx.x + s * SYS_THREADS, q = at % ROWS;

    x[s] = SpmmGather(columns + r0 + q, ld, at / ROWS * SPMM_VECTOR_NUMBERS, r0 + q < n ? ncol - at / ROWS * SPMM_VECTOR_NUMBERS : 0);
  }
#pragma unroll
  for (int s = 0; s < SPMM_PACK_VECTORS; s++) {
    const int at = (int)threadIdx.x + s * SYS_THREADS;

    tile[SpmmSlot<VECTORS>(at % ROWS, at / ROWS)] = x[s];
  }
  __syncthreads();
#pragma unroll
  for (int s = 0; s < SPMM_PACK_VECTORS; s++) {
    const int at = (int)threadIdx.x + s * SYS_THREADS;

    if (r0 + at / VECTORS < n) panel[r0 * VECTORS + at] = tile[SpmmSlot<VECTORS>(at / VECTORS, at % VECTORS)];
  }
}

static __global__ void SpmmUnpackTiles(int64_t n, int ncol, int width, const SysReal *__restrict__ panel, const int *__restrict__ first, const SysReal *__restrict__ more, SysReal *__restrict__ columns, int64_t ld)
{
  __shared__ SysReal tile[SPMM_TRANSPOSE][SPMM_TRANSPOSE + 1];
  const int64_t      r0 = (int64_t)blockIdx.x * SPMM_TRANSPOSE;
  const int          c0 = (int)blockIdx.y * SPMM_TRANSPOSE, x = (int)threadIdx.x;

  for (int y = (int)threadIdx.y; y < SPMM_TRANSPOSE; y += (int)blockDim.y) {
    const int64_t r = r0 + y;

    if (r < n && c0 + x < ncol) {
      SysReal sum = panel[r * width + c0 + x];

      for (int k = first ? first[r] : 0; first && k < first[r + 1]; k++) sum += more[(int64_t)k * width + c0 + x];
      tile[y][x] = sum;
    }
  }
  __syncthreads();
  for (int y = (int)threadIdx.y; y < SPMM_TRANSPOSE; y += (int)blockDim.y) {
    if (r0 + x < n && c0 + y < ncol) columns[(c0 + y) * ld + r0 + x] = tile[x][y];
  }
}

template <int VECTORS>
static void SpmmPackLaunch(int64_t n, int ncol, const SysReal *columns, int64_t ld, SysReal *panel, cudaStream_t stream)
{
  SpmmPack<VECTORS><<<SysBlocks(n, SPMM_PACK_VECTORS * SYS_THREADS / VECTORS), SYS_THREADS, 0, stream>>>(n, ncol, columns, ld, (SpmmVector *)panel);
}

SysStatus SpmmDevicePack(int64_t n, int ncol, int width, const SysReal *columns, int64_t ld, SysReal *panel, SysStream stream)
{
  static void (*const launch[])(int64_t, int, const SysReal *, int64_t, SysReal *, cudaStream_t) = {SpmmPackLaunch<1>, SpmmPackLaunch<2>, SpmmPackLaunch<4>, SpmmPackLaunch<8>, SpmmPackLaunch<16>, SpmmPackLaunch<32>};
  int which                                                                                      = 0;

  if (!n) return SYS_SUCCESS;
  while (SPMM_VECTOR_NUMBERS << which < width) which++;
  launch[which](n, ncol, columns, ld, panel, stream);
  SYS_CUDA(cudaPeekAtLastError());
  return SYS_SUCCESS;
}

SysStatus SpmmDeviceUnpack(int64_t n, int ncol, int width, const SysReal *panel, const int *first, const SysReal *more, SysReal *columns, int64_t ld, SysStream stream)
{
  if (!n) return SYS_SUCCESS;
  SpmmUnpackTiles<<<dim3(SysBlocks(n, SPMM_TRANSPOSE), SysBlocks(ncol, SPMM_TRANSPOSE)), dim3(SPMM_TRANSPOSE, 8), 0, stream>>>(n, ncol, width, panel, first, more, columns, ld);
  SYS_CUDA(cudaPeekAtLastError());
  return SYS_SUCCESS;
}
