/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The default of PCILU and PCICC, unless -petscamb_factor is petsc: MATSOLVERAMB for matrices of petsc-amb on a GPU. The constructors are PETSc's; the set-up chooses the package first, as the program
   would by PCFactorSetMatSolverType().
*/
#include <petsc/private/pcimpl.h>
#include <petscksp.h>

#include "mat/factor/glue/factor.h"

extern PetscErrorCode PCFactorAMBRegister(void);

static PetscErrorCode (*create_ilu)(PC), (*create_icc)(PC);
static PetscErrorCode (*setup_ilu)(PC), (*setup_icc)(PC);

static PetscErrorCode PCFactorAMBChoose(PC pc)
{
  MatSolverType type;
  FactorWhere   where;
  PetscBool     in_place;

  PetscFunctionBegin;
  if (!MatShadowIsOurs(pc->pmat) || !MatAIJValuesOnDevice(pc->pmat)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCFactorGetMatSolverType(pc, &type));
  PetscCall(PCFactorGetUseInPlace(pc, &in_place));
  PetscCall(FactorGetWhere(&where));
  if (!type && !in_place && where != FACTOR_PETSC) PetscCall(PCFactorSetMatSolverType(pc, MATSOLVERAMB));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetUp_ILU_AMB(PC pc)
{
  PetscFunctionBegin;
  PetscCall(PCFactorAMBChoose(pc));
  PetscCall((*setup_ilu)(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetUp_ICC_AMB(PC pc)
{
  PetscFunctionBegin;
  PetscCall(PCFactorAMBChoose(pc));
  PetscCall((*setup_icc)(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCCreate_ILU_AMB(PC pc)
{
  PetscFunctionBegin;
  PetscCall((*create_ilu)(pc));
  setup_ilu      = pc->ops->setup;
  pc->ops->setup = PCSetUp_ILU_AMB;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCCreate_ICC_AMB(PC pc)
{
  PetscFunctionBegin;
  PetscCall((*create_icc)(pc));
  setup_icc      = pc->ops->setup;
  pc->ops->setup = PCSetUp_ICC_AMB;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCFactorAMBRegister(void)
{
  PetscFunctionBegin;
  PetscCall(PCInitializePackage());
  PetscCall(PetscFunctionListFind(PCList, PCILU, &create_ilu));
  PetscCall(PetscFunctionListFind(PCList, PCICC, &create_icc));
  PetscCall(PCRegister(PCILU, PCCreate_ILU_AMB));
  PetscCall(PCRegister(PCICC, PCCreate_ICC_AMB));
  PetscFunctionReturn(PETSC_SUCCESS);
}
