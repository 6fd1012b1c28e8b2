/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Products of a sparse and a dense matrix on a CUDA device.

   A group of lanes makes a row of the product, each lane a vector of 16 bytes of it. A block of threads makes BLOCK_ROWS rows, which go through shared memory to
   the columns of the result. Rows with more than LONG entries are cut into parts: each part is summed up by a group of its own, and the row adds up its parts.
*/
#include <cstdlib>
#include <new>
#include <vector>

#include "sys/syscuda.cuh"
#include "mat/impls/spmm/cuda/spmmcuda.h"

#define BLOCK_ROWS 32   /* rows of a block of threads */
#define LONG       1024 /* entries of a row that is not cut, at most */
#define PART       512  /* entries of a part */
#define VECTOR     (16 / (int)sizeof(SysReal))

#if defined(SYS_SINGLE)
typedef float4 SpmmVector;
#else
typedef double2 SpmmVector;
#endif

struct _SpmmDevice {
  int64_t  nlong, npart;
  int     *row, *first; /* of each long row: its number, and its first part; nlong + 1 of the latter */
  int     *begin;       /* of each part: its first entry, and behind its last one */
  int     *end;
  SysReal *sums; /* SPMM_DEVICE_WIDTH for each part */
  char    *memory;
};

SysStatus SpmmDeviceCreate(const SysCSR *A, const SysInt *rows, SpmmDevice **S, SysStream stream)
{
  std::vector<int> row, first, begin, end;
  SysArena         arena = {NULL, 0};
  SpmmDevice      *s     = new (std::nothrow) SpmmDevice();

  if (!s) return SYS_OUT_OF_MEMORY;
  *S = s;
  for (int64_t r = 0; r < A->m; r++) {
    if (rows[r + 1] - rows[r] <= LONG) continue;
    row.push_back((int)r);
    first.push_back((int)begin.size());
    for (int k = rows[r]; k < rows[r + 1]; k += PART) {
      begin.push_back(k);
      end.push_back(k + PART < rows[r + 1] ? k + PART : rows[r + 1]);
    }
  }
  first.push_back((int)begin.size());
  s->nlong = (int64_t)row.size();
  s->npart = (int64_t)begin.size();
  for (int pass = 0; pass < 2; pass++) {
    if (pass) SYS_CALL(SysArenaAllocate(&arena));
    SysArenaTake(&arena, &s->row, row.size());
    SysArenaTake(&arena, &s->first, first.size());
    SysArenaTake(&arena, &s->begin, begin.size());
    SysArenaTake(&arena, &s->end, end.size());
    SysArenaTake(&arena, &s->sums, begin.size() * SPMM_DEVICE_WIDTH);
    if (pass) s->memory = arena.memory;
  }
  SYS_CUDA(cudaMemcpyAsync(s->first, first.data(), first.size() * sizeof(int), cudaMemcpyHostToDevice, stream));
  if (s->nlong) {
    SYS_CUDA(cudaMemcpyAsync(s->row, row.data(), row.size() * sizeof(int), cudaMemcpyHostToDevice, stream));
    SYS_CUDA(cudaMemcpyAsync(s->begin, begin.data(), begin.size() * sizeof(int), cudaMemcpyHostToDevice, stream));
    SYS_CUDA(cudaMemcpyAsync(s->end, end.data(), end.size() * sizeof(int), cudaMemcpyHostToDevice, stream));
  }
  SYS_CUDA(cudaStreamSynchronize(stream));
  return SYS_SUCCESS;
}

void SpmmDeviceDestroy(SpmmDevice **S)
{
  if (!*S) return;
  (void)cudaFree((*S)->memory);
  delete *S;
  *S = NULL;
}

int SpmmDevicePanelColumns(int64_t ncol, int *width)
{
  const int n = (int)(ncol < SPMM_DEVICE_WIDTH ? ncol : SPMM_DEVICE_WIDTH);

  for (*width = VECTOR; *width < n; *width *= 2) { }
  return n;
}

/* ------------------------------------------------- packing ------------------------------------------------- */

#define TILE 32

