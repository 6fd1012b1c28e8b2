/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The start and the type of the matrix that the examples share.
*/
#pragma once

#include <ctype.h>
#include <petscksp.h>
#include <petscamb.h>

/* The name of an option, or NULL for inputs, values and negative numbers */
static inline const char *CommandOption(const char word[])
{
  if (word[0] != '-') return NULL;
  word += word[1] == '-' ? 2 : 1;
  return isalpha((unsigned char)word[0]) ? word : NULL;
}

/* Replaces --option by -option, and -option=value by two words. The words are never freed. Called before PetscInitialize(). */
static inline void CommandSplit(int *argc, char ***argv)
{
  char **words = (char **)malloc((2 * (size_t)*argc + 1) * sizeof(*words));
  int    n     = 0;

  if (!words) return;
  for (int a = 0; a < *argc; a++) {
    const char *name = a ? CommandOption((*argv)[a]) : NULL;
    size_t      length;

    words[n++] = (*argv)[a];
    if (!name) continue;
    for (length = 0; isalnum((unsigned char)name[length]) || name[length] == '_' || name[length] == '-'; length++) { }
    if (name[length] != '=' && name == (*argv)[a] + 1) continue;
    words[n - 1] = strdup(name - 1);
    if (!words[n - 1]) return;
    words[n - 1][0] = '-';
    if (name[length] != '=') continue;
    words[n - 1][length + 1] = 0;
    words[n]                 = words[n - 1] + length + 2;
    n++;
  }
  words[n] = NULL;
  *argc    = n;
  *argv    = words;
}

/* Calls PetscInitialize(). With -h or --help the program prints its own help and ends: PETSc's -help would add hundreds of lines and go on to run. */
static inline PetscErrorCode ExampleInitialize(int *argc, char ***argv, const char help[])
{
  PetscBool asked = PETSC_FALSE;

  PetscFunctionBeginUser;
  for (int a = 1; a < *argc; a++) asked = (PetscBool)(asked || !strcmp((*argv)[a], "-h") || !strcmp((*argv)[a], "--help"));
  if (asked) *argc = 1;
  CommandSplit(argc, argv);
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

/* Sets whether r = b - A x meets the tolerances of the solver, in the norm of its test: within a factor of 10, and within the rounding error of the product: the residual of
   a recurrence, which stops the solver, is not the true one. A solver without a norm must reach its relative tolerance. */
static inline PetscErrorCode ExampleResidualIsEnough(KSP ksp, Mat A, Vec b, Vec x, Vec r, PetscBool *enough)
{
  PC          pc;
  KSPNormType type;
  Mat         B;
  Vec         in, out, v[2] = {r, b};
  PetscReal   norm[2], rtol, abstol, matrix, size, rounding;
  PetscScalar dot;

  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(KSPGetNormType(ksp, &type));
  PetscCall(KSPGetTolerances(ksp, &rtol, &abstol, NULL, NULL));
  PetscCall(MatNorm(A, NORM_FROBENIUS, &matrix));
  PetscCall(VecNorm(x, NORM_2, &size));
  for (int k = 0; k < 2; k++) PetscCall(VecNorm(v[k], NORM_2, &norm[k]));
  rounding = 100 * PETSC_MACHINE_EPSILON * matrix * size;
  *enough  = (PetscBool)(norm[0] <= PetscMax(10 * PetscMax(rtol * norm[1], abstol), rounding));
  if (*enough || (type != KSP_NORM_PRECONDITIONED && type != KSP_NORM_NATURAL)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPGetOperators(ksp, NULL, &B));
  PetscCall(MatCreateVecs(B, &out, &in)); /* where the preconditioner works */
  for (int k = 0; k < 2; k++) {
    PetscCall(VecCopy(v[k], in));
    PetscCall(PCApply(pc, in, out));
    PetscCall(VecDot(out, in, &dot));
    if (type == KSP_NORM_PRECONDITIONED) PetscCall(VecNorm(out, NORM_2, &norm[k]));
    else norm[k] = PetscSqrtReal(PetscAbsScalar(dot));
  }
  PetscCall(VecDestroy(&in));
  PetscCall(VecDestroy(&out));
  *enough = (PetscBool)(norm[0] <= 10 * PetscMax(rtol * norm[1], abstol));
  PetscFunctionReturn(PETSC_SUCCESS);
}
