/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The kernels that convert a matrix to AMB on the device: the traffic model, the shape of every chunk, and the filling.

   A warp walks the 32 rows of a chunk side by side, one row a lane. The whole warp walks a split row, one run a lane.

   ambhost.h has the idea.
*/
#include <limits.h>

#include <cuda_pipeline.h>

#include "mat/impls/amb/cuda/ambcuda.cuh"

#define AMB_LAYOUT_THREADS 128 /* threads of a thread block in this file */

static unsigned AmbPlanBlocks(int64_t warps)
{
  return SysBlocks(warps * SYS_WARP, AMB_LAYOUT_THREADS);
}

/* A lane's position in a row, or in a run of a split row */
typedef struct {
  const int *j;
  int        k, end;
} Walk;

/* Returns the sum over the lower lanes; *total is the sum over all lanes */
static __device__ inline unsigned AmbPlanWarpScan(unsigned v, unsigned *total)
{
  const unsigned lane = threadIdx.x % SYS_WARP;
  unsigned       sum  = v;

  for (unsigned d = 1; d < SYS_WARP; d *= 2) {
    const unsigned other = __shfl_up_sync(SYS_ALL_LANES, sum, d);

    if (lane >= d) sum += other;
  }
  *total = __shfl_sync(SYS_ALL_LANES, sum, SYS_WARP - 1);
  return sum - v;
}

/* Returns the first column of a block for an entry in column col: col, or less if the block would exceed the matrix */
static __device__ inline int AmbPlanBlockColumn(int col, int n, int b)
{
  return min(col, n - b);
}

/* Skips entries in columns less than col */
static __device__ inline void AmbPlanSkip(Walk *w, int col)
{
  while (w->k < w->end && w->j[w->k] < col) w->k++;
}

static __device__ int AmbPlanCountBlocks(Walk w, int n, int b)
{
  int count = 0;

  if (b == 1) return w.end - w.k;
  while (w.k < w.end) {
    AmbPlanSkip(&w, AmbPlanBlockColumn(w.j[w.k], n, b) + b);
    count++;
  }
  return count;
}

/* Returns this lane's run of the piece of a split row that begins with entry k */
static __device__ inline Walk AmbPlanLaneRun(const int *j, int k, int end, int steps)
{
  Walk w;

  w.j   = j;
  w.k   = min(k + (int)(threadIdx.x % SYS_WARP) * steps, end);
  w.end = min(w.k + steps, end);
  return w;
}

/* Returns the number of entries of a piece */
static __device__ inline int AmbPlanPiece(int steps)
{
  return SYS_WARP * steps;
}

/* Returns the chunk's next diagonal, relative to group, or INT_MAX after the last */
static __device__ inline int AmbPlanNextDiagonal(const Walk *w, int group)
{
  return __reduce_min_sync(SYS_ALL_LANES, w->k < w->end ? w->j[w->k] - group : INT_MAX);
}

/* Returns the number of diagonals that hold the chunk's blocks, or limit + 1 if there are more or a block exceeds the matrix. A lane without a row
   has the group of another lane. */
static __device__ int AmbPlanCountDiagonals(Walk w, int group, int n, int b, int limit)
{
  const int first = __reduce_min_sync(SYS_ALL_LANES, group), last = __reduce_max_sync(SYS_ALL_LANES, group);
  int       count = 0, diagonal;

  while ((diagonal = AmbPlanNextDiagonal(&w, group)) != INT_MAX) {
    if (++count > limit || first + diagonal < 0 || last > n - b - diagonal) return limit + 1;
    AmbPlanSkip(&w, group + diagonal + b);
  }
  return count;
}

/* Returns whether in every step the chunk's columns are within 16 bits of each other */
static __device__ bool AmbPlanIsNarrow(Walk w, int n, int b)
{
  while (__any_sync(SYS_ALL_LANES, w.k < w.end)) {
    const bool here  = w.k < w.end;
    const int  col   = here ? AmbPlanBlockColumn(w.j[w.k], n, b) : 0;
    const int  least = __reduce_min_sync(SYS_ALL_LANES, here ? col : INT_MAX), most = __reduce_max_sync(SYS_ALL_LANES, here ? col : 0);

    if (most - least > 65535) return false;
    if (here) AmbPlanSkip(&w, col + b);
  }
  return true;
}

static __device__ inline int AmbPlanDiagonalBytes(int b)
{
  return (int)(SYS_WARP * b * sizeof(SysScalar) + sizeof(int));
}

static __device__ inline int AmbPlanNarrowBytes(int b)
{
  return AmbPlanDiagonalBytes(b) + SYS_WARP * (int)sizeof(uint16_t);
}

