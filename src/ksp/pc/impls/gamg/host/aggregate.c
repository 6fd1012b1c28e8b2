/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Aggregates around the roots of a maximal independent set of distance k.

   Each vertex has a key, which no other vertex has: a one-to-one hash of its global number. In a round each undecided vertex looks up the largest key of the
   undecided vertices within k edges; where this is its own key, it becomes a root, and the vertices within k edges of it are out. The undecided vertices are
   few after the first rounds, and only they and the vertices near them are visited. Then vertices beside roots join these, and the remaining ones, once for
   each further hop, join the neighbouring aggregate that they are connected to most strongly. So do, last, the vertices of small aggregates, if that is wanted.

   Each step reads the result of the step before, so the order of the vertices within a step does not matter.
*/
#include <stdlib.h>
#include <string.h>

#include "sys/sysmemory.h"
#include "sys/systhreads.h"
#include "ksp/pc/impls/gamg/host/aggkeys.h"

/* All arrays have an entry for each vertex and ghost */
typedef struct {
  const AggGraph    *g;
  const AggOptions  *options;
  const AggExchange *x;
  int                nthread;
  int64_t            all;                /* vertices and ghosts */
  uint64_t          *key, *best[3];      /* best[0]: the key of an undecided vertex, else 0; best[1], [2]: the largest such key within some edges */
  uint8_t           *state, *near[3];    /* near[0]: new roots; near[1], [2]: vertices within some edges of these */
  SysInt            *undecided, *around; /* lists: undecided vertices, and vertices less than k edges from these */
  int64_t            nundecided, naround;
  SysInt            *size; /* of the aggregate of a vertex, when the last join began */
} Agg;

static inline int AggFetch(const Agg *a, size_t size, void *array)
{
  return a->x ? (*a->x->fetch)(a->x->ctx, size, array) : 0;
}

/* Keeps the entries of a list for which best[] is not 0, in their order */
static void AggFilter(SysInt list[], int64_t *n, const uint64_t best[])
{
  int64_t kept = 0;

  for (int64_t l = 0; l < *n; l++) {
    list[kept] = list[l];
    kept += best[list[l]] != 0;
  }
  *n = kept;
}

/* ------------------------------------------------- roots ------------------------------------------------- */

static inline uint64_t AggLargest(const AggGraph *g, SysInt v, const uint64_t best[])
{
  uint64_t largest = best[v];

  for (int64_t k = g->i[v]; k < g->i[v + 1]; k++) {
    if (best[g->j[k]] > largest) largest = best[g->j[k]];
  }
  return largest;
}

static inline uint8_t AggAny(const AggGraph *g, SysInt v, const uint8_t near[])
{
  uint8_t any = near[v];

  for (int64_t k = g->i[v]; k < g->i[v + 1]; k++) any |= near[g->j[k]];
  return any;
}

/* One round: new roots, and the vertices near them */
static int AggRound(Agg *a)
{
  const AggGraph *g    = a->g;
  const int       hops = a->options->hops;
  const uint64_t *best = a->best[0];
  const uint8_t  *near = a->near[0];
  int             failed;

  failed = AggFetch(a, sizeof(*a->best[0]), a->best[0]);
  for (int h = 1; h < hops && !failed; h++) {
    uint64_t *to = a->best[1 + h % 2];

#pragma omp parallel for num_threads(a->nthread) schedule(static)
    for (int64_t l = 0; l < a->naround; l++) to[a->around[l]] = AggLargest(g, a->around[l], best);
    best   = to;
    failed = AggFetch(a, sizeof(*to), to);
  }
  if (failed) return failed;
#pragma omp parallel for num_threads(a->nthread) schedule(static)
  for (int64_t l = 0; l < a->nundecided; l++) {
    const SysInt v = a->undecided[l];

    a->near[0][v] = AggLargest(g, v, best) == a->key[v];
  }
  failed = AggFetch(a, sizeof(*near), a->near[0]);
  for (int h = 1; h < hops && !failed; h++) {
    uint8_t *to = a->near[1 + h % 2];

#pragma omp parallel for num_threads(a->nthread) schedule(static)
    for (int64_t l = 0; l < a->naround; l++) to[a->around[l]] = AggAny(g, a->around[l], near);
    near   = to;
    failed = AggFetch(a, sizeof(*to), to);
  }
  if (failed) return failed;
#pragma omp parallel for num_threads(a->nthread) schedule(static)
  for (int64_t l = 0; l < a->nundecided; l++) {
    const SysInt v = a->undecided[l];

    if (a->near[0][v]) a->state[v] = AGG_ROOT;
    else if (AggAny(g, v, near)) a->state[v] = AGG_OUT;
    if (a->state[v]) a->best[0][v] = 0;
  }
#pragma omp parallel for num_threads(a->nthread) schedule(static)
  for (int64_t l = 0; l < a->nundecided; l++) a->near[0][a->undecided[l]] = 0;
  if (hops > 1) AggFilter(a->around, &a->naround, best);
  AggFilter(a->undecided, &a->nundecided, a->best[0]);
  return 0;
}

