/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The prolongator on a CUDA device. The tentative one is stored as one block per vertex, whose columns are the numbers of the aggregates.
   Smoothing it is a product with such a matrix: a row of the result has the aggregates of the columns of a row of A, which are found in ascending order, each
   by one pass over the row that also adds up the entries of the aggregate before. No table is needed, and sums have one order.
*/
#include <limits.h>
#include <math.h>

#include "sys/syscub.cuh"
#include "ksp/pc/impls/gamg/cuda/aggcuda.cuh"

#define AGG_WIDE  6  /* vectors whose entries are added up in one pass */
#define AGG_SHORT 16 /* rows of more entries on average have a warp each */

/* ------------------------------------------------- tentative prolongator ------------------------------------------------- */

/* The vertices in the order of their global numbers: guests before this process, its own vertices, the guests after it. Guests are numbered after the own
   vertices. Vertices in no aggregate of this process come last. */
static __global__ void AggSortKeysKernel(int n, int nguest, int before, int first, int nagg, const int *number, const int *guest, int *key, int *vertex)
{
  SYS_FOR_EACH(l, n + nguest)
  {
    const int v = l < before ? n + (int)l : l < before + n ? (int)l - before : (int)l;
    const int k = v < n ? (number[v] < 0 ? -1 : number[v] - first) : guest[v - n];

    key[l]    = k < 0 || k >= nagg ? nagg : k;
    vertex[l] = v;
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
static SysStatus AggMembers(const AggDevice *g, const AggGuests *guests, int *start, int *member, cudaStream_t stream)
{
  const int  nguest = guests ? (int)guests->n : 0, all = g->n + nguest;
  SysArena   arena = {NULL, 0};
  SysScratch scratch, temporary;
  size_t     bytes = 0;
  int       *key, *sorted, *vertex, *guest;

  for (int turn = 0; turn < 2; turn++) {
    SysArenaTake(&arena, &key, (size_t)all);
    SysArenaTake(&arena, &sorted, (size_t)all);
    SysArenaTake(&arena, &vertex, (size_t)all);
    SysArenaTake(&arena, &guest, (size_t)nguest);
    if (!turn) SYS_CALL(SysArenaAllocateScratch(&arena, &scratch, stream));
  }
  if (nguest) SYS_CUDA(cudaMemcpyAsync(guest, guests->aggregate, (size_t)nguest * sizeof(int), cudaMemcpyHostToDevice, stream));
  AggSortKeysKernel<<<SysBlocksLoop(all), SYS_THREADS, 0, stream>>>(g->n, nguest, guests ? (int)guests->before : 0, g->firstagg, g->nagg, g->number, guest, key, vertex);
  SYS_CUDA(SysSortPairs(NULL, bytes, key, sorted, vertex, member, all, SysBits(g->nagg), stream));
  SYS_CALL(SysScratchAllocate(&temporary, bytes, stream));
  SYS_CUDA(SysSortPairs(temporary.memory, bytes, key, sorted, vertex, member, all, SysBits(g->nagg), stream));
  AggStartsKernel<<<SysBlocksLoop(all), SYS_THREADS, 0, stream>>>(all, g->nagg, sorted, start);
  SYS_CUDA(cudaGetLastError());
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

/* FactorLength() of aggprolongator.c for the rows after c, by a warp. A lane has rows lane, lane + 32, ... */
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

/* A warp has an aggregate. The scratch memory of one has a column of m rows and a factor for each vector. The vectors of guests are in block[]. */
static __global__ void AggFactorKernel(int nagg, int rows, int bs, int nvec, const int *start, const int *member, const SysReal *data, double *scratch, SysReal *block, SysReal *r)
{
  const int     lane  = (int)threadIdx.x % SYS_WARP;
  const int64_t warps = (int64_t)gridDim.x * (blockDim.x / SYS_WARP);

  for (int64_t k = (blockIdx.x * (int64_t)blockDim.x + threadIdx.x) / SYS_WARP; k < nagg; k += warps) {
    const int has = (start[k + 1] - start[k]) * bs, m = has > nvec ? has : nvec;
    double   *a = scratch + ((int64_t)start[k] * bs + k * (nvec + 1)) * nvec;

    for (int l = lane; l < m; l += SYS_WARP) {
      const int64_t row = l < has ? (int64_t)member[start[k] + l / bs] * bs + l % bs : 0;

      for (int c = 0; c < nvec; c++) a[(int64_t)c * m + l] = l >= has ? 0 : row >= rows ? (double)block[row * nvec + c] : data ? (double)data[(int64_t)c * rows + row] : 1;
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

/* The factorizations of the aggregates of this process */
static SysStatus AggFactorAll(AggDevice *g, int bs, int nvec, const SysReal *device, const AggGuests *guests, SysReal *factor, cudaStream_t stream)
{
  const size_t  all = (size_t)g->n + (size_t)(guests ? guests->n : 0), room = (all * bs + (size_t)g->nagg * (nvec + 1)) * nvec;
  const int64_t warps = SYS_THREADS / SYS_WARP;
  SysArena      arena = {NULL, 0};
  SysScratch    scratch, columns;
  int          *start, *member;

  for (int turn = 0; turn < 2; turn++) {
    SysArenaTake(&arena, &start, (size_t)g->nagg + 1);
    SysArenaTake(&arena, &member, all);
    if (!turn) SYS_CALL(SysArenaAllocateScratch(&arena, &scratch, stream));
  }
  SYS_CALL(AggMembers(g, guests, start, member, stream));
  SYS_CALL(SysScratchAllocate(&columns, room * sizeof(double), stream));
  AggFactorKernel<<<SysBlocks(g->nagg, warps) < 65536 ? SysBlocks(g->nagg, warps) : 65536, SYS_THREADS, 0, stream>>>(g->nagg, g->n * bs, bs, nvec, start, member, device, (double *)columns.memory, g->block, factor);
  SYS_CUDA(cudaGetLastError());
  return SYS_SUCCESS;
}

SysStatus AggDeviceFactor(AggDevice *g, int bs, int nvec, const SysReal data[], AggGuests *guests, SysStream stream, SysReal r[])
{
  const size_t rows = (size_t)g->n * bs, nr = (size_t)g->nagg * nvec * nvec, each = (size_t)bs * nvec, nguest = guests ? (size_t)guests->n : 0;
  const size_t more  = nguest > (size_t)g->nghost ? nguest : (size_t)g->nghost;
  SysArena     arena = {NULL, 0};
  SysScratch   scratch;
  SysReal     *device, *factor;

  for (int turn = 0; turn < 2; turn++) {
    SysArenaTake(&arena, &device, data ? rows * nvec : 0);
    SysArenaTake(&arena, &factor, nr);
    if (!turn) SYS_CALL(SysArenaAllocateScratch(&arena, &scratch, stream));
  }
  SysPoolRelease(g->block, stream);
  g->block = NULL;
  SYS_CALL(SysPoolAllocate(((size_t)g->n + more) * each * sizeof(*g->block), &g->block, stream));
  if (guests) SYS_CUDA(cudaMemsetAsync(g->block, 0, ((size_t)g->n + more) * each * sizeof(*g->block), stream)); /* other processes get those in no aggregate too */
  if (nguest) SYS_CUDA(cudaMemcpyAsync(g->block + rows * nvec, guests->block, nguest * each * sizeof(*g->block), cudaMemcpyHostToDevice, stream));
  if (data) SYS_CUDA(cudaMemcpyAsync(device, data, rows * nvec * sizeof(*device), cudaMemcpyHostToDevice, stream));
  if (g->nagg) SYS_CALL(AggFactorAll(g, bs, nvec, data ? device : NULL, guests, factor, stream));
  SYS_CUDA(cudaMemcpyAsync(r, factor, nr * sizeof(*r), cudaMemcpyDeviceToHost, stream));
  if (nguest) SYS_CUDA(cudaMemcpyAsync(guests->block, g->block + rows * nvec, nguest * each * sizeof(*g->block), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  return SYS_SUCCESS;
}

/* ------------------------------------------------- prolongator ------------------------------------------------- */

/* A product of A with a part of the tentative prolongator. The columns of this process come first, then the ghosts' columns. */
struct AggProduct {
  const int       *i, *j; /* i is NULL if there is no A */
  const SysScalar *a;
  const int       *oi, *oj, *ghost; /* the second part of A; oi is NULL if there is none */
  const SysScalar *oa;
  const int       *number; /* the columns of vertices and ghosts, or -1 */
  const SysReal   *block;
  double           alpha;
  int              rows, bs, nvec;
};

/* The entries of a row of A */
struct AggRow {
  int begin, length, far, all; /* where the row begins in the first part, its length there, where it begins in the second part, its length in both */
};

static __device__ __forceinline__ AggRow AggGetRow(const AggProduct &p, bool have, int64_t r)
{
  AggRow row = {0, 0, 0, 0};

  if (!have || !p.i) return row;
  row.begin = p.i[r];
  row.all = row.length = p.i[r + 1] - row.begin;
  if (p.oi) {
    row.far = p.oi[r] - row.length;
    row.all += p.oi[r + 1] - p.oi[r];
  }
  return row;
}

static __device__ __forceinline__ int AggGetColumn(const AggProduct &p, const AggRow &row, int k)
{
  return k < row.length ? p.j[row.begin + k] : p.rows + p.ghost[p.oj[row.far + k]];
}

static __device__ __forceinline__ double AggGetValue(const AggProduct &p, const AggRow &row, int k)
{
  return (double)(k < row.length ? p.a[row.begin + k] : p.oa[row.far + k]);
}

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
static __device__ int AggNext(const AggProduct &p, int64_t r, const AggRow &row, int after, int lane)
{
  const int own  = p.number[r / p.bs];
  int       next = own > after ? own : INT_MAX;

  for (int k = lane; k < row.all; k += LANES) {
    const int to = p.number[AggGetColumn(p, row, k) / p.bs];

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
    const bool   have  = r < p.rows;
    const AggRow row   = AggGetRow(p, have, r);
    int          count = 0;

    for (int to = AggNext<LANES>(p, have ? r : 0, row, have ? -1 : INT_MAX - 1, lane); __any_sync(SYS_ALL_LANES, to < INT_MAX); to = AggNext<LANES>(p, have ? r : 0, row, to < INT_MAX ? to : INT_MAX - 1, lane)) count += to < INT_MAX;
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
    const bool    have     = r < p.rows;
    const int64_t at       = have ? r : 0;
    const AggRow  row      = AggGetRow(p, have, r);
    const int     own      = p.number[at / p.bs];
    int           to       = AggNext<LANES>(p, at, row, have ? -1 : INT_MAX - 1, lane);
    int64_t       place    = have ? i[r] : 0;
    double        diagonal = 0;

    for (int k = lane; k < row.length; k += LANES) {
      if (p.j[row.begin + k] == r) diagonal = (double)p.a[row.begin + k];
    }
    diagonal = AggTotal<LANES>(diagonal);
    diagonal = diagonal != 0 ? 1 / diagonal : 0;
    while (__any_sync(SYS_ALL_LANES, to < INT_MAX)) {
      double sum[WIDE];
      int    next = own > to ? own : INT_MAX;

#pragma unroll
      for (int d = 0; d < WIDE; d++) sum[d] = 0;
      for (int k = lane; k < row.all; k += LANES) {
        const int64_t column = AggGetColumn(p, row, k);
        const int     number = p.number[column / p.bs];

        if (number == to) {
          const SysReal *b = p.block + column * p.nvec + c;
          const double   x = AggGetValue(p, row, k);

#pragma unroll
          for (int d = 0; d < WIDE; d++) sum[d] += d < wide ? x * b[d] : 0;
        } else if (number > to && number < next) next = number;
      }
#pragma unroll
      for (int d = 0; d < WIDE; d++) {
        sum[d] = AggTotal<LANES>(sum[d]);
        if (to == INT_MAX || lane || d >= wide) continue;
        j[place + c + d] = to * p.nvec + c + d;
        a[place + c + d] = (SysScalar)((to == own ? (double)p.block[at * p.nvec + c + d] : 0) + (p.i ? p.alpha * (diagonal * sum[d]) : 0));
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

  SYS_CALL(SysScratchAllocate(&result, sizeof(*sum), stream));
  SYS_CUDA(SysReduceSum(NULL, bytes, lengths, (long long *)result.memory, n, stream));
  SYS_CALL(SysScratchAllocate(&temporary, bytes, stream));
  SYS_CUDA(SysReduceSum(temporary.memory, bytes, lengths, (long long *)result.memory, n, stream));
  SYS_CUDA(cudaMemcpyAsync(sum, result.memory, sizeof(*sum), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  return SYS_SUCCESS;
}

SysStatus AggDeviceProlong(AggDevice *g, int bs, int nvec, const AggMatrix *A, double alpha, int part, SysStream stream, SysCSR *P)
{
  const int  rows   = g->n * bs;
  const bool wide   = A && A->d.nz > AGG_SHORT * (int64_t)rows;
  AggProduct p      = {};
  char     **arrays = g->arrays[part];
  int       *i, *length;
  int64_t    nz = 0;

  p.rows   = rows;
  p.bs     = bs;
  p.nvec   = nvec;
  p.alpha  = alpha;
  p.block  = g->block;
  p.ghost  = g->ghost;
  p.number = g->column[part] ? g->column[part] : g->number;
  if (A) {
    p.i  = A->d.i;
    p.j  = A->d.j;
    p.a  = A->d.a;
    p.oi = A->o.i;
    p.oj = A->o.j;
    p.oa = A->o.a;
  }
  for (int k = 0; k < 3; k++) {
    SysPoolRelease(arrays[k], stream);
    arrays[k] = NULL;
  }
  SYS_CALL(SysPoolAllocate(((size_t)rows + 1) * sizeof(int), &arrays[0], stream));
  i      = (int *)arrays[0];
  length = i + 1;
  if (wide) AggLengthsKernel<SYS_WARP><<<SysBlocksLoop((int64_t)rows * SYS_WARP), SYS_THREADS, 0, stream>>>(p, length);
  else AggLengthsKernel<1><<<SysBlocksLoop(rows), SYS_THREADS, 0, stream>>>(p, length);
  SYS_CUDA(cudaGetLastError());
  if (rows) SYS_CALL(AggCount(rows, length, &nz, stream));
  if (nz > INT_MAX) return SYS_TOO_LARGE;
  SYS_CALL(AggDeviceSum(rows, i, stream));
  SYS_CALL(SysPoolAllocate((size_t)nz * sizeof(int), &arrays[1], stream));
  SYS_CALL(SysPoolAllocate((size_t)nz * sizeof(SysScalar), &arrays[2], stream));
  if (wide) AggProlong<SYS_WARP>(p, i, (int *)arrays[1], (SysScalar *)arrays[2], stream);
  else AggProlong<1>(p, i, (int *)arrays[1], (SysScalar *)arrays[2], stream);
  SYS_CUDA(cudaGetLastError());
  *P = {rows, (int64_t)(part ? g->nfar : g->nagg) * nvec, nz, i, (int *)arrays[1], (SysScalar *)arrays[2]};
  return SYS_SUCCESS;
}

void AggDeviceDetach(AggDevice *g, int part)
{
  memset(g->arrays[part], 0, sizeof(g->arrays[part]));
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

  SYS_CALL(SysScratchAllocate(&flag, sizeof(*found), stream));
  SYS_CUDA(cudaMemsetAsync(flag.memory, 0, sizeof(*found), stream));
  AggZerosKernel<<<SysBlocksLoop(A->m), SYS_THREADS, 0, stream>>>(A->m, A->i, A->j, A->a, (int *)flag.memory);
  SYS_CUDA(cudaGetLastError());
  SYS_CUDA(cudaMemcpyAsync(found, flag.memory, sizeof(*found), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  return SYS_SUCCESS;
}
