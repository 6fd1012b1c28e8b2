/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include "ksp/ksp/impls/ambksp/ambksp.h"

/* The iterations, on the host and on a GPU. A step makes w = A p if there is a p, and then the pass of FusedKernels.chebyshev; a, b and c are set. */
PetscErrorCode KSPAMBChebyshevIterate(KSP, KSPAMB *, PetscErrorCode (*step)(KSP, KSPAMB *, Mat, FusedPass *, const Vec v[], void *), void *ctx);

/* A step x = a M (b - A p) + b p + c z, where z is the iterate before p */
typedef struct {
  PetscReal a, b, c;
} KSPAMBChebyshevStepFactors;

/* Gets the steps of a solve of KSPCHEBYSHEV or KSPAMBCHEBYSHEV that has been set up: at most `most`; *nstep = 0 if there are more, or none */
PetscErrorCode KSPAMBChebyshevGetSteps(KSP, PetscInt most, PetscInt *nstep, KSPAMBChebyshevStepFactors step[]);

#define KSPAMB_ESTIMATE_STEPS 10 /* of an estimate of eigenvalues, PETSc's default */

/* The matrix of these steps for D^-1 A from PETSc's random vector: Arnoldi's, one row more than columns, by columns, or the tridiagonal one of conjugate gradients if definite. Collective;
   *done = PETSC_FALSE if there is none, on all processes. The preconditioner of the GPU's prolongators sets the pointer; NULL before. */
extern PetscErrorCode (*KSPAMBEstimateSteps)(Mat A, PetscBool definite, PetscScalar t[], PetscBool *done);

/* Sets *given if the object's options have this word in a name or value */
PetscErrorCode KSPAMBOptionsHave(PetscObject, const char word[], PetscBool *given);

/* Chebyshev's estimate of eigenvalues: Begin() before a set-up of PETSc's and End() after it, Created() after PETSc may have created its solver */
PetscErrorCode KSPAMBEstimateBegin(KSP, KSPAMB *);
PetscErrorCode KSPAMBEstimateCreated(KSP, KSPAMB *);
PetscErrorCode KSPAMBEstimateEnd(KSP, KSPAMB *);
