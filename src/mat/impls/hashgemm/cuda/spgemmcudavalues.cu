/* SPDX-License-Identifier: BSD-2-Clause */
/*
   SpGEMM on the device: values of rows of few entries, with teams of 8, 16 or 32 threads, into a known pattern

   spgemmhost.h has the idea.
*/
#include "mat/impls/hashgemm/cuda/spgemmcudaentries.cuh"

#define TEAM_BLOCK 128 /* threads */
#define COPY_BLOCK 128
#define COPY_TEAM  16

template <int T, int ROOM, class FINDER>
struct TeamShared {
  SysScalar sum[ROOM];
  Entry     entry[T];
  FINDER    finder;
};

template <int T, int ROOM, class FINDER, int MODE>
static __global__ void __launch_bounds__(TEAM_BLOCK) ValuesTeamsKernel(SpgemmOperands P, const int *rows, int n, SpgemmPlaces places, const int *Ci, const int *Cj, SysScalar *Ca)
{
  const int                    lane = (int)threadIdx.x % T, at = (int)(blockIdx.x * (TEAM_BLOCK / T) + threadIdx.x / T);
  TeamShared<T, ROOM, FINDER> &own = ((TeamShared<T, ROOM, FINDER> *)spgemm_shared)[threadIdx.x / T];
  const int                    row = at < n ? rows[at] : -1, begin = row < 0 ? 0 : P.Ai[row], end = row < 0 ? 0 : P.Ai[row + 1];
  const int                    first = row < 0 ? 0 : Ci[row], size = row < 0 ? 0 : Ci[row + 1] - first;
  const int                    most  = TeamMost<T>(end - begin);
  unsigned short              *place = MODE == SPGEMM_FIND || row < 0 ? NULL : places.place + places.offset[row];

  const auto finder = own.finder.Finder();

  FindPrepare<T>(Cj + first, size, lane, finder, own.sum);
  EntriesForEach<T>(P, begin, end, most, lane, own.entry, [&](const Entry &now, const Product &one) {
    unsigned short *here = place;
    const int       to   = FindPlace<MODE>(finder, one, here, lane);

    if (MODE != SPGEMM_FIND) place += now.length;
    if (to >= 0) KnownAdd(own.sum + to, now.a, one.b);
    for (int q = lane + T; q < now.length; q += T) {
      const Product more = FindLoad(P, now.from, now.length, q);
      const int     too  = FindPlace<MODE>(finder, more, here, q);

      if (too >= 0) KnownAdd(own.sum + too, now.a, more.b);
    }
  });
  __syncwarp();
  for (int k = lane; k < size; k += T) Ca[first + k] = own.sum[k];
}

/* By known places: no row of B has more entries than the row of the result */
static_assert(SPGEMM_LONG_ROW * SPGEMM_TEAM_ENTRIES < STRETCH_FAR, "places of a team's row");

template <int T, int ROOM>
struct KnownShared {
  SysScalar sum[ROOM];
  Stretch   stretch[T];
};

