/* SPDX-License-Identifier: BSD-2-Clause */
/*
   AMB products on a CUDA device with values rounded to single precision

   ambhost.h has the idea.
*/
#include "mat/impls/amb/cuda/ambcudastored.cuh"

#if defined(SYS_HAVE_STORAGE_SINGLE)
template <int B, int U, bool ADD>
struct Floats {
  const AmbStored &S;

  __device__ __forceinline__ const float *Stored(const AmbLayout &) const { return (const float *)S.small; }
  template <int KIND>
  __device__ __forceinline__ SysScalar Of(const AmbLayout &A, const AmbTask &t, unsigned lane, int group, const SysScalar *x, const Scale<ADD> &scale) const
  {
    return AmbMultSum<B, U, KIND, ADD>(A, *this, t, lane, group, x, scale);
  }
};

/* Longer blocks: one load brings four values. Short blocks are slower this way. */
struct Rounded {
  typedef float4 Word;
  typedef float  Small, Last;

  __device__ __forceinline__           Rounded(const AmbStored &) { }
  __device__ __forceinline__ SysScalar Of(const float4 &word, int q) const { return q == 0 ? word.x : q == 1 ? word.y : q == 2 ? word.z : word.w; }
  __device__ __forceinline__ SysScalar Of(float value) const { return value; }
};

template <int B, int U, bool ADD>
struct Quads {
  const AmbStored &S;

  template <int KIND>
  __device__ __forceinline__ SysScalar Of(const AmbLayout &A, const AmbTask &t, unsigned lane, int group, const SysScalar *x, const Scale<ADD> &scale) const
  {
    return AmbMultQuads<Rounded, B, U, KIND, ADD>(A, S, t, lane, group, x, scale);
  }
};

/* Quad kernels load four steps at a time, deep ones eight */
const AmbLaunchers AmbLaunchersSingle = {
  {AmbStoredLaunch<Floats, 1,  4, 6>, AmbStoredLaunch<Floats, 1,  8, 4>},
  {AmbStoredLaunch<Floats, 2,  2, 5>, AmbStoredLaunch<Floats, 2,  4, 4>},
  {AmbStoredLaunch<Floats, 3,  2, 6>, AmbStoredLaunch<Floats, 3,  3, 4>},
  {AmbStoredLaunch<Quads,  4,  4, 4>, AmbStoredLaunch<Quads,  4,  8, 3>},
  {AmbStoredLaunch<Quads,  5,  4, 4>, AmbStoredLaunch<Quads,  5,  8, 2>},
  {AmbStoredLaunch<Quads,  6,  4, 3>, AmbStoredLaunch<Quads,  6,  8, 2>},
  {AmbStoredLaunch<Quads,  7,  4, 3>, AmbStoredLaunch<Quads,  7,  8, 2>},
  {AmbStoredLaunch<Quads,  8,  4, 3>, AmbStoredLaunch<Quads,  8,  8, 2>},
  {AmbStoredLaunch<Quads,  9,  4, 3>, AmbStoredLaunch<Quads,  9,  8, 2>},
  {AmbStoredLaunch<Quads,  10, 4, 3>, AmbStoredLaunch<Quads,  10, 8, 2>}
};
#endif
