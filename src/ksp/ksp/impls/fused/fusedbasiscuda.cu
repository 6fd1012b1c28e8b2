/* SPDX-License-Identifier: BSD-2-Clause */
/*
   GMRES on a CUDA device; fusedbasiscuda.h has the idea.

   A thread block takes tiles of BASIS_TILE entries. dots keeps the entries of w in registers and reads the vectors of the basis four at a time: each warp adds up its
   products by shuffles, and collects them in shared memory, a number for each vector. update subtracts the vectors from the entries in registers. Both read each
   entry of the basis once: 8 bytes for each vector and row. update goes through the tiles backwards, since the second-level cache still has those that dots read last.

       registers   w: BASIS_EACH entries of a thread
       shared      a pointer for each vector; dots: FUSED_WARPS sums for each vector, twice with modified Gram-Schmidt; update: a coefficient for each vector
       global      sums of each thread block, one after another for each vector; the last thread block adds them, one warp a vector

   The last thread block also does the small work: coefficients from sums, the rotations of a column.
*/
#include <stdlib.h>

#include "ksp/ksp/impls/fused/fusedcuda.cuh"
#include "ksp/ksp/impls/fused/fusedbasiscuda.h"

#define BASIS_EACH 4 /* entries of a thread in a tile */
#define BASIS_TILE (BASIS_EACH * SYS_THREADS)
#define BASIS_GRID 528 /* thread blocks, at most: about as many as a large GPU runs at a time. A number for all GPUs gives the same bits on all. */
#define BASIS_ROOM 8   /* vectors of one allocation */

/* What kernels need besides vectors */
struct FusedBasisView {
  FusedState      *state;
  unsigned        *arrived;
  SysReal         *partial, *mine, *all; /* mine: NULL with one process */
  int              nproc, sums;
  SysReal        **v, **z;
  FusedHessenberg  small;
  FusedBasisMethod method;
};

struct _FusedBasisDevice {
  FusedBasisView view;
  char          *memory;
  SysReal      **host; /* the pointers of both bases, on the host */
  void         **room; /* allocations of vectors */
  int            nroom, nv, nz;
  int64_t        n;
};

/* ------------------------------------------------- sums ------------------------------------------------- */

/* True in all threads of the thread block that arrives last */
static __device__ bool BasisLast(const FusedBasisView &b)
{
  __shared__ bool last;

  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(b.arrived, 1) == gridDim.x - 1;
  __syncthreads();
  if (!last) return false;
  __threadfence();
  if (threadIdx.x == 0) *b.arrived = 0;
  return true;
}

/* Sum s of the thread blocks, in each lane of a warp */
static __device__ SysReal BasisPartials(const FusedBasisView &b, int s)
{
  SysReal sum = 0;

  for (unsigned k = threadIdx.x % SYS_WARP; k < gridDim.x; k += SYS_WARP) sum += *(const volatile SysReal *)(b.partial + (int64_t)s * gridDim.x + k);
  for (unsigned d = SYS_WARP / 2; d; d /= 2) sum += __shfl_xor_sync(SYS_ALL_LANES, sum, d);
  return sum;
}

/* Sum s of n of all processes */
static __device__ SysReal BasisGathered(const FusedBasisView &b, int s, int n)
{
  const int group = s / FUSED_BASIS_GROUP * FUSED_BASIS_GROUP, length = min(FUSED_BASIS_GROUP, n - group);
  SysReal   sum = 0;

  for (int k = 0; k < b.nproc; k++) sum += b.all[(int64_t)group * b.nproc + (int64_t)k * length + s - group];
  return sum;
}

/* The sum of a thread block in all threads */
static __device__ SysReal BasisBlockSum(SysReal sum)
{
  __shared__ SysReal all;

  FusedBlockSum<1>(&sum);
  if (threadIdx.x == 0) all = sum;
  __syncthreads();
  return all;
}

/* ------------------------------------------------- the numbers of an iteration ------------------------------------------------- */

