/* SPDX-License-Identifier: BSD-2-Clause */
/*
   SpGEMM on a CUDA device, on raw CSR arrays; cuda/spgemmcuda.cuh has the idea. Real scalars and 32-bit indices only.

   All work is queued on the caller's stream. Only a new pattern waits for the device, because the result's size must be known; new values in the same
   pattern never wait. Deterministic: each sum adds its terms in the order of A's entries.

   Source:
.  * - Y. Nagasaka, "Performance optimization of sparse matrix kernels for many-core architectures", doctoral thesis, Tokyo Institute of Technology, 2019, chapter 5
*/
#pragma once

#include "sys/syscuda.h"
#include "mat/impls/hashgemm/host/spgemmhost.h"

SYS_C_BEGIN

typedef enum {
  SPGEMM_ROWS_EMPTY,
  SPGEMM_ROWS_COPIED, /* one entry in A */
  SPGEMM_ROWS_WORDS,  /* pattern from a hash table of words, 8 to 32 threads a row */
  SPGEMM_ROWS_WINDOW, /* pattern from windows of columns, a block and a bit mask each */
  SPGEMM_ROWS_SORT,   /* pattern from the sorted columns of all products, 8 to 32 threads a row */
  SPGEMM_ROWS_ESC,    /* columns and values from all products, sorted by 8 to 32 threads */
  SPGEMM_ROWS_HEAP,   /* for comparison: columns and values from a heap of rows of B, one thread a row */
  SPGEMM_ROWS_MERGE,  /* for comparison: columns and values, merged into a sequence, one warp a row */
  SPGEMM_ROWS_HASH,   /* for comparison: columns and values from a hash table of both, 8 to 32 threads a row */
  SPGEMM_ROWS_KINDS
} SpgemmDeviceRows; /* SpgemmInfo.rows */

/* The context of all products on a device: streams and counters. One product at a time uses it. */
typedef struct _SpgemmDeviceContext SpgemmDeviceContext;
typedef struct _SpgemmDevice        SpgemmDevice;

SysStatus SpgemmDeviceContextCreate(SpgemmDeviceContext **);
void      SpgemmDeviceContextLimit(SpgemmDeviceContext *, size_t shared); /* limits shared memory a block, as on a smaller device */
void      SpgemmDeviceContextDestroy(SpgemmDeviceContext **);

/* Counts the result's entries, and computes the first of two products. The operands must not change until SpgemmDeviceFill(). After a failure the
   figures have the product's size. B is the second matrix, P or R in PTAP and RART; C matters only for ABC. The accumulator computes the rows that it
   supports: words up to 3072 words of 32 columns, dense all (in windows), esc up to 512 products, heap up to 16 entries in A and 512 products, merge
   and hash up to a million products. SPGEMM_AUTO computes other rows, and all rows with hashvec. esc, heap, merge and hash compute values in the
   same pass. */
SysStatus SpgemmDeviceCreate(SpgemmDeviceContext *, SpgemmType, SpgemmAccumulator, const SysCSR *A, const SysCSR *B, const SysCSR *C, SysStream, SpgemmDevice **, SpgemmInfo *);

/* Writes the result with ascending columns: i of m + 1, j and a of SpgemmInfo.nonzeros; a == NULL: the pattern alone */
SysStatus SpgemmDeviceFill(SpgemmDevice *, const SysCSR *A, const SysCSR *B, const SysCSR *C, int *i, int *j, SysScalar *a, SysStream);

/* After SpgemmDeviceFill() without values: computes the values of operands unchanged since SpgemmDeviceCreate() */
SysStatus SpgemmDeviceFirstValues(SpgemmDevice *, const SysCSR *A, const SysCSR *B, const SysCSR *C, const int *i, const int *j, SysScalar *a, SysStream);

/* Computes new values of the same operands in SpgemmDeviceFill()'s pattern. The second call stores the place of each product's sum, 2 bytes, if
   memory suffices and the places need at most three times the memory of operands and result: later calls are faster. Rows in lines of shifted rows
   need no places. Compares only sizes: the caller must know that the operands have the same entries. HashGEMMGetChange() does, and takes a fingerprint
   only if an array may have changed; a fingerprint in each call would wait for the device twice an operand. */
SysStatus SpgemmDeviceRevalue(SpgemmDevice *, const SysCSR *A, const SysCSR *B, const SysCSR *C, const int *i, const int *j, SysScalar *a, SysStream);

void SpgemmDeviceGetInfo(const SpgemmDevice *, SpgemmInfo *);
void SpgemmDeviceDestroy(SpgemmDevice **, SysStream);

SYS_C_END
