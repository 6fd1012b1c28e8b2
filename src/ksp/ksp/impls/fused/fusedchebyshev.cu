/* SPDX-License-Identifier: BSD-2-Clause */
#include "sys/syscuda.cuh"
#include "ksp/ksp/impls/fused/fusedcuda.h"

/* Without PRODUCTS, neither w nor p are read; without OLDER, z is not read */
template <FusedKind KIND, bool PRODUCTS, bool OLDER>
static __global__ void __launch_bounds__(SYS_THREADS) FusedChebyshevKernel(const FusedPass f)
{
  const SysReal *r = f.v[FUSED_R], *w = f.v[FUSED_W], *p = f.v[FUSED_P], *z = f.v[FUSED_Z];

  SYS_FOR_EACH(k, f.n)
  {
    SysReal sum = 0;

    if (KIND == FUSED_BLOCKS) {
      const int64_t first = k - k % f.bs;

      for (int j = 0; j < f.bs; j++) sum += f.d[j * f.n + k] * (PRODUCTS ? r[first + j] - w[first + j] : r[first + j]);
    } else {
      sum = PRODUCTS ? r[k] - w[k] : r[k];
      if (KIND == FUSED_POINT) sum *= f.d[k];
    }
    sum *= f.a;
    if (OLDER) sum += f.c * z[k];
    if (PRODUCTS) sum += f.b * p[k];
    f.v[FUSED_X][k] = sum;
  }
}

static __global__ void __launch_bounds__(SYS_THREADS) FusedUnitKernel(int64_t n, int bs, int j, SysReal *v)
{
  SYS_FOR_EACH(k, n) v[k] = k % bs == j;
}

template <FusedKind KIND>
static SysStatus FusedChebyshevLaunch(const FusedPass *f, cudaStream_t stream)
{
  const unsigned blocks = SysBlocksLoop(f->n);

  if (f->v[FUSED_Z]) FusedChebyshevKernel<KIND, true, true><<<blocks, SYS_THREADS, 0, stream>>>(*f);
  else if (f->v[FUSED_P]) FusedChebyshevKernel<KIND, true, false><<<blocks, SYS_THREADS, 0, stream>>>(*f);
  else FusedChebyshevKernel<KIND, false, false><<<blocks, SYS_THREADS, 0, stream>>>(*f);
  SYS_CUDA(cudaGetLastError());
  return SYS_SUCCESS;
}

SysStatus FusedDeviceChebyshev(const FusedPass *f, SysStream stream)
{
  if (f->kind == FUSED_BLOCKS) return FusedChebyshevLaunch<FUSED_BLOCKS>(f, stream);
  if (f->kind == FUSED_POINT) return FusedChebyshevLaunch<FUSED_POINT>(f, stream);
  return FusedChebyshevLaunch<FUSED_NONE>(f, stream);
}

SysStatus FusedDeviceUnit(int64_t n, int bs, int j, SysReal *v, SysStream stream)
{
  return SysLaunch(FusedUnitKernel, SysBlocksLoop(n), SYS_THREADS, 0, stream, n, bs, j, v);
}
