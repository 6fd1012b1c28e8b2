/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Names of types on the command line.
*/
#include "tool.h"

#define NAMES 256

/* Types that PETSc has, but that not every PETSc is built with */
static const char *const Optional[] = {MATAIJCUSPARSE, MATAIJHIPSPARSE, MATAIJKOKKOS, MATAIJVIENNACL, MATAIJMKL, MATBAIJMKL, MATHYPRE, MATELEMENTAL, MATSCALAPACK};

/* Sets whether it is a Mat type of this PETSc, by its root name or its full name */
static PetscErrorCode MatTypeExists(const char type[], PetscBool *exists)
{
  PetscErrorCode ierr;
  Mat            probe;

  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_SELF, &probe));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  ierr = MatSetType(probe, type);
  PetscCall(PetscPopErrorHandler());
  PetscCall(MatDestroy(&probe));
  *exists = ierr == PETSC_ERR_ARG_UNKNOWN_TYPE ? PETSC_FALSE : PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Cuts "@one" off a type, and makes it the prefix of options "one_" */
PetscErrorCode NameSplitPrefix(char type[], size_t n, char prefix[])
{
  char *at;

  PetscFunctionBegin;
  prefix[0] = 0;
  PetscCall(PetscStrchr(type, '@', &at));
  if (!at) PetscFunctionReturn(PETSC_SUCCESS);
  *at = 0;
  PetscCall(PetscSNPrintf(prefix, n, "%s_", at + 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Raises an error if a type has no meaning: no peer has this name, and no PETSc has a Mat type of this name. A part behind a slash or an @ is ignored. */
PetscErrorCode NameCheckType(MPI_Comm comm, const char name[], PetscInt npeers, const char *const peers[])
{
  const char *const *ours;
  const char       **listed, *names[NAMES], *nearest, *root;
  char               type[NAME_LONGEST];
  PetscInt           n       = 0, nours;
  int                nlisted = 0;
  PetscBool          known   = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscStrncpy(type, name, sizeof(type)));
  type[strcspn(type, "/@")] = 0;
  for (PetscInt p = 0; p < npeers; p++) names[n++] = peers[p];
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(Optional); k++) names[n++] = Optional[k];
  PetscCall(PetscAMBGetTypes(PETSC_FALSE, &nours, &ours));
  for (PetscInt t = 0; t < nours; t++) names[n++] = ours[t];
  for (PetscInt k = 0; k < n && !known; k++) PetscCall(PetscStrcmp(type, names[k], &known));
  if (!known) PetscCall(MatTypeExists(type, &known)); /* not for a type of petsc-amb, whose first matrix on a GPU turns every later AIJCUSPARSE into its format */
  if (known) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFunctionListGet(MatList, &listed, &nlisted));
  for (int k = 0; k < nlisted && listed[k] && n < NAMES; k++) { /* PETSc 3.18 counts a NULL at the end */
    PetscCall(PetscStrbeginswith(listed[k], "seq", &known));
    root       = known ? listed[k] + 3 : listed[k]; /* "aij" of "seqaij" */
    names[n++] = root;
  }
  PetscCall(NameNearest(type, n, names, &nearest));
  PetscCall(PetscFree(listed));
  PetscCheck(!nearest, comm, PETSC_ERR_ARG_UNKNOWN_TYPE, "-types %s: there is no such type; did you mean %s?", type, nearest);
  SETERRQ(comm, PETSC_ERR_ARG_UNKNOWN_TYPE, "-types %s: there is no such type", type);
}
