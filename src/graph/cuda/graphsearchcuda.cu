/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Breadth-first searches from up to 64 vertices at a time: each vertex has a word with one bit a source. A level follows the edges that leave the
   last level's vertices if these are few (push), else the edges of the vertices that some source has not reached, backwards (pull).

   Source: S. Beamer, K. Asanovic, D. Patterson, Direction-Optimizing Breadth-First Search, SC 2012.
*/
#include <new>

#include "sys/syscuda.cuh"
#include "sys/systranspose.cuh"
#include "graph/cuda/graphcuda.h"
#include "graph/host/graphpolicy.h"

#define GRAPH_SEARCH_LANES 8 /* threads a row */

typedef unsigned long long Word;

/* Edges that end at this process's vertices, or at others' */
struct SearchBlock {
  SysCSR A       = {0, 0, 0, NULL, NULL, NULL};
  char  *pattern = NULL;  /* of the transposed matrix */
  bool   never   = false; /* memory is short for it */
  int   *i = NULL, *j = NULL;
  Word  *seen = NULL, *next = NULL; /* of the end vertices: seen: reached so far, or sent to their process; next: reached in the next level */
};

struct _GraphSearch {
  SearchBlock block[2];
  char       *memory = NULL;
  Word       *last   = NULL; /* reached in the last level */
  Word       *sum    = NULL; /* edges that leave the last level's vertices; bits of these */
  int        *level  = NULL; /* NULL: not requested */
  int         nto    = 0;
  int        *to     = NULL;          /* the vertices that receive bits from other processes */
  Word       *bits   = NULL;          /* their bits */
  Word       *out = NULL, *in = NULL; /* on the host */
  cudaEvent_t packed  = NULL;         /* recorded when the bits to send are on the host */
  Word        all     = 0;            /* one bit a source */
  int64_t     leaving = 0;            /* edges that leave the last level's vertices */
};

/* Adds the last level's vertices to seen, and clears next */
static __global__ void __launch_bounds__(SYS_THREADS) SearchTake(int m, const int *i, const int *cut, int now, Word *seen, const Word *last, Word *next, int *level, Word *sum)
{
  Word edges = 0, bits = 0;

  SYS_FOR_EACH(v, m)
  {
    const Word w = last[v];

    next[v] = 0;
    if (!w) continue;
    seen[v] |= w;
    edges += (Word)((i ? i[v + 1] - i[v] : 0) + (cut ? cut[v + 1] - cut[v] : 0));
    bits += (Word)__popcll(w);
    for (Word left = level ? w : 0; left; left &= left - 1) level[(int64_t)(__ffsll((long long)left) - 1) * m + v] = now;
  }
  for (int d = SYS_WARP / 2; d; d /= 2) {
    edges += __shfl_xor_sync(SYS_ALL_LANES, edges, d);
    bits += __shfl_xor_sync(SYS_ALL_LANES, bits, d);
  }
  if (threadIdx.x % SYS_WARP == 0 && bits) {
    atomicAdd(&sum[0], edges);
    atomicAdd(&sum[1], bits);
  }
}

/* Follows the edges of the last level's vertices, one warp a vertex */
static __global__ void __launch_bounds__(SYS_THREADS) SearchPush(int m, const int *i, const int *j, const Word *seen, const Word *last, Word *next)
{
  const int lane = (int)threadIdx.x % SYS_WARP;

  for (int64_t r = (blockIdx.x * (int64_t)blockDim.x + threadIdx.x) / SYS_WARP; r < m; r += gridDim.x * (int64_t)blockDim.x / SYS_WARP) {
    const Word w = last[r];

    for (int64_t k = i[r] + (int64_t)lane; w && k < i[r + 1]; k += SYS_WARP) {
      const int  v    = j[k];
      const Word bits = w & ~seen[v];

      if (bits & ~next[v]) atomicOr(&next[v], bits);
    }
  }
}

