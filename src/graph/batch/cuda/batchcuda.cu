/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Products of a batch on a CUDA device.

   By rows: a group of lanes computes some columns of a row of C, each lane one or more vectors of up to 16 bytes. Rows and columns are distributed
   over all thread blocks regardless of matrices, so a batch of few matrices fills the device too.

   By atomics: a group of lanes handles an entry of a matrix and adds to rows of C in shared memory. A thread block has a matrix, or some columns of
   its result if they do not all fit or there are fewer matrices than multiprocessors. If not even a few columns fit, the atomics go to C.

   batchhost.h has the idea.
*/
#include <new>
#include <vector>

#include "sys/syscuda.cuh"
#include "graph/batch/cuda/batchcuda.h"

#define BATCH_LANES_MOST   SYS_WARP
#define BATCH_THREADS_MANY 4096       /* threads a multiprocessor: twice the resident ones */
#define BATCH_SHARED_MOST  (64 << 10) /* most bytes of a block's sums; with more too few blocks are resident */
#define BATCH_PARTS_MOST   65535      /* parts of the columns: a limit of the grid */
#define BATCH_VECTOR_BYTES 16

struct _BatchDevice {
  int64_t  m, nz, nmat, most; /* most: rows of the largest matrix */
  int     *i, *j, *row, *first;
  SysReal *a;
  char    *memory;
  int      multiprocessors, early; /* early: the device supports programmatic dependent launch */
  bool     atomic;                 /* row and first exist */
};

