/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Products in the AMB format on a CUDA device whose values are stored as they are
*/
#include "mat/impls/amb/ambcudamult.cuh"

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

template <int B, int U, bool ADD>
struct Sum {
  template <int KIND>
  __device__ __forceinline__ SysScalar Of(const AmbLayout &A, const AmbTask &t, unsigned lane, int group, const SysScalar *x, const Scale<ADD> &scale) const
  {
    return AmbMultSum<B, U, KIND, ADD>(A, t, lane, group, x, scale);
  }
};

template <int B, int U, int BLOCKS, bool ADD>
static __global__ void __launch_bounds__(AMB_MOST_THREADS, ADD &&BLOCKS == 6 ? 5 : BLOCKS) AmbMultMult(const __grid_constant__ AmbLayout A, const __grid_constant__ AmbArrays csr, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z)
{
  AmbMultTask<ADD>(A, csr, alpha, x, beta, y, z, Sum<B, U, ADD>());
}

typedef cudaError_t (*Launcher)(const AmbLayout *, int, int, const AmbArrays *, SysScalar, const SysScalar *, SysScalar, const SysScalar *, SysScalar *, cudaStream_t);

template <int B, int U, int BLOCKS>
static cudaError_t AmbMultLaunch(const AmbLayout *A, int threads, int early, const AmbArrays *csr, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, cudaStream_t stream)
{
  const AmbMultConfig c(A->ntask, threads, early, stream);

  if (beta == 0) return cudaLaunchKernelEx(&c.config, AmbMultMult<B, U, BLOCKS, false>, *A, *csr, alpha, x, beta, y, z);
  return cudaLaunchKernelEx(&c.config, AmbMultMult<B, U, BLOCKS, true>, *A, *csr, alpha, x, beta, y, z);
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
