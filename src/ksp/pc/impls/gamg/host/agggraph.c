/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The strength graph of a matrix of blocks
*/
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sys/sysmemory.h"
#include "sys/systhreads.h"
#include "ksp/pc/impls/gamg/host/aggkeys.h"

static inline double GraphAbs(SysScalar x)
{
#if defined(SYS_COMPLEX)
  return cabs(x);
#else
  return fabs((double)x);
#endif
}

/* In blocks PETSc counts the real part */
static inline double GraphAbsReal(SysScalar x)
{
#if defined(SYS_COMPLEX)
  return fabs(creal(x));
#else
  return fabs((double)x);
#endif
}

void AggGraphDestroy(AggGraph *g)
{
  SysRelease(g->i, ((size_t)g->n + 1) * sizeof(*g->i));
  SysRelease(g->j, (size_t)g->capacity * sizeof(*g->j));
  SysRelease(g->s, (size_t)g->capacity * sizeof(*g->s));
  SysRelease(g->w, (size_t)g->capacity * sizeof(*g->w));
  SysRelease(g->diag, (size_t)(g->n + g->nghost) * sizeof(*g->diag));
  memset(g, 0, sizeof(*g));
}

/* i[1 ... n] are lengths and become ends */
static void GraphSum(int64_t n, int64_t i[])
{
  i[0] = 0;
  for (int64_t v = 0; v < n; v++) i[v + 1] += i[v];
}

static SysStatus GraphAllocate(AggGraph *g)
{
  g->capacity = g->i[g->n];
  g->j        = SysAllocate((size_t)g->capacity * sizeof(*g->j));
  g->s        = SysAllocate((size_t)g->capacity * sizeof(*g->s));
  return g->j && g->s ? SYS_SUCCESS : SYS_OUT_OF_MEMORY;
}

/* ------------------------------------------------- blocks ------------------------------------------------- */

static inline int GraphCounts(const AggMatrix *A, SysInt component)
{
  for (int l = 0; l < A->nindex; l++) {
    if (A->index[l] == component) return 1;
  }
  return !A->nindex;
}

/* The edges of vertex v in one part of the matrix: the rows of the block are merged. Returns their number, and writes them if j is not NULL; at[] has room for
   one number per row. */
static int64_t GraphMerge(const AggMatrix *A, const SysCSR *csr, const SysInt *ghost, int64_t v, int64_t at[], SysInt *j, double *s, double *diag)
{
  const int     bs   = A->bs;
  const SysInt *i    = csr->i + v * bs;
  const SysInt  self = ghost ? -1 : (SysInt)v, first = ghost ? (SysInt)(A->d.m / bs) : 0;
  int64_t       count = 0;

  for (int r = 0; r < bs; r++) at[r] = i[r];
  for (;;) {
    SysInt next     = -1;
    double strength = 0;

    for (int r = 0; r < bs; r++) {
      if (at[r] < i[r + 1]) {
        const SysInt vertex = (ghost ? ghost[csr->j[at[r]]] : csr->j[at[r]]) / bs;

        if (next < 0 || vertex < next) next = vertex;
      }
    }
    if (next < 0) return count;
    for (int r = 0; r < bs; r++) {
      const int counts = GraphCounts(A, r);

      for (; at[r] < i[r + 1]; at[r]++) {
        const SysInt column = ghost ? ghost[csr->j[at[r]]] : csr->j[at[r]];

        if (column / bs != next) break;
        if (j && counts && GraphCounts(A, column % bs)) strength += GraphAbsReal(csr->a[at[r]]);
      }
    }
    if (next == self) {
      if (j) *diag = strength;
      continue;
    }
    if (j) {
      j[count] = first + next;
      s[count] = strength;
    }
    count++;
  }
}

/* The same for blocks of one row */
static int64_t GraphCopy(const AggMatrix *A, const SysCSR *csr, const SysInt *ghost, int64_t v, SysInt *j, double *s, double *diag)
{
  int64_t count = 0;

  for (int64_t k = csr->i[v]; k < csr->i[v + 1]; k++) {
    const SysInt column = ghost ? (SysInt)A->d.m + ghost[csr->j[k]] : csr->j[k];

    if (column == v) {
      if (j) *diag = GraphAbs(csr->a[k]);
      continue;
    }
    if (j) {
      j[count] = column;
      s[count] = GraphAbs(csr->a[k]);
    }
    count++;
  }
  return count;
}

static int64_t GraphRow(const AggMatrix *A, int64_t v, int64_t at[], SysInt *j, double *s, double *diag)
{
  int64_t count = A->bs == 1 ? GraphCopy(A, &A->d, NULL, v, j, s, diag) : GraphMerge(A, &A->d, NULL, v, at, j, s, diag);

  if (!A->o.i) return count;
  if (j) {
    j += count;
    s += count;
  }
  return count + (A->bs == 1 ? GraphCopy(A, &A->o, A->ghost, v, j, s, diag) : GraphMerge(A, &A->o, A->ghost, v, at, j, s, diag));
}

