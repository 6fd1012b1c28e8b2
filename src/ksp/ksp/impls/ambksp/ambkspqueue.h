/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Iterations on a GPU that are queued ahead of their results. The device makes the tests of PETSc's method; the host repeats them with the norms that the device
   reports, so that reasons, histories and messages are PETSc's. If monitors or a test of the program look on, the host waits in each iteration.
*/
#pragma once

#include "mat/halo/halo.h"
#include "ksp/ksp/impls/ambksp/ambksp.h"
#include "ksp/ksp/impls/fused/fusedcuda.h"

/* Who multiplies: a format, on several processes a format and a halo, or PETSc if both are NULL. Stores an error of PETSc, since a queue returns a
   SysStatus. */
typedef struct {
  const MatShadowOps *ops;
  void               *data;
  MatShadowCSR        csr;
  MatHaloQueue        halo;
  int64_t             nparts; /* partial sums of the product of both vectors that the format computes; 0: none */
  PetscErrorCode      error;
} KSPAMBProduct;

typedef struct _KSPAMBQueue KSPAMBQueue;
struct _KSPAMBQueue {
  /* The method sets these */
  Vec            v[FUSED_VECTORS];
  FusedPass      pass; /* KSPAMBQueueSetUp() sets all but v */
  FusedNorm      norm;
  PetscLogDouble vectors, flops; /* that an iteration reads and writes, for each row; its operations */
  PetscInt       products;       /* in an iteration */
  SysStatus (*iteration)(KSPAMB *, const KSPAMBQueue *, KSPAMBProduct *, SysStream);
  SysStatus (*close)(KSPAMB *, const KSPAMBQueue *, KSPAMBProduct *, SysStream);  /* after the last iteration of a block, before the report; or NULL */
  SysStatus (*resume)(KSPAMB *, const KSPAMBQueue *, KSPAMBProduct *, SysStream); /* after a test that the host does not share */
  PetscErrorCode (*end)(KSP, KSPAMB *, KSPAMBQueue *, const FusedState *);        /* sets the reason after a stop other than FUSED_STOP_TEST */

  Mat          A;
  SysStream    stream;
  PetscMPIInt  nproc;
  MatHaloComm *about;      /* of several processes */
  SysReal     *mine, *all; /* as in FusedDeviceShare() */
  PetscInt     length;     /* of a block */
  PetscInt     its;        /* iterations that the host knows of */
  PetscInt     resumed;    /* the iteration after which the host let the device go on, against the test of the device; 0: none */
  PetscBool    tried, recorded;
  PetscReal    objective; /* of the start */
};

/* Clears the queue and sets the product, the stream and the preconditioner, whose numbers lie in ksp->work[0] */
PetscErrorCode KSPAMBQueueSetUp(KSP, KSPAMB *, KSPAMBQueue *);

/* Tells PETSc that the vectors have new values on the GPU, and gets their arrays */
PetscErrorCode KSPAMBQueueWrites(KSPAMBQueue *);

/* Sets the device to the start, of this preconditioner, and shows the norm; it returns with a reason if nothing has to be iterated */
PetscErrorCode KSPAMBQueueStart(KSP, KSPAMB *, KSPAMBQueue *, FusedKind, const FusedState **);

/* Iterates until there is a reason */
PetscErrorCode KSPAMBQueueRun(KSP, KSPAMB *, KSPAMBQueue *);

/* The parts of this: sets the length of blocks; queues a block of iterations; records one if the choice of the product's format is final */
PetscErrorCode KSPAMBQueueLength(KSPAMB *, KSPAMBQueue *);
PetscErrorCode KSPAMBQueueBlock(KSPAMB *, KSPAMBQueue *, PetscInt length);
PetscErrorCode KSPAMBQueueRecord(KSP, KSPAMB *, KSPAMBQueue *, PetscInt length);

/* Queues the product of a vector, in an iteration; then with the product of both vectors, whose sums are gathered */
SysStatus KSPAMBQueueMultiply(const KSPAMBQueue *, KSPAMBProduct *, FusedVector from, FusedVector to, SysStream);
SysStatus KSPAMBQueueMultiplyDot(KSPAMB *, const KSPAMBQueue *, KSPAMBProduct *, FusedVector from, FusedVector to, SysStream);

/* With several processes, gathers the sums of a pass */
SysStatus KSPAMBQueueGather(const KSPAMBQueue *, KSPAMBProduct *, SysStream);

/* Queues something with PETSc's product, which may convert the matrix */
PetscErrorCode KSPAMBQueueByPETSc(KSPAMB *, KSPAMBQueue *, SysStatus (*)(KSPAMB *, const KSPAMBQueue *, KSPAMBProduct *, SysStream));

/* Ends a pass with sums: gathers the sums of other processes, and calls the function; no-op on one process */
SysStatus KSPAMBQueueFinish(KSPAMB *, const KSPAMBQueue *, KSPAMBProduct *, SysStatus (*finish)(FusedDevice *, SysStream), SysStream);
SysStatus KSPAMBQueueFinishNorm(KSPAMB *, const KSPAMBQueue *, KSPAMBProduct *, SysStatus (*finish)(FusedDevice *, FusedNorm, SysStream), SysStream);

PetscErrorCode KSPAMBQueueCheck(SysStatus);