/* Returns whether the passes of an iteration run */
static __device__ __forceinline__ bool BasisRuns(const FusedBasisView &b, int again)
{
  return b.state->stop == FUSED_GO && b.state->columns < b.method.restart && (!again || b.state->again);
}

/* The coefficients from the products of the stored vectors, in shared memory. All threads of a thread block. */
static __device__ void BasisCoefficients(const FusedBasisView &b, int again, int m, SysReal *sum)
{
  const FusedHessenberg f     = b.small;
  const int64_t         ld    = f.restart + 1;
  const SysReal         scale = again || b.method.given ? 1 : f.scale[m - 1]; /* of the product */
  const bool            two   = b.method.modified && !again;
  bool                  bad   = false;

  for (int k = (int)threadIdx.x; k < m; k += SYS_THREADS) {
    sum[k] *= scale * f.scale[k];
    if (two && k < m - 1) f.lower[k * ld + m - 1] = sum[m + k] * f.scale[k] * f.scale[m - 1];
  }
  __syncthreads();
  for (int i = 0; two && i < m - 1; i++) {
    for (int k = i + 1 + (int)threadIdx.x; k < m; k += SYS_THREADS) sum[k] -= f.lower[i * ld + k] * sum[i];
    __syncthreads();
  }
  for (int k = (int)threadIdx.x; k < m; k += SYS_THREADS) {
    f.h[k] = again ? f.h[k] + sum[k] : sum[k];
    f.c[k] = sum[k] * f.scale[k];
    if (!isfinite(sum[k])) {
      b.state->dpi = sum[k];
      bad          = true;
    }
  }
  if (__syncthreads_or(bad) && threadIdx.x == 0) b.state->stop = FUSED_STOP_DPI;
}

/* Ends an iteration with the square of the norm of the new vector, or requests a refinement. All threads of a thread block. */
static __device__ void BasisColumn(const FusedBasisView &b, int again, SysReal square)
{
  extern __shared__ SysReal shared[];
  const FusedHessenberg     f  = b.small;
  const int                 it = b.state->columns, m = it + 1;
  const SysReal             norm = sqrt(square);
  SysReal *const h = shared, *const cs = h + FUSED_BASIS_MOST + 2, *const sn = cs + FUSED_BASIS_MOST + 2;
  FusedState *const state   = b.state;
  SysReal           removed = 0;

  if (!b.method.modified && !again && b.method.refine) {
    for (int k = (int)threadIdx.x; k < m; k += SYS_THREADS) removed += f.h[k] * f.h[k];
    removed = BasisBlockSum(removed);
    if (b.method.refine == 2 || (isfinite(norm) && norm < sqrt(removed))) {
      if (threadIdx.x == 0) state->again = 1;
      return;
    }
  }
  __syncthreads(); /* shared memory has had another use */
  for (int k = (int)threadIdx.x; k < m; k += SYS_THREADS) {
    h[k]  = f.h[k];
    cs[k] = f.cs[k];
    sn[k] = f.sn[k];
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    state->again = 0;
    if (!isfinite(norm)) {
      state->norm = norm;
      state->stop = FUSED_STOP_NORM;
    } else {
      const SysReal bound = fmin(fabs(norm / f.g[it]), b.method.haptol);
      const int     happy = b.method.flexible ? !(norm > bound) : norm < bound;
      SysReal       res;
      int           null;

      h[m]       = norm;
      f.scale[m] = norm == 0 ? 1 : 1 / norm;
      res        = FusedHessenbergRotate(it, happy, h, cs, sn, f.g, &null);
      f.cs[it]   = cs[it];
      f.sn[it]   = sn[it];
      if (!null || !b.method.flexible) {
        state->norm                                = res;
        state->history[state->its % FUSED_HISTORY] = res;
        state->its++;
        state->columns = m;
      }
      if (null) state->stop = FUSED_STOP_NULL;
      else if (happy) state->stop = FUSED_STOP_LAST;
      else if (state->its >= state->max_it || res <= state->least || res >= state->most) state->stop = FUSED_STOP_TEST;
    }
  }
  __syncthreads();
  for (int k = (int)threadIdx.x; k <= m; k += SYS_THREADS) f.r[it * (int64_t)(f.restart + 2) + k] = h[k];
}

