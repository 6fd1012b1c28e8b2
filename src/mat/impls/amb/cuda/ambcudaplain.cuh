/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The lanes' sums in an AMB product with plain values
*/
#pragma once

#include "mat/impls/amb/cuda/ambcudamult.cuh"

/* Sums a lane's products; loads U steps before it uses the first */
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
      SysWait();
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
    SysWait();
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
