/* SPDX-License-Identifier: BSD-2-Clause */
/*
   PCAMBILU: the state of a process, whose diagonal block is factored
*/
#pragma once

#include "mat/aij/aij.h"
#include "mat/factor/cuda/factorcuda.h"
#include "mat/factor/host/factorpolicy.h"
#include "mat/factor/host/factorsolve.h"
#include "ksp/pc/impls/ambilu/host/ambiluhost.h"

typedef struct {
  PCAMBILUType     type;
  char            *ordering;
  PetscInt         n, bs;      /* rows of the block, and its block size */
  PetscObjectState pattern;    /* of the block when it was set up */
  IS               rows, cols; /* the ordering */
  Vec              x, y;       /* of the block, where the matrix belongs to several processes */
  Mat              factor;     /* ilu */
  AmbILUMatrix     matrix;     /* dilu: the block in its ordering; of made, only once the host needs it */
  FactorMatrix     made;       /* dilu, isai: the GPU makes them from this, or NULL */
  PetscScalar     *d, *work;   /* dilu: reciprocals of E; n numbers of work space, 2 n unless the ordering is natural */
  PetscBool        natural;
  PetscBool        declined;     /* dilu: windows of rows would not be faster */
  FactorSolver     solver;       /* dilu: the same matrix in windows of rows, or NULL */
  FactorDevice     pair[2];      /* dilu on a GPU: solves and transposed solves, or NULL */
  PetscBool        current[2];   /* pair has the values of the matrix */
  PetscBool        short_memory; /* no pair could be made for this pattern */
  Mat              inverse[2];   /* isai: of L and U */
  Vec              between;      /* isai */
} PC_AMBILU;

/* Sets up DILU or approximate inverses on the GPU, for a block that is there; *done is PETSC_FALSE if the host must do so: memory is short, a pivot is refused, or rows are long or lack a
   diagonal */
SYS_DEVICE PetscErrorCode PCAMBILUSetUpDevice(PC_AMBILU *, Mat A, PetscBool *done) SYS_STUB(PETSC_SUCCESS);

/* Copies the block, as it was at the set-up on the GPU, to ctx->matrix; *done is PETSC_FALSE if memory is short */
SYS_DEVICE PetscErrorCode PCAMBILUFetchDevice(PC_AMBILU *, PetscBool *done) SYS_STUB(PETSC_SUCCESS);

/* Solves for DILU on the GPU; *done is PETSC_FALSE if the vectors are on the host or memory is short, so that the host must solve */
SYS_DEVICE PetscErrorCode PCAMBILUSolveDevice(PC_AMBILU *, PetscBool transpose, Vec b, Vec x, PetscBool *done) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE void           PCAMBILUResetDevice(PC_AMBILU *) SYS_STUB();
