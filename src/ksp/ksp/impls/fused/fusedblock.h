/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Passes over blocks of vectors on the host, for Krylov methods and cycles that solve for several right-hand sides together

   Idea. A block of vectors is stored by rows, a panel as in mat/impls/spmm/host/spmmhost.h: a product reads a matrix once for all columns, and a row of the panel is
   a register or a few. A pass multiplies FUSED_BLOCK_BYTES of rows, and uses these rows of the product while they are in the first-level cache.

         panels of n rows        FusedBlockRun()
         | x r z p w |   rows ->  product of the rows, in cache  ->  the pass: sums, updates, preconditioner

   Order. A pass sums within blocks of rows, and then over the blocks: the result does not depend on the number of threads. Columns do not mix, so that NaN and Inf stay in their column.

   Work space. The sums of each block of rows.

   Callers. KSPMatSolve() of KSPAMBCG, PCMatApply() of PCMG.
*/
#pragma once

#include "ksp/ksp/impls/fused/fusedhost.h"
#include "mat/impls/spmm/host/spmmhost.h"

#define FUSED_BLOCK_COLUMNS (SPMM_VECTORS * SPMM_ALIGN / (int)sizeof(SysReal)) /* most columns of a panel */
#define FUSED_BLOCK_BYTES   16384                                              /* of the rows that a pass works on together */

typedef struct {
  FusedKind      kind; /* of M, and d as in FusedPass */
  int            bs;
  int            width; /* of all panels, in numbers: as SpmmPanelColumns() sets it */
  int64_t        n;     /* rows */
  const SysReal *d;
  SysReal        a[FUSED_BLOCK_COLUMNS], b[FUSED_BLOCK_COLUMNS], c[FUSED_BLOCK_COLUMNS]; /* factors of each column */
  SysReal       *v[FUSED_VECTORS];                                                       /* panels */
} FusedBlockPass;

/* One pass over rows lo to hi - 1, which are whole blocks of M. product: these rows of the product, or NULL without one. Sets FUSED_SUMS times width sums unless sums is NULL. */
typedef void (*FusedBlockFunction)(const FusedBlockPass *, int64_t lo, int64_t hi, const SysReal *product, SysReal *sums);

typedef struct {
  const char *name;
  int (*supported)(void);

  /* Computes rows lo to hi - 1 of the m rows of the sum of the terms, which have no ring and no positions */
  void (*mult)(int width, const SpmmTerm term[], int nterm, int64_t m, int64_t lo, int64_t hi, SysReal *product);

  /* An iteration of conjugate gradients updates x with the next direction, which reads p too, and stores no z unless kind is FUSED_OTHER: then the caller sets z */
  FusedBlockFunction step;      /* r -= a w; sums z.r, z.z, r.r of z = M r; with FUSED_OTHER r.r only */
  FusedBlockFunction apply;     /* the same sums */
  FusedBlockFunction direction; /* x += a p; p = M r + b p, or z + b p */
  FusedBlockFunction update;    /* x += a p */
  FusedBlockFunction dot;       /* w = product; sums p.w */
  FusedBlockFunction residual;  /* w = r - product */
  FusedBlockFunction add;       /* x += product */
  FusedBlockFunction chebyshev; /* x = a M (r - product) + b p + c z, without the product and b p if p is NULL, without c z if z is NULL; x may be p without a product, or z. Sums x.r, x.x, r.r */
} FusedBlockKernels;

extern const FusedBlockKernels FusedBlockKernelsPlain, FusedBlockKernelsAVX2, FusedBlockKernelsAVX512;

/* The table for this processor */
const FusedBlockKernels *FusedBlockHostKernels(void);

/* Returns the number of blocks of rows, each with FUSED_SUMS times width partial sums */
int64_t FusedBlockCount(int64_t n, int width, int bs);

/* Runs a pass after the product, the sum of nterm terms; with 0 terms the product is the panel made, or there is none. partial: as FusedBlockCount() says, or NULL without sums. */
void FusedBlockRun(int nthread, const SpmmTerm term[], int nterm, const SysReal *made, FusedBlockFunction, const FusedBlockPass *, SysReal *partial, SysReal *sums);

/* The product alone */
void FusedBlockMult(int nthread, int width, int64_t n, const SpmmTerm term[], int nterm, SysReal *product);

/* Copies a panel, or sets it to zero if from is NULL */
void FusedBlockCopy(int nthread, int64_t n, int width, const SysReal *from, SysReal *to);

/* Copies nlane columns of a panel: lane[k] to columns + to[k] ld */
void FusedBlockGet(int nthread, int64_t n, int width, const SysReal *panel, int nlane, const int lane[], const int to[], SysReal *columns, int64_t ld);

/* Reduces a panel, in place, to nlane of its columns and a smaller width, the further columns zero; lane[] ascends */
void FusedBlockCompact(int64_t n, int width, SysReal *panel, int nlane, const int lane[], int newwidth);
