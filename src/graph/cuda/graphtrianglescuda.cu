/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Triangles of a graph. Each edge is stored once, directed from the vertex with fewer neighbours. So each triangle counts once, at its first vertex u,
   as an edge between two of u's successors. A hash table has u's successors, and the kernel looks up the edges that leave them.

   Source: T. Schank, D. Wagner, Finding, Counting and Listing All Triangles in Large Graphs, WEA 2005.
*/
#include "sys/syscub.cuh"
#include "sys/syscuda.cuh"
#include "graph/cuda/graphcuda.h"

#define TRIANGLES_LANES      8     /* threads that look up a vertex's edges */
#define TRIANGLES_WARP_ROW   128   /* most entries of a row for a warp; a block handles longer ones */
#define TRIANGLES_WARP_SLOTS 256   /* slots of a warp's table: a power of 2 of at least 2 TRIANGLES_WARP_ROW */
#define TRIANGLES_BLOCK_ROW  16384 /* most entries of a row in a block's table; longer rows are searched in place */
#define TRIANGLES_EMPTY      -1

typedef unsigned long long Key; /* an edge: its first vertex above its second */

struct Oriented {
  int        m;
  const int *i, *j;
};

/* Computes both ends of each entry, the lower first; loops sort after all edges */
static __global__ void __launch_bounds__(SYS_THREADS) TrianglesKeys(int m, int bits, const int *i, const int *j, Key *key)
{
  const int lane = (int)threadIdx.x % SYS_WARP;

  for (int64_t r = (blockIdx.x * (int64_t)blockDim.x + threadIdx.x) / SYS_WARP; r < m; r += gridDim.x * (int64_t)blockDim.x / SYS_WARP) {
    for (int64_t k = i[r] + (int64_t)lane; k < i[r + 1]; k += SYS_WARP) {
      const Key a = (Key)r, b = (Key)j[k];

      key[k] = a == b ? (Key)1 << 2 * bits : a < b ? a << bits | b : b << bits | a;
    }
  }
}

static __global__ void __launch_bounds__(SYS_THREADS) TrianglesDegrees(int64_t n, int bits, const Key *key, int *degree)
{
  SYS_FOR_EACH(k, n)
  {
    atomicAdd(&degree[key[k] >> bits], 1);
    atomicAdd(&degree[key[k] & (((Key)1 << bits) - 1)], 1);
  }
}

static __global__ void __launch_bounds__(SYS_THREADS) TrianglesOrient(int64_t n, int bits, const int *degree, Key *key)
{
  SYS_FOR_EACH(k, n)
  {
    const Key a = key[k] >> bits, b = key[k] & (((Key)1 << bits) - 1);

    if (degree[b] < degree[a]) key[k] = b << bits | a; /* of equal degrees the lower vertex stays first */
  }
}

static __global__ void __launch_bounds__(SYS_THREADS) TrianglesRows(int64_t n, int m, int bits, const Key *key, int *i, int *j)
{
  SYS_FOR_EACH(k, n) j[k]              = (int)(key[k] & (((Key)1 << bits) - 1));
  SYS_FOR_EACH(r, (int64_t)m + 1) i[r] = (int)SysCountLess(key, (Key)n, (Key)r << bits);
}

/* Lists the rows with two entries or more in list[m], short ones from the front, long ones from the back */
static __global__ void __launch_bounds__(SYS_THREADS) TrianglesList(Oriented U, int *list, int count[3])
{
  SYS_FOR_EACH(r, U.m)
  {
    const int n = U.i[r + 1] - U.i[r];

    if (n < 2) continue;
    if (n <= TRIANGLES_WARP_ROW) list[atomicAdd(&count[0], 1)] = (int)r;
    else {
      list[U.m - 1 - atomicAdd(&count[1], 1)] = (int)r;
      atomicMax(&count[2], n);
    }
  }
}

static __device__ __forceinline__ unsigned TrianglesSlot(int v, int slots)
{
  return ((unsigned)v * 0x9E3779B1u >> 7) & (unsigned)(slots - 1);
}

static __device__ __forceinline__ void TrianglesInsert(int v, int *table, int slots)
{
  for (unsigned s = TrianglesSlot(v, slots); atomicCAS(&table[s], TRIANGLES_EMPTY, v) != TRIANGLES_EMPTY; s = (s + 1) & (unsigned)(slots - 1))
    ;
}

static __device__ __forceinline__ int TrianglesFind(int v, const int *table, int slots)
{
  for (unsigned s = TrianglesSlot(v, slots);; s = (s + 1) & (unsigned)(slots - 1)) {
    if (table[s] == v) return 1;
    if (table[s] == TRIANGLES_EMPTY) return 0;
  }
}

