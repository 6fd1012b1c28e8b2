/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Steps of a sparse product on the host, shared by spgemmhost.c and spgemmchain.c
*/
#pragma once

#include "mat/impls/hashgemm/host/spgemmimpl.h"

#if defined(SYS_INT64)
  #define SPGEMM_INT_MAX INT64_MAX
#else
  #define SPGEMM_INT_MAX INT32_MAX
#endif

typedef struct SpgemmChain SpgemmChain;

/* One product of two matrices. Its rows are cut into parts of equal multiplications, which threads take in order. */
typedef struct {
  int64_t *cuts;
  int      nthread, npart;
  int64_t  m;
  double   nonzeros;
  SysInt  *i;            /* until it is part of the result */
  uint8_t *same, *shift; /* one byte for each row of B */
  int64_t  rowsB;
  double   longestB;
  int64_t  batch;
  int64_t *bound; /* most entries of the rows before each part */
  /* computed without a count */
  SysInt    *j;
  SysScalar *a;
  size_t     size_j, size_a;
  int        room; /* in the result's arrays */
  /* new values: number of times computed, and the products' positions, part t's from placed[t] on */
  int       again;
  int64_t  *placed;
  uint16_t *positions;
  size_t    size_positions;
} SpgemmStep;

struct _Spgemm {
  SpgemmType           type;
  SpgemmOptions        options;
  const SpgemmKernels *kernels;
  int                  reverse; /* of two steps, in the other order */
  int                  nstep;
  SpgemmStep           step[2]; /* the last computes the result */
  SpgemmTranspose      transpose;
  SysCSR               inner; /* the first step's result */
  SpgemmWords          words;
  SpgemmChain         *chain; /* or NULL: whole steps */
  double               bytes; /* current */
  SpgemmInfo           info;
};

void SpgemmAccount(Spgemm *, double bytes);

/* Returns a step's operands; the first step's come from the arguments and the transpose alone */
SpgemmProduct SpgemmStepOperands(const Spgemm *, int step, const SysCSR *A, const SysCSR *B, const SysCSR *C);

/* Sets the batch. Threads take whole batches, and rows of two batches are never computed together, so a row's bits do not depend on the number of
   threads. A part of `part` entries has two batches, within the limits. entries: of a row. */
void SpgemmSetBatch(SpgemmProduct *, SpgemmStep *, double part, double entries);

/* RowsToThreads of the thesis. most: products of a part, unless a single row has more; 0: no limit. least: parts. */
SysStatus SpgemmRowsToThreads(Spgemm *, const SpgemmProduct *, SpgemmStep *, double most, int least);

/* Allocates a step's entries; returns 0 if memory is short. Releases them unless they are in options->room. */
int  SpgemmAllocateEntries(SpgemmStep *, SpgemmProduct *, int64_t entries);
void SpgemmReleaseEntries(SpgemmStep *);

/* Creates the work space of all threads, or NULL. SpgemmWorksEnd() destroys it, and adds its figures to the product's if made. */
SpgemmWork *SpgemmWorksCreate(const Spgemm *);
void        SpgemmWorksEnd(Spgemm *, SpgemmWork *, int made);

/* Computes the parts first <= t < last without a count. *end: position of their first entry in P->j and P->a, then of the entry behind their last. */
SysStatus SpgemmMakeParts(const Spgemm *, const SpgemmProduct *, const SpgemmStep *, int first, int last, int64_t *end, SpgemmWork *);

/* Sums the lengths of the rows to row starts; the first is set */
SysStatus SpgemmSumI(Spgemm *, SpgemmStep *);

/* Sets *yes if the result is computed without a count, *most to the products whose entries fit a thread's caches, and *expected to the result's entries */
SysStatus SpgemmCompresses(const Spgemm *, const SpgemmProduct *, int *yes, double *most, double *expected);

/* Returns whether sums of rows are stamped. entries: of the result. */
int SpgemmStamps(const Spgemm *, const SpgemmProduct *, double most, double entries);

void SpgemmStream(SpgemmProduct *, double nonzeros);

/* Prepares new values of a step: the first request counts the products' positions, the second allocates them. SpgemmRevalueEnd() follows. */
void SpgemmRevalueBegin(Spgemm *, SpgemmStep *, SpgemmProduct *);
void SpgemmRevalueEnd(Spgemm *, SpgemmStep *, SysStatus);

/* Returns the fraction of a sample of rows that have their predecessor's columns, moved by `by` */
double SpgemmLikeRowsSample(const SysCSR *, int by);

/* P^T (A P) in chunks of the rows of A P, see spgemmchain.c */

/* Returns whether chunks may be better, from the operands. The transpose then has no values. */
int SpgemmChainPossible(const Spgemm *, const SysCSR *A, const SysCSR *P);

/* Returns the number of chunks, or 1 if whole steps are better, once the transpose exists */
int SpgemmChainChunks(const Spgemm *, const SysCSR *A);

/* Computes both steps; the first is prepared and has memory for its entries. Computes only the first, and the transpose's values, with S->chain NULL, if the
   result should be counted. */
SysStatus SpgemmChainMake(Spgemm *, SpgemmProduct *, const SysCSR *P, int chunks);

/* Copies the result's entries and releases them. A: the operand */
void SpgemmChainFill(Spgemm *, const SysCSR *A, const SysInt *i, SysInt *j, SysScalar *a);

/* Computes new values */
SysStatus SpgemmChainRevalue(Spgemm *, const SysCSR *A, const SysCSR *P, const SysInt *i, const SysInt *j, SysScalar *a);
void      SpgemmChainDestroy(Spgemm *);
