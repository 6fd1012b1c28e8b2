/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Products of MPI matrices with vectors on the device. The diagonal block is multiplied while the entries of x from other processes are on their way, in
   a stream of their own; events order the two streams, and nothing waits for the whole device. All other operations use PETSc's own scatter.
*/
#include <petscsf.h>

#include "mat/halo/halo.h"

#define MAT_HALO_LARGE 2000000 /* columns; for a larger matrix few products repay a halo */

/* ------------------------------------------------- making a halo ------------------------------------------------- */

static PetscErrorCode MatHaloSideCreate(PetscMPIInt n, const PetscMPIInt rank[], const PetscInt offset[], MatHaloSide *side)
{
  PetscFunctionBegin;
  side->n = n;
  PetscCall(PetscMalloc2(n, &side->rank, n + 1, &side->offset));
  PetscCall(PetscArraycpy(side->rank, rank, n));
  side->offset[0] = 0;
  for (PetscMPIInt k = 0; k < n; k++) side->offset[k + 1] = offset[k + 1];
  side->open = use_gpu_aware_mpi;
  if (side->offset[n] && side->open) PetscCallCUDA(cudaMalloc((void **)&side->buffer, side->offset[n] * sizeof(*side->buffer)));
  if (side->offset[n] && !side->open) PetscCall(MatHaloCheck(SysPoolAllocate(side->offset[n] * sizeof(*side->buffer), &side->buffer, PetscDefaultCudaStream)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatHaloSideDestroy(MatHaloSide *side)
{
  PetscFunctionBegin;
  PetscCall(PetscFree2(side->rank, side->offset));
  if (side->open) PetscCallCUDA(cudaFree(side->buffer));
  else MatAIJPoolRelease(side->buffer);
  PetscCallCUDA(cudaFreeHost(side->pinned));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatHaloDestroy(void **halo)
{
  MatHalo *h = (MatHalo *)*halo;

  PetscFunctionBegin;
  if (!h) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCUDA(cudaStreamSynchronize(h->stream));
  PetscCall(MatHaloResetPath(h));
  PetscCall(MatHaloRouteReset(h));
  PetscCall(MatHaloBlockDestroy(&h->rest));
  PetscCall(VecDestroy(&h->x));
  PetscCall(MatHaloSideDestroy(&h->from));
  PetscCall(MatHaloSideDestroy(&h->to));
  MatAIJPoolRelease(h->entries);
  MatAIJPoolRelease(h->sums_memory);
  PetscCallCUDA(cudaEventDestroy(h->before));
  PetscCallCUDA(cudaEventDestroy(h->after));
  PetscCallCUDA(cudaStreamDestroy(h->stream));
  PetscCall(PetscFree(h->garray));
  PetscCall(PetscCommDestroy(&h->comm));
  PetscCall(PetscFree(h));
  *halo = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The columns of the off-diagonal block determine which entries come from which process. The columns ascend: entries of one process lie together in the buffer. */
static PetscErrorCode MatHaloCreate(Mat A, Mat block, const PetscInt garray[], MatHalo **halo)
{
  const PetscMPIInt *rank;
  const PetscInt    *offset, *root;
  PetscMPIInt        n, low, high;
  PetscInt           most[1];
  PetscSF            sf;
  MatHalo           *h;

  PetscFunctionBegin;
  PetscCall(PetscNew(&h));
  *halo = h;
  PetscCall(PetscCommDuplicate(PetscObjectComm((PetscObject)A), &h->comm, NULL));
  PetscCall(PetscObjectGetId((PetscObject)block, &h->block));
  h->n = block->cmap->n;
  PetscCall(PetscMalloc1(h->n, &h->garray));
  PetscCall(PetscArraycpy(h->garray, garray, h->n));
  PetscCallCUDA(cudaDeviceGetStreamPriorityRange(&low, &high));
  PetscCallCUDA(cudaStreamCreateWithPriority(&h->stream, cudaStreamNonBlocking, high));
  PetscCallCUDA(cudaEventCreateWithFlags(&h->before, cudaEventDisableTiming));
  PetscCallCUDA(cudaEventCreateWithFlags(&h->after, cudaEventDisableTiming));
  PetscCall(MatAIJGetScatter(A, &sf));
  PetscCall(PetscSFGetRootRanks(sf, &n, &rank, &offset, &root, NULL));
  for (PetscInt k = 0; k < h->n; k++) PetscAssert(root[k] == k, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Columns of other processes are not in the order of these");
  PetscCall(MatHaloSideCreate(n, rank, offset, &h->from));
  PetscCall(PetscSFGetLeafRanks(sf, &n, &rank, &offset, &root));
  PetscCall(MatHaloSideCreate(n, rank, offset, &h->to));
  if (h->to.offset[n]) {
    PetscCall(MatHaloCheck(SysPoolAllocate(h->to.offset[n] * sizeof(*h->entries), &h->entries, PetscDefaultCudaStream)));
    PetscCallCUDA(cudaMemcpyAsync(h->entries, root, h->to.offset[n] * sizeof(*h->entries), cudaMemcpyHostToDevice, PetscDefaultCudaStream));
  }
  PetscCall(PetscSFDestroy(&sf));
  PetscCall(VecCreateSeqCUDAWithArray(PETSC_COMM_SELF, 1, h->n, h->from.buffer, &h->x));
  most[0] = PetscMax(h->from.offset[h->from.n], h->to.offset[h->to.n]);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, most, 1, MPIU_INT, MPI_MAX, h->comm));
  for (size_t bytes = (size_t)most[0] * sizeof(PetscScalar); bytes && h->size < MAT_HALO_CLASSES - 1; bytes >>= 1) h->size++;
  PetscCall(MatHaloCommGet(h->comm, &h->about));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Called at the end of an assembly: keeps the halo if the columns of other processes are still the same, on all processes */
static PetscErrorCode MatHaloCompare(Mat A, MatShadow *s)
{
  MatHalo        *h = (MatHalo *)s->halo;
  const PetscInt *garray;
  Mat             block;
  PetscBool       same = PETSC_FALSE;
  PetscMPIInt     all;

  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(A, NULL, &block, &garray));
  if (block && block->cmap->n == h->n) PetscCall(PetscArraycmp(garray, h->garray, h->n, &same));
  all = same ? 1 : 0;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, PetscObjectComm((PetscObject)A)));
  if (all) PetscCall(PetscObjectGetId((PetscObject)block, &h->block));
  else PetscCall(MatHaloDestroy(&s->halo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- products ------------------------------------------------- */

/* Sets *serves if petsc-amb exchanges the entries of this product: from the first product on if the GPUs reach each other, the user chose a path, or the user turned measuring off.
   Otherwise PETSc's scatter serves the first products: a halo costs as much as some dozens of small products, and the matrix may be destroyed soon. The result is the same on all
   processes. */
static PetscErrorCode MatHaloSupports(MatShadow *s, PetscBool *serves)
{
  const PetscInt first = s->owner->cmap->N > MAT_HALO_LARGE ? 10 : 60;
  MatHaloComm   *about;

  PetscFunctionBegin;
  *serves = (PetscBool)(s->halo || s->halo_wanted != MAT_SHADOW_HALO_AUTO || !MatShadowMeasures(s));
  if (!*serves && !s->served) {
    PetscCall(MatHaloCommGet(PetscObjectComm((PetscObject)s->owner), &about));
    PetscCall(MatHaloCommReach(about, serves));
  }
  if (!*serves) *serves = (PetscBool)(s->served++ >= first);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the halo of A. Collective: all processes make the halo together, as they make blocks. */
static PetscErrorCode MatHaloGet(Mat A, MatShadow *s, Mat rest, const PetscInt garray[], MatHalo **h)
{
  PetscObjectId id;

  PetscFunctionBegin;
  PetscCall(PetscObjectGetId((PetscObject)rest, &id));
  if (s->halo && ((MatHalo *)s->halo)->block != id) PetscCall(MatHaloDestroy(&s->halo));
  *h = (MatHalo *)s->halo;
  if (!*h) PetscCall(MatHaloCreate(A, rest, garray, h));
  s->halo = *h;
  PetscAssert(rest->cmap->n == (*h)->n, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The columns of other processes are not those of the halo");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatHaloExpect(Mat A, PetscBool transpose)
{
  const PetscInt *garray;
  PetscBool       serves;
  MatShadow      *s;
  MatHalo        *h;
  Mat             rest;

  PetscFunctionBegin;
  PetscCall(MatShadowQuery(A, &s));
  if (!s || s->owner != A || !MatAIJIsCUSPARSE(A)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatHaloSupports(s, &serves));
  if (!serves) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatMPIAIJGetSeqAIJ(A, NULL, &rest, &garray));
  PetscCall(MatHaloGet(A, s, rest, garray, &h));
  if (!h->chosen && !h->products && h->about->own && (h->about->peers.nproc || h->about->nccl)) PetscCall(MatHaloChoose(A, h, s->halo_wanted, transpose, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatHaloGetPeer(Mat A, MatHalo **halo)
{
  MatShadow *s;
  MatHalo   *h;

  PetscFunctionBegin;
  *halo = NULL;
  PetscCall(MatHaloExpect(A, PETSC_FALSE));
  PetscCall(MatShadowQuery(A, &s));
  if (!s || s->owner != A || !MatAIJIsCUSPARSE(A)) PetscFunctionReturn(PETSC_SUCCESS);
  h = (MatHalo *)s->halo;
  if (h && h->chosen && h->path == MAT_SHADOW_HALO_PEER) *halo = h;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A plain product packs and sends entries of x, which the rows of the off-diagonal block need. A transposed one sends the sums of its columns the other way. */
static PetscErrorCode MatHaloProduct(Mat A, MatShadow *s, PetscBool transpose, Vec xx, Vec yy, Vec zz, PetscBool *done)
{
  const Vec          result = zz;
  const PetscInt    *garray;
  const PetscScalar *x = NULL;
  Mat                diagonal, rest;
  MatHalo           *h;

  PetscFunctionBegin;
  PetscCall(MatHaloSupports(s, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatShadowDeviceGetAll(A, transpose, &xx, &yy, &zz));
  PetscCall(MatMPIAIJGetSeqAIJ(A, &diagonal, &rest, &garray));
  PetscCall(MatHaloGet(A, s, rest, garray, &h));
  h->products++;
  if (!transpose) PetscCall(VecCUDAGetArrayRead(xx, &x));
  if (!h->chosen) PetscCall(MatHaloChoose(A, h, s->halo_wanted, transpose, x));
  if (transpose) PetscCall(MatHaloMultTranspose(h, rest, xx));
  PetscCall(MatHaloExchangeBegin(h, transpose, x, PetscDefaultCudaStream));
  if (yy) PetscCall((*(transpose ? diagonal->ops->multtransposeadd : diagonal->ops->multadd))(diagonal, xx, yy, zz));
  else PetscCall((*(transpose ? diagonal->ops->multtranspose : diagonal->ops->mult))(diagonal, xx, zz));
  PetscCall(MatHaloExchangeWait(h, transpose));
  PetscCall(MatHaloExchangeEnd(h, PetscDefaultCudaStream));
  if (transpose) PetscCall(MatHaloAddSums(h, zz));
  else {
    PetscCall(VecCUDARestoreArrayRead(xx, &x));
    PetscCall(MatHaloAdd(h, rest, zz));
  }
  PetscCall(MatShadowDeviceRestoreVector(zz, result));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- the other functions of MatShadowExchange ------------------------------------------------- */

static PetscErrorCode MatHaloGetInfo(Mat A, const MatShadow *s, MatShadowHaloInfo *info)
{
  const MatHalo *h = (const MatHalo *)s->halo;

  PetscFunctionBegin;
  if (!h->path) PetscFunctionReturn(PETSC_SUCCESS);
  info->path      = MatShadowHalos[h->path];
  info->neighbors = PetscMax(h->from.n, h->to.n);
  info->bytes     = (PetscLogDouble)h->n * sizeof(PetscScalar);
  info->products  = h->products;
  info->syncs     = h->syncs;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The user asked for another path */
static PetscErrorCode MatHaloChanged(Mat A, MatShadow *s)
{
  PetscFunctionBegin;
  ((MatHalo *)s->halo)->chosen = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

const MatShadowExchange MatHaloExchange = {.mult = MatHaloProduct, .assembled = MatHaloCompare, .changed = MatHaloChanged, .getinfo = MatHaloGetInfo, .destroy = MatHaloDestroy, .finalize = MatHaloEnd};