static __device__ inline int AmbPlanDiagonalLimit(int steps, int b)
{
  return (int)((int64_t)steps * AmbPlanNarrowBytes(b) / AmbPlanDiagonalBytes(b));
}

static __device__ inline unsigned AmbPlanStepsOf(int blocks, unsigned logt)
{
  return (unsigned)(blocks + (1 << logt) - 1) >> logt;
}

/* Returns log2 of the lanes for a row of this many blocks */
static __device__ inline unsigned AmbPlanLanesOf(int blocks, int most_steps)
{
  unsigned logt = 0;

  while (logt < 5 && AmbPlanStepsOf(blocks, logt) > (unsigned)most_steps) logt++;
  return logt;
}

/* Returns the maximum over the lanes of the same task */
static __device__ inline int AmbPlanTaskMax(int v, unsigned rows)
{
  for (unsigned d = 1; d < rows; d *= 2) v = max(v, __shfl_xor_sync(SYS_ALL_LANES, v, d));
  return v;
}

/* Counts the bytes of windows of 32 rows, one warp for a window and a block size */
static __global__ void __launch_bounds__(AMB_LAYOUT_THREADS) AmbPlanSample(SysCSR A, const __grid_constant__ AmbSampleSizes sizes, AmbSample *sample, int windows)
{
  const int                     lane = threadIdx.x % SYS_WARP, b = sizes.first + (int)blockIdx.y;
  const int64_t                 chunks = (A.m + SYS_WARP - 1) / SYS_WARP, w = (int64_t)(blockIdx.x * AMB_LAYOUT_THREADS + threadIdx.x) / SYS_WARP;
  __shared__ unsigned long long sum[1 + AMB_GROUPS];

  if (threadIdx.x <= AMB_GROUPS) sum[threadIdx.x] = 0;
  __syncthreads();
  if (w < windows) {
    /* one window at a random position in each of equal parts: R-MAT matrices have longer rows at multiples of powers of two */
    const int64_t chunk = (w * chunks + (int64_t)(((uint64_t)w * 0x9E3779B97F4A7C15ull >> 33) % (uint64_t)chunks)) / windows, row = chunk * SYS_WARP + lane;
    const int     r = (int)min(row, A.m - 1);
    Walk          walk;
    int           blocks, most, first, last, step_bytes = AmbPlanNarrowBytes(b);
    unsigned      logt, steps, slots;

    walk.j   = A.j;
    walk.k   = A.i[r];
    walk.end = row < A.m ? min(A.i[r + 1], walk.k + AMB_CUDA_MODEL_ENTRIES) : walk.k;
    blocks   = AmbPlanCountBlocks(walk, (int)A.n, b);
    most     = __reduce_max_sync(SYS_ALL_LANES, blocks);
    logt     = AmbPlanLanesOf(blocks, sizes.steps[b]);
    slots    = __reduce_add_sync(SYS_ALL_LANES, AmbPlanStepsOf(blocks, logt) << logt);
    logt     = AmbPlanLanesOf(most, sizes.steps[b]);
    first    = __reduce_min_sync(SYS_ALL_LANES, walk.k < walk.end ? walk.j[walk.k] : INT_MAX);
    last     = __reduce_max_sync(SYS_ALL_LANES, walk.k < walk.end ? walk.j[walk.end - 1] : 0);
    if (sizes.columns > 1 || (most && last - AmbPlanBlockColumn(first, (int)A.n, b) > 65535 && (logt || !AmbPlanIsNarrow(walk, (int)A.n, b)))) step_bytes += SYS_WARP * (int)sizeof(uint16_t);
    steps = AmbPlanStepsOf(AmbPlanTaskMax(blocks, SYS_WARP >> logt), logt);
    steps = __reduce_add_sync(SYS_ALL_LANES, lane % (SYS_WARP >> logt) ? 0 : steps);
    if (lane == 0) atomicAdd(&sum[0], (unsigned long long)slots * step_bytes / SYS_WARP);
    for (int g = 1; g <= AMB_GROUPS; g++) {
      unsigned long long bytes = (unsigned long long)steps * step_bytes;

      if (logt == 0 && !sizes.columns) {
        const int limit = AmbPlanDiagonalLimit(most, b), diagonals = AmbPlanCountDiagonals(walk, r - r % g, (int)A.n, b, limit);

        if (diagonals <= limit) bytes = min(bytes, (unsigned long long)diagonals * AmbPlanDiagonalBytes(b));
      }
      if (lane == 0) atomicAdd(&sum[g], bytes);
    }
  }
  __syncthreads();
  if (threadIdx.x <= AMB_GROUPS) {
    AmbSample *s = sample + b;

    atomicAdd(threadIdx.x ? &s->natural[threadIdx.x - 1] : &s->sorted, sum[threadIdx.x]);
  }
}

