/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Device products, for the other files of this folder. Without CUDA these functions do nothing: no matrix is on a device, no product has device data,
   and output flags stay PETSC_FALSE, as the caller sets them.
*/
#pragma once

#include "mat/impls/hashgemm/glue/hashgemm.h"

/* Matrices on one process. *done == PETSC_FALSE: the host computes, for lack of memory or another reason. */
SYS_DEVICE PetscErrorCode HashGEMMDeviceLook(Mat A, uint64_t *fingerprint, int *ascending, PetscBool *done) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode HashGEMMDeviceSymbolic(Mat C, SpgemmType type, HashGEMMProduct *p, PetscBool *done) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode HashGEMMDeviceNumeric(Mat C, HashGEMMProduct *p) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode HashGEMMDeviceDestroy(HashGEMMProduct *p) SYS_STUB(PETSC_SUCCESS);

/* Settle: a complete result of the host; Convert: blocks that C is about to take from W */
SYS_DEVICE PetscErrorCode HashGEMMDeviceSettle(Mat C) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode HashGEMMDeviceConvert(Mat C, Mat W) SYS_STUB(PETSC_SUCCESS);

/* The local product of MPI matrices. Without q->device the host computes; each process decides alone, and the exchanged data are the same. Where the
   host cannot take over any more, *status reports the shortage and *info the bytes requested; the caller ends the step with HashGEMMAgree(). */
SYS_DEVICE PetscErrorCode HashGEMMDeviceParallelCreate(Mat C, Mat A, Mat B, const HashGEMMProduct *p, HashGEMMParallel *q) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode HashGEMMDeviceParallelDestroy(HashGEMMParallel *q) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode HashGEMMDeviceMakeLeft(Mat A, PetscBool square, HashGEMMParallel *q) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode HashGEMMDeviceMakeRight(Mat B, PetscInt nknown, const PetscInt map[], HashGEMMParallel *q, PetscBool *done) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode HashGEMMDeviceRightBegin(Mat B, HashGEMMParallel *q) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode HashGEMMDeviceRightEnd(HashGEMMParallel *q) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode HashGEMMDeviceMakeResult(Mat C, SpgemmType type, const HashGEMMProduct *p, HashGEMMParallel *q, PetscBool *done) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode HashGEMMDeviceGetRows(Mat B, const PetscInt rows[], const PetscInt known[], HashGEMMHalo *h, PetscInt **columns, SpgemmInfo *info, SysStatus *status, PetscBool *done) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode HashGEMMDeviceDefers(Mat C, const HashGEMMProduct *p, PetscInt rows, PetscBool *defers) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode HashGEMMDeviceFetchColumns(HashGEMMParallel *q) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode HashGEMMDeviceFetchSums(PetscInt m, const PetscInt degree[], HashGEMMParallel *q) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode HashGEMMDeviceMarkColumns(HashGEMMParallel *q, PetscInt m, char marks[]) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode HashGEMMDeviceMakeBlocks(const HashGEMMCut *cut, PetscInt far, HashGEMMParallel *q, Mat block[2], SpgemmInfo *info, SysStatus *status) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode HashGEMMDeviceRenewResult(HashGEMMParallel *q, SpgemmInfo *info, SysStatus *status) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode HashGEMMDeviceTakeValues(PetscInt m, HashGEMMParallel *q, SpgemmInfo *info, SysStatus *status) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode HashGEMMDeviceCut(Mat C, HashGEMMParallel *q, SpgemmInfo *info, SysStatus *status) SYS_STUB(PETSC_SUCCESS);
