/* SPDX-License-Identifier: BSD-2-Clause */
/*
   SDDMM on a CUDA device: entries of D1 D2^T in the pattern of A.

   A thread block reads its rows of the left matrix from the columns into shared memory. If no row is long, a team of lanes has one of these rows.
   Otherwise a block has a share (spmmcudaplan.cu), whose entries its teams take in turn, whatever their rows.

   A team keeps the left row in registers. Its groups of lanes take entries in turn: each lane multiplies its 16-byte vectors for as many entries as
   its group has lanes; then the lanes exchange sums, so that each lane has the result of one entry.

   spmmhost.h has the idea.
*/
#include "mat/impls/spmm/cuda/spmmcuda.cuh"

static __device__ inline SysReal SddmmDot(SysReal sum, const SpmmVector &x, const SpmmVector &y)
{
  sum = fma(x.x, y.x, sum);
  sum = fma(x.y, y.y, sum);
#if defined(SYS_SINGLE)
  sum = fma(x.z, y.z, sum);
  sum = fma(x.w, y.w, sum);
#endif
  return sum;
}

/* Minimum of resident blocks a multiprocessor */
template <int LANES, int PER>
static constexpr int SddmmBlocks()
{
  return LANES < SPMM_TEAM_LEAST ? 5 : PER == 2 ? 3 : 4;
}

/* The operands of a sampled product */
struct SddmmOperand {
  const int           *i, *j;
  const unsigned char *local;
  const SysReal       *a; /* NULL: no scaling */
  const SysReal       *left;
  int64_t              ld;
  int                  ncol;
  const SpmmVector    *right;
  int                  add;
  SysReal             *values;
};

/* Reduces LANES sums over LANES lanes; lane l gets the total of sum l */
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

/* Transposes rows of the left matrix from its columns into shared memory */
template <int VECTORS>
static __device__ inline void SddmmTile(const SddmmOperand &A, int64_t r0, int64_t rows, SpmmVector *tile)
{
#pragma unroll
  for (int s = 0; s < (VECTORS * SPMM_BLOCK_ROWS + SYS_THREADS - 1) / SYS_THREADS; s++) {
    const int at = (int)threadIdx.x + s * SYS_THREADS, q = at % SPMM_BLOCK_ROWS, v = at / SPMM_BLOCK_ROWS;

    if (v < VECTORS) tile[SpmmSlot<VECTORS>(q, v)] = SpmmGather(A.left + r0 + q, A.ld, v * SPMM_VECTOR_NUMBERS, q < rows ? A.ncol - v * SPMM_VECTOR_NUMBERS : 0);
  }
  __syncthreads();
}

static __device__ inline void SddmmResult(const SddmmOperand &A, int q, SysReal result)
{
  if (A.add) result += A.values[q];
  A.values[q] = A.a ? result * __ldg(&A.a[q]) : result;
}

/* ------------------------------------------------- a row a team ------------------------------------------------- */

/* Loads the columns of TIMES * SPMM_TEAM_LEAST entries from k on; -1 after the end */
template <int TIMES>
static __device__ inline void SddmmColumns(const SddmmOperand &A, int k, int k1, int t, int column[TIMES])
{
#pragma unroll
  for (int s = 0; s < TIMES; s++) column[s] = k + s * SPMM_TEAM_LEAST + t < k1 ? __ldg(&A.j[k + s * SPMM_TEAM_LEAST + t]) : -1;
}

