/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Solves with triangles of few long levels, with one launch for each level. The layout is the one of factorhost.h: positions are sorted by level, so that a level is a range of positions,
   and a warp solves a tile of them. Earlier launches have written all numbers that a row needs. So no thread waits for another, and reads may go through the L1 cache.

   A launch takes some 2 microseconds; reading the entries of a level takes longer if they have some megabytes. FactorDeviceSolve() calls FactorLevelsSolve() for such triangles.

   A launch may start while the one before it ends. Before SysWait() a kernel reads the plan and the values, which no solve writes. The first launch of a triangle waits for all work
   before it, such as new values.

   Work space: none beside the results. Complexity: O(nonzeros).
*/
#include "mat/factor/cuda/factortriangle.cuh"

#define LEVEL_CHUNK 8 /* entries of a thread that are loaded together */
#define LEVEL_NODES 2 /* blocks of nodes, the same */

/* Solves for the positions begin to end - 1, which are a level. The other parameters are as in FactorSolveKernel(). */
template <int LANES>
static __global__ void __launch_bounds__(FACTOR_THREADS) LevelRowsKernel(FactorTriangle T, int begin, int end, const SysScalar *b, int64_t ldb, SysScalar *result, SysScalar *x, int64_t ldx)
{
  const int  lane = (int)threadIdx.x % SYS_WARP, rows = SYS_WARP / LANES, c = (int)blockIdx.y;
  const int  tile = begin / rows + (int)(blockIdx.x * (FACTOR_THREADS / SYS_WARP) + threadIdx.x / SYS_WARP);
  const int  p    = tile * rows + lane / LANES;
  const bool mine = p >= begin && p < end, leader = mine && lane % LANES == 0;
  SysScalar *w   = result + (int64_t)c * T.room;
  SysScalar  sum = 0, before = 1, after = 1, value[LEVEL_CHUNK];
  int        column[LEVEL_CHUNK], source = 0, target = -1, first, steps;

  if (tile >= T.tiles) return;
  first = T.start[tile];
  steps = T.start[tile + 1] - first;
  if (leader) {
    source = T.source[p];
    if (x) target = T.target[p];
    if (T.before) before = T.before[p];
    if (T.after) after = T.after[p];
  }
  SysLaunchDependents();
  for (int k = 0; k < steps || k == 0; k += LEVEL_CHUNK) {
#pragma unroll
    for (int q = 0; q < LEVEL_CHUNK; q++) {
      const int64_t slot = ((int64_t)first + k + q) * SYS_WARP + lane;

      column[q] = mine && k + q < steps ? T.column[slot] : -1;
      value[q]  = mine && k + q < steps ? T.value[slot] : 0;
    }
    if (k == 0) {
      SysWait();
      if (leader) sum = before * b[c * ldb + source];
    }
#pragma unroll
    for (int q = 0; q < LEVEL_CHUNK; q++) {
      if (column[q] >= 0) sum += value[q] * w[column[q]];
    }
  }
#pragma unroll
  for (int d = LANES / 2; d; d /= 2) sum += __shfl_xor_sync(SYS_ALL_LANES, sum, d);
  if (leader) {
    sum *= after;
    w[p] = sum;
    if (target >= 0) x[c * ldx + target] = sum;
  }
}

