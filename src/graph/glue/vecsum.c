/* SPDX-License-Identifier: BSD-2-Clause */
/*
   VecShiftToSum() and VecScaleToSum(): change a vector's sum, and compare it with a previous vector
*/
#include <petscambgraph.h>
#include <petsc/private/vecimpl.h>

#include "sys/syscompat.h"
#include "sys/systhreads.h"
#include "graph/glue/graphdevice.h"
#include "graph/host/graphhost.h"

static PetscErrorCode VecToSumHost(VecToSum *s)
{
  MPI_Comm           comm;
  PetscInt           n;
  const PetscScalar *x = NULL, *where = NULL;
  PetscScalar       *z, f = 1, t = 0;

  PetscFunctionBegin;
  PetscCall(PetscObjectGetComm((PetscObject)s->z, &comm));
  PetscCall(VecGetLocalSize(s->z, &n));
  PetscCall(VecGetArray(s->z, &z));
  if (s->x) PetscCall(VecGetArrayRead(s->x, &x));
  if (s->where) PetscCall(VecGetArrayRead(s->where, &where));
  s->total = GraphSum(SysThreads(), n, z);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &s->total, 1, MPIU_SCALAR, MPIU_SUM, comm));
  if (!s->scale) t = (s->sum - s->total) / s->weight;
  else if (s->total != (PetscScalar)0) f = s->sum / s->total;
  s->change = GraphStep(SysThreads(), n, f, t, where, x, z);
  if (s->where) PetscCall(VecRestoreArrayRead(s->where, &where));
  if (s->x) PetscCall(VecRestoreArrayRead(s->x, &x));
  PetscCall(VecRestoreArray(s->z, &z));
  if (s->x) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &s->change, 1, MPIU_REAL, MPIU_SUM, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecToSumAny(VecToSum *s)
{
  PetscBool done;

  PetscFunctionBegin;
  if (s->where) PetscCheckSameTypeAndComm(s->z, 1, s->where, 2);
  if (s->x) PetscCheckSameTypeAndComm(s->z, 1, s->x, 3);
  PetscCall(VecToSumDevice(s, &done));
  if (!done) PetscCall(VecToSumHost(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  VecShiftToSum - adds the same number to some or all entries of a vector so that the vector gets a sum

  Collective

  Input Parameters:
+ z      - the vector
. where  - 1 for the entries that are changed and 0 for the others; or `NULL` for all entries
. weight - the sum of `where`, or the number of entries
. sum    - the sum that the vector is to have
- x      - a vector to compare with, or `NULL`

  Output Parameter:
. change - the 1-norm of `x` - `z`, with the changed `z`; 0 without `x`

  Level: intermediate

  Note:
  An iteration of PageRank calls this function after its product. It passes over the vectors twice. On a GPU two numbers come to the host.

  Errors:
+ `PETSC_ERR_ARG_OUTOFRANGE` - `weight` is not positive
- `PETSC_ERR_MEM`            - the GPU lacks memory

  Example:
.vb
  PetscCall(MatMult(A, x, z)); // a step of PageRank: all n vertices get equal parts of the sum that the product lost
  PetscCall(VecShiftToSum(z, NULL, (PetscReal)n, 1, x, &change));
.ve

.seealso: `VecScaleToSum()`, `VecGetTop()`, `VecSum()`, `VecShift()`
@*/
PetscErrorCode VecShiftToSum(Vec z, Vec where, PetscReal weight, PetscScalar sum, Vec x, PetscReal *change)
{
  VecToSum s = {.z = z, .where = where, .x = x, .weight = weight, .sum = sum};

  PetscFunctionBegin;
  PetscValidHeaderSpecific(z, VEC_CLASSID, 1);
  PetscCheck(weight > 0, PetscObjectComm((PetscObject)z), PETSC_ERR_ARG_OUTOFRANGE, "The number of entries to change, %g, must be positive", (double)weight);
  PetscCall(VecToSumAny(&s));
  *change = s.change;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  VecScaleToSum - scales a vector so that it gets a sum

  Collective

  Input Parameters:
+ z   - the vector
. sum - the sum that the vector is to have
- x   - a vector to compare with, or `NULL`

  Output Parameters:
+ change - the 1-norm of `x` - `z`, with the changed `z`; 0 without `x`
- zero   - `PETSC_TRUE` if the sum was 0, and nothing was changed

  Level: intermediate

  Note:
  On a GPU two numbers come to the host.

  Errors:
. `PETSC_ERR_MEM` - the GPU lacks memory

  Example:
.vb
  PetscCall(VecScaleToSum(z, 1, NULL, &change, &zero)); // a vector of probabilities
.ve

.seealso: `VecShiftToSum()`, `VecSum()`, `VecScale()`
@*/
PetscErrorCode VecScaleToSum(Vec z, PetscScalar sum, Vec x, PetscReal *change, PetscBool *zero)
{
  VecToSum s = {.z = z, .x = x, .scale = PETSC_TRUE, .sum = sum};

  PetscFunctionBegin;
  PetscValidHeaderSpecific(z, VEC_CLASSID, 1);
  PetscCall(VecToSumAny(&s));
  *change = s.change;
  *zero   = (PetscBool)(s.total == (PetscScalar)0);
  PetscFunctionReturn(PETSC_SUCCESS);
}
