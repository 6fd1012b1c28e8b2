/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The halo of an MPI matrix on the device: the entries of x that a product needs from other processes. One kernel packs them; they travel while the
   diagonal block is multiplied; then the rows of the off-diagonal block that have entries are multiplied by them and added. A transposed product has
   sums for other processes instead, which take the same paths backwards.
*/
#pragma once

#include <petscdevice_cuda.h>

#include "mat/shadow/core/shadow.h"

#include "mat/halo/halocuda.h"

/* The entries that go to, or come from, other processes: those of process rank[k] are offset[k] to offset[k + 1] of the buffer */
typedef struct {
  PetscMPIInt  n, *rank, *offset;
  PetscScalar *buffer; /* on the device */
  PetscBool    open;   /* MPI may open the buffer to other processes, so it is not from the pool */
  PetscScalar *pinned; /* on the host, for staged messages */
} MatHaloSide;

/* The off-diagonal block: the list of its rows with entries, for transposed products that of its columns, and the pattern of which the lists were made. i and j identify the
   pattern: they are the host's arrays, or those of a deferred block on the device. */
typedef struct {
  PetscObjectId    block;
  PetscObjectState nonzerostate;
  const PetscInt  *i, *j;
  PetscInt         nz;
  PetscBool        whole; /* most rows have entries, and many: the block is multiplied as a matrix, without lists */
  HaloRows         rows;
  HaloColumns      columns;
  int             *rows_memory, *columns_memory;
} MatHaloBlock;

/* The measurements of a communicator */
#define MAT_HALO_CLASSES 40 /* classes of size: powers of two, in bytes */
typedef struct _MatHaloComm  MatHaloComm;
typedef struct _MatHaloArena MatHaloArena;
struct _MatHaloComm {
  MPI_Comm      comm;
  MatHaloComm  *next;
  PetscReal     seconds[MAT_HALO_CLASSES][MAT_SHADOW_HALO_PEER + 1]; /* of an exchange by each path, 0 if it was not measured */
  PetscReal     gain;                                                /* seconds that NCCL would have saved so far, by a model */
  PetscBool     own, own_known;                                      /* each process has a GPU that no other has */
  PetscBool     looked;                                              /* NCCL was looked for */
  const char   *without;                                             /* why NCCL cannot be used, or NULL */
  void         *nccl;
  PetscBool     looked_peers; /* boxes in the memory of the GPUs were tried */
  HaloPeers     peers;        /* of no process: NCCL gathers numbers */
  MatHaloArena *arenas;       /* memory of the rooms of halos */
};

typedef struct {
  MPI_Comm       comm;
  PetscObjectId  block; /* the off-diagonal block for which the halo was made */
  PetscInt       n;     /* columns of that block */
  PetscInt      *garray;
  MatHaloComm   *about;
  MatShadowHalo  path;
  PetscBool      chosen; /* the path will not change any more */
  int            size;   /* the class that the largest halo of all processes is in */
  MatHaloSide    from, to;
  int           *entries; /* the entries of x that go to other processes, on the device */
  HaloSums       sums;    /* the sums that these entries get in a transposed product, listed before the first one */
  int           *sums_memory;
  Vec            x;          /* the received entries, as a vector */
  MPI_Request   *request[2]; /* persistent requests, those that receive first; request[1] is for the way back */
  MatHaloArena  *arena;      /* that has the room of the halo, or NULL */
  HaloRoute      route[2];   /* through that room; route[1] is for the way back */
  cudaStream_t   stream;
  cudaEvent_t    before, after;
  MatHaloBlock   rest;
  PetscInt       products;
  PetscLogDouble syncs; /* waits of the host for the device */
} MatHalo;

/* Is an exchange all in the stream, so that the host does not wait? */
static inline PetscBool MatHaloInStream(const MatHalo *h)
{
  return (PetscBool)(h->path == MAT_SHADOW_HALO_NCCL || h->path == MAT_SHADOW_HALO_PEER);
}

