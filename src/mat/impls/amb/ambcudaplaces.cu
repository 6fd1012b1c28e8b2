/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Products in the AMB format on a CUDA device whose values are stored as places in a table
*/
#include "mat/impls/amb/ambcudastored.cuh"

/* Sums the products of a lane. Places in the table are stored as words: a lane has the places of four steps in B words, so that one load brings four places. The last steps
   of a task, up to three, are stored as values are. The order of additions is that of values as they are. */
#define PLACES_STEPS 4
template <int B, int U, int KIND, bool ADD>
static __device__ __forceinline__ SysScalar AmbMultPlaces(const AmbLayout &A, const AmbStored &S, const AmbTask &t, unsigned lane, int group, const SysScalar *x, const Scale<ADD> &scale)
{
  constexpr int       G = U / PLACES_STEPS; /* groups of four steps that are loaded together */
  const unsigned      n = AMB_TASK_STEPS(t.what), full = n / PLACES_STEPS * PLACES_STEPS;
  const Columns<KIND> columns(A, t, lane, group);
  const uint8_t      *place = (const uint8_t *)S.small + (size_t)SYS_WARP * B * t.step;
  const SysScalar    *table = S.table;
  unsigned            last[PLACES_STEPS - 1][B];
  int                 clast[PLACES_STEPS - 1];
  SysScalar           sum = 0;

  const auto load_last = [&] {
#pragma unroll
    for (int u = 0; u < PLACES_STEPS - 1; u++) {
      if (full + u < n) {
        clast[u] = columns.At(full + u);
#pragma unroll
        for (int k = 0; k < B; k++) last[u][k] = LoadOnce(place + (size_t)SYS_WARP * ((full + u) * B + k) + lane);
      }
    }
  };

  if (B == 1) load_last(); /* with longer blocks they would take too many registers */
  for (unsigned s = 0; s < full; s += G * PLACES_STEPS) {
    unsigned word[G][B];
    int      c[G][PLACES_STEPS];

#pragma unroll
    for (int g = 0; g < G; g++) {
      if (s + g * PLACES_STEPS < full) {
        const unsigned *words = (const unsigned *)(place + (size_t)SYS_WARP * B * (s + g * PLACES_STEPS)) + lane;

#pragma unroll
        for (int k = 0; k < B; k++) word[g][k] = LoadOnce(words + SYS_WARP * k);
#pragma unroll
        for (int u = 0; u < PLACES_STEPS; u++) c[g][u] = columns.At(s + g * PLACES_STEPS + u);
      }
    }
    if (s == 0) {
      SysWait();
      sum = scale.Begin();
    }
#pragma unroll
    for (int g = 0; g < G; g++) {
      if (s + g * PLACES_STEPS < full) {
#pragma unroll
        for (int k = 0; k < PLACES_STEPS * B; k++) sum += scale.Product(__ldg(table + (word[g][k / 4] >> 8 * (k % 4) & 255u)), x[c[g][k / B] + k % B]);
      }
    }
  }
  if (full == 0) {
    SysWait();
    sum = scale.Begin();
  }
  if (B > 1) load_last();
#pragma unroll
  for (int u = 0; u < PLACES_STEPS - 1; u++) {
    if (full + u < n) {
#pragma unroll
      for (int k = 0; k < B; k++) sum += scale.Product(__ldg(table + last[u][k]), x[clast[u] + k]);
    }
  }
  return sum;
}

template <int B, int U, bool ADD>
struct Places {
  const AmbStored &S;

  template <int KIND>
  __device__ __forceinline__ SysScalar Of(const AmbLayout &A, const AmbTask &t, unsigned lane, int group, const SysScalar *x, const Scale<ADD> &scale) const
  {
    return AmbMultPlaces<B, U, KIND, ADD>(A, S, t, lane, group, x, scale);
  }
};

/* Each kernel takes four steps at a time, the deep ones eight */
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