/* Wide teams keep more stretches in flight; narrow ones benefit more from few registers */
template <int T, int ROOM>
static __global__ void __launch_bounds__(TEAM_BLOCK) ValuesKnownTeamsKernel(SpgemmOperands P, const int *rows, int n, SpgemmPlaces places, const int *Ci, SysScalar *Ca)
{
  constexpr int         AHEAD = T < SYS_WARP ? 2 : 4;
  const int             lane = (int)threadIdx.x % T, at = (int)(blockIdx.x * (TEAM_BLOCK / T) + threadIdx.x / T);
  KnownShared<T, ROOM> &own = ((KnownShared<T, ROOM> *)spgemm_shared)[threadIdx.x / T];
  const int             row = at < n ? rows[at] : -1, begin = row < 0 ? 0 : P.Ai[row], end = row < 0 ? 0 : P.Ai[row + 1];
  const int             first = row < 0 ? 0 : Ci[row], size = row < 0 ? 0 : Ci[row + 1] - first;
  const int             most  = TeamMost<T>(end - begin);
  const unsigned short *place = row < 0 ? NULL : places.place + places.offset[row];
  unsigned              done  = 0;

  for (int k = lane; k < size; k += T) own.sum[k] = 0;
  for (int k0 = 0; k0 < most; k0 += T) {
    const int k    = begin + k0 + lane;
    int       from = 0, length = 0;
    SysScalar a = 0;

    if (k < end) {
      const int c = P.Aj[k];

      from   = P.Bi[c];
      length = P.Bi[c + 1] - from;
      a      = P.Aa[k];
    }
    __syncwarp();
    const int until = TeamUntil<T>(length, lane);

    KnownAddStretches<T, AHEAD>(P.Ba, place, from, length, done + (unsigned)(until - length), a, min(T, most - k0), lane, own.stretch, own.sum);
    done += (unsigned)__shfl_sync(SYS_ALL_LANES, until, T - 1, T);
  }
  __syncwarp();
  for (int k = lane; k < size; k += T) Ca[first + k] = own.sum[k];
}

template <int T, int ROOM, class FINDER>
static constexpr size_t ValuesShared()
{
  return TEAM_BLOCK / T * sizeof(TeamShared<T, ROOM, FINDER>);
}

typedef Columns<384, 1024> MostColumns; /* for the most entries by 16 threads: a device may have too little shared memory */
typedef Words<512>         MostWords;

size_t SpgemmDeviceValuesShared(bool words)
{
  return words ? ValuesShared<16, 256, MostWords>() : ValuesShared<16, 384, MostColumns>();
}

template <int T, int ROOM, class FINDER, int MODE>
static SysStatus ValuesLaunchMode(const SpgemmOperands *P, const int *rows, int n, const SpgemmPlaces *places, const int *Ci, const int *Cj, SysScalar *Ca, cudaStream_t stream)
{
  constexpr size_t shared = ValuesShared<T, ROOM, FINDER>(), most_columns = ValuesShared<16, 384, MostColumns>(), most_words = ValuesShared<16, 256, MostWords>();

  SPGEMM_FITS(shared == most_columns || shared == most_words ? 0 : shared);
  return SysLaunch(ValuesTeamsKernel<T, ROOM, FINDER, MODE>, SysBlocks(n, TEAM_BLOCK / T), TEAM_BLOCK, shared, stream, *P, rows, n, *places, Ci, Cj, Ca);
}

template <int T, int ROOM, class FINDER>
static SysStatus ValuesLaunchTeams(const SpgemmOperands *P, const int *rows, int n, int mode, const SpgemmPlaces *places, const int *Ci, const int *Cj, SysScalar *Ca, cudaStream_t stream)
{
  if (mode == SPGEMM_FIND) return ValuesLaunchMode<T, ROOM, FINDER, SPGEMM_FIND>(P, rows, n, places, Ci, Cj, Ca, stream);
  if (mode == SPGEMM_KEEP) return ValuesLaunchMode<T, ROOM, FINDER, SPGEMM_KEEP>(P, rows, n, places, Ci, Cj, Ca, stream);
  SPGEMM_FITS(TEAM_BLOCK / T * sizeof(KnownShared<T, ROOM>));
  return SysLaunch(ValuesKnownTeamsKernel<T, ROOM>, SysBlocks(n, TEAM_BLOCK / T), TEAM_BLOCK, TEAM_BLOCK / T * sizeof(KnownShared<T, ROOM>), stream, *P, rows, n, *places, Ci, Ca);
}

/* Rows of one entry in A */
static __global__ void __launch_bounds__(COPY_BLOCK) ValuesCopyKernel(SpgemmOperands P, const int *rows, int n, const int *Ci, SysScalar *Ca)
{
  const int at = (int)((blockIdx.x * (int64_t)COPY_BLOCK + threadIdx.x) / COPY_TEAM), lane = (int)threadIdx.x % COPY_TEAM;

  if (at >= n) return;
  const int       row = rows[at], k = P.Ai[row], from = P.Bi[P.Aj[k]], to = Ci[row], length = Ci[row + 1] - to;
  const SysScalar a = P.Aa[k];

#pragma unroll 4
  for (int e = lane; e < length; e += COPY_TEAM) Ca[to + e] = a * P.Ba[from + e];
}