static int AggRoots(Agg *a, int *rounds)
{
  for (*rounds = 0;; (*rounds)++) {
    int64_t left = a->nundecided;
    int     failed;

    if (a->x) {
      failed = (*a->x->total)(a->x->ctx, &left);
      if (failed) return failed;
    }
    if (!left) return 0;
    failed = AggRound(a);
    if (failed) return failed;
  }
}

/* ------------------------------------------------- joins ------------------------------------------------- */

/* Vertices beside a root join it: of several roots, that with the largest key or the strongest edge */
static void AggJoinRoots(const Agg *a, SysInt join[])
{
  const AggGraph *g = a->g;

#pragma omp parallel for num_threads(a->nthread) schedule(static)
  for (int64_t v = 0; v < g->n; v++) {
    int64_t to = -1;

    join[v] = a->state[v] == AGG_ROOT ? (SysInt)v : -1;
    if (a->state[v] != AGG_OUT) continue;
    for (int64_t k = g->i[v]; k < g->i[v + 1]; k++) {
      if (a->state[g->j[k]] != AGG_ROOT) continue;
      if (to < 0 || (a->options->strongest && g->w[k] != g->w[to] ? g->w[k] > g->w[to] : a->key[g->j[k]] > a->key[g->j[to]])) to = k;
    }
    if (to >= 0) join[v] = g->j[to];
  }
}

/* A table of the aggregates beside a vertex */
typedef struct {
  uint64_t root, sum;
  SysInt   size, by;
} AggBeside;

/* One vertex joins the aggregate to which its edges have the largest sum of weights; then the smaller aggregate, then the one of the larger key */
static SysInt AggStrongest(const Agg *a, int64_t v, const uint64_t root[], const SysInt size[], AggBeside table[])
{
  const AggGraph *g    = a->g;
  uint64_t        mask = 1;
  AggBeside      *best = NULL;

  while (mask < 2 * (uint64_t)(g->i[v + 1] - g->i[v])) mask *= 2;
  memset(table, 0, (size_t)mask-- * sizeof(*table));
  for (int64_t k = g->i[v]; k < g->i[v + 1]; k++) {
    const SysInt u = g->j[k];
    uint64_t     t = root[u] & mask;

    if (!root[u]) continue;
    while (table[t].root && table[t].root != root[u]) t = (t + 1) & mask;
    if (!table[t].root) {
      table[t].root = root[u];
      table[t].size = size[u];
      table[t].by   = u;
    }
    table[t].sum += g->w[k];
  }
  for (AggBeside *t = table; t <= table + mask; t++) {
    if (!t->root) continue;
    if (!best || t->sum > best->sum || (t->sum == best->sum && (t->size < best->size || (t->size == best->size && t->root > best->root)))) best = t;
  }
  return best ? best->by : -1;
}

#define AGG_SHORT (-1) /* beside the errors of an AggExchange */

/* Returns whether memory is short on any process; all processes stop then */
static int AggCheckMemory(const AggExchange *x, const void *memory)
{
  int64_t missing = !memory;
  int     failed  = x ? (*x->total)(x->ctx, &missing) : 0;

  return failed ? failed : missing ? AGG_SHORT : 0;
}

