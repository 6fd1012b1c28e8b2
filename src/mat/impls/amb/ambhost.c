/*
   Conversion of CSR to AMB on the host, in three steps, each over scopes in parallel: the traffic model counts the blocks of every block size
   in some of the scopes and chooses one; with that, all scopes are laid out; then, when it is known how much memory they need, they are
   filled. The thread that will multiply a scope fills it, so that its memory is near that thread.
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
  AmbInt   *pos;    /* where the next segment of each row begins */
  int32_t  *count;  /* blocks of each row: for one block size, or for 16 */
  uint16_t *order;  /* rows of a tile as the chunks take them */
  uint32_t *start;  /* as in the format */
  int32_t  *bucket; /* of the counting sort */
} Workspace;

static void WorkspaceDestroy(Workspace *w)
{
  free(w->pos);
  free(w->count);
  free(w->order);
  free(w->start);
  free(w->bucket);
}

static AmbStatus WorkspaceCreate(int scope, int nsize, Workspace *w)
{
  w->pos    = malloc(sizeof(*w->pos) * scope);
  w->count  = malloc(sizeof(*w->count) * scope * nsize);
  w->order  = malloc(sizeof(*w->order) * scope);
  w->start  = malloc(sizeof(*w->start) * (scope + 1));
  w->bucket = malloc(sizeof(*w->bucket) * (AMB_SEGMENT_WIDTH + 1));
  if (w->pos && w->count && w->order && w->start && w->bucket) return AMB_SUCCESS;
  WorkspaceDestroy(w);
  return AMB_OUT_OF_MEMORY;
}

/* Rows [0, nrow) in w->order by descending number of blocks, equal ones in their own order; returns how many are not empty */
static int SortRows(Workspace *w, const int32_t *count, int stride, int nrow)
{
  int32_t most = 0, place = 0;
  int     filled = 0;

  for (int r = 0; r < nrow; r++) most = count[r * stride] > most ? count[r * stride] : most;
  memset(w->bucket, 0, sizeof(*w->bucket) * (most + 1));
  for (int r = 0; r < nrow; r++) w->bucket[count[r * stride]]++;
  filled = nrow - w->bucket[0];
  for (int32_t len = most; len >= 0; len--) {
    const int32_t n = w->bucket[len];

    w->bucket[len] = place;
    place += n;
  }
  for (int r = 0; r < nrow; r++) w->order[w->bucket[count[r * stride]]++] = (uint16_t)r;
  return filled;
}

static int32_t ChunkLength(const int32_t *count, int stride, int row, int nrow)
{
  int32_t most = 0;

  for (int r = row; r < row + AMB_C && r < nrow; r++) most = count[r * stride] > most ? count[r * stride] : most;
  return most;
}

/* Chunks of rows in their order, the empty ones at the end or, unless the tile is the first of its scope, left out; returns their number */
static int PlainChunks(Workspace *w, const int32_t *count, int stride, int nrow, AmbTile *T, int64_t *steps)
{
  int c = 0;

  *steps = 0;
  for (int empty = 0; empty <= T->first; empty++) {
    for (int r = 0; r < nrow; r += AMB_C) {
      const int32_t len = ChunkLength(count, stride, r, nrow);

      if (empty != !len) continue;
      w->order[c]   = (uint16_t)(r / AMB_C);
      w->start[c++] = (uint32_t)*steps;
      *steps += len;
    }
    if (!empty) T->nfilled = c;
  }
  w->start[c] = (uint32_t)*steps;
  T->nchunk   = c;
  T->nrow     = 0;
  return c;
}

