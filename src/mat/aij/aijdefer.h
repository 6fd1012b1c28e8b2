/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Between the two files of deferred matrices
*/
#pragma once

#include "mat/aij/aij.h"

#define MAT_AIJ_DEFERRED_METHODS 20 /* most methods that MatAIJDeferOperations() replaces */

/* The arrays of a deferred matrix, in a container composed with it. An MPI matrix has none: its blocks have. */
typedef struct {
  SysCSR         device;                           /* arrays on the device */
  PetscInt      *i, *j;                            /* the pattern on the host after the first request, or NULL */
  PetscBool      grows;                            /* the complete matrix accepts new entries */
  struct _MatOps shown;                            /* the operations of the deferred matrix: those that differ from these were set since */
  struct _MatOps ops;                              /* operations of the complete matrix */
  void (*methods[MAT_AIJ_DEFERRED_METHODS])(void); /* its methods, which PETSc finds by name, or NULL */
} MatAIJDeferred;

extern PetscErrorCode MatAIJDeferredGet(Mat A, MatAIJDeferred **d);

/* Installs the operations and methods of a deferred matrix in A and stores A's own in d, or restores these. *done = PETSC_FALSE if A has an operation that
   this version of petsc-amb does not know. */
extern PetscErrorCode MatAIJDeferOperations(Mat A, MatAIJDeferred *d, PetscBool *done);
extern PetscErrorCode MatAIJDeferRestore(Mat A, const MatAIJDeferred *d);
