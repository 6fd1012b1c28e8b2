/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Breadth-first searches from 64 vertices at a time: each vertex has a word with a bit for each source. A level goes along the edges that leave the vertices reached last if these
   are few, else back along the edges of the vertices that some source has not reached.

   S. Beamer, K. Asanovic, D. Patterson, Direction-Optimizing Breadth-First Search, SC 2012.
*/
#include <new>

#include "sys/syscuda.cuh"
#include "sys/systranspose.cuh"
#include "mat/graph/cuda/graphcountcuda.h"

#define FEW   8  /* a level goes along edges that leave if these are fewer than 1 of so many */
#define GROUP 8  /* threads for a row */
#define WORD  64 /* sources */

typedef unsigned long long Word;

struct _GraphSearch {
  SysCSR A       = {0, 0, 0, NULL, NULL, NULL};
  char  *pattern = NULL; /* of the transposed matrix */
  int   *i = NULL, *j = NULL;
  char  *memory = NULL;
  Word  *seen = NULL, *last = NULL, *next = NULL; /* reached at all, in the last level, in the next */
  Word  *sum = NULL;                              /* edges that leave the vertices reached last; bits of these */
};

/* Adds the vertices reached last to those reached at all, and clears the next ones */
static __global__ void __launch_bounds__(SYS_THREADS) SearchTake(int m, const int *i, int now, Word *seen, const Word *last, Word *next, int *level, Word *sum)
{
  Word edges = 0, bits = 0;

  SYS_FOR_EACH(v, m)
  {
    const Word w = last[v];

    next[v] = 0;
    if (!w) continue;
    seen[v] |= w;
    edges += (Word)(i[v + 1] - i[v]);
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

/* Along the edges of the vertices reached last, a warp each */
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

/* The bits of row r that it wants, from its edges k0, k0 + step, ..., until the threads have found all; the threads of mask call it together */
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

/* Back along the edges of the vertices that some source has not reached: groups of threads take short rows, and the warp those of more than SYS_WARP * GROUP entries */
static __global__ void __launch_bounds__(SYS_THREADS) SearchPull(int m, const int *i, const int *j, Word all, const Word *seen, const Word *last, Word *next)
{
  const int      lane = (int)threadIdx.x % SYS_WARP, thread = lane % GROUP, of = SYS_WARP / GROUP;
  const unsigned mask  = ((1u << GROUP) - 1) << (lane - thread);
  const int64_t  warps = gridDim.x * (int64_t)blockDim.x / SYS_WARP;

  for (int64_t base = (blockIdx.x * (int64_t)blockDim.x + threadIdx.x) / SYS_WARP * of; base < m; base += warps * of) {
    const int64_t r     = base + lane / GROUP;
    const Word    want  = r < m ? all & ~seen[r] : 0;
    const int     first = want ? i[r] : 0, end = want ? i[r + 1] : 0;
    const int     big  = end - first > SYS_WARP * GROUP;
    unsigned      left = __ballot_sync(SYS_ALL_LANES, big && thread == 0);

    if (want && !big) {
      const Word found = SearchRow(mask, first, end, thread, GROUP, j, want, last);

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

static __global__ void SearchBegin(int n, const int *source, Word *last)
{
  for (int q = 0; q < n; q++) last[source[q]] |= (Word)1 << q;
}

SysStatus GraphSearchCreate(const SysCSR *A, GraphSearch **out, SysStream stream)
{
  GraphSearch *s     = new (std::nothrow) GraphSearch;
  SysArena     arena = {NULL, 0};

  *out = s;
  if (!s) return SYS_OUT_OF_MEMORY;
  s->A = *A;
  for (int pass = 0; pass < 2; pass++) {
    SysArenaTake(&arena, &s->seen, (size_t)A->m);
    SysArenaTake(&arena, &s->last, (size_t)A->m);
    SysArenaTake(&arena, &s->next, (size_t)A->m);
    SysArenaTake(&arena, &s->sum, WORD);
    if (!pass) SYS_CALL(SysArenaAllocate(&arena));
    s->memory = arena.memory;
  }
  return SYS_SUCCESS;
}

/* The transposed pattern is made when it is wanted first */
static SysStatus SearchTranspose(GraphSearch *s, SysStream stream)
{
  SysArena   arena = {NULL, 0};
  SysScratch work, from;
  size_t     bytes;

  if (s->pattern) return SYS_SUCCESS;
  for (int pass = 0; pass < 2; pass++) {
    SysArenaTake(&arena, &s->i, (size_t)s->A.n + 1);
    SysArenaTake(&arena, &s->j, (size_t)s->A.nz);
    if (!pass) SYS_CALL(SysArenaAllocate(&arena));
    s->pattern = arena.memory;
  }
  SYS_CUDA(SysTransposeSize(&s->A, &bytes));
  SYS_CALL(SysDeviceAllocate(&work.memory, bytes));
  SYS_CALL(SysDeviceAllocate(&from.memory, (size_t)s->A.nz * sizeof(int)));
  SYS_CUDA(SysTransposePattern(&s->A, work.memory, bytes, s->i, s->j, (int *)from.memory, stream));
  SYS_CUDA(cudaStreamSynchronize(stream)); /* the memory to work in is freed */
  return SYS_SUCCESS;
}

static SysStatus SearchLevels(GraphSearch *s, Word all, int *level, int64_t *reached, int64_t *farthest, SysStream stream)
{
  const int     m    = (int)s->A.m;
  const int64_t warp = SysBlocksLoop((int64_t)m * SYS_WARP), group = SysBlocksLoop((int64_t)m * GROUP);
  Word          sum[2];

  for (int now = 0;; now++) {
    Word *last = s->last;

    SYS_CUDA(cudaMemsetAsync(s->sum, 0, 2 * sizeof(*s->sum), stream));
    SYS_CALL(SysLaunch(SearchTake, SysBlocksLoop(m), SYS_THREADS, 0, stream, m, s->A.i, now, s->seen, last, s->next, level, s->sum));
    SYS_CUDA(cudaMemcpyAsync(sum, s->sum, sizeof(sum), cudaMemcpyDeviceToHost, stream));
    SYS_CUDA(cudaStreamSynchronize(stream));
    if (!sum[1]) return SYS_SUCCESS;
    *reached += (int64_t)sum[1];
    *farthest = *farthest > now ? *farthest : now;
    if ((int64_t)sum[0] < s->A.nz / FEW) SYS_CALL(SysLaunch(SearchPush, warp, SYS_THREADS, 0, stream, m, s->A.i, s->A.j, s->seen, last, s->next));
    else {
      SYS_CALL(SearchTranspose(s, stream));
      SYS_CALL(SysLaunch(SearchPull, group, SYS_THREADS, 0, stream, m, s->i, s->j, all, s->seen, last, s->next));
    }
    s->last = s->next;
    s->next = last;
  }
}

SysStatus GraphSearchRun(GraphSearch *s, int n, const int64_t source[], int *level, int64_t *reached, int64_t *farthest, SysStream stream)
{
  const Word   all   = n == WORD ? ~(Word)0 : ((Word)1 << n) - 1;
  const size_t bytes = (size_t)s->A.m * sizeof(Word), levels = (size_t)n * (size_t)s->A.m * sizeof(int);
  SysScratch   scratch;
  int         *list = (int *)(s->sum + 2), host[WORD];

  for (int q = 0; q < n; q++) host[q] = (int)source[q];
  SYS_CUDA(cudaMemsetAsync(s->seen, 0, bytes, stream));
  SYS_CUDA(cudaMemsetAsync(s->last, 0, bytes, stream));
  SYS_CUDA(cudaMemcpyAsync(list, host, (size_t)n * sizeof(*host), cudaMemcpyHostToDevice, stream));
  SYS_CALL(SysLaunch(SearchBegin, 1, 1, 0, stream, n, (const int *)list, s->last));
  if (level) {
    SYS_CALL(SysDeviceAllocate(&scratch.memory, levels));
    SYS_CUDA(cudaMemsetAsync(scratch.memory, 0xff, levels, stream));
  }
  SYS_CALL(SearchLevels(s, all, (int *)scratch.memory, reached, farthest, stream));
  if (level) SYS_CUDA(cudaMemcpyAsync(level, scratch.memory, levels, cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  return SYS_SUCCESS;
}

void GraphSearchDestroy(GraphSearch *s)
{
  if (!s) return;
  (void)cudaFree(s->memory);
  (void)cudaFree(s->pattern);
  delete s;
}
