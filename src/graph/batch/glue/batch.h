/* SPDX-License-Identifier: BSD-2-Clause */
/*
   MatBatch: a batch of small sparse matrices on one process
*/
#pragma once

#include <petsc/private/petscimpl.h>
#include <petscamb.h>

#include "graph/batch/host/batchhost.h"
#include "mat/impls/spmm/host/spmmhost.h"
#include "sys/syscompat.h"
#include "sys/syscuda.h"

/* The copies on the device, see batchdevice.c */
typedef struct _MatBatchDevice MatBatchDevice;

struct _p_MatBatch {
  PETSCHEADER(int);
  PetscInt        nmat;
  PetscInt       *row, *col; /* the first row and column of each matrix in the batch, nmat + 1 of each */
  PetscCount      ngiven;    /* values that the user gives */
  PetscInt       *i, *j;     /* the rows of all matrices, with columns of the batch */
  PetscScalar    *a;
  BatchEntries    entries;    /* from entries in any order to these rows; entries.i is NULL if the user gave rows */
  SpmmTransposed  transposed; /* made by the first transposed product */
  PetscBool       atomic;     /* products on a device may add in any order */
  MatBatchDevice *device;     /* NULL before the first product on a device */
};

extern PetscLogEvent MAT_BatchMult;

/* Are D and C on a device? Then MatBatchDeviceMult() makes the product. */
SYS_DEVICE PetscErrorCode MatBatchDeviceServes(Vec D, Vec C, PetscBool *serves) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode MatBatchDeviceMult(MatBatch, PetscBool transpose, PetscBool add, PetscInt width, Vec D, Vec C) SYS_STUB(PETSC_SUCCESS);

/* The values on the device are old */
SYS_DEVICE PetscErrorCode MatBatchDeviceValuesChanged(MatBatch) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode MatBatchDeviceDestroy(MatBatchDevice **) SYS_STUB(PETSC_SUCCESS);

/* Makes the transposed pattern if there is none */
extern PetscErrorCode MatBatchTranspose(MatBatch);
