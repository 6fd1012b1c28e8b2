/* SPDX-License-Identifier: BSD-2-Clause */
/*
   petscamb info: how many values of a matrix differ, and the bytes of a product with AMB for each storage of values.
*/
#include "tool.h"

#define MOST 65536 /* distinct values that are counted */

#define PLACES (4 * (MOST + 1)) /* of a hash table of values; a power of two is not needed */

/* A hash table of the values met so far */
typedef struct {
  PetscInt     count;
  PetscScalar *values;   /* count of them, at most MOST + 1 */
  PetscInt    *position; /* 1 + the number of the value, or 0 */
} Met;

static PetscErrorCode MetCreate(Met *met)
{
  PetscFunctionBegin;
  met->count = 0;
  PetscCall(PetscMalloc1(MOST + 1, &met->values));
  PetscCall(PetscCalloc1(PLACES, &met->position));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MetDestroy(Met *met)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(met->values));
  PetscCall(PetscFree(met->position));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds values until there are more than MOST with different bits */
static void MetAdd(Met *met, PetscInt n, const PetscScalar a[])
{
  for (PetscInt k = 0; k < n && met->count <= MOST; k++) {
    uint64_t hash = 0;
    uint32_t words[sizeof(PetscScalar) / 4];
    size_t   p;

    if (k && !memcmp(&a[k], &a[k - 1], sizeof(*a))) continue;
    memcpy(words, &a[k], sizeof(words));
    for (size_t w = 0; w < sizeof(words) / sizeof(*words); w++) hash = (hash ^ words[w]) * UINT64_C(0x9e3779b97f4a7c15);
    for (p = (size_t)((hash >> 20) % PLACES); met->position[p] && memcmp(&a[k], &met->values[met->position[p] - 1], sizeof(*a)); p = (p + 1) % PLACES) { }
    if (met->position[p]) continue;
    met->values[met->count++] = a[k];
    met->position[p]          = met->count;
  }
}

/* Counts the values with different bits on all processes; MOST + 1 stands for more than MOST */
PetscErrorCode StorageDistinct(MPI_Comm comm, const Rows *rows, PetscInt *distinct)
{
  Met          mine;
  PetscScalar *all = NULL;
  PetscMPIInt  rank, size, count, *counts = NULL, *starts = NULL;
  PetscInt     sum = 0;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(MetCreate(&mine));
  MetAdd(&mine, rows->i[rows->m] - rows->i[0], rows->a + rows->i[0]);
  count = (PetscMPIInt)mine.count;
  if (!rank) PetscCall(PetscMalloc2(size, &counts, size, &starts));
  PetscCallMPI(MPI_Gather(&count, 1, MPI_INT, counts, 1, MPI_INT, 0, comm));
  for (PetscMPIInt p = 0; !rank && p < size; p++) {
    starts[p] = (PetscMPIInt)sum;
    sum += counts[p];
  }
  if (!rank) PetscCall(PetscMalloc1(sum, &all));
  PetscCallMPI(MPI_Gatherv(mine.values, count, MPIU_SCALAR, all, counts, starts, MPIU_SCALAR, 0, comm));
  if (!rank && sum > count) MetAdd(&mine, sum - count, all + count);
  *distinct = mine.count;
  PetscCallMPI(MPI_Bcast(distinct, 1, MPIU_INT, 0, comm));
  PetscCall(MetDestroy(&mine));
  PetscCall(PetscFree(all));
  PetscCall(PetscFree2(counts, starts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Converts the matrix to AMB with each storage. The tables of the processes may differ: the figures are the first one's. */
PetscErrorCode StorageMake(Mat A, const Shape *shape, Storages *s)
{
  const MPI_Comm       comm    = PetscObjectComm((PetscObject)A);
  const PetscLogDouble vectors = (PetscLogDouble)sizeof(PetscScalar) * ((PetscLogDouble)shape->M + (PetscLogDouble)shape->N);

  PetscFunctionBegin;
  for (int k = 0; k < STORAGES; k++) {
    MatShadowInfo  info;
    Mat            B;
    PetscLogDouble bytes;

    PetscCall(FormatBegin(A, MATAMB, &B));
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
    PetscCall(FormatEnd(A, &B));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StoragePrint(MPI_Comm comm, const Shape *shape, const Storages *s)
{
  PetscFunctionBegin;
  if (s->distinct > MOST) PetscCall(ReportPrintf(comm, "  distinct values     more than %d\n", MOST));
  else PetscCall(ReportPrintf(comm, "  distinct values     %" PetscInt_FMT "\n", s->distinct));
  PetscCall(ReportPrintf(comm, "  amb, -mat_shadow_values   B/nnz   bits of a value   gain by bytes\n"));
  for (int k = 0; k < STORAGES; k++) { PetscCall(ReportPrintf(comm, "  %-23s %7.2f %17.0f %14.2fx%s\n", MatShadowValuesNames[k], s->bytes[k] / PetscMax(shape->nonzeros, 1), s->bits[k], s->gain[k], s->exact[k] == 0 ? "  not exact" : "")); }
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
