/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Twins: a second shadow of a matrix, which stores values in another way, for those products that a smoother makes.

   A twin is a MATSHELL of the same matrix. For one of its products it puts its shadow in the place of that of the matrix (of the diagonal block of an MPI matrix),
   so that everything about shadows holds for it: when it is converted and renewed, on the host and on a device. The entries are stored once, in the matrix.
*/
#include "mat/shadow/core/shadow.h"

typedef struct {
  Mat            A;
  PetscContainer other; /* the shadow that is not in its place */
} MatShadowTwin;

/* The matrix whose shadow has a twin, or NULL if the program gave it another type since */
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

/* Calls one of the operations of the matrix, with the twin's shadow in its place */
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

/* Makes a twin of a matrix with a shadow; *T is NULL for any other matrix. The twin keeps the matrix, which it must not outlive. */
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
  PetscCall(MatShadowCompose(block, s->format, s, &t)); /* in the place of s */
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

/* Converts the twin now, or brings it up to date; solvers look for the null space of the operator that they are given */
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