/* Begins a cycle with the square of the norm of the residual; one thread */
static __device__ void BasisBegin(const FusedBasisView &b, int first, SysReal square)
{
  FusedState *const state = b.state;
  const SysReal     res   = sqrt(square);
  const bool        far   = !first && !b.method.flexible && state->norm > 0 && fabs(res - state->norm) > b.method.breakdowntol * b.small.g[b.small.restart + 1];

  if (first) {
    state->its      = 0;
    state->restarts = 0;
    state->stop     = FUSED_GO;
    state->again    = 0;
    state->least    = -1;
    state->most     = INFINITY;
  } else state->restarts++;
  state->start = res;
  if (!isfinite(res)) state->stop = FUSED_STOP_NORM;
  else if (far) state->stop = FUSED_STOP_FAR;
  else if ((res == 0 && !b.method.flexible) || res <= state->least || res >= state->most) state->stop = FUSED_STOP_TEST;
  state->columns                 = 0;
  state->norm                    = res;
  b.small.g[0]                   = res;
  b.small.g[b.small.restart + 1] = res; /* the norm at the start of the cycle */
  b.small.scale[0]               = res == 0 && !b.method.flexible ? 1 : 1 / res;
}

/* Returns whether another cycle begins */
static __device__ __forceinline__ bool BasisFull(const FusedBasisView &b)
{
  return b.state->stop == FUSED_GO && b.state->columns == b.method.restart;
}

/* ------------------------------------------------- passes ------------------------------------------------- */

/* TWO: the products of the newest vector, too. AGAIN: the vector is already in the basis, and M is not applied. */
template <bool TWO, bool AGAIN>
static __global__ void __launch_bounds__(SYS_THREADS) FusedBasisDotsKernel(const FusedBasisView b, const FusedBasisPass f)
{
  extern __shared__ SysReal shared[];
  const int                 m    = b.state->columns + 1;
  const unsigned            lane = threadIdx.x % SYS_WARP, warp = threadIdx.x / SYS_WARP;
  const int                 nsum = TWO ? 2 * m : m;
  SysReal *const            sums = shared; /* FUSED_WARPS for each vector */
  const SysReal **const     v    = (const SysReal **)(shared + (int64_t)nsum * FUSED_WARPS);

  if (!BasisRuns(b, AGAIN)) return;
  for (int k = (int)threadIdx.x; k < nsum * FUSED_WARPS; k += SYS_THREADS) sums[k] = 0;
  for (int k = (int)threadIdx.x; k <= m; k += SYS_THREADS) v[k] = b.v[k];
  __syncthreads();
  const SysReal *const w = AGAIN ? v[m] : f.w, *const u = v[m - 1], *const d = AGAIN ? NULL : f.left;

  for (int64_t base = (int64_t)blockIdx.x * BASIS_TILE + threadIdx.x; base - threadIdx.x < f.n; base += (int64_t)gridDim.x * BASIS_TILE) {
    SysReal w0[BASIS_EACH], u0[BASIS_EACH];

#pragma unroll
    for (int e = 0; e < BASIS_EACH; e++) {
      const int64_t k = base + e * SYS_THREADS;

      w0[e] = k < f.n ? w[k] : 0;
      if (d && k < f.n) w0[e] *= d[k];
      u0[e] = TWO && k < f.n ? u[k] : 0;
    }
    for (int c = 0; c < m; c += 4) {
      SysReal sum[4] = {0, 0, 0, 0}, other[4] = {0, 0, 0, 0};

#pragma unroll
      for (int q = 0; q < 4; q++) {
        if (c + q < m) {
          const SysReal *const column = v[c + q];

#pragma unroll
          for (int e = 0; e < BASIS_EACH; e++) {
            const int64_t k  = base + e * SYS_THREADS;
            const SysReal v0 = k < f.n ? column[k] : 0;

            sum[q] += v0 * w0[e];
            if (TWO) other[q] += v0 * u0[e];
          }
        }
      }
#pragma unroll
      for (unsigned l = SYS_WARP / 2; l; l /= 2) {
#pragma unroll
        for (int q = 0; q < 4; q++) {
          sum[q] += __shfl_xor_sync(SYS_ALL_LANES, sum[q], l);
          if (TWO) other[q] += __shfl_xor_sync(SYS_ALL_LANES, other[q], l);
        }
      }
#pragma unroll
      for (int q = 0; q < 4; q++) {
        if (lane == (unsigned)q && c + q < m) {
          sums[(c + q) * FUSED_WARPS + warp] += sum[q];
          if (TWO) sums[(m + c + q) * FUSED_WARPS + warp] += other[q];
        }
      }
    }
  }
  __syncthreads();
  for (int s = (int)threadIdx.x; s < nsum; s += SYS_THREADS) {
    SysReal sum = 0;

    for (int k = 0; k < FUSED_WARPS; k++) sum += sums[s * FUSED_WARPS + k];
    b.partial[(int64_t)s * gridDim.x + blockIdx.x] = sum;
  }
  if (!BasisLast(b)) return;
  for (int s = (int)warp; s < nsum; s += FUSED_WARPS) {
    const SysReal sum = BasisPartials(b, s);

    if (lane == 0) {
      if (b.mine) b.mine[s] = sum;
      else shared[s] = sum;
    }
  }
  __syncthreads();
  if (!b.mine) BasisCoefficients(b, AGAIN, m, shared);
}

