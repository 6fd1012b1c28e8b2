/* SPDX-License-Identifier: BSD-2-Clause */
#include "sys/syscuda.cuh"
#include "mat/aij/aijblocks.h"

#define ROWS_MOST 8 /* rows of a block whose sums are in registers */

/* A warp has AIJ_GROUP distinct blocks, which lie one after the other in each of their rows: its lanes have a column of a block each, and write runs of entries. RB, CB: the block size, or 0 */
template <int RB, int CB>
static __global__ void __launch_bounds__(SYS_THREADS) AijBlocksSumKernel(AijBlocks B, AijBlockValues v, int add, SysScalar *a)
{
  const int     rbs = RB ? RB : v.rbs, cbs = CB ? CB : v.cbs, lane = threadIdx.x % SYS_WARP;
  const int64_t values = (int64_t)rbs * cbs, groups = (B.nb + AIJ_GROUP - 1) / AIJ_GROUP;

  for (int64_t g = (blockIdx.x * (int64_t)blockDim.x + threadIdx.x) / SYS_WARP; g < groups; g += (int64_t)gridDim.x * blockDim.x / SYS_WARP) {
    const int64_t b  = g * AIJ_GROUP + lane;
    SysInt        lo = B.group[g], hi = B.group[g + 1], start, length, k0 = 0, k1 = 0;
    long long     base;

    while (lo < hi) { /* the last row that begins at or before b */
      const SysInt middle = lo + (hi - lo + 1) / 2;

      if (B.i[middle] <= b) lo = middle;
      else hi = middle - 1;
    }
    start  = B.i[lo];
    length = (B.i[lo + 1] - start) * cbs;
    base   = start * values + (b - start) * cbs;
    if (b < B.nb) {
      k0 = B.first ? B.first[b] : (SysInt)b;
      k1 = B.first ? B.first[b + 1] : k0 + 1;
    }
    for (int t = lane; t < AIJ_GROUP * cbs; t += SYS_WARP) { /* all lanes make cbs steps */
      const int       l = t / cbs, c = t - l * cbs;
      const long long to     = __shfl_sync(SYS_ALL_LANES, base, l) + c;
      const SysInt    stride = __shfl_sync(SYS_ALL_LANES, length, l), begin = __shfl_sync(SYS_ALL_LANES, k0, l), end = __shfl_sync(SYS_ALL_LANES, k1, l);

      if (begin == end) continue;
      for (int r0 = 0; r0 < rbs; r0 += ROWS_MOST) {
        SysScalar sum[ROWS_MOST];

#pragma unroll
        for (int r = 0; r < ROWS_MOST; r++) sum[r] = 0;
        for (SysInt k = begin; k < end; k++) {
          const int64_t    from  = B.from[k];
          const SysScalar *block = (from < v.own ? v.values + from * values : v.received + (from - v.own) * values) + c;

#pragma unroll
          for (int r = 0; r < ROWS_MOST; r++) {
            if (r0 + r < rbs) sum[r] += block[(r0 + r) * cbs];
          }
        }
#pragma unroll
        for (int r = 0; r < ROWS_MOST; r++) {
          if (r0 + r < rbs) {
            SysScalar *entry = a + to + (int64_t)(r0 + r) * stride;

            *entry = add ? *entry + sum[r] : sum[r];
          }
        }
      }
    }
  }
}

SysStatus AijBlocksSumDevice(const AijBlocks *B, const AijBlockValues *v, int add, SysScalar a[], SysStream stream)
{
  const unsigned blocks = SysBlocksLoop((B->nb + AIJ_GROUP - 1) / AIJ_GROUP * SYS_WARP);

#define SUM(RB, CB) \
  AijBlocksSumKernel<RB, CB><<<blocks, SYS_THREADS, 0, (cudaStream_t)stream>>>(*B, *v, add, a); \
  break

  if (!B->nb) return SYS_SUCCESS;
  switch (v->rbs == v->cbs ? v->rbs : 0) {
  case 1:
    SUM(1, 1);
  case 2:
    SUM(2, 2);
  case 3:
    SUM(3, 3);
  case 4:
    SUM(4, 4);
  case 5:
    SUM(5, 5);
  case 6:
    SUM(6, 6);
  case 7:
    SUM(7, 7);
  case 8:
    SUM(8, 8);
  default:
    SUM(0, 0);
  }
#undef SUM
  SYS_CUDA(cudaGetLastError());
  return SYS_SUCCESS;
}

static __global__ void __launch_bounds__(SYS_THREADS) AijBlocksPackKernel(int64_t n, const SysInt *list, int values, const SysScalar *in, SysScalar *out)
{
  SYS_FOR_EACH(t, n * values)
  {
    const int64_t k = t / values;

    out[t] = in[(int64_t)list[k] * values + (t - k * values)];
  }
}

