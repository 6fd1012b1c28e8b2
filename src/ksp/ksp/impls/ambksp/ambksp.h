/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The common part of the KSP types of petsc-amb. Each extends a type of PETSc: it has the operations of that type, except the solve, which runs on fused passes if
   they support the system and the options, and calls PETSc's solve otherwise.
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

/* A set-up of a preconditioner, and the side, host or device, that has its numbers */
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
  PetscErrorCode (*solvedevice)(KSP, KSPAMB *);             /* the same with vectors on a GPU, or NULL */
  PetscErrorCode (*supports)(KSP, KSPAMB *, const char **); /* sets *why if the type cannot solve this system; NULL if it can */
  PetscErrorCode (*prepare)(KSP, KSPAMB *);                 /* before PETSc's own solve, or NULL */
  PetscErrorCode (*clear)(KSPAMB *);                        /* destroys the method's data, or NULL */
  const char *reason;                                       /* why PETSc solved the last system; NULL if it did not */
  PetscBool   anypc;                                        /* the device applies any preconditioner by PCApply() */
  PetscBool   fused;                                        /* the solve that runs, or the last one, is the one on fused passes */

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
  PetscBool           keep;   /* each set-up of the preconditioner computes d, in place of every solve */
  KSPAMBKept          kept;   /* the set-up that d belongs to */

  /* For the solve on a GPU */
  struct _FusedDevice *device;
  Vec                  diagonal; /* the numbers of the preconditioner, as in FusedPass */
  PetscInt             length;   /* iterations queued together */
  PetscInt             replayed; /* how many times the last solve replayed its record */

  /* CG */
  PetscBool single;                            /* the form with a single reduction */
  PetscReal radius, target;                    /* of a trust region, of the objective function: only PETSc's own solve knows these */
  PetscReal objective;                         /* 1/2 x'Ax - x'b */
  PetscErrorCode (*usesingle)(KSP, PetscBool); /* PETSc's own setters */
  PetscErrorCode (*setradius)(KSP, PetscReal);
  PetscErrorCode (*settarget)(KSP, PetscReal);
  PetscErrorCode (*getobjective)(KSP, PetscReal *);
  struct _KSPAMBCGBlock *block;    /* of several right-hand sides */
  PetscInt               together; /* columns that the last KSPMatSolve() solved together, at most; 0: it solved for one after the other */

  /* Chebyshev */
  PetscBool local;                                             /* the method makes no sums over processes */
  PetscBool sweeps;                                            /* the caller of KSPAMBSupports() applies PCSOR */
  PetscBool bounds;                                            /* scale, and quarter or the roots, are known */
  PetscBool fourth, optimized;                                 /* polynomials of the fourth kind, of the optimized fourth kind */
  PetscReal scale, quarter;                                    /* of the preconditioner; a quarter of alpha^2, where scaled eigenvalues lie between 1 - alpha and 1 + alpha */
  PetscInt  most, degree, nroot;                               /* optimized fourth kind: steps of the set-up, steps that the roots are for, roots */
  PetscReal root[KSPAMB_DEGREE];                               /* of the factor of the residual, as multiples of the upper bound, in the order of steps */
  PetscErrorCode (*seteigenvalues)(KSP, PetscReal, PetscReal); /* PETSc's own setters */
  PetscErrorCode (*setestimate)(KSP, PetscReal, PetscReal, PetscReal, PetscReal);
  PetscErrorCode (*setnoisy)(KSP, PetscBool);
  PetscBool estimates, ownrhs;          /* a set-up runs; the program chose whether the estimate begins from random numbers */
  Vec       before, noise;              /* during an estimate by passes: the solver's own right-hand side, and the random one in place of it */
  PetscErrorCode (*estimatesolve)(KSP); /* operations of PETSc's solver of the estimate */
  PetscErrorCode (*estimatevalues)(KSP, PetscInt, PetscReal *, PetscReal *, PetscInt *);

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
  Vec guess; /* the initial guess; with a preconditioner from the right the solution does not contain it */
};

/* Returns PETSC_TRUE if the operations of a vector are PETSc's, which passes replace */
PetscBool KSPAMBVecPlain(const struct _VecOps *ops, const struct _VecOps *petsc);

/* Sets *owns to PETSC_FALSE if VecReplaceArray() may not replace the array of v, a vector of a solve on the host */
extern PetscErrorCode KSPAMBVecOwnsArray(Vec v, PetscBool *owns);

/* Makes a KSP the PETSc type of that name, and then a type that extends it */
PetscErrorCode KSPAMBExtend(KSP, KSPType, PetscErrorCode (*solve)(KSP, KSPAMB *), KSPAMB **);
PetscErrorCode KSPAMBGet(KSP, KSPAMB **);

