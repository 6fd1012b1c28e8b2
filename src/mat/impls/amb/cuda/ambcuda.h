/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Adaptive Multi-level Blocking (AMB) on a CUDA device, on raw device arrays; cuda/ambcuda.cuh has the layout. All work is queued on the caller's
   stream. Real scalars and 32-bit indices only.
*/
#pragma once

#include "sys/syscuda.h"
#include "sys/sysvalues.h"

SYS_C_BEGIN

/* Parameters; 0 lets the model and the tuner choose. C++ initialisers may omit the last ones. */
#if defined(__cplusplus)
  #define AMB_OPEN = 0
#else
  #define AMB_OPEN
#endif
typedef struct _AmbDeviceParams {
  int       block_size; /* columns that share one index, 1 to 10 */
  int       threads;    /* threads of a thread block: 64, 128 or 256; 512 if compiled with AMB_MOST_THREADS of 512 */
  int       steps;      /* most blocks of one thread in a row; several threads share longer rows */
  int       measure;    /* time products to choose the open parameters; otherwise the model chooses */
  SysValues values;
  int live  AMB_OPEN; /* choose the kernel during the caller's products; the bits do not depend on the choice */

  /* The model's and the tuner's choices, for comparisons that leave out one of AMB's levels */
  int order   AMB_OPEN; /* 1: original order; 2: sorted by length */
  int columns AMB_OPEN; /* 1: no diagonals; 2: no 16-bit indices either */
  int scope   AMB_OPEN; /* rows among which rows are sorted, a power of two from 32 to 32,768 */
} AmbDeviceParams;

typedef struct {
  int        block_size, threads, steps;
  int        sorted; /* rows are sorted by length within each scope */
  int        sort_scope;
  int        row_group;                 /* rows that share a diagonal, if the columns are diagonals */
  int64_t    tasks;                     /* warps' units of work */
  int64_t    diagonal, narrow, wide;    /* tasks by the kind of index: none, 16 bits, 32 bits */
  int64_t    split;                     /* tasks that are pieces of split rows */
  int64_t    tried;                     /* products run or timed for tuning */
  int        live;                      /* tuning is still timing products */
  double     bytes_model, bytes_stored; /* bytes of the matrix that a product reads: predicted, and stored */
  double     bytes_extra;               /* further bytes, for updates and the transposed product */
  double     stored_values;             /* entries including filling */
  SysStorage stored;                    /* storage of values */
  int        distinct;                  /* distinct values in the table */
  int        stencil;                   /* entries of the stencil, or 0: no stencil */
  int        exact;                     /* stored values have the bits of the matrix's values */
} AmbDeviceInfo;

typedef struct _AmbDevice AmbDevice;

/* Conversion, and updates of values in the same pattern. Functions of the format's table pass an AmbDevice as void *. */
SysStatus AmbDeviceCreate(const SysCSR *, const AmbDeviceParams *, SysStream, AmbDevice **, AmbDeviceInfo *);
SysStatus AmbDeviceUpdate(void *, const SysCSR *, SysStream);

/* AmbDeviceMult() computes z = alpha A x + beta y, AmbDeviceMultTranspose() the same with A^T, which the first such product stores. The CSR is that
   of the last update; the kernels recompute rows with a NaN from it. y may be z; beta == 0: y is not read. */
SysStatus AmbDeviceMult(void *, const SysCSR *, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, SysStream);
SysStatus AmbDeviceMultTranspose(void *, const SysCSR *, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, SysStream);

/* Returns whether products compute some rows from CSR even without a NaN */
int AmbDeviceReadsCSR(const void *);

/* multdot() of the format's table */
SysStatus AmbDeviceMultDot(void *, const SysCSR *, const SysScalar *x, SysScalar *z, SysScalar *parts, int64_t *nparts, SysStream);

/* Has CUDA load the code of the kernels of first conversions and products; waits for the stream */
SysStatus AmbDeviceLoad(SysStream);

void AmbDeviceGetInfo(const AmbDevice *, AmbDeviceInfo *);
void AmbDeviceDestroy(void *);

SYS_C_END