/* Returns the triangles of a row's vertex that this thread finds; threads work in groups of TRIANGLES_LANES. table is NULL if the row is too long. */
static __device__ __forceinline__ unsigned long long TrianglesRow(Oriented U, int r, int thread, int threads, const int *table, int slots)
{
  const int          first = U.i[r], n = U.i[r + 1] - first;
  unsigned long long found = 0;

  for (int k = thread / TRIANGLES_LANES; k < n; k += threads / TRIANGLES_LANES) {
    const int v = U.j[first + k], last = U.i[v + 1];

    for (int q = U.i[v] + thread % TRIANGLES_LANES; q < last; q += TRIANGLES_LANES) {
      const int w = U.j[q];

      if (table) found += (unsigned)TrianglesFind(w, table, slots);
      else {
        const int at = SysCountLess(U.j + first, n, w);

        found += at < n && U.j[first + at] == w;
      }
    }
  }
  return found;
}

static __device__ __forceinline__ void TrianglesAdd(unsigned long long found, unsigned long long *total)
{
  for (int d = SYS_WARP / 2; d; d /= 2) found += __shfl_xor_sync(SYS_ALL_LANES, found, d);
  if (threadIdx.x % SYS_WARP == 0 && found) atomicAdd(total, found);
}

static __global__ void __launch_bounds__(SYS_THREADS) TrianglesShort(Oriented U, int n, const int *list, unsigned long long *total)
{
  __shared__ int     tables[SYS_THREADS / SYS_WARP * TRIANGLES_WARP_SLOTS];
  const int          lane  = (int)threadIdx.x % SYS_WARP;
  int               *table = tables + threadIdx.x / SYS_WARP * TRIANGLES_WARP_SLOTS;
  unsigned long long found = 0;

  for (int64_t k = (blockIdx.x * (int64_t)blockDim.x + threadIdx.x) / SYS_WARP; k < n; k += gridDim.x * (int64_t)blockDim.x / SYS_WARP) {
    const int r = list[k], length = U.i[r + 1] - U.i[r], slots = length > 32 ? TRIANGLES_WARP_SLOTS : length > 8 ? 64 : 16;

    for (int s = lane; s < slots; s += SYS_WARP) table[s] = TRIANGLES_EMPTY;
    __syncwarp();
    for (int q = lane; q < length; q += SYS_WARP) TrianglesInsert(U.j[U.i[r] + q], table, slots);
    __syncwarp();
    found += TrianglesRow(U, r, lane, SYS_WARP, table, slots);
    __syncwarp();
  }
  TrianglesAdd(found, total);
}

static __global__ void __launch_bounds__(SYS_THREADS) TrianglesLong(Oriented U, int n, const int *list, int *next, unsigned long long *total)
{
  extern __shared__ int table[];
  __shared__ int        row;
  unsigned long long    found = 0;

  for (;;) {
    int r, length, slots = 4 * TRIANGLES_WARP_ROW;

    if (threadIdx.x == 0) row = atomicAdd(next, 1);
    __syncthreads();
    if (row >= n) break;
    r      = list[-row];
    length = U.i[r + 1] - U.i[r];
    while (slots < 2 * length) slots *= 2;
    if (length <= TRIANGLES_BLOCK_ROW) {
      for (int s = (int)threadIdx.x; s < slots; s += SYS_THREADS) table[s] = TRIANGLES_EMPTY;
      __syncthreads();
      for (int q = (int)threadIdx.x; q < length; q += SYS_THREADS) TrianglesInsert(U.j[U.i[r] + q], table, slots);
    }
    __syncthreads();
    found += TrianglesRow(U, r, (int)threadIdx.x, SYS_THREADS, length <= TRIANGLES_BLOCK_ROW ? table : NULL, slots);
    __syncthreads();
  }
  TrianglesAdd(found, total);
}

