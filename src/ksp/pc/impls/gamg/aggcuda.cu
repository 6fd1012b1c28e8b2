/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The strength graph and the aggregates on a CUDA device; graph.c and aggregate.c explain the steps, which are the same. A thread has a vertex.
*/
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <limits.h>

#include "sys/syscuda.cuh"
#include "ksp/pc/impls/gamg/aggcuda.h"
#include "ksp/pc/impls/gamg/aggkeys.h"

#define AGG_LONG 24 /* from this length on a row is searched by halves */

struct _AggDevice {
  int       n;
  int       edges;
  int      *i, *j;
  uint32_t *w;
  char     *memory[3]; /* of these arrays */
};

/* The parts of AggMatrix that kernels need, by value */
struct AggView {
  const int       *i, *j;
  const SysScalar *a;
  int              bs;
  unsigned         counts; /* a bit for each component of a block that counts */
};

void AggDeviceDestroy(AggDevice **g)
{
  if (!*g) return;
  for (int k = 0; k < 3; k++) (void)cudaFree((*g)->memory[k]);
  delete *g;
  *g = NULL;
}

/* Ends of what lengths begin: ends[0] is 0, and ends[k + 1] the sum of lengths[0] to lengths[k]. Lengths and ends may be the same array, shifted by one. */
static SysStatus AggSum(int n, int *ends, cudaStream_t stream)
{
  SysScratch temporary;
  size_t     bytes = 0;

  SYS_CUDA(cudaMemsetAsync(ends, 0, sizeof(*ends), stream));
  if (!n) return SYS_SUCCESS;
  SYS_CUDA(cub::DeviceScan::InclusiveSum(NULL, bytes, ends + 1, ends + 1, n, stream));
  SYS_CALL(SysDeviceAllocate(&temporary.memory, bytes));
  SYS_CUDA(cub::DeviceScan::InclusiveSum(temporary.memory, bytes, ends + 1, ends + 1, n, stream));
  SYS_CUDA(cudaStreamSynchronize(stream)); /* the memory ends here */
  return SYS_SUCCESS;
}

/* ------------------------------------------------- graph ------------------------------------------------- */

/* The edges of vertex v: their number, and if j is not NULL their ends and strengths */
static __device__ int AggMergeRow(const AggView &A, int v, int *j, double *s, double *diag)
{
  int at[AGG_DEVICE_BLOCK], count = 0;

  for (int r = 0; r < A.bs; r++) at[r] = A.i[v * A.bs + r];
  for (;;) {
    int    next     = INT_MAX;
    double strength = 0;

    for (int r = 0; r < A.bs; r++) {
      if (at[r] < A.i[v * A.bs + r + 1]) next = min(next, A.j[at[r]] / A.bs);
    }
    if (next == INT_MAX) return count;
    for (int r = 0; r < A.bs; r++) {
      for (; at[r] < A.i[v * A.bs + r + 1] && A.j[at[r]] / A.bs == next; at[r]++) {
        if (j && (A.counts >> r & 1) && (A.counts >> A.j[at[r]] % A.bs & 1)) strength += fabs((double)A.a[at[r]]);
      }
    }
    if (next == v) {
      if (j) *diag = strength;
      continue;
    }
    if (j) {
      j[count] = next;
      s[count] = strength;
    }
    count++;
  }
}

static __global__ void AggCountKernel(AggView A, int n, int *lengths)
{
  SYS_FOR_EACH(v, n) lengths[v] = AggMergeRow(A, (int)v, NULL, NULL, NULL);
}

static __global__ void AggFillKernel(AggView A, int n, const int *i, int *j, double *s, double *diag)
{
  SYS_FOR_EACH(v, n)
  {
    diag[v] = 0;
    (void)AggMergeRow(A, (int)v, j + i[v], s + i[v], diag + v);
  }
}

static __device__ int AggFind(const int *j, int begin, int end, int c)
{
  while (end - begin > AGG_LONG) {
    const int middle = begin + (end - begin) / 2;

    if (j[middle] <= c) begin = middle;
    else end = middle;
  }
  while (begin < end && j[begin] < c) begin++;
  return begin < end && j[begin] == c ? begin : -1;
}