/* Blocks of TILE x 8 threads turn tiles of TILE x TILE numbers */
static __global__ void SpmmPackTiles(int64_t n, int ncol, int width, const SysReal *__restrict__ columns, int64_t ld, SysReal *__restrict__ panel)
{
  __shared__ SysReal tile[TILE][TILE + 1];
  const int64_t      r0 = (int64_t)blockIdx.x * TILE;
  const int          c0 = (int)blockIdx.y * TILE, x = (int)threadIdx.x;

  for (int y = (int)threadIdx.y; y < TILE; y += (int)blockDim.y) {
    if (c0 + y < width) tile[y][x] = r0 + x < n && c0 + y < ncol ? columns[(c0 + y) * ld + r0 + x] : (SysReal)0;
  }
  __syncthreads();
  for (int y = (int)threadIdx.y; y < TILE; y += (int)blockDim.y) {
    if (r0 + y < n && c0 + x < width) panel[(r0 + y) * width + c0 + x] = tile[x][y];
  }
}

SysStatus SpmmDevicePack(int64_t n, int ncol, int width, const SysReal *columns, int64_t ld, SysReal *panel, SysStream stream)
{
  if (!n) return SYS_SUCCESS;
  SpmmPackTiles<<<dim3(SysBlocks(n, TILE), SysBlocks(width, TILE)), dim3(TILE, 8), 0, stream>>>(n, ncol, width, columns, ld, panel);
  SYS_CUDA(cudaPeekAtLastError());
  return SYS_SUCCESS;
}

/* ------------------------------------------------- products ------------------------------------------------- */

static __device__ inline SpmmVector SpmmZero()
{
#if defined(SYS_SINGLE)
  return make_float4(0, 0, 0, 0);
#else
  return make_double2(0, 0);
#endif
}

static __device__ inline void SpmmAdd(SpmmVector &sum, SysReal a, const SpmmVector &d)
{
  sum.x = fma(a, d.x, sum.x);
  sum.y = fma(a, d.y, sum.y);
#if defined(SYS_SINGLE)
  sum.z = fma(a, d.z, sum.z);
  sum.w = fma(a, d.w, sum.w);
#endif
}

/* The sum of entries k0 to k1 - 1, by LANES lanes of a warp; the other lanes of the warp need not be here */
template <int LANES>
static __device__ inline SpmmVector SpmmSum(int k0, int k1, const int *__restrict__ j, const SysReal *__restrict__ a, const SpmmVector *__restrict__ panel, int lane, unsigned group)
{
  SpmmVector sum = SpmmZero();
  int        k   = k0;

  for (; k + LANES <= k1; k += LANES) {
    const int     column = j[k + lane];
    const SysReal value  = a[k + lane];

#pragma unroll
    for (int e = 0; e < LANES; e++) SpmmAdd(sum, __shfl_sync(group, value, e, LANES), __ldg(&panel[(int64_t)__shfl_sync(group, column, e, LANES) * LANES + lane]));
  }
  if (k < k1) {
    const int     column = k + lane < k1 ? j[k + lane] : 0;
    const SysReal value  = k + lane < k1 ? a[k + lane] : (SysReal)0;

    for (int e = 0; e < k1 - k; e++) SpmmAdd(sum, __shfl_sync(group, value, e, LANES), __ldg(&panel[(int64_t)__shfl_sync(group, column, e, LANES) * LANES + lane]));
  }
  return sum;
}

template <int LANES>
static __device__ inline unsigned SpmmGroup()
{
  return LANES == SYS_WARP ? SYS_ALL_LANES : ((1u << (LANES % SYS_WARP)) - 1) << (threadIdx.x % SYS_WARP / LANES * LANES);
}

template <int LANES>
static __global__ void __launch_bounds__(SYS_THREADS) SpmmParts(int64_t npart, const int *begin, const int *end, const int *__restrict__ j, const SysReal *__restrict__ a, const SpmmVector *__restrict__ panel, SpmmVector *__restrict__ sums)
{
  const int     lane = (int)threadIdx.x % LANES;
  const int64_t p    = ((int64_t)blockIdx.x * SYS_THREADS + threadIdx.x) / LANES;

  if (p < npart) sums[p * LANES + lane] = SpmmSum<LANES>(begin[p], end[p], j, a, panel, lane, SpmmGroup<LANES>());
}

