/* SPDX-License-Identifier: BSD-2-Clause */
/*
   What the files of the device share: levels on one process and on several
*/
#pragma once

#include <petscdevice_cuda.h>

#include "mat/halo/halo.h"
#include "ksp/pc/impls/gamg/glue/agg.h"

/* *done becomes PETSC_FALSE on all processes if it is so on one */
extern PetscErrorCode AmbAggDeviceAgree(const AmbAggLevel *, PetscBool *done);

/* *done becomes PETSC_FALSE on all processes if one has no memory */
extern PetscErrorCode AmbAggDeviceCheck(const AmbAggLevel *, SysStatus, const char what[], PetscBool *done);

/* The parts of the matrix on the device. *done is PETSC_FALSE if they are not there. */
extern PetscErrorCode AmbAggDeviceGetMatrix(const AmbAggLevel *, AggMatrix *, PetscBool *done);

/* ------------------------------------------------- several processes ------------------------------------------------- */

/* Columns of the prolongator that other processes own: of nfar aggregates far[], ascending. Vertex or ghost vertex[k] of n belongs to aggregate far[column[k]]. */
typedef struct {
  PetscInt nfar, *far, n, *vertex, *column;
} AmbAggFar;

/* The exchange of entries of vertices that are ghosts of other processes: through pinned memory or, if rows are vertices, by the halo of the matrix between GPUs that reach each
   other's memory, in the stream */
struct _AmbAggHalo {
  MPI_Comm           comm;
  PetscMPIInt        tag, nto, nfrom;
  const PetscMPIInt *to, *from;           /* processes that have vertices of this one as ghosts, and the owners of its ghosts */
  const PetscInt    *tostart, *fromstart; /* the entries that go to each, and come from each */
  PetscInt          *tolist, *fromlist;   /* vertices and ghosts, on the device */
  char              *out, *in;            /* pinned, for the exchange at hand */
  MPI_Request       *requests;
  MatHalo           *peer; /* NULL: pinned memory */

  PetscInt  nleaving, *leaving, *aggregate; /* the vertices in aggregates of other processes, and these aggregates */
  PetscInt *ghosts;                         /* the aggregate of each ghost */

  PetscInt  nvec;    /* vectors of the tentative prolongator; 0: there is none yet */
  AmbAggFar columns; /* of P */
  Mat       P;       /* the smoothed prolongator without entries, from AmbAggDevicePrepare() to AmbAggDeviceProlongator() */
};

extern PetscErrorCode AmbAggHaloCreate(AmbAggLevel *);
extern PetscErrorCode AmbAggHaloDestroy(AmbAggHalo **);

/* For AggExchange, but for arrays on the device */
extern int AmbAggHaloFetch(void *ctx, size_t size, void *array);
extern int AmbAggHaloAddUp(void *ctx, SysInt array[]);

/* Exchanges the transposed edges between processes. *come is pinned memory; *fits becomes PETSC_FALSE if more edges came than went. */
extern PetscErrorCode AmbAggParallelSymmetrize(AmbAggLevel *, PetscInt *ncome, AggEdge **come, SysStatus *, PetscBool *fits);
extern PetscErrorCode AmbAggParallelFactor(AmbAggLevel *, PetscInt nvec, const PetscReal data[], PetscReal coarse[], PetscBool *done);
extern PetscErrorCode AmbAggParallelColumns(AmbAggLevel *, const AmbAggFar *, PetscBool *done);

extern PetscErrorCode AmbAggFarCreate(const AmbAggLevel *, PetscBool smooth, AmbAggFar *);
extern PetscErrorCode AmbAggFarDestroy(AmbAggFar *);

/* Creates the smoothed prolongator of several processes without entries, while the device has work to do. Collective. */
extern PetscErrorCode AmbAggDevicePrepare(const AmbAggLevel *);
