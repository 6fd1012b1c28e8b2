/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The product with a vector in CCOO on a CUDA device: a thread block multiplies a chunk, a thread some groups

   A segmented scan in the warp gives the first lane of each row the sum of its groups in the warp. The warps of a block leave the sums of their first rows in
   shared memory; the lane with which a row begins in the chunk adds those of the warps after its own, in their order. A row in several chunks has a sum from each;
   the block that comes last adds these in their order. So every row is written once, and the order of additions never changes.

   Padding multiplies zeros with entries of x. If such an entry is not finite, the sum of the group becomes a NaN; it is then computed again from the CSR arrays.
*/
#include "mat/impls/ccoo/ccoocuda.cuh"

#define GROUPS 1 /* of a thread */

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

/* Values of groups of K entries: as they are, or by their places in the table */
template <int K>
struct Plain {
  struct Group {
    alignas(16) SysScalar a[K];
  };
  const SysScalar *value;

  __device__ __forceinline__           Plain(const CcooLayout &L, const CcooChunk &h) : value((const SysScalar *)(L.value + (size_t)CCOO_ENTRY_BYTES * h.value)) { }
  __device__ __forceinline__ void      Load(int g, Group &v) const { Once<K *(int)sizeof(SysScalar)>::Load(value + (size_t)g * K, v.a); }
  __device__ __forceinline__ SysScalar Of(const Group &v, int k) const { return v.a[k]; }
};

template <int K>
struct Places {
  struct Group {
    alignas(16) uint8_t a[K];
  };
  const uint8_t  *place;
  const SysTable *table;

  __device__ __forceinline__           Places(const CcooLayout &L, const CcooChunk &h) : place(L.value + (size_t)CCOO_ENTRY_BYTES * h.value), table(L.table) { }
  __device__ __forceinline__ void      Load(int g, Group &v) const { Once<K>::Load(place + (size_t)g * K, v.a); }
  __device__ __forceinline__ SysScalar Of(const Group &v, int k) const { return __ldg(&table->value[v.a[k]]); }
};

/* The sums of the groups of a thread, group number g and those that follow in steps of the thread block. All loads come before the first use of one. */
template <int K, int G, typename T, class Values>
static __device__ __forceinline__ void CcooMultGroups(const Values &values, const uint8_t *col, int g, int ngroup, const SysScalar *x, SysScalar sum[G])
{
  alignas(16) T          offset[G][K];
  typename Values::Group v[G];
  SysScalar              xs[G][K];

#pragma unroll
  for (int q = 0; q < G; q++) {
    const int at = g + q * (int)blockDim.x;

    if (at >= ngroup) continue;
    Once<K *(int)sizeof(T)>::Load((const T *)col + (size_t)at * K, offset[q]);
    values.Load(at, v[q]);
  }
#pragma unroll
  for (int q = 0; q < G; q++) {
    if (g + q * (int)blockDim.x >= ngroup) continue;
#pragma unroll
    for (int k = 0; k < K; k++) xs[q][k] = x[offset[q][k]];
  }
#pragma unroll
  for (int q = 0; q < G; q++) {
    sum[q] = 0;
    if (g + q * (int)blockDim.x >= ngroup) continue;
#pragma unroll
    for (int k = 0; k < K; k++) sum[q] += values.Of(v[q], k) * xs[q][k];
  }
}

