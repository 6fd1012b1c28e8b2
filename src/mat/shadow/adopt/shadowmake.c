/* SPDX-License-Identifier: BSD-2-Clause */
/*
   How a matrix gets and loses a shadow: constructors, conversions, and the choice between host and device
*/
#include "mat/shadow/core/shadow.h"

/* Decides whether A goes to the device in this format; all processes of A need a device then */
static PetscErrorCode MatShadowGoesToDevice(Mat A, const MatShadowFormat *format, MatShadowDevice where, PetscBool *device)
{
  PetscBool   found = PETSC_FALSE;
  PetscMPIInt size, lacking[2]; /* the first process without a device, and whether all lack one */

  PetscFunctionBegin;
  *device = PETSC_FALSE;
  if (where == MAT_SHADOW_DEVICE_CPU) PetscFunctionReturn(PETSC_SUCCESS);
  if (!MatShadowHasDevice(format)) { /* on no process: a matrix on the host costs no message */
    PetscCheck(where != MAT_SHADOW_DEVICE_GPU, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP, "%s matrices on the GPU need a PETSc with CUDA, real numbers and 32-bit indices; use -mat_shadow_device auto", format->name);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatAIJHasDevice(&found));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)A), &lacking[0]));
  lacking[1] = found ? 0 : 1;
  if (found) lacking[0] = size;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, lacking, 2, MPI_INT, MPI_MIN, PetscObjectComm((PetscObject)A)));
  *device = (PetscBool)(lacking[0] == size);
  PetscCheck(*device || lacking[1], PetscObjectComm((PetscObject)A), PETSC_ERR_GPU, "Process %d has no GPU to use, but other processes have one; use -mat_shadow_device cpu to run on the host", lacking[0]);
  PetscCheck(*device || where != MAT_SHADOW_DEVICE_GPU, PetscObjectComm((PetscObject)A), PETSC_ERR_GPU, "-mat_shadow_device gpu, but PETSc has no GPU to use here; use -mat_shadow_device auto");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatShadowDeviceFromOptions(Mat A, const MatShadowFormat *format, PetscBool *device)
{
  MatShadowDevice where = MatShadowStays() ? MAT_SHADOW_DEVICE_CPU : MAT_SHADOW_DEVICE_AUTO;
  char            old[64]; /* the old name of the option, of one type */

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(old, sizeof(old), "-mat_%s_device", format->name));
  PetscOptionsBegin(PetscObjectComm((PetscObject)A), ((PetscObject)A)->prefix, "Shadow device options", "Mat"); /* -help prints a section only if its title is new */
  PetscCall(PetscOptionsEnum("-mat_shadow_device", "Where the matrix and the vectors it makes live; old name: -mat_TYPE_device", "MatShadowSetDevice", MatShadowDevices, (PetscEnum)where, (PetscEnum *)&where, NULL));
  PetscOptionsEnd();
  PetscCall(PetscOptionsGetEnum(NULL, ((PetscObject)A)->prefix, old, MatShadowDevices, (PetscEnum *)&where, NULL));
  PetscCall(MatShadowGoesToDevice(A, format, where, device));
  if (*device) PetscCall(MatShadowDeviceVecOptions(format)); /* the program may have set the type since the library was loaded */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gives a plain AIJ or AIJCUSPARSE a shadow of this format, on device or host; on the host the matrix gets the format's type name */
static PetscErrorCode MatShadowMake(Mat A, const MatShadowFormat *format, PetscBool device, const MatShadow *parent)
{
  PetscBool seq;

  PetscFunctionBegin;
  if (!device && MatAIJIsCUSPARSE(A)) PetscCall(MatShadowConvertToAIJ(A, MATAIJ, MAT_INPLACE_MATRIX, &A));
  if (device) PetscCall(MatShadowDeviceStart(format));
  if (device && !MatAIJIsCUSPARSE(A)) PetscCall(MatShadowDeviceConvert(A));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATSEQAIJ, &seq));
  if (!MatAIJIsCUSPARSE(A)) PetscCall(MatShadowRename(A, seq ? format->seqtype : format->mpitype));
  PetscCall(MatShadowAttach(A, format, parent));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Converts B in place to the format of A, which is on a device, with A's parameters. No-op unless B is an assembled AIJ on the host without user
   operations. With -petscamb_for_aij it removes B's format on the host. MatBoundToCPU() says nothing here: it is true for every AIJ of a PETSc with
   CUDA; only a binding that propagates is the user's. */