/* Returns the bits among `want` that row r gets from its edges k0, k0 + step, ...; stops when all are found. Called by all threads of mask. */
static __device__ __forceinline__ Word SearchRow(unsigned mask, int first, int end, int thread, int threads, const int *j, Word want, const Word *last)
{
  Word found = 0;

  for (int k = first; k < end; k += threads) {
    found |= k + thread < end ? last[j[k + thread]] : 0;
    for (int d = threads / 2; d; d /= 2) found |= __shfl_xor_sync(mask, found, d);
    if ((found & want) == want) break;
  }
  return found & want;
}

/* Follows the edges of unreached vertices backwards: groups of threads for short rows, a warp for each row of more than SYS_WARP * GRAPH_SEARCH_LANES
   entries */
static __global__ void __launch_bounds__(SYS_THREADS) SearchPull(int m, const int *i, const int *j, Word all, const Word *seen, const Word *last, Word *next)
{
  const int      lane = (int)threadIdx.x % SYS_WARP, thread = lane % GRAPH_SEARCH_LANES, of = SYS_WARP / GRAPH_SEARCH_LANES;
  const unsigned mask  = ((1u << GRAPH_SEARCH_LANES) - 1) << (lane - thread);
  const int64_t  warps = gridDim.x * (int64_t)blockDim.x / SYS_WARP;

  for (int64_t base = (blockIdx.x * (int64_t)blockDim.x + threadIdx.x) / SYS_WARP * of; base < m; base += warps * of) {
    const int64_t r     = base + lane / GRAPH_SEARCH_LANES;
    const Word    want  = r < m ? all & ~seen[r] : 0;
    const int     first = want ? i[r] : 0, end = want ? i[r + 1] : 0;
    const int     big  = end - first > SYS_WARP * GRAPH_SEARCH_LANES;
    unsigned      left = __ballot_sync(SYS_ALL_LANES, big && thread == 0);

    if (want && !big) {
      const Word found = SearchRow(mask, first, end, thread, GRAPH_SEARCH_LANES, j, want, last);

      if (thread == 0) next[r] = found;
    }
    __syncwarp();
    for (; left; left &= left - 1) {
      const int  from  = __ffs((int)left) - 1;
      const Word found = SearchRow(SYS_ALL_LANES, __shfl_sync(SYS_ALL_LANES, first, from), __shfl_sync(SYS_ALL_LANES, end, from), lane, SYS_WARP, j, __shfl_sync(SYS_ALL_LANES, want, from), last);

      if (lane == from) next[r] = found;
    }
  }
}

static __global__ void SearchBegin(int n, const int *source, Word *next)
{
  for (int q = 0; q < n; q++) {
    if (source[q] >= 0) next[source[q]] |= (Word)1 << q;
  }
}

/* Marks bits as sent to other processes */
static __global__ void __launch_bounds__(SYS_THREADS) SearchSent(int n, Word *sent, const Word *next)
{
  SYS_FOR_EACH(k, n)
  {
    if (next[k]) sent[k] |= next[k];
  }
}

static __global__ void __launch_bounds__(SYS_THREADS) SearchAdd(int n, const int *to, const Word *bits, const Word *seen, Word *next)
{
  SYS_FOR_EACH(k, n)
  {
    const Word w = bits[k] ? bits[k] & ~seen[to[k]] : 0;

    if (w) atomicOr(&next[to[k]], w);
  }
}

