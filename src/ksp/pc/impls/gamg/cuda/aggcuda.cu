/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Aggregates on a CUDA device; aggregate.c explains the steps, which are the same. A thread has a vertex.
*/
#include "sys/syscub.cuh"
#include "ksp/pc/impls/gamg/cuda/aggcuda.cuh"

#define AGG_HUB 64 /* a vertex of more edges that is left over gets a table of the aggregates beside it */

void AggDeviceForgetStrengths(AggDevice *g)
{
  SysPoolRelease(g->s, g->stream);
  SysPoolRelease(g->diag, g->stream);
  g->s = g->diag = NULL;
}

void AggDeviceForgetGraph(AggDevice *g)
{
  AggDeviceForgetStrengths(g);
  for (int k = 0; k < 3; k++) {
    SysPoolRelease(g->memory[k], g->stream);
    g->memory[k] = NULL;
  }
}

void AggDeviceDestroy(AggDevice **g)
{
  if (!*g) return;
  AggDeviceForgetGraph(*g);
  SysPoolRelease((*g)->ghost, (*g)->stream);
  SysPoolRelease((*g)->ghosts, (*g)->stream);
  SysPoolRelease((*g)->cut, (*g)->stream);
  SysPoolRelease((*g)->number, (*g)->stream);
  SysPoolRelease((*g)->block, (*g)->stream);
  SysPoolRelease((*g)->column[0], (*g)->stream);
  for (int k = 0; k < 6; k++) SysPoolRelease((*g)->arrays[k / 3][k % 3], (*g)->stream);
  delete *g;
  *g = NULL;
}

SysStatus AggDeviceSum(int n, int *ends, cudaStream_t stream)
{
  SysScratch temporary;
  size_t     bytes = 0;

  SYS_CUDA(cudaMemsetAsync(ends, 0, sizeof(*ends), stream));
  if (!n) return SYS_SUCCESS;
  SYS_CUDA(SysInclusiveSum(NULL, bytes, ends + 1, ends + 1, n, stream));
  SYS_CALL(SysScratchAllocate(&temporary, bytes, stream));
  SYS_CUDA(SysInclusiveSum(temporary.memory, bytes, ends + 1, ends + 1, n, stream));
  return SYS_SUCCESS;
}

