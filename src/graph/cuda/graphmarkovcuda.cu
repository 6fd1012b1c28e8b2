/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Steps of Markov clustering. The product of some rows with the matrix is temporary; a warp computes each new row from it: powers, scaling to sum 1,
   pruning to the largest entries, scaling to sum 1 again.

   Source: S. van Dongen, Graph clustering by flow simulation, doctoral thesis, University of Utrecht, 2000.
*/
#include <new>
#include <vector>

#include "sys/syscub.cuh"
#include "sys/syscuda.cuh"
#include "mat/impls/hashgemm/cuda/spgemmcuda.h"
#include "graph/cuda/graphcuda.h"

struct MarkovRows {
  int64_t    m = 0, nz = 0;
  int       *i = NULL, *j = NULL;
  SysScalar *a = NULL;
};

struct _GraphMarkov {
  SpgemmDeviceContext *context = NULL;
  SysCSR               M       = {0, 0, 0, NULL, NULL, NULL};
  MarkovRows           own; /* M's arrays after the first step */
};

/* The entries of a row to keep: those larger than bound, and the first `ties` equal to it */
struct MarkovKept {
  SysScalar bound;
  int       ties;
};

template <typename T>
static __device__ __forceinline__ T MarkovWarpSum(T s)
{
  for (int d = SYS_WARP / 2; d; d /= 2) s += __shfl_xor_sync(SYS_ALL_LANES, s, d);
  return s;
}

static __device__ __forceinline__ SysScalar MarkovWarpMax(SysScalar s)
{
  for (int d = SYS_WARP / 2; d; d /= 2) {
    const SysScalar other = __shfl_xor_sync(SYS_ALL_LANES, s, d);

    s = other > s ? other : s;
  }
  return s;
}

/* Computes the multiplications of each row of M M */
static __global__ void __launch_bounds__(SYS_THREADS) MarkovWork(int m, const int *i, const int *j, long long *work)
{
  const int lane = (int)threadIdx.x % SYS_WARP;

  for (int64_t r = (blockIdx.x * (int64_t)blockDim.x + threadIdx.x) / SYS_WARP; r < m; r += gridDim.x * (int64_t)blockDim.x / SYS_WARP) {
    long long s = 0;

    for (int64_t k = i[r] + (int64_t)lane; k < i[r + 1]; k += SYS_WARP) s += i[j[k] + 1] - i[j[k]];
    s = MarkovWarpSum(s);
    if (lane == 0) work[r] = s;
  }
}

static __global__ void __launch_bounds__(SYS_THREADS) MarkovShift(int64_t n, const int *from, int by, int *to)
{
  SYS_FOR_EACH(k, n) to[k] = from[k] + by;
}

static __device__ __forceinline__ int MarkovCountAbove(int first, int end, int lane, const SysScalar *a, SysScalar bound)
{
  int count = 0;

  for (int64_t k = first + (int64_t)lane; k < end; k += SYS_WARP) count += a[k] > bound;
  return MarkovWarpSum(count);
}

/* Returns the keep-th largest of more than keep positive numbers: the least number with fewer than keep larger ones */
static __device__ SysScalar MarkovSelect(int first, int end, int lane, const SysScalar *a, SysScalar low, SysScalar high, int keep)
{
#if defined(SYS_SINGLE)
  unsigned lo = __float_as_uint(low), hi = __float_as_uint(high);
#else
  unsigned long long lo = (unsigned long long)__double_as_longlong(low), hi = (unsigned long long)__double_as_longlong(high);
#endif

  while (lo < hi) { /* positive numbers are ordered as their bits */
    const auto mid = lo + (hi - lo) / 2;
#if defined(SYS_SINGLE)
    const SysScalar bound = __uint_as_float(mid);
#else
    const SysScalar bound = __longlong_as_double((long long)mid);
#endif

    if (MarkovCountAbove(first, end, lane, a, bound) < keep) hi = mid;
    else lo = mid + 1;
  }
#if defined(SYS_SINGLE)
  return __uint_as_float(lo);
#else
  return __longlong_as_double((long long)lo);
#endif
}

