/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Solves with two triangles of a factor, one launch each. factorhost.h describes the method.
*/
#include "mat/factor/cuda/factortriangle.cuh"
#include "mat/factor/host/factorpolicy.h"

#define FACTOR_CHUNK        4     /* entries that a thread waits for at a time, and on average has at most */
#define FACTOR_NODE_ENTRIES 2     /* blocks of nodes that a thread has on average at most */
#define FACTOR_COLUMNS      8     /* right-hand sides of a launch at most */
#define FACTOR_NAP          40    /* nanoseconds between reads of the number that a tile waits for first */
#define FACTOR_GAP          3     /* levels of average length between that number and the last one that the tile needs */
#define FACTOR_TILES        10000 /* tiles of a triangle with FACTOR_MORE thread blocks at least */

struct FactorDevice_ {
  FactorTriangle triangle[2];
  int            begin[2][FACTOR_LEVELS + 1]; /* the first position of each level, or node */
  bool           by_level, early;             /* a launch a level, which may start early */
  SysScalar      sign;
  SysScalar     *result[2]; /* of each triangle, by position, `columns` times */
  int            columns;
  int64_t        blocks[2]; /* of the device, for few tiles and for many */
  unsigned      *ticket;    /* of each triangle: the next tile */
  char          *memory[3]; /* of both triangles, and the tickets */
};

/* Marks the results at position p of the other triangle as missing; it may have up to twice as many positions as T */
static __device__ __forceinline__ void FactorClear(const FactorTriangle &T, SysScalar *clear, int p)
{
  clear[p] = FACTOR_MISSING;
  if (p < T.room - T.n) clear[T.n + p] = FACTOR_MISSING;
}

