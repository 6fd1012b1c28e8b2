/* SPDX-License-Identifier: BSD-2-Clause */
/*
   What the KSP types of petsc-amb share. Each extends a type of PETSc: it has the operations of that type, but for the solve, which runs on fused passes where
   these can serve, and is PETSc's own where they cannot.
*/
#pragma once

#include <petsc/private/kspimpl.h>
#include <petsc/private/vecimpl.h>
#include <petsc/private/pcimpl.h>

#include "sys/syscompat.h"
#include "sys/syscuda.h"
#include <petscamb.h>
#include "ksp/ksp/impls/fused/fusedhost.h"

typedef struct _KSPAMB KSPAMB;

/* A set-up of a preconditioner, and the side that has its numbers */
typedef struct {
  const void      *side; /* NULL: there is none */
  PetscObjectId    pc, P;
  PetscObjectState state; /* of P */
  PetscInt         n, bs;
  FusedKind        kind;
  PCJacobiType     type; /* PETSc's Jacobi: its options, which decide about its numbers. An address would differ between processes, and may come again. */
  PetscBool        jacobi, useabs, fixdiagonal;
} KSPAMBKept;

/* The most steps of PETSc's polynomials of the optimized fourth kind */
#define KSPAMB_DEGREE 16

struct _KSPAMB {
  struct _KSPOps base;    /* the operations of PETSc's type */
  KSPType        extends; /* that type */
  PetscErrorCode (*solve)(KSP, KSPAMB *);
  PetscErrorCode (*solvedevice)(KSP, KSPAMB *);           /* the same with vectors on a GPU, or NULL */
  PetscErrorCode (*serves)(KSP, KSPAMB *, const char **); /* says why neither of them can make a solve; NULL: nothing speaks against it */
  PetscErrorCode (*prepare)(KSP, KSPAMB *);               /* before PETSc's own solve, or NULL */
  PetscErrorCode (*clear)(KSPAMB *);                      /* destroys what the method has, or NULL */
  const char *reason;                                     /* why the last solve was PETSc's own; NULL if it was not */
  PetscBool   anypc;                                      /* the device applies any preconditioner by PCApply() */
  PetscBool   fused;                                      /* the solve that runs, or the last one, is the one on fused passes */

  /* For that solve */
  const FusedKernels *kernels;
  FusedHost           host;
  FusedKind           kind; /* of the preconditioner */
  PetscInt            bs;
  SysReal            *d; /* as in FusedPass */
  size_t              size;
  PetscMPIInt         nproc;
  PetscObjectId       room; /* the matrix for which all processes have memory; 0: none */
  PetscInt            room_bs;
  FusedKind           room_kind;
  PetscBool           poison; /* the set-up of the preconditioner failed on this process */
  PetscBool           keep;   /* d is made once for each set-up of the preconditioner, and not in every solve */
  KSPAMBKept          kept;   /* what d was made of */

  /* For the solve on a GPU */
  struct _FusedDevice *device;
  Vec                  diagonal; /* the numbers of the preconditioner, as in FusedPass */
  PetscInt             length;   /* iterations that are queued together */
  PetscInt             replayed; /* how often a recorded piece of the last solve was run */

  /* CG */
  PetscBool single;                            /* the form with a single reduction */
  PetscReal radius, target;                    /* of a trust region, of the objective function: only PETSc's own solve knows these */
  PetscReal objective;                         /* 1/2 x'Ax - x'b */
  PetscErrorCode (*usesingle)(KSP, PetscBool); /* PETSc's own setters */
  PetscErrorCode (*setradius)(KSP, PetscReal);
  PetscErrorCode (*settarget)(KSP, PetscReal);
  PetscErrorCode (*getobjective)(KSP, PetscReal *);

  /* Chebyshev */
  PetscBool local;                                             /* the method makes no sums over processes */
  PetscBool sweeps;                                            /* the caller of KSPAMBServes() applies PCSOR itself */
  PetscBool bounds;                                            /* scale, and quarter or the roots, are known */
  PetscBool fourth, optimized;                                 /* polynomials of the fourth kind, of the optimized fourth kind */
  PetscReal scale, quarter;                                    /* of the preconditioner; a quarter of alpha^2, where scaled eigenvalues lie between 1 - alpha and 1 + alpha */
  PetscInt  most, degree, nroot;                               /* optimized fourth kind: steps of the set-up, steps that the roots are for, roots */
  PetscReal root[KSPAMB_DEGREE];                               /* of the factor of the residual, as multiples of the upper bound, in the order of steps */
  PetscErrorCode (*seteigenvalues)(KSP, PetscReal, PetscReal); /* PETSc's own setters */
  PetscErrorCode (*setestimate)(KSP, PetscReal, PetscReal, PetscReal, PetscReal);

  /* GMRES, flexible or not */
  struct _KSPAMBGMRES             *gmres;
  const struct _FusedBasisKernels *basis;
  PetscBool                        isflexible, prepared; /* prepared: PETSc's own set-up has been called */
  PetscReal                        haptol, breakdowntol;
  PetscErrorCode (*sethaptol)(KSP, PetscReal); /* PETSc's own setters */
  PetscErrorCode (*setbreakdowntol)(KSP, PetscReal);
  PetscErrorCode (*setmodifypc)(KSP, PetscErrorCode (*)(KSP, PetscInt, PetscInt, PetscReal, void *), void *, PetscErrorCode (*)(void *));
  PetscErrorCode (*modifypc)(KSP, PetscInt, PetscInt, PetscReal, void *); /* of the program; NULL: the preconditioner does not change */
  void     *modifyctx;
  PetscBool modifyowned; /* KSPReset() destroys the context */

