/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include "ksp/ksp/impls/ambksp/ambksp.h"

/* Returns the norm of the residual, from z.r, z.z and r.r */
PetscReal KSPAMBCGNorm(KSP, const SysReal sums[]);

/* Returns whether the iteration that ends as number its computes the norm */
PetscBool KSPAMBCGNormWanted(KSP, PetscInt its);

/* Before each direction, sets the reason if the iteration has found the solution, or an indefinite preconditioner */
PetscErrorCode KSPAMBCGCheckBeta(KSP, PetscInt i, PetscReal beta, PetscReal betaold);

/* The operation matsolve, and the end of its data */
PetscErrorCode KSPMatSolve_AMBCG(KSP, Mat B, Mat X);
PetscErrorCode KSPAMBCGBlockClear(KSPAMB *);
