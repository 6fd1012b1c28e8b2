/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The type "ambagg" of PCGAMG, and a coarsener: PETSc's matrices on the one side, the kernels of agghost.h on the other
*/
#pragma once

#include <petscsf.h>

#include "mat/shadow/core/shadow.h"
#include "ksp/pc/impls/gamg/cuda/aggcuda.h"
#include "ksp/pc/impls/gamg/host/agghost.h"
#include "ksp/pc/impls/gamg/glue/aggcompat.h"

/* The exchange between devices */
typedef struct _AmbAggHalo AmbAggHalo;

/* A level that is being coarsened: its vertices, their graph, and their aggregates. The graph is on the device, or on the host. */
typedef struct {
  MPI_Comm    comm;
  PetscMPIInt size;
  Mat         A; /* the matrix, of these blocks, of which only the rows and columns index[] count, or all if nindex is 0 */
  PetscInt    bs, nindex, *index;
  PetscInt    depth; /* 0 is the finest level */
  PetscBool   symmetrize;
  PetscReal   threshold;
  PetscInt    n, first, nghost, *ghosts; /* vertices of this process, the global numbers of the first one and of the ghosts */
  PetscInt   *ghost;                     /* of AggMatrix */
  PetscSF     sf;                        /* from vertices to ghosts; NULL on one process */
  AggGraph    graph;
  AggDevice  *device; /* the graph and the aggregates on the device of each process, or NULL if they are on the host */
  AmbAggHalo *halo;   /* NULL on one process, or on the host */
  AggExchange exchange;
  PetscInt   *join;                /* as from AggAggregate(); NULL if the device has it */
  PetscInt   *aggregate;           /* the global number of the aggregate of each vertex and ghost, or -1; NULL if the device has it */
  PetscInt    nagg, firstagg, all; /* aggregates with a root on this process, their first number, and the number of all aggregates */
} AmbAggLevel;

/* On a device, if the matrix is there. *done is PETSC_FALSE if the host has to do the work: of the aggregates too if there is no memory for them. All processes
   have the same result. */
SYS_DEVICE PetscErrorCode AmbAggOnDevice(Mat, PetscBool *on) SYS_STUB(PETSC_SUCCESS); /* is the matrix there? */
SYS_DEVICE PetscErrorCode AmbAggDeviceTrim(Mat) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode AmbAggDeviceGraph(AmbAggLevel *, PetscBool *done) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode AmbAggDeviceCoarsen(AmbAggLevel *, const AggOptions *, int *rounds, PetscBool *done) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode AmbAggDeviceFetch(AmbAggLevel *) SYS_STUB(PETSC_SUCCESS); /* copies the aggregates to the host */
SYS_DEVICE PetscErrorCode AmbAggDeviceFactor(AmbAggLevel *, PetscInt nvec, const PetscReal data[], PetscReal **coarse, PetscBool *done) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode AmbAggDeviceDestroy(AmbAggLevel *) SYS_STUB(PETSC_SUCCESS);

/* The prolongator (I + alpha D^-1 A) P of the tentative prolongator P of AmbAggDeviceFactor(), or P if alpha is 0. It has no entries until the second function gives it those
   in entries[], arrays on the device that last as long as the level or move to the matrix; the caller may set its format in between. */
SYS_DEVICE PetscErrorCode AmbAggDeviceProlongator(AmbAggLevel *, PetscInt nvec, PetscReal alpha, SysCSR entries[2], Mat *, PetscBool *done) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode AmbAggDeviceSetEntries(AmbAggLevel *, Mat, SysCSR entries[2]) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode AmbAggDeviceNoise(Vec) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode AmbAggDeviceZeros(Mat, PetscBool *zeros) SYS_STUB(PETSC_SUCCESS); /* are there zeros on the diagonal? */

extern PetscLogEvent AMBAGG_Graph, AMBAGG_Coarsen, AMBAGG_Prolongator;