/*
   Lays out the tile of nrow rows that have count[r * stride] blocks of size b: fills T->nsplit, nchunk, nfilled, nrow and sorted, w->start and
   w->order, and returns the number of its steps. Rows stay in their order if that costs less than two percent of the bytes.
*/
static int64_t TileLayout(Workspace *w, const int32_t *count, int stride, int nrow, int b, AmbTile *T)
{
  const int64_t slot  = AMB_C * (b * sizeof(AmbScalar) + sizeof(uint16_t));
  int64_t       plain, total = 0, steps = 0;
  int           filled, row = 0, c = PlainChunks(w, count, stride, nrow, T, &plain);

  T->sorted = T->nsplit = 0;
  for (int r = 0; r < nrow; r++) total += count[r * stride];
  if (100 * (AMB_C * plain - total) <= 2 * total) return plain;

  /* sorted; a row that would leave more than half of its chunk to zeros is dealt to the lanes instead */
  filled = SortRows(w, count, stride, nrow);
  while (row < filled) {
    const int32_t most = count[w->order[row] * stride];
    int64_t       sum  = 0;

    for (int l = row; l < row + AMB_C && l < filled; l++) sum += count[w->order[l] * stride];
    if (most < 4 * AMB_C || 2 * sum >= (int64_t)AMB_C * most) break;
    steps += (most + AMB_C - 1) / AMB_C;
    row++;
  }
  T->nsplit = row;
  for (; row < filled; row += AMB_C) steps += count[w->order[row] * stride];
  if (!T->nsplit && 100 * (plain * slot + 2 * c) <= 102 * (steps * slot + 2 * (T->first ? nrow : filled))) {
    (void)PlainChunks(w, count, stride, nrow, T, &plain);
    return plain;
  }
  T->sorted = 1;
  T->nrow   = (T->first ? nrow : filled) - T->nsplit;
  steps     = 0;
  for (c = 0; c < T->nsplit; c++) {
    w->start[c] = (uint32_t)steps;
    steps += (count[w->order[c] * stride] + AMB_C - 1) / AMB_C;
  }
  for (row = T->nsplit; row < T->nsplit + T->nrow; row += AMB_C) {
    w->start[c++] = (uint32_t)steps;
    steps += row < filled ? count[w->order[row] * stride] : 0;
  }
  w->start[c] = (uint32_t)steps;
  T->nchunk   = c;
  T->nfilled  = T->nsplit + (filled - T->nsplit + AMB_C - 1) / AMB_C;
  return steps;
}

static int TilePerms(const AmbTile *T)
{
  return T->sorted ? T->nsplit + (T->nchunk - T->nsplit) * AMB_C : T->nchunk;
}

static double TileBytes(const AmbTile *T, int64_t steps, int b)
{
  return (double)steps * AMB_C * (b * sizeof(AmbScalar) + sizeof(uint16_t)) + sizeof(uint32_t) * (T->nchunk + 1.0) + sizeof(uint16_t) * (double)TilePerms(T) + sizeof(*T);
}

static int StartScope(const AmbCSR *A, int64_t row, int scope, Workspace *w, AmbTile *T)
{
  const int nrow = (int)Min64(scope, A->m - row);

  T->row   = row;
  T->first = 1;
  for (int r = 0; r < nrow; r++) w->pos[r] = A->i[row + r];
  return nrow;
}

/* Finds the columns of the next segment of a scope; returns 0 when there are no more */
static int NextSegment(const AmbCSR *A, const Workspace *w, int nrow, int b, AmbTile *T)
{
  int64_t lo = A->n, last = -1;

  for (int r = 0; r < nrow; r++) {
    if (w->pos[r] < A->i[T->row + r + 1]) {
      if (A->j[w->pos[r]] < lo) lo = A->j[w->pos[r]];
      if (A->j[A->i[T->row + r + 1] - 1] > last) last = A->j[A->i[T->row + r + 1] - 1];
    }
  }
  if (last < 0) {
    if (!T->first) return 0;
    lo = 0; /* a scope without entries still has its rows to assign */
  }
  T->lo   = lo;
  T->col  = lo > A->n - b ? (A->n > b ? A->n - b : 0) : lo;
  T->hi   = T->col + AMB_SEGMENT_WIDTH;
  T->only = T->first && last < T->hi;
  return 1;
}

/* The scope of the row that entry k is in */
static int64_t ScopeOfEntry(const AmbCSR *A, int64_t k, int scope)
{
  int64_t lo = 0, hi = A->m; /* i[lo] <= k < i[hi] */

  while (hi - lo > 1) {
    const int64_t middle = (lo + hi) / 2;

    if (A->i[middle] <= k) lo = middle;
    else hi = middle;
  }
  return lo / scope;
}

