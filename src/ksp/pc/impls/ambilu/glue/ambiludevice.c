/* SPDX-License-Identifier: BSD-2-Clause */
/*
   DILU on the GPU by the kernels for factors: y = E^-1 (b - L y), then x = y - E^-1 U x. The triangle that comes second is scaled by E^-1. The GPU sets up DILU and approximate inverses
   of a block that is there; the host passes the entries of any other block.
*/
#include <petscdevice_cuda.h>
#include <petsc/private/vecimpl.h>

#include "mat/shadow/core/shadow.h"
#include "ksp/pc/impls/ambilu/glue/ambilu.h"

/* ------------------------------------------------- set-up ------------------------------------------------- */

/* Sets *good to PETSC_FALSE if memory was short or an array too long */
static PetscErrorCode PCAMBILUCheck(SysStatus status, PetscBool *good)
{
  PetscFunctionBegin;
  PetscCheck(status != SYS_ERROR, PETSC_COMM_SELF, PETSC_ERR_GPU, "PCAMBILU on the GPU: %s", SysDeviceErrorText());
  *good = (PetscBool)(status == SYS_SUCCESS);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates ctx->made, unless the GPU does not factor such a pattern */
static PetscErrorCode PCAMBILUMake(PC_AMBILU *ctx, const SysCSR *A, const PetscInt rows[])
{
  const PetscInt *place = NULL;
  IS              inverse;
  PetscBool       good;

  PetscFunctionBegin;
  if (!rows) PetscCall(PCAMBILUCheck(FactorMatrixCreate(A, NULL, NULL, 0, NULL, &ctx->made, PetscDefaultCudaStream), &good));
  else {
    PetscCall(ISInvertPermutation(ctx->rows, PETSC_DECIDE, &inverse));
    PetscCall(ISGetIndices(inverse, &place));
    PetscCall(PCAMBILUCheck(FactorMatrixCreate(A, rows, place, 0, NULL, &ctx->made, PetscDefaultCudaStream), &good));
    PetscCall(ISRestoreIndices(inverse, &place));
    PetscCall(ISDestroy(&inverse));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A new inverse, whose entries stay on the GPU until an operation needs an AIJ */
static PetscErrorCode PCAMBILUCreateInverse(PC_AMBILU *ctx, Mat A, int upper, const PetscInt rows[], PetscBool *good)
{
  const SysStream stream = PetscDefaultCudaStream;
  SysCSR          G      = {ctx->n, ctx->n, 0, NULL, NULL, NULL};
  SysInt         *i = NULL, *j = NULL;
  SysScalar      *a = NULL;

  PetscFunctionBegin;
  PetscCall(MatAIJPoolAllocate(((size_t)ctx->n + 1) * sizeof(*i), &i, good));
  if (*good) PetscCall(PCAMBILUCheck(FactorInverseBegin(ctx->made, upper, rows, i, &G.nz, stream), good));
  if (*good) PetscCall(MatAIJPoolAllocate((size_t)G.nz * sizeof(*j), &j, good));
  if (*good) PetscCall(MatAIJPoolAllocate((size_t)G.nz * sizeof(*a), &a, good));
  if (*good) PetscCall(PCAMBILUCheck(FactorInverseFill(ctx->made, upper, rows, i, j, a, stream), good));
  G.i = i;
  G.j = j;
  G.a = a;
  if (*good) {
    PetscCall(MatAIJDeferCreate(&G, &ctx->inverse[upper]));
    PetscCall(MatConvert(ctx->inverse[upper], MatAIJGetType(A), MAT_INPLACE_MATRIX, &ctx->inverse[upper]));
    PetscCall(MatAIJDefer(ctx->inverse[upper], &G, MatShadowIsOurs(ctx->inverse[upper]), PETSC_FALSE));
  }
  MatAIJPoolRelease(G.i); /* what the matrix has not taken over */
  MatAIJPoolRelease(G.j);
  MatAIJPoolRelease(G.a);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One of the inverses, or its new values */
static PetscErrorCode PCAMBILUSetInverse(PC_AMBILU *ctx, Mat A, int upper, const PetscInt rows[], PetscBool *good)
{
  const int   *i, *j;
  PetscScalar *a;

  PetscFunctionBegin;
  if (!ctx->inverse[upper]) PetscCall(PCAMBILUCreateInverse(ctx, A, upper, rows, good));
  else {
    PetscCall(MatAIJDeviceGetWrite(ctx->inverse[upper], &i, &j, &a));
    PetscCall(PCAMBILUCheck(FactorInverseFill(ctx->made, upper, rows, i, NULL, a, PetscDefaultCudaStream), good));
    PetscCall(MatAIJDeviceRestoreWrite(ctx->inverse[upper], &a));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCAMBILUSetUpDevice(PC_AMBILU *ctx, Mat A, PetscBool *done)
{
  const PetscReal zero    = 100 * PETSC_MACHINE_EPSILON;
  const PetscInt *indices = NULL, *rows;
  int             refused = 0;
  PetscBool       good    = PETSC_TRUE;
  SysCSR          csr;

  PetscFunctionBegin;
  *done = PETSC_FALSE;
  if (!MatAIJValuesOnDevice(A) || !ctx->n) PetscFunctionReturn(PETSC_SUCCESS);
  if (!ctx->made && (ctx->short_memory || ctx->matrix.i)) PetscFunctionReturn(PETSC_SUCCESS); /* the host has set up this pattern */
  for (int t = 0; t < 2; t++) {
    if (ctx->inverse[t] && !MatAIJValuesOnDevice(ctx->inverse[t])) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatAIJDeviceGetArrays(A, &csr));
  if (!csr.nz) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ISGetIndices(ctx->rows, &indices));
  rows = ctx->natural ? NULL : indices;
  if (!ctx->made) PetscCall(PCAMBILUMake(ctx, &csr, rows));
  PetscCall(PetscLogGpuTimeBegin());
  if (ctx->made && ctx->type == PC_AMBILU_DILU) PetscCall(PCAMBILUCheck(FactorMatrixComputeDiagonal(ctx->made, csr.a, zero, &refused, PetscDefaultCudaStream), &good));
  if (ctx->made && ctx->type == PC_AMBILU_ISAI) {
    PetscCall(PCAMBILUCheck(FactorMatrixCompute(ctx->made, csr.a, FACTOR_PIVOT_NONZERO, zero, &refused, PetscDefaultCudaStream), &good));
    if (good && !refused) PetscCall(PCAMBILUCheck(FactorMatrixInvert(ctx->made, PetscDefaultCudaStream), &good));
    for (int t = 0; t < 2 && good && !refused; t++) PetscCall(PCAMBILUSetInverse(ctx, A, t, rows, &good));
  }
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(ISRestoreIndices(ctx->rows, &indices));
  ctx->current[0] = ctx->current[1] = PETSC_FALSE;
  *done                             = (PetscBool)(ctx->made && good && !refused);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCAMBILUFetchDevice(PC_AMBILU *ctx, PetscBool *done)
{
  AmbILUMatrix *M  = &ctx->matrix;
  const int64_t n  = ctx->n;
  const int64_t nz = FactorMatrixEntries(ctx->made);

  PetscFunctionBegin;
  PetscCall(PCAMBILUCheck(AmbILUMatrixAllocate(n, nz, M), done));
  if (*done) PetscCall(PCAMBILUCheck(FactorMatrixGetMatrix(ctx->made, M->i, M->j, M->a, PetscDefaultCudaStream), done));
  if (*done) AmbILUMatrixFindDiagonal(M);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------- solves ------------------------------------------------- */

/* Creates ctx->pair[transpose], without values, of the matrix that the GPU has */
static SysStatus PCAMBILUCreatePairMade(PC_AMBILU *ctx, PetscBool transpose, const PetscInt rows[])
{
  FactorPair pair = {0};

  FactorMatrixGetPair(ctx->made, transpose, &pair);
  pair.bs       = (int)ctx->bs;
  pair.boxed    = FACTOR_BOX_ROWS;
  pair.launched = FACTOR_LAUNCH_BYTES;
  pair.source = pair.target = ctx->natural ? NULL : rows;
  pair.after[0]             = 1;
  pair.sign                 = -1;
  return FactorDeviceCreate(&pair, &ctx->pair[transpose], PetscDefaultCudaStream);
}

static SysStatus PCAMBILUUpdatePairMade(PC_AMBILU *ctx, PetscBool transpose)
{
  const SysStatus status = FactorMatrixScale(ctx->made, transpose, PetscDefaultCudaStream);

  return status == SYS_SUCCESS ? FactorDeviceGather(ctx->pair[transpose], FactorMatrixValues(ctx->made), PetscDefaultCudaStream) : status;
}

/* The same of the matrix on the host */
static SysStatus PCAMBILUCreatePair(PC_AMBILU *ctx, PetscBool transpose, const PetscInt rows[])
{
  const AmbILUMatrix *M     = &ctx->matrix;
  const int64_t       n     = M->n;
  SysInt             *place = (SysInt *)malloc((size_t)n * sizeof(*place));
  FactorPair          pair  = {0};
  SysStatus           status;

  if (!place) return SYS_OUT_OF_MEMORY;
  for (int64_t r = 0; r < n; r++) place[r] = (SysInt)(M->nz + r);
  pair.n        = n;
  pair.bs       = (int)ctx->bs;
  pair.nz       = M->nz;
  pair.boxed    = FACTOR_BOX_ROWS;
  pair.launched = FACTOR_LAUNCH_BYTES;
  pair.j        = M->j;
  for (int t = 0; t < 2; t++) {
    const PetscBool lower = (PetscBool)(t == (int)transpose);

    pair.begin[t]  = lower ? M->i : M->behind;
    pair.end[t]    = lower ? M->diagonal : M->i + 1;
    pair.turned[t] = transpose;
  }
  pair.source = pair.target = rows;
  pair.diagonal             = place;
  pair.after[0]             = 1;
  pair.sign                 = -1;
  status                    = FactorDeviceCreate(&pair, &ctx->pair[transpose], PetscDefaultCudaStream);
  free(place);
  return status;
}

/* Copies the values, and behind them the reciprocals of E */
static SysStatus PCAMBILUUpdatePair(PC_AMBILU *ctx, PetscBool transpose)
{
  const AmbILUMatrix *M = &ctx->matrix;
  SysScalar          *a = (SysScalar *)malloc(((size_t)M->nz + (size_t)M->n) * sizeof(*a));
  SysStatus           status;

  if (!a) return SYS_OUT_OF_MEMORY;
  for (int64_t r = 0; r < M->n; r++) {
    for (SysInt k = M->i[r]; k < M->i[r + 1]; k++) {
      const PetscBool second = (PetscBool)(transpose ? k < M->diagonal[r] : k > M->diagonal[r]);

      a[k] = second ? M->a[k] * ctx->d[transpose ? M->j[k] : r] : M->a[k];
    }
    a[M->nz + r] = ctx->d[r];
  }
  status = FactorDeviceUpdate(ctx->pair[transpose], M->nz + M->n, a, PetscDefaultCudaStream);
  free(a);
  return status;
}

static void PCAMBILUResetPairs(PC_AMBILU *ctx)
{
  for (int t = 0; t < 2; t++) {
    FactorDeviceDestroy(&ctx->pair[t]);
    ctx->current[t] = PETSC_FALSE;
  }
}

PetscErrorCode PCAMBILUSolveDevice(PC_AMBILU *ctx, PetscBool transpose, Vec b, Vec x, PetscBool *done)
{
  const PetscInt    *rows;
  const PetscScalar *from;
  PetscScalar       *to;
  SysStatus          status = SYS_SUCCESS;

  PetscFunctionBegin;
  *done = PETSC_FALSE;
  if (b->boundtocpu || x->boundtocpu || !ctx->n || ctx->short_memory) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectTypeCompare((PetscObject)b, VECSEQCUDA, done));
  if (*done) PetscCall(PetscObjectTypeCompare((PetscObject)x, VECSEQCUDA, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  if (!ctx->pair[transpose]) {
    PetscCall(ISGetIndices(ctx->rows, &rows));
    status = ctx->made ? PCAMBILUCreatePairMade(ctx, transpose, rows) : PCAMBILUCreatePair(ctx, transpose, rows);
    PetscCall(ISRestoreIndices(ctx->rows, &rows));
  }
  if (status == SYS_SUCCESS && !ctx->current[transpose]) status = ctx->made ? PCAMBILUUpdatePairMade(ctx, transpose) : PCAMBILUUpdatePair(ctx, transpose);
  if (status == SYS_SUCCESS) {
    ctx->current[transpose] = PETSC_TRUE;
    PetscCall(VecCUDAGetArrayRead(b, &from));
    PetscCall(VecCUDAGetArrayWrite(x, &to));
    PetscCall(PetscLogGpuTimeBegin());
    status = FactorDeviceSolve(ctx->pair[transpose], 1, from, ctx->n, to, ctx->n, PetscDefaultCudaStream);
    PetscCall(PetscLogGpuTimeEnd());
    PetscCall(VecCUDARestoreArrayWrite(x, &to));
    PetscCall(VecCUDARestoreArrayRead(b, &from));
    PetscCall(PetscLogGpuFlops(2. * (double)(ctx->made ? FactorMatrixEntries(ctx->made) : ctx->matrix.nz)));
  }
  PetscCall(PCAMBILUCheck(status, done));
  if (!*done) { /* until the next pattern the host solves */
    PetscCall(PetscInfo(b, "PCAMBILU solves on the host: %s\n", status == SYS_TOO_LARGE ? "the matrix is too large for the GPU's integers" : "memory is short"));
    PCAMBILUResetPairs(ctx);
    ctx->short_memory = PETSC_TRUE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

void PCAMBILUResetDevice(PC_AMBILU *ctx)
{
  PCAMBILUResetPairs(ctx);
  FactorMatrixDestroy(&ctx->made);
  ctx->short_memory = PETSC_FALSE;
}
