/* SPDX-License-Identifier: BSD-2-Clause */
/*
   An order of rows by boxes of up to 32 rows, for orderings in which rows form short chains, such as MATORDERINGAMBCOLOR. A warp solves for a box: its rows get numbers of one another by
   shuffles, and only numbers of other boxes come through the L2 cache, so that a solve waits for levels of boxes, not of rows.

   A run begins at a row that depends on none of the RUN_NEAR rows before it, and each 32 rows of it are a box; the last box of a run has positions without a row. Boxes are sorted by
   level. Rows of a box keep their order, so that a row depends on earlier rows and on boxes of lower levels.

   27 points, 101^3, in colors: 30 and 28 levels of boxes for L and U, 192 of rows.

   Complexity: some passes over rows and entries. Work space: 7 integers a row, 34 a box.
*/
#include "sys/syscub.cuh"
#include "mat/factor/cuda/factortriangle.cuh"

#define RUN_NEAR    64 /* rows before the first one of a run that it does not depend on */
#define RUN_PADDING 2  /* positions for each row at most */
#define RUN_GAIN    4  /* levels of rows for each level of boxes at least: 6 gained a third of a solve, 2 and 3 lost a fifth (docs/design.md) */

/* Whether a row begins a run: it depends on none of the RUN_NEAR rows before it. The row at n begins the last one. */
static __global__ void __launch_bounds__(SYS_THREADS) FactorRunBeginKernel(FactorRows T, int upper, int *begins)
{
  SYS_FOR_EACH(at, T.n + 1)
  {
    const int64_t r    = upper ? T.n - 1 - at : at;
    int           head = 1;

    for (int k = at < T.n ? T.begin[r] : 0, end = at < T.n ? T.end[r] : 0; k < end; k++) head &= (upper ? T.j[k] - r : r - T.j[k]) > RUN_NEAR;
    begins[at] = head;
  }
}

/* first: the first row of each run */
static __global__ void __launch_bounds__(SYS_THREADS) FactorRunFirstKernel(int64_t n, const int *begins, const int *run, int *first)
{
  SYS_FOR_EACH(at, n + 1)
  {
    if (begins[at]) first[run[at]] = (int)at;
  }
}

/* The boxes of each run, and 0 behind the last one */
static __global__ void __launch_bounds__(SYS_THREADS) FactorRunBoxesKernel(int64_t runs, const int *first, int *boxes)
{
  SYS_FOR_EACH(k, runs + 1) boxes[k] = k < runs ? (first[k + 1] - first[k] + SYS_WARP - 1) / SYS_WARP : 0;
}

static __global__ void __launch_bounds__(SYS_THREADS) FactorRunSlotKernel(int64_t n, const int *begins, const int *run, const int *first, const int *box, int *slot, int *row)
{
  SYS_FOR_EACH(at, n)
  {
    const int k = run[at] + begins[at] - 1, to = box[k] * SYS_WARP + (int)at - first[k];

    slot[at] = to;
    row[to]  = (int)at;
  }
}

/* The levels of boxes, found as FactorLevelKernel() finds levels of rows; *stop: there are more than `most` */
static __global__ void __launch_bounds__(FACTOR_THREADS) FactorRunLevelKernel(FactorRows T, int upper, int boxes, const int *slot, const int *row, int most, int *level, unsigned *ticket, int *stop)
{
  const int lane = (int)threadIdx.x % SYS_WARP;
  unsigned  next = FactorTake(ticket, lane);

  for (;;) {
    const int box = (int)__shfl_sync(SYS_ALL_LANES, next, 0);
    int       own = -1;

    if (box >= boxes) break;
    next         = FactorTake(ticket, lane);
    const int at = row[(int64_t)box * SYS_WARP + lane];

    if (at >= 0) {
      const int64_t r = upper ? T.n - 1 - at : at;

      for (int k = T.begin[r]; k < T.end[r]; k++) {
        const int other = slot[upper ? T.n - 1 - T.j[k] : T.j[k]] / SYS_WARP;
        int       found = -1;

        while (other != box && (found = FactorReadInteger(level + other)) < 0 && !FactorReadInteger(stop))
          ;
        own = max(own, found);
      }
    }
    own = __reduce_max_sync(SYS_ALL_LANES, own) + 1;
    if (lane == 0) {
      if (own >= most) FactorStoreInteger(stop, 1);
      FactorStoreInteger(level + box, own);
    }
  }
}

