/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Operations that petsc-amb replaces on an AIJCUSPARSE besides the products: operations that would remove the shadow's, and operations of PETSc that
   compute wrong results if vectors or values are on the other side
*/
#include <petsc/private/vecimpl.h>

#include "mat/shadow/core/shadow.h"

/* AIJCUSPARSE sets operations, some of them the shadow's, which this function restores */
static PetscErrorCode MatBindToCPU_Shadow(Mat A, PetscBool bind)
{
  PetscFunctionBegin;
  PetscCall((*MatAIJBaseSeqCUSPARSE.bindtocpu)(A, bind));
  PetscCall((*MatShadowAdoptFunctions->setoperations)(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGetDiagonal_Shadow(Mat A, Vec diagonal)
{
  MatShadowCSR csr;
  Vec          d;

  PetscFunctionBegin;
  if (A->assembled && A->rmap->n && !MatAIJIsDeferred(A)) PetscCall(MatAIJDeviceGetCSR(A, &csr.A, &csr.stream)); /* often the first use on the device; this function copies the matrix there faster than PETSc */
  PetscCall(MatShadowDeviceGetVector(A, 1, diagonal, NULL, &d));
  PetscCall((*(MatAIJIsDeferred(A) ? MatAIJDeferredGetDiagonal : MatAIJBaseSeqCUSPARSE.getdiagonal))(A, d));
  PetscCall(MatShadowDeviceRestoreVector(d, diagonal));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatDiagonalScale_Shadow(Mat A, Vec left, Vec right)
{
  Vec l = NULL, r = NULL;

  PetscFunctionBegin;
  if (left) PetscCall(MatShadowDeviceGetVector(A, 1, left, left, &l));
  if (right) PetscCall(MatShadowDeviceGetVector(A, 0, right, right, &r));
  PetscCall((*MatAIJBaseSeqCUSPARSE.diagonalscale)(A, l, r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Marks the host's values as the newest: PETSc wrote them without marking, in code that treats any AIJ as a host matrix */
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
  PetscCall((*MatAIJBaseSeqCUSPARSE.transpose)(A, reuse, B));
  if (reuse == MAT_REUSE_MATRIX) PetscCall(MatShadowHostWritten(*B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatLoad_Shadow(Mat A, PetscViewer viewer)
{
  PetscFunctionBegin;
  PetscCall((*MatAIJBaseSeqCUSPARSE.load)(A, viewer));
  PetscCall(MatShadowHostWritten(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatCreateSubMatrices_Shadow(Mat A, PetscInt n, const IS rows[], const IS cols[], MatReuse reuse, Mat *B[])
{
  PetscFunctionBegin;
  PetscCall((*MatAIJBaseMPICUSPARSE.createsubmatrices)(A, n, rows, cols, reuse, B));
  for (PetscInt k = 0; k < n && reuse == MAT_REUSE_MATRIX; k++) PetscCall(MatShadowHostWritten((*B)[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if PETSC_VERSION_GE(3, 24, 0)
/* Creates a vector of the layout without arrays, which PETSc allocates and zeroes at their first use, on the side of that use. *v stays NULL if A has other vectors. */
static PetscErrorCode MatShadowCreateVec(Mat A, PetscLayout map, const char name[], Vec *v)
{
  PetscMPIInt size;
  PetscBool   cuda;
  Vec         model;

  PetscFunctionBegin;
  *v = NULL;
  PetscCall(PetscStrcmpAny(A->defaultvectype, &cuda, VECCUDA, VECMPICUDA, ""));
  PetscCallMPI(MPI_Comm_size(map->comm, &size));
  if (!cuda || size == 1 || A->boundtocpu) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectQuery((PetscObject)A, name, (PetscObject *)&model));
  if (!model || model->map != map) {
    PetscCall(VecCreateMPICUDAWithArrays(map->comm, PetscAbs(map->bs), map->n, map->N, NULL, NULL, &model));
    PetscCall(PetscLayoutReference(map, &model->map));
    PetscCall(PetscObjectCompose((PetscObject)A, name, (PetscObject)model));
    PetscCall(PetscObjectDereference((PetscObject)model));
  }
  PetscCall(VecDuplicate(model, v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc creates the vectors of several processes with both arrays, and pins the host's, which takes 10 ms for 4 million entries; solvers only duplicate many of them */
static PetscErrorCode MatCreateVecs_Shadow(Mat A, Vec *right, Vec *left)
{
  Vec r = NULL, l = NULL;

  PetscFunctionBegin;
  if (right) PetscCall(MatShadowCreateVec(A, A->cmap, "MatShadowRight", &r));
  if (left) PetscCall(MatShadowCreateVec(A, A->rmap, "MatShadowLeft", &l));
  A->ops->getvecs = NULL;
  if ((right && !r) || (left && !l)) PetscCall(MatCreateVecs(A, right && !r ? &r : NULL, left && !l ? &l : NULL));
  A->ops->getvecs = MatCreateVecs_Shadow;
  if (right) *right = r;
  if (left) *left = l;
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

static PetscErrorCode MatShadowComposeToAIJ(Mat A, PetscErrorCode (*f)(Mat, MatType, MatReuse, Mat *))
{
  PetscBool seq; /* by the type name: a matrix that is being detached already has PETSc's operations */

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATSEQAIJCUSPARSE, &seq));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, seq ? "MatConvert_seqaijcusparse_seqaij_C" : "MatConvert_mpiaijcusparse_mpiaij_C", f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's setters set the matrix up, which makes a matrix without a type an AIJ */
static PetscErrorCode MatShadowCarryNullSpace(MatNullSpace from, MatNullSpace *to)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectReference((PetscObject)from));
  PetscCall(MatNullSpaceDestroy(to));
  *to = from;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies A's properties, and the objects composed with A except its shadow, to B, which will replace A */
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
  PetscCall(MatShadowCarryNullSpace(A->nullsp, &B->nullsp));
  PetscCall(MatShadowCarryNullSpace(A->transnullsp, &B->transnullsp));
  PetscCall(MatShadowCarryNullSpace(A->nearnullsp, &B->nearnullsp));
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

/* Converts to AIJ. PETSc would convert entry by entry, and in place would lose the composed objects. An MPI matrix stays MPI, also on one process
   with the root type name. */
PetscErrorCode MatShadowConvertToAIJ(Mat A, MatType type, MatReuse reuse, Mat *newmat)
{
  Mat       B = *newmat;
  PetscBool seq;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATSEQAIJCUSPARSE, &seq));
  PetscCall(MatShadowComposeToAIJ(A, NULL)); /* otherwise MatConvert() would call this function again */
  PetscCall(MatConvert(A, seq ? MATSEQAIJ : MATMPIAIJ, reuse == MAT_REUSE_MATRIX ? MAT_REUSE_MATRIX : MAT_INITIAL_MATRIX, &B));
  if (reuse == MAT_INPLACE_MATRIX) {
    PetscCall(MatShadowCarry(A, B));
    PetscCall(MatHeaderReplace(A, &B));
    B = A;
  } else PetscCall(MatShadowComposeToAIJ(A, MatShadowConvertToAIJ));
  *newmat = B;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatDestroy_Shadow(Mat);

/* MatSetType() compares names: with "amb" it destroys an AIJCUSPARSE's data and creates new ones, even if the matrix already has that format. This
   function moves the data to another object, and the format's constructor moves them back if MatSetType() calls it next. The product and the variable
   blocks stay, as in MatSetType() to another type. All other callers of destroy() hold no reference, or have removed the type name. A sub-matrix of
   several processes has PETSc's destroy(), which calls this one and then frees members of the data: such a matrix is not moved. */
static PetscErrorCode MatShadowKeep(Mat A, PetscBool *moved)
{
  const PetscInt refct = (PetscInt)((PetscObject)A)->refct;
  struct _p_Mat  inside;
  Mat            kept;

  PetscFunctionBegin;
  *moved = PETSC_FALSE;
  if (refct < 1 || !((PetscObject)A)->type_name || !A->assembled || A->ops->destroy != MatDestroy_Shadow) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatCreate(PetscObjectComm((PetscObject)A), &kept));
  PetscCall(PetscLayoutReference(A->rmap, &kept->rmap));
  PetscCall(PetscLayoutReference(A->cmap, &kept->cmap));
  inside                     = *A; /* as in MatHeaderReplace() */
  *A                         = *kept;
  *kept                      = inside;
  ((PetscObject)A)->refct    = refct;
  ((PetscObject)kept)->refct = 1;
  ((PetscObject)A)->state    = ((PetscObject)kept)->state; /* continues from this number */
  A->nonzerostate            = kept->nonzerostate;
  PetscCall(MatShadowCarry(kept, A));
  MatAIJMoveProduct(kept, A);
  PetscCall(PetscObjectCompose((PetscObject)A, "MatShadowKept", (PetscObject)kept));
  PetscCall(MatDestroy(&kept));
  *moved = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Products with dense matrices: PETSc queries both type names first. PETSc restores its own function when it binds a sequential matrix to a side; for
   an MPI matrix it has one only on the dense matrix. */
static PetscErrorCode MatShadowComposeDense(Mat A, PetscBool seq, PetscBool add)
{
  static const char *const names[2][2] = {
    {"MatProductSetFromOptions_mpiaijcusparse_mpidense_C", "MatProductSetFromOptions_mpiaijcusparse_mpidensecuda_C"},
    {"MatProductSetFromOptions_seqaijcusparse_seqdense_C", "MatProductSetFromOptions_seqaijcusparse_seqdensecuda_C"}
  };

  PetscFunctionBegin;
  if (!MatShadowProductsOfMatrices) PetscFunctionReturn(PETSC_SUCCESS);
  for (int k = 0; k < 2; k++) PetscCall(PetscObjectComposeFunction((PetscObject)A, names[seq][k], add ? MatShadowProductsOfMatrices->mixed : NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatDestroy_Shadow(Mat A)
{
  const PetscBool seq = MatShadowIsSequential(A); /* the type name may be gone */
  PetscBool       moved;

  PetscFunctionBegin;
  PetscCall(MatShadowKeep(A, &moved));
  if (moved) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatShadowComposeDense(A, seq, PETSC_FALSE));
  PetscCall((*MatShadowAdoptFunctions->forget)(A));
  PetscCall((*MatAIJGetBaseCUSPARSE(seq)->destroy)(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's functions of these names use the host's array even if the newest values are on the device */
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

/* Replaces a function that PETSc finds by name, and keeps PETSc's under the name `kept`; or restores it */
static PetscErrorCode MatShadowCUSPARSEWrap(Mat A, const char name[], const char kept[], PetscErrorCode (*function)(Mat), PetscBool add)
{
  PetscErrorCode (*previous)(Mat);

  PetscFunctionBegin;
  PetscCall(PetscObjectQueryFunction((PetscObject)A, add ? name : kept, &previous));
  if (previous == function) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectComposeFunction((PetscObject)A, kept, add ? previous : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, name, add ? function : previous));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Arrays that will cross the bus are allocated on huge pages, because they are pinned */
#define PREALLOCATE_SEQ "MatSeqAIJSetPreallocation_C"
#define PREALLOCATE_MPI "MatMPIAIJSetPreallocation_C"
#define PREALLOCATE     "MatShadowSetPreallocation_C"

static PetscErrorCode MatSeqAIJSetPreallocation_Shadow(Mat A, PetscInt nz, const PetscInt nnz[])
{
  PetscErrorCode (*previous)(Mat, PetscInt, const PetscInt[]), raised;

  PetscFunctionBegin;
  PetscCall(PetscObjectQueryFunction((PetscObject)A, PREALLOCATE, &previous));
  MatAIJPagesBegin();
  raised = (*previous)(A, nz, nnz);
  MatAIJPagesEnd();
  PetscFunctionReturn(raised);
}

static PetscErrorCode MatMPIAIJSetPreallocation_Shadow(Mat A, PetscInt dnz, const PetscInt dnnz[], PetscInt onz, const PetscInt onnz[])
{
  PetscErrorCode (*previous)(Mat, PetscInt, const PetscInt[], PetscInt, const PetscInt[]), raised;

  PetscFunctionBegin;
  PetscCall(PetscObjectQueryFunction((PetscObject)A, PREALLOCATE, &previous));
  MatAIJPagesBegin();
  raised = (*previous)(A, dnz, dnnz, onz, onnz);
  MatAIJPagesEnd();
  PetscFunctionReturn(raised);
}

static PetscErrorCode MatShadowCUSPARSEWrapPreallocation(Mat A, PetscBool seq, PetscBool add)
{
  const char *name = seq ? PREALLOCATE_SEQ : PREALLOCATE_MPI;
  void (*previous)(void), (*kept)(void);

  PetscFunctionBegin;
  PetscCall(PetscObjectQueryFunction((PetscObject)A, name, &previous));
  PetscCall(PetscObjectQueryFunction((PetscObject)A, PREALLOCATE, &kept));
  if (add == (PetscBool)(kept != NULL) || (add && !previous)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectComposeFunction((PetscObject)A, PREALLOCATE, add ? previous : NULL));
  if (!add && previous) PetscCall(PetscObjectComposeFunction((PetscObject)A, name, kept));
  else if (add && seq) PetscCall(PetscObjectComposeFunction((PetscObject)A, name, MatSeqAIJSetPreallocation_Shadow));
  else if (add) PetscCall(PetscObjectComposeFunction((PetscObject)A, name, MatMPIAIJSetPreallocation_Shadow));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Composes the functions that PETSc finds by name, or removes them */
PetscErrorCode MatShadowCUSPARSECompose(Mat A, PetscBool seq, PetscBool add)
{
  PetscFunctionBegin;
  PetscCall(MatShadowComposeToAIJ(A, add ? MatShadowConvertToAIJ : NULL));
  PetscCall(MatShadowCUSPARSEWrapPreallocation(A, seq, add));
  if (!seq) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatShadowCUSPARSEWrap(A, "MatStoreValues_C", "MatShadowStoreValues_C", MatStoreValues_Shadow, add));
  PetscCall(MatShadowCUSPARSEWrap(A, "MatRetrieveValues_C", "MatShadowRetrieveValues_C", MatRetrieveValues_Shadow, add));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the operations that only a matrix on the device needs */
PetscErrorCode MatShadowCUSPARSESetOperations(Mat A, PetscBool seq)
{
  PetscFunctionBegin;
  A->ops->destroy = MatDestroy_Shadow;
  PetscCall(MatShadowComposeDense(A, seq, PETSC_TRUE));
  if (!seq) {
    A->ops->createsubmatrices = MatCreateSubMatrices_Shadow;
#if PETSC_VERSION_GE(3, 24, 0)
    if (!MatAIJBaseMPICUSPARSE.getvecs) A->ops->getvecs = MatCreateVecs_Shadow;
#endif
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  A->ops->bindtocpu = MatBindToCPU_Shadow;
  A->ops->transpose = MatTranspose_Shadow;
  A->ops->load      = MatLoad_Shadow;

  A->ops->invertblockdiagonal         = MatInvertBlockDiagonal_AIJDevice;
  A->ops->invertvariableblockdiagonal = MatInvertVariableBlockDiagonal_AIJDevice;
  if (A->boundtocpu) PetscFunctionReturn(PETSC_SUCCESS);
  A->ops->getdiagonal   = MatGetDiagonal_Shadow;
  A->ops->diagonalscale = MatDiagonalScale_Shadow;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatShadowCUSPARSERestoreOperations(Mat A, PetscBool seq)
{
  const struct _MatOps *base = MatAIJGetBase(A);

  PetscFunctionBegin;
  A->ops->destroy           = base->destroy;
  A->ops->createsubmatrices = base->createsubmatrices;
  A->ops->getvecs           = base->getvecs;
  A->ops->bindtocpu         = base->bindtocpu;
  A->ops->load              = base->load;

  A->ops->invertblockdiagonal         = base->invertblockdiagonal;
  A->ops->invertvariableblockdiagonal = base->invertvariableblockdiagonal;
  PetscCall(MatShadowComposeDense(A, seq, PETSC_FALSE));
  if (seq) PetscCall((*base->bindtocpu)(A, A->boundtocpu)); /* sets the operations for host or device */
  PetscFunctionReturn(PETSC_SUCCESS);
}
