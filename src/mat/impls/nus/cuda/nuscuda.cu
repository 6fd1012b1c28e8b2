/* SPDX-License-Identifier: BSD-2-Clause */
/*
   NUS-SELL on a CUDA device: the choice of segments, by a rule or by timing, and the products

   nushost.h has the idea.
*/
#include <climits>
#include <cmath>
#include <new>
#include <utility>

#include "sys/systrial.cuh"
#include "sys/systuning.h"
#include "mat/impls/nus/cuda/nuscuda.cuh"
#include "mat/impls/nus/host/nussearch.h"
#include "mat/impls/nus/host/nuspolicy.h"

/* Parts of the second-level cache, measured: x in a segment; what is found there of an x that is read everywhere; and the part of all entries that must
   lie beyond that for segments to pay */

#define NUS_SAMPLE_LOG  12  /* log2 of the slots of a sample's table of lines */
#define NUS_SAMPLE_LINE 128 /* bytes of a line of x */
static_assert(2 * NUS_CUDA_SAMPLE_ENTRIES <= 1 << NUS_SAMPLE_LOG, "a slot is found soon");

static_assert(NUS_DEVICE_C == SYS_WARP && NUS_DEVICE_SIGMA == AMB_SCOPE, "the layout of AMB has these numbers");

static __global__ void NusDeviceGather(int64_t n, const int *order, const SysScalar *x, SysScalar *xg)
{
  SYS_FOR_EACH(k, n) xg[k] = x[order[k]];
}

/* Gets the bytes of a multiprocessor's first-level cache, which includes shared memory, and of the second-level cache */
static SysStatus NusDeviceCaches(int64_t *l1, int64_t *l2)
{
  int device, shared, second;

  SYS_CUDA(cudaGetDevice(&device));
  SYS_CUDA(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device));
  SYS_CUDA(cudaDeviceGetAttribute(&second, cudaDevAttrL2CacheSize, device));
  *l1 = shared;
  *l2 = second;
  return SYS_SUCCESS;
}

/* Returns how many entries of a randomly read x the second-level cache holds */
static int64_t NusDeviceFound(int64_t l2)
{
  return (int64_t)(NUS_CUDA_FOUND_PART * (double)l2) / (int64_t)sizeof(SysScalar);
}

int NusDeviceMayCut(int64_t n)
{
  int64_t l1 = 0, l2 = 0;

  return NusDeviceCaches(&l1, &l2) == SYS_SUCCESS && n > NusDeviceFound(l2);
}

static __global__ void NusDeviceSumFirst(int64_t n, const unsigned *count, unsigned long long *sum)
{
  unsigned long long mine = 0;

  SYS_FOR_EACH(k, n) mine += count[k];
  for (int d = SYS_WARP / 2; d; d /= 2) mine += __shfl_down_sync(SYS_ALL_LANES, mine, d);
  if (threadIdx.x % SYS_WARP == 0) atomicAdd(sum, mine);
}

/* Counts the entries of a sample that read a line of x first in read[0]; read[1]: entries of all samples */
static __global__ void NusDeviceFirstReads(int64_t nz, const SysInt *j, unsigned long long read[2])
{
  __shared__ unsigned table[1 << NUS_SAMPLE_LOG];
  const unsigned      none  = ~0u;
  const int64_t       begin = nz / gridDim.x * blockIdx.x;
  const int           n     = (int)(nz - begin < NUS_CUDA_SAMPLE_ENTRIES ? nz - begin : NUS_CUDA_SAMPLE_ENTRIES);
  unsigned            first = 0;

  for (int k = (int)threadIdx.x; k < 1 << NUS_SAMPLE_LOG; k += (int)blockDim.x) table[k] = none;
  __syncthreads();
  for (int k = (int)threadIdx.x; k < n; k += (int)blockDim.x) {
    const unsigned line = (unsigned)j[begin + k] / (unsigned)(NUS_SAMPLE_LINE / sizeof(SysScalar));
    unsigned       slot = line * 0x9E3779B1u >> (32 - NUS_SAMPLE_LOG), was;

    while ((was = atomicCAS(table + slot, none, line)) != none && was != line) slot = (slot + 1) % (1u << NUS_SAMPLE_LOG);
    first += was == none;
  }
  for (int d = SYS_WARP / 2; d; d /= 2) first += __shfl_down_sync(SYS_ALL_LANES, first, d);
  if (threadIdx.x % SYS_WARP == 0) atomicAdd(read, (unsigned long long)first);
  if (threadIdx.x == 0) atomicAdd(read + 1, (unsigned long long)n);
}

