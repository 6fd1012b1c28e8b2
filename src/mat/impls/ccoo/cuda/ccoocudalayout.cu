/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The chunks of a matrix on the device, and the offsets of rows and columns

   ccoohost.h has the idea.
*/

#include "sys/syscub.cuh"
#include "mat/impls/ccoo/cuda/ccoocuda.cuh"

#define CCOO_REACH_THREADS 128 /* threads of a block, which finds one chunk's reach */

static __global__ void CcooLayoutGroups(int64_t m, const int *i, int k, int *groups)
{
  SYS_FOR_EACH(r, m + 1) groups[r] = r < m ? (int)CcooRowGroups(i[r + 1] - i[r], k) : 0;
}

/* The candidates for K. 6, 7 and their multiples were slower than the next larger ones. */
#define CCOO_CANDIDATES 15
struct Sizes {
  int k[CCOO_CANDIDATES] = {1, 2, 3, 4, 5, 8, 9, 10, 16, 20, 24, 27, 32, 36, 40};
};

static __global__ void CcooLayoutCountItems(int64_t m, const int *i, unsigned long long *sum)
{
  constexpr Sizes    sizes;
  unsigned long long mine[CCOO_CANDIDATES] = {0};

  SYS_FOR_EACH(r, m)
  {
#pragma unroll
    for (int q = 0; q < CCOO_CANDIDATES; q++) mine[q] += (unsigned long long)CcooRowGroups(i[r + 1] - i[r], sizes.k[q]);
  }
#pragma unroll
  for (int q = 0; q < CCOO_CANDIDATES; q++) {
    for (int d = SYS_WARP / 2; d; d /= 2) mine[q] += __shfl_xor_sync(SYS_ALL_LANES, mine[q], d);
    if (threadIdx.x % SYS_WARP == 0) atomicAdd(sum + q, mine[q]);
  }
}

