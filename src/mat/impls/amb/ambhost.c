/*
   Conversion of CSR to AMB on the host. Two passes, both over scopes in parallel: the first counts the blocks that every block size needs and
   sums up what a product would read, the second, with the block size chosen, lays the tiles out and fills them. The thread that will multiply
   a scope fills it, so that its memory is near that thread.
*/
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "ambhost.h"

#if defined(_OPENMP)
  #include <omp.h>
#else
  #define omp_get_thread_num()  0
  #define omp_get_num_threads() 1
#endif

#define AMB_HUGE_PAGE ((size_t)2 << 20)

static int64_t Min64(int64_t a, int64_t b)
{
  return a < b ? a : b;
}

const AmbKernels *AmbHostKernels(void)
{
#if defined(PETSCAMB_HAVE_AVX512) && !defined(AMB_COMPLEX)
  if (AmbKernelsAVX512.supported()) return &AmbKernelsAVX512;
#endif
#if defined(PETSCAMB_HAVE_AVX2) && !defined(AMB_COMPLEX)
  if (AmbKernelsAVX2.supported()) return &AmbKernelsAVX2;
#endif
  return &AmbKernelsPlain;
}

/* Memory that is not touched here, so that the thread that fills it places it; aligned to cache lines, and on huge pages where it is large */
static void *Allocate(size_t size)
{
  const size_t align = size >= 4 * AMB_HUGE_PAGE ? AMB_HUGE_PAGE : 64;
  void        *p;

  if (posix_memalign(&p, align, (size + align) / align * align)) return NULL;
#if defined(MADV_HUGEPAGE)
  if (align == AMB_HUGE_PAGE) (void)madvise(p, (size + align) / align * align, MADV_HUGEPAGE);
#endif
  return p;
}

/* What a thread needs to look at one scope at a time */
typedef struct {
  AmbInt   *pos;         /* where the next segment of each row begins */
  int32_t (*count)[16];  /* blocks of each row for each block size */
  uint16_t *order;       /* rows of a tile as the chunks take them */
  uint32_t *start;       /* as in the format */
  int32_t  *bucket;      /* of the counting sort */
} Workspace;

static void WorkspaceDestroy(Workspace *w)
{
  free(w->pos);
  free(w->count);
  free(w->order);
  free(w->start);
  free(w->bucket);
}

static AmbStatus WorkspaceCreate(int scope, Workspace *w)
{
  w->pos    = malloc(sizeof(*w->pos) * scope);
  w->count  = aligned_alloc(64, sizeof(*w->count) * scope);
  w->order  = malloc(sizeof(*w->order) * scope);
  w->start  = malloc(sizeof(*w->start) * (scope + 1));
  w->bucket = malloc(sizeof(*w->bucket) * (AMB_SEGMENT_WIDTH + 2));
  if (w->pos && w->count && w->order && w->start && w->bucket) return AMB_SUCCESS;
  WorkspaceDestroy(w);
  return AMB_OUT_OF_MEMORY;
}

/* Rows [0, nrow) in w->order by descending number of blocks, equal ones in their own order; returns how many are not empty */
static int SortRows(Workspace *w, int nrow, int b)
{
  int32_t most = 0, place = 0;
  int     filled = 0;

  for (int r = 0; r < nrow; r++) most = w->count[r][b - 1] > most ? w->count[r][b - 1] : most;
  memset(w->bucket, 0, sizeof(*w->bucket) * (most + 1));
  for (int r = 0; r < nrow; r++) w->bucket[w->count[r][b - 1]]++;
  for (int32_t len = most; len >= 0; len--) {
    const int32_t n = w->bucket[len];

    w->bucket[len] = place;
    place += n;
  }
  for (int r = 0; r < nrow; r++) {
    filled += w->count[r][b - 1] > 0;
    w->order[w->bucket[w->count[r][b - 1]]++] = (uint16_t)r;
  }
  return filled;
}

static int32_t ChunkLength(const Workspace *w, int row, int nrow, int b)
{
  int32_t most = 0;

  for (int r = row; r < row + AMB_C && r < nrow; r++) most = w->count[r][b - 1] > most ? w->count[r][b - 1] : most;
  return most;
}

