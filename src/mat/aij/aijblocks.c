/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "sys/systhreads.h"
#include "mat/aij/aijblocks.h"

#define RUN 16 /* coordinates of a run that is sorted by insertion */

/* A block of a row: its column, and its number among the caller's */
typedef struct {
  SysInt column, from;
} Place;

int64_t AijBlocksCheck(int64_t n, const SysInt bi[], const SysInt bj[], int64_t M, int64_t N)
{
  for (int64_t k = 0; k < n; k++) {
    if (bi[k] >= 0 && bj[k] >= 0 && (bi[k] >= M || bj[k] >= N)) return k;
  }
  return -1;
}

void AijBlocksOwners(int64_t n, SysInt bi[], const SysInt bj[], int size, const SysInt ranges[], int rbs, int own, SysInt count[], SysInt list[])
{
  const SysInt first = ranges[own] / rbs, last = ranges[own + 1] / rbs;
  int          p = own;

  if (list) { /* counts become positions */
    SysInt sum = 0;

    count[own] = 0;
    for (int q = 0; q < size; q++) {
      const SysInt c = count[q];

      count[q] = sum;
      sum += c;
    }
  } else memset(count, 0, (size_t)size * sizeof(*count));
  for (int64_t k = 0; k < n; k++) {
    SysInt row = -1;

    if (bi[k] >= 0 && bj[k] >= 0) {
      if (bi[k] >= first && bi[k] < last) {
        row = bi[k] - first;
        if (!list) count[own]++;
      } else {
        if (bi[k] < ranges[p] / rbs || bi[k] >= ranges[p + 1] / rbs) {
          int low = 0, high = size - 1;

          while (low < high) {
            const int middle = low + (high - low) / 2;

            if (bi[k] < ranges[middle + 1] / rbs) high = middle;
            else low = middle + 1;
          }
          p = low;
        }
        if (list) list[count[p]] = (SysInt)k;
        count[p]++;
      }
    }
    if (list) bi[k] = row;
  }
}

/* Merge sort by columns, stable. b has room for n places. */
static void SortPlaces(int64_t n, Place *a, Place *b)
{
  Place *from = a, *to = b;

  for (int64_t run = 0; run < n; run += RUN) {
    const int64_t end = SysMin(run + RUN, n);

    for (int64_t k = run + 1; k < end; k++) {
      const Place p = a[k];
      int64_t     l = k;

      for (; l > run && a[l - 1].column > p.column; l--) a[l] = a[l - 1];
      a[l] = p;
    }
  }
  for (int64_t width = RUN; width < n; width *= 2) {
    for (int64_t run = 0; run < n; run += 2 * width) {
      const int64_t middle = SysMin(run + width, n), end = SysMin(run + 2 * width, n);
      int64_t       l = run, r = middle;

      for (int64_t k = run; k < end; k++) to[k] = l < middle && (r == end || from[l].column <= from[r].column) ? from[l++] : from[r++];
    }
    {
      Place *const swap = from;

      from = to;
      to   = swap;
    }
  }
  if (from != a) memcpy(a, from, (size_t)n * sizeof(*a));
}

/* Sorts the blocks of a row in place and returns the number of distinct ones */
static SysInt SortRow(int64_t n, SysInt from[], const SysInt bj[], Place *a, Place *b)
{
  SysInt distinct  = n > 0;
  int    ascending = 1;

  for (int64_t k = 1; k < n; k++) ascending = ascending && bj[from[k - 1]] < bj[from[k]];
  if (ascending) return (SysInt)n;
  for (int64_t k = 0; k < n; k++) a[k] = (Place){bj[from[k]], from[k]};
  SortPlaces(n, a, b);
  for (int64_t k = 0; k < n; k++) {
    from[k] = a[k].from;
    distinct += k && a[k].column != a[k - 1].column;
  }
  return distinct;
}

/* Sorts the blocks by rows: start[] has m + 1 numbers */
static void SortByRows(int64_t m, int64_t n, const SysInt bi[], const SysInt bj[], SysInt first, SysInt last, int inside, int64_t start[], SysInt from[])
{
  for (int64_t r = m; r > 0; r--) start[r] = start[r - 1];
  start[0] = 0;
  for (int64_t k = 0; k < n; k++) {
    if (bi[k] >= 0 && bj[k] >= 0 && (bj[k] >= first && bj[k] < last) == inside) from[start[bi[k] + 1]++] = (SysInt)k;
  }
}

