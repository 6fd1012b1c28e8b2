/* SPDX-License-Identifier: BSD-2-Clause */
/*
   SpMV in CCOO on a CUDA device: a thread block multiplies a chunk, a thread a group.

   A segmented scan gives the first lane of each row the row's sum in the warp. Each warp stores the sum of its first row in shared memory; the lane
   in which a row begins in the chunk adds the sums of the later warps, in order. A row over several chunks has one sum from each; the last block to
   finish adds them in order. So every row is written once, and the order of additions is fixed.

   Non-finite entries of x. Padding multiplies zeros with entries of x; if such an entry is not finite, the group's sum is a NaN. The kernel
   recomputes the group from CSR.

   ccoohost.h has the idea.
*/
#include "mat/impls/ccoo/cuda/ccoocuda.cuh"

/* Entries that a thread loads together: K, or a divisor of it */
#define CCOO_LOADS_MOST 10

/* Sums a group. Entry k of group g is at k n + g in a chunk of n groups, so the loads of a warp are coalesced. U entries, a divisor of K, are loaded
   before the first is used. */
template <int U, bool TABLE, typename T>
static __device__ __forceinline__ SysScalar CcooMultEntries(const CcooLayout &L, const T *col, const void *value, int n, const SysScalar *x)
{
  const uint8_t   *position = (const uint8_t *)value;
  const SysScalar *val      = (const SysScalar *)value;
  SysScalar        sum      = 0;

  for (int k = 0; k < L.k; k += U) {
    T         offset[U];
    uint8_t   p[U];
    SysScalar v[U], xs[U];

#pragma unroll
    for (int u = 0; u < U; u++) {
      offset[u] = __ldcs(col + (size_t)(k + u) * n);
      if (TABLE) p[u] = __ldcs(position + (size_t)(k + u) * n);
      else v[u] = __ldcs(val + (size_t)(k + u) * n);
    }
#pragma unroll
    for (int u = 0; u < U; u++) {
      xs[u] = x[offset[u]];
      if (TABLE) v[u] = __ldg(&L.table->value[p[u]]);
    }
#pragma unroll
    for (int u = 0; u < U; u++) sum += v[u] * xs[u];
  }
  return sum;
}

template <int U, bool TABLE>
static __device__ __forceinline__ SysScalar CcooMultGroup(const CcooLayout &L, const CcooChunk &h, const uint8_t *col, int g, int n, const SysScalar *x)
{
  const uint8_t *value = L.value + (size_t)CCOO_ENTRY_BYTES * h.value + (size_t)g * (TABLE ? 1 : sizeof(SysScalar));

  x += h.col;
  if ((h.format & CCOO_WIDTH) == 1) return CcooMultEntries<U, TABLE>(L, (const uint16_t *)col + g, value, n, x);
  if ((h.format & CCOO_WIDTH) == 0) return CcooMultEntries<U, TABLE>(L, col + g, value, n, x);
  return CcooMultEntries<U, TABLE>(L, (const uint32_t *)col + g, value, n, x);
}

/* Returns the sum of a group, from CSR */
static __device__ __noinline__ SysScalar CcooMultAgain(const CcooLayout &L, const AmbArrays &csr, const CcooChunk &h, unsigned c, int g, const SysScalar *x)
{
  SysScalar sum = 0;
  int       row, first = CcooEntryOf(L, h, c, g, csr.i, &row);

  for (int k = first; k < first + L.k && k < csr.i[row + 1]; k++) sum += csr.a[k] * x[csr.j[k]];
  return sum;
}

/* Stores the partial sum of a row over several chunks. The last part to finish gets the total and returns true: it stores the row. */
static __device__ bool CcooMultLastPart(const CcooLayout &L, unsigned c, bool continues, SysScalar *sum)
{
  const unsigned origin = continues ? L.origin[c] : c, pieces = L.pieces[origin];

  __stcg(&L.carry[2 * (size_t)c + !continues], *sum);
  __threadfence();
  if (atomicAdd(&L.arrived[origin], 1u) != pieces - 1) return false;
  __threadfence();
  *sum = __ldcg(&L.carry[2 * (size_t)origin + 1]);
#pragma unroll 8
  for (unsigned p = 1; p < pieces; p++) *sum += __ldcg(&L.carry[2 * (size_t)(origin + p)]);
  L.arrived[origin] = 0;
  return true;
}

