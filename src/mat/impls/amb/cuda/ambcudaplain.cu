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

/* The kernels for plain values, [block size - 1][deep]. Deep kernels have more loads in flight in each of fewer threads. Where they were faster on each
   matrix, there is no other. */
/* clang-format off */
#define AMB_PLAIN_LAUNCHERS(Launch) \
  { \
    {Launch<1,  4, 6>, Launch<1,  8, 4>}, \
    {Launch<2,  2, 5>, Launch<2,  4, 4>}, \
    {Launch<3,  2, 6>, Launch<3,  3, 4>}, \
    {Launch<4,  1, 4>, Launch<4,  2, 4>}, \
    {Launch<5,  2, 4>, Launch<5,  2, 4>}, \
    {Launch<6,  3, 2>, Launch<6,  3, 2>}, \
    {Launch<7,  3, 2>, Launch<7,  3, 2>}, \
    {Launch<8,  1, 4>, Launch<8,  3, 2>}, \
    {Launch<9,  1, 4>, Launch<9,  3, 2>}, \
    {Launch<10, 3, 2>, Launch<10, 3, 2>} \
  }
/* clang-format on */

/* Whether one kernel multiplies with x.z and without: in short blocks values would spill, in blocks of 7 products took 1.06 times as long */
#define AMB_JOINT(B) ((B) >= 4 && (B) != 7)

enum {
  AMB_SET, /* z = alpha A x; for joint blocks also x.z if parts is not NULL */
  AMB_ADD, /* z = alpha A x + beta y */
  AMB_DOT  /* z = A x and x.z */
};

template <int B, int U, int BLOCKS, int WHAT>
static __global__ void __launch_bounds__(AMB_MOST_THREADS, AMB_RESIDENT_BLOCKS(WHAT == AMB_ADD && BLOCKS == 6 ? 5 : BLOCKS)) AmbMultMult(const __grid_constant__ AmbLayout A, const __grid_constant__ AmbArrays csr, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, SysScalar *parts)
{
  constexpr bool ADD = WHAT == AMB_ADD, DOT = WHAT == AMB_DOT;

  if (WHAT == AMB_SET && !AMB_JOINT(B)) parts = NULL;
  if (ADD) parts = NULL;
  if (DOT || parts) SysLaunchDependents();
  AmbMultTask<ADD, DOT>(A, csr, DOT ? 1 : alpha, x, beta, y, z, parts, Sum<B, U, ADD>());
}

template <int B, int U, int BLOCKS>
static cudaError_t AmbMultLaunch(const AmbLayout *A, const AmbStored *, int threads, int early, const AmbArrays *csr, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, cudaStream_t stream)
{
  const AmbMultConfig c(A->ntask, threads, early, stream);

  return cudaLaunchKernelEx(&c.config, beta == 0 ? AmbMultMult<B, U, BLOCKS, AMB_SET> : AmbMultMult<B, U, BLOCKS, AMB_ADD>, *A, *csr, alpha, x, beta, y, z, (SysScalar *)NULL);
}

const AmbLaunchers AmbLaunchersPlain = AMB_PLAIN_LAUNCHERS(AmbMultLaunch);

/* ------------------------------------------------- products that also compute x.z ------------------------------------------------- */

typedef cudaError_t (*Launcher)(const AmbLayout *, int, int, const AmbArrays *, const SysScalar *, SysScalar *, SysScalar *, cudaStream_t);

template <int B, int U, int BLOCKS>
static cudaError_t AmbDotLaunch(const AmbLayout *A, int threads, int early, const AmbArrays *csr, const SysScalar *x, SysScalar *z, SysScalar *parts, cudaStream_t stream)
{
  const AmbMultConfig c(A->ntask, threads, early, stream);

  return cudaLaunchKernelEx(&c.config, AmbMultMult < B, U, BLOCKS, AMB_JOINT(B) ? AMB_SET : AMB_DOT >, *A, *csr, (SysScalar)1, x, (SysScalar)0, (const SysScalar *)NULL, z, parts);
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
