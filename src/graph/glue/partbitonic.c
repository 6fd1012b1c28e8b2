/* SPDX-License-Identifier: BSD-2-Clause */
/*
   MATPARTITIONINGBITONIC: distributes rows by length

   Source:
.  * - X. Yang, S. Parthasarathy and P. Sadayappan, "Fast sparse matrix-vector multiplication on GPUs: implications for graph mining", Proceedings of the VLDB
      Endowment 4 (4), 2011
*/
#include <petsc/private/matimpl.h>
#include <petscambgraph.h>

/* Counts the rows of each length, in total and on the processes before this one, which gives each row's place in the order of lengths */
static PetscErrorCode BitonicApply(MatPartitioning part, IS *owner)
{
  Mat         A = part->adj;
  MPI_Comm    comm;
  PetscInt    first, last, most = 0, length, longer = 0, *here, *before, *all, *deal;
  PetscMPIInt n;

  PetscFunctionBegin;
  PetscCall(PetscObjectGetComm((PetscObject)A, &comm));
  PetscCheck(!part->vertex_weights, comm, PETSC_ERR_SUP, "The bitonic deal goes by the lengths of rows, and knows no weights of vertices; leave out MatPartitioningSetVertexWeights()");
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  PetscCall(PetscMalloc1(last - first, &deal));
  for (PetscInt r = first; r < last; r++) {
    PetscCall(MatGetRow(A, r, &length, NULL, NULL));
    deal[r - first] = length;
    most            = PetscMax(most, length);
    PetscCall(MatRestoreRow(A, r, &length, NULL, NULL));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPIU_INT, MPI_MAX, comm));
  PetscCall(PetscCalloc3(most + 1, &here, most + 1, &before, most + 1, &all));
  for (PetscInt r = 0; r < last - first; r++) here[deal[r]]++;
  PetscCall(PetscMPIIntCast(most + 1, &n));
  PetscCallMPI(MPI_Scan(here, before, n, MPIU_INT, MPI_SUM, comm));
  PetscCallMPI(MPI_Allreduce(here, all, n, MPIU_INT, MPI_SUM, comm));
  for (PetscInt l = most; l >= 0; l--) {
    before[l] += longer - here[l]; /* the place of this process's first row of this length */
    longer += all[l];
  }
  for (PetscInt r = 0; r < last - first; r++) {
    const PetscInt place = before[deal[r]]++, k = place % part->n;

    deal[r] = place / part->n % 2 ? part->n - 1 - k : k;
  }
  PetscCall(PetscFree3(here, before, all));
  PetscCall(ISCreateGeneral(comm, last - first, deal, PETSC_OWN_POINTER, owner));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   MATPARTITIONINGBITONIC - `MATPARTITIONINGBITONIC` = "bitonic" - deals the rows of a matrix to the parts, the longest first, and in reverse order of the parts in
   every other round: the part with the longest row of a round gets the shortest row of the next.

   All parts have about as many rows and as many nonzeros, whatever the lengths of the rows are. Neighbours are not kept together, so that processes exchange
   more entries of a vector than with contiguous rows.

   Options Database Key:
.  -mat_partitioning_type bitonic - sets the type, in `MatPartitioningSetFromOptions()`

   Level: intermediate

   Note:
   The matrix of `MatPartitioningSetAdjacency()` can have any type with `MatGetRow()`.

   Errors:
.  `PETSC_ERR_SUP` - vertices have weights, see `MatPartitioningSetVertexWeights()`

   Example:
.vb
   PetscCall(MatPartitioningCreate(PETSC_COMM_WORLD, &part));
   PetscCall(MatPartitioningSetAdjacency(part, A));
   PetscCall(MatPartitioningSetType(part, MATPARTITIONINGBITONIC));
   PetscCall(MatPartitioningApply(part, &owner)); // the process of each row
.ve

.seealso: `MatPartitioningSetType()`, `MatPartitioningApply()`, `MATAMB`
M*/
static PetscErrorCode MatPartitioningCreate_Bitonic(MatPartitioning part)
{
  PetscFunctionBegin;
  part->ops->apply = BitonicApply;
  PetscFunctionReturn(PETSC_SUCCESS);
}

extern PetscErrorCode BitonicRegister(void);

PetscErrorCode BitonicRegister(void)
{
  PetscFunctionBegin;
  PetscCall(MatPartitioningRegister(MATPARTITIONINGBITONIC, MatPartitioningCreate_Bitonic));
  PetscFunctionReturn(PETSC_SUCCESS);
}
