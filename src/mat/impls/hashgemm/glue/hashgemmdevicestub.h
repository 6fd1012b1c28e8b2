/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Products on the device, as the other files of this folder call them. In a PETSc without a device these functions do nothing: no matrix is on a device, no
   product has data for one, and a flag for what the device has made remains PETSC_FALSE, as the caller sets it.
*/
#pragma once

#include "mat/impls/hashgemm/glue/hashgemm.h"

#if defined(MAT_SHADOW_HAVE_DEVICE)
  #define HASHGEMM_DEVICE extern
  #define HASHGEMM_STUB(value)
#else
  #define HASHGEMM_DEVICE static inline
  #define HASHGEMM_STUB(value) \
    { \
      return value; \
    }
#endif

/* Are the values of a sequential matrix used on the device? */
HASHGEMM_DEVICE PetscBool HashGEMMOnDevice(Mat A) HASHGEMM_STUB(PETSC_FALSE);

/* Matrices on one process. *done is PETSC_FALSE if the host has to do the work, for want of memory or for another reason. */
HASHGEMM_DEVICE PetscErrorCode HashGEMMDeviceLook(Mat A, uint64_t *fingerprint, int *ascending, PetscBool *done) HASHGEMM_STUB(PETSC_SUCCESS);
HASHGEMM_DEVICE PetscErrorCode HashGEMMDeviceSymbolic(Mat C, SpgemmType type, HashGEMMProduct *p, PetscBool *done) HASHGEMM_STUB(PETSC_SUCCESS);
HASHGEMM_DEVICE PetscErrorCode HashGEMMDeviceNumeric(Mat C, HashGEMMProduct *p) HASHGEMM_STUB(PETSC_SUCCESS);
HASHGEMM_DEVICE PetscErrorCode HashGEMMDeviceDestroy(HashGEMMProduct *p) HASHGEMM_STUB(PETSC_SUCCESS);

/* A result that the host has made: its values; the whole of it; blocks that C is about to take from W */
HASHGEMM_DEVICE PetscErrorCode HashGEMMDeviceHostWrote(Mat C) HASHGEMM_STUB(PETSC_SUCCESS);
HASHGEMM_DEVICE PetscErrorCode HashGEMMDeviceSettle(Mat C) HASHGEMM_STUB(PETSC_SUCCESS);
HASHGEMM_DEVICE PetscErrorCode HashGEMMDeviceConvert(Mat C, Mat W) HASHGEMM_STUB(PETSC_SUCCESS);

/* The local product of MPI matrices. Without q->device the host makes it: each process decides that for itself, and exchanges the same with others. */
HASHGEMM_DEVICE PetscErrorCode HashGEMMDeviceParallelCreate(Mat C, Mat A, Mat B, const HashGEMMProduct *p, HashGEMMParallel *q) HASHGEMM_STUB(PETSC_SUCCESS);
HASHGEMM_DEVICE PetscErrorCode HashGEMMDeviceParallelDestroy(HashGEMMParallel *q) HASHGEMM_STUB(PETSC_SUCCESS);
HASHGEMM_DEVICE PetscErrorCode HashGEMMDeviceMakeLeft(Mat A, PetscBool square, HashGEMMParallel *q) HASHGEMM_STUB(PETSC_SUCCESS);
HASHGEMM_DEVICE PetscErrorCode HashGEMMDeviceMakeRight(Mat B, PetscInt nknown, const PetscInt map[], HashGEMMParallel *q, PetscBool *done) HASHGEMM_STUB(PETSC_SUCCESS);
HASHGEMM_DEVICE PetscErrorCode HashGEMMDeviceRightBegin(Mat B, HashGEMMParallel *q, const PetscScalar **here) HASHGEMM_STUB(PETSC_SUCCESS);
HASHGEMM_DEVICE PetscErrorCode HashGEMMDeviceRightEnd(HashGEMMParallel *q) HASHGEMM_STUB(PETSC_SUCCESS);
HASHGEMM_DEVICE PetscErrorCode HashGEMMDeviceMakeResult(Mat C, SpgemmType type, HashGEMMParallel *q, PetscBool *done) HASHGEMM_STUB(PETSC_SUCCESS);
HASHGEMM_DEVICE PetscErrorCode HashGEMMDeviceRenewResult(HashGEMMParallel *q) HASHGEMM_STUB(PETSC_SUCCESS);
HASHGEMM_DEVICE PetscErrorCode HashGEMMDeviceTakeValues(PetscInt m, HashGEMMParallel *q) HASHGEMM_STUB(PETSC_SUCCESS);
HASHGEMM_DEVICE PetscErrorCode HashGEMMDeviceCut(Mat C, HashGEMMParallel *q) HASHGEMM_STUB(PETSC_SUCCESS);
