/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The product with a vector in the AMB format on a CUDA device: one launch, in which one lane writes each row once; the order of additions never changes

   The kernel may start before the previous one in the stream has ended: until AmbMultWait() it reads only the matrix. x may change until then: the
   kernel must not read it through the cache for constant data.

   A block of b values costs its index and b products. Filling multiplies zeros with entries of x in columns where the row has no entry; if such an entry
   of x is not finite, the sum becomes a NaN, and rows whose sum is a NaN are computed again from the CSR arrays.
*/
#include "mat/impls/amb/ambcuda.cuh"

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

/* Waits until the previous work in the stream is done and its results are visible */
static __device__ __forceinline__ void AmbMultWait(void)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
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

/* Sums the products of a lane; loads U steps before it uses the first of them */
template <int B, int U, int KIND, bool ADD>
static __device__ __forceinline__ SysScalar AmbMultSum(const AmbLayout &A, const AmbTask &t, unsigned lane, int group, const SysScalar *x, const Scale<ADD> &scale)
{
  const unsigned   n    = AMB_TASK_STEPS(t.what);
  const int       *base = A.base + t.step;
  const uint16_t  *idx  = A.idx + (size_t)SYS_WARP * t.idx + (KIND == AMB_WIDE ? 0 : lane);
  const int       *wide = (const int *)idx + lane;
  const SysScalar *val  = A.val + (size_t)SYS_WARP * B * t.step + lane;
  SysScalar        sum  = 0;

  for (unsigned s = 0; s < n; s += U) {
    SysScalar v[U][B];
    int       c[U];

#pragma unroll
    for (int u = 0; u < U; u++) {
      if (s + u < n) {
        if (KIND == AMB_DIAGONAL) c[u] = group + __ldg(base + s + u);
        if (KIND == AMB_NARROW) c[u] = __ldg(base + s + u) + LoadOnce(idx + SYS_WARP * (s + u));
        if (KIND == AMB_WIDE) c[u] = LoadOnce(wide + SYS_WARP * (s + u));
#pragma unroll
        for (int k = 0; k < B; k++) v[u][k] = LoadOnce(val + (size_t)SYS_WARP * ((s + u) * B + k));
      }
    }
    if (s == 0) {
      AmbMultWait();
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
    AmbMultWait();
    sum = scale.Begin();
  }
  return sum;
}

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

template <int B, int U, int BLOCKS, bool ADD>
static __global__ void __launch_bounds__(AMB_MOST_THREADS, ADD &&BLOCKS == 6 ? 5 : BLOCKS) AmbMultMult(const __grid_constant__ AmbLayout A, const __grid_constant__ AmbArrays csr, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z)
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
  if (kind == AMB_NARROW) sum = AmbMultSum<B, U, AMB_NARROW, ADD>(A, t, lane, 0, x, scale);
  else if (kind == AMB_DIAGONAL) sum = AmbMultSum<B, U, AMB_DIAGONAL, ADD>(A, t, lane, scale.row - scale.row % A.row_group, x, scale);
  else sum = AmbMultSum<B, U, AMB_WIDE, ADD>(A, t, lane, 0, x, scale);
  sum = AmbMultWarpSum(sum, rows);
  if (AMB_TASK_SPLIT(t.what)) {
    const AmbSplit split = A.split[t.slot];

    scale.row = AmbRowAt(A.perm, split.slot);
    if (!AmbMultLastPiece(A, csr, split, ADD ? alpha : 1, scale.row, t.slot, w, lane, x, &sum)) return;
    if (ADD) sum += beta * y[scale.row];
  } else {
    if (!scale.owner) return;
    if (sum != sum) sum = scale.Begin() + RowSum(csr, ADD ? alpha : 1, scale.row, x, 0, 1);
  }
  z[scale.row] = scale.End(sum);
}

typedef cudaError_t (*Launcher)(const AmbLayout *, int, int, const AmbArrays *, SysScalar, const SysScalar *, SysScalar, const SysScalar *, SysScalar *, cudaStream_t);

template <int B, int U, int BLOCKS>
static cudaError_t AmbMultLaunch(const AmbLayout *A, int threads, int early, const AmbArrays *csr, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, cudaStream_t stream)
{
  const unsigned      warps  = (unsigned)threads / SYS_WARP;
  cudaLaunchConfig_t  config = {};
  cudaLaunchAttribute attribute;

  attribute.id                                         = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  config.gridDim                                       = (A->ntask + warps - 1) / warps;
  config.blockDim                                      = (unsigned)threads;
  config.stream                                        = stream;
  config.attrs                                         = &attribute;
  config.numAttrs                                      = early ? 1 : 0;
  if (beta == 0) return cudaLaunchKernelEx(&config, AmbMultMult<B, U, BLOCKS, false>, *A, *csr, alpha, x, beta, y, z);
  return cudaLaunchKernelEx(&config, AmbMultMult<B, U, BLOCKS, true>, *A, *csr, alpha, x, beta, y, z);
}

/* z = alpha A x + beta y. The deep kernels have more loads in flight in each of fewer threads. The kernel may start early only if the matrix was not
   written since the last product. */
SysStatus AmbDeviceLaunch(const AmbLayout *A, int threads, int deep, int early, const AmbArrays *csr, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, cudaStream_t stream)
{
  static const Launcher launchers[AMB_MAX_BLOCK][2] = {
    {AmbMultLaunch<1,  4, 6>, AmbMultLaunch<1,  8, 4>},
    {AmbMultLaunch<2,  2, 5>, AmbMultLaunch<2,  4, 4>},
    {AmbMultLaunch<3,  2, 6>, AmbMultLaunch<3,  3, 4>},
    {AmbMultLaunch<4,  1, 4>, AmbMultLaunch<4,  2, 4>},
    {AmbMultLaunch<5,  1, 4>, AmbMultLaunch<5,  2, 4>},
    {AmbMultLaunch<6,  1, 4>, AmbMultLaunch<6,  3, 2>},
    {AmbMultLaunch<7,  1, 4>, AmbMultLaunch<7,  3, 2>},
    {AmbMultLaunch<8,  1, 4>, AmbMultLaunch<8,  3, 2>},
    {AmbMultLaunch<9,  1, 4>, AmbMultLaunch<9,  3, 2>},
    {AmbMultLaunch<10, 1, 4>, AmbMultLaunch<10, 3, 2>}
  };

  if (!A->ntask) return SYS_SUCCESS;
  SYS_CUDA((*launchers[A->block_size - 1][deep])(A, threads, early, csr, alpha, x, beta, y, z, stream));
  return SYS_SUCCESS;
}
