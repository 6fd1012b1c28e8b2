/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Chooses the open parameters of NUS-SELL, by a model of the caches or by timing
*/
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sys/systuning.h"
#include "mat/impls/nus/host/nussearch.h"
#include "mat/impls/nus/host/nusshare.h"
#include "mat/impls/nus/host/nuspolicy.h"

#define NUS_COUNTS 5 /* numbers of segments of a width that are considered: */
static const int Counts[NUS_COUNTS] = {0, 1, 2, 4, 8};

/* Bytes from memory that take as long as: an entry of x found in the second-level cache; a row of a further segment whose part of y is in that cache;
   one whose part is not */

void NusHostCache(NusCache *cache)
{
  *cache = (NusCache){32768, 1048576, 0, 64};
#if defined(_SC_LEVEL1_DCACHE_SIZE) && defined(_SC_LEVEL2_CACHE_SIZE) && defined(_SC_LEVEL3_CACHE_SIZE) && defined(_SC_LEVEL1_DCACHE_LINESIZE)
  if (sysconf(_SC_LEVEL1_DCACHE_SIZE) > 0) cache->l1 = sysconf(_SC_LEVEL1_DCACHE_SIZE);
  if (sysconf(_SC_LEVEL2_CACHE_SIZE) > 0) cache->l2 = sysconf(_SC_LEVEL2_CACHE_SIZE);
  if (sysconf(_SC_LEVEL3_CACHE_SIZE) > 0) cache->l3 = sysconf(_SC_LEVEL3_CACHE_SIZE);
  if (sysconf(_SC_LEVEL1_DCACHE_LINESIZE) > 0) cache->line = sysconf(_SC_LEVEL1_DCACHE_LINESIZE);
#endif
}

/* Returns the number of entries of x, a power of two, that fill half of a cache */
static int64_t NusPlanWidth(int64_t cache)
{
  int64_t width = 64;

  while (2 * width * (int64_t)sizeof(SysScalar) <= cache / 2) width *= 2;
  return width;
}

/* A direct-mapped model of half of the second-level cache: the line of x at each position. The numbers of positions and of columns a line are rounded down
   to powers of two. */
typedef struct {
  int      per_line; /* log2 of the columns a line */
  uint32_t mask;
  int64_t *line;
} Lines;

/* Returns the fraction of entries whose x misses the cache if columns of rank less than P are stored elsewhere */
static double NusPlanMisses(const SysCSR *A, const uint32_t *rank, int64_t P, Lines *L)
{
  const int64_t nz = A->i[A->m], window = SysMin(NUS_SAMPLE_ENTRIES / NUS_SAMPLE_WINDOWS, nz);
  int64_t       seen = 0, missed = 0;

  for (int64_t k = 0; k <= L->mask; k++) L->line[k] = -1;
  for (int w = 0; w < NUS_SAMPLE_WINDOWS; w++) {
    const int64_t first = (nz - window) * w / (NUS_SAMPLE_WINDOWS - 1);

    for (int64_t k = first; k < first + window; k++) {
      const int64_t line = A->j[k] >> L->per_line;
      const int     warm = k >= first + window / 4; /* cold misses do not depend on the layout */

      seen += warm;
      if (P && rank[A->j[k]] < P) continue;
      missed += warm && L->line[line & L->mask] != line;
      L->line[line & L->mask] = line;
    }
  }
  return seen ? (double)missed / seen : 0;
}

static SysStatus NusPlanLinesCreate(const NusCache *cache, Lines *L)
{
  const int64_t nline = NusPlanWidth(cache->l2) * (int64_t)sizeof(SysScalar) / cache->line;

  *L = (Lines){0, (uint32_t)nline - 1, malloc(sizeof(*L->line) * nline)};
  while ((int64_t)sizeof(SysScalar) << (L->per_line + 1) <= cache->line) L->per_line++;
  return L->line ? SYS_SUCCESS : SYS_OUT_OF_MEMORY;
}

/* Returns whether segments can pay: x exceeds the second-level cache, and more than a few of its lines miss it */
static int NusPlanSegmentable(const SysCSR *A, const NusCache *cache, Lines *L)
{
  return A->n * (int64_t)sizeof(SysScalar) > cache->l2 / 2 && NusPlanMisses(A, NULL, 0, L) * cache->line >= NUS_BYTES_L2_HIT;
}

