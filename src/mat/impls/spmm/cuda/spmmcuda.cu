/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Products of a sparse and a dense matrix on a CUDA device.

   A team of lanes makes a row of the product, each lane a vector of 16 bytes of it. A narrow row has several groups of lanes in its team, which take entries by
   turns. A block of threads makes BLOCK_ROWS rows, which go through shared memory to the columns of the result. Long rows are cut into parts (spmmcudaplan.cu):
   each part is summed up by a team of its own, and the row adds up its parts.
*/
#include "mat/impls/spmm/cuda/spmmcuda.cuh"

#define BLOCK_ROWS 32 /* rows of a block of threads */
#define TEAM       8  /* lanes of a row, at least */
#ifndef WIDEST
#define WIDEST     8  /* lanes of a row, at most */
#define FLYING     8  /* vectors of the panel that a lane reads together, at most */
#define BLOCKS     4  /* blocks of a multiprocessor, for which a thread has registers */
#endif
#ifndef UNROLL
#define UNROLL 1
#endif
#ifndef TAIL
#define TAIL 1
#endif
#define NARROW     4  /* rows of the panel that a lane reads together in a row of few lanes */

#define SPMM_LANES(vectors) ((vectors) < WIDEST ? (vectors) : WIDEST)

#if defined(SYS_SINGLE)
typedef float4 SpmmVector;
#else
typedef double2 SpmmVector;
#endif

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

/* The vector of the lane that differs in the bit d */
static __device__ inline SpmmVector SpmmOther(unsigned team, const SpmmVector &v, int d, int lanes)
{
  SpmmVector w;

  w.x = __shfl_xor_sync(team, v.x, d, lanes);
  w.y = __shfl_xor_sync(team, v.y, d, lanes);
#if defined(SYS_SINGLE)
  w.z = __shfl_xor_sync(team, v.z, d, lanes);
  w.w = __shfl_xor_sync(team, v.w, d, lanes);
#endif
  return w;
}

/* One term of a product */
struct SpmmOperand {
  const int        *i, *j, *place;
  const SysReal    *a;
  const SpmmVector *panel;
  int               most; /* a longer row has parts */
  const int        *first;
  const SpmmVector *sums;
};

/* The lanes that are in the team of this thread; the other lanes of its warp need not be where the team is */
template <int ALL>
static __device__ inline unsigned SpmmTeam()
{
  return ALL == SYS_WARP ? SYS_ALL_LANES : ((1u << (ALL % SYS_WARP)) - 1) << (threadIdx.x % SYS_WARP / ALL * ALL);
}

/* Entry k of A, or 0 from k1 on */
static __device__ inline void SpmmEntry(const SpmmOperand &A, int k, int k1, int &column, SysReal &value)
{
  column = k < k1 ? __ldg(&A.j[k]) : 0;
  value  = k < k1 ? __ldg(&A.a[A.place ? __ldg(&A.place[k]) : k]) : (SysReal)0;
}

/* Adds some of the entries that the lanes of a team have: STEP from that of lane e on, of which the first n exist */
template <int LANES, int PER, int STEP, bool WHOLE>
static __device__ inline void SpmmStep(const SpmmOperand &A, unsigned team, int column, SysReal value, int e0, int n, int lane, SpmmVector sum[PER])
{
  SpmmVector d[STEP][PER];

#pragma unroll
  for (int e = 0; e < STEP; e++) {
    const int64_t c = __shfl_sync(team, column, e0 + e, LANES);

#pragma unroll
    for (int v = 0; v < PER; v++) d[e][v] = WHOLE || e < n ? __ldg(&A.panel[c * (LANES * PER) + v * LANES + lane]) : SpmmZero();
  }
#pragma unroll
  for (int e = 0; e < STEP; e++) {
    const SysReal a = __shfl_sync(team, value, e0 + e, LANES);

#pragma unroll
    for (int v = 0; v < PER; v++) SpmmAdd(sum[v], a, d[e][v]);
  }
}

/* Adds entries k to k + LANES * GROUPS * TIMES - 1, as far as they are before k1, all of whose rows of the panel are read together */
template <int LANES, int GROUPS, int TIMES>
static __device__ inline void SpmmNarrow(const SpmmOperand &A, int k, int k1, int t, unsigned team, SpmmVector &sum)
{
  constexpr int ALL = LANES * GROUPS;
  int           column[TIMES];
  SysReal       value[TIMES];
  SpmmVector    d[TIMES * LANES];

#pragma unroll
  for (int s = 0; s < TIMES; s++) SpmmEntry(A, k + s * ALL + t, k1, column[s], value[s]);
#pragma unroll
  for (int e = 0; e < TIMES * LANES; e++) {
    const int     s = e / LANES, from = e % LANES * GROUPS + t / LANES;
    const int64_t c = __shfl_sync(team, column[s], from, ALL);

    d[e] = k + s * ALL + from < k1 ? __ldg(&A.panel[c * LANES + t % LANES]) : SpmmZero();
  }
#pragma unroll
  for (int e = 0; e < TIMES * LANES; e++) SpmmAdd(sum, __shfl_sync(team, value[e / LANES], e % LANES * GROUPS + t / LANES, ALL), d[e]);
}

