/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Products of a sparse and a dense matrix on a CUDA device, for matrices whose rows come in nodes: groups of as many rows each, which have entries in the same columns,
   as the three displacements of a node of a mesh. A team of lanes makes the rows of a node, and reads each row of the panel once for all of them.
*/
#include "mat/impls/spmm/cuda/spmmcudarow.cuh"

#define BLOCKS 4 /* of a multiprocessor, for which a thread has registers */

/* Entry k of each row of a node, or 0 from `length` on */
template <int R>
static __device__ inline void SpmmNodeEntry(const SpmmOperand &A, int k0, int k, int length, int &column, SysReal value[R])
{
  const bool exists = k < length;

  column = exists ? __ldg(&A.j[k0 + k]) : 0;
#pragma unroll
  for (int n = 0; n < R; n++) value[n] = exists ? __ldg(&A.a[A.place ? __ldg(&A.place[k0 + k + n * length]) : k0 + k + n * length]) : (SysReal)0;
}

/* The sums of the R rows of a node, whose first entry is k0 and each of which has `length` entries. All groups of lanes get them. */
template <int LANES, int PER, int R>
static __device__ inline void SpmmNode(const SpmmOperand &A, int k0, int length, int t, SpmmVector sum[R][PER])
{
  constexpr int  ALL = LANES < TEAM ? TEAM : LANES, GROUPS = ALL / LANES, STEP = FLYING / PER < LANES ? FLYING / PER : LANES;
  constexpr bool AHEAD = LANES == TEAM; /* the next entries are read while these are multiplied; with more or fewer lanes this gains nothing */
  const unsigned team  = SpmmTeam<ALL>();
  int            column, next;
  SysReal        value[R], following[R];

#pragma unroll
  for (int n = 0; n < R * PER; n++) sum[n / PER][n % PER] = SpmmZero();
  if (AHEAD) SpmmNodeEntry<R>(A, k0, t, length, next, following);
  for (int k = 0; k < length; k += ALL) {
    if (AHEAD) {
      column = next;
#pragma unroll
      for (int n = 0; n < R; n++) value[n] = following[n];
      SpmmNodeEntry<R>(A, k0, k + ALL + t, length, next, following);
    } else SpmmNodeEntry<R>(A, k0, k + t, length, column, value);
#pragma unroll 1
    for (int e0 = 0; e0 < LANES && k + e0 * GROUPS < length; e0 += STEP) {
      SpmmVector d[STEP][PER];

#pragma unroll
      for (int e = 0; e < STEP; e++) {
        const int     from = (e0 + e) * GROUPS + t / LANES;
        const int64_t c    = __shfl_sync(team, column, from, ALL);

#pragma unroll
        for (int v = 0; v < PER; v++) d[e][v] = k + from < length ? __ldg(&A.panel[c * (LANES * PER) + v * LANES + t % LANES]) : SpmmZero();
      }
#pragma unroll
      for (int e = 0; e < STEP; e++) {
#pragma unroll
        for (int n = 0; n < R; n++) {
          const SysReal a = __shfl_sync(team, value[n], (e0 + e) * GROUPS + t / LANES, ALL);

#pragma unroll
          for (int v = 0; v < PER; v++) SpmmAdd(sum[n][v], a, d[e][v]);
        }
      }
    }
  }
#pragma unroll
  for (int d = LANES; d < ALL; d *= 2) {
#pragma unroll
    for (int n = 0; n < R * PER; n++) SpmmAdd(sum[n / PER][n % PER], 1, SpmmOther(team, sum[n / PER][n % PER], d, ALL));
  }
}

/* Has the second-level cache read an array, but for its end. Rows of the panel then wait less behind it in the first-level cache. */
static __device__ inline void SpmmNodesFetch(const void *from, const void *to)
{
#if __CUDA_ARCH__ >= 900
  const uintptr_t p = (uintptr_t)from & ~(uintptr_t)15, q = (uintptr_t)to & ~(uintptr_t)15;

  if (q > p) asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(p), "r"((unsigned)(q - p)) : "memory");
