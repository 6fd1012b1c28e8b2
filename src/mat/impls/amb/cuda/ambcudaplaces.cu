/* SPDX-License-Identifier: BSD-2-Clause */
/*
   AMB products on a CUDA device with values in a table

   ambhost.h has the idea.
*/
#include "mat/impls/amb/cuda/ambcudastored.cuh"

struct Table {
  typedef unsigned Word, Last;
  typedef uint8_t  Small;
  const SysScalar *table;

  __device__ __forceinline__           Table(const AmbStored &S) : table(S.table) { }
  __device__ __forceinline__ SysScalar Of(unsigned word, int q) const { return __ldg(table + (word >> 8 * q & 255u)); }
  __device__ __forceinline__ SysScalar Of(unsigned place) const { return __ldg(table + place); }
};

template <int B, int U, bool ADD>
struct Places {
  const AmbStored &S;

  template <int KIND>
  __device__ __forceinline__ SysScalar Of(const AmbLayout &A, const AmbTask &t, unsigned lane, int group, const SysScalar *x, const Scale<ADD> &scale) const
  {
    return AmbMultQuads<Table, B, U, KIND, ADD>(A, S, t, lane, group, x, scale);
  }
};

/* Kernels load four steps at a time, deep ones eight */
const AmbLaunchers AmbLaunchersPlaces = {
  {AmbStoredLaunch<Places, 1,  4, 6>, AmbStoredLaunch<Places, 1,  8, 4>},
  {AmbStoredLaunch<Places, 2,  4, 5>, AmbStoredLaunch<Places, 2,  8, 4>},
  {AmbStoredLaunch<Places, 3,  4, 4>, AmbStoredLaunch<Places, 3,  8, 3>},
  {AmbStoredLaunch<Places, 4,  4, 4>, AmbStoredLaunch<Places, 4,  8, 3>},
  {AmbStoredLaunch<Places, 5,  4, 4>, AmbStoredLaunch<Places, 5,  8, 3>},
  {AmbStoredLaunch<Places, 6,  4, 4>, AmbStoredLaunch<Places, 6,  8, 2>},
  {AmbStoredLaunch<Places, 7,  4, 4>, AmbStoredLaunch<Places, 7,  8, 2>},
  {AmbStoredLaunch<Places, 8,  4, 4>, AmbStoredLaunch<Places, 8,  8, 2>},
  {AmbStoredLaunch<Places, 9,  4, 4>, AmbStoredLaunch<Places, 9,  8, 2>},
  {AmbStoredLaunch<Places, 10, 4, 3>, AmbStoredLaunch<Places, 10, 8, 2>}
};
