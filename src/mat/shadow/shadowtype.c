/*
   How a matrix becomes a subtype of AIJ and stays one: the registry of formats, creation, conversion, duplication, blocks of MPI matrices.

   An object is made one of ours by replacing operations and hanging a MatShadow on it; on the host it also gets a type name of its own, so that
   whatever PETSc makes "of the same type" passes through our constructor. The name begins with that of the base type, which is how PETSc knows
   a subtype. The operations of the base, which PETSc does not export, are read off a matrix made for the purpose.
*/
#include "shadow.h"

#define MAT_SHADOW_MAX 8

struct _MatOps                MatShadowBaseSeq, MatShadowBaseMPI;
static const MatShadowFormat *formats[MAT_SHADOW_MAX];
static int                    nformats = 0;

/* Conversions that AIJ has under its own name, to be found under ours too */
static const char *const inherited_seq[] = {"hypre", "is", "seqdense", "seqsbaij", "seqbaij", "mpiadj", NULL};
static const char *const inherited_mpi[] = {"hypre", "is", "mpidense", "mpisbaij", "mpibaij", "mpiadj", NULL};

static PetscErrorCode MatShadowHarvest(MatType type, struct _MatOps *ops)
{
  Mat A;

  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_SELF, &A));
  PetscCall(MatSetOptionsPrefix(A, "mat_shadow_base_")); /* or -mat_seqaij_type would make it a subtype */
  PetscCall(MatSetSizes(A, 1, 1, 1, 1));
  PetscCall(MatSetType(A, type));
  *ops = *A->ops;
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatShadowRegister(const MatShadowFormat *f)
{
  PetscFunctionBegin;
  PetscAssert(nformats < MAT_SHADOW_MAX, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Too many shadow formats");
  if (!nformats) {
    PetscCall(MatShadowHarvest(MATSEQAIJ, &MatShadowBaseSeq));
    PetscCall(MatShadowHarvest(MATMPIAIJ, &MatShadowBaseMPI));
  }
  formats[nformats++] = f;
  PetscCall(MatRegister(f->seqtype, f->create_seq));
  PetscCall(MatRegister(f->mpitype, f->create_mpi));
  PetscCall(MatRegisterRootName(f->name, f->seqtype, f->mpitype));
  PetscCall(MatSeqAIJRegister(f->seqtype, MatShadowConvertType));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatShadowRegisterFinalize(void)
{
  PetscFunctionBegin;
  nformats = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The format that a type name, sequential, MPI or root, belongs to, or NULL */
PetscErrorCode MatShadowFind(const char type[], const MatShadowFormat **format)
{
  PetscFunctionBegin;
  *format = NULL;
  for (int k = 0; k < nformats && type; k++) {
    PetscBool root, seq, mpi;

    PetscCall(PetscStrcmp(type, formats[k]->name, &root));
    PetscCall(PetscStrcmp(type, formats[k]->seqtype, &seq));
    PetscCall(PetscStrcmp(type, formats[k]->mpitype, &mpi));
    if (root || seq || mpi) *format = formats[k];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatShadowDestroy(AmbCtxArgument arg)
{
  MatShadow *s = (MatShadow *)AmbCtxGet(arg);

  PetscFunctionBegin;
  if (s->data) PetscCall((*s->format->destroy)(&s->data));
  PetscCall(PetscFree(s->params));
  PetscCall(PetscFree(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatShadowSetFromOptions(Mat A, MatShadow *s)
{
  PetscFunctionBegin;
  PetscOptionsBegin(PetscObjectComm((PetscObject)A), ((PetscObject)A)->prefix, "Shadow format options", "Mat");
  PetscCall(PetscOptionsEnum("-mat_shadow_tune", "What decides between the format and the AIJ", "MatShadowSetTune", MatShadowTunes, (PetscEnum)s->tune, (PetscEnum *)&s->tune, NULL));
  PetscCall((*s->format->setfromoptions)(s->params, PetscOptionsObject));
  PetscOptionsEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Hangs a new shadow on A, in place of what may hang there; its parameters are those of the parent or, without one, from the options */
static PetscErrorCode MatShadowCompose(Mat A, const MatShadowFormat *format, const MatShadow *parent, MatShadow **shadow)
{
  MatShadow     *s;
  PetscContainer container;

  PetscFunctionBegin;
  PetscCall(PetscNew(&s));
  PetscCall(PetscCalloc1(format->params_size, (char **)&s->params));
  s->format  = format;
  s->owner   = A;
  s->tune    = MAT_SHADOW_TUNE_MEASURE;
  s->lasting = PETSC_FALSE;
  s->nz      = -1;
  PetscCall(MatShadowDrop(s));
  if (parent) {
    s->tune = parent->tune;
    PetscCall(PetscMemcpy(s->params, parent->params, format->params_size));
  } else PetscCall(MatShadowSetFromOptions(A, s));
  PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &container));
  PetscCall(PetscContainerSetPointer(container, s));
  PetscCall(PetscContainerSetCtxDestroy(container, MatShadowDestroy));
  PetscCall(PetscObjectCompose((PetscObject)A, "MatShadow", (PetscObject)container));
  PetscCall(PetscContainerDestroy(&container));
  *shadow = s;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatShadowQuery(Mat A, MatShadow **shadow)
{
  PetscContainer container;

  PetscFunctionBegin;
  *shadow = NULL;
  PetscCall(PetscObjectQuery((PetscObject)A, "MatShadow", (PetscObject *)&container));
  if (container) PetscCall(PetscContainerGetPointer(container, (void **)shadow));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The shadow of a matrix of ours. MatHeaderMerge() may have taken it away, or brought that of another matrix: then it is made anew. */
PetscErrorCode MatShadowGet(Mat A, MatShadow **shadow)
{
  const MatShadowFormat *format;

  PetscFunctionBegin;
  PetscCall(MatShadowQuery(A, shadow));
  if (*shadow && (*shadow)->owner == A) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatShadowFind(((PetscObject)A)->type_name, &format));
  PetscCheck(format, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A matrix of type %s has no shadow", ((PetscObject)A)->type_name);
  PetscCall(MatShadowAttach(A, format, *shadow && (*shadow)->format == format ? *shadow : NULL));
  PetscCall(MatShadowQuery(A, shadow));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Blocks of an MPI matrix come and go: PETSc makes new ones when it preallocates, disassembles or takes COO entries */
PetscErrorCode MatShadowAttachBlocks(Mat A)
{
  Mat        block[2];
  MatShadow *s = NULL;

  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(A, &block[0], &block[1], NULL));
  for (int k = 0; k < 2; k++) {
    PetscBool plain;

    if (!block[k] || block[k]->ops->mult == MatMult_Shadow) continue;
    PetscCall(PetscObjectTypeCompare((PetscObject)block[k], MATSEQAIJ, &plain));
    if (!plain) continue;
    if (!s) PetscCall(MatShadowGet(A, &s));
    PetscCall(MatShadowAttach(block[k], s->format, s));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMult_MPIShadow(Mat A, Vec xx, Vec yy)
{
  PetscFunctionBegin;
  PetscCall(MatShadowAttachBlocks(A));
  PetscCall((*MatShadowBaseMPI.mult)(A, xx, yy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMultAdd_MPIShadow(Mat A, Vec xx, Vec yy, Vec zz)
{
  PetscFunctionBegin;
  PetscCall(MatShadowAttachBlocks(A));
  PetscCall((*MatShadowBaseMPI.multadd)(A, xx, yy, zz));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMultTranspose_MPIShadow(Mat A, Vec xx, Vec yy)
{
  PetscFunctionBegin;
  PetscCall(MatShadowAttachBlocks(A));
  PetscCall((*MatShadowBaseMPI.multtranspose)(A, xx, yy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMultTransposeAdd_MPIShadow(Mat A, Vec xx, Vec yy, Vec zz)
{
  PetscFunctionBegin;
  PetscCall(MatShadowAttachBlocks(A));
  PetscCall((*MatShadowBaseMPI.multtransposeadd)(A, xx, yy, zz));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* At the end of an assembly, also by COO, which may have merged a plain AIJ into this matrix, all of ours is put in place again */
static PetscErrorCode MatShadowRestore(Mat A)
{
  MatShadow *s;

  PetscFunctionBegin;
  PetscCall(MatShadowGet(A, &s));
  if (A->ops->view != MatShadowView) {
    s->view      = A->ops->view;
    A->ops->view = MatShadowView;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatAssemblyEnd_SeqShadow(Mat A, MatAssemblyType type)
{
  PetscFunctionBegin;
  PetscCall((*MatShadowBaseSeq.assemblyend)(A, type));
  PetscCall(MatShadowRestore(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatAssemblyEnd_MPIShadow(Mat A, MatAssemblyType type)
{
  PetscFunctionBegin;
  PetscCall((*MatShadowBaseMPI.assemblyend)(A, type));
  PetscCall(MatShadowRestore(A));
  if (type == MAT_FINAL_ASSEMBLY) PetscCall(MatShadowAttachBlocks(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatDuplicate_Shadow(Mat A, MatDuplicateOption option, Mat *B)
{
  const struct _MatOps *base = A->ops->mult == MatMult_Shadow ? &MatShadowBaseSeq : &MatShadowBaseMPI;
  MatShadow            *from, *to;

  PetscFunctionBegin;
  PetscCall((*base->duplicate)(A, option, B));
  PetscCall(MatShadowGet(A, &from));
  PetscCall(MatShadowGet(*B, &to));
  to->tune = from->tune;
  PetscCall(PetscMemcpy(to->params, from->params, from->format->params_size));
  PetscCall(MatShadowParamsChanged(*B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds the product among those that AIJ has under its own name, for operands that are not all of one type */
static PetscErrorCode MatShadowProductSetFromOptions(Mat D)
{
  Mat_Product *product = D->product;
  Mat          operand[3];
  char         name[256];
  PetscErrorCode (*f)(Mat) = NULL;

  PetscFunctionBegin;
  operand[0] = product->A;
  operand[1] = product->B;
  operand[2] = product->type == MATPRODUCT_ABC ? product->C : NULL;
  PetscCall(PetscStrncpy(name, "MatProductSetFromOptions", sizeof(name)));
  for (int k = 0; k < 3 && operand[k]; k++) {
    const char            *type = ((PetscObject)operand[k])->type_name;
    const MatShadowFormat *format;

    PetscCall(MatShadowFind(type, &format));
    if (format) type = operand[k]->ops->mult == MatMult_Shadow ? MATSEQAIJ : MATMPIAIJ;
    PetscCall(PetscStrlcat(name, "_", sizeof(name)));
    PetscCall(PetscStrlcat(name, type, sizeof(name)));
  }
  PetscCall(PetscStrlcat(name, "_C", sizeof(name)));
  for (int k = 0; k < 3 && operand[k] && !f; k++) PetscCall(PetscObjectQueryFunction((PetscObject)operand[k], name, &f));
  if (f) PetscCall((*f)(D));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatShadowComposeConvert(Mat A, const char from[], const char to[], PetscErrorCode (*f)(Mat, MatType, MatReuse, Mat *))
{
  char name[256];

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(name, sizeof(name), "MatConvert_%s_%s_C", from, to));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, name, f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds, or takes away, all that is found by name on a matrix of this format */
static PetscErrorCode MatShadowComposeFunctions(Mat A, const MatShadowFormat *format, PetscBool seq, PetscBool add)
{
  const char *const *inherited = seq ? inherited_seq : inherited_mpi;
  const char        *type = seq ? format->seqtype : format->mpitype, *base = seq ? MATSEQAIJ : MATMPIAIJ;
  PetscErrorCode (*convert)(Mat, MatType, MatReuse, Mat *) = add ? MatShadowConvertType : NULL;

  PetscFunctionBegin;
  PetscCall(MatShadowComposeConvert(A, type, base, convert));
  for (int k = 0; k < nformats; k++) {
    PetscCall(MatShadowComposeConvert(A, base, seq ? formats[k]->seqtype : formats[k]->mpitype, convert));
    PetscCall(MatShadowComposeConvert(A, base, formats[k]->name, convert));
    PetscCall(MatShadowComposeConvert(A, type, seq ? formats[k]->seqtype : formats[k]->mpitype, convert));
    PetscCall(MatShadowComposeConvert(A, type, formats[k]->name, convert));
  }
  for (int k = 0; inherited[k]; k++) {
    PetscErrorCode (*f)(Mat, MatType, MatReuse, Mat *) = NULL;
    char name[256];

    PetscCall(PetscSNPrintf(name, sizeof(name), "MatConvert_%s_%s_C", base, inherited[k]));
    if (add) PetscCall(PetscObjectQueryFunction((PetscObject)A, name, &f));
    PetscCall(MatShadowComposeConvert(A, type, inherited[k], f));
  }
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatProductSetFromOptions_anytype_C", add ? MatShadowProductSetFromOptions : NULL));
  PetscCall(MatShadowComposeSetters(A, add));
  PetscCall((*format->compose)(A, add));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatConvertFrom_Shadow(Mat, MatType, MatReuse, Mat *);

/* Makes an AIJ one of ours, or makes whole again one whose inside was replaced */
PetscErrorCode MatShadowAttach(Mat A, const MatShadowFormat *format, const MatShadow *parent)
{
  PetscBool  seq;
  MatShadow *s;

  PetscFunctionBegin;
  PetscCall(PetscStrbeginswith(((PetscObject)A)->type_name, MATSEQAIJ, &seq));
  A->ops->view             = MatShadowView;
  A->ops->duplicate        = MatDuplicate_Shadow;
  A->ops->convertfrom      = MatConvertFrom_Shadow;
  A->ops->mult             = seq ? MatMult_Shadow : MatMult_MPIShadow;
  A->ops->multadd          = seq ? MatMultAdd_Shadow : MatMultAdd_MPIShadow;
  A->ops->multtranspose    = seq ? MatMultTranspose_Shadow : MatMultTranspose_MPIShadow;
  A->ops->multtransposeadd = seq ? MatMultTransposeAdd_Shadow : MatMultTransposeAdd_MPIShadow;
  A->ops->assemblyend      = seq ? MatAssemblyEnd_SeqShadow : MatAssemblyEnd_MPIShadow;
  PetscCall(PetscObjectChangeTypeName((PetscObject)A, seq ? format->seqtype : format->mpitype));
  PetscCall(MatShadowCompose(A, format, parent, &s));
  PetscCall(MatShadowComposeFunctions(A, format, seq, PETSC_TRUE));
  if (!seq && A->assembled) PetscCall(MatShadowAttachBlocks(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gives the matrix back to PETSc as the AIJ it always was */
static PetscErrorCode MatShadowDetach(Mat A)
{
  const PetscBool        seq  = (PetscBool)(A->ops->mult == MatMult_Shadow);
  const struct _MatOps  *base = seq ? &MatShadowBaseSeq : &MatShadowBaseMPI;
  const MatShadowFormat *format;

  PetscFunctionBegin;
  PetscCall(MatShadowFind(((PetscObject)A)->type_name, &format));
  A->ops->view             = base->view;
  A->ops->duplicate        = base->duplicate;
  A->ops->convertfrom      = base->convertfrom;
  A->ops->mult             = base->mult;
  A->ops->multadd          = base->multadd;
  A->ops->multtranspose    = base->multtranspose;
  A->ops->multtransposeadd = base->multtransposeadd;
  A->ops->assemblyend      = base->assemblyend;
  PetscCall(MatShadowComposeFunctions(A, format, seq, PETSC_FALSE));
  PetscCall(PetscObjectCompose((PetscObject)A, "MatShadow", NULL));
  PetscCall(PetscObjectChangeTypeName((PetscObject)A, seq ? MATSEQAIJ : MATMPIAIJ));
  if (!seq && A->preallocated) {
    Mat block[2];

    PetscCall(MatMPIAIJGetSeqAIJ(A, &block[0], &block[1], NULL));
    for (int k = 0; k < 2; k++) {
      if (block[k] && block[k]->ops->mult == MatMult_Shadow) PetscCall(MatShadowDetach(block[k]));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All conversions between AIJ and the formats, and among these */
PetscErrorCode MatShadowConvertType(Mat A, MatType type, MatReuse reuse, Mat *newmat)
{
  const MatShadowFormat *from, *to;
  Mat                    B = *newmat;

  PetscFunctionBegin;
  if (reuse == MAT_REUSE_MATRIX) {
    PetscCall(MatCopy(A, B, SAME_NONZERO_PATTERN));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (reuse == MAT_INITIAL_MATRIX) PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(MatShadowFind(((PetscObject)B)->type_name, &from));
  PetscCall(MatShadowFind(type, &to));
  if (from != to) {
    if (from) PetscCall(MatShadowDetach(B));
    if (to) PetscCall(MatShadowAttach(B, to, NULL));
  }
  *newmat = B;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From any other type: by way of AIJ, to which that type may have a conversion of its own */
static PetscErrorCode MatConvertFrom_Shadow(Mat A, MatType type, MatReuse reuse, Mat *newmat)
{
  Mat B = *newmat;

  PetscFunctionBegin;
  if (reuse == MAT_REUSE_MATRIX) {
    PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
    PetscCall(MatCopy(B, *newmat, DIFFERENT_NONZERO_PATTERN));
    PetscCall(MatDestroy(&B));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatConvert(A, MATAIJ, reuse, &B));
  PetscCall(MatConvert(B, type, MAT_INPLACE_MATRIX, &B));
  *newmat = B;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatShadowCreateSeq(Mat A, const MatShadowFormat *format)
{
  PetscFunctionBegin;
  PetscCall(MatSetType(A, MATSEQAIJ));
  PetscCall(MatShadowConvertType(A, format->seqtype, MAT_INPLACE_MATRIX, &A)); /* -mat_seqaij_type may have made it one already */
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatShadowCreateMPI(Mat A, const MatShadowFormat *format)
{
  PetscFunctionBegin;
  PetscCall(MatSetType(A, MATMPIAIJ));
  PetscCall(MatShadowConvertType(A, format->mpitype, MAT_INPLACE_MATRIX, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