SysStatus AggGraphCreate(const AggMatrix *A, int nthread, AggGraph *g)
{
  const int64_t n  = A->d.m / A->bs;
  int64_t      *at = malloc((size_t)nthread * (size_t)A->bs * sizeof(*at));
  SysStatus     status;

  memset(g, 0, sizeof(*g));
  g->n      = n;
  g->nghost = A->nghost;
  g->i      = SysAllocate(((size_t)n + 1) * sizeof(*g->i));
  g->diag   = SysAllocate((size_t)(n + g->nghost) * sizeof(*g->diag));
  status    = at && g->i && g->diag ? SYS_SUCCESS : SYS_OUT_OF_MEMORY;
  if (!status) {
#pragma omp parallel for num_threads(nthread) schedule(static)
    for (int64_t v = 0; v < n; v++) g->i[v + 1] = GraphRow(A, v, at + omp_get_thread_num() * A->bs, NULL, NULL, NULL);
    GraphSum(n, g->i);
    status = GraphAllocate(g);
  }
  if (!status) {
#pragma omp parallel for num_threads(nthread) schedule(static)
    for (int64_t v = 0; v < n; v++) {
      g->diag[v] = 0;
      (void)GraphRow(A, v, at + omp_get_thread_num() * A->bs, g->j + g->i[v], g->s + g->i[v], &g->diag[v]);
    }
  }
  free(at);
  return status;
}

SysStatus AggGraphAddGhosts(AggGraph *g, int64_t nghost)
{
  double *diag = SysAllocate((size_t)(g->n + nghost) * sizeof(*diag));

  if (!diag) return SYS_OUT_OF_MEMORY;
  memcpy(diag, g->diag, (size_t)g->n * sizeof(*diag));
  SysRelease(g->diag, (size_t)(g->n + g->nghost) * sizeof(*g->diag));
  g->diag   = diag;
  g->nghost = nghost;
  return SYS_SUCCESS;
}

/* ------------------------------------------------- symmetrization ------------------------------------------------- */

/* The sums, if each edge has its transposed edge already. Returns 0, or another number if an edge has none. The loop meets an edge within this process at its
   vertex with the lower number, and both sums are written. */
static int64_t GraphAddPresent(const AggGraph *g, const AggEdges *other, int nthread, double sum[])
{
  int64_t left = 0; /* edges without a partner */

#pragma omp parallel for num_threads(nthread) schedule(static) reduction(+ : left)
  for (int64_t v = 0; v < g->n; v++) {
    int64_t came = other ? other->i[v + 1] - other->i[v] : 0;

    for (int64_t k = g->i[v]; k < g->i[v + 1]; k++) {
      const SysInt u = g->j[k];
      int64_t      place;

      if (u < v) left++;
      else if (u < g->n) {
        place = AggFind(g->j, g->i[u], g->i[u + 1], (SysInt)v);
        if (place >= 0) {
          sum[k] = sum[place] = g->s[k] + g->s[place];
          left--;
        } else left += g->i[g->n] + 1; /* more than there are edges to make up for it */
      } else {
        place  = came ? AggFind(other->j, other->i[v], other->i[v + 1], u) : -1;
        sum[k] = g->s[k] + (place < 0 ? 0 : other->s[place]); /* if there is none, the other process misses it */
        came -= place >= 0;
      }
    }
    left += came * (g->i[g->n] + 1);
  }
  return left;
}

/* The transposed edges of this process, in the order of other: by vertices, ascending */
static SysStatus GraphTranspose(const AggGraph *g, AggEdges *t, int64_t *bytes)
{
  t->i   = calloc((size_t)g->n + 2, sizeof(*t->i));
  *bytes = g->i[g->n];
  t->j   = SysAllocate((size_t)*bytes * sizeof(*t->j));
  t->s   = SysAllocate((size_t)*bytes * sizeof(*t->s));
  if (!t->i || !t->j || !t->s) return SYS_OUT_OF_MEMORY;
  for (int64_t k = 0; k < g->i[g->n]; k++) {
    if (g->j[k] < g->n) t->i[g->j[k] + 2]++;
  }
  for (int64_t v = 0; v < g->n; v++) t->i[v + 2] += t->i[v + 1];
  for (int64_t v = 0; v < g->n; v++) {
    for (int64_t k = g->i[v]; k < g->i[v + 1]; k++) {
      if (g->j[k] < g->n) {
        const int64_t place = t->i[g->j[k] + 1]++;

        t->j[place] = (SysInt)v;
        t->s[place] = g->s[k];
      }
    }
  }
  return SYS_SUCCESS;
}

