/* SPDX-License-Identifier: BSD-2-Clause */
/*
   MATNUSSELL on a device: its kernels (nuscuda.h) as the device side of a shadow
*/
#include "mat/impls/amb/ambdevice.h"
#include "mat/impls/nus/nus.h"
#include "mat/impls/nus/nuscuda.h"

typedef struct {
  NusParams     params;
  NusDeviceTune tune;
} NusDeviceChoice;
MAT_SHADOW_PARAMS(NusDeviceChoice, NusDeviceCandidate)

/* The reason why the device cannot use some parameter, or NULL. Products then stay on the AIJ, as if the format could not hold the pattern. */
static const char *NusDeviceLacks(const NusSellParams *p)
{
  if (p->c && p->c != NUS_DEVICE_C) return "chunks have 32 rows on the GPU; use -mat_nussell_c 32 or 0, or -mat_nussell_device cpu";
  if (p->sigma && p->sigma != NUS_DEVICE_SIGMA) return "rows are sorted among 32,768 on the GPU; use -mat_nussell_sigma 32768 or 0, or -mat_nussell_device cpu";
  if (p->rows == MAT_NUSSELL_ROWS_JDS) return "jagged diagonals do not run on the GPU; use -mat_nussell_rows sell, or -mat_nussell_device cpu";
  return NULL;
}

/* Lists one candidate: layout() chooses its parameters */
int RankDevice_NUSSELL(const MatShadowCSR *csr, const void *params, MatShadowTune tune, MatShadowCandidate list[], const char **reason)
{
  const NusSellParams     *wanted = (const NusSellParams *)params;
  const MatShadowCandidate c      = {.format = &MatShadowFormatNUSSELL, .name = MATNUSSELL};
  NusDeviceChoice          choice;

  *reason = NusDeviceLacks(wanted);
  if (params == MatShadowFormatNUSSELL.open && !NusDeviceMayCut(csr->A.n)) *reason = "segments bring no gain"; /* for MATAUTOSPARSE, which tries the same layout as AMB's */
  if (*reason) return 0;
  NusGetParams(wanted, (PetscInt)csr->A.n, &choice.params);
  choice.tune = wanted->tune == MAT_NUSSELL_TUNE_EXHAUSTIVE ? NUS_DEVICE_EXHAUSTIVE : NUS_DEVICE_MODEL;
  list[0]     = c;
  NusDeviceCandidateSet(&list[0], &choice);
  return 1;
}

SysStatus LayoutDevice_NUSSELL(const MatShadowCSR *csr, MatShadowCandidate *c, const MatShadowCandidate *best, double most, const char **reason, void **data)
{
  const NusDeviceChoice choice = NusDeviceCandidateGet(c);
  const NusDeviceTune   tune   = choice.tune == NUS_DEVICE_MODEL && csr->measure ? NUS_DEVICE_MEASURE : choice.tune;
  NusDevice            *device;
  NusDeviceInfo         about;
  SysStatus             status = NusDeviceCreate(&csr->A, &choice.params, tune, csr->stream, &device, &about);

  if (status == SYS_TOO_LARGE) *reason = "the matrix has more than 255 segments, or is too large for 32-bit positions on the GPU";
  if (!status) {
    c->tried = (int)about.layout.tried;
    if (about.segments == 1) status = AmbDeviceJudge(&about.layout, most, c); /* the bytes do not show the gain of segments */
    else if (about.layout.bytes_stored >= SysCSRBytes(&csr->A)) *reason = "segments keep x in the cache";
  }
  if (!status) *data = device;
  else NusDeviceDestroy(device);
  return status;
}

const MatShadowFigure NusDeviceFigures[] = {
  NUS_SEGMENT_FIGURES, AMB_DEVICE_FIGURES, {NULL, MAT_SHADOW_OF_BLOCK}
};
_Static_assert(PETSC_STATIC_ARRAY_LENGTH(NusDeviceFigures) <= MAT_SHADOW_FIGURES + 1, "raise MAT_SHADOW_FIGURES");

void DescribeDevice_NUSSELL(const void *data, MatShadowInfo *info, double figure[])
{
  NusDeviceInfo about;

  NusDeviceGetInfo((const NusDevice *)data, &about);
  AmbDeviceDescribe(&about.layout, info, figure + NUS_FIGURES);
  NusDescribeSegments(&about.params, about.gathered, figure);
  info->format = "nussell";
}

PetscErrorCode ViewDevice_NUSSELL(const double figure[], const char where[], PetscViewer viewer)
{
  PetscFunctionBegin;
  PetscCall(AmbDeviceView(figure + NUS_FIGURES, where, viewer));
  PetscCall(NusViewSegments(figure, where, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}