SysStatus AmbDeviceSample(const SysCSR *A, const AmbSampleSizes *sizes, AmbSample *sample, int windows, cudaStream_t stream)
{
  AmbPlanSample<<<dim3(AmbPlanBlocks(windows), sizes->last - sizes->first + 1), AMB_LAYOUT_THREADS, 0, stream>>>(*A, *sizes, sample, windows);
  SYS_CUDA(cudaPeekAtLastError());
  return SYS_SUCCESS;
}

/* Counts entries that do not exceed their predecessor. AmbPlanCountSingles() subtracts those that begin a row; a remainder means that some row is not
   ascending. Blocks of one entry need no other check. */
static __global__ void __launch_bounds__(AMB_LAYOUT_THREADS) AmbPlanCountDescents(int64_t nz, const int *__restrict__ j, unsigned *bad)
{
  unsigned descents = 0;

  for (int64_t k = (int64_t)blockIdx.x * AMB_LAYOUT_THREADS + threadIdx.x + 1; k < nz; k += (int64_t)gridDim.x * AMB_LAYOUT_THREADS) descents += j[k] <= j[k - 1];
  descents = __reduce_add_sync(SYS_ALL_LANES, descents);
  if (threadIdx.x % SYS_WARP == 0 && descents) atomicAdd(bad, descents);
}

static __global__ void __launch_bounds__(AMB_LAYOUT_THREADS) AmbPlanCountSingles(SysCSR A, int *blocks, unsigned *bad)
{
  const int64_t row     = (int64_t)blockIdx.x * AMB_LAYOUT_THREADS + threadIdx.x;
  bool          descent = false;

  if (row < A.m) {
    const int k = A.i[row], length = A.i[row + 1] - k;

    blocks[row] = length;
    descent     = length > 0 && k > 0 && A.j[k] <= A.j[k - 1];
  }
  const unsigned all = __ballot_sync(SYS_ALL_LANES, descent);
  if (threadIdx.x % SYS_WARP == 0 && all) atomicSub(bad, (unsigned)__popc(all));
}

/* Counts blocks[row]; sets bad[0] if a row is not ascending */
static __global__ void __launch_bounds__(AMB_LAYOUT_THREADS) AmbPlanCount(SysCSR A, int b, int steps, int *blocks, unsigned *bad)
{
  const int64_t row   = (int64_t)blockIdx.x * AMB_LAYOUT_THREADS + threadIdx.x;
  Walk          w     = {A.j, 0, 0};
  int           count = 0, last = -1;
  bool          wrong = false;
  unsigned      split;

  if (row < A.m) {
    w.k   = A.i[row];
    w.end = A.i[row + 1];
  }
  split = __ballot_sync(SYS_ALL_LANES, w.end - w.k > AmbPlanPiece(steps));
  if (!(split >> threadIdx.x % SYS_WARP & 1)) {
    int next = -1;

    for (int k = w.k; k < w.end; k++) {
      const int col = A.j[k];

      wrong |= col <= last;
      last = col;
      if (col >= next) {
        count++;
        next = AmbPlanBlockColumn(col, (int)A.n, b) + b;
      }
    }
  }
  for (; split; split &= split - 1) {
    const int lane = __ffs(split) - 1, k0 = __shfl_sync(SYS_ALL_LANES, w.k, lane), end = __shfl_sync(SYS_ALL_LANES, w.end, lane);
    int       total = 0;

    for (int k = k0; k < end; k += AmbPlanPiece(steps)) {
      const Walk run = AmbPlanLaneRun(A.j, k, end, steps);

      for (int e = max(run.k, k0 + 1); e < run.end; e++) wrong |= A.j[e] <= A.j[e - 1];
      total += AmbPlanCountBlocks(run, (int)A.n, b);
    }
    total = (int)__reduce_add_sync(SYS_ALL_LANES, total);
    if (lane == (int)(threadIdx.x % SYS_WARP)) count = total;
  }
  if (row < A.m) blocks[row] = count;
  if (wrong) *bad = 1;
}

SysStatus AmbDeviceCount(const SysCSR *A, int block_size, int steps, int *blocks, unsigned *bad, cudaStream_t stream)
{
  const unsigned rows = (unsigned)((A->m + AMB_LAYOUT_THREADS - 1) / AMB_LAYOUT_THREADS);
  const int64_t  flat = (A->nz + 8 * AMB_LAYOUT_THREADS - 1) / (8 * AMB_LAYOUT_THREADS);

  if (block_size > 1) return SysLaunch(AmbPlanCount, rows, AMB_LAYOUT_THREADS, 0, stream, *A, block_size, steps, blocks, bad);
  SYS_CALL(SysLaunch(AmbPlanCountDescents, flat, AMB_LAYOUT_THREADS, 0, stream, A->nz, A->j, bad));
  return SysLaunch(AmbPlanCountSingles, rows, AMB_LAYOUT_THREADS, 0, stream, *A, blocks, bad);
}