/*
   The traffic model: what the format would hold, and a product read, for every block size or for the one given, extrapolated from the scopes
   of entries evenly spread over the matrix: a scope is looked at with a probability that goes with its entries. Scopes of 4,096 rows keep the part of y that several tiles add to in the first-level cache; small matrices get smaller ones, so
   that every thread has some.
*/
AmbStatus AmbPlanCreate(const AmbCSR *A, int block_size, int scope, int nthread, const AmbKernels *kernels, AmbPlan *plan)
{
  const int b0 = block_size ? block_size : 1, b1 = block_size ? block_size : (int)Min64(AMB_MAX_BLOCK, A->n > 1 ? A->n : 1);
  double    bytes[AMB_MAX_BLOCK + 1] = {0};
  int       status = AMB_SUCCESS;
  int64_t   nscope, nsample;

  memset(plan, 0, sizeof(*plan));
  if (!scope) {
    for (scope = 4096; scope > 64 && (int64_t)scope * nthread * 8 > A->m; scope /= 2) { }
  }
  nscope        = (A->m + scope - 1) / scope;
  nsample       = nscope / AMB_MODEL_EVERY > AMB_MODEL_SCOPES ? nscope / AMB_MODEL_EVERY : Min64(nscope, AMB_MODEL_SCOPES);
  plan->scope   = scope;
  plan->nthread = nthread;
#if defined(_OPENMP)
  #pragma omp parallel num_threads(nthread) if (nthread > 1) reduction(| : status) reduction(+ : bytes)
#endif
  {
    Workspace w;

    status |= WorkspaceCreate(scope, 16, &w);
    if (!status) {
      for (int64_t k = omp_get_thread_num(); k < nsample; k += omp_get_num_threads()) {
        const int64_t s = nsample == nscope ? k : ScopeOfEntry(A, (int64_t)((k + 0.5) / nsample * A->i[A->m]), scope);
        AmbTile       T;
        const int     nrow     = StartScope(A, s * scope, scope, &w, &T);
        const double  nonzeros = A->i[T.row + nrow] - A->i[T.row], weight = nsample == nscope ? 1 : A->i[A->m] / (nonzeros * nsample);

        while (NextSegment(A, &w, nrow, b1, &T)) {
          kernels->count(A, T.row, nrow, T.lo, T.hi, w.pos, w.count);
          for (int b = b0; b <= b1; b++) bytes[b] += weight * TileBytes(&T, TileLayout(&w, w.count + b - 1, 16, nrow, b, &T), b);
          T.first = 0;
        }
      }
      WorkspaceDestroy(&w);
    }
  }
  for (int b = b0; b <= b1; b++) {
    plan->bytes[b] = bytes[b];
    if (!plan->block_size || plan->bytes[b] < plan->bytes[plan->block_size]) plan->block_size = b;
  }
  return (AmbStatus)status;
}

/* The layout of a scope: the tiles, with their starts and permutations one after the other */
typedef struct {
  AmbTile  *tile;
  uint32_t *start;
  uint16_t *perm;
  int64_t   ntile, nstart, nperm, nstep;
} Layout;

static int Ascending(const AmbCSR *A, int64_t row, int nrow)
{
  int bad = 0;

  for (int r = 0; r < nrow; r++) {
    for (AmbInt k = A->i[row + r] + 1; k < A->i[row + r + 1]; k++) bad |= A->j[k] <= A->j[k - 1];
  }
  return !bad;
}

static inline __attribute__((always_inline)) void CountBlocks(const int b, const AmbCSR *A, const AmbTile *T, int nrow, AmbInt *pos, int32_t *count)
{
  for (int r = 0; r < nrow; r++) {
    const AmbInt end = A->i[T->row + r + 1];
    AmbInt       k   = pos[r];

    if (b == 1 && T->only) {
      count[r] = (int32_t)(end - k);
      pos[r]   = end;
    } else {
      int32_t c    = 0;
      int64_t next = 0;

      for (; k < end && A->j[k] < T->hi; k++) {
        if (A->j[k] >= next) {
          c++;
          next = A->j[k] + b;
        }
      }
      count[r] = c;
      pos[r]   = k;
    }
  }
}

static AmbStatus LayoutScope(const AmbCSR *A, int64_t row, int scope, int b, Workspace *w, Layout *L)
{
  AmbTile   T;
  const int nrow = StartScope(A, row, scope, w, &T);

  if (!Ascending(A, row, nrow)) return AMB_NOT_ASCENDING;
  while (NextSegment(A, w, nrow, b, &T)) {
    AmbTile  *tile  = realloc(L->tile, sizeof(*tile) * (L->ntile + 1));
    uint32_t *start = realloc(L->start, sizeof(*start) * (L->nstart + nrow + 1));
    uint16_t *perm  = realloc(L->perm, sizeof(*perm) * (L->nperm + nrow + AMB_C));

    if (tile) L->tile = tile;
    if (start) L->start = start;
    if (perm) L->perm = perm;
    if (!tile || !start || !perm) return AMB_OUT_OF_MEMORY;
    if (b == 1) CountBlocks(1, A, &T, nrow, w->pos, w->count);
    else CountBlocks(b, A, &T, nrow, w->pos, w->count);
    T.step  = L->nstep;
    T.chunk = L->nstart;
    T.perm  = L->nperm;
    L->nstep += TileLayout(w, w->count, 1, nrow, b, &T);
    memcpy(start + T.chunk, w->start, sizeof(*start) * (T.nchunk + 1));
    memset(perm + T.perm, 0, sizeof(*perm) * TilePerms(&T));
    memcpy(perm + T.perm, w->order, sizeof(*perm) * (T.sorted ? T.nsplit + T.nrow : T.nchunk));
    L->nstart += T.nchunk + 1;
    L->nperm += TilePerms(&T);
    tile[L->ntile++] = T;
    T.first          = 0;
  }
  return AMB_SUCCESS;
}

