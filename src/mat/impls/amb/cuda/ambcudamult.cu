/* SPDX-License-Identifier: BSD-2-Clause */
/*
   AMB products on a CUDA device with plain values

   ambhost.h has the idea.
*/
#include "mat/impls/amb/cuda/ambcudaplain.cuh"

template <int B, int U, int BLOCKS, bool ADD>
static __global__ void __launch_bounds__(AMB_MOST_THREADS, AMB_RESIDENT_BLOCKS(ADD &&BLOCKS == 6 ? 5 : BLOCKS)) AmbMultMult(const __grid_constant__ AmbLayout A, const __grid_constant__ AmbArrays csr, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z)
{
  AmbMultTask<ADD, false>(A, csr, alpha, x, beta, y, z, NULL, Sum<B, U, ADD>());
}

template <int B, int U, int BLOCKS>
static cudaError_t AmbMultLaunch(const AmbLayout *A, const AmbStored *, int threads, int early, const AmbArrays *csr, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, cudaStream_t stream)
{
  const AmbMultConfig c(A->ntask, threads, early, stream);

  if (beta == 0) return cudaLaunchKernelEx(&c.config, AmbMultMult<B, U, BLOCKS, false>, *A, *csr, alpha, x, beta, y, z);
  return cudaLaunchKernelEx(&c.config, AmbMultMult<B, U, BLOCKS, true>, *A, *csr, alpha, x, beta, y, z);
}

const AmbLaunchers AmbLaunchersPlain = AMB_PLAIN_LAUNCHERS(AmbMultLaunch);
