/* SPDX-License-Identifier: BSD-2-Clause */
/*
   SpMM on a CUDA device, for rows that come in nodes: groups of 2 or 3 rows with the same columns, such as a mesh node's displacements. A team of
   lanes computes a node's rows, and reads each row of the panel once for all of them.

   spmmhost.h has the idea.
*/
#include "mat/impls/spmm/cuda/spmmcudarow.cuh"

/* Loads entry k of each row of a node, or 0 from `length` on */
template <int R>
static __device__ inline void SpmmNodeEntry(const SpmmOperand &A, int k0, int k, int length, int &column, SysReal value[R])
{
  const bool exists = k < length;

  column = exists ? __ldg(&A.j[k0 + k]) : 0;
#pragma unroll
  for (int n = 0; n < R; n++) value[n] = exists ? __ldg(&A.a[A.position ? __ldg(&A.position[k0 + k + n * length]) : k0 + k + n * length]) : (SysReal)0;
}

/* Returns to all groups of lanes the sums of a node's R rows of `length` entries; the first entry is k0 */
template <int LANES, int PER, int R>
static __device__ inline void SpmmNode(const SpmmOperand &A, int k0, int length, int t, SpmmVector sum[R][PER])
{
  constexpr int  ALL = LANES < SPMM_TEAM_LEAST ? SPMM_TEAM_LEAST : LANES, GROUPS = ALL / LANES, STEP = SPMM_ROW_LOADS / PER < LANES ? SPMM_ROW_LOADS / PER : LANES;
  constexpr bool AHEAD = LANES == SPMM_TEAM_LEAST; /* reads the next entries during these multiplications; other numbers of lanes gain nothing */
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

template <int LANES, int PER, int R>
static __global__ void __launch_bounds__(SYS_THREADS, SPMM_NODE_BLOCKS) SpmmNodes(int64_t m, const SpmmOperand A, int ncol, SysReal *__restrict__ C, int64_t ld)
{
  constexpr int      ALL = LANES < SPMM_TEAM_LEAST ? SPMM_TEAM_LEAST : LANES, ROWS = SYS_THREADS / ALL * R, WIDTH = LANES * PER * SPMM_VECTOR_NUMBERS;
  __shared__ SysReal tile[WIDTH * (ROWS + 1)];
  const int          t = (int)threadIdx.x % ALL, y = (int)threadIdx.x / ALL * R;
  const int64_t      r0 = (int64_t)blockIdx.x * ROWS, r = r0 + y;

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

/* ------------------------------------------------- narrow panels ------------------------------------------------- */

/*
   A product with a narrow panel costs little more than the load of values and columns from memory. Bulk copies load values and columns of a whole thread block
   into shared memory while other blocks multiply. All lanes read them there, without shuffles.
*/
#define SPMM_COPY_THREADS 128
#define SPMM_COPY_NODES   (SPMM_COPY_THREADS / SPMM_TEAM_LEAST)
#define SPMM_COPY_BLOCKS  6          /* resident blocks a multiprocessor that the registers allow */
#define SPMM_COPY_LOADS   8          /* vectors of the panel that a lane loads together */
#define SPMM_COPY_BYTES   (64 << 10) /* most bytes of shared memory */

#if __CUDA_ARCH__ >= 900
static __device__ inline unsigned SpmmShared(const void *p)
{
  return (unsigned)__cvta_generic_to_shared(p);
}
#endif

/* The barrier completes when `threads` threads have arrived and their copies are done */
static __device__ inline void SpmmExpect(uint64_t *barrier, int threads)
{
#if __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(SpmmShared(barrier)), "r"(threads) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
}

static __device__ inline void SpmmArrived(uint64_t *barrier)
{
#if __CUDA_ARCH__ >= 900
  for (unsigned done = 0; !done;) asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(SpmmShared(barrier)) : "memory");
#endif
}

/* Copies numbers begin to end - 1 of from[] to to[], where to[0] corresponds to the 16-byte unit of number begin. This thread arrives at the barrier
   first, then copies the last partial unit itself; other threads see that after the next __syncthreads(). */
template <typename T>
static __device__ inline void SpmmCopy(T *to, const T *from, int begin, int end, uint64_t *barrier)
{
#if __CUDA_ARCH__ >= 900
  constexpr int  N     = 16 / (int)sizeof(T);
  const int      start = begin & ~(N - 1), whole = end & ~(N - 1);
  const unsigned bytes = whole > start ? (unsigned)((whole - start) * (int)sizeof(T)) : 0;

  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(SpmmShared(barrier)), "r"(bytes) : "memory");
  if (bytes) asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(SpmmShared(to)), "l"(from + start), "r"(bytes), "r"(SpmmShared(barrier)) : "memory");
  for (int k = whole > begin ? whole : begin; k < end; k++) to[k - start] = __ldg(&from[k]);