/*
   The launch for one triangle. b: right-hand sides of ldb numbers each; result: by position, `room` numbers each; x: solutions, or NULL. The other triangle's results become
   missing: those that this launch reads as b (clear_b), or clear, which has the positions of this triangle.
*/
template <int LANES>
static __global__ void __launch_bounds__(FACTOR_THREADS) FactorSolveKernel(FactorTriangle T, int columns, const SysScalar *b, int64_t ldb, SysScalar *result, SysScalar *x, int64_t ldx, SysScalar *clear, SysScalar *clear_b, unsigned *ticket, unsigned *other)
{
  const int      lane  = (int)threadIdx.x % SYS_WARP;
  const unsigned total = (unsigned)T.tiles * (unsigned)columns;
  unsigned       next  = FactorTake(ticket, lane);

  if (blockIdx.x == 0 && threadIdx.x == 0) *other = 0;
  for (;;) {
    const unsigned mine = __shfl_sync(SYS_ALL_LANES, next, 0);

    if (mine >= total) break;
    next = FactorTake(ticket, lane); /* early: its latency is hidden by this tile */

    const int  tile = (int)(mine / (unsigned)columns), c = (int)(mine % (unsigned)columns);
    const int  first = T.start[tile], steps = T.start[tile + 1] - first;
    const int  p      = tile * (SYS_WARP / LANES) + lane / LANES;
    const bool leader = lane % LANES == 0 && p < T.n;
    SysScalar *w      = result + (int64_t)c * T.room;
    SysScalar  sum = 0, after          = 1, value[FACTOR_CHUNK], have[FACTOR_CHUNK];
    int        column[FACTOR_CHUNK], k = 0, target = -1;
    bool       done = p >= T.n;

    if (leader) {
      const int source = T.source[p];

      sum = b[c * ldb + source];
      if (T.before) sum *= T.before[p];
      if (T.after) after = T.after[p];
      if (x) target = T.target[p]; /* early: the warp would wait for it before it takes the next tile */
      if (clear) FactorClear(T, clear + (int64_t)c * T.room, p);
      if (clear_b) clear_b[(int64_t)c * T.room + source] = FACTOR_MISSING;
    }
#pragma unroll
    for (int q = 0; q < FACTOR_CHUNK; q++) {
      const int64_t slot = ((int64_t)first + q) * SYS_WARP + lane;

      column[q] = q < steps ? T.column[slot] : -1;
      value[q]  = q < steps ? T.value[slot] : 0;
      have[q]   = column[q] < 0 ? 0 : FACTOR_MISSING;
    }
    { /* one number, until the numbers of this tile are about to be written */
      int far = column[0];

#pragma unroll
      for (int q = 1; q < FACTOR_CHUNK; q++) far = max(far, column[q]);
      far = __reduce_max_sync(SYS_ALL_LANES, far) - T.gap;
      if (far >= 0 && far < tile * (SYS_WARP / LANES)) {
        while (FactorIsMissing(FactorRead(w + far))) __nanosleep(FACTOR_NAP);
      }
    }
    for (;;) {
      bool ready = true, over;

#pragma unroll
      for (int q = 0; q < FACTOR_CHUNK; q++) {
        if (FactorIsMissing(have[q])) have[q] = FactorRead(w + column[q]);
      }
#pragma unroll
      for (int q = 0; q < FACTOR_CHUNK; q++) ready = ready && !FactorIsMissing(have[q]);
      if (ready && k < steps) {
#pragma unroll
        for (int q = 0; q < FACTOR_CHUNK; q++) {
          if (column[q] >= 0) sum += value[q] * have[q];
        }
        k += FACTOR_CHUNK;
#pragma unroll
        for (int q = 0; q < FACTOR_CHUNK; q++) {
          const int64_t slot = ((int64_t)first + k + q) * SYS_WARP + lane;

          column[q] = k + q < steps ? T.column[slot] : -1;
          value[q]  = k + q < steps ? T.value[slot] : 0;
          have[q]   = column[q] < 0 ? 0 : FACTOR_MISSING;
        }
      }
      over = k >= steps;
      if (LANES > 1) { /* a row is over with all of its lanes, which then have the sum */
        const unsigned lanes = __ballot_sync(SYS_ALL_LANES, over), row = (LANES < 32 ? (1u << LANES % 32) - 1 : ~0u) << lane / LANES * LANES;
        SysScalar      s = sum;

#pragma unroll
        for (int d = LANES / 2; d; d /= 2) s += __shfl_xor_sync(SYS_ALL_LANES, s, d);
        over = (lanes & row) == row;
        if (over && !done) sum = s;
      }
      if (over && !done) {
        done = true;
        if (leader) {
          sum *= after;
          FactorWrite(w + p, FactorIsMissing(sum) ? FACTOR_NOT_A_NUMBER : sum);
          if (target >= 0) x[c * ldx + target] = sum;
        }
      }
      if (__all_sync(SYS_ALL_LANES, done)) break;
    }
  }
}

/* FactorSolveKernel() for tiles that are boxes: a lane has a row, with ENTRIES entries at most. Numbers of other boxes come first, then each pass solves for the rows whose numbers are all
   there, and shuffles bring the results to the others. */
