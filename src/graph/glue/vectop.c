/* SPDX-License-Identifier: BSD-2-Clause */
/*
   VecGetTop(): the largest entries of a vector
*/
#include <petscambgraph.h>
#include "graph/glue/graph.h"
#include "graph/glue/graphdevice.h"

/*@
  VecGetTop - gets the greatest entries of a vector

  Collective

  Input Parameters:
+ x - the vector; the real parts of its entries count
- k - the number of entries to get

  Output Parameters:
+ n     - how many entries there are: `k`, or the length of `x` if that is less
. index - the global indices of these entries, the greatest entry first; equal entries are in ascending order of their indices; room for `k` numbers
- value - the entries themselves; room for `k` numbers

  Level: intermediate

  Notes:
  All processes get the result. A NaN comes after all numbers. From a vector on a GPU with more than twice `k` local entries the `k` greatest are copied to the host, and no others; the
  result is the same. For other vectors, and if memory on the GPU is short, the host finds them.

  Errors:
. `PETSC_ERR_ARG_OUTOFRANGE` - `k` is negative, or the entries that the processes send are more than 2^31 - 1 in all

  Example:
.vb
  PetscInt  n, index[10];
  PetscReal value[10];

  PetscCall(VecGetTop(x, 10, &n, index, value));
  if (n) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "row %" PetscInt_FMT ": %g\n", index[0], (double)value[0]));
.ve

.seealso: `VecShiftToSum()`, `VecScaleToSum()`, `VecMax()`
@*/
PetscErrorCode VecGetTop(Vec x, PetscInt k, PetscInt *n, PetscInt index[], PetscReal value[])
{
  MPI_Comm     comm;
  PetscMPIInt  size, *counts, *at, mine;
  PetscInt     m, first, *ids;
  PetscScalar *best;
  PetscReal   *own, *found;
  int64_t     *position, total = 0;
  PetscBool    done = PETSC_FALSE;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(x, VEC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(x, k, 2);
  PetscCall(PetscObjectGetComm((PetscObject)x, &comm));
  PetscCheck(k >= 0, comm, PETSC_ERR_ARG_OUTOFRANGE, "%" PetscInt_FMT " entries were requested; give 0 or more", k);
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(VecGetLocalSize(x, &m));
  PetscCall(VecGetOwnershipRange(x, &first, NULL));
  mine = (PetscMPIInt)PetscMin(m, k);
  PetscCall(PetscMalloc4(size, &counts, size, &at, mine, &position, mine, &own));
  PetscCall(VecTopDevice(x, mine, position, own, &done));
  if (!done) {
    const PetscScalar *a;

    PetscCall(VecGetArrayRead(x, &a));
    (void)GraphTop(m, a, mine, position, own);
    PetscCall(VecRestoreArrayRead(x, &a));
  }
  PetscCallMPI(MPI_Allgather(&mine, 1, MPI_INT, counts, 1, MPI_INT, comm));
  for (PetscMPIInt p = 0; p < size; p++) {
    at[p] = (PetscMPIInt)total;
    total += counts[p];
    PetscCheck(total <= PETSC_MPI_INT_MAX, comm, PETSC_ERR_ARG_OUTOFRANGE, "%" PetscInt_FMT " entries of each process are more than 2^31 - 1 in all; request fewer", k);
  }

  /* all processes' entries, by process; equal entries of one process are in ascending order */
  {
    PetscInt *send;

    PetscCall(PetscMalloc4((size_t)total, &ids, (size_t)total, &found, (size_t)total, &best, mine, &send));
    for (PetscMPIInt q = 0; q < mine; q++) send[q] = first + (PetscInt)position[q];
    PetscCallMPI(MPI_Allgatherv(send, mine, MPIU_INT, ids, counts, at, MPIU_INT, comm));
    PetscCallMPI(MPI_Allgatherv(own, mine, MPIU_REAL, found, counts, at, MPIU_REAL, comm));
    PetscCall(PetscFree4(counts, at, position, own));
    for (int64_t q = 0; q < total; q++) best[q] = found[q];
    PetscCall(PetscMalloc1((size_t)PetscMin(total, k), &position));
    *n = (PetscInt)GraphTop(total, best, k, position, value);
    for (PetscInt q = 0; q < *n; q++) index[q] = ids[position[q]];
    PetscCall(PetscFree(position));
    PetscCall(PetscFree4(ids, found, best, send));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