/* The remaining vertices join a neighbouring aggregate, as it was before. best[1] has the keys of the roots. */
static int AggJoinRest(Agg *a, SysInt join[])
{
  const AggGraph *g    = a->g;
  uint64_t       *root = a->best[1], *later = a->best[2];
  int64_t         longest = 1;
  AggBeside      *table;
  int             failed;

#pragma omp parallel for num_threads(a->nthread) schedule(static) reduction(max : longest)
  for (int64_t v = 0; v < g->n; v++) {
    if (a->state[v] == AGG_OUT && join[v] < 0 && g->i[v + 1] - g->i[v] > longest) longest = g->i[v + 1] - g->i[v];
  }
  table  = SysAllocate((size_t)a->nthread * 4 * (size_t)longest * sizeof(*table));
  failed = AggCheckMemory(a->x, table);
  if (failed) {
    SysRelease(table, (size_t)a->nthread * 4 * (size_t)longest * sizeof(*table));
    return failed;
  }
#pragma omp parallel for num_threads(a->nthread) schedule(dynamic, 1024)
  for (int64_t v = 0; v < g->n; v++) {
    later[v] = 0;
    if (a->state[v] != AGG_OUT || join[v] >= 0) continue;
    join[v] = AggStrongest(a, v, root, a->size, table + (int64_t)omp_get_thread_num() * 4 * longest);
    if (join[v] >= 0) later[v] = (uint64_t)join[v] + 1;
  }
#pragma omp parallel for num_threads(a->nthread) schedule(static)
  for (int64_t v = 0; v < g->n; v++) {
    const uint64_t from = later[v];

    if (!from) continue;
    a->size[v] = a->size[from - 1];
    later[v]   = root[from - 1];
  }
#pragma omp parallel for num_threads(a->nthread) schedule(static)
  for (int64_t v = 0; v < g->n; v++) {
    if (later[v]) root[v] = later[v];
  }
  SysRelease(table, (size_t)a->nthread * 4 * (size_t)longest * sizeof(*table));
  failed = AggFetch(a, sizeof(*root), root);
  if (!failed) failed = AggFetch(a, sizeof(*a->size), a->size);
  return failed;
}

/* Vertices that have joined since the last call are so many steps away from their root; near[0] has no entries before */
static void AggTakeSteps(Agg *a, const SysInt join[], uint8_t hop)
{
  uint8_t *steps = a->near[0];

#pragma omp parallel for num_threads(a->nthread) schedule(static)
  for (int64_t v = 0; v < a->g->n; v++) {
    if (join[v] >= 0 && join[v] != v && !steps[v]) steps[v] = hop;
  }
}

/* The entries of all vertices of an aggregate become their sum. Sums go from vertex to vertex towards the root, and the result goes back. */
static int AggSumUp(Agg *a, const SysInt join[], SysInt entry[])
{
  const AggGraph *g      = a->g;
  const uint8_t  *steps  = a->near[0];
  int             failed = 0;

  for (int h = a->options->hops; h && !failed; h--) {
    memset(entry + g->n, 0, (size_t)g->nghost * sizeof(*entry));
#pragma omp parallel for num_threads(a->nthread) schedule(static)
    for (int64_t v = 0; v < g->n; v++) {
      if (steps[v] != h) continue;
#pragma omp atomic
      entry[join[v]] += entry[v];
    }
    if (a->x) failed = (*a->x->addup)(a->x->ctx, entry);
  }
  for (int h = 1; h <= a->options->hops && !failed; h++) {
#pragma omp parallel for num_threads(a->nthread) schedule(static)
    for (int64_t v = 0; v < g->n; v++) {
      if (steps[v] == h) entry[v] = entry[join[v]];
    }
    failed = AggFetch(a, sizeof(*entry), entry);
  }
  return failed;
}

/* Dissolves small aggregates. One of them stays if one of its vertices has no other aggregate beside it. */
static int AggDissolve(Agg *a, SysInt join[])
{
  const AggGraph *g      = a->g;
  SysInt         *before = a->undecided, *size = a->size;
  uint8_t        *small = a->near[1];
  uint64_t       *root  = a->best[1];
  int             failed;

  memcpy(before, join, (size_t)g->n * sizeof(*join));
  for (int64_t v = 0; v < g->n; v++) size[v] = join[v] >= 0;
  failed = AggSumUp(a, before, size);
  if (failed) return failed;
#pragma omp parallel for num_threads(a->nthread) schedule(static)
  for (int64_t v = 0; v < g->n; v++) {
    small[v] = join[v] >= 0 && size[v] < a->options->least;
    if (!small[v]) continue;
    join[v]     = -1;
    root[v]     = 0;
    a->state[v] = AGG_OUT;
  }
  failed = AggFetch(a, sizeof(*root), root);
  if (!failed) failed = AggJoinRest(a, join);
  for (int64_t v = 0; v < g->n; v++) size[v] = small[v] && join[v] < 0;
  if (!failed) failed = AggSumUp(a, before, size);
  if (failed) return failed;
#pragma omp parallel for num_threads(a->nthread) schedule(static)
  for (int64_t v = 0; v < g->n; v++) {
    if (small[v] && size[v]) join[v] = before[v];
  }
  return 0;
}

