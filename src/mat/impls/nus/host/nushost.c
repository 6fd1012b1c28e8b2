/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Conversion from CSR to NUS-SELL on the host, parallel over scopes. Two passes: lay out all scopes, which gives the sizes of the arrays; then fill
   them. The thread that multiplies a scope also fills it (first touch).
*/
#include <stdlib.h>
#include <string.h>

#include "sys/sysmemory.h"
#include "mat/impls/nus/host/nusshare.h"

const NusKernels *NusHostKernels(void)
{
  return SYS_KERNELS_REAL(NusKernels);
}

/* Sets A->order to the nonempty columns with the most entries, in descending order, up to the capacity of the segments */
static SysStatus NusHostOrderColumns(NusHost *A)
{
  const NusParams *p = &A->params;
  const int64_t    n = A->csr.n, nz = A->csr.i[A->csr.m], asked = p->width[0] * p->count[0] + p->width[1] * p->count[1];
  SysInt          *count, *bucket;
  int64_t          most = 0, position = 0, filled = 0;

  if (p->segmentation != NUS_NONUNIFORM || !asked) return SYS_SUCCESS;
  count = calloc(n + 1, sizeof(*count));
  if (!count) return SYS_OUT_OF_MEMORY;
  for (int64_t k = 0; k < nz; k++) count[A->csr.j[k]]++;
  for (int64_t j = 0; j < n; j++) {
    most = count[j] > most ? count[j] : most;
    filled += count[j] > 0;
  }
  A->ngathered = SysMin(asked, filled);
  bucket       = calloc(most + 1, sizeof(*bucket));
  A->rank      = malloc(sizeof(*A->rank) * (n + 1));
  A->order     = malloc(sizeof(*A->order) * (A->ngathered + 1));
  A->xg        = SysAllocate(sizeof(*A->xg) * (A->ngathered + NUS_MAX_C));
  if (bucket && A->rank && A->order && A->xg) {
    for (int64_t j = 0; j < n; j++) bucket[count[j]]++;
    for (int64_t c = most; c > 0; c--) {
      const SysInt here = bucket[c];

      bucket[c] = (SysInt)position;
      position += here;
    }
    for (int64_t j = 0; j < n; j++) {
      const int64_t to = count[j] ? bucket[count[j]]++ : A->ngathered;

      A->rank[j] = (uint32_t)SysMin(to, A->ngathered);
      if (to < A->ngathered) A->order[to] = (SysInt)j;
    }
    position = -1;
  }
  free(count);
  free(bucket);
  return position < 0 ? SYS_SUCCESS : SYS_OUT_OF_MEMORY;
}

static SysStatus NusHostSegments(NusHost *A)
{
  const NusParams *p = &A->params;
  SysStatus        status;

  if ((int64_t)A->csr.n + NUS_MAX_C > (int64_t)UINT32_MAX) return SYS_TOO_LARGE;
  status      = NusHostOrderColumns(A);
  A->nsegment = 1;
  if (p->segmentation == NUS_UNIFORM) A->nsegment = (A->csr.n + p->width[1] - 1) / p->width[1];
  else if (A->ngathered) {
    const int64_t first = SysMin(p->width[0] * p->count[0], A->ngathered), second = A->ngathered - first;

    A->nsegment = 1;
    if (first) A->nsegment += (first + p->width[0] - 1) / p->width[0];
    if (second) A->nsegment += (second + p->width[1] - 1) / p->width[1];
  }
  if (!A->nsegment) A->nsegment = 1; /* a matrix without columns */
  return !status && A->nsegment > NUS_MAX_SEGMENTS ? SYS_TOO_LARGE : status;
}

static SysStatus NusHostLayoutAll(const NusHost *A, int nworker, NusLayout *layout)
{
  int status = SYS_SUCCESS;

#pragma omp parallel num_threads(nworker) if (nworker > 1) reduction(max : status)
  {
    NusWork w;

    status = NusWorkCreate(A, &w);
    if (!status) {
      for (int64_t s = omp_get_thread_num(); s < A->nscope && !status; s += omp_get_num_threads()) status = NusLayoutScope(A, s, &w, layout + s);
      NusWorkDestroy(&w);
    }
  }
  return (SysStatus)status;
}

