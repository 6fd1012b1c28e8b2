/* SPDX-License-Identifier: BSD-2-Clause */
/*
   GMRES and flexible GMRES on passes over the basis: the common part of the solves on host and device
*/
#pragma once

#include "ksp/ksp/impls/ambksp/ambksp.h"
#include "ksp/ksp/impls/fused/fusedbasis.h"
#include "ksp/ksp/impls/fused/fusedhessenberg.h"

#define KSPAMBGMRES_WORK    3   /* vectors in ksp->work, at least */
#define KSPAMBGMRES_RESTART 256 /* vectors of the basis on a device, at most */

struct _KSPAMBGMRES {
  PetscInt        restart, n;
  PetscInt        columns;  /* of the triangular matrix, from the current cycle */
  PetscInt        nv, nz;   /* vectors made so far */
  PetscBool       modified; /* modified Gram-Schmidt */
  int             refine;   /* classical Gram-Schmidt: 0 never, 1 if needed, 2 always */
  PetscBool       flexible; /* the preconditioned basis is stored */
  PetscReal       rnorm0;   /* at the start of the cycle */
  FusedHessenberg small;
  SysReal        *memory, *sums, *y; /* of the triangular matrix and the other numbers */

  /* On the host */
  Vec            *v, *z; /* the basis, and the preconditioned one */
  const SysReal **at, **zat;
  FusedBasisHost  host;

  /* On a device */
  struct _FusedBasisDevice *device;
  struct _KSPAMBGMRESQueue *queue; /* of a solve */
  KSP                       ksp;
  PetscMPIInt               nproc;
  PetscBool                 running;      /* the vectors of the basis are not yet in the solution */
  PetscBool                 given, right; /* PCApply() applies the preconditioner; from the right */
  PetscBool                 begins;       /* the start that is queued is the first one */
};

/* Gets PETSc's orthogonalisation: known if petsc-amb has it; modified Gram-Schmidt, or the refinement of the classical one */
PetscErrorCode KSPAMBGMRESGetOrthogonalization(KSP, PetscBool *known, PetscBool *modified, int *refine);

/* Gets the context for vectors of n entries and the restart of this KSP, and the way to orthogonalise */
PetscErrorCode KSPAMBGMRESGet(KSP, KSPAMB *, struct _KSPAMBGMRES **);
PetscErrorCode KSPAMBGMRESClear(KSPAMB *);

/* Ends: the last rotation does not exist; the triangular matrix is singular in row k; the recurrence was wrong about the residual; the residual is 0 in a happy
   breakdown, but the test does not hold */
PetscErrorCode KSPAMBGMRESNull(KSP);
PetscErrorCode KSPAMBGMRESSingular(KSP, PetscInt k);
PetscErrorCode KSPAMBGMRESFar(KSP, PetscReal recurrence, PetscReal computed, PetscReal start);
PetscErrorCode KSPAMBGMRESHappy(KSP, PetscBool flexible, PetscReal norm);

/* Shows a norm to histories and monitors; at the end of a cycle of `its` iterations only if no other cycle follows, which shows it */
PetscErrorCode KSPAMBGMRESShow(KSP, PetscReal norm);
PetscErrorCode KSPAMBGMRESShowLast(KSP, PetscBool flexible, PetscInt its, PetscReal norm);

/* Adds the vectors of the basis, by the triangular matrix, to the guess */
PetscErrorCode KSPAMBGMRESBuild(KSP, KSPAMB *, Vec guess, Vec solution);
PetscErrorCode KSPAMBGMRESSolve(KSP, KSPAMB *);

SYS_DEVICE PetscErrorCode KSPAMBGMRESSolveDevice(KSP ksp, KSPAMB *amb) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode KSPAMBGMRESBuildDevice(KSP ksp, KSPAMB *amb, Vec solution) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode KSPAMBGMRESDeviceClear(struct _KSPAMBGMRES *gmres) SYS_STUB(PETSC_SUCCESS);