template <int ENTRIES>
static __global__ void __launch_bounds__(FACTOR_THREADS) FactorBoxKernel(FactorTriangle T, int columns, const SysScalar *b, int64_t ldb, SysScalar *result, SysScalar *x, int64_t ldx, SysScalar *clear, SysScalar *clear_b, unsigned *ticket, unsigned *other)
{
  const int      lane  = (int)threadIdx.x % SYS_WARP;
  const unsigned total = (unsigned)T.tiles * (unsigned)columns;
  unsigned       next  = FactorTake(ticket, lane);

  if (blockIdx.x == 0 && threadIdx.x == 0) *other = 0;
  for (;;) {
    const unsigned mine = __shfl_sync(SYS_ALL_LANES, next, 0);

    if (mine >= total) break;
    next = FactorTake(ticket, lane);

    const int  tile = (int)(mine / (unsigned)columns), c = (int)(mine % (unsigned)columns);
    const int  first = T.start[tile], steps = T.start[tile + 1] - first, base = tile * SYS_WARP;
    const int  p = base + lane, source = T.source[p];
    SysScalar *w   = result + (int64_t)c * T.room;
    SysScalar  sum = 0, after       = 1, value[ENTRIES], have[ENTRIES];
    int        column[ENTRIES], far = -1, target = -1;
    unsigned   need = 0, over = __ballot_sync(SYS_ALL_LANES, source < 0), inner = 0;

    if (source >= 0) {
      sum = b[c * ldb + source];
      if (T.before) sum *= T.before[p];
      if (T.after) after = T.after[p];
      if (x) target = T.target[p];
      if (clear_b) clear_b[(int64_t)c * T.room + source] = FACTOR_MISSING;
    } else FactorWrite(w + p, 0); /* a tile may wait for it below */
    if (clear) FactorClear(T, clear + (int64_t)c * T.room, p);
#pragma unroll
    for (int q = 0; q < ENTRIES; q++) {
      const int64_t slot = ((int64_t)first + q) * SYS_WARP + lane;

      column[q] = q < steps ? T.column[slot] : -1;
      value[q]  = q < steps ? T.value[slot] : 0;
      if (column[q] >= base) {
        need |= 1u << (column[q] - base);
        inner |= 1u << q;
      } else far = max(far, column[q]);
      have[q] = column[q] < 0 || column[q] >= base ? 0 : FACTOR_MISSING;
    }
    far = __reduce_max_sync(SYS_ALL_LANES, far) - T.gap;
    if (far >= 0) {
      while (FactorIsMissing(FactorRead(w + far))) __nanosleep(FACTOR_NAP);
    }
    for (bool ready = false; !__all_sync(SYS_ALL_LANES, ready);) {
      ready = true;
#pragma unroll
      for (int q = 0; q < ENTRIES; q++) {
        if (FactorIsMissing(have[q])) have[q] = FactorRead(w + column[q]);
      }
#pragma unroll
      for (int q = 0; q < ENTRIES; q++) ready = ready && !FactorIsMissing(have[q]);
    }
#pragma unroll
    for (int q = 0; q < ENTRIES; q++) {
      if (!(inner >> q & 1)) sum += value[q] * have[q];
    }
    inner = __reduce_or_sync(SYS_ALL_LANES, inner);
    while (over != SYS_ALL_LANES) {
      const bool now = !(over >> lane & 1) && !(need & ~over);

      if (now) {
#pragma unroll
        for (int q = 0; q < ENTRIES; q++) {
          if (column[q] >= base) sum += value[q] * have[q];
        }
        sum *= after;
        FactorWrite(w + p, sum);
        if (target >= 0) x[c * ldx + target] = sum;
      }
      over |= __ballot_sync(SYS_ALL_LANES, now);
#pragma unroll
      for (int q = 0; q < ENTRIES; q++) {
        if (inner >> q & 1) {
          const SysScalar got = __shfl_sync(SYS_ALL_LANES, sum, column[q] >= base ? column[q] - base : lane);

          if (column[q] >= base) have[q] = got;
        }
      }
    }
  }
}

/* The block of bs x bs values of a slot, and its column */
template <int BS>
static __device__ __forceinline__ int FactorNodeLoad(const FactorTriangle &T, int step, bool there, int lane, SysScalar value[])
{
  if (there) {
#pragma unroll
    for (int q = 0; q < BS * BS; q++) value[q] = T.value[((int64_t)step * (BS * BS) + q) * SYS_WARP + lane];
  }
  return there ? T.column[(int64_t)step * SYS_WARP + lane] : -1;
}