/* Sets cumulated[k] to the entries of the k fullest columns, up to limit, and rank[] to the order of all columns */
static void RankColumns(const SysCSR *A, int64_t limit, SysInt *count, SysInt *bucket, int64_t most, uint32_t *rank, double *cumulated)
{
  int64_t position = 0;

  for (int64_t j = 0; j < A->n; j++) bucket[count[j]]++;
  for (int64_t c = most; c >= 0; c--) {
    const SysInt here = bucket[c];

    for (int64_t k = position; k < SysMin(position + here, limit); k++) cumulated[k + 1] = cumulated[k] + c;
    bucket[c] = (SysInt)position;
    position += here;
  }
  for (int64_t j = 0; j < A->n; j++) rank[j] = (uint32_t)bucket[count[j]]++;
}

/* Returns the bytes of x and y that a product moves in addition to every layout's */
static double NusPlanCost(const SysCSR *A, const NusCache *cache, const NusParams *p, int64_t limit, const double *cumulated, double misses)
{
  const double nz = (double)A->i[A->m], line = (double)cache->line;
  const double miss = (int64_t)sizeof(SysScalar) * A->n <= cache->l3 / 2 ? 2 * NUS_BYTES_L2_HIT : line;
  double       cost = nz * (misses * miss + (1 - misses) * NUS_BYTES_L2_HIT);
  int64_t      at   = 0;

  for (int k = 0; k < 2; k++) {
    for (int64_t s = 0; s < p->count[k] && at < limit; s++) {
      const int64_t next = SysMin(at + p->width[k], limit);
      const double  here = cumulated[next] - cumulated[at], rows = A->m ? A->m * (1 - exp(-here / A->m)) : 0; /* expected number of rows, for entries at random positions */

      cost += rows * (k ? NUS_BYTES_FAR_ROW : NUS_BYTES_NEAR_ROW) - (k ? 0 : here * NUS_BYTES_L2_HIT);
      at = next;
    }
  }
  return cost + at * (line / 2 + sizeof(SysInt) + 2 * sizeof(SysScalar)); /* the gather */
}

/* Chooses the open numbers of segments */
static SysStatus NusPlanChooseCounts(const SysCSR *A, const NusCache *cache, NusParams *p)
{
  const int64_t   n = A->n, nz = A->i[A->m];
  const int64_t   limit = SysMin(n, Counts[NUS_COUNTS - 1] * (p->width[0] + p->width[1]));
  const NusParams asked = *p;
  Lines           L;
  SysInt         *count = NULL, *bucket = NULL;
  uint32_t       *rank      = NULL;
  double         *cumulated = NULL, misses = 0, best = INFINITY;
  int64_t         most   = 0;
  SysStatus       status = NusPlanLinesCreate(cache, &L);

  for (int k = 0; k < 2; k++) p->count[k] = asked.count[k] < 0 ? 0 : asked.count[k];
  if (status || !NusPlanSegmentable(A, cache, &L)) goto done;
  count  = calloc(n, sizeof(*count));
  status = count ? SYS_SUCCESS : SYS_OUT_OF_MEMORY;
  for (int64_t k = 0; k < nz && count; k++) {
    const SysInt c = ++count[A->j[k]];

    most = c > most ? c : most;
  }
  bucket    = calloc(most + 1, sizeof(*bucket));
  rank      = malloc(sizeof(*rank) * n);
  cumulated = calloc(limit + 1, sizeof(*cumulated));
  if (status || !bucket || !rank || !cumulated) {
    status = SYS_OUT_OF_MEMORY;
    goto done;
  }
  RankColumns(A, limit, count, bucket, most, rank, cumulated);
  for (int k2 = 0; k2 < (asked.count[1] < 0 ? NUS_COUNTS : 1); k2++) {
    for (int k1 = 0; k1 < (asked.count[0] < 0 ? NUS_COUNTS : 1); k1++) {
      NusParams q = asked;
      double    cost;

      if (q.count[0] < 0) q.count[0] = Counts[k1];
      if (q.count[1] < 0) q.count[1] = Counts[k2];
      if (!k1 || !q.count[1]) misses = NusPlanMisses(A, rank, SysMin(limit, q.width[0] * q.count[0] + q.width[1] * q.count[1]), &L); /* next to wide segments, narrow ones change the misses little */
      cost = NusPlanCost(A, cache, &q, limit, cumulated, misses) + nz * (double)(sizeof(SysScalar) + sizeof(uint16_t));
      if (cost >= best) continue;
      best = k1 || k2 ? cost : NUS_SEGMENT_GAIN * cost;
      *p   = q;
    }
  }
done:
  free(L.line);
  free(count);
  free(bucket);
  free(rank);
  free(cumulated);
  return status;
}

