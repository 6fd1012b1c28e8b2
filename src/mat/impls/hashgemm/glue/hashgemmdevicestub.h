/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Products on the device, as the other files of this folder call them. In a PETSc without a device these functions do nothing: no matrix is on a device, no
   product has data for one, and a flag for what the device has made remains PETSC_FALSE, as the caller sets it.
*/
#pragma once

#include "mat/impls/hashgemm/glue/hashgemm.h"

/* Matrices on one process. *done is PETSC_FALSE if the host has to do the work, for want of memory or for another reason. */
SYS_DEVICE PetscErrorCode HashGEMMDeviceLook(Mat A, uint64_t *fingerprint, int *ascending, PetscBool *done) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode HashGEMMDeviceSymbolic(Mat C, SpgemmType type, HashGEMMProduct *p, PetscBool *done) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode HashGEMMDeviceNumeric(Mat C, HashGEMMProduct *p) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode HashGEMMDeviceDestroy(HashGEMMProduct *p) SYS_STUB(PETSC_SUCCESS);

/* A result that the host has made, as a whole; blocks that C is about to take from W */
SYS_DEVICE PetscErrorCode HashGEMMDeviceSettle(Mat C) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode HashGEMMDeviceConvert(Mat C, Mat W) SYS_STUB(PETSC_SUCCESS);

/* The local product of MPI matrices. Without q->device the host makes it: each process decides that for itself, and exchanges the same with others. Where the host
   can no longer take over, *status says that memory was short and *info how many bytes were asked for: the caller ends the step with HashGEMMAgree(). */
SYS_DEVICE PetscErrorCode HashGEMMDeviceParallelCreate(Mat C, Mat A, Mat B, const HashGEMMProduct *p, HashGEMMParallel *q) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode HashGEMMDeviceParallelDestroy(HashGEMMParallel *q) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode HashGEMMDeviceMakeLeft(Mat A, PetscBool square, HashGEMMParallel *q) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode HashGEMMDeviceMakeRight(Mat B, PetscInt nknown, const PetscInt map[], HashGEMMParallel *q, PetscBool *done) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode HashGEMMDeviceRightBegin(Mat B, HashGEMMParallel *q) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode HashGEMMDeviceRightEnd(HashGEMMParallel *q) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode HashGEMMDeviceMakeResult(Mat C, SpgemmType type, const HashGEMMProduct *p, HashGEMMParallel *q, PetscBool *done) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode HashGEMMDeviceRenewResult(HashGEMMParallel *q, SpgemmInfo *info, SysStatus *status) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode HashGEMMDeviceTakeValues(PetscInt m, HashGEMMParallel *q, SpgemmInfo *info, SysStatus *status) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode HashGEMMDeviceCut(Mat C, HashGEMMParallel *q, SpgemmInfo *info, SysStatus *status) SYS_STUB(PETSC_SUCCESS);