/*
   Lays out the tile of nrow rows whose blocks of size b are counted in w->count: fills T->nsplit, nchunk, nfilled, nrow and sorted, w->start,
   w->order if it is sorted, and returns the number of its steps. Rows stay in their order if that costs less than two percent of the bytes.
*/
static int64_t TileLayout(Workspace *w, int nrow, int b, AmbTile *T)
{
  const int64_t slot = AMB_C * (b * sizeof(AmbScalar) + sizeof(uint16_t));
  int64_t       plain = 0, nplain = 0, steps = 0;
  int           filled = SortRows(w, nrow, b), row = 0, c = 0;

  for (int r = 0; r < nrow; r += AMB_C) {
    const int32_t len = ChunkLength(w, r, nrow, b);

    plain += len;
    nplain += len || T->first;
  }
  T->nsplit = 0;
  T->nrow   = T->first ? nrow : filled;
  /* a row that would leave more than half of its chunk to zeros is dealt to the lanes instead */
  while (row < filled) {
    const int32_t most = w->count[w->order[row]][b - 1];
    int64_t       sum  = 0;

    for (int l = row; l < row + AMB_C && l < filled; l++) sum += w->count[w->order[l]][b - 1];
    if (most < 4 * AMB_C || 2 * sum >= (int64_t)AMB_C * most) break;
    w->start[c++] = (uint32_t)steps;
    steps += (most + AMB_C - 1) / AMB_C;
    row++;
  }
  T->nsplit = row;
  T->nrow -= row;
  for (; row < T->nsplit + T->nrow; row += AMB_C) {
    w->start[c++] = (uint32_t)steps;
    steps += row < filled ? w->count[w->order[row]][b - 1] : 0;
  }
  w->start[c]  = (uint32_t)steps;
  T->sorted    = 1;
  T->nchunk    = c;
  T->nfilled   = T->nsplit + (filled - T->nsplit + AMB_C - 1) / AMB_C;
  if (T->nsplit || 100 * (plain * slot + 2 * nplain) > 102 * (steps * slot + 2 * AMB_C * T->nchunk)) return steps;

  steps = 0;
  c     = 0;
  for (int r = 0; r < nrow; r += AMB_C) {
    const int32_t len = ChunkLength(w, r, nrow, b);

    if (!len && !T->first) continue;
    w->order[c]   = (uint16_t)(r / AMB_C);
    w->start[c++] = (uint32_t)steps;
    steps += len;
    T->nrow = c * AMB_C - (r + AMB_C > nrow ? r + AMB_C - nrow : 0);
  }
  w->start[c] = (uint32_t)steps;
  T->sorted   = 0;
  T->nchunk = T->nfilled = c;
  return steps;
}

static int TilePerms(const AmbTile *T)
{
  return T->sorted ? T->nsplit + (T->nchunk - T->nsplit) * AMB_C : T->nchunk;
}

/* Finds the next segment of a scope: the tile gets its columns, w->count its blocks. Returns 0 when the scope has no more. */
static int NextSegment(const AmbCSR *A, const AmbKernels *kernels, Workspace *w, int nrow, int b, AmbTile *T, int *ascending)
{
  int64_t lo = A->n;

  for (int r = 0; r < nrow; r++) {
    if (w->pos[r] < A->i[T->row + r + 1] && A->j[w->pos[r]] < lo) lo = A->j[w->pos[r]];
  }
  if (lo == A->n) {
    if (!T->first) return 0;
    lo = 0; /* a scope without entries still has its rows to assign */
  }
  T->lo  = lo;
  T->col = lo > A->n - b ? (A->n > b ? A->n - b : 0) : lo;
  T->hi  = T->col + AMB_SEGMENT_WIDTH;
  kernels->count(A, T->row, nrow, T->hi, w->pos, T->lo, w->count, ascending);
  return 1;
}

static double TrafficBytes(const AmbTraffic *t, int b)
{
  return (double)t->steps * AMB_C * (b * sizeof(AmbScalar) + sizeof(uint16_t)) + sizeof(uint32_t) * (double)(t->chunks + t->tiles) + sizeof(uint16_t) * (double)t->perms + sizeof(AmbTile) * (double)t->tiles;
}

