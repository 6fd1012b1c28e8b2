/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Panels of dense matrices on a CUDA device: rows from columns, and columns from rows. Blocks of TILE x 8 threads turn tiles of TILE x TILE numbers.
*/
#include "mat/impls/spmm/cuda/spmmcuda.cuh"

#define TILE   32
#define NARROW 4 /* vectors of a row of a panel of few columns */

int SpmmDevicePanelColumns(int64_t ncol, int *width)
{
  const int n = (int)(ncol < SPMM_DEVICE_WIDTH ? ncol : SPMM_DEVICE_WIDTH);

  for (*width = SPMM_VECTOR; *width < n; *width *= 2) { }
  return n;
}

static __global__ void SpmmPackTiles(int64_t n, const int *__restrict__ list, int ncol, int width, const SysReal *__restrict__ columns, int64_t ld, SysReal *__restrict__ panel)
{
  __shared__ SysReal tile[TILE][TILE + 1];
  const int64_t      r0 = (int64_t)blockIdx.x * TILE;
  const int          c0 = (int)blockIdx.y * TILE, x = (int)threadIdx.x;
  const int64_t      r = list && r0 + x < n ? list[r0 + x] : r0 + x;

  for (int y = (int)threadIdx.y; y < TILE; y += (int)blockDim.y) {
    if (c0 + y < width) tile[y][x] = r0 + x < n && c0 + y < ncol ? columns[(c0 + y) * ld + r] : (SysReal)0;
  }
  __syncthreads();
  for (int y = (int)threadIdx.y; y < TILE; y += (int)blockDim.y) {
    if (r0 + y < n && c0 + x < width) panel[(r0 + y) * width + c0 + x] = tile[x][y];
  }
}

/* A panel of few columns: a thread makes a vector of 16 bytes */
static __global__ void __launch_bounds__(SYS_THREADS) SpmmPackVectors(int64_t n, const int *__restrict__ list, int ncol, int vectors, const SysReal *__restrict__ columns, int64_t ld, SysReal *__restrict__ panel)
{
  const int64_t k = (int64_t)blockIdx.x * SYS_THREADS + threadIdx.x, r = k / vectors;
  const int     c0 = (int)(k % vectors) * SPMM_VECTOR;

  if (r >= n) return;
  const int64_t from = list ? list[r] : r;

#pragma unroll
  for (int c = 0; c < SPMM_VECTOR; c++) panel[k * SPMM_VECTOR + c] = c0 + c < ncol ? columns[(c0 + c) * ld + from] : (SysReal)0;
}

static __global__ void SpmmUnpackTiles(int64_t n, int ncol, int width, const SysReal *__restrict__ panel, const int *__restrict__ first, const SysReal *__restrict__ more, SysReal *__restrict__ columns, int64_t ld)
{
  __shared__ SysReal tile[TILE][TILE + 1];
  const int64_t      r0 = (int64_t)blockIdx.x * TILE;
  const int          c0 = (int)blockIdx.y * TILE, x = (int)threadIdx.x;

  for (int y = (int)threadIdx.y; y < TILE; y += (int)blockDim.y) {
    const int64_t r = r0 + y;

    if (r < n && c0 + x < ncol) {
      SysReal sum = panel[r * width + c0 + x];

      for (int k = first ? first[r] : 0; first && k < first[r + 1]; k++) sum += more[(int64_t)k * width + c0 + x];
      tile[y][x] = sum;
    }
  }
  __syncthreads();
  for (int y = (int)threadIdx.y; y < TILE; y += (int)blockDim.y) {
    if (r0 + x < n && c0 + y < ncol) columns[(c0 + y) * ld + r0 + x] = tile[x][y];
  }
}

SysStatus SpmmPackRows(int64_t n, const int *list, int ncol, int width, const SysReal *columns, int64_t ld, SysReal *panel, cudaStream_t stream)
{
  const int vectors = width / SPMM_VECTOR;

  if (!n) return SYS_SUCCESS;
  if (vectors <= NARROW) SpmmPackVectors<<<SysBlocks(n * vectors), SYS_THREADS, 0, stream>>>(n, list, ncol, vectors, columns, ld, panel);
  else SpmmPackTiles<<<dim3(SysBlocks(n, TILE), SysBlocks(width, TILE)), dim3(TILE, 8), 0, stream>>>(n, list, ncol, width, columns, ld, panel);
  SYS_CUDA(cudaPeekAtLastError());
  return SYS_SUCCESS;
}

SysStatus SpmmDevicePack(int64_t n, int ncol, int width, const SysReal *columns, int64_t ld, SysReal *panel, SysStream stream)
{
  return SpmmPackRows(n, NULL, ncol, width, columns, ld, panel, stream);
}

SysStatus SpmmDeviceUnpack(int64_t n, int ncol, int width, const SysReal *panel, const int *first, const SysReal *more, SysReal *columns, int64_t ld, SysStream stream)
{
  if (!n) return SYS_SUCCESS;
  SpmmUnpackTiles<<<dim3(SysBlocks(n, TILE), SysBlocks(ncol, TILE)), dim3(TILE, 8), 0, stream>>>(n, ncol, width, panel, first, more, columns, ld);
  SYS_CUDA(cudaPeekAtLastError());
  return SYS_SUCCESS;
}