template <bool AGAIN>
static __global__ void __launch_bounds__(SYS_THREADS) FusedBasisUpdateKernel(const FusedBasisView b, const FusedBasisPass f)
{
  extern __shared__ SysReal shared[];
  const int                 m     = b.state->columns + 1;
  const SysReal **const     v     = (const SysReal **)shared;
  SysReal *const            c     = (SysReal *)(v + m);
  const SysReal             scale = AGAIN || b.method.given ? 1 : b.small.scale[m - 1];
  const int64_t             tiles = (f.n + BASIS_TILE - 1) / BASIS_TILE;
  SysReal                   sum   = 0;

  if (!BasisRuns(b, AGAIN)) return;
  for (int k = (int)threadIdx.x; k < m; k += SYS_THREADS) {
    c[k] = b.small.c[k];
    v[k] = b.v[k];
  }
  __syncthreads();
  SysReal *const       to = b.v[m];
  const SysReal *const w = AGAIN ? to : f.w, *const left = AGAIN ? NULL : f.left;

  for (int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const int64_t base = (tiles - 1 - tile) * BASIS_TILE + threadIdx.x;
    SysReal       r[BASIS_EACH];

#pragma unroll
    for (int e = 0; e < BASIS_EACH; e++) {
      const int64_t k = base + e * SYS_THREADS;

      r[e] = k < f.n ? scale * w[k] : 0;
      if (left && k < f.n) r[e] *= left[k];
    }
    for (int i = 0; i < m; i += 4) {
#pragma unroll
      for (int q = 0; q < 4; q++) {
        if (i + q < m) {
          const SysReal *const column = v[i + q];
          const SysReal        factor = c[i + q];

#pragma unroll
          for (int e = 0; e < BASIS_EACH; e++) {
            const int64_t k = base + e * SYS_THREADS;

            if (k < f.n) r[e] -= factor * column[k];
          }
        }
      }
    }
#pragma unroll
    for (int e = 0; e < BASIS_EACH; e++) {
      const int64_t k = base + e * SYS_THREADS;

      if (k < f.n) {
        to[k] = r[e];
        if (f.p) f.p[k] = f.right ? f.right[k] * r[e] : r[e];
        sum += r[e] * r[e];
      }
    }
  }
  sum = BasisBlockSum(sum);
  if (threadIdx.x == 0) b.partial[blockIdx.x] = sum;
  if (!BasisLast(b)) return;
  if (threadIdx.x < SYS_WARP) sum = BasisPartials(b, 0);
  sum = BasisBlockSum(threadIdx.x ? 0 : sum);
  if (!b.mine) BasisColumn(b, AGAIN, sum);
  else if (threadIdx.x == 0) b.mine[0] = sum;
}

