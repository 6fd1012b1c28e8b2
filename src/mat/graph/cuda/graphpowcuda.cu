/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Powers of numbers on a CUDA device
*/
#include "sys/syscuda.cuh"
#include "mat/graph/cuda/graphpowcuda.h"

static __global__ void __launch_bounds__(SYS_THREADS) PowerPass(int64_t n, double power, SysScalar *a)
{
  SYS_FOR_EACH(k, n)
  {
    const double s = fabs((double)a[k]);

    a[k] = (SysScalar)(power == 0 ? 1 : power == 1 ? s : power == 2 ? s * s : pow(s, power));
  }
}

SysStatus GraphPowerDevice(int64_t n, SysReal power, SysScalar *a, SysStream stream)
{
  return SysLaunch(PowerPass, SysBlocksLoop(n), SYS_THREADS, 0, stream, n, (double)power, a);
}
