/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include "ksp/ksp/impls/ambksp/ambksp.h"

/* BiCGStab on the host and on a device: the residual of the start, with the preconditioner from the left; the guess, which the iterations leave out with a
   preconditioner from the right, and which is added at the end; the ends without a solution, and the one with t = 0 */
PetscErrorCode KSPAMBBCGSStart(KSP, KSPAMB *, const Vec v[]);
PetscErrorCode KSPAMBBCGSFinish(KSP, KSPAMB *, const Vec v[]);
PetscErrorCode KSPAMBBCGSFail(KSP, const char error[], const char info[]);
PetscErrorCode KSPAMBBCGSLast(KSP, PetscInt i, PetscReal rr, PetscReal alpha, Vec p, PetscReal dp);
