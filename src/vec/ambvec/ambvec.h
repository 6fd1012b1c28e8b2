/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Operations of PETSc's vectors on a GPU that petsc-amb replaces, on vectors that have been in a product of its matrices: sums in which the host waits less, and an
   update in one kernel
*/
#pragma once

#include <petscamb.h>
#include <petsc/private/vecimpl.h>

#include "sys/syscuda.h"

extern PetscErrorCode VecAMBRegister(void);

/* Gets PETSc's operations of the vectors of a type */
extern PetscErrorCode VecAMBGetOperations(VecType type, struct _VecOps *ops);

/* Sets *is if the operations of v run on a GPU */
SYS_DEVICE PetscErrorCode VecAMBOnDevice(Vec v, PetscBool *is) SYS_STUB(PETSC_SUCCESS);

/* Replaces the operations of a vector on a GPU that are PETSc's, unless the user forbade it; keeps operations that the program has set */
SYS_DEVICE PetscErrorCode VecAMBSetOperations(Vec v) SYS_STUB(PETSC_SUCCESS);

/* Restores PETSc's operations in a copy of the operations of a vector */
SYS_DEVICE PetscErrorCode VecAMBRestoreOperations(PetscBool mpi, struct _VecOps *ops) SYS_STUB(PETSC_SUCCESS);

SYS_DEVICE PetscErrorCode VecAMBEnd(void) SYS_STUB(PETSC_SUCCESS);

extern PetscBool VecAMBWanted; /* -petscamb_for_vec */