/* Sorts the keys and removes duplicates; *edges excludes loops */
static SysStatus TrianglesEdges(int64_t nz, int bits, Key *key[2], int64_t *edges, SysStream stream)
{
  SysScratch scratch;
  size_t     sort = 0, unique = 0;
  int64_t   *count;
  Key        last, *swap;

  SYS_CUDA(SysSortKeys(NULL, sort, key, (int)nz, 2 * bits + 1, stream));
  SYS_CUDA(SysUnique(NULL, unique, NULL, NULL, NULL, (int)nz, stream));
  SYS_CALL(SysDeviceAllocate(&scratch.memory, 256 + (sort > unique ? sort : unique)));
  count = (int64_t *)scratch.memory;
  SYS_CUDA(SysSortKeys(scratch.memory + 256, sort, key, (int)nz, 2 * bits + 1, stream));
  SYS_CUDA(SysUnique(scratch.memory + 256, unique, key[0], key[1], count, (int)nz, stream));
  swap   = key[0];
  key[0] = key[1];
  key[1] = swap;
  SYS_CUDA(cudaMemcpyAsync(edges, count, sizeof(*edges), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  SYS_CUDA(cudaMemcpyAsync(&last, key[0] + *edges - 1, sizeof(last), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  *edges -= (int64_t)(last >> 2 * bits);
  return SYS_SUCCESS;
}

/* Builds rows of the edges, each from the vertex with fewer neighbours. U->i and U->j reuse the memory of keys. */
static SysStatus TrianglesMake(int64_t n, int bits, Key *key[2], int *degree, Oriented *U, int *i, SysStream stream)
{
  SysScratch     scratch;
  size_t         sort   = 0;
  const unsigned blocks = SysBlocksLoop(n);
  int           *j;

  SYS_CUDA(cudaMemsetAsync(degree, 0, (size_t)U->m * sizeof(*degree), stream));
  SYS_CALL(SysLaunch(TrianglesDegrees, blocks, SYS_THREADS, 0, stream, n, bits, key[0], degree));
  SYS_CALL(SysLaunch(TrianglesOrient, blocks, SYS_THREADS, 0, stream, n, bits, degree, key[0]));
  SYS_CUDA(SysSortKeys(NULL, sort, key, (int)n, 2 * bits, stream));
  SYS_CALL(SysDeviceAllocate(&scratch.memory, sort));
  SYS_CUDA(SysSortKeys(scratch.memory, sort, key, (int)n, 2 * bits, stream));
  j = (int *)key[1];
  SYS_CALL(SysLaunch(TrianglesRows, SysBlocksLoop(n > U->m ? n : U->m + (int64_t)1), SYS_THREADS, 0, stream, n, U->m, bits, key[0], i, j));
  SYS_CUDA(cudaStreamSynchronize(stream)); /* the sort's memory is freed on return */
  U->i = i;
  U->j = j;
  return SYS_SUCCESS;
}

static SysStatus TrianglesFindAll(Oriented U, int *list, int *count, unsigned long long *total, int64_t *found, SysStream stream)
{
  int host[3], slots = 4 * TRIANGLES_WARP_ROW, processors, device;

  SYS_CUDA(cudaMemsetAsync(count, 0, 4 * sizeof(*count), stream));
  SYS_CUDA(cudaMemsetAsync(total, 0, sizeof(*total), stream));
  SYS_CALL(SysLaunch(TrianglesList, SysBlocksLoop(U.m), SYS_THREADS, 0, stream, U, list, count));
  SYS_CUDA(cudaMemcpyAsync(host, count, sizeof(host), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  SYS_CUDA(cudaGetDevice(&device));
  SYS_CUDA(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
  while (slots < 2 * host[2] && slots < 2 * TRIANGLES_BLOCK_ROW) slots *= 2;
  if (host[1]) SYS_CALL(SysLaunch(TrianglesLong, SysMin(host[1], 8 * (int64_t)processors), SYS_THREADS, (size_t)slots * sizeof(int), stream, U, host[1], (const int *)(list + U.m - 1), count + 3, total));
  SYS_CALL(SysLaunch(TrianglesShort, SysBlocksLoop((int64_t)host[0] * SYS_WARP), SYS_THREADS, 0, stream, U, host[0], (const int *)list, total));
  SYS_CUDA(cudaMemcpyAsync(found, total, sizeof(*found), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  return SYS_SUCCESS;
}

SysStatus GraphTrianglesCount(const SysCSR *A, int64_t *count, SysStream stream)
{
  const int           bits = SysBits(A->m - 1);
  const int64_t       m = A->m, nz = A->nz;
  SysScratch          keys, rest;
  SysArena            arena = {NULL, 0};
  Key                *key[2];
  int                *degree, *i, *list, *number;
  unsigned long long *total;
  int64_t             edges;
  Oriented            U = {(int)m, NULL, NULL};

  *count = 0;
  if (!nz) return SYS_SUCCESS;
  for (int pass = 0; pass < 2; pass++) {
    SysArenaTake(&arena, &degree, (size_t)m);
    SysArenaTake(&arena, &i, (size_t)m + 1);
    SysArenaTake(&arena, &list, (size_t)m);
    SysArenaTake(&arena, &number, 4);
    SysArenaTake(&arena, &total, 1);
    if (!pass) SYS_CALL(SysArenaAllocate(&arena));
    rest.memory = arena.memory;
  }
  SYS_CALL(SysDeviceAllocate(&keys.memory, 2 * (size_t)nz * sizeof(Key)));
  key[0] = (Key *)keys.memory;
  key[1] = key[0] + nz;
  SYS_CALL(SysLaunch(TrianglesKeys, SysBlocksLoop(m * SYS_WARP), SYS_THREADS, 0, stream, (int)m, bits, A->i, A->j, key[0]));
  SYS_CALL(TrianglesEdges(nz, bits, key, &edges, stream));
  if (!edges) return SYS_SUCCESS;
  SYS_CALL(TrianglesMake(edges, bits, key, degree, &U, i, stream));
  return TrianglesFindAll(U, list, number, total, count, stream);
}
