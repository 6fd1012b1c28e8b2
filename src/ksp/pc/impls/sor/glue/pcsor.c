/* SPDX-License-Identifier: BSD-2-Clause */
/*
   PCSOR is PETSc's. Its set-up, which PETSc leaves empty, gives the matrix, or the diagonal block of each process, MatSOR() of petsc-amb. Its view adds the order of rows, if
   that is by color.
*/
#include <petsc/private/pcimpl.h>
#include <petscksp.h>

#include "mat/factor/glue/sor.h"
#include "mat/shadow/user/shadowoptions.h"

extern PetscErrorCode PCSORAMBRegister(void);

static PetscErrorCode (*create_sor)(PC);
static PetscErrorCode (*view_sor)(PC, PetscViewer);
static PetscBool wanted;

static PetscErrorCode PCSetUp_SOR_AMB(PC pc)
{
  const PetscInt *columns;
  Mat             block[2];

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-petscamb_for_sor", &wanted, NULL));
  PetscCall(MatShadowOptionSought("-petscamb_for_sor"));
  if (!wanted || !MatShadowIsOurs(pc->pmat)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatAIJComplete(pc->pmat));
  PetscCall(MatAIJGetBlocks(pc->pmat, block, &columns));
  PetscCall(MatSORAMBInstall(block[0]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCView_SOR_AMB(PC pc, PetscViewer viewer)
{
  const PetscInt *columns;
  PetscInt        colors;
  PetscBool       ascii, device;
  Mat             block[2];

  PetscFunctionBegin;
  PetscCall((*view_sor)(pc, viewer));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii || !pc->setupcalled || !pc->pmat || !MatShadowIsOurs(pc->pmat)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatAIJGetBlocks(pc->pmat, block, &columns));
  PetscCall(MatSORAMBGetColors(block[0], &colors, &device));
  if (colors) PetscCall(PetscViewerASCIIPrintf(viewer, "  rows by color, on the %s: %" PetscInt_FMT " colors%s\n", device ? "GPU" : "host", colors, block[1] ? " on the first process" : ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCCreate_SOR_AMB(PC pc)
{
  PetscFunctionBegin;
  PetscCall((*create_sor)(pc));
  if (!pc->ops->setup) pc->ops->setup = PCSetUp_SOR_AMB;
  view_sor      = pc->ops->view;
  pc->ops->view = PCView_SOR_AMB;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCSORAMBRegister(void)
{
  PetscFunctionBegin;
  wanted = PETSC_TRUE;
  PetscCall(PCInitializePackage());
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "petsc-amb, relaxation", "PC");
  PetscCall(PetscOptionsBool("-petscamb_for_sor", "PCSOR sweeps over matrices of petsc-amb by their own kernels", "PCSOR", wanted, &wanted, NULL));
  PetscOptionsEnd();
  PetscCall(PetscFunctionListFind(PCList, PCSOR, &create_sor));
  PetscCall(PCRegister(PCSOR, PCCreate_SOR_AMB));
  PetscFunctionReturn(PETSC_SUCCESS);
}
