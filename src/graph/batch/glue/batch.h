/* SPDX-License-Identifier: BSD-2-Clause */
/*
   MatBatch, a batch of small sparse matrices on one process, and GraphConv, graph convolutions on it
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

/* Sets *supported if D and C are on a device; call MatBatchDeviceMult() then */
SYS_DEVICE PetscErrorCode MatBatchDeviceSupports(Vec D, Vec C, PetscBool *supported) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode MatBatchDeviceMult(MatBatch, PetscBool transpose, PetscBool add, PetscInt width, Vec D, Vec C) SYS_STUB(PETSC_SUCCESS);

/* Marks the device's values as outdated */
SYS_DEVICE PetscErrorCode MatBatchDeviceValuesChanged(MatBatch) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode MatBatchDeviceDestroy(MatBatchDevice **) SYS_STUB(PETSC_SUCCESS);

/* Creates the transposed pattern if it does not exist */
extern PetscErrorCode MatBatchTranspose(MatBatch);

/* Rows of the graphs' matrices are the nodes that receive features, columns those that send them */
struct _p_GraphConv {
  PETSCHEADER(int);
  PetscInt  nchannel, nin, nout, rows, cols;
  MatBatch *A;
  Vec       work, ones, part; /* U: cols x nout; cols; cols x nin. On host or device, as the last call's vectors */
  Mat       X, W, U, dX, dW;  /* transposed, as MATDENSE is stored by columns; each host product places their arrays */
};

/* On a device: Forward computes U = X W_c + bias_c; Backward adds U W_c^T to dX (from 0 for c = 0), and computes dW_c = X^T U and dbias_c, the column
   sums of U */
SYS_DEVICE PetscErrorCode GraphConvDeviceForward(GraphConv, PetscInt c, Vec X, Vec W, Vec bias) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode GraphConvDeviceBackward(GraphConv, PetscInt c, Vec X, Vec W, Vec dX, Vec dW, Vec dbias) SYS_STUB(PETSC_SUCCESS);

/* On a device: Rectify sets negative features to 0; RectifyBackward sets derivatives to 0 where features are not positive */
SYS_DEVICE PetscErrorCode GraphConvDeviceRectify(Vec H) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode GraphConvDeviceRectifyBackward(Vec H, Vec dH) SYS_STUB(PETSC_SUCCESS);
