/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Factors on the GPU: the triangles of a factor, the choice between GPU and host, factors that the GPU makes, and the operations
*/
#include <petscdevice_cuda.h>
#include <petsc/private/vecimpl.h>

#include "mat/factor/glue/factor.h"
#include "mat/factor/host/factorpolicy.h"

/* ------------------------------------------------- triangles ------------------------------------------------- */

/* Sets *good to PETSC_FALSE if memory was short or an array too long, so that the host solves */
static PetscErrorCode FactorCheck(Mat F, SysStatus status, PetscBool *good)
{
  PetscFunctionBegin;
  PetscCheck(status != SYS_ERROR, PETSC_COMM_SELF, PETSC_ERR_GPU, "Solves with a factor on the GPU: %s", SysDeviceErrorText());
  *good = (PetscBool)(status == SYS_SUCCESS);
  if (!*good) PetscCall(PetscInfo(F, "The factor solves on the host: %s\n", status == SYS_TOO_LARGE ? "it is too large for the GPU's integers" : "memory is short"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void FactorPairSet(const MatFactorAMB *f, const FactorArrays *s, PetscBool transpose, FactorPair *pair)
{
  if (f->matrix) FactorMatrixGetPair(f->matrix, transpose, pair);
  else {
    pair->n        = s->rows[1].n;
    pair->nz       = s->nz;
    pair->j        = s->rows[1].j;
    pair->diagonal = s->diagonal;
    for (int t = 0; t < 2; t++) {
      const int part = f->symmetric ? 1 : transpose ? 1 - t : t;

      pair->begin[t]  = s->rows[part].begin;
      pair->end[t]    = s->rows[part].end;
      pair->turned[t] = transpose || (f->symmetric && t == 0);
    }
  }
  pair->after[0]  = transpose;
  pair->after[1]  = !f->symmetric && !transpose;
  pair->before[1] = f->symmetric;
  pair->bs        = (int)f->bs;
  pair->boxed     = FACTOR_BOX_ROWS;
  pair->launched  = FACTOR_LAUNCH_BYTES;
  pair->sign      = f->symmetric ? 1 : -1;
}

/* Sets the levels and the expected seconds of a solve */
static PetscErrorCode FactorExpect(Mat F, MatFactorAMB *f)
{
  PetscFunctionBegin;
  for (int t = 0; t < 2; t++) f->levels[t] = FactorDeviceLevels(f->pair[0], t);
  f->seconds[0] = FactorHostSeconds(F->rmap->n, (double)(F->rmap->n + FactorDeviceEntries(f->pair[0])), sizeof(PetscScalar));
  f->seconds[1] = FactorDeviceSeconds(FactorDeviceLatency(f->pair[0]), FactorDeviceBytes(f->pair[0]));
  f->planned    = PETSC_TRUE;
  PetscCall(PetscInfo(F, "Levels of the factor: %" PetscInt_FMT " and %" PetscInt_FMT "; a solve is expected to take %g s on the GPU, %g s on the host\n", f->levels[0], f->levels[1], f->seconds[1], f->seconds[0]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates f->pair[transpose], if solves are to run on the GPU: always, or where that is expected to be sooner. *wanted: they are. */
static PetscErrorCode FactorPairCreate(Mat F, MatFactorAMB *f, const FactorArrays *s, PetscBool transpose, PetscBool always, PetscBool *wanted)
{
  FactorPair      pair = {0};
  const PetscInt *rows, *cols;
  PetscBool       natural[2];

  PetscFunctionBegin;
  FactorPairSet(f, s, transpose, &pair);
  PetscCall(ISIdentity(f->rows, &natural[0]));
  PetscCall(ISIdentity(f->cols, &natural[1]));
  PetscCall(ISGetIndices(f->rows, &rows));
  PetscCall(ISGetIndices(f->cols, &cols));
  pair.source = natural[transpose] ? NULL : transpose ? cols : rows;
  pair.target = natural[!transpose] ? NULL : transpose ? rows : cols;
  PetscCall(FactorCheck(F, FactorDeviceCreate(&pair, &f->pair[transpose], PetscDefaultCudaStream), wanted));
  PetscCall(ISRestoreIndices(f->rows, &rows));
  PetscCall(ISRestoreIndices(f->cols, &cols));
  if (*wanted && !transpose) {
    PetscCall(FactorExpect(F, f));
    *wanted = (PetscBool)(always || f->seconds[1] < (double)f->together * f->seconds[0]);
    if (!*wanted) FactorDeviceDestroy(&f->pair[0]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Brings the values to f->pair[transpose], which goes if memory is short */
static PetscErrorCode FactorPairUpdate(Mat F, MatFactorAMB *f, const FactorArrays *s, PetscBool transpose, PetscBool *good)
{
  PetscBool pinned;

  PetscFunctionBegin;
  if (f->matrix) {
    PetscCall(FactorCheck(F, FactorDeviceGather(f->pair[transpose], FactorMatrixValues(f->matrix), PetscDefaultCudaStream), good));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatAIJDevicePin(s->a, s->nz * sizeof(*s->a), &pinned));
  PetscCall(FactorCheck(F, FactorDeviceUpdate(f->pair[transpose], s->nz, s->a, PetscDefaultCudaStream), good));
  PetscCall(MatAIJDeviceUnpin(s->a, pinned));
  if (!*good) FactorDeviceDestroy(&f->pair[transpose]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- operations ------------------------------------------------- */

static PetscErrorCode FactorOnDevice(PetscObject a, PetscObject b, const char type[], PetscBool bound, PetscBool *both)
{
  PetscFunctionBegin;
  *both = PETSC_FALSE;
  if (bound) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectTypeCompare(a, type, both));
  if (*both) PetscCall(PetscObjectTypeCompare(b, type, both));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Queues solves for columns of b; *done is PETSC_FALSE if the host must solve */
static PetscErrorCode FactorSolve(Mat F, MatFactorAMB *f, PetscBool transpose, PetscInt columns, const PetscScalar *b, PetscInt ldb, PetscScalar *x, PetscInt ldx)
{
  SysStatus status;

  PetscFunctionBegin;
  PetscCall(PetscLogGpuTimeBegin());
  status = FactorDeviceSolve(f->pair[transpose], (int)columns, b, ldb, x, ldx, PetscDefaultCudaStream);
  PetscCall(PetscLogGpuTimeEnd());
  PetscCheck(status == SYS_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_GPU, "Solves with a factor on the GPU: %s", SysDeviceErrorText());
  PetscCall(PetscLogGpuFlops(columns * (2. * FactorDeviceEntries(f->pair[transpose]) + F->rmap->n)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FactorSolveVec(Mat F, Vec b, Vec x, PetscBool transpose)
{
  MatFactorAMB      *f;
  const PetscScalar *from;
  PetscScalar       *to;
  PetscBool          device;

  PetscFunctionBegin;
  PetscCall(MatFactorAMBGet(F, &f));
  PetscCall(FactorOnDevice((PetscObject)b, (PetscObject)x, VECSEQCUDA, (PetscBool)(b->boundtocpu || x->boundtocpu), &device));
  if (f->symmetric) transpose = PETSC_FALSE;
  if (device && !f->pair[transpose]) { /* the first solve with the transpose */
    FactorArrays s = {0};

    if (!f->matrix) PetscCall(FactorArraysGet(F, f, &s));
    PetscCall(FactorPairCreate(F, f, &s, transpose, PETSC_TRUE, &device));
    if (device) PetscCall(FactorPairUpdate(F, f, &s, transpose, &device));
    PetscCall(FactorArraysFree(&s));
  }
  if (device) {
    PetscCall(VecCUDAGetArrayRead(b, &from));
    PetscCall(VecCUDAGetArrayWrite(x, &to));
    PetscCall(FactorSolve(F, f, transpose, 1, from, F->rmap->n, to, F->rmap->n));
    PetscCall(VecCUDARestoreArrayWrite(x, &to));
    PetscCall(VecCUDARestoreArrayRead(b, &from));
  } else {
    PetscCall(MatFactorAMBComplete(F, f));
    PetscCall((*f->solve[transpose])(F, b, x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatSolve_FactorAMBDevice(Mat F, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(FactorSolveVec(F, b, x, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatSolveTranspose_FactorAMBDevice(Mat F, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(FactorSolveVec(F, b, x, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMatSolve_FactorAMBDevice(Mat F, Mat B, Mat X)
{
  MatFactorAMB      *f;
  const PetscScalar *from;
  PetscScalar       *to;
  PetscInt           columns, ldb, ldx;
  PetscBool          device;

  PetscFunctionBegin;
  PetscCall(MatFactorAMBGet(F, &f));
  PetscCall(MatGetSize(B, NULL, &columns));
  PetscCall(FactorOnDevice((PetscObject)B, (PetscObject)X, MATSEQDENSECUDA, (PetscBool)(B->boundtocpu || X->boundtocpu), &device));
  if (!device) PetscCall(MatFactorAMBComplete(F, f));
  if (device) {
    PetscCall(MatDenseGetLDA(B, &ldb));
    PetscCall(MatDenseGetLDA(X, &ldx));
    PetscCall(MatDenseCUDAGetArrayRead(B, &from));
    PetscCall(MatDenseCUDAGetArrayWrite(X, &to));
    PetscCall(FactorSolve(F, f, PETSC_FALSE, columns, from, ldb, to, ldx));
    PetscCall(MatDenseCUDARestoreArrayWrite(X, &to));
    PetscCall(MatDenseCUDARestoreArrayRead(B, &from));
  } else if (f->matsolve) PetscCall((*f->matsolve)(F, B, X));
  else {
    for (PetscInt k = 0; k < columns; k++) {
      Vec b, x;

      PetscCall(MatDenseGetColumnVecRead(B, k, &b));
      PetscCall(MatDenseGetColumnVecWrite(X, k, &x));
      PetscCall(MatSolve_FactorAMBDevice(F, b, x));
      PetscCall(MatDenseRestoreColumnVecWrite(X, k, &x));
      PetscCall(MatDenseRestoreColumnVecRead(B, k, &b));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Without operations for sums PETSc adds a solution to a vector, on the GPU */
static void FactorSetSolves(Mat F, MatFactorAMB *f)
{
  f->device                 = PETSC_TRUE;
  F->ops->solve             = MatSolve_FactorAMBDevice;
  F->ops->solvetranspose    = MatSolveTranspose_FactorAMBDevice;
  F->ops->matsolve          = MatMatSolve_FactorAMBDevice;
  F->ops->solveadd          = NULL;
  F->ops->solvetransposeadd = NULL;
}

PetscErrorCode MatFactorAMBSetUpDevice(Mat F, Mat A, MatFactorAMB *f, FactorWhere where)
{
  FactorArrays s;
  PetscBool    device;

  PetscFunctionBegin;
  if (!MatAIJValuesOnDevice(A) || F->factorerrortype || !F->rmap->n) PetscFunctionReturn(PETSC_SUCCESS);
  if (!f->pair[0] && f->planned) PetscFunctionReturn(PETSC_SUCCESS); /* the host was sooner */
  PetscCall(FactorArraysGet(F, f, &s));
  device = (PetscBool)(f->pair[0] != NULL);
  if (!device) PetscCall(FactorPairCreate(F, f, &s, PETSC_FALSE, (PetscBool)(where == FACTOR_DEVICE), &device));
  if (device) PetscCall(FactorPairUpdate(F, f, &s, PETSC_FALSE, &device));
  if (device && f->pair[1]) {
    PetscBool good;

    PetscCall(FactorPairUpdate(F, f, &s, PETSC_TRUE, &good)); /* or the next use creates it anew */
  }
  PetscCall(FactorArraysFree(&s));
  if (device) FactorSetSolves(F, f);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- factors that the GPU makes ------------------------------------------------- */

/* The pattern of a factor with fill, which the symbolic phase of another factor has made */
typedef struct {
  Mat           G;
  FactorPattern pattern;
  PetscInt     *i, *j, *diagonal;
} FactorFill;

static PetscErrorCode FactorFillCreate(Mat A, MatFactorAMB *f, const MatFactorInfo *info, FactorFill *fill)
{
  const PetscInt n = A->rmap->n;
  FactorArrays   s;
  MatInfo        g;
  PetscInt       e = 0;

  PetscFunctionBegin;
  PetscCall(MatGetFactor(A, MATSOLVERPETSC, f->symmetric ? MAT_FACTOR_ICC : MAT_FACTOR_ILU, &fill->G));
  if (f->symmetric) PetscCall(MatICCFactorSymbolic(fill->G, A, f->rows, info));
  else PetscCall(MatILUFactorSymbolic(fill->G, A, f->rows, f->cols, info));
  PetscCall(MatGetInfo(fill->G, MAT_LOCAL, &g));
  f->fill = (PetscReal)g.fill_ratio_needed;
  PetscCall(FactorArraysGet(fill->G, f, &s));
  PetscCall(PetscMalloc3(n + 1, &fill->i, n, &fill->diagonal, s.nz, &fill->j));
  for (PetscInt r = 0; r < n; r++) {
    fill->i[r] = e;
    for (int t = f->symmetric; t < 2; t++) {
      if (t) {
        fill->diagonal[r] = e;
        fill->j[e++]      = r;
      }
      for (PetscInt k = s.rows[t].begin[r]; k < s.rows[t].end[r]; k++) fill->j[e++] = s.rows[t].j[k];
    }
  }
  fill->i[n] = e;
  PetscCall(FactorArraysFree(&s));
  fill->pattern = (FactorPattern){fill->i, fill->j, fill->diagonal};
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FactorFillDestroy(FactorFill *fill)
{
  PetscFunctionBegin;
  PetscCall(PetscFree3(fill->i, fill->diagonal, fill->j));
  PetscCall(MatDestroy(&fill->G));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatFactorAMBSymbolicDevice(Mat F, Mat A, MatFactorAMB *f, const MatFactorInfo *info, FactorWhere where, PetscBool *done)
{
  static PetscInt made;
  const PetscBool filled = (PetscBool)(info->levels != 0);
  const PetscInt *rows = NULL, *place = NULL;
  FactorFill      fill    = {0};
  IS              inverse = NULL;
  PetscBool       same, natural;
  SysCSR          csr;

  PetscFunctionBegin;
  *done = PETSC_FALSE;
  if (!MatAIJValuesOnDevice(A) || A->rmap->n != A->cmap->n || !A->rmap->n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ISEqualUnsorted(f->rows, f->cols, &same));
  if (!same) PetscFunctionReturn(PETSC_SUCCESS);
  if (filled) PetscCall(FactorFillCreate(A, f, info, &fill));
  else f->fill = 1;
  PetscCall(MatAIJDeviceGetArrays(A, &csr));
  if (csr.nz) { /* or PETSc reports the missing diagonal */
    PetscCall(ISIdentity(f->rows, &natural));
    if (!natural) {
      PetscCall(ISInvertPermutation(f->cols, PETSC_DECIDE, &inverse));
      PetscCall(ISGetIndices(f->rows, &rows));
      PetscCall(ISGetIndices(inverse, &place));
    }
    PetscCall(FactorCheck(F, FactorMatrixCreate(&csr, rows, place, f->symmetric, filled ? &fill.pattern : NULL, &f->matrix, PetscDefaultCudaStream), done));
    if (!natural) {
      PetscCall(ISRestoreIndices(inverse, &place));
      PetscCall(ISRestoreIndices(f->rows, &rows));
      PetscCall(ISDestroy(&inverse));
    }
  }
  if (filled) PetscCall(FactorFillDestroy(&fill));
  *done = (PetscBool)(f->matrix != NULL);
  if (*done) PetscCall(FactorPairCreate(F, f, NULL, PETSC_FALSE, (PetscBool)(where == FACTOR_DEVICE), done));
  f->made = ++made;
  if (*done) f->entries = (PetscInt)FactorMatrixEntries(f->matrix);
  else FactorMatrixDestroy(&f->matrix);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FactorSolveHalf(Mat F, Vec b, Vec x, int half)
{
  MatFactorAMB *f;

  PetscFunctionBegin;
  PetscCall(MatFactorAMBGet(F, &f));
  PetscCall(MatFactorAMBComplete(F, f));
  PetscCall((*f->half[half])(F, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatForwardSolve_FactorAMBDevice(Mat F, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(FactorSolveHalf(F, b, x, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatBackwardSolve_FactorAMBDevice(Mat F, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(FactorSolveHalf(F, b, x, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The operations of a factor that the GPU has made */
static void FactorSetOperations(Mat F, MatFactorAMB *f)
{
  FactorSetSolves(F, f);
  if (f->symmetric) {
    F->ops->forwardsolve  = MatForwardSolve_FactorAMBDevice;
    F->ops->backwardsolve = MatBackwardSolve_FactorAMBDevice;
  } else F->ops->matsolvetranspose = NULL; /* PETSc solves for each column */
}

PetscErrorCode MatFactorAMBNumericDevice(Mat F, Mat A, MatFactorAMB *f, const MatFactorInfo *info, PetscBool *done)
{
  const MatFactorShiftType shift   = (MatFactorShiftType)info->shifttype;
  const FactorPivot        pivot   = shift == MAT_SHIFT_POSITIVE_DEFINITE ? FACTOR_PIVOT_POSITIVE : shift == MAT_SHIFT_NONZERO ? FACTOR_PIVOT_NONZERO_RELATIVE : FACTOR_PIVOT_NONZERO;
  int                      refused = 0;
  SysCSR                   csr;

  PetscFunctionBegin;
  *done = MatAIJValuesOnDevice(A);
  if (*done) {
    PetscCall(MatAIJDeviceGetArrays(A, &csr));
    PetscCall(PetscLogGpuTimeBegin());
    PetscCall(FactorCheck(F, FactorMatrixCompute(f->matrix, csr.a, pivot, info->zeropivot, &refused, PetscDefaultCudaStream), done));
    PetscCall(PetscLogGpuTimeEnd());
    if (refused) PetscCall(PetscInfo(F, "MATSOLVERPETSC makes the factor: a pivot is zero, or would be shifted\n"));
    *done = (PetscBool)(*done && !refused);
  }
  for (int t = 0; t < 2 && *done; t++) {
    if (f->pair[t]) PetscCall(FactorPairUpdate(F, f, NULL, (PetscBool)t, done));
  }
  if (!*done) {
    f->planned = PETSC_FALSE;
    MatFactorAMBResetDevice(f);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscLayoutSetUp(F->rmap));
  PetscCall(PetscLayoutSetUp(F->cmap));
  F->assembled = F->preallocated = PETSC_TRUE;
  f->complete                    = PETSC_FALSE;
  FactorSetOperations(F, f);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates a matrix of which PETSc's symbolic phase makes the pattern of the factor: the unit matrix, with zeros elsewhere */
static PetscErrorCode FactorCreateUnit(const MatFactorAMB *f, PetscInt n, const PetscInt i[], const PetscInt j[], Mat *B)
{
  const PetscInt *rows, *cols;
  PetscInt       *bi, *bj;
  PetscScalar    *ba;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n + 1, &bi));
  PetscCall(PetscMalloc1(i[n], &bj));
  PetscCall(PetscCalloc1(i[n], &ba));
  PetscCall(ISGetIndices(f->rows, &rows));
  PetscCall(ISGetIndices(f->cols, &cols));
  for (PetscInt p = 0; p < n; p++) bi[rows[p] + 1] = i[p + 1] - i[p];
  bi[0] = 0;
  for (PetscInt r = 0; r < n; r++) bi[r + 1] += bi[r];
  for (PetscInt p = 0; p < n; p++) {
    const PetscInt r = rows[p], length = i[p + 1] - i[p];

    for (PetscInt e = 0; e < length; e++) bj[bi[r] + e] = cols[j[i[p] + e]];
    PetscCall(PetscSortInt(length, bj + bi[r]));
    for (PetscInt e = bi[r]; e < bi[r + 1]; e++) ba[e] = bj[e] == r;
  }
  PetscCall(ISRestoreIndices(f->cols, &cols));
  PetscCall(ISRestoreIndices(f->rows, &rows));
  PetscCall(MatAIJDeviceCreateWithArrays(n, n, bi, bj, ba, PETSC_TRUE, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lets PETSc make a factor with the pattern of i and j; the numeric phase sets its operations */
static PetscErrorCode FactorCreateArrays(Mat F, MatFactorAMB *f, const PetscInt i[], const PetscInt j[])
{
  PetscErrorCode (*const numeric)(Mat, Mat, const MatFactorInfo *) = f->symmetric ? F->ops->choleskyfactornumeric : F->ops->lufactornumeric;
  MatFactorInfo info                                               = f->info;
  Mat           B;

  PetscFunctionBegin;
  info.shifttype = (PetscReal)MAT_SHIFT_NONE;
  info.zeropivot = 0;
  info.levels    = 0; /* the pattern has the fill */
  PetscCall(FactorCreateUnit(f, F->rmap->n, i, j, &B));
  F->assembled = F->preallocated = PETSC_FALSE;
  PetscCall(MatFactorAMBSymbolicPETSc(F, B, f, &info));
  PetscCall((*f->numeric)(F, B, &info));
  PetscCall(MatDestroy(&B));
  if (f->symmetric) F->ops->choleskyfactornumeric = numeric;
  else F->ops->lufactornumeric = numeric;
  f->solve[0] = F->ops->solve;
  f->solve[1] = F->ops->solvetranspose;
  f->half[0]  = F->ops->forwardsolve;
  f->half[1]  = F->ops->backwardsolve;
  f->matsolve = F->ops->matsolve;
  FactorSetOperations(F, f);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatFactorAMBComplete(Mat F, MatFactorAMB *f)
{
  const PetscInt n = F->rmap->n;
  PetscInt      *i, *j;
  PetscScalar   *a;
  FactorArrays   s;
  SysStatus      status;

  PetscFunctionBegin;
  if (!f->matrix || f->complete) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(n + 1, &i));
  PetscCall(PetscMalloc2(f->entries, &j, f->entries, &a));
  status = FactorMatrixGet(f->matrix, i, j, a, PetscDefaultCudaStream);
  PetscCheck(status == SYS_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_GPU, "Copy of a factor to the host: %s", SysDeviceErrorText());
  if (!f->symbolic) PetscCall(FactorCreateArrays(F, f, i, j));
  PetscCall(FactorArraysGet(F, f, &s));
  PetscCheck(s.nz == i[n], PETSC_COMM_SELF, PETSC_ERR_PLIB, "PETSc's factor has %" PetscInt_FMT " entries, that of the GPU %" PetscInt_FMT, s.nz, i[n]);
  for (PetscInt r = 0, e = 0; r < n; r++) {
    PetscScalar *to = (PetscScalar *)s.a;

    if (!f->symmetric) {
      for (PetscInt k = s.rows[0].begin[r]; k < s.rows[0].end[r]; k++) to[k] = a[e++];
    }
    to[s.diagonal[r]] = a[e++];
    for (PetscInt k = s.rows[1].begin[r]; k < s.rows[1].end[r]; k++) to[k] = a[e++];
  }
  PetscCall(FactorArraysFree(&s));
  PetscCall(PetscFree2(j, a));
  PetscCall(PetscFree(i));
  f->complete = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

void MatFactorAMBResetDevice(MatFactorAMB *f)
{
  for (int t = 0; t < 2; t++) FactorDeviceDestroy(&f->pair[t]);
  FactorMatrixDestroy(&f->matrix);
}