/* w is the residual */
static __global__ void __launch_bounds__(SYS_THREADS) FusedBasisStartKernel(const FusedBasisView b, const FusedBasisPass f, int first)
{
  SysReal sum = 0;

  if (!first && !BasisFull(b)) return;
  SysReal *const to = b.v[0];

  SYS_FOR_EACH(k, f.n)
  {
    const SysReal r = f.w[k];

    to[k] = r;
    if (f.p) f.p[k] = f.right ? f.right[k] * r : r;
    sum += r * r;
  }
  sum = BasisBlockSum(sum);
  if (threadIdx.x == 0) b.partial[blockIdx.x] = sum;
  if (!BasisLast(b)) return;
  if (threadIdx.x < SYS_WARP) sum = BasisPartials(b, 0);
  if (threadIdx.x) return;
  if (b.mine) b.mine[0] = sum;
  else BasisBegin(b, first, sum);
}

/* Ends a pass whose sums have been gathered from all processes */
static __global__ void __launch_bounds__(SYS_THREADS) FusedBasisFinishDotsKernel(const FusedBasisView b, int again)
{
  extern __shared__ SysReal shared[];
  const int                 m = b.state->columns + 1;

  if (!BasisRuns(b, again)) return;
  for (int s = (int)threadIdx.x; s < (b.method.modified && !again ? 2 : 1) * m; s += SYS_THREADS) shared[s] = BasisGathered(b, s, b.sums);
  __syncthreads();
  BasisCoefficients(b, again, m, shared);
}

static __global__ void __launch_bounds__(SYS_THREADS) FusedBasisFinishUpdateKernel(const FusedBasisView b, int again)
{
  if (BasisRuns(b, again)) BasisColumn(b, again, BasisGathered(b, 0, 1));
}

static __global__ void FusedBasisFinishStartKernel(const FusedBasisView b, int first)
{
  if (first || BasisFull(b)) BasisBegin(b, first, BasisGathered(b, 0, 1));
}

/* ------------------------------------------------- the vectors between passes ------------------------------------------------- */

/* Whatever the state: an iteration that is queued again finds the same u */
static __global__ void __launch_bounds__(SYS_THREADS) FusedBasisTakeKernel(const FusedBasisView b, int64_t n, SysReal *u)
{
  const int            m     = b.state->columns;
  const SysReal        scale = b.small.scale[m];
  const SysReal *const v     = b.v[m];

  SYS_FOR_EACH(k, n) u[k] = scale * v[k];
}

static __global__ void __launch_bounds__(SYS_THREADS) FusedBasisStoreKernel(const FusedBasisView b, int64_t n, const SysReal *p)
{
  if (b.state->stop || b.state->columns == b.method.restart) return;
  SysReal *const z = b.z[b.state->columns];

  SYS_FOR_EACH(k, n) z[k] = p[k];
}

