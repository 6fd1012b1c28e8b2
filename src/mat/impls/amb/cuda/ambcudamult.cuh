/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The product with a vector in the AMB format on a CUDA device: one launch, in which one lane writes each row once; the order of additions never changes

   The kernel may start before the previous one in the stream has ended: until SysWait() it reads only the matrix. x may change until then: the
   kernel must not read it through the cache for constant data.

   A block of b values costs its index and b products. Filling multiplies zeros with entries of x in columns where the row has no entry; if such an entry
   of x is not finite, the sum becomes a NaN, and rows whose sum is a NaN are computed again from the CSR arrays.
*/
#pragma once

#include "mat/impls/amb/cuda/ambcuda.cuh"

/* Loads values and indices, which are used once, past the first-level cache, which is left to x */
static __device__ __forceinline__ SysScalar LoadOnce(const SysScalar *p)
{
  SysScalar v;

#if defined(SYS_SINGLE)
  asm volatile("ld.global.nc.L1::no_allocate.f32 %0, [%1];" : "=f"(v) : "l"(p));
#else
  asm volatile("ld.global.nc.L1::no_allocate.f64 %0, [%1];" : "=d"(v) : "l"(p));
#endif
  return v;
}

static __device__ __forceinline__ int LoadOnce(const int *p)
{
  int v;

  asm volatile("ld.global.nc.L1::no_allocate.s32 %0, [%1];" : "=r"(v) : "l"(p));
  return v;
}

static __device__ __forceinline__ int LoadOnce(const uint16_t *p)
{
  unsigned short v;

  asm volatile("ld.global.nc.L1::no_allocate.u16 %0, [%1];" : "=h"(v) : "l"(p));
  return v;
}

/* If y is added, the sum begins with y: loading y at the end would cost a latency, and keeping it from the beginning registers. alpha is then multiplied with
   each product, otherwise with the sum. */
template <bool ADD>
struct Scale {
  SysScalar        alpha, beta;
  const SysScalar *y;
  int              row;
  bool             owner;

  __device__ __forceinline__ SysScalar Begin() const { return ADD && owner ? beta * y[row] : 0; }
  __device__ __forceinline__ SysScalar Product(SysScalar v, SysScalar x) const { return ADD ? v * (alpha * x) : v * x; }
  __device__ __forceinline__ SysScalar End(SysScalar sum) const { return ADD ? sum : alpha * sum; }
};

/* The sum over the entries of a row from first on, in steps of stride */
static __device__ __noinline__ SysScalar RowSum(const AmbArrays &csr, SysScalar alpha, int row, const SysScalar *x, int first, int stride)
{
  SysScalar s = 0;

  for (int k = csr.i[row] + first; k < csr.i[row + 1]; k += stride) s += AmbEntry(csr, k) * (alpha * x[csr.j[k]]);
  return s;
}

static __device__ __forceinline__ SysScalar AmbMultWarpSum(SysScalar sum, unsigned first)
{
  for (unsigned d = first; d < SYS_WARP; d *= 2) sum += __shfl_xor_sync(SYS_ALL_LANES, sum, d);
  return sum;
}

/* Stores the sum of one piece of a split row. In the task that ends last lane 0 gets the sum of all pieces and returns true: it stores the row. */
static __device__ bool AmbMultLastPiece(const AmbLayout &A, const AmbArrays &csr, const AmbSplit &split, SysScalar alpha, int row, unsigned number, unsigned task, unsigned lane, const SysScalar *x, SysScalar *sum)
{
  volatile SysScalar *partial = A.partial + split.partial;
  unsigned            before  = 0;

  if (lane == 0) {
    partial[task - split.task] = *sum;
    __threadfence();
    before = atomicAdd(A.arrived + number, 1);
  }
  before = __shfl_sync(SYS_ALL_LANES, before, 0);
  if (before != split.pieces - 1) return false;
  __threadfence();
  *sum = 0;
  for (unsigned p = lane; p < split.pieces; p += SYS_WARP) *sum += partial[p];
  *sum = AmbMultWarpSum(*sum, 1);
  if (*sum != *sum) *sum = AmbMultWarpSum(RowSum(csr, alpha, row, x, (int)lane, SYS_WARP), 1);
  if (lane == 0) A.arrived[number] = 0;
  return lane == 0;
}

