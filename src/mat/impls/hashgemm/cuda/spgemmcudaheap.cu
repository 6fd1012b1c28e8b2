/* SPDX-License-Identifier: BSD-2-Clause */
/*
   SpGEMM on the device, accumulator heap, for comparison: rows of few entries in A, one thread a row. The heap holds each row of B's next column
   above the row's number, so equal columns come in the order of A's entries. A row is computed while it is counted.

   spgemmhost.h has the idea.
*/
#include "mat/impls/hashgemm/cuda/spgemmcudateam.cuh"

#define BLOCK 128

/* Replaces the first key and sifts it down */
static __device__ __forceinline__ void HeapSink(unsigned (*heap)[BLOCK], int n, unsigned key)
{
  const int own = (int)threadIdx.x;
  int       q   = 0;

  for (int child = 1; child < n; child = 2 * q + 1) {
    unsigned least = heap[child][own];

    if (child + 1 < n && heap[child + 1][own] < least) least = heap[++child][own];
    if (key < least) break;
    heap[q][own] = least;
    q            = child;
  }
  heap[q][own] = key;
}

/* Appends a key to n and sifts it up */
static __device__ __forceinline__ void HeapRise(unsigned (*heap)[BLOCK], int n, unsigned key)
{
  const int own = (int)threadIdx.x;
  int       q   = n;

  for (int above = (q - 1) / 2; q && heap[above][own] > key; above = (q - 1) / 2) {
    heap[q][own] = heap[above][own];
    q            = above;
  }
  heap[q][own] = key;
}

/* Each thread has its own columns of the shared arrays */
template <int N>
static __global__ void __launch_bounds__(BLOCK) HeapKernel(SpgemmOperands P, const int *rows, int n, const uint2 *range, const unsigned *work, int *size, SpgemmMade made)
{
  __shared__ unsigned heap[N][BLOCK];
  __shared__ int      next[N][BLOCK], last[N][BLOCK];
  const int           own = (int)threadIdx.x, lane = own % SYS_WARP, at = (int)blockIdx.x * BLOCK + own, row = at < n ? rows[at] : -1;
  const int           products = row < 0 ? 0 : (int)work[row], until = TeamUntil<SYS_WARP>(products, lane);
  unsigned long long  base   = 0;
  unsigned            column = SPGEMM_NOWORD, to;
  int                 count = 0, found = 0;
  SysScalar           sum = 0;

  if (lane == SYS_WARP - 1) base = atomicAdd(made.next, (unsigned long long)until);
  to = (unsigned)__shfl_sync(SYS_ALL_LANES, base, SYS_WARP - 1) + (unsigned)(until - products);
  if (row < 0) return;
  const int begin = P.Ai[row], entries = P.Ai[row + 1] - begin, low = (int)range[row].x;

  for (int e = 0; e < entries; e++) {
    const int c = P.Aj[begin + e], from = P.Bi[c], end = P.Bi[c + 1];

    next[e][own] = from + 1;
    last[e][own] = end;
    if (from < end) HeapRise(heap, count++, (unsigned)(P.Bj[from] - low) << SPGEMM_HEAP_BITS | (unsigned)e);
  }
  while (count) {
    const unsigned key = heap[0][own], e = key & (SPGEMM_HEAP_ENTRIES - 1);
    const int      q = next[e][own];

    if (key >> SPGEMM_HEAP_BITS != column) {
      if (found) made.value[to + (unsigned)found - 1] = sum;
      column                            = key >> SPGEMM_HEAP_BITS;
      made.column[to + (unsigned)found] = low + (int)column;
      found++;
      sum = 0;
    }
    sum = fma(P.Aa[begin + (int)e], P.Ba[q - 1], sum);
    if (q < last[e][own]) {
      next[e][own] = q + 1;
      HeapSink(heap, count, (unsigned)(P.Bj[q] - low) << SPGEMM_HEAP_BITS | e);
    } else if (--count) HeapSink(heap, count, heap[count][own]);
  }
  if (found) made.value[to + (unsigned)found - 1] = sum;
  size[row]       = found;
  made.place[row] = to;
}

SysStatus SpgemmDeviceHeapRows(const SpgemmOperands *P, int bin, const int *rows, int n, const uint2 *range, const unsigned *work, int *size, const SpgemmMade *made, cudaStream_t stream)
{
  if (bin == COUNT_HEAP_8) return SysLaunch(HeapKernel<8>, SysBlocks(n, BLOCK), BLOCK, 0, stream, *P, rows, n, range, work, size, *made);
  return SysLaunch(HeapKernel<SPGEMM_HEAP_ENTRIES>, SysBlocks(n, BLOCK), BLOCK, 0, stream, *P, rows, n, range, work, size, *made);
}