PetscErrorCode MatShadowFollow(Mat B, Mat A)
{
  const MatShadowFormat *format;
  PetscBool              aij, bound;
  MatShadow             *s;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)B, &aij, MATSEQAIJ, MATMPIAIJ, ""));
  PetscCall(MatGetBindingPropagates(B, &bound));
  if (!aij || bound || !B->assembled || B->factortype != MAT_FACTOR_NONE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatShadowGetFormat(B, &format));
  if (!format && B->ops->mult != MatAIJGetBase(B)->mult) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatShadowGet(A, &s));
  PetscCall(MatShadowMake(B, s->format, PETSC_TRUE, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatShadowSetDevice_Shadow(Mat A, MatShadowDevice where)
{
  MatShadow *s;
  PetscBool  device;

  PetscFunctionBegin;
  PetscCall(MatShadowGet(A, &s));
  PetscCall(MatShadowGoesToDevice(A, s->format, where, &device));
  if (s->cusparse) PetscCall(MatBindToCPU(A, (PetscBool)!device));
  else if (device) {
    MatShadow old = *s;

    PetscCheck(A->assembled || !A->preallocated, PetscObjectComm((PetscObject)A), PETSC_ERR_ORDER, "The matrix is being filled; call MatShadowSetDevice() before it is preallocated, or after MatAssemblyEnd()");
    PetscCall(PetscMalloc(s->format->params_size, &old.params));
    PetscCall(PetscMemcpy(old.params, s->params, s->format->params_size));
    PetscCall(MatShadowDetach(A));
    PetscCall(MatShadowMake(A, old.format, PETSC_TRUE, &old));
    PetscCall(PetscFree(old.params));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All conversions between AIJ, AIJCUSPARSE and the formats. A matrix that has the format already stays on its side, host or device. */
PetscErrorCode MatShadowConvertType(Mat A, MatType type, MatReuse reuse, Mat *newmat)
{
  const MatShadowFormat *from, *to;
  PetscBool              device = PETSC_FALSE, plain;
  Mat                    B      = *newmat;

  PetscFunctionBegin;
  if (reuse == MAT_REUSE_MATRIX) {
    PetscCall(MatCopy(A, B, SAME_NONZERO_PATTERN));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (reuse == MAT_INITIAL_MATRIX) PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(MatShadowGetFormat(B, &from));
  PetscCall(MatShadowFind(type, &to));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)B, &plain, MATSEQAIJ, MATMPIAIJ, "")); /* a matrix with a shadow may have AIJ's name, and gets another now */
  if (from != to || plain) {
    if (from) PetscCall(MatShadowDetach(B));
    if (to) {
      PetscCall(MatShadowDeviceFromOptions(B, to, &device));
      PetscCall(MatShadowMake(B, to, device, NULL));
    } else if (MatShadowForAIJ) PetscCall(MatShadowForAIJAttach(B));
  }
  *newmat = B;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Converts to another subtype of AIJ, which PETSc creates from a plain AIJ */
PetscErrorCode MatShadowConvertAway(Mat A, MatType type, MatReuse reuse, Mat *newmat)
{
  Mat B = *newmat;

  PetscFunctionBegin;
  if (reuse == MAT_REUSE_MATRIX) {
    PetscCall(MatCopy(A, B, SAME_NONZERO_PATTERN));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (reuse == MAT_INITIAL_MATRIX) PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(MatShadowDetach(B));
  if (MatAIJIsCUSPARSE(B)) PetscCall(MatShadowConvertToAIJ(B, MATAIJ, MAT_INPLACE_MATRIX, &B));
  PetscCall(MatConvert(B, type, MAT_INPLACE_MATRIX, &B));
  *newmat = B;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Converts from any other type, and between sequential and MPI matrices, through the AIJ that the result extends. That AIJ is sequential or MPI as
   the result is: with MATAIJ the conversion from the other kind would call this function again. */
PetscErrorCode MatConvertFrom_Shadow(Mat A, MatType type, MatReuse reuse, Mat *newmat)
{
  const MatShadowFormat *format;
  Mat                    B = *newmat;
  MatType                base;
  PetscBool              seq, mpi;

  PetscFunctionBegin;
  if (MatAIJIsDeferred(A) || MatAIJCompleteType(type) != type) { /* the second: the program copied the type of a deferred matrix */
    PetscCall(MatAIJComplete(A));
    PetscCall(MatConvert(A, MatAIJCompleteType(type), reuse, newmat));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscStrbeginswith(type, MATSEQAIJ, &seq));
  PetscCall(PetscStrbeginswith(type, MATMPIAIJ, &mpi));
  base = seq ? MATSEQAIJ : mpi ? MATMPIAIJ : MATAIJ;
  if (reuse == MAT_REUSE_MATRIX) {
    PetscCall(MatConvert(A, base, MAT_INITIAL_MATRIX, &B));
    PetscCall(MatCopy(B, *newmat, DIFFERENT_NONZERO_PATTERN));
    PetscCall(MatDestroy(&B));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatConvert(A, base, reuse, &B));
  PetscCall(MatShadowFind(type, &format));
  if (format) PetscCall(MatShadowConvertType(B, type, MAT_INPLACE_MATRIX, &B));
  else PetscCall(MatConvert(B, type, MAT_INPLACE_MATRIX, &B)); /* AIJCUSPARSE with a shadow */
  *newmat = B;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Calls PETSc's constructor directly: MatSetType() does nothing if the type name is unchanged */
PetscErrorCode MatShadowCreate(Mat A, const MatShadowFormat *format, MatType base)
{
  PetscErrorCode (*create)(Mat);
  const MatShadowFormat *made;
  PetscBool              device, back;
  Mat                    kept;

  PetscFunctionBegin;
  PetscCall(PetscObjectQuery((PetscObject)A, "MatShadowKept", (PetscObject *)&kept));
  back = (PetscBool)(kept && A->nonzerostate == kept->nonzerostate + 1); /* MatSetType() increments once: no other type was set in between */
  PetscCall(MatShadowDeviceFromOptions(A, format, &device));
  PetscCall(PetscFunctionListFind(MatList, base, &create));
  PetscCall((*create)(A));
  PetscCall(MatShadowGetFormat(A, &made)); /* the constructor may have given A a shadow, for -mat_seqaij_type */
  if (made && made != format) PetscCall(MatShadowDetach(A));
  if (made != format) PetscCall(MatShadowMake(A, format, device, NULL));
  if (back) PetscCall(PetscObjectReference((PetscObject)kept));
  PetscCall(PetscObjectCompose((PetscObject)A, "MatShadowKept", NULL));
  if (!back) PetscFunctionReturn(PETSC_SUCCESS);
  MatAIJMoveProduct(A, kept);
  PetscCall(MatHeaderReplace(A, &kept));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The functions of this room for core and the other files here, through MatShadowAdoptFunctions: direct calls would run up */
const MatShadowAdopter MatShadowAdopterTable = {
  .attach        = MatShadowAttach,
  .attachblocks  = MatShadowAttachBlocks,
  .setoperations = MatShadowSetOperations,
  .forget        = MatShadowForget,
  .convert       = MatShadowConvertType,
  .convertaway   = MatShadowConvertAway,
  .convertfrom   = MatConvertFrom_Shadow,
  .mult_seq      = MatMult_Shadow,
  .mult_mpi      = MatMult_MPIShadow,
};

/* ------------------------------------------------- registration of formats ------------------------------------------------- */

PetscErrorCode MatShadowRegister(const MatShadowFormat *f)
{
  PetscFunctionBegin;
  PetscCheck(MatShadowFormatAdd(f), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Too many shadow formats: raise MAT_SHADOW_MAX");
  PetscCall(MatRegister(f->seqtype, f->create_seq));
  PetscCall(MatRegister(f->mpitype, f->create_mpi));
  PetscCall(MatRegisterRootName(f->name, f->seqtype, f->mpitype));
  PetscCall(MatSeqAIJRegister(f->seqtype, MatShadowConvertType));
  PetscCall(MatSeqAIJRegister(f->name, MatShadowConvertType));
  if (MatShadowHasDevice(f)) PetscCall(MatShadowDeviceVecOptions(f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MatAIJSetUp() precedes the first format: until then the constructors of AIJ are PETSc's */
PetscErrorCode MatShadowRegisterAll(int n, const MatShadowFormat *const list[])
{
  PetscFunctionBegin;
  PetscCall(MatAIJSetUp());
  PetscCall(PetscLogEventRegister("MatShadowConvert", MAT_CLASSID, &MAT_ShadowConvert));
  PetscCall(PetscLogEventRegister("MatShadowUpdate", MAT_CLASSID, &MAT_ShadowUpdate));
  for (int k = 0; k < n; k++) PetscCall(MatShadowRegister(list[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatShadowRegisterFinalize(void)
{
  PetscFunctionBegin;
  MatShadowFormatsReset();
  MatShadowForAIJ = NULL;
  PetscCall(MatShadowTuneFinalize());
  PetscCall(MatShadowDeviceEnd());
  if (MatShadowExchangeOfVectors) PetscCall((*MatShadowExchangeOfVectors->finalize)());
  PetscFunctionReturn(PETSC_SUCCESS);
}