/* Raises the entries to a power, divides them by their sum, and sets what to keep of each row */
static __global__ void __launch_bounds__(SYS_THREADS) MarkovInflate(int m, const int *i, SysScalar *a, SysReal power, SysReal least, int keep, int *length, MarkovKept *kept)
{
  const int lane = (int)threadIdx.x % SYS_WARP;

  for (int64_t r = (blockIdx.x * (int64_t)blockDim.x + threadIdx.x) / SYS_WARP; r < m; r += gridDim.x * (int64_t)blockDim.x / SYS_WARP) {
    const int  first = i[r], end = i[r + 1];
    SysScalar  sum = 0, most = 0;
    MarkovKept stay;
    int        above = 0, equal = 0;

    for (int64_t k = first + (int64_t)lane; k < end; k += SYS_WARP) {
      const SysScalar s = fabs(a[k]), v = power == 2 ? s * s : pow(s, power);

      a[k] = v;
      sum += v;
    }
    sum = MarkovWarpSum(sum);
    sum = sum != 0 ? 1 / sum : 1;
    for (int64_t k = first + (int64_t)lane; k < end; k += SYS_WARP) {
      a[k] *= sum;
      most = a[k] > most ? a[k] : most;
    }
    most       = MarkovWarpMax(most);
    stay.bound = least < most ? least : most;
    for (int64_t k = first + (int64_t)lane; k < end; k += SYS_WARP) {
      above += a[k] > stay.bound;
      equal += a[k] == stay.bound;
    }
    above = MarkovWarpSum(above);
    equal = MarkovWarpSum(equal);
    if (above > keep) {
      stay.bound = MarkovSelect(first, end, lane, a, stay.bound, most, keep);
      above      = MarkovCountAbove(first, end, lane, a, stay.bound);
      equal      = keep - above;
    }
    stay.ties = equal < keep - above ? equal : keep - above;
    if (lane == 0) {
      length[r] = above + stay.ties;
      kept[r]   = stay;
    }
  }
}

/* Copies the kept entries in order, scaled to sum 1; *chaos gets the bits of the largest difference between a row's largest entry and its sum of
   squares */
static __global__ void __launch_bounds__(SYS_THREADS) MarkovKeep(int m, const int *i, const int *j, const SysScalar *a, const MarkovKept *kept, const int *I, int *J, SysScalar *A, unsigned long long *chaos)
{
  const int      lane   = (int)threadIdx.x % SYS_WARP;
  const unsigned before = (1u << lane) - 1;
  double         worst  = 0;

  for (int64_t r = (blockIdx.x * (int64_t)blockDim.x + threadIdx.x) / SYS_WARP; r < m; r += gridDim.x * (int64_t)blockDim.x / SYS_WARP) {
    const MarkovKept stay  = kept[r];
    const int        first = i[r], end = i[r + 1];
    int              to = I[r], ties = stay.ties;
    SysScalar        sum = 0, most = 0, squares = 0;

    for (int64_t base = first; base < end; base += SYS_WARP) {
      const int64_t   k     = base + lane;
      const SysScalar v     = k < end ? a[k] : 0;
      const unsigned  equal = __ballot_sync(SYS_ALL_LANES, k < end && v == stay.bound);
      const int       stays = k < end && (v > stay.bound || (v == stay.bound && __popc(equal & before) < ties));
      const unsigned  all   = __ballot_sync(SYS_ALL_LANES, stays);

      if (stays) {
        J[to + __popc(all & before)] = j[k];
        A[to + __popc(all & before)] = v;
        sum += v;
      }
      to += __popc(all);
      ties = ties > __popc(equal) ? ties - __popc(equal) : 0;
    }
    sum = MarkovWarpSum(sum);
    sum = sum != 0 ? 1 / sum : 1;
    __syncwarp();
    for (int k = I[r] + lane; k < to; k += SYS_WARP) {
      const SysScalar v = A[k] * sum;

      A[k] = v;
      most = v > most ? v : most;
      squares += v * v;
    }
    most    = MarkovWarpMax(most);
    squares = MarkovWarpSum(squares);
    worst   = fmax(worst, fabs((double)(most - squares)));
  }
  if (lane == 0) atomicMax(chaos, (unsigned long long)__double_as_longlong(worst));
}

static SysStatus MarkovAllocate(GraphMarkov *g, MarkovRows *rows, SysStream stream)
{
  if (!rows->i) SYS_CALL(SysPoolAllocate(((size_t)rows->m + 1) * sizeof(int), &rows->i, stream));
  SYS_CALL(SysPoolAllocate((size_t)(rows->nz ? rows->nz : 1) * sizeof(int), &rows->j, stream));
  return SysPoolAllocate((size_t)(rows->nz ? rows->nz : 1) * sizeof(SysScalar), &rows->a, stream);
}

static void MarkovRelease(GraphMarkov *g, MarkovRows *rows, SysStream stream)
{
  if (rows->i) SysPoolRelease(rows->i, stream);
  if (rows->j) SysPoolRelease(rows->j, stream);
  if (rows->a) SysPoolRelease(rows->a, stream);
  rows->i = rows->j = NULL;
  rows->a           = NULL;
}

