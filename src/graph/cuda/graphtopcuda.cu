/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The largest of many numbers on a CUDA device. A number and its position form a key; all keys differ. The bound that exactly k keys reach is found
   digit by digit, from counts of the keys with the digits found so far. No key is stored.
*/
#include "sys/syscuda.cuh"
#include "sys/syscub.cuh"
#include "graph/cuda/graphcuda.h"

#define TOP_DIGIT_BITS 8
#define TOP_DIGITS     (1 << TOP_DIGIT_BITS)
#define TOP_BLOCKS     1024 /* most thread blocks; each adds its counts to the total */

/* Counts, by the digit at bit `shift`, the keys with the digits found so far */
static __global__ void __launch_bounds__(SYS_THREADS) TopCount(int n, const SysScalar *x, SysTopBound bound, int shift, int in_place, int *count)
{
  __shared__ int mine[TOP_DIGITS];

  for (int d = (int)threadIdx.x; d < TOP_DIGITS; d += SYS_THREADS) mine[d] = 0;
  __syncthreads();
  SYS_FOR_EACH(k, n)
  {
    const SysTopKey key = SysTopKeyOf(x, (int)k), known = SysTopKnown(key, bound);

    if (known.value != bound.bits.value || known.position != bound.bits.position) continue;
    atomicAdd(&mine[(int)((in_place ? key.position : key.value) >> shift) & (TOP_DIGITS - 1)], 1);
  }
  __syncthreads();
  for (int d = (int)threadIdx.x; d < TOP_DIGITS; d += SYS_THREADS) {
    if (mine[d]) atomicAdd(&count[d], mine[d]);
  }
}

static __global__ void __launch_bounds__(SYS_THREADS) TopValues(int k, const SysScalar *x, const int *position, SysScalar *value)
{
  SYS_FOR_EACH(q, k) value[q] = x[position[q]];
}

/* Finds the bound that exactly k keys reach */
static SysStatus TopFind(int n, const SysScalar *x, int k, int *count, SysTopBound *bound, SysStream stream)
{
  const int64_t blocks = SysMin(SysBlocksLoop(n), TOP_BLOCKS);
  int           wanted = k, left = n; /* among the keys with the digits found so far */

  *bound = {
    {0, 0},
    {0, 0}
  };
  for (int bit = SYS_TOP_VALUE_BITS + SYS_TOP_PLACE_BITS - TOP_DIGIT_BITS; bit >= 0 && wanted < left; bit -= TOP_DIGIT_BITS) {
    const int in_place = bit < SYS_TOP_PLACE_BITS, shift = in_place ? bit : bit - SYS_TOP_PLACE_BITS;
    int       counts[TOP_DIGITS], d                      = TOP_DIGITS - 1;

    SYS_CUDA(cudaMemsetAsync(count, 0, sizeof(counts), stream));
    SYS_CALL(SysLaunch(TopCount, blocks, SYS_THREADS, 0, stream, n, x, *bound, shift, in_place, count));
    SYS_CUDA(cudaMemcpyAsync(counts, count, sizeof(counts), cudaMemcpyDeviceToHost, stream));
    SYS_CUDA(cudaStreamSynchronize(stream));
    for (; counts[d] < wanted; d--) wanted -= counts[d];
    left = counts[d];
    if (in_place) {
      bound->bits.position |= (unsigned)d << shift;
      bound->known.position |= (unsigned)(TOP_DIGITS - 1) << shift;
    } else {
      bound->bits.value |= (SysTopWord)d << shift;
      bound->known.value |= (SysTopWord)(TOP_DIGITS - 1) << shift;
    }
  }
  return SYS_SUCCESS;
}

SysStatus GraphTopPositions(int n, const SysScalar *x, int k, int *position, SysScalar *value, SysStream stream)
{
  SysTopBound bound = {
    {0, 0},
    {0, 0}
  };
  SysScratch scratch;
  SysArena   arena = {NULL, 0};
  size_t     bytes = 0;
  int       *count, *positions;
  SysScalar *values;
  char      *temporary;

  SYS_CUDA(SysSelectTop(NULL, bytes, x, bound, NULL, NULL, n, stream));
  for (int turn = 0; turn < 2; turn++) {
    SysArenaTake(&arena, &count, (size_t)TOP_DIGITS);
    SysArenaTake(&arena, &positions, (size_t)k);
    SysArenaTake(&arena, &values, (size_t)k);
    SysArenaTake(&arena, &temporary, bytes);
    if (!turn) SYS_CALL(SysArenaAllocate(&arena));
  }
  scratch.memory = arena.memory;
  SYS_CALL(TopFind(n, x, k, count, &bound, stream));
  SYS_CUDA(SysSelectTop(temporary, bytes, x, bound, positions, count, n, stream));
  SYS_CALL(SysLaunch(TopValues, SysBlocksLoop(k), SYS_THREADS, 0, stream, k, x, positions, values));
  SYS_CUDA(cudaMemcpyAsync(position, positions, (size_t)k * sizeof(*position), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaMemcpyAsync(value, values, (size_t)k * sizeof(*value), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  return SYS_SUCCESS;
}