void AijBlocksFree(AijBlocks *B)
{
  free(B->i);
  free(B->first);
  free(B->from);
  memset(B, 0, sizeof(*B));
}

SysStatus AijBlocksPlan(int64_t m, int64_t n, const SysInt bi[], const SysInt bj[], SysInt first, SysInt last, int inside, int threads, AijBlocks *B, SysInt **columns)
{
  int64_t *start  = calloc((size_t)m + 2, sizeof(*start));
  int      failed = 0; /* memory is short */

  memset(B, 0, sizeof(*B));
  *columns = NULL;
  if (!start) return SYS_OUT_OF_MEMORY;
  for (int64_t k = 0; k < n; k++) {
    if (bi[k] >= 0 && bj[k] >= 0 && (bj[k] >= first && bj[k] < last) == inside) start[bi[k] + 1]++;
  }
  for (int64_t r = 0; r < m; r++) start[r + 1] += start[r];
  B->m    = m;
  B->n    = start[m];
  B->i    = calloc((size_t)m + 1, sizeof(*B->i));
  B->from = malloc(((size_t)B->n + 1) * sizeof(*B->from));
  if (!B->i || !B->from) failed = 1;
  else SortByRows(m, n, bi, bj, first, last, inside, start, B->from);
  if (!failed) {
#pragma omp parallel num_threads(threads) reduction(| : failed)
    {
      Place  *work = NULL;
      int64_t room = 0;

#pragma omp for schedule(static) nowait
      for (int64_t r = 0; r < m; r++) {
        const int64_t length = start[r + 1] - start[r];

        if (length > room && !failed) {
          free(work);
          room   = 2 * length;
          work   = malloc(2 * (size_t)room * sizeof(*work));
          failed = !work;
        }
        if (!failed) B->i[r + 1] = SortRow(length, B->from + start[r], bj, work, work + room);
      }
      free(work);
    }
  }
  for (int64_t r = 0; r < m && B->i; r++) B->i[r + 1] += B->i[r];
  if (!failed) {
    B->nb    = B->i[m];
    *columns = malloc(((size_t)B->nb + 1) * sizeof(**columns));
    if (B->nb < B->n) B->first = malloc(((size_t)B->nb + 1) * sizeof(*B->first));
    failed = !*columns || (B->nb < B->n && !B->first);
  }
  if (!failed) {
    SysInt *const list = *columns;

#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t r = 0; r < m; r++) {
      int64_t b = B->i[r];

      for (int64_t k = start[r]; k < start[r + 1]; k++) {
        const SysInt column = bj[B->from[k]];

        if (k > start[r] && list[b - 1] == column) continue;
        list[b] = column;
        if (B->first) B->first[b] = (SysInt)k;
        b++;
      }
    }
    if (B->first) B->first[B->nb] = (SysInt)B->n;
  } else {
    free(*columns);
    *columns = NULL;
    AijBlocksFree(B);
  }
  free(start);
  return failed ? SYS_OUT_OF_MEMORY : SYS_SUCCESS;
}

void AijBlocksGroups(const AijBlocks *B, SysInt group[])
{
  int64_t r = 0;

  for (int64_t b = 0; b < B->nb; b += AIJ_GROUP) {
    while (B->i[r + 1] <= b) r++;
    *group++ = (SysInt)r;
  }
  *group = (SysInt)(B->m - 1);
}

void AijBlocksLengths(const AijBlocks *B, int rbs, int cbs, SysInt lengths[])
{
  for (int64_t r = 0; r < B->m; r++) {
    for (int l = 0; l < rbs; l++) lengths[r * rbs + l] = (B->i[r + 1] - B->i[r]) * cbs;
  }
}

void AijBlocksColumns(const AijBlocks *B, int rbs, int cbs, const SysInt columns[], SysInt shift, int threads, SysInt j[])
{
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t r = 0; r < B->m; r++) {
    const int64_t length = B->i[r + 1] - B->i[r];
    SysInt       *row    = j + (int64_t)B->i[r] * rbs * cbs;

    for (int64_t b = 0; b < length; b++) {
      for (int c = 0; c < cbs; c++) row[b * cbs + c] = (columns[B->i[r] + b] - shift) * cbs + c;
    }
    for (int l = 1; l < rbs; l++) memcpy(row + l * length * cbs, row, (size_t)(length * cbs) * sizeof(*row));
  }
}

#define SUMS 64 /* most values of a block that are summed at a time */