/*
   The traffic model: what the format would hold, and a product read, for every block size, or for the one given. Scopes of 4,096 rows keep
   the part of y that several tiles add to in the first-level cache; small matrices get smaller ones, so that every thread has some.
*/
AmbStatus AmbPlanCreate(const AmbCSR *A, int block_size, int scope, int nthread, const AmbKernels *kernels, AmbPlan *plan)
{
  const int b0 = block_size ? block_size : 1, b1 = block_size ? block_size : (int)Min64(AMB_MAX_BLOCK, A->n > 1 ? A->n : 1);
  int       status = AMB_SUCCESS, ascending = 1;

  memset(plan, 0, sizeof(*plan));
  if (!scope) {
    for (scope = 4096; scope > 64 && (int64_t)scope * nthread * 8 > A->m; scope /= 2) { }
  }
  plan->scope   = scope;
  plan->nscope  = (A->m + scope - 1) / scope;
  plan->nthread = nthread;
  plan->traffic = calloc(plan->nscope + 1, sizeof(*plan->traffic) * AMB_MAX_BLOCK);
  if (!plan->traffic) return AMB_OUT_OF_MEMORY;
#if defined(_OPENMP)
  #pragma omp parallel num_threads(nthread) if (nthread > 1) reduction(| : status) reduction(& : ascending)
#endif
  {
    Workspace w;

    status |= WorkspaceCreate(scope, &w);
    if (!status) {
      for (int64_t s = omp_get_thread_num(); s < plan->nscope; s += omp_get_num_threads()) {
        AmbTile   T    = {.row = s * scope, .first = 1};
        const int nrow = (int)Min64(scope, A->m - T.row);

        for (int r = 0; r < nrow; r++) w.pos[r] = A->i[T.row + r];
        while (ascending && NextSegment(A, kernels, &w, nrow, b1, &T, &ascending)) {
          for (int b = b0; b <= b1; b++) {
            AmbTraffic *t = plan->traffic + s * AMB_MAX_BLOCK + b - 1;

            t->steps += TileLayout(&w, nrow, b, &T);
            t->chunks += T.nchunk;
            t->perms += TilePerms(&T);
            t->tiles++;
          }
          T.first = 0;
        }
      }
      WorkspaceDestroy(&w);
    }
  }
  plan->ascending = ascending;
  for (int b = b0; b <= b1; b++) {
    AmbTraffic sum = {0};

    for (int64_t s = 0; s < plan->nscope; s++) {
      const AmbTraffic *t = plan->traffic + s * AMB_MAX_BLOCK + b - 1;

      sum.steps += t->steps;
      sum.chunks += t->chunks;
      sum.perms += t->perms;
      sum.tiles += t->tiles;
    }
    plan->bytes[b] = TrafficBytes(&sum, b);
    if (!plan->block_size || plan->bytes[b] < plan->bytes[plan->block_size]) plan->block_size = b;
  }
  return (AmbStatus)status;
}

void AmbPlanDestroy(AmbPlan *plan)
{
  free(plan->traffic);
  plan->traffic = NULL;
}

/* Writes the blocks of one row, from its entry k on, into every stride-th slot beginning at the first; returns the entry after the last */
static inline __attribute__((always_inline)) AmbInt FillRow(const int b, const int values_only, const AmbHost *A, const AmbTile *T, AmbInt k, AmbInt end, int64_t slot, int64_t slots, int stride)
{
  const AmbInt    *j = A->csr.j;
  const AmbScalar *a = A->csr.a;
  uint16_t        *col = A->col + slot;
  AmbScalar       *val = A->val + slot * b;
  int64_t          i = 0;

  for (; k < end && j[k] < T->hi; i += stride) {
    int64_t first = j[k] - T->col;

    if (first + b > A->csr.n - T->col) first = A->csr.n - T->col - b;
    if (!values_only) {
      col[i] = (uint16_t)first;
      for (int q = 0; q < b; q++) val[i * b + q] = 0;
    }
    do {
      val[i * b + (j[k] - T->col - first)] = a[k];
      k++;
    } while (b > 1 && k < end && j[k] < T->hi && j[k] - T->col < first + b);
  }
  if (!values_only) {
    for (; i < slots; i += stride) {
      col[i] = 0;
      for (int q = 0; q < b; q++) val[i * b + q] = 0;
    }
  }
  return k;
}

/* Fills a tile, or only its values where the rest is there already; pos[] holds the next entry of every row of the scope */
static inline __attribute__((always_inline)) void FillTile(const int b, const int values_only, const AmbHost *A, const AmbTile *T, AmbInt *pos)
{
  const uint32_t *start = A->start + T->chunk;
  const uint16_t *perm  = A->perm + T->perm;

  for (int c = 0; c < T->nfilled; c++) {
    const int64_t slot = AMB_C * (T->step + start[c]), slots = AMB_C * (int64_t)(start[c + 1] - start[c]);

    if (c < T->nsplit) {
      const int r = perm[c];

      pos[r] = FillRow(b, values_only, A, T, pos[r], A->csr.i[T->row + r + 1], slot, slots, 1);
    } else {
      for (int l = 0; l < AMB_C; l++) {
        const int k = (c - T->nsplit) * AMB_C + l, r = T->sorted ? perm[T->nsplit + k] : AMB_C * perm[c] + l;

        if (k < T->nrow) pos[r] = FillRow(b, values_only, A, T, pos[r], A->csr.i[T->row + r + 1], slot + l, slots, AMB_C);
        else if (!values_only) (void)FillRow(b, 0, A, T, 0, 0, slot + l, slots, AMB_C);
      }
    }
  }
}