template <int LANES>
static __global__ void __launch_bounds__(SYS_THREADS) SpmmRows(int64_t m, const int *__restrict__ i, const int *__restrict__ j, const SysReal *__restrict__ a, const SpmmVector *__restrict__ panel, int64_t nlong, const int *__restrict__ longrow, const int *__restrict__ first, const SpmmVector *__restrict__ sums, int ncol, SysReal *__restrict__ C, int64_t ld)
{
  __shared__ SysReal tile[LANES * VECTOR][BLOCK_ROWS + 1];
  const int          lane = (int)threadIdx.x % LANES, width = LANES * VECTOR;
  const int64_t      r0 = (int64_t)blockIdx.x * BLOCK_ROWS;

  for (int y = (int)threadIdx.x / LANES; y < BLOCK_ROWS; y += SYS_THREADS / LANES) {
    const int64_t r   = r0 + y;
    SpmmVector    sum = SpmmZero();

    if (r < m) {
      const int k0 = i[r], k1 = i[r + 1];

      if (k1 - k0 <= LONG) sum = SpmmSum<LANES>(k0, k1, j, a, panel, lane, SpmmGroup<LANES>());
      else {
        const int64_t l = SysCountLess(longrow, (int)nlong, (int)r);

        for (int p = first[l]; p < first[l + 1]; p++) SpmmAdd(sum, 1, sums[(int64_t)p * LANES + lane]);
      }
    }
    tile[lane * VECTOR][y]     = sum.x;
    tile[lane * VECTOR + 1][y] = sum.y;
#if defined(SYS_SINGLE)
    tile[lane * VECTOR + 2][y] = sum.z;
    tile[lane * VECTOR + 3][y] = sum.w;
#endif
  }
  __syncthreads();
  for (int t = (int)threadIdx.x; t < width * BLOCK_ROWS; t += SYS_THREADS) {
    const int c = t / BLOCK_ROWS, y = t % BLOCK_ROWS;

    if (c < ncol && r0 + y < m) C[c * ld + r0 + y] = tile[c][y];
  }
}

template <int LANES>
static SysStatus SpmmLaunch(const SpmmDevice *s, const SysCSR *A, int ncol, const SpmmVector *panel, SysReal *C, int64_t ld, cudaStream_t stream)
{
  if (s->npart) SpmmParts<LANES><<<SysBlocks(s->npart * LANES), SYS_THREADS, 0, stream>>>(s->npart, s->begin, s->end, A->j, A->a, panel, (SpmmVector *)s->sums);
  if (A->m) SpmmRows<LANES><<<SysBlocks(A->m, BLOCK_ROWS), SYS_THREADS, 0, stream>>>(A->m, A->i, A->j, A->a, panel, s->nlong, s->row, s->first, (const SpmmVector *)s->sums, ncol, C, ld);
  SYS_CUDA(cudaPeekAtLastError());
  return SYS_SUCCESS;
}

SysStatus SpmmDeviceMult(const SpmmDevice *s, const SysCSR *A, int ncol, int width, const SysReal *panel, SysReal *C, int64_t ld, SysStream stream)
{
  const SpmmVector *rows = (const SpmmVector *)panel;

  switch (width / VECTOR) {
  case 1:
    return SpmmLaunch<1>(s, A, ncol, rows, C, ld, stream);
  case 2:
    return SpmmLaunch<2>(s, A, ncol, rows, C, ld, stream);
  case 4:
    return SpmmLaunch<4>(s, A, ncol, rows, C, ld, stream);
  case 8:
    return SpmmLaunch<8>(s, A, ncol, rows, C, ld, stream);
  case 16:
    return SpmmLaunch<16>(s, A, ncol, rows, C, ld, stream);
  default:
    return SpmmLaunch<32>(s, A, ncol, rows, C, ld, stream);
  }
}
