/* SPDX-License-Identifier: BSD-2-Clause */
/*
   SpMM through spmmcuda.h.

   A is read from AIJCUSPARSE's arrays. A dense matrix on the host crosses the bus panel by panel and keeps its type, as in PETSc's product.
   Contributions of several processes to a row of A^T B are gathered first and added in rank order; PETSc adds them in order of arrival.
*/
#include "mat/impls/spmm/glue/spmmdevice.h"

PetscErrorCode SpmmOnDeviceCheck(SysStatus status, PetscBool *done)
{
  PetscFunctionBegin;
  PetscCheck(status != SYS_ERROR, PETSC_COMM_SELF, PETSC_ERR_GPU, "A product with a dense matrix on the GPU failed in %s", SysDeviceErrorText());
  *done = (PetscBool)(*done && status == SYS_SUCCESS);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpmmOnDeviceReserve(size_t numbers, SpmmMemory *memory, PetscBool *done)
{
  const size_t bytes = numbers * sizeof(SysReal);

  PetscFunctionBegin;
  if (bytes <= memory->bytes || !*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCUDA(cudaFree(memory->a));
  memory->a     = NULL;
  memory->bytes = 0;
  PetscCall(MatAIJDeviceAllocate(bytes, &memory->a, done));
  if (*done) memory->bytes = bytes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpmmOnDeviceReset(SpmmOnDevice **device)
{
  SpmmOnDevice *d = *device;

  PetscFunctionBegin;
  if (!d) PetscFunctionReturn(PETSC_SUCCESS);
  for (int k = 0; k < 2; k++) {
    SpmmDeviceDestroy(&d->block[k]);
    PetscCallCUDA(cudaFree(d->staged[k].a));
  }
  PetscCallCUDA(cudaFree(d->panel.a));
  PetscCallCUDA(cudaFree(d->ghost.a));
  PetscCallCUDA(cudaFree(d->result.a));
  PetscCallCUDA(cudaFree(d->slots.a));
  PetscCallCUDA(cudaFree(d->first));
  PetscCall(PetscFree(*device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Allocates space for other processes' contributions to the n rows of A^T B */
static PetscErrorCode SpmmOnDeviceSlots(PetscInt n, const PetscInt degree[], int width, SpmmOnDevice *d, PetscBool *done)
{
  PetscInt *first;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n + 1, &first));
  first[0] = 0;
  for (PetscInt r = 0; r < n; r++) first[r + 1] = first[r] + degree[r];
  PetscCall(SpmmOnDeviceReserve((size_t)first[n] * (size_t)width, &d->slots, done));
  if (*done) PetscCall(MatAIJDeviceAllocate((size_t)(n + 1) * sizeof(*first), &d->first, done));
  if (*done) PetscCallCUDA(cudaMemcpy(d->first, first, (size_t)(n + 1) * sizeof(*first), cudaMemcpyHostToDevice));
  PetscCall(PetscFree(first));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates tiles in shared memory if the user sets -mat_spmm_tiles T: for columns with at least T entries in a block of rows */
static PetscErrorCode SpmmOnDeviceTile(Mat A, const SysCSR *csr, const SysCSR *pattern, int width, SpmmDevice *block, PetscBool *done)
{
  PetscInt threshold = 0;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetInt(((PetscObject)A)->options, ((PetscObject)A)->prefix, "-mat_spmm_tiles", &threshold, NULL));
  PetscCheck(threshold >= 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-mat_spmm_tiles %" PetscInt_FMT " is negative; give the least number of entries of a heavy column, or 0 for no tiles", threshold);
  if (threshold) PetscCall(SpmmOnDeviceCheck(SpmmDeviceTile(block, csr, pattern->i, pattern->j, (int)threshold, width, PetscDefaultCudaStream), done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpmmOnDeviceMake(PetscBool transpose, const Mat block[2], const PetscInt degree[], Mat B, Mat C, SpmmProduct *p, PetscBool *done)
{
  SpmmOnDevice *d;
  SysCSR        csr[2] = {{0}}, pattern;
  int           width;

  PetscFunctionBegin;
  PetscCall(PetscNew(&d));
  p->device = d;
  *done     = PETSC_TRUE;
  (void)SpmmDevicePanelColumns(C->cmap->N, &width);
  for (int k = 0; k < 2 && block[k]; k++) {
    PetscCall(MatAIJDeviceGetArrays(block[k], &csr[k]));
    PetscCall(MatAIJGetPattern(block[k], &pattern));
    if (csr[k].nz && *done) PetscCall(SpmmOnDeviceCheck(SpmmDeviceCreate(&csr[k], pattern.i, transpose, width, &d->block[k], PetscDefaultCudaStream), done));
    if (csr[k].nz && *done && !transpose && !block[1]) PetscCall(SpmmOnDeviceTile(block[k], &csr[k], &pattern, width, d->block[k], done));
  }
  PetscCall(SpmmOnDeviceReserve((size_t)B->rmap->n * (size_t)width, &d->panel, done));
  if (block[1]) PetscCall(SpmmOnDeviceReserve((size_t)csr[1].n * (size_t)width, &d->ghost, done));
  if (degree) {
    PetscCall(SpmmOnDeviceReserve((size_t)C->rmap->n * (size_t)width, &d->result, done));
    PetscCall(SpmmOnDeviceSlots(C->rmap->n, degree, width, d, done));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- products ------------------------------------------------- */

PetscErrorCode SpmmArrayGetLayout(Mat D, SpmmArray *array)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)D, &array->device, MATSEQDENSECUDA, MATMPIDENSECUDA, ""));
  if (D->boundtocpu) array->device = PETSC_FALSE;
  PetscCall(MatDenseGetLDA(D, &array->ld));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpmmArrayStage(const SpmmArray *array, PetscInt n, int ncol, const SysReal **columns, const SpmmMemory *staged)
{
  const size_t bytes = (size_t)n * sizeof(**columns);

  PetscFunctionBegin;
  if (n) PetscCallCUDA(cudaMemcpy2DAsync(staged->a, bytes, *columns, (size_t)array->ld * sizeof(**columns), bytes, (size_t)ncol, cudaMemcpyHostToDevice, PetscDefaultCudaStream));
  PetscCall(PetscLogCpuToGpu((PetscLogDouble)bytes * ncol));
  *columns = staged->a;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpmmArrayGetRead(Mat D, SpmmArray *array)
{
  PetscFunctionBegin;
  if (array->device) PetscCall(MatDenseCUDAGetArrayRead(D, (const PetscScalar **)&array->a));
  else PetscCall(MatDenseGetArrayRead(D, (const PetscScalar **)&array->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpmmArrayRestoreRead(Mat D, SpmmArray *array)
{
  PetscFunctionBegin;
  if (array->device) PetscCall(MatDenseCUDARestoreArrayRead(D, (const PetscScalar **)&array->a));
  else PetscCall(MatDenseRestoreArrayRead(D, (const PetscScalar **)&array->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes one panel's columns of A B or A^T B */
static PetscErrorCode SpmmOnDevicePanel(PetscBool transpose, const SpmmProduct *p, const SysCSR csr[2], int64_t m, int ncol, int width, SysReal *c, PetscInt ldc, PetscBool *done)
{
  const SysStream stream = PetscDefaultCudaStream;
  SpmmOnDevice   *d      = p->device;
  SpmmDeviceTerm  term[2];
  int             own = 0, other = 0;
  MPI_Datatype    row;

  PetscFunctionBegin;
  if (d->block[0]) term[own++] = (SpmmDeviceTerm){d->block[0], csr[0], d->panel.a};
  if (d->block[1]) term[own + other++] = (SpmmDeviceTerm){d->block[1], csr[1], transpose ? d->panel.a : d->ghost.a};
  if (p->sf) {
    PetscCallMPI(MPI_Type_contiguous(width, MPIU_REAL, &row));
    PetscCallMPI(MPI_Type_commit(&row));
  }
  if (p->sf && transpose) {
    PetscCall(SpmmOnDeviceCheck(SpmmDeviceMult(csr[1].n, term + own, other, ncol, width, d->ghost.a, 0, stream), done));
    PetscCall(PetscSFGatherBegin(p->sf, row, d->ghost.a, d->slots.a));
    PetscCall(SpmmOnDeviceCheck(SpmmDeviceMult(m, term, own, ncol, width, d->result.a, 0, stream), done));
    PetscCall(PetscSFGatherEnd(p->sf, row, d->ghost.a, d->slots.a));
    PetscCall(SpmmOnDeviceCheck(SpmmDeviceUnpack(m, ncol, width, d->result.a, d->first, d->slots.a, c, ldc, stream), done));
  } else {
    if (p->sf) PetscCall(PetscSFBcastBegin(p->sf, row, d->panel.a, d->ghost.a, MPI_REPLACE));
    if (p->sf) PetscCall(PetscSFBcastEnd(p->sf, row, d->panel.a, d->ghost.a, MPI_REPLACE));
    PetscCall(SpmmOnDeviceCheck(SpmmDeviceMult(m, term, own + other, ncol, width, c, ldc, stream), done));
  }
  if (p->sf) PetscCallMPI(MPI_Type_free(&row));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes all panels; operands on the host cross the bus panel by panel */
static PetscErrorCode SpmmOnDevicePanels(PetscBool transpose, PetscInt n, PetscInt m, PetscInt K, const SpmmArray *b, const SpmmArray *c, const SysCSR csr[2], const SpmmProduct *p, PetscBool *done)
{
  const SysStream stream = PetscDefaultCudaStream;
  SpmmOnDevice   *d      = p->device;
  int             ncol, width;

  PetscFunctionBegin;
  for (PetscInt col = 0; col < K; col += ncol) {
    const SysReal *from = (const SysReal *)b->a + (int64_t)col * b->ld;
    SysReal       *to   = (SysReal *)c->a + (int64_t)col * c->ld, *made;

    ncol = SpmmDevicePanelColumns(K - col, &width);
    if (!b->device) PetscCall(SpmmArrayStage(b, n, ncol, &from, &d->staged[0]));
    made = c->device ? to : d->staged[1].a;
    PetscCall(SpmmOnDeviceCheck(SpmmDevicePack(n, ncol, width, from, b->device ? b->ld : n, d->panel.a, stream), done));
    PetscCall(SpmmOnDevicePanel(transpose, p, csr, m, ncol, width, made, c->device ? c->ld : m, done));
    if (!c->device && m) {
      PetscCallCUDA(cudaMemcpy2DAsync(to, (size_t)c->ld * sizeof(*to), made, (size_t)m * sizeof(*to), (size_t)m * sizeof(*to), (size_t)ncol, cudaMemcpyDeviceToHost, stream));
      PetscCallCUDA(cudaStreamSynchronize(stream));
      PetscCall(PetscLogGpuToCpu((PetscLogDouble)m * ncol * sizeof(*to)));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpmmOnDeviceMult(PetscBool transpose, Mat A, Mat B, Mat C, const SpmmProduct *p)
{
  const PetscInt  n = B->rmap->n, m = C->rmap->n, K = C->cmap->N;
  const PetscInt *garray;
  Mat             block[2];
  SysCSR          csr[2] = {{0}};
  SpmmArray       b, c;
  PetscBool       done = PETSC_TRUE;
  PetscMPIInt     worst;
  int             width, ncol;

  PetscFunctionBegin;
  PetscCall(MatAIJGetBlocks(A, block, &garray));
  for (int k = 0; k < 2 && block[k]; k++) PetscCall(MatAIJDeviceGetArrays(block[k], &csr[k]));
  PetscCall(SpmmArrayGetLayout(B, &b));
  PetscCall(SpmmArrayGetLayout(C, &c));
  ncol = SpmmDevicePanelColumns(K, &width);
  if (!b.device) PetscCall(SpmmOnDeviceReserve((size_t)n * (size_t)ncol, &p->device->staged[0], &done));
  if (!c.device) PetscCall(SpmmOnDeviceReserve((size_t)m * (size_t)ncol, &p->device->staged[1], &done));
  worst = done ? 0 : 1;
  if (p->sf && !(b.device && c.device)) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)C)));
  PetscCheck(!worst, PetscObjectComm((PetscObject)C), PETSC_ERR_MEM, "Not enough memory on the GPU for %d columns of a dense matrix on the host: make the dense matrix a MATDENSECUDA, or use PETSc's algorithm, -matmatmult_via default", ncol);
  PetscCall(SpmmArrayGetRead(B, &b));
  if (c.device) PetscCall(MatDenseCUDAGetArrayWrite(C, &c.a));
  else PetscCall(MatDenseGetArrayWrite(C, &c.a));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(SpmmOnDevicePanels(transpose, n, m, K, &b, &c, csr, p, &done));
  PetscCall(PetscLogGpuTimeEnd());
  if (c.device) PetscCall(MatDenseCUDARestoreArrayWrite(C, &c.a));
  else PetscCall(MatDenseRestoreArrayWrite(C, &c.a));
  PetscCall(SpmmArrayRestoreRead(B, &b));
  PetscCall(PetscObjectStateIncrease((PetscObject)C)); /* an MPI matrix's array belongs to its local block */
  PetscCall(PetscLogGpuFlops(2.0 * (double)(csr[0].nz + csr[1].nz) * (double)K));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_MEM, "Not enough memory on the GPU for a product with a dense matrix: %s", SysDeviceErrorText());
  PetscFunctionReturn(PETSC_SUCCESS);
}
