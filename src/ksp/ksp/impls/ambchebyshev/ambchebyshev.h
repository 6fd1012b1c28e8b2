/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include "ksp/ksp/impls/ambksp/ambksp.h"

/* The iterations, on the host and on a GPU. A step makes w = A p if there is a p, and then the pass of FusedKernels.chebyshev; a, b and c are set. */
PetscErrorCode KSPAMBChebyshevIterate(KSP, KSPAMB *, PetscErrorCode (*step)(KSP, KSPAMB *, Mat, FusedPass *, const Vec v[], void *), void *ctx);