SysStatus GraphSearchCreate(const SysCSR *A, const SysCSR *cut, int nto, const int *to, int levels, GraphSearch **out, SysStream stream)
{
  GraphSearch *s     = new (std::nothrow) GraphSearch;
  SysArena     arena = {NULL, 0};

  *out = s;
  if (!s) return SYS_OUT_OF_MEMORY;
  s->block[0].A = *A;
  if (cut) s->block[1].A = *cut;
  s->nto = nto;
  for (int pass = 0; pass < 2; pass++) {
    SysArenaTake(&arena, &s->last, (size_t)A->m);
    for (SearchBlock *b = s->block; b < s->block + 2; b++) {
      SysArenaTake(&arena, &b->seen, (size_t)b->A.n);
      SysArenaTake(&arena, &b->next, (size_t)b->A.n);
    }
    SysArenaTake(&arena, &s->sum, GRAPH_SEARCH_SOURCES);
    SysArenaTake(&arena, &s->to, (size_t)nto);
    SysArenaTake(&arena, &s->bits, (size_t)nto);
    SysArenaTake(&arena, &s->level, (size_t)levels * (size_t)A->m);
    if (!pass) SYS_CALL(SysArenaAllocate(&arena));
    s->memory = arena.memory;
  }
  if (!levels) s->level = NULL;
  if (!cut) return SYS_SUCCESS;
  SYS_CUDA(cudaMallocHost((void **)&s->out, ((size_t)cut->n + 1) * sizeof(Word)));
  SYS_CUDA(cudaMallocHost((void **)&s->in, ((size_t)nto + 1) * sizeof(Word)));
  SYS_CUDA(cudaEventCreateWithFlags(&s->packed, cudaEventDisableTiming));
  SYS_CUDA(cudaMemcpyAsync(s->to, to, (size_t)nto * sizeof(*to), cudaMemcpyHostToDevice, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  return SYS_SUCCESS;
}

/* Creates the transposed pattern at its first use */
static SysStatus SearchTranspose(SearchBlock *b, SysStream stream)
{
  SysArena   arena = {NULL, 0};
  SysScratch work, from;
  size_t     bytes;

  SYS_CUDA(SysTransposeSize(&b->A, &bytes));
  SYS_CALL(SysDeviceAllocate(&work.memory, bytes));
  SYS_CALL(SysDeviceAllocate(&from.memory, (size_t)b->A.nz * sizeof(int)));
  for (int pass = 0; pass < 2; pass++) {
    SysArenaTake(&arena, &b->i, (size_t)b->A.n + 1);
    SysArenaTake(&arena, &b->j, (size_t)b->A.nz);
    if (!pass) SYS_CALL(SysArenaAllocate(&arena));
    b->pattern = arena.memory;
  }
  SYS_CUDA(SysTransposePattern(&b->A, work.memory, bytes, b->i, b->j, (int *)from.memory, stream));
  SYS_CUDA(cudaStreamSynchronize(stream)); /* the work space is freed on return */
  return SYS_SUCCESS;
}

SysStatus GraphSearchStart(GraphSearch *s, int n, const int source[], SysStream stream)
{
  const int64_t m    = s->block[0].A.m;
  int          *list = (int *)(s->sum + 2);

  s->all = n == GRAPH_SEARCH_SOURCES ? ~(Word)0 : ((Word)1 << n) - 1;
  for (SearchBlock *b = s->block; b < s->block + 2; b++) SYS_CUDA(cudaMemsetAsync(b->seen, 0, (size_t)b->A.n * sizeof(Word), stream));
  SYS_CUDA(cudaMemsetAsync(s->block[0].next, 0, (size_t)m * sizeof(Word), stream));
  SYS_CUDA(cudaMemcpyAsync(list, source, (size_t)n * sizeof(*list), cudaMemcpyHostToDevice, stream));
  if (s->level) SYS_CUDA(cudaMemsetAsync(s->level, 0xff, (size_t)n * (size_t)m * sizeof(*s->level), stream));
  SYS_CALL(SysLaunch(SearchBegin, m > 0, 1, 0, stream, n, (const int *)list, s->block[0].next));
  return SYS_SUCCESS;
}

SysStatus GraphSearchGetReached(GraphSearch *s, int now, int64_t *reached, SysStream stream)
{
  SearchBlock *own = &s->block[0];
  const int    m   = (int)own->A.m;
  Word         sum[2], *last = own->next;

  own->next = s->last;
  s->last   = last;
  SYS_CUDA(cudaMemsetAsync(s->sum, 0, sizeof(sum), stream));
  SYS_CALL(SysLaunch(SearchTake, SysBlocksLoop(m), SYS_THREADS, 0, stream, m, own->A.i, s->block[1].A.i, now, own->seen, (const Word *)last, own->next, s->level, s->sum));
  SYS_CUDA(cudaMemcpyAsync(sum, s->sum, sizeof(sum), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  s->leaving = (int64_t)sum[0];
  *reached   = (int64_t)sum[1];
  return SYS_SUCCESS;
}

/* Computes the bits through a block's edges. Without memory for its transposed pattern all levels push. */
static SysStatus SearchBlockStep(GraphSearch *s, SearchBlock *b, bool pull, SysStream stream)
{
  const int m = (int)b->A.m, n = (int)b->A.n;

  if (!b->A.nz) return SYS_SUCCESS;
  if (pull && !b->i && !b->never) {
    const SysStatus status = SearchTranspose(b, stream);

    if (status == SYS_ERROR) return status;
    b->never = status != SYS_SUCCESS;
  }
  if (pull && !b->never) return SysLaunch(SearchPull, SysBlocksLoop((int64_t)n * GRAPH_SEARCH_LANES), SYS_THREADS, 0, stream, n, b->i, b->j, s->all, b->seen, s->last, b->next);
  return SysLaunch(SearchPush, SysBlocksLoop((int64_t)m * SYS_WARP), SYS_THREADS, 0, stream, m, b->A.i, b->A.j, b->seen, s->last, b->next);
}

SysStatus GraphSearchStep(GraphSearch *s, SysStream stream)
{
  SearchBlock *cut  = &s->block[1];
  const bool   pull = s->leaving >= (s->block[0].A.nz + cut->A.nz) / GRAPH_SEARCH_PUSH;

  if (cut->A.n) {
    const size_t bytes = (size_t)cut->A.n * sizeof(Word);

    SYS_CUDA(cudaMemsetAsync(cut->next, 0, bytes, stream));
    if (s->leaving) {
      SYS_CALL(SearchBlockStep(s, cut, pull, stream));
      SYS_CALL(SysLaunch(SearchSent, SysBlocksLoop(cut->A.n), SYS_THREADS, 0, stream, (int)cut->A.n, cut->seen, (const Word *)cut->next));
    }
    SYS_CUDA(cudaMemcpyAsync(s->out, cut->next, bytes, cudaMemcpyDeviceToHost, stream));
    SYS_CUDA(cudaEventRecord(s->packed, stream)); /* the copy overlaps with the other block */
  }
  return s->leaving ? SearchBlockStep(s, &s->block[0], pull, stream) : SYS_SUCCESS;
}

SysStatus GraphSearchGetOut(GraphSearch *s, const uint64_t **out, uint64_t **in)
{
  *out = (const uint64_t *)s->out;
  *in  = (uint64_t *)s->in;
  if (s->block[1].A.n) SYS_CUDA(cudaEventSynchronize(s->packed));
  return SYS_SUCCESS;
}

SysStatus GraphSearchSetIn(GraphSearch *s, SysStream stream)
{
  if (!s->nto) return SYS_SUCCESS;
  SYS_CUDA(cudaMemcpyAsync(s->bits, s->in, (size_t)s->nto * sizeof(Word), cudaMemcpyHostToDevice, stream));
  return SysLaunch(SearchAdd, SysBlocksLoop(s->nto), SYS_THREADS, 0, stream, s->nto, (const int *)s->to, (const Word *)s->bits, (const Word *)s->block[0].seen, s->block[0].next);
}

SysStatus GraphSearchGetLevels(GraphSearch *s, int n, int *level, SysStream stream)
{
  SYS_CUDA(cudaMemcpyAsync(level, s->level, (size_t)n * (size_t)s->block[0].A.m * sizeof(*level), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  return SYS_SUCCESS;
}

void GraphSearchDestroy(GraphSearch *s)
{
  if (!s) return;
  for (SearchBlock *b = s->block; b < s->block + 2; b++) (void)cudaFree(b->pattern);
  (void)cudaFree(s->memory);
  (void)cudaFreeHost(s->out);
  (void)cudaFreeHost(s->in);
  if (s->packed) (void)cudaEventDestroy(s->packed);
  delete s;
}
