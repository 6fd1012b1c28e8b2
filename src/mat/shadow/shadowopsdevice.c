/* SPDX-License-Identifier: BSD-2-Clause */
/*
   What is overridden on an AIJCUSPARSE besides the products: what would take ours away, and what of PETSc is wrong with vectors or values that are
   not where AIJCUSPARSE takes them to be.
*/
#include "mat/shadow/shadow.h"

/* AIJCUSPARSE exchanges operations, also some of ours */
static PetscErrorCode MatBindToCPU_Shadow(Mat A, PetscBool bind)
{
  PetscFunctionBegin;
  PetscCall((*MatShadowBaseSeqCUSPARSE.bindtocpu)(A, bind));
  PetscCall(MatShadowSetOperations(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGetDiagonal_Shadow(Mat A, Vec diagonal)
{
  MatShadowCSR csr;
  Vec          d;

  PetscFunctionBegin;
  if (A->assembled && A->rmap->n) PetscCall(MatShadowDeviceGetCSR(A, &csr)); /* often what brings the matrix to the device, where that is faster from here */
  PetscCall(MatShadowDeviceBring(A, 1, diagonal, NULL, &d));
  PetscCall((*MatShadowBaseSeqCUSPARSE.getdiagonal)(A, d));
  PetscCall(MatShadowDeviceTake(d, diagonal));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatDiagonalScale_Shadow(Mat A, Vec left, Vec right)
{
  Vec l = NULL, r = NULL;

  PetscFunctionBegin;
  if (left) PetscCall(MatShadowDeviceBring(A, 1, left, left, &l));
  if (right) PetscCall(MatShadowDeviceBring(A, 0, right, right, &r));
  PetscCall((*MatShadowBaseSeqCUSPARSE.diagonalscale)(A, l, r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define MAT_SHADOW_CPU_SOLVE 1000 /* rows up to which the triangular solves of a factorisation are as fast on the host */

/* The triangular solves of AIJCUSPARSE begin with code that CUDA loads for them, 30 to 50 ms in the first solve of a program. For a small matrix, such as
   the coarsest level of multigrid, PETSc's solve on the host is faster altogether. */
PetscErrorCode MatShadowCUSPARSESetCPUSolve(Mat A)
{
  PetscBool given;

  PetscFunctionBegin;
  if (A->boundtocpu || A->rmap->n > MAT_SHADOW_CPU_SOLVE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscOptionsHasName(((PetscObject)A)->options, ((PetscObject)A)->prefix, "-mat_cusparse_use_cpu_solve", &given));
  if (!given) PetscCall(MatCUSPARSESetUseCPUSolve(A, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc wrote the array of the host and did not say so, where it takes any AIJ for one of the host */
static PetscErrorCode MatShadowHostWritten(Mat A)
{
  PetscScalar *a;

  PetscFunctionBegin;
  PetscCall(MatSeqAIJGetArrayWrite(A, &a));
  PetscCall(MatSeqAIJRestoreArrayWrite(A, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatTranspose_Shadow(Mat A, MatReuse reuse, Mat *B)
{
  PetscFunctionBegin;
  PetscCall((*MatShadowBaseSeqCUSPARSE.transpose)(A, reuse, B));
  if (reuse == MAT_REUSE_MATRIX) PetscCall(MatShadowHostWritten(*B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatLoad_Shadow(Mat A, PetscViewer viewer)
{
  PetscFunctionBegin;
  PetscCall((*MatShadowBaseSeqCUSPARSE.load)(A, viewer));
  PetscCall(MatShadowHostWritten(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatCreateSubMatrices_Shadow(Mat A, PetscInt n, const IS rows[], const IS cols[], MatReuse reuse, Mat *B[])
{
  PetscFunctionBegin;
  PetscCall((*MatShadowBaseMPICUSPARSE.createsubmatrices)(A, n, rows, cols, reuse, B));
  for (PetscInt k = 0; k < n && reuse == MAT_REUSE_MATRIX; k++) PetscCall(MatShadowHostWritten((*B)[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatShadowComposeToAIJ(Mat A, PetscErrorCode (*f)(Mat, MatType, MatReuse, Mat *))
{
  PetscBool seq; /* by name: the operations of a matrix that is given back are PETSc's already */

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATSEQAIJCUSPARSE, &seq));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, seq ? "MatConvert_seqaijcusparse_seqaij_C" : "MatConvert_mpiaijcusparse_mpiaij_C", f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All that was said of A and hung on it but its shadow, for a matrix that takes its place */
static PetscErrorCode MatShadowCarry(Mat A, Mat B)
{
  PetscObjectList all = NULL;
  PetscObject     own;

  PetscFunctionBegin;
  PetscCall(PetscObjectQuery((PetscObject)B, "MatShadow", &own));
  PetscCall(PetscObjectReference(own));
  PetscCall(PetscObjectListDuplicate(((PetscObject)A)->olist, &all));
  PetscCall(PetscObjectListDestroy(&((PetscObject)B)->olist));
  ((PetscObject)B)->olist = all;
  PetscCall(PetscObjectCompose((PetscObject)B, "MatShadow", own));
  PetscCall(PetscObjectDereference(own));
  PetscCall(PetscObjectSetName((PetscObject)B, ((PetscObject)A)->name));
  PetscCall(MatSetOptionsPrefix(B, ((PetscObject)A)->prefix));
  ((PetscObject)B)->tablevel = ((PetscObject)A)->tablevel;
  PetscCall(MatSetBlockSizes(B, PetscAbs(A->rmap->bs), PetscAbs(A->cmap->bs)));
  if (A->rmap->mapping && A->cmap->mapping) PetscCall(MatSetLocalToGlobalMapping(B, A->rmap->mapping, A->cmap->mapping));
  PetscCall(MatSetNullSpace(B, A->nullsp));
  PetscCall(MatSetTransposeNullSpace(B, A->transnullsp));
  PetscCall(MatSetNearNullSpace(B, A->nearnullsp));
  PetscCall(MatPropagateSymmetryOptions(A, B));
  B->spd_eternal              = A->spd_eternal;
  B->stencil                  = A->stencil;
  B->nooffprocentries         = A->nooffprocentries;
  B->nooffproczerorows        = A->nooffproczerorows;
  B->assembly_subset          = A->assembly_subset;
  B->submat_singleis          = A->submat_singleis;
  B->force_diagonals          = A->force_diagonals;
  B->erroriffailure           = A->erroriffailure;
  B->checksymmetryonassembly  = A->checksymmetryonassembly;
  B->checksymmetrytol         = A->checksymmetrytol;
  B->checknullspaceonassembly = A->checknullspaceonassembly;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* To AIJ PETSc goes entry by entry, and in place it forgets what is attached to the matrix. A matrix of several processes stays one, also where there is one
   process and the type is the root name. */
PetscErrorCode MatShadowConvertToAIJ(Mat A, MatType type, MatReuse reuse, Mat *newmat)
{
  Mat       B = *newmat;
  PetscBool seq;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATSEQAIJCUSPARSE, &seq));
  PetscCall(MatShadowComposeToAIJ(A, NULL)); /* or MatConvert() would end up here */
  PetscCall(MatConvert(A, seq ? MATSEQAIJ : MATMPIAIJ, reuse == MAT_REUSE_MATRIX ? MAT_REUSE_MATRIX : MAT_INITIAL_MATRIX, &B));
  if (reuse == MAT_INPLACE_MATRIX) {
    PetscCall(MatShadowCarry(A, B));
    PetscCall(MatHeaderReplace(A, &B));
    B = A;
  } else PetscCall(MatShadowComposeToAIJ(A, MatShadowConvertToAIJ));
  *newmat = B;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MatSetType() goes by names: told to be "amb", an AIJCUSPARSE is taken apart to be made anew, also where it is amb already. What it holds is
   kept for our constructor to put back. Every other caller has no references left or has taken the name away. */
static PetscErrorCode MatShadowKeep(Mat A)
{
  Mat kept;

  PetscFunctionBegin;
  if (((PetscObject)A)->refct < 1 || !((PetscObject)A)->type_name || !A->assembled) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &kept));
  PetscCall(MatShadowCarry(A, kept));
  PetscCall(PetscObjectCompose((PetscObject)A, "MatShadowKept", (PetscObject)kept));
  PetscCall(MatDestroy(&kept));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatDestroy_SeqShadow(Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatShadowKeep(A));
  PetscCall((*MatShadowBaseSeqCUSPARSE.destroy)(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatDestroy_MPIShadow(Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatShadowKeep(A));
  PetscCall((*MatShadowBaseMPICUSPARSE.destroy)(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On a matrix with the values elsewhere these look at the array of the host */
static PetscErrorCode MatStoreValues_Shadow(Mat A)
{
  const PetscScalar *a;
  PetscErrorCode (*store)(Mat);

  PetscFunctionBegin;
  PetscCall(MatSeqAIJGetArrayRead(A, &a));
  PetscCall(MatSeqAIJRestoreArrayRead(A, &a));
  PetscCall(PetscObjectQueryFunction((PetscObject)A, "MatShadowStoreValues_C", &store));
  PetscCall((*store)(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatRetrieveValues_Shadow(Mat A)
{
  PetscErrorCode (*retrieve)(Mat);

  PetscFunctionBegin;
  PetscCall(PetscObjectQueryFunction((PetscObject)A, "MatShadowRetrieveValues_C", &retrieve));
  PetscCall((*retrieve)(A));
  PetscCall(MatShadowHostWritten(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Puts ours in place of a function that PETSc finds by name, and keeps PETSc's under a name of ours; or undoes that */
static PetscErrorCode MatShadowCUSPARSEWrap(Mat A, const char name[], const char kept[], PetscErrorCode (*ours)(Mat), PetscBool add)
{
  PetscErrorCode (*theirs)(Mat);

  PetscFunctionBegin;
  PetscCall(PetscObjectQueryFunction((PetscObject)A, add ? name : kept, &theirs));
  if (theirs == ours) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectComposeFunction((PetscObject)A, kept, add ? theirs : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, name, add ? ours : theirs));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is found by name */
PetscErrorCode MatShadowCUSPARSECompose(Mat A, PetscBool seq, PetscBool add)
{
  PetscFunctionBegin;
  PetscCall(MatShadowComposeToAIJ(A, add ? MatShadowConvertToAIJ : NULL));
  if (!seq) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatShadowCUSPARSEWrap(A, "MatStoreValues_C", "MatShadowStoreValues_C", MatStoreValues_Shadow, add));
  PetscCall(MatShadowCUSPARSEWrap(A, "MatRetrieveValues_C", "MatShadowRetrieveValues_C", MatRetrieveValues_Shadow, add));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Operations besides those that the host's matrices have too */
PetscErrorCode MatShadowCUSPARSESetOperations(Mat A, PetscBool seq)
{
  PetscFunctionBegin;
  A->ops->destroy = seq ? MatDestroy_SeqShadow : MatDestroy_MPIShadow;
  if (!seq) {
    A->ops->createsubmatrices = MatCreateSubMatrices_Shadow;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  A->ops->bindtocpu = MatBindToCPU_Shadow;
  A->ops->transpose = MatTranspose_Shadow;
  A->ops->load      = MatLoad_Shadow;
  if (A->boundtocpu) PetscFunctionReturn(PETSC_SUCCESS);
  A->ops->getdiagonal   = MatGetDiagonal_Shadow;
  A->ops->diagonalscale = MatDiagonalScale_Shadow;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatShadowCUSPARSERestoreOperations(Mat A, PetscBool seq)
{
  const struct _MatOps *base = MatShadowBase(A);

  PetscFunctionBegin;
  A->ops->destroy           = base->destroy;
  A->ops->createsubmatrices = base->createsubmatrices;
  A->ops->bindtocpu         = base->bindtocpu;
  A->ops->transpose         = base->transpose;
  A->ops->load              = base->load;
  if (seq) PetscCall((*base->bindtocpu)(A, A->boundtocpu)); /* the operations of the side it is on */
  PetscFunctionReturn(PETSC_SUCCESS);
}