/* FactorSolveKernel() for nodes of BS rows: a thread has a column of nodes at a time and the next one, and the first thread of a node solves for its rows */
template <int BS, int LANES>
static __global__ void __launch_bounds__(FACTOR_THREADS) FactorNodeKernel(FactorTriangle T, int columns, const SysScalar *b, int64_t ldb, SysScalar *result, SysScalar *x, int64_t ldx, SysScalar *clear, SysScalar *clear_b, unsigned *ticket, unsigned *other)
{
  const int      lane = (int)threadIdx.x % SYS_WARP, nodes = T.n / BS;
  const unsigned total = (unsigned)T.tiles * (unsigned)columns, own = (LANES < 32 ? (1u << LANES % 32) - 1 : ~0u) << lane / LANES * LANES;
  unsigned       next = FactorTake(ticket, lane);

  if (blockIdx.x == 0 && threadIdx.x == 0) *other = 0;
  for (;;) {
    const unsigned mine = __shfl_sync(SYS_ALL_LANES, next, 0);

    if (mine >= total) break;
    next = FactorTake(ticket, lane);

    const int  tile = (int)(mine / (unsigned)columns), c = (int)(mine % (unsigned)columns);
    const int  first = T.start[tile], steps = T.start[tile + 1] - first;
    const int  p      = tile * (SYS_WARP / LANES) + lane / LANES;
    const bool leader = lane % LANES == 0 && p < nodes;
    SysScalar *w      = result + (int64_t)c * T.room;
    SysScalar  sum[BS], after[BS], inner[BS * (BS - 1) / 2], have[BS], value[BS * BS], later[BS * BS];
    int        column, ahead, target[BS], k = 0;
    bool       done = p >= nodes;

    column = FactorNodeLoad<BS>(T, first, steps > 0, lane, value);
    ahead  = FactorNodeLoad<BS>(T, first + 1, steps > 1, lane, later);
#pragma unroll
    for (int s = 0; s < BS; s++) {
      sum[s]    = 0;
      after[s]  = 1;
      target[s] = -1;
      have[s]   = column < 0 ? 0 : FACTOR_MISSING;
      if (leader) {
        const int64_t at     = (int64_t)p * BS + s;
        const int     source = T.source[at];

        sum[s] = b[c * ldb + source];
        if (T.before) sum[s] *= T.before[at];
        if (T.after) after[s] = T.after[at];
        if (x) target[s] = T.target[at];
        if (clear) FactorClear(T, clear + (int64_t)c * T.room, (int)at);
        if (clear_b) clear_b[(int64_t)c * T.room + source] = FACTOR_MISSING;
      }
    }
#pragma unroll
    for (int q = 0; q < BS * (BS - 1) / 2; q++) inner[q] = leader ? T.node[(int64_t)q * nodes + p] : 0;
    {
      const int far = __reduce_max_sync(SYS_ALL_LANES, max(column, ahead)) - T.gap;

      if (far >= 0 && far < tile * (SYS_WARP / LANES)) {
        while (FactorIsMissing(FactorRead(w + (int64_t)far * BS + BS - 1))) __nanosleep(FACTOR_NAP);
      }
    }
    for (;;) {
      bool ready = true, over;

#pragma unroll
      for (int s = 0; s < BS; s++) {
        if (FactorIsMissing(have[s])) have[s] = FactorRead(w + (int64_t)column * BS + s);
      }
#pragma unroll
      for (int s = 0; s < BS; s++) ready = ready && !FactorIsMissing(have[s]);
      if (ready && k < steps) {
        if (column >= 0) {
#pragma unroll
          for (int s = 0; s < BS; s++) {
#pragma unroll
            for (int u = 0; u < BS; u++) sum[s] += value[s * BS + u] * have[u];
          }
        }
        k++;
        column = ahead;
#pragma unroll
        for (int q = 0; q < BS * BS; q++) value[q] = later[q];
#pragma unroll
        for (int s = 0; s < BS; s++) have[s] = column < 0 ? 0 : FACTOR_MISSING;
        ahead = FactorNodeLoad<BS>(T, first + k + 1, k + 1 < steps, lane, later);
      }
      over = (__ballot_sync(SYS_ALL_LANES, k >= steps) & own) == own;
      if (__any_sync(SYS_ALL_LANES, over && !done)) {
        SysScalar all[BS];

#pragma unroll
        for (int s = 0; s < BS; s++) {
          all[s] = sum[s];
#pragma unroll
          for (int d = LANES / 2; d; d /= 2) all[s] += __shfl_xor_sync(SYS_ALL_LANES, all[s], d);
        }
        if (over && leader && !done) {
#pragma unroll
          for (int s = 0; s < BS; s++) {
            const int64_t at = (int64_t)p * BS + s;

#pragma unroll
            for (int u = 0; u < s; u++) all[s] += inner[s * (s - 1) / 2 + u] * all[u];
            all[s] *= after[s];
            FactorWrite(w + at, all[s]);
            if (target[s] >= 0) x[c * ldx + target[s]] = all[s];
          }
        }
        done = done || over;
      }
      if (__all_sync(SYS_ALL_LANES, done)) break;
    }
  }
}

typedef decltype(&FactorSolveKernel<1>) FactorKernel;

