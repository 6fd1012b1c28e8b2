/* SPDX-License-Identifier: BSD-2-Clause */
/*
   MatSDDMM() through spmmcuda.h.

   The sparse matrices are read and written in AIJCUSPARSE's arrays. D1 is read by columns; D2 is packed into panels, whose rows the processes
   exchange. A dense matrix on the host crosses the bus panel by panel.
*/
#include "mat/impls/spmm/glue/spmmdevice.h"

/* Creates the long rows of S's blocks, and space for O's values */
static PetscErrorCode SddmmOnDeviceCreate(const Mat s[2], const Mat o[2], SpmmOnDevice **device, PetscBool *done)
{
  PetscFunctionBegin;
  PetscCall(PetscNew(device));
  for (int k = 0; k < 2 && s[k]; k++) {
    SysCSR csr, result, pattern;

    PetscCall(MatAIJDeviceGetArrays(s[k], &csr));
    PetscCall(MatAIJDeviceGetArrays(o[k], &result));
    PetscCall(MatAIJGetPattern(s[k], &pattern));
    if (csr.nz) PetscCall(SpmmOnDeviceCheck(SddmmDeviceCreate(&csr, pattern.i, &(*device)->block[k], PetscDefaultCudaStream), done));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SddmmOnDeviceMake(Mat S, Mat D1, Mat D2, Mat O, SpmmOnDevice **device, PetscBool *done)
{
  Mat             s[2], o[2];
  const PetscInt *garray;
  SpmmOnDevice   *d;
  SpmmArray       dense[2];
  int             width, ncol;

  PetscFunctionBegin;
  PetscCall(MatAIJGetBlocks(S, s, &garray));
  PetscCall(MatAIJGetBlocks(O, o, &garray));
  for (int k = 0; k < 2 && s[k]; k++) {
    if (!MatAIJValuesOnDevice(s[k]) || !MatAIJValuesOnDevice(o[k])) PetscFunctionReturn(PETSC_SUCCESS);
  }
  *done = PETSC_TRUE;
  if (!*device) PetscCall(SddmmOnDeviceCreate(s, o, device, done));
  d    = *device;
  ncol = SpmmDevicePanelColumns(D1->cmap->N, &width);
  PetscCall(SpmmArrayGetLayout(D1, &dense[0]));
  PetscCall(SpmmArrayGetLayout(D2, &dense[1]));
  PetscCall(SpmmOnDeviceReserve((size_t)D2->rmap->n * (size_t)width, &d->panel, done));
  if (s[1]) PetscCall(SpmmOnDeviceReserve((size_t)s[1]->cmap->n * (size_t)width, &d->ghost, done));
  if (!dense[0].device) PetscCall(SpmmOnDeviceReserve((size_t)D1->rmap->n * (size_t)ncol, &d->staged[0], done));
  if (!dense[1].device) PetscCall(SpmmOnDeviceReserve((size_t)D2->rmap->n * (size_t)ncol, &d->staged[1], done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes with one panel: columns col to col + ncol - 1 of K */
static PetscErrorCode SddmmOnDevicePanel(const SpmmArray dense[2], PetscInt m, PetscInt n, PetscInt col, int ncol, PetscInt K, int width, PetscBool scale, const SysCSR csr[2], PetscScalar *const values[2], PetscSF sf, SpmmOnDevice *d)
{
  const SysStream stream     = PetscDefaultCudaStream;
  const SysReal  *columns[2] = {(const SysReal *)dense[0].a + (int64_t)col * dense[0].ld, (const SysReal *)dense[1].a + (int64_t)col * dense[1].ld};
  PetscBool       done       = PETSC_TRUE;
  MPI_Datatype    row;

  PetscFunctionBegin;
  if (!dense[0].device) PetscCall(SpmmArrayStage(&dense[0], m, ncol, &columns[0], &d->staged[0]));
  if (!dense[1].device) PetscCall(SpmmArrayStage(&dense[1], n, ncol, &columns[1], &d->staged[1]));
  PetscCall(SpmmOnDeviceCheck(SpmmDevicePack(n, ncol, width, columns[1], dense[1].device ? dense[1].ld : n, d->panel.a, stream), &done));
  if (sf) {
    PetscCallMPI(MPI_Type_contiguous(width, MPIU_REAL, &row));
    PetscCallMPI(MPI_Type_commit(&row));
    PetscCall(PetscSFBcastBegin(sf, row, d->panel.a, d->ghost.a, MPI_REPLACE));
  }
  for (int k = 0; k < 2; k++) {
    if (k && sf) {
      PetscCall(PetscSFBcastEnd(sf, row, d->panel.a, d->ghost.a, MPI_REPLACE));
      PetscCallMPI(MPI_Type_free(&row));
    }
    if (d->block[k]) PetscCall(SpmmOnDeviceCheck(SddmmDevice(d->block[k], &csr[k], ncol, width, columns[0], dense[0].device ? dense[0].ld : m, k ? d->ghost.a : d->panel.a, col > 0, scale && col + ncol == K, (SysReal *)values[k], stream), &done));
  }
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_MEM, "Not enough memory on the GPU for MatSDDMM(): %s", SysDeviceErrorText());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SddmmOnDeviceMult(Mat S, Mat D1, Mat D2, PetscBool scale, Mat O, PetscSF sf, SpmmOnDevice *d)
{
  const PetscInt  K = D1->cmap->N;
  const PetscInt *garray;
  Mat             s[2], o[2];
  SysCSR          csr[2]    = {{0}};
  PetscScalar    *values[2] = {NULL, NULL};
  SpmmArray       dense[2];
  int             width, ncol;

  PetscFunctionBegin;
  PetscCall(MatAIJGetBlocks(S, s, &garray));
  PetscCall(MatAIJGetBlocks(O, o, &garray));
  PetscCall(SpmmArrayGetLayout(D1, &dense[0]));
  PetscCall(SpmmArrayGetLayout(D2, &dense[1]));
  PetscCall(SpmmArrayGetRead(D1, &dense[0]));
  if (D2 == D1) dense[1] = dense[0];
  else PetscCall(SpmmArrayGetRead(D2, &dense[1]));
  for (int k = 0; k < 2 && s[k]; k++) {
    PetscCall(MatAIJDeviceGetArrays(s[k], &csr[k]));
    if (csr[k].nz) PetscCall(MatSeqAIJCUSPARSEGetArrayWrite(o[k], &values[k]));
    if (csr[k].nz && !K) PetscCallCUDA(cudaMemsetAsync(values[k], 0, (size_t)csr[k].nz * sizeof(*values[k]), PetscDefaultCudaStream));
  }
  PetscCall(PetscLogGpuTimeBegin());
  for (PetscInt col = 0; col < K; col += ncol) {
    ncol = SpmmDevicePanelColumns(K - col, &width);
    PetscCall(SddmmOnDevicePanel(dense, D1->rmap->n, D2->rmap->n, col, ncol, K, width, scale, csr, values, sf, d));
  }
  PetscCall(PetscLogGpuTimeEnd());
  for (int k = 0; k < 2 && s[k]; k++) {
    if (csr[k].nz) PetscCall(MatSeqAIJCUSPARSERestoreArrayWrite(o[k], &values[k]));
  }
  if (D2 != D1) PetscCall(SpmmArrayRestoreRead(D2, &dense[1]));
  PetscCall(SpmmArrayRestoreRead(D1, &dense[0]));
  PetscCall(PetscLogGpuFlops((double)(csr[0].nz + csr[1].nz) * (2.0 * (double)K + (scale ? 1 : 0))));
  PetscFunctionReturn(PETSC_SUCCESS);
}