static __global__ void __launch_bounds__(SYS_THREADS) FusedBasisSolveKernel(const FusedBasisView b, int restart)
{
  __shared__ SysReal    g[FUSED_BASIS_MOST + 2];
  __shared__ int        singular;
  const FusedHessenberg f  = b.small;
  const int             m  = restart && !BasisFull(b) ? 0 : b.state->columns;
  const int64_t         ld = f.restart + 2;

  if (threadIdx.x == 0) singular = -1;
  for (int k = (int)threadIdx.x; k < m; k += SYS_THREADS) g[k] = f.g[k];
  __syncthreads();
  for (int k = m - 1; k >= 0; k--) {
    if (threadIdx.x == 0) {
      const SysReal diagonal = f.r[k + ld * k];

      if (diagonal == 0 && !b.method.flexible) singular = max(singular, k);
      g[k] = diagonal == 0 && b.method.flexible && k == m - 1 ? 0 : g[k] / diagonal;
    }
    __syncthreads();
    for (int i = (int)threadIdx.x; i < k; i += SYS_THREADS) g[i] -= f.r[i + ld * k] * g[k];
    __syncthreads();
  }
  for (int k = (int)threadIdx.x; k < m; k += SYS_THREADS) f.c[k] = b.method.stored ? g[k] : g[k] * f.scale[k];
  if (threadIdx.x) return;
  b.state->used     = singular < 0 ? m : 0;
  b.state->singular = singular;
  if (restart && singular >= 0) b.state->stop = FUSED_STOP_SMALL;
}

static __global__ void __launch_bounds__(SYS_THREADS) FusedBasisCombineKernel(const FusedBasisView b, int64_t n, const SysReal *from, const SysReal *right, SysReal *to)
{
  __shared__ SysReal        c[FUSED_BASIS_MOST + 2];
  __shared__ const SysReal *v[FUSED_BASIS_MOST + 2];
  const int                 m = b.state->used;

  for (int k = (int)threadIdx.x; k < m; k += SYS_THREADS) {
    c[k] = b.small.c[k];
    v[k] = b.method.stored ? b.z[k] : b.v[k];
  }
  __syncthreads();
  SYS_FOR_EACH(k, n)
  {
    SysReal sum = 0;

#pragma unroll 8
    for (int i = 0; i < m; i++) sum += c[i] * v[i][k];
    if (right) sum *= right[k];
    to[k] = from ? from[k] + sum : sum;
  }
}

static __global__ void __launch_bounds__(SYS_THREADS) FusedBasisAddKernel(const FusedBasisView b, int64_t n, const SysReal *v, SysReal *x)
{
  if (!b.state->used) return;
  SYS_FOR_EACH(k, n) x[k] += v[k];
}

static __global__ void FusedBasisResumeKernel(FusedState *state)
{
  if (state->stop == FUSED_STOP_TEST) state->stop = FUSED_GO;
}

/* ------------------------------------------------- launches ------------------------------------------------- */

static int64_t BasisGrid(int64_t n)
{
  const int64_t tiles = (n + BASIS_TILE - 1) / BASIS_TILE;

  return tiles < 1 ? 1 : tiles < BASIS_GRID ? tiles : BASIS_GRID;
}

/* Bytes of shared memory, for the longest basis: the passes, and the rotations after them */
static size_t BasisSharedDots(const FusedBasisDevice *f)
{
  const size_t m = (size_t)f->view.small.restart + 1;

  return (f->view.method.modified ? 2 : 1) * m * FUSED_WARPS * sizeof(SysReal) + (m + 1) * sizeof(SysReal *) + sizeof(SysReal *);
}

static size_t BasisSharedUpdate(const FusedBasisDevice *f)
{
  const size_t m = (size_t)f->view.small.restart + 2, pass = m * (sizeof(SysReal) + sizeof(SysReal *)), column = 3 * (FUSED_BASIS_MOST + 2) * sizeof(SysReal);

  return pass > column ? pass : column;
}

SysStatus FusedBasisDeviceStart(FusedBasisDevice *f, const FusedBasisPass *pass, int first, SysStream stream)
{
  return SysLaunch(FusedBasisStartKernel, BasisGrid(pass->n), SYS_THREADS, 0, stream, f->view, *pass, first);
}

SysStatus FusedBasisDeviceFinishStart(FusedBasisDevice *f, int first, SysStream stream)
{
  return SysLaunch(FusedBasisFinishStartKernel, 1, 1, 0, stream, f->view, first);
}

