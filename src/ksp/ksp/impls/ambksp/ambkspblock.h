/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Blocks of right-hand sides on the host: products, preconditioners and operations by columns on panels (fused/fusedblock.h). A column of a panel that has left the solve
   is not active: it holds any numbers, and operations by columns skip it.
*/
#pragma once

#include <petscsf.h>
#include <petsc/private/matimpl.h>

#include "ksp/ksp/impls/ambksp/ambksp.h"
#include "ksp/ksp/impls/fused/fusedblock.h"

/* An array of a panel, which grows on demand; raises an error without memory */
typedef struct {
  SysReal *a;
  size_t   bytes;
} KSPBlockPanel;
PetscErrorCode KSPBlockPanelAllocate(size_t rows, int width, KSPBlockPanel *);
PetscErrorCode KSPBlockPanelDestroy(KSPBlockPanel *);

typedef struct {
  const FusedBlockKernels *kernels;
  int                      width, nthread, ncol; /* ncol: columns of the right-hand sides, at most the width */
  PetscMPIInt              nproc;
  PetscBool                active[FUSED_BLOCK_COLUMNS];
  MPI_Datatype             row;     /* of a panel; several processes only */
  SysReal                 *partial; /* of sums */
  size_t                   partialbytes;
  KSPBlockPanel            columns; /* of operations by columns */
} KSPBlock;

/* A block of ncol columns, whose largest panel has n rows; Width() sets another width later */
PetscErrorCode KSPBlockCreate(MPI_Comm, PetscInt n, PetscInt ncol, KSPBlock *);
PetscErrorCode KSPBlockWidth(KSPBlock *, int width);
PetscErrorCode KSPBlockDestroy(KSPBlock *);

/* Applies an operation of vectors to each active column: its operand is the column of `in`, and its result becomes the column of `out`. load: before the operation,
   the result is that column. */
typedef PetscErrorCode (*KSPBlockOperation)(void *ctx, Vec in, Vec result);
PetscErrorCode KSPBlockColumns(KSPBlock *, const SysReal *in, SysReal *out, PetscBool load, Vec operand, Vec result, KSPBlockOperation, void *ctx);

/* A matrix as a factor of panels: an AIJ, or any other by columns */
typedef struct {
  Mat              A;
  PetscBool        plain; /* an AIJ */
  PetscInt         nterm;
  SysCSR           csr[2];
  PetscSF          sf;
  Vec              in, result; /* of a product by columns */
  KSPBlockPanel    ghost, product;
  SpmmTransposed   transposed[2];
  KSPBlockPanel    values[2]; /* in its order */
  PetscObjectId    id;        /* of the transposed pattern */
  PetscObjectState nonzerostate;
} KSPBlockMat;

/* Begin() before products, each time that A may have changed; transpose: for KSPBlockMatMultTranspose() too */
PetscErrorCode KSPBlockMatBegin(Mat A, PetscBool transpose, KSPBlockMat *);
PetscErrorCode KSPBlockMatDestroy(KSPBlockMat *);

/* Runs a pass on the rows of the product A x. Sums of this process, or NULL. */
PetscErrorCode KSPBlockMatMult(KSPBlock *, KSPBlockMat *, const SysReal *x, FusedBlockFunction, FusedBlockPass *, SysReal *sums);

/* y = A^T x */
PetscErrorCode KSPBlockMatMultTranspose(KSPBlock *, KSPBlockMat *, const SysReal *x, SysReal *y);

/* A pass without a product */
PetscErrorCode KSPBlockRun(KSPBlock *, FusedBlockFunction, FusedBlockPass *, SysReal *sums);

/* Sets *host if a dense matrix is on the host, in a type of PETSc */
PetscErrorCode KSPBlockDenseIsHost(Mat, PetscBool *host);

/* Functions that a PC composes if it applies itself to panels. SetUp() is called before each solve and sets *has, the same on all processes. Apply(): *x = M b; *x and *work,
   panels of as many rows, may change places; with summed, the sums x.b, x.x and b.b of this process are set, unless it is set to PETSC_FALSE. */
#define KSPBLOCK_SETUP "PCAMBBlockSetUp_C"
#define KSPBLOCK_APPLY "PCAMBBlockApply_C"
typedef PetscErrorCode (*KSPBlockPCSetUp)(PC, KSPBlock *, PetscBool *has);
typedef PetscErrorCode (*KSPBlockPCApply)(PC, KSPBlock *, SysReal *b, SysReal **x, SysReal **work, PetscBool *summed, SysReal sums[]);
