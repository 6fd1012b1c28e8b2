/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Solves with two triangles of a factor, one launch each. factorhost.h describes the method.
*/
#include "sys/syscuda.cuh"
#include "mat/factor/cuda/factorcuda.h"

#define FACTOR_CHUNK   4   /* entries that a thread waits for at a time */
#define FACTOR_THREADS 128 /* threads of a thread block */
#define FACTOR_BLOCKS  4   /* thread blocks of a multiprocessor: more of them only wait and read */
#define FACTOR_COLUMNS 8   /* right-hand sides of a launch at most */

/* A number that is not there yet has all bits set, which is a NaN */
#if defined(SYS_SINGLE)
  #define FACTOR_MISSING      __int_as_float(-1)
  #define FactorIsMissing(x)  (__float_as_int(x) == -1)
  #define FACTOR_NOT_A_NUMBER __int_as_float(0x7fffffff)
#else
  #define FACTOR_MISSING      __longlong_as_double(-1LL)
  #define FactorIsMissing(x)  (__double_as_longlong(x) == -1LL)
  #define FACTOR_NOT_A_NUMBER __longlong_as_double(0x7fffffffffffffffLL)
#endif

/* Reads and writes numbers that other warps of the kernel write and read: past the L1 cache, each in one piece */
static __device__ __forceinline__ SysScalar FactorRead(const SysScalar *p)
{
  SysScalar x;

#if defined(SYS_SINGLE)
  asm volatile("ld.relaxed.gpu.global.f32 %0, [%1];" : "=f"(x) : "l"(p));
#else
  asm volatile("ld.relaxed.gpu.global.f64 %0, [%1];" : "=d"(x) : "l"(p));
#endif
  return x;
}

static __device__ __forceinline__ void FactorWrite(SysScalar *p, SysScalar x)
{
#if defined(SYS_SINGLE)
  asm volatile("st.relaxed.gpu.global.f32 [%0], %1;" : : "l"(p), "f"(x));
#else
  asm volatile("st.relaxed.gpu.global.f64 [%0], %1;" : : "l"(p), "d"(x));
#endif
}

/* A triangle on the device; of each position: source, the entry of the right-hand side; target, the entry of the solution; diagonal, the place of the factor */
typedef struct {
  int        n, tiles, lanes, steps;
  int       *start, *column, *from, *source, *target, *diagonal;
  SysScalar *value, *before, *after; /* before and after: factors of right-hand sides and results, or NULL */
} FactorTriangle;

struct FactorDevice_ {
  FactorTriangle triangle[2];
  SysScalar      sign;
  SysScalar     *result[2]; /* of each triangle, by position, `columns` times */
  int            columns, blocks;
  unsigned      *ticket; /* of each triangle: the next tile */
  int64_t        entries;
  char          *memory;
};

/* Takes the next pair of a tile and a right-hand side for this warp; all lanes get the answer in FactorShare() */
static __device__ __forceinline__ unsigned FactorTake(unsigned *ticket, int lane)
{
  return lane == 0 ? atomicAdd(ticket, 1u) : 0;
}