/* Gives the threads contiguous scopes with equal numbers of values */
static void NusHostShareScopes(NusHost *A, const NusLayout *layout)
{
  int64_t before = 0;
  int     t      = 1;

  for (int64_t s = 0; s < A->nscope; s++) {
    while (t < A->nthread && before * A->nthread >= A->nslot * t) A->thread_scope[t++] = s;
    for (int64_t k = 0; k < layout[s].ntile; k++) before += layout[s].tile[k].nslot;
  }
  while (t <= A->nthread) A->thread_scope[t++] = A->nscope;
}

static int64_t NusHostSegmentWidth(const NusHost *A, int64_t segment)
{
  const NusParams *p = &A->params;

  if (A->nsegment == 1 || (A->ngathered && segment == A->nsegment - 1)) return A->csr.n;
  return p->segmentation == NUS_NONUNIFORM && segment < p->count[0] ? p->width[0] : p->width[1];
}

/*
   Orders the tiles. A thread multiplies a wide segment in all its scopes before the next segment: keeping the segment's part of x in the cache saves
   more than reading y once. It multiplies all narrow segments in one scope before the next scope, whose part of y stays in a cache.
*/
static void NusHostOrderTiles(NusHost *A, const NusLayout *layout)
{
  int64_t n = 0;

  for (int64_t s = 0; s < A->nscope; s++) A->scope_tile[s + 1] = A->scope_tile[s] + layout[s].ntile;
  for (int t = 0; t < A->nthread; t++) {
    A->thread_tile[t] = n;
    for (int64_t from = 0, to; from < A->nsegment; from = to) {
      for (to = from + 1; to < A->nsegment && 2 * NusHostSegmentWidth(A, from) < A->params.sigma && NusHostSegmentWidth(A, from) == NusHostSegmentWidth(A, to);) to++;
      for (int64_t s = A->thread_scope[t]; s < A->thread_scope[t + 1]; s++) {
        for (int64_t k = 0; k < layout[s].ntile; k++) {
          const NusTile *T = layout[s].tile + k;

          if (T->segment < from || T->segment >= to) continue;
          A->tile_of_scope[A->scope_tile[s] + k] = n;
          A->tile[n++]                           = *T;
        }
      }
    }
  }
  A->thread_tile[A->nthread] = n;
}

/* Computes each tile's offsets in the arrays */
static void NusHostPositionTiles(NusHost *A)
{
  int64_t slot = 0, col = 0, chunk = 0, perm = 0, diag = 0;

  for (int64_t k = 0; k < A->ntile; k++) {
    NusTile *T = A->tile + k;

    T->slot  = slot;
    T->col   = col;
    T->chunk = chunk;
    T->perm  = perm;
    T->diag  = diag;
    slot += T->nslot;
    col += T->ncol;
    chunk += T->nchunk;
    perm += T->nperm;
    diag += T->ndiag ? T->ndiag + 1 : 0;
  }
}

/* Copies scope s's layout into the format's arrays */
static void NusHostPositionScope(NusHost *A, const NusLayout *L, int64_t s)
{
  for (int64_t k = 0; k < L->ntile; k++) {
    const NusTile *from = L->tile + k, *to = A->tile + A->tile_of_scope[A->scope_tile[s] + k];

    memcpy(A->chunk + to->chunk, L->chunk + from->chunk, sizeof(*L->chunk) * to->nchunk);
    memcpy(A->perm + to->perm, L->perm + from->perm, sizeof(*L->perm) * to->nperm);
    if (to->ndiag) memcpy(A->diag + to->diag, L->diag + from->diag, sizeof(*L->diag) * (to->ndiag + 1));
  }
}

