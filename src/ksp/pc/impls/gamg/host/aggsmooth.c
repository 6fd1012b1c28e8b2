/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The smoothed prolongator, in one pass over the matrix. A product with the tentative prolongator, a scaling and a sum of matrices would make three matrices.
*/
#include <stdlib.h>
#include <string.h>

#include "sys/sysmemory.h"
#include "sys/systhreads.h"
#include "ksp/pc/impls/gamg/host/agghost.h"

/* The arguments of AggSmoothLengths(), or of AggSmooth() */
typedef struct {
  const SysCSR  *A;
  const SysInt  *number;
  int            bs, nvec;
  SysInt        *lengths; /* or NULL */
  const SysReal *block;
  double         alpha;
  const SysInt  *i;
  SysInt        *j;
  SysScalar     *a;
} Smooth;

/* The aggregate of a row */
static inline SysInt SmoothOwn(const Smooth *S, int64_t r)
{
  return S->number[S->bs == 1 ? r : r / S->bs];
}

/* What a thread needs for a row: its aggregates, and for each aggregate of the level 0, or 1 + the place in the row. mark[-1] is never 0: it stands for no aggregate. */
typedef struct {
  SysInt *list, *mark;
} SmoothRow;

SysStatus AggMarksCreate(const SysCSR *A, int64_t nagg, int nthread, AggMarks *marks)
{
  int64_t longest = 0;

#pragma omp parallel for num_threads(nthread) schedule(static) reduction(max : longest)
  for (int64_t r = 0; r < A->m; r++) {
    if (A->i[r + 1] - A->i[r] > longest) longest = A->i[r + 1] - A->i[r];
  }
  marks->nthread = nthread;
  marks->longest = longest + 2; /* a row has its own aggregate, too, and SmoothFind() writes one entry beyond the last one */
  marks->each    = (size_t)marks->longest + 1 + (size_t)nagg + 64 / sizeof(SysInt);
  marks->bytes   = (size_t)nthread * marks->each * sizeof(*marks->memory);
  marks->memory  = SysAllocateZero(marks->bytes);
  return marks->memory ? SYS_SUCCESS : SYS_OUT_OF_MEMORY;
}

void AggMarksDestroy(AggMarks *marks)
{
  SysRelease(marks->memory, marks->bytes);
  marks->memory = NULL;
}

static SmoothRow SmoothRowOfThread(const AggMarks *marks)
{
  SysInt *mine = marks->memory + (size_t)omp_get_thread_num() * marks->each;

  mine[marks->longest] = 1;
  return (SmoothRow){mine, mine + marks->longest + 1};
}

/* Appends an aggregate, or -1, that may be in the row. Branches would often be mispredicted. */
static inline int64_t SmoothAppend(SysInt to, int64_t count, SmoothRow row)
{
  const int64_t fresh = !row.mark[to];

  row.list[count] = to;
  row.mark[to]    = 1;
  return count + fresh;
}

/* The aggregates of a row, in the order of its columns; they are marked. Columns of one vertex follow each other. */
static inline int64_t SmoothFind(const Smooth *S, int64_t r, SmoothRow row)
{
  const SysCSR *A      = S->A;
  const SysInt *number = S->number;
  const int     bs     = S->bs;
  int64_t       count = SmoothAppend(SmoothOwn(S, r), 0, row), end = 0;

  if (bs == 1) {
    for (int64_t k = A->i[r]; k < A->i[r + 1]; k++) count = SmoothAppend(number[A->j[k]], count, row);
    return count;
  }
  for (int64_t k = A->i[r]; k < A->i[r + 1]; k++) {
    SysInt vertex;

    if (A->j[k] < end && A->j[k] >= end - bs) continue;
    vertex = A->j[k] / bs;
    end    = ((int64_t)vertex + 1) * bs;
    count  = SmoothAppend(number[vertex], count, row);
  }
  return count;
}

static void SmoothForget(int64_t count, SmoothRow row)
{
  for (int64_t l = 0; l < count; l++) row.mark[row.list[l]] = 0;
}

static int SmoothCompare(const void *x, const void *y)
{
  const SysInt a = *(const SysInt *)x, b = *(const SysInt *)y;

  return (a > b) - (a < b);
}

