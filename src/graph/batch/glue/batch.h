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

/* Copies on the device (batchdevice.c) */
typedef struct _MatBatchDevice MatBatchDevice;

struct _p_MatBatch {
  PETSCHEADER(int);
  PetscInt        nmat;
  PetscInt       *row, *col; /* nmat + 1: each matrix's first row and column in the batch */
  PetscCount      ngiven;    /* number of values in MatBatchSetValues() */
  PetscInt       *i, *j;     /* the rows of all matrices, with the batch's columns */
  PetscScalar    *a;
  BatchEntries    entries;    /* from entries in any order to these rows; entries.i is NULL if the user passed rows */
  SpmmTransposed  transposed; /* created by the first transposed product */
  PetscBool       atomic;     /* device products may add in any order */
  MatBatchDevice *device;     /* NULL before the first product on a device */
};

extern PetscLogEvent MAT_BatchMult;

/* Sets *serves if D and C are on a device; call MatBatchDeviceMult() then */
SYS_DEVICE PetscErrorCode MatBatchDeviceSupports(Vec D, Vec C, PetscBool *serves) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode MatBatchDeviceMult(MatBatch, PetscBool transpose, PetscBool add, PetscInt width, Vec D, Vec C) SYS_STUB(PETSC_SUCCESS);

/* Marks the device's values as outdated */
SYS_DEVICE PetscErrorCode MatBatchDeviceValuesChanged(MatBatch) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode MatBatchDeviceDestroy(MatBatchDevice **) SYS_STUB(PETSC_SUCCESS);

/* Creates the transposed pattern if it does not exist */
extern PetscErrorCode MatBatchTranspose(MatBatch);
