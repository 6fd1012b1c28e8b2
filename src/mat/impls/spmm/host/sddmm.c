/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Sampled products of dense matrices on the host: entries of D1 D2^T in the pattern of a sparse matrix
*/
#include "sys/systhreads.h"
#include "mat/impls/spmm/host/spmmhost.h"

int SddmmPanelColumns(int64_t ncol, int *width)
{
  const int n = SpmmPanelColumns(ncol, width), least = SPMM_ALIGN / (int)sizeof(SysReal);

  if (*width < least) *width = least;
  return n;
}

int64_t SddmmWorkSize(int width)
{
  return SPMM_BLOCK * (int64_t)width;
}

void SddmmValues(int nthread, int64_t m, const SpmmTerm *term, const SysReal *left, int64_t ld, int ncol, int width, int add, int scale, SysReal *work, SysReal *values)
{
  const SpmmKernels *kernels = SpmmHostKernels();

#pragma omp parallel for schedule(static, 1) num_threads(nthread) if (nthread > 1)
  for (int t = 0; t < nthread; t++) {
    const int64_t end  = SpmmFirstRow(t + 1, nthread, m, term, 1);
    SpmmHeld      held = {0, 0};
    SysReal      *rows = work + t * SddmmWorkSize(width), *panel = term->panel + (term->ring ? t * SpmmRingSize(term->ring, width) : 0);

    for (int64_t r = SpmmFirstRow(t, nthread, m, term, 1); r < end; r += SPMM_BLOCK) {
      const int64_t n = SysMin(SPMM_BLOCK, end - r);

      if (term->ring) SpmmAdvance(term, r, r + n, ncol, width, panel, &held);
      kernels->pack(n, ncol, width, left + r, ld, rows);
      kernels->dots(term, panel, rows, width, r, r + n, add, scale, values);
    }
  }
}
