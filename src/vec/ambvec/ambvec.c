/* SPDX-License-Identifier: BSD-2-Clause */
#include "vec/ambvec/ambvec.h"

PetscBool VecAMBWanted = PETSC_TRUE;

PetscErrorCode VecAMBRegister(void)
{
  PetscFunctionBegin;
  VecAMBWanted = PETSC_TRUE;
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "petsc-amb, vectors", "Vec");
  PetscCall(PetscOptionsBool("-petscamb_for_vec", "On a GPU, vectors of products with matrices of petsc-amb have dot products, norms and VecAYPX() of petsc-amb", "VecDot", VecAMBWanted, &VecAMBWanted, NULL));
  PetscOptionsEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecAMBGetOperations(VecType type, struct _VecOps *ops)
{
  Vec v;

  PetscFunctionBegin;
  PetscCall(VecCreate(PETSC_COMM_SELF, &v));
  PetscCall(VecSetSizes(v, 0, 0)); /* without memory, since the first that is freed on a GPU takes 10 ms */
  PetscCall(VecSetType(v, type));
  *ops = *v->ops;
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}
