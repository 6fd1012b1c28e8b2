/* SPDX-License-Identifier: BSD-2-Clause */
/*
   AMB products on a CUDA device with plain values; those that also compute x.z, for plain values and stencils

   ambhost.h has the idea.
*/
#include "mat/impls/amb/cuda/ambcudamult.cuh"

template <int B, int U, bool ADD>
struct Sum {
  __device__ __forceinline__ const SysScalar *Stored(const AmbLayout &A) const { return A.val; }
  template <int KIND>
  __device__ __forceinline__ SysScalar Of(const AmbLayout &A, const AmbTask &t, unsigned lane, int group, const SysScalar *x, const Scale<ADD> &scale) const
  {
    return AmbMultSum<B, U, KIND, ADD>(A, *this, t, lane, group, x, scale);
  }
};

/* The kernels for plain values, [block size - 1][deep]. Deep kernels have more loads in flight in each of fewer threads. */
/* clang-format off */
#define AMB_PLAIN_LAUNCHERS(Launch) \
  { \
    {Launch<1,  4, 6>, Launch<1,  8, 4>}, \
    {Launch<2,  2, 5>, Launch<2,  4, 4>}, \
    {Launch<3,  2, 6>, Launch<3,  3, 4>}, \
    {Launch<4,  1, 4>, Launch<4,  2, 4>}, \
    {Launch<5,  1, 4>, Launch<5,  2, 4>}, \
    {Launch<6,  1, 4>, Launch<6,  3, 2>}, \
    {Launch<7,  1, 4>, Launch<7,  3, 2>}, \
    {Launch<8,  1, 4>, Launch<8,  3, 2>}, \
    {Launch<9,  1, 4>, Launch<9,  3, 2>}, \
    {Launch<10, 1, 4>, Launch<10, 3, 2>} \
  }
/* clang-format on */

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

/* ------------------------------------------------- products that also compute x.z ------------------------------------------------- */

template <int B, int U, int BLOCKS>
static __global__ void __launch_bounds__(AMB_MOST_THREADS, AMB_RESIDENT_BLOCKS(BLOCKS)) AmbDotMult(const __grid_constant__ AmbLayout A, const __grid_constant__ AmbArrays csr, const SysScalar *x, SysScalar *z, SysScalar *parts)
{
  SysLaunchDependents();
  AmbMultTask<false, true>(A, csr, 1, x, 0, NULL, z, parts, Sum<B, U, false>());
}

typedef cudaError_t (*Launcher)(const AmbLayout *, int, int, const AmbArrays *, const SysScalar *, SysScalar *, SysScalar *, cudaStream_t);

template <int B, int U, int BLOCKS>
static cudaError_t AmbDotLaunch(const AmbLayout *A, int threads, int early, const AmbArrays *csr, const SysScalar *x, SysScalar *z, SysScalar *parts, cudaStream_t stream)
{
  const AmbMultConfig c(A->ntask, threads, early, stream);

  return cudaLaunchKernelEx(&c.config, AmbDotMult<B, U, BLOCKS>, *A, *csr, x, z, parts);
}

SysStatus AmbDeviceProductDot(AmbDevice *A, const AmbArrays *arrays, const SysScalar *x, SysScalar *z, SysScalar *parts, int64_t *nparts, cudaStream_t stream)
{
  static const Launcher launchers[AMB_MAX_BLOCK][2] = AMB_PLAIN_LAUNCHERS(AmbDotLaunch);
  const AmbLayout      *L                           = &A->layout;
  const int             early                       = A->early && !A->written;

  *nparts = A->stencil.n || A->stored.stored != SYS_STORAGE_PLAIN ? 0 : L->ntask;
  if (parts && (*nparts || A->stencil.n)) A->written = 0;
  if (A->stencil.n) return AmbStencilLaunchDot(&A->stencil, L->m, A->info.threads, early, arrays, x, z, parts, nparts, stream);
  if (!*nparts || !parts) return SYS_SUCCESS;
  if (A->live) {
    const AmbKernel   k     = AmbLiveBegin(A, 2, stream);
    const cudaError_t error = (*launchers[L->block_size - 1][k.deep])(L, k.threads, early && !k.timed, arrays, x, z, parts, stream);

    if (k.timed) AmbLiveEnd(A, stream);
    SYS_CUDA(error);
    return SYS_SUCCESS;
  }
  SYS_CUDA((*launchers[L->block_size - 1][A->deep])(L, A->info.threads, early, arrays, x, z, parts, stream));
  return SYS_SUCCESS;
}

SysStatus AmbDeviceMultDot(void *data, const SysCSR *csr, const SysScalar *x, SysScalar *z, SysScalar *parts, int64_t *nparts, SysStream stream)
{
  const AmbArrays arrays = {csr->i, csr->j, csr->a, NULL};

  return AmbDeviceProductDot((AmbDevice *)data, &arrays, x, z, parts, nparts, stream);
}