/* LevelRowsKernel() for nodes of BS rows: begin and end count nodes */
template <int BS, int LANES>
static __global__ void __launch_bounds__(FACTOR_THREADS) LevelNodesKernel(FactorTriangle T, int begin, int end, const SysScalar *b, int64_t ldb, SysScalar *result, SysScalar *x, int64_t ldx)
{
  const int  lane = (int)threadIdx.x % SYS_WARP, each = SYS_WARP / LANES, c = (int)blockIdx.y, nodes = T.n / BS;
  const int  tile = begin / each + (int)(blockIdx.x * (FACTOR_THREADS / SYS_WARP) + threadIdx.x / SYS_WARP);
  const int  p    = tile * each + lane / LANES;
  const bool mine = p >= begin && p < end, leader = mine && lane % LANES == 0;
  SysScalar *w = result + (int64_t)c * T.room;
  SysScalar  sum[BS], before[BS], after[BS], value[LEVEL_NODES][BS * BS];
  int        column[LEVEL_NODES], source[BS], target[BS], first, steps;

  if (tile >= T.tiles) return;
  first = T.start[tile];
  steps = T.start[tile + 1] - first;
#pragma unroll
  for (int s = 0; s < BS; s++) {
    const int64_t at = (int64_t)p * BS + s;

    sum[s]    = 0;
    source[s] = leader ? T.source[at] : 0;
    target[s] = leader && x ? T.target[at] : -1;
    before[s] = leader && T.before ? T.before[at] : 1;
    after[s]  = leader && T.after ? T.after[at] : 1;
  }
  SysLaunchDependents();
  for (int k = 0; k < steps || k == 0; k += LEVEL_NODES) {
#pragma unroll
    for (int q = 0; q < LEVEL_NODES; q++) {
      const int64_t step = (int64_t)first + k + q;
      const bool    here = mine && k + q < steps;

      column[q] = here ? T.column[step * SYS_WARP + lane] : -1;
#pragma unroll
      for (int e = 0; e < BS * BS; e++) value[q][e] = here ? T.value[(step * (BS * BS) + e) * SYS_WARP + lane] : 0;
    }
    if (k == 0) {
      SysWait();
#pragma unroll
      for (int s = 0; s < BS; s++) {
        if (leader) sum[s] = before[s] * b[c * ldb + source[s]];
      }
    }
#pragma unroll
    for (int q = 0; q < LEVEL_NODES; q++) {
      if (column[q] < 0) continue;
#pragma unroll
      for (int u = 0; u < BS; u++) {
        const SysScalar have = w[(int64_t)column[q] * BS + u];

#pragma unroll
        for (int s = 0; s < BS; s++) sum[s] += value[q][s * BS + u] * have;
      }
    }
  }
#pragma unroll
  for (int s = 0; s < BS; s++) {
#pragma unroll
    for (int d = LANES / 2; d; d /= 2) sum[s] += __shfl_xor_sync(SYS_ALL_LANES, sum[s], d);
  }
  if (!leader) return;
#pragma unroll
  for (int s = 0; s < BS; s++) {
#pragma unroll
    for (int u = 0; u < s; u++) sum[s] += T.node[(int64_t)(s * (s - 1) / 2 + u) * nodes + p] * sum[u];
    sum[s] *= after[s];
    w[(int64_t)p * BS + s] = sum[s];
    if (target[s] >= 0) x[c * ldx + target[s]] = sum[s];
  }
}

typedef decltype(&LevelRowsKernel<1>) LevelKernel;

template <int BS>
static LevelKernel LevelNodesGetKernel(int lanes)
{
  static const LevelKernel kernel[] = {LevelNodesKernel<BS, 1>, LevelNodesKernel<BS, 2>, LevelNodesKernel<BS, 4>, LevelNodesKernel<BS, 8>, LevelNodesKernel<BS, 16>, LevelNodesKernel<BS, 32>};

  return kernel[lanes];
}

SysStatus FactorLevelsSolve(const FactorTriangle *T, const int *begin, bool early, int columns, const SysScalar *b, int64_t ldb, SysScalar *result, SysScalar *x, int64_t ldx, cudaStream_t stream)
{
  static const LevelKernel rows[] = {LevelRowsKernel<1>, LevelRowsKernel<2>, LevelRowsKernel<4>, LevelRowsKernel<8>, LevelRowsKernel<16>, LevelRowsKernel<32>};
  const int                each   = SYS_WARP / T->lanes;
  LevelKernel              kernel;
  int                      k = 0;

  while (1 << k < T->lanes) k++;
  kernel = T->bs == 2 ? LevelNodesGetKernel<2>(k) : T->bs == 3 ? LevelNodesGetKernel<3>(k) : T->bs == 4 ? LevelNodesGetKernel<4>(k) : rows[k];
  for (int level = 0; level < T->levels; level++) {
    const int  tiles = (begin[level + 1] - 1) / each - begin[level] / each + 1;
    const dim3 grid((unsigned)SysBlocks(tiles, FACTOR_THREADS / SYS_WARP), (unsigned)columns);

    SYS_CALL(SysLaunchEarly(kernel, grid, FACTOR_THREADS, stream, early && level, *T, begin[level], begin[level + 1], b, ldb, result, x, ldx));
  }
  return SYS_SUCCESS;
}
