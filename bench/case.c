/* SPDX-License-Identifier: BSD-2-Clause */
/*
   A matrix under measurement with its vectors
*/
#include "bench.h"

PetscErrorCode CaseCreate(MPI_Comm comm, const char name[], Case *c)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(c, sizeof(*c)));
  c->name = name;
  PetscCall(InputCreateMat(comm, name, &c->A));
  PetscCall(RowsGet(c->A, &c->rows));
  PetscCall(ShapeCompute(c->A, &c->rows, &c->shape));
  PetscCall(MatCreateVecs(c->A, &c->x, &c->y));
  PetscCall(MatCreateVecs(c->A, &c->yt, &c->xt));
  PetscCall(VecDuplicate(c->y, &c->z));
  PetscCall(VecFill(c->x, 1));
  PetscCall(VecFill(c->xt, 2));
  PetscCall(VecFill(c->z, 3));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CaseDestroy(Case *c)
{
  PetscFunctionBegin;
  PetscCall(VecDestroy(&c->x));
  PetscCall(VecDestroy(&c->y));
  PetscCall(VecDestroy(&c->z));
  PetscCall(VecDestroy(&c->xt));
  PetscCall(VecDestroy(&c->yt));
  for (int p = 0; p < PAIRS; p++) PetscCall(PairDestroy(&c->pairs[p]));
  PetscCall(RowsRestore(&c->rows));
  PetscCall(MatDestroy(&c->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
