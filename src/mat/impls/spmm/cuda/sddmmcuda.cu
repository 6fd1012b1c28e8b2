/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Sampled products of dense matrices on a CUDA device.

   A team of lanes takes a row of the pattern. It keeps the row of the left matrix in registers, and its groups of lanes take entries by turns: each lane multiplies
   its vectors of 16 bytes for as many entries as its group has lanes, before the lanes exchange their sums so that each lane has the result of one entry. A block
   of threads makes BLOCK_ROWS rows; it reads these from the columns of the left matrix, and turns them in shared memory. Long rows are cut into parts, each with a
   team of its own, which reads the row from a panel of the long rows.
*/
#include "mat/impls/spmm/cuda/spmmcuda.cuh"

#define TEAM   8 /* lanes of a row */
#define FLYING 8 /* vectors that a lane reads together, at most */

#if defined(SYS_SINGLE)
typedef float4 SddmmVector;
#else
typedef double2 SddmmVector;
#endif

static __device__ inline SysReal SddmmDot(SysReal sum, const SysReal *x, const SddmmVector &y)
{
  sum = fma(x[0], y.x, sum);
  sum = fma(x[1], y.y, sum);
#if defined(SYS_SINGLE)
  sum = fma(x[2], y.z, sum);
  sum = fma(x[3], y.w, sum);
#endif
  return sum;
}

static __device__ inline void SddmmLoad(SysReal *x, const SddmmVector &y)
{
  x[0] = y.x;
  x[1] = y.y;
#if defined(SYS_SINGLE)
  x[2] = y.z;
  x[3] = y.w;
#endif
}

/* Blocks of a multiprocessor, for which a thread has registers */
template <int LANES, int PER>
static constexpr int SddmmBlocks()
{
  return LANES < TEAM ? 5 : PER == 2 ? 3 : 4;
}

/* The operands of a sampled product */
struct SddmmOperand {
  const int         *i, *j;
  const SysReal     *a; /* NULL: the results are not scaled */
  const SysReal     *left;
  int64_t            ld;
  int                ncol;
  const SddmmVector *right;
  int                add;
  SysReal           *values;
};

/* LANES lanes have a sum for each of LANES entries; lane l gets that of entry l over all lanes */
template <int LANES>
static __device__ inline SysReal SddmmExchange(unsigned team, SysReal sum[LANES], int lane)
{
#pragma unroll
  for (int d = LANES / 2; d; d /= 2) {
    const bool upper = lane & d;

#pragma unroll
    for (int e = 0; e < d; e++) {
      const SysReal other = upper ? sum[e] : sum[e + d];

      sum[e] = (upper ? sum[e + d] : sum[e]) + __shfl_xor_sync(team, other, d, LANES);
    }
  }
  return sum[0];
}

/* Columns of TIMES * TEAM entries from k on, or -1 for those that do not exist */
template <int TIMES>
static __device__ inline void SddmmColumns(const SddmmOperand &A, int k, int k1, int t, int column[TIMES])
{
#pragma unroll
  for (int s = 0; s < TIMES; s++) column[s] = k + s * TEAM + t < k1 ? __ldg(&A.j[k + s * TEAM + t]) : -1;
}

/* The results of TIMES * TEAM entries from k on, of which those before k1 exist, or all if WHOLE is true. Lane l of a group has vectors l, l + LANES ... of x. */
template <int LANES, int PER, int TIMES, bool WHOLE>
static __device__ inline void SddmmSome(const SddmmOperand &A, int k, int k1, int t, unsigned team, const SysReal x[PER * SPMM_VECTOR], const int column[TIMES])
{
  constexpr int STEP = FLYING / PER < TIMES * LANES ? FLYING / PER : TIMES * LANES;
  const int     lane = t % LANES, group = t - lane;
  SysReal       sum[TIMES][LANES];

#pragma unroll
  for (int e0 = 0; e0 < TIMES * LANES; e0 += STEP) {
    SddmmVector y[STEP][PER];

#pragma unroll
    for (int e = 0; e < STEP; e++) {
      const int c = __shfl_sync(team, column[(e0 + e) / LANES], group + (e0 + e) % LANES, TEAM);

#pragma unroll
      for (int v = 0; v < PER; v++) y[e][v] = WHOLE || c >= 0 ? __ldg(&A.right[(int64_t)c * (LANES * PER) + v * LANES + lane]) : SddmmVector();
    }
#pragma unroll
    for (int e = 0; e < STEP; e++) {
      SysReal dot = 0;

#pragma unroll
      for (int v = 0; v < PER; v++) dot = SddmmDot(dot, &x[v * SPMM_VECTOR], y[e][v]);
      sum[(e0 + e) / LANES][(e0 + e) % LANES] = dot;
    }
  }
#pragma unroll
  for (int s = 0; s < TIMES; s++) {
    const int q      = k + s * TEAM + t;
    SysReal   result = SddmmExchange<LANES>(team, sum[s], lane);

    if (WHOLE || q < k1) {
      if (A.add) result += A.values[q];
      A.values[q] = A.a ? result * __ldg(&A.a[q]) : result;
    }
  }
}