/* Writes the parts `what`. With blocks, one NusBlocks a thread, collects the value blocks and stores no values. */
static SysStatus NusHostFillTiles(NusHost *A, int nworker, SysFill what, const NusLayout *layout, NusBlocks *blocks)
{
  int status = SYS_SUCCESS;

#pragma omp parallel num_threads(nworker) if (nworker > 1) reduction(max : status)
  {
    NusWork w;

    status = NusWorkCreate(A, &w);
    for (int t = omp_get_thread_num(); t < A->nthread && !status; t += omp_get_num_threads()) {
      for (int64_t s = A->thread_scope[t]; s < A->thread_scope[t + 1] && !status; s++) {
        if (layout) NusHostPositionScope(A, layout + s, s);
        status = NusSplitScope(A, s, &w);
        for (int64_t k = A->scope_tile[s]; k < A->scope_tile[s + 1] && !status; k++) {
          const NusTile *T = A->tile + A->tile_of_scope[k];
          NusPart        P;

          NusGetPart(A, s, T->segment, &w, &P);
          if (blocks) status = NusShareTile(A, T, &P, what, blocks + t, A->share + T->chunk);
          else NusFillTile(A, T, &P, what);
        }
      }
    }
    NusWorkDestroy(&w);
  }
  return (SysStatus)status;
}

/* Allocates and stores the values; position: each entry's index in the table, or NULL. Frees position. */
static SysStatus NusHostFill(NusHost *A, int nworker, SysFill what, const NusLayout *layout, uint8_t *position)
{
  SysStatus status;

  A->position = position;
  status      = NusHostFillTiles(A, nworker, what, layout, NULL);
  A->position = NULL;
  SysRelease(position, (size_t)A->csr.nz);
  if (what != SYS_FILL_PATTERN) A->filled = 1;
  return status;
}

/* Returns whether chunks may share values; not if the values change often, because every change would repeat the search for equal chunks */
static int NusHostMayShare(const NusHost *A)
{
  return A->params.values == SYS_VALUES_EXACT && A->params.rows != NUS_JDS && A->nslot && A->values.changes + A->filled < SYS_VALUES_CHANGES;
}

/* Concatenates the threads' blocks in place of the stored values; share[] counted from the thread's first block */
static SysStatus NusHostConcatenate(NusHost *A, int nworker, const NusBlocks *blocks)
{
  const int  C      = A->params.c;
  int64_t    nvalue = 0, nblock = 0;
  SysScalar *val;

  (void)nworker; /* unused without OpenMP */
  for (int t = 0; t < A->nthread; t++) {
    nvalue += blocks[t].nval;
    nblock += blocks[t].n;
  }
  if (nvalue / C > (int64_t)UINT32_MAX) return SYS_TOO_MANY_BYTES;
  val = SysAllocate(sizeof(*val) * (size_t)nvalue);
  if (!val) return SYS_OUT_OF_MEMORY;
#pragma omp parallel num_threads(nworker) if (nworker > 1)
  for (int t = omp_get_thread_num(); t < A->nthread; t += omp_get_num_threads()) {
    int64_t before = 0;

    for (int s = 0; s < t; s++) before += blocks[s].nval;
    if (blocks[t].nval) memcpy(val + before, blocks[t].val, sizeof(*val) * (size_t)blocks[t].nval);
    for (int64_t k = A->thread_tile[t]; k < A->thread_tile[t + 1]; k++) {
      for (int c = 0; c < A->tile[k].nfilled; c++) A->share[A->tile[k].chunk + c] += (uint32_t)(before / C);
    }
  }
  if (A->val) SysRelease(A->val, SysStorageSize(A->values.stored) * A->nvalue);
  A->val    = val;
  A->nvalue = nvalue;
  A->nblock = nblock;
  return SYS_SUCCESS;
}

/* Stores each value block once, and with a layout the pattern. Returns SYS_TOO_MANY_BYTES if that saves too little; A is then unchanged except for
   the layout's positions and the columns. */
static SysStatus NusHostShare(NusHost *A, int nworker, const NusLayout *layout)
{
  NusBlocks *blocks = calloc((size_t)A->nthread, sizeof(*blocks));
  uint32_t  *share = SysAllocate(sizeof(*share) * A->nchunk), *before = A->share;
  SysStatus  status = blocks && share ? SYS_SUCCESS : SYS_OUT_OF_MEMORY;

  for (int t = 0; t < A->nthread && !status; t++) {
    for (int64_t k = A->thread_tile[t]; k < A->thread_tile[t + 1]; k++) blocks[t].most += A->tile[k].nslot;
    blocks[t].most /= NUS_SHARED_PART;
  }
  A->share = share;
  if (!status) status = NusHostFillTiles(A, nworker, layout ? SYS_FILL_ALL : SYS_FILL_VALUES, layout, blocks);
  if (!status) status = NusHostConcatenate(A, nworker, blocks);
  for (int t = 0; t < A->nthread && blocks; t++) NusBlocksDestroy(blocks + t);
  free(blocks);
  if (status) A->share = before;
  SysRelease(status ? share : before, sizeof(*share) * A->nchunk);
  if (status) return status;
  A->values.changes += A->filled;
  A->values.stored = SYS_STORAGE_SHARED;
  A->values.exact  = 1;
  SysTableClear(&A->values.table);
  A->filled = 1;
  return SYS_SUCCESS;
}

