/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Conversion from CSR to AMB on the host, parallel over scopes. Two passes: lay out all scopes, which gives the sizes of the arrays; then fill them.
   The thread that multiplies a scope also fills it (first touch).
*/
#include <stdlib.h>
#include <string.h>

#include "mat/impls/amb/host/amblayout.h"
#include "sys/sysmemory.h"
#include "sys/systuning.h"

const AmbKernels *AmbHostKernels(void)
{
#if defined(PETSCAMB_HAVE_AVX512) && !defined(SYS_COMPLEX)
  if (AmbKernelsGatherAVX512.supported()) return &AmbKernelsGatherAVX512;
#endif
  return SYS_KERNELS_REAL(AmbKernels);
}

static SysStatus AmbHostLayoutAll(const AmbHost *A, int nworker, AmbScope *layout)
{
  int status = SYS_SUCCESS;

#pragma omp parallel num_threads(nworker) if (nworker > 1) reduction(max : status)
  {
    AmbWorkspace w;

    status = AmbWorkspaceCreate(A->scope, 1, &w);
    if (!status) {
      for (int64_t s = omp_get_thread_num(); s < A->nscope && !status; s += omp_get_num_threads()) status = AmbLayoutScope(&A->csr, s * A->scope, A->scope, A->block_size, &w, layout + s);
      AmbWorkspaceDestroy(&w);
    }
  }
  return (SysStatus)status;
}

/*
   Writes the blocks of one row, from its entry k on, into every stride-th slot from slot on; returns the entry after the last one written. only: the
   row has no entries in other tiles, so its last entry ends the part.
*/
static inline __attribute__((always_inline)) SysInt AmbHostFillRow(const int b, const int only, const SysFill what, const SysStorage stored, const AmbHost *A, const AmbTile *T, SysInt k, SysInt end, int64_t slot, int64_t slots, int stride)
{
  const SysInt *j   = A->csr.j;
  const int64_t top = A->csr.n - T->col - b; /* the last column where a block can begin */
  uint16_t     *col = A->col + slot;
  const int64_t val = slot * b;
  int64_t       i   = 0;

  for (; k < end && (only || j[k] < T->hi); i += stride) {
    int64_t first;

    if (b == 1 && what == SYS_FILL_VALUES) {
      SysValuesPut(stored, A->val, val + i, A->csr.a, A->position, k++);
      continue;
    }
    first = j[k] - T->col < top ? j[k] - T->col : top;
    if (what != SYS_FILL_VALUES) col[i] = (uint16_t)first;
    if (end - k >= b && j[k + b - 1] - T->col == first + b - 1 && j[k + b - 1] < T->hi) { /* a block without filling */
      for (int q = 0; q < b && what != SYS_FILL_PATTERN; q++) SysValuesPut(stored, A->val, val + i * b + q, A->csr.a, A->position, k + q);
      k += b;
      continue;
    }
    for (int q = 0; q < b && what == SYS_FILL_ALL; q++) SysValuesPutZero(stored, A->val, val + i * b + q);
    do {
      if (what != SYS_FILL_PATTERN) SysValuesPut(stored, A->val, val + i * b + (j[k] - T->col - first), A->csr.a, A->position, k);
      k++;
    } while (k < end && (only || j[k] < T->hi) && j[k] - T->col < first + b);
  }
  for (; i < slots && what != SYS_FILL_VALUES; i += stride) {
    col[i] = 0;
    for (int q = 0; q < b && what == SYS_FILL_ALL; q++) SysValuesPutZero(stored, A->val, val + i * b + q);
  }
  return k;
}

/* Fills a tile. pos[r] is the next entry of row r of the scope. */
static inline __attribute__((always_inline)) void AmbHostFillTile(const int b, const int only, const SysFill what, const SysStorage stored, const AmbHost *A, const AmbTile *T, SysInt *pos)
{
  const uint32_t *start = A->start + T->chunk;
  const uint16_t *perm  = A->perm + T->perm;
  const SysInt   *end   = A->csr.i + T->row + 1;

  for (int c = 0; c < T->nfilled; c++) {
    const int64_t slot = AMB_C * (T->step + start[c]), slots = AMB_C * (int64_t)(start[c + 1] - start[c]);

    if (c < T->nsplit) {
      pos[perm[c]] = AmbHostFillRow(b, only, what, stored, A, T, pos[perm[c]], end[perm[c]], slot, slots, 1);
    } else {
      for (int l = 0; l < AMB_C; l++) {
        const int k = (c - T->nsplit) * AMB_C + l, r = T->sorted ? perm[T->nsplit + k] : AMB_C * perm[c] + l;

        if (T->sorted ? k < T->nrow : T->row + r < A->csr.m) {
          pos[r] = AmbHostFillRow(b, only, what, stored, A, T, pos[r], end[r], slot + l, slots, AMB_C);
        } else if (what != SYS_FILL_VALUES) (void)AmbHostFillRow(b, 1, what, stored, A, T, 0, 0, slot + l, slots, AMB_C);
      }
    }
  }
}

