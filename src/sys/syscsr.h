/* SPDX-License-Identifier: BSD-2-Clause */
/*
   A sparse matrix in compressed rows, on the host or on a device, and the status that all kernels return
*/
#pragma once

#include "sys/systypes.h"

/* Arrays of the caller: i has m + 1 entries, j and a have nz. Kernels that read the pattern only take a matrix whose a is NULL. */
typedef struct {
  int64_t          m, n, nz;
  const SysInt    *i, *j;
  const SysScalar *a;
} SysCSR;

/* A larger status wins where several threads or processes report one */
typedef enum {
  SYS_SUCCESS,
  SYS_OUT_OF_MEMORY,  /* the operands are unchanged, and nothing is left allocated */
  SYS_TOO_LARGE,      /* beyond the integers or positions of the format or of the result */
  SYS_NOT_ASCENDING,  /* a row has columns that are not in ascending order, or repeated */
  SYS_TOO_MANY_BYTES, /* more bytes than the caller allowed */
  SYS_ERROR           /* a call of CUDA failed; SysDeviceErrorText() names it */
} SysStatus;

/* The bytes of its arrays */
static inline double SysCSRBytes(const SysCSR *A)
{
  return (double)A->nz * (sizeof(SysScalar) + sizeof(SysInt)) + ((double)A->m + 1) * sizeof(SysInt);
}
