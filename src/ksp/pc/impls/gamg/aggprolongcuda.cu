/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The prolongator on a CUDA device. The tentative one has one block per vertex: it is kept as these blocks, and the numbers of the aggregates are their columns.
   Smoothing it is a product with such a matrix: a row of the result has the aggregates of the columns of a row of A, which are found in ascending order, each
   by one pass over the row that also adds up the entries of the aggregate before. No table is needed, and sums have one order.
*/
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <limits.h>
#include <math.h>

#include "ksp/pc/impls/gamg/aggcuda.cuh"

#define AGG_WIDE  6  /* vectors whose entries are added up in one pass */
#define AGG_SHORT 16 /* rows of more entries on average have a warp each */

/* ------------------------------------------------- tentative prolongator ------------------------------------------------- */

/* Vertices in no aggregate come last */
static __global__ void AggSortKeysKernel(int n, int nagg, const int *number, int *key, int *vertex)
{
  SYS_FOR_EACH(v, n)
  {
    key[v]    = number[v] < 0 ? nagg : number[v];
    vertex[v] = (int)v;
  }
}

/* Each aggregate has a member: its root */
static __global__ void AggStartsKernel(int n, int nagg, const int *key, int *start)
{
  SYS_FOR_EACH(l, n)
  {
    if (!l || key[l] != key[l - 1]) start[key[l]] = (int)l;
    if (l == n - 1 && key[l] != nagg) start[nagg] = n;
  }
}

/* The members of the aggregates, ascending */
static SysStatus AggMembers(const AggDevice *g, int *start, int *member, cudaStream_t stream)
{
  SysArena   arena = {NULL, 0};
  SysScratch scratch, temporary;
  size_t     bytes = 0;
  int       *key, *sorted, *vertex;

  for (int turn = 0; turn < 2; turn++) {
    SysArenaTake(&arena, &key, (size_t)g->n);
    SysArenaTake(&arena, &sorted, (size_t)g->n);
    SysArenaTake(&arena, &vertex, (size_t)g->n);
    if (!turn) SYS_CALL(SysArenaAllocate(&arena));
  }
  scratch.memory = arena.memory;
  AggSortKeysKernel<<<SysBlocksLoop(g->n), SYS_THREADS, 0, stream>>>(g->n, g->nagg, g->number, key, vertex);
  SYS_CUDA(cub::DeviceRadixSort::SortPairs(NULL, bytes, key, sorted, vertex, member, g->n, 0, SysBits(g->nagg), stream));
  SYS_CALL(SysDeviceAllocate(&temporary.memory, bytes));
  SYS_CUDA(cub::DeviceRadixSort::SortPairs(temporary.memory, bytes, key, sorted, vertex, member, g->n, 0, SysBits(g->nagg), stream));
  AggStartsKernel<<<SysBlocksLoop(g->n), SYS_THREADS, 0, stream>>>(g->n, g->nagg, sorted, start);
  SYS_CUDA(cudaGetLastError());
  SYS_CUDA(cudaStreamSynchronize(stream)); /* the memory ends here */
  return SYS_SUCCESS;
}

static __device__ double AggWarpSum(double x)
{
  for (int d = SYS_WARP / 2; d; d /= 2) x += __shfl_xor_sync(SYS_ALL_LANES, x, d);
  return x;
}

/* The largest, or a NaN if there is one */
static __device__ double AggWarpLargest(double x)
{
  for (int d = SYS_WARP / 2; d; d /= 2) {
    const double y = __shfl_xor_sync(SYS_ALL_LANES, x, d);

    if (y > x || y != y) x = y;
  }
  return x;
}

/* FactorLength() of prolongator.c for the rows after c, by a warp. A lane has rows lane, lane + 32, ... */
static __device__ double AggLength(int m, int c, const double *x, int lane)
{
  double most = 0, sum = 0;

  for (int l = lane; l < m; l += SYS_WARP) {
    if (l > c && !(fabs(x[l]) <= most)) most = fabs(x[l]);
  }
  most = AggWarpLargest(most);
  if (!(most > 0)) return most;
  for (int l = lane; l < m; l += SYS_WARP) {
    if (l > c) sum += (x[l] / most) * (x[l] / most);
  }
  return most * sqrt(AggWarpSum(sum));
}