/* Computes keys that sort each scope's rows by descending length */
static __global__ void __launch_bounds__(AMB_LAYOUT_THREADS) AmbPlanKeys(int64_t m, int scope, const int *blocks, unsigned *key, uint16_t *row)
{
  const int64_t r = (int64_t)blockIdx.x * AMB_LAYOUT_THREADS + threadIdx.x;

  if (r >= m) return;
  key[r] = (unsigned)(r / scope) << 16 | (65535u - (unsigned)min(blocks[r], 65535));
  row[r] = (uint16_t)(r % AMB_SCOPE);
}

SysStatus AmbDeviceKeys(int64_t m, int scope, const int *blocks, unsigned *key, uint16_t *row, cudaStream_t stream)
{
  return SysLaunch(AmbPlanKeys, SysBlocks(m, AMB_LAYOUT_THREADS), AMB_LAYOUT_THREADS, 0, stream, m, scope, blocks, key, row);
}

/* A lane's row of a chunk */
typedef struct {
  int              row, group, length; /* length in entries */
  Walk             walk;
  const SysScalar *v; /* the values that walk traverses, or NULL */
  int              k; /* an entry's index in CSR minus its index in walk */
} Lane;

static __device__ inline Lane AmbPlanChunkLane(const AmbLayout &A, const AmbArrays &csr, unsigned chunk)
{
  const unsigned slot = chunk * SYS_WARP + threadIdx.x % SYS_WARP;
  Lane           lane;

  lane.row      = AmbRowAt(A.perm, min(slot, (unsigned)A.m - 1));
  lane.group    = lane.row - lane.row % A.row_group;
  lane.walk.j   = csr.j;
  lane.walk.k   = csr.i[lane.row];
  lane.walk.end = slot < (unsigned)A.m ? csr.i[lane.row + 1] : lane.walk.k;
  lane.length   = lane.walk.end - lane.walk.k;
  lane.v        = NULL;
  lane.k        = 0;
  return lane;
}

/* Starts the copy of an entry to shared memory; complete it with __pipeline_wait_prior() */
static __device__ inline void AmbPlanStageEntry(const AmbLayout &A, const AmbArrays &csr, int k, int *j, SysScalar *v)
{
  __pipeline_memcpy_async(j, csr.j + k, sizeof(*j));
  if (!A.map) __pipeline_memcpy_async(v, csr.a + (csr.from ? csr.from[k] : k), sizeof(*v));
}

/* Copies a chunk's rows to shared memory if they fit: a lane walks its row there without a memory transaction for each entry */
static __device__ void AmbPlanStage(const AmbLayout &A, const AmbArrays &csr, int space, int *j, SysScalar *v, Lane *me)
{
  const int lane = threadIdx.x % SYS_WARP;
  unsigned  total;
  const int begin = (int)AmbPlanWarpScan((unsigned)me->length, &total), first = __shfl_sync(SYS_ALL_LANES, me->walk.k, 0);

  if (total > (unsigned)space) return;
  if (__all_sync(SYS_ALL_LANES, me->length == 0 || me->walk.k == first + begin)) {
    for (int e = lane; e < (int)total; e += SYS_WARP) AmbPlanStageEntry(A, csr, first + e, j + e, v + e);
  } else {
    for (int l = 0; l < SYS_WARP; l++) {
      const int from = __shfl_sync(SYS_ALL_LANES, me->walk.k, l), length = __shfl_sync(SYS_ALL_LANES, me->length, l), to = __shfl_sync(SYS_ALL_LANES, begin, l);

      for (int e = lane; e < length; e += SYS_WARP) AmbPlanStageEntry(A, csr, from + e, j + to + e, v + to + e);
    }
  }
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncwarp();
  me->k        = me->walk.k - begin;
  me->v        = v;
  me->walk.j   = j;
  me->walk.k   = begin;
  me->walk.end = begin + me->length;
}

/* Returns to all lanes the number of blocks of the piece of a split row that begins with entry k */
static __device__ inline unsigned AmbPlanPieceBlocks(const AmbLayout &A, const int *j, int k, int end)
{
  return __reduce_add_sync(SYS_ALL_LANES, AmbPlanCountBlocks(AmbPlanLaneRun(j, k, end, A.steps), A.n, A.block_size));
}