static AmbStatus LayoutAll(const AmbHost *A, Layout *layout)
{
  int status = AMB_SUCCESS;

#if defined(_OPENMP)
  #pragma omp parallel num_threads(A->nthread) if (A->nthread > 1) reduction(max : status)
#endif
  {
    Workspace w;

    status = WorkspaceCreate(A->scope, 1, &w);
    if (!status) {
      for (int64_t s = omp_get_thread_num(); s < A->nscope && !status; s += omp_get_num_threads()) status = LayoutScope(&A->csr, s * A->scope, A->scope, A->block_size, &w, layout + s);
      WorkspaceDestroy(&w);
    }
  }
  return (AmbStatus)status;
}

/*
   Writes the blocks of one row, from its entry k on, into every stride-th slot beginning at the first; returns the entry after the last.
   only: the row has no entries in other tiles, so that the columns need not be looked at to find where its part ends.
*/
static inline __attribute__((always_inline)) AmbInt FillRow(const int b, const int only, const int values_only, const AmbHost *A, const AmbTile *T, AmbInt k, AmbInt end, int64_t slot, int64_t slots, int stride)
{
  const AmbInt    *j   = A->csr.j;
  const AmbScalar *a   = A->csr.a;
  const int64_t    top = A->csr.n - T->col - b; /* the last place where a block can begin */
  uint16_t        *col = A->col + slot;
  AmbScalar       *val = A->val + slot * b;
  int64_t          i   = 0;

  for (; k < end && (only || j[k] < T->hi); i += stride) {
    int64_t first;

    if (b == 1 && values_only) {
      val[i] = a[k++];
      continue;
    }
    first = j[k] - T->col < top ? j[k] - T->col : top;
    if (!values_only) {
      col[i] = (uint16_t)first;
      for (int q = 0; q < b; q++) val[i * b + q] = 0;
    }
    do {
      val[i * b + (j[k] - T->col - first)] = a[k];
      k++;
    } while (b > 1 && k < end && (only || j[k] < T->hi) && j[k] - T->col < first + b);
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
static inline __attribute__((always_inline)) void FillTile(const int b, const int only, const int values_only, const AmbHost *A, const AmbTile *T, AmbInt *pos)
{
  const uint32_t *start = A->start + T->chunk;
  const uint16_t *perm  = A->perm + T->perm;
  const AmbInt   *end   = A->csr.i + T->row + 1;

  for (int c = 0; c < T->nfilled; c++) {
    const int64_t slot = AMB_C * (T->step + start[c]), slots = AMB_C * (int64_t)(start[c + 1] - start[c]);

    if (c < T->nsplit) {
      pos[perm[c]] = FillRow(b, only, values_only, A, T, pos[perm[c]], end[perm[c]], slot, slots, 1);
    } else {
      for (int l = 0; l < AMB_C; l++) {
        const int k = (c - T->nsplit) * AMB_C + l, r = T->sorted ? perm[T->nsplit + k] : AMB_C * perm[c] + l;

        if (T->sorted ? k < T->nrow : T->row + r < A->csr.m) {
          pos[r] = FillRow(b, only, values_only, A, T, pos[r], end[r], slot + l, slots, AMB_C);
        } else if (!values_only) (void)FillRow(b, 1, 0, A, T, 0, 0, slot + l, slots, AMB_C);
      }
    }
  }
}

/* One function for each block size, so that it is constant in the loops */
#define FILL(b) \
  static void Fill##b(const AmbHost *A, const AmbTile *T, AmbInt *pos, int values_only) \
  { \
    if (values_only && T->only) FillTile(b, 1, 1, A, T, pos); \
    else if (values_only) FillTile(b, 0, 1, A, T, pos); \
    else FillTile(b, 0, 0, A, T, pos); \
  }
FILL(1)
FILL(2)
FILL(3)
FILL(4)
FILL(5)
FILL(6)
FILL(7)
FILL(8)
FILL(9)
FILL(10)

static void FillScope(int values_only, const AmbHost *A, int64_t s, AmbInt *pos)
{
  static void (*const fill[AMB_MAX_BLOCK])(const AmbHost *, const AmbTile *, AmbInt *, int) = {Fill1, Fill2, Fill3, Fill4, Fill5, Fill6, Fill7, Fill8, Fill9, Fill10};
  const int64_t row = s * A->scope, nrow = Min64(A->scope, A->csr.m - row);

  for (int64_t r = 0; r < nrow; r++) pos[r] = A->csr.i[row + r];
  for (int64_t k = A->scope_tile[s]; k < A->scope_tile[s + 1]; k++) (*fill[A->block_size - 1])(A, A->tile + k, pos, values_only);
}

/* Gathers the layout of scope s into the arrays of the format */
static void PlaceScope(AmbHost *A, const Layout *L, const Layout *before)
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

/* Where the parts of each scope begin, and which scopes each thread owns: as many as make up its share of the steps */
static void Partition(AmbHost *A, const Layout *layout, Layout *before)
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

static AmbStatus Fill(AmbHost *A, const Layout *layout, const Layout *before)
{
  int status = AMB_SUCCESS;

#if defined(_OPENMP)
  #pragma omp parallel num_threads(A->nthread) if (A->nthread > 1) reduction(| : status)
#endif
  {
    AmbInt *pos = malloc(sizeof(*pos) * A->scope);

    if (!pos) status = AMB_OUT_OF_MEMORY;
    for (int t = omp_get_thread_num(); t < A->nthread && !status; t += omp_get_num_threads()) {
      for (int64_t s = A->thread_scope[t]; s < A->thread_scope[t + 1]; s++) {
        if (layout) PlaceScope(A, layout + s, before + s);
        FillScope(!layout, A, s, pos);
      }
    }
    free(pos);
  }
  return (AmbStatus)status;
}

AmbStatus AmbHostCreate(const AmbCSR *csr, const AmbPlan *plan, const AmbKernels *kernels, AmbHost **out)
{
  AmbHost *A = calloc(1, sizeof(*A));
  Layout  *layout, *before;
  int      status = AMB_OUT_OF_MEMORY;

  *out = NULL;
  if (!A) return AMB_OUT_OF_MEMORY;
  A->csr          = *csr;
  A->kernels      = kernels;
  A->block_size   = plan->block_size;
  A->scope        = plan->scope;
  A->nthread      = plan->nthread;
  A->nscope       = (csr->m + plan->scope - 1) / plan->scope;
  A->scope_tile   = calloc(A->nscope + 1, sizeof(*A->scope_tile));
  A->thread_scope = calloc(A->nthread + 1, sizeof(*A->thread_scope));
  layout          = calloc(A->nscope + 1, sizeof(*layout));
  before          = calloc(A->nscope + 1, sizeof(*before));
  if (A->scope_tile && A->thread_scope && layout && before) status = LayoutAll(A, layout);
  if (!status) {
    Partition(A, layout, before);
    A->tile  = Allocate(sizeof(*A->tile) * A->ntile);
    A->start = Allocate(sizeof(*A->start) * (A->nchunk + A->ntile));
    A->perm  = Allocate(sizeof(*A->perm) * A->nperm);
    A->col   = Allocate(sizeof(*A->col) * AMB_C * A->nstep);
    A->val   = Allocate(sizeof(*A->val) * AMB_C * A->block_size * A->nstep);
    if (!A->tile || !A->start || !A->perm || !A->col || !A->val) status = AMB_OUT_OF_MEMORY;
  }
  if (!status) status = Fill(A, layout, before);
  for (int64_t s = 0; layout && s < A->nscope; s++) {
    free(layout[s].tile);
    free(layout[s].start);
    free(layout[s].perm);
  }
  free(layout);
  free(before);
  if (status) AmbHostDestroy(&A);
  else *out = A;
  return (AmbStatus)status;
}

/* New values in the old pattern */
AmbStatus AmbHostUpdate(AmbHost *A, const AmbCSR *csr)
{
  A->csr = *csr;
  return Fill(A, NULL, NULL);
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
