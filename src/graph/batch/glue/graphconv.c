/* SPDX-License-Identifier: BSD-2-Clause */
/*
   GraphConv: a layer of a graph convolutional network, forward and backward, for a batch of graphs
*/
#include <petscmat.h>

#include "graph/batch/glue/batch.h"

PetscClassId         GRAPHCONV_CLASSID;
static PetscLogEvent GRAPHCONV_Forward, GRAPHCONV_Backward;

/* ------------------------------------------------- dense products on the host ------------------------------------------------- */

/* Sets up PETSc's product of two MATDENSE, which calls BLAS; the layer reuses it */
static PetscErrorCode GraphConvProduct(Mat A, Mat B, MatProductType type, Mat C)
{
  PetscFunctionBegin;
  PetscCall(MatProductCreateWithMat(A, B, NULL, C));
  PetscCall(MatProductSetType(C, type));
  PetscCall(MatProductSetFromOptions(C));
  PetscCall(MatProductSymbolic(C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GraphConvHostCreate(GraphConv L)
{
  PetscScalar *never = (PetscScalar *)L; /* a placeholder that is replaced before PETSc reads it */

  PetscFunctionBegin;
  if (L->X) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, L->nin, L->cols, never, &L->X));
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, L->nout, L->nin, never, &L->W));
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, L->nout, L->cols, never, &L->U));
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, L->nin, L->cols, never, &L->dX));
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, L->nout, L->nin, never, &L->dW));
  PetscCall(GraphConvProduct(L->W, L->X, MATPRODUCT_AB, L->U));
  PetscCall(GraphConvProduct(L->W, L->U, MATPRODUCT_AtB, L->dX));
  PetscCall(GraphConvProduct(L->U, L->X, MATPRODUCT_ABt, L->dW));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes C from the operands A and B of its set-up; the product only reads these */
