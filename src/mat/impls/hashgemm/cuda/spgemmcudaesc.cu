/* SPDX-License-Identifier: BSD-2-Clause */
/*
   SpGEMM on the device, accumulator esc: expand, sort, compress. A team of 8, 16 or 32 threads expands a row's products into shared memory, sorts
   them in registers by column and then by number, which is the order of A's entries, and adds each column's in order. A row is computed while it is
   counted, if there is a place; large products allocate for the entries estimated from a sample, and compute the remaining rows later.

   Source:
.  * - W. Liu and B. Vinter, "A framework for general sparse matrix-matrix multiplication on GPUs and heterogeneous processors", Journal of Parallel and
      Distributed Computing 85, 2015

   spgemmhost.h has the idea.
*/
#include "mat/impls/hashgemm/cuda/spgemmcudaesc.cuh"

#define BLOCK 128

/* Expands the products; returns their number to all lanes of the team */
template <int T, int N>
static __device__ __forceinline__ int EscExpand(const SpgemmOperands &P, int begin, int end, int low, int lane, EscRow<N> &own)
{
  const int most = TeamMost<T>(end - begin);
  int       done = 0;

  for (int k0 = 0; k0 < most; k0 += T) {
    const int k    = begin + k0 + lane;
    int       from = 0, length = 0, until, total;
    SysScalar a = 0;

    if (k < end) {
      const int c = P.Aj[k];

      from   = P.Bi[c];
      length = P.Bi[c + 1] - from;
      a      = P.Aa[k];
    }
    __syncwarp();
    until = TeamUntil<T>(length, lane);
    from -= until - length;
    total          = __shfl_sync(SYS_ALL_LANES, until, T - 1, T);
    const int last = TeamMost<T>(total);
    for (int t0 = 0; t0 < last; t0 += T) {
      const int       t = t0 + lane, at = TeamOwner<T>(until, t);
      const int       place = __shfl_sync(SYS_ALL_LANES, from, at, T) + t;
      const SysScalar f     = __shfl_sync(SYS_ALL_LANES, a, at, T);
      if (t < total) {
        own.key[done + t] = (unsigned)(P.Bj[place] - low) << EscBits(N) | (unsigned)(done + t);
        own.a[done + t]   = f;
        own.b[done + t]   = P.Ba[place];
      }
    }
    done += total;
  }
  __syncwarp();
  return done;
}

/* Most rows have fewer products than the capacity */
template <int T, int R>
static __device__ __forceinline__ int EscCompressSome(EscRow<T * R> &own, int products, int lane)
{
  const int most = TeamMost<T>(products);

  if (R > 4 && most <= R / 4 * T) return EscCompress<T, R / 4>(own, products, lane);
  if (most <= R / 2 * T) return EscCompress<T, R / 2>(own, products, lane);
  return EscCompress<T, R>(own, products, lane);
}

template <int T, int R>
static __global__ void __launch_bounds__(BLOCK) EscKernel(SpgemmOperands P, const int *rows, int n, const uint2 *range, int *size, SpgemmMade made)
{
  constexpr int       N = T * R, Teams = BLOCK / T;
  __shared__ unsigned sizes[Teams], base;
  const int           lane = (int)threadIdx.x % T, team = (int)threadIdx.x / T, at = (int)blockIdx.x * Teams + team;
  EscRow<N>          &own = ((EscRow<N> *)spgemm_shared)[team];
  const int           row = at < n ? rows[at] : -1, begin = row < 0 ? 0 : P.Ai[row], end = row < 0 ? 0 : P.Ai[row + 1], low = row < 0 ? 0 : (int)range[row].x;
  const int           found = EscCompressSome<T, R>(own, EscExpand<T>(P, begin, end, low, lane, own), lane);
  unsigned            place;

  if (lane == 0) sizes[team] = (unsigned)found;
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned sum = 0;

    for (int other = 0; other < Teams; other++) sum += sizes[other];
    base = (unsigned)atomicAdd(made.next, (unsigned long long)sum);
  }
  __syncthreads();
  place = base;
  for (int other = 0; other < team; other++) place += sizes[other];
  if (row < 0) return;
  if (lane == 0) size[row] = found;
  if (place + (size_t)found > made.room) return;
  if (lane == 0) made.place[row] = place;
  for (int k = lane; k < found; k += T) {
    const int first = own.start[k], last = own.start[k + 1];
    SysScalar sum = 0;

    made.column[place + (unsigned)k] = low + (int)(own.key[first] >> EscBits(N));
    for (int p = first; p < last; p++) {
      const unsigned t = own.key[p] & (N - 1);

      sum = fma(own.a[t], own.b[t], sum);
    }
    made.value[place + (unsigned)k] = sum;
  }
}

template <int T, int R>
static SysStatus EscLaunch(const SpgemmOperands *P, const int *rows, int n, const uint2 *range, int *size, const SpgemmMade *made, cudaStream_t stream)
{
  SPGEMM_FITS(BLOCK / T * sizeof(EscRow<T * R>));
  return SysLaunch(EscKernel<T, R>, SysBlocks(n, BLOCK / T), BLOCK, BLOCK / T * sizeof(EscRow<T * R>), stream, *P, rows, n, range, size, *made);
}

