/* SPDX-License-Identifier: BSD-2-Clause */
/*
   What several processes need of a level on a CUDA device: entries that travel, and the columns of both parts of the prolongator
*/
#include <stdlib.h>

#include "ksp/pc/impls/gamg/cuda/aggcuda.cuh"

/* ------------------------------------------------- entries that travel ------------------------------------------------- */

/* Entry k of to[] is entry list[k] of from[], or the other way round; an entry has so many words */
template <typename T>
static __global__ void AggPackKernel(int64_t n, int words, const int *list, const T *from, T *to)
{
  SYS_FOR_EACH(k, n * words) to[k] = from[(int64_t)list[k / words] * words + k % words];
}

template <typename T>
static __global__ void AggUnpackKernel(int64_t n, int words, const int *list, const T *from, T *to)
{
  SYS_FOR_EACH(k, n * words) to[(int64_t)list[k / words] * words + k % words] = from[k];
}

/* An entry may be listed for several processes */
template <typename T>
static __global__ void AggAddUpKernel(int64_t n, const int *list, const T *from, int *to)
{
  SYS_FOR_EACH(k, n) atomicAdd(to + list[k], (int)from[k]);
}

template <typename T>
static __global__ void AggPackWordsKernel(int64_t n, const int *list, const T *from, uint64_t *to)
{
  SYS_FOR_EACH(k, n) to[k] = (uint64_t)from[list ? list[k] : k];
}

template <typename T>
static __global__ void AggUnpackWordsKernel(int64_t n, const uint64_t *from, T *to)
{
  SYS_FOR_EACH(k, n) to[k] = (T)from[k];
}

template <typename T>
static void AggMove(bool pack, int n, size_t size, const int *list, const void *from, void *to, cudaStream_t stream)
{
  const int      words  = (int)(size / sizeof(T));
  const unsigned blocks = SysBlocksLoop((int64_t)n * words);

  if (pack) AggPackKernel<<<blocks, SYS_THREADS, 0, stream>>>(n, words, list, (const T *)from, (T *)to);
  else AggUnpackKernel<<<blocks, SYS_THREADS, 0, stream>>>(n, words, list, (const T *)from, (T *)to);
}

static SysStatus AggMoveAny(bool pack, int n, size_t size, const int *list, const void *from, void *to, cudaStream_t stream)
{
  if (size % 8 == 0) AggMove<uint64_t>(pack, n, size, list, from, to, stream);
  else if (size % 4 == 0) AggMove<uint32_t>(pack, n, size, list, from, to, stream);
  else AggMove<uint8_t>(pack, n, size, list, from, to, stream);
  SYS_CUDA(cudaGetLastError());
  return SYS_SUCCESS;
}

SysStatus AggDevicePack(SysInt n, const SysInt *list, size_t size, const void *from, void *to, SysStream stream)
{
  return AggMoveAny(true, n, size, list, from, to, stream);
}

SysStatus AggDeviceUnpack(SysInt n, const SysInt *list, size_t size, const void *from, void *to, SysStream stream)
{
  return AggMoveAny(false, n, size, list, from, to, stream);
}

SysStatus AggDeviceAddUp(SysInt n, const SysInt *list, const SysInt *from, SysInt *to, SysStream stream)
{
  AggAddUpKernel<<<SysBlocksLoop(n), SYS_THREADS, 0, stream>>>(n, list, from, to);
  SYS_CUDA(cudaGetLastError());
  return SYS_SUCCESS;
}

SysStatus AggDevicePackWords(SysInt n, const SysInt *list, size_t size, const void *from, uint64_t *to, SysStream stream)
{
  const unsigned blocks = SysBlocksLoop(n);

  if (size == 4) AggPackWordsKernel<<<blocks, SYS_THREADS, 0, stream>>>(n, list, (const uint32_t *)from, to);
  else AggPackWordsKernel<<<blocks, SYS_THREADS, 0, stream>>>(n, list, (const uint8_t *)from, to);
  SYS_CUDA(cudaGetLastError());
  return SYS_SUCCESS;
}

SysStatus AggDeviceUnpackWords(SysInt n, size_t size, const uint64_t *from, void *to, SysStream stream)
{
  const unsigned blocks = SysBlocksLoop(n);

  if (size == 4) AggUnpackWordsKernel<<<blocks, SYS_THREADS, 0, stream>>>(n, from, (uint32_t *)to);
  else AggUnpackWordsKernel<<<blocks, SYS_THREADS, 0, stream>>>(n, from, (uint8_t *)to);
  SYS_CUDA(cudaGetLastError());
  return SYS_SUCCESS;
}

SysStatus AggDeviceAddUpWords(SysInt n, const SysInt *list, const uint64_t *from, SysInt *to, SysStream stream)
{
  AggAddUpKernel<<<SysBlocksLoop(n), SYS_THREADS, 0, stream>>>(n, list, from, to);
  SYS_CUDA(cudaGetLastError());
  return SYS_SUCCESS;
}

/* ------------------------------------------------- aggregates of other processes ------------------------------------------------- */

