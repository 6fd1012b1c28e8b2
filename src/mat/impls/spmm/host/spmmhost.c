/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Products of sparse and dense matrices on the host: panels, threads, and the transposed pattern
*/
#include <stdlib.h>
#include <string.h>

#include "sys/sysisa.h"
#include "sys/sysmemory.h"
#include "sys/systhreads.h"
#include "mat/impls/spmm/host/spmmhost.h"

#define SPMM_PACK_ROWS 16 /* rows of the dense matrix in one step of the packing */

const SpmmKernels *SpmmHostKernels(void)
{
  return SYS_KERNELS(SpmmKernels);
}

int SpmmPanelColumns(int64_t ncol, int *width)
{
  const int vector = SPMM_ALIGN / (int)sizeof(SysReal), most = SPMM_VECTORS * vector;
  int64_t   npanel = (ncol + most - 1) / most;
  int       n      = (int)(npanel > 1 ? SysMin((ncol + npanel - 1) / npanel + vector - 1, most) / vector * vector : ncol);

  if (n <= vector) {
    *width = 16 / (int)sizeof(SysReal);
    while (*width < n) *width *= 2;
  } else *width = (n + vector - 1) / vector * vector;
  return n;
}

int64_t SpmmRingSize(int64_t ring, int width)
{
  return ring * width + SPMM_ALIGN / (int64_t)sizeof(SysReal);
}

/* Sets *c0 and *c1 to the range of columns of rows r0 to r1 - 1, widened to whole tiles; an empty range if there are none */
static void SpmmColumnsOf(const SpmmKernels *kernels, const SysInt i[], const SysInt j[], int64_t n, int64_t r0, int64_t r1, int64_t *c0, int64_t *c1)
{
  SysInt least = (SysInt)n, greatest = -1;

  kernels->reach(i[r1] - i[r0], j + i[r0], &least, &greatest);
  *c0 = least / SPMM_PACK_ROWS * SPMM_PACK_ROWS;
  *c1 = SysMin((int64_t)(greatest / SPMM_PACK_ROWS * SPMM_PACK_ROWS) + SPMM_PACK_ROWS, n);
  if (greatest < 0) *c0 = *c1 = 0;
}

int64_t SpmmRing(int64_t m, int64_t n, const SysInt i[], const SysInt j[])
{
  const SpmmKernels *kernels = SpmmHostKernels();
  int64_t            ring = 2 * SPMM_BLOCK, reach = 0, packed = 0, lo = 0, hi = 0;

  for (int64_t r = 0; r < m; r += SPMM_BLOCK) {
    int64_t c0, c1;

    SpmmColumnsOf(kernels, i, j, n, r, SysMin(r + SPMM_BLOCK, m), &c0, &c1);
    if (c1 - c0 > reach) reach = c1 - c0;
    if (c0 < lo || c0 > hi) lo = hi = c0;
    if (c1 > hi) packed += c1 - hi;
    if (c1 > hi) hi = c1;
    while (ring < reach) ring *= 2;
    if (hi - lo > ring) lo = hi - ring;
    if (packed > 2 * n) return 0;
  }
  return 2 * ring > n ? 0 : ring;
}

void SpmmPack(int nthread, int64_t n, int ncol, int width, const SysReal *columns, int64_t ld, SysReal *panel)
{
  const SpmmKernels *kernels = SpmmHostKernels();

#pragma omp parallel for schedule(static) num_threads(nthread) if (nthread > 1)
  for (int64_t r = 0; r < n; r += SPMM_BLOCK) kernels->pack(SysMin(SPMM_BLOCK, n - r), ncol, width, columns + r, ld, panel + r * width);
}

void SpmmUnpack(int nthread, int64_t n, int ncol, int width, const SysReal *panel, SysReal *columns, int64_t ld)
{
  const SpmmKernels *kernels = SpmmHostKernels();

#pragma omp parallel for schedule(static) num_threads(nthread) if (nthread > 1)
  for (int64_t r = 0; r < n; r += SPMM_BLOCK) kernels->unpack(SysMin(SPMM_BLOCK, n - r), ncol, width, panel + r * width, columns + r, ld);
}