SysStatus CcooDeviceChooseItems(const SysCSR *csr, int *k, cudaStream_t stream)
{
  constexpr Sizes    sizes;
  unsigned long long sum[CCOO_CANDIDATES];
  int                best = 0;
  SysScratch         s;

  SYS_CALL(SysDeviceAllocate(&s.memory, sizeof(sum)));
  SYS_CUDA(cudaMemsetAsync(s.memory, 0, sizeof(sum), stream));
  SYS_CALL(SysLaunch(CcooLayoutCountItems, SysBlocksLoop(csr->m), SYS_THREADS, 0, stream, csr->m, csr->i, (unsigned long long *)s.memory));
  SYS_CUDA(cudaMemcpyAsync(sum, s.memory, sizeof(sum), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  for (int q = 1; q < CCOO_CANDIDATES; q++) {
    if (CcooGroupCost(sizes.k[q]) * (double)sum[q] < CcooGroupCost(sizes.k[best]) * (double)sum[best]) best = q;
  }
  *k = sizes.k[best];
  return SYS_SUCCESS;
}

/* Finds the chunks that begin in each row */
static __global__ void CcooLayoutBegin(const CcooLayout L, int64_t nz, const int *i, const int *before)
{
  SYS_FOR_EACH(r, L.m + 1)
  {
    if (r == L.m) {
      const CcooChunk end = {(uint32_t)L.m, 0, 0, 0, 0};

      L.chunk[L.nchunk] = end;
      L.entry[L.nchunk] = (int)nz;
      return;
    }
    for (int64_t c = (before[r] + (int64_t)L.b - 1) / L.b; c * L.b < before[r + 1]; c++) {
      const CcooChunk begin = {(uint32_t)r, 0, 0, 0, c * L.b > before[r] ? (uint32_t)CCOO_CONTINUES : 0};

      L.chunk[c] = begin;
      L.entry[c] = i[r] + (int)(L.k * (c * L.b - before[r]));
    }
  }
}

/* Finds the least column and the format of a chunk; one thread block a chunk. The format stays in origin[] while other blocks read the chunk's. */
static __global__ void CcooLayoutReach(const CcooLayout L, const int *j)
{
  __shared__ int least[CCOO_REACH_THREADS / SYS_WARP], most[CCOO_REACH_THREADS / SYS_WARP];
  const unsigned c       = blockIdx.x;
  const int      goes_on = (L.chunk[c + 1].format & CCOO_CONTINUES) != 0, last = (int)L.chunk[c + 1].row - !goes_on;
  const int      begin = L.entry[c], end = L.entry[c + 1];
  int            lo = 0x7fffffff, hi = -1;

  for (int k = begin + (int)threadIdx.x; k < end; k += CCOO_REACH_THREADS) {
    lo = min(lo, j[k]);
    hi = max(hi, j[k]);
  }
  for (int d = SYS_WARP / 2; d; d /= 2) {
    lo = min(lo, __shfl_xor_sync(SYS_ALL_LANES, lo, d));
    hi = max(hi, __shfl_xor_sync(SYS_ALL_LANES, hi, d));
  }
  if (threadIdx.x % SYS_WARP == 0) {
    least[threadIdx.x / SYS_WARP] = lo;
    most[threadIdx.x / SYS_WARP]  = hi;
  }
  __syncthreads();
  if (threadIdx.x) return;
  for (int w = 1; w < CCOO_REACH_THREADS / SYS_WARP; w++) {
    lo = min(lo, least[w]);
    hi = max(hi, most[w]);
  }
  if (hi < 0) lo = hi = 0;
  L.chunk[c].col = (uint32_t)lo;
  L.origin[c]    = (hi - lo > UINT16_MAX ? 2u : (hi - lo > UINT8_MAX ? 1u : 0u)) | (last > (int)L.chunk[c].row ? (unsigned)CCOO_ROWS : 0u) | (goes_on ? (unsigned)CCOO_GOES_ON : 0u);
}

static __global__ void CcooLayoutFormats(const CcooLayout L)
{
  SYS_FOR_EACH(c, L.nchunk)
  {
    L.chunk[c].format |= L.origin[c];
    L.pieces[c]  = 0;
    L.arrived[c] = 0;
  }
}

/* Sets, for each row over several chunks, origin[] of its later chunks and pieces[] of its first */
static __global__ void CcooLayoutOrigins(const CcooLayout L)
{
  SYS_FOR_EACH(c, L.nchunk)
  {
    unsigned n = 1;

    if (!(L.chunk[c].format & CCOO_GOES_ON) || CcooThrough(L.chunk[c].format)) continue;
    do L.origin[c + n] = (unsigned)c;
    while (CcooThrough(L.chunk[c + n++].format));
    L.pieces[c] = n;
  }
}

static __global__ void CcooLayoutSizes(const CcooLayout L, int values, int64_t *size)
{
  SYS_FOR_EACH(c, (int64_t)L.nchunk + 1)
  {
    if (c == L.nchunk) size[c] = 0;
    else if (values) size[c] = CcooValueBytes(L.chunk[c].format, CcooGroupsOf(L, (unsigned)c), L.k);
    else size[c] = CcooIndexBytes(L.chunk[c].format, CcooGroupsOf(L, (unsigned)c), L.k);
  }
}

static __global__ void CcooLayoutPositions(const CcooLayout L, int values, const int64_t *begin)
{
  SYS_FOR_EACH(c, L.nchunk)
  {
    if (values) L.chunk[c].value = (uint32_t)(begin[c] / CCOO_ENTRY_BYTES);
    else L.chunk[c].index = (uint32_t)(begin[c] / CCOO_ENTRY_BYTES);
  }
}

SysStatus CcooDevicePosition(CcooDeviceChunks *C, int values, int64_t *bytes, cudaStream_t stream)
{
  const CcooLayout &L    = C->layout;
  const int         n    = (int)L.nchunk + 1;
  const size_t      list = SysPadded(sizeof(int64_t) * (size_t)n);
  size_t            room = 0;
  SysScratch        s;

  SYS_CUDA(SysExclusiveSum(NULL, room, (int64_t *)NULL, (int64_t *)NULL, n, stream));
  SYS_CALL(SysDeviceAllocate(&s.memory, 2 * list + room));
  SYS_CALL(SysLaunch(CcooLayoutSizes, SysBlocksLoop(n), SYS_THREADS, 0, stream, L, values, (int64_t *)s.memory));
  SYS_CUDA(SysExclusiveSum(s.memory + 2 * list, room, (int64_t *)s.memory, (int64_t *)(s.memory + list), n, stream));
  SYS_CALL(SysLaunch(CcooLayoutPositions, SysBlocksLoop(n), SYS_THREADS, 0, stream, L, values, (int64_t *)(s.memory + list)));
  SYS_CUDA(cudaMemcpyAsync(bytes, s.memory + list + sizeof(int64_t) * L.nchunk, sizeof(*bytes), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  return *bytes / CCOO_ENTRY_BYTES > UINT32_MAX ? SYS_TOO_LARGE : SYS_SUCCESS;
}

/* Counts the groups before each row */
static SysStatus CcooLayoutCount(const SysCSR *csr, int k, SysScratch *before, int *ngroup, cudaStream_t stream)
{
  const int    n    = (int)csr->m + 1;
  const size_t list = SysPadded(sizeof(int) * (size_t)n);
  size_t       room = 0;
  SysScratch   s;

  if ((double)csr->nz + (double)k * (double)csr->m > 2147483647. - CCOO_GROUPS * CCOO_DEVICE_MAX_K) return SYS_TOO_LARGE;
  SYS_CUDA(SysExclusiveSum(NULL, room, (int *)NULL, (int *)NULL, n, stream));
  SYS_CALL(SysDeviceAllocate(&s.memory, list + room));
  SYS_CALL(SysDeviceAllocate(&before->memory, list));
  SYS_CALL(SysLaunch(CcooLayoutGroups, SysBlocksLoop(n), SYS_THREADS, 0, stream, csr->m, csr->i, k, (int *)s.memory));
  SYS_CUDA(SysExclusiveSum(s.memory + list, room, (int *)s.memory, (int *)before->memory, n, stream));
  SYS_CUDA(cudaPeekAtLastError());
  SYS_CUDA(cudaMemcpyAsync(ngroup, (int *)before->memory + csr->m, sizeof(*ngroup), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  return SYS_SUCCESS;
}

SysStatus CcooDeviceLayout(const SysCSR *csr, const CcooParams *p, CcooDeviceChunks *C, SysScratch *before, cudaStream_t stream)
{
  CcooLayout *L     = &C->layout;
  SysArena    arena = {NULL, 0};
  int         ngroup;

  SYS_CALL(CcooLayoutCount(csr, p->k, before, &ngroup, stream));
  *L        = CcooLayout{};
  L->m      = (int)csr->m;
  L->b      = p->b;
  L->k      = p->k;
  L->ngroup = ((unsigned)ngroup + CCOO_GROUPS - 1) / CCOO_GROUPS * CCOO_GROUPS;
  L->nchunk = (L->ngroup + (unsigned)p->b - 1) / (unsigned)p->b;
  for (int pass = 0; pass < 2; pass++) {
    SysArenaTake(&arena, &L->chunk, (size_t)L->nchunk + 1);
    SysArenaTake(&arena, &L->entry, (size_t)L->nchunk + 1);
    SysArenaTake(&arena, &L->origin, L->nchunk);
    SysArenaTake(&arena, &L->pieces, L->nchunk);
    SysArenaTake(&arena, &L->arrived, L->nchunk);
    SysArenaTake(&arena, &L->carry, 2 * (size_t)L->nchunk);
    SysArenaTake(&arena, &L->table, 1);
    if (pass) break;
    C->fixed = (double)arena.used;
    SYS_CALL(SysArenaAllocate(&arena));
    C->memory = arena.memory;
  }
  SYS_CALL(SysLaunch(CcooLayoutBegin, SysBlocksLoop(csr->m + 1), SYS_THREADS, 0, stream, *L, csr->nz, csr->i, (int *)before->memory));
  SYS_CALL(SysLaunch(CcooLayoutReach, L->nchunk, CCOO_REACH_THREADS, 0, stream, *L, csr->j));
  SYS_CALL(SysLaunch(CcooLayoutFormats, SysBlocksLoop(L->nchunk), SYS_THREADS, 0, stream, *L));
  SYS_CALL(SysLaunch(CcooLayoutOrigins, SysBlocksLoop(L->nchunk), SYS_THREADS, 0, stream, *L));
  return CcooDevicePosition(C, 0, &C->nindex, stream);
}

/* Fills a chunk's offsets; one thread a group */
static __global__ void CcooLayoutFill(const CcooLayout L, const int *i, const int *j, const int *before)
{
  const unsigned  c = blockIdx.x, g = threadIdx.x;
  const CcooChunk h      = L.chunk[c];
  const int       ngroup = CcooGroupsOf(L, c), K = L.k, width = (int)(h.format & CCOO_WIDTH);
  const int64_t   group = (int64_t)c * L.b + g;
  uint8_t        *row = L.index + (size_t)CCOO_ENTRY_BYTES * h.index, *col = row + (h.format & CCOO_ROWS ? ngroup : 0);
  int             r = (int)h.row, end = min((int)L.chunk[c + 1].row + 1, L.m), first, pad;

  if ((int)g >= ngroup) return;
  while (end - r > 1) { /* before[r] <= group */
    const int middle = r + (end - r) / 2;

    if (before[middle] <= group) r = middle;
    else end = middle;
  }
  if (h.format & CCOO_ROWS) row[g] = (uint8_t)(r - (int)h.row);
  first = i[r] + (int)(K * (group - before[r]));
  pad   = i[r + 1] > i[r] ? j[i[r + 1] - 1] - (int)h.col : 0;
  for (int k = 0; k < K; k++) {
    const unsigned offset   = (unsigned)(first + k < i[r + 1] ? j[first + k] - (int)h.col : pad);
    const size_t   position = (size_t)k * ngroup + g;

    if (width == 0) col[position] = (uint8_t)offset;
    else if (width == 1) ((uint16_t *)col)[position] = (uint16_t)offset;
    else ((uint32_t *)col)[position] = offset;
  }
}

SysStatus CcooDeviceFillIndex(const SysCSR *csr, const CcooDeviceChunks *C, const int *before, cudaStream_t stream)
{
  const CcooLayout &L = C->layout;

  return SysLaunch(CcooLayoutFill, L.nchunk, L.b, 0, stream, L, csr->i, csr->j, before);
}