/* Some block rows. The compiler unrolls the loops where the sizes are constants; repeats: coordinates repeat; remote: other processes sent blocks. */
static inline __attribute__((always_inline)) void SumRows(const AijBlocks *B, const AijBlockValues *v, int rbs, int cbs, int repeats, int remote, int add, int64_t lo, int64_t hi, SysScalar *a)
{
  const int           values = rbs * cbs, part = values <= SUMS ? rbs : 1; /* rows of a block at a time */
  const SysInt *const from = B->from, *const begins = B->first;
  const SysScalar *const own = v->values;

  for (int64_t r = lo; r < hi; r++) {
    const int64_t first = B->i[r], length = B->i[r + 1] - first, stride = length * cbs;
    SysScalar    *row = a + first * values;

    for (int64_t b = first; b < first + length; b++, row += cbs) {
      const int64_t k0 = repeats ? begins[b] : b, k1 = repeats ? begins[b + 1] : b + 1;

      if (!repeats && !remote) {
        const SysScalar *block = own + (int64_t)from[b] * values;

        for (int l = 0; l < rbs; l++) {
          SysScalar *to = row + l * stride;

          for (int c = 0; c < cbs; c++) to[c] = (add ? to[c] : 0) + block[l * cbs + c];
        }
        continue;
      }
      for (int l = 0; l < rbs; l += part) {
        for (int c0 = 0; c0 < cbs; c0 += SUMS) {
          const int n = cbs - c0 < SUMS ? cbs - c0 : SUMS; /* and columns */
          SysScalar sum[SUMS];

          for (int p = 0; p < part * n; p++) sum[p] = 0;
          for (int64_t k = k0; k < k1; k++) {
            const int64_t    f     = from[k];
            const SysScalar *block = (remote && f >= v->own ? v->received + (f - v->own) * values : own + f * values) + l * cbs + c0;

            for (int p = 0; p < part; p++) {
              for (int c = 0; c < n; c++) sum[p * n + c] += block[p * cbs + c];
            }
          }
          for (int p = 0; p < part; p++) {
            SysScalar *to = row + (l + p) * stride + c0;

            for (int c = 0; c < n; c++) to[c] = (add ? to[c] : 0) + sum[p * n + c];
          }
        }
      }
    }
  }
}

#define SUM_ROWS(rbs, cbs) \
  if (v->received) SumRows(B, v, rbs, cbs, B->first != NULL, 1, add, lo, hi, a); \
  else if (B->first) SumRows(B, v, rbs, cbs, 1, 0, add, lo, hi, a); \
  else SumRows(B, v, rbs, cbs, 0, 0, add, lo, hi, a); \
  break

static void SumSomeRows(const AijBlocks *B, const AijBlockValues *v, int add, int64_t lo, int64_t hi, SysScalar *a)
{
  switch (v->rbs == v->cbs ? v->rbs : 0) {
  case 1:
    SUM_ROWS(1, 1);
  case 2:
    SUM_ROWS(2, 2);
  case 3:
    SUM_ROWS(3, 3);
  case 4:
    SUM_ROWS(4, 4);
  case 5:
    SUM_ROWS(5, 5);
  case 6:
    SUM_ROWS(6, 6);
  case 7:
    SUM_ROWS(7, 7);
  case 8:
    SUM_ROWS(8, 8);
  default:
    SUM_ROWS(v->rbs, v->cbs);
  }
}

void AijBlocksSum(const AijBlocks *B, const AijBlockValues *v, int add, int threads, SysScalar a[])
{
  if (threads < 2) SumSomeRows(B, v, add, 0, B->m, a);
  else {
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int part = 0; part < 4 * threads; part++) SumSomeRows(B, v, add, B->m * part / (4 * threads), B->m * (part + 1) / (4 * threads), a);
  }
}

void AijBlocksPack(int64_t n, const SysInt list[], size_t bytes, const void *in, void *out)
{
  for (int64_t k = 0; k < n; k++) memcpy((char *)out + (size_t)k * bytes, (const char *)in + (size_t)list[k] * bytes, bytes);
}

void AijBlocksExpand(int64_t n, const SysInt bi[], const SysInt bj[], int rbs, int cbs, SysInt si[], SysInt sj[])
{
  for (int64_t k = 0; k < n; k++) {
    const int ignored = bi[k] < 0 || bj[k] < 0;

    for (int l = 0; l < rbs; l++) {
      for (int c = 0; c < cbs; c++) {
        *si++ = ignored ? -1 : bi[k] * rbs + l;
        *sj++ = ignored ? -1 : bj[k] * cbs + c;
      }
    }
  }
}
