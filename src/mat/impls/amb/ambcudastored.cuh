/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The product in the AMB format on a CUDA device with values that are stored in another way than as they are: a kernel with one argument more
*/
#pragma once

#include "mat/impls/amb/ambcudamult.cuh"

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

template <template <int, int, bool> class Sum, int B, int U, int BLOCKS, bool ADD>
static __global__ void __launch_bounds__(AMB_MOST_THREADS, ADD &&BLOCKS == 6 ? 5 : BLOCKS) AmbStoredMult(const __grid_constant__ AmbLayout A, const __grid_constant__ AmbStored S, const __grid_constant__ AmbArrays csr, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z)
{
  AmbMultTask<ADD, false>(A, csr, alpha, x, beta, y, z, NULL, Sum<B, U, ADD>{S});
}

template <template <int, int, bool> class Sum, int B, int U, int BLOCKS>
static cudaError_t AmbStoredLaunch(const AmbLayout *A, const AmbStored *S, int threads, int early, const AmbArrays *csr, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, cudaStream_t stream)
{
  const AmbMultConfig c(A, threads, early, stream);

  if (beta == 0) return cudaLaunchKernelEx(&c.config, AmbStoredMult<Sum, B, U, BLOCKS, false>, *A, *S, *csr, alpha, x, beta, y, z);
  return cudaLaunchKernelEx(&c.config, AmbStoredMult<Sum, B, U, BLOCKS, true>, *A, *S, *csr, alpha, x, beta, y, z);
}