/* Computes TIMES * SPMM_TEAM_LEAST results from entry k on; only those before k1 exist, unless WHOLE. Lane l of a group has vectors l, l + LANES, ... of x. */
template <int LANES, int PER, int TIMES, bool WHOLE>
static __device__ inline void SddmmSome(const SddmmOperand &A, int k, int k1, int t, unsigned team, const SpmmVector x[PER], const int column[TIMES])
{
  constexpr int STEP = SDDMM_LOADS / PER < TIMES * LANES ? SDDMM_LOADS / PER : TIMES * LANES;
  const int     lane = t % LANES, group = t - lane;
  SysReal       sum[TIMES][LANES];

#pragma unroll
  for (int e0 = 0; e0 < TIMES * LANES; e0 += STEP) {
    SpmmVector y[STEP][PER];

#pragma unroll
    for (int e = 0; e < STEP; e++) {
      const int c = __shfl_sync(team, column[(e0 + e) / LANES], group + (e0 + e) % LANES, SPMM_TEAM_LEAST);

#pragma unroll
      for (int v = 0; v < PER; v++) y[e][v] = WHOLE || c >= 0 ? __ldg(&A.right[(int64_t)c * (LANES * PER) + v * LANES + lane]) : SpmmZero();
    }
#pragma unroll
    for (int e = 0; e < STEP; e++) {
      SysReal dot = 0;

#pragma unroll
      for (int v = 0; v < PER; v++) dot = SddmmDot(dot, x[v], y[e][v]);
      sum[(e0 + e) / LANES][(e0 + e) % LANES] = dot;
    }
  }
#pragma unroll
  for (int s = 0; s < TIMES; s++) {
    const int     q      = k + s * SPMM_TEAM_LEAST + t;
    const SysReal result = SddmmExchange<LANES>(team, sum[s], lane);

    if (WHOLE || q < k1) SddmmResult(A, q, result);
  }
}

template <int LANES, int PER>
static __global__ void __launch_bounds__(SYS_THREADS, (SddmmBlocks<LANES, PER>())) SddmmRows(int64_t m, const SddmmOperand A)
{
  constexpr int         VECTORS = LANES * PER, TIMES = VECTORS < SDDMM_LOADS ? SDDMM_LOADS / VECTORS : 1;
  constexpr bool        AHEAD = PER < 4; /* reads the next columns during these results; the widest rows lack the registers */
  __shared__ SpmmVector tile[VECTORS * SPMM_BLOCK_ROWS];
  const int             t = (int)threadIdx.x % SPMM_TEAM_LEAST, y = (int)threadIdx.x / SPMM_TEAM_LEAST;
  const int64_t         r0   = (int64_t)blockIdx.x * SPMM_BLOCK_ROWS;
  const unsigned        team = ((1u << SPMM_TEAM_LEAST) - 1) << (threadIdx.x % SYS_WARP / SPMM_TEAM_LEAST * SPMM_TEAM_LEAST);
  int                   column[TIMES], next[TIMES];
  SpmmVector            x[PER];

  static_assert(SYS_THREADS / SPMM_TEAM_LEAST == SPMM_BLOCK_ROWS, "each team takes one row");
  SddmmTile<VECTORS>(A, r0, m - r0, tile);
  if (r0 + y >= m) return;
  const int k1 = __ldg(&A.i[r0 + y + 1]);
  int       k  = __ldg(&A.i[r0 + y]);

#pragma unroll
  for (int v = 0; v < PER; v++) x[v] = tile[SpmmSlot<VECTORS>(y, v * LANES + t % LANES)];
  if (AHEAD) SddmmColumns<TIMES>(A, k, k1, t, next);
  for (; k + SPMM_TEAM_LEAST * TIMES <= k1; k += SPMM_TEAM_LEAST * TIMES) {
    if (AHEAD) {
#pragma unroll
      for (int s = 0; s < TIMES; s++) column[s] = next[s];
      SddmmColumns<TIMES>(A, k + SPMM_TEAM_LEAST * TIMES, k1, t, next);
    } else SddmmColumns<TIMES>(A, k, k1, t, column);
    SddmmSome<LANES, PER, TIMES, true>(A, k, k1, t, team, x, column);
  }
  for (; k < k1; k += SPMM_TEAM_LEAST) {
    if (AHEAD && TIMES == 1) column[0] = next[0];
    else SddmmColumns<1>(A, k, k1, t, column);
    SddmmSome<LANES, PER, 1, false>(A, k, k1, t, team, x, column);
  }
}

