/* SPDX-License-Identifier: BSD-2-Clause */
/*
   PCSOR is PETSc's, and has no set-up there. The set-up of petsc-amb installs its MatSOR() in the matrix, or in the diagonal block of each process. Its view adds the order of rows, if
   that is by color. So does the start of a solve with PCEISENSTAT, all of whose sweeps must have one order of rows.
*/
#include <petsc/private/pcimpl.h>
#include <petscksp.h>

#include "mat/factor/glue/sor.h"
#include "mat/shadow/user/shadowoptions.h"

extern PetscErrorCode PCSORAMBRegister(void);

static PetscErrorCode (*create_sor)(PC);
static PetscErrorCode (*view_sor)(PC, PetscViewer);
static PetscBool wanted;

/* Gives the matrix of this process MatSOR() of petsc-amb; the second block is NULL with one process */
static PetscErrorCode PCSORAMBInstall(PC pc, Mat block[2])
{
  const PetscInt *columns;

  PetscFunctionBegin;
  block[0] = block[1] = NULL;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-petscamb_for_sor", &wanted, NULL));
  PetscCall(MatShadowOptionSought("-petscamb_for_sor"));
  if (!MatShadowIsOurs(pc->pmat)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatAIJComplete(pc->pmat));
  PetscCall(MatAIJGetBlocks(pc->pmat, block, &columns));
  if (wanted) PetscCall(MatSORAMBInstall(block[0]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetUp_SOR_AMB(PC pc)
{
  Mat block[2];

  PetscFunctionBegin;
  PetscCall(PCSORAMBInstall(pc, block));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- Eisenstat's trick ------------------------------------------------- */

static PetscErrorCode (*create_eisenstat)(PC);
static PetscErrorCode (*presolve)(PC, KSP, Vec, Vec);
static PetscErrorCode (*postsolve)(PC, KSP, Vec, Vec);

/* Sweeps stay in PETSc's order where another part of PCEISENSTAT has it: the transformation of an initial guess; the diagonal of I-nodes, which a sweep of PETSc computes; and
   the diagonal in sweeps of several processes, which has no blocks */
static PetscErrorCode PCPreSolve_Eisenstat_AMB(PC pc, KSP ksp, Vec b, Vec x)
{
  PetscBool nonzero, nodes;
  PetscInt  bs;
  Mat       block[2];

  PetscFunctionBegin;
  PetscCall(PCSORAMBInstall(pc, block));
  if (block[0]) {
    PetscCall(KSPGetInitialGuessNonzero(ksp, &nonzero));
    PetscCall(MatHasOperation(block[0], MATOP_MULT_DIAGONAL_BLOCK, &nodes));
    PetscCall(MatGetBlockSize(block[0], &bs));
    PetscCall(MatSORAMBSetNatural(block[0], (PetscBool)(nonzero || nodes || (block[1] && bs > 1))));
  }
  PetscCall((*presolve)(pc, ksp, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCPostSolve_Eisenstat_AMB(PC pc, KSP ksp, Vec b, Vec x)
{
  const PetscInt *columns;
  Mat             block[2];

  PetscFunctionBegin;
  PetscCall((*postsolve)(pc, ksp, b, x));
  if (!MatShadowIsOurs(pc->pmat)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatAIJGetBlocks(pc->pmat, block, &columns));
  PetscCall(MatSORAMBSetNatural(block[0], PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCCreate_Eisenstat_AMB(PC pc)
{
  PetscFunctionBegin;
  PetscCall((*create_eisenstat)(pc));
  presolve           = pc->ops->presolve;
  postsolve          = pc->ops->postsolve;
  pc->ops->presolve  = PCPreSolve_Eisenstat_AMB;
  pc->ops->postsolve = PCPostSolve_Eisenstat_AMB;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- views, registration ------------------------------------------------- */

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
  PetscCall(PetscFunctionListFind(PCList, PCEISENSTAT, &create_eisenstat));
  PetscCall(PCRegister(PCEISENSTAT, PCCreate_Eisenstat_AMB));
  PetscFunctionReturn(PETSC_SUCCESS);
}
