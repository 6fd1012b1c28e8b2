/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Products of a sparse and a dense matrix on a CUDA device, for matrices with rows of different lengths.

   A block of threads makes a share (spmmcudaplan.cu): some rows side by side, or a part of a long row. Its teams of lanes have as many entries each, whatever rows these are in.
   A team writes the rows that begin and end in its entries. Of a row that goes on in the entries of the next teams, the team in which it begins adds what they leave in
   shared memory, in their order. Parts of long rows are joined by a second kernel.
*/
#include "mat/impls/spmm/cuda/spmmcudarow.cuh"

template <int LANES, int PER>
static __global__ void __launch_bounds__(SYS_THREADS, SpmmBlocks<TEAM>()) SpmmShares(const SpmmOperand A, const SpmmShare *__restrict__ shares, const unsigned char *__restrict__ local, SpmmVector *__restrict__ parts, int ncol, SysReal *__restrict__ C, int64_t ld)
{
  constexpr int         VECTORS = LANES * PER, TEAMS = SYS_THREADS / LANES, STEP = FLYING / PER;
  __shared__ SysReal    tile[VECTORS * SPMM_VECTOR * (BLOCK_ROWS + 1)];
  __shared__ SpmmVector left[TEAMS * VECTORS]; /* by each team: the sum of the row that began before its entries */
  __shared__ int        whose[TEAMS];          /* the number of that row, or -1 */
  const SpmmShare       share = shares[blockIdx.x];
  const int             t = (int)threadIdx.x % LANES, y = (int)threadIdx.x / LANES;
  const unsigned        team = SpmmTeam<LANES>();
  const int             each = ((share.end - share.begin + TEAMS - 1) / TEAMS + STEP - 1) / STEP * STEP, before = y * each < share.end - share.begin ? y * each : share.end - share.begin;
  const int             k0 = share.begin + before, k1 = share.end - k0 < each ? share.end : k0 + each;
  SpmmVector            sum[PER];
  bool                  began = true, open = false; /* the row of the sum began in these entries; it goes on behind them */
  int                   row   = -1;
  const auto            write = [&](int r) {
#pragma unroll
    for (int v = 0; v < PER; v++) {
      if (!ld) ((SpmmVector *)C)[(int64_t)(share.row + r) * VECTORS + v * LANES + t] = sum[v];
      else SpmmKeep(sum[v], tile, BLOCK_ROWS + 1, v * LANES + t, r);
    }
  };
  const auto leave = [&]() {
#pragma unroll
    for (int v = 0; v < PER; v++) left[y * VECTORS + v * LANES + t] = sum[v];
  };

#pragma unroll
  for (int v = 0; v < PER; v++) sum[v] = SpmmZero();
  for (int r = y; share.part < 0 && r < share.rows; r += TEAMS) {
    if (__ldg(&A.i[share.row + r]) == __ldg(&A.i[share.row + r + 1])) write(r);
  }
  if (k0 < k1) {
    row   = __ldg(&local[k0]);
    began = k0 == share.begin || __ldg(&local[k0 - 1]) != row;
  }
  if (t == 0) whose[y] = began ? -1 : row;
  for (int k = k0; k < k1; k += LANES) {
    const int n      = k1 - k < LANES ? k1 - k : LANES;
    int       column = 0;
    SysReal   value  = 0;
    bool      ends   = false;

    row = 0;
    if (t < n) {
      SpmmEntry(A, k + t, k1, column, value);
      row  = __ldg(&local[k + t]);
      ends = share.part < 0 && (k + t + 1 == share.end || __ldg(&local[k + t + 1]) != row);
    }
    const unsigned last = __ballot_sync(team, ends) >> (threadIdx.x % SYS_WARP / LANES * LANES);

#pragma unroll 1
    for (int e0 = 0; e0 < n; e0 += STEP) {
      SpmmVector d[STEP][PER];

#pragma unroll
      for (int e = 0; e < STEP; e++) {
        const int64_t c = __shfl_sync(team, column, e0 + e, LANES);

#pragma unroll
        for (int v = 0; v < PER; v++) d[e][v] = e0 + e < n ? __ldg(&A.panel[c * VECTORS + v * LANES + t]) : SpmmZero();
      }
#pragma unroll
      for (int e = 0; e < STEP; e++) {
        const SysReal a = __shfl_sync(team, value, e0 + e, LANES);

#pragma unroll
        for (int v = 0; v < PER; v++) SpmmAdd(sum[v], a, d[e][v]);
        if (last >> (e0 + e) & 1) {
          if (began) write(__shfl_sync(team, row, e0 + e, LANES));
          else leave();
          began = true;
#pragma unroll
          for (int v = 0; v < PER; v++) sum[v] = SpmmZero();
        }
      }
    }
    open = !(last >> (n - 1) & 1);
    row  = __shfl_sync(team, row, n - 1, LANES);
  }
  if (open && !began) leave();
  __syncthreads();
  if (open && began) {
    for (int s = y + 1; s < TEAMS && whose[s] == row; s++) {
#pragma unroll
      for (int v = 0; v < PER; v++) SpmmAdd(sum[v], 1, left[s * VECTORS + v * LANES + t]);
    }
    if (share.part < 0) write(row);
    else {
#pragma unroll
      for (int v = 0; v < PER; v++) parts[(int64_t)share.part * VECTORS + v * LANES + t] = sum[v];
    }
  }
  if (!ld || share.part >= 0) return;
  __syncthreads();
  SpmmWrite(tile, BLOCK_ROWS, VECTORS * SPMM_VECTOR, share.row, share.row + share.rows, ncol, C, ld);
}