/* Adds the value blocks of a window with layout L */
static SysStatus NusPlanShareWindow(const NusHost *window, int64_t scope, const NusWork *w, const NusLayout *L, NusBlocks *blocks)
{
  NusHost A = *window;
  NusPart P;

  A.chunk = L->chunk;
  A.perm  = L->perm;
  NusGetPart(&A, scope, 0, w, &P);
  return NusShareTile(&A, L->tile, &P, SYS_FILL_VALUES, blocks, NULL);
}

/* Estimates the bytes without segments in chunks of c, from windows of rows around evenly spread entries. With blocks it counts shared values, and
   returns SYS_TOO_MANY_BYTES if sharing saves too little. */
static SysStatus NusPlanSampleBytes(const SysCSR *csr, NusRows rows, int c, NusBlocks *blocks, double *bytes)
{
  const int window = NUS_SAMPLE_ROWS / c * c;
  NusHost   A      = {
           .csr = *csr, .params = {.segmentation = NUS_NONE, .rows = rows, .c = c, .sigma = window},
                .nsegment = 1
  };
  const int64_t nz = csr->i[csr->m], nscope = (csr->m + window - 1) / window, n = SysMin(NUS_SAMPLE_WINDOWS, nscope);
  NusWork       w;
  SysStatus     status = NusWorkCreate(&A, &w);
  double        slots  = 0;

  A.nscope = nscope;
  *bytes   = 0;
  if (status) return status;
  for (int64_t k = 0; k < n && !status; k++) {
    const int64_t scope  = n == nscope || !nz ? k : AmbRowOfEntry(csr, (int64_t)((k + 0.5) / n * nz)) / window;
    const int64_t here   = csr->i[SysMin((scope + 1) * window, csr->m)] - csr->i[scope * window];
    const double  weight = n == nscope ? 1 : (nz ? (double)nz / ((double)here * n) : (double)nscope / n);
    NusLayout     L      = {0};

    status = NusLayoutScope(&A, scope, &w, &L);
    if (!status) {
      *bytes += weight * (sizeof(uint16_t) * (double)(L.tile[0].ncol + L.nperm) + sizeof(NusChunk) * (double)L.nchunk + sizeof(*L.diag) * (double)L.ndiag);
      slots += weight * (double)L.tile[0].nslot;
      if (blocks) {
        blocks->most += L.tile[0].nslot / NUS_SHARED_WINDOW;
        *bytes += weight * sizeof(uint32_t) * (double)L.nchunk;
        status = NusPlanShareWindow(&A, scope, &w, &L, blocks);
      }
    }
    NusLayoutDestroy(&L);
  }
  if (!blocks) *bytes += sizeof(SysScalar) * slots;
  else if (!status && (double)NUS_SHARED_PART * (double)blocks->nval > slots) status = SYS_TOO_MANY_BYTES;
  else if (blocks->seen) *bytes += sizeof(SysScalar) * ((double)blocks->nval + slots * (double)blocks->far / (NUS_SHARED_NEAR * (double)blocks->seen));
  NusWorkDestroy(&w);
  return status;
}

/* Estimates the same bytes, and caches the estimates for SELL in known */
static SysStatus NusPlanBytes(const SysCSR *A, NusRows rows, int c, NusBytes *known, double *bytes)
{
  double   *found  = &known->of[c / 8 - 1];
  SysStatus status = SYS_SUCCESS;

  if (rows != NUS_SELL) return NusPlanSampleBytes(A, rows, c, NULL, bytes);
  if (*found == 0) status = NusPlanSampleBytes(A, rows, c, NULL, found);
  *bytes = *found;
  return status;
}

