/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Products in the AMB format on a CUDA device whose values are rounded to single precision
*/
#include "mat/impls/amb/ambcudastored.cuh"

#if defined(SYS_HAVE_STORAGE_SINGLE)
struct Rounded {
  typedef float4 Word;
  typedef float  Small, Last;

  __device__ __forceinline__           Rounded(const AmbStored &) { }
  __device__ __forceinline__ SysScalar Of(const float4 &word, int q) const { return q == 0 ? word.x : q == 1 ? word.y : q == 2 ? word.z : word.w; }
  __device__ __forceinline__ SysScalar Of(float value) const { return value; }
};

template <int B, int U, bool ADD>
struct Floats {
  const AmbStored &S;

  template <int KIND>
  __device__ __forceinline__ SysScalar Of(const AmbLayout &A, const AmbTask &t, unsigned lane, int group, const SysScalar *x, const Scale<ADD> &scale) const
  {
    return AmbMultQuads<Rounded, B, U, KIND, ADD>(A, S, t, lane, group, x, scale);
  }
};

/* Each kernel takes four steps at a time, the deep ones eight */
const AmbLaunchers AmbLaunchersSingle = {
  {AmbStoredLaunch<Floats, 1,  4, 6>, AmbStoredLaunch<Floats, 1,  8, 4>},
  {AmbStoredLaunch<Floats, 2,  4, 5>, AmbStoredLaunch<Floats, 2,  8, 4>},
  {AmbStoredLaunch<Floats, 3,  4, 5>, AmbStoredLaunch<Floats, 3,  8, 3>},
  {AmbStoredLaunch<Floats, 4,  4, 4>, AmbStoredLaunch<Floats, 4,  8, 3>},
  {AmbStoredLaunch<Floats, 5,  4, 4>, AmbStoredLaunch<Floats, 5,  8, 2>},
  {AmbStoredLaunch<Floats, 6,  4, 3>, AmbStoredLaunch<Floats, 6,  8, 2>},
  {AmbStoredLaunch<Floats, 7,  4, 3>, AmbStoredLaunch<Floats, 7,  8, 2>},
  {AmbStoredLaunch<Floats, 8,  4, 3>, AmbStoredLaunch<Floats, 8,  8, 2>},
  {AmbStoredLaunch<Floats, 9,  4, 3>, AmbStoredLaunch<Floats, 9,  8, 2>},
  {AmbStoredLaunch<Floats, 10, 4, 3>, AmbStoredLaunch<Floats, 10, 8, 2>}
};
#endif
