/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Products of a sparse and a dense matrix on the host (SpMM: C = A D or A^T D; SDDMM: entries of D1 D2^T in the pattern of A), on raw arrays of real
   numbers. cuda/spmmcuda.h has the variant for a GPU.

   Idea. A dense matrix is stored by columns, but a kernel reads rows of D. So a few columns at a time are packed by rows into a panel, and the sum of
   a row of C stays in registers.

         D, by columns          panel, by rows               C
         | | | | | |            d00 d01 .. d0w               SPMM_BLOCK rows in cache,
         | | | | | |   pack ->  d10 d11 .. d1w   multiply -> then written as columns
         | | | | | |            ...
          w columns             w <= SPMM_VECTORS * SPMM_ALIGN bytes; zeros after the last column

   If A is a band, each thread packs rows of D shortly before it reads them, into a ring that stays in its cache: the panel then causes no memory
   traffic. No entry of A is filled in, so NaN and Inf reach exactly the results of their rows.

   Order. A sum's order depends only on the row of A and the width of the panel: the bits do not depend on the number of threads.

   Work space. One panel of n rows, or one ring a thread; A^T D needs the transposed pattern, 2 integers an entry. SDDMM needs SddmmWorkSize() numbers
   a thread.

   Complexity. O(nz K) operations; per panel A is read once, D and C are read and written once.

   Callers. glue/spmmhost.c and glue/sddmm.c (MatProduct algorithm "spmm", MatSDDMM()); MatBatch uses the transposed pattern.
*/
#pragma once

#include "sys/syscsr.h"

#define SPMM_ALIGN   64 /* bytes: a panel's row is a multiple of this, or 16 or 32 bytes */
#define SPMM_VECTORS 4  /* most units of SPMM_ALIGN bytes in a panel's row */

#define SPMM_BLOCK 512 /* rows of the result computed before they are written as columns; they fit the second-level cache */

/* One term of a product: rows of a sparse matrix, and the dense matrix. The value of entry k is a[position[k]], or a[k] if position is NULL. */
typedef struct {
  const SysInt  *i, *j, *position;
  const SysReal *a;
  int64_t        n;       /* rows of the dense matrix */
  int64_t        ring;    /* rows of the panel, a power of two, if SpmmMult() packs columns[] into a ring; 0: the panel has all n rows, already packed */
  const SysReal *columns; /* first column of the dense matrix; leading dimension ld */
  int64_t        ld;
  SysReal       *panel; /* with a ring: one for each thread, SpmmRingSize() numbers apart */
} SpmmTerm;

typedef struct {
  const char *name;
  int (*supported)(void);

  /* packs n rows of ncol columns into a panel of this width; unpack is the inverse */
  void (*pack)(int64_t n, int ncol, int width, const SysReal *columns, int64_t ld, SysReal *panel);
  void (*unpack)(int64_t n, int ncol, int width, const SysReal *panel, SysReal *columns, int64_t ld);

  /* sets the least and the greatest of n numbers */
  void (*reach)(int64_t n, const SysInt *j, SysInt *least, SysInt *greatest);

  /* computes rows r0 to r1 - 1 of the sum of the terms into result, which begins with row r0; panel[t] belongs to term t */
  void (*mult)(const SpmmTerm term[], int nterm, SysReal *const panel[], int width, int64_t r0, int64_t r1, SysReal *result);

  /* for the entries of rows r0 to r1 - 1, sets or adds to values the products of row r - r0 of `rows` with the panel's row of the entry's column;
     then, if scale is not 0, multiplies values by the term's */
  void (*dots)(const SpmmTerm *term, const SysReal *panel, const SysReal *rows, int width, int64_t r0, int64_t r1, int add, int scale, SysReal *values);
} SpmmKernels;

extern const SpmmKernels SpmmKernelsPlain, SpmmKernelsAVX2, SpmmKernelsAVX512;

/* Returns the kernels for this processor */
const SpmmKernels *SpmmHostKernels(void);

/* Returns the columns of the next panel if ncol columns remain, and sets its width in numbers */
int SpmmPanelColumns(int64_t ncol, int *width);

/* Returns the rows of a ring for the pattern of m rows, or 0 if its rows reach too far and a whole panel is better */
int64_t SpmmRing(int64_t m, int64_t n, const SysInt i[], const SysInt j[]);

/* Returns the distance of two threads' rings in numbers */
int64_t SpmmRingSize(int64_t ring, int width);

/* Packs all n rows of a panel; SpmmUnpack() is the inverse */
void SpmmPack(int nthread, int64_t n, int ncol, int width, const SysReal *columns, int64_t ld, SysReal *panel);
void SpmmUnpack(int nthread, int64_t n, int ncol, int width, const SysReal *panel, SysReal *columns, int64_t ld);

#define SPMM_TERMS 2 /* most terms of a product */

/* Computes the sum of the terms, m rows of ncol columns; ld == 0: the result is a panel */
void SpmmMult(int nthread, int64_t m, const SpmmTerm term[], int nterm, int ncol, int width, SysReal *result, int64_t ld);

/* Returns the columns of the next panel of SddmmValues(), and sets its width: at least SPMM_ALIGN bytes */
int SddmmPanelColumns(int64_t ncol, int *width);

/* Returns the numbers of a thread's work space in SddmmValues() */
int64_t SddmmWorkSize(int width);

/* For the entries of m rows, computes sums over ncol columns of the products of two dense matrices, as SpmmKernels.dots does. left: columns of the
   matrix with the rows of A. */
void SddmmValues(int nthread, int64_t m, const SpmmTerm *term, const SysReal *left, int64_t ld, int ncol, int width, int add, int scale, SysReal *work, SysReal *values);

/* Returns the first row of part t of nthread parts with about equal numbers of entries and rows */
int64_t SpmmFirstRow(int t, int nthread, int64_t m, const SpmmTerm term[], int nterm);

/* The rows of the dense matrix in a ring: lo to hi - 1 */
typedef struct {
  int64_t lo, hi;
} SpmmHeld;

/* Packs into a ring the further rows that rows r0 to r1 - 1, at most SPMM_BLOCK, need; the ring holds all of them */
void SpmmAdvance(const SpmmTerm *term, int64_t r0, int64_t r1, int ncol, int width, SysReal *ring, SpmmHeld *held);

/* The pattern of A^T, with each value's position in A: new values need no update */
typedef struct {
  int64_t n, nz;
  SysInt *i, *j, *position;
} SpmmTransposed;

SysStatus SpmmTranspose(const SysCSR *A, SpmmTransposed *);
void      SpmmTransposedDestroy(SpmmTransposed *);
