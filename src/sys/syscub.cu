/* SPDX-License-Identifier: BSD-2-Clause */
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>

#include "sys/syscub.cuh"
#include "sys/syscuda.cuh"

template <class Key>
cudaError_t SysSortPairs(void *work, size_t &bytes, const Key *key, Key *sorted, const int *value, int *permuted, int n, int end, cudaStream_t stream)
{
  return cub::DeviceRadixSort::SortPairs(work, bytes, key, sorted, value, permuted, n, 0, end, stream);
}

template cudaError_t SysSortPairs(void *, size_t &, const int *, int *, const int *, int *, int, int, cudaStream_t);
template cudaError_t SysSortPairs(void *, size_t &, const unsigned char *, unsigned char *, const int *, int *, int, int, cudaStream_t);

cudaError_t SysSortPairs(void *work, size_t &bytes, const unsigned *key, unsigned *sorted, const uint16_t *value, uint16_t *permuted, int n, int end, cudaStream_t stream)
{
  return cub::DeviceRadixSort::SortPairs(work, bytes, key, sorted, value, permuted, n, 0, end, stream);
}

cudaError_t SysSortPairsDescending(void *work, size_t &bytes, const unsigned *key, unsigned *sorted, const int *value, int *permuted, int n, int end, cudaStream_t stream)
{
  return cub::DeviceRadixSort::SortPairsDescending(work, bytes, key, sorted, value, permuted, n, 0, end, stream);
}

static __global__ void __launch_bounds__(SYS_THREADS) SysNumberKernel(int64_t n, int *list)
{
  SYS_FOR_EACH(k, n) list[k] = (int)k;
}

cudaError_t SysNumber(int64_t n, int *list, cudaStream_t stream)
{
  SysNumberKernel<<<SysBlocksLoop(n), SYS_THREADS, 0, stream>>>(n, list);
  return cudaPeekAtLastError();
}

cudaError_t SysSortKeys(void *work, size_t &bytes, unsigned long long *key[2], int n, int end, cudaStream_t stream)
{
  cub::DoubleBuffer<unsigned long long> buffer(key[0], key[1]);
  const cudaError_t                     error = cub::DeviceRadixSort::SortKeys(work, bytes, buffer, n, 0, end, stream);

  key[0] = buffer.Current();
  key[1] = buffer.Alternate();
  return error;
}

cudaError_t SysUnique(void *work, size_t &bytes, const unsigned long long *key, unsigned long long *unique, int64_t *count, int n, cudaStream_t stream)
{
  return cub::DeviceSelect::Unique(work, bytes, key, unique, count, n, stream);
}

template <class T>
cudaError_t SysExclusiveSum(void *work, size_t &bytes, const T *number, T *sum, int n, cudaStream_t stream)
{
  return cub::DeviceScan::ExclusiveSum(work, bytes, number, sum, n, stream);
}

template cudaError_t SysExclusiveSum(void *, size_t &, const int *, int *, int, cudaStream_t);
template cudaError_t SysExclusiveSum(void *, size_t &, const int64_t *, int64_t *, int, cudaStream_t);

/* The same bits as sums of int64_t */
template <>
cudaError_t SysExclusiveSum(void *work, size_t &bytes, const unsigned long long *number, unsigned long long *sum, int n, cudaStream_t stream)
{
  return SysExclusiveSum(work, bytes, (const int64_t *)number, (int64_t *)sum, n, stream);
}

cudaError_t SysInclusiveSum(void *work, size_t &bytes, const int *number, int *sum, int n, cudaStream_t stream)
{
  return cub::DeviceScan::InclusiveSum(work, bytes, number, sum, n, stream);
}

struct AddFive {
  __host__ __device__ SysFive operator()(const SysFive &a, const SysFive &b) const
  {
    const SysFive c = {
      {a.of[0] + b.of[0], a.of[1] + b.of[1], a.of[2] + b.of[2], a.of[3] + b.of[3], a.of[4] + b.of[4]}
    };

    return c;
  }
};

cudaError_t SysExclusiveSumFive(void *work, size_t &bytes, SysFive *number, int n, cudaStream_t stream)
{
  const SysFive zero = {
    {0, 0, 0, 0, 0}
  };

  return cub::DeviceScan::ExclusiveScan(work, bytes, number, number, AddFive(), zero, n, stream);
}

cudaError_t SysReduceSum(void *work, size_t &bytes, const int *number, long long *sum, int n, cudaStream_t stream)
{
  return cub::DeviceReduce::Sum(work, bytes, number, sum, n, stream);
}

struct IsMarked {
  const uint64_t                 *mark;
  __device__ __forceinline__ bool operator()(int v) const { return mark[v] != 0; }
};

cudaError_t SysSelectMarked(void *work, size_t &bytes, const uint64_t *mark, const int *list, int *selected, int *count, int n, cudaStream_t stream)
{
  return cub::DeviceSelect::If(work, bytes, list, selected, count, n, IsMarked{mark}, stream);
}

struct ReachesTop {
  const SysScalar *x;
  SysTopBound      bound;

  __device__ bool operator()(int k) const
  {
    const SysTopKey key = SysTopKnown(SysTopKeyOf(x, k), bound);

    return key.value != bound.bits.value ? key.value > bound.bits.value : key.position >= bound.bits.position;
  }
};

cudaError_t SysSelectTop(void *work, size_t &bytes, const SysScalar *x, SysTopBound bound, int *position, int *count, int n, cudaStream_t stream)
{
  return cub::DeviceSelect::If(work, bytes, thrust::counting_iterator<int>(0), position, count, n, ReachesTop{x, bound}, stream);
}