/* Adds up the parts of a long row */
template <int VECTORS>
static __global__ void __launch_bounds__(SYS_THREADS) SpmmJoinShares(const int *__restrict__ rows, const int *__restrict__ first, const SpmmVector *__restrict__ parts, int ncol, SysReal *__restrict__ C, int64_t ld)
{
  constexpr int         GROUPS = SYS_THREADS / VECTORS;
  __shared__ SpmmVector shared[SYS_THREADS];
  const int             t = (int)threadIdx.x % VECTORS, y = (int)threadIdx.x / VECTORS, end = first[blockIdx.x + 1];
  const int64_t         r   = rows[blockIdx.x];
  SpmmVector            sum = SpmmZero();

#pragma unroll 4
  for (int p = first[blockIdx.x] + y; p < end; p += GROUPS) SpmmAdd(sum, 1, parts[(int64_t)p * VECTORS + t]);
  shared[threadIdx.x] = sum;
  __syncthreads();
  if (y) return;
  for (int g = 1; g < GROUPS; g++) SpmmAdd(sum, 1, shared[g * VECTORS + t]);
  if (!ld) ((SpmmVector *)C)[r * VECTORS + t] = sum;
  else {
    const SysReal x[] =
    { sum.x,
      sum.y,
#if defined(SYS_SINGLE)
      sum.z,
      sum.w
#endif
    };

#pragma unroll
    for (int v = 0; v < SPMM_VECTOR; v++) {
      if (t * SPMM_VECTOR + v < ncol) C[(t * SPMM_VECTOR + v) * ld + r] = x[v];
    }
  }
}

SysStatus SpmmSharesMult(const SpmmDeal *deal, const SpmmOperand &A, int ncol, SysReal *C, int64_t ld, cudaStream_t stream)
{
  SpmmShares<SYS_WARP, 1><<<(unsigned)deal->nshare, SYS_THREADS, 0, stream>>>(A, deal->share, deal->local, (SpmmVector *)deal->parts, ncol, C, ld);
  if (deal->nlong) SpmmJoinShares<SYS_WARP><<<(unsigned)deal->nlong, SYS_THREADS, 0, stream>>>(deal->longs, deal->first, (const SpmmVector *)deal->parts, ncol, C, ld);
  SYS_CUDA(cudaPeekAtLastError());
  return SYS_SUCCESS;
}