/* Chooses the values' storage and stores them. With a layout it stores the pattern too; without values only the pattern. */
static SysStatus NusHostStore(NusHost *A, int nworker, const NusLayout *layout)
{
  const int    shared   = A->values.stored == SYS_STORAGE_SHARED;
  void        *before   = A->val;
  const size_t size     = SysStorageSize(A->values.stored) * A->nvalue;
  uint8_t     *position = NULL;
  SysStatus    status   = A->csr.a && NusHostMayShare(A) ? NusHostShare(A, nworker, layout) : SYS_TOO_MANY_BYTES;

  if (status != SYS_TOO_MANY_BYTES) return status;
  if (shared) A->val = NULL;
  status = SysValuesMakeRoom(&A->values, &A->csr, (size_t)A->nslot, A->filled, !layout || !A->csr.a, nworker, &A->val, &position);
  if (status) {
    A->val = before;
    return status;
  }
  if (shared) {
    SysRelease(before, size);
    SysRelease(A->share, sizeof(*A->share) * A->nchunk);
    A->share = NULL;
  }
  A->nvalue = A->nslot;
  return NusHostFill(A, nworker, !layout ? SYS_FILL_VALUES : A->csr.a ? SYS_FILL_ALL : SYS_FILL_PATTERN, layout, position);
}

/* Converts a matrix. params: a plan without open parameters. Returns SYS_TOO_MANY_BYTES before the fill if the bytes with plain values exceed `most`,
   because the values may change. */
SysStatus NusHostCreate(const SysCSR *csr, const NusParams *params, int nthread, int nworker, const NusKernels *kernels, double most, double *bytes, NusHost **out)
{
  NusHost   *A      = calloc(1, sizeof(*A));
  NusLayout *layout = NULL;
  SysStatus  status;

  *out = NULL;
  if (!A) return SYS_OUT_OF_MEMORY;
  A->csr     = *csr;
  A->kernels = kernels;
  A->params  = *params;
  A->nthread = nthread;
  SysValuesBeginHost(&A->values, params->values, kernels->fast, csr->nz, nthread);
  A->nscope       = (csr->m + params->sigma - 1) / params->sigma;
  A->scope_tile   = calloc(A->nscope + 1, sizeof(*A->scope_tile));
  A->thread_scope = calloc(A->nthread + 1, sizeof(*A->thread_scope));
  A->thread_tile  = calloc(A->nthread + 1, sizeof(*A->thread_tile));
  layout          = calloc(A->nscope + 1, sizeof(*layout));
  status          = A->scope_tile && A->thread_scope && A->thread_tile && layout ? NusHostSegments(A) : SYS_OUT_OF_MEMORY;
  if (!status) status = NusHostLayoutAll(A, nworker, layout);
  if (!status) {
    for (int64_t s = 0; s < A->nscope; s++) {
      A->ntile += layout[s].ntile;
      A->nchunk += layout[s].nchunk;
      A->nperm += layout[s].nperm;
      A->ndiag += layout[s].ndiag;
      for (int64_t k = 0; k < layout[s].ntile; k++) {
        A->nslot += layout[s].tile[k].nslot;
        A->ncol += layout[s].tile[k].ncol;
      }
    }
    A->nvalue = A->nslot;
    *bytes    = NusHostBytes(A);
    if (*bytes > most) status = SYS_TOO_MANY_BYTES;
  }
  if (!status) {
    A->tile          = SysAllocate(sizeof(*A->tile) * A->ntile);
    A->tile_of_scope = malloc(sizeof(*A->tile_of_scope) * (A->ntile + 1));
    A->chunk         = SysAllocate(sizeof(*A->chunk) * A->nchunk);
    A->perm          = SysAllocate(sizeof(*A->perm) * A->nperm);
    A->diag          = SysAllocate(sizeof(*A->diag) * A->ndiag);
    A->col           = SysAllocate(sizeof(*A->col) * A->ncol);
    if (!A->tile || !A->tile_of_scope || !A->chunk || !A->perm || !A->diag || !A->col) status = SYS_OUT_OF_MEMORY;
  }
  if (!status) {
    NusHostShareScopes(A, layout);
    NusHostOrderTiles(A, layout);
    NusHostPositionTiles(A);
    status = NusHostStore(A, nworker, layout);
    *bytes = NusHostBytes(A);
  }
  for (int64_t s = 0; layout && s < A->nscope; s++) NusLayoutDestroy(layout + s);
  free(layout);
  if (status) NusHostDestroy(A);
  else *out = A;
  return status;
}

