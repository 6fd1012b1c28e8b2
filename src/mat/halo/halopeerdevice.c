/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Memory of the GPUs of one host that all their processes map: boxes for a few numbers of all processes, which NCCL's kernels exchange in some 15 us, and arenas with the
   rooms of halos
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

/* Allocates zeroed memory on each process and maps the memory of all others. If one process fails, ok is 0 on all. */
static PetscErrorCode MatHaloPeersMap(MPI_Comm comm, HaloPeers *p, size_t bytes, PetscMPIInt *ok)
{
  cudaIpcMemHandle_t *all, mine;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &p->rank));
  PetscCallMPI(MPI_Comm_size(comm, &p->nproc));
  PetscCall(PetscMemzero(&mine, sizeof(mine)));
  PetscCall(PetscMalloc1(p->nproc, &all));
  *ok = cudaMalloc((void **)&p->box[p->rank], bytes) == cudaSuccess;
  *ok = *ok && cudaMemset(p->box[p->rank], 0, bytes) == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess && cudaIpcGetMemHandle(&mine, p->box[p->rank]) == cudaSuccess;
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

/* Tried once for a communicator. After any failure NCCL or MPI exchanges. */
PetscErrorCode MatHaloStartPeers(MatHaloComm *c)
{
  PetscBool   wanted = PETSC_TRUE;
  PetscMPIInt ok;

  PetscFunctionBegin;
  if (c->looked_peers) PetscFunctionReturn(PETSC_SUCCESS);
  c->looked_peers = PETSC_TRUE;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-petscamb_peers", &wanted, NULL));
  PetscCall(MatHaloOneHost(c->comm, &ok));
  if (!ok || !wanted) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatHaloPeersMap(c->comm, &c->peers, HALO_BOX, &ok));
  if (ok) PetscCall(MatHaloPeersTry(c->comm, &c->peers, &ok));
  if (!ok) PetscCall(MatHaloPeersFree(c->comm, &c->peers));
  PetscCall(PetscInfo(NULL, "The GPUs of %d processes %s each other's memory\n", c->peers.nproc, ok ? "reach" : "do not reach"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- rooms ------------------------------------------------- */

/* A room has the same offset in an arena on all processes, which create halos in the same order. Processes may destroy matrices in different orders, so an arena is used again
   when it has no room left in use. */
struct _MatHaloArena {
  HaloPeers     memory;
  size_t        size, used;
  PetscInt      rooms; /* that halos have */
  MatHaloArena *next;  /* made before this one */
};
#define MAT_HALO_ARENA ((size_t)32 << 20) /* bytes of an arena, at least */

PetscErrorCode MatHaloEndPeers(MatHaloComm *c)
{
  PetscFunctionBegin;
  while (c->arenas) {
    MatHaloArena *arena = c->arenas;

    c->arenas = arena->next;
    PetscCall(MatHaloPeersFree(c->comm, &arena->memory));
    PetscCall(PetscFree(arena));
  }
  if (c->peers.nproc) PetscCall(MatHaloPeersFree(c->comm, &c->peers));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds an arena with bytes left at the same place on all processes, or makes one. Without memory on one process, *found is NULL on all. */
static PetscErrorCode MatHaloArenaFind(MatHaloComm *c, size_t bytes, MatHaloArena **found)
{
  PetscMPIInt ok = 0;

  PetscFunctionBegin;
  *found = NULL;
  for (MatHaloArena *arena = c->arenas; arena && !*found; arena = arena->next) {
    const PetscInt64 used = arena->rooms ? (PetscInt64)arena->used : 0;
    PetscInt64       most[2];

    most[0] = used;
    most[1] = -used;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, most, 2, MPIU_INT64, MPI_MAX, c->comm));
    if (most[0] != -most[1] || (size_t)used + bytes > arena->size) continue; /* the sizes are the same on all processes */
    arena->used = (size_t)used;
    *found      = arena;
  }
  if (*found) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscNew(found));
  (*found)->size = PetscMax(MAT_HALO_ARENA, bytes);
  PetscCall(MatHaloPeersMap(c->comm, &(*found)->memory, (*found)->size, &ok));
  if (ok) {
    (*found)->next = c->arenas;
    c->arenas      = *found;
  } else {
    PetscCall(MatHaloPeersFree(c->comm, &(*found)->memory));
    PetscCall(PetscFree(*found));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the route from one side of a halo to the other. place[p] is the offset in the room of process p. */
static void MatHaloRouteFill(const MatHaloSide *out, const MatHaloSide *in, const int place[], HaloRoute *r)
{
  r->npeers = out->n;
  for (PetscMPIInt k = 0; k < out->n; k++) {
    r->peer[k]       = out->rank[k];
    r->offset[k + 1] = out->offset[k + 1];
  }
  for (PetscMPIInt k = 0; k < in->n; k++) { /* those that only send get a flag */
    PetscBool listed = PETSC_FALSE;

    for (PetscMPIInt p = 0; p < out->n; p++) listed = (PetscBool)(listed || out->rank[p] == in->rank[k]);
    if (listed) continue;
    r->peer[r->npeers++] = in->rank[k];
    r->offset[r->npeers] = out->offset[out->n];
  }
  for (int p = 0; p < r->npeers; p++) r->place[p] = place[r->peer[p]];
  r->come = in->offset[in->n];
}

/* Creates the room of a halo and sends the neighbours the offsets of their entries in it. ok is the same on all processes. */
PetscErrorCode MatHaloRouteSetUp(MatHalo *h, PetscBool *ok)
{
  MatHaloComm *const c     = h->about;
  const int          nproc = c->peers.nproc;
  const PetscInt     mine  = PetscMax(h->from.offset[h->from.n], h->to.offset[h->to.n]);
  PetscInt           most  = mine;
  int                place[2 * HALO_PEERS], remote[2 * HALO_PEERS], way[2][HALO_PEERS];
  size_t             bytes;
  char              *room;

  PetscFunctionBegin;
  *ok = PETSC_TRUE;
  if (h->arena) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPIU_INT, MPI_MAX, h->comm));
  most  = 32 * ((most + 31) / 32);
  bytes = HALO_ROOM_HEAD + 2 * (size_t)most * sizeof(PetscScalar);
  PetscCall(MatHaloArenaFind(c, bytes, &h->arena));
  *ok = (PetscBool)(h->arena != NULL);
  if (!*ok) PetscFunctionReturn(PETSC_SUCCESS);
  room = (char *)h->arena->memory.box[h->arena->memory.rank] + h->arena->used;
  PetscCallCUDA(cudaMemsetAsync(room, 0, HALO_ROOM_HEAD, PetscDefaultCudaStream));
  PetscCallCUDA(cudaStreamSynchronize(PetscDefaultCudaStream));
  PetscCall(PetscArrayzero(place, 2 * HALO_PEERS));
  for (PetscMPIInt k = 0; k < h->from.n; k++) place[2 * h->from.rank[k]] = h->from.offset[k];
  for (PetscMPIInt k = 0; k < h->to.n; k++) place[2 * h->to.rank[k] + 1] = h->to.offset[k];
  PetscCallMPI(MPI_Alltoall(place, 2, MPI_INT, remote, 2, MPI_INT, h->comm)); /* after it, the heads of all rooms are 0 */
  for (int p = 0; p < nproc; p++) {
    way[0][p] = remote[2 * p];
    way[1][p] = remote[2 * p + 1];
  }
  for (int back = 0; back < 2; back++) {
    HaloRoute *r = h->route + back;

    PetscCall(PetscMemzero(r, sizeof(*r)));
    MatHaloRouteFill(back ? &h->from : &h->to, back ? &h->to : &h->from, way[back], r);
    r->rank   = h->arena->memory.rank;
    r->stride = most;
    for (int p = 0; p < nproc; p++) r->room[p] = (char *)h->arena->memory.box[p] + h->arena->used;
  }
  h->arena->used += 256 * ((bytes + 255) / 256);
  h->arena->rooms++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatHaloRouteReset(MatHalo *h)
{
  PetscFunctionBegin;
  if (h->arena) h->arena->rooms--;
  h->arena = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}
