/* SPDX-License-Identifier: BSD-2-Clause */
/*
   MatPruneRows() and MatPowEntries(): operations on single entries
*/
#include <petscambgraph.h>
#include "sys/systhreads.h"
#include "graph/glue/graph.h"

/*@
  MatPruneRows - copies the largest entries of each row of a sparse matrix

  Collective

  Input Parameters:
+ A     - the matrix, of `MATAIJ` or a type that extends it
. least - least absolute value of an entry to copy; the largest of a row is always copied
- keep  - most entries of a row to copy, at least 1; of entries with the same absolute value those in lower columns are copied

  Output Parameter:
. B - the matrix of the copied entries, with the type and the layouts of `A`

  Level: intermediate

  Notes:
  `MatFilter()` (`MatChop()` before PETSc 3.20) drops entries by their values alone, and in place.

  The absolute value of a NaN counts as infinity. The host chooses the entries, also of a matrix on a GPU, because PETSc builds patterns on the host.

  Errors:
+ `PETSC_ERR_ARG_WRONGSTATE` - the matrix is not assembled
. `PETSC_ERR_SUP`            - the matrix is not of `MATAIJ` or a type that extends it
- `PETSC_ERR_ARG_OUTOFRANGE` - `keep` is less than 1

  Example:
.vb
  PetscCall(MatPruneRows(A, 0.01, 20, &B)); // at most 20 entries in a row, none below 0.01 but the largest
.ve

.seealso: `MatMaskEntries()`, `MatPowEntries()`, `MatFilter()`
@*/
PetscErrorCode MatPruneRows(Mat A, PetscReal least, PetscInt keep, Mat *B)
{
  const int    nthread = SysThreads();
  GraphLocal   rows;
  PetscInt    *i, *j, longest = 0;
  PetscScalar *a;
  SysReal     *work;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscValidLogicalCollectiveReal(A, least, 2);
  PetscValidLogicalCollectiveInt(A, keep, 3);
  PetscCall(GraphCheckAIJ(A, "MatPruneRows()"));
  PetscCheck(keep > 0, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE, "MatPruneRows() cannot keep %" PetscInt_FMT " entries of a row; give at least 1", keep);
  PetscCall(GraphLocalGet(A, &rows));
  for (int64_t r = 0; r < rows.csr.m; r++) longest = PetscMax(longest, rows.csr.i[r + 1] - rows.csr.i[r]);
  PetscCall(PetscMalloc1((size_t)nthread * 2 * (size_t)longest, &work));
  PetscCall(PetscMalloc1((size_t)rows.csr.m + 1, &i));
  i[0] = 0;
  GraphPruneCount(nthread, &rows.csr, least, keep, longest, i + 1, work);
  for (int64_t r = 0; r < rows.csr.m; r++) i[r + 1] += i[r];
  PetscCall(PetscMalloc2((size_t)i[rows.csr.m], &j, (size_t)i[rows.csr.m], &a));
  GraphPruneFill(nthread, &rows.csr, least, keep, longest, i, j, a, work);
  PetscCall(PetscFree(work));
  PetscCall(GraphLocalRestore(&rows));
  PetscCall(GraphCreateLike(A, i, j, a, B));
  PetscCall(PetscFree2(j, a));
  PetscCall(PetscFree(i));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatPowEntries - replaces each stored entry of a sparse matrix by its absolute value to a power

  Logically Collective

  Input Parameters:
+ A     - the matrix, of `MATAIJ` or a type that extends it
- power - the exponent; 0 makes all stored entries 1, also those that are 0

  Level: intermediate

  Note:
  The values are computed on the host.

  Errors:
+ `PETSC_ERR_ARG_WRONGSTATE` - the matrix is not assembled
- `PETSC_ERR_SUP`            - the matrix is not of `MATAIJ` or a type that extends it

  Example:
.vb
  PetscCall(MatPowEntries(A, 0)); // the pattern: all stored entries become 1
.ve

.seealso: `MatPruneRows()`, `MatMaskEntries()`, `MatMarkovCluster()`, `VecPow()`
@*/
PetscErrorCode MatPowEntries(Mat A, PetscReal power)
{
  GraphRows rows;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscValidLogicalCollectiveReal(A, power, 2);
  PetscCall(GraphCheckAIJ(A, "MatPowEntries()"));
  PetscCall(GraphRowsGet(A, &rows));
  for (int k = 0; k < 2 && rows.block[k]; k++) {
    PetscScalar *a;

    PetscCall(MatSeqAIJGetArray(rows.block[k], &a));
    GraphPower(SysThreads(), rows.csr[k].nz, power, a);
    PetscCall(MatSeqAIJRestoreArray(rows.block[k], &a));
  }
  PetscCall(PetscObjectStateIncrease((PetscObject)A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