static void SmoothSort(int64_t n, SysInt list[])
{
  if (n > 32) {
    qsort(list, (size_t)n, sizeof(*list), SmoothCompare);
    return;
  }
  for (int64_t l = 1; l < n; l++) {
    const SysInt x = list[l];
    int64_t      k = l;

    for (; k > 0 && list[k - 1] > x; k--) list[k] = list[k - 1];
    list[k] = x;
  }
}

/* The sums of one row of A P in a[]. Returns the diagonal of A, or 0. */
static SysScalar SmoothMultiply(const Smooth *S, int64_t r, const SysInt mark[], SysScalar a[])
{
  const SysCSR *A        = S->A;
  SysScalar     diagonal = 0;

  for (int64_t k = A->i[r]; k < A->i[r + 1]; k++) {
    const int64_t  column = A->j[k];
    const SysInt   to     = SmoothOwn(S, column);
    const SysReal *b      = S->block + column * S->nvec;
    SysScalar     *sum;

    if (column == r) diagonal = A->a[k];
    if (to < 0) continue;
    sum = a + (int64_t)(mark[to] - 1) * S->nvec;
    for (int c = 0; c < S->nvec; c++) sum[c] += A->a[k] * b[c];
  }
  return diagonal;
}

/* Writes a row, whose aggregates are marked */
static void SmoothFill(const Smooth *S, int64_t r, int64_t count, SmoothRow row)
{
  const SysInt own  = SmoothOwn(S, r);
  const int    nvec = S->nvec;
  SysInt      *to   = S->j + S->i[r];
  SysScalar   *sum  = S->a + S->i[r], weight;

  SmoothSort(count, row.list);
  for (int64_t l = 0; l < count; l++) {
    row.mark[row.list[l]] = (SysInt)(l + 1);
    for (int c = 0; c < nvec; c++) {
      to[l * nvec + c]  = row.list[l] * nvec + c;
      sum[l * nvec + c] = 0;
    }
  }
  weight = SmoothMultiply(S, r, row.mark, sum);
  weight = weight != 0 ? (SysScalar)S->alpha / weight : 0;
  for (int64_t l = 0; l < count * nvec; l++) sum[l] *= weight;
  if (own < 0) return;
  sum += (int64_t)(row.mark[own] - 1) * nvec;
  for (int c = 0; c < nvec; c++) sum[c] += S->block[r * nvec + c];
}

/* The lengths of all rows, if S has room for them, or the rows */
static void SmoothAll(const Smooth *S, const AggMarks *marks)
{
#pragma omp parallel num_threads(marks->nthread)
  {
    const SmoothRow row = SmoothRowOfThread(marks);

#pragma omp for schedule(static) nowait
    for (int64_t r = 0; r < S->A->m; r++) {
      const int64_t count = SmoothFind(S, r, row);

      if (S->lengths) S->lengths[r] = (SysInt)(count * S->nvec);
      else SmoothFill(S, r, count, row);
      SmoothForget(count, row);
    }
  }
}

void AggSmoothLengths(const SysCSR *A, const SysInt number[], int bs, int nvec, const AggMarks *marks, SysInt lengths[])
{
  SmoothAll(&(Smooth){.A = A, .number = number, .bs = bs, .nvec = nvec, .lengths = lengths}, marks);
}

void AggSmooth(const SysCSR *A, const SysInt number[], int bs, int nvec, const SysReal block[], double alpha, const AggMarks *marks, const SysInt i[], SysInt j[], SysScalar a[])
{
  SmoothAll(&(Smooth){.A = A, .number = number, .bs = bs, .nvec = nvec, .block = block, .alpha = alpha, .i = i, .j = j, .a = a}, marks);
}

/* ------------------------------------------------- random numbers ------------------------------------------------- */

void AggNoise(int64_t n, int64_t first, int nthread, SysScalar x[])
{
#pragma omp parallel for num_threads(nthread) schedule(static)
  for (int64_t k = 0; k < n; k++) {
    uint32_t bits = (uint32_t)(first + k);

    for (int turn = 0; turn < 2; turn++) bits = (bits >> 16 ^ bits) * 0x45D9F3Bu;
    x[k] = (SysScalar)(((double)(bits >> 16 ^ bits) - 2147483648.) * 5e-10);
  }
}
