/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The passes over vectors that estimate the eigenvalues of D^-1 A on a CUDA device: of Arnoldi's method, and of conjugate gradients without their solution. The
   caller multiplies by A between them.

   The order of a sum depends on the number of entries alone: each thread block stores its own sum, and one thread block adds these up.
   With several processes the caller adds up the sums of all before the next pass, or gathers them on the device. No pass waits for the host.
*/
#include "ksp/pc/impls/gamg/cuda/aggcuda.cuh"

#define ESTIMATE_GRID  528 /* thread blocks, at most: a large GPU runs about as many at a time */
#define ESTIMATE_WARPS (SYS_THREADS / SYS_WARP)

/* ------------------------------------------------- sums ------------------------------------------------- */

/* Leaves the sums of a thread block */
template <int SUMS>
static __device__ inline void AggLeaveSums(const SysReal sum[SUMS], SysReal *partial)
{
  __shared__ SysReal all[SUMS][ESTIMATE_WARPS];
  const unsigned     lane = threadIdx.x % SYS_WARP, warp = threadIdx.x / SYS_WARP;

#pragma unroll
  for (int s = 0; s < SUMS; s++) {
    SysReal part = sum[s];

    for (unsigned d = SYS_WARP / 2; d; d /= 2) part += __shfl_xor_sync(SYS_ALL_LANES, part, d);
    if (lane == 0) all[s][warp] = part;
  }
  __syncthreads();
  if (threadIdx.x < SUMS) {
    SysReal part = 0;

    for (int w = 0; w < ESTIMATE_WARPS; w++) part += all[threadIdx.x][w];
    partial[SUMS * blockIdx.x + threadIdx.x] = part;
  }
}

/* One warp for each sum */
static __global__ void AggAddSumsKernel(int nsum, unsigned nblock, const SysReal *partial, SysReal *sum)
{
  const int      s    = (int)blockIdx.x;
  const unsigned lane = threadIdx.x;
  SysReal        part = 0;

  for (unsigned k = lane; k < nblock; k += SYS_WARP) part += partial[nsum * k + s];
  for (unsigned d = SYS_WARP / 2; d; d /= 2) part += __shfl_xor_sync(SYS_ALL_LANES, part, d);
  if (lane == 0) sum[s] = part;
}

static unsigned AggGrid(int64_t n)
{
  const int64_t blocks = SysBlocks(n);

  return (unsigned)(blocks < 1 ? 1 : blocks < ESTIMATE_GRID ? blocks : ESTIMATE_GRID);
}

static SysStatus AggAddSums(const AggEstimate *e, int nsum, cudaStream_t stream)
{
  SYS_CUDA(cudaGetLastError());
  AggAddSumsKernel<<<nsum, SYS_WARP, 0, stream>>>(nsum, AggGrid(e->n), e->partial, e->sum);
  SYS_CUDA(cudaGetLastError());
  return SYS_SUCCESS;
}

/* ------------------------------------------------- memory ------------------------------------------------- */

static void AggEstimateTake(SysArena *arena, AggEstimate *e, int vectors, int nproc)
{
  SysArenaTake(arena, &e->inverse, (size_t)e->n);
  SysArenaTake(arena, &e->v, (size_t)vectors * (size_t)e->stride);
  SysArenaTake(arena, &e->partial, (size_t)ESTIMATE_GRID * AGG_STEPS);
  SysArenaTake(arena, &e->sum, (size_t)AGG_STEPS);
  SysArenaTake(arena, &e->all, (size_t)AGG_STEPS * (size_t)nproc);
  SysArenaTake(arena, &e->scale, (size_t)AGG_STEPS + 1);
  SysArenaTake(arena, &e->h, (size_t)AGG_NUMBERS);
}

/* Jacobi's method takes 1 for zeros of the diagonal, and for entries that are missing */
static __global__ void AggInverseKernel(int64_t m, const int *i, const int *j, const SysScalar *a, SysReal *inverse)
{
  SYS_FOR_EACH(r, m)
  {
    SysScalar d = 0;

    for (int k = i[r]; k < i[r + 1]; k++) {
      if (j[k] == r) d = a[k];
    }
    inverse[r] = d != 0 ? 1 / d : 1;
  }
}