/* The kernel for nodes of BS rows; lanes: the logarithm of the threads of a node */
template <int BS>
static FactorKernel FactorNodeGetKernel(int lanes)
{
  static const FactorKernel kernel[] = {FactorNodeKernel<BS, 1>, FactorNodeKernel<BS, 2>, FactorNodeKernel<BS, 4>, FactorNodeKernel<BS, 8>, FactorNodeKernel<BS, 16>, FactorNodeKernel<BS, 32>};

  return kernel[lanes];
}

static SysStatus FactorLaunch(const FactorTriangle *T, const int64_t *blocks, int columns, const SysScalar *b, int64_t ldb, SysScalar *result, SysScalar *x, int64_t ldx, SysScalar *clear, SysScalar *clear_b, unsigned *ticket, unsigned *other, cudaStream_t stream)
{
  static const FactorKernel kernels[] = {FactorSolveKernel<1>, FactorSolveKernel<2>, FactorSolveKernel<4>, FactorSolveKernel<8>, FactorSolveKernel<16>, FactorSolveKernel<32>};
  const int64_t             needed    = SysBlocks((int64_t)T->tiles * columns, FACTOR_THREADS / SYS_WARP);
  FactorKernel              kernel;
  int                       k = 0;

  while (1 << k < T->lanes) k++;
  kernel = T->bs == 2 ? FactorNodeGetKernel<2>(k) : T->bs == 3 ? FactorNodeGetKernel<3>(k) : T->bs == 4 ? FactorNodeGetKernel<4>(k) : kernels[k];
  if (T->boxes) kernel = T->boxes <= FACTOR_CHUNK ? FactorBoxKernel<FACTOR_CHUNK> : FactorBoxKernel<FACTOR_BOX_ENTRIES>;
  return SysLaunch(kernel, SysMin(needed, blocks[T->tiles >= FACTOR_TILES]), FACTOR_THREADS, 0, stream, *T, columns, b, ldb, result, x, ldx, clear, clear_b, ticket, other);
}

/* Makes room for the results of m right-hand sides, all of them missing; keeps the room that there is if memory is short */
static SysStatus FactorRoom(FactorDevice F, int m, cudaStream_t stream)
{
  const size_t bytes = SysPadded(sizeof(SysScalar) * (size_t)F->triangle[0].room * (size_t)m);
  char        *memory;
  SysStatus    status = SysDeviceAllocate(&memory, 2 * bytes);

  if (status != SYS_SUCCESS) return status == SYS_OUT_OF_MEMORY && F->columns ? SYS_SUCCESS : status;
  (void)cudaFree(F->result[0]);
  F->result[0] = (SysScalar *)memory;
  F->result[1] = (SysScalar *)(memory + bytes);
  F->columns   = m;
  SYS_CUDA(cudaMemsetAsync(memory, 0xff, 2 * bytes, stream));
  return SYS_SUCCESS;
}

SysStatus FactorDeviceSolve(FactorDevice F, int columns, const SysScalar *b, int64_t ldb, SysScalar *x, int64_t ldx, SysStream stream)
{
  const FactorTriangle *T    = F->triangle;
  const int             most = columns < FACTOR_COLUMNS ? columns : FACTOR_COLUMNS;

  if (most > F->columns) SYS_CALL(FactorRoom(F, most, (cudaStream_t)stream));
  for (int c = 0; c < columns; c += F->columns) {
    const int m = columns - c < F->columns ? columns - c : F->columns;

    if (F->by_level) {
      SYS_CALL(FactorLevelsSolve(&T[0], F->begin[0], F->early, m, b + c * ldb, ldb, F->result[0], NULL, 0, (cudaStream_t)stream));
      SYS_CALL(FactorLevelsSolve(&T[1], F->begin[1], F->early, m, F->result[0], T[0].room, F->result[1], x + c * ldx, ldx, (cudaStream_t)stream));
      continue;
    }
    SYS_CALL(FactorLaunch(&T[0], F->blocks, m, b + c * ldb, ldb, F->result[0], NULL, 0, F->result[1], NULL, F->ticket, F->ticket + 1, (cudaStream_t)stream));
    SYS_CALL(FactorLaunch(&T[1], F->blocks, m, F->result[0], T[0].room, F->result[1], x + c * ldx, ldx, NULL, F->result[0], F->ticket + 1, F->ticket, (cudaStream_t)stream));
  }
  return SYS_SUCCESS;
}

