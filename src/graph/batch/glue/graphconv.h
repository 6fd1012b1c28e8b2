/* SPDX-License-Identifier: BSD-2-Clause */
/*
   GraphConv: a layer of a graph convolutional network, for a batch of graphs
*/
#pragma once

#include "graph/batch/glue/batch.h"

/* Rows are those of the graphs' matrices: nodes that get features. Columns are nodes that give them. */
struct _p_GraphConv {
  PETSCHEADER(int);
  PetscInt  nchannel, nin, nout, rows, cols;
  MatBatch *A;
  Vec       work, ones, part; /* U: cols x nout; cols; cols x nin. On the host or on a device, as the vectors of the last call */
  Mat       X, W, U, dX, dW;  /* the transposed matrices, as MATDENSE has columns; their arrays are placed for each product on the host */
};

/* On a device: U = X W_c + bias_c; then dX = dX + U W_c^T, which begins with 0 if c is 0, dW_c = X^T U, and dbias_c, the sums of the columns of U */
SYS_DEVICE PetscErrorCode GraphConvDeviceForward(GraphConv, PetscInt c, Vec X, Vec W, Vec bias) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode GraphConvDeviceBackward(GraphConv, PetscInt c, Vec X, Vec W, Vec dX, Vec dW, Vec dbias) SYS_STUB(PETSC_SUCCESS);

/* On a device: negative features become 0, and derivatives where features are not positive */
SYS_DEVICE PetscErrorCode GraphConvDeviceRectify(Vec H) SYS_STUB(PETSC_SUCCESS);
SYS_DEVICE PetscErrorCode GraphConvDeviceRectifyBackward(Vec H, Vec dH) SYS_STUB(PETSC_SUCCESS);