/* ------------------------------------------------- a share a block ------------------------------------------------- */

/* Loads the column of entry k and its row in the share; column -1 and any row after the end */
static __device__ inline void SddmmEntry(const SddmmOperand &A, int k, int end, int &column, int &row)
{
  column = -1;
  if (k < end) {
    column = __ldg(&A.j[k]);
    row    = __ldg(&A.local[k]);
  }
}

template <int LANES, int PER>
static __global__ void __launch_bounds__(SYS_THREADS, PER == 1 ? 4 : 3) SddmmShares(const SddmmOperand A, const SpmmShare *__restrict__ shares)
{
  constexpr int         VECTORS = LANES * PER, STEP = SDDMM_LOADS / PER < LANES ? SDDMM_LOADS / PER : LANES;
  __shared__ SpmmVector tile[VECTORS * SPMM_BLOCK_ROWS];
  const SpmmShare       share = shares[blockIdx.x];
  const int             t     = (int)threadIdx.x % LANES;
  const unsigned        team  = ((1u << LANES) - 1) << (threadIdx.x % SYS_WARP / LANES * LANES);
  int                   k = share.begin + (int)threadIdx.x, current = -1, next, following = 0;
  SpmmVector            x[PER];

  SddmmEntry(A, k, share.end, next, following);
  SddmmTile<VECTORS>(A, share.row, share.rows, tile);
  for (; k - t < share.end; k += SYS_THREADS) {
    const int column = next, row = following;
    SysReal   sum[LANES];

    SddmmEntry(A, k + SYS_THREADS, share.end, next, following);
#pragma unroll
    for (int e0 = 0; e0 < LANES; e0 += STEP) {
      SpmmVector y[STEP][PER];

      SpmmRead<LANES, PER, STEP>(A.right, team, column, e0, t, y);
#pragma unroll
      for (int e = 0; e < STEP; e++) {
        const int r   = __shfl_sync(team, row, e0 + e, LANES);
        SysReal   dot = 0;

        if (r != current) {
          current = r;
#pragma unroll
          for (int v = 0; v < PER; v++) x[v] = tile[SpmmSlot<VECTORS>(r, v * LANES + t)];
        }
#pragma unroll
        for (int v = 0; v < PER; v++) dot = SddmmDot(dot, x[v], y[e][v]);
        sum[e0 + e] = dot;
      }
    }
    const SysReal result = SddmmExchange<LANES>(team, sum, t);

    if (k < share.end) SddmmResult(A, k, result);
  }
}

template <int LANES, int PER>
static void SddmmLaunch(const SpmmDevice *S, int64_t m, const SddmmOperand &A, cudaStream_t stream)
{
  if (S->deal.nshare) SddmmShares<LANES, PER><<<(unsigned)S->deal.nshare, SYS_THREADS, 0, stream>>>(A, S->deal.share);
  else SddmmRows<LANES, PER><<<SysBlocks(m, SPMM_BLOCK_ROWS), SYS_THREADS, 0, stream>>>(m, A);
}

SysStatus SddmmDevice(const SpmmDevice *S, const SysCSR *A, int ncol, int width, const SysReal *left, int64_t ld, const SysReal *right, int add, int scale, SysReal *values, SysStream stream)
{
  static void (*const launch[])(const SpmmDevice *, int64_t, const SddmmOperand &, cudaStream_t) = {SddmmLaunch<1, 1>, SddmmLaunch<2, 1>, SddmmLaunch<4, 1>, SddmmLaunch<8, 1>, SddmmLaunch<8, 2>, SddmmLaunch<8, 4>};
  int which                                                                                      = 0;

  if (!A->nz) return SYS_SUCCESS;
  while (SPMM_VECTOR_NUMBERS << which < width) which++;
  launch[which](S, A->m, {A->i, A->j, S->deal.local, scale ? A->a : NULL, left, ld, ncol, (const SpmmVector *)right, add, values}, stream);
  SYS_CUDA(cudaPeekAtLastError());
  return SYS_SUCCESS;
}
