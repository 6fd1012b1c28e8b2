/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The device's side of VecShiftToSum() and VecScaleToSum()
*/
#pragma once

#include <petscvec.h>

#include "sys/systypes.h"
#include "sys/syscuda.h"

/* The operation on z, and its results */
typedef struct {
  Vec         z, where, x;
  PetscBool   scale;
  PetscReal   weight, change;
  PetscScalar sum, total;
} VecToSum;

/* Runs the operation if all vectors are on a GPU */
SYS_DEVICE PetscErrorCode VecToSumDevice(VecToSum *s, PetscBool *done) SYS_STUB((*done = PETSC_FALSE, PETSC_SUCCESS));
