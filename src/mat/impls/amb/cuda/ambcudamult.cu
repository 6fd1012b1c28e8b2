/* SPDX-License-Identifier: BSD-2-Clause */
/*
   AMB products on a CUDA device with plain values
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

/* Deep kernels have more loads in flight in each of fewer threads */
const AmbLaunchers AmbLaunchersPlain = {
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
