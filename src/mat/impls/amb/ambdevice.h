/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Between shadows and the kernels of AMB on a CUDA device, which those of other formats stand on
*/
#pragma once

#include "mat/shadow/shadow.h"
#include "mat/impls/amb/ambcuda.h"

/* What the AIJ can do in place of the format is no error: *done tells */
static inline PetscErrorCode AmbDeviceCheck(SysStatus status, PetscBool *done)
{
  PetscFunctionBegin;
  PetscCheck(status != SYS_ERROR, PETSC_COMM_SELF, PETSC_ERR_GPU, "Products with vectors on the GPU: %s", SysDeviceErrorText());
  *done = (PetscBool)(status == SYS_SUCCESS);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Why there is nothing in the format, if something can be said */
static inline void AmbDeviceReason(SysStatus status, MatShadowInfo *info)
{
  if (status == SYS_OUT_OF_MEMORY) info->reason = "not enough memory on the GPU for the format";
  if (status == SYS_NOT_ASCENDING) info->reason = "rows whose columns are not in ascending order, or repeated";
  if (status == SYS_TOO_LARGE) info->reason = "too large for the positions of 32 bits that the format has on the GPU";
}

/* Of the bytes of the AIJ: cuSPARSE takes longer than bytes say, up to twice, so that a layout of a few more is still faster */
#define AMB_DEVICE_MORE 1.1

/* Has it so many bytes that it is not worth trying? It is there already, and cost little: what it stores counts, not the model, which goes by some of the rows. */
static inline PetscBool AmbDeviceTooMany(const AmbDeviceInfo *about, PetscReal most, MatShadowInfo *info)
{
  if (about->bytes_stored < AMB_DEVICE_MORE * most * info->bytes_csr) return PETSC_FALSE;
  info->bytes_model = about->bytes_stored;
  info->reason      = "the format has more bytes";
  return PETSC_TRUE;
}

/* What a layout on the device is */
static inline void AmbDeviceTell(const AmbDeviceInfo *about, MatShadowInfo *info)
{
  info->kernel         = "cuda";
  info->block_size     = about->block_size;
  info->chunk_size     = 32; /* a warp */
  info->sort_scope     = about->sorted ? about->sort_scope : 1;
  info->threads        = about->threads;
  info->steps          = about->steps;
  info->tried          = (PetscInt)about->tried;
  info->tasks          = (PetscLogDouble)about->tasks;
  info->tasks_diagonal = (PetscLogDouble)about->diagonal;
  info->tasks_narrow   = (PetscLogDouble)about->narrow;
  info->tasks_wide     = (PetscLogDouble)about->wide;
  info->tasks_split    = (PetscLogDouble)about->split;
  info->stored_values  = about->stored_values;
  info->bytes_model    = about->bytes_model;
  info->bytes_stored   = about->bytes_stored;
  info->bytes_extra    = about->bytes_extra;
}
