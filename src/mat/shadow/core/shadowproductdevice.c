/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Products of a shadow on the device: arrays of AIJCUSPARSE and vectors, and timing
*/
#include <petscdevice_cuda.h>

#include "vec/ambvec/ambvec.h"
#include "mat/shadow/core/shadow.h"

/* Waits for all work in the stream, before reading the clock */
PetscErrorCode MatShadowDeviceWait(const MatShadowCSR *csr)
{
  PetscFunctionBegin;
  PetscCallCUDA(cudaStreamSynchronize((cudaStream_t)csr->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies between vectors, each on host or device, in PETSc's stream. VecCopy() does not accept a block's vector with the whole matrix's. */
PetscErrorCode MatShadowDeviceCopy(Vec from, Vec to)
{
  const PetscScalar *f;
  PetscScalar       *t;
  PetscMemType       type;
  PetscInt           n;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(to, &n));
  PetscCall(VecGetArrayReadAndMemType(from, &f, &type));
  PetscCall(VecGetArrayWriteAndMemType(to, &t, &type));
  PetscCallCUDA(cudaMemcpyAsync(t, f, n * sizeof(*t), cudaMemcpyDefault, PetscDefaultCudaStream));
  PetscCall(VecRestoreArrayWriteAndMemType(to, &t));
  PetscCall(VecRestoreArrayReadAndMemType(from, &f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatShadowDeviceTransfer(Vec device, Vec host, PetscBool up)
{
  PetscInt n;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(host, &n));
  PetscCall(MatShadowDeviceCopy(up ? host : device, up ? device : host));
  PetscCallCUDA(cudaStreamSynchronize(PetscDefaultCudaStream));
  if (up) PetscCall(PetscLogCpuToGpu(n * sizeof(PetscScalar)));
  else PetscCall(PetscLogGpuToCpu(n * sizeof(PetscScalar)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets *device to v if its array is on the device, else to a vector of the shadow, a row (k = 0) or a column of A, with from's values unless NULL.
   AIJCUSPARSE accepts host vectors and computes wrong results; only PETSc's debug build reports that. */
PetscErrorCode MatShadowDeviceGetVector(Mat A, int k, Vec v, Vec from, Vec *device)
{
  MatShadow *s;
  PetscInt   n, have;
  PetscBool  is;

  PetscFunctionBegin;
  *device = v;
  PetscCall(VecAMBOnDevice(v, &is));
  if (is) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatShadowGet(A, &s));
  PetscCall(VecGetLocalSize(v, &n));
  if (s->work[k]) PetscCall(VecGetLocalSize(s->work[k], &have));
  if (s->work[k] && n != have) PetscCall(VecDestroy(&s->work[k]));
  if (!s->work[k]) {
    PetscCall(PetscInfo(A, "Vectors are on the host and are copied to the GPU and back; make them with MatCreateVecs() or -vec_type cuda\n"));
    PetscCall(VecCreateSeqCUDA(PETSC_COMM_SELF, n, &s->work[k]));
  }
  *device = s->work[k];
  if (from) PetscCall(MatShadowDeviceTransfer(*device, from, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the values of MatShadowDeviceGetVector()'s vector to v */
PetscErrorCode MatShadowDeviceRestoreVector(Vec device, Vec v)
{
  PetscFunctionBegin;
  if (device != v) PetscCall(MatShadowDeviceTransfer(device, v, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Calls MatShadowDeviceGetVector() for the vectors of a product with A; call MatShadowDeviceRestoreVector() for z afterwards */
PetscErrorCode MatShadowDeviceGetAll(Mat A, PetscBool transpose, Vec *x, Vec *y, Vec *z)
{
  const int k  = transpose ? 1 : 0;
  const Vec xx = *x, yy = *y, zz = *z;

  PetscFunctionBegin;
  PetscCall(MatShadowDeviceGetVector(A, k, xx, xx, x));
  PetscCall(MatShadowDeviceGetVector(A, 1 - k, zz, yy, z));
  if (*z != zz && yy) *y = *z;
  else if (yy) PetscCall(MatShadowDeviceGetVector(A, 1 - k, yy, yy, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatShadowDeviceGetVectors(Vec xx, Vec yy, Vec zz, MatShadowVectors *v)
{
  PetscFunctionBegin;
  v->y = NULL;
  PetscCall(VecCUDAGetArrayRead(xx, &v->x));
  if (yy && yy != zz) PetscCall(VecCUDAGetArrayRead(yy, &v->y));
  if (yy == zz) {
    PetscCall(VecCUDAGetArray(zz, &v->z));
    v->y = v->z;
  } else PetscCall(VecCUDAGetArrayWrite(zz, &v->z));
  PetscCall(PetscLogGpuTimeBegin());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatShadowDeviceRestoreVectors(const MatShadow *s, Vec xx, Vec yy, Vec zz, MatShadowVectors *v, PetscBool done)
{
  PetscFunctionBegin;
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(VecCUDARestoreArrayRead(xx, &v->x));
  if (yy && yy != zz) PetscCall(VecCUDARestoreArrayRead(yy, &v->y));
  if (yy == zz) PetscCall(VecCUDARestoreArray(zz, &v->z));
  else PetscCall(VecCUDARestoreArrayWrite(zz, &v->z));
  if (done) PetscCall(PetscLogGpuFlops(2.0 * s->nz));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes z = A x, or A^T x, on the format; s->data is not NULL */
static PetscErrorCode MatShadowDeviceMult(MatShadow *s, const MatShadowCSR *csr, PetscBool transpose, Vec x, Vec z, PetscBool *done)
{
  MatShadowVectors v;

  PetscFunctionBegin;
  PetscCall(MatShadowDeviceGetVectors(x, NULL, z, &v));
  PetscCall(MatShadowCheckStatus((*(transpose ? s->ops->multtranspose : s->ops->mult))(s->data, &csr->A, 1, v.x, 0, NULL, v.z, csr->stream), done));
  PetscCall(MatShadowDeviceRestoreVectors(s, x, NULL, z, &v, *done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Times the same product on the format and on AIJCUSPARSE, in each round three in sequence, or one for a large matrix. Each side first runs one more,
   for one-time work: 14 products in total, or 6. */
static PetscErrorCode MatShadowDeviceTryOn(Mat A, MatShadow *s, const MatShadowCSR *csr, PetscBool transpose, Vec x, Vec y, PetscBool *tried)
{
  PetscErrorCode (*base)(Mat, Vec, Vec) = transpose ? MatAIJBaseSeqCUSPARSE.multtranspose : MatAIJBaseSeqCUSPARSE.mult;
  const int       products              = s->nz > SYS_TUNE_LARGE ? 1 : 3;
  MatShadowTrial *trial                 = &s->trial[transpose];
  cudaEvent_t     event[2];

  PetscFunctionBegin;
  PetscCall((*base)(A, x, y));
  PetscCall(MatShadowDeviceMult(s, csr, transpose, x, y, tried));
  if (!*tried) { /* memory is short for the transposed matrix */
    trial->verdict = MAT_SHADOW_FOR_AIJ;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  trial->time_csr = trial->time_format = 0;
  for (int k = 0; k < 2; k++) PetscCallCUDA(cudaEventCreate(&event[k]));
  for (int round = 0; round < SYS_TUNE_TRIAL_ROUNDS; round++) {
    for (int format = 0; format < 2; format++) {
      PetscLogDouble *least = format ? &trial->time_format : &trial->time_csr, seconds;
      float           milliseconds;

      PetscCallCUDA(cudaEventRecord(event[0], (cudaStream_t)csr->stream));
      for (int k = 0; k < products; k++) {
        if (format) PetscCall(MatShadowDeviceMult(s, csr, transpose, x, y, tried));
        else PetscCall((*base)(A, x, y));
      }
      PetscCallCUDA(cudaEventRecord(event[1], (cudaStream_t)csr->stream));
      PetscCallCUDA(cudaEventSynchronize(event[1]));
      PetscCallCUDA(cudaEventElapsedTime(&milliseconds, event[0], event[1]));
      seconds = 1.e-3 * (PetscLogDouble)milliseconds / products;
      if (*least == 0 || seconds < *least) *least = seconds;
    }
  }
  for (int k = 0; k < 2; k++) PetscCallCUDA(cudaEventDestroy(event[k]));
  trial->nformat += SYS_TUNE_TRIAL_ROUNDS * products;
  trial->ncsr += SYS_TUNE_TRIAL_ROUNDS * products;
  s->info.tried += 2 * (1 + SYS_TUNE_TRIAL_ROUNDS * products);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates zero vectors on the device for a product with A. They share *array, which the caller frees; NULL if memory is short. */
static PetscErrorCode MatShadowDeviceCreateVecs(PetscInt n, PetscInt m, void *stream, Vec *x, Vec *y, PetscScalar **array)
{
  const size_t second = 32 * (((size_t)n + 31) / 32), bytes = (second + (size_t)m) * sizeof(PetscScalar); /* both aligned as by cudaMalloc() */
  PetscBool    enough;

  PetscFunctionBegin;
  PetscCall(MatAIJPoolAllocate(bytes, array, &enough));
  if (!enough) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCUDA(cudaMemsetAsync(*array, 0, bytes, (cudaStream_t)stream));
  PetscCall(VecCreateSeqCUDAWithArray(PETSC_COMM_SELF, 1, n, *array, x));
  PetscCall(VecCreateSeqCUDAWithArray(PETSC_COMM_SELF, 1, m, *array + second, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatShadowDeviceDestroyVecs(Vec *x, Vec *y, PetscScalar **array)
{
  PetscFunctionBegin;
  PetscCall(VecDestroy(x));
  PetscCall(VecDestroy(y));
  MatAIJPoolRelease(*array);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Times the product on the format and on AIJCUSPARSE, on zero vectors; *tried = PETSC_FALSE if memory is short, or A has no AIJCUSPARSE yet */
PetscErrorCode MatShadowDeviceTry(Mat A, MatShadow *s, const MatShadowCSR *csr, PetscBool transpose, PetscBool *tried)
{
  PetscScalar *array;
  Vec          x, y;

  PetscFunctionBegin;
  *tried = PETSC_FALSE;
  if (MatAIJIsDeferred(A)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatShadowDeviceCreateVecs(transpose ? csr->A.m : csr->A.n, transpose ? csr->A.n : csr->A.m, csr->stream, &x, &y, &array));
  *tried = (PetscBool)(array != NULL);
  if (!array) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatShadowDeviceTryOn(A, s, csr, transpose, x, y, tried));
  PetscCall(MatShadowDeviceDestroyVecs(&x, &y, &array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prepares the transposed product: the format's if A is converted, else AIJCUSPARSE's transpose. Otherwise the first transposed product would. */
PetscErrorCode MatShadowDeviceExpectTranspose(Mat A)
{
  MatShadow   *s = NULL;
  Mat          B = A;
  PetscBool    seq, done;
  PetscScalar *array;
  Vec          x, y;

  PetscFunctionBegin;
  if (!MatAIJIsCUSPARSE(A)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATSEQAIJ, &seq));
  if (!seq) PetscCall(MatMPIAIJGetSeqAIJ(A, &B, NULL, NULL));
  if (B->boundtocpu || !B->rmap->n || !B->cmap->n) PetscFunctionReturn(PETSC_SUCCESS);
  if (MatShadowIsSequential(B)) PetscCall(MatShadowGet(B, &s));
  if (s && s->data ? s->phase == MAT_SHADOW_STALE || s->trial[1].verdict : !B->form_explicit_transpose || B->transupdated) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatAIJCUSPARSESetUp());
  PetscCall(MatShadowDeviceCreateVecs(B->rmap->n, B->cmap->n, PetscDefaultCudaStream, &x, &y, &array));
  if (!array) PetscFunctionReturn(PETSC_SUCCESS);
  if (s && s->data) {
    MatShadowCSR csr = {
      .A = {.m = B->rmap->n, .n = B->cmap->n, .nz = s->nz}
    };

    PetscCall(MatShadowDeviceGetRows(B, s, &csr));
    PetscCall(MatShadowDeviceMult(s, &csr, PETSC_TRUE, x, y, &done));
    s->trial[1].verdict = done ? MAT_SHADOW_FOR_FORMAT : MAT_SHADOW_FOR_AIJ;
  } else {
    PetscCall(MatAIJComplete(B));
    PetscCall((*MatAIJBaseSeqCUSPARSE.multtranspose)(B, x, y));
  }
  PetscCall(MatShadowDeviceDestroyVecs(&x, &y, &array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatShadowDeviceSettled(Mat A, PetscBool transpose, MatShadowCSR *csr, const MatShadowOps **ops, void **data)
{
  const MatShadowTrial *trial;
  MatShadow            *s;
  PetscObjectState      state;

  PetscFunctionBegin;
  if (!MatAIJIsCUSPARSE(A) || !MatShadowIsSequential(A)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatShadowGet(A, &s));
  trial = &s->trial[transpose];
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  if (!MatShadowOnDevice(s) || s->phase != MAT_SHADOW_CURRENT || s->state != state || s->nonzerostate != A->nonzerostate || trial->verdict == MAT_SHADOW_FOR_AIJ) PetscFunctionReturn(PETSC_SUCCESS);
  if (MatShadowMeasures(s) && (!trial->verdict || (s->look && s->products >= s->look))) PetscFunctionReturn(PETSC_SUCCESS);
  csr->A.m  = A->rmap->n;
  csr->A.n  = A->cmap->n;
  csr->A.nz = s->nz;
  PetscCall(MatShadowDeviceGetRows(A, s, csr));
  if (!s->keep) PetscCall(MatShadowDeviceFree(A, s, csr)); /* now, because the solver keeps the arrays */
  *ops  = s->ops;
  *data = s->data;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatShadowDeviceMade(Mat A, PetscInt products, PetscBool aij)
{
  MatShadow *s;

  PetscFunctionBegin;
  PetscCall(MatShadowGet(A, &s));
  s->served += products;
  s->products += products;
  s->made[aij ? 0 : 1] += products;
  PetscCall(PetscLogGpuFlops(2.0 * s->nz * products));
  PetscFunctionReturn(PETSC_SUCCESS);
}
