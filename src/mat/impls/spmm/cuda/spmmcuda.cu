/* SPDX-License-Identifier: BSD-2-Clause */
/*
   SpMM on a CUDA device, for rows of similar length.

   A team of lanes computes a row of the product. A thread block computes SPMM_BLOCK_ROWS rows, which it transposes in shared memory into the columns of
   the result. Long rows are cut into parts (spmmcudaplan.cu): a team sums each part, and the row adds up its parts.

   The dense matrix is a panel: its columns packed by rows, `width` numbers each, of which ncol are columns and the others zeros. A row of the panel has
   LANES * PER vectors of 16 bytes. A team has ALL lanes; the first LANES of them end up with the sum, PER vectors each.

   spmmhost.h has the idea, spmmcuda.h the selection of the kernel.
*/
#include "mat/impls/spmm/cuda/spmmcudarow.cuh"

/* Sums the parts of long rows, a team a part, into sums[] */
template <int LANES, int PER>
static __global__ void __launch_bounds__(SYS_THREADS, SpmmBlocks<LANES>()) SpmmParts(const SpmmOperand A, int64_t npart, const int *begin, const int *end, SpmmVector *__restrict__ sums)
{
  constexpr int ALL = LANES < SPMM_TEAM_LEAST ? SPMM_TEAM_LEAST : LANES;
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

/* A thread block adds up the parts of a row that has many, and stores the sum in the first of them */
template <int LANES, int PER>
static __global__ void __launch_bounds__(SYS_THREADS) SpmmJoin(const int *__restrict__ join, const int *__restrict__ first, SpmmVector *sums)
{
  constexpr int         GROUPS = SYS_THREADS / LANES;
  __shared__ SpmmVector shared[SYS_THREADS * PER];
  const int             t = (int)threadIdx.x % LANES, y = (int)threadIdx.x / LANES, r = join[blockIdx.x], begin = first[r], end = first[r + 1];
  SpmmVector            sum[PER];

#pragma unroll
  for (int v = 0; v < PER; v++) sum[v] = SpmmZero();
#pragma unroll 4
  for (int p = begin + y; p < end; p += GROUPS) {
#pragma unroll
    for (int v = 0; v < PER; v++) SpmmAdd(sum[v], 1, sums[(int64_t)p * (LANES * PER) + v * LANES + t]);
  }
  for (int d = GROUPS; d > 1; d /= 2) {
#pragma unroll
    for (int v = 0; v < PER; v++) {
      if (y < d) shared[(y * PER + v) * LANES + t] = sum[v];
    }
    __syncthreads();
#pragma unroll
    for (int v = 0; v < PER; v++) {
      if (y < d / 2) SpmmAdd(sum[v], 1, shared[((y + d / 2) * PER + v) * LANES + t]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int v = 0; v < PER; v++) {
    if (!y) sums[(int64_t)begin * (LANES * PER) + v * LANES + t] = sum[v];
  }
}

/* Computes the rows of C, the sum of TERMS terms; ld, the leading dimension of C, is 0 if C is a panel */
template <int LANES, int PER, int TERMS>
static __global__ void __launch_bounds__(SYS_THREADS, SpmmBlocks<LANES>()) SpmmRows(int64_t m, const SpmmOperand A, const SpmmOperand B, int ncol, SysReal *__restrict__ C, int64_t ld)
{
  constexpr int      ALL = LANES < SPMM_TEAM_LEAST ? SPMM_TEAM_LEAST : LANES, WIDTH = LANES * PER * SPMM_VECTOR_NUMBERS;
  __shared__ SysReal tile[WIDTH * (SPMM_BLOCK_ROWS + 1)];
  const int          t  = (int)threadIdx.x % ALL;
  const int64_t      r0 = (int64_t)blockIdx.x * SPMM_BLOCK_ROWS;

  for (int y = (int)threadIdx.x / ALL; y < SPMM_BLOCK_ROWS; y += SYS_THREADS / ALL) {
    const int64_t r = r0 + y;
    SpmmVector    sum[PER], more[PER];

    if (r >= m) break;
    SpmmRow<LANES, PER>(A, r, t, sum);
    if (TERMS > 1) SpmmRow<LANES, PER>(B, r, t, more);
#pragma unroll
    for (int v = 0; v < PER; v++) {
      if (TERMS > 1) SpmmAdd(sum[v], 1, more[v]);
      if (t < LANES && !ld) ((SpmmVector *)C)[r * (LANES * PER) + v * LANES + t] = sum[v];
      else if (t < LANES) SpmmKeep(sum[v], tile, SPMM_BLOCK_ROWS + 1, v * LANES + t, y);
    }
  }
  if (!ld) return;
  __syncthreads();
  SpmmWrite(tile, SPMM_BLOCK_ROWS, WIDTH, r0, m, ncol, C, ld);
}

/* Sums the parts of long rows, adds up the parts of rows with many, then computes all rows */
template <int LANES, int PER>
static SysStatus SpmmLaunch(int64_t m, const SpmmDeviceTerm term[], int nterm, const SpmmOperand A[], int ncol, SysReal *C, int64_t ld, cudaStream_t stream)
{
  constexpr int ALL = LANES < SPMM_TEAM_LEAST ? SPMM_TEAM_LEAST : LANES;

  for (int n = 0; n < nterm; n++) {
    const SpmmDevice *s = term[n].S;

    if (s->npart) SpmmParts<LANES, PER><<<SysBlocks(s->npart * ALL), SYS_THREADS, 0, stream>>>(A[n], s->npart, s->begin, s->end, (SpmmVector *)s->sums);
    if (s->njoin) SpmmJoin<LANES, PER><<<(unsigned)s->njoin, SYS_THREADS, 0, stream>>>(s->join, s->first, (SpmmVector *)s->sums);
  }
  if (LANES >= SPMM_TEAM_LEAST && nterm == 1 && term[0].S->tiles) return SpmmTilesMult(m, &term[0], A[0].i, ncol, LANES * PER * SPMM_VECTOR_NUMBERS, C, ld, stream);
  if (nterm == 1) SpmmRows<LANES, PER, 1><<<SysBlocks(m, SPMM_BLOCK_ROWS), SYS_THREADS, 0, stream>>>(m, A[0], A[0], ncol, C, ld);
  else SpmmRows<LANES, PER, 2><<<SysBlocks(m, SPMM_BLOCK_ROWS), SYS_THREADS, 0, stream>>>(m, A[0], A[1], ncol, C, ld);
  SYS_CUDA(cudaPeekAtLastError());
  return SYS_SUCCESS;
}

/* even: no row of any term is long. Then teams are narrow, and a lane has two vectors of a row: neighbouring rows share the panel's lines in the
   first-level cache. With rows of different lengths the rows of a warp would wait for one another. */
template <int VECTORS>
static SysStatus SpmmLaunchEither(bool even, int64_t m, const SpmmDeviceTerm term[], int nterm, const SpmmOperand A[], int ncol, SysReal *C, int64_t ld, cudaStream_t stream)
{
  if (even) return SpmmLaunch<VECTORS / 2, 2>(m, term, nterm, A, ncol, C, ld, stream);
  return SpmmLaunch<VECTORS, 1>(m, term, nterm, A, ncol, C, ld, stream);
}

/* Selects the kernel by A's pattern; tiles are only for wide panels (SpmmLaunch()) */
SysStatus SpmmDeviceMult(int64_t m, const SpmmDeviceTerm term[], int nterm, int ncol, int width, SysReal *C, int64_t ld, SysStream stream)
{
  SpmmOperand A[2];
  bool        even = true;

  if (!m) return SYS_SUCCESS;
  if (!nterm) {
    if (ld) SYS_CUDA(cudaMemset2DAsync(C, (size_t)ld * sizeof(*C), 0, (size_t)m * sizeof(*C), (size_t)ncol, stream));
    else SYS_CUDA(cudaMemsetAsync(C, 0, (size_t)m * (size_t)width * sizeof(*C), stream));
    return SYS_SUCCESS;
  }
  for (int n = 0; n < nterm; n++) {
    const SpmmDevice *s = term[n].S;

    /* i, j, position, a, panel, most, first, sums; the transposed pattern if there is one */
    A[n] = {s->i ? s->i : term[n].A.i, s->i ? s->j : term[n].A.j, s->position, term[n].A.a, (const SpmmVector *)term[n].panel, s->most, s->first, (const SpmmVector *)s->sums};
    even = even && !s->npart;
  }
  if (nterm == 1 && term[0].S->node > 1 && !term[0].S->tiles) return SpmmNodesMult(m, term[0].S->node, A[0], term[0].S->nvalue, ncol, width, C, ld, stream);
  if (nterm == 1 && term[0].S->deal.nshare && width / SPMM_VECTOR_NUMBERS == term[0].S->deal.vectors && !term[0].S->tiles) return SpmmSharesMult(&term[0].S->deal, A[0], ncol, C, ld, stream);
  switch (width / SPMM_VECTOR_NUMBERS) {
  case 1:
    return SpmmLaunch<1, 1>(m, term, nterm, A, ncol, C, ld, stream);
  case 2:
    return SpmmLaunch<2, 1>(m, term, nterm, A, ncol, C, ld, stream);
  case 4:
    return SpmmLaunch<4, 1>(m, term, nterm, A, ncol, C, ld, stream);
  case 8:
    return SpmmLaunch<8, 1>(m, term, nterm, A, ncol, C, ld, stream);
  case 16:
    return SpmmLaunchEither<16>(even, m, term, nterm, A, ncol, C, ld, stream);
  default:
    return SpmmLaunchEither<32>(even, m, term, nterm, A, ncol, C, ld, stream);
  }
}