SysStatus SpgemmDeviceEscRows(const SpgemmOperands *P, int bin, const int *rows, int n, const uint2 *range, int *size, const SpgemmMade *made, cudaStream_t stream)
{
  switch (bin) {
  case COUNT_SORT_64:
    return EscLaunch<8, 8>(P, rows, n, range, size, made, stream);
  case COUNT_SORT_128:
    return EscLaunch<16, 8>(P, rows, n, range, size, made, stream);
  case COUNT_SORT_256:
    return EscLaunch<32, 8>(P, rows, n, range, size, made, stream);
  default:
    return EscLaunch<32, 16>(P, rows, n, range, size, made, stream);
  }
}

/* ---- A sample of rows ---- */

/* One warp a sampled row, one of equally many neighbours each, at places that follow no grid */
static __global__ void __launch_bounds__(BLOCK) EscSampleKernel(SpgemmOperands P, int n, const unsigned char *kind, const uint2 *range, SpgemmCounters *counters)
{
  constexpr int        R    = SPGEMM_MADE_PRODUCTS / SYS_WARP;
  const int            lane = (int)threadIdx.x % SYS_WARP, team = (int)threadIdx.x / SYS_WARP, at = (int)blockIdx.x * (BLOCK / SYS_WARP) + team;
  EscRow<SYS_WARP *R> &own   = ((EscRow<SYS_WARP * R> *)spgemm_shared)[team];
  const int            first = (int)((int64_t)at * P.m / n), next = (int)((int64_t)(at + 1) * P.m / n), row = first + (int)__umulhi((unsigned)at * 0x9E3779B1u, (unsigned)(next - first));
  const unsigned       bin = at < n ? SPGEMM_KIND_BIN(kind[row]) : COUNT_EMPTY;

  if (bin < COUNT_SORT_64 || bin > COUNT_SORT_512) return;
  const int products = EscExpand<SYS_WARP>(P, P.Ai[row], P.Ai[row + 1], (int)range[row].x, lane, own), found = EscCompressSome<SYS_WARP, R>(own, products, lane);

  if (lane) return;
  atomicAdd(&counters->sampled, (unsigned long long)products);
  atomicAdd(&counters->found, (unsigned long long)found);
}

SysStatus SpgemmDeviceEscSample(const SpgemmOperands *P, const unsigned char *kind, const uint2 *range, SpgemmCounters *counters, cudaStream_t stream)
{
  const int n = P->m < SPGEMM_SAMPLE_ROWS ? P->m : SPGEMM_SAMPLE_ROWS;

  return SysLaunch(EscSampleKernel, SysBlocks(n, BLOCK / SYS_WARP), BLOCK, BLOCK / SYS_WARP * sizeof(EscRow<SPGEMM_MADE_PRODUCTS>), stream, *P, n, kind, range, counters);
}

/* ---- Rows computed while counting ---- */

template <int T, bool COLUMNS, bool VALUES>
static __global__ void __launch_bounds__(BLOCK) EscCopyKernel(SpgemmMade made, int m, const int *Ci, int *Cj, SysScalar *Ca)
{
  const int      row = (int)((blockIdx.x * (int64_t)BLOCK + threadIdx.x) / T), lane = (int)threadIdx.x % T;
  const unsigned place = row < m ? made.place[row] : SPGEMM_NOWORD;

  if (place == SPGEMM_NOWORD) return;
  const int        first = Ci[row], size = Ci[row + 1] - first;
  const int       *column = made.column + place;
  const SysScalar *value  = made.value + place;

#pragma unroll 4
  for (int k = lane; k < size; k += T) {
    if (COLUMNS) Cj[first + k] = column[k];
    if (VALUES) Ca[first + k] = value[k];
  }
}

template <int T>
static SysStatus EscCopy(const SpgemmMade *made, int m, const int *Ci, int *Cj, SysScalar *Ca, cudaStream_t stream)
{
  const unsigned blocks = SysBlocks((int64_t)m * T, BLOCK);

  if (!Ca) return SysLaunch(EscCopyKernel<T, true, false>, blocks, BLOCK, 0, stream, *made, m, Ci, Cj, Ca);
  if (!Cj) return SysLaunch(EscCopyKernel<T, false, true>, blocks, BLOCK, 0, stream, *made, m, Ci, Cj, Ca);
  return SysLaunch(EscCopyKernel<T, true, true>, blocks, BLOCK, 0, stream, *made, m, Ci, Cj, Ca);
}

SysStatus SpgemmDeviceMadeRows(const SpgemmMade *made, int m, int64_t nz, const int *Ci, int *Cj, SysScalar *Ca, cudaStream_t stream)
{
  return nz <= 64 * (int64_t)m ? EscCopy<8>(made, m, Ci, Cj, Ca, stream) : EscCopy<SYS_WARP>(made, m, Ci, Cj, Ca, stream);
}
