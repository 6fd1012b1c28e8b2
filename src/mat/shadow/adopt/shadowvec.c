/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The option -vec_type cuda for programs that choose a type of petsc-amb by -mat_type
*/
#include "mat/shadow/core/shadow.h"

/* VecSetFromOptions(), or a DM with -dm_vec_type, would create vectors on the host while -mat_type puts the matrices on the
   device. AIJCUSPARSE expects the user to set -vec_type cuda too; for petsc-amb's types this function adds that option, for each options
   prefix, unless the user has set it or the matrix stays on the host. */
PetscErrorCode MatShadowDeviceVecOptions(const MatShadowFormat *format)
{
  char    **word, *all;
  int       n;
  PetscBool known = PETSC_FALSE, found = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetAll(NULL, &all));
  PetscCall(PetscStrToArray(all, ' ', &n, &word));
  for (int k = 0; k + 1 < n; k++) {
    const int              prefix = (int)strlen(word[k]) - (int)strlen("mat_type"); /* length of the prefix with the hyphen */
    char                   name[256], value[16] = "";
    const MatShadowFormat *wanted;
    PetscBool              type, dm, cpu, given;

    PetscCall(PetscStrendswith(word[k], "mat_type", &type));
    PetscCall(MatShadowFind(word[k + 1], &wanted));
    if (!type || wanted != format) continue;
    if (!known) PetscCall(MatAIJHasDevice(&found));
    known = PETSC_TRUE;
    if (!found) break;
    PetscCall(PetscStrendswith(word[k], "dm_mat_type", &dm));
    for (int old = 0; old < 2; old++) {
      PetscCall(PetscSNPrintf(name, sizeof(name), "%.*smat_%s_device", prefix - (dm ? (int)strlen("dm_") : 0), word[k], old ? format->name : "shadow"));
      PetscCall(PetscOptionsGetString(NULL, NULL, name, value, sizeof(value), NULL));
    }
    PetscCall(PetscStrcasecmp(value, "cpu", &cpu));
    PetscCall(PetscSNPrintf(name, sizeof(name), "%.*svec_type", prefix, word[k]));
    PetscCall(PetscOptionsHasName(NULL, NULL, name, &given));
    if (given || cpu) continue;
    PetscCall(PetscOptionsSetValue(NULL, name, VECCUDA));
    PetscCall(PetscOptionsHasName(NULL, NULL, name, &given)); /* marks the option as used, or PETSc may warn */
    PetscCall(PetscInfo(NULL, "%s %s, because of %s %s\n", name, VECCUDA, word[k], word[k + 1]));
  }
  PetscCall(PetscStrToArrayDestroy(n, word));
  PetscCall(PetscFree(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}