/* *left becomes 0 if each edge has its transposed edge */
static __global__ void AggAddKernel(int n, const int *i, const int *j, const double *s, double *sum, double *diag, unsigned long long *left)
{
  SYS_FOR_EACH(v, n)
  {
    long long alone = 0;

    diag[v] *= 2;
    for (int k = i[v]; k < i[v + 1]; k++) {
      if (j[k] < v) {
        alone++;
        continue;
      }
      const int place = AggFind(j, i[j[k]], i[j[k] + 1], (int)v);

      if (place < 0) alone += (long long)1 << 32;
      else {
        sum[k] = sum[place] = s[k] + s[place];
        alone--;
      }
    }
    if (alone) atomicAdd(left, (unsigned long long)alone);
  }
}

static __global__ void AggScaleKernel(int n, double *diag)
{
  SYS_FOR_EACH(v, n) diag[v] = diag[v] != 0 ? sqrt(1 / diag[v]) : 0;
}

/* Edges that stay move to the begin of their row */
static __global__ void AggWeightKernel(int n, const int *i, int *j, const double *s, const double *scale, uint32_t *w, double threshold, int *lengths)
{
  SYS_FOR_EACH(v, n)
  {
    int kept = i[v];

    for (int k = i[v]; k < i[v + 1]; k++) {
      const double weight = s[k] * (scale[v] * scale[j[k]]);

      if (threshold >= 0 && !(weight > threshold)) continue;
      w[kept]   = AggInteger(weight);
      j[kept++] = j[k];
    }
    lengths[v] = kept - i[v];
  }
}

static __global__ void AggCloseKernel(int n, const int *i, const int *j, const uint32_t *w, const int *to, int *jto, uint32_t *wto)
{
  SYS_FOR_EACH(v, n)
  {
    for (int k = 0; k < to[v + 1] - to[v]; k++) {
      jto[to[v] + k] = j[i[v] + k];
      wto[to[v] + k] = w[i[v] + k];
    }
  }
}

