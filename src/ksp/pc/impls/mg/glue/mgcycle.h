/* SPDX-License-Identifier: BSD-2-Clause */
/*
   A cycle of PCMG as a list of steps, which the host makes out of PETSc's objects at each application. The device runs the list. If the same list comes out again and
   again, it is recorded as a CUDA graph and replayed.
*/
#pragma once

#include <petsc/private/pcmgimpl.h>

#include "mat/factor/glue/sor.h"
#include "ksp/ksp/impls/ambchebyshev/ambchebyshev.h"

typedef enum {
  MG_CYCLE_PRODUCT, /* z = alpha A x + y, or alpha A x without a y; A or its transpose */
  MG_CYCLE_PASS,    /* of a smoother: FusedKernels.chebyshev of a, b, c and the vectors v */
  MG_CYCLE_SWEEP,   /* of a smoother: v[FUSED_X] = a times the sweep of SOR by color over x, from a guess of zero, + b v[FUSED_P] + c v[FUSED_Z]; or a sweep from the guess v[FUSED_X] */
  MG_CYCLE_REMOVE,  /* of a smoother whose operator has constants as its null space: v[FUSED_X] = a (x - the mean of x) + b v[FUSED_P] + c v[FUSED_Z] */
  MG_CYCLE_COARSEST /* z = the inverse of the coarsest operator times x */
} MGCycleKind;

typedef struct {
  MGCycleKind   kind;
  Mat           A;
  PetscBool     transpose;
  PetscReal     alpha;
  Vec           x, y, z;
  KSP           smoother;
  PetscReal     a, b, c;
  Vec           v[FUSED_VECTORS];
  MatSORAMBCall call; /* of a sweep */
} MGCycleStep;

typedef enum {
  MG_CYCLE_PETSC,   /* PETSc's own */
  MG_CYCLE_QUEUED,  /* step by step */
  MG_CYCLE_REPLAYED /* as a graph */
} MGCycleWay;

/* Of a PC, attached to it */
typedef struct {
  PetscErrorCode (*apply)(PC, Vec, Vec); /* PETSc's own */
  const char            *reason;         /* why the last application was PETSc's own; NULL if it was not */
  PetscInt               applied[3];     /* applications of each MGCycleWay */
  MGCycleStep           *step;
  PetscInt               nstep, room;
  PetscObjectId          id; /* of the coarsest operator; other levels have another one */
  PetscObjectState       state;
  PetscInt               waited;   /* applications with it before the inverse is computed */
  PetscInt               at_once;  /* rows of a coarsest operator that is inverted without waiting */
  PetscInt               most;     /* rows of the coarsest operator that a process has, at most */
  Vec                    inverse;  /* of the rows of the coarsest operator that this process has, row by row */
  PetscBool              inverted; /* the inverse belongs to this state */
  PetscBool              regular;  /* and can be used */
  PetscBool              constant; /* constants are the null space of the coarsest operator: the inverse is one for right-hand sides without a mean, and has none */
  PetscObjectId          scaled;   /* a smoother of the type KSPRICHARDSON that has a scale */
  struct _MGCycleDevice *device;
} MGCycle;

PetscErrorCode MGCycleGet(PC, MGCycle **);

/* Makes the steps of x = cycle of b, or says why there are none. Collective: all processes have the same steps. */
PetscErrorCode MGCycleBuild(PC, MGCycle *, Vec b, Vec x, const char **why);

/* Makes the halos of all products of several processes, so that the first application on GPUs has them */
SYS_DEVICE PetscErrorCode MGCycleExpectDevice(const MGCycle *c) SYS_STUB(PETSC_SUCCESS);

/* Returns whether callbacks or views see each solve of a smoother */
static inline PetscBool MGCycleWatched(KSP ksp)
{
  const PetscBool views = (PetscBool)(ksp->view || ksp->viewPre || ksp->viewRate || ksp->viewMat || ksp->viewPMat || ksp->viewRhs || ksp->viewSol || ksp->viewMatExp || ksp->viewEV || ksp->viewSV || ksp->viewEVExp || ksp->viewFinalRes || ksp->viewPOpExp);

#if !PETSC_VERSION_LT(3, 22, 0)
  if (ksp->convergedreasonviewer) return PETSC_TRUE;
#endif
  return (PetscBool)(views || ksp->numbermonitors || ksp->numberreasonviews || ksp->presolve || ksp->postsolve || ksp->guess || ksp->guess_knoll);
}

/* Cycles with several right-hand sides on the host: PCMatApply(), and solvers that use panels */
PetscErrorCode MGBlockCompose(PC);

/* Sets *why if the last cycle with several right-hand sides was PETSc's own */
PetscErrorCode MGBlockGetReason(PC, const char **why);

/* If there is a reason on one process, there is one on all of them */
PetscErrorCode MGCycleAgree(PC, const char **why);

/* Applies the cycle with vectors on a GPU, and sets why to NULL; or says why it does not */
SYS_DEVICE PetscErrorCode MGCycleApplyDevice(PC pc, MGCycle *c, Vec b, Vec x, const char **why) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode MGCycleDestroyDevice(MGCycle *c) SYS_STUB(PETSC_SUCCESS);
