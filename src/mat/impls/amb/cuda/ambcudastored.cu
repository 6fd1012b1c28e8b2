/* SPDX-License-Identifier: BSD-2-Clause */
/*
   AMB products on a CUDA device with values in a table, or rounded to single precision: kernels with one more argument than those for plain values

   ambhost.h has the idea.
*/
#include "mat/impls/amb/cuda/ambcudamult.cuh"

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
static __device__ __forceinline__ float4 LoadOnce(const float4 *p)
{
  float4 v;

  asm volatile("ld.global.nc.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(p));
  return v;
}
#endif

/* Sums a lane's products, in the same order as for plain values. A lane has the values of its block in four steps in B words, so one load gets four
   values; a task's last steps, up to three, are stored one by one. Store decodes the words: types Word and Small (four values, one value), Of(w, q)
   value q of a word, and the value of a Small. */
template <class Store, int B, int U, int KIND, bool ADD>
static __device__ __forceinline__ SysScalar AmbMultQuads(const AmbLayout &A, const AmbStored &S, const AmbTask &t, unsigned lane, int group, const SysScalar *x, const Scale<ADD> &scale)
{
  constexpr int                G = U / AMB_QUAD; /* quads that are loaded together */
  const unsigned               n = AMB_TASK_STEPS(t.what), full = n / AMB_QUAD * AMB_QUAD;
  const Columns<KIND>          columns(A, t, lane, group);
  const typename Store::Small *small = (const typename Store::Small *)S.small + (size_t)SYS_WARP * B * t.step;
  const Store                  store(S);
  typename Store::Last         last[AMB_QUAD - 1][B];
  int                          clast[AMB_QUAD - 1];
  SysScalar                    sum = 0;

  const auto load_last = [&] {
#pragma unroll
    for (int u = 0; u < AMB_QUAD - 1; u++) {
      if (full + u < n) {
        clast[u] = columns.At(full + u, 0);
#pragma unroll
        for (int k = 0; k < B; k++) last[u][k] = LoadOnce(small + (size_t)SYS_WARP * ((full + u) * B + k) + lane);
      }
    }
  };

  if (B == 1) load_last(); /* longer blocks would need too many registers */
  for (unsigned s = 0; s < full; s += G * AMB_QUAD) {
    typename Store::Word word[G][B];
    int                  c[G][AMB_QUAD];

#pragma unroll
    for (int g = 0; g < G; g++) {
      if (s + g * AMB_QUAD < full) {
        const typename Store::Word *words = (const typename Store::Word *)(small + (size_t)SYS_WARP * B * (s + g * AMB_QUAD)) + lane;

#pragma unroll
        for (int k = 0; k < B; k++) word[g][k] = LoadOnce(words + SYS_WARP * k);
#pragma unroll
        for (int u = 0; u < AMB_QUAD; u++) c[g][u] = columns.At(s + g * AMB_QUAD + u, 0);
      }
    }
    if (s == 0) {
      SysWait();
      sum = scale.Begin();
    }
#pragma unroll
    for (int g = 0; g < G; g++) {
      if (s + g * AMB_QUAD < full) {
#pragma unroll
        for (int k = 0; k < AMB_QUAD * B; k++) sum += scale.Product(store.Of(word[g][k / 4], k % 4), x[c[g][k / B] + k % B]);
      }
    }
  }
  if (full == 0) {
    SysWait();
    sum = scale.Begin();
  }
  if (B > 1) load_last();
#pragma unroll
  for (int u = 0; u < AMB_QUAD - 1; u++) {
    if (full + u < n) {
#pragma unroll
      for (int k = 0; k < B; k++) sum += scale.Product(store.Of(last[u][k]), x[clast[u] + k]);
    }
  }
  return sum;
}

template <class Store, int B, int U, bool ADD>
struct Quads {
  const AmbStored &S;

  template <int KIND>
  __device__ __forceinline__ SysScalar Of(const AmbLayout &A, const AmbTask &t, unsigned lane, int group, const SysScalar *x, const Scale<ADD> &scale) const
  {
    return AmbMultQuads<Store, B, U, KIND, ADD>(A, S, t, lane, group, x, scale);
  }
};

template <template <int, int, bool> class Sum, int B, int U, int BLOCKS, bool ADD>
static __global__ void __launch_bounds__(AMB_MOST_THREADS, AMB_RESIDENT_BLOCKS(ADD &&BLOCKS == 6 ? 5 : BLOCKS)) AmbStoredMult(const __grid_constant__ AmbLayout A, const __grid_constant__ AmbStored S, const __grid_constant__ AmbArrays csr, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z)
{
  AmbMultTask<ADD, false>(A, csr, alpha, x, beta, y, z, NULL, Sum<B, U, ADD>{S});
}

template <template <int, int, bool> class Sum, int B, int U, int BLOCKS>
static cudaError_t AmbStoredLaunch(const AmbLayout *A, const AmbStored *S, int threads, int early, const AmbArrays *csr, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, cudaStream_t stream)
{
  const AmbMultConfig c(A->ntask, threads, early, stream);

  if (beta == 0) return cudaLaunchKernelEx(&c.config, AmbStoredMult<Sum, B, U, BLOCKS, false>, *A, *S, *csr, alpha, x, beta, y, z);
  return cudaLaunchKernelEx(&c.config, AmbStoredMult<Sum, B, U, BLOCKS, true>, *A, *S, *csr, alpha, x, beta, y, z);
}

/* ------------------------------------------------- values in a table ------------------------------------------------- */

struct Table {
  typedef unsigned Word, Last;
  typedef uint8_t  Small;
  const SysScalar *table;

  __device__ __forceinline__           Table(const AmbStored &S) : table(S.table) { }
  __device__ __forceinline__ SysScalar Of(unsigned word, int q) const { return __ldg(table + (word >> 8 * q & 255u)); }
  __device__ __forceinline__ SysScalar Of(unsigned position) const { return __ldg(table + position); }
};

template <int B, int U, bool ADD>
using Positions = Quads<Table, B, U, ADD>;

/* Kernels load four steps at a time, deep ones eight */
const AmbLaunchers AmbLaunchersPositions = {
  {AmbStoredLaunch<Positions, 1,  4, 6>, AmbStoredLaunch<Positions, 1,  8, 4>},
  {AmbStoredLaunch<Positions, 2,  4, 5>, AmbStoredLaunch<Positions, 2,  8, 4>},
  {AmbStoredLaunch<Positions, 3,  4, 4>, AmbStoredLaunch<Positions, 3,  8, 3>},
  {AmbStoredLaunch<Positions, 4,  4, 4>, AmbStoredLaunch<Positions, 4,  8, 3>},
  {AmbStoredLaunch<Positions, 5,  4, 4>, AmbStoredLaunch<Positions, 5,  8, 3>},
  {AmbStoredLaunch<Positions, 6,  4, 4>, AmbStoredLaunch<Positions, 6,  8, 2>},
  {AmbStoredLaunch<Positions, 7,  4, 4>, AmbStoredLaunch<Positions, 7,  8, 2>},
  {AmbStoredLaunch<Positions, 8,  4, 4>, AmbStoredLaunch<Positions, 8,  8, 2>},
  {AmbStoredLaunch<Positions, 9,  4, 4>, AmbStoredLaunch<Positions, 9,  8, 2>},
  {AmbStoredLaunch<Positions, 10, 4, 3>, AmbStoredLaunch<Positions, 10, 8, 2>}
};

/* ------------------------------------------------- rounded values ------------------------------------------------- */

#if defined(SYS_HAVE_STORAGE_SINGLE)
template <int B, int U, bool ADD>
struct Floats {
  const AmbStored &S;

  __device__ __forceinline__ const float *Stored(const AmbLayout &) const { return (const float *)S.small; }
  template <int KIND>
  __device__ __forceinline__ SysScalar Of(const AmbLayout &A, const AmbTask &t, unsigned lane, int group, const SysScalar *x, const Scale<ADD> &scale) const
  {
    return AmbMultSum<B, U, KIND, ADD>(A, *this, t, lane, group, x, scale);
  }
};

/* Longer blocks: one load gets four values. Short blocks are slower this way. */
struct Rounded {
  typedef float4 Word;
  typedef float  Small, Last;

  __device__ __forceinline__           Rounded(const AmbStored &) { }
  __device__ __forceinline__ SysScalar Of(const float4 &word, int q) const { return q == 0 ? word.x : q == 1 ? word.y : q == 2 ? word.z : word.w; }
  __device__ __forceinline__ SysScalar Of(float value) const { return value; }
};

template <int B, int U, bool ADD>
using Rounds = Quads<Rounded, B, U, ADD>;

/* Quad kernels load four steps at a time, deep ones eight; deep ones of rounded values for blocks of 7, 9 and 10 were slower */
const AmbLaunchers AmbLaunchersSingle = {
  {AmbStoredLaunch<Floats, 1,  4, 6>, AmbStoredLaunch<Floats, 1,  8, 4>},
  {AmbStoredLaunch<Floats, 2,  2, 5>, AmbStoredLaunch<Floats, 2,  4, 4>},
  {AmbStoredLaunch<Floats, 3,  2, 6>, AmbStoredLaunch<Floats, 3,  3, 4>},
  {AmbStoredLaunch<Rounds, 4,  4, 4>, AmbStoredLaunch<Rounds, 4,  8, 3>},
  {AmbStoredLaunch<Rounds, 5,  4, 4>, AmbStoredLaunch<Rounds, 5,  8, 2>},
  {AmbStoredLaunch<Rounds, 6,  4, 3>, AmbStoredLaunch<Rounds, 6,  8, 2>},
  {AmbStoredLaunch<Rounds, 7,  4, 3>, AmbStoredLaunch<Rounds, 7,  4, 3>},
  {AmbStoredLaunch<Rounds, 8,  4, 3>, AmbStoredLaunch<Rounds, 8,  8, 2>},
  {AmbStoredLaunch<Rounds, 9,  4, 3>, AmbStoredLaunch<Rounds, 9,  4, 3>},
  {AmbStoredLaunch<Rounds, 10, 4, 3>, AmbStoredLaunch<Rounds, 10, 4, 3>}
};
#endif
