/* SPDX-License-Identifier: BSD-2-Clause */
/*
   How matrices on the device become shadows.

   PETSc compares AIJCUSPARSE's type name exactly in many functions, and stores its structure in spptr: the matrix keeps both. A matrix that PETSc
   creates "of the same type" passes through AIJCUSPARSE's constructor or is converted from AIJ to AIJCUSPARSE. This file replaces the constructors
   and conversions, but only when the first matrix of a format goes to the device or -petscamb_for_aij is set: other programs are unaffected.
*/
#include "mat/shadow/core/shadow.h"

typedef PetscErrorCode (*MatConvertFunction)(Mat, MatType, MatReuse, Mat *);

#define CONVERT_SEQ "MatConvert_seqaij_seqaijcusparse_C"
#define CONVERT_MPI "MatConvert_mpiaij_mpiaijcusparse_C"

static PetscBool device_expected = PETSC_FALSE; /* another format may still replace MatShadowForAIJCUSPARSE */

/* PETSc's constructors of AIJ, and conversions from AIJ to AIJCUSPARSE */
static PetscErrorCode (*create_seq)(Mat), (*create_mpi)(Mat);
static MatConvertFunction convert_seq, convert_mpi;

/* A factored matrix has no products, and gets no shadow */
static PetscErrorCode MatShadowDeviceCreate(Mat A, PetscErrorCode (*create)(Mat))
{
  PetscFunctionBegin;
  PetscCall(MatAIJCUSPARSESetUp());
  PetscCall((*create)(A));
  if (A->factortype == MAT_FACTOR_NONE && MatShadowForAIJCUSPARSE) PetscCall(MatShadowAttach(A, MatShadowForAIJCUSPARSE, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatCreate_SeqAIJCUSPARSE_Shadow(Mat A)
{
  return MatShadowDeviceCreate(A, MatAIJCreateSeqCUSPARSE);
}

static PetscErrorCode MatCreate_MPIAIJCUSPARSE_Shadow(Mat A)
{
  return MatShadowDeviceCreate(A, MatAIJCreateMPICUSPARSE);
}

/* Converts an AIJ, assembled or not, to AIJCUSPARSE in place, without a shadow */
PetscErrorCode MatShadowDeviceConvert(Mat A)
{
  const MatShadowFormat *format;
  PetscBool              seq;

  PetscFunctionBegin;
  PetscCall(MatShadowGetFormat(A, &format));
  if (format) PetscCall(MatShadowDetach(A)); /* -petscamb_for_aij gave it a shadow on the host */
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATSEQAIJ, &seq));
  PetscCall((*(seq ? convert_seq : convert_mpi))(A, seq ? MATSEQAIJCUSPARSE : MATMPIAIJCUSPARSE, MAT_INPLACE_MATRIX, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatConvert_AIJ_AIJCUSPARSE_Shadow(Mat A, MatType type, MatReuse reuse, Mat *newmat)
{
  Mat B = *newmat;

  PetscFunctionBegin;
  PetscCall(MatAIJCUSPARSESetUp());
  if (reuse == MAT_REUSE_MATRIX) {
    PetscCall(MatCopy(A, B, SAME_NONZERO_PATTERN));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (reuse == MAT_INITIAL_MATRIX) PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(MatShadowDeviceConvert(B));
  if (B->factortype == MAT_FACTOR_NONE && MatShadowForAIJCUSPARSE) PetscCall(MatShadowAttach(B, MatShadowForAIJCUSPARSE, NULL));
  *newmat = B;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatCreate_SeqAIJ_Shadow(Mat A)
{
  PetscFunctionBegin;
  PetscCall((*create_seq)(A));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, CONVERT_SEQ, MatConvert_AIJ_AIJCUSPARSE_Shadow));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatCreate_MPIAIJ_Shadow(Mat A)
{
  PetscFunctionBegin;
  PetscCall((*create_mpi)(A));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, CONVERT_MPI, MatConvert_AIJ_AIJCUSPARSE_Shadow));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Replaces PETSc's constructor, and gets a function that PETSc composes with such matrices unless name is NULL */
static PetscErrorCode MatShadowDeviceReplace(MatType type, PetscErrorCode (*create)(Mat), PetscErrorCode (**previous)(Mat), const char name[], MatConvertFunction *f)
{
  Mat A;

  PetscFunctionBegin;
  PetscCall(PetscFunctionListFind(MatList, type, previous));
  PetscCall(MatRegister(type, create));
  if (!name) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatAIJCreateEmpty(*previous, &A));
  PetscCall(PetscObjectQueryFunction((PetscObject)A, name, f));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gives every later AIJCUSPARSE this format, without initializing the device. PetscFinalize() drops the registered constructors. */
PetscErrorCode MatShadowDeviceExpect(const MatShadowFormat *format)
{
  PetscFunctionBegin;
  if (MatShadowForAIJCUSPARSE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatShadowDeviceReplace(MATSEQAIJ, MatCreate_SeqAIJ_Shadow, &create_seq, CONVERT_SEQ, &convert_seq));
  PetscCall(MatShadowDeviceReplace(MATMPIAIJ, MatCreate_MPIAIJ_Shadow, &create_mpi, CONVERT_MPI, &convert_mpi));
  PetscCall(MatShadowDeviceReplace(MATSEQAIJCUSPARSE, MatCreate_SeqAIJCUSPARSE_Shadow, &MatAIJCreateSeqCUSPARSE, NULL, NULL));
  PetscCall(MatShadowDeviceReplace(MATMPIAIJCUSPARSE, MatCreate_MPIAIJCUSPARSE_Shadow, &MatAIJCreateMPICUSPARSE, NULL, NULL));
  PetscCall(MatRegister(MAT_AIJ_DEFERRED_SEQ, MatCreate_SeqAIJCUSPARSE_Shadow)); /* for MatSetType() with the name of another matrix */
  PetscCall(MatRegister(MAT_AIJ_DEFERRED_MPI, MatCreate_MPIAIJCUSPARSE_Shadow));
  MatShadowForAIJCUSPARSE = format;
  device_expected         = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Called before a matrix of this format goes to the device */
PetscErrorCode MatShadowDeviceStart(const MatShadowFormat *format)
{
  PetscFunctionBegin;
  PetscCall(MatShadowDeviceExpect(format));
  if (device_expected) MatShadowForAIJCUSPARSE = format;
  device_expected = PETSC_FALSE;
  PetscCall(MatAIJCUSPARSESetUp());
  PetscCall(MatShadowLoadStart(format));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatShadowDeviceEnd(void)
{
  PetscFunctionBegin;
  PetscCall(MatShadowLoadEnd());
  MatShadowForAIJCUSPARSE = NULL;
  device_expected         = PETSC_FALSE;
  PetscCall(MatAIJCUSPARSEFinalize());
  PetscFunctionReturn(PETSC_SUCCESS);
}
