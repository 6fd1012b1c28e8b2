/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The communicators by which halos are exchanged: of MPI, and of NCCL
*/
#include "mat/halo/halo.h"

#if defined(PETSCAMB_HAVE_NCCL)
  #include <dlfcn.h>
  #include <pthread.h>
  #include <stdatomic.h>
  #include <nccl.h>

  #define PetscCallNCCL(call) \
    do { \
      const ncclResult_t nccl_result_ = (call); \
      PetscCheck(nccl_result_ == ncclSuccess, PETSC_COMM_SELF, PETSC_ERR_GPU, "NCCL: %s, in %s", nccl.GetErrorString(nccl_result_), #call); \
    } while (0)

  /* NCCL is opened when it is first used: it has hundreds of megabytes, and not every machine has it */
  #define NCCL_FUNCTIONS(F)  F(GetErrorString) F(GetUniqueId) F(CommInitRank) F(CommAbort) F(CommDestroy) F(GroupStart) F(GroupEnd) F(Send) F(Recv) F(AllGather)
  #define NCCL_DECLARE(name) __typeof__(nccl##name) *name;
  #define NCCL_FIND(name)    *(void **)&nccl.name = dlsym(library, "nccl" #name);
  #define NCCL_FOUND(name)   &&nccl.name

static struct {
  NCCL_FUNCTIONS(NCCL_DECLARE)
} nccl;
#endif

static MatHaloComm *known = NULL;

/* ------------------------------------------------- communicators ------------------------------------------------- */

/* Gets what was measured of a communicator, the same for all communicators with the same processes in the same order. It has a duplicate of its own: PETSc frees its
   communicator with the last object that uses it, and NCCL's is slow to make. */
PetscErrorCode MatHaloCommGet(MPI_Comm comm, MatHaloComm **about)
{
  MatHaloComm *c;

  PetscFunctionBegin;
  for (c = known; c; c = c->next) {
    PetscMPIInt same;

    PetscCallMPI(MPI_Comm_compare(comm, c->comm, &same));
    if (same == MPI_CONGRUENT) break;
  }
  if (!c) {
    PetscCall(PetscNew(&c));
    PetscCallMPI(MPI_Comm_dup(comm, &c->comm));
    c->next = known;
    known   = c;
  }
  *about = c;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets whether each process has its own GPU; determined once for a communicator */
PetscErrorCode MatHaloCommOwn(MatHaloComm *c, PetscBool *own)
{
  const int             n = (int)sizeof(((struct cudaDeviceProp *)NULL)->uuid);
  struct cudaDeviceProp device;
  char                 *all;
  PetscMPIInt           rank, size, alone = 1;
  int                   id;

  PetscFunctionBegin;
  *own = c->own;
  if (c->own_known) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_rank(c->comm, &rank));
  PetscCallMPI(MPI_Comm_size(c->comm, &size));
  PetscCallCUDA(cudaGetDevice(&id));
  PetscCallCUDA(cudaGetDeviceProperties(&device, id));
  PetscCall(PetscMalloc1((size_t)n * size, &all));
  PetscCallMPI(MPI_Allgather(&device.uuid, n, MPI_BYTE, all, n, MPI_BYTE, c->comm));
  for (PetscMPIInt r = 0; r < size; r++) {
    if (r != rank && memcmp(all + (size_t)n * r, &device.uuid, (size_t)n) == 0) alone = 0;
  }
  PetscCall(PetscFree(all));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &alone, 1, MPI_INT, MPI_MIN, c->comm));
  *own         = (PetscBool)(alone == 1);
  c->own       = *own;
  c->own_known = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Frees the last communicator first: any two processes free those that they share in the same order */
