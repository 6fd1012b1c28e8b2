/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The small least-squares problem of GMRES, on the host and on a device: Givens rotations turn the Hessenberg matrix into a triangular one, column by column.
   Y. Saad and M. H. Schultz, "GMRES: a generalized minimal residual algorithm for solving nonsymmetric linear systems", SIAM J. Sci. Stat. Comput. 7 (1986).
*/
#pragma once

#include <math.h>

#include "sys/systypes.h"

#if defined(__CUDACC__)
  #define FUSED_ANYWHERE static __host__ __device__ inline
#else
  #define FUSED_ANYWHERE static inline
#endif

typedef struct {
  int      restart;
  SysReal *r;       /* column j, first of the Hessenberg, then of the triangular matrix, begins at r + j (restart + 2) */
  SysReal *cs, *sn; /* cosine and sine of each rotation */
  SysReal *g;       /* the right-hand side */
  SysReal *scale;   /* of the stored vectors of the basis: the vectors have norm 1 after scaling */
  SysReal *lower;   /* modified Gram-Schmidt: the product of vectors i and k < i is lower[k (restart + 1) + i] */
  SysReal *h, *c;   /* work: the coefficients of a new vector against the scaled and against the stored vectors */
} FusedHessenberg;

/* Returns the length of memory[], in numbers. Points the arrays into memory[], unless it is NULL. */
FUSED_ANYWHERE int64_t FusedHessenbergLayout(FusedHessenberg *f, int restart, SysReal *memory)
{
  const int64_t m = restart + 2;

  f->restart = restart;
  if (memory) {
    f->r     = memory;
    f->lower = f->r + m * m;
    f->cs    = f->lower + m * m;
    f->sn    = f->cs + m;
    f->g     = f->sn + m;
    f->scale = f->g + m;
    f->h     = f->scale + m;
    f->c     = f->h + m;
  }
  return 2 * m * m + 6 * m;
}

/* Rotates column[], column number `it` with it + 2 numbers, and the right-hand side; returns the norm of the residual. happy: a happy breakdown, in which the last number
   of the column and the residual are 0. *null becomes 1 if the last two numbers are 0, so that no rotation exists. */
FUSED_ANYWHERE SysReal FusedHessenbergRotate(int it, int happy, SysReal *column, SysReal *cs, SysReal *sn, SysReal *g, int *null)
{
  SysReal t;

  *null = 0;
  for (int j = 0; j < it; j++) {
    t             = column[j];
    column[j]     = cs[j] * t + sn[j] * column[j + 1];
    column[j + 1] = cs[j] * column[j + 1] - sn[j] * t;
  }
  if (happy) return 0;
  t = (SysReal)sqrt(column[it] * column[it] + column[it + 1] * column[it + 1]);
  if (t == 0) {
    *null = 1;
    return 0;
  }
  cs[it]     = column[it] / t;
  sn[it]     = column[it + 1] / t;
  g[it + 1]  = -sn[it] * g[it];
  g[it]      = cs[it] * g[it];
  column[it] = cs[it] * column[it] + sn[it] * column[it + 1];
  return (SysReal)fabs(g[it + 1]);
}

/* Solves the triangular system of m columns. Returns the last column with a zero on the diagonal, or -1. flexible, as in PETSc's FGMRES: always returns -1; a zero in
   column m - 1 makes its unknown 0, others make theirs infinite. */
FUSED_ANYWHERE int FusedHessenbergSolve(const FusedHessenberg *f, int m, int flexible, SysReal *y)
{
  const int64_t ld = f->restart + 2;

  for (int k = m - 1; k >= 0; k--) {
    SysReal t = f->g[k];

    for (int j = k + 1; j < m; j++) t -= f->r[k + ld * j] * y[j];
    if (f->r[k + ld * k] != 0) y[k] = t / f->r[k + ld * k];
    else if (!flexible) return k;
    else y[k] = k == m - 1 ? 0 : t / f->r[k + ld * k];
  }
  return -1;
}