SysStatus AggEstimateCreate(const SysCSR *A, int vectors, int nproc, SysStream stream, AggEstimate *e)
{
  SysArena arena = {NULL, 0};

  e->n      = A->m;
  e->stride = (int64_t)SysPadded((size_t)A->m * sizeof(SysReal)) / (int64_t)sizeof(SysReal);
  AggEstimateTake(&arena, e, vectors, nproc);
  SYS_CALL(SysPoolAllocate(arena.used, &e->memory, stream));
  e->stream = stream;
  arena     = {(char *)e->memory, 0};
  AggEstimateTake(&arena, e, vectors, nproc);
  SYS_CUDA(cudaMemsetAsync(e->h, 0, AGG_NUMBERS * sizeof(*e->h), stream));
  SYS_CUDA(cudaMemsetAsync(e->sum, 0, AGG_STEPS * sizeof(*e->sum), stream)); /* a pass sets some of them, and all are exchanged */
  if (A->nz) AggInverseKernel<<<SysBlocksLoop(A->m), SYS_THREADS, 0, stream>>>(A->m, A->i, A->j, A->a, e->inverse);
  SYS_CUDA(cudaGetLastError());
  return SYS_SUCCESS;
}

void AggEstimateDestroy(AggEstimate *e)
{
  SysPoolRelease(e->memory, e->stream);
  e->memory = NULL;
}