SysStatus NusHostModel(const SysCSR *A, const NusParams *p, NusBytes *known, double *bytes)
{
  const int64_t gathered = p->segmentation == NUS_NONUNIFORM ? SysMin(A->n, p->width[0] * p->count[0] + p->width[1] * p->count[1]) : 0;
  const double  shared   = p->rows == NUS_SHARED ? known->of[NUS_CHUNK_SIZES + p->c / 8 - 1] : 0;
  SysStatus     status   = SYS_SUCCESS;

  if (shared > 0) *bytes = shared;
  else status = NusPlanBytes(A, p->rows, p->c, known, bytes);
  *bytes += (sizeof(SysInt) + 2. * sizeof(SysScalar)) * gathered;
  return status;
}

/* Chooses long chunks if they save bytes: a diagonal's number then stands for more entries */
static SysStatus NusPlanChooseChunk(const SysCSR *A, NusParams *p, NusBytes *known)
{
  double    bytes[2];
  SysStatus status = NusPlanBytes(A, NUS_SELL, 8, known, &bytes[0]);

  if (!status) status = NusPlanBytes(A, NUS_SELL, NUS_MAX_C, known, &bytes[1]);
  if (!status) p->c = 100 * bytes[1] < 98 * bytes[0] ? NUS_MAX_C : 8;
  return status;
}

SysStatus NusHostPlanPlain(const SysCSR *A, NusParams *p)
{
  NusBytes  known  = {{0}};
  SysStatus status = NusPlanChooseChunk(A, p, &known);

  p->rows  = NUS_SELL;
  p->sigma = NusScopeRows(p->sigma, p->c);
  return status;
}

/* Chooses chunks that share values, if allowed and possible: 24 rows are a multiple of 2, 3, 4, 6 and 8 unknowns a node */
static SysStatus NusPlanChooseShared(const SysCSR *A, const NusCache *cache, NusParams *p, NusBytes *known)
{
  const int c[]  = {24, NUS_MAX_C, p->c};
  double    best = INFINITY;

  if (p->values != SYS_VALUES_EXACT || p->rows == NUS_JDS || !A->a) return SYS_SUCCESS;
  for (int k = 0; k < 3; k++) {
    NusBlocks blocks = {.near = cache->l1 / (int64_t)sizeof(SysScalar)};
    double   *bytes  = &known->of[NUS_CHUNK_SIZES + c[k] / 8 - 1];
    SysStatus status;

    if (k == 2 && c[k] == NUS_MAX_C) break;
    status = NusPlanSampleBytes(A, NUS_SHARED, c[k], &blocks, bytes);
    NusBlocksDestroy(&blocks);
    if (status) {
      *bytes = 0;
      if (status != SYS_TOO_MANY_BYTES || !k) return status == SYS_TOO_MANY_BYTES ? SYS_SUCCESS : status;
    } else if (*bytes < best) {
      best    = *bytes;
      p->c    = c[k];
      p->rows = NUS_SHARED;
    }
  }
  return SYS_SUCCESS;
}

SysStatus NusHostPlan(const SysCSR *A, const NusCache *cache, int nthread, NusParams *p, NusBytes *known)
{
  const int chosen = p->c;
  SysStatus status = chosen ? SYS_SUCCESS : NusPlanChooseChunk(A, p, known);

  if (!status && !chosen) status = NusPlanChooseShared(A, cache, p, known);
  if (status) return status;
  if (!p->sigma) {
    for (p->sigma = NUS_MAX_SCOPE / 2; p->sigma > 64 && (int64_t)p->sigma * nthread * 8 > A->m; p->sigma /= 2) { } /* eight scopes a thread */
  }
  p->sigma = NusScopeRows(p->sigma, p->c);
  if (!p->width[0]) p->width[0] = NusPlanWidth(cache->l1);
  if (!p->width[1]) p->width[1] = NusPlanWidth(cache->l2);
  if (p->segmentation == NUS_NONUNIFORM) return p->count[0] < 0 || p->count[1] < 0 ? NusPlanChooseCounts(A, cache, p) : SYS_SUCCESS;
  p->count[0] = 0;
  p->count[1] = p->segmentation == NUS_UNIFORM ? (A->n + p->width[1] - 1) / p->width[1] : 0;
  return SYS_SUCCESS;
}

