/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The list of formats, the tables that other rooms fill, and access to a matrix's shadow
*/
#include "mat/shadow/core/shadow.h"

PetscLogEvent                 MAT_ShadowConvert, MAT_ShadowUpdate;
const MatShadowProducts      *MatShadowProductsOfMatrices = NULL;
const MatShadowExchange      *MatShadowExchangeOfVectors  = NULL;
const MatShadowAdopter       *MatShadowAdoptFunctions     = NULL;
const MatShadowUser          *MatShadowUserFunctions      = NULL;
const MatShadowFormat        *MatShadowForAIJ             = NULL;
const MatShadowFormat        *MatShadowForAIJCUSPARSE     = NULL;
static const MatShadowFormat *formats[MAT_SHADOW_MAX];
static int                    nformats = 0;

/* Appends a format to the list; PETSC_FALSE: the list is full */
PetscBool MatShadowFormatAdd(const MatShadowFormat *f)
{
  if (nformats == MAT_SHADOW_MAX) return PETSC_FALSE;
  formats[nformats++] = f;
  return PETSC_TRUE;
}

void MatShadowFormatsReset(void)
{
  nformats = 0;
}

/* Finds the format of a type name, sequential, MPI or root; NULL: no format */
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

int MatShadowGetFormats(const MatShadowFormat *const **list)
{
  *list = formats;
  return nformats;
}

/* Returns PETSC_TRUE if A has a shadow's products */
PetscBool MatShadowIsOurs(Mat A)
{
  return (PetscBool)(MatShadowIsSequential(A) || A->ops->mult == MatShadowAdoptFunctions->mult_mpi);
}

PetscErrorCode MatShadowQuery(Mat A, MatShadow **shadow)
{
  PetscFunctionBegin;
  PetscCall(PetscAMBObjectContainerQuery((PetscObject)A, "MatShadow", (void **)shadow));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the format of a matrix with a shadow, or NULL: by type name or, if that is AIJ's or AIJCUSPARSE's, from the shadow */
PetscErrorCode MatShadowGetFormat(Mat A, const MatShadowFormat **format)
{
  MatShadow *s;

  PetscFunctionBegin;
  PetscCall(MatShadowFind(((PetscObject)A)->type_name, format));
  if (*format || !MatShadowIsOurs(A)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatShadowQuery(A, &s));
  if (s) *format = s->format;
  else if (MatAIJIsCUSPARSE(A)) *format = MatShadowForAIJCUSPARSE;
  else *format = MatShadowForAIJ;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets a matrix's shadow. MatHeaderMerge() may have removed it, or moved another matrix's here: then creates a new one. */
PetscErrorCode MatShadowGet(Mat A, MatShadow **shadow)
{
  const MatShadowFormat *format;

  PetscFunctionBegin;
  PetscCall(MatShadowQuery(A, shadow));
  if (*shadow && (*shadow)->owner == A) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatShadowGetFormat(A, &format));
  PetscCheck(format, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A matrix of type %s has no shadow", ((PetscObject)A)->type_name);
  PetscCall((*MatShadowAdoptFunctions->attach)(A, format, *shadow && (*shadow)->format == format ? *shadow : NULL));
  PetscCall(MatShadowQuery(A, shadow));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Calls f on a sequential matrix's shadow, or on the shadows of an assembled MPI matrix's blocks; no-op without a shadow */
PetscErrorCode MatShadowForEach(Mat A, PetscErrorCode (*f)(Mat, MatShadow *, void *), void *ctx)
{
  const MatShadowFormat *format;
  MatShadow             *s;
  Mat                    block[2] = {A, NULL};

  PetscFunctionBegin;
  PetscCall(MatShadowGetFormat(A, &format));
  if (!format) PetscFunctionReturn(PETSC_SUCCESS);
  if (!MatShadowIsSequential(A)) {
    if (!A->assembled && !A->was_assembled) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall((*MatShadowAdoptFunctions->attachblocks)(A));
    PetscCall(MatMPIAIJGetSeqAIJ(A, &block[0], &block[1], NULL));
  }
  for (int k = 0; k < 2; k++) {
    if (!block[k]) continue;
    PetscCall(MatShadowGet(block[k], &s));
    PetscCall((*f)(block[k], s, ctx));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
