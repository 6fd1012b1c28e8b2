/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Factorizations of levels. A package reads the arrays of an AIJ, and PETSc finds it by the beginning of the type name, without an operation of the matrix: a level whose
   entries are on the device only becomes complete before.
*/
#include <petsc/private/pcimpl.h>

#include "mat/aij/aij.h"

PetscErrorCode MGFactorRegister(void);

#define SETUP "PCFactorSetUp_C" /* the set-up without this file, composed with the PC */

static PetscErrorCode PCSetUp_FactorDeferred(PC pc)
{
  PetscErrorCode (*setup)(PC);

  PetscFunctionBegin;
  if (pc->pmat) PetscCall(MatAIJComplete(pc->pmat));
  PetscCall(PetscObjectQueryFunction((PetscObject)pc, SETUP, &setup));
  PetscCall((*setup)(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const char *const types[] = {PCLU, PCILU, PCCHOLESKY, PCICC, PCQR};
enum {
  TYPES = sizeof(types) / sizeof(*types)
};
static PetscErrorCode (*create[TYPES])(PC);

static PetscErrorCode PCCreateFactor(PC pc, int k)
{
  PetscFunctionBegin;
  PetscCall((*create[k])(pc));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, SETUP, pc->ops->setup));
  pc->ops->setup = PCSetUp_FactorDeferred;
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define PC_CREATE(k) \
  static PetscErrorCode PCCreateFactor_##k(PC pc) \
  { \
    return PCCreateFactor(pc, k); \
  }
/* clang-format off */
PC_CREATE(0) PC_CREATE(1) PC_CREATE(2) PC_CREATE(3) PC_CREATE(4)
  /* clang-format on */

  PetscErrorCode MGFactorRegister(void)
{
  static PetscErrorCode (*const ours[TYPES])(PC) = {PCCreateFactor_0, PCCreateFactor_1, PCCreateFactor_2, PCCreateFactor_3, PCCreateFactor_4};

  PetscFunctionBegin;
  if (!PetscDefined(HAVE_CUDA)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCInitializePackage());
  for (int k = 0; k < TYPES; k++) {
    PetscCall(PetscFunctionListFind(PCList, types[k], &create[k]));
    PetscCall(PCRegister(types[k], ours[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
