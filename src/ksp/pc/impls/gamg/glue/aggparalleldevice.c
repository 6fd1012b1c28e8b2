/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Levels of several processes on their devices. In order: all processes agree whether a step succeeded; the exchange of ghost entries, between GPUs that
   reach each other's memory or through pinned memory; and the steps of a set-up that need other processes: transposed edges, the tentative prolongator, and the columns of the prolongator.

   A vertex leaves if its aggregate belongs to another process, its owner, where the vertex is a guest: the owner factors all rows of an aggregate.
*/
#include <stdlib.h>

#include "sys/sysnumbers.h"
#include "mat/aij/aijexchange.h"
#include "ksp/pc/impls/gamg/glue/aggdevice.h"

/* ------------------------------------------------- agreement ------------------------------------------------- */

/* On input *done says whether this process did its part; on output, whether all did */
PetscErrorCode AmbAggDeviceAgree(const AmbAggLevel *level, PetscBool *done)
{
  int all = *done;

  PetscFunctionBegin;
  if (level->size > 1) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, level->comm));
  *done = (PetscBool)all;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Raises errors; sets *done to PETSC_FALSE on all processes if one lacks memory on its device */
PetscErrorCode AmbAggDeviceCheck(const AmbAggLevel *level, SysStatus status, const char what[], PetscBool *done)
{
  PetscFunctionBegin;
  PetscCheck(status != SYS_ERROR, PETSC_COMM_SELF, PETSC_ERR_GPU, "The %s of a level of multigrid on the GPU: %s", what, SysDeviceErrorText());
  PetscCheck(status != SYS_TOO_LARGE, PETSC_COMM_SELF, PETSC_ERR_SUP, "The %s of a level of multigrid has more than %d entries; use more processes", what, INT_MAX);
  *done = (PetscBool)(status == SYS_SUCCESS);
  PetscCall(AmbAggDeviceAgree(level, done));
  if (!*done) PetscCall(PetscInfo(level->A, "Not enough memory on the GPU for the %s, made on the host\n", what));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- exchange ------------------------------------------------- */

static PetscErrorCode AmbAggHaloStatus(SysStatus status)
{
  PetscFunctionBegin;
  PetscCheck(status == SYS_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_GPU, "The exchange of a level of multigrid between GPUs: %s", SysDeviceErrorText());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AmbAggHaloDestroy(AmbAggHalo **halo)
{
  AmbAggHalo *h = *halo;

  PetscFunctionBegin;
  if (!h) PetscFunctionReturn(PETSC_SUCCESS);
  MatAIJPoolRelease(h->tolist);
  PetscCall(PetscFree(h->requests));
  PetscCall(PetscFree(h->ghosts));
  PetscCall(AmbAggFarDestroy(&h->columns));
  PetscCall(MatDestroy(&h->P));
  free(h->leaving);
  PetscCall(PetscCommDestroy(&h->comm));
  PetscCall(PetscFree(*halo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Points out and in to pinned memory for entries of `bytes` bytes */
static PetscErrorCode AmbAggHaloSetBuffers(AmbAggHalo *h, size_t bytes)
{
  const size_t nto = (size_t)h->tostart[h->nto], nfrom = (size_t)h->fromstart[h->nfrom];

  PetscFunctionBegin;
  PetscCall(MatAIJPinnedMemory((nto + nfrom + 1) * bytes, &h->out));
  h->in = h->out + nto * bytes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AmbAggHaloCreate(AmbAggLevel *level)
{
  AmbAggHalo     *h;
  const PetscInt *tolist, *fromlist;
  size_t          nout, nin; /* entries to and from other processes */

  PetscFunctionBegin;
  PetscCall(PetscNew(&h));
  level->halo = h;
  PetscCall(PetscCommDuplicate(level->comm, &h->comm, &h->tag));
  PetscCall(PetscSFSetUp(level->sf));
  PetscCall(PetscSFGetLeafRanks(level->sf, &h->nto, &h->to, &h->tostart, &tolist));
  PetscCall(PetscSFGetRootRanks(level->sf, &h->nfrom, &h->from, &h->fromstart, &fromlist, NULL));
  nout = (size_t)h->tostart[h->nto];
  nin  = (size_t)h->fromstart[h->nfrom];
  PetscCall(PetscMalloc1(h->nto + h->nfrom, &h->requests));
  PetscCall(PetscMalloc1(level->nghost, &h->ghosts));
  PetscCall(AmbAggHaloStatus(SysPoolAllocate((nout + nin + 1) * sizeof(*h->tolist), &h->tolist, PetscDefaultCudaStream)));
  h->fromlist = h->tolist + nout;
  PetscCallCUDA(cudaMemcpyAsync(h->tolist, tolist, nout * sizeof(*tolist), cudaMemcpyHostToDevice, PetscDefaultCudaStream));
  PetscCallCUDA(cudaMemcpyAsync(h->fromlist, fromlist, nin * sizeof(*fromlist), cudaMemcpyHostToDevice, PetscDefaultCudaStream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Waits until the device has packed out[], sends it, and receives in[]; back: sends in[] to the owners of the ghosts, and receives out[]. Entries have size bytes. */
static PetscErrorCode AmbAggHaloSwap(AmbAggHalo *h, PetscBool back, size_t size)
{
  const PetscMPIInt *to = back ? h->from : h->to, *from = back ? h->to : h->from, nto = back ? h->nfrom : h->nto, nfrom = back ? h->nto : h->nfrom;
  const PetscInt    *tostart = back ? h->fromstart : h->tostart, *fromstart = back ? h->tostart : h->fromstart;
  char              *out = back ? h->in : h->out, *in = back ? h->out : h->in;

  PetscFunctionBegin;
  PetscCallCUDA(cudaStreamSynchronize(PetscDefaultCudaStream));
  for (PetscMPIInt k = 0; k < nfrom; k++) PetscCallMPI(MPI_Irecv(in + (size_t)fromstart[k] * size, (PetscMPIInt)((size_t)(fromstart[k + 1] - fromstart[k]) * size), MPI_BYTE, from[k], h->tag, h->comm, &h->requests[k]));
  for (PetscMPIInt k = 0; k < nto; k++) PetscCallMPI(MPI_Isend(out + (size_t)tostart[k] * size, (PetscMPIInt)((size_t)(tostart[k + 1] - tostart[k]) * size), MPI_BYTE, to[k], h->tag, h->comm, &h->requests[nfrom + k]));
  PetscCallMPI(MPI_Waitall(nfrom + nto, h->requests, MPI_STATUSES_IGNORE));
  PetscCall(PetscLogGpuToCpu((PetscLogDouble)(tostart[nto] * (PetscInt)size)));
  PetscCall(PetscLogCpuToGpu((PetscLogDouble)(fromstart[nfrom] * (PetscInt)size)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same between GPUs that reach each other's memory, in words of 8 bytes */
static PetscErrorCode AmbAggPeerFetch(const AmbAggLevel *level, size_t size, void *array)
{
  const MatHalo *h      = level->halo->peer;
  const PetscInt nto    = h->to.offset[h->to.n];
  char          *ghosts = (char *)array + (size_t)level->n * size;

  PetscFunctionBegin;
  if (size == sizeof(PetscScalar)) {
    PetscCall(AmbAggHaloStatus(HaloExchange(&h->route[0], h->entries, (const PetscScalar *)array, (PetscScalar *)ghosts, PetscDefaultCudaStream)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(AmbAggHaloStatus(AggDevicePackWords(nto, h->entries, size, array, (uint64_t *)h->to.buffer, PetscDefaultCudaStream)));
  PetscCall(AmbAggHaloStatus(HaloExchange(&h->route[0], NULL, h->to.buffer, h->from.buffer, PetscDefaultCudaStream)));
  PetscCall(AmbAggHaloStatus(AggDeviceUnpackWords(level->nghost, size, (const uint64_t *)h->from.buffer, ghosts, PetscDefaultCudaStream)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AmbAggPeerAddUp(const AmbAggLevel *level, SysInt array[])
{
  const MatHalo *h   = level->halo->peer;
  const PetscInt nto = h->to.offset[h->to.n];

  PetscFunctionBegin;
  PetscCall(AmbAggHaloStatus(AggDevicePackWords(level->nghost, NULL, sizeof(*array), array + level->n, (uint64_t *)h->from.buffer, PetscDefaultCudaStream)));
  PetscCall(AmbAggHaloStatus(HaloExchange(&h->route[1], NULL, h->from.buffer, h->to.buffer, PetscDefaultCudaStream)));
  PetscCall(AmbAggHaloStatus(AggDeviceAddUpWords(nto, h->entries, (const uint64_t *)h->to.buffer, array, PetscDefaultCudaStream)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the ghost entries of array[], on the device, from their owners */
int AmbAggHaloFetch(void *ctx, size_t size, void *array)
{
  const AmbAggLevel *level = ctx;
  AmbAggHalo        *h     = level->halo;

  PetscFunctionBegin;
  if (h->peer && size <= sizeof(PetscScalar)) {
    PetscCall(AmbAggPeerFetch(level, size, array));
    PetscFunctionReturn((int)PETSC_SUCCESS);
  }
  PetscCall(AmbAggHaloSetBuffers(h, size));
  PetscCall(AmbAggHaloStatus(AggDevicePack(h->tostart[h->nto], h->tolist, size, array, h->out, PetscDefaultCudaStream)));
  PetscCall(AmbAggHaloSwap(h, PETSC_FALSE, size));
  PetscCall(AmbAggHaloStatus(AggDeviceUnpack(h->fromstart[h->nfrom], h->fromlist, size, h->in, (char *)array + (size_t)level->n * size, PetscDefaultCudaStream)));
  PetscFunctionReturn((int)PETSC_SUCCESS);
}

/* Adds the ghost entries of array[], on the device, to their owners' entries, then sets the ghost entries to the sums */
int AmbAggHaloAddUp(void *ctx, SysInt array[])
{
  const AmbAggLevel *level = ctx;
  AmbAggHalo        *h     = level->halo;

  PetscFunctionBegin;
  if (h->peer) PetscCall(AmbAggPeerAddUp(level, array));
  else {
    PetscCall(AmbAggHaloSetBuffers(h, sizeof(*array)));
    PetscCall(AmbAggHaloStatus(AggDevicePack(h->fromstart[h->nfrom], h->fromlist, sizeof(*array), array + level->n, h->in, PetscDefaultCudaStream)));
    PetscCall(AmbAggHaloSwap(h, PETSC_TRUE, sizeof(*array)));
    PetscCall(AmbAggHaloStatus(AggDeviceAddUp(h->tostart[h->nto], h->tolist, (SysInt *)h->out, array, PetscDefaultCudaStream)));
  }
  PetscCall((PetscErrorCode)AmbAggHaloFetch(ctx, sizeof(*array), array));
  PetscFunctionReturn((int)PETSC_SUCCESS);
}

/* ------------------------------------------------- graph ------------------------------------------------- */

/* Exchanges the transposed edges between processes. *come gets the ncome received edges, in global numbers and in pinned memory, valid until the next exchange. *fits becomes PETSC_FALSE
   if this process receives more edges than it sends: the pattern is not symmetric. */
PetscErrorCode AmbAggParallelSymmetrize(AmbAggLevel *level, PetscInt *ncome, AggEdge **come, SysStatus *status, PetscBool *fits)
{
  AmbAggHalo     *h = level->halo;
  const PetscInt *fromlist;
  PetscInt       *begin, *order;
  AggEdge        *edges, *lost;
  MPI_Datatype    edge; /* bytes of many edges are more than an int counts */
  MPI_Status      message;
  PetscMPIInt     n;

  PetscFunctionBegin;
  *fits  = PETSC_TRUE;
  *ncome = 0;
  PetscCall(PetscSFGetRootRanks(level->sf, NULL, NULL, NULL, &fromlist, NULL));
  PetscCall(PetscMalloc2(h->nfrom + 1, &begin, h->nfrom, &order));
  for (PetscMPIInt k = 0; k < h->nfrom; k++) {
    begin[k] = fromlist[h->fromstart[k]]; /* ghosts of one owner follow one another */
    order[k] = k;
  }
  PetscCall(PetscSortIntWithArray(h->nfrom, begin, order));
  *status = AggDeviceSortCut(level->device, level->first, level->ghosts, h->nfrom, begin, PetscDefaultCudaStream);
  if (*status) PetscCall(PetscArrayzero(begin, h->nfrom + 1));
  PetscCall(MatAIJPinnedMemory(2 * (size_t)begin[h->nfrom] * sizeof(*edges), &edges));
  *come = edges + begin[h->nfrom];
  if (!*status) *status = AggDeviceGetCut(level->device, begin[h->nfrom], edges, PetscDefaultCudaStream);
  PetscCallMPI(MPI_Type_contiguous(sizeof(*edges), MPI_BYTE, &edge));
  PetscCallMPI(MPI_Type_commit(&edge));
  for (PetscMPIInt k = 0; k < h->nfrom; k++) {
    PetscCall(PetscMPIIntCast(begin[k + 1] - begin[k], &n));
    PetscCallMPI(MPI_Isend(edges + begin[k], n, edge, h->from[order[k]], h->tag, h->comm, &h->requests[k]));
  }
  for (PetscMPIInt k = 0; k < h->nto; k++) {
    PetscCallMPI(MPI_Probe(h->to[k], h->tag, h->comm, &message));
    PetscCallMPI(MPI_Get_count(&message, edge, &n));
    if (*ncome + n <= begin[h->nfrom]) {
      PetscCallMPI(MPI_Recv(*come + *ncome, n, edge, h->to[k], h->tag, h->comm, MPI_STATUS_IGNORE));
      *ncome += n;
      continue;
    }
    *fits = PETSC_FALSE;
    PetscCall(PetscMalloc1(n, &lost));
    PetscCallMPI(MPI_Recv(lost, n, edge, h->to[k], h->tag, h->comm, MPI_STATUS_IGNORE));
    PetscCall(PetscFree(lost));
  }
  PetscCallMPI(MPI_Waitall(h->nfrom, h->requests, MPI_STATUSES_IGNORE));
  PetscCallMPI(MPI_Type_free(&edge));
  PetscCall(PetscFree2(begin, order));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- tentative prolongator ------------------------------------------------- */

/* The messages by which rows of leaving vertices visit the owners of their aggregates and return, and the guests of this process */
typedef struct {
  MatAIJMessages messages; /* to: the owners, with counts of leaving vertices; from: processes of the guests, with counts of these */
  PetscInt      *order;    /* the leaving vertices, sorted by owner */
  PetscInt       each;     /* numbers for each vertex */
  MPI_Request   *requests;
  AggGuests      guests;
} AmbAggVisit;

/* Sets messages.to and .go, and sorts the leaving vertices by the owners of their aggregates */
static PetscErrorCode AmbAggVisitOwners(const AmbAggLevel *level, AmbAggVisit *visit)
{
  const AmbAggHalo *h = level->halo;
  MatAIJMessages   *m = &visit->messages;
  PetscLayout       layout;
  PetscMPIInt      *owner;
  PetscInt         *next, first = 0;

  PetscFunctionBegin;
  m->comm = h->comm;
  m->tag  = h->tag;
  PetscCall(PetscLayoutCreateFromSizes(level->comm, level->nagg, level->all, 1, &layout));
  PetscCall(PetscMalloc1(h->nleaving, &owner));
  PetscCall(PetscCalloc1(level->size, &next));
  for (PetscInt k = 0; k < h->nleaving; k++) {
    PetscCall(PetscLayoutFindOwner(layout, h->aggregate[k], &owner[k]));
    m->nto += !next[owner[k]]++; /* next[] counts the vertices of each owner */
  }
  PetscCall(PetscMalloc3(m->nto, &m->to, m->nto, &m->go, h->nleaving, &visit->order));
  m->nto = 0;
  for (PetscMPIInt p = 0; p < level->size; p++) {
    const PetscInt count = next[p];

    next[p] = first; /* from here on the place in order[] of the owner's next vertex */
    first += count;
    if (!count) continue;
    m->to[m->nto]   = p;
    m->go[m->nto++] = count;
  }
  for (PetscInt k = 0; k < h->nleaving; k++) visit->order[next[owner[k]]++] = k;
  PetscCall(PetscFree(next));
  PetscCall(PetscFree(owner));
  PetscCall(PetscLayoutDestroy(&layout));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sends the leaving vertices, their aggregates and rows[], all in the order of visit->order[], to the owners, and receives the guests: two messages for each pair
   of processes */
static PetscErrorCode AmbAggVisitSend(const AmbAggLevel *level, AmbAggVisit *visit, const PetscReal rows[])
{
  const AmbAggHalo *h = level->halo;
  MatAIJMessages   *m = &visit->messages;
  AggGuests        *g = &visit->guests;
  PetscInt         *leave, *come;
  PetscMPIInt       n;

  PetscFunctionBegin;
  PetscCall(PetscCommBuildTwoSided(m->comm, 1, MPIU_INT, m->nto, m->to, m->go, &m->nfrom, &m->from, (void *)&m->come));
  PetscCall(PetscSortMPIIntWithIntArray(m->nfrom, m->from, m->come)); /* the order of the processes is the order of their vertices */
  n = m->nto + m->nfrom;
  for (PetscMPIInt k = 0; k < m->nfrom; k++) g->n += m->come[k];
  PetscCall(PetscMalloc1(2 * n, &visit->requests));
  PetscCall(PetscMalloc2(g->n, &g->aggregate, g->n * visit->each, &g->block));
  PetscCall(PetscMalloc2(2 * h->nleaving, &leave, 2 * g->n, &come));
  for (PetscInt k = 0; k < h->nleaving; k++) {
    leave[2 * k]     = level->first + h->leaving[visit->order[k]];
    leave[2 * k + 1] = h->aggregate[visit->order[k]];
  }
  PetscCall(MatAIJMessagesPost(m, MPIU_INT, sizeof(*leave), 2, leave, come, visit->requests));
  PetscCall(MatAIJMessagesPost(m, MPIU_REAL, sizeof(*rows), visit->each, rows, g->block, visit->requests + n));
  PetscCallMPI(MPI_Waitall(2 * n, visit->requests, MPI_STATUSES_IGNORE));
  for (PetscInt k = 0; k < g->n; k++) {
    g->before += come[2 * k] < level->first;
    g->aggregate[k] = come[2 * k + 1] - level->firstagg;
  }
  PetscCall(PetscFree2(leave, come));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sends the factored rows of the guests back, and receives rows[] of the leaving vertices */
static PetscErrorCode AmbAggVisitReturn(AmbAggVisit *visit, PetscReal rows[])
{
  const MatAIJMessages *m    = &visit->messages;
  const MatAIJMessages  back = {m->comm, m->tag, m->nfrom, m->nto, m->from, m->to, m->come, m->go};

  PetscFunctionBegin;
  PetscCall(MatAIJMessagesPost(&back, MPIU_REAL, sizeof(*rows), visit->each, visit->guests.block, rows, visit->requests));
  PetscCallMPI(MPI_Waitall(m->nto + m->nfrom, visit->requests, MPI_STATUSES_IGNORE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AmbAggVisitDestroy(AmbAggVisit *visit)
{
  PetscFunctionBegin;
  PetscCall(PetscFree3(visit->messages.to, visit->messages.go, visit->order));
  PetscCall(PetscFree(visit->messages.from));
  PetscCall(PetscFree(visit->messages.come));
  PetscCall(PetscFree(visit->requests));
  PetscCall(PetscFree2(visit->guests.aggregate, visit->guests.block));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The tentative prolongator: each aggregate's rows of data[], nvec vectors one after the other, become an orthonormal block, and coarse[] its triangular factor */
PetscErrorCode AmbAggParallelFactor(AmbAggLevel *level, PetscInt nvec, const PetscReal data[], PetscReal coarse[], PetscBool *done)
{
  const PetscInt bs = level->bs, each = bs * nvec;
  AmbAggHalo    *h     = level->halo;
  AmbAggVisit    visit = {.each = each};
  PetscReal     *rows;
  PetscInt      *vertices;
  SysStatus      status;

  PetscFunctionBegin;
  free(h->leaving);
  status = AggDeviceGetLeaving(level->device, PetscDefaultCudaStream, &h->nleaving, &h->leaving, &h->aggregate, h->ghosts);
  PetscCall(AmbAggDeviceCheck(level, status, "tentative prolongator", done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AmbAggVisitOwners(level, &visit));
  PetscCall(PetscMalloc2(h->nleaving * each, &rows, h->nleaving, &vertices));
  for (PetscInt k = 0; k < h->nleaving; k++) vertices[k] = h->leaving[visit.order[k]];
  for (PetscInt k = 0, at = 0; k < h->nleaving; k++) {
    for (PetscInt r = 0; r < bs; r++) {
      for (PetscInt v = 0; v < nvec; v++) rows[at++] = data ? data[(v * level->n + vertices[k]) * bs + r] : 1; /* no data: one constant vector */
    }
  }
  PetscCall(AmbAggVisitSend(level, &visit, rows));
  status = AggDeviceFactor(level->device, (int)bs, (int)nvec, data, &visit.guests, PetscDefaultCudaStream, coarse);
  PetscCall(AmbAggDeviceCheck(level, status, "tentative prolongator", done));
  if (*done) {
    PetscCall(AmbAggVisitReturn(&visit, rows));
    status = AggDevicePutBlocks(level->device, h->nleaving, vertices, (size_t)each * sizeof(*rows), rows, PetscDefaultCudaStream);
    PetscCall(AmbAggDeviceCheck(level, status, "tentative prolongator", done));
  }
  if (*done) PetscCall((PetscErrorCode)AmbAggHaloFetch(level, (size_t)each * sizeof(PetscReal), AggDeviceBlocks(level->device)));
  PetscCall(PetscFree2(rows, vertices));
  PetscCall(AmbAggVisitDestroy(&visit));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- prolongator ------------------------------------------------- */

static PetscBool AmbAggIsFar(const AmbAggLevel *level, PetscInt k)
{
  return (PetscBool)(k >= 0 && (k < level->firstagg || k >= level->firstagg + level->nagg));
}

/* Lists the far aggregates: of leaving vertices, and with smoothing of ghosts */
PetscErrorCode AmbAggFarCreate(const AmbAggLevel *level, PetscBool smooth, AmbAggFar *f)
{
  const AmbAggHalo *h        = level->halo;
  const PetscInt    nleaving = h ? h->nleaving : 0; /* there is no halo if the communicator has one process */
  PetscInt         *vertex, *column, *far, nfar, n = 0;
  SysNumbers        numbers;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(nleaving + level->nghost, &vertex, nleaving + level->nghost, &column, nleaving + level->nghost, &far));
  for (PetscInt k = 0; k < nleaving; k++) {
    vertex[n]   = h->leaving[k];
    column[n++] = h->aggregate[k];
  }
  for (PetscInt c = 0; c < level->nghost && smooth; c++) {
    if (!AmbAggIsFar(level, h->ghosts[c])) continue;
    vertex[n]   = level->n + c;
    column[n++] = h->ghosts[c];
  }
  PetscCall(PetscArraycpy(far, column, n));
  nfar = (PetscInt)SysNumbersSort(n, far);
  if (nfar < 0) { /* the range is too large for bits */
    nfar = n;
    PetscCall(PetscSortRemoveDupsInt(&nfar, far));
  }
  SysNumbersCreate(nfar, far, &numbers);
  for (PetscInt k = 0; k < n; k++) column[k] = SysNumbersFind(&numbers, column[k]);
  SysNumbersDestroy(&numbers);
  *f = (AmbAggFar){nfar, far, n, vertex, column};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AmbAggFarDestroy(AmbAggFar *f)
{
  PetscFunctionBegin;
  PetscCall(PetscFree3(f->vertex, f->column, f->far));
  PetscCall(PetscMemzero(f, sizeof(*f)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AmbAggParallelColumns(AmbAggLevel *level, const AmbAggFar *f, PetscBool *done)
{
  SysStatus status;

  PetscFunctionBegin;
  status = AggDeviceSetColumns(level->device, f->nfar, f->n, f->vertex, f->column, PetscDefaultCudaStream);
  PetscCall(AmbAggDeviceCheck(level, status, "prolongator", done));
  PetscFunctionReturn(PETSC_SUCCESS);
}