#endif
}

template <int LANES, int PER, int R>
static __global__ void __launch_bounds__(SYS_THREADS, BLOCKS) SpmmNodes(int64_t m, const SpmmOperand A, int ncol, SysReal *__restrict__ C, int64_t ld)
{
  constexpr int      ALL = LANES < TEAM ? TEAM : LANES, ROWS = SYS_THREADS / ALL * R, WIDTH = LANES * PER * SPMM_VECTOR;
  __shared__ SysReal tile[WIDTH * (ROWS + 1)];
  const int          t = (int)threadIdx.x % ALL, y = (int)threadIdx.x / ALL * R;
  const int64_t      r0 = (int64_t)blockIdx.x * ROWS, r = r0 + y;

  if (LANES < TEAM && threadIdx.x == 0 && !A.place) { /* of narrow panels only: others do not gain */
    const int k0 = __ldg(&A.i[r0]), k1 = __ldg(&A.i[r0 + ROWS < m ? r0 + ROWS : m]);

    SpmmNodesFetch(A.a + k0, A.a + k1);
    SpmmNodesFetch(A.j + k0, A.j + k1);
  }
  if (r < m) {
    const int  k0 = __ldg(&A.i[r]);
    SpmmVector sum[R][PER];

    SpmmNode<LANES, PER, R>(A, k0, __ldg(&A.i[r + 1]) - k0, t, sum);
#pragma unroll
    for (int n = 0; n < R * PER; n++) {
      const int vector = n % PER * LANES + t;

      if (t < LANES && !ld) ((SpmmVector *)C)[(r + n / PER) * (LANES * PER) + vector] = sum[n / PER][n % PER];
      else if (t < LANES) SpmmKeep(sum[n / PER][n % PER], tile, ROWS + 1, vector, y + n / PER);
    }
  }
  if (!ld) return;
  __syncthreads();
  SpmmWrite(tile, ROWS, WIDTH, r0, m, ncol, C, ld);
}

template <int LANES, int PER, int R>
static SysStatus SpmmNodesLaunch(int64_t m, const SpmmOperand &A, int ncol, SysReal *C, int64_t ld, cudaStream_t stream)
{
  constexpr int ALL = LANES < TEAM ? TEAM : LANES;

  SpmmNodes<LANES, PER, R><<<SysBlocks(m, SYS_THREADS / ALL * R), SYS_THREADS, 0, stream>>>(m, A, ncol, C, ld);
  SYS_CUDA(cudaPeekAtLastError());
  return SYS_SUCCESS;
}

template <int R>
static SysStatus SpmmNodesOf(int64_t m, const SpmmOperand &A, int ncol, int vectors, SysReal *C, int64_t ld, cudaStream_t stream)
{
  switch (vectors) {
  case 1:
    return SpmmNodesLaunch<1, 1, R>(m, A, ncol, C, ld, stream);
  case 2:
    return SpmmNodesLaunch<2, 1, R>(m, A, ncol, C, ld, stream);
  case 4:
    return SpmmNodesLaunch<4, 1, R>(m, A, ncol, C, ld, stream);
  case 8:
    return SpmmNodesLaunch<8, 1, R>(m, A, ncol, C, ld, stream);
  case 16:
    return SpmmNodesLaunch<8, 2, R>(m, A, ncol, C, ld, stream);
  default:
    return SpmmNodesLaunch<16, 2, R>(m, A, ncol, C, ld, stream);
  }
}

SysStatus SpmmNodesMult(int64_t m, int rows, const SpmmOperand &A, int ncol, int width, SysReal *C, int64_t ld, cudaStream_t stream)
{
  return rows == 2 ? SpmmNodesOf<2>(m, A, ncol, width / SPMM_VECTOR, C, ld, stream) : SpmmNodesOf<3>(m, A, ncol, width / SPMM_VECTOR, C, ld, stream);
}
