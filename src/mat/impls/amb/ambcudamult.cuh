/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The product with a vector in the AMB format on a CUDA device: one launch, in which one lane writes each row once; the order of additions never changes

   The kernel may start before the previous one in the stream has ended: until AmbMultWait() it reads only the matrix. x may change until then: the
   kernel must not read it through the cache for constant data.

   A block of b values costs its index and b products. Filling multiplies zeros with entries of x in columns where the row has no entry; if such an entry
   of x is not finite, the sum becomes a NaN, and rows whose sum is a NaN are computed again from the CSR arrays.
*/
#pragma once

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

static __device__ __forceinline__ unsigned LoadOnce(const unsigned *p)
{
  unsigned v;

  asm volatile("ld.global.nc.L1::no_allocate.u32 %0, [%1];" : "=r"(v) : "l"(p));
  return v;
}

static __device__ __forceinline__ unsigned LoadOnce(const uint8_t *p)
{
  unsigned v;

  asm volatile("ld.global.nc.L1::no_allocate.u8 %0, [%1];" : "=r"(v) : "l"(p));
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

/* The columns of a lane */
template <int KIND>
struct Columns {
  const int      *base, *wide;
  const uint16_t *idx;
  int             group;

  __device__ __forceinline__     Columns(const AmbLayout &A, const AmbTask &t, unsigned lane, int g) : base(A.base + t.step), idx(A.idx + (size_t)SYS_WARP * t.idx + (KIND == AMB_WIDE ? 0 : lane)), group(g) { wide = (const int *)idx + lane; }
  __device__ __forceinline__ int At(unsigned s) const
  {
    if (KIND == AMB_DIAGONAL) return group + __ldg(base + s);
    if (KIND == AMB_NARROW) return __ldg(base + s) + LoadOnce(idx + SYS_WARP * s);
    return LoadOnce(wide + SYS_WARP * s);
  }
};

/* Values as they are, or floats */
template <SysStorage STORED>
struct Values {
  const SysScalar *at;

  __device__ __forceinline__ Values(const AmbLayout &A) : at(A.val) { }
};

template <>
struct Values<SYS_STORAGE_SINGLE> {
  const float *at;

  __device__ __forceinline__ Values(const AmbLayout &A) : at((const float *)A.small) { }
};

/* Sums the products of a lane; loads U steps before it uses the first of them */
template <int B, int U, SysStorage STORED, int KIND, bool ADD>
static __device__ __forceinline__ SysScalar AmbMultSum(const AmbLayout &A, const AmbTask &t, unsigned lane, int group, const SysScalar *x, const Scale<ADD> &scale)
{
  const unsigned      n = AMB_TASK_STEPS(t.what);
  const Columns<KIND> columns(A, t, lane, group);
  const auto          val = Values<STORED>(A).at + (size_t)SYS_WARP * B * t.step + lane;
  SysScalar           sum = 0;

  for (unsigned s = 0; s < n; s += U) {
    SysScalar v[U][B];
    int       c[U];

#pragma unroll
    for (int u = 0; u < U; u++) {
      if (s + u < n) {
        c[u] = columns.At(s + u);
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

/* The same for places in the table. They are stored as words: a lane has the places of four steps in B words, so that one load brings four places. The last steps
   of a task, up to three, are stored as values are. The order of additions is that of AmbMultSum(). */
#define PLACES_STEPS 4
template <int B, int U, int KIND, bool ADD>
static __device__ __forceinline__ SysScalar AmbMultPlaces(const AmbLayout &A, const AmbTask &t, unsigned lane, int group, const SysScalar *x, const Scale<ADD> &scale)
{
  constexpr int       G = U / PLACES_STEPS; /* groups of four steps that are loaded together */
  const unsigned      n = AMB_TASK_STEPS(t.what), full = n / PLACES_STEPS * PLACES_STEPS;
  const Columns<KIND> columns(A, t, lane, group);
  const uint8_t      *place = (const uint8_t *)A.small + (size_t)SYS_WARP * B * t.step;
  const SysScalar    *table = A.table;
  unsigned            last[PLACES_STEPS - 1][B];
  int                 clast[PLACES_STEPS - 1];
  SysScalar           sum = 0;

  const auto load_last = [&] {
#pragma unroll
    for (int u = 0; u < PLACES_STEPS - 1; u++) {
      if (full + u < n) {
        clast[u] = columns.At(full + u);
#pragma unroll
        for (int k = 0; k < B; k++) last[u][k] = LoadOnce(place + (size_t)SYS_WARP * ((full + u) * B + k) + lane);
      }
    }
  };

  if (B == 1) load_last(); /* with longer blocks they would take too many registers */
  for (unsigned s = 0; s < full; s += G * PLACES_STEPS) {
    unsigned word[G][B];
    int      c[G][PLACES_STEPS];

#pragma unroll
    for (int g = 0; g < G; g++) {
      if (s + g * PLACES_STEPS < full) {
        const unsigned *words = (const unsigned *)(place + (size_t)SYS_WARP * B * (s + g * PLACES_STEPS)) + lane;

#pragma unroll
        for (int k = 0; k < B; k++) word[g][k] = LoadOnce(words + SYS_WARP * k);
#pragma unroll
        for (int u = 0; u < PLACES_STEPS; u++) c[g][u] = columns.At(s + g * PLACES_STEPS + u);
      }
    }
    if (s == 0) {
      AmbMultWait();
      sum = scale.Begin();
    }
#pragma unroll
    for (int g = 0; g < G; g++) {
      if (s + g * PLACES_STEPS < full) {
#pragma unroll
        for (int k = 0; k < PLACES_STEPS * B; k++) sum += scale.Product(__ldg(table + (word[g][k / 4] >> 8 * (k % 4) & 255u)), x[c[g][k / B] + k % B]);
      }
    }
  }
  if (full == 0) {
    AmbMultWait();
    sum = scale.Begin();
  }
  if (B > 1) load_last();
#pragma unroll
  for (int u = 0; u < PLACES_STEPS - 1; u++) {
    if (full + u < n) {
#pragma unroll
      for (int k = 0; k < B; k++) sum += scale.Product(__ldg(table + last[u][k]), x[clast[u] + k]);
    }
  }
  return sum;
}

template <int B, int U, SysStorage STORED, int KIND, bool ADD>
static __device__ __forceinline__ SysScalar AmbMultLane(const AmbLayout &A, const AmbTask &t, unsigned lane, int group, const SysScalar *x, const Scale<ADD> &scale)
{
  if constexpr (STORED == SYS_STORAGE_PLACES) return AmbMultPlaces<B, U, KIND, ADD>(A, t, lane, group, x, scale);
  else return AmbMultSum<B, U, STORED, KIND, ADD>(A, t, lane, group, x, scale);
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

template <int B, int U, int BLOCKS, SysStorage STORED, bool ADD>
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
  if (kind == AMB_NARROW) sum = AmbMultLane<B, U, STORED, AMB_NARROW, ADD>(A, t, lane, 0, x, scale);
  else if (kind == AMB_DIAGONAL) sum = AmbMultLane<B, U, STORED, AMB_DIAGONAL, ADD>(A, t, lane, scale.row - scale.row % A.row_group, x, scale);
  else sum = AmbMultLane<B, U, STORED, AMB_WIDE, ADD>(A, t, lane, 0, x, scale);
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

template <int B, int U, int BLOCKS, SysStorage STORED>
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
  if (beta == 0) return cudaLaunchKernelEx(&config, AmbMultMult<B, U, BLOCKS, STORED, false>, *A, *csr, alpha, x, beta, y, z);
  return cudaLaunchKernelEx(&config, AmbMultMult<B, U, BLOCKS, STORED, true>, *A, *csr, alpha, x, beta, y, z);
}

/* The launchers of a storage, by block size. The deep kernels have more loads in flight in each of fewer threads. */
#define AMB_LAUNCHERS(STORED) \
  { \
    {AmbMultLaunch<1, 4, 6, STORED>, AmbMultLaunch<1, 8, 4, STORED>}, {AmbMultLaunch<2, 2, 5, STORED>, AmbMultLaunch<2, 4, 4, STORED>}, {AmbMultLaunch<3, 2, 6, STORED>, AmbMultLaunch<3, 3, 4, STORED>}, {AmbMultLaunch<4, 1, 4, STORED>, AmbMultLaunch<4, 2, 4, STORED>}, {AmbMultLaunch<5, 1, 4, STORED>, AmbMultLaunch<5, 2, 4, STORED>}, {AmbMultLaunch<6, 1, 4, STORED>, AmbMultLaunch<6, 3, 2, STORED>}, {AmbMultLaunch<7, 1, 4, STORED>, AmbMultLaunch<7, 3, 2, STORED>}, {AmbMultLaunch<8, 1, 4, STORED>, AmbMultLaunch<8, 3, 2, STORED>}, {AmbMultLaunch<9, 1, 4, STORED>, AmbMultLaunch<9, 3, 2, STORED>}, \
    { \
      AmbMultLaunch<10, 1, 4, STORED>, AmbMultLaunch<10, 3, 2, STORED> \
    } \
  }
