/* SPDX-License-Identifier: BSD-2-Clause */
/*
   MatBatch on a device: copies of the batch and of its transpose, created by first products, and updates of their values
*/
#include <petscdevice_cuda.h>
#include <petsc/private/vecimpl.h>

#include "graph/batch/glue/batch.h"
#include "graph/batch/cuda/batchcuda.h"

struct _MatBatchDevice {
  BatchDevice *matrix[2]; /* the batch and its transpose */
  PetscBool    current[2];
};

static PetscErrorCode MatBatchDeviceCheck(SysStatus status, const char what[])
{
  PetscFunctionBegin;
  PetscCheck(status != SYS_OUT_OF_MEMORY, PETSC_COMM_SELF, PETSC_ERR_MEM, "Not enough memory for %s of a batch on the GPU; make several batches, one after the other", what);
  PetscCheck(status != SYS_TOO_LARGE, PETSC_COMM_SELF, PETSC_ERR_SUP, "Too many columns for %s of a batch on the GPU; multiply some of the columns at a time", what);
  PetscCheck(status == SYS_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_GPU, "%s of a batch on the GPU failed: %s", what, SysDeviceErrorText());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatBatchDeviceSupports(Vec D, Vec C, PetscBool *supported)
{
  PetscBool d, c;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)D, VECSEQCUDA, &d));
  PetscCall(PetscObjectTypeCompare((PetscObject)C, VECSEQCUDA, &c));
  *supported = (PetscBool)(d && c && !D->boundtocpu && !C->boundtocpu);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates the copy, or updates its values, if necessary */
static PetscErrorCode MatBatchDeviceUpdate(MatBatch B, PetscBool transpose)
{
  const PetscInt        rows = B->row[B->nmat], cols = B->col[B->nmat];
  const SpmmTransposed *T = &B->transposed;
  MatBatchDevice       *device;

  PetscFunctionBegin;
  if (!B->device) PetscCall(PetscNew(&B->device));
  device = B->device;
  if (transpose) PetscCall(MatBatchTranspose(B));
  if (!device->matrix[transpose]) {
    const SysCSR A = {.m = transpose ? cols : rows, .n = transpose ? rows : cols, .nz = B->i[rows], .i = transpose ? T->i : B->i, .j = transpose ? T->j : B->j};

    PetscCall(MatBatchDeviceCheck(BatchDeviceCreate(&A, B->nmat, transpose ? NULL : B->row, &device->matrix[transpose], PetscDefaultCudaStream), "the copy"));
    PetscCall(PetscLogCpuToGpu((PetscLogDouble)sizeof(PetscInt) * ((PetscLogDouble)A.m + 1 + (PetscLogDouble)A.nz)));
  }
  if (!device->current[transpose]) {
    PetscCall(MatBatchDeviceCheck(BatchDeviceSetValues(device->matrix[transpose], B->a, transpose ? T->position : NULL, PetscDefaultCudaStream), "the values"));
    PetscCall(PetscLogCpuToGpu((PetscLogDouble)sizeof(PetscScalar) * (PetscLogDouble)B->i[rows]));
    device->current[transpose] = PETSC_TRUE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatBatchDeviceMult(MatBatch B, PetscBool transpose, PetscBool add, PetscInt width, Vec D, Vec C)
{
  const PetscScalar *d;
  PetscScalar       *c;
  SysStatus          status;

  PetscFunctionBegin;
  PetscCall(MatBatchDeviceUpdate(B, transpose));
  PetscCall(VecGetArrayReadAndMemType(D, &d, NULL));
  if (add) PetscCall(VecGetArrayAndMemType(C, &c, NULL));
  else PetscCall(VecGetArrayWriteAndMemType(C, &c, NULL));
  PetscCall(PetscLogGpuTimeBegin());
  if (B->atomic && !transpose && !add) status = BatchDeviceMultAtomic(B->device->matrix[0], width, d, c, PetscDefaultCudaStream);
  else status = BatchDeviceMult(B->device->matrix[transpose], add, width, d, c, PetscDefaultCudaStream);
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(MatBatchDeviceCheck(status, "the product"));
  if (add) PetscCall(VecRestoreArrayAndMemType(C, &c));
  else PetscCall(VecRestoreArrayWriteAndMemType(C, &c));
  PetscCall(VecRestoreArrayReadAndMemType(D, &d));
  PetscCall(PetscLogGpuFlops(2.0 * (PetscLogDouble)B->i[B->row[B->nmat]] * (PetscLogDouble)width));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatBatchDeviceValuesChanged(MatBatch B)
{
  PetscFunctionBegin;
  if (B->device) B->device->current[0] = B->device->current[1] = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatBatchDeviceDestroy(MatBatchDevice **device)
{
  PetscFunctionBegin;
  if (!*device) PetscFunctionReturn(PETSC_SUCCESS);
  for (int t = 0; t < 2; t++) BatchDeviceDestroy(&(*device)->matrix[t]);
  PetscCall(PetscFree(*device));
  PetscFunctionReturn(PETSC_SUCCESS);
}
