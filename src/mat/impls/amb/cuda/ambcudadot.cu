/* SPDX-License-Identifier: BSD-2-Clause */
/*
   AMB products on a CUDA device that also compute x.z, for plain values and stencils

   ambhost.h has the idea.
*/
#include "mat/impls/amb/cuda/ambcudaplain.cuh"

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
