/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The paths that a halo can take from one process to another, and the choice of the fastest
*/
#include "mat/halo/halo.h"

#if defined(PETSCAMB_HAVE_NCCL)
  #include <dlfcn.h>
  #include <nccl.h>

  #define PetscCallNCCL(call) \
    do { \
      const ncclResult_t nccl_result_ = (call); \
      PetscCheck(nccl_result_ == ncclSuccess, PETSC_COMM_SELF, PETSC_ERR_GPU, "NCCL: %s, in %s", nccl.GetErrorString(nccl_result_), #call); \
    } while (0)

  /* NCCL is opened when it is first used: it has hundreds of megabytes, and not every machine has it */
  #define NCCL_FUNCTIONS(F)  F(GetErrorString) F(GetUniqueId) F(CommInitRank) F(CommDestroy) F(GroupStart) F(GroupEnd) F(Send) F(Recv)
  #define NCCL_DECLARE(name) __typeof__(nccl##name) *name;
  #define NCCL_FIND(name)    *(void **)&nccl.name = dlsym(library, "nccl" #name);
  #define NCCL_FOUND(name)   &&nccl.name

static struct {
  NCCL_FUNCTIONS(NCCL_DECLARE)
} nccl;
#endif

#define MAT_HALO_PATIENCE 200   /* products of a halo before paths are compared */
#define MAT_HALO_ROUNDS   5     /* timed rounds, of which the median counts */
#define MAT_HALO_REPEAT   4     /* exchanges in a round */
#define MAT_HALO_START    0.5   /* seconds that NCCL takes to start */
#define MAT_HALO_NCCL     16e-6 /* seconds of an exchange of few bytes by NCCL */
#define MAT_HALO_RATE     100e9 /* bytes a second by NCCL, for many bytes */
#define MAT_HALO_WAIT     25e-6 /* seconds lost on the other paths while the host waits and queues no kernels */

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

/* Frees the last communicator first: any two processes free those that they share in the same order */
PetscErrorCode MatHaloEnd(void)
{
  PetscFunctionBegin;
  while (known) {
    MatHaloComm *c = known;

    known = c->next;
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
/* Does every process have a GPU of its own? */
static PetscErrorCode MatHaloOwnDevice(MPI_Comm comm, PetscBool *own)
{
  const int             n = (int)sizeof(((struct cudaDeviceProp *)NULL)->uuid);
  struct cudaDeviceProp device;
  char                 *all;
  PetscMPIInt           rank, size, alone = 1;
  int                   id;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCallCUDA(cudaGetDevice(&id));
  PetscCallCUDA(cudaGetDeviceProperties(&device, id));
  PetscCall(PetscMalloc1((size_t)n * size, &all));
  PetscCallMPI(MPI_Allgather(&device.uuid, n, MPI_BYTE, all, n, MPI_BYTE, comm));
  for (PetscMPIInt r = 0; r < size; r++) {
    if (r != rank && memcmp(all + (size_t)n * r, &device.uuid, (size_t)n) == 0) alone = 0;
  }
  PetscCall(PetscFree(all));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &alone, 1, MPI_INT, MPI_MIN, comm));
  *own = (PetscBool)(alone == 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatHaloLoadNCCL(MPI_Comm comm, PetscBool *loaded)
{
  PetscMPIInt all = 1;

  PetscFunctionBegin;
  if (!nccl.Send) {
    void *library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);

    if (library) { NCCL_FUNCTIONS(NCCL_FIND) }
    all = 1 NCCL_FUNCTIONS(NCCL_FOUND);
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, comm));
  *loaded = (PetscBool)(all == 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes a communicator of NCCL for one of MPI, once. It only sends and receives: NVLink's multicast would take memory for nothing. */
static PetscErrorCode MatHaloStartNCCL(MPI_Comm comm, MatHaloComm *c)
{
  PetscBool    own = PETSC_FALSE, loaded = PETSC_FALSE;
  PetscMPIInt  rank, size, ok;
  ncclUniqueId id;
  ncclComm_t   made = NULL;

  PetscFunctionBegin;
  if (c->looked) PetscFunctionReturn(PETSC_SUCCESS);
  c->looked = PETSC_TRUE;
  PetscCall(MatHaloOwnDevice(comm, &own));
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
  PetscCallMPI(MPI_Comm_size(comm, &size));
  (void)setenv("NCCL_NVLS_ENABLE", "0", 0);
  ok = rank || nccl.GetUniqueId(&id) == ncclSuccess;
  PetscCallMPI(MPI_Bcast(&ok, 1, MPI_INT, 0, comm));
  if (ok) {
    PetscCallMPI(MPI_Bcast(&id, (PetscMPIInt)sizeof(id), MPI_BYTE, 0, comm));
    ok = nccl.CommInitRank(&made, size, id, rank) == ncclSuccess;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &ok, 1, MPI_INT, MPI_MIN, comm));
  }
  if (ok) c->nccl = made;
  else {
    c->without = "NCCL does not start between these processes; set NCCL_DEBUG=INFO to see why";
    if (made) (void)nccl.CommDestroy(made);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Queues the exchange on the halo's stream; the host does not wait */
PetscErrorCode MatHaloSendNCCL(const MatHalo *h, PetscBool back)
{
  const ncclDataType_t type = sizeof(PetscScalar) == sizeof(double) ? ncclDouble : ncclFloat;
  const ncclComm_t     comm = (ncclComm_t)h->about->nccl;
  const MatHaloSide   *in = back ? &h->to : &h->from, *out = back ? &h->from : &h->to;

  PetscFunctionBegin;
  PetscCallNCCL(nccl.GroupStart());
  for (PetscMPIInt k = 0; k < in->n; k++) PetscCallNCCL(nccl.Recv(in->buffer + in->offset[k], (size_t)(in->offset[k + 1] - in->offset[k]), type, in->rank[k], comm, h->stream));
  for (PetscMPIInt k = 0; k < out->n; k++) PetscCallNCCL(nccl.Send(out->buffer + out->offset[k], (size_t)(out->offset[k + 1] - out->offset[k]), type, out->rank[k], comm, h->stream));
  PetscCallNCCL(nccl.GroupEnd());
  PetscFunctionReturn(PETSC_SUCCESS);
}
#else
static PetscErrorCode MatHaloStartNCCL(MPI_Comm comm, MatHaloComm *c)
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
#endif

/* ------------------------------------------------- the choice ------------------------------------------------- */

/* Gets the reason why a path is not possible, the same on all processes; NULL if the path is possible */
static PetscErrorCode MatHaloWhyNot(MatHalo *h, MatShadowHalo path, const char **why)
{
  PetscFunctionBegin;
  *why = NULL;
  if (path == MAT_SHADOW_HALO_MPI && !use_gpu_aware_mpi) *why = "the MPI is not CUDA-aware, or -use_gpu_aware_mpi 0 was given";
  if (path == MAT_SHADOW_HALO_NCCL) {
    PetscCall(MatHaloStartNCCL(h->comm, h->about));
    *why = h->about->without;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the seconds that an exchange takes, the longest of all processes */
static PetscErrorCode MatHaloTime(MatHalo *h, PetscBool back, const PetscScalar *x, PetscReal *seconds)
{
  PetscReal      t[MAT_HALO_ROUNDS + 1];
  PetscLogDouble t0, t1;

  PetscFunctionBegin;
  for (int round = 0; round <= MAT_HALO_ROUNDS; round++) { /* the first is not counted */
    PetscCallCUDA(cudaStreamSynchronize(PetscDefaultCudaStream));
    PetscCallMPI(MPI_Barrier(h->comm));
    PetscCall(PetscTime(&t0));
    for (int k = 0; k < MAT_HALO_REPEAT; k++) {
      PetscCall(MatHaloExchangeBegin(h, back, x));
      PetscCall(MatHaloExchangeWait(h, back));
      PetscCall(MatHaloExchangeEnd(h));
    }
    PetscCallCUDA(cudaStreamSynchronize(PetscDefaultCudaStream));
    PetscCall(PetscTime(&t1));
    t[round] = (PetscReal)((t1 - t0) / MAT_HALO_REPEAT);
  }
  PetscCall(PetscSortReal(MAT_HALO_ROUNDS, t + 1));
  *seconds = t[1 + MAT_HALO_ROUNDS / 2];
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, seconds, 1, MPIU_REAL, MPI_MAX, h->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Times a path for halos of this size, once. All processes have the same times, which are used for both directions. */
static PetscErrorCode MatHaloMeasure(Mat A, MatHalo *h, MatShadowHalo path, PetscBool back, const PetscScalar *x)
{
  PetscReal           *seconds = &h->about->seconds[h->size][path];
  const PetscLogDouble syncs   = h->syncs;
  const char          *why;

  PetscFunctionBegin;
  if (*seconds > 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatHaloWhyNot(h, path, &why));
  if (why) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatHaloUse(h, path));
  PetscCall(MatHaloTime(h, back, x, seconds));
  h->syncs = syncs;
  PetscCall(PetscInfo(A, "Halo by %s: %g s for an exchange of less than 2^%d bytes a process\n", MatShadowHalos[path], (double)*seconds, h->size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the fastest of the paths that cost nothing to start. NCCL is started once the time that it would have saved in all halos among these processes exceeds
   that of its start. All processes decide the same. */
static PetscErrorCode MatHaloChooseBest(Mat A, MatHalo *h, PetscBool back, const PetscScalar *x, MatShadowHalo *best)
{
  MatHaloComm     *c       = h->about;
  const PetscReal *seconds = c->seconds[h->size];

  PetscFunctionBegin;
  *best = use_gpu_aware_mpi ? MAT_SHADOW_HALO_MPI : MAT_SHADOW_HALO_STAGED;
  if (!(seconds[*best] > 0) && h->products < MAT_HALO_PATIENCE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatHaloMeasure(A, h, MAT_SHADOW_HALO_MPI, back, x));
  PetscCall(MatHaloMeasure(A, h, MAT_SHADOW_HALO_STAGED, back, x));
  if (c->nccl) PetscCall(MatHaloMeasure(A, h, MAT_SHADOW_HALO_NCCL, back, x));
  for (MatShadowHalo path = MAT_SHADOW_HALO_MPI; path <= MAT_SHADOW_HALO_STAGED; path++) {
    if (seconds[path] > 0 && seconds[path] < seconds[*best]) *best = path;
  }
  if (!c->looked) {
    c->gain += PetscMax(0, seconds[*best] + MAT_HALO_WAIT - MAT_HALO_NCCL - PetscPowRealInt(2, h->size) / MAT_HALO_RATE);
    if (c->gain < MAT_HALO_START) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(MatHaloStartNCCL(h->comm, c));
    PetscCall(PetscInfo(A, "Halos would have taken %g s less by NCCL: %s\n", (double)c->gain, c->without ? c->without : "it is started"));
    if (c->nccl) PetscFunctionReturn(PETSC_SUCCESS); /* the next product times it */
  }
  h->chosen = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Takes the path that the user asked for, or the best one */
PetscErrorCode MatHaloChoose(Mat A, MatHalo *h, MatShadowHalo wanted, PetscBool back, const PetscScalar *x)
{
  const MatShadowHalo before = h->path;
  const char         *why;

  PetscFunctionBegin;
  if (wanted == MAT_SHADOW_HALO_AUTO && h->size) PetscCall(MatHaloChooseBest(A, h, back, x, &wanted));
  else {
    h->chosen = PETSC_TRUE;
    if (!h->size) wanted = MAT_SHADOW_HALO_STAGED; /* the processes exchange nothing */
    PetscCall(MatHaloWhyNot(h, wanted, &why));
    PetscCheck(!why, h->comm, PETSC_ERR_SUP, "The halo cannot go by %s: %s; use -mat_shadow_halo auto", MatShadowHalos[wanted], why);
  }
  PetscCall(MatHaloUse(h, wanted));
  if (before != wanted) PetscCall(PetscInfo(A, "Halo by %s: %" PetscInt_FMT " entries come from %d processes, %d go to %d\n", MatShadowHalos[wanted], h->n, h->from.n, h->to.offset[h->to.n], h->to.n));
  PetscFunctionReturn(PETSC_SUCCESS);
}