  /* BiCGStab */
  Vec guess; /* the initial guess, which the solution leaves out with a preconditioner from the right */
};

/* Are the operations of a vector those that passes stand for, PETSc's own? */
PetscBool KSPAMBVecPlain(const struct _VecOps *ops, const struct _VecOps *petsc);

/* Sets *owns to PETSC_FALSE if VecReplaceArray() may not replace the array of v, a vector of a solve on the host */
extern PetscErrorCode KSPAMBVecOwnsArray(Vec v, PetscBool *owns);

/* Makes a KSP the PETSc type of that name, and then a type that extends it */
PetscErrorCode KSPAMBExtend(KSP, KSPType, PetscErrorCode (*solve)(KSP, KSPAMB *), KSPAMB **);
PetscErrorCode KSPAMBGet(KSP, KSPAMB **);

/* May a solve run on passes? Says why not, or sets solve. All processes come to the same answer. */
PetscErrorCode KSPAMBServes(KSP, KSPAMB *, const char **why, PetscErrorCode (**solve)(KSP, KSPAMB *));

/* The operation solve of all types of petsc-amb */
PetscErrorCode KSPSolve_AMB(KSP);

/* Runs a pass on these vectors, with so many operations for each entry. KSPAMB_WRITES() of vectors says which ones the pass writes. The sums are those of this
   process. */
#define KSPAMB_WRITES(vector) (1U << FUSED_##vector)
PetscErrorCode KSPAMBRun(KSP, KSPAMB *, FusedFunction, FusedPass *, const Vec v[FUSED_VECTORS], unsigned written, int flops, SysReal sums[FUSED_SUMS]);

/* The event of a pass that KSPAMBRun() does not run */
PetscErrorCode KSPAMBPassBegin(KSP);
PetscErrorCode KSPAMBPassEnd(KSP);

/* Finds out whether passes can apply the preconditioner, and sets kind and bs */
PetscErrorCode KSPAMBCheckPC(KSP, KSPAMB *);

/* Are the numbers of the preconditioner on this side still those of its last set-up? If not, takes note that they will be. */
PetscErrorCode KSPAMBKeeps(KSP, KSPAMB *, const void *side, PetscInt n, PetscBool *same);

/* Says why the device cannot make a solve with vectors on a GPU, or sets solve. The numbers of the preconditioner are made in ksp->work. */
SYS_DEVICE PetscErrorCode KSPAMBDeviceServes(KSP ksp, KSPAMB *amb, const char **why, PetscErrorCode (**solve)(KSP, KSPAMB *)) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode KSPAMBDeviceGetPC(KSP ksp, KSPAMB *amb, PetscInt n, const SysReal **d) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode KSPAMBDeviceClear(KSPAMB *amb) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode KSPAMBCGSolveDevice(KSP ksp, KSPAMB *amb) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode KSPAMBBCGSSolveDevice(KSP ksp, KSPAMB *amb) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode KSPAMBChebyshevSolveDevice(KSP ksp, KSPAMB *amb) SYS_STUB(PETSC_SUCCESS);

/* Adds n sums over all processes */
PetscErrorCode KSPAMBReduce(KSP, const KSPAMB *, PetscInt n, SysReal sums[]);

/* The same in two steps, between which the processes may work */
PetscErrorCode KSPAMBReduceBegin(KSP, const KSPAMB *, PetscInt n, SysReal sums[], MPI_Request *);
PetscErrorCode KSPAMBReduceEnd(KSP, const KSPAMB *, MPI_Request *);

/* Fills v with infinities if the set-up of the preconditioner failed here, so that the next norm is none on all processes */
PetscErrorCode KSPAMBPoison(const KSPAMB *, Vec v);

/* The residual of the start: b - A x, or b */
PetscErrorCode KSPAMBResidual(KSP, Mat, Vec r);

/* Shows the norm of an iteration to histories, monitors and the test */
PetscErrorCode KSPAMBTest(KSP, PetscInt its, PetscReal norm);

/* CG on the host and on a device: the objective function 1/2 x'Ax - x'b at the start, for the PETSc versions that can be asked for it; the ends without a solution.
   old is the number of the iteration before. */
PetscErrorCode KSPAMBCGObjective(KSP, KSPAMB *, Vec r);
PetscErrorCode KSPAMBCGZero(KSP);
PetscErrorCode KSPAMBCGIndefinitePC(KSP, PetscReal beta, PetscReal old);
PetscErrorCode KSPAMBCGIndefiniteMat(KSP, PetscReal dpi, PetscReal old);

/* Registers a type that extends one of PETSc's, and in the place of that one chosen(), which calls KSPAMBCreateChosen(). With -petscamb_for_ksp that is the new type, and on
   GPUs without the option if it is a smoother. */
PetscErrorCode KSPAMBRegister(void);
PetscErrorCode KSPAMBRegisterType(KSPType own, KSPType petsc, PetscErrorCode (*create)(KSP), PetscErrorCode (*chosen)(KSP));

/* Creates a solver of PETSc's type by create() if the options say so, or else by PETSc's constructor */
PetscErrorCode KSPAMBCreateChosen(KSP, KSPType petsc, PetscBool smoother, PetscErrorCode (*create)(KSP));
