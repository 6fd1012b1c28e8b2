/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Adaptive Multi-level Blocking (AMB) on a CUDA device: operations on raw device arrays. Nothing here or below knows PETSc's objects, and
   everything is queued on the stream it is given. Real numbers and 32-bit indices only.

   Reference:
.  * - Y. Nagasaka, "Sparse matrix computations on many-core processors", doctoral thesis, Tokyo Institute of Technology, 2019, chapter 4
*/
#pragma once

#include "sys/syscuda.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* What to choose, 0 leaves the choice to the model and the tuner */
typedef struct {
  int block_size; /* columns that share one index, 1 to 10 */
  int threads;    /* threads of a thread block: 64, 128 or 256 */
  int steps;      /* blocks that one thread takes, at most; longer rows are shared by several threads */
  int measure;    /* products are timed to choose what is left open, instead of the model alone */
} AmbDeviceParams;

typedef struct {
  int     block_size, threads, steps;
  int     sorted; /* rows are sorted by length among sort_scope rows */
  int     sort_scope;
  int     row_group;                 /* rows that share a diagonal, where columns are told by diagonals */
  int64_t tasks;                     /* what one warp does */
  int64_t diagonal, narrow, wide;    /* of these, by the kind of index: none, 16 bits, 32 bits */
  int64_t split;                     /* of these, parts of rows shared by several warps */
  int64_t tried;                     /* products spent on tuning */
  double  bytes_model, bytes_stored; /* what a product reads of the matrix: predicted, and held */
  double  bytes_extra;               /* what is held besides, for new values and the transposed product */
  double  stored_values;             /* entries with filling */
} AmbDeviceInfo;

typedef struct _AmbDevice AmbDevice;

/* Conversion, and new values in the same pattern. Of an AmbDevice the functions of the format's table take the address. */
SysStatus AmbDeviceCreate(const SysCSR *, const AmbDeviceParams *, SysStream, AmbDevice **, AmbDeviceInfo *);
SysStatus AmbDeviceUpdate(void *, const SysCSR *, SysStream);

/* z = alpha A x + beta y, and with the transposed matrix, which is stored too from the first such product on. The CSR is the one that the last
   update was made from: rows that meet a NaN or an infinity go back to it. y may be z, and is not read if beta is 0. */
SysStatus AmbDeviceMult(void *, const SysCSR *, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, SysStream);
SysStatus AmbDeviceMultTranspose(void *, const SysCSR *, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, SysStream);

/* Has CUDA load the code of what first conversions and products call; waits for the stream */
SysStatus AmbDeviceLoad(SysStream);

void AmbDeviceGetInfo(const AmbDevice *, AmbDeviceInfo *);
void AmbDeviceDestroy(AmbDevice **);

#if defined(__cplusplus)
}
#endif