/* Chooses T and the kind of every chunk; counts its tasks, steps and indices */
static __global__ void __launch_bounds__(AMB_LAYOUT_THREADS) AmbPlanPlan(AmbLayout A, AmbArrays csr, const int *blocks, int columns)
{
  const unsigned chunk = (blockIdx.x * AMB_LAYOUT_THREADS + threadIdx.x) / SYS_WARP, lane = threadIdx.x % SYS_WARP;
  const int      b = A.block_size;
  Lane           me;
  AmbCount       count = {0, 0, 0, 0, 0};
  unsigned       split, logt, kind = AMB_NARROW;
  int            mine, most;

  if (chunk >= A.nchunk) return;
  me    = AmbPlanChunkLane(A, csr, chunk);
  mine  = me.length ? blocks[me.row] : 0;
  most  = __reduce_max_sync(SYS_ALL_LANES, mine);
  split = __ballot_sync(SYS_ALL_LANES, me.length > AmbPlanPiece(A.steps));
  logt  = split ? 5 : AmbPlanLanesOf(most, A.steps);
  if (logt == 0) {
    const int limit = AmbPlanDiagonalLimit(most, b), diagonals = AmbPlanCountDiagonals(me.walk, me.group, A.n, b, limit);

    count.task = 1;
    count.step = (unsigned)most;
    if (diagonals <= limit && !columns) {
      kind       = AMB_DIAGONAL;
      count.step = (unsigned)diagonals;
    }
  } else {
    const unsigned rows = SYS_WARP >> logt;
    const unsigned step = AmbPlanStepsOf(AmbPlanTaskMax(mine, rows), logt);

    count.task = 1u << logt;
    count.step = __reduce_add_sync(SYS_ALL_LANES, lane % rows || split >> lane & 1 ? 0 : step);
  }
  if (kind != AMB_DIAGONAL) {
    const int first = __reduce_min_sync(SYS_ALL_LANES, me.length ? csr.j[me.walk.k] : INT_MAX), last = __reduce_max_sync(SYS_ALL_LANES, me.length ? csr.j[me.walk.end - 1] : 0);

    if (columns > 1) kind = AMB_WIDE;
    if (most && last - AmbPlanBlockColumn(first, A.n, b) > 65535 && (logt || !AmbPlanIsNarrow(me.walk, A.n, b))) kind = AMB_WIDE;
  }
  for (unsigned left = split; left; left &= left - 1) {
    const int from = __ffs(left) - 1, begin = __shfl_sync(SYS_ALL_LANES, me.walk.k, from), end = __shfl_sync(SYS_ALL_LANES, me.walk.end, from);

    count.split++;
    for (int k = begin; k < end; k += AmbPlanPiece(A.steps)) {
      count.step += AmbPlanStepsOf((int)AmbPlanPieceBlocks(A, csr.j, k, end), 5);
      count.partial++;
      if (k > begin) count.task++;
    }
  }
  count.idx = kind == AMB_DIAGONAL ? 0 : kind == AMB_NARROW ? count.step : 2 * count.step;
  if (lane == 0) {
    A.count[chunk] = count;
    A.shape[chunk] = (unsigned char)(logt | kind << 3);
  }
}

SysStatus AmbDevicePlan(const AmbLayout *A, const AmbArrays *csr, const int *blocks, int columns, cudaStream_t stream)
{
  return SysLaunch(AmbPlanPlan, AmbPlanBlocks(A->nchunk), AMB_LAYOUT_THREADS, 0, stream, *A, *csr, blocks, columns);
}

/* Stores the values, or in the map the entries, of the block that begins in column col, and skips them; a lane without a block stores zeros, or -1 */
static __device__ inline void AmbPlanStoreBlock(const AmbLayout &A, size_t at, Lane *me, const AmbArrays &csr, int col)
{
  Walk *w = &me->walk;

  for (int k = 0; k < A.block_size; k++, at += SYS_WARP) {
    const bool here = w->k < w->end && w->j[w->k] == col + k;
    const int  from = w->k + me->k;

    if (A.map) A.map[at] = here ? (csr.from ? csr.from[from] : from) : -1;
    else A.val[at] = here ? (me->v ? me->v[w->k] : AmbEntry(csr, from)) : 0;
    if (here) w->k++;
  }
}

