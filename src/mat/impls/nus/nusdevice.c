/* SPDX-License-Identifier: BSD-2-Clause */
/*
   MATNUSSELL on a device: its kernels (nuscuda.h) as the device side of a shadow
*/
#include "mat/impls/nus/nus.h"

#if defined(MAT_SHADOW_HAVE_DEVICE)
  #include "mat/impls/amb/ambdevice.h"
  #include "mat/impls/nus/nuscuda.h"

/* What is asked for and is only there on the host, or NULL. The AIJ then serves, as where a format cannot hold a pattern. */
static const char *NusDeviceLacks(const NusSellParams *p)
{
  if (p->c && p->c != NUS_DEVICE_C) return "chunks have 32 rows on the GPU; give -mat_nussell_c 32 or 0, or -mat_nussell_device cpu";
  if (p->sigma && p->sigma != NUS_DEVICE_SIGMA) return "rows are sorted among 32,768 on the GPU; give -mat_nussell_sigma 32768 or 0, or -mat_nussell_device cpu";
  if (p->rows == MAT_NUSSELL_ROWS_JDS) return "there are no jagged diagonals on the GPU; give -mat_nussell_rows sell, or -mat_nussell_device cpu";
  return NULL;
}

static void NusDeviceTell(const NusDeviceInfo *about, MatShadowInfo *info)
{
  AmbDeviceTell(&about->layout, info);
  info->format           = "nussell";
  info->segments         = (PetscInt)about->segments;
  info->columns_gathered = (PetscInt)about->gathered;
  for (int k = 0; k < 2; k++) {
    info->segment_width[k] = (PetscInt)about->params.width[k];
    info->segment_count[k] = (PetscInt)about->params.count[k];
  }
}

PetscErrorCode ConvertDevice_NUSSELL(const MatShadowCSR *csr, const void *params, MatShadowTune tune, PetscReal most, MatShadowInfo *info, void **data)
{
  const NusSellParams *wanted = (const NusSellParams *)params;
  NusDeviceTune        how    = tune == MAT_SHADOW_TUNE_MEASURE ? NUS_DEVICE_MEASURE : NUS_DEVICE_MODEL;
  NusParams            p;
  NusDevice           *device = NULL;
  NusDeviceInfo        about;
  SysStatus            status;
  PetscBool            done;

  PetscFunctionBegin;
  *data        = NULL;
  info->reason = NusDeviceLacks(wanted);
  if (info->reason) PetscFunctionReturn(PETSC_SUCCESS);
  NusGetParams(wanted, csr->A.n, &p);
  if (wanted->tune == MAT_NUSSELL_TUNE_EXHAUSTIVE) how = NUS_DEVICE_EXHAUSTIVE;
  status = NusDeviceCreate(&csr->A, &p, how, (SysStream)csr->stream, &device, &about);
  PetscCall(AmbDeviceCheck(status, &done));
  if (!done) {
    AmbDeviceReason(status, info);
    if (status == SYS_TOO_LARGE) info->reason = "more than 255 segments, or too large for the positions of 32 bits that the format has on the GPU";
  } else if (about.segments == 1 && AmbDeviceTooMany(&about.layout, most, info)) NusDeviceDestroy(&device); /* what segments save is not in these bytes */
  else {
    *data = device;
    NusDeviceTell(&about, info);
    info->reason = about.layout.bytes_stored < info->bytes_csr ? "it has fewer bytes" : (about.segments > 1 ? "x is kept in the cache by segments" : "tried although it has more bytes");
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RefreshDevice_NUSSELL(const void *data, MatShadowInfo *info)
{
  NusDeviceInfo about;

  PetscFunctionBegin;
  NusDeviceGetInfo((const NusDevice *)data, &about);
  info->bytes_extra = about.layout.bytes_extra;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode UpdateDevice_NUSSELL(void *data, const MatShadowCSR *csr, PetscBool *done)
{
  PetscFunctionBegin;
  PetscCall(AmbDeviceCheck(NusDeviceUpdate((NusDevice *)data, &csr->A, (SysStream)csr->stream), done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MultDevice_NUSSELL(void *data, const MatShadowCSR *csr, PetscScalar alpha, const PetscScalar *x, PetscScalar beta, const PetscScalar *y, PetscScalar *z, PetscBool *done)
{
  PetscFunctionBegin;
  PetscCall(AmbDeviceCheck(NusDeviceMult((NusDevice *)data, &csr->A, alpha, x, beta, y, z, (SysStream)csr->stream), done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MultTransposeDevice_NUSSELL(void *data, const MatShadowCSR *csr, PetscScalar alpha, const PetscScalar *x, PetscScalar beta, const PetscScalar *y, PetscScalar *z, PetscBool *done)
{
  PetscFunctionBegin;
  PetscCall(AmbDeviceCheck(NusDeviceMultTranspose((NusDevice *)data, &csr->A, alpha, x, beta, y, z, (SysStream)csr->stream), done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DestroyDevice_NUSSELL(void **data)
{
  NusDevice *A = (NusDevice *)*data;

  PetscFunctionBegin;
  NusDeviceDestroy(&A);
  *data = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
