/* SPDX-License-Identifier: BSD-2-Clause */
/*
   A matrix in another type for a while, and the figures of its format
*/
#include "tool.h"

/* Converts the matrix to another type until FormatEnd(): in place on the host, since a large matrix fits the memory only once or twice, and as a copy on a GPU */
PetscErrorCode FormatBegin(Mat A, const char type[], Mat *B)
{
  PetscFunctionBegin;
  *B = A;
  if (PetscDefined(HAVE_CUDA)) PetscCall(MatConvert(A, type, MAT_INITIAL_MATRIX, B));
  else {
    PetscCall(PetscObjectReference((PetscObject)A));
    PetscCall(MatConvert(A, type, MAT_INPLACE_MATRIX, B));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FormatEnd(Mat A, Mat *B)
{
  PetscFunctionBegin;
  if (*B == A) PetscCall(MatConvert(A, MATAIJ, MAT_INPLACE_MATRIX, &A));
  PetscCall(MatDestroy(B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes a matrix of a type with options of its own */
PetscErrorCode ConvertPrefixed(Mat A, const char type[], const char prefix[], Mat *B)
{
  PetscFunctionBegin;
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, B));
  PetscCall(MatSetOptionsPrefix(*B, prefix)); /* a conversion reads the options of the matrix that it changes */
  PetscCall(MatConvert(*B, type, MAT_INPLACE_MATRIX, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The figures of the format that are not 0, with their names */
PetscErrorCode FiguresPrint(Mat A, char text[], size_t size)
{
  const char    *name;
  PetscLogDouble value;

  PetscFunctionBegin;
  text[0] = 0;
  for (PetscInt k = 0;; k++) {
    char one[64];

    PetscCall(MatShadowGetFigureAt(A, k, &name, &value));
    if (!name) break;
    if (!(value > 0)) continue;
    PetscCall(PetscSNPrintf(one, sizeof(one), "%s%s %.0f", text[0] ? ", " : "", name, value));
    PetscCall(PetscStrlcat(text, one, size));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
