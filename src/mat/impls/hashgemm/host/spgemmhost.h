/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Sparse matrix products on the host, on raw CSR arrays: hash, vectorised hash, heap, dense and sorting accumulators. Nothing here or below knows PETSc's
   objects.

   Reference:
.  * - Y. Nagasaka, "Performance optimization of sparse matrix kernels for many-core architectures", doctoral thesis, Tokyo Institute of Technology, 2019, chapter 6
*/
#pragma once

#include "sys/syscsr.h"

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
  SPGEMM_HEAP, /* for comparison */
  SPGEMM_DENSE,
  SPGEMM_ESC,   /* expand, sort in registers, compress */
  SPGEMM_MERGE, /* device only, for comparison; the host runs SPGEMM_AUTO */
  SPGEMM_TABLE  /* columns and sums: on a device for comparison; the host's SPGEMM_HASH */
} SpgemmAccumulator;

#define SPGEMM_HOST_ROWS (SPGEMM_ESC + 1) /* kinds of rows on the host */

/* Arrays of a result that is made before its entries are counted, with room for some entries more than it has; 0 if there are none */
typedef int SpgemmRoom(void *context, int64_t entries, SysInt **j, SysScalar **a);

typedef struct {
  SpgemmAccumulator accumulator;
  int               nthread;
  SpgemmRoom       *room; /* NULL: the result has to be counted first, or copied */
  void             *context;
} SpgemmOptions;

typedef struct {
  double      products;     /* multiplications, of all factors */
  double      nonzeros;     /* of the result */
  double      bytes_kept;   /* for new values: intermediate results, permutations, places, the order of the rows */
  double      bytes_peak;   /* the most that was allocated at a time besides the result, bytes_kept included */
  double      bytes_asked;  /* on a device: what could not be allocated, where memory was short */
  double      rows[9];      /* on the host, by SpgemmAccumulator; [0]: copied, without one. On a device, by SpgemmDeviceRows. */
  double      lines;        /* on a device: rows whose values are made in lines of shifted rows */
  const char *instructions; /* "avx512", "avx2" or "plain"; NULL on a device */
} SpgemmInfo;

typedef struct _Spgemm Spgemm;

/* Rows and columns of the product; C only matters for ABC, here and below */
static inline void SpgemmSize(SpgemmType type, const SysCSR *A, const SysCSR *B, const SysCSR *C, int64_t *m, int64_t *n)
{
  const SysCSR *left = type == SPGEMM_PTAP || type == SPGEMM_RART ? B : A, *right = type == SPGEMM_ABC ? C : B;

  *m = type == SPGEMM_ATB || type == SPGEMM_PTAP ? left->n : left->m;
  *n = type == SPGEMM_ABT || type == SPGEMM_RART ? right->m : right->n;
}

/* The operand that is transposed, or NULL */
static inline const SysCSR *SpgemmTransposed(SpgemmType type, const SysCSR *A, const SysCSR *B)
{
  return type == SPGEMM_ATB ? A : type == SPGEMM_ABT || type == SPGEMM_PTAP || type == SPGEMM_RART ? B : NULL;
}

/* The two factors of a step: in the first of two steps, whose result is inner, last is 0. T is the transposed operand. reverse: the other order, A (B C) in place
   of (A B) C, (B^T A) B of B^T (A B), (B A) B^T of B (A B^T). */
static inline void SpgemmFactors(SpgemmType type, int last, int reverse, const SysCSR *A, const SysCSR *B, const SysCSR *C, const SysCSR *T, const SysCSR *inner, const SysCSR **left, const SysCSR **right)
{
  /* by SpgemmType */
  const SysCSR *const lefts[]  = {A, T, A, reverse ? (last ? inner : T) : (last ? T : A), reverse ? (last ? inner : B) : (last ? B : A), reverse ? (last ? A : B) : (last ? inner : A)};
  const SysCSR *const rights[] = {B, B, T, reverse ? (last ? B : A) : (last ? inner : B), reverse ? (last ? T : A) : (last ? inner : T), reverse ? (last ? inner : C) : (last ? C : B)};

  *left  = lefts[type];
  *right = rights[type];
}

/* The other order of two steps is taken if its first step has fewer products: for three operands anyway; for P^T A P and R A R^T only if it has less than half of
   them. There the second steps of both orders have as many, unless entries of the first result meet, which the usual order makes them do more often. */
static inline int SpgemmReverses(SpgemmType type, double usual, double reverse)
{
  return type == SPGEMM_ABC ? reverse < usual : 2 * reverse < usual;
}

/* Makes the product, pattern and values, as far as it can without the arrays of the result, or in the arrays that options->room gives. The operands must stay as
   they are until SpgemmFill(). */
SysStatus SpgemmCreate(SpgemmType, const SysCSR *A, const SysCSR *B, const SysCSR *C, const SpgemmOptions *, Spgemm **, SpgemmInfo *);
int64_t   SpgemmNonzeros(const Spgemm *);

/* Where the rows of the result begin, m + 1 numbers; until SpgemmFill() */
const SysInt *SpgemmRowStarts(const Spgemm *);

/* The result, its columns ascending: i of m + 1, j and a of SpgemmNonzeros(), or those that options->room gave. Memory that new values do not need is freed. */
SysStatus SpgemmFill(Spgemm *, const SysCSR *A, const SysCSR *B, const SysCSR *C, SysInt *i, SysInt *j, SysScalar *a);

/* New values of the same operands, in the pattern that SpgemmFill() made */
SysStatus SpgemmRevalue(Spgemm *, const SysCSR *A, const SysCSR *B, const SysCSR *C, const SysInt *i, const SysInt *j, SysScalar *a);

void SpgemmGetInfo(const Spgemm *, SpgemmInfo *);
void SpgemmDestroy(Spgemm **);
