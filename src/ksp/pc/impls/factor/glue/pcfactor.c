/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The set-ups of PETSc's PCs that factor a matrix. MATSOLVERAMB is the default of PCILU and PCICC for matrices of petsc-amb on a GPU: the set-up chooses the package first, as
   the program would by PCFactorSetMatSolverType(). And a level of multigrid that has its entries on the GPU only becomes an AIJ: a package reads its arrays, and PETSc
   finds the package by the begin of the type name, without an operation of the matrix.
*/
#include <petsc/private/pcimpl.h>
#include <petscksp.h>

#include "mat/factor/glue/factor.h"

extern PetscErrorCode PCFactorAMBRegister(void);

/* PETSc's constructors and set-ups; the first two types may choose a package */
enum {
  ILU,
  ICC,
  LU,
  CHOLESKY,
  QR,
  TYPES
};
static PetscErrorCode (*create[TYPES])(PC), (*setup[TYPES])(PC);

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

static PetscErrorCode PCSetUpFactor(PC pc, int type)
{
  PetscFunctionBegin;
  PetscCall(MatAIJComplete(pc->pmat));
  if (type == ILU || type == ICC) PetscCall(PCFactorAMBChoose(pc));
  PetscCall((*setup[type])(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Defines the set-up and the constructor of a type */
#define PC_FACTOR(type) \
  static PetscErrorCode PCSetUp_##type##_AMB(PC pc) \
  { \
    return PCSetUpFactor(pc, type); \
  } \
  static PetscErrorCode PCCreate_##type##_AMB(PC pc) \
  { \
    PetscFunctionBegin; \
    PetscCall((*create[type])(pc)); \
    setup[type]    = pc->ops->setup; \
    pc->ops->setup = PCSetUp_##type##_AMB; \
    PetscFunctionReturn(PETSC_SUCCESS); \
  }

PC_FACTOR(ILU)
PC_FACTOR(ICC)
PC_FACTOR(LU)
PC_FACTOR(CHOLESKY)
PC_FACTOR(QR)

PetscErrorCode PCFactorAMBRegister(void)
{
  static const struct {
    PCType type;
    PetscErrorCode (*create)(PC);
  } ours[TYPES] = {
    [ILU] = {PCILU,      PCCreate_ILU_AMB     },
      [ICC] = {PCICC,      PCCreate_ICC_AMB     },
      [LU] = {PCLU,       PCCreate_LU_AMB      },
      [CHOLESKY] = {PCCHOLESKY, PCCreate_CHOLESKY_AMB},
      [QR] = {PCQR,       PCCreate_QR_AMB      }
  };

  PetscFunctionBegin;
  PetscCall(PCInitializePackage());
  for (int k = 0; k < TYPES; k++) {
    PetscCall(PetscFunctionListFind(PCList, ours[k].type, &create[k]));
    PetscCall(PCRegister(ours[k].type, ours[k].create));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