SysStatus AijBlocksPackDevice(int64_t n, const SysInt list[], int values, const SysScalar in[], SysScalar out[], SysStream stream)
{
  if (n) AijBlocksPackKernel<<<SysBlocksLoop(n * values), SYS_THREADS, 0, (cudaStream_t)stream>>>(n, list, values, in, out);
  SYS_CUDA(cudaGetLastError());
  return SYS_SUCCESS;
}

#define INVERSE_THREADS(T) ((T) < 32 ? 256 : 128) /* whose blocks fit shared memory */

/* A team of T lanes inverts a block in shared memory by Gauss-Jordan elimination with pivots from the rows: lane j has column j */
template <int T>
static __global__ void __launch_bounds__(INVERSE_THREADS(T)) AijInverseKernel(SysCSR A, int64_t nblock, int bs, const SysInt *row, const int64_t *at, SysReal tiny, SysScalar *out, int *singular)
{
  constexpr int        teams = INVERSE_THREADS(T) / T;
  __shared__ SysScalar memory[teams][T][T + 1];
  __shared__ int       pivot[teams][T];
  const int            team = threadIdx.x / T, j = threadIdx.x % T;
  SysScalar(*const M)[T + 1] = memory[team];
  int *const l               = pivot[team];

  for (int64_t first = blockIdx.x * (int64_t)teams; first < nblock; first += (int64_t)gridDim.x * teams) { /* the same for all teams of a warp, which wait for one another */
    const int64_t b  = first + team;
    const int64_t r0 = b < nblock ? (row ? row[b] : b * bs) : 0;
    const int     n  = b < nblock ? (row ? (int)(row[b + 1] - r0) : bs) : 0;

    for (int r = 0; r < n && j < n; r++) M[r][j] = 0;
    __syncwarp();
    for (int r = 0; r < n && j < n; r++) {
      const int64_t begin = A.i[r0 + r], end = A.i[r0 + r + 1], k = begin + SysCountLess(A.j + begin, (SysInt)(end - begin), (SysInt)r0) + j;

      if (k < end && A.j[k] < r0 + n) M[r][A.j[k] - r0] = A.a[k];
    }
    __syncwarp();
    for (int k = 0; k < bs; k++) { /* the same steps for all teams of a warp */
      SysScalar inverse = 0;

      if (k < n && j == 0) {
        int     best = k;
        SysReal most = fabs(M[k][k]);

        for (int r = k + 1; r < n; r++) {
          if (fabs(M[r][k]) > most) {
            best = r;
            most = fabs(M[r][k]);
          }
        }
        l[k] = best;
        if (!(most > tiny)) *singular = 1;
      }
      __syncwarp();
      if (k < n && j < n && l[k] != k) {
        const SysScalar entry = M[k][j];

        M[k][j]    = M[l[k]][j];
        M[l[k]][j] = entry;
      }
      __syncwarp();
      if (k < n) inverse = 1 / M[k][k];
      __syncwarp();
      if (k < n && j < n && j != k) {
        M[k][j] *= inverse;
        for (int r = 0; r < n; r++) {
          if (r != k) M[r][j] -= M[r][k] * M[k][j];
        }
      }
      __syncwarp();
      if (k < n && j == k) {
        for (int r = 0; r < n; r++) M[r][k] = r == k ? inverse : -M[r][k] * inverse;
      }
      __syncwarp();
    }
    for (int k = n - 1; k >= 0; k--) { /* lane j has row j: exchanges of rows become exchanges of columns of the inverse */
      if (j < n && l[k] != k) {
        const SysScalar entry = M[j][k];

        M[j][k]    = M[j][l[k]];
        M[j][l[k]] = entry;
      }
    }
    __syncwarp();
    if (b < nblock) {
      SysScalar *to = out + (at ? at[b] : b * (int64_t)bs * bs);

      for (int t = j; t < n * n; t += T) to[t] = M[t % n][t / n];
    }
    __syncwarp();
  }
}

template <int T>
static SysStatus AijInverseLaunch(const SysCSR *A, int64_t nblock, int bs, const SysInt *row, const int64_t *at, SysReal tiny, SysScalar *out, int *singular, cudaStream_t stream)
{
  return SysLaunch(AijInverseKernel<T>, SysMin((nblock * T + INVERSE_THREADS(T) - 1) / INVERSE_THREADS(T), 65536), INVERSE_THREADS(T), 0, stream, *A, nblock, bs, row, at, tiny, out, singular);
}

SysStatus AijInverseDevice(const SysCSR *A, int64_t nblock, int bs, const SysInt row[], const int64_t at[], SysReal tiny, SysScalar out[], int *singular, SysStream stream)
{
  const cudaStream_t s = (cudaStream_t)stream;

  if (bs <= 4) return AijInverseLaunch<4>(A, nblock, bs, row, at, tiny, out, singular, s);
  if (bs <= 8) return AijInverseLaunch<8>(A, nblock, bs, row, at, tiny, out, singular, s);
  if (bs <= 16) return AijInverseLaunch<16>(A, nblock, bs, row, at, tiny, out, singular, s);
  return AijInverseLaunch<32>(A, nblock, bs, row, at, tiny, out, singular, s);
}
