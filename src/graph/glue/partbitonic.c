/* SPDX-License-Identifier: BSD-2-Clause */
/*
   MATPARTITIONINGBITONIC: distributes rows by length

   Source:
.  * - X. Yang, S. Parthasarathy and P. Sadayappan, "Fast sparse matrix-vector multiplication on GPUs: implications for graph mining", Proceedings of the VLDB
      Endowment 4 (4), 2011
*/
#include <petsc/private/matimpl.h>
#include <petscambgraph.h>

/* Sets the part of each row. Counts the rows of each length on this process, on the processes before it and in total, which gives each row's position in the
   order of lengths, the longest first. Rounds of part->n rows go to the parts forwards and backwards in turn. */
static PetscErrorCode BitonicApply(MatPartitioning part, IS *owner)
{
  Mat         A = part->adj;
  MPI_Comm    comm;
  PetscInt    first, last, most = 0, length, longer = 0, *here, *before, *all, *deal; /* deal: the rows' lengths, then their parts */
  PetscMPIInt n;

  PetscFunctionBegin;
  PetscCall(PetscObjectGetComm((PetscObject)A, &comm));
  PetscCheck(!part->vertex_weights, comm, PETSC_ERR_SUP, "MATPARTITIONINGBITONIC distributes rows by length and does not support vertex weights; do not call MatPartitioningSetVertexWeights()");
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
    before[l] += longer - here[l]; /* the position of this process's first row of this length */
    longer += all[l];
  }
  for (PetscInt r = 0; r < last - first; r++) {
    const PetscInt position = before[deal[r]]++, k = position % part->n;

    deal[r] = position / part->n % 2 ? part->n - 1 - k : k;
  }
  PetscCall(PetscFree3(here, before, all));
  PetscCall(ISCreateGeneral(comm, last - first, deal, PETSC_OWN_POINTER, owner));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   MATPARTITIONINGBITONIC - `MATPARTITIONINGBITONIC` = "bitonic" - distributes a matrix's rows to the parts by length, the longest first, in rounds of
   one row a part; every other round runs backwards, so the part with the longest row of a round gets the shortest row of the next.

   All parts get about equally many rows and nonzeros, whatever the lengths of the rows. Neighbouring rows go to different parts, so processes exchange more
   entries of a vector than with contiguous rows.

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