/* ------------------------------------------------- arrays ------------------------------------------------- */

/* to[k] = sign a[from[k]], or 0 if from[k] < 0 */
static __global__ void __launch_bounds__(SYS_THREADS) FactorGatherKernel(int64_t n, const int *from, SysScalar sign, const SysScalar *a, SysScalar *to)
{
  SYS_FOR_EACH(k, n) to[k] = from[k] < 0 ? 0 : sign * a[from[k]];
}

static SysStatus FactorGather(int64_t n, const int *from, SysScalar sign, const SysScalar *a, SysScalar *to, cudaStream_t stream)
{
  return n ? SysLaunch(FactorGatherKernel, SysBlocksLoop(n), SYS_THREADS, 0, stream, n, from, sign, a, to) : SYS_SUCCESS;
}

SysStatus FactorDeviceGather(FactorDevice F, const SysScalar *a, SysStream stream)
{
  for (int t = 0; t < 2; t++) {
    const FactorTriangle *T = &F->triangle[t];

    SYS_CALL(FactorGather(FactorSlots(T), T->from, F->sign, a, T->value, (cudaStream_t)stream));
    SYS_CALL(FactorGather(FactorNodeEntries(T), T->node_from, F->sign, a, T->node, (cudaStream_t)stream));
    if (T->before) SYS_CALL(FactorGather(T->n, T->diagonal, 1, a, T->before, (cudaStream_t)stream));
    if (T->after) SYS_CALL(FactorGather(T->n, T->diagonal, 1, a, T->after, (cudaStream_t)stream));
  }
  return SYS_SUCCESS;
}

SysStatus FactorDeviceUpdate(FactorDevice F, int64_t nz, const SysScalar *a, SysStream stream)
{
  SysScratch scratch;

  SYS_CALL(SysDeviceAllocate(&scratch.memory, (size_t)nz * sizeof(*a)));
  SYS_CUDA(cudaMemcpyAsync(scratch.memory, a, (size_t)nz * sizeof(*a), cudaMemcpyHostToDevice, (cudaStream_t)stream));
  SYS_CALL(FactorDeviceGather(F, (const SysScalar *)scratch.memory, stream));
  SYS_CUDA(cudaStreamSynchronize((cudaStream_t)stream)); /* the scratch goes */
  return SYS_SUCCESS;
}

/* Copies an array to the device, unless it is NULL */
static SysStatus FactorUpload(const SysInt **array, int *copy, int64_t n, cudaStream_t stream)
{
  if (!*array) return SYS_SUCCESS;
  SYS_CUDA(cudaMemcpyAsync(copy, *array, (size_t)n * sizeof(*copy), cudaMemcpyHostToDevice, stream));
  *array = copy;
  return SYS_SUCCESS;
}

/* Copies the arrays of a pair that are on the host to the scratch */
static SysStatus FactorUploadPair(FactorPair *pair, SysScratch *scratch, cudaStream_t stream)
{
  const int64_t n = pair->on_device ? 0 : pair->n, nz = pair->on_device ? 0 : pair->nz;
  SysArena      arena = {};
  int          *begin[2], *end[2], *source, *target, *diagonal, *j;

  for (int pass = 0; pass < 2; pass++) {
    SysArenaTake(&arena, &source, (size_t)pair->n);
    SysArenaTake(&arena, &target, (size_t)pair->n);
    for (int t = 0; t < 2; t++) {
      SysArenaTake(&arena, &begin[t], (size_t)n);
      SysArenaTake(&arena, &end[t], (size_t)n);
    }
    SysArenaTake(&arena, &diagonal, (size_t)n);
    SysArenaTake(&arena, &j, (size_t)nz);
    if (!pass) SYS_CALL(SysArenaAllocate(&arena));
    scratch->memory = arena.memory;
  }
  SYS_CALL(FactorUpload(&pair->source, source, pair->n, stream));
  SYS_CALL(FactorUpload(&pair->target, target, pair->n, stream));
  if (pair->on_device) return SYS_SUCCESS;
  for (int t = 0; t < 2; t++) {
    SYS_CALL(FactorUpload(&pair->begin[t], begin[t], n, stream));
    SYS_CALL(FactorUpload(&pair->end[t], end[t], n, stream));
  }
  SYS_CALL(FactorUpload(&pair->diagonal, diagonal, n, stream));
  return FactorUpload(&pair->j, j, nz, stream);
}

