/* SPDX-License-Identifier: BSD-2-Clause */
/*
   How a matrix becomes and stays a subtype of AIJ: the registry of formats, operations, duplication, blocks of MPI matrices.

   Attaching a shadow replaces operations and composes a MatShadow with the matrix. On the host the matrix also gets its own type name, so that
   matrices that PETSc creates "of the same type" pass through that type's constructor. The name begins with the base type's, by which PETSc
   recognizes a subtype. On the device the matrix keeps the name of AIJCUSPARSE. The base type's operations, which PETSc does not export, are read
   from a temporary matrix.
*/
#include "mat/shadow/core/shadow.h"
#include "vec/ambvec/ambvec.h"

static PetscErrorCode MatShadowDestroy(PetscAMBCtxArgument arg)
{
  MatShadow *s = (MatShadow *)PetscAMBCtxGet(arg);

  PetscFunctionBegin;
  PetscCall((*MatShadowUserFunctions->destroyed)(s));
  PetscCall(MatShadowTuneEnd(s));
  if (s->data) (*s->ops->destroy)(s->data);
  PetscCall(MatShadowDeviceForgetRows(s));
  for (int k = 0; k < 2; k++) PetscCall(VecDestroy(&s->work[k]));
  if (s->halo) PetscCall((*MatShadowExchangeOfVectors->destroy)(&s->halo));
  PetscCall(PetscFree(s->params));
  PetscCall(PetscFree(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads the program's options for matrices on the device */
static PetscErrorCode MatShadowDeviceReadOptions(void)
{
  PetscFunctionBegin;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-petscamb_for_vec", &VecAMBWanted, NULL));
  PetscCall((*MatShadowUserFunctions->sought)("-petscamb_for_vec"));
  PetscCall(MatAIJPagesSetFromOptions());
  PetscCall((*MatShadowUserFunctions->sought)("-petscamb_gamg_huge_pages"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatShadowSetFromOptions(Mat A, MatShadow *s)
{
  char old[64]; /* the old name of -mat_shadow_halo, of one type */

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(old, sizeof(old), "-mat_%s_halo", s->format->name));
  PetscOptionsBegin(PetscObjectComm((PetscObject)A), ((PetscObject)A)->prefix, "Shadow format options", "Mat");
  PetscCall(PetscOptionsEnum("-mat_shadow_tune", "How to choose between the format and the AIJ", "MatShadowSetTune", MatShadowTunes, (PetscEnum)s->tune, (PetscEnum *)&s->tune, NULL));
  PetscCall(PetscOptionsEnum("-mat_shadow_values", "How the format stores values", "MatShadowSetValues", MatShadowValuesNames, (PetscEnum)s->values, (PetscEnum *)&s->values, NULL));
  PetscCall(PetscOptionsBool("-mat_shadow_keep_aij", "On a GPU, the AIJ keeps its copy there beside the format", "MatShadowSetKeepAIJ", s->keep, &s->keep, NULL));
  PetscCall(PetscOptionsEnum("-mat_shadow_sor", "The order of rows in sweeps of PCSOR; auto: color on a GPU, natural on the host", "MatShadowSetSOR", MatShadowSORs, (PetscEnum)s->sor, (PetscEnum *)&s->sor, NULL));
  PetscCall(PetscOptionsEnum("-mat_shadow_halo", "How GPUs exchange entries of x; old name: -mat_TYPE_halo", "MatShadowSetHalo", MatShadowHalos, (PetscEnum)s->halo_wanted, (PetscEnum *)&s->halo_wanted, NULL));
  if (s->format->setfromoptions) PetscCall((*s->format->setfromoptions)(s->params, &s->tune, PetscOptionsObject));
  PetscOptionsEnd();
  PetscCall(PetscOptionsGetEnum(NULL, ((PetscObject)A)->prefix, old, MatShadowHalos, (PetscEnum *)&s->halo_wanted, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Composes a new shadow with A, replacing an older one; its parameters are the parent's or, without a parent, come from the options */
PetscErrorCode MatShadowCompose(Mat A, const MatShadowFormat *format, const MatShadow *parent, MatShadow **shadow)
{
  MatShadow *s;

  PetscFunctionBegin;
  PetscCall(PetscNew(&s));
  PetscCall(PetscCalloc1(format->params_size, (char **)&s->params));
  s->format   = format;
  s->owner    = A;
  s->cusparse = MatAIJIsCUSPARSE(A);
  s->mpi      = (PetscBool)(strncmp(((PetscObject)A)->type_name, MATSEQAIJ, strlen(MATSEQAIJ)) != 0);
  s->tune     = MAT_SHADOW_TUNE_MEASURE;
  s->values   = MAT_SHADOW_VALUES_EXACT;
  s->keep     = PETSC_TRUE;
  s->nz       = -1;

  s->past.since = SysSeconds(CLOCK_THREAD_CPUTIME_ID);
  if (MatShadowConverted.begin == 0) MatShadowConverted.begin = s->past.since;
  PetscCall((*MatShadowUserFunctions->created)(s));
  PetscCall((*MatShadowUserFunctions->read)());
  if (s->cusparse) PetscCall(MatShadowDeviceReadOptions());
  PetscCall(MatShadowDrop(s));
  if (parent) {
    s->tune        = parent->tune;
    s->values      = parent->values;
    s->keep        = parent->keep;
    s->sor         = parent->sor;
    s->halo_wanted = parent->halo_wanted;
    PetscCall(PetscMemcpy(s->params, parent->params, format->params_size));
  } else {
    PetscCall(MatShadowSetFromOptions(A, s));
    PetscCall((*MatShadowUserFunctions->remember)());
  }
  PetscCall(PetscAMBObjectContainerCompose((PetscObject)A, "MatShadow", s, MatShadowDestroy));
  *shadow = s;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gives a matrix that PETSc created from, or as a part of, a matrix with a shadow the same format: on the device the constructors give every matrix
   the format of the first device matrix */
static PetscErrorCode MatShadowAttachLike(Mat A, const MatShadow *parent)
{
  const MatShadowFormat *format = NULL;

  PetscFunctionBegin;
  if (MatShadowIsOurs(A)) PetscCall(MatShadowGetFormat(A, &format));
  if (format == parent->format) PetscFunctionReturn(PETSC_SUCCESS);
  if (format) PetscCall(MatShadowDetach(A));
  PetscCall(MatShadowAttach(A, parent->format, parent));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gives an MPI matrix's blocks shadows. On the device a constructor may already have done so without knowing their owner; and blocks preallocated by
   AIJCUSPARSE lack the block sizes of an AIJ. */
static PetscErrorCode MatShadowAdoptBlocks(Mat A, PetscBool cusparse)
{
  Mat        block[2];
  MatShadow *s = NULL, *b;

  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(A, &block[0], &block[1], NULL));
  for (int k = 0; k < 2; k++) {
    PetscBool plain;

    if (!block[k]) continue;
    if (!MatShadowIsOurs(block[k])) {
      PetscCall(PetscObjectTypeCompareAny((PetscObject)block[k], &plain, MATSEQAIJ, MATSEQAIJCUSPARSE, ""));
      if (!plain) continue;
    } else {
      PetscCall(MatShadowGet(block[k], &b));
      if (b->adopted) continue;
    }
    if (!s) PetscCall(MatShadowGet(A, &s));
    PetscCall(MatShadowAttachLike(block[k], s));
    PetscCall(MatShadowGet(block[k], &b));
    PetscCall(MatShadowCopyParams(block[k], b, s));
    b->adopted = PETSC_TRUE;
    if (cusparse && PetscAbs(block[k]->rmap->bs) == 1 && PetscAbs(block[k]->cmap->bs) == 1) { PetscCall(MatSetBlockSizes(block[k], PetscAbs(A->rmap->bs), k ? 1 : PetscAbs(A->cmap->bs))); }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc replaces the blocks when it preallocates, disassembles or sets COO entries */
PetscErrorCode MatShadowAttachBlocks(Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatShadowAdoptBlocks(A, MatAIJIsCUSPARSE(A)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Records that a block belongs to a matrix that PETSc assembles by COO */
static PetscErrorCode MatShadowSetCOO(Mat block, MatShadow *s, void *A)
{
  PetscObject coo;

  PetscFunctionBegin;
  PetscCall(PetscObjectQuery((PetscObject)A, "__PETSc_MatCOOStruct_Host", &coo));
  s->coo = (PetscBool)(coo != NULL);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The assembly, perhaps by COO, may have merged a plain AIJ into this matrix, or set a new view: restores shadow and view */
static PetscErrorCode MatAssemblyEnd_Shadow(Mat A, MatAssemblyType type)
{
  MatShadow *s;

  PetscFunctionBegin;
  PetscCall((*MatAIJGetBase(A)->assemblyend)(A, type));
  PetscCall(MatShadowGet(A, &s));
  if (A->ops->view != MatShadowUserFunctions->view) {
    s->view      = A->ops->view;
    A->ops->view = MatShadowUserFunctions->view;
  }
  if (s->cusparse) PetscCall(MatAIJCUSPARSESetCPUSolve(A));
  if (A->ops->mult != MatMult_MPIShadow || type != MAT_FINAL_ASSEMBLY) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatShadowAttachBlocks(A));
  if (s->cusparse) PetscCall(MatShadowForEach(A, MatShadowSetCOO, A));
  if (s->halo) PetscCall((*MatShadowExchangeOfVectors->assembled)(A, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatDuplicate_Shadow(Mat A, MatDuplicateOption option, Mat *B)
{
  MatShadow *from, *to;

  PetscFunctionBegin;
  PetscCall((*MatAIJGetBase(A)->duplicate)(A, option, B));
  PetscCall(MatShadowGet(A, &from));
  PetscCall(MatShadowAttachLike(*B, from)); /* AIJCUSPARSE gave the duplicate its own operations */
  PetscCall(MatShadowGet(*B, &to));
  to->tune        = from->tune;
  to->values      = from->values;
  to->keep        = from->keep;
  to->sor         = from->sor;
  to->halo_wanted = from->halo_wanted;
  to->view        = from->view; /* PETSc copies the original's view, perhaps a DMDA's */
  PetscCall(PetscMemcpy(to->params, from->params, from->format->params_size));
  PetscCall(MatShadowParamsChanged(*B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Removes everything that petsc-amb composed with A before PETSc's destroy(), when MatSetType() is about to change the type. All other callers of
   destroy() hold no reference, or have removed the type name. */
PetscErrorCode MatShadowForget(Mat A)
{
  const MatShadowFormat *format;
  PetscBool              seq;

  PetscFunctionBegin;
  if (((PetscObject)A)->refct < 1 || !((PetscObject)A)->type_name) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatShadowGetFormat(A, &format));
  if (!format) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscStrbeginswith(((PetscObject)A)->type_name, MATSEQAIJ, &seq));
  PetscCall(MatShadowComposeFunctions(A, format, seq, PETSC_FALSE));
  PetscCall(PetscObjectCompose((PetscObject)A, "MatShadow", NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On the host. They find PETSc's function without a type name, because MatCreateSubMatrices() keeps their address and may call them for a matrix that
   lost its shadow. */
static PetscErrorCode MatDestroy_SeqShadow(Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatShadowForget(A));
  PetscCall((*MatAIJBaseSeq.destroy)(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatDestroy_MPIShadow(Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatShadowForget(A));
  PetscCall((*MatAIJBaseMPI.destroy)(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Installs the destroy of a host matrix with a shadow; not on a sub-matrix, whose destroy calls the one that it found */
void MatShadowSetDestroy(Mat A)
{
  if (A->ops->destroy == MatAIJBaseSeq.destroy) A->ops->destroy = MatDestroy_SeqShadow;
  else if (A->ops->destroy == MatAIJBaseMPI.destroy) A->ops->destroy = MatDestroy_MPIShadow;
}

PetscErrorCode MatShadowSetOperations(Mat A)
{
  const PetscBool seq = (PetscBool)(strncmp(((PetscObject)A)->type_name, MATSEQAIJ, strlen(MATSEQAIJ)) == 0);

  A->ops->view             = MatShadowUserFunctions->view;
  A->ops->duplicate        = MatDuplicate_Shadow;
  A->ops->convertfrom      = MatShadowAdoptFunctions->convertfrom;
  A->ops->mult             = seq ? MatMult_Shadow : MatMult_MPIShadow;
  A->ops->multadd          = seq ? MatMultAdd_Shadow : MatMultAdd_MPIShadow;
  A->ops->multtranspose    = seq ? MatMultTranspose_Shadow : MatMultTranspose_MPIShadow;
  A->ops->multtransposeadd = seq ? MatMultTransposeAdd_Shadow : MatMultTransposeAdd_MPIShadow;
  A->ops->assemblyend      = MatAssemblyEnd_Shadow;
  if (!seq) A->ops->transpose = MatTranspose_MPIAIJ_AMB;
  if (MatShadowProductsOfMatrices) A->ops->productsetfromoptions = MatShadowProductsOfMatrices->setfromoptions;
  if (MatAIJIsCUSPARSE(A)) PetscCall(MatShadowCUSPARSESetOperations(A, seq));
  else {
    MatShadowSetDestroy(A);
    MatShadowSetStay(A, PETSC_TRUE);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Setting the same name would free the string that MatGetType() returned to the program */
PetscErrorCode MatShadowRename(Mat A, MatType type)
{
  PetscBool same;

  PetscFunctionBegin;
  PetscCall(PetscStrcmp(((PetscObject)A)->type_name, type, &same));
  if (!same) PetscCall(PetscObjectChangeTypeName((PetscObject)A, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gives an AIJ or AIJCUSPARSE a shadow, or restores it after the matrix's data were replaced. With -petscamb_for_aij the matrix keeps its type name. */
PetscErrorCode MatShadowAttach(Mat A, const MatShadowFormat *format, const MatShadow *parent)
{
  PetscBool  seq;
  MatShadow *s;

  PetscFunctionBegin;
  PetscCall(MatAIJComplete(A));
  PetscCall(PetscStrbeginswith(((PetscObject)A)->type_name, MATSEQAIJ, &seq));
  PetscCall(MatShadowSetOperations(A));
  if (!MatAIJIsCUSPARSE(A) && !MatShadowForAIJ) PetscCall(MatShadowRename(A, seq ? format->seqtype : format->mpitype));
  PetscCall(MatShadowCompose(A, format, parent, &s));
  PetscCall(MatShadowComposeFunctions(A, format, seq, PETSC_TRUE));
  if (!seq && A->assembled) PetscCall(MatShadowAdoptBlocks(A, PETSC_FALSE)); /* blocks of an AIJ, or of a copy, already have their block sizes */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Removes the shadow: the matrix is a plain AIJ or AIJCUSPARSE again */
PetscErrorCode MatShadowDetach(Mat A)
{
  const PetscBool        seq  = (PetscBool)(A->ops->mult == MatMult_Shadow);
  const struct _MatOps  *base = MatAIJGetBase(A);
  const MatShadowFormat *format;

  PetscFunctionBegin;
  PetscCall(MatAIJComplete(A));
  PetscCall(MatShadowGetFormat(A, &format));
  A->ops->view                  = base->view;
  A->ops->duplicate             = base->duplicate;
  A->ops->convertfrom           = base->convertfrom;
  A->ops->mult                  = base->mult;
  A->ops->multadd               = base->multadd;
  A->ops->multtranspose         = base->multtranspose;
  A->ops->multtransposeadd      = base->multtransposeadd;
  A->ops->assemblyend           = base->assemblyend;
  A->ops->transpose             = base->transpose;
  A->ops->productsetfromoptions = base->productsetfromoptions;
  if (MatAIJIsCUSPARSE(A)) PetscCall(MatShadowCUSPARSERestoreOperations(A, seq));
  else {
    if (A->ops->destroy == MatDestroy_SeqShadow || A->ops->destroy == MatDestroy_MPIShadow) A->ops->destroy = base->destroy;
    MatShadowSetStay(A, PETSC_FALSE);
  }
  PetscCall(MatShadowComposeFunctions(A, format, seq, PETSC_FALSE));
  PetscCall(PetscObjectCompose((PetscObject)A, "MatShadow", NULL));
  if (!MatAIJIsCUSPARSE(A)) PetscCall(MatShadowRename(A, seq ? MATSEQAIJ : MATMPIAIJ));
  if (!seq) PetscCall(MatShadowDetachBlocks(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Removes the shadows of an MPI matrix's blocks; no-op for a sequential matrix */
PetscErrorCode MatShadowDetachBlocks(Mat A)
{
  Mat       block[2];
  PetscBool mpi;

  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &mpi));
  if (!mpi || !A->preallocated) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatMPIAIJGetSeqAIJ(A, &block[0], &block[1], NULL));
  for (int k = 0; k < 2; k++) {
    if (block[k] && block[k]->ops->mult == MatMult_Shadow) PetscCall(MatShadowDetach(block[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