/* One function for each block size, with the parts to write as constants too; coded values take one generic function */
#define FILL(b) \
  static void AmbHostFill##b(const AmbHost *A, const AmbTile *T, SysInt *pos, SysFill what) \
  { \
    if (what == SYS_FILL_VALUES && T->only) AmbHostFillTile(b, 1, SYS_FILL_VALUES, SYS_STORAGE_PLAIN, A, T, pos); \
    else if (what == SYS_FILL_VALUES) AmbHostFillTile(b, 0, SYS_FILL_VALUES, SYS_STORAGE_PLAIN, A, T, pos); \
    else if (what == SYS_FILL_PATTERN) AmbHostFillTile(b, 0, SYS_FILL_PATTERN, SYS_STORAGE_PLAIN, A, T, pos); \
    else AmbHostFillTile(b, 0, SYS_FILL_ALL, SYS_STORAGE_PLAIN, A, T, pos); \
  }
#define FILL_NAMED(b) AmbHostFill##b,

AMB_BLOCKS(FILL)

static void AmbHostFillSmall(const AmbHost *A, const AmbTile *T, SysInt *pos, SysFill what)
{
  AmbHostFillTile(A->block_size, what == SYS_FILL_VALUES && T->only, what, A->values.stored, A, T, pos);
}

/* Copies a scope's layout into the format's arrays */
static void AmbHostPositionScope(AmbHost *A, const AmbScope *L, const AmbScope *before)
{
  AmbTile *tile = A->tile + before->ntile;

  for (int64_t k = 0; k < L->ntile; k++) {
    tile[k] = L->tile[k];
    tile[k].step += before->nstep;
    tile[k].chunk += before->nstart;
    tile[k].perm += before->nperm;
  }
  if (L->nstart) memcpy(A->start + before->nstart, L->start, sizeof(*L->start) * L->nstart);
  if (L->nperm) memcpy(A->perm + before->nperm, L->perm, sizeof(*L->perm) * L->nperm);
}

/* Computes each scope's offsets in the arrays, and gives the threads contiguous scopes with equal numbers of steps */
static void AmbHostPartition(AmbHost *A, const AmbScope *layout, AmbScope *before)
{
  int t = 1;

  for (int64_t s = 0; s < A->nscope; s++) {
    before[s + 1].ntile  = before[s].ntile + layout[s].ntile;
    before[s + 1].nstart = before[s].nstart + layout[s].nstart;
    before[s + 1].nperm  = before[s].nperm + layout[s].nperm;
    before[s + 1].nstep  = before[s].nstep + layout[s].nstep;
    A->scope_tile[s + 1] = before[s + 1].ntile;
  }
  A->ntile  = before[A->nscope].ntile;
  A->nchunk = before[A->nscope].nstart - A->ntile;
  A->nperm  = before[A->nscope].nperm;
  A->nstep  = before[A->nscope].nstep;
  for (int64_t s = 0; s < A->nscope; s++) {
    while (t < A->nthread && before[s].nstep * A->nthread >= A->nstep * t) A->thread_scope[t++] = s;
  }
  while (t <= A->nthread) A->thread_scope[t++] = A->nscope;
}

static SysStatus AmbHostFill(AmbHost *A, int nworker, SysFill what, const AmbScope *layout, const AmbScope *before)
{
  static void (*const fill[AMB_MAX_BLOCK])(const AmbHost *, const AmbTile *, SysInt *, SysFill) = {AMB_BLOCKS(FILL_NAMED)};

  int status = SYS_SUCCESS;

#pragma omp parallel num_threads(nworker) if (nworker > 1) reduction(| : status)
  {
    SysInt *pos = malloc(sizeof(*pos) * A->scope);

    if (!pos) status = SYS_OUT_OF_MEMORY;
    for (int t = omp_get_thread_num(); t < A->nthread && !status; t += omp_get_num_threads()) {
      for (int64_t s = A->thread_scope[t]; s < A->thread_scope[t + 1]; s++) {
        if (layout) AmbHostPositionScope(A, layout + s, before + s);
        for (int64_t r = 0; r < A->scope && s * A->scope + r < A->csr.m; r++) pos[r] = A->csr.i[s * A->scope + r];
        for (int64_t k = A->scope_tile[s]; k < A->scope_tile[s + 1]; k++) (*(A->values.stored == SYS_STORAGE_PLAIN ? fill[A->block_size - 1] : AmbHostFillSmall))(A, A->tile + k, pos, what);
      }
    }
    free(pos);
  }
  return (SysStatus)status;
}

