/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The product with a vector in CCOO on a CUDA device: a thread block multiplies a chunk, a thread a group

   A segmented scan in the warp gives the first lane of each row the sum of its groups in the warp. The warps of a block leave the sums of their first rows in
   shared memory; the lane with which a row begins in the chunk adds those of the warps after its own, in their order. A row in several chunks has a sum from each;
   the block that comes last adds these in their order. So every row is written once, and the order of additions never changes.

   Padding multiplies zeros with entries of x. If such an entry is not finite, the sum of the group becomes a NaN; it is then computed again from the CSR arrays.
*/
#include "mat/impls/ccoo/ccoocuda.cuh"

/* Bytes from memory that are read once; BYTES is a power of two and the alignment, but for 32 and 64, which have an alignment of 16 */
template <int BYTES>
struct Once;
template <>
struct Once<1> {
  static __device__ __forceinline__ void Load(const void *p, void *to) { *(unsigned char *)to = __ldcs((const unsigned char *)p); }
};
template <>
struct Once<2> {
  static __device__ __forceinline__ void Load(const void *p, void *to) { *(unsigned short *)to = __ldcs((const unsigned short *)p); }
};
template <>
struct Once<4> {
  static __device__ __forceinline__ void Load(const void *p, void *to) { *(unsigned *)to = __ldcs((const unsigned *)p); }
};
template <>
struct Once<8> {
  static __device__ __forceinline__ void Load(const void *p, void *to) { *(uint2 *)to = __ldcs((const uint2 *)p); }
};
template <int BYTES>
struct Once {
  static __device__ __forceinline__ void Load(const void *p, void *to)
  {
#pragma unroll
    for (int k = 0; k < BYTES / 16; k++) ((uint4 *)to)[k] = __ldcs((const uint4 *)p + k);
  }
};

/* The entries of x that a group multiplies */
template <int K, typename T>
static __device__ __forceinline__ void CcooMultGather(const uint8_t *col, int g, const SysScalar *x, SysScalar xs[K])
{
  alignas(16) T offset[K];

  Once<K *(int)sizeof(T)>::Load((const T *)col + (size_t)g * K, offset);
#pragma unroll
  for (int k = 0; k < K; k++) xs[k] = x[offset[k]];
}

/* The sum of a group */
template <int K>
static __device__ __forceinline__ SysScalar CcooMultGroup(const CcooLayout &L, const CcooChunk &h, const uint8_t *col, int g, const SysScalar *x)
{
  const uint8_t *value = L.value + (size_t)CCOO_ENTRY_BYTES * h.value;
  SysScalar      xs[K], sum = 0;

  x += h.col;
  if (h.format & CCOO_TABLE) {
    alignas(16) uint8_t place[K];

    Once<K>::Load(value + (size_t)g * K, place);
    if ((h.format & CCOO_WIDTH) == 1) CcooMultGather<K, uint16_t>(col, g, x, xs);
    else if ((h.format & CCOO_WIDTH) == 0) CcooMultGather<K, uint8_t>(col, g, x, xs);
    else CcooMultGather<K, uint32_t>(col, g, x, xs);
#pragma unroll
    for (int k = 0; k < K; k++) sum += __ldg(&L.table->value[place[k]]) * xs[k];
  } else {
    alignas(16) SysScalar v[K];

    Once<K *(int)sizeof(SysScalar)>::Load((const SysScalar *)value + (size_t)g * K, v);
    if ((h.format & CCOO_WIDTH) == 1) CcooMultGather<K, uint16_t>(col, g, x, xs);
    else if ((h.format & CCOO_WIDTH) == 0) CcooMultGather<K, uint8_t>(col, g, x, xs);
    else CcooMultGather<K, uint32_t>(col, g, x, xs);
#pragma unroll
    for (int k = 0; k < K; k++) sum += v[k] * xs[k];
  }
  return sum;
}

/* The sum of a group from the CSR arrays */
static __device__ __noinline__ SysScalar CcooMultAgain(const CcooLayout &L, const AmbArrays &csr, const CcooChunk &h, unsigned c, int g, const SysScalar *x)
{
  SysScalar sum = 0;
  int       row, first = CcooEntryOf(L, h, c, g, csr.i, &row);

  for (int k = first; k < first + L.k && k < csr.i[row + 1]; k++) sum += csr.a[k] * x[csr.j[k]];
  return sum;
}

/* Leaves the sum of a part of a row that lies in several chunks. The last of the parts gets the sum of all, and returns true: it stores the row. */
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

template <int K, bool ADD, bool ATOMICS>
static __global__ void CcooMult(const __grid_constant__ CcooLayout L, const __grid_constant__ AmbArrays csr, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z)
{
  __shared__ SysScalar first[CCOO_MAX_B / SYS_WARP];
  __shared__ unsigned  begin[CCOO_MAX_B / SYS_WARP], end[CCOO_MAX_B / SYS_WARP]; /* the first and the last row of each warp */
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
    sum = CcooMultGroup<K>(L, h, col, (int)g, x);
    if (sum != sum) sum = CcooMultAgain(L, csr, h, c, (int)g, x);
  }
  if (h.format & CCOO_ROWS || ngroup < L.b) {
#pragma unroll
    for (unsigned d = 1; d < SYS_WARP; d *= 2) {
      const SysScalar t = __shfl_down_sync(SYS_ALL_LANES, sum, d);
      const unsigned  s = __shfl_down_sync(SYS_ALL_LANES, row, d);

      if (!__any_sync(SYS_ALL_LANES, lane + d < SYS_WARP && s == row)) break; /* no row has so many groups */

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
  z[row] = ADD ? alpha * sum + beta * y[row] : alpha * sum;
}

static __global__ void CcooMultStart(int64_t m, SysScalar beta, const SysScalar *y, SysScalar *z)
{
  SYS_FOR_EACH(r, m) z[r] = beta == 0 ? 0 : beta * y[r];
}

template <int K>
static SysStatus CcooMultLaunch(const CcooLayout *L, int atomics, const AmbArrays *csr, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, cudaStream_t stream)
{
  const auto kernel = atomics ? CcooMult<K, false, true> : beta == 0 ? CcooMult<K, false, false> : CcooMult<K, true, false>;

  return SysLaunch(kernel, L->nchunk, L->b, 0, stream, *L, *csr, alpha, x, beta, y, z);
}

SysStatus CcooDeviceLaunch(const CcooLayout *L, int atomics, const AmbArrays *csr, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, cudaStream_t stream)
{
  if ((atomics || !L->nchunk) && L->m && (beta != 1 || y != z)) SYS_CALL(SysLaunch(CcooMultStart, SysBlocksLoop(L->m), SYS_THREADS, 0, stream, L->m, beta, y, z));
  if (L->k == 1) return CcooMultLaunch<1>(L, atomics, csr, alpha, x, beta, y, z, stream);
  if (L->k == 2) return CcooMultLaunch<2>(L, atomics, csr, alpha, x, beta, y, z, stream);
  if (L->k == 4) return CcooMultLaunch<4>(L, atomics, csr, alpha, x, beta, y, z, stream);
  return CcooMultLaunch<8>(L, atomics, csr, alpha, x, beta, y, z, stream);
}