PetscErrorCode MatHaloEnd(void)
{
  PetscFunctionBegin;
  while (known) {
    MatHaloComm *c = known;

    known = c->next;
    PetscCall(MatHaloEndPeers(c));
#if defined(PETSCAMB_HAVE_NCCL)
    if (c->nccl) {
      PetscCallMPI(MPI_Barrier(c->comm)); /* a process must not leave NCCL while others still use it */
      PetscCallNCCL(nccl.CommDestroy((ncclComm_t)c->nccl));
    }
#endif
    PetscCallMPI(MPI_Comm_free(&c->comm));
    PetscCall(PetscFree(c));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- NCCL ------------------------------------------------- */

#if defined(PETSCAMB_HAVE_NCCL)
static PetscErrorCode MatHaloLoadNCCL(MPI_Comm comm, PetscBool *loaded)
{
  PetscMPIInt all;

  PetscFunctionBegin;
  if (!nccl.Send) {
    void *library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);

    if (library) { NCCL_FUNCTIONS(NCCL_FIND) }
  }
  all = 1 NCCL_FUNCTIONS(NCCL_FOUND);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, comm));
  *loaded = (PetscBool)(all == 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

  /* The start of NCCL waits for all processes, and does not end if one of them fails before it has met the others. A thread makes it, while the processes tell each other
     how they are. */
  #define MAT_HALO_LOOK  1e-3 /* seconds between two such looks */
  #define MAT_HALO_LEAVE 2000 /* checks of a thread that is to end because another process failed */

typedef enum {
  MAT_HALO_FAILED,
  MAT_HALO_STARTING,
  MAT_HALO_STARTED,
  MAT_HALO_LEFT /* no function waits for the thread any longer */
} MatHaloState;

typedef struct {
  ncclUniqueId id;
  ncclComm_t   made;
  PetscMPIInt  rank, size;
  int          device;
  atomic_int   state;
} MatHaloStart;

static void *MatHaloStartThread(void *ctx)
{
  MatHaloStart *s      = (MatHaloStart *)ctx;
  int           before = MAT_HALO_STARTING;
  const int     after  = cudaSetDevice(s->device) == cudaSuccess && nccl.CommInitRank(&s->made, s->size, s->id, s->rank) == ncclSuccess ? MAT_HALO_STARTED : MAT_HALO_FAILED;

  if (!atomic_compare_exchange_strong(&s->state, &before, after)) {
    if (after == MAT_HALO_STARTED) (void)nccl.CommAbort(s->made);
    free(s);
  }
  return NULL;
}

/* Gets a communicator on all processes, or NULL on all */
static PetscErrorCode MatHaloStartTogether(MPI_Comm comm, const ncclUniqueId *id, ncclComm_t *made)
{
  MatHaloStart *s       = (MatHaloStart *)calloc(1, sizeof(*s)); /* not PETSc's memory: the thread may free it */
  PetscBool     running = PETSC_FALSE;
  int           least, before = MAT_HALO_STARTING;
  pthread_t     thread;

  PetscFunctionBegin;
  *made = NULL;
  if (s) {
    PetscCallMPI(MPI_Comm_rank(comm, &s->rank));
    PetscCallMPI(MPI_Comm_size(comm, &s->size));
    PetscCallCUDA(cudaGetDevice(&s->device));
    s->id = *id;
    atomic_store(&s->state, MAT_HALO_STARTING);
    running = (PetscBool)(pthread_create(&thread, NULL, MatHaloStartThread, s) == 0);
  }
  do {
    least = running ? atomic_load(&s->state) : MAT_HALO_FAILED;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_INT, MPI_MIN, comm));
    if (least == MAT_HALO_STARTING) PetscCall(PetscSleep(MAT_HALO_LOOK));
  } while (least == MAT_HALO_STARTING);
  for (int k = 0; running && k < MAT_HALO_LEAVE && atomic_load(&s->state) == MAT_HALO_STARTING; k++) PetscCall(PetscSleep(MAT_HALO_LOOK));
  if (running && atomic_compare_exchange_strong(&s->state, &before, MAT_HALO_LEFT)) {
    (void)pthread_detach(thread);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (running) (void)pthread_join(thread, NULL);
  if (running && atomic_load(&s->state) == MAT_HALO_STARTED) {
    if (least == MAT_HALO_STARTED) *made = s->made;
    else (void)nccl.CommAbort(s->made);
  }
  free(s);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes a communicator of NCCL for one of MPI, once. It sends and receives, and gathers a few numbers: NVLink's multicast would take memory for
   nothing. */
PetscErrorCode MatHaloStartNCCL(MPI_Comm comm, MatHaloComm *c)
{
  PetscBool    own = PETSC_FALSE, loaded = PETSC_FALSE;
  PetscMPIInt  rank, ok;
  ncclUniqueId id;
  ncclComm_t   made = NULL;

  PetscFunctionBegin;
  if (c->looked) PetscFunctionReturn(PETSC_SUCCESS);
  c->looked = PETSC_TRUE;
  PetscCall(MatHaloCommOwn(c, &own));
  if (!own) {
    c->without = "several processes share a GPU";
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatHaloLoadNCCL(comm, &loaded));
  if (!loaded) {
    c->without = "libnccl.so.2 was not found; add its folder to LD_LIBRARY_PATH";
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  (void)setenv("NCCL_NVLS_ENABLE", "0", 0);
  ok = rank || nccl.GetUniqueId(&id) == ncclSuccess;
  PetscCallMPI(MPI_Bcast(&ok, 1, MPI_INT, 0, comm));
  if (ok) {
    PetscCallMPI(MPI_Bcast(&id, (PetscMPIInt)sizeof(id), MPI_BYTE, 0, comm));
    PetscCall(MatHaloStartTogether(comm, &id, &made));
  }
  if (made) {
    c->nccl = made;
    PetscCall(MatHaloStartPeers(c));
  } else c->without = "NCCL does not start between these processes; set NCCL_DEBUG=INFO to see why";
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Queues the exchange on the halo's stream; the host does not wait. After an error the group is closed all the same: it would keep all later calls. */
PetscErrorCode MatHaloSendNCCL(const MatHalo *h, PetscBool back)
{
  const ncclDataType_t type = sizeof(PetscScalar) == sizeof(double) ? ncclDouble : ncclFloat;
  const ncclComm_t     comm = (ncclComm_t)h->about->nccl;
  const MatHaloSide   *in = back ? &h->to : &h->from, *out = back ? &h->from : &h->to;
  const char          *call   = "ncclRecv()";
  ncclResult_t         result = ncclSuccess, end;

  PetscFunctionBegin;
  PetscCallNCCL(nccl.GroupStart());
  for (PetscMPIInt k = 0; k < in->n && result == ncclSuccess; k++) result = nccl.Recv(in->buffer + in->offset[k], (size_t)(in->offset[k + 1] - in->offset[k]), type, in->rank[k], comm, h->stream);
  if (result == ncclSuccess) call = "ncclSend()";
  for (PetscMPIInt k = 0; k < out->n && result == ncclSuccess; k++) result = nccl.Send(out->buffer + out->offset[k], (size_t)(out->offset[k + 1] - out->offset[k]), type, out->rank[k], comm, h->stream);
  end = nccl.GroupEnd();
  if (result == ncclSuccess) {
    call   = "ncclGroupEnd()";
    result = end;
  }
  PetscCheck(result == ncclSuccess, PETSC_COMM_SELF, PETSC_ERR_GPU, "NCCL: %s, in %s", nccl.GetErrorString(result), call);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatHaloGatherNCCL(const MatHaloComm *about, size_t n, const PetscReal *mine, PetscReal *all, cudaStream_t stream)
{
  PetscFunctionBegin;
  PetscCallNCCL(nccl.AllGather(mine, all, n, sizeof(PetscReal) == sizeof(double) ? ncclDouble : ncclFloat, (ncclComm_t)about->nccl, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#else
PetscErrorCode MatHaloStartNCCL(MPI_Comm comm, MatHaloComm *c)
{
  PetscFunctionBegin;
  (void)comm;
  c->without = "petsc-amb was configured without NCCL (configure.py --with-nccl=DIR)";
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatHaloSendNCCL(const MatHalo *h, PetscBool back)
{
  PetscFunctionBegin;
  PetscAssert(h->path != MAT_SHADOW_HALO_NCCL, PETSC_COMM_SELF, PETSC_ERR_PLIB, "petsc-amb was built without NCCL");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatHaloGatherNCCL(const MatHaloComm *about, size_t n, const PetscReal *mine, PetscReal *all, cudaStream_t stream)
{
  PetscFunctionBegin;
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_PLIB, "petsc-amb was built without NCCL");
}
#endif

PetscErrorCode MatHaloGather(const MatHaloComm *about, size_t n, const PetscReal *mine, PetscReal *all, cudaStream_t stream)
{
  PetscFunctionBegin;
  if (about->peers.nproc) PetscCall(MatHaloCheck(HaloGather(&about->peers, n * sizeof(PetscReal), mine, all, 0, stream)));
  else PetscCall(MatHaloGatherNCCL(about, n, mine, all, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatHaloCommReach(MatHaloComm *c, PetscBool *reach)
{
  PetscBool own;

  PetscFunctionBegin;
  PetscCall(MatHaloCommOwn(c, &own));
  if (own) PetscCall(MatHaloStartPeers(c));
  *reach = (PetscBool)(c->nccl || c->peers.nproc);
  PetscFunctionReturn(PETSC_SUCCESS);
}