/* Fills a chunk with one lane a row, step by step in all lanes */
static __device__ void AmbPlanFillPlain(const AmbLayout &A, const AmbArrays &csr, Lane me, const AmbCount &at, unsigned kind)
{
  const unsigned lane = threadIdx.x % SYS_WARP;
  const int      b    = A.block_size;
  size_t         val  = (size_t)SYS_WARP * b * at.step + lane;
  int           *base = A.base + at.step;
  uint16_t      *idx  = A.idx + (size_t)SYS_WARP * at.idx;

  for (; __any_sync(SYS_ALL_LANES, me.walk.k < me.walk.end); val += SYS_WARP * b, base++) {
    const bool here = me.walk.k < me.walk.end;
    int        col = 0, first = 0;

    if (kind == AMB_DIAGONAL) {
      first = AmbPlanNextDiagonal(&me.walk, me.group);
      col   = me.group + first;
    } else {
      if (here) col = AmbPlanBlockColumn(me.walk.j[me.walk.k], A.n, b);
      first = __reduce_min_sync(SYS_ALL_LANES, here ? col : INT_MAX);
    }
    if (!A.map) {
      if (lane == 0) *base = first;
      if (kind == AMB_NARROW) idx[lane] = (uint16_t)(here ? col - first : 0);
      if (kind == AMB_WIDE) ((int *)idx)[lane] = here ? col : first;
      if (kind != AMB_DIAGONAL) idx += kind == AMB_NARROW ? SYS_WARP : 2 * SYS_WARP;
    }
    AmbPlanStoreBlock(A, val, &me, csr, col);
  }
}

/* Where one row's blocks go in a task of several lanes a row */
typedef struct {
  unsigned step, idx, kind, logt, lane; /* lane: the row's first lane */
  int      base;
} Position;

static __device__ inline void AmbPlanStoreRow(const AmbLayout &A, const AmbArrays &csr, Lane me, const Position &p, unsigned block)
{
  const int   b = A.block_size;
  const Walk &w = me.walk;

  for (; w.k < w.end; block++) {
    const unsigned s = block >> p.logt, l = p.lane + ((block & ((1u << p.logt) - 1)) << (5 - p.logt));
    const int      col = AmbPlanBlockColumn(w.j[w.k], A.n, b);
    uint16_t      *idx = A.idx + (size_t)SYS_WARP * p.idx;

    if (!A.map && p.kind == AMB_NARROW) idx[SYS_WARP * s + l] = (uint16_t)(col - p.base);
    if (!A.map && p.kind == AMB_WIDE) ((int *)idx)[SYS_WARP * s + l] = col;
    AmbPlanStoreBlock(A, (size_t)SYS_WARP * b * (p.step + s) + l, &me, csr, col);
  }
}

/* Clears steps before lanes store their rows: slots without an entry get the value zero and a valid column */
static __device__ void AmbPlanClear(const AmbLayout &A, unsigned step, unsigned nstep, unsigned idx, unsigned kind, int base)
{
  const unsigned lane = threadIdx.x % SYS_WARP;
  const size_t   val  = (size_t)SYS_WARP * A.block_size * step;

  for (unsigned k = lane; k < SYS_WARP * A.block_size * nstep; k += SYS_WARP) {
    if (A.map) A.map[val + k] = -1;
    else A.val[val + k] = 0;
  }
  if (!A.map) {
    for (unsigned k = lane; k < nstep; k += SYS_WARP) A.base[step + k] = base;
    for (unsigned k = lane; k < SYS_WARP * nstep; k += SYS_WARP) {
      if (kind == AMB_NARROW) A.idx[(size_t)SYS_WARP * idx + k] = 0;
      else ((int *)(A.idx + (size_t)SYS_WARP * idx))[k] = base;
    }
  }
  __syncwarp();
}

/* Stores the tasks of lane `from`'s split row; AmbPlanFillTasks() fills them. Returns the counts after these tasks. */
static __device__ AmbCount AmbPlanSplitTasks(const AmbLayout &A, const AmbArrays &csr, const Lane &me, int from, AmbCount at, unsigned kind, unsigned slot)
{
  const int      begin = __shfl_sync(SYS_ALL_LANES, me.walk.k + me.k, from), end = __shfl_sync(SYS_ALL_LANES, me.walk.end + me.k, from);
  const unsigned lane = threadIdx.x % SYS_WARP, pieces = (unsigned)(end - begin + AmbPlanPiece(A.steps) - 1) / AmbPlanPiece(A.steps);

  if (!A.map && lane == 0) {
    const AmbSplit split = {slot, pieces, at.task, at.partial};

    A.split[at.split]   = split;
    A.arrived[at.split] = 0;
  }
  for (int k = begin; k < end; k += AmbPlanPiece(A.steps)) {
    const unsigned steps = AmbPlanStepsOf((int)AmbPlanPieceBlocks(A, csr.j, k, end), 5);

    if (!A.map && lane == 0) {
      const AmbTask task = {at.step, at.idx, at.split, AMB_TASK(steps, 5, kind, 1)};

      A.task[at.task] = task;
    }
    at.task++;
    at.step += steps;
    at.idx += kind == AMB_NARROW ? steps : 2 * steps;
  }
  at.partial += pieces;
  at.split++;
  return at;
}