/* The sum of entries k0 to k1 - 1, by a team, of which this thread is number t. All groups of lanes get it. */
template <int LANES, int PER>
static __device__ inline void SpmmSum(const SpmmOperand &A, int k0, int k1, int t, SpmmVector sum[PER])
{
  constexpr int  ALL = LANES < TEAM ? TEAM : LANES;
  const unsigned team = SpmmTeam<ALL>();

#pragma unroll
  for (int v = 0; v < PER; v++) sum[v] = SpmmZero();
  if constexpr (LANES < ALL) {
    constexpr int TIMES = LANES < NARROW ? NARROW / LANES : 1;

    for (int k = k0; k < k1; k += ALL * TIMES) SpmmNarrow<LANES, ALL / LANES, TIMES>(A, k, k1, t, team, sum[0]);
#pragma unroll
    for (int d = LANES; d < ALL; d *= 2) SpmmAdd(sum[0], 1, SpmmOther(team, sum[0], d, ALL));
  } else {
    constexpr int STEP = FLYING / PER, Unroll = UNROLL;

    for (int k = k0; k < k1; k += LANES) {
      int     column;
      SysReal value;

      SpmmEntry(A, k + t, k1, column, value);
#pragma unroll(Unroll)
      for (int e = 0; e < LANES; e += STEP) {
        if (k + e + STEP <= k1) SpmmStep<LANES, PER, STEP, true>(A, team, column, value, e, STEP, t, sum);
        else {
#if TAIL
          if (k + e < k1) SpmmStep<LANES, PER, STEP, false>(A, team, column, value, e, k1 - k - e, t, sum);
#else
          for (int q = e; q < k1 - k; q++) SpmmStep<LANES, PER, 1, true>(A, team, column, value, q, 1, t, sum);
#endif
          break;
        }
      }
    }
  }
}

/* Adds the sum of a row, from its parts if it is long */
template <int LANES, int PER>
static __device__ inline void SpmmRow(const SpmmOperand &A, int64_t r, int t, SpmmVector sum[PER])
{
  const int k0 = __ldg(&A.i[r]), k1 = __ldg(&A.i[r + 1]);

  if (k1 - k0 <= A.most) {
    SpmmSum<LANES, PER>(A, k0, k1, t, sum);
    return;
  }
  const int end = __ldg(&A.first[r + 1]);

#pragma unroll
  for (int v = 0; v < PER; v++) sum[v] = SpmmZero();
#pragma unroll 4
  for (int p = __ldg(&A.first[r]); p < end; p++) {
#pragma unroll
    for (int v = 0; v < PER; v++) SpmmAdd(sum[v], 1, __ldg(&A.sums[(int64_t)p * (LANES * PER) + v * LANES + t % LANES]));
  }
}

template <int LANES, int PER>
static __global__ void __launch_bounds__(SYS_THREADS, BLOCKS) SpmmParts(const SpmmOperand A, int64_t npart, const int *begin, const int *end, SpmmVector *__restrict__ sums)
{
  constexpr int ALL = LANES < TEAM ? TEAM : LANES;
  const int     t   = (int)threadIdx.x % ALL;
  const int64_t p   = ((int64_t)blockIdx.x * SYS_THREADS + threadIdx.x) / ALL;
  SpmmVector    sum[PER];

  if (p >= npart) return;
  SpmmSum<LANES, PER>(A, begin[p], end[p], t, sum);
#pragma unroll
  for (int v = 0; v < PER; v++) {
    if (t < LANES) sums[p * (LANES * PER) + v * LANES + t] = sum[v];
  }
}