static void FillScope(int values_only, const AmbHost *A, int64_t s, AmbInt *pos)
{
  const int64_t row = s * A->scope, nrow = Min64(A->scope, A->csr.m - row);

  for (int64_t r = 0; r < nrow; r++) pos[r] = A->csr.i[row + r];
  for (int64_t k = A->scope_tile[s]; k < A->scope_tile[s + 1]; k++) {
    const AmbTile *T = A->tile + k;

    switch (2 * A->block_size + values_only) {
#define CASE(b) \
  case 2 * b: \
    FillTile(b, 0, A, T, pos); \
    break; \
  case 2 * b + 1: \
    FillTile(b, 1, A, T, pos); \
    break
      CASE(1);
      CASE(2);
      CASE(3);
      CASE(4);
      CASE(5);
      CASE(6);
      CASE(7);
      CASE(8);
      CASE(9);
      CASE(10);
#undef CASE
    }
  }
}

/* Lays out and fills the tiles of scope s; where its parts of the arrays begin is known from the plan */
static void BuildScope(AmbHost *A, int64_t s, AmbTile at, Workspace *w)
{
  const int b = A->block_size, nrow = (int)Min64(A->scope, A->csr.m - s * A->scope);
  int       ascending = 1;
  AmbTile  *T         = A->tile + A->scope_tile[s];

  at.row   = s * A->scope;
  at.first = 1;
  for (int r = 0; r < nrow; r++) w->pos[r] = A->csr.i[at.row + r];
  while (NextSegment(&A->csr, A->kernels, w, nrow, b, &at, &ascending)) {
    const int64_t steps = TileLayout(w, nrow, b, &at);

    memcpy(A->start + at.chunk, w->start, sizeof(*w->start) * (at.nchunk + 1));
    memset(A->perm + at.perm, 0, sizeof(*A->perm) * TilePerms(&at));
    memcpy(A->perm + at.perm, w->order, sizeof(*w->order) * (at.sorted ? at.nsplit + at.nrow : at.nchunk));
    *T++ = at;
    at.step += steps;
    at.chunk += at.nchunk + 1;
    at.perm += TilePerms(&at);
    at.first = 0;
  }
  FillScope(0, A, s, w->pos);
}

AmbStatus AmbHostCreate(const AmbCSR *csr, const AmbPlan *plan, const AmbKernels *kernels, AmbHost **out)
{
  const int b = plan->block_size;
  AmbHost  *A = calloc(1, sizeof(*A));
  AmbTile  *at;
  int64_t   step = 0, chunk = 0, perm = 0, tile = 0;
  int       status = AMB_SUCCESS, t = 0;

  *out = NULL;
  if (!A) return AMB_OUT_OF_MEMORY;
  A->csr          = *csr;
  A->kernels      = kernels;
  A->block_size   = b;
  A->scope        = plan->scope;
  A->nthread      = plan->nthread;
  A->nscope       = plan->nscope;
  A->scope_tile   = calloc(A->nscope + 1, sizeof(*A->scope_tile));
  A->thread_scope = calloc(A->nthread + 1, sizeof(*A->thread_scope));
  at              = calloc(A->nscope + 1, sizeof(*at));
  if (!A->scope_tile || !A->thread_scope || !at) status = AMB_OUT_OF_MEMORY;
  for (int64_t s = 0; !status && s < A->nscope; s++) {
    const AmbTraffic *traffic = plan->traffic + s * AMB_MAX_BLOCK + b - 1;

    at[s].step       = step;
    at[s].chunk      = chunk;
    at[s].perm       = perm;
    A->scope_tile[s] = tile;
    step += traffic->steps;
    chunk += traffic->chunks + traffic->tiles;
    perm += traffic->perms;
    tile += traffic->tiles;
    A->scope_tile[s + 1] = tile;
  }
  if (!status) {
    /* threads get whole scopes, as many as make up their share of the steps */
    for (int64_t s = 0; s < A->nscope; s++) {
      while (t < A->nthread && at[s].step * A->nthread >= step * t) A->thread_scope[t++] = s;
    }
    while (t <= A->nthread) A->thread_scope[t++] = A->nscope;
    A->thread_scope[0] = 0;
    A->nstep           = step;
    A->nchunk          = chunk - tile;
    A->nperm           = perm;
    A->ntile           = tile;
    A->tile            = Allocate(sizeof(*A->tile) * tile);
    A->start           = Allocate(sizeof(*A->start) * chunk);
    A->perm            = Allocate(sizeof(*A->perm) * perm);
    A->col             = Allocate(sizeof(*A->col) * AMB_C * step);
    A->val             = Allocate(sizeof(*A->val) * AMB_C * b * step);
    if (!A->tile || !A->start || !A->perm || !A->col || !A->val) status = AMB_OUT_OF_MEMORY;
  }
  if (!status) {
#if defined(_OPENMP)
  #pragma omp parallel num_threads(A->nthread) if (A->nthread > 1) reduction(| : status)
#endif
    {
      Workspace w;

      status |= WorkspaceCreate(A->scope, &w);
      if (!status) {
        for (int k = omp_get_thread_num(); k < A->nthread; k += omp_get_num_threads()) {
          for (int64_t s = A->thread_scope[k]; s < A->thread_scope[k + 1]; s++) BuildScope(A, s, at[s], &w);
        }
        WorkspaceDestroy(&w);
      }
    }
  }
  free(at);
  if (status) AmbHostDestroy(&A);
  else *out = A;
  return (AmbStatus)status;
}