/* Sets *why if no pass supports the solve, or *solve otherwise, the same on all processes */
PetscErrorCode KSPAMBSupports(KSP, KSPAMB *, const char **why, PetscErrorCode (**solve)(KSP, KSPAMB *));

/* Prepares passes: kernels, memory and the numbers of the preconditioner */
PetscErrorCode KSPAMBSetUp(KSP, KSPAMB *);

/* Computes the numbers d of a preconditioner as FusedPass has them, through two vectors on the host */
PetscErrorCode KSPAMBGetPCNumbers(PC, const FusedHost *, PetscInt bs, Vec unit, Vec column, SysReal *d);

/* The operation solve of all types of petsc-amb */
PetscErrorCode KSPSolve_AMB(KSP);

/* Runs a pass on these vectors; flops: operations an entry; written: KSPAMB_WRITES() of the vectors that the pass writes. Sets this process's sums. */
#define KSPAMB_WRITES(vector) (1U << FUSED_##vector)
PetscErrorCode KSPAMBRun(KSP, KSPAMB *, FusedFunction, FusedPass *, const Vec v[FUSED_VECTORS], unsigned written, int flops, SysReal sums[FUSED_SUMS]);

/* The event of a pass that KSPAMBRun() does not run */
PetscErrorCode KSPAMBPassBegin(KSP);
PetscErrorCode KSPAMBPassEnd(KSP);

/* Sets kind and bs: whether passes can apply the preconditioner */
PetscErrorCode KSPAMBCheckPC(KSP, KSPAMB *);

/* Sets *same if the numbers of the preconditioner on this side are current; otherwise marks them as current, and the caller computes them */
PetscErrorCode KSPAMBKeeps(KSP, KSPAMB *, const void *side, PetscInt n, PetscBool *same);

/* Sets *why if the device does not support the solve, or *solve otherwise. GetPC() computes the numbers of the preconditioner in ksp->work. */
SYS_DEVICE PetscErrorCode KSPAMBDeviceSupports(KSP ksp, KSPAMB *amb, const char **why, PetscErrorCode (**solve)(KSP, KSPAMB *)) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode KSPAMBDeviceGetPC(KSP ksp, KSPAMB *amb, PetscInt n, const SysReal **d) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode KSPAMBDeviceClear(KSPAMB *amb) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode KSPAMBCGSolveDevice(KSP ksp, KSPAMB *amb) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode KSPAMBBCGSSolveDevice(KSP ksp, KSPAMB *amb) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode KSPAMBChebyshevSolveDevice(KSP ksp, KSPAMB *amb) SYS_STUB(PETSC_SUCCESS);

/* Adds n sums over all processes */
PetscErrorCode KSPAMBReduce(KSP, const KSPAMB *, PetscInt n, SysReal sums[]);

/* The same in two steps; the processes may compute in between */
PetscErrorCode KSPAMBReduceBegin(KSP, const KSPAMB *, PetscInt n, SysReal sums[], MPI_Request *);
PetscErrorCode KSPAMBReduceEnd(KSP, const KSPAMB *, MPI_Request *);

/* Fills v with infinities if the set-up of the preconditioner failed here, so that the next norm is not finite on all processes */
PetscErrorCode KSPAMBPoison(const KSPAMB *, Vec v);

/* The residual of the start: b - A x, or b */
PetscErrorCode KSPAMBResidual(KSP, Mat, Vec r);

/* Passes the norm of an iteration to histories, monitors and the convergence test */
PetscErrorCode KSPAMBTest(KSP, PetscInt its, PetscReal norm);

/* CG on the host and on a device: the objective function 1/2 x'Ax - x'b at the start, for PETSc versions that have it, and the ends without a solution. old: the
   number of the previous iteration. */
PetscErrorCode KSPAMBCGObjective(KSP, KSPAMB *, Vec r);
PetscErrorCode KSPAMBCGZero(KSP);
PetscErrorCode KSPAMBCGIndefinitePC(KSP, PetscReal beta, PetscReal old);
PetscErrorCode KSPAMBCGIndefiniteMat(KSP, PetscReal dpi, PetscReal old);

/* Registers a type that extends one of PETSc's, and replaces the constructor of that one by chosen(), which calls KSPAMBCreateChosen(). It creates the new type with
   -petscamb_for_ksp, and without the option for smoothers on GPUs. */
PetscErrorCode KSPAMBRegister(void);
PetscErrorCode KSPAMBRegisterType(KSPType own, KSPType petsc, PetscErrorCode (*create)(KSP), PetscErrorCode (*chosen)(KSP));

/* Creates a solver of PETSc's type by create() if the options say so, or else by PETSc's constructor */
PetscErrorCode KSPAMBCreateChosen(KSP, KSPType petsc, PetscBool smoother, PetscErrorCode (*create)(KSP));