/* Fills a chunk of several lanes a row, except blocks of one entry (AmbPlanFillTasks()) */
static __device__ void AmbPlanFillShared(const AmbLayout &A, const AmbArrays &csr, Lane me, AmbCount at, unsigned chunk, unsigned logt, unsigned kind)
{
  const unsigned lane = threadIdx.x % SYS_WARP, rows = SYS_WARP >> logt, split = __ballot_sync(SYS_ALL_LANES, me.length > AmbPlanPiece(A.steps));
  const int      base = AmbPlanBlockColumn(__reduce_min_sync(SYS_ALL_LANES, me.length ? me.walk.j[me.walk.k] : A.n), A.n, A.block_size); /* the smallest first column of a block */
  int            mine = 0, step;
  unsigned       total, before, task;

  if (!(split >> lane & 1)) mine = AmbPlanCountBlocks(me.walk, A.n, A.block_size);
  step   = (int)AmbPlanStepsOf(AmbPlanTaskMax(mine, rows), logt);
  before = AmbPlanWarpScan(lane % rows || split >> lane & 1 ? 0 : (unsigned)step, &total);
  before = __shfl_sync(SYS_ALL_LANES, before, lane - lane % rows);
  task   = at.task + __popc(~split & ((1u << lane) - 1)) / rows;
  if (A.block_size > 1) AmbPlanClear(A, at.step, total, at.idx, kind, base);
  if (!(split >> lane & 1)) {
    Position position;

    position.step = at.step + before;
    position.idx  = at.idx + (kind == AMB_NARROW ? before : 2 * before);
    position.kind = kind;
    position.logt = logt;
    position.lane = lane % rows;
    position.base = base;
    if (A.block_size > 1) AmbPlanStoreRow(A, csr, me, position, 0);
    if (!A.map && lane % rows == 0) {
      const AmbTask t = {position.step, position.idx, chunk * SYS_WARP + lane, AMB_TASK(step, logt, kind, 0)};

      A.task[task] = t;
    }
  }
  at.task += __popc(~split) / rows;
  at.step += total;
  at.idx += kind == AMB_NARROW ? total : 2 * total;
  for (unsigned left = split; left; left &= left - 1) {
    const int from = __ffs(left) - 1;

    at = AmbPlanSplitTasks(A, csr, me, from, at, kind, chunk * SYS_WARP + (unsigned)from);
  }
}

/* A thread block is one warp; space: entries that fit into shared memory */
static __global__ void __launch_bounds__(SYS_WARP) AmbPlanFill(AmbLayout A, AmbArrays csr, int space)
{
  extern __shared__ SysScalar staged[];
  const unsigned              chunk = blockIdx.x, logt = A.shape[chunk] & 7u, kind = A.shape[chunk] >> 3;
  Lane                        me = AmbPlanChunkLane(A, csr, chunk);

  if (!logt || A.block_size > 1) AmbPlanStage(A, csr, space, (int *)(staged + space), staged, &me);
  if (logt) AmbPlanFillShared(A, csr, me, A.count[chunk], chunk, logt, kind);
  else {
    if (!A.map && threadIdx.x == 0) {
      const AmbTask task = {A.count[chunk].step, A.count[chunk].idx, chunk * SYS_WARP, AMB_TASK(A.count[chunk + 1].step - A.count[chunk].step, 0, kind, 0)};

      A.task[A.count[chunk].task] = task;
    }
    AmbPlanFillPlain(A, csr, me, A.count[chunk], kind);
  }
}

/* Fills a task with blocks of one entry: lanes take their rows' entries in turn, from begin on */
static __device__ void AmbPlanFillSingles(const AmbLayout &A, const AmbArrays &csr, const AmbTask &t, int begin, int end)
{
  const unsigned lane = threadIdx.x % SYS_WARP, logt = AMB_TASK_LOGT(t.what), kind = AMB_TASK_KIND(t.what);
  const size_t   val = (size_t)SYS_WARP * t.step + lane;
  uint16_t      *idx = A.idx + (size_t)SYS_WARP * t.idx;
  int            k   = begin + (int)(lane >> (5 - logt));

#pragma unroll 4
  for (unsigned s = 0; s < AMB_TASK_STEPS(t.what); s++, k += 1 << logt) {
    const bool here = k < end;
    const int  from = here ? (csr.from ? __ldg(csr.from + k) : k) : -1;

    if (A.map) A.map[val + SYS_WARP * s] = from;
    else {
      const int col = here ? __ldg(csr.j + k) : INT_MAX, least = __reduce_min_sync(SYS_ALL_LANES, col), first = least == INT_MAX ? 0 : least;

      A.val[val + SYS_WARP * s] = here ? __ldg(csr.a + from) : 0;
      if (lane == 0) A.base[t.step + s] = first;
      if (kind == AMB_NARROW) idx[SYS_WARP * s + lane] = (uint16_t)(here ? col - first : 0);
      else ((int *)idx)[SYS_WARP * s + lane] = here ? col : first;
    }
  }
}

