/* SPDX-License-Identifier: BSD-2-Clause */
/*
   A sum is one kernel. Each thread block writes its part into memory of the host, which the host reads until all parts are there and then adds them up. There is no
   copy, no wait for a stream, and no last thread block.

   A part is two words of 64 bits, each with half of a double and the number of the sum. A word is written at once: a half with the right number is a new one, and
   parts need no order. The host polls memory for an answer, and from time to time checks whether the stream failed, or ended without one.
*/
#include <string.h>
#include <time.h>

#include "sys/syscuda.cuh"
#include "vec/ambvec/ambveccuda.h"

#define SUM_THREADS 1024
#define SUM_PARTS   128    /* thread blocks, at most. A number for all GPUs gives the same bits on all. */
#define SUM_ASK     100e-6 /* seconds between two checks of the stream */

typedef unsigned long long SumWord;

#define SUM_VECTORS 8  /* of a kernel, at most */
#define SUM_SUMS    64 /* that are awaited together, at most */
#define SUM_WORDS   (2 * SUM_PARTS * SUM_SUMS)
struct SumVectors {
  const SysReal *y[SUM_VECTORS];
};

static struct {
  SumWord *host, *device; /* one memory */
  unsigned number;
} sum;

template <typename T>
struct SumPair {
  T first, second;
};

template <typename T, bool ALIGNED>
static __device__ __forceinline__ SumPair<T> SumLoad(const T *x, int64_t k)
{
  SumPair<T> pair;

  if (ALIGNED) {
    if (sizeof(T) == 8) {
      const double2 v = __ldg((const double2 *)x + k);

      pair.first  = (T)v.x;
      pair.second = (T)v.y;
    } else {
      const float2 v = __ldg((const float2 *)x + k);

      pair.first  = (T)v.x;
      pair.second = (T)v.y;
    }
  } else {
    pair.first  = __ldg(x + 2 * k);
    pair.second = __ldg(x + 2 * k + 1);
  }
  return pair;
}

/* Adds up s over a thread block and stores the part */
static __device__ __forceinline__ void SumLeave(double s, unsigned number, volatile SumWord *part)
{
  __shared__ double all[SUM_THREADS / SYS_WARP];

  for (unsigned d = SYS_WARP / 2; d; d /= 2) s += __shfl_xor_sync(SYS_ALL_LANES, s, d);
  if (threadIdx.x % SYS_WARP == 0) all[threadIdx.x / SYS_WARP] = s;
  __syncthreads();
  if (threadIdx.x < SYS_WARP) {
    s = all[threadIdx.x];
    for (unsigned d = SYS_WARP / 2; d; d /= 2) s += __shfl_xor_sync(SYS_ALL_LANES, s, d);
    if (threadIdx.x < 2) {
      const SumWord bits = (SumWord)__double_as_longlong(s);

      part[threadIdx.x] = (threadIdx.x ? bits >> 32 : bits & 0xffffffffu) << 32 | number;
    }
  }
}

/* x.y of NV vectors, or x.x if that is 0. The kernel may start before the last one in the stream has ended. */
template <int NV, bool ALIGNED>
static __global__ void __launch_bounds__(SUM_THREADS) SumKernel(const SysReal *x, const SumVectors v, int64_t n, unsigned number, volatile SumWord *part)
{
  constexpr int M     = NV ? NV : 1;
  const int64_t pairs = n / 2, step = (int64_t)gridDim.x * SUM_THREADS;
  double        s[M];

  SysWait();
  for (int m = 0; m < M; m++) s[m] = 0;
#pragma unroll(NV > 2 ? 1 : 4)
  for (int64_t k = (int64_t)blockIdx.x * SUM_THREADS + threadIdx.x; k < pairs; k += step) {
    const SumPair<SysReal> a = SumLoad<SysReal, ALIGNED>(x, k);
    SumPair<SysReal>       b[M];

#pragma unroll
    for (int m = 0; m < M; m++) b[m] = NV ? SumLoad<SysReal, ALIGNED>(v.y[m], k) : a;
#pragma unroll
    for (int m = 0; m < M; m++) {
      s[m] = fma((double)a.first, (double)b[m].first, s[m]);
      s[m] = fma((double)a.second, (double)b[m].second, s[m]);
    }
  }
#pragma unroll
  for (int m = 0; m < M; m++) {
    if (n % 2 && blockIdx.x == 0 && threadIdx.x == 0) s[m] = fma((double)x[n - 1], (double)(NV ? v.y[m] : x)[n - 1], s[m]);
    if (m) __syncthreads();
    SumLeave(s[m], number, part + 2 * (m * gridDim.x + blockIdx.x));
  }
}
static_assert(SUM_THREADS / SYS_WARP == SYS_WARP, "the last warp adds up a number of each warp");

static SysStatus SumStart(void)
{
  SYS_CUDA(cudaHostAlloc((void **)&sum.host, SUM_WORDS * sizeof(SumWord), cudaHostAllocMapped | cudaHostAllocPortable));
  SYS_CUDA(cudaHostGetDevicePointer((void **)&sum.device, sum.host, 0));
  memset(sum.host, 0, SUM_WORDS * sizeof(SumWord));
  sum.number = 0;
  return SYS_SUCCESS;
}

void VecCUDAEnd(void)
{
  (void)cudaFreeHost(sum.host);
  sum.host = NULL;
}