static PetscErrorCode GraphConvHostMult(Mat A, const PetscScalar *a, Mat B, const PetscScalar *b, Mat C, PetscScalar *c)
{
  PetscFunctionBegin;
  PetscCall(MatDensePlaceArray(A, a));
  PetscCall(MatDensePlaceArray(B, b));
  PetscCall(MatDensePlaceArray(C, c));
  PetscCall(MatProductNumeric(C));
  PetscCall(MatDenseResetArray(C));
  PetscCall(MatDenseResetArray(B));
  PetscCall(MatDenseResetArray(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes U = X W_c + bias_c */
static PetscErrorCode GraphConvHostForward(GraphConv L, PetscInt c, Vec X, Vec W, Vec bias)
{
  const PetscScalar *x, *w, *shift;
  PetscScalar       *u;

  PetscFunctionBegin;
  PetscCall(GraphConvHostCreate(L));
  PetscCall(VecGetArrayRead(X, &x));
  PetscCall(VecGetArrayRead(W, &w));
  PetscCall(VecGetArrayRead(bias, &shift));
  PetscCall(VecGetArrayWrite(L->work, &u));
  PetscCall(GraphConvHostMult(L->W, w + c * L->nin * L->nout, L->X, x, L->U, u));
  for (PetscInt r = 0; r < L->cols; r++) {
    for (PetscInt k = 0; k < L->nout; k++) u[r * L->nout + k] += shift[c * L->nout + k];
  }
  PetscCall(VecRestoreArrayWrite(L->work, &u));
  PetscCall(VecRestoreArrayRead(bias, &shift));
  PetscCall(VecRestoreArrayRead(W, &w));
  PetscCall(VecRestoreArrayRead(X, &x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds U W_c^T to dX (from 0 for c = 0); computes dW_c = X^T U, and dbias_c, the column sums of U */
static PetscErrorCode GraphConvHostBackward(GraphConv L, PetscInt c, Vec X, Vec W, Vec dX, Vec dW, Vec dbias)
{
  const PetscScalar *x, *w, *u;
  PetscScalar       *dx, *dw, *sum;
  const Vec          part = c ? L->part : dX;

  PetscFunctionBegin;
  PetscCall(GraphConvHostCreate(L));
  PetscCall(VecGetArrayRead(X, &x));
  PetscCall(VecGetArrayRead(W, &w));
  PetscCall(VecGetArrayRead(L->work, &u));
  PetscCall(VecGetArray(dW, &dw));
  PetscCall(VecGetArray(dbias, &sum));
  if (dX) {
    PetscCall(VecGetArrayWrite(part, &dx));
    PetscCall(GraphConvHostMult(L->W, w + c * L->nin * L->nout, L->U, u, L->dX, dx));
    PetscCall(VecRestoreArrayWrite(part, &dx));
    if (c) PetscCall(VecAXPY(dX, 1, part));
  }
  PetscCall(PetscArrayzero(dw + c * L->nin * L->nout, L->nin * L->nout)); /* PETSc sets nothing if there are no nodes */
  PetscCall(GraphConvHostMult(L->U, u, L->X, x, L->dW, dw + c * L->nin * L->nout));
  PetscCall(PetscArrayzero(sum + c * L->nout, L->nout));
  for (PetscInt r = 0; r < L->cols; r++) {
    for (PetscInt k = 0; k < L->nout; k++) sum[c * L->nout + k] += u[r * L->nout + k];
  }
  PetscCall(VecRestoreArray(dbias, &sum));
  PetscCall(VecRestoreArray(dW, &dw));
  PetscCall(VecRestoreArrayRead(L->work, &u));
  PetscCall(VecRestoreArrayRead(W, &w));
  PetscCall(VecRestoreArrayRead(X, &x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- layer ------------------------------------------------- */

/*@
  GraphConvCreate - creates a layer of a graph convolutional network for a batch of graphs: Y[b] = sum over channels c of A_c[b] (X[b] W_c + bias_c)

  Collective

  Input Parameters:
+ nchannel - the number of channels, 1 or more: kinds of edges
. A        - for each channel the matrices of all graphs; the batches of all channels have the same number of rows and of columns
. nin      - the features of a node before the layer, 1 or more
- nout     - the features of a node behind the layer, 1 or more

  Output Parameter:
. layer - the layer

  Level: advanced

  Notes:
  The layer references each batch, so the program may destroy the batch, and reads the values in each call. One step handles all graphs of the batch: for each channel a product of
  dense matrices and one `MatBatchMult()`.

  Errors:
+ `PETSC_ERR_ARG_SIZ`        - the channels have different sizes
- `PETSC_ERR_ARG_OUTOFRANGE` - the number of channels or of features is less than 1

  Example:
.vb
  PetscCall(GraphConvCreate(1, &batch, 2, 32, &layer)); // 2 features of a node become 32
  PetscCall(GraphConvForward(layer, X, W, bias, Y));
  PetscCall(GraphConvRectify(Y));
  PetscCall(GraphConvDestroy(&layer));
.ve

.seealso: `GraphConvForward()`, `GraphConvBackward()`, `GraphConvRectify()`, `GraphConvDestroy()`, `MatBatchCreateCOO()`
@*/
PetscErrorCode GraphConvCreate(PetscInt nchannel, MatBatch A[], PetscInt nin, PetscInt nout, GraphConv *layer)
{
  GraphConv L;
  PetscInt  rows = 0, cols = 0;

  PetscFunctionBegin;
  *layer = NULL;
  PetscCheck(nchannel >= 1, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "A graph convolution with %" PetscInt_FMT " channels; give 1 or more", nchannel);
  PetscCheck(nin >= 1 && nout >= 1, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "A graph convolution from %" PetscInt_FMT " to %" PetscInt_FMT " features; give 1 or more of both", nin, nout);
  for (PetscInt c = 0; c < nchannel; c++) {
    PetscInt m, n;

    PetscValidHeaderSpecific(A[c], MATBATCH_CLASSID, 2);
    PetscCall(MatBatchGetSizes(A[c], NULL, &m, &n, NULL));
    if (c == 0) {
      rows = m;
      cols = n;
    }
    PetscCheck(m == rows && n == cols, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "Channel %" PetscInt_FMT " has %" PetscInt_FMT " rows and %" PetscInt_FMT " columns, channel 0 %" PetscInt_FMT " and %" PetscInt_FMT "; make all channels of the same nodes", c, m, n, rows, cols);
  }
  PetscCall(PetscHeaderCreate(L, GRAPHCONV_CLASSID, "GraphConv", "Graph convolution", "Mat", PetscObjectComm((PetscObject)A[0]), GraphConvDestroy, NULL));
  L->nchannel = nchannel;
  L->nin      = nin;
  L->nout     = nout;
  L->rows     = rows;
  L->cols     = cols;
  PetscCall(PetscMalloc1(nchannel, &L->A));
  for (PetscInt c = 0; c < nchannel; c++) {
    L->A[c] = A[c];
    PetscCall(PetscObjectReference((PetscObject)A[c]));
  }
  *layer = L;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GraphConvCheckVec(const char name[], PetscInt rows, const char what[], PetscInt width, Vec v)
{
  PetscInt n;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(v, &n));
  PetscCheck((PetscInt64)n == (PetscInt64)rows * width, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "%s has %" PetscInt_FMT " numbers, but the layer has %" PetscInt_FMT " %s, and %" PetscInt_FMT " numbers belong to each", name, n, rows, what, width);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks the vectors' sizes, sets *device if all are on a device, and creates the layer's own vectors there or on the host */
static PetscErrorCode GraphConvPrepare(GraphConv L, Vec X, Vec W, Vec bias, Vec Y, PetscBool *device)
{
  PetscBool both = PETSC_FALSE;
  VecType   type;

  PetscFunctionBegin;
  PetscCall(GraphConvCheckVec("X", L->cols, "nodes", L->nin, X));
  PetscCall(GraphConvCheckVec("W", L->nchannel * L->nin, "rows of weights", L->nout, W));
  PetscCall(GraphConvCheckVec("bias", L->nchannel, "channels", L->nout, bias));
  PetscCall(GraphConvCheckVec("Y", L->rows, "nodes", L->nout, Y));
  *device = PETSC_FALSE;
  PetscCall(MatBatchDeviceSupports(X, Y, device));
  PetscCall(MatBatchDeviceSupports(W, bias, &both));
  *device = (PetscBool)(*device && both);
  PetscCall(VecGetType(*device ? X : W, &type));
  if (!*device) type = VECSEQ;
  if (L->work) {
    PetscBool same;

    PetscCall(PetscObjectTypeCompare((PetscObject)L->work, type, &same));
    if (same) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(VecDestroy(&L->work));
    PetscCall(VecDestroy(&L->ones));
    PetscCall(VecDestroy(&L->part));
  }
  PetscCall(VecCreate(PETSC_COMM_SELF, &L->work));
  PetscCall(VecSetSizes(L->work, L->cols * L->nout, L->cols * L->nout));
  PetscCall(VecSetType(L->work, type));
  PetscCall(VecCreate(PETSC_COMM_SELF, &L->ones));
  PetscCall(VecSetSizes(L->ones, L->cols, L->cols));
  PetscCall(VecSetType(L->ones, type));
  PetscCall(VecSet(L->ones, 1));
  if (L->nchannel > 1) {
    PetscCall(VecCreate(PETSC_COMM_SELF, &L->part));
    PetscCall(VecSetSizes(L->part, L->cols * L->nin, L->cols * L->nin));
    PetscCall(VecSetType(L->part, type));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  GraphConvForward - applies a graph convolution to the features of all nodes of a batch of graphs: Y[b] = sum over channels c of A_c[b] (X[b] W_c + bias_c)

  Collective

  Input Parameters:
+ layer - the layer
. X     - the features of the nodes: `nin` numbers for each column of the batch, node by node
. W     - the weights: for each channel a matrix of `nin` x `nout` numbers, stored by rows, one channel after the other
- bias  - for each channel `nout` numbers

  Output Parameter:
. Y - the new features: `nout` numbers for each row of the batch, node by node

  Level: advanced

  Notes:
  If all vectors are on a GPU (`VECSEQCUDA`), the layer runs there, with cuBLAS and the kernels of `MatBatchMult()`.

  The layer reuses its work vectors in the next call, and creates new ones if the next call is on the other side, host or GPU.

  Errors:
. `PETSC_ERR_ARG_SIZ` - a vector has another size

  Example:
.vb
  PetscCall(GraphConvForward(layer, X, W, bias, Y)); // X: cols * nin numbers, W: nin * nout, bias: nout, Y: rows * nout
  PetscCall(GraphConvRectify(Y));
.ve

.seealso: `GraphConvCreate()`, `GraphConvBackward()`, `MatBatchMult()`
@*/
PetscErrorCode GraphConvForward(GraphConv layer, Vec X, Vec W, Vec bias, Vec Y)
{
  const GraphConv L = layer;
  PetscBool       device;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(layer, GRAPHCONV_CLASSID, 1);
  PetscValidHeaderSpecific(X, VEC_CLASSID, 2);
  PetscValidHeaderSpecific(W, VEC_CLASSID, 3);
  PetscValidHeaderSpecific(bias, VEC_CLASSID, 4);
  PetscValidHeaderSpecific(Y, VEC_CLASSID, 5);
  PetscCall(GraphConvPrepare(L, X, W, bias, Y, &device));
  PetscCall(PetscLogEventBegin(GRAPHCONV_Forward, layer, X, Y, 0));
  for (PetscInt c = 0; c < L->nchannel; c++) {
    if (device) PetscCall(GraphConvDeviceForward(L, c, X, W, bias));
    else PetscCall(GraphConvHostForward(L, c, X, W, bias));
    PetscCall(c ? MatBatchMultAdd(L->A[c], L->nout, L->work, Y) : MatBatchMult(L->A[c], L->nout, L->work, Y));
  }
  PetscCall(PetscLogEventEnd(GRAPHCONV_Forward, layer, X, Y, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  GraphConvBackward - computes the gradients of a graph convolution from the gradient of its result

  Collective

  Input Parameters:
+ layer - the layer
. X     - the features, input of `GraphConvForward()`
. W     - the weights, input of `GraphConvForward()`
- dY    - the gradient of a scalar, the loss, with respect to the output Y

  Output Parameters:
+ dX    - the derivatives with respect to X, or `NULL` if they are not needed
. dW    - the derivatives with respect to W
- dbias - the derivatives with respect to the biases

  Level: advanced

  Notes:
  The vectors have the sizes as in `GraphConvForward()`. With U_c = A_c^T dY: dX = sum over c of U_c W_c^T, dW_c = X^T U_c, and dbias_c is the sum of the rows of U_c.

  Errors:
+ `PETSC_ERR_ARG_SIZ`   - a vector has another size
- `PETSC_ERR_ARG_WRONG` - `X`, `W`, `dY` and `dbias` are on a GPU and `dX` or `dW` is not, or the reverse

  Example:
.vb
  PetscCall(GraphConvRectifyBackward(Y, dY)); // if Y was rectified
  PetscCall(GraphConvBackward(layer, X, W, dY, dX, dW, dbias));
  PetscCall(VecAXPY(W, -rate, dW)); // a step of gradient descent
.ve

.seealso: `GraphConvCreate()`, `GraphConvForward()`, `GraphConvRectifyBackward()`, `MatBatchMultTranspose()`
@*/
PetscErrorCode GraphConvBackward(GraphConv layer, Vec X, Vec W, Vec dY, Vec dX, Vec dW, Vec dbias)
{
  const GraphConv L = layer;
  PetscBool       device, results = PETSC_FALSE;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(layer, GRAPHCONV_CLASSID, 1);
  PetscValidHeaderSpecific(X, VEC_CLASSID, 2);
  PetscValidHeaderSpecific(W, VEC_CLASSID, 3);
  PetscValidHeaderSpecific(dY, VEC_CLASSID, 4);
  if (dX) PetscValidHeaderSpecific(dX, VEC_CLASSID, 5);
  PetscValidHeaderSpecific(dW, VEC_CLASSID, 6);
  PetscValidHeaderSpecific(dbias, VEC_CLASSID, 7);
  if (dX) PetscCall(GraphConvCheckVec("dX", L->cols, "nodes", L->nin, dX));
  PetscCall(GraphConvCheckVec("dW", L->nchannel * L->nin, "rows of weights", L->nout, dW));
  PetscCall(GraphConvPrepare(L, X, W, dbias, dY, &device));
  PetscCall(MatBatchDeviceSupports(dW, dX ? dX : dW, &results));
  PetscCheck(device == results, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, "Some vectors of GraphConvBackward() are on a GPU and others are not; give all of them one type");
  PetscCall(PetscLogEventBegin(GRAPHCONV_Backward, layer, X, dY, 0));
  for (PetscInt c = 0; c < L->nchannel; c++) {
    PetscCall(MatBatchMultTranspose(L->A[c], L->nout, dY, L->work));
    if (device) PetscCall(GraphConvDeviceBackward(L, c, X, W, dX, dW, dbias));
    else PetscCall(GraphConvHostBackward(L, c, X, W, dX, dW, dbias));
  }
  PetscCall(PetscLogEventEnd(GRAPHCONV_Backward, layer, X, dY, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  GraphConvDestroy - destroys a layer

  Collective

  Input Parameter:
. layer - the layer, which becomes `NULL`

  Level: advanced

.seealso: `GraphConvCreate()`
@*/
PetscErrorCode GraphConvDestroy(GraphConv *layer)
{
  GraphConv L = *layer;

  PetscFunctionBegin;
  if (!L) PetscFunctionReturn(PETSC_SUCCESS);
  PetscValidHeaderSpecific(L, GRAPHCONV_CLASSID, 1);
  *layer = NULL;
  if (--((PetscObject)L)->refct > 0) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt c = 0; c < L->nchannel; c++) PetscCall(MatBatchDestroy(&L->A[c]));
  PetscCall(PetscFree(L->A));
  PetscCall(VecDestroy(&L->work));
  PetscCall(VecDestroy(&L->ones));
  PetscCall(VecDestroy(&L->part));
  PetscCall(MatDestroy(&L->dW));
  PetscCall(MatDestroy(&L->dX));
  PetscCall(MatDestroy(&L->U));
  PetscCall(MatDestroy(&L->W));
  PetscCall(MatDestroy(&L->X));
  PetscCall(PetscHeaderDestroy(&L));
  PetscFunctionReturn(PETSC_SUCCESS);
}

extern PetscErrorCode GraphConvRegister(void);

PetscErrorCode GraphConvRegister(void)
{
  PetscFunctionBegin;
  PetscCall(PetscClassIdRegister("Graph convolution", &GRAPHCONV_CLASSID));
  PetscCall(PetscLogEventRegister("GraphConvForward", GRAPHCONV_CLASSID, &GRAPHCONV_Forward));
  PetscCall(PetscLogEventRegister("GraphConvBackward", GRAPHCONV_CLASSID, &GRAPHCONV_Backward));
  PetscFunctionReturn(PETSC_SUCCESS);
}
