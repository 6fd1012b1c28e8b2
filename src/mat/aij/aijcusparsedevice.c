/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Operations and settings of AIJCUSPARSE that PETSc does not export
*/
#include "mat/aij/aij.h"

PetscErrorCode (*MatAIJCreateSeqCUSPARSE)(Mat), (*MatAIJCreateMPICUSPARSE)(Mat);
struct _MatOps   MatAIJBaseSeqCUSPARSE, MatAIJBaseMPICUSPARSE;
static PetscBool is_setup = PETSC_FALSE;

PetscErrorCode MatAIJCUSPARSESetUp(void)
{
  PetscFunctionBegin;
  if (is_setup) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatAIJGetOperations(MatAIJCreateSeqCUSPARSE, &MatAIJBaseSeqCUSPARSE));
  PetscCall(MatAIJGetOperations(MatAIJCreateMPICUSPARSE, &MatAIJBaseMPICUSPARSE));
  is_setup = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatAIJCUSPARSEFinalize(void)
{
  PetscFunctionBegin;
  is_setup = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define MAT_AIJ_CPU_SOLVE_ROWS 1000 /* rows of a factor up to which triangular solves are as fast on the host */

/* CUDA loads code before AIJCUSPARSE's first triangular solve, which takes 30 to 50 ms. For a small matrix, such as the coarsest multigrid level,
   PETSc's solves on the host are faster overall. */
PetscErrorCode MatAIJCUSPARSESetCPUSolve(Mat A)
{
  PetscBool given;

  PetscFunctionBegin;
  if (A->boundtocpu || A->rmap->n > MAT_AIJ_CPU_SOLVE_ROWS) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscOptionsHasName(((PetscObject)A)->options, ((PetscObject)A)->prefix, "-mat_cusparse_use_cpu_solve", &given));
  if (!given) PetscCall(MatCUSPARSESetUseCPUSolve(A, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc has no function that frees the copy. So the matrix exchanges its structure with the empty one of a temporary matrix, whose destruction frees
   the copy. Settings that PETSc stores in this structure are read from the options again. */
PetscErrorCode MatAIJCUSPARSEReset(Mat A)
{
  void *full = A->spptr;
  Mat   B;

  PetscFunctionBegin;
  PetscCall(MatAIJCreateEmpty(MatAIJCreateSeqCUSPARSE, &B));
  A->spptr = B->spptr;
  B->spptr = full;
  PetscCall(MatDestroy(&B));
  A->offloadmask  = PETSC_OFFLOAD_UNALLOCATED;
  A->transupdated = PETSC_FALSE;
  PetscObjectOptionsBegin((PetscObject)A);
  PetscTryTypeMethod(A, setfromoptions, PetscOptionsObject);
  PetscOptionsEnd();
  PetscCall(MatAIJCUSPARSESetCPUSolve(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
