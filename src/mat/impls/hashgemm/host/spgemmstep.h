/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The steps of a sparse product on the host, for the files that run them
*/
#pragma once

#include "mat/impls/hashgemm/host/spgemmimpl.h"

#if defined(SYS_INT64)
  #define SPGEMM_INT_MAX INT64_MAX
#else
  #define SPGEMM_INT_MAX INT32_MAX
#endif
#define SPGEMM_PART      32768     /* entries of a part that is made in the caches of a thread */
#define SPGEMM_FAR_BYTES (4 << 20) /* of B, from which on its rows come from beyond the caches of a core */

typedef struct SpgemmChain SpgemmChain;

/* One product of two matrices: its rows are cut into parts with as many multiplications each, which the threads take one after another */
typedef struct {
  int64_t *cuts;
  int      nthread, npart;
  int64_t  m;
  double   nonzeros;
  SysInt  *i;            /* until it is in the result */
  uint8_t *same, *shift; /* a byte for each row of B */
  int64_t  rowsB;
  double   longestB;
  int64_t  batch;
  int64_t *bound; /* entries that the rows before each part can have at most */
  /* made without having been counted */
  SysInt    *j;
  SysScalar *a;
  size_t     size_j, size_a;
  int        room; /* in the arrays of the result */
  /* new values: how often they were made, and the places of products, those of part t from placed[t] on */
  int       again;
  int64_t  *placed;
  uint16_t *places;
  size_t    size_places;
} SpgemmStep;

struct _Spgemm {
  SpgemmType           type;
  SpgemmOptions        options;
  const SpgemmKernels *kernels;
  int                  reverse; /* of two steps, the other order */
  int                  nstep;
  SpgemmStep           step[2]; /* the last makes the result */
  SpgemmTranspose      transpose;
  SysCSR               inner; /* the result of the first of two steps */
  SpgemmWords          words;
  SpgemmChain         *chain; /* NULL: the intermediates are whole */
  double               bytes; /* now */
  SpgemmInfo           info;
};

void SpgemmAccount(Spgemm *, double bytes);

/* The operands of a step; those of the first come from the arguments and the transpose alone */
SpgemmProduct SpgemmStepOperands(const Spgemm *, int step, const SysCSR *A, const SysCSR *B, const SysCSR *C);

/* Sets the rows of a batch, which threads take as a whole: rows of two batches are never made together, so that the bits of a row do not depend on the number of
   threads. A part of so many entries has two batches, where that is not too few rows or too many. entries: of a row. */
void SpgemmTakeBatch(SpgemmProduct *, SpgemmStep *, double part, double entries);

/* RowsToThreads of the thesis. most: products of a part at most, but for longer rows; 0 if a part may be as large as it likes. least: parts. */
SysStatus SpgemmRowsToThreads(Spgemm *, const SpgemmProduct *, SpgemmStep *, double most, int least);

/* Memory for the entries of a step; returns 0 without it. The entries that options->room gave are not released. */
int  SpgemmAllocateEntries(SpgemmStep *, SpgemmProduct *, int64_t entries);
void SpgemmReleaseEntries(SpgemmStep *);

/* The tables of all threads; NULL without memory. Their end adds their figures to those of the product. */
SpgemmWork *SpgemmWorksCreate(const Spgemm *);
void        SpgemmWorksEnd(Spgemm *, SpgemmWork *, int made);

/* Makes the parts first <= t < last, without having counted; *end: where their entries begin in P->j and P->a, then where they end */
SysStatus SpgemmMakeParts(const Spgemm *, const SpgemmProduct *, const SpgemmStep *, int first, int last, int64_t *end, SpgemmWork *);

/* From the lengths of the rows to the row pointers; the first one is set */
SysStatus SpgemmSumI(Spgemm *, SpgemmStep *);

/* Sets *yes if the result should be made without having been counted, *most to the products of as many entries as the caches of a thread have room for, and *expected
   to the entries of the result */
SysStatus SpgemmCompresses(const Spgemm *, const SpgemmProduct *, int *yes, double *most, double *expected);

/* Are sums of rows to be stamped? entries: of the result */
int SpgemmStamps(const Spgemm *, const SpgemmProduct *, double most, double entries);

void SpgemmStream(SpgemmProduct *, double nonzeros);

/* Prepares new values of a step: the first count the products that places serve, the second get memory for places */
void SpgemmRevalueBegin(Spgemm *, SpgemmStep *, SpgemmProduct *);
void SpgemmRevalueEnd(Spgemm *, SpgemmStep *, SysStatus);

/* The part of a sample of the rows that have the columns of the row before, moved by so many columns */
double SpgemmLikeRowsSample(const SysCSR *, int by);
