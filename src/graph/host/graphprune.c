/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Pruning of rows to their largest entries, and powers of entries
*/
#include <math.h>
#include "sys/systhreads.h"
#include "graph/host/graphhost.h"

static inline SysReal GraphSize(SysScalar a)
{
#if defined(SYS_COMPLEX)
  const double s = cabs((double _Complex)a);
#else
  const double s = fabs((double)a);
#endif

  return isnan(s) ? (SysReal)INFINITY : (SysReal)s;
}

static void GraphSwap(SysReal *a, SysReal *b)
{
  const SysReal t = *a;

  *a = *b;
  *b = t;
}

/* Returns the k-th largest of n numbers, k >= 1, by Hoare's selection; permutes them */
static SysReal GraphSelect(int64_t n, SysReal *v, int64_t k)
{
  int64_t low = 0, high = n - 1;

  while (low < high) {
    const SysReal pivot = v[low + (high - low) / 2];
    int64_t       i = low, j = high;

    while (i <= j) {
      while (v[i] > pivot) i++;
      while (v[j] < pivot) j--;
      if (i <= j) GraphSwap(&v[i++], &v[j--]);
    }
    if (k - 1 <= j) high = j;
    else if (k - 1 >= i) low = i;
    else return pivot;
  }
  return v[low];
}

/* The entries of a row to keep: those larger than bound, and the first `ties` equal to it */
typedef struct {
  SysReal bound;
  int64_t above, ties;
} GraphKept;

/* Returns the entries to keep: of at least this size, at most keep, and the largest in any case. size[] gets the n entries' sizes; work: n numbers. */
static GraphKept GraphPruneRow(int64_t n, const SysScalar *a, SysReal least, int64_t keep, SysReal *size, SysReal *work)
{
  GraphKept kept  = {least, 0, 0};
  SysReal   most  = 0;
  int64_t   equal = 0;

  for (int64_t k = 0; k < n; k++) {
    size[k] = GraphSize(a[k]);
    if (size[k] > most) most = size[k];
  }
  if (kept.bound > most) kept.bound = most;
  for (int64_t k = 0; k < n; k++) {
    kept.above += size[k] > kept.bound;
    equal += size[k] == kept.bound;
  }
  if (kept.above + equal > keep) {
    if (kept.above > keep) {
      for (int64_t k = 0; k < n; k++) work[k] = size[k];
      kept.bound = GraphSelect(n, work, keep);
      kept.above = 0;
      for (int64_t k = 0; k < n; k++) kept.above += size[k] > kept.bound;
    }
    equal = keep - kept.above;
  }
  kept.ties = equal;
  return kept;
}

void GraphPruneCount(int nthread, const SysCSR *A, SysReal least, int64_t keep, int64_t longest, SysInt *length, SysReal *work)
{
#pragma omp parallel num_threads(nthread)
  {
    SysReal *size = work + 2 * longest * omp_get_thread_num();

#pragma omp for schedule(dynamic, 256) nowait
    for (int64_t r = 0; r < A->m; r++) {
      const GraphKept kept = GraphPruneRow(A->i[r + 1] - A->i[r], A->a + A->i[r], least, keep, size, size + longest);

      length[r] = (SysInt)(kept.above + kept.ties);
    }
  }
}

void GraphPruneFill(int nthread, const SysCSR *A, SysReal least, int64_t keep, int64_t longest, const SysInt *i, SysInt *j, SysScalar *a, SysReal *work)
{
#pragma omp parallel num_threads(nthread)
  {
    SysReal *size = work + 2 * longest * omp_get_thread_num();

#pragma omp for schedule(dynamic, 256) nowait
    for (int64_t r = 0; r < A->m; r++) {
      const SysInt first = A->i[r], n = A->i[r + 1] - first;
      GraphKept    kept = GraphPruneRow(n, A->a + first, least, keep, size, size + longest);
      SysInt       to   = i[r];

      for (SysInt k = 0; k < n; k++) {
        if (size[k] < kept.bound || (size[k] == kept.bound && kept.ties-- <= 0)) continue;
        j[to]   = A->j[first + k];
        a[to++] = A->a[first + k];
      }
    }
  }
}

void GraphPower(int nthread, int64_t n, SysReal power, SysScalar *a)
{
#pragma omp parallel for num_threads(nthread) schedule(static)
  for (int64_t k = 0; k < n; k++) {
#if defined(SYS_COMPLEX)
    const double s = cabs((double _Complex)a[k]);
#else
    const double s = fabs((double)a[k]);
#endif

    a[k] = (SysScalar)(power == 0 ? 1 : power == 1 ? s : power == 2 ? s * s : pow(s, (double)power));
  }
}
