/* SPDX-License-Identifier: BSD-2-Clause */
/*
   CCOO's values on the device: plain, or table indices. The host builds the table from a sample.

   ccoohost.h has the idea.
*/
#include <algorithm>
#include <memory>
#include <new>
#include <vector>

#include "mat/impls/ccoo/cuda/ccoocuda.cuh"

#define CCOO_MISSING_THREADS 128
#define CCOO_TABLE_ROUNDS    8 /* rounds that each add one value a chunk that the sample lacks */
#define CCOO_COVERED         0x7fffffff

/* Copies the windows of SysTableAddFrequent() in sequence; the last may be short */
static __global__ void CcooValuesSample(int64_t nz, int64_t nwindow, const SysScalar *a, SysScalar *sample)
{
  const int64_t all = (nz + SYS_TABLE_WINDOW - 1) / SYS_TABLE_WINDOW;

  SYS_FOR_EACH(k, nwindow * SYS_TABLE_WINDOW)
  {
    const int64_t w = k / SYS_TABLE_WINDOW, from = (nwindow > 1 ? (all - 1) * w / (nwindow - 1) : 0) * SYS_TABLE_WINDOW + k % SYS_TABLE_WINDOW;

    if (from < nz) sample[k] = a[from];
  }
}

/* Finds the first entry of a chunk whose value the table lacks; one thread block a chunk. With padding the table has 0. */
static __global__ void CcooValuesLook(const CcooLayout L, const SysScalar *a, int *missing)
{
  __shared__ SysTable T;
  __shared__ int      first;
  const unsigned      c     = blockIdx.x;
  const int           begin = L.entry[c], end = L.entry[c + 1];

  for (unsigned k = threadIdx.x; k < sizeof(T) / sizeof(uint32_t); k += CCOO_MISSING_THREADS) ((uint32_t *)&T)[k] = ((const uint32_t *)L.table)[k];
  if (threadIdx.x == 0) first = CCOO_COVERED;
  __syncthreads();
  for (int k = begin + (int)threadIdx.x; k < end; k += CCOO_MISSING_THREADS) {
    if (SysTableFind(&T, a + k) < 0) {
      atomicMin(&first, k);
      break;
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) missing[c] = first;
}

static __global__ void CcooValuesGather(int n, const int *from, const SysScalar *a, SysScalar *to)
{
  SYS_FOR_EACH(k, n) to[k] = a[from[k]];
}

/* Sets the formats for the table, and counts them */
static __global__ void CcooValuesFormats(const CcooLayout L, const int *missing, unsigned long long *count)
{
  SYS_FOR_EACH(c, L.nchunk)
  {
    const uint32_t format = (L.chunk[c].format & ~(uint32_t)CCOO_TABLE) | (missing && missing[c] == CCOO_COVERED ? (uint32_t)CCOO_TABLE : 0);

    L.chunk[c].format = format;
    atomicAdd(count + CcooFormat(format), 1ull);
  }
}

/* Adds to the table the first missing values of some chunks; sets *grown if there were any */
static SysStatus CcooValuesGrow(const SysCSR *csr, const std::vector<int> &missing, SysTable *T, bool *grown, cudaStream_t stream)
{
  std::vector<int>       from;
  std::vector<SysScalar> value;
  SysScratch             s;
  const size_t           list   = SysPadded(sizeof(int) * SYS_TABLE_VALUES);
  const int              before = T->n;

  for (size_t c = 0; c < missing.size() && from.size() < SYS_TABLE_VALUES; c++) {
    if (missing[c] != CCOO_COVERED) from.push_back(missing[c]);
  }
  value.resize(from.size());
  if (!from.empty()) {
    SYS_CALL(SysDeviceAllocate(&s.memory, list + sizeof(SysScalar) * SYS_TABLE_VALUES));
    SYS_CUDA(cudaMemcpyAsync(s.memory, from.data(), sizeof(int) * from.size(), cudaMemcpyHostToDevice, stream));
    SYS_CALL(SysLaunch(CcooValuesGather, SysBlocksLoop((int64_t)from.size()), SYS_THREADS, 0, stream, (int)from.size(), (int *)s.memory, csr->a, (SysScalar *)(s.memory + list)));
    SYS_CUDA(cudaMemcpyAsync(value.data(), s.memory + list, sizeof(SysScalar) * from.size(), cudaMemcpyDeviceToHost, stream));
    SYS_CUDA(cudaStreamSynchronize(stream));
  }
  for (const SysScalar &v : value) (void)SysTableAdd(T, &v);
  *grown = T->n > before;
  return SYS_SUCCESS;
}

/* Builds the table in *T, and finds each chunk's first missing entry */
static SysStatus CcooValuesTable(const SysCSR *csr, const CcooLayout &L, SysTable *T, SysScalar *sample, int *missing, cudaStream_t stream)
{
  const int64_t          n = std::min<int64_t>(csr->nz, SYS_TABLE_SAMPLE), nwindow = (n + SYS_TABLE_WINDOW - 1) / SYS_TABLE_WINDOW;
  const int64_t          filled = csr->nz > SYS_TABLE_SAMPLE && csr->nz % SYS_TABLE_WINDOW ? n - SYS_TABLE_WINDOW + csr->nz % SYS_TABLE_WINDOW : n; /* the last window may be short */
  const SysScalar        zero   = 0;
  std::vector<SysScalar> values((size_t)filled);
  std::vector<int>       absent(L.nchunk);
  bool                   grown = true;

  SYS_CALL(SysLaunch(CcooValuesSample, SysBlocksLoop(n), SYS_THREADS, 0, stream, csr->nz, nwindow, csr->a, sample));
  SYS_CUDA(cudaMemcpyAsync(values.data(), sample, sizeof(SysScalar) * values.size(), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  if ((int64_t)L.ngroup * L.k > csr->nz) (void)SysTableAdd(T, &zero);
  SYS_CALL(SysTableAddFrequent(T, (int64_t)values.size(), values.data()));
  for (int round = 0; round < CCOO_TABLE_ROUNDS && grown; round++) {
    SYS_CUDA(cudaMemcpyAsync(L.table, T, sizeof(*T), cudaMemcpyHostToDevice, stream));
    SYS_CALL(SysLaunch(CcooValuesLook, L.nchunk, CCOO_MISSING_THREADS, 0, stream, L, csr->a, missing));
    SYS_CUDA(cudaMemcpyAsync(absent.data(), missing, sizeof(int) * absent.size(), cudaMemcpyDeviceToHost, stream));
    SYS_CUDA(cudaStreamSynchronize(stream));
    grown = false;
    if (T->n < SYS_TABLE_VALUES && round + 1 < CCOO_TABLE_ROUNDS) SYS_CALL(CcooValuesGrow(csr, absent, T, &grown, stream));
  }
  if (std::find(absent.begin(), absent.end(), CCOO_COVERED) == absent.end()) SysTableClear(T);
  return SYS_SUCCESS;
}

SysStatus CcooDeviceChooseValues(const SysCSR *csr, const CcooParams *p, CcooDeviceChunks *C, cudaStream_t stream)
{
  const CcooLayout         &L    = C->layout;
  const size_t              list = SysPadded(sizeof(int) * (size_t)L.nchunk), counts = SysPadded(sizeof(unsigned long long) * CCOO_FORMATS);
  unsigned long long        count[CCOO_FORMATS];
  std::unique_ptr<SysTable> T(new (std::nothrow) SysTable);
  SysScratch                s;

  if (!T) return SYS_OUT_OF_MEMORY;
  SysTableClear(T.get());
  SYS_CALL(SysDeviceAllocate(&s.memory, list + counts + sizeof(SysScalar) * (SYS_TABLE_SAMPLE + SYS_TABLE_WINDOW)));
  if (p->table) SYS_CALL(CcooValuesTable(csr, L, T.get(), (SysScalar *)(s.memory + list + counts), (int *)s.memory, stream));
  SYS_CUDA(cudaMemcpyAsync(L.table, T.get(), sizeof(*T), cudaMemcpyHostToDevice, stream));
  SYS_CUDA(cudaMemsetAsync(s.memory + list, 0, counts, stream));
  SYS_CALL(SysLaunch(CcooValuesFormats, SysBlocksLoop(L.nchunk), SYS_THREADS, 0, stream, L, p->table ? (int *)s.memory : NULL, (unsigned long long *)(s.memory + list)));
  SYS_CUDA(cudaMemcpyAsync(count, s.memory + list, sizeof(count), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  for (int f = 0; f < CCOO_FORMATS; f++) C->count[f] = (int64_t)count[f];
  C->ntable = T->n;
  return CcooDevicePosition(C, 1, &C->nvalue, stream);
}

/* Stores a chunk's values; one thread a group */
static __global__ void CcooValuesFill(const CcooLayout L, const int *i, const SysScalar *a)
{
  __shared__ SysTable T;
  const unsigned      c = blockIdx.x, g = threadIdx.x;
  const CcooChunk     h        = L.chunk[c];
  uint8_t            *position = L.value + (size_t)CCOO_ENTRY_BYTES * h.value;
  const SysScalar     zero     = 0;
  const int           n        = CcooGroupsOf(L, c);
  int                 row, first;

  if (h.format & CCOO_TABLE) { /* uniform in the block */
    for (unsigned k = threadIdx.x; k < sizeof(T) / sizeof(uint32_t); k += blockDim.x) ((uint32_t *)&T)[k] = ((const uint32_t *)L.table)[k];
    __syncthreads();
  }
  if ((int)g >= n) return;
  first = CcooEntryOf(L, h, c, (int)g, i, &row);
  for (int k = 0; k < L.k; k++) {
    const SysScalar *v = first + k < i[row + 1] ? a + first + k : &zero;

    if (h.format & CCOO_TABLE) position[(size_t)k * n + g] = (uint8_t)SysTableFind(&T, v);
    else ((SysScalar *)position)[(size_t)k * n + g] = *v;
  }
}

SysStatus CcooDeviceFillValues(const SysCSR *csr, const CcooDeviceChunks *C, cudaStream_t stream)
{
  const CcooLayout &L = C->layout;

  return SysLaunch(CcooValuesFill, L.nchunk, L.b, 0, stream, L, csr->i, csr->a);
}
