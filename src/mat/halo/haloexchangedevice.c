/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The exchange of a halo by one of its paths
*/
#include "mat/halo/halo.h"

/* Goes back to no path: frees requests and pinned memory. A room stays until the halo ends. */
PetscErrorCode MatHaloResetPath(MatHalo *h)
{
  MatHaloSide *const side[] = {&h->from, &h->to};

  PetscFunctionBegin;
  for (int back = 0; back < 2; back++) {
    for (PetscMPIInt k = 0; h->request[back] && k < h->from.n + h->to.n; k++) PetscCallMPI(MPI_Request_free(&h->request[back][k]));
    PetscCall(PetscFree(h->request[back]));
  }
  for (int k = 0; k < 2; k++) {
    if (!side[k]->pinned) continue;
    PetscCallCUDA(cudaStreamSynchronize(h->stream));
    PetscCallCUDA(cudaFreeHost(side[k]->pinned));
    side[k]->pinned = NULL;
  }
  h->path = MAT_SHADOW_HALO_AUTO;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the path. The caller has checked that it is possible, for which MAT_SHADOW_HALO_PEER gets a room. */
PetscErrorCode MatHaloUse(MatHalo *h, MatShadowHalo path)
{
  const PetscBool    staged = (PetscBool)(path == MAT_SHADOW_HALO_STAGED);
  MatHaloSide *const side[] = {&h->from, &h->to};

  PetscFunctionBegin;
  if (h->path == path) PetscFunctionReturn(PETSC_SUCCESS);
  PetscAssert(path != MAT_SHADOW_HALO_PEER || h->arena, h->comm, PETSC_ERR_PLIB, "The halo has no room");
  PetscCall(MatHaloResetPath(h));
  h->path = path;
  if (MatHaloInStream(h)) PetscFunctionReturn(PETSC_SUCCESS);
  for (int k = 0; k < 2; k++) {
    const PetscMPIInt n = side[k]->offset[side[k]->n];

    if (staged && n) PetscCallCUDA(cudaMallocHost((void **)&side[k]->pinned, n * sizeof(PetscScalar)));
  }
  for (int back = 0; back < 2; back++) {
    const MatHaloSide *in = side[back], *out = side[1 - back];
    PetscMPIInt        tag;
    MPI_Request       *r;

    PetscCall(PetscCommGetNewTag(h->comm, &tag));
    PetscCall(PetscMalloc1(in->n + out->n, &r));
    h->request[back] = r;
    for (PetscMPIInt k = 0; k < in->n; k++) PetscCallMPI(MPI_Recv_init((staged ? in->pinned : in->buffer) + in->offset[k], in->offset[k + 1] - in->offset[k], MPIU_SCALAR, in->rank[k], tag, h->comm, r++));
    for (PetscMPIInt k = 0; k < out->n; k++) PetscCallMPI(MPI_Send_init((staged ? out->pinned : out->buffer) + out->offset[k], out->offset[k + 1] - out->offset[k], MPIU_SCALAR, out->rank[k], tag, h->comm, r++));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Packs and sends entries of x, which the work in the stream makes; on the way back, sends the sums that are in the buffer already */
PetscErrorCode MatHaloExchangeBegin(MatHalo *h, PetscBool back, const PetscScalar *x, cudaStream_t stream)
{
  const MatHaloSide *out = back ? &h->from : &h->to;
  const PetscMPIInt  n   = out->offset[out->n];

  PetscFunctionBegin;
  if (!h->from.n && !h->to.n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCUDA(cudaEventRecord(h->before, stream)); /* after this event the data to send is ready, and the entries received the last time have been used */
  PetscCallCUDA(cudaStreamWaitEvent(h->stream, h->before, 0));
  if (h->path == MAT_SHADOW_HALO_PEER) PetscCall(MatHaloCheck(HaloExchange(h->route + back, back ? NULL : h->entries, back ? out->buffer : x, (back ? &h->to : &h->from)->buffer, h->stream)));
  else if (!back) PetscCall(MatHaloCheck(HaloPack(n, h->entries, x, out->buffer, h->stream)));
  if (h->path == MAT_SHADOW_HALO_NCCL) PetscCall(MatHaloSendNCCL(h, back));
  else if (h->path == MAT_SHADOW_HALO_STAGED && n) PetscCallCUDA(cudaMemcpyAsync(out->pinned, out->buffer, n * sizeof(PetscScalar), cudaMemcpyDeviceToHost, h->stream));
  PetscCallCUDA(cudaEventRecord(h->after, h->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MPI knows nothing of streams: the host waits until the data to send is ready, then for the messages */
PetscErrorCode MatHaloExchangeWait(MatHalo *h, PetscBool back)
{
  const MatHaloSide *in = back ? &h->to : &h->from;
  const PetscMPIInt  n  = in->offset[in->n];

  PetscFunctionBegin;
  if (MatHaloInStream(h) || (!h->from.n && !h->to.n)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCUDA(cudaEventSynchronize(h->after));
  h->syncs++;
  PetscCallMPI(MPI_Startall(h->from.n + h->to.n, h->request[back]));
  PetscCallMPI(MPI_Waitall(h->from.n + h->to.n, h->request[back], MPI_STATUSES_IGNORE));
  if (h->path == MAT_SHADOW_HALO_STAGED && n) {
    PetscCallCUDA(cudaMemcpyAsync(in->buffer, in->pinned, n * sizeof(PetscScalar), cudaMemcpyHostToDevice, h->stream));
    PetscCallCUDA(cudaEventRecord(h->after, h->stream));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Work queued in the stream after this call waits for the received entries */
PetscErrorCode MatHaloExchangeEnd(MatHalo *h, cudaStream_t stream)
{
  PetscFunctionBegin;
  if (h->from.n || h->to.n) PetscCallCUDA(cudaStreamWaitEvent(stream, h->after, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}