/* New values in the old pattern */
AmbStatus AmbHostUpdate(AmbHost *A, const AmbCSR *csr)
{
  int status = AMB_SUCCESS;

  A->csr = *csr;
#if defined(_OPENMP)
  #pragma omp parallel num_threads(A->nthread) if (A->nthread > 1) reduction(| : status)
#endif
  {
    AmbInt *pos = malloc(sizeof(*pos) * A->scope);

    if (!pos) status = AMB_OUT_OF_MEMORY;
    else {
      for (int k = omp_get_thread_num(); k < A->nthread; k += omp_get_num_threads()) {
        for (int64_t s = A->thread_scope[k]; s < A->thread_scope[k + 1]; s++) FillScope(1, A, s, pos);
      }
    }
    free(pos);
  }
  return (AmbStatus)status;
}

/* Gives every thread a stretch of the result to add to in the transposed product */
AmbStatus AmbHostPrepareTranspose(AmbHost *A)
{
  int64_t size = 0;

  if (A->nthread == 1 || A->work) return AMB_SUCCESS;
  if (!A->work_lo) A->work_lo = malloc(3 * sizeof(*A->work_lo) * A->nthread);
  if (!A->work_lo) return AMB_OUT_OF_MEMORY;
  A->work_hi  = A->work_lo + A->nthread;
  A->work_off = A->work_hi + A->nthread;
  for (int t = 0; t < A->nthread; t++) {
    int64_t lo = A->csr.n, hi = 0;

    for (int64_t k = A->scope_tile[A->thread_scope[t]]; k < A->scope_tile[A->thread_scope[t + 1]]; k++) {
      if (A->tile[k].col < lo) lo = A->tile[k].col;
      if (A->tile[k].hi > hi) hi = A->tile[k].hi;
    }
    A->work_lo[t]  = lo;
    A->work_hi[t]  = hi < lo ? lo : Min64(hi, A->csr.n);
    A->work_off[t] = size;
    size += A->work_hi[t] - lo + 64 / sizeof(AmbScalar);
  }
  A->work = Allocate(sizeof(*A->work) * size);
  return A->work ? AMB_SUCCESS : AMB_OUT_OF_MEMORY;
}

/* What a product reads of the matrix */
double AmbHostBytes(const AmbHost *A)
{
  return (double)sizeof(*A->val) * AMB_C * A->block_size * A->nstep + (double)sizeof(*A->col) * AMB_C * A->nstep + sizeof(*A->start) * (double)(A->nchunk + A->ntile) + sizeof(*A->perm) * (double)A->nperm + sizeof(*A->tile) * (double)A->ntile;
}

void AmbHostDestroy(AmbHost **A)
{
  if (!*A) return;
  free((*A)->scope_tile);
  free((*A)->thread_scope);
  free((*A)->tile);
  free((*A)->start);
  free((*A)->perm);
  free((*A)->col);
  free((*A)->val);
  free((*A)->work);
  free((*A)->work_lo);
  free(*A);
  *A = NULL;
}