/* Stores new values in the same pattern */
SysStatus NusHostUpdate(void *data, const SysCSR *csr, SysStream stream)
{
  NusHost *A = (NusHost *)data;

  (void)stream;
  A->csr = *csr;
  return NusHostStore(A, A->nthread, NULL);
}

/* Allocates each thread's sums for the transposed product. A single thread needs sums for gathered columns only; it adds the others to the result. */
SysStatus NusHostPrepareTranspose(NusHost *A)
{
  SysStretches *S = &A->work;

  if (S->sums || (A->nthread == 1 && !A->ngathered)) return SYS_SUCCESS;
  if (SysStretchesBegin(S, A->nthread)) return SYS_OUT_OF_MEMORY;
  for (int t = 0; t < A->nthread; t++) {
    S->lo[t] = A->csr.n;
    S->hi[t] = 0;
    for (int64_t k = A->thread_tile[t]; k < A->thread_tile[t + 1] && A->nthread > 1; k++) {
      if (NusGathered(A, A->tile[k].segment)) continue;
      S->lo[t] = SysMin(A->tile[k].lo, S->lo[t]);
      if (A->tile[k].hi > S->hi[t]) S->hi[t] = A->tile[k].hi;
    }
  }
  return SysStretchesCreate(S, A->nthread, A->ngathered);
}

SYS_HOST_MULT(Nus)
SYS_HOST_MULT_TRANSPOSE(Nus)

/* Returns the bytes of the matrix that a product reads, and those it moves to gather x */
double NusHostBytes(const NusHost *A)
{
  return (double)SysStorageSize(A->values.stored) * (double)A->nvalue + (A->values.stored == SYS_STORAGE_SHARED ? sizeof(*A->share) * (double)A->nchunk : 0) + sizeof(*A->col) * (double)A->ncol + sizeof(*A->chunk) * (double)A->nchunk +
         sizeof(*A->perm) * (double)A->nperm + sizeof(*A->diag) * (double)A->ndiag + sizeof(*A->tile) * (double)A->ntile + (sizeof(*A->order) + 2. * sizeof(*A->xg)) * A->ngathered;
}

void NusHostDestroy(void *data)
{
  NusHost *A = (NusHost *)data;

  if (!A) return;
  free(A->rank);
  free(A->order);
  free(A->scope_tile);
  free(A->tile_of_scope);
  free(A->thread_scope);
  free(A->thread_tile);
  SysRelease(A->xg, sizeof(*A->xg) * (A->ngathered + NUS_MAX_C));
  SysRelease(A->tile, sizeof(*A->tile) * A->ntile);
  SysRelease(A->chunk, sizeof(*A->chunk) * A->nchunk);
  SysRelease(A->perm, sizeof(*A->perm) * A->nperm);
  SysRelease(A->diag, sizeof(*A->diag) * A->ndiag);
  SysRelease(A->col, sizeof(*A->col) * A->ncol);
  SysRelease(A->val, SysStorageSize(A->values.stored) * A->nvalue);
  SysRelease(A->share, sizeof(*A->share) * A->nchunk);
  SysStretchesDestroy(&A->work);
  free(A);
}
