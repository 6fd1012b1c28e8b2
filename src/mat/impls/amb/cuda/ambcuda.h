/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Adaptive Multi-level Blocking (AMB) on a CUDA device: operations on raw device arrays, without PETSc's objects. All work is queued on the
   stream that the caller gives. Real numbers and 32-bit indices only.

   Reference:
.  * - Y. Nagasaka, "Performance optimization of sparse matrix kernels for many-core architectures", doctoral thesis, Tokyo Institute of Technology, 2019, chapter 4
*/
#pragma once

#include "sys/syscuda.h"
#include "sys/sysvalues.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* Parameters; 0 leaves the choice to the model and the tuner. A list of initial values in C++ may leave out the last ones. */
#if defined(__cplusplus)
  #define AMB_OPEN = 0
#else
  #define AMB_OPEN
#endif
typedef struct _AmbDeviceParams {
  int       block_size; /* columns that share one index, 1 to 10 */
  int       threads;    /* threads of a thread block: 64, 128 or 256; 512 if compiled with AMB_MOST_THREADS of 512 */
  int       steps;      /* blocks that one thread takes, at most; longer rows are shared by several threads */
  int       measure;    /* products are timed to choose the parameters left open; otherwise the model chooses */
  SysValues values;
  int live  AMB_OPEN; /* the kernel is chosen while the caller makes products; every product has the same bits as without */

  /* what the model and the tuner choose, for those who measure without one of AMB's levels */
  int order   AMB_OPEN; /* 1: rows as they are; 2: sorted by length */
  int columns AMB_OPEN; /* 1: no diagonals; 2: no 16-bit indices either */
  int scope   AMB_OPEN; /* rows among which lengths are sorted, a power of two from 32 to 32,768 */
} AmbDeviceParams;

typedef struct {
  int        block_size, threads, steps;
  int        sorted; /* rows are sorted by length among sort_scope rows */
  int        sort_scope;
  int        row_group;                 /* rows that share a diagonal, if columns are stored by diagonals */
  int64_t    tasks;                     /* one warp does one task */
  int64_t    diagonal, narrow, wide;    /* tasks by the kind of index: none, 16 bits, 32 bits */
  int64_t    split;                     /* tasks that are parts of rows shared by several warps */
  int64_t    tried;                     /* products spent on tuning, or timed while the caller makes them */
  int        live;                      /* products are timed now */
  double     bytes_model, bytes_stored; /* bytes of the matrix that a product reads: predicted, and held */
  double     bytes_extra;               /* bytes held in addition, for new values and the transposed product */
  double     stored_values;             /* entries with filling */
  SysStorage stored;                    /* how values are stored */
  int        distinct;                  /* values in the table */
  int        stencil;                   /* entries of the stencil by which values and columns are stored, or 0 */
  int        exact;                     /* stored values have the bits of the values of the matrix */
} AmbDeviceInfo;

typedef struct _AmbDevice AmbDevice;

/* Conversion, and new values in the same pattern. The functions of the format's table take an AmbDevice as void *. */
SysStatus AmbDeviceCreate(const SysCSR *, const AmbDeviceParams *, SysStream, AmbDevice **, AmbDeviceInfo *);
SysStatus AmbDeviceUpdate(void *, const SysCSR *, SysStream);

/* z = alpha A x + beta y, and the same with the transposed matrix, which is stored too from the first such product on. The CSR is the one that the last
   update was made from: rows that meet a NaN or an infinity are computed from it. y may be z, and is not read if beta is 0. */
SysStatus AmbDeviceMult(void *, const SysCSR *, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, SysStream);
SysStatus AmbDeviceMultTranspose(void *, const SysCSR *, SysScalar alpha, const SysScalar *x, SysScalar beta, const SysScalar *y, SysScalar *z, SysStream);

/* Do products compute some rows from CSR although no number is a NaN? */
int AmbDeviceReadsCSR(const void *);

/* multdot() of the format's table */
SysStatus AmbDeviceMultDot(void *, const SysCSR *, const SysScalar *x, SysScalar *z, SysScalar *parts, int64_t *nparts, SysStream);

/* Has CUDA load the code of the kernels of first conversions and products; waits for the stream */
SysStatus AmbDeviceLoad(SysStream);

void AmbDeviceGetInfo(const AmbDevice *, AmbDeviceInfo *);
void AmbDeviceDestroy(void *);

#if defined(__cplusplus)
}
#endif