SysStatus SpgemmDeviceValues(const SpgemmOperands *P, int bin, const int *rows, int n, int mode, const SpgemmPlaces *places, const int *Ci, const int *Cj, SysScalar *Ca, cudaStream_t stream)
{
  switch (bin) {
  case VALUES_COPY:
    return SysLaunch(ValuesCopyKernel, SysBlocks((int64_t)n * COPY_TEAM, COPY_BLOCK), COPY_BLOCK, 0, stream, *P, rows, n, Ci, Ca);
  case VALUES_8_32:
    return ValuesLaunchTeams<8, 32, Columns<32, 128>>(P, rows, n, mode, places, Ci, Cj, Ca, stream);
  case VALUES_8_64:
    return ValuesLaunchTeams<8, 64, Columns<64, 256>>(P, rows, n, mode, places, Ci, Cj, Ca, stream);
  case VALUES_16_64:
    return ValuesLaunchTeams<16, 64, Columns<64, 256>>(P, rows, n, mode, places, Ci, Cj, Ca, stream);
  case VALUES_16_128:
    return ValuesLaunchTeams<16, 128, Columns<128, 512>>(P, rows, n, mode, places, Ci, Cj, Ca, stream);
  case VALUES_16_256:
    return ValuesLaunchTeams<16, 256, Columns<256, 512>>(P, rows, n, mode, places, Ci, Cj, Ca, stream);
  case VALUES_16_384:
    return ValuesLaunchTeams<16, 384, MostColumns>(P, rows, n, mode, places, Ci, Cj, Ca, stream);
  case VALUES_32_64:
    return ValuesLaunchTeams<32, 64, Columns<64, 256>>(P, rows, n, mode, places, Ci, Cj, Ca, stream);
  case VALUES_32_128:
    return ValuesLaunchTeams<32, 128, Columns<128, 512>>(P, rows, n, mode, places, Ci, Cj, Ca, stream);
  case VALUES_32_256:
    return ValuesLaunchTeams<32, 256, Columns<256, 512>>(P, rows, n, mode, places, Ci, Cj, Ca, stream);
  case VALUES_32_512:
    return ValuesLaunchTeams<32, 512, Columns<512, 1024>>(P, rows, n, mode, places, Ci, Cj, Ca, stream);
  case VALUES_WORDS_8_32:
    return ValuesLaunchTeams<8, 32, Words<64>>(P, rows, n, mode, places, Ci, Cj, Ca, stream);
  case VALUES_WORDS_8_64:
    return ValuesLaunchTeams<8, 64, Words<128>>(P, rows, n, mode, places, Ci, Cj, Ca, stream);
  case VALUES_WORDS_16_64:
    return ValuesLaunchTeams<16, 64, Words<128>>(P, rows, n, mode, places, Ci, Cj, Ca, stream);
  case VALUES_WORDS_16_128:
    return ValuesLaunchTeams<16, 128, Words<256>>(P, rows, n, mode, places, Ci, Cj, Ca, stream);
  case VALUES_WORDS_16_256:
    return ValuesLaunchTeams<16, 256, MostWords>(P, rows, n, mode, places, Ci, Cj, Ca, stream);
  case VALUES_WORDS_32_64:
    return ValuesLaunchTeams<32, 64, Words<128>>(P, rows, n, mode, places, Ci, Cj, Ca, stream);
  case VALUES_WORDS_32_128:
    return ValuesLaunchTeams<32, 128, Words<256>>(P, rows, n, mode, places, Ci, Cj, Ca, stream);
  case VALUES_WORDS_32_256:
    return ValuesLaunchTeams<32, 256, Words<512>>(P, rows, n, mode, places, Ci, Cj, Ca, stream);
  default:
    return SYS_SUCCESS;
  }
}
