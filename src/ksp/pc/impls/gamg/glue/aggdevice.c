/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Graph, aggregates and prolongator on the device, for a matrix that is there. AIJCUSPARSE wants the pattern of the prolongator on the host.
*/
#include "sys/sysmemory.h"
#include "sys/systhreads.h"
#include "ksp/pc/impls/gamg/glue/aggdevice.h"

/* ------------------------------------------------- matrix ------------------------------------------------- */

PetscErrorCode AmbAggOnDevice(Mat A, PetscBool *on)
{
  PetscBool mpi;
  Mat       d = A, o;

  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &mpi));
  if (mpi) PetscCall(MatMPIAIJGetSeqAIJ(A, &d, &o, NULL));
  *on = (PetscBool)(MatAIJValuesOnDevice(d) && (!mpi || MatAIJValuesOnDevice(o)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AmbAggDeviceGetMatrix(const AmbAggLevel *level, AggMatrix *M, PetscBool *done)
{
  PetscBool mpi;
  Mat       d = level->A, o;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(M, sizeof(*M)));
  M->bs     = (int)level->bs;
  M->nindex = (int)level->nindex;
  M->index  = level->index;
  M->nghost = level->nghost;
  M->ghost  = level->ghost;
  PetscCall(AmbAggOnDevice(level->A, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)level->A, MATMPIAIJ, &mpi));
  if (mpi) PetscCall(MatMPIAIJGetSeqAIJ(level->A, &d, &o, NULL));
  PetscCall(MatAIJDeviceGetArrays(d, &M->d));
  if (M->d.m && !M->d.nz) *done = PETSC_FALSE;
  if (level->sf) PetscCall(MatAIJDeviceGetArrays(o, &M->o));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- graph and aggregates ------------------------------------------------- */

PetscErrorCode AmbAggDeviceDestroy(AmbAggLevel *level)
{
  PetscFunctionBegin;
  AggDeviceDestroy(&level->device);
  PetscCall(AmbAggHaloDestroy(&level->halo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds the transposed edges */
static PetscErrorCode AmbAggDeviceSymmetrize(AmbAggLevel *level, PetscBool *done)
{
  AggEdge  *come   = NULL;
  PetscInt  ncome  = 0;
  PetscBool fits   = PETSC_TRUE;
  SysStatus status = SYS_SUCCESS;
  int       served = 0;

  PetscFunctionBegin;
  if (level->sf) PetscCall(AmbAggParallelSymmetrize(level, &ncome, &come, &status, &fits));
  if (!status && fits) status = AggDeviceSymmetrize(level->device, level->first, ncome, come, PetscDefaultCudaStream, &served);
  PetscCall(AmbAggDeviceCheck(level, status, "graph", done));
  if (*done) {
    *done = (PetscBool)(served != 0);
    PetscCall(AmbAggDeviceAgree(level, done));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AmbAggDeviceGraph(AmbAggLevel *level, PetscBool *done)
{
  AggMatrix M;
  SysStatus status;
  int       served;

  PetscFunctionBegin;
  PetscCall(AmbAggDeviceGetMatrix(level, &M, done));
  if (M.bs > AGG_DEVICE_BLOCK) *done = PETSC_FALSE;
  PetscCall(AmbAggDeviceAgree(level, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogGpuTimeBegin());
  status = AggDeviceStart(&M, PetscDefaultCudaStream, &level->device, &served);
  PetscCall(AmbAggDeviceCheck(level, status, "graph", done));
  if (*done && level->sf) {
    PetscCall(AmbAggHaloCreate(level));
    if (level->bs == 1 && sizeof(PetscScalar) == sizeof(uint64_t)) PetscCall(MatHaloGetPeer(level->A, &level->halo->peer));
    PetscAssert(!level->halo->peer || level->halo->peer->n == level->nghost, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The ghosts are not the columns of the halo");
  }
  if (*done && level->symmetrize) PetscCall(AmbAggDeviceSymmetrize(level, done));
  if (*done && level->sf) PetscCall((PetscErrorCode)AmbAggHaloFetch(level, sizeof(double), AggDeviceDiagonal(level->device)));
  if (*done) {
    status = AggDeviceFinish(level->device, level->threshold, PetscDefaultCudaStream);
    PetscCall(AmbAggDeviceCheck(level, status, "graph", done));
  }
  PetscCall(PetscLogGpuTimeEnd());
  if (!*done) PetscCall(AmbAggDeviceDestroy(level));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AmbAggDeviceCoarsen(AmbAggLevel *level, const AggOptions *options, int *rounds, PetscBool *done)
{
  AggExchange x = level->exchange;
  SysStatus   status;

  PetscFunctionBegin;
  x.fetch = AmbAggHaloFetch;
  x.addup = AmbAggHaloAddUp;
  PetscCall(PetscLogGpuTimeBegin());
  status = AggDeviceAggregate(level->device, level->first, level->ghosts, options, level->sf ? &x : NULL, PetscDefaultCudaStream, &level->nagg, rounds);
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(AmbAggDeviceCheck(level, status, "aggregates", done));
  if (*done) AggDeviceForgetGraph(level->device);
  else PetscCall(AmbAggDeviceDestroy(level));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AmbAggDeviceFetch(AmbAggLevel *level)
{
  const SysStatus status = AggDeviceGetAggregates(level->device, PetscDefaultCudaStream, level->aggregate, level->join);

  PetscFunctionBegin;
  PetscCheck(status == SYS_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_GPU, "The aggregates of a level of multigrid on the GPU: %s", SysDeviceErrorText());
  PetscCall(PetscLogGpuToCpu((2. * level->n + level->nghost) * sizeof(PetscInt)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- prolongator ------------------------------------------------- */

PetscErrorCode AmbAggDeviceFactor(AmbAggLevel *level, PetscInt nvec, const PetscReal data[], PetscReal **coarse, PetscBool *done)
{
  SysStatus status;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(AMBAGG_Prolongator, level->A, 0, 0, 0));
  PetscCall(PetscMalloc1(level->nagg * nvec * nvec, coarse));
  PetscCall(PetscLogGpuTimeBegin());
  if (level->sf) PetscCall(AmbAggParallelFactor(level, nvec, data, *coarse, done));
  else {
    status = AggDeviceFactor(level->device, (int)level->bs, (int)nvec, data, NULL, PetscDefaultCudaStream, *coarse);
    PetscCall(AmbAggDeviceCheck(level, status, "tentative prolongator", done));
  }
  PetscCall(PetscLogGpuTimeEnd());
  if (data) PetscCall(PetscLogCpuToGpu((PetscLogDouble)(level->n * level->bs * nvec) * sizeof(*data)));
  PetscCall(PetscLogGpuToCpu((PetscLogDouble)(level->nagg * nvec * nvec) * sizeof(*data)));
  if (!*done) PetscCall(PetscFree(*coarse));
  else if (level->halo) level->halo->nvec = nvec;
  PetscCall(PetscLogEventEnd(AMBAGG_Prolongator, level->A, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The matrix of these arrays of the device, without entries. f: the columns of the second part of an MPI matrix; NULL: a sequential matrix. */
static PetscErrorCode AmbAggDeviceMakeMat(const AmbAggLevel *level, PetscInt nvec, const SysCSR csr[], const AmbAggFar *f, Mat *P)
{
  PetscInt *columns;
  Mat       block[2];

  PetscFunctionBegin;
  for (int k = 0; k < (f ? 2 : 1); k++) PetscCall(MatAIJDeferCreate(&csr[k], &block[k]));
  if (!f) *P = block[0];
  else {
    PetscCall(PetscMalloc1(f->nfar * nvec + 1, &columns)); /* not NULL, or PETSc would look for columns in the entries */
    for (PetscInt k = 0; k < f->nfar * nvec; k++) columns[k] = f->far[k / nvec] * nvec + k % nvec;
    PetscCall(PetscAMBCreateMPIAIJWithSeqAIJ(level->comm, level->A->rmap->N, level->all * nvec, block[0], block[1], columns, P));
  }
  PetscCall(MatConvert(*P, MatAIJGetType(level->A), MAT_INPLACE_MATRIX, P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AmbAggDevicePrepare(const AmbAggLevel *level)
{
  AmbAggHalo *h = level->halo;
  SysCSR      csr[2];

  PetscFunctionBegin;
  if (!MAT_AIJ_DEFERS || !h || !h->nvec || h->P) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AmbAggFarCreate(level, PETSC_TRUE, &h->columns));
  for (int k = 0; k < 2; k++) csr[k] = (SysCSR){.m = level->n * level->bs, .n = (k ? h->columns.nfar : level->nagg) * h->nvec};
  PetscCall(AmbAggDeviceMakeMat(level, h->nvec, csr, &h->columns, &h->P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AmbAggDeviceProlongator(AmbAggLevel *level, PetscInt nvec, PetscReal alpha, SysCSR entries[2], Mat *P, PetscBool *done)
{
  AmbAggHalo *h       = level->halo;
  AmbAggFar   columns = {0};
  AggMatrix   M;
  PetscBool   mpi, prepared;
  SysStatus   status = SYS_SUCCESS;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(AMBAGG_Prolongator, level->A, 0, 0, 0));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)level->A, MATMPIAIJ, &mpi));
  prepared = (PetscBool)(h && h->P && alpha != 0);
  PetscCall(AmbAggDeviceGetMatrix(level, &M, done));
  PetscCall(PetscLogGpuTimeBegin());
  *done = PETSC_TRUE;
  if (mpi && !prepared) PetscCall(AmbAggFarCreate(level, (PetscBool)(alpha != 0), &columns));
  if (mpi) PetscCall(AmbAggParallelColumns(level, prepared ? &h->columns : &columns, done));
  if (*done) {
    for (int k = 0; k < (mpi ? 2 : 1) && !status; k++) status = AggDeviceProlong(level->device, (int)level->bs, (int)nvec, alpha != 0 ? &M : NULL, alpha, k, PetscDefaultCudaStream, &entries[k]);
    PetscCall(AmbAggDeviceCheck(level, status, "prolongator", done));
  }
  PetscCall(PetscLogGpuTimeEnd());
  if (*done && prepared) {
    *P   = h->P;
    h->P = NULL;
  } else if (*done) PetscCall(AmbAggDeviceMakeMat(level, nvec, entries, mpi ? &columns : NULL, P));
  PetscCall(AmbAggFarDestroy(&columns));
  PetscCall(PetscLogEventEnd(AMBAGG_Prolongator, level->A, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AmbAggDeviceSetEntries(AmbAggLevel *level, Mat P, SysCSR entries[2])
{
  const PetscBool products = MatShadowIsOurs(P);
  const PetscInt *columns;
  Mat             block[2];

  PetscFunctionBegin;
  PetscCall(MatAIJGetBlocks(P, block, &columns));
  for (int k = 0; k < 2; k++) {
    if (block[k]) PetscCall(MatAIJDefer(block[k], &entries[k], products, PETSC_FALSE));
    if (!entries[k].i) AggDeviceDetach(level->device, k);
  }
  if (block[1] && products) PetscCall(MatAIJDeferMPI(P, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Others than the library may need memory that its pool keeps after a set-up */
PetscErrorCode AmbAggDeviceTrim(Mat A)
{
  PetscBool on;

  PetscFunctionBegin;
  PetscCall(AmbAggOnDevice(A, &on));
  if (on) SysPoolTrimIfShort();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- estimate of eigenvalues ------------------------------------------------- */

PetscErrorCode AmbAggDeviceNoise(Vec x)
{
  PetscInt     n, first;
  PetscScalar *a;
  SysStatus    status;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetOwnershipRange(x, &first, NULL));
  PetscCall(VecCUDAGetArrayWrite(x, &a));
  status = AggDeviceNoise(n, first, a, PetscDefaultCudaStream);
  PetscCall(VecCUDARestoreArrayWrite(x, &a));
  PetscCheck(status == SYS_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_GPU, "Random numbers on the GPU: %s", SysDeviceErrorText());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AmbAggDeviceZeros(Mat A, PetscBool *zeros)
{
  SysCSR    csr;
  SysStatus status;
  PetscBool mpi;
  Mat       d = A;
  int       found;

  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &mpi));
  if (mpi) PetscCall(MatMPIAIJGetSeqAIJ(A, &d, NULL, NULL));
  PetscCall(MatAIJDeviceGetArrays(d, &csr));
  found = csr.m > 0;
  if (csr.nz) {
    status = AggDeviceZeros(&csr, PetscDefaultCudaStream, &found);
    PetscCheck(status != SYS_ERROR, PETSC_COMM_SELF, PETSC_ERR_GPU, "The diagonal of a matrix on the GPU: %s", SysDeviceErrorText());
    if (status) found = 1;
  }
  if (mpi) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &found, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)A)));
  *zeros = (PetscBool)(found != 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}