/* FactorReflect(): v has 1 in the place of its row c, and zeros before it */
static __device__ void AggReflect(int m, int c, const double *v, double tau, double *x, int lane)
{
  double sum = 0;

  for (int l = lane; l < m; l += SYS_WARP) {
    if (l >= c) sum += l == c ? x[l] : v[l] * x[l];
  }
  sum = tau * AggWarpSum(sum);
  for (int l = lane; l < m; l += SYS_WARP) {
    if (l >= c) x[l] -= l == c ? sum : sum * v[l];
  }
  __syncwarp();
}

/* FactorColumns() */
static __device__ void AggFactorColumns(int m, int n, double *a, double *tau, SysReal *r, int64_t stride, int lane)
{
  for (int c = 0; c < n; c++) {
    double      *x     = a + (int64_t)c * m;
    const double below = AggLength(m, c, x, lane), pivot = x[c];
    double       t = 0;

    __syncwarp();
    if (below != 0) {
      const double length = hypot(pivot, below), beta = pivot >= 0 ? -length : length;

      t = (beta - pivot) / beta;
      for (int l = lane; l < m; l += SYS_WARP) {
        if (l >= c) x[l] = l == c ? beta : x[l] / (pivot - beta);
      }
    }
    if (!lane) tau[c] = t;
    __syncwarp();
    for (int l = c + 1; l < n; l++) AggReflect(m, c, x, t, a + (int64_t)l * m, lane);
    for (int k = lane; k < n; k += SYS_WARP) r[c * stride + k] = (SysReal)(k <= c ? x[k] : 0);
  }
  __syncwarp();
  for (int c = n - 1; c >= 0; c--) {
    double      *x = a + (int64_t)c * m;
    const double t = tau[c];

    for (int l = c + 1; l < n; l++) AggReflect(m, c, x, t, a + (int64_t)l * m, lane);
    for (int l = lane; l < m; l += SYS_WARP) x[l] = l < c ? 0 : l == c ? 1 - t : -t * x[l];
    __syncwarp();
  }
}

/* A warp has an aggregate. The scratch memory of one has a column of m rows and a factor for each vector. */
static __global__ void AggFactorKernel(int nagg, int rows, int bs, int nvec, const int *start, const int *member, const SysReal *data, double *scratch, SysReal *block, SysReal *r)
{
  const int     lane  = (int)threadIdx.x % SYS_WARP;
  const int64_t warps = (int64_t)gridDim.x * (blockDim.x / SYS_WARP);

  for (int64_t k = (blockIdx.x * (int64_t)blockDim.x + threadIdx.x) / SYS_WARP; k < nagg; k += warps) {
    const int has = (start[k + 1] - start[k]) * bs, m = has > nvec ? has : nvec;
    double   *a = scratch + ((int64_t)start[k] * bs + k * (nvec + 1)) * nvec;

    for (int l = lane; l < m; l += SYS_WARP) {
      const int64_t row = l < has ? (int64_t)member[start[k] + l / bs] * bs + l % bs : 0;

      for (int c = 0; c < nvec; c++) a[(int64_t)c * m + l] = l >= has ? 0 : data ? (double)data[(int64_t)c * rows + row] : 1;
    }
    __syncwarp();
    AggFactorColumns(m, nvec, a, a + (int64_t)m * nvec, r + k * nvec, (int64_t)nagg * nvec, lane);
    for (int l = lane; l < has; l += SYS_WARP) {
      const int64_t row = (int64_t)member[start[k] + l / bs] * bs + l % bs;

      for (int c = 0; c < nvec; c++) block[row * nvec + c] = (SysReal)a[(int64_t)c * m + l];
    }
    __syncwarp();
  }
}

