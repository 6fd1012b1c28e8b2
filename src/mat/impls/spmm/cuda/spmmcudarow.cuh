/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The sum of one row of SpMM by a team of lanes.

   A row of the panel has LANES * PER vectors of 16 bytes: lane l has vectors l, l + LANES, ... With a narrow panel a team has several groups of LANES
   lanes, which take the row's entries in turn.
*/
#pragma once

#include "mat/impls/spmm/cuda/spmmcuda.cuh"

static __device__ inline void SpmmAdd(SpmmVector &sum, SysReal a, const SpmmVector &d)
{
  sum.x = fma(a, d.x, sum.x);
  sum.y = fma(a, d.y, sum.y);
#if defined(SYS_SINGLE)
  sum.z = fma(a, d.z, sum.z);
  sum.w = fma(a, d.w, sum.w);
#endif
}

/* Returns the vector of the lane whose number differs in bit d */
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

/* Minimum of resident blocks: many threads hide the latency of the panel. Teams of a whole warp read further ahead instead. */
template <int LANES>
static constexpr int SpmmBlocks()
{
  return LANES == SYS_WARP ? 1 : 5;
}

/* One term of a product */
struct SpmmOperand {
  const int        *i, *j, *position;
  const SysReal    *a;
  const SpmmVector *panel;
  int               most; /* longer rows have parts */
  const int        *first;
  const SpmmVector *sums;
};

/* Returns the mask of this thread's team; the warp's other lanes may have diverged */
template <int ALL>
static __device__ inline unsigned SpmmTeam()
{
  return ALL == SYS_WARP ? SYS_ALL_LANES : ((1u << (ALL % SYS_WARP)) - 1) << (threadIdx.x % SYS_WARP / ALL * ALL);
}

/* Loads entry k of A, or 0 from k1 on */
static __device__ inline void SpmmEntry(const SpmmOperand &A, int k, int k1, int &column, SysReal &value)
{
  column = k < k1 ? __ldg(&A.j[k]) : 0;
  value  = k < k1 ? __ldg(&A.a[A.position ? __ldg(&A.position[k]) : k]) : (SysReal)0;
}

/* Adds STEP of the entries in the team's lanes, from lane e's on; the first n exist */
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

/* Adds entries k to k + LANES * GROUPS * TIMES - 1 before k1; their rows of the panel are read together */
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

/* Returns to all groups of lanes the sum of entries k0 to k1 - 1; t: this thread's number in the team */
template <int LANES, int PER>
static __device__ inline void SpmmSum(const SpmmOperand &A, int k0, int k1, int t, SpmmVector sum[PER])
{
  constexpr int  ALL  = LANES < SPMM_TEAM_LEAST ? SPMM_TEAM_LEAST : LANES;
  const unsigned team = SpmmTeam<ALL>();

#pragma unroll
  for (int v = 0; v < PER; v++) sum[v] = SpmmZero();
  if constexpr (LANES < ALL) {
    constexpr int TIMES = LANES < SPMM_ROW_LOADS_SMALL ? SPMM_ROW_LOADS_SMALL / LANES : 1;

    for (int k = k0; k < k1; k += ALL * TIMES) SpmmNarrow<LANES, ALL / LANES, TIMES>(A, k, k1, t, team, sum[0]);
#pragma unroll
    for (int d = LANES; d < ALL; d *= 2) SpmmAdd(sum[0], 1, SpmmOther(team, sum[0], d, ALL));
  } else {
    constexpr int STEP = SPMM_ROW_LOADS / PER, UNROLL = LANES == SYS_WARP ? LANES / STEP : 1;

    constexpr bool AHEAD = LANES == SPMM_TEAM_LEAST && PER == 1; /* reads the next entries during these multiplications; wider rows lack the registers */
    int            column, next;
    SysReal        value, following;

    if (AHEAD) SpmmEntry(A, k0 + t, k1, next, following);
    for (int k = k0; k < k1; k += LANES) {
      if (AHEAD) {
        column = next;
        value  = following;
        SpmmEntry(A, k + LANES + t, k1, next, following);
      } else SpmmEntry(A, k + t, k1, column, value);
#pragma unroll(UNROLL)
      for (int e = 0; e < LANES; e += STEP) {
        if (k + e + STEP <= k1) SpmmStep<LANES, PER, STEP, true>(A, team, column, value, e, STEP, t, sum);
        else {
          if (LANES == SPMM_TEAM_LEAST && k + e < k1) SpmmStep<LANES, PER, STEP, false>(A, team, column, value, e, k1 - k - e, t, sum);
          for (int q = e; LANES > SPMM_TEAM_LEAST && q < k1 - k; q++) SpmmStep<LANES, PER, 1, true>(A, team, column, value, q, 1, t, sum);
          break;
        }
      }
    }
  }
}

/* Adds a row's sum, from its parts if it is long */
template <int LANES, int PER>
static __device__ inline void SpmmRow(const SpmmOperand &A, int64_t r, int t, SpmmVector sum[PER])
{
  const int k0 = __ldg(&A.i[r]), k1 = __ldg(&A.i[r + 1]);

  if (k1 - k0 <= A.most) {
    SpmmSum<LANES, PER>(A, k0, k1, t, sum);
    return;
  }
  const int begin = __ldg(&A.first[r]), after = __ldg(&A.first[r + 1]), end = after - begin > SPMM_PARTS_OWN ? begin + 1 : after;

#pragma unroll
  for (int v = 0; v < PER; v++) sum[v] = SpmmZero();
#pragma unroll 4
  for (int p = begin; p < end; p++) {
#pragma unroll
    for (int v = 0; v < PER; v++) SpmmAdd(sum[v], 1, __ldg(&A.sums[(int64_t)p * (LANES * PER) + v * LANES + t % LANES]));
  }
}

/* Moves a block's rows through a tile in shared memory, whose columns have `column` or rows + 1 numbers, to the columns of the result */
static __device__ inline void SpmmKeep(const SpmmVector &v, SysReal *tile, int column, int vector, int row)
{
#pragma unroll
  for (int c = 0; c < SPMM_VECTOR_NUMBERS; c++) tile[(vector * SPMM_VECTOR_NUMBERS + c) * column + row] = SpmmNumber(v, c);
}

template <int THREADS = SYS_THREADS>
static __device__ inline void SpmmWrite(const SysReal *tile, int rows, int width, int64_t r0, int64_t m, int ncol, SysReal *__restrict__ C, int64_t ld)
{
  for (int k = (int)threadIdx.x; k < width * rows; k += THREADS) {
    const int c = k / rows, y = k % rows;

    if (c < ncol && r0 + y < m) C[c * ld + r0 + y] = tile[c * (rows + 1) + y];
  }
}

/* Multiplies a matrix whose rows come in nodes of 2 or 3 rows with equal columns (spmmcudanode.cu) */
SysStatus SpmmNodesMult(int64_t m, int rows, const SpmmOperand &A, int nvalue, int ncol, int width, SysReal *C, int64_t ld, cudaStream_t stream);

/* Multiplies a matrix partitioned into shares, by a panel of the shares' width (spmmcudashare.cu) */
SysStatus SpmmSharesMult(const SpmmDeal *deal, const SpmmOperand &A, int ncol, SysReal *C, int64_t ld, cudaStream_t stream);
