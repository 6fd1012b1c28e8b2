/* SPDX-License-Identifier: BSD-2-Clause */
/*
   MATNUSSELL: what its two sides, host and device, share
*/
#pragma once

#include "mat/shadow/shadow.h"
#include "mat/impls/nus/nusparams.h"

/* What is 0, and a number of segments that is PETSC_DECIDE, is chosen */
typedef struct {
  MatNUSSELLSegmentation segmentation;
  MatNUSSELLRows         rows;
  MatNUSSELLTune         tune;
  PetscInt               c, sigma, width[2], count[2];
} NusSellParams;

extern void NusGetParams(const NusSellParams *, PetscInt n, NusParams *);

#if defined(MAT_SHADOW_HAVE_DEVICE)
extern PetscErrorCode        ConvertDevice_NUSSELL(const MatShadowCSR *, const void *params, MatShadowTune, PetscReal most, MatShadowInfo *, void **data);
extern PetscErrorCode        UpdateDevice_NUSSELL(void *data, const MatShadowCSR *, PetscBool *done);
extern PetscErrorCode        DestroyDevice_NUSSELL(void **data);
extern PetscErrorCode        RefreshDevice_NUSSELL(const void *data, MatShadowInfo *);
extern MatShadowMultFunction MultDevice_NUSSELL, MultTransposeDevice_NUSSELL;
#endif