/* The last entry of ends */
static SysStatus AggLast(int n, const int *ends, int *last, cudaStream_t stream)
{
  SYS_CUDA(cudaMemcpyAsync(last, ends + n, sizeof(*last), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  return SYS_SUCCESS;
}

static SysStatus AggMakeGraph(const AggView &A, int symmetrize, double threshold, cudaStream_t stream, AggDevice *g, int *served)
{
  const unsigned      blocks = SysBlocksLoop(g->n);
  SysScratch          strengths, sums, diagonal;
  double             *s, *diag;
  unsigned long long *left, found = 0;

  SYS_CALL(SysDeviceAllocate(&g->memory[0], ((size_t)g->n + 1) * sizeof(int)));
  g->i = (int *)g->memory[0];
  AggCountKernel<<<blocks, SYS_THREADS, 0, stream>>>(A, g->n, g->i + 1);
  SYS_CALL(AggSum(g->n, g->i, stream));
  SYS_CALL(AggLast(g->n, g->i, &g->edges, stream));
  SYS_CALL(SysDeviceAllocate(&g->memory[1], (size_t)g->edges * sizeof(int)));
  SYS_CALL(SysDeviceAllocate(&g->memory[2], (size_t)g->edges * sizeof(uint32_t)));
  SYS_CALL(SysDeviceAllocate(&strengths.memory, (size_t)g->edges * sizeof(double)));
  SYS_CALL(SysDeviceAllocate(&diagonal.memory, (size_t)g->n * sizeof(double) + sizeof(*left)));
  g->j = (int *)g->memory[1];
  g->w = (uint32_t *)g->memory[2];
  s    = (double *)strengths.memory;
  left = (unsigned long long *)diagonal.memory;
  diag = (double *)(left + 1);
  AggFillKernel<<<blocks, SYS_THREADS, 0, stream>>>(A, g->n, g->i, g->j, s, diag);
  if (symmetrize) {
    SYS_CALL(SysDeviceAllocate(&sums.memory, (size_t)g->edges * sizeof(double)));
    SYS_CUDA(cudaMemsetAsync(left, 0, sizeof(*left), stream));
    AggAddKernel<<<blocks, SYS_THREADS, 0, stream>>>(g->n, g->i, g->j, s, (double *)sums.memory, diag, left);
    s = (double *)sums.memory;
    SYS_CUDA(cudaMemcpyAsync(&found, left, sizeof(found), cudaMemcpyDeviceToHost, stream));
    SYS_CUDA(cudaStreamSynchronize(stream));
    if (found) {
      *served = 0;
      return SYS_SUCCESS;
    }
  }
  {
    SysScratch lengths, j, w;
    int       *to, edges;

    SYS_CALL(SysDeviceAllocate(&lengths.memory, ((size_t)g->n + 1) * sizeof(int)));
    to = (int *)lengths.memory;
    AggScaleKernel<<<blocks, SYS_THREADS, 0, stream>>>(g->n, diag);
    AggWeightKernel<<<blocks, SYS_THREADS, 0, stream>>>(g->n, g->i, g->j, s, diag, g->w, threshold, to + 1);
    if (threshold >= 0) {
      SYS_CALL(AggSum(g->n, to, stream));
      SYS_CALL(AggLast(g->n, to, &edges, stream));
      SYS_CALL(SysDeviceAllocate(&j.memory, (size_t)edges * sizeof(int)));
      SYS_CALL(SysDeviceAllocate(&w.memory, (size_t)edges * sizeof(uint32_t)));
      AggCloseKernel<<<blocks, SYS_THREADS, 0, stream>>>(g->n, g->i, g->j, g->w, to, (int *)j.memory, (uint32_t *)w.memory);
      SYS_CUDA(cudaStreamSynchronize(stream));
      {
        char *old[3] = {g->memory[0], g->memory[1], g->memory[2]};

        g->memory[0]   = lengths.memory;
        g->memory[1]   = j.memory;
        g->memory[2]   = w.memory;
        lengths.memory = old[0];
        j.memory       = old[1];
        w.memory       = old[2];
      }
      g->i     = (int *)g->memory[0];
      g->j     = (int *)g->memory[1];
      g->w     = (uint32_t *)g->memory[2];
      g->edges = edges;
    }
    SYS_CUDA(cudaGetLastError());
    SYS_CUDA(cudaStreamSynchronize(stream)); /* the memory ends here */
  }
  return SYS_SUCCESS;
}

SysStatus AggDeviceCreate(const AggMatrix *A, int symmetrize, double threshold, SysStream stream, AggDevice **created, int *served)
{
  AggView   view   = {A->d.i, A->d.j, A->d.a, A->bs, ~0u};
  SysStatus status = SYS_SUCCESS;

  *created = NULL;
  *served  = A->bs <= AGG_DEVICE_BLOCK;
  if (!*served) return SYS_SUCCESS;
  if (A->nindex) view.counts = 0;
  for (int k = 0; k < A->nindex; k++) view.counts |= 1u << A->index[k];
  *created      = new AggDevice();
  (*created)->n = (int)(A->d.m / A->bs);
  status        = AggMakeGraph(view, symmetrize, threshold, stream, *created, served);
  if (status || !*served) AggDeviceDestroy(created);
  return status;
}

/* ------------------------------------------------- aggregates ------------------------------------------------- */

/* The arrays of Agg in aggregate.c */
struct AggWork {
  uint64_t *key, *best[3];
  uint8_t  *state, *near[3];
  int      *undecided[2], *around[2], *size, *join, *number, *count;
};

static void AggTake(SysArena *arena, int n, AggWork *a)
{
  SysArenaTake(arena, &a->key, (size_t)n);
  for (int k = 0; k < 3; k++) SysArenaTake(arena, &a->best[k], (size_t)n);
  SysArenaTake(arena, &a->state, (size_t)n);
  for (int k = 0; k < 3; k++) SysArenaTake(arena, &a->near[k], (size_t)n);
  for (int k = 0; k < 2; k++) SysArenaTake(arena, &a->undecided[k], (size_t)n);
  for (int k = 0; k < 2; k++) SysArenaTake(arena, &a->around[k], (size_t)n);
  SysArenaTake(arena, &a->size, (size_t)n);
  SysArenaTake(arena, &a->join, (size_t)n);
  SysArenaTake(arena, &a->number, (size_t)n + 1);
  SysArenaTake(arena, &a->count, (size_t)2);
}

struct AggIsUndecided {
  const uint8_t                  *state;
  __device__ __forceinline__ bool operator()(int v) const { return state[v] == AGG_UNDECIDED; }
};

struct AggIsAround {
  const uint64_t                 *best;
  __device__ __forceinline__ bool operator()(int v) const { return best[v] != 0; }
};

static __global__ void AggBeginKernel(int n, const int *i, uint64_t first, int lowdegree, AggWork a)
{
  SYS_FOR_EACH(v, n)
  {
    const int degree = i[v + 1] - i[v];

    a.key[v]     = AggKey(first + (uint64_t)v, degree, lowdegree);
    a.state[v]   = degree ? AGG_UNDECIDED : AGG_ALONE;
    a.best[0][v] = degree ? a.key[v] : 0;
    a.best[1][v] = a.best[2][v] = 0;
    a.near[0][v] = a.near[1][v] = a.near[2][v] = 0;
    a.undecided[1][v]                          = (int)v;
  }
}

static __device__ uint64_t AggLargest(const int *i, const int *j, int v, const uint64_t *best)
{
  uint64_t largest = best[v];

  for (int k = i[v]; k < i[v + 1]; k++) {
    const uint64_t other = best[j[k]];

    if (other > largest) largest = other;
  }
  return largest;
}

static __device__ uint8_t AggAny(const int *i, const int *j, int v, const uint8_t *near)
{
  uint8_t any = near[v];

  for (int k = i[v]; k < i[v + 1] && !any; k++) any = near[j[k]];
  return any;
}

static __global__ void AggSpreadKeysKernel(const int *i, const int *j, int n, const int *list, const uint64_t *from, uint64_t *to)
{
  SYS_FOR_EACH(l, n) to[list[l]] = AggLargest(i, j, list[l], from);
}

static __global__ void AggSpreadNearKernel(const int *i, const int *j, int n, const int *list, const uint8_t *from, uint8_t *to)
{
  SYS_FOR_EACH(l, n) to[list[l]] = AggAny(i, j, list[l], from);
}

static __global__ void AggRootsKernel(const int *i, const int *j, int n, const int *list, const uint64_t *best, const uint64_t *key, uint8_t *roots)
{
  SYS_FOR_EACH(l, n) roots[list[l]] = AggLargest(i, j, list[l], best) == key[list[l]];
}

static __global__ void AggDecideKernel(const int *i, const int *j, int n, const int *list, const uint8_t *roots, const uint8_t *near, uint8_t *state, uint64_t *best)
{
  SYS_FOR_EACH(l, n)
  {
    const int v = list[l];

    if (roots[v]) state[v] = AGG_ROOT;
    else if (AggAny(i, j, v, near)) state[v] = AGG_OUT;
    if (state[v]) best[v] = 0;
  }
}

static __global__ void AggForgetKernel(int n, const int *list, uint8_t *roots)
{
  SYS_FOR_EACH(l, n) roots[list[l]] = 0;
}

/* Keeps entries of list[1] in list[0]; a second call of the caller swaps them */
template <typename Keep>
static SysStatus AggSelect(int *list[2], int *n, Keep keep, int *count, cudaStream_t stream)
{
  SysScratch temporary;
  size_t     bytes = 0;
  int       *swap  = list[0];

  SYS_CUDA(cub::DeviceSelect::If(NULL, bytes, list[1], list[0], count, *n, keep, stream));
  SYS_CALL(SysDeviceAllocate(&temporary.memory, bytes));
  SYS_CUDA(cub::DeviceSelect::If(temporary.memory, bytes, list[1], list[0], count, *n, keep, stream));
  SYS_CUDA(cudaMemcpyAsync(n, count, sizeof(*n), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  list[0] = list[1];
  list[1] = swap;
  return SYS_SUCCESS;
}

/* The lists that are valid are undecided[1] and around[1] */
static SysStatus AggRoots(const AggDevice *g, int hops, AggWork *a, cudaStream_t stream, int *rounds)
{
  int n = g->n, m;

  SYS_CALL(AggSelect(a->undecided, &n, AggIsUndecided{a->state}, a->count, stream));
  m = n;
  if (hops > 1) SYS_CUDA(cudaMemcpyAsync(a->around[1], a->undecided[1], (size_t)n * sizeof(int), cudaMemcpyDeviceToDevice, stream));
  for (*rounds = 0; n; (*rounds)++) {
    const uint64_t *best = a->best[0];
    const uint8_t  *near = a->near[0];

    for (int h = 1; h < hops; h++) {
      AggSpreadKeysKernel<<<SysBlocksLoop(m), SYS_THREADS, 0, stream>>>(g->i, g->j, m, a->around[1], best, a->best[1 + h % 2]);
      best = a->best[1 + h % 2];
    }
    AggRootsKernel<<<SysBlocksLoop(n), SYS_THREADS, 0, stream>>>(g->i, g->j, n, a->undecided[1], best, a->key, a->near[0]);
    for (int h = 1; h < hops; h++) {
      AggSpreadNearKernel<<<SysBlocksLoop(m), SYS_THREADS, 0, stream>>>(g->i, g->j, m, a->around[1], near, a->near[1 + h % 2]);
      near = a->near[1 + h % 2];
    }
    AggDecideKernel<<<SysBlocksLoop(n), SYS_THREADS, 0, stream>>>(g->i, g->j, n, a->undecided[1], a->near[0], near, a->state, a->best[0]);
    AggForgetKernel<<<SysBlocksLoop(n), SYS_THREADS, 0, stream>>>(n, a->undecided[1], a->near[0]);
    SYS_CUDA(cudaGetLastError());
    if (hops > 1) SYS_CALL(AggSelect(a->around, &m, AggIsAround{best}, a->count, stream));
    SYS_CALL(AggSelect(a->undecided, &n, AggIsUndecided{a->state}, a->count, stream));
  }
  return SYS_SUCCESS;
}

static __global__ void AggJoinRootsKernel(const int *i, const int *j, const uint32_t *w, int n, int strongest, const uint8_t *state, const uint64_t *key, int *join)
{
  SYS_FOR_EACH(v, n)
  {
    int to = -1;

    if (state[v] == AGG_OUT) {
      for (int k = i[v]; k < i[v + 1]; k++) {
        if (state[j[k]] != AGG_ROOT) continue;
        if (to < 0 || (strongest && w[k] != w[to] ? w[k] > w[to] : key[j[k]] > key[j[to]])) to = k;
      }
    }
    join[v] = state[v] == AGG_ROOT ? (int)v : to < 0 ? -1 : j[to];
  }
}

/* root[] is 0 for vertices that are in no aggregate yet */
static __global__ void AggSizeKernel(int n, const int *join, const uint64_t *key, uint64_t *root, int *size)
{
  SYS_FOR_EACH(v, n)
  {
    root[v] = join[v] < 0 ? 0 : key[join[v]];
    if (join[v] >= 0) atomicAdd(size + join[v], 1);
  }
}

static __global__ void AggTakeSizeKernel(int n, const int *join, int *size)
{
  SYS_FOR_EACH(v, n)
  {
    if (join[v] >= 0 && join[v] != v) size[v] = size[join[v]];
  }
}

/* later[] becomes the root of a vertex that joins, or 0 */
static __global__ void AggJoinRestKernel(const int *i, const int *j, const uint32_t *w, int n, const uint8_t *state, const uint64_t *root, const int *size, int *join, uint64_t *later)
{
  SYS_FOR_EACH(v, n)
  {
    uint64_t most = 0;
    int      to   = -1;

    later[v] = 0;
    if (state[v] != AGG_OUT || join[v] >= 0) continue;
    for (int k = i[v]; k < i[v + 1]; k++) {
      const uint64_t r   = root[j[k]];
      uint64_t       sum = 0;

      if (!r) continue;
      for (int l = i[v]; l < i[v + 1]; l++) sum += root[j[l]] == r ? w[l] : 0;
      if (to < 0 || sum > most || (sum == most && (size[j[k]] < size[to] || (size[j[k]] == size[to] && r > root[to])))) {
        most = sum;
        to   = j[k];
      }
    }
    if (to < 0) continue;
    join[v]  = to;
    later[v] = root[to];
  }
}

static __global__ void AggSettleKernel(int n, const int *join, const uint64_t *later, uint64_t *root, int *size)
{
  SYS_FOR_EACH(v, n)
  {
    if (!later[v]) continue;
    size[v] = size[join[v]]; /* of a vertex that joined before */
    root[v] = later[v];
  }
}

static __global__ void AggMarkKernel(int n, const int *join, int *number)
{
  SYS_FOR_EACH(v, n) number[v] = join[v] == v;
}

static __global__ void AggNumberRootsKernel(int n, const int *join, const int *before, int *number)
{
  SYS_FOR_EACH(v, n) number[v] = join[v] == v ? before[v] : -1;
}

/* A vertex gets a number as soon as the vertex that it joined has one: in this pass or in a later one */
static __global__ void AggNumberKernel(int n, const int *join, int *number)
{
  SYS_FOR_EACH(v, n)
  {
    if (number[v] < 0 && join[v] >= 0) number[v] = ((volatile int *)number)[join[v]];
  }
}

static SysStatus AggJoin(const AggDevice *g, const AggOptions *options, AggWork *a, cudaStream_t stream, int *nagg)
{
  const unsigned blocks = SysBlocksLoop(g->n);
  uint64_t      *root = a->best[1], *later = a->best[2];

  AggJoinRootsKernel<<<blocks, SYS_THREADS, 0, stream>>>(g->i, g->j, g->w, g->n, options->strongest, a->state, a->key, a->join);
  if (options->hops > 1) {
    SYS_CUDA(cudaMemsetAsync(a->size, 0, (size_t)g->n * sizeof(int), stream));
    AggSizeKernel<<<blocks, SYS_THREADS, 0, stream>>>(g->n, a->join, a->key, root, a->size);
    AggTakeSizeKernel<<<blocks, SYS_THREADS, 0, stream>>>(g->n, a->join, a->size);
  }
  for (int h = 1; h < options->hops; h++) {
    AggJoinRestKernel<<<blocks, SYS_THREADS, 0, stream>>>(g->i, g->j, g->w, g->n, a->state, root, a->size, a->join, later);
    AggSettleKernel<<<blocks, SYS_THREADS, 0, stream>>>(g->n, a->join, later, root, a->size);
  }
  AggMarkKernel<<<blocks, SYS_THREADS, 0, stream>>>(g->n, a->join, a->number + 1);
  SYS_CALL(AggSum(g->n, a->number, stream));
  SYS_CALL(AggLast(g->n, a->number, nagg, stream));
  SYS_CUDA(cudaMemcpyAsync(a->size, a->number, (size_t)g->n * sizeof(int), cudaMemcpyDeviceToDevice, stream));
  AggNumberRootsKernel<<<blocks, SYS_THREADS, 0, stream>>>(g->n, a->join, a->size, a->number);
  for (int h = 0; h < options->hops; h++) AggNumberKernel<<<blocks, SYS_THREADS, 0, stream>>>(g->n, a->join, a->number);
  SYS_CUDA(cudaGetLastError());
  return SYS_SUCCESS;
}

SysStatus AggDeviceAggregate(AggDevice *g, int64_t first, const AggOptions *options, SysStream stream, SysInt number[], SysInt join[], SysInt *nagg, int *rounds)
{
  SysArena   arena = {NULL, 0};
  SysScratch scratch;
  AggWork    a;
  int        found = 0;

  AggTake(&arena, g->n, &a);
  SYS_CALL(SysArenaAllocate(&arena));
  scratch.memory = arena.memory;
  AggTake(&arena, g->n, &a);
  AggBeginKernel<<<SysBlocksLoop(g->n), SYS_THREADS, 0, stream>>>(g->n, g->i, (uint64_t)first, options->lowdegree, a);
  SYS_CUDA(cudaGetLastError());
  SYS_CALL(AggRoots(g, options->hops, &a, stream, rounds));
  SYS_CALL(AggJoin(g, options, &a, stream, &found));
  *nagg = found;
  SYS_CUDA(cudaMemcpyAsync(number, a.number, (size_t)g->n * sizeof(*number), cudaMemcpyDeviceToHost, stream));
  if (join) SYS_CUDA(cudaMemcpyAsync(join, a.join, (size_t)g->n * sizeof(*join), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaStreamSynchronize(stream)); /* the memory ends here */
  return SYS_SUCCESS;
}