static int AggJoin(Agg *a, SysInt join[])
{
  const AggGraph *g    = a->g;
  uint64_t       *root = a->best[1];
  SysInt         *size = a->size;
  int             failed;

  failed = AggFetch(a, sizeof(*a->state), a->state);
  if (failed) return failed;
  AggJoinRoots(a, join);
  if (AGG_REACH(a->options) == 1) return 0;
  if (a->options->least > 1) AggTakeSteps(a, join, 1);
  memset(size, 0, (size_t)a->all * sizeof(*size));
  for (int64_t v = 0; v < g->n; v++) {
    root[v] = join[v] < 0 ? 0 : a->key[join[v]];
    if (join[v] >= 0) size[join[v]]++;
  }
  failed = AggFetch(a, sizeof(*root), root);
  if (!failed && a->x) failed = (*a->x->addup)(a->x->ctx, size);
  if (failed) return failed;
  for (int64_t v = 0; v < g->n; v++) {
    if (join[v] >= 0 && join[v] != v) size[v] = size[join[v]];
  }
  failed = AggFetch(a, sizeof(*size), size);
  for (int h = 1; h < a->options->hops && !failed; h++) {
    failed = AggJoinRest(a, join);
    if (a->options->least > 1) AggTakeSteps(a, join, (uint8_t)(h + 1));
  }
  if (!failed && a->options->least > 1) failed = AggDissolve(a, join);
  return failed;
}

/* ------------------------------------------------- all ------------------------------------------------- */

SysStatus AggAggregate(const AggGraph *g, int64_t first, const SysInt ghosts[], const AggOptions *options, const AggExchange *x, int nthread, SysInt join[], int *rounds)
{
  const size_t all = (size_t)(g->n + g->nghost), bytes = all * (4 * sizeof(uint64_t) + sizeof(SysInt)) + 2 * (size_t)g->n * sizeof(SysInt) + 4 * all;
  char        *memory = SysAllocateZero(bytes);
  Agg          a      = {.g = g, .options = options, .x = x, .nthread = nthread, .all = (int64_t)all};
  int          failed = AggCheckMemory(x, memory);

  *rounds = 0;
  if (failed) {
    SysRelease(memory, bytes);
    return failed == AGG_SHORT ? SYS_OUT_OF_MEMORY : SYS_ERROR;
  }
  a.key = (uint64_t *)memory;
  for (int k = 0; k < 3; k++) a.best[k] = a.key + (k + 1) * all;
  a.size      = (SysInt *)(a.key + 4 * all);
  a.undecided = a.size + all;
  a.around    = a.undecided + g->n;
  a.state     = (uint8_t *)(a.around + g->n);
  for (int k = 0; k < 3; k++) a.near[k] = a.state + (k + 1) * all;

#pragma omp parallel for num_threads(nthread) schedule(static)
  for (int64_t v = 0; v < (int64_t)all; v++) {
    const uint64_t number = (uint64_t)(v < g->n ? first + v : ghosts[v - g->n]);

    a.key[v] = AggKey(number, v < g->n ? g->i[v + 1] - g->i[v] : 0, options->lowdegree);
    if (v < g->n) {
      a.state[v]   = g->i[v + 1] > g->i[v] ? AGG_UNDECIDED : AGG_ALONE;
      a.best[0][v] = a.state[v] ? 0 : a.key[v];
    }
  }
  for (SysInt v = 0; v < g->n; v++) {
    if (a.state[v] == AGG_UNDECIDED) a.undecided[a.nundecided++] = v;
  }
  memcpy(a.around, a.undecided, (size_t)a.nundecided * sizeof(*a.around));
  a.naround = a.nundecided;
  if (options->lowdegree) failed = AggFetch(&a, sizeof(*a.key), a.key);
  if (!failed) failed = AggRoots(&a, rounds);
  if (!failed) failed = AggJoin(&a, join);
  SysRelease(memory, bytes);
  return failed == AGG_SHORT ? SYS_OUT_OF_MEMORY : failed ? SYS_ERROR : SYS_SUCCESS;
}