static __global__ void __launch_bounds__(SYS_THREADS) FactorRunLengthKernel(FactorRows T, int *most)
{
  int length = 0;

  SYS_FOR_EACH(r, T.n) length = max(length, T.end[r] - T.begin[r]);
  length                      = __reduce_max_sync(SYS_ALL_LANES, length);
  if (threadIdx.x % SYS_WARP == 0) atomicMax(most, length);
}

/* place: of each box in the order */
static __global__ void __launch_bounds__(SYS_THREADS) FactorRunPlaceKernel(int64_t boxes, const int *box, int *place)
{
  SYS_FOR_EACH(k, boxes) place[box[k]] = (int)k;
}

/* The row and the place of each position; at: of each row in the order of its runs */
static __global__ void __launch_bounds__(SYS_THREADS) FactorRunOrderKernel(int64_t n, int upper, const int *slot, const int *box, int *row, int *place)
{
  SYS_FOR_EACH(at, n)
  {
    const int64_t r = upper ? n - 1 - at : at;
    const int     p = box[slot[at] / SYS_WARP] * SYS_WARP + slot[at] % SYS_WARP;

    place[r] = p;
    row[p]   = (int)r;
  }
}

SysStatus FactorRuns(const FactorRows *T, int upper, SysScratch *scratch, int **row, int *place, FactorTriangle *P, cudaStream_t stream)
{
  const int64_t n    = T->n;
  const int     most = P->levels / RUN_GAIN; /* levels of boxes that are too many */
  SysScratch    lists, more, work, sort;
  SysArena      arena = {};
  size_t        bytes = 0;
  int          *begins, *run, *first, *boxes, *box, *slot, *found, *list, *level, *sorted, *order, got[3] = {0, 0, 0}, runs = 0, count = 0, levels = 0;
  int64_t       blocks = 0;

  if (!most) return SYS_SUCCESS;
  for (int pass = 0; pass < 2; pass++) {
    SysArenaTake(&arena, &begins, (size_t)n + 1);
    SysArenaTake(&arena, &run, (size_t)n + 1);
    SysArenaTake(&arena, &first, (size_t)n + 1);
    SysArenaTake(&arena, &boxes, (size_t)n + 1);
    SysArenaTake(&arena, &box, (size_t)n + 1);
    SysArenaTake(&arena, &slot, (size_t)n);
    SysArenaTake(&arena, &found, 3); /* the ticket, whether there are too many levels, the length of the longest row */
    if (!pass) SYS_CALL(SysArenaAllocate(&arena));
    lists.memory = arena.memory;
  }
  SYS_CUDA(cudaMemsetAsync(found, 0, 3 * sizeof(*found), stream));
  SYS_CALL(SysLaunch(FactorRunLengthKernel, SysBlocksLoop(n), SYS_THREADS, 0, stream, *T, found + 2));
  SYS_CALL(SysLaunch(FactorRunBeginKernel, SysBlocksLoop(n + 1), SYS_THREADS, 0, stream, *T, upper, begins));
  SYS_CUDA(SysExclusiveSum(NULL, bytes, (const int *)begins, run, (int)n + 1, stream));
  SYS_CALL(SysDeviceAllocate(&work.memory, bytes));
  SYS_CUDA(SysExclusiveSum(work.memory, bytes, (const int *)begins, run, (int)n + 1, stream));
  SYS_CALL(SysLaunch(FactorRunFirstKernel, SysBlocksLoop(n + 1), SYS_THREADS, 0, stream, n, (const int *)begins, (const int *)run, first));
  SYS_CUDA(cudaMemcpyAsync(&runs, run + n, sizeof(runs), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaMemcpyAsync(got, found, sizeof(got), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  if (got[2] > FACTOR_BOX_ENTRIES || (int64_t)runs * SYS_WARP > RUN_PADDING * n) return SYS_SUCCESS;
  SYS_CALL(SysLaunch(FactorRunBoxesKernel, SysBlocksLoop(runs + 1), SYS_THREADS, 0, stream, (int64_t)runs, (const int *)first, boxes));
  SYS_CUDA(SysExclusiveSum(work.memory, bytes, (const int *)boxes, box, runs + 1, stream));
  SYS_CUDA(cudaMemcpyAsync(&count, box + runs, sizeof(count), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  if ((int64_t)count * SYS_WARP > SysMin(RUN_PADDING * n, (int64_t)INT32_MAX)) return SYS_SUCCESS;
  arena = {};
  for (int pass = 0; pass < 2; pass++) {
    SysArenaTake(&arena, &list, (size_t)count * SYS_WARP);
    SysArenaTake(&arena, &level, (size_t)count);
    SysArenaTake(&arena, &sorted, (size_t)count);
    SysArenaTake(&arena, &order, (size_t)count);
    if (!pass) SYS_CALL(SysArenaAllocate(&arena));
    more.memory = arena.memory;
  }
  SYS_CUDA(cudaMemsetAsync(list, 0xff, (size_t)count * SYS_WARP * sizeof(*list), stream));
  SYS_CUDA(cudaMemsetAsync(level, 0xff, (size_t)count * sizeof(*level), stream));
  SYS_CALL(SysLaunch(FactorRunSlotKernel, SysBlocksLoop(n), SYS_THREADS, 0, stream, n, (const int *)begins, (const int *)run, (const int *)first, (const int *)box, slot, list));
  SYS_CALL(FactorBlocks((int64_t)count * SYS_WARP, 2048 / FACTOR_THREADS, &blocks));
  SYS_CALL(SysLaunch(FactorRunLevelKernel, blocks, FACTOR_THREADS, 0, stream, *T, upper, count, (const int *)slot, (const int *)list, most, level, (unsigned *)found, found + 1));
  SYS_CUDA(cudaMemcpyAsync(got, found, sizeof(got), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  if (got[1]) return SYS_SUCCESS;
  SYS_CUDA(SysNumber(count, first, stream));
  SYS_CUDA(SysSortPairs(NULL, bytes, (const int *)level, sorted, (const int *)first, order, count, SysBits(most), stream));
  SYS_CALL(SysDeviceAllocate(&sort.memory, bytes));
  SYS_CUDA(SysSortPairs(sort.memory, bytes, (const int *)level, sorted, (const int *)first, order, count, SysBits(most), stream));
  SYS_CUDA(cudaMemcpyAsync(&levels, sorted + count - 1, sizeof(levels), cudaMemcpyDeviceToHost, stream));
  SYS_CALL(SysLaunch(FactorRunPlaceKernel, SysBlocksLoop(count), SYS_THREADS, 0, stream, (int64_t)count, (const int *)order, box));
  SYS_CALL(SysDeviceAllocate(&scratch->memory, (size_t)count * SYS_WARP * sizeof(**row)));
  *row = (int *)scratch->memory;
  SYS_CUDA(cudaMemsetAsync(*row, 0xff, (size_t)count * SYS_WARP * sizeof(**row), stream));
  SYS_CALL(SysLaunch(FactorRunOrderKernel, SysBlocksLoop(n), SYS_THREADS, 0, stream, n, upper, (const int *)slot, (const int *)box, *row, place));
  SYS_CUDA(cudaStreamSynchronize(stream)); /* the lists go */
  P->boxes  = got[2];
  P->n      = count * SYS_WARP;
  P->levels = levels + 1;
  return SYS_SUCCESS;
}
