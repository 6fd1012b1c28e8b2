/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Conversion from CSR to AMB on a CUDA device: the traffic model and the timings choose the parameters, then the kernels of ambcudalayout.cu fill the
   arrays

   ambhost.h has the idea.
*/
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "sys/systrial.cuh"
#include "sys/systuning.h"
#include "sys/syscub.cuh"
#include "mat/impls/amb/cuda/ambcuda.cuh"

typedef struct {
  int    block_size, steps, sorted, row_group, columns, scope;
  double bytes;
} Choice;

/* A conversion's temporary memory */
typedef struct {
  SysArena        arena;
  AmbSample      *sample;
  int            *blocks;
  unsigned       *bad, *key, *key_sorted;
  uint16_t       *row, *perm;
  AmbCount       *count;
  char           *cub;
  size_t          cub_size;
  SysValuesChoice values;
} Workspace;

/* The scan of chunks' counts */
static_assert(sizeof(AmbCount) == sizeof(SysFive), "five numbers of a chunk");

static unsigned AmbCreateChunks(int64_t m)
{
  return SysBlocks(m, SYS_WARP);
}

/* Returns the number of significant bits in the keys of AmbDeviceKeys() */
static int AmbCreateKeyBits(int64_t m, int scope)
{
  int bits = 16;

  while (bits < 32 && (m - 1) / scope >> (bits - 16)) bits++;
  return bits;
}

static SysStatus AmbCreateWorkspaceCreate(int64_t m, cudaStream_t stream, SysScratch *scratch, Workspace *w)
{
  size_t scan = 0, sort = 0;

  memset(w, 0, sizeof(*w));
  SYS_CUDA(SysExclusiveSumFive(NULL, scan, (SysFive *)NULL, (int)AmbCreateChunks(m) + 1, stream));
  SYS_CUDA(SysSortPairs(NULL, sort, w->key, w->key_sorted, w->row, w->perm, (int)m, 32, stream));
  w->cub_size = scan > sort ? scan : sort;
  for (int pass = 0; pass < 2; pass++) {
    SysArenaTake(&w->arena, &w->sample, AMB_MAX_BLOCK + 1);
    SysArenaTake(&w->arena, &w->bad, 1);
    SysArenaTake(&w->arena, &w->blocks, m);
    SysArenaTake(&w->arena, &w->key, m);
    SysArenaTake(&w->arena, &w->key_sorted, m);
    SysArenaTake(&w->arena, &w->row, m);
    SysArenaTake(&w->arena, &w->perm, m);
    SysArenaTake(&w->arena, &w->count, AmbCreateChunks(m) + 1);
    SysArenaTake(&w->arena, &w->cub, w->cub_size);
    if (pass == 0) SYS_CALL(SysArenaAllocateScratch(&w->arena, scratch, stream));
  }
  return SYS_SUCCESS;
}

/* Returns the most steps of a task for which the rows' lanes fill the chip. With entries = 1 this is the number for blocks of one entry, used for all
   block sizes; otherwise longer blocks get fewer steps, because each of their threads has more loads in flight. */
static int AmbCreateStepsFor(const SysCSR *csr, int entries)
{
  const int64_t steps = (csr->nz / entries + AMB_CUDA_BUSY_THREADS - 1) / AMB_CUDA_BUSY_THREADS;
  int           power = AMB_CUDA_STEPS_LEAST;

  while (power < steps && power < AMB_CUDA_STEPS_MOST) power *= 2;
  return power;
}