/* Sets *scattered if x is larger than the cache's share of it and is read everywhere: many columns have entries, and consecutive entries read
   different lines. On a grid all columns have equally many entries too, but the next rows reuse a row's lines. */
static SysStatus NusDeviceScattered(const SysCSR *csr, int64_t l2, bool *scattered, cudaStream_t stream)
{
  const int64_t      found = NusDeviceFound(l2), samples = csr->nz / NUS_CUDA_SAMPLE_ENTRIES;
  unsigned long long entries[3], *sum; /* entries of the fullest columns; first reads; entries of the samples */
  NusRanking         R;
  SysScratch         s;

  *scattered = false;
  if (csr->n <= found || !csr->nz) return SYS_SUCCESS;
  SYS_CALL(NusDeviceRank(csr, &R, stream));
  SYS_CALL(SysDeviceAllocate(&s.memory, sizeof(entries)));
  sum = (unsigned long long *)s.memory;
  SYS_CUDA(cudaMemsetAsync(sum, 0, sizeof(entries), stream));
  SYS_CALL(SysLaunch(NusDeviceSumFirst, SysBlocksLoop(found), SYS_THREADS, 0, stream, found, R.counted, sum));
  SYS_CALL(SysLaunch(NusDeviceFirstReads, (unsigned)(samples < 1 ? 1 : samples < NUS_CUDA_SAMPLES ? samples : NUS_CUDA_SAMPLES), SYS_THREADS, 0, stream, csr->nz, csr->j, sum + 1));
  SYS_CUDA(cudaMemcpyAsync(entries, sum, sizeof(entries), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  *scattered = (double)entries[0] < (1 - NUS_CUDA_BEYOND_PART) * (double)csr->nz && (double)entries[1] > NUS_CUDA_BEYOND_PART * (double)entries[2];
  return SYS_SUCCESS;
}

SysStatus NusDeviceCuts(const SysCSR *csr, SysStream stream, int *cuts)
{
  int64_t   l1 = 0, l2 = 0;
  bool      scattered = false;
  SysStatus status;

  *cuts = 0;
  if (csr->m >= INT_MAX || csr->n >= INT_MAX || csr->nz >= INT_MAX || sizeof(SysScalar) < sizeof(double)) return SYS_SUCCESS;
  SYS_CALL(NusDeviceCaches(&l1, &l2));
  status = NusDeviceScattered(csr, l2, &scattered, stream);
  if (status == SYS_OUT_OF_MEMORY) return SYS_SUCCESS;
  *cuts = scattered;
  return status;
}

/* Lists the candidates, those without segments first if the numbers are open; *n is 1 if nothing is open */
#define NUS_CUDA_CANDIDATES 2
static SysStatus NusDeviceCandidates(const SysCSR *csr, const NusParams *asked, NusDeviceTune tune, NusParams candidate[NUS_CUDA_CANDIDATES], int *n, cudaStream_t stream)
{
  const bool open[2] = {asked->count[0] < 0, asked->count[1] < 0}, model = tune == NUS_DEVICE_MODEL || tune == NUS_DEVICE_LIVE;
  bool       scattered = false;
  int64_t    l1 = 0, l2 = 0;
  NusParams  p = *asked;

  SYS_CALL(NusDeviceCaches(&l1, &l2));
  if (!p.width[0]) {
    for (p.width[0] = 1024; 2 * p.width[0] * (int64_t)sizeof(SysScalar) <= l1; p.width[0] *= 2) { }
  }
  if (!p.width[1]) p.width[1] = (int64_t)(NUS_CUDA_SEGMENT_PART * (double)l2) / (int64_t)sizeof(SysScalar);
  p.c     = NUS_DEVICE_C;
  p.sigma = NUS_DEVICE_SIGMA;
  *n      = 0;
  if (p.segmentation != NUS_NONUNIFORM) {
    p.count[0]        = 0;
    p.count[1]        = p.segmentation == NUS_UNIFORM ? (csr->n + p.width[1] - 1) / p.width[1] : 0;
    candidate[(*n)++] = p;
    return SYS_SUCCESS;
  }
  for (int k = 0; k < 2; k++) {
    if (open[k]) p.count[k] = 0;
  }
  candidate[(*n)++] = p;
  if (open[0] && open[1] && csr->n > p.width[1]) {
    if (tune != NUS_DEVICE_EXHAUSTIVE) SYS_CALL(NusDeviceScattered(csr, l2, &scattered, stream));
    if (model && sizeof(SysScalar) < sizeof(double)) scattered = false; /* in single precision segments gained a few percent at best */
    if (model && scattered) *n = 0;
    if (scattered || tune == NUS_DEVICE_EXHAUSTIVE) {
      candidate[*n]              = p;
      candidate[*n].segmentation = NUS_UNIFORM;
      candidate[*n].count[1]     = (csr->n + p.width[1] - 1) / p.width[1];
      (*n)++;
    }
  }
  return SYS_SUCCESS;
}

static SysStatus NusDeviceConvert(NusDevice *A, const SysCSR *csr, NusDeviceTune tune, cudaStream_t stream)
{
  const NusParams *p        = &A->params;
  const int64_t    nsegment = p->segmentation == NUS_UNIFORM ? p->count[1] : (p->segmentation == NUS_NONE ? 1 : p->count[0] + p->count[1] + 1);
  NusRanking       R;

  if (p->count[0] > NUS_DEVICE_MAX_SEGMENTS || nsegment > NUS_DEVICE_MAX_SEGMENTS) return SYS_TOO_LARGE;
  if (nsegment > 1 && csr->nz) {
    if (p->segmentation == NUS_NONUNIFORM) SYS_CALL(NusDeviceRank(csr, &R, stream));
    SYS_CALL(NusDeviceSplit(A, csr, &R, (int)nsegment, stream));
  } else {
    NusSegment S;

    S.csr.i = csr->i;
    S.csr.j = csr->j;
    S.nz    = csr->nz;
    S.n     = (int)csr->n;
    A->segments.push_back(S);
  }
  for (NusSegment &S : A->segments) {
    const SysCSR          part   = {csr->m, S.n, S.nz, S.csr.i, S.csr.j, csr->a};
    const AmbDeviceParams params = {1, 0, 0, tune == NUS_DEVICE_MEASURE || tune == NUS_DEVICE_EXHAUSTIVE, p->values, tune == NUS_DEVICE_LIVE};

    SYS_CALL(AmbDeviceConvert(&part, S.csr.from, &params, stream, &S.A));
  }
  return SYS_SUCCESS;
}

static SysStatus NusDeviceConverted(const SysCSR *csr, const NusParams *params, NusDeviceTune tune, cudaStream_t stream, NusDevice **out)
{
  NusDevice *A = new (std::nothrow) NusDevice;
  SysStatus  status;

  *out = NULL;
  if (!A) return SYS_OUT_OF_MEMORY;
  A->params            = *params;
  A->transposed.values = params->values;
  status               = NusDeviceConvert(A, csr, tune, stream);
  if (status == SYS_SUCCESS) *out = A;
  else NusDeviceDestroy(A);
  return status;
}

static SysStatus NusDeviceTrialTime(SysTrial *T, NusDevice *A, const SysCSR *csr, float *time)
{
  const auto product = [&](int) { return NusDeviceMult(A, csr, 1, T->x, 0, NULL, T->z, T->stream); };

  return SysTrialTime(T, (double)csr->nz > SYS_TUNE_LARGE ? NUS_CUDA_LARGE_PRODUCTS : SYS_TUNE_TRIAL, product, time);
}

/* The state of a trial, and the fastest matrix so far */
struct NusTuning {
  const SysCSR *csr;
  SysTrial      trial;
  NusDevice    *best;
  float         least; /* milliseconds */
};

/* Times parameters and keeps the matrix if it is the fastest; *seconds is infinite if memory is short */
static SysStatus NusDeviceTrial(void *ctx, const NusParams *p, double *seconds)
{
  NusTuning *t = (NusTuning *)ctx;
  NusDevice *other;
  float      time;
  SysStatus  status = NusDeviceConverted(t->csr, p, NUS_DEVICE_MEASURE, t->trial.stream, &other);

  *seconds = HUGE_VAL;
  if (status == SYS_OUT_OF_MEMORY || status == SYS_TOO_LARGE) return SYS_SUCCESS;
  SYS_CALL(status);
  status = NusDeviceTrialTime(&t->trial, other, t->csr, &time);
  if (status == SYS_SUCCESS) *seconds = 1e-3 * time;
  if (status == SYS_SUCCESS && time < SYS_TUNE_GAIN * t->least) {
    t->least = time;
    std::swap(t->best, other);
  }
  NusDeviceDestroy(other);
  return status;
}

/* Times the candidates and selects the fastest; first, unless asked is NULL, the widths and numbers of segments that asked does not fix */
static SysStatus NusDeviceTuneAll(const SysCSR *csr, const NusParams candidate[], int n, const NusParams *asked, NusDevice **A, cudaStream_t stream)
{
  NusTuning t;
  NusParams best = candidate[0];
  int64_t   l1 = 0, l2 = 0, widest = NUS_CUDA_SEARCH_LEAST;
  double    seconds;
  SysStatus status = SysTrialCreate(csr, stream, &t.trial);

  if (status == SYS_OUT_OF_MEMORY) return SYS_SUCCESS;
  SYS_CALL(status);
  SYS_CALL(NusDeviceCaches(&l1, &l2));
  while (2 * widest * (int64_t)sizeof(SysScalar) <= l2) widest *= 2;
  t.csr  = csr;
  t.best = *A;
  status = NusDeviceTrialTime(&t.trial, t.best, csr, &t.least);
  if (asked && status == SYS_SUCCESS && best.segmentation == NUS_NONUNIFORM) status = NusSearchSegments(csr->n, NUS_CUDA_SEARCH_LEAST, widest, asked, 1e-3 * t.least, NusDeviceTrial, &t, &best);
  for (int k = 1; k < n && status == SYS_SUCCESS; k++) status = NusDeviceTrial(&t, &candidate[k], &seconds);
  *A          = t.best;
  (*A)->tried = t.trial.tried;
  return status;
}

SysStatus NusDeviceCreate(const SysCSR *csr, const NusParams *params, NusDeviceTune tune, SysStream stream, NusDevice **A, NusDeviceInfo *info)
{
  NusParams candidate[NUS_CUDA_CANDIDATES];
  int       n;
  SysStatus status;

  *A = NULL;
  if (csr->m >= INT_MAX || csr->n >= INT_MAX || csr->nz >= INT_MAX) return SYS_TOO_LARGE;
  SYS_CALL(NusDeviceCandidates(csr, params, tune, candidate, &n, stream));
  SYS_CALL(NusDeviceConverted(csr, &candidate[0], tune, stream, A));
  status = csr->nz && (n > 1 || tune == NUS_DEVICE_EXHAUSTIVE) ? NusDeviceTuneAll(csr, candidate, n, tune == NUS_DEVICE_EXHAUSTIVE ? params : NULL, A, stream) : SYS_SUCCESS;
  if (status == SYS_SUCCESS) NusDeviceGetInfo(*A, info);
  else {
    NusDeviceDestroy(*A);
    *A = NULL;
  }
  return status;
}

void NusDeviceGetInfo(const NusDevice *A, NusDeviceInfo *info)
{
  AmbDeviceInfo *sum      = &info->layout;
  const double   gathered = (double)(sizeof(int) + 2 * sizeof(SysScalar)) * A->ngathered;
  double         most     = -1;

  *info          = NusDeviceInfo{A->params, (int64_t)A->segments.size(), A->ngathered, {}};
  sum->row_group = 1;
  sum->exact     = 1;
  for (const NusSegment &S : A->segments) {
    AmbDeviceInfo one;

    AmbDeviceGetInfo(S.A, &one);
    if (one.stored_values > most) {
      most            = one.stored_values;
      sum->block_size = one.block_size;
      sum->threads    = one.threads;
      sum->steps      = one.steps;
      sum->sorted     = one.sorted;
      sum->sort_scope = one.sort_scope;
      sum->row_group  = one.row_group;
      sum->stored     = one.stored;
      sum->distinct   = one.distinct;
      sum->stencil    = one.stencil;
    }
    sum->exact &= one.exact;
    if (one.tried > sum->tried) sum->tried = one.tried;
    sum->live |= one.live;
    sum->tasks += one.tasks;
    sum->diagonal += one.diagonal;
    sum->narrow += one.narrow;
    sum->wide += one.wide;
    sum->split += one.split;
    sum->bytes_model += one.bytes_model;
    sum->bytes_stored += one.bytes_stored;
    sum->bytes_extra += one.bytes_extra;
    sum->stored_values += one.stored_values;
  }
  sum->tried += A->tried;
  sum->bytes_model += gathered;
  sum->bytes_stored += gathered;
  sum->bytes_extra += A->bytes + AmbTransposedBytes(&A->transposed);
}

/* Returns the arrays for rows with a NaN; a single segment uses the matrix's */
static AmbArrays NusDeviceArrays(const NusSegment &S, const SysCSR *csr)
{
  AmbArrays arrays = S.csr;

  arrays.a = csr->a;
  if (!arrays.from) {
    arrays.i = csr->i;
    arrays.j = csr->j;
  }
  return arrays;
}

SysStatus NusDeviceUpdate(void *data, const SysCSR *csr, SysStream stream)
{
  NusDevice *A = (NusDevice *)data;

  for (NusSegment &S : A->segments) {
    const AmbArrays arrays = NusDeviceArrays(S, csr);

    SYS_CALL(AmbDeviceRenew(S.A, &arrays, stream));
  }
  A->transposed.stale = 1;
  return SYS_SUCCESS;
}

SysStatus NusDeviceMult(void *data, const SysCSR *csr, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, SysStream stream)
{
  NusDevice *A     = (NusDevice *)data;
  bool       first = true;

  if (A->ngathered) SYS_CALL(SysLaunch(NusDeviceGather, SysBlocksLoop(A->ngathered), SYS_THREADS, 0, stream, A->ngathered, A->order, x, A->xg));
  for (NusSegment &S : A->segments) {
    const AmbArrays arrays = NusDeviceArrays(S, csr);

    SYS_CALL(AmbDeviceProduct(S.A, &arrays, alpha, S.moved ? A->xg + S.first : x, first ? beta : 1, first ? y : z, z, stream));
    first = false;
  }
  return SYS_SUCCESS;
}

/* Several segments add to z in turn, so none of them has the sums of x.z */
SysStatus NusDeviceMultDot(void *data, const SysCSR *csr, const SysScalar *x, SysScalar *z, SysScalar *parts, int64_t *nparts, SysStream stream)
{
  NusDevice *A = (NusDevice *)data;

  *nparts = 0;
  if (A->segments.size() != 1 || A->segments[0].moved) return SYS_SUCCESS;

  const AmbArrays arrays = NusDeviceArrays(A->segments[0], csr);

  return AmbDeviceProductDot(A->segments[0].A, &arrays, x, z, parts, nparts, stream);
}

SysStatus NusDeviceMultTranspose(void *data, const SysCSR *csr, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, SysStream stream)
{
  NusDevice *A = (NusDevice *)data;

  return AmbTransposedMult(&A->transposed, csr, A->segments.size() == 1 ? A->segments[0].A->info.threads : 0, alpha, x, beta, y, z, stream);
}

int NusDeviceReadsCSR(const void *data)
{
  const NusDevice *A     = (const NusDevice *)data;
  int              reads = A->transposed.A && AmbDeviceReadsCSR(A->transposed.A);

  for (const NusSegment &S : A->segments) reads |= AmbDeviceReadsCSR(S.A);
  return reads;
}

void NusDeviceDestroy(void *data)
{
  NusDevice *A = (NusDevice *)data;

  if (!A) return;
  for (NusSegment &S : A->segments) AmbDeviceDestroy(S.A);
  AmbTransposedDestroy(&A->transposed);
  (void)cudaFree(A->order);
  (void)cudaFree(A->xg);
  (void)cudaFree(A->memory);
  delete A;
}
