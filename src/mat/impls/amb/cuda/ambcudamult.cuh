/* SPDX-License-Identifier: BSD-2-Clause */
/*
   SpMV in AMB on a CUDA device (layout: ambcuda.cuh): one launch; one lane writes each row once; the order of additions is fixed.

   Early start. The kernel may start before its predecessor in the stream ends: until SysWait() it reads only the matrix. x may change until then, so
   the kernel must not read x through the read-only cache.

   Non-finite entries of x. Filling multiplies zeros with entries of x in columns where the row has no entry. The kernel recomputes rows whose sum is
   a NaN from CSR.
*/
#pragma once

#include "mat/impls/amb/cuda/ambcuda.cuh"

/* Loads values and indices past the first-level cache, which x uses: each is used once */
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

#if !defined(SYS_SINGLE)
static __device__ __forceinline__ float LoadOnce(const float *p)
{
  float v;

  asm volatile("ld.global.nc.L1::no_allocate.f32 %0, [%1];" : "=f"(v) : "l"(p));
  return v;
}
#endif

/* With ADD the sum begins with y and alpha multiplies each product; otherwise alpha multiplies the sum. Loading y at the end would cost a latency,
   and holding it registers. */
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

/* A lane's columns */
template <int KIND>
struct Columns {
  const int      *base, *wide;
  const uint16_t *idx;
  int             group;

  __device__ __forceinline__     Columns(const AmbLayout &A, const AmbTask &t, unsigned lane, int g) : base(A.base + t.step), idx(A.idx + (size_t)SYS_WARP * t.idx + (KIND == AMB_WIDE ? 0 : lane)), group(g) { wide = (const int *)idx + lane; }
  __device__ __forceinline__ int At(unsigned s, int u) const /* of step s + u */
  {
    if (KIND == AMB_DIAGONAL) return group + __ldg(base + s + u);
    if (KIND == AMB_NARROW) return __ldg(base + s + u) + LoadOnce(idx + SYS_WARP * (s + u));
    return LoadOnce(wide + SYS_WARP * (s + u));
  }
};

/* Sums a lane's products; loads U steps before it uses the first. values.Stored(A) are the stored values, of type SysScalar or float */
template <int B, int U, int KIND, bool ADD, class Values>
static __device__ __forceinline__ SysScalar AmbMultSum(const AmbLayout &A, const Values &values, const AmbTask &t, unsigned lane, int group, const SysScalar *x, const Scale<ADD> &scale)
{
  const unsigned      n = AMB_TASK_STEPS(t.what);
  const Columns<KIND> columns(A, t, lane, group);
  const auto         *val = values.Stored(A) + (size_t)SYS_WARP * B * t.step + lane;
  SysScalar           sum = 0;

  for (unsigned s = 0; s < n; s += U) {
    SysScalar v[U][B];
    int       c[U];

#pragma unroll
    for (int u = 0; u < U; u++) {
      if (s + u < n) {
        c[u] = columns.At(s, u);
#pragma unroll
        for (int k = 0; k < B; k++) v[u][k] = LoadOnce(val + (size_t)SYS_WARP * ((s + u) * B + k));
      }
    }
    if (s == 0) {
      SysWait();
      sum = scale.Begin();
    }
#pragma unroll
    for (int u = 0; u < U; u++) {
      if (s + u < n) {
#pragma unroll
        for (int k = 0; k < B; k++) sum += scale.Product(v[u][k], x[c[u] + k]);
      }
    }
  }
  if (n == 0) {
    SysWait();
    sum = scale.Begin();
  }
  return sum;
}

/* Returns the sum over a row's entries first, first + stride, ... */
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

/* Stores the sum of one piece of a split row. In the task that ends last, lane 0 gets the sum of all pieces and returns true; it stores the row. */
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

/* Runs one task: lane_sum computes the sums, the rest stores them. With DOT, and if parts is not NULL, each task stores its part of x.z; a split row's
   part belongs to its first task. */
template <bool ADD, bool DOT, class Sum>
static __device__ __forceinline__ void AmbMultTask(const AmbLayout &A, const AmbArrays &csr, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, SysScalar *parts, const Sum &lane_sum)
{
  const unsigned w = (blockIdx.x * blockDim.x + threadIdx.x) / SYS_WARP, lane = threadIdx.x % SYS_WARP;
  const bool     dot   = DOT || parts;
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
    if (dot && lane == 0 && w != split.task) parts[w] = 0;
    if (!AmbMultLastPiece(A, csr, split, ADD ? alpha : 1, scale.row, t.slot, w, lane, x, &sum)) return;
    if (ADD) sum += beta * y[scale.row];
    if (dot) parts[split.task] = x[scale.row] * scale.End(sum);
  } else {
    if (!dot && !scale.owner) return;
    if (sum != sum) sum = scale.Begin() + RowSum(csr, ADD ? alpha : 1, scale.row, x, 0, 1);
    if (dot) {
      const SysScalar part = AmbMultWarpSum(scale.owner ? x[scale.row] * scale.End(sum) : 0, 1);

      if (lane == 0) parts[w] = part;
      if (!scale.owner) return;
    }
  }
  z[scale.row] = scale.End(sum);
}

/* The grid and the attributes of a launch. early: see AmbDeviceLaunch(). */
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
