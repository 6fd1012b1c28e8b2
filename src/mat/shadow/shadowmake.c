/* SPDX-License-Identifier: BSD-2-Clause */
/*
   How a matrix becomes one of a shadow format, or another one again: constructors, conversions, and whether it lives on the host or on the device
*/
#include "mat/shadow/shadow.h"

const char *const MatShadowDevices[] = {"auto", "cpu", "gpu", "MatShadowDevice", "MAT_SHADOW_DEVICE_", NULL};

/* Where the options put A in this format. On several processes all of them need a device. */
static PetscErrorCode MatShadowGoesToDevice(Mat A, const MatShadowFormat *format, MatShadowDevice where, PetscBool *device)
{
  PetscBool   found = PETSC_FALSE;
  PetscMPIInt size, lacking[2]; /* the first process without a device, and whether all are */

  PetscFunctionBegin;
  *device = PETSC_FALSE;
  if (where == MAT_SHADOW_DEVICE_CPU) PetscFunctionReturn(PETSC_SUCCESS);
  if (MatShadowHasDevice(format)) PetscCall(MatShadowDeviceFound(&found));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)A), &lacking[0]));
  lacking[1] = found ? 0 : 1;
  if (found) lacking[0] = size;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, lacking, 2, MPI_INT, MPI_MIN, PetscObjectComm((PetscObject)A)));
  *device = (PetscBool)(lacking[0] == size);
  PetscCheck(*device || lacking[1], PetscObjectComm((PetscObject)A), PETSC_ERR_GPU, "Process %d has no GPU to use, and others have; use -mat_%s_device cpu to do without", lacking[0], format->name);
  PetscCheck(*device || where != MAT_SHADOW_DEVICE_GPU || MatShadowHasDevice(format), PetscObjectComm((PetscObject)A), PETSC_ERR_SUP, "%s matrices on the GPU need a PETSc with CUDA, real numbers and 32-bit indices; use -mat_%s_device auto", format->name,
             format->name);
  PetscCheck(*device || where != MAT_SHADOW_DEVICE_GPU, PetscObjectComm((PetscObject)A), PETSC_ERR_GPU, "-mat_%s_device gpu, but PETSc has no GPU to use here; use -mat_%s_device auto", format->name, format->name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatShadowDeviceFromOptions(Mat A, const MatShadowFormat *format, PetscBool *device)
{
  MatShadowDevice where = MAT_SHADOW_DEVICE_AUTO;
  char            option[64];

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(option, sizeof(option), "-mat_%s_device", format->name));
  PetscOptionsBegin(PetscObjectComm((PetscObject)A), ((PetscObject)A)->prefix, "Shadow device options", "Mat"); /* -help prints what has a title of its own */
  PetscCall(PetscOptionsEnum(option, "Where the matrix and the vectors it makes live", "MatShadowSetDevice", MatShadowDevices, (PetscEnum)where, (PetscEnum *)&where, NULL));
  PetscOptionsEnd();
  PetscCall(MatShadowGoesToDevice(A, format, where, device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes a plain AIJ, or AIJCUSPARSE, a matrix of this format on the device or on the host, there also by name */
static PetscErrorCode MatShadowMake(Mat A, const MatShadowFormat *format, PetscBool device, const MatShadow *parent)
{
  PetscBool seq;

  PetscFunctionBegin;
  if (!device && MatShadowIsCUSPARSE(A)) PetscCall(MatShadowConvertToAIJ(A, MATAIJ, MAT_INPLACE_MATRIX, &A));
  if (device) PetscCall(MatShadowDeviceStart(format));
  if (device && !MatShadowIsCUSPARSE(A)) PetscCall(MatShadowDeviceConvert(A));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATSEQAIJ, &seq));
  if (!MatShadowIsCUSPARSE(A)) PetscCall(PetscObjectChangeTypeName((PetscObject)A, seq ? format->seqtype : format->mpitype));
  PetscCall(MatShadowAttach(A, format, parent));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes an AIJ that nobody has asked to be another type a matrix of this format. It stays on the host, because the vectors of such a program are there, and so
   does a view that DMDA has put on it. */
PetscErrorCode MatShadowAdopt(Mat A, const MatShadowFormat *format)
{
  PetscErrorCode (*view)(Mat, PetscViewer) = A->ops->view;
  const PetscBool own                      = (PetscBool)(view != MatShadowBase(A)->view);
  MatShadow      *s;

  PetscFunctionBegin;
  PetscCall(MatShadowAttach(A, format, NULL));
  if (!own) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatShadowGet(A, &s));
  s->view = view;
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

/*@
  MatShadowSetDevice - puts a matrix of a shadow format, such as `MATAMB`, on the GPU or on the host

  Collective

  Input Parameters:
+ A     - the matrix; nothing happens if its type has no shadow
- where - `MAT_SHADOW_DEVICE_AUTO`, `MAT_SHADOW_DEVICE_CPU` or `MAT_SHADOW_DEVICE_GPU`

  Options Database Key:
. -mat_amb_device <auto,cpu,gpu> - the same for `MATAMB` matrices created later

  Level: intermediate

  Notes:
  On the GPU the matrix is a `MATAIJCUSPARSE` by name, whose products with vectors run on the format, and makes vectors of type `VECCUDA`. Once
  a program has put a matrix there, all matrices that it creates as `MATAIJCUSPARSE` are of the format too: PETSc makes matrices of the same
  type by that name.

  A matrix that came to the GPU and is set to the host remains there as `MatBindToCPU()` leaves it. Vectors made before do not move.

.seealso: `MatShadowDevice`, `MatBindToCPU()`, `MatShadowSetTune()`, `MATAMB`
@*/
PetscErrorCode MatShadowSetDevice(Mat A, MatShadowDevice where)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscCheck(where >= MAT_SHADOW_DEVICE_AUTO && where <= MAT_SHADOW_DEVICE_GPU, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE, "No such place: %d; use MAT_SHADOW_DEVICE_AUTO, CPU or GPU", (int)where);
  PetscTryMethod(A, "MatShadowSetDevice_C", (Mat, MatShadowDevice), (A, where));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All conversions between AIJ, AIJCUSPARSE and the formats, and among these. A matrix that has the format already stays where it is. */
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
  PetscCall(PetscObjectTypeCompareAny((PetscObject)B, &plain, MATSEQAIJ, MATMPIAIJ, "")); /* one of ours that has kept its name gets another now */
  if (from != to || plain) {
    if (from) PetscCall(MatShadowDetach(B));
    if (to) {
      PetscCall(MatShadowDeviceFromOptions(B, to, &device));
      PetscCall(MatShadowMake(B, to, device, NULL));
    } else if (MatShadowForAIJ) PetscCall(MatShadowForAIJTake(B));
  }
  *newmat = B;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* To another subtype of AIJ, which PETSc makes of a plain one */
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
  if (MatShadowIsCUSPARSE(B)) PetscCall(MatShadowConvertToAIJ(B, MATAIJ, MAT_INPLACE_MATRIX, &B));
  PetscCall(MatConvert(B, type, MAT_INPLACE_MATRIX, &B));
  *newmat = B;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From any other type, and from a sequential matrix to one of several processes or back: by way of the AIJ that the result is a subtype of. With MATAIJ for all,
   one that the other kind of AIJ was converted to would come here again. */
PetscErrorCode MatConvertFrom_Shadow(Mat A, MatType type, MatReuse reuse, Mat *newmat)
{
  const MatShadowFormat *format;
  Mat                    B = *newmat;
  MatType                base;
  PetscBool              seq, mpi;

  PetscFunctionBegin;
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
  else PetscCall(MatConvert(B, type, MAT_INPLACE_MATRIX, &B)); /* AIJCUSPARSE, where that is ours */
  *newmat = B;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The constructor of PETSc is called directly: MatSetType() does nothing if the type name is still that of what the matrix was before */
PetscErrorCode MatShadowCreate(Mat A, const MatShadowFormat *format, MatType base)
{
  PetscErrorCode (*create)(Mat);
  const MatShadowFormat *made;
  PetscBool              device;
  Mat                    kept;

  PetscFunctionBegin;
  PetscCall(MatShadowDeviceFromOptions(A, format, &device));
  PetscCall(PetscFunctionListFind(MatList, base, &create));
  PetscCall((*create)(A));
  PetscCall(MatShadowGetFormat(A, &made)); /* -mat_seqaij_type may have made it one already */
  if (made && made != format) PetscCall(MatShadowDetach(A));
  if (made != format) PetscCall(MatShadowMake(A, format, device, NULL));
  PetscCall(PetscObjectQuery((PetscObject)A, "MatShadowKept", (PetscObject *)&kept));
  if (!kept) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectReference((PetscObject)kept));
  PetscCall(PetscObjectCompose((PetscObject)A, "MatShadowKept", NULL));
  PetscCall(MatHeaderReplace(A, &kept));
  PetscFunctionReturn(PETSC_SUCCESS);
}
