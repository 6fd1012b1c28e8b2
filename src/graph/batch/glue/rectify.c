/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The rectifier between a network's layers, and its derivative
*/
#include <petscmat.h>

#include "graph/batch/glue/batch.h"

/*@
  GraphConvRectify - sets negative features to 0 (ReLU), as between two layers of a network

  Collective

  Input Parameter:
. H - the features, any number of them

  Level: advanced

  Note:
  Features on a GPU (`VECSEQCUDA`) are changed there. An undefined number (NaN) stays.

.seealso: `GraphConvRectifyBackward()`, `GraphConvForward()`
@*/
PetscErrorCode GraphConvRectify(Vec H)
{
  PetscScalar *h;
  PetscInt     n;
  PetscBool    device = PETSC_FALSE;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(H, VEC_CLASSID, 1);
  PetscCall(MatBatchDeviceSupports(H, H, &device));
  if (device) {
    PetscCall(GraphConvDeviceRectify(H));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecGetLocalSize(H, &n));
  PetscCall(VecGetArray(H, &h));
  for (PetscInt k = 0; k < n; k++) {
    if (isless(PetscRealPart(h[k]), 0)) h[k] = 0; /* a comparison that does not trap on NaN */
  }
  PetscCall(VecRestoreArray(H, &h));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  GraphConvRectifyBackward - sets derivatives to 0 where features are not positive: the derivative of `GraphConvRectify()`

  Collective

  Input Parameters:
+ H  - the features, before or after `GraphConvRectify()`
- dH - the derivatives of a number with respect to the result of `GraphConvRectify()`, which become those with respect to its input

  Level: advanced

  Note:
  If both vectors are on a GPU (`VECSEQCUDA`), they are changed there.

  Errors:
. `PETSC_ERR_ARG_SIZ` - `H` and `dH` have different sizes

.seealso: `GraphConvRectify()`, `GraphConvBackward()`
@*/
PetscErrorCode GraphConvRectifyBackward(Vec H, Vec dH)
{
  const PetscScalar *h;
  PetscScalar       *d;
  PetscInt           n, nd;
  PetscBool          device = PETSC_FALSE;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(H, VEC_CLASSID, 1);
  PetscValidHeaderSpecific(dH, VEC_CLASSID, 2);
  PetscCall(VecGetLocalSize(H, &n));
  PetscCall(VecGetLocalSize(dH, &nd));
  PetscCheck(n == nd, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "%" PetscInt_FMT " features have %" PetscInt_FMT " derivatives; give each feature one", n, nd);
  PetscCall(MatBatchDeviceSupports(H, dH, &device));
  if (device) {
    PetscCall(GraphConvDeviceRectifyBackward(H, dH));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecGetArrayRead(H, &h));
  PetscCall(VecGetArray(dH, &d));
  for (PetscInt k = 0; k < n; k++) {
    if (!isgreater(PetscRealPart(h[k]), 0)) d[k] = 0;
  }
  PetscCall(VecRestoreArray(dH, &d));
  PetscCall(VecRestoreArrayRead(H, &h));
  PetscFunctionReturn(PETSC_SUCCESS);
}
