/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The off-diagonal block in products on the device: its rows add to the product of the diagonal block, or in a transposed product its columns
   make sums for other processes. Rows and columns are listed once; the kernels read the values of AIJCUSPARSE, without a copy that would need updates.
*/
#include "mat/halo/halo.h"

#define MAT_HALO_WHOLE 2000000 /* nonzeros; a larger block is worth a format of its own, if most rows have entries */

PetscErrorCode MatHaloBlockDestroy(MatHaloBlock *r)
{
  PetscFunctionBegin;
  MatAIJPoolRelease(r->rows_memory);
  MatAIJPoolRelease(r->columns_memory);
  PetscCall(PetscMemzero(r, sizeof(*r)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A list may end right afterwards: a copy of memory that is not pinned has read it */
static PetscErrorCode MatHaloUpload(size_t n, const int list[], int **device)
{
  PetscFunctionBegin;
  PetscCall(MatHaloCheck(SysPoolAllocate(n * sizeof(*list), device, PetscDefaultCudaStream)));
  PetscCallCUDA(cudaMemcpyAsync(*device, list, n * sizeof(*list), cudaMemcpyHostToDevice, PetscDefaultCudaStream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The number of threads that share a row, or a column, of so many entries */
static int MatHaloLanes(PetscInt entries)
{
  int lanes = 1;

  while (lanes < 32 && 2 * lanes <= entries) lanes *= 2;
  return lanes;
}

/* The first row from k on that has entries, or m. Most rows of an off-diagonal block have none: many are passed over at once. */
static PetscInt MatHaloNextRow(PetscInt m, const PetscInt i[], PetscInt k)
{
  const PetscInt step = 64;

  while (k + step <= m && i[k + step] == i[k]) k += step;
  while (k < m && i[k + 1] == i[k]) k++;
  return k;
}

/* Lists the rows of a host pattern that have entries; r->whole: there is no list */
static PetscErrorCode MatHaloListRows(MatHaloBlock *r, PetscInt m, const PetscInt i[])
{
  PetscInt n = 0, *list;

  PetscFunctionBegin;
  for (PetscInt k = MatHaloNextRow(m, i, 0); k < m; k = MatHaloNextRow(m, i, k + 1)) n++;
  r->whole = (PetscBool)(r->nz > MAT_HALO_WHOLE && n > m / 2);
  if (r->whole || !n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(2 * n + 1, &list));
  n = 0;
  for (PetscInt k = MatHaloNextRow(m, i, 0); k < m; k = MatHaloNextRow(m, i, k + 1)) list[n++] = k;
  for (PetscInt k = 0; k < n; k++) list[n + k] = i[list[k]]; /* the rows left out have no entries: row k ends where row k + 1 begins */
  list[2 * n] = r->nz;
  PetscCall(MatHaloUpload(2 * (size_t)n + 1, list, &r->rows_memory));
  PetscCall(PetscFree(list));
  r->rows.n = n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same of a pattern on the device */
static PetscErrorCode MatHaloListRowsDevice(MatHaloBlock *r, PetscInt m, const int i[])
{
  PetscFunctionBegin;
  if (!r->nz) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatHaloCheck(HaloListRows(m, i, &r->rows.n, &r->rows_memory, PetscDefaultCudaStream)));
  r->whole = (PetscBool)(r->nz > MAT_HALO_WHOLE && r->rows.n > m / 2);
  if (!r->whole) PetscFunctionReturn(PETSC_SUCCESS);
  MatAIJPoolRelease(r->rows_memory);
  r->rows_memory = NULL;
  r->rows.n      = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lists the rows that have entries, and lists them again if the pattern has changed */
PetscErrorCode MatHaloBlockSetUp(MatHaloBlock *r, Mat B)
{
  const PetscBool deferred = MatAIJIsDeferred(B);
  PetscObjectId   id;
  SysCSR          csr;

  PetscFunctionBegin;
  PetscCall((*(deferred ? MatAIJDeviceGetArrays : MatAIJGetSizes))(B, &csr));
  PetscCall(PetscObjectGetId((PetscObject)B, &id));
  if (r->block == id && r->nonzerostate == B->nonzerostate && r->i == csr.i && r->j == csr.j) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatHaloBlockDestroy(r));
  r->block        = id;
  r->nonzerostate = B->nonzerostate;
  r->i            = csr.i;
  r->j            = csr.j;
  r->nz           = (PetscInt)csr.nz;
  PetscCall((*(deferred ? MatHaloListRowsDevice : MatHaloListRows))(r, B->rmap->n, csr.i));
  if (!r->rows.n) PetscFunctionReturn(PETSC_SUCCESS);
  r->rows.lanes = MatHaloLanes(r->nz / r->rows.n);
  r->rows.rows  = r->rows_memory;
  r->rows.start = r->rows_memory + r->rows.n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lists the entries by columns; n is the number of columns. Called before the first transposed product. */
PetscErrorCode MatHaloColumnsSetUp(MatHaloBlock *r, Mat B, PetscInt n)
{
  const PetscInt  nz = r->nz, nrow = r->rows.n;
  PetscInt       *start, *row, *place, *list, *fetched = NULL;
  const PetscInt *j = r->j;

  PetscFunctionBegin;
  if (r->columns_memory) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscCalloc1((size_t)n + 1 + 2 * (size_t)nz, &start));
  PetscCall(PetscMalloc1(2 * nrow + 1, &list));
  row   = start + n + 1;
  place = row + nz;
  if (nrow) PetscCallCUDA(cudaMemcpy(list, r->rows_memory, (2 * nrow + 1) * sizeof(*list), cudaMemcpyDeviceToHost));
  if (nz && MatAIJIsDeferred(B)) {
    PetscCall(PetscMalloc1(nz, &fetched));
    PetscCallCUDA(cudaMemcpy(fetched, r->j, nz * sizeof(*fetched), cudaMemcpyDeviceToHost));
    j = fetched;
  }
  for (PetscInt e = 0; e < nz; e++) start[j[e]]++;
  for (PetscInt c = 0, before = 0; c <= n; c++) {
    const PetscInt length = start[c];

    start[c] = before;
    before += length;
  }
  for (PetscInt k = 0; k < nrow; k++) {
    for (PetscInt e = list[nrow + k]; e < list[nrow + k + 1]; e++) {
      const PetscInt to = start[j[e]]++;

      row[to]   = list[k];
      place[to] = e;
    }
  }
  for (PetscInt c = n; c > 0; c--) start[c] = start[c - 1]; /* the loop above moved each start to its end, where the next column begins */
  start[0] = 0;
  PetscCall(PetscFree(list));
  PetscCall(PetscFree(fetched));
  PetscCall(MatHaloUpload((size_t)n + 1 + 2 * (size_t)nz, start, &r->columns_memory));
  PetscCall(PetscFree(start));
  r->columns.n     = n;
  r->columns.lanes = MatHaloLanes(nz / n);
  r->columns.start = r->columns_memory;
  r->columns.row   = r->columns.start + n + 1;
  r->columns.place = r->columns.row + nz;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z = B x + z for the rows that have entries; x are the entries received from other processes */
PetscErrorCode MatHaloAdd(MatHalo *h, Mat B, Vec z)
{
  MatShadowCSR csr;
  PetscScalar *az;

  PetscFunctionBegin;
  PetscCall(MatHaloBlockSetUp(&h->rest, B));
  if (h->rest.whole) PetscUseTypeMethod(B, multadd, h->x, z, z);
  else if (h->rest.rows.n) {
    PetscCall(MatAIJDeviceGetCSR(B, &csr.A, &csr.stream));
    PetscCall(VecCUDAGetArray(z, &az));
    PetscCall(PetscLogGpuTimeBegin());
    PetscCall(MatHaloCheck(HaloAdd(&h->rest.rows, csr.A.j, csr.A.a, 1, h->from.buffer, az, PetscDefaultCudaStream)));
    PetscCall(PetscLogGpuTimeEnd());
    PetscCall(VecCUDARestoreArray(z, &az));
    PetscCall(PetscLogGpuFlops(2.0 * h->rest.nz));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes B^T x, the sums for other processes, in the order in which the entries of these would come */
PetscErrorCode MatHaloMultTranspose(MatHalo *h, Mat B, Vec x)
{
  const PetscScalar *ax;
  MatShadowCSR       csr = {0};

  PetscFunctionBegin;
  if (!h->n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatHaloBlockSetUp(&h->rest, B));
  if (h->rest.whole) PetscUseTypeMethod(B, multtranspose, x, h->x);
  else {
    PetscCall(MatHaloColumnsSetUp(&h->rest, B, h->n));
    if (h->rest.nz) PetscCall(MatAIJDeviceGetCSR(B, &csr.A, &csr.stream));
    PetscCall(VecCUDAGetArrayRead(x, &ax));
    PetscCall(PetscLogGpuTimeBegin());
    PetscCall(MatHaloCheck(HaloMultTranspose(&h->rest.columns, csr.A.a, ax, h->from.buffer, PetscDefaultCudaStream)));
    PetscCall(PetscLogGpuTimeEnd());
    PetscCall(VecCUDARestoreArrayRead(x, &ax));
    PetscCall(PetscLogGpuFlops(2.0 * h->rest.nz));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lists the entries of z, of n, that get sums from other processes, each once, with the places of its sums: several processes may add to one entry */
PetscErrorCode MatHaloSumsSetUp(MatHalo *h, PetscInt n)
{
  const PetscInt count = h->to.offset[h->to.n];
  PetscInt      *entries, *next, *list, *rows, *start, *place, listed = 0, k = 0, before = 0;

  PetscFunctionBegin;
  if (h->sums_memory || !count) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(count, &entries));
  PetscCallCUDA(cudaMemcpy(entries, h->entries, count * sizeof(*entries), cudaMemcpyDeviceToHost));
  PetscCall(PetscCalloc1(n, &next));
  for (PetscInt e = 0; e < count; e++) listed += !next[entries[e]]++;
  PetscCall(PetscMalloc1(2 * (size_t)listed + 1 + count, &list));
  rows  = list;
  start = rows + listed;
  place = start + listed + 1;
  for (PetscInt c = 0; c < n; c++) {
    const PetscInt length = next[c];

    if (!length) continue;
    rows[k]    = c;
    start[k++] = before;
    next[c]    = before;
    before += length;
  }
  start[k] = before;
  for (PetscInt e = 0; e < count; e++) place[next[entries[e]]++] = e;
  PetscCall(MatHaloUpload(2 * (size_t)listed + 1 + count, list, &h->sums_memory));
  PetscCall(PetscFree(list));
  PetscCall(PetscFree(next));
  PetscCall(PetscFree(entries));
  h->sums.n     = listed;
  h->sums.rows  = h->sums_memory;
  h->sums.start = h->sums.rows + listed;
  h->sums.place = h->sums.start + listed + 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds the sums received in a transposed product to z, in the same order every time */
PetscErrorCode MatHaloAddSums(MatHalo *h, Vec z)
{
  const PetscInt n = h->to.offset[h->to.n];
  PetscScalar   *az;
  PetscInt       length;

  PetscFunctionBegin;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetLocalSize(z, &length));
  PetscCall(MatHaloSumsSetUp(h, length));
  PetscCall(VecCUDAGetArray(z, &az));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(MatHaloCheck(HaloAddSums(&h->sums, h->to.buffer, az, PetscDefaultCudaStream)));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(VecCUDARestoreArray(z, &az));
  PetscCall(PetscLogGpuFlops(n));
  PetscFunctionReturn(PETSC_SUCCESS);
}
