/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Sparse matrix products on the host, on raw CSR arrays: hash, vectorised hash, heap and dense accumulators. Nothing here or below knows PETSc's
   objects.

   Reference:
.  * - Y. Nagasaka, "Sparse matrix computations on many-core processors", doctoral thesis, Tokyo Institute of Technology, 2019, chapter 6
*/
#pragma once

#include "ambtypes.h"

/* The columns of a row ascend, none is there twice */
typedef struct {
  int64_t          m, n;
  const AmbInt    *i, *j;
  const AmbScalar *a;
} SpgemmCSR;

typedef enum {
  SPGEMM_AB,   /* A B */
  SPGEMM_ATB,  /* A^T B */
  SPGEMM_ABT,  /* A B^T */
  SPGEMM_PTAP, /* B^T A B */
  SPGEMM_RART, /* B A B^T */
  SPGEMM_ABC   /* A B C */
} SpgemmType;

typedef enum {
  SPGEMM_AUTO,
  SPGEMM_HASH,
  SPGEMM_HASHVEC,
  SPGEMM_HEAP,
  SPGEMM_DENSE
} SpgemmAccumulator;

typedef enum {
  SPGEMM_SUCCESS,
  SPGEMM_OUT_OF_MEMORY,
  SPGEMM_TOO_LARGE /* the result has more entries than AmbInt counts: SpgemmInfo.nonzeros tells how many */
} SpgemmStatus;

typedef struct {
  SpgemmAccumulator accumulator;
  int               nthread;
} SpgemmOptions;

typedef struct {
  double      products;     /* multiplications, of all factors */
  double      nonzeros;     /* of the result */
  double      bytes_kept;   /* for new values: intermediate results and permutations */
  double      bytes_peak;   /* the most that was allocated at a time besides the result, bytes_kept included */
  double      rows[5];      /* rows by the accumulator that served them, by SpgemmAccumulator; [0]: copied, without one */
  const char *instructions; /* "avx512", "avx2" or "plain" */
} SpgemmInfo;

typedef struct _Spgemm Spgemm;

/* Makes the product, pattern and values, as far as it can without the arrays of the result. The operands must stay as they are until SpgemmFill(). */
SpgemmStatus SpgemmCreate(SpgemmType, const SpgemmCSR *A, const SpgemmCSR *B, const SpgemmCSR *C, const SpgemmOptions *, Spgemm **, SpgemmInfo *);
int64_t      SpgemmNonzeros(const Spgemm *);

/* Where the rows of the result begin, m + 1 numbers; until SpgemmFill() */
const AmbInt *SpgemmRowStarts(const Spgemm *);

/* The result, its columns ascending: i of m + 1, j and a of SpgemmNonzeros(). What was only needed for this is freed. */
SpgemmStatus SpgemmFill(Spgemm *, const SpgemmCSR *A, const SpgemmCSR *B, const SpgemmCSR *C, AmbInt *i, AmbInt *j, AmbScalar *a);

/* New values of the same operands, in the pattern that SpgemmFill() made */
SpgemmStatus SpgemmRevalue(Spgemm *, const SpgemmCSR *A, const SpgemmCSR *B, const SpgemmCSR *C, const AmbInt *i, const AmbInt *j, AmbScalar *a);

void SpgemmGetInfo(const Spgemm *, SpgemmInfo *);
void SpgemmDestroy(Spgemm **);
