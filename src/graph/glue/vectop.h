/* SPDX-License-Identifier: BSD-2-Clause */
/*
   The device's side of VecGetTop()
*/
#pragma once

#include <petscvec.h>

#include "sys/systypes.h"
#include "sys/syscuda.h"

/* The k greatest of the local entries and their places, as GraphTop() gives them, if x is on a GPU and k is small beside its length. The stub does not write to its results: the caller
   initializes done with PETSC_FALSE. */
SYS_DEVICE PetscErrorCode VecTopDevice(Vec x, PetscMPIInt k, int64_t place[], PetscReal value[], PetscBool *done) SYS_STUB(PETSC_SUCCESS);