static __device__ bool AggLeaves(int number, int first, int nagg)
{
  return number >= 0 && (number < first || number >= first + nagg);
}

static __global__ void AggMarkLeavingKernel(int n, const int *number, int first, int nagg, int *lengths)
{
  SYS_FOR_EACH(v, n) lengths[v] = AggLeaves(number[v], first, nagg);
}

static __global__ void AggListLeavingKernel(int n, const int *number, int first, int nagg, const int *start, int *vertex, int *to)
{
  SYS_FOR_EACH(v, n)
  {
    if (!AggLeaves(number[v], first, nagg)) continue;
    vertex[start[v]] = (int)v;
    to[start[v]]     = number[v];
  }
}

SysStatus AggDeviceGetLeaving(const AggDevice *g, SysStream stream, SysInt *n, SysInt **vertex, SysInt **number, SysInt ghosts[])
{
  SysScratch starts, list;

  *vertex = *number = NULL;
  SYS_CALL(SysScratchAllocate(&starts, ((size_t)g->n + 1) * sizeof(int), stream));
  AggMarkLeavingKernel<<<SysBlocksLoop(g->n), SYS_THREADS, 0, stream>>>(g->n, g->number, g->firstagg, g->nagg, (int *)starts.memory + 1);
  SYS_CALL(AggDeviceSum(g->n, (int *)starts.memory, stream));
  SYS_CALL(AggDeviceLook((int *)starts.memory, g->n, n, stream));
  SYS_CALL(SysScratchAllocate(&list, 2 * (size_t)*n * sizeof(int), stream));
  AggListLeavingKernel<<<SysBlocksLoop(g->n), SYS_THREADS, 0, stream>>>(g->n, g->number, g->firstagg, g->nagg, (int *)starts.memory, (int *)list.memory, (int *)list.memory + *n);
  SYS_CUDA(cudaGetLastError());
  *vertex = (SysInt *)malloc((2 * (size_t)*n + 1) * sizeof(**vertex));
  if (!*vertex) return SYS_OUT_OF_MEMORY;
  *number = *vertex + *n;
  SYS_CUDA(cudaMemcpyAsync(*vertex, list.memory, 2 * (size_t)*n * sizeof(int), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaMemcpyAsync(ghosts, g->number + g->n, (size_t)g->nghost * sizeof(int), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  return SYS_SUCCESS;
}

SysReal *AggDeviceBlocks(AggDevice *g)
{
  return g->block;
}

static __global__ void AggOwnColumnsKernel(int all, const int *number, int first, int nagg, int *own, int *far)
{
  SYS_FOR_EACH(v, all)
  {
    const int k = number[v] - first;

    own[v] = number[v] >= 0 && k >= 0 && k < nagg ? k : -1;
    far[v] = -1;
  }
}

SysStatus AggDeviceSetColumns(AggDevice *g, SysInt nfar, SysInt n, const SysInt vertex[], const SysInt column[], SysStream stream)
{
  const int  all = g->n + g->nghost;
  SysScratch lists;
  int       *list;

  if (!g->column[0]) SYS_CALL(SysPoolAllocate(2 * (size_t)all * sizeof(int), &g->column[0], stream));
  g->column[1] = g->column[0] + all;
  g->nfar      = nfar;
  SYS_CALL(SysScratchAllocate(&lists, 2 * (size_t)n * sizeof(int), stream));
  list = (int *)lists.memory;
  SYS_CUDA(cudaMemcpyAsync(list, vertex, (size_t)n * sizeof(int), cudaMemcpyHostToDevice, stream));
  SYS_CUDA(cudaMemcpyAsync(list + n, column, (size_t)n * sizeof(int), cudaMemcpyHostToDevice, stream));
  AggOwnColumnsKernel<<<SysBlocksLoop(all), SYS_THREADS, 0, stream>>>(all, g->number, g->firstagg, g->nagg, g->column[0], g->column[1]);
  SYS_CALL(AggMoveAny(false, n, sizeof(int), list, list + n, g->column[1], stream));
  return SYS_SUCCESS;
}

SysStatus AggDevicePutBlocks(AggDevice *g, SysInt n, const SysInt vertex[], size_t size, const SysReal block[], SysStream stream)
{
  SysArena   arena = {NULL, 0};
  SysScratch scratch;
  int       *list;
  char      *from;

  for (int turn = 0; turn < 2; turn++) {
    SysArenaTake(&arena, &list, (size_t)n);
    SysArenaTake(&arena, &from, (size_t)n * size);
    if (!turn) SYS_CALL(SysArenaAllocateScratch(&arena, &scratch, stream));
  }
  SYS_CUDA(cudaMemcpyAsync(list, vertex, (size_t)n * sizeof(int), cudaMemcpyHostToDevice, stream));
  SYS_CUDA(cudaMemcpyAsync(from, block, (size_t)n * size, cudaMemcpyHostToDevice, stream));
  SYS_CALL(AggMoveAny(false, n, size, list, from, g->block, stream));
  return SYS_SUCCESS;
}
