/* SPDX-License-Identifier: BSD-2-Clause */
/*
   How matrices on the device become shadows.

   PETSc compares the type name of an AIJCUSPARSE exactly in many places and keeps its own structure in spptr: the matrix therefore keeps both.
   A matrix that PETSc makes "of the same type" passes through the constructor of AIJCUSPARSE or is converted from AIJ to AIJCUSPARSE. This file
   replaces the constructors and the conversions, but not before the first matrix of a format is put on the device, or -petscamb_for_aij is given:
   other programs are not touched.
*/
#include <petscdevice_cuda.h>

#include "mat/shadow/shadow.h"

typedef PetscErrorCode (*MatConvertFunction)(Mat, MatType, MatReuse, Mat *);

#define CONVERT_SEQ "MatConvert_seqaij_seqaijcusparse_C"
#define CONVERT_MPI "MatConvert_mpiaij_mpiaijcusparse_C"

struct _MatOps   MatShadowBaseSeqCUSPARSE, MatShadowBaseMPICUSPARSE;
static PetscBool device_expected = PETSC_FALSE; /* another format may still replace MatShadowForAIJCUSPARSE */
static PetscBool device_ready    = PETSC_FALSE; /* the operations of AIJCUSPARSE are known */

/* PETSc's own: the constructors of AIJ and AIJCUSPARSE, and the conversions from AIJ to AIJCUSPARSE */
static PetscErrorCode (*create_seq)(Mat), (*create_mpi)(Mat), (*create_seqcusparse)(Mat), (*create_mpicusparse)(Mat);
static MatConvertFunction convert_seq, convert_mpi;

/* Does the machine have a device that PETSc may use? Does not start the device. */
PetscErrorCode MatShadowDeviceFound(PetscBool *found)
{
  static const char *const enable[] = {"-device_enable", "-device_enable_cuda"};
  int                      n;

  PetscFunctionBegin;
  *found = PETSC_FALSE;
  for (int k = 0; k < 2; k++) {
    char      value[16] = "";
    PetscBool none;

    PetscCall(PetscOptionsGetString(NULL, NULL, enable[k], value, sizeof(value), NULL));
    PetscCall(PetscStrcasecmp(value, "none", &none));
    if (none) PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (cudaGetDeviceCount(&n) != cudaSuccess) {
    n = 0;
    (void)cudaGetLastError(); /* clears the error, which later code would take for its own */
  }
  *found = (PetscBool)(n > 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads the operations of AIJCUSPARSE off matrices, which starts the device. Called before the first AIJCUSPARSE of the program. */
PetscErrorCode MatShadowDeviceReady(void)
{
  PetscFunctionBegin;
  if (device_ready) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatShadowHarvest(create_seqcusparse, &MatShadowBaseSeqCUSPARSE));
  PetscCall(MatShadowHarvest(create_mpicusparse, &MatShadowBaseMPICUSPARSE));
  device_ready = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Frees the copy of an AIJCUSPARSE on the device, whose values the host has: a throw-away matrix takes it along, and leaves the empty structure of a new matrix. Settings
   that PETSc keeps in this structure are read from the options again. */
PetscErrorCode MatShadowDeviceEmpty(Mat A)
{
  void *full = A->spptr;
  Mat   B;

  PetscFunctionBegin;
  PetscCall(MatShadowHarvestMat(create_seqcusparse, &B));
  A->spptr = B->spptr;
  B->spptr = full;
  PetscCall(MatDestroy(&B));
  A->offloadmask  = PETSC_OFFLOAD_UNALLOCATED;
  A->transupdated = PETSC_FALSE;
  PetscObjectOptionsBegin((PetscObject)A);
  PetscTryTypeMethod(A, setfromoptions, PetscOptionsObject);
  PetscOptionsEnd();
  PetscCall(MatShadowCUSPARSESetCPUSolve(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A factored matrix makes no products, and gets no shadow */
static PetscErrorCode MatShadowDeviceCreate(Mat A, PetscErrorCode (*create)(Mat))
{
  PetscFunctionBegin;
  PetscCall(MatShadowDeviceReady());
  PetscCall((*create)(A));
  if (A->factortype == MAT_FACTOR_NONE && MatShadowForAIJCUSPARSE) PetscCall(MatShadowAttach(A, MatShadowForAIJCUSPARSE, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatCreate_SeqAIJCUSPARSE_Shadow(Mat A)
{
  return MatShadowDeviceCreate(A, create_seqcusparse);
}

static PetscErrorCode MatCreate_MPIAIJCUSPARSE_Shadow(Mat A)
{
  return MatShadowDeviceCreate(A, create_mpicusparse);
}

/* Makes an AIJ, which need not be assembled, an AIJCUSPARSE in place, without a shadow */
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
  PetscCall(MatShadowDeviceReady());
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

/* Puts a constructor in place of PETSc's, and gets a function that PETSc composes with such matrices, unless name is NULL */
static PetscErrorCode MatShadowDeviceReplace(MatType type, PetscErrorCode (*ours)(Mat), PetscErrorCode (**theirs)(Mat), const char name[], MatConvertFunction *f)
{
  Mat A;

  PetscFunctionBegin;
  PetscCall(PetscFunctionListFind(MatList, type, theirs));
  PetscCall(MatRegister(type, ours));
  if (!name) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatShadowHarvestMat(*theirs, &A));
  PetscCall(PetscObjectQueryFunction((PetscObject)A, name, f));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gives every later AIJCUSPARSE this format, without starting the device. PetscFinalize() forgets the registered constructors. */
PetscErrorCode MatShadowDeviceExpect(const MatShadowFormat *format)
{
  PetscFunctionBegin;
  if (MatShadowForAIJCUSPARSE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatShadowDeviceReplace(MATSEQAIJ, MatCreate_SeqAIJ_Shadow, &create_seq, CONVERT_SEQ, &convert_seq));
  PetscCall(MatShadowDeviceReplace(MATMPIAIJ, MatCreate_MPIAIJ_Shadow, &create_mpi, CONVERT_MPI, &convert_mpi));
  PetscCall(MatShadowDeviceReplace(MATSEQAIJCUSPARSE, MatCreate_SeqAIJCUSPARSE_Shadow, &create_seqcusparse, NULL, NULL));
  PetscCall(MatShadowDeviceReplace(MATMPIAIJCUSPARSE, MatCreate_MPIAIJCUSPARSE_Shadow, &create_mpicusparse, NULL, NULL));
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
  PetscCall(MatShadowDeviceReady());
  PetscCall(MatShadowLoadStart(format));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatShadowDeviceEnd(void)
{
  PetscFunctionBegin;
  PetscCall(MatShadowLoadEnd());
  MatShadowForAIJCUSPARSE = NULL;
  device_expected         = PETSC_FALSE;
  device_ready            = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