SysStatus FusedBasisDeviceDots(FusedBasisDevice *f, const FusedBasisPass *pass, int again, SysStream stream)
{
  const int64_t grid   = BasisGrid(pass->n);
  const size_t  shared = BasisSharedDots(f);

  if (again) return SysLaunch(FusedBasisDotsKernel<false, true>, grid, SYS_THREADS, shared, stream, f->view, *pass);
  if (f->view.method.modified) return SysLaunch(FusedBasisDotsKernel<true, false>, grid, SYS_THREADS, shared, stream, f->view, *pass);
  return SysLaunch(FusedBasisDotsKernel<false, false>, grid, SYS_THREADS, shared, stream, f->view, *pass);
}

SysStatus FusedBasisDeviceFinishDots(FusedBasisDevice *f, int again, SysStream stream)
{
  return SysLaunch(FusedBasisFinishDotsKernel, 1, SYS_THREADS, BasisSharedDots(f), stream, f->view, again);
}

SysStatus FusedBasisDeviceUpdate(FusedBasisDevice *f, const FusedBasisPass *pass, int again, SysStream stream)
{
  const int64_t grid   = BasisGrid(pass->n);
  const size_t  shared = BasisSharedUpdate(f);

  if (again) return SysLaunch(FusedBasisUpdateKernel<true>, grid, SYS_THREADS, shared, stream, f->view, *pass);
  return SysLaunch(FusedBasisUpdateKernel<false>, grid, SYS_THREADS, shared, stream, f->view, *pass);
}

SysStatus FusedBasisDeviceFinishUpdate(FusedBasisDevice *f, int again, SysStream stream)
{
  return SysLaunch(FusedBasisFinishUpdateKernel, 1, SYS_THREADS, BasisSharedUpdate(f), stream, f->view, again);
}

SysStatus FusedBasisDeviceGetNewest(FusedBasisDevice *f, int64_t n, SysReal *u, SysStream stream)
{
  return SysLaunch(FusedBasisTakeKernel, SysBlocksLoop(n), SYS_THREADS, 0, stream, f->view, n, u);
}

SysStatus FusedBasisDeviceStore(FusedBasisDevice *f, int64_t n, const SysReal *p, SysStream stream)
{
  return SysLaunch(FusedBasisStoreKernel, SysBlocksLoop(n), SYS_THREADS, 0, stream, f->view, n, p);
}

SysStatus FusedBasisDeviceSolve(FusedBasisDevice *f, int restart, SysStream stream)
{
  return SysLaunch(FusedBasisSolveKernel, 1, SYS_THREADS, 0, stream, f->view, restart);
}

SysStatus FusedBasisDeviceCombine(FusedBasisDevice *f, int64_t n, const SysReal *from, const SysReal *right, SysReal *to, SysStream stream)
{
  return SysLaunch(FusedBasisCombineKernel, SysBlocksLoop(n), SYS_THREADS, 0, stream, f->view, n, from, right, to);
}

SysStatus FusedBasisDeviceAdd(FusedBasisDevice *f, int64_t n, const SysReal *v, SysReal *x, SysStream stream)
{
  return SysLaunch(FusedBasisAddKernel, SysBlocksLoop(n), SYS_THREADS, 0, stream, f->view, n, v, x);
}

SysStatus FusedBasisDeviceResume(FusedBasisDevice *f, SysStream stream)
{
  return SysLaunch(FusedBasisResumeKernel, 1, 1, 0, stream, f->view.state);
}

/* ------------------------------------------------- memory ------------------------------------------------- */

int FusedBasisDeviceSums(const FusedBasisDevice *f, SysReal **mine, SysReal **all)
{
  *mine = f->view.mine;
  *all  = f->view.all;
  return f->view.sums;
}

void FusedBasisDeviceSet(FusedBasisDevice *f, const FusedBasisMethod *method)
{
  f->view.method = *method;
  f->view.sums   = (method->modified ? 2 : 1) * (method->restart + 1);
}

