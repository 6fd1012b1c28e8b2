/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Products in the AMB format on a CUDA device whose values are stored as they are, and the choice of the kernel for any storage
*/
#include "mat/impls/amb/ambcudamult.cuh"

const AmbLaunchers AmbLaunchersPlain = AMB_LAUNCHERS(SYS_STORAGE_PLAIN);

/* z = alpha A x + beta y. The kernel may start early only if the matrix was not written since the last product. */
SysStatus AmbDeviceLaunch(const AmbLayout *A, int threads, int deep, int early, const AmbArrays *csr, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, cudaStream_t stream)
{
#if defined(SYS_HAVE_STORAGE_SINGLE)
  const AmbLaunchers *const launchers[] = {&AmbLaunchersPlain, &AmbLaunchersSingle, &AmbLaunchersPlaces};
#else
  const AmbLaunchers *const launchers[] = {&AmbLaunchersPlain, &AmbLaunchersPlain, &AmbLaunchersPlaces};
#endif

  if (!A->ntask) return SYS_SUCCESS;
  SYS_CUDA(((*launchers[A->stored])[A->block_size - 1][deep])(A, threads, early, csr, alpha, x, beta, y, z, stream));
  return SYS_SUCCESS;
}