template <int LANES, int PER, int TERMS>
static __global__ void __launch_bounds__(SYS_THREADS, BLOCKS) SpmmRows(int64_t m, const SpmmOperand A, const SpmmOperand B, int ncol, SysReal *__restrict__ C, int64_t ld)
{
  constexpr int      ALL = LANES < TEAM ? TEAM : LANES, WIDTH = LANES * PER * SPMM_VECTOR;
  __shared__ SysReal tile[WIDTH][BLOCK_ROWS + 1];
  const int          t  = (int)threadIdx.x % ALL;
  const int64_t      r0 = (int64_t)blockIdx.x * BLOCK_ROWS;

  for (int y = (int)threadIdx.x / ALL; y < BLOCK_ROWS; y += SYS_THREADS / ALL) {
    const int64_t r = r0 + y;
    SpmmVector    sum[PER], more[PER];

    if (r >= m) break;
    SpmmRow<LANES, PER>(A, r, t, sum);
    if (TERMS > 1) SpmmRow<LANES, PER>(B, r, t, more);
#pragma unroll
    for (int v = 0; v < PER; v++) {
      SysReal *column = tile[(v * LANES + t % LANES) * SPMM_VECTOR] + y;

      if (TERMS > 1) SpmmAdd(sum[v], 1, more[v]);
      if (t < LANES && !ld) ((SpmmVector *)C)[r * (LANES * PER) + v * LANES + t] = sum[v];
      else if (t < LANES) {
        column[0]              = sum[v].x;
        column[BLOCK_ROWS + 1] = sum[v].y;
#if defined(SYS_SINGLE)
        column[2 * (BLOCK_ROWS + 1)] = sum[v].z;
        column[3 * (BLOCK_ROWS + 1)] = sum[v].w;
#endif
      }
    }
  }
  if (!ld) return;
  __syncthreads();
  for (int k = (int)threadIdx.x; k < WIDTH * BLOCK_ROWS; k += SYS_THREADS) {
    const int c = k / BLOCK_ROWS, y = k % BLOCK_ROWS;

    if (c < ncol && r0 + y < m) C[c * ld + r0 + y] = tile[c][y];
  }
}

template <int LANES, int PER>
static SysStatus SpmmLaunch(int64_t m, const SpmmDeviceTerm term[], int nterm, const SpmmOperand A[], int ncol, SysReal *C, int64_t ld, cudaStream_t stream)
{
  constexpr int ALL = LANES < TEAM ? TEAM : LANES;

  for (int n = 0; n < nterm; n++) {
    const SpmmDevice *s = term[n].S;

    if (s->npart) SpmmParts<LANES, PER><<<SysBlocks(s->npart * ALL), SYS_THREADS, 0, stream>>>(A[n], s->npart, s->begin, s->end, (SpmmVector *)s->sums);
  }
  if (nterm == 1) SpmmRows<LANES, PER, 1><<<SysBlocks(m, BLOCK_ROWS), SYS_THREADS, 0, stream>>>(m, A[0], A[0], ncol, C, ld);
  else SpmmRows<LANES, PER, 2><<<SysBlocks(m, BLOCK_ROWS), SYS_THREADS, 0, stream>>>(m, A[0], A[1], ncol, C, ld);
  SYS_CUDA(cudaPeekAtLastError());
  return SYS_SUCCESS;
}

SysStatus SpmmDeviceMult(int64_t m, const SpmmDeviceTerm term[], int nterm, int ncol, int width, SysReal *C, int64_t ld, SysStream stream)
{
  SpmmOperand A[2];

  if (!m) return SYS_SUCCESS;
  if (!nterm) {
    if (ld) SYS_CUDA(cudaMemset2DAsync(C, (size_t)ld * sizeof(*C), 0, (size_t)m * sizeof(*C), (size_t)ncol, stream));
    else SYS_CUDA(cudaMemsetAsync(C, 0, (size_t)m * (size_t)width * sizeof(*C), stream));
    return SYS_SUCCESS;
  }
  for (int n = 0; n < nterm; n++) {
    const SpmmDevice *s = term[n].S;

    A[n] = {s->i ? s->i : term[n].A.i, s->i ? s->j : term[n].A.j, s->place, term[n].A.a, (const SpmmVector *)term[n].panel, s->most, s->first, (const SpmmVector *)s->sums};
  }
  switch (width / SPMM_VECTOR) {
  case 1:
    return SpmmLaunch<1, 1>(m, term, nterm, A, ncol, C, ld, stream);
  case 2:
    return SpmmLaunch<2, 1>(m, term, nterm, A, ncol, C, ld, stream);
  case 4:
    return SpmmLaunch<4, 1>(m, term, nterm, A, ncol, C, ld, stream);
  case 8:
    return SpmmLaunch<8, 1>(m, term, nterm, A, ncol, C, ld, stream);
  case 16:
    return SpmmLaunch<SPMM_LANES(16), 16 / SPMM_LANES(16)>(m, term, nterm, A, ncol, C, ld, stream);
  default:
    return SpmmLaunch<SPMM_LANES(32), 32 / SPMM_LANES(32)>(m, term, nterm, A, ncol, C, ld, stream);
  }
}
