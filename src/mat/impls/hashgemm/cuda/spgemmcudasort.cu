/* SPDX-License-Identifier: BSD-2-Clause */
/*
   SpGEMM on the device: the pattern of rows of few products with hardly two columns a word. A team of 8, 16 or 32 threads sorts all products' columns
   in registers, and keeps them from the count if memory suffices.

   spgemmhost.h has the idea.
*/
#include "mat/impls/hashgemm/cuda/spgemmcudateam.cuh"

#define BLOCK 128

/* Writes the columns to `to` unless NULL; returns the number of distinct ones to all lanes of the team */
template <int T, int R>
static __device__ __forceinline__ int SortWrite(unsigned key[R], int lane, int *to)
{
  const unsigned shift = threadIdx.x % SYS_WARP - (unsigned)lane, below = (1u << lane) - 1;
  unsigned       last = SPGEMM_NOWORD;
  int            sum  = 0;

  TeamSort<T, R>(key, lane);
#pragma unroll
  for (int r = 0; r < R; r++) {
    unsigned       previous = __shfl_up_sync(SYS_ALL_LANES, key[r], 1, T);
    const unsigned end      = __shfl_sync(SYS_ALL_LANES, key[r], T - 1, T);

    if (lane == 0) previous = last;
    last               = end;
    const bool     is  = key[r] != previous && key[r] != SPGEMM_NOWORD;
    const unsigned all = __ballot_sync(SYS_ALL_LANES, is) >> shift & (SYS_ALL_LANES >> (SYS_WARP - T));
    if (is && to) to[sum + __popc(all & below)] = (int)key[r];
    sum += __popc(all);
  }
  return sum;
}

template <int T, int R>
static __device__ __forceinline__ int SortOneRow(const unsigned *list, int products, int lane, int *to)
{
  unsigned key[R];

#pragma unroll
  for (int r = 0; r < R; r++) key[r] = r * T + lane < products ? list[r * T + lane] : SPGEMM_NOWORD;
  return SortWrite<T, R>(key, lane, to);
}

/* With Ci writes the pattern; otherwise counts, and keeps the columns if there is a place */
template <int T, int R>
static __global__ void __launch_bounds__(BLOCK) SortRowsKernel(SpgemmOperands P, const int *rows, int n, int *size, SpgemmSorted sorted, int64_t offset, const int *Ci, int *Cj)
{
  __shared__ unsigned shared[BLOCK / T][T * R];
  const int           lane = (int)threadIdx.x % T, team = (int)threadIdx.x / T, at = (int)blockIdx.x * (BLOCK / T) + team;
  const int           row = at < n ? rows[at] : -1, begin = row < 0 ? 0 : P.Ai[row], end = row < 0 ? 0 : P.Ai[row + 1];
  unsigned           *list     = shared[team];
  const int64_t       keep     = offset + (int64_t)at * (T * R);
  int                *to       = row < 0 ? NULL : Ci ? Cj + Ci[row] : sorted.column ? sorted.column + keep : NULL;
  int                 products = 0, found;

  TeamForLists<T>(
    P.Aj, begin, end, lane,
    [&](int c, int *from, int *length) {
      *from   = P.Bi[c];
      *length = P.Bi[c + 1] - *from;
    },
    [&](int place, int number) {
      list[number] = (unsigned)P.Bj[place];
      products     = number + 1;
    });
  __syncwarp();
  for (int step = T / 2; step; step /= 2) products = max(products, __shfl_xor_sync(SYS_ALL_LANES, products, step));
  const int most = TeamMost<T>(products);
  if (R > 2 && most <= R / 4 * T) found = SortOneRow<T, R / 4>(list, products, lane, to);
  else if (most <= R / 2 * T) found = SortOneRow<T, R / 2>(list, products, lane, to);
  else found = SortOneRow<T, R>(list, products, lane, to);
  if (row >= 0 && lane == 0 && !Ci) {
    size[row] = found;
    if (sorted.column) sorted.place[row] = (unsigned)(keep / SPGEMM_SORTED_UNIT);
  }
}

template <int T, int R>
static SysStatus SortLaunchRows(const SpgemmOperands *P, const int *rows, int n, int *size, const SpgemmSorted *sorted, int64_t offset, const int *Ci, int *Cj, cudaStream_t stream)
{
  return SysLaunch(SortRowsKernel<T, R>, SysBlocks(n, BLOCK / T), BLOCK, 0, stream, *P, rows, n, size, *sorted, offset, Ci, Cj);
}

int SpgemmDeviceSortRoom(int bin)
{
  return bin == COUNT_SORT_64 ? 64 : bin == COUNT_SORT_128 ? 128 : bin == COUNT_SORT_256 ? 256 : 512;
}

static SysStatus SortAnyRows(const SpgemmOperands *P, int bin, const int *rows, int n, int *size, const SpgemmSorted *sorted, int64_t offset, const int *Ci, int *Cj, cudaStream_t stream)
{
  switch (bin) {
  case COUNT_SORT_64:
    return SortLaunchRows<8, 8>(P, rows, n, size, sorted, offset, Ci, Cj, stream);
  case COUNT_SORT_128:
    return SortLaunchRows<16, 8>(P, rows, n, size, sorted, offset, Ci, Cj, stream);
  case COUNT_SORT_256:
    return SortLaunchRows<32, 8>(P, rows, n, size, sorted, offset, Ci, Cj, stream);
  default:
    return SortLaunchRows<32, 16>(P, rows, n, size, sorted, offset, Ci, Cj, stream);
  }
}

SysStatus SpgemmDeviceSortCount(const SpgemmOperands *P, int bin, const int *rows, int n, int *size, const SpgemmSorted *sorted, int64_t offset, cudaStream_t stream)
{
  return SortAnyRows(P, bin, rows, n, size, sorted, offset, NULL, NULL, stream);
}

SysStatus SpgemmDeviceSortPattern(const SpgemmOperands *P, int bin, const int *rows, int n, const int *Ci, int *Cj, cudaStream_t stream)
{
  const SpgemmSorted none = {NULL, NULL};

  return SortAnyRows(P, bin, rows, n, NULL, &none, 0, Ci, Cj, stream);
}

/* Rows with stored columns */
template <int T>
static __global__ void __launch_bounds__(BLOCK) SortCopyKernel(SpgemmSorted sorted, const int *rows, int n, const int *Ci, int *Cj)
{
  const int at = (int)((blockIdx.x * (int64_t)BLOCK + threadIdx.x) / T), lane = (int)threadIdx.x % T;

  if (at >= n) return;
  const int  row = rows[at], first = Ci[row], size = Ci[row + 1] - first;
  const int *from = sorted.column + (int64_t)sorted.place[row] * SPGEMM_SORTED_UNIT;

#pragma unroll 4
  for (int k = lane; k < size; k += T) Cj[first + k] = from[k];
}

SysStatus SpgemmDeviceSortedPattern(const SpgemmSorted *sorted, bool few, const int *rows, int n, const int *Ci, int *Cj, cudaStream_t stream)
{
  if (few) return SysLaunch(SortCopyKernel<8>, SysBlocks(n, BLOCK / 8), BLOCK, 0, stream, *sorted, rows, n, Ci, Cj);
  return SysLaunch(SortCopyKernel<SYS_WARP>, SysBlocks(n, BLOCK / SYS_WARP), BLOCK, 0, stream, *sorted, rows, n, Ci, Cj);
}