SysStatus AggDeviceFactor(AggDevice *g, int bs, int nvec, const SysReal data[], SysStream stream, SysReal r[])
{
  const size_t  rows = (size_t)g->n * bs, nr = (size_t)g->nagg * nvec * nvec;
  SysArena      arena = {NULL, 0};
  SysScratch    scratch, columns;
  SysReal      *device, *factor;
  int          *start, *member;
  const int64_t warps = SYS_THREADS / SYS_WARP;

  for (int turn = 0; turn < 2; turn++) {
    SysArenaTake(&arena, &device, data ? rows * nvec : 0);
    SysArenaTake(&arena, &factor, nr);
    SysArenaTake(&arena, &start, (size_t)g->nagg + 1);
    SysArenaTake(&arena, &member, (size_t)g->n);
    if (!turn) SYS_CALL(SysArenaAllocate(&arena));
  }
  scratch.memory = arena.memory;
  if (!g->block) SYS_CALL(SysDeviceAllocate(&g->block, rows * nvec * sizeof(*g->block)));
  if (data) SYS_CUDA(cudaMemcpyAsync(device, data, rows * nvec * sizeof(*device), cudaMemcpyHostToDevice, stream));
  SYS_CALL(AggMembers(g, start, member, stream));
  SYS_CALL(SysDeviceAllocate(&columns.memory, (rows + (size_t)g->nagg * (nvec + 1)) * nvec * sizeof(double)));
  AggFactorKernel<<<SysBlocks(g->nagg, warps) < 65536 ? SysBlocks(g->nagg, warps) : 65536, SYS_THREADS, 0, stream>>>(g->nagg, (int)rows, bs, nvec, start, member, data ? device : NULL, (double *)columns.memory, g->block, factor);
  SYS_CUDA(cudaGetLastError());
  SYS_CUDA(cudaMemcpyAsync(r, factor, nr * sizeof(*r), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaStreamSynchronize(stream)); /* the memory ends here */
  return SYS_SUCCESS;
}

/* ------------------------------------------------- prolongator ------------------------------------------------- */

struct AggProduct {
  const int       *i, *j; /* i is NULL if there is no A */
  const SysScalar *a;
  const int       *number;
  const SysReal   *block;
  double           alpha;
  int              rows, bs, nvec;
};

/* The smallest number of the lanes that share a row */
template <int LANES>
static __device__ int AggSmallest(int x)
{
  for (int d = LANES / 2; d; d /= 2) x = min(x, __shfl_xor_sync(SYS_ALL_LANES, x, d));
  return x;
}

template <int LANES>
static __device__ double AggTotal(double x)
{
  for (int d = LANES / 2; d; d /= 2) x += __shfl_xor_sync(SYS_ALL_LANES, x, d);
  return x;
}

/* The first aggregate of row r after that one, or INT_MAX */
template <int LANES>
static __device__ int AggNext(const AggProduct &p, int64_t r, int begin, int end, int after, int lane)
{
  const int own  = p.number[r / p.bs];
  int       next = own > after ? own : INT_MAX;

  for (int k = begin + lane; k < end; k += LANES) {
    const int to = p.number[p.j[k] / p.bs];

    if (to > after && to < next) next = to;
  }
  return AggSmallest<LANES>(next);
}

/* All lanes of a warp run through the loop together: rows beyond the last one are empty */
#define AGG_FOR_EACH_ROW(r, p) \
  for (int64_t r = (blockIdx.x * (int64_t)blockDim.x + threadIdx.x) / LANES, first_ = r - (threadIdx.x % SYS_WARP) / LANES; first_ < (p).rows; r += (int64_t)gridDim.x * blockDim.x / LANES, first_ += (int64_t)gridDim.x * blockDim.x / LANES)

template <int LANES>
static __global__ void AggLengthsKernel(AggProduct p, int *lengths)
{
  const int lane = (int)threadIdx.x % LANES;

  AGG_FOR_EACH_ROW(r, p)
  {
    const bool have  = r < p.rows;
    const int  begin = have && p.i ? p.i[r] : 0, end = have && p.i ? p.i[r + 1] : 0;
    int        count = 0;

    for (int to = AggNext<LANES>(p, have ? r : 0, begin, end, have ? -1 : INT_MAX - 1, lane); __any_sync(SYS_ALL_LANES, to < INT_MAX); to = AggNext<LANES>(p, have ? r : 0, begin, end, to < INT_MAX ? to : INT_MAX - 1, lane)) count += to < INT_MAX;
    if (have && !lane) lengths[r] = count * p.nvec;
  }
}

/* Vectors from c on, WIDE of them at most */
template <int LANES, int WIDE>
static __global__ void AggProlongKernel(AggProduct p, int c, const int *i, int *j, SysScalar *a)
{
  const int lane = (int)threadIdx.x % LANES, wide = min(WIDE, p.nvec - c);

  AGG_FOR_EACH_ROW(r, p)
  {
    const bool    have  = r < p.rows;
    const int64_t row   = have ? r : 0;
    const int     begin = have && p.i ? p.i[r] : 0, end = have && p.i ? p.i[r + 1] : 0, own = p.number[row / p.bs];
    int           to       = AggNext<LANES>(p, row, begin, end, have ? -1 : INT_MAX - 1, lane);
    int64_t       place    = have ? i[r] : 0;
    double        diagonal = 0;

    for (int k = begin + lane; k < end; k += LANES) {
      if (p.j[k] == r) diagonal = (double)p.a[k];
    }
    diagonal = AggTotal<LANES>(diagonal);
    diagonal = diagonal != 0 ? 1 / diagonal : 0;
    while (__any_sync(SYS_ALL_LANES, to < INT_MAX)) {
      double sum[WIDE];
      int    next = own > to ? own : INT_MAX;

#pragma unroll
      for (int d = 0; d < WIDE; d++) sum[d] = 0;
      for (int k = begin + lane; k < end; k += LANES) {
        const int at = p.number[p.j[k] / p.bs];

        if (at == to) {
          const SysReal *b = p.block + (int64_t)p.j[k] * p.nvec + c;

#pragma unroll
          for (int d = 0; d < WIDE; d++) sum[d] += d < wide ? (double)p.a[k] * b[d] : 0;
        } else if (at > to && at < next) next = at;
      }
#pragma unroll
      for (int d = 0; d < WIDE; d++) {
        sum[d] = AggTotal<LANES>(sum[d]);
        if (to == INT_MAX || lane || d >= wide) continue;
        j[place + c + d] = to * p.nvec + c + d;
        a[place + c + d] = (SysScalar)((to == own ? (double)p.block[row * p.nvec + c + d] : 0) + (p.i ? p.alpha * (diagonal * sum[d]) : 0));
      }
      place += p.nvec;
      next = AggSmallest<LANES>(next);
      to   = to < INT_MAX ? next : INT_MAX;
    }
  }
}

template <int LANES>
static void AggProlong(const AggProduct &p, const int *i, int *j, SysScalar *a, cudaStream_t stream)
{
  const unsigned blocks = SysBlocksLoop((int64_t)p.rows * LANES);

  if (p.nvec == 1) AggProlongKernel<LANES, 1><<<blocks, SYS_THREADS, 0, stream>>>(p, 0, i, j, a);
  else {
    for (int c = 0; c < p.nvec; c += AGG_WIDE) AggProlongKernel<LANES, AGG_WIDE><<<blocks, SYS_THREADS, 0, stream>>>(p, c, i, j, a);
  }
}

/* The sum of the lengths in 64 bits */
static SysStatus AggCount(int n, const int *lengths, int64_t *sum, cudaStream_t stream)
{
  SysScratch result, temporary;
  size_t     bytes = 0;

  SYS_CALL(SysDeviceAllocate(&result.memory, sizeof(*sum)));
  SYS_CUDA(cub::DeviceReduce::Sum(NULL, bytes, lengths, (long long *)result.memory, n, stream));
  SYS_CALL(SysDeviceAllocate(&temporary.memory, bytes));
  SYS_CUDA(cub::DeviceReduce::Sum(temporary.memory, bytes, lengths, (long long *)result.memory, n, stream));
  SYS_CUDA(cudaMemcpyAsync(sum, result.memory, sizeof(*sum), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  return SYS_SUCCESS;
}

SysStatus AggDeviceProlong(AggDevice *g, int bs, int nvec, const SysCSR *A, double alpha, SysStream stream, SysCSR *P)
{
  const int  rows = g->n * bs;
  const bool wide = A && A->nz > AGG_SHORT * (int64_t)rows;
  AggProduct p    = {A ? A->i : NULL, A ? A->j : NULL, A ? A->a : NULL, g->number, g->block, alpha, rows, bs, nvec};
  int       *i, *length;
  int64_t    nz;

  for (int k = 0; k < 3; k++) {
    (void)cudaFree(g->arrays[k]);
    g->arrays[k] = NULL;
  }
  SYS_CALL(SysDeviceAllocate(&g->arrays[0], ((size_t)rows + 1) * sizeof(int)));
  i      = (int *)g->arrays[0];
  length = i + 1;
  if (wide) AggLengthsKernel<SYS_WARP><<<SysBlocksLoop((int64_t)rows * SYS_WARP), SYS_THREADS, 0, stream>>>(p, length);
  else AggLengthsKernel<1><<<SysBlocksLoop(rows), SYS_THREADS, 0, stream>>>(p, length);
  SYS_CUDA(cudaGetLastError());
  SYS_CALL(AggCount(rows, length, &nz, stream));
  if (nz > INT_MAX) return SYS_TOO_LARGE;
  SYS_CALL(AggDeviceSum(rows, i, stream));
  SYS_CALL(SysDeviceAllocate(&g->arrays[1], (size_t)nz * sizeof(int)));
  SYS_CALL(SysDeviceAllocate(&g->arrays[2], (size_t)nz * sizeof(SysScalar)));
  if (wide) AggProlong<SYS_WARP>(p, i, (int *)g->arrays[1], (SysScalar *)g->arrays[2], stream);
  else AggProlong<1>(p, i, (int *)g->arrays[1], (SysScalar *)g->arrays[2], stream);
  SYS_CUDA(cudaGetLastError());
  *P = {rows, (int64_t)g->nagg * nvec, nz, i, (int *)g->arrays[1], (SysScalar *)g->arrays[2]};
  return SYS_SUCCESS;
}

/* ------------------------------------------------- noise, diagonal ------------------------------------------------- */

static __global__ void AggNoiseKernel(int64_t n, int64_t first, SysScalar *x)
{
  SYS_FOR_EACH(k, n)
  {
    uint32_t bits = (uint32_t)(first + k);

    for (int turn = 0; turn < 2; turn++) bits = (bits >> 16 ^ bits) * 0x45D9F3Bu;
    x[k] = (SysScalar)(((double)(bits >> 16 ^ bits) - 2147483648.) * 5e-10);
  }
}

SysStatus AggDeviceNoise(int64_t n, int64_t first, SysScalar x[], SysStream stream)
{
  AggNoiseKernel<<<SysBlocksLoop(n), SYS_THREADS, 0, stream>>>(n, first, x);
  SYS_CUDA(cudaGetLastError());
  return SYS_SUCCESS;
}

static __global__ void AggZerosKernel(int64_t m, const int *i, const int *j, const SysScalar *a, int *found)
{
  SYS_FOR_EACH(r, m)
  {
    bool zero = true;

    for (int k = i[r]; k < i[r + 1]; k++) {
      if (j[k] == r) zero = a[k] == 0;
    }
    if (zero) *found = 1;
  }
}

SysStatus AggDeviceZeros(const SysCSR *A, SysStream stream, int *found)
{
  SysScratch flag;

  SYS_CALL(SysDeviceAllocate(&flag.memory, sizeof(*found)));
  SYS_CUDA(cudaMemsetAsync(flag.memory, 0, sizeof(*found), stream));
  AggZerosKernel<<<SysBlocksLoop(A->m), SYS_THREADS, 0, stream>>>(A->m, A->i, A->j, A->a, (int *)flag.memory);
  SYS_CUDA(cudaGetLastError());
  SYS_CUDA(cudaMemcpyAsync(found, flag.memory, sizeof(*found), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  return SYS_SUCCESS;
}
