/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include "sys/syscuda.h"
#include "mat/factor/host/factorhost.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* Two triangles that are solved one after the other. All arrays are of the host and may go after FactorDeviceCreate(). */
typedef struct {
  FactorPlan    plan[2];
  const SysInt *source, *target; /* of each row: the entry of the right-hand side and of the solution, or NULL */
  const SysInt *diagonal;        /* of each row: the place of its factor, which multiplies */
  int           before[2];       /* the right-hand sides of the triangle */
  int           after[2];        /* the results of the triangle */
  SysScalar     sign;            /* of the entries of the triangles: -1 if they are subtracted */
} FactorPair;

typedef struct FactorDevice_ *FactorDevice;

/* Creates the triangles on the device, without values */
SysStatus FactorDeviceCreate(const FactorPair *, FactorDevice *, SysStream);
void      FactorDeviceDestroy(FactorDevice *);

/* Sets the values: those of the factor, nz numbers on the host */
SysStatus FactorDeviceUpdate(FactorDevice, int64_t nz, const SysScalar *a, SysStream);

/* Queues the solves for columns of b, ldb apart, into those of x, which may be b; all on the device */
SysStatus FactorDeviceSolve(FactorDevice, int columns, const SysScalar *b, int64_t ldb, SysScalar *x, int64_t ldx, SysStream);

/* Returns the entries of both triangles */
int64_t FactorDeviceEntries(FactorDevice);

#if defined(__cplusplus)
}
#endif
