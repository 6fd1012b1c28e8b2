/* SPDX-License-Identifier: BSD-2-Clause */
/*
   PCBJACOBI and PCASM with several blocks a process: on a GPU one solve for the incomplete factors of all blocks
*/
#pragma once

#include <petsc/private/pcimpl.h>
#include <petsc/private/kspimpl.h>

#include "mat/factor/glue/factor.h"

/* Of a PC, composed with it */
typedef struct {
  PetscErrorCode (*setup)(PC); /* PETSc's */
  PetscErrorCode (*setuponblocks)(PC);
  PetscErrorCode (*apply)(PC, Vec, Vec);
  PetscErrorCode (*view)(PC, PetscViewer);
  FactorSubMatrices blocks;  /* of the matrix, from its first new values on, or NULL */
  FactorGroup       group;   /* of the blocks, or NULL: PETSc solves block by block */
  PetscInt          n;       /* factors of the group */
  PetscInt         *made;    /* the number of each */
  PetscObjectState *state;   /* of each factor whose values the group has */
  PetscBool         current; /* PETSc has set the blocks up since its last set-up of the PC */
  const char       *reason;  /* why there is no group, or NULL */

  /* PCASM */
  PetscBool  schwarz;
  Vec        y;    /* the solutions of all blocks, one after the other, if solutions of blocks are added */
  VecScatter back; /* adds y to the solution of this process */
} PCBlocks;

extern PetscErrorCode PCBlocksGet(PC, PCBlocks **);

/* Sets source and target of each row of the blocks, one after the other: the entries of right-hand sides and of solutions, or of c->y. Arrays of the caller. *why is set if solutions
   have no such places. */
extern PetscErrorCode PCBlocksGetPlaces(PC, PCBlocks *, PetscInt n, const Mat F[], PetscInt source[], PetscInt target[], const char **why);

/* Calls PETSc's set-up of the PC, in which blocks of a matrix on a GPU get new values there */
SYS_DEVICE PetscErrorCode PCBlocksSetUpPETSc(PC pc, PCBlocks *c) SYS_STUB((*c->setup)(pc));

/* Makes the group of these factors, or brings their new values; *why is set if there is no group */
SYS_DEVICE PetscErrorCode PCBlocksSetUpDevice(PC pc, PCBlocks *c, PetscInt n, const Mat F[], const char **why) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE void           PCBlocksResetDevice(PCBlocks *c) SYS_STUB();

/* Applies the preconditioner with the group; *done is PETSC_FALSE if a vector is on the host */
SYS_DEVICE PetscErrorCode PCBlocksApplyDevice(PC pc, PCBlocks *c, Vec b, Vec x, PetscBool *done) SYS_STUB(PETSC_SUCCESS);