SysStatus AggDeviceLook(const int *array, int64_t place, int *entry, cudaStream_t stream)
{
  SYS_CUDA(cudaMemcpyAsync(entry, array + place, sizeof(*entry), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  return SYS_SUCCESS;
}

/* ------------------------------------------------- aggregates ------------------------------------------------- */

/* The arrays of Agg in aggregate.c */
struct AggWork {
  uint64_t          *key, *best[3];
  uint8_t           *state, *near[3];
  int               *undecided[2], *around[2], *size, *before, *count, *ghosts;
  int               *join, *number; /* of AggDevice */
  char              *temporary;     /* for scans and selections */
  size_t             bytes;
  const AggExchange *x;
};

/* No step after this allocates memory but for hubs: processes would wait for one that has none */
static SysStatus AggBytes(int n, AggWork *a)
{
  size_t scan = 0, select = 0;

  SYS_CUDA(SysInclusiveSum(NULL, scan, NULL, NULL, n, 0));
  SYS_CUDA(SysSelectMarked(NULL, select, NULL, NULL, NULL, NULL, n, 0));
  a->bytes = scan > select ? scan : select;
  return SYS_SUCCESS;
}

static void AggTake(SysArena *arena, int n, int nghost, AggWork *a)
{
  const size_t all = (size_t)n + (size_t)nghost;

  SysArenaTake(arena, &a->key, all);
  for (int k = 0; k < 3; k++) SysArenaTake(arena, &a->best[k], all);
  SysArenaTake(arena, &a->state, all);
  for (int k = 0; k < 3; k++) SysArenaTake(arena, &a->near[k], all);
  for (int k = 0; k < 2; k++) SysArenaTake(arena, &a->undecided[k], (size_t)n);
  for (int k = 0; k < 2; k++) SysArenaTake(arena, &a->around[k], (size_t)n);
  SysArenaTake(arena, &a->size, all);
  SysArenaTake(arena, &a->before, (size_t)n + 1);
  SysArenaTake(arena, &a->count, (size_t)4);
  SysArenaTake(arena, &a->ghosts, (size_t)nghost);
  SysArenaTake(arena, &a->temporary, a->bytes);
}

static SysStatus AggFetch(const AggWork *a, size_t size, void *array)
{
  return a->x && (*a->x->fetch)(a->x->ctx, size, array) ? SysDeviceError("the exchange with other processes failed") : SYS_SUCCESS;
}

static SysStatus AggTotal(const AggWork *a, int64_t *sum)
{
  return a->x && (*a->x->total)(a->x->ctx, sum) ? SysDeviceError("the sum over processes failed") : SYS_SUCCESS;
}

static __global__ void AggBeginKernel(int n, int nghost, const int *i, uint64_t first, int lowdegree, AggWork a)
{
  SYS_FOR_EACH(v, n + nghost)
  {
    const int      degree = v < n ? i[v + 1] - i[v] : 0;
    const uint64_t number = v < n ? first + (uint64_t)v : (uint64_t)a.ghosts[v - n];

    a.key[v]     = AggKey(number, degree, lowdegree);
    a.state[v]   = degree || v >= n ? AGG_UNDECIDED : AGG_ALONE;
    a.best[0][v] = degree ? a.key[v] : 0;
    a.best[1][v] = a.best[2][v] = 0;
    a.near[0][v] = a.near[1][v] = a.near[2][v] = 0;
    if (v < n) a.undecided[1][v] = (int)v;
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

/* Selects the marked entries of list[1] into list[0], and swaps the two */
static SysStatus AggSelect(const AggWork *a, int *list[2], int *n, const uint64_t *mark, cudaStream_t stream)
{
  size_t bytes = a->bytes;
  int   *swap  = list[0];

  if (!*n) return SYS_SUCCESS;
  SYS_CUDA(SysSelectMarked(a->temporary, bytes, mark, list[1], list[0], a->count, *n, stream));
  SYS_CUDA(cudaMemcpyAsync(n, a->count, sizeof(*n), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  list[0] = list[1];
  list[1] = swap;
  return SYS_SUCCESS;
}

/* The lists that are valid are undecided[1] and around[1] */
static SysStatus AggRoots(const AggDevice *g, int hops, AggWork *a, cudaStream_t stream, int *rounds)
{
  int n = g->n, m;

  SYS_CALL(AggSelect(a, a->undecided, &n, a->best[0], stream));
  m = n;
  if (hops > 1) SYS_CUDA(cudaMemcpyAsync(a->around[1], a->undecided[1], (size_t)n * sizeof(int), cudaMemcpyDeviceToDevice, stream));
  for (*rounds = 0;; (*rounds)++) {
    const uint64_t *best = a->best[0];
    const uint8_t  *near = a->near[0];
    int64_t         left = n;

    SYS_CALL(AggTotal(a, &left));
    if (!left) return SYS_SUCCESS;
    SYS_CALL(AggFetch(a, sizeof(*best), a->best[0]));
    for (int h = 1; h < hops; h++) {
      AggSpreadKeysKernel<<<SysBlocksLoop(m), SYS_THREADS, 0, stream>>>(g->i, g->j, m, a->around[1], best, a->best[1 + h % 2]);
      best = a->best[1 + h % 2];
      SYS_CALL(AggFetch(a, sizeof(*best), a->best[1 + h % 2]));
    }
    AggRootsKernel<<<SysBlocksLoop(n), SYS_THREADS, 0, stream>>>(g->i, g->j, n, a->undecided[1], best, a->key, a->near[0]);
    SYS_CALL(AggFetch(a, sizeof(*near), a->near[0]));
    for (int h = 1; h < hops; h++) {
      AggSpreadNearKernel<<<SysBlocksLoop(m), SYS_THREADS, 0, stream>>>(g->i, g->j, m, a->around[1], near, a->near[1 + h % 2]);
      near = a->near[1 + h % 2];
      SYS_CALL(AggFetch(a, sizeof(*near), a->near[1 + h % 2]));
    }
    AggDecideKernel<<<SysBlocksLoop(n), SYS_THREADS, 0, stream>>>(g->i, g->j, n, a->undecided[1], a->near[0], near, a->state, a->best[0]);
    AggForgetKernel<<<SysBlocksLoop(n), SYS_THREADS, 0, stream>>>(n, a->undecided[1], a->near[0]);
    SYS_CUDA(cudaGetLastError());
    if (hops > 1) SYS_CALL(AggSelect(a, a->around, &m, best, stream));
    SYS_CALL(AggSelect(a, a->undecided, &n, a->best[0], stream));
  }
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

/* Entries of the hash table of a vertex: a power of 2 */
static __device__ int AggTableSize(int edges)
{
  int size = 2 * AGG_HUB;

  while (size < 2 * edges && size < 1 << 30) size *= 2;
  return size;
}

/* An aggregate beside a vertex: the sum of the weights of the edges to it, its size, the key of its root, and one of these edges */
struct AggBeside {
  unsigned long long sum, root;
  int                size, edge;
};

/* Does a vertex rather join a than b? To none if root is 0. */
static __device__ bool AggRather(const AggBeside &a, const AggBeside &b)
{
  if (!a.root || !b.root) return a.root != 0;
  if (a.sum != b.sum) return a.sum > b.sum;
  return a.size != b.size ? a.size < b.size : a.root > b.root;
}

static __device__ bool AggLeftOver(int v, const uint8_t *state, const int *join)
{
  return state[v] == AGG_OUT && join[v] < 0;
}

/* later[] becomes the root of a vertex that joins, or 0. Vertices of many edges, whose every pair of edges would be looked at here, are counted, and so is the
   room for their tables: found[0] and found[1]. */
static __global__ void AggJoinRestKernel(const int *i, const int *j, const uint32_t *w, int n, const uint8_t *state, const uint64_t *root, const int *size, int *join, uint64_t *later, unsigned long long *found)
{
  SYS_FOR_EACH(v, n)
  {
    AggBeside best = {0, 0, 0, -1};

    later[v] = 0;
    if (!AggLeftOver((int)v, state, join)) continue;
    if (i[v + 1] - i[v] > AGG_HUB) {
      atomicAdd(found, 1ull);
      atomicAdd(found + 1, (unsigned long long)AggTableSize(i[v + 1] - i[v]));
      continue;
    }
    for (int k = i[v]; k < i[v + 1]; k++) {
      AggBeside beside = {0, root[j[k]], size[j[k]], k};

      if (!beside.root) continue;
      for (int l = i[v]; l < i[v + 1]; l++) beside.sum += root[j[l]] == beside.root ? w[l] : 0;
      if (AggRather(beside, best)) best = beside;
    }
    if (best.edge < 0) continue;
    join[v]  = j[best.edge];
    later[v] = best.root;
  }
}

/* The hubs, and where the table of each begins */
static __global__ void AggListHubsKernel(const int *i, int n, const uint8_t *state, const int *join, unsigned long long *found, int *hub, int64_t *table)
{
  SYS_FOR_EACH(v, n)
  {
    if (i[v + 1] - i[v] <= AGG_HUB || !AggLeftOver((int)v, state, join)) continue;
    const unsigned long long place = atomicAdd(found, 1ull);

    hub[place]   = (int)v;
    table[place] = (int64_t)atomicAdd(found + 1, (unsigned long long)AggTableSize(i[v + 1] - i[v]));
  }
}

/* A thread block has a hub. Its table is a hash table by roots, without entries at first: roots and sums are 0, edges are large. */
static __global__ void AggJoinHubsKernel(const int *i, const int *j, const uint32_t *w, const int *hub, const int64_t *table, const uint64_t *root, const int *size, unsigned long long *roots, unsigned long long *sums, int *edges, int *join, uint64_t *later)
{
  const int            v = hub[blockIdx.x], length = AggTableSize(i[v + 1] - i[v]);
  const int64_t        base = table[blockIdx.x];
  __shared__ AggBeside bests[SYS_THREADS];
  AggBeside            best = {0, 0, 0, -1};

  for (int k = i[v] + (int)threadIdx.x; k < i[v + 1]; k += SYS_THREADS) {
    const unsigned long long r = root[j[k]];
    int64_t                  t = (int64_t)(r & (unsigned long long)(length - 1));

    if (!r) continue;
    for (;;) {
      const unsigned long long old = atomicCAS(roots + base + t, 0ull, r);

      if (!old || old == r) break;
      t = (t + 1) & (length - 1);
    }
    atomicAdd(sums + base + t, (unsigned long long)w[k]);
    atomicMin(edges + base + t, k);
  }
  __syncthreads();
  for (int t = (int)threadIdx.x; t < length; t += SYS_THREADS) {
    AggBeside beside = {sums[base + t], roots[base + t], 0, edges[base + t]};

    if (!beside.root) continue;
    beside.size = size[j[beside.edge]];
    if (AggRather(beside, best)) best = beside;
  }
  bests[threadIdx.x] = best;
  for (int half = SYS_THREADS / 2; half; half /= 2) {
    __syncthreads();
    if ((int)threadIdx.x < half && AggRather(bests[threadIdx.x + half], bests[threadIdx.x])) bests[threadIdx.x] = bests[threadIdx.x + half];
  }
  __syncthreads(); /* the compiler may have all threads read what thread 0 has just written */
  if (threadIdx.x || bests[0].edge < 0) return;
  join[v]  = j[bests[0].edge];
  later[v] = bests[0].root;
}

/* The tables of hubs */
struct AggHubs {
  unsigned long long *roots, *sums;
  int                *hub, *edges;
  int64_t            *table;
};

static SysStatus AggAllocateHubs(const unsigned long long count[2], SysScratch *scratch, AggHubs *h, cudaStream_t stream)
{
  SysArena arena = {NULL, 0};

  for (int turn = 0; turn < 2; turn++) {
    SysArenaTake(&arena, &h->hub, count[0]);
    SysArenaTake(&arena, &h->table, count[0]);
    SysArenaTake(&arena, &h->roots, count[1]);
    SysArenaTake(&arena, &h->sums, count[1]);
    SysArenaTake(&arena, &h->edges, count[1]);
    if (!turn) SYS_CALL(SysArenaAllocateScratch(&arena, scratch, stream));
  }
  return SYS_SUCCESS;
}

/* Vertices that are left over join a neighbouring aggregate, as it was before */
static SysStatus AggJoinRest(const AggDevice *g, AggWork *a, const uint64_t *root, uint64_t *later, cudaStream_t stream)
{
  const unsigned      blocks = SysBlocksLoop(g->n);
  unsigned long long *found  = (unsigned long long *)a->count, count[2];
  SysScratch          scratch;
  AggHubs             h               = {};
  SysStatus           status          = SYS_SUCCESS;
  int64_t             short_of_memory = 0;

  SYS_CUDA(cudaMemsetAsync(found, 0, sizeof(count), stream));
  AggJoinRestKernel<<<blocks, SYS_THREADS, 0, stream>>>(g->i, g->j, g->w, g->n, a->state, root, a->size, a->join, later, found);
  SYS_CUDA(cudaMemcpyAsync(count, found, sizeof(count), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  if (count[0]) status = AggAllocateHubs(count, &scratch, &h, stream);
  if (status == SYS_OUT_OF_MEMORY) short_of_memory = 1;
  else SYS_CALL(status);
  SYS_CALL(AggTotal(a, &short_of_memory));
  if (short_of_memory) return SYS_OUT_OF_MEMORY;
  if (!count[0]) return SYS_SUCCESS;
  SYS_CUDA(cudaMemsetAsync(found, 0, sizeof(count), stream));
  SYS_CUDA(cudaMemsetAsync(h.roots, 0, count[1] * sizeof(*h.roots), stream));
  SYS_CUDA(cudaMemsetAsync(h.sums, 0, count[1] * sizeof(*h.sums), stream));
  SYS_CUDA(cudaMemsetAsync(h.edges, 0x7F, count[1] * sizeof(*h.edges), stream));
  AggListHubsKernel<<<blocks, SYS_THREADS, 0, stream>>>(g->i, g->n, a->state, a->join, found, h.hub, h.table);
  AggJoinHubsKernel<<<(unsigned)count[0], SYS_THREADS, 0, stream>>>(g->i, g->j, g->w, h.hub, h.table, root, a->size, h.roots, h.sums, h.edges, a->join, later);
  SYS_CUDA(cudaGetLastError());
  return SYS_SUCCESS;
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

/* Vertices that have joined since the last call are so many steps away from their root */
static __global__ void AggStepsKernel(int n, int hop, const int *join, uint8_t *steps)
{
  SYS_FOR_EACH(v, n)
  {
    if (join[v] >= 0 && join[v] != v && !steps[v]) steps[v] = (uint8_t)hop;
  }
}

/* Vertices that are h steps away from their root add their entries to those of the vertices that they joined */
static __global__ void AggClimbKernel(int n, int h, const uint8_t *steps, const int *join, int *entry)
{
  SYS_FOR_EACH(v, n)
  {
    if (steps[v] == h) atomicAdd(entry + join[v], entry[v]);
  }
}

/* The way back */
static __global__ void AggDescendKernel(int n, int h, const uint8_t *steps, const int *join, int *entry)
{
  SYS_FOR_EACH(v, n)
  {
    if (steps[v] == h) entry[v] = entry[join[v]];
  }
}

static __global__ void AggCountKernel(int n, const int *join, int *before, int *size)
{
  SYS_FOR_EACH(v, n)
  {
    before[v] = join[v];
    size[v]   = join[v] >= 0;
  }
}

static __global__ void AggDissolveKernel(int n, int least, const int *size, int *join, uint8_t *state, uint64_t *root, uint8_t *small)
{
  SYS_FOR_EACH(v, n)
  {
    small[v] = join[v] >= 0 && size[v] < least;
    if (!small[v]) continue;
    join[v]  = -1;
    root[v]  = 0;
    state[v] = AGG_OUT;
  }
}

static __global__ void AggLeftKernel(int n, const uint8_t *small, const int *join, int *size)
{
  SYS_FOR_EACH(v, n) size[v] = small[v] && join[v] < 0;
}

static __global__ void AggRestoreKernel(int n, const uint8_t *small, const int *size, const int *before, int *join)
{
  SYS_FOR_EACH(v, n)
  {
    if (small[v] && size[v]) join[v] = before[v];
  }
}

static __global__ void AggMarkKernel(int n, const int *join, int *number)
{
  SYS_FOR_EACH(v, n) number[v] = join[v] == v;
}

static __global__ void AggNumberRootsKernel(int n, const int *join, const int *before, int first, int *number)
{
  SYS_FOR_EACH(v, n) number[v] = join[v] == v ? first + before[v] : -1;
}

/* A vertex gets a number as soon as the vertex that it joined has one: in this pass or in a later one */
static __global__ void AggNumberKernel(int n, const int *join, int *number)
{
  SYS_FOR_EACH(v, n)
  {
    if (number[v] < 0 && join[v] >= 0) number[v] = ((volatile int *)number)[join[v]];
  }
}

/* The entries of all vertices of an aggregate become their sum */
static SysStatus AggSumUp(const AggDevice *g, int hops, AggWork *a, const int *join, int *entry, cudaStream_t stream)
{
  const unsigned blocks = SysBlocksLoop(g->n);

  for (int h = hops; h; h--) {
    if (g->nghost) SYS_CUDA(cudaMemsetAsync(entry + g->n, 0, (size_t)g->nghost * sizeof(*entry), stream));
    AggClimbKernel<<<blocks, SYS_THREADS, 0, stream>>>(g->n, h, a->near[0], join, entry);
    if (a->x && (*a->x->addup)(a->x->ctx, entry)) return SysDeviceError("the sums over aggregates failed");
  }
  for (int h = 1; h <= hops; h++) {
    AggDescendKernel<<<blocks, SYS_THREADS, 0, stream>>>(g->n, h, a->near[0], join, entry);
    SYS_CALL(AggFetch(a, sizeof(*entry), entry));
  }
  SYS_CUDA(cudaGetLastError());
  return SYS_SUCCESS;
}

/* Dissolves small aggregates. One of them stays if one of its vertices has no other aggregate beside it. */
static SysStatus AggDissolve(const AggDevice *g, const AggOptions *options, AggWork *a, uint64_t *root, uint64_t *later, cudaStream_t stream)
{
  const unsigned blocks = SysBlocksLoop(g->n);
  int           *before = a->undecided[1];
  uint8_t       *small  = a->near[1];

  AggCountKernel<<<blocks, SYS_THREADS, 0, stream>>>(g->n, a->join, before, a->size);
  SYS_CALL(AggSumUp(g, options->hops, a, before, a->size, stream));
  AggDissolveKernel<<<blocks, SYS_THREADS, 0, stream>>>(g->n, options->least, a->size, a->join, a->state, root, small);
  SYS_CALL(AggFetch(a, sizeof(*root), root));
  SYS_CALL(AggJoinRest(g, a, root, later, stream));
  AggLeftKernel<<<blocks, SYS_THREADS, 0, stream>>>(g->n, small, a->join, a->size);
  SYS_CALL(AggSumUp(g, options->hops, a, before, a->size, stream));
  AggRestoreKernel<<<blocks, SYS_THREADS, 0, stream>>>(g->n, small, a->size, before, a->join);
  return SYS_SUCCESS;
}

static SysStatus AggJoin(const AggDevice *g, const AggOptions *options, AggWork *a, cudaStream_t stream)
{
  const unsigned blocks = SysBlocksLoop(g->n);
  uint64_t      *root = a->best[1], *later = a->best[2];

  SYS_CALL(AggFetch(a, sizeof(*a->state), a->state));
  AggJoinRootsKernel<<<blocks, SYS_THREADS, 0, stream>>>(g->i, g->j, g->w, g->n, options->strongest, a->state, a->key, a->join);
  if (options->least > 1) AggStepsKernel<<<blocks, SYS_THREADS, 0, stream>>>(g->n, 1, a->join, a->near[0]);
  if (AGG_REACH(options) > 1) {
    SYS_CUDA(cudaMemsetAsync(a->size, 0, ((size_t)g->n + (size_t)g->nghost) * sizeof(int), stream));
    AggSizeKernel<<<blocks, SYS_THREADS, 0, stream>>>(g->n, a->join, a->key, root, a->size);
    SYS_CALL(AggFetch(a, sizeof(*root), root));
    if (a->x && (*a->x->addup)(a->x->ctx, a->size)) return SysDeviceError("the sums of sizes failed");
    AggTakeSizeKernel<<<blocks, SYS_THREADS, 0, stream>>>(g->n, a->join, a->size);
    SYS_CALL(AggFetch(a, sizeof(*a->size), a->size));
  }
  for (int h = 1; h < options->hops; h++) {
    SYS_CALL(AggJoinRest(g, a, root, later, stream));
    AggSettleKernel<<<blocks, SYS_THREADS, 0, stream>>>(g->n, a->join, later, root, a->size);
    if (options->least > 1) AggStepsKernel<<<blocks, SYS_THREADS, 0, stream>>>(g->n, h + 1, a->join, a->near[0]);
    SYS_CALL(AggFetch(a, sizeof(*root), root));
    SYS_CALL(AggFetch(a, sizeof(*a->size), a->size));
  }
  if (options->least > 1) SYS_CALL(AggDissolve(g, options, a, root, later, stream));
  SYS_CUDA(cudaGetLastError());
  return SYS_SUCCESS;
}

/* The numbers of aggregates, over all processes */
static SysStatus AggNumber(AggDevice *g, int hops, AggWork *a, cudaStream_t stream)
{
  const unsigned blocks = SysBlocksLoop(g->n);
  size_t         bytes  = a->bytes;
  int64_t        first;

  SYS_CUDA(cudaMemsetAsync(a->before, 0, sizeof(*a->before), stream));
  if (g->n) {
    AggMarkKernel<<<blocks, SYS_THREADS, 0, stream>>>(g->n, a->join, a->before + 1);
    SYS_CUDA(SysInclusiveSum(a->temporary, bytes, a->before + 1, a->before + 1, g->n, stream));
  }
  SYS_CALL(AggDeviceLook(a->before, g->n, &g->nagg, stream));
  first = g->nagg;
  if (!a->x) first = 0;
  else if ((*a->x->before)(a->x->ctx, &first)) return SysDeviceError("the sum over processes failed");
  g->firstagg = (int)first;
  AggNumberRootsKernel<<<blocks, SYS_THREADS, 0, stream>>>(g->n, a->join, a->before, g->firstagg, a->number);
  for (int h = 0; h <= hops; h++) {
    SYS_CALL(AggFetch(a, sizeof(*a->number), a->number));
    if (h < hops) AggNumberKernel<<<blocks, SYS_THREADS, 0, stream>>>(g->n, a->join, a->number);
  }
  SYS_CUDA(cudaGetLastError());
  return SYS_SUCCESS;
}

static SysStatus AggAllocate(AggDevice *g, SysScratch *scratch, AggWork *a)
{
  SysArena arena = {NULL, 0};

  if (!g->number) SYS_CALL(SysPoolAllocate((2 * (size_t)g->n + (size_t)g->nghost) * sizeof(int), &g->number, g->stream));
  g->join = g->number + g->n + g->nghost;
  SYS_CALL(AggBytes(g->n, a));
  AggTake(&arena, g->n, g->nghost, a);
  SYS_CALL(SysArenaAllocateScratch(&arena, scratch, g->stream));
  AggTake(&arena, g->n, g->nghost, a);
  a->join   = g->join;
  a->number = g->number;
  return SYS_SUCCESS;
}

SysStatus AggDeviceAggregate(AggDevice *g, int64_t first, const SysInt ghosts[], const AggOptions *options, const AggExchange *x, SysStream stream, SysInt *nagg, int *rounds)
{
  SysScratch scratch;
  AggWork    a               = {};
  SysStatus  status          = AggAllocate(g, &scratch, &a);
  int64_t    short_of_memory = status == SYS_OUT_OF_MEMORY;

  if (!short_of_memory) SYS_CALL(status);
  a.x = x;
  SYS_CALL(AggTotal(&a, &short_of_memory));
  if (short_of_memory) return SYS_OUT_OF_MEMORY;
  if (g->nghost) SYS_CUDA(cudaMemcpyAsync(a.ghosts, ghosts, (size_t)g->nghost * sizeof(int), cudaMemcpyHostToDevice, stream));
  AggBeginKernel<<<SysBlocksLoop(g->n + g->nghost), SYS_THREADS, 0, stream>>>(g->n, g->nghost, g->i, (uint64_t)first, options->lowdegree, a);
  SYS_CUDA(cudaGetLastError());
  if (options->lowdegree) SYS_CALL(AggFetch(&a, sizeof(*a.key), a.key));
  SYS_CALL(AggRoots(g, options->hops, &a, stream, rounds));
  SYS_CALL(AggJoin(g, options, &a, stream));
  SYS_CALL(AggNumber(g, AGG_REACH(options), &a, stream));
  *nagg = g->nagg;
  return SYS_SUCCESS;
}

SysStatus AggDeviceGetAggregates(const AggDevice *g, SysStream stream, SysInt number[], SysInt join[])
{
  SYS_CUDA(cudaMemcpyAsync(number, g->number, (size_t)(g->n + g->nghost) * sizeof(*number), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaMemcpyAsync(join, g->join, (size_t)g->n * sizeof(*join), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  return SYS_SUCCESS;
}
