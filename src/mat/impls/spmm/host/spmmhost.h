/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Products of sparse and dense matrices on the host, on raw arrays of real numbers.

   A dense matrix is stored by columns, and a kernel wants the entries of a row side by side. Some columns at a time are therefore packed into the rows of a
   panel. If the sparse matrix is a band, each thread packs rows shortly before it needs them, into a ring that stays in the cache: the panel then costs no
   traffic of the memory. The entries of a row of a panel behind the columns are 0. No entry of the sparse matrix is filled in, so that NaN and Inf reach exactly
   the results that they belong to.

   The order of a sum depends on the sparse row and on the width of the panel alone: the bits are the same, whatever the number of threads.
*/
#pragma once

#include "sys/syscsr.h"

#define SPMM_ALIGN   64 /* bytes: the row of a panel is a multiple of these, or 16 or 32 */
#define SPMM_VECTORS 4  /* so many times SPMM_ALIGN bytes at most are a row of a panel */

#define SPMM_BLOCK 512 /* rows of the result that are made before they are written as columns: they fit in the second-level cache */

/* One term of a product: rows of a sparse matrix, and the rows of a dense matrix that their columns name. The value of entry k is a[place[k]], or a[k] if place
   is NULL. */
typedef struct {
  const SysInt  *i, *j, *place;
  const SysReal *a;
  int64_t        n;       /* rows of the dense matrix */
  int64_t        ring;    /* a panel has so many rows, a power of two, and SpmmMult() packs columns[]; 0: the panel has n rows, which are packed */
  const SysReal *columns; /* the first of the dense matrix; the next ones follow after ld numbers each */
  int64_t        ld;
  SysReal       *panel; /* with a ring: one for each thread, SpmmRingSize() numbers apart */
} SpmmTerm;

typedef struct {
  const char *name;
  int (*supported)(void);

  /* n rows of ncol columns, from or to a panel of that width */
  void (*pack)(int64_t n, int ncol, int width, const SysReal *columns, int64_t ld, SysReal *panel);
  void (*unpack)(int64_t n, int ncol, int width, const SysReal *panel, SysReal *columns, int64_t ld);

  /* The least and the greatest of n numbers */
  void (*reach)(int64_t n, const SysInt *j, SysInt *least, SysInt *greatest);

  /* Rows r0 to r1 - 1 of the sum of the terms; panel[t] is that of term t, and result begins with row r0 */
  void (*mult)(const SpmmTerm term[], int nterm, SysReal *const panel[], int width, int64_t r0, int64_t r1, SysReal *result);

  /* For the entries of rows r0 to r1 - 1, the products of row r - r0 of rows with the rows of panel that their columns name. These are set in values, or added
     to them. Then the values are multiplied by those of the term, if scale is not 0. */
  void (*dots)(const SpmmTerm *term, const SysReal *panel, const SysReal *rows, int width, int64_t r0, int64_t r1, int add, int scale, SysReal *values);
} SpmmKernels;

extern const SpmmKernels SpmmKernelsPlain, SpmmKernelsAVX2, SpmmKernelsAVX512;

/* The table for this processor */
const SpmmKernels *SpmmHostKernels(void);

/* The columns of the next panel if ncol columns are left, and the width of that panel in numbers */
int SpmmPanelColumns(int64_t ncol, int *width);

/* The rows of a ring that serves the pattern of m rows, or 0 if the whole panel is better: the rows reach too far */
int64_t SpmmRing(int64_t m, int64_t n, const SysInt i[], const SysInt j[]);

/* Numbers from one thread's ring to that of the next */
int64_t SpmmRingSize(int64_t ring, int width);

/* All n rows of a panel, from columns or to them */
void SpmmPack(int nthread, int64_t n, int ncol, int width, const SysReal *columns, int64_t ld, SysReal *panel);
void SpmmUnpack(int nthread, int64_t n, int ncol, int width, const SysReal *panel, SysReal *columns, int64_t ld);

#define SPMM_TERMS 2 /* at most */

/* The sum of the terms, m rows of ncol columns. It is a panel without columns if ld is 0. */
void SpmmMult(int nthread, int64_t m, const SpmmTerm term[], int nterm, int ncol, int width, SysReal *result, int64_t ld);

/* The width of a panel for SddmmValues() with that many columns: not less than SPMM_ALIGN bytes */
int SddmmPanelColumns(int64_t ncol, int *width);

/* Numbers that a thread of SddmmValues() works in */
int64_t SddmmWorkSize(int width);

/* For the entries of m rows, sums over ncol columns of the products of two dense matrices, as by dots. left are the columns that belong to the rows. */
void SddmmValues(int nthread, int64_t m, const SpmmTerm *term, const SysReal *left, int64_t ld, int ncol, int width, int add, int scale, SysReal *work, SysReal *values);

/* The first row of part t of nthread, which have about as many entries and rows each */
int64_t SpmmFirstRow(int t, int nthread, int64_t m, const SpmmTerm term[], int nterm);

/* The rows of the dense matrix in a ring: lo to hi - 1 */
typedef struct {
  int64_t lo, hi;
} SpmmHeld;

/* Packs into a ring what rows r0 to r1 - 1 need in addition, at most SPMM_BLOCK rows; the ring has room for all they need */
void SpmmAdvance(const SpmmTerm *term, int64_t r0, int64_t r1, int ncol, int width, SysReal *ring, SpmmHeld *held);

/* The pattern of the transposed matrix. Its values are those of the matrix, in other places: they need not be renewed. */
typedef struct {
  int64_t n, nz;
  SysInt *i, *j, *place;
} SpmmTransposed;

SysStatus SpmmTranspose(const SysCSR *A, SpmmTransposed *);
void      SpmmTransposedDestroy(SpmmTransposed *);
