/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Renumbering of rows and columns. Keys are sorted digit by digit, short rows by insertion.
*/
#include <string.h>
#include "sys/systhreads.h"
#include "graph/host/graphhost.h"

#define GRAPH_DIGIT 8 /* bits of a digit within a row, whose digits are counted anew for few entries; GRAPH_WIDE for all rows */
#define GRAPH_WIDE  11
#define GRAPH_SHORT 48 /* most entries of a row for insertion sort */

static inline SysInt GraphDigit(SysInt key, int low, int bits)
{
  return key >> low & (((SysInt)1 << bits) - 1);
}

/* Sets the first place of each digit's entries */
static void GraphDigits(int64_t n, const SysInt *key, int low, int bits, int64_t *begin)
{
  int64_t sum = 0;

  memset(begin, 0, sizeof(*begin) << bits);
  for (int64_t k = 0; k < n; k++) begin[GraphDigit(key[k], low, bits)]++;
  for (int d = 0; d < 1 << bits; d++) {
    const int64_t count = begin[d];

    begin[d] = sum;
    sum += count;
  }
}

void GraphOrder(int64_t n, const SysInt *key, SysInt most, SysInt *order, SysInt *work)
{
  SysInt *now = order, *next = work;
  int64_t begin[1 << GRAPH_WIDE];

  for (int64_t k = 0; k < n; k++) order[k] = (SysInt)k;
  for (int low = 0; most >> low; low += GRAPH_WIDE) {
    SysInt *t = now;

    GraphDigits(n, key, low, GRAPH_WIDE, begin);
    for (int64_t k = 0; k < n; k++) next[begin[GraphDigit(key[now[k]], low, GRAPH_WIDE)]++] = now[k];
    now  = next;
    next = t;
  }
  if (now != order) memcpy(order, now, sizeof(*now) * (size_t)n);
}

static int GraphAscends(int64_t n, const SysInt *j)
{
  for (int64_t k = 1; k < n; k++) {
    if (j[k] < j[k - 1]) return 0;
  }
  return 1;
}

static void GraphSortRow(int64_t n, SysInt *j, SysScalar *a, SysInt most, SysInt *jwork, SysScalar *awork)
{
  SysInt    *jnow = j, *jnext = jwork;
  SysScalar *anow = a, *anext = awork;
  int64_t    begin[1 << GRAPH_DIGIT];

  if (GraphAscends(n, j)) return;
  if (n <= GRAPH_SHORT) {
    for (int64_t q = 1; q < n; q++) {
      const SysInt    y = j[q];
      const SysScalar v = a[q];
      int64_t         k = q;

      for (; k > 0 && j[k - 1] > y; k--) {
        j[k] = j[k - 1];
        a[k] = a[k - 1];
      }
      j[k] = y;
      a[k] = v;
    }
    return;
  }
  for (int low = 0; most >> low; low += GRAPH_DIGIT) {
    SysInt    *jt = jnow;
    SysScalar *at = anow;

    GraphDigits(n, jnow, low, GRAPH_DIGIT, begin);
    for (int64_t k = 0; k < n; k++) {
      const int64_t to = begin[GraphDigit(jnow[k], low, GRAPH_DIGIT)]++;

      jnext[to] = jnow[k];
      anext[to] = anow[k];
    }
    jnow  = jnext;
    anow  = anext;
    jnext = jt;
    anext = at;
  }
  if (jnow == j) return;
  memcpy(j, jnow, sizeof(*j) * (size_t)n);
  memcpy(a, anow, sizeof(*a) * (size_t)n);
}

void GraphRenumber(int nthread, int64_t m, const SysInt *order, const SysCSR block[2], const SysInt *position, SysInt most, const SysInt *i, SysInt *j, SysScalar *a, int64_t longest, SysInt *jwork, SysScalar *awork)
{
#pragma omp parallel for num_threads(nthread) schedule(dynamic, 256)
  for (int64_t r = 0; r < m; r++) {
    const int64_t own = longest * omp_get_thread_num();
    SysInt        at  = i[r];

    for (int b = 0; b < 2; b++) {
      const SysInt *to = position + (b ? block[0].n : 0);

      if (!block[b].nz) continue;
      for (SysInt k = block[b].i[order[r]]; k < block[b].i[order[r] + 1]; k++, at++) {
        j[at] = to[block[b].j[k]];
        a[at] = block[b].a[k];
      }
    }
    GraphSortRow(at - i[r], j + i[r], a + i[r], most, jwork + own, awork + own);
  }
}
