/* SPDX-License-Identifier: BSD-2-Clause */
/*
   MATCCOO on a device: its kernels (ccoocuda.h) as the device side of a shadow
*/
#include "mat/impls/ccoo/ccoo.h"
#include "mat/impls/ccoo/ccoocuda.h"

MAT_SHADOW_PARAMS(CcooMatParams, CcooDeviceCandidate)

/* A layout with a few more bytes than the AIJ is worth a try, because cuSPARSE takes up to twice as long as its bytes suggest */
#define CCOO_DEVICE_MORE 1.1

/* Lists one candidate: layout() chooses its parameters and counts its bytes */
int RankDevice_CCOO(const MatShadowCSR *csr, const void *params, MatShadowTune tune, MatShadowCandidate list[], const char **reason)
{
  const MatShadowCandidate c = {.format = &MatShadowFormatCCOO, .name = MATCCOO};

  list[0] = c;
  CcooDeviceCandidateSet(&list[0], (const CcooMatParams *)params);
  return 1;
}

SysStatus LayoutDevice_CCOO(const MatShadowCSR *csr, MatShadowCandidate *c, const MatShadowCandidate *best, double most, const char **reason, void **data)
{
  const CcooMatParams wanted = CcooDeviceCandidateGet(c);
  const CcooParams    p      = CcooGetParams(&wanted);
  CcooDevice         *device;
  CcooDeviceInfo      about;
  SysStatus           status = CcooDeviceCreate(&csr->A, &p, wanted.atomics, csr->stream, &device, &about);

  if (status == SYS_TOO_LARGE) *reason = CcooTooLarge;
  if (!status) {
    c->bytes = about.bytes_stored;
    if (about.bytes_stored >= CCOO_DEVICE_MORE * most) status = SYS_TOO_MANY_BYTES;
  }
  if (!status) *data = device;
  else CcooDeviceDestroy(device);
  return status;
}

void DescribeDevice_CCOO(const void *data, MatShadowInfo *info, double figure[])
{
  CcooDeviceInfo about;

  CcooDeviceGetInfo((const CcooDevice *)data, &about);
  info->format        = "ccoo";
  info->kernel        = "cuda";
  info->stored_values = about.stored_values;
  info->bytes_model   = about.bytes_stored; /* all bytes are counted before anything is stored */
  info->bytes_stored  = about.bytes_stored;
  info->bytes_extra   = about.bytes_extra;
  CcooDescribe(&about.params, about.ntable, about.count, figure);
}