static SysStatus AmbCreateSample(const SysCSR *csr, const AmbSampleSizes *sizes, Workspace *w, int windows, cudaStream_t stream, AmbSample sample[])
{
  const size_t bytes = sizeof(*sample) * (AMB_MAX_BLOCK + 1);

  SYS_CUDA(cudaMemsetAsync(w->sample, 0, bytes, stream));
  SYS_CALL(AmbDeviceSample(csr, sizes, w->sample, windows, stream));
  SYS_CUDA(cudaMemcpyAsync(sample, w->sample, bytes, cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  return SYS_SUCCESS;
}

/* Estimates the bytes of every block size, with rows in both orders, from sampled chunks, and sorts the choices by them. Tasks have few steps unless
   more steps save bytes, for instance because a row then fits a thread and its chunk gets diagonals. */
static SysStatus AmbCreateModel(const SysCSR *csr, const AmbDeviceParams *params, Workspace *w, cudaStream_t stream, Choice choice[2 * AMB_MAX_BLOCK], int *nchoice)
{
  const int      windows = (int)(AmbCreateChunks(csr->m) < AMB_CUDA_MODEL_WINDOWS ? AmbCreateChunks(csr->m) : AMB_CUDA_MODEL_WINDOWS);
  const double   scale   = (double)AmbCreateChunks(csr->m) / windows;
  AmbSample      sample[2][AMB_MAX_BLOCK + 1];
  AmbSampleSizes sizes[2]; /* for few and for many steps */
  int            kinds = 1;

  sizes[0].last = csr->n < 1 ? 1 : csr->n < AMB_MAX_BLOCK ? (int)csr->n : AMB_MAX_BLOCK; /* no block exceeds the matrix */
  if (params->block_size && params->block_size < sizes[0].last) sizes[0].last = params->block_size;
  sizes[0].first   = params->block_size ? sizes[0].last : 1;
  sizes[0].columns = params->columns;
  sizes[1]         = sizes[0];
  for (int b = sizes[0].first; b <= sizes[0].last; b++) {
    sizes[0].steps[b] = params->steps ? params->steps : AmbCreateStepsFor(csr, b);
    sizes[1].steps[b] = params->steps ? params->steps : AmbCreateStepsFor(csr, 1);
    if (sizes[1].steps[b] != sizes[0].steps[b]) kinds = 2;
  }
  memset(sample, 0, sizeof(sample));
  for (int k = 0; k < kinds && windows; k++) SYS_CALL(AmbCreateSample(csr, &sizes[k], w, windows, stream, sample[k]));
  *nchoice = 0;
  for (int b = sizes[0].first; b <= sizes[0].last; b++) {
    for (int sorted = 0; sorted < 2; sorted++) {
      Choice c[2];
      int    k;

      if (params->order && params->order != sorted + 1) continue;
      for (int more = 0; more < kinds; more++) {
        const AmbSample *s = &sample[more][b];

        c[more] = {b, sizes[more].steps[b], sorted, 1, params->columns, params->scope ? params->scope : AMB_SCOPE, 0};
        if (sorted) c[more].bytes = s->sorted * scale + sizeof(uint16_t) * (double)csr->m;
        else {
          for (int g = 1; g < AMB_GROUPS; g++) {
            if (s->natural[g] < s->natural[c[more].row_group - 1]) c[more].row_group = g + 1;
          }
          c[more].bytes = s->natural[c[more].row_group - 1] * scale;
        }
      }
      if (kinds > 1 && c[1].bytes < AMB_CUDA_STEPS_GAIN * c[0].bytes) c[0] = c[1];
      for (k = *nchoice; k > 0 && choice[k - 1].bytes > c[0].bytes; k--) choice[k] = choice[k - 1];
      choice[k] = c[0];
      (*nchoice)++;
    }
  }
  return SYS_SUCCESS;
}

static void AmbCreateLayoutArrays(SysArena *arena, const AmbCount *n, int sorted, int values, AmbLayout *L)
{
  SysArenaTake(arena, &L->task, n->task);
  if (n->split) {
    SysArenaTake(arena, &L->split, n->split);
    SysArenaTake(arena, &L->arrived, n->split);
    SysArenaTake(arena, &L->partial, n->partial);
  }
  if (sorted) SysArenaTake(arena, &L->perm, (size_t)L->m);
  SysArenaTake(arena, &L->base, n->step);
  SysArenaTake(arena, &L->idx, (size_t)SYS_WARP * n->idx);
  if (values) SysArenaTake(arena, &L->val, (size_t)SYS_WARP * L->block_size * n->step);
  SysArenaTake(arena, &L->count, (size_t)L->nchunk + 1);
  SysArenaTake(arena, &L->shape, (size_t)L->nchunk);
}

/* Counts the tasks of each kind by the chunks' shapes; without a task array each chunk is one task */
static __global__ void AmbCreateCountKinds(AmbLayout A, int tasks, unsigned long long *kind)
{
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;

  if (t >= A.ntask) return;
  atomicAdd(kind + (tasks ? AMB_TASK_KIND(A.task[t].what) : A.shape[t] >> 3), 1ull);
  if (tasks && AMB_TASK_SPLIT(A.task[t].what)) atomicAdd(kind + 3, 1ull);
}

/* Sets the layout's figures */
static SysStatus Describe(const Workspace *w, const Choice *choice, const AmbCount *n, AmbDevice *A, cudaStream_t stream)
{
  AmbDeviceInfo     *info = &A->info;
  unsigned long long kind[4];

  if (n->task) {
    SYS_CUDA(cudaMemsetAsync(w->sample, 0, sizeof(kind), stream));
    SYS_CALL(SysLaunch(AmbCreateCountKinds, SysBlocks(n->task), SYS_THREADS, 0, stream, A->layout, A->filled, (unsigned long long *)w->sample));
    SYS_CUDA(cudaMemcpyAsync(kind, w->sample, sizeof(kind), cudaMemcpyDeviceToHost, stream));
    SYS_CUDA(cudaStreamSynchronize(stream));
    info->diagonal = (int64_t)kind[AMB_DIAGONAL];
    info->narrow   = (int64_t)kind[AMB_NARROW];
    info->wide     = (int64_t)kind[AMB_WIDE];
    info->split    = (int64_t)kind[3];
  }
  info->block_size    = choice->block_size;
  info->steps         = choice->steps;
  info->sorted        = choice->sorted;
  info->sort_scope    = choice->scope;
  info->row_group     = choice->row_group;
  info->tasks         = n->task;
  A->bytes_plain      = choice->bytes;
  info->stored_values = (double)n->step * SYS_WARP * choice->block_size;
  A->bytes_pattern    = (double)n->idx * SYS_WARP * sizeof(uint16_t) + (double)n->step * sizeof(int) + (double)n->task * sizeof(AmbTask) + (choice->sorted ? (double)A->layout.m * sizeof(uint16_t) : 0);
  AmbValuesDescribe(A);
  return SYS_SUCCESS;
}

static SysStatus AmbCreateBuild(const SysCSR *csr, const int *from, const Choice *choice, Workspace *w, cudaStream_t stream, AmbDevice *A)
{
  const AmbArrays arrays   = {csr->i, csr->j, csr->a, from};
  AmbLayout      *L        = &A->layout;
  AmbCount        total    = {0, 0, 0, 0, 0};
  SysArena        arena    = {NULL, 0};
  const int       together = w->values.asked == SYS_VALUES_DOUBLE; /* plain values stay in val[], which may share the memory of the other arrays */
  AmbLayout       plan;
  unsigned        bad;

  L->m          = (int)csr->m;
  L->n          = (int)csr->n;
  L->nz         = (int)csr->nz;
  L->block_size = choice->block_size;
  L->row_group  = choice->row_group;
  L->steps      = choice->steps;
  L->nchunk     = AmbCreateChunks(csr->m);
  A->values     = w->values;
  A->filled     = 1;
  if (!L->nchunk) return Describe(w, choice, &total, A, stream);
  SYS_CUDA(cudaMemsetAsync(w->bad, 0, sizeof(*w->bad), stream));
  SYS_CALL(AmbDeviceCount(csr, choice->block_size, choice->steps, w->blocks, w->bad, stream));
  if (choice->sorted) {
    SYS_CALL(AmbDeviceKeys(csr->m, choice->scope, w->blocks, w->key, w->row, stream));
    SYS_CUDA(SysSortPairs(w->cub, w->cub_size, w->key, w->key_sorted, w->row, w->perm, L->m, AmbCreateKeyBits(L->m, choice->scope), stream));
  }
  /* the plan goes to the work space: the arrays' sizes follow from it */
  plan       = *L;
  plan.perm  = choice->sorted ? w->perm : NULL;
  plan.count = w->count;
  plan.shape = (unsigned char *)w->key;
  SYS_CUDA(cudaMemsetAsync(w->count + L->nchunk, 0, sizeof(*w->count), stream));
  SYS_CALL(AmbDevicePlan(&plan, &arrays, w->blocks, choice->columns, stream));
  SYS_CUDA(SysExclusiveSumFive(w->cub, w->cub_size, (SysFive *)w->count, (int)L->nchunk + 1, stream));
  SYS_CUDA(cudaMemcpyAsync(&total, w->count + L->nchunk, sizeof(total), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaMemcpyAsync(&bad, w->bad, sizeof(bad), cudaMemcpyDeviceToHost, stream));
  SYS_CUDA(cudaStreamSynchronize(stream));
  if (bad) return SYS_NOT_ASCENDING;
  L->ntask              = total.task;
  A->info.stored_values = (double)total.step * SYS_WARP * choice->block_size;
  A->info.split         = total.split;
  SYS_CALL(AmbValuesStencil(A, &arrays, stream));
  A->filled = !A->stencil.n; /* later values may not fit the stencil */
  AmbCreateLayoutArrays(&arena, &total, choice->sorted, together, L);
  SYS_CALL(SysPoolAllocate(arena.used, &A->memory, stream));
  arena = {(char *)A->memory, 0};
  AmbCreateLayoutArrays(&arena, &total, choice->sorted, together, L);
  if (A->filled) SYS_CALL(AmbValuesRoom(A));
  A->info.bytes_extra = (double)arena.used;
  if (choice->sorted) SYS_CUDA(cudaMemcpyAsync(L->perm, w->perm, sizeof(*L->perm) * (size_t)L->m, cudaMemcpyDeviceToDevice, stream));
  SYS_CUDA(cudaMemcpyAsync(L->count, w->count, sizeof(*L->count) * ((size_t)L->nchunk + 1), cudaMemcpyDeviceToDevice, stream));
  SYS_CUDA(cudaMemcpyAsync(L->shape, plan.shape, L->nchunk, cudaMemcpyDeviceToDevice, stream));
  if (A->filled) SYS_CALL(AmbDeviceFill(L, &arrays, stream));
  SYS_CALL(Describe(w, choice, &total, A, stream));
  A->info.bytes_extra -= A->bytes_pattern + (together ? A->info.stored_values * sizeof(SysScalar) : 0);
  return A->filled ? AmbValuesStore(A, NULL, stream) : SYS_SUCCESS;
}

void AmbDeviceFree(AmbDevice *A)
{
  if (!A) return;
  AmbStencilDestroy(&A->stencil, A->stream);
  AmbLiveDestroy(A);
  SysPoolRelease(A->memory, A->stream);
  SysPoolRelease(A->val, A->stream);
  SysPoolRelease(A->small, A->stream);
  SysPoolRelease(A->table, A->stream);
  SysPoolRelease(A->layout.map, A->stream);
  free(A);
}

static SysStatus AmbCreateConverted(const SysCSR *csr, const int *from, const Choice *choice, Workspace *w, cudaStream_t stream, AmbDevice **A)
{
  SysStatus status;

  *A = (AmbDevice *)calloc(1, sizeof(**A));
  if (!*A) return SYS_OUT_OF_MEMORY;
  (*A)->stream = stream;
  status       = AmbCreateBuild(csr, from, choice, w, stream, *A);
  if (status != SYS_SUCCESS) {
    AmbDeviceFree(*A);
    *A = NULL;
    return status;
  }
  (*A)->early        = SysStartsEarly();
  (*A)->written      = 1;
  (*A)->info.threads = 128;
  (*A)->deep         = choice->block_size > 2 || (*A)->info.stored_values > 16. * SYS_WARP * choice->block_size * (double)(*A)->info.tasks;
  return SYS_SUCCESS;
}

/* The state of the trials */
struct Trials {
  const SysCSR    *csr;
  const AmbArrays *arrays;
  SysTrial         trial;
  int              products = SYS_TUNE_TRIAL; /* products of one trial */
  double           start, conversion;         /* seconds: begin of the conversion, duration of one conversion */
};

static SysStatus AmbCreateTrialTime(Trials *t, const AmbDevice *A, int threads, int deep, float *time)
{
  SysTrial  *T       = &t->trial;
  const auto product = [&](int k) { return AmbDeviceLaunch(A, threads, deep, k && A->early, t->arrays, 1, T->x, 0, NULL, T->z, T->stream); };

  return SysTrialTime(T, t->products, product, time);
}

/* Times kernels and thread block sizes for a given layout, and sets the fastest */
static SysStatus AmbCreateTuneKernel(Trials *t, int threads, AmbDevice *A, float *best)
{
  const int sizes[] = {128, 64, 256};
  float     time;

  A->info.threads = threads ? threads : sizes[0];
  SYS_CALL(AmbCreateTrialTime(t, A, A->info.threads, A->deep, best));
  if (!A->stencil.n) {
    SYS_CALL(AmbCreateTrialTime(t, A, A->info.threads, !A->deep, &time));
    if (time < SYS_TUNE_GAIN * *best) {
      *best   = time;
      A->deep = !A->deep;
    }
  }
  for (int k = 1; k < 3 && !threads; k++) {
    SYS_CALL(AmbCreateTrialTime(t, A, sizes[k], A->deep, &time));
    if (time < SYS_TUNE_GAIN * *best) {
      *best           = time;
      A->info.threads = sizes[k];
    }
  }
  return SYS_SUCCESS;
}

/* Converts with another choice and keeps the faster layout; returns at once if the budget of tuning is spent */
static SysStatus AmbCreateTryChoice(Trials *t, const Choice *choice, Workspace *w, AmbDevice **A, float *best)
{
  AmbDevice *other;
  SysStatus  status;
  float      time;

  if (t->trial.tried + SYS_TUNE_TRIAL + 1 > AMB_CUDA_TRIED_MOST || SysSeconds(CLOCK_MONOTONIC) - t->start + t->conversion > AMB_CUDA_BUDGET * 1e-3 * *best) return SYS_SUCCESS;
  status = AmbCreateConverted(t->csr, t->arrays->from, choice, w, t->trial.stream, &other);

  if (status == SYS_OUT_OF_MEMORY || status == SYS_TOO_LARGE) return SYS_SUCCESS;
  SYS_CALL(status);
  other->info.threads = (*A)->info.threads;
  other->deep         = (*A)->deep;
  status              = AmbCreateTrialTime(t, other, other->info.threads, other->deep, &time);
  if (status == SYS_SUCCESS && time < SYS_TUNE_GAIN * *best) {
    AmbDevice *slower = *A;

    *best = time;
    *A    = other;
    other = slower;
  }
  AmbDeviceFree(other);
  return status;
}

/* Tunes from the model's best layout: kernels, then longer tasks, then the other order of rows, then the next block size if its bytes are near */
static SysStatus AmbCreateTune(Trials *t, const AmbDeviceParams *params, const Choice *choice, int nchoice, Workspace *w, AmbDevice **A)
{
  Choice best = choice[0];
  float  time, before;

  t->products = best.bytes > AMB_CUDA_LARGE_BYTES ? AMB_CUDA_LARGE_PRODUCTS : SYS_TUNE_TRIAL;
  SYS_CALL(AmbCreateTuneKernel(t, params->threads, *A, &time));
  if (best.bytes > AMB_CUDA_LARGE_BYTES || (*A)->stencil.n) return SYS_SUCCESS;
  before = time;
  if (!params->steps && best.steps < AMB_CUDA_STEPS_MOST && (*A)->info.tasks > (*A)->layout.nchunk) {
    Choice longer = best;

    longer.steps *= 2;
    SYS_CALL(AmbCreateTryChoice(t, &longer, w, A, &time));
    if (time < before) best.steps *= 2;
  }
  for (int order = 1; order >= 0; order--) {
    for (int k = 1; k < nchoice; k++) {
      Choice other = choice[k];

      if ((other.block_size == best.block_size) != order || other.bytes > (order ? AMB_CUDA_TRY_ORDER : AMB_CUDA_TRY_SIZE) * best.bytes) continue;
      if (other.block_size == best.block_size) other.steps = best.steps;
      before = time;
      SYS_CALL(AmbCreateTryChoice(t, &other, w, A, &time));
      if (time < before) best = other;
      break;
    }
  }
  return SYS_SUCCESS;
}

SysStatus AmbDeviceConvert(const SysCSR *csr, const int *from, const AmbDeviceParams *params, cudaStream_t stream, AmbDevice **A)
{
  const AmbArrays arrays = {csr->i, csr->j, csr->a, from};
  Choice          choice[2 * AMB_MAX_BLOCK];
  int             nchoice = 0;
  Workspace       w;
  SysScratch      scratch;
  Trials          trials;
  SysStatus       status;

  *A            = NULL;
  trials.csr    = csr;
  trials.arrays = &arrays;
  trials.start  = SysSeconds(CLOCK_MONOTONIC);
  if (csr->m > INT_MAX || csr->n > INT_MAX || csr->nz > INT_MAX) return SYS_TOO_LARGE;
  if (params->scope && csr->m / params->scope > 65535) return SYS_TOO_LARGE; /* sort keys have 32 bits */
  status = AmbCreateWorkspaceCreate(csr->m, stream, &scratch, &w);
  SysValuesBegin(&w.values, params->values, SYS_TABLE_VALUES - 1);
  if (status == SYS_SUCCESS) status = AmbValuesChoose(&w.values, csr->nz, csr->a, from, stream);
  if (status == SYS_SUCCESS) status = AmbCreateModel(csr, params, &w, stream, choice, &nchoice);
  if (status == SYS_SUCCESS) status = AmbCreateConverted(csr, from, &choice[0], &w, stream, A);
  trials.conversion = SysSeconds(CLOCK_MONOTONIC) - trials.start;
  if (status == SYS_SUCCESS && params->threads) (*A)->info.threads = params->threads;
  if (status == SYS_SUCCESS && params->measure && csr->nz) {
    status = SysTrialCreate(csr, stream, &trials.trial);
    if (status == SYS_SUCCESS) status = AmbCreateTune(&trials, params, choice, nchoice, &w, A);
    else if (status == SYS_OUT_OF_MEMORY) status = SYS_SUCCESS;
    (*A)->info.tried = trials.trial.tried;
  }
  if (status == SYS_SUCCESS) (*A)->transposed.values = params->values;
  if (status == SYS_SUCCESS && params->live && !params->measure && csr->nz) AmbLiveCreate(*A, params->threads != 0);
  if (status != SYS_SUCCESS) {
    AmbDeviceFree(*A);
    *A = NULL;
  }
  return status;
}
