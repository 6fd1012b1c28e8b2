/* SPDX-License-Identifier: BSD-2-Clause */
/*
   CUB's sorts and sums on a CUDA device, compiled once because the headers of CUB alone take the compiler about 8 s

   As in CUB, a call with work NULL only sets bytes to the size of the work space.
*/
#pragma once

#include <cuda_runtime.h>
#include <stdint.h>

#include "sys/systypes.h"

/* Keys of numbers by size: a number and its position form a key, and all keys differ */

#if defined(SYS_SINGLE)
typedef unsigned SysTopWord;
#else
typedef unsigned long long SysTopWord;
#endif

#define SYS_TOP_VALUE_BITS ((int)(8 * sizeof(SysTopWord)))
#define SYS_TOP_PLACE_BITS 32

/* The larger key is better: the value decides, then the position. NaN has the least word. */
struct SysTopKey {
  SysTopWord value;
  unsigned   position;
};

static __device__ __forceinline__ SysTopKey SysTopKeyOf(const SysScalar *x, int k)
{
  const SysScalar  v   = x[k] + 0; /* -0 becomes 0 */
  const SysTopWord top = (SysTopWord)1 << (SYS_TOP_VALUE_BITS - 1);
#if defined(SYS_SINGLE)
  const SysTopWord bits = __float_as_uint(v);
#else
  const SysTopWord bits = (SysTopWord)__double_as_longlong(v);
#endif

  return {v != v ? 0 : bits & top ? ~bits : bits | top, ~(unsigned)k};
}

/* The digits found so far, and a mask of their bits */
struct SysTopBound {
  SysTopKey bits, known;
};

static __device__ __forceinline__ SysTopKey SysTopKnown(SysTopKey key, SysTopBound bound)
{
  return {key.value & bound.known.value, key.position & bound.known.position};
}

/* Sorts pairs by bits 0 to end - 1 of their keys; equal keys keep their order. Key: int or unsigned char */
template <class Key>
cudaError_t SysSortPairs(void *work, size_t &bytes, const Key *key, Key *sorted, const int *value, int *permuted, int n, int end, cudaStream_t);
cudaError_t SysSortPairs(void *work, size_t &bytes, const unsigned *key, unsigned *sorted, const uint16_t *value, uint16_t *permuted, int n, int end, cudaStream_t);
cudaError_t SysSortPairsDescending(void *work, size_t &bytes, const unsigned *key, unsigned *sorted, const int *value, int *permuted, int n, int end, cudaStream_t);

/* Sets list[k] = k, as the values of pairs whose sort finds an order */
cudaError_t SysNumber(int64_t n, int *list, cudaStream_t);

/* Sorts the n keys in key[0] by bits 0 to end - 1, with key[1] as second buffer; swaps key[0] and key[1] if the sorted keys are in the second one */
cudaError_t SysSortKeys(void *work, size_t &bytes, unsigned long long *key[2], int n, int end, cudaStream_t);

/* Writes one of each run of equal keys, and the number of runs */
cudaError_t SysUnique(void *work, size_t &bytes, const unsigned long long *key, unsigned long long *unique, int64_t *count, int n, cudaStream_t);

/* Sums all numbers before each one, T: int, int64_t or unsigned long long; the inclusive sum also adds the number itself */
template <class T>
cudaError_t SysExclusiveSum(void *work, size_t &bytes, const T *number, T *sum, int n, cudaStream_t);
cudaError_t SysInclusiveSum(void *work, size_t &bytes, const int *number, int *sum, int n, cudaStream_t);

/* The exclusive sums of five numbers at once, in place */
typedef struct {
  unsigned of[5];
} SysFive;
cudaError_t SysExclusiveSumFive(void *work, size_t &bytes, SysFive *number, int n, cudaStream_t);

/* Sums all numbers in 64 bits */
cudaError_t SysReduceSum(void *work, size_t &bytes, const int *number, long long *sum, int n, cudaStream_t);

/* Selects the entries v of the list with mark[v] != 0, and counts them */
cudaError_t SysSelectMarked(void *work, size_t &bytes, const uint64_t *mark, const int *list, int *selected, int *count, int n, cudaStream_t);

/* Selects the positions of the numbers that reach the bound, and counts them */
cudaError_t SysSelectTop(void *work, size_t &bytes, const SysScalar *x, SysTopBound bound, int *position, int *count, int n, cudaStream_t);
