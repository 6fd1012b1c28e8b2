/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Plans of triangles on the device: transposes, levels, the order of rows, the layout of entries. factorhost.h describes the result.

   Levels are found as a triangle is solved: a thread waits for the levels of the rows that its own row depends on. Threads take rows in the natural order, in which a row
   depends only on rows taken before. A thread that waits does not stop the others of its warp.

   Work space: 8 integers a row, and 5 an entry for a transpose.
*/
#include "sys/syscub.cuh"
#include "mat/factor/cuda/factortriangle.cuh"

#define FACTOR_LANES 6 /* choices of the threads of a row: 1, 2, 4, ... 32 */

SysStatus FactorBlocks(int64_t n, int each, int64_t *blocks)
{
  int device, processors;

  SYS_CUDA(cudaGetDevice(&device));
  SYS_CUDA(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
  *blocks = SysMin(SysBlocks(n, FACTOR_THREADS), (int64_t)processors * each);
  return SYS_SUCCESS;
}

static __global__ void __launch_bounds__(SYS_THREADS) FactorComposeKernel(int64_t n, const int *from, const int *map, int *to)
{
  SYS_FOR_EACH(k, n) to[k] = map && from[k] >= 0 ? map[from[k]] : from[k];
}

SysStatus FactorCompose(int64_t n, const int *from, const int *map, int *to, cudaStream_t stream)
{
  return n ? SysLaunch(FactorComposeKernel, SysBlocksLoop(n), SYS_THREADS, 0, stream, n, from, map, to) : SYS_SUCCESS;
}

/* The lengths of rows, and 0 at the end */
static __global__ void __launch_bounds__(SYS_THREADS) FactorLengthKernel(FactorRows T, int *length)
{
  SYS_FOR_EACH(r, T.n + 1) length[r] = r < T.n ? T.end[r] - T.begin[r] : 0;
}

/* ------------------------------------------------- transposes ------------------------------------------------- */

/* Of each entry, row by row: its column, its row, its place */
static __global__ void __launch_bounds__(SYS_THREADS) FactorListKernel(FactorRows T, const int *offset, int *column, int *row, int *from)
{
  SYS_FOR_EACH(r, T.n)
  {
    int to = offset[r];

    for (int k = T.begin[r]; k < T.end[r]; k++, to++) {
      column[to] = T.j[k];
      row[to]    = (int)r;
      from[to]   = T.from ? T.from[k] : k;
    }
  }
}

static __global__ void __launch_bounds__(SYS_THREADS) FactorTurnKernel(int64_t n, int nz, const int *column, int *begin, int *end)
{
  SYS_FOR_EACH(r, n)
  {
    begin[r] = SysCountLess(column, nz, (int)r);
    end[r]   = SysCountLess(column, nz, (int)r + 1);
  }
}

/* The sum of all lengths goes to *nz */
static SysStatus FactorOffsets(const FactorRows *T, int *length, int *offset, int *nz, cudaStream_t stream)
{
  SysScratch work;
  size_t     bytes = 0;

  SYS_CALL(SysLaunch(FactorLengthKernel, SysBlocksLoop(T->n + 1), SYS_THREADS, 0, stream, *T, length));
  SYS_CUDA(SysExclusiveSum(NULL, bytes, length, offset, (int)T->n + 1, stream));
  SYS_CALL(SysDeviceAllocate(&work.memory, bytes));
  SYS_CUDA(SysExclusiveSum(work.memory, bytes, length, offset, (int)T->n + 1, stream));
  SYS_CUDA(cudaMemcpyAsync(nz, offset + T->n, sizeof(*nz), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  return SYS_SUCCESS;
}

SysStatus FactorTranspose(const FactorRows *T, SysScratch *result, FactorRows *R, cudaStream_t stream)
{
  const size_t n = (size_t)T->n;
  SysScratch   sums, lists, work;
  SysArena     arena = {};
  size_t       bytes = 0;
  int         *length, *offset, *column, *sorted, *row, *from, *count, *order, *begin, *end, *j, *place, nz;

  SYS_CALL(SysDeviceAllocate(&sums.memory, 2 * (n + 1) * sizeof(*length)));
  length = (int *)sums.memory;
  offset = length + n + 1;
  SYS_CALL(FactorOffsets(T, length, offset, &nz, stream));
  for (int pass = 0; pass < 2; pass++) {
    SysArenaTake(&arena, &column, (size_t)nz);
    SysArenaTake(&arena, &sorted, (size_t)nz);
    SysArenaTake(&arena, &row, (size_t)nz);
    SysArenaTake(&arena, &from, (size_t)nz);
    SysArenaTake(&arena, &count, (size_t)nz);
    SysArenaTake(&arena, &order, (size_t)nz);
    if (!pass) SYS_CALL(SysArenaAllocate(&arena));
    lists.memory = arena.memory;
  }
  arena = {};
  for (int pass = 0; pass < 2; pass++) {
    SysArenaTake(&arena, &begin, n);
    SysArenaTake(&arena, &end, n);
    SysArenaTake(&arena, &j, (size_t)nz);
    SysArenaTake(&arena, &place, (size_t)nz);
    if (!pass) SYS_CALL(SysArenaAllocate(&arena));
    result->memory = arena.memory;
  }
  if (nz) {
    SYS_CALL(SysLaunch(FactorListKernel, SysBlocksLoop(T->n), SYS_THREADS, 0, stream, *T, (const int *)offset, column, row, from));
    SYS_CUDA(SysNumber(nz, count, stream));
    SYS_CUDA(SysSortPairs(NULL, bytes, (const int *)column, sorted, (const int *)count, order, nz, SysBits(T->n), stream));
    SYS_CALL(SysDeviceAllocate(&work.memory, bytes));
    SYS_CUDA(SysSortPairs(work.memory, bytes, (const int *)column, sorted, (const int *)count, order, nz, SysBits(T->n), stream));
    SYS_CALL(FactorCompose(nz, order, row, j, stream));
    SYS_CALL(FactorCompose(nz, order, from, place, stream));
  }
  SYS_CALL(SysLaunch(FactorTurnKernel, SysBlocksLoop(T->n), SYS_THREADS, 0, stream, T->n, nz, (const int *)sorted, begin, end));
  *R = {T->n, begin, end, j, place};
  return SYS_SUCCESS;
}

/* ------------------------------------------------- levels ------------------------------------------------- */

/* level: -1 until a row's is known */
static __global__ void __launch_bounds__(FACTOR_THREADS) FactorLevelKernel(FactorRows T, int upper, int *level, unsigned *ticket)
{
  const int lane = (int)threadIdx.x % SYS_WARP;
  unsigned  next = FactorTake(ticket, lane);

  for (;;) {
    const int64_t at = (int64_t)__shfl_sync(SYS_ALL_LANES, next, 0) * SYS_WARP + lane, r = upper ? T.n - 1 - at : at;
    bool          done = at >= T.n;
    int           k = 0, end = 0, most = -1;

    if (at - lane >= T.n) break;
    next = FactorTake(ticket, lane);
    if (!done) {
      k   = T.begin[r];
      end = T.end[r];
    }
    do {
      int other = 0;

      while (!done && k < end && (other = FactorReadInteger(level + T.j[k])) >= 0) {
        if (other > most) most = other;
        k++;
      }
      if (!done && k == end) {
        FactorStoreInteger(level + r, most + 1);
        done = true;
      }
    } while (!__all_sync(SYS_ALL_LANES, done));
  }
}

static __global__ void __launch_bounds__(SYS_THREADS) FactorPlaceKernel(int64_t n, const int *row, int *place)
{
  SYS_FOR_EACH(p, n) place[row[p]] = (int)p;
}

/* The first position of each level, of levels in ascending order */
static __global__ void __launch_bounds__(FACTOR_LEVELS + 1) FactorLevelBeginKernel(int n, const int *level, int *begin)
{
  begin[threadIdx.x] = SysCountLess(level, n, (int)threadIdx.x);
}

SysStatus FactorOrder(const FactorRows *T, int upper, int *row, int *place, int *levels, int begin[FACTOR_LEVELS + 1], cudaStream_t stream)
{
  const size_t n = (size_t)T->n;
  SysScratch   lists, work;
  SysArena     arena = {};
  size_t       bytes = 0;
  int         *level, *sorted, *count, *first;
  unsigned    *ticket;
  int64_t      blocks = 0;

  for (int pass = 0; pass < 2; pass++) {
    SysArenaTake(&arena, &level, n);
    SysArenaTake(&arena, &sorted, n);
    SysArenaTake(&arena, &count, n);
    SysArenaTake(&arena, &ticket, 1);
    SysArenaTake(&arena, &first, FACTOR_LEVELS + 1);
    if (!pass) SYS_CALL(SysArenaAllocate(&arena));
    lists.memory = arena.memory;
  }
  SYS_CALL(FactorBlocks(T->n, 2048 / FACTOR_THREADS, &blocks));
  SYS_CUDA(cudaMemsetAsync(level, 0xff, n * sizeof(*level), stream));
  SYS_CUDA(cudaMemsetAsync(ticket, 0, sizeof(*ticket), stream));
  SYS_CALL(SysLaunch(FactorLevelKernel, blocks, FACTOR_THREADS, 0, stream, *T, upper, level, ticket));
  SYS_CUDA(SysNumber(T->n, count, stream));
  SYS_CUDA(SysSortPairs(NULL, bytes, (const int *)level, sorted, (const int *)count, row, (int)T->n, SysBits(T->n), stream));
  SYS_CALL(SysDeviceAllocate(&work.memory, bytes));
  SYS_CUDA(SysSortPairs(work.memory, bytes, (const int *)level, sorted, (const int *)count, row, (int)T->n, SysBits(T->n), stream));
  SYS_CALL(SysLaunch(FactorPlaceKernel, SysBlocksLoop(T->n), SYS_THREADS, 0, stream, T->n, (const int *)row, place));
  if (begin) {
    SYS_CALL(SysLaunch(FactorLevelBeginKernel, 1, FACTOR_LEVELS + 1, 0, stream, (int)T->n, (const int *)sorted, first));
    SYS_CUDA(cudaMemcpyAsync(begin, first, (FACTOR_LEVELS + 1) * sizeof(*begin), cudaMemcpyDeviceToHost, stream));
  }
  SYS_CUDA(cudaMemcpyAsync(levels, sorted + T->n - 1, sizeof(*levels), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  ++*levels;
  return SYS_SUCCESS;
}

/* ------------------------------------------------- layout ------------------------------------------------- */

/* total: the steps of all tiles for each number of lanes, and the entries */
static __global__ void __launch_bounds__(SYS_THREADS) FactorStepsKernel(FactorRows T, const int *row, unsigned long long *total)
{
  const int lane = (int)threadIdx.x % SYS_WARP;

  for (int64_t base = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) / SYS_WARP * SYS_WARP; base < T.n; base += (int64_t)gridDim.x * blockDim.x) {
    const int64_t r      = base + lane < T.n ? row[base + lane] : -1;
    const int     length = r < 0 ? 0 : T.end[r] - T.begin[r];

    for (int q = 0; q <= FACTOR_LANES; q++) {
      const int rows = q < FACTOR_LANES ? SYS_WARP >> q : 1; /* of a tile */
      long long sum  = q < FACTOR_LANES ? (length + (1 << q) - 1) >> q : length;

      for (int d = 1; d < rows; d *= 2) sum = max(sum, __shfl_xor_sync(SYS_ALL_LANES, sum, d));
      for (int d = rows; d < SYS_WARP; d *= 2) sum += __shfl_xor_sync(SYS_ALL_LANES, sum, d);
      if (lane == 0) atomicAdd(total + q, (unsigned long long)sum);
    }
  }
}

/* The steps of each tile, and 0 at the end */
static __global__ void __launch_bounds__(SYS_THREADS) FactorTileKernel(FactorRows T, const int *row, int tiles, int lanes, int *steps)
{
  const int rows = SYS_WARP / lanes;

  SYS_FOR_EACH(tile, tiles + 1)
  {
    int most = 0;

    for (int64_t p = tile * rows; p < (tile + 1) * rows && p < T.n && tile < tiles; p++) {
      if (row[p] >= 0) most = max(most, (T.end[row[p]] - T.begin[row[p]] + lanes - 1) / lanes);
    }
    steps[tile] = most;
  }
}

SysStatus FactorPlanMeasure(const FactorRows *T, int each, const int *row, FactorTriangle *P, cudaStream_t stream)
{
  unsigned long long total[FACTOR_LANES + 1];
  SysScratch         sums;
  int                q = 0;

  SYS_CALL(SysDeviceAllocate(&sums.memory, sizeof(total)));
  SYS_CUDA(cudaMemsetAsync(sums.memory, 0, sizeof(total), stream));
  SYS_CALL(SysLaunch(FactorStepsKernel, SysBlocksLoop(T->n), SYS_THREADS, 0, stream, *T, row, (unsigned long long *)sums.memory));
  SYS_CUDA(cudaMemcpyAsync(total, sums.memory, sizeof(total), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  P->n       = (int)T->n;
  P->entries = (int64_t)total[FACTOR_LANES];
  /* few entries for each thread; more threads where long rows would fill the tiles of short ones */
  while (q < FACTOR_LANES - 1 && (each * T->n) << q < P->entries) q++;
  while (q < FACTOR_LANES - 1 && total[q] > 2 * total[q + 1]) q++;
  if (total[q] > INT32_MAX || (T->n << q) > INT32_MAX) return SYS_TOO_LARGE;
  P->lanes = 1 << q;
  P->tiles = (int)((T->n * P->lanes + SYS_WARP - 1) / SYS_WARP);
  P->steps = (int)total[q];
  return SYS_SUCCESS;
}

static __global__ void __launch_bounds__(SYS_THREADS) FactorFillKernel(FactorRows T, int upper, const int *row, const int *place, FactorTriangle P)
{
  const int rows = SYS_WARP / P.lanes;

  SYS_FOR_EACH(p, T.n)
  {
    const int     r = row[p], length = r < 0 ? 0 : T.end[r] - T.begin[r];
    const int64_t first = (int64_t)P.start[p / rows] * SYS_WARP + p % rows * P.lanes;

    for (int e = 0; e < length; e++) {
      const int     k    = upper ? T.end[r] - 1 - e : T.begin[r] + e;
      const int64_t slot = first + (int64_t)(e / P.lanes) * SYS_WARP + e % P.lanes;

      P.column[slot] = place[T.j[k]];
      if (P.bs == 1) P.from[slot] = T.from ? T.from[k] : k;
    }
  }
}

SysStatus FactorPlanFill(const FactorRows *T, int upper, const int *row, const int *place, const FactorTriangle *P, cudaStream_t stream)
{
  const size_t slots = (size_t)P->steps * SYS_WARP;
  SysScratch   steps, work;
  size_t       bytes = 0;

  SYS_CALL(SysDeviceAllocate(&steps.memory, ((size_t)P->tiles + 1) * sizeof(int)));
  SYS_CALL(SysLaunch(FactorTileKernel, SysBlocksLoop(P->tiles + 1), SYS_THREADS, 0, stream, *T, row, P->tiles, P->lanes, (int *)steps.memory));
  SYS_CUDA(SysExclusiveSum(NULL, bytes, (const int *)steps.memory, P->start, P->tiles + 1, stream));
  SYS_CALL(SysDeviceAllocate(&work.memory, bytes));
  SYS_CUDA(SysExclusiveSum(work.memory, bytes, (const int *)steps.memory, P->start, P->tiles + 1, stream));
  SYS_CUDA(cudaMemsetAsync(P->column, 0xff, slots * sizeof(*P->column), stream));
  SYS_CUDA(cudaMemsetAsync(P->from, 0xff, (size_t)FactorSlots(P) * sizeof(*P->from), stream));
  return SysLaunch(FactorFillKernel, SysBlocksLoop(T->n), SYS_THREADS, 0, stream, *T, upper, row, place, *P);
}

/* ------------------------------------------------- nodes ------------------------------------------------- */

/*
   The rows of a node follow one another: in L in their order, in U in the opposite one, so that row s of a node depends on the rows 0 to s - 1 of the node, and on whole nodes before.
   Nodes are sorted by level. Entry e of a node is a block of bs x bs values, whose rows and columns have the order of their nodes' rows.
*/
static __device__ __forceinline__ int64_t FactorNodeRow(int64_t node, int upper, int bs, int s)
{
  return node * bs + (upper ? bs - 1 - s : s);
}

/* other: set if this row differs */
static __global__ void __launch_bounds__(SYS_THREADS) FactorNodesKernel(FactorRows T, int upper, int bs, int *begin, int *end, int *j, int *other)
{
  SYS_FOR_EACH(p, T.n)
  {
    const int     s = (int)(p % bs), first = (int)(p / bs) * bs;
    const int64_t r = FactorNodeRow(p / bs, upper, bs, s), r0 = FactorNodeRow(p / bs, upper, bs, 0);
    const int     from = T.begin[r0], length = T.end[r0] - from, own = T.begin[r] + (upper ? s : 0), inner = upper ? T.begin[r] : T.end[r] - s;
    bool          same = length % bs == 0 && T.end[r] - T.begin[r] == length + s;

    for (int u = 0; u < s && same; u++) same = T.j[inner + u] == (upper ? (int)r + 1 : first) + u;
    for (int k = 0; k < length && same; k++) {
      const int column = T.j[from + k];

      same = T.j[own + k] == column && column % bs == k % bs && (k % bs == 0 || T.j[from + k - 1] == column - 1);
      if (s == 0 && k % bs == 0) j[from + k / bs] = column / bs;
    }
    if (s == 0) {
      begin[p / bs] = from;
      end[p / bs]   = from + length / bs;
    }
    if (!same) *other = 1;
  }
}

SysStatus FactorNodesGet(const FactorRows *T, int upper, int bs, int64_t nz, SysScratch *scratch, FactorRows *N, cudaStream_t stream)
{
  const size_t n     = (size_t)(T->n / bs);
  SysArena     arena = {};
  int         *begin, *end, *j, *other, different;

  N->n = 0;
  if (T->n % bs) return SYS_SUCCESS;
  for (int pass = 0; pass < 2; pass++) {
    SysArenaTake(&arena, &begin, n);
    SysArenaTake(&arena, &end, n);
    SysArenaTake(&arena, &j, (size_t)nz);
    SysArenaTake(&arena, &other, 1);
    if (!pass) SYS_CALL(SysArenaAllocate(&arena));
    scratch->memory = arena.memory;
  }
  SYS_CUDA(cudaMemsetAsync(other, 0, sizeof(*other), stream));
  SYS_CALL(SysLaunch(FactorNodesKernel, SysBlocksLoop(T->n), SYS_THREADS, 0, stream, *T, upper, bs, begin, end, j, other));
  SYS_CUDA(cudaMemcpyAsync(&different, other, sizeof(different), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  if (!different) *N = {(int64_t)n, begin, end, j, NULL};
  return SYS_SUCCESS;
}

static __global__ void __launch_bounds__(SYS_THREADS) FactorNodesOrderKernel(int64_t n, int upper, int bs, const int *node, int *row, int *place)
{
  SYS_FOR_EACH(p, n)
  {
    const int64_t r = FactorNodeRow(node[p / bs], upper, bs, (int)(p % bs));

    row[p]   = (int)r;
    place[r] = (int)p;
  }
}

SysStatus FactorNodesOrder(int64_t nodes, int upper, int bs, const int *node, int *row, int *place, cudaStream_t stream)
{
  return SysLaunch(FactorNodesOrderKernel, SysBlocksLoop(nodes * bs), SYS_THREADS, 0, stream, nodes * bs, upper, bs, node, row, place);
}

static __global__ void __launch_bounds__(SYS_THREADS) FactorNodesFillKernel(FactorRows T, FactorRows N, int upper, const int *node, FactorTriangle P)
{
  const int nodes = SYS_WARP / P.lanes, bs = P.bs;

  SYS_FOR_EACH(p, N.n)
  {
    const int64_t first  = (int64_t)P.start[p / nodes] * SYS_WARP;
    const int     length = N.end[node[p]] - N.begin[node[p]];

    for (int s = 0; s < bs; s++) {
      const int64_t r     = FactorNodeRow(node[p], upper, bs, s);
      const int     inner = upper ? T.begin[r] + s - 1 : T.end[r] - s;

      for (int u = 0; u < s; u++) {
        const int k = upper ? inner - u : inner + u;

        P.node_from[(s * (s - 1) / 2 + u) * N.n + p] = T.from ? T.from[k] : k;
      }
      for (int e = 0; e < length; e++) {
        const int64_t step = first / SYS_WARP + e / P.lanes;

        for (int u = 0; u < bs; u++) {
          const int k = upper ? T.end[r] - 1 - (e * bs + u) : T.begin[r] + e * bs + u;

          P.from[((step * bs + s) * bs + u) * SYS_WARP + p % nodes * P.lanes + e % P.lanes] = T.from ? T.from[k] : k;
        }
      }
    }
  }
}

SysStatus FactorNodesFill(const FactorRows *T, const FactorRows *N, int upper, const int *node, const FactorTriangle *P, cudaStream_t stream)
{
  return SysLaunch(FactorNodesFillKernel, SysBlocksLoop(N->n), SYS_THREADS, 0, stream, *T, *N, upper, node, *P);
}