/*
   The launch for one triangle. b: right-hand sides of ldb numbers each; result: by position, n numbers each; x: solutions, or NULL. The other triangle's results become
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
    SysScalar *w      = result + (int64_t)c * T.n;
    SysScalar  sum = 0, after          = 1, value[FACTOR_CHUNK], have[FACTOR_CHUNK];
    int        column[FACTOR_CHUNK], k = 0;
    bool       done = p >= T.n;

    if (leader) {
      const int source = T.source[p];

      sum = b[c * ldb + source];
      if (T.before) sum *= T.before[p];
      if (T.after) after = T.after[p];
      if (clear) clear[(int64_t)c * T.n + p] = FACTOR_MISSING;
      if (clear_b) clear_b[(int64_t)c * T.n + source] = FACTOR_MISSING;
    }
#pragma unroll
    for (int q = 0; q < FACTOR_CHUNK; q++) {
      const int64_t slot = ((int64_t)first + q) * SYS_WARP + lane;

      column[q] = q < steps ? T.column[slot] : -1;
      value[q]  = q < steps ? T.value[slot] : 0;
      have[q]   = column[q] < 0 ? 0 : FACTOR_MISSING;
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
          if (x) x[c * ldx + T.target[p]] = sum;
        }
      }
      if (__all_sync(SYS_ALL_LANES, done)) break;
    }
  }
}

static SysStatus FactorLaunch(const FactorTriangle *T, int blocks, int columns, const SysScalar *b, int64_t ldb, SysScalar *result, SysScalar *x, int64_t ldx, SysScalar *clear, SysScalar *clear_b, unsigned *ticket, unsigned *other, cudaStream_t stream)
{
  static decltype(&FactorSolveKernel<1>) const kernel[] = {FactorSolveKernel<1>, FactorSolveKernel<2>, FactorSolveKernel<4>, FactorSolveKernel<8>, FactorSolveKernel<16>, FactorSolveKernel<32>};
  const int64_t                                needed   = SysBlocks((int64_t)T->tiles * columns, FACTOR_THREADS / SYS_WARP);
  int                                          k        = 0;

  while (1 << k < T->lanes) k++;
  return SysLaunch(kernel[k], SysMin(needed, blocks), FACTOR_THREADS, 0, stream, *T, columns, b, ldb, result, x, ldx, clear, clear_b, ticket, other);
}

/* Makes room for the results of m right-hand sides, all of them missing; keeps the room that there is if memory is short */
static SysStatus FactorRoom(FactorDevice F, int m, cudaStream_t stream)
{
  const size_t bytes = SysPadded(sizeof(SysScalar) * (size_t)F->triangle[0].n * (size_t)m);
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

    SYS_CALL(FactorLaunch(&T[0], F->blocks, m, b + c * ldb, ldb, F->result[0], NULL, 0, F->result[1], NULL, F->ticket, F->ticket + 1, (cudaStream_t)stream));
    SYS_CALL(FactorLaunch(&T[1], F->blocks, m, F->result[0], T[0].n, F->result[1], x + c * ldx, ldx, NULL, F->result[0], F->ticket + 1, F->ticket, (cudaStream_t)stream));
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

SysStatus FactorDeviceUpdate(FactorDevice F, int64_t nz, const SysScalar *a, SysStream stream)
{
  SysScratch scratch;

  SYS_CALL(SysDeviceAllocate(&scratch.memory, (size_t)nz * sizeof(*a)));
  SYS_CUDA(cudaMemcpyAsync(scratch.memory, a, (size_t)nz * sizeof(*a), cudaMemcpyHostToDevice, (cudaStream_t)stream));
  for (int t = 0; t < 2; t++) {
    const FactorTriangle *T = &F->triangle[t];

    SYS_CALL(FactorGather((int64_t)T->steps * SYS_WARP, T->from, F->sign, (const SysScalar *)scratch.memory, T->value, (cudaStream_t)stream));
    if (T->before) SYS_CALL(FactorGather(T->n, T->diagonal, 1, (const SysScalar *)scratch.memory, T->before, (cudaStream_t)stream));
    if (T->after) SYS_CALL(FactorGather(T->n, T->diagonal, 1, (const SysScalar *)scratch.memory, T->after, (cudaStream_t)stream));
  }
  SYS_CUDA(cudaStreamSynchronize((cudaStream_t)stream)); /* the scratch goes */
  return SYS_SUCCESS;
}

static void FactorTakeArrays(const FactorPair *pair, FactorDevice F, SysArena *arena)
{
  for (int t = 0; t < 2; t++) {
    const FactorPlan *P     = &pair->plan[t];
    FactorTriangle   *T     = &F->triangle[t];
    const size_t      slots = (size_t)P->start[P->tiles] * FACTOR_WARP, n = (size_t)P->n;

    SysArenaTake(arena, &T->start, (size_t)P->tiles + 1);
    SysArenaTake(arena, &T->column, slots);
    SysArenaTake(arena, &T->from, slots);
    SysArenaTake(arena, &T->value, slots);
    SysArenaTake(arena, &T->source, n);
    if (t) SysArenaTake(arena, &T->target, n);
    if (pair->before[t] || pair->after[t]) SysArenaTake(arena, &T->diagonal, n);
    if (pair->before[t]) SysArenaTake(arena, &T->before, n);
    if (pair->after[t]) SysArenaTake(arena, &T->after, n);
  }
  SysArenaTake(arena, &F->ticket, 2);
}

static SysStatus FactorCopy(SysInt *to, const SysInt *from, int64_t n, cudaStream_t stream)
{
  SYS_CUDA(cudaMemcpyAsync(to, from, (size_t)n * sizeof(*to), cudaMemcpyHostToDevice, stream));
  return SYS_SUCCESS;
}

static SysStatus FactorFillArrays(const FactorPair *pair, FactorDevice F, SysInt *list, cudaStream_t stream)
{
  for (int t = 0; t < 2; t++) {
    const FactorPlan *P = &pair->plan[t];
    FactorTriangle   *T = &F->triangle[t];

    T->n     = (int)P->n;
    T->tiles = (int)P->tiles;
    T->lanes = P->lanes;
    T->steps = P->start[P->tiles];
    SYS_CALL(FactorCopy(T->start, P->start, P->tiles + 1, stream));
    SYS_CALL(FactorCopy(T->column, P->column, (int64_t)T->steps * FACTOR_WARP, stream));
    SYS_CALL(FactorCopy(T->from, P->from, (int64_t)T->steps * FACTOR_WARP, stream));
    for (int64_t p = 0; p < P->n; p++) list[p] = t ? pair->plan[0].place[P->row[p]] : pair->source ? pair->source[P->row[p]] : P->row[p];
    SYS_CALL(FactorCopy(T->source, list, P->n, stream)); /* from pageable memory: list may be written again */
    for (int64_t p = 0; p < P->n && t; p++) list[p] = pair->target ? pair->target[P->row[p]] : P->row[p];
    if (t) SYS_CALL(FactorCopy(T->target, list, P->n, stream));
    for (int64_t p = 0; p < P->n && T->diagonal; p++) list[p] = pair->diagonal[P->row[p]];
    if (T->diagonal) SYS_CALL(FactorCopy(T->diagonal, list, P->n, stream));
  }
  SYS_CUDA(cudaMemsetAsync(F->ticket, 0, 2 * sizeof(*F->ticket), stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  return SYS_SUCCESS;
}

SysStatus FactorDeviceCreate(const FactorPair *pair, FactorDevice *result, SysStream stream)
{
  FactorDevice F      = (FactorDevice)calloc(1, sizeof(*F));
  SysInt      *list   = (SysInt *)malloc(((size_t)pair->plan[0].n + 1) * sizeof(*list));
  SysArena     arena  = {};
  SysStatus    status = F && list ? SYS_SUCCESS : SYS_OUT_OF_MEMORY;
  int          device, processors;

  if (status == SYS_SUCCESS) {
    F->sign    = pair->sign;
    F->entries = pair->plan[0].entries + pair->plan[1].entries;
    FactorTakeArrays(pair, F, &arena);
    status = SysArenaAllocate(&arena);
  }
  if (status == SYS_SUCCESS) {
    F->memory = arena.memory;
    FactorTakeArrays(pair, F, &arena);
    status = FactorFillArrays(pair, F, list, (cudaStream_t)stream);
  }
  if (status == SYS_SUCCESS) status = FactorRoom(F, 1, (cudaStream_t)stream);
  if (status == SYS_SUCCESS) {
    cudaError_t error = cudaGetDevice(&device);

    if (error == cudaSuccess) error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (error == cudaSuccess) F->blocks = processors * FACTOR_BLOCKS;
    else status = SysDeviceFailed(error, "cudaDeviceGetAttribute");
  }
  free(list);
  if (status != SYS_SUCCESS && F) FactorDeviceDestroy(&F);
  *result = F;
  return status;
}

void FactorDeviceDestroy(FactorDevice *F)
{
  if (!*F) return;
  (void)cudaFree((*F)->memory);
  (void)cudaFree((*F)->result[0]);
  free(*F);
  *F = NULL;
}

int64_t FactorDeviceEntries(FactorDevice F)
{
  return F->entries;
}