/* Evicts the caches by reading the CSR */
static void AmbHostReadOther(const SysCSR *A)
{
  const int64_t      n   = SysMin(A->nz, (int64_t)(SYS_VALUES_LARGE / sizeof(SysScalar)));
  volatile SysScalar sum = 0;

  for (int64_t k = 0; k < n; k += 64 / (int64_t)sizeof(SysScalar)) sum += A->a[k];
  (void)sum;
}

/* Fills the scopes before `scope` with values in storage V, in separate memory, and sets the seconds of a product with them */
static SysStatus AmbHostTry(const AmbHost *A, const SysValuesChoice *V, int64_t scope, SysFill what, const AmbScope *layout, const AmbScope *before, const SysScalar *x, SysScalar *z, double *seconds)
{
  int64_t      scopes[2] = {0, scope};
  AmbHost      part      = *A;
  const size_t size      = SysStorageSize(V->stored) * (size_t)(AMB_C * A->block_size * (layout ? before[scope].nstep : A->tile[A->scope_tile[scope]].step));
  SysStatus    status    = SYS_OUT_OF_MEMORY;

  part.values       = *V;
  part.thread_scope = scopes;
  part.val          = SysAllocateZero(size);
  if (part.val) status = AmbHostFill(&part, 1, what, layout, before);
  if (!status) {
    AmbHostReadOther(&A->csr);
    *seconds = SysSeconds(CLOCK_THREAD_CPUTIME_ID);
    (*A->kernels->mult)(&part, 1, x, 0, NULL, z);
    *seconds = SysSeconds(CLOCK_THREAD_CPUTIME_ID) - *seconds;
  }
  SysRelease(part.val, size);
  return status;
}

/* Returns whether a table pays with one thread. Looking values up takes longer than loading them from a cache, but may take less than loading them
   from memory; no rule by bytes held on all processors. So it times some scopes with and without the table, which compute the same bits. If memory
   for the trial is short, it returns true: the table has the fewest bytes. */
static int AmbHostTablePays(const AmbHost *A, SysFill what, const AmbScope *layout, const AmbScope *before)
{
  const int64_t   scope = A->nscope / AMB_TABLE_SCOPES;
  SysValuesChoice other = A->values;
  SysScalar      *x = SysAllocate(sizeof(*x) * (size_t)A->csr.n), *z = SysAllocate(sizeof(*z) * (size_t)A->csr.m);
  double          table, without;
  int             pays = 1;

  SysValuesDropTable(&other);
  if (x && z) {
    memset(x, 0, sizeof(*x) * (size_t)A->csr.n);
    memset(z, 0, sizeof(*z) * (size_t)A->csr.m);
    if (!AmbHostTry(A, &A->values, scope, what, layout, before, x, z, &table) && !AmbHostTry(A, &other, scope, what, layout, before, x, z, &without)) pays = table < AMB_TABLE_GAIN * without;
  }
  SysRelease(x, sizeof(*x) * (size_t)A->csr.n);
  SysRelease(z, sizeof(*z) * (size_t)A->csr.m);
  return pays;
}

/* Allocates the chosen storage of values, and finds their indices in a table */
static SysStatus AmbHostChoose(AmbHost *A, int nworker, SysFill what)
{
  return SysValuesMakeRoom(&A->values, &A->csr, (size_t)(AMB_C * A->block_size * A->nstep), A->filled, what != SYS_FILL_ALL, nworker, &A->val, &A->position);
}

static void AmbHostDropPositions(AmbHost *A)
{
  SysRelease(A->position, (size_t)A->csr.nz);
  A->position = NULL;
}

/* Chooses the storage of values, and fills them in */
static SysStatus AmbHostFillAll(AmbHost *A, int nworker, SysFill what, const AmbScope *layout, const AmbScope *before)
{
  SysStatus status = AmbHostChoose(A, nworker, what);

  if (!status && A->position && A->tries) {
    A->tries = 0;
    if (!AmbHostTablePays(A, what, layout, before)) {
      AmbHostDropPositions(A);
      A->values.most = 0;
      status         = AmbHostChoose(A, nworker, what);
    }
  }
  if (!status) status = AmbHostFill(A, nworker, what, layout, before);
  AmbHostDropPositions(A);
  if (!status && what != SYS_FILL_PATTERN) A->filled = 1;
  return status;
}