static void FactorTakeArrays(const FactorPair *pair, int t, FactorTriangle *T, SysArena *arena)
{
  const size_t slots = (size_t)T->steps * SYS_WARP, n = (size_t)T->n;

  SysArenaTake(arena, &T->start, (size_t)T->tiles + 1);
  SysArenaTake(arena, &T->column, slots);
  SysArenaTake(arena, &T->from, (size_t)FactorSlots(T));
  SysArenaTake(arena, &T->value, (size_t)FactorSlots(T));
  if (T->bs > 1) {
    SysArenaTake(arena, &T->node_from, (size_t)FactorNodeEntries(T));
    SysArenaTake(arena, &T->node, (size_t)FactorNodeEntries(T));
  }
  SysArenaTake(arena, &T->source, n);
  if (t) SysArenaTake(arena, &T->target, n);
  if (pair->before[t] || pair->after[t]) SysArenaTake(arena, &T->diagonal, n);
  if (pair->before[t]) SysArenaTake(arena, &T->before, n);
  if (pair->after[t]) SysArenaTake(arena, &T->after, n);
}

/* before: of each row of the first triangle its position; row, place: of this triangle's rows, and list, place: of its nodes, set here */
static SysStatus FactorTriangleCreate(const FactorPair *pair, int t, const int *before, int *list, int *row, int *place, FactorDevice F, cudaStream_t stream)
{
  FactorTriangle *T    = &F->triangle[t];
  FactorRows      rows = {pair->n, pair->begin[t], pair->end[t], pair->j, NULL}, nodes = {};
  int            *order = row;
  SysScratch      turned, scratch, boxes;
  SysArena        arena = {};

  if (pair->turned[t]) SYS_CALL(FactorTranspose(&rows, &turned, &rows, stream));
  if (pair->bs > 1 && pair->bs <= FACTOR_NODES) SYS_CALL(FactorNodesGet(&rows, t, pair->bs, pair->nz, &scratch, &nodes, stream));
  T->bs = 1;
  if (nodes.n) {
    T->bs = pair->bs;
    order = list;
  } else nodes = rows;
  T->boxes = 0;
  SYS_CALL(FactorOrder(&nodes, t, order, place, &T->levels, F->begin[t], stream));
  if (T->bs == 1 && pair->n >= pair->boxed) SYS_CALL(FactorRuns(&rows, t, &boxes, &row, place, T, stream));
  if (T->boxes) {
    order   = row;
    nodes.n = T->n;
  }
  SYS_CALL(FactorPlanMeasure(&nodes, T->boxes ? T->boxes : T->bs > 1 ? FACTOR_NODE_ENTRIES : FACTOR_CHUNK, order, T, stream));
  T->gap     = (int)(FACTOR_GAP * nodes.n / T->levels);
  T->n       = (int)nodes.n * T->bs;
  T->entries = T->entries * T->bs * T->bs + FactorNodeEntries(T);
  FactorTakeArrays(pair, t, T, &arena);
  SYS_CALL(SysArenaAllocate(&arena));
  F->memory[t] = arena.memory;
  FactorTakeArrays(pair, t, T, &arena);
  SYS_CALL(FactorPlanFill(&nodes, t, order, place, T, stream));
  if (T->bs > 1) {
    SYS_CALL(FactorNodesFill(&rows, &nodes, t, order, T, stream));
    SYS_CALL(FactorNodesOrder(nodes.n, t, T->bs, order, row, place, stream));
  }
  SYS_CALL(FactorCompose(T->n, row, t ? before : pair->source, T->source, stream));
  if (t) SYS_CALL(FactorCompose(T->n, row, pair->target, T->target, stream));
  if (T->diagonal) SYS_CALL(FactorCompose(T->n, row, pair->diagonal, T->diagonal, stream));
  SYS_CUDA(cudaStreamSynchronize(stream)); /* the transpose goes */
  return SYS_SUCCESS;
}