SysStatus BatchDeviceCreate(const SysCSR *A, int64_t nmat, const SysInt first[], BatchDevice **B, SysStream stream)
{
  std::vector<int> row;
  SysArena         arena = {NULL, 0};
  BatchDevice     *b     = new (std::nothrow) BatchDevice();
  int              device;

  if (!b) return SYS_OUT_OF_MEMORY;
  *B        = b;
  b->m      = A->m;
  b->nz     = A->nz;
  b->nmat   = nmat;
  b->atomic = first != NULL;
  SYS_CUDA(cudaGetDevice(&device));
  SYS_CUDA(cudaDeviceGetAttribute(&b->multiprocessors, cudaDevAttrMultiProcessorCount, device));
  b->early = SysStartsEarly();
  if (first) {
    row.reserve((size_t)A->nz);
    for (int64_t r = 0; r < A->m; r++) row.insert(row.end(), (size_t)(A->i[r + 1] - A->i[r]), (int)r);
    for (int64_t k = 0; k < nmat; k++) b->most = first[k + 1] - first[k] > b->most ? first[k + 1] - first[k] : b->most;
  }
  for (int pass = 0; pass < 2; pass++) {
    if (pass) SYS_CALL(SysArenaAllocate(&arena));
    SysArenaTake(&arena, &b->i, (size_t)A->m + 1);
    SysArenaTake(&arena, &b->j, (size_t)A->nz);
    SysArenaTake(&arena, &b->a, (size_t)A->nz);
    SysArenaTake(&arena, &b->row, row.size());
    SysArenaTake(&arena, &b->first, first ? (size_t)nmat + 1 : 0);
    if (pass) b->memory = arena.memory;
  }
  SYS_CUDA(cudaMemcpyAsync(b->i, A->i, ((size_t)A->m + 1) * sizeof(int), cudaMemcpyHostToDevice, stream));
  if (A->nz) SYS_CUDA(cudaMemcpyAsync(b->j, A->j, (size_t)A->nz * sizeof(int), cudaMemcpyHostToDevice, stream));
  if (!row.empty()) SYS_CUDA(cudaMemcpyAsync(b->row, row.data(), row.size() * sizeof(int), cudaMemcpyHostToDevice, stream));
  if (first) SYS_CUDA(cudaMemcpyAsync(b->first, first, ((size_t)nmat + 1) * sizeof(int), cudaMemcpyHostToDevice, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  return SYS_SUCCESS;
}

void BatchDeviceDestroy(BatchDevice **B)
{
  if (!*B) return;
  (void)cudaFree((*B)->memory);
  delete *B;
  *B = NULL;
}

SysStatus BatchDeviceSetValues(BatchDevice *B, const SysReal a[], const SysInt position[], SysStream stream)
{
  std::vector<SysReal> gathered;

  if (!B->nz) return SYS_SUCCESS;
  if (position) {
    gathered.reserve((size_t)B->nz);
    for (int64_t k = 0; k < B->nz; k++) gathered.push_back(a[position[k]]);
  }
  SYS_CUDA(cudaMemcpyAsync(B->a, position ? gathered.data() : a, (size_t)B->nz * sizeof(SysReal), cudaMemcpyHostToDevice, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  return SYS_SUCCESS;
}

/* ------------------------------------------------- rows ------------------------------------------------- */

template <int N>
struct alignas(N * sizeof(SysReal)) BatchVector {
  SysReal x[N];
};

/* stride: vectors of a row. A lane's columns are VECTORS vectors, LANES apart, so that a group's loads are coalesced. A thread block computes the
   same columns of some rows, each group `steps` rows: a matrix's rows refer to the same rows of D, which then hit the first-level cache. */
/* The kernel may start before its predecessor in the stream ends (programmatic dependent launch), which saves a fifth of a small product's time. It
   may read the batch at once: only copies write the batch, and they end before any later kernel starts. It waits here before it reads D or writes C. */
static __device__ inline void BatchWait()
{
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
  cudaGridDependencySynchronize();
#endif
}

template <typename T>
static __device__ inline void BatchPrefetch(const T *p)
{
  asm volatile("prefetch.global.L1 [%0];" ::"l"(p));
}

template <int N, int LANES, int VECTORS>
static __global__ void __launch_bounds__(SYS_THREADS) BatchRows(int64_t m, int64_t nz, int steps, const int *__restrict__ i, const int *__restrict__ j, const SysReal *__restrict__ a, int add, int64_t stride, const BatchVector<N> *__restrict__ D, BatchVector<N> *__restrict__ C)
{
  constexpr int ENTRIES = 4; /* that are loaded together */
  constexpr int groups  = SYS_THREADS / LANES;
  const int64_t c = (int64_t)blockIdx.y * (LANES * VECTORS) + threadIdx.x % LANES, r0 = (int64_t)blockIdx.x * groups * steps, r1 = r0 + groups * steps < m ? r0 + groups * steps : m;

  if (r0 + threadIdx.x / LANES < r1) {
    const int k = i[r0 + threadIdx.x / LANES];

    if (k < nz) {
      BatchPrefetch(j + k);
      BatchPrefetch(a + k);
    }
  }
  BatchWait();
  if (c >= stride) return;
  for (int64_t r = r0 + threadIdx.x / LANES; r < r1; r += groups) {
    const int      k0 = i[r], k1 = i[r + 1];
    BatchVector<N> sum[VECTORS];

#pragma unroll
    for (int v = 0; v < VECTORS; v++) {
      if (add && c + v * LANES < stride) sum[v] = C[r * stride + c + v * LANES];
      else {
#pragma unroll
        for (int n = 0; n < N; n++) sum[v].x[n] = 0;
      }
    }
    for (int k = k0; k < k1; k += ENTRIES) {
      int            column[ENTRIES];
      SysReal        value[ENTRIES];
      BatchVector<N> d[ENTRIES][VECTORS];

#pragma unroll
      for (int e = 0; e < ENTRIES; e++) {
        column[e] = k + e < k1 ? j[k + e] : -1;
        value[e]  = k + e < k1 ? a[k + e] : (SysReal)0;
      }
#pragma unroll
      for (int e = 0; e < ENTRIES; e++) {
#pragma unroll
        for (int v = 0; v < VECTORS; v++) {
          if (column[e] >= 0 && c + v * LANES < stride) d[e][v] = D[column[e] * stride + c + v * LANES];
        }
      }
#pragma unroll
      for (int e = 0; e < ENTRIES; e++) {
        if (column[e] < 0) continue; /* no padding: a NaN does not spread */
#pragma unroll
        for (int v = 0; v < VECTORS; v++) {
#pragma unroll
          for (int n = 0; n < N; n++) sum[v].x[n] = fma(value[e], d[e][v].x[n], sum[v].x[n]);
        }
      }
    }
#pragma unroll
    for (int v = 0; v < VECTORS; v++) {
      if (c + v * LANES < stride) C[r * stride + c + v * LANES] = sum[v];
    }
  }
}

template <int N, int LANES, int VECTORS>
static SysStatus BatchLaunch(const BatchDevice *B, int steps, int add, int64_t stride, const SysReal *D, SysReal *C, cudaStream_t stream)
{
  const int64_t parts = (stride + LANES * VECTORS - 1) / (LANES * VECTORS);
  const dim3    grid(SysBlocks(B->m, (int64_t)SYS_THREADS / LANES * steps), (unsigned)parts);

  if (parts > BATCH_PARTS_MOST) return SYS_TOO_LARGE;
  return SysLaunchEarly(BatchRows<N, LANES, VECTORS>, grid, SYS_THREADS, stream, B->early, B->m, B->nz, steps, (const int *)B->i, (const int *)B->j, (const SysReal *)B->a, add, stride, (const BatchVector<N> *)D, (BatchVector<N> *)C);
}

/* One lane a vector of a row, up to a warp, then two vectors a lane. A group takes several rows if the device has enough threads anyway. */
template <int N>
static SysStatus BatchVectors(const BatchDevice *B, int add, int64_t width, const SysReal *D, SysReal *C, cudaStream_t stream)
{
  const int64_t stride = width / N;
  const int     steps  = B->m * stride > (int64_t)B->multiprocessors * BATCH_THREADS_MANY ? 4 : 1;

  if (stride <= 1) return BatchLaunch<N, 1, 1>(B, 1, add, stride, D, C, stream);
  if (stride <= 2) return BatchLaunch<N, 2, 1>(B, 1, add, stride, D, C, stream);
  if (stride <= 4) return BatchLaunch<N, 4, 1>(B, 1, add, stride, D, C, stream);
  if (stride <= 8) return BatchLaunch<N, 8, 1>(B, 1, add, stride, D, C, stream);
  if (stride <= 16) return BatchLaunch<N, 16, 1>(B, 1, add, stride, D, C, stream);
  if (stride <= 32) return BatchLaunch<N, BATCH_LANES_MOST, 1>(B, steps, add, stride, D, C, stream);
  return BatchLaunch<N, BATCH_LANES_MOST, 2>(B, steps, add, stride, D, C, stream);
}

static bool BatchAligned(int64_t width, const SysReal *D, const SysReal *C, size_t bytes)
{
  return width * sizeof(SysReal) % bytes == 0 && ((size_t)D | (size_t)C) % bytes == 0;
}

SysStatus BatchDeviceMult(const BatchDevice *B, int add, int64_t width, const SysReal *D, SysReal *C, SysStream stream)
{
  if (!B->m || !width) return SYS_SUCCESS;
  if (BatchAligned(width, D, C, BATCH_VECTOR_BYTES)) return BatchVectors<BATCH_VECTOR_BYTES / (int)sizeof(SysReal)>(B, add, width, D, C, stream);
#if defined(SYS_SINGLE)
  if (BatchAligned(width, D, C, 8)) return BatchVectors<2>(B, add, width, D, C, stream);
#endif
  return BatchVectors<1>(B, add, width, D, C, stream);
}

/* ------------------------------------------------- atomic operations ------------------------------------------------- */

/* Computes columns c0 to c0 + part - 1 of a matrix's result in shared memory */
static __global__ void __launch_bounds__(SYS_THREADS) BatchShared(int lanes, const int *__restrict__ first, const int *__restrict__ i, const int *__restrict__ j, const int *__restrict__ row, const SysReal *__restrict__ a, int64_t width, int part, const SysReal *__restrict__ D, SysReal *__restrict__ C)
{
  extern __shared__ __align__(16) unsigned char memory[];
  SysReal                                      *sums = (SysReal *)memory;
  const int                                     r0 = first[blockIdx.x], r1 = first[blockIdx.x + 1], lane = (int)threadIdx.x % lanes, groups = SYS_THREADS / lanes;
  const int64_t                                 c0      = (int64_t)blockIdx.y * part;
  const int                                     columns = (int)(width - c0 < part ? width - c0 : part), size = (r1 - r0) * columns;

  for (int t = (int)threadIdx.x; t < size; t += SYS_THREADS) sums[t] = 0;
  __syncthreads();
  for (int k = i[r0] + (int)threadIdx.x / lanes; k < i[r1]; k += groups) {
    const SysReal *d     = D + j[k] * width + c0;
    const SysReal  value = a[k];

    for (int c = lane; c < columns; c += lanes) atomicAdd(&sums[(row[k] - r0) * columns + c], value * d[c]);
  }
  __syncthreads();
  for (int t = (int)threadIdx.x; t < size; t += SYS_THREADS) C[(r0 + t / columns) * width + c0 + t % columns] = sums[t];
}

static __global__ void __launch_bounds__(SYS_THREADS) BatchGlobal(int lanes, int64_t nz, const int *__restrict__ j, const int *__restrict__ row, const SysReal *__restrict__ a, int64_t width, const SysReal *__restrict__ D, SysReal *__restrict__ C)
{
  const int     lane = (int)threadIdx.x % lanes;
  const int64_t k    = ((int64_t)blockIdx.x * SYS_THREADS + threadIdx.x) / lanes;

  if (k >= nz) return;
  for (int64_t c = lane; c < width; c += lanes) atomicAdd(&C[row[k] * width + c], a[k] * D[j[k] * width + c]);
}

SysStatus BatchDeviceMultAtomic(const BatchDevice *B, int64_t width, const SysReal *D, SysReal *C, SysStream stream)
{
  const int64_t row   = B->most * (int64_t)sizeof(SysReal);
  int64_t       part  = width;
  int           lanes = 1;

  if (!B->atomic) return SysDeviceError("a batch without rows of entries has no products by atomic operations");
  if (!B->m || !width) return SYS_SUCCESS;
  while (lanes < BATCH_LANES_MOST && lanes < width) lanes *= 2;
  while (part > BATCH_LANES_MOST && (row * part > BATCH_SHARED_MOST || B->nmat * ((width + part - 1) / part) < B->multiprocessors)) part = (part / 2 + BATCH_LANES_MOST - 1) / BATCH_LANES_MOST * BATCH_LANES_MOST;
  if (row * part <= BATCH_SHARED_MOST && (width + part - 1) / part <= BATCH_PARTS_MOST) {
    const size_t shared = (size_t)(row * part);

    if (shared > 48 << 10) SYS_CUDA(cudaFuncSetAttribute((const void *)BatchShared, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared));
    BatchShared<<<dim3((unsigned)B->nmat, SysBlocks(width, part)), SYS_THREADS, shared, stream>>>(lanes, B->first, B->i, B->j, B->row, B->a, width, (int)part, D, C);
  } else {
    SYS_CUDA(cudaMemsetAsync(C, 0, (size_t)(B->m * width) * sizeof(SysReal), stream));
    if (B->nz) BatchGlobal<<<SysBlocks(B->nz * lanes), SYS_THREADS, 0, stream>>>(lanes, B->nz, B->j, B->row, B->a, width, D, C);
  }
  SYS_CUDA(cudaPeekAtLastError());
  return SYS_SUCCESS;
}

/* The rectifier between a network's layers, and its derivative */

static __global__ void Rectify(int64_t n, SysReal *h)
{
  SYS_FOR_EACH(k, n)
  {
    if (h[k] < 0) h[k] = 0;
  }
}

static __global__ void RectifyBackward(int64_t n, const SysReal *__restrict__ h, SysReal *__restrict__ d)
{
  SYS_FOR_EACH(k, n)
  {
    if (!(h[k] > 0)) d[k] = 0;
  }
}

SysStatus BatchDeviceRectify(int64_t n, SysReal h[], SysStream stream)
{
  return SysLaunch(Rectify, SysBlocksLoop(n), SYS_THREADS, 0, stream, n, h);
}

SysStatus BatchDeviceRectifyBackward(int64_t n, const SysReal h[], SysReal d[], SysStream stream)
{
  return SysLaunch(RectifyBackward, SysBlocksLoop(n), SYS_THREADS, 0, stream, n, h, d);
}