/* The union of a row with its transposed edges within this process and those from other ones. Returns the number of its edges, and writes them if j is not NULL. */
static int64_t GraphUnite(const AggGraph *g, const AggEdges *t, const AggEdges *other, int64_t v, SysInt *j, double *s)
{
  int64_t a = g->i[v], b = t->i[v], c = other ? other->i[v] : 0, count = 0;

  for (;;) {
    SysInt next = -1;
    double sum  = 0;

    if (a < g->i[v + 1]) next = g->j[a];
    if (b < t->i[v + 1] && (next < 0 || t->j[b] < next)) next = t->j[b];
    if (other && c < other->i[v + 1] && (next < 0 || other->j[c] < next)) next = other->j[c];
    if (next < 0) return count;
    if (a < g->i[v + 1] && g->j[a] == next) sum += g->s[a++];
    if (b < t->i[v + 1] && t->j[b] == next) sum += t->s[b++];
    if (other && c < other->i[v + 1] && other->j[c] == next) sum += other->s[c++];
    if (j) {
      j[count] = next;
      s[count] = sum;
    }
    count++;
  }
}

SysStatus AggGraphSymmetrize(AggGraph *g, const AggEdges *other, int nthread)
{
  double   *sum    = SysAllocate((size_t)g->capacity * sizeof(*sum));
  AggGraph  h      = {.n = g->n, .nghost = g->nghost};
  AggEdges  t      = {NULL, NULL, NULL};
  int64_t   size   = 0;
  SysStatus status = sum ? SYS_SUCCESS : SYS_OUT_OF_MEMORY;

#pragma omp parallel for num_threads(nthread) schedule(static)
  for (int64_t v = 0; v < g->n; v++) g->diag[v] *= 2;
  if (!status && !GraphAddPresent(g, other, nthread, sum)) {
    SysRelease(g->s, (size_t)g->capacity * sizeof(*g->s));
    g->s = sum;
    return SYS_SUCCESS;
  }
  SysRelease(sum, (size_t)g->capacity * sizeof(*sum));
  if (!status) status = GraphTranspose(g, &t, &size);
  if (!status) {
    h.i = SysAllocate(((size_t)h.n + 1) * sizeof(*h.i));
    if (!h.i) status = SYS_OUT_OF_MEMORY;
  }
  if (!status) {
#pragma omp parallel for num_threads(nthread) schedule(static)
    for (int64_t v = 0; v < g->n; v++) h.i[v + 1] = GraphUnite(g, &t, other, v, NULL, NULL);
    GraphSum(h.n, h.i);
    status = GraphAllocate(&h);
  }
  if (!status) {
    double *diag = g->diag;

#pragma omp parallel for num_threads(nthread) schedule(static)
    for (int64_t v = 0; v < g->n; v++) (void)GraphUnite(g, &t, other, v, h.j + h.i[v], h.s + h.i[v]);
    g->diag = NULL;
    AggGraphDestroy(g);
    *g      = h;
    g->diag = diag;
  } else AggGraphDestroy(&h);
  free(t.i);
  SysRelease(t.j, (size_t)size * sizeof(*t.j));
  SysRelease(t.s, (size_t)size * sizeof(*t.s));
  return status;
}

/* ------------------------------------------------- scaling and threshold ------------------------------------------------- */

SysStatus AggGraphFinish(AggGraph *g, double threshold, int nthread)
{
  const int64_t all   = g->n + g->nghost;
  int64_t      *i     = NULL;
  double       *scale = g->diag;

  g->w = SysAllocate((size_t)g->capacity * sizeof(*g->w));
  if (!g->w) return SYS_OUT_OF_MEMORY;
  if (threshold >= 0) {
    i = SysAllocate(((size_t)g->n + 1) * sizeof(*i));
    if (!i) return SYS_OUT_OF_MEMORY;
  }
#pragma omp parallel for num_threads(nthread) schedule(static)
  for (int64_t v = 0; v < all; v++) scale[v] = scale[v] != 0 ? sqrt(1 / scale[v]) : 0;
#pragma omp parallel for num_threads(nthread) schedule(static)
  for (int64_t v = 0; v < g->n; v++) {
    int64_t kept = 0;

    for (int64_t k = g->i[v]; k < g->i[v + 1]; k++) {
      const double w = g->s[k] * (scale[v] * scale[g->j[k]]);

      if (i && !(w > threshold)) continue;
      g->w[g->i[v] + kept] = AggInteger(w);
      g->j[g->i[v] + kept] = g->j[k];
      kept++;
    }
    if (i) i[v + 1] = kept;
  }
  if (i) { /* close the gaps, from the first row on */
    GraphSum(g->n, i);
    for (int64_t v = 0; v < g->n; v++) {
      memmove(g->w + i[v], g->w + g->i[v], (size_t)(i[v + 1] - i[v]) * sizeof(*g->w));
      memmove(g->j + i[v], g->j + g->i[v], (size_t)(i[v + 1] - i[v]) * sizeof(*g->j));
    }
    SysRelease(g->i, ((size_t)g->n + 1) * sizeof(*g->i));
    g->i = i;
  }
  SysRelease(g->s, (size_t)g->capacity * sizeof(*g->s));
  SysRelease(g->diag, (size_t)all * sizeof(*g->diag));
  g->s    = NULL;
  g->diag = NULL;
  return SYS_SUCCESS;
}