static double FactorTriangleBytes(const FactorTriangle *T)
{
  return 5. * T->n * sizeof(SysScalar) + (double)(FactorSlots(T) + FactorNodeEntries(T)) * sizeof(SysScalar) + (double)T->steps * SYS_WARP * sizeof(int);
}

/* Few levels, each of which takes longer to read than to launch */
static bool FactorIsByLevel(const FactorTriangle *T, double launched)
{
  return T->levels <= FACTOR_LEVELS && !T->boxes && FactorTriangleBytes(T) >= T->levels * launched;
}

static SysStatus FactorPairCreate(FactorPair pair, FactorDevice F, cudaStream_t stream)
{
  SysScratch copies, lists;
  SysArena   arena = {};
  int       *list, *row, *place[2];

  SYS_CALL(FactorUploadPair(&pair, &copies, stream));
  for (int pass = 0; pass < 2; pass++) {
    SysArenaTake(&arena, &list, (size_t)pair.n);
    SysArenaTake(&arena, &row, (size_t)pair.n);
    for (int t = 0; t < 2; t++) SysArenaTake(&arena, &place[t], (size_t)pair.n);
    if (!pass) SYS_CALL(SysArenaAllocate(&arena));
    lists.memory = arena.memory;
  }
  for (int t = 0; t < 2; t++) SYS_CALL(FactorTriangleCreate(&pair, t, place[0], list, row, place[t], F, stream));
  for (int t = 0; t < 2; t++) F->triangle[t].room = F->triangle[0].n > F->triangle[1].n ? F->triangle[0].n : F->triangle[1].n;
  SYS_CALL(SysDeviceAllocate(&F->memory[2], 2 * sizeof(*F->ticket)));
  F->ticket = (unsigned *)F->memory[2];
  SYS_CUDA(cudaMemsetAsync(F->ticket, 0, 2 * sizeof(*F->ticket), stream));
  F->by_level = FactorIsByLevel(&F->triangle[0], pair.launched) && FactorIsByLevel(&F->triangle[1], pair.launched);
  F->early    = SysStartsEarly();
  for (int k = 0; k < 2; k++) SYS_CALL(FactorBlocks((int64_t)1 << 30, k ? FACTOR_MORE : FACTOR_BLOCKS, &F->blocks[k]));
  return FactorRoom(F, 1, stream);
}

SysStatus FactorDeviceCreate(const FactorPair *pair, FactorDevice *result, SysStream stream)
{
  FactorDevice F      = (FactorDevice)calloc(1, sizeof(*F));
  SysStatus    status = SYS_OUT_OF_MEMORY;

  if (F) {
    F->sign = pair->sign;
    status  = FactorPairCreate(*pair, F, (cudaStream_t)stream);
    if (status != SYS_SUCCESS) FactorDeviceDestroy(&F);
  }
  *result = F;
  return status;
}

void FactorDeviceDestroy(FactorDevice *F)
{
  if (!*F) return;
  for (int k = 0; k < 3; k++) (void)cudaFree((*F)->memory[k]);
  (void)cudaFree((*F)->result[0]);
  free(*F);
  *F = NULL;
}

int64_t FactorDeviceEntries(FactorDevice F)
{
  return F->triangle[0].entries + F->triangle[1].entries;
}

int FactorDeviceLevels(FactorDevice F, int t)
{
  return F->triangle[t].levels;
}

double FactorDeviceLatency(FactorDevice F)
{
  double seconds = 0;

  for (int t = 0; t < 2; t++) {
    const FactorTriangle *T = &F->triangle[t];

    seconds += T->levels * (F->by_level ? FACTOR_LAUNCH_LEVEL : T->boxes ? FACTOR_BOX_SECONDS : FACTOR_LEVEL_SECONDS);
  }
  return seconds;
}

double FactorDeviceBytes(FactorDevice F)
{
  return FactorTriangleBytes(&F->triangle[0]) + FactorTriangleBytes(&F->triangle[1]);
}
