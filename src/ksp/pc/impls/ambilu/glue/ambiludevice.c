/* SPDX-License-Identifier: BSD-2-Clause */
/*
   DILU on the GPU by the kernels for factors: y = E^-1 (b - L y), then x = y - E^-1 U x. The triangle that comes second is scaled by E^-1 when its values are copied.
*/
#include <petscdevice_cuda.h>
#include <petsc/private/vecimpl.h>

#include "ksp/pc/impls/ambilu/glue/ambilu.h"

/* Creates ctx->pair[transpose], without values */
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
    status = PCAMBILUCreatePair(ctx, transpose, rows);
    PetscCall(ISRestoreIndices(ctx->rows, &rows));
  }
  if (status == SYS_SUCCESS && !ctx->current[transpose]) status = PCAMBILUUpdatePair(ctx, transpose);
  if (status == SYS_SUCCESS) {
    ctx->current[transpose] = PETSC_TRUE;
    PetscCall(VecCUDAGetArrayRead(b, &from));
    PetscCall(VecCUDAGetArrayWrite(x, &to));
    PetscCall(PetscLogGpuTimeBegin());
    status = FactorDeviceSolve(ctx->pair[transpose], 1, from, ctx->n, to, ctx->n, PetscDefaultCudaStream);
    PetscCall(PetscLogGpuTimeEnd());
    PetscCall(VecCUDARestoreArrayWrite(x, &to));
    PetscCall(VecCUDARestoreArrayRead(b, &from));
    PetscCall(PetscLogGpuFlops(2. * (double)ctx->matrix.nz));
  }
  PetscCheck(status != SYS_ERROR, PETSC_COMM_SELF, PETSC_ERR_GPU, "PCAMBILU on the GPU: %s", SysDeviceErrorText());
  if (status != SYS_SUCCESS) { /* until the next pattern the host solves */
    PetscCall(PetscInfo(b, "PCAMBILU solves on the host: %s\n", status == SYS_TOO_LARGE ? "the matrix is too large for the GPU's integers" : "memory is short"));
    PCAMBILUResetDevice(ctx);
    ctx->short_memory = PETSC_TRUE;
    *done             = PETSC_FALSE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

void PCAMBILUResetDevice(PC_AMBILU *ctx)
{
  for (int t = 0; t < 2; t++) {
    FactorDeviceDestroy(&ctx->pair[t]);
    ctx->current[t] = PETSC_FALSE;
  }
  ctx->short_memory = PETSC_FALSE;
}
