/* SPDX-License-Identifier: BSD-2-Clause */
/*
   PCGAMG with BAIJ and SBAIJ, for programs with -petscamb_for_aij: the set-up uses a copy of the matrix as AIJ.

   PETSc's set-up raises an error: these types have neither a graph nor products with the prolongators. The copy, which the option makes a matrix of petsc-amb, belongs to the PC
   and gets new values before a set-up; the levels refer to it. The solver around the preconditioner keeps the program's matrix.
*/
#include <petsc/private/pcimpl.h>
#include <petscksp.h>

#include "mat/shadow/core/shadow.h"

extern PetscErrorCode GAMGBlocksRegister(void);

#define SETUP "PCGAMGBlocksSetUp_C" /* the set-up without this file, composed with the PC */
#define COPY  "PCGAMGBlocks"        /* the copy, composed with the PC */
#define OF    "PCGAMGBlocksOf"      /* the matrix that was copied, composed with the copy */

static PetscErrorCode (*create_gamg)(PC);

/* Copies what solvers attach to an operator */
static PetscErrorCode GAMGBlocksAttach(Mat A, Mat B)
{
  MatNullSpace nullspace;

  PetscFunctionBegin;
  PetscCall(MatGetNullSpace(A, &nullspace));
  PetscCall(MatSetNullSpace(B, nullspace));
  PetscCall(MatGetTransposeNullSpace(A, &nullspace));
  PetscCall(MatSetTransposeNullSpace(B, nullspace));
  PetscCall(MatGetNearNullSpace(A, &nullspace));
  PetscCall(MatSetNearNullSpace(B, nullspace));
  PetscCall(MatPropagateSymmetryOptions(A, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Brings new values of A, with the pattern of B, into B. PETSc's conversion of SBAIJ into an old matrix breaks the matrix's pattern. */
static PetscErrorCode GAMGBlocksUpdate(Mat A, Mat B)
{
  PetscBool halves;
  Mat       C;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &halves, MATSEQSBAIJ, MATMPISBAIJ, ""));
  if (halves) {
    PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &C));
    PetscCall(MatCopy(C, B, SAME_NONZERO_PATTERN));
    PetscCall(MatDestroy(&C));
  } else PetscCall(MatConvert(A, MATAIJ, MAT_REUSE_MATRIX, &B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the copy with the values of A, the one of the last set-up if it has the same pattern */
static PetscErrorCode GAMGBlocksCopy(PC pc, Mat A, Mat *copy)
{
  Mat         B, of = NULL;
  const char *prefix;

  PetscFunctionBegin;
  PetscCall(PetscObjectQuery((PetscObject)pc, COPY, (PetscObject *)&B));
  if (B) PetscCall(PetscObjectQuery((PetscObject)B, OF, (PetscObject *)&of));
  if (B && of == A && pc->setupcalled && pc->flag != DIFFERENT_NONZERO_PATTERN) PetscCall(GAMGBlocksUpdate(A, B));
  else {
    PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
    PetscCall(MatGetOptionsPrefix(A, &prefix));
    PetscCall(MatSetOptionsPrefix(B, prefix));
    PetscCall(PetscObjectCompose((PetscObject)B, OF, (PetscObject)A));
    PetscCall(PetscObjectCompose((PetscObject)pc, COPY, (PetscObject)B));
    PetscCall(PetscObjectDereference((PetscObject)B)); /* the PC has it */
  }
  PetscCall(GAMGBlocksAttach(A, B));
  *copy = B;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetUp_GAMGBlocks(PC pc)
{
  PetscErrorCode (*setup)(PC), raised;
  const Mat mat = pc->mat, pmat = pc->pmat;
  PetscBool blocks;
  Mat       copy = NULL;

  PetscFunctionBegin;
  PetscCall(PetscObjectQueryFunction((PetscObject)pc, SETUP, &setup));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)pmat, &blocks, MATSEQBAIJ, MATMPIBAIJ, MATSEQSBAIJ, MATMPISBAIJ, ""));
  if (!blocks || !MatShadowForAIJ) {
    PetscCall((*setup)(pc));
    PetscCall(PetscObjectCompose((PetscObject)pc, COPY, NULL));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(GAMGBlocksCopy(pc, pmat, &copy));
  pc->pmat = copy;
  if (mat == pmat) pc->mat = copy;
  raised   = (*setup)(pc);
  pc->pmat = pmat;
  pc->mat  = mat;
  PetscCall(raised);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCCreate_GAMGBlocks(PC pc)
{
  PetscFunctionBegin;
  PetscCall((*create_gamg)(pc));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, SETUP, pc->ops->setup));
  pc->ops->setup = PCSetUp_GAMGBlocks;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After the other set-ups of PCGAMG, which find the copy in the PC */
PetscErrorCode GAMGBlocksRegister(void)
{
  PetscFunctionBegin;
  PetscCall(PCInitializePackage());
  PetscCall(PetscFunctionListFind(PCList, PCGAMG, &create_gamg));
  PetscCall(PCRegister(PCGAMG, PCCreate_GAMGBlocks));
  PetscFunctionReturn(PETSC_SUCCESS);
}