/* Lists alternatives in the order in which NusHostTune() tries them: chunks, then numbers of segments. A chunk of 0 and a negative number mean the
   best ones so far. */
int NusHostAlternatives(const SysCSR *A, const NusCache *cache, const NusParams *asked, const NusParams *plan, NusParams *list)
{
  Lines L;
  int   n = 0, segmentable;

  for (int c = 8; c <= NUS_MAX_C && !asked->c; c *= 2) {
    if (c == plan->c) continue;
    list[n]     = *plan;
    list[n++].c = c;
  }
  if (asked->segmentation != NUS_NONUNIFORM || NusPlanLinesCreate(cache, &L)) return n;
  segmentable = NusPlanSegmentable(A, cache, &L);
  free(L.line);
  if (!segmentable) return n;
  for (int k = 1; k >= 0; k--) {
    for (int step = 0; step < NUS_COUNTS && asked->count[k] < 0; step++) {
      if (step && A->n <= plan->width[k] * Counts[step - 1]) break;
      if (Counts[step] == plan->count[k]) continue;
      list[n]              = *plan;
      list[n].c            = 0;
      list[n].count[1 - k] = -1;
      list[n++].count[k]   = Counts[step];
    }
  }
  return n;
}

/* The state of the trials */
typedef struct {
  const SysCSR     *csr;
  const NusCache   *cache;
  const NusKernels *kernels;
  int               nthread, tried;
  SysScalar        *x, *z;
} Trials;

/* Converts with these parameters and sets the shortest time of some products */
static SysStatus NusPlanTrial(void *ctx, const NusParams *params, double *best)
{
  Trials   *T = (Trials *)ctx;
  NusHost  *A = NULL;
  NusParams p = *params;
  double    bytes;
  SysStatus status = NusHostPlan(T->csr, T->cache, T->nthread, &p, &(NusBytes){{0}});

  *best = INFINITY;
  if (!status) status = NusHostCreate(T->csr, &p, T->nthread, T->nthread, T->kernels, INFINITY, &bytes, &A);
  for (int k = 0; k <= SYS_TUNE_REPEAT && !status; k++) {
    const double t0 = SysSeconds(CLOCK_MONOTONIC);
    double       seconds;

    (*T->kernels->mult)(A, 1, T->x, 0, NULL, T->z);
    seconds = SysSeconds(CLOCK_MONOTONIC) - t0;
    T->tried++;
    if (k && seconds < *best) *best = seconds; /* the first product loads the caches */
  }
  NusHostDestroy(A);
  return status == SYS_TOO_LARGE ? SYS_SUCCESS : status;
}

/* Tries the open parameters: C without segments, then the segments */
SysStatus NusHostTune(const SysCSR *csr, const NusCache *cache, int nthread, const NusKernels *kernels, NusParams *params, int *tried)
{
  const NusParams asked  = *params;
  Trials          T      = {csr, cache, kernels, nthread, 0, calloc(csr->n + 1, sizeof(SysScalar)), calloc(csr->m + 1, sizeof(SysScalar))};
  double          best   = INFINITY, seconds;
  SysStatus       status = T.x && T.z ? SYS_SUCCESS : SYS_OUT_OF_MEMORY;

  for (int c = asked.c ? asked.c : 8; c <= (asked.c ? asked.c : NUS_MAX_C) && !status; c += 8) {
    NusParams p = asked;

    p.c = c;
    for (int k = 0; k < 2; k++) p.count[k] = asked.count[k] < 0 ? 0 : asked.count[k];
    status = NusHostPlan(csr, cache, nthread, &p, &(NusBytes){{0}});
    if (!status) status = NusPlanTrial(&T, &p, &seconds);
    if (status || (seconds >= best && c != (asked.c ? asked.c : 8))) continue;
    best    = seconds;
    *params = p;
  }
  if (!status && asked.segmentation == NUS_NONUNIFORM) status = NusSearchSegments(csr->n, NUS_SEARCH_LEAST, NUS_SEARCH_MOST, &asked, best, NusPlanTrial, &T, params);
  *tried = T.tried;
  free(T.x);
  free(T.z);
  return status;
}