/* Vectors lo to hi - 1, in one allocation */
static SysStatus BasisAllocate(FusedBasisDevice *f, SysReal **pointers, SysReal **device, int lo, int hi, cudaStream_t stream)
{
  const size_t bytes = SysPadded((size_t)(f->n ? f->n : 1) * sizeof(SysReal));
  char        *memory;

  SYS_CALL(SysDeviceAllocate(&memory, bytes * (size_t)(hi - lo)));
  f->room[f->nroom++] = memory;
  for (int k = lo; k < hi; k++) pointers[k] = (SysReal *)(memory + bytes * (size_t)(k - lo));
  SYS_CUDA(cudaMemcpyAsync(device + lo, pointers + lo, (size_t)(hi - lo) * sizeof(*device), cudaMemcpyHostToDevice, stream));
  return SYS_SUCCESS;
}

SysStatus FusedBasisDeviceRoom(FusedBasisDevice *f, int m, SysStream stream)
{
  const int most = f->view.small.restart + 1;

  if (m > most) m = most;
  while (f->nv < m) {
    const int hi = f->nv + BASIS_ROOM < most ? f->nv + BASIS_ROOM : most;

    SYS_CALL(BasisAllocate(f, f->host, f->view.v, f->nv, hi, stream));
    f->nv = hi;
  }
  while (f->view.method.stored && f->nz < m) {
    const int hi = f->nz + BASIS_ROOM < most ? f->nz + BASIS_ROOM : most;

    SYS_CALL(BasisAllocate(f, f->host + most, f->view.z, f->nz, hi, stream));
    f->nz = hi;
  }
  return SYS_SUCCESS;
}

static SysStatus BasisFill(FusedBasisDevice *f, FusedDevice *device, int restart, int nproc)
{
  const size_t m     = (size_t)restart + 1;
  SysArena     arena = {NULL, 0};
  SysReal     *numbers, *mine, *all;

  for (int pass = 0; pass < 2; pass++) {
    if (pass) SYS_CALL(SysArenaAllocate(&arena));
    SysArenaTake(&arena, &numbers, (size_t)FusedHessenbergLayout(&f->view.small, restart, NULL));
    SysArenaTake(&arena, &f->view.partial, 2 * m * BASIS_GRID);
    SysArenaTake(&arena, &f->view.arrived, 1);
    SysArenaTake(&arena, &f->view.v, m + 1);
    SysArenaTake(&arena, &f->view.z, m + 1);
    SysArenaTake(&arena, &mine, 2 * m);
    SysArenaTake(&arena, &all, nproc > 1 ? 2 * m * (size_t)nproc : 1);
    f->memory = arena.memory;
  }
  (void)FusedHessenbergLayout(&f->view.small, restart, numbers);
  f->view.state = device->shared.state;
  f->view.nproc = nproc;
  f->view.mine  = nproc > 1 ? mine : NULL;
  f->view.all   = all;
  SYS_CUDA(cudaMemset(f->memory, 0, arena.used));
  SYS_CUDA(cudaStreamSynchronize(cudaStreamLegacy)); /* the stream of passes need not wait for that stream */
  f->host = (SysReal **)calloc(2 * m, sizeof(*f->host));
  f->room = (void **)calloc(2 * m, sizeof(*f->room));
  return f->host && f->room ? SYS_SUCCESS : SYS_OUT_OF_MEMORY;
}

SysStatus FusedBasisDeviceCreate(FusedBasisDevice **f, FusedDevice *device, int64_t n, int restart, int nproc)
{
  SysStatus status;

  *f = (FusedBasisDevice *)calloc(1, sizeof(**f));
  if (!*f) return SYS_OUT_OF_MEMORY;
  (*f)->n = n;
  status  = BasisFill(*f, device, restart, nproc);
  if (status != SYS_SUCCESS) FusedBasisDeviceDestroy(f);
  return status;
}

void FusedBasisDeviceDestroy(FusedBasisDevice **f)
{
  if (!*f) return;
  for (int k = 0; k < (*f)->nroom; k++) (void)cudaFree((*f)->room[k]);
  (void)cudaFree((*f)->memory);
  free((*f)->host);
  free((*f)->room);
  free(*f);
  *f = NULL;
}
