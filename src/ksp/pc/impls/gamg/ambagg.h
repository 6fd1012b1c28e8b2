/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The type "ambagg" of PCGAMG, and a coarsener: PETSc's matrices on the one side, the kernels of aggkernels.h on the other
*/
#pragma once

#include <petscsf.h>

#include "mat/shadow/shadow.h"
#include "ksp/pc/impls/gamg/aggcuda.h"
#include "ksp/pc/impls/gamg/aggkernels.h"
#include "ksp/pc/impls/gamg/ambaggcompat.h"

/* A level that is being coarsened: its vertices, their graph, and their aggregates */
typedef struct {
  MPI_Comm    comm;
  PetscMPIInt size;
  PetscInt    n, first, nghost, *ghosts; /* vertices of this process, the global numbers of the first one and of the ghosts */
  PetscSF     sf;                        /* from vertices to ghosts; NULL on one process */
  AggGraph    graph;
  AggDevice  *device; /* the graph on the device, or NULL if it is on the host */
  AggExchange exchange;
  PetscInt   *join;                /* as from AggAggregate() */
  PetscInt   *aggregate;           /* the global number of the aggregate of each vertex and ghost, or -1 */
  PetscInt    nagg, firstagg, all; /* aggregates with a root on this process, their first number, and the number of all aggregates */
} AmbAggLevel;

/* On a device, if the matrix is there; *done is PETSC_FALSE if the host has to do the work */
SYS_DEVICE PetscErrorCode AmbAggDeviceGraph(AmbAggLevel *, Mat A, const AggMatrix *M, PetscBool symmetrize, PetscReal threshold, PetscBool *done) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode AmbAggDeviceCoarsen(AmbAggLevel *, const AggOptions *, int *rounds) SYS_STUB(PETSC_SUCCESS);

extern PetscLogEvent AMBAGG_Graph, AMBAGG_Coarsen, AMBAGG_Prolongator;

extern PetscErrorCode AmbAggCheck(MPI_Comm comm, SysStatus status, const char what[]);
extern PetscErrorCode AmbAggLevelDestroy(AmbAggLevel **);

/* The graph of a matrix; of each block only the rows and columns index[] count, or all if nindex is 0 */
extern PetscErrorCode AmbAggLevelCreate(Mat A, PetscBool symmetrize, PetscReal threshold, PetscInt nindex, const PetscInt index[], AmbAggLevel **);

/* The aggregates of the graph */
extern PetscErrorCode AmbAggLevelCoarsen(AmbAggLevel *, const AggOptions *);

/* As lists of PETSc. With a matrix to PetscCDSetMat(), which has a column for each member that belongs to another process. */
extern PetscErrorCode AmbAggLevelLists(const AmbAggLevel *, PetscCoarsenData **);

/* The tentative prolongator for nvec vectors of the near-null space, which follow each other in data[]; *coarse becomes these of the coarse level. *P becomes
   NULL if there are no aggregates. */
extern PetscErrorCode AmbAggLevelProlongator(const AmbAggLevel *, Mat A, PetscInt nvec, const PetscReal data[], PetscReal **coarse, Mat *P);
