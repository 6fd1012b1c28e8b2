/* SPDX-License-Identifier: BSD-2-Clause */
/*
   A few numbers from all processes of a host to all, through boxes in the memory of their GPUs, which each maps. NCCL's kernels for it take some 15 us.
*/
#include "mat/halo/halo.h"

static PetscErrorCode MatHaloAll(MPI_Comm comm, PetscMPIInt *ok)
{
  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, ok, 1, MPI_INT, MPI_MIN, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatHaloOneHost(MPI_Comm comm, PetscMPIInt *one)
{
  PetscMPIInt size, here;
  MPI_Comm    host;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCallMPI(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host));
  PetscCallMPI(MPI_Comm_size(host, &here));
  PetscCallMPI(MPI_Comm_free(&host));
  *one = size == here && size > 1 && size <= HALO_PEERS;
  PetscCall(MatHaloAll(comm, one));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* No process may free its box while another has it mapped */
static PetscErrorCode MatHaloPeersFree(MPI_Comm comm, HaloPeers *p)
{
  PetscFunctionBegin;
  (void)cudaDeviceSynchronize();
  for (int k = 0; k < HALO_PEERS; k++) {
    if (k != p->rank && p->box[k]) (void)cudaIpcCloseMemHandle(p->box[k]);
  }
  PetscCallMPI(MPI_Barrier(comm));
  (void)cudaFree(p->box[p->rank]);
  (void)cudaGetLastError();
  PetscCall(PetscMemzero(p, sizeof(*p)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Each process maps the boxes of all others; ok is 0 if it cannot */
static PetscErrorCode MatHaloPeersMap(MPI_Comm comm, HaloPeers *p, PetscMPIInt *ok)
{
  cudaIpcMemHandle_t *all, mine;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(&mine, sizeof(mine)));
  PetscCall(PetscMalloc1(p->nproc, &all));
  *ok = cudaMalloc((void **)&p->box[p->rank], HALO_BOX) == cudaSuccess;
  *ok = *ok && cudaMemset(p->box[p->rank], 0, HALO_BOX) == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess && cudaIpcGetMemHandle(&mine, p->box[p->rank]) == cudaSuccess;
  PetscCallMPI(MPI_Allgather(&mine, sizeof(mine), MPI_BYTE, all, sizeof(mine), MPI_BYTE, comm));
  PetscCall(MatHaloAll(comm, ok));
  for (int k = 0; *ok && k < p->nproc; k++) {
    if (k == p->rank || cudaIpcOpenMemHandle((void **)&p->box[k], all[k], cudaIpcMemLazyEnablePeerAccess) == cudaSuccess) continue;
    p->box[k] = NULL;
    *ok       = 0;
  }
  (void)cudaGetLastError();
  PetscCall(PetscFree(all));
  PetscCall(MatHaloAll(comm, ok));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Numbers go around once with a limit to the wait: there are hosts on which such stores are lost */
static PetscErrorCode MatHaloPeersTry(MPI_Comm comm, const HaloPeers *p, PetscMPIInt *ok)
{
  double *numbers = NULL, host[HALO_PEERS + 1];

  PetscFunctionBegin;
  host[0] = 1.5 + p->rank;
  *ok     = cudaMalloc((void **)&numbers, sizeof(host)) == cudaSuccess && cudaMemcpy(numbers, host, sizeof(double), cudaMemcpyHostToDevice) == cudaSuccess;
  PetscCall(MatHaloAll(comm, ok));
  if (*ok) {
    *ok = HaloGather(p, sizeof(double), numbers, numbers + 1, HALO_TRIAL, PetscDefaultCudaStream) == SYS_SUCCESS;
    *ok = *ok && cudaMemcpy(host, numbers, sizeof(host), cudaMemcpyDeviceToHost) == cudaSuccess;
    for (int k = 0; k < p->nproc; k++) *ok = *ok && host[1 + k] == 1.5 + k;
  }
  (void)cudaFree(numbers);
  (void)cudaGetLastError();
  PetscCall(MatHaloAll(comm, ok));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Called once for a communicator whose processes have a GPU each. Whatever is in the way, NCCL serves. */
PetscErrorCode MatHaloStartPeers(MatHaloComm *c)
{
  PetscBool   wanted = PETSC_TRUE;
  PetscMPIInt ok;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-petscamb_peers", &wanted, NULL));
  PetscCall(MatHaloOneHost(c->comm, &ok));
  if (!ok || !wanted) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_rank(c->comm, &c->peers.rank));
  PetscCallMPI(MPI_Comm_size(c->comm, &c->peers.nproc));
  PetscCall(MatHaloPeersMap(c->comm, &c->peers, &ok));
  if (ok) PetscCall(MatHaloPeersTry(c->comm, &c->peers, &ok));
  if (!ok) PetscCall(MatHaloPeersFree(c->comm, &c->peers));
  PetscCall(PetscInfo(NULL, "Sums of %s\n", ok ? "all processes go through the memory of their GPUs" : "several processes go by NCCL: their GPUs do not reach each other's memory"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatHaloEndPeers(MatHaloComm *c)
{
  PetscFunctionBegin;
  if (c->peers.nproc) PetscCall(MatHaloPeersFree(c->comm, &c->peers));
  PetscFunctionReturn(PETSC_SUCCESS);
}
