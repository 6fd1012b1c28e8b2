/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Sparse matrix products on a CUDA device, on raw CSR arrays. Nothing here or below knows PETSc's objects. Real numbers and 32-bit indices only.

   Everything is queued on the stream that is given; only what makes a new pattern waits for the device, since the size of the result has to be
   known. New values in the same pattern wait for nothing. The same operands give the same bits every time: each sum is added in the order of the
   entries of the row of A.

   Reference:
.  * - Y. Nagasaka, "Sparse matrix computations on many-core processors", doctoral thesis, Tokyo Institute of Technology, 2019, chapter 5
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
  SPGEMM_ROWS_KINDS
} SpgemmDeviceRows; /* of SpgemmInfo.rows */

/* What products on a device share: a memory pool, which keeps what was freed, and streams. For one product at a time. */
typedef struct _SpgemmDeviceContext SpgemmDeviceContext;
typedef struct _SpgemmDevice        SpgemmDevice;

SysStatus SpgemmDeviceContextCreate(SpgemmDeviceContext **);
void      SpgemmDeviceContextTrim(SpgemmDeviceContext *); /* gives back the memory that is not in use */
void      SpgemmDeviceContextDestroy(SpgemmDeviceContext **);

/* Memory of the pool, for results */
SysStatus SpgemmDeviceAllocate(SpgemmDeviceContext *, size_t bytes, void **, SysStream);
void      SpgemmDeviceRelease(SpgemmDeviceContext *, void *, SysStream);

/* Counts the entries of the result and makes the first of two products, if there are two. The operands must stay as they are until SpgemmDeviceFill().
   What failed tells by the figures how large it would have been. B is the second matrix, in PTAP and RART P or R; C only for ABC. */
SysStatus SpgemmDeviceCreate(SpgemmDeviceContext *, SpgemmType, const SysCSR *A, const SysCSR *B, const SysCSR *C, SysStream, SpgemmDevice **, SpgemmInfo *);

/* The result, its columns ascending: i of m + 1, j and a of as many as SpgemmInfo.nonzeros says; a may be NULL, for the pattern alone */
SysStatus SpgemmDeviceFill(SpgemmDevice *, const SysCSR *A, const SysCSR *B, const SysCSR *C, int *i, int *j, SysScalar *a, SysStream);

/* New values of the same operands, in the pattern that SpgemmDeviceFill() made. The second time that values are made, the place of the sum of each product
   is kept, two bytes each, if there is memory and that is no more than three times the memory of operands and result: the next times are faster.
   Nothing but sizes is compared: operands with other entries have to be told by who calls, and are, by HashGEMMLook(), whose fingerprint is taken only where an
   array may be another one. To take it every time would be to wait for the device, twice for each operand. */
SysStatus SpgemmDeviceRevalue(SpgemmDevice *, const SysCSR *A, const SysCSR *B, const SysCSR *C, const int *i, const int *j, SysScalar *a, SysStream);

void SpgemmDeviceGetInfo(const SpgemmDevice *, SpgemmInfo *);
void SpgemmDeviceDestroy(SpgemmDevice **, SysStream);

#if defined(__cplusplus)
}
#endif