SysStatus AmbHostCreate(const SysCSR *csr, const AmbPlan *plan, int nworker, const AmbKernels *kernels, AmbHost **out)
{
  AmbHost  *A = calloc(1, sizeof(*A));
  AmbScope *layout, *before;
  int       status = SYS_OUT_OF_MEMORY;

  *out = NULL;
  if (!A) return SYS_OUT_OF_MEMORY;
  A->csr        = *csr;
  A->kernels    = kernels;
  A->block_size = plan->block_size;
  A->scope      = plan->scope;
  SysValuesBeginHost(&A->values, plan->values, 0, csr->nz, plan->nthread);
  A->nthread = plan->nthread;
  A->nscope  = (csr->m + plan->scope - 1) / plan->scope;
  A->tries   = plan->values == SYS_VALUES_EXACT && plan->nthread == 1 && csr->nz >= plan->trial && A->nscope >= AMB_TABLE_SCOPES;
  if (A->tries) A->values.most = SYS_TABLE_VALUES - 1;
  A->scope_tile   = calloc(A->nscope + 1, sizeof(*A->scope_tile));
  A->thread_scope = calloc(A->nthread + 1, sizeof(*A->thread_scope));
  layout          = calloc(A->nscope + 1, sizeof(*layout));
  before          = calloc(A->nscope + 1, sizeof(*before));
  if (A->scope_tile && A->thread_scope && layout && before) status = AmbHostLayoutAll(A, nworker, layout);
  if (!status) {
    AmbHostPartition(A, layout, before);
    A->tile  = SysAllocate(sizeof(*A->tile) * A->ntile);
    A->start = SysAllocate(sizeof(*A->start) * (A->nchunk + A->ntile));
    A->perm  = SysAllocate(sizeof(*A->perm) * A->nperm);
    A->col   = SysAllocate(sizeof(*A->col) * AMB_C * A->nstep);
    if (!A->tile || !A->start || !A->perm || !A->col) status = SYS_OUT_OF_MEMORY;
  }
  if (!status) status = AmbHostFillAll(A, nworker, csr->a ? SYS_FILL_ALL : SYS_FILL_PATTERN, layout, before);
  for (int64_t s = 0; layout && s < A->nscope; s++) {
    free(layout[s].tile);
    free(layout[s].start);
    free(layout[s].perm);
  }
  free(layout);
  free(before);
  if (status) AmbHostDestroy(A);
  else *out = A;
  return (SysStatus)status;
}

/* Stores new values; the pattern stays */
SysStatus AmbHostUpdate(void *data, const SysCSR *csr, SysStream stream)
{
  AmbHost *A = (AmbHost *)data;

  (void)stream;
  A->csr = *csr;
  return AmbHostFillAll(A, A->nthread, SYS_FILL_VALUES, NULL, NULL);
}

/* Allocates one stretch of the transposed product's result for each thread */
SysStatus AmbHostPrepareTranspose(AmbHost *A)
{
  SysStretches *S = &A->work;

  if (A->nthread == 1 || S->sums) return SYS_SUCCESS;
  if (SysStretchesBegin(S, A->nthread)) return SYS_OUT_OF_MEMORY;
  for (int t = 0; t < A->nthread; t++) {
    S->lo[t] = A->csr.n;
    S->hi[t] = 0;
    for (int64_t k = A->scope_tile[A->thread_scope[t]]; k < A->scope_tile[A->thread_scope[t + 1]]; k++) {
      S->lo[t] = SysMin(A->tile[k].col, S->lo[t]);
      if (A->tile[k].hi > S->hi[t]) S->hi[t] = SysMin(A->tile[k].hi, A->csr.n);
    }
  }
  return SysStretchesCreate(S, A->nthread, 0);
}

SYS_HOST_MULT(Amb)
SYS_HOST_MULT_TRANSPOSE(Amb)

/* Returns the bytes of the matrix that a product reads */
double AmbHostBytes(const AmbHost *A)
{
  return (double)SysStorageSize(A->values.stored) * AMB_C * A->block_size * A->nstep + (double)sizeof(*A->col) * AMB_C * A->nstep + sizeof(*A->start) * (double)(A->nchunk + A->ntile) + sizeof(*A->perm) * (double)A->nperm +
         sizeof(*A->tile) * (double)A->ntile;
}

static size_t AmbHostValuesSize(const AmbHost *A)
{
  return SysStorageSize(A->values.stored) * (size_t)(AMB_C * A->block_size * A->nstep);
}

void AmbHostForget(void *data)
{
  AmbHost *A = (AmbHost *)data;

  SysReleasePages(A->val, AmbHostValuesSize(A));
}

void AmbHostDestroy(void *data)
{
  AmbHost *A = (AmbHost *)data;

  if (!A) return;
  free(A->scope_tile);
  free(A->thread_scope);
  SysRelease(A->tile, sizeof(*A->tile) * A->ntile);
  SysRelease(A->start, sizeof(*A->start) * (A->nchunk + A->ntile));
  SysRelease(A->perm, sizeof(*A->perm) * A->nperm);
  SysRelease(A->col, sizeof(*A->col) * AMB_C * A->nstep);
  SysRelease(A->val, AmbHostValuesSize(A));
  SysStretchesDestroy(&A->work);
  free(A);
}