/* Computes the product of rows from to to - 1 of M with M */
static SysStatus MarkovExpand(GraphMarkov *g, int64_t from, int64_t to, int begin, int end, MarkovRows *E, SysStream stream)
{
  const SysCSR  none    = {0, 0, 0, NULL, NULL, NULL};
  SysCSR        part    = {to - from, g->M.n, end - begin, NULL, g->M.j + begin, g->M.a + begin};
  SpgemmDevice *product = NULL;
  SpgemmInfo    info;
  SysStatus     status;
  int          *i = NULL;

  E->m = to - from;
  if (begin == end) { /* SpGEMM needs entries */
    SYS_CALL(MarkovAllocate(g, E, stream));
    SYS_CUDA(cudaMemsetAsync(E->i, 0, ((size_t)E->m + 1) * sizeof(*i), stream));
    return SYS_SUCCESS;
  }
  SYS_CALL(SysPoolAllocate(((size_t)E->m + 1) * sizeof(*i), &i, stream));
  status = SysLaunch(MarkovShift, SysBlocksLoop(E->m + 1), SYS_THREADS, 0, stream, E->m + 1, g->M.i + from, -begin, i);
  part.i = i;
  if (!status) status = SpgemmDeviceCreate(g->context, SPGEMM_AB, SPGEMM_AUTO, &part, &g->M, &none, stream, &product, &info);
  if (!status) E->nz = (int64_t)info.nonzeros;
  if (!status) status = MarkovAllocate(g, E, stream);
  if (!status) status = SpgemmDeviceFill(product, &part, &g->M, &none, E->i, E->j, E->a, stream);
  SpgemmDeviceDestroy(&product, stream);
  SysPoolRelease(i, stream);
  return status;
}

