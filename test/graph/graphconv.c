/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "GraphConv: results against plain loops, gradients against finite differences, one layer for all graphs against one for each, errors.\n";

#include "../testutil.h"

#define CHANNELS 2

/* Graphs of 1 to 9 nodes, a quarter of the positions of a matrix taken; with rectangular matrices if more is not 0 */
typedef struct {
  PetscInt     nmat, rows, cols, *m, *n, *nentry;
  PetscInt    *i, *j;
  PetscScalar *a[CHANNELS];
  MatBatch     A[CHANNELS];
} Graphs;

static PetscErrorCode GraphsCreate(PetscInt nmat, PetscInt more, Graphs *G)
{
  PetscInt nz = 0;

  PetscFunctionBeginUser;
  G->nmat = nmat;
  G->rows = G->cols = 0;
  PetscCall(PetscMalloc3(nmat, &G->m, nmat, &G->n, nmat, &G->nentry));
  PetscCall(PetscMalloc4(nmat * 400, &G->i, nmat * 400, &G->j, nmat * 400, &G->a[0], nmat * 400, &G->a[1]));
  for (PetscInt b = 0; b < nmat; b++) {
    const PetscInt before = nz;

    G->m[b] = 1 + TestInteger(b, 3, 9);
    G->n[b] = G->m[b] + more;
    for (PetscInt r = 0; r < G->m[b]; r++) {
      for (PetscInt c = 0; c < G->n[b]; c++) {
        if (TestInteger(r + 31 * b, c, 4)) continue;
        G->i[nz]    = r;
        G->j[nz]    = c;
        G->a[0][nz] = TestNumber(r + 31 * b, c);
        G->a[1][nz] = TestNumber(c, r + 17 * b);
        nz++;
      }
    }
    G->nentry[b] = nz - before;
    G->rows += G->m[b];
    G->cols += G->n[b];
  }
  for (PetscInt c = 0; c < CHANNELS; c++) PetscCall(MatBatchCreateCOO(PETSC_COMM_SELF, nmat, G->m, G->n, G->nentry, G->i, G->j, G->a[c], &G->A[c]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GraphsDestroy(Graphs *G)
{
  PetscFunctionBeginUser;
  for (PetscInt c = 0; c < CHANNELS; c++) PetscCall(MatBatchDestroy(&G->A[c]));
  PetscCall(PetscFree3(G->m, G->n, G->nentry));
  PetscCall(PetscFree4(G->i, G->j, G->a[0], G->a[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Numbers(PetscInt n, PetscInt seed, Vec *v)
{
  PetscScalar *a;

  PetscFunctionBeginUser;
  PetscCall(VecCreate(PETSC_COMM_SELF, v));
  PetscCall(VecSetSizes(*v, n, n));
  PetscCall(VecSetFromOptions(*v));
  PetscCall(VecGetArrayWrite(*v, &a));
  for (PetscInt k = 0; k < n; k++) a[k] = seed ? TestNumber(k, seed) : (PetscScalar)NAN;
  PetscCall(VecRestoreArrayWrite(*v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Everything that a layer is given and gives */
typedef struct {
  PetscInt  nchannel, nin, nout;
  GraphConv layer;
  Vec       X, W, bias, Y, dX, dW, dbias, weight; /* weight: the number that is differentiated is weight^T Y */
} Layer;

static PetscErrorCode LayerCreate(Graphs *G, PetscInt nchannel, PetscInt nin, PetscInt nout, Layer *l)
{
  PetscFunctionBeginUser;
  l->nchannel = nchannel;
  l->nin      = nin;
  l->nout     = nout;
  PetscCall(GraphConvCreate(nchannel, G->A, nin, nout, &l->layer));
  PetscCall(Numbers(G->cols * nin, 1, &l->X));
  PetscCall(Numbers(nchannel * nin * nout, 2, &l->W));
  PetscCall(Numbers(nchannel * nout, 3, &l->bias));
  PetscCall(Numbers(G->rows * nout, 0, &l->Y));
  PetscCall(Numbers(G->rows * nout, 4, &l->weight));
  PetscCall(Numbers(G->cols * nin, 0, &l->dX));
  PetscCall(Numbers(nchannel * nin * nout, 0, &l->dW));
  PetscCall(Numbers(nchannel * nout, 0, &l->dbias));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LayerDestroy(Layer *l)
{
  PetscFunctionBeginUser;
  PetscCall(GraphConvDestroy(&l->layer));
  PetscCall(TestDestroy(&l->X, &l->W, &l->bias, &l->Y, &l->weight, &l->dX, &l->dW, &l->dbias));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Y, number by number */
static PetscErrorCode DiffForward(TestDiff *d, const Graphs *G, const Layer *l)
{
  const PetscScalar *x, *w, *bias, *y;
  PetscScalar       *sum;

  PetscFunctionBeginUser;
  PetscCall(PetscCalloc1(G->rows * l->nout, &sum));
  PetscCall(VecGetArrayRead(l->X, &x));
  PetscCall(VecGetArrayRead(l->W, &w));
  PetscCall(VecGetArrayRead(l->bias, &bias));
  PetscCall(VecGetArrayRead(l->Y, &y));
  for (PetscInt ch = 0; ch < l->nchannel; ch++) {
    for (PetscInt b = 0, k = 0, row = 0, col = 0; b < G->nmat; row += G->m[b], col += G->n[b], b++) {
      for (const PetscInt end = k + G->nentry[b]; k < end; k++) {
        for (PetscInt o = 0; o < l->nout; o++) {
          PetscScalar u = bias[ch * l->nout + o];

          for (PetscInt q = 0; q < l->nin; q++) u += x[(col + G->j[k]) * l->nin + q] * w[(ch * l->nin + q) * l->nout + o];
          sum[(row + G->i[k]) * l->nout + o] += G->a[ch][k] * u;
        }
      }
    }
  }
  for (PetscInt k = 0; k < G->rows * l->nout; k++) TestDiffAdd(d, "a result", PetscAbsScalar(y[k] - sum[k]) / (1 + l->nin));
  PetscCall(VecRestoreArrayRead(l->X, &x));
  PetscCall(VecRestoreArrayRead(l->W, &w));
  PetscCall(VecRestoreArrayRead(l->bias, &bias));
  PetscCall(VecRestoreArrayRead(l->Y, &y));
  PetscCall(PetscFree(sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The layer is linear in each of its inputs: a difference over a step of 1 is the derivative, up to rounding */
static PetscErrorCode DiffGradient(TestDiff *d, const char *what, const Layer *l, Vec input, Vec gradient)
{
  const PetscScalar *g;
  PetscScalar       *a, at, with;
  PetscInt           n;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(input, &n));
  for (PetscInt k = 0; k < n; k += 1 + n / 60) {
    PetscCall(GraphConvForward(l->layer, l->X, l->W, l->bias, l->Y));
    PetscCall(VecDot(l->Y, l->weight, &at));
    PetscCall(VecGetArray(input, &a));
    a[k] += 1;
    PetscCall(VecRestoreArray(input, &a));
    PetscCall(GraphConvForward(l->layer, l->X, l->W, l->bias, l->Y));
    PetscCall(VecDot(l->Y, l->weight, &with));
    PetscCall(VecGetArray(input, &a));
    a[k] -= 1;
    PetscCall(VecRestoreArray(input, &a));
    PetscCall(VecGetArrayRead(gradient, &g));
    TestDiffAdd(d, what, PetscAbsScalar(with - at - g[k]) / (1 + PetscAbsScalar(at)));
    PetscCall(VecRestoreArrayRead(gradient, &g));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckLayers(TestDiff *d, PetscBool gradients)
{
  static const PetscInt sizes[][3] = {
    {1, 5, 3 },
    {2, 4, 7 },
    {2, 1, 1 },
    {1, 3, 2 },
    {2, 9, 33}
  };

  PetscFunctionBeginUser;
  for (PetscInt more = 0; more < 3; more += 2) {
    Graphs G;

    PetscCall(GraphsCreate(12, more, &G));
    for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(sizes); s++) {
      Layer l;

      PetscCall(LayerCreate(&G, sizes[s][0], sizes[s][1], sizes[s][2], &l));
      PetscCall(GraphConvForward(l.layer, l.X, l.W, l.bias, l.Y));
      if (!gradients) PetscCall(DiffForward(d, &G, &l));
      else {
        Vec dW, dbias;

        PetscCall(GraphConvBackward(l.layer, l.X, l.W, l.weight, l.dX, l.dW, l.dbias));
        PetscCall(DiffGradient(d, "dX", &l, l.X, l.dX));
        PetscCall(DiffGradient(d, "dW", &l, l.W, l.dW));
        PetscCall(DiffGradient(d, "dbias", &l, l.bias, l.dbias));
        PetscCall(VecDuplicate(l.dW, &dW));
        PetscCall(VecDuplicate(l.dbias, &dbias));
        PetscCall(GraphConvBackward(l.layer, l.X, l.W, l.weight, NULL, dW, dbias));
        PetscCall(DiffGradient(d, "dW without dX", &l, l.W, dW));
        PetscCall(TestDestroy(&dW, &dbias));
      }
      PetscCall(LayerDestroy(&l));
    }
    PetscCall(GraphsDestroy(&G));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckForward(TestDiff *d)
{
  return CheckLayers(d, PETSC_FALSE);
}

static PetscErrorCode CheckGradients(TestDiff *d)
{
  return CheckLayers(d, PETSC_TRUE);
}

/* Features, and what their derivatives become */
static PetscErrorCode CheckRectify(TestDiff *d)
{
  const PetscInt     n = 1000;
  const PetscScalar *h, *dh;
  Vec                H, dH, few;

  PetscFunctionBeginUser;
  PetscCall(Numbers(n, 3, &H));
  PetscCall(Numbers(n, 8, &dH));
  PetscCall(Numbers(n - 1, 0, &few));
  PetscCall(VecSetValue(H, 7, NAN, INSERT_VALUES));
  PetscCall(VecSetValue(H, 8, 0, INSERT_VALUES));
  PetscCall(VecSetValue(dH, 9, NAN, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(H));
  PetscCall(VecAssemblyEnd(H));
  PetscCall(VecAssemblyBegin(dH));
  PetscCall(VecAssemblyEnd(dH));
  PetscCall(GraphConvRectify(H));
  PetscCall(GraphConvRectifyBackward(H, dH));
  PetscCall(VecGetArrayRead(H, &h));
  PetscCall(VecGetArrayRead(dH, &dh));
  for (PetscInt k = 0; k < n; k++) {
    const PetscScalar before = TestNumber(k, 3), derivative = TestNumber(k, 8);

    if (k == 7 || k == 9) continue;
    TestExpect(d, "a feature", (PetscBool)(h[k] == (k != 8 && PetscRealPart(before) > 0 ? before : 0)));
    TestExpect(d, "a derivative", (PetscBool)(dh[k] == (k != 8 && PetscRealPart(before) > 0 ? derivative : 0)));
  }
  TestExpect(d, "NaN as a feature", (PetscBool)(PetscIsNanScalar(h[7]) && dh[7] == (PetscScalar)0));
  TestExpect(d, "NaN as a derivative", (PetscBool)(PetscRealPart(h[9]) > 0 ? PetscIsNanScalar(dh[9]) : dh[9] == (PetscScalar)0));
  PetscCall(VecRestoreArrayRead(H, &h));
  PetscCall(VecRestoreArrayRead(dH, &dh));
  TestExpectError(d, PETSC_ERR_ARG_SIZ, "give each feature one", GraphConvRectifyBackward(H, few));
  PetscCall(TestDestroy(&H, &dH, &few));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckErrors(TestDiff *d)
{
  Graphs    G, H;
  Layer     l;
  MatBatch  mixed[2];
  GraphConv none;

  PetscFunctionBeginUser;
  PetscCall(GraphsCreate(3, 1, &G));
  PetscCall(GraphsCreate(4, 0, &H));
  PetscCall(LayerCreate(&G, 2, 4, 3, &l));
  mixed[0] = G.A[0];
  mixed[1] = H.A[0];
  TestExpectError(d, PETSC_ERR_ARG_SIZ, "make all channels of the same nodes", GraphConvCreate(2, mixed, 4, 3, &none));
  TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "give 1 or more", GraphConvCreate(0, mixed, 4, 3, &none));
  TestExpectError(d, PETSC_ERR_ARG_OUTOFRANGE, "give 1 or more of both", GraphConvCreate(1, mixed, 4, 0, &none));
  TestExpectError(d, PETSC_ERR_ARG_SIZ, "X has", GraphConvForward(l.layer, l.W, l.W, l.bias, l.Y));
  TestExpectError(d, PETSC_ERR_ARG_SIZ, "W has", GraphConvForward(l.layer, l.X, l.bias, l.bias, l.Y));
  TestExpectError(d, PETSC_ERR_ARG_SIZ, "bias has", GraphConvForward(l.layer, l.X, l.W, l.W, l.Y));
  TestExpectError(d, PETSC_ERR_ARG_SIZ, "Y has", GraphConvForward(l.layer, l.X, l.W, l.bias, l.X));
  TestExpectError(d, PETSC_ERR_ARG_SIZ, "dX has", GraphConvBackward(l.layer, l.X, l.W, l.weight, l.W, l.dW, l.dbias));
  TestExpectError(d, PETSC_ERR_ARG_SIZ, "dW has", GraphConvBackward(l.layer, l.X, l.W, l.weight, l.dX, l.dX, l.dbias));
  PetscCall(LayerDestroy(&l));
  PetscCall(GraphsDestroy(&G));
  PetscCall(GraphsDestroy(&H));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const TestCase tests[] = {
    {"results",   CheckForward  },
    {"gradients", CheckGradients},
    {"rectifier", CheckRectify  },
    {"errors",    CheckErrors   },
    {NULL,        NULL          }
  };

  return TestMain(argc, argv, help, tests);
}

/*TEST

  testset:
    requires: !complex
    checks: 4
    test:
      args: -malloc_dump
    test:
      suffix: fp_trap
      requires: !cuda
      args: -fp_trap
    test:
      suffix: cuda
      requires: cuda
      args: -vec_type cuda

TEST*/
