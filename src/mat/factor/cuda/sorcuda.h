/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Sweeps of SOR with rows by color on a GPU. sorhost.h describes the layout.

   A visit of a color is a launch. Of a small matrix one thread block makes the whole sweep in one launch, with barriers between the visits.
*/
#pragma once

#include "sys/syscuda.h"
#include "mat/factor/host/sorhost.h"

SYS_C_BEGIN

typedef struct SORDevice_ *SORDevice;

/* Creates the layout of a plan for a pattern on the device, without values */
SysStatus SORDeviceCreate(const SORPlan *, const SysCSR *, SORDevice *, SysStream);
void      SORDeviceDestroy(SORDevice *);

/* Copies the values of a matrix on the device */
SysStatus SORDeviceUpdate(SORDevice, const SysCSR *, SysStream);

/* Sets the numbers of the diagonal. *singular is 1 if one does not exist. The host waits for the device. */
SysStatus SORDeviceSetDiagonal(SORDevice, const SysCSR *, SysReal omega, SysReal shift, int *singular, SysStream);

/* What a sweep writes: a times its result, plus b p if there is a p, plus c z if there is a z */
typedef struct {
  SysReal        a, b, c;
  const SysReal *p, *z;
} SORResult;

/* Queues a sweep. x is read if the initial guess is not zero; with a result other than the sweep's own, the guess is zero. x may be p or z. */
SysStatus SORDeviceSweep(SORDevice, const SORSweep *, const SORResult *, const SysReal *b, SysReal *x, SysStream);

int64_t SORDeviceEntries(SORDevice);

SYS_C_END