/* Returns a multiple of SPMM_BLOCK, so that two threads rarely write to the same cache line */
int64_t SpmmFirstRow(int t, int nthread, int64_t m, const SpmmTerm term[], int nterm)
{
  double  share = 0;
  int64_t lo = 0, hi = m;

  if (t == nthread) return m;
  for (int s = 0; s < nterm; s++) share += (double)term[s].i[m] - (double)term[s].i[0];
  share = (share + (double)m) * t / nthread;
  while (lo < hi) {
    const int64_t middle = lo + (hi - lo) / 2;
    double        before = (double)middle;

    for (int s = 0; s < nterm; s++) before += (double)term[s].i[middle] - (double)term[s].i[0];
    if (before < share) lo = middle + 1;
    else hi = middle;
  }
  return lo / SPMM_BLOCK * SPMM_BLOCK;
}

void SpmmAdvance(const SpmmTerm *term, int64_t r0, int64_t r1, int ncol, int width, SysReal *ring, SpmmHeld *held)
{
  const SpmmKernels *kernels = SpmmHostKernels();
  int64_t            c0, c1;

  SpmmColumnsOf(kernels, term->i, term->j, term->n, r0, r1, &c0, &c1);
  if (c0 < held->lo || c0 > held->hi) held->lo = held->hi = c0;
  while (held->hi < c1) {
    const int64_t position = held->hi & (term->ring - 1), n = SysMin(c1 - held->hi, term->ring - position);

    kernels->pack(n, ncol, width, term->columns + held->hi, term->ld, ring + position * width);
    held->hi += n;
  }
  if (held->hi - held->lo > term->ring) held->lo = held->hi - term->ring;
}

void SpmmMult(int nthread, int64_t m, const SpmmTerm term[], int nterm, int ncol, int width, SysReal *result, int64_t ld)
{
  const SpmmKernels *kernels = SpmmHostKernels();

#pragma omp parallel for schedule(static, 1) num_threads(nthread) if (nthread > 1)
  for (int t = 0; t < nthread; t++) {
    const int64_t end              = SpmmFirstRow(t + 1, nthread, m, term, nterm);
    SpmmHeld      held[SPMM_TERMS] = {
           {0, 0}
    };
    SysReal *panel[SPMM_TERMS], rows[SPMM_BLOCK * SPMM_VECTORS * SPMM_ALIGN / sizeof(SysReal)] __attribute__((aligned(SPMM_ALIGN)));

    for (int s = 0; s < nterm; s++) panel[s] = term[s].panel + (term[s].ring ? t * SpmmRingSize(term[s].ring, width) : 0);
    for (int64_t r = SpmmFirstRow(t, nthread, m, term, nterm); r < end; r += SPMM_BLOCK) {
      const int64_t n = SysMin(SPMM_BLOCK, end - r);

      for (int s = 0; s < nterm; s++) {
        if (term[s].ring) SpmmAdvance(&term[s], r, r + n, ncol, width, panel[s], &held[s]);
      }
      kernels->mult(term, nterm, panel, width, r, r + n, ld ? rows : result + r * width);
      if (ld) kernels->unpack(n, ncol, width, rows, result + r, ld);
    }
  }
}

SysStatus SpmmTranspose(const SysCSR *A, SpmmTransposed *T)
{
  memset(T, 0, sizeof(*T));
  T->n        = A->n;
  T->nz       = A->nz;
  T->i        = SysAllocateZero((size_t)(A->n + 2) * sizeof(SysInt));
  T->j        = SysAllocate((size_t)A->nz * sizeof(SysInt));
  T->position = SysAllocate((size_t)A->nz * sizeof(SysInt));
  if (!T->i || !T->j || !T->position) {
    SpmmTransposedDestroy(T);
    return SYS_OUT_OF_MEMORY;
  }
  for (int64_t k = 0; k < A->nz; k++) T->i[A->j[k] + 2]++;
  for (int64_t c = 0; c < A->n; c++) T->i[c + 2] += T->i[c + 1];
  for (int64_t r = 0; r < A->m; r++) { /* i[c + 1] runs from column c's begin to its end */
    for (int64_t k = A->i[r]; k < A->i[r + 1]; k++) {
      const SysInt to = T->i[A->j[k] + 1]++;

      T->j[to]        = (SysInt)r;
      T->position[to] = (SysInt)k;
    }
  }
  return SYS_SUCCESS;
}

void SpmmTransposedDestroy(SpmmTransposed *T)
{
  SysRelease(T->i, (size_t)(T->n + 2) * sizeof(SysInt));
  SysRelease(T->j, (size_t)T->nz * sizeof(SysInt));
  SysRelease(T->position, (size_t)T->nz * sizeof(SysInt));
  memset(T, 0, sizeof(*T));
}