template <int U, bool ATOMICS>
static __global__ void CcooMult(const __grid_constant__ CcooLayout L, const __grid_constant__ AmbArrays csr, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z)
{
  __shared__ SysScalar first[CCOO_MAX_B / SYS_WARP];
  __shared__ unsigned  begin[CCOO_MAX_B / SYS_WARP], end[CCOO_MAX_B / SYS_WARP]; /* first and last row of each warp */
  const unsigned       c = blockIdx.x, g = threadIdx.x, lane = g % SYS_WARP, w = g / SYS_WARP, nwarp = blockDim.x / SYS_WARP;
  const CcooChunk      h      = L.chunk[c];
  const int            ngroup = CcooGroupsOf(L, c);
  const uint8_t       *offset = L.index + (size_t)CCOO_ENTRY_BYTES * h.index, *col = offset + (h.format & CCOO_ROWS ? ngroup : 0);
  const bool           active = (int)g < ngroup;
  const unsigned       row    = active ? h.row + (h.format & CCOO_ROWS ? __ldcs(offset + g) : 0) : 0xffffffffu;
  unsigned             last, before;
  SysScalar            sum = 0;
  bool                 start;

  if (active) {
    sum = h.format & CCOO_TABLE ? CcooMultGroup<U, true>(L, h, col, (int)g, ngroup, x) : CcooMultGroup<U, false>(L, h, col, (int)g, ngroup, x);
    if (sum != sum) sum = CcooMultAgain(L, csr, h, c, (int)g, x);
  }
  if (h.format & CCOO_ROWS || ngroup < L.b) {
#pragma unroll
    for (unsigned d = 1; d < SYS_WARP; d *= 2) {
      const SysScalar t = __shfl_down_sync(SYS_ALL_LANES, sum, d);
      const unsigned  s = __shfl_down_sync(SYS_ALL_LANES, row, d);

      if (!__any_sync(SYS_ALL_LANES, lane + d < SYS_WARP && s == row)) break; /* no row has more groups */

      if (lane + d < SYS_WARP && s == row) sum += t;
    }
  } else {
#pragma unroll
    for (unsigned d = SYS_WARP / 2; d; d /= 2) sum += __shfl_xor_sync(SYS_ALL_LANES, sum, d);
  }
  before = __shfl_up_sync(SYS_ALL_LANES, row, 1);
  start  = lane == 0 || row != before;
  last   = __shfl_sync(SYS_ALL_LANES, row, SYS_WARP - 1);
  if (ATOMICS) {
    if (start && active) atomicAdd(z + row, alpha * sum);
    return;
  }
  if (lane == 0) {
    first[w] = sum;
    begin[w] = row;
    end[w]   = last;
  }
  __syncthreads();
  if (!start || !active || (lane == 0 && w > 0 && end[w - 1] == row)) return;
  if (row == last) {
    for (unsigned next = w + 1; next < nwarp && begin[next] == row; next++) sum += first[next];
  }
  if (g == 0 && h.format & CCOO_CONTINUES) {
    if (!CcooMultLastPart(L, c, true, &sum)) return;
  } else if (h.format & CCOO_GOES_ON && row == L.chunk[c + 1].row) {
    if (!CcooMultLastPart(L, c, false, &sum)) return;
  }
  z[row] = beta == 0 ? alpha * sum : alpha * sum + beta * y[row];
}

static __global__ void CcooMultStart(int64_t m, SysScalar beta, const SysScalar *y, SysScalar *z)
{
  SYS_FOR_EACH(r, m) z[r] = beta == 0 ? 0 : beta * y[r];
}

template <int U>
static SysStatus CcooMultLaunch(const CcooLayout *L, int atomics, const AmbArrays *csr, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, cudaStream_t stream)
{
  return SysLaunch(atomics ? CcooMult<U, true> : CcooMult<U, false>, L->nchunk, L->b, 0, stream, *L, *csr, alpha, x, beta, y, z);
}

static int CcooMultAtOnce(int k)
{
  int u = k < CCOO_LOADS_MOST ? k : CCOO_LOADS_MOST;

  while (k % u) u--;
  return u;
}

SysStatus CcooDeviceLaunch(const CcooLayout *L, int atomics, const AmbArrays *csr, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, cudaStream_t stream)
{
  static SysStatus (*const launch[CCOO_LOADS_MOST])(const CcooLayout *, int, const AmbArrays *, SysScalar, const SysScalar *, SysScalar, const SysScalar *, SysScalar *,
                                                    cudaStream_t) = {CcooMultLaunch<1>, CcooMultLaunch<2>, CcooMultLaunch<3>, CcooMultLaunch<4>, CcooMultLaunch<5>,
                                                                     CcooMultLaunch<6>, CcooMultLaunch<7>, CcooMultLaunch<8>, CcooMultLaunch<9>, CcooMultLaunch<10>};

  if ((atomics || !L->nchunk) && L->m && (beta != 1 || y != z)) SYS_CALL(SysLaunch(CcooMultStart, SysBlocksLoop(L->m), SYS_THREADS, 0, stream, L->m, beta, y, z));
  if (!L->nchunk) return SYS_SUCCESS;
  return (*launch[CcooMultAtOnce(L->k) - 1])(L, atomics, csr, alpha, x, beta, y, z, stream);
}
