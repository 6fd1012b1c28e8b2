/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Sparse matrix products (SpGEMM) on the host, on raw CSR arrays. cuda/spgemmcuda.h has the variant for a GPU.

   Idea. Row r of C = A B is the sum of the rows of B that row r of A names, scaled (Gustavson). An accumulator gathers that sum. No accumulator is
   best for all rows, so each row gets the one that fits its products and the reach of its columns:

         row of A:   k1  k2  k3          accumulators of a row
         row k1 of B:  . x . . x .         copy       one entry in A
         row k2 of B:  x x . . . .         sort       few products: sorted in registers (AVX-512), or by insertion
         row k3 of B:  . . . . x x         dense      a window of sums, with a bit or a byte a column
                      ------------         hash       a hash table, one key or a vector of keys at a time
         row r of C:   x x . . x x         heap       merges the rows of B; for comparison
                                           runs       rows shifted by one column: stencils on grids, 8 rows side by side

   Passes. Count, then fill (two passes over the products), without intermediate storage, because fresh pages cost more than the second pass. If a
   sample shows many products an entry, rows are computed once and copied instead. P^T A P, R A R^T and A B C are two steps, in the order with fewer
   products.

   Work space. A thread's SpgemmWork: a window of at most SPGEMM_WINDOWS bytes over all threads, a hash table of the longest row, lists of up to
   SPGEMM_LISTED_PRODUCTS products. A copied result releases the first copy page by page, so that both need little more than one. New values may keep the
   positions of products, 2 bytes each, at most three times the memory of operands and result.

   Complexity. O(products) time, plus O(window / 512) a dense row; a hash row is sorted by radix.

   Order. Each sum adds its terms in the order of A's entries, in every accumulator: the bits do not depend on the number of threads.

   Callers. glue/hashgemm.c (one process), glue/hashgemmparallel.c (several).

   Source:
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
  SPGEMM_HASH, /* a hash table of columns and sums; on a device for comparison */
  SPGEMM_HASHVEC,
  SPGEMM_HEAP, /* for comparison */
  SPGEMM_DENSE,
  SPGEMM_ESC,   /* expand, sort in registers, compress */
  SPGEMM_MERGE, /* device only, for comparison; the host runs SPGEMM_AUTO */
  SPGEMM_WORDS  /* device only: a hash table of words of 32 columns; the host runs SPGEMM_AUTO */
} SpgemmAccumulator;

#define SPGEMM_HOST_ROWS (SPGEMM_ESC + 1) /* kinds of rows on the host */

/* Returns arrays for a result that is filled before its entries are counted, with space for some more entries; 0 if there are none */
typedef int SpgemmRoom(void *context, int64_t entries, SysInt **j, SysScalar **a);

typedef struct {
  SpgemmAccumulator accumulator;
  int               nthread;
  SpgemmRoom       *room; /* NULL: the result must be counted first, or copied */
  void             *context;
} SpgemmOptions;

typedef struct {
  double      products;     /* multiplications of all factors */
  double      nonzeros;     /* of the result */
  double      bytes_kept;   /* for new values, 0 if SpgemmFill() freed them: intermediate results, permutations, positions, the order of rows */
  double      bytes_peak;   /* peak of allocations besides the result, including bytes_kept */
  double      bytes_asked;  /* on a device: bytes that could not be allocated */
  double      rows[9];      /* on the host by SpgemmAccumulator, [0]: copied; on a device by SpgemmDeviceRows */
  double      lines;        /* on a device: rows with values computed in lines of shifted rows */
  const char *instructions; /* "avx512", "avx2" or "plain"; NULL on a device */
} SpgemmInfo;

typedef struct _Spgemm Spgemm;

/* Sets the product's rows and columns; here and below C matters only for ABC */
static inline void SpgemmSize(SpgemmType type, const SysCSR *A, const SysCSR *B, const SysCSR *C, int64_t *m, int64_t *n)
{
  const SysCSR *left = type == SPGEMM_PTAP || type == SPGEMM_RART ? B : A, *right = type == SPGEMM_ABC ? C : B;

  *m = type == SPGEMM_ATB || type == SPGEMM_PTAP ? left->n : left->m;
  *n = type == SPGEMM_ABT || type == SPGEMM_RART ? right->m : right->n;
}

/* Returns the operand to transpose, or NULL */
static inline const SysCSR *SpgemmTransposed(SpgemmType type, const SysCSR *A, const SysCSR *B)
{
  return type == SPGEMM_ATB ? A : type == SPGEMM_ABT || type == SPGEMM_PTAP || type == SPGEMM_RART ? B : NULL;
}

/* Sets the two factors of a step. last: 0 in the first of two steps, whose result is inner. T: the transposed operand. reverse: the other order, A (B
   C) instead of (A B) C, (B^T A) B of B^T (A B), (B A) B^T of B (A B^T). */
static inline void SpgemmFactors(SpgemmType type, int last, int reverse, const SysCSR *A, const SysCSR *B, const SysCSR *C, const SysCSR *T, const SysCSR *inner, const SysCSR **left, const SysCSR **right)
{
  /* by SpgemmType */
  const SysCSR *const lefts[]  = {A, T, A, reverse ? (last ? inner : T) : (last ? T : A), reverse ? (last ? inner : B) : (last ? B : A), reverse ? (last ? A : B) : (last ? inner : A)};
  const SysCSR *const rights[] = {B, B, T, reverse ? (last ? B : A) : (last ? inner : B), reverse ? (last ? T : A) : (last ? inner : T), reverse ? (last ? inner : C) : (last ? C : B)};

  *left  = lefts[type];
  *right = rights[type];
}

/* Returns whether two steps run in the other order: if its first step has fewer products; for P^T A P and R A R^T only if it has less than half of
   them, because the second steps then have equally many, unless entries of the first result coincide, which the usual order makes more likely */
static inline int SpgemmReverses(SpgemmType type, double usual, double reverse)
{
  return type == SPGEMM_ABC ? reverse < usual : 2 * reverse < usual;
}

/* Computes pattern and values, as far as possible without the result's arrays, or in options->room. The operands must not change until
   SpgemmFill(). */
SysStatus SpgemmCreate(SpgemmType, const SysCSR *A, const SysCSR *B, const SysCSR *C, const SpgemmOptions *, Spgemm **, SpgemmInfo *);
int64_t   SpgemmNonzeros(const Spgemm *);

/* Returns the result's m + 1 row starts; valid until SpgemmFill() */
const SysInt *SpgemmRowStarts(const Spgemm *);

/* Writes the result with ascending columns: i of m + 1, j and a of SpgemmNonzeros(), or the arrays of options->room. Frees memory that new values do not
   need. */
SysStatus SpgemmFill(Spgemm *, const SysCSR *A, const SysCSR *B, const SysCSR *C, SysInt *i, SysInt *j, SysScalar *a);

/* Computes new values of the same operands in SpgemmFill()'s pattern. The first call creates the plan again if SpgemmFill() freed it. */
SysStatus SpgemmRevalue(Spgemm *, const SysCSR *A, const SysCSR *B, const SysCSR *C, const SysInt *i, const SysInt *j, SysScalar *a);

void SpgemmGetInfo(const Spgemm *, SpgemmInfo *);
void SpgemmDestroy(Spgemm **);
