/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The kernels of AMB products with plain values: the lanes' sums, and the table of launchers
*/
#pragma once

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
