/* SPDX-License-Identifier: BSD-2-Clause */
/*
   petscamb info: how many values of a matrix differ, and the bytes of a product with AMB for each storage of values.
*/
#include "bench.h"

#define MOST 65536 /* distinct values that are counted */

static int StorageCompare(const void *a, const void *b)
{
  return memcmp(a, b, sizeof(PetscScalar));
}

/* Sorts the values by their bits and leaves one of each, MOST + 1 at most; returns their number */
static PetscInt StorageUnique(PetscInt n, PetscScalar *a)
{
  PetscInt u = 0;

  qsort(a, (size_t)n, sizeof(*a), StorageCompare);
  for (PetscInt k = 0; k < n && u <= MOST; k++) {
    if (!u || memcmp(&a[k], &a[u - 1], sizeof(*a))) a[u++] = a[k];
  }
  return u;
}

/* Counts the values with different bits on all processes; MOST + 1 stands for more than MOST */
static PetscErrorCode StorageDistinct(MPI_Comm comm, const Rows *rows, PetscInt *distinct)
{
  PetscInt     n = rows->i[rows->m] - rows->i[0];
  PetscScalar *mine, *all = NULL;
  PetscMPIInt  rank, size, count, *counts = NULL, *starts = NULL;
  PetscInt     sum = 0;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(PetscMalloc1(n, &mine));
  PetscCall(PetscArraycpy(mine, rows->a + rows->i[0], n));
  count = (PetscMPIInt)StorageUnique(n, mine);
  if (!rank) PetscCall(PetscMalloc2(size, &counts, size, &starts));
  PetscCallMPI(MPI_Gather(&count, 1, MPI_INT, counts, 1, MPI_INT, 0, comm));
  for (PetscMPIInt p = 0; !rank && p < size; p++) {
    starts[p] = (PetscMPIInt)sum;
    sum += counts[p];
  }
  if (!rank) PetscCall(PetscMalloc1(sum, &all));
  PetscCallMPI(MPI_Gatherv(mine, count, MPIU_SCALAR, all, counts, starts, MPIU_SCALAR, 0, comm));
  if (!rank) *distinct = StorageUnique(sum, all);
  PetscCallMPI(MPI_Bcast(distinct, 1, MPIU_INT, 0, comm));
  PetscCall(PetscFree(mine));
  PetscCall(PetscFree(all));
  PetscCall(PetscFree2(counts, starts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Converts the matrix to AMB with each storage. The table of the processes may differ: the figures are those of the first one. */
PetscErrorCode StorageMake(Mat A, const Rows *rows, const Shape *shape, Storages *s)
{
  const MPI_Comm       comm    = PetscObjectComm((PetscObject)A);
  const PetscLogDouble vectors = (PetscLogDouble)sizeof(PetscScalar) * ((PetscLogDouble)shape->M + (PetscLogDouble)shape->N);

  PetscFunctionBegin;
  PetscCall(PetscMemzero(s, sizeof(*s)));
  PetscCall(StorageDistinct(comm, rows, &s->distinct));
  for (int k = 0; k < STORAGES; k++) {
    MatShadowInfo  info;
    Mat            B;
    PetscLogDouble bytes;

    PetscCall(MatConvert(A, MATAMB, MAT_INITIAL_MATRIX, &B));
    PetscCall(MatShadowSetTune(B, MAT_SHADOW_TUNE_OFF));
    PetscCall(MatShadowSetValues(B, (MatShadowValues)k));
    PetscCall(MatShadowSetUp(B));
    PetscCall(MatShadowGetInfo(B, &info));
    bytes = info.bytes_stored;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_DOUBLE, MPI_SUM, comm));
    s->bytes[k] = bytes;
    PetscCall(MatShadowGetFigure(B, "values_bits", &s->bits[k]));
    PetscCall(MatShadowGetFigure(B, "values_exact", &s->exact[k]));
    s->gain[k] = s->bytes[0] + vectors > 0 && bytes + vectors > 0 ? (s->bytes[0] + vectors) / (bytes + vectors) : 1;
    PetscCall(MatDestroy(&B));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StoragePrint(MPI_Comm comm, const Shape *shape, const Storages *s)
{
  PetscFunctionBegin;
  if (s->distinct > MOST) PetscCall(PetscPrintf(comm, "  distinct values     more than %d\n", MOST));
  else PetscCall(PetscPrintf(comm, "  distinct values     %" PetscInt_FMT "\n", s->distinct));
  PetscCall(PetscPrintf(comm, "  amb, -mat_shadow_values   B/nnz   bits of a value   gain by bytes\n"));
  for (int k = 0; k < STORAGES; k++) { PetscCall(PetscPrintf(comm, "  %-23s %7.2f %17.0f %14.2fx%s\n", MatShadowValuesNames[k], s->bytes[k] / PetscMax(shape->nonzeros, 1), s->bits[k], s->gain[k], s->exact[k] == 0 ? "  not exact" : "")); }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StorageJSON(FILE *f, const Storages *s)
{
  PetscFunctionBegin;
  fprintf(f, ",\n   \"distinct_values\": %" PetscInt_FMT ", \"storages\": [", s->distinct > MOST ? (PetscInt)-1 : s->distinct);
  for (int k = 0; k < STORAGES; k++)
    fprintf(f, "%s{\"values\": \"%s\", \"bytes\": %.0f, \"bits\": %.0f, \"exact\": %s, \"gain\": %.4g}", k ? ", " : "", MatShadowValuesNames[k], s->bytes[k], s->bits[k], s->exact[k] == 0 ? "false" : "true", s->gain[k]);
  fprintf(f, "]");
  PetscFunctionReturn(PETSC_SUCCESS);
}
