/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Some of PETSc's PCs read the type name of a matrix, or the arrays of an AIJ, and call no operation of the matrix. In their set-ups, a deferred level of multigrid becomes
   an AIJCUSPARSE first. Unless -petscamb_factor is petsc, MATSOLVERAMB is the default of PCILU and PCICC for matrices of petsc-amb on a GPU: the set-up chooses the package
   first, as the program would by PCFactorSetMatSolverType().
*/
#include <petsc/private/pcimpl.h>
#include <petscksp.h>

#include "mat/factor/glue/factor.h"

extern PetscErrorCode PCFactorAMBRegister(void);

/* The types; those before LU may choose a package */
#define TYPES(X) \
  X(ILU) \
  X(ICC) \
  X(LU) \
  X(CHOLESKY) \
  X(QR) \
  X(PBJACOBI) \
  X(VPBJACOBI) \
  X(HYPRE) \
  X(ML) \
  X(AMGX)

#define NUMBER(type) FACTOR_##type,
enum {
  TYPES(NUMBER) NTYPES
};

/* PETSc's constructors and set-ups */
static PetscErrorCode (*create[NTYPES])(PC), (*setup[NTYPES])(PC);

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

static PetscErrorCode PCSetUpComplete(PC pc, int type)
{
  PetscFunctionBegin;
  PetscCall(MatAIJComplete(pc->pmat));
  if (type < FACTOR_LU) PetscCall(PCFactorAMBChoose(pc));
  PetscCall((*setup[type])(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The set-up and the constructor of a type */
#define FUNCTIONS(type) \
  static PetscErrorCode PCSetUp_##type##_AMB(PC pc) \
  { \
    return PCSetUpComplete(pc, FACTOR_##type); \
  } \
  static PetscErrorCode PCCreate_##type##_AMB(PC pc) \
  { \
    PetscFunctionBegin; \
    PetscCall((*create[FACTOR_##type])(pc)); \
    setup[FACTOR_##type] = pc->ops->setup; \
    pc->ops->setup       = PCSetUp_##type##_AMB; \
    PetscFunctionReturn(PETSC_SUCCESS); \
  }
TYPES(FUNCTIONS)

/* Replaces the constructor of a type that PETSc has */
static PetscErrorCode PCReplace(PCType type, PetscErrorCode (*ours)(PC), PetscErrorCode (**theirs)(PC))
{
  PetscFunctionBegin;
  PetscCall(PetscFunctionListFind(PCList, type, theirs));
  if (*theirs) PetscCall(PCRegister(type, ours));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCFactorAMBRegister(void)
{
  PetscFunctionBegin;
  PetscCall(PCInitializePackage());
#define REPLACE(type) PetscCall(PCReplace(PC##type, PCCreate_##type##_AMB, &create[FACTOR_##type]));
  TYPES(REPLACE)
#undef REPLACE
  PetscFunctionReturn(PETSC_SUCCESS);
}
