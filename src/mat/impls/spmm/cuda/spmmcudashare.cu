/* SPDX-License-Identifier: BSD-2-Clause */
/*
   SpMM on a CUDA device, for rows of different lengths.

   A thread block computes a share (spmmcudaplan.cu): some consecutive rows, or part of a long row. Its teams of lanes have equally many entries,
   whatever their rows. A team writes the rows that begin and end in its entries. For a row that continues, the team in which it begins adds the
   following teams' partial sums from shared memory, in order. A second kernel joins the parts of long rows.

   spmmhost.h has the idea.
*/
#include "mat/impls/spmm/cuda/spmmcudarow.cuh"

/* Narrow teams are many in a thread block, which then takes more rows */
static constexpr SpmmShape ShareShape(int vectors)
{
  return vectors == SYS_WARP ? SpmmShape{SPMM_BLOCK_ROWS, 512} : vectors == 16 ? SpmmShape{64, 1024} : vectors >= SPMM_SHARE_LEAST ? SpmmShape{128, 1024} : SpmmShape{0, 0};
}

SpmmShape SpmmShareShape(int vectors)
{
  return ShareShape(vectors);
}

/* A lane's part of entry k: its column, or -1 from k1 on, its value, its row in the share, and whether the row ends there */
struct SpmmShared {
  int     column, row;
  SysReal value;
  bool    ends;
};

static __device__ inline SpmmShared SpmmShareEntry(const SpmmOperand &A, const SpmmShare &share, const unsigned char *__restrict__ local, int k, int k1)
{
  SpmmShared x = {-1, 0, 0, false};

  if (k < k1) {
    SpmmEntry(A, k, k1, x.column, x.value);
    x.row  = __ldg(&local[k]);
    x.ends = share.part < 0 && (k + 1 == share.end || __ldg(&local[k + 1]) != x.row);
  }
  return x;
}

