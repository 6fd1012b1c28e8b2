/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The start and the type of the matrix that the examples share.
*/
#pragma once

#include <petscamb.h>

/* Calls PetscInitialize(). With -h or --help the program prints its own help and ends: PETSc's -help would add hundreds of lines and go on to run. */
static inline PetscErrorCode ExampleInitialize(int *argc, char ***argv, const char help[])
{
  PetscBool asked = PETSC_FALSE;

  PetscFunctionBeginUser;
  for (int a = 1; a < *argc; a++) asked = (PetscBool)(asked || !strcmp((*argv)[a], "-h") || !strcmp((*argv)[a], "--help"));
  if (asked) *argc = 1;
  PetscCall(PetscInitialize(argc, argv, NULL, help));
  if (!asked) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s", help));
  PetscCall(PetscFinalize());
  exit(0);
}

/* The type that -mat_type names, or AMB. The options do not replace AMB by another type: on a GPU PETSc would keep vectors of the GPU for that type. */
static inline PetscErrorCode ExampleSetType(Mat A)
{
  PetscBool given;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsHasName(NULL, NULL, "-mat_type", &given));
  if (!given) PetscCall(MatSetType(A, MATAMB));
  PetscCall(MatSetFromOptions(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An AIJ from a file: PETSc binary, or Matrix Market, of whose faults the reader says more */
static inline PetscErrorCode ExampleLoadMatrix(const char file[], Mat *A)
{
  MatLoadFormat format;
  PetscViewer   viewer;

  PetscFunctionBeginUser;
  PetscCall(MatLoadGetFormat(PETSC_COMM_WORLD, file, &format));
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetType(*A, MATAIJ));
  if (format != MAT_LOAD_PETSC) PetscCall(MatLoadMatrixMarket(*A, file));
  else {
    PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, file, FILE_MODE_READ, &viewer));
    PetscCall(MatLoad(*A, viewer));
    PetscCall(PetscViewerDestroy(&viewer));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