#endif
}

template <int LANES, int R>
static __global__ void __launch_bounds__(SPMM_COPY_THREADS, SPMM_COPY_BLOCKS) SpmmCopiedNodes(int64_t m, const SpmmOperand A, int nvalue, int ncol, SysReal *__restrict__ C, int64_t ld)
{
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ __align__(8) uint64_t barrier;
  constexpr int                    GROUPS = SPMM_TEAM_LEAST / LANES, ROWS = SPMM_COPY_NODES * R;
  const int                        t = (int)threadIdx.x % SPMM_TEAM_LEAST, lane = t % LANES, group = t / LANES, y = (int)threadIdx.x / SPMM_TEAM_LEAST;
  const int64_t                    r0 = (int64_t)blockIdx.x * ROWS, r = r0 + y * R;
  const int                        first = __ldg(&A.i[r0]), last = __ldg(&A.i[r0 + ROWS < m ? r0 + ROWS : m]), k0 = r < m ? __ldg(&A.i[r]) : last, length = r < m ? __ldg(&A.i[r + 1]) - k0 : 0;
  SysReal                         *values  = (SysReal *)memory;
  int                             *columns = (int *)(values + nvalue) + (((k0 - first) / R + 8 * y) & ~3); /* the columns of the node's first row, plus the rest of their 16-byte units */
  SpmmVector                       sum[R];

  if (threadIdx.x == 0) SpmmExpect(&barrier, SPMM_COPY_NODES + 1);
  __syncthreads();
  if (threadIdx.x == 0) SpmmCopy(values, A.a, first, last, &barrier);
  if (t == 0) SpmmCopy(columns, A.j, k0, k0 + length, &barrier);
  __syncthreads();
  SpmmArrived(&barrier);
  values += k0 - (first & ~(SPMM_VECTOR_NUMBERS - 1));
  columns += k0 & 3;
#pragma unroll
  for (int n = 0; n < R; n++) sum[n] = SpmmZero();
  for (int k = group; k < length; k += GROUPS * SPMM_COPY_LOADS) {
    SpmmVector d[SPMM_COPY_LOADS];

#pragma unroll
    for (int e = 0; e < SPMM_COPY_LOADS; e++) d[e] = k + e * GROUPS < length ? __ldg(&A.panel[(int64_t)columns[k + e * GROUPS] * LANES + lane]) : SpmmZero();
#pragma unroll
    for (int e = 0; e < SPMM_COPY_LOADS; e++) {
#pragma unroll
      for (int n = 0; n < R; n++) {
        if (k + e * GROUPS < length) SpmmAdd(sum[n], values[n * length + k + e * GROUPS], d[e]);
      }
    }
  }
#pragma unroll
  for (int d = LANES; d < SPMM_TEAM_LEAST; d *= 2) {
#pragma unroll
    for (int n = 0; n < R; n++) SpmmAdd(sum[n], 1, SpmmOther(SYS_ALL_LANES, sum[n], d, SPMM_TEAM_LEAST));
  }
  if (!ld) {
#pragma unroll
    for (int n = 0; n < R; n++) {
      if (r < m && group == 0) ((SpmmVector *)C)[(r + n) * LANES + lane] = sum[n];
    }
    return;
  }
  __syncthreads(); /* the values are consumed: the memory now holds rows of C */
#pragma unroll
  for (int n = 0; n < R; n++) {
    if (r < m && group == 0) SpmmKeep(sum[n], (SysReal *)memory, ROWS + 1, lane, y * R + n);
  }
  __syncthreads();
  SpmmWrite<SPMM_COPY_THREADS>((const SysReal *)memory, ROWS, LANES * SPMM_VECTOR_NUMBERS, r0, m, ncol, C, ld);
}