template <int LANES, int ROWS>
static __global__ void __launch_bounds__(SYS_THREADS, SpmmBlocks<SPMM_TEAM_LEAST>()) SpmmShares(const SpmmOperand A, const SpmmShare *__restrict__ shares, const unsigned char *__restrict__ local, SpmmVector *__restrict__ parts, int ncol, SysReal *__restrict__ C, int64_t ld)
{
  constexpr int         TEAMS = SYS_THREADS / LANES;
  __shared__ SysReal    tile[LANES * SPMM_VECTOR_NUMBERS * (ROWS + 1)];
  __shared__ SpmmVector left[SYS_THREADS]; /* each team's sum of the row that began before its entries */
  __shared__ int        whose[TEAMS];      /* that row's number, or -1 */
  const SpmmShare       share = shares[blockIdx.x];
  const int             t = (int)threadIdx.x % LANES, y = (int)threadIdx.x / LANES;
  const unsigned        team = SpmmTeam<LANES>();
  const int             each = ((share.end - share.begin + TEAMS - 1) / TEAMS + SPMM_ROW_LOADS - 1) / SPMM_ROW_LOADS * SPMM_ROW_LOADS, before = y * each < share.end - share.begin ? y * each : share.end - share.begin;
  const int             k0 = share.begin + before, k1 = share.end - k0 < each ? share.end : k0 + each;
  SpmmVector            sum   = SpmmZero();
  bool                  began = true, open = false; /* began: the sum's row began in these entries; open: it continues after them */
  int                   row   = -1;
  const auto            write = [&](int r) {
    if (!ld) ((SpmmVector *)C)[(int64_t)(share.row + r) * LANES + t] = sum;
    else SpmmKeep(sum, tile, ROWS + 1, t, r);
  };

  for (int r = y; share.part < 0 && r < share.rows; r += TEAMS) {
    if (__ldg(&A.i[share.row + r]) == __ldg(&A.i[share.row + r + 1])) write(r);
  }
  if (k0 < k1) {
    row   = __ldg(&local[k0]);
    began = k0 == share.begin || __ldg(&local[k0 - 1]) != row;
  }
  if (t == 0) whose[y] = began ? -1 : row;
  for (int k = k0; k < k1; k += LANES) {
    const int        n    = k1 - k < LANES ? k1 - k : LANES;
    const SpmmShared x    = SpmmShareEntry(A, share, local, k + t, k1);
    const unsigned   last = __ballot_sync(team, x.ends) >> (threadIdx.x % SYS_WARP / LANES * LANES);

#pragma unroll 1
    for (int e0 = 0; e0 < n; e0 += SPMM_ROW_LOADS) {
      SpmmVector d[SPMM_ROW_LOADS][1];

      SpmmRead<LANES, 1, SPMM_ROW_LOADS>(A.panel, team, x.column, e0, t, d);
#pragma unroll
      for (int e = 0; e < SPMM_ROW_LOADS; e++) {
        SpmmAdd(sum, __shfl_sync(team, x.value, e0 + e, LANES), d[e][0]);
        if (last >> (e0 + e) & 1) {
          if (began) write(__shfl_sync(team, x.row, e0 + e, LANES));
          else left[threadIdx.x] = sum;
          began = true;
          sum   = SpmmZero();
        }
      }
    }
    open = !(last >> (n - 1) & 1);
    row  = __shfl_sync(team, x.row, n - 1, LANES);
  }
  if (open && !began) left[threadIdx.x] = sum;
  __syncthreads();
  if (open && began) {
    for (int s = y + 1; s < TEAMS && whose[s] == row; s++) SpmmAdd(sum, 1, left[s * LANES + t]);
    if (share.part < 0) write(row);
    else parts[(int64_t)share.part * LANES + t] = sum;
  }
  if (!ld || share.part >= 0) return;
  __syncthreads();
  const int bits = SYS_WARP - __clz(share.rows - 1); /* bits of a row's number in this share */

  for (int k = (int)threadIdx.x; k < LANES * SPMM_VECTOR_NUMBERS << bits; k += SYS_THREADS) {
    const int c = k >> bits, r = k & ((1 << bits) - 1);

    if (c < ncol && r < share.rows) C[c * ld + share.row + r] = tile[c * (ROWS + 1) + r];
  }
}

/* Adds up a long row's parts */
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
#pragma unroll
    for (int v = 0; v < SPMM_VECTOR_NUMBERS; v++) {
      if (t * SPMM_VECTOR_NUMBERS + v < ncol) C[(t * SPMM_VECTOR_NUMBERS + v) * ld + r] = SpmmNumber(sum, v);
    }
  }
}

template <int LANES>
static SysStatus SpmmSharesLaunch(const SpmmDeal *deal, const SpmmOperand &A, int ncol, SysReal *C, int64_t ld, cudaStream_t stream)
{
  SpmmShares<LANES, ShareShape(LANES).rows><<<(unsigned)deal->nshare, SYS_THREADS, 0, stream>>>(A, deal->share, deal->local, (SpmmVector *)deal->parts, ncol, C, ld);
  if (deal->nlong) SpmmJoinShares<LANES><<<(unsigned)deal->nlong, SYS_THREADS, 0, stream>>>(deal->longs, deal->first, (const SpmmVector *)deal->parts, ncol, C, ld);
  SYS_CUDA(cudaPeekAtLastError());
  return SYS_SUCCESS;
}

SysStatus SpmmSharesMult(const SpmmDeal *deal, const SpmmOperand &A, int ncol, SysReal *C, int64_t ld, cudaStream_t stream)
{
  if (deal->vectors == SYS_WARP) return SpmmSharesLaunch<SYS_WARP>(deal, A, ncol, C, ld, stream);
  if (deal->vectors == 16) return SpmmSharesLaunch<16>(deal, A, ncol, C, ld, stream);
  if (deal->vectors == 8) return SpmmSharesLaunch<8>(deal, A, ncol, C, ld, stream);
  return SpmmSharesLaunch<SPMM_SHARE_LEAST>(deal, A, ncol, C, ld, stream);
}