/* The results of entries k0 to k1 - 1 of a row whose numbers are in x, by a team, of which this thread is number t */
template <int LANES, int PER>
static __device__ inline void SddmmEntries(const SddmmOperand &A, int k0, int k1, int t, const SysReal x[PER * SPMM_VECTOR])
{
  constexpr int  TIMES = LANES * PER < FLYING ? FLYING / (LANES * PER) : 1;
  constexpr bool AHEAD = PER < 4; /* the next columns are read while these entries are made; the widest rows have no registers for that */
  const unsigned team  = ((1u << TEAM) - 1) << (threadIdx.x % SYS_WARP / TEAM * TEAM);
  int            k     = k0, column[TIMES], next[TIMES];

  if (AHEAD) SddmmColumns<TIMES>(A, k, k1, t, next);
  for (; k + TEAM * TIMES <= k1; k += TEAM * TIMES) {
    if (AHEAD) {
#pragma unroll
      for (int s = 0; s < TIMES; s++) column[s] = next[s];
      SddmmColumns<TIMES>(A, k + TEAM * TIMES, k1, t, next);
    } else SddmmColumns<TIMES>(A, k, k1, t, column);
    SddmmSome<LANES, PER, TIMES, true>(A, k, k1, t, team, x, column);
  }
  for (; k < k1; k += TEAM) {
    if (AHEAD && TIMES == 1) column[0] = next[0];
    else SddmmColumns<1>(A, k, k1, t, column);
    SddmmSome<LANES, PER, 1, false>(A, k, k1, t, team, x, column);
  }
}

/* The number of the dense row that vector v of a lane begins with */
template <int LANES>
static __device__ inline int SddmmColumn(int v, int t)
{
  return (v * LANES + t % LANES) * SPMM_VECTOR;
}

template <int LANES, int PER>
static __global__ void __launch_bounds__(SYS_THREADS, (SddmmBlocks<LANES, PER>())) SddmmParts(const SddmmOperand A, int64_t npart, const SysReal *__restrict__ longs, const int *__restrict__ owner, const int *__restrict__ begin, const int *__restrict__ end)
{
  const int     t = (int)threadIdx.x % TEAM;
  const int64_t p = ((int64_t)blockIdx.x * SYS_THREADS + threadIdx.x) / TEAM;
  SysReal       x[PER * SPMM_VECTOR];

  if (p >= npart) return;
#pragma unroll
  for (int v = 0; v < PER; v++) SddmmLoad(&x[v * SPMM_VECTOR], __ldg((const SddmmVector *)longs + (int64_t)owner[p] * (LANES * PER) + v * LANES + t % LANES));
  SddmmEntries<LANES, PER>(A, begin[p], end[p], t, x);
}

template <int LANES, int PER>
static __global__ void __launch_bounds__(SYS_THREADS, (SddmmBlocks<LANES, PER>())) SddmmRows(int64_t m, const SddmmOperand A, int most)
{
  constexpr int      WIDTH = LANES * PER * SPMM_VECTOR;
  __shared__ SysReal tile[WIDTH][BLOCK_ROWS + 1];
  const int          t = (int)threadIdx.x % TEAM, y = (int)threadIdx.x / TEAM;
  const int64_t      r0 = (int64_t)blockIdx.x * BLOCK_ROWS;
  SysReal            x[PER * SPMM_VECTOR];

  static_assert(SYS_THREADS / TEAM == BLOCK_ROWS, "each team takes one row");
  for (int k = (int)threadIdx.x; k < WIDTH * BLOCK_ROWS; k += SYS_THREADS) {
    const int c = k / BLOCK_ROWS, q = k % BLOCK_ROWS;

    tile[c][q] = c < A.ncol && r0 + q < m ? __ldg(&A.left[c * A.ld + r0 + q]) : (SysReal)0;
  }
  __syncthreads();
  if (r0 + y >= m) return;
  const int k0 = __ldg(&A.i[r0 + y]), k1 = __ldg(&A.i[r0 + y + 1]);

  if (k1 - k0 > most) return;
#pragma unroll
  for (int q = 0; q < PER * SPMM_VECTOR; q++) x[q] = tile[SddmmColumn<LANES>(q / SPMM_VECTOR, t) + q % SPMM_VECTOR][y];
  SddmmEntries<LANES, PER>(A, k0, k1, t, x);
}

template <int LANES, int PER>
static SysStatus SddmmLaunch(const SpmmDevice *S, int64_t m, const SddmmOperand &A, cudaStream_t stream)
{
  SddmmRows<LANES, PER><<<SysBlocks(m, BLOCK_ROWS), SYS_THREADS, 0, stream>>>(m, A, S->most);
  if (S->npart) {
    SYS_CALL(SpmmPackRows(S->nlong, S->longs, A.ncol, LANES * PER * SPMM_VECTOR, A.left, A.ld, S->sums, stream));
    SddmmParts<LANES, PER><<<SysBlocks(S->npart * TEAM), SYS_THREADS, 0, stream>>>(A, S->npart, S->sums, S->owner, S->begin, S->end);
  }
  SYS_CUDA(cudaPeekAtLastError());
  return SYS_SUCCESS;
}

SysStatus SddmmDevice(const SpmmDevice *S, const SysCSR *A, int ncol, int width, const SysReal *left, int64_t ld, const SysReal *right, int add, int scale, SysReal *values, SysStream stream)
{
  const SddmmOperand operand = {A->i, A->j, scale ? A->a : NULL, left, ld, ncol, (const SddmmVector *)right, add, values};

  if (!A->nz) return SYS_SUCCESS;
  switch (width / SPMM_VECTOR) {
  case 1:
    return SddmmLaunch<1, 1>(S, A->m, operand, stream);
  case 2:
    return SddmmLaunch<2, 1>(S, A->m, operand, stream);
  case 4:
    return SddmmLaunch<4, 1>(S, A->m, operand, stream);
  case 8:
    return SddmmLaunch<8, 1>(S, A->m, operand, stream);
  case 16:
    return SddmmLaunch<8, 2>(S, A->m, operand, stream);
  default:
    return SddmmLaunch<8, 4>(S, A->m, operand, stream);
  }
}
