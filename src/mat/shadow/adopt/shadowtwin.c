/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Twins: a second copy with another value storage, used by the smoother only.

   A twin is a MATSHELL of the same matrix. For one product it swaps its shadow with the matrix's (the diagonal block's, for an MPI matrix), so
   everything about shadows applies to it: conversion and updates, on host and device. The entries are stored once, in the matrix.
*/
#include "mat/shadow/core/shadow.h"

typedef struct {
  Mat            A;
  PetscContainer other; /* the shadow that is not in use */
} MatShadowTwin;

/* Gets the matrix whose shadow has a twin, or NULL if the program changed its type since */
static PetscErrorCode TwinBlock(const MatShadowTwin *twin, Mat *block)
{
  PetscFunctionBegin;
  *block = twin->A->ops->convertfrom == MatShadowAdoptFunctions->convertfrom ? twin->A : NULL;
  if (!*block) PetscFunctionReturn(PETSC_SUCCESS);
  if (MatShadowIsSequential(twin->A)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatShadowAttachBlocks(twin->A));
  PetscCall(MatMPIAIJGetSeqAIJ(twin->A, block, NULL, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The operations of the matrix find their shadow by this composition, and PETSc calls them with the matrix alone: a shadow handed to them would need a second
   matrix with all its blocks. The swap lasts for one operation, which runs no code of the program; MatView() shows the twin's shadow on purpose. */
static PetscErrorCode TwinSwap(MatShadowTwin *twin)
{
  PetscContainer here;
  Mat            block;

  PetscFunctionBegin;
  PetscCall(TwinBlock(twin, &block));
  if (!block) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectQuery((PetscObject)block, "MatShadow", (PetscObject *)&here));
  PetscCall(PetscObjectReference((PetscObject)here));
  PetscCall(PetscObjectCompose((PetscObject)block, "MatShadow", (PetscObject)twin->other));
  PetscCall(PetscContainerDestroy(&twin->other));
  twin->other = here;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Calls an operation of the matrix with the twin's shadow in use */
#define TWIN_CALL(T, call) \
  do { \
    MatShadowTwin *twin; \
    PetscErrorCode error; \
\
    PetscCall(MatShellGetContext(T, &twin)); \
    PetscCall(TwinSwap(twin)); \
    error = (call); \
    PetscCall(TwinSwap(twin)); \
    PetscCall(error); \
  } while (0)

static PetscErrorCode MatMult_Twin(Mat T, Vec x, Vec y)
{
  PetscFunctionBegin;
  TWIN_CALL(T, MatMult(twin->A, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMultTranspose_Twin(Mat T, Vec x, Vec y)
{
  PetscFunctionBegin;
  TWIN_CALL(T, MatMultTranspose(twin->A, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatView_Twin(Mat T, PetscViewer viewer)
{
  PetscFunctionBegin;
  TWIN_CALL(T, MatView(twin->A, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatCreateVecs_Twin(Mat T, Vec *right, Vec *left)
{
  MatShadowTwin *twin;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(T, &twin));
  PetscCall(MatCreateVecs(twin->A, right, left));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGetDiagonal_Twin(Mat T, Vec d)
{
  MatShadowTwin *twin;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(T, &twin));
  PetscCall(MatGetDiagonal(twin->A, d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatDestroy_Twin(Mat T)
{
  MatShadowTwin *twin;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(T, &twin));
  PetscCall(PetscContainerDestroy(&twin->other));
  PetscCall(MatDestroy(&twin->A));
  PetscCall(PetscFree(twin));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates a twin of a matrix with a shadow; *T is NULL for other matrices. The twin does not reference the matrix, which must outlive it. */
PetscErrorCode MatShadowTwinCreate(Mat A, MatShadowValues values, Mat *T)
{
  const MatShadowFormat *format;
  MatShadowTwin         *twin;
  MatShadow             *s, *t;
  PetscInt               m, n, M, N;
  Mat                    block;

  PetscFunctionBegin;
  *T = NULL;
  PetscCall(MatShadowGetFormat(A, &format));
  if (!format || !A->assembled) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscNew(&twin));
  twin->A = A;
  PetscCall(PetscObjectReference((PetscObject)A));
  PetscCall(TwinBlock(twin, &block));
  PetscCall(MatShadowGet(block, &s));
  PetscCall(PetscObjectQuery((PetscObject)block, "MatShadow", (PetscObject *)&twin->other));
  PetscCall(PetscObjectReference((PetscObject)twin->other));
  PetscCall(MatShadowCompose(block, s->format, s, &t)); /* replaces s */
  t->values  = values;
  t->adopted = s->adopted;
  t->level   = PETSC_TRUE;
  PetscCall(TwinSwap(twin));
  PetscCall(MatGetLocalSize(A, &m, &n));
  PetscCall(MatGetSize(A, &M, &N));
  PetscCall(MatCreateShell(PetscObjectComm((PetscObject)A), m, n, M, N, twin, T));
  PetscCall(MatShellSetManageScalingShifts(*T));
  PetscCall(MatShellSetOperation(*T, MATOP_MULT, (void (*)(void))MatMult_Twin));
  PetscCall(MatShellSetOperation(*T, MATOP_MULT_TRANSPOSE, (void (*)(void))MatMultTranspose_Twin));
  PetscCall(MatShellSetOperation(*T, MATOP_VIEW, (void (*)(void))MatView_Twin));
  PetscCall(MatShellSetOperation(*T, MATOP_CREATE_VECS, (void (*)(void))MatCreateVecs_Twin));
  PetscCall(MatShellSetOperation(*T, MATOP_GET_DIAGONAL, (void (*)(void))MatGetDiagonal_Twin));
  PetscCall(MatShellSetOperation(*T, MATOP_DESTROY, (void (*)(void))MatDestroy_Twin));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Converts or updates the twin now; copies the null space, which solvers read from their operator */
PetscErrorCode MatShadowTwinSetUp(Mat T)
{
  MatShadowTwin *own;
  MatNullSpace   nullspace;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(T, &own));
  PetscCall(MatGetNullSpace(own->A, &nullspace));
  PetscCall(MatSetNullSpace(T, nullspace));
  TWIN_CALL(T, MatShadowForEach(twin->A, MatShadowMakeReady, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}