/* Computes the new rows of expanded rows */
static SysStatus MarkovReduce(GraphMarkov *g, const GraphMarkovOptions *o, const MarkovRows *E, MarkovRows *N, unsigned long long *chaos, SysStream stream)
{
  const int     m = (int)E->m, keep = (int)(o->keep < INT_MAX ? o->keep : INT_MAX);
  const int64_t blocks = SysBlocksLoop(E->m * SYS_WARP);
  SysScratch    scratch, scan;
  MarkovKept   *kept;
  size_t        bytes = 0;
  int           last;

  N->m = E->m;
  SYS_CALL(SysDeviceAllocate(&scratch.memory, (size_t)m * sizeof(*kept)));
  kept = (MarkovKept *)scratch.memory;
  SYS_CALL(SysPoolAllocate(((size_t)m + 1) * sizeof(int), &N->i, stream));
  SYS_CUDA(cudaMemsetAsync(N->i, 0, sizeof(int), stream));
  SYS_CALL(SysLaunch(MarkovInflate, blocks, SYS_THREADS, 0, stream, m, E->i, E->a, (SysReal)o->inflation, (SysReal)o->prune, keep, N->i + 1, kept));
  SYS_CUDA(SysInclusiveSum(NULL, bytes, N->i + 1, N->i + 1, m, stream));
  SYS_CALL(SysDeviceAllocate(&scan.memory, bytes));
  SYS_CUDA(SysInclusiveSum(scan.memory, bytes, N->i + 1, N->i + 1, m, stream));
  SYS_CUDA(cudaMemcpyAsync(&last, N->i + m, sizeof(last), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  N->nz = last;
  SYS_CALL(MarkovAllocate(g, N, stream));
  SYS_CALL(SysLaunch(MarkovKeep, blocks, SYS_THREADS, 0, stream, m, E->i, E->j, E->a, kept, N->i, N->j, N->a, chaos));
  SYS_CUDA(cudaStreamSynchronize(stream)); /* scratch memory is freed on return */
  return SYS_SUCCESS;
}

/* Concatenates rows */
static SysStatus MarkovJoin(GraphMarkov *g, const std::vector<MarkovRows> &parts, MarkovRows *all, SysStream stream)
{
  int64_t row = 0, at = 0;

  all->m = g->M.m;
  for (const MarkovRows &p : parts) all->nz += p.nz;
  if (all->nz > INT_MAX) return SYS_TOO_LARGE;
  SYS_CALL(MarkovAllocate(g, all, stream));
  for (const MarkovRows &p : parts) {
    SYS_CALL(SysLaunch(MarkovShift, SysBlocksLoop(p.m + 1), SYS_THREADS, 0, stream, p.m + 1, (const int *)p.i, (int)at, all->i + row));
    SYS_CUDA(cudaMemcpyAsync(all->j + at, p.j, (size_t)p.nz * sizeof(int), cudaMemcpyDeviceToDevice, stream));
    SYS_CUDA(cudaMemcpyAsync(all->a + at, p.a, (size_t)p.nz * sizeof(SysScalar), cudaMemcpyDeviceToDevice, stream));
    row += p.m;
    at += p.nz;
  }
  return SYS_SUCCESS;
}

/* Partitions the rows into batches of at most `most` multiplications, or one row */
static SysStatus MarkovCut(GraphMarkov *g, double most, std::vector<int64_t> *cut, std::vector<int> *i, SysStream stream)
{
  const size_t           m = (size_t)g->M.m;
  std::vector<long long> work(m);
  SysScratch             scratch;
  double                 sum = 0;

  i->resize(m + 1);
  SYS_CALL(SysDeviceAllocate(&scratch.memory, m * sizeof(long long)));
  SYS_CALL(SysLaunch(MarkovWork, SysBlocksLoop((int64_t)m * SYS_WARP), SYS_THREADS, 0, stream, (int)m, g->M.i, g->M.j, (long long *)scratch.memory));
  SYS_CUDA(cudaMemcpyAsync(work.data(), scratch.memory, m * sizeof(long long), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaMemcpyAsync(i->data(), g->M.i, (m + 1) * sizeof(int), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  cut->push_back(0);
  for (size_t r = 0; r < m; r++) {
    sum += (double)work[r];
    if (sum <= most || cut->back() == (int64_t)r) continue;
    cut->push_back((int64_t)r);
    sum = (double)work[r];
  }
  cut->push_back((int64_t)m);
  return SYS_SUCCESS;
}

static SysStatus MarkovBatches(GraphMarkov *g, const GraphMarkovOptions *o, std::vector<MarkovRows> *parts, unsigned long long *chaos, SysStream stream)
{
  std::vector<int64_t> cut;
  std::vector<int>     i;

  SYS_CALL(MarkovCut(g, o->batch, &cut, &i, stream));
  for (size_t b = 0; b + 1 < cut.size(); b++) {
    const int64_t from = cut[b], to = cut[b + 1];
    MarkovRows    E;
    SysStatus     status;

    parts->push_back(MarkovRows());
    status = MarkovExpand(g, from, to, i[(size_t)from], i[(size_t)to], &E, stream);
    if (!status) status = MarkovReduce(g, o, &E, &parts->back(), chaos, stream);
    MarkovRelease(g, &E, stream);
    if (status) return status;
  }
  return SYS_SUCCESS;
}

SysStatus GraphMarkovCreate(const SysCSR *M, GraphMarkov **out)
{
  GraphMarkov *g = new (std::nothrow) GraphMarkov;

  *out = g;
  if (!g) return SYS_OUT_OF_MEMORY;
  g->M = *M;
  return SpgemmDeviceContextCreate(&g->context);
}

SysStatus GraphMarkovStep(GraphMarkov *g, const GraphMarkovOptions *o, double *chaos, SysStream stream)
{
  SysScratch              scratch;
  std::vector<MarkovRows> parts;
  MarkovRows              next;
  SysStatus               status;

  SYS_CALL(SysDeviceAllocate(&scratch.memory, sizeof(*chaos)));
  SYS_CUDA(cudaMemsetAsync(scratch.memory, 0, sizeof(*chaos), stream));
  status = MarkovBatches(g, o, &parts, (unsigned long long *)scratch.memory, stream);
  if (!status && parts.size() == 1) std::swap(next, parts[0]);
  else if (!status) status = MarkovJoin(g, parts, &next, stream);
  for (MarkovRows &p : parts) MarkovRelease(g, &p, stream);
  if (status) {
    MarkovRelease(g, &next, stream);
    return status;
  }
  MarkovRelease(g, &g->own, stream);
  g->own = next;
  g->M   = {next.m, g->M.n, next.nz, next.i, next.j, next.a};
  SYS_CUDA(cudaMemcpyAsync(chaos, scratch.memory, sizeof(*chaos), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  return SYS_SUCCESS;
}

int64_t GraphMarkovEntries(const GraphMarkov *g)
{
  return g->M.nz;
}

SysStatus GraphMarkovFetch(const GraphMarkov *g, int *i, int *j, SysScalar *a, SysStream stream)
{
  SYS_CUDA(cudaMemcpyAsync(i, g->M.i, ((size_t)g->M.m + 1) * sizeof(*i), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaMemcpyAsync(j, g->M.j, (size_t)g->M.nz * sizeof(*j), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaMemcpyAsync(a, g->M.a, (size_t)g->M.nz * sizeof(*a), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  return SYS_SUCCESS;
}

void GraphMarkovDestroy(GraphMarkov *g, SysStream stream)
{
  if (!g) return;
  MarkovRelease(g, &g->own, stream);
  SpgemmDeviceContextDestroy(&g->context);
  delete g;
}
