/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The device's side of VecGetTop()
*/
#pragma once

#include <petscvec.h>

#include "sys/systypes.h"
#include "sys/syscuda.h"

/* Gets the k largest local entries and their places, as GraphTop(), if x is on a GPU and k is small against its length. The stub does not write its
   results: callers initialize done with PETSC_FALSE. */
SYS_DEVICE PetscErrorCode VecTopDevice(Vec x, PetscMPIInt k, int64_t place[], PetscReal value[], PetscBool *done) SYS_STUB(PETSC_SUCCESS);