template <bool ALIGNED>
static SysStatus SumLaunch(int64_t n, const SysReal *x, int nv, const SumVectors &v, unsigned grid, SumWord *part, cudaStream_t stream)
{
  static decltype(&SumKernel<1, ALIGNED>)
    const    kernel[] = {SumKernel<0, ALIGNED>, SumKernel<1, ALIGNED>, SumKernel<2, ALIGNED>, SumKernel<3, ALIGNED>, SumKernel<4, ALIGNED>, SumKernel<5, ALIGNED>, SumKernel<6, ALIGNED>, SumKernel<7, ALIGNED>, SumKernel<8, ALIGNED>};
  static int starts   = -1;

  if (starts < 0) starts = SysStartsEarly();
  return SysLaunchEarly(kernel[nv], grid, SUM_THREADS, stream, starts > 0, x, v, n, sum.number, (volatile SumWord *)part);
}

static bool SumAligned(const SysReal *x)
{
  return (uintptr_t)x % (2 * sizeof(SysReal)) == 0;
}

static double SumTime(void)
{
  struct timespec t;

  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool SumArrived(unsigned k)
{
  const volatile SumWord *word = sum.host + k;

  return (unsigned)(*word & 0xffffffffu) == sum.number;
}

/* Waits for a word of the last sum */
static SysStatus SumAwait(unsigned k, cudaStream_t stream)
{
  double asked = 0;

  for (unsigned spin = 1; !SumArrived(k); spin++) {
    double now;

    if (spin % 64) continue;
    now = SumTime();
    if (asked == 0) asked = now;
    if (now - asked < SUM_ASK) continue;
    asked = now;
    if (const cudaError_t error = cudaStreamQuery(stream)) {
      if (error != cudaErrorNotReady) return SysDeviceFailed(error, "a sum");
    } else if (!SumArrived(k)) return SysDeviceError("a sum did not arrive");
  }
  return SYS_SUCCESS;
}

/* Up to SUM_SUMS sums; of none it makes x.x */
static SysStatus SumMake(int64_t n, const SysReal *x, int nv, const SysReal *const y[], double result[], cudaStream_t stream)
{
  const int64_t  blocks = (n / 2 + SUM_THREADS - 1) / SUM_THREADS;
  const unsigned grid   = (unsigned)(blocks < 1 ? 1 : blocks < SUM_PARTS ? blocks : SUM_PARTS);
  const int      sums   = nv ? nv : 1;

  if (!sum.host) SYS_CALL(SumStart());
  if (!++sum.number) { /* all numbers are used: the words of an old sum must not pass for new ones */
    memset(sum.host, 0, SUM_WORDS * sizeof(SumWord));
    sum.number = 1;
  }
  for (int first = 0; first < sums; first += SUM_VECTORS) {
    const int  m       = nv - first < SUM_VECTORS ? nv - first : SUM_VECTORS;
    bool       aligned = SumAligned(x);
    SumVectors v       = {};

    for (int k = 0; k < m; k++) {
      v.y[k]  = y[first + k];
      aligned = aligned && SumAligned(v.y[k]);
    }
    SYS_CALL((aligned ? SumLaunch<true> : SumLaunch<false>)(n, x, m, v, grid, sum.device + 2 * grid * (unsigned)first, stream));
  }
  for (unsigned k = 0; k < 2 * grid * (unsigned)sums; k++) SYS_CALL(SumAwait(k, stream));
  for (int s = 0; s < sums; s++) {
    result[s] = 0;
    for (unsigned k = 0; k < grid; k++) {
      const volatile SumWord *word = sum.host + 2 * (grid * (unsigned)s + k);
      const SumWord           bits = word[0] >> 32 | (word[1] & ~(SumWord)0xffffffffu);
      double                  part;

      memcpy(&part, &bits, sizeof(part));
      result[s] += part;
    }
  }
  return SYS_SUCCESS;
}

SysStatus VecCUDADot(int64_t n, const SysReal *x, const SysReal *y, double *result, SysStream stream)
{
  return SumMake(n, x, x != y, &y, result, stream);
}

SysStatus VecCUDADots(int64_t n, const SysReal *x, int nv, const SysReal *const y[], double result[], SysStream stream)
{
  for (int first = 0; first < nv; first += SUM_SUMS) SYS_CALL(SumMake(n, x, nv - first < SUM_SUMS ? nv - first : SUM_SUMS, y + first, result + first, stream));
  return SYS_SUCCESS;
}

static __global__ void AYPXKernel(int64_t n, SysReal a, const SysReal *x, SysReal *y)
{
  SYS_FOR_EACH(k, n)
  {
    if (sizeof(SysReal) == 8) y[k] = (SysReal)__dadd_rn(__dmul_rn((double)a, (double)y[k]), (double)x[k]);
    else y[k] = (SysReal)__fadd_rn(__fmul_rn((float)a, (float)y[k]), (float)x[k]);
  }
}

SysStatus VecCUDAAYPX(int64_t n, SysReal a, const SysReal *x, SysReal *y, SysStream stream)
{
  return SysLaunch(AYPXKernel, SysBlocksLoop(n), SYS_THREADS, 0, stream, n, a, x, y);
}

void VecCUDALoad(void)
{
  const void *kernel[] = {(const void *)SumKernel<0, true>, (const void *)SumKernel<1, true>, (const void *)AYPXKernel};

  for (int k = 0; k < 3; k++) {
    cudaFuncAttributes attributes;

    (void)cudaFuncGetAttributes(&attributes, kernel[k]); /* a later launch repeats and reports a failure */
  }
}