extern PetscErrorCode MatHaloExchangeBegin(MatHalo *, PetscBool back, const PetscScalar *x, cudaStream_t);
extern PetscErrorCode MatHaloExchangeWait(MatHalo *, PetscBool back);
extern PetscErrorCode MatHaloExchangeEnd(MatHalo *, cudaStream_t);
extern PetscErrorCode MatHaloUse(MatHalo *, MatShadowHalo);
extern PetscErrorCode MatHaloResetPath(MatHalo *);
extern PetscErrorCode MatHaloStartNCCL(MPI_Comm, MatHaloComm *);
extern PetscErrorCode MatHaloStartPeers(MatHaloComm *);
extern PetscErrorCode MatHaloEndPeers(MatHaloComm *);
extern PetscErrorCode MatHaloRouteSetUp(MatHalo *, PetscBool *ok);
extern PetscErrorCode MatHaloRouteReset(MatHalo *);
extern PetscErrorCode MatHaloCommGet(MPI_Comm, MatHaloComm **);
extern PetscErrorCode MatHaloCommOwn(MatHaloComm *, PetscBool *own);
extern PetscErrorCode MatHaloChoose(Mat, MatHalo *, MatShadowHalo wanted, PetscBool back, const PetscScalar *x);
extern PetscErrorCode MatHaloSendNCCL(const MatHalo *, PetscBool back);
extern PetscErrorCode MatHaloAdd(MatHalo *, Mat rest, Vec z);
extern PetscErrorCode MatHaloMultTranspose(MatHalo *, Mat rest, Vec x);
extern PetscErrorCode MatHaloAddSums(MatHalo *, Vec z);
extern PetscErrorCode MatHaloBlockSetUp(MatHaloBlock *, Mat rest);
extern PetscErrorCode MatHaloColumnsSetUp(MatHaloBlock *, Mat rest, PetscInt n);
extern PetscErrorCode MatHaloSumsSetUp(MatHalo *, PetscInt n);
extern PetscErrorCode MatHaloBlockDestroy(MatHaloBlock *);
extern PetscErrorCode MatHaloEnd(void);

/* Can the GPUs of all processes exchange without the host? NCCL is not started for it. */
extern PetscErrorCode MatHaloCommReach(MatHaloComm *, PetscBool *reach);

/* For solvers: gathers n numbers of each process in the order of the processes, on the device, if the GPUs reach each other. The host does not wait. */
extern PetscErrorCode MatHaloGather(const MatHaloComm *about, size_t n, const PetscReal *mine, PetscReal *all, cudaStream_t);

/* For solvers: the part of a product that several processes share, which can be queued, and recorded, without PETSc. The solver makes the product of the diagonal block between the
   two calls; the exchange runs beside it. */
typedef struct {
  MatHalo *halo; /* NULL: it cannot be */
  SysCSR   rest;
} MatHaloShare;

/* It can be once the exchange is in the stream. Processes may differ. */
extern PetscErrorCode MatHaloShareSetUp(Mat, PetscBool transpose, MatHaloShare *);
extern PetscErrorCode MatHaloShareBegin(const MatHaloShare *, PetscBool transpose, const PetscScalar *x, cudaStream_t, SysStatus *);
/* Adds alpha times what others sent to y; transposed, alpha is 1 */
extern PetscErrorCode MatHaloShareEnd(const MatHaloShare *, PetscBool transpose, PetscScalar alpha, PetscScalar *y, cudaStream_t, SysStatus *);
/* Makes the halo of A, if A has none yet, and takes its path. Collective. */
extern PetscErrorCode MatHaloExpect(Mat A, PetscBool transpose);
/* For set-ups: creates the halo of A if A has none yet. *halo is NULL, on all processes, unless it has a route between GPUs that reach each other's memory. Collective. */
extern PetscErrorCode MatHaloGetPeer(Mat A, MatHalo **halo);
/* So many of these products have been made */
extern PetscErrorCode MatHaloShareMade(Mat, PetscInt products);

/* For solvers: a whole product */
typedef struct {
  MatHaloShare        share;
  const MatShadowOps *ops; /* of the diagonal block */
  void               *data;
  MatShadowCSR        diagonal;
  int64_t             nparts; /* sums that the format leaves of the product of both vectors; 0: it leaves none */
} MatHaloQueue;

/* It can be once the diagonal block is in a format for good, too; otherwise share.halo is NULL. Processes may differ. */
extern PetscErrorCode MatHaloQueueSetUp(Mat, MatHaloQueue *);
extern PetscErrorCode MatHaloQueueMult(const MatHaloQueue *, const PetscScalar *x, PetscScalar *y, PetscScalar *parts, cudaStream_t, SysStatus *);

/* The sums that add up to the part that this process has of x.y, if parts is not NULL; 0: there are none */
extern int64_t MatHaloQueueParts(const MatHaloQueue *);

/* So many of these products have been made */
extern PetscErrorCode MatHaloQueueMade(Mat, PetscInt products);

static inline PetscErrorCode MatHaloCheck(SysStatus status)
{
  PetscFunctionBegin;
  PetscCheck(status == SYS_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_GPU, "%s", SysDeviceErrorText());
  PetscFunctionReturn(PETSC_SUCCESS);
}

extern const MatShadowExchange MatHaloExchange;