/* One task: the sums by sum(kind, ...), and what becomes of them. With DOT, each task leaves its part of x.z, a split row that of its first task, whichever ends last. */
template <bool ADD, bool DOT, class Sum>
static __device__ __forceinline__ void AmbMultTask(const AmbLayout &A, const AmbArrays &csr, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, SysScalar *parts, const Sum &lane_sum)
{
  const unsigned w = (blockIdx.x * blockDim.x + threadIdx.x) / SYS_WARP, lane = threadIdx.x % SYS_WARP;
  Scale<ADD>     scale = {alpha, beta, y, 0, false};
  AmbTask        t;
  SysScalar      sum;
  unsigned       rows, kind;

  if (w >= A.ntask) return;
  {
    const uint4 packed = __ldg((const uint4 *)A.task + w);

    t.step = packed.x;
    t.idx  = packed.y;
    t.slot = packed.z;
    t.what = packed.w;
  }
  rows = SYS_WARP >> AMB_TASK_LOGT(t.what);
  kind = AMB_TASK_KIND(t.what);
  if (!AMB_TASK_SPLIT(t.what)) {
    const unsigned slot = t.slot + lane % rows;

    scale.owner = lane < rows && slot < (unsigned)A.m;
    scale.row   = AmbRowAt(A.perm, slot < (unsigned)A.m ? slot : (unsigned)A.m - 1);
  }
  if (kind == AMB_NARROW) sum = lane_sum.template Of<AMB_NARROW>(A, t, lane, 0, x, scale);
  else if (kind == AMB_DIAGONAL) sum = lane_sum.template Of<AMB_DIAGONAL>(A, t, lane, scale.row - scale.row % A.row_group, x, scale);
  else sum = lane_sum.template Of<AMB_WIDE>(A, t, lane, 0, x, scale);
  sum = AmbMultWarpSum(sum, rows);
  if (AMB_TASK_SPLIT(t.what)) {
    const AmbSplit split = A.split[t.slot];

    scale.row = AmbRowAt(A.perm, split.slot);
    if (DOT && lane == 0 && w != split.task) parts[w] = 0;
    if (!AmbMultLastPiece(A, csr, split, ADD ? alpha : 1, scale.row, t.slot, w, lane, x, &sum)) return;
    if (ADD) sum += beta * y[scale.row];
    if (DOT) parts[split.task] = x[scale.row] * scale.End(sum);
  } else {
    if (!DOT && !scale.owner) return;
    if (sum != sum) sum = scale.Begin() + RowSum(csr, ADD ? alpha : 1, scale.row, x, 0, 1);
    if (DOT) {
      const SysScalar part = AmbMultWarpSum(scale.owner ? x[scale.row] * scale.End(sum) : 0, 1);

      if (lane == 0) parts[w] = part;
      if (!scale.owner) return;
    }
  }
  z[scale.row] = scale.End(sum);
}

/* The grid and the attributes of a launch. The kernel may start early only if the matrix was not written since the last product. */
struct AmbMultConfig {
  cudaLaunchConfig_t  config = {};
  cudaLaunchAttribute attribute;

  AmbMultConfig(unsigned ntask, int threads, int early, cudaStream_t stream)
  {
    const unsigned warps = (unsigned)threads / SYS_WARP;

    attribute.id                                         = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    config.gridDim                                       = (ntask + warps - 1) / warps;
    config.blockDim                                      = (unsigned)threads;
    config.stream                                        = stream;
    config.attrs                                         = &attribute;
    config.numAttrs                                      = early ? 1 : 0;
  }
};
