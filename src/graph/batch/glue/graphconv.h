/* SPDX-License-Identifier: BSD-2-Clause */
/*
   GraphConv: a layer of a graph convolutional network, for a batch of graphs
*/
#pragma once

#include "graph/batch/glue/batch.h"

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