template <int K, int G, class Values>
static __device__ __forceinline__ void CcooMultWidths(const Values &values, const CcooChunk &h, const uint8_t *col, int g, int ngroup, const SysScalar *x, SysScalar sum[G])
{
  if ((h.format & CCOO_WIDTH) == 1) CcooMultGroups<K, G, uint16_t>(values, col, g, ngroup, x, sum);
  else if ((h.format & CCOO_WIDTH) == 0) CcooMultGroups<K, G, uint8_t>(values, col, g, ngroup, x, sum);
  else CcooMultGroups<K, G, uint32_t>(values, col, g, ngroup, x, sum);
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

template <int K, int G, bool ADD, bool ATOMICS>
static __global__ void CcooMult(const __grid_constant__ CcooLayout L, const __grid_constant__ AmbArrays csr, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z)
{
  __shared__ SysScalar first[CCOO_MAX_B / SYS_WARP];
  __shared__ unsigned  begin[CCOO_MAX_B / SYS_WARP], end[CCOO_MAX_B / SYS_WARP]; /* the first and the last row of 32 groups */
  const unsigned       c = blockIdx.x, lane = threadIdx.x % SYS_WARP, nwarp = (unsigned)L.b / SYS_WARP;
  const CcooChunk      h      = L.chunk[c];
  const int            ngroup = CcooGroupsOf(L, c);
  const uint8_t       *offset = L.index + (size_t)CCOO_ENTRY_BYTES * h.index, *col = offset + (h.format & CCOO_ROWS ? ngroup : 0);
  unsigned             row[G], last[G];
  SysScalar            sum[G];
  bool                 start[G];

#pragma unroll
  for (int q = 0; q < G; q++) {
    const unsigned g = (unsigned)q * blockDim.x + threadIdx.x;

    row[q] = (int)g < ngroup ? h.row + (h.format & CCOO_ROWS ? __ldcs(offset + g) : 0) : 0xffffffffu;
  }
  if (h.format & CCOO_TABLE) CcooMultWidths<K, G>(Places<K>(L, h), h, col, (int)threadIdx.x, ngroup, x + h.col, sum);
  else CcooMultWidths<K, G>(Plain<K>(L, h), h, col, (int)threadIdx.x, ngroup, x + h.col, sum);
#pragma unroll
  for (int q = 0; q < G; q++) {
    const unsigned g = (unsigned)q * blockDim.x + threadIdx.x, w = g / SYS_WARP;
    unsigned       before;

    if (sum[q] != sum[q]) sum[q] = CcooMultAgain(L, csr, h, c, (int)g, x);
    if (h.format & CCOO_ROWS || ngroup < L.b) {
#pragma unroll
      for (unsigned d = 1; d < SYS_WARP; d *= 2) {
        const SysScalar t    = __shfl_down_sync(SYS_ALL_LANES, sum[q], d);
        const unsigned  s    = __shfl_down_sync(SYS_ALL_LANES, row[q], d);
        const bool      same = lane + d < SYS_WARP && s == row[q];

        if (!__any_sync(SYS_ALL_LANES, same)) break; /* no row has so many groups */
        if (same) sum[q] += t;
      }
    } else {
#pragma unroll
      for (unsigned d = SYS_WARP / 2; d; d /= 2) sum[q] += __shfl_xor_sync(SYS_ALL_LANES, sum[q], d);
    }
    before   = __shfl_up_sync(SYS_ALL_LANES, row[q], 1);
    start[q] = lane == 0 || row[q] != before;
    last[q]  = __shfl_sync(SYS_ALL_LANES, row[q], SYS_WARP - 1);
    if (!ATOMICS && lane == 0) {
      first[w] = sum[q];
      begin[w] = row[q];
      end[w]   = last[q];
    }
  }
  if (!ATOMICS) __syncthreads();
#pragma unroll
  for (int q = 0; q < G; q++) {
    const unsigned g = (unsigned)q * blockDim.x + threadIdx.x, w = g / SYS_WARP;

    if (!start[q] || (int)g >= ngroup) continue;
    if (ATOMICS) {
      atomicAdd(z + row[q], alpha * sum[q]);
      continue;
    }
    if (lane == 0 && w > 0 && end[w - 1] == row[q]) continue;
    if (row[q] == last[q]) {
      for (unsigned next = w + 1; next < nwarp && begin[next] == row[q]; next++) sum[q] += first[next];
    }
    if (g == 0 && h.format & CCOO_CONTINUES) {
      if (!CcooMultLastPart(L, c, true, &sum[q])) continue;
    } else if (h.format & CCOO_GOES_ON && row[q] == L.chunk[c + 1].row) {
      if (!CcooMultLastPart(L, c, false, &sum[q])) continue;
    }
    z[row[q]] = ADD ? alpha * sum[q] + beta * y[row[q]] : alpha * sum[q];
  }
}

static __global__ void CcooMultStart(int64_t m, SysScalar beta, const SysScalar *y, SysScalar *z)
{
  SYS_FOR_EACH(r, m) z[r] = beta == 0 ? 0 : beta * y[r];
}

template <int K, int G>
static SysStatus CcooMultLaunch(const CcooLayout *L, int atomics, const AmbArrays *csr, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, cudaStream_t stream)
{
  const auto kernel = atomics ? CcooMult<K, G, false, true> : beta == 0 ? CcooMult<K, G, false, false> : CcooMult<K, G, true, false>;

  return SysLaunch(kernel, L->nchunk, L->b / G, 0, stream, *L, *csr, alpha, x, beta, y, z);
}

template <int K>
static SysStatus CcooMultLaunchGroups(const CcooLayout *L, int atomics, const AmbArrays *csr, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, cudaStream_t stream)
{
  if (L->b < GROUPS * SYS_WARP) return CcooMultLaunch<K, 1>(L, atomics, csr, alpha, x, beta, y, z, stream);
  return CcooMultLaunch<K, GROUPS>(L, atomics, csr, alpha, x, beta, y, z, stream);
}

SysStatus CcooDeviceLaunch(const CcooLayout *L, int atomics, const AmbArrays *csr, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, cudaStream_t stream)
{
  if ((atomics || !L->nchunk) && L->m && (beta != 1 || y != z)) SYS_CALL(SysLaunch(CcooMultStart, SysBlocksLoop(L->m), SYS_THREADS, 0, stream, L->m, beta, y, z));
  if (L->k == 1) return CcooMultLaunchGroups<1>(L, atomics, csr, alpha, x, beta, y, z, stream);
  if (L->k == 2) return CcooMultLaunchGroups<2>(L, atomics, csr, alpha, x, beta, y, z, stream);
  if (L->k == 4) return CcooMultLaunchGroups<4>(L, atomics, csr, alpha, x, beta, y, z, stream);
  return CcooMultLaunchGroups<8>(L, atomics, csr, alpha, x, beta, y, z, stream);
}
