/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Products of AIJCUSPARSE matrices: functions for one process and for several
*/
#pragma once

#include "mat/impls/hashgemm/glue/hashgemm.h"
#include "mat/impls/hashgemm/cuda/hashgemmcuda.h"

#include <petscdevice_cuda.h>

/* Sets *done = PETSC_FALSE if memory is short. HashGEMMRows' arrays are on the device, in the products' memory pool. */
extern PetscErrorCode HashGEMMDeviceStart(PetscBool *done);
extern PetscErrorCode HashGEMMDeviceCheck(SysStatus, PetscBool *done);
extern PetscErrorCode HashGEMMDeviceMake(SpgemmType, SpgemmAccumulator, const SysCSR factor[], SpgemmDevice **, SpgemmInfo *, HashGEMMRows *, SysStatus *);
extern PetscErrorCode HashGEMMDeviceRoom(Mat, PetscBool *enough);
extern PetscErrorCode HashGEMMDeviceGetCSR(Mat, SysCSR *);
extern PetscErrorCode HashGEMMDeviceGetArrays(Mat, const int **i, const int **j, PetscScalar **a);
extern PetscErrorCode HashGEMMDeviceFetch(void *host, const void *device, size_t bytes); /* of the pattern of the last HashGEMMDeviceMake(): waits for no later work */
extern PetscErrorCode HashGEMMDeviceGetPatternStream(SysStream *);
extern PetscErrorCode HashGEMMDeviceJoinPatternStream(void);
extern PetscErrorCode HashGEMMDeviceTell(Mat, const SpgemmInfo *);

extern SpgemmDeviceContext *HashGEMMDeviceContext;