int64_t SpmmNodesCopied(int64_t m, int rows, const int *i)
{
  int64_t nvalue = 0;

  for (int64_t r = 0; r < m; r += SPMM_COPY_NODES * rows) {
    const int64_t n = i[SysMin(r + SPMM_COPY_NODES * rows, m)] - i[r];

    if (n > nvalue) nvalue = n;
  }
  nvalue = (nvalue + 2 * SPMM_VECTOR_NUMBERS) / SPMM_VECTOR_NUMBERS * SPMM_VECTOR_NUMBERS;
  return nvalue * (int64_t)sizeof(SysReal) + (nvalue / rows + 8 * SPMM_COPY_NODES + 8) * (int64_t)sizeof(int) <= SPMM_COPY_BYTES ? nvalue : 0;
}

template <int LANES, int R>
static SysStatus SpmmNodesLaunchCopied(int64_t m, const SpmmOperand &A, int nvalue, int ncol, SysReal *C, int64_t ld, cudaStream_t stream)
{
  const size_t operands = (size_t)nvalue * sizeof(SysReal) + (size_t)(nvalue / R + 8 * SPMM_COPY_NODES + 8) * sizeof(int), result = (size_t)(LANES * SPMM_VECTOR_NUMBERS * (SPMM_COPY_NODES * R + 1)) * sizeof(SysReal);

  return SysLaunch(SpmmCopiedNodes<LANES, R>, (m + SPMM_COPY_NODES * R - 1) / (SPMM_COPY_NODES * R), SPMM_COPY_THREADS, operands > result ? operands : result, stream, m, A, nvalue, ncol, C, ld);
}

/* ------------------------------------------------- launches ------------------------------------------------- */

template <int LANES, int PER, int R>
static SysStatus SpmmNodesLaunch(int64_t m, const SpmmOperand &A, int nvalue, int ncol, SysReal *C, int64_t ld, cudaStream_t stream)
{
  constexpr int ALL = LANES < SPMM_TEAM_LEAST ? SPMM_TEAM_LEAST : LANES;

  if constexpr (LANES < SPMM_TEAM_LEAST) {
    if (nvalue && !A.position && ((uintptr_t)A.a | (uintptr_t)A.j) % 16 == 0 && SysStartsEarly()) return SpmmNodesLaunchCopied<LANES, R>(m, A, nvalue, ncol, C, ld, stream);
  }
  return SysLaunch(SpmmNodes<LANES, PER, R>, SysBlocks(m, SYS_THREADS / ALL * R), SYS_THREADS, 0, stream, m, A, ncol, C, ld);
}

template <int R>
static SysStatus SpmmNodesOf(int64_t m, const SpmmOperand &A, int nvalue, int ncol, int vectors, SysReal *C, int64_t ld, cudaStream_t stream)
{
  switch (vectors) {
  case 1:
    return SpmmNodesLaunch<1, 1, R>(m, A, nvalue, ncol, C, ld, stream);
  case 2:
    return SpmmNodesLaunch<2, 1, R>(m, A, nvalue, ncol, C, ld, stream);
  case 4:
    return SpmmNodesLaunch<4, 1, R>(m, A, nvalue, ncol, C, ld, stream);
  case 8:
    return SpmmNodesLaunch<8, 1, R>(m, A, nvalue, ncol, C, ld, stream);
  case 16:
    return SpmmNodesLaunch<8, 2, R>(m, A, nvalue, ncol, C, ld, stream);
  default:
    return SpmmNodesLaunch<16, 2, R>(m, A, nvalue, ncol, C, ld, stream);
  }
}

SysStatus SpmmNodesMult(int64_t m, int rows, const SpmmOperand &A, int nvalue, int ncol, int width, SysReal *C, int64_t ld, cudaStream_t stream)
{
  return rows == 2 ? SpmmNodesOf<2>(m, A, nvalue, ncol, width / SPMM_VECTOR_NUMBERS, C, ld, stream) : SpmmNodesOf<3>(m, A, nvalue, ncol, width / SPMM_VECTOR_NUMBERS, C, ld, stream);
}
