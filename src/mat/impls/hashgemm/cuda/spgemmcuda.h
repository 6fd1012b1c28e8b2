/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Sparse matrix products on a CUDA device, on raw CSR arrays. Nothing here or below knows PETSc's objects. Real numbers and 32-bit indices only.

   Everything is queued on the stream that is given; only what makes a new pattern waits for the device, since the size of the result has to be
   known. New values in the same pattern wait for nothing. The same operands give the same bits every time: each sum is added in the order of the
   entries of the row of A.

   Reference:
.  * - Y. Nagasaka, "Performance optimization of sparse matrix kernels for many-core architectures", doctoral thesis, Tokyo Institute of Technology, 2019, chapter 5
*/
#pragma once

#include "sys/syscuda.h"
#include "mat/impls/hashgemm/host/spgemmhost.h"

#if defined(__cplusplus)
extern "C" {
#endif

typedef enum {
  SPGEMM_ROWS_EMPTY,
  SPGEMM_ROWS_COPIED, /* one entry in the row of A */
  SPGEMM_ROWS_HASH,   /* pattern from a hash table, 8 to 32 threads each */
  SPGEMM_ROWS_WINDOW, /* pattern from windows of columns, a block and a bit mask each */
  SPGEMM_ROWS_SORT,   /* pattern from the sorted columns of all products, 8 to 32 threads each */
  SPGEMM_ROWS_ESC,    /* columns and values from all products, sorted by 8 to 32 threads */
  SPGEMM_ROWS_HEAP,   /* for comparison: columns and values from a heap of rows of B, one thread a row */
  SPGEMM_ROWS_MERGE,  /* for comparison: columns and values, merged into a sequence, one warp a row */
  SPGEMM_ROWS_TABLE,  /* for comparison: columns and values from a hash table of both, 8 to 32 threads a row */
  SPGEMM_ROWS_KINDS
} SpgemmDeviceRows; /* of SpgemmInfo.rows */

/* The context of all products on a device: streams, and a pool that keeps freed memory. One product at a time uses it. */
typedef struct _SpgemmDeviceContext SpgemmDeviceContext;
typedef struct _SpgemmDevice        SpgemmDevice;

SysStatus SpgemmDeviceContextCreate(SpgemmDeviceContext **);
void      SpgemmDeviceContextLimit(SpgemmDeviceContext *, size_t shared); /* makes products as where blocks may have no more bytes of shared memory */
void      SpgemmDeviceContextTrim(SpgemmDeviceContext *);                 /* gives unused memory back */
void      SpgemmDeviceContextDestroy(SpgemmDeviceContext **);

/* Memory of the pool, for results */
SysStatus SpgemmDeviceAllocate(SpgemmDeviceContext *, size_t bytes, void **, SysStream);
void      SpgemmDeviceRelease(SpgemmDeviceContext *, void *, SysStream);

/* Counts the entries of the result, and makes the first of two products. The operands must not change until SpgemmDeviceFill(). If this fails, the
   figures tell how large the product would have been. B is the second matrix, in PTAP and RART P or R; C matters only for ABC.

   The accumulator serves the rows that it can: hash those of at most 3072 words of 32 columns, dense all (in windows), esc those of at most 512 products,
   heap those of at most 16 entries in A and 512 products, merge those of at most a million products, and so table. Other rows are made as by auto, as all are
   by hashvec. esc, heap, merge and table make values at once. */
SysStatus SpgemmDeviceCreate(SpgemmDeviceContext *, SpgemmType, SpgemmAccumulator, const SysCSR *A, const SysCSR *B, const SysCSR *C, SysStream, SpgemmDevice **, SpgemmInfo *);

/* The result, its columns ascending: i of m + 1, j and a of as many as SpgemmInfo.nonzeros says; a may be NULL, for the pattern alone */
SysStatus SpgemmDeviceFill(SpgemmDevice *, const SysCSR *A, const SysCSR *B, const SysCSR *C, int *i, int *j, SysScalar *a, SysStream);

/* After SpgemmDeviceFill() without values: the values of operands that have not changed since SpgemmDeviceCreate() */
SysStatus SpgemmDeviceFirstValues(SpgemmDevice *, const SysCSR *A, const SysCSR *B, const SysCSR *C, const int *i, const int *j, SysScalar *a, SysStream);

/* New values of the same operands, in the pattern that SpgemmDeviceFill() made. The second call keeps the place of the sum of each product, in two
   bytes, if there is memory and the places need at most three times the memory of operands and result: later calls are faster. Rows in lines of shifted
   rows need none. This function compares nothing but sizes: the caller has to know that operands have the same entries. HashGEMMLook() knows, and takes a
   fingerprint only if an array may be another one. A fingerprint in each call would wait for the device, twice for each operand. */
SysStatus SpgemmDeviceRevalue(SpgemmDevice *, const SysCSR *A, const SysCSR *B, const SysCSR *C, const int *i, const int *j, SysScalar *a, SysStream);

void SpgemmDeviceGetInfo(const SpgemmDevice *, SpgemmInfo *);
void SpgemmDeviceDestroy(SpgemmDevice **, SysStream);

#if defined(__cplusplus)
}
#endif