/* Fills pieces of split rows and, with blocks of one entry, all tasks of several lanes a row; one warp a task */
static __global__ void __launch_bounds__(AMB_LAYOUT_THREADS) AmbPlanFillTasks(AmbLayout A, AmbArrays csr)
{
  const unsigned w = (blockIdx.x * AMB_LAYOUT_THREADS + threadIdx.x) / SYS_WARP, lane = threadIdx.x % SYS_WARP;
  AmbTask        t;
  AmbSplit       split;
  Position       position;
  Lane           run = {};
  unsigned       total, before;
  int            row, begin;

  if (w >= A.ntask) return;
  t = A.task[w];
  if (!AMB_TASK_SPLIT(t.what)) {
    const unsigned slot = t.slot + lane % (SYS_WARP >> AMB_TASK_LOGT(t.what));

    if (A.block_size > 1 || AMB_TASK_LOGT(t.what) == 0) return;
    row = AmbRowAt(A.perm, min(slot, (unsigned)A.m - 1));
    AmbPlanFillSingles(A, csr, t, csr.i[row], slot < (unsigned)A.m ? csr.i[row + 1] : csr.i[row]);
    return;
  }
  split = A.split[t.slot];
  row   = AmbRowAt(A.perm, split.slot);
  begin = csr.i[row] + (int)(w - split.task) * AmbPlanPiece(A.steps);
  if (A.block_size == 1) {
    AmbPlanFillSingles(A, csr, t, begin, min(begin + AmbPlanPiece(A.steps), csr.i[row + 1]));
    return;
  }
  run.walk      = AmbPlanLaneRun(csr.j, begin, csr.i[row + 1], A.steps);
  position.step = t.step;
  position.idx  = t.idx;
  position.kind = AMB_TASK_KIND(t.what);
  position.logt = 5;
  position.lane = 0;
  position.base = AmbPlanBlockColumn(csr.j[begin], A.n, A.block_size);
  before        = AmbPlanWarpScan((unsigned)AmbPlanCountBlocks(run.walk, A.n, A.block_size), &total);
  AmbPlanClear(A, t.step, AMB_TASK_STEPS(t.what), t.idx, position.kind, position.base);
  AmbPlanStoreRow(A, csr, run, position, before);
}

/* Fills the layout's arrays, or only the map if there is one */
SysStatus AmbDeviceFill(const AmbLayout *A, const AmbArrays *csr, cudaStream_t stream)
{
  const int most = 8192, entry = (int)(sizeof(SysScalar) + sizeof(int));
  int       space = 256; /* in entries; holds a chunk 25 % longer than the average */

  if (!A->nchunk) return SYS_SUCCESS;
  while (space < most && space < A->nz / (int)A->nchunk * 5 / 4) space += 128;
  SYS_CUDA(cudaFuncSetAttribute(AmbPlanFill, cudaFuncAttributeMaxDynamicSharedMemorySize, most * entry));
  SYS_CALL(SysLaunch(AmbPlanFill, A->nchunk, SYS_WARP, (size_t)(space * entry), stream, *A, *csr, space));
  return A->ntask > A->nchunk ? SysLaunch(AmbPlanFillTasks, AmbPlanBlocks(A->ntask), AMB_LAYOUT_THREADS, 0, stream, *A, *csr) : SYS_SUCCESS;
}

static __global__ void __launch_bounds__(256) AmbPlanRefill(size_t n, const int *__restrict__ map, const SysScalar *__restrict__ a, SysScalar *__restrict__ val)
{
  for (size_t k = (size_t)blockIdx.x * blockDim.x + threadIdx.x; k < n; k += (size_t)gridDim.x * blockDim.x) {
    const int from = __ldcs(map + k);

    val[k] = from < 0 ? 0 : __ldg(a + from);
  }
}

/* Stores new values through the map */
SysStatus AmbDeviceRefill(const AmbLayout *A, size_t n, const SysScalar *a, cudaStream_t stream)
{
  if (!n) return SYS_SUCCESS;
  return SysLaunch(AmbPlanRefill, (unsigned)((n + 1023) / 1024 < 1u << 20 ? (n + 1023) / 1024 : 1u << 20), 256, 0, stream, n, A->map, a, A->val);
}