/* Collective: an error of one process is an error of all */
extern PetscErrorCode AmbAggCheck(MPI_Comm comm, SysStatus status, const char what[]);
extern PetscErrorCode AmbAggLevelDestroy(AmbAggLevel **);

/* Sends each cut edge, transposed, to the owner of its ghost end, and receives such edges, with global numbers; the edges of a row come in ascending order
   of their columns */
extern PetscErrorCode AmbAggSwapEdges(const AmbAggLevel *, PetscInt n, const AggEdge cut[], PetscInt *ncome, AggEdge **come);

/* The graph of a matrix; of each block only the rows and columns index[] count, or all if nindex is 0 */
extern PetscErrorCode AmbAggLevelCreate(Mat A, PetscBool symmetrize, PetscReal threshold, PetscInt nindex, const PetscInt index[], AmbAggLevel **);

/* The aggregates of the graph */
extern PetscErrorCode AmbAggLevelCoarsen(AmbAggLevel *, const AggOptions *);

/* Brings join[] and aggregate[] to the host */
extern PetscErrorCode AmbAggLevelFetch(AmbAggLevel *);

/* As lists of PETSc. With a matrix to PetscCDSetMat(), which has a column for each member that belongs to another process. */
extern PetscErrorCode AmbAggLevelLists(AmbAggLevel *, PetscCoarsenData **);

/* The tentative prolongator P for nvec vectors of the near-null space, which follow each other in data[], or (I + alpha D^-1 A) P if alpha is not 0, which is for one
   process; *coarse becomes the vectors of the coarse level. *P becomes NULL if there are no aggregates. */
extern PetscErrorCode AmbAggLevelProlongator(AmbAggLevel *, PetscInt nvec, const PetscReal data[], PetscReal alpha, PetscReal **coarse, Mat *P);

/* Begins or ends the log events of prolongator smoothing, the level's own included */
extern PetscErrorCode AmbAggLogSmoothing(const AmbAggLevel *, PetscBool begin);

/* P of a type of PETSc gets the type, the format and the block sizes that a prolongator of A has */
extern PetscErrorCode AmbAggInherit(Mat A, PetscInt bs, PetscInt nvec, Mat *P);

/* The extreme eigenvalues of D^-1 A, by the solver of -pc_gamg_esteig_ */
extern PetscErrorCode AmbAggEstimate(PC, const AmbAggLevel *, PetscReal *emin, PetscReal *emax);

/* The extreme singular values of the first rows and columns of h[], an array of AGG_H(), by rotations between columns. h[] is destroyed. */
extern void AmbAggSingularValues(int rows, int columns, SysReal h[], PetscReal *emin, PetscReal *emax);

/* The extreme singular values of Arnoldi's matrix, up to the step that found no new vector, if there was one. Returns PETSC_FALSE if one is infinite or NaN. */
extern PetscBool AmbAggArnoldiValues(SysReal h[], PetscReal *emin, PetscReal *emax);

/* The matrix of AGG_STEPS steps for D^-1 A on the device, an array of AGG_H(): Arnoldi's or, if spd, the tridiagonal one of conjugate gradients. Only the matrix, size and communicator of the
   level count. *done is PETSC_FALSE if conjugate gradients break down, or memory is short. */
SYS_DEVICE PetscErrorCode AmbAggDeviceKrylov(const AmbAggLevel *, PetscBool spd, SysReal h[], PetscBool *done) SYS_STUB(PETSC_SUCCESS);

/* KSPAMBEstimateSteps() of smoothers */
extern PetscErrorCode AmbAggEstimateSteps(Mat A, PetscBool spd, PetscScalar t[], PetscBool *done);

/* Sets up Jacobi's method for A on the device, without PETSc's loop on the host that replaces zeros of the diagonal by 1 if there are none */
extern PetscErrorCode AmbAggSetJacobi(PC jacobi, Mat A);