SysStatus AggEstimateGetNumbers(const AggEstimate *e, SysReal h[], SysStream stream)
{
  SYS_CUDA(cudaMemcpyAsync(h, e->h, AGG_NUMBERS * sizeof(*h), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  return SYS_SUCCESS;
}

SysStatus AggEstimateGetSums(const AggEstimate *e, SysReal sum[], SysStream stream)
{
  SYS_CUDA(cudaMemcpyAsync(sum, e->sum, AGG_STEPS * sizeof(*sum), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  return SYS_SUCCESS;
}

SysStatus AggEstimatePutSums(AggEstimate *e, const SysReal sum[], SysStream stream)
{
  SYS_CUDA(cudaMemcpyAsync(e->sum, sum, AGG_STEPS * sizeof(*sum), cudaMemcpyHostToDevice, stream));
  return SYS_SUCCESS;
}

static __global__ void AggAddAllKernel(int nproc, const SysReal *all, SysReal *sum)
{
  SysReal part = 0;

  for (int p = 0; p < nproc; p++) part += all[AGG_STEPS * p + threadIdx.x];
  sum[threadIdx.x] = part;
}

SysStatus AggEstimateAddAll(AggEstimate *e, int nproc, SysStream stream)
{
  AggAddAllKernel<<<1, AGG_STEPS, 0, (cudaStream_t)stream>>>(nproc, e->all, e->sum);
  SYS_CUDA(cudaGetLastError());
  return SYS_SUCCESS;
}

/* ------------------------------------------------- Arnoldi's method ------------------------------------------------- */

/* The vectors keep the length that they come with, and have a factor in place of being divided by it: scale[k] times vector k is of length 1. */

static __global__ void AggArnoldiStartKernel(int64_t n, const SysReal *inverse, SysReal *v, SysReal *partial)
{
  SysReal sum[1] = {0};

  SYS_FOR_EACH(r, n)
  {
    const SysReal x = inverse[r] * v[r];

    v[r] = x;
    sum[0] += x * x;
  }
  AggLeaveSums<1>(sum, partial);
}

SysStatus AggArnoldiStart(AggEstimate *e, SysStream stream)
{
  AggArnoldiStartKernel<<<AggGrid(e->n), SYS_THREADS, 0, stream>>>(e->n, e->inverse, e->v, e->partial);
  return AggAddSums(e, 1, stream);
}

/* Takes the length of vector k from the last sum, and makes D^-1 A of it, which A has multiplied already, with its products with the vectors up to k */
template <int K>
static __global__ void AggArnoldiDotsKernel(AggEstimate e)
{
  const SysReal length = sqrt(e.sum[0]), scale = length != 0 ? 1 / length : 0;
  SysReal      *w = e.v + (K + 1) * e.stride, sum[K + 1] = {0};

  SYS_FOR_EACH(r, e.n)
  {
    const SysReal x = scale * (e.inverse[r] * w[r]);

    w[r] = x;
#pragma unroll
    for (int j = 0; j <= K; j++) sum[j] += e.v[j * e.stride + r] * x;
  }
  AggLeaveSums<K + 1>(sum, e.partial);
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    e.scale[K] = scale;
    if (K) e.h[AGG_H(K, K - 1)] = length;
  }
}

/* Takes the parts along the vectors up to k, which are the last sums, from vector k + 1 */
template <int K>
static __global__ void AggArnoldiRemoveKernel(AggEstimate e)
{
  SysReal *w = e.v + (K + 1) * e.stride, part[K + 1], sum[1] = {0};

#pragma unroll
  for (int j = 0; j <= K; j++) part[j] = e.sum[j] * e.scale[j] * e.scale[j];
  SYS_FOR_EACH(r, e.n)
  {
    SysReal x = w[r];

#pragma unroll
    for (int j = 0; j <= K; j++) x -= part[j] * e.v[j * e.stride + r];
    w[r] = x;
    sum[0] += x * x;
  }
  AggLeaveSums<1>(sum, e.partial);
  if (blockIdx.x == 0 && threadIdx.x <= K) e.h[AGG_H(threadIdx.x, K)] = e.sum[threadIdx.x] * e.scale[threadIdx.x];
}

template <int K>
static SysStatus AggArnoldiOf(AggEstimate *e, int remove, cudaStream_t stream)
{
  if (remove) AggArnoldiRemoveKernel<K><<<AggGrid(e->n), SYS_THREADS, 0, stream>>>(*e);
  else AggArnoldiDotsKernel<K><<<AggGrid(e->n), SYS_THREADS, 0, stream>>>(*e);
  return AggAddSums(e, remove ? 1 : K + 1, stream);
}

static SysStatus AggArnoldi(AggEstimate *e, int k, int remove, cudaStream_t stream)
{
  typedef SysStatus (*Step)(AggEstimate *, int, cudaStream_t);
  static const Step step[] = {AggArnoldiOf<0>, AggArnoldiOf<1>, AggArnoldiOf<2>, AggArnoldiOf<3>, AggArnoldiOf<4>, AggArnoldiOf<5>, AggArnoldiOf<6>, AggArnoldiOf<7>, AggArnoldiOf<8>, AggArnoldiOf<9>};

  static_assert(sizeof(step) / sizeof(*step) == AGG_STEPS, "a function for each step");
  return step[k](e, remove, stream);
}

SysStatus AggArnoldiDots(AggEstimate *e, int k, SysStream stream)
{
  return AggArnoldi(e, k, 0, stream);
}

SysStatus AggArnoldiRemove(AggEstimate *e, int k, SysStream stream)
{
  return AggArnoldi(e, k, 1, stream);
}

/* ------------------------------------------------- conjugate gradients ------------------------------------------------- */

/* Vector 0 is the residual r, 1 the direction p, 2 the product w = A p. Number 2 k of h is r.z before step k, number 2 k + 1 is p.w. */

static __global__ void AggCGStartKernel(AggEstimate e)
{
  SysReal sum[1] = {0};

  SYS_FOR_EACH(r, e.n) sum[0] += e.inverse[r] * e.v[r] * e.v[r];
  AggLeaveSums<1>(sum, e.partial);
}

SysStatus AggCGStart(AggEstimate *e, SysStream stream)
{
  AggCGStartKernel<<<AggGrid(e->n), SYS_THREADS, 0, stream>>>(*e);
  return AggAddSums(e, 1, stream);
}

static __global__ void AggCGDirectionKernel(AggEstimate e, int k)
{
  const SysReal beta = e.sum[0], b = k ? beta / e.h[2 * k - 2] : 0;
  SysReal      *p = e.v + e.stride;

  SYS_FOR_EACH(r, e.n)
  {
    const SysReal z = e.inverse[r] * e.v[r];

    p[r] = k ? z + b * p[r] : z;
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) e.h[2 * k] = beta;
}

SysStatus AggCGDirection(AggEstimate *e, int k, SysStream stream)
{
  AggCGDirectionKernel<<<AggGrid(e->n), SYS_THREADS, 0, stream>>>(*e, k);
  SYS_CUDA(cudaGetLastError());
  return SYS_SUCCESS;
}

static __global__ void AggCGDotKernel(AggEstimate e)
{
  const SysReal *p = e.v + e.stride, *w = e.v + 2 * e.stride;
  SysReal        sum[1] = {0};

  SYS_FOR_EACH(r, e.n) sum[0] += p[r] * w[r];
  AggLeaveSums<1>(sum, e.partial);
}

SysStatus AggCGDot(AggEstimate *e, SysStream stream)
{
  AggCGDotKernel<<<AggGrid(e->n), SYS_THREADS, 0, stream>>>(*e);
  return AggAddSums(e, 1, stream);
}

static __global__ void AggCGStepKernel(AggEstimate e, int k)
{
  const SysReal  dpi = e.sum[0], a = e.h[2 * k] / dpi;
  const SysReal *w      = e.v + 2 * e.stride;
  SysReal        sum[1] = {0};

  SYS_FOR_EACH(r, e.n)
  {
    const SysReal x = e.v[r] - a * w[r];

    e.v[r] = x;
    sum[0] += e.inverse[r] * x * x;
  }
  AggLeaveSums<1>(sum, e.partial);
  if (blockIdx.x == 0 && threadIdx.x == 0) e.h[2 * k + 1] = dpi;
}

SysStatus AggCGStep(AggEstimate *e, int k, SysStream stream)
{
  AggCGStepKernel<<<AggGrid(e->n), SYS_THREADS, 0, stream>>>(*e, k);
  return AggAddSums(e, 1, stream);
}
