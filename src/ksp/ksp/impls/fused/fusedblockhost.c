/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "sys/sysisa.h"
#include "ksp/ksp/impls/fused/fusedblock.h"

const FusedBlockKernels *FusedBlockHostKernels(void)
{
  return SYS_KERNELS(FusedBlockKernels);
}

/* Rows of a block: whole blocks of M, at least one */
static int64_t FusedBlockRows(int width, int bs)
{
  const int64_t rows = FUSED_BLOCK_BYTES / (int64_t)sizeof(SysReal) / width;

  return rows < bs ? bs : rows / bs * bs;
}

int64_t FusedBlockCount(int64_t n, int width, int bs)
{
  const int64_t rows = FusedBlockRows(width, bs);

  return (n + rows - 1) / rows;
}

void FusedBlockRun(int nthread, const SpmmTerm term[], int nterm, const SysReal *made, FusedBlockFunction f, const FusedBlockPass *pass, SysReal *partial, SysReal *sums)
{
  const FusedBlockKernels *kernels = FusedBlockHostKernels();
  const int64_t            rows = FusedBlockRows(pass->width, pass->bs), nblock = FusedBlockCount(pass->n, pass->width, pass->bs);
  const int                nsum = FUSED_SUMS * pass->width;

#pragma omp parallel for schedule(static) num_threads(nthread) if (nthread > 1)
  for (int64_t k = 0; k < nblock; k++) {
    SysReal       product[FUSED_BLOCK_BYTES / sizeof(SysReal)] __attribute__((aligned(SPMM_ALIGN)));
    const int64_t lo = k * rows, hi = k + 1 < nblock ? lo + rows : pass->n;

    if (nterm) kernels->mult(pass->width, term, nterm, pass->n, lo, hi, product);
    f(pass, lo, hi, nterm ? product : made ? made + lo * pass->width : NULL, sums ? partial + k * nsum : NULL);
  }
  if (!sums) return;
  for (int s = 0; s < nsum; s++) sums[s] = 0;
  for (int64_t k = 0; k < nblock; k++) {
    for (int s = 0; s < nsum; s++) sums[s] += partial[k * nsum + s];
  }
}

void FusedBlockMult(int nthread, int width, int64_t n, const SpmmTerm term[], int nterm, SysReal *product)
{
  const FusedBlockKernels *kernels = FusedBlockHostKernels();
  const int64_t            rows    = FusedBlockRows(width, 1);

#pragma omp parallel for schedule(static) num_threads(nthread) if (nthread > 1)
  for (int64_t r = 0; r < n; r += rows) kernels->mult(width, term, nterm, n, r, SysMin(r + rows, n), product + r * width);
}

void FusedBlockCopy(int nthread, int64_t n, int width, const SysReal *from, SysReal *to)
{
  const int64_t rows = FusedBlockRows(width, 1);

#pragma omp parallel for schedule(static) num_threads(nthread) if (nthread > 1)
  for (int64_t r = 0; r < n; r += rows) {
    const size_t size = (size_t)(SysMin(rows, n - r) * width) * sizeof(SysReal);

    if (from) memcpy(to + r * width, from + r * width, size);
    else memset(to + r * width, 0, size);
  }
}

#define GET_ROWS 64 /* rows copied from all columns in turn, in cache */

void FusedBlockGet(int nthread, int64_t n, int width, const SysReal *panel, int nlane, const int lane[], const int to[], SysReal *columns, int64_t ld)
{
#pragma omp parallel for schedule(static) num_threads(nthread) if (nthread > 1)
  for (int64_t r = 0; r < n; r += GET_ROWS) {
    const int64_t end = SysMin(r + GET_ROWS, n);

    for (int k = 0; k < nlane; k++) {
      for (int64_t i = r; i < end; i++) columns[to[k] * ld + i] = panel[i * width + lane[k]];
    }
  }
}

void FusedBlockCompact(int64_t n, int width, SysReal *panel, int nlane, const int lane[], int newwidth)
{
  for (int64_t i = 0; i < n; i++) {
    SysReal row[FUSED_BLOCK_COLUMNS] = {0};

    for (int k = 0; k < nlane; k++) row[k] = panel[i * width + lane[k]];
    memcpy(panel + i * newwidth, row, (size_t)newwidth * sizeof(SysReal));
  }
}
